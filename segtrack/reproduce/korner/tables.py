"""Tables of the study beside the paper's numbers."""

from __future__ import annotations

from rich.table import Table

from segtrack.reproduce.korner import paper
from segtrack.reproduce.korner.result import KornerResult, trend
from segtrack.reproduce.korner.series import SeriesResult


def korner_tables(result: KornerResult) -> tuple[Table, ...]:
    """Return limits, trapezoids, half-rounds and trends; parts that were not run have no rows."""
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
