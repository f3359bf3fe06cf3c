"""What the robot perceives, entry by entry.

The body frame has x forward, y to the left, z up. The heading frame has the body frame's
origin and the world's z axis, and is turned so that x points where the body heads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.envs.task import TaskState
from segtrack.errors import InvalidValueError, UnknownNameError, finite
from segtrack.geometry.rotation import rotation_of
from segtrack.robot import Robot

ObservationKind = Literal["flat", "dict"]
_KINDS = ("flat", "dict")
LOOK_AHEAD = 0.5
"""The next point to drive to lies this far on along the path [m]."""


@dataclass(frozen=True)
class Scan:
    """Where the height scan looks, in the heading frame.

    Each cell's entry is the mean of the ground's height over its samples, less the height of the
    body frame's origin.

    Attributes:
        x_min: Behind the body [m].
        x_max: Before it [m].
        rows: Number of cells along x.
        half_width: To either side [m].
        columns: Number of cells along y.
        samples: Points along x and y in each cell.
    """

    x_min: float = -0.7
    x_max: float = 1.1
    rows: int = 18
    half_width: float = 0.3
    columns: int = 3
    samples: tuple[int, int] = (4, 2)

    def __post_init__(self) -> None:
        """Refuse what is no grid."""
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
        """Sample points in the heading frame (rows, columns, samples of a cell, 2) [m]."""
        nx, ny = self.samples
        x = _centers(self.x_min, self.x_max, self.rows * nx).reshape(self.rows, 1, nx, 1)
        y = _centers(-self.half_width, self.half_width, self.columns * ny).reshape(1, self.columns, 1, ny)
        grid = np.stack(np.broadcast_arrays(x, y), axis=-1)
        return np.asarray(grid.reshape(self.rows, self.columns, nx * ny, 2))


class Entries(NamedTuple):
    """A named part of an observation.

    Attributes:
        name: In the dict.
        labels: Of each entry.
        unit: SI.
        low: Smallest value of each entry (n,).
        high: Largest value of each entry (n,).
        frame: In which it is given.
    """

    name: str
    labels: tuple[str, ...]
    unit: str
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    frame: str


class Sensors:
    """Turns a task_state into an observation.

    Attributes:
        parts: The entries in their order.
        space: Of the observations.
    """

    def __init__(
        self, vehicle: VehicleDescription, actions: Sequence[str], scan: Scan, kind: ObservationKind
    ) -> None:
        """Set them up.

        Args:
            vehicle: What will be observed.
            actions: Names of the action's entries.
            scan: Where the height scan looks.
            kind: `flat` for one box, `dict` for named parts.

        Raises:
            UnknownNameError: No such kind.
        """
        if kind not in _KINDS:
            raise UnknownNameError("kind of observation", kind, _KINDS)
        self._flat = kind == "flat"
        self._points = scan.points()
        self.parts = _parts(vehicle, tuple(actions), scan)
        self._low = np.concatenate([part.low for part in self.parts]).astype(np.float32)
        self._high = np.concatenate([part.high for part in self.parts]).astype(np.float32)
        known = np.repeat([p.name == "last_action" for p in self.parts], [len(p.labels) for p in self.parts])
        self._half = np.where(known, 0.0, (self._high - self._low) / 2)
        self._ends = np.cumsum([len(part.labels) for part in self.parts]).tolist()
        box = spaces.Box(self._low, self._high, dtype=np.float32)
        named: dict[str, spaces.Space[Any]] = {
            p.name: spaces.Box(*limits, dtype=np.float32) for p, limits in self._split_limits()
        }
        self.space: spaces.Space[Any] = box if self._flat else spaces.Dict(named)

    @property
    def limits(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Smallest and largest value of each entry (n,)."""
        return self._low, self._high

    @property
    def entries(self) -> tuple[str, ...]:
        """Name of each entry."""
        return tuple(f"{part.name}.{label}" for part in self.parts for label in part.labels)

    def read(self, robot: Robot, task_state: TaskState) -> NDArray[np.float64]:
        """All entries (n,), without noise and not clipped."""
        state = task_state.state
        x, y, z = state.position
        rotation = rotation_of((state.roll, -state.pitch, state.yaw))
        course = task_state.course
        cosine, sine = math.cos(state.yaw), math.sin(state.yaw)
        turn = np.array([[cosine, sine], [-sine, cosine]])
        ground = course.terrain.height_at(*np.moveaxis(self._points @ turn + (x, y), -1, 0))
        ahead = turn @ (np.array(course.path.at(task_state.place.progress + LOOK_AHEAD)) - (x, y))
        sides = [[t for t in robot.tracks.values() if t.side == side] for side in ("left", "right")]
        flippers = [flipper.state for flipper in robot.flippers.values()]
        return np.concatenate(
            (
                (ground.mean(axis=-1) - z).ravel(),
                (state.roll, state.pitch),
                rotation.T @ state.angular_velocity,
                rotation.T @ state.velocity,
                [sum(t.speed for t in tracks) / max(len(tracks), 1) for tracks in sides],
                [sum(t.force for t in tracks) for tracks in sides],
                [flipper.angle for flipper in flippers],
                [flipper.speed for flipper in flippers],
                task_state.action,
                ahead,
                (course.path.length - task_state.place.progress,),
                (task_state.place.lateral, task_state.heading_error),
            )
        )

    def noisy(
        self, entries: NDArray[np.float64], noise: float, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Entries with normal noise whose standard deviation is `noise` times half their range.

        The last action is known, not measured, and has none.
        """
        if noise == 0:
            return entries
        return np.asarray(entries + noise * self._half * rng.standard_normal(len(entries)))

    def form(self, entries: NDArray[np.float64]) -> Any:
        """An observation of the space, clipped to it."""
        flat = np.clip(entries.astype(np.float32), self._low, self._high)
        if self._flat:
            return flat
        split = np.split(flat, self._ends[:-1])
        return {part.name: values for part, values in zip(self.parts, split, strict=True)}

    def flat(self, observation: Any) -> NDArray[np.float32]:
        """All entries (n,) of an observation, flat or dict."""
        if self._flat:
            return np.asarray(observation)
        return np.concatenate([observation[part.name] for part in self.parts])

    def part(self, observation: Any, name: str) -> NDArray[np.float32]:
        """A named part of an observation, flat or dict."""
        if not self._flat:
            return np.asarray(observation[name])
        i = [part.name for part in self.parts].index(name)
        return np.asarray(observation[self._ends[i] - len(self.parts[i].labels) : self._ends[i]])

    def table(self) -> str:
        """The entries as a Markdown table."""
        lines = ["| part | entries | unit | range | frame |", "|---|---|---|---|---|"]
        for part in self.parts:
            ranges = dict.fromkeys(
                f"{low:.4g} to {high:.4g}" for low, high in zip(part.low, part.high, strict=True)
            )
            labels = ", ".join(part.labels) if len(part.labels) <= 8 else f"{len(part.labels)} cells"
            lines.append(f"| {part.name} | {labels} | {part.unit} | {'; '.join(ranges)} | {part.frame} |")
        return "\n".join(lines)

    def _split_limits(self) -> list[tuple[Entries, tuple[NDArray[np.float32], NDArray[np.float32]]]]:
        low, high = np.split(self._low, self._ends[:-1]), np.split(self._high, self._ends[:-1])
        return list(zip(self.parts, zip(low, high, strict=True), strict=True))


def _parts(vehicle: VehicleDescription, actions: tuple[str, ...], scan: Scan) -> tuple[Entries, ...]:
    def part(name: str, labels: Sequence[str], unit: str, limits: Any, frame: str) -> Entries:
        low, high = np.broadcast_to(np.asarray(limits, dtype=float).T, (2, len(labels)))
        return Entries(name, tuple(labels), unit, low, high, frame)

    tracks = tuple(vehicle.mounted_tracks())
    sides = [[t.spec.drive for t in tracks if t.side == side] for side in ("left", "right")]
    top = max(track.spec.drive.top_speed for track in tracks)
    strength = max(sum(drive.stall_force for drive in drives) for drives in sides)
    flippers = tuple(vehicle.flippers)
    cells = [f"x{i}y{j}" for i in range(scan.rows) for j in range(scan.columns)]
    pi = math.pi

    def same(limit: float, count: int) -> list[tuple[float, float]]:
        return [(-limit, limit)] * count

    parts = [
        part("height_scan", cells, "m", same(1.0, len(cells)), "heading"),
        part("attitude", ("roll", "pitch"), "rad", [(-pi, pi), (-pi / 2, pi / 2)], "world"),
        part("angular_velocity", ("x", "y", "z"), "rad/s", same(5.0, 3), "body"),
        part("velocity", ("x", "y", "z"), "m/s", same(2.0, 3), "body"),
        part("belt_speed", ("left", "right"), "m/s", same(2 * top, 2), "track"),
        part("belt_force", ("left", "right"), "N", same(strength, 2), "track"),
    ]
    if flippers:
        limits = [vehicle.flippers[name].limits for name in flippers]
        speeds = [
            (-2 * vehicle.flippers[name].max_speed, 2 * vehicle.flippers[name].max_speed) for name in flippers
        ]
        parts += [
            part("flipper_angle", flippers, "rad", [(low - 0.1, high + 0.1) for low, high in limits], "body"),
            part("flipper_speed", flippers, "rad/s", speeds, "body"),
        ]
    return (
        *parts,
        part("last_action", actions, "-", same(1.0, len(actions)), "-"),
        part("next_point", ("x", "y"), "m", same(2.0, 2), "heading"),
        part("to_go", ("length",), "m", [(0.0, 10.0)], "path"),
        part("path_error", ("lateral", "heading"), "m, rad", [(-2.0, 2.0), (-pi, pi)], "path"),
    )


def _centers(low: float, high: float, count: int) -> NDArray[np.float64]:
    """Middles of `count` equal parts of a range."""
    return low + (high - low) * (np.arange(count) + 0.5) / count
