"""Trials of operators: what counts, how it is kept, and how it is compared.

| module | what |
|---|---|
| `settings` | the numbers that a score depends on, each with its source |
| `trial` | repetitions, faults and the clock, as they happen |
| `walls`, `outline`, `observe` | whether a vehicle touches a wall, and where it is |
| `result`, `binomial` | what came of a trial: rate, reliability, comparison |
| `records` | results in a folder, a file an operator |
| `report`, `charts` | an operator's record as HTML and CSV |
"""

from segtrack.scoring.observe import Observer
from segtrack.scoring.outline import VehicleOutline
from segtrack.scoring.records import Book, Records, check_operator
from segtrack.scoring.report import report_csv, report_html
from segtrack.scoring.result import Attempt, Comparison, Result, compare, next_setting
from segtrack.scoring.settings import SOURCES, ScoringSettings
from segtrack.scoring.trial import Event, Situation, Trial
from segtrack.scoring.walls import Outline, WallSensor

__all__ = [
    "SOURCES",
    "Attempt",
    "Book",
    "Comparison",
    "Event",
    "Observer",
    "Outline",
    "Records",
    "Result",
    "ScoringSettings",
    "Situation",
    "Trial",
    "VehicleOutline",
    "WallSensor",
    "check_operator",
    "compare",
    "next_setting",
    "report_csv",
    "report_html",
]
