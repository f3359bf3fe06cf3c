"""Numbers of two motions and their phases, from what both have in common.

A number of a phase is that of each motion's own, at the instants at which both motions are known: a gap of
the one is a gap of the other. It takes a phase that the same phase follows in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.compare.motions.phases import CLIMB_PHASES, DRIVE, Phases
from segtrack.logs.compare.motions.responses import Responses
from segtrack.logs.compare.motions.sampling import WINDOW

WHOLE = "whole"
_MIN_TURN = 0.02
"""Rate of turning without slip, root mean square, from which yaw rates are compared [rad/s]."""
_MIN_WAY = 0.02
"""Belt travel in a phase from which it has a slip [m]."""

NumberKey = tuple[str, str]
"""Quantity and phase."""
Known = NDArray[np.bool_]


class Number(NamedTuple):
    """A quantity of a phase."""

    unit: str
    value: float


def windows_of(phases: Phases, begin: float, end: float) -> dict[str, tuple[float, float]]:
    """From when to when each phase is, and `WHOLE` [s]."""
    found = {phase.name: (phase.begin, phase.end) for phase in phases.phases if phase.name != DRIVE}
    return {WHOLE: (begin, end)} | found


def shared_numbers(simulated: Responses, logged: Responses) -> dict[NumberKey, tuple[Number, Number]]:
    """Simulated and logged number of each quantity and phase that both have."""
    mine, theirs = dict(_numbers(simulated, logged)), dict(_numbers(logged, simulated))
    return {key: (number, theirs[key]) for key, number in mine.items() if key in theirs}


def peak_is_hidden(own: Responses, other: Responses) -> bool:
    """Whether a motion's pitch has a gap while it climbs, after both are known first and before they end."""
    span, lift = _span(own, other), own.phases.find("nose lift")
    if span is None or lift is None:
        return False
    settling = own.phases.find("settling")
    times = own.motion.times[span]
    climbs = (times >= lift.begin) & (times < (np.inf if settling is None else settling.begin))
    return bool(np.isnan(own.series["pitch"][span][climbs]).any())


def _numbers(own: Responses, other: Responses) -> Iterator[tuple[NumberKey, Number]]:
    if own.phases.time_to_crest is not None:
        yield ("time to crest", WHOLE), Number("s", own.phases.time_to_crest)
    # On level ground it would be the largest that is left of noise; other phases than the pivot have theirs
    # where they begin or end, at a level.
    span = _span(own, other)
    if span is not None and own.phases.is_climb and not peak_is_hidden(own, other):
        yield ("peak pitch", WHOLE), Number("rad", float(np.nanmax(own.series["pitch"][span])))
    for name in CLIMB_PHASES[1:-1]:
        phase, follows = own.phases.find(name), own.phases.after(name)
        if phase is not None and follows is not None and follows == other.phases.after(name):
            yield ("duration", name), Number("s", phase.end - phase.begin)
    for name, inside in _phases_inside(own, other, own.motion.times):
        yield from (((quantity, name), number) for quantity, number in _of_samples(own, other, inside))
        fraction = _fraction_of_work(own, other, inside)
        if fraction is not None and name != WHOLE:
            yield ("fraction of work", name), Number("-", fraction)
    for name, inside in _phases_inside(own, other, own.motion.middles):
        ratio = _yaw_over_no_slip(own, other, inside)
        if ratio is not None:
            yield ("yaw rate over no-slip", name), Number("-", ratio)


def _phases_inside(
    own: Responses, other: Responses, times: NDArray[np.float64]
) -> Iterator[tuple[str, Known]]:
    """Phases that are compared, and which times (n,) are in each."""
    begin, end = own.motion.times[[0, -1]].tolist()
    for name, (first, last) in windows_of(own.phases, begin, end).items():
        if name == WHOLE or own.phases.after(name) == other.phases.after(name):
            yield name, (times >= first) & (times <= last)


def _of_samples(own: Responses, other: Responses, inside: Known) -> Iterator[tuple[str, Number]]:
    """Numbers of some samples, by quantity."""
    for side in ("left", "right"):
        slip = _mean_slip(own, other, side, inside)
        if slip is not None:
            yield f"mean slip {side}", Number("-", slip)
    known = _known(own, other, "energy")
    if known is not None and (energy := own.series["energy"][known & inside]).size > 1:
        yield "energy", Number("J", float(energy[-1] - energy[0]))


def _known(own: Responses, other: Responses, *names: str) -> Known | None:
    """At which samples both motions have some series; None where either lacks one."""
    if any(name not in responses.series for name in names for responses in (own, other)):
        return None
    finite = [np.isfinite(responses.series[name]) for name in names for responses in (own, other)]
    return np.logical_and.reduce(finite)


def _span(own: Responses, other: Responses) -> slice | None:
    """Samples from the first at which both motions have a pitch to the last; None if there are none."""
    known = _known(own, other, "pitch")
    if known is None or not known.any():
        return None
    first, last = np.flatnonzero(known)[[0, -1]].tolist()
    return slice(first, last + 1)


def _mean_slip(own: Responses, other: Responses, side: str, inside: Known) -> float | None:
    """1 - way / belt travel in some samples [-]; None if it is not known, or the belt hardly moves."""
    names = f"way {side}", f"belt way {side}"
    known = _known(own, other, *names)
    if known is None:
        return None
    way, travel = (float(own.series[name][known & inside].sum()) for name in names)
    return 1.0 - way / travel if abs(travel) >= _MIN_WAY else None


def _fraction_of_work(own: Responses, other: Responses, inside: Known) -> float | None:
    """Work in some samples over that in all [-]; None if it is not known, or there is none."""
    known = _known(own, other, "work")
    if known is None:
        return None
    work = own.series["work"]
    whole = float(work[known].sum())
    return float(work[known & inside].sum()) / whole if whole > 0 else None


def _yaw_over_no_slip(own: Responses, other: Responses, inside: Known) -> float | None:
    """Slope of the turns in windows over those without slip [-]; None if it is not known, or hardly turns."""
    known = _known(own, other, "turned", "no-slip yaw")
    if known is None or not (known & inside).any():
        return None
    turned, no_slip = (own.series[name][known & inside] for name in ("turned", "no-slip yaw"))
    power = float(no_slip @ no_slip)
    return float(turned @ no_slip) / power if power >= len(no_slip) * (_MIN_TURN * WINDOW) ** 2 else None
