"""Contact loads for the page: read in the simulation's spare time, or not at all."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from segtrack.recording import DriveSession
from segtrack.station.scene import read_contact_forces

LOADS_PERIOD = 1 / 30
"""Shortest time between two readings [s]."""
STALE = 0.5
"""Age from which on loads are no longer shown [s]."""
SHARE = 1e-3
"""Largest fraction of the time that readings take which do not fit into what a tick leaves."""
_NONE = np.empty((0, 6))
_NONE.setflags(write=False)


class LoadReader:
    """Reader of a drive's latest contact loads, which delays at most a thousandth of its ticks.

    Attributes:
        wanted: True while a client shows them.
    """

    def __init__(self, session: DriveSession) -> None:
        """Read once, so that everything is compiled before the drive begins."""
        self.wanted = False
        self._session = session
        self._rows, self._read_at, self._cost = _NONE, -np.inf, 0.0
        read_contact_forces(session)

    def update(self, spare: float) -> None:
        """Read the loads if they are wanted and due.

        They are due `LOADS_PERIOD` after the last reading; if that took longer than `spare`, not before its
        duration is `SHARE` of the time since.

        Args:
            spare: Time that is left until the tick ends [s]; negative if it is late.
        """
        begun = time.monotonic()
        period = LOADS_PERIOD if self._cost <= spare else self._cost / SHARE
        if self.wanted and begun - self._read_at >= period:
            self._rows = read_contact_forces(self._session)
            self._read_at = time.monotonic()
            self._cost = self._read_at - begun

    def latest(self, now: float) -> NDArray[np.float64] | None:
        """Return points and forces (c, 6) [m, N]; None if not wanted, or not read for long."""
        return self._rows if self.wanted and now - self._read_at <= STALE else None
