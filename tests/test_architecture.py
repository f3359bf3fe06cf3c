"""Data flows one way: description -> geometry -> built model -> drive -> world -> what stands on it."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import segtrack

ROOT = Path(segtrack.__file__).parent
LAYERS = (
    {"errors"},
    {"files", "language", "quiet"},
    {"html"},
    {"geometry"},
    {"terrain"},
    {"ground"},
    {"chain", "compliant"},
    {"description"},
    {"engine"},
    {"bullet", "native"},
    {"robot"},
    {"world"},
    {"batch"},
    {"rendering"},
    {"segtrack"},  # What `import segtrack` gives.
    {"courses"},
    {"scoring"},
    {"experiments"},
    {"events"},
    {"study"},
    {"recording"},
    {"logs"},
    {"envs"},
    {"report"},
    {"reproduce"},
    {"station"},
    {"cli"},
    {"demos"},
)
"""From the bottom up. A part imports from itself and from the layers below its own, not from its neighbours.

Description stands on geometry, which is mathematics, because it refuses what geometry cannot build.
"""
FORBIDDEN = {
    "errors": {"pybullet", "pybullet_utils", "yaml", "pydantic", "numpy"},
    "geometry": {"pybullet", "pybullet_utils", "yaml", "pydantic", "trimesh"},
    "terrain": {"pybullet", "pybullet_utils", "yaml", "pydantic", "trimesh"},
    "ground": {"pybullet", "pybullet_utils", "yaml", "pydantic"},
    "chain": {"pybullet", "pybullet_utils", "yaml", "pydantic", "trimesh"},
    "compliant": {"pybullet", "pybullet_utils", "yaml", "pydantic", "trimesh"},
    "description": {"pybullet", "pybullet_utils"},
    "events": {"pybullet", "pybullet_utils"},
    "engine": {"pybullet", "pybullet_utils"},
    "native": {"pybullet", "pybullet_utils"},
    "robot": {"pybullet", "pybullet_utils"},
    "world": {"pybullet", "pybullet_utils"},
    "batch": {"pybullet", "pybullet_utils"},
    "courses": {"pybullet", "pybullet_utils"},
    "logs": {"pybullet", "pybullet_utils"},
    "scoring": {"pybullet", "pybullet_utils"},
}
"""What a part must work without: simulators, and below description file formats."""
ENGINES = {"bullet", "native"}
"""What nothing in `robot` and `world` knows but the module that opens them."""
OPENS_ENGINES = Path("world", "engines.py")
BELOW_USERS = ("robot", "world", "batch", "bullet", "native")
"""Parts that may ask a robot for its model or a world for its engine."""
BACK_DOOR = re.compile(r"\b\w*(?:robot|track|flipper)s?\.model\.|\b\w*world\.engine\.")
OWN_LOOPS = Path("demos", "plug_in.py"), Path("demos", "own_program.py")
"""A PyBullet program of somebody's own."""
EXTRAS = {
    "segtrack.batch.gpu_arrays": "numba_cuda",
    "segtrack.batch.gpu_fleet": "numba_cuda",
    "segtrack.batch.gpu_steps": "numba_cuda",
    "segtrack.batch.gpu_functions": "numba_cuda",
    "segtrack.envs.learning.ppo": "stable_baselines3",
    "segtrack.envs.ray_vector": "ray",
    "segtrack.station.window.controls": "pygame",
    "segtrack.station.window.loop": "pygame",
    "segtrack.station.page": "nicegui",
    "segtrack.station.measure": "websockets",
    "segtrack.station.serve": "uvicorn",
    "segtrack.station.web.app": "nicegui",
    "segtrack.station.web.connections": "uvicorn",
    "segtrack.station.web.guard": "starlette",
    "segtrack.station.web.hub": "mcap",
    "segtrack.station.web.playback": "mcap",
    "segtrack.station.web.reports": "mcap",
    "segtrack.station.web.status": "mcap",
    "segtrack.station.web.viewing": "mcap",
    "segtrack.logs.reading.bag": "rosbags",
    "segtrack.logs.reading.bag_content": "rosbags",
    "segtrack.logs.reading.mcap_file": "rosbags",
    "segtrack.logs.reading.ros1_file": "rosbags",
    "segtrack.logs.reading.sqlite_file": "rosbags",
    "segtrack.logs.reading.message_layout": "rosbags",
    "segtrack.logs.reading.bag_topic": "rosbags",
    "segtrack.logs.reading.message_types": "rosbags",
    "segtrack.logs.reading.bag_writing": "rosbags",
    "segtrack.recording.messages": "rosbags",
    "segtrack.recording.recorder": "mcap",
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


def part_of(module):
    """The part that a module of segtrack belongs to: its first name below the top."""
    _, *below = module.split(".")
    return below[0] if below else "segtrack"


def module_of(file):
    return ".".join(("segtrack", *file.with_suffix("").parts)).removesuffix(".__init__")


@cache
def exists(module):
    path = Path(*module.split(".")[1:])
    return path.with_suffix(".py") in SOURCES or path / "__init__.py" in SOURCES


@cache
def tree_of(file):
    return ast.parse(SOURCES[file].read_text(encoding="utf-8"))


@cache
def imports(file, everywhere=True):
    """The modules that a file imports, wherever in it, or as it is imported itself."""
    return tuple(modules_of(tree_of(file), file, everywhere))


def modules_of(tree, file, everywhere):
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            if node.module == "segtrack":
                submodules = [f"segtrack.{alias.name}" for alias in node.names]
                yield from (module if exists(module) else "segtrack" for module in submodules)
            else:
                yield node.module


def layer_of(part):
    return next(i for i, layer in enumerate(LAYERS) if part in layer)


def test_every_module_has_a_layer():
    assert not [file for file in FILES if not any(part_of(module_of(file)) in layer for layer in LAYERS)]


def test_imports_point_downwards():
    upwards = []
    for file in FILES:
        part = part_of(module_of(file))
        parts = {part_of(module) for module in imports(file) if module.split(".")[0] == "segtrack"} - {part}
        upwards += [(file, other) for other in parts if layer_of(other) >= layer_of(part)]
    assert not upwards


def test_mathematics_knows_no_simulator_and_no_file_format():
    found = []
    for file in FILES:
        forbidden = FORBIDDEN.get(part_of(module_of(file)), set())
        found += [(file, m) for m in {module.split(".")[0] for module in imports(file)} & forbidden]
    assert not found


def test_one_module_knows_the_engines():
    for file in FILES:
        if file.parts[0] in ("robot", "world") and file != OPENS_ENGINES:
            known = {part_of(m) for m in imports(file) if m.split(".")[0] == "segtrack"}
            assert not known & ENGINES, file


def test_what_stands_on_robot_and_world_asks_them_and_not_what_is_behind_them():
    found = {
        str(file): BACK_DOOR.findall(SOURCES[file].read_text(encoding="utf-8"))
        for file in FILES
        if file.parts[0] not in BELOW_USERS
    }
    assert not {file: calls for file, calls in found.items() if calls}


def test_bullet_alone_imports_pybullet():
    for file in FILES:
        if file.parts[0] != "bullet" and file not in OWN_LOOPS:
            assert not {"pybullet", "pybullet_utils"} & {m.split(".")[0] for m in imports(file)}, file
            first = {part_of(m) for m in imports(file, everywhere=False) if m.startswith("segtrack")}
            assert "bullet" not in first, file


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
        "import segtrack.geometry.links, segtrack.geometry.loops, segtrack.terrain, segtrack.description, "
        "segtrack.engine.drive; assert segtrack.description.load_vehicle('quince').name == 'quince'"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd="/").returncode == 0


def modules():
    yield "segtrack"
    for module in pkgutil.walk_packages(segtrack.__path__, "segtrack."):
        if not module.name.endswith("__main__"):
            yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_all_names_that_a_module_offers_resolve(name):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name], reason="of an extra")
    module = importlib.import_module(name)
    assert module.__doc__
    missing = [offered for offered in getattr(module, "__all__", ()) if not hasattr(module, offered)]
    assert not missing
