"""All tracks of a vehicle through a step of the physics engine, and their tensioning before the first one."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.contact_rows import sub_steps_held
from segtrack.chain.track import TrackChain
from segtrack.chain.track_step import FAILURES, DriveArrays, run_tracks
from segtrack.errors import DivergedError, InvalidValueError, Phrase
from segtrack.ground import KINEMATIC, CompositeBody, NetWrench, ParentFrames, pack_ground
from segtrack.kernels import Packed, exponential

MAX_TIME_STEP = 0.01
"""Largest engine time step with chains; contact candidates are found once per step [s]."""
_TENSIONING_DAMPING_RATE = 150.0
"""Damping towards rest while chains are tensioned, but at most critical for the slowest one [1/s]."""
_TENSIONING_STEP = 2e-3
"""Step while chains are tensioned [s]."""
_LEAST_STEPS, _PERIODS = 100, 20.0
"""Steps after which tensioning ends in any case, or more for a chain whose slowest mode has so
many radians in them."""
_MAX_TENSION_ERROR = 0.05
"""Fraction of a pretension by which a chain that was tensioned may be off it."""
_REST_SPEED = 1e-3
"""Largest component of a shoe's velocity at which tensioning ends [m/s]."""
_MAX_IDLER_SLIDE = 1.0
"""Pitches by which an idler may slide before it has left its track."""


class MeanWrench(NamedTuple):
    """Mean load of a track on one of its parent links in a step.

    Attributes:
        point: Origin of the link's track frame at the beginning, in the world (3,) [m].
        force: Force in the world (3,) [N].
        torque: About the point, in the world (3,) [N m].
    """

    point: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]


class DriveCommand(NamedTuple):
    """Command to a track's drive.

    Attributes:
        speed: Target speed of the chain [m/s].
        limit: Largest force along the chain [N].
    """

    speed: float
    limit: float


def parents_at_rest(count: int) -> ParentFrames:
    """Parent links at rest whose track frames are the world's."""
    return ParentFrames(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), *np.zeros((2, count, 3)))


def tension_tracks(
    tracks: Sequence[TrackChain], advance: Callable[[float, float], None] | None = None
) -> list[str]:
    """Bring chains that were assembled along their hinges to rest under their tensioners' forces.

    Without gravity and terrain, on kinematic parent links, with velocities damped (see
    `segtrack.world.placement`) and tensioners set anew after every step: a chain that stretches loses no
    tension. From then on `TrackChain.assemble` starts from the state that is found.

    Args:
        tracks: Tracks of a vehicle.
        advance: Takes them through a step [s] with such a damping rate [1/s], drives at a standstill, and
            checks them; `advance_tracks` if not given.

    Returns:
        Remarks on their designs, and on those that have another tension than they are laid out for.

    Raises:
        InvalidValueError: A chain fails under its tensioner.
    """
    grounds = [track.ground for track in tracks]
    still = []
    for track in tracks:
        track.set_ground(pack_ground(()))
        still.append(parents_at_rest(len(track.arrays.parents.positions)))
        track.assemble(still[-1])

    def advance_still(duration: float, damping_rate: float) -> None:
        drives = [DriveCommand(0.0, math.inf)] * len(tracks)
        advance_tracks(tracks, still, drives, KINEMATIC, duration, damping_rate)

    slowest = min(track.design.chain.slowest_frequency for track in tracks)
    steps = max(_LEAST_STEPS, math.ceil(_PERIODS / slowest / _TENSIONING_STEP))
    for _ in range(steps):
        try:
            (advance or advance_still)(_TENSIONING_STEP, min(_TENSIONING_DAMPING_RATE, 2 * slowest))
        except DivergedError as error:
            got = Phrase(f"one that breaks: {error}")
            raise InvalidValueError("chain", "one that bears its tensioner", got) from None
        if max(np.abs(track.state.velocities).max() for track in tracks) < _REST_SPEED:
            break
    remarks = dict.fromkeys(remark for track in tracks for remark in track.design.remarks)
    for track, ground in zip(tracks, grounds, strict=True):
        track.state.time = 0.0
        track.store_assembled_state()
        tension, asked = track.read_tension(), track.design.pretension
        if not abs(tension - asked) <= _MAX_TENSION_ERROR * asked:
            remarks[f"pretension of {track.design.name} is {tension:.3g} N as built, for {asked:.3g} N"] = (
                None
            )
        track.set_ground(ground)
    return list(remarks)


def warn(remarks: Iterable[str]) -> None:
    """Log remarks on chains as warnings."""
    for remark in remarks:
        logging.getLogger("segtrack").warning("segtrack: %s", remark)


def advance_tracks(
    tracks: Sequence[TrackChain],
    parents: Sequence[ParentFrames],
    commands: Sequence[DriveCommand],
    vehicle: CompositeBody,
    duration: float,
    damping_rate: float = 0.0,
    behind: float = 0.0,
) -> list[list[MeanWrench]]:
    """Take all tracks of a vehicle through a step of the physics engine that moves the vehicle.

    Semi-implicit Euler, read as leapfrog, holds velocities half a step before positions. Chains
    use that staggered time: they run from half of the last step before the time of the parent links'
    positions to half of the next one after. Meanwhile the parent links move as one rigid body, so that
    chains feel the vehicle's recoil within the step.

    Args:
        tracks: Tracks of the vehicle.
        parents: Motion of each track's parent links at the step's beginning.
        commands: Command to each track's drive.
        vehicle: All links as one rigid body.
        duration: Time that they take [s].
        damping_rate: Rate at which velocities decay besides [1/s], see `segtrack.world.placement`; where they
            do, tensioners are set anew (`TrackChain.set_tension`).
        behind: Half of the last step, by which they are behind parent links that move [s].

    Returns:
        Load of each track on each of its parent links.

    Raises:
        DivergedError: A shoe's position is not finite, a joint has separated, or a chain has come off.
    """
    count = max(math.ceil(duration / track.max_sub_step * (1 - 1e-9)) for track in tracks)
    sub_step = duration / count
    radii = np.array([track.design.pitch_radius for track in tracks])
    drives = DriveArrays(
        target_speeds=np.array([command.speed for command in commands]) / radii,
        torque_limits=np.array([command.limit for command in commands]) * radii,
        mean_torques=np.zeros(len(tracks)),
    )
    for track, own in zip(tracks, parents, strict=True):
        track.follow_parents(own, behind, duration)
    arrays = tuple(track.arrays for track in tracks)
    failures, net = np.zeros((len(tracks), 2), dtype=np.intp), NetWrench(*np.zeros((2, 3)))
    velocity_decay = exponential(-damping_rate * sub_step)
    held = sub_steps_held(duration, count, min(track.max_sub_steps_held for track in tracks))
    run_tracks(
        Packed.joined([track.packed for track in tracks]),
        drives,
        failures,
        vehicle,
        net,
        sub_step,
        count,
        held,
        velocity_decay,
    )
    wrenches = []
    for t, (track, track_arrays) in enumerate(zip(tracks, arrays, strict=True)):
        track.state.time += duration if damping_rate == 0 else 0.0
        track.torque = float(drives.mean_torques[t])
        if damping_rate > 0:
            track.set_tension()
        check_track(track, *failures[t].tolist())
        coupling = zip(*track_arrays.coupling, strict=True)
        wrenches.append([MeanWrench(p.copy(), i / duration, a / duration) for p, i, a in coupling])
    return wrenches


def check_track(track: TrackChain, shoe: int, reason: int) -> None:
    """Refuse to go on with a track of which a shoe has failed (-1: none), or the idler.

    Raises:
        DivergedError: One has.
    """
    if shoe >= 0:
        raise DivergedError(f"shoe {shoe} of {track.design.name}", track.state.time, FAILURES[reason])
    slide = float(np.abs(track.wheels.slide_positions).max())
    if slide > _MAX_IDLER_SLIDE * track.design.chain.shoe.pitch:
        far = f"it has slid by {slide:.3g} m"
        raise DivergedError(f"idler of {track.design.name}", track.state.time, far)
    skipped = track.look_for_skips()
    if skipped:
        text = f"the chain of {track.design.name} has skipped {skipped} of its sprocket's teeth by "
        warn([f"{text}{track.state.time:.3g} s: it is too slack for the force of its drive"])
