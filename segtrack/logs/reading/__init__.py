"""Log files of all supported formats: read into a `Log`, inspected, and written from a `Motion`."""

from segtrack.logs.reading.files import read_log, write_bag, write_csv, write_tum

__all__ = ["read_log", "write_bag", "write_csv", "write_tum"]
