"""The vector environment: each robot is what a single native environment is, through ends and resets."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from segtrack.envs import (
    EXTRA_PARTS,
    IDS,
    OUTCOMES,
    TASKS,
    Environment,
    Group,
    SensorModel,
    Term,
    VectorEnvironment,
    memory_part,
    parameter_part,
    random_commands,
)
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError

STEP = {"time_step": 0.004, "time_limit": 0.4}
DRAWN = {
    "friction": (0.4, 0.8),
    "drive_force": (0.8, 1.2),
    "initial_x": (0.0, 0.15),
    "initial_yaw": (-0.2, 0.2),
    "action_delay": (0, 3),
    "sensor_noise": (0.0, 0.02),
}


def pair(task, count=3, mode=AutoresetMode.NEXT_STEP, **given):
    """The same robots as single native environments and as a batch."""
    given = {**STEP, **DRAWN, **given}
    alone = SyncVectorEnv([lambda: Environment(task, engine="native", **given)] * count, autoreset_mode=mode)
    return alone, VectorEnvironment(task, count, autoreset_mode=mode, threads=1, **given)


def assert_alike(one, other):
    """Equal, but for rounding, down to types and keys; real time is nobody's to repeat."""
    if isinstance(one, dict):
        keys = [key for key in one if "real_time_factor" not in key]
        assert sorted(keys) == sorted(key for key in other if "real_time_factor" not in key)
        assert ("real_time_factor" in one) == ("real_time_factor" in other)
        for key in keys:
            assert_alike(one[key], other[key])
    elif one.dtype == object:
        assert len(one) == len(other) and other.dtype == object
        for mine, given in zip(one, other, strict=True):
            same = isinstance(mine, np.ndarray | dict)
            assert_alike(mine, given) if same else pytest.fail(f"{mine}, {given}") if mine != given else None
    else:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-6)


def actions_of(env, steps, seed=0):
    """Forward, each robot at its own speed, with flippers at random."""
    actions = np.random.default_rng(seed).uniform(-1, 1, (steps, *env.action_space.shape))
    actions[..., :2] = 0.5 + 0.5 * np.abs(actions[..., :2])
    return actions.astype(np.float32)


def compare(alone, together, steps):
    """Step both side by side, and return how many episodes ended."""
    ends = 0
    first = alone.reset(seed=7), together.reset(seed=7)
    for one, other in zip(*first, strict=True):
        assert_alike(one, other)
    for action in actions_of(alone, steps):
        said, heard = alone.step(action), together.step(action)
        for one, other in zip(said, heard, strict=True):
            assert_alike(one, other)
        over = said[2] | said[3]
        ends += np.count_nonzero(over)
        if over.any() and alone.autoreset_mode is AutoresetMode.DISABLED:
            with pytest.raises(NotReadyError, match=r"cannot step \w+: the episodes of .* are over"):
                together.step(action)
            again = (env.reset(options={"reset_mask": over.copy()}) for env in (alone, together))
            for one, other in zip(*again, strict=True):
                assert_alike(one, other)
    alone.close(), together.close()
    return ends


@pytest.mark.parametrize("mode", AutoresetMode)
def test_robots_do_what_single_environments_do_through_ends_of_episodes(mode):
    # The corridor and the time end episodes, of robots that turn away at once.
    assert compare(*pair("RoughTerrain", 3, mode, initial_y=(-0.25, 0.25)), 22) >= 6


def test_robots_on_a_library_do_what_single_environments_do():
    assert compare(*pair("Traverse", 3, level=(0, 4), kind=("boxes", "rough", "winding")), 12) >= 3


def test_robots_read_and_remember_what_single_environments_do():
    limits = ((-0.3, 0.3), (0.0, 1.0))
    given = {
        "parts": {**EXTRA_PARTS, "command": memory_part("twist", limits)},
        "memories": random_commands("twist", limits, every=0.2),
        "terms": {
            "near": Term(1.0, "", lambda view: view.progress, 0.95),
            "loaded": Term(1e-3, "", lambda view: view.track_loads.max(axis=1) + view.memory("twist")[:, 1]),
        },
    }
    assert (
        compare(*pair("RoughTerrain", 3, AutoresetMode.SAME_STEP, initial_y=(-0.25, 0.25), **given), 15) >= 3
    )


def test_robots_of_other_loads_ground_and_gravity_do_what_single_environments_do():
    given = {
        "friction_left": (0.5, 1.0),
        "ground_friction": lambda rng: rng.choice([1.0, 0.7]),
        "gravity": (5.0, 12.0),
        "inertia": (0.5, 2.0),
        "payload": lambda rng: max(rng.uniform(-1.0, 2.0), 0.0),
        "payload_z": 0.1,
        "flipper_torque": (0.2, 1.0),
        "push": (0.0, 0.5),
        "push_interval": 0.1,
        "soil": ("course", "dry sand"),
        "initial_progress": (0.0, 0.5),
        "initial_pitch": (-0.2, 0.2),
        "initial_speed": (0.0, 0.3),
        "initial_flippers_front": (0.0, 1.0),
        "initial_time": (0.0, 0.5),
    }
    assert compare(*pair("Traverse", 3, AutoresetMode.SAME_STEP, level=(0, 4), **given), 12) >= 3


@pytest.mark.parametrize(
    "mode, observation", [(AutoresetMode.SAME_STEP, "flat"), (AutoresetMode.NEXT_STEP, "dict")]
)
def test_robots_perceive_what_single_environments_do_in_groups(mode, observation):
    critic = Group(parts={"physics": parameter_part("friction", "roughness")}, clean=True)
    given = {
        "groups": {"policy": Group(history=3), "critic": critic},
        "sensor_models": {
            "height_scan": SensorModel(noise=0.02, bias=(-0.03, 0.03), delay=(0, 3)),
            "velocity": SensorModel(bias=lambda rng: rng.normal(0.0, 0.1)),
        },
        "observation": observation,
    }
    assert compare(*pair("RoughTerrain", 2, mode, initial_y=(-0.25, 0.25), **given), 22) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("task", TASKS)
def test_robots_of_all_tasks_do_what_single_environments_do(task, mode):
    given = {"time_step": 0.0025, "time_limit": 1.5, "initial_yaw": (-0.6, 0.6), "belt_speed": 0.5}
    assert compare(*pair(task, 4, mode, **given), 100) >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "task, given",
    [
        ("Drive", {"vehicle": "packbot"}),
        ("StairClimb", {"track_model": "surface", "direction": ("up", "down"), "flippers": "each"}),
    ],
)
def test_other_vehicles_and_track_models_do_what_single_environments_do(task, given):
    assert compare(*pair(task, 3, **given), 25) >= 6


@pytest.mark.parametrize("mode", AutoresetMode)
def test_named_parts_and_robots_that_diverge_are_as_in_single_environments(mode):
    alone, together = pair("StepClimb", 2, mode, observation="dict", time_limit=5.0, action_delay=0)
    alone.reset(seed=1), together.reset(seed=1)
    for k, action in enumerate(actions_of(alone, 8)):
        if k == 2:
            alone.envs[1]._episode_world.robot.apply_force((0.0, 0.0, 1e9), (0.0, 0.0, 0.0))
            together.batch.apply_force([(0.0, 0.0, 0.0), (0.0, 0.0, 1e9)], (0.0, 0.0, 0.0))
        said, heard = alone.step(action), together.step(action)
        if k == 2:
            alone.envs[1]._episode_world.robot.apply_force((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            together.batch.apply_force((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            info = heard[-1].get("final_info", heard[-1])
            assert heard[3].tolist() == [False, True] and OUTCOMES[info["outcome"][1]] == "diverged"
            if mode is AutoresetMode.DISABLED:
                for env in (alone, together):
                    env.reset(options={"reset_mask": np.array([False, True])})
        for one, other in zip(said, heard, strict=True):
            assert_alike(one, other)
    alone.close(), together.close()


def test_a_batch_is_deterministic_and_its_copies_go_on_to_the_bit():
    def follow(env, steps=14):
        said = []
        for action in actions_of(env, steps):
            observations, rewards, *ends, info = env.step(action)
            said.append((observations.tobytes(), rewards.tobytes(), np.array(ends).tobytes()))
            assert set(info) >= {"parameters", "_parameters", "outcome", "_outcome"}
        return said

    env, other = (
        VectorEnvironment("StepClimb", 5, threads=n, height=(0.1, 0.3), **STEP, **DRAWN) for n in (1, 2)
    )
    assert env.reset(seed=3)[0].tobytes() == other.reset(seed=3)[0].tobytes()
    assert follow(env) == follow(other)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = follow(env)
    for each in (*copies, other):
        assert follow(each) == expected
        each.close()
    env.close()


def test_a_reset_of_some_leaves_the_others_as_they_were():
    env = VectorEnvironment("StepClimb", 4, autoreset_mode="Disabled", **STEP, mass=(0.8, 1.2))
    env.reset(seed=0)
    for action in actions_of(env, 2):
        before, *_ = env.step(action)
    mask = np.array([True, False, False, True])
    seen, info = env.reset(seed=[5, None, None, 6], options={"reset_mask": mask, "height": 0.3})
    np.testing.assert_array_equal(seen[~mask], before[~mask])
    assert not np.array_equal(seen[mask], before[mask])
    assert info["parameters"]["height"].tolist() == [0.3, 0.0, 0.0, 0.3]
    assert info["_outcome"].tolist() == mask.tolist()
    env.close()


def test_robots_that_weigh_otherwise_do_what_single_environments_do_to_the_bit():
    """Through ends of episodes, and back to the body of the file."""
    offsets = {f"center_of_mass_{axis}": (-0.1, 0.1) for axis in "xyz"}
    alone, together = pair("Drive", 2, sensor_noise=0.0, mass=(0.7, 1.5), **offsets)
    fresh = VectorEnvironment("Drive", 2, threads=1, **{**STEP, **DRAWN, "sensor_noise": 0.0})
    assert alone.reset(seed=3)[0].tobytes() == together.reset(seed=3)[0].tobytes()
    for action in actions_of(alone, 20):
        assert alone.step(action)[0].tobytes() == together.step(action)[0].tobytes()
    given = {"mass": 1.0, **dict.fromkeys(offsets, 0.0)}
    seen = [env.reset(seed=5, options=given)[0].tobytes() for env in (alone, together, fresh)]
    for action in [None, *actions_of(alone, 6)]:
        if action is not None:
            seen = [env.step(action)[0].tobytes() for env in (alone, together, fresh)]
        assert seen[0] == seen[1] == seen[2]
    alone.close(), together.close(), fresh.close()


def test_grousers_are_those_of_the_batch():
    alone, together = pair("StepClimb", 2, grouser_height=1.5, grouser_count=0.5)
    assert compare(alone, together, 6) == 0
    with pytest.raises(InvalidValueError) as error:
        VectorEnvironment("StepClimb", 2, grouser_height=(0.5, 1.0))
    expected = "one number, fixed at construction, got (0.5, 1.0)"
    assert str(error.value) == f"grouser_height of a vector environment must be {expected}"
    together = VectorEnvironment("StepClimb", 2, grouser_height=1.5)
    with pytest.raises(InvalidValueError, match="^grouser_height of a vector environment must be one number"):
        together.reset(options={"grouser_height": 1.0})
    together.close()


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_makes_the_batch_where_nothing_else_is_asked_for(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec(name, num_envs=2, **STEP, autoreset_mode="SameStep")
        assert isinstance(env.unwrapped, VectorEnvironment)
        assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        assert env.spec.id == name and env.num_envs == 2
        observations, _ = env.reset(seed=0)
        env.action_space.seed(0)
        for _ in range(10):
            assert observations in env.observation_space
            observations, rewards, terminations, truncations, _ = env.step(env.action_space.sample())
            assert rewards.shape == (2,) and terminations.dtype == truncations.dtype == np.bool_
        recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
        recorded.reset(seed=0)
        for _ in range(9):
            *_, info = recorded.step(env.action_space.sample())
            if "episode" in info:
                assert info["episode"]["l"].max() == 8
        recorded.close()


@pytest.mark.parametrize(
    "given, message",
    [
        ({"num_envs": 0}, "num_envs must be a whole number from 1, got 0"),
        ({"engine": "pybullet"},
         "engine of a vector environment must be native, or with vectorization_mode=\"sync\", got"),
        ({"render_mode": "human"},
         "no render mode of a vector environment 'human'; there are: rgb_array"),
        ({"track_model": "chain"}, "no track model of a vector environment 'chain'; there are: compliant, "),
        ({"autoreset_mode": "never"}, "no autoreset mode 'never'; there are: NextStep, SameStep, Disabled"),
        ({"threads": 0}, "threads must be a whole number from 1, got 0"),
        ({"width": 1.0}, "StepClimb got an unexpected keyword argument 'width'; there are: height, "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises((InvalidValueError, UnknownNameError)) as error:
        VectorEnvironment("StepClimb", **given)
    assert str(error.value).startswith(message)


def test_calls_out_of_order_and_actions_that_are_none_are_refused():
    env = VectorEnvironment("StepClimb", 2, **STEP)
    still = np.zeros((2, 4))
    for call in (lambda: env.step(still), lambda: env.view):
        with pytest.raises(NotReadyError, match="it has not been reset"):
            call()
    with pytest.raises(NotReadyError, match="not all have been reset before"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=0)
    assert env.view.progress.shape == (2,)
    with pytest.raises(InvalidValueError, match=r"^actions must be of shape \(2, 4\): left, right, front"):
        env.step(still[:1])
    still[1, 2] = np.nan
    with pytest.raises(InvalidValueError) as error:
        env.step(still)
    assert str(error.value) == "action entry front of robot 1 must be a finite number, got nan"
    env.close(), env.close()
    for call in (env.reset, lambda: env.step(still)):
        with pytest.raises(NotReadyError, match="it is closed"):
            call()


def test_after_a_refused_reset_robots_are_reset_before_they_step():
    """Nothing of the refused episode is left in the next one."""
    envs = [VectorEnvironment("StepClimb", 2, **STEP) for _ in range(2)]
    for env in envs:
        env.reset(seed=3)
    with pytest.raises(InvalidValueError):
        envs[0].reset(seed=4, options={"friction": 0.1, "initial_x": float("nan")})
    seen = [env.reset(seed=5)[0] for env in envs]
    np.testing.assert_array_equal(*seen)
    action = np.ones(envs[0].action_space.shape, np.float32)
    np.testing.assert_array_equal(*(env.step(action)[0] for env in envs))


def test_unknown_outcomes_are_refused_by_name(monkeypatch):
    env = VectorEnvironment("StepClimb", 2, **STEP)
    env.reset(seed=0)
    monkeypatch.setattr(type(env.task), "outcome", lambda self, view: np.full(2, "tipover"))
    with pytest.raises(
        UnknownNameError, match="no outcome of StepClimb 'tipover'; there are: running, success"
    ):
        env.step(np.zeros(env.action_space.shape, np.float32))
