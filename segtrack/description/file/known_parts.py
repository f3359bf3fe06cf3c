"""What is right of a file that has mistakes, so that checks of keys against each other run on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from segtrack.description.base import Spec
from segtrack.errors import Problem

Part = TypeVar("Part", bound=Spec)
Location = tuple[int | str, ...]
"""The keys and indices from the top of a file to a place in it."""


class Holder(NamedTuple):
    """What a key of a part holds.

    Attributes:
        container: `dict` or `tuple` of parts; None for one part, or for a value.
        spec: The kind of part; None for a value.
    """

    container: type | None
    spec: type[Spec] | None


def holder_of(field: FieldInfo) -> Holder:
    """What a field holds, whether or not it may be left out."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    is_optional = len(kinds) < len(get_args(field.annotation))
    kind = kinds[0] if is_optional else field.annotation
    container = get_origin(kind) if get_origin(kind) in (dict, tuple) else None
    if container is not None:
        kind = get_args(kind)[1 if container is dict else 0]
    if isinstance(kind, type) and issubclass(kind, Spec):
        return Holder(container, kind)
    return Holder(None, None)


def known_parts(
    kind: type[Part], data: Any, wrong: Collection[Location], folder: Path, at: Location = ()
) -> Part:
    """A part with those attributes alone that are right.

    Args:
        kind: Of the part.
        data: What the file has for it.
        wrong: Where the file's values are wrong by themselves.
        folder: What the paths in it are relative to.
        at: Where the part is in the file.
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
    """What the keys of a part, and of the parts in it, get wrong together, each with its path."""
    for name, value in part.__dict__.items():
        here = f"{at}.{name}".lstrip(".")
        match value:
            case Spec():
                yield from consistency_problems(value, here)
            case dict():
                for key, inner in value.items():
                    yield from consistency_problems(inner, f"{here}.{key}")
            case tuple():
                for i, inner in enumerate(value):
                    if isinstance(inner, Spec):
                        yield from consistency_problems(inner, f"{here}[{i}]")
    for problem in part.own_problems():
        yield problem.below(at)
