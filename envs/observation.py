"""Parts of observations: labels, units, limits, and functions that read them.

The body frame has x forward, y to the left, z up. The heading frame has the body frame's
origin and the world's z axis, and is turned so that x points where the body heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, vehicle_links
from segtrack.description.joints import JointDesign
from segtrack.envs.parameters import Parameter, WordChoice
from segtrack.envs.view import TaskView, listing_names
from segtrack.errors import InvalidValueError, UnknownNameError, finite
from segtrack.geometry import GRAVITY


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
        as_map: True for entries of shape (rows, columns) in an observation by names, for convolutions.
    """

    x_min: float = -0.7
    x_max: float = 1.1
    rows: int = 18
    half_width: float = 0.3
    columns: int = 3
    samples: tuple[int, int] = (4, 2)
    as_map: bool = False

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
        if not isinstance(self.as_map, bool):
            raise InvalidValueError("scan.as_map", "True or False", self.as_map)

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
        parameters: Parameters of the task and of the robot, by name.
    """

    vehicle: VehicleDescription
    actions: tuple[str, ...]
    scan: Scan
    cells: NDArray[np.float64]
    sides: tuple[NDArray[np.intp], NDArray[np.intp]]
    counts: tuple[int, int]
    joints: NDArray[np.intp]
    parameters: Mapping[str, Parameter]

    @classmethod
    def of(
        cls,
        vehicle: VehicleDescription,
        actions: Sequence[str],
        scan: Scan,
        parameters: Mapping[str, Parameter],
    ) -> ObservationSetup:
        """Make the setup for a vehicle, its action's entries, a scan, and the parameters of episodes."""
        sides = [track.side for track in vehicle.mounted_tracks()]
        left, right = (np.flatnonzero(np.array(sides) == side) for side in ("left", "right"))
        counts = max(len(left), 1), max(len(right), 1)
        points = scan.points()
        cells = points.reshape(-1, points.shape[2], 2)
        joints = np.flatnonzero([joint.servo is not None for joint in vehicle.joint_tree.joints])
        return cls(vehicle, tuple(actions), scan, cells, (left, right), counts, joints, parameters)

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
        shape: Function of the setup that returns the shape of the entries in an observation by names; (n,) if
            not given.
    """

    unit: str
    frame: str
    labels: Labels | Callable[[ObservationSetup], Labels]
    limits: Limits | Callable[[ObservationSetup], Limits]
    read: Callable[[TaskView, ObservationSetup], NDArray[np.floating]]
    measured: bool = True
    shape: Callable[[ObservationSetup], tuple[int, ...]] | None = None


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
            shape=lambda own: (
                (own.scan.rows, own.scan.columns) if own.scan.as_map else (own.scan.rows * own.scan.columns,)
            ),
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


def _track_names(setup: ObservationSetup) -> list[str]:
    return [track.name for track in setup.vehicle.mounted_tracks()]


def _load_limits(setup: ObservationSetup, count: int) -> list[tuple[float, float]]:
    return [(0.0, 3 * vehicle_links(setup.vehicle).mass * GRAVITY)] * count


def _track_load_limits(setup: ObservationSetup) -> list[tuple[float, float]]:
    return _load_limits(setup, len(_track_names(setup)))


def _body_load_limits(setup: ObservationSetup) -> list[tuple[float, float]]:
    return _load_limits(setup, 1)


def _read_specific_force(s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    return s.specific_force


def _read_track_loads(s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    return s.track_loads


def _read_body_load(s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    return s.body_load[:, None]


def _read_track_slips(s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    return s.track_slips


def _read_time(s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    return s.time[:, None]


# Functions with names, so that environments with these can be pickled.
EXTRA_PARTS: Mapping[str, ObservationPart] = MappingProxyType(
    {
        "specific_force": ObservationPart("m/s^2", "body", _AXES, 50.0, _read_specific_force),
        "track_load": ObservationPart("N", "ground", _track_names, _track_load_limits, _read_track_loads),
        "body_load": ObservationPart("N", "ground", ("sum",), _body_load_limits, _read_body_load),
        "track_slip": ObservationPart("-", "track", _track_names, 1.0, _read_track_slips),
        "time": ObservationPart("s", "-", ("since start",), [(0.0, 100.0)], _read_time, measured=False),
    }
)
"""Parts by name that no observation has by itself: `parts={"imu": EXTRA_PARTS["specific_force"]}` adds it."""


def _centers(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Return the centres of `count` equal parts of a range."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def parameter_part(*names: str) -> ObservationPart:
    """Make a part of parameters of the episode, which a real robot does not know.

    A number is one entry, a choice of words an entry for each word, 1 for the one that holds.

    Args:
        *names: Names of the parameters, of task or robot.
    """
    return ObservationPart(
        "as the parameter's",
        "-",
        partial(_parameter_labels, names),
        partial(_parameter_limits, names),
        partial(_read_parameters, names),
        measured=False,
    )


def _chosen_parameters(names: tuple[str, ...], setup: ObservationSetup) -> list[tuple[str, Parameter]]:
    """Parameters by their names.

    Raises:
        UnknownNameError: No such parameter.
    """
    for name in names:
        if name not in setup.parameters:
            raise UnknownNameError("parameter", name, setup.parameters)
    return [(name, setup.parameters[name]) for name in names]


def _parameter_labels(names: tuple[str, ...], setup: ObservationSetup) -> list[str]:
    labels = []
    for name, each in _chosen_parameters(names, setup):
        labels += [f"{name}={word}" for word in each.options] if isinstance(each, WordChoice) else [name]
    return labels


def _parameter_limits(names: tuple[str, ...], setup: ObservationSetup) -> list[tuple[float, float]]:
    limits: list[tuple[float, float]] = []
    for _, each in _chosen_parameters(names, setup):
        limits += (
            [(0.0, 1.0)] * len(each.options) if isinstance(each, WordChoice) else [(each.low, each.high)]
        )
    return limits


def _read_parameters(names: tuple[str, ...], s: TaskView, own: ObservationSetup) -> NDArray[np.float64]:
    columns = []
    for name, each in _chosen_parameters(names, own):
        values = s.parameter(name)
        columns += [values == word for word in each.options] if isinstance(each, WordChoice) else [values]
    return np.array(columns, dtype=float).T
