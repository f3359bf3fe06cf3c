"""What the web process orders, and what the simulation reports: rare things, through a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from segtrack.recording.setup import DriveSetup
from segtrack.scoring import Result
from segtrack.station.protocol import RunState

TrialAction: TypeAlias = Literal["begin", "abandon", "help"]


@dataclass(frozen=True)
class Build:
    """Build another drive; its states have this scene number."""

    scene: int
    setup: DriveSetup


@dataclass(frozen=True)
class SetRun:
    """Start, pause, reset to the start, or stop."""

    action: Literal["start", "pause", "reset", "stop"]


@dataclass(frozen=True)
class SetTrial:
    """Begin or abandon a trial, or note that somebody helped."""

    action: TrialAction
    operator: str
    repetitions: int
    conditions: Mapping[str, str]


@dataclass(frozen=True)
class ShowContacts:
    """Put contact loads into states, or leave them out."""

    on: bool


@dataclass(frozen=True)
class Close:
    """End the process."""


Order: TypeAlias = Build | SetRun | SetTrial | ShowContacts | Close


@dataclass(frozen=True)
class Taken:
    """An order was carried out, or failed and said so."""


@dataclass(frozen=True)
class RunReport:
    """The state of the run, and why."""

    state: RunState
    reason: str = ""


@dataclass(frozen=True)
class SceneReport:
    """What there is to see: the fields of `protocol.Scene`."""

    fields: dict[str, Any]


@dataclass(frozen=True)
class TrialReport:
    """How a trial stands: the fields of `protocol.TrialStatus`."""

    fields: dict[str, Any]


@dataclass(frozen=True)
class TrialEnded:
    """A trial has ended; what came of it."""

    result: Result


@dataclass(frozen=True)
class Refused:
    """An order could not be carried out, and why; nothing has changed."""

    reason: str


@dataclass(frozen=True)
class RecordingReport:
    """A recording was closed; its file's name."""

    name: str


Report: TypeAlias = Taken | Refused | RunReport | SceneReport | TrialReport | TrialEnded | RecordingReport
