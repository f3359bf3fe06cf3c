"""Solids and edges near a part, where the ground's pieces lie, and what contacts remember."""

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from segtrack import terrain
from segtrack.ground import (
    ALL_FACES,
    MAX_EDGES,
    NONE,
    RIGID,
    Listed,
    allocate_contact_history,
    box_in_world,
    clearance,
    faces_near,
    find_edge_slot,
    find_slot,
    forget_contacts,
    forget_lost_edges,
    greatest_sinkage,
    knows_edge,
    list_among,
    list_candidates,
    meets_edge,
    meets_listed,
    pack_ground,
    penetration_depth_solid,
    take_edge_over,
)
from segtrack.terrain import find_soil

pytestmark = pytest.mark.usefixtures("kernels_run_as")
RNG = np.random.default_rng(0)
SAND = find_soil("LETE sand")


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


def test_the_nearest_face_of_a_solid_is_among_those_chosen_for_a_box_around_the_point():
    """Depth, and normal where there is one, are those of a search among all faces, to the bit."""
    ground = pack_ground([BLOCKS, terrain.Ramp(slope=0.3, length=1.0, distance=0.2), terrain.Plane()])
    left_out = 0
    for center in RNG.uniform((-0.5, -0.5, -0.1), (1.5, 1.0, 0.5), (200, 3)):
        low, high = center - 0.03, center + 0.03
        for solid, faces in enumerate(ground.faces.tolist()):
            chosen = faces_near(ground, solid, tuple(low), tuple(high))
            left_out += chosen != 2**faces - 1
            for point in [*RNG.uniform(low, high, (10, 3)), low, high]:
                found = [
                    penetration_depth_solid(ground, solid, each, tuple(point), 0.002, False)
                    for each in (chosen, ALL_FACES)
                ]
                assert found[0][0] == found[1][0]
                assert found[0] == found[1] or found[0][0] == -math.inf
    assert left_out > 1000


def test_all_faces_count_of_a_solid_with_many():
    ground = pack_ground([terrain.HalfRound(radius=0.1, distance=0.5)])
    assert ground.faces[1] > 31
    assert faces_near(ground, 1, (0.4, 0.0, 0.0), (0.5, 0.1, 0.1)) == ALL_FACES


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


def test_candidates_of_a_box_within_a_larger_one_are_among_those_of_that():
    grid = terrain.Heightfield(heights=np.zeros((3, 3)), spacing=0.5, center=(0.5, 0.0))
    ground = pack_ground([BLOCKS, terrain.Ramp(slope=0.3, length=1.0, distance=0.2, soil=SAND), grid])
    found = np.full((2, 2, 200), -7)
    around, inside = np.full((2, 200), -7), 0
    for low in RNG.uniform((-0.6, -0.4, -0.4), (1.2, 0.7, 0.4), (40, 3)):
        given = tuple(low), tuple(low + 0.1)
        counts = list_candidates(ground, tuple(low - 0.1), tuple(low + 0.2), *around)
        listed = Listed(around[0], counts[0], around[1], counts[1])
        found[:] = -7
        expected = list_candidates(ground, *given, *found[0])
        assert list_among(ground, listed, *given, *found[1]) == expected
        assert meets_listed(ground, listed, *given) == (expected[0] > 0)
        np.testing.assert_array_equal(found[0], found[1])
        inside += expected[0] > 0
    assert 5 < inside < 40


def test_a_turned_box_is_clear_of_what_none_of_its_points_comes_near():
    """And what is in reach, with the face that decides, is what its points are deepest in."""
    ground = pack_ground([BLOCKS, terrain.Plane()])
    every = np.arange(len(ground.bounds), dtype=np.int32)
    half, seen = np.array([0.02, 0.05, 0.01]), []
    for center, turn in zip(
        RNG.uniform((-0.3, -0.2, -0.02), (1.3, 0.8, 0.45), (300, 3)),
        Rotation.random(300, random_state=2).as_matrix(),
        strict=True,
    ):
        points = center + RNG.uniform(-half, half, (20, 3)) @ turn.T
        chosen = np.array([ALL_FACES] * len(every), dtype=np.int32)
        axes = tuple(map(tuple, turn.T))
        given = tuple(center), axes, tuple(half), 0.004
        clear, only, face = clearance(ground, every, chosen, len(every), *given)
        depths = np.array(
            [
                [penetration_depth_solid(ground, k, ALL_FACES, tuple(p), 1.0, True)[0] for p in points]
                for k in every
            ]
        )
        assert clear == 0.0 or (depths <= -clear + 1e-12).all()
        # What of faces counts in a larger box changes nothing.
        low, high = points.min(axis=0) - 0.15, points.max(axis=0) + 0.15
        chosen = np.array([faces_near(ground, k, tuple(low), tuple(high)) for k in every], dtype=np.int32)
        assert clearance(ground, every, chosen, len(every), *given) == (clear, only, face)
        if only != NONE:
            assert (np.delete(depths, only, axis=0) <= -0.004 + 1e-12).all()
        if face != NONE:
            plane = ground.planes[only, face]
            np.testing.assert_allclose(depths[only], plane[3] - points @ plane[:3], atol=1e-12)
        seen.append((clear > 0.0, only != NONE, face != NONE))
    assert all(20 < count < 280 for count in np.sum(seen, axis=0))


def test_an_edge_that_meets_a_box_is_seen():
    ground, met = pack_ground([BLOCKS]), 0
    edges = np.arange(len(ground.edges), dtype=np.int32)
    for center, turn in zip(
        RNG.uniform((-0.3, -0.2, 0.0), (1.3, 0.8, 0.4), (200, 3)),
        Rotation.random(200, random_state=3).as_matrix(),
        strict=True,
    ):
        half, axes = np.array([0.06, 0.1, 0.02]), tuple(map(tuple, turn.T))
        along = np.linspace(ground.edges[:, :3], ground.edges[:, 3:], 200)
        inside = (np.abs((along - center) @ turn) <= half).all(axis=2).any()
        if inside:
            assert meets_edge(ground, edges, len(edges), tuple(center), axes, tuple(half), 1e-9)
        met += inside
    assert 20 < met < 180
    far = (5.0, 5.0, 5.0), tuple(map(tuple, np.eye(3))), (0.1, 0.1, 0.1), 1e-9
    assert not meets_edge(ground, edges, len(edges), *far)


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
    assert np.count_nonzero(history.edge_ids >= 0) == 1
    # What the others remember is kept until the next call, and their slots are free at once.
    assert find_edge_slot(history, MAX_EDGES, MAX_EDGES, 50) != slots[11]
    forget_lost_edges(history, MAX_EDGES, MAX_EDGES, 1 << (slots[11] - MAX_EDGES))
    forget_lost_edges(history, MAX_EDGES, MAX_EDGES, 1 << (slots[11] - MAX_EDGES))
    assert sorted(history.edge_ids[MAX_EDGES:]) == [NONE] * (MAX_EDGES - 1) + [11]


@pytest.mark.parametrize("when", ["touches", "just lost", "lost before"])
def test_a_neighbour_takes_over_what_an_edge_sheared_until_it_is_forgotten(when):
    """From the slots of the part that the edge was in to those of the one that it has passed to."""
    history = allocate_contact_history(points=1, parts=2)
    old = find_edge_slot(history, 0, MAX_EDGES, 30)
    history.edge_shear_displacements[old] = 3.0
    for _ in range(("touches", "just lost", "lost before").index(when)):
        forget_lost_edges(history, 0, MAX_EDGES, 0)
    assert not knows_edge(history, MAX_EDGES, MAX_EDGES, 30)
    assert knows_edge(history, 0, MAX_EDGES, 30) == (when == "touches")
    new = find_edge_slot(history, MAX_EDGES, MAX_EDGES, 30)
    assert knows_edge(history, MAX_EDGES, MAX_EDGES, 30)
    take_edge_over(history, new, 0, MAX_EDGES, 31)
    assert (history.edge_shear_displacements[new] == 0.0).all()
    take_edge_over(history, new, 0, MAX_EDGES, 30)
    assert (history.edge_shear_displacements[new] == (0.0 if when == "lost before" else 3.0)).all()


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
    assert (ground.point_soils == RIGID).all() and ground.soils.shape == (0, 12)
    assert len(pack_ground([]).planes) == 0
