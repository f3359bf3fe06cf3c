"""A station whose simulation is a picture: the real page, socket and hub, and a vehicle moved along x."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn

from segtrack.recording import Command, DriveSession, DriveSetup
from segtrack.rendering import look_of
from segtrack.station.protocol import Flag, StateMessage
from segtrack.station.scene import course_json, ground_json
from segtrack.station.serve import listen
from segtrack.station.simulation import (
    Build,
    Order,
    Report,
    RunReport,
    SceneReport,
    SetRun,
    ShowContacts,
    StampedCommand,
)
from segtrack.station.web import Catalogue, Hub, Library, create_app

TICK, STALE = 1 / 30, 0.3
"""Time that a state moves the vehicle on; age of a command that moves nothing any more [s]."""
FLIPPER_ANGLE = math.radians(30)
CONTACTS = np.array([[x, y, 0, 5, 0, 40 + 100 * x] for x in np.linspace(-0.2, 0.2, 6) for y in (-0.2, 0.2)])


class PicturedSimulation:
    """Moves a picture of a vehicle by the latest command, at what its belts are told.

    Attributes:
        orders: It was sent.
        sample: The latest command.
        position: Of the vehicle along x [m].
        ghost: Whether states show the vehicle a second time, 0.6 m ahead.
        slow: Whether states say that the simulation falls behind real time.
    """

    def __init__(self, setup: DriveSetup, recording: Path) -> None:
        """Record half a second of a drive, and take its start as the picture."""
        self.orders: list[Order] = []
        self.sample: StampedCommand | None = None
        self.position, self.time, self.travels = 0.0, 0.0, np.zeros(2)
        self.ghost = self.contacts = self.slow = False
        self._waiting: list[Report] = []
        self._frame = self._scene = 0
        with DriveSession(setup) as session:
            self.look, self.pose = look_of(session.robot), session.pose().flat()
            self._sides = np.array(["right" in name for name in session.robot.tracks], dtype=int)
            self._flippers = len(session.robot.flippers)
            self._scenery = {
                "look": self.look.as_json(),
                "ground": ground_json(session.course),
                "course": course_json(session.course),
                "readings": session.reading_names,
            }
            session.record(recording)
            session.apply(Command(0.3, 0.3))
            session.advance(50)

    def order(self, order: Order) -> None:
        self.orders.append(order)
        match order:
            case Build(scene=scene):
                self._scene = scene
                self._waiting += [
                    SceneReport({"number": scene, "ghost": None, **self._scenery}),
                    RunReport("running"),
                ]
            case SetRun(action=action):
                states = {"start": "running", "pause": "paused", "reset": "ready", "stop": "stopped"}
                self._waiting.append(RunReport(states[action]))
            case ShowContacts(on=on):
                self.contacts = on

    def command(self, sample: StampedCommand) -> None:
        self.sample = sample

    def close(self) -> list[Report]:
        return []

    def reports(self) -> Iterator[Report]:
        waiting, self._waiting = self._waiting, []
        yield from waiting

    def state(self) -> tuple[int, bytes]:
        self._frame += 1
        self.time += TICK
        sample = self.sample
        moves = sample is not None and time.monotonic() - sample.came < STALE and not sample.e_stop
        flags = Flag(0) if moves else Flag.WATCHDOG
        flags |= Flag.CONTACTS if self.contacts else Flag(0)
        flags |= Flag.E_STOP if sample is not None and sample.e_stop else Flag(0)
        command = sample.command if moves and sample is not None else Command()
        speeds = np.array([command.left, command.right])
        self.position += TICK * speeds.mean()
        self.travels += TICK * speeds
        pose = self._moved(self.position)
        of_belts = speeds[self._sides]
        readings = np.stack([of_belts, of_belts, 40 * of_belts, 0.02 * (of_belts != 0)], axis=1).ravel()
        state = StateMessage(
            scene=self._scene,
            frame=self._frame,
            flags=flags | (Flag.GHOST if self.ghost else Flag(0)) | (Flag.SLOW if self.slow else Flag(0)),
            time=self.time,
            server_time=time.monotonic(),
            trial_clock=0.0,
            client_time=0.0 if sample is None else sample.client_time,
            real_time_factor=1.0,
            late_share=0.0,
            energy=1234.0,
            command_age=0.0,
            pose=pose,
            ghost=self._moved(self.position + 0.6) if self.ghost else np.empty(0),
            readings=np.concatenate([readings, np.full(self._flippers, FLIPPER_ANGLE), [1234.0]]),
            contacts=CONTACTS + np.append(pose[:2], [0, 0, 0, 0]) if self.contacts else np.empty((0, 6)),
        )
        return self._frame, state.pack()

    def _moved(self, along: float) -> np.ndarray:
        pose = self.pose.copy()
        ends = 7 * len(self.look.links)
        pose[:ends:7] += along
        pose[ends : ends + len(self._sides)] += self.travels[self._sides]
        bodies = pose[ends + len(self._sides) :]
        bodies[::7] += along
        return pose


class _Served:
    """The station in its own process, and what it is asked about."""

    def __init__(
        self, folder: Path, vehicle: str, track_model: str, course: str, instructors: tuple[str, ...]
    ) -> None:
        setup = DriveSetup(vehicle, course, track_model=track_model)
        self.simulation = PicturedSimulation(setup, folder / "recordings" / "run.mcap")
        self.hub = Hub(self.simulation, Catalogue(vehicle, course), Library(folder), instructors)
        self.controls: Any = None
        self.asked: list[Any] = []
        self._take, self.hub.take = self.hub.take, self._note

    def _note(self, client, message, now) -> None:
        if message.type == "controls":
            if client.id == self.hub.seats.driver:
                self.controls = message
        elif message.type not in ("ping", "view"):
            self.asked.append(message)
        self._take(client, message, now)

    @property
    def answers(self) -> dict[str, Any]:
        return {
            "controls": self.controls,
            "asked": self.asked,
            "driver": self.hub.seats.driver,
            "e_stop": self.hub.run.steering.e_stop,
            "position": self.simulation.position,
        }

    def answer(self, connection: Connection, server: uvicorn.Server) -> None:
        """Answer what the test asks, until it ends."""
        while (question := connection.recv()) != "close":
            if question == "forget":
                self.asked.clear()
            elif question == "change pace":
                self.simulation.slow = not self.simulation.slow
            connection.send(self.answers.get(question))
        server.should_exit = True


def _serve(connection: Connection, *arguments: Any) -> None:
    multiprocessing.current_process()._config["daemon"] = False  # It has a process for reports itself.
    served = _Served(*arguments)
    with listen("127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = create_app(served.hub, origins=frozenset([url]), token=None)
        settings: dict[str, Any] = {"log_level": "warning", "ws": "websockets-sansio"}
        server = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=1, **settings))
        threading.Thread(target=served.answer, args=(connection, server), daemon=True).start()
        connection.send(url)
        server.run([listening])


class FakeStation:
    """A station in a process of its own, for NiceGUI serves once in each.

    Attributes:
        url: Of the page.
        recording: File of the recording that there is.
    """

    def __init__(
        self,
        folder: Path,
        vehicle="quince",
        track_model="compliant",
        course="okada-step",
        instructors: tuple[str, ...] = (),
    ) -> None:
        self.recording = folder / "recordings" / "run.mcap"
        spawning = multiprocessing.get_context("spawn")
        self._connection, other = spawning.Pipe()
        arguments = (other, folder, vehicle, track_model, course, instructors)
        self._process = spawning.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        other.close()
        self.url = self._connection.recv()

    def _ask(self, question: str) -> Any:
        self._connection.send(question)
        return self._connection.recv()

    @property
    def controls(self) -> Any:
        """The latest of whoever drives."""
        return self._ask("controls")

    @property
    def asked(self) -> list[Any]:
        """All messages but controls, pings and views, since they were forgotten."""
        return self._ask("asked")

    @property
    def driver(self) -> int | None:
        return self._ask("driver")

    @property
    def e_stop(self) -> bool:
        return self._ask("e_stop")

    @property
    def position(self) -> float:
        """Of the vehicle along x [m]."""
        return self._ask("position")

    def forget(self) -> None:
        """Forget what was asked for."""
        self._ask("forget")

    def change_pace(self) -> None:
        """Let states say that the simulation falls behind real time, or no longer."""
        self._ask("change pace")

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Halt the process, whose sockets stay open."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        self._connection.send("close")
        self._process.join(10)
