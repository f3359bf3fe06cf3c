"""Figures of a climb: snapshots, plots over time, and loads on the shoes of link chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from segtrack.experiments import ChainHistory, ClimbResult
from segtrack.report.chain_view import chain_polygons, paint_chain, shoe_outlines, tracks_of_one_side
from segtrack.report.side_view import (
    SEGMENT_COLOURS,
    SidePose,
    colour_of,
    label_axes,
    new_figure,
    paint,
    paint_ground,
    side_view,
)
from segtrack.robot import Motion
from segtrack.terrain import Terrain

Array = NDArray[np.float64]


_NUMBERED = 5
"""Every so many shoes one bears its number."""
_SMOOTHED = 0.25
"""Time over which the drive's torque is averaged for its plot [s]: teeth make it jump."""


@dataclass(frozen=True)
class Load:
    """Quantity that colours shoes, with its unit in the figure."""

    name: str
    label: str
    colours: str
    scale: float


LOADS = (
    Load("tension", "tension at a shoe's rear joint [N]", "viridis", 1.0),
    Load("pressure", "ground pressure [kPa]", "YlOrRd", 1e-3),
)


def draw_chains(result: ClimbResult) -> Figure:
    """Draw a climb's link chains: one side at the instant of its greatest tension, and all over time."""
    history = result.chains
    assert history is not None
    tracks = tuple(track.name for track in tracks_of_one_side(result.vehicle))
    tensions = [history.over_time(name, "tension").max(axis=1) for name in tracks]
    index = int(np.argmax(np.max(tensions, axis=0)))
    figure = new_figure(14.0, 12.5)
    rows = figure.add_gridspec(3, 1, height_ratios=[0.95, 0.8, 1.1])
    title = f"{result.vehicle.name}, step {result.setup.step * 1000:.0f} mm, chains {', '.join(tracks)}"
    at = f"t = {history.time[index]:.2f} s, the greatest tension"
    figure.suptitle(f"{title}: {at}", fontsize=15)
    views, along, over = (rows[i].subgridspec(*shape) for i, shape in enumerate(((1, 2), (1, 2), (2, 2))))
    for i, load in enumerate(LOADS):
        view = figure.add_subplot(views[i])
        draw_shoes(view, history, tracks, index, load, (result.terrain,))
        _plot_along(figure.add_subplot(along[i]), history, tracks, index, load)
    _plot_over_time([figure.add_subplot(over[i // 2, i % 2]) for i in range(4)], history, index)
    return figure


def draw_shoes(
    axes: Axes,
    history: ChainHistory,
    tracks: Iterable[str],
    index: int,
    load: Load,
    terrains: Sequence[Terrain] = (),
) -> None:
    """Draw chains at one sample, their plates coloured by a load; some shoes are numbered."""
    corners, greatest = [], max(float(_of(history, t, load)[index].max()) for t in tracks)
    for layer, track in enumerate(tracks):
        design, reading = history.designs[track], history.readings[track][index]
        values = _of(history, track, load)[index]
        shoes = paint_chain(axes, design, reading, values, load.colours, greatest, 2.0 + layer)
        plates, grousers = shoe_outlines(design, reading)
        corners.append(np.concatenate([*plates, *grousers]))
        inside = reading.positions[:, [0, 2]].mean(axis=0)
        for shoe in range(0, len(plates), _NUMBERED):
            place = plates[shoe].mean(axis=0)
            away = (place - inside) / np.linalg.norm(place - inside)
            text = place + 0.75 * design.chain.shoe.pitch * away
            axes.annotate(str(shoe), text, fontsize=7, ha="center", va="center", zorder=9)
    low, high = np.concatenate(corners).min(axis=0), np.concatenate(corners).max(axis=0)
    margin = 0.12 * float((high - low).max())
    for terrain in terrains:
        paint_ground(axes, terrain, float(low[0]) - margin, float(high[0]) + margin, float(low[1]) - margin)
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.figure.colorbar(shoes, ax=axes, label=load.label, location="top", shrink=0.8, aspect=40)


def _plot_along(axes: Axes, history: ChainHistory, tracks: Iterable[str], index: int, load: Load) -> None:
    """Plot a load over the shoe numbers, with the range of each shoe over time."""
    for i, track in enumerate(tracks):
        values, colour = _of(history, track, load), colour_of(i)
        shoes = np.arange(values.shape[1])
        low, high = values.min(axis=0), values.max(axis=0)
        axes.fill_between(shoes, low, high, color=colour, alpha=0.15, linewidth=0, step="mid")
        axes.plot(shoes, values[index], color=colour, marker=".", linewidth=1, label=track)
    label_axes(axes, "shoe; shaded: all times", load.label)
    axes.legend(fontsize=8)


def _plot_over_time(panels: Sequence[Axes], history: ChainHistory, index: int) -> None:
    """Plot drive torque, mean tension, idler slide and largest sinkage of all chains."""
    torque, tension, slide, sinkage = panels
    time = history.time
    window = min(len(time), max(1, round(_SMOOTHED / float(time[1] - time[0])))) if len(time) > 1 else 1
    count = np.convolve(np.ones(len(time)), np.ones(window), mode="same")
    for i, track in enumerate(history.readings):
        colour = colour_of(i)
        style: dict[str, Any] = {"color": colour, "linewidth": 1, "label": track}
        raw = history.over_time(track, "drive_torque")
        mean = np.convolve(raw, np.ones(window), mode="same") / count
        torque.plot(time, mean, **style)
        tension.plot(time, history.over_time(track, "tension").mean(axis=1), **style)
        slide.plot(time, 1e3 * history.over_time(track, "idler_slide"), **style)
        sinkage.plot(time, 1e3 * history.over_time(track, "sinkage").max(axis=1), **style)
    labels = ("drive torque, smoothed [N m]", "mean tension [N]", "idler slide [mm]", "largest sinkage [mm]")
    for axes, label in zip(panels, labels, strict=True):
        label_axes(axes, "time [s]", label)
        axes.axvline(float(time[index]), color="black", alpha=0.3, linewidth=1)
    torque.legend(loc="upper left", fontsize=8, ncols=3)


def _of(history: ChainHistory, track: str, load: Load) -> Array:
    """Load of all shoes at all times (t, n), in the figure's unit."""
    return load.scale * history.over_time(track, load.name)


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
    labels = {pitch: "pitch, nose up [deg]", height: "height of body [m]", force: "belt force [N]"}
    for axes, label in labels.items():
        label_axes(axes, "", label)
        axes.set_xlim(0, float(trajectory.times[-1]))
        for time in trajectory.times[indices]:
            axes.axvline(float(time), color="black", alpha=0.15, linewidth=1)
    force.set_xlabel("time [s]; grey lines are the snapshots")
    return figure


def draw_snapshot(axes: Axes, result: ClimbResult, index: int) -> None:
    """Draw the robot beside its step at one sample of its trajectory; link chains at their last sample."""
    trajectory = result.trajectory
    pose = pose_at_sample(trajectory, index)
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


def pose_at_sample(trajectory: Motion, index: int) -> SidePose:
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
    """Indices of the samples to draw; link chains were sampled at these, too."""
    time = result.trajectory.times
    drawable = time if result.chains is None else result.chains.time
    chosen = np.linspace(0, len(drawable) - 1, SNAPSHOTS).round().astype(int)
    return np.searchsorted(time, drawable[chosen])


def _plot_forces(axes: Axes, trajectory: Motion) -> None:
    """Plot each belt's force, averaged over 0.25 s, since contacts make single samples jump."""
    interval = float(trajectory.times[1] - trajectory.times[0]) if len(trajectory.times) > 1 else 1.0
    width = min(len(trajectory.times), max(1, round(0.25 / interval)))
    for i, (name, force) in enumerate(trajectory.by_name("track_force").items()):
        smooth = np.convolve(force, np.ones(width) / width, mode="same")
        axes.plot(trajectory.times, smooth, color=colour_of(i), linewidth=1, label=name)
    axes.legend(loc="upper left", fontsize=8, ncols=3)
