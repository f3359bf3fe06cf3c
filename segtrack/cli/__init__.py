"""The command line: `segtrack ...`."""

from segtrack.cli.app import app, main

__all__ = ["app", "main"]
