"""The mistakes that pydantic finds in a file, in this project's words."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from segtrack.description.base import MistakesError, Spec
from segtrack.description.file.known_parts import Location, holder_of
from segtrack.errors import Problem

_EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "model_type": "a mapping of keys",
    "dict_type": "a mapping of names",
    "tuple_type": "a list",
    "finite_number": "a finite number",
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "a name of letters, digits and underscores that starts with a letter",
    "too_short": "at least {min_length} long",
    "too_long": "at most {max_length} long",
}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")


class Misspelt(NamedTuple):
    """Keys that segtrack does not know, each with the one that it is taken for.

    Attributes:
        meant: By the place of the unknown key; empty if it is like none.
        known: The keys there could be instead, by the place of the unknown key.
    """

    meant: dict[Location, str]
    known: dict[Location, tuple[str, ...]]


def misspelt_keys(details: Sequence[ErrorDetails], kind: type[Spec]) -> Misspelt:
    """What the unknown keys of a file that describes a `kind` were meant to be."""
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    known = {place: _keys_at(place[:-1], kind) for place in unknown}
    meant = {}
    for place in unknown:
        close = get_close_matches(str(place[-1]), known[place], n=1)
        meant[place] = close[0] if close else ""
    return Misspelt(meant, known)


def field_details(error: ValidationError) -> list[ErrorDetails]:
    """What pydantic found wrong with keys and values by themselves, not against each other."""

    def is_of_a_field(detail: ErrorDetails) -> bool:
        context = detail.get("ctx", {})
        if detail["type"] == "too_short":  # Pydantic does not count entries that it has found a mistake in.
            return len(detail["input"]) < context["min_length"]
        return not isinstance(context.get("error"), MistakesError)

    return [detail for detail in error.errors() if is_of_a_field(detail)]


def field_problems(
    details: Sequence[ErrorDetails], misspelt: Misspelt, tight: Collection[str]
) -> Iterator[Problem]:
    """What is wrong with each key and value by itself.

    Args:
        details: Pydantic's.
        misspelt: The unknown keys.
        tight: Paths of lists in which a comma stands between two digits.
    """
    meant = {(*place[:-1], key) for place, key in misspelt.meant.items()}
    for detail in details:
        location, kind, given = detail["loc"], detail["type"], detail["input"]
        context = detail.get("ctx", {})
        where = path_of(location)
        if kind == "missing" and location in meant:
            continue  # It is there, misspelt.
        match kind:
            case "missing":
                message = "is missing"
            case "extra_forbidden":
                key = misspelt.meant[location]
                hint = f"did you mean {key}?" if key else f"there are: {', '.join(misspelt.known[location])}"
                message = f"is not a key that segtrack knows; {hint}"
            case "invalid_key":
                where, message = path_of(location[:-1]), f"must have text for keys, got {location[-1]!r}"
            case "value_error":
                message = str(context["error"])
            case _ if kind in _EXPECTED:
                message = f"must be {_EXPECTED[kind].format(**context)}, got {reprlib.repr(given)}"
                message += _comma_hint(given, where in tight and kind == "too_long")
            case _:
                message = f"{detail['msg']}, got {reprlib.repr(given)}"
        yield Problem(where, message)


def path_of(location: Location) -> str:
    """The keys to a place in a file; pydantic marks a mistake in a key itself by a last `[key]`."""
    keys = location[:-1] if location[-1:] == ("[key]",) else location
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")


def _comma_hint(given: Any, is_tight: bool) -> str:
    if isinstance(given, str) and _DECIMAL_COMMA.fullmatch(given):
        return f": write the decimals after a point, {given.replace(',', '.')}"
    return ": write decimals after a point, not a comma" if is_tight else ""


def _keys_at(location: Location, kind: type[Spec]) -> tuple[str, ...]:
    """The keys that the part at a place may have."""
    spec: Any = kind
    place = list(location)
    while place:
        container, spec = holder_of(spec.model_fields[place.pop(0)])
        if container is not None:
            place.pop(0)
    return tuple(spec.model_fields)
