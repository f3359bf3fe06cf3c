"""Plausibility of mapped logs: what contradicts physics, the vehicle, the terrain or another channel.

| stage | what | where |
|---|---|---|
| evidence | motions averaged over windows | `evidence` |
| checks | `Observation`s of belts, attitude, places, signals | `belts`, `attitude`, `place`, `samples` |
| remedies | mapping lines that would explain a contradiction, each tried on the log | `remedies` |
| findings | what contradicts something, with a remedy, or the reason that the mapping gives | `check` |
"""

from segtrack.logs.plausibility.check import check_plausibility
from segtrack.logs.plausibility.finding import (
    Finding,
    ImplausibleLogError,
    Observation,
    Plausibility,
    Remedy,
    refuse,
)

__all__ = [
    "Finding",
    "ImplausibleLogError",
    "Observation",
    "Plausibility",
    "Remedy",
    "check_plausibility",
    "refuse",
]
