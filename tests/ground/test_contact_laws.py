"""Laws of contact: friction on rigid ground, soil, and numbers that make no sense."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from contact_numbers import ACROSS, LIMIT, NUMBERS, UP, law
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from segtrack.errors import InvalidValueError
from segtrack.ground import ContactParameters, contact_parameters, read_number, rigid_friction
from segtrack.ground.contact_laws import soil_pressure, soil_shear, soil_slope
from segtrack.terrain import find_soil

pytestmark = pytest.mark.usefixtures("kernels_run_as")
RNG = np.random.default_rng(0)


def friction(shear=(0.0, 0.0, 0.0), slip=(0.0, 0.0, 0.0), ratio=1.0, weight=1.0, step=0.0, normal=UP):
    """Shear displacement and force after a step; x along the track, y across it."""
    return rigid_friction(shear, normal, ACROSS, slip, LIMIT, law(ratio), weight, step)


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


SAND = find_soil("LETE sand")


# Soil


RIGID_SLOPE = 1e12
AREA = 1e-3


def sheared(shear, slip, pressure, push, step=0.0, normal=UP, soil=SAND.constants):
    """Shear displacement in soil and force along it after a step."""
    return soil_shear(shear, normal, slip, pressure, push, AREA, soil, law(), 1.0, step)


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
    pressure, modulus = 2e4, soil.shear_deformation_modulus
    strength = (soil.cohesion + pressure * soil.friction) * AREA
    direction = np.array((0.6, -0.8, 0.0))
    shear, slip, step = (0.0, 0.0, 0.0), tuple(1e-6 * direction), modulus * 1e6 / 2000
    for _ in range(3000):
        shear, force = sheared(shear, slip, pressure, pressure * AREA, step=step, soil=soil)
    assert np.array(force) == pytest.approx(-strength * closed(1.5) * direction, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("normal", [UP, ACROSS, (1.0, 0.0, 0.0), (0.6, 0.0, 0.8)])
def test_soil_holds_with_no_more_than_its_strength_along_the_surface(normal):
    """Wherever the surface looks; what stands out of it is forgotten."""
    soil, pressure = SAND.constants, 2e4
    strength = (soil.cohesion + pressure * soil.friction) * AREA
    for drawn in RNG.normal(size=(5, 3)):
        along = drawn - np.dot(drawn, normal) * np.array(normal)
        along /= np.linalg.norm(along)
        for share in (0.5, 4.0):
            start = tuple(share * soil.shear_deformation_modulus * along + 0.01 * np.array(normal))
            shear, force = sheared(start, (0.0, 0.0, 0.0), pressure, pressure * AREA, normal=normal)
            held = min(share, 1.0)
            assert force == pytest.approx(tuple(-held * strength * along))
            assert shear == pytest.approx(tuple(held * soil.shear_deformation_modulus * along))


@given(
    start=st.tuples(*[st.floats(-0.05, 0.05)] * 3),
    x=st.floats(-20.0, 20.0),
    y=st.floats(-20.0, 20.0),
    pressure=st.floats(0.0, 1e5),
    push=st.floats(0.0, 200.0),
)
def test_shear_and_damping_are_within_the_strength_under_the_force_that_presses(start, x, y, pressure, push):
    """Whatever the soil was sheared by, how fast it slips, and how much of the push damping is."""
    soil = SAND.constants
    _, force = sheared(start, (x, y, 0.0), pressure, push, step=1e-4)
    strength = soil.cohesion * AREA + soil.friction * push if push > 0 else 0.0
    assert math.hypot(*force) <= strength * (1 + 1e-12) + 1e-100  # Squares of less are 0.
    _, dragged = sheared((0.0, 0.0, 0.0), (300.0, -400.0, 0.0), 1e4, push, step=1e-4)
    assert dragged == pytest.approx((-0.6 * strength, 0.8 * strength, 0.0))


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
