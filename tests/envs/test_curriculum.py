"""Parameters that episodes draw, and the curriculum that makes them harder."""

import math
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from segtrack.envs import Curriculum, Number
from segtrack.envs.parameters import WordChoice, sample_values
from segtrack.errors import InvalidValueError, UnknownNameError

NAN, INF = math.nan, math.inf


# What is drawn.


def test_numbers_are_drawn_evenly_from_their_range():
    number, rng = Number(0.0, -1.0, 1.0, "m", "place"), np.random.default_rng(0)
    drawn = np.array([number.sample((-0.2, 0.6), rng) for _ in range(4000)])
    counts = np.histogram(drawn, bins=8, range=(-0.2, 0.6))[0]
    assert counts.sum() == 4000
    assert np.abs(counts - 500).max() < 5 * math.sqrt(500)


def test_whole_numbers_are_drawn_evenly_with_both_ends():
    number, rng = Number(4, 1, 12, "-", "count", whole=True), np.random.default_rng(0)
    drawn = [number.sample(number.check("count", (2, 5.0)), rng) for _ in range(4000)]
    assert {type(value) for value in drawn} == {int}
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [2, 3, 4, 5]
    assert np.abs(counts - 1000).max() < 5 * math.sqrt(1000)


def test_words_are_drawn_evenly():
    choice, rng = WordChoice(("a", "b", "c"), ("a", "b", "c", "d"), "which"), np.random.default_rng(0)
    words, counts = np.unique([choice.sample(choice.default, rng) for _ in range(3000)], return_counts=True)
    assert words.tolist() == ["a", "b", "c"]
    assert np.abs(counts - 1000).max() < 5 * math.sqrt(1000)


def test_what_is_fixed_is_not_drawn_and_what_is_drawn_repeats_with_its_seed():
    parameters = {
        "size": Number(0.5, 0.0, 1.0, "m", "size"),
        "place": Number(0.0, -1.0, 1.0, "m", "place"),
        "kind": WordChoice("a", ("a", "b"), "which"),
        "friction": Number(None, 0.0, 2.0, "-", "friction"),
    }
    drawn = [
        sample_values(parameters, {"place": (-1.0, 1.0), "kind": ("a", "b")}, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(values["size"] == 0.5 and values["friction"] is None for values in drawn)


# The curriculum.


class Fake(gymnasium.Env):
    """Episodes of one step, whose success a function of the difficulty tells."""

    observation_space = gymnasium.spaces.Box(0, 1)
    action_space = gymnasium.spaces.Box(0, 1)

    def __init__(self, succeeds):
        self.task = SimpleNamespace(difficulty="height", name="Fake")
        self.parameters = {
            "height": Number(0.2, 0.0, 1.0, "m", "height"),
            "kind": WordChoice("a", ("a", "b"), "which"),
        }
        self.succeeds, self.ranges = succeeds, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ranges.append(options["height"])
        self.drawn = sample_values(self.parameters, options, self.np_random)
        return np.zeros(1), {"parameters": self.drawn}

    def step(self, action):
        info = {"parameters": self.drawn, "success": self.succeeds(self.drawn["height"])}
        return np.zeros(1), 0.0, info["success"], not info["success"], info


def levels_over(succeeds, episodes, **given):
    fake = Fake(succeeds)
    env = Curriculum(fake, 0.1, 0.5, **{"step": 0.1, "window": 5, **given})
    levels = []
    env.reset(seed=0)
    for _ in range(episodes):
        *_, info = env.step(np.zeros(1))
        levels.append(info["level"])
        _, info = env.reset()
        assert info["level"] == levels[-1] == env.level
    return fake.ranges, levels


def test_a_curriculum_draws_in_turn_from_everything_and_from_the_hardest():
    ranges, levels = levels_over(lambda height: True, 60)
    for number, (low, high) in enumerate(ranges):
        level = levels[number - 1] if number else 0.2
        assert high == level
        assert low == (pytest.approx(level - 0.1) if number % 2 == 0 else 0.1)


def test_a_curriculum_rises_with_success_up_to_the_hardest():
    _, levels = levels_over(lambda height: True, 100)
    assert levels == sorted(levels)
    assert np.unique(levels) == pytest.approx([0.2, 0.3, 0.4, 0.5])
    assert levels[:4] == [0.2] * 4 and levels[4] == pytest.approx(0.3)  # five episodes are the window
    assert levels[-1] == 0.5


def test_a_curriculum_stays_where_there_is_too_little_success():
    assert set(levels_over(lambda height: False, 60)[1]) == {0.2}
    stuck = levels_over(lambda height: height < 0.3, 200)[1]
    assert max(stuck) == pytest.approx(0.4) or max(stuck) == pytest.approx(0.3)
    assert max(stuck) < 0.5


@pytest.mark.parametrize("threshold, window, needed", [(0.7, 10, 7), (0.6, 5, 3), (1.0, 3, 3)])
def test_a_curriculum_rises_from_its_threshold_on(threshold, window, needed):
    """At so many successes among the last `window` episodes, and not at one fewer."""
    for successes in (needed - 1, needed):
        outcomes = iter([True] * successes + [False] * (window - successes))
        fake = Fake(lambda height, outcomes=outcomes: next(outcomes))
        env = Curriculum(fake, 0.1, 0.5, step=0.1, threshold=threshold, window=window)
        for _ in range(window):
            assert env.level == 0.2
            env.reset(options={"height": 0.15})
            env.step(np.zeros(1))
        assert env.level == pytest.approx(0.3 if successes == needed else 0.2)


@pytest.mark.parametrize("given, first", [(0.35, 0.35), (9.0, 0.5), (0.0, 0.1)])
def test_a_curriculum_begins_where_it_is_told(given, first):
    assert Curriculum(Fake(lambda height: True), 0.1, 0.5, step=0.1, level=given).level == first


def test_a_curriculum_of_whole_numbers_in_parts_is_refused_when_it_is_made():
    fake = Fake(lambda height: True)
    fake.parameters["stairs"] = Number(4, 1, 12, "-", "number of risers", whole=True)
    with pytest.raises(InvalidValueError):
        Curriculum(fake, 1, 4, step=0.5, parameter="stairs")


def test_easy_episodes_do_not_count_for_the_level():
    """Whoever manages only what lies a step below the level and further down never rises beyond it."""
    fake = Fake(lambda height: True)
    env = Curriculum(fake, 0.1, 0.9, step=0.1, window=3)
    env.level = 0.5
    for _ in range(20):
        env.reset(options={"height": 0.3})
        env.step(np.zeros(1))
    assert env.level == 0.5
    assert fake.ranges == [0.3] * 20
    for _ in range(3):
        env.reset(options={"height": 0.45})
        env.step(np.zeros(1))
    assert env.level == pytest.approx(0.6)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"parameter": "depth"}, UnknownNameError, "no number to vary in Fake 'depth'; there are: height"),
        ({"parameter": "kind"}, UnknownNameError, "no number to vary in Fake 'kind'; there are: height"),
        ({"easiest": 0.6}, InvalidValueError,
         "curriculum of height [m] must be a range (low, high) with low <= high, got (0.6, 0.5)"),
        ({"hardest": 2.0}, InvalidValueError, "curriculum of height [m] must be from 0 to 1, got 2.0"),
        ({"step": 0.0}, InvalidValueError, "curriculum step must be greater than 0, got 0.0"),
        ({"step": NAN}, InvalidValueError, "curriculum step must be a finite number, got nan"),
        ({"level": NAN}, InvalidValueError, "curriculum level must be a finite number, got nan"),
        ({"threshold": 0}, InvalidValueError,
         "curriculum threshold must be above 0 and at most 1, got 0"),
        ({"threshold": 1.1}, InvalidValueError,
         "curriculum threshold must be above 0 and at most 1, got 1.1"),
        ({"window": 0}, InvalidValueError, "curriculum window must be at least 1, got 0"),
    ],
)  # fmt: skip
def test_curricula_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Curriculum(Fake(lambda height: True), **{"easiest": 0.1, "hardest": 0.5, "step": 0.1, **given})
    assert str(error.value) == message


def test_a_curriculum_sets_the_step_that_the_robot_meets(climb):
    env = Curriculum(climb, 0.1, 0.3, step=0.05)
    for number in range(6):
        _, info = env.reset(seed=number)
        height = info["parameters"]["height"]
        assert 0.1 <= height <= info["level"] == pytest.approx(0.15)
        assert climb.task_state.course.terrain.height == height
