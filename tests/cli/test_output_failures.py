"""Output and settings that fail: one line or nothing, an exit code, no traceback; one command in a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CLIMB, PROGRAM, run
from tables import each_row

CANNOT = "segtrack: cannot write to standard output: "
HOLD = """
import sys
from pathlib import Path
from segtrack.files import claimed
with claimed(Path(sys.argv[1])):
    print("claimed", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full and a shell")
@pytest.mark.parametrize(
    ("call", "status", "said"),
    [
        ("schema >/dev/full", 2, f"{CANNOT}No space left on device\n"),
        pytest.param("--help >&-", 2, f"{CANNOT}Bad file descriptor\n", marks=pytest.mark.slow),
        ("schema | true", 141, ""),
        pytest.param("validate quince 2>/dev/full", 0, "", marks=pytest.mark.slow),
        pytest.param("validate qince >&- 2>&- <&-", 2, "", marks=pytest.mark.slow),
    ],
)
def test_a_stream_that_cannot_be_written_to_ends_the_program_in_order(
    call: str, status: int, said: str, tmp_path: Path
) -> None:
    shell = ["bash", "-c", f"set -o pipefail; {PROGRAM} {call}"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, said)


def test_pictures_are_drawn_whatever_window_matplotlib_is_told_to_use(tmp_path: Path) -> None:
    call = ["env", "MPLBACKEND=nope", PROGRAM, "draw", "conveyor", "--out", "x.png"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "wrote x.png\n")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("MATPLOTLIBRC=/dev/full", "cannot read /dev/full: is a pipe, socket or device, not a file"),
        (
            "NUMBA_NUM_THREADS=0",
            "numba's settings must be ones that it takes (Number of threads specified must be > 0), got "
            "NUMBA_NUM_THREADS=0",
        ),
    ],
)
def test_settings_of_a_library_that_cannot_be_read_end_the_program_in_one_line(
    setting: str, said: str, tmp_path: Path
) -> None:
    call = ["env", setting, PROGRAM, "climb", "packbot", "--step", "0.1"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"segtrack: {said}\n")


@each_row(
    "call, option",
    [
        ([*CLIMB, "--out", ""], "--out"),
        ([*CLIMB, "--record", ""], "--record"),
        (["draw", "quince", "--out", ""], "--out"),
        (["urdf", "packbot", "--out", ""], "--out"),
        (["replay", "x.mcap", "--csv", ""], "--csv"),
        (["log", "map", "x.csv", "--mapping", ""], "--mapping"),
        (["log", "inspect", ""], ""),
        (["study", ""], ""),
    ],
)
def test_a_path_without_a_name_is_refused(call: list[str], option: str, tmp_path: Path) -> None:
    done = run(*call, folder=tmp_path)
    assert done.exit_code == 2
    assert f"Invalid value for '{option}" in done.stderr and "must be a path, got ''" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_a_folder_belongs_to_one_command_as_long_as_it_lives(tmp_path: Path) -> None:
    out = tmp_path / "out"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "claimed\n"
        done = run(*CLIMB, "--out", "out", folder=tmp_path)
        assert done.exit_code == 2
        assert done.stderr == "segtrack: cannot write to out: another process writes there\n"
    finally:
        holder.kill()
        holder.communicate()
    assert run(*CLIMB, "--speed", "-1", "--out", "out", folder=tmp_path).exit_code == 2
    assert not list(out.iterdir())
