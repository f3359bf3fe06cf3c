"""All checks of a mapped log, and mapping lines that would explain what they find, each tried on the log."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from segtrack.description import load_vehicle
from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping import belt_checks, mounting_checks, pose_checks, shift_checks, signal_checks
from segtrack.logs.mapping.edits import Edit, edits_for, with_care
from segtrack.logs.mapping.evidence import Background, Finding, LogEvidence, Observation, Plausibility, Remedy
from segtrack.logs.mapping.log_mapping import map_log
from segtrack.logs.mapping.mapped_log import MappedLog
from segtrack.logs.mapping.mapping_file import MappingFile
from segtrack.logs.mapping.terrain import LoadedTerrain, load_terrain

Check = Callable[[LogEvidence], Iterable[Observation]]
_SIGNALS: tuple[Check, ...] = (
    signal_checks.check_spacing,
    signal_checks.check_missing,
    signal_checks.check_counters,
    signal_checks.check_sources,
    signal_checks.check_standing,
    signal_checks.check_held,
    signal_checks.check_spikes,
    signal_checks.check_jumps,
)
_MOTIONS: tuple[Check, ...] = (
    belt_checks.check_drives,
    belt_checks.check_commands,
    belt_checks.check_path,
    belt_checks.check_odometry,
    shift_checks.check_shifts,
    belt_checks.check_turning,
    belt_checks.check_steady_turning,
    pose_checks.check_tilt,
    pose_checks.check_rates,
    pose_checks.check_gravity,
    pose_checks.check_heading,
    pose_checks.check_slope,
    pose_checks.check_heights,
    pose_checks.check_velocity,
    pose_checks.check_upright_velocity,
    pose_checks.check_flippers,
    pose_checks.check_forces,
    mounting_checks.check_lever,
    mounting_checks.check_flipper_signs,
)
"""Checks of single signals, and of signals beside each other, the vehicle and the terrain."""


def _observe(evidence: LogEvidence) -> tuple[Observation, ...]:
    """Results of all checks; what one of a single signal found is not found again by later ones."""
    seen: list[Observation] = []
    for check in _SIGNALS:
        done = {each.subjects[0] for each in seen}
        seen += [each for each in check(evidence) if each.subjects[0] not in done]
    return (*seen, *_observe_motion(evidence))


def _observe_motion(evidence: LogEvidence) -> tuple[Observation, ...]:
    """Results of the checks of signals beside each other, the vehicle and the terrain."""
    return tuple(each for check in _MOTIONS for each in check(evidence))


def check_plausibility(mapped: MappedLog, terrain: LoadedTerrain | None = None) -> Plausibility:
    """Check a mapped log against the laws of motion, its vehicle and its terrain.

    Args:
        mapped: The log.
        terrain: Ground that it drove on, if it is not the mapping's.

    Returns:
        Findings, with mapping lines that would explain them. Nothing is changed.

    Raises:
        SegtrackError: The mapping's terrain cannot be loaded.
    """
    file = mapped.mapping.file
    vehicle = None if file.vehicle is None else load_vehicle(file.vehicle)
    if terrain is None and file.terrain is not None:
        terrain = load_terrain(file.terrain, file.setting)
    evidence = LogEvidence(mapped, Background(vehicle, terrain))
    seen = _observe(evidence)
    against = [each for each in seen if each.contradiction]
    remedies = find_remedies(evidence, seen) if against else {}
    accepted = {entry.finding: entry.reason for entry in file.accepted}
    findings = [Finding(each, remedies.get(each), accepted.get(each.name)) for each in against]
    findings.sort(key=lambda finding: (not finding.refuses, not finding.seen.certain, -finding.seen.size))
    names = {each.name for each in against}
    stale = tuple(name for name in accepted if name not in names)
    return Plausibility(mapped.motion.name, seen, tuple(findings), stale)


_ROWS = 20_000
"""Rows of a channel from which edits are tried on every second one, or fewer."""
_ROUNDS = 2
"""Edits that one remedy may have, besides lines that take care of single signals."""
_FIRST = "missing value", "wrapped counter", "counter starts again"
"""Findings whose care is taken first."""
_ALIKE = 0.1
"""Difference of weights by which one edit is no better than another."""
_WORSE = 0.1
"""Misfit that an edit may add to what was explained before."""
_EXPLAINED = 0.6
"""Misfit up to which an edit explains what contradicted something."""
_EXPLAINED_BELTS = MappingProxyType({"belts against path": 0.15, "belts against commands": 0.15})
"""The same for ratios of belts, which another unit may meet by chance."""


def find_remedies(evidence: LogEvidence, seen: Sequence[Observation]) -> dict[Observation, Remedy]:
    """Return the change of the mapping that explains most contradictions, by those that it explains.

    Numbers that mean none and counters that start again are taken care of first, since they spoil all else;
    then edits are tried, two at most; then care is taken of what is left of single signals.

    Args:
        evidence: The log.
        seen: Results of its checks.
    """
    log, every = _thinned(evidence.mapped.log)
    judge = partial(_judge, log, evidence)
    aligned = {name for name, clock in evidence.mapped.mapping.file.sources.items() if clock.align}
    first = Edit((), _settled(evidence.mapped, every), 0.0)
    for each in seen:
        if each.care is not None and each.name in _FIRST:
            own = with_care(first.file, each.care)
            first = first if set(own.lines) <= set(first.lines) else first.and_then(own)
    best, cared = first, judge(first.file)
    if cared is None:
        return {}
    left = cared
    other: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        against = [each for each in left if each.contradiction]
        edits = edits_for(best.file, against, aligned)
        judged = ((edit, judge(edit.file, left)) for edit in edits)
        tried = [(_weight(found) + 0.1 * edit.cost, edit, found) for edit, found in judged if found]
        tried.sort(key=lambda each: each[0])
        if not tried or tried[0][0] > _weight(left) - 2.0:
            break
        (weight, edit, left), *others = tried
        # A change with which less can be compared explains less.
        alike = [
            e.lines
            for w, e, found in others
            if w < weight + _ALIKE and len(found) >= len(left) and e.lines != edit.lines
        ]
        if alike:
            other = (*best.lines, *alike[0])
        elif other:
            other = (*other, *edit.lines)
        best = best.and_then(edit)
    if _touches(best.lines, left):
        best, left, other = first, cared, ()
    remedies = {}
    for each in seen:
        if each.care is not None and (not best.lines or _is_against(each.name, left) or each.name in _FIRST):
            own = with_care(best.file, each.care)
            effect = "less of it would be left" if _is_against(each.name, judge(own.file) or ()) else _NOTHING
            remedies[each] = Remedy(own.lines, effect)
        elif each.contradiction and best.lines and not _is_against(each.name, left):
            remedies[each] = Remedy(best.lines, _effect(each, left), other)
    return remedies


_SINGLE = (
    "sample times", "missing value", "wrapped counter", "counter starts again", "two sources", "frozen",
    "held", "spikes", "jump",
)  # fmt: skip
"""Findings of single signals, whose checks say nothing where nothing is wrong."""
_NOTHING = "nothing of it would be left"


def explains(before: Sequence[Observation], after: Sequence[Observation]) -> bool:
    """Return whether a change of the mapping explains something, and leaves all else as it was.

    What contradicted something is compared still, and agrees by its numbers: not only within the bounds
    beyond which it would be a finding. Each other channel is compared still, and agrees as well as before.

    Args:
        before: Results of all checks without the change.
        after: Results with it.
    """
    worst, cleared = _misfits(after), 0
    for name, misfit in _misfits(before).items():
        now = worst.pop(name, None)
        if now is None and name not in _SINGLE:
            return False
        if now is None or (now == misfit == math.inf):
            continue
        limit = misfit + _WORSE if misfit < math.inf else _EXPLAINED_BELTS.get(name, _EXPLAINED)
        if now > limit:
            return False
        cleared += misfit == math.inf
    return cleared > 0 and math.inf not in worst.values()


def _touches(lines: Sequence[str], left: Sequence[Observation]) -> bool:
    """Return whether something is left that contradicts a quantity that lines change: they are not enough."""
    changed = {re.split(r"[.:]", line)[1] for line in lines if line.startswith("quantities.")}
    against = (each for each in left if each.contradiction and each.name not in _SINGLE)
    return any(subject.partition(".")[0] in changed for each in against for subject in each.subjects)


def _misfits(seen: Iterable[Observation]) -> dict[str, float]:
    """Largest misfit by name, infinite for what contradicts something."""
    worst: dict[str, float] = {}
    for each in seen:
        misfit = math.inf if each.contradiction else each.misfit
        worst[each.name] = max(misfit, worst.get(each.name, 0.0))
    return worst


def _judge(
    log: Log, evidence: LogEvidence, file: MappingFile, left: Sequence[Observation] = ()
) -> tuple[Observation, ...] | None:
    """Results of all checks of a log by another mapping of it.

    Args:
        log: The log.
        evidence: What it is by the mapping as it is.
        file: The other mapping.
        left: Results without the change, if it is to explain some of them.

    Returns:
        None if the log does not even map, or if the change explains nothing.
    """
    try:
        mapped = map_log(
            log, replace(evidence.mapped.mapping, file=file), vehicle=evidence.background.vehicle
        )
    except (SegtrackError, ValueError):
        return None
    changed = LogEvidence(mapped, evidence.background)
    if left and not explains(left, _observe_motion(changed)):
        return None  # Checks of single signals cost as much, and can but contradict more.
    found = _observe(changed)
    return found if not left or explains(left, found) else None


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
                "skew_std": None,
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
