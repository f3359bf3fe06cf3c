"""A recording on the page: where it stands, and what is seen there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import load_course
from segtrack.recording.recording import Recording
from segtrack.station.protocol import Flag, StateMessage
from segtrack.station.scene import course_json, ground_json

_NONE = np.empty(0)


@dataclass(frozen=True)
class Film:
    """A recording with the ground that it was made on.

    Attributes:
        name: Of the recording.
        recording: What was recorded.
        scene: The fields of `protocol.Scene` but for the number and the ghost.
    """

    name: str
    recording: Recording
    scene: dict[str, Any]

    @classmethod
    def open(cls, name: str, path: Path) -> Film:
        """Read a recording's file.

        Raises:
            SegtrackError: It cannot be read, or is none.
        """
        recording = Recording.open(path)
        with recording.unpacked() as setup:
            course = load_course(setup.course, setup.setting).with_ground(setup.friction, setup.soil)
        scene = {
            "look": recording.look.as_json(),
            "ground": ground_json(course),
            "course": course_json(course),
            "readings": recording.reading_names,
        }
        return cls(name, recording, scene)

    def pose(self, time: float) -> NDArray[np.float64]:
        """Flat pose at a time since the beginning [s]; the ends are held."""
        return self.recording.poses_at(time)


class Replay:
    """A film that plays.

    Attributes:
        film: What is played.
        scene: Number of its scene.
        playing: Whether it runs.
        speed: Of playing over that of driving.
    """

    def __init__(self, film: Film, scene: int, now: float) -> None:
        """Begin at the first state, not yet playing."""
        self.film, self.scene = film, scene
        self.playing, self.speed = False, 1.0
        self._first, self._last = (float(time) for time in film.recording.times[[0, -1]])
        self._time, self._at, self._frame = self._first, now, 0

    def play(self, speed: float, now: float) -> None:
        """Play, from the beginning if it stands at the end."""
        self.time(now)
        self._time = self._first if self._time >= self._last else self._time
        self.playing, self.speed = True, speed

    def pause(self, now: float) -> None:
        """Stand still."""
        self.time(now)
        self.playing = False

    def seek(self, time: float, now: float) -> None:
        """Go to a time since the beginning [s]."""
        self._time, self._at = min(max(time, self._first), self._last), now

    def time(self, now: float) -> float:
        """Time since the beginning at which it stands [s]; at the end it stops by itself."""
        if self.playing:
            self._time = min(self._time + self.speed * (now - self._at), self._last)
            self.playing = self._time < self._last
        self._at = now
        return self._time

    def state(self, now: float, flags: Flag) -> StateMessage:
        """What is seen at `now` [s], with flags of the simulation, which waits."""
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
        """Where it stands, for `protocol.Status`."""
        return {
            "name": self.film.name,
            "time": self.time(now),
            "duration": self._last,
            "playing": self.playing,
            "speed": self.speed,
            "damaged": self.film.recording.damaged,
        }
