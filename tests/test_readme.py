"""The README's commands and every demo run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def test_two_lines_do_everything() -> None:
    language, text = BLOCKS[0]
    assert language == ""
    assert text.splitlines() == [
        "pip install . && segtrack climb quince --step 0.24 --flippers 45",
        'pip install -e ".[test]" && pytest',
    ]


def test_first_line_climbs_and_writes_its_picture(tmp_path: Path) -> None:
    command = shlex.split(BLOCKS[0][1].splitlines()[0].split("&&")[1])
    program = Path(sys.executable).with_name("segtrack")
    command = [str(program), *command[1:], "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["success"] is True
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".csv", ".json", ".png"}


def test_quick_start_runs(capfd: pytest.CaptureFixture[str]) -> None:
    code = next(text for language, text in BLOCKS if language == "python")
    exec(compile(code, "README.md", "exec"), {})
    assert "(" in capfd.readouterr().out


def test_plug_in_quick_start_compiles() -> None:
    code = [text for language, text in BLOCKS if language == "python"][1]
    compile(code, "README.md", "exec")
    assert "robot.before_step()" in code


@pytest.mark.parametrize("demo", sorted(path.stem for path in (ROOT / "demos").glob("[a-z]*.py")))
def test_demo_runs_headless(demo: str) -> None:
    command = [sys.executable, "-m", f"segtrack.demos.{demo}", "--headless"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
