"""The registry of track models: what is made from it, and what a new model takes."""

import math
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.engine import (
    TRACK_MODELS,
    describe_track_models,
    find_track_model,
    resolve,
    track_model_names,
    wheel_count,
)
from segtrack.engine.track_models import TrackModelEntry, track_model_table
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.rendering import Camera

SAND = "sand"
"""A track model that nobody has."""


@pytest.fixture
def sand(monkeypatch: pytest.MonkeyPatch) -> TrackModelEntry:
    """A new track model: one module with builders, and one row."""
    module = ModuleType("sand_tracks")

    def native(description, name, time_step, flippers):
        from segtrack.native import BeltVehicle

        assert name == SAND
        return BeltVehicle(description, "surface", time_step, flippers)

    def bullet(name):
        from segtrack.bullet import track_builder

        assert name == SAND
        return track_builder("smooth")

    module.native, module.bullet = native, bullet
    monkeypatch.setitem(sys.modules, module.__name__, module)
    builders = {"native": "sand_tracks:native", "pybullet": "sand_tracks:bullet"}
    entry = TrackModelEntry(SAND, "belts of sand", builders, faster="native", drawing="stripes")
    monkeypatch.setitem(TRACK_MODELS, SAND, entry)
    return entry


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_a_new_track_model_takes_one_module_and_one_row(sand, engine):
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model=SAND)
        world.run(0.3)
        robot.set_belt_speed(left=0.2, right=0.2)
        world.run(0.6)
        picture = Camera(robot, world.terrains, size=(64, 64)).take()
        assert robot.state.position[0] == pytest.approx(0.12, abs=0.02)
    assert picture.std() > 0


def test_everything_that_lists_track_models_has_the_new_one(sand):
    assert find_track_model(SAND) is sand and resolve(None, SAND) == ("native", SAND)
    assert track_model_names()[-1] == track_model_names("native")[-1] == SAND
    assert f", {SAND} (native or pybullet)" in describe_track_models()
    assert "| `sand` | belts of sand | Bullet | native, pybullet |" in track_model_table().splitlines()
    with pytest.raises(UnknownNameError) as error:
        find_track_model("legs")
    assert str(error.value).endswith(f", {SAND}")


@each_row("name", TRACK_MODELS)
@each_row("engine", ["native", "pybullet"])
def test_every_row_names_builders_that_exist(name, engine):
    entry = TRACK_MODELS[name]
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    if engine in entry.builders:
        assert callable(entry.builder(engine))
    assert entry.name == name and entry.faster in (None, *entry.builders)


@pytest.mark.parametrize("page", ["docs/topics/track-models.md", "README.md"])
def test_the_documentation_has_the_table(page):
    text = (Path(segtrack.__file__).parent.parent / page).read_text(encoding="utf-8")
    assert track_model_table() in text


@pytest.mark.parametrize(
    ("preferred", "track_model", "chosen"),
    [
        ("native", None, ("native", "compliant")),
        ("native", "chain", ("native", "chain")),
        ("native", "surface", ("native", "surface")),
        pytest.param(
            "native",
            "segments",
            ("pybullet", "segments"),
            marks=pytest.mark.skipif(find_spec("pybullet") is None, reason="needs PyBullet"),
        ),
        pytest.param(  # Though the other one runs it faster.
            "pybullet",
            "compliant",
            ("pybullet", "compliant"),
            marks=pytest.mark.skipif(find_spec("pybullet") is None, reason="needs PyBullet"),
        ),
    ],
)
def test_a_preferred_engine_is_chosen_where_it_runs_the_track_model(preferred, track_model, chosen):
    assert resolve(None, track_model, preferred) == chosen


def test_a_preference_gives_way_to_an_engine_that_is_named():
    with pytest.raises(InvalidValueError) as error:
        resolve("native", "segments", "pybullet")
    assert str(error.value) == "engine for track model 'segments' must be pybullet, got 'native'"


def test_a_model_that_neither_engine_runs_faster_runs_in_the_default_one(monkeypatch):
    entry = replace(TRACK_MODELS["chain"], name="rope")
    monkeypatch.setitem(TRACK_MODELS, "rope", entry)
    for default in ("native", "pybullet"):
        monkeypatch.setattr("segtrack.engine.track_models.DEFAULT_ENGINE", default)
        assert resolve(None, "rope") == (default, "rope")


@pytest.mark.parametrize(("name", "count"), [("wheels:2", 2), ("wheels:13", 13)])
def test_wheels_are_counted_by_name(name, count):
    assert wheel_count(name) == count and find_track_model(name) is TRACK_MODELS["wheels:N"]


def test_the_registry_needs_no_engine_and_no_kernels():
    import subprocess

    program = (
        "import sys; sys.modules['pybullet'] = sys.modules['numba'] = None;"
        "sys.modules['segtrack'] = type(sys)('segtrack');"
        f"sys.modules['segtrack'].__path__ = [{str(Path(segtrack.__file__).parent)!r}];"
        "import segtrack.engine.track_models"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd="/").returncode == 0


def test_advance_takes_whole_steps_from_none_on():
    with segtrack.World(engine="native") as world:
        for steps in (-1, 1.5):
            with pytest.raises(InvalidValueError) as error:
                world.advance(steps)
            assert str(error.value) == f"steps must be a whole number from 0, got {steps!r}"
        world.advance(0)
        assert world.time == 0.0
        world.advance(3)
        assert math.isclose(world.time, 3 * world.time_step)
