"""Belts that are one travel along a path, whose grousers ride it and touch the ground by themselves.

Frames. A section's frame has its origin on the belt's outer face, x along the belt's travel, y along
the axle and z outwards; it is where the path has it at the section's coordinate, so that a
grouser turns with the arc on which it is. A belt's shape is rigid in its track frame.

A belt is a row of sections: grousers, and faces between them, or faces alone. Those of a riding belt
(`compliant`) move with its travel. Those of `surface` stand still and their face moves in its speed alone,
which on rigid ground is the same for a belt that looks alike everywhere (the constraint to the
ground in Okada et al. 2020); soil remembers where it was pressed, so that needs sections that ride.

`section` says what of a section meets the ground, `belt` lays a vehicle's belts out for kernels, `candidates`
finds which sections can touch, `memory` has what these remember, `belt_contact` what the ground does to them,
`edge_contact` what its edges do, and `report` has the contacts as they are read. Where another engine moves
the vehicle, `beside` has the belts' sub-steps, `beside_equations` what they solve, with `carrying_joints`
among its unknowns, and `vehicle_belts` what that engine holds of them. `vehicle_belts` also has the load,
slip and sinkage of each contact, in any engine.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
