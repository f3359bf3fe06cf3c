"""Objects of a user's own modules, by `module:name`, and options of environments in YAML files."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import yaml

from segtrack.description import read_text, read_value
from segtrack.envs.observation import Scan
from segtrack.errors import FileAccessError, InvalidValueError, Phrase, UnknownNameError

OPTIONS = (
    "control_frequency",
    "belt_speed",
    "flippers",
    "actions",
    "observation",
    "scan",
    "time_limit",
    "reward",
    "terms",
    "parts",
    "groups",
    "sensor_models",
    "memories",
)
"""Options of environments that a file or function may give."""


def load_object(what: str, named: str) -> Any:
    """Import an object of a user's own, from the working directory or from what is installed.

    Args:
        what: Role of the object, for the message.
        named: Module and name, as `package.module:name`.

    Raises:
        InvalidValueError: There is no such module or name.
    """
    module, _, name = named.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # As `python -m` has it.
    try:
        return reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        got = Phrase(f"{named!r} ({error})")
        raise InvalidValueError(what, "MODULE:NAME, which Python can import", got) from None


def made(found: Any, *given: Any) -> Any:
    """Return what a function or class makes, or the object itself."""
    return found(*given) if callable(found) else found


def load_options(named: str) -> dict[str, Any]:
    """Return options of environments, keywords of `gymnasium.make`.

    Args:
        named: A function without arguments that returns them by name, as `module:function`, or the path of
            a YAML file. In the file, `actions`, and what `terms`, `parts`, `groups`, `sensor_models` and
            `memories` have, are objects by `module:name`, and `scan` has the values of a `Scan`.

    Raises:
        InvalidValueError: There is no such module, or it gives no options.
        UnknownNameError: No such option.
        FileAccessError: The file cannot be read, or is no YAML.
    """
    path = Path(named)
    from_file = path.suffix in (".yaml", ".yml")
    options = _read(path) if from_file else made(load_object("options", named))
    if not isinstance(options, Mapping):
        raise InvalidValueError(f"options of {named}", "values by name", options)
    for name in options:
        if name not in OPTIONS:
            raise UnknownNameError(f"option of {named}", name, OPTIONS)
    return {name: _found(name, value) for name, value in options.items()} if from_file else dict(options)


def _read(path: Path) -> Any:
    try:
        return read_value(read_text(path))
    except yaml.YAMLError as error:
        raise FileAccessError("read options", path, f"it is no YAML: {error}") from None


def _found(name: str, value: Any) -> Any:
    """Return an option's value from a file's."""
    if name == "actions":
        return made(load_object(name, value)) if isinstance(value, str) else value
    if name in ("terms", "parts", "groups", "sensor_models", "memories") and isinstance(value, Mapping):
        return {
            key: load_object(f"{name}.{key}", own) if isinstance(own, str) else own
            for key, own in value.items()
        }
    if name == "scan" and isinstance(value, Mapping):
        try:
            return Scan(**value)
        except TypeError as error:
            raise InvalidValueError(
                "scan", "the values of a Scan", Phrase(f"{dict(value)} ({error})")
            ) from None
    return value
