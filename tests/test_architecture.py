"""What importing segtrack does, and what each door offers.

Import-linter holds the order of folders and their doors: `[tool.importlinter]` in pyproject.toml.
"""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tables import each_row

import segtrack

ROOT = Path(segtrack.__file__).parent
BELOW_USERS = ("robot", "world", "batch", "bullet", "native", "mujoco")
"""Parts that may ask a robot for its model or a world for its engine."""
BACK_DOOR = re.compile(r"\b\w*(?:robot|track|flipper)s?\.model\.|\b\w*world\.engine\.")
EXTRAS = {
    "segtrack.batch.gpu_arrays": "numba_cuda",
    "segtrack.batch.gpu_fleet": "numba_cuda",
    "segtrack.batch.gpu_steps": "numba_cuda",
    "segtrack.batch.gpu_functions": "numba_cuda",
    "segtrack.envs.learning.ppo": "stable_baselines3",
    "segtrack.envs.learning.sb3": "stable_baselines3",
    "segtrack.mujoco": "mujoco",
    "segtrack.station.window.controls": "pygame",
    "segtrack.station.window.loop": "pygame",
    "segtrack.station.page": "nicegui",
    "segtrack.station.measure": "websockets",
    "segtrack.station.serve": "uvicorn",
    "segtrack.station.web.app": "nicegui",
    "segtrack.station.web.catalogue": "zstandard",
    "segtrack.station.web.guard": "uvicorn",
    "segtrack.station.web.hub": "mcap",
    "segtrack.station.web.run": "zstandard",
    "segtrack.station.web.trials": "zstandard",
    "segtrack.station.web.viewing": "mcap",
    "segtrack.logs.reading.bag": "rosbags",
    "segtrack.logs.reading.bag_content": "rosbags",
    "segtrack.logs.reading.bag_files": "rosbags",
    "segtrack.logs.reading.message_layout": "rosbags",
    "segtrack.logs.reading.bag_writing": "rosbags",
    "segtrack.recording.messages": "rosbags",
    "segtrack.recording.recorder": "mcap",
    "segtrack.envs.learning.rsl_rl": "rsl_rl",
    "segtrack.recording.recording": "mcap",
    "segtrack.recording.replay": "mcap",
    "segtrack.recording.storage": "zstandard",
}
"""Modules that work with an extra alone, and what it installs."""
CHECKOUT = Path(__file__).parent.parent
SOURCES = {path.relative_to(ROOT): path for path in sorted(ROOT.rglob("*.py"))} | {
    path.relative_to(CHECKOUT): path
    for folder in ("envs", "demos")
    for path in sorted((CHECKOUT / folder).rglob("*.py"))
}
"""Each file by its place in the package."""
FILES = list(SOURCES)


def test_what_stands_on_robot_and_world_asks_them_and_not_what_is_behind_them():
    found = {
        str(file): BACK_DOOR.findall(SOURCES[file].read_text(encoding="utf-8"))
        for file in FILES
        if file.parts[0] not in BELOW_USERS
    }
    assert not {file: calls for file, calls in found.items() if calls}


def test_importing_segtrack_leaves_how_python_imports_alone():
    program = (
        "import sys; finders, hooks = sys.meta_path[:], sys.path_hooks[:];"
        "import segtrack, segtrack.urdf, segtrack.envs;"
        "assert (sys.meta_path, sys.path_hooks) == (finders, hooks)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_a_checkout_that_is_not_installed_says_what_to_do(tmp_path):
    program = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'segtrack' not in repr(f)];"
        f"sys.path[:] = [{str(CHECKOUT)!r}, *(p for p in sys.path if p)]; import segtrack"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: segtrack is imported from a checkout that is not installed, without its vehicles, "
        "environments and demos: run `pip install -e .` there, or start Python in another folder"
    )


def test_the_version_is_told_once():
    settings = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.fullmatch(r"\d+\.\d+\.\d+", segtrack.__version__)
    assert 'attr = "segtrack.__version__"' in settings and '\nversion = "' not in settings


def test_pybullet_is_imported_once_it_is_chosen():
    pytest.importorskip("pybullet")
    program = (
        "import sys, segtrack, segtrack.cli, segtrack.envs, segtrack.experiments, segtrack.rendering;"
        "assert 'pybullet' not in sys.modules;"
        "segtrack.World().close(); assert 'pybullet' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_geometry_and_terrain_run_without_an_engine():
    """In a process in which PyBullet cannot be imported."""
    program = (
        "import sys; sys.modules['pybullet'] = None; sys.modules['segtrack'] = type(sys)('segtrack');"
        f"sys.modules['segtrack'].__path__ = [{str(ROOT)!r}];"
        "from segtrack.description import load_vehicle; from segtrack.engine import follow_command;"
        "from segtrack.geometry import plate_loop, segment_links; from segtrack.terrain import Plane;"
        "assert load_vehicle('quince').name == 'quince'"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd="/").returncode == 0


def modules():
    yield "segtrack"
    for module in pkgutil.walk_packages(segtrack.__path__, "segtrack."):
        if not module.name.endswith("__main__"):
            yield module.name


@each_row("name", modules())
def test_all_names_that_a_module_offers_resolve(name):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name], reason="of an extra")
    module = importlib.import_module(name)
    assert module.__doc__
    for offered in getattr(module, "__all__", ()):
        try:
            getattr(module, offered)  # Doors import what they offer when it is asked for.
        except ModuleNotFoundError as error:
            assert error.name.split(".")[0] in {*EXTRAS.values(), "fastapi", "starlette"}, (name, offered)
