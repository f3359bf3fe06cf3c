"""Cells of a table as numbers."""

from __future__ import annotations

import re

import numpy as np

MISSING = frozenset(("", "NA", "N/A", "na", "null", "NULL", "None", "none", "-", "--"))
"""Cells that say that there is no value."""
_DATE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d(?:\.\d{1,9})?)\d*"
    r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?"
)


def number_of(cell: str) -> float:
    """The number in a cell; NaN where there is none.

    Raises:
        ValueError: It holds something else.
    """
    if cell in MISSING:
        return float("nan")
    if "_" in cell:  # Python's own digits.
        raise ValueError(cell)
    return float(cell)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    try:
        number_of(cell)
    except ValueError:
        return False
    return cell not in MISSING


def seconds_of_date(cell: str) -> float:
    """Seconds since 1970 of a date and time, ISO 8601, in UTC if it says nothing else [s].

    Raises:
        ValueError: It holds something else.
    """
    if cell in MISSING:
        return float("nan")
    found = _DATE.fullmatch(cell)
    if found is None:
        raise ValueError(cell)
    since = int(np.datetime64(f"{found['day']}T{found['time']}", "ns").astype(np.int64))
    if found["sign"]:
        ahead = (int(found["hours"]) * 60 + int(found["minutes"])) * 60
        since -= (-ahead if found["sign"] == "-" else ahead) * 10**9
    return since // 10**9 + since % 10**9 / 1e9


def is_date(cell: str) -> bool:
    """Whether a cell holds a date and time."""
    try:
        seconds_of_date(cell)
    except ValueError:
        return False
    return cell not in MISSING
