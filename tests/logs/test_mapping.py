"""From logs to motions: units, signs, frames, clocks and gaps; and what is refused, whole messages."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from segtrack.errors import MappingFileError
from segtrack.logs import Channel, Log
from segtrack.logs.mapping import map_file, map_log, parse_mapping
from segtrack.logs.mapping.convert import to_local_position
from segtrack.logs.mapping.references import ANGLE, CURRENT, ENERGY, FORCE, LENGTH, SPEED, TIME, TURNING

TIMES = np.arange(100.0, 110.0, 0.05)
COUNT = len(TIMES)


def channel(name, values, unit="", times=TIMES, source="log.csv", stamps=None):
    return Channel(name, times, np.asarray(values, dtype=float), unit, source, stamps)


def log_of(*channels, path="log.csv"):
    return Log(Path(path), "csv", {each.name: each for each in channels})


def mapped(log, quantities, more=""):
    return map_log(log, parse_mapping(f"{more}\nquantities:\n{quantities}", "m.yaml"))


def refused(log, quantities, more=""):
    with pytest.raises(MappingFileError) as error:
        mapped(log, quantities, more)
    return str(error.value)


def constant(value, width=None):
    return np.full(COUNT if width is None else (COUNT, width), float(value))


FOREIGN = """\
vehicle: quince
event: first touch
start: 1.0
end: 9.0
sensors:
  mocap: {xyz: [0.2, 0.0, 0.1]}
quantities:
  belt_speed_command:
    left: cmd_left
    right: cmd_right
    unit: rad/s
    radius: 0.1
    gear_ratio: 2
  belt_speed:
    left: left
    right: right
    unit: rad/s
    radius: 0.1
    gear_ratio: 2
    reversed: [right]
    std: 0.002
  position: {channels: [x, y, z], unit: m, sensor: mocap, std: 0.001}
  roll: {channel: roll, unit: rad, sensor: mocap}
  pitch: {channel: pitch, unit: rad, positive: nose down, sensor: mocap}
  yaw: {channel: yaw, unit: rad, sensor: mocap}
"""


def test_a_foreign_table_takes_at_most_thirty_lines():
    assert len(FOREIGN.splitlines()) <= 30
    yaw = 0.5 * (TIMES - 100)
    turned = Rotation.from_euler("ZYX", np.stack([yaw, constant(-0.3), constant(0.1)], axis=1))
    body = np.stack([0.1 * TIMES, 0 * TIMES, constant(0.05)], axis=1)
    x, y, z = (body + turned.apply([0.2, 0.0, 0.1])).T
    columns = {"cmd_left": 4.0, "cmd_right": 5.0, "left": 3.9, "right": -4.9, "roll": 0.1, "pitch": -0.3}
    log = log_of(
        *(channel(name, constant(value)) for name, value in columns.items()),
        channel("x", x), channel("y", y), channel("z", z),
        channel("yaw", np.angle(np.exp(1j * yaw))),
    )  # fmt: skip
    result = map_log(log, parse_mapping(FOREIGN))
    signals = result.motion.signals
    assert result.begin == 100.0
    assert result.motion.span == pytest.approx((1.0, 9.0), abs=0.05)
    assert signals["belt_speed_command.right"].values == pytest.approx(0.25)
    assert signals["belt_speed.right"].values == pytest.approx(0.245)
    assert signals["belt_speed.left"].std == 0.002
    assert signals["pitch"].values == pytest.approx(0.3)
    assert signals["yaw"].values == pytest.approx(0.5 * signals["yaw"].times)
    assert signals["position"].values[:, 0] == pytest.approx(0.1 * (100 + signals["position"].times))
    assert signals["position"].values[:, 2] == pytest.approx(0.05)
    assert result.origins["belt_speed.right"].channels == ("right",)
    assert result.record()["signals"]["pitch"]["rate"] == pytest.approx(20.0)
    assert result.notes == ()


@pytest.mark.parametrize(
    ("said", "value", "speed"),
    [
        ("unit: km/h", 3.6, 1.0),
        ("unit: mm/s", 250.0, 0.25),
        ("unit: rpm, radius: 0.1", 60.0, 0.2 * np.pi),
        ("unit: deg/s, radius: 0.1, gear_ratio: 10", 180.0, 0.01 * np.pi),
        ("unit: counts/s, radius: 0.1, counts_per_turn: 1000", 500.0, 0.1 * np.pi),
        ("table: [[0, 0], [128, 0.2], [255, 0.3]]", 64.0, 0.1),
        ("table: [[0, 0], [128, 0.2], [255, 0.3]]", 400.0, 0.3),
    ],
)
def test_belt_speeds_come_in_many_units(said, value, speed):
    log = log_of(channel("a", constant(value)), channel("b", constant(value)))
    signals = mapped(log, f"  belt_speed: {{left: a, right: b, {said}}}").motion.signals
    assert signals["belt_speed.left"].values == pytest.approx(speed)


@pytest.mark.parametrize(
    ("said", "slope", "speed"),
    [
        ("unit: cm", 20.0, 0.2),
        ("unit: turns, radius: 0.1", 1.0, 0.2 * np.pi),
        ("unit: counts, counts_per_turn: 100, radius: 0.1", 100.0, 0.2 * np.pi),
    ],
)
def test_how_far_belts_have_come_is_differentiated(said, slope, speed):
    log = log_of(channel("a", slope * TIMES), channel("b", slope * TIMES))
    signal = mapped(log, f"  belt_speed: {{left: a, right: b, {said}}}").motion.signals["belt_speed.left"]
    assert signal.values == pytest.approx(speed)
    assert len(signal.times) == COUNT - 1


@pytest.mark.parametrize(("length", "gap"), [(9, None), (10, "0.6"), (17, "0.95")])
def test_a_gap_in_how_far_belts_have_come_is_as_long_as_without_differentiating(length, gap):
    """Its rows are as far apart as the limit, or more: half a row on both sides is said with it."""
    log = log_of(channel("a", TIMES + with_run(length) - 1), channel("b", TIMES))
    said = "  belt_speed: {left: a, right: b, unit: m}"
    if gap is None:
        result = mapped(log, said)
        assert result.notes == (f"belt_speed: {length} of 200 rows lack a number: left out",)
        assert result.motion.signals["belt_speed.left"].values == pytest.approx(1.0)
        return
    begin, end = 2.9, 2.9 + float(gap)
    assert refused(log, said) == (
        f"m.yaml:3: quantities.belt_speed has no value for {gap} s, from {begin:.4g} to {end:.4g} s; at most "
        "0.5 s are bridged: see start, end and max_gap"
    )


def test_travel_is_differentiated_between_rows_that_are_max_gap_apart():
    times = np.arange(5) / 2
    log = log_of(channel("a", 3 * times, "m", times), channel("b", 3 * times, "m", times))
    signal = mapped(log, "  belt_speed: {left: a, right: b}").motion.signals["belt_speed.left"]
    assert signal.times.tolist() == [0.0, 0.5, 1.0, 1.5] and signal.values == pytest.approx(3.0)


def test_travel_without_two_rows_near_each_other_is_refused():
    times = np.arange(0.0, 5.0)
    log = log_of(channel("a", times, "m", times), channel("b", times, "m", times))
    assert refused(log, "  belt_speed: {left: a, right: b}") == (
        "m.yaml:3: quantities.belt_speed must have two rows at most 0.5 s apart to be differentiated"
    )


def test_a_unit_of_any_rate_is_not_taken_for_one_of_turning():
    log = log_of(channel("w", constant(1), "1/s"))
    assert refused(log, "  yaw_rate: {channel: w, positive: left}") == (
        "m.yaml:3: quantities.yaw_rate.unit is missing, and the log's must be rad/s, deg/s, rpm or turns/s, "
        "got '1/s'"
    )


def test_a_twist_becomes_belt_speeds():
    log = log_of(channel("/cmd_vel.linear", constant(0.2, 3)), channel("/cmd_vel.angular", constant(0.4, 3)))
    said = "linear: /cmd_vel.linear.x, angular: /cmd_vel.angular.z"
    signals = mapped(log, f"  belt_speed_command: {{{said}, gauge: 0.5}}").motion.signals
    assert signals["belt_speed_command.left"].values == pytest.approx(0.1)
    assert signals["belt_speed_command.right"].values == pytest.approx(0.3)
    by_vehicle = mapped(log, f"  belt_speed_command: {{{said}}}", "vehicle: maxxii").motion.signals
    assert by_vehicle["belt_speed_command.right"].values == pytest.approx(0.2 + 0.4 * 0.606 / 2)
    assert refused(log, f"  belt_speed_command: {{{said}}}") == (
        "m.yaml:3: quantities.belt_speed_command.gauge is missing: a twist becomes belt speeds with "
        "the distance "
        "of the tracks [m], or with a vehicle"
    )


@pytest.mark.parametrize(
    ("said", "key", "value", "expected"),
    [
        ("pitch: {channel: a, unit: deg, positive: nose up}", "pitch", 90.0, np.pi / 2),
        ("pitch: {channel: a, unit: deg, positive: nose down}", "pitch", 90.0, -np.pi / 2),
        ("yaw: {channel: a, unit: rad, positive: right}", "yaw", 0.5, -0.5),
        ("roll: {channel: a, unit: rad, positive: left side down}", "roll", 0.5, -0.5),
        ("yaw_rate: {channel: a, unit: deg/s, positive: right}", "yaw_rate", 180.0, -np.pi),
        ("slip_velocity: {left: a, unit: m/s, positive: ground faster}", "slip_velocity.left", 0.1, -0.1),
        ("slip_velocity: {left: a, unit: m/s, positive: belt faster}", "slip_velocity.left", 0.1, 0.1),
        ("current: {left: a, unit: mA}", "current.left", 1500.0, 1.5),
        ("belt_force: {right: a, unit: kN, reversed: [right]}", "belt_force.right", 0.1, -100.0),
        ("energy: {channel: a, unit: Wh}", "energy", 1.0, 3600.0),
        ("flipper_angle: {arm: {channel: a, unit: deg, zero: 30}}", "flipper_angle.arm", 120.0, np.pi / 2),
        ("flipper_angle: {arm: {channel: a, unit: rad, positive: tip down}}", "flipper_angle.arm", 1.0, -1.0),
    ],
)
def test_units_and_signs_become_segtracks(said, key, value, expected):
    signals = mapped(log_of(channel("a", constant(value))), f"  {said}").motion.signals
    assert signals[key].values == pytest.approx(expected)


def test_a_turned_sensor_apart_from_the_body_gives_the_bodys_motion():
    """Of a body that turns and translates, by a sensor in another frame and a world whose y is up."""
    rng = np.random.default_rng(0)
    since = TIMES - 100
    angles = np.stack([0.5 * np.sin(since), 0.3 * np.sin(1.3 * since), 0.2 * np.cos(since)], axis=1)
    body, position = Rotation.from_euler("ZYX", angles), np.cumsum(rng.normal(0, 0.01, (COUNT, 3)), axis=0)
    rate, velocity = rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 3))
    mount, world = Rotation.from_euler("ZYX", [0.3, 0.2, 0.1]), Rotation.from_euler("x", np.pi / 2)
    place = np.array([0.1, -0.2, 0.3])
    log = log_of(
        channel("q", (world.inv() * body * mount).as_quat()[:, [3, 0, 1, 2]]),
        channel("p", world.inv().apply(position + body.apply(place))),
        channel("w", mount.inv().apply(rate)),
        channel("v", mount.inv().apply(velocity + np.cross(rate, place))),
    )
    sensors = (
        "sensors: {s: {xyz: [0.1, -0.2, 0.3], rpy: [0.1, 0.2, 0.3], world_rpy: [1.5707963267948966, 0, 0]}}"
    )
    signals = mapped(
        log,
        """
  orientation: {channels: q, order: wxyz, sensor: s}
  position: {channels: p, unit: m, sensor: s}
  angular_velocity: {channels: w, unit: rad/s, sensor: s}
  velocity: {channels: v, unit: m/s, sensor: s}""",
        sensors,
    ).motion.signals
    assert (Rotation.from_quat(signals["orientation"].values).inv() * body).magnitude() == pytest.approx(
        0, abs=1e-9
    )
    assert signals["position"].values == pytest.approx(position)
    assert signals["angular_velocity"].values == pytest.approx(rate)
    assert signals["velocity"].values == pytest.approx(velocity)


def test_angles_of_a_turned_sensor_become_the_bodys():
    log = log_of(channel("r", constant(0.1)), channel("p", constant(0.2)), channel("y", constant(0.3)))
    signals = mapped(
        log,
        """
  roll: {channel: r, unit: rad, sensor: s}
  pitch: {channel: p, unit: rad, positive: nose down, sensor: s}
  yaw: {channel: y, unit: rad, sensor: s}""",
        "sensors: {s: {rpy: [0.1, 0.2, 0.3]}}",
    ).motion.signals
    for name in ("roll", "pitch", "yaw"):
        assert signals[name].values == pytest.approx(0.0, abs=1e-12)


def test_a_velocity_in_the_world_becomes_the_bodys():
    log = log_of(
        channel("v", np.tile([0.0, 2.0, 0.0], (COUNT, 1))), channel("q", np.tile(HALF_LEFT, (COUNT, 1)))
    )
    said = "  velocity: {channels: v, unit: m/s, frame: world}\n  orientation: {channels: q}"
    assert mapped(log, said).motion.signals["velocity"].values == pytest.approx(
        np.tile([2.0, 0, 0], (COUNT, 1))
    )
    assert refused(log, "  velocity: {channels: v, unit: m/s, frame: world}") == (
        "m.yaml:3: quantities.velocity must come with orientation, as it is along the world's axes"
    )


HALF_LEFT = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]


def test_satellites_give_metres_east_north_and_up():
    """By the radii of curvature of the ellipsoid at 45 degrees of latitude (Snyder 1987, eq. 4-18 "
    "and 4-20)."""
    axis, squared = 6378137.0, 0.00669437999014
    phi = np.radians(45.0)
    across = axis / np.sqrt(1 - squared * np.sin(phi) ** 2)
    along = axis * (1 - squared) / (1 - squared * np.sin(phi) ** 2) ** 1.5
    step = 1e-5
    places = to_local_position(
        np.array([45.0, 45.0 + step, 45.0]), np.array([7.0, 7.0, 7.0 + step]), np.array([0, 0, 5.0])
    )
    north, east = np.radians(step) * along, np.radians(step) * across * np.cos(phi)
    assert places[1] == pytest.approx([0, north, 0], abs=1e-6)
    assert places[2] == pytest.approx([east, 0, 5.0], abs=1e-5)
    log = log_of(
        channel("lat", 45 + step * (TIMES - 100)),
        channel("lon", constant(7.0)),
        channel("alt", constant(3.0)),
    )
    signal = mapped(log, "  position: {latitude: lat, longitude: lon, height: alt}").motion.signals[
        "position"
    ]
    assert signal.values[-1] == pytest.approx([0, north * 9.95, 0], abs=1e-5)
    flat = mapped(log, "  position: {latitude: lat, longitude: lon}").motion.signals["position"]
    assert flat.values == pytest.approx(signal.values, abs=1e-5)


@pytest.mark.parametrize(
    ("units", "as_much"),
    [
        (LENGTH, {"m": 1, "cm": 100, "mm": 1000, "km": 0.001}),
        (SPEED, {"m/s": 1, "cm/s": 100, "mm/s": 1000, "km/h": 3.6}),
        (ANGLE, {"rad": 2 * np.pi, "mrad": 2000 * np.pi, "deg": 360, "turns": 1}),
        (TURNING, {"rad/s": 2 * np.pi, "deg/s": 360, "rpm": 60, "turns/s": 1}),
        (CURRENT, {"A": 1, "mA": 1000}),
        (FORCE, {"N": 1, "kN": 0.001}),
        (ENERGY, {"J": 3600, "kJ": 3.6, "Wh": 1}),
        (TIME, {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}),
    ],
)
def test_as_much_in_any_unit_is_the_same(units, as_much):
    ours = list(units)[0]
    assert {unit: count * units[unit] for unit, count in as_much.items()} == pytest.approx(
        dict.fromkeys(units, as_much[ours])
    )


def test_units_that_the_log_says_need_not_be_said_again():
    log = log_of(channel("w", constant(180.0), "°/s"))
    assert mapped(log, "  yaw_rate: {channel: w}").motion.signals["yaw_rate"].values == pytest.approx(np.pi)
    both = mapped(log, "  yaw_rate: {channel: w, unit: rad/s}")
    assert both.notes == ("quantities.yaw_rate: taken as rad/s, as the mapping says, where the log says °/s",)


@pytest.mark.parametrize(("unit", "is_noted"), [("°", False), ("degrees", False), ("rad", True), ("", False)])
def test_a_unit_other_than_the_logs_is_noted(unit, is_noted):
    log = log_of(channel("a", constant(90), unit))
    result = mapped(log, "  yaw: {channel: a, unit: deg}")
    assert result.motion.signals["yaw"].values == pytest.approx(np.pi / 2)
    note = "quantities.yaw: taken as deg, as the mapping says, where the log says rad"
    assert result.notes == ((note,) if is_noted else ())


def test_rows_without_a_number_are_left_out_and_said():
    values = constant(1.0)
    values[50:54] = np.nan
    result = mapped(log_of(channel("a", values)), "  pitch: {channel: a, unit: rad, positive: nose up}")
    assert len(result.motion.signals["pitch"].times) == COUNT - 4
    assert result.notes == ("pitch: 4 of 200 rows lack a number: left out",)


def test_rows_with_the_time_of_the_row_before_are_left_out_and_said():
    times = np.round(TIMES, 1)
    result = mapped(log_of(channel("a", constant(1), "rad", times)), "  yaw: {channel: a}")
    assert result.notes == ("log.csv: 100 rows have the time of the row before, or none: left out",)


def test_commands_hold_until_the_next():
    times = np.array([0.0, 1.0, 5.0])
    log = log_of(channel("a", [0.0, 1.0, 3.0], "m/s", times), channel("b", [0.0, 1.0, 3.0], "m/s", times))
    result = mapped(log, "  belt_speed_command: {left: a, right: b}")
    assert result.motion.signals["belt_speed_command.left"].at([0.5, 3.0, 4.9, 5.0]) == pytest.approx(
        [0, 1, 1, 3]
    )
    assert result.notes[0] == "belt_speed_command.left: 2 commands hold for more than 0.5 s, until the next"


def test_times_can_be_a_channels():
    log = log_of(channel("a", TIMES, "rad"), channel("ms", 1000 * TIMES), channel("row", np.arange(COUNT)))
    more = "sources: {log.csv: {time: ms, unit: ms}}"
    result = mapped(log, "  yaw: {channel: a}", more)
    assert result.begin == pytest.approx(100.0)
    assert result.origins["yaw"].clock == "ms"


def test_a_headers_clock_is_put_on_that_of_receiving():
    """As a device's that counts its uptime and runs 5 % slow, with messages that come late."""
    rng = np.random.default_rng(0)
    stamps = 1551.0 + np.arange(0, 10, 0.02)
    received = np.maximum.accumulate(1.7e9 + 1.053 * (stamps - 1551) + rng.exponential(0.003, 500))
    log = log_of(channel("/imu.w", np.zeros((500, 3)), "rad/s", received, "/imu", stamps))
    result = mapped(log, "  angular_velocity: {channels: /imu.w}")
    assert np.diff(result.motion.signals["angular_velocity"].times) == pytest.approx(0.02106, abs=1e-4)
    assert result.clocks[0].skew.holds(0.053)
    by_receiving = mapped(log, "  angular_velocity: {channels: /imu.w}", "sources: {/imu: {clock: receive}}")
    assert by_receiving.clocks == ()
    assert by_receiving.origins["angular_velocity"].clock == "receive"


def test_headers_that_show_no_clock_are_not_used_unless_that_is_asked_for():
    stamps = TIMES.copy()
    stamps[30:] -= 7.0
    log = log_of(channel("/a.x", constant(0), "rad", TIMES, "/a", stamps))
    backwards = "run backwards: by 6.95 s at row 30, from 101.45 s"
    assert mapped(log, "  yaw: {channel: /a.x}").notes == (
        f"/a: times of receiving are used, since those of its headers {backwards}",
    )
    assert refused(log, "  yaw: {channel: /a.x}", "sources: {/a: {clock: header}}") == (
        f"m.yaml:1: sources./a has times that {backwards}; the clock of receiving may not"
    )


def test_an_offset_and_a_skew_can_be_said():
    late = TIMES[0] + (TIMES - TIMES[0]) / 1.01 - 50
    log = log_of(channel("a", TIMES, "rad", late, "a"), channel("b", TIMES, "rad", TIMES, "b"))
    said = "  yaw: {channel: a}\n  roll: {channel: b}"
    signals = mapped(log, said, "sources: {a: {offset: 50, skew: 0.01}}").motion.signals
    assert signals["yaw"].at(signals["roll"].times) == pytest.approx(signals["roll"].values, abs=0.01)


def test_rows_of_steady_turns_have_numbers_for_times():
    columns = {"wl": [1.0, 2, 3], "wr": [2.0, np.nan, 4], "bl": [0.1, 0.2, 0.3], "br": [0.3, 0.2, 0.1]}
    log = log_of(*(channel(name, values, "", np.arange(3.0)) for name, values in columns.items()))
    result = mapped(
        log,
        """
  belt_speed: {left: wl, right: wr, unit: rad/s, radius: 0.1}
  slip_velocity: {left: bl, right: br, unit: m/s, positive: ground faster}""",
        "rows: steady",
    )
    assert result.is_steady
    assert result.motion.signals["belt_speed.right"].times.tolist() == [0.0, 2.0]
    assert result.motion.signals["slip_velocity.left"].values == pytest.approx([-0.1, -0.3])
    assert result.notes == ("1 of 3 rows lack a number: left out",)


def test_what_does_not_fit_a_log_comes_at_once_with_its_lines():
    log = log_of(
        channel("speed_left", constant(1)),
        channel("w", constant(1, 3), "mph"),
        channel("q", constant(0.6, 4)),
    )
    assert refused(
        log,
        """  belt_speed: {left: speed_lef, right: w, unit: m/s}
  yaw_rate: {channel: w.x}
  pitch: {channel: speed_left, positive: nose up}
  orientation: {channels: w}
  flipper_angle: {rear: {channel: speed_left, unit: deg}}
""".replace("  orientation: {channels: w}\n", ""),
        "vehicle: packbot\nsources: {imu: {align: log.csv}}",
    ).splitlines() == [
        "m.yaml:2: sources.imu is no source of log.csv, got 'imu'; there are: log.csv",
        "m.yaml:4: quantities.belt_speed.left is no channel of log.csv, got 'speed_lef'; did you "
        "mean speed_left?",
        "m.yaml:5: quantities.yaw_rate.unit is missing, and the log's must be rad/s, deg/s, rpm or "
        "turns/s, got 'mph'",
        "m.yaml:6: quantities.pitch.unit is missing, and the log says none; it can be rad, mrad, deg, turns",
        "m.yaml:7: quantities.flipper_angle.rear is no flipper of packbot; there are: none",
    ]


def test_flippers_that_the_vehicle_has_are_known_by_its_names():
    log = log_of(channel("a", constant(0.5), "rad"))
    said = "  flipper_angle: {front_left: {channel: a, zero: 0.2, positive: tip down}}"
    values = mapped(log, said, "vehicle: quince").motion.signals["flipper_angle.front_left"].values
    assert values == pytest.approx(-0.3)


MISTAKEN = """\
vehicle: packbot
sources:
  imu: {align: imu}
  log.csv: {clok: header}
quantities:
  belt_speed_command: {left: cmd_lef, right: cmd_r, unit: mph, radius: 0.1}
  belt_speed: {left: cmd_l, linear: cmd_r}
  pitch: {channel: pich, unit: deg}
  yaw: {channel: cmd_l, sensor: mast}
  roll: 3
  flipper_angle: {rear: {channel: cmd_l, unit: deg, zero: none}}
"""


def test_mistakes_of_a_file_and_what_does_not_fit_the_log_come_at_once(tmp_path):
    (tmp_path / "log.csv").write_text(
        "time_s,cmd_l,cmd_r,pitch\n" + "".join(f"{i},1,2,3\n" for i in range(9))
    )
    (tmp_path / "m.yaml").write_text(MISTAKEN)
    with pytest.raises(MappingFileError) as error:
        map_file(tmp_path / "log.csv", tmp_path / "m.yaml")
    assert str(error.value).splitlines() == [
        "m.yaml:3: sources.imu.align must be another source",
        "m.yaml:3: sources.imu is no source of log.csv, got 'imu'; there are: log.csv",
        "m.yaml:3: sources.imu.align is no source of log.csv, got 'imu'; there are: log.csv",
        "m.yaml:4: sources.log.csv.clok is not a key that segtrack knows; did you mean clock?",
        "m.yaml:6: quantities.belt_speed_command.unit must be m/s, cm/s, mm/s, km/h, rad/s, deg/s, "
        "rpm, turns/s, counts/s, m, cm, mm, km, rad, mrad, deg, turns or counts, got 'mph'",
        "m.yaml:6: quantities.belt_speed_command.left is no channel of log.csv, got 'cmd_lef'; did "
        "you mean cmd_l?",
        "m.yaml:7: quantities.belt_speed must have left and right, or linear and angular, got left, linear",
        "m.yaml:8: quantities.pitch.positive must be said: nose up (as segtrack counts it) or nose "
        "down (as REP 103 does)",
        "m.yaml:8: quantities.pitch.channel is no channel of log.csv, got 'pich'; did you mean pitch?",
        "m.yaml:9: quantities.yaw.sensor is none of sensors, got 'mast'; there are: none",
        "m.yaml:9: quantities.yaw.unit is missing, and the log says none; it can be rad, mrad, deg, turns",
        "m.yaml:10: quantities.roll must be a mapping of keys, got 3",
        "m.yaml:11: quantities.flipper_angle.rear.zero must be a number, got 'none'",
        "m.yaml:11: quantities.flipper_angle.rear is no flipper of packbot; there are: none",
    ]


def backwards():
    times = TIMES.copy()
    times[120:] -= 0.35
    times[150:] -= 0.2
    return times


def with_run(length, first=60):
    values = constant(1.0)
    values[first : first + length] = np.nan
    return values


BAD_QUATERNIONS = (
    np.tile([0.0, 0.0, 0.0, 1.0], (COUNT, 1)) * np.where(np.arange(COUNT) < 198, 1.0, 1.4)[:, None]
)


@pytest.mark.parametrize(
    ("channels", "quantities", "message"),
    [
        (
            [channel("a", constant(1), "rad", backwards())],
            "  yaw: {channel: a}",
            "m.yaml: sources.log.csv has times that run backwards: by 0.3 s at row 120, from 105.95 "
            "s, and 1 more times, "
            "at most by 0.3 s",
        ),
        (
            [channel("a", with_run(20), "rad")],
            "  yaw: {channel: a}",
            "m.yaml:3: quantities.yaw has no value for 1.05 s, from 2.95 to 4 s; at most 0.5 s are "
            "bridged: see "
            "start, end and max_gap",
        ),
        (
            [channel("a", constant(np.nan), "rad")],
            "  yaw: {channel: a}",
            "m.yaml:3: quantities.yaw has no numbers: a has none in any of 200 rows",
        ),
        (
            [channel("q", BAD_QUATERNIONS)],
            "  orientation: {channels: q}",
            "m.yaml:3: quantities.orientation must be quaternions of length one, got 1.4 at row 198 "
            "and others in 1 more",
        ),
        (
            [channel("a", constant(1), "rad"), channel("b", constant(1), "rad", TIMES - 90, "b.csv")],
            "  yaw: {channel: a}\n  roll: {channel: b}",
            "m.yaml: sources have no time in common: b.csv from 10 to 19.95 s, log.csv from 100 to "
            "109.95 s; see align "
            "and offset",
        ),
        ([], "  yaw: {channel: a}", "m.yaml: cannot be used on log.csv, which has no values"),
        (
            [
                channel("p", constant(1, 2), "m"),
                channel("v", constant(1, 3), "m/s"),
                channel("b", TIMES, "", TIMES, "b.csv"),
            ],
            "  yaw: {channel: v, unit: rad}\n  velocity: {channels: [p, b], unit: m/s}",
            "m.yaml:3: quantities.yaw.channel must be one number at a time, v has 3: say which, as in v.x\n"
            "m.yaml:4: quantities.velocity must be of one source, got log.csv and b.csv",
        ),
        (
            [channel("p", constant(1, 3), "m")],
            "  position: {channels: p, sensor: s}",
            "m.yaml:3: quantities.position must come with roll, pitch and yaw, or an orientation, as "
            "it is apart from the "
            "body frame's origin",
        ),
        (
            [channel("v", constant(1, 3), "m/s")],
            "  velocity: {channels: v, sensor: s}",
            "m.yaml:3: quantities.velocity must come with angular_velocity, as it is apart from the "
            "body frame's origin",
        ),
    ],
    ids=["backwards", "gap", "none", "quaternions", "no overlap", "empty", "width", "place", "velocity"],
)  # fmt: skip
def test_a_log_is_refused(channels, quantities, message):
    more = "sensors: {s: {xyz: [1, 0, 0]}}" if "sensor" in quantities else ""
    assert refused(log_of(*channels), quantities, more) == message


def test_a_piece_without_values_is_refused():
    log = log_of(channel("a", TIMES, "rad"))
    assert refused(log, "  yaw: {channel: a}", "start: 20") == (
        "m.yaml:3: quantities.yaw has no value from 20 s to the end: it has some from 0 to 9.95 s"
    )


def test_a_longer_gap_can_be_bridged_or_cut_off():
    log = log_of(channel("a", with_run(20), "rad"))
    assert len(mapped(log, "  yaw: {channel: a}", "max_gap: 1.2").motion.signals["yaw"].times) == 180
    assert mapped(log, "  yaw: {channel: a}", "start: 3.99").motion.span == pytest.approx((4.0, 9.95))


@pytest.mark.parametrize(("max_gap", "is_bridged"), [(0.5, True), (0.499, False)])
def test_a_gap_of_just_max_gap_is_bridged(max_gap, is_bridged):
    log = log_of(channel("a", [0.0, 1, 2, 3], "rad", np.array([0.0, 0.25, 0.75, 1.0])))
    if is_bridged:
        assert len(mapped(log, "  yaw: {channel: a}", f"max_gap: {max_gap}").motion.signals["yaw"].times) == 4
    else:
        assert "has no value for 0.5 s, from 0.25 to 0.75 s" in refused(
            log, "  yaw: {channel: a}", f"max_gap: {max_gap}"
        )


@pytest.mark.parametrize("length", [0.9949, 0.9951, 1.0049, 1.0051])
def test_quaternions_of_nearly_length_one_become_of_length_one(length):
    values = np.tile([0.0, 0.0, 0.6, 0.8], (COUNT, 1)) * length
    log = log_of(channel("q", values))
    if abs(length - 1) < 0.005:
        found = mapped(log, "  orientation: {channels: q}").motion.signals["orientation"].values
        np.testing.assert_allclose(found, np.tile([0.0, 0.0, 0.6, 0.8], (COUNT, 1)), rtol=0, atol=1e-15)
    else:
        assert "must be quaternions of length one" in refused(log, "  orientation: {channels: q}")


def test_the_used_piece_has_its_first_and_its_last_row():
    times = np.arange(9) / 8
    log = log_of(channel("a", np.arange(9.0), "rad", times))
    signal = mapped(log, "  yaw: {channel: a}", "start: 0.25\nend: 0.75").motion.signals["yaw"]
    assert signal.values.tolist() == [2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize(("step", "is_noted"), [(0.02, False), (0.08, True)])
def test_a_headers_clock_that_is_uneven_is_noted(step, is_noted):
    """A clock that is set in the middle is off a line by up to half of that."""
    stamps = np.arange(400) / 50
    received = stamps + np.where(stamps < 4.0, 0.0, step)
    log = log_of(channel("/a.x", np.zeros(400), "rad", received, "/a", stamps))
    result = mapped(log, "  yaw: {channel: /a.x}")
    assert any("its header's clock is not even" in note for note in result.notes) == is_noted
    assert 0.25 * step < result.clocks[0].unevenness < 0.75 * step


def test_the_distance_of_tracks_in_the_mapping_comes_before_the_vehicles():
    log = log_of(channel("v", constant(0.1), "m/s"), channel("w", constant(0.5), "rad/s"))
    said = "  belt_speed_command: {linear: v, angular: w, gauge: 0.6}"
    signals = mapped(log, said, "vehicle: quince").motion.signals
    assert signals["belt_speed_command.left"].values == pytest.approx(0.1 - 0.5 * 0.3)
    assert signals["belt_speed_command.right"].values == pytest.approx(0.1 + 0.5 * 0.3)


def test_a_measurement_is_reversed_before_it_is_given_its_sign():
    log = log_of(channel("l", constant(0.1), "m/s"), channel("r", constant(0.2), "m/s"))
    said = "  slip_velocity: {left: l, right: r, positive: ground faster, reversed: [right]}"
    signals = mapped(log, said).motion.signals
    assert signals["slip_velocity.left"].values == pytest.approx(-0.1)
    assert signals["slip_velocity.right"].values == pytest.approx(0.2)


def swaying(times):
    return Rotation.from_euler(
        "ZYX", np.stack([0.4 * np.sin(0.8 * times + 0.05 * times**2), 0 * times, 0 * times], 1)
    )


def two_devices(is_moving=True):
    """A pose, and a robot's belts on a clock of their own, 50 s early; the robot has a yaw, too."""
    rng = np.random.default_rng(0)
    since = np.arange(0.5, 9.5, 0.02)
    seen = since if is_moving else 0 * since
    yaw = swaying(seen).as_euler("ZYX")[:, 0]
    own = [
        channel("left", constant(0.1), "m/s"),
        channel("right", constant(0.1), "m/s"),
    ]
    return log_of(
        *own,
        channel(
            "heading", np.degrees(-swaying(TIMES - 100 if is_moving else 0 * TIMES).as_euler("ZYX")[:, 0])
        ),
        channel("mocap: q", swaying(seen).as_quat(), "-", 150 + since, "mocap"),
        channel("mocap: yaw", yaw + rng.normal(0, 1e-3, len(yaw)), "rad", 150 + since, "mocap"),
    )


SEEN = (
    "sources: {log.csv: {align: mocap, by: yaw, sees: {yaw: {channel: heading, unit: deg, positive: right}}}}"
)
BOTH = "  belt_speed: {left: left, right: right}\n  yaw: {channel: 'mocap: yaw'}"


def test_a_source_is_put_on_the_clock_of_another_by_what_it_sees_besides():
    result = mapped(two_devices(), BOTH, SEEN)
    fit = result.clocks[0]
    assert (fit.source, fit.reference, fit.by) == ("log.csv", "mocap", "yaw")
    assert fit.offset.value == pytest.approx(50.0, abs=0.02)
    assert result.motion.signals["belt_speed.left"].times[0] == pytest.approx(150.0 - result.begin, abs=0.02)
    assert result.record()["clocks"][0]["by"] == "yaw"


@pytest.mark.parametrize("is_used", [True, False], ids=["used", "for its clock alone"])
def test_a_source_follows_the_offset_of_the_one_that_it_is_aligned_to(is_used):
    """In whatever order the mapping file has them."""
    moved, yaw = "mocap: {offset: 5", "yaw: {channel: 'mocap: yaw'}"
    said = BOTH if is_used else BOTH.replace(yaw, "orientation: {channels: 'mocap: q'}")
    moved += "}" if is_used else f", sees: {{{yaw}}}}}"
    head, aligned = SEEN.removesuffix("}").split("{", 1)
    begins = []
    for order in ((aligned, moved), (moved, aligned)):
        result = mapped(two_devices(), said, f"{head}{{{', '.join(order)}}}")
        assert result.clocks[0].offset.value == pytest.approx(55.0, abs=0.02)
        begins.append(result.motion.signals["belt_speed.left"].times[0] + result.begin)
    assert begins == pytest.approx([155.0, 155.0], abs=0.02)


def test_a_clock_that_the_motion_does_not_show_is_refused_where_it_is_asked_for():
    assert refused(two_devices(is_moving=False), BOTH, SEEN) == (
        "m.yaml:1: sources.log.csv.align cannot be done: the clock of log.csv cannot be put on that "
        "of mocap: by yaw: "
        "the peak is flat: what both see varies too little, or is not the same (the best correlation "
        "is 0.00, at "
        "least 0.6 is needed)"
    )


def tumbling(times):
    """About all axes, so that rates show the whole of how a sensor sits."""
    angles = [0.4 * np.sin(0.8 * times), 0.3 * np.sin(1.3 * times), 0.3 * np.sin(1.7 * times + 1)]
    return Rotation.from_euler("ZYX", np.stack(angles, 1))


def a_turned_gyroscope_beside_a_mocap(attitude_at=swaying, noise=0.002):
    """A gyroscope that is turned by a quarter about z, with a bias and noise, and an attitude with noise."""
    rng = np.random.default_rng(0)
    turned = Rotation.from_euler("Z", np.pi / 2)
    times, seen = np.arange(0.5, 9.5, 0.02), np.arange(0.0, 10.0, 0.005)
    spins = (attitude_at(seen - 0.002).inv() * attitude_at(seen + 0.002)).as_rotvec() / 0.004
    spins = turned.inv().apply(spins) + [0.05, -0.04, 0.03] + rng.normal(0, 0.005, spins.shape)
    attitude = attitude_at(times) * Rotation.from_rotvec(rng.normal(0, noise, (len(times), 3)))
    return log_of(
        channel("q", attitude.as_quat(), "-", times, "mocap"), channel("w", spins, "rad/s", seen, "imu")
    )


GYROSCOPE = (
    "  orientation: {channels: q}\n  angular_velocity: {channels: w, sensor: gyro, bias: [0.05, 0, 0]}"
)


@pytest.mark.parametrize(("one", "other"), [("imu", "mocap"), ("mocap", "imu")])
def test_a_bias_is_noted_of_the_gyroscope_whichever_is_aligned(one, other):
    """Beyond what the mapping takes off, in the frame of the gyroscope."""
    log = a_turned_gyroscope_beside_a_mocap()
    more = f"sensors: {{gyro: {{rpy: [0, 0, 1.5707963]}}}}\nsources: {{{one}: {{align: {other}}}}}"
    result = mapped(log, GYROSCOPE, more)
    assert result.clocks[0].biased == "imu"
    (note,) = [note for note in result.notes if "bias" in note]
    name, _, numbers = note.partition(": its rates have a bias: bias: ")
    assert name == "imu"
    assert ast.literal_eval(numbers) == pytest.approx([0.05, -0.04, 0.03], abs=0.003)
    known = mapped(log, GYROSCOPE.replace("[0.05, 0, 0]", "[0.05, -0.04, 0.03]"), more)
    assert not [note for note in known.notes if "bias" in note or "sits otherwise" in note]


def test_a_sensor_that_is_turned_otherwise_than_said_is_noted():
    more = "sensors: {gyro: {rpy: [0, 0, 1.4]}}\nsources: {imu: {align: mocap}}"
    result = mapped(a_turned_gyroscope_beside_a_mocap(tumbling), GYROSCOPE, more)
    (note,) = [note for note in result.notes if "sits otherwise" in note]
    name, _, numbers = note.partition(": by rates its sensor sits otherwise: rpy: ")
    assert name == "imu"
    assert ast.literal_eval(numbers) == pytest.approx([0.0, 0.0, np.pi / 2], abs=0.01)


def test_the_noise_that_a_clocks_fit_finds_is_that_of_the_signal():
    log = a_turned_gyroscope_beside_a_mocap(tumbling, noise=0.0002)
    more = "sensors: {gyro: {rpy: [0, 0, 1.5707963]}}\nsources: {imu: {align: mocap}}"
    result = mapped(log, GYROSCOPE, more)
    assert result.motion.signals["angular_velocity"].std == pytest.approx(0.005, rel=0.2)
    assert result.motion.signals["orientation"].std == pytest.approx(0.0002, rel=0.2)
    assert [note.partition(" (")[0] for note in result.notes if ": std " in note] == [
        f"{key}: std {result.motion.signals[key].std:.3g}" for key in ("orientation", "angular_velocity")
    ]
    said = GYROSCOPE.replace("sensor: gyro", "sensor: gyro, std: 0.1")
    assert mapped(log, said, more).motion.signals["angular_velocity"].std == 0.1


def test_what_a_source_sees_is_a_channel_of_its_own():
    assert refused(two_devices(), BOTH, SEEN.replace("heading", "'mocap: yaw'")).startswith(
        "m.yaml:1: sources.log.csv.sees.yaw must be of log.csv, got a channel of mocap"
    )


def test_sides_may_be_of_two_sources():
    log = log_of(
        channel("/left.rpm", constant(30), "rpm", TIMES, "/left"),
        channel("/right.rpm", constant(0.5), "turns/s", TIMES + 0.01, "/right"),
    )
    result = mapped(log, "  belt_speed: {left: /left.rpm, right: /right.rpm, radius: 0.1}")
    for side in ("left", "right"):
        assert result.motion.signals[f"belt_speed.{side}"].values == pytest.approx(0.1 * np.pi)
        assert result.motion.signals[f"belt_speed.{side}"].source == f"/{side}"
        assert result.origins[f"belt_speed.{side}"].channels == (f"/{side}.rpm",)


def test_further_files_are_read_beside_the_log(tmp_path):
    rows = "\n".join(f"{t:.2f},{0.1 * t:.4f}" for t in TIMES)
    (tmp_path / "other.csv").write_text(f"time [s],roll [rad]\n{rows}\n")
    said = "files: [other.csv]\nquantities: {yaw: {channel: a}, roll: {channel: 'other.csv: roll [rad]'}}"
    result = map_log(log_of(channel("a", TIMES, "rad")), parse_mapping(said, "m.yaml", tmp_path))
    assert result.motion.signals["roll"].values == pytest.approx(0.1 * TIMES, abs=1e-3)
    assert result.motion.signals["roll"].source == "other.csv"


def test_a_broken_vehicle_file_hides_no_mistake_of_the_mapping(tmp_path):
    (tmp_path / "log.csv").write_text("time_s,a\n0,1\n0.1,2\n")
    (tmp_path / "v.yaml").write_text("name: [\n")
    (tmp_path / "m.yaml").write_text("vehicle: v.yaml\nquantities: {pitch: {channel: b, unit: deg}}\n")
    with pytest.raises(MappingFileError) as error:
        map_file(tmp_path / "log.csv", tmp_path / "m.yaml")
    assert str(error.value).splitlines() == [
        "m.yaml:2: quantities.pitch.positive must be said: nose up (as segtrack counts it) or nose down (as "
        "REP 103 does)",
        "m.yaml:2: quantities.pitch.channel is no channel of log.csv, got 'b'; there are: time_s, a",
    ]


def refused_files(folder, mapping, vehicle=None):
    (folder / "log.csv").write_text("time_s,a\n0,1\n0.1,2\n")
    (folder / "m.yaml").write_text(mapping)
    with pytest.raises(MappingFileError) as error:
        map_file(folder / "log.csv", folder / "m.yaml", vehicle)
    return str(error.value).replace("; there are: time_s, a", "").splitlines()


def test_the_other_channels_of_a_part_with_a_mistake_are_looked_up(tmp_path):
    said = """quantities:
  belt_speed: {left: l, right: 5, unit: m/s}
  position: {latitude: phi, longitude: [3], height: h}
"""
    assert refused_files(tmp_path, said) == [
        "m.yaml:2: quantities.belt_speed.right must be text, got 5",
        "m.yaml:2: quantities.belt_speed.left is no channel of log.csv, got 'l'",
        "m.yaml:3: quantities.position.longitude must be text, got [3]",
        "m.yaml:3: quantities.position.latitude is no channel of log.csv, got 'phi'",
        "m.yaml:3: quantities.position.height is no channel of log.csv, got 'h'",
    ]


def test_what_does_not_fit_comes_with_mistakes_of_yaml_and_with_times_that_there_are_not(tmp_path):
    said = "start: 0\nstart: 0\nsources: {log.csv: {time: tt}}\nquantities: {yaw: {channel: b, unit: deg}}\n"
    assert refused_files(tmp_path, said) == [
        "m.yaml:2: start is given twice, first in line 1",
        "m.yaml:3: sources.log.csv.time is no channel of log.csv, got 'tt'",
        "m.yaml:4: quantities.yaw.channel is no channel of log.csv, got 'b'",
    ]


def test_flippers_are_those_of_the_vehicle_that_is_given_instead(tmp_path):
    said = "vehicle: packbot\nstart: -1\nquantities: {flipper_angle: {front_left: {channel: a, unit: rad}}}\n"
    assert refused_files(tmp_path, said, "quince") == ["m.yaml:2: start must be at least 0, got -1"]
    assert refused_files(tmp_path, said)[1:] == [
        "m.yaml:3: quantities.flipper_angle.front_left is no flipper of packbot; there are: none"
    ]


def test_a_sensor_that_is_wrong_by_itself_hides_no_other(tmp_path):
    said = """sensors: {imu: {rpy: [0, 0.1, 0]}}
sources: {log.csv: {sees: {pitch: {channel: a, unit: rad, positive: nose up, sensor: imu}}}}
quantities:
  yaw: {channel: a, unit: rad, sensor: 5}
  roll: {channel: a, unit: rad, sensor: gyro}
"""
    assert refused_files(tmp_path, said) == [
        "m.yaml:2: sources.log.csv.sees.pitch.sensor must be a sensor that is not turned, unless roll, pitch "
        "and yaw are all its, got 'imu'",
        "m.yaml:4: quantities.yaw.sensor must be text, got 5",
        "m.yaml:5: quantities.roll.sensor is none of sensors, got 'gyro'; there are: imu",
    ]


def test_further_files_have_names_of_their_own(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text("time_s,a\n0,1\n0.1,2\n")
    said = "files: [one/x.csv, two/x.csv]\nquantities: {yaw: {channel: a, unit: rad}}\n"
    assert refused_files(tmp_path, said) == ["m.yaml:1: files must have names of their own, got x.csv, x.csv"]
    (tmp_path / "one" / "x.csv").rename(tmp_path / "one" / "log.csv")
    said = "files: [one/log.csv]\nquantities: {yaw: {channel: a, unit: rad}}\n"
    assert refused_files(tmp_path, said) == ["m.yaml:1: files must be called otherwise than log.csv"]
