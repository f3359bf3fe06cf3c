"""Mistakes in tasks of one's own: one clear error for each, single and in vectors."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from tables import each_row

from segtrack.envs import TASK_ID, Environment, EpisodeCourse, Number, Task, VectorEnvironment, straight
from segtrack.envs.task import Path
from segtrack.envs.tasks import Traverse
from segtrack.errors import InvalidValueError
from segtrack.terrain import Plane, Step

LENGTH = Number(2.0, 1.0, 5.0, "m", "length of the way")
LIBRARY = tuple(EpisodeCourse(Plane(), straight(0.0, end), i) for i, end in enumerate((2.0, 3.0)))


class Way(Task):
    """A way over flat ground, or what a test makes of it."""

    name = "Way"
    parameters = {"length": LENGTH}

    def __init__(self, course=None, library=(), **attributes):
        self.own, self.made = course or (lambda: EpisodeCourse(Plane(), straight(0.0, 2.0))), library
        vars(self).update(attributes)

    def course(self, values, reach, rng):
        return self.own()

    def library(self, reach):
        return self.made


def in_library(index, end=2.0, ground=None):
    """Way with a library, of which it gives a course that may be another one."""
    course = EpisodeCourse(ground or Plane(), straight(0.0, end), index)
    return {"course": lambda: course, "library": LIBRARY}


PLACE = "index of a course of Way must be a whole number from 0 to 1 in its library, got "
OTHER = "course of Way with index 1 must be that of its library, got another one"
NONE = EpisodeCourse(Plane(), straight(0.0, 2.0), 1)


@each_row("make", [Environment, lambda task: VectorEnvironment(task, 2, threads=1)])
@each_row(
    "given, message",
    [
        (in_library(2), f"{PLACE}2"),
        (in_library(-1), f"{PLACE}-1"),
        (in_library(None), f"{PLACE}None"),
        (in_library("one"), f"{PLACE}'one'"),
        (in_library(True, 3.0), f"{PLACE}True"),
        (in_library(1), OTHER),
        (in_library(1, 3.0, Step(height=0.1, distance=0.5)), OTHER),
        ({"course": lambda: NONE},
         "index of a course of Way must be None for a task without a library, got 1"),
        ({"library": None}, "library of Way must be a sequence of EpisodeCourses, got None"),
        ({"library": [1]}, "library of Way must be a sequence of EpisodeCourses, got [1]"),
        ({"course": lambda: "straight on"}, "course of Way must be an EpisodeCourse, got 'straight on'"),
        ({"course": lambda: EpisodeCourse(None, straight(0.0, 1.0))},
         "terrain of an EpisodeCourse must be a Terrain, got None"),
        ({"course": lambda: EpisodeCourse(Plane(), [(0, 0), (1, 0)])},
         "path of an EpisodeCourse must be a Path, got [(0, 0), (1, 0)]"),
        ({"parameters": ["length"]},
         "parameters of Way must be a Number or WordChoice by name, got ['length']"),
        ({"parameters": {"length": 2.0}}, "parameter length of Way must be a Number or WordChoice, got 2.0"),
        ({"parameters": {"length": LENGTH, "mass": LENGTH}},
         "parameter of Way must be named otherwise than one that every task has, got 'mass'"),
        ({"weights": None}, "weights of the task must be weights by term, got None"),
        ({"time_limit": "long"}, "time_limit [s] must be a finite number, got 'long'"),
    ],
)  # fmt: skip
def test_a_task_that_cannot_be_is_refused(make, given, message):
    with pytest.raises(InvalidValueError) as error:
        make(Way(**given)).reset(seed=0)
    assert str(error.value) == message


def test_a_task_is_asked_for_where_none_is_given():
    for make in (gymnasium.make, lambda name: gymnasium.make_vec(name, num_envs=2)):
        with pytest.raises(InvalidValueError) as error:
            make(TASK_ID)
        assert str(error.value) == "task must be a task's name, or a Task, got None"


def test_a_time_step_that_is_too_long_is_refused_as_it_was_given():
    with pytest.raises(InvalidValueError) as error:
        VectorEnvironment("StepClimb", 2, time_step=0.02)
    assert str(error.value) == "time_step [s] must be at most 0.01, got 0.02"


def test_a_library_may_be_made_anew_each_time():
    def made():
        return [EpisodeCourse(Step(height=0.1, distance=0.5), Path(np.array(LIBRARY[0].path.points)), 0)]

    task = Way(lambda: made()[0])
    task.library = lambda reach: made()
    env = VectorEnvironment(task, 2, threads=1, time_step=0.004)
    env.reset(seed=0)
    assert env.batch.terrain_index.tolist() == [0, 0]
    env.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_with_its_library(copied):
    env = Environment(Traverse(variants=1), kind="step", time_step=0.004)
    env.reset(seed=0)
    other = copied(env)
    for each in (env, other):
        each.said = each.reset(seed=1)[0]
    np.testing.assert_array_equal(env.said, other.said)
    env.close(), other.close()
