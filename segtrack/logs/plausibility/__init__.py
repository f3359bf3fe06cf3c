"""Plausibility of mapped logs: what contradicts physics, the vehicle, the terrain or another channel.

| stage | what | where |
|---|---|---|
| evidence | motions averaged over windows | `evidence` |
| checks | `Observation`s of belts, attitude, places, signals | `belts`, `attitude`, `place`, `samples` |
| remedies | mapping lines that would explain a contradiction, each tried on the log | `remedies` |
| findings | what contradicts something, with a remedy or the mapping's reason | `check`, `finding` |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
