"""Paths of logged and simulated robots over their terrain, in 3-D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from segtrack.logs import Motion
from segtrack.logs.compare import Run
from segtrack.report.logs.panels import LINE_STYLES, LOGGED, label_of
from segtrack.report.side_view import GROUND, GROUND_EDGE, new_figure
from segtrack.terrain import Terrain

_MOST_POINTS = 2000
"""Points of a path."""
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
    return PathLine(signal.times[rows], signal.values[rows])


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
