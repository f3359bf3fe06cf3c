"""Figures of a log and its simulations: quantities over time, paths over terrain in 3-D and from the side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.logs import Motion, Signal, quantity_of
from segtrack.logs.compare import Phase, Run
from segtrack.report.logs.content import Instant
from segtrack.report.side_view import (
    GROUND,
    GROUND_EDGE,
    SEGMENT_COLOURS,
    Polygon,
    SidePose,
    new_figure,
    paint,
    side_view,
)
from segtrack.terrain import Terrain, profile

RUN_COLOURS: Mapping[Run, str] = {"commanded": SEGMENT_COLOURS[1], "measured": SEGMENT_COLOURS[0]}
LOGGED_COLOUR = "black"
LOGGED, COMMAND = "logged", "logged command"


class LineStyle(NamedTuple):
    """Colour, dashes and width [points] of a line."""

    colour: str
    dashes: Literal["-", "--", ":"]
    width: float


LINE_STYLES: Mapping[str, LineStyle] = {
    LOGGED: LineStyle(LOGGED_COLOUR, "-", 1.3),
    COMMAND: LineStyle(LOGGED_COLOUR, ":", 1.0),
    "commanded": LineStyle(RUN_COLOURS["commanded"], "--", 1.3),
    "measured": LineStyle(RUN_COLOURS["measured"], "-", 1.3),
}
"""Style of a line by whose it is: the log's, its command's, or a run's."""


def label_of(who: str) -> str:
    """Return the words for a line by whose it is."""
    return f"simulated by {who} belts" if who in RUN_COLOURS else who


BAND_STDS = 2.0
"""Half the width of a band of noise, in standard deviations."""
_STILL = 1.0
"""A flipper that moves no more than this is not compared [deg]."""
_SHOWN = {"rad": ("deg", math.degrees(1.0)), "rad/s": ("deg/s", math.degrees(1.0))}
"""Unit and factor that are shown, by the quantity's unit."""
_FIRST = "belt_speed", "flipper_angle"
"""Quantities that follow the pose, before all others."""


class Panel(NamedTuple):
    """A quantity over time.

    Attributes:
        name: Name of the quantity, with side, flipper or axis.
        unit: Unit that it is shown in.
        lines: Signals in that unit by whose they are, see `LINE_STYLES`.
        is_compared: True if log and a simulation have it, and it is no flipper at rest.
    """

    name: str
    unit: str
    lines: Mapping[str, Signal]
    is_compared: bool

    @property
    def label(self) -> str:
        """Name with unit."""
        return f"{self.name} [{self.unit}]"


def panels_of(logged: Motion, simulated: Mapping[Run, Motion]) -> list[Panel]:
    """Return a panel for every quantity that the log or a simulation has: the pose first, then the drives."""
    motions = {LOGGED: logged, **{str(run): motion for run, motion in simulated.items()}}
    panels = []
    for name, unit, found in _quantities(motions):
        shown, factor = _SHOWN.get(unit, (unit, 1.0))
        lines = {who: _scaled(signal, factor) for who, signal in found.items() if signal is not None}
        is_compared = any(who in lines for who in (LOGGED, COMMAND)) and any(
            run in lines for run in simulated
        )
        if lines:
            panels.append(Panel(name, shown, lines, is_compared and not _is_still_flipper(name, lines)))
    return panels


def residuals_of(panels: list[Panel]) -> list[Panel]:
    """Return simulations less the log, at the log's times, of quantities that are compared and measured."""
    found = []
    for panel in panels:
        logged = panel.lines.get(LOGGED)
        if panel.is_compared and logged is not None:
            runs = {who: signal for who, signal in panel.lines.items() if who not in (LOGGED, COMMAND)}
            lines = {run: less for run, signal in runs.items() if (less := _less(signal, logged)) is not None}
            if lines:
                found.append(panel._replace(lines=lines))
    return found


def _less(signal: Signal, logged: Signal) -> Signal | None:
    """A signal less the logged one where both have values; None if they have no time in common."""
    inside = (logged.times >= signal.times[0]) & (logged.times <= signal.times[-1])
    times = logged.times[inside]
    values = signal.at(times) - logged.values[inside]
    return Signal(times, values, logged.std) if len(times) else None


def _quantities(motions: Mapping[str, Motion]) -> Iterator[tuple[str, str, dict[str, Signal | None]]]:
    """Name, unit and signals of all quantities; angles for quaternions, commands beside their quantity."""
    yield "pitch, nose up", "rad", {who: motion.angle("pitch") for who, motion in motions.items()}
    for i, axis in enumerate("xyz"):
        yield axis, "m", {who: _component(motion, "position", i) for who, motion in motions.items()}
    for angle in ("yaw", "roll"):
        yield angle, "rad", {who: motion.angle(angle) for who, motion in motions.items()}
    keys = dict.fromkeys(key.replace("_command", "") for motion in motions.values() for key in motion.signals)
    rest = [key for key in keys if key not in ("position", "orientation", "roll", "pitch", "yaw")]
    for key in sorted(rest, key=_place):
        quantity, (base, _, which) = quantity_of(key), key.partition(".")
        words = base.replace("_", " ")
        if quantity.width == 1:
            name = f"{words}, {which}" if which else words
            command = motions[LOGGED].signals.get(f"{base}_command.{which}")
            yield (
                name,
                quantity.unit,
                {COMMAND: command, **{w: m.signals.get(key) for w, m in motions.items()}},
            )
        else:
            for i, axis in enumerate("xyz"):
                signals = {who: _component(motion, key, i) for who, motion in motions.items()}
                yield f"{words} {axis}, body frame", quantity.unit, signals


def _place(key: str) -> int:
    base = key.partition(".")[0]
    return _FIRST.index(base) if base in _FIRST else len(_FIRST)


def _component(motion: Motion, key: str, column: int) -> Signal | None:
    signal = motion.signals.get(key)
    return None if signal is None else replace(signal, values=signal.values[:, column].copy())


def _scaled(signal: Signal, factor: float) -> Signal:
    std = None if signal.std is None else factor * signal.std
    return replace(signal, values=factor * signal.values, std=std)


def _is_still_flipper(name: str, lines: Mapping[str, Signal]) -> bool:
    own = [lines[who].values for who in (LOGGED, COMMAND) if who in lines]
    return name.startswith("flipper angle") and not any(np.ptp(values) > _STILL for values in own)


SHADE = "#7f7f7f"
_LONG_LABEL = 24
"""Letters of a label that has no room beside its panel in one line."""
_COLUMNS = 500
"""A line has at most two points in each: there is no more room for them."""


def draw_panels(panels: Sequence[Panel], phases: Sequence[Phase]) -> Figure | None:
    """Draw the panels that are compared, phases shaded; None if there are none."""
    panels = [panel for panel in panels if panel.is_compared]
    if not panels:
        return None
    rows = math.ceil(len(panels) / 2)
    figure = new_figure(12.0, 0.8 + 1.9 * rows)
    grid = figure.subplots(rows, 2, sharex=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, panel, phases)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes in grid.flat[max(len(panels) - 2, 0) : len(panels)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("time [s]")
    for axes in grid[0, : len(panels)]:
        _name(axes, phases)
    drawn = {name for panel in panels for name in panel.lines}
    figure.legend(handles=list(_handles(drawn)), loc="outside upper center", ncols=5, frameon=False)
    return figure


def _draw_panel(axes: Axes, panel: Panel, phases: Sequence[Phase]) -> None:
    for number, phase in enumerate(phases):
        shade = 0.16 if number % 2 else 0.05
        axes.axvspan(phase.begin, phase.end, color=SHADE, alpha=shade, linewidth=0)
    for name, signal in panel.lines.items():
        colour, style, width = LINE_STYLES[name]
        times, low, high = envelope(signal)
        if signal.std is not None:
            margin = BAND_STDS * signal.std
            face = SHADE if colour == LOGGED_COLOUR else colour
            axes.fill_between(times, low - margin, high + margin, color=face, alpha=0.3, linewidth=0)
        line = np.stack([low, high], axis=1).ravel() if low is not high else low
        when = times if low is high else np.repeat(times, 2)
        axes.plot(when, line, color=colour, linestyle=style, linewidth=width)
    label = panel.label
    axes.set_ylabel(label.replace(", ", ",\n") if len(label) > _LONG_LABEL else label)
    axes.grid(alpha=0.25)


def envelope(signal: Signal) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Times, and the least and greatest values about each of them, as many as can be seen.

    Returns:
        Three arrays of one length; the latter two are one and the same where nothing was left out.
    """
    count = len(signal.times)
    if count <= 2 * _COLUMNS:
        return signal.times, signal.values, signal.values
    edges = np.linspace(signal.times[0], signal.times[-1], _COLUMNS + 1)
    starts = np.unique(np.searchsorted(signal.times, edges[:-1]))
    low = np.minimum.reduceat(signal.values, starts)
    return signal.times[starts], low, np.maximum.reduceat(signal.values, starts)


def _name(axes: Axes, phases: Sequence[Phase]) -> None:
    """Write the phases above a panel, in two heights so that short ones have room."""
    for number, phase in enumerate(phases):
        middle = (phase.begin + phase.end) / 2
        axes.annotate(
            phase.name, (middle, 1.0), (0, 3 + 11 * (number % 2)), fontsize=8, ha="center",
            xycoords=("data", "axes fraction"), textcoords="offset points",
        )  # fmt: skip


def _handles(drawn: set[str]) -> Iterator[Line2D | Patch]:
    for name, (colour, style, width) in LINE_STYLES.items():
        if name in drawn:
            yield Line2D([], [], color=colour, linestyle=style, linewidth=width, label=label_of(name))
    yield Patch(color=SHADE, alpha=0.3, label=f"{BAND_STDS:g} standard deviations of noise")


_MOST_POINTS = 2000
"""Points of a path."""
_FINEST = 2e-3
"""Way between points of a path as a fraction of its extent: noise of a robot at rest is one point."""
_ALONG, _ACROSS = 60, 9
"""Even places at which the terrain is sampled along x, besides its corners, and along y."""
_AROUND, _SHARE = 0.3, 0.1
"""Terrain around the paths: this far [m], and this share of their extent farther."""
_ASIDE = 1e-6
"""Distance before and behind an upright face at which heights are sampled [m]."""


class PathLine(NamedTuple):
    """Times (n,) [s] and positions of the body frame in the world (n, 3) [m]."""

    times: NDArray[np.float64]
    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PathView:
    """Paths, and the terrain about them.

    Attributes:
        lines: Paths by whose they are, see `LINE_STYLES`.
        x: World x of the terrain's samples (n,) [m]; equal ones on both sides of an upright face.
        y: World y of the terrain's samples (m,) [m].
        z: Heights of the terrain (m, n) [m]; NaN where there is no ground.
    """

    lines: Mapping[str, PathLine]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]

    @property
    def box(self) -> NDArray[np.float64]:
        """Corners of all that is shown, least and greatest (2, 3) [m]."""
        points = np.concatenate([line.points for line in self.lines.values()])
        ground = self.z[np.isfinite(self.z)]
        heights = np.concatenate([points[:, 2], ground])
        return np.array([[self.x[0], self.y[0], heights.min()], [self.x[-1], self.y[-1], heights.max()]])


def path_view(
    terrains: Sequence[Terrain], logged: Motion, simulated: Mapping[Run, Motion]
) -> PathView | None:
    """Return the paths of the log and its simulations over their terrain; None if the log has no position."""
    motions = {LOGGED: logged, **{str(run): motion for run, motion in simulated.items()}}
    lines = {who: _line(motion) for who, motion in motions.items() if "position" in motion.signals}
    if LOGGED not in lines:
        return None
    points = np.concatenate([line.points for line in lines.values()])
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    around = _AROUND + _SHARE * float((high - low).max())
    x, sampled = _along(terrains, float(low[0] - around), float(high[0] + around))
    y = np.linspace(low[1] - around, high[1] + around, _ACROSS)
    z = np.max([terrain.height_at(sampled[None, :], y[:, None]) for terrain in terrains], axis=0)
    return PathView(lines, x, y, np.where(np.isfinite(z), z, np.nan))


def _line(motion: Motion) -> PathLine:
    signal = motion.signals["position"]
    rows = np.unique(np.linspace(0, len(signal.times) - 1, _MOST_POINTS).astype(int))
    points, kept = signal.values[rows], [0]
    finest = _FINEST * float(np.ptp(points, axis=0).max())
    for i in range(1, len(points)):
        if np.linalg.norm(points[i] - points[kept[-1]]) > finest or i == len(points) - 1:
            kept.append(i)
    return PathLine(signal.times[rows[kept]], points[kept])


def _along(
    terrains: Sequence[Terrain], low: float, high: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """World x at which the terrain is drawn and sampled (n,) [m]: evenly, and on both sides of corners."""
    even = np.linspace(low, high, _ALONG)
    breaks = np.array([x for terrain in terrains for x in terrain.x_breaks() if low < x < high])
    sampled = np.concatenate([even, breaks - _ASIDE, breaks + _ASIDE])
    drawn = np.concatenate([even, breaks, breaks])
    order = np.argsort(sampled, kind="stable")
    return drawn[order], sampled[order]


def draw_path(view: PathView) -> Figure:
    """Draw the paths over their terrain, obliquely from the right, all axes to one scale."""
    figure = new_figure(12.0, 5.0)
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    for line, y in zip(view.z, view.y, strict=True):
        axes.plot(view.x, np.full_like(view.x, y), line, color=GROUND_EDGE, linewidth=0.7, alpha=0.7)
    for i in np.linspace(0, len(view.x) - 1, _ALONG // 4).astype(int):
        axes.plot(np.full_like(view.y, view.x[i]), view.y, view.z[:, i], color=GROUND, linewidth=0.7)
    for who, line in view.lines.items():
        colour, dashes, width = LINE_STYLES[who]
        axes.plot(*line.points.T, color=colour, linestyle=dashes, linewidth=width, label=label_of(who))
    low, high = view.box
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    for name, axis in zip("xyz", (axes.xaxis, axes.yaxis, axes.zaxis), strict=True):
        getattr(axes, f"set_{name}lim")(low["xyz".index(name)], high["xyz".index(name)])
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
    axes.set_box_aspect(high - low, zoom=1.4)
    axes.locator_params(nbins=5)
    axes.locator_params(axis="z", nbins=2)
    axes.view_init(elev=25.0, azim=-65.0)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


_BELOW = 0.06
_LEVEL = 1e-6
_SKY = "#f2f5f7"
"""Behind the robots, on light and dark pages alike: their belts are dark."""
_FAR = 3.0
"""Robots are far apart if both together are longer or higher than so many lengths of the logged one."""
_BODY_AND_BELTS = ("body", "belt", "flipper belt")


class _View(NamedTuple):
    """Both robots at an instant, as polygons in the world's x and z [m]."""

    logged: list[Polygon]
    simulated: list[Polygon]

    @property
    def corners(self) -> NDArray[np.float64]:
        """Points of all that is to be seen (n, 2) [m]: of the logged robot alone if the other is far away."""
        own = _points(self.logged)
        return own if self.is_far else np.concatenate([own, _points(self.simulated)])

    @property
    def is_far(self) -> bool:
        """True if the simulated robot is too far away to be shown beside the logged one."""
        own, other = _points(self.logged), _points(self.simulated)
        return bool(np.ptp(np.concatenate([own, other]), axis=0).max() > _FAR * np.ptp(own, axis=0).max())


def _points(polygons: Sequence[Polygon]) -> NDArray[np.float64]:
    return np.concatenate([polygon.points for polygon in polygons])


def draw_side_views(
    vehicle: VehicleDescription,
    terrains: Sequence[Terrain],
    logged: Motion,
    simulated: Mapping[Run, Motion],
    instants: Sequence[Instant],
) -> Figure | None:
    """Draw a row for each simulation and a column for each instant.

    Belts are drawn without grousers: no log says where those are. Both robots are whole in each window, but
    for simulated ones that are far away, whose place is written there.

    Returns:
        The figure; None if the log has no position or no pitch, or there is no instant.
    """
    runs = [run for run, motion in simulated.items() if pose_at(motion, 0.0) is not None]
    if not instants or not runs or pose_at(logged, 0.0) is None:
        return None
    views = [[_view(vehicle, logged, simulated[run], instant.time) for instant in instants] for run in runs]
    corners = np.concatenate([view.corners for row in views for view in row])
    low, high = corners[:, 1].min() - _BELOW, corners[:, 1].max() + _BELOW
    reach = 0.55 * max(float(np.ptp(view.corners[:, 0])) for row in views for view in row)
    figure = new_figure(3.1 * len(instants), len(runs) * (0.6 + 3.1 * (high - low) / (2 * reach)))
    grid = figure.subplots(len(runs), len(instants), squeeze=False, sharey=True)
    for line, row, run in zip(grid, views, runs, strict=True):
        for axes, view, instant in zip(line, row, instants, strict=True):
            middle = (view.corners[:, 0].min() + view.corners[:, 0].max()) / 2
            window = (middle - reach, middle + reach, low, high)
            _draw_view(axes, view, terrains, window, RUN_COLOURS[run])
            axes.set_title(f"{instant.name}, {instant.time:.2f} s", loc="left", fontsize=10)
        line[0].set_ylabel(f"by {run} belts\nz [m]")
    for axes in grid[-1]:
        axes.set_xlabel("x [m]")
    return figure


def pose_at(motion: Motion, time: float) -> SidePose | None:
    """Return a robot's pose at a time [s], belts at no travel; None without a position or a pitch."""
    position, pitch = motion.signals.get("position"), motion.angle("pitch")
    if position is None or pitch is None:
        return None
    x, _, z = position.at(time)
    keys = {name: (f"flipper_angle.{name}", f"flipper_angle_command.{name}") for name in motion.flippers}
    signals = {
        name: next(motion.signals[key] for key in both if key in motion.signals)
        for name, both in keys.items()
    }
    flippers = {name: float(signal.at(time)) for name, signal in signals.items()}
    return SidePose(float(x), float(z), float(pitch.at(time)), flippers, {})


def _view(vehicle: VehicleDescription, logged: Motion, simulated: Motion, time: float) -> _View:
    painted, outlined = (_outlines(vehicle, motion, time) for motion in (logged, simulated))
    return _View(painted, [polygon for polygon in outlined if polygon.role in _BODY_AND_BELTS])


def _draw_view(
    axes: Axes,
    view: _View,
    terrains: Sequence[Terrain],
    window: tuple[float, float, float, float],
    colour: str,
) -> None:
    left, right, low, high = window
    axes.add_patch(Rectangle((left, low), right - left, high - low, facecolor=_SKY, zorder=0.5))
    for terrain in terrains:
        outline = profile(terrain, left, right)
        axes.fill_between(
            outline.x, low, outline.z, where=np.isfinite(outline.z), color=GROUND, linewidth=0, zorder=1
        )
        highest = np.max([other.height_at(outline.x) for other in terrains], axis=0)
        seen = np.where(outline.z >= highest - _LEVEL, outline.z, np.nan)
        axes.plot(outline.x, seen, color=GROUND_EDGE, linewidth=1.0, zorder=1.5)
    paint(axes, view.logged)
    edges = [polygon.points for polygon in view.simulated]
    if view.is_far:
        x, z = _points(view.simulated).mean(axis=0)
        text = f"simulated: far away,\nx {x:.2f} m, z {z:.2f} m"
        axes.text(0.03, 0.95, text, transform=axes.transAxes, fontsize=8, va="top", color=colour)
    lines = PolyCollection(edges, facecolors="none", edgecolors=colour, linewidths=1.0)
    lines.set_zorder(4)
    axes.add_collection(lines)
    axes.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    axes.tick_params(labelsize=8)


def _outlines(vehicle: VehicleDescription, motion: Motion, time: float) -> list[Polygon]:
    pose = pose_at(motion, time)
    assert pose is not None
    known = {name: angle for name, angle in pose.flippers.items() if name in vehicle.flippers}
    return side_view(vehicle, SidePose(pose.x, pose.z, pose.pitch, known, {}), "smooth")
