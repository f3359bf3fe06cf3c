"""Episodes that are equal to the bit: in other processes, side by side, after others, in vectors."""

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import gymnasium
import numpy as np
import pytest
from env_actions import FORWARD
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from quick import some_of
from scenes import environment

from segtrack.envs import IDS, OUTCOMES, EpisodeWorld

VARIED = {
    "friction": (0.4, 0.8),
    "drive_force": (0.5, 1.5),
    "mass": (0.8, 1.2),
    "center_of_mass_x": (-0.05, 0.05),
    "grouser_height": (0.5, 1.0),
    "grouser_count": (0.5, 1.0),
    "initial_x": (-0.1, 0.1),
    "initial_y": (-0.1, 0.1),
    "initial_yaw": (-0.2, 0.2),
    "action_delay": (0, 3),
    "sensor_noise": (0.0, 0.05),
}


def make_brief(name, length=130, **given):
    """A registered environment whose episodes end after so many steps at the latest."""
    return TimeLimit(gymnasium.make(name, **given), length)


def told(info):
    """An info without what differs from run to run."""
    return repr({key: value for key, value in info.items() if key != "real_time_factor"})


def moment(observation, info):
    return np.asarray(observation).tobytes(), told(info)


def outcome(observation, reward, terminated, truncated, info):
    return (*moment(observation, info), float(reward), bool(terminated), bool(truncated))


def actions_of(seed, count, size=4):
    """Random actions that drive forward more often than back."""
    rng = np.random.default_rng(seed)
    low = np.array([-0.4, -0.4] + [-1.0] * (size - 2))
    return rng.uniform(low, 1.0, (count, size)).astype(np.float32)


def roll(env, steps, seed):
    """All that an environment says in so many steps of random actions, reset where its episodes end."""
    record = [moment(*env.reset(seed=seed))]
    for action in actions_of(seed, steps):
        record.append(outcome(*env.step(action)))
        if record[-1][-1] or record[-1][-2]:
            record.append(moment(*env.reset()))
    return record


def roll_anew(name, given, steps, seed):
    """The same, in a new environment."""
    env = make_brief(name, **given)
    try:
        return roll(env, steps, seed)
    finally:
        env.close()


@pytest.fixture(scope="module")
def elsewhere():
    """Another process, which shares nothing with this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


STEPS = [(IDS[0], 100), *(pytest.param(name, 100, marks=pytest.mark.slow) for name in IDS[1:])]
LONG = [pytest.param(name, 500, marks=pytest.mark.slow) for name in IDS]


@pytest.mark.slow
@pytest.mark.parametrize("name, steps", [*STEPS, *LONG])
def test_two_seeded_environments_are_equal_to_the_bit_in_two_processes(elsewhere, name, steps):
    other = elsewhere.submit(roll_anew, name, VARIED, steps, 11)
    assert roll_anew(name, VARIED, steps, 11) == other.result()


@pytest.mark.parametrize("name, steps", [STEPS[0], *LONG])
def test_two_seeded_environments_are_equal_to_the_bit_side_by_side(name, steps):
    one, other = make_brief(name), make_brief(name)
    try:
        # The steps alternate, so that neither has the engine to itself.
        first, second = moment(*one.reset(seed=3)), moment(*other.reset(seed=3))
        assert first == second
        for action in actions_of(3, steps):
            first, second = outcome(*one.step(action)), outcome(*other.step(action))
            assert first == second
            if first[-1] or first[-2]:
                assert moment(*one.reset()) == moment(*other.reset())
    finally:
        one.close(), other.close()


def test_another_seed_makes_another_episode():
    assert roll_anew(IDS[0], VARIED, 3, 1) != roll_anew(IDS[0], VARIED, 3, 2)


def throw(env):
    """Make a robot absurdly fast in its next step."""
    if env.engine == "native":
        env._episode_world.robot.apply_force((0.0, 0.0, 1e9))
    else:
        body = env._episode_world.robot.body_id
        env._episode_world.world.client.resetBaseVelocity(body, (500.0, 0.0, 0.0))


def unlike_episodes(env):
    """Episodes with parameters that others do not have, one of them upside down, one diverged."""
    env.reset(seed=1, options={"mass": 1.3, "grouser_count": 0.5})
    for action in actions_of(1, 15):
        env.step(action)
    env.reset(options={"friction": 0.1, "drive_force": 0.2, "action_delay": 4, "sensor_noise": 0.3})
    for _ in range(15):
        env.step(FORWARD)
    robot = env._episode_world.robot
    robot.reset_base_pose((0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    env.step(FORWARD)
    env.reset(options={"center_of_mass_z": 0.05, "initial_yaw": 1.0})
    throw(env)
    assert OUTCOMES[env.step(FORWARD)[-1]["outcome"]] == "diverged"


@pytest.mark.parametrize("engine", some_of(["native", "pybullet"], "native"))
@pytest.mark.parametrize(
    "task, given, max_solids",
    [
        ("StepClimb", {}, 2000),
        ("StepClimb", VARIED, 2000),
        ("RoughTerrain", {"kind": "boxes"}, 10),
        ("RoughTerrain", {"kind": "waves"}, 2000),
    ],
    ids=["plain", "varied", "world built anew", "waves"],
)
def test_an_episode_does_not_depend_on_those_before_it(task, given, max_solids, engine, monkeypatch):
    monkeypatch.setattr(EpisodeWorld, "MAX_SOLIDS", max_solids)
    given = {**given, "engine": engine}
    with environment(task, **given) as fresh, environment(task, **given) as used:
        unlike_episodes(used)
        assert roll(used, 40, 5) == roll(fresh, 40, 5)


@pytest.mark.parametrize("kind", ["boxes", "step_field", "waves", "rails"])
def test_each_seed_has_rough_terrain_of_its_own(kind):
    x, y = np.meshgrid(np.linspace(0.05, 1.95, 39), np.linspace(-0.9, 0.9, 37))
    with environment("RoughTerrain", kind=kind) as env:

        def field(seed):
            env.reset(seed=seed)
            return env.task_state.course.terrain.height_at(x, y)

        first, second, again, drawn_on = field(1), field(2), field(1), field(None)
    np.testing.assert_array_equal(first, again)
    assert np.mean(first != second) > 0.1
    assert np.mean(first != drawn_on) > 0.1
    for heights in (first, second, drawn_on):
        assert 0.0 <= heights.min() and 0.02 < heights.max() <= 0.1 + 1e-12


@pytest.mark.slow
def test_an_autoreset_goes_on_as_a_reset_without_a_seed():
    """Against single environments that are reset by hand where a vector environment does it by itself."""
    makers = [partial(make_brief, "segtrack/StepClimb-v0", 25, **VARIED, height=(0.1, 0.3))] * 2
    singles = [maker() for maker in makers]
    several = SyncVectorEnv(makers)
    observations, _ = several.reset(seed=8)
    expected = [env.reset(seed=8 + i)[0] for i, env in enumerate(singles)]
    np.testing.assert_array_equal(observations, expected)
    over = [False, False]
    for action in actions_of(0, 60):
        observations, rewards, terminated, truncated, _ = several.step(np.stack((action, action)))
        for i, env in enumerate(singles):
            if over[i]:
                observation, reward, ended = env.reset()[0], 0.0, (False, False)
            else:
                observation, reward, *ended, _ = env.step(action)
            over[i] = any(ended)
            assert observation.tobytes() == observations[i].tobytes()
            assert (reward, *ended) == (rewards[i], terminated[i], truncated[i])
    for env in (*singles, several):
        env.close()


def vector_roll(mode, autoreset):
    """What two environments in a vector say in 40 steps, with ends after 15."""
    several = gymnasium.make_vec(
        "segtrack/StepClimb-v0",
        num_envs=2,
        vectorization_mode=mode,
        vector_kwargs={"autoreset_mode": autoreset},
        wrappers=[partial(TimeLimit, max_episode_steps=15)],
        height=(0.1, 0.3),
    )
    try:
        observations, infos = several.reset(seed=2)
        record, ends = [(observations.tobytes(), infos["parameters"]["height"].tolist())], 0
        for action in actions_of(6, 40):
            observations, *rest, infos = several.step(np.stack((action, action / 2)))
            over = np.logical_or(*rest[1:])
            ends += int(over.sum())
            final = [o.tobytes() for o in infos.get("final_obs", []) if o is not None]
            record.append((observations.tobytes(), *(part.tobytes() for part in rest), final))
            if autoreset is AutoresetMode.DISABLED and over.any():
                observations, infos = several.reset(options={"reset_mask": over})
                record.append((observations.tobytes(), infos["parameters"]["height"].tolist()))
        return record, ends
    finally:
        several.close()


@pytest.mark.slow
@pytest.mark.parametrize("autoreset", list(AutoresetMode))
def test_workers_say_what_a_single_process_says(autoreset):
    record, ends = vector_roll("async", autoreset)
    assert ends == 4
    assert record == vector_roll("sync", autoreset)[0]
    finals = sum(len(entry[-1]) for entry in record[1:] if len(entry) == 5)
    assert finals == (4 if autoreset is AutoresetMode.SAME_STEP else 0)
