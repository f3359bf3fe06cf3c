"""Base classes of a mapping file's quantities: channels, units and noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from segtrack.description import Checks, Number, Positive, Spec, check, exactly_one, in_radians, known
from segtrack.errors import Problem
from segtrack.geometry import STANDARD_GRAVITY

_TURN = 2 * math.pi
SIDES = ("left", "right")
"""Sides of a vehicle, as keys of belts end: `belt_speed.left`."""

LENGTH = MappingProxyType({"m": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0})
SPEED = MappingProxyType({"m/s": 1.0, "cm/s": 0.01, "mm/s": 0.001, "km/h": 1 / 3.6})
ANGLE = MappingProxyType({"rad": 1.0, "mrad": 0.001, "deg": math.radians(1.0), "turns": _TURN})
TURNING = MappingProxyType({"rad/s": 1.0, "deg/s": math.radians(1.0), "rpm": _TURN / 60, "turns/s": _TURN})
COUNTS = MappingProxyType({"counts": 1.0})
COUNTING = MappingProxyType({"counts/s": 1.0})
CURRENT = MappingProxyType({"A": 1.0, "mA": 0.001})
FORCE = MappingProxyType({"N": 1.0, "kN": 1000.0})
ENERGY = MappingProxyType({"J": 1.0, "kJ": 1000.0, "Wh": 3600.0})
ACCELERATION = MappingProxyType({"m/s^2": 1.0, "g": STANDARD_GRAVITY})
TIME = MappingProxyType({"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9})

Units = Mapping[str, float]
"""Factors to segtrack's unit, by name."""

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
    "m/s^2": ("m/s²", "m/s2", "m/s/s", "m s-2"),
    "counts": ("ticks", "count", "tick"),
    "counts/s": ("ticks/s", "cps", "count/s"),
    "us": ("µs", "μs"),
}
_PLAIN = {other: unit for unit, others in _OTHER_NAMES.items() for other in others}


def standard_unit(unit: str) -> str:
    """Return the name that a unit has here, if it is known by another one."""
    bare = unit.strip().strip("[]()").strip()
    return _PLAIN.get(bare, bare)


def unit_problem(unit: str, units: Units) -> str | None:
    """Describe the problem of a unit; None if it is one of these."""
    if standard_unit(unit) in units:
        return None
    close = get_close_matches(standard_unit(unit), units, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    *others, last = units
    listed = f"{', '.join(others)} or {last}" if others else last
    return f"must be {listed}, got {unit!r}{hint}"


def unit_among(units: Units) -> Any:
    """Return a validator that accepts these units, and converts other spellings."""

    def plain_one(unit: str) -> str:
        if (problem := unit_problem(unit, units)) is not None:
            raise ValueError(problem)
        return standard_unit(unit)

    return AfterValidator(plain_one)


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Text = Annotated[str, Field(strict=True, min_length=1)]
_NAMES = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
Texts = Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_as_list), _NAMES]
"""One or several channels; a channel that has several numbers at a time is enough."""


def _numbers_as_list(given: Any) -> Any:
    return [given] if isinstance(given, int | float) else given


_NUMBERS = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]})
Numbers = Annotated[tuple[Number, ...], BeforeValidator(_numbers_as_list), _NUMBERS]
"""One or several numbers."""


class Despike(Spec):
    """Filter that leaves out numbers far from the median of those around them (Hampel's rule)."""

    window: Annotated[int, Field(strict=True, ge=3, le=1001)]
    """Numbers whose median it is, the number itself in the middle; odd, at most 1001."""
    limit: Positive
    """Largest distance from it, over the window's own deviation: 1.4826 times the median absolute one."""

    @check
    def _is_odd(self) -> Checks:
        if self.window % 2 == 0:
            yield Problem("window", f"must be odd, got {self.window}")


class Reference(Spec):
    """A quantity's place in a log."""

    units: ClassVar[Units] = {}
    """Units that its channels may have; empty for quantities without one."""
    std: Positive | None = None
    """Standard deviation of the noise, in segtrack's unit of the quantity (m/s, rad, m, rad/s, A)."""
    missing: Numbers = ()
    """Numbers of the channel that mean none, as -9999."""
    despike: Despike | None = None
    """Filter of spikes, over the channel's numbers."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Yield the key and name of each channel; invalid ones are skipped."""
        raise NotImplementedError


class OneChannel(Reference):
    """A quantity that one channel has."""

    channel: Text

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Yield the key and name of the channel."""
        if (name := known(self, "channel", None)) is not None:
            yield "channel", name


class ChannelOrValue(OneChannel):
    """A quantity that one channel has, or that was the same all the time and is stated."""

    channel: Text | None = None  # type: ignore[assignment]
    value: Number | None = None
    """Its constant value, in `unit`, instead of a channel."""

    @property
    def unit_of_value(self) -> str:
        """Unit of the value."""
        return str(getattr(self, "unit", ""))

    @check
    def _channel_or_value(self) -> Checks:
        yield from exactly_one(self, ("channel", "value"))

    @check
    def _value_has_a_unit(self) -> Checks:
        unit = getattr(self, "unit", None)
        if self.value is None:
            return
        if unit is None:
            yield Problem("unit", f"is missing: that of the value, {', '.join(self.units)}")
        elif unit == "rad" and abs(self.value) > _TURN:
            yield Problem("value", f"must be in radians, {in_radians(self.value)}")
        if getattr(self, "sensor", None) is not None:
            yield Problem("sensor", "must be left out beside value, which is in the body frame")
        for key in ("missing", "despike"):
            if getattr(self, key):
                yield Problem(key, "must be left out beside value")


class SeveralChannels(Reference):
    """A quantity of several numbers at a time."""

    channels: Texts
    sensor: Text | None = None
    """Name of its sensor among `sensors`; in the body frame if not given."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Yield the keys and names of all channels, in order."""
        for i, name in enumerate(known(self, "channels", ())):
            yield f"channels[{i}]", name


class SideChannels(Reference):
    """A quantity that there is for the left and the right belts."""

    left: Text | None = None
    right: Text | None = None
    reversed: tuple[Literal["left", "right"], ...] = ()
    """Sides whose numbers have the other sign, as those of motors that are mounted mirror-wise."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Names of the channels that this reference uses."""
        for side in SIDES:
            if (name := known(self, side, None)) is not None:
                yield side, name

    @check
    def _has_a_side(self) -> Checks:
        if self.left is None and self.right is None:
            yield Problem("", "must have left, right or both")
