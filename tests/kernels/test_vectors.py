"""Vectors, rotations and frames that kernels are written in, against numpy and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from segtrack.ground import (
    KINEMATIC,
    CouplingImpulses,
    NetWrench,
    ParentFrames,
    Reaction,
    accumulate_reaction,
)
from segtrack.kernels import vectors

pytestmark = pytest.mark.usefixtures("kernels_run_as")
RNG = np.random.default_rng(0)
TRIPLES = st.tuples(*[st.floats(-2.0, 2.0)] * 3)


# Vectors


@given(a=TRIPLES, b=TRIPLES, factor=st.floats(-3.0, 3.0))
def test_vectors_are_numpys(a, b, factor):
    assert vectors.cross(a, b) == pytest.approx(tuple(np.cross(a, b)), abs=1e-12)
    assert vectors.dot(a, b) == pytest.approx(np.dot(a, b), abs=1e-12)
    assert vectors.sum_of(a, b) == pytest.approx(tuple(np.add(a, b)), abs=1e-12)
    assert vectors.scaled(a, factor) == pytest.approx(tuple(np.multiply(a, factor)), abs=1e-12)
    expected = tuple(np.subtract(a, np.multiply(b, factor)))
    assert vectors.without_share(a, factor, b) == pytest.approx(expected, abs=1e-12)


def test_rows_and_axes_are_those_of_their_arrays():
    points, matrices, marker = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3, 3)), RNG.normal(size=3)
    for i in range(4):
        assert vectors.row(points, i) == tuple(points[i])
        assert vectors.offset(points, i, marker) == pytest.approx(tuple(points[i] - marker))
        assert vectors.arm(matrices, i, tuple(marker)) == pytest.approx(tuple(matrices[i] @ marker))
        for k in range(3):
            assert vectors.axis(matrices, i, k) == tuple(matrices[i, :, k])
        changed = points.copy()
        vectors.add(changed, i, tuple(marker), -2.0)
        points[i] -= 2.0 * marker
        np.testing.assert_allclose(changed, points)


# Impulses on what carries a track


def test_impulses_on_a_frame_that_moves_have_their_moment_about_where_it_was():
    """About the world's origin it is the sum of all moments, and the impulses' about the point besides."""
    parents = ParentFrames(*RNG.normal(size=(1, 2, 3)), np.tile(np.eye(3), (2, 1, 1)), *np.zeros((2, 2, 3)))
    coupling = CouplingImpulses(parents.positions.copy(), *np.zeros((2, 2, 3)))
    about_origin, duration = np.zeros((2, 3)), 0.01
    for _ in range(4):
        reaction, net = Reaction(*RNG.normal(size=(2, 2, 3))), NetWrench(*np.zeros((2, 3)))
        accumulate_reaction(parents, reaction, KINEMATIC, coupling, net, duration)
        about_origin += duration * (reaction.torques + np.cross(parents.positions, reaction.forces))
        parents.positions[:] += RNG.normal(size=(2, 3))
    moments = coupling.angular_impulses + np.cross(coupling.points, coupling.impulses)
    np.testing.assert_allclose(moments, about_origin, atol=1e-12)


# Rotations


def test_rotations_are_scipys():
    for turn in Rotation.random(5, random_state=0):
        found = np.empty((3, 3))
        vectors.write_rotation(found, turn.as_quat())
        np.testing.assert_allclose(found, turn.as_matrix(), atol=1e-12)
