"""Inputs of a simulation that are uncertain, each by its standard deviation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, Field

from segtrack.description import VehicleDescription
from segtrack.description.base import Positive
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.logs.fit.parameters import PARAMETERS, with_parameters

VEHICLE_INPUTS = tuple(PARAMETERS)
"""Of a vehicle, by the names that a fit has for them."""
SETTING = "setting"
"""Of a terrain: value of what its course raises, as the height of a step."""
INPUTS = (*VEHICLE_INPUTS, SETTING)
"""Of a simulation."""


def one_of(what: str, names: Iterable[str]) -> Callable[[str], str]:
    """A check that a key of a file is one of some names."""
    known = tuple(names)

    def checked(name: str) -> str:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"
            raise ValueError(f"is no {what}; {hint}")
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
