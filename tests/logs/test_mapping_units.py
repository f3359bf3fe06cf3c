"""Units and signs of mapped quantities, and belt speeds made from others."""

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, channel, constant, log_of, mapped, refused, with_run
from tables import each_row

from segtrack.logs.mapping import ANGLE, LENGTH, SPEED
from segtrack.logs.mapping.quantities import CURRENT, ENERGY, FORCE, TIME, TURNING


@pytest.mark.parametrize(
    ("said", "value", "speed"),
    [
        ("unit: km/h", 3.6, 1.0),
        ("unit: mm/s", 250.0, 0.25),
        ("unit: in/s", 10.0, 0.254),
        ("unit: ips", 10.0, 0.254),
        ("unit: ft/s", 1.0, 0.3048),
        ("unit: mph", 1.0, 1609.344 / 3600),
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
        ("unit: inches", 10.0, 0.254),
        ("unit: ft", 1.0, 0.3048),
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


def test_times_in_another_unit_are_said_to_be_the_reason_where_rows_are_far_apart():
    times = 20.0 * np.arange(100)
    log = log_of(
        channel("a", times, "m", times), channel("b", times, "m", times), channel("p", times, "rad", times)
    )
    source = next(iter(log.channels.values())).source
    line = f"sources: {{{source}: {{time: ..., unit: ms}}}}"
    reason = f"; rows of {source} are 20 s apart, 0.02 s if its times are in ms: {line}"
    assert refused(log, "  belt_speed: {left: a, right: b}") == (
        "m.yaml:3: quantities.belt_speed must have two rows at most 0.5 s apart to be differentiated" + reason
    )
    assert refused(log, "  pitch: {channel: p, positive: nose up}").endswith(
        "see start, end and max_gap" + reason
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


@each_row(
    "said, key, value, expected",
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


@each_row(
    "units, as_much",
    [
        (LENGTH, {"m": 1, "cm": 100, "mm": 1000, "km": 0.001, "in": 1 / 0.0254, "ft": 1 / 0.3048}),
        (
            SPEED,
            {"m/s": 1, "cm/s": 100, "mm/s": 1000, "km/h": 3.6, "in/s": 1 / 0.0254, "ft/s": 1 / 0.3048}
            | {"mph": 3600 / 1609.344},
        ),
        (ANGLE, {"rad": 2 * np.pi, "mrad": 2000 * np.pi, "deg": 360, "turns": 1}),
        (TURNING, {"rad/s": 2 * np.pi, "deg/s": 360, "rpm": 60, "turns/s": 1}),
        (CURRENT, {"A": 1, "mA": 1000}),
        (FORCE, {"N": 1, "kN": 0.001}),
        (ENERGY, {"J": 3600, "kJ": 3.6, "Wh": 1}),
        (TIME, {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9, "d": 1 / 86400}),
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


def test_flippers_that_the_vehicle_has_are_known_by_its_names():
    log = log_of(channel("a", constant(0.5), "rad"))
    said = "  flipper_angle: {front_left: {channel: a, zero: 0.2, positive: tip down}}"
    values = mapped(log, said, "vehicle: quince").motion.signals["flipper_angle.front_left"].values
    assert values == pytest.approx(-0.3)


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
