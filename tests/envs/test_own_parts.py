"""Parts of observations and terms of rewards of a user's own, or of a task's, single and in vectors."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from env_views import view_at
from scenes import environment
from tables import each_row

import segtrack.envs
from segtrack.envs import PARTS, TASKS, TERMS, Environment, ObservationPart, Term, VectorEnvironment, straight
from segtrack.envs.rewards import Reward
from segtrack.errors import InvalidValueError, UnknownNameError

FORWARD = np.array([1.0, 0.8, 0.3, -0.2], np.float32)


def read_height(view, setup):
    return view.motion.position[:, 2:]


HEIGHT = ObservationPart("m", "world", ("z",), [(-1.0, 0.5)], read_height, measured=False)
RAISED = Term(0.5, "(height of the body frame [m]) a second", lambda s: s.motion.position[:, 2] * s.period)
FLIPPERS = Term(0.1, "", lambda view: -np.mean(view.motion.flipper_speeds**2, axis=1) * view.period)
OWN = {"parts": {"height": HEIGHT, "velocity": None}, "terms": {"raised": RAISED, "time": None}}


def assert_own(env, observation, reward_terms, height):
    """What `OWN` says of one robot at a height [m]."""
    assert env.sensors.part(observation, "height") == pytest.approx([height], abs=1e-6)
    others = [name for name in PARTS if name != "velocity" and not name.startswith("joint_")]
    assert [part.name for part in env.sensors.parts] == [*others, "height"]
    assert list(reward_terms) == [name for name in TERMS if name != "time"] + ["raised"]
    assert reward_terms["raised"] == pytest.approx(0.5 * height * env.control_period)


def test_own_parts_and_terms_stand_behind_those_that_are_built_in():
    with environment(**OWN, sensor_noise=0.1) as env:
        env.reset(seed=0)
        observation, reward, *_, info = env.step(FORWARD)
        assert env.observation_space.shape == (83 - 3 + 1,)
        assert env.observation_space.high[-1] == 0.5
        assert "| height | z | m | -1 to 0.5 | world |" in env.sensors.table()
        assert_own(env, observation, info["reward_terms"], env.task_state.state.position[2])
        assert reward == pytest.approx(sum(info["reward_terms"].values()))
        far = view_at(straight(0.0, 2.0), 0.0, 0.0, 0.7).motion.position
        far = env.view._replace(motion=env.view.motion._replace(position=far))
        assert env.sensors.clip(env.sensors.read(far))[0, -1] == 0.5
    with environment() as env:  # The others have what they had.
        assert env.observation_space.shape == (83,)
        assert list(env.reward.weights) == list(TERMS)


def test_a_vector_environment_has_them_as_the_single_one():
    envs = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=2, time_step=0.004, **OWN)
    alone = gymnasium.make("segtrack/StepClimb-v0", time_step=0.004, **OWN)
    seen, first = envs.reset(seed=4)[0], alone.reset(seed=4)[0]
    np.testing.assert_allclose(seen[0], first, atol=1e-6)
    for _ in range(2):
        seen, rewards, *_, infos = envs.step(np.stack([FORWARD, -FORWARD]))
        observation, reward, *_, info = alone.step(FORWARD)
    assert envs.single_observation_space == alone.observation_space
    np.testing.assert_allclose(seen[0], observation, atol=1e-6)
    assert rewards[0] == pytest.approx(reward, abs=1e-6)
    terms = {n: v[0] for n, v in infos["reward_terms"].items() if not n.startswith("_")}
    assert terms == pytest.approx(info["reward_terms"], abs=1e-6)
    assert_own(envs.unwrapped, seen[0], terms, envs.unwrapped.view.motion.position[0, 2])
    envs.close(), alone.close()


class Tall(TASKS["StepClimb"]):
    """A task with a part and a term of its own."""

    name = "Tall"
    parts = {"height": HEIGHT}
    terms = {"raised": RAISED}
    weights = {"raised": 2.0}


def test_a_task_brings_parts_and_terms_which_a_user_may_leave_out():
    with environment(Tall()) as env:
        assert env.sensors.entries[-1] == "height.z"
        assert env.reward.weights["raised"] == 2.0
    with environment(Tall(), parts={"height": None}, terms={"raised": None}) as env:
        assert env.sensors.entries[-1] == "path_error.heading"
        assert "raised" not in env.reward.weights
    assert Reward({}, {"raised": 3.0}, Tall.terms).weights["raised"] == 3.0


def test_one_in_the_place_of_another_stands_where_that_stood():
    grown = TERMS["progress"]._replace(value=lambda view: 2 * view.gained)
    moved = PARTS["velocity"]._replace(read=lambda view, setup: view.motion.velocity)
    with environment(parts={"velocity": moved}, terms={"progress": grown}) as env, environment() as other:
        assert env.sensors.entries == other.sensors.entries
        for each in (env, other):
            each.reset(seed=0, options={"initial_yaw": 1.0})
            observation, *_, info = each.step(FORWARD)
            each.said = each.sensors.part(observation, "velocity"), info["reward_terms"]["progress"]
        np.testing.assert_allclose(env.said[0], env.view.motion.velocity[0], atol=1e-6)
        assert env.said[1] == 2 * other.said[1] != 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_have_them_where_they_can_be_pickled(copied):
    raised = RAISED._replace(value=mean_height)
    for make in (Environment, lambda *task, **own: VectorEnvironment(*task, 1, **own)):
        env = make("StepClimb", parts={"height": HEIGHT}, terms={"raised": raised})
        env.reset(seed=0)
        other, action = copied(env), np.broadcast_to(FORWARD, env.action_space.shape)
        (seen, reward, *_), (again, same, *_) = env.step(action), other.step(action)
        np.testing.assert_array_equal(seen, again)
        assert reward == same
        env.close(), other.close()


def mean_height(view):
    return view.motion.position[:, 2]


def test_the_tables_are_constants():
    for table, row in ((PARTS, HEIGHT), (TERMS, RAISED)):
        with pytest.raises(TypeError):
            table["height"] = row


PART_NAMES, TERM_NAMES = ", ".join(PARTS), ", ".join(TERMS)


@each_row("make", [Environment, VectorEnvironment])
@each_row(
    "given, message",
    [
        ({"parts": {"speed": None}}, f"no observation part 'speed'; there are: {PART_NAMES}"),
        ({"terms": {"speed": None}}, f"no reward term 'speed'; there are: {TERM_NAMES}"),
        ({"terms": {"own": RAISED}, "reward": {"speed": 1.0}},
         f"no reward term 'speed'; there are: {TERM_NAMES}, own"),
        ({"terms": {"time": None}, "reward": {"time": 1.0}},
         "no reward term 'time'; there are: progress, success, failure, lateral, "),
        ({"parts": HEIGHT._fields}, "observation parts must be of class ObservationPart, by name, got ("),
        ({"parts": {"speed": abs}},
         "observation part speed must be of class ObservationPart, or None to leave it out, got <built-in"),
        ({"terms": {"speed": 1.0}},
         "reward term speed must be of class Term, or None to leave it out, got 1.0"),
        ({"terms": {"own": RAISED._replace(weight=np.nan)}},
         "weight of reward term own must be a finite number, got nan"),
        ({"parts": {"own": HEIGHT._replace(read=None)}},
         "read of observation part own must be a function, got None"),
        ({"terms": {"own": RAISED._replace(value=1.0)}},
         "value of reward term own must be a function, got 1.0"),
        ({"parts": {"own": HEIGHT._replace(labels="z")}},
         "labels of observation part own must be a word for each entry, got 'z'"),
        ({"parts": {"own": HEIGHT._replace(labels=("z", "z"), limits=1.0)}},
         "labels of observation part own must be a word for each entry, got ('z', 'z')"),
        ({"parts": {"own": HEIGHT._replace(labels=("y", "z"))}},
         "limits of observation part own must be a size, or (low, high) of each of 2 entries, got [("),
        ({"parts": {"own": HEIGHT._replace(limits=np.inf)}},
         "limits of observation part own must be a size, or (low, high) of each of 1 entries, got inf"),
        ({"parts": {"own": HEIGHT._replace(limits=[(1.0, 0.5)])}},
         "limits of observation part own must be a size, or (low, high) of each of 1 entries, got [("),
        ({"parts": dict.fromkeys(PARTS)}, "observation parts must be at least one with entries, got none"),
    ],
)  # fmt: skip
def test_what_is_no_part_or_term_is_refused_by_name(make, given, message):
    with pytest.raises((InvalidValueError, UnknownNameError)) as error:
        make("StepClimb", **given)
    assert str(error.value).startswith(message)


@each_row(
    "given, message",
    [
        ({"parts": {"own": HEIGHT._replace(read=lambda view, setup: view.yaw)}},
         "observation part own must be numbers of shape ({n}, 1), a row a robot, "
         "got float64 of shape ({n},)"),
        ({"parts": {"own": HEIGHT._replace(read=lambda view, setup: view.outcome[:, None])}},
         "observation part own must be numbers of shape ({n}, 1), a row a robot, got <U10 of shape ({n}, 1)"),
        ({"terms": {"own": FLIPPERS._replace(value=lambda view: -np.mean(view.motion.flipper_speeds**2))}},
         "reward term own must be numbers of shape ({n},), a row a robot, got float64 of shape ()"),
        ({"terms": {"own": FLIPPERS._replace(value=lambda view: None)}},
         "reward term own must be numbers of shape ({n},), a row a robot, got object of shape ()"),
    ],
)  # fmt: skip
@each_row("count", [None, 2])
def test_rows_of_another_shape_are_refused_by_name(given, message, count):
    env = (
        Environment("StepClimb", **given) if count is None else VectorEnvironment("StepClimb", count, **given)
    )
    with pytest.raises(InvalidValueError) as error:
        env.reset(seed=0)
        env.step(np.zeros(env.action_space.shape, np.float32))
    assert str(error.value) == message.replace("{n}", str(count or 1))
    env.close()


def spoilt(value, step):
    """Function of a view: a number that is wrong for the last robot after so many steps."""
    return lambda view: np.where(
        (view.parameter("height") == 0.3) & (np.abs(view.action).sum(axis=1) >= step), value, 0.5
    )


@pytest.mark.parametrize(
    "given, step, message",
    [
        (lambda wrong: {"parts": {"own": HEIGHT._replace(
            labels=("y", "z"), limits=1.0, read=lambda view, setup: np.array([view.yaw, wrong(view)]).T)}},
         0.0, "observation entry own.z{robot} must be a finite number, got nan"),
        (lambda wrong: {"parts": {"own": HEIGHT._replace(read=lambda view, setup: wrong(view)[:, None])}},
         0.1, "observation entry own.z{robot} must be a finite number, got nan"),
        (lambda wrong: {"terms": {"own": RAISED._replace(value=wrong)}, "reward": {"own": 0.0}},
         0.1, "reward term own{robot} must be a finite number, got nan"),
    ],
)  # fmt: skip
def test_no_number_is_refused_by_name_and_robot(given, step, message):
    own = given(spoilt(np.nan, step))
    several = VectorEnvironment("StepClimb", 3, autoreset_mode="Disabled", time_step=0.004, **own)
    alone = Environment("StepClimb", time_step=0.004, **own)
    for env, robot in ((alone, ""), (several, " of robot 2")):
        options, count = {"height": 0.3}, getattr(env, "num_envs", 1)
        with pytest.raises(InvalidValueError) as error:
            if count > 1:
                env.reset(options={"height": 0.1})
                options["reset_mask"] = np.arange(count) == count - 1
            env.reset(options=options)
            env.step(np.ones(env.action_space.shape, np.float32))
        assert str(error.value) == message.format(robot=robot)
        env.close()


@pytest.mark.parametrize(
    "own, message",
    [
        ({"parts": {"own": HEIGHT._replace(read=lambda view, setup: view.rol[:, None])}},
         "no attribute of TaskView 'rol'; there are: motion, roll, pitch, yaw, "),
        ({"terms": {"own": RAISED._replace(value=lambda view: view.motion.positon[:, 2])}},
         "no attribute of RobotMotions 'positon'; there are: position, orientation, "),
        ({"parts": {"own": HEIGHT._replace(read=lambda view, setup: setup.tracks)}},
         "no attribute of ObservationSetup 'tracks'; there are: vehicle, actions, scan, "),
    ],
)  # fmt: skip
def test_a_name_that_a_view_does_not_have_is_told_which_there_are(own, message):
    with environment(**own) as env, pytest.raises(UnknownNameError) as error:
        env.reset()
        env.step(FORWARD)
    assert str(error.value).startswith(message)


def test_a_view_has_no_more_than_it_says():
    with environment() as env:
        env.reset(seed=0)
        view = copy.deepcopy(env.view)
        assert not hasattr(view, "speed") and getattr(view.motion, "speed", None) is None
        with pytest.raises(UnknownNameError) as error:
            getattr(view, "speed")  # noqa: B009
        assert {*view._fields, "up", "forward", "in_body", "in_heading"} <= {*error.value.known}


def try_to_write(view):
    """Write to each array of a view, and return how many could be written."""
    written = 0
    for array in (*view.motion, *view):
        if isinstance(array, np.ndarray):
            try:
                array[...] = np.zeros_like(array)
            except ValueError:
                continue
            written += 1
    return written


class Meddling(TASKS["StepClimb"]):
    """A task that would change what it sees."""

    def outcome(self, view):
        assert try_to_write(view) == 0
        return super().outcome(view)


def test_functions_of_a_view_cannot_change_it():
    part = HEIGHT._replace(read=lambda view, setup: np.full((len(view.yaw), 1), float(try_to_write(view))))
    term = RAISED._replace(value=lambda view: np.full(len(view.yaw), float(try_to_write(view))))
    given = {"parts": {"own": part}, "terms": {"own": term}, "time_step": 0.004}
    for env in (Environment(Meddling(), **given), VectorEnvironment(Meddling(), 3, **given)):
        env.reset(seed=0)
        action = np.broadcast_to(FORWARD, env.action_space.shape).copy()
        observation, *_, info = env.step(action)
        if len(env.view.yaw) > 1:  # Those of some robots are put beside the others'.
            assert try_to_write(env.view) == 0
            observation, info = env.reset(options={"reset_mask": np.array([True, False, True])})
        assert np.asarray(observation)[..., -1].max() == 0.0 and try_to_write(env.view) == 0
        assert np.asarray(info["reward_terms"]["own"]).max() == 0.0
        env.step(action)
        env.close()


def test_infinity_is_clipped_in_an_observation_and_refused_in_a_reward():
    far = HEIGHT._replace(read=lambda view, setup: np.full((1, 1), np.inf))
    with environment(parts={"far": far}, terms={"own": RAISED._replace(value=spoilt(-np.inf, 0.0))}) as env:
        assert env.reset(options={"height": 0.3})[0][-1] == 0.5
        with pytest.raises(InvalidValueError) as error:
            env.step(FORWARD)
        assert str(error.value) == "reward term own must be a finite number, got -inf"


def test_what_is_exported_makes_parts_and_terms():
    assert segtrack.envs.ObservationPart is ObservationPart and segtrack.envs.Term is Term


def test_a_view_tells_the_parameters_of_each_episode():
    envs = VectorEnvironment("StairClimb", 3, direction=("up", "down"), riser=(0.1, 0.2), time_step=0.004)
    _, infos = envs.reset(seed=1)
    for name in ("riser", "direction", "stairs"):
        told = infos["parameters"][name].tolist()
        if name == "direction":
            told = [envs.parameters[name].options[code] for code in told]
        assert envs.view.parameter(name).tolist() == told
    with pytest.raises(UnknownNameError, match="^no parameter of StairClimb 'height'; there are: riser, "):
        envs.view.parameter("height")
    mask = np.array([False, True, False])
    _, infos = envs.reset(seed=7, options={"reset_mask": mask, "riser": 0.15})
    assert envs.view.parameter("riser")[1] == 0.15
    envs.close()
