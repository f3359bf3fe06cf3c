"""Mass and inertia of belts and links, and rotations, against textbooks and scipy."""

import math

import numpy as np
import pytest
from drawn_belts import EXACT, belts, convex_pulleys, least_bend, oval, turns
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from native_vehicles import SPRUNG
from scipy.spatial.transform import Rotation
from tables import each_row

from segtrack.description import bundled_vehicles, load_vehicle
from segtrack.geometry import (
    MassProperties,
    Pulley,
    quaternion_of,
    rotation_about_y,
    rotation_of,
    rpy_of,
    segment_links,
    uniform_belt,
    wrap_belt,
)


@settings(max_examples=30)
@given(belts(), st.floats(0.02, 0.3), st.floats(0.1, 5.0))
def test_a_uniform_belt_weighs_what_its_points_weigh(belt, width, mass):
    path, _, _ = belt
    found = uniform_belt(path, width, mass)
    points = path.point((np.arange(40000) + 0.5) / 40000 * path.perimeter)
    table = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])
    second = mass * table.T @ table / len(table) + np.diag([0, mass * width**2 / 12, 0])
    assert math.isclose(found.mass, mass)
    np.testing.assert_allclose(found.first_moment, mass * table.mean(axis=0), atol=1e-7 * mass)
    np.testing.assert_allclose(found.second_moment, second, atol=1e-7 * mass)


def test_a_circular_belt_is_a_hoop():
    mass, r, w = 0.5, 0.08, 0.05
    belt = uniform_belt(wrap_belt([Pulley(0.1, 0.2, r)]), w, mass)
    np.testing.assert_allclose(belt.center, [0.1, 0, 0.2], atol=EXACT)
    across = mass * (r**2 / 2 + w**2 / 12)
    np.testing.assert_allclose(belt.inertia, np.diag([across, mass * r**2, across]), atol=1e-12)


def test_an_oval_belt_has_its_textbook_inertia():
    mass, d, r = 2.0, 0.5, 0.08
    line, half = mass * d / (2 * d + 2 * math.pi * r), mass * math.pi * r / (2 * d + 2 * math.pi * r)
    lines = 2 * line * (d**2 / 12 + r**2)
    halves = 2 * half * (r**2 + (d / 2) ** 2 + 2 * (d / 2) * (2 * r / math.pi))
    belt = uniform_belt(oval(d, r), 0.1, mass)
    assert math.isclose(belt.inertia[1, 1], lines + halves, rel_tol=1e-12)
    np.testing.assert_allclose(belt.center, 0, atol=EXACT)


@given(belts(), st.sets(st.integers(0, 11), max_size=3))
def test_links_weigh_no_more_than_the_belt_and_move_like_all_of_it(belt, left_out):
    """Joint inertia per belt travel: a line's mass, an arc's spin inertia over r^2."""
    path, _, _ = belt
    arcs = [name for name, s in zip(path.names, path.segments, strict=True) if s.kind == "arc"]
    omit = [name for i, name in enumerate(path.names) if i in left_out and name != arcs[0]]
    links = segment_links(path, 0.1, 0.01, 1.7, [], omit)
    assert [link.name for link in links] == [name for name in path.names if name not in omit]
    assert sum(link.mass for link in links) <= 1.7 + EXACT
    moved = [link.mass if link.joint == "slider" else link.inertia[1] * link.ratio**2 for link in links]
    assert math.isclose(sum(moved), 1.7, rel_tol=1e-12)


@given(convex_pulleys(), st.floats(0.02, 0.07))
def test_a_belt_around_equal_pulleys_moves_no_mass(pulleys, radius):
    """Lines balance each other, so the belt's weight does not drive it, and a roll-back lifts nothing."""
    pulleys = [Pulley(p.x, p.z, radius) for p in pulleys]
    assume(least_bend(pulleys) > 2e-3)
    shift = np.zeros(3)
    for link in segment_links(wrap_belt(pulleys), 0.1, 0.01, 1.7, []):
        if link.joint == "slider":
            shift += link.mass * rotation_of((0, link.heading, 0))[:, 0]
    np.testing.assert_allclose(shift, 0, atol=EXACT)


def test_mass_properties_add_and_move_like_those_of_points():
    random = np.random.default_rng(7)
    points, masses = random.normal(size=(20, 3)), random.uniform(0.1, 1.0, 20)
    arm = points - masses @ points / masses.sum()
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arm, strict=True))
    whole = MassProperties.of(masses.sum(), masses @ points / masses.sum(), inertia)
    parts = [MassProperties.of(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True)]
    total = sum(parts[1:], parts[0])
    rotation, origin = rotation_of((0.3, -0.8, 1.1)), np.array([0.4, -0.2, 0.9])
    moved = total.transformed(rotation, origin)
    np.testing.assert_allclose(total.inertia, whole.inertia)
    np.testing.assert_allclose(moved.center, rotation @ whole.center + origin)
    np.testing.assert_allclose(moved.inertia, rotation @ whole.inertia @ rotation.T, atol=1e-12)
    np.testing.assert_allclose((whole - parts[0]).mass, masses[1:].sum())


@given(st.tuples(turns, turns, turns))
def test_roll_pitch_yaw_are_those_of_urdf(rpy):
    matrix = rotation_of(rpy)
    np.testing.assert_allclose(matrix, Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(rotation_of(rpy_of(matrix)), matrix, atol=1e-12)


@each_row("off", [0.0, 1e-14, 1e-12, 1e-10, 5e-10, 2e-9, 1e-7, 1e-5])
@each_row("pitch", [math.pi / 2, -math.pi / 2])
@each_row("roll, yaw", [(0.0, 0.0), (0.4, -1.1), (-3.0, 2.9)])
def test_roll_pitch_yaw_survive_gimbal_lock_and_its_surroundings(roll, pitch, yaw, off):
    """Also of a matrix that is a product, whose small entries are rounded like its large ones."""
    exact, turn = rotation_of((roll, pitch - math.copysign(off, pitch), yaw)), rotation_of((0.3, -0.8, 1.1))
    for matrix in (exact, turn.T @ (turn @ exact)):
        within = 1e-12 if off < 1e-6 or matrix is exact else 1e-10
        np.testing.assert_allclose(rotation_of(rpy_of(matrix)), matrix, atol=within)


@each_row("name", [name for name in bundled_vehicles() if name not in SPRUNG])
def test_left_and_right_tracks_are_built_alike(name):
    tracks = {t.name: t for t in load_vehicle(name).mounted_tracks()}
    for left, track in tracks.items():
        if "left" in left:
            mirror = tracks[left.replace("left", "right")]
            assert track.spec.segment_links() == mirror.spec.segment_links()
            assert track.y == -mirror.y


@pytest.mark.parametrize("angle", [-2.0, 0.0, 0.3, 1.7])
def test_rotations_are_scipys(angle):
    about_y = rotation_about_y(angle)
    np.testing.assert_allclose(about_y, Rotation.from_euler("y", angle).as_matrix(), atol=1e-15)
    turned = Rotation.from_quat(quaternion_of(about_y @ rotation_of((0.3, 0.0, angle))))
    expected = Rotation.from_euler("y", angle) * Rotation.from_euler("xyz", (0.3, 0.0, angle))
    assert (turned.inv() * expected).magnitude() == pytest.approx(0.0, abs=1e-9)
