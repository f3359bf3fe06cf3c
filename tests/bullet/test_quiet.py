"""PyBullet's greetings reach no stream; everything else does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from segtrack.quiet import without_greetings

PROGRAM = str(Path(sys.executable).with_name("segtrack"))
CLIMB = ("climb", "packbot", "--step", "0.02", "--speed", "0.3", "--preset", "fast", "--json")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("vehicles", "--json"), CLIMB], ids=lambda words: words[0])
def test_a_command_prints_one_json_object_and_nothing_else(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert all(line.startswith("wrote ") for line in done.stderr.splitlines())


def test_a_world_opens_without_a_word() -> None:
    program = "import segtrack; segtrack.World().close(); print('open')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "open\n", "")


def test_only_greetings_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    sys.stdout.write("before\n")
    with pytest.raises(ValueError, match="broken"), without_greetings():
        os.write(1, b"argv[0]=\nkept on output\n")
        os.write(2, b"pybullet build time: today\nkept on error, without an end")
        raise ValueError("broken")
    os.write(1, b"argv[0]= afterwards\n")
    assert capfd.readouterr() == (
        "before\nkept on output\nargv[0]= afterwards\n",
        "kept on error, without an end",
    )


@pytest.mark.slow
def test_a_program_without_standard_error_opens_a_world() -> None:
    program = "import os; os.close(2); import segtrack; segtrack.World().close(); print('open')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "open\n")
