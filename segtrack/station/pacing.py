"""Ticks on the wall clock, without drift, and how well they are kept.

Tick k is due at the start plus k ticks, however late those before it were: small delays are caught up. What
is later than `MAX_CATCH_UP` is not: the start moves, and simulated time falls behind for good.
"""

from __future__ import annotations

from collections import deque

MAX_CATCH_UP = 0.1
"""Delay that the ticks after it make up for [s]; of a longer one, the rest is dropped."""
_WINDOW = 2.0
"""Time over which the real-time factor is taken [s]."""


class DeadlineClock:
    """Schedule of the ticks.

    Attributes:
        ticks: Ticks ended since the start.
        late: Ticks that ended more than a tick after they were due.
        dropped: Delay that was not caught up [s].
    """

    def __init__(self, tick: float, now: float) -> None:
        """Start at time `now` [s]; the first tick is due one `tick` [s] later."""
        self.tick = tick
        self._ends: deque[tuple[float, int]] = deque()
        self.start(now)

    def start(self, now: float) -> None:
        """Restart at time `now` [s]."""
        self.ticks, self.late, self.dropped = 0, 0, 0.0
        self._start = now
        self._ends.clear()
        self._ends.append((now, 0))

    def end(self, now: float) -> float:
        """Count a tick that ended at `now`; returns how long to wait for its due time [s], >= 0."""
        self.ticks += 1
        behind = now - (self._start + self.ticks * self.tick)
        if behind > self.tick:
            self.late += 1
        if behind > MAX_CATCH_UP:
            self.dropped += behind - MAX_CATCH_UP
            self._start += behind - MAX_CATCH_UP
        self._ends.append((now + max(0.0, -behind), self.ticks))
        while self._ends[0][0] < now - _WINDOW and len(self._ends) > 2:
            self._ends.popleft()
        return max(0.0, -behind)

    @property
    def late_share(self) -> float:
        """Fraction of all ticks that were late."""
        return self.late / max(self.ticks, 1)

    @property
    def real_time_factor(self) -> float:
        """Simulated over elapsed time, of the last seconds."""
        (began, first), (ended, last) = self._ends[0], self._ends[-1]
        return (last - first) * self.tick / (ended - began) if ended > began else 1.0
