"""Endings of episodes: each bound from both sides, and the order of the checks where it matters."""

import math

import numpy as np
import pytest
from env_views import view_at
from scenes import environment

from segtrack import terrain
from segtrack.envs import OUTCOMES, EpisodeCourse, Task, straight
from segtrack.envs.task import Path
from segtrack.envs.tasks import StepClimb
from segtrack.errors import InvalidValueError

WAY = straight(0.0, 2.0)
STILL = np.zeros(4, np.float32)


def standing(x=0.5, y=0.0, z=0.1, roll_deg=0.0, pitch_deg=0.0):
    """A robot at rest somewhere on a straight way of 2 m."""
    return view_at(WAY, x, y, z, math.radians(roll_deg), math.radians(pitch_deg))


@pytest.mark.parametrize(
    "place, outcome",
    [
        ({"x": 1.9999}, "running"),
        ({"x": 2.0}, "success"),
        ({"x": 2.5}, "success"),
        ({"z": -0.0499}, "running"),
        ({"z": -0.0501}, "fallen"),
        ({"y": 0.499}, "running"),
        ({"y": 0.501}, "off_course"),
        ({"y": -0.499}, "running"),
        ({"y": -0.501}, "off_course"),
        ({"roll_deg": 79.9}, "running"),
        ({"roll_deg": 80.1}, "tip_over"),
        ({"pitch_deg": -79.9}, "running"),
        ({"pitch_deg": -80.1}, "tip_over"),
        # At the end of the way only who stands upright has arrived; the others may still fall over.
        ({"x": 2.0, "roll_deg": 34.9}, "success"),
        ({"x": 2.0, "roll_deg": 35.1}, "running"),
        ({"x": 2.0, "pitch_deg": 34.9}, "success"),
        ({"x": 2.0, "pitch_deg": -35.1}, "running"),
        ({"x": 2.0, "roll_deg": 30.0, "pitch_deg": 30.0}, "running"),
    ],
)
def test_each_bound_counts_on_both_of_its_sides(place, outcome):
    assert StepClimb().outcome(standing(**place)).tolist() == [outcome]


@pytest.mark.parametrize(
    "place, outcome",
    [
        ({"x": 2.0, "roll_deg": 90.0}, "tip_over"),
        ({"z": -0.1, "roll_deg": 90.0}, "tip_over"),
        ({"y": 0.6, "roll_deg": 90.0}, "tip_over"),
        ({"x": 2.0, "z": -0.1}, "fallen"),
        ({"y": 0.6, "z": -0.1}, "fallen"),
        ({"x": 2.0, "y": 0.6}, "off_course"),
    ],
)
def test_of_two_endings_at_once_the_failure_counts(place, outcome):
    assert StepClimb().outcome(standing(**place)).tolist() == [outcome]


class Ends(StepClimb):
    """An episode that ends after its second step, however the test says."""

    end = "success"

    def outcome(self, view):
        return np.where(view.action[:, 0] == 1.0, self.end, "running")


class EndsOnce(StepClimb):
    """An outcome as if there were one robot only."""

    def outcome(self, view):
        return "success" if view.action[0, 0] == 1.0 else "running"


def test_an_outcome_that_is_not_one_for_each_robot_is_refused():
    with environment(EndsOnce(), engine="native") as env:
        env.reset(seed=0)
        with pytest.raises(InvalidValueError) as error:
            env.step(STILL)
    assert str(error.value) == "outcome of StepClimb must be words of shape (1,), got <U7 of shape ()"


@pytest.mark.parametrize("end", ["success", "tip_over", "fallen", "off_course"])
def test_a_robots_own_ending_counts_at_the_end_of_the_time(end):
    last = np.array([1.0, 0.0, 0.0, 0.0], np.float32)
    task = Ends()
    task.end = end
    with environment(task, engine="native", time_limit=0.1) as env:
        env.reset(seed=0)
        *_, terminated, truncated, info = env.step(STILL)
        assert (terminated, truncated, OUTCOMES[info["outcome"]]) == (False, False, "running")
        *_, terminated, truncated, info = env.step(last)
        assert (terminated, truncated, OUTCOMES[info["outcome"]]) == (True, True, end)
        assert info["success"] == (end == "success")
        env.reset(seed=0)
        env.step(STILL)
        *_, terminated, truncated, info = env.step(STILL)
        assert (terminated, truncated, OUTCOMES[info["outcome"]]) == (False, True, "timeout")
        assert not info["success"]


class Heads(StepClimb):
    """A way over flat ground in a direction that the test says."""

    heading = 0.0

    def course(self, values, reach, rng):
        end = 2.0 * np.array((math.cos(self.heading), math.sin(self.heading)))
        return EpisodeCourse(terrain.Plane(), Path(np.array([np.zeros(2), end])))


def test_the_angle_to_the_path_is_the_shorter_way_round():
    """Between the two directions, by their cross and scalar product; left positive."""
    task = Heads()
    with environment(task, engine="native") as env:
        for task.heading in (-3.0, -1.0, 0.5, 3.1):
            for yaw in (-3.1, -0.4, 1.0, 3.0):
                env.reset(seed=0, options={"initial_yaw": yaw})
                body, path = (np.array((math.cos(a), math.sin(a))) for a in (yaw, task.heading))
                angle = math.atan2(body[0] * path[1] - body[1] * path[0], body @ path)
                assert env.task_state.heading_error == pytest.approx(angle, abs=1e-6)


def test_the_time_step_is_cut_to_whole_ones_in_a_control_step():
    with environment(engine="native") as env:
        assert env.time_step == 0.001
    with environment(engine="native", time_step=0.0008) as env:
        assert env.time_step == pytest.approx(0.05 / 63)
        env.reset(seed=0)
        env.step(STILL)
        assert env._episode_world.world.time == pytest.approx(0.05)
    for step in (0.0, -0.001, math.nan):
        with pytest.raises(InvalidValueError, match="^time_step "):
            with environment(engine="native", time_step=step):
                pass


class Nameless(Task):
    """A task that lacks what every task has."""

    def course(self, values, reach, rng):
        return EpisodeCourse(terrain.Plane(), WAY)


def test_a_task_without_parameters_or_name_is_refused():
    with pytest.raises(InvalidValueError) as error, environment(Nameless(), engine="native"):
        pass
    expected = "one with the class attributes name and parameters, got no name and no parameters"
    assert str(error.value) == f"task Nameless must be {expected}"
