"""Record of the fit behind a vehicle file: parameters with uncertainty, and logs fitted or held out."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from segtrack.description.base import Checks, Name, NonNegative, Number, Spec, check
from segtrack.errors import Problem

Text = Annotated[str, Field(strict=True, min_length=1)]


def _is_hash(text: str) -> str:
    if re.fullmatch(r"[0-9a-f]{64}", text) is None:
        raise ValueError(f"must be a SHA-256 of 64 hexadecimal digits, got {text!r}")
    return text


Hash = Annotated[str, Field(strict=True), AfterValidator(_is_hash)]


class FittedParameter(Spec):
    """Fitted parameter of the vehicle."""

    value: Number
    unit: Text
    std: NonNegative | None
    """Standard deviation of the value, in its unit; None if it is not known."""
    interval: tuple[Number, Number] | None
    """Interval of 95 %, within the bounds that were searched; None if it is not known."""
    identified: bool = True
    """True if the logs bound the value from both sides; otherwise an end of the interval is a bound."""

    @check
    def _rises(self) -> Checks:
        if self.interval is not None and self.interval[0] > self.interval[1]:
            yield Problem("interval", f"must rise, got {list(self.interval)}")


class FittedLog(Spec):
    """Log that the vehicle was fitted to, or that was held out."""

    file: Text
    sha256: Hash
    terrain: Text | None = None
    """File, or name of a bundled course; None for flat ground."""
    terrain_sha256: Hash | None = None
    score: NonNegative | None
    """Root mean square of simulated less logged signals, each over its standard deviation [-]; None if the
    simulation diverged."""
    score_before: NonNegative | None
    """Error with the vehicle file from which the fit began [-]."""


class Calibration(Spec):
    """Record of the fit to logs behind a vehicle file."""

    date: Text
    """ISO 8601."""
    version: Text
    """Version of segtrack."""
    vehicle: Text
    """File from which the fit began."""
    vehicle_sha256: Hash
    engine: Text
    track_model: Text
    parameters: Annotated[dict[Name, FittedParameter], Field(min_length=1)]
    others: dict[Name, Number] = {}
    """Values of parameters that were not fitted, as they were: by these a later change is told."""
    misfit: NonNegative | None = None
    """Root mean square of what is left over of the logs that were fitted, over standard deviations [-]. Well
    above 1 the values are those of the model alone: they make up for what it gets wrong."""
    unfitted_sha256: Hash | None = None
    """Hash of the description without its fitted values (`unfitted_hash`); None in older files."""
    logs: Annotated[dict[Text, FittedLog], Field(min_length=1)]
    """Logs that it was fitted to, by name, those of earlier fits among them: their scores are of then."""
    held_out: dict[Text, FittedLog] = {}
    """Logs that took no part in the fit, by name."""
    interrupted: bool = False
    """True if the fit was interrupted: values are the best so far, of whose uncertainty nothing is known."""
