"""Mapping files: their mistakes, whole messages with lines; and their schema."""

import re
from pathlib import Path

import pytest
from tables import each_row

from segtrack.errors import FileAccessError, MappingFileError
from segtrack.logs.mapping import MappingFile, load_mapping, parse_mapping

PLAIN = """
quantities:
  pitch: {channel: pitch, unit: deg, positive: nose up}
"""
POSITION = """
quantities:
  position: {channels: [x, y, z], unit: m}
"""


def refused(text):
    with pytest.raises(MappingFileError) as error:
        parse_mapping(text, "m.yaml")
    return str(error.value)


def test_what_is_not_said_has_a_default():
    mapping = parse_mapping(PLAIN)
    assert (mapping.file.vehicle, mapping.file.terrain, mapping.file.event) == (None, None, "first touch")
    assert mapping.file.max_gap == 0.5 and mapping.file.frame == "log"
    assert mapping.with_vehicle("quince").file.vehicle == "quince"
    assert mapping.with_vehicle(None) is mapping


def test_all_mistakes_come_at_once_with_their_lines():
    assert refused(
        """event: soon
sources: {imu: {align: odom, offset: 3, byy: turning}}
quantities:
  belt_speed_command: {left: cmd_l, linear: cmd_r, unit: rads}
  belt_speed: {left: cmd_l, right: cmd_r, unit: rpm}
  position: {chanels: [x, y, z], unit: mm, sensor: imu}
  pitch: {channel: pitch, unit: degs}
  slip_velocity: {left: a, unit: m/s}
  current: {unit: A}
  orientation: {channels: q}
"""
    ).splitlines() == [
        "m.yaml:1: event must be first touch, or a time [s], got 'soon'",
        "m.yaml:2: sources.imu.byy is not a key that segtrack knows; did you mean by?",
        "m.yaml:2: sources.imu.align must not be given beside offset or skew",
        "m.yaml:4: quantities.belt_speed_command.unit must be m/s, cm/s, mm/s, km/h, in/s, ft/s, mph, "
        "rad/s, deg/s, rpm, turns/s, counts/s, m, cm, mm, km, in, ft, rad, mrad, deg, turns or counts, "
        "got 'rads'; did you mean rad/s?",
        "m.yaml:4: quantities.belt_speed_command must have left and right, or linear and angular, "
        "got left, linear",
        "m.yaml:5: quantities.belt_speed.radius is missing: rpm become belt speeds with the "
        "sprocket's radius [m]",
        "m.yaml:6: quantities.position.chanels is not a key that segtrack knows; did you mean channels?",
        "m.yaml:6: quantities.position.sensor is none of sensors, got 'imu'; there are: none",
        "m.yaml:7: quantities.pitch.unit must be rad, mrad, deg or turns, got 'degs'; did you mean deg?",
        "m.yaml:7: quantities.pitch.positive must be said: nose up (as segtrack counts it) or nose "
        "down (as REP 103 does)",
        "m.yaml:7: quantities.pitch must not be given beside orientation, which has it already",
        "m.yaml:8: quantities.slip_velocity.positive must be said: belt faster (as segtrack counts "
        "it) or ground faster",
        "m.yaml:9: quantities.current must have left, right or both",
    ]


@each_row(
    "text, message",
    [
        ("quantities: {}", "m.yaml:1: quantities must have at least one with a channel"),
        ("{}", "m.yaml: quantities is missing"),
        (
            "vehicle: quinc" + PLAIN,
            "m.yaml:1: vehicle must be a bundled name or an existing file, got 'quinc' (looked for "
            "FOLDER/quinc); there are: VEHICLES",
        ),
        (
            "frame: terrain\nevent: 3.5" + POSITION,
            "m.yaml:2: event must be left out where frame is terrain: nothing is moved, got 3.5",
        ),
        (
            "frame: terrain" + PLAIN,
            "m.yaml:1: frame must be log where quantities have no position, got 'terrain'",
        ),
        ("frame: step" + POSITION, "m.yaml:1: frame must be 'log' or 'terrain', got 'step'"),
        ("start: 5\nend: 4" + PLAIN, "m.yaml:2: end must be greater than start 5, got 4"),
        ("setting: 0.2" + PLAIN, "m.yaml:1: setting must be left out without terrain"),
        (
            "vehicle: quince\nterrain: okada-step\nrecorde: simulation\n"
            "quantities: {pitch: {channel: a, unit: deg}}",
            "m.yaml:3: recorde is not a key that segtrack knows; did you mean recorded?\n"
            "m.yaml:4: quantities.pitch.positive must be said: nose up (as segtrack counts it) or nose "
            "down (as REP 103 does)",
        ),
        (
            "quantities: {belt_speed: {left: a, right: b, table: [[0, 0], [1, 1], [-1, 2]], unit: m/s}}",
            "m.yaml:1: quantities.belt_speed.unit must be left out where there is a table, whose "
            "speeds are in m/s\n"
            "m.yaml:1: quantities.belt_speed.table must ascend, got [0.0, 1.0, -1.0]",
        ),
        (
            "quantities: {belt_speed: {left: a, right: b, unit: ticks/s, radius: 0.1}}",
            "m.yaml:1: quantities.belt_speed.counts_per_turn is missing: counts/s become turns with it",
        ),
        (
            "quantities: {belt_speed: {linear: a, angular: b, unit: m/s}}",
            "m.yaml:1: quantities.belt_speed must have neither unit nor table with linear and "
            "angular, which are in m/s and rad/s",
        ),
        (
            "quantities: {position: {latitude: a, unit: m}}",
            "m.yaml:1: quantities.position must have channels, or latitude and longitude",
        ),
        (
            "sensors: {imu: {rpy: [0, 0, 90]}}\nquantities: {yaw: {channel: a, sensor: imu}}",
            "m.yaml:1: sensors.imu.rpy[2] must be in radians, got 90, which in degrees would be 1.571 rad",
        ),
        (
            "sensors: {imu: {rpy: [0, 0, 1.57]}}\nquantities: {yaw: {channel: a, sensor: imu}}",
            "m.yaml:2: quantities.yaw.sensor must be a sensor that is not turned, unless roll, pitch "
            "and yaw are all "
            "its, got 'imu'",
        ),
        (
            "sources:\n  a: {align: b}\n  b: {align: c}\n  c: {align: a}\n  d: {align: a}" + PLAIN,
            "m.yaml:2: sources.a.align must not lead back to its source, got a to b to c to a\n"
            "m.yaml:3: sources.b.align must not lead back to its source, got b to c to a to b\n"
            "m.yaml:4: sources.c.align must not lead back to its source, got c to a to b to c",
        ),
        (
            "rows: steady\nstart: 3" + PLAIN,
            "m.yaml:2: start must be left out where rows are steady\n"
            "m.yaml:4: quantities.pitch must be one of belt_speed, belt_speed_command, "
            "slip_velocity, yaw_rate, current "
            "where rows are steady",
        ),
        (
            "quantities: [",
            "m.yaml:1: is not YAML: column 14: expected the node content, but found '<stream end>'",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_said(text, message):
    said = re.sub(r"looked for \S+/quinc", "looked for FOLDER/quinc", refused(text))
    assert re.sub(r"there are: absolem, .*", "there are: VEHICLES", said) == message


def test_a_file_is_read_with_what_it_names_beside_it(tmp_path):
    (tmp_path / "own.yaml").write_text("x")
    (tmp_path / "mapping.yaml").write_text("vehicle: own.yaml\nterrain: steps" + PLAIN)
    with pytest.raises(
        MappingFileError, match="^mapping.yaml:2: terrain must be a bundled name or an existing"
    ):
        load_mapping(tmp_path / "mapping.yaml")
    (tmp_path / "mapping.yaml").write_text("vehicle: own.yaml" + PLAIN)
    assert load_mapping(tmp_path / "mapping.yaml").file.vehicle == str(tmp_path / "own.yaml")
    with pytest.raises(FileAccessError, match="is a folder, not a mapping file$"):
        load_mapping(tmp_path)


def test_every_key_of_the_schema_says_what_it_is():
    schema = MappingFile.model_json_schema()
    for name, part in schema["$defs"].items():
        for key, value in part["properties"].items():
            said = "description" in value or key in UNSAID or "$ref" in str(value)
            assert said, f"{name}.{key}"


UNSAID = {"channel", "left", "right", "channels", "positive", "unit", "order", "gear_ratio"}


def test_mappings_of_the_manual_are_sound(tmp_path):
    manual = Path(__file__).parents[2] / "docs" / "topics" / "logs-mapping.md"
    text = manual.read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.S)
    (tmp_path / "FILE").write_text("")
    assert [parse_mapping(block, "manual", tmp_path).file.rows for block in blocks] == ["times"] * 6 + [
        "steady"
    ]
