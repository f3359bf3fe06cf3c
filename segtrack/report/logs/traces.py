"""Traces over time and paths in 3-D, as the numbers that a report's page draws when it is looked into."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.logs import Signal
from segtrack.logs.compare import Phase
from segtrack.report.logs.panels import (
    BAND_STDS,
    LINE_STYLES,
    LOGGED_COLOUR,
    RUN_COLOURS,
    Panel,
    label_of,
)
from segtrack.report.logs.time_axis import extreme_rows
from segtrack.report.logs.views import PathView

_BINS = 5_000
MOST_SAMPLES = 4 * _BINS
"""Samples of a trace that a page holds whole; longer ones are thinned to the extremes of bins."""
_DIGITS = 6
"""Significant digits of a trace's largest value."""
_TIME_DIGITS = 6
"""Decimals of times [s]."""
Numbers = list[float | None]


def traces_json(
    panels: Sequence[Panel], residuals: Sequence[Panel], phases: Sequence[Phase], path: PathView | None
) -> str:
    """Return the numbers as JSON that can stand in a page's script.

    | name | what |
    |---|---|
    | `styles` | label, short label, colour (null: the text's) and dashes by whose a line is |
    | `phases` | name, begin and end [s] |
    | `times` | lists of times [s], which lines name by their place |
    | `views` | panels over time, and of simulations less the log: name, unit, `compared`, lines |
    | `path` | `PathView` as lists, or null |

    A line has `of` (whose it is), `times`, `values`, `margin` (two standard deviations of noise, or null) and
    `samples`, the number of samples before it was thinned. A number that is not finite is null.
    """
    times = _Times()
    data = {
        "styles": {
            who: {
                "label": label_of(who),
                "short": f"by {who} belts" if who in RUN_COLOURS else who,
                "colour": None if style.colour == LOGGED_COLOUR else style.colour,
                "dash": {"-": [], "--": [6, 3], ":": [2, 3]}[style.dashes],
            }
            for who, style in LINE_STYLES.items()
        },
        "phases": [vars(phase) for phase in phases],
        "times": times.lists,
        "views": {
            "over time": [_panel(panel, times) for panel in panels],
            "simulation less log": [_panel(panel, times) for panel in residuals],
        },
        "path": None if path is None else _path(path),
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def thinned_note(panels: Iterable[Panel]) -> str:
    """Return a sentence on traces too long to be held whole; empty if there are none."""
    longest = max((len(line.times) for panel in panels for line in panel.lines.values()), default=0)
    if longest <= MOST_SAMPLES:
        return ""
    return (
        f"Traces of more than {MOST_SAMPLES} samples (the longest has {longest}) are thinned: of each of "
        f"{_BINS} stretches the page holds the least and the greatest sample, at their own times."
    )


def script() -> str:
    """Return the page's program: uPlot with its licence, and the page's own."""
    own = files("segtrack.report.logs")
    licence, *code = (
        own.joinpath(*name).read_text("utf-8")
        for name in (("uplot", "LICENSE"), ("uplot", "uPlot.iife.min.js"), ("path.js",), ("traces.js",))
    )
    return "\n".join([f"/*\n{licence}\n*/", *code])


def plot_style() -> str:
    """Return uPlot's style sheet."""
    return files("segtrack.report.logs").joinpath("uplot", "uPlot.min.css").read_text("utf-8")


class _Times:
    """Lists of times, each held once."""

    def __init__(self) -> None:
        self.lists: list[Numbers] = []
        self._places: dict[bytes, int] = {}

    def place_of(self, times: NDArray[np.float64]) -> int:
        """Return the place of a list of times, which is added if it is new."""
        key = times.tobytes()
        if key not in self._places:
            self._places[key] = len(self.lists)
            self.lists.append(_numbers(times, _TIME_DIGITS))
        return self._places[key]


def _panel(panel: Panel, times: _Times) -> dict[str, Any]:
    lines = [_line(who, signal, times) for who, signal in panel.lines.items()]
    return {"name": panel.name, "unit": panel.unit, "compared": panel.is_compared, "lines": lines}


def _line(who: str, signal: Signal, times: _Times) -> dict[str, Any]:
    rows = extreme_rows(signal.values, _BINS)
    values = signal.values[rows]
    return {
        "of": who,
        "times": times.place_of(signal.times[rows]),
        "values": _numbers(values, _decimals(values)),
        "margin": None if signal.std is None else float(f"{BAND_STDS * signal.std:.3g}"),
        "samples": len(signal.times),
    }


def _decimals(values: NDArray[np.float64]) -> int:
    """Decimals that give the largest of values its significant digits."""
    largest = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
    return _DIGITS - math.ceil(math.log10(largest)) if largest > 0 else 0


def _numbers(values: NDArray[np.float64], decimals: int) -> Numbers:
    rounded = np.round(values, decimals)
    return [value if math.isfinite(value) else None for value in rounded.tolist()]


def _path(path: PathView) -> dict[str, Any]:
    def lists(rows: NDArray[np.float64]) -> list[Numbers]:
        return [_numbers(row, 4) for row in rows]

    return {
        "lines": [
            {"of": who, "times": _numbers(line.times, _TIME_DIGITS), "points": lists(line.points)}
            for who, line in path.lines.items()
        ],
        "x": _numbers(path.x, 4),
        "y": _numbers(path.y, 4),
        "z": lists(path.z),
    }
