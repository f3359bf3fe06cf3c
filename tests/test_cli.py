"""The command line as a process: what stands on which stream, exit codes, files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from scenes import heed_interrupts

import segtrack
from segtrack.bullet.loader import vehicle_urdf

PROGRAM = str(Path(sys.executable).with_name("segtrack"))
CLIMB = ["climb", "packbot", "--step", "0.02", "--speed", "0.3", "--preset", "fast"]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, cwd=folder)


def test_climb_writes_its_results_and_one_json_object(tmp_path: Path) -> None:
    done = run(*CLIMB, "--out", "here", "--json", "--record", "film.gif", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary == json.loads((tmp_path / "here" / "summary.json").read_text())
    expected = {
        "success",
        "duration",
        "real_time_factor",
        "max_pitch_deg",
        "final_position",
        "slip",
        "energy",
    }
    assert expected <= set(summary)
    assert summary["success"] is True
    assert summary["final_position"][2] > 0.02
    with (tmp_path / "here" / "trajectory.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[-1]["time_s"]) == pytest.approx(summary["duration"])
    assert float(rows[-1]["z_m"]) == pytest.approx(summary["final_position"][2])
    assert float(rows[-1]["left_travel_m"]) > 0.5
    assert (tmp_path / "here" / "climb.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.gif", "here"]


def test_a_failed_climb_is_a_result_and_goes_to_the_default_folder(tmp_path: Path) -> None:
    done = run("climb", "packbot", "--step", "0.5", "--speed", "2.6", "--preset", "fast", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "climb-packbot" / "summary.json").read_text())
    assert summary["success"] is False
    assert summary["outcome"] in ("stuck", "tipped over")
    assert summary["outcome"] in done.stdout


def test_speed_above_the_drives_limit_is_clipped(tmp_path: Path) -> None:
    done = run(
        "climb", "packbot", "--step", "0.01", "--speed", "99", "--preset", "fast", "--json", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["speed"] == 2.6


INTERRUPTED_CLIMB = """
import os, signal, sys
import segtrack.cli.climb as command
from segtrack.cli import main

drive = command.run_climb


def run_climb(setup, *, gui, observer):
    def watch(now):
        observer(now)
        if now.time > 0.5:
            os.kill(os.getpid(), signal.SIGINT)

    return drive(setup, gui=gui, observer=watch)


command.run_climb = run_climb
sys.argv = ["segtrack", "climb", "quince", "--out", "here"]
main()
"""
"""Ctrl-C half a simulated second after the start, however fast the machine is."""


def test_interrupted_climb_keeps_its_trajectory(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_CLIMB],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    with (tmp_path / "here" / "trajectory.csv").open() as file:
        assert len(list(csv.DictReader(file))) > 1
    assert json.loads((tmp_path / "here" / "summary.json").read_text())["outcome"] == "interrupted"


KNOWN = ", ".join(segtrack.bundled_vehicles())
MISTAKES = {
    "vehicle": (["climb", "qince"], f"segtrack: no vehicle 'qince'; there are: {KNOWN}"),
    "file": (["validate", "no.yaml"], "segtrack: cannot read no.yaml: no such file"),
    "syntax": (
        ["validate", "bad.yaml"],
        "segtrack: bad.yaml:1: is not YAML: column 12: expected ',' or ']', but got '<stream end>'",
    ),
    "content": (["validate", "empty.yaml"], "segtrack: empty.yaml: "),
    "step nan": (
        [*CLIMB, "--step", "nan"],
        "segtrack: Step.height must be a positive finite number [m], got nan",
    ),
    "step negative": (
        [*CLIMB, "--step", "-0.1"],
        "segtrack: Step.height must be a positive finite number [m], got -0.1",
    ),
    "speed nan": ([*CLIMB, "--speed", "nan"], "segtrack: speed [m/s] must be a finite number, got nan"),
    "speed zero": ([*CLIMB, "--speed", "0"], "segtrack: speed [m/s] must be greater than 0, got 0.0"),
    "friction": ([*CLIMB, "--friction", "-1"], "segtrack: friction must be at least 0, got -1.0"),
    "one wheel": (
        [*CLIMB, "--track-model", "wheels:1"],
        "segtrack: track model wheels:N must be at least 2 wheels, got 'wheels:1'",
    ),
    "model": (
        [*CLIMB, "--track-model", "legs"],
        "segtrack: no track model 'legs'; there are: segments, smooth, wheels:N, plates, chain, compliant, "
        "surface",
    ),
    "engine": ([*CLIMB, "--engine", "steam"], "segtrack: no engine 'steam'; there are: pybullet, native"),
    "pair": (
        [*CLIMB, "--engine", "native", "--track-model", "segments"],
        "segtrack: engine for track model 'segments' must be pybullet, got 'native'",
    ),
    "native window": (
        [*CLIMB, "--track-model", "compliant", "--gui"],
        "segtrack: engine for a window must be pybullet, got 'native'",
    ),
    "pair of the table": (
        ["reproduce", "okada-table-4", "--engine", "pybullet", "--track-model", "surface"],
        "segtrack: engine for track model 'surface' must be native, got 'pybullet'",
    ),
    "preset": (
        [*CLIMB, "--preset", "slow"],
        "segtrack: no solver preset 'slow'; there are: exact, fast, coarse",
    ),
    "flippers": (
        [*CLIMB, "--flippers", "30"],
        "segtrack: no front flipper of 'packbot'; there are: none",
    ),
    "size of a film": (
        [*CLIMB, "--record", "film.gif", "--frame-size", "640"],
        "segtrack: frame-size [pixels] must be width x height, as 640x360, got '640'",
    ),
    "film": (
        [*CLIMB, "--record", "film.txt"],
        "segtrack: record must be a file of .mp4 or .gif, got 'film.txt'",
    ),
    "folder": ([*CLIMB, "--out", "bad.yaml/out"], "segtrack: cannot write to bad.yaml/out: Not a directory"),
    "map": (
        ["reproduce", "okada-table-4", "--map", "--map-size", "huge"],
        "segtrack: no map size 'huge'; there are: full, small",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_users_mistake_gets_one_clear_error_and_exit_code_2(mistake: str, tmp_path: Path) -> None:
    arguments, message = MISTAKES[mistake]
    (tmp_path / "bad.yaml").write_text("body: [1, 2")
    (tmp_path / "empty.yaml").write_text("")
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    said = done.stderr.removesuffix("\n")
    assert said.startswith(message) if message.endswith(" ") else said == message
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.yaml", "empty.yaml"]


def test_unknown_option_is_a_users_mistake(tmp_path: Path) -> None:
    done = run("climb", "packbot", "--stepp", "0.1", folder=tmp_path)
    assert done.returncode == 2
    assert "--stepp" in done.stderr


def test_table_4_matches_the_robot_in_all_six_cases(tmp_path: Path) -> None:
    done = run("reproduce", "okada-table-4", "--preset", "fast", "--out", "t", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert table["matches"] == 6
    assert [(case["front_sub_track_deg"], case["step"], case["real"]) for case in table["cases"]] == [
        (0.0, 0.04, True),
        (0.0, 0.12, True),
        (0.0, 0.19, False),
        (45.0, 0.12, True),
        (45.0, 0.24, True),
        (45.0, 0.38, False),
    ]
    assert all(case["match"] == (case["success"] == case["real"]) for case in table["cases"])
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["table_4.json", "table_4.png"]


@pytest.mark.slow
def test_table_4_matches_with_the_exact_preset(tmp_path: Path) -> None:
    done = run("reproduce", "okada-table-4", "--preset", "exact", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["matches"] == 6


def test_vehicles_lists_what_is_bundled(tmp_path: Path) -> None:
    done = run("vehicles", "--json", folder=tmp_path)
    assert list(json.loads(done.stdout)["vehicles"]) == list(segtrack.bundled_vehicles())


def test_schema_is_a_json_schema_of_vehicle_files(tmp_path: Path) -> None:
    schema = json.loads(run("schema", folder=tmp_path).stdout)
    assert schema["additionalProperties"] is False
    assert {"name", "body", "tracks", "flippers"} <= set(schema["properties"])
    assert "TrackSpec" in schema["$defs"]


def test_urdf_prints_what_is_loaded_and_writes_its_meshes(tmp_path: Path) -> None:
    expected = vehicle_urdf(segtrack.load_vehicle("quince"), "segments")
    printed = run("urdf", "quince", folder=tmp_path).stdout
    assert printed == expected.text
    assert ElementTree.fromstring(printed).get("name") == "quince"
    assert run("urdf", "quince", "--out", "files", folder=tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "files").iterdir()} == {"quince.urdf", *expected.meshes}


@pytest.mark.parametrize("vehicle", segtrack.bundled_vehicles())
def test_every_vehicle_is_valid_and_is_drawn(vehicle: str, tmp_path: Path) -> None:
    assert run("validate", vehicle, folder=tmp_path).stderr.startswith(f"{vehicle}: valid, ")
    assert run("draw", vehicle, "--out", "it.png", folder=tmp_path).returncode == 0
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")
