"""Paths to numbers in a vehicle file, and copies of the vehicle with other numbers there.

A path is written as messages write it, `tracks.left.path.pulleys[0].x`; `*` stands for every name or every
place of a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from segtrack.description import Spec, VehicleDescription, find_vehicle, parse_vehicle, parse_yaml, read_text
from segtrack.errors import InvalidValueError, VehicleFileError, suggest

Steps: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the top of a vehicle file."""

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")


class NumberPlace(NamedTuple):
    """Number in a vehicle file, with its place.

    Attributes:
        steps: Keys and indices of the place.
        value: Present value, or the default; None if it is left out.
    """

    steps: Steps
    value: float | None


def parse_path(path: str) -> Steps:
    """Parse a path into keys and indices.

    Raises:
        InvalidValueError: It is no path.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise InvalidValueError("path", "like tracks.left.path.pulleys[0].x", path)
        name, index = match.groups()
        steps.append(name if name is not None else "*" if index == "*" else int(index))
        at = match.end()
    if not steps:
        raise InvalidValueError("path", "like tracks.left.path.pulleys[0].x", path)
    return tuple(steps)


def find_places(vehicle: VehicleDescription, path: str) -> tuple[NumberPlace, ...]:
    """Return the numbers that a path denotes, in file order.

    Raises:
        InvalidValueError: The path means none, or something that is no number.
    """
    return tuple(_walk(vehicle, path, parse_path(path), ()))


def _walk(part: Any, path: str, steps: Steps, before: Steps) -> list[NumberPlace]:
    """Places that the remaining steps of a path denote below a part."""
    if not steps:
        if part is None or isinstance(part, int | float) and not isinstance(part, bool):
            return [NumberPlace(before, part)]
        raise InvalidValueError(f"path {path}", "that of a number", part if _is_plain(part) else before[-1])
    step, *rest = steps
    children = _children(part)
    if step == "*" and children:
        return [
            place for key in children for place in _walk(children[key], path, tuple(rest), (*before, key))
        ]
    if step not in children:
        if not children:
            raise InvalidValueError(f"path {path}", f"no longer than {write_path(before)}", step)
        if isinstance(step, int) or isinstance(next(iter(children)), int):
            raise InvalidValueError(f"path {path}", f"of an index up to {len(children) - 1}", step)
        names = [str(child) for child in children]
        where = write_path(before) or "the vehicle file"
        raise InvalidValueError(f"path {path}", f"of a key of {where} ({suggest(str(step), names)})", step)
    return _walk(children[step], path, tuple(rest), (*before, step))


def _children(part: Any) -> dict[str | int, Any]:
    """Parts of a part, by key or index."""
    match part:
        case Spec():
            return {name: getattr(part, name) for name in type(part).model_fields}
        case Mapping():
            return dict(part)
        case tuple() | list():
            return dict(enumerate(part))
    return {}


def _is_plain(part: Any) -> bool:
    return isinstance(part, str | bool)


def write_path(steps: Steps) -> str:
    """Format keys and indices as a path."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


class VehicleSource:
    """Vehicle file as text, source of vehicles with other numbers.

    Attributes:
        file: Path of the file.
        vehicle: Vehicle as described by the file.
    """

    def __init__(self, vehicle: str | Path) -> None:
        """Read a vehicle file.

        Raises:
            UnknownNameError: No such vehicle.
            FileAccessError: The file cannot be read.
            VehicleFileError: The file has mistakes.
        """
        self.file = find_vehicle(vehicle)
        self._data = parse_yaml(read_text(self.file), self.file.name, VehicleFileError).data
        self.vehicle = parse_vehicle(self._data, self.file.name, self.file.parent)

    def changed(self, values: Mapping[Steps, float]) -> VehicleDescription:
        """Return the vehicle with other numbers, after the file's checks.

        Args:
            values: New numbers by place.

        Raises:
            VehicleFileError: The vehicle cannot be so.
        """
        data = _unshared(self._data)
        for steps, value in values.items():
            _set(data, self.vehicle, steps, value)
        return parse_vehicle(data, self.file.name, self.file.parent)


def _unshared(data: Any) -> Any:
    """Copy of data in which parts shared by YAML anchors are separate."""
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(value) for value in data] if isinstance(data, list) else data


def _set(data: Any, part: Any, steps: Steps, value: float) -> None:
    """Set a number in a file's content; parts that the file leaves out get the description's defaults."""
    for step in steps[:-1]:
        part = _children(part)[step]
        if isinstance(data, dict) and step not in data:
            data[step] = list(part) if isinstance(part, tuple) else {}
        data = data[step]
    data[steps[-1]] = value
