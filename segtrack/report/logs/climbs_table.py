"""Trials at steps beside their simulations, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from segtrack.logs.climbs import ClimbsResult, Confusion, Limit, Rate, TrialResult
from segtrack.logs.climbs.confusion import OUTCOMES
from segtrack.logs.compare import COVERAGE


def climbs_tables(result: ClimbsResult) -> list[Table]:
    """Each trial; how often predictions are right; step limits."""
    tables = [_trials(result), _confusion(result)]
    return [*tables, _limits(result)] if result.limits else tables


def _trials(result: ClimbsResult) -> Table:
    title = result.table.title or "Trials at steps"
    has_published = result.published_confusion is not None
    others = [result.table.simulation] if has_published else []
    table = Table("step [mm]", "driven with", "robot", "here", *others, "undecided by", title=title)
    for trial in result.trials:
        published = [trial.trial.simulation or ""] if has_published else []
        table.add_row(
            f"{1e3 * trial.trial.height:.0f}",
            trial.condition.words,
            trial.trial.outcome,
            _here(trial),
            *published,
            ", ".join(trial.flips).replace("_", " "),
        )
    return table


def _here(trial: TrialResult) -> str:
    words = trial.nominal if trial.nominal != "climbed" else "climbed"
    return words if trial.predicted != "undecided" else f"undecided ({words})"


def _confusion(result: ClimbsResult) -> Table:
    stds = ", ".join(f"{name} {std:g}" for name, std in result.uncertain.items()).replace("_", " ")
    title = f"Predicted, where {COVERAGE:g} standard deviations flip nothing: {stds or 'none are given'}"
    table = Table("", "climbed", "failed", "undecided", "right, Wilson 95 %", title=title)
    for words, confusion in _confusions(result):
        for outcome in OUTCOMES:
            counts = [str(confusion.counts[outcome, p]) for p in ("climbed", "failed", "undecided")]
            rate = confusion.climbed if outcome == "climbed" else confusion.failed
            table.add_row(f"robot {outcome}; {words}", *counts, _rate(rate))
        table.add_row(f"all; {words}", "", "", str(confusion.undecided), _rate(confusion.agreement))
        table.add_section()
    return table


def _confusions(result: ClimbsResult) -> Iterator[tuple[str, Confusion]]:
    yield "here", result.confusion
    yield "here, nothing uncertain", result.nominal_confusion
    if result.published_confusion is not None:
        yield result.table.simulation, result.published_confusion


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return "none decided"
    low, high = rate.interval
    return f"{rate.hits} of {rate.trials}: {low:.0%} to {high:.0%}"


def _limits(result: ClimbsResult) -> Table:
    table = Table(
        "driven with", "robot [mm]", "here [mm]", "moved by [mm]", "intervals", title="Highest step climbed"
    )
    for limit in result.limits:
        moved = (
            f"{name.replace('_', ' ')} {'open' if by is None else f'{1e3 * by:.0f}'}"
            for name, by in limit.by.items()
        )
        table.add_row(
            limit.condition.words,
            f"{_limit(limit.robot)}, {limit.robot.method}",
            _limit(limit.simulated),
            ", ".join(moved),
            "overlap" if limit.agrees else "do not overlap",
        )
    return table


def _limit(limit: Limit) -> str:
    if limit.high is None:
        return f"at least {1e3 * limit.low:.0f}"
    interval = f"{1e3 * limit.low:.0f} to {1e3 * limit.high:.0f}"
    return interval if limit.height is None else f"{1e3 * limit.height:.0f} ({interval})"
