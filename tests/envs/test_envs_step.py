"""Steps of a native environment: few functions, and copies that go on to the bit."""

import contextlib
import copy
import pickle
import sys

import numpy as np
import pytest
from scenes import environment

from segtrack.errors import NotReadyError

ACTION = np.array([1.0, 0.8, 0.3, -0.2], np.float32)
MOST_FUNCTIONS = 78
"""Python functions of a native step, those of views of N robots and kernels among them, NumPy's own not.

Each command goes by its part's name and limits, with the refusals that every caller gets."""


def functions_of_step(env):
    """Functions that one step calls, by file and qualified name."""
    called = set()

    def file_of(frame):
        while frame.f_code.co_filename == contextlib.__file__:  # Belongs to who opened the context.
            frame = frame.f_back
        return frame.f_code.co_filename

    def note(frame, event, _):
        code, file = frame.f_code, file_of(frame)
        # NumPy 1 has functions of its own in a file of that name.
        own = "numpy" in file or file == "<__array_function__ internals>"
        if event == "call" and not own:
            called.add((code.co_filename, getattr(code, "co_qualname", code.co_name)))

    sys.setprofile(note)
    try:
        env.step(ACTION)
    finally:
        sys.setprofile(None)
    return called


def test_a_step_goes_through_few_functions():
    with environment(engine="native") as env:
        env.reset(seed=0)
        for _ in range(3):
            env.step(ACTION)
        called = functions_of_step(env)
    names = {name for _, name in called}
    # The count would be small as well if it did not see the kernels, which numba tells of up to Python 3.11.
    kernels = {"advance", "move_links"} if sys.version_info < (3, 12) else set()
    assert {"Environment.step"} | kernels <= names or sys.version_info < (3, 11)
    assert len(called) <= MOST_FUNCTIONS, sorted(called)


def test_an_episode_knows_its_last_two_actions():
    actions = [
        np.array(numbers, np.float32) for numbers in ((0.1, 0.2, 0.0, 0.0), (0.3, 0.1, 0.2, 0.0), ACTION)
    ]
    with environment(engine="native") as env:
        env.reset(seed=0)
        last = np.zeros(4, np.float32)
        for action in actions:
            *_, info = env.step(action)
            assert env.task_state.action.tolist() == action.tolist()
            assert env.task_state.last_action.tolist() == last.tolist()
            change = float(np.mean((action - last) ** 2))
            assert info["reward_terms"]["smoothness"] == pytest.approx(-0.01 * change)
            last = action


def follow(env, steps=12):
    """Everything that an environment says in some steps."""
    rng, said = np.random.default_rng(1), []
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(
            rng.uniform(-0.2, 1.0, env.action_space.shape).astype(np.float32)
        )
        info.pop("real_time_factor", None)
        said.append((observation.tobytes(), reward, terminated, truncated, repr(info)))
    return said


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("given", [{}, {"sensor_noise": 0.02, "action_delay": 2}])
def test_a_copy_of_a_native_environment_goes_on_as_it_does_to_the_bit(copied, given):
    with environment(engine="native", **given) as env:
        env.reset(seed=3)
        for _ in range(3):
            env.step(ACTION)
        other = copied(env)
        middle = follow(env)
        # What one does is nothing to the other.
        assert follow(other) == middle
        assert middle[0][0] != middle[-1][0]
        first, _ = env.reset(seed=4)
        again, _ = other.reset(seed=4)
        assert first.tobytes() == again.tobytes()
        assert follow(other) == follow(env)
        other.close()


@pytest.mark.slow  # Compiles native chains.
def test_a_copy_with_link_chains_goes_on_as_the_original():
    with environment("Drive", engine="native", track_model="chain", winding=0.0) as env:
        env.reset(seed=0)
        env.step(ACTION)
        other = copy.deepcopy(env)
        assert follow(other, 2) == follow(env, 2)
        other.close()


def test_an_environment_in_pybullet_is_not_copied():
    with environment(engine="pybullet") as env:
        for copied in (copy.deepcopy, pickle.dumps):
            with pytest.raises(NotReadyError) as error:
                copied(env)
            expected = "cannot copy StepClimb: its world is PyBullet's; the engine native can be copied"
            assert str(error.value) == expected
