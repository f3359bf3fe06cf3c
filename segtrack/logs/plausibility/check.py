"""All checks of a mapped log, and what the mapping accepts of their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from segtrack.description import load_vehicle
from segtrack.logs.mapping import MappedLog
from segtrack.logs.plausibility import attitude, belts, place, samples
from segtrack.logs.plausibility.evidence import Background, LogEvidence
from segtrack.logs.plausibility.finding import Finding, Observation, Plausibility
from segtrack.logs.plausibility.remedies import find_remedies
from segtrack.logs.replay import LoadedTerrain, load_terrain

Check = Callable[[LogEvidence], Iterable[Observation]]
_SIGNALS: tuple[Check, ...] = (
    samples.check_spacing,
    samples.check_missing,
    samples.check_counters,
    samples.check_standing,
    samples.check_spikes,
    samples.check_jumps,
)
_MOTIONS: tuple[Check, ...] = (
    belts.check_drives,
    belts.check_commands,
    belts.check_path,
    belts.check_turning,
    belts.check_steady_turning,
    attitude.check_tilt,
    attitude.check_rates,
    attitude.check_gravity,
    attitude.check_heading,
    attitude.check_slope,
    place.check_heights,
    place.check_velocity,
    place.check_upright_velocity,
    place.check_flippers,
    place.check_forces,
)
"""Checks of single signals, and of signals beside each other, the vehicle and the terrain."""


def _observe_signals(evidence: LogEvidence) -> tuple[Observation, ...]:
    """Results of the checks of single signals; what an earlier one found is not found again by later ones."""
    seen: list[Observation] = []
    for check in _SIGNALS:
        done = {each.subjects[0] for each in seen}
        seen += [each for each in check(evidence) if each.subjects[0] not in done]
    return tuple(seen)


def _observe_motion(evidence: LogEvidence) -> tuple[Observation, ...]:
    return tuple(seen for check in _MOTIONS for seen in check(evidence))


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
    seen = (*_observe_signals(evidence), *_observe_motion(evidence))
    against = [each for each in seen if each.contradiction]
    remedies = find_remedies(evidence, seen, _observe_signals, _observe_motion) if against else {}
    accepted = {entry.finding: entry.reason for entry in file.accepted}
    findings = [Finding(each, remedies.get(each), accepted.get(each.name)) for each in against]
    findings.sort(key=lambda finding: (not finding.refuses, not finding.seen.certain, -finding.seen.size))
    names = {each.name for each in against}
    stale = tuple(name for name in accepted if name not in names)
    return Plausibility(mapped.motion.name, seen, tuple(findings), stale)
