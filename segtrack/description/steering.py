"""Steering efficiency of a vehicle on level ground, computed from its loads and planar Coulomb friction.

A vehicle that its belts carry stands still in height, pitch and roll, so that its weight spreads over the
contact points of its compliant belts as over springs. At these loads `geometry.planar_friction` says how
fast belts that run against each other turn it. That depends on where its flippers are, and not on speed,
on the arc, or on how slippery the ground is: friction at a point has the direction of slip alone, in which
belts' mean speed and the vehicle's own cancel.

With one pair of flippers pointing down and the other up a vehicle stands on four corners: on arcs of the
first and of the belts at the other end. The tips that come round an arc of radius r, a pitch p apart, let its
corner sink by up to p^2 / 8 r between two of them, 2.6 mm for Quince, and contacts give way by a tenth of
that. So it rocks like a table on uneven ground, from two corners across and a third to the other two, several
times a second, and the weight that belts of one side bear swings. A vehicle without mass would at each moment
turn as friction balances on the corners that carry then, one that keeps its velocity as under the mean
loads, which is faster: 0.81 to 1 for Quince. In between, the yaw rate falls with the swing (`_ROCKING`), and
depends on which tips happen to stand on the ground together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.compliant import BeltDesign
from segtrack.description.compliant_layout import FACE_LENGTH, belt_designs
from segtrack.description.frames import Frame
from segtrack.description.placement import place_tracks, vehicle_links
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import InvalidValueError
from segtrack.geometry import GRAVITY, PlanarContacts, balance_friction
from segtrack.kernels import rounded

Array = NDArray[np.float64]
NO_SLIP = 1.0
"""Efficiency of belts that never slip sideways, and of vehicles that do not stand on belts of two sides."""
PHASES = 24
"""Number of places of the grousers that loads are taken at."""
_ROCKING = 0.6
"""Share of its yaw rate that a vehicle loses by rocking, over the standard deviation of the difference of the
loads of both sides, over its weight [-]. Tuned: mean of 18 poses of Quince, which have 0 to 1.2."""
_DEEP = 3e-3
"""Points this far inside of a belt's outline, or above the lowest one, touch no level ground [m]."""
_WAYS = 64
"""Number of directions in which points are looked for that may touch level ground."""
_BINS = 16
"""Number of parts of a belt, from rear to front, whose loads are summed on each edge and in the middle."""
_ANGLE = 1e-4
"""Flippers' angles are told apart by this [rad]: that lifts the tip of a long one by what belts sink in."""
_KNOWN = 4096
"""Number of poses of flippers whose efficiency is kept; with one more, it starts anew."""
_DIFFERENCE = 1e-6
"""Half of the travel over which the velocity of a contact point is taken [m]."""
_MOST_STEPS = 60
_BALANCED = 1e-6
"""Unbalanced force and moment of a vehicle at rest, over its weight and by its length [-]."""
_SIDES = {"left": -1.0, "center": 0.0, "right": 1.0}
"""Belt speed of each side in a turn to the left on the spot [m/s]."""


class SteeringByLoads:
    """Steering efficiency at given flipper angles: yaw rate over that of belts without sideways slip."""

    def __init__(self, vehicle: VehicleDescription) -> None:
        """Prepare for a vehicle; its belts are laid out when first needed."""
        self.vehicle = vehicle
        self._layout: _Layout | None = None
        self._known: dict[tuple[int, ...], float] = {}

    def efficiency(self, flippers: Mapping[str, float]) -> float:
        """Efficiency from the vehicle's file, or else computed by `reckon` [-]."""
        given = self.vehicle.steering_efficiency
        return self.reckon(flippers) if given is None else given

    def reckon(self, flippers: Mapping[str, float]) -> float:
        """Compute the efficiency from the loads of compliant belts on level ground [-].

        Joints of the body's URDF are taken to stand at 0, and belts to carry all of the weight.

        Args:
            flippers: Angles by name [rad]; 0 if not given.

        Returns:
            `NO_SLIP` where nothing can be reckoned: without belts on two sides, without friction, or
            for a vehicle that would tip over.
        """
        turns = tuple(round(flippers.get(name, 0.0) / _ANGLE) for name in self.vehicle.flippers)
        found = self._known.get(turns)
        if found is None:
            found = self._reckoned(turns)
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[turns] = found
        return found

    def _reckoned(self, turns: tuple[int, ...]) -> float:
        """Efficiency with flippers at `turns` multiples of `_ANGLE` [-]; `NO_SLIP` without an answer."""
        offsets = self.vehicle.track_offsets
        if offsets is None:
            return NO_SLIP
        if self._layout is None:
            self._layout = _Layout(self.vehicle)
        angles = dict(zip(self.vehicle.flippers, (_ANGLE * turn for turn in turns), strict=True))
        try:
            turned = self._layout.yaw_rate(angles)
        except InvalidValueError:  # There is no friction.
            turned = 0.0
        if turned <= 0.0:
            return NO_SLIP
        # Matrix products round otherwise on other processors; commands that follow are equal on all of them.
        return rounded(float(turned / offsets.twist(_SIDES["left"], _SIDES["right"])[1]))


class _Layout:
    """Contact points of a vehicle's belts in their track frames, at several phases of the grousers."""

    def __init__(self, vehicle: VehicleDescription) -> None:
        self._vehicle, self._links = vehicle, vehicle_links(vehicle)
        belts = belt_designs(vehicle, self._links.mass, smooth=False)
        self._belts = [_BeltPoints(*each) for each in zip(belts, _phases(_partners(vehicle)), strict=True)]
        tracks = list(vehicle.mounted_tracks())
        ratios = [(1.0, track.spec.contact.lateral_ratio) for track in tracks]
        self._friction = np.array([[track.spec.contact.friction] for track in tracks]) * ratios
        self._speeds = np.array([_SIDES[track.side] for track in tracks])

    def yaw_rate(self, flippers: Mapping[str, float]) -> float:
        """Yaw rate with belts of the sides at -1 and 1 m/s [rad/s]; 0 for a vehicle that tips over."""
        frames = [placed.frame for placed in place_tracks(self._vehicle, flippers)]
        center = self._links.center_of_mass([flippers[name] for name in self._vehicle.flippers])
        hulls = [frame.points(belt.hull) - center for frame, belt in zip(frames, self._belts, strict=True)]
        level = _level(np.concatenate(hulls))
        standing = [Frame(level @ frame.rotation, level @ (frame.origin - center)) for frame in frames]
        weight, found, swing = self._links.mass * GRAVITY, [], []
        for phase in range(PHASES):
            belts = [belt.phases[phase] for belt in self._belts]
            points = np.concatenate([f.points(b.points) for f, b in zip(standing, belts, strict=True)])
            runs = np.concatenate([b.runs @ f.rotation.T for f, b in zip(standing, belts, strict=True)])
            loads = _rest(points, np.concatenate([b.stiffness for b in belts]), weight)
            tracks = np.repeat(np.arange(len(belts)), [len(b.points) for b in belts])
            across = np.concatenate([np.sign(b.points[:, 1]) for b in belts]).astype(int)
            on = loads > 0.0
            found.append([a[on] for a in (points[:, :2], runs[:, :2], loads, tracks, across)])
            swing.append(loads @ self._speeds[tracks] / weight)
        points, runs, loads, tracks, across = (np.concatenate(each) for each in zip(*found, strict=True))
        if len(loads) == 0:
            return 0.0
        balanced = balance_friction(self._summed(points, runs, loads, tracks, across))
        return balanced.yaw_rate * (1.0 - _ROCKING * float(np.std(swing)))

    def _summed(
        self, points: Array, runs: Array, loads: Array, tracks: NDArray[Any], across: NDArray[Any]
    ) -> PlanarContacts:
        """Merge contacts of each belt part into one, at the centre of its loads."""
        low, high = points[:, 0].min(), points[:, 0].max()
        part = np.minimum((points[:, 0] - low) / max(high - low, 1e-9) * _BINS, _BINS - 1).astype(int)
        _, first, part = np.unique(
            (tracks * _BINS + part) * 3 + across, return_index=True, return_inverse=True
        )
        total = np.asarray(np.bincount(part, loads), dtype=float)
        places, ways = (
            np.stack([np.bincount(part, loads * each) / total for each in values.T], axis=1)
            for values in (points, runs)
        )
        speeds = np.maximum(np.linalg.norm(ways, axis=1), 1e-9)
        own = tracks[first]
        return PlanarContacts(
            places, total, self._friction[own], ways / speeds[:, None], self._speeds[own] * speeds
        )


class _Phase:
    """Contact points of a belt at one phase of its grousers.

    Attributes:
        points: Positions in the track frame (n, 3) [m].
        runs: Velocity with which each point drives the vehicle, per belt speed (n, 3) [-]: opposite to its
            own, which is the belt's, or larger for a tip on an arc.
        stiffness: Stiffness of each point (n,) [N/m].
    """

    def __init__(self, belt: BeltDesign, travel: float) -> None:
        self.points = belt.points(travel)
        self.runs = (belt.points(travel - _DIFFERENCE) - belt.points(travel + _DIFFERENCE)) / (
            2 * _DIFFERENCE
        )
        self.stiffness = belt.law.stiffness * np.concatenate(
            [
                np.outer(belt.lengths[belt.kinds == kind], section.weights).ravel()
                for kind, section in enumerate(belt.sections)
            ]
        )

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        self.points, self.runs, self.stiffness = (
            each[chosen] for each in (self.points, self.runs, self.stiffness)
        )


class _BeltPoints:
    """Contact points of a belt that may touch level ground, at all phases.

    Attributes:
        phases: Contact points at each phase of the grousers.
        hull: Corners of their outline over all phases, in the track frame (n, 3) [m].
    """

    def __init__(self, belt: BeltDesign, phases: Array) -> None:
        period = belt.path.perimeter / belt.grouser_count if belt.grouser_count else FACE_LENGTH
        self.phases = [_Phase(belt, phase * period) for phase in phases]
        outline = np.concatenate([phase.points for phase in self.phases])
        self.hull = outline[ConvexHull(outline[:, [0, 2]]).vertices]
        angles = np.linspace(0.0, 2 * math.pi, _WAYS, endpoint=False)
        ways = np.stack([np.cos(angles), np.sin(angles)])
        reach = (self.hull[:, [0, 2]] @ ways).max(axis=0)
        for phase in self.phases:
            phase.keep((phase.points[:, [0, 2]] @ ways - reach).max(axis=1) > -_DEEP)


def _partners(vehicle: VehicleDescription) -> list[int]:
    """Index of each belt's mirror image, or of the belt itself if it has none."""
    tracks = [
        (*np.round(track.frame.origin[[0, 2]], 6).tolist(), _SIDES[track.mounted.side])
        for track in place_tracks(vehicle, {})
    ]
    return [
        tracks.index((x, z, -side)) if (x, z, -side) in tracks else own
        for own, (x, z, side) in enumerate(tracks)
    ]


def _phases(partners: list[int]) -> Array:
    """Travels of the belts in pitches (belts, `PHASES`): evenly spread, no two belts in phase.

    Half of them follow Roberts' sequence (2018): multiples of the powers of 1 / x, modulo 1, with
    x^(belts + 1) = x + 1. In the others belts have changed places with their partners, so that mirrored
    poses are reckoned alike.
    """
    root, belts = 2.0, len(partners)
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (belts + 1))
    phases = np.outer(root ** -np.arange(1.0, belts + 1), np.arange(1.0, PHASES // 2 + 1)) % 1.0
    return np.concatenate([phases, phases[partners]], axis=1)


def _level(points: Array) -> Array:
    """Rotation (3, 3) that lets a vehicle with corners (n, 3) about its centre of mass stand level.

    It pitches until the side of its outline that is below its centre of mass is level.
    """
    outline = points[:, [0, 2]]
    corners = outline[ConvexHull(outline).vertices]
    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    # Corners go round counterclockwise: sides below lead forwards.
    below = [(rear, front) for rear, front in sides if front[0] > rear[0]]
    rear, front = max(below, key=lambda side: min(-side[0][0], side[1][0]))
    cos, sin = (front - rear) / np.linalg.norm(front - rear)
    return np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])


def _rest(points: Array, stiffness: Array, weight: float) -> Array:
    """Static normal loads of a rigid body's points on level ground (n,) [N].

    With springs k at heights z, and a body lowered by q_0 and tilted by q_1 and q_2, the energy

        sum k / 2 max(q_0 + q_1 x + q_2 y - z, 0)^2 - W q_0

    is convex and least at rest: Newton's method, with steps halved until it falls.

    Args:
        points: Positions about the centre of mass, nearly level (n, 3) [m].
        stiffness: Stiffness of each point (n,) [N/m].
        weight: Weight of the body [N].

    Returns:
        Zeros for a body that tips over.
    """
    heights = points[:, 2] - points[:, 2].min()
    low = np.flatnonzero(heights < _DEEP)
    loads, scale = np.zeros(len(points)), float(np.abs(points[:, :2]).max())
    points, heights, stiffness = points[low], heights[low], stiffness[low]
    rows = np.column_stack([np.ones(len(points)), points[:, :2] / scale])
    outside = np.array([weight, 0.0, 0.0])
    lowered = np.array([weight / stiffness.max(), 0.0, 0.0])
    slack = 1e-9 * stiffness.sum() * np.eye(3)

    def energy(at: Array) -> float:
        return float(stiffness @ np.maximum(rows @ at - heights, 0.0) ** 2 / 2 - outside @ at)

    for _ in range(_MOST_STEPS):
        depths = np.maximum(rows @ lowered - heights, 0.0)
        rest = (stiffness * depths) @ rows - outside
        if np.abs(rest).max() < _BALANCED * weight:
            loads[low] = stiffness * depths
            break
        pressed = rows[depths > 0]
        step = -np.linalg.solve(pressed.T @ (stiffness[depths > 0, None] * pressed) + slack, rest)
        share, now = 1.0, energy(lowered)
        while share > 1e-9 and energy(lowered + share * step) > now + 1e-4 * share * (rest @ step):
            share /= 2
        lowered = lowered + share * step
    return loads
