"""Transformation from sensor frames to the body frame: turned first, moved once all are on one clock.

A sensor sits in the body frame at r, turned by M; its world is turned by W in one whose z is up:

    orientation of the body   W q M^-1
    angular velocity          M w
    velocity                  M v - w x r
    position                  W p - R r, with R the body's orientation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import Problem
from segtrack.logs.mapping.mapping_file import Sensor
from segtrack.logs.mapping.quantities import Quantities, Velocity
from segtrack.robot.motion import Signal

ANGLES = ("roll", "pitch", "yaw")


def rotation_from_rpy(rpy: tuple[float, float, float]) -> Rotation:
    """Return the rotation by yaw about z, then pitch (nose down positive) about y, then roll about x."""
    return Rotation.from_euler("ZYX", rpy[::-1])


def turn_to_body(
    signals: Mapping[str, Signal], quantities: Quantities, sensors: Mapping[str, Sensor]
) -> dict[str, Signal]:
    """Return signals along the axes of the body frame, and of a world whose z is up."""
    found = dict(signals)
    for key, reference in quantities.references():
        sensor = sensors.get(getattr(reference, "sensor", None) or "")
        if sensor is None or key not in found:
            continue
        mount, world = rotation_from_rpy(sensor.rpy), rotation_from_rpy(sensor.world_rpy)
        signal = found[key]
        if key == "orientation":
            turned = world * Rotation.from_quat(signal.values) * mount.inv()
            found[key] = replace(signal, values=turned.as_quat())
        elif key == "angular_velocity" or (isinstance(reference, Velocity) and reference.frame == "body"):
            found[key] = replace(signal, values=_rotate(mount, signal.values))
        elif key in ("position", "velocity"):
            found[key] = replace(signal, values=_rotate(world, signal.values))
        elif key == "yaw" and any((*sensor.rpy, *sensor.world_rpy)):
            found |= _turn_angles(found, mount, world)  # All three are this sensor's.
    return found


def find_attitude(signals: Mapping[str, Signal]) -> Signal | None:
    """Return the body's orientation, as given or composed from roll, pitch and yaw of one source."""
    if (orientation := signals.get("orientation")) is not None:
        return orientation
    roll, pitch, yaw = (signals.get(name) for name in ANGLES)
    if roll is None or pitch is None or yaw is None or len({roll.source, pitch.source, yaw.source}) > 1:
        return None
    times = np.intersect1d(np.intersect1d(roll.times, pitch.times), yaw.times)
    if not len(times):
        return None
    angles = np.stack([yaw.at(times), -pitch.at(times), roll.at(times)], axis=1)
    return Signal(times, Rotation.from_euler("ZYX", angles).as_quat(), None, yaw.source)


def move_to_origin(
    signals: Mapping[str, Signal], quantities: Quantities, sensors: Mapping[str, Sensor]
) -> tuple[dict[str, Signal], list[Problem]]:
    """Return positions and velocities of the body frame's origin, for signals on one clock."""
    found, problems = dict(signals), []
    attitude = find_attitude(signals)
    for key in ("position", "velocity"):
        reference = getattr(quantities, key)
        signal = signals.get(key)
        if reference is None or signal is None:
            continue
        sensor = sensors.get(reference.sensor or "", Sensor())
        in_world = key == "velocity" and reference.frame == "world"
        is_apart = any(sensor.xyz)
        if (key == "position" and is_apart) or in_world:
            if attitude is None:
                what = "roll, pitch and yaw, or an orientation, as it is apart from the body frame's origin"
                message = "orientation, as it is along the world's axes" if in_world else what
                problems.append(Problem(f"quantities.{key}", f"must come with {message}"))
                continue
            signal = _overlap(signal, attitude)
            body = Rotation.from_quat(attitude.at(signal.times))
            moved = _rotate(body.inv(), signal.values) if in_world else signal.values - body.apply(sensor.xyz)
            signal = replace(signal, values=moved)
        if key == "velocity" and is_apart:
            rates = signals.get("angular_velocity")
            if rates is None:
                message = "must come with angular_velocity, as it is apart from the body frame's origin"
                problems.append(Problem(f"quantities.{key}", message))
                continue
            signal = _overlap(signal, rates)
            signal = replace(signal, values=signal.values - np.cross(rates.at(signal.times), sensor.xyz))
        found[key] = signal
    return found, problems


def _turn_angles(signals: Mapping[str, Signal], mount: Rotation, world: Rotation) -> dict[str, Signal]:
    attitude = find_attitude(signals)
    if attitude is None:
        return {}
    body = world * Rotation.from_quat(attitude.values) * mount.inv()
    yaw, pitch, roll = body.as_euler("ZYX").T
    return {
        name: replace(signals[name], times=attitude.times, values=np.unwrap(values))
        for name, values in zip(ANGLES, (roll, -pitch, yaw), strict=True)
    }


def _rotate(rotation: Rotation, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turned vectors; scipy takes none that are read-only."""
    turned: NDArray[np.float64] = rotation.apply(np.array(vectors))
    return turned


def _overlap(signal: Signal, other: Signal) -> Signal:
    """The part of a signal while there is another."""
    inside = (signal.times >= other.times[0]) & (signal.times <= other.times[-1])
    return replace(signal, times=signal.times[inside], values=signal.values[inside])
