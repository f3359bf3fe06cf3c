"""Open-loop search: plans in batches against single environments, and a search whose answer is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from segtrack.envs import OUTCOMES, Environment, VectorEnvironment
from segtrack.envs.learning import run_plans, search_plan

FORWARD, BACK, STAND = [1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def low() -> Iterator[VectorEnvironment]:
    with closing(VectorEnvironment("StepClimb", 4, height=0.05, preset="fast")) as env:
        yield env


def test_plans_do_in_a_batch_what_they_do_alone(low: VectorEnvironment) -> None:
    """Each action is held for half of the time limit; standing still runs out of time."""
    plans = np.array([[FORWARD, FORWARD], [BACK, BACK], [STAND, STAND], [BACK, FORWARD]], np.float32)
    outcomes, durations, totals = run_plans(low, plans)
    assert outcomes[0] == "success" and "success" not in outcomes[1:3] and outcomes[2] == "timeout"
    assert durations[2] == pytest.approx(low.task.time_limit)
    with closing(Environment("StepClimb", engine="native", height=0.05, preset="fast")) as env:
        for plan, outcome, duration, total in zip(plans, outcomes, durations, totals, strict=True):
            env.reset(seed=0)
            over, steps, sum_of_rewards, info = False, 0, 0.0, dict[str, Any]()
            while not over:
                action = plan[0 if steps * env.control_period < env.task.time_limit / 2 else 1]
                _, reward, terminated, truncated, info = env.step(action)
                over, steps, sum_of_rewards = terminated or truncated, steps + 1, sum_of_rewards + reward
            assert OUTCOMES[info["outcome"]] == outcome
            assert steps * env.control_period == pytest.approx(duration)
            assert sum_of_rewards == pytest.approx(total, rel=1e-12)


def test_a_plan_fills_the_time_limit_that_the_environment_was_given() -> None:
    """Back for the first half of 1 s, and as far forward in the second."""
    plans = np.array([[BACK, FORWARD]], np.float32)
    with closing(VectorEnvironment("StepClimb", 1, time_limit=1.0, preset="fast")) as env:
        outcomes, durations, _ = run_plans(env, plans)
        assert outcomes == ["timeout"] and durations == pytest.approx([1.0])
        back, forward = env.batch.state.velocity[0], env.batch.state.position[0]
        assert back[0] > 0.2 and abs(forward[0] - env.courses[0].path.points[0, 0]) < 0.05


def test_a_search_ends_with_the_first_generation_that_has_a_plan_which_holds_twice(
    low: VectorEnvironment,
) -> None:
    pytest.importorskip("cmaes", reason="of an extra")
    done: list[int] = []
    with closing(VectorEnvironment("StepClimb", 2, height=0.05, preset="fast")) as again:
        plan = search_plan(low, again, 5, 1, lambda: done.append(1))
        assert plan.succeeds and plan.repeated and plan.generations == len(done) <= 5
        assert abs(plan.actions).max() <= 1.0 and plan.actions.shape == (14, 4)
        outcomes, durations, _ = run_plans(again, np.array([plan.actions] * 2))
    assert outcomes == ["success"] * 2 and durations == pytest.approx([plan.duration] * 2)


def test_a_success_that_the_second_environment_does_not_repeat_ends_no_search(low: VectorEnvironment) -> None:
    """A step of 0.6 m in the second: nothing holds there."""
    pytest.importorskip("cmaes", reason="of an extra")
    done: list[int] = []
    with closing(VectorEnvironment("StepClimb", 2, height=0.6, preset="fast")) as high:
        plan = search_plan(low, high, 2, 1, lambda: done.append(1))
    assert len(done) == 2 and plan.succeeds and not plan.repeated
