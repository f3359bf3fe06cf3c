"""Figure of the loads on grousers: on the robot from the side, along each belt, and over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.compliant import GrouserReading
from segtrack.description import Frame, MountedTrack, place_tracks
from segtrack.experiments import SETTLE, ClimbResult, GrouserHistory
from segtrack.geometry import normal_of, tangent_of
from segtrack.report.chain_figure import pose_at_sample
from segtrack.report.chain_view import tracks_of_one_side
from segtrack.report.side_view import colour_of, label_axes, new_figure, paint, paint_ground, side_view

Array = NDArray[np.float64]
_FACE = 0.02
"""Length of belt over which the loads on its face are added up [m]."""
_STATION = 0.001
"""Distance between the places of a belt among which a contact's is looked for [m]."""
_LONGEST = 0.3
"""Length of the longest arrow over that of the vehicle."""
_SHAPE = 1.2
"""Width of the view of the robot over its height."""


@dataclass(frozen=True, eq=False)
class BeltLoads:
    """Loads along one belt: of each grouser in contact, and of each piece of the belt's face.

    Attributes:
        coordinates: Belt coordinates of the loads (n,) [m].
        lengths: Belt lengths that carry the loads (n,) [m].
        points: Centres of pressure in the world (n, 3) [m].
        outwards: Unit normals out of the belt there, in the world (n, 3).
        normal_forces: Normal forces of the ground on the belt (n,) [N].
        traction: Friction on the belt against its travel, positive when driving forward (n,) [N].
    """

    coordinates: Array
    lengths: Array
    points: Array
    outwards: Array
    normal_forces: Array
    traction: Array


def belt_loads(track: MountedTrack, frame: Frame, reading: GrouserReading) -> BeltLoads:
    """Sum the contacts of a belt by grouser, and by piece of its face.

    Args:
        track: Track of the belt.
        frame: Track frame in the world.
        reading: Contacts of the track.
    """
    path, spec = track.spec.belt_path, track.spec
    stations = np.arange(0.0, path.perimeter, _STATION)
    places = ((reading.points - frame.origin) @ frame.rotation)[:, [0, 2]]
    far = np.linalg.norm(places[:, None] - path.point(stations)[None], axis=2)
    at = stations[np.argmin(far, axis=1)]
    on_face = reading.grousers < 0
    piece = reading.grouser_count + np.floor(at / _FACE).astype(np.intp)
    groups, group = np.unique(np.where(on_face, piece, reading.grousers), return_inverse=True)
    count, load = len(groups), reading.normal_force
    total = np.asarray(np.bincount(group, load, count), dtype=float)
    points = np.stack([np.bincount(group, load * axis, count) / total for axis in reading.points.T], axis=1)
    # A grouser that just leaves the path's end is at its beginning, too: the heaviest contact says where.
    heaviest = [int(np.flatnonzero(group == i)[np.argmax(load[group == i])]) for i in range(count)]
    coordinates = at[heaviest]
    tangents, normals = tangent_of(path.heading(at)), normal_of(path.heading(coordinates))
    along = np.einsum("ni,ni->n", (reading.tangential_force @ frame.rotation)[:, [0, 2]], tangents)
    return BeltLoads(
        coordinates=coordinates,
        lengths=np.where(groups < reading.grouser_count, spec.pitch if spec.grousers else _FACE, _FACE),
        points=points,
        outwards=np.column_stack([normals[:, 0], np.zeros(count), normals[:, 1]]) @ frame.rotation.T,
        normal_forces=total,
        traction=-np.asarray(np.bincount(group, along, count), dtype=float),
    )


def draw_grousers(result: ClimbResult, history: GrouserHistory) -> Figure:
    """Draw one side's loads at half of the robot's rise and at its largest pitch, and over time."""
    tracks = tracks_of_one_side(result.vehicle)
    figure = new_figure(14.0, 9.5 + 1.7 * len(tracks))
    title = f"{result.vehicle.name}, step {result.setup.step * 1000:.0f} mm, {result.track_model}"
    figure.suptitle(f"{title}: normal forces of the ground on one side's tracks", fontsize=15)
    rows = figure.add_gridspec(3, 1, height_ratios=[6.0, 1.7 * len(tracks), 2.6])
    views, over = rows[0].subgridspec(1, 2), rows[2].subgridspec(1, 2)
    along = rows[1].subgridspec(len(tracks), 2)
    instants = _instants(result, history)
    for column, (what, sample) in enumerate(instants.items()):
        index = _trajectory_index(result, history, sample)
        frames = _track_frames(result, index)
        loads = [belt_loads(t, frames[t.name], history.readings[t.name][sample]) for t in tracks]
        view = figure.add_subplot(views[column])
        _draw_robot(view, result, index, tracks, loads)
        pitch = math.degrees(result.trajectory["pitch"][index])
        view.set_title(f"t = {history.time[sample]:.2f} s, {what}; pitch {pitch:.1f} deg", fontsize=11)
        highest = max(float(load.normal_forces.max(initial=0.0)) for load in loads)
        for i, (track, load) in enumerate(zip(tracks, loads, strict=True)):
            axes = figure.add_subplot(along[i, column])
            _plot_along(axes, track, load, colour_of(i), highest)
            axes.set_xlabel("along the belt's path [m]" if track is tracks[-1] else "")
    panels = [figure.add_subplot(over[i]) for i in range(2)]
    _plot_over_time(panels, history, tracks, list(instants.values()))
    return figure


def _instants(result: ClimbResult, history: GrouserHistory) -> dict[str, int]:
    """Samples of the history to draw, by title."""
    indices = [_trajectory_index(result, history, i) for i in range(len(history.time))]
    height, pitch = result.trajectory["position"][indices, 2], result.trajectory["pitch"][indices]
    half = int(np.argmax(height >= (height[0] + height.max()) / 2))
    return {"half of its rise": half, "its largest pitch": int(np.argmax(pitch))}


def _trajectory_index(result: ClimbResult, history: GrouserHistory, sample: int) -> int:
    """Index of the trajectory's sample at the time of a sample of the history."""
    return int(np.argmin(np.abs(result.trajectory.times - history.time[sample])))


def _track_frames(result: ClimbResult, index: int) -> dict[str, Frame]:
    """Track frames in the world at one sample of the trajectory, by the track's full name."""
    trajectory = result.trajectory
    flippers = {name: float(angle[index]) for name, angle in trajectory.by_name("flipper_angle").items()}
    turn = Rotation.from_quat(trajectory["orientation"][index]).as_matrix()
    body = Frame(turn, trajectory["position"][index])
    return {placed.mounted.name: body @ placed.frame for placed in place_tracks(result.vehicle, flippers)}


def _draw_robot(
    axes: Axes, result: ClimbResult, index: int, tracks: Sequence[MountedTrack], loads: Sequence[BeltLoads]
) -> None:
    """Draw the robot before its step, with an arrow along the belt's normal at each loaded grouser."""
    polygons = side_view(result.vehicle, pose_at_sample(result.trajectory, index), result.track_model)
    corners = np.concatenate([polygon.points for polygon in polygons])
    low, high = corners.min(axis=0), corners.max(axis=0)
    longest = _LONGEST * float((high - low).max())
    greatest = max((float(load.normal_forces.max(initial=0.0)) for load in loads), default=0.0)
    scale = longest / greatest if greatest > 0 else 1.0
    low, high = low - (0.6 * longest, 1.1 * longest), high + (0.6 * longest, 0.3 * longest)
    room = np.maximum(0.0, ((high - low)[::-1] * (_SHAPE, 1 / _SHAPE) - (high - low)) / 2)
    (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
    paint_ground(axes, result.terrain, left, right, bottom)
    paint(axes, polygons)
    for i, (track, load) in enumerate(zip(tracks, loads, strict=True)):
        colour = colour_of(i)
        total = f"{track.name}: {load.normal_forces.sum():.0f} N"
        axes.plot([], [], color=colour, linewidth=3, label=total)
        push = -scale * load.normal_forces[:, None] * load.outwards
        for tip, arrow in zip(load.points[:, [0, 2]], push[:, [0, 2]], strict=True):
            style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=tip, xytext=tip - arrow, arrowprops=style, zorder=8)
    _draw_scale(axes, greatest, scale, (right - 0.1 * longest, bottom + 0.15 * longest))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.legend(loc="upper left", fontsize=9)


def _draw_scale(axes: Axes, greatest: float, scale: float, place: tuple[float, float]) -> None:
    """Draw a scale bar for a round number of newtons, ending at a place (x, z) [m]."""
    if greatest <= 0:
        return
    decade = 10.0 ** math.floor(math.log10(greatest))
    force = max(decade * part for part in (1, 2, 5) if decade * part <= greatest)
    start = place[0] - scale * force
    axes.plot([start, place[0]], [place[1]] * 2, color="black", linewidth=3, zorder=8)
    middle = ((start + place[0]) / 2, place[1])
    axes.annotate(f"{force:g} N", middle, xytext=(0, 5), textcoords="offset points", ha="center", zorder=8)


def _plot_along(axes: Axes, track: MountedTrack, load: BeltLoads, colour: str, highest: float) -> None:
    """Plot normal force and traction over the belt coordinate, with the seams of the path's segments."""
    path, at, forces = track.spec.belt_path, load.coordinates, load.normal_forces
    axes.bar(at, forces, 0.8 * load.lengths, color=colour, alpha=0.45, label="normal force")
    axes.bar(at, load.traction, 0.35 * load.lengths, color=colour, label="traction, forward")
    for start, end, name in zip(path.starts[:-1], path.starts[1:], path.names, strict=True):
        axes.axvline(float(start), color="black", alpha=0.3, linewidth=1)
        middle, across = float(start + end) / 2, axes.get_xaxis_transform()
        axes.text(middle, 0.97, name, transform=across, ha="center", va="top", fontsize=8)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xlim(0.0, path.perimeter)
    axes.set_ylim(min(-0.1 * highest, 1.1 * float(load.traction.min(initial=0.0))), 1.35 * highest or 1.0)
    axes.set_ylabel(f"{track.name}\nforce [N]", fontsize=9)
    if len(at):
        axes.legend(loc="center right", fontsize=8)
    else:
        axes.text(0.5, 0.5, "carries nothing", transform=axes.transAxes, ha="center", va="center")
    axes.grid(alpha=0.25)


def _plot_over_time(
    panels: Sequence[Axes], history: GrouserHistory, tracks: Sequence[MountedTrack], samples: Sequence[int]
) -> None:
    """Plot each track's load, and that of its most loaded grouser, over time; the first impact is cut off."""
    shown = history.time >= min(SETTLE, float(history.time[-1]))
    labels = (
        "normal force on a track [N]",
        "largest on one grouser [N]" if history.has_grousers else "largest at one contact [N]",
    )
    for axes, label, of in zip(panels, labels, (history.track_loads, history.greatest_loads), strict=True):
        highest = 0.0
        for i, track in enumerate(tracks):
            loads = of(track.name)
            highest = max(highest, float(loads[shown].max()))
            colour = colour_of(i)
            axes.plot(history.time, loads, color=colour, linewidth=1, label=track.name)
        for sample in samples:
            axes.axvline(float(history.time[sample]), color="black", alpha=0.3, linewidth=1)
        label_axes(axes, "time [s]; grey lines are the instants above", label)
        axes.set_ylim(0.0, 1.1 * highest or 1.0)
    panels[1].legend(loc="upper left", fontsize=8)
