"""Link-chain dynamics (Omar 2014): shoes joined by pin-bushings. No engine, no file format; numba kernels.

Frames. A link frame has its origin in the shoe's centre of mass and its axes along the
principal ones: x along the belt from the shoe's rear marker to its front one, y along the
pins, z outwards, away from the wheels. The world frame is inertial. A joint's turn is the
angle about +y from a link to the next one; it is positive around a wheel, negative where
the chain bends backwards.

Tracks. `design` says what a track consists of, `track` holds what moves, `track_step` is one sub-step.

Links are numbered in the order in which the belt runs. A joint holds the front marker of a
link, its pin, to the rear marker of the next, its bushing.
"""
