"""Link-chain dynamics (Omar 2014): shoes joined by pin-bushings. No engine, no file format; numba kernels.

Frames. A shoe frame has its origin in the shoe's centre of mass and its axes along the principal
ones: x along the belt from the shoe's bushing to its pin, y along the pins, z outwards, away from
the wheels. The world frame is inertial. A joint's angle is that about +y from a shoe to the next
one; it is positive around a wheel, negative where the chain bends backwards. The track frame is
that of `description.track`: wheels lie in its x-z plane, their axles along its y.

Shoes are numbered in the order in which the belt runs. A joint holds the pin of a shoe in the
bushing of the next.

- `shoes`, `shoe_state`, `shoe_dynamics`: shoes and their joints, their state, their sub-step
- `running_gear`, `sprocket`, `wheel_...`: sprocket, idler, road wheels, support rollers
- `contact_rows`: contacts whose geometry is held for some sub-steps
- `shoe_contact`, `terrain_rows`: shoes on the terrain of `segtrack.ground`
- `design`: what a track consists of; `stability`: the largest sub-step that it bears
- `track`: a track's state, to save, restore and assemble
- `advance`: all tracks of a vehicle through a step of the physics engine
- `readings`: what an engineer looks at

The links that wheels sit on, as parts of one rigid vehicle, are in `segtrack.ground.parent_frames`.

One step of PyBullet is `advance.advance_tracks`. It calls `track_step.run_tracks`, which runs the stages
below; the native engine runs 2 and 4 with the vehicle's own equations instead of 3 (`native/chain_step.py`):

1. `track_step.begin_track`, once: half a drift of shoes (`shoe_dynamics.py`), wheels
   (`wheel_dynamics.py`) and parent frames (`ground/parent_frames.py`), then the search
   for contact candidates of wheels (`wheel_contact.py`) and of terrain (`track_step.find_track_candidates`).
2. Each sub-step, for all tracks, `track_step.load_track`, and what it does to the parent links:
   a. the shoes' weight: `start_loads` (`shoe_dynamics.py`)
   b. the tensioners: `start_wheel_loads` (`wheel_dynamics.py`)
   c. the joints: `add_bushings` (`shoe_dynamics.py`)
   d. contacts, found anew after every so many sub-steps: `track_step.find_track_contacts`
   e. rails on wheels: `add_wheel_contacts` (`wheel_contact.py`)
   f. teeth on bushings: `add_sprocket_contacts` (`sprocket_contact.py`)
   g. shoes on terrain: `add_terrain_rows` (`terrain_rows.py`)
   h. velocities of the shoes: `kick` (`shoe_dynamics.py`)
   i. speeds of the wheels, and the drive: `kick_wheels` (`wheel_dynamics.py`)
   j. the reaction on the parent links: `accumulate_reaction` (`ground/parent_frames.py`)
3. After it the vehicle's recoil, `composite_velocity_change` (`ground/parent_frames.py`), and for
   all tracks `track_step.move_track`: velocities of the parent links, then a drift of shoes, wheels and
   parent frames; a whole one, but for half a one after the last sub-step.
4. `track_step.check_integrity`, once: whether a shoe or a joint has failed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
