"""Import of somebody's robot: URDF or xacro in, a vehicle file that drives out.

Data flows one way:

| module | in | out |
|---|---|---|
| `reading`, `xacro_file` | a file | the tree of a URDF, and the hints of its plugins |
| `repairs` | the tree | a tree that loads: no empty or missing meshes, doubled links, impossible inertias |
| `robot` | the tree | `UrdfRobot`: links, joints and shapes in the root frame, all joints at 0 |
| `outlines` | points, circles | pulleys of a belt: the convex outline of wheels, or one fitted to a shape |
| `wheels`, `finding` | `UrdfRobot` | `FoundTrack`s: plane, pulleys, width, links that stand for it |
| `direction` | names, plugins, axles | the forward direction; the tree is turned where it is not x |
| `carriers` | joints between a track and the root | flippers, moving joints, joints held |
| `settings` | what no file says | numbers with defaults, asked for or set |
| `planner`, `plan` | what was found, settings | `VehiclePlan`: numbers of a file, edits of the URDF |
| `vehicle_text` | the plan | texts of the URDF and the vehicle file, with where each number is from |
| `import_files` | a path | where files go: over none of somebody else's, and none after an error |
| `imported` | a path | `ImportedRobot`: files written, description, findings |
| `trial` | a description | weight on belts, 0.5 m straight, a turn, its yaw rate over planar friction |

The common form is a URDF tree, as the body of a vehicle file is one: another format is another reader. What
is found, where it is from and how sure it is stand in one list of `ImportFinding`s, which the command shows
as a table.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
