"""The README's commands and every demo run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import is_for_want_of_pybullet
from docs.blocks import pages
from tables import each_row

from segtrack.description import load_vehicle
from segtrack.engine import DEFAULT_ENGINE

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


@pytest.mark.slow
def test_first_line_climbs_and_writes_its_picture(tmp_path: Path) -> None:
    command = shlex.split(BLOCKS[0][1].splitlines()[0].split("&&")[1])
    program = Path(sys.executable).with_name("segtrack")
    command = [str(program), *command[1:], "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["success"] is True
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".csv", ".json", ".png"}


def example(heading: str, language: str = "python") -> str:
    """The first block of code under a heading of the README."""
    section = README.split(f"\n## {heading}\n")[1]
    return next(
        text for found, text in re.findall(r"```(\w*)\n(.*?)```", section, re.DOTALL) if found == language
    )


@pytest.mark.slow
def test_climb_runs_without_pybullet(tmp_path: Path) -> None:
    """It is on top of the step, and its left grousers carry part of the weight."""
    code = example("A climb, in Python")
    code += "import sys; assert 'pybullet' not in sys.modules; print(robot.mass * 9.81)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    x, _, z, *_, weight = [float(number) for number in re.findall(r"-?\d+\.\d*(?:e-?\d+)?", done.stdout)]
    loads = done.stdout[done.stdout.index("[") : done.stdout.index("]")].strip("[").split()
    assert x > 0.75
    assert z > 0.24
    assert 0 < sum(float(load) for load in loads) < weight


def test_plug_in_example_drives_without_a_display() -> None:
    """In a shorter form, with a bundled vehicle, over a floor that the program loads before it attaches."""
    pytest.importorskip("pybullet")
    code = example("Inside your own PyBullet program")
    assert "robot.before_step()" in code
    code = code.replace("my_robot.yaml", "example_rover").replace("range(5000)", "range(800)")
    floor = "client.createMultiBody(0, client.createCollisionShape(pybullet.GEOM_PLANE))\nrobot ="
    names: dict[str, Any] = {}
    exec(compile(code.replace("robot =", floor, 1), "README.md", "exec"), names)
    assert names["robot"].state.position[0] > 0.05
    names["client"].disconnect()


def test_operator_example_turns_left(capsys: pytest.CaptureFixture[str]) -> None:
    """By less than the twist asks for; here without keeping to the clock."""
    code = example("For operators: a station in the browser")
    assert "real_time=True" in code
    exec(compile(code.replace("real_time=True", "real_time=False"), "README.md", "exec"), {})
    yaw, overruns = capsys.readouterr().out.split()
    assert 0 < float(yaw) < 0.2 * 2.0
    assert overruns == "0"


def test_learning_example_steps() -> None:
    names: dict[str, object] = {}
    exec(compile(example("For researchers: learning"), "README.md", "exec"), names)
    assert names["terminated"] is False


@pytest.mark.slow
def test_chain_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(example("For engineers: loads, soil, and what was measured"), "README.md", "exec"), {})
    tension, pressure, sinkage, _ = [float(text) for text in capsys.readouterr().out.splitlines()[-1].split()]
    assert tension > 0
    assert pressure > 0
    assert 0 < sinkage < 0.1


def test_vehicle_of_the_readme_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "rover.yaml"
    file.write_text(example("Your own vehicle", "yaml"), encoding="utf-8")
    assert load_vehicle(file).name == "rover"


def test_front_door_is_short() -> None:
    assert len(README.splitlines()) <= 250


@each_row("text", [*pages(), ROOT / "CHANGELOG.md"])
def test_links_lead_somewhere(text: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", text.read_text(encoding="utf-8")):
        path, _, heading = link.partition("#")
        target = text.parent / path if path else text
        assert link.startswith("http") or target.exists(), link
        if heading and target.exists():
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings], link


SLOW_DEMOS = {
    "bulldozer",
    "climb_step",
    "drawbar",
    "films",
    "learnt_arm",
    "learnt_climb",
    "log_report",
    "own_mujoco",
    "own_program",
    "plug_in",
    "station_driver",
    "terrains",
    "turn_on_the_spot",
}
DEMOS = sorted(path.stem for path in (ROOT / "demos").glob("[a-z]*.py"))


def test_gallery_shows_every_demo_by_the_command_that_made_its_picture() -> None:
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| !\[.*", gallery.split("\n## Demos\n")[1].split("\n## ")[0], re.MULTILINE)
    command = r"`python -m segtrack\.demos\.(\w+) --headless --picture (demos/pictures/\1\.png)`"
    shown = {}
    for row in rows:
        demo, picture = re.search(command, row).groups()
        assert f"](../{picture})" in row and f"**{demo}**" in row
        shown[demo] = (ROOT / picture).stat().st_size
    assert sorted(shown) == DEMOS
    assert max(shown.values()) < 150_000


@pytest.mark.parametrize(
    "demo", [pytest.param(demo, marks=[pytest.mark.slow] * (demo in SLOW_DEMOS)) for demo in DEMOS]
)
def test_demo_runs_headless(demo: str) -> None:
    if demo == "station_driver":
        pytest.importorskip("nicegui", reason="of the extra station")
    if demo == "own_mujoco":
        pytest.importorskip("mujoco", reason="of the extra mujoco")
    if demo == "log_report":
        pytest.importorskip("jinja2", reason="of the extra logs")
    command = [sys.executable, "-m", f"segtrack.demos.{demo}", "--headless"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if DEFAULT_ENGINE != "pybullet" and is_for_want_of_pybullet(
        subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    ):
        pytest.skip("needs PyBullet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
