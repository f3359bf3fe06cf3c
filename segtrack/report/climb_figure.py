"""A climb as a picture: side-view snapshots, as in Okada et al. 2020, figure 7, and plots over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from segtrack.experiments.climb_result import ClimbResult
from segtrack.report.chain_figure import chain_polygons
from segtrack.report.side_view import SidePose, side_view
from segtrack.report.style import SEGMENT_COLOURS, new_figure, paint, paint_ground
from segtrack.robot.motion import Motion

SNAPSHOTS = 6
_BELOW = 0.06


def draw_climb(result: ClimbResult) -> Figure:
    """Draw a climb: snapshots evenly spaced in time, then pitch, height and belt forces over time."""
    figure = new_figure(14.0, 11.0)
    rows = figure.add_gridspec(2, 1, height_ratios=[1.25, 1.0])
    title = f"{result.vehicle.name}, step {result.setup.step * 1000:.0f} mm, {result.track_model}"
    figure.suptitle(f"{title}: {result.outcome} after {result.duration:.1f} s", fontsize=15)
    strip = rows[0].subgridspec(2, SNAPSHOTS // 2)
    indices = _snapshots(result)
    for i, index in enumerate(indices):
        draw_snapshot(figure.add_subplot(strip[i // 3, i % 3]), result, int(index))
    plots = rows[1].subgridspec(3, 1)
    pitch, height, force = (figure.add_subplot(plots[i]) for i in range(3))
    trajectory = result.trajectory
    pitch.plot(trajectory.times, np.degrees(trajectory["pitch"]), color=SEGMENT_COLOURS[0])
    height.plot(trajectory.times, trajectory["position"][:, 2], color=SEGMENT_COLOURS[2])
    height.axhline(result.setup.step, color="black", linewidth=0.8, linestyle=":", label="step")
    height.legend(loc="upper left", fontsize=8)
    _plot_forces(force, trajectory)
    for axes, label in (
        (pitch, "pitch, nose up [deg]"),
        (height, "height of body [m]"),
        (force, "belt force [N]"),
    ):
        axes.set_ylabel(label)
        axes.set_xlim(0, float(trajectory.times[-1]))
        axes.grid(alpha=0.25)
        for time in trajectory.times[indices]:
            axes.axvline(float(time), color="black", alpha=0.15, linewidth=1)
    force.set_xlabel("time [s]; grey lines are the snapshots")
    return figure


def draw_snapshot(axes: Axes, result: ClimbResult, index: int) -> None:
    """Draw the robot at one sample of its trajectory, before its step; link chains as sampled last."""
    trajectory = result.trajectory
    pose = pose_at(trajectory, index)
    shoes = None
    if result.chains is not None:
        sample = int(np.searchsorted(result.chains.time, trajectory.times[index], side="right")) - 1
        shoes = chain_polygons(result.vehicle, result.chains, sample)
    polygons = side_view(result.vehicle, pose, result.track_model, shoes)
    reach = 1.15 * max(float(np.abs(polygon.points).max()) for polygon in side_view(result.vehicle))
    left, right = pose.x - reach, pose.x + reach
    paint_ground(axes, result.terrain, left, right, -_BELOW)
    paint(axes, polygons)
    axes.set_xlim(left, right)
    axes.set_ylim(-_BELOW, max(float(trajectory["position"][:, 2].max()), result.setup.step) + 0.75 * reach)
    axes.set_aspect("equal")
    axes.set_title(f"t = {trajectory.times[index]:.1f} s", loc="left", fontsize=10)
    axes.tick_params(labelsize=8)


def pose_at(trajectory: Motion, index: int) -> SidePose:
    """Return the pose for a side view at one sample of a trajectory."""
    x, _, z = trajectory["position"][index]
    return SidePose(
        x=float(x),
        z=float(z),
        pitch=float(trajectory["pitch"][index]),
        flippers={name: float(angle[index]) for name, angle in trajectory.by_name("flipper_angle").items()},
        travel={name: float(travel[index]) for name, travel in trajectory.by_name("track_travel").items()},
    )


def _snapshots(result: ClimbResult) -> NDArray[np.intp]:
    """Samples of the trajectory to draw, at which link chains have been sampled, too."""
    time = result.trajectory.times
    drawable = time if result.chains is None else result.chains.time
    chosen = np.linspace(0, len(drawable) - 1, SNAPSHOTS).round().astype(int)
    return np.searchsorted(time, drawable[chosen])


def _plot_forces(axes: Axes, trajectory: Motion) -> None:
    """Each belt's force, smoothed over a quarter of a second: contacts make it jump from sample to sample."""
    interval = float(trajectory.times[1] - trajectory.times[0]) if len(trajectory.times) > 1 else 1.0
    width = min(len(trajectory.times), max(1, round(0.25 / interval)))
    for i, (name, force) in enumerate(trajectory.by_name("track_force").items()):
        smooth = np.convolve(force, np.ones(width) / width, mode="same")
        axes.plot(
            trajectory.times, smooth, color=SEGMENT_COLOURS[i % len(SEGMENT_COLOURS)], linewidth=1, label=name
        )
    axes.legend(loc="upper left", fontsize=8, ncols=3)
