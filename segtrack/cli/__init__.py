"""The command line: `segtrack ...`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the program; Ctrl-C while it is imported exits with 130, as one during a command does.

    The signals by which systems end programs, and terminals that close, count as Ctrl-C: what was reached is
    kept, and nothing half-written is left.
    """
    for name in ("SIGTERM", "SIGHUP"):
        kind = getattr(signal, name, None)  # Windows has one of them.
        if kind is not None and signal.getsignal(kind) is signal.SIG_DFL:
            signal.signal(kind, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        from segtrack.cli.streams import open_streams

        open_streams()
        from segtrack.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("segtrack: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)


__all__ = ["main"]
