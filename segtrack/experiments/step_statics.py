"""Statics of a tracked vehicle at a step: the greatest height that slow motion leads up.

The vehicle is a planar mechanism of rigid parts, body, front flippers and rear flippers, each the convex
hull of its pulleys: to the tips of grousers on what is flat, and to the belt's outer face on the step's
edge, which lies between grousers. A pose is the place x of the centre of mass before (x < 0) or behind the
edge, the pitch, nose up, and the angles of both pairs of flippers. It is at rest if forces at two points of
contact balance the weight, each within its friction cone; an edge between grousers is held however it is
pushed along the belt. Drives hold belts, and flippers their angle, with whatever that takes.

Generally a pose at rest touches at two points, so that x and the angles of flippers leave a few pitches.
Neighbours on a grid of these three, both at rest and of nearly one pitch, are connected. A step can be
climbed slowly if flat ground before it is connected with a pose in which the floor need carry nothing and
the centre of mass has come to the edge: the vehicle then comes to lie on the step.

Motion may do more, by momentum, or less: belts of a side share a speed, and friction acts against slip.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from segtrack.description import VehicleDescription, vehicle_links
from segtrack.errors import InvalidValueError, Phrase, finite
from segtrack.geometry import Arc

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_PITCH = math.radians(80.0)
"""Default largest pitch [rad], beyond which a vehicle counts as tipped over."""
_LEAST_PITCH = -math.radians(45.0)
_TOUCHING = 1e-7
"""Gap of a contact [m]."""
_APART = 1e-4
"""Least distance of two points of contact [m]."""
_HELD = 1000.0
"""Coefficient of an edge between grousers, which hold whatever way it is pushed along the belt [-]."""
_FAR = 1e3
"""Longer than any vehicle [m]."""
_PULLING = 1e-9
"""Share of the weight by which a contact may pull, for rounding [-]."""


@dataclass(frozen=True)
class StaticsGrid:
    """Grid of poses.

    Attributes:
        distance: Spacing of the centre of mass along x [m].
        flipper: Largest spacing of a flipper's angles [rad].
        pitch: Spacing of pitches between which points of contact are found [rad].
        turn: Largest difference in pitch of two neighbours that are connected [rad].
    """

    distance: float = 0.01
    flipper: float = 0.1
    pitch: float = math.radians(1.5)
    turn: float = 0.1


class _Disc(NamedTuple):
    """Pulley in its part's frame [m]: centre, radii to the belt's outer face and to its grousers' tips."""

    x: float
    z: float
    face: float
    tip: float


@dataclass(frozen=True)
class _Part:
    """Rigid part: the body, or a pair of flippers.

    Attributes:
        discs: Discs whose convex hull is its outline.
        mass: Mass [kg].
        center: Centre of mass (x, z) in its frame [m].
        pivot: Origin of its frame (x, z) in the body frame [m].
        sign: 1 if positive angles turn it as pitch does, nose up; -1 the other way.
        limits: Smallest and largest angle [rad].
    """

    discs: tuple[_Disc, ...]
    mass: float
    center: tuple[float, float]
    pivot: tuple[float, float] = (0.0, 0.0)
    sign: int = 1
    limits: tuple[float, float] = (0.0, 0.0)


class _Poses(NamedTuple):
    """Poses, arrays of one shape.

    Attributes:
        x: Place of the centre of mass along x, the edge at 0 [m].
        pitch: Pitch [rad].
        discs: Discs (..., n, 4) about the centre of mass, at pitch 0: x, z, radii of face and tips [m].
    """

    x: Floats
    pitch: Floats
    discs: Floats


class _Contacts(NamedTuple):
    """Points of contact, arrays of one shape: x, z of points [m] and of unit normals into the vehicle."""

    x: Floats
    z: Floats
    normal_x: Floats
    normal_z: Floats


@dataclass(frozen=True, eq=False)
class RestPoses:
    """Poses at rest at a step, arrays (n,) but for `contacts`.

    Attributes:
        x: Place of the centre of mass along x, the step's edge at 0 [m].
        z: Height of the centre of mass above the floor [m].
        pitch: Pitch, nose up [rad].
        front: Angle of the front flippers [rad].
        rear: Angle of the rear flippers [rad].
        contacts: Both points of contact (n, 2, 4): x, z [m], and the unit normal into the vehicle, x and z.
        component: Number of the connected component of each pose.
    """

    x: Floats
    z: Floats
    pitch: Floats
    front: Floats
    rear: Floats
    contacts: Floats
    component: Ints


def balanced(contacts: Floats, center: Floats, friction: Floats) -> NDArray[np.bool_]:
    """Say where two contacts can balance the weight.

    Three forces along edges of the friction cones suffice wherever any forces do (Caratheodory's theorem for
    cones in the three dimensions of a planar wrench), so that the four choices of three are tried.

    Args:
        contacts: Points of contact and normals (n, 2, 4), as in `RestPoses`.
        center: Centre of mass (n, 2): x, z [m].
        friction: Coulomb coefficient of each contact (n, 2) [-].
    """
    normal = contacts[..., 2:]
    along = np.stack([-normal[..., 1], normal[..., 0]], axis=-1)
    slope = friction[..., None] * along
    forces = (
        np.concatenate([normal + slope, normal - slope], axis=1)
        / np.hypot(1.0, np.tile(friction, 2))[..., None]
    )
    arms = np.tile(contacts[..., :2] - center[:, None], (1, 2, 1))
    moments = arms[..., 0] * forces[..., 1] - arms[..., 1] * forces[..., 0]
    wrenches = np.concatenate([forces, moments[..., None]], axis=-1)  # (n, 4, 3)
    found = np.zeros(len(contacts), np.bool_)
    for chosen in ([0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]):
        one, two, three = (wrenches[:, i] for i in chosen)
        # Cramer's rule for weights a, b, c with a one + b two + c three = (0, 1, 0).
        whole = np.einsum("ni,ni->n", one, np.cross(two, three))
        parts = (np.cross(two, three), np.cross(three, one), np.cross(one, two))
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.stack([part[:, 1] for part in parts]) / whole
        found |= np.isfinite(weights).all(axis=0) & (weights >= -_PULLING).all(axis=0)
    return found


class StepStatics:
    """Poses of a vehicle at rest at a step, and how they are connected.

    Attributes:
        friction: Coulomb coefficient of what is flat [-].
        edge_friction: Coefficient of the step's edge [-]: the same, or without bound between grousers.

    Args:
        vehicle: Vehicle with tracks on its body.
        friction: Coulomb coefficient [-]; None for that of the vehicle's first track.
        max_pitch: Largest pitch [rad].
        grid: Grid of poses; None for the default one.

    Raises:
        InvalidValueError: Its body has no tracks, flippers of one direction differ, or the friction is not
            positive and finite.
    """

    def __init__(
        self,
        vehicle: VehicleDescription,
        friction: float | None = None,
        max_pitch: float = MAX_PITCH,
        grid: StaticsGrid | None = None,
    ) -> None:
        """Take in the vehicle."""
        spec = next(vehicle.mounted_tracks()).spec
        self.friction = finite("friction", spec.contact.friction if friction is None else friction)
        if self.friction <= 0:
            raise InvalidValueError("friction", "above 0", self.friction)
        self.edge_friction = self.friction if spec.grousers is None else _HELD
        self._grid = grid = StaticsGrid() if grid is None else grid
        self._body, self._front, self._rear = _parts(vehicle)
        self._mass = sum(part.mass for part in (self._body, self._front, self._rear))
        counts = [len(part.discs) for part in (self._body, self._front, self._rear)]
        starts = np.cumsum([0, *counts]).tolist()
        # Discs alone, on the floor or on the step; then pairs, whose common tangent may lie on the edge.
        self._features = [(i, i) for i in range(starts[-1])]
        self._first_pair = len(self._features)
        for start, count in zip(starts, counts, strict=False):
            pairs = [(start + i, start + j) for i in range(count) for j in range(i)]
            self._features += pairs or ([(start, start)] if count else [])
        self._pitches: Floats = np.arange(_LEAST_PITCH, max_pitch, grid.pitch)
        reach = float(np.linalg.norm(self._discs(np.zeros(1), np.zeros(1))[0, :, :2], axis=1).max())
        reach += max(disc.tip for disc in self._body.discs) + 2 * grid.distance
        # Zero is on the grid.
        self._places: Floats = grid.distance * np.arange(
            -math.ceil(reach / grid.distance), 11, dtype=np.float64
        )

    def rest_poses(self, height: float) -> RestPoses:
        """Find the poses at rest at a step of a height [m], and connect them."""
        front, rear = (_angles(part.limits, self._grid.flipper) for part in (self._front, self._rear))
        found = [self._rest_at(height, i, angle, rear) for i, angle in enumerate(front.tolist())]
        cells, values, contacts = (np.concatenate(each) for each in zip(*found, strict=True))
        component = _connect(cells, values[:, 2], self._grid.turn)
        x, z, pitch = values.T
        return RestPoses(x, z, pitch, front[cells[:, 1]], rear[cells[:, 2]], contacts, component)

    def climbs(self, height: float) -> bool:
        """True if slow motion leads from flat ground up a step of a height [m]."""
        poses = self.rest_poses(height)
        on_floor = (poses.contacts[:, :, 1] < _TOUCHING) & (poses.contacts[:, :, 3] == 1.0)
        level = np.abs(poses.pitch) < self._grid.turn
        start = on_floor.all(axis=1) & level & (poses.x <= self._places[0] + _TOUCHING)
        # Beside the edge or the step, the floor carries only what the centre of mass lacks to the edge.
        at_edge = _at_edge(poses.contacts, height).any(axis=1)
        top = poses.contacts[:, :, 1] > height - 1e-6
        end = (top.all(axis=1) | (at_edge & on_floor.any(axis=1))) & (poses.x >= -_TOUCHING)
        return bool(np.isin(poses.component[end], poses.component[start]).any())

    def limit(self, tolerance: float, on_height: Callable[[], object] = lambda: None) -> float:
        """Find the greatest height that can be climbed [m], by bisection.

        Args:
            tolerance: Largest error of the bisection [m].
            on_height: Called after each height that is tried.
        """
        low, high = 0.0, self.highest
        while high - low > tolerance:
            middle = (low + high) / 2
            low, high = (middle, high) if self.climbs(middle) else (low, middle)
            on_height()
        return low

    @property
    def highest(self) -> float:
        """Height above any limit [m]: the vehicle's length with flippers stretched out."""
        discs = self._discs(np.zeros(1), np.zeros(1))[0]
        return float((discs[:, 0] + discs[:, 3]).max() - (discs[:, 0] - discs[:, 3]).min())

    def _discs(self, front: Floats, rear: Floats) -> Floats:
        """Discs (n, m, 4) about the centre of mass at pitch 0, for angles of the flippers (n,) [rad]."""
        rows, moment = list[Floats](), np.zeros((len(front), 2))
        for part, angle in ((self._body, np.zeros(len(front))), (self._front, front), (self._rear, rear)):
            cos, sin = np.cos(part.sign * angle), np.sin(part.sign * angle)

            def placed(
                x: float, z: float, part: _Part = part, cos: Floats = cos, sin: Floats = sin
            ) -> Floats:
                px, pz = part.pivot
                return np.stack([px + cos * x - sin * z, pz + sin * x + cos * z], axis=-1)

            moment += part.mass * placed(*part.center)
            for disc in part.discs:
                radii = np.tile([disc.face, disc.tip], (len(front), 1))
                rows.append(np.concatenate([placed(disc.x, disc.z), radii], axis=1))
        discs = np.stack(rows, axis=1)
        discs[..., :2] -= (moment / self._mass)[:, None]
        return discs

    def _demand(self, poses: _Poses, feature: int, height: float) -> Floats:
        """Least height of the centre of mass at which one feature touches nothing [m]; -inf for none."""
        i, j = self._features[feature]
        return _demand_of(
            poses, poses.discs[..., i, :], poses.discs[..., j, :], feature >= self._first_pair, height
        )

    def _rest_at(self, height: float, number: int, front: float, rear: Floats) -> tuple[Ints, Floats, Floats]:
        """Poses at rest with the front flippers at one angle.

        Args:
            height: Height of the step [m].
            number: Index of the front flippers' angle.
            front: Angle of the front flippers [rad].
            rear: Angles of the rear flippers [rad].

        Returns:
            Cells (n, 3) of the grid (x, front, rear); x, z, pitch (n, 3); contacts (n, 2, 4).
        """
        discs = self._discs(np.full(len(rear), front), rear)
        shape = (len(self._places), len(rear), len(self._pitches))
        grid = _Poses(self._places[:, None, None], self._pitches, discs[:, None])
        best, who = np.full(shape, -np.inf), np.zeros(shape, int)
        for feature in range(len(self._features)):
            demand = self._demand(grid, feature, height)
            above = demand > best + _TOUCHING
            best, who = np.where(above, demand, best), np.where(above, feature, who)
        found = []
        for axis in (0, 2):  # Between places at one pitch, and between pitches at one place.
            ahead = np.moveaxis(np.moveaxis(who, axis, 0)[1:], 0, axis)
            behind = np.moveaxis(np.moveaxis(who, axis, 0)[:-1], 0, axis)
            place, angle, step = np.nonzero(ahead != behind)
            cells = np.stack([place, np.full(len(place), number), angle], axis=1)
            start = np.stack([self._places[place], self._pitches[step]], axis=1)
            stride = np.array([self._grid.distance, 0.0] if axis == 0 else [0.0, self._grid.pitch])
            features = behind[place, angle, step], ahead[place, angle, step]
            found.append(self._solve(height, cells, discs[angle], start, stride, features))
        cells, values, contacts = (np.concatenate(each) for each in zip(*found, strict=True))
        return cells, values, contacts

    def _solve(
        self,
        height: float,
        cells: Ints,
        discs: Floats,
        start: Floats,
        stride: Floats,
        features: tuple[Ints, Ints],
    ) -> tuple[Ints, Floats, Floats]:
        """Find where between two poses of the grid both features touch, and keep what is at rest there.

        Args:
            height: Height of the step [m].
            cells: Cells of the grid (n, 3).
            discs: Discs (n, m, 4), as in `_Poses`.
            start: x and pitch of the first poses (n, 2).
            stride: What the second ones have more (2,).
            features: Feature that touches in the first ones, and in the second ones (n,).

        Returns:
            Cells (n, 3); x, z, pitch (n, 3); contacts (n, 2, 4).
        """
        pairs, every = np.array(self._features), np.arange(len(cells))
        one, two = ([discs[every, pairs[f, k]] for k in (0, 1)] for f in features)
        edges = [f >= self._first_pair for f in features]

        def demands_at(share: Floats) -> tuple[Floats, Floats]:
            x, pitch = (start + share[:, None] * stride).T
            poses = _Poses(x, pitch, discs)
            return (
                _demand_of(poses, one[0], one[1], edges[0], height),
                _demand_of(poses, two[0], two[1], edges[1], height),
            )

        below, above = np.zeros(len(cells)), np.ones(len(cells))
        for _ in range(32):
            middle = (below + above) / 2
            first, second = demands_at(middle)
            after = second > first
            below, above = np.where(after, below, middle), np.where(after, middle, above)
        # Of both ends that at which a jump has not come yet: a face is touched from before.
        at_below, at_above = demands_at(below), demands_at(above)
        lower = np.maximum(*at_below) <= np.maximum(*at_above)
        x, pitch = (start + np.where(lower, below, above)[:, None] * stride).T
        first, second = (np.where(lower, a, b) for a, b in zip(at_below, at_above, strict=True))
        z = np.maximum(first, second)
        poses = _Poses(x, pitch, discs)
        contacts = np.stack(
            [
                _contact_of(poses, z, one[0], one[1], edges[0], first, height),
                _contact_of(poses, z, two[0], two[1], edges[1], second, height),
            ],
            axis=1,
        )
        demands = np.stack([self._demand(poses, f, height) for f in range(len(self._features))])
        free = demands.max(axis=0) <= z + 1e-6
        apart = np.hypot(*(contacts[:, 0, :2] - contacts[:, 1, :2]).T) > _APART
        good = free & apart & np.isfinite(contacts).all(axis=(1, 2))
        at_edge = _at_edge(contacts, height)
        friction = np.where(at_edge, self.edge_friction, self.friction)
        good[good] &= balanced(contacts[good], np.stack([x, z], axis=1)[good], friction[good])
        return cells[good], np.stack([x, z, pitch], axis=1)[good], contacts[good]


def _at_edge(contacts: Floats, height: float) -> NDArray[np.bool_]:
    """Say which contacts (n, 2, 4) are at the edge of a step of a height [m]."""
    return np.asarray((np.abs(contacts[:, :, :2] - (0.0, height)) < 1e-6).all(axis=2))


def _turned(poses: _Poses, disc: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Place of a disc (..., 4) along x, its height over the centre of mass, and its radii [m]."""
    cos, sin = np.cos(poses.pitch), np.sin(poses.pitch)
    x, z = disc[..., 0], disc[..., 1]
    return poses.x + cos * x - sin * z, sin * x + cos * z, disc[..., 2], disc[..., 3]


def _tangent(one: tuple[Floats, ...], two: tuple[Floats, ...]) -> tuple[Floats, Floats, Floats]:
    """Lower common tangent of two discs: its unit normal (x, z) outwards, and its height at x = 0.

    The height is infinite where the tangent does not lie over x = 0, and where there is none below.
    """
    (xa, za, ra, _), (xb, zb, rb, _) = one, two
    dx, dz = xb - xa, zb - za
    length = np.hypot(dx, dz)
    side = np.where(dx < 0, -1.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # n (b - a) = ra - rb for the unit normal n of a line that touches both.
        lean = (ra - rb) / length
        across = np.sqrt(np.maximum(1.0 - lean**2, 0.0)) * side
        nx, nz = (lean * dx + across * dz) / length, (lean * dz - across * dx) / length
        touches = (np.abs(lean) < 1.0) & (nz < 0) & ((xa + ra * nx) * (xb + rb * nx) <= 0)
        height = np.where(touches, (nx * xa + nz * za + ra) / nz, np.inf)
    return nx, nz, height


def _lowest(disc: tuple[Floats, ...]) -> Floats:
    """Height of a disc's lower side at x = 0, between grousers [m]; infinite where it is not there."""
    x, z, face, tip = disc
    return np.where(np.abs(x) < tip, z - np.sqrt(np.maximum(face**2 - x**2, 0.0)), np.inf)


def _demand_of(
    poses: _Poses, first: Floats, second: Floats, edge: bool | NDArray[np.bool_], height: float
) -> Floats:
    """Least height of the centre of mass at which a feature touches nothing [m]; -inf for none.

    Args:
        poses: Poses.
        first: Disc (..., 3).
        second: The same for a disc alone, or the other one of a pair.
        edge: True for what touches the edge of the step, False for a disc on what is flat below it.
        height: Height of the step [m].
    """
    one = _turned(poses, first)
    if edge is False:
        return np.where(one[0] < 0, 0.0, height) + one[3] - one[1]
    two = _turned(poses, second)
    on_edge = height - np.minimum(np.minimum(_lowest(one), _lowest(two)), _tangent(one, two)[2])
    if edge is True:
        return on_edge
    return np.where(edge, on_edge, np.where(one[0] < 0, 0.0, height) + one[3] - one[1])


def _contact_of(
    poses: _Poses,
    z: Floats,
    first: Floats,
    second: Floats,
    edge: NDArray[np.bool_],
    demand: Floats,
    height: float,
) -> Floats:
    """Contact (n, 4) of a feature with the centre of mass at z [m]: x, z and normal; nan for none.

    A feature of the edge that demands less than z is about to meet the step's face with its foremost point.
    """
    one, two = _turned(poses, first), _turned(poses, second)
    zero = np.zeros(len(z))
    flat = np.stack([one[0], np.where(one[0] < 0, 0.0, height), zero, zero + 1.0], axis=1)
    nx, nz, line = _tangent(one, two)
    sides = np.stack([_lowest(one), _lowest(two), line])
    which = sides.argmin(axis=0)
    with np.errstate(invalid="ignore"):
        normals = np.stack(
            [
                np.choose(which, [one[0], two[0], -nx]),
                np.choose(which, [one[1] - sides[0], two[1] - sides[1], -nz]),
            ],
            axis=1,
        )
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    on_edge = np.concatenate([np.stack([zero, zero + height], axis=1), normals], axis=1)
    ahead = two[0] + two[3] > one[0] + one[3]
    foremost = z + np.where(ahead, two[1], one[1])
    face = np.stack([zero, foremost, zero - 1.0, zero], axis=1)
    face[(foremost > height) | (foremost < 0)] = np.nan
    touching = np.abs(np.maximum(demand, -_FAR) - z) < 1e-6
    return np.where(edge[:, None], np.where(touching[:, None], on_edge, face), flat)


def _angles(limits: tuple[float, float], spacing: float) -> Floats:
    """Angles of flippers [rad]: multiples of at most a spacing between their limits, with 0 if within."""
    low, high = limits
    if low >= 0 or high <= 0:
        return np.linspace(low, high, 1 + math.ceil((high - low) / spacing))
    below, above = (
        np.linspace(low, 0, 1 + math.ceil(-low / spacing)),
        np.linspace(0, high, 1 + math.ceil(high / spacing)),
    )
    return np.concatenate([below, above[1:]])


def _connect(cells: Ints, pitch: Floats, turn: float) -> Ints:
    """Number the connected components of poses.

    Args:
        cells: Cells of the grid (n, 3).
        pitch: Pitch of each pose (n,) [rad].
        turn: Largest difference in pitch of neighbours [rad].
    """
    size = cells.max(axis=0) + 2
    key = np.ravel_multi_index(tuple(cells.T), tuple(size))
    order = np.lexsort((pitch, key))
    key, pitch = key[order], pitch[order]
    first, second = [], []
    for stride in (0, 1, size[2], size[1] * size[2]):
        # Each pose beside all of its neighbour's cell.
        start, end = (np.searchsorted(key, key + stride, side) for side in ("left", "right"))
        for k in range(int((end - start).max(initial=0))):
            own = np.flatnonzero(start + k < end)
            other = start[own] + k
            near = np.abs(pitch[own] - pitch[other]) <= turn
            first.append(own[near])
            second.append(other[near])
    rows, columns = np.concatenate(first), np.concatenate(second)
    links = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(len(key), len(key)))
    _, component = connected_components(links, directed=False)
    numbers = np.empty(len(key), int)
    numbers[order] = component
    return numbers


def _parts(vehicle: VehicleDescription) -> tuple[_Part, _Part, _Part]:
    """Return body, front flippers and rear flippers; flippers that a vehicle lacks weigh nothing."""
    links, names = vehicle_links(vehicle), list(vehicle.flippers)
    discs: list[list[_Disc]] = [[] for _ in range(1 + len(names))]
    for track, link, frame in zip(
        vehicle.mounted_tracks(), links.track_links, links.track_frames, strict=True
    ):
        height = track.spec.grousers.height if track.spec.grousers is not None else 0.0
        for arc in track.spec.belt_path.segments:
            if link < len(discs) and isinstance(arc, Arc) and arc.turn > 0:
                x, _, z = frame.plane_points(np.atleast_2d(arc.center))[0].tolist()
                discs[link].append(_Disc(x, z, arc.radius, arc.radius + height))
    if not discs[0]:
        raise InvalidValueError(f"tracks of {vehicle.name}", "on its body, for statics", Phrase("none there"))
    still = [0, *range(1 + len(names), len(links.masses))]
    body = links.masses[0]
    for link in still[1:]:
        frame = links.frames[link]
        body = body + links.masses[link].transformed(frame.rotation, frame.origin)
    parts = [_Part(tuple(dict.fromkeys(discs[0])), body.mass, (float(body.center[0]), float(body.center[2])))]
    for sign, direction in ((1, "front"), (-1, "rear")):
        pair = _Part((), 0.0, (0.0, 0.0), sign=sign)
        for i, name in enumerate(names):
            if vehicle.flippers[name].tip_direction != direction:
                continue
            mass, pivot = links.masses[1 + i], links.frames[1 + i].origin
            one = _Part(
                tuple(dict.fromkeys(discs[1 + i])),
                mass.mass,
                (float(mass.center[0]), float(mass.center[2])),
                (float(pivot[0]), float(pivot[2])),
                sign,
                vehicle.flippers[name].limits,
            )
            if pair.mass and replace(one, mass=0.0) != replace(pair, mass=0.0):
                raise InvalidValueError(f"{direction} flippers of {vehicle.name}", "alike, for statics", name)
            pair = replace(one, mass=pair.mass + one.mass)
        parts.append(pair)
    body_part, front, rear = parts
    return body_part, front, rear
