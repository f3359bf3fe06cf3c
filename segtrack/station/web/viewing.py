"""What is seen besides the simulation: a recording that is replayed, and one that drives along as a ghost.

Files are read in a thread of their own, so that nobody waits.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from segtrack.errors import InvalidValueError, NotReadyError
from segtrack.station.protocol import Flag, ReplayRequest, StateMessage
from segtrack.station.web.library import Library
from segtrack.station.web.replay import Film, Replay

_FIRST_SCENE = 2**31
"""Numbers of replays' scenes; those of simulations are smaller."""


class SeenState:
    """A state's bytes, with and without contact loads."""

    def __init__(self, data: bytes) -> None:
        """Take a packed state."""
        self._data = data
        self._bare: bytes | None = None

    def bytes_for(self, contacts: bool) -> bytes:
        """The message for a client that wants contact loads, or does not."""
        if contacts:
            return self._data
        if self._bare is None:
            self._bare = StateMessage.without_contacts(self._data)
        return self._bare


class Viewing:
    """Replay and ghost.

    Attributes:
        replay: What is played instead of the simulation; None if nothing is.
        ghost: What is seen beside the vehicle; None if nothing is.
    """

    def __init__(self, library: Library) -> None:
        """Begin with neither."""
        self.replay: Replay | None = None
        self.ghost: Film | None = None
        self._library = library
        self._reader = ThreadPoolExecutor(1, "segtrack-recording")
        self._reading: dict[str, Future[Film]] = {}
        self._scenes = _FIRST_SCENE

    def obey(self, request: ReplayRequest, now: float) -> bool:
        """Open, play, pause, seek or close; returns whether the scene has changed.

        Raises:
            SegtrackError: There is no such recording, or nothing is open.
        """
        if request.action == "open":
            if request.recording is None:
                raise InvalidValueError("recording", "the name of one", None)
            self._read("replay", request.recording)
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

    def close(self) -> bool:
        """Close the replay; returns whether there was one."""
        was_open, self.replay = self.replay is not None, None
        self._reading.pop("replay", None)
        return was_open

    def show_ghost(self, recording: str | None) -> bool:
        """Show a recording's vehicle, or none any more; returns whether the scene has changed.

        Raises:
            UnknownNameError: There is no such recording.
        """
        if recording is not None:
            self._read("ghost", recording)
            return False
        was_shown, self.ghost = self.ghost is not None, None
        self._reading.pop("ghost", None)
        return was_shown

    def look_in(self, now: float) -> bool:
        """Take what has been read; returns whether the scene has changed.

        Raises:
            SegtrackError: A recording could not be read.
        """
        done = [what for what, reading in self._reading.items() if reading.done()]
        for what in done:
            film = self._reading.pop(what).result()
            if what == "ghost":
                self.ghost = film
            else:
                self._scenes += 1
                self.replay = Replay(film, self._scenes, now)
        return bool(done)

    def replayed(self, now: float, flags: Flag) -> SeenState | None:
        """The replay's state with what holds the simulation meanwhile; None without one."""
        return None if self.replay is None else self._beside_ghost(self.replay.state(now, flags))

    def simulated(self, data: bytes) -> SeenState:
        """The simulation's state."""
        return SeenState(data) if self.ghost is None else self._beside_ghost(StateMessage.unpack(data))

    def scene_fields(self) -> dict[str, Any] | None:
        """The replay's scene; None without one."""
        return None if self.replay is None else {"number": self.replay.scene, **self.replay.film.scene}

    def ghost_look(self) -> dict[str, Any] | None:
        """The ghost's look; None without one."""
        look: dict[str, Any] | None = None if self.ghost is None else self.ghost.scene["look"]
        return look

    def _beside_ghost(self, state: StateMessage) -> SeenState:
        """A state and where the ghost was at the same time: on the trial's clock where there is a trial."""
        if self.ghost is not None:
            time = state.trial_clock if state.flags & Flag.TRIAL else state.time
            state = replace(state, flags=state.flags | Flag.GHOST, ghost=self.ghost.pose(time))
        return SeenState(state.pack())

    def _read(self, what: str, name: str) -> None:
        path = self._library.recording(name)
        if what in self._reading:
            raise NotReadyError(f"open the {what}", "another recording is being read")
        self._reading[what] = self._reader.submit(Film.open, name, path)
