"""Headers of columns: their units, and the names of times."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError

TIME_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "µs": 1e6, "ns": 1e9}
"""Number of each in a second."""
_DAY = 86400.0
"""Seconds."""
_CALENDARS = {"Excel": 25569.0, "MATLAB": 719529.0}
"""Days at the beginning of 1970 as spreadsheets, and as MATLAB's datenum, count them."""
_FASTEST = 1e-4
"""Time between rows that is shorter than that of any robot's log [s]: they are days."""
_KNOWN = frozenset(
    """s ms us µs ns min h Hz kHz m mm cm km m/s mm/s cm/s km/h m/s^2 m/s² m/s2 g rad mrad deg ° rad/s deg/s
    °/s rpm 1/min 1/s rad/s^2 rad/s² deg/s^2 N kN Nm N·m N*m A mA V mV W kW J kJ Wh Pa kPa bar °C degC K % -
    kg sec secs msec usec nsec d day days in ft in/s ft/s mph ips""".split()
) | {"N m"}
"""Units that stand without brackets, or in round ones, which hold other words as often."""
_SUFFIXES = {
    "m_s": "m/s",
    "mps": "m/s",
    "mm_s": "mm/s",
    "km_h": "km/h",
    "kmh": "km/h",
    "rad_s": "rad/s",
    "deg_s": "deg/s",
    "rpm": "rpm",
    "rad": "rad",
    "deg": "deg",
    "mm": "mm",
    "cm": "cm",
    "m_s2": "m/s^2",
    "mps2": "m/s^2",
    "Nm": "N m",
    "mA": "mA",
    "Hz": "Hz",
    "ips": "in/s",
    "ft_s": "ft/s",
    "mph": "mph",
}
"""Units behind an underscore, where nothing else can be meant: `x_m` may be a measured x, `v_ms` m/s."""
_OTHER_NAMES = {
    "sec": "s", "secs": "s", "msec": "ms", "usec": "us", "nsec": "ns", "day": "d", "days": "d",
}  # fmt: skip
"""Units of time by other names for them."""
_GLUED = {"timeus": "us", "timems": "ms", "timens": "ns"}
"""Names of times with their units, as autopilots write them."""
_PARTS = ("sec", "secs"), ("nanosec", "nanosecs", "nsec", "nsecs")
"""Names of the two numbers of a stamp, behind the same path: whole seconds, and nanoseconds."""
_TIMES = frozenset(
    """t time times timestamp timestamps time_stamp stamp ts elapsed elapsed_time epoch unix_time datetime
    ros_time sim_time system_time rosbagtimestamp datenum""".split()
)
_SPELLED = {
    "seconds": "s",
    "milliseconds": "ms",
    "millis": "ms",
    "microseconds": "us",
    "micros": "us",
    "nanoseconds": "ns",
    "nanos": "ns",
    "days": "d",
    "datenum": "d",
}
_SINCE_1970 = (1e9, 4.1e9)
"""Times since 1970 from 2001 to 2099 [s]."""
_MAX_TIME = 1e20
"""Numbers beyond this one are not times, in any unit: a damaged file has them."""
_YEAR = 0.02
"""The longest log as a fraction of the time since 1970, about a year: others count from elsewhere."""
_BRACKETS = re.compile(r"^(?P<name>.*?)(?P<space>\s*)(?:\[(?P<square>[^\]]*)\]|\((?P<round>[^)]*)\))\s*$")


def unit_of(header: str) -> str:
    """Unit of a column, empty unless its header says it: `v [m/s]`, `v (m/s)`, `v_m_s`, `time_ms`."""
    return _split(header)[1]


def is_unit(text: str) -> bool:
    """Return True if a cell below a header is the unit of its column."""
    bare = text.strip().strip("[]()").strip()
    return bare in _KNOWN


def is_time(header: str) -> bool:
    """Return True if a column's name is that of a time."""
    name = _split(header)[0].strip(" _\t%#\"'").lower().replace(" ", "_")
    return name in _TIMES or name in _SPELLED or name in _GLUED


def find_stamp(names: Sequence[str]) -> tuple[int, int] | None:
    """Indices of the columns with the whole seconds and the nanoseconds of a stamp; None without.

    Args:
        names: Names of the columns, such as `header.stamp.sec` and `header.stamp.nanosec`.
    """
    places = {name.strip().lower(): i for i, name in enumerate(names)}
    for name, i in places.items():
        path = name.removesuffix(re.split(r"[._/]", name)[-1])
        if name[len(path) :] in _PARTS[0]:
            for part in _PARTS[1]:
                if path + part in places:
                    return i, places[path + part]
    return None


def seconds_of(values: NDArray[np.float64], unit: str, header: str) -> tuple[NDArray[np.float64], str]:
    """Return the times of a column [s], and the unit that was assumed.

    Args:
        values: Numbers as in the file (n,).
        unit: Unit in the file; if empty, seconds, unless they are times since 1970 in another unit, or days.
        header: Name of the column, for the error.

    Raises:
        InvalidValueError: The unit is none of time.
    """
    if not unit:
        unit = _SPELLED.get(header.strip().lower(), "") or _unit_since_1970(values)
        unit = "d" if unit == "s" and _calendar_of(values) and _step_of(values) < _FASTEST else unit
    if unit == "d":
        calendar = _calendar_of(values)
        days = values - _CALENDARS.get(calendar, 0.0)
        return days * _DAY, f"days as {calendar} counts them" if calendar else unit
    if unit not in TIME_UNITS:
        raise InvalidValueError(f"unit of the times {header!r}", "s, ms, us, ns or d", unit)
    return (values if unit == "s" else values / TIME_UNITS[unit]), unit


def has_time(times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the rows whose number can be a time (n,): finite, and below 1e20."""
    return abs(times) < _MAX_TIME


def _unit_since_1970(values: NDArray[np.float64]) -> str:
    """Unit in which they are times since 1970, `s` if in none."""
    known = values[has_time(values)]
    first, last = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    for unit, count in TIME_UNITS.items():
        low, high = (count * limit for limit in _SINCE_1970)
        if low <= first and last <= high and last - first <= _YEAR * last:
            return unit
    return "s"


def _calendar_of(values: NDArray[np.float64]) -> str:
    """Calendar in which they are days from 2001 to 2099; empty if in none."""
    known = values[has_time(values)]
    for name, first in _CALENDARS.items():
        low, high = (first + limit / _DAY for limit in _SINCE_1970)
        if len(known) and low <= known.min() and known.max() <= high:
            return name
    return ""


def _step_of(values: NDArray[np.float64]) -> float:
    """Median of the steps ahead; infinite without any."""
    steps = np.diff(values[has_time(values)])
    return float(np.median(steps[steps > 0])) if (steps > 0).any() else float("inf")


def _split(header: str) -> tuple[str, str]:
    """Name and unit of a header."""
    text = header.strip()
    found = _BRACKETS.match(text)
    if found is not None:
        unit = (found["square"] or found["round"] or "").strip()
        unit = _OTHER_NAMES.get(unit, unit)
        is_index = unit.isdigit() or not (found["space"] or unit in _KNOWN)  # As in `q[0]`, `speed[left]`.
        if unit in _KNOWN or (found["square"] is not None and not is_index):
            return found["name"], unit
    if text.lower() in _GLUED:
        return text, _GLUED[text.lower()]
    stem, _, suffix = text.rpartition("_")
    suffix = _OTHER_NAMES.get(suffix, suffix)
    if suffix in TIME_UNITS and stem.strip(" %#\"'").lower() in _TIMES:
        return stem, suffix
    for ending, unit in _SUFFIXES.items():
        if text.endswith(f"_{ending}") and len(text) > len(ending) + 1:
            return text[: -len(ending) - 1], unit
    return text, ""
