"""Pieces of ground and treads: planes, edges and points of convex solids."""

import itertools
import math

import numpy as np
import pytest
import trimesh
from contact_numbers import UP
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from segtrack import terrain
from segtrack.errors import InvalidValueError
from segtrack.geometry import Box, Cylinder, Hull
from segtrack.ground import Grouser, Tread, pack_ground, pack_treads
from segtrack.ground.pack import SIDES, polyhedra
from segtrack.terrain import HalfSpace, Prism

pytestmark = pytest.mark.usefixtures("kernels_run_as")
OFF_MIDDLE = Tread(0.1, 0.2, 0.01, 0.015, Grouser(0.02, 0.03, 0.01, x=-0.02), x=0.04)


# Treads


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
        (Box((0.2, 0.4, 0.6), CENTER, QUATERNION), CENTER + TURN.apply(CORNERS)),
        (
            Cylinder(0.3, 0.8, CENTER, QUATERNION),
            CENTER + TURN.apply([(x, y, z) for x, z in RING for y in (-0.4, 0.4)]),
        ),
        (Prism(TRIANGLE, 0.6), np.array([(x, y, z) for x, z in TRIANGLE for y in (-0.3, 0.3)])),
        (Hull.of(CENTER + TURN.apply(CORNERS)), CENTER + TURN.apply(CORNERS)),
    ],
    ids=["box", "cylinder", "prism", "hull"],
)
def test_planes_and_edges_of_a_solid_are_those_of_its_corners_hull(solid, corners):
    """Each plane is the hull's and supports it; Euler's formula counts the edges, whose ends are corners."""
    (body,) = polyhedra([solid])
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
    (body,) = polyhedra([HalfSpace(CENTER, normal)])
    np.testing.assert_allclose(body.planes, [[*normal, np.dot(normal, CENTER)]])
    assert body.edges.shape == (0, 6)
    assert body.bounds.tolist() == [-math.inf] * 3 + [math.inf, math.inf, top]


def test_a_mesh_is_told_which_of_its_pieces_is_not_convex(tmp_path):
    box, torus = trimesh.creation.box((0.1, 0.1, 0.1)), trimesh.creation.torus(0.3, 0.1)
    trimesh.util.concatenate([box, torus.apply_translation((2, 0, 0))]).export(tmp_path / "pair.stl")
    with pytest.raises(InvalidValueError) as error:
        pack_ground([terrain.Mesh(file=tmp_path / "pair.stl")])
    assert str(error.value).endswith(f"got {tmp_path / 'pair.stl'} whose piece 2 of 2 is not")
