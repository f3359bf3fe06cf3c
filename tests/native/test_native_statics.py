"""Native vehicles against statics: steps, tipping over, drops and rebounds, at several time steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oval_statics import GROUSER, HALF_BASE, MASS, RADIUS, climbs, fall, largest_step, oval, tipping_angle
from scipy.optimize import brentq, minimize_scalar

import segtrack

CENTERS = [(0.0, 0.0), (0.05, 0.03)]
"""Centres of mass ahead of the middle and above the axles [m]."""


@pytest.mark.parametrize("time_step", [pytest.param(0.001, marks=pytest.mark.slow), 0.004])
@pytest.mark.parametrize("speed", [pytest.param(0.02, marks=pytest.mark.slow), 0.1])
@pytest.mark.parametrize("friction", [1.0, 1.5])
@pytest.mark.parametrize("center", CENTERS)
def test_belts_without_grousers_climb_what_statics_allow(center, friction, speed, time_step):
    """Within 3 %, and at every height below: an edge that passes from piece to piece stays held."""
    most, vehicle = largest_step(friction, *center, 0.0), oval(friction, *center)
    for fraction in (0.80, 0.86, 0.92, 0.98):
        assert climbs(vehicle, "surface", fraction * most, speed, time_step), fraction
    assert not climbs(vehicle, "surface", 1.03 * most, speed, time_step)


@pytest.mark.parametrize("time_step", [pytest.param(0.001, marks=pytest.mark.slow), 0.004])
@pytest.mark.parametrize("speed", [pytest.param(0.02, marks=pytest.mark.slow), 0.1])
@pytest.mark.parametrize("center", CENTERS)
def test_grousers_climb_what_statics_allow(center, speed, time_step):
    """Within 4 %: they interlock with the edge, so that friction does not bound the pitch."""
    most, vehicle = largest_step(1e9, *center, GROUSER), oval(1.0, *center)
    assert climbs(vehicle, "compliant", 0.97 * most, speed, time_step)
    assert not climbs(vehicle, "compliant", 1.04 * most, speed, time_step)


@pytest.mark.slow
@pytest.mark.parametrize("time_step", [0.001, 0.004])
@pytest.mark.parametrize("center", CENTERS)
def test_a_fast_vehicle_climbs_by_its_kinetic_energy_more(center, time_step):
    """By that of its mass, and up to twice that: belts have a quarter more, and push."""
    most, vehicle, lifted = largest_step(1.5, *center, 0.0), oval(1.5, *center), 0.3**2 / (2 * 9.81)
    assert climbs(vehicle, "surface", most + 1.0 * lifted, 0.3, time_step)
    assert not climbs(vehicle, "surface", most + 2.0 * lifted, 0.3, time_step)


def test_with_little_friction_no_wall_is_climbed_without_grousers():
    """Pulled up at the wall by friction, the nose would need more than the ground lets the belts push."""
    friction = 0.6
    up, out = math.sin(math.atan(friction)), math.cos(math.atan(friction))
    force = HALF_BASE / ((2 * HALF_BASE + RADIUS) * up + RADIUS * out)  # Over the weight, to lift the nose.
    assert force * out > friction * (1 - force * up)
    assert not climbs(oval(friction), "surface", 1.05 * RADIUS, 0.1, 0.004)


def largest_step_below_axles(friction, ahead):
    """Largest step below the axles [m] onto which friction lifts a nose without grousers.

    An edge at the height h touches the front pulley at the angle f from straight down, cos f = 1 - h / R. All
    belts slide; the edge bears N and pushes back with N (sin f - mu cos f), as much as friction gives on
    what is left of the weight on the rear end of the ground line, mu (W - N (cos f + mu sin f)). The nose is
    lifted as long as the edge's moment about that end is that of the weight.
    """

    def spare(height):
        cosine = 1 - height / RADIUS
        sine = math.sqrt(1 - cosine**2)
        back, up = sine - friction * cosine, cosine + friction * sine
        force = friction / (back + friction * up)
        return force * (up * (2 * HALF_BASE + RADIUS * sine) + back * height) - (HALF_BASE + ahead)

    from_there_on_pushed_back = RADIUS * (1 - 1 / math.hypot(1.0, friction))
    return brentq(spare, 1.001 * from_there_on_pushed_back, RADIUS)


@pytest.mark.parametrize("time_step", [pytest.param(0.001, marks=pytest.mark.slow), 0.004])
@pytest.mark.parametrize("friction", [0.6, 0.7])
def test_friction_lifts_the_nose_onto_steps_below_the_axles_as_statics_say(friction, time_step):
    """Within 3 %, at a crawl: an impact at 0.1 m/s lifts it onto 4 to 9 % more."""
    most, vehicle = largest_step_below_axles(friction, 0.0), oval(friction)
    assert most < RADIUS
    for fraction in (0.7, 0.8, 0.9, 0.97):
        assert climbs(vehicle, "surface", fraction * most, 0.02, time_step), fraction
    assert not climbs(vehicle, "surface", 1.03 * most, 0.02, time_step)


def bed_angle(lever, height, stiffness):
    """Slope at which a vehicle tips over on a bed of a stiffness a metre [deg].

    Tilted by t the bed bears along a length l with the depth l t at its rear, k l^2 t / 2 = W cos(slope),
    and the resultant is l / 3 from that end. The centre of mass comes over it from its lever less `height` t,
    so that the vehicle holds up to the slope where the least of l / 3 + height t is left of the lever.
    """
    weight = MASS * 9.81

    def short(slope):
        def needed(log_tilt):
            tilt = math.exp(log_tilt)
            return math.sqrt(2 * weight * math.cos(slope) / (stiffness * tilt)) / 3 + height * tilt

        least = minimize_scalar(needed, bounds=(-12.0, 0.0), method="bounded").fun
        return lever - least - height * math.tan(slope)

    slopes = np.linspace(0.1, 1.4, 4000)
    return math.degrees(slopes[np.argmin(np.abs([short(slope) for slope in slopes]))])


@pytest.mark.parametrize(("ahead", "above"), [(0.0, 0.167), (-0.1, 0.167)])
def test_a_vehicle_tips_over_a_slope_as_statics_say(ahead, above):
    """Over its rear-most grouser within 0.6 deg; without grousers, between a rigid edge and a bed's."""
    vehicle = oval(3.0, ahead, above)
    rigid = math.degrees(math.atan((HALF_BASE + ahead) / (RADIUS + GROUSER + above)))
    angle = tipping_angle(vehicle, "compliant")
    assert rigid - 0.6 < angle < rigid + 0.3
    rigid = math.degrees(math.atan((HALF_BASE + ahead) / (RADIUS + above)))
    angle = tipping_angle(vehicle, "surface")
    bed = bed_angle(HALF_BASE + ahead, RADIUS + above, MASS * 9.81 / 3e-5 / (2 * HALF_BASE))
    assert bed - 0.3 < angle < rigid + 0.1


@pytest.mark.parametrize("time_step", [0.001, 0.002, 0.004])
@pytest.mark.parametrize("name", ["quince", "packbot", "example_rover", "bulldozer"])
def test_a_vehicle_that_is_dropped_does_not_bounce(name, time_step):
    """From 0.3 m; it stops where it touches, whatever it falls in a step."""
    heights = fall(name, time_step)
    assert heights.min() > -0.005
    assert heights[np.argmin(heights[:70]) :].max() < 0.003


@pytest.mark.parametrize("time_step", [0.001, 0.004])
@pytest.mark.parametrize("restitution", [0.3, 0.8])
def test_a_vehicle_rebounds_with_its_restitution(restitution, time_step):
    heights = fall(oval(0.6, restitution=restitution), time_step)
    lowest = np.argmin(heights[:70])
    assert math.sqrt(heights[lowest:].max() / 0.3) == pytest.approx(restitution, abs=0.03)


@pytest.mark.parametrize("ratio", [30.0, -30.0, None])
def test_angular_momentum_is_kept_as_belts_start(ratio):
    """About the axle alone, afloat: body, belts and rotors, whatever way these turn."""
    gear = {} if ratio is None else {"gear_ratio": ratio}
    with segtrack.World(engine="native", gravity=0.0) as world:
        robot = world.add_vehicle(oval(**gear), track_model="compliant", position=(0.0, 0.0, 1.0))
        robot.set_belt_speed(3.0, 3.0)
        world.run(0.5)
        tree, work, state = robot.model.arrays.tree, robot.model._work, robot.model.state
        robot.model.place_links()
        inertia = work.rotations[0] @ tree.inertias[0] @ work.rotations[0].T
        spin = (inertia @ work.angular_velocities[0])[1]
        stored = float(tree.spin_momenta @ state.speeds[0])
        assert state.speeds[0] == pytest.approx(3.0, abs=1e-9)
        assert spin + stored == pytest.approx(0.0, abs=1e-9 * stored)
    area = math.pi * RADIUS**2 + 4 * HALF_BASE * RADIUS
    belt = 2 * 2.0 * area / (2 * math.pi * RADIUS + 4 * HALF_BASE)
    rotor = 0.0 if ratio is None else 0.5 * RADIUS / ratio
    assert tree.spin_momenta == pytest.approx([belt + rotor] * 2, rel=1e-4)  # Arcs are polygons there.
