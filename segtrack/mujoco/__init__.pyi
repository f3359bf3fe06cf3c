from .attaching import attach as attach
from .attaching import detach as detach
from .engine import MujocoEngine as MujocoEngine
from .spec import add as add
from .vehicle import MujocoVehicle as MujocoVehicle
