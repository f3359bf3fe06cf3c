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


def test_native_example_runs_without_pybullet() -> None:
    """It prints a turn to the left by less than 2 v / B, and loads that are part of the weight."""
    code = next(text for _, text in BLOCKS if 'engine="native"' in text)
    code += "import sys; assert 'pybullet' not in sys.modules; print(robot.mass * 9.81)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    yaw, *loads, weight = [float(number) for number in done.stdout.replace("[", "").replace("]", "").split()]
    assert 0 < yaw < 2.0 * 2 * 0.2 / 0.2
    assert 0 < sum(loads) < weight


TEXTS = [ROOT / "README.md", *sorted(ROOT.glob("segtrack/**/README.md")), ROOT / "envs" / "README.md"]


@pytest.mark.parametrize("text", TEXTS, ids=[str(text.relative_to(ROOT)) for text in TEXTS])
def test_links_lead_somewhere(text: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", text.read_text(encoding="utf-8")):
        path, _, heading = link.partition("#")
        target = text.parent / path if path else text
        assert link.startswith("http") or target.exists(), link
        if heading and target.exists():
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings], link


@pytest.mark.parametrize("demo", sorted(path.stem for path in (ROOT / "demos").glob("[a-z]*.py")))
def test_demo_runs_headless(demo: str) -> None:
    command = [sys.executable, "-m", f"segtrack.demos.{demo}", "--headless"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
