"""Export of a vehicle: its description in, a file of another simulator out.

Data flows one way:

| module | in | out |
|---|---|---|
| `belt_shapes` | a track | boxes and cylinders that have its outline, and how their surfaces move |
| `parts` | a description | bodies that move against each other, with masses, shapes, belts and joints |
| `mesh_copies` | the body's meshes | copies beside the file, which every program reads |
| `extensions` | the body's URDF | plugins and transmissions that it has for other programs, left out |
| `gazebo` | a description | plugins of gz-sim that drive its tracks and joints |
| `urdf`, `sdf`, `mjcf` | the above | the tree of a file |
| `remarks` | a description | what a format says otherwise, or not at all |
| `formats`, `exported` | a description, a path | files, over none of somebody else's |

The body's own links in a URDF are those of `segtrack.description`, as PyBullet loads them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
