"""Logs that are mapped: a whole table, its rows, gaps and the piece that is used."""

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, channel, constant, log_of, mapped, refused, with_run
from scipy.spatial.transform import Rotation

from segtrack.logs.mapping import map_log, parse_mapping

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
    (note,) = result.notes
    assert note.startswith("flipper_angle.front_left,") and "are not logged: taken as 0 rad" in note


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


def test_the_used_piece_has_its_first_and_its_last_row():
    times = np.arange(9) / 8
    log = log_of(channel("a", np.arange(9.0), "rad", times))
    signal = mapped(log, "  yaw: {channel: a}", "start: 0.25\nend: 0.75").motion.signals["yaw"]
    assert signal.values.tolist() == [2.0, 3.0, 4.0, 5.0, 6.0]
