"""Loop of the simulation process: ticks on the wall clock without drift, and orders."""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from segtrack.courses import Pace
from segtrack.errors import NotReadyError, SegtrackError
from segtrack.recording import TICK
from segtrack.station.folder import StationFolder
from segtrack.station.protocol import RunState
from segtrack.station.simulation.drive import StationDrive
from segtrack.station.simulation.exchange import (
    Build,
    Close,
    LatestValue,
    NoPriority,
    Order,
    Refused,
    RunReport,
    SceneReport,
    SetRun,
    SetTrial,
    ShowContacts,
    StampedCommand,
    Taken,
)

MAX_CATCH_UP = 0.1
"""Delay that the ticks after it make up for [s]; of a longer one, the rest is dropped."""
_WINDOW = 2.0
"""Time over which the real-time factor is taken [s]."""


class DeadlineClock:
    """Schedule of ticks on the wall clock, without drift.

    Tick k is due at the start plus k ticks, however late those before it were: small delays are caught up.
    A delay above `MAX_CATCH_UP` is not: the start moves, and simulated time falls behind for good.

    Attributes:
        ticks: Number of ticks ended since the start.
        late: Number of ticks that ended more than a tick after they were due.
        was_late: True if the last tick did.
        dropped: Total delay that was not caught up [s].
    """

    def __init__(self, tick: float, now: float) -> None:
        """Start at time `now` [s]; the first tick is due one `tick` [s] later."""
        self.tick = tick
        self._ends: deque[tuple[float, int]] = deque()
        self.start(now)

    def start(self, now: float) -> None:
        """Restart the schedule at time `now` [s]."""
        self.ticks, self.late, self.was_late, self.dropped = 0, 0, False, 0.0
        self._start = now
        self._ends.clear()
        self._ends.append((now, 0))

    def left(self, now: float) -> float:
        """Return the time from `now` until the present tick is due [s]; negative if late."""
        return self._start + (self.ticks + 1) * self.tick - now

    def end(self, now: float) -> float:
        """Count a tick that ended at `now`, and return the time to wait until it was due [s], >= 0."""
        self.ticks += 1
        behind = now - (self._start + self.ticks * self.tick)
        self.was_late = behind > self.tick
        self.late += self.was_late
        if behind > MAX_CATCH_UP:
            self.dropped += behind - MAX_CATCH_UP
            self._start += behind - MAX_CATCH_UP
        self._ends.append((now + max(0.0, -behind), self.ticks))
        while self._ends[0][0] < now - _WINDOW and len(self._ends) > 2:
            self._ends.popleft()
        return max(0.0, -behind)

    @property
    def late_share(self) -> float:
        """Fraction of all ticks that were late."""
        return self.late / max(self.ticks, 1)

    @property
    def pace(self) -> Pace:
        """Pace over the last seconds."""
        (began, first), (ended, last) = self._ends[0], self._ends[-1]
        return Pace((last - first) * self.tick, ended - began)


_PRIORITY = -10
"""Priority of the simulation, as a nice value: a browser's that draws on the same machine may be -8."""
_IDLE = 0.1
"""Longest wait for an order while nothing runs [s]."""
_LOG = logging.getLogger(__name__)


def simulate(commands: LatestValue, states: LatestValue, orders: Connection, folder: StationFolder) -> None:
    """Run the simulation process until a `Close` order, or until the web process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The web process ends this one.
    if not _raise_priority():
        orders.send(NoPriority())
    loop = SimulationLoop(commands, states, orders, folder)
    try:
        loop.run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        loop.close()


def _raise_priority() -> bool:
    """Raise the priority of the process, unless it was set before; returns True if it is raised.

    Linux may share the processor between sessions first, and by nice values only within one: the process is a
    session of its own then, which has a nice value, too (sched(7), autogroup).
    """
    if not hasattr(os, "setpriority"):
        return False
    if (chosen := os.getpriority(os.PRIO_PROCESS, 0)) != 0:
        return chosen < 0
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
        if _AUTOGROUP.exists():
            os.setsid()
            _AUTOGROUP.write_text(str(_PRIORITY))
    except OSError:
        return False
    return True


_AUTOGROUP = Path("/proc/self/autogroup")


class SimulationLoop:
    """Loop of the simulation process: orders and ticks, in one thread.

    Attributes:
        state: State of the run.
    """

    def __init__(
        self, commands: LatestValue, states: LatestValue, orders: Connection, folder: StationFolder
    ) -> None:
        """Start without a drive.

        Args:
            commands: Shared memory with the latest command.
            states: Shared memory for the latest state.
            orders: Pipe to the web process.
            folder: Folder for recordings and records.
        """
        self.state: RunState = "stopped"
        self._commands, self._states, self._orders, self._folder = commands, states, orders, folder
        self._clock = DeadlineClock(TICK, time.monotonic())
        self._drive: StationDrive | None = None
        self._latest: StampedCommand | None = None
        self._contacts = self._closing = False

    def run(self) -> None:
        """Carry out orders, and ticks while the run is on."""
        while not self._closing:
            if self._orders.poll(0.0 if self.state == "running" else _IDLE):
                self._obey(self._orders.recv())
            elif self.state == "running":
                self._tick()
            elif self._drive is not None and self.state != "failed":
                self._drive.permitted_command(self._command(self._drive), time.monotonic())
                self._drive.loads.update(_IDLE)
                self._publish()

    def close(self) -> None:
        """Close the drive, and its recording."""
        if self._drive is not None:
            self._drive.close()
            self._drive = None

    def _tick(self) -> None:
        """Simulate one tick, or wait for the next one to be due."""
        assert self._drive is not None
        try:
            self._drive.tick(self._command(self._drive), time.monotonic(), self._clock.was_late)
            self._send_reports()
            self._publish()
            self._drive.loads.update(self._clock.left(time.monotonic()))
        except Exception as error:
            self._fail(error)
        time.sleep(self._clock.end(time.monotonic()))

    def _command(self, drive: StationDrive) -> StampedCommand | None:
        """Return the latest command; while the writer is busy, the one before, which ages."""
        if (read := self._commands.read()) is not None:
            self._latest = StampedCommand.unpack(read[1], tuple(drive.session.robot.flippers))
        return self._latest

    def _publish(self) -> None:
        if self._drive is not None:
            clock = self._clock
            state = self._drive.state(time.monotonic(), clock.pace, clock.late_share)
            self._states.write(state.pack())

    def _obey(self, order: Order) -> None:
        """Carry out an order; its failure is reported, and a build's or an unknown one ends the run."""
        try:
            match order:
                case Build():
                    self._build(order)
                case SetRun():
                    self._set_run(order)
                case SetTrial():
                    self._set_trial(order)
                case ShowContacts(on):
                    self._contacts = on
                    if self._drive is not None:
                        self._drive.loads.wanted = on
                case Close():
                    self._closing = True
                    if self._drive is not None:
                        self._drive.end()
            self._send_reports()
            self._publish()
        except SegtrackError as error:
            if isinstance(order, Build):
                self._fail(error)
            else:
                self._orders.send(Refused(str(error)))
        except Exception as error:
            self._fail(error)
        self._orders.send(Taken())

    def _build(self, order: Build) -> None:
        """Build another drive in place of the present one, and report its scene."""
        self._report("compiling")
        if self._drive is not None:
            self._drive.close()
            self._send_reports()
            self._drive = None
        gc.unfreeze()
        self._drive = StationDrive(order.setup, order.scene, self._folder)
        self._drive.loads.wanted = self._contacts
        gc.collect()
        gc.freeze()  # What is built lives as long as the drive: no need to look at it again.
        self._orders.send(SceneReport(self._drive.scene_fields()))
        self._report("ready")

    def _set_trial(self, order: SetTrial) -> None:
        if self._drive is None:
            raise NotReadyError(f"{order.action} a trial", "nothing is simulated")
        self._drive.set_trial(order)
        if order.action == "begin":
            self._clock.start(time.monotonic())
            self._report("running")

    def _set_run(self, order: SetRun) -> None:
        """Start, pause, reset or stop the run."""
        if self._drive is None:
            raise NotReadyError(f"{order.action} the run", "nothing is simulated")
        if self.state == "failed" and order.action in ("start", "pause"):
            raise NotReadyError(f"{order.action} the run", "it has failed")
        match order.action:
            case "start":
                if self.state == "stopped":
                    self._drive.restart()
                if self.state in ("ready", "stopped"):
                    self._drive.begin_recording()
                self._clock.start(time.monotonic())
                self._report("running")
            case "pause" if self.state == "running":
                self._report("paused")
                self._drive.pause()
            case "reset":
                self._drive.restart()
                if self.state == "running":
                    self._drive.begin_recording()
                self._clock.start(time.monotonic())
                self._report("running" if self.state == "running" else "ready")
            case "stop":
                self._drive.end()
                self._report("stopped")

    def _send_reports(self) -> None:
        if self._drive is not None:
            for report in self._drive.reports():
                self._orders.send(report)

    def _fail(self, error: Exception) -> None:
        """Report a failure of the run: errors of segtrack by their message, others with their type."""
        if self._drive is not None:
            with suppress(SegtrackError):  # Of a disk that is full, say.
                self._drive.end()
            self._send_reports()
        if isinstance(error, SegtrackError):
            self._report("failed", str(error))
        elif isinstance(error, EOFError | BrokenPipeError | ConnectionResetError):
            raise error
        else:
            _LOG.exception("the simulation failed")
            self._report("failed", f"{type(error).__name__}: {error}")

    def _report(self, state: RunState, reason: str = "") -> None:
        self.state = state
        self._orders.send(RunReport(state, reason))
