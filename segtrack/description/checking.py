"""Checks of a file's content: its valid parts, and all mistakes with their paths."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from segtrack.description.base import MistakesError, Spec
from segtrack.description.yaml_file import YamlFile
from segtrack.errors import DescriptionFileError, Problem

Part = TypeVar("Part", bound=Spec)
Location = tuple[int | str, ...]
"""The keys and indices from the top of a file to a place in it."""


class Holder(NamedTuple):
    """Type of a key's content.

    Attributes:
        container: `dict` or `tuple` for several parts; None for one part, or a plain value.
        spec: Class of the parts; None for a plain value.
    """

    container: type | None
    spec: type[Spec] | None


def holder_of(field: FieldInfo) -> Holder:
    """Return the type of a field's content, without the None of an optional one."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    is_optional = len(kinds) < len(get_args(field.annotation))
    kind = kinds[0] if is_optional else field.annotation
    container = get_origin(kind) if get_origin(kind) in (dict, tuple) else None
    if container is not None:
        kind = get_args(kind)[1 if container is dict else 0]
    # Python 3.10 takes `tuple[float, ...]` for a type, too, of which it cannot tell the bases.
    if get_origin(kind) is None and isinstance(kind, type) and issubclass(kind, Spec):
        return Holder(container, kind)
    return Holder(None, None)


def known_parts(
    kind: type[Part], data: Any, wrong: Collection[Location], folder: Path, at: Location = ()
) -> Part:
    """Make a part from its valid keys alone; to read another one raises `UnknownPartError`.

    Args:
        kind: Class of the part.
        data: Content of the file for the part.
        wrong: Places of values that are wrong by themselves.
        folder: Folder that relative paths start from.
        at: Place of the part in the file.
    """
    given = data if isinstance(data, dict) else {}
    values = {}
    for name, field in kind.model_fields.items():
        here = (*at, name)
        container, spec = holder_of(field)
        value = given.get(name)
        if name not in given or here in wrong:
            continue
        if spec is None or value is None:
            if not any(place[: len(here)] == here for place in wrong):
                whole = TypeAdapter[Any](Annotated[field.annotation, field])  # type: ignore[arg-type]
                values[name] = whole.validate_python(value, context={"folder": folder})
        elif container is dict:
            values[name] = {k: known_parts(spec, v, wrong, folder, (*here, k)) for k, v in value.items()}
        elif container is tuple:
            values[name] = tuple(known_parts(spec, v, wrong, folder, (*here, i)) for i, v in enumerate(value))
        else:
            values[name] = known_parts(spec, value, wrong, folder, here)
    part = kind.model_construct(**values)
    for name in kind.model_fields:
        if name not in values and (name in given or not isinstance(data, dict) or (*at, name) in wrong):
            part.__dict__.pop(name, None)  # Not the default: the file gives something else.
    return part


def consistency_problems(part: Spec, at: str = "") -> Iterator[Problem]:
    """Yield the inconsistencies between keys of a part and of the parts in it, each with its path."""
    for name, value in part.__dict__.items():
        here = f"{at}.{name}".lstrip(".")
        match value:
            case Spec():
                yield from consistency_problems(value, here)
            case dict():
                for key, inner in value.items():
                    if isinstance(inner, Spec):
                        yield from consistency_problems(inner, f"{here}.{key}")
            case tuple():
                for i, inner in enumerate(value):
                    if isinstance(inner, Spec):
                        yield from consistency_problems(inner, f"{here}[{i}]")
    for problem in part.own_problems():
        yield problem.below(at)


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
_RENAMED = {
    "arms": "suspension",
    "cross_stiffness": "conical_stiffness",
    "extends": "tip_direction",
    "ground": "shoe_contact",
    "omit": "omit_segments",
    "rest": "free_position",
    "rollers": "even_rollers",
    "tension": "pretension",
    "wheels": "road_wheels",
}
"""New names by the old ones of keys, for files of earlier versions."""
_BASE_60 = re.compile(r"[-+]?\d+(?::[0-5]?\d)+(?:\.\d*)?")
_LEADING_ZERO = re.compile(r"[-+]?0[\d_]+")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")


class Misspelt(NamedTuple):
    """Unknown keys of a file, with the known ones that were likely meant.

    Attributes:
        meant: Key that was likely meant, by the place of the unknown key; empty if none is similar.
        known: Keys that are possible there, by the place of the unknown key.
    """

    meant: dict[Location, str]
    known: dict[Location, tuple[str, ...]]


def misspelt_keys(details: Sequence[ErrorDetails], kind: type[Spec]) -> Misspelt:
    """Find the likely meaning of the unknown keys of a file that describes a `kind`."""
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    known = {place: _keys_at(place[:-1], kind) for place in unknown}
    meant = {}
    for place in unknown:
        renamed = _RENAMED.get(str(place[-1]))
        close = get_close_matches(str(place[-1]), known[place], n=1)
        meant[place] = renamed if renamed in known[place] else close[0] if close else ""
    return Misspelt(meant, known)


def field_details(error: ValidationError) -> list[ErrorDetails]:
    """Return pydantic's errors of single keys and values, without those of inconsistent keys."""

    def is_of_a_field(detail: ErrorDetails) -> bool:
        context = detail.get("ctx", {})
        if detail["type"] == "too_short":  # Pydantic does not count entries that it has found a mistake in.
            return len(detail["input"]) < context["min_length"]
        return not isinstance(context.get("error"), MistakesError)

    return [detail for detail in error.errors() if is_of_a_field(detail)]


def field_problems(
    details: Sequence[ErrorDetails], misspelt: Misspelt, tight: Collection[str]
) -> Iterator[Problem]:
    """Yield the mistakes of single keys and values, in segtrack's wording.

    Args:
        details: Errors of pydantic.
        misspelt: Unknown keys and their likely meanings.
        tight: Paths of lists with a comma between two digits and no space (a decimal comma?).
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
                if key and key == _RENAMED.get(str(location[-1])):
                    message = f"is now called {key}"
                else:
                    there = f"there are: {', '.join(misspelt.known[location])}"
                    hint = f"did you mean {key}?" if key else there
                    message = f"is not a key that segtrack knows; {hint}"
            case "invalid_key":
                where, message = path_of(location[:-1]), f"must have text for keys, got {location[-1]!r}"
            case "value_error":
                message = str(context["error"])
            case _ if kind in _EXPECTED:
                message = f"must be {_EXPECTED[kind].format(**context)}, got {reprlib.repr(given)}"
                message += _number_hint(given, where in tight and kind == "too_long")
            case _:
                message = f"{detail['msg']}, got {reprlib.repr(given)}"
        yield Problem(where, message)


def path_of(location: Location) -> str:
    """Path of keys to a place in a file; pydantic marks a mistake in a key itself by a last `[key]`."""
    keys = location[:-1] if location[-1:] == ("[key]",) else location
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")


def _number_hint(given: Any, is_tight: bool) -> str:
    """Advice for a text that looks like a number in another notation, or ""."""
    if isinstance(given, str) and _DECIMAL_COMMA.fullmatch(given):
        return f": write the decimals after a point, {given.replace(',', '.')}"
    if isinstance(given, str) and _BASE_60.fullmatch(given):
        return ": write one number in the key's unit, as 90 for a minute and a half in seconds"
    if isinstance(given, str) and _LEADING_ZERO.fullmatch(given):
        return ": write it without the 0 at the beginning, by which some take it for octal"
    return ": write decimals after a point, not a comma" if is_tight else ""


def _keys_at(location: Location, kind: type[Spec]) -> tuple[str, ...]:
    """Keys that are possible in the part at a place."""
    spec: Any = kind
    place = list(location)
    while place:
        container, spec = holder_of(spec.model_fields[place.pop(0)])
        if container is not None:
            place.pop(0)
    return tuple(spec.model_fields)


Description = TypeVar("Description", bound=Spec)
MAX_PROBLEMS = 60
"""Most mistakes of a file that are told at once."""


def check_content(
    kind: type[Description],
    content: YamlFile,
    file: str,
    folder: Path,
    refusal: type[DescriptionFileError],
    beside: Callable[[Any], Iterable[Problem]] = lambda known: (),
) -> Description:
    """Make a description from a file's content, or raise an error with all mistakes in it.

    Args:
        kind: Class of the part that the whole file is.
        content: Content of the file.
        file: Name of the file, for messages.
        folder: Folder that relative paths start from.
        refusal: Error to raise, with all mistakes.
        beside: Function that finds further mistakes in the valid parts of a wrong file (see `known_parts`).
    """
    problems = list(content.problems)
    try:
        description = kind.model_validate(content.data, context={"folder": folder})
    except ValidationError as error:
        description, mistakes = _mistakes(kind, error, content, folder)
        problems += mistakes
    if problems:
        problems += beside(description)
        rest = (
            [Problem("", f"and {more} more mistakes")] if (more := len(problems) - MAX_PROBLEMS) > 0 else []
        )
        raise refusal(file, [*content.locate(problems[:MAX_PROBLEMS]), *rest])
    return description


def _mistakes(
    kind: type[Description], error: ValidationError, content: YamlFile, folder: Path
) -> tuple[Description, list[Problem]]:
    """Return the valid parts and all mistakes: of single values first, then inconsistencies."""
    details = field_details(error)
    if len(details) > MAX_PROBLEMS:  # Rather no description than mistakes that others hide.
        first = details[:MAX_PROBLEMS]
        told = list(field_problems(first, misspelt_keys(first, kind), content.tight_lists))
        more = Problem("", f"has {len(details)} mistakes in all")
        return known_parts(kind, {}, (), folder), [more, *told]
    misspelt = misspelt_keys(details, kind)
    wrong = {detail["loc"] for detail in details} | {
        (*place[:-1], key) for place, key in misspelt.meant.items()
    }
    known = known_parts(kind, content.data, wrong, folder)
    by_themselves = field_problems(details, misspelt, content.tight_lists)
    return known, [*by_themselves, *consistency_problems(known)]
