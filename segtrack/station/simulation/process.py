"""Handle of the simulation process in the web process."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import suppress

from segtrack.errors import NotReadyError
from segtrack.experiments import interrupts_blocked
from segtrack.station.folder import StationFolder
from segtrack.station.simulation.exchange import (
    COMMAND_CAPACITY,
    STATE_CAPACITY,
    Close,
    LatestValue,
    Order,
    ProcessDied,
    Report,
    StampedCommand,
    Taken,
)
from segtrack.station.simulation.loop import simulate

MAX_OUTSTANDING = 32
"""Most orders in the pipe: it holds more, so that sending never waits."""
_CLOSE_WITHIN = 3.0
"""Time that the process has to close its files [s]."""


class SimulationProcess:
    """Simulation process, restarted if it dies."""

    def __init__(self, folder: StationFolder) -> None:
        """Start the process; it keeps recordings and trials in `folder`."""
        self._context = multiprocessing.get_context("spawn")
        self._folder = folder
        self._commands = LatestValue(self._context, COMMAND_CAPACITY)
        self._states = LatestValue(self._context, STATE_CAPACITY)
        self._start()

    def order(self, order: Order) -> None:
        """Send an order to the simulation.

        Raises:
            NotReadyError: Too many are waiting: the simulation is busy.
        """
        if self._outstanding >= MAX_OUTSTANDING:
            raise NotReadyError("take the order", "the simulation is busy")
        with suppress(OSError):  # The next `reports` finds the process dead.
            self._pipe.send(order)
            self._outstanding += 1

    def command(self, latest: StampedCommand) -> None:
        """Replace the latest command."""
        self._commands.write(latest.pack())

    def state(self) -> tuple[int, bytes] | None:
        """Return sequence number and bytes of the latest state."""
        return self._states.read()

    def reports(self) -> Iterator[Report]:
        """Yield the new reports; if the process died, report that and restart it."""
        try:
            while self._pipe.poll():
                report = self._pipe.recv()
                if isinstance(report, Taken):
                    self._outstanding -= 1
                else:
                    yield report
        except (EOFError, OSError):
            self._process.join(_CLOSE_WITHIN)
            code = self._process.exitcode
            self._end()
            self._start()
            yield ProcessDied(f"the simulation's process ended with code {code}")

    def close(self) -> list[Report]:
        """End the process after closing its recording; kill it if it does not answer.

        Returns:
            Its last reports.
        """
        reports: list[Report] = []
        with suppress(OSError, EOFError):
            self._pipe.send(Close())
            until = time.monotonic() + _CLOSE_WITHIN
            while self._pipe.poll(max(until - time.monotonic(), 0.0)):
                reports.append(self._pipe.recv())
        self._end(0.0)
        return reports

    @property
    def pid(self) -> int:
        """Process id."""
        assert self._process.pid is not None
        return self._process.pid

    def _start(self) -> None:
        """Start a process, with its pipe."""
        self._outstanding = 0
        self._pipe, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=simulate,
            args=(self._commands, self._states, theirs, self._folder),
            name="segtrack-simulation",
            daemon=True,
        )
        with interrupts_blocked():
            self._process.start()
        theirs.close()

    def _end(self, within: float = _CLOSE_WITHIN) -> None:
        self._process.join(within)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._pipe.close()
