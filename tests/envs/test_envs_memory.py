"""Memory of environments that are reset again and again."""

import psutil
import pytest
from scenes import environment

from segtrack.envs import VectorEnvironment


def growth_over_resets(task, count, **given):
    """By how much resident memory grows over resets [MB]."""
    process = psutil.Process()
    with environment(task, **given) as env:
        env.reset(seed=0)
        before = process.memory_info().rss
        for _ in range(count):
            env.reset()
        return (process.memory_info().rss - before) / 1e6


@pytest.mark.slow
def test_a_thousand_resets_take_less_than_20_mb():
    assert growth_over_resets("StepClimb", 1000, height=(0.1, 0.3), friction=(0.4, 0.8)) < 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["boxes", "step_field", "rails"])
def test_a_thousand_resets_take_less_than_20_mb_on_rough_ground(kind):
    assert growth_over_resets("RoughTerrain", 1000, kind=kind) < 20


@pytest.mark.slow
def test_loading_the_robot_anew_gives_its_memory_back():
    assert growth_over_resets("StepClimb", 200, mass=(0.8, 1.2)) < 20


@pytest.mark.slow
def test_wavy_ground_gives_its_memory_back():
    assert growth_over_resets("RoughTerrain", 200, kind="waves") < 20


@pytest.mark.slow
def test_grounds_of_a_batch_give_their_memory_back():
    env, process = VectorEnvironment("RoughTerrain", 4, mass=(0.8, 1.2), threads=1), psutil.Process()
    for _ in range(50):
        env.reset()
    before = process.memory_info().rss
    for _ in range(250):
        env.reset()
    env.close()
    assert (process.memory_info().rss - before) / 1e6 < 20
