"""Findings that a mapping accepts, with a reason."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from segtrack.description import Spec
from segtrack.errors import suggest
from segtrack.logs.mapping.references import Text

FINDINGS = (
    "sample times",
    "missing value",
    "wrapped counter",
    "spikes",
    "jump",
    "frozen",
    "belts against drives",
    "belts against commands",
    "belts against path",
    "belts against yaw rate",
    "attitude",
    "pitch beyond a turn",
    "roll beyond a turn",
    "gyroscope against attitude",
    "gyroscope against pitch",
    "gyroscope against yaw",
    "accelerometer against gravity",
    "accelerometer against attitude",
    "heading against path",
    "pitch against slope",
    "heights against terrain",
    "velocity against path",
    "velocity against body",
    "flippers against stops",
    "forces against drives",
)
"""Names of findings, as mappings accept them."""


def _known(name: str) -> str:
    if name not in FINDINGS:
        raise ValueError(f"must be the name of a finding, got {name!r}; {suggest(name, FINDINGS)}")
    return name


class Accepted(Spec):
    """A finding of `segtrack.logs.plausibility` that the user knows the reason of."""

    finding: Annotated[Text, AfterValidator(_known)]
    """Its name, as `map` prints it."""
    reason: Text
    """Why it may stand; it is told wherever the finding would be."""
