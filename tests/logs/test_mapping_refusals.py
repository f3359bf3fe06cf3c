"""Mistakes of mappings and what does not fit a log, all at once, whole messages."""

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, backwards, channel, constant, log_of, refused, with_run
from tables import each_row

from segtrack.errors import MappingFileError
from segtrack.logs.mapping import map_file


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


MISTAKEN = """\
vehicle: packbot
sources:
  imu: {align: imu}
  log.csv: {clok: header}
quantities:
  belt_speed_command: {left: cmd_lef, right: cmd_r, unit: knots, radius: 0.1}
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
        "m.yaml:6: quantities.belt_speed_command.unit must be m/s, cm/s, mm/s, km/h, in/s, ft/s, mph, "
        "rad/s, deg/s, rpm, turns/s, counts/s, m, cm, mm, km, in, ft, rad, mrad, deg, turns or counts, "
        "got 'knots'",
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


BAD_QUATERNIONS = (
    np.tile([0.0, 0.0, 0.0, 1.0], (COUNT, 1)) * np.where(np.arange(COUNT) < 198, 1.0, 1.4)[:, None]
)


@each_row(
    "channels, quantities, message",
    [
        (
            [channel("a", constant(1), "rad", backwards())],
            "  yaw: {channel: a}",
            "m.yaml: sources.log.csv has times that run backwards: by 0.3 s at row 120, from 105.95 "
            "s, and 1 more times, "
            "at most by 0.3 s; the clock starts again at row 120, as with a second drive: take drives apart "
            "with split by a channel, or as files of their own",
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
)  # fmt: skip
def test_a_log_is_refused(channels, quantities, message):
    more = "sensors: {s: {xyz: [1, 0, 0]}}" if "sensor" in quantities else ""
    assert refused(log_of(*channels), quantities, more) == message


def test_a_piece_without_values_is_refused():
    log = log_of(channel("a", TIMES, "rad"))
    assert refused(log, "  yaw: {channel: a}", "start: 20") == (
        "m.yaml:3: quantities.yaw has no value from 20 s to the end: it has some from 0 to 9.95 s"
    )


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
