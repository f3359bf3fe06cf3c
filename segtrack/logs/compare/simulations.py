"""A replay beside its log, with the simulations that its uncertainty takes: time steps, stated inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from segtrack.description import (
    Positive,
    Spec,
    VehicleDescription,
    check_content,
    parse_yaml,
    read_text,
    without_warning_of_low_shapes,
)
from segtrack.errors import (
    DivergedError,
    InvalidValueError,
    Phrase,
    TerrainFileError,
    UncertaintyFileError,
    UnknownNameError,
    suggest,
)
from segtrack.experiments import Workers, with_sub_steps
from segtrack.logs.compare.beside import PLACE, SCALE, InputPair, Variants, VariedValue, compare_motions
from segtrack.logs.compare.comparison import Comparison, Run, RunComparison, SplitRow
from segtrack.logs.compare.errors import Alignment, check_alignment
from segtrack.logs.compare.sensitivity import wrong_values
from segtrack.logs.compare.uncertainty import DataUncertainty, with_scaled_belts
from segtrack.logs.fit import PARAMETERS, with_parameters
from segtrack.logs.mapping import LoadedTerrain, TimeUncertainty, parse_terrain
from segtrack.logs.replay import AlignedLog, Replay, ReplaySettings, align, replay_log
from segtrack.robot import QUANTITIES, Motion

VEHICLE_INPUTS = tuple(PARAMETERS)
"""Inputs of a vehicle, by the names that a fit has for them."""
SETTING = "setting"
"""Input of a terrain: the setting of its course, for example the height of a step."""
INPUTS = (*VEHICLE_INPUTS, SETTING)
"""Inputs of a simulation."""


def one_of(what: str, names: Iterable[str]) -> Callable[[str], str]:
    """A check that a key of a file is one of some names."""
    known = tuple(names)

    def checked(name: str) -> str:
        if name not in known:
            raise ValueError(f"is no {what}; {suggest(name, known)}")
        return name

    return checked


def stds_by(what: str, names: Iterable[str]) -> object:
    """The type of a part of a file that has standard deviations by name."""
    key = Annotated[str, Field(strict=True), AfterValidator(one_of(what, names))]
    return dict[key, Positive]


BELT_SCALE = 0.005
"""Standard deviation of the measured belts' scale where none is stated [-]: where a belt's pitch line is,
and how far a sprocket is worn, is hardly known better than to half a millimetre of 100."""
InputStds = stds_by("uncertain input", INPUTS)


def shifted(vehicle: VehicleDescription, name: str, by: float) -> VehicleDescription:
    """The vehicle with one of `VEHICLE_INPUTS` off by so much, in its unit.

    Raises:
        InvalidValueError: The vehicle cannot have that value.
    """
    return with_parameters(vehicle, {name: PARAMETERS[name].value_of(vehicle) + by})


def parse_stds(option: str, text: str, names: Iterable[str]) -> dict[str, float]:
    """Standard deviations as an option gives them: `friction=0.05,com_x=0.01`.

    Raises:
        InvalidValueError: It is something else, or one that is not positive.
        UnknownNameError: No such input.
    """
    known = tuple(names)
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise UnknownNameError("uncertain input", name, known)
        try:
            found[name] = float(value)
        except ValueError:
            raise InvalidValueError(option, "like friction=0.05,com_x=0.01", text) from None
        if not 0.0 < found[name] < float("inf"):
            raise InvalidValueError(f"{option} {name}", "greater than 0", found[name])
    return found


SignalStds = stds_by("quantity", QUANTITIES)


class StatedData(Spec):
    """Standard deviations of a log, besides the noise of its signals, which its mapping states."""

    clock: Positive | None = None
    """Standard deviation of clock offsets for which nothing else is known [s]."""
    bias: SignalStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviation of a constant error, by quantity, in its unit."""
    drift: SignalStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviation of an error that grows with time, by quantity, in its unit a second."""
    belt_scale: Positive = BELT_SCALE
    """Standard deviation of the measured belts' scale: of the radius that speed is taken with [-]."""


class Stated(Spec):
    """Standard deviations that users state."""

    inputs: InputStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviations of inputs: a vehicle's, by the names that a fit has for them, and the setting."""
    data: StatedData = StatedData()
    """Standard deviations of the log."""

    def check_terrain(self, terrain: LoadedTerrain) -> None:
        """Refuse an uncertain setting that a terrain does not have, before anything is simulated.

        Raises:
            InvalidValueError: It has no setting, or cannot have one that is a standard deviation off.
        """
        inputs: Mapping[str, float] = self.inputs
        for sign in (-1, 1) if SETTING in inputs else ():
            _shifted_terrain(terrain, sign * inputs[SETTING])

    def data_uncertainty(self, sources: Mapping[str, TimeUncertainty | None]) -> DataUncertainty:
        """Return the uncertainty of a log.

        Args:
            sources: Its sources, and the uncertainty of each one's times where that is known.
        """
        stated = None if self.data.clock is None else TimeUncertainty(self.data.clock)
        known = {source: times or stated for source, times in sources.items()}
        clocks = {source: times for source, times in known.items() if times is not None}
        assumes_scale = "belt_scale" not in self.data.model_fields_set
        return DataUncertainty(clocks, self.data.bias, self.data.drift, self.data.belt_scale, assumes_scale)


def load_stated(option: str, text: str) -> Stated:
    """Read an option: a YAML file, or inputs as `friction=0.05,com_x=0.01`.

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


RUNS: tuple[Run, ...] = ("commanded", "measured")
FINER = (2, 4)
"""Parts into which the time step is divided, one after the other."""


class SimulationJob(NamedTuple):
    """One simulation of a log.

    Attributes:
        log: Log in the terrain's frame.
        settings: Other than those that are compared in one thing.
        run: Drive of the simulation, by commands or by measured belts.
        name: Name of the input, or of the division of the time step.
        sign: Sign of the input's shift; 0 for a time step, or a wrong value.
        wrong: Wrong value of a parameter of the vehicle.
    """

    log: AlignedLog
    settings: ReplaySettings
    run: Run
    name: str
    sign: int
    wrong: float | None = None


def plan_simulations(replay: Replay, stated: Stated, refine: bool) -> tuple[SimulationJob, ...]:
    """The simulations that the uncertainty of a replay takes.

    Where the log stood on the terrain is found at its first touch, and known with a standard deviation:
    that is one more input, as is the scale of measured belts.

    Args:
        replay: The replay.
        stated: Standard deviations.
        refine: Divide the time step.

    Raises:
        InvalidValueError: The vehicle or its terrain cannot have an input off by its standard deviation.
    """
    vehicle, terrain = replay.scene.vehicle, replay.scene.terrain
    base = replace(replay.settings, terrain=terrain)
    changed: list[tuple[str, int, AlignedLog, ReplaySettings]] = []
    for parts in FINER if refine else ():
        finer = with_sub_steps(vehicle, parts) if replay.scene.track_model == "chain" else vehicle
        settings = replace(base, vehicle=finer, time_step=base.time_step / parts)
        changed.append((f"1/{parts}", 0, replay.log, settings))
    for sign in (-1, 1) if replay.log.x_std > 0 else ():
        start = replay.log.start._replace(x=replay.log.start.x + sign * replay.log.x_std)
        changed.append((PLACE, sign, replace(replay.log, start=start), base))
    inputs: Mapping[str, float] = stated.inputs
    for name, std in inputs.items():
        for sign, by in zip((-1, 1), _ends(vehicle, name, std), strict=True):
            changed.append((name, sign, *_shifted_log(replay, base, name, by)))
    jobs = [
        SimulationJob(log, settings, run, name, sign)
        for run in RUNS
        if getattr(replay, run) is not None
        for name, sign, log, settings in changed
    ]
    jobs += [
        SimulationJob(log, settings, run, name, 0, value)
        for name, value, log, settings in _with_wrong_values(replay, base, stated)
        for run in RUNS
        if getattr(replay, run) is not None
    ]
    for sign in (-1, 1) if replay.measured is not None else ():
        scaled = with_scaled_belts(replay.log.motion, 1.0 + sign * stated.data.belt_scale)
        jobs.append(SimulationJob(replace(replay.log, motion=scaled), base, "measured", SCALE, sign))
    return tuple(jobs)


def _ends(vehicle: VehicleDescription, name: str, std: float) -> tuple[float, float]:
    """Two offsets of an input, two standard deviations apart: about its value, or above one near its bound.

    A lag of 0, for example, can only be longer.
    """
    try:
        if name != SETTING:
            shifted(vehicle, name, -std)
    except InvalidValueError:
        return 0.0, 2.0 * std
    return -std, std


def _shifted_log(
    replay: Replay, base: ReplaySettings, name: str, by: float
) -> tuple[AlignedLog, ReplaySettings]:
    """The log and the settings with one input off by so much.

    With another setting or radius the first touch is at another place, and so is the log's beginning.
    """
    if name == SETTING:
        settings = replace(base, terrain=_shifted_terrain(replay.scene.terrain, by))
    else:
        settings = replace(base, vehicle=shifted(replay.scene.vehicle, name, by))
    return _placed_anew(replay.log, settings)


def _with_wrong_values(
    replay: Replay, base: ReplaySettings, stated: Stated
) -> Iterator[tuple[str, float, AlignedLog, ReplaySettings]]:
    """Yield the parameter, value, log and settings of each wrong value that the vehicle can have."""
    inputs: Mapping[str, float] = stated.inputs
    for name in filter(PARAMETERS.__contains__, inputs):
        for value in wrong_values(replay.scene.vehicle, name, inputs[name]):
            try:
                vehicle = with_parameters(replay.scene.vehicle, {name: value})
            except InvalidValueError:  # It cannot have that value, so no file says it.
                continue
            yield name, value, *_placed_anew(replay.log, replace(base, vehicle=vehicle))


def _placed_anew(log: AlignedLog, settings: ReplaySettings) -> tuple[AlignedLog, ReplaySettings]:
    """The log put on the terrain by the first touch of another vehicle or terrain, and the settings."""
    settings = replace(settings, event=log.event)
    if log.event is not None and settings.frame == "log":
        log = replace(log, start=align(log.motion, settings).start)
    return log, settings


def _shifted_terrain(terrain: LoadedTerrain, by: float) -> LoadedTerrain:
    """The terrain at a setting that is off by so much.

    Raises:
        InvalidValueError: It has no setting, or cannot have that one.
    """
    if terrain.setting is None:
        got = Phrase(f"{terrain.name}; a course file has a `setting:`, which stands for any of its numbers")
        raise InvalidValueError("uncertain setting", "of a terrain that has one", got)
    try:
        return parse_terrain(terrain.text, terrain.name, terrain.setting + by)
    except TerrainFileError as error:
        got = Phrase(f"{terrain.setting:g} {by:+g}: {error.problems[0]}")
        raise InvalidValueError("uncertain setting", f"possible for terrain {terrain.name}", got) from None


def run_one(job: SimulationJob) -> Motion | None:
    """The motion of one simulation; None if it broke down."""
    try:
        # The replay has warned of the vehicle, and nobody drives one that is wrong on purpose.
        with without_warning_of_low_shapes():
            return replay_log(job.log, job.settings, belts=job.run)
    except DivergedError:
        return None


def variants_of(jobs: Sequence[SimulationJob], done: Mapping[int, Motion | None], run: Run) -> Variants:
    """Return the finished variants of a run that are of use: all time steps, both sides of an input.

    Wrong values of a parameter, too, are of use together.
    """
    own = {i: job for i, job in enumerate(jobs) if job.run == run}
    found = {(job.name, job.sign): done[i] for i, job in own.items() if job.wrong is None and i in done}
    cut = {job.name for i, job in own.items() if job.wrong is not None and i not in done}
    wrong = {
        VariedValue(job.name, job.wrong): done[i]
        for i, job in own.items()
        if job.wrong is not None and job.name not in cut
    }
    steps = [found[f"1/{parts}", 0] for parts in FINER if (f"1/{parts}", 0) in found]
    inputs = {
        name: InputPair(found[name, -1], motion)
        for (name, sign), motion in found.items()
        if sign == 1 and (name, -1) in found
    }
    return Variants(steps if len(steps) == len(FINER) else (), inputs, wrong)


class CompareInterrupted(KeyboardInterrupt):
    """Ctrl-C while a comparison's uncertainty is simulated; carries the comparison without the rest of it."""

    def __init__(self, comparison: Comparison) -> None:
        """Keep what there is so far."""
        super().__init__()
        self.comparison = comparison


def simulation_count(replay: Replay, stated: Stated | None = None, refine: bool = True) -> int:
    """Return the number of simulations that `compare` runs besides those of the replay."""
    return len(plan_simulations(replay, stated or Stated(), refine))


def compare(
    replay: Replay,
    *,
    stated: Stated | None = None,
    clocks: Mapping[str, TimeUncertainty] | None = None,
    alignment: Alignment = "event",
    refine: bool = True,
    workers: int | None = None,
    on_done: Callable[[], object] = lambda: None,
) -> Comparison:
    """Put both simulations of a log beside it, each error with its uncertainty.

    Args:
        replay: The log, and its simulations by commands and by measured belts.
        stated: Standard deviations of inputs and log; u_input is not given without inputs.
        clocks: Uncertainty of each source's times, where it is known.
        alignment: Alignment of positions with the logged ones, see `laying`.
        refine: Simulate half and a quarter of the time step, for u_num.
        workers: Processes; as many as there are cores if not given.
        on_done: Called after each of `simulation_count`.

    Returns:
        The comparison of each run that the replay has.

    Raises:
        UnknownNameError: No such alignment.
        InvalidValueError: The vehicle cannot have an input a standard deviation off, or log and simulation
            have no time in common.
        CompareInterrupted: Ctrl-C.
    """
    check_alignment(alignment)
    stated = stated if stated is not None else Stated()
    jobs = plan_simulations(replay, stated, refine)
    done: dict[int, Motion | None] = {}
    finished = True

    def note(index: int, motion: Motion | None) -> None:
        done[index] = motion
        on_done()

    try:
        with Workers(workers) as pool:
            pool.run(run_one, jobs, note)
    except KeyboardInterrupt:
        finished = False
    sources = {signal.source for signal in replay.logged.signals.values()}
    data = stated.data_uncertainty({source: (clocks or {}).get(source) for source in sources})
    simulated = {run: motion for run in RUNS if (motion := getattr(replay, run)) is not None}
    runs = {
        run: compare_motions(
            replay.logged,
            motion,
            run=run,
            sides=replay.scene.vehicle.track_offsets,
            alignment=alignment,
            event=replay.event,
            variants=variants_of(jobs, done, run),
            data=data,
        )
        for run, motion in simulated.items()
    }
    split = tuple(_split(runs))
    comparison = Comparison(replay.logged.name, alignment, dict(stated.inputs), data, runs, split, finished)
    if not finished:
        raise CompareInterrupted(comparison)
    return comparison


def _split(runs: Mapping[Run, RunComparison]) -> Iterator[SplitRow]:
    """Each error of both runs, and what the two simulations differ by."""
    if len(runs) < len(RUNS):
        return
    commanded, measured = runs["commanded"], runs["measured"]
    for row in commanded.rows:
        other = measured.find(row.quantity, row.phase)
        mine, theirs = (run.errors.get((row.quantity, row.phase)) for run in (commanded, measured))
        if other is None or mine is None or theirs is None or mine.values.shape != theirs.values.shape:
            continue
        is_number = row.logged is not None
        actuator = row.error - other.error if is_number else mine.less(theirs).rms
        yield SplitRow(row.phase, row.quantity, row.unit, row.error, other.error, actuator)
