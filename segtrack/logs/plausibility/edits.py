"""Changes of a mapping file that are worth trying where its log contradicts something."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from segtrack.logs.mapping import (
    ANGLE,
    BELT_TRAVEL,
    COUNTING,
    COUNTS,
    BeltSpeed,
    Despike,
    MappingFile,
    Orientation,
    Position,
    Quantities,
    Reference,
    Sensor,
    SideChannels,
    Velocity,
)
from segtrack.logs.plausibility.finding import Observation

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
        cost: Number of ideas that it takes; of edits that explain as much the cheaper one is proposed.
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
