"""Import of somebody's robot: URDF, xacro, SDF or MJCF in, a vehicle file that drives out.

Data flows one way:

| module | in | out |
|---|---|---|
| `reading`, `xacro_file`, `tolerant_xml` | a file | the tree of a URDF |
| `sdf_reading` | an SDF file | the same, from what the next two rows give |
| `sdf_files`, `sdf_frames` | the file | models without includes; poses of all frames by name |
| `sdf_bodies`, `sdf_joints` | links and joints | bodies and joints, with the numbers of `sdf_numbers` |
| `mjcf_reading` | an MJCF file, as MuJoCo compiles it | the same, by `mjcf_bodies` and `mjcf_joints` |
| `assembly` | bodies and joints in the model's frame | the tree, whose joints are at their links' origins |
| `hints` | the tree | what plugins, or readers of other formats, say of its tracks |
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

The common form is a URDF tree, as the body of a vehicle file is one: another format is another reader, to
bodies and joints of which `assembly` makes a tree. What is found, where it is from and how sure it is stand
in one list of `ImportFinding`s, which the command shows as a table.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
