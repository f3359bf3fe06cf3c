"""Tables of trials at steps, from CSV or YAML, with the units of their columns."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from segtrack.description import (
    NonNegative,
    Number,
    Positive,
    Spec,
    YamlFile,
    check_content,
    parse_yaml,
    read_text,
)
from segtrack.errors import ClimbsFileError, Problem, UnknownNameError, suggest
from segtrack.logs.compare.simulations import VEHICLE_INPUTS, stds_by
from segtrack.logs.mapping import LENGTH, SPEED

UNITS: Mapping[str, Mapping[str, float]] = {
    "height": {**{unit: LENGTH[unit] for unit in ("m", "cm", "mm")}, "in": 0.0254},
    "speed": {unit: SPEED[unit] for unit in ("m/s", "cm/s", "mm/s", "km/h")},
    "friction": {"-": 1.0, "%": 0.01},
    "front_flippers": {"deg": 1.0, "rad": 180 / math.pi},
    "rear_flippers": {"deg": 1.0, "rad": 180 / math.pi},
}
"""Units by column; the first one is that of a header without a unit."""
HIGHEST, FASTEST, ROUGHEST, STEEPEST = 5.0, 20.0, 3.0, 180.0
"""Bounds of any vehicle's steps [m], belt speeds [m/s], frictions [-] and flippers' angles [deg]."""
_BOUNDS = {
    "height": (0.0, HIGHEST),
    "speed": (0.0, FASTEST),
    "friction": (0.0, ROUGHEST),
    "front_flippers_deg": (-STEEPEST, STEEPEST),
    "rear_flippers_deg": (-STEEPEST, STEEPEST),
}
_POSITIVE = ("height", "speed")
_OUTCOMES = ("climbed", "failed")
_WORDS = {
    "climbed": ("success", "succeeded", "successful", "passed", "pass", "yes", "y", "true", "ok", "1"),
    "failed": ("fail", "failure", "unsuccessful", "stuck", "no", "n", "false", "not climbed", "0"),
}
_TYPICAL_HEIGHT = 0.2
"""Height of a typical step of trials, where the vehicle is not known [m]."""
TYPICAL_SPEED = 0.2
"""Typical speed of belts over steps [m/s]."""


def column_of(head: str) -> tuple[str, float] | None:
    """Column of a header's cell, as `height [cm]`, and the factor to its own unit; None if unknown."""
    found = re.fullmatch(r"(\w+)\s*\[(.+)\]", head)
    if found is None:
        return head, 1.0
    name, unit = found[1].removesuffix("_deg"), found[2].strip()
    if unit not in UNITS.get(name, {}):
        return None
    return (f"{name}_deg" if name.endswith("flippers") else name), UNITS[name][unit]


def fitting_unit(column: str, values: Sequence[float], most: float, typical: float) -> str | None:
    """The unit that would fit values of a column, as the end of a message.

    Args:
        column: Name of the column.
        values: Values of the column, all greater than 0.
        most: Largest value that there may be, in the column's own unit.
        typical: Value in that unit; of units that fit, the one is meant that leads nearest to it.
    """
    own, *others = UNITS[column].items()
    middle = float(sorted(values)[len(values) // 2])
    fits = [(unit, factor) for unit, factor in others if max(values) * factor <= most]
    if not fits:
        return None
    unit, factor = min(fits, key=lambda pair: abs(math.log(middle * pair[1] / typical)))
    got = _span([float(f"{value * factor:.3g}") for value in values])
    own_unit = f" {own[0]}" if own[0] != "-" else ""
    return f"`{unit}` would fit, {got}{own_unit} (`{column} [{unit}]` in the header of a CSV file)"


def explain_columns(trials: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """Say what is wrong of whole columns that cannot be what their names say, whatever the vehicle.

    Args:
        trials: Values by column, as they were read.

    Returns:
        A message a column, None for one that is said with another; what rows have of these columns is then
        no other mistake.
    """
    columns: dict[str, list[Any]] = {}
    for trial in trials:
        for name, value in trial.items():
            columns.setdefault(name, []).append(value)
    found: dict[str, str | None] = dict(_swapped(columns))
    for name, values in columns.items():
        wrong = sum(not _fits(name, value) for value in values)
        if name not in found and wrong > 1 and 2 * wrong > len(values):
            message = _wrong_outcomes(values) if name == "outcome" else _wrong_unit(name, values)
            if message is not None:
                found[name] = message
    return found


def _swapped(columns: Mapping[str, list[Any]]) -> Iterator[tuple[str, str | None]]:
    for one, other in combinations(columns, 2):
        whole = (one, columns[one]), (other, columns[other])
        crossed = (one, columns[other]), (other, columns[one])
        if all(_all_fit(name, values) for name, values in whole):
            continue
        if all(_all_fit(name, values) and _varies_enough(name, values, columns) for name, values in crossed):
            got, others = _span(columns[one]), _span(columns[other])
            yield one, f"has {got} and {other} has {others}: are they swapped?"
            yield other, None


def _varies_enough(name: str, values: Sequence[Any], columns: Mapping[str, list[Any]]) -> bool:
    """Return False for a height that would be one and the same where it was not."""
    if name != "height" or any(value != values[0] for value in values):
        return True
    heights = columns["height"]
    return all(height == heights[0] for height in heights)


def _all_fit(name: str, values: Sequence[Any]) -> bool:
    return all(_fits(name, value) for value in values)


def _fits(name: str, value: Any) -> bool:
    if name in ("outcome", "simulation"):
        return value in _OUTCOMES
    if name not in _BOUNDS:
        return isinstance(value, str) and value not in _OUTCOMES
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    low, high = _BOUNDS[name]
    return low <= value <= high and not (name in _POSITIVE and value == 0)


def _wrong_unit(name: str, values: Sequence[Any]) -> str | None:
    most, typical = {
        "height": (HIGHEST, _TYPICAL_HEIGHT),
        "speed": (FASTEST, TYPICAL_SPEED),
        "friction": (ROUGHEST, 1.0),
    }.get(name, (0.0, 1.0))
    if not most or not all(isinstance(value, int | float) and value > 0 for value in values):
        return None
    unit = fitting_unit(name, values, most, typical)
    return f"must be at most {most:g}, got {_span(values)}" + ("" if unit is None else f": {unit}")


def _wrong_outcomes(values: Sequence[Any]) -> str | None:
    """Message on words for outcomes most of which are none; None if some say nothing."""
    words = [word for word in dict.fromkeys(map(_word, values)) if word not in _OUTCOMES]
    meant = {word: meant_outcome(word) for word in words}
    if None in meant.values():
        return None
    told = ", ".join(f"{meant[word]} for {word!r}" for word in words)
    return f"must be 'climbed' or 'failed': write {told}"


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def meant_outcome(word: str) -> str | None:
    """The outcome that a word means, by its sense or its letters; None if it may mean either."""
    low = word.strip().lower()
    for outcome, others in _WORDS.items():
        if low == outcome or low in others:
            return outcome
    close = get_close_matches(low, _OUTCOMES, n=1, cutoff=0.7)
    return close[0] if close else None


def _span(values: Sequence[Any]) -> str:
    if not all(isinstance(value, int | float) for value in values):
        return ", ".join(dict.fromkeys(repr(_word(value)) for value in values))
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


Outcome = Literal["climbed", "failed"]
CLIMB_INPUTS = ("height", "front_flippers_deg", "rear_flippers_deg", "speed", *VEHICLE_INPUTS)
"""Uncertain inputs of a trial: its columns, and parameters of a vehicle."""
_IN_MILLIMETRES = 100.0
"""A height from here on is in millimetres rather than in centimetres."""


def _in_metres(height: float) -> float:
    if height > HIGHEST:
        unit = "millimetres" if height >= _IN_MILLIMETRES else "centimetres"
        metres = height / (1e3 if height >= _IN_MILLIMETRES else 1e2)
        raise ValueError(f"must be in metres, got {height:g}, which in {unit} would be {metres:g} m")
    return height


def _in_degrees(angle: float) -> float:
    if abs(angle) > STEEPEST:
        raise ValueError(f"must be from -{STEEPEST:g} to {STEEPEST:g} degrees, got {angle:g}")
    return angle


def _outcome(given: Any) -> Any:
    if given not in get_args(Outcome) and isinstance(given, str):
        meant = meant_outcome(given)
        if meant is not None:
            raise ValueError(f"must be 'climbed' or 'failed', got {given!r}: did you mean {meant}?")
    return given


OutcomeWord = Annotated[Outcome, BeforeValidator(_outcome)]
Degrees = Annotated[Number, AfterValidator(_in_degrees)]
ClimbStds = stds_by("uncertain input", CLIMB_INPUTS)


class ClimbTrial(Spec):
    """One trial at a step; repeats are trials of their own."""

    height: Annotated[Positive, AfterValidator(_in_metres)]
    """Height of the step [m]."""
    front_flippers_deg: Degrees | None = None
    """Angle of the front flippers, tips up positive; `segtrack climb`'s own where there are any."""
    rear_flippers_deg: Degrees | None = None
    """Likewise of the rear flippers."""
    speed: Positive = 0.1
    """Belt speed [m/s]."""
    friction: Annotated[NonNegative, Field(le=ROUGHEST)] | None = None
    """Friction between belts and ground, at most 3; the vehicle file's if not given."""
    outcome: OutcomeWord
    """Outcome of the robot's trial."""
    simulation: OutcomeWord | None = None
    """Outcome of another simulation of it: a publication's."""
    vehicle: Annotated[str, Field(strict=True, min_length=1)] | None = None
    """Bundled name or vehicle file; the table's if not given."""


class ClimbTable(Spec):
    """A table of trials at steps."""

    title: Annotated[str, Field(strict=True)] = ""
    source: Annotated[str, Field(strict=True)] = ""
    """Source of the outcomes."""
    simulation: Annotated[str, Field(strict=True)] = "another simulation"
    """Whose simulation the trials' `simulation` is."""
    vehicle: Annotated[str, Field(strict=True, min_length=1)] | None = None
    """Bundled name or vehicle file, of trials that have none of their own."""
    uncertain: ClimbStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviations of what the trials were driven with, by name."""
    trials: Annotated[tuple[ClimbTrial, ...], Field(min_length=1)]


_HEADER, _ROW = "the header", "the row"


class _TrialRow(NamedTuple):
    """Cells of a line of the file, from 1."""

    line: int
    cells: tuple[str, ...]


def parse_rows(text: str, file: str) -> ClimbTable:
    """Read and check the text of a table; a line that begins with `#` is a comment, an empty cell is none.

    Args:
        text: Content of the file.
        file: Its name, for messages.

    Raises:
        ClimbsFileError: The text has mistakes; all of them are listed.
    """
    rows = _rows(text)
    if len(rows) < 2:
        raise ClimbsFileError(file, [Problem("", "has no trials" if rows else "has no header")])
    problems = [replace(problem, line=rows[0].line) for problem in _unit_problems(rows[0].cells)]
    (header, factors), trials = _without_units(rows[0]), rows[1:]
    problems += [replace(problem, line=header.line) for problem in _header_problems(header.cells)]
    problems += _lengths(header, trials)
    read = [_trial(header, row, factors) for row in trials]
    explained = explain_columns(read)
    problems += [Problem(name, message, header.line) for name, message in explained.items() if message]
    content = YamlFile({"trials": read}, tuple(problems))
    try:
        return check_content(ClimbTable, content, file, Path("."), ClimbsFileError)
    except ClimbsFileError as error:
        told = [problem for problem in error.problems if problem in problems]
        placed = _placed(error.problems, header, trials)
        told += [problem for problem in placed if problem.where not in explained]
        raise ClimbsFileError(file, sorted(told, key=lambda problem: problem.line or 0)) from None


def _rows(text: str) -> list[_TrialRow]:
    # Csv refuses a NUL up to Python 3.10.
    written = text.removeprefix("\ufeff").replace("\0", "\N{REPLACEMENT CHARACTER}").splitlines()
    lines = [(i, line) for i, line in enumerate(written, 1) if line.strip() and not line.startswith("#")]
    if not lines:
        return []
    mark = max(",;\t", key=lines[0][1].count)
    cells = (next(csv.reader(io.StringIO(line), delimiter=mark)) for _, line in lines)
    return [_TrialRow(i, tuple(c.strip() for c in row)) for (i, _), row in zip(lines, cells, strict=True)]


def _without_units(header: _TrialRow) -> tuple[_TrialRow, tuple[float, ...]]:
    """A header with the names of its columns alone, and the factor of each to the column's own unit."""
    columns = [column_of(cell) or (cell.partition("[")[0].strip(), 1.0) for cell in header.cells]
    return header._replace(cells=tuple(name for name, _ in columns)), tuple(factor for _, factor in columns)


def _unit_problems(header: Sequence[str]) -> Iterator[Problem]:
    for cell in header:
        name = cell.partition("[")[0].strip().removesuffix("_deg")
        if column_of(cell) is None and name in UNITS:
            yield Problem(_HEADER, f"has {cell!r}; units of {name} are: {', '.join(UNITS[name])}")


def _trial(header: _TrialRow, row: _TrialRow, factors: Sequence[float]) -> dict[str, Any]:
    cells = zip(header.cells, row.cells, factors, strict=False)
    known = ClimbTrial.model_fields
    return {name: _value(cell, factor) for name, cell, factor in cells if cell and name in known}


def _value(cell: str, factor: float) -> float | str:
    """A cell as a number in its column's own unit, or as its text."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number * factor if math.isfinite(number) else cell


def _header_problems(header: Sequence[str]) -> Iterator[Problem]:
    known = tuple(ClimbTrial.model_fields)
    meant = set()
    for i, name in enumerate(header):
        if name not in known:
            meant |= set(get_close_matches(name, known, n=1))
            message = f"has a column {name!r} that segtrack does not know; {suggest(name, known)}"
            yield Problem(_HEADER, message)
        elif name in header[:i]:
            yield Problem(_HEADER, f"has a column {name!r} twice")
    for name, field in ClimbTrial.model_fields.items():
        if field.is_required() and name not in header and name not in meant:
            yield Problem(_HEADER, f"must have a column {name}")


def _lengths(header: _TrialRow, trials: Sequence[_TrialRow]) -> Iterator[Problem]:
    for row in trials:
        if len(row.cells) != len(header.cells):
            message = f"has {len(row.cells)} cells where the header has {len(header.cells)}"
            yield Problem(_ROW, message, row.line)


def _placed(problems: Sequence[Problem], header: _TrialRow, trials: Sequence[_TrialRow]) -> Iterator[Problem]:
    """The problems of cells, with their lines; what is missing for want of a column or a cell is left out."""
    for problem in problems:
        at = re.fullmatch(r"trials\[(\d+)\]\.(.*)", problem.where)
        if at is None:
            continue
        row, name = trials[int(at[1])], at[2]
        has_cell = name in header.cells and len(row.cells) == len(header.cells)
        if problem.message != "is missing" or has_cell:
            yield Problem(name, problem.message, row.line)


BUNDLED = Path(__file__).parent


def load_climbs(name_or_path: str | Path) -> ClimbTable:
    """Read and check a table of trials.

    Args:
        name_or_path: Name of a bundled table (`okada`), or path of a CSV, TSV or YAML file.

    Raises:
        UnknownNameError: No such table or kind of file.
        FileAccessError: The file cannot be read.
        ClimbsFileError: The file has mistakes; all of them are listed.
    """
    path = Path(name_or_path)
    if path.suffix == "" and not path.exists():
        tables = {file.stem: file for file in sorted(BUNDLED.glob("*.yaml"))}
        if str(name_or_path) not in tables:
            raise UnknownNameError("table of climbs", str(name_or_path), tables)
        path = tables[str(name_or_path)]
    kinds = {".yaml": _parse_yaml, ".yml": _parse_yaml, ".csv": parse_rows, ".tsv": parse_rows}
    if path.suffix.lower() not in kinds:
        raise UnknownNameError("kind of table", path.suffix, kinds)
    return kinds[path.suffix.lower()](read_text(path), path.name)


def _parse_yaml(text: str, file: str) -> ClimbTable:
    content = parse_yaml(text, file, ClimbsFileError)
    rows = content.data.get("trials") if isinstance(content.data, dict) else None
    read = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    explained = explain_columns(read)
    told = [Problem(f"{name} of the trials", message) for name, message in explained.items() if message]
    try:
        table = check_content(ClimbTable, content, file, Path("."), ClimbsFileError)
    except ClimbsFileError as error:
        told += [problem for problem in error.problems if problem.where.rpartition(".")[2] not in explained]
        raise ClimbsFileError(file, told) from None
    if told:
        raise ClimbsFileError(file, told)
    return table
