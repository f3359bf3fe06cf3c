"""Trials of operators: rules, results, records and comparisons.

| module | what |
|---|---|
| `trial` | repetitions, faults and the clock, as they happen |
| `observer` | whether a vehicle touches a wall, and where it is |
| `situation` | input and events of a trial, and its pace |
| `settings` | settings of a score, with sources; reliability and confidence |
| `splits` | when each gate was passed, since its repetition began |
| `result` | result of a trial: rate, conditions, comparison |
| `records` | results in a folder, a file an operator |
| `syllabus` | exercises in order, operators' progress, and conditions of seeing |
| `class_report` | results of a class as HTML and CSV |
| `report` | an operator's record as HTML and CSV, and a list of all |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
