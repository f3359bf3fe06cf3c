"""Parameters that episodes draw."""

import math

import numpy as np

from segtrack.envs import Number
from segtrack.envs.parameters import WordChoice, sample_values


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
