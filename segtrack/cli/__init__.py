"""Command line `segtrack ...`."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial

import lazy_loader

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["main"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__


def main() -> None:
    """Run the program; Ctrl-C while it is imported exits with 130, as one during a command does.

    The signals by which systems end programs, and terminals that close, count as Ctrl-C: what was reached is
    kept, and nothing half-written is left. So they do where Ctrl-C is ignored, as by `segtrack ... &` in a
    script.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if hasattr(os, "register_at_fork"):  # Not on Windows, where nothing sends them.
        for kind in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(kind) is signal.SIG_DFL:
                signal.signal(kind, signal.default_int_handler if ignored else _interrupt)
                os.register_at_fork(after_in_child=partial(signal.signal, kind, signal.SIG_DFL))
    try:
        from segtrack.cli.streams import open_streams

        open_streams()
        _run()
    except KeyboardInterrupt:
        print("segtrack: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)


def _interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


def _run() -> None:
    """Run the program; what is wrong with its environment is one line."""
    from segtrack.errors import SegtrackError

    try:
        from segtrack.cli.app import main as run

        run()
    except SegtrackError as error:  # Commands report their own.
        print(f"segtrack: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
