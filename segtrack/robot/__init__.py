"""Vehicles in users' hands: commands in, state out, whichever engine runs.

The life of a track, layer by layer:

| class | where | what |
|---|---|---|
| `TrackSpec` | description | the numbers of the vehicle file |
| `MountedTrack` | description | the track in its vehicle: full name, flipper, side |
| a row of `VehicleModel`'s arrays | engine, bullet, native | the track in a running engine |
| `Track` | robot | the track in users' hands |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
