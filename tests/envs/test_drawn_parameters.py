"""Parameters that episodes draw."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from segtrack.envs import Environment, LogUniform, Number
from segtrack.envs.learning import EvaluationSetup, TrainingSettings
from segtrack.envs.parameters import WordChoice, sample_values
from segtrack.errors import InvalidValueError


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


@pytest.mark.parametrize(
    "distribution, expected",
    [
        (LogUniform(0.5, 2.0), stats.loguniform(0.5, 2.0)),
        (lambda rng: rng.triangular(0.5, 1.0, 2.0), stats.triang(c=1 / 3, loc=0.5, scale=1.5)),
    ],
)
def test_distributions_are_drawn_as_they_say(distribution, expected):
    parameters, rng = {"mass": Number(1.0, 0.5, 2.0, "-", "factor")}, np.random.default_rng(0)
    given = {"mass": parameters["mass"].check("mass", distribution)}
    drawn = [sample_values(parameters, given, rng)["mass"] for _ in range(4000)]
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-3


def test_an_episode_takes_distributions_of_numbers_and_words():
    kinds = {"kind": lambda rng: "waves" if rng.uniform() < 0.25 else "rails"}
    with Environment("RoughTerrain", friction=LogUniform(0.1, 1.0), **kinds) as env:
        met = [env.reset(seed=k)[1]["parameters"] for k in range(60)]
        again = env.reset(seed=3)[1]["parameters"]
        fixed = env.reset(seed=3, options={"friction": lambda rng: 0.5})[1]["parameters"]
    waves = sum(each["kind"] == "waves" for each in met)
    assert abs(waves - 15) < 5 * math.sqrt(60 * 0.25 * 0.75)
    assert stats.kstest([each["friction"] for each in met], stats.loguniform(0.1, 1.0).cdf).pvalue > 1e-3
    assert again == met[3] and fixed["friction"] == 0.5


@pytest.mark.parametrize(
    "given, message",
    [
        ({"mass": LogUniform(0.5, 1.0)}, "mass must be from 0.7 to 1.5, got 0.5"),
        ({"mass": lambda rng: 9.0}, "mass must be from 0.7 to 1.5, got 9.0"),
        ({"action_delay": lambda rng: 0.5}, "action_delay must be a whole number, got 0.5"),
        ({"kind": lambda rng: "sand"}, "kind must be one of boxes, step_field, waves, rails, got 'sand'"),
        (
            {"mass": np.array([1.0, 1.1])},
            "mass must be a number or a range (low, high), got array([1. , 1.1])",
        ),
    ],
)
def test_what_distributions_may_not_draw_is_refused(given, message):
    with pytest.raises(InvalidValueError) as error, Environment("RoughTerrain", **given) as env:
        env.reset(seed=0)
    assert str(error.value) == message


@pytest.mark.parametrize("make", [TrainingSettings, partial(EvaluationSetup, policies=("scripted",))])
def test_settings_that_are_written_to_a_file_have_no_functions(make):
    with pytest.raises(
        InvalidValueError, match="mass must be a number, a range or words, to be written to a"
    ):
        make(task="StepClimb", parameters={"mass": LogUniform(0.8, 1.2)})


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0), (math.nan, 1.0)])
def test_bounds_of_logarithms_are_checked(bounds):
    with pytest.raises(InvalidValueError, match="LogUniform"):
        LogUniform(*bounds)
