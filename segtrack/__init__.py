"""Real-time simulation of tracked robots: a plugin for PyBullet, and an engine of its own."""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from segtrack import terrain
    from segtrack.batch import Batch
    from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
    from segtrack.errors import SegtrackError
    from segtrack.robot import Robot, RobotState
    from segtrack.world import Snapshot, World, attach, configure

__version__ = "0.2.0"

if _find_spec("segtrack.urdf") is None:  # Beside this package in a checkout, inside it once installed.
    raise ImportError(
        "segtrack is imported from a checkout that is not installed, without its vehicles, environments and "
        "demos: run `pip install -e .` there, or start Python in another folder"
    )

__all__ = [
    "Batch",
    "Robot",
    "RobotState",
    "SegtrackError",
    "Snapshot",
    "VehicleDescription",
    "World",
    "__version__",
    "attach",
    "bundled_vehicles",
    "configure",
    "load_vehicle",
    "terrain",
]
_HOMES = {
    "Batch": "segtrack.batch",
    "Robot": "segtrack.robot",
    "RobotState": "segtrack.robot",
    "SegtrackError": "segtrack.errors",
    "Snapshot": "segtrack.world",
    "VehicleDescription": "segtrack.description",
    "World": "segtrack.world",
    "attach": "segtrack.world",
    "bundled_vehicles": "segtrack.description",
    "configure": "segtrack.world",
    "load_vehicle": "segtrack.description",
}


def __getattr__(name: str) -> _Any:
    """Import a public name when it is first asked for, so that the program's start can be interrupted."""
    if name == "terrain":
        return _import_module("segtrack.terrain")
    if name not in _HOMES:
        raise AttributeError(f"module 'segtrack' has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
