"""Fit of a vehicle's parameters, as tables, figures and an outcome."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.logs.fit import (
    Fit,
    FittedCase,
    ParameterEstimate,
    Profile,
    SharedEstimate,
    advice_of,
    compare_models,
    with_unit,
)
from segtrack.report.outcome import Outcome
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure


def fit_tables(found: Fit, truth: Mapping[str, float] | None = None) -> list[Table]:
    """Parameters with their uncertainty, logs with their scores, and what these tell and leave open.

    Args:
        found: The fit; of one that was interrupted values and scores alone are known.
        truth: Truth of the parameters, where it is known.
    """
    tables = [_parameters(found, truth or {}), _logs(found)]
    if found.finished:
        tables.append(_information(found))
    if found.undetermined:
        tables.append(_combinations(found))
    if advice := advice_of(found):
        table = Table("parameter", "a further log should have", title="What the logs leave open")
        for name, text in advice.items():
            table.add_row(name, text)
        tables.append(table)
    return tables


def _parameters(found: Fit, truth: Mapping[str, float]) -> Table:
    title = f"{found.start.name}: parameters fitted to logs"
    if not found.finished:
        table = Table("parameter", "best so far", title=f"{title}, interrupted")
        for name, value in found.values.items():
            table.add_row(name, f"{value:.4g}")
        return table
    headers = ["parameter", "start", *(["truth"] if truth else []), "fitted", "std", "95 % interval", ""]
    table = Table(*headers, title=title)
    for estimate in found.estimates:
        known = [f"{truth[estimate.name]:.4g}"] if truth else []
        table.add_row(estimate.name, f"{estimate.unknown.start:.4g}", *known, *_cells(estimate))
    return table


def _cells(estimate: ParameterEstimate) -> list[str]:
    value, std, (low, high) = estimate.value, estimate.std, estimate.interval
    return [
        with_unit(value, estimate.unknown.unit),
        "-" if std is None else f"{std:.4g}",
        f"{low:.4g} to {high:.4g}",
        estimate.status if not estimate.why else f"{estimate.status}: {estimate.why}",
    ]


def _logs(found: Fit) -> Table:
    title = "Simulated less logged, root mean square over standard deviation (1 is noise alone)"
    left = ["as written"] if found.remarks else []
    placed = ["place on its terrain"] if any(case.case.place_std > 0 for case in found.cases) else []
    table = Table("log", "", "before", "fitted", *left, *placed, "by signal, fitted", title=title)
    for case in found.cases:
        rmse = [
            f"{label} {escape(f'{value:.3g} {unit}')}"
            for (label, value), unit in zip(case.score.rmse.items(), case.case.rows.units, strict=True)
            if value is not None
        ]
        table.add_row(
            case.case.name,
            "held out" if case.case.held_out else "fitted",
            str(case.score_before),
            str(case.score),
            *[str(case.score_written) for _ in left],
            *[_place(case) for _ in placed],
            ", ".join(rmse),
        )
    return table


def _place(case: FittedCase) -> str:
    """Place of a log, less that where it was put, beside how well that was known."""
    if case.case.place_std == 0.0:
        return "known"
    std = "" if case.place_std is None else f" +- {1e3 * case.place_std:.2g}"
    return (
        f"{1e3 * case.offsets.place:+.1f}{std} mm from where it was put, +- {1e3 * case.case.place_std:.2g}"
    )


_TOLD = 3
"""Largest number of signals that are named for a parameter, those first that tell most."""


def _information(found: Fit) -> Table:
    """Signals that tell most of each parameter."""
    table = Table("parameter", "signals, by their share", title="Which signals tell of a parameter")
    labels = {case.case.name: case.case.rows.labels for case in found.cases}
    for i, estimate in enumerate(found.estimates):
        shares = [
            (float(share), f"{label} of {name}")
            for name, table_of in found.information.items()
            for label, share in zip(labels[name], table_of[:, i], strict=True)
        ]
        most = sorted(shares, reverse=True)[:_TOLD]
        named = [f"{where} {share:.0%}" for share, where in most if share >= 0.005]
        table.add_row(estimate.name, ", ".join(named) or "none")
    return table


def _combinations(found: Fit) -> Table:
    table = Table(
        "combination, of values scaled from bound to bound", "std [-]", title="What logs say together"
    )
    for kind, combinations in (("not determined", found.undetermined), ("determined", found.determined)):
        for combination in combinations:
            text = " ".join(f"{part:+.2f} {name}" for name, part in combination.parts.items())
            table.add_row(f"{kind}: {text.removeprefix('+')}", f"{combination.std:.3g}")
    return table


Array = NDArray[np.float64]
_MEASURED, _BEFORE, _AFTER, _TRUTH = "black", SEGMENT_COLOURS[1], SEGMENT_COLOURS[0], SEGMENT_COLOURS[2]
_COLUMNS = 3
"""Number of profiles beside each other."""


def draw_profiles(found: Fit, truth: Mapping[str, float] | None = None) -> Figure:
    """The profile of each unknown with its interval, and the correlations of all of them.

    Args:
        found: A fit that went through all stages.
        truth: Truth of the parameters, where it is known.
    """
    assert found.uncertainty is not None
    count = len(found.estimates) + 1
    rows = math.ceil(count / _COLUMNS)
    figure = new_figure(4.2 * min(count, _COLUMNS), 3.4 * rows)
    grid = figure.subplots(rows, min(count, _COLUMNS), squeeze=False).ravel()
    quantile = found.uncertainty.quantile
    for axes, estimate, profile in zip(grid, found.estimates, found.profiles, strict=False):
        _draw_profile(axes, estimate, profile, quantile, (truth or {}).get(estimate.name))
    _draw_correlations(grid[count - 1], found)
    for axes in grid[count:]:
        axes.set_axis_off()
    return figure


def draw_fit(found: Fit) -> Figure:
    """Each log's signals, measured and simulated before and after, a row a log."""
    widest = max(len(case.case.rows.labels) for case in found.cases)
    figure = new_figure(3.4 * widest, 2.4 * len(found.cases))
    grid = figure.subplots(len(found.cases), widest, squeeze=False)
    for row, case in zip(grid, found.cases, strict=True):
        for k, axes in enumerate(row):
            if k >= len(case.case.rows.labels):
                axes.set_axis_off()
            elif case.case.rows.times is None:
                _draw_rows(axes, case, k)
            else:
                _draw_series(axes, case, k)
        held = ", held out" if case.case.held_out else ""
        row[0].set_title(
            f"{case.case.name}{held}: {case.score_before} before, {case.score} fitted", loc="left", fontsize=9
        )
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def _draw_profile(
    axes: Axes, estimate: ParameterEstimate, profile: Profile, quantile: float, truth: float | None
) -> None:
    unknown, unit = estimate.unknown, estimate.unknown.unit
    values = [unknown.value(x) for x in profile.scaled.tolist()]
    low, high = estimate.interval
    axes.axvspan(low, high, color=_AFTER, alpha=0.18 if estimate.is_bounded else 0.07, linewidth=0)
    axes.plot(values, profile.distances, "o-", color=_AFTER, markersize=4)
    axes.axhline(quantile, color="grey", linewidth=0.8, linestyle=":")
    axes.axvline(estimate.value, color=_AFTER, linewidth=0.8)
    axes.axvline(unknown.start, color=_BEFORE, linewidth=0.8, linestyle="--")
    if truth is not None:
        axes.axvline(truth, color=_TRUTH, linewidth=1.4)
    axes.set_ylim(0, max(2.2 * quantile, 1.1 * min(float(profile.distances.max()), 3 * quantile)))
    label_axes(axes, f"{estimate.name} [{unit}]", "distance [std]", estimate.status, size=10)


def _draw_correlations(axes: Axes, found: Fit) -> None:
    assert found.uncertainty is not None
    names = [estimate.name for estimate in found.estimates]
    correlations = found.uncertainty.correlations[: len(names), : len(names)]
    axes.imshow(correlations, cmap="coolwarm", vmin=-1, vmax=1)
    for i, j in np.ndindex(len(names), len(names)):
        axes.text(j, i, f"{correlations[i, j]:.2f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_title("correlations", loc="left", fontsize=10)


def _simulated(case: FittedCase) -> Iterator[tuple[Array, str, str]]:
    """Residuals with their colour and label, of simulations that did not diverge."""
    if not case.score_before.diverged:
        yield case.before, _BEFORE, "before"
    if not case.score.diverged:
        yield case.after, _AFTER, "fitted"


def _draw_series(axes: Axes, case: FittedCase, k: int) -> None:
    rows = case.case.rows
    assert rows.times is not None
    there = rows.there[:, k]
    times, measured = rows.times[there, k], rows.measured[there, k]
    axes.plot(times, measured, color=_MEASURED, linewidth=1.6, alpha=0.5, label="logged")
    for residuals, colour, label in _simulated(case):
        simulated = measured + residuals[there, k] * rows.std[there, k]
        axes.plot(times, simulated, color=colour, linewidth=0.9, label=label)
    _label(axes, "time [s]", f"{rows.labels[k]} [{rows.units[k]}]")


def draw_residuals(found: Fit) -> Figure:
    """Residuals of each log's signals in standard deviations, a row a log; corners of the loss are dotted."""
    widest = max(len(case.case.rows.labels) for case in found.cases)
    figure = new_figure(3.4 * widest, 2.2 * len(found.cases))
    grid = figure.subplots(len(found.cases), widest, squeeze=False)
    for row, case in zip(grid, found.cases, strict=True):
        rows = case.case.rows
        for k, axes in enumerate(row):
            if k >= len(rows.labels):
                axes.set_axis_off()
                continue
            there = rows.there[:, k]
            places = np.flatnonzero(there) if rows.times is None else rows.times[there, k]
            for residuals, colour, label in _simulated(case):
                axes.plot(places, residuals[there, k], ".", color=colour, markersize=2, label=label)
            axes.axhline(0.0, color="grey", linewidth=0.8)
            corner = found.corners.get(case.case.name, np.full(len(rows.labels), np.inf))[k]
            for side in (-corner, corner) if np.isfinite(corner) else ():
                axes.axhline(side, color="grey", linewidth=0.8, linestyle=":")
            _label(axes, "row" if rows.times is None else "time [s]", f"{rows.labels[k]} [std]")
        row[0].set_title(case.case.name, loc="left", fontsize=9)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _draw_rows(axes: Axes, case: FittedCase, k: int) -> None:
    """Simulated over measured, of what has no time."""
    rows = case.case.rows
    measured = rows.measured[:, k]
    ends = [float(measured.min()), float(measured.max())]
    axes.plot(ends, ends, color=_MEASURED, linewidth=1.0, label="logged")
    for residuals, colour, label in _simulated(case):
        simulated = measured + residuals[:, k] * rows.std[:, k]
        axes.plot(measured, simulated, "o", color=colour, markersize=3, alpha=0.6, label=label)
    _label(axes, f"logged {rows.labels[k]} [{rows.units[k]}]", "simulated")


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x, fontsize=8)
    axes.set_ylabel(y, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)


def fit_outcome(found: Fit, truth: Mapping[str, float] | None = None) -> Outcome:
    """Describe a fit.

    Args:
        found: The fit, finished or interrupted.
        truth: True values of the parameters, where they are known.
    """
    summary = found.summary()
    files = {"fit.json": summary, "fit.png": draw_fit(found), "residuals.png": draw_residuals(found)}
    if found.finished:
        files["profiles.png"] = draw_profiles(found, truth)
    interrupted = "" if found.finished else "interrupted: the best so far is kept; --resume goes on"
    return Outcome(fit_tables(found, truth), summary, files, interrupted=interrupted)


def models_table(shared: Sequence[SharedEstimate]) -> Table:
    """Values by model, and the interval that has the discrepancy between them."""
    models = list(shared[0].by_model)
    table = Table(
        "parameter", *models, "together", "discrepancy", "95 % interval", title="Track models side by side"
    )
    for each in shared:
        own = [
            f"{e.value:.4g}" + ("" if e.std is None else f" ({e.std:.2g})") for e in each.by_model.values()
        ]
        joint = ["-", "-", "fewer than two models bound it"]
        if each.value is not None and each.interval is not None:
            low, high = each.interval
            joint = [
                with_unit(each.value, each.unit),
                f"{each.discrepancy:.2g}",
                f"{low:.4g} to {high:.4g}",
            ]
        table.add_row(each.name, *own, *joint)
    return table


def draw_models(shared: Sequence[SharedEstimate]) -> Figure:
    """Intervals of each parameter by model, and together."""
    figure = new_figure(3.6 * len(shared), 0.9 + 0.45 * (len(shared[0].by_model) + 1))
    for axes, each in zip(figure.subplots(1, len(shared), squeeze=False)[0], shared, strict=True):
        rows = [(model, e.value, e.interval) for model, e in each.by_model.items()]
        if each.value is not None and each.interval is not None:
            rows.append(("together", each.value, each.interval))
        for k, (_, value, (low, high)) in enumerate(rows):
            axes.plot([low, high], [-k, -k], color=SEGMENT_COLOURS[k % len(SEGMENT_COLOURS)], linewidth=2.5)
            axes.plot([value], [-k], "o", color=SEGMENT_COLOURS[k % len(SEGMENT_COLOURS)])
        axes.set_yticks([-k for k in range(len(rows))], [name for name, *_ in rows])
        label_axes(axes, f"{each.name} [{each.unit}]", "")
    return figure


def models_outcome(fits: Mapping[str, Fit]) -> Outcome:
    """Describe fits with several track models.

    Args:
        fits: Finished fits to the same logs, by the name of their track model.
    """
    shared, tables, files = compare_models(fits), list[Table](), dict[str, Any]()
    for model, found in fits.items():
        files |= {f"{model}/{name}": content for name, content in fit_outcome(found).files.items()}
        for table in fit_tables(found):
            table.title = f"{model}: {table.title}"
            tables.append(table)
    summary = {
        "models": {model: found.summary() for model, found in fits.items()},
        "parameters": [each.summary() for each in shared],
    }
    files |= {"models.json": summary, "models.png": draw_models(shared)}
    return Outcome([*tables, models_table(shared)], summary, files)
