"""What users state to be uncertain: a YAML file of standard deviations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from segtrack.description.base import Positive, Spec
from segtrack.description.file.check import check_content
from segtrack.description.file.yaml_file import parse_yaml, read_text
from segtrack.errors import UncertaintyFileError
from segtrack.logs.compare.uncertainty.data import DataUncertainty
from segtrack.logs.compare.uncertainty.inputs import INPUTS, InputStds, parse_stds, stds_by
from segtrack.logs.motion import QUANTITIES

SignalStds = stds_by("quantity", QUANTITIES)


class StatedData(Spec):
    """Of a log, beside the noise of its signals, which its mapping states."""

    clock: Positive | None = None
    """Of the offset of every source's clock whose own is not known [s]."""
    bias: SignalStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Of a constant error, by quantity, in its unit."""
    drift: SignalStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Of an error that grows with time, by quantity, in its unit a second."""


class Stated(Spec):
    """Standard deviations that users state."""

    inputs: InputStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Of what a simulation is given: a vehicle's, by the names that a fit has for them, and the setting."""
    data: StatedData = StatedData()
    """Of what a log says."""

    def data_uncertainty(self, sources: Mapping[str, float | None]) -> DataUncertainty:
        """What is uncertain of a log.

        Args:
            sources: Its sources, and the standard deviation of each one's clock where that is known [s].
        """
        clock = self.data.clock
        known = {source: clock if std is None else std for source, std in sources.items()}
        clocks = {source: std for source, std in known.items() if std is not None}
        return DataUncertainty(clocks, self.data.bias, self.data.drift)


def load_stated(option: str, text: str) -> Stated:
    """What an option states: a YAML file, or inputs as `friction=0.05,com_x=0.01`.

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
