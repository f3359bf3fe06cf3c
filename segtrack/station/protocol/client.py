"""Messages of clients: JSON text, checked as a whole.

Unknown keys, wrong types, numbers out of range and NaN are refused, so that what passes needs no other check
but whether the names in it are offered, and the client's role allows it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from segtrack.errors import MessageError
from segtrack.scoring import LEAST_VISIBILITY, MOST_VISIBILITY, Cameras, Light

MAX_MESSAGE = 4096
"""Largest message of a client [B]."""
BUTTONS = 17
"""Buttons of a W3C standard gamepad."""

Role: TypeAlias = Literal["driver", "instructor", "onlooker"]
_Axis: TypeAlias = Annotated[float, Field(ge=-1.0, le=1.0)]
_Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
_Key: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,24}$")]
_Count: TypeAlias = Annotated[int, Field(ge=0, le=2**53)]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Hello(_Message):
    """A client's first message: who it is, and what it would like to be."""

    type: Literal["hello"] = "hello"
    name: _Name
    role: Role


class ControlsMessage(_Message):
    """Inputs that a person holds, sent 50 times a second while driving.

    Attributes:
        seq: Number of the message; a smaller or equal one than the last is dropped.
        time: The client's clock [ms].
        axes: Sticks, left x, y, right x, y; down and right positive, as the Gamepad API has them.
        buttons: Buttons of the W3C standard gamepad, in its order.
        keys: `KeyboardEvent.code` of each key that is down.
        touch: Touch sticks, left x, y, right x, y, as `axes`.
        dead_man: True while a finger is on the touch screen's sticks.
        touch_flippers: Names of the flippers that the touch stick moves; all if there are none.
        visible: True while the page is seen and has the focus; if not, belts stop.
        delay: Time from controls to the picture of what they did, as the client saw it last [ms].
    """

    type: Literal["controls"] = "controls"
    seq: _Count
    time: Annotated[float, Field(ge=0.0)]
    axes: tuple[_Axis, _Axis, _Axis, _Axis]
    buttons: Annotated[tuple[bool, ...], Field(min_length=BUTTONS, max_length=BUTTONS)]
    keys: Annotated[tuple[_Key, ...], Field(max_length=16)]
    touch: tuple[_Axis, _Axis, _Axis, _Axis]
    dead_man: bool
    touch_flippers: Annotated[tuple[_Name, ...], Field(max_length=16)] = ()
    visible: bool
    delay: Annotated[float, Field(ge=0.0, le=1e6)] | None = None


class RoleRequest(_Message):
    """Take the driver's seat (instructor), give it to a client, or release it."""

    type: Literal["request"] = "request"
    action: Literal["take", "give", "release"]
    to: _Count | None = None


class Setup(_Message):
    """Vehicle, course and simulation of a run; names are those of the welcome's options.

    Attributes:
        setting: Value of the course's setting, e.g. a height; None takes the course's own.
        friction: Friction coefficient of the ground [-]; None takes the course's own.
        soil: Name of a soil; None is rigid ground.
        payload: Mass on the vehicle [kg].
        time_step: Simulation time step, 0.001 or 0.002 [s].
        seed: Held for what is random in the station; nothing in the simulation is.
        cameras: `real` shows the vehicle's own cameras alone, but to instructors who look on; None: any view.
        light: `dark` leaves the vehicle's own lamps alone; None is daylight.
        visibility: Distance at which smoke leaves 5 % of the contrast [m]; None is without smoke.
    """

    vehicle: _Name
    track_model: _Name = "compliant"
    engine: _Name = "native"
    course: _Name
    setting: float | None = None
    friction: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    soil: _Name | None = None
    payload: Annotated[float, Field(ge=0.0, le=1e4)] = 0.0
    time_step: Annotated[float, Field(ge=1e-4, le=0.01)] = 0.001
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    cameras: Cameras | None = None
    light: Light | None = None
    visibility: Annotated[float, Field(ge=LEAST_VISIBILITY, le=MOST_VISIBILITY)] | None = None


class Configure(_Message):
    """Build another simulation (driver or instructor)."""

    type: Literal["configure"] = "configure"
    setup: Setup


class RunRequest(_Message):
    """Start, pause, reset to the start, or stop (driver or instructor)."""

    type: Literal["run"] = "run"
    action: Literal["start", "pause", "reset", "stop"]


class EmergencyStop(_Message):
    """Belts stop and flippers hold until it is released (anyone sets it but onlookers)."""

    type: Literal["e_stop"] = "e_stop"
    on: bool


class TrialRequest(_Message):
    """Begin or abandon a scored trial, give a repetition up for help, or raise the course's setting.

    The operator is whoever drives when it begins. With `expert`, an instructor makes the operator of the
    last trial the expert for the present course, setting and vehicle.
    """

    type: Literal["trial"] = "trial"
    action: Literal["begin", "abandon", "help", "raise", "expert"]
    repetitions: Literal[10, 20, 30] = 10


class ExerciseRequest(_Message):
    """Build what an exercise is driven with, to practise it, or to begin its trial (driver or instructor)."""

    type: Literal["exercise"] = "exercise"
    action: Literal["practise", "begin"]
    exercise: _Name


class LinkQuality(_Message):
    """One direction of a degraded link.

    Attributes:
        delay: Smallest [s].
        jitter: Largest delay more than that, drawn evenly [s].
        loss: Probability that a message, or a packet of video, is lost.
        rate: Most messages in a second [1/s].
    """

    delay: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    jitter: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    loss: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    rate: Annotated[float, Field(ge=0.1, le=100.0)] = 100.0


class LinkRequest(_Message):
    """Degrade a client's link (instructor alone): its picture, its instruments and its commands."""

    type: Literal["link"] = "link"
    client: _Count
    video: LinkQuality = LinkQuality()
    telemetry: LinkQuality = LinkQuality()
    command: LinkQuality = LinkQuality()
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0

    @property
    def in_words(self) -> str:
        """Differences of each way from a perfect one, in words; equal for equal qualities alone."""
        ways = {"picture": self.video, "readings": self.telemetry, "commands": self.command}
        units = {"delay": " s", "jitter": " s", "loss": "", "rate": " a second"}
        told = {way: quality.model_dump(exclude_defaults=True) for way, quality in ways.items()}
        words = {
            way: [f"{name} {values[name]}{units[name]}" for name in values] for way, values in told.items()
        }
        return "; ".join(f"{way} {', '.join(those)}" for way, those in words.items() if those)


class ReplayRequest(_Message):
    """Look at a recording; its name is one of the status's list. A time plays it from there on."""

    type: Literal["replay"] = "replay"
    action: Literal["open", "play", "pause", "seek", "close"]
    recording: _Name | None = None
    time: Annotated[float, Field(ge=0.0, le=1e6)] | None = None
    speed: Annotated[float, Field(ge=0.1, le=10.0)] = 1.0


class DeleteRequest(_Message):
    """Delete a recording (instructor alone)."""

    type: Literal["delete"] = "delete"
    recording: _Name


class GhostRequest(_Message):
    """Show a recording's vehicle beside the driven one; None ends it."""

    type: Literal["ghost"] = "ghost"
    recording: _Name | None = None


class ReportRequest(_Message):
    """Ask for the link of the operator's report."""

    type: Literal["report"] = "report"


class ViewRequest(_Message):
    """Choose what this client's states hold."""

    type: Literal["view"] = "view"
    contacts: bool


class Ping(_Message):
    """Ask for an answer with the server's clock."""

    type: Literal["ping"] = "ping"
    time: Annotated[float, Field(ge=0.0)]


ClientMessage: TypeAlias = (
    Hello
    | ControlsMessage
    | RoleRequest
    | Configure
    | RunRequest
    | EmergencyStop
    | TrialRequest
    | ExerciseRequest
    | LinkRequest
    | ReplayRequest
    | GhostRequest
    | DeleteRequest
    | ReportRequest
    | ViewRequest
    | Ping
)
_CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)


def read_message(text: str | bytes) -> ClientMessage:
    """Return a client's message.

    Raises:
        MessageError: It is too long, no JSON, or none of the messages there are.
    """
    if len(text) > MAX_MESSAGE:
        raise MessageError("", f"must have at most {MAX_MESSAGE} bytes, got {len(text)}")
    try:
        return _CLIENT_MESSAGE.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise MessageError(".".join(map(str, first["loc"])), first["msg"]) from None
