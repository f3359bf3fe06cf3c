"""Measurement of a station's delays and rates on this machine, over its own sockets."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from websockets.asyncio.client import ClientConnection, connect

from segtrack.errors import NotReadyError
from segtrack.station import protocol
from segtrack.station.protocol import ClientMessage, ControlsMessage, StateMessage
from segtrack.station.serve import Station, StationOptions, listen

_COMMAND_PERIOD = 0.02
_PING_PERIOD = 0.5
_TURN_BACK = 2.0
"""Time after which the driver turns back [s]."""
_PATIENCE = 300.0
"""Longest time that kernels take to compile [s]."""


@dataclass(frozen=True)
class Measured:
    """Measured value, with its target.

    Attributes:
        what: Name of the quantity.
        value: Measured value.
        target: Value to reach, or not to exceed, by the quantity.
        unit: Unit of both.
        good: True if the target is met.
    """

    what: str
    value: float
    target: float
    unit: str
    good: bool


@dataclass
class _Seen:
    """States received by the driver in one phase: times, and the delay of each command."""

    simulated: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    late: float = 0.0
    delays: dict[float, float] = field(default_factory=dict)

    def take(self, state: StateMessage) -> None:
        """Record a received state."""
        self.simulated.append(state.time)
        self.server.append(state.server_time)
        self.late = state.late_share
        applied = state.server_time - state.command_age
        self.delays.setdefault(state.client_time, 1000 * applied - state.client_time)


def measure_station(seconds: float) -> list[Measured]:
    """Measure for about `seconds`: a third of them with one client, the rest with four.

    Three of the four look on, with contact loads.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with TemporaryDirectory() as folder:
        process = context.Process(target=_serve, args=(theirs, Path(folder)))
        began = time.monotonic()
        process.start()
        try:
            link, simulation = ours.recv()
            urllib.request.urlopen(link, timeout=_PATIENCE).read()
            page = time.monotonic() - began
            rows = asyncio.run(
                _measure(link, psutil.Process(process.pid), psutil.Process(simulation), seconds)
            )
            return [Measured("page after the start", page, 5.0, "s", page <= 5.0), *rows]
        finally:
            ours.send("end")
            process.join(10.0)
            process.kill()


def _serve(pipe: Connection, folder: Path) -> None:
    """Run a station until a message comes through the pipe."""
    with listen("127.0.0.1", 0) as listening:
        station = Station(StationOptions("127.0.0.1", 0, (), "quince", "step-field", folder), listening)
        pipe.send((station.link, station.simulation.pid))

        async def serve_until_told() -> None:
            serving = asyncio.create_task(station.server.serve(sockets=[listening]))
            while not pipe.poll():
                await asyncio.sleep(0.5)
            station.server.should_exit = True
            await serving

        try:
            asyncio.run(serve_until_told())
        finally:
            station.close()


async def _measure(
    link: str, server: psutil.Process, simulation: psutil.Process, seconds: float
) -> list[Measured]:
    """Measure delays, rates and load of a running station, with one client and then with four."""
    address = link.replace("http", "ws", 1) + "/station/socket"
    async with AsyncExitStack() as open_sockets:
        driver = await open_sockets.enter_async_context(_client(address, "driver"))
        await _until_ready(driver)
        await driver.send(protocol.RunRequest(action="start").model_dump_json())
        await _phase(driver, 2.0)

        memory = server.memory_info().rss + simulation.memory_info().rss
        _, share_1 = await _timed_phase(driver, seconds / 3, server)
        for _ in range(3):
            onlooker = await open_sockets.enter_async_context(_client(address, "onlooker"))
            await onlooker.send(protocol.ViewRequest(contacts=True).model_dump_json())
            open_sockets.push_async_callback(_cancel, asyncio.create_task(_look_on(onlooker)))
        await driver.send(protocol.RunRequest(action="reset").model_dump_json())
        await _phase(driver, 1.0)
        seen, share_4 = await _timed_phase(driver, 2 * seconds / 3, server)
        grown = server.memory_info().rss + simulation.memory_info().rss - memory
        instructor = await open_sockets.enter_async_context(_client(address, "instructor"))
        options = [row async for row in _options(driver, instructor, link, seconds / 20)]

    passed = seen.server[-1] - seen.server[0]
    simulated = seen.simulated[-1] - seen.simulated[0]
    drift = abs(passed - simulated) * 1000
    delay = float(np.percentile(list(seen.delays.values()), 95))
    factor, rate = simulated / passed, (len(seen.server) - 1) / passed
    return [
        Measured("command to belt target, 95 %", delay, 20.0, "ms", delay <= 20.0),
        Measured("server's share of a core, 1 client", 100 * share_1, 5.0, "%", share_1 <= 0.05),
        Measured("server's share of a core, 4 clients", 100 * share_4, 8.0, "%", share_4 <= 0.08),
        Measured("states a second and client, 4 clients", rate, 30.0, "1/s", rate >= 29.0),
        Measured("real-time factor, 4 clients", factor, 1.0, "-", abs(factor - 1) < 1e-3),
        Measured("late ticks, 4 clients", 100 * seen.late, 0.1, "%", seen.late < 1e-3),
        Measured("memory gained by both processes", grown / 2**20, 50.0, "MB", grown < 50 * 2**20),
        Measured("clock's drift", drift, 20.0, "ms", drift < 20.0),
        *options,
    ]


async def _options(
    driver: ClientConnection, instructor: ClientConnection, link: str, seconds: float
) -> AsyncIterator[Measured]:
    """Switch the page's options on, one after another, then all; yield the real-time factor with each."""
    await driver.send(protocol.RunRequest(action="stop").model_dump_json())
    status = await _status(instructor, lambda status: status["run"] == "stopped" and status["recordings"])
    looking = asyncio.create_task(_look_on(instructor))
    worse = protocol.LinkQuality(delay=0.1, jitter=0.05, loss=0.1, rate=20.0)
    options: dict[str, tuple[ClientConnection, ClientMessage, ClientMessage | None]] = {
        "a trial": (driver, protocol.TrialRequest(action="begin", repetitions=30), None),
        "a ghost": (instructor, protocol.GhostRequest(recording=status["recordings"][0]), None),
        "loads": (driver, protocol.ViewRequest(contacts=True), protocol.ViewRequest(contacts=False)),
        "a degraded link": (
            instructor,
            protocol.LinkRequest(client=status["driver"], video=worse, command=worse),
            protocol.LinkRequest(client=status["driver"]),
        ),
    }
    for name, (client, choose, leave) in options.items():
        await client.send(choose.model_dump_json())
        yield await _factor(driver, f"real-time factor with {name}", seconds)
        if leave is not None:
            await client.send(leave.model_dump_json())
    reading = asyncio.create_task(_read_reports(link))
    yield await _factor(driver, "real-time factor with the class's page", seconds)
    for client, choose, _ in options.values():
        await client.send(choose.model_dump_json())
    yield await _factor(driver, "real-time factor with all of it", seconds)
    await _cancel(reading)
    await _cancel(looking)


async def _factor(driver: ClientConnection, what: str, seconds: float) -> Measured:
    """Drive for a while, and return simulated over elapsed time, leaving out the first second."""
    await _phase(driver, 1.0)
    seen = await _phase(driver, max(seconds, 1.0))
    factor = (seen.simulated[-1] - seen.simulated[0]) / (seen.server[-1] - seen.server[0])
    return Measured(what, factor, 1.0, "-", abs(factor - 1) < 0.01)


async def _status(socket: ClientConnection, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Wait for the first status that satisfies a condition."""

    async def read() -> dict[str, Any]:
        async for message in socket:
            status = json.loads(message) if isinstance(message, str) else {}
            if status.get("type") == "status" and wanted(status):
                return status
        raise NotReadyError("measure the station", "it closed the connection")

    return await asyncio.wait_for(read(), _PATIENCE)


def _load(address: str) -> None:
    urllib.request.urlopen(address).read()


async def _read_reports(link: str) -> None:
    """Load the pages of the reports and the class again and again."""
    while True:
        for path in ("/station/report", "/station/class", "/station/class.csv"):
            await asyncio.to_thread(_load, link + path)
            await asyncio.sleep(0.25)


@asynccontextmanager
async def _client(address: str, role: protocol.Role) -> AsyncIterator[ClientConnection]:
    async with connect(address, max_size=None, compression=None) as socket:
        await socket.send(protocol.Hello(name=role, role=role).model_dump_json())
        yield socket


async def _until_ready(socket: ClientConnection) -> None:
    async def ready() -> None:
        async for message in socket:
            if isinstance(message, str) and json.loads(message).get("run") == "ready":
                return

    await asyncio.wait_for(ready(), _PATIENCE)


async def _timed_phase(
    driver: ClientConnection, seconds: float, server: psutil.Process
) -> tuple[_Seen, float]:
    """Drive for a while; return the received states, and the server's fraction of a core."""
    before, began = sum(server.cpu_times()[:2]), time.monotonic()
    seen = await _phase(driver, seconds)
    return seen, (sum(server.cpu_times()[:2]) - before) / (time.monotonic() - began)


async def _phase(driver: ClientConnection, seconds: float) -> _Seen:
    """Drive to and fro for a while; return the received states."""
    seen, end = _Seen(), time.monotonic() + seconds
    holding = asyncio.create_task(_hold_keys(driver))
    while (left := end - time.monotonic()) > 0:
        try:
            message = await asyncio.wait_for(driver.recv(), left)
        except asyncio.TimeoutError:
            break
        if isinstance(message, bytes):
            seen.take(StateMessage.unpack(message))
    await _cancel(holding)
    return seen


async def _hold_keys(driver: ClientConnection) -> None:
    """Send controls 50 times a second, with the keys for forward and backward in turn."""
    due = time.monotonic()
    keys: tuple[str, ...] = ()  # At first: what is held from the beginning moves nothing.
    while True:
        now = time.monotonic()
        message = ControlsMessage(
            seq=int(1e6 * now),
            time=1000 * now,
            axes=(0.0,) * 4,
            buttons=(False,) * protocol.BUTTONS,
            keys=keys,
            touch=(0.0,) * 4,
            dead_man=False,
            visible=True,
        )
        await driver.send(message.model_dump_json())
        keys = ("KeyW",) if now % (2 * _TURN_BACK) < _TURN_BACK else ("KeyS",)
        due += _COMMAND_PERIOD
        await asyncio.sleep(max(0.0, due - time.monotonic()))


async def _look_on(socket: ClientConnection) -> None:
    asked = time.monotonic()
    async for _ in socket:
        if time.monotonic() - asked > _PING_PERIOD:
            asked = time.monotonic()
            await socket.send(protocol.Ping(time=1000 * asked).model_dump_json())


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def machine() -> dict[str, float]:
    """Number of cores, and load over the last minute."""
    return {"cores": psutil.cpu_count() or 1, "load": psutil.getloadavg()[0]}
