"""Tables and figures of the success rates of policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.envs.learning import NOMINAL, Evaluation, EvaluationSetup, LevelResult, short_name
from segtrack.report.side_view import label_axes, new_figure

_MARKERS = "osD^v*"


def evaluation_tables(result: Evaluation) -> list[Table]:
    """Return tables of success rates with intervals; a column for each policy and track model.

    The first has a row for each level; the second, where there are several conditions, one for each of these.
    Numbers behind a comma are differences to the first track model and condition, in points.
    """
    setup = result.setup
    title = f"{setup.task}, {setup.vehicle}: success, 95 % interval, of {setup.episodes} episodes"
    columns = _columns(setup)
    first, *others = setup.conditions
    table = Table(result.difficulty, *columns, title=title)
    for level in setup.levels_of(first):
        table.add_row(f"{level:g}", *_cells(result, columns, level, first))
    if not others:
        return [table]
    changed = Table(result.difficulty, "condition", *columns, title=title)
    for level in setup.levels_of(others[0]):
        for name in setup.conditions:
            changed.add_row(f"{level:g}", name, *_cells(result, columns, level, name))
        changed.add_section()
    return [table, changed]


def _columns(setup: EvaluationSetup) -> dict[str, tuple[str, str]]:
    """Policy and track model of each column, by the column's label."""
    labels = zip(setup.policies, _labels(setup.policies), strict=True)
    several = len(setup.models) > 1
    return {
        f"{label}, {model}" if several else label: (policy, model)
        for policy, label in labels
        for _, model in setup.models
    }


def _cells(
    result: Evaluation, columns: Mapping[str, tuple[str, str]], level: float, condition: str
) -> list[str]:
    cells = []
    for policy, model in columns.values():
        found = result.of(policy=policy, track_model=model, level=level, condition=condition)
        cells.append(_rate_cell(result, found))
    return cells


def _rate_cell(result: Evaluation, found: Sequence[LevelResult]) -> str:
    """Success rate with its interval; for an interrupted case also the number of episodes."""
    if not found:
        return "not run"
    (at,) = found
    low, high = at.interval
    short = f" of {len(at.episodes)}" if len(at.episodes) < result.setup.episodes else ""
    first = result.reference(at)
    points = "" if first is None else f", {100 * (at.rate - first.rate):+.1f}"
    return f"{at.rate:.1%} ({100 * low:.1f} to {100 * high:.1f}){short}{points}"


def draw_evaluation(result: Evaluation) -> Figure:
    """Draw success rates with intervals over the difficulty, and over any conditions."""
    setup = result.setup
    panels = 1 if setup.conditions == (NOMINAL,) else 2
    figure = new_figure(8.0, 4.8 * panels)
    axes = figure.subplots(panels, 1, squeeze=False)[:, 0]
    title = f"{setup.task}, {setup.vehicle}: {setup.episodes} episodes a point, Wilson 95 % intervals"
    levels = setup.levels_of(setup.conditions[0])
    width = min(np.diff(levels), default=1.0)
    at_levels = {level: level for level in levels}
    _draw_rates(axes[0], result, "level", at_levels, width, {"condition": setup.conditions[0]})
    axes[0].set_xticks(levels, [f"{level:g}" for level in levels])
    label_axes(axes[0], result.difficulty, "success rate", title, size=12.0)
    if panels > 1:
        level = setup.levels_of(setup.conditions[-1])[-1]
        places = {name: float(i) for i, name in enumerate(setup.conditions)}
        _draw_rates(axes[1], result, "condition", places, 1.0, {"level": level})
        axes[1].set_xticks(list(places.values()), list(places), rotation=15)
        axes[1].set_ylabel(f"success rate, {result.difficulty} = {level:g}")
        axes[1].grid(alpha=0.25)
    for each in axes:
        each.set_ylim(-0.04, 1.04)
    axes[0].legend()
    return figure


def _draw_rates(
    axes: Axes,
    result: Evaluation,
    name: str,
    places: Mapping[Any, float],
    width: float,
    fixed: Mapping[str, Any],
) -> None:
    """Draw the rates of each policy and track model, side by side so that intervals can be told apart.

    Args:
        axes: Axes to draw on.
        result: Results of the evaluation.
        name: Field of `EvaluationCase` along x.
        places: Place of each of its values along x.
        width: Distance between neighbouring places.
        fixed: Values of the other fields, by name.
    """
    columns, models = _columns(result.setup), [model for _, model in result.setup.models]
    for number, (label, (policy, model)) in enumerate(columns.items()):
        found = result.of(policy=policy, track_model=model, **fixed)
        if not found:
            continue
        aside = min(0.06, 0.2 / len(columns)) * width * (number - (len(columns) - 1) / 2)
        x = np.array([places[getattr(at.case, name)] for at in found]) + aside
        rates = np.array([at.rate for at in found])
        low, high = np.array([at.interval for at in found]).T
        errors = np.clip([rates - low, high - rates], 0.0, None)
        colour, marker = f"C{number // len(models)}", _MARKERS[number % len(models) % len(_MARKERS)]
        line = "-" if name == "level" else ""
        axes.errorbar(x, rates, errors, marker=marker, linestyle=line, capsize=3, color=colour, label=label)


def _labels(policies: Sequence[str]) -> list[str]:
    """Return short names of policies or policy files; equal file names get their folder."""
    short = [short_name(policy) for policy in policies]
    return [p if short.count(name) > 1 else name for p, name in zip(policies, short, strict=True)]
