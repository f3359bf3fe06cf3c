"""The command line: `segtrack ...`."""

from __future__ import annotations

import sys

import lazy_loader

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["main"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__


def main() -> None:
    """Run the program; Ctrl-C while it is imported exits with 130, as one during a command does."""
    try:
        from segtrack.cli.streams import open_streams

        open_streams()
        from segtrack.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("segtrack: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)
