"""Contact loads for whoever looks at them: read in time that the simulation has left, or not at all."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from segtrack.recording.session import DriveSession
from segtrack.station.scene import read_contact_forces

LOADS_PERIOD = 1 / 30
"""Shortest time between two readings [s]."""
STALE = 0.5
"""Age from which on loads are no longer shown [s]."""
_FORGETTING = 0.9
"""Factor on the longest reading so far, at each chance to read: one that was slow once is tried again."""
_NONE = np.empty((0, 6))
_NONE.setflags(write=False)


class LoadReader:
    """Latest contact loads of a drive, which cost its ticks nothing.

    Attributes:
        wanted: True while somebody looks at them.
    """

    def __init__(self, session: DriveSession) -> None:
        """Read once, so that everything is compiled before the drive begins."""
        self.wanted = False
        self._session = session
        self._rows, self._read_at, self._cost = _NONE, -np.inf, 0.0
        read_contact_forces(session)

    def update(self, spare: float) -> None:
        """Read anew where it is wanted and due, and as long as a reading fits into `spare` [s]."""
        begun = time.monotonic()
        if not self.wanted or begun - self._read_at < LOADS_PERIOD:
            return
        if self._cost > spare:
            self._cost *= _FORGETTING
            return
        self._rows = read_contact_forces(self._session)
        self._read_at = time.monotonic()
        self._cost = max(self._read_at - begun, _FORGETTING * self._cost)

    def latest(self, now: float) -> NDArray[np.float64] | None:
        """Return points and forces (c, 6) [m, N]; None where nobody looks, or there was no time for long."""
        return self._rows if self.wanted and now - self._read_at <= STALE else None
