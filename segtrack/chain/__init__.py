"""Link-chain dynamics (Omar 2014): shoes joined by pin-bushings. No engine, no file format; numba kernels.

Frames. A shoe frame has its origin in the shoe's centre of mass and its axes along the principal
ones: x along the belt from the shoe's bushing to its pin, y along the pins, z outwards, away from
the wheels. The world frame is inertial. A joint's angle is that about +y from a shoe to the next
one; it is positive around a wheel, negative where the chain bends backwards. The track frame is
that of `description.track`: wheels lie in its x-z plane, their axles along its y.

Shoes are numbered in the order in which the belt runs. A joint holds the pin of a shoe in the
bushing of the next.

Rooms. `shoes`: shoes, their joints, state and sub-step. `running_gear`: sprocket, idler, road wheels
and support rollers. Above them, what joins the two and the terrain to a track:

- `design`: what a track consists of; `stability`: the largest sub-step that it bears
- `track`: a track's state, to save, restore and assemble; `track_arrays`: the same, as kernels see it
- `advance`: all tracks of a vehicle through a step of the physics engine
- `parent_frames`: the links that wheels sit on, in their rigid vehicle
- `readings`: what an engineer looks at

One step of the engine is `advance.advance_tracks`. It calls `track_step.run_tracks`, which runs:

1. `track_step.begin_track`, once: half a drift of shoes (`shoes/sub_step.py`), wheels
   (`running_gear/wheel_dynamics.py`) and parent frames (`parent_frames.py`), then the search for
   contact candidates of wheels (`running_gear/wheel_contact.py`) and terrain (`shoe_candidates.py`).
2. Each sub-step, for all tracks, `track_step.load_track`:
   a. the shoes' weight: `start_loads` (`shoes/sub_step.py`)
   b. the tensioners: `start_wheels` (`running_gear/wheel_dynamics.py`)
   c. the joints: `add_bushings` (`shoes/bushings.py`)
   d. rails on wheels: `add_wheels` (`running_gear/wheel_contact.py`)
   e. teeth on bushings: `add_sprocket` (`running_gear/sprocket_contact.py`)
   f. shoes on terrain: `add_ground` (`shoe_contact.py`)
   g. velocities of the shoes: `kick` (`shoes/sub_step.py`)
   h. speeds of the wheels, and the drive: `kick_wheels` (`running_gear/wheel_dynamics.py`)
   i. the sum of what the parent links get: `book` (`parent_frames.py`)
3. After it `give_way` (`parent_frames.py`): how the vehicle's velocity changes. And for all tracks
   `track_step.move_track`: the parent links' velocities, then a drift of shoes, wheels and parent
   frames; a whole one, but for half a one after the last sub-step.
4. `integrity.find_lost`, once: whether a shoe or a joint is lost.
"""
