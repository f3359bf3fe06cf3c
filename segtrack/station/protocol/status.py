"""Status of the station: who is here, what runs, and how far trials and exercises have come."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from segtrack.station.protocol.client import Role, Setup

RunState: TypeAlias = Literal["compiling", "ready", "running", "paused", "stopped", "failed"]


class ClientInfo(BaseModel):
    """A client as others see it."""

    id: int
    name: str
    role: Role


class ExerciseStatus(BaseModel):
    """Progress of a client's person in an exercise.

    Attributes:
        name: Name of the exercise.
        title: Title for people.
        lesson: True if the controls are explained before its trial.
        course: Name of the course.
        complete: Repetitions that are to be completed.
        failures: Repetitions that may fail before.
        rate: Least rate; None for any.
        unit: Unit of the rate.
        tries: Trials so far.
        passed: True if one of them passed it.
        open: True if all exercises before are passed.
    """

    name: str
    title: str
    lesson: bool
    course: str
    complete: int
    failures: int
    rate: float | None
    unit: str
    tries: int
    passed: bool
    open: bool


class TrialStatus(BaseModel):
    """Progress of a trial.

    Attributes:
        exercise: Name of its exercise; None if it is of none.
        repetitions: Most repetitions.
        done: Completed.
        failures: Repetitions that failed.
        void: Repetitions that do not count, since the simulation was too slow.
        rate: Repetitions a minute, or metres a minute on a terrain.
        unit: Unit of the rate.
        passed: Outcome once it is over.
        paused: Fault that paused it.
        confidence: Confidence in the reliability that is wanted.
        expert_fraction: Rate over the expert's; None without one.
        next_gate: Index of the gate to pass next.
        events: The last 20, oldest first: clock [s], kind, text.
        recording: Name of its recording.
        moment: Time of the last fault in the recording [s]; None before one.
        splits: Times of the gates since the repetition began, of the last one that passed a gate [s].
        ghost_splits: Times of the gates in the fastest repetition of the ghost [s].
    """

    operator: str
    exercise: str | None = None
    repetitions: int
    done: int
    failures: int
    void: int
    rate: float | None
    unit: str
    over: bool
    passed: bool | None
    paused: str | None
    confidence: float | None
    expert_fraction: float | None
    next_gate: int
    events: tuple[dict[str, Any], ...]
    recording: str = ""
    moment: float | None = None
    splits: tuple[float, ...] = ()
    ghost_splits: tuple[float, ...] = ()


class StatusMessage(BaseModel):
    """State of the station; sent when it changes, at most five times a second.

    Attributes:
        role: Role of the client that gets it: `driver` for an instructor, too, who drives.
        clients: All; an instructor's role is `instructor`, also while driving.
        driver: Id of the driving client.
        queue: Ids of the clients that wait for the seat, the next one first.
        syllabus: Title of the exercises.
        exercises: Progress of this client's person in them.
        reason: Reason for which the run failed, or "".
        prioritized: False if the operating system does not put the simulation before other programs.
        recordings: Names of recordings that can be opened, newest first.
        replay: Recording that is looked at: name, time, duration [s], playing, speed, faults; else None.
        ghost: Name of the recording that is shown beside.
        opening: Share of a recording that was read, while one is being opened; else None.
        link: Degradation of this client's link.
        links: Degradation of each client's link, for instructors.
    """

    type: Literal["status"] = "status"
    role: Role
    driver: int | None
    queue: tuple[int, ...]
    syllabus: str
    exercises: tuple[ExerciseStatus, ...]
    clients: tuple[ClientInfo, ...]
    run: RunState
    reason: str
    prioritized: bool = True
    setup: Setup | None
    trial: TrialStatus | None
    recordings: tuple[str, ...]
    replay: dict[str, Any] | None
    ghost: str | None
    opening: float | None
    link: dict[str, Any] | None
    links: dict[int, dict[str, Any]] | None
    message: str
