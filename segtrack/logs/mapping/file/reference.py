"""What a mapping says of any quantity: its channels, and what they are in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from segtrack.description.base import Checks, Positive, Spec, check, known
from segtrack.errors import Problem
from segtrack.logs.mapping.file.units import Units, complaint, plain


def unit_among(units: Units) -> Any:
    """Check of a unit, which is made plain."""

    def plain_one(unit: str) -> str:
        if (problem := complaint(unit, units)) is not None:
            raise ValueError(problem)
        return plain(unit)

    return AfterValidator(plain_one)


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Text = Annotated[str, Field(strict=True, min_length=1)]
_NAMES = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
Texts = Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_as_list), _NAMES]
"""One or several; a channel that has several numbers at a time is enough."""


class Reference(Spec):
    """A quantity's place in a log."""

    units: ClassVar[Units] = {}
    """That its channels can be in; none for numbers without one."""
    std: Positive | None = None
    """Standard deviation of the noise, in segtrack's unit of the quantity (m/s, rad, m, rad/s, A)."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Its channels, each with the key that names it; not those that are wrong in the file."""
        raise NotImplementedError


class OneChannel(Reference):
    """A quantity that one channel has."""

    channel: Text

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """The one."""
        if (name := known(self, "channel", None)) is not None:
            yield "channel", name


class SeveralChannels(Reference):
    """A quantity of several numbers at a time."""

    channels: Texts
    sensor: Text | None = None
    """Which of `sensors` measures it; in the body frame if not given."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """All, by their places."""
        for i, name in enumerate(known(self, "channels", ())):
            yield f"channels[{i}]", name


class Sides(Reference):
    """A quantity that there is for the left and the right belts."""

    left: Text | None = None
    right: Text | None = None
    reversed: tuple[Literal["left", "right"], ...] = ()
    """Sides whose numbers have the other sign, as those of motors that are mounted mirror-wise."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Those that are given."""
        for side in ("left", "right"):
            if (name := known(self, side, None)) is not None:
                yield side, name

    @check
    def _has_a_side(self) -> Checks:
        if self.left is None and self.right is None:
            yield Problem("", "must have left, right or both")
