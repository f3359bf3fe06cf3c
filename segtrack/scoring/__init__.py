"""Trials of operators: rules, results, records and comparisons.

| module | what |
|---|---|
| `trial` | repetitions, faults and the clock, as they happen |
| `observer` | whether a vehicle touches a wall, and where it is |
| `situation` | what a trial is told, what it tells, and its pace |
| `settings` | what a score depends on, with sources; reliability and confidence |
| `splits` | when each gate was passed, since its repetition began |
| `result` | what came of a trial: rate, conditions, comparison |
| `records` | results in a folder, a file an operator |
| `syllabus` | exercises in their order, who has passed them, and what conditions of seeing there are |
| `class_report` | results of a class as HTML and CSV |
| `report` | an operator's record as HTML and CSV, and a list of all |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
