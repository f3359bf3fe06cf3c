"""A shoe on rigid ground against closed forms, and stability and symmetry of its contacts."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from shoe_scene import CLEATED, DOWN, GRIP, LENGTH, PLATE, SAND, SHOE, STEP, Scene, plate_at, tilted

from segtrack import terrain
from segtrack.chain.shoe_contact import allocate_shoe_history
from segtrack.ground import NONE, contact_parameters, ground_bounds, pack_treads

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
    assert scene.shear_force(0) == pytest.approx(-scene.weight[0], rel=1e-6)


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
    assert forces[0, 2] == pytest.approx(scene.report.normal_forces[0], rel=1e-9)


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
