"""Contact of moving bodies with described terrain: points and edges against solids, heightfields and soil.

Kernels (numba) of plain scalars and tuples that allocate nothing; no engine, no file format. Whoever
moves a body finds candidates (`broadphase`), then gives the place and the velocity of each of its
points, and each near edge, to `point_contact`, and applies the forces.

| module | content |
|---|---|
| `pack`, `seams` | terrain laid out for kernels, and which of its edges and faces lie inside it |
| `height_scan` | heights of terrain, laid out and sampled |
| `broadphase` | candidates near a part, and what contacts remember |
| `tread` | what of a shoe meets the ground |
| `depth` | depth of a point in solids and grids, and the height of a grid |
| `point_contact`, `contact_laws` | contact of points and edges; what rigid ground and soil do |
| `implicit_contact`, `implicit_laws` | contact that is linearly implicit in a step's velocities |
| `face_contacts` | contacts of a section's points with one face, side by side |
| `equations`, `contact_loads` | velocity changes in a step; what contacts add to loads and masses |
| `belt_equations` | belts, their contacts and drives in these equations, for any host |
| `active_contacts` | contacts that act in a step, cut where friction and adhesion end |
| `parent_frames` | links that carry belts, as parts of one rigid vehicle |
| `outside` | wrench on a vehicle of all that its belts do not know |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
