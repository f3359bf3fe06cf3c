"""Learning curves: a row after each update, in a CSV file."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from segtrack.errors import FileAccessError
from segtrack.files import write_csv

COLUMNS = ("steps", "minutes", "simulation", "episodes", "success_rate", "mean_return")
"""Control steps, minutes of all and of the simulation, and episodes so far; success and return of the latest
episodes, with sampled actions."""


def level_column(strand: Mapping[str, str]) -> str:
    """Return the name of the column with the level up to which a strand's robots train."""
    return "_".join(("level", *strand.values()))


def success_column(level: float) -> str:
    """Return the name of the column with the mean action's success at a level."""
    return f"success_{level:g}"


class LearningCurve:
    """Rows of numbers by name: `COLUMNS`, strands' levels, the mean action's success by level; NaN for none.

    Attributes:
        rows: Rows so far.
    """

    def __init__(
        self, path: Path, levels: Sequence[float], strands: Sequence[Mapping[str, str]] = ({},)
    ) -> None:
        """Begin a curve, or go on with the one in a file.

        Args:
            path: File of the curve.
            levels: Levels at which the mean action is tried.
            strands: Words of each strand, see `TrainingSettings.strands`.

        Raises:
            FileAccessError: The file is damaged.
        """
        self._path = path
        self._names = (*COLUMNS, *map(level_column, strands), *map(success_column, levels))
        self.rows: list[dict[str, float]] = []
        if not path.is_file():
            return
        try:
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = [{n: float(row[n]) for n in self._names} for row in csv.DictReader(file)]
        except (ValueError, TypeError, KeyError, OSError):
            raise FileAccessError("read learning curve", path, "it is damaged") from None

    def last(self, name: str, otherwise: float = 0.0) -> float:
        """Return the latest number in a column."""
        return next((row[name] for row in reversed(self.rows) if not math.isnan(row[name])), otherwise)

    def add(self, row: Mapping[str, float]) -> None:
        """Add a row, and write the file, complete or not at all."""
        self.rows.append({name: float(row.get(name, math.nan)) for name in self._names})
        write_csv(self._path, self._names, ([f"{v:.8g}" for v in each.values()] for each in self.rows))
