"""Units that the definitions of standard message types prescribe (REP 103, and the comments in the types)."""

from __future__ import annotations

_GEOMETRY = {
    "Pose": {"position": "m", "orientation": "-"},
    "PointStamped": {"point": "m"},
    "Twist": {"linear": "m/s", "angular": "rad/s"},
    "Accel": {"linear": "m/s^2", "angular": "rad/s^2"},
    "Wrench": {"force": "N", "torque": "N m"},
    "Transform": {"translation": "m", "rotation": "-"},
    "QuaternionStamped": {"quaternion": "-"},
    "Pose2D": {"x": "m", "y": "m", "theta": "rad"},
}
_SENSORS = {
    "Imu": {"orientation": "-", "angular_velocity": "rad/s", "linear_acceleration": "m/s^2"},
    "NavSatFix": {"latitude": "deg", "longitude": "deg", "altitude": "m"},
    "BatteryState": {"voltage": "V", "current": "A", "temperature": "degC"},
    "Temperature": {"temperature": "degC"},
    "FluidPressure": {"fluid_pressure": "Pa"},
    "MagneticField": {"magnetic_field": "T"},
    "Range": {"range": "m", "min_range": "m", "max_range": "m", "field_of_view": "rad"},
}
_UNITS = {f"geometry_msgs/msg/{kind}": units for kind, units in _GEOMETRY.items()} | {
    f"sensor_msgs/msg/{kind}": units for kind, units in _SENSORS.items()
}


def unit_of_field(kind: str, field: str) -> str:
    """Unit of a field of a message type, empty where none is prescribed.

    A joint's position and velocity have none: they are those of an angle or of a length.
    """
    return _UNITS.get(kind, {}).get(field, "")
