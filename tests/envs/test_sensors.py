"""Observation groups, their history, and noise, bias and delay of parts, each with its closed form."""

import copy
import math
import pickle

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy import stats

from segtrack.envs import (
    PARTS,
    TASKS,
    Environment,
    Group,
    Scan,
    SensorModel,
    VectorEnvironment,
    parameter_part,
)
from segtrack.errors import InvalidValueError, UnknownNameError

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 4)).astype(np.float32)
GIVEN = {"time_step": 0.004}
CRITIC = Group(parts={"physics": parameter_part("friction", "mass")}, clean=True)


def follow(steps=8, seed=0, **given):
    """Observations of an episode, the first included."""
    with Environment("StepClimb", **GIVEN, **given) as env:
        seen = [env.reset(seed=seed)[0]]
        seen += [env.step(action)[0] for action in ACTIONS[:steps]]
    return seen


def test_the_critic_sees_what_the_policy_sees_without_noise_and_what_a_robot_does_not_know():
    drawn = {"friction": (0.4, 0.8), "mass": 1.2}
    clean = follow(**drawn)
    seen = follow(groups={"policy": Group(), "critic": CRITIC}, sensor_noise=0.01, **drawn)
    with Environment("StepClimb", **GIVEN, groups={"critic": CRITIC}, **drawn) as env:
        parameters = env.reset(seed=0)[1]["parameters"]
        assert env.sensors.entries[-2:] == ("physics.friction", "physics.mass")
    privileged = np.array([parameters["friction"], 1.2], np.float32)
    for frame, bare in zip(seen, clean, strict=True):
        assert sorted(frame) == ["critic", "policy"]
        np.testing.assert_array_equal(frame["critic"], [*bare, *privileged])
        assert frame["policy"].shape == bare.shape and (frame["policy"] != bare).sum() > 60


def test_spaces_of_groups_hold_their_observations():
    for kind in ("flat", "dict"):
        given = {"observation": kind, "scan": Scan(as_map=kind == "dict"), **GIVEN}
        groups = {"policy": Group(history=3, parts={"velocity": None}), "critic": CRITIC}
        with Environment("StepClimb", groups=groups, **given) as env:
            check_env(env, skip_render_check=True)
            seen, _ = env.reset(seed=0)
            flat = env.sensors.flat(seen)
            assert len(env.sensors.entries) == len(flat) == 3 * 80
            assert env.sensors.limits[0].shape == flat.shape
            angles = env.sensors.part(seen, "flipper_angle")
            assert angles.shape == (4,)
            np.testing.assert_array_equal(
                flat[[e == "flipper_angle.rear_left" for e in env.sensors.entries]], angles[2]
            )
        assert (
            (seen["critic"]["height_scan"].shape == (18, 3)) if kind == "dict" else len(seen["critic"]) == 85
        )


def test_history_is_the_latest_observations_with_the_newest_last():
    single = follow(sensor_noise=0.01)
    stacked = follow(groups={"policy": Group(history=3)}, sensor_noise=0.01)
    for k, each in enumerate(stacked):
        expected = [single[max(k - back, 0)] for back in (2, 1, 0)]
        np.testing.assert_array_equal(each["policy"], np.concatenate(expected))


def test_a_map_of_heights_has_rows_along_x_and_columns_across():
    scan = Scan(rows=5, columns=4)
    flat = follow(1, scan=scan, initial_yaw=0.3)
    maps = follow(1, scan=Scan(rows=5, columns=4, as_map=True), observation="dict", initial_yaw=0.3)
    for one, other in zip(flat, maps, strict=True):
        np.testing.assert_array_equal(other["height_scan"].ravel(), one[:20])
        assert other["height_scan"].shape == (5, 4)


def errors_of(model, episodes, steps=0, part="attitude"):
    """Errors (episodes, steps + 1, entries) of a part, and those of another part in the same episodes."""
    groups = {"policy": Group(), "critic": Group(clean=True)}
    models = {part: model}
    errors, others = [], []
    with Environment("StepClimb", observation="dict", groups=groups, sensor_models=models, **GIVEN) as env:
        for seed in range(episodes):
            seen = [env.reset(seed=seed)[0], *(env.step(action)[0] for action in ACTIONS[:steps])]
            errors.append([each["policy"][part].astype(float) - each["critic"][part] for each in seen])
            others += [(each["policy"]["velocity"] - each["critic"]["velocity"]) for each in seen]
    return np.array(errors), np.array(others)


def test_noise_of_a_part_has_its_standard_deviation_and_is_new_in_each_step():
    errors, others = errors_of(SensorModel(noise=0.05), 60, 4)
    assert not others.any()
    assert stats.kstest(errors.ravel(), stats.norm(0.0, 0.05).cdf).pvalue > 1e-3
    after = stats.pearsonr(errors[:, 1:].ravel(), errors[:, :-1].ravel())
    assert after.pvalue > 1e-3


def test_noise_of_a_part_and_that_of_all_add_up_as_variances():
    with Environment(
        "StepClimb", sensor_noise=0.03, sensor_models={"attitude": SensorModel(noise=0.04 * math.pi)}
    ) as env:
        seen = np.array([env.sensors.part(env.reset(seed=k)[0], "attitude")[0] for k in range(200)])
    assert seen.std() == pytest.approx(0.05 * math.pi, rel=5 / math.sqrt(400))


def test_a_bias_is_drawn_for_each_entry_and_stays_for_an_episode():
    errors, others = errors_of(SensorModel(bias=(-0.1, 0.3)), 80, 2)
    assert not others.any()
    assert np.abs(errors - errors[:, :1]).max() < 1e-6
    assert stats.kstest(errors[:, 0].ravel(), stats.uniform(-0.1, 0.4).cdf).pvalue > 1e-3
    assert stats.pearsonr(*errors[:, 0].T).pvalue > 1e-3


@pytest.mark.parametrize("delay", [1, 3])
def test_a_part_that_comes_late_shows_what_was_as_many_steps_before(delay):
    on_time, late = follow(), follow(sensor_models={"flipper_angle": SensorModel(delay=delay)})
    where = slice(66, 70)
    for k, each in enumerate(late):
        np.testing.assert_array_equal(each[where], on_time[max(k - delay, 0)][where])
        np.testing.assert_array_equal(np.delete(each, where), np.delete(on_time[k], where))
    assert len({tuple(each[where]) for each in late}) == len(late) - delay


def test_delays_are_drawn_for_episodes_from_their_range():
    model = {"flipper_angle": SensorModel(delay=(0, 2))}
    on_time, met = follow(3), []
    with Environment("StepClimb", sensor_models=model, **GIVEN) as env:
        for seed in range(40):
            env.reset(seed=seed)
            last = [env.step(action)[0] for action in ACTIONS[:3]][-1][66:70]
            met.append(next(d for d in range(3) if np.array_equal(last, on_time[3 - d][66:70])))
    counts = np.bincount(met, minlength=3)
    assert counts.sum() == 40 and stats.chisquare(counts).pvalue > 1e-3


class Sensing(TASKS["StepClimb"]):
    """A task with groups and sensors of its own."""

    name = "Sensing"
    groups = {"policy": Group(), "critic": CRITIC}
    sensor_models = {"velocity": SensorModel(noise=0.1)}


def test_a_task_brings_groups_and_sensors_which_a_user_may_leave_out():
    with Environment(Sensing(), **GIVEN) as env:
        seen, _ = env.reset(seed=0)
        assert list(seen) == ["policy", "critic"]
        assert (env.sensors.part(seen, "velocity") != seen["critic"][58:61]).all()
    without = {"groups": {"policy": None, "critic": None}, "sensor_models": {"velocity": None}}
    with Environment(Sensing(), **GIVEN, **without) as env:
        np.testing.assert_array_equal(env.reset(seed=0)[0], follow(0)[0])


def test_words_are_privileged_entries_of_one_for_that_which_holds():
    part = parameter_part("kind", "roughness")
    with Environment("RoughTerrain", kind="waves", parts={"ground": part}, **GIVEN) as env:
        seen = env.sensors.part(env.reset(seed=0)[0], "ground")
        assert env.sensors.entries[-5:-1] == tuple(
            f"ground.kind={kind}" for kind in ("boxes", "step_field", "waves", "rails")
        )
    np.testing.assert_array_equal(seen, np.array([0, 0, 1, 0, 0.1], np.float32))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_perceive_as_the_first_does(copied):
    given = {"groups": {"policy": Group(history=2), "critic": CRITIC}, **GIVEN}
    given["sensor_models"] = {"velocity": SensorModel(noise=0.1, bias=(-0.1, 0.1), delay=2)}
    for make in (Environment, lambda *task, **own: VectorEnvironment(*task, 1, **own)):
        env = make("StepClimb", **given)
        env.reset(seed=0)
        env.step(np.broadcast_to(ACTIONS[0], env.action_space.shape))
        other = copied(env)
        for action in ACTIONS[1:4]:
            action = np.broadcast_to(action, env.action_space.shape)
            (seen, *_), (again, *_) = env.step(action), other.step(action)
            for group in seen:
                np.testing.assert_array_equal(seen[group], again[group])
        env.close(), other.close()


@pytest.mark.parametrize(
    "given, kind, message",
    [
        (
            {"groups": {"policy": 1}},
            InvalidValueError,
            "observation group policy must be of class Group, or None",
        ),
        ({"groups": {"policy": None}}, UnknownNameError, "no observation group 'policy'"),
        (
            {"groups": {"policy": Group(parts={"speed": None})}},
            UnknownNameError,
            "no observation part 'speed'",
        ),
        ({"sensor_models": {"speed": SensorModel()}}, UnknownNameError, "no observation part 'speed'"),
        (
            {"sensor_models": {"velocity": 0.1}},
            InvalidValueError,
            "sensor model velocity must be of class Sens",
        ),
        (
            {"parts": {"a": parameter_part("hight")}},
            UnknownNameError,
            "no parameter 'hight'; there are: height",
        ),
        ({"scan": Scan(as_map=True)}, InvalidValueError, "scan.as_map must be False without observation"),
        (
            {"parts": {"a": PARTS["velocity"]._replace(shape=lambda setup: (2, 2))}},
            InvalidValueError,
            "shape of observation part a must be of 3 entries, got (2, 2)",
        ),
    ],
)
def test_what_cannot_be_perceived_is_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Environment("StepClimb", **given)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Group(history=0), "history of a Group must be a whole number from 1, got 0"),
        (lambda: Group(clean=1), "clean of a Group must be True or False, got 1"),
        (lambda: SensorModel(noise=-0.1), "noise of a SensorModel must be from 0 to inf, got -0.1"),
        (lambda: SensorModel(bias=math.nan), "bias of a SensorModel must be a finite number, got nan"),
        (lambda: SensorModel(delay=0.5), "delay of a SensorModel must be a whole number, got 0.5"),
        (lambda: Scan(as_map=3), "scan.as_map must be True or False, got 3"),
    ],
)
def test_groups_and_sensors_that_cannot_be_are_refused(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message
