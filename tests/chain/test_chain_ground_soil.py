"""A shoe on soil against Bekker's sinkage and the curves of shearing."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from shoe_scene import GRIP, LENGTH, LINEAR, PLATE, SAND, SHOE, STEP, WIDTH, Scene, plate_at, tilted

from segtrack import terrain
from segtrack.ground import contact_parameters, pack_ground, penetration_depth_grid
from segtrack.ground.point_contact import soil_between
from segtrack.terrain import Soil, SoilConstants, find_soil, published_soils


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
    expected = most * trapezoid(SHEARED[soil.shear_law](j, k), j) / (slip * length)
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
    assert scene.shear_force(0) == pytest.approx(-scene.weight[0], rel=1e-2)


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
        1.1, 74600, 2080000, 3300, math.tan(math.radians(33.7)), 0.025, 0, 0, 10, 0, 1, 0
    )
