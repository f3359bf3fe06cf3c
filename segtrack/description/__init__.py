"""Vehicle files: YAML in, a frozen and validated `VehicleDescription` out."""

from segtrack.description.catalogue import bundled_vehicles, find_vehicle
from segtrack.description.load import load_vehicle
from segtrack.description.vehicle import VehicleDescription

__all__ = ["VehicleDescription", "bundled_vehicles", "find_vehicle", "load_vehicle"]
