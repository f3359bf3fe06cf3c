"""Messages of clients: JSON text, validated as a whole.

Unknown keys, wrong types, numbers out of range and NaN are refused, so that what passes needs no other check
but whether the names in it are offered, and the client's role allows it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from segtrack.courses import LEAST_VISIBILITY, MOST_VISIBILITY, Cameras, Light
from segtrack.errors import MessageError

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
    """First message of a client: its name, and the role that it wants."""

    type: Literal["hello"] = "hello"
    name: _Name
    role: Role


class ControlsMessage(_Message):
    """Inputs held by a person, sent 50 times a second while driving.

    Attributes:
        seq: Sequence number; a message is dropped unless it exceeds the last one's.
        time: Client's clock [ms].
        axes: Gamepad sticks: left x, y, right x, y; right and down positive, as in the Gamepad API.
        buttons: Gamepad buttons in the order of the W3C standard gamepad.
        keys: Pressed keys, by `KeyboardEvent.code`.
        touch: Touch sticks, in the order of `axes`.
        dead_man: True while a finger is on the touch screen's sticks.
        touch_flippers: Names of the flippers that the touch stick moves; empty for all.
        visible: True while the page is visible and has the focus; otherwise belts stop.
        delay: Last time that the client measured from its controls to the picture of their effect [ms].
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
    """Request to take the driver's seat (instructor), give it to a client, or release it."""

    type: Literal["request"] = "request"
    action: Literal["take", "give", "release"]
    to: _Count | None = None


class Setup(_Message):
    """Vehicle, course and simulation of a run; names are among the welcome's options.

    Attributes:
        setting: Value of the course's setting, such as a height; None for the course's own.
        friction: Friction coefficient of the ground [-]; None for the course's own.
        soil: Name of a soil; None for rigid ground.
        payload: Mass on the vehicle [kg].
        time_step: Simulation time step, 0.001 or 0.002 [s].
        seed: Seed, stored with the run; nothing in the simulation is random.
        cameras: `real`: the vehicle's own cameras only (not for instructors who look on); None: any view.
        light: `dark` for the vehicle's own lamps only; None for daylight.
        visibility: Distance at which smoke leaves 5 % of the contrast [m]; None without smoke.
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
    """Order to build another simulation (driver or instructor)."""

    type: Literal["configure"] = "configure"
    setup: Setup


class RunRequest(_Message):
    """Order to start, pause, reset or stop the run (driver or instructor)."""

    type: Literal["run"] = "run"
    action: Literal["start", "pause", "reset", "stop"]


class EmergencyStop(_Message):
    """Emergency stop: belts stop and flippers hold until it is released (anyone but onlookers may set it)."""

    type: Literal["e_stop"] = "e_stop"
    on: bool


class TrialRequest(_Message):
    """Order to begin or abandon a scored trial, give up a repetition for help, or raise the course's setting.

    The operator is whoever drives when it begins. With `expert`, an instructor makes the operator of the
    last trial the expert for the present course, setting and vehicle.
    """

    type: Literal["trial"] = "trial"
    action: Literal["begin", "abandon", "help", "raise", "expert"]
    repetitions: Literal[10, 20, 30] = 10


class ExerciseRequest(_Message):
    """Order to build an exercise's simulation to practise, or to begin its trial (driver or instructor)."""

    type: Literal["exercise"] = "exercise"
    action: Literal["practise", "begin"]
    exercise: _Name


class LinkQuality(_Message):
    """Delay and loss of one direction of a degraded link.

    Attributes:
        delay: Smallest delay [s].
        jitter: Largest addition to the delay, uniformly distributed [s].
        loss: Probability that a message, or a video packet, is lost.
        rate: Largest number of messages per second [1/s].
    """

    delay: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    jitter: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    loss: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    rate: Annotated[float, Field(ge=0.1, le=100.0)] = 100.0


class LinkRequest(_Message):
    """Order to degrade a client's link (instructor): its picture, telemetry and commands."""

    type: Literal["link"] = "link"
    client: _Count
    video: LinkQuality = LinkQuality()
    telemetry: LinkQuality = LinkQuality()
    command: LinkQuality = LinkQuality()
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0

    @property
    def in_words(self) -> str:
        """Deviations of each direction from a perfect link, in words; equal only for equal qualities."""
        ways = {"picture": self.video, "readings": self.telemetry, "commands": self.command}
        units = {"delay": " s", "jitter": " s", "loss": "", "rate": " a second"}
        told = {way: quality.model_dump(exclude_defaults=True) for way, quality in ways.items()}
        words = {
            way: [f"{name} {values[name]}{units[name]}" for name in values] for way, values in told.items()
        }
        return "; ".join(f"{way} {', '.join(those)}" for way, those in words.items() if those)


class ReplayRequest(_Message):
    """Order to open, play, pause, seek or close a recording; with a time, playing starts there."""

    type: Literal["replay"] = "replay"
    action: Literal["open", "play", "pause", "seek", "close"]
    recording: _Name | None = None
    time: Annotated[float, Field(ge=0.0, le=1e6)] | None = None
    speed: Annotated[float, Field(ge=0.1, le=10.0)] = 1.0


class DeleteRequest(_Message):
    """Order to delete a recording (instructor)."""

    type: Literal["delete"] = "delete"
    recording: _Name


class GhostRequest(_Message):
    """Order to show a recording's vehicle beside the driven one; None removes it."""

    type: Literal["ghost"] = "ghost"
    recording: _Name | None = None


class ReportRequest(_Message):
    """Request for the link of the operator's report."""

    type: Literal["report"] = "report"


class ViewRequest(_Message):
    """Choice of the data in this client's states."""

    type: Literal["view"] = "view"
    contacts: bool


class Ping(_Message):
    """Request for an answer with the server's clock."""

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
    """Parse and validate a client's message.

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
