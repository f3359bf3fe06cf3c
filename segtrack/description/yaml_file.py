"""YAML reader with line numbers, and without YAML 1.1's traps.

A key given twice is a mistake, 1e-4 is a number, 1:30 is text and not 90, 010 is text and not 8, and
`{mass: 15,0}` is not a mass of 15 and a key 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from segtrack.errors import DescriptionFileError, FileAccessError, Problem
from segtrack.files import check_regular

MAX_BYTES = 2**18
"""Largest text [B]: 80 times the longest bundled file; it is parsed within a second."""
MAX_NODES = 20_000
"""Most keys and values with all aliases written out: a check takes some 60 us for each."""
MAX_DEPTH = 40
"""Deepest nesting with all aliases written out."""
MAX_KEY = 200
"""Longest key in characters."""
MAX_DIGITS = 100
"""Longest number in characters."""


class YamlBudget:
    """Size of a YAML file with all aliases expanded, computed without expanding them.

    Attributes:
        nodes: Number of keys and values.
        problems: Parts that exceed the budget.
    """

    def __init__(self, root: yaml.Node) -> None:
        """Measure a file from its top."""
        self.problems: list[Problem] = []
        self._sizes: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()
        self.nodes, depth = self._measure(root, "")
        if self.nodes > MAX_NODES:
            message = f"must have at most {MAX_NODES} keys and values with all aliases written out, got"
            self.problems.append(Problem("", f"{message} {_shown(self.nodes)}"))
        if depth > MAX_DEPTH:
            self.problems.append(Problem("", f"must be nested at most {MAX_DEPTH} deep, got {_shown(depth)}"))

    def _measure(self, node: yaml.Node, path: str) -> tuple[int, int]:
        """Return the number of nodes of a part, and its nesting depth."""
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if id(node) in self._open:
            self._refuse(node, path, "no part of itself, got an alias of what it is in")
            return 1, 1
        if isinstance(node, yaml.ScalarNode):
            if node.tag in _NUMBERS and len(node.value) > MAX_DIGITS:
                self._refuse(node, path, f"of at most {MAX_DIGITS} characters, got {len(node.value)}")
            return 1, 1
        self._open.add(id(node))
        size, depth = 1, 0
        for inner, where in self._inner(node, path):
            nodes, deep = self._measure(inner, where)
            size, depth = size + nodes, max(depth, deep)
        self._open.discard(id(node))
        self._sizes[id(node)] = size, depth + 1
        return size, depth + 1

    def _inner(self, node: yaml.Node, path: str) -> Iterator[tuple[yaml.Node, str]]:
        """Yield the parts of a node with their paths."""
        if isinstance(node, yaml.SequenceNode):
            for i, value in enumerate(node.value):
                yield value, f"{path}[{i}]"
            return
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            if len(name) > MAX_KEY:
                self._refuse(key, path, f"without keys of over {MAX_KEY} characters, got {len(name)}")
            yield key, path
            yield value, f"{path}.{name[:MAX_KEY]}".lstrip(".")

    def _refuse(self, node: yaml.Node, path: str, what: str) -> None:
        self.problems.append(Problem(path, f"must be {what}", node.start_mark.line + 1))


_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
_MANY = 10**9


def _shown(number: int) -> str:
    return str(number) if number < _MANY else f"more than {_MANY}"


_INTEGER, _DECIMALS = re.compile(r"[-+]?\d+"), re.compile(r"\d+(?:[eE][-+]?\d+)?")
_TIGHT = re.compile(r"\d,\d")
_FLOAT, _INT = "tag:yaml.org,2002:float", "tag:yaml.org,2002:int"
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """PyYAML's loader, which reads 1e-4 as a number (PyYAML: text) and 1:30 as text (YAML 1.1: 90)."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {  # noqa: RUF012
        first: [pair for pair in pairs if pair[0] not in (_FLOAT, _INT)]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_FLOATS = r"[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)[eE][-+]?\d+|[-+]?(?:\d[\d_]*\.[\d_]*|\.\d[\d_]*)"
_SPECIAL = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_INTEGERS = r"[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0|[1-9][\d_]*)"
_Loader.add_implicit_resolver(_FLOAT, re.compile(rf"^(?:{_FLOATS}|{_SPECIAL})$"), list("-+.0123456789"))
_Loader.add_implicit_resolver(_INT, re.compile(rf"^{_INTEGERS}$"), list("-+0123456789"))


@dataclass(frozen=True)
class YamlFile:
    """Content of a YAML file, with the places of its keys.

    Attributes:
        data: Content as Python data.
        problems: Duplicate keys, and numbers with a decimal comma that YAML reads as two.
        tight_lists: Paths of lists with a comma between two digits and no space.
        root: Root node, with the places of all keys; None if there was no file.
        merged: Mapping that a mapping takes its keys from by `<<`, by the id of its node.
        nodes: Number of keys and values, with all aliases expanded.
    """

    data: Any
    problems: tuple[Problem, ...] = ()
    tight_lists: frozenset[str] = frozenset()
    root: yaml.Node | None = None
    merged: dict[int, yaml.Node] = field(default_factory=dict)
    nodes: int = 0

    def locate(self, problems: Iterable[Problem]) -> list[Problem]:
        """Add lines to problems and sort by them; problems of one anchor are listed once."""
        found: dict[Any, Problem] = {}
        for problem in problems:
            line, origin, missing = self._place(problem.where)
            mistake = origin, missing, problem.message, problem.line
            found.setdefault(mistake, replace(problem, line=problem.line or line))
        return sorted(found.values(), key=lambda problem: problem.line or 0)

    def _place(self, where: str) -> tuple[int | None, int, str]:
        """Line of a path, id of the node that defines it, and the path's rest that the file lacks."""
        node, line, rest = self.root, None, where
        while node is not None and (step := _step(node, rest)) is not None:
            key, node, rest = step
            # Of an alias the place where it was defined, which is before its key.
            start = node.start_mark if key is None or node.start_mark.index < key.index else key
            line = start.line + 1
        while id(node) in self.merged:
            node = self.merged[id(node)]
        return line, id(node), rest


def _step(node: yaml.Node, path: str) -> tuple[yaml.Mark | None, yaml.Node, str] | None:
    """Follow a path one key down: mark of the key, value, rest of the path; None if it is not in the file."""
    if isinstance(node, yaml.SequenceNode):
        index = re.match(r"\[(\d+)\]\.?", path)
        if index is None or int(index[1]) >= len(node.value):
            return None
        return None, node.value[int(index[1])], path[index.end() :]
    steps = []
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        name = str(key.value)
        if path == name or path.startswith((f"{name}.", f"{name}[")):
            steps.append((len(name), key.start_mark, value))
    if not steps:
        return None
    longest = max(length for length, _, _ in steps)
    _, mark, value = next(step for step in reversed(steps) if step[0] == longest)
    return mark, value, path[longest:].removeprefix(".")


def read_text(path: Path) -> str:
    """Read a text file.

    Raises:
        FileAccessError: The file cannot be read, is a pipe or a device, is too long, or is no text.
    """
    check_regular(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise FileAccessError("read", path, f"must have at most {MAX_BYTES} bytes, got more")
        text = data.decode("utf-8").replace("\r\n", "\n")
        yaml.reader.Reader(text)
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise FileAccessError("read", path, "not UTF-8 text") from None
    except yaml.reader.ReaderError as error:
        raise FileAccessError(
            "read", path, f"not text: it has the character #x{error.character:02x}"
        ) from None
    return text


def read_value(text: str) -> Any:
    """Parse one YAML value, such as an option's.

    Raises:
        yaml.YAMLError: The text is not YAML.
    """
    return yaml.load(text, _Loader)


def parse_yaml(text: str, file: str, refusal: type[DescriptionFileError]) -> YamlFile:
    """Parse the text of a YAML file.

    Args:
        text: Text of the file.
        file: Name of the file, for messages.
        refusal: Error to raise if the text is not YAML.
    """
    if len(text) > MAX_BYTES:
        raise refusal(file, [Problem("", f"must have at most {MAX_BYTES} bytes, got {len(text)}")])
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return YamlFile(None)
        budget = YamlBudget(root)
        if budget.problems:
            raise refusal(file, budget.problems)
        survey = _Survey(text)
        survey.look(root, "")
        data = loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        column = f"column {mark.column + 1}: " if mark is not None else ""
        line = mark.line + 1 if mark is not None else None
        raise refusal(file, [Problem("", f"is not YAML: {column}{error.problem}", line)]) from None
    except ValueError as error:  # A date that is none, for example.
        raise refusal(file, [Problem("", f"is not YAML: {error}")]) from None
    except (AttributeError, KeyError, TypeError):  # PyYAML's, of `!!bool x` or `!!timestamp x`.
        raise refusal(
            file, [Problem("", "is not YAML: a value is not of the kind that its tag says")]
        ) from None
    except RecursionError:
        raise refusal(file, [Problem("", "is not YAML: nested too deeply")]) from None
    return YamlFile(
        data, tuple(survey.problems), frozenset(survey.tight_lists), root, survey.merged, budget.nodes
    )


class _Survey:
    """Walk over all nodes of a file that finds duplicate keys and mends decimal commas."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.tight_lists: list[str] = []
        self.merged: dict[int, yaml.Node] = {}
        self._seen: set[int] = set()

    def look(self, node: yaml.Node, path: str) -> None:
        """Visit a node and its children once."""
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self._mend_decimal_commas(node, path)
            self._find_repeated_keys(node, path)
            for key, value in node.value:
                if key.tag == _MERGE:
                    sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
                    self.merged[id(node)] = sources[0]
                else:
                    self.look(value, f"{path}.{key.value}".lstrip("."))
        elif isinstance(node, yaml.SequenceNode):
            if _TIGHT.search(self.text[node.start_mark.index : node.end_mark.index]):
                self.tight_lists.append(path)
            for i, value in enumerate(node.value):
                self.look(value, f"{path}[{i}]")

    def _find_repeated_keys(self, node: yaml.MappingNode, path: str) -> None:
        """Add a problem for each key that a mapping has twice."""
        first: dict[str, int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if key.value in first:
                    message = f"is given twice, first in line {first[key.value]}"
                    self.problems.append(Problem(f"{path}.{key.value}".lstrip("."), message, line))
                first.setdefault(key.value, line)

    def _mend_decimal_commas(self, node: yaml.MappingNode, path: str) -> None:
        """Join the numbers of a mapping in braces that YAML has split at a decimal comma."""
        pairs: list[tuple[yaml.Node, yaml.Node]] = []
        for key, value in node.value:
            if pairs and _is_cut_off(pairs[-1][1], key, value):
                name, number = pairs[-1]
                got = f"{number.value},{key.value}"
                number.value, number.tag = f"{number.value}.{key.value}", _FLOAT
                message = f"has a decimal comma, got {got}: write {number.value}"
                where = f"{path}.{name.value}".lstrip(".")
                self.problems.append(Problem(where, message, key.start_mark.line + 1))
            else:
                pairs.append((key, value))
        node.value = pairs


def _is_cut_off(number: yaml.Node, key: yaml.Node, value: yaml.Node) -> bool:
    """Return whether a key without a value is the decimals of the number before it."""
    return (
        value.value == ""
        and isinstance(number.value, str)
        and isinstance(key.value, str)
        and _INTEGER.fullmatch(number.value) is not None
        and _DECIMALS.fullmatch(key.value) is not None
        and key.start_mark.index == number.end_mark.index + 1
    )
