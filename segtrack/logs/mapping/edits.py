"""Changes of a mapping that could explain a contradiction: units, signs, orders, sides, scales, mountings."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from segtrack.geometry import rpy_of
from segtrack.logs.mapping.evidence import Correction, Observation
from segtrack.logs.mapping.mapped_log import rotation_from_rpy
from segtrack.logs.mapping.mapping_file import MappingFile, Sensor, SourceClock
from segtrack.logs.mapping.quantities import (
    ANGLE,
    BELT_TRAVEL,
    COUNTING,
    COUNTS,
    SIDES,
    BeltSpeed,
    Despike,
    Orientation,
    Position,
    Quantities,
    Reference,
    SideChannels,
    Velocity,
)

_OPPOSITES = {
    "nose up": "nose down", "nose down": "nose up", "left": "right", "right": "left", "tip up": "tip down",
    "tip down": "tip up", "belt faster": "ground faster", "ground faster": "belt faster",
    "right side down": "left side down", "left side down": "right side down",
}  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z_/][\w./ -]*")
"""Text that YAML takes as it is."""
_RARE = "mrad", "turns", "turns/s", "km", "in", "ft", "in/s", "ft/s", "mph"
"""Units that nobody forgets to name; feet and inches are near to others (ft/s is 1.10 km/h)."""
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
_OF_BODY = "velocity", "angular_velocity", "specific_force"
"""Quantities that no world's frame has a part in."""
_SNAP = 0.06
"""Distance from a quarter turn by which an angle that is fitted is still one [rad]."""


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


def edits_for(file: MappingFile, seen: Sequence[Observation], aligned: Collection[str]) -> Iterator[Edit]:
    """Yield changes of the quantities that contradictions are about, each by itself.

    Args:
        file: Mapping file.
        seen: The contradictions.
        aligned: Sources that have no offset of their own, as the mapping aligns them by their motion.
    """
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
    yield from _sensors(file, subjects, seen)
    yield from _clocks(file, seen, aligned)


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
    for first in _of_quantity(file, "belt_speed", seen):
        own = _said(first, "belt_speed")
        for second in _of_quantity(first.file, "belt_speed_command", seen):
            if _said(second, "belt_speed_command") == own:
                yield replace(first.and_then(second), cost=first.cost + 0.2)


def _said(edit: Edit, subject: str) -> list[str]:
    """Keys and values of an edit of one quantity, without the names of channels."""
    keys = [line.removeprefix(f"quantities.{subject}.") for line in edit.lines]
    return [key.partition(":")[0] if key.startswith(SIDES) else key for key in keys]


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
            if unit in BELT_TRAVEL and subject.endswith("_command"):
                continue  # A command is a speed.
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
    """Diameters for radii, counts of other encoders, and gear ratios, where belts turn with a shaft."""
    if reference.radius is None:
        return
    for factor in (0.5, 2.0):
        yield _edit(file, subject, 1.1, radius=float(f"{factor * reference.radius:.4g}"))
    if reference.counts_per_turn is not None:
        for factor in (0.25, 0.5, 2.0, 4.0):  # Edges of one channel, or of two, are counted.
            yield _edit(file, subject, counts_per_turn=factor * reference.counts_per_turn)
    if reference.gear_ratio != 1.0:
        yield _edit(file, subject, 1.2, gear_ratio=1.0)
    for fit in (fit for each in seen for fit in each.fits if fit.kind == "scale" and fit.of == subject):
        radius, ratio = reference.radius * fit.value[0], reference.gear_ratio / fit.value[0]
        yield _edit(file, subject, 4.0, gear_ratio=float(f"{ratio:.3g}"))  # Fitted: fits anyway.
        yield _edit(file, subject, 4.0, radius=float(f"{radius:.3g}"))


def _sensors(file: MappingFile, subjects: Sequence[str], seen: Sequence[Observation]) -> Iterator[Edit]:
    """Sensors that are turned, or whose world is, or that sit elsewhere."""
    free = [name for name in _TURNABLE if _is_free(file, name)]
    named = [name for name in free if name in subjects]
    groups = {tuple(free), *((name,) for name in named), *filter(None, [_inertial(file, named)])}
    for group in sorted(groups, key=len):
        for i, keys in enumerate(_TURNED):
            if group and not ("world_rpy" in keys and set(group) <= set(_OF_BODY)):
                yield _mounted(file, group, 1.3 + 0.01 * i, **keys)
    given = {name for name in map(partial(_sensor_of, file), subjects) if name is not None}
    for sensor in sorted(given):
        users = tuple(name for name in _TURNABLE if _sensor_of(file, name) == sensor)
        for i, keys in enumerate(({"rpy": (0.0, 0.0, 0.0)}, *_TURNED)):
            if not ("world_rpy" in keys and set(users) <= set(_OF_BODY)):
                yield _mounted(file, users, 1.3 + 0.01 * i, **keys)
    for each in seen:
        for fit in each.fits:
            yield from _fitted_mountings(file, fit)


def _fitted_mountings(file: MappingFile, fit: Correction) -> Iterator[Edit]:
    """Mountings of the sensor of one quantity as a check fits them, alone or with its IMU."""
    if fit.kind not in ("turn", "lever") or getattr(file.quantities, fit.of) is None:
        return
    known = file.sensors.get(_sensor_of(file, fit.of) or "", Sensor())
    group = (fit.of,)
    if fit.kind == "lever":
        place = tuple(round(a + b, 3) for a, b in zip(known.xyz, fit.value, strict=True))
        yield _mounted(file, group, 1.5, xyz=place)
        return
    mounted = rotation_from_rpy(_triple(fit.value)) * rotation_from_rpy(known.rpy)
    rpy = _triple(tuple(_snapped(angle) for angle in rpy_of(mounted.as_matrix())))
    yield _mounted(file, group, 1.5, rpy=rpy)
    if (imu := _inertial(file, group)) is not None and _is_free(file, fit.of):
        yield _mounted(file, imu, 1.5, rpy=rpy)


def _triple(values: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = values
    return x, y, z


def _snapped(angle: float) -> float:
    """An angle as it is said: a multiple of a quarter turn that is near, or to a thousandth [rad]."""
    quarter = round(angle / _QUARTER) * _QUARTER
    said = round(quarter if abs(angle - quarter) < _SNAP else angle, 4) + 0.0
    return _HALF if said == -_HALF else said


def _inertial(file: MappingFile, names: Sequence[str]) -> tuple[str, ...] | None:
    """Rates and force of one IMU, if one of both is among some quantities, and neither has a sensor."""
    pair = ("angular_velocity", "specific_force")
    return pair if set(names) & set(pair) and all(_is_free(file, name) for name in pair) else None


def _sensor_of(file: MappingFile, name: str) -> str | None:
    reference = _reference(file.quantities, name)
    return None if reference is None else getattr(reference, "sensor", None)


def _is_free(file: MappingFile, name: str) -> bool:
    return getattr(file.quantities, name) is not None and _sensor_of(file, name) is None


def _mounted(file: MappingFile, group: Sequence[str], cost: float, **keys: Any) -> Edit:
    """Another mounting of the sensor of some quantities, which they share, or which they have none of yet."""
    name = _sensor_of(file, group[0])
    if name is not None:
        sensors = {**file.sensors, name: file.sensors[name].model_copy(update=keys)}
        lines = tuple(f"sensors.{name}.{key}: {_shown(value)}" for key, value in keys.items())
        return Edit(lines, file.model_copy(update={"sensors": sensors}), cost)
    others = sum(sensor.startswith("turned") for sensor in file.sensors)
    name = f"turned_{others + 1}" if others else "turned"
    value = ", ".join(f"{key}: {_shown(value)}" for key, value in keys.items())
    lines = (
        f"sensors: {{{name}: {{{value}}}}}",
        *(f"quantities.{each}.sensor: {name}" for each in group),
    )
    changes = {each: {"sensor": name} for each in group}
    return Edit(lines, _with(file, changes, sensors={**file.sensors, name: Sensor(**keys)}), cost)


def _clocks(file: MappingFile, seen: Sequence[Observation], aligned: Collection[str]) -> Iterator[Edit]:
    """Clocks of sources that are late or early, but for aligned ones."""
    for fit in dict.fromkeys(fit for each in seen for fit in each.fits if fit.kind == "offset"):
        clock = file.sources.get(fit.of, SourceClock())
        if fit.of not in aligned:
            offset = round((clock.offset or 0.0) + fit.value[0], 2)
            sources = {**file.sources, fit.of: clock.model_copy(update={"offset": offset})}
            line = f"sources: {{{_shown(fit.of)}: {{offset: {_shown(offset)}}}}}"
            yield Edit((line,), file.model_copy(update={"sources": sources}), 1.5)
