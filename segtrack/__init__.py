"""Real-time simulation of tracked robots in PyBullet with segment-link tracks and grousers."""

from segtrack import checkout, terrain
from segtrack.bullet.engine import configure
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.errors import SegtrackError
from segtrack.robot import Robot, RobotState, attach
from segtrack.world import Snapshot, World

checkout.map_folders()

__all__ = [
    "Robot",
    "RobotState",
    "SegtrackError",
    "Snapshot",
    "VehicleDescription",
    "World",
    "attach",
    "bundled_vehicles",
    "configure",
    "load_vehicle",
    "terrain",
]
