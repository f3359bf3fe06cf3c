"""Drives whose truth is known in closed form, logged by three devices, and mappings of them that are wrong.

Quince drives on level ground, turns, and climbs on a platform, with slip that grows with what it climbs and
turns, drives with a lag, and ramps for commands. A pose of markers, an IMU and the robot's own table are
three sources on one clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from implausible_logs import pasted
from mapped_logs import channel
from scipy.integrate import cumulative_trapezoid
from scipy.ndimage import gaussian_filter1d
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from segtrack.description import load_vehicle
from segtrack.errors import SegtrackError
from segtrack.geometry import STANDARD_GRAVITY
from segtrack.logs import Log, Motion
from segtrack.logs.mapping import Finding, Plausibility, check_plausibility, map_log, parse_mapping

Columns = dict[str, np.ndarray]
RATE, RADIUS, COUNTS, GEAR = 50, 0.08, 512, 26
HALF = load_vehicle("quince").require_track_offsets().gauge / 2
SOURCES = {"p": "mocap.csv", "q": "mocap.csv", "w": "imu.csv", "f": "imu.csv"}
"""Channels of other devices than the robot's own table, run.csv."""

PIECES = {
    "turns": ((2, 0, 0), (6, 0.2, 0), (4, 0.15, 0.5), (5, 0.25, 0), (4, 0.15, -0.4), (5, 0.2, 0), (2, 0, 0)),
    "step": ((2, 0, 0), (7, 0.2, 0), (7, 0.15, 0), (3, 0.2, 0.4), (5, 0.25, 0), (2, 0, 0)),
    "straight": ((2, 0, 0), (6, 0.2, 0), (2, 0, 0), (6, 0.1, 0), (5, 0.25, 0), (2, 0, 0)),
    "backwards": ((2, 0, 0), (6, -0.2, 0), (4, -0.15, 0.4), (6, 0.2, 0), (4, 0.1, -0.5), (2, 0, 0)),
}
"""Seconds, forward speed [m/s] and yaw rate [rad/s] of each drive."""
CLIMB = 0.16
"""Height of the platform that `step` climbs on [m]."""


class Conditions(NamedTuple):
    """Conditions of a drive.

    Attributes:
        slip: Slip on level ground [-].
        uneven: Standard deviation of slip from place to place [-].
        noise: Noise of all sensors, over the usual one.
        ramp: Time that commands take to change [s].
        lag: Lag of the drives [s].
        seed: Seed of noise.
    """

    slip: float = 0.02
    uneven: float = 0.005
    noise: float = 1.0
    ramp: float = 0.1
    lag: float = 0.12
    seed: int = 0


def drive(name: str, conditions: Conditions = Conditions()) -> Columns:  # noqa: B008
    """Channels of a drive: times, commands, counts, places, quaternion, angles, rates, force, flippers."""
    rng = np.random.default_rng(conditions.seed)
    rows = np.concatenate([np.tile(piece[1:], (round(piece[0] * RATE), 1)) for piece in PIECES[name]])
    count, times = len(rows), np.arange(len(rows)) / RATE
    told = lfilter(np.ones(n := max(round(conditions.ramp * RATE), 1)) / n, 1, rows, axis=0)
    keep = math.exp(-1 / RATE / conditions.lag)
    # The first sample answers nothing yet: a drive follows what it was told.
    made = lfilter([0, 1 - keep], [1, -keep], told, axis=0)
    turns = 0.65 * made[:, 1]
    wander = gaussian_filter1d(rng.normal(size=count), RATE / 2) * math.sqrt(RATE * math.sqrt(math.pi))
    slip = conditions.slip + conditions.uneven * wander + 0.1 * abs(turns)
    pitch = np.zeros(count)
    if name == "step":
        way = cumulative_trapezoid(made[:, 0], times, initial=0.0)
        pitch = gaussian_filter1d(np.where((way > 1.5) & (way < 1.95), 0.36, 0.0), RATE / 4)
        slip = slip + 0.4 * pitch
    speed = made[:, 0] * (1 - slip)
    yaw = cumulative_trapezoid(turns, times, initial=0.0) + 0.3
    body = Rotation.from_euler("ZYX", np.stack([yaw, -pitch, 0 * yaw], axis=1))
    velocity = body.apply(np.stack([speed, 0 * speed, 0 * speed], axis=1))
    places = cumulative_trapezoid(velocity, times, axis=0, initial=0.0) + [1.0, -0.5, 0.09]
    rates = (body[:-1].inv() * body[1:]).as_rotvec() * RATE
    rates = np.concatenate([rates[:1], (rates[:-1] + rates[1:]) / 2, rates[-1:]])
    felt = np.gradient(velocity, times, axis=0) + [0, 0, STANDARD_GRAVITY]

    def noisy(std: float, *width: int) -> np.ndarray:
        return conditions.noise * rng.normal(0.0, std, (count, *width))

    seen = body * Rotation.from_rotvec(noisy(0.002, 3))
    angles = seen.as_euler("ZYX")
    found = {
        "t": times,
        "p": places + noisy(0.0005, 3),
        "q": seen.as_quat(),
        "yaw": np.unwrap(angles[:, 0]),
        "pitch": -angles[:, 1],
        "roll": angles[:, 2],
        "w": rates + noisy(0.01, 3) + [0.01, -0.007, 0.004],
        "f": body.inv().apply(felt) + noisy(0.3, 3),
    }
    for side, sign in (("l", -1), ("r", 1)):
        found[f"c{side}"] = told[:, 0] + sign * HALF * told[:, 1]
        belt = made[:, 0] + sign * HALF * made[:, 1]
        travel = cumulative_trapezoid(belt, times, initial=0.0)
        found[f"e{side}"] = np.round(travel / RADIUS / math.tau * COUNTS * GEAR)
        found[f"s{side}"] = belt / RADIUS + noisy(0.03)
    for front in ("front", "rear"):
        for side in ("left", "right"):
            found[f"{front}_{side}"] = np.full(count, 0.6) + noisy(0.002)
    return found


def counted(**keys: Any) -> str:
    """Line of belts by their encoders, with other keys."""
    usual = {"left": "el", "right": "er", "unit": "counts", "counts_per_turn": COUNTS, "gear_ratio": GEAR}
    return _line(usual | {"radius": RADIUS} | keys)


def _line(keys: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items() if value is not None) + "}"


USUAL = {
    "belt_speed_command": "{left: cl, right: cr, unit: m/s}",
    "belt_speed": counted(),
    "position": "{channels: p, unit: m}",
    "orientation": "{channels: q}",
    "angular_velocity": "{channels: w, unit: rad/s}",
    "specific_force": "{channels: f, unit: m/s^2}",
    "flipper_angle": "{" + ", ".join(
        f"{front}_{side}: {{channel: {front}_{side}, unit: rad}}"
        for front in ("front", "rear") for side in ("left", "right")
    ) + "}",
}  # fmt: skip


ANGLES = {
    "orientation": "",
    "roll": "{channel: roll, unit: rad}",
    "pitch": "{channel: pitch, unit: rad, positive: nose up}",
    "yaw": "{channel: yaw, unit: rad}",
}
"""Entries for an attitude by angles."""


def mapping(changes: dict[str, str] | None = None, more: str = "") -> str:
    """A mapping file; entries of quantities that are empty are left out."""
    entries = {name: text for name, text in (USUAL | (changes or {})).items() if text}
    return "\n".join(["vehicle: quince", more, "quantities:", *(f"  {n}: {t}" for n, t in entries.items())])


def log(columns: Columns, times: dict[str, np.ndarray] | None = None, path: str = "run.csv") -> Log:
    """A log of channels; those of some names by times of their own."""
    own = times or {}
    found = {
        name: channel(name, values, "", own.get(name, columns["t"]), SOURCES.get(name, "run.csv"))
        for name, values in columns.items()
        if name != "t"
    }
    return Log(Path(path), "csv", found)


class Wrong(NamedTuple):
    """A mapping, or a log, that is wrong.

    Attributes:
        drive: Drive that it is tried on.
        change: Changes the channels.
        entries: Entries of the mapping instead of the right ones.
        late: Time by which the stamps of a source are late, by source [s].
        finding: Finding by which it is told; empty where it is not to be seen.
        line: Part of the line that is to be proposed; empty where none is right.
        more: Further text of the mapping.
        why: Words of the documentation on why it is not to be seen.
    """

    drive: str = "turns"
    change: Callable[[Columns], Any] | None = None
    entries: dict[str, str] = {}
    late: dict[str, float] = {}
    finding: str = ""
    line: str = ""
    more: str = ""
    why: str = ""


def checked(case: Wrong, conditions: Conditions = Conditions()) -> tuple[Plausibility, Log]:  # noqa: B008
    """What is found of a case, and its log."""
    columns = drive(case.drive, conditions)
    if case.change is not None:
        case.change(columns)
    times = {
        name: columns["t"] + case.late[source]
        for name in columns
        if (source := SOURCES.get(name, "run.csv")) in case.late
    }
    content = log(columns, times)
    mapped = map_log(content, parse_mapping(mapping(case.entries, case.more), "m.yaml", Path(".")))
    return check_plausibility(mapped), content


def motion(content: Log, text: str) -> Motion:
    return map_log(content, parse_mapping(text, "m.yaml", Path("."))).motion


_NEAR = {"belt_speed": 0.05, "belt_speed_command": 0.05, "position": 0.05, "angular_velocity": 0.12}
"""Error of a quantity that is right, over its own size, root mean square."""


def deviations(found: Motion, truth: Motion) -> list[str]:
    """Quantities of a motion that differ from the truth; the world's heading and origin are free."""
    wrong = []
    for key, signal in found.signals.items():
        right = truth.signals[key]
        first = max(signal.times[0], right.times[0]) + 0.1
        at = np.arange(first, min(signal.times[-1], right.times[-1]) - 0.1, 0.05)
        one, other = signal.at(at), right.at(at)
        if key == "orientation":
            turned = (Rotation.from_quat(one) * Rotation.from_quat(other).inv()).as_rotvec()
            aside = Rotation.from_rotvec([0, 0, np.median(turned[:, 2])])
            off = (aside.inv() * Rotation.from_quat(one) * Rotation.from_quat(other).inv()).magnitude()
            is_off = float(np.median(off)) > 0.05
        elif key == "yaw":
            is_off = (
                float(np.median(abs(np.angle(np.exp(1j * (one - other - np.median(one - other))))))) > 0.05
            )
        elif key in ("roll", "pitch"):
            is_off = float(np.quantile(abs(one - other), 0.9)) > 0.05
        elif key == "position":
            ways = [np.linalg.norm(np.diff(each[::10], axis=0), axis=1) for each in (one, other)]
            rises = [each[:, 2] - each[0, 2] for each in (one, other)]
            is_off = _apart(*ways) > _NEAR["position"] or float(np.max(abs(rises[0] - rises[1]))) > 0.05
        elif key.startswith("flipper_angle"):
            is_off = float(np.median(abs(one - other))) > 0.05
        elif key == "specific_force":
            is_off = float(np.median(np.linalg.norm(one - other, axis=1))) > 1.5
        else:
            is_off = _apart(one, other, 0.1) > _NEAR[key.partition(".")[0]]
        wrong += [key] if is_off else []
    return wrong


def _apart(one: np.ndarray, other: np.ndarray, least: float = 1e-9) -> float:
    """Error over the size of the other, or the least that counts; medians of what is smoothed by 0.2 s."""
    smooth = [gaussian_filter1d(each, 4, axis=0) for each in (one, other)]
    error = np.sqrt(np.median(np.sum((smooth[0] - smooth[1]).reshape(len(one), -1) ** 2, axis=1)))
    return float(error / max(np.sqrt(np.mean(np.sum(smooth[1].reshape(len(one), -1) ** 2, axis=1))), least))


def proposals(finding: Finding) -> list[Sequence[str]]:
    """Lines of a finding's remedy, and those of the other that explains as much."""
    if finding.remedy is None:
        return []
    return [lines for lines in (finding.remedy.lines, finding.remedy.other) if lines]


def verdict(case: Wrong, conditions: Conditions = Conditions()) -> tuple[str, list[str], list[str]]:  # noqa: B008
    """What became of a case: `found`, `silent` or `wrong line`; findings' names, and lines proposed."""
    result, content = checked(case, conditions)
    columns = drive(case.drive, conditions._replace(noise=0.0))
    right = [motion(log(columns), mapping(entries)).signals for entries in ({}, ANGLES)]
    truth = Motion("truth", {**right[1], **right[0]})
    names, lines, wrong = [finding.name for finding in result.findings], [], False
    for finding in result.findings:
        offered = proposals(finding)
        right = []
        for each in offered:
            lines.append(" & ".join(each))
            text = pasted(mapping(case.entries, case.more), each)
            try:
                right.append(not deviations(motion(content, text), truth))
            except SegtrackError as error:
                right.append(False)
                lines.append(str(error))
        wrong |= bool(offered) and not any(right)
    return ("wrong line" if wrong else "found" if names else "silent"), names, lines
