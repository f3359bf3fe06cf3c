"""Obstacles made in advance: where they begin and end, how hard they are, which one an episode is on."""

import numpy as np
import pytest

from segtrack import terrain
from segtrack.envs import Environment, RoughTerrain, VectorEnvironment
from segtrack.envs.task import APPROACH, BEYOND
from segtrack.envs.tasks import KINDS, LEVELS, Traverse, draw_library, library_index
from segtrack.errors import InvalidValueError

REACH, VARIANTS = 0.4, 2
LIBRARY = draw_library(0, VARIANTS, REACH)
HARDER = {"step": 0.04, "stairs_up": 0.022, "gap": 0.06, "ramp": 0.055, "winding": 0.08}
"""What a level adds to the measure of some kinds, by kind."""


def of(kind, level, variant=0):
    return LIBRARY[library_index(kind, level, variant, VARIANTS)]


def measure(kind, course):
    """Height of a step or a stair, length of a gap, slope of a ramp, excursion of a way."""
    ground = course.terrain
    match kind:
        case "step":
            return ground.height_at(1.0).item()
        case "stairs_up":
            return ground.height_at(0.01).item()
        case "gap":
            x = np.linspace(-0.5, 1.5, 4001)
            return np.count_nonzero(ground.height_at(x) < 0) * 0.0005
        case "ramp":
            return np.arctan(ground.height_at(0.2).item() / 0.2)
    return np.ptp(course.path.points[:, 1])


@pytest.mark.parametrize("kind", HARDER)
def test_each_level_is_harder_than_the_one_before_by_the_same_amount(kind):
    both = range(VARIANTS)
    measures = np.array([[measure(kind, of(kind, level, v)) for v in both] for level in range(LEVELS)])
    fitted = np.polyfit(np.repeat(np.arange(LEVELS), VARIANTS), measures.ravel(), 1)
    assert fitted[0] == pytest.approx(HARDER[kind], rel=0.15)
    assert (measures[1:].min(axis=1) >= measures[:-1].max(axis=1) - 1e-3).all()


@pytest.mark.parametrize("kind", KINDS)
def test_ways_begin_and_end_on_level_ground_and_lead_over_the_obstacle(kind):
    for level in (0, 4, LEVELS - 1):
        course = of(kind, level)
        along = np.linspace(0.0, course.path.length, 300)
        way = np.array([course.path.at(s) for s in along.tolist()])
        heights = course.terrain.height_at(*way.T)
        assert np.isfinite(heights).all()
        before = heights[way[:, 0] < -0.01]
        assert np.ptp(before) == 0.0 and way[0].tolist() == [-0.3 - REACH, 0.0]
        behind = course.terrain.height_at(way[-1, 0] - np.linspace(0.0, 0.3, 20), way[-1, 1])
        assert np.ptp(behind) == pytest.approx(0.0, abs=1e-12)
        assert np.ptp(heights) > 0 or kind == "winding"


def test_a_library_is_the_same_however_many_variants_there_are_and_another_for_another_seed():
    more, other = draw_library(0, VARIANTS + 1, REACH), draw_library(1, VARIANTS, REACH)
    for kind in KINDS:
        one = of(kind, 3, 1)
        same = more[library_index(kind, 3, 1, VARIANTS + 1)]
        x, y = np.random.default_rng(0).uniform((-1.0, -0.5), (3.0, 0.5), (200, 2)).T
        np.testing.assert_array_equal(one.terrain.height_at(x, y), same.terrain.height_at(x, y))
        np.testing.assert_array_equal(one.path.points, same.path.points)
    assert other[library_index("step", 3, 0, VARIANTS)].terrain != of("step", 3).terrain
    assert [course.index for course in LIBRARY] == list(range(len(KINDS) * LEVELS * VARIANTS))


def test_robots_stand_on_the_library_and_not_on_grounds_of_their_own():
    given = {"kind": ("boxes", "mix"), "level": (0, 9), "time_step": 0.004}
    env = VectorEnvironment(Traverse(variants=1), 4, threads=1, **given)
    env.reset(seed=3)
    batch, library = env.batch, env.task.library(env._setup.reach)
    assert (batch.terrain_index < len(library)).all()
    assert all(batch.terrains[i] is library[i].terrain for i in batch.terrain_index.tolist())
    for i, index in enumerate(batch.terrain_index.tolist()):
        alone = Environment(Traverse(variants=1), engine="native", **given)
        _, info = alone.reset(seed=3 + i)
        kind = alone.parameters["kind"].options[info["parameters"]["kind"]]
        assert library_index(kind, info["parameters"]["level"], 0, 1) == index
        assert alone.task_state.course.terrain is library[index].terrain
        alone.close()
    env.close()


@pytest.mark.parametrize("given", [{"seed": -1}, {"variants": 0}, {"variants": 1.5}])
def test_a_library_that_cannot_be_is_refused(given):
    with pytest.raises(InvalidValueError, match="of a library must be a whole number from"):
        Traverse(**given)


def test_several_obstacles_are_as_high_as_the_highest_of_each():
    parts = (
        terrain.Step(height=0.1, distance=0.5, length=1.0),
        terrain.Ridge(height=0.2, length=1.0, distance=1.0),
    )
    x = np.linspace(0.0, 3.0, 301)
    together = terrain.Obstacles(obstacles=parts)
    expected = np.max([part.height_at(x) for part in parts], axis=0)
    np.testing.assert_allclose(together.height_at(x), expected, rtol=0, atol=1e-12)
    with pytest.raises(InvalidValueError, match="at least one terrain that stands on flat ground"):
        terrain.Obstacles(obstacles=(terrain.Gap(length=0.3, distance=0.0),))


def test_rough_grounds_of_a_library_are_of_their_kind_and_of_the_roughness_next_to_that_asked_for():
    library = RoughTerrain(variants=2).library(REACH)
    assert library is RoughTerrain(variants=2).library(REACH) != RoughTerrain(2, seed=1).library(REACH)
    assert len(library) == 4 * 25 * 2 and [course.index for course in library] == list(range(200))
    x, y = np.meshgrid(np.linspace(0.0, 2.0, 101), np.linspace(-1.0, 1.0, 51))
    tallest = np.array([course.terrain.height_at(x, y).max() for course in library]).reshape(4, 25, 2)
    asked = 0.02 * np.arange(1, 26)
    assert (tallest <= asked[None, :, None] + 1e-9).all()
    assert (tallest > 0.5 * asked[None, :, None]).mean() > 0.9
    kinds = ("Boxes", "StepField", "Waves", "Boxes")
    assert all(type(c.terrain).__name__ == kinds[c.index // 50] for c in library)
    with Environment(RoughTerrain(variants=2), time_step=0.004) as env:
        for roughness, step in ((0.02, 0), (0.4, 19), (0.109, 4), (0.111, 5)):
            env.reset(seed=0, options={"roughness": roughness, "kind": "waves"})
            assert env._episode.courses[0].index // 2 == 50 + step


def test_robots_on_rough_grounds_of_a_library_see_what_single_environments_do():
    task, given = RoughTerrain(variants=2), {"time_step": 0.004, "roughness": (0.05, 0.3)}
    env = VectorEnvironment(task, 3, **given)
    seen, info = env.reset(seed=5)
    for i in range(3):
        with Environment(task, **given) as alone:
            np.testing.assert_allclose(alone.reset(seed=5 + i)[0], seen[i], atol=1e-6)
            assert alone._episode.courses[0].index == env.batch.terrain_index[i]
    env.close()


@pytest.mark.parametrize("given", [{"variants": -1}, {"variants": 1.5}, {"seed": True}], ids=str)
def test_sizes_of_rough_libraries_are_checked(given):
    with pytest.raises(InvalidValueError, match="of a library"):
        RoughTerrain(**given)


def test_a_longer_rough_ground_has_as_many_obstacles_a_metre_and_libraries_have_one_length():
    task, values = RoughTerrain(), {"roughness": 0.2, "length": 4.0}
    count = {
        kind: [
            len(
                task.course(
                    {**values, "kind": kind, "length": extent}, REACH, np.random.default_rng(0)
                ).terrain.boxes
            )
            for extent in (2.0, 4.0)
        ]
        for kind in ("boxes", "rails")
    }
    assert count == {"boxes": [25, 50], "rails": [6, 12]}
    for kind in ("waves", "step_field"):
        course = task.course({**values, "kind": kind}, REACH, np.random.default_rng(0))
        x = np.linspace(-0.5, 4.5, 501)
        high = course.terrain.height_at(x, np.zeros_like(x)) > 0.01
        assert x[high].min() < 0.5 and 3.5 < x[high].max() <= 4.0
        assert course.path.length == pytest.approx(4.0 + APPROACH + REACH + BEYOND)
    with pytest.raises(InvalidValueError) as error:
        RoughTerrain(variants=2).course({**values, "kind": "waves"}, REACH, np.random.default_rng(0))
    assert str(error.value) == "length must be 2 on grounds of a library, got 4.0"
