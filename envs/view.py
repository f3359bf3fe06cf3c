"""View of N robots at their tasks: the data for observations, rewards and outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.geometry import rotated
from segtrack.kernels import slice_of
from segtrack.robot import Robot, attitudes_of
from segtrack.terrain import array_of_numbers

if TYPE_CHECKING:
    from segtrack.batch import Batch  # With numba, which takes half a second to import.
    from segtrack.envs.task import EpisodeCourse

LOOK_AHEAD = 0.5
"""The next point to drive to lies this far on along the path [m]."""
Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class GroundSampler(Protocol):
    """Interface to sample the terrain heights below N robots."""

    def height(self, x: Array, y: Array, robots: Rows, /) -> Array:
        """Terrain heights of some robots (n,) at world x and y (n, k) [m]."""

    def cell_heights(self, places: Array, headings: Array, cells: Array, robots: Rows, /) -> Array:
        """Mean terrain heights (n, c) [m] in the cells of grids, see `segtrack.Batch.cell_heights`."""


class CourseGrounds(NamedTuple):
    """Terrain heights from the robots' courses, sampled one by one.

    Attributes:
        courses: Terrain and path of each robot (N,).
    """

    courses: Sequence[EpisodeCourse]

    def height(self, x: Array, y: Array, robots: Rows) -> Array:
        """Terrain heights (n, k) [m], see `GroundSampler`.

        Raises:
            InvalidValueError: Not a row of points for each of them.
        """
        if not np.shape(x)[:1] == np.shape(y)[:1] == robots.shape:
            expected = f"x and y of one shape ({len(robots)}, ...)"
            raise InvalidValueError("points [m]", expected, Phrase(f"{np.shape(x)} and {np.shape(y)}"))
        rows = zip(robots.tolist(), x, y, strict=True)
        return np.stack([self.courses[i].terrain.height_at(*points) for i, *points in rows])

    def cell_heights(self, places: Array, headings: Array, cells: Array, robots: Rows) -> Array:
        """Mean terrain heights (n, c) [m], see `GroundSampler`; bit for bit as from a batch."""
        (x, y), (ahead, left) = places.T[..., None], cells.reshape(-1, 2).T
        cosine, sine = np.cos(headings)[:, None], np.sin(headings)[:, None]
        heights = self.height(cosine * ahead - sine * left + x, sine * ahead + cosine * left + y, robots)
        count, each, _ = cells.shape
        return sum(heights.reshape(-1, count, each).transpose(2, 0, 1)) / each


class RobotHeights(NamedTuple):
    """Function of terrain heights below some robots, which can be copied and pickled.

    Attributes:
        grounds: Sampler of all robots' terrain.
        robots: Indices of the robots (n,).
    """

    grounds: GroundSampler
    robots: Rows

    def __call__(self, x: Array, y: Array) -> Array:
        """Heights (n, k) [m] under points at world x and y (n, k) [m]."""
        return self.grounds.height(x, y, self.robots)


class RobotReader(Protocol):
    """Interface to read what an engine tells of robots only if it is asked."""

    def loads(self, robots: Rows, /) -> Array:
        """Normal forces of each track and of all else of robots (n, T + 1) [N]."""

    def slips(self, robots: Rows, /) -> Array:
        """Longitudinal slip of each track of robots (n, T) [-]."""


class Readings:
    """Cache of what an engine tells of robots now: read once, until it is cleared.

    Attributes:
        known: Readings so far, by name and robots; to be cleared when time has gone on.
    """

    def __init__(self, reader: RobotReader) -> None:
        """Read from an engine's world."""
        self._reader, self.known = reader, dict[tuple[str, bytes], Array]()

    def read(self, what: Literal["loads", "slips"], robots: Rows) -> Array:
        """Return a reading of some robots (n, ...), see `RobotReader`, read-only."""
        key = what, robots.tobytes()
        if key not in self.known:
            read = getattr(self._reader, what)(robots)
            read.setflags(write=False)
            self.known[key] = read
        return self.known[key]


class RobotReadings(NamedTuple):
    """Readings of some robots, which can be copied and pickled.

    Attributes:
        readings: Readings of all robots.
        robots: Indices of the robots (n,).
    """

    readings: Readings
    robots: Rows

    def __call__(self, what: Literal["loads", "slips"]) -> Array:
        """Return a reading (n, ...)."""
        return self.readings.read(what, self.robots)


def _other_shape(what: str, shape: str, given: Any) -> InvalidValueError:
    got = getattr(given, "shape", None)
    return InvalidValueError(
        what, f"numbers of shape {shape}", given if got is None else Phrase(f"shape {got}")
    )


View = TypeVar("View")


class UnknownAttributeError(UnknownNameError, AttributeError):  # type: ignore[misc]  # Both have a name.
    """Raised for an attribute that an object does not have."""


def listing_names(kind: type[View]) -> type[View]:
    """Class decorator: an unknown attribute raises an error that lists the known ones."""
    fields = kind._fields  # type: ignore[attr-defined]
    names = (*fields, *(name for name in vars(kind) if name not in fields and not name.startswith("_")))

    def refuse(self: object, name: str) -> NoReturn:
        raise UnknownAttributeError(f"attribute of {kind.__name__}", name, names)

    setattr(kind, "__getattr__", refuse)  # noqa: B010
    return kind


@listing_names
class RobotMotions(NamedTuple):
    """Motions of N robots, read from any engine.

    Attributes:
        position: Positions of the body frames in the world (N, 3) [m].
        orientation: Rotations from the body frames to the world, quaternions (x, y, z, w) (N, 4).
        rotation: Rotations from the body frames to the world (N, 3, 3).
        velocity: Velocities of the bodies' centres of mass in the world (N, 3) [m/s].
        angular_velocity: Angular velocities of the bodies in the world (N, 3) [rad/s].
        belt_travels: Belt travels since the start (N, T) [m].
        belt_speeds: Belt speeds, forward positive (N, T) [m/s].
        belt_forces: Drive forces along the belts' travel (N, T) [N].
        belt_energies: Work of the drives since the start (N, T) [J].
        flipper_angles: Flipper angles, tip up positive (N, F) [rad].
        flipper_speeds: Flipper speeds, raising positive (N, F) [rad/s].
        flipper_torques: Motor torques, raising positive (N, F) [N m].
        joint_positions: Positions of the vehicle file's joints, in its order (N, J) [rad or m].
        joint_speeds: Speeds of these joints (N, J) [rad/s or m/s].
        joint_forces: Servo torques or forces of these joints in the last step (N, J) [N m or N].
    """

    position: Array
    orientation: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    belt_travels: Array
    belt_speeds: Array
    belt_forces: Array
    belt_energies: Array
    flipper_angles: Array
    flipper_speeds: Array
    flipper_torques: Array
    joint_positions: Array
    joint_speeds: Array
    joint_forces: Array

    @classmethod
    def of_robot(cls, robot: Robot) -> RobotMotions:
        """Read a robot of a world (N = 1)."""
        body = robot.body_motion()
        pose = body.position, np.array(body.orientation), body.rotation
        read = *pose, body.velocity, body.angular_velocity, *robot.read_actuators()
        return cls(*(array[None] for array in read))

    @classmethod
    def of_batch(cls, batch: Batch, chosen: NDArray[np.intp]) -> RobotMotions:
        """Read vehicles of a batch, by their indices (n,)."""
        state = batch.read_state(chosen)
        pose = state.position, state.orientation, state.rotation
        return cls(*pose, state.velocity, state.angular_velocity, *batch.read_actuators(chosen))


@listing_names
class TaskView(NamedTuple):
    """State of N robots at their tasks after a control step, without noise or limits.

    Parts of observations, terms of rewards and outcomes of tasks are functions of it that give a row for each
    robot. In a single environment N is 1. Its arrays are read-only.

    Attributes:
        motion: Poses and velocities, belts and flippers.
        roll: Roll about the bodies' x axes (N,) [rad].
        pitch: Elevation of the bodies' x axes, nose up positive (N,) [rad].
        yaw: Heading about the world's z axis (N,) [rad].
        progress: Path length up to the point nearest to the robot (N,) [m].
        lateral: Signed distance from the path, left positive (N,) [m].
        path_heading: Heading of the path at that point, about the world's z axis (N,) [rad].
        path_length: Length of the whole path (N,) [m].
        next_point: World x and y of the path's point `LOOK_AHEAD` further on (N, 2) [m].
        heading_error: Angle by which the body must turn left to head along the path (N,) [rad].
        action: Latest action as given (N, A), in [-1, 1].
        last_action: Action before that (N, A), in [-1, 1].
        work: Work of the belt drives in this step, without regenerated work (N,) [J].
        gained: Progress along the path in this step (N,) [m].
        time: Time since the episode's start, with `initial_time` (N,) [s].
        acceleration: Mean acceleration of the bodies' centres of mass in this step, in the world (N, 3)
            [m/s^2]; 0 at the start.
        outcome: Outcome by the task's rules (N,), see `segtrack.envs.task.Outcome`.
        period: Length of a control step [s].
        height: Function from world x and y (N, k) [m] to terrain heights of each robot (N, k) [m]; see
            `cell_heights`.
        parameter: Function from a parameter's name to its value in each robot's episode (N,).
        readings: Function that reads more from the engine; see `track_loads`, `body_load` and `track_slips`.
        memory: Function from the name of a `Memory` of task or environment to its values (N, k).
    """

    motion: RobotMotions
    roll: Array
    pitch: Array
    yaw: Array
    progress: Array
    lateral: Array
    path_heading: Array
    path_length: Array
    next_point: Array
    heading_error: Array
    action: NDArray[np.float32]
    last_action: NDArray[np.float32]
    work: Array
    gained: Array
    time: Array
    acceleration: Array
    outcome: NDArray[np.str_]
    period: float
    height: RobotHeights
    parameter: Callable[[str], NDArray[Any]]
    readings: RobotReadings
    memory: Callable[[str], NDArray[Any]]

    @property
    def track_loads(self) -> Array:
        """Sums of the normal forces on each track (N, T) [N].

        Raises:
            NotReadyError: Not the native engine's track models `compliant` or `surface`.
        """
        return self.readings("loads")[:, :-1]

    @property
    def body_load(self) -> Array:
        """Sums of the normal forces on body and flippers besides their tracks (N,) [N].

        Raises:
            NotReadyError: Not the native engine's track models `compliant` or `surface`.
        """
        return self.readings("loads")[:, -1]

    @property
    def track_slips(self) -> Array:
        """Longitudinal slip of each track (N, T) [-], see `segtrack.robot.Track.slip`."""
        return self.readings("slips")

    @property
    def specific_force(self) -> Array:
        """Acceleration less gravity, which accelerometers measure, in the body frames (N, 3) [m/s^2].

        It is the mean over the step, at the centres of mass of the bodies: at rest g upwards, in free fall 0.
        """
        felt = self.acceleration.copy()
        felt[:, 2] += self.parameter("gravity")
        return self.in_body(felt)

    @property
    def up(self) -> Array:
        """World z components of the bodies' z axes (N,) [-]."""
        return self.motion.rotation[:, 2, 2]

    @property
    def forward(self) -> Array:
        """Bodies' x axes in the world (N, 3)."""
        return self.motion.rotation[:, :, 0]

    def in_body(self, vectors: Array) -> Array:
        """Rotate vectors (N, 3) from the world to the body frames.

        Raises:
            InvalidValueError: Not numbers of such a shape.
        """
        return rotated(self.motion.rotation.transpose(0, 2, 1), self._vectors(vectors, 3))

    def in_heading(self, vectors: Array) -> Array:
        """Rotate horizontal vectors (N, 2) from the world to the heading frames.

        Raises:
            InvalidValueError: Not numbers of such a shape.
        """
        cosine, sine = np.cos(self.yaw), np.sin(self.yaw)
        x, y = self._vectors(vectors, 2).T
        return np.array([cosine * x + sine * y, cosine * y - sine * x]).T

    def _vectors(self, given: Array, length: int) -> Array:
        vectors, shape = array_of_numbers(given), (len(self.yaw), length)
        if vectors is None or vectors.shape != shape:
            raise _other_shape("vectors", f"{shape}, a row a robot", given)
        return vectors

    def cell_heights(self, cells: Array) -> Array:
        """Return mean terrain heights (N, c) [m] in cells given in the heading frames.

        Args:
            cells: Points of each cell (c, m, 2) [m].

        Raises:
            InvalidValueError: Not numbers of such a shape.
        """
        points = array_of_numbers(cells)
        if points is None or points.ndim != 3 or points.shape[2] != 2:
            raise _other_shape("cells [m]", "(c, m, 2)", cells)
        grounds, robots = self.height
        return grounds.cell_heights(self.motion.position[:, :2], self.yaw, points, robots)

    def put(self, chosen: NDArray[np.intp], rows: TaskView) -> TaskView:
        """Return a copy of the view with the rows of some robots replaced."""
        if len(chosen) == len(self.yaw):
            return rows
        where = slice_of(chosen)
        motions: Any = zip(self.motion, rows.motion, strict=True)
        mine, given = cast("tuple[tuple[Any, ...], ...]", (self[_ARRAYS], rows[_ARRAYS]))
        motion = RobotMotions(*(_put(old, where, new) for old, new in motions))
        others: Any = ((old, where, new) for old, new in zip(mine, given, strict=True))
        fields: Any = (motion, *(_put(*each) for each in others), *self[_ARRAYS.stop :])
        return TaskView(*fields)

    @classmethod
    def of(cls, motion: RobotMotions, *places: Any, **others: Any) -> TaskView:
        """Make a view from motions and places; attitude and heading error are computed.

        Args:
            motion: Motions of the robots.
            *places: Places of the robots on their paths: the fields `progress` to `next_point`.
            **others: Values of the fields after `heading_error`, by name.
        """
        roll, pitch, yaw = attitudes_of(motion.rotation)
        turn = places[2] - yaw
        heading_error = turn - math.tau * np.round(turn / math.tau)
        places += (heading_error,)
        view = cls(motion, roll, pitch, yaw, *places, **others)
        for array in (*motion, *cast("tuple[Any, ...]", view[_ARRAYS])):
            array.setflags(write=False)
        return view


_ARRAYS = slice(1, TaskView._fields.index("period"))
"""Fields of a view that are arrays with a row a robot, behind the motions."""


def _put(array: NDArray[Any], where: Any, rows: NDArray[Any]) -> NDArray[Any]:
    wider = array.dtype if array.dtype == rows.dtype else np.promote_types(array.dtype, rows.dtype)
    changed = array.astype(wider)
    changed[where] = rows
    changed.setflags(write=False)
    return changed
