"""Replay of a recorded drive: simulated again and compared, filmed, or tabulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.recording.recording import Recording
from segtrack.recording.session import DriveSession
from segtrack.recording.setup import TICK, Command, versions
from segtrack.rendering import Film, PosedVehicle


@dataclass(frozen=True)
class Difference:
    """First difference between two drives.

    Attributes:
        time: Time since the beginning [s].
        name: Name of the differing number, with its unit.
        recorded: Value in the file.
        simulated: Value simulated now.
    """

    time: float
    name: str
    recorded: float
    simulated: float


@dataclass(frozen=True)
class CheckResult:
    """Result of simulating a recorded drive's inputs again.

    Attributes:
        states: Number of compared states.
        difference: First difference; None if all states are equal bit for bit.
        other_versions: Changed versions by name: the recording's, and the present one.
    """

    states: int
    difference: Difference | None
    other_versions: dict[str, tuple[str, str]]

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        found = None if self.difference is None else vars(self.difference)
        return {
            "equal": found is None,
            "states": self.states,
            "difference": found,
            "versions": {name: list(both) for name, both in self.other_versions.items()},
        }


def check_recording(
    recording: Recording, on_state: Callable[[float], object] = lambda time: None
) -> CheckResult:
    """Simulate the inputs of a recording again, and compare all states bit for bit.

    Args:
        recording: Recorded drive.
        on_state: Function called with the time of each compared state [s].

    Raises:
        SegtrackError: The setup cannot be built here.
    """
    now = versions()
    others = {
        name: (then, now.get(name, "none"))
        for name, then in recording.versions.items()
        if then != now.get(name, "none")
    }
    names = (*recording.look.pose_names, *recording.reading_names)
    recorded = np.hstack([recording.poses, recording.readings])
    states = 0
    for (tick, state), row in zip(_simulated(recording), recorded, strict=True):
        states += 1
        on_state(tick * TICK)
        differing = np.flatnonzero(row.view(np.int64) != state.view(np.int64))
        if len(differing):
            first = int(differing[0])
            found = Difference(tick * TICK, names[first], float(row[first]), float(state[first]))
            return CheckResult(states, found, others)
    return CheckResult(states, None, others)


def _simulated(recording: Recording) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Simulate a recording's inputs again; yields tick, pose and readings of each state."""
    inputs = list(recording.inputs)
    with recording.unpacked() as setup, DriveSession(setup) as session:
        for tick in recording.ticks.tolist():
            while session.tick < tick:
                while inputs and inputs[0].tick <= session.tick:
                    command = inputs.pop(0).command
                    session.restart() if command is None else session.apply(command)
                session.advance()
            yield tick, np.concatenate(recording.stored(session.pose().flat(), session.readings()))


def film_recording(
    recording: Recording, path: Path, on_frame: Callable[[float], object] = lambda time: None, **options: Any
) -> None:
    """Film a recorded drive from its poses, without a simulation.

    Args:
        recording: Recorded drive.
        path: File to write, .mp4 or .gif.
        on_frame: Function called with the time of each frame [s].
        **options: Options of `Film`.

    Raises:
        SegtrackError: The film cannot be, or cannot be written.
    """
    vehicle = PosedVehicle(recording.look, recording.look.pose(recording.poses[0]))
    with Film(path, vehicle, recording.course().terrains, **options) as made:
        for time, pose in zip(recording.times.tolist(), recording.poses, strict=True):
            vehicle.pose = recording.look.pose(pose)
            made.take(time)
            on_frame(time)


def recording_columns(recording: Recording) -> tuple[tuple[str, ...], Iterator[Sequence[object]]]:
    """Return a recorded drive as a table: column names, and a row for each state.

    Time, the frames of all links and the travels of all belts, the commands that are held from then on, and
    the readings; shoes and wheels of link chains are in the recording alone.
    """
    flippers = recording.flippers
    count = 7 * len(recording.look.links) + len(recording.look.tracks)
    commands = ("left [m/s]", "right [m/s]", *(f"{name} [rad/s]" for name in flippers), "flatten")
    header = (
        "time [s]",
        *recording.look.pose_names[:count],
        *(f"command {name}" for name in commands),
        *recording.reading_names,
    )
    return header, _rows(recording, flippers, count)


def _rows(recording: Recording, flippers: Sequence[str], count: int) -> Iterator[Sequence[object]]:
    inputs, held = list(recording.inputs), Command()
    states = zip(recording.ticks.tolist(), recording.poses, recording.readings, strict=True)
    for tick, pose, readings in states:
        while inputs and inputs[0].tick <= tick:
            held = inputs.pop(0).command or Command()
        speeds = [held.flipper_speeds.get(name, 0.0) for name in flippers]
        command = (held.left, held.right, *speeds, int(held.flatten))
        yield (round(tick * TICK, 9), *pose[:count].tolist(), *command, *readings.tolist())
