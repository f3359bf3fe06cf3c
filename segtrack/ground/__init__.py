"""Contact of moving bodies with described terrain: points and edges against solids, heightfields and soil.

Kernels (numba) of plain scalars and tuples that allocate nothing; no engine, no file format. Whoever
moves a body finds candidates (`broadphase`), then gives the place and the velocity of each of its
points, and each near edge, to `point_contact`, and applies the forces.
`pack` lays terrain out, `point_contact` says how deep a point is in it, `contact_laws` what rigid
ground and soil do to it, `broadphase` what a contact remembers, `tread` what of a shoe meets the ground,
`parent_frames` the links that carry belts, as parts of one rigid vehicle. `relief` lays out the heights
of terrain, and `height_scan` samples them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
