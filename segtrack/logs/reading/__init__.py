"""Files of any kind that logs come in, read into a `Log`, and written from a `Motion`."""

from segtrack.logs.reading.read import read_log

__all__ = ["read_log"]
