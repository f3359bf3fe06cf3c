"""Heights against terrain, velocity against path, flippers against their stops, forces against drives."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from segtrack.logs.plausibility.evidence import FEWEST, LogEvidence, Windows, folded, moving
from segtrack.logs.plausibility.finding import Observation
from segtrack.logs.statistics import noise_of

_BEYOND_STOPS = 0.15
"""Angle by which a flipper may be beyond its stops [rad]."""


def check_heights(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the heights of the path with those of the terrain, from where the log begins."""
    relief, position = evidence.background.relief, evidence.motion.signals.get("position")
    length = evidence.background.length
    if relief is None or position is None or length is None or not position.values[:, 2].any():
        return
    noise = 5 * noise_of(position.values[:, 2])
    since = position.values[:, 2] - np.median(position.values[: max(len(position.values) // 20, 1), 2])
    low, high = np.quantile(since, [0.01, 0.99]).tolist()
    state = f"the path goes from {low:+.3g} to {high:+.3g} m of where it begins"
    deepest, highest = relief
    below = deepest - low - noise - 0.1
    above = high - highest - 0.5 * length - noise - 0.05
    # What leans cannot be below the ground at all: its origin sinks by its own height at most.
    told = f"on terrain from {deepest:+.3g} to {highest:+.3g} m"
    reach = max(highest - deepest, 0.05)
    worst = max(below, above)
    yield Observation(
        "heights against terrain",
        ("position",),
        state,
        told if worst > 0 else "",
        # A log may begin anywhere on the relief: what goes farther than all of it is no log of it.
        high - low - 2 * noise > 1.5 * reach + 1.5 * length,
        1 + max(worst, 0.0) / reach,
    )


def check_velocity(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the velocity with the change of position."""
    position, velocity = (evidence.motion.signals.get(key) for key in ("position", "velocity"))
    if position is None or velocity is None:
        return
    windows = Windows.over(
        max(position.times[0], velocity.times[0]), min(position.times[-1], velocity.times[-1]), 0.5
    )
    if len(windows.begin) < FEWEST:
        return
    way = windows.difference(position)
    length = np.linalg.norm(way, axis=1)
    drives = moving(length) & (length > 8 * noise_of(position.values))
    if drives.sum() < FEWEST:
        return
    told = windows.mean(velocity) * windows.length
    ratio = float(np.median(np.linalg.norm(told, axis=1)[drives] / length[drives]))
    speeds = [
        float(np.median(values)) / windows.length
        for values in (np.linalg.norm(told, axis=1)[drives], length[drives])
    ]
    state = f"a velocity of {speeds[0]:.3g} m/s on a path at {speeds[1]:.3g} m/s"
    subjects, name = ("velocity", "position"), "velocity against path"
    if not 0.7 <= ratio <= 1.4:
        certain, size = not 0.5 <= ratio <= 2.0, max(ratio, 1 / max(ratio, 1e-9))
        yield Observation(name, subjects, state, f"which is {ratio:.3g} times as fast", certain, size)
        return
    rotation = evidence.rotation_at((windows.begin + windows.end) / 2)
    if rotation is not None:
        along = rotation.apply(told)
        cosines = np.sum(along * way, axis=1)[drives] / (
            np.linalg.norm(along, axis=1)[drives] * length[drives]
        ).clip(1e-12)
        angle = math.degrees(math.acos(float(np.clip(np.median(cosines), -1.0, 1.0))))
        if angle > 25:
            yield Observation(
                name, subjects, state, f"{angle:.3g} deg off its direction", angle > 60, angle / 25
            )
            return
    yield Observation(name, subjects, state, misfit=abs(math.log(ratio)))


def check_flippers(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare flipper angles with the stops of the vehicle file."""
    vehicle = evidence.background.vehicle
    if vehicle is None:
        return
    for key, signal in evidence.motion.signals.items():
        quantity, _, which = key.partition(".")
        flipper = vehicle.flippers.get(which)
        if not quantity.startswith("flipper_angle") or flipper is None:
            continue
        values = signal.values
        if float(np.max(abs(values))) <= 2 * math.pi:
            values = folded(values)
        low, high = np.quantile(values, [0.02, 0.98]).tolist()
        beyond = max(flipper.limits[0] - low, high - flipper.limits[1])
        degrees = [math.degrees(angle) for angle in (low, high, *flipper.limits)]
        state = f"angles from {degrees[0]:.3g} to {degrees[1]:.3g} deg"
        told = f"of a flipper whose stops are at {degrees[2]:.3g} and {degrees[3]:.3g} deg"
        is_beyond = beyond > _BEYOND_STOPS
        yield Observation(
            "flippers against stops",
            (key,),
            state,
            told if is_beyond else "",
            beyond > 1.0,
            1 + max(beyond, 0.0),
        )


def check_forces(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare belt forces with what the drives of a side can do."""
    for side, drives in evidence.background.drives.items():
        signal = evidence.motion.signals.get(f"belt_force.{side}")
        if signal is None or not drives:
            continue
        most = sum(max(drive.stall_force, drive.brake_force) for drive in drives)
        largest = float(np.quantile(abs(signal.values), 0.98))
        state = f"{side} belts with {largest:.3g} N"
        is_beyond = most > 0 and largest > 1.5 * most
        told = f"of drives that make {most:.3g} N" if is_beyond else ""
        yield Observation(
            "forces against drives",
            ("belt_force",),
            state,
            told,
            largest > 5 * most,
            max(largest / max(most, 1e-9), 1),
        )


def check_upright_velocity(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the velocity's direction with the body's forward axis: a track does not move sideways."""
    velocity = evidence.motion.signals.get("velocity")
    if velocity is None or evidence.mapped.is_steady:
        return
    windows = Windows.over(velocity.times[0], velocity.times[-1], 0.5)
    if len(windows.begin) < FEWEST:
        return
    mean = windows.mean(velocity)
    speed = np.linalg.norm(mean, axis=1)
    drives = moving(speed)
    if drives.sum() < FEWEST or np.median(speed[drives]) < 10 * windows.noise(velocity):
        return
    if (rates := evidence.yaw_rates_at(windows)) is not None:
        drives &= abs(rates) * 0.3 < speed  # Where it turns, a place aside of the middle goes sideways.
        if drives.sum() < FEWEST:
            return
    along = float(np.median(abs(mean[drives, 0]) / speed[drives].clip(1e-9)))
    angle = math.degrees(math.acos(min(along, 1.0)))
    state = f"the velocity is {angle:.3g} deg off the body's axis"
    told = "which is sideways" if angle > 35 else ""
    yield Observation("velocity against body", ("velocity",), state, told, angle > 60, max(angle / 35, 1.0))
