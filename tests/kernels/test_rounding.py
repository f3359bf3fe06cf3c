"""Rounding of what Python lays out for kernels: what libraries differ in goes, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from segtrack.kernels import rounded
from segtrack.kernels.rounding import BITS, NOTHING

LENGTHS = st.floats(min_value=1e-6, max_value=1e6)


class Parts(NamedTuple):
    """A tuple as kernels read it."""

    values: object
    count: int
    inner: object


@given(LENGTHS)
def test_a_number_changes_by_less_than_its_last_bit_and_only_once(value):
    for number in (rounded(value), float(rounded(np.array([value]))[0])):
        assert abs(number - value) <= 2.0**-BITS * value
        assert rounded(number) == number
    assert rounded(-value) == -rounded(value)


def test_numbers_that_differ_by_the_last_digit_become_equal():
    """But for one in hundreds that lies where rounding changes its mind."""
    values = np.random.default_rng(0).uniform(0.1, 1.0, 10_000)
    other = np.nextafter(values, 2.0)
    assert np.count_nonzero(rounded(values) != rounded(other)) < 50


def test_what_a_difference_left_is_nothing_beside_large_numbers():
    turned = np.array([[np.cos(np.pi / 2), 1.0], [0.5, 0.1 + 0.2 - 0.3]])
    np.testing.assert_array_equal(rounded(turned), [[0.0, 1.0], [0.5, 0.0]])
    np.testing.assert_array_equal(rounded(np.array([NOTHING / 2, -NOTHING / 2])), [0.0, 0.0])


def test_infinity_integers_flags_and_the_tuples_kind_stay():
    given = Parts(np.array([np.inf, -np.inf, 1 / 3]), 7, (True, np.array([3]), np.zeros((0, 3)), np.inf))
    found = rounded(given)
    assert isinstance(found, Parts)
    np.testing.assert_array_equal(found.values[:2], [np.inf, -np.inf])
    assert found.values[2] != 1 / 3
    assert found.count == 7
    flag, whole, empty, endless = found.inner
    assert (flag, whole.dtype, empty.shape, endless) == (True, np.array([3]).dtype, (0, 3), np.inf)
