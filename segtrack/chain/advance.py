"""Advancing all tracks of a vehicle by a step of whoever moves the vehicle, and tensioning them before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.parent_frames import Carriers, Vehicle, drift_carriers
from segtrack.chain.track import TrackChain
from segtrack.chain.track_step import run_tracks
from segtrack.errors import DivergedError, InvalidValueError, Phrase
from segtrack.ground.pack import pack_ground

_DRAINAGE, _PULL, _LONGEST, _SLOW = 150.0, 2e-3, 100, 1e-3
"""A chain is tensioned with this drainage [1/s] in steps of this duration [s], at most so many, until
all its shoes are slower than this [m/s]."""
HELD = Vehicle(np.zeros(3), 0.0, np.zeros((3, 3)), (0.0, 0.0, 0.0))
"""Carriers that go on by the velocities that they have."""


_LOSSES = (
    "its position is not finite",
    "its joint to the next link has parted",
    "the chain has come off its wheels",
)
_FAR = 1.0
"""An idler that has slid this many pitches has left its track."""


class Impulse(NamedTuple):
    """What a track has done to one of its carriers in a step.

    Attributes:
        point: Where the carrier's track frame was at the beginning, in the world (3,) [m].
        force: Mean (3,) [N].
        torque: Mean about the point (3,) [N m].
    """

    point: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]


class Drive(NamedTuple):
    """What a track's drive shall do.

    Attributes:
        speed: Of the chain that it shall reach [m/s].
        limit: Of its force along the chain [N].
    """

    speed: float
    limit: float


def tension_tracks(tracks: Sequence[TrackChain]) -> None:
    """Let chains that were laid along their hinges take the shape that their tensioners give them.

    Without gravity and ground, drained of energy (see `statics`), on carriers that are held. From
    then on `TrackChain.lay` lays them like that.

    Raises:
        InvalidValueError: A chain does not bear it.
    """
    grounds = [track.ground for track in tracks]
    still = []
    for track in tracks:
        track.set_ground(pack_ground(()))
        count = len(track.arrays.carriers.position)
        frames = Carriers(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), *np.zeros((2, count, 3)))
        track.lay(frames)
        still.append(frames)
    drives = [Drive(0.0, math.inf)] * len(tracks)
    for _ in range(_LONGEST):
        try:
            advance_tracks(tracks, still, drives, HELD, _PULL, _DRAINAGE)
        except DivergedError as error:
            got = Phrase(f"one that breaks: {error}")
            raise InvalidValueError("chain", "one that bears its tensioner", got) from None
        if max(np.abs(track.state.velocities).max() for track in tracks) < _SLOW:
            break
    for track, ground in zip(tracks, grounds, strict=True):
        track.state.time = 0.0
        track.keep_rest()
        track.set_ground(ground)


def advance_tracks(
    tracks: Sequence[TrackChain],
    carriers: Sequence[Carriers],
    drives: Sequence[Drive],
    vehicle: Vehicle,
    duration: float,
    drainage: float = 0.0,
) -> list[list[Impulse]]:
    """Take all tracks of a vehicle through a step of whoever moves the vehicle.

    Where a force changes velocities first, and these then positions, velocities belong to
    times half a step before those of positions. Chains live in that time: they start half a
    step before their carriers' positions with their velocities, and end half a step after,
    where the next step will start. In the meantime the carriers move as parts of one rigid
    body, so that chains feel at once how the vehicle gives way.

    Args:
        tracks: The vehicle's.
        carriers: Of each, where they are at the step's beginning.
        drives: What each track's drive shall do.
        vehicle: How it gives way.
        duration: Of the step [s].
        drainage: Rate at which velocities decay besides [1/s], see `statics`.

    Returns:
        What each track does to each of its carriers.

    Raises:
        DivergedError: A link is at no finite place any more, or a chain has parted or come off.
    """
    count = max(math.ceil(duration / track.largest_sub_step * (1 - 1e-9)) for track in tracks)
    sub_step = duration / count
    table, losses = np.zeros((len(tracks), 3)), np.zeros((len(tracks), 2), dtype=np.intp)
    for track, places, drive, row in zip(tracks, carriers, drives, table, strict=True):
        track.follow(places)
        radius = track.design.pitch_radius
        row[:2] = drive.speed / radius, drive.limit * radius
    arrays = tuple(track.arrays for track in tracks)
    for own in arrays:
        drift_carriers(own.carriers, -duration / 2)
    push, kept = np.zeros((2, 3)), math.exp(-drainage * sub_step)
    run_tracks(arrays, table, losses, vehicle, push, sub_step, count, kept)
    done = []
    for track, own, torque, (lost, why) in zip(tracks, arrays, table[:, 2], losses, strict=True):
        track.state.time += duration if drainage == 0 else 0.0
        track.torque = float(torque)
        if lost >= 0:
            raise DivergedError(f"chain link {lost} of {track.design.name}", track.state.time, _LOSSES[why])
        slide = float(np.abs(track.wheels.slides).max())
        if slide > _FAR * track.design.chain.shoe.pitch:
            reason = f"it has slid by {slide:.3g} m"
            raise DivergedError(f"idler of {track.design.name}", track.state.time, reason)
        impulses = zip(own.exchange.points, own.exchange.impulses, own.exchange.turns, strict=True)
        done.append([Impulse(p.copy(), f / duration, t / duration) for p, f, t in impulses])
    return done
