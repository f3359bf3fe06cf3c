"""All checks of a mapped log, and mapping lines that would explain what they find, each tried on the log."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from segtrack.description import load_vehicle
from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping import pose_checks, signal_checks
from segtrack.logs.mapping.evidence import Background, Finding, LogEvidence, Observation, Plausibility, Remedy
from segtrack.logs.mapping.log_mapping import map_log
from segtrack.logs.mapping.mapped_log import MappedLog
from segtrack.logs.mapping.mapping_file import MappingFile, Sensor
from segtrack.logs.mapping.quantities import (
    ANGLE,
    BELT_TRAVEL,
    COUNTING,
    COUNTS,
    BeltSpeed,
    Despike,
    Orientation,
    Position,
    Quantities,
    Reference,
    SideChannels,
    Velocity,
)
from segtrack.logs.mapping.terrain import LoadedTerrain, load_terrain

Check = Callable[[LogEvidence], Iterable[Observation]]
_SIGNALS: tuple[Check, ...] = (
    signal_checks.check_spacing,
    signal_checks.check_missing,
    signal_checks.check_counters,
    signal_checks.check_standing,
    signal_checks.check_spikes,
    signal_checks.check_jumps,
)
_MOTIONS: tuple[Check, ...] = (
    signal_checks.check_drives,
    signal_checks.check_commands,
    signal_checks.check_path,
    signal_checks.check_turning,
    signal_checks.check_steady_turning,
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


_OPPOSITES = {
    "nose up": "nose down", "nose down": "nose up", "left": "right", "right": "left", "tip up": "tip down",
    "tip down": "tip up", "belt faster": "ground faster", "ground faster": "belt faster",
    "right side down": "left side down", "left side down": "right side down",
}  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z_/][\w./ -]*")
"""Text that YAML takes as it is."""
_RARE = "mrad", "turns", "turns/s", "km"
"""Units that nobody forgets to name."""
_HALF, _QUARTER = 3.1416, 1.5708
_TURNED: tuple[dict[str, tuple[float, float, float]], ...] = (
    {"rpy": (_HALF, 0.0, 0.0)},
    {"world_rpy": (_HALF, 0.0, 0.0)},
    {"rpy": (_HALF, 0.0, 0.0), "world_rpy": (_HALF, 0.0, 0.0)},
    {"world_rpy": (_QUARTER, 0.0, 0.0)},
    {"rpy": (0.0, 0.0, _HALF)},
    {"rpy": (0.0, 0.0, _QUARTER)},
    {"rpy": (0.0, 0.0, -_QUARTER)},
    {"rpy": (0.0, _HALF, 0.0)},
)
"""Mountings of sensors, and frames of their worlds, that are met."""
_TURNABLE = "orientation", "position", "velocity", "angular_velocity", "specific_force"
_OF_BODY = ("velocity",), ("angular_velocity",), ("specific_force",)
"""Groups of quantities that no world's frame has a part in."""


@dataclass(frozen=True)
class Edit:
    """Changed mapping file.

    Attributes:
        lines: Changed entries, `path: value`.
        file: The file with the changes.
        cost: Number of independent changes; the cheapest of equally good edits is proposed.
    """

    lines: tuple[str, ...]
    file: MappingFile
    cost: float = 1.0

    def and_then(self, other: Edit) -> Edit:
        """Both, `other` being made of this edit's file."""
        return Edit((*self.lines, *other.lines), other.file, self.cost + other.cost)


def edits_for(file: MappingFile, seen: Sequence[Observation]) -> Iterator[Edit]:
    """Yield changes of the quantities that contradictions are about, each by itself."""
    subjects = list(dict.fromkeys(subject for each in seen for subject in each.subjects))
    if "pitch" in subjects or "yaw" in subjects:
        subjects += [name for name in ("roll", "pitch", "yaw") if name not in subjects]
    for subject in subjects:
        yield from _of_quantity(file, subject, seen)
    if {"belt_speed", "belt_speed_command"} & set(subjects):
        yield from _of_both_belts(file, seen)
    for quantity in ("flipper_angle", "flipper_angle_command"):
        if any(subject.startswith(f"{quantity}.") for subject in subjects):
            yield from _of_all_flippers(file, quantity)
    yield from _sensors(file, subjects)


def _of_all_flippers(file: MappingFile, quantity: str) -> Iterator[Edit]:
    """Yield changes of all flippers alike."""
    for key, value in (
        *(("unit", unit) for unit in ANGLE if unit not in _RARE),
        ("positive", "tip down"),
        ("positive", "tip up"),
    ):
        changes = {f"{quantity}.{which}": {key: value} for which in getattr(file.quantities, quantity)}
        lines = tuple(f"quantities.{subject}.{key}: {value}" for subject in changes)
        yield Edit(lines, _with(file, changes), 1.2)


def _of_quantity(file: MappingFile, subject: str, seen: Sequence[Observation]) -> Iterator[Edit]:
    if (reference := _reference(file.quantities, subject)) is not None:
        yield from _units(file, subject, reference)
        yield from _signs(file, subject, reference)
        yield from _orders(file, subject, reference)
        if isinstance(reference, BeltSpeed):
            yield from _gears(file, subject, reference, seen)


def _of_both_belts(file: MappingFile, seen: Sequence[Observation]) -> Iterator[Edit]:
    """Yield changes of belts and of their commands alike, which often share a mistake."""
    for k, first in enumerate(_of_quantity(file, "belt_speed", seen)):
        second = next(islice(_of_quantity(first.file, "belt_speed_command", seen), k, None), None)
        keys = [[line.rpartition(".")[2] for line in e.lines] for e in (first, second) if e is not None]
        if second is not None and [k.partition(":")[0] for k in keys[0]] == [
            k.partition(":")[0] for k in keys[1]
        ]:
            yield replace(first.and_then(second), cost=first.cost + 0.2)


def with_care(file: MappingFile, care: tuple[str, str, Any]) -> Edit:
    """A mapping file with a line that takes care of one finding by itself."""
    subject, key, value = care
    if subject:
        reference = _reference(file.quantities, subject)
        if key == "missing" and reference is not None:
            value = tuple(dict.fromkeys((*reference.missing, *value)))
        return _edit(file, subject, **{key: value})
    return Edit((f"{key}: {_shown(value)}",), file.model_copy(update={key: value}))


def _reference(quantities: Quantities, subject: str) -> Reference | None:
    name, _, which = subject.partition(".")
    given = getattr(quantities, name, None)
    return given.get(which) if isinstance(given, Mapping) else given


def _with(file: MappingFile, changes: Mapping[str, Mapping[str, Any]], **more: Any) -> MappingFile:
    """A mapping file with changed keys of quantities, by their paths."""
    update: dict[str, Any] = {}
    for subject, keys in changes.items():
        name, _, which = subject.partition(".")
        reference = _reference(file.quantities, subject)
        assert reference is not None
        changed: Any = reference.model_copy(update=dict(keys))
        if which:
            changed = {**update.get(name, getattr(file.quantities, name)), which: changed}
        update[name] = changed
    return file.model_copy(update={"quantities": file.quantities.model_copy(update=update), **more})


def _edit(file: MappingFile, subject: str, cost: float = 1.0, **keys: Any) -> Edit:
    lines = tuple(f"quantities.{subject}.{key}: {_shown(value)}" for key, value in keys.items())
    return Edit(lines, _with(file, {subject: keys}), cost)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, Despike):
        return f"{{window: {value.window}, limit: {value.limit:g}}}"
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value) if _PLAIN.fullmatch(str(value)) else json.dumps(value)


def _units(file: MappingFile, subject: str, reference: Reference) -> Iterator[Edit]:
    """Other units that the quantity may have, and that need no further keys."""
    for unit in reference.units:
        if (
            unit in _RARE
            or unit == getattr(reference, "unit", None)
            or getattr(reference, "table", None) is not None
        ):
            continue
        if isinstance(reference, BeltSpeed):
            kinds = [unit in (*COUNTING, *COUNTS) for unit in (unit, reference.unit or "m/s")]
            if reference.is_twist or kinds[0] != kinds[1] or any(reference.unit_problems(unit)):
                continue
            if (unit in BELT_TRAVEL) != (reference.unit in BELT_TRAVEL):
                yield _edit(file, subject, 4.0, unit=unit)
                continue
        elif isinstance(reference, Position) and reference.channels is None:
            continue
        yield _edit(file, subject, unit=unit)


def _signs(file: MappingFile, subject: str, reference: Reference) -> Iterator[Edit]:
    positive = getattr(reference, "positive", None)
    if positive in _OPPOSITES:
        yield _edit(file, subject, positive=_OPPOSITES[positive])
    if isinstance(reference, SideChannels) and reference.left is not None and reference.right is not None:
        for flipped in ({"left"}, {"right"}, {"left", "right"}):
            both = tuple(sorted(set(reference.reversed) ^ flipped))
            yield _edit(file, subject, 1.0 if len(flipped) == 1 else 1.2, reversed=both)
        yield _edit(file, subject, 1.1, left=reference.right, right=reference.left)
        yield _edit(
            file,
            subject,
            2.0,
            left=reference.right,
            right=reference.left,
            reversed=tuple(sorted({"left", "right"} ^ set(reference.reversed))),
        )


def _orders(file: MappingFile, subject: str, reference: Reference) -> Iterator[Edit]:
    if isinstance(reference, Orientation):
        other = "wxyz" if reference.order == "xyzw" else "xyzw"
        turned = "world in body" if reference.given == "body in world" else "body in world"
        yield _edit(file, subject, order=other)
        yield _edit(file, subject, given=turned)
        yield _edit(file, subject, 2.0, order=other, given=turned)
    if isinstance(reference, Velocity):
        yield _edit(file, subject, frame="world" if reference.frame == "body" else "body")
    channels = getattr(reference, "channels", None)
    if isinstance(reference, Position) and channels is not None and len(channels) in (2, 3):
        x, y, *rest = channels
        yield _edit(file, subject, 1.2, channels=(y, x, *rest))
        if rest:
            yield _edit(file, subject, 1.2, channels=(x, rest[0], y))
            yield _edit(file, subject, 1.2, channels=(rest[0], y, x))
    if isinstance(reference, Position) and reference.latitude is not None:
        yield _edit(file, subject, latitude=reference.longitude, longitude=reference.latitude)


def _gears(
    file: MappingFile, subject: str, reference: BeltSpeed, seen: Sequence[Observation]
) -> Iterator[Edit]:
    """Diameters for radii, and gear ratios, where belts turn with a shaft."""
    if reference.radius is None:
        return
    for factor in (0.5, 2.0):
        yield _edit(file, subject, 1.1, radius=float(f"{factor * reference.radius:.4g}"))
    for each in seen:
        if subject in each.subjects and each.name in ("belts against path", "belts against drives"):
            ratio = reference.gear_ratio * each.size
            yield _edit(file, subject, 4.0, gear_ratio=float(f"{ratio:.3g}"))  # Fitted: fits anyway.
            if reference.gear_ratio != 1.0:
                yield _edit(file, subject, 1.2, gear_ratio=1.0)


def _sensors(file: MappingFile, subjects: Sequence[str]) -> Iterator[Edit]:
    """Sensors that are turned, or whose world is, for quantities that have none yet."""
    free = [
        name
        for name in _TURNABLE
        if (reference := getattr(file.quantities, name)) is not None and reference.sensor is None
    ]
    named = [name for name in free if name in subjects]
    groups = {tuple(free), *((name,) for name in named)}
    for group in sorted(groups, key=len):
        for i, keys in enumerate(_TURNED):
            if group and not ("world_rpy" in keys and group in _OF_BODY):
                sensor = "turned"
                value = ", ".join(f"{key}: {_shown(angles)}" for key, angles in keys.items())
                lines = (
                    f"sensors: {{{sensor}: {{{value}}}}}",
                    *(f"quantities.{each}.sensor: {sensor}" for each in group),
                )
                changes = {each: {"sensor": sensor} for each in group}
                sensors = {**file.sensors, sensor: Sensor(**keys)}
                yield Edit(lines, _with(file, changes, sensors=sensors), 1.3 + 0.01 * i)


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
