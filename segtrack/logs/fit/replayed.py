"""A logged motion as a case of a fit, simulated by its replay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from segtrack.description import VehicleDescription
from segtrack.logs.fit.cases import LogFiles, MotionCase
from segtrack.logs.replay import AlignedLog, ReplaySettings, align, replay_log
from segtrack.logs.replay.commands import BeltSource, belt_keys, has_belts
from segtrack.robot.motion import Motion


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
