"""Result of a fit, and the vehicle file that holds it with a hash of all that was not fitted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import yaml
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.description.calibration import Calibration, FittedLog, FittedParameter
from segtrack.description.named_files import file_hash, map_files
from segtrack.errors import FileAccessError
from segtrack.files import content_hash, write_text
from segtrack.logs.fit.cases import Case, CaseScore, LogFiles
from segtrack.logs.fit.estimates import Combination, ParameterEstimate
from segtrack.logs.fit.profiles import Profile
from segtrack.logs.fit.search import Noise, SearchRun
from segtrack.logs.fit.uncertainty import FitUncertainty
from segtrack.logs.fit.unknowns import PARAMETERS, values_of, with_parameters

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedCase:
    """A log beside the simulations of the vehicle as it was and as fitted.

    Attributes:
        case: The log.
        before: Residuals with the vehicle as it was (n, k) [-].
        after: Residuals with the fitted one (n, k) [-].
        score_before: Score of `before`.
        score: Score of `after`.
        score_written: Score of the vehicle that is written, in which only what is identified was changed.
        clock_offset: Fitted clock offset [s].
    """

    case: Case
    before: Array
    after: Array
    score_before: CaseScore
    score: CaseScore
    score_written: CaseScore
    clock_offset: float

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the samples."""
        files = self.case.files
        return {
            "name": self.case.name,
            "held_out": self.case.held_out,
            "files": None if files is None else vars(files),
            "rows": len(self.case.rows.measured),
            "diverged_before": self.score_before.diverged,
            "diverged": self.score.diverged,
            "score_before": self.score_before.score,
            "score": self.score.score,
            "score_written": self.score_written.score,
            "rmse_before": dict(self.score_before.rmse),
            "rmse": dict(self.score.rmse),
            "units": dict(zip(self.case.rows.labels, self.case.rows.units, strict=True)),
        }


@dataclass(frozen=True, eq=False)
class Fit:
    """Result of a fit.

    Attributes:
        start: The vehicle from which it began.
        vehicle: The fitted one.
        written: The one that is written: `start` with the values of what is identified; `vehicle` if the fit
            was interrupted.
        values: Values of all unknowns by name, in their units.
        cases: Logs that were fitted and held out.
        seed: Seed of everything random.
        simulations: Number of simulations.
        runs: Runs of the search, the best first.
        noise: Numerical noise of the simulations; None if it was interrupted before.
        estimates: Values with their uncertainty; empty if it was interrupted.
        undetermined: Combinations of unknowns that the logs do not determine, the loosest first.
        determined: Determined combinations of unknowns that are not identified by themselves.
        uncertainty: Uncertainty of the scaled unknowns; None if it was interrupted.
        profiles: Profile of each unknown; empty if it was interrupted.
    """

    start: VehicleDescription
    vehicle: VehicleDescription
    written: VehicleDescription
    values: Mapping[str, float]
    cases: tuple[FittedCase, ...]
    seed: int
    simulations: int
    runs: tuple[SearchRun, ...] = ()
    noise: Noise | None = None
    estimates: tuple[ParameterEstimate, ...] = ()
    undetermined: tuple[Combination, ...] = ()
    determined: tuple[Combination, ...] = ()
    uncertainty: FitUncertainty | None = None
    profiles: tuple[Profile, ...] = ()

    @property
    def misfit(self) -> float | None:
        """Root mean square of what is left over of the logs that were fitted, in standard deviations [-].

        None if the simulation of one of them diverged.
        """
        fitted = [case for case in self.cases if not case.case.held_out]
        if any(case.score.diverged for case in fitted):
            return None
        left = [case.after[case.case.rows.there] for case in fitted]
        return float(np.sqrt((np.concatenate(left) ** 2).mean()))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was not identified and is left as it was in the written vehicle, a sentence each."""
        left = (e for e in self.estimates if e.unknown.log is None and not e.is_bounded)
        return tuple(
            f"{e.name} was left as it was, {e.unknown.start:.4g} {e.unknown.unit}: {e.why}" for e in left
        )

    @property
    def finished(self) -> bool:
        """True if it went through all stages; otherwise values have no uncertainty."""
        return bool(self.estimates)

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the samples."""
        summary: dict[str, Any] = {
            "finished": self.finished,
            "vehicle": self.start.name,
            "seed": self.seed,
            "misfit": self.misfit,
            "simulations": self.simulations,
            "values": dict(self.values),
            "cases": [case.summary() for case in self.cases],
            "runs": [{"cost": run.cost, "generations": run.generations} for run in self.runs],
        }
        if self.uncertainty is not None and self.noise is not None:
            summary |= {
                "parameters": [estimate.summary() for estimate in self.estimates],
                "correlations": self.uncertainty.correlations.tolist(),
                "effective_residuals": self.uncertainty.freedom,
                "disagreement": self.uncertainty.disagreement,
                "undetermined": [combination.summary() for combination in self.undetermined],
                "determined": [combination.summary() for combination in self.determined],
                "noise": asdict(self.noise),
                "profiles": [
                    {
                        "values": [estimate.unknown.value(x) for x in profile.scaled.tolist()],
                        "distances": profile.distances.tolist(),
                    }
                    for estimate, profile in zip(self.estimates, self.profiles, strict=True)
                ],
            }
        return summary


def unfitted_hash(vehicle: VehicleDescription, fitted: Mapping[str, float]) -> str:
    """SHA-256 of a description without name, source and calibration, defaults left out.

    Args:
        vehicle: The vehicle.
        fitted: Mapping[str, float] of what was fitted, by name; they take the place of the vehicle's own.

    Raises:
        FileAccessError: A file that it names cannot be read.
    """
    own = values_of(vehicle)
    same = with_parameters(vehicle, {name: value for name, value in fitted.items() if name in own})
    data = same.model_dump(mode="json", exclude_defaults=True, exclude={"name", "source", "calibration"})
    return content_hash(map_files(data, _content))


def _content(key: str, path: str) -> str:
    """Content of a URDF, or hash of that of another file."""
    if key != "urdf":
        return file_hash(Path(path))
    try:
        return ElementTree.canonicalize(from_file=path, strip_text=True)
    except OSError as error:
        raise FileAccessError("read", Path(path), error.strerror or str(error)) from None


_UNTOLD = LogFiles("none", "0" * 64)
"""Description of a log that was read from no file."""


def calibrated(found: Fit, provenance: Mapping[str, str]) -> VehicleDescription:
    """The written vehicle with its calibration.

    Logs of earlier fits, and what was fitted to them and is not fitted again, stay in it. A fit of clocks
    alone, or one that identified nothing, leaves the vehicle as it was.

    Args:
        found: A fit; of one that was interrupted no uncertainty is known.
        provenance: Fields of `Calibration`: `date`, `version`, `vehicle`, `vehicle_sha256`, `engine` and
            `track_model`.
    """
    own = _parameters(found)
    if not own:
        return found.written
    earlier = found.start.calibration
    parameters = {**({} if earlier is None else earlier.parameters), **own}
    logs = {case.case.name: _log(case) for case in found.cases if not case.case.held_out}
    calibration = Calibration(
        **provenance,
        parameters=parameters,
        others={name: x for name, x in values_of(found.written).items() if name not in parameters},
        unfitted_sha256=unfitted_hash(
            found.written, {name: parameter.value for name, parameter in parameters.items()}
        ),
        misfit=found.misfit,
        logs=logs if earlier is None else _with_earlier(logs, earlier.logs),
        held_out={case.case.name: _log(case) for case in found.cases if case.case.held_out},
        interrupted=not found.finished,
    )
    fitted = "fitted by segtrack log fit" if found.finished else "of an interrupted segtrack log fit"
    source = f"{found.start.source}; {', '.join(own)} {fitted} to {', '.join(logs)}"
    return found.written.model_copy(update={"source": source, "calibration": calibration})


def _parameters(found: Fit) -> dict[str, FittedParameter]:
    """Fitted parameters of the vehicle that are written, by name."""
    if not found.finished:
        return {
            name: FittedParameter(
                value=x, unit=PARAMETERS[name].unit, std=None, interval=None, identified=False
            )
            for name, x in found.values.items()
            if name in PARAMETERS
        }
    return {
        estimate.name: FittedParameter(
            value=estimate.value,
            unit=estimate.unknown.unit,
            std=estimate.std,
            interval=estimate.interval,
        )
        for estimate in found.estimates
        if estimate.unknown.log is None and estimate.is_bounded
    }


def _with_earlier(logs: Mapping[str, FittedLog], earlier: Mapping[str, FittedLog]) -> dict[str, FittedLog]:
    """Logs of a fit, then those of earlier ones that are not among them, under names of their own."""
    found = dict(logs)
    known = {(log.sha256, log.terrain_sha256) for log in logs.values()}
    for name, log in earlier.items():
        if (log.sha256, log.terrain_sha256) not in known:
            names = (name, *(f"{name} ({i})" for i in range(2, len(found) + 3)))
            found[next(each for each in names if each not in found)] = log
    return found


def write_vehicle(path: Path, vehicle: VehicleDescription, remarks: Sequence[str] = ()) -> Path:
    """Write a vehicle file that `load_vehicle` reads; returns its path.

    What the description leaves to its defaults is left out. Files that it names are relative to it. Remarks
    stand at its beginning as comments.

    Raises:
        FileAccessError: The file cannot be written.
    """
    data = vehicle.model_dump(mode="json", exclude_unset=True)
    # What was fitted to is named, not referred to: it need not lie where it lay.
    named = {key: part for key, part in data.items() if key != "calibration"}
    data |= map_files(named, partial(_relative, path.parent.resolve()))
    text = yaml.safe_dump(data, sort_keys=False, width=110, allow_unicode=True)
    return write_text(path, "".join(f"# {remark}\n" for remark in remarks) + text)


def _log(case: FittedCase) -> FittedLog:
    files = case.case.files or _UNTOLD
    return FittedLog(
        file=files.log,
        sha256=files.log_sha256,
        terrain=files.terrain,
        terrain_sha256=files.terrain_sha256,
        score=case.score_written.score,
        score_before=case.score_before.score,
    )


def _relative(folder: Path, key: str, path: str) -> str:
    """A path relative to a folder, where that can be."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # Another drive, on Windows.
        return path
