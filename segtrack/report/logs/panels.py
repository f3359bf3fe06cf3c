"""Quantities of a log and its simulations, beside each other or over time in one figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from segtrack.logs import Motion, Signal, quantity_of
from segtrack.logs.compare import Phase, Run
from segtrack.report.side_view import SEGMENT_COLOURS, new_figure

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
        _draw(axes, panel, phases)
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


def _draw(axes: Axes, panel: Panel, phases: Sequence[Phase]) -> None:
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
    for name, (colour, style, width) in LINE_STYLES.items():
        if name in drawn:
            yield Line2D([], [], color=colour, linestyle=style, linewidth=width, label=label_of(name))
    yield Patch(color=SHADE, alpha=0.3, label=f"{BAND_STDS:g} standard deviations of noise")
