from .batch import Batch as Batch
from .description import VehicleDescription as VehicleDescription
from .description import bundled_vehicles as bundled_vehicles
from .description import load_vehicle as load_vehicle
from .errors import SegtrackError as SegtrackError
from .exporting import ExportedVehicle as ExportedVehicle
from .exporting import export_vehicle as export_vehicle
from .importing import ImportedRobot as ImportedRobot
from .importing import import_robot as import_robot
from .robot import Robot as Robot
from .robot import RobotState as RobotState
from .world import Snapshot as Snapshot
from .world import World as World
from .world import attach as attach
from .world import configure as configure

__version__: str
