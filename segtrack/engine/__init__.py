"""The protocol between what users hold (world, robot, track, flipper, joint) and a physics engine.

`segtrack.bullet` and `segtrack.native` implement it; nothing above this layer knows which one runs.
What reaches an engine is checked: numbers are finite, names exist, angles and speeds are
within their limits. All vectors are in the world, z upwards, unless said otherwise.
"""

from segtrack.engine.engine import Engine
from segtrack.engine.models import FlipperModel, JointModel, TrackModel, VehicleModel
from segtrack.engine.state import (
    ActuatorState,
    BeltContacts,
    BeltState,
    Bodies,
    FlipperState,
    FrameMotion,
    JointState,
    Pedals,
)
from segtrack.engine.track_models import EngineName

__all__ = [
    "BeltContacts",
    "ActuatorState",
    "BeltState",
    "Bodies",
    "Engine",
    "EngineName",
    "FlipperModel",
    "FlipperState",
    "FrameMotion",
    "JointModel",
    "JointState",
    "Pedals",
    "TrackModel",
    "VehicleModel",
]
