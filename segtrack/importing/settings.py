"""Numbers that a robot's file does not say: set by the user, asked for, or proposed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.importing.findings import Certainty, Findings

UNITS = {
    "belt_mass": "kg",
    "belt_thickness": "m",
    "friction": "-",
    "grouser_height": "m",
    "grouser_pitch": "m",
    "mass": "kg",
    "max_force": "N",
    "max_speed": "m/s",
}
"""Numbers that can be set, with their units."""
WORDS = ("forward",)
"""What can be set in words."""
_ASKED = ("friction", "max_speed", "grouser_height")
"""Numbers that are asked for, where they are guessed: those on which a drive depends most."""


@dataclass(frozen=True)
class Question:
    """Question to the user.

    Attributes:
        name: Name of the number.
        proposal: Number that is taken without an answer.
        unit: Unit of the number.
        source: Source of the proposal.
    """

    name: str
    proposal: float
    unit: str
    source: str


Ask = Callable[[Question], float]


class Settings:
    """Numbers by name: those the user sets, answers to questions, and proposals."""

    def __init__(self, given: Mapping[str, object], ask: Ask | None, findings: Findings) -> None:
        """Check what is given.

        Args:
            given: Numbers, or their texts, by name.
            ask: Function that returns the user's number; None for none.
            findings: List to which each number is added.

        Raises:
            UnknownNameError: No such number.
            InvalidValueError: A number that is none, or not positive.
        """
        for name in given:
            if name not in (*UNITS, *WORDS):
                raise UnknownNameError("setting", name, (*UNITS, *WORDS))
        self._ask, self._findings = ask, findings
        self._asked: set[str] = set()
        self.forward = None if "forward" not in given else str(given["forward"])
        self._given = {name: _positive(name, given[name]) for name in given if name in UNITS}

    def given(self, name: str) -> float | None:
        """Number that the user set or answered; None if none."""
        return self._given.get(name)

    def number(
        self, name: str, owner: str, proposal: float, source: str, certainty: Certainty = "guessed"
    ) -> float:
        """Number for a part of the vehicle: the user's, or else the proposal, which may be asked for once.

        Args:
            name: Name of the number.
            owner: Part that it belongs to, in words.
            proposal: Number that is proposed.
            source: Source of the proposal.
            certainty: Certainty of the proposal.
        """
        is_open = name not in self._given and name not in self._asked
        if is_open and certainty == "guessed" and self._ask is not None and name in _ASKED:
            self._asked.add(name)
            answer = _positive(name, self._ask(Question(name, proposal, UNITS[name], source)))
            if not math.isclose(answer, proposal, rel_tol=1e-9):
                self._given[name] = answer
        value, unit = self._given.get(name, proposal), UNITS[name].replace("-", "")
        if name in self._given:
            certainty, source = "given", "--set or answer"
        self._findings.add(
            certainty, f"{owner}: {name.replace('_', ' ')}", f"{value:.4g} {unit}".strip(), source
        )
        return value


def _positive(name: str, value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number <= 0:
        raise InvalidValueError(f"setting {name} [{UNITS[name]}]", "a number above 0", value)
    return number
