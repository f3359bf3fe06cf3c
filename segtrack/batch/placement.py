"""Placement of vehicles of a batch just above their ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from segtrack.batch.arguments import broadcast_numbers
from segtrack.batch.fleet_arrays import limits_of
from segtrack.batch.ground import GroundLibrary
from segtrack.errors import InvalidValueError
from segtrack.native import BeltKind, allocate_state, allocate_tree_work, move_links, outer_points
from segtrack.robot import Commands
from segtrack.world import attitude_rotation, points_below, surface_of


class Outlines:
    """Outlines of vehicles in plan and their lowest points, cached by kind and joint positions."""

    def __init__(self, kinds: tuple[BeltKind, ...]) -> None:
        """Outline vehicles of these kinds."""
        self._kinds = kinds
        self._known: dict[tuple[int, bytes], tuple[NDArray[np.float64], float, float]] = {}

    def of(self, kind: int, positions: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, float]:
        """Outline of an upright vehicle with belts at travel 0.

        Args:
            kind: Index of the vehicle's kind.
            positions: Joint positions (J,) [rad or m].

        Returns:
            Corners of the convex hull of its x and y in the body frame (n, 2), its least and largest z [m].
        """
        key = kind, positions.tobytes()
        if key not in self._known:
            if len(self._known) >= 1000:  # Drawn anew at each reset: none comes again.
                self._known.clear()
            self._known[key] = self._outline(self._kinds[kind], positions)
        return self._known[key]

    def _outline(
        self, kind: BeltKind, positions: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float, float]:
        tree = kind.arrays.tree
        state, work = allocate_state(1, len(positions), len(kind.belts)), allocate_tree_work(tree, 0)
        state.joint_angles[0], state.position[0] = positions, tree.centers[0]
        one = type(state)(*(array[0] for array in state))
        move_links(tree, one, work)
        points = outer_points(kind.arrays, kind.belts, one, work)
        z = points[:, 2]
        return points[ConvexHull(points[:, :2]).vertices, :2], float(z.min()), float(z.max())


def places_of(
    x: ArrayLike,
    y: ArrayLike,
    yaw: ArrayLike,
    roll: ArrayLike,
    pitch: ArrayLike,
    speed: ArrayLike,
    vehicles: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return starts of vehicles (n, 6), by their indices in the batch (n,).

    They are world x and y [m], yaw, roll and pitch [rad], and forward speed [m/s].

    Raises:
        InvalidValueError: Another shape, or a number that is not finite.
    """
    named = (
        ("x [m]", x),
        ("y [m]", y),
        ("yaw [rad]", yaw),
        ("roll [rad]", roll),
        ("pitch [rad]", pitch),
        ("speed [m/s]", speed),
    )
    return np.stack([broadcast_numbers(*each, vehicles) for each in named], 1)


def clearing_heights(
    outlines: Outlines,
    grounds: GroundLibrary,
    kinds: NDArray[np.intp],
    indices: NDArray[np.intp],
    places: NDArray[np.float64],
    positions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Heights of body frames at which vehicles just clear the ground below them (n,) [m].

    Args:
        outlines: Outlines of the kinds.
        grounds: Terrains of the batch.
        kinds: Index of each vehicle's kind (n,).
        indices: Index of each vehicle's terrain (n,).
        places: Starts of the vehicles, see `places_of` (n, 6).
        positions: Joint positions (n, J) [rad or m].
    """
    leaning, heights = places[:, 3:5].any(axis=1), np.empty(len(kinds))
    upright = np.flatnonzero(~leaning)
    for k in np.flatnonzero(leaning).tolist():
        heights[k] = _leaning_height(outlines, grounds, kinds[k], indices[k], places[k], positions[k])
    if len(upright):
        some = kinds[upright], indices[upright], places[upright], positions[upright]
        heights[upright] = _upright_heights(outlines, grounds, *some)
    return heights


def _leaning_height(
    outlines: Outlines,
    grounds: GroundLibrary,
    kind: int,
    index: int,
    place: NDArray[np.float64],
    positions: NDArray[np.float64],
) -> float:
    """Height of a body frame at which a vehicle's leaning box clears the ground [m]."""
    corners, bottom, top = outlines.of(int(kind), positions)
    low, high = np.array([*corners.min(axis=0), bottom]), np.array([*corners.max(axis=0), top])
    x, y, yaw, roll, pitch, _ = place.tolist()
    points = surface_of(low, high, attitude_rotation((roll, pitch, yaw)))
    heights = grounds.heights(np.array([index]), x + points[None, :, 0], y + points[None, :, 1])
    return float(np.max(heights - points[:, 2]))


def _upright_heights(
    outlines: Outlines,
    grounds: GroundLibrary,
    kinds: NDArray[np.intp],
    indices: NDArray[np.intp],
    places: NDArray[np.float64],
    positions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Heights of upright body frames at which vehicles just clear the ground below their boxes (n,) [m]."""
    boxes, bottoms = np.empty((2, len(kinds), 2)), np.empty(len(kinds))
    for k, (kind, (x, y, yaw)) in enumerate(zip(kinds.tolist(), places[:, :3].tolist(), strict=True)):
        corners, bottoms[k], _ = outlines.of(kind, positions[k])
        cosine, sine = np.cos(yaw), np.sin(yaw)
        turned = corners @ np.array([[cosine, sine], [-sine, cosine]]) + (x, y)
        boxes[:, k] = turned.min(axis=0), turned.max(axis=0)
    return np.asarray(grounds.heights(indices, *points_below(*boxes)).max(axis=(1, 2)) - bottoms)


def refuse_places(
    vehicles: NDArray[np.intp], places: NDArray[np.float64], heights: NDArray[np.float64]
) -> None:
    """Raise an error for the first vehicle that has no ground below it.

    Args:
        vehicles: Indices of the vehicles (n,).
        places: Starts of the vehicles, see `places_of` (n, 6).
        heights: Heights of the body frames (n,), at least one of them not finite [m].

    Raises:
        InvalidValueError: Always.
    """
    i = int(np.flatnonzero(~np.isfinite(heights))[0])
    where = tuple(places[i, :2].tolist())
    raise InvalidValueError(f"position of vehicle {vehicles[i]} [m]", "above ground", where)


def start_positions(
    kinds: Sequence[BeltKind],
    chosen: NDArray[np.intp],
    flippers: Mapping[str, ArrayLike],
    commands: Commands,
    vehicles: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Joint positions at which vehicles start (n, J) [rad or m].

    Args:
        kinds: Kinds of the batch.
        chosen: Index of each vehicle's kind (n,).
        flippers: Flipper angles by name () or (n,) [rad], clipped to their limits; 0 if not given.
        commands: Commands to the batch.
        vehicles: Indices of the vehicles in the batch (n,).

    Raises:
        UnknownNameError: There is no such flipper.
        InvalidValueError: Not angles by name, another shape, or an angle that is not finite.
    """
    positions = np.stack([kind.initial_positions for kind in kinds])[chosen]
    own = commands.of(limits_of(kinds).rows(chosen), partial(broadcast_numbers, vehicles=vehicles))
    for flipper, angles in enumerate(own.start_angles(flippers)):
        positions[:, flipper] = angles
    return positions
