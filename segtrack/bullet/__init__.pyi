from .client import TimedClient as TimedClient
from .client import bound_client as bound_client
from .client import client_id as client_id
from .client import configure as configure
from .engine import BulletEngine as BulletEngine
from .loader import track_builder as track_builder
from .loader import vehicle_urdf as vehicle_urdf
from .vehicle import BulletVehicle as BulletVehicle
