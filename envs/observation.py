"""Observations: parts with labels, units, limits and functions, read with noise within their limits.

The body frame has x forward, y to the left, z up. The heading frame has the body frame's
origin and the world's z axis, and is turned so that x points where the body heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.description.joints import JointDesign
from segtrack.envs.own_rows import merge_rows, pickled_rows, rows_to_pickle
from segtrack.envs.view import TaskView, listing_names
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite


@dataclass(frozen=True)
class Scan:
    """Grid of the height scan, in the heading frame.

    Each cell's entry is the mean of the ground's height over its samples, less the height of the
    body frame's origin.

    Attributes:
        x_min: Rear end along x, negative behind the body frame [m].
        x_max: Front end along x [m].
        rows: Number of cells along x.
        half_width: Extent to either side along y [m].
        columns: Number of cells along y.
        samples: Number of sample points along x and y in each cell.
    """

    x_min: float = -0.7
    x_max: float = 1.1
    rows: int = 18
    half_width: float = 0.3
    columns: int = 3
    samples: tuple[int, int] = (4, 2)

    def __post_init__(self) -> None:
        """Check that the numbers make a grid."""
        if not finite("scan.x_min [m]", self.x_min) < finite("scan.x_max [m]", self.x_max):
            raise InvalidValueError("scan.x_max [m]", f"above x_min of {self.x_min:g}", self.x_max)
        if finite("scan.half_width [m]", self.half_width) <= 0:
            raise InvalidValueError("scan.half_width [m]", "greater than 0", self.half_width)
        if not isinstance(self.samples, Sequence) or len(self.samples) != 2:
            raise InvalidValueError("scan.samples", "two counts, along x and along y", self.samples)
        counts = {"rows": self.rows, "columns": self.columns}
        counts |= dict(zip(("samples[0]", "samples[1]"), self.samples, strict=True))
        for name, count in counts.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise InvalidValueError(f"scan.{name}", "a whole number of at least 1", count)

    def points(self) -> NDArray[np.float64]:
        """Return the sample points in the heading frame (rows, columns, points of a cell, 2) [m]."""
        nx, ny = self.samples
        x = _centers(self.x_min, self.x_max, self.rows * nx).reshape(self.rows, 1, nx, 1)
        y = _centers(-self.half_width, self.half_width, self.columns * ny).reshape(1, self.columns, 1, ny)
        grid = np.stack(np.broadcast_arrays(x, y), axis=-1)
        return np.asarray(grid.reshape(self.rows, self.columns, nx * ny, 2))


@listing_names
class ObservationSetup(NamedTuple):
    """Vehicle, actions and height scan, shared by all observations of an environment.

    Attributes:
        vehicle: Vehicle to observe.
        actions: Names of the action's entries.
        scan: Grid of the height scan.
        cells: Points of the scan's cells in the heading frame (c, m, 2) [m].
        sides: Indices of the left and of the right tracks, in the vehicle file's order.
        counts: Numbers of the left and of the right tracks, at least 1.
        joints: Indices of the joints with servos, in the vehicle file's order.
    """

    vehicle: VehicleDescription
    actions: tuple[str, ...]
    scan: Scan
    cells: NDArray[np.float64]
    sides: tuple[NDArray[np.intp], NDArray[np.intp]]
    counts: tuple[int, int]
    joints: NDArray[np.intp]

    @classmethod
    def of(cls, vehicle: VehicleDescription, actions: Sequence[str], scan: Scan) -> ObservationSetup:
        """Make the setup for a vehicle, its action's entries and a scan."""
        sides = [track.side for track in vehicle.mounted_tracks()]
        left, right = (np.flatnonzero(np.array(sides) == side) for side in ("left", "right"))
        counts = max(len(left), 1), max(len(right), 1)
        points = scan.points()
        cells = points.reshape(-1, points.shape[2], 2)
        joints = np.flatnonzero([joint.servo is not None for joint in vehicle.joint_tree.joints])
        return cls(vehicle, tuple(actions), scan, cells, (left, right), counts, joints)

    @property
    def servo_joints(self) -> list[JointDesign]:
        """Joints of the vehicle file with servos."""
        return [self.vehicle.joint_tree.joints[j] for j in self.joints]


Labels = Sequence[str]
Limits = float | Sequence[tuple[float, float]]


class ObservationPart(NamedTuple):
    """Part of an observation: its entries, and the function that reads them.

    Attributes:
        unit: SI unit of the entries.
        frame: Frame in which the entries are given.
        labels: Labels of the entries (n), or a function of the setup that returns them; a part without
            entries is left out.
        limits: Largest magnitude of all entries, or (low, high) of each, or a function of the setup that
            returns them.
        read: Function of the view of N robots and the setup that returns the entries (N, n).
        measured: True if sensor noise is added.
    """

    unit: str
    frame: str
    labels: Labels | Callable[[ObservationSetup], Labels]
    limits: Limits | Callable[[ObservationSetup], Limits]
    read: Callable[[TaskView, ObservationSetup], NDArray[np.floating]]
    measured: bool = True


def _read_heights(s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    return s.cell_heights(own.cells) - s.motion.position[:, 2:]


def _sum_sides(values: NDArray[np.float64], own: ObservationSetup) -> NDArray[np.float64]:
    """Return the sums (N, 2) of values (N, T) over the left and over the right tracks."""
    left, right = own.sides
    return np.array([np.add.reduce(values.take(side, axis=1), axis=1) for side in (left, right)]).T


def _top_speed(setup: ObservationSetup) -> float:
    return max(track.spec.drive.top_speed for track in setup.vehicle.mounted_tracks())


def _strongest_side(setup: ObservationSetup) -> float:
    """Total stall force of the stronger side's drives [N]."""
    forces = [track.spec.drive.stall_force for track in setup.vehicle.mounted_tracks()]
    return max(sum(forces[i] for i in side) for side in setup.sides)


def _joint_range(joint: JointDesign) -> tuple[float, float]:
    """Observed range of a joint's position, one turn without a limit [rad or m]."""
    low, high = joint.limits
    return (low - 0.1 if math.isfinite(low) else -math.tau, high + 0.1 if math.isfinite(high) else math.tau)


def _joint_speeds(joint: JointDesign) -> tuple[float, float]:
    """Observed range of the speed of a joint with a servo [rad/s or m/s]."""
    assert joint.servo is not None
    return -2 * joint.servo.max_speed, 2 * joint.servo.max_speed


_AXES = ("x", "y", "z")
_SIDES = ("left", "right")
PARTS: Mapping[str, ObservationPart] = MappingProxyType(
    {
        "height_scan": ObservationPart(
            "m",
            "heading",
            lambda own: [f"x{i}y{j}" for i in range(own.scan.rows) for j in range(own.scan.columns)],
            1.0,
            _read_heights,
        ),
        "attitude": ObservationPart(
            "rad",
            "world",
            ("roll", "pitch"),
            [(-math.pi, math.pi), (-math.pi / 2, math.pi / 2)],
            lambda s, own: np.array([s.roll, s.pitch]).T,
        ),
        "angular_velocity": ObservationPart(
            "rad/s",
            "body",
            _AXES,
            5.0,
            lambda s, own: s.in_body(s.motion.angular_velocity),
        ),
        "velocity": ObservationPart("m/s", "body", _AXES, 2.0, lambda s, own: s.in_body(s.motion.velocity)),
        "belt_speed": ObservationPart(
            "m/s",
            "track",
            _SIDES,
            lambda own: 2 * _top_speed(own),
            lambda s, own: _sum_sides(s.motion.belt_speeds, own) / own.counts,  # Means.
        ),
        "belt_force": ObservationPart(
            "N",
            "track",
            _SIDES,
            _strongest_side,
            lambda s, own: _sum_sides(s.motion.belt_forces, own),
        ),
        "flipper_angle": ObservationPart(
            "rad",
            "body",
            lambda own: tuple(own.vehicle.flippers),
            lambda own: [(f.limits[0] - 0.1, f.limits[1] + 0.1) for f in own.vehicle.flippers.values()],
            lambda s, own: s.motion.flipper_angles,
        ),
        "flipper_speed": ObservationPart(
            "rad/s",
            "body",
            lambda own: tuple(own.vehicle.flippers),
            lambda own: [(-2 * f.max_speed, 2 * f.max_speed) for f in own.vehicle.flippers.values()],
            lambda s, own: s.motion.flipper_speeds,
        ),
        "joint_position": ObservationPart(
            "rad, m",
            "joint",
            lambda own: [joint.name for joint in own.servo_joints],
            lambda own: [_joint_range(joint) for joint in own.servo_joints],
            lambda s, own: s.motion.joint_positions.take(own.joints, axis=1),
        ),
        "joint_speed": ObservationPart(
            "rad/s, m/s",
            "joint",
            lambda own: [joint.name for joint in own.servo_joints],
            lambda own: [_joint_speeds(joint) for joint in own.servo_joints],
            lambda s, own: s.motion.joint_speeds.take(own.joints, axis=1),
        ),
        "last_action": ObservationPart(
            "-", "-", lambda own: own.actions, 1.0, lambda s, own: s.action, measured=False
        ),
        "next_point": ObservationPart(
            "m",
            "heading",
            _AXES[:2],
            2.0,
            lambda s, own: s.in_heading(s.next_point - s.motion.position[:, :2]),
        ),
        "to_go": ObservationPart(
            "m",
            "path",
            ("length",),
            [(0.0, 10.0)],
            lambda s, own: (s.path_length - s.progress)[:, None],
        ),
        "path_error": ObservationPart(
            "m, rad",
            "path",
            ("lateral", "heading"),
            [(-2.0, 2.0), (-math.pi, math.pi)],
            lambda s, own: np.array([s.lateral, s.heading_error]).T,
        ),
    }
)
"""Parts that are built in, by name, in the order of a flat observation; those of tasks and users follow."""


def _centers(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Return the centres of `count` equal parts of a range."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


ObservationKind = Literal["flat", "dict"]
_KINDS = ("flat", "dict")


class Entries(NamedTuple):
    """Entries of one observation part in an environment.

    Attributes:
        name: Key in a dict observation.
        labels: Labels of the entries.
        unit: SI unit of the entries.
        low: Smallest value of each entry (n,).
        high: Largest value of each entry (n,).
        frame: Frame in which the entries are given.
    """

    name: str
    labels: tuple[str, ...]
    unit: str
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    frame: str


class Sensors:
    """Sensors that turn the view of N robots into observations.

    Attributes:
        parts: Parts of the observation, in order.
        space: Space of the observations.
    """

    def __init__(
        self,
        vehicle: VehicleDescription,
        actions: Sequence[str],
        scan: Scan,
        kind: ObservationKind,
        *own: Mapping[str, ObservationPart | None],
    ) -> None:
        """Choose the observation's entries for a vehicle.

        Args:
            vehicle: Vehicle to observe.
            actions: Names of the action's entries.
            scan: Grid of the height scan.
            kind: `flat` for one box, `dict` for named parts.
            *own: Parts by name, added to `PARTS` or in place of them; None leaves one out.

        Raises:
            UnknownNameError: No such kind, or no part to leave out.
            InvalidValueError: A part that is none, or whose labels or limits are none.
        """
        if kind not in _KINDS:
            raise UnknownNameError("kind of observation", kind, _KINDS)
        self._flat, self._setup = kind == "flat", ObservationSetup.of(vehicle, actions, scan)
        self._rows = merge_rows("observation part", ObservationPart, "read", PARTS, *own)
        entries = (_entries(name, row, self._setup) for name, row in self._rows.items())
        self.parts = tuple(part for part in entries if part.labels)
        if not self.parts:
            raise InvalidValueError("observation parts", "at least one with entries", Phrase("none"))
        self._low = np.concatenate([part.low for part in self.parts]).astype(np.float32)
        self._high = np.concatenate([part.high for part in self.parts]).astype(np.float32)
        measured = np.repeat(
            [self._rows[part.name].measured for part in self.parts],
            [len(part.labels) for part in self.parts],
        )
        self._half = np.where(measured, (self._high - self._low) / 2, 0.0)
        self._ends = np.cumsum([len(part.labels) for part in self.parts]).tolist()
        box = spaces.Box(self._low, self._high, dtype=np.float32)
        low, high = np.split(self._low, self._ends[:-1]), np.split(self._high, self._ends[:-1])
        named: dict[str, spaces.Space[Any]] = {
            part.name: spaces.Box(least, most, dtype=np.float32)
            for part, least, most in zip(self.parts, low, high, strict=True)
        }
        self.space: spaces.Space[Any] = box if self._flat else spaces.Dict(named)

    @property
    def limits(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Smallest and largest value of each entry (n,)."""
        return self._low, self._high

    @property
    def entries(self) -> tuple[str, ...]:
        """Labels of all entries."""
        return tuple(f"{part.name}.{label}" for part in self.parts for label in part.labels)

    def read(
        self,
        view: TaskView,
        noises: NDArray[np.float64] | None = None,
        rngs: Sequence[np.random.Generator] = (),
    ) -> NDArray[np.float64]:
        """Read all entries of N robots (N, n), with noise but not clipped.

        Args:
            view: View of the robots.
            noises: Standard deviation of the normal noise on measured entries, over half an entry's range,
                of each robot (N,); without noise by default.
            rngs: Random generator of each robot's noise (N,); not needed without noise.

        Raises:
            InvalidValueError: A part that does not give its entries for each robot.
        """
        rows, parts, setup, (count,) = [], self._rows, self._setup, view.yaw.shape
        for part in self.parts:
            read = np.asarray(parts[part.name].read(view, setup))
            if read.shape != (count, len(part.labels)) or read.dtype.kind not in "fiub":
                expected = f"numbers of shape {(count, len(part.labels))}, a row a robot"
                got = Phrase(f"{read.dtype} of shape {read.shape}")
                raise InvalidValueError(f"observation part {part.name}", expected, got)
            rows.append(read)
        entries = np.concatenate(rows, axis=1, dtype=float)
        if noises is not None:
            for i in np.flatnonzero(noises).tolist():
                entries[i] += noises[i] * self._half * rngs[i].standard_normal(entries.shape[1])
        return entries

    def clip(self, entries: NDArray[np.floating]) -> NDArray[np.float32]:
        """Clip all entries (..., n) to their ranges."""
        flat = entries.astype(np.float32)
        return flat.clip(self._low, self._high, out=flat)

    def form(self, entries: NDArray[np.float32]) -> Any:
        """Form observations of the space from all entries (..., n), already clipped."""
        flat = entries.copy()
        if self._flat:
            return flat
        split = np.split(flat, self._ends[:-1], axis=-1)
        return {part.name: values for part, values in zip(self.parts, split, strict=True)}

    def flat(self, observation: Any) -> NDArray[np.float32]:
        """Flatten observations to all entries (..., n)."""
        if self._flat:
            return np.asarray(observation)
        return np.concatenate([observation[part.name] for part in self.parts], axis=-1)

    def part(self, observation: Any, name: str) -> NDArray[np.float32]:
        """Return a named part (..., n) of observations, flat or dict.

        Raises:
            UnknownNameError: There is no such part.
            InvalidValueError: Not observations of this environment.
        """
        names = [part.name for part in self.parts]
        if name not in names:
            raise UnknownNameError("observation part", name, names)
        if not self._flat:
            if not isinstance(observation, Mapping) or name not in observation:
                raise InvalidValueError("observation", f"by name, with {name}", observation)
            return np.asarray(observation[name])
        i, entries = names.index(name), np.asarray(observation)
        if entries.shape[-1:] != (self._ends[-1],):
            expected = f"of {self._ends[-1]} entries"
            raise InvalidValueError("observation", expected, Phrase(f"shape {entries.shape}"))
        return entries[..., self._ends[i] - len(self.parts[i].labels) : self._ends[i]]

    def table(self) -> str:
        """Return the entries as a Markdown table."""
        lines = ["| part | entries | unit | range | frame |", "|---|---|---|---|---|"]
        for part in self.parts:
            ranges = dict.fromkeys(
                f"{low:.4g} to {high:.4g}" for low, high in zip(part.low, part.high, strict=True)
            )
            labels = ", ".join(part.labels) if len(part.labels) <= 8 else f"{len(part.labels)} cells"
            lines.append(f"| {part.name} | {labels} | {part.unit} | {'; '.join(ranges)} | {part.frame} |")
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy, with built-in parts by name."""
        return vars(self) | {"_rows": rows_to_pickle(self._rows, PARTS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy."""
        self.__dict__ |= state | {"_rows": pickled_rows(state["_rows"], PARTS)}


def _entries(name: str, row: ObservationPart, setup: ObservationSetup) -> Entries:
    """Determine a part's entries and limits for a setup.

    Raises:
        InvalidValueError: Labels that are no words, or limits that do not bound as many entries.
    """
    labels = row.labels(setup) if callable(row.labels) else row.labels
    words = isinstance(labels, Sequence) and not isinstance(labels, str)
    if not words or not all(isinstance(label, str) for label in labels) or len(set(labels)) < len(labels):
        raise InvalidValueError(f"labels of observation part {name}", "a word for each entry", labels)
    limits: Any = row.limits(setup) if callable(row.limits) else row.limits
    given = [(-limits, limits)] * len(labels) if isinstance(limits, int | float) else limits
    try:
        bounds = np.array(given, dtype=float).reshape(-1, 2)
    except (TypeError, ValueError):  # Ragged, or no numbers.
        bounds = np.full((1, 2), np.nan)
    if len(bounds) != len(labels) or not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
        expected = f"a size, or (low, high) of each of {len(labels)} entries"
        raise InvalidValueError(f"limits of observation part {name}", expected, limits)
    low, high = bounds.T
    return Entries(name, tuple(labels), row.unit, low, high, row.frame)
