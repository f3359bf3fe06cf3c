"""Run of a fit file: the fit, and the vehicle file that says what it was fitted to."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from segtrack.description import VehicleDescription, find_description, find_vehicle, load_vehicle
from segtrack.engine import resolve
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments import Workers
from segtrack.logs.fit.cases import Case, LogFiles, MotionCase
from segtrack.logs.fit.file import FitFile, LogSpec, load_fit_file
from segtrack.logs.fit.fitting import fit
from segtrack.logs.fit.result import Fit
from segtrack.logs.fit.vehicle_file import calibrated, write_vehicle
from segtrack.logs.mapping import MappedLog, map_file
from segtrack.logs.plausibility import check_plausibility, refuse
from segtrack.logs.replay import (
    AlignedLog,
    BeltSource,
    LoadedTerrain,
    ReplaySettings,
    align,
    belt_keys,
    check_start,
    has_belts,
    load_terrain,
    replay_log,
)
from segtrack.logs.steady import DATA, UNIFORM, SteadyCase, SteadyTable
from segtrack.robot import Motion

VEHICLE_FILE = "fitted.yaml"
"""Name of the vehicle file of a finished fit."""
BEST_FILE = "best.yaml"
"""Name of the vehicle file of an interrupted fit: the best so far, with unknown uncertainty."""
SAMPLE_TIME = 0.02
"""Time between two samples of what is simulated [s]."""


@dataclass(frozen=True, eq=False)
class Study:
    """A fit that is ready to be run.

    Attributes:
        file: Content of the fit file.
        vehicle: From which it begins.
        vehicle_file: Its file.
        cases: Logs, read and mapped.
        engine: Name of the engine; `none` without one.
        track_model: Name of the track model; `uniform pressure` without an engine.
        notes: Remarks on the logs, a sentence each.
    """

    file: FitFile
    vehicle: VehicleDescription
    vehicle_file: Path
    cases: tuple[Case, ...]
    engine: str
    track_model: str
    notes: tuple[str, ...]

    def run(
        self,
        *,
        pool: Workers | None = None,
        folder: Path | None = None,
        resume: bool = False,
        on_share: Callable[[float], object] = lambda share: None,
    ) -> Fit:
        """Run it; see `fit`."""
        problem = {"engine": self.engine, "track_model": self.track_model, "time_step": self.file.time_step}
        return fit(
            self.vehicle,
            self.cases,
            self.file.choices,
            seed=self.file.seed,
            loss=self.file.loss,
            pool=pool,
            folder=folder,
            resume=resume,
            problem=problem,
            on_share=on_share,
        )

    def write(self, found: Fit, folder: Path) -> Path:
        """Write the fitted vehicle, instead of the best so far if there was one; returns the path.

        Of a fit that was interrupted it is the best so far.
        """
        provenance = {
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "version": version("segtrack"),
            "vehicle": self.vehicle_file.name,
            "vehicle_sha256": hashlib.sha256(self.vehicle_file.read_bytes()).hexdigest(),
            "engine": self.engine,
            "track_model": self.track_model,
        }
        name = VEHICLE_FILE if found.finished else BEST_FILE
        path = write_vehicle(folder / name, calibrated(found, provenance), found.remarks)
        if found.finished:
            (folder / BEST_FILE).unlink(missing_ok=True)
        return path


def find_fit(fit_file: str | Path) -> Path:
    """The fit file of a path, or of a bundled name; see `find_description`."""
    return find_description("fit", fit_file, {"maxxii": DATA / "maxxii_fit.yaml"})


def load_study(path: Path, track_model: str | None = None) -> Study:
    """Read a fit file, and the logs that it names.

    Args:
        path: The fit file.
        track_model: Track model instead of the file's.

    Raises:
        SegtrackError: A file cannot be read or has mistakes, or they do not go together.
    """
    file = load_fit_file(path)
    if track_model is not None:
        file = file.model_copy(update={"track_model": track_model})
    mapped = dict(_mapped(file))
    named = file.vehicle or _common(mapped)
    vehicle = load_vehicle(named)
    steady = {name: log.is_steady for name, log in mapped.items()}
    if len(set(steady.values())) > 1:
        raise InvalidValueError("logs", "all of steady turns, or none", Phrase("both kinds"))
    work = _CaseMaker(file, vehicle)
    grounds = {name: work.terrain_of(name, log) for name, log in mapped.items()}
    found = {name: check_plausibility(log, grounds[name]) for name, log in mapped.items()}
    refuse(found.values())
    cases = [case for name, log in mapped.items() for case in work.cases(name, log, grounds[name])]
    notes = [f"{name}: {note}" for name, log in mapped.items() for note in (*log.notes, *found[name].notes)]
    return Study(
        file, vehicle, find_vehicle(named), tuple(cases), work.engine, work.track_model, tuple(notes)
    )


def _mapped(file: FitFile) -> Iterator[tuple[str, MappedLog]]:
    for name, log in file.logs.items():
        mapping = log.mapping or file.mapping
        assert mapping is not None
        yield name, map_file(log.log, mapping, file.vehicle, trial=log.trial)


def _common(mapped: Mapping[str, MappedLog]) -> str:
    """The vehicle that all mappings name; an error if they name none, or several."""
    names = {log.mapping.file.vehicle for log in mapped.values()}
    if len(names) > 1 or None in names:
        got = Phrase(", ".join(sorted(str(name or "none") for name in names)))
        raise InvalidValueError("vehicle", "given by the fit, or one by all mappings", got)
    return str(names.pop())


class _CaseMaker:
    """Logs become cases, with what is common to them."""

    def __init__(self, file: FitFile, vehicle: VehicleDescription) -> None:
        self.file, self.vehicle = file, vehicle
        self.engine, self.track_model = "none", UNIFORM
        if file.track_model != UNIFORM:
            self.engine, self.track_model = resolve(file.engine, file.track_model, preferred="native")

    def cases(self, name: str, mapped: MappedLog, ground: LoadedTerrain | None) -> Iterator[Case]:
        """The cases of a log on its terrain: one, or two of a table of which rows are held out."""
        spec = self.file.logs[name]
        if ground is None:
            yield from self._steady(name, spec, mapped)
            return
        if spec.hold_out_rows is not None:
            raise InvalidValueError(f"logs.{name}.hold_out_rows", "of steady turns alone", spec.hold_out_rows)
        if self.track_model == UNIFORM:
            raise InvalidValueError("track_model", "one that drives over time", UNIFORM)
        files = LogFiles(Path(spec.log).name, mapped.log.sha256, ground.name, ground.sha256)
        event = mapped.mapping.file.event
        settings = ReplaySettings(
            self.vehicle,
            ground,
            engine=self.engine,  # type: ignore[arg-type]
            track_model=self.track_model,
            time_step=self.file.time_step,
            sample_time=SAMPLE_TIME,
            event=event if isinstance(event, float) else None,
        )
        belts = spec.drive_by or preferred_belts(mapped.motion, "drive_lag" in self.file.parameters)
        yield replay_case(name, mapped.motion, settings, self.file.stds, belts, spec.hold_out, files)

    def _steady(self, name: str, spec: LogSpec, mapped: MappedLog) -> Iterator[Case]:
        files = LogFiles(Path(spec.log).name, mapped.log.sha256)
        settings: dict[str, Any] = {
            "signals": self.file.stds,
            "track_model": self.track_model,
            "engine": None if self.track_model == UNIFORM else self.engine,
            "files": files,
        }
        table = SteadyTable.of(mapped.motion, name)
        if spec.hold_out_rows is None:
            yield SteadyCase(name, table, held_out=spec.hold_out, **settings)
            return
        kept, out = table.halves(spec.hold_out_rows, self.file.seed)
        yield SteadyCase(kept.name, kept, **settings)
        yield SteadyCase(out.name, out, held_out=True, **settings)

    def terrain_of(self, name: str, mapped: MappedLog) -> LoadedTerrain | None:
        """Terrain that a log drove on; None for steady turns."""
        if mapped.is_steady:
            return None
        given = self.file.logs[name].terrain or self.file.terrain
        named = given or mapped.mapping.file.terrain
        if named is None:
            raise InvalidValueError(f"terrain of {name}", "given by the fit or the mapping", Phrase("none"))
        return load_terrain(named, None if given else mapped.mapping.file.setting)


class _Replayed(NamedTuple):
    """Input of a case's simulation: the log in the terrain's frame, and the settings of its replay."""

    log: AlignedLog
    settings: ReplaySettings
    belts: BeltSource


def replay_case(
    name: str,
    motion: Motion,
    settings: ReplaySettings,
    signals: Mapping[str, float | None],
    belts: BeltSource,
    held_out: bool = False,
    files: LogFiles | None = None,
) -> MotionCase:
    """A log that each simulation of a fit replays.

    It is put into its terrain's frame once, with the vehicle of the settings: what is fitted would
    otherwise move the log that it is fitted to. How far off that may be counts as unknown.

    Args:
        name: Name of the case.
        motion: The log.
        settings: Settings of the replay.
        signals: Compared signals, see `MotionCase`.
        belts: Motion of the belts, commanded or measured.
        held_out: True if it is scored only.
        files: Files that it was read from.

    Raises:
        SegtrackError: The log and the settings do not go together, see `align`.
        StartPoseError: The vehicle does not stand as logged where the log begins.
    """
    scene = settings.load()
    loaded = replace(
        settings,
        vehicle=scene.vehicle,
        terrain=scene.terrain,
        engine=scene.engine,
        track_model=scene.track_model,
    )
    log = align(motion, loaded)
    check_start(log, loaded, scene)
    used = log.motion.between(log.begin, log.end)
    told = _Replayed(log, loaded, belts)
    shifts = {} if settings.frame == "terrain" else _shifts(log)
    return MotionCase(name, used, signals, _simulate, told, belt_keys(belts), held_out, files, shifts)


def _shifts(log: AlignedLog) -> dict[str, float]:
    """Standard deviation of the place where a log was put: finite for x, infinite for y and yaw."""
    x = log.x_std if log.event is not None else math.inf
    return {"position.x": x, "position.y": math.inf, "yaw": math.inf}


def preferred_belts(motion: Motion, fits_drives: bool) -> BeltSource:
    """Return the belt motion that drives a log's simulation by default.

    What was measured leaves out what the drives did wrong; where the drives are fitted, they have to do it.
    """
    if has_belts(motion, "commanded") and (fits_drives or not has_belts(motion, "measured")):
        return "commanded"
    return "measured"


def _simulate(vehicle: VehicleDescription, case: MotionCase) -> Motion:
    told: _Replayed = case.settings
    return replay_log(told.log, replace(told.settings, vehicle=vehicle), belts=told.belts)
