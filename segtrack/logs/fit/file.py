"""Fit files: logs with their mappings, the compared signals, and the fitted parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from segtrack.description import (
    Beside,
    Checks,
    ExistingFile,
    Name,
    Number,
    Positive,
    Spec,
    check,
    check_content,
    expanded,
    known,
    parse_yaml,
    read_text,
    shown,
)
from segtrack.engine import EngineName
from segtrack.errors import FitFileError, Problem
from segtrack.logs.fit.evaluate import Loss
from segtrack.logs.fit.unknowns import CLOCK_OFFSET, PARAMETERS, Choice, Prior
from segtrack.robot import QUANTITIES

Share = Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)]


def _existing(given: str, info: ValidationInfo) -> str:
    path = Path((info.context or {}).get("folder", "."), expanded(given)).resolve()
    if not os.path.exists(path):
        raise ValueError(f"must be an existing file or folder, got {given!r} (looked for {shown(path)})")
    return str(path)


LogPath = Annotated[str, Field(strict=True, min_length=1), AfterValidator(_existing)]


def _filled(given: Any) -> Any:
    """A mapping whose empty values are empty mappings: `friction:` alone is all that many need to say."""
    if not isinstance(given, dict):
        return given
    return {key: {} if value is None else value for key, value in given.items()}


class SignalSpec(Spec):
    """A signal that is compared."""

    std: Positive | None = None
    """Standard deviation, in its unit; the mapping's if not given."""


class PriorSpec(Spec):
    """Prior knowledge of a parameter: a normal distribution."""

    mean: Number
    """Mean in the parameter's unit."""
    std: Positive
    """Its standard deviation, in the parameter's unit."""


class ParameterSpec(Spec):
    """Bounds and prior of a fitted parameter."""

    bounds: tuple[Number, Number] | None = None
    """Bounds of the search in its unit; the parameter's own around the vehicle's value."""
    prior: PriorSpec | None = None
    """Prior knowledge of it."""

    @check
    def _rises(self) -> Checks:
        if self.bounds is not None and self.bounds[0] >= self.bounds[1]:
            yield Problem("bounds", f"must rise, got {list(self.bounds)}")

    @property
    def choice(self) -> Choice:
        """Return it without the file's types."""
        prior = None if self.prior is None else Prior(self.prior.mean, self.prior.std)
        return Choice(self.bounds, prior)


class LogSpec(Spec):
    """A log of a fit."""

    log: LogPath
    """File of the log, or folder of a bag."""
    mapping: ExistingFile | None = None
    """Mapping file; the fit's if not given."""
    terrain: Beside | None = None
    """Bundled course, or file with a terrain; the fit's or the mapping's if not given."""
    drive_by: Literal["commanded", "measured"] | None = None
    """Belt motion that drives its simulation; the measured one if there is one and no drive lag is fitted."""
    trial: Annotated[int, Field(strict=True, ge=1)] | None = None
    """Number of its trial, where the mapping splits the log."""
    hold_out: Annotated[bool, Field(strict=True)] = False
    """Take no part in the fit, and be scored only."""
    hold_out_rows: Share | None = None
    """Random fraction of the rows of a table of steady turns that are scored only."""

    @check
    def _one_way(self) -> Checks:
        if self.hold_out and self.hold_out_rows is not None:
            yield Problem("hold_out_rows", "must be left out where the whole log is held out")


class FitFile(Spec):
    """A fit file."""

    vehicle: Beside | None = None
    """Bundled vehicle, or vehicle file, from which it begins; the mapping's if not given."""
    mapping: ExistingFile | None = None
    """Default for logs that give none of their own."""
    terrain: Beside | None = None
    """Default for logs that give none of their own."""
    track_model: str | None = None
    """Name of a track model, `compliant` if not given. Steady turns can also be fitted with
    `uniform pressure`, which needs no engine."""
    engine: EngineName | None = None
    """native, pybullet or mujoco; native if not given, where it runs the track model."""
    time_step: Positive = 0.001
    """Time step of the simulations [s]."""
    signals: Annotated[dict[str, SignalSpec], Field(min_length=1), BeforeValidator(_filled)]
    """Signals that are compared."""
    parameters: Annotated[dict[str, ParameterSpec], Field(min_length=1), BeforeValidator(_filled)]
    """Parameters that are fitted."""
    logs: Annotated[dict[Name, LogSpec], Field(min_length=1)]
    """Logs by a name of your own."""
    loss: Loss = "huber"
    """Loss of residuals: huber, by which what is far off counts by its size, or squares."""
    seed: Annotated[int, Field(strict=True, ge=0)] = 1
    """Seed of everything random."""

    @check
    def _known_parameters(self) -> Checks:
        there = (*PARAMETERS, CLOCK_OFFSET)
        for name in self.parameters:
            if name not in there:
                yield Problem(f"parameters.{name}", f"is no parameter; there are: {', '.join(there)}")

    @check
    def _known_signals(self) -> Checks:
        for key in self.signals:
            name, _, which = key.partition(".")
            quantity = QUANTITIES.get(name)
            if quantity is None:
                there = ", ".join(QUANTITIES)
                yield Problem(f"signals.{key}", f"is no quantity; there are: {there}")
            elif (quantity.each is not None) != bool(which):
                sides = {"side": f"{name}.left and {name}.right", "flipper": f"{name}.FLIPPER"}
                expected = name if quantity.each is None else sides[quantity.each]
                yield Problem(f"signals.{key}", f"must be {expected}")

    @check
    def _all_mapped(self) -> Checks:
        for name, log in self.logs.items():
            if known(log, "mapping", "given") is None and self.mapping is None:
                yield Problem(f"logs.{name}.mapping", "is missing, and the fit has none")

    @check
    def _some_fitted(self) -> Checks:
        if all(known(log, "hold_out", False) is True for log in self.logs.values()):
            yield Problem("logs", "must have one that is not held out")

    @property
    def choices(self) -> Mapping[str, Choice]:
        """Parameters that are fitted, without the file's types."""
        return {name: spec.choice for name, spec in self.parameters.items()}

    @property
    def stds(self) -> Mapping[str, float | None]:
        """Standard deviation by signal; None for the mapping's."""
        return {key: spec.std for key, spec in self.signals.items()}


def load_fit_file(path: Path) -> FitFile:
    """Read and check a fit file; paths in it are absolute then.

    Raises:
        FileAccessError: The file cannot be read.
        FitFileError: The file has mistakes; all of them are listed, with their lines.
    """
    content = parse_yaml(read_text(path), path.name, FitFileError)
    return check_content(FitFile, content, path.name, path.parent, FitFileError)
