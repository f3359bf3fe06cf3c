"""What is timed by `segtrack reproduce log-speed`, and that it is there."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("rosbags", reason="of an extra")
pytest.importorskip("mcap", reason="of an extra")

from segtrack.cli.app import app  # noqa: E402
from segtrack.logs.reading import read_log  # noqa: E402
from segtrack.reproduce.log_speed import KINDS, TURNS, compared, drive, write_log  # noqa: E402

COUNT = 600


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_of_each_kind_is_read_as_it_was_written(kind, tmp_path):
    log = read_log(write_log(kind, tmp_path, COUNT))
    assert {len(channel) for channel in log.channels.values()} == {COUNT}
    assert not log.damage
    if kind == "CSV":
        rows = np.random.default_rng(1).normal(size=(COUNT, 20))
        assert log.channels["c19"].values == pytest.approx(rows[:, 19], abs=1e-6)
        return
    assert log.channels["/odom.pose.pose.position"].values == pytest.approx(
        np.tile([1.0, 2.0, 3.0], (COUNT, 1))
    )
    velocity = log.channels["/joint_states.velocity[left]"]
    assert velocity.values == pytest.approx(np.ones(COUNT))
    assert velocity.times - velocity.times[0] == pytest.approx(np.arange(COUNT) / 200, abs=1e-6)


def test_the_drive_that_is_compared_has_twenty_channels_and_turns_as_it_should():
    logged, simulated = drive("log", 4000, 1.0), drive("simulation", 4000, 0.0)
    assert sum(1 if s.values.ndim == 1 else s.values.shape[1] for s in logged.signals.values()) == 20
    found = compared(logged, simulated).find("yaw rate over no-slip")
    assert (found.logged, found.simulated) == pytest.approx((TURNS, TURNS), rel=0.02)


def test_the_command_has_a_row_for_each_kind_and_for_the_comparison(tmp_path):
    told = CliRunner().invoke(
        app, ["reproduce", "log-speed", "--minutes", "0.05", "--out", str(tmp_path), "--json"]
    )
    assert told.exit_code == 0, told.output
    rows = json.loads(told.stdout)["rows"]
    assert [(row["what"], row["target"]) for row in rows] == [
        *((kind, 5.0) for kind in KINDS),
        ("comparison", 60.0),
    ]
    assert all(row["samples"] == 600 and row["clock"] > 0 for row in rows)
    assert json.loads((tmp_path / "log_speed.json").read_text())["rows"] == rows
