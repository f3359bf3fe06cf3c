"""Files of any kind that logs come in, read into a `Log`, and written from a `Motion`.

| module | what |
|---|---|
| `read` | a file of any kind, told by what is in it |
| `tables`, `matlab`, `bags` | by kind |
| `headers` | units and times that a column's name says |
| `damage` | what could not be read, in words |
| `inspection` | what is in a log: rates, gaps, clocks |
| `write`, `to_bag`, `bag_messages` | a motion as a bag |
| `to_table` | a motion as CSV or TUM |
"""

from segtrack.logs.reading.read import read_log
from segtrack.logs.reading.to_table import write_csv, write_tum
from segtrack.logs.reading.write import write_bag

__all__ = ["read_log", "write_bag", "write_csv", "write_tum"]
