"""Constants: quantities that were the same all the time, stated in a mapping file or beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from pydantic import ValidationError

from segtrack.description import VehicleDescription, consistency_problems
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.logs.mapping.convert import to_standard
from segtrack.logs.mapping.mapping_file import LogMapping
from segtrack.logs.mapping.quantities import FlipperAngle, Pitch, Quantities, Roll, Yaw, YawRate
from segtrack.logs.mapping.references import ChannelOrValue, unit_problem
from segtrack.robot import CONSTANT, Signal

_KINDS: Mapping[str, type[ChannelOrValue]] = {
    "flipper_angle": FlipperAngle,
    "flipper_angle_command": FlipperAngle,
    "roll": Roll,
    "pitch": Pitch,
    "yaw": Yaw,
    "yaw_rate": YawRate,
}
_SETTING = re.compile(
    r"\s*(?P<name>[\w.]+?)\s*=\s*(?P<value>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>\D*)"
)
_FORM = "NAME=VALUE with a unit, as flipper_angle.front_left=45deg"


def with_constants(mapping: LogMapping, settings: Sequence[str]) -> LogMapping:
    """Return a mapping with constants that are stated beside its file, instead of what the file says of them.

    Args:
        mapping: Mapping.
        settings: Texts `NAME=VALUE` with a unit, in segtrack's signs: `flipper_angle.front_left=45deg`.

    Raises:
        InvalidValueError: A text is none of these, or a quantity is stated twice.
        UnknownNameError: A quantity that cannot be constant.
        MappingFileError: The mapping says otherwise elsewhere.
    """
    quantities = mapping.file.quantities
    stated = [_parse(text) for text in settings]
    for i, (path, constant) in enumerate(stated):
        if path in (other for other, _ in stated[:i]):
            raise InvalidValueError(f"constant {path}", "given once", settings[i])
        name, _, flipper = path.partition(".")
        value = {**getattr(quantities, name), flipper: constant} if flipper else constant
        quantities = quantities.model_copy(update={name: value})
    file = mapping.file.model_copy(update={"quantities": quantities})
    changed = replace(mapping, file=file, stated=tuple(path for path, _ in stated))
    if problems := list(consistency_problems(file)):
        raise changed.refusal(problems)
    return changed


def _parse(text: str) -> tuple[str, ChannelOrValue]:
    """Path and value of a quantity from `NAME=VALUE` with a unit."""
    parts = _SETTING.fullmatch(text)
    if parts is None:
        raise InvalidValueError("a constant", _FORM, text)
    path, unit = parts["name"], parts["unit"]
    name, _, flipper = path.partition(".")
    if name not in _KINDS:
        raise UnknownNameError("quantity that can be constant", name, _KINDS)
    kind = _KINDS[name]
    if bool(flipper) != (kind is FlipperAngle):
        raise InvalidValueError("a constant", f"{name}.FLIPPER" if kind is FlipperAngle else name, path)
    if unit_problem(unit, kind.units) is not None:
        raise InvalidValueError(f"unit of constant {path}", f"one of {', '.join(kind.units)}", unit)
    sign = {"positive": "nose up"} if kind is Pitch else {}
    try:
        return path, kind.model_validate({"value": float(parts["value"]), "unit": unit.strip(), **sign})
    except ValidationError:
        raise InvalidValueError(f"constant {path}", "at most a turn where it is in rad", text) from None


def constant_signals(quantities: Quantities, first: float, last: float) -> dict[str, Signal]:
    """Return the signals of all constants, between two times [s]."""
    times = np.unique([first, last])
    signals = {}
    for path, reference in quantities.constants():
        value = to_standard(reference, reference.unit_of_value, np.array(reference.value))
        signals[path] = Signal(times, np.full(len(times), float(value)), reference.std, CONSTANT)
    return signals


def constant_notes(mapping: LogMapping) -> Iterator[str]:
    """Yield a sentence for each constant."""
    for path, reference in mapping.file.quantities.constants():
        where = "beside the mapping file" if path in mapping.stated else "in the mapping file"
        yield f"{path}: {reference.value:g} {reference.unit_of_value} all the time, as stated {where}"


def unlogged_notes(vehicle: VehicleDescription, quantities: Quantities) -> Iterator[str]:
    """Yield a sentence on the flippers, and one on the driven joints, whose angles nobody gives."""
    given = {*quantities.flipper_angle, *quantities.flipper_angle_command}
    missing = [f"flipper_angle.{name}" for name in vehicle.flippers if name not in given]
    if missing:
        verb, plural = ("is", "it was") if len(missing) == 1 else ("are", "they were")
        listed = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        yield f"{listed} {verb} not logged: taken as 0 rad; say `value:` if {plural} otherwise"
    for joint in vehicle.joint_tree.joints if vehicle.joints else ():
        if joint.servo is not None:
            unit = "rad" if joint.kind == "revolute" else "m"
            place = f"{joint.initial_position:g} {unit}"
            yield f"joint {joint.name} is not logged: taken as at its initial_position, {place}"
