"""Belts beside a physics engine that moves their vehicle in longer steps than theirs.

Within a step of the engine the links that carry belts go on as parts of one rigid vehicle, which gives
way to what the belts do to it; the mean of that is handed to the engine for the step. Link chains and
compliant belts share it.

- `links`: the vehicle's links as the engine has them: where track frames on them are, and all of them
  together as one rigid body
- `parent_frames`: that body and those frames within the step, and what belts do to them
"""
