"""Fit files: what they name is read, mistakes come at once, and the command writes a vehicle file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.description import load_vehicle
from segtrack.errors import FitFileError, SegtrackError
from segtrack.logs.fit import PARAMETERS, MotionCase, SteadyCase, find_fit, load_study
from segtrack.logs.fit.fitting import describe
from segtrack.robot import QUANTITIES

MAPPING = """
vehicle: packbot
quantities:
  belt_speed: {left: left, right: right, unit: m/s}
  belt_speed_command: {left: left_command, right: right_command, unit: m/s}
  position: {channels: [x, y, z], unit: m, std: 0.01}
  pitch: {channel: pitch, unit: rad, positive: nose up, std: 0.02}
"""
FIT = """
mapping: mapping.yaml
terrain: level.yaml
signals: {position: , pitch: {std: 0.05}}
parameters: {friction: , com_x: {bounds: [-0.1, 0.1], prior: {mean: 0.0, std: 0.05}}}
logs:
  first: {log: drive.csv}
  second: {log: drive.csv, drive_by: commanded, hold_out: true}
"""
TABLE = """
rows: steady
vehicle: maxxii
quantities:
  belt_speed: {left: a, right: b, unit: m/s}
  slip_velocity: {left: c, right: d, unit: m/s, positive: belt faster, std: 0.01}
"""


def test_a_fit_takes_the_frame_from_the_mapping(folder: Path) -> None:
    """On level ground nothing tells the place, unless positions are in the terrain's frame."""
    shifts = {}
    for frame in ("log", "terrain"):
        (folder / "mapping.yaml").write_text(f"frame: {frame}\n{MAPPING}")
        case = load_study(folder / "fit.yaml").cases[0]
        assert isinstance(case, MotionCase) and case.place_std == 0.0
        shifts[frame] = dict(zip(case.rows.labels, case.rows.shifts.tolist(), strict=True))
    assert shifts["log"]["position.x"] == shifts["log"]["position.y"] == np.inf
    assert shifts["terrain"]["position.x"] == shifts["terrain"]["position.y"] == 0.01


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A straight drive on level ground, its mapping, and a fit."""
    times = np.arange(0.0, 3.0, 0.05)
    speed = np.where(times > 0.5, 0.2, 0.0)
    x, zeros = np.cumsum(speed) * 0.05, np.zeros_like(times)
    table = np.stack([times, speed, speed, speed, speed, x, zeros, zeros, zeros], axis=1)
    header = "time,left,right,left_command,right_command,x,y,z,pitch"
    np.savetxt(tmp_path / "drive.csv", table, "%.6g", ",", header=header, comments="")
    turns = np.array([[-0.2, 0.2, -0.05, 0.05], [0.1, 0.3, -0.02, 0.03], [0.3, -0.1, 0.05, -0.05]])
    np.savetxt(tmp_path / "turns.csv", turns, "%.6g", ",", header="a,b,c,d", comments="")
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    (tmp_path / "table.yaml").write_text(TABLE)
    (tmp_path / "level.yaml").write_text("friction: 1.0\n")
    (tmp_path / "fit.yaml").write_text(FIT)
    return tmp_path


def test_a_fit_file_names_logs_which_become_cases(folder: Path) -> None:
    study = load_study(folder / "fit.yaml")
    first, second = study.cases
    assert isinstance(first, MotionCase) and isinstance(second, MotionCase)
    assert (study.vehicle.name, study.engine, study.track_model) == ("packbot", "native", "compliant")
    assert first.rows.labels == ("position.x", "position.y", "position.z", "pitch")
    assert first.rows.std[0] == pytest.approx([0.01, 0.01, 0.01, 0.05])
    assert first.driving == ("belt_speed.left", "belt_speed.right")
    assert second.driving == ("belt_speed_command.left", "belt_speed_command.right")
    assert second.held_out and not first.held_out
    assert first.files is not None and first.files.log == "drive.csv" and first.files.terrain == "level"
    assert len(first.files.log_sha256) == len(first.files.terrain_sha256 or "") == 64
    assert study.file.choices["com_x"].prior == (0.0, 0.05)


def test_where_the_drives_are_fitted_their_commands_drive(folder: Path) -> None:
    (folder / "fit.yaml").write_text(FIT.replace("friction: ,", "drive_lag: ,"))
    assert load_study(folder / "fit.yaml").cases[0].driving[0] == "belt_speed_command.left"


@pytest.mark.parametrize(
    ("file", "old", "new", "parts"),
    [
        ("fit.yaml", "hold_out: true", "hold_out: false", {"held_out of second"}),
        ("fit.yaml", "{log: drive.csv}", "{log: drive.csv, drive_by: commanded}", {"driving of first"}),
        ("fit.yaml", "pitch: {std: 0.05}", "pitch: {std: 0.06}", {"signals of first", "rows of second"}),
        ("level.yaml", "1.0", "0.9", {"files of first", "settings of second"}),
        (
            "mapping.yaml",
            "right: right, unit: m/s",
            "right: right, unit: rad/s, radius: 0.9",
            {"motion of first"},
        ),
        ("mapping.yaml", "std: 0.01", "std: 0.02", {"rows of first"}),
        ("mapping.yaml", "vehicle: packbot", "vehicle: quince", {"settings of first"}),
    ],
)
def test_what_is_edited_is_another_fit(folder: Path, file: str, old: str, new: str, parts: set[str]) -> None:
    before = describe(load_study(folder / "fit.yaml").cases, [])
    assert describe(load_study(folder / "fit.yaml").cases, []) == before
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace(old, new))
    after = describe(load_study(folder / "fit.yaml").cases, [])
    assert parts <= {part for part in before if before[part] != after[part]}


def test_rows_of_a_table_are_held_out_by_chance(folder: Path) -> None:
    fit = """
        mapping: table.yaml
        track_model: uniform pressure
        signals: {slip_velocity.left: , slip_velocity.right: }
        parameters: {contact_length: }
        logs: {turns: {log: turns.csv, hold_out_rows: 0.34}}
    """
    (folder / "fit.yaml").write_text(fit)
    study = load_study(folder / "fit.yaml")
    kept, out = study.cases
    assert isinstance(kept, SteadyCase) and isinstance(out, SteadyCase)
    assert (len(kept.table), len(out.table), kept.held_out, out.held_out) == (2, 1, False, True)
    assert (study.engine, study.track_model) == ("none", "uniform pressure")


def test_the_bundled_fit_is_of_half_of_the_turns() -> None:
    study = load_study(find_fit("maxxii"))
    assert [(case.name, len(case.rows.measured), case.held_out) for case in study.cases] == [
        ("indoor", 135, False),
        ("indoor_held_out", 135, True),
    ]


def test_all_mistakes_of_a_fit_file_come_at_once(folder: Path) -> None:
    (folder / "bad.yaml").write_text("""
vehicle: packbot
mapping: none.yaml
time_step: 0
signals: {pich: , position: {std: -1}, belt_speed: , pitch.left: }
parameters: {friction: , fricton: , com_x: {bounds: [0.1, -0.1], prior: {mean: 0}}}
logs:
  a: {log: none.csv}
  b: {log: drive.csv, mapping: mapping.yaml, hold_out_rows: 1.5}
  c: {log: drive.csv, mapping: mapping.yaml, holdout: true}
""")
    with pytest.raises(FitFileError) as error:
        load_study(folder / "bad.yaml")
    there = ", ".join([*PARAMETERS, "clock_offset"])
    assert str(error.value).splitlines() == [
        f"bad.yaml:{line}: {message}"
        for line, message in (
            (3, f"mapping must be an existing file, got 'none.yaml' (looked for {folder / 'none.yaml'})"),
            (4, "time_step must be greater than 0, got 0"),
            (5, "signals.position.std must be greater than 0, got -1"),
            (5, f"signals.pich is no quantity; there are: {', '.join(QUANTITIES)}"),
            (5, "signals.belt_speed must be belt_speed.left and belt_speed.right"),
            (5, "signals.pitch.left must be pitch"),
            (6, "parameters.com_x.prior.std is missing"),
            (6, "parameters.com_x.bounds must rise, got [0.1, -0.1]"),
            (6, f"parameters.fricton is no parameter; there are: {there}"),
            (8, "logs.a.log must be an existing file or folder, got 'none.csv' "
                f"(looked for {folder / 'none.csv'})"),
            (9, "logs.b.hold_out_rows must be less than 1, got 1.5"),
            (10, "logs.c.holdout is not a key that segtrack knows; did you mean hold_out?"),
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("mapping: mapping.yaml\n", ""), "fit.yaml:6: logs.first.mapping is missing, and the fit has none\n"
         "fit.yaml:7: logs.second.mapping is missing, and the fit has none"),
        (("drive.csv}", "drive.csv, hold_out: true}"), "fit.yaml:6: logs must have one that is not held out"),
        (("terrain: level.yaml\n", ""), "terrain of first must be given by the fit or the mapping, got none"),
        (("drive.csv}", "drive.csv, hold_out_rows: 0.5}"), "logs.first.hold_out_rows must be of steady turns "
         "alone, got 0.5"),
        (("terrain:", "track_model: uniform pressure\nterrain:"), "track_model must be one that drives over "
         "time, got 'uniform pressure'"),
        (("drive.csv}", "turns.csv, mapping: table.yaml}"), "vehicle must be given by the fit, or one by all "
         "mappings, got maxxii, packbot"),
        (("terrain:", "vehicle: packbott\nterrain:"), "no vehicle 'packbott'"),
    ],
)  # fmt: skip
def test_a_fit_that_does_not_go_together_is_refused(
    folder: Path, change: tuple[str, str], message: str
) -> None:
    (folder / "fit.yaml").write_text(FIT.replace(*change))
    with pytest.raises(SegtrackError) as error:
        load_study(folder / "fit.yaml")
    assert str(error.value).startswith(message)


@pytest.mark.slow
def test_the_command_goes_from_a_fit_file_to_a_vehicle_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cmaes", reason="of an extra")
    monkeypatch.chdir(folder)
    alone = FIT.replace("{friction: , com_x:", "{com_x:").replace(
        "mean: 0.0, std: 0.05", "mean: 0.0, std: 0.005"
    )
    (folder / "fit.yaml").write_text(alone)  # Level ground shows nothing of it, and the prior bounds it.
    done = CliRunner().invoke(app, ["log", "fit", "fit.yaml", "--jobs", "1", "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["finished"] and [case["name"] for case in found["cases"]] == ["first", "second"]
    out = folder / "out" / "fit-fit"
    names = sorted(path.name for path in out.iterdir())
    assert names == ["fit.json", "fit.png", "fitted.yaml", "profiles.png", "residuals.png", "state.sqlite"]
    calibration = load_vehicle(out / "fitted.yaml").calibration
    assert calibration is not None and calibration.track_model == "compliant"
    assert list(calibration.logs) == ["first"] and list(calibration.held_out) == ["second"]
    again = CliRunner().invoke(app, ["log", "fit", "fit.yaml", "--jobs", "1", "--json", "--resume"])
    assert json.loads(again.stdout) == found
    both = [f"--track-model={model}" for model in ("compliant", "surface")]
    models = CliRunner().invoke(
        app, ["log", "fit", "fit.yaml", "--jobs", "1", "--json", "--out", "both", *both]
    )
    assert models.exit_code == 0, models.stderr
    told = json.loads(models.stdout)
    assert list(told["models"]) == ["compliant", "surface"]
    assert told["models"]["compliant"] == found
    assert {path.name for path in (folder / "both").iterdir()} == {
        "compliant",
        "surface",
        "models.json",
        "models.png",
    }
    assert load_vehicle(folder / "both" / "surface" / "fitted.yaml").calibration.track_model == "surface"
    shutil.rmtree(folder / "both" / "surface")  # As if Ctrl-C had come while the first was fitted.
    call = ["log", "fit", "fit.yaml", "--jobs", "1", "--json", "--out", "both", *both, "--resume"]
    resumed = CliRunner().invoke(app, call)
    assert resumed.exit_code == 0, resumed.stderr
    assert json.loads(resumed.stdout) == told
