"""Parts of a robot by name, which nobody replaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from segtrack.errors import known_name

Part = TypeVar("Part")


class NamedParts(Mapping[str, Part]):
    """Parts by name, to be read; an unknown name lists those that there are."""

    def __init__(self, kind: str, parts: Mapping[str, Part]) -> None:
        """Take parts of a kind, in words."""
        self._kind, self._parts = kind, dict(parts)

    def __getitem__(self, name: str) -> Part:
        """Return the part of that name.

        Raises:
            UnknownNameError: There is none.
        """
        return self._parts[known_name(self._kind, name, self._parts)]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._parts)

    def __len__(self) -> int:
        """Number of parts."""
        return len(self._parts)

    def __repr__(self) -> str:
        """The parts by name."""
        return repr(self._parts)
