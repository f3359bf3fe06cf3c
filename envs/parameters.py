"""What an episode is built from: numbers and choices, fixed or sampled anew for each episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite


@dataclass(frozen=True)
class Number:
    """A number that can be fixed, or sampled uniformly from a range (low, high).

    Attributes:
        default: Value where nothing else is said; None leaves it to the vehicle.
        low: Smallest that it can be.
        high: Largest that it can be.
        unit: SI; "-" for none.
        text: What it is.
        whole: Whether only whole numbers will do.
    """

    default: float | None
    low: float
    high: float
    unit: str
    text: str
    whole: bool = False

    def check(self, name: str, given: Any) -> Any:
        """What can be sampled from: a number, or a pair of them.

        Raises:
            InvalidValueError: Not such numbers, outside the limits, or a range upside down.
        """
        given = given.tolist() if isinstance(given, np.ndarray) else given
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) != 2:
                raise InvalidValueError(self._called(name), "a number or a range (low, high)", given)
            low, high = (self._one(name, value) for value in given)
            if low > high:
                raise InvalidValueError(self._called(name), "a range (low, high) with low <= high", given)
            return (low, high)
        return self._one(name, given)

    def sample(self, given: Any, rng: np.random.Generator) -> float | int | None:
        """A value for one episode."""
        if not isinstance(given, tuple):
            return given
        low, high = given
        return int(rng.integers(low, high + 1)) if self.whole else float(rng.uniform(low, high))

    def _one(self, name: str, value: Any) -> float | int:
        number = finite(self._called(name), value)
        if not self.low <= number <= self.high:
            raise InvalidValueError(self._called(name), f"from {self.low:g} to {self.high:g}", value)
        if self.whole:
            if number != int(number):
                raise InvalidValueError(self._called(name), "a whole number", value)
            return int(number)
        return number

    def _called(self, name: str) -> str:
        return name if self.unit == "-" else f"{name} [{self.unit}]"


@dataclass(frozen=True)
class Choice:
    """One of several words, or some of them to be sampled from.

    Attributes:
        default: Value where nothing else is said: a word, or a tuple of words.
        options: The words.
        text: What it is.
    """

    default: str | tuple[str, ...]
    options: tuple[str, ...]
    text: str

    def check(self, name: str, given: Any) -> Any:
        """What can be sampled from: a word, or a tuple of words.

        Raises:
            InvalidValueError: Other words, or none.
        """
        words = (given,) if isinstance(given, str) else given
        good = isinstance(words, Sequence) and len(words) and all(word in self.options for word in words)
        if not good:
            expected = f"one or some of {', '.join(self.options)}"
            raise InvalidValueError(name, expected, given)
        return given if isinstance(given, str) else tuple(given)

    def sample(self, given: Any, rng: np.random.Generator) -> str:
        """A word for one episode."""
        return given if isinstance(given, str) else str(given[rng.integers(len(given))])


Parameter = Number | Choice
Values = dict[str, Any]


def check_values(parameters: Mapping[str, Parameter], given: Mapping[str, Any], where: str) -> Values:
    """Check values or ranges of parameters.

    Args:
        parameters: What there is.
        given: What to check.
        where: What they were given for, for the message.

    Returns:
        The given ones, with ranges as tuples.

    Raises:
        UnknownNameError: There is no such parameter.
        InvalidValueError: A value that cannot be.
    """
    if not isinstance(given, Mapping):
        raise InvalidValueError(f"parameters of {where}", "values by name", given)
    for name in given:
        if name not in parameters:
            raise UnknownNameError(f"parameter of {where}", name, parameters)
    return {name: parameters[name].check(name, value) for name, value in given.items()}


def sample_values(parameters: Mapping[str, Parameter], given: Values, rng: np.random.Generator) -> Values:
    """One value for each parameter: as given, or as by default."""
    return {name: p.sample(given.get(name, p.default), rng) for name, p in parameters.items()}


ROBOT_PARAMETERS: dict[str, Parameter] = {
    "friction": Number(
        None, 0.0, 2.0, "-", "Coulomb friction of the tracks; the vehicle file's if not given"
    ),
    "drive_force": Number(1.0, 0.1, 3.0, "-", "factor on what the belt drives can exert"),
    "mass": Number(1.0, 0.7, 1.5, "-", "factor on the body's mass"),
    "center_of_mass_x": Number(0.0, -0.2, 0.2, "m", "the body's centre of mass moved forward"),
    "center_of_mass_y": Number(0.0, -0.1, 0.1, "m", "the body's centre of mass moved to the left"),
    "center_of_mass_z": Number(0.0, -0.1, 0.1, "m", "the body's centre of mass moved up"),
    "grouser_height": Number(1.0, 0.25, 2.0, "-", "factor on the grousers' height"),
    "grouser_count": Number(1.0, 0.25, 1.25, "-", "factor on the number of grousers, rounded"),
    "initial_x": Number(0.0, -0.2, 0.2, "m", "start moved along the course"),
    "initial_y": Number(0.0, -0.25, 0.25, "m", "start moved to the left"),
    "initial_yaw": Number(0.0, -np.pi, np.pi, "rad", "start turned to the left"),
    "action_delay": Number(0, 0, 10, "-", "control steps that an action comes late", whole=True),
    "sensor_noise": Number(0.0, 0.0, 0.5, "-", "standard deviation of each entry, over half its range"),
}
"""What every task has besides its own; off by default."""


def robot_parameters(vehicle: VehicleDescription) -> dict[str, Parameter]:
    """The robot's parameters, with the friction that all tracks of a vehicle have, if they have one."""
    frictions = {track.spec.contact.friction for track in vehicle.mounted_tracks()}
    friction = ROBOT_PARAMETERS["friction"]
    if len(frictions) == 1 and isinstance(friction, Number):
        friction = replace(friction, default=frictions.pop())
    return {**ROBOT_PARAMETERS, "friction": friction}


MODEL_PARAMETERS = (
    "mass",
    "center_of_mass_x",
    "center_of_mass_y",
    "center_of_mass_z",
    "grouser_height",
    "grouser_count",
)
"""Robot parameters whose change loads the robot anew, in some 0.2 s."""


def parameter_table(parameters: Mapping[str, Parameter]) -> str:
    """The parameters as a Markdown table."""
    lines = ["| parameter | default | range | unit | meaning |", "|---|---|---|---|---|"]
    for name, p in parameters.items():
        if isinstance(p, Number):
            default = Phrase("the vehicle's") if p.default is None else Phrase(f"{p.default:g}")
            lines.append(f"| {name} | {default} | {p.low:g} to {p.high:g} | {p.unit} | {p.text} |")
        else:
            lines.append(f"| {name} | {p.default} | {', '.join(p.options)} | - | {p.text} |")
    return "\n".join(lines)
