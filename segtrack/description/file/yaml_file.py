"""Reading YAML without its traps: a key given twice is refused, and 1e-4 is a number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from segtrack.errors import FileAccessError, Problem, VehicleFileError


class _Loader(yaml.SafeLoader):
    """PyYAML's, which would keep the last of two equal keys and read 1e-4 as text."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark
                )
            seen.add(str(key.value))
        return node


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises:
        FileAccessError: The file cannot be read.
        VehicleFileError: The file is not YAML, or gives a key twice.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise FileAccessError("read", path, "not UTF-8 text") from None
    except yaml.reader.ReaderError as error:
        raise FileAccessError(
            "read", path, f"not text: it has the character #x{error.character:02x}"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise VehicleFileError(path.name, [Problem("", f"is not YAML: {line}{error.problem}")]) from None
    except ValueError as error:  # A date that is none, for example.
        raise VehicleFileError(path.name, [Problem("", f"is not YAML: {error}")]) from None
    except RecursionError:
        raise VehicleFileError(path.name, [Problem("", "is not YAML: nested too deeply")]) from None
