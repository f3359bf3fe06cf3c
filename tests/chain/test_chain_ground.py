import math
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from scipy.optimize import brentq
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from segtrack import terrain
from segtrack.chain.shoe_contact import (
    TerrainContact,
    add_terrain_contacts,
    allocate_contact_arrays,
    allocate_shoe_history,
    find_contact_candidates,
)
from segtrack.chain.shoe_dynamics import allocate_work_arrays, drift, kick, start_loads
from segtrack.chain.shoe_state import ChainState
from segtrack.chain.shoes import Bushing, Chain, Shoe
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.ground.broadphase import MAX_EDGES, MAX_SOLIDS_PER_POINT, NONE
from segtrack.ground.contact_laws import contact_parameters
from segtrack.ground.pack import RIGID, Ground, pack_ground
from segtrack.ground.point_contact import penetration_depth_grid, penetration_depth_solid, soil_between
from segtrack.ground.tread import Grouser, Tread, ground_bounds, pack_treads
from segtrack.terrain.soil import Soil, SoilConstants, find_soil, published_soils

LENGTH, WIDTH = 0.0384, 0.075
SHOE = Shoe.of_box(0.05, (LENGTH, WIDTH, 0.010))
PLATE = Tread(LENGTH, WIDTH, outer=0.005, thickness=0.010)
CLEATED = Tread(LENGTH, WIDTH, 0.005, 0.010, Grouser(height=0.008, base=0.005, top=0.005))
GRIP = contact_parameters(
    friction=0.5, stiffness=2e5, damping=50.0, tangential_stiffness=1e5, tangential_damping=20.0
)
STEP = 5e-5
DOWN = (1.0, 0.0, 0.0, 0.0)
"""A shoe that lies on its outer side: its z looks down, its y to the right."""
SAND = find_soil("LETE sand")
LINEAR = Soil.linear(1e6, 1000.0, math.radians(30), 100.0)


class Scene:
    """Links that are not joined, on ground."""

    def __init__(self, *terrains, tread=PLATE, count=1, grip=GRIP, gravity=(0, 0, -9.81)):
        self.chain = Chain(count, SHOE, Bushing(1e6), closed=False)
        self.ground, self.treads, self.grip = pack_ground(terrains), pack_treads([tread], [0] * count), grip
        self.frames, self.loads = allocate_work_arrays(self.chain)
        self.motion = allocate_shoe_history(self.treads)
        self.report, self.nearby = allocate_contact_arrays(self.ground, self.treads)
        self.step = STEP
        self.weight = tuple(SHOE.mass * g for g in map(float, gravity))
        zeros = np.zeros((count, 3))
        self.state = ChainState(zeros, np.tile(DOWN, (count, 1)), zeros, zeros)

    def gather(self, step, weight=None):
        contact = TerrainContact(
            self.ground, self.treads, self.grip, self.motion, self.report, self.nearby, margin=0.005
        )
        find_contact_candidates(contact, self.frames)
        start_loads(self.loads, self.weight if weight is None else weight)
        add_terrain_contacts(contact, self.frames, self.loads, step)

    def run(self, duration, velocity_decay=1.0):
        """Let the links move freely."""
        for _ in range(round(duration / self.step)):
            drift(self.state.arrays, self.frames, self.chain.constants, self.step / 2)
            self.gather(self.step)
            kick(self.state.arrays, self.frames, self.loads, self.chain.constants, self.step, velocity_decay)
            drift(self.state.arrays, self.frames, self.chain.constants, self.step / 2)

    def hold(self, position=None, velocity=(0, 0, 0), orientation=None, step=None):
        """Put the links somewhere, and find what the ground does to them: forces and torques (n, 3)."""
        if position is not None:
            self.state.positions[:] = position
        if orientation is not None:
            self.state.orientations[:] = orientation
        self.state.velocities[:] = velocity
        drift(self.state.arrays, self.frames, self.chain.constants, 0.0)
        self.gather(self.step if step is None else step, weight=(0.0, 0.0, 0.0))
        n = self.chain.count
        return self.loads.forces[:n].copy(), self.loads.torques[:n].copy()


def plate_at(sinkage):
    """Where a plate that lies on its outer side is pressed in by so much."""
    return (0, 0, PLATE.outer - sinkage)


def tilted(angle):
    """Gravity as felt on a slope that rises along x."""
    return (-9.81 * math.sin(angle), 0, -9.81 * math.cos(angle))


# A shoe on rigid ground


@pytest.mark.parametrize("tread", [PLATE, CLEATED])
def test_a_dropped_shoe_rests_on_four_markers(tread):
    scene = Scene(terrain.Plane(), tread=tread)
    tip = tread.contact_points[-1, 2]
    scene.state.positions[0, 2] = tip + 0.002
    scene.run(0.3)
    weight = SHOE.mass * 9.81
    assert tip - scene.state.positions[0, 2] == pytest.approx(weight / (4 * GRIP.stiffness), rel=1e-3)
    assert np.abs(scene.state.velocities).max() < 1e-8
    assert scene.report.normal_forces[0] == pytest.approx(weight, rel=1e-3)
    assert scene.report.sinkages[0] == pytest.approx(weight / (4 * GRIP.stiffness), rel=1e-3)
    area = tread.areas[-1]
    assert scene.report.pressures[0] == pytest.approx(weight / 4 / area, rel=1e-3)


def test_a_shoe_sticks_to_a_slope_below_the_angle_of_friction():
    scene = Scene(terrain.Plane(), gravity=tilted(math.atan(0.48)))
    scene.state.positions[:] = plate_at(0)
    scene.run(0.1)
    settled = scene.state.positions.copy()
    scene.run(0.2)
    np.testing.assert_allclose(scene.state.positions, settled, atol=1e-10)
    assert -1e-5 < settled[0, 0] < 0
    assert scene.report.shear_forces[0, 0] == pytest.approx(-scene.weight[0], rel=1e-6)


@pytest.mark.parametrize("ground_friction", [1.0, 0.6])
def test_a_shoe_slides_down_a_steeper_slope_as_coulomb_says(ground_friction):
    angle = math.radians(35)
    mu = GRIP.friction * ground_friction
    scene = Scene(terrain.Plane(friction=ground_friction), gravity=tilted(angle))
    scene.state.positions[:] = plate_at(1e-6)
    scene.run(0.1)
    before = scene.state.velocities[0, 0]
    scene.run(0.2)
    found = (before - scene.state.velocities[0, 0]) / 0.2
    assert found == pytest.approx(9.81 * (math.sin(angle) - mu * math.cos(angle)), rel=0.01)


def test_without_friction_the_floor_pushes_straight_up():
    scene = Scene(terrain.Plane(), grip=contact_parameters(0.0, 2e5, 50.0, 1e5))
    forces, torques = scene.hold(plate_at(1e-4), velocity=(0.3, 0.2, 0.1))
    assert forces[0, 0] == forces[0, 1] == 0
    assert forces[0, 2] == pytest.approx(4 * (2e5 * 1e-4 - 50 * 0.1), rel=1e-9)
    np.testing.assert_allclose(torques, 0, atol=1e-12)


def test_a_shoe_that_leaves_is_never_held_back():
    scene = Scene(terrain.Plane())
    forces, _ = scene.hold(plate_at(1e-5), velocity=(0, 0, 1.0))
    assert (forces == 0).all()


def test_forces_make_the_torque_of_their_markers():
    """On a shoe that stands askew in the floor on one of its corners."""
    scene = Scene(terrain.Plane())
    turn = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]) * Rotation.from_quat(DOWN)
    places = turn.apply(PLATE.contact_points)
    lowest = places[:, 2].argmin()
    forces, torques = scene.hold((0, 0, -places[lowest, 2] - 1e-4), (0.1, 0.2, -0.1), turn.as_quat())
    assert np.count_nonzero(forces) == 3
    np.testing.assert_allclose(torques[0], np.cross(places[lowest], forces[0]), rtol=1e-9)
    np.testing.assert_allclose(
        forces[0], scene.report.shear_forces[0] + (0, 0, scene.report.normal_forces[0]), rtol=1e-9
    )


def test_a_contact_sticks_where_it_was_until_friction_is_reached():
    """K_t x, then mu N for good, and K_t less again on the way back."""
    scene = Scene(terrain.Plane(), grip=contact_parameters(0.5, 2e5, 0.0, 1e5))
    limit = 0.5 * 4 * 2e5 * 1e-4
    for x, expected in (
        (0, 0),
        (5e-5, -20),
        (1e-3, -limit),
        (1e-3 - 5e-5, -limit + 20),
        (1e-3 - 1e-2, limit),
    ):
        speed = (x - scene.state.positions[0, 0]) / STEP
        forces, _ = scene.hold((x, 0, plate_at(1e-4)[2]), (speed, 0, 0))
        assert forces[0, 0] == pytest.approx(expected, abs=1e-9)


def test_a_contact_that_was_lost_begins_anew():
    scene = Scene(terrain.Plane())
    scene.hold(plate_at(1e-4), (1, 0, 0))
    assert (scene.motion.solid_ids != NONE).sum() == 4
    scene.hold(plate_at(-1e-4))
    assert (scene.motion.solid_ids == NONE).all()
    scene.hold(plate_at(1e-4))
    forces, _ = scene.hold(plate_at(1e-4))
    assert forces[0, 0] == 0
    scene.hold((0, 0, 1))
    assert scene.nearby.solid_counts[0] == 0
    assert (scene.motion.solid_ids == NONE).all()


def test_contacts_found_with_no_step_are_not_sheared():
    scene = Scene(terrain.Plane())
    scene.hold(plate_at(1e-4), (1, 0, 0), step=0.0)
    assert (scene.motion.shear_displacements == 0).all()


# Solids


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
        ground = pack_ground([described])
        solid = 1  # Behind the floor.
        ends = ground.edges[ground.edge_starts[solid] : ground.edge_starts[solid + 1]].reshape(-1, 3)
        hull = ConvexHull(ends).equations
        points = random.uniform(ground.bounds[solid, :3], ground.bounds[solid, 3:], (300, 3))
        above = points @ hull[:, :3].T + hull[:, 3]
        inside = above.max(axis=1) < 0
        assert 30 < inside.sum() < 300
        for point, expected, within in zip(points, above, inside, strict=True):
            depth, normal = penetration_depth_solid(ground.planes, ground.faces[solid], solid, tuple(point))
            assert (depth > 0) == within
            if within:
                assert depth == pytest.approx(-expected.max(), rel=1e-9)
                np.testing.assert_allclose(normal, hull[expected.argmax(), :3], atol=1e-12)


def test_a_half_rounds_facets_touch_its_circle():
    ground = pack_ground([terrain.HalfRound(radius=0.1, distance=-0.1)])
    circle = np.hypot(ground.edges[12:, 0], ground.edges[12:, 2])
    np.testing.assert_allclose(circle, 0.1, rtol=1e-12)
    for angle in np.linspace(0, np.pi, 100):
        point = (0.099 * math.cos(angle), 0.0, 0.099 * math.sin(angle))
        depth, normal = penetration_depth_solid(ground.planes, ground.faces[1], 1, point)
        assert 1e-3 - 0.1 * (1 - math.cos(math.pi / 128)) - 1e-9 <= depth <= 1e-3
        assert np.dot(normal, point) > 0.099 * 0.9996
    assert penetration_depth_solid(ground.planes, ground.faces[1], 1, (0.1, 0.0, 0.05))[0] < 0


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


# Soil


@pytest.mark.parametrize("name", ["LETE sand", "dry sand", "snow (US)", "sandy loam 15%"])
def test_a_plate_sinks_as_bekker_says(name):
    """p = (k_c / b + k_phi) z^n, solved for z."""
    soil = find_soil(name)
    modulus = soil.cohesive_modulus / LENGTH + soil.frictional_modulus
    scene = Scene(terrain.Plane(soil=soil))
    for pressure in (2e3, 1e4, 3e4):
        sinkage = (pressure / modulus) ** (1 / soil.sinkage_exponent)
        forces, _ = scene.hold(plate_at(sinkage))
        assert forces[0, 2] == pytest.approx(pressure * LENGTH * WIDTH, rel=1e-3)
        assert scene.report.pressures[0] == pytest.approx(pressure, rel=1e-3)


def test_linear_soil_carries_in_proportion_to_sinkage_both_ways():
    """Omar 2014, equation 48."""
    scene = Scene(terrain.Plane(soil=LINEAR))
    for sinkage in (0.002, 0.010, 0.004):
        forces, _ = scene.hold(plate_at(sinkage))
        assert forces[0, 2] == pytest.approx(1e6 * sinkage * LENGTH * WIDTH, rel=1e-9)


@pytest.mark.parametrize("growth", [3e9, 0.0])
def test_soil_unloads_and_loads_again_along_one_slope(growth):
    """k_0 + A_u z_u (Wong), down to nothing, up to the greatest sinkage, and then as if never unloaded.

    No softer than p_u / z_u, with which soil rises as high as it was before.
    """
    soil = replace(SAND, unloading_stiffness=1e7, unloading_growth=growth)
    scene = Scene(terrain.Plane(soil=soil))
    area, greatest = LENGTH * WIDTH, 0.010
    modulus = soil.cohesive_modulus / LENGTH + soil.frictional_modulus
    virgin = modulus * greatest**soil.sinkage_exponent
    slope = 1e7 + growth * greatest if growth else virgin / greatest
    assert slope >= virgin / greatest
    scene.hold(plate_at(greatest))
    for sinkage in (0.008, 0.004, 0.001, 0.003, 0.009):
        forces, _ = scene.hold(plate_at(sinkage))
        expected = max(0.0, virgin - slope * (greatest - sinkage))
        assert forces[0, 2] == pytest.approx(expected * area, rel=1e-9)
    forces, _ = scene.hold(plate_at(0.012))
    assert forces[0, 2] == pytest.approx(modulus * 0.012**soil.sinkage_exponent * area, rel=1e-9)


def test_soil_where_a_shoe_comes_down_anew_is_untouched():
    """It carries as on a first loading, not as in the rut that it left."""
    scene = Scene(terrain.Plane(soil=SAND))
    first, _ = scene.hold(plate_at(0.004))
    scene.hold(plate_at(0.010))
    scene.hold(plate_at(-0.001))
    again, _ = scene.hold(plate_at(0.004))
    modulus = SAND.cohesive_modulus / LENGTH + SAND.frictional_modulus
    pressure = modulus * 0.004**SAND.sinkage_exponent
    assert [first[0, 2], again[0, 2]] == pytest.approx([pressure * LENGTH * WIDTH] * 2, rel=1e-9)


def test_a_shoe_dropped_on_soil_comes_to_rest_in_its_rut():
    """Deeper than its weight alone would press it."""
    soft = find_soil("snow (US)")
    scene = Scene(terrain.Plane(soil=soft))
    scene.state.positions[:] = plate_at(-0.01)
    scene.run(1.0)
    assert np.abs(scene.state.velocities).max() < 1e-4
    assert scene.report.normal_forces[0] == pytest.approx(SHOE.mass * 9.81, rel=1e-2)
    modulus = soft.cohesive_modulus / LENGTH + soft.frictional_modulus
    static = (SHOE.mass * 9.81 / LENGTH / WIDTH / modulus) ** (1 / soft.sinkage_exponent)
    assert PLATE.outer - scene.state.positions[0, 2] > static


SHEARED = {
    "exponential": lambda j, k: 1 - np.exp(-j / k),
    "tanh": lambda j, k: np.tanh(j / k),
}


@pytest.mark.parametrize("soil", [SAND, LINEAR], ids=["Janosi-Hanamoto", "Omar"])
@pytest.mark.parametrize("slip", [0.05, 0.2, 0.6])
def test_a_row_of_shoes_pulls_as_its_slip_says(soil, slip):
    """The integral of the shear stress along a track, each shoe of which sheared soil since it came down.

    For Janosi and Hanamoto's law it is (A c + W tan(phi)) (1 - K / (i l) (1 - exp(-i l / K))).
    """
    count = 15
    length = count * LENGTH
    scene = Scene(terrain.Plane(soil=soil), count=count, grip=contact_parameters(0.5, 2e5, 0.0, 1e5))
    places = np.stack([(np.arange(count) + 0.5) * LENGTH, np.zeros(count), np.zeros(count)], axis=1)
    places[:, 2] = plate_at(0.005)[2]
    steps = 300
    for step in range(steps):
        # The shoe at x has slipped backwards by i x.
        way = slip * places[:, 0]
        velocity = np.stack([-way / (steps * STEP), np.zeros(count), np.zeros(count)], axis=1)
        at = places + velocity * (step * STEP)
        forces, _ = scene.hold(at, velocity)
    weight, pull = forces[:, 2].sum(), forces[:, 0].sum()
    k = soil.shear_deformation_modulus
    most = length * WIDTH * soil.cohesion + weight * math.tan(soil.friction_angle)
    j = np.linspace(0, slip * length, 10_001)
    expected = most * np.trapezoid(SHEARED[soil.shear_law](j, k), j) / (slip * length)
    if soil.shear_law == "exponential":
        closed = most * (1 - k / (slip * length) * (1 - math.exp(-slip * length / k)))
        assert expected == pytest.approx(closed, rel=1e-6)
    assert pull == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("soil", [SAND, LINEAR], ids=["exponential", "tanh"])
def test_sheared_soil_gives_way_at_once_when_it_is_sheared_back(soil):
    """Its stress turns over within less than its shear modulus, however far it was sheared before."""
    scene = Scene(terrain.Plane(soil=soil), grip=contact_parameters(0.5, 2e5, 0.0, 1e5))
    pulls = []
    for speed in [1.0] * 4000 + [-1.0] * 4000:
        x = scene.state.positions[0, 0] + speed * STEP / 2
        pulls.append(scene.hold((x, 0, plate_at(0.005)[2]), (speed, 0, 0))[0][0, 0])
    pulls = np.array(pulls)
    assert pulls[3999] == pytest.approx(-pulls[-1], rel=1e-6)
    turned = np.flatnonzero(pulls > 0)[0] - 4000
    assert 0.3 * soil.shear_deformation_modulus < turned * STEP / 2 < 2 * soil.shear_deformation_modulus


def test_a_shoe_holds_on_a_slope_of_soil():
    """Its shear stress stays without slip, and it creeps by nothing."""
    scene = Scene(terrain.Plane(soil=SAND), gravity=tilted(math.radians(20)))
    scene.state.positions[:] = plate_at(0)
    scene.run(0.5)
    settled = scene.state.positions.copy()
    scene.run(0.3)
    np.testing.assert_allclose(scene.state.positions, settled, atol=1e-7)
    assert scene.report.shear_forces[0, 0] == pytest.approx(-scene.weight[0], rel=1e-2)


def test_slip_damping_is_that_of_equation_55():
    soil = Soil.linear(1e6, 0.0, 0.0, 100.0, slip_damping=1e4, slip_speed=0.2)
    scene = Scene(terrain.Plane(soil=soil), grip=contact_parameters(0.5, 2e5, 0.0, 1e5))
    forces, _ = scene.hold(plate_at(0.005), (0.3, 0.4, 0.0))
    size = 0.5 * LENGTH * WIDTH * 1e4 * (1 - math.exp(-0.5 / 0.2))
    np.testing.assert_allclose(forces[0, :2], (-0.6 * size, -0.8 * size), rtol=1e-9)


def test_soil_is_never_stiffer_than_rigid_ground():
    """Heavy clay, with an exponent of 0.13, would be infinitely stiff where it is untouched."""
    depth = 1e-6
    forces = [
        Scene(terrain.Plane(soil=soil)).hold(plate_at(depth))[0][0, 2]
        for soil in (None, find_soil("heavy clay 25%"))
    ]
    assert forces[0] == pytest.approx(4 * GRIP.stiffness * depth)
    assert forces[1] == pytest.approx(forces[0])


def test_soil_is_interpolated_within_a_triangle():
    """Equation 47 of Omar 2014, with its determinants, for every constant."""
    random = np.random.default_rng(5)

    def some_soil():
        numbers = random.uniform(0.5, 1.5, 9)
        return Soil(
            sinkage_exponent=numbers[0],
            cohesive_modulus=1e4 * numbers[1],
            frictional_modulus=1e6 * numbers[2],
            cohesion=1e3 * numbers[3],
            friction_angle=0.5 * numbers[4],
            shear_deformation_modulus=0.01 * numbers[5],
            unloading_stiffness=1e6 * numbers[6],
            unloading_growth=1e8 * numbers[7],
            slip_damping=numbers[8],
        )

    soils = [[some_soil() for _ in range(3)] for _ in range(4)]
    field = terrain.Heightfield(heights=np.zeros((4, 3)), spacing=1.0, soils=soils)
    ground = pack_ground([field])
    assert len(ground.soils) == 12
    for x, y in random.uniform((-1.5, -1), (1.5, 1), (50, 2)):
        _, _, corners = penetration_depth_grid(ground, 0, (x, y, -0.1))
        i, j = math.floor(x + 1.5), math.floor(y + 1)
        near = (x + 1.5 - i) + (y + 1 - j) <= 1
        points = [(i, j), (i + 1, j), (i, j + 1)] if near else [(i + 1, j + 1), (i + 1, j), (i, j + 1)]
        (x1, y1), (x2, y2), (x3, y3) = ((i - 1.5, j - 1.0) for i, j in points)
        w = np.array([soils[i][j].constants for i, j in points])
        doubled = np.linalg.det([[1, x1, y1], [1, x2, y2], [1, x3, y3]])
        expected = (
            (x2 * y3 - x3 * y2 + (y2 - y3) * x + (x3 - x2) * y) * w[0]
            + (x3 * y1 - x1 * y3 + (y3 - y1) * x + (x1 - x3) * y) * w[1]
            + (x1 * y2 - x2 * y1 + (y1 - y2) * x + (x2 - x1) * y) * w[2]
        ) / doubled
        np.testing.assert_allclose(soil_between(ground, corners), expected, rtol=1e-9)


def test_a_field_of_one_soil_is_like_flat_ground_of_it():
    flat = Scene(terrain.Plane(soil=SAND)).hold(plate_at(0.005), (0.1, 0, 0))
    field = terrain.Heightfield(heights=np.zeros((3, 3)), spacing=0.5, soil=SAND)
    np.testing.assert_allclose(Scene(field).hold(plate_at(0.005), (0.1, 0, 0)), flat, atol=1e-9)
    patches = terrain.Heightfield(heights=np.zeros((3, 3)), spacing=0.5, soils=np.full((3, 3), SAND))
    np.testing.assert_allclose(Scene(patches).hold(plate_at(0.005), (0.1, 0, 0)), flat, atol=1e-9)


def test_every_published_soil_can_be_found():
    assert len(published_soils()) == 16
    for name, soil in published_soils().items():
        assert find_soil(name) is soil
    assert find_soil("Upland sandy loam").constants == SoilConstants(
        1.1, 74600, 2080000, 3300, math.tan(math.radians(33.7)), 0.025, 0, 0, 0, 1, 0
    )


# Stability and symmetry


@pytest.mark.parametrize("tread", [PLATE, CLEATED])
def test_bounds_hold_what_the_floor_does_to_a_shoe(tread):
    """The stiffness matrix by differences, all of whose directions the bound is at least as stiff in."""
    scene = Scene(terrain.Plane(), tread=tread, grip=contact_parameters(100.0, 2e5, 0.0, 1e5))
    z = tread.contact_points[-1, 2] - 1e-3

    def load(move):
        scene.motion.solid_ids[:] = NONE
        scene.hold((0, 0, z), orientation=DOWN)
        turn = Rotation.from_quat(DOWN) * Rotation.from_rotvec(move[3:])
        down = Rotation.from_quat(DOWN)
        forces, torques = scene.hold((0, 0, z) + down.apply(move[:3]), (0, 0, 0), turn.as_quat())
        return np.concatenate([down.inv().apply(forces[0]), down.inv().apply(torques[0])])

    found = np.array([(load(-move) - load(move)) / 2e-6 for move in 1e-6 * np.eye(6)])
    bound, _ = ground_bounds(tread, scene.grip)
    symmetric = (found + found.T) / 2
    assert np.linalg.eigvalsh(bound - symmetric).min() > -1e-6 * np.abs(bound).max()


@pytest.mark.parametrize("damping", [0.0, 50.0])
@pytest.mark.parametrize("soil", [None, SAND], ids=["rigid", "sand"])
def test_a_shoe_in_the_floor_is_stable_at_the_bounds_sub_step(damping, soil):
    """At which 4 M - 2 h C - h^2 K is singular; pushed into the floor by ten times its weight."""
    grip = contact_parameters(1.0, 2e5, damping, 2e5, damping)
    scene = Scene(terrain.Plane(soil=soil), tread=CLEATED, grip=grip, gravity=(0, 0, -98.1))
    mass = np.diag([SHOE.mass] * 3 + list(SHOE.inertia))
    stiffness, damper = ground_bounds(CLEATED, grip)
    scene.step = brentq(
        lambda h: np.linalg.eigvalsh(4 * mass - 2 * h * damper - h * h * stiffness).min(), 1e-6, 1e-2
    )
    assert scene.step > 5e-5
    scene.state.positions[:] = (0, 0, 0.013 - 1e-5)
    scene.state.velocities[:] = (0.01, 0.01, -0.01)
    scene.state.angular_velocities_body[:] = (0.5, 0.5, 0.5)
    scene.run(0.5)
    assert np.abs(scene.state.velocities).max() < (0.05 if soil is None else 0.5)
    assert abs(scene.state.positions[0, 2] - 0.013) < (1e-3 if soil is None else 2e-2)


def test_kinds_of_shoes_alternate():
    """Of which only those with a grouser reach the floor."""
    scene = Scene(terrain.Plane(), count=4)
    scene.treads = pack_treads([PLATE, CLEATED], [0, 1, 0, 1])
    scene.motion = allocate_shoe_history(scene.treads)
    forces, _ = scene.hold(np.column_stack([LENGTH * np.arange(4), np.zeros(4), np.full(4, 0.013 - 1e-5)]))
    np.testing.assert_allclose(forces[:, 2], [0, 8, 0, 8], atol=1e-9)


def test_left_and_right_mirror():
    ground = terrain.Step(height=0.002, distance=0.0)
    right, left = Scene(ground, tread=CLEATED), Scene(ground, tread=CLEATED)
    for scene, sign in ((right, 1), (left, -1)):
        turn = Rotation.from_euler("xyz", [0.05 * sign, 0.1, 0.2 * sign]) * Rotation.from_quat(DOWN)
        scene.state.positions[:] = (-0.005, 0, 0.016)
        scene.state.orientations[:] = turn.as_quat()
        scene.state.velocities[:] = (0.3, 0.1 * sign, -0.1)
        scene.run(0.05)
    np.testing.assert_allclose(left.state.positions, right.state.positions * (1, -1, 1), atol=1e-9)


def test_a_shoe_comes_to_the_same_place_to_the_bit():
    found = []
    for _ in range(2):
        scene = Scene(terrain.HalfRound(radius=0.05, distance=-0.05), tread=CLEATED)
        scene.state.positions[:] = (0.01, 0, 0.07)
        scene.run(0.05)
        found.append(scene.state.positions.copy())
    np.testing.assert_array_equal(*found)


# Bad input


def some_soil(**named):
    values = {
        "sinkage_exponent": 1.0,
        "cohesive_modulus": 1.0,
        "frictional_modulus": 1.0,
        "cohesion": 0.0,
        "friction_angle": 0.5,
        "shear_deformation_modulus": 0.01,
    }
    return Soil(**values | named)


FLAT = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: some_soil(sinkage_exponent=0),
            "Soil.sinkage_exponent must be a positive finite number, got 0",
        ),
        (
            lambda: some_soil(cohesive_modulus=-1.0),
            "Soil.cohesive_modulus must be a finite number of at least 0 [N/m^(n+1)], got -1.0",
        ),
        (
            lambda: some_soil(cohesive_modulus=0, frictional_modulus=0),
            "Soil.frictional_modulus must be above 0 without a cohesive modulus, got 0.0",
        ),
        (
            lambda: some_soil(friction_angle=30.0),
            "Soil.friction_angle must be less than pi/2 [rad], got 30.0",
        ),
        (
            lambda: some_soil(shear_deformation_modulus=0.0),
            "Soil.shear_deformation_modulus must be a positive finite number [m], got 0.0",
        ),
        (
            lambda: some_soil(shear_law="linear"),
            "Soil.shear_law must be one of exponential, tanh, got 'linear'",
        ),
        (
            lambda: Soil.linear(1e6, 0, 0, 0.0),
            "shear_rate of a linear soil must be greater than 0 [1/m], got 0.0",
        ),
        (lambda: terrain.Plane(soil="sand"), "Plane.soil must be a Soil or None, got 'sand'"),
        (
            lambda: terrain.Heightfield(heights=FLAT, spacing=1.0, soils=[[SAND]]),
            "Heightfield.soils must be of the heights' shape (2, 2), got (1, 1)",
        ),
        (
            lambda: terrain.Heightfield(heights=FLAT, spacing=1.0, soils=[[SAND, SAND], [SAND, 1]]),
            "Heightfield.soils[1, 1] must be a Soil, got 1",
        ),
        (
            lambda: terrain.Heightfield(heights=FLAT, spacing=1.0, soils=[[SAND, SAND], [SAND, LINEAR]]),
            "Heightfield.soils must be of one shear law, got ['exponential', 'tanh']",
        ),
        (lambda: contact_parameters(-1, 1, 0, 1), "friction of a contact must be at least 0, got -1"),
        (
            lambda: contact_parameters(1, 1, 0, 0),
            "tangential_stiffness of a contact must be greater than 0, got 0",
        ),
        (lambda: Tread(0.04, 0, 0.005, 0.01), "width of a tread must be greater than 0, got 0.0"),
        (
            lambda: Tread(0.04, 0.1, 0.005, 0.01, Grouser(0.01, 0.05, 0.01)),
            "grouser of a tread must be within the plate's length, got "
            "Grouser(height=0.01, base=0.05, top=0.01, x=0.0)",
        ),
        (lambda: Grouser(0.01, 0.01, 0.02), "top of a grouser must be at most its base of 0.01, got 0.02"),
        (
            lambda: pack_treads([PLATE], [0, 1]),
            "kinds of treads must be one for each link, from 0 to 0, got [0, 1]",
        ),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message


def test_the_soils_that_there_are_are_listed():
    with pytest.raises(UnknownNameError) as error:
        find_soil("mud")
    assert str(error.value).startswith("no soil 'mud'; there are: dry sand, sandy loam 15%, ")


def test_an_empty_mesh_is_no_ground(tmp_path):
    file = tmp_path / "hill.stl"
    file.touch()
    with pytest.raises(InvalidValueError) as error:
        pack_ground([terrain.Mesh(file=file)])
    assert str(error.value) == f"ground must be an OBJ or STL file of solids, got '{file}'"


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
            depth, _ = penetration_depth_solid(ground.planes, ground.faces[solid], solid, tuple(point))
            own = turn.inv().apply(point - centers[solid])
            expected = np.min(halves[solid] - np.abs(own))
            if expected > 0:
                assert depth == pytest.approx(expected, abs=1e-6)
            else:
                assert depth <= 0


def test_rigid_ground_has_no_soil():
    ground = pack_ground([terrain.Plane(), terrain.Plane(soil=SAND), terrain.Plane(soil=SAND)])
    assert isinstance(ground, Ground)
    assert ground.solid_soils.tolist() == [RIGID, 0, 0]
