from .attaching import attach as attach
from .attaching import detach as detach
from .spec import add as add
from .vehicle import MujocoVehicle as MujocoVehicle
