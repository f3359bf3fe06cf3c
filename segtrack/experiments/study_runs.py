"""Runs of a study: one run and its row, kept in a journal while they go on, in a Parquet file at the end."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, file_hash, named_files, vehicle_hash
from segtrack.errors import FileAccessError, InvalidValueError, MissingPackageError, Phrase, SegtrackError
from segtrack.experiments.event import EventObserver, run_event
from segtrack.experiments.event_result import EventResult
from segtrack.experiments.event_search import SearchTrial, UpwardSearch, measure_of
from segtrack.experiments.event_setup import EventSetup
from segtrack.experiments.study_file import StudyFile
from segtrack.experiments.study_paths import Steps, VehicleSource, find_places
from segtrack.files import content_hash, replacing


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
_PACKAGES = ("segtrack", "numpy", "scipy", "numba", "pybullet", "optuna", "SALib")
_KEY = "segtrack."
"""Beginning of the keys of the Parquet file's metadata."""


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


def provenance(study: StudyFile) -> dict[str, Any]:
    """Hashes and versions that the results depend on."""
    source = VehicleSource(study.vehicle)
    file, folder = source.file, source.file.parent
    versions = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    content = json.loads(study.model_dump_json())
    return {
        "study_sha256": content_hash({**content, "vehicle": file.name}),
        "vehicle_file": file.name,
        "vehicle_sha256": file_hash(file),
        "named_files_sha256": {
            os.path.relpath(named, folder): file_hash(named) for named in named_files(source.vehicle)
        },
        "versions": versions,
        "seed": study.design.seed,
    }


class Journal:
    """File of a study's finished runs, by design and trial."""

    def __init__(self, path: Path, head: Mapping[str, Any], resume: bool) -> None:
        """Open a journal, or start one.

        Args:
            path: File of the journal.
            head: Provenance of the study.
            resume: True to continue from the journal's runs.

        Raises:
            InvalidValueError: There are runs and they are not to be gone on from, or of another study.
            FileAccessError: The file cannot be read or written, or there is none to go on from.
        """
        self.path, self.rows = path, dict[tuple[int, int], Row]()
        if resume and not path.exists():
            raise FileAccessError("resume from", path, "no such file")
        try:
            lines = path.read_bytes().split(b"\n") if path.exists() else []
            whole = lines[:-1]  # A line without its end was being written when the study was killed.
            if whole:
                self._read(whole, head, resume)
            if not self.rows:  # A head alone may be of the study as it was before it was changed.
                whole = [json.dumps(dict(head)).encode()]
            text = b"\n".join(whole) + b"\n"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("r+b" if path.exists() else "wb") as file:
                file.write(text)
                file.truncate()
        except OSError as error:
            raise FileAccessError("write to", path, error.strerror or str(error)) from None

    def _read(self, lines: list[bytes], head: Mapping[str, Any], resume: bool) -> None:
        try:
            known, *rows = [json.loads(line) for line in lines]
        except ValueError:
            raise FileAccessError("read", self.path, "is no journal of a study") from None
        if rows and not resume:
            got = Phrase(f"one with {len(rows)} runs: --resume goes on from them")
            raise InvalidValueError(f"journal {self.path}", "a new one", got)
        changed = [name for name in head if known.get(name) != head[name]]
        if rows and changed:
            expected = "of the same study file, vehicle file and versions"
            raise InvalidValueError(f"journal {self.path}", expected, Phrase(f"other {', '.join(changed)}"))
        self.rows = {(row["design"], row["trial"]): row for row in rows}

    def add(self, row: Row) -> None:
        """Write a finished run to disk."""
        self.rows[row["design"], row["trial"]] = row
        with self.path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("the table of a study", "pyarrow", "study") from None
    return pyarrow, pyarrow.parquet


def check_parquet() -> None:
    """Raise an error, before any work, if Parquet files cannot be written.

    Raises:
        MissingPackageError: Pyarrow is not installed.
    """
    _pyarrow()


def write_runs(path: Path, parameters: Iterable[str], rows: Sequence[Row], head: Mapping[str, Any]) -> Path:
    """Write all runs, one row each, with the provenance as metadata; returns the path.

    Raises:
        MissingPackageError: Pyarrow is not installed.
        FileAccessError: The file cannot be written.
    """
    arrow, parquet = _pyarrow()
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), bool: arrow.bool_()}
    fields = [arrow.field(name, arrow.float64()) for name in parameters]
    fields += [arrow.field(name, kinds[kind]) for name, kind in COLUMNS.items()]
    metadata = {_KEY + name: json.dumps(value) for name, value in head.items()}
    schema = arrow.schema(fields, metadata=metadata)
    with replacing(path) as temporary:
        parquet.write_table(arrow.Table.from_pylist(list(rows), schema=schema), temporary)
    return path


def read_runs(path: Path, parameters: Iterable[str], head: Mapping[str, Any]) -> list[Row]:
    """Read all runs of a study from its file.

    Args:
        path: File of the table.
        parameters: Names of the study's parameters.
        head: Provenance of the study; versions may differ from the file's.

    Raises:
        MissingPackageError: Pyarrow is not installed.
        FileAccessError: The file cannot be read.
        InvalidValueError: It is of another study or vehicle file, or has other columns.
    """
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise FileAccessError("read", path, "no such file") from None
    except (OSError, arrow.ArrowInvalid) as error:
        raise FileAccessError("read", path, str(error).splitlines()[0]) from None
    kept = {key.decode(): json.loads(value) for key, value in (table.schema.metadata or {}).items()}
    of_others = [name for name in head if name.endswith("_sha256") and kept.get(_KEY + name) != head[name]]
    if table.column_names != [*parameters, *COLUMNS]:
        of_others.append("columns")
    if of_others:
        expected = "of the same study file and vehicle file"
        raise InvalidValueError(f"table {path}", expected, Phrase(f"other {', '.join(of_others)}"))
    rows: list[Row] = table.to_pylist()
    return rows
