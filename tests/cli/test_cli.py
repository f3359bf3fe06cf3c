"""The command line as a process: what stands on which stream, exit codes, files."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from command_line import CLIMB, KNOWN, PROGRAM, run, run_process
from quick import some_of
from scenes import heed_interrupts

import segtrack
from segtrack.bullet import vehicle_urdf

ENGINES = [
    ["--engine", "native"],
    *(
        pytest.param(["--engine", "pybullet", "--preset", preset], marks=pytest.mark.slow)
        for preset in ("coarse", "fast", "exact")
    ),
]


def test_climb_writes_its_results_and_one_json_object(tmp_path: Path) -> None:
    film = ["--record", "film.gif", "--frame-size", "160x120", "--frame-rate", "5"]
    done = run(*CLIMB, "--out", "here", "--json", *film, folder=tmp_path)
    assert done.exit_code == 0, done.stderr
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


@pytest.mark.slow
def test_a_failed_climb_is_a_result_and_goes_to_the_default_folder(tmp_path: Path) -> None:
    done = run("climb", "packbot", "--step", "0.5", "--speed", "2.6", "--preset", "fast", folder=tmp_path)
    assert done.exit_code == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "climb-packbot" / "summary.json").read_text())
    assert summary["success"] is False
    assert summary["outcome"] in ("stuck", "tipped over")
    assert summary["outcome"] in done.stdout


@pytest.mark.slow
def test_speed_above_the_drives_limit_is_clipped(tmp_path: Path) -> None:
    done = run(
        "climb", "packbot", "--step", "0.01", "--speed", "99", "--preset", "fast", "--json", folder=tmp_path
    )
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["speed"] == 2.6


INTERRUPTED_CLIMB = """
import os, signal, sys
from segtrack import experiments
from segtrack.cli import main

drive = experiments.run_climb


def run_climb(setup, *, gui, observer):
    def watch(now):
        observer(now)
        if now.time > 0.5:
            os.kill(os.getpid(), signal.SIGINT)

    return drive(setup, gui=gui, observer=watch)


experiments.run_climb = run_climb
sys.argv = ["segtrack", "climb", "quince", "--out", "here"]
main()
"""
"""Ctrl-C half a simulated second after the start, however fast the machine is."""


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_error_of_the_process_is_one_line_of_its_standard_error(tmp_path: Path) -> None:
    done = run_process("climb", "qince", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"segtrack: no vehicle 'qince'; there are: {KNOWN}\n"


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["0", "1", "19"])
def test_a_terminal_without_columns_is_not_believed(columns: str, tmp_path: Path) -> None:
    command = [PROGRAM, "climb", "qince"]
    environment = {**os.environ, "COLUMNS": columns}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert done.stderr == f"segtrack: no vehicle 'qince'; there are: {KNOWN}\n"


INTERRUPTED_IMPORT = """
import os, signal, sys


class Interrupting:
    \"\"\"Send Ctrl-C once the import of the package has come to numpy.\"\"\"

    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Interrupting())
sys.argv = ["segtrack", "vehicles"]
from segtrack.cli import main
main()
"""


@pytest.mark.parametrize(
    ("name", "module", "call"),
    [
        ("SIGINT", "numpy", "vehicles"),
        pytest.param("SIGTERM", "numpy", "vehicles", marks=pytest.mark.slow),
        pytest.param("SIGHUP", "numpy", "vehicles", marks=pytest.mark.slow),
        ("SIGINT", "segtrack.reproduce.speed", "reproduce"),
    ],
)
def test_ctrl_c_and_its_like_during_imports_are_one_line(
    name: str, module: str, call: str, tmp_path: Path
) -> None:
    """So are what `kill`, Slurm and Docker send, and what a terminal does that is closed."""
    script = INTERRUPTED_IMPORT.replace("SIGINT", name).replace("numpy", module).replace("vehicles", call)
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(Path(segtrack.__file__).parents[1])}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
        preexec_fn=heed_interrupts,
    )
    assert (done.returncode, done.stderr) == (130, "segtrack: interrupted\n")


def test_kill_is_ctrl_c_to_a_program_in_the_background_of_a_script() -> None:
    """There Ctrl-C itself is ignored."""
    script = INTERRUPTED_IMPORT.replace("SIGINT", "SIGTERM")
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(segtrack.__file__).parents[1])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (130, "segtrack: interrupted\n")


def test_unknown_option_is_a_users_mistake(tmp_path: Path) -> None:
    done = run("climb", "packbot", "--stepp", "0.1", folder=tmp_path)
    assert done.exit_code == 2
    assert "--stepp" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=" ".join)
def test_table_4_matches_the_robot_in_all_six_cases(engine: list[str], tmp_path: Path) -> None:
    done = run("reproduce", "okada-table-4", *engine, "--out", "t", "--json", folder=tmp_path)
    assert done.exit_code == 0, done.stderr
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
    assert run("urdf", "quince", "--out", "files", folder=tmp_path).exit_code == 0
    assert {path.name for path in (tmp_path / "files").iterdir()} == {"quince.urdf", *expected.meshes}


@pytest.mark.parametrize("vehicle", some_of(segtrack.bundled_vehicles(), "packbot"))
def test_every_vehicle_is_valid_and_is_drawn(vehicle: str, tmp_path: Path) -> None:
    assert run("validate", vehicle, folder=tmp_path).stderr.startswith(f"{vehicle}: valid, ")
    assert run("draw", vehicle, "--out", "it.png", folder=tmp_path).exit_code == 0
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")
