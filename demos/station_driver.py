"""A scripted driver of the operator's station, over the page's own protocol, is scored."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from segtrack.cli import command
from segtrack.courses import load_course
from segtrack.demos import Picture
from segtrack.errors import MissingPackageError
from segtrack.rendering import Camera, PosedVehicle, VehicleLook
from segtrack.station import protocol

COURSE = "inclined-plane"
PERIOD = 0.02
"""Between two messages of the driver's [s]."""
HOME, STRAIGHT = 1.5, 2.0
"""Turn of the stick by sideways offset [1/m], and by heading [1/rad]."""


class Driver:
    """Client of the station's socket that drives as a person at the page would.

    Attributes:
        scene: Scene that the station shows.
        status: Status of the station.
        state: State of the vehicle.
    """

    def __init__(self, link: str) -> None:
        """Connect to the station under a link, and say hello."""
        from websockets.sync.client import connect

        self._socket = connect(link.replace("http", "ws", 1) + "/station/socket", max_size=None).__enter__()
        self._seq = 0
        self.scene: dict[str, Any] = {}
        self.status: dict[str, Any] = {}
        self.state: protocol.StateMessage | None = None
        self.send(protocol.Hello(name="scripted driver", role="driver"))

    def send(self, message: protocol.ClientMessage) -> None:
        """Send a message to the station."""
        self._socket.send(message.model_dump_json())

    def listen(self, seconds: float) -> None:
        """Receive messages for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._socket.recv(timeout=left)
            except TimeoutError:
                return
            if isinstance(message, bytes):
                self.state = protocol.StateMessage.unpack(message)
                continue
            content = json.loads(message)
            if content["type"] == "scene":
                self.scene = content
            elif content["type"] == "status":
                self.status = content

    def push(self, drive: float, turn: float) -> None:
        """Push the touch stick: forward and to the right, each in [-1, 1]."""
        self._seq += 1
        self.send(
            protocol.ControlsMessage(
                seq=self._seq,
                time=1000 * time.monotonic(),
                axes=(0.0,) * 4,
                buttons=(False,) * protocol.BUTTONS,
                keys=(),
                touch=(float(np.clip(turn, -1, 1)), -drive, 0.0, 0.0),
                dead_man=self._seq > 1,  # What is held from the beginning moves nothing.
                visible=True,
            )
        )

    def steer(self) -> None:
        """Drive towards the next gate along the lane's middle, forwards or backwards."""
        course, trial = self.scene["course"], self.status["trial"]
        start, gate = course["start"], course["gates"][trial["next_gate"]]
        assert self.state is not None
        x, y, _, *quaternion = self.state.pose[:7].astype(float)
        yaw = 2 * math.atan2(quaternion[2], quaternion[3])
        way = 1.0 if gate["x"] > x else -1.0
        self.push(way, HOME * way * (y - start["y"]) + STRAIGHT * (yaw - start["yaw"]))


@contextmanager
def station(folder: Path) -> Iterator[str]:
    """Run a station in separate processes; yields its link."""
    program = [sys.executable, "-c", "from segtrack.cli import main; main()", "station"]
    options = ["--port", "0", "--no-browser", "--vehicle", "quince", "--course", COURSE, "--folder"]
    with subprocess.Popen([*program, *options, str(folder)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield next(word for line in process.stderr for word in line.split() if word.startswith("http"))
        finally:
            process.terminate()


def main(headless: bool = False, repetitions: int = 10, picture: Picture = None) -> None:
    """Drive up an inclined plane and back, ten times or fewer; with a window, a browser looks on."""
    for package in ("nicegui", "mcap"):
        if find_spec(package) is None:
            raise MissingPackageError("the station", package, "station")
    with TemporaryDirectory() as folder, station(Path(folder)) as link:
        if not headless:
            typer.launch(link)
        driver = Driver(link)
        while driver.status.get("run") != "ready" or not driver.scene:
            driver.listen(0.1)
        driver.send(protocol.TrialRequest(action="begin"))
        told: list[dict[str, Any]] = []
        shown = None
        while not (trial := driver.status.get("trial")) or not trial["over"]:
            driver.listen(PERIOD)
            if trial and driver.state is not None:
                driver.steer()
                _print_score(trial, told)
                if 2.0 < driver.state.pose[0] < 2.1:
                    shown = driver.state.pose
                if trial["done"] >= repetitions:
                    driver.send(protocol.TrialRequest(action="abandon"))
        _print_score(trial, told)
        if picture is not None and shown is not None:
            _draw(driver.scene["look"], shown, picture)
        rate = f"{trial['rate']:.2f} {trial['unit']}" if trial["rate"] is not None else "none"
        print(f"{trial['done']} completed, {trial['failures']} failed, rate {rate}")


def _print_score(trial: dict[str, Any], told: list[dict[str, Any]]) -> None:
    """Print new events of the trial."""
    for event in trial["events"]:
        if event not in told:
            told.append(event)
            print(f"{event['clock']:6.1f} s  {event['text']}", flush=True)


def _draw(data: dict[str, Any], pose: NDArray[np.floating[Any]], picture: Path) -> None:
    """Draw the vehicle at a pose."""
    look = VehicleLook.from_json(data)
    vehicle = PosedVehicle(look, look.pose(pose.astype(float)))
    Camera(vehicle, load_course(COURSE).terrains, view="chase").save(picture)


if __name__ == "__main__":
    typer.run(command(main))
