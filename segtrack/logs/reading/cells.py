"""Cells of tables: the numbers, and the dates and times, that they hold."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

MISSING = frozenset(("", "NA", "N/A", "na", "null", "NULL", "None", "none", "-", "--"))
"""Cells that say that there is no value."""
_TRUTHS = {"true": 1.0, "false": 0.0}
_NO_NUMBER = re.compile(r"[+-]?1\.#(?P<kind>QNAN|SNAN|IND|INF)\d*", re.IGNORECASE)
"""What Windows' C library wrote for numbers that are none: 1.#QNAN, -1.#IND00, 1.#INF."""
_DATE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d(?:\.\d{1,9})?)\d*"
    r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?"
)
_OTHER_DATE = re.compile(
    r"(?P<one>\d{1,2})(?P<by>[./])(?P<two>\d{1,2})(?P=by)(?P<year>\d{4}),? (?P<hour>\d{1,2})"
    r"(?P<rest>:\d\d:\d\d(?:\.\d+)?)(?: (?P<half>[AaPp][Mm]))?"
)
_CLOCK = re.compile(
    r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d):(?P<second>[0-5]\d(?:\.\d+)?)(?: ?(?P<half>[AaPp][Mm]))?"
)


def number_of(cell: str) -> float:
    """Read the number in a cell; NaN if the cell is empty.

    Raises:
        ValueError: The cell holds something else.
    """
    if cell in MISSING:
        return float("nan")
    if "_" in cell:  # Python's own digits.
        raise ValueError(cell)
    if (truth := _TRUTHS.get(cell.lower())) is not None:
        return truth
    if "#" in cell and (found := _NO_NUMBER.fullmatch(cell)):
        infinite = float("-inf" if cell.startswith("-") else "inf")
        return infinite if found["kind"].upper() == "INF" else float("nan")
    return float(cell)


def is_number(cell: str) -> bool:
    """Return True if a cell holds a number."""
    return _holds(cell, number_of)


def _holds(cell: str, read: Callable[[str], float]) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return cell not in MISSING


def seconds_of_date(cell: str) -> float:
    """Seconds since 1970 of a date and time, in UTC if it says nothing else [s].

    Dates are ISO 8601, German (31.12.2026 23:59:59) or US American (12/31/2026 11:59:59 PM).

    Raises:
        ValueError: The cell holds something else.
    """
    if cell in MISSING:
        return float("nan")
    cell = _turned_about(cell)
    found = _DATE.fullmatch(cell)
    if found is None:
        raise ValueError(cell)
    since = int(np.datetime64(f"{found['day']}T{found['time']}", "ns").astype(np.int64))
    if found["sign"]:
        ahead = (int(found["hours"]) * 60 + int(found["minutes"])) * 60
        since -= (-ahead if found["sign"] == "-" else ahead) * 10**9
    return since // 10**9 + since % 10**9 / 1e9


def seconds_of_day(cell: str) -> float:
    """Seconds since 1970 at the beginning of a date [s], in the forms of `seconds_of_date`.

    Raises:
        ValueError: The cell holds something else.
    """
    return seconds_of_date(cell if cell in MISSING else f"{cell} 00:00:00")


def seconds_of_clock(cell: str) -> float:
    """Seconds since midnight of a time of day [s]: `23:59:59.5`, or `11:59:59.5 PM`.

    Raises:
        ValueError: The cell holds something else.
    """
    if cell in MISSING:
        return float("nan")
    found = _CLOCK.fullmatch(cell)
    if found is None:
        raise ValueError(cell)
    hour = _hour(found["hour"], found["half"])
    return 3600.0 * hour + 60.0 * int(found["minute"]) + float(found["second"])


def _hour(hour: str, half: str | None) -> int:
    """Hour from 0 to 23 of one that may count from noon again."""
    return int(hour) if half is None else int(hour) % 12 + (12 if half.upper() == "PM" else 0)


def is_day(cell: str) -> bool:
    """Return True if a cell holds a date alone."""
    return _holds(cell, seconds_of_day)


def is_clock(cell: str) -> bool:
    """Return True if a cell holds a time of day alone."""
    return _holds(cell, seconds_of_clock)


def _turned_about(cell: str) -> str:
    """Return a German or US American date and time as ISO 8601, any other cell as it is."""
    found = _OTHER_DATE.fullmatch(cell)
    if found is None:
        return cell
    hour = _hour(found["hour"], found["half"])
    day, month = (found["one"], found["two"]) if found["by"] == "." else (found["two"], found["one"])
    return f"{found['year']}-{int(month):02}-{int(day):02}T{hour:02}{found['rest']}"


def is_date(cell: str) -> bool:
    """Return True if a cell holds a date and time."""
    return _holds(cell, seconds_of_date)
