"""`segtrack reproduce korner`: an M113 at Koerner's obstacles, and at steps with its sprocket moved."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.experiments import Assumptions, run_parallel
from segtrack.report import SEGMENT_COLOURS, Outcome, colour_of, label_axes, new_figure
from segtrack.reproduce.korner import paper
from segtrack.reproduce.korner.free_body import draw_free_bodies, find_free_body, stuck_runs
from segtrack.reproduce.korner.plan import make_plan
from segtrack.reproduce.korner.result import KornerResult, run_plan, trend
from segtrack.reproduce.korner.series import SeriesResult
from segtrack.reproduce.registry import Session


def korner_tables(result: KornerResult) -> tuple[Table, ...]:
    """Return tables of limits, trapezoids, half-rounds and trends; parts that were not run have no rows."""
    return (_limits(result), _trapezoids(result), _half_rounds(result), _trends(result))


def _limits(result: KornerResult) -> Table:
    table = Table("event", "passed [m]", "failed [m]", "why", "paper", title="M113 at steps and gaps")
    for each in (*result.steps, *result.gaps):
        published = (paper.STEP_PASSED, paper.STEP_FAILED)
        if each in result.gaps:
            published = (paper.GAP_PASSED, paper.GAP_FAILED)
        failed = each.failed
        why = failed.ending if failed else "all that were tried were passed"
        beside = "{:.2f}, {:.2f}".format(*published)
        tried = f"{failed.tried:.2f}" if failed else ""
        table.add_row(each.series.name, _number(each.largest), tried, why, beside)
    return table


def _trapezoids(result: KornerResult) -> Table:
    numbers = [str(n) for n in range(1, 13)]
    table = Table("trapezoids", *numbers, title="S passed, F failed")
    for kind, columns in (("barrier", paper.BARRIERS), ("ditch", paper.DITCHES)):
        for name, marks in (*columns.items(), ("segtrack", result.marks(kind))):
            cells = [f"[red]{mark}[/red]" if mark == "F" else mark for mark in marks]
            table.add_row(f"{kind}, {name}", *cells)
        table.add_section()
    return table


def _half_rounds(result: KornerResult) -> Table:
    headers = ("half-round", "2.5 g at [m/s]", "low-passed at [m/s]", "highest tried [m/s]", "then with")
    table = Table(*headers, title="Limiting speeds at the driver's place")
    for each in result.half_rounds:
        last = each.trials[-1]
        table.add_row(
            each.series.name,
            _number(each.limiting_speed(lambda trial: trial.peak)),
            _number(each.limiting_speed(lambda trial: trial.filtered_peak)),
            f"{last.tried:g}",
            last.peak_with if last.passed else last.ending,
        )
    return table


def _trends(result: KornerResult) -> Table:
    table = Table(
        "limits", "places", "default", "least to most", "per m up", "per m forward",
        title="Evaluation model, sprocket moved: largest steps in m, speeds at 2.5 g in m/s; "
        f"paper: {paper.PLACES} places, {paper.EVALUATION_STEP} m by default, higher climbs higher, "
        "no trend forward",
    )  # fmt: skip
    for name, runs in result.maps().items():
        heights = [each.limit for each in runs if each.limit is not None]
        made = f"{sum(not each.refused for each in runs)} of {len(runs)}"
        span = f"{min(heights):.2f} to {max(heights):.2f}" if heights else ""
        slopes = (_number(trend(runs, axis)) for axis in (1, 0))
        table.add_row(name, made, _number(_default(runs)), span, *slopes)
    return table


def _default(runs: tuple[SeriesResult, ...]) -> float | None:
    return next((each.limit for each in runs if each.series.place == (0.0, 0.0)), None)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def draw_korner(result: KornerResult) -> Figure:
    """Draw the study, with a row of maps for each driving mode."""
    maps = result.maps()
    figure = new_figure(13.0, 4.8 * (1 + len(maps)))
    cells = figure.subplots(1 + len(maps), 2, squeeze=False)
    _draw_paths(cells[0, 0], result)
    _draw_peaks(cells[0, 1], result)
    for row, (name, runs) in zip(cells[1:], maps.items(), strict=True):
        _draw_map(figure, row[0], name, runs)
        _draw_trend(row[1], runs)
    return figure


def _draw_paths(axes: Axes, result: KornerResult) -> None:
    for i, each in enumerate(result.steps):
        for trial in each.trials[-2:]:
            x, z = np.array(trial.path).T
            label = f"{each.series.name}: {trial.tried:.2f} m" if trial.passed else None
            axes.plot(x, z, "-" if trial.passed else ":", color=colour_of(i), label=label, linewidth=1.3)
    label_axes(axes, "x [m]", "height [m]", "Middle between the sprockets; dotted: failed")
    axes.set_xlim(-1.0, 5.0)
    axes.set_ylim(0.0, 6.0)
    if result.steps:
        axes.legend(fontsize=7)


def _draw_peaks(axes: Axes, result: KornerResult) -> None:
    for i, each in enumerate(result.half_rounds):
        speeds = [trial.tried for trial in each.trials]
        axes.plot(speeds, [trial.peak for trial in each.trials], "o-", color=colour_of(i), markersize=3,
                  label=each.series.name)  # fmt: skip
        axes.plot(speeds, [trial.filtered_peak for trial in each.trials], "--", color=colour_of(i))
    axes.axhline(Assumptions.peak_limit, color="black", linewidth=0.8)
    axes.set_ylim(0.0, 3 * Assumptions.peak_limit)
    label_axes(axes, "speed [m/s]", "largest acceleration [g]", "Driver; dashed: low-passed at 30 Hz")
    if result.half_rounds:
        axes.legend(fontsize=8)


def _draw_map(figure: Figure, axes: Axes, name: str, runs: tuple[SeriesResult, ...]) -> None:
    found = {each.series.place: each.limit for each in runs if each.series.place is not None}
    across, up = (sorted({place[axis] for place in found}) for axis in (0, 1))
    grid = np.full((len(up), len(across)), np.nan)
    for (x, z), height in found.items():
        grid[up.index(z), across.index(x)] = np.nan if height is None else height
    axes.set_facecolor("#dddddd")
    image = axes.pcolormesh(across, up, np.ma.masked_invalid(grid), shading="nearest", cmap="viridis")
    figure.colorbar(image, ax=axes, label=_measure(runs))
    for (row, column), height in np.ndenumerate(grid):
        if np.isfinite(height):
            colour = "white" if height < np.nanmean(grid) else "black"
            axes.text(across[column], up[row], f"{height:.2f}", ha="center", va="center", color=colour)
    label_axes(axes, "sprocket forward [m]", "sprocket up [m]", f"{name}; grey: none")
    axes.grid(visible=False)


def _draw_trend(axes: Axes, runs: tuple[SeriesResult, ...]) -> None:
    for i, x in enumerate(sorted({each.series.place.x for each in runs if each.series.place})):
        line = [
            (each.series.place.z, each.limit)
            for each in runs
            if each.series.place and each.series.place.x == x and each.limit is not None
        ]
        if line:
            axes.plot(*np.array(sorted(line)).T, "o-", color=colour_of(i % len(SEGMENT_COLOURS)),
                      label=f"forward {x:+.2f} m")  # fmt: skip
    label_axes(axes, "sprocket up [m]", _measure(runs), "The same over the sprocket's height")
    if axes.lines:
        axes.legend(fontsize=8)


def _measure(runs: tuple[SeriesResult, ...]) -> str:
    """Name and unit of the limit that runs search for."""
    launched = any(each.series.driving == "launch" for each in runs)
    return f"speed at {Assumptions.peak_limit:g} g [m/s]" if launched else "largest step [m]"


def run(
    session: Session,
    *,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="The paper's 69 places of the sprocket, its increments, and creeping: "
            "three to four hours on two cores.",
        ),
    ] = False,
) -> Outcome:
    """Run the study of obstacles and sprocket places."""
    plan = make_plan(full)
    with session.counting("driving", len(plan.series)) as done:
        result = run_plan(plan, on_done=done)
    bodies = run_parallel(find_free_body, stuck_runs((*result.steps, *result.gaps)))
    summary = {"full": full, **result.summary(), "free_bodies": [body.summary() for body in bodies]}
    files = {"korner.json": summary, "korner.png": draw_korner(result)}
    if bodies:
        files["korner_forces.png"] = draw_free_bodies(bodies)
    return Outcome(korner_tables(result), summary, files)
