"""Run of a fit file: the fit, and the vehicle file that says what it was fitted to."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import yaml

from segtrack.description import (
    Calibration,
    FittedLog,
    FittedParameter,
    VehicleDescription,
    file_hash,
    find_description,
    find_vehicle,
    load_vehicle,
    map_files,
)
from segtrack.engine import resolve
from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.experiments import Workers
from segtrack.files import content_hash, write_text
from segtrack.logs.fit.cases import Case, LogFiles, MotionCase
from segtrack.logs.fit.file import FitFile, LogSpec, load_fit_file
from segtrack.logs.fit.fitting import fit
from segtrack.logs.fit.result import Fit, FittedCase
from segtrack.logs.fit.steady import DATA, UNIFORM, SteadyCase
from segtrack.logs.fit.unknowns import PARAMETERS, values_of, with_parameters
from segtrack.logs.mapping import (
    LoadedTerrain,
    MappedLog,
    SteadyTable,
    check_plausibility,
    load_terrain,
    map_file,
    refuse,
)
from segtrack.logs.replay import (
    AlignedLog,
    BeltSource,
    FrameName,
    ReplaySettings,
    Shift,
    align,
    belt_keys,
    check_start,
    has_belts,
    replay_log,
)
from segtrack.robot import Motion


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
    alone, or one that identified nothing and ruled nothing out, leaves the vehicle as it was.

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
            identified=estimate.is_bounded,
        )
        for estimate in found.estimates
        if estimate.unknown.log is None and estimate.is_written
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
        said = mapped.mapping.file
        settings = ReplaySettings(
            self.vehicle,
            ground,
            engine=self.engine,  # type: ignore[arg-type]
            track_model=self.track_model,
            time_step=self.file.time_step,
            sample_time=SAMPLE_TIME,
            event=said.event if isinstance(said.event, float) else None,
            frame=said.frame,
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
    shifts = _shifts(log, settings.frame, signals)
    return MotionCase(
        name, used, signals, _simulate, told, belt_keys(belts), held_out, files, shifts, log.x_std
    )


def _shifts(log: AlignedLog, frame: FrameName, signals: Mapping[str, float | None]) -> dict[str, float]:
    """Standard deviation of what x, y and yaw may be off by against a simulation that begins with the log.

    The pose where it begins is known by the noise of its signals; without an event nothing else is.
    """
    shifts: dict[str, float] = {}
    for key, labels in (("position", ("position.x", "position.y")), ("yaw", ("yaw",))):
        signal = log.motion.angle("yaw") if key == "yaw" else log.motion.signals.get(key)
        noise = signals.get(key) or (None if signal is None else signal.std)
        shifts |= dict.fromkeys(labels, noise or 0.0)
    if frame == "log":
        shifts |= {"position.y": math.inf, "yaw": math.inf}
        shifts |= {} if log.event is not None else {"position.x": math.inf}
    return shifts


def preferred_belts(motion: Motion, fits_drives: bool) -> BeltSource:
    """Return the belt motion that drives a log's simulation by default.

    What was measured leaves out what the drives did wrong; where the drives are fitted, they have to do it.
    """
    if has_belts(motion, "commanded") and (fits_drives or not has_belts(motion, "measured")):
        return "commanded"
    return "measured"


def _simulate(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    told: _Replayed = case.settings
    moved = Shift(0.0, place, 0.0)
    log = replace(told.log, start=moved.of(told.log.start))
    motion = replay_log(log, replace(told.settings, vehicle=vehicle), belts=told.belts)
    return Shift(0.0, -place, 0.0).moved(motion)
