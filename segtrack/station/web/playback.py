"""Recordings open on the page, and their playback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import TrialConditions, fastest, load_course, read_repetitions
from segtrack.errors import NotReadyError
from segtrack.recording import TICK, DriveSetup, Recording
from segtrack.station.protocol import Flag, StateMessage
from segtrack.station.scene import course_json, ground_json

_NONE = np.empty(0)
_MAX_FAULTS, _MAX_TEXT = 30, 200
"""Faults of a recording that are shown, and characters of each."""


@dataclass(frozen=True)
class OpenRecording:
    """Open recording, with its scene.

    Attributes:
        name: Name of the recording.
        recording: Recorded drive, see `segtrack.recording`.
        scene: Fields of `protocol.SceneMessage`, without number and ghost.
    """

    name: str
    recording: Recording
    scene: dict[str, Any]

    @classmethod
    def open(cls, name: str, path: Path, on_progress: Callable[[float], object]) -> OpenRecording:
        """Read a recording's file.

        Raises:
            SegtrackError: It cannot be read, or is none.
        """
        recording = Recording.open(path, on_progress)
        with recording.unpacked() as setup:
            course = load_course(setup.course, setup.setting).with_ground(setup.friction, setup.soil)
        scene = {
            "look": recording.look.as_json(),
            "ground": ground_json(course),
            "course": course_json(course),
            "readings": recording.reading_names,
        }
        return cls(name, recording, scene)

    @classmethod
    def open_alike(
        cls, name: str, path: Path, on_progress: Callable[[float], object], setup: DriveSetup
    ) -> OpenRecording:
        """Read a recording made under the same conditions as a setup (seeds may differ).

        Raises:
            SegtrackError: It cannot be read, is none, or was driven under other conditions.
        """
        opened = cls.open(name, path, on_progress)
        own, wanted = _conditions(opened.recording.setup), _conditions(setup)
        if own != wanted:
            raise NotReadyError("show the ghost", f"it was driven on {own}, and this is {wanted}")
        return opened

    @cached_property
    def faults(self) -> list[dict[str, Any]]:
        """Faults of the recorded trial: time in the recording [s] and text."""
        found = (
            {"time": event.tick * TICK, "text": str(event.details.get("text", ""))[:_MAX_TEXT]}
            for event in self.recording.events
            if event.kind == "trial" and event.details.get("what") == "fault"
        )
        return list(islice(found, _MAX_FAULTS))

    @cached_property
    def splits(self) -> tuple[float, ...]:
        """Gate times of the fastest repetition in the recorded trial [s]; empty without one."""
        trial = [event.details for event in self.recording.events if event.kind == "trial"]
        told = [(details.get("what"), details.get("clock")) for details in trial]
        return fastest(
            read_repetitions((what, clock) for what, clock in told if isinstance(clock, int | float))
        )

    def pose(self, time: float) -> NDArray[np.float64]:
        """Return the flat pose at a time since the beginning [s]; clamped to the ends."""
        return self.recording.poses_at(time)


def _conditions(setup: DriveSetup) -> TrialConditions:
    """Conditions of a setup; its files are compared by name."""
    given = {name: value for name, value in setup.as_json().items() if value is not None}
    course, vehicle = (Path(given.pop(name)).name for name in ("course", "vehicle"))
    setting = given.pop("setting", None)
    return TrialConditions.of(course, setting, vehicle, {name: str(value) for name, value in given.items()})


class Playback:
    """Playback of a recording.

    Attributes:
        film: Open recording.
        scene: Number of the scene.
        playing: True while time runs.
        speed: Ratio of playing time to recorded time.
    """

    def __init__(self, film: OpenRecording, scene: int, now: float) -> None:
        """Begin at the first state, not yet playing."""
        self.film, self.scene = film, scene
        self.playing, self.speed = False, 1.0
        self._first, self._last = (float(time) for time in film.recording.times[[0, -1]])
        self._time, self._at, self._frame = self._first, now, 0

    def play(self, speed: float, now: float) -> None:
        """Play at a speed; from the beginning if at the end."""
        self.time(now)
        self._time = self._first if self._time >= self._last else self._time
        self.playing, self.speed = True, speed

    def pause(self, now: float) -> None:
        """Pause the playback."""
        self.time(now)
        self.playing = False

    def seek(self, time: float, now: float) -> None:
        """Jump to a time since the beginning [s]."""
        self._time, self._at = min(max(time, self._first), self._last), now

    def time(self, now: float) -> float:
        """Return the present time since the beginning [s]; playing stops at the end."""
        if self.playing:
            self._time = min(self._time + self.speed * (now - self._at), self._last)
            self.playing = self._time < self._last
        self._at = now
        return self._time

    def state(self, now: float, flags: Flag) -> StateMessage:
        """Return the state to show at `now` [s], with the flags of the waiting simulation."""
        time, recording = self.time(now), self.film.recording
        self._frame += 1
        row = min(int(np.searchsorted(recording.times, time)), len(recording.ticks) - 1)
        readings = recording.readings[row]
        energy = dict(zip(recording.reading_names, readings, strict=True)).get("energy [J]", 0.0)
        return StateMessage(
            scene=self.scene,
            frame=self._frame,
            flags=flags | Flag.REPLAY,
            time=time,
            server_time=now,
            trial_clock=0.0,
            client_time=0.0,
            real_time_factor=self.speed if self.playing else 0.0,
            late_share=0.0,
            energy=float(energy),
            command_age=0.0,
            pose=self.film.pose(time),
            ghost=_NONE,
            readings=readings,
            contacts=np.empty((0, 6)),
        )

    def status(self, now: float) -> dict[str, Any]:
        """Return the `replay` field of `protocol.StatusMessage`."""
        return {
            "name": self.film.name,
            "time": self.time(now),
            "duration": self._last,
            "playing": self.playing,
            "speed": self.speed,
            "damaged": self.film.recording.damaged,
            "faults": self.film.faults,
        }
