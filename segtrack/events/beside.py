"""Two events beside each other at the same instant: the largest pitch of the first one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from segtrack.events.event_result import EventResult, EventSetup
from segtrack.events.histories import END, PITCHED, chains_at
from segtrack.events.limits import read_chains
from segtrack.events.run import CONTROL_TIME, EventObserver, EventProgress, run_event
from segtrack.experiments import ChainHistory


@dataclass(frozen=True, eq=False)
class EventInstant:
    """A vehicle at an instant of an event.

    Attributes:
        result: Result of the event.
        time: Instant [s].
        chains: History of its link chains, that one sample; None of other track models.
    """

    result: EventResult
    time: float
    chains: ChainHistory | None

    @property
    def sample(self) -> int:
        """Index of the instant in the event's motion."""
        return int(np.argmin(np.abs(self.result.motion.times - self.time)))


def run_beside(
    first: EventSetup,
    second: EventSetup,
    observers: tuple[EventObserver, EventObserver] = (lambda now: None, lambda now: None),
) -> tuple[EventInstant, EventInstant]:
    """Run two events, and return both at the instant of the first one's largest pitch.

    That is the largest of its passage, up or down, or the end of an event that does not come to its obstacle.
    The second one is at its end if it ended before.

    Args:
        first: Event that says the instant.
        second: Event that is looked at then, too.
        observers: Observer of each.

    Raises:
        SegtrackError: A setup cannot be.
        EventInterrupted: Ctrl-C.
    """
    result = run_event(first, observer=observers[0])
    time, kept = result.pitched_time, None

    def watch(now: EventProgress) -> None:
        nonlocal kept
        if now.world.time < time + CONTROL_TIME / 2 and (readings := read_chains(now.robot)):
            kept = chains_at(now.robot, now.world.time, readings)
        observers[1](now)

    other = run_event(second, observer=watch)
    chains = result.chains.get(PITCHED, result.chains.get(END))
    ended = min(time, float(other.motion.times[-1]))
    return EventInstant(result, time, chains), EventInstant(other, ended, kept)
