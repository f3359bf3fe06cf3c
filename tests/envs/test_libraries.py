"""Learning libraries at their own front doors: each takes environments as it takes anybody's."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as vector_wrappers

from segtrack.envs import Group
from segtrack.errors import InvalidValueError, UnknownNameError

STEP = {"time_step": 0.004, "time_limit": 0.3}
SMALLEST = np.finfo(np.float32).tiny


def several(mode="SameStep", count=4, **given):
    return gymnasium.make_vec(
        "segtrack/StepClimb-v0", num_envs=count, autoreset_mode=mode, threads=1, **{**STEP, **given}
    )


def test_torchrl_makes_an_environment_by_its_id():
    envs = pytest.importorskip("torchrl.envs")
    utils = pytest.importorskip("torchrl.envs.utils")
    env = envs.GymEnv("segtrack/StepClimb-v0", height=(0.1, 0.2), frame_skip=2, **STEP)
    utils.check_env_specs(env)
    told = env.rollout(5)
    # Six control steps are three of TorchRL's, which acts for two of them.
    assert told["next", "truncated"].flatten().tolist() == [False, False, True]
    env.close()


def test_torchrl_wraps_a_vector_environment():
    torchrl = pytest.importorskip("torchrl.envs")
    with pytest.raises(RuntimeError, match="must be one of SAME_STEP or DISABLED"):
        torchrl.GymWrapper(several("NextStep"))
    envs = several("Disabled", height=0.1)
    env = torchrl.GymWrapper(envs)
    told = env.rollout(14, break_when_any_done=False)
    ends = told["next", "done"][..., 0].int().tolist()
    assert ends == [[0, 0, 0, 0, 0, 1] * 2 + [0, 0]] * 4
    assert told["next", "observation"].shape == (4, 14, 83)
    env.close()


@pytest.mark.parametrize("mode", [None, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_gymnasium_converts_to_and_from_pytorch(mode):
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    if mode is None:
        plain = gymnasium.make("segtrack/StairClimb-v0", **STEP)
        env = gymnasium.wrappers.NumpyToTorch(gymnasium.make("segtrack/StairClimb-v0", **STEP))
    else:
        plain, env = several(mode, 2), vector_wrappers.NumpyToTorch(several(mode, 2))
    (seen, info), (told, infos) = plain.reset(seed=1), env.reset(seed=1)
    action = np.ones(plain.action_space.shape, np.float32)
    for _ in range(5):
        np.testing.assert_array_equal(seen, told)
        assert isinstance(told, torch.Tensor)
        assert_same_numbers(info, infos)
        seen, *_, info = plain.step(action)
        told, *_, infos = env.step(torch.as_tensor(action))
    plain.close(), env.close()


def assert_same_numbers(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same_numbers(one[key], other[key])
    else:
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=SMALLEST)  # PyTorch makes a float a single.


def test_jax_goes_in_and_numpy_comes_out():
    pytest.importorskip("jax")
    pytest.importorskip("array_api_compat")
    env = gymnasium.wrappers.JaxToNumpy(gymnasium.make("segtrack/StairClimb-v0", **STEP))
    plain = gymnasium.make("segtrack/StairClimb-v0", **STEP)
    assert_same_numbers(dict(enumerate(plain.reset(seed=1))), dict(enumerate(env.reset(seed=1))))
    env.close(), plain.close()


@pytest.fixture
def sb3():
    pytest.importorskip("stable_baselines3")
    from segtrack.envs.learning import Robots

    robots = Robots(several(count=3, render_mode="rgb_array"))
    robots.reset()
    yield robots
    robots.close()


def test_methods_by_indices_are_for_those_robots(sb3):
    assert sb3.env_method("set_parameters", {"height": 0.1}, indices=[0, 2]) == [None, None]
    sb3.env_method("set_parameters", {"height": 0.2}, indices=1)
    _, info = sb3.env.reset(seed=0)
    assert info["parameters"]["height"].tolist() == [0.1, 0.2, 0.1]
    progress = [state.place.progress for state in sb3.get_attr("task_state", [2, 0])]
    assert progress == sb3.env.view.progress[[2, 0]].tolist()
    for name in ("step", "reset"):
        with pytest.raises(UnknownNameError, match=f"^no attribute of a robot '{name}'; there are: "):
            sb3.env_method(name, indices=[0])
    sb3.set_attr("note", 3)
    assert sb3.get_attr("note", [1]) == [3]
    with pytest.raises(InvalidValueError, match="^indices of note must be of all robots, which share it"):
        sb3.set_attr("note", 4, 1)


def test_stable_baselines_lays_pictures_out_as_a_grid(sb3):
    assert sb3.get_attr("render_mode") == ["rgb_array"] * 3
    assert sb3.render().shape == (2 * 360, 2 * 640, 3)


@pytest.mark.parametrize("first", ["critic", "policy"])
def test_rsl_rl_gets_each_group_by_its_name(first):
    pytest.importorskip("torch")
    pytest.importorskip("rsl_rl")
    from segtrack.envs.learning import RslRobots

    groups = {"critic": Group(clean=True), "policy": Group(history=2)}
    envs = several(groups=groups if first == "critic" else dict(reversed(groups.items())), sensor_noise=0.02)
    robots = RslRobots(envs, seed=3)
    seen = robots.get_observations()
    assert {name: tuple(seen[name].shape) for name in groups} == {"critic": (4, 83), "policy": (4, 166)}
    observations, _ = envs.reset(seed=3)
    for sensors in envs.groups:
        low, high = sensors.limits
        rows = 2 * (observations[sensors.group] - low) / (high - low) - 1
        np.testing.assert_allclose(seen[sensors.group].numpy(), rows, rtol=0, atol=1e-6)
    assert envs.sensors.group == "policy"


def test_rsl_rl_trains(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("rsl_rl")
    from rsl_rl.runners import OnPolicyRunner

    from segtrack.envs.learning import REWARD_SCALE, RslRobots

    with pytest.raises(InvalidValueError, match="^autoreset_mode must be SameStep, got 'NextStep'"):
        RslRobots(several("NextStep"))
    envs, plain = several(), several()
    robots, layers = RslRobots(envs, seed=3), {"class_name": "MLPModel", "hidden_dims": [8]}
    assert robots.max_episode_length == 6 and robots.cfg == {"task": "StepClimb", "vehicle": "quince"}
    settings = {
        "num_steps_per_env": 8,
        "save_interval": 10,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "algorithm": {"class_name": "PPO", "num_mini_batches": 2},
        "actor": {**layers, "distribution_cfg": {"class_name": "GaussianDistribution"}},
        "critic": layers,
    }
    runner = OnPolicyRunner(robots, settings, log_dir=str(tmp_path))
    before = [weight.clone() for weight in runner.alg.get_policy().parameters()]
    runner.learn(2, init_at_random_ep_len=True)
    after = list(runner.alg.get_policy().parameters())
    assert any(not one.equal(other) for one, other in zip(before, after, strict=True))
    plain.reset(seed=0), envs.reset(seed=0)
    actions = np.ones((4, 4), np.float32)
    for step in range(1, 7):
        seen, rewards, over, extras = robots.step(torch.ones(4, 4))
        _, earned, *ends, _ = plain.step(actions)
        np.testing.assert_allclose(rewards.numpy(), REWARD_SCALE * earned, rtol=1e-6)
        assert over.tolist() == (ends[0] | ends[1]).tolist() == [step == 6] * 4
        assert extras["time_outs"].tolist() == over.tolist()
        assert seen["policy"].abs().max() <= 1.0
        assert robots.episode_length_buf.tolist() == [step % 6] * 4
    assert extras["log"] == {"/success": 0.0}
    robots.episode_length_buf = robots.episode_length_buf + 5
    assert robots.step(runner.alg.get_policy()(seen))[2].all()  # With a gradient.
    envs.close(), plain.close()


def test_skrl_trains(tmp_path):
    pytest.importorskip("skrl")
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.utils.runner.torch import Runner

    env = wrap_env(several())
    layers = [{"name": "net", "input": "OBSERVATIONS", "layers": [8], "activations": "tanh"}]
    settings = {
        "models": {
            "separate": True,
            "policy": {"class": "GaussianMixin", "network": layers, "output": "ACTIONS"},
            "value": {"class": "DeterministicMixin", "network": layers, "output": "ONE"},
        },
        "memory": {"class": "RandomMemory", "memory_size": -1},
        "agent": {
            "class": "PPO",
            "rollouts": 8,
            "experiment": {"directory": str(tmp_path), "write_interval": 0, "checkpoint_interval": 0},
        },
        "trainer": {"class": "SequentialTrainer", "timesteps": 16, "disable_progressbar": True},
    }
    runner = Runner(env, settings)
    policy = runner.agent.policy
    before = [weight.clone() for weight in policy.parameters()]
    runner.run()
    assert any(not one.equal(other) for one, other in zip(before, policy.parameters(), strict=True))
    env.close()
