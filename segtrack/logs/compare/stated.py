"""Standard deviations that users state: of a simulation's inputs and of a log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from segtrack.description import Positive, Spec, VehicleDescription, check_content, parse_yaml, read_text
from segtrack.errors import InvalidValueError, UncertaintyFileError, UnknownNameError, suggest
from segtrack.logs.compare.uncertainty import DataUncertainty
from segtrack.logs.fit import PARAMETERS, with_parameters
from segtrack.robot import QUANTITIES

VEHICLE_INPUTS = tuple(PARAMETERS)
"""Inputs of a vehicle, by the names that a fit has for them."""
SETTING = "setting"
"""Input of a terrain: the setting of its course, for example the height of a step."""
INPUTS = (*VEHICLE_INPUTS, SETTING)
"""Inputs of a simulation."""


def one_of(what: str, names: Iterable[str]) -> Callable[[str], str]:
    """A check that a key of a file is one of some names."""
    known = tuple(names)

    def checked(name: str) -> str:
        if name not in known:
            raise ValueError(f"is no {what}; {suggest(name, known)}")
        return name

    return checked


def stds_by(what: str, names: Iterable[str]) -> object:
    """The type of a part of a file that has standard deviations by name."""
    key = Annotated[str, Field(strict=True), AfterValidator(one_of(what, names))]
    return dict[key, Positive]


InputStds = stds_by("uncertain input", INPUTS)


def shifted(vehicle: VehicleDescription, name: str, by: float) -> VehicleDescription:
    """The vehicle with one of `VEHICLE_INPUTS` off by so much, in its unit.

    Raises:
        InvalidValueError: The vehicle cannot have that value.
    """
    return with_parameters(vehicle, {name: PARAMETERS[name].value_of(vehicle) + by})


def parse_stds(option: str, text: str, names: Iterable[str]) -> dict[str, float]:
    """Standard deviations as an option gives them: `friction=0.05,com_x=0.01`.

    Raises:
        InvalidValueError: It is something else, or one that is not positive.
        UnknownNameError: No such input.
    """
    known = tuple(names)
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise UnknownNameError("uncertain input", name, known)
        try:
            found[name] = float(value)
        except ValueError:
            raise InvalidValueError(option, "like friction=0.05,com_x=0.01", text) from None
        if not 0.0 < found[name] < float("inf"):
            raise InvalidValueError(f"{option} {name}", "greater than 0", found[name])
    return found


SignalStds = stds_by("quantity", QUANTITIES)


class StatedData(Spec):
    """Standard deviations of a log, besides the noise of its signals, which its mapping states."""

    clock: Positive | None = None
    """Standard deviation of clock offsets for which nothing else is known [s]."""
    bias: SignalStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviation of a constant error, by quantity, in its unit."""
    drift: SignalStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviation of an error that grows with time, by quantity, in its unit a second."""


class Stated(Spec):
    """Standard deviations that users state."""

    inputs: InputStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviations of inputs: a vehicle's, by the names that a fit has for them, and the setting."""
    data: StatedData = StatedData()
    """Standard deviations of the log."""

    def data_uncertainty(self, sources: Mapping[str, float | None]) -> DataUncertainty:
        """Return the uncertainty of a log.

        Args:
            sources: Its sources, and the standard deviation of each one's clock where that is known [s].
        """
        clock = self.data.clock
        known = {source: clock if std is None else std for source, std in sources.items()}
        clocks = {source: std for source, std in known.items() if std is not None}
        return DataUncertainty(clocks, self.data.bias, self.data.drift)


def load_stated(option: str, text: str) -> Stated:
    """Read an option: a YAML file, or inputs as `friction=0.05,com_x=0.01`.

    Raises:
        FileAccessError: The file cannot be read.
        UncertaintyFileError: The file has mistakes; all of them are listed.
        SegtrackError: It is no file, and no inputs either.
    """
    path = Path(text)
    if "=" in text and not path.exists():
        return Stated(inputs=parse_stds(option, text, INPUTS))
    content = parse_yaml(read_text(path), path.name, UncertaintyFileError)
    return check_content(Stated, content, path.name, path.parent, UncertaintyFileError)
