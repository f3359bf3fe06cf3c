"""Recordings on the page: a replay with its playback, and a ghost beside the driven vehicle."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import TrialConditions, fastest, load_course, read_repetitions
from segtrack.errors import InvalidValueError, NotReadyError
from segtrack.recording import TICK, DriveSetup, Recording
from segtrack.station.protocol import Flag, ReplayRequest, StateMessage
from segtrack.station.scene import course_json, ground_json
from segtrack.station.web.catalogue import Library

_NONE = np.empty(0)
_MAX_FAULTS, _MAX_TEXT = 30, 200
"""Faults of a recording that are shown, and characters of each."""
_FIRST_SCENE = 2**31
"""Numbers of replays' scenes; those of simulations are smaller."""


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


class SeenState:
    """Packed state, with and without contact loads."""

    def __init__(self, data: bytes) -> None:
        """Keep a packed state."""
        self._data = data
        self._bare: bytes | None = None

    def bytes_for(self, contacts: bool) -> bytes:
        """Return the message for a client, with or without contact loads."""
        if contacts:
            return self._data
        if self._bare is None:
            self._bare = StateMessage.without_contacts(self._data)
        return self._bare


class _Reading:
    """Recording being read in a thread, and the fraction read so far."""

    def __init__(self) -> None:
        self.share = 0.0
        self.film: Future[OpenRecording]

    def note(self, share: float) -> None:
        """Record the fraction read so far."""
        self.share = share


class Viewing:
    """Replay and ghost of a station.

    Attributes:
        replay: Recording shown instead of the simulation; None without one.
        ghost: Recording shown beside the vehicle; None without one.
    """

    def __init__(self, library: Library) -> None:
        """Start with neither replay nor ghost."""
        self.replay: Playback | None = None
        self.ghost: OpenRecording | None = None
        self._library = library
        self._reader = ThreadPoolExecutor(1, "segtrack-recording")
        self._reading: dict[str, _Reading] = {}
        self._scenes = _FIRST_SCENE
        self._moment: float | None = None

    @property
    def opening(self) -> float | None:
        """Fraction read of the recordings being opened, the smallest of two; None without any."""
        return min((reading.share for reading in self._reading.values()), default=None)

    @property
    def is_moving(self) -> bool:
        """True while a replay plays, or a recording is being read."""
        return bool(self._reading) or (self.replay is not None and self.replay.playing)

    def obey(self, request: ReplayRequest, now: float) -> bool:
        """Open, play, pause, seek or close a replay; returns True if the scene has changed.

        A recording is opened in the background: `poll_library` shows it once it has been read.

        Args:
            request: Order of a client.
            now: Monotonic clock [s].

        Raises:
            SegtrackError: There is no such recording, or nothing is open.
        """
        if request.action == "open":
            if request.recording is None:
                raise InvalidValueError("recording", "the name of one", None)
            self._read("replay", request.recording, OpenRecording.open)
            self._moment = request.time
            return False
        if request.action == "close":
            return self.close()
        if self.replay is None:
            raise NotReadyError(f"{request.action} a replay", "none is open")
        match request.action:
            case "play":
                self.replay.play(request.speed, now)
            case "pause":
                self.replay.pause(now)
            case "seek":
                self.replay.seek(request.time or 0.0, now)
        return False

    def require_unused(self, recording: str) -> None:
        """Raise an error if a recording is replayed, or shown as a ghost.

        Raises:
            NotReadyError: It is.
        """
        shown = [film.name for film in (self.ghost, self.replay and self.replay.film) if film]
        if recording in shown:
            raise NotReadyError("delete the recording", "it is looked at")

    def close(self) -> bool:
        """Close the replay; returns True if there was one."""
        was_open, self.replay = self.replay is not None, None
        self._reading.pop("replay", None)
        return was_open

    def leave(self) -> None:
        """Close the replay and hide the ghost, because another simulation is built."""
        self.close()
        self.hide_ghost()

    def show_ghost(self, recording: str, setup: DriveSetup) -> None:
        """Show a recording's vehicle as a ghost, once it has been read; its conditions must be the setup's.

        Raises:
            UnknownNameError: There is no such recording.
            NotReadyError: Another ghost is being read.
        """
        self._read("ghost", recording, partial(OpenRecording.open_alike, setup=setup))

    def hide_ghost(self) -> bool:
        """Hide the ghost; returns True if there was one."""
        was_shown, self.ghost = self.ghost is not None, None
        self._reading.pop("ghost", None)
        return was_shown

    def poll_library(self, now: float) -> bool:
        """Show the replay and the ghost whose recordings have been read since the last call.

        Args:
            now: Monotonic clock [s].

        Returns:
            True if there was one, so that the scene has changed.

        Raises:
            SegtrackError: A recording could not be read, or is no ghost of this run.
        """
        done = [what for what, reading in self._reading.items() if reading.film.done()]
        for what in done:
            film = self._reading.pop(what).film.result()
            if what == "ghost":
                self.ghost = film
            else:
                self._scenes += 1
                self.replay = Playback(film, self._scenes, now)
                if self._moment is not None:
                    self.replay.seek(self._moment, now)
                    self.replay.play(1.0, now)
        return bool(done)

    def replayed(self, now: float, flags: Flag) -> SeenState | None:
        """Return the replay's state to show at `now` [s], with the ghost; None without a replay.

        Args:
            now: Monotonic clock [s].
            flags: Flags of the waiting simulation, which are added.
        """
        return None if self.replay is None else self._beside_ghost(self.replay.state(now, flags))

    def simulated(self, data: bytes) -> SeenState:
        """Return the simulation's state, a packed `StateMessage`, with the ghost if there is one."""
        return SeenState(data) if self.ghost is None else self._beside_ghost(StateMessage.unpack(data))

    def scene_fields(self) -> dict[str, Any] | None:
        """Return the replay's scene; None without a replay."""
        return None if self.replay is None else {"number": self.replay.scene, **self.replay.film.scene}

    def ghost_look(self) -> dict[str, Any] | None:
        """Return the ghost's look; None without a ghost."""
        look: dict[str, Any] | None = None if self.ghost is None else self.ghost.scene["look"]
        return look

    def _beside_ghost(self, state: StateMessage) -> SeenState:
        """Add the ghost's pose at the same time to a state; by the trial's clock during a trial."""
        if self.ghost is not None:
            time = state.trial_clock if state.flags & Flag.TRIAL else state.time
            state = replace(state, flags=state.flags | Flag.GHOST, ghost=self.ghost.pose(time))
        return SeenState(state.pack())

    def _read(self, what: str, name: str, read: Callable[..., OpenRecording]) -> None:
        path = self._library.recording(name)
        if what in self._reading:
            raise NotReadyError(f"open the {what}", "another recording is being read")
        reading = self._reading[what] = _Reading()
        reading.film = self._reader.submit(read, name, path, reading.note)
