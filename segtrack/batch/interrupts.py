"""Deferral of Ctrl-C until all vehicles of a batch have taken equally many steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Context that defers Ctrl-C to its end; only the main thread ever receives it."""
    before: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    seen: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: seen.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if seen:
        before(*seen[0])
