"""Rounds of runs on all cores; each round has the next run of every vehicle that is not finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, WorkerLostError
from segtrack.experiments.event import EventObserver
from segtrack.experiments.event_result import UNDECIDED
from segtrack.experiments.event_search import Found, ending_of
from segtrack.experiments.parallel import Workers
from segtrack.experiments.study_design import Optimiser, planned_values, sensitivities
from segtrack.experiments.study_file import StudyFile
from segtrack.experiments.study_runs import (
    NOT_RUN,
    Journal,
    Row,
    RunJob,
    failed_row,
    provenance,
    run_job,
    trial_of,
    used_values,
)

JOURNAL = "runs.jsonl"
"""Name of the journal in a study's folder."""
_ATTEMPTS = 3
"""How often a round is begun whose worker process is lost, before its runs are begun one by one."""


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Result of a study.

    Attributes:
        study: Study file.
        head: Provenance of the study.
        values: Parameter values of each design (designs, parameters), rounded as its vehicle needs.
        found: Result of each design's search; for a single run its measure, or the reason without one.
        rows: Rows of all runs, grouped by design.
        sensitivities: Sensitivity measures by parameter; see `study_design.sensitivities`.
        note: Reason why there are no sensitivities; else empty.
    """

    study: StudyFile
    head: Mapping[str, Any]
    values: NDArray[np.float64]
    found: tuple[Found, ...]
    rows: tuple[Row, ...]
    sensitivities: Mapping[str, Mapping[str, float]]
    note: str = ""

    @property
    def results(self) -> tuple[float | None, ...]:
        """Result of each design; None without one."""
        return tuple(found.value for found in self.found)

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of all designs, without their runs."""
        designs = [
            dict(zip(self.study.parameters, values, strict=True)) | found._asdict()
            for values, found in zip(self.values.tolist(), self.found, strict=True)
        ]
        return {
            **self.head,
            "result": self.study.result_name,
            "runs": len(self.rows),
            "designs": designs,
            "sensitivities": {name: dict(values) for name, values in self.sensitivities.items()},
            "note": self.note,
        }


def run_study(
    study: StudyFile,
    folder: Path,
    *,
    pool: Workers | None = None,
    resume: bool = False,
    on_share: Callable[[float], object] = lambda share: None,
) -> StudyResult:
    """Run a study, or the rest of an interrupted one.

    Args:
        study: Study file.
        folder: Folder of the journal.
        pool: Worker processes; by default the runs are in this process.
        resume: True to continue from the journal's runs.
        on_share: Function called with the finished fraction of the work [-].

    Raises:
        SegtrackError: The journal is of another study, or a package is missing.
    """
    head = provenance(study)
    batches = _Batches(study)
    journal = Journal(folder / JOURNAL, head, resume)
    pool = Workers(1) if pool is None else pool
    while (values := batches.next()) is not None:
        first, tell = len(batches.values), batches.share_to(on_share)
        batches.take(values, _run_batch(study, values, first, journal, pool, tell))
    if batches.optimiser is not None:
        batches.optimiser.store(folder / "optuna.db")
    everything = np.array(batches.values).reshape(-1, len(study.parameters))
    results = [found.value for found in batches.found]
    measured, note = dict[str, dict[str, float]](), ""
    try:
        measured = sensitivities(study, everything, results)
    except InvalidValueError as error:
        note = str(error)
    rows = tuple(row for _, row in sorted(journal.rows.items()))
    used = used_values(study, everything)
    return StudyResult(study, head, used, tuple(batches.found), rows, measured, note)


class _Batches:
    """Designs of a study, in batches whose values are known together."""

    def __init__(self, study: StudyFile) -> None:
        planned = planned_values(study)
        self.optimiser = Optimiser(study) if planned is None else None
        self._planned, self._total = planned, study.design.count if planned is None else len(planned)
        self.values: list[list[float]] = []
        self.found: list[Found] = []

    def next(self) -> NDArray[np.float64] | None:
        """Parameter values of the next designs; None at the end."""
        if self.optimiser is not None:
            asked = self.optimiser.ask()
            return asked if len(asked) else None
        values, self._planned = self._planned, None
        return values

    def take(self, values: NDArray[np.float64], found: Sequence[Found]) -> None:
        """Store the results of a batch of designs."""
        self.values += values.tolist()
        self.found += found
        if self.optimiser is not None:
            self.optimiser.tell([each.value for each in found])

    def share_to(self, on_share: Callable[[float], object]) -> Callable[[float], object]:
        """Return a function from finished designs of the next batch to the progress of the whole study."""
        before = len(self.found)
        return lambda done: on_share((before + done) / self._total)


def _run_batch(
    study: StudyFile,
    values: NDArray[np.float64],
    first: int,
    journal: Journal,
    pool: Workers,
    on_designs: Callable[[float], object],
) -> list[Found]:
    """Run a batch of designs, round by round; `first` is the index of its first design."""
    search, used = study.upward_search, used_values(study, values)
    longest = len(search.values) if search is not None else 1

    def rows_of(design: int) -> list[Row]:
        rows: list[Row] = []
        while (row := journal.rows.get((design, len(rows)))) is not None:
            rows.append(row)
        return rows

    def next_job(design: int) -> RunJob | None:
        rows = rows_of(design)
        if rows and (search is None or rows[-1]["outcome"] in NOT_RUN):
            return None
        tried = None if search is None else search.next([trial_of(row, search) for row in rows])
        if search is not None and tried is None:
            return None
        return RunJob(study, design, len(rows), tuple(used[design - first].tolist()), tried)

    designs = range(first, first + len(values))
    while jobs := [job for design in designs if (job := next_job(design)) is not None]:
        ended = len(values) - len(jobs)
        under_way = [job.trial / longest for job in jobs]

        def on_done(index: int, row: Row, ended: int = ended, under_way: list[float] = under_way) -> None:
            journal.add(row)
            under_way[index] += 1 / longest
            on_designs(ended + sum(under_way))

        on_designs(ended + sum(under_way))
        _run_round(pool, jobs, journal, on_done)
    return [_found(study, rows_of(design)) for design in designs]


def _run_round(
    pool: Workers, jobs: Sequence[RunJob], journal: Journal, on_done: Callable[[int, Row], None]
) -> None:
    """Run jobs in processes; jobs left when a process dies are started again, finally one by one."""

    def still_left() -> list[int]:
        return [i for i, job in enumerate(jobs) if (job.design, job.trial) not in journal.rows]

    for _ in range(_ATTEMPTS):
        left = still_left()
        try:
            pool.run(run_job, [jobs[i] for i in left], lambda i, row, left=left: on_done(left[i], row))  # type: ignore[misc]
            return
        except WorkerLostError:
            continue
    for i in still_left():
        try:
            pool.run(run_job, [jobs[i]], lambda _, row, i=i: on_done(i, row))  # type: ignore[misc]
        except WorkerLostError:
            lost = f"{_ATTEMPTS + 1} times its worker process ended without a word"
            on_done(i, failed_row(jobs[i], lost))


def _found(study: StudyFile, rows: Sequence[Row]) -> Found:
    """Result of a design's search, or measure of its single run."""
    last = rows[-1]
    if last["outcome"] in NOT_RUN:
        return Found(None, last["reason"])
    search = study.upward_search
    if search is not None:
        return search.found([trial_of(row, search) for row in rows])
    if last["outcome"] in UNDECIDED:
        return Found(None, last["reason"] or last["outcome"])
    if study.judged_by != "passed" and not last["passed"]:
        return Found(None, ending_of(last["outcome"], last["limited_by"]))
    return Found(last["measure"], last["outcome"])


def job_of_row(result_rows: Sequence[Row], study: StudyFile, number: int, option: str) -> RunJob:
    """Return the run of one row of a study.

    Args:
        result_rows: Rows of the study's file.
        study: Study file.
        number: Number of the row, from 0.
        option: Name of the option with the number, for messages.

    Raises:
        InvalidValueError: There is no such row.
    """
    if not 0 <= number < len(result_rows):
        raise InvalidValueError(option, f"from 0 to {len(result_rows) - 1}", number)
    row = result_rows[number]
    values = tuple(row[name] for name in study.parameters)
    return RunJob(study, row["design"], row["trial"], values, row["tried"])


def run_row(result_rows: Sequence[Row], study: StudyFile, number: int, observer: EventObserver | None) -> Row:
    """Simulate the run of one row again; see `job_of_row`. The observer is called after each sample."""
    return run_job(job_of_row(result_rows, study, number, "--row"), observer)
