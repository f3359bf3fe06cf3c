"""Doors of libraries: what gymnasium's wrappers and others ask of single and vector environments."""

import copy
import os

import gymnasium
import numpy as np
import pytest
from env_actions import FORWARD
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from scenes import environment

from segtrack.envs import OUTCOMES, Environment, Traverse, VectorEnvironment
from segtrack.errors import InvalidValueError, MissingPackageError, NotReadyError, UnknownNameError

STEP = {"time_step": 0.004, "time_limit": 0.4}
DRAWN = {"initial_yaw": (-0.2, 0.2)}


@pytest.fixture
def robots():
    env = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=3, render_mode="rgb_array", **STEP, **DRAWN)
    env.reset(seed=0)
    yield env
    env.close()


def is_of_numbers(info):
    """Whether an `info` has numbers and truth values alone, down to its leaves."""
    if isinstance(info, dict):
        return all(map(is_of_numbers, info.values()))
    return isinstance(info, int | float | np.number) or getattr(info, "dtype", np.dtype("O")).kind in "iufb"


@pytest.mark.parametrize(
    "task", ["StairClimb", Traverse(variants=1), "RoughTerrain"], ids=["stairs", "library", "rough"]
)
def test_words_in_info_are_codes(task):
    envs = VectorEnvironment(task, 3, **STEP)
    _, infos = envs.reset(seed=0)
    with environment(task, **STEP) as alone:
        _, info = alone.reset(seed=1)
        assert is_of_numbers(info) and is_of_numbers(infos)
        assert (OUTCOMES[info["outcome"]], OUTCOMES[infos["outcome"][1]]) == ("running", "running")
        for name, parameter in alone.parameters.items():
            drawn = envs.view.parameter(name)[1]
            codes = info["parameters"][name], infos["parameters"][name][1]
            words = getattr(parameter, "options", None)
            assert [words[code] if words else code for code in codes] == [drawn, drawn]
    envs.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_autoreset_mode_is_an_attribute_as_of_gymnasiums_own(mode):
    env = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=1, autoreset_mode=mode)
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is mode
    env.close()


@pytest.mark.parametrize(
    "given, steps", [({}, 300), ({"time_limit": 0.33}, 7), ({"control_frequency": 50}, 750)]
)
def test_the_specification_has_the_steps_after_which_episodes_are_truncated(given, steps):
    alone = gymnasium.make("segtrack/StepClimb-v0", **given)
    several = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=1, **given)
    assert alone.spec.max_episode_steps == several.spec.max_episode_steps == steps
    if steps == 7:
        again = gymnasium.make(alone.spec)
        for env in (alone, again):
            env.reset(seed=0)
            ends = [env.step(0 * FORWARD)[3] for _ in range(steps)]
            assert ends == [False] * (steps - 1) + [True]
        again.close()
    alone.close(), several.close()


def test_attributes_and_methods_of_each_robot_are_those_of_single_environments(robots):
    assert robots.get_attr("control_period") == (0.05,) * 3
    assert robots.call("action_space") == (robots.single_action_space,) * 3
    states = robots.get_attr("task_state")
    with environment(**STEP, **DRAWN) as alone:
        alone.reset(seed=2)
        assert states[2].state.position == pytest.approx(alone.task_state.state.position)
    assert robots.call("set_parameters", {"height": 0.1}) == (None,) * 3
    robots.robots[1].set_parameters({"height": 0.2})
    _, infos = robots.reset(seed=1)
    assert infos["parameters"]["height"].tolist() == [0.1, 0.2, 0.1]
    for name in ("step", "hight", "_draws"):
        with pytest.raises(AttributeError) as error:
            robots.get_attr(name)
        assert isinstance(error.value, UnknownNameError)


def test_a_robot_can_be_copied(robots):
    assert copy.copy(robots.robots[1]).control_period == 0.05


def test_pictures_of_robots_are_those_of_single_environments(robots):
    for _ in range(2):
        robots.step(np.stack([FORWARD] * 3))
    pictures = robots.render()
    assert {picture.shape for picture in pictures} == {(360, 640, 3)}
    with environment(render_mode="rgb_array", **STEP, **DRAWN) as alone:
        alone.reset(seed=1)
        for _ in range(2):
            alone.step(FORWARD)
        # Poses differ by rounding, which may move an edge by a pixel.
        differs = np.any(pictures[1] != alone.render(), axis=-1)
    assert differs.mean() < 1e-3 and np.any(pictures[0] != pictures[1])
    np.testing.assert_array_equal(robots.call("render")[1], pictures[1])


def test_the_more_robots_the_smaller_their_pictures():
    env = VectorEnvironment("StepClimb", 5, render_mode="rgb_array", **STEP)
    with pytest.raises(NotReadyError, match="it has not been reset"):
        env.render()
    env.reset(seed=0)
    assert [picture.shape for picture in env.render()] == [(240, 426, 3)] * 5
    env.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_restored_environment_goes_on_as_before_to_the_bit(mode):
    drawn = {"height": (0.1, 0.3), "sensor_noise": 0.01, "action_delay": (0, 2), "mass": (0.9, 1.1)}
    env = VectorEnvironment("StepClimb", 3, autoreset_mode=mode, **STEP, **drawn)
    env.reset(seed=5)
    actions = np.random.default_rng(0).uniform(-1, 1, (14, 3, 4)).astype(np.float32)

    def follow():
        seen = []
        for action in actions:
            observations, rewards, terminations, truncations, infos = env.step(action)
            seen += [observations.tobytes(), rewards.tobytes(), infos["parameters"]["height"].tobytes()]
            if mode is AutoresetMode.DISABLED and (over := terminations | truncations).any():
                seen.append(env.reset(options={"reset_mask": over})[0].tobytes())
        return seen

    for action in actions[:3]:
        env.step(action)
    snapshot, first = env.save(), follow()
    env.set_parameters({"height": 0.2})
    env.restore(snapshot)
    assert follow() == first
    env.restore(snapshot)  # What followed did not change it.
    assert follow() == first
    other = VectorEnvironment("StepClimb", 3, **STEP)
    for given in (snapshot, None):
        with pytest.raises(InvalidValueError, match="^snapshot must be one of this environment's"):
            other.restore(given)
    other.close(), env.close()


def test_gymnasiums_checker_finds_nothing_without_a_display(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    env = gymnasium.make("segtrack/StepClimb-v0", **STEP)
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert env.metadata["render_modes"] == ["rgb_array"]
    check_env(env.unwrapped)
    env.close()


def test_a_window_shows_each_step_of_the_native_engine(monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    shown, flip = [], pygame.display.flip
    monkeypatch.setattr(
        pygame.display,
        "flip",
        lambda: (shown.append(pygame.surfarray.array3d(pygame.display.get_surface())), flip()),
    )
    with (
        environment(render_mode="human", **STEP) as env,
        environment(render_mode="rgb_array", **STEP) as other,
    ):
        assert env.engine == "native" and "human" in env.metadata["render_modes"]
        env.reset(seed=0), other.reset(seed=0)
        pictures = [other.render()]
        for _ in range(2):
            one, two = env.step(FORWARD), other.step(FORWARD)
            np.testing.assert_array_equal(one[0], two[0])
            pictures.append(other.render())
        assert env.render() is None
    assert not pygame.display.get_init()
    np.testing.assert_array_equal(np.swapaxes(shown, 1, 2), pictures)


def test_a_window_without_pygame_is_refused(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("segtrack.envs.window.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError) as error:
        Environment("StepClimb", render_mode="human")
    assert str(error.value).startswith('render_mode="human" needs pygame, which is not installed')
