"""Constants of a mapping, in its file or beside it, and joints that nobody gave the angle of."""

import json
import math

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed
from mapped_logs import TIMES, channel, constant, log_of, mapped, refused
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from segtrack.description import load_vehicle
from segtrack.errors import InvalidValueError, MappingFileError, UnknownNameError
from segtrack.logs.compare import SampledMotion
from segtrack.logs.compare.errors import responses_of
from segtrack.logs.compare.phases import even_times
from segtrack.logs.mapping import map_file, map_log, parse_mapping
from segtrack.logs.mapping.convert import with_constants
from segtrack.logs.replay.alignment import flippers_at

BELTS = "  belt_speed: {left: a, right: a, unit: m/s}\n"
LOG = log_of(channel("a", constant(0.2)), channel("q", 0.1 * np.sin(TIMES)))


def test_a_constant_is_a_signal_over_the_whole_log_in_our_unit_and_sign():
    result = mapped(
        LOG,
        BELTS + "  flipper_angle:\n"
        "    front_left: {value: 30, unit: deg, zero: -15, positive: tip down}\n"
        "    front_right: {value: 0.25, unit: turns}\n"
        "  pitch: {value: 5, unit: deg, positive: nose down, std: 0.01}\n",
        "start: 1\nend: 8",
    )
    signals = result.motion.signals
    expected = {"flipper_angle.front_left": -45.0, "flipper_angle.front_right": 90.0, "pitch": -5.0}
    for key, degrees in expected.items():
        assert signals[key].times.tolist() == signals["belt_speed.left"].times[[0, -1]].tolist()
        assert signals[key].values == pytest.approx(math.radians(degrees))
    assert signals["pitch"].std == 0.01
    record = result.record()["signals"]["flipper_angle.front_left"]
    assert (record["channels"], record["value"], record["channel_unit"]) == ([], 30.0, "deg")
    assert "flipper_angle.front_left: 30 deg all the time, as stated in the mapping file" in result.notes


def test_a_position_moves_by_an_attitude_of_which_parts_are_constant():
    quantities = """
  position: {channels: [a, a, a], unit: m, sensor: mast}
  roll: {value: 10, unit: deg}
  pitch: {channel: q, unit: rad, positive: nose up}
  yaw: {value: 90, unit: deg}"""
    moved = mapped(LOG, quantities, "sensors: {mast: {xyz: [0.1, 0.2, 0.7]}}").motion["position"]
    pitch = 0.1 * np.sin(TIMES)
    turned = Rotation.from_euler("ZYX", np.stack([0 * pitch + np.pi / 2, -pitch, 0 * pitch + np.pi / 18], 1))
    assert moved == pytest.approx(0.2 - turned.apply([0.1, 0.2, 0.7]), abs=1e-12)


def test_a_replay_drives_with_flippers_as_stated():
    result = mapped(LOG, BELTS + "  flipper_angle: {front_left: {value: 45, unit: deg}}", "vehicle: quince")
    angles = flippers_at(result.motion, load_vehicle("quince"), {}, 3.0)
    assert angles == pytest.approx(
        {"front_left": np.pi / 4, "front_right": 0.0, "rear_left": 0.0, "rear_right": 0.0}
    )


def test_joints_that_are_not_logged_are_named():
    quantities = (
        BELTS + "  flipper_angle: {front_left: {value: 45, unit: deg}, front_right: {channel: q, unit: rad}}"
    )
    quantities += "\n  flipper_angle_command: {rear_left: {channel: q, unit: rad}}"
    assert mapped(LOG, quantities, "vehicle: quince").notes == (
        "flipper_angle.front_left: 45 deg all the time, as stated in the mapping file",
        "flipper_angle.rear_right is not logged: taken as 0 rad; say `value:` if it was otherwise",
    )
    assert mapped(LOG, BELTS, "vehicle: quince").notes == (
        "flipper_angle.front_left, flipper_angle.front_right, flipper_angle.rear_left and "
        "flipper_angle.rear_right are not logged: taken as 0 rad; say `value:` if they were otherwise",
    )
    assert mapped(LOG, BELTS, "vehicle: packbot").notes == ()


def test_driven_joints_that_nobody_logs_are_named(tmp_path):
    limbs = [Limb("boom"), Limb("mast", kind="prismatic"), Limb("swing")]
    joints = {
        "boom": {"servo": {}, "initial_position": 0.4},
        "mast": {"servo": {}},
        "swing": {"spring": {"stiffness": 1}},
    }
    path = jointed(tmp_path, limbs, joints)
    assert mapped(LOG, BELTS, f"vehicle: {path}").notes == (
        "joint boom is not logged: taken as at its initial_position, 0.4 rad",
        "joint mast is not logged: taken as at its initial_position, 0 m",
    )


@pytest.mark.parametrize(
    ("quantities", "message"),
    [
        (
            "  flipper_angle: {front_left: {value: 45}}",
            "m.yaml:4: quantities.flipper_angle.front_left.unit is missing: that of the value, rad, "
            "mrad, deg, turns",
        ),
        (
            "  flipper_angle: {front_left: {value: 45, unit: rad}}",
            "m.yaml:4: quantities.flipper_angle.front_left.value must be in radians, got 45, which in "
            "degrees would be 0.7854 rad",
        ),
        (
            "  roll: {value: 45, unit: deg, channel: a}",
            "m.yaml:4: quantities.roll must have exactly one of channel, value, got channel, value",
        ),
        (
            "  roll: {unit: deg}",
            "m.yaml:4: quantities.roll must have exactly one of channel, value, got none",
        ),
        (
            "  pitch: {value: 0.1, unit: rad}",
            "m.yaml:4: quantities.pitch.positive must be said: nose up (as segtrack counts it) or nose "
            "down (as REP 103 does)",
        ),
    ],
)
def test_mistakes_of_constants_are_said(quantities, message):
    assert refused(LOG, BELTS + quantities) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "sensors: {imu: {}}\nquantities: {belt_speed: {left: a, right: a}, "
            "yaw: {value: 1, unit: rad, sensor: imu}}",
            "m.yaml:2: quantities.yaw.sensor must be left out beside value, which is in the body frame",
        ),
        (
            "sources: {log.csv: {sees: {yaw: {value: 1, unit: rad}}}}\n"
            "quantities: {belt_speed: {left: a, right: a, unit: m/s}}",
            "m.yaml:1: sources.log.csv.sees.yaw must be a channel: a constant shows nothing of a clock",
        ),
        (
            "quantities: {yaw: {value: 1, unit: rad}}",
            "m.yaml:1: quantities must have at least one with a channel",
        ),
        (
            "rows: steady\nquantities: {belt_speed: {left: a, right: a}, yaw_rate: {value: 1, unit: rad/s}}",
            "m.yaml:2: quantities.yaw_rate.value must be a channel where rows are steady",
        ),
    ],
)
def test_constants_where_there_can_be_none_are_refused(text, message):
    with pytest.raises(MappingFileError) as error:
        parse_mapping(text, "m.yaml")
    assert str(error.value) == message


def test_constants_beside_a_mapping_go_over_what_it_says():
    mapping = parse_mapping(
        "quantities:\n" + BELTS + "  flipper_angle: {front_left: {channel: none, unit: rad}}", "m.yaml"
    )
    settings = ["flipper_angle.front_left=45deg", "flipper_angle.rear_left = -0.5 rad", "pitch=.1rad"]
    result = map_log(LOG, with_constants(mapping, settings))
    assert result.motion["flipper_angle.front_left"] == pytest.approx(np.pi / 4)
    assert result.motion["flipper_angle.rear_left"] == pytest.approx(-0.5)
    assert result.motion["pitch"] == pytest.approx(0.1)
    assert "pitch: 0.1 rad all the time, as stated beside the mapping file" in result.notes


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        (
            ["flipper_angle.f=much"],
            InvalidValueError,
            "a constant must be NAME=VALUE with a unit, as flipper_angle.front_left=45deg, got "
            "'flipper_angle.f=much'",
        ),
        (
            ["belt_speed=1m/s"],
            UnknownNameError,
            "no quantity that can be constant 'belt_speed'; there are: flipper_angle, flipper_angle_command, "
            "roll, pitch, yaw, yaw_rate",
        ),
        (
            ["flipper_angle=1rad"],
            InvalidValueError,
            "a constant must be flipper_angle.FLIPPER, got 'flipper_angle'",
        ),
        (
            ["pitch=5"],
            InvalidValueError,
            "unit of constant pitch must be one of rad, mrad, deg, turns, got ''",
        ),
        (
            ["pitch=45rad"],
            InvalidValueError,
            "constant pitch must be at most a turn where it is in rad, got 'pitch=45rad'",
        ),
        (["roll=1deg", "roll=2deg"], InvalidValueError, "constant roll must be given once, got 'roll=2deg'"),
        (
            ["roll=1deg"],
            MappingFileError,
            "m.yaml:1: quantities.roll must not be given beside orientation, which has it already",
        ),
    ],
)  # fmt: skip
def test_what_is_no_constant_is_refused(settings, kind, message):
    mapping = parse_mapping("quantities: {orientation: {channels: q}}", "m.yaml")
    with pytest.raises(kind) as error:
        with_constants(mapping, settings)
    assert str(error.value) == message


def test_a_stated_angle_is_compared_with_nothing():
    result = mapped(
        LOG, BELTS + "  pitch: {value: 0.1, unit: rad, positive: nose up}\n  yaw: {channel: q, unit: rad}"
    )
    sampled = SampledMotion(result.motion, even_times(*result.motion.span))
    assert sampled.pitch == pytest.approx(0.1)
    assert "pitch" not in responses_of(sampled).courses


def test_the_command_line_states_constants(tmp_path):
    from segtrack.cli.app import app

    (tmp_path / "log.csv").write_text("time [s],a\n" + "".join(f"{i / 10},0.2\n" for i in range(30)))
    (tmp_path / "m.yaml").write_text("vehicle: quince\nquantities:\n" + BELTS)
    files = [tmp_path / "log.csv", "--mapping", tmp_path / "m.yaml", "--out", tmp_path / "out", "--json"]
    call = ["log", "map", *map(str, files), "--set", "flipper_angle.front_left=45deg", "--set", "roll=1deg"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["signals"]["flipper_angle.front_left"]["value"] == 45.0
    assert record["notes"][-1].startswith("flipper_angle.front_right, flipper_angle.rear_left and")
    with pytest.raises(MappingFileError) as error:
        map_file(tmp_path / "log.csv", tmp_path / "m.yaml", constants=["flipper_angle.front=1deg"])
    assert str(error.value) == (
        "m.yaml:2: quantities.flipper_angle.front is no flipper of quince; "
        "there are: front_left, front_right, rear_left, rear_right"
    )
