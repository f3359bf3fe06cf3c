"""Vehicle files: YAML in, a frozen and validated `VehicleDescription` out.

| module | content |
|---|---|
| `vehicle`, `body`, `track`, `belt_path`, `grousers`, `chain`, `calibration` | keys of a vehicle file |
| `joints/` | joints of a body's URDF that move |
| `base` | the base of these classes |
| `load`, `yaml_file`, `checking` | finding and reading a vehicle file, with all its mistakes |
| `frames`, `urdf_checks` | frames and links of a body that is a URDF, and mistakes in it |
| `placement`, `belt_limits` | places and masses of tracks and links; limits of belts and steps |
| `chain_layout`, `chain_loop`, `compliant_layout` | designs that follow, of link chains and compliant belts |
"""

from segtrack.description.load import bundled_vehicles, find_vehicle, load_vehicle
from segtrack.description.vehicle import VehicleDescription

__all__ = ["VehicleDescription", "bundled_vehicles", "find_vehicle", "load_vehicle"]
