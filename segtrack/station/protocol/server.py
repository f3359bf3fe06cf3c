"""Messages of the station: JSON text, and binary ones for states."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, fields
from enum import IntFlag
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from segtrack.errors import MessageError
from segtrack.station.protocol.client import Role


class CourseOption(BaseModel):
    """Course that can be chosen.

    Attributes:
        name: Name of the course.
        title: Title of the course, for people.
        settings: Values of its setting that are offered, in `unit`; empty without a setting.
        setting_name: Name of the setting; None without one.
        unit: Unit of the setting; None without one.
    """

    name: str
    title: str
    settings: tuple[float, ...] = ()
    setting_name: str | None = None
    unit: str | None = None


class Options(BaseModel):
    """Choices that the page offers.

    Attributes:
        vehicles: Names of vehicles.
        track_models: Names of track models.
        engines: Names of engines.
        courses: Courses.
        soils: Names of soils.
    """

    vehicles: tuple[str, ...]
    track_models: tuple[str, ...]
    engines: tuple[str, ...]
    courses: tuple[CourseOption, ...]
    soils: tuple[str, ...]


class Welcome(BaseModel):
    """Answer to a client's hello.

    Attributes:
        client: Id that the station gave the client.
        role: Role that the client has now.
        options: Choices of a run.
    """

    type: Literal["welcome"] = "welcome"
    client: int
    role: Role
    options: Options


class SceneMessage(BaseModel):
    """Vehicle, ground and course to show; sent when they change.

    Attributes:
        number: Number of the scene; its states carry the number too.
        look: Look of the vehicle, from `VehicleLook.as_json()`.
        ground: Mesh of the ground.
        course: Title, gates, walls and bounds.
        ghost: Look of the ghost; None without one.
        readings: Names of the values in a state's `readings`.
    """

    type: Literal["scene"] = "scene"
    number: int
    look: dict[str, Any]
    ground: dict[str, Any]
    course: dict[str, Any]
    ghost: dict[str, Any] | None
    readings: tuple[str, ...]


class ErrorAnswer(BaseModel):
    """Refusal of a client's message.

    Attributes:
        what: Sentence that says what is refused, and why.
    """

    type: Literal["error"] = "error"
    what: str


class Pong(BaseModel):
    """Answer to a ping.

    Attributes:
        time: Client's clock, as the ping gave it [ms].
        server: Station's monotonic clock [s].
    """

    type: Literal["pong"] = "pong"
    time: float
    server: float


class ReportLink(BaseModel):
    """Link of the operator's report.

    Attributes:
        link: Address of the report.
    """

    type: Literal["report"] = "report"
    link: str


class Flag(IntFlag):
    """Flags of a state, as bits.

    Slow: the repetition would be void now, or the last seconds, where no trial is on. No picture: a degraded
    link has brought none of this scene yet.
    """

    E_STOP = 1
    WATCHDOG = 2
    REPLAY = 4
    GHOST = 8
    CONTACTS = 16
    TRIAL = 32
    TRIAL_PAUSED = 64
    SLOW = 128
    NO_PICTURE = 256


@dataclass(frozen=True)
class StateMessage:
    """State of the vehicle in a binary message: a header, then float32 arrays, all little-endian.

    Attributes:
        scene: Number of the scene that its poses belong to.
        frame: Number of the state.
        flags: Flags, see `Flag`.
        time: Simulated time [s].
        server_time: Station's monotonic clock at the state [s].
        trial_clock: Elapsed time of the trial [s].
        client_time: Driver's clock when it sent the last controls applied before this state [ms].
        real_time_factor: Simulated over elapsed time, over the last seconds [-].
        late_share: Fraction of ticks that ended more than a tick late [-].
        energy: Work of the belt drives [J].
        command_age: Time since the last controls arrived [s].
        pose: Pose of the vehicle, from `VehiclePose.flat()` (p,).
        ghost: Pose of the ghost (g,); empty without one.
        readings: Values named by the scene's `readings` (r,).
        contacts: Contact points [m] and forces on the vehicle [N] in the world (c, 6).
        picture: Pose shown in the picture, if a degraded link delays it (q,); else empty.
        picture_frame: Number of the state shown in the picture; else 0.
        damage: Bit mask of the picture's damaged slices, in rows from the top left.
    """

    HEADER: ClassVar[struct.Struct] = struct.Struct("<4sIIIddddffffIIIIIII")
    MAGIC: ClassVar[bytes] = b"SGT2"

    scene: int
    frame: int
    flags: Flag
    time: float
    server_time: float
    trial_clock: float
    client_time: float
    real_time_factor: float
    late_share: float
    energy: float
    command_age: float
    pose: NDArray[np.floating[Any]]
    ghost: NDArray[np.floating[Any]]
    readings: NDArray[np.floating[Any]]
    contacts: NDArray[np.floating[Any]]
    picture: NDArray[np.floating[Any]] = field(default_factory=partial(np.empty, 0))
    picture_frame: int = 0
    damage: int = 0

    def pack(self) -> bytes:
        """Serialise the state to bytes."""
        arrays = (self.picture, self.pose, self.ghost, self.readings, self.contacts)
        numbers = (self.time, self.server_time, self.trial_clock, self.client_time)
        shares = (self.real_time_factor, self.late_share, self.energy, self.command_age)
        picture = (self.picture_frame, self.damage)
        head = self.HEADER.pack(
            self.MAGIC, self.scene, self.frame, self.flags, *numbers, *shares, *picture, *map(len, arrays)
        )
        return b"".join((head, *(np.asarray(array, "<f4").tobytes() for array in arrays)))

    @classmethod
    def unpack(cls, data: bytes) -> StateMessage:
        """Parse a state from bytes.

        Raises:
            MessageError: It is none.
        """
        if len(data) < cls.HEADER.size:
            raise MessageError("state", f"must have at least {cls.HEADER.size} bytes, got {len(data)}")
        magic, scene, frame, flags, *rest = cls.HEADER.unpack_from(data)
        numbers, (picture_frame, damage, *lengths, n_contacts) = rest[:8], rest[8:]
        counts = (*lengths, 6 * n_contacts)
        expected = cls.HEADER.size + 4 * sum(counts)
        if magic != cls.MAGIC or len(data) != expected:
            raise MessageError(
                "state", f"must be {cls.MAGIC!r} and {expected} bytes, got {magic!r} and {len(data)}"
            )
        floats = np.frombuffer(data, "<f4", offset=cls.HEADER.size)
        picture, *arrays, contacts = np.split(floats, np.cumsum(counts)[:-1])
        contacts = contacts.reshape(-1, 6)
        values = (scene, frame, Flag(flags), *numbers, *arrays, contacts, picture, picture_frame, damage)
        return cls(**dict(zip((each.name for each in fields(cls)), values, strict=True)))

    @classmethod
    def without_contacts(cls, data: bytes) -> bytes:
        """Remove the contact loads, which are the end, from a packed state."""
        head = list(cls.HEADER.unpack_from(data))
        if head[-1] == 0 and not head[3] & Flag.CONTACTS:
            return data
        loads = 4 * 6 * head[-1]
        head[3], head[-1] = head[3] & ~Flag.CONTACTS, 0
        return cls.HEADER.pack(*head) + data[cls.HEADER.size : len(data) - loads]
