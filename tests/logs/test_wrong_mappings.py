"""Wrong mappings: each is found, with right lines alone, or named by the docs as not to be seen."""

import math
from pathlib import Path

import numpy as np
import pytest
from known_drives import (
    ANGLES,
    COUNTS,
    GEAR,
    HALF,
    PIECES,
    RADIUS,
    RATE,
    Conditions,
    Wrong,
    checked,
    counted,
    verdict,
)
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation

NO_COMMANDS, NO_IMU = {"belt_speed_command": ""}, {"angular_velocity": "", "specific_force": ""}
DOCS = Path(__file__).parents[2] / "docs/topics/logs-plausibility.md"


def turned(rpy, *names):
    """Channels as a sensor has them whose axes are turned in the body by roll, pitch, yaw [deg]."""
    mount = Rotation.from_euler("ZYX", rpy[::-1], degrees=True)

    def change(columns):
        for name in names:
            values = columns[name]
            is_attitude = name == "q"
            columns[name] = (
                (Rotation.from_quat(values) * mount).as_quat() if is_attitude else mount.inv().apply(values)
            )

    return change


def scaled(factor, *names):
    return lambda columns: columns.update({name: factor * columns[name] for name in names})


def beside(*lever):
    """Places of a marker that is apart from the body's origin."""
    return lambda c: c.update(p=c["p"] + Rotation.from_quat(c["q"]).apply(np.array(lever)))


def restarted(*names):
    def change(columns):
        for name in names:
            columns[name] = columns[name].copy()
            columns[name][900:] -= columns[name][900]

    return change


def late(rows, *names):
    return lambda c: c.update({n: np.concatenate([c[n][:1].repeat(rows, 0), c[n][:-rows]]) for n in names})


def held(seconds):
    def change(columns):
        rows = np.arange(len(columns["q"])) // round(seconds * RATE) * round(seconds * RATE)
        columns["q"] = columns["q"][rows]

    return change


def two_robots(columns):
    """Every second row is of another robot, which drives half as fast, a metre aside."""
    for name in ("p", "el", "er"):
        own = columns[name].copy()
        own[1::2] = own[0] + 0.5 * (own[1::2] - own[0]) + (1.0 if name == "p" else 0.0)
        columns[name] = own


def wheel_odometry(columns):
    """A pose from the sprockets alone: flat, without slip, and turning as belts would turn it."""
    left, right = (np.gradient(columns[n], columns["t"]) for n in ("el", "er"))
    scale = RADIUS * math.tau / COUNTS / GEAR
    yaw = cumulative_trapezoid((right - left) * scale / 2 / HALF, columns["t"], initial=0.0)
    speed = (left + right) / 2 * scale
    place = cumulative_trapezoid(
        np.stack([speed * np.cos(yaw), speed * np.sin(yaw), 0 * yaw], axis=1),
        columns["t"],
        axis=0,
        initial=0.0,
    )
    columns.update(p=place, q=Rotation.from_euler("z", yaw[:, None]).as_quat())


def flat(columns):
    columns["p"] = columns["p"] * [1, 1, 0]


SENSOR = "sensors: {s: {rpy: [0, 0, 1.5708]}}"
FLIPPERS = (
    "{front_left: {channel: front_left, unit: rad, positive: tip down}, "
    "front_right: {channel: front_right, unit: rad, positive: tip down}}"
)
WRONG = {
    "counts per turn 2048 for 512": Wrong(
        entries={"belt_speed": counted(counts_per_turn=2048)},
        finding="belts against commands",
        line="counts_per_turn: 512",
    ),
    "counts per turn 128 for 512": Wrong(
        entries={"belt_speed": counted(counts_per_turn=128)},
        finding="belts against commands",
        line="counts_per_turn: 512",
    ),
    "counts per turn 1024 for 512, no commands": Wrong(
        entries={"belt_speed": counted(counts_per_turn=1024), **NO_COMMANDS},
        finding="belts against path",
        line="counts_per_turn: 512",
    ),
    "counts called rad": Wrong(
        entries={"belt_speed": counted(unit="rad", counts_per_turn=None)},
        finding="belts against path",
    ),
    "counts called deg": Wrong(
        entries={"belt_speed": counted(unit="deg", counts_per_turn=None)},
        finding="belts against path",
    ),
    "counts called rad, no commands": Wrong(
        entries={"belt_speed": counted(unit="rad", counts_per_turn=None), **NO_COMMANDS},
        finding="belts against path",
    ),
    "both encoders start again": Wrong(
        "straight", restarted("el", "er"), finding="counter starts again", line="end: 17.9"
    ),
    "one encoder starts again": Wrong(
        "turns", restarted("el"), finding="counter starts again", line="end: 17.9"
    ),
    "IMU yawed by 90 deg": Wrong(
        "step", turned((0, 0, 90), "w", "f"), finding="gyroscope against attitude", line="1.5708"
    ),
    "IMU yawed by -90 deg": Wrong(
        "step", turned((0, 0, -90), "w", "f"), finding="gyroscope against attitude", line="-1.5708"
    ),
    "IMU yawed by 180 deg": Wrong(
        "step", turned((0, 0, 180), "w", "f"), finding="gyroscope against attitude", line="3.1416"
    ),
    "IMU upside down": Wrong(
        "turns", turned((180, 0, 0), "w", "f"), finding="gyroscope against attitude", line="3.1416"
    ),
    "gyroscope yawed by 90 deg, no accelerometer": Wrong(
        "step",
        turned((0, 0, 90), "w"),
        {"specific_force": ""},
        finding="gyroscope against attitude",
        line="1.5708",
    ),
    "markers yawed by 90 deg": Wrong(
        "step", turned((0, 0, 90), "q"), finding="gyroscope against attitude", line="1.5708"
    ),
    "markers yawed by -90 deg": Wrong(
        "step", turned((0, 0, -90), "q"), finding="gyroscope against attitude", line="-1.5708"
    ),
    "markers yawed by 180 deg": Wrong(
        "step", turned((0, 0, 180), "q"), finding="heading against path", line="3.1416"
    ),
    "markers yawed by 90 deg, no IMU": Wrong(
        "step", turned((0, 0, 90), "q"), NO_IMU, finding="heading against path", line="1.5708"
    ),
    "markers yawed by 90 deg, level, no IMU": Wrong(
        "turns", turned((0, 0, 90), "q"), NO_IMU, finding="heading against path", line="1.5708"
    ),
    "markers said to be yawed that are not": Wrong(
        "step",
        more=SENSOR,
        entries={"orientation": "{channels: q, sensor: s}"},
        finding="gyroscope against attitude",
    ),
    "flippers' sign, standing level": Wrong(
        entries={"flipper_angle": FLIPPERS}, finding="flippers against ground", line="tip up"
    ),
    "gear ratio 20 for 26": Wrong(
        entries={"belt_speed": counted(gear_ratio=20)}, finding="belts against path", line="gear_ratio: 2"
    ),
    "gear ratio 30 for 26": Wrong(
        entries={"belt_speed": counted(gear_ratio=30)}, finding="belts against path", line="gear_ratio: 2"
    ),
    "radius 10 % too small": Wrong(
        entries={"belt_speed": counted(radius=0.072)}, finding="belts against path", line="radius: 0.0"
    ),
    "radius 20 % too large": Wrong(
        entries={"belt_speed": counted(radius=0.096)}, finding="belts against path", line="radius: 0.0"
    ),
    "radius 20 % too large, no commands": Wrong(
        entries={"belt_speed": counted(radius=0.096), **NO_COMMANDS}, finding="belts against path"
    ),
    "radius 15 % too small, no commands": Wrong(
        entries={"belt_speed": counted(radius=0.068), **NO_COMMANDS}, finding="belts against path"
    ),
    "commands 1 s late": Wrong(change=late(RATE, "cl", "cr"), finding="time shift"),
    "commands 0.3 s late": Wrong(change=late(15, "cl", "cr"), finding="time shift"),
    "pose 0.5 s late": Wrong(late={"mocap.csv": 0.5}, finding="time shift", line="mocap.csv: {offset: -0.5"),
    "pose 0.3 s early": Wrong(late={"mocap.csv": -0.3}, finding="time shift", line="mocap.csv: {offset: 0.3"),
    "IMU 0.3 s late": Wrong(late={"imu.csv": 0.3}, finding="time shift", line="imu.csv: {offset: -0.3"),
    "the robot's table 0.5 s late": Wrong(
        late={"run.csv": 0.5}, finding="time shift", line="run.csv: {offset: -0.5"
    ),
    "path 0.5 s late, in one table": Wrong(change=late(25, "p"), finding="time shift"),
    "orientation 0.3 s late": Wrong(change=late(15, "q"), finding="time shift"),
    "orientation held for 0.5 s": Wrong(change=held(0.5), finding="held"),
    "commands of the sides swapped": Wrong(
        entries={"belt_speed_command": "{left: cr, right: cl, unit: m/s}"},
        finding="belts against commands",
        line="belt_speed_command.left: cl",
    ),
    "sides of the belts swapped": Wrong(
        entries={"belt_speed": counted(left="er", right="el")},
        finding="belts against commands",
        line="belt_speed.left: el",
    ),
    "both swapped": Wrong(
        entries={
            "belt_speed": counted(left="er", right="el"),
            "belt_speed_command": "{left: cr, right: cl, unit: m/s}",
        },
        finding="belts against yaw rate",
        line="belt_speed_command.left: cl",
    ),
    "sides swapped, straight on": Wrong(
        "straight",
        entries={"belt_speed": counted(left="er", right="el")},
        why="sides that are swapped while it drives straight on",
    ),
    "a marker 0.3 m to the left": Wrong(change=beside(0, 0.3, 0), finding="marker's lever", line="xyz"),
    "a marker 0.5 m ahead": Wrong(change=beside(0.5, 0, 0), finding="marker's lever", line="xyz"),
    "a marker 0.1 m to the left": Wrong(change=beside(0, 0.1, 0), why="levers below 0.15 m"),
    "IMU rolled by 10 deg": Wrong(
        change=turned((10, 0, 0), "w", "f"), finding="accelerometer against attitude", line="rpy"
    ),
    "IMU pitched by 10 deg": Wrong(
        "step", change=turned((0, 10, 0), "w", "f"), finding="accelerometer against attitude", line="rpy"
    ),
    "gyroscope rolled by 10 deg": Wrong(
        change=turned((10, 0, 0), "w"),
        entries={"specific_force": ""},
        finding="gyroscope against attitude",
        line="rpy",
    ),
    "gyroscope rolled by 10 deg, straight on": Wrong(
        "straight",
        turned((10, 0, 0), "w"),
        {"specific_force": ""},
        why="the mounting of a gyroscope that hardly turns",
    ),
    "two robots on one topic": Wrong("straight", two_robots, finding="two sources"),
    "wheel odometry for the pose": Wrong("straight", wheel_odometry, NO_IMU, finding="wheel odometry"),
    "wheel odometry for the pose, on turns": Wrong("turns", wheel_odometry, NO_IMU, finding="wheel odometry"),
    "heights that stay, on a climb": Wrong("step", flat, finding="pitch against slope"),
    "yaw's sign": Wrong(
        entries={**ANGLES, "yaw": "{channel: yaw, unit: rad, positive: right}"},
        finding="belts against yaw rate",
        line="positive: left",
    ),
    "pitch's sign": Wrong(
        "step",
        entries={**ANGLES, "pitch": "{channel: pitch, unit: rad, positive: nose down}"},
        finding="pitch against slope",
        line="positive: nose up",
    ),
    "pitch's sign, on level ground": Wrong(
        "turns",
        entries={**ANGLES, "pitch": "{channel: pitch, unit: rad, positive: nose down}"},
        why="the sign of a pitch on level ground",
    ),
    "places in cm called m": Wrong(change=scaled(100, "p"), finding="belts against path", line="unit: cm"),
    "rates in deg/s called rad/s": Wrong(
        change=scaled(180 / math.pi, "w"), finding="gyroscope against attitude", line="deg/s"
    ),
    "quaternion's order": Wrong(
        entries={"orientation": "{channels: q, order: wxyz}"},
        finding="gyroscope against attitude",
        line="xyzw",
    ),
    "force in g called m/s^2": Wrong(
        change=scaled(1 / 9.80665, "f"), finding="accelerometer against gravity", line="unit: g"
    ),
    "one belt's sign": Wrong(
        change=scaled(-1, "er"), finding="belts against commands", line="reversed: [right]"
    ),
}
RIGHT = {
    "as it is": Conditions(),
    "no noise": Conditions(noise=0.0),
    "three times the noise": Conditions(noise=3.0),
    "no slip": Conditions(slip=0.0, uneven=0.0),
    "slip of 10 %": Conditions(slip=0.1, uneven=0.03),
    "slip of 20 % on soft ground": Conditions(slip=0.2, uneven=0.06),
    "slip of 30 % on soft ground": Conditions(slip=0.28, uneven=0.07),
    "soft starts": Conditions(ramp=1.5),
    "a slow drive": Conditions(lag=0.4),
    "a fast drive": Conditions(lag=0.02),
    "other noise": Conditions(seed=5),
}


QUICK = (
    "counts per turn 2048 for 512",
    "counts called rad",
    "both encoders start again",
    "commands of the sides swapped",
    "flippers' sign, standing level",
    "gear ratio 20 for 26",
    "two robots on one topic",
    "wheel odometry for the pose",
    "sides swapped, straight on",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in WRONG]
)
def test_a_wrong_mapping_is_told_with_right_lines_or_named_by_the_docs(name):
    """Each line that is proposed, pasted, gives the motion that was; of two, one does."""
    case = WRONG[name]
    found, names, lines = verdict(case)
    assert found == ("silent" if case.why else "found"), (names, lines)
    assert not case.finding or case.finding in names
    assert not case.line or any(case.line in each for each in lines), lines
    assert not case.why or case.why in " ".join(DOCS.read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "as it is" else pytest.mark.slow) for n in RIGHT]
)
@pytest.mark.parametrize("drive_name", PIECES)
def test_nothing_is_found_on_right_drives(drive_name, name):
    assert checked(Wrong(drive_name), RIGHT[name])[0].notes == ()
