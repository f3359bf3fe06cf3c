"""The reward's terms and weights, without an engine."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from env_views import view_at
from scipy.spatial.transform import Rotation

from segtrack.envs import TERMS, straight
from segtrack.envs.rewards import Reward, reward_table
from segtrack.errors import InvalidValueError, UnknownNameError

MANUAL = (Path(__file__).parents[2] / "docs" / "topics" / "environments.md").read_text(encoding="utf-8")
WAY = straight(0.0, 2.0)
WEIGHTS = {name: term.weight for name, term in TERMS.items()}


def moment(before=0.4, outcome="running", period=0.1, *, x=0.5, y=0.2, turning=(0, 0, 0), roll=0.0, yaw=0.0):
    """A control step after which a robot is at (x, y) of a way along +x; its drives gave 40 J."""
    return view_at(
        WAY,
        x,
        y,
        roll=roll,
        pitch=0.1,
        yaw=yaw,
        turning=turning,
        action=np.array([[1.0, -1.0, 0.5, 0.0]]),
        last_action=np.array([[0.0, -1.0, 0.5, 1.0]]),
        work=np.array([40.0]),
        gained=np.array([x - before]),
        outcome=np.array([outcome]),
        period=period,
    )


def terms_of(reward, view):
    """Terms of the only robot of a view."""
    return {name: value.item() for name, value in reward.terms(view).items()}


def test_each_term_of_the_reward_is_what_the_table_says():
    where = {"period": 0.05, "turning": (0.6, 0.8, 5.0), "roll": 0.3, "yaw": math.pi / 2}
    reward = Reward({"lateral": 2.0, "tilt": 0.25}, {"tilt": 3.0, "energy": 1.0})
    assert reward.weights == {**WEIGHTS, "lateral": 2.0, "tilt": 3.0, "energy": 1.0}
    expected = {
        "progress": 5.0 * 0.1,
        "success": 10.0,
        "failure": 0.0,
        "time": -0.2 * 0.05,
        "lateral": -2.0 * 0.2 * 0.05,
        "heading": -0.2 * math.pi / 2 * 0.05,
        "tilt": -3.0 * 0.09 * 0.05,
        # Heading along the world's y, the body's y axis is the world's -x.
        "shock": -0.02 * 0.36 * 0.05,
        "energy": -1.0 * 0.04,
        "smoothness": -0.01 * 0.5,
    }
    assert terms_of(reward, moment(0.4, "success", **where)) == pytest.approx(expected)
    for outcome in ("tip_over", "fallen", "off_course"):
        failed = terms_of(reward, moment(0.4, outcome, **where))
        assert (failed["success"], failed["failure"]) == (0.0, -5.0)
    for outcome in ("running", "timeout"):
        going = terms_of(reward, moment(0.4, outcome, **where))
        assert (going["success"], going["failure"]) == (0.0, 0.0)


def test_the_default_weights_are_those_of_the_table():
    assert reward_table() in MANUAL
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \|", MANUAL, re.MULTILINE)
    assert {name: float(weight) for name, weight in rows if name in WEIGHTS} == WEIGHTS


def test_weights_of_a_task_for_terms_that_there_are_not_are_refused():
    with pytest.raises(UnknownNameError, match="^no reward term 'speed'; there are: progress, "):
        Reward({"speed": 1.0}, {})


@pytest.mark.parametrize("yaw", [-2.5, -0.7, 0.0, 0.4, 2.0])
def test_shock_is_turning_about_the_axis_across_the_heading(yaw):
    """Whatever turns a level robot about its own x and z axes is no shock."""
    heading = Rotation.from_euler("z", yaw)
    reward = Reward({}, {"shock": 1.0})
    for turning in ((0.0, 0.8, 0.0), (0.6, 0.8, -0.3), (0.6, -0.8, 0.3)):
        now = moment(turning=tuple(heading.apply(turning)), yaw=yaw)
        assert terms_of(reward, now)["shock"] == pytest.approx(-(0.8**2) * 0.1)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_what_is_on_the_left_costs_as_on_the_right(side):
    reward = Reward({}, dict.fromkeys(WEIGHTS, 1.0))
    terms = terms_of(reward, moment(0.5, y=0.3 * side, roll=0.2 * side, yaw=0.7 * side))
    costs = [terms[name] for name in ("progress", "lateral", "heading", "tilt")]
    assert costs == pytest.approx([0.0, -0.03, -0.07, -0.004])


def test_weights_that_cannot_be_are_refused():
    with pytest.raises(UnknownNameError) as error:
        Reward({}, {"progress": 1.0, "speed": 1.0})
    assert str(error.value) == f"no reward term 'speed'; there are: {', '.join(WEIGHTS)}"
    with pytest.raises(InvalidValueError) as error:
        Reward({}, {"time": math.nan})
    assert str(error.value) == "weight of reward term time must be a finite number, got nan"
    with pytest.raises(InvalidValueError, match="^reward must be weights by term, got "):
        Reward({}, ["time"])
