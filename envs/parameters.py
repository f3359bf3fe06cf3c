"""Parameters of episodes, fixed or sampled, and their ranges in training and evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite
from segtrack.geometry import GRAVITY
from segtrack.terrain import published_soils


@dataclass(frozen=True)
class LogUniform:
    """Distribution of numbers whose logarithm is uniform, for factors: half is drawn as often as double.

    Attributes:
        low: Smallest number, above 0.
        high: Largest number.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            InvalidValueError: Not finite numbers, or not 0 < low <= high.
        """
        if not 0 < finite("low of LogUniform", self.low) <= finite("high of LogUniform", self.high):
            raise InvalidValueError("LogUniform", "of 0 < low <= high", (self.low, self.high))

    def __call__(self, rng: np.random.Generator) -> float:
        """Draw a number."""
        drawn = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        return min(max(drawn, self.low), self.high)  # Rounding leads out of the range.


Distribution = Callable[[np.random.Generator], Any]
"""Function that draws the value of an episode from a random generator."""


@dataclass(frozen=True)
class RobotValues:
    """Values, ranges or distributions of one parameter, one for each robot.

    Attributes:
        values: The robots' (n,).
    """

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Number:
    """Numeric parameter: fixed, sampled uniformly from a range (low, high), or drawn by a `Distribution`.

    Attributes:
        default: Default value; None for the vehicle's own.
        low: Smallest value.
        high: Largest value.
        unit: SI unit; "-" for none.
        text: Meaning, for tables.
        whole: True for whole numbers only.
    """

    default: float | None
    low: float
    high: float
    unit: str
    text: str
    whole: bool = False

    def check(self, name: str, given: Any) -> Any:
        """Check a number, a range as a pair, or a distribution, and return it.

        Raises:
            InvalidValueError: Not such numbers, outside the limits, or a range upside down.
        """
        if callable(given):
            for bound in (given.low, given.high) if isinstance(given, LogUniform) else ():
                self.check_value(name, bound)
            return given
        # An array is no range: elsewhere it has a row for each robot.
        several = isinstance(given, Sequence) and not isinstance(given, str)
        if several or np.ndim(given) > 0:
            if not several or len(given) != 2:
                raise InvalidValueError(self._called(name), "a number or a range (low, high)", given)
            low, high = (self.check_value(name, value) for value in given)
            if low > high:
                raise InvalidValueError(self._called(name), "a range (low, high) with low <= high", given)
            return (low, high)
        return self.check_value(name, given)

    def sample(self, given: Any, rng: np.random.Generator) -> float | int | None:
        """Sample a value for one episode.

        Args:
            given: Number or None, which is returned; or a range (low, high), a tuple, as `check` returns it.
            rng: Generator of random numbers.
        """
        if not isinstance(given, tuple):
            return given
        low, high = given
        return int(rng.integers(low, high + 1)) if self.whole else float(rng.uniform(low, high))

    def check_value(self, name: str, value: Any) -> float | int:
        """Check one number, and return it.

        Raises:
            InvalidValueError: No number, or outside the limits.
        """
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
class OfferedNumber(Number):
    """Numeric parameter with a list of allowed values: fixed, or sampled from those within a range.

    Attributes:
        offered: Allowed values, ascending.
    """

    offered: tuple[float, ...] = ()

    def check(self, name: str, given: Any) -> Any:
        """Check a number, a range with an allowed value in it, or a distribution, and return it.

        Raises:
            InvalidValueError: As of `Number`, or nothing is offered in the range.
        """
        checked = super().check(name, given)
        if isinstance(checked, tuple) and not self._within(checked):
            offered = ", ".join(f"{value:g}" for value in self.offered)
            raise InvalidValueError(self._called(name), f"a range with one of {offered}", given)
        return checked

    def sample(self, given: Any, rng: np.random.Generator) -> float | int | None:
        """Sample one of the allowed values for one episode.

        Args:
            given: Number or None, which is returned; or a range (low, high), a tuple, as `check` returns it.
            rng: Generator of random numbers.
        """
        return float(rng.choice(self._within(given))) if isinstance(given, tuple) else given

    def _within(self, limits: tuple[float, float]) -> list[float]:
        return [value for value in self.offered if limits[0] <= value <= limits[1]]


@dataclass(frozen=True)
class WordChoice:
    """Word parameter: fixed, or sampled from several words.

    Attributes:
        default: Default value: a word, or a tuple of words.
        options: Allowed words.
        text: Meaning, for tables.
    """

    default: str | tuple[str, ...]
    options: tuple[str, ...]
    text: str

    def check(self, name: str, given: Any) -> Any:
        """Check a word, a tuple of words, or a distribution, and return it.

        Raises:
            InvalidValueError: Other words, or none.
        """
        if callable(given):
            return given
        words = (given,) if isinstance(given, str) else given
        good = isinstance(words, Sequence) and len(words) and all(word in self.options for word in words)
        if not good:
            expected = f"one or some of {', '.join(self.options)}"
            raise InvalidValueError(name, expected, given)
        return given if isinstance(given, str) else tuple(given)

    def sample(self, given: Any, rng: np.random.Generator) -> str:
        """Sample a word for one episode.

        Args:
            given: Word, which is returned, or a tuple of words.
            rng: Generator of random numbers.
        """
        return given if isinstance(given, str) else str(given[rng.integers(len(given))])

    def check_value(self, name: str, value: Any) -> str:
        """Check one word, and return it.

        Raises:
            InvalidValueError: Another word, or none.
        """
        if not isinstance(value, str) or value not in self.options:
            raise InvalidValueError(name, f"one of {', '.join(self.options)}", value)
        return value


Parameter = Number | WordChoice
Values = dict[str, Any]


def check_values(
    parameters: Mapping[str, Parameter], given: Mapping[str, Any], where: str, robots: int | None = None
) -> Values:
    """Check values, ranges or distributions of parameters.

    Args:
        parameters: Known parameters, by name.
        given: Values, ranges or distributions to check, by name.
        where: Name of the task, for the message.
        robots: Number of robots, for each of which an array may have a row: a value (robots,), or a range
            (robots, 2); None where arrays are refused.

    Returns:
        The given ones, with ranges as tuples and arrays as `RobotValues`.

    Raises:
        UnknownNameError: There is no such parameter.
        InvalidValueError: A value that cannot be, or an array of another length.
    """
    if not isinstance(given, Mapping):
        raise InvalidValueError(f"parameters of {where}", "values by name", given)
    for name in given:
        if name not in parameters:
            raise UnknownNameError(f"parameter of {where}", name, parameters)
    return {name: _checked(parameters[name], name, value, robots) for name, value in given.items()}


def _checked(parameter: Parameter, name: str, given: Any, robots: int | None) -> Any:
    """A checked value, range or distribution, or `RobotValues` of them."""
    if robots is None or not isinstance(given, np.ndarray) or not given.ndim:
        return parameter.check(name, given)
    if given.shape not in ((robots,), (robots, 2)):
        expected = f"of shape {(robots,)} or {(robots, 2)}, a row a robot"
        raise InvalidValueError(f"array of {name}", expected, Phrase(f"shape {given.shape}"))
    return RobotValues(tuple(parameter.check(name, row) for row in given.tolist()))


def refuse_functions(given: Mapping[str, Any]) -> None:
    """Refuse distributions, where values are to be written to a file.

    Raises:
        InvalidValueError: There is one.
    """
    for name, value in given.items():
        if callable(value):
            raise InvalidValueError(name, "a number, a range or words, to be written to a file", value)


def row_of(given: Values, robot: int) -> Values:
    """Values, ranges or distributions of one robot."""
    return {
        name: each.values[robot] if isinstance(each, RobotValues) else each for name, each in given.items()
    }


def sample_values(parameters: Mapping[str, Parameter], given: Values, rng: np.random.Generator) -> Values:
    """Sample one value of each parameter, from what is given or from its default.

    Raises:
        InvalidValueError: A distribution has drawn what cannot be.
    """
    drawn = {}
    for name, parameter in parameters.items():
        value = given.get(name, parameter.default)
        if isinstance(value, tuple):
            value = parameter.sample(value, rng)
        elif callable(value):
            value = parameter.check_value(name, value(rng))
        drawn[name] = value
    return drawn


COURSE_SOIL = "course"
"""Soil that is the course's own."""
ROBOT_PARAMETERS: dict[str, Parameter] = {
    "friction": Number(
        None, 0.0, 2.0, "-", "Coulomb friction of the tracks; the vehicle file's if not given"
    ),
    "friction_left": Number(1.0, 0.0, 2.0, "-", "factor on the friction of the left tracks"),
    "friction_right": Number(1.0, 0.0, 2.0, "-", "factor on the friction of the right tracks"),
    "ground_friction": Number(
        1.0, 0.0, 2.0, "-", "factor on the friction of the ground, under tracks and body"
    ),
    "soil": WordChoice(
        COURSE_SOIL, (COURSE_SOIL, *published_soils()), "what the ground is of; the course's own if not given"
    ),
    "gravity": Number(GRAVITY, 0.0, 25.0, "m/s^2", "downward acceleration"),
    "drive_force": Number(1.0, 0.1, 3.0, "-", "factor on what the belt drives can exert"),
    "mass": Number(1.0, 0.7, 1.5, "-", "factor on the body's mass"),
    "inertia": Number(1.0, 0.3, 3.0, "-", "factor on the body's inertia, besides that on its mass"),
    "payload": Number(0.0, 0.0, 2.0, "-", "mass of a load on the body, over the vehicle's mass"),
    "payload_x": Number(0.0, -1.0, 1.0, "m", "place of the load, forward of the body frame"),
    "payload_y": Number(0.0, -1.0, 1.0, "m", "place of the load, to the left of the body frame"),
    "payload_z": Number(0.0, -1.0, 1.0, "m", "place of the load, above the body frame"),
    "center_of_mass_x": Number(0.0, -0.2, 0.2, "m", "the body's centre of mass moved forward"),
    "center_of_mass_y": Number(0.0, -0.1, 0.1, "m", "the body's centre of mass moved to the left"),
    "center_of_mass_z": Number(0.0, -0.1, 0.1, "m", "the body's centre of mass moved up"),
    "flipper_torque": Number(1.0, 0.1, 3.0, "-", "factor on the torque of the flippers' motors"),
    "grouser_height": Number(1.0, 0.25, 2.0, "-", "factor on the grousers' height"),
    "grouser_count": Number(1.0, 0.25, 1.25, "-", "factor on the number of grousers, rounded"),
    "initial_x": Number(0.0, -0.2, 0.2, "m", "start moved along the course"),
    "initial_y": Number(0.0, -0.25, 0.25, "m", "start moved to the left"),
    "initial_yaw": Number(0.0, -np.pi, np.pi, "rad", "start turned to the left"),
    "initial_roll": Number(0.0, -0.6, 0.6, "rad", "start leant, left side up"),
    "initial_pitch": Number(0.0, -0.6, 0.6, "rad", "start leant, nose up"),
    "initial_speed": Number(0.0, -2.0, 2.0, "m/s", "forward speed at the start, of belts, too"),
    "initial_flippers_front": Number(
        0.0, -np.pi, np.pi, "rad", "angle of front flippers at the start, tips up"
    ),
    "initial_flippers_rear": Number(
        0.0, -np.pi, np.pi, "rad", "angle of rear flippers at the start, tips up"
    ),
    "initial_progress": Number(
        0.0, 0.0, 0.95, "-", "part of the path that lies behind the start, leant as the ground there"
    ),
    "initial_time": Number(0.0, 0.0, 1.0, "-", "part of the time limit that is over at the start"),
    "push": Number(
        0.0, 0.0, 3.0, "m/s", "speed that each push gives the robot, in a random horizontal direction"
    ),
    "push_interval": Number(5.0, 0.05, 1000.0, "s", "mean time between pushes, which come at random"),
    "action_delay": Number(0, 0, 10, "-", "control steps that an action comes late", whole=True),
    "sensor_noise": Number(0.0, 0.0, 0.5, "-", "standard deviation of each entry, over half its range"),
}
"""Parameters of every task besides its own; off by default."""


def robot_parameters(vehicle: VehicleDescription) -> dict[str, Parameter]:
    """Return the robot's parameters; the friction's default is the tracks', if all are equal.

    Those of flippers that it does not have are left out.
    """
    frictions = {track.spec.contact.friction for track in vehicle.mounted_tracks()}
    friction = ROBOT_PARAMETERS["friction"]
    if len(frictions) == 1 and isinstance(friction, Number):
        friction = replace(friction, default=frictions.pop())
    ends = {flipper.tip_direction for flipper in vehicle.flippers.values()}
    own = {f"initial_flippers_{end}" for end in ends} | {"flipper_torque"} if ends else set()
    known = {**ROBOT_PARAMETERS, "friction": friction}
    return {name: p for name, p in known.items() if name not in FLIPPER_PARAMETERS or name in own}


FLIPPER_PARAMETERS = ("flipper_torque", "initial_flippers_front", "initial_flippers_rear")
"""Robot parameters of vehicles with flippers."""
BODY_PARAMETERS = ("mass", "center_of_mass_x", "center_of_mass_y", "center_of_mass_z")
"""Robot parameters of the body's mass properties."""
LOAD_PARAMETERS = ("inertia", "payload", "payload_x", "payload_y", "payload_z")
"""Robot parameters of the body's mass properties that no vehicle file can say."""
GROUSER_PARAMETERS = ("grouser_height", "grouser_count")
"""Robot parameters whose change loads the robot anew, in some 0.2 s."""


def parameter_table(parameters: Mapping[str, Parameter]) -> str:
    """Return the parameters as a Markdown table."""
    lines = ["| parameter | default | range | unit | meaning |", "|---|---|---|---|---|"]
    for name, p in parameters.items():
        if isinstance(p, Number):
            default = Phrase("the vehicle's") if p.default is None else Phrase(f"{p.default:g}")
            lines.append(f"| {name} | {default} | {p.low:g} to {p.high:g} | {p.unit} | {p.text} |")
        else:
            lines.append(f"| {name} | {p.default} | {', '.join(p.options)} | - | {p.text} |")
    return "\n".join(lines)


def spread(
    vehicle: VehicleDescription, given: Mapping[str, Any], of_task: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Add default ranges to given values, so that episodes differ from each other.

    The start 0.1 m and 0.15 rad off, the friction of the vehicle's tracks 0.1 higher or lower, and what the
    task spreads besides or in place of these.

    Args:
        vehicle: Description of the vehicle.
        given: Values and ranges in place of the default ones.
        of_task: Values and ranges of the task; those of flippers that the vehicle lacks are left out.

    Raises:
        InvalidValueError: No friction is given, and tracks differ in theirs, which one range makes alike.
    """
    lacking = set(FLIPPER_PARAMETERS) - set(robot_parameters(vehicle))
    own = {name: value for name, value in (of_task or {}).items() if name not in lacking}
    start = {"initial_x": (-0.1, 0.1), "initial_y": (-0.1, 0.1), "initial_yaw": (-0.15, 0.15)}
    ranges = {**start, **own, **given}
    if "friction" in ranges:
        return ranges
    frictions = sorted({track.spec.contact.friction for track in vehicle.mounted_tracks()})
    if len(frictions) > 1:
        expected = (
            f"given for {vehicle.name}: its tracks have {' and '.join(f'{each:g}' for each in frictions)}"
        )
        raise InvalidValueError("friction", expected, None)
    usual = frictions[0]
    return {**ranges, "friction": (max(usual - 0.1, 0.0), usual + 0.1)}
