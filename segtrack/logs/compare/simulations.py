"""Simulations that say how uncertain the one is that is compared: other time steps, other inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from segtrack.errors import DivergedError, InvalidValueError, Phrase, TerrainFileError
from segtrack.experiments.variants import with_sub_steps
from segtrack.logs.compare.beside import PLACE, InputPair, Variants
from segtrack.logs.compare.comparison import Run
from segtrack.logs.compare.stated import SETTING, shifted
from segtrack.logs.replay import AlignedLog, Replay, ReplaySettings, align, parse_terrain, replay_log
from segtrack.robot.motion import Motion

FINER = (2, 4)
"""Parts into which the time step is divided, one after the other."""


class SimulationJob(NamedTuple):
    """One simulation of a log.

    Attributes:
        log: Log in the terrain's frame.
        settings: Other than those that are compared in one thing.
        run: Drive of the simulation, by commands or by measured belts.
        name: Name of the shifted input, or of the division of the time step.
        sign: Sign of the input's shift; 0 for a time step.
    """

    log: AlignedLog
    settings: ReplaySettings
    run: Run
    name: str
    sign: int


def plan_simulations(replay: Replay, inputs: Mapping[str, float], refine: bool) -> tuple[SimulationJob, ...]:
    """The simulations that the uncertainty of a replay takes.

    Where the log stood on the terrain is found at its first touch, and known with a standard deviation:
    that is one more input.

    Args:
        replay: The replay.
        inputs: Standard deviations, by name.
        refine: Divide the time step.

    Raises:
        InvalidValueError: The vehicle or its terrain cannot have an input a standard deviation off.
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
    for name, std in inputs.items():
        for sign in (-1, 1):
            changed.append((name, sign, *_shifted_log(replay, base, name, sign * std)))
    runs: list[Run] = [run for run in ("commanded", "measured") if getattr(replay, run) is not None]
    return tuple(
        SimulationJob(log, settings, run, name, sign) for run in runs for name, sign, log, settings in changed
    )


def _shifted_log(
    replay: Replay, base: ReplaySettings, name: str, by: float
) -> tuple[AlignedLog, ReplaySettings]:
    """The log and the settings with one input off by so much.

    With another setting the first touch is at another place, and so is the log's beginning.
    """
    log, terrain = replay.log, replay.scene.terrain
    if name != SETTING:
        return log, replace(base, vehicle=shifted(replay.scene.vehicle, name, by))
    if terrain.setting is None:
        raise InvalidValueError("uncertain setting", "of a terrain that has one", Phrase(terrain.name))
    try:
        other = parse_terrain(terrain.text, terrain.name, terrain.setting + by)
    except TerrainFileError as error:
        got = Phrase(f"{terrain.setting:g} {by:+g}: {error.problems[0]}")
        raise InvalidValueError("uncertain setting", f"possible for terrain {terrain.name}", got) from None
    settings = replace(base, terrain=other, event=log.event)
    if log.event is not None and base.frame == "log":
        log = replace(log, start=align(log.motion, settings).start)
    return log, settings


def run_one(job: SimulationJob) -> Motion | None:
    """The motion of one simulation; None if it broke down."""
    try:
        return replay_log(job.log, job.settings, belts=job.run)
    except DivergedError:
        return None


def variants_of(jobs: Sequence[SimulationJob], done: Mapping[int, Motion | None], run: Run) -> Variants:
    """Return the finished variants of a run that are of use: all time steps, both sides of an input."""
    found = {(job.name, job.sign): done[i] for i, job in enumerate(jobs) if job.run == run and i in done}
    steps = [found[f"1/{parts}", 0] for parts in FINER if (f"1/{parts}", 0) in found]
    inputs = {
        name: InputPair(found[name, -1], motion)
        for (name, sign), motion in found.items()
        if sign == 1 and (name, -1) in found
    }
    return Variants(steps if len(steps) == len(FINER) else (), inputs)
