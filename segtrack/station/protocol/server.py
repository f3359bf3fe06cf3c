"""What the station sends as JSON text."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from segtrack.station.protocol.client import Role, Setup

RunState: TypeAlias = Literal["compiling", "ready", "running", "paused", "stopped", "failed"]


class CourseOption(BaseModel):
    """A course on offer."""

    name: str
    title: str
    settings: tuple[float, ...] = ()
    setting_name: str | None = None
    unit: str | None = None


class Options(BaseModel):
    """What can be chosen on the page."""

    vehicles: tuple[str, ...]
    track_models: tuple[str, ...]
    engines: tuple[str, ...]
    courses: tuple[CourseOption, ...]
    soils: tuple[str, ...]


class ClientInfo(BaseModel):
    """A client as others see it."""

    id: int
    name: str
    role: Role


class TrialStatus(BaseModel):
    """A trial as it stands.

    Attributes:
        repetitions: To be tried at most.
        done: Completed.
        failures: Repetitions that failed.
        rate: Repetitions a minute, or metres a minute on a terrain.
        unit: Of the rate.
        passed: Once it is over.
        paused: Fault that paused it.
        confidence: With which the reliability that is wanted is shown.
        expert_fraction: Rate over the expert's; None without one.
        next_gate: Index of the gate to pass next.
        events: The last 20, oldest first: clock [s], kind, text.
    """

    operator: str
    repetitions: int
    done: int
    failures: int
    rate: float | None
    unit: str
    over: bool
    passed: bool | None
    paused: str | None
    confidence: float | None
    expert_fraction: float | None
    next_gate: int
    events: tuple[dict[str, Any], ...]


class Status(BaseModel):
    """The station as it stands; sent when it changes, at most five times a second.

    Attributes:
        role: Of the client that gets it: `driver` for an instructor, too, who drives.
        clients: All; an instructor's role is `instructor`, also while driving.
        driver: Id of the driving client.
        reason: Why the belts are held, or the run failed, or "".
        recordings: Names of recordings that can be opened, newest first.
        replay: Recording that is looked at: name, time, duration [s], playing, speed; else None.
        ghost: Name of the recording that is shown beside.
        link: Degradation of this client's link.
        links: Degradation of each client's link, for instructors.
    """

    type: Literal["status"] = "status"
    role: Role
    driver: int | None
    clients: tuple[ClientInfo, ...]
    run: RunState
    reason: str
    setup: Setup | None
    trial: TrialStatus | None
    recordings: tuple[str, ...]
    replay: dict[str, Any] | None
    ghost: str | None
    link: dict[str, Any] | None
    links: dict[int, dict[str, Any]] | None
    message: str


class Welcome(BaseModel):
    """The answer to a hello."""

    type: Literal["welcome"] = "welcome"
    client: int
    role: Role
    options: Options


class Scene(BaseModel):
    """What there is to see; sent when it changes.

    Attributes:
        number: Which states belong to it.
        look: `VehicleLook.as_json()`.
        ground: Mesh of the ground.
        course: Title, gates, walls and bounds.
        ghost: The ghost's look; None without one.
        readings: Names of a state's readings.
    """

    type: Literal["scene"] = "scene"
    number: int
    look: dict[str, Any]
    ground: dict[str, Any]
    course: dict[str, Any]
    ghost: dict[str, Any] | None
    readings: tuple[str, ...]


class ErrorAnswer(BaseModel):
    """A message of the client was refused."""

    type: Literal["error"] = "error"
    what: str


class Pong(BaseModel):
    """The answer to a ping: the client's time [ms], and the station's [s]."""

    type: Literal["pong"] = "pong"
    time: float
    server: float


class ReportLink(BaseModel):
    """Where the operator's report can be read."""

    type: Literal["report"] = "report"
    link: str
