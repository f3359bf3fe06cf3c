"""`segtrack log compare`, its simulations in closed form."""

import json
import sys

import numpy as np
import pytest
from rod_climb import RodClimb
from typer.testing import CliRunner

from segtrack.description import load_vehicle
from segtrack.logs import Motion, Signal
from segtrack.logs.reading import read_log
from segtrack.logs.replay import replay

MAPPING = """\
vehicle: packbot
terrain: step.yaml
quantities:
  belt_speed: {left: left, right: right, unit: m/s, std: 0.001}
  position: {channels: [x, y, z], unit: m, std: 0.001}
  pitch: {channel: pitch, unit: rad, positive: nose up, std: 0.003}
  yaw: {channel: yaw, unit: rad}
"""
STEP = "terrain: [{step: {height: 0.2, length: 2.0}, place: {x: 1.0}}]"
NAMES = ("time", "x", "y", "z", "pitch", "yaw", "left", "right")


def simulated_as(monkeypatch, motion_named):
    """Replace what an engine does, and nothing else: logs are aligned, compared and drawn as ever."""

    def simulate(log, settings, scene, source, observer=None):
        return motion_named(name=source)

    monkeypatch.setattr(sys.modules[replay.__module__], "simulate", simulate)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a mapping, a terrain and two logs; `RodClimb` is the engine."""
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    (tmp_path / "step.yaml").write_text(STEP)
    for i, height in enumerate((0.2, 0.21)):
        rod = RodClimb(height=height)
        times = np.arange(0.0, rod.level + 1.0, 0.05)
        belts = np.full(len(times), rod.speed)
        columns = (times, *rod.position(times).T, rod.pitch(times), 0.0 * times, belts, belts)
        np.savetxt(
            tmp_path / f"{i}.csv", np.transpose(columns), header=",".join(NAMES), delimiter=",", comments=""
        )

    simulated_as(monkeypatch, RodClimb().motion)
    return tmp_path


def invoke(folder, *arguments):
    from segtrack.cli.app import app

    given = ["--mapping", folder / "mapping.yaml", "--out", folder / "out", "--jobs", "1", *arguments]
    return CliRunner().invoke(app, ["log", "compare", *map(str, given)])


def test_a_log_whose_mapping_says_the_terrains_frame_is_not_moved(folder):
    mapping = folder / "mapping.yaml"
    mapping.write_text(f"frame: terrain\n{mapping.read_text()}")
    (folder / "step.yaml").write_text(STEP.replace("x: 1.0", "x: 0.2"))
    table = np.loadtxt(folder / "0.csv", delimiter=",", skiprows=1)
    table[:, NAMES.index("z")] += 0.09  # Where a PackBot stands.
    np.savetxt(folder / "0.csv", table, header=",".join(NAMES), delimiter=",", comments="")
    result = invoke(folder, folder / "0.csv", "--json", "--no-numerics")
    assert result.exit_code == 0, result.output
    (compared,) = json.loads(result.stdout)["comparisons"]
    row = next(r for r in compared["runs"]["measured"]["rows"] if r["quantity"] == "peak pitch")
    assert "place of the log" not in row["u_input_by"]  # Its place is no uncertain input.
    logged, given = ((folder / name).read_text().splitlines() for name in ("out/logged.csv", "0.csv"))
    x = logged[0].split(",").index("position.x [m]")
    assert float(logged[1].split(",")[x]) == pytest.approx(float(given[1].split(",")[1]), abs=1e-9)


def test_a_log_becomes_one_object_a_picture_and_logs_of_the_same_form(folder):
    result = invoke(folder, folder / "0.csv", "--json", "--uncertain", "friction=0.05", "--no-numerics")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    rows = {(r["quantity"], r["phase"]): r for r in summary["comparisons"][0]["runs"]["measured"]["rows"]}
    assert rows["peak pitch", "whole"]["verdict"] == "within"
    assert rows["peak pitch", "whole"]["u_input_by"] == {
        "friction": 0.0,
        "place of the log": 0.0,
        "scale of the belts": 0.0,
    }
    assert summary["repeats"] == []
    assert json.loads((folder / "out" / "compare.json").read_text()) == summary
    written = {path.name for path in (folder / "out").iterdir()}
    tables = {f"{name}.{kind}" for name in ("logged", "measured") for kind in ("csv", "tum")}
    assert written == {"compare.json", "compare.png"} | tables
    path, simulated = (read_log(folder / "out" / f"{name}.tum").channels for name in ("logged", "measured"))
    error = simulated["position"].values - path["position"].values
    ate = rows["position error (ATE)", "whole"]["error"]
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) == pytest.approx(ate, rel=1e-6)
    header = (folder / "out" / "logged.csv").read_text().partition("\n")[0]
    assert header.startswith("time [s],") and "pitch [rad]" in header


def test_log_and_simulation_come_as_topics_of_one_mcap_file(folder):
    pytest.importorskip("rosbags", reason="of an extra")
    result = invoke(folder, folder / "0.csv", "--no-numerics", "--mcap", folder / "both.mcap")
    assert result.exit_code == 0, result.output
    log = read_log(folder / "both.mcap")
    for name in ("logged", "measured"):
        table = read_log(folder / "out" / f"{name}.csv")
        point = log.channels[f"/{name}/position.point"].values
        columns = [table.channels[f"position.{axis} [m]"].values for axis in "xyz"]
        assert np.array_equal(point, np.stack(columns, axis=1))
    refused = invoke(folder, folder / "0.csv", folder / "1.csv", "--mcap", folder / "b.mcap")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "segtrack: --mcap must be given with one log, or --trial, got 2 trials\n",
    )


def test_what_was_stated_and_what_was_left_out_is_told(folder):
    result = invoke(folder, folder / "0.csv", "--no-numerics", "--set", "roll=2deg")
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    assert "0.csv: roll: 2 deg all the time, as stated beside the mapping file" in told


@pytest.mark.slow
def test_trials_of_one_log_are_compared_as_logs_of_their_own(folder):
    rows = [np.loadtxt(folder / f"{i}.csv", delimiter=",", skiprows=1) for i in range(2)]
    table = np.concatenate([np.column_stack([part, np.full(len(part), i)]) for i, part in enumerate(rows)])
    np.savetxt(folder / "both.csv", table, header=",".join((*NAMES, "run")), delimiter=",", comments="")
    results = []
    for logs, text in ((["0.csv", "1.csv"], MAPPING), (["both.csv"], MAPPING + "split: {channel: run}\n")):
        (folder / "mapping.yaml").write_text(text)
        result = invoke(folder, *(folder / log for log in logs), "--json", "--no-numerics")
        assert result.exit_code == 0, result.output
        results.append(json.loads(result.stdout))
    assert results[0]["repeats"] == results[1]["repeats"] != []
    runs = [[each["runs"]["measured"]["rows"] for each in result["comparisons"]] for result in results]
    assert runs[0] == runs[1]
    one = invoke(folder, folder / "both.csv", "--trial", "2", "--json", "--no-numerics")
    assert json.loads(one.stdout)["comparisons"] == results[1]["comparisons"][1:]


@pytest.mark.slow
def test_several_logs_are_repeats_of_one_trial(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = invoke(folder, folder / "0.csv", folder / "1.csv", "--no-numerics")
    assert result.exit_code == 0, result.output
    assert "Area between the distributions of simulated and logged numbers over repeats" in result.stdout
    assert "0.csv, measured: u_num: not tried" in result.stderr
    assert {"compare-1.png", "compare-2.png"} <= {path.name for path in (folder / "out").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--align", "icp"), "segtrack: no alignment 'icp'; there are: event, start, se3, none\n"),
        (("--terrain", "none.yaml"), "segtrack: cannot read none.yaml: no such file\n"),
        (("--uncertain", "colour=1"), "segtrack: no uncertain input 'colour'; there are: friction, "),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, arguments, message):
    result = invoke(folder, folder / "0.csv", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)


def test_a_vehicle_has_to_be_named_somewhere(folder):
    (folder / "mapping.yaml").write_text(MAPPING.replace("vehicle: packbot\n", ""))
    result = invoke(folder, folder / "0.csv")
    assert (result.exit_code, result.stderr) == (
        2,
        "segtrack: vehicle must be given by --vehicle or the mapping, got none\n",
    )


def test_a_simulation_that_turns_too_little_errs_in_slip(folder, monkeypatch):
    """A turn in closed form at 0.8 of no-slip, which the engine drives at 0.6, of PackBot's gauge."""
    times, left, right = np.arange(0.0, 20.0, 0.05), 0.4, 0.6
    gauge = load_vehicle("packbot").gauge

    def turn(ratio):
        rate = ratio * (right - left) / gauge
        x, y = 0.5 / rate * np.sin(rate * times), 0.5 / rate * (1 - np.cos(rate * times))
        return np.stack([x, y, 0 * x], axis=1), rate * times

    def simulated(name):
        position, yaw = turn(0.6)
        even = np.ones(len(times))
        belts = {"left": left * even, "right": right * even}
        signals = {f"belt_speed.{side}": Signal(times, speed) for side, speed in belts.items()}
        return Motion(name, signals | {"position": Signal(times, position), "yaw": Signal(times, yaw)})

    position, yaw = turn(0.8)
    even = np.ones(len(times))
    columns = (times, *position.T, 0 * times, yaw, left * even, right * even)
    np.savetxt(folder / "turn.csv", np.transpose(columns), header=",".join(NAMES), delimiter=",", comments="")
    (folder / "step.yaml").write_text("terrain: []")
    simulated_as(monkeypatch, simulated)
    result = invoke(folder, folder / "turn.csv", "--json", "--no-numerics")
    assert result.exit_code == 0, result.output
    (comparison,) = json.loads(result.stdout)["comparisons"]
    rows = {(r["quantity"], r["phase"]): r for r in comparison["runs"]["measured"]["rows"]}
    assert round(rows["slip left RMSE", "whole"]["error"], 3) == 0.043
    assert round(rows["slip right RMSE", "whole"]["error"], 3) == 0.033
    assert rows["mean slip left", "whole"]["logged"] == pytest.approx(-0.05, abs=1e-4)
    assert rows["mean slip right", "whole"]["logged"] == pytest.approx(0.033, abs=4e-4)
    turned = rows["yaw rate over no-slip", "whole"]
    assert (turned["logged"], turned["simulated"]) == (pytest.approx(0.8), pytest.approx(0.6))
