"""Real-time simulation of tracked robots in PyBullet with segment-link tracks and grousers."""

from pathlib import Path

# In a checkout the folders that an installation maps into the package (urdf, demos) lie beside it.
# Python started there finds this folder before the installed package.
if (Path(__file__).parent.parent / "pyproject.toml").is_file():
    __path__.append(str(Path(__file__).parent.parent))

from segtrack import terrain
from segtrack.bullet.engine import configure
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.errors import SegtrackError
from segtrack.robot import Robot, RobotState, attach
from segtrack.world import Snapshot, World

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
