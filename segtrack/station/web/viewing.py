"""Recordings on the page: a replay, and a ghost beside the driven vehicle."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from segtrack.errors import InvalidValueError, NotReadyError
from segtrack.recording import DriveSetup
from segtrack.station.protocol import Flag, ReplayRequest, StateMessage
from segtrack.station.web.catalogue import Library
from segtrack.station.web.playback import OpenRecording, Playback

_FIRST_SCENE = 2**31
"""Numbers of replays' scenes; those of simulations are smaller."""


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
