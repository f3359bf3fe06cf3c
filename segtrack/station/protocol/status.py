"""Status of the station: clients, run, trials and exercises."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from segtrack.station.protocol.client import Role, Setup

RunState: TypeAlias = Literal["compiling", "ready", "running", "paused", "stopped", "failed"]


class ClientInfo(BaseModel):
    """Client as listed for others: id, name and role."""

    id: int
    name: str
    role: Role


class ExerciseStatus(BaseModel):
    """Progress of a person in an exercise.

    Attributes:
        name: Name of the exercise.
        title: Title for people.
        lesson: True if the controls are explained before the trial.
        course: Name of the course.
        complete: Number of repetitions to complete.
        failures: Number of failed repetitions that are allowed before.
        rate: Smallest rate that passes; None for any.
        unit: Unit of the rate.
        tries: Number of trials so far.
        passed: True if one of the trials passed.
        open: True if all earlier exercises are passed.
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
        exercise: Name of the trial's exercise; None if it belongs to none.
        repetitions: Largest number of repetitions.
        done: Number of completed repetitions.
        failures: Number of failed repetitions.
        void: Number of repetitions that do not count, because the simulation was too slow.
        rate: Repetitions per minute, or metres per minute on a terrain.
        unit: Unit of the rate.
        passed: Outcome once it is over.
        paused: Fault that paused it.
        confidence: Confidence in the required reliability [-].
        expert_fraction: Ratio of the rate to the expert's [-]; None without an expert.
        next_gate: Index of the gate to pass next.
        events: Last 20 events, oldest first: clock [s], kind, text.
        recording: Name of the trial's recording.
        moment: Time of the last fault in the recording [s]; None before one.
        splits: Gate times of the last repetition that passed a gate, since its beginning [s].
        ghost_splits: Gate times of the ghost's fastest repetition [s].
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
    """State of the station for one client; sent when it changes, at most five times a second.

    Attributes:
        role: Role of the receiving client: `driver` also for an instructor who drives.
        clients: All clients; an instructor's role is `instructor`, also while driving.
        driver: Id of the driving client.
        queue: Ids of the clients that wait for the seat, next one first.
        syllabus: Title of the exercises.
        exercises: Progress of this client's person in the exercises.
        reason: Reason why the run failed, or "".
        prioritized: False if the operating system refuses the simulation a higher priority.
        recordings: Names of recordings that can be opened, newest first.
        replay: Replayed recording: name, time, duration [s], playing, speed, faults; None without one.
        ghost: Name of the recording shown as a ghost.
        opening: Fraction read of a recording that is being opened; else None.
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
