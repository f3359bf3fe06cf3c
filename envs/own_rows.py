"""Tables of observation parts and reward terms: built-in rows, merged with a task's and a user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from segtrack.errors import InvalidValueError, UnknownNameError

Row = TypeVar("Row")


def merge_rows(
    what: str, kind: type[Row], function: str | None, built_in: Mapping[str, Row], *others: object
) -> dict[str, Row]:
    """Merge rows into a built-in table: others are added, replace rows, or leave them out.

    Args:
        what: Kind of the rows in words, for messages.
        kind: Class of the rows.
        function: Name of the row's attribute that is a function of the view; None without one.
        built_in: Built-in rows by name, in order.
        *others: Rows by name, to be added or to replace those of equal name; None leaves a row out.

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
                if function is not None and not callable(getattr(row, function)):
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
    """Replace built-in rows by None, since their functions cannot be pickled."""
    return {name: None if row is built_in.get(name) else row for name, row in rows.items()}


def pickled_rows(rows: Mapping[str, Row | None], built_in: Mapping[str, Row]) -> dict[str, Row]:
    """Put the built-in rows back, the inverse of `rows_to_pickle`."""
    return {name: built_in[name] if row is None else row for name, row in rows.items()}
