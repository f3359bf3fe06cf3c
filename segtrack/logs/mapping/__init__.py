"""From a `Log` to a `Motion`: mapping files, one clock for all sources, and what contradicts physics.

`map_log` runs the stages of a mapping in order: take a trial's rows, sort them, look up channels, convert
units and signs, turn to the body frame, put all sources on one clock, move to the body's origin, cut the used
piece.
`check_plausibility` then says what of it contradicts physics, the vehicle, the terrain or another channel:

| stage | what | where |
|---|---|---|
| evidence | motions averaged over windows | `evidence` |
| checks | `Observation`s of signals, belts and clocks | `signal_checks`, `belt_checks`, `shift_checks` |
| checks | `Observation`s of mountings, attitude and places | `mounting_checks`, `pose_checks` |
| remedies | mapping lines that would explain a contradiction, each tried | `edits`, `plausibility` |
| findings | what contradicts something, with a remedy or the mapping's reason | `plausibility` |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
