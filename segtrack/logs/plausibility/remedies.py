"""Mapping lines that would explain contradictions: each edit is tried on the log and checked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.mapped_log import MappedLog
from segtrack.logs.mapping.mapping_file import MappingFile
from segtrack.logs.plausibility.edits import Edit, edits_for
from segtrack.logs.plausibility.evidence import Evidence
from segtrack.logs.plausibility.finding import Observation, Remedy

Observe = Callable[[Evidence], tuple[Observation, ...]]
_ROWS = 20_000
"""Rows of a channel from which edits are tried on every second one, or fewer."""
_ROUNDS = 2
"""Edits that one remedy may have."""


def find_remedies(
    evidence: Evidence, seen: Sequence[Observation], observe: Observe
) -> Mapping[Observation, Remedy]:
    """Return the change of the mapping that explains most contradictions, by those that it explains.

    Args:
        evidence: The log.
        seen: Results of its checks.
        observe: Function that runs all checks.
    """
    log = _thinned(evidence.mapped)
    best: Edit | None = None
    left, results = tuple(seen), tuple(seen)
    for _ in range(_ROUNDS):
        against = [each for each in left if each.contradiction]
        if not against:
            break
        file = evidence.mapped.mapping.file if best is None else best.file
        tried = [
            (_weight(found) + 0.01 * edit.cost, edit, found)
            for edit in edits_for(file, against, evidence)
            if (found := _observe_with(edit.file, log, evidence, observe)) is not None
            and _covers(found, against)
        ]
        if not tried:
            break
        weight, edit, found = min(tried, key=lambda each: each[0])
        if weight >= _weight(left):
            break
        best = edit if best is None else best.and_then(edit)
        left = results = found
    if best is None:
        return {}
    return {
        each: Remedy(best.lines, _effect(each, results))
        for each in seen
        if each.contradiction and not _is_against(each.name, results)
    }


def _weight(seen: Sequence[Observation]) -> float:
    """How much speaks against a mapping: by far the number of contradictions, of certain ones first."""
    return sum((10.0 if each.certain else 3.0) for each in seen if each.contradiction)


def _covers(found: Sequence[Observation], against: Sequence[Observation]) -> bool:
    """True if what contradicted something is checked still, at least in part."""
    names = {each.name for each in found}
    return any(each.name in names or each.name.endswith("beyond a turn") for each in against)


def _is_against(name: str, seen: Sequence[Observation]) -> bool:
    return any(each.contradiction for each in seen if each.name == name)


def _effect(before: Observation, after: Sequence[Observation]) -> str:
    """What a check would see with the remedy."""
    states = [each.state for each in after if each.name == before.name]
    return states[0] if states else "nothing would contradict it"


def _observe_with(
    file: MappingFile, log: Log, evidence: Evidence, observe: Observe
) -> tuple[Observation, ...] | None:
    from segtrack.logs.mapping.map_log import map_log

    mapping = replace(evidence.mapped.mapping, file=file)
    try:
        mapped = map_log(log, mapping, evidence.known.vehicle)
    except (SegtrackError, ValueError):
        return None  # What does not even map explains nothing.
    return observe(Evidence(mapped, evidence.known))


def _thinned(mapped: MappedLog) -> Log:
    """The log with fewer rows where it has very many; channels of further files are left to be read again."""
    file_names = {path.rpartition("/")[2] for path in mapped.mapping.file.files}

    def thin(channel: Channel) -> Channel:
        every = max(1, len(channel) // _ROWS)
        if every == 1:
            return channel
        stamps = None if channel.stamps is None else channel.stamps[::every].copy()
        return replace(
            channel, times=channel.times[::every].copy(), values=channel.values[::every].copy(), stamps=stamps
        )

    channels = {
        name: thin(channel)
        for name, channel in mapped.log.channels.items()
        if name.partition(": ")[0] not in file_names
    }
    return replace(mapped.log, channels=channels)
