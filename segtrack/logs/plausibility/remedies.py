"""Mapping lines that would explain contradictions: each edit is tried on the log and checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping import MappedLog, MappingFile, map_log
from segtrack.logs.plausibility.edits import Edit, edits_for, with_care
from segtrack.logs.plausibility.evidence import LogEvidence
from segtrack.logs.plausibility.finding import Observation, Remedy

Observe = Callable[[LogEvidence], tuple[Observation, ...]]
_ROWS = 20_000
"""Rows of a channel from which edits are tried on every second one, or fewer."""
_ROUNDS = 2
"""Edits that one remedy may have, besides lines that take care of single signals."""
_FIRST = "missing", "wrap"
"""Keys of the care that is taken first."""
_ALIKE = 0.1
"""Difference of weights by which one edit is no better than another."""


def find_remedies(
    evidence: LogEvidence, seen: Sequence[Observation], observe_signals: Observe, observe_motion: Observe
) -> dict[Observation, Remedy]:
    """Return the change of the mapping that explains most contradictions, by those that it explains.

    Numbers that mean none and counters that start again are taken care of first, since they spoil all else;
    then edits are tried, two at most; then care is taken of what is left of single signals.

    Args:
        evidence: The log.
        seen: Results of its checks.
        observe_signals: Function that runs the checks of single signals.
        observe_motion: Function that runs the other checks.
    """
    log, every = _thinned(evidence.mapped.log)
    best = Edit((), _settled(evidence.mapped, every), 0.0)
    for each in seen:
        if each.care is not None and each.care[1] in _FIRST:
            own = with_care(best.file, each.care)
            best = best if set(own.lines) <= set(best.lines) else best.and_then(own)
    left = _observe_with(best.file, log, evidence, observe_motion)
    if left is None:
        return {}
    other: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        against = {each.name for each in left if each.contradiction}
        tried = sorted(_tried(best.file, left, log, evidence, observe_motion), key=lambda each: each[0])
        if not against or not tried or tried[0][0] > _weight(left) - 2.0:
            break
        (weight, edit, left), *others = tried
        # A change with which less can be compared explains less.
        alike = [
            e.lines
            for w, e, found in others
            if w < weight + _ALIKE and len(found) >= len(left) and e.lines != edit.lines
        ]
        other = (*best.lines, *alike[0]) if alike else ()
        best = best.and_then(edit)
    remedies = {}
    after = _observe_with(best.file, log, evidence, observe_signals) or ()
    for each in seen:
        if each.care is not None and (
            not best.lines or _is_against(each.name, after) or each.care[1] in _FIRST
        ):
            own = with_care(best.file, each.care)
            left_over = _is_against(each.name, _observe_with(own.file, log, evidence, observe_signals) or ())
            effect = "less of it would be left" if left_over else "nothing of it would be left"
            remedies[each] = Remedy(own.lines, effect)
        elif each.contradiction and best.lines and not _is_against(each.name, (*left, *after)):
            remedies[each] = Remedy(best.lines, _effect(each, left), other)
    return remedies


def _tried(
    file: MappingFile, left: Sequence[Observation], log: Log, evidence: LogEvidence, observe: Observe
) -> Iterator[tuple[float, Edit, tuple[Observation, ...]]]:
    """Yield the weight, edit and results of each edit that explains something and contradicts nothing new."""
    against = [each for each in left if each.contradiction]
    names = {each.name for each in against}
    for edit in edits_for(file, against):
        found = _observe_with(edit.file, log, evidence, observe)
        if found is None or not names & {each.name for each in found}:
            continue
        if names >= {each.name for each in found if each.contradiction}:
            yield _weight(found) + 0.1 * edit.cost, edit, found


def _weight(seen: Sequence[Observation]) -> float:
    """How much speaks against a mapping.

    Contradictions, certain ones first; then how far the rest is from what would be expected, on average; then
    what could not be compared at all.
    """
    doubts = sum((10.0 if each.certain else 4.0) for each in seen if each.contradiction)
    misfits = [min(each.misfit, 2.0) for each in seen if not each.contradiction]
    return doubts + sum(misfits) / max(len(misfits), 1) - 0.05 * len(misfits)


def _is_against(name: str, seen: Sequence[Observation]) -> bool:
    return any(each.contradiction for each in seen if each.name == name)


def _effect(before: Observation, after: Sequence[Observation]) -> str:
    """What a check would see with the remedy."""
    states = [each.state for each in after if each.name == before.name]
    return states[0] if states else "nothing would contradict it"


def _observe_with(
    file: MappingFile, log: Log, evidence: LogEvidence, observe: Observe
) -> tuple[Observation, ...] | None:
    try:
        mapped = map_log(
            log, replace(evidence.mapped.mapping, file=file), vehicle=evidence.background.vehicle
        )
    except (SegtrackError, ValueError):
        return None  # What does not even map explains nothing.
    return observe(LogEvidence(mapped, evidence.background))


def _settled(mapped: MappedLog, every: int) -> MappingFile:
    """The mapping with its files read, its trial cut and its clocks fitted, so that edits cost little."""
    file = mapped.mapping.file
    changes: dict[str, Any] = {"files": (), "split": None, "max_gap": file.max_gap * every}
    if mapped.trial is not None and mapped.trial.window is not None:
        changes["start"], changes["end"] = mapped.trial.window
    fits = {(fit.source, fit.reference): fit for fit in mapped.clocks}
    sources = dict(file.sources)
    for name, clock in file.sources.items():
        fit = fits.get((name, clock.align or ""))
        if fit is not None:
            known = {
                "offset": fit.offset.value,
                "skew": fit.skew.value,
                "align": None,
                "by": None,
                "sees": None,
            }
            sources[name] = clock.model_copy(update=known)
    return file.model_copy(update={**changes, "sources": sources})


def _thinned(log: Log) -> tuple[Log, int]:
    """A log with fewer rows where it has very many, and the number of rows of which it has one."""
    every = max(1, max(map(len, log.channels.values()), default=0) // _ROWS)

    def thin(channel: Channel) -> Channel:
        stamps = None if channel.stamps is None else channel.stamps[::every].copy()
        times, values = channel.times[::every].copy(), channel.values[::every].copy()
        return replace(channel, times=times, values=values, stamps=stamps)

    if every == 1:
        return log, 1
    return replace(log, channels={name: thin(channel) for name, channel in log.channels.items()}), every
