"""Figure of logged and simulated signals over time, one over the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from segtrack.logs import Motion, Signal
from segtrack.logs.compare import Phase
from segtrack.logs.compare.comparison import Run
from segtrack.report.side_view import SEGMENT_COLOURS, new_figure

RUN_COLOURS: Mapping[Run, str] = {"commanded": SEGMENT_COLOURS[1], "measured": SEGMENT_COLOURS[0]}
LOGGED_COLOUR = "black"
SHADE = "#7f7f7f"
_STYLES: Mapping[str, tuple[str, Literal["-", "--", ":"], float]] = {
    "logged": (LOGGED_COLOUR, "-", 1.3),
    "logged command": (LOGGED_COLOUR, ":", 1.0),
    "commanded": (RUN_COLOURS["commanded"], "--", 1.3),
    "measured": (RUN_COLOURS["measured"], "-", 1.3),
}
"""Colour, style and width of a line by whose it is."""
_STDS = 2.0
"""Half the width of a band, in standard deviations."""
_COLUMNS = 500
"""A line has at most two points in each: there is no more room for them."""
_STILL = math.radians(1.0)
"""A flipper that moves no more than this has no panel."""


class _Panel(NamedTuple):
    """A quantity that the log and a simulation have: label of its axis, signals by whose they are, scale."""

    label: str
    lines: Mapping[str, Signal]
    scale: float


def draw_series(logged: Motion, simulated: Mapping[Run, Motion], phases: Sequence[Phase]) -> Figure | None:
    """Draw every quantity that the log and a simulation have, phases shaded; None if they share none."""
    panels = list(_panels(logged, simulated))
    if not panels:
        return None
    rows = math.ceil(len(panels) / 2)
    figure = new_figure(12.0, 0.8 + 1.9 * rows)
    grid = figure.subplots(rows, 2, sharex=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw(axes, panel, phases)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes in grid.flat[len(panels) - 2 : len(panels)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("time [s]")
    for axes in grid[0, : len(panels)]:
        _name(axes, phases)
    drawn = {name for panel in panels for name in panel.lines}
    figure.legend(handles=list(_handles(drawn)), loc="outside upper center", ncols=5, frameon=False)
    return figure


def _panels(logged: Motion, simulated: Mapping[Run, Motion]) -> Iterator[_Panel]:
    motions = {"logged": logged, **{str(run): motion for run, motion in simulated.items()}}
    degrees = math.degrees(1.0)
    found = [("pitch, nose up [deg]", degrees, {name: m.angle("pitch") for name, m in motions.items()})]
    for i, axis in enumerate("xyz"):
        found.append((f"{axis} [m]", 1.0, {name: _component(m, i) for name, m in motions.items()}))
    for angle in ("yaw", "roll"):
        found.append((f"{angle} [deg]", degrees, {name: m.angle(angle) for name, m in motions.items()}))
    for side in ("left", "right"):
        found.append((f"belt speed, {side} [m/s]", 1.0, _beside_command(motions, "belt_speed", side)))
    for name in (name for name in logged.flippers if _moves(logged, name)):
        found.append((f"{name} [deg]", degrees, _beside_command(motions, "flipper_angle", name)))
    for label, scale, signals in found:
        lines = {name: signal for name, signal in signals.items() if signal is not None}
        if any(name.startswith("logged") for name in lines) and any(run in lines for run in simulated):
            yield _Panel(label, lines, scale)


def _beside_command(motions: Mapping[str, Motion], quantity: str, which: str) -> dict[str, Signal | None]:
    found = {name: motion.signals.get(f"{quantity}.{which}") for name, motion in motions.items()}
    return {"logged command": motions["logged"].signals.get(f"{quantity}_command.{which}"), **found}


def _component(motion: Motion, column: int) -> Signal | None:
    signal = motion.signals.get("position")
    return None if signal is None else Signal(signal.times, signal.values[:, column].copy(), signal.std)


def _moves(motion: Motion, flipper: str) -> bool:
    keys = (f"flipper_angle.{flipper}", f"flipper_angle_command.{flipper}")
    return any(np.ptp(motion.signals[key].values) > _STILL for key in keys if key in motion.signals)


def _draw(axes: Axes, panel: _Panel, phases: Sequence[Phase]) -> None:
    for number, phase in enumerate(phases):
        shade = 0.16 if number % 2 else 0.05
        axes.axvspan(phase.begin, phase.end, color=SHADE, alpha=shade, linewidth=0)
    for name, signal in panel.lines.items():
        colour, style, width = _STYLES[name]
        times, low, high = envelope(signal)
        if signal.std is not None:
            margin = _STDS * signal.std
            band = panel.scale * (low - margin), panel.scale * (high + margin)
            face = SHADE if colour == LOGGED_COLOUR else colour
            axes.fill_between(times, *band, color=face, alpha=0.3, linewidth=0)
        line = np.stack([low, high], axis=1).ravel() if low is not high else low
        when = times if low is high else np.repeat(times, 2)
        axes.plot(when, panel.scale * line, color=colour, linestyle=style, linewidth=width)
    axes.set_ylabel(panel.label)
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
    for name, (colour, style, width) in _STYLES.items():
        if name in drawn:
            label = f"simulated by {name} belts" if name in RUN_COLOURS else name
            yield Line2D([], [], color=colour, linestyle=style, linewidth=width, label=label)
    yield Patch(color=SHADE, alpha=0.3, label=f"{_STDS:g} standard deviations of noise")
