"""Plausibility of mapped logs: what contradicts physics, the vehicle, the terrain or another channel.

| stage | what | where |
|---|---|---|
| evidence | motions averaged over windows | `evidence` |
| checks | belts; attitude; places; single signals: an `Observation` each | `belts`, `attitude`, `place`, `samples` |
| remedies | mapping lines that would explain a contradiction, each tried on the log | `remedies` |
| findings | what contradicts something, with remedy or the reason for which the mapping accepts it | `check` |
"""

from segtrack.logs.plausibility.check import check_plausibility
from segtrack.logs.plausibility.finding import Finding, Observation, Plausibility, Remedy

__all__ = ["Finding", "Observation", "Plausibility", "Remedy", "check_plausibility"]
