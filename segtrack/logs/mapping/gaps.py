"""The piece of a signal that is used, and the times in it without a value.

What was measured must not be missing for long: a line between two values far apart is no measurement. What
was commanded holds until the next command.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from segtrack.errors import Problem
from segtrack.logs.motion import Signal

_JUST_BEFORE = 1e-3
"""How long before the next command a held one ends, at most [s]."""


def used_piece(
    key: str,
    path: str,
    signal: Signal,
    limits: tuple[float | None, float | None],
    max_gap: float,
    notes: list[str],
) -> tuple[Signal, Problem | None]:
    """The part of a signal between two times, and what is wrong with it.

    Args:
        key: Of the signal.
        path: Of its quantity in the mapping file.
        signal: On the motion's clock.
        limits: Where the piece begins and ends [s]; None for where the log does.
        max_gap: Time without a value that may be bridged [s].
        notes: Where it is noted that commands were held.
    """
    start, end = (-np.inf if limits[0] is None else limits[0]), (np.inf if limits[1] is None else limits[1])
    inside = (signal.times >= start) & (signal.times <= end)
    if not inside.any():
        first, last = signal.times[0], signal.times[-1]
        piece = f"from {max(start, 0.0):.4g} s to {'the end' if end == np.inf else f'{end:.4g} s'}"
        return signal, Problem(path, f"has no value {piece}: it has some from {first:.4g} to {last:.4g} s")
    part = replace(signal, times=signal.times[inside], values=signal.values[inside])
    gaps = np.flatnonzero(np.diff(part.times) > max_gap)
    if not len(gaps):
        return part, None
    if key.split(".")[0].endswith("_command"):
        notes.append(f"{key}: {len(gaps)} commands hold for more than {max_gap:g} s, until the next")
        return _held(part, gaps), None
    longest = int(gaps[np.argmax(np.diff(part.times)[gaps])])
    begin, until = part.times[longest], part.times[longest + 1]
    more = f", nor in {len(gaps) - 1} shorter gaps" if len(gaps) > 1 else ""
    message = (
        f"has no value for {until - begin:.3g} s, from {begin:.4g} to {until:.4g} s{more}; "
        f"at most {max_gap:g} s are bridged: see start, end and max_gap"
    )
    return part, Problem(path, message)


def _held(signal: Signal, gaps: np.ndarray) -> Signal:
    """A signal whose values hold over gaps."""
    spans = np.diff(signal.times)[gaps]
    before = signal.times[gaps + 1] - np.minimum(_JUST_BEFORE, spans / 10)
    return replace(
        signal,
        times=np.insert(signal.times, gaps + 1, before),
        values=np.insert(signal.values, gaps + 1, signal.values[gaps], axis=0),
    )
