"""Real-time simulation of tracked robots: a plugin for PyBullet, and an engine of its own."""

from segtrack import checkout, terrain
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.errors import SegtrackError
from segtrack.robot import Robot, RobotState
from segtrack.world import Snapshot, World, attach, configure

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
