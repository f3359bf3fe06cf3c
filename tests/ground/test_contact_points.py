"""Points and edges in contact: what each feels of the solids near it."""

import math

import numpy as np
import pytest
from contact_numbers import ACROSS, law

from segtrack import terrain
from segtrack.ground import (
    ALL_FACES,
    NONE,
    Grouser,
    Tread,
    allocate_contact_history,
    edge_in_piece,
    greatest_sinkage,
    pack_ground,
    penetration_depth_solid,
    touch_edge_end,
    touch_point,
)
from segtrack.terrain import find_soil

pytestmark = pytest.mark.usefixtures("kernels_run_as")
RNG = np.random.default_rng(0)
SAND = find_soil("LETE sand")
OFF_MIDDLE = Tread(0.1, 0.2, 0.01, 0.015, Grouser(0.02, 0.03, 0.01, x=-0.02), x=0.04)


# Edges


def test_an_edge_in_a_piece_is_clipped_as_samples_of_it_are():
    """Fractions by 4001 points of the edge, and the exposed face nearest to the stretch's middle."""
    fractions = np.linspace(0.0, 1.0, 4001)
    met = 0
    for piece in OFF_MIDDLE.pieces:
        for begin, end in RNG.uniform((-0.05, -0.15, -0.03), (0.12, 0.15, 0.05), (150, 2, 3)):
            points = begin + fractions[:, None] * (end - begin)
            inside = fractions[(points @ piece[:, :3].T <= piece[:, 3]).all(axis=1)]
            first, last, normal, offset = edge_in_piece(piece, 6, tuple(begin), tuple(end))
            if len(inside) < 2:
                assert not first < last - 2 / 4000
                continue
            met += 1
            assert (first, last) == pytest.approx((inside[0], inside[-1]), abs=1 / 4000)
            middle = begin + (first + last) / 2 * (end - begin)
            depths = np.where(piece[:, 4] == 1, piece[:, 3] - piece[:, :3] @ middle, np.inf)
            assert (*normal, offset) == tuple(piece[depths.argmin(), :4])
    assert met > 50


def test_an_edges_end_pushes_as_a_point_of_rigid_ground_does():
    """Spring and damper through the face, at most `friction` times that along it, in its weight's share."""
    inwards, shear, velocity, depth = (0.0, 0.0, 1.0), (2e-5, -1e-5, 0.0), (0.02, -0.01, 0.1), 1e-3
    force, along, after, push = touch_edge_end(
        law(), shear, depth, velocity, inwards, ACROSS, 0.5, 0.25, 1e-4
    )
    assert push == pytest.approx(0.25 * (2e5 * depth - 50.0 * 0.1))
    assert after == pytest.approx((2.2e-5, -1.1e-5, 0.0))
    assert along == pytest.approx((-0.25 * (2.2 + 0.4), 0.25 * (1.1 + 0.2), 0.0))
    assert force == pytest.approx((along[0], along[1], push))
    _, along, _, push = touch_edge_end(
        law(), (1.0, 0.0, 0.0), depth, velocity, inwards, ACROSS, 0.5, 0.25, 1e-4
    )
    assert math.hypot(*along) == pytest.approx(0.5 * push)
    leaving = touch_edge_end(law(), shear, depth, (0.0, 0.0, 9.0), inwards, ACROSS, 0.5, 0.25, 1e-4)
    assert leaving[3] == 0.0 and leaving[0] == (0.0, 0.0, 0.0)


# Points


AREA, SIDE, SHARE = 1e-3, 0.05, 0.25


def touch(grounds, point, velocity=(0.0, 0.0, 0.0), step=0.0, history=None):
    """What a point feels that all solids are near: see `touch_point`."""
    ground, history = pack_ground(grounds), history or allocate_contact_history(1, 1)
    near = np.arange(len(ground.bounds))
    return touch_point(
        ground, law(), history, 0, near, len(near), point, velocity, ACROSS, AREA, SIDE, SHARE, step
    )


def test_a_point_that_touches_nothing_feels_nothing():
    history = allocate_contact_history(1, 1)
    touch([terrain.Plane()], (0.0, 0.0, -1e-3), history=history)
    assert np.count_nonzero(history.solid_ids != NONE) == 1
    nothing = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0, 0.0)
    assert touch([terrain.Plane()], (0.0, 0.0, 1e-3), history=history) == nothing
    assert (history.solid_ids == NONE).all()


def test_a_point_in_a_corner_feels_the_floor_and_the_upright_face():
    """Each as deep as it is in it, two floors as one; the greater of their depths and pressures is told."""
    grounds = [terrain.Plane(friction=0.0), terrain.Step(height=0.5, distance=0.0, friction=0.0)]
    ground = pack_ground(grounds)
    history, point = allocate_contact_history(1, 1), (2e-3, 0.0, -1e-3)
    found = (
        penetration_depth_solid(ground, i, ALL_FACES, point, math.inf, True)
        for i in range(len(ground.planes))
    )
    depths = {(depth, normal) for depth, normal in found if depth > 0}
    assert {round(depth, 12) for depth, _ in depths} == {1e-3, 2e-3}
    force, drag, normal_force, deepest, highest = touch(grounds, point, (0.1, 0.0, -0.2), history=history)
    pushes = [SHARE * (2e5 * d - 50.0 * np.dot((0.1, 0.0, -0.2), n)) for d, n in depths]
    expected = sum(push * np.array(n) for push, (_, n) in zip(pushes, depths, strict=True))
    assert force == pytest.approx(tuple(expected))
    assert drag == (0.0, 0.0, 0.0)
    assert normal_force == pytest.approx(sum(pushes))
    assert (deepest, highest) == pytest.approx((2e-3, max(pushes) / AREA))


@pytest.mark.parametrize("share", [0.9, 0.98, 1.1])
def test_a_point_sticks_until_it_is_pulled_by_its_friction(share):
    limit = 0.5 * 0.8 * SHARE * 2e5 * 1e-3
    slip = share * limit / (SHARE * (1e5 * 1e-3 + 20.0))
    force, drag, *_ = touch([terrain.Plane(friction=0.8)], (0.0, 0.0, -1e-3), (slip, 0.0, 0.0), 1e-3)
    assert drag == pytest.approx((-min(share, 1.0) * limit, 0.0, 0.0))
    assert force[0] == drag[0]


@pytest.mark.parametrize("rising", [-0.3, 0.0, 0.2])
def test_soil_damps_a_point_as_nearly_critically_as_rigid_ground(rising):
    """Bekker's pressure, and of the critical damping the share that rigid ground has."""
    soil, sinkage = SAND.constants, 0.01
    modulus = soil.cohesive_modulus / SIDE + soil.frictional_modulus
    pressure = modulus * sinkage**soil.sinkage_exponent
    steepest = SHARE * 2e5 / AREA
    damping = SHARE * 50.0 * math.sqrt(pressure / sinkage / steepest)
    history = allocate_contact_history(1, 1)
    found = touch([terrain.Plane(soil=SAND)], (0.0, 0.0, -sinkage), (0.0, 0.0, rising), history=history)
    push = pressure * AREA - damping * rising
    assert push > 0
    assert found == (
        (0.0, 0.0, pytest.approx(push)),
        (0.0, 0.0, 0.0),
        pytest.approx(push),
        sinkage,
        pytest.approx(push / AREA),
    )
    assert greatest_sinkage(history, 0) == sinkage
