"""Thread pool of a batch, started when it is first used."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any


class Threads:
    """Pool of `count` threads; copies and forked processes start their own.

    Attributes:
        count: Number of threads.
    """

    def __init__(self, count: int) -> None:
        """Set the number of threads; none is started yet."""
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the threads."""
        return vars(self) | {"_pool": None}

    def call(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Run tasks in threads, at most as many as there are threads, and wait for all of them."""
        if len(tasks) < 2:
            for task in tasks:
                task()
            return
        if self._pool is None or self._process != os.getpid():
            # A forked process has a pool without threads.
            self._pool, self._process = ThreadPoolExecutor(self.count, "segtrack-batch"), os.getpid()
        begun = [self._pool.submit(task) for task in tasks]
        wait(begun)
        for future in begun:
            future.result()

    def close(self) -> None:
        """End the threads; may be called again, and new tasks start new ones."""
        if self._pool is not None:
            self._pool.shutdown()
        self._pool = None
