"""Logs of simulated drives as labs would have them, and what can be wrong with them or their mappings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from mapped_logs import channel, log_of
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation
from simulated_logs import climb, step

from segtrack.description import load_vehicle
from segtrack.logs import Log, Motion
from segtrack.logs.compare import load_climbs
from segtrack.logs.mapping import LoadedTerrain, Plausibility, check_plausibility, map_log, parse_mapping
from segtrack.logs.replay import MotionRecorder
from segtrack.terrain import Plane
from segtrack.world import World

Columns = dict[str, np.ndarray]
RADIUS, EVERY = 0.075, 0.05
COUNTS = 4096 * 30
TURNS = ((0.5, 0.0, 0.0), (2, 1, 1), (2, 0.4, 1.3), (2, 1, 1), (2, 1.3, 0.2), (1.5, 1, 1), (0.5, 0, 0))
"""Seconds, and left and right belt speeds over a vehicle's usual one."""
DRIVES = {"quince": 0.15, "packbot": 0.3, "maxxii": 0.3}
"""Vehicles with their usual belt speeds [m/s]; Quince climbs a step, the others turn on level ground."""
STEP = 0.24


def thinned(whole: Motion) -> Motion:
    """A simulated climb at 20 Hz."""
    every = slice(None, None, round(EVERY / 0.01))
    signals = {k: type(s)(s.times[every].copy(), s.values[every].copy()) for k, s in whole.signals.items()}
    return Motion("climb", signals)


@cache
def bundled_climb(number: int) -> Motion:
    """A trial of the bundled table of climbs, simulated at 20 Hz."""
    trial = load_climbs("okada").trials[number]
    angles = {"front": trial.front_flippers_deg, "rear": trial.rear_flippers_deg or 0.0}
    way = {"speed": trial.speed, "way": 0.3, "seconds": 14.0}
    return thinned(climb("quince", step(trial.height), **angles, **way))


@cache
def motion_of(vehicle: str) -> Motion:
    """The drive of a vehicle: Quince's climb, the others' turns; 20 Hz."""
    if vehicle == "quince":
        return thinned(climb("quince", step(STEP), speed=DRIVES[vehicle], seconds=9.0, way=0.4))
    with World("exact", engine="native", resettable=False) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(load_vehicle(vehicle), yaw=0.8)
        world.settle()
        recorder, angles = MotionRecorder(robot, "turns"), dict.fromkeys(robot.flippers, 0.0)
        for seconds, left, right in TURNS:
            for _ in range(round(seconds / EVERY)):
                robot.set_belt_speed(left * DRIVES[vehicle], right * DRIVES[vehicle])
                recorder.sample(100.0 + world.time, angles)
                world.run(EVERY)
        return recorder.motion()


def columns_of(motion: Motion, seed: int = 0, noise: float = 1.0) -> Columns:
    """Channels of a log: a pose in a frame of its own, sprockets, encoders, a gyroscope; with noise."""
    rng = np.random.default_rng(seed)
    times, turn = motion.times, Rotation.from_euler("z", 0.6)
    count = len(times)

    def noisy(std: float, *width: int) -> np.ndarray:
        return noise * rng.normal(0.0, std, (count, *width))

    body = turn * Rotation.from_quat(motion["orientation"].copy()) * Rotation.from_rotvec(noisy(0.003, 3))
    yaw, pitch, roll = body.as_euler("ZYX").T
    found = {
        "t": times,
        "p": turn.apply(motion["position"].copy()) + [3.2, -1.7, 0.0] + noisy(0.002, 3),
        "q": body.as_quat(),
        "roll": roll,
        "pitch": pitch,
        "yaw": np.unwrap(yaw),
        "w": motion["angular_velocity"] + noisy(0.01, 3) + [0.01, -0.02, 0.005],
        "v": motion["velocity"] + noisy(0.01, 3),
    }
    for short, side in (("l", "left"), ("r", "right")):
        speed = motion[f"belt_speed.{side}"]
        found[f"c{short}"] = motion[f"belt_speed_command.{side}"] / RADIUS
        found[f"s{short}"] = speed / RADIUS + noisy(0.05)
        travel = cumulative_trapezoid(speed, times, initial=0.0)
        found[f"e{short}"] = np.round(travel / RADIUS / math.tau * COUNTS)
    found |= {name: values + noisy(0.002) for name, values in motion.by_name("flipper_angle").items()}
    return found | {"f": specific_force(motion) + noisy(0.5, 3)}


def specific_force(motion: Motion) -> np.ndarray:
    """What accelerometers in the body's middle show (n, 3) [m/s^2]: impacts of the climb included."""
    velocity = np.gradient(motion["position"], motion.times, axis=0)
    felt = np.gradient(velocity, motion.times, axis=0) + [0.0, 0.0, 9.80665]
    return np.asarray(Rotation.from_quat(motion["orientation"].copy()).inv().apply(felt))


BELTS = "{left: sl, right: sr, unit: rad/s, radius: 0.075}"
COMMANDS = "{left: cl, right: cr, unit: rad/s, radius: 0.075}"
ENCODERS = f"{{left: el, right: er, unit: counts, counts_per_turn: {COUNTS}, radius: 0.075}}"
POSE = {"position": "{channels: p, unit: m}", "orientation": "{channels: q}"}
RATES = {"angular_velocity": "{channels: w, unit: rad/s}", "velocity": "{channels: v, unit: m/s}"}
ALL = {"belt_speed_command": COMMANDS, "belt_speed": BELTS, **POSE, **RATES}
ANGLES = {
    "orientation": "",
    "roll": "{channel: roll, unit: rad}",
    "pitch": "{channel: pitch, unit: rad, positive: nose down}",
    "yaw": "{channel: yaw, unit: rad}",
}
MEASURED = {"belt_speed_command": ""}
FORCE = {"specific_force": "{channels: f, unit: m/s^2}"}
ALONE = {**FORCE, "position": "", "velocity": "", "angular_velocity": ""}
"""An accelerometer, and one whose log has nothing else that tells of attitude and path."""


class Case(NamedTuple):
    """What is wrong with a log or its mapping.

    Attributes:
        change: Changes the channels.
        mapping: Entries of the mapping instead of the right ones; empty to leave one out.
        line: Part of a line that explains it; empty where no line of a mapping does.
        on: Vehicles whose drive shows it.
    """

    change: Callable[[Columns], Any] | None = None
    mapping: dict[str, str] = {}
    line: str = ""
    on: tuple[str, ...] = tuple(DRIVES)


def scaled(factor: float, *names: str) -> Callable[[Columns], Any]:
    return lambda c: c.update({name: factor * c[name] for name in names})


def turned(c: Columns) -> None:
    """North-east-down with the body's axes forward, right, down."""
    down = Rotation.from_euler("x", math.pi)
    c.update(p=c["p"] * [1, -1, -1], q=(down * Rotation.from_quat(c["q"]) * down).as_quat())
    c.update(w=c["w"] * [1, -1, -1], v=c["v"] * [1, -1, -1])


def put(name: str, rows: list[int], values: Any) -> Callable[[Columns], Any]:
    def change(c: Columns) -> None:
        c[name] = c[name].copy()
        c[name][rows] = values

    return change


def frozen(c: Columns) -> None:
    since = c["t"] - c["t"][0]
    for name in ("p", "q"):
        c[name] = c[name].copy()
        c[name][(since >= 4.0) & (since < 7.0)] = c[name][np.searchsorted(since, 4.0)]


def jumping(c: Columns) -> None:
    c["p"] = c["p"] + 0.6 * (np.arange(len(c["p"])) >= len(c["p"]) // 2)[:, None] * [1, 0, 0]


def less_turn(c: Columns) -> None:
    middle, half = (c["sl"] + c["sr"]) / 2, (c["sr"] - c["sl"]) / 2
    c.update(sl=middle - half / 1.9, sr=middle + half / 1.9)


def wrapped(c: Columns) -> None:
    c.update({name: np.mod(c[name] + 30_000, 65536) for name in ("el", "er")})


def either_sign(count: int) -> np.ndarray:
    return (-1.0) ** np.arange(count)[:, None]


def belts(**keys: Any) -> dict[str, str]:
    values = {"left": "sl", "right": "sr", "unit": "rad/s", "radius": 0.075, **keys}
    return {**MEASURED, "belt_speed": f"{{{', '.join(f'{k}: {v}' for k, v in values.items())}}}"}


def angles(**changed: str) -> dict[str, str]:
    return {**ANGLES, **changed}


CLIMBS, TURNING = ("quince",), ("packbot", "maxxii")
RIGHT = {
    "as it is": Case(),
    "angles": Case(mapping=ANGLES),
    "encoders": Case(mapping={"belt_speed": ENCODERS}),
    "commands alone": Case(mapping={"belt_speed": ""}),
    "belts alone": Case(mapping={**MEASURED, "velocity": "", "angular_velocity": ""}),
    "quaternions of either sign": Case(lambda c: c.update(q=c["q"] * either_sign(len(c["q"])))),
    "yaw within half a turn": Case(
        lambda c: c.update(yaw=np.mod(c["yaw"] + 2.5 + math.pi, math.tau) - math.pi),
        angles(position=""),
    ),
    "an accelerometer": Case(mapping=FORCE),
    "an accelerometer beside angles": Case(mapping={**ANGLES, **ALONE}),
    "an accelerometer that is shaken": Case(
        lambda c: c.update(f=c["f"] + np.random.default_rng(4).normal(0.0, 4.0, c["f"].shape)), FORCE
    ),
    "positions to 1 cm": Case(lambda c: c.update(p=np.round(c["p"], 2))),
}  # fmt: skip
"""Logs and mappings with which nothing is wrong."""
KINDS = {
    "quaternion's order": Case(mapping={"orientation": "{channels: q, order: wxyz}"}, line="order: xyzw"),
    "conjugate": Case(
        lambda c: c.update(q=c["q"] * [-1, -1, -1, 1]), line="orientation.given: world in body"
    ),
    "north-east-down": Case(turned, line="world_rpy: [3.1416, 0, 0]"),
    "heights downwards": Case(lambda c: c.update(p=c["p"] * [1, -1, -1]), line="world_rpy: [3.1416, 0, 0]"),
    "pitch's sign": Case(
        mapping=angles(pitch="{channel: pitch, unit: rad, positive: nose up}"),
        line="positive: nose down",
        on=CLIMBS,
    ),
    "yaw's sign": Case(
        mapping=angles(yaw="{channel: yaw, unit: rad, positive: right}"), line="positive: left"
    ),
    "pitch in degrees": Case(scaled(180 / math.pi, "pitch"), ANGLES, "pitch.unit: deg", CLIMBS),
    "yaw in degrees": Case(scaled(180 / math.pi, "yaw"), ANGLES, "yaw.unit: deg", TURNING),
    "pitch called degrees": Case(
        mapping=angles(pitch="{channel: pitch, unit: deg, positive: nose down}"),
        line="pitch.unit: rad",
        on=CLIMBS,
    ),
    "no gear ratio": Case(scaled(30, "sl", "sr"), MEASURED, "gear_ratio"),
    "diameter for radius": Case(mapping=belts(radius=0.15), line="radius: 0.075"),
    "half the radius": Case(mapping=belts(radius=0.0375), line="radius: 0.075"),
    "rpm for rad/s": Case(mapping=belts(unit="rpm"), line="unit: rad/s"),
    "rad/s for rpm": Case(scaled(30 / math.pi, "sl", "sr"), MEASURED, "unit: rpm"),
    "rad/s for deg/s": Case(scaled(180 / math.pi, "sl", "sr"), MEASURED, "unit: deg/s"),
    "m for mm": Case(scaled(1000, "p"), {"velocity": ""}, "unit: mm"),
    "mm for m": Case(mapping={"position": "{channels: p, unit: mm}", "velocity": ""}, line="unit: m"),
    "one side reversed": Case(scaled(-1, "sr"), MEASURED, "reversed: [right]"),
    "both sides reversed": Case(scaled(-1, "sl", "sr"), MEASURED, "reversed: [left, right]"),
    "sides swapped": Case(mapping=belts(left="sr", right="sl"), line="left: sl", on=TURNING),
    "gyroscope in degrees": Case(scaled(180 / math.pi, "w"), line="angular_velocity.unit: deg/s"),
    "gyroscope upside down": Case(lambda c: c.update(w=c["w"] * [1, -1, -1]), line="rpy: [3.1416, 0, 0]"),
    "m/s^2 for g": Case(scaled(1 / 9.80665, "f"), FORCE, "specific_force.unit: g"),
    "g for m/s^2": Case(mapping={"specific_force": "{channels: f, unit: g}"}, line='unit: "m/s^2"'),
    "accelerometer upside down": Case(
        lambda c: c.update(f=c["f"] * [1, -1, -1]), FORCE, "rpy: [3.1416, 0, 0]"
    ),
    "accelerometer without gravity": Case(
        lambda c: c.update(f=c["f"] - np.median(c["f"], axis=0)), FORCE
    ),
    "conjugate beside an accelerometer": Case(
        lambda c: c.update(q=c["q"] * [-1, -1, -1, 1]), ALONE, "orientation.given: world in body", CLIMBS
    ),
    "pitch's sign beside an accelerometer": Case(
        mapping={**angles(pitch="{channel: pitch, unit: rad, positive: nose up}"), **ALONE},
        line="positive: nose down",
        on=CLIMBS,
    ),
    "x for y": Case(mapping={"position": "{channels: ['p[1]', 'p[0]', 'p[2]'], unit: m}"}, line="channels",
                    on=TURNING),
    "velocity in km/h": Case(scaled(3.6, "v"), line="velocity.unit: km/h"),
    "velocity along the world": Case(
        lambda c: c.update(v=Rotation.from_quat(c["q"]).apply(c["v"])), line="frame: world"
    ),
    "wrapped counters": Case(wrapped, {"belt_speed": ENCODERS}, "wrap: 65536"),
    "spikes of belts": Case(put("sl", [40, 90, 120], [40.0, -35.0, 50.0]), line="despike"),
    "spikes of places": Case(put("p", [40, 90], [[9.0, 0.0, 0.0], [3.0, 5.0, 0.0]]), line="despike"),
    "mark of none": Case(put("sl", [40, 41, 90, 120], -9999), line="missing: [-9999]"),
    "frozen pose": Case(frozen, line="end:"),
    "jump": Case(jumping, line="en"),
    "faster than belts turn it": Case(less_turn, MEASURED, on=TURNING),
    "flippers in degrees": Case(
        lambda c: c.update({k: np.degrees(v) for k, v in c.items() if k.startswith(("front", "rear"))}),
        line="unit: deg",
        on=CLIMBS,
    ),
    "clock in ms": Case(lambda c: c.update(t=c["t"][0] + (c["t"] - c["t"][0]) / 1000)),
}  # fmt: skip
"""What the issue of these checks named, and its like; written while the checks were."""
LATER = {
    "roll for pitch": Case(
        mapping=angles(
            roll="{channel: pitch, unit: rad}", pitch="{channel: roll, unit: rad, positive: nose down}"
        ),
        on=CLIMBS,
    ),
    "feet for metres": Case(scaled(1 / 0.3048, "p"), {"velocity": ""}),
    "a dead encoder": Case(scaled(0, "sr"), MEASURED),
    "a clock twice as fast": Case(lambda c: c.update(t=c["t"][0] + (c["t"] - c["t"][0]) / 2)),
    "velocity backwards": Case(scaled(-1, "v")),
    "gyroscope turned by 90 deg": Case(
        lambda c: c.update(w=np.stack([c["w"][:, 1], -c["w"][:, 0], c["w"][:, 2]], axis=1)), on=CLIMBS
    ),
    "commands in percent": Case(
        scaled(100 * RADIUS, "cl", "cr"), {"belt_speed_command": "{left: cl, right: cr, unit: m/s}"}
    ),
    "yaw rate in degrees": Case(
        lambda c: c.update(y=np.degrees(c["w"][:, 2])),
        {"yaw_rate": "{channel: y, unit: rad/s}", "angular_velocity": ""},
        on=TURNING,
    ),
    "compass yaw": Case(lambda c: c.update(yaw=math.pi / 2 - c["yaw"]), ANGLES),
    "mark of none in places": Case(put("p", [30, 31, 32, 77], -32768.0)),
    "belts a tenth": Case(scaled(0.1, "sl", "sr"), MEASURED),
    "heights in mm": Case(lambda c: c.update(p=c["p"] * [1, 1, 1000]), {"velocity": ""}, on=CLIMBS),
    "twice the turn": Case(lambda c: c.update(yaw=2 * c["yaw"]), ANGLES, on=TURNING),
    "an accelerometer turned by 90 deg": Case(
        lambda c: c.update(f=np.stack([c["f"][:, 1], -c["f"][:, 0], c["f"][:, 2]], axis=1)), FORCE, on=CLIMBS
    ),
    "an accelerometer that looks forwards": Case(
        lambda c: c.update(f=np.stack([c["f"][:, 2], c["f"][:, 1], -c["f"][:, 0]], axis=1)), FORCE
    ),
    "pitch in degrees beside an accelerometer": Case(
        scaled(180 / math.pi, "pitch"), {**ANGLES, **ALONE}, on=CLIMBS
    ),
    "roll for pitch beside an accelerometer": Case(
        mapping=angles(
            roll="{channel: pitch, unit: rad}",
            pitch="{channel: roll, unit: rad, positive: nose down}",
            **ALONE,
        ),
        on=CLIMBS,
    ),
    "quaternion of another body": Case(
        lambda c: c.update(q=np.roll(c["q"], 60, axis=0)), {"angular_velocity": ""}, on=TURNING
    ),
}
"""Cases that were written after the checks, and not looked at while these were."""


def mapping_of(vehicle: str, case: Case) -> str:
    """The mapping file of a case."""
    entries = {name: text for name, text in {**ALL, **case.mapping}.items() if text}
    lines = [f"vehicle: {vehicle}", "quantities:", *(f"  {name}: {text}" for name, text in entries.items())]
    flippers = list(motion_of(vehicle).by_name("flipper_angle"))
    lines += ["  flipper_angle:"] * bool(flippers)
    lines += [f"    {name}: {{channel: {name}, unit: rad}}" for name in flippers]
    return "\n".join(lines)


def log_of_case(vehicle: str, case: Case, seed: int = 0, noise: float = 1.0) -> Log:
    """A log with what is wrong in a case."""
    columns = columns_of(motion_of(vehicle), seed, noise)
    if case.change is not None:
        case.change(columns)
    return log_of(*(channel(k, v, times=columns["t"]) for k, v in columns.items() if k != "t"))


def checked_case(
    vehicle: str, case: Case, seed: int = 0, noise: float = 1.0, mapping: str | None = None
) -> Plausibility:
    """What is found in a case, with another mapping if one is given; Quince's terrain is known."""
    terrain: LoadedTerrain | None = step(STEP) if vehicle == "quince" else None
    text = mapping_of(vehicle, case) if mapping is None else mapping
    mapped = map_log(log_of_case(vehicle, case, seed, noise), parse_mapping(text, "m.yaml", Path(".")))
    return check_plausibility(mapped, terrain)


def pasted(mapping: str, lines: Sequence[str]) -> str:
    """A mapping file with lines that a finding proposes, `path: value`."""
    whole = yaml.safe_load(mapping)
    for line in lines:
        path, _, value = line.partition(": ")
        *keys, last = path.split(".")
        part = whole
        for key in keys:
            part = part.setdefault(key, {})
        new = yaml.safe_load(value)
        old = part.get(last)
        part[last] = {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new
    return yaml.safe_dump(whole)


HALF_GAUGE = load_vehicle("maxxii").require_track_offsets().gauge / 2


class Drive(NamedTuple):
    """A drive in the plane, at even times, with a slip of 2 % ahead and none in turns.

    Attributes:
        times: (n,) [s]
        speed: Forward speed (n,) [m/s].
        turning: Yaw rate (n,) [rad/s].
    """

    times: np.ndarray
    speed: np.ndarray
    turning: np.ndarray

    @classmethod
    def of(cls, *pieces: tuple[float, float, float], rate: float = 20.0) -> Drive:
        """Pieces of so many seconds, at a speed [m/s] and a yaw rate [rad/s], so many samples a second."""
        rows = [np.tile(piece[1:], (round(piece[0] * rate), 1)) for piece in pieces]
        speed, turning = np.concatenate(rows).T
        return cls(np.arange(len(speed)) / rate, speed, turning)

    def checked(
        self, place: np.ndarray | float = 0.0, mapping: str = "", beside: float = 0.0, **channels: np.ndarray
    ) -> Plausibility:
        """What is found, with noise (n, 3) added to places, which are of a point ahead of the middle [m]."""
        yaw = cumulative_trapezoid(self.turning, self.times, initial=0.0)
        ahead = np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], axis=1)
        places = cumulative_trapezoid(0.98 * self.speed[:, None] * ahead, self.times, axis=0, initial=0.0)
        half = HALF_GAUGE
        columns = {
            "l": self.speed - self.turning * half,
            "r": self.speed + self.turning * half,
            "p": places + beside * ahead + place,
            "y": yaw,
            **channels,
        }
        rest = "" if "position" in mapping else "  position: {channels: p, unit: m}\n"
        rest += "" if "yaw:" in mapping else "  yaw: {channel: y, unit: rad}\n"
        rest += "" if "belt_speed:" in mapping else "  belt_speed: {left: l, right: r, unit: m/s}\n"
        text = f"vehicle: maxxii\nmax_gap: 2\nquantities:\n{rest}{mapping}"
        log = log_of(*(channel(name, values, times=self.times) for name, values in columns.items()))
        return check_plausibility(map_log(log, parse_mapping(text)))
