"""Refusals of environments: actions, options and arguments that cannot be, whole messages."""

import math
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from env_actions import FORWARD, STILL
from scenes import environment
from tables import each_row

from segtrack.description import bundled_vehicles
from segtrack.envs import TASKS, TERMS, Environment, Scan, Term, VectorEnvironment
from segtrack.envs.parameters import ROBOT_PARAMETERS
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError

NAN, INF = math.nan, math.inf
VEHICLES = ", ".join(bundled_vehicles())
PARAMETERS = ", ".join(("height", *ROBOT_PARAMETERS))
SHAPE = "action must be of shape (4,): left, right, front, rear, got shape"


@each_row(
    "action, message",
    [
        ([1, 1], f"{SHAPE} (2,)"),
        (0.5, f"{SHAPE} ()"),
        (np.zeros((1, 4)), f"{SHAPE} (1, 4)"),
        ([0, NAN, 0, 0], "action entry right must be a finite number, got nan"),
        ([0, 0, 0, -INF], "action entry rear must be a finite number, got -inf"),
        ("forward", "action must be 4 numbers, got 'forward'"),
        ([1, 1, None, {}], "action must be 4 numbers, got [1, 1, None, {}]"),
        ([[1, 1], [1]], "action must be 4 numbers, got [[1, 1], [1]]"),
        (["1", "1", "0", "0"], "action must be 4 numbers, got ['1', '1', '0', '0']"),
    ],
)
def test_actions_that_are_refused_leave_the_episode_as_it_was(climb, action, message):
    climb.reset(seed=0, options={"action_delay": 1})
    expected = [climb.step(FORWARD)[0].tobytes() for _ in range(2)]
    climb.reset(seed=0, options={"action_delay": 1})
    with pytest.raises(InvalidValueError) as error:
        climb.step(action)
    assert str(error.value) == message
    assert [climb.step(FORWARD)[0].tobytes() for _ in range(2)] == expected


def test_an_action_beyond_its_range_is_clipped(climb):
    climb.reset(seed=0)
    expected = climb.step(np.array([1, -1, 1, -1]))[0]
    climb.reset(seed=0)
    np.testing.assert_array_equal(climb.step(np.array([7.0, -1.5, 2, -1e30]))[0], expected)


VALUES = [
    ({"height": 0.7}, InvalidValueError, "height [m] must be from 0.02 to 0.6, got 0.7"),
    ({"height": (0.2, 0.7)}, InvalidValueError, "height [m] must be from 0.02 to 0.6, got 0.7"),
    ({"height": (0.3, 0.1)}, InvalidValueError,
     "height [m] must be a range (low, high) with low <= high, got (0.3, 0.1)"),
    ({"height": [0.1, 0.2, 0.3]}, InvalidValueError,
     "height [m] must be a number or a range (low, high), got [0.1, 0.2, 0.3]"),
    ({"height": np.array([0.1, 0.2])}, InvalidValueError,
     "height [m] must be a number or a range (low, high), got array([0.1, 0.2])"),
    ({"height": np.array([0.1])}, InvalidValueError,
     "height [m] must be a number or a range (low, high), got array([0.1])"),
    ({"height": NAN}, InvalidValueError, "height [m] must be a finite number, got nan"),
    ({"height": "low"}, InvalidValueError, "height [m] must be a finite number, got 'low'"),
    ({"height": None}, InvalidValueError, "height [m] must be a finite number, got None"),
    ({"height": True}, InvalidValueError, "height [m] must be a finite number, got True"),
    ({"friction": -0.1}, InvalidValueError, "friction must be from 0 to 2, got -0.1"),
    ({"mass": (0.5, 1)}, InvalidValueError, "mass must be from 0.7 to 1.5, got 0.5"),
    ({"action_delay": 1.5}, InvalidValueError, "action_delay must be a whole number, got 1.5"),
    ({"action_delay": 11}, InvalidValueError, "action_delay must be from 0 to 10, got 11"),
    ({"sensor_noise": -1}, InvalidValueError, "sensor_noise must be from 0 to 0.5, got -1"),
    ({"initial_yaw": 4}, InvalidValueError, "initial_yaw [rad] must be from -3.14159 to 3.14159, got 4"),
]  # fmt: skip


UNKNOWN = {"heigth": 0.2}, UnknownNameError, f"no parameter of StepClimb 'heigth'; there are: {PARAMETERS}"


@each_row("given, kind, message", [UNKNOWN, *VALUES])
def test_options_that_are_refused_leave_the_episode_as_it_was(climb, given, kind, message):
    climb.reset(seed=0)
    drawn = climb.np_random.bit_generator.state
    with pytest.raises(kind) as error:
        climb.reset(seed=1, options=given)
    assert str(error.value) == message
    assert climb.np_random.bit_generator.state == drawn
    climb.step(FORWARD)


def test_an_unknown_keyword_is_a_type_error_as_of_any_function():
    told = f"StepClimb got an unexpected keyword argument 'heigth'; there are: {PARAMETERS}"
    for make in (Environment, VectorEnvironment):
        with pytest.raises(TypeError) as error:
            make("StepClimb", heigth=0.2)
        assert str(error.value) == told and isinstance(error.value, UnknownNameError)
        assert pickle.loads(pickle.dumps(error.value)).args == error.value.args
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(TypeError, match="got an unexpected keyword argument 'heigth'"):
            make("segtrack/StepClimb-v0", heigth=0.2)


@each_row("given, kind, message", VALUES)
def test_parameters_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Environment("StepClimb", **given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"task": "Swim"}, UnknownNameError, f"no task 'Swim'; there are: {', '.join(TASKS)}"),
        ({"vehicle": "qince"}, UnknownNameError, f"no vehicle 'qince'; there are: {VEHICLES}"),
        ({"vehicle": "packbot"}, InvalidValueError,
         "vehicle must be one with flippers for StepClimb, got packbot, which has none"),
        ({"task": "StairClimb", "vehicle": "packbot"}, InvalidValueError,
         "vehicle must be one with flippers for StairClimb, got packbot, which has none"),
        ({"render_mode": "ansi"}, UnknownNameError,
         "no render mode 'ansi'; there are: human, rgb_array"),
        ({"preset": "coarse"}, UnknownNameError,
         "no preset of the engine native 'coarse'; there are: exact, fast"),
        pytest.param({"engine": "pybullet", "preset": "quick"}, UnknownNameError,
                     "no solver preset 'quick'; there are: exact, fast, coarse", marks=pytest.mark.pybullet),
        ({"time_step": 0.02}, InvalidValueError, "time_step [s] must be at most 0.01, got 0.02"),
        ({"engine": "steam"}, UnknownNameError, "no engine 'steam'; there are: pybullet, native, mujoco"),
        ({"engine": "native", "track_model": "segments"}, InvalidValueError,
         "engine for track model 'segments' must be pybullet, got 'native'"),
        ({"control_frequency": 50, "preset": "fast", "belt_speed": 2}, InvalidValueError,
         "belt_speed [m/s] must be above 0 and at most 0.5, the slowest drive's, got 2"),
        ({"control_frequency": 0}, InvalidValueError,
         "control_frequency [Hz] must be greater than 0, got 0"),
        ({"control_frequency": NAN}, InvalidValueError,
         "control_frequency [Hz] must be a finite number, got nan"),
        ({"belt_speed": 0.51}, InvalidValueError,
         "belt_speed [m/s] must be above 0 and at most 0.5, the slowest drive's, got 0.51"),
        ({"belt_speed": 0}, InvalidValueError,
         "belt_speed [m/s] must be above 0 and at most 0.5, the slowest drive's, got 0"),
        ({"belt_speed": "fast"}, InvalidValueError,
         "belt_speed [m/s] must be a finite number, got 'fast'"),
        ({"flippers": "both"}, UnknownNameError,
         "no flipper grouping 'both'; there are: pairs, each"),
        ({"observation": "pixels"}, UnknownNameError,
         "no kind of observation 'pixels'; there are: flat, dict"),
        ({"reward": {"speed": 1.0}}, UnknownNameError,
         f"no reward term 'speed'; there are: {', '.join(TERMS)}"),
        ({"reward": {"time": NAN}}, InvalidValueError,
         "weight of reward term time must be a finite number, got nan"),
        ({"task": "RoughTerrain", "kind": "lava"}, InvalidValueError,
         "kind must be one or some of boxes, step_field, waves, rails, got 'lava'"),
        ({"task": "RoughTerrain", "kind": ()}, InvalidValueError,
         "kind must be one or some of boxes, step_field, waves, rails, got ()"),
        ({"task": "RoughTerrain", "kind": ("boxes", "lava")}, InvalidValueError,
         "kind must be one or some of boxes, step_field, waves, rails, got ('boxes', 'lava')"),
        ({"task": "StairClimb", "stairs": (2, 3.5)}, InvalidValueError,
         "stairs must be a whole number, got 3.5"),
    ],
)  # fmt: skip
def test_environments_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Environment(**{"task": "StepClimb", **given})
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, message",
    [
        ({"x_min": 1.0, "x_max": 1.0}, "scan.x_max [m] must be above x_min of 1, got 1.0"),
        ({"half_width": 0.0}, "scan.half_width [m] must be greater than 0, got 0.0"),
        ({"rows": 0}, "scan.rows must be a whole number of at least 1, got 0"),
        ({"columns": -1}, "scan.columns must be a whole number of at least 1, got -1"),
        ({"samples": (4, 0)}, "scan.samples[1] must be a whole number of at least 1, got 0"),
    ],
)
def test_scans_that_cannot_be_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Scan(**given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, message",
    [
        ({"x_max": INF}, "scan.x_max [m] must be a finite number, got inf"),
        ({"half_width": INF}, "scan.half_width [m] must be a finite number, got inf"),
        ({"rows": 2.5}, "scan.rows must be a whole number of at least 1, got 2.5"),
        ({"samples": (1.5, 2)}, "scan.samples[0] must be a whole number of at least 1, got 1.5"),
    ],
)
def test_scans_of_no_finite_or_whole_numbers_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Scan(**given)
    assert str(error.value) == message


@pytest.mark.parametrize("given, message", [
    ({"mass": 1.2}, "body of example_rover must be given by mass and size, got a URDF"),
    ({"center_of_mass_x": 0.1}, "body of example_rover must be given by mass and size, got a URDF"),
])  # fmt: skip
def test_what_a_vehicle_cannot_have_varied_is_refused_and_the_next_reset_works(given, message):
    with environment("Drive", vehicle="example_rover") as env:
        with pytest.raises(InvalidValueError) as error:
            env.reset(options=given)
        assert str(error.value) == message
        env.reset()
        with pytest.raises(InvalidValueError) as error:
            env.reset(options=given)
        assert str(error.value) == message
        with pytest.raises(NotReadyError) as error:
            env.step(np.zeros(2))
        assert str(error.value) == "cannot step Drive: it has not been reset"


def test_nothing_is_asked_of_an_environment_before_its_reset():
    with environment(render_mode="rgb_array") as env:
        for attempt, what in (
            (lambda: env.step(STILL), "step"),
            (env.render, "render"),
            (lambda: env.task_state, "look at"),
        ):
            with pytest.raises(NotReadyError) as error:
                attempt()
            assert str(error.value) == f"cannot {what} StepClimb: it has not been reset"


def test_nothing_is_asked_of_an_environment_after_its_close():
    env = Environment("StepClimb", render_mode="rgb_array")
    env.reset(seed=0)
    env.close()
    env.close()
    for attempt, what in (
        (lambda: env.step(STILL), "step"),
        (env.reset, "reset"),
        (env.render, "render"),
    ):
        with pytest.raises(NotReadyError) as error:
            attempt()
        assert str(error.value) == f"cannot {what} StepClimb: it is closed"


def test_no_step_follows_the_end_of_an_episode(climb):
    climb.reset(seed=0)
    climb._episode_world.robot.reset_base_pose((-1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    assert climb.step(STILL)[2]
    with pytest.raises(NotReadyError) as error:
        climb.step(STILL)
    assert str(error.value) == "cannot step StepClimb: its episode is over; reset it"
    climb.reset()
    climb.step(STILL)


def test_an_unknown_render_mode_is_refused_through_gymnasium_too():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium warns by itself before it asks the environment.
        with pytest.raises(UnknownNameError) as error:
            gymnasium.make("segtrack/StepClimb-v0", render_mode="ansi")
    assert str(error.value) == "no render mode 'ansi'; there are: human, rgb_array"


@pytest.mark.parametrize(
    "attempt, kind, message",
    [
        (lambda several: several.reset(options={"heigth": 0.2}), UnknownNameError,
         f"no parameter of StepClimb 'heigth'; there are: {PARAMETERS}"),
        (lambda several: several.reset(options={"height": 0.7}), InvalidValueError,
         "height [m] must be from 0.02 to 0.6, got 0.7"),
    ],
)  # fmt: skip
def test_what_a_worker_refuses_is_told_as_it_said_it(attempt, kind, message):
    several = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=1, vectorization_mode="async")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium's log of the worker's error.
        try:
            with pytest.raises(kind) as error:
                attempt(several)
        finally:
            several.close(terminate=True)
    assert str(error.value) == message


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, [1], NAN])
def test_seeds_that_are_none_are_refused(climb, seed):
    with pytest.raises(InvalidValueError) as error:
        climb.reset(seed=seed)
    assert str(error.value) == f"seed must be a whole number from 0, got {seed!r}"


def test_a_seed_may_be_numpys(climb):
    np.testing.assert_array_equal(climb.reset(seed=np.int64(7))[0], climb.reset(seed=7)[0])


@pytest.mark.parametrize(
    "seed, message",
    [
        (True, "seed must be a whole number from 0, got True"),
        (1.5, "seed must be a whole number from 0, got 1.5"),
        ("ab", "seed must be a whole number from 0, got 'ab'"),
        ([1, 2, 3], "seed must be a whole number, or a list of 2, got [1, 2, 3]"),
        ([1, -2], "seed 1 must be a whole number from 0, got -2"),
        ([False, 2], "seed 0 must be a whole number from 0, got False"),
        (np.array([1, 2, 3]), "seed must be a whole number, or a list of 2, got [1, 2, 3]"),
        (np.array([1, -2]), "seed 1 must be a whole number from 0, got -2"),
        (np.array([1.0, 2.0]), "seed 0 must be a whole number from 0, got 1.0"),
        (np.array([True, False]), "seed 0 must be a whole number from 0, got True"),
    ],
)
def test_seeds_of_many_that_are_none_are_refused(pair, seed, message):
    with pytest.raises(InvalidValueError) as error:
        pair.reset(seed=seed)
    assert str(error.value) == message


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.uint64])
def test_seeds_of_many_may_be_an_array(pair, kind):
    listed = pair.reset(seed=[200, 7])[0]
    np.testing.assert_array_equal(pair.reset(seed=np.array([200, 7], dtype=kind))[0], listed)


@pytest.fixture(scope="module")
def pair():
    envs = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=2)
    yield envs
    envs.close()


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda v: v.in_body(np.zeros((1, 2))),
         "vectors must be numbers of shape (1, 3), a row a robot, got shape (1, 2)"),
        (lambda v: v.in_heading("x"), "vectors must be numbers of shape (1, 2), a row a robot, got 'x'"),
        (lambda v: v.cell_heights(np.zeros((2, 2))),
         "cells [m] must be numbers of shape (c, m, 2), got shape (2, 2)"),
        (lambda v: v.height(np.zeros((2, 2)), np.zeros((2, 2))),
         "points [m] must be x and y of one shape (1, ...), got (2, 2) and (2, 2)"),
    ],
)  # fmt: skip
def test_what_a_view_cannot_turn_or_sample_is_refused(climb, ask, message):
    climb.reset(seed=0)
    with pytest.raises(InvalidValueError) as error:
        ask(climb.unwrapped.view)
    assert str(error.value) == message


@pytest.mark.parametrize("given, got", [(np.zeros(3), "shape (3,)"), ("velocity", "shape ()")])
def test_a_part_is_read_of_an_observation_alone(climb, given, got):
    observation, _ = climb.reset(seed=0)
    with pytest.raises(InvalidValueError) as error:
        climb.unwrapped.sensors.part(given, "velocity")
    assert str(error.value) == f"observation must be of {len(observation)} entries, got {got}"


def test_a_part_is_read_by_name_of_parts_alone():
    env = Environment("StepClimb", observation="dict")
    with pytest.raises(InvalidValueError) as error:
        env.sensors.part({"height_scan": 0}, "velocity")
    assert str(error.value) == "observation must be by name, with velocity, got {'height_scan': 0}"


def test_a_term_of_complex_numbers_is_refused():
    env = Environment("StepClimb", terms={"own": Term(1.0, "nothing", lambda view: [1j])})
    env.reset(seed=0)
    with pytest.raises(InvalidValueError) as error:
        env.step(STILL)
    expected = "numbers of shape (1,), a row a robot"
    assert str(error.value) == f"reward term own must be {expected}, got complex128 of shape (1,)"
