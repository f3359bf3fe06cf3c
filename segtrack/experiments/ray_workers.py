"""Many independent simulations at once, on the machines of Ray, which the extra `ray` installs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from segtrack.errors import MissingPackageError, SegtrackError
from segtrack.experiments.parallel import Done, Job, without_error

try:
    import ray
except ImportError:
    raise MissingPackageError("a fit on Ray's machines", "ray", "ray") from None


class RayWorkers:
    """Pool of workers on Ray's machines, used like `segtrack.experiments.parallel.Workers`.

    `ray.init(address="auto")` before connects to a running cluster, and is kept; without it Ray's own
    settings (`RAY_ADDRESS`) decide, or Ray is started on this machine. Each of its machines needs segtrack
    and the same versions of Python and Ray.
    """

    def __init__(self) -> None:
        """Connect to Ray, or start it."""
        if not ray.is_initialized():
            ray.init()
        self._task: Any = ray.remote(without_error)

    def run(
        self,
        function: Callable[[Job], Done],
        jobs: Sequence[Job],
        on_done: Callable[[int, Done], object] = lambda job, done: None,
    ) -> list[Done]:
        """Call a function for each job; see `Workers.run`.

        Raises:
            SegtrackError: What a job raised.
        """
        tasks = [self._task.remote(function, job) for job in jobs]
        index, waiting, results = {task: i for i, task in enumerate(tasks)}, list(tasks), {}
        try:
            while waiting:
                (first,), waiting = ray.wait(waiting, num_returns=1)
                value, message = ray.get(first)
                if message is not None:
                    raise SegtrackError(message)
                results[index[first]] = value
                on_done(index[first], value)
        except BaseException:
            for task in waiting:
                ray.cancel(task)
            raise
        return [results[i] for i in range(len(tasks))]
