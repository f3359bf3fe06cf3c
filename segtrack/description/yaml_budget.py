"""Budget of a YAML file: what a small text may grow to before it is refused.

Aliases let fifteen lines stand for millions of nodes, and files come from others: recordings hold those of
their vehicle and course. A file within this budget is read and checked within seconds.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from segtrack.errors import Problem

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
    """Extent of a file with all of its aliases written out, found without writing them out.

    Attributes:
        nodes: Number of keys and values.
        problems: Parts that are not within the budget.
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
        """Return the number of nodes of a part, and its depth."""
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
