"""Units that logs come in, and how many of segtrack's each is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

_TURN = 2 * math.pi

LENGTH = MappingProxyType({"m": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0})
SPEED = MappingProxyType({"m/s": 1.0, "cm/s": 0.01, "mm/s": 0.001, "km/h": 1 / 3.6})
ANGLE = MappingProxyType({"rad": 1.0, "mrad": 0.001, "deg": math.radians(1.0), "turns": _TURN})
TURNING = MappingProxyType({"rad/s": 1.0, "deg/s": math.radians(1.0), "rpm": _TURN / 60, "turns/s": _TURN})
COUNTS = MappingProxyType({"counts": 1.0})
COUNTING = MappingProxyType({"counts/s": 1.0})
CURRENT = MappingProxyType({"A": 1.0, "mA": 0.001})
FORCE = MappingProxyType({"N": 1.0, "kN": 1000.0})
ENERGY = MappingProxyType({"J": 1.0, "kJ": 1000.0, "Wh": 3600.0})
TIME = MappingProxyType({"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9})

Units = Mapping[str, float]
"""How many of segtrack's unit each is."""

_OTHER_NAMES = {
    "deg": ("°", "degree", "degrees"),
    "rad": ("radian", "radians"),
    "deg/s": ("°/s", "deg/sec", "dps", "deg s-1"),
    "rad/s": ("rad/sec", "radps", "rad s-1"),
    "rpm": ("1/min", "rev/min", "r/min", "RPM"),
    "turns/s": ("rev/s", "rps", "Hz"),
    "turns": ("rev", "revolutions"),
    "m": ("meter", "meters", "metre", "metres"),
    "m/s": ("mps", "m/sec", "m s-1"),
    "km/h": ("kph", "kmh", "km/hr"),
    "counts": ("ticks", "count", "tick"),
    "counts/s": ("ticks/s", "cps", "count/s"),
    "us": ("µs", "μs"),
}
_PLAIN = {other: unit for unit, others in _OTHER_NAMES.items() for other in others}


def plain(unit: str) -> str:
    """A unit by the name that it has here, if it is known by another one."""
    bare = unit.strip().strip("[]()").strip()
    return _PLAIN.get(bare, bare)


def complaint(unit: str, units: Units) -> str | None:
    """What is wrong with a unit; None if it is one of these."""
    if plain(unit) in units:
        return None
    close = get_close_matches(plain(unit), units, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"must be {_listed(units)}, got {unit!r}{hint}"


def _listed(units: Units) -> str:
    *others, last = units
    return f"{', '.join(others)} or {last}" if others else last
