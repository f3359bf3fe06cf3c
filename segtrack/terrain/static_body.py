"""Solids at any pose: a static body of somebody's own program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import UnsampledTerrain
from segtrack.terrain.solids import Box, Cylinder, HalfSpace, Hull, Solid


@dataclass(frozen=True, kw_only=True)
class StaticBody(UnsampledTerrain):
    """Convex solids at any pose; no floor around them, and no height sampler.

    Attributes:
        parts: `Box`, `Cylinder`, `HalfSpace` or `Hull` of `segtrack.terrain.solids`, at least one.
        name: By which messages call it.
    """

    parts: tuple[Solid, ...]
    name: str = "static body"

    def __post_init__(self) -> None:
        """Refuse what are no convex solids."""
        super().__post_init__()
        parts = tuple(self.parts) if isinstance(self.parts, Iterable) else ()
        if not parts or not all(isinstance(part, Box | Cylinder | HalfSpace | Hull) for part in parts):
            raise InvalidValueError("StaticBody.parts", "at least one convex solid", self.parts)
        object.__setattr__(self, "parts", parts)

    def solids(self) -> tuple[Solid, ...]:
        """Return the solids."""
        return self.parts

    def unsampled_name(self) -> tuple[str, str]:
        """Return the kind of ground, and what messages call this one."""
        return "static body", self.name
