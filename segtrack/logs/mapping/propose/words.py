"""Columns by the words of their names, and by their units, as far as these are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.file.units import Units, plain

_ENDINGS = {"m_s": "m/s", "rad_s": "rad/s", "deg_s": "deg/s", "m": "m", "mm": "mm", "cm": "cm", "a": "A"}
"""Units at the ends of names that a reader cannot be sure of; a proposal says them, for the user to see."""
_LISTED = 9
COMMANDED = re.compile(r"(?:^|_)(?:cmd|command|commanded|desired|des|target|setpoint|ref|set)(?:_|$)")
SIDES = (re.compile(r"(?:^|_)(?:left|l)(?:_|$)"), re.compile(r"(?:^|_)(?:right|r)(?:_|$)"))


@dataclass(frozen=True)
class Word:
    """A column of one number at a time.

    Attributes:
        name: As the log has it.
        bare: In small letters, without its unit, with underscores between words.
        unit: As the log says it, or as the name ends; empty if neither.
        is_said: Whether the log says the unit.
    """

    name: str
    bare: str
    unit: str
    is_said: bool

    @property
    def is_command(self) -> bool:
        """Whether it is commanded, not measured."""
        return COMMANDED.search(self.bare) is not None


def words_of(log: Log) -> tuple[Word, ...]:
    """All columns of one number at a time, in the order of the log."""
    return tuple(_word(channel) for channel in log.channels.values() if channel.values.ndim == 1)


def unit_keys(words: Sequence[Word], units: Units) -> tuple[dict[str, str | list[str]], dict[str, str]]:
    """The line for the unit of some columns, and what is to be said of it: one or neither."""
    known = {word.unit for word in words}
    if len(known) != 1 or not known <= set(units):
        return {}, {"unit": f"{', '.join(list(units)[:_LISTED])}{', ...' * (len(units) > _LISTED)}"}
    return ({} if all(word.is_said for word in words) else {"unit": known.pop()}), {}


def _word(channel: Channel) -> Word:
    text = re.sub(r"\s*[\[(].*$", "", channel.name)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", text)
    bare = re.sub(r"[\W_]+", "_", spaced).strip("_").lower()
    unit = plain(channel.unit) if channel.unit else ""
    if unit:
        ending = re.sub(r"\W", "_", unit.lower())
        return Word(channel.name, bare.removesuffix(f"_{ending}"), unit, True)
    for ending, found in _ENDINGS.items():
        if bare.endswith(f"_{ending}"):
            return Word(channel.name, bare.removesuffix(f"_{ending}"), found, False)
    return Word(channel.name, bare, "", False)
