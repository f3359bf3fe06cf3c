"""Parameters of future episodes, which change while a vector environment lives."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from segtrack.envs import EnvironmentOptions, TaskSetup, VectorEnvironment
from segtrack.envs.vector import Draws, ParameterColumns
from segtrack.errors import InvalidValueError, UnknownNameError

GIVEN = {"time_step": 0.004, "time_limit": 0.1, "threads": 1, "autoreset_mode": AutoresetMode.SAME_STEP}


def heights_of(env, steps):
    """Heights that robots meet in the episodes after each step, which end in every other one."""
    met = []
    for _ in range(steps):
        *_, info = env.step(np.zeros(env.action_space.shape, np.float32))
        met.append(info["parameters"]["height"].copy())
    return np.array(met)


def test_future_episodes_draw_what_was_changed_and_present_ones_go_on():
    env = VectorEnvironment("StepClimb", 3, height=0.1, **GIVEN)
    env.reset(seed=0)
    env.set_parameters({"height": 0.2})
    env.set_parameters({"height": (0.3, 0.4)}, [1])
    met = heights_of(env, 6)
    assert (met[0] == 0.1).all()
    assert (met[1:, [0, 2]] == 0.2).all()
    assert ((met[1:, 1] >= 0.3) & (met[1:, 1] <= 0.4)).all()
    assert len(np.unique(met[1:, 1])) == 3
    env.close()


def test_what_was_changed_is_drawn_as_if_it_had_been_given_at_the_beginning():
    changed, given = (
        VectorEnvironment("StepClimb", 2, friction=(0.4, 0.6), **height, **GIVEN)
        for height in ({}, {"height": (0.1, 0.3)})
    )
    changed.set_parameters({"height": (0.1, 0.3)})
    (one, first), (other, second) = changed.reset(seed=5), given.reset(seed=5)
    assert np.array_equal(one, other)
    for name in ("height", "friction"):
        assert np.array_equal(first["parameters"][name], second["parameters"][name])
    # What a reset is given counts for that reset alone.
    _, info = changed.reset(options={"height": 0.5})
    assert (info["parameters"]["height"] == 0.5).all()
    assert (heights_of(changed, 2)[-1] < 0.5).all()
    changed.close(), given.close()


def test_changes_are_checked_as_options_are_and_refused_as_a_whole():
    env = VectorEnvironment("StepClimb", 2, height=0.1, **GIVEN)
    for parameters, robots, kind, message in (
        ({"hight": 0.2}, None, UnknownNameError, "no parameter of StepClimb 'hight'; there are: height"),
        ({"height": 3.0}, None, InvalidValueError, "height [m] must be from 0.02 to 0.6, got 3.0"),
        ({"height": 0.2}, [0, 2], InvalidValueError, "robot must be from 0 to 1, got 2"),
        (
            {"grouser_height": 0.5},
            None,
            InvalidValueError,
            "grouser_height of a vector environment must be one number, fixed at construction, got 0.5",
        ),
    ):
        with pytest.raises(kind) as error:
            env.set_parameters(parameters, robots)
        assert str(error.value).startswith(message)
    env.reset(seed=0)
    assert (heights_of(env, 2) == 0.1).all()
    env.close()


def test_arrays_give_each_robot_its_own_value_or_range():
    env = VectorEnvironment("StepClimb", 3, height=0.1, **GIVEN)
    heights = np.array([0.1, 0.2, 0.3])
    ranges = np.array([[0.4, 0.5], [0.6, 0.7], [0.8, 0.9]])
    _, info = env.reset(seed=0, options={"height": heights, "friction": ranges})
    assert np.array_equal(info["parameters"]["height"], heights)
    drawn = info["parameters"]["friction"]
    assert (ranges[:, 0] <= drawn).all() and (drawn <= ranges[:, 1]).all()
    assert (heights_of(env, 2)[-1] == 0.1).all()  # It counted for that reset alone.
    env.set_parameters({"height": heights + 0.1})
    env.set_parameters({"height": np.array([0.5, 0.6])}, [2, 0])
    mask = np.array([False, True, True])
    other = {"friction": np.array([0.1, 0.2, 0.3]), "reset_mask": mask}
    assert env.reset(options=other)[1]["parameters"]["friction"][mask].tolist() == [0.2, 0.3]
    assert heights_of(env, 2)[-1] == pytest.approx([0.6, 0.3, 0.5])
    env.close()


@pytest.mark.parametrize(
    "given, robots, message",
    [
        (
            {"height": np.ones(2)},
            None,
            "array of height must be of shape (3,) or (3, 2), a row a robot, got ",
        ),
        (
            {"height": np.ones(3)},
            [0, 1],
            "array of height must be of shape (2,) or (2, 2), a row a robot, got ",
        ),
        ({"height": np.array([0.1, 9.0, 0.1])}, None, "height [m] must be from 0.02 to 0.6, got 9.0"),
        (
            {"height": np.array([[0.2, 0.1]] * 3)},
            None,
            "height [m] must be a range (low, high) with low <= high",
        ),
    ],
)
def test_arrays_of_other_shapes_or_values_are_refused(given, robots, message):
    env = VectorEnvironment("StepClimb", 3, **GIVEN)
    with pytest.raises(InvalidValueError) as error:
        env.set_parameters(given, robots)
    assert str(error.value).startswith(message)
    env.close()


@pytest.mark.parametrize("robots", [np.array([False, True]), [0.9], 1], ids=str)
def test_what_is_no_list_of_indices_is_refused(robots: Any) -> None:
    draws = Draws(TaskSetup.of("StepClimb", EnvironmentOptions()), 2)
    with pytest.raises(InvalidValueError, match="robots must be indices, whole numbers, got"):
        draws.indices(robots)


def test_columns_of_parameters_keep_values_as_they_are() -> None:
    columns = ParameterColumns(["x"], 3)
    columns.write(np.arange(3), [{"x": 1}, {"x": 0.5}, {"x": 0}])
    assert columns.arrays["x"].tolist() == [1.0, 0.5, 0.0]
    columns.write(np.arange(3), [{"x": 1}, {"x": 1}, {"x": 1}])
    columns.write(np.array([1]), [{"x": 0.5}])
    assert columns.arrays["x"].tolist() == [1.0, 0.5, 1.0]
