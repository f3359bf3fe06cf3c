"""Proposed mappings: what types and headers say is there, and what they do not say is refused until "
"it is said."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tables import each_row
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.errors import MappingFileError
from segtrack.experiments import trajectory_columns
from segtrack.files import write_csv
from segtrack.logs import QUANTITIES, Channel, Log, Motion, Signal
from segtrack.logs.fit import DATA
from segtrack.logs.mapping import map_file, map_log, parse_mapping, propose
from segtrack.logs.reading import read_log, write_bag
from segtrack.logs.reading import write_csv as write_csv_of

TIMES = np.arange(0.0, 2.0, 0.05)


def channel(name, width=1, unit="", source="log.csv", stamps=None):
    values = np.zeros(len(TIMES)) if width == 1 else np.zeros((len(TIMES), width))
    if width == 4:
        values[:, 3] = 1.0
    return Channel(name, TIMES, values, unit, source, stamps)


def bag(types, *channels):
    return Log(Path("run.mcap"), "mcap", {each.name: each for each in channels}, types=types)


def table(*channels):
    return Log(Path("log.csv"), "csv", {each.name: each for each in channels})


def proposed(log):
    """What a proposal takes for which quantity, once nothing is left to be said."""
    text = propose(log)
    assert "# TODO" not in text
    return set(map_log(log, parse_mapping(text)).motion.signals)


@pytest.mark.parametrize(
    ("names", "unit"),
    [
        (("left_speed_m_s", "right_speed_m_s"), "m/s"),
        (("left_wheel_rad_s", "right_wheel_rad_s"), "rad/s"),
        (("LEFT_WHEEL_DEG_S", "RIGHT_WHEEL_DEG_S"), "deg/s"),
        (("left_current_a", "right_current_a"), "A"),
        (("x_m", "y_m", "z_m"), "m"),
        (("x_mm", "y_mm", "z_mm"), "mm"),
        (("x_cm", "y_cm", "z_cm"), "cm"),
        (("left_speed_mps", "right_speed_mps"), None),
        (("left_speed_km_h", "right_speed_km_h"), None),
        (("left_wheel_rpm", "right_wheel_rpm"), None),
        (("left_current_mA", "right_current_mA"), None),
        (("pitch_deg",), None),
    ],
)
def test_of_names_without_a_unit_some_ends_are_proposed_as_one(names, unit):
    text = propose(bag({}, *(channel(name) for name in names)))
    assert names[0] in text
    assert (f"    unit: {unit}\n" if unit else "    unit:  # TODO: ") in text


def test_topics_of_known_types_are_found():
    stamps = 5 + TIMES / 1.001
    odometry = [
        channel("/odom.pose.pose.position", 3, "m", "/odom", stamps),
        channel("/odom.pose.pose.orientation", 4, "-", "/odom", stamps),
        channel("/odom.twist.twist.linear", 3, "m/s", "/odom", stamps),
    ]
    imu = [
        channel("/imu.angular_velocity", 3, "rad/s", "/imu", stamps),
        channel("/imu.orientation", 4, "-", "/imu", stamps),
    ]
    types = {"/odom": "nav_msgs/msg/Odometry", "/imu": "sensor_msgs/msg/Imu"}
    log = bag(types, *odometry, *imu)
    assert proposed(log) == {"position", "orientation", "velocity", "angular_velocity"}
    text = propose(log)
    assert "/odom: {clock: header}" in text
    assert "channels: /odom.pose.pose.orientation" in text
    assert "channels: /imu.angular_velocity" in text


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("geometry_msgs/msg/PoseStamped", ("/p.pose.position", "/p.pose.orientation")),
        (
            "geometry_msgs/msg/PoseWithCovarianceStamped",
            ("/p.pose.pose.position", "/p.pose.pose.orientation"),
        ),
        ("nav_msgs/Odometry", ("/p.pose.pose.position", "/p.pose.pose.orientation")),
        ("tf2_msgs/msg/TFMessage", ("/p[odom->base_link].translation", "/p[odom->base_link].rotation")),
    ],
)
def test_poses_of_many_types_are_found(kind, names):
    position, orientation = names
    source = position.rpartition(".")[0] if "[" in position else "/p"
    log = bag({"/p": kind}, channel(position, 3, "m", source), channel(orientation, 4, "-", source))
    assert proposed(log) == {"position", "orientation"}


def test_the_transform_of_the_body_is_taken_before_others():
    frames = "odom->camera", "map->base_link"
    channels = [channel(f"/tf[{frame}].translation", 3, "m", f"/tf[{frame}]") for frame in frames]
    assert 'channels: "/tf[map->base_link].translation"' in propose(
        bag({"/tf": "tf2_msgs/msg/TFMessage"}, *channels)
    )


def test_segtracks_own_recordings_need_nothing_to_be_said():
    joints = "front_left", "front_right", "left", "right", "front_left_belt", "front_right_belt"
    commands = "left belts", "right belts", "front_left", "front_right", "flatten flippers"
    log = bag(
        {"/joint_states": "sensor_msgs/msg/JointState", "/command": "sensor_msgs/msg/JointState"},
        *(channel(f"/joint_states.position[{name}]", source="/joint_states") for name in joints),
        *(channel(f"/command.velocity[{name}]", source="/command") for name in commands),
    )
    flippers = {"flipper_angle.front_left", "flipper_angle.front_right"}
    sides = {f"{name}.{side}" for name in ("belt_speed", "belt_speed_command") for side in ("left", "right")}
    assert proposed(log) == flippers | sides


def everything(*without):
    """Signals of every quantity that there is, but some."""
    signals = {}
    for name, quantity in QUANTITIES.items():
        values = np.zeros((40, quantity.width)) if quantity.width > 1 else np.zeros(40)
        if quantity.width == 4:
            values[:, 3] = 1.0
        keys = {"side": [f"{name}.left", f"{name}.right"], "flipper": [f"{name}.front_left"], None: [name]}
        signals |= {key: Signal(TIMES, values) for key in keys[quantity.each] if name not in without}
    return Motion("all", signals)


ANGLES = {"roll", "pitch", "yaw"}


@pytest.mark.parametrize(("without", "dropped"), [((), ANGLES), (("orientation", "velocity"), set())])
def test_a_table_that_segtrack_wrote_needs_nothing_to_be_said(tmp_path, without, dropped):
    """Every quantity comes back, but angles where there is an orientation, which has them already."""
    motion = everything(*without)
    log = read_log(write_csv_of(motion, tmp_path / "motion.csv"))
    assert proposed(log) == set(motion.signals) - dropped


@pytest.mark.parametrize(("without", "dropped"), [((), ANGLES), (("orientation", "velocity"), set())])
def test_a_bag_that_segtrack_wrote_needs_nothing_to_be_said(tmp_path, without, dropped):
    pytest.importorskip("rosbags", reason="of an extra")
    motion = everything(*without)
    log = read_log(write_bag(motion, tmp_path / "motion.mcap"))
    assert proposed(log) == set(motion.signals) - dropped


def test_the_table_of_a_simulated_climb_needs_nothing_to_be_said(tmp_path):
    """By the header that a climb's trajectory has, read from a file: some units are in names alone."""
    quaternions = np.tile([0.0, 0.0, 0.0, 1.0], (40, 1))
    values = {"position": np.zeros((40, 3)), "orientation": quaternions, "pitch": np.zeros(40)}
    values["flipper_angle.front_left"] = np.zeros(40)
    for name in ("left", "right", "front_left_belt"):
        values |= {f"track_{what}.{name}": np.zeros(40) for what in ("travel", "speed", "force")}
    climb = Motion("climb", {key: Signal(TIMES, value) for key, value in values.items()})
    columns = trajectory_columns(climb)
    write_csv(tmp_path / "trajectory.csv", list(columns), zip(*columns.values(), strict=True))
    log = read_log(tmp_path / "trajectory.csv")
    sides = {"belt_speed.left", "belt_speed.right"}
    assert proposed(log) == sides | {"flipper_angle.front_left", "position", "orientation"}
    assert "left: left_speed_m_s" in propose(log)


@each_row(
    "names, taken",
    [
        (("gyro_x", "gyro_y", "gyro_z"), ["angular_velocity"]),
        (("acc_x", "acc_y", "acc_z", "mag_x", "mag_y", "mag_z"), []),
        (("pos_x", "pos_y", "pos_z", "qw", "qx", "qy", "qz"), ["position", "orientation"]),
        (("left_travel_m", "right_travel_m", "left_rpm", "right_rpm"), ["belt_speed: left_rpm"]),
        (("leftCurrent", "rightCurrent", "left_torque", "right_torque"), ["current"]),
        (("yaw_rate", "roll_rate", "yaw"), ["yaw", "yaw_rate"]),
        (("lat", "lon", "alt", "speed"), ["position"]),
        (("pos_x", "pos_y", "yaw"), ["position", "yaw"]),
        (("pos_x", "yaw"), ["yaw"]),
        (("left_a", "right_a"), []),
        (("l_cmd", "r_cmd", "l_enc", "r_enc"), ["belt_speed_command", "belt_speed"]),
        (("cmd_left", "cmd_right", "meas_left", "meas_right"), ["belt_speed_command", "belt_speed"]),
    ],
)
def test_common_names_are_taken_for_what_they_are(names, taken):
    lines = propose(table(*(channel(name) for name in names))).split("quantities:\n")[1].splitlines()
    found = [line.strip(" :") for line in lines if line.startswith("  ") and line[2] not in " #"]
    assert found == [each.partition(":")[0] for each in taken]
    for each in taken:
        name, _, left = each.partition(": ")
        assert not left or f"left: {left}" in "\n".join(lines)


@pytest.mark.parametrize("unit", [9.81, 1.0])
@pytest.mark.parametrize(("part", "taken"), [(1.0, True), (0.0, False)])
def test_accelerations_are_a_specific_force_where_they_show_gravity(unit, part, taken):
    """In m/s^2 or g, upwards while the vehicle tilts by up to 60 deg and shakes; many loggers take it out."""
    tilt, rng = np.linspace(0.0, 1.05, len(TIMES)), np.random.default_rng(0)
    felt = part * unit * np.stack([np.sin(tilt), 0 * tilt, np.cos(tilt)], axis=1)
    felt += 0.3 * unit * rng.normal(size=felt.shape)
    columns = [Channel(f"acc_{axis}", TIMES, felt[:, i], "", "log.csv", None) for i, axis in enumerate("xyz")]
    message = Channel("/imu.linear_acceleration", TIMES, felt, "m/s^2", "/imu", None)
    for log in (table(*columns), bag({"/imu": "sensor_msgs/msg/Imu"}, message)):
        assert ("specific_force" in propose(log)) is taken


def test_a_foreign_table_leaves_open_what_it_does_not_say():
    names = {
        "cmd_left [rad/s]": "rad/s", "cmd_right [rad/s]": "rad/s", "left_speed": "", "right_speed": "",
        "x [m]": "m", "y [m]": "m", "z [m]": "m", "Roll [deg]": "deg", "Pitch [deg]": "deg", "Heading": "",
        "gyro_x": "", "gyro_y": "", "gyro_z": "", "battery": "V",
    }  # fmt: skip
    log = table(*(channel(name, 1, unit) for name, unit in names.items()))
    text = propose(log)
    asked = [
        line.split(":")[0].strip()
        for line in text.splitlines()
        if "TODO" in line and not line.startswith("#")
    ]
    assert asked == ["radius", "unit", "radius", "positive", "unit", "unit"]
    assert text.splitlines()[-1] == "# not used: battery"
    with pytest.raises(MappingFileError, match=r"quantities\.pitch\.positive must be said: nose up"):
        parse_mapping(text)
    said = text.replace("positive:", "positive: nose down").replace("radius:", "radius: 0.1")
    for first, then in (
        ("    unit:  # TODO: m/s", "    unit: rpm #"),
        ("    unit:  # TODO: rad,", "    unit: deg #"),
    ):
        said = said.replace(first, then)
    with pytest.raises(MappingFileError) as error:
        map_log(log, parse_mapping(said))
    assert str(error.value).partition(": ")[2] == (
        "quantities.angular_velocity.unit is missing, and the log says none; it can be rad/s, deg/s, "
        "rpm, turns/s"
    )
    said = said.replace("    unit:  # TODO: rad/s,", "    unit: deg/s #")
    keys = set(map_log(log, parse_mapping(said)).motion.signals)
    sides = {f"{name}.{side}" for name in ("belt_speed", "belt_speed_command") for side in ("left", "right")}
    assert keys == sides | {"position", "roll", "pitch", "yaw", "angular_velocity"}


def test_nothing_known_is_refused_until_something_is_said():
    with pytest.raises(MappingFileError, match="quantities must be a mapping of keys, got None"):
        parse_mapping(propose(table(channel("a"))))


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{t:.2f},{0.1 * t:.4f},{0.2 * t:.4f}" for t in TIMES)
    Path("log.csv").write_text(f"time [s],yaw [rad],pitch [rad]\n{rows}\n")
    return lambda *words: CliRunner().invoke(app, ["log", "map", *words])


def test_the_command_proposes_checks_and_draws(run):
    assert run("log.csv", "--json").exit_code == 0
    text = Path("out/log-log/mapping.yaml").read_text()
    again = run("log.csv")
    assert again.exit_code == 2
    assert "is there already: give it as --mapping, or choose --out" in again.output
    refused = run("log.csv", "--mapping", "out/log-log/mapping.yaml")
    assert refused.exit_code == 2
    assert "quantities.pitch.positive must be said" in refused.output
    Path("mapping.yaml").write_text(text.replace("positive:", "positive: nose up"))
    done = run("log.csv", "--mapping", "mapping.yaml", "--json")
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert record["signals"]["pitch"]["rate"] == pytest.approx(20.0)
    assert Path("out/log-log/motion.png").stat().st_size > 10_000
    assert "pitch" in run("log.csv", "--mapping", "mapping.yaml").output


MAPPED = """\
vehicle: quince
quantities:
  belt_speed: {left: left, right: right, reversed: [right], unit: rad/s, radius: 0.0955}
  position: {channels: [x, y, z], unit: cm}
  pitch: {channel: pitch, unit: deg, positive: nose down}
  flipper_angle: {front_left: {channel: flipper, unit: deg}}
"""
READ_BACK = """\
vehicle: quince
quantities:
  belt_speed: {left: "/belts.velocity[left belts]", right: "/belts.velocity[right belts]", unit: m/s}
  position: {channels: [/position.point], unit: m}
  pitch: {channel: /pitch.data, unit: rad, positive: nose up}
  flipper_angle: {front_left: {channel: "/flippers.position[front_left]", unit: rad}}
"""


@pytest.fixture
def unix_log(run):
    """A table at Unix times, and its mapping."""
    columns = ("left", "right", "x", "y", "z", "pitch", "flipper")
    values = np.random.default_rng(1).normal(size=(len(TIMES), len(columns)))
    rows = "\n".join(
        f"{t + 1.79e9:.2f}," + ",".join(map(repr, row)) for t, row in zip(TIMES, values.tolist(), strict=True)
    )
    Path("log.csv").write_text(f"time,{','.join(columns)}\n{rows}\n")
    Path("mapping.yaml").write_text(MAPPED)
    return map_file("log.csv", "mapping.yaml")


def test_the_mapped_log_is_written_as_mcap_that_others_read(run, unix_log):
    reader = pytest.importorskip("mcap.reader", reason="of an extra")
    rosbags = pytest.importorskip("rosbags.typesys", reason="of an extra")
    done = run("log.csv", "--mapping", "mapping.yaml", "--mcap", "deep/mapped.mcap")
    assert done.exit_code == 0, done.output
    assert "wrote deep/mapped.mcap" in done.stderr
    store = rosbags.get_typestore(rosbags.Stores.ROS2_HUMBLE)
    found = {}
    with Path("deep/mapped.mcap").open("rb") as file:
        for schema, channel_of, message in reader.make_reader(file).iter_messages():
            told = store.deserialize_cdr(message.data, schema.name)
            found.setdefault(channel_of.topic, []).append((message.log_time, told))
    signals = unix_log.motion.signals
    assert set(found) == {"/belts", "/position", "/pitch", "/flippers"}
    times = [time for time, _ in found["/belts"]]
    np.testing.assert_allclose(np.array(times) - 1.79e18, TIMES * 1e9, rtol=0, atol=300)
    np.testing.assert_array_equal(
        [told.velocity for _, told in found["/belts"]],
        np.stack([signals[f"belt_speed.{side}"].values for side in ("left", "right")], axis=1),
    )
    points = [(told.point.x, told.point.y, told.point.z) for _, told in found["/position"]]
    np.testing.assert_array_equal(points, signals["position"].values)
    np.testing.assert_array_equal([told.data for _, told in found["/pitch"]], signals["pitch"].values)


def test_the_mapped_log_written_as_mcap_is_mapped_to_equal_numbers(run, unix_log):
    pytest.importorskip("mcap", reason="of an extra")
    pytest.importorskip("rosbags", reason="of an extra")
    assert run("log.csv", "--mapping", "mapping.yaml", "--mcap", "mapped.mcap").exit_code == 0
    Path("back.yaml").write_text(READ_BACK)
    again = map_file("mapped.mcap", "back.yaml")
    assert again.begin == pytest.approx(unix_log.begin, abs=1e-6)
    assert set(again.motion.signals) == set(unix_log.motion.signals)
    for key, signal in unix_log.motion.signals.items():
        np.testing.assert_array_equal(again.motion[key], signal.values)
        np.testing.assert_allclose(again.motion.signals[key].times, signal.times, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mcap", "a.mcap"], "--mcap must be given with --mapping, got none"),
        (["--mapping", "mapping.yaml", "--mcap", "a.bag"], "--mcap must be a file of .mcap, got 'a.bag'"),
        (
            ["--mapping", "steady.yaml", "--mcap", "a.mcap"],
            "--mcap must be given with rows that are times, got rows: steady",
        ),
    ],
)
def test_an_mcap_that_cannot_be_written_is_refused(run, unix_log, words, message):
    Path("steady.yaml").write_text(
        "rows: steady\nquantities:\n  belt_speed: {left: left, right: right, unit: m/s}\n"
    )
    done = run("log.csv", *words)
    assert (done.exit_code, done.stderr) == (2, f"segtrack: {message}\n")
    assert not Path("a.mcap").exists()


def test_the_schema_is_printed_and_nothing_else(run):
    assert "quantities" in json.loads(run("--schema").stdout)["properties"]
    assert run().exit_code == 2


MAXXII = DATA / "maxxii_indoor.csv"


def test_a_table_of_steady_turns_is_proposed_as_one():
    log = read_log(MAXXII)
    text = propose(log)
    assert text.count("# TODO") == 2 and "rows: steady" in text and "# start" not in text
    assert "\n# not used: column 3, column 4, column 5\n" in text
    filled = re.sub(r"unit:  # TODO.*", "unit: rad/s", re.sub(r"radius:  # TODO.*", "radius: 0.0856", text))
    mapped, bundled = map_log(log, parse_mapping(filled)), map_file(MAXXII, MAXXII.with_suffix(".yaml"))
    assert mapped.is_steady
    for side in ("left", "right"):
        expected = bundled.motion[f"belt_speed.{side}"] * 34.45
        assert mapped.motion[f"belt_speed.{side}"] == pytest.approx(expected)


def turns(*names, count=40, **units):
    values = np.random.default_rng(0).normal(size=(len(names), count))
    rows = np.arange(float(count))
    return table(
        *(Channel(n, rows, v, units.get(n, ""), "log.csv") for n, v in zip(names, values, strict=True))
    )


SPEEDS = {"v_left": "m/s", "v_right": "m/s", "yaw_rate": "rad/s", "slip_left": "m/s", "slip_right": "m/s"}


def test_named_columns_of_steady_turns_need_nothing_to_be_said():
    log = turns("v_left", "v_right", "yaw_rate", **SPEEDS)
    mapped = map_log(log, parse_mapping(propose(log)))
    assert mapped.is_steady
    assert set(mapped.motion.signals) == {"belt_speed.left", "belt_speed.right", "yaw_rate"}
    slips = propose(turns("v_left", "v_right", "slip_left", "slip_right", **SPEEDS))
    assert "rows: steady" in slips and "slip_velocity:" in slips


@pytest.mark.parametrize(
    "log",
    [
        turns("time", "v_left", "v_right", "yaw_rate", **SPEEDS),
        turns("v_left", "v_right", "pitch", pitch="rad", **SPEEDS),
        turns("yaw_rate", **SPEEDS),
        turns("v_left", "v_right", "yaw_rate", count=5001, **SPEEDS),
        turns("column 1", "column 2", "column 3"),
    ],
)
def test_other_tables_are_not_taken_for_steady_turns(log):
    assert "rows: steady" not in propose(log)
