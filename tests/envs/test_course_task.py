"""Tasks on courses by name, and tasks of a user's own in gymnasium."""

import math
import pickle

import gymnasium
import numpy as np
import pytest
from scenes import environment

from segtrack.courses import bundled_courses, find_course, load_course
from segtrack.envs import (
    OUTCOMES,
    TASK_ID,
    CourseTask,
    Environment,
    EpisodeCourse,
    Number,
    Task,
    VectorEnvironment,
    straight,
)
from segtrack.errors import CourseFileError, InvalidValueError, UnknownNameError
from segtrack.terrain import PatternedStepField

MIXED = ("pipe-hurdles", "sand-bed")
"""Courses with ground of several kinds."""


@pytest.mark.parametrize("name", [name for name in bundled_courses() if name not in MIXED])
def test_a_task_has_the_ground_of_its_course_with_x_forward_from_the_start(name):
    course, task = load_course(name), CourseTask(name)
    setting = {} if course.setting is None else {"setting": course.setting.value}
    way = task.course(setting, 0.5, np.random.default_rng(0))
    turn = complex(math.cos(course.start.yaw), math.sin(course.start.yaw))
    places = [complex(course.start.x, course.start.y), *(complex(gate.x, gate.y) for gate in course.gates)]
    for point, place in zip(way.path.points, places, strict=False):
        assert complex(*point) * turn + places[0] == pytest.approx(place)
    assert len(way.path.points) >= 2 and np.diff(np.linalg.norm(way.path.points, axis=1)).min() > 0
    there = np.random.default_rng(1).uniform(-1.0, 4.0, (200, 2)) @ np.array([1.0, 1j])
    world = there * turn + places[0]
    expected = np.max([ground.height_at(world.real, world.imag) for ground in course.terrains], axis=0)
    np.testing.assert_allclose(way.terrain.height_at(there.real, there.imag), expected, atol=1e-9)


def test_settings_are_the_difficulty_and_ranges_draw_what_is_offered():
    task = CourseTask("okada-step")
    assert (task.difficulty, task.levels) == ("setting", (0.12, 0.16, 0.20, 0.24, 0.28))
    with environment("course:okada-step", setting=(0.15, 0.25), time_step=0.004) as env:
        drawn = {env.reset(seed=seed)[1]["parameters"]["setting"] for seed in range(20)}
        assert drawn == {0.16, 0.20, 0.24}
        env.reset(options={"setting": 0.137})
        assert env.task_state.course.terrain.height_at(1.5) == pytest.approx(0.137)
        for given, message in (
            ((0.13, 0.15), "setting [m] must be a range with one of 0.12, 0.16, 0.2, 0.24, 0.28, got (0.13"),
            (0.5, "setting [m] must be from 0.12 to 0.28, got 0.5"),
        ):
            with pytest.raises(InvalidValueError) as error:
                env.reset(options={"setting": given})
            assert str(error.value).startswith(message)


def test_a_vector_environment_of_a_course_is_as_single_ones(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(find_course("stairs-40").read_text(encoding="utf-8"), encoding="utf-8")
    given = {"task": f"course:{file}", "setting": (2, 5), "time_step": 0.004}
    envs = gymnasium.make_vec(TASK_ID, num_envs=3, **given)
    alone = [gymnasium.make(TASK_ID, **given) for _ in range(3)]
    seen, infos = envs.reset(seed=2)
    for i, env in enumerate(alone):
        observation, info = env.reset(seed=2 + i)
        np.testing.assert_allclose(seen[i], observation, atol=1e-6)
        assert info["parameters"]["setting"] == infos["parameters"]["setting"][i]
    seen, rewards, *_ = envs.step(np.ones((3, 4), np.float32))
    for i, env in enumerate(alone):
        observation, reward, *_ = env.step(np.ones(4, np.float32))
        np.testing.assert_allclose(seen[i], observation, atol=1e-6)
        assert reward == pytest.approx(rewards[i], abs=1e-6)
        env.close()
    envs.close()


@pytest.mark.parametrize(
    "engine", ["native", pytest.param("pybullet", marks=[pytest.mark.pybullet, pytest.mark.slow])]
)
def test_a_course_is_driven_to_its_end(engine):
    with environment("course:hurdles", engine=engine, initial_x=0.2, belt_speed=0.5) as env:
        env.reset(seed=0, options={"setting": 0.05})
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(np.array([1.0, 1.0, 0.4, 0.4], np.float32))
            over = terminated or truncated
        assert OUTCOMES[info["outcome"]] == "success"
        assert env.task_state.state.position[0] == pytest.approx(2.5, abs=0.03)


def test_an_environment_of_a_course_can_be_pickled():
    with environment("course:stairs", time_step=0.004) as env:
        env.reset(seed=0)
        other = pickle.loads(pickle.dumps(env))
        action = np.ones(4, np.float32)
        np.testing.assert_array_equal(env.step(action)[0], other.step(action)[0])


def test_courses_that_there_are_not_or_that_are_no_task_are_refused(tmp_path):
    for make in (Environment, VectorEnvironment):
        with pytest.raises(UnknownNameError, match="^no course 'stiars'; there are: confined-space, "):
            make("course:stiars")
        for name in MIXED:
            with pytest.raises(InvalidValueError) as error:
                make(f"course:{name}")
            expected = f"ground of course {name} must be of one friction and one soil for a task, got 2 kinds"
            assert str(error.value) == expected
    (tmp_path / "bad.yaml").write_text("title: Nothing\n", encoding="utf-8")
    with pytest.raises(CourseFileError):
        Environment(f"course:{tmp_path / 'bad.yaml'}")


class Hill(Task):
    """Cross a step field that rises to its middle."""

    name = "Hill"
    parameters = {"unit": Number(0.05, 0.02, 0.15, "m", "height of a unit")}

    def course(self, values, reach, rng):
        field = PatternedStepField(pattern="hill", unit=values["unit"], rows=12, distance=0.0)
        return EpisodeCourse(field, straight(-0.3 - reach, field.extent + 0.6))


def test_a_task_of_ones_own_needs_a_name_parameters_and_a_course():
    envs = gymnasium.make_vec(TASK_ID, num_envs=2, task=Hill(), unit=(0.03, 0.1), time_step=0.004)
    env = gymnasium.make(TASK_ID, task=Hill(), unit=(0.03, 0.1), time_step=0.004)
    seen, infos = envs.reset(seed=3)
    observation, info = env.reset(seed=3)
    np.testing.assert_allclose(seen[0], observation, atol=1e-6)
    assert info["parameters"]["unit"] == infos["parameters"]["unit"][0]
    env.close(), envs.close()
