"""Free-body diagrams of stuck vehicles, from the forces of the simulation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from segtrack.experiments import (
    CONTROL_TIME,
    STUCK_WINDOW,
    EventObstacle,
    EventProgress,
    GapObstacle,
    run_event,
)
from segtrack.geometry import GRAVITY
from segtrack.report import SidePose, body_outlines, colour_of, label_axes, new_figure, paint_ground
from segtrack.reproduce.korner.series import Series, SeriesResult
from segtrack.reproduce.korner.vehicle import base_model

Array = NDArray[np.float64]

_CELL = 0.5
"""Size of the squares in which forces on shoes are one arrow [m]."""
_LEAST = 0.02
"""Force over the weight from which an arrow is drawn [-]."""
_ARROW = 1.5
"""Length of the arrow of the weight [m]."""


class StuckRun(NamedTuple):
    """Run at the end of which the vehicle is stuck.

    Attributes:
        series: Series of the base model that the run belongs to.
        value: Size of the obstacle [m].
    """

    series: Series
    value: float


@dataclass(frozen=True, eq=False)
class StuckForces:
    """Forces on a stuck vehicle in the x-z plane of its path, averaged over the last second.

    Attributes:
        name: Name of the run.
        obstacle: Obstacle of the event.
        places: Mean positions of the loaded shoes per square of 0.5 m, weighted by load (k, 2) [m].
        forces: Forces of the ground on the shoes of both sides in each square (k, 2) [N].
        center: Centre of mass of the vehicle (2,) [m].
        weight: Weight of the vehicle [N].
        hull: Force of the ground on the hull (2,) [N], from the momentum balance with all other forces.
        hull_place: Point on its line of action nearest to the obstacle's edge (2,) [m].
        outlines: Hull and belts at the end of the run, polygons (n, 2) [m].
    """

    name: str
    obstacle: EventObstacle
    places: Array
    forces: Array
    center: Array
    weight: float
    hull: Array
    hull_place: Array
    outlines: tuple[Array, ...]

    @property
    def edge(self) -> tuple[float, float]:
        """World x and z of the obstacle's edge [m]."""
        return edge_of(self.obstacle)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict; forces over the weight."""
        rows = np.concatenate([self.places, self.forces / self.weight], axis=1)
        return {
            "name": self.name,
            "size": self.obstacle.size,
            "weight": self.weight,
            "center": self.center.tolist(),
            "shoes": [dict(zip(("x", "z", "along", "up"), row, strict=True)) for row in rows.tolist()],
            "hull": (self.hull / self.weight).tolist(),
            "hull_place": self.hull_place.tolist(),
        }


def edge_of(obstacle: EventObstacle) -> tuple[float, float]:
    """World x and z of the edge of a step or gap that a vehicle has to climb [m]."""
    return (obstacle.size, 0.0) if isinstance(obstacle, GapObstacle) else (0.0, obstacle.size)


class _Sample(NamedTuple):
    time: float
    places: Array
    forces: Array
    torque: float
    center: Array
    momentum: Array
    """Momentum along x and z [N s], and its moment about the world's y axis without spins [N m s]."""


class _Watch:
    """Observer that records the forces of the last second of an event."""

    def __init__(self) -> None:
        self.samples: deque[_Sample] = deque(maxlen=round(STUCK_WINDOW / CONTROL_TIME))
        self.weight = 0.0
        self.outlines: tuple[Array, ...] = ()

    def __call__(self, progress: EventProgress) -> None:
        """Record positions, forces and momentum at this instant."""
        robot = progress.robot
        chains = [track.read_chain() for track in robot.tracks.values()]
        places, forces = (
            np.concatenate([getattr(chain, name)[:, [0, 2]] for chain in chains])
            for name in ("positions", "terrain_force")
        )
        torque = sum(float(chain.terrain_torque[:, 1].sum()) for chain in chains)
        bodies = robot.bodies()
        masses, at, velocities = bodies.masses, bodies.positions[:, [0, 2]], bodies.velocities[:, [0, 2]]
        momenta = masses[:, None] * velocities
        momentum = np.append(momenta.sum(axis=0), _moment(at, momenta).sum())
        center = masses @ at / masses.sum()
        self.samples.append(_Sample(progress.world.time, places, forces, torque, center, momentum))
        self.weight = float(masses.sum()) * GRAVITY
        state = robot.state
        pose = SidePose(state.position[0], state.position[2], state.pitch, {}, {})
        self.outlines = (
            *(_placed(outline, pose) for outline in body_outlines(robot.description, (0, 2))),
            *(chain.positions[:, [0, 2]] for chain in chains),
        )


def stuck_runs(results: Iterable[SeriesResult]) -> tuple[StuckRun, ...]:
    """Return the stuck run of the first (unchanged) series at each obstacle and driving mode."""
    runs: dict[tuple[str, str], StuckRun] = {}
    for each in results:
        if each.failed is not None and each.failed.ending.startswith("stuck"):
            kind = each.series.obstacle.name, each.series.driving
            runs.setdefault(kind, StuckRun(each.series, each.failed.tried))
    return tuple(runs.values())


def find_free_body(run: StuckRun) -> StuckForces:
    """Repeat a run until the vehicle is stuck, and balance the forces on it."""
    series, watch = run.series, _Watch()
    with base_model(series.change) as vehicle:
        setup = series.setup(vehicle, run.value)
        result = run_event(setup, observer=watch)
    assert not result.passed
    samples, weight = watch.samples, watch.weight
    first, last = samples[0], samples[-1]
    center: Array = np.stack([sample.center for sample in samples]).mean(axis=0)
    places = np.concatenate([sample.places for sample in samples])
    forces = np.concatenate([sample.forces for sample in samples]) / len(samples)
    rate = (last.momentum - first.momentum) / (last.time - first.time)
    gravity = np.array([0.0, -weight])
    hull = rate[:2] - gravity - forces.sum(axis=0)
    torque = np.mean([sample.torque for sample in samples])
    moment = rate[2] - _moment(center, gravity) - _moment(places, forces).sum() - torque
    edge = np.array(edge_of(setup.obstacle))
    lever = (moment - _moment(edge, hull)) * np.array([-hull[1], hull[0]]) / max(hull @ hull, 1.0)
    loads = np.linalg.norm(forces, axis=1)
    places, forces, loads = (each[loads > 0.0] for each in (places, forces, loads))
    cells, inverse = np.unique(np.floor(places / _CELL), axis=0, return_inverse=True)
    columns = (*forces.T, *(loads[:, None] * places).T, loads)
    bins = [np.bincount(inverse.ravel(), column, len(cells)) for column in columns]
    sums = np.stack(bins, axis=1, dtype=np.float64)
    return StuckForces(
        series.name,
        setup.obstacle,
        sums[:, 2:4] / sums[:, 4:],
        sums[:, :2],
        center,
        weight,
        hull,
        edge + lever,
        watch.outlines,
    )


def draw_free_bodies(bodies: Sequence[StuckForces]) -> Figure:
    """Draw free-body diagrams in a column; arrows are proportional to forces over the weight."""
    figure = new_figure(9.0, 4.6 * len(bodies))
    for axes, body in zip(figure.subplots(len(bodies), 1, squeeze=False)[:, 0], bodies, strict=True):
        _draw(axes, body)
    return figure


def _draw(axes: Axes, body: StuckForces) -> None:
    """Draw one free-body diagram."""
    (left, low), (right, high) = (end(np.concatenate(body.outlines), axis=0) for end in (np.min, np.max))
    left, right, low = left - 0.6, right + 0.8, min(low, 0.0) - 0.5
    paint_ground(axes, body.obstacle.terrain(20.0, 20.0), left, right, low)
    for outline in body.outlines:
        axes.plot(*np.concatenate([outline, outline[:1]]).T, color="#888888", linewidth=1.0)
    drawn = [("weight", 3, body.center, np.array([0.0, -body.weight]))]
    drawn += [("ground on shoes", 0, *pair) for pair in zip(body.places, body.forces, strict=True)]
    drawn.append(("hull", 1, body.hull_place, body.hull))
    labelled: set[str] = set()
    for name, colour, place, force in drawn:
        share = force / body.weight
        size = float(np.linalg.norm(share))
        if size < _LEAST:
            continue
        axes.quiver(*place, *(share * _ARROW), angles="xy", scale_units="xy", scale=1.0, width=0.004,
                    color=colour_of(colour), zorder=5, label=None if name in labelled else name)  # fmt: skip
        x, z = place + share * _ARROW
        axes.annotate(f"{size:.2f}", (x, z), fontsize=8, color=colour_of(colour), zorder=6)
        labelled.add(name)
    axes.set_xlim(left, right)
    axes.set_ylim(low, high + 0.8)
    axes.set_aspect("equal")
    axes.legend(fontsize=8, loc="upper left")
    title = f"{body.name}, {body.obstacle.size:.2f} m: forces over the weight"
    label_axes(axes, "x [m]", "z [m]", title, 10.0)


def _placed(outline: Array, pose: SidePose) -> Array:
    cos, sin = np.cos(pose.pitch), np.sin(pose.pitch)
    placed: Array = outline @ np.array([[cos, sin], [-sin, cos]]) + (pose.x, pose.z)
    return placed


def _moment(places: Array, forces: Array) -> Array:
    """Moment about the world's y axis of forces (..., 2) at places (..., 2) [N m]."""
    moment: Array = places[..., 1] * forces[..., 0] - places[..., 0] * forces[..., 1]
    return moment
