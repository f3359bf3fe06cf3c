"""Rows of the tables of observations and rewards: those that are built in, with a task's and a user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from segtrack.errors import InvalidValueError, UnknownNameError

Row = TypeVar("Row")


def merge_rows(
    what: str, kind: type[Row], function: str, built_in: Mapping[str, Row], *others: object
) -> dict[str, Row]:
    """Return the rows of a table with others added, put in their places, or left out.

    Args:
        what: Kind of the rows in words, for messages.
        kind: Class of the rows.
        function: Name of the attribute of a row that is a function of the view.
        built_in: Rows by name, in their order.
        *others: Rows by name that follow, or replace those of the same name; None leaves one out.

    Raises:
        InvalidValueError: Not rows by name, or one without its function.
        UnknownNameError: Nothing of that name can be left out.
    """
    rows = dict(built_in)
    for own in others:
        if not isinstance(own, Mapping):
            raise InvalidValueError(f"{what}s", f"of class {kind.__name__}, by name", own)
        for name, row in own.items():
            if isinstance(row, kind) and isinstance(name, str):
                if not callable(getattr(row, function)):
                    called = f"{function} of {what} {name}"
                    raise InvalidValueError(called, "a function", getattr(row, function))
                rows[name] = row
            elif row is not None:
                expected = f"of class {kind.__name__}, or None to leave it out"
                raise InvalidValueError(f"{what} {name}", expected, row)
            elif rows.pop(name, None) is None:
                raise UnknownNameError(what, str(name), rows)
    return rows


def rows_to_pickle(rows: Mapping[str, Row], built_in: Mapping[str, Row]) -> dict[str, Row | None]:
    """Return rows of which those that are built in are None: their functions cannot be pickled."""
    return {name: None if row is built_in.get(name) else row for name, row in rows.items()}


def pickled_rows(rows: Mapping[str, Row | None], built_in: Mapping[str, Row]) -> dict[str, Row]:
    """Return the rows that `rows_to_pickle` was given."""
    return {name: built_in[name] if row is None else row for name, row in rows.items()}
