"""What a fit is of, as JSON can hold it: a fit is resumed for the same alone."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from segtrack.logs.fit.simulated.cases import Case
from segtrack.logs.fit.unknowns import Unknown
from segtrack.logs.replay import LoadedTerrain
from segtrack.recording.versions import PACKAGES, version_of

HASH = "sha256:"
"""Begins what stands for a value that is too long to be told."""
_LONGEST = 80
"""Characters of a value that is told as it is."""


def describe(cases: Sequence[Case], unknowns: Sequence[Unknown], **others: Any) -> dict[str, Any]:
    """All that a fit's simulations and stages depend on, part by part, those first that tell most."""
    return {
        "parameters": [unknown.name for unknown in unknowns],
        "logs": [case.name for case in cases],
        **{part: _short(value) for part, value in others.items()},
        **dict(_of_unknowns(unknowns)),
        **dict(_of_cases(cases)),
        **{f"version of {name}": version_of(name) for name in (*PACKAGES, "cmaes")},
    }


def _of_unknowns(unknowns: Sequence[Unknown]) -> Iterator[tuple[str, Any]]:
    for unknown in unknowns:
        yield f"start of {unknown.name}", unknown.start
        yield f"bounds of {unknown.name}", [unknown.low, unknown.high]
        yield f"prior of {unknown.name}", _short(unknown.prior)


def _of_cases(cases: Sequence[Case]) -> Iterator[tuple[str, Any]]:
    """All fields of each case: logged values, times, belts, settings, files, whether it is held out."""
    for case in cases:
        yield f"kind of {case.name}", type(case).__name__
        for key, value in _fields(case).items():
            yield f"{key} of {case.name}", _short(value)


def _short(value: Any) -> Any:
    """A value as JSON can hold it, or its hash if it is long."""
    plain = _plain(value)
    text = json.dumps(plain, sort_keys=True)
    return plain if len(text) <= _LONGEST else HASH + hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray():
            data = np.ascontiguousarray(value).tobytes()
            return [str(value.dtype), list(value.shape), hashlib.sha256(data).hexdigest()]
        case np.generic():
            return value.item()
        case Path():
            return value.as_posix()
        case BaseModel():
            return value.model_dump(mode="json")
        case LoadedTerrain():
            return [value.name, value.sha256]
        case Mapping():
            return {str(key): _plain(part) for key, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case _ if callable(value):
            return f"{value.__module__}.{value.__qualname__}"
        case _:
            return _plain(_fields(value))


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))
