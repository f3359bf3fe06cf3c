"""Vehicle files: YAML in, a frozen and validated `VehicleDescription` out.

The modules here are the parts of a vehicle, and what follows from them; `file` reads a vehicle file and
checks it, `urdf` knows a body that is a URDF, `chain_layout` lays out a link chain.
"""

from segtrack.description.load import bundled_vehicles, find_vehicle, load_vehicle
from segtrack.description.vehicle import VehicleDescription

__all__ = ["VehicleDescription", "bundled_vehicles", "find_vehicle", "load_vehicle"]
