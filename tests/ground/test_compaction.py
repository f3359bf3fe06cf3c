"""Motion resistance on soil: the work of compaction, against Bekker's closed form."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import brentq

import segtrack
from segtrack import terrain
from segtrack.terrain import find_soil

LENGTH, HEIGHT, WIDTH, GROUND_LENGTH = 0.005, 0.008, 0.075, 0.51
"""Grousers of a PackBot along the belt and outwards, its belt's width, and its straight line [m]."""


def resistance_of_compaction(soil, weight, pitch):
    """Bekker's resistance of two tracks on virgin soil [N], and their sinkage [m].

    R = sum of A k z^(n + 1) / (n + 1) over tips and belt faces, of areas A a metre of track, where z follows
    from the weight on them, sum of A k z^n over the ground length (Bekker 1956; Wong 2008, section 2.6): what
    is done to press soil down comes back nowhere. No belt passes where another was.
    """
    n, face = soil.sinkage_exponent, pitch - LENGTH
    parts = [(LENGTH * WIDTH / pitch, LENGTH, 0.0), (face * WIDTH / pitch, face / 2, HEIGHT)]
    moduli = [area * (soil.cohesive_modulus / b + soil.frictional_modulus) for area, b, _ in parts]

    def of_power(z, power):
        return sum(
            2 * k * max(z - above, 0.0) ** power for k, (_, _, above) in zip(moduli, parts, strict=True)
        )

    z = brentq(lambda z: GROUND_LENGTH * of_power(z, n) - weight, 1e-6, 1.0)
    return of_power(z, n + 1) / (n + 1), z


def driven(soil, engine="native", speed=0.25, way=1.2):
    """Work of the drives over the way [N] and sinkage of the tips [m], of a PackBot that has left its rut."""
    with segtrack.World(engine=engine, time_step=2e-3) as world:
        bed = terrain.solids.Box((9.0, 2.0, 1.0), (3.0, 0.0, -0.5))
        world.add_terrain(terrain.StaticBody(parts=(bed,), soil=soil))
        robot = world.add_vehicle("packbot", track_model="compliant")
        robot.set_belt_speed(speed, speed)
        world.run(1.5 / speed)
        energy, start = robot.energy, robot.state.position[0]
        world.run((way - 0.6) / speed)
        track = robot.tracks["left"]
        work = (robot.energy - energy) / (robot.state.position[0] - start)
        return work, float(np.median(track.read_grousers().sinkage)), robot.mass * 9.81, track.spec.pitch


@pytest.mark.parametrize("engine", ["native", pytest.param("pybullet", marks=pytest.mark.slow)])
def test_soil_of_unknown_unloading_takes_the_work_of_compaction(engine):
    """0.9 to 1.1 of Bekker; elastic soil, whose rear pushes the vehicle on, takes less than a half."""
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    sand = find_soil("dry sand")
    work, _, weight, pitch = driven(sand, engine)
    expected, _ = resistance_of_compaction(sand, weight, pitch)
    assert 0.9 < work / expected < 1.1


@pytest.mark.parametrize(("ratio", "growth"), [(1.0, 0.0), (4.0, 0.0), (4.0, 2e8)])
def test_soil_gives_back_what_its_unloading_says(ratio, growth):
    """A plate pressed 10 mm into linear soil and lifted: 1 - k / k_0 of the work stays in the soil."""
    from segtrack.ground.contact_laws import soil_pressure

    soil = terrain.Soil(
        sinkage_exponent=1.0,
        cohesive_modulus=0.0,
        frictional_modulus=1e6,
        cohesion=0.0,
        friction_angle=0.5,
        shear_deformation_modulus=0.01,
        unloading_stiffness=ratio * 1e6 - growth * 0.01 if ratio > 1 else 0.0,
        unloading_growth=growth,
    )
    down = np.linspace(1e-6, 0.01, 2001)
    pressed = [soil_pressure(soil.constants, 0.1, z, z, 1e12)[0] for z in down]
    lifted = [soil_pressure(soil.constants, 0.1, z, 0.01, 1e12)[0] for z in down]
    lost = 1 - trapezoid(lifted, down) / trapezoid(pressed, down)
    assert lost == pytest.approx(1 - 1 / ratio, abs=1e-3)


def test_unloading_that_nobody_measured_is_a_tenth_as_soft_as_loading():
    """And one that is given as 0 is elastic: linear soil as Omar's equation 48 has it."""
    assert find_soil("dry sand").constants.unloading_ratio == 10.0
    assert find_soil("LETE sand").constants.unloading_ratio == 1.0
    assert terrain.Soil.linear(1e6, 0.0, 0.5, 100.0).constants.unloading_ratio == 1.0
    with pytest.raises(segtrack.errors.InvalidValueError) as error:
        terrain.Soil(
            sinkage_exponent=1.0,
            cohesive_modulus=0.0,
            frictional_modulus=1e6,
            cohesion=0.0,
            friction_angle=0.5,
            shear_deformation_modulus=0.01,
            unloading_growth=1e8,
        )
    assert (
        str(error.value) == "Soil.unloading_growth must be 0 without an unloading stiffness, got 100000000.0"
    )
