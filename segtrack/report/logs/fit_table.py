"""A fit as tables for the terminal: parameters, what is not identifiable, and how well logs are met."""

from __future__ import annotations

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from segtrack.logs.fit import Estimate, Fit
from segtrack.logs.fit.stages.estimates import Combination


def fit_tables(found: Fit, truth: Mapping[str, float] | None = None) -> list[Table]:
    """Parameters with their uncertainty, logs with their scores, and combinations of what is not identified.

    Args:
        found: The fit; of one that was interrupted values and scores alone are known.
        truth: Of the parameters, where it is known.
    """
    tables = [_parameters(found, truth or {}), _logs(found)]
    if found.undetermined:
        tables.append(_combinations(found))
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
        known = [_number(truth[estimate.name])] if truth else []
        table.add_row(estimate.name, _number(estimate.unknown.start), *known, *_cells(estimate))
    return table


def _cells(estimate: Estimate) -> list[str]:
    low, high = estimate.interval
    unit = estimate.unknown.unit.replace("-", "")
    told = estimate.status if not estimate.why else f"{estimate.status}: {estimate.why}"
    return [
        f"{_number(estimate.value)} {unit}".rstrip(),
        "-" if estimate.std is None else _number(estimate.std),
        f"{_number(low)} to {_number(high)}",
        told,
    ]


def _logs(found: Fit) -> Table:
    title = "Simulated less logged, root mean square over standard deviation (1 is noise alone)"
    table = Table("log", "", "before", "fitted", "by signal, fitted", title=title)
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
            ", ".join(rmse),
        )
    return table


def _combinations(found: Fit) -> Table:
    table = Table(
        "combination, of values scaled from bound to bound", "std [-]", title="What logs say together"
    )
    for combination in found.undetermined:
        table.add_row(f"not determined: {_sum(combination)}", f"{combination.std:.3g}")
    for combination in found.determined:
        table.add_row(f"determined: {_sum(combination)}", f"{combination.std:.3g}")
    return table


def _sum(combination: Combination) -> str:
    text = " ".join(f"{part:+.2f} {name}" for name, part in combination.parts.items())
    return text.removeprefix("+")


def _number(value: float) -> str:
    return f"{value:.4g}"
