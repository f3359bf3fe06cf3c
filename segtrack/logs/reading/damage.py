"""Damage in words."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 5


def counted(count: int, what: str) -> str:
    """How many there are of a thing: `1 row is`, `3 rows are`."""
    return f"{count} {what} is" if count == 1 else f"{count} {what}s are"


def listed(what: str, places: Sequence[object]) -> str:
    """Places in words, the first ones of many: `line 7`, `lines 1, 2, 3, 4, 5 and 9 more`."""
    shown = [str(place) for place in places[:_SHOWN]]
    if len(places) == 1:
        return f"{what} {shown[0]}"
    if len(places) > _SHOWN:
        return f"{what}s {', '.join(shown)} and {len(places) - _SHOWN} more"
    return f"{what}s {', '.join(shown[:-1])} and {shown[-1]}"


def summed(sentences: Sequence[str]) -> tuple[str, ...]:
    """The first sentences, and how many more there are."""
    if len(sentences) <= 2 * _SHOWN:
        return tuple(sentences)
    return *sentences[: 2 * _SHOWN], f"and {len(sentences) - 2 * _SHOWN} more places like these"
