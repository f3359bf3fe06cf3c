"""A shoe on solids, edges, half-rounds, heightfields and meshes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from shoe_scene import CLEATED, DOWN, GRIP, LENGTH, PLATE, SHOE, WIDTH, Scene

from segtrack import terrain
from segtrack.ground import (
    ALL_FACES,
    MAX_EDGES,
    MAX_SOLIDS_PER_POINT,
    NONE,
    contact_parameters,
    pack_ground,
    penetration_depth_grid,
    penetration_depth_solid,
)


def test_an_upright_face_pushes_backwards():
    """And the floor in front of it upwards, at the same markers."""
    scene = Scene(terrain.Step(height=0.1, distance=0.0), grip=contact_parameters(0.0, 2e5, 0.0, 1e5))
    forces, _ = scene.hold((-LENGTH / 2 + 1e-4, 0, PLATE.outer - 2e-4))
    assert forces[0, 0] == pytest.approx(-2 * 2e5 * 1e-4, rel=1e-9)
    assert forces[0, 2] == pytest.approx(4 * 2e5 * 2e-4, rel=1e-9)
    assert (scene.motion.solid_ids.reshape(4, MAX_SOLIDS_PER_POINT) != NONE).sum() == 6


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_a_steps_edge_between_the_markers_carries_a_share_of_the_weight(share):
    """A plate that lies level over the edge: its markers behind it and the edge balance its middle."""
    scene = Scene(terrain.Step(height=0.1, distance=0.0))
    x = LENGTH * (0.5 - share)  # So much of its length is over the step.
    forces, torques = scene.hold((x, 0, 0.1 + PLATE.outer - 1e-5))
    assert forces[0, 2] == pytest.approx(4 * 2e5 * 1e-5, rel=1e-9)
    lever = 2 * (LENGTH / 2) + 2 * (0 - x)  # Of two markers at its front, and the edge.
    assert torques[0, 1] == pytest.approx(-lever * 2e5 * 1e-5, rel=1e-9)


def test_a_shoe_slides_off_a_step_without_a_jump():
    """Its last markers hand over to the edge, with which it then tips."""
    scene = Scene(terrain.Step(height=0.1, distance=0.0), grip=contact_parameters(0.0, 2e5, 0.0, 1e5))
    found = [scene.hold((x, 0, 0.1 + PLATE.outer - 1e-5))[0][0] for x in np.linspace(-0.018, 0.03, 49)]
    np.testing.assert_allclose(found, np.tile((0, 0, 8.0), (49, 1)), atol=1e-9)


def test_a_shoe_across_a_thin_wall_rests_on_its_edges():
    wall = terrain.Boxes(boxes=(terrain.GroundBox(x=0, y=0, length=0.01, width=1, height=0.1),))
    scene = Scene(wall)
    scene.state.positions[:] = (0, 0, 0.1 + PLATE.outer + 1e-4)
    scene.run(0.3)
    weight = SHOE.mass * 9.81
    assert scene.state.positions[0, 2] == pytest.approx(
        0.1 + PLATE.outer - weight / (4 * GRIP.stiffness), abs=1e-8
    )
    assert scene.report.normal_forces[0] == pytest.approx(weight, rel=1e-3)
    assert (scene.motion.edge_ids.reshape(1, MAX_EDGES) != NONE).sum() == 2


def test_an_edge_holds_on_to_a_grousers_flank():
    """A step's edge that is pulled against by the grouser behind it."""
    scene = Scene(
        terrain.Step(height=0.1, distance=0.0), tread=CLEATED, grip=contact_parameters(0.0, 2e5, 0.0, 1e5)
    )
    # The grouser's front flank hangs behind the step's face by 0.1 mm, its tip 4 mm below the edge.
    x = -0.0025 + 1e-4
    forces, _ = scene.hold((x, 0, 0.1 + 0.009))
    assert forces[0, 2] == pytest.approx(0, abs=1e-9)
    assert forces[0, 0] == pytest.approx(-4 * 2e5 * 1e-4, rel=1e-9)  # And its tip's two corners.


@pytest.mark.parametrize("ground", [1.0, 0.5])
def test_an_edge_holds_a_shoe_by_the_friction_of_both(ground):
    """A plate hangs over a step's edge, which alone bears it, and is drawn along the edge."""
    scene = Scene(terrain.Step(height=0.1, distance=0.0, friction=ground))
    turn = Rotation.from_euler("y", -0.1) * Rotation.from_quat(DOWN)
    z = 0.1 + PLATE.outer / math.cos(0.1) - 0.01 * math.tan(0.1) - 1e-4
    for _ in range(4):
        forces, _ = scene.hold((-0.01, 0, z), (0, 1, 0), turn.as_quat())
    pushed = scene.report.normal_forces[0]
    assert scene.report.deepest_points[0] == NONE
    assert pushed > 10.0
    assert forces[0, 1] == pytest.approx(-GRIP.friction * ground * pushed, rel=1e-9)


def test_a_shoe_that_is_deepest_on_an_edge_has_no_pressure_there():
    """Its front markers press on the step by 10 um, the edge between all of them enters it deeper."""
    scene = Scene(terrain.Step(height=0.1, distance=0.0))
    turn, angle = Rotation.from_quat(DOWN), 0.01
    turn = Rotation.from_euler("y", -angle) * turn
    front = turn.apply(PLATE.contact_points)[:, 2].max()
    scene.hold((0, 0, 0.1 - front - 1e-5), (0, 0, 0), turn.as_quat())
    assert scene.report.sinkages[0] == pytest.approx(1e-5 + LENGTH / 2 * math.sin(angle), rel=0.01)
    assert scene.report.deepest_points[0] == NONE
    assert scene.report.pressures[0] == 0.0


@pytest.mark.parametrize("away", [(0, 0, 1), (1, 0, 0.001)], ids=["in the air", "over the same solid"])
def test_an_edge_that_was_left_begins_anew(away):
    """Drawn over a step's edge, taken to where no edge is near, and put back."""
    scene, fresh = (Scene(terrain.Step(height=0.1, distance=0.0)) for _ in range(2))
    place = np.array((0, 0, 0.1 + PLATE.outer - 1e-4))
    scene.hold(place, (0, 1, 0))
    drawn, _ = scene.hold(place)
    assert drawn[0, 1] < -1.0
    scene.hold(place + away)
    assert scene.nearby.edge_counts[0] == 0
    found, expected = scene.hold(place), fresh.hold(place)
    np.testing.assert_array_equal(found, expected)


def test_an_edge_beside_a_shoe_pushes_it_sideways():
    """A post's upright edge that touches a shoe's side does not lift it."""
    post = terrain.Boxes(boxes=(terrain.GroundBox(x=0, y=0, length=0.01, width=0.01, height=0.1),))
    scene = Scene(post, grip=contact_parameters(0.0, 2e5, 0.0, 1e5))
    forces, _ = scene.hold((0, 0.005 + WIDTH / 2 - 1e-4, 0.05))
    assert forces[0, 1] == pytest.approx(4 * 2e5 * 1e-4, rel=1e-9)
    assert abs(forces[0, 2]) < 1e-9


def test_depth_in_a_solid_is_the_way_to_its_nearest_face():
    """Against the distances to all planes of the corners' convex hull."""
    random = np.random.default_rng(0)
    solids = (
        terrain.Boxes(boxes=(terrain.GroundBox(x=0.1, y=0.2, length=1, width=0.5, height=0.3, yaw=0.4),)),
        terrain.Ramp(slope=0.4, length=1.0, distance=-0.5, width=1.0),
    )
    for described in solids:
        shape = described.solids()[1]  # Behind the floor.
        alone = SimpleNamespace(solids=lambda shape=shape: (shape,), friction=1.0, soil=None)
        ground, solid = pack_ground([alone]), 0
        ends = ground.edges[ground.edge_starts[solid] : ground.edge_starts[solid + 1]].reshape(-1, 3)
        hull = np.unique(ConvexHull(ends).equations.round(12), axis=0)
        points = random.uniform(ground.bounds[solid, :3], ground.bounds[solid, 3:], (300, 3))
        above = points @ hull[:, :3].T + hull[:, 3]
        inside = above.max(axis=1) < 0
        assert 30 < inside.sum() < 300
        for point, expected, within in zip(points, above, inside, strict=True):
            depth, normal = penetration_depth_solid(ground, solid, ALL_FACES, tuple(point), math.inf, True)
            assert depth == pytest.approx(-expected.max(), rel=1e-9, abs=1e-12)
            near, _ = penetration_depth_solid(ground, solid, ALL_FACES, tuple(point), 0.1, False)
            beyond = expected.max() >= 0.1 or (expected > 0).sum() > 1
            assert near == (-math.inf if beyond else depth)
            if within:
                np.testing.assert_allclose(normal, hull[expected.argmax(), :3], atol=1e-12)


def test_a_half_rounds_facets_touch_its_circle():
    ground = pack_ground([terrain.HalfRound(radius=0.1, distance=-0.1)])
    circle = np.hypot(ground.edges[12:, 0], ground.edges[12:, 2])
    np.testing.assert_allclose(circle, 0.1, rtol=1e-12)
    for angle in np.linspace(0, np.pi, 100):
        point = (0.099 * math.cos(angle), 0.0, 0.099 * math.sin(angle))
        depth, normal = penetration_depth_solid(ground, 1, ALL_FACES, point, math.inf, True)
        assert 1e-3 - 0.1 * (1 - math.cos(math.pi / 128)) - 1e-9 <= depth <= 1e-3
        assert np.dot(normal, point) > 0.099 * 0.9996
    assert penetration_depth_solid(ground, 1, ALL_FACES, (0.1, 0.0, 0.05), 0.0, False)[0] < 0


def test_a_plate_balances_on_a_half_round():
    """It touches between its markers."""
    scene = Scene(terrain.HalfRound(radius=0.1, distance=-0.1))
    forces, torques = scene.hold((0, 0, 0.1 + PLATE.outer - 1e-5))
    assert forces[0, 2] == pytest.approx(2 * 2e5 * 1e-5, rel=1e-6)
    np.testing.assert_allclose(torques[0], 0, atol=1e-9)


def test_a_grid_is_as_high_as_its_terrain():
    heights = np.random.default_rng(1).normal(scale=0.1, size=(7, 5))
    field = terrain.Heightfield(heights=heights, spacing=0.2, center=(0.3, -0.1))
    other = terrain.Heightfield(heights=heights + 1, spacing=0.2)
    ground = pack_ground([other, field])
    random = np.random.default_rng(2)
    for x, y in random.uniform(-0.9, 1.1, (500, 2)):
        depth, normal, _ = penetration_depth_grid(ground, 1, (x, y, -1.0))
        height = field.height_at(x, y)
        assert (depth > 0) == np.isfinite(height)
        if depth > 0:
            assert depth / normal[2] == pytest.approx(height + 1, rel=1e-9)
            slope = [(field.height_at(x + dx, y + dy) - height) / 1e-7 for dx, dy in ((1e-7, 0), (0, 1e-7))]
            expected = np.array([-slope[0], -slope[1], 1])
            np.testing.assert_allclose(normal, expected / np.linalg.norm(expected), atol=1e-5)


def test_a_shoe_rests_on_a_heightfield():
    scene = Scene(terrain.Heightfield(heights=np.full((3, 3), 0.1), spacing=0.5))
    scene.state.positions[:] = (0, 0, 0.1 + PLATE.outer)
    scene.run(0.2)
    assert scene.report.normal_forces[0] == pytest.approx(SHOE.mass * 9.81, rel=1e-3)
    assert (scene.motion.solid_ids[scene.motion.solid_ids != NONE] == 0).all()


def test_what_is_near_is_all_that_a_shoe_can_touch():
    """Against the bounds of all solids of a step field."""
    field = terrain.StepField(max_height=0.2, cell=0.1, rows=10, columns=10, distance=-0.5)
    scene = Scene(field, count=50)
    random = np.random.default_rng(3)
    positions = random.uniform((-0.6, -0.6, 0), (0.6, 0.6, 0.25), (50, 3))
    turns = Rotation.random(50, random_state=4)
    scene.hold(positions, orientation=turns.as_quat())
    for i in range(50):
        corners = positions[i] + turns[i].apply(
            np.concatenate([PLATE.contact_points, PLATE.contact_points * (1, 1, -1)])
        )
        low, high = corners.min(axis=0) - 0.005, corners.max(axis=0) + 0.005
        near = ((scene.ground.bounds[:, :3] <= high) & (scene.ground.bounds[:, 3:] >= low)).all(axis=1)
        found = scene.nearby.solids[i, : scene.nearby.solid_counts[i]]
        np.testing.assert_array_equal(found, np.flatnonzero(near))


def test_a_mesh_of_convex_pieces_is_as_deep_as_the_boxes_that_it_shows(tmp_path):
    """Two boxes as one file, turned and moved, against the same boxes described."""
    turn = Rotation.from_euler("z", 0.3)
    boxes = [trimesh.creation.box((0.4, 0.2, 0.1)), trimesh.creation.box((0.2, 0.2, 0.2))]
    pair = trimesh.util.concatenate([boxes[0], boxes[1].apply_translation((1, 0, 0))])
    pair.export(tmp_path / "boxes.stl")
    mesh = terrain.Mesh(
        file=tmp_path / "boxes.stl", position=(0.1, 0.2, 0.3), orientation=tuple(turn.as_quat().tolist())
    )
    ground = pack_ground([mesh])
    assert (len(ground.planes), len(ground.edges)) == (2, 24)
    centers = turn.apply([(0, 0, 0), (1, 0, 0)]) + (0.1, 0.2, 0.3)
    halves = np.array([(0.2, 0.1, 0.05), (0.1, 0.1, 0.1)])
    rng = np.random.default_rng(1)
    for solid in range(2):
        for point in centers[solid] + rng.uniform(-0.2, 0.2, (200, 3)):
            depth, _ = penetration_depth_solid(ground, solid, ALL_FACES, tuple(point), math.inf, True)
            own = turn.inv().apply(point - centers[solid])
            expected = np.min(halves[solid] - np.abs(own))
            if expected > 0:
                assert depth == pytest.approx(expected, abs=1e-6)
            else:
                assert depth <= 0
