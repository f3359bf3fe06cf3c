"""Vehicle files: YAML in, a frozen and validated `VehicleDescription` out.

| module | content |
|---|---|
| `vehicle`, `body`, `track`, `grousers`, `drive`, `calibration` | keys of a vehicle file |
| `joints/` | joints of a body's URDF that move |
| `chain/` | link chains: keys, and the design that follows |
| `base` | the base of these classes |
| `load`, `yaml_file`, `checking` | finding and reading a vehicle file, with all its mistakes |
| `file_names`, `mesh_files` | files that a vehicle file names, meshes among them; a hash by their content |
| `frames`, `urdf_checks` | frames and links of a body that is a URDF, and mistakes in it |
| `urdf_tree` | links of body and flippers as a URDF, for every program that reads one |
| `placement`, `belt_limits` | places and masses of tracks and links; limits of belts and steps |
| `ground_reach` | shapes of a body that reach the ground beside its belts |
| `compliant_layout` | design that follows, of compliant belts |
| `steering` | steering efficiency, by loads and planar friction |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
