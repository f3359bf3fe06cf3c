"""Logs whose simulation is a closed form, for fits that take no time."""

from __future__ import annotations

import numpy as np

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.logs.fit import PARAMETERS, MotionCase, with_parameters
from segtrack.robot import Motion, Signal

STD = {"pitch": 0.01, "belt_speed.left": 0.005}
TRUTH = {"friction": 0.75, "com_x": -0.03, "drive_lag": 0.12}
VEHICLE = load_vehicle("quince")


def climb(
    vehicle: VehicleDescription, height: float, gain: float = 1.0, place: float = 0.0
) -> dict[str, np.ndarray]:
    """Pitch and belt speed over time of something like a climb: smooth in friction, centre of mass and lag.

    The nose rises by an angle that grows with the step, and comes down once the centre of mass is past the
    edge, which friction brings about sooner; the belt follows a command of two steps with the drive's lag.
    A log that is so much farther ahead [m] gets to the step with as much less travel.
    """
    friction, x, lag = (PARAMETERS[name].value_of(vehicle) for name in TRUTH)
    times = np.arange(0.0, 10.0, 0.02)
    command = np.where((times > 1) & (times < 6), 0.12, np.where(times >= 6, 0.05, 0.0))
    belt = np.zeros_like(times)
    for begin, before, after in ((1.0, 0.0, 0.12), (6.0, 0.12, 0.05)):
        later = times >= begin
        shape = 1 - np.exp(-(times[later] - begin) / lag) if lag > 0 else np.ones(later.sum())
        belt[later] = before + (after - before) * shape
    travel = place + np.cumsum(belt) * 0.02 * (1 - 0.1 / friction)
    over = 0.25 - x
    pitch = gain * 2 * height * (np.tanh((travel - 0.1) / 0.05) - np.tanh((travel - over) / 0.04)) / 2
    return {"times": times, "pitch": pitch, "belt": belt, "command": command}


def simulate(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """What a fit calls: the settings of a case are the height of its step."""
    made = climb(vehicle, case.settings, place=place)
    return Motion(
        "simulated",
        {
            "pitch": Signal(made["times"], made["pitch"]),
            "belt_speed.left": Signal(made["times"], made["belt"]),
        },
    )


def logged(
    name: str,
    height: float,
    seed: int,
    *,
    truth: dict[str, float] | None = None,
    clock_offset: float = 0.0,
    gain: float = 1.0,
    held_out: bool = False,
    signals: tuple[str, ...] = tuple(STD),
    place: float = 0.0,
    place_std: float = 0.0,
) -> MotionCase:
    """A log of the closed form with noise; its sensors' clock is behind that of its belts, it is ahead."""
    made = climb(with_parameters(VEHICLE, truth or TRUTH), height, gain, place)
    noise, times = np.random.default_rng(seed), made["times"]
    motion = Motion(
        name,
        {
            "belt_speed_command.left": Signal(times, made["command"], source="drives"),
            "belt_speed.left": Signal(
                times, made["belt"] + noise.normal(0, 0.005, len(times)), 0.005, "drives"
            ),
            "pitch": Signal(
                times - clock_offset, made["pitch"] + noise.normal(0, 0.01, len(times)), 0.01, "imu"
            ),
        },
    )
    driving = ("belt_speed_command.left",)
    return MotionCase(
        name,
        motion,
        dict.fromkeys(signals),
        simulate,
        height,
        driving=driving,
        held_out=held_out,
        place_std=place_std,
    )
