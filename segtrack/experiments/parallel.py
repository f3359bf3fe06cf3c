"""Many independent simulations at once, one process each."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import TypeVar

from segtrack.errors import SegtrackError

Job = TypeVar("Job")
Done = TypeVar("Done")


def run_parallel(
    function: Callable[[Job], Done],
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> list[Done]:
    """Call a function for each job, in processes of their own.

    Args:
        function: Importable by name, and so must be its argument's and result's types.
        jobs: Its arguments.
        workers: Largest number of processes at a time; as many as there are cores if not given. With 1
            everything runs in this process.
        on_done: Called after each job.

    Returns:
        The results, in the order of the jobs.

    Raises:
        SegtrackError: What a job raised.
    """
    count = min(len(jobs), workers if workers is not None else os.cpu_count() or 1)
    if count <= 1:
        return [_noted(function(job), on_done) for job in jobs]
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_die_on_interrupt)
    try:
        futures = [pool.submit(_without_error, function, job) for job in jobs]
        for future in as_completed(futures):
            _noted(_value(future), on_done)
        return [_value(future) for future in futures]
    except BaseException:
        # A pool waits for what is under way; the rest of a map is not worth minutes.
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _noted(value: Done, on_done: Callable[[], object] | None) -> Done:
    if on_done is not None:
        on_done()
    return value


def _without_error(function: Callable[[Job], Done], job: Job) -> tuple[Done | None, str | None]:
    """Call it, with a SegtrackError as text: errors that take values do not travel between processes."""
    try:
        return function(job), None
    except SegtrackError as error:
        return None, str(error)


def _value(future: Future[tuple[Done | None, str | None]]) -> Done:
    value, message = future.result()
    if message is not None:
        raise SegtrackError(message)
    return value  # type: ignore[return-value]


def _die_on_interrupt() -> None:
    """Let Ctrl-C end a worker without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
