"""Robots for Stable-Baselines3, and levels that rise with what the mean action achieves."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

pytest.importorskip("stable_baselines3", reason="needs the extra train")

from segtrack.envs import Environment, VectorEnvironment
from segtrack.envs.learning.ppo import EACH, THRESHOLD, Levels, LevelTrial
from segtrack.envs.learning.sb3 import REWARD_SCALE, Robots
from segtrack.errors import InvalidValueError

SAME = {"time_step": 0.004, "threads": 1, "autoreset_mode": AutoresetMode.SAME_STEP}
DRAWN = {"height": (0.1, 0.3), "initial_x": (-0.1, 0.1), "initial_yaw": (-0.1, 0.1)}


# Robots.


def test_robots_say_what_the_vector_environment_says():
    given = {"time_limit": 0.2, **DRAWN, **SAME}
    env, robots = (
        VectorEnvironment("StepClimb", 3, **given),
        Robots(VectorEnvironment("StepClimb", 3, **given)),
    )
    low, high = env.sensors.limits
    scaled = lambda seen: 2 * (seen - low) / (high - low) - 1  # noqa: E731
    robots.seed(4)
    np.testing.assert_allclose(robots.reset(), scaled(env.reset(seed=4)[0]), atol=1e-6)
    actions, earned = np.random.default_rng(0).uniform(-1, 1, (6, 3, 4)).astype(np.float32), np.zeros(3)
    for number, action in enumerate(actions):
        seen, rewards, terminated, truncated, info = env.step(action)
        robots_seen, robots_rewards, over, infos = robots.step(action)
        earned += rewards
        np.testing.assert_allclose(robots_seen, scaled(seen), atol=1e-6)
        np.testing.assert_allclose(robots_rewards, REWARD_SCALE * rewards, rtol=1e-6)
        assert np.array_equal(over, terminated | truncated) and over.all() == (number == 3)
        if not over.any():
            assert infos == [{}, {}, {}]
            continue
        for i, last in enumerate(infos):
            np.testing.assert_allclose(last["terminal_observation"], scaled(info["final_obs"][i]), atol=1e-6)
            assert last["return"] == pytest.approx(earned[i])
            assert (last["success"], last["TimeLimit.truncated"]) == (False, True)
        earned[:] = 0.0
    env.close(), robots.close()


def test_what_ends_by_the_robots_own_doing_is_not_truncated():
    robots = Robots(VectorEnvironment("StepClimb", 2, initial_y=0.25, initial_yaw=1.5, **SAME))
    robots.reset()
    over = np.zeros(2, np.bool_)
    while not over.any():
        _, _, over, infos = robots.step(np.array([[1, 1, 0, 0]] * 2, np.float32))
    assert [last["TimeLimit.truncated"] for last in infos] == [False, False]
    assert [last["success"] for last in infos] == [False, False]
    robots.close()


def test_robots_begin_anew_in_the_step_that_ends_an_episode_or_not_at_all():
    env = VectorEnvironment("StepClimb", 2, threads=1)
    with pytest.raises(InvalidValueError) as error:
        Robots(env)
    assert str(error.value) == "autoreset_mode must be SameStep, got 'NextStep'"
    env.close()


# Levels.


def test_half_of_the_robots_draw_from_all_levels_and_half_from_the_hardest():
    assert Levels((0.1, 0.2, 0.4)).ranges() == ((0.1, 0.2), (0.1, 0.2))
    assert Levels((0.1, 0.2, 0.4), 0.4).ranges() == ((0.1, 0.4), (0.2, 0.4))
    assert Levels((0.1,)).ranges() == ((0.1, 0.1), (0.1, 0.1))


@pytest.mark.parametrize(
    ("success", "present"),
    [
        ((0.0, 0.0, 0.0, 0.0), 0.2),
        ((1.0, THRESHOLD - 0.01, 1.0, 1.0), 0.2),
        ((1.0, THRESHOLD, 0.0, 1.0), 0.3),
        ((1.0, 1.0, 1.0, 0.0), 0.4),
        ((1.0, 1.0, 1.0, 1.0), 0.4),
    ],
)
def test_levels_rise_to_the_first_that_is_not_mastered(success, present):
    levels = Levels((0.1, 0.2, 0.3, 0.4))
    levels.note(success)
    assert levels.present == present
    levels.note((0.0, 0.0, 0.0, 0.0))
    assert levels.present == present


def ahead(observations):
    return np.tile(np.array([1, 1, 0, 0], np.float32), (len(observations), 1))


def test_a_trial_tells_the_success_of_each_level():
    """Whoever drives ahead crosses a short gap, and falls into one that is longer than the robot."""
    robots = Robots(VectorEnvironment("GapCross", 2 * EACH, depth=2.0, **SAME))
    trial = LevelTrial(robots, [{"length": 0.1}, {"length": 1.0}])
    assert trial.success(ahead).tolist() == [1.0, 0.0]
    robots.close()


@pytest.mark.slow
def test_a_trial_has_the_success_of_single_environments():
    """Driving ahead crosses from some starts, and leaves the course from others."""
    spread = {"initial_y": (-0.25, 0.25), "initial_yaw": (-0.5, 0.5), "time_limit": 9.0}
    robots = Robots(VectorEnvironment("GapCross", 2 * EACH, **spread, **SAME))
    robots.seed(3)
    told = LevelTrial(robots, [{"length": 0.1}, {"length": 0.2}]).success(ahead)
    robots.close()
    counted = np.zeros(2)
    for k, length in enumerate((0.1, 0.2)):
        env = Environment("GapCross", engine="native", time_step=0.004, length=length, **spread)
        for i in range(EACH):
            env.reset(seed=3 + k * EACH + i)
            over = False
            while not over:
                _, _, terminated, truncated, info = env.step(np.array([1, 1, 0, 0], np.float32))
                over = terminated or truncated
            counted[k] += info["success"]
        env.close()
    assert told.tolist() == (counted / EACH).tolist()
    assert 0 < told.min() < 1
