"""The laws of contact, and the vectors that kernels are written in, against closed forms and numpy."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from segtrack import terrain
from segtrack.errors import InvalidValueError
from segtrack.ground import vectors
from segtrack.ground.broadphase import (
    MAX_EDGES,
    NONE,
    allocate_contact_history,
    box_in_world,
    find_edge_slot,
    find_slot,
    forget_contacts,
    forget_lost_edges,
    greatest_sinkage,
    list_candidates,
)
from segtrack.ground.contact_laws import (
    ContactParameters,
    contact_parameters,
    read_number,
    rigid_friction,
    soil_pressure,
    soil_shear,
    soil_slope,
)
from segtrack.ground.kernels import InnerKernel
from segtrack.ground.pack import RIGID, SIDES, pack_ground, polyhedra
from segtrack.ground.parent_frames import (
    KINEMATIC,
    CouplingImpulses,
    NetWrench,
    ParentFrames,
    Reaction,
    accumulate_reaction,
)
from segtrack.ground.point_contact import edge_in_piece, penetration_depth_solid, touch_edge_end, touch_point
from segtrack.ground.tread import Grouser, Tread, pack_treads
from segtrack.terrain import solids
from segtrack.terrain.soil import find_soil


@pytest.fixture(
    scope="module", autouse=True, params=["Python", pytest.param("compiled", marks=pytest.mark.slow)]
)
def kernels_run_as(request: pytest.FixtureRequest) -> Iterator[None]:
    """As plain Python, which takes seconds; compiled one by one, which takes half a minute."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "Python":
            patch.setattr(
                InnerKernel, "__call__", lambda kernel, *given, **named: kernel.py_func(*given, **named)
            )
        yield


UP = (0.0, 0.0, 1.0)
ACROSS = (0.0, 1.0, 0.0)
NUMBERS = dict(stiffness=2e5, damping=50.0, tangential_stiffness=1e5, tangential_damping=20.0)
LIMIT = 30.0
RNG = np.random.default_rng(0)
TRIPLES = st.tuples(*[st.floats(-2.0, 2.0)] * 3)


def law(ratio=1.0):
    return contact_parameters(friction=0.5, lateral_ratio=ratio, **NUMBERS)


def friction(shear=(0.0, 0.0, 0.0), slip=(0.0, 0.0, 0.0), ratio=1.0, weight=1.0, step=0.0, normal=UP):
    """Shear displacement and force after a step; x along the track, y across it."""
    return rigid_friction(shear, normal, ACROSS, slip, LIMIT, law(ratio), weight, step)


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


# Friction on rigid ground


@given(x=st.floats(-1e-4, 1e-4), y=st.floats(-1e-4, 1e-4), ratio=st.sampled_from([0.5, 1.0, 1.5]))
def test_a_sticking_contact_is_a_spring_softer_across_by_the_ratios_square(x, y, ratio):
    shear, force = friction(shear=(x, y, 3e-4), ratio=ratio)
    assert shear == pytest.approx((x, y, 0.0), abs=1e-15)
    assert force == pytest.approx((-1e5 * x, -1e5 * ratio**2 * y, 0.0), abs=1e-9)


@pytest.mark.parametrize("weight", [0.25, 1.0])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_slip_shears_and_damps_in_the_weights_share(weight, ratio):
    shear, force = friction(
        shear=(1e-5, 2e-5, 0.0), slip=(0.02, -0.01, 0.0), step=1e-3, weight=weight, ratio=ratio
    )
    assert shear == pytest.approx((3e-5, 1e-5, 0.0))
    along, across = -(1e5 * 3e-5 + 20.0 * 0.02), -(ratio**2) * (1e5 * 1e-5 - 20.0 * 0.01)
    assert force == pytest.approx((weight * along, weight * across, 0.0))


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2, math.pi / 2, 2.5, 4.0])
def test_a_sliding_contact_is_pulled_back_by_the_force_of_largest_dissipation(angle, ratio):
    """Steadily dragged, F = -limit D v / sqrt(v . D v) with D = diag(1, r^2), on the ellipse's edge."""
    slip = (math.cos(angle), math.sin(angle), 0.0)
    shear = (0.0, 0.0, 0.0)
    for _ in range(200):
        shear, force = friction(shear=shear, slip=slip, ratio=ratio, step=1e-4)
    size = math.sqrt(slip[0] ** 2 + (ratio * slip[1]) ** 2)
    expected = (-LIMIT * slip[0] / size, -LIMIT * ratio**2 * slip[1] / size, 0.0)
    assert force == pytest.approx(expected, abs=1e-3 * LIMIT)
    assert math.hypot(force[0], force[1] / ratio) == pytest.approx(LIMIT)
    assert math.hypot(1e5 * shear[0], 1e5 * ratio * shear[1]) == pytest.approx(LIMIT)


def test_across_the_track_is_taken_along_the_surface():
    """On a flank whose normal is across the track no direction of it is."""
    tilted = (0.0, math.sin(0.6), math.cos(0.6))
    side = (0.0, math.cos(0.6), -math.sin(0.6))
    _, force = friction(shear=tuple(1e-5 * c for c in side), ratio=0.5, normal=tilted)
    assert force == pytest.approx(tuple(-0.25 * c for c in side))
    _, force = friction(shear=(1e-5, 0.0, 1e-5), ratio=0.5, normal=ACROSS)
    assert force == pytest.approx((-1.0, 0.0, -1.0))


@pytest.mark.parametrize("limit", [3.0, 1e3])
def test_friction_turns_with_its_surface(limit):
    """Below its limit and at it: turned arguments make turned results."""
    given = [(2e-5, -1e-5, 0.0), UP, ACROSS, (0.02, -0.03, 0.0)]
    shear, force = rigid_friction(*given, limit, law(0.7), 1.0, 1e-3)
    for turn in Rotation.random(3, random_state=2):
        turned = [tuple(turn.apply(v)) for v in given]
        found = rigid_friction(*turned, limit, law(0.7), 1.0, 1e-3)
        np.testing.assert_allclose(found, (turn.apply(shear), turn.apply(force)), atol=1e-9)


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


# Soil

SAND = find_soil("LETE sand")
RIGID_SLOPE = 1e12


@pytest.mark.parametrize("side", [0.02, 0.2])
@pytest.mark.parametrize("sinkage", [0.002, 0.05])
def test_soil_carries_as_bekker_says_down_to_rigid_ground(side, sinkage):
    soil = SAND.constants
    pressure = (soil.cohesive_modulus / side + soil.frictional_modulus) * sinkage**soil.sinkage_exponent
    assert soil_pressure(soil, side, sinkage, 0.0, RIGID_SLOPE) == pytest.approx(
        (pressure, pressure / sinkage)
    )
    steepest = 0.5 * pressure / sinkage
    capped = steepest / max(1.0, soil.sinkage_exponent)
    assert soil_slope(soil, side, sinkage, steepest) == pytest.approx(capped)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.6, 2.5])
def test_the_steepest_that_soil_gets_is_rigid_ground(exponent):
    """By differences of the pressure of a first loading: the tangent comes up to that slope and not above."""
    soil, side = SAND.constants._replace(sinkage_exponent=exponent), 0.02
    steepest = 0.5 * (soil.cohesive_modulus / side + soil.frictional_modulus)
    depths = np.geomspace(1e-4, 10.0, 2000)
    pressures = [[soil_pressure(soil, side, z * one, 0.0, steepest)[0] for z in depths] for one in (1, 1.001)]
    tangents = (np.array(pressures[1]) - pressures[0]) / (0.001 * depths)
    assert tangents.max() == pytest.approx(steepest, rel=0.01)


@pytest.mark.parametrize(
    ("law_name", "closed"), [("exponential", lambda s: 1 - math.exp(-s)), ("tanh", math.tanh)]
)
def test_soil_is_sheared_along_its_curve(law_name, closed):
    """Janosi and Hanamoto's, and the hyperbolic tangent, by small steps along one direction."""
    soil = replace(SAND, shear_law=law_name).constants
    pressure, area, modulus = 2e4, 1e-3, soil.shear_deformation_modulus
    strength = (soil.cohesion + pressure * soil.friction) * area
    direction = np.array((0.6, -0.8, 0.0))
    shear, slip, step = (0.0, 0.0, 0.0), tuple(1e-6 * direction), modulus * 1e6 / 2000
    for _ in range(3000):
        shear, force = soil_shear(shear, UP, slip, pressure, area, soil, law(), 1.0, step)
    assert np.array(force) == pytest.approx(-strength * closed(1.5) * direction, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("normal", [UP, ACROSS, (1.0, 0.0, 0.0), (0.6, 0.0, 0.8)])
def test_soil_holds_with_no_more_than_its_strength_along_the_surface(normal):
    """Wherever the surface looks; what stands out of it is forgotten."""
    soil, pressure, area = SAND.constants, 2e4, 1e-3
    strength = (soil.cohesion + pressure * soil.friction) * area
    for drawn in RNG.normal(size=(5, 3)):
        along = drawn - np.dot(drawn, normal) * np.array(normal)
        along /= np.linalg.norm(along)
        for share in (0.5, 4.0):
            start = tuple(share * soil.shear_deformation_modulus * along + 0.01 * np.array(normal))
            shear, force = soil_shear(start, normal, (0.0, 0.0, 0.0), pressure, area, soil, law(), 1.0, 0.0)
            held = min(share, 1.0)
            assert force == pytest.approx(tuple(-held * strength * along))
            assert shear == pytest.approx(tuple(held * soil.shear_deformation_modulus * along))


def test_rotations_are_scipys():
    for turn in Rotation.random(5, random_state=0):
        found = np.empty((3, 3))
        vectors.write_rotation(found, turn.as_quat())
        np.testing.assert_allclose(found, turn.as_matrix(), atol=1e-12)


# What is near


def test_a_turned_box_is_bounded_by_its_corners():
    for turn in Rotation.random(5, random_state=1):
        box = np.array([0.1, -0.2, 0.3, 0.4, 0.5, 0.6])
        signs = np.array(list(itertools.product((-1, 1), repeat=3)))
        corners = turn.apply(box[:3] + signs * box[3:])
        low, high = box_in_world(turn.as_matrix(), box)
        np.testing.assert_allclose([low, high], [corners.min(axis=0), corners.max(axis=0)], atol=1e-12)


BLOCKS = terrain.Boxes(
    boxes=tuple(
        terrain.GroundBox(x=0.5 * i, y=0.25 * k, length=0.5, width=0.25, height=0.1 + 0.125 * k)
        for i in range(3)
        for k in range(3)
    )
)


@pytest.mark.parametrize("room", [0, 2, 200])
def test_candidates_are_the_solids_and_rigid_edges_whose_bounds_a_box_meets(room):
    """Touching counts; those for which there is no room are counted, and not listed."""
    grid = terrain.Heightfield(heights=np.zeros((3, 3)), spacing=0.5, center=(0.5, 0.0))
    ground = pack_ground([BLOCKS, terrain.Ramp(slope=0.3, length=1.0, distance=0.2, soil=SAND), grid])
    corners = [((0.25, 0.125, 0.0), (0.75, 0.375, 0.1)), ((9.0, 9.0, 9.0), (9.5, 9.5, 9.5))]
    corners += [
        (tuple(low), tuple(low + 0.3)) for low in RNG.uniform((-0.6, -0.4, -0.4), (1.2, 0.7, 0.4), (40, 3))
    ]
    for low, high in corners:
        solids, edges = np.full(room + 1, -7), np.full(room + 1, -7)
        counts = list_candidates(ground, low, high, solids[:room], edges[:room])
        met = (ground.bounds[:, :3] <= high) & (ground.bounds[:, 3:] >= low)
        expected = np.flatnonzero(met.all(axis=1))
        ends = ground.edges.reshape(-1, 2, 3)
        meets = ((ends.min(axis=1) <= high) & (ends.max(axis=1) >= low)).all(axis=1)
        owners = np.repeat(np.arange(len(ground.planes)), np.diff(ground.edge_starts))
        meets &= np.isin(owners, expected[expected < len(ground.planes)]) & (
            ground.solid_soils[owners] == RIGID
        )
        assert counts == (len(expected), meets.sum())
        for found, wanted in ((solids, expected), (edges, np.flatnonzero(meets))):
            listed = min(room, len(wanted))
            np.testing.assert_array_equal(found[:listed], wanted[:listed])
            assert (found[listed:] == -7).all()


# Memory


def test_a_contact_keeps_its_slot_and_a_new_one_takes_a_free_one():
    ids = np.array([7, NONE, 9, 4, NONE, 7])
    assert find_slot(ids, 1, 5, 4) == 3
    assert find_slot(ids, 1, 5, 7) in (1, 4)
    assert find_slot(ids, 2, 4, 7) == NONE
    assert find_slot(ids, 0, 1, 7) == 0


def test_edges_are_remembered_until_they_are_lost():
    history = allocate_contact_history(points=1, parts=2)
    history.edge_shear_displacements[:] = 1.0
    slots = {edge: find_edge_slot(history, MAX_EDGES, MAX_EDGES, edge) for edge in range(10, 10 + MAX_EDGES)}
    assert sorted(slots.values()) == list(range(MAX_EDGES, 2 * MAX_EDGES))
    assert find_edge_slot(history, MAX_EDGES, MAX_EDGES, 99) == NONE
    assert (history.edge_ids[:MAX_EDGES] == NONE).all()
    assert (history.edge_shear_displacements[MAX_EDGES:] == 0.0).all()
    assert (history.edge_shear_displacements[:MAX_EDGES] == 1.0).all()
    history.edge_shear_displacements[slots[11]] = 2.0
    assert find_edge_slot(history, MAX_EDGES, MAX_EDGES, 11) == slots[11]
    assert (history.edge_shear_displacements[slots[11]] == 2.0).all()
    forget_lost_edges(history, MAX_EDGES, MAX_EDGES, 1 << (slots[11] - MAX_EDGES))
    assert history.edge_ids[slots[11]] == 11
    assert np.count_nonzero(history.edge_ids != NONE) == 1


def test_points_are_forgotten_with_their_part_and_remember_their_greatest_sinkage():
    history = allocate_contact_history(points=4, parts=1, vehicles=(2,))
    assert [a.shape for a in history] == [(2, 12), (2, 12, 3), (2, 12), (2, 4), (2, 4, 2, 3)]
    history = allocate_contact_history(points=4, parts=1)
    history.sinkages[:] = np.arange(12) / 100
    history.solid_ids[[3, 4, 9]] = 5
    assert [greatest_sinkage(history, point) for point in range(4)] == [0.0, 0.04, 0.0, 0.09]
    kept = history.copy()
    forget_contacts(history, first_point=1, points=2)
    assert np.flatnonzero(history.solid_ids != NONE).tolist() == [9]
    assert np.flatnonzero(kept.solid_ids != NONE).tolist() == [3, 4, 9]


# Treads

OFF_MIDDLE = Tread(0.1, 0.2, 0.01, 0.015, Grouser(0.02, 0.03, 0.01, x=-0.02), x=0.04)


def trapezoid(bottom, low, high, middle):
    """Corners (8, 3) of a bar 0.2 m wide: lengths at z = low and at z = high."""
    profile = [(bottom[0], low), (bottom[1], high)]
    return np.array(
        [(middle + s * length / 2, y, z) for length, z in profile for s in (-1, 1) for y in (-0.1, 0.1)]
    )


def test_pieces_of_a_tread_are_the_hulls_of_its_plate_and_its_bar():
    """Hulls of trapezoids; what borders on a shoe, the wheels or the plate is not exposed."""
    bodies = [trapezoid((0.1, 0.1), -0.005, 0.01, 0.04), trapezoid((0.03, 0.01), 0.01, 0.03, 0.02)]
    hidden = [[(-1, 0, 0), (0, 0, -1), (1, 0, 0)], [(0, 0, -1)]]
    for faces, corners, inner in zip(OFF_MIDDLE.pieces, bodies, hidden, strict=True):
        expected = np.unique(np.round(ConvexHull(corners).equations * (1, 1, 1, -1), 9), axis=0)
        found = np.round(faces[:, :4], 9)
        np.testing.assert_allclose(found[np.lexsort(found.T[::-1])], expected, atol=1e-8)
        assert sorted(tuple(face[:3].tolist()) for face in faces if face[4] == 0) == inner
        assert set(faces[:, 4]) <= {0.0, 1.0}


def test_points_of_a_tread_are_corners_that_share_its_faces():
    plate, bar = trapezoid((0.1, 0.1), -0.005, 0.01, 0.04), trapezoid((0.03, 0.01), 0.01, 0.03, 0.02)
    np.testing.assert_allclose(OFF_MIDDLE.contact_points, [*plate[4:], *bar[4:]], atol=1e-12)
    assert OFF_MIDDLE.areas[:4].sum() == pytest.approx((0.1 - 0.03) * 0.2)
    assert OFF_MIDDLE.areas[4:].sum() == pytest.approx(0.01 * 0.2)
    assert OFF_MIDDLE.sides == pytest.approx([0.1] * 4 + [0.01] * 4)
    assert Tread(0.3, 0.2, 0.0, 0.01).sides == pytest.approx([0.2] * 4)
    assert Tread(0.3, 0.2, 0.0, 0.01).areas.sum() == pytest.approx(0.06)
    whole = np.concatenate([plate, bar])
    low, high = whole.min(axis=0), whole.max(axis=0)
    packed = pack_treads([OFF_MIDDLE, Tread(0.3, 0.2, 0.0, 0.01)], [1, 0])
    np.testing.assert_allclose(packed.boxes[0], [*(low + high) / 2, *(high - low) / 2], atol=1e-12)
    assert packed.contact_point_counts.tolist() == [8, 4] and packed.piece_counts.tolist() == [2, 1]


@pytest.mark.parametrize("x", [-0.035, 0.035])
def test_a_bar_may_reach_to_the_plates_end_and_no_farther(x):
    Tread(0.1, 0.2, 0.01, 0.015, Grouser(0.02, 0.03, 0.03, x=x))
    with pytest.raises(InvalidValueError):
        Tread(0.1, 0.2, 0.01, 0.015, Grouser(0.02, 0.03, 0.01, x=x * 1.01))


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
    nothing = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0, 0.0, False)
    assert touch([terrain.Plane()], (0.0, 0.0, 1e-3), history=history) == nothing
    assert (history.solid_ids == NONE).all()


def test_a_point_in_a_corner_feels_the_floor_and_the_upright_face():
    """Each as deep as it is in it; the greater of their depths and pressures is told."""
    grounds = [terrain.Plane(friction=0.0), terrain.Step(height=0.5, distance=0.0, friction=0.0)]
    ground = pack_ground(grounds)
    history, point = allocate_contact_history(1, 1), (2e-3, 0.0, -1e-3)
    depths = [
        (depth, normal)
        for depth, normal in (
            penetration_depth_solid(ground.planes, ground.faces[i], i, point)
            for i in range(len(ground.planes))
        )
        if depth > 0
    ]
    assert {round(depth, 12) for depth, _ in depths} == {1e-3, 2e-3}
    force, drag, normal_force, deepest, highest, _ = touch(grounds, point, (0.1, 0.0, -0.2), history=history)
    pushes = [SHARE * (2e5 * d - 50.0 * np.dot((0.1, 0.0, -0.2), n)) for d, n in depths]
    expected = sum(push * np.array(n) for push, (_, n) in zip(pushes, depths, strict=True))
    assert force == pytest.approx(tuple(expected))
    assert drag == (0.0, 0.0, 0.0)
    assert normal_force == pytest.approx(sum(pushes))
    assert (deepest, highest) == pytest.approx((2e-3, max(pushes) / AREA))


@pytest.mark.parametrize("share, sticks", [(0.9, True), (0.98, True), (1.1, False)])
def test_a_point_sticks_until_it_is_pulled_by_its_friction(share, sticks):
    limit = 0.5 * 0.8 * SHARE * 2e5 * 1e-3
    slip = share * limit / (SHARE * (1e5 * 1e-3 + 20.0))
    force, drag, _, _, _, found = touch(
        [terrain.Plane(friction=0.8)], (0.0, 0.0, -1e-3), (slip, 0.0, 0.0), 1e-3
    )
    assert drag == pytest.approx((-min(share, 1.0) * limit, 0.0, 0.0))
    assert force[0] == drag[0]
    assert found == sticks


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
        True,
    )
    assert greatest_sinkage(history, 0) == sinkage


# Polyhedra

TURN = Rotation.from_euler("xyz", (0.3, -0.5, 1.1))
QUATERNION = tuple(TURN.as_quat().tolist())
CENTER = (0.4, -0.3, 0.7)
CORNERS = np.array(list(itertools.product((-0.1, 0.1), (-0.2, 0.2), (-0.3, 0.3))))
RING = [
    (0.3 * math.cos(2 * math.pi * k / SIDES), 0.3 * math.sin(2 * math.pi * k / SIDES)) for k in range(SIDES)
]
TRIANGLE = ((-0.5, 0.0), (0.4, 0.0), (0.1, 0.3))


@pytest.mark.parametrize(
    ("solid", "corners"),
    [
        (solids.Box((0.2, 0.4, 0.6), CENTER, QUATERNION), CENTER + TURN.apply(CORNERS)),
        (
            solids.Cylinder(0.3, 0.8, CENTER, QUATERNION),
            CENTER + TURN.apply([(x, y, z) for x, z in RING for y in (-0.4, 0.4)]),
        ),
        (solids.Prism(TRIANGLE, 0.6), np.array([(x, y, z) for x, z in TRIANGLE for y in (-0.3, 0.3)])),
        (solids.Hull.of(CENTER + TURN.apply(CORNERS)), CENTER + TURN.apply(CORNERS)),
    ],
    ids=["box", "cylinder", "prism", "hull"],
)
def test_planes_and_edges_of_a_solid_are_those_of_its_corners_hull(solid, corners):
    """Each plane is the hull's and supports it; Euler's formula counts the edges, whose ends are corners."""
    (body,) = polyhedra(solid)
    expected = np.unique(np.round(ConvexHull(corners).equations * (1, 1, 1, -1), 6), axis=0)
    found = np.unique(np.round(body.planes, 6), axis=0)
    assert len(found) == len(body.planes)
    distance = np.abs(found[:, None] - expected[None]).max(axis=2)
    assert distance.min(axis=1).max() < 3e-6 and distance.min(axis=0).max() < 3e-6
    assert (np.diff(body.planes[:, 2]) <= 1e-12).all()
    ends = body.edges.reshape(-1, 2, 3)
    assert len(ends) == len(corners) + len(body.planes) - 2
    to_corner = np.linalg.norm(ends[:, :, None] - corners, axis=-1)
    assert to_corner.min(axis=2).max() < 1e-9
    pairs = {tuple(sorted(pair)) for pair in to_corner.argmin(axis=2).tolist()}
    assert len(pairs) == len(ends)
    on_planes = (
        np.abs(np.einsum("fi,eki->fek", body.planes[:, :3], ends) - body.planes[:, 3, None, None]) < 1e-6
    )
    assert (on_planes.all(axis=2).sum(axis=0) == 2).all()
    np.testing.assert_allclose(body.bounds, [*corners.min(axis=0), *corners.max(axis=0)], atol=1e-9)


@pytest.mark.parametrize(
    ("normal", "top"), [(UP, 0.7), ((0.6, 0.0, 0.8), math.inf), ((-0.6, 0.0, 0.8), math.inf)]
)
def test_a_half_space_is_one_plane_bounded_where_it_is_level(normal, top):
    (body,) = polyhedra(solids.HalfSpace(CENTER, normal))
    np.testing.assert_allclose(body.planes, [[*normal, np.dot(normal, CENTER)]])
    assert body.edges.shape == (0, 6)
    assert body.bounds.tolist() == [-math.inf] * 3 + [math.inf, math.inf, top]


def test_a_mesh_is_told_which_of_its_pieces_is_not_convex(tmp_path):
    box, torus = trimesh.creation.box((0.1, 0.1, 0.1)), trimesh.creation.torus(0.3, 0.1)
    trimesh.util.concatenate([box, torus.apply_translation((2, 0, 0))]).export(tmp_path / "pair.stl")
    with pytest.raises(InvalidValueError) as error:
        pack_ground([terrain.Mesh(file=tmp_path / "pair.stl")])
    assert str(error.value).endswith(f"got {tmp_path / 'pair.stl'} whose piece 2 of 2 is not")


# The ground, laid out


def test_grids_and_solids_lie_where_they_are_described():
    heights = [RNG.normal(size=(3, 4)), RNG.normal(size=(2, 5))]
    fields = [
        terrain.Heightfield(heights=h, spacing=c, center=p, friction=f)
        for h, c, p, f in zip(heights, (0.5, 0.2), ((1.0, -2.0), (0.3, 0.4)), (0.9, 0.7), strict=True)
    ]
    ground = pack_ground([fields[0], BLOCKS, fields[1], terrain.Plane(friction=0.4)])
    assert ground.grid_starts.tolist() == [0, 12]
    assert ground.grid_shapes.tolist() == [[3, 4], [2, 5]]
    np.testing.assert_allclose(ground.heights, np.concatenate([h.ravel() for h in heights]))
    np.testing.assert_allclose(ground.grid_origins, [(0.5, -2.75), (0.2, 0.0)], atol=1e-12)
    np.testing.assert_allclose(ground.bounds[-2], (0.5, -2.75, -math.inf, 1.5, -1.25, heights[0].max()))
    np.testing.assert_allclose(ground.bounds[-1, 3:], (0.4, 0.8, heights[1].max()))
    assert ground.friction[-3:].tolist() == [0.4, 0.9, 0.7]
    assert len(ground.edge_friction) == len(ground.edges) == ground.edge_starts[-1]
    assert (ground.point_soils == RIGID).all() and ground.soils.shape == (0, 11)
    assert len(pack_ground([]).planes) == 0


# Numbers that make no sense


@pytest.mark.parametrize("name", ContactParameters._fields)
def test_contact_parameters_are_not_negative_and_some_not_zero(name):
    numbers = dict(friction=0.5, lateral_ratio=0.9, **NUMBERS)
    assert contact_parameters(**numbers) == ContactParameters(**numbers)
    above = name in ("stiffness", "tangential_stiffness", "lateral_ratio")
    for value in (-0.5, 0.0) if above else (-0.5,):
        with pytest.raises(InvalidValueError) as error:
            contact_parameters(**{**numbers, name: value})
        least = "greater than 0" if above else "at least 0"
        assert str(error.value) == f"{name} of a contact must be {least}, got {value}"
    if not above:
        assert getattr(contact_parameters(**{**numbers, name: 0.0}), name) == 0.0


@dataclass(frozen=True)
class Axle:
    """Something with a number."""

    size: float


@pytest.mark.parametrize("above", [False, True])
def test_a_number_is_read_if_it_is_large_enough(above):
    axle = Axle(2)
    read_number(axle, "size", above)
    assert isinstance(axle.size, float)
    least = "greater than 0" if above else "at least 0"
    for value in (-1.0, 0.0, 0.5):
        if value > 0 or (value == 0 and not above):
            read_number(Axle(value), "size", above)
        else:
            with pytest.raises(InvalidValueError) as error:
                read_number(Axle(value), "size", above)
            assert str(error.value) == f"size of an axle must be {least}, got {value}"
