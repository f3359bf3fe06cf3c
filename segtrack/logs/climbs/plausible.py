"""Contradictions of a table of trials to physics or its vehicles, and remarks on what may be right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from segtrack.description import VehicleDescription, vehicle_length
from segtrack.errors import Problem
from segtrack.experiments import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG
from segtrack.logs.climbs.simulation import Condition
from segtrack.logs.climbs.table import TYPICAL_SPEED, ClimbTrial, fitting_unit

_TYPICAL_HEIGHT = 0.3
"""Height of a typical step over the length of its vehicle [-]."""
_TRIED = 2.0
"""Height over the length of the vehicle, beyond which nobody tries a step."""
_LOW = 0.02
"""Height over the length of the vehicle, below which a step is none to speak of."""
_FASTER = 1.05
"""Speed over that of the drives, beyond which the belts cannot have had it."""
_ROUND_RAD, _NEAR_RAD = math.pi / 12, 0.005
"""Angles in radians are known by being multiples of 15 deg, but for rounding [rad]."""
_DEFAULTS = {
    "front_flippers_deg": f"{FRONT_FLIPPERS_DEG:g}",
    "rear_flippers_deg": f"{REAR_FLIPPERS_DEG:g}",
    "friction": "the vehicle file's",
}


class DrivenTrial(NamedTuple):
    """A trial, what it is driven with, and its vehicle."""

    trial: ClimbTrial
    condition: Condition
    vehicle: VehicleDescription

    @property
    def length(self) -> float:
        """Length of the vehicle, its flippers stretched out [m]."""
        return vehicle_length(self.vehicle)

    @property
    def top_speed(self) -> float:
        """Largest speed of its belts [m/s]."""
        return max(track.spec.drive.top_speed for track in self.vehicle.mounted_tracks())


def contradictions(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    """Yield what cannot be: what a vehicle cannot do, and outcomes that are the wrong way round."""
    yield from _too_high(driven)
    yield from _too_fast(driven)
    yield from _radians(driven)
    for condition, own in _groups(driven):
        climbed, failed = (_heights(own, outcome) for outcome in ("climbed", "failed"))
        if len(set(climbed)) > 1 and len(set(failed)) > 1 and min(climbed) > max(failed):
            yield Problem(
                "outcome",
                f"must fall with height, got climbed from {min(climbed):g} m and failed up to "
                f"{max(failed):g} m ({condition.words}): are climbed and failed swapped?",
            )


def remarks(driven: Sequence[DrivenTrial]) -> Iterator[str]:
    """Yield what may be right and should be known to whoever reads the result."""
    trials = [each.trial for each in driven]
    for name, value in _DEFAULTS.items():
        empty = [i for i, trial in enumerate(trials, 1) if getattr(trial, name) is None]
        if empty and len(empty) < len(trials):
            yield f"{name} is empty in trials {_numbers(empty)}, which are driven with {value}"
    heights = {trial.height for trial in trials}
    for name in ("speed", "friction"):
        values = {getattr(trial, name) for trial in trials} - {None}
        if len(heights) == 1 and len(values) > 2:
            yield f"height is {heights.pop():g} m in all trials while {name} varies: are they swapped?"
            break
    for condition, own in _groups(driven):
        yield from _repeats(condition, own)
    longest = max(each.length for each in driven)
    highest = max(trial.height for trial in trials)
    if highest < _LOW * longest:
        yield f"no step is higher than {highest:g} m, beside a vehicle of {longest:.2g} m: is it in metres?"
    yield from _beyond_limits(driven)
    yield from _fine_angles(driven)


def _too_high(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    """Steps higher than a vehicle is long, climbed, or so high that nobody would try."""
    wrong = [
        (i, each)
        for i, each in enumerate(driven, 1)
        if each.trial.height > each.length * (1.0 if each.trial.outcome == "climbed" else _TRIED)
    ]
    if not wrong:
        return
    first = wrong[0][1]
    heights = [each.trial.height for each in driven]
    own = [each.trial.height for _, each in wrong]
    expected = f"must be in metres and below {first.length:.2g} m, the length of {first.vehicle.name}"
    if 2 * len(wrong) > len(driven):
        unit = fitting_unit("height", heights, _TRIED * first.length, _TYPICAL_HEIGHT * first.length)
        end = "" if unit is None else f": {unit}"
        yield Problem("height", f"{expected}, got {min(heights):g} to {max(heights):g}{end}")
        return
    likely = max((height for height in heights if height not in own), default=None)
    for i, each in wrong:
        height, end = each.trial.height, ""
        if likely is not None:
            ratios = {height / 10**k: abs(math.log(height / 10**k / likely)) for k in (1, 2, 3)}
            end = f": {min(ratios, key=ratios.__getitem__):g} would fit"
        yield Problem("height", f"{expected}, got {height:g} in trial {i}{end}")


def _too_fast(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    """Speeds of the table that the drives do not reach; by default a vehicle goes as fast as they do."""
    told = [each for each in driven if "speed" in each.trial.model_fields_set]
    wrong = [each for each in told if each.trial.speed > _FASTER * each.top_speed]
    if wrong:
        first, speeds = wrong[0], sorted({each.trial.speed for each in wrong})
        unit = fitting_unit("speed", speeds, first.top_speed, TYPICAL_SPEED)
        got = f"{speeds[0]:g}" + (f" to {speeds[-1]:g}" if len(speeds) > 1 else "")
        end = "" if unit is None else f": {unit}"
        drives = f"at most {first.top_speed:.3g} m/s, which the drives of {first.vehicle.name} reach"
        yield Problem("speed", f"must be {drives}, got {got}{end}")


def _angles(driven: Sequence[DrivenTrial], name: str) -> list[float]:
    """Angles of a column that are not 0 [deg]."""
    return [value for each in driven if (value := getattr(each.trial, name))]


def _radians(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    for name in ("front_flippers_deg", "rear_flippers_deg"):
        angles = _angles(driven, name)
        if angles and max(map(abs, angles)) <= math.pi + _NEAR_RAD and all(map(_is_round_in_rad, angles)):
            largest = max(angles, key=abs)
            unit = f"`rad` would fit, {math.degrees(largest):.0f} deg"
            header = f"(`{name.removesuffix('_deg')} [rad]` in the header of a CSV file)"
            yield Problem(name, f"must be in degrees, got at most {largest:g}: {unit} {header}")


def _is_round_in_rad(angle: float) -> bool:
    return abs(math.remainder(angle, _ROUND_RAD)) < _NEAR_RAD and not float(angle).is_integer()


def _fine_angles(driven: Sequence[DrivenTrial]) -> Iterator[str]:
    for name in ("front_flippers_deg", "rear_flippers_deg"):
        angles = _angles(driven, name)
        if angles and max(map(abs, angles)) <= math.pi and not all(float(a).is_integer() for a in angles):
            yield f"{name} is at most {max(angles, key=abs):g} deg: is it in radians?"


def _beyond_limits(driven: Sequence[DrivenTrial]) -> Iterator[str]:
    found: dict[str, None] = {}
    for each in driven:
        for flipper in each.vehicle.flippers.values():
            name = f"{flipper.tip_direction}_flippers_deg"
            angle, (low, high) = getattr(each.trial, name, None), map(math.degrees, flipper.limits)
            if angle is not None and not low - 1e-6 <= angle <= high + 1e-6:
                limit = high if angle > high else low
                found[
                    f"{name} of {angle:g} is beyond the limit of {each.vehicle.name}, driven with {limit:.0f}"
                ] = None
    yield from found


def _groups(driven: Sequence[DrivenTrial]) -> Iterator[tuple[Condition, list[DrivenTrial]]]:
    for condition in dict.fromkeys(each.condition for each in driven):
        yield condition, [each for each in driven if each.condition == condition]


def _heights(driven: Sequence[DrivenTrial], outcome: str) -> list[float]:
    return [each.trial.height for each in driven if each.trial.outcome == outcome]


def _repeats(condition: Condition, own: Sequence[DrivenTrial]) -> Iterator[str]:
    """Repeats of one trial that end differently."""
    climbed, failed = (Counter(_heights(own, outcome)) for outcome in ("climbed", "failed"))
    for height in sorted(climbed.keys() & failed.keys()):
        ends = f"{climbed[height]} times climbed and {failed[height]} times failed"
        yield f"a step of {height:g} m is {ends} ({condition.words}): near the limit, or a mistake"
    for height in sorted({each.trial.height for each in own}):
        published = {each.trial.simulation for each in own if each.trial.height == height} - {None}
        if len(published) > 1:
            yield f"another simulation of a step of {height:g} m ends both ways ({condition.words})"


def _numbers(indices: Sequence[int]) -> str:
    shown = ", ".join(map(str, indices[:6]))
    return shown if len(indices) <= 6 else f"{shown} and {len(indices) - 6} more"
