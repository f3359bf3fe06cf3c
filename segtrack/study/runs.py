"""Runs of a study, and their rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, vehicle_hash
from segtrack.errors import SegtrackError
from segtrack.events import (
    EventObserver,
    EventResult,
    EventSetup,
    SearchTrial,
    UpwardSearch,
    measure_of,
    run_event,
)
from segtrack.study.file import StudyFile
from segtrack.study.paths import Steps, VehicleSource, find_places


class RunJob(NamedTuple):
    """One run of a study.

    Attributes:
        study: Study file.
        design: Index of the design (vehicle).
        trial: Index of the run in the design's search.
        values: Parameter values, in file order.
        tried: Size [m] or speed [m/s] tried by the search; None for a single run.
    """

    study: StudyFile
    design: int
    trial: int
    values: tuple[float, ...]
    tried: float | None


Row = dict[str, Any]
"""Columns of a run by name, see `COLUMNS`."""

COLUMNS: Mapping[str, type] = {
    "design": int,
    "trial": int,
    "tried": float,
    "speed": float,
    "outcome": str,
    "passed": bool,
    "measure": float,
    "limited_by": str,
    "peak_g": float,
    "filtered_peak_g": float,
    "peak_with": str,
    "absorbed_power": float,
    "approach_speed": float,
    "passage_speed": float,
    "max_pitch_deg": float,
    "min_pitch_deg": float,
    "duration": float,
    "seed": int,
    "vehicle_hash": str,
    "reason": str,
}
"""Columns of a run besides its parameters: name and type. What a run does not have is null."""


def vehicle_of(study: StudyFile, values: tuple[float, ...]) -> VehicleDescription:
    """Return the vehicle with a design's parameter values.

    Raises:
        VehicleFileError: The vehicle cannot be so.
    """
    source = VehicleSource(study.vehicle)
    numbers: dict[Steps, float] = {}
    for parameter, value in zip(study.parameters.values(), values, strict=True):
        for path in parameter.paths:
            for place in find_places(source.vehicle, path):
                own = 0.0 if place.value is None else place.value
                new = {"value": value, "offset": own + value, "factor": own * value}[parameter.change]
                numbers[place.steps] = round(new) if isinstance(place.value, int) else new
    return source.changed(numbers)


def used_values(study: StudyFile, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round parameter values (designs, parameters) as their vehicles do: whole for integer places."""
    vehicle, used = VehicleSource(study.vehicle).vehicle, values.copy()
    for i, parameter in enumerate(study.parameters.values()):
        places = [place for path in parameter.paths for place in find_places(vehicle, path)]
        if parameter.change != "factor" and all(isinstance(place.value, int) for place in places):
            used[:, i] = np.round(values[:, i])
    return used


def setup_of(job: RunJob) -> EventSetup:
    """Return the event of a run.

    Raises:
        SegtrackError: Its vehicle cannot be.
    """
    setup = job.study.setup(vehicle_of(job.study, job.values))
    search = job.study.upward_search
    return setup if search is None or job.tried is None else search.setup_at(setup, job.tried)


NOT_RUN = ("refused", "failed")
"""Outcomes of runs that could not be simulated: by a check, or by an error that nobody foresaw."""


def run_job(job: RunJob, observer: EventObserver | None = None) -> Row:
    """Simulate one run; if that is impossible, the row has the reason."""
    row = _empty_row(job)
    try:
        setup = setup_of(job)
        assert isinstance(setup.vehicle, VehicleDescription)
        row["vehicle_hash"] = vehicle_hash(setup.vehicle)
        result = run_event(setup, observer=observer)
    except SegtrackError as error:
        return row | {"outcome": "refused", "reason": str(error)}
    except Exception as error:  # One run must not end the others.
        return row | {"outcome": "failed", "reason": f"{type(error).__name__}: {error}"}
    return row | _measured(result, job.study)


def failed_row(job: RunJob, reason: str) -> Row:
    """Return the row of a run without a result."""
    return _empty_row(job) | {"outcome": "failed", "reason": reason}


def _empty_row(job: RunJob) -> Row:
    row: Row = dict.fromkeys((*job.study.parameters, *COLUMNS))
    row |= dict(zip(job.study.parameters, job.values, strict=True))
    row |= {"design": job.design, "trial": job.trial, "tried": job.tried, "seed": job.study.design.seed}
    return row | {"passed": False, "limited_by": "", "peak_with": "", "reason": ""}


def _measured(result: EventResult, study: StudyFile) -> Row:
    summary = result.summary()
    measure = measure_of(result, study.judged_by)
    texts = {name: ", ".join(summary[name]) for name in ("limited_by", "peak_with")}  # type: ignore[arg-type]
    row = {name: summary[name] for name in COLUMNS if name in summary} | texts | {"measure": measure}
    return {name: None if _is_lost(value) else value for name, value in row.items()}


def _is_lost(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def trial_of(row: Row, search: UpwardSearch) -> SearchTrial:
    """Return a run's row as a trial of a search."""
    measure = math.inf if row["measure"] is None else row["measure"]
    speeds = row["speed"], row["approach_speed"]
    return search.judge(row["tried"], measure, row["outcome"], row["limited_by"], *speeds, row["reason"])
