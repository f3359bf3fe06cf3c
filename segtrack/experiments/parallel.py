"""Parallel runs of independent simulations, one process each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from segtrack.errors import WorkerLostError

Job = TypeVar("Job")
Done = TypeVar("Done")


class Workers:
    """Pool of processes for several rounds of work; started at the first use."""

    def __init__(self, count: int | None = None) -> None:
        """Set the number of processes, by default that of cores; 1 runs jobs in this process."""
        self.count = count if count is not None else os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._apart = False
        self._before: set[Any] = set()

    def __enter__(self) -> Workers:
        """Use as a context manager."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        self.close()

    def run(
        self,
        function: Callable[[Job], Done],
        jobs: Sequence[Job],
        on_done: Callable[[int, Done], object] = lambda job, done: None,
    ) -> list[Done]:
        """Call a function for each job.

        Args:
            function: Function importable by name, with argument and result types that can be pickled.
            jobs: Argument of each call.
            on_done: Function called after each job, in the order in which they end, with index and result.

        Returns:
            The results, in the order of the jobs.

        Raises:
            SegtrackError: Error that a job raised.
            WorkerLostError: A process was lost.
        """
        if self.count <= 1 or len(jobs) <= 1 and not self._apart:
            return [_noted(on_done, i, function(job)) for i, job in enumerate(jobs)]
        self._apart = True  # A job that has ended a process is not to end this one.
        if self._pool is None:
            self._before = set(multiprocessing.active_children())
            spawned = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.count, spawned, initializer=_begin_worker)
        try:
            with interrupts_blocked():
                futures = {self._pool.submit(function, job): i for i, job in enumerate(jobs)}
            for future in as_completed(futures):
                _noted(on_done, futures[future], future.result())
            return [future.result() for future in futures]
        except BaseException as error:
            # A pool waits for what is under way; the rest of a map is not worth minutes.
            for process in set(multiprocessing.active_children()) - self._before:
                process.terminate()
            self.close()
            if isinstance(error, BrokenProcessPool):
                raise WorkerLostError from None
            raise

    def close(self) -> None:
        """End the processes after their present jobs."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def run_parallel(
    function: Callable[[Job], Done],
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> list[Done]:
    """Call a function for each job, in processes that end with the last job; see `Workers.run`.

    Args:
        function: Function to call, see `Workers.run`.
        jobs: Argument of each call.
        workers: Largest number of parallel processes; by default the number of cores. With 1
            everything runs in this process.
        on_done: Function called after each job.
    """
    count = workers if workers is not None else os.cpu_count() or 1
    with Workers(min(len(jobs), count)) as pool:
        return pool.run(function, jobs, lambda job, done: on_done and on_done())


def _noted(on_done: Callable[[int, Done], object], job: int, value: Done) -> Done:
    on_done(job, value)
    return value


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C for processes started in the block, which inherit it: the parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # On Windows.
        yield
        return
    resource_tracker.ensure_running()  # It would unblock it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker() -> None:
    """Let Ctrl-C end a worker without a traceback, and end it with its parent, however that dies."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # From before its imports on.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
