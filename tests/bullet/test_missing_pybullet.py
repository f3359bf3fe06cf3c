"""What works where PyBullet is not installed, and what is said to whoever asks for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import json, sys
sys.modules["pybullet"] = sys.modules["pybullet_utils"] = None
import segtrack
from segtrack.cli.app import app
from segtrack.envs import Environment
from segtrack.engine import resolve

def said(ask):
    try:
        ask()
    except segtrack.SegtrackError as error:
        return [type(error).__name__, str(error)]

def ends(*arguments):
    try:
        app(list(arguments))
    except SystemExit as end:
        return end.code

with segtrack.World() as world:
    robot = world.add_vehicle("quince", position=(0, 0, 1))
print(json.dumps({
    "world": [world.engine.name, robot.track_model],
    "environment": [(env := Environment("StepClimb")).engine, env.track_model],
    "chosen": resolve(None, "compliant"),
    "asked": {
        "engine": said(lambda: segtrack.World(engine="pybullet")),
        "window": said(lambda: segtrack.World(gui=True)),
        "client": said(lambda: segtrack.World(client=0)),
        "attach": said(lambda: segtrack.attach(0, "quince")),
        "configure": said(lambda: segtrack.configure(0)),
        "track model": said(lambda: resolve(None, "segments")),
        "environment": said(lambda: Environment("StepClimb", track_model="segments")),
    },
    "exit codes": [
        ends("climb", "quince", "--track-model", "segments", "--out", sys.argv[1]),
        ends("urdf", "quince"),
        ends("validate", "quince"),
        ends("climb", "packbot", "--step", "0.02", "--speed", "1", "--out", sys.argv[2]),
    ],
}))
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process in which PyBullet cannot be imported answers, and what stands on its standard error."""
    folder = tmp_path_factory.mktemp("out")
    command = [sys.executable, "-c", PROGRAM, str(folder / "segments"), str(folder / "climb")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["climb"]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.slow
def test_the_native_engine_is_the_default(without: Any) -> None:
    answer, _ = without
    assert answer["world"] == answer["environment"] == answer["chosen"] == ["native", "compliant"]


@pytest.mark.slow
def test_whatever_asks_for_pybullet_is_told_what_to_install(without: Any) -> None:
    answer, errors = without
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    message = (
        "PyBullet is not installed: pip install pybullet for Python 3.10 and 3.11, or its fork "
        f"pybullet-arm64 for 3.12 and 3.13 (this is {here}); engine native works without it"
    )
    assert answer["asked"] == dict.fromkeys(answer["asked"], ["MissingPyBulletError", message])
    assert answer["exit codes"] == [2, 2, 0, 0]
    assert errors.count(f"segtrack: {message}\n") == 2


@pytest.mark.slow
def test_the_first_compilation_is_announced_once(tmp_path: Path) -> None:
    """In a process with an empty cache; the second has nothing to compile."""
    program = (
        "import os; os.environ['NUMBA_CACHE_DIR'] = os.getcwd()\n"
        "from segtrack.kernels.vectors import cross, dot\n"
        "cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), dot((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        for _ in range(2)
    ]
    assert [process.stdout for process in said] == ["", ""]
    assert [process.stderr for process in said] == [
        "segtrack: compiling kernels, once after installation or a change: a minute or two\n",
        "",
    ]
