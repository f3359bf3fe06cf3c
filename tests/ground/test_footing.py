"""Pressure of belts on soil, worked out by hand from what their readings say of sinkage and footing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from quick import some_of

import segtrack
from segtrack import terrain
from segtrack.engine import EngineName

Array = NDArray[np.float64]
SOILS = ["dry sand", "LETE sand"]
"""Without numbers for unloading, and with them."""
ASSUMED_UNLOADING = 10.0
"""Slope of unloading over that of loading, where a soil has no numbers (docs/topics/soil.md)."""


def pressure_by_hand(soil: terrain.Soil, b: Array, sinkage: Array, greatest: Array, bed: Array) -> Array:
    """Bekker's pressure at the greatest sinkage, less what Wong's repetitive loading takes off since.

    Neither is steeper than rigid ground.
    """
    n = max(1.0, soil.sinkage_exponent)
    modulus = soil.cohesive_modulus / b + soil.frictional_modulus
    secant = np.minimum(modulus * greatest ** (soil.sinkage_exponent - 1), bed / n)
    known = soil.unloading_stiffness is not None
    numbers = (soil.unloading_stiffness or 0.0) + soil.unloading_growth * greatest
    unloading = np.maximum(numbers, (1.0 if known else ASSUMED_UNLOADING) * n * secant)
    return np.maximum(secant * greatest - np.minimum(unloading, bed) * (greatest - sinkage), 0.0)


@pytest.mark.parametrize("name", some_of(SOILS, "LETE sand"))
def test_pressure_of_a_chain_is_that_of_its_footing(name: str) -> None:
    soil = terrain.find_soil(name)
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane(soil=soil))
        robot = world.add_vehicle("packbot", track_model="chain")
        world.settle(1e-5)
        track = robot.tracks["left"]
        reading, spec = track.read_chain(), track.spec
    on = reading.sinkage > 0
    assert 8 < on.sum() < len(on) / 2
    assert set(reading.footing[on]) == {"grouser"} and set(reading.footing[~on]) == {""}
    np.testing.assert_allclose(reading.footing_width[on], spec.grousers.shape.box.length)
    np.testing.assert_allclose(reading.footing_length[on], spec.width)
    assert np.all(reading.footing_width[~on] == 0) and np.all(reading.footing_pressure[~on] == 0)
    by_hand = pressure_by_hand(
        soil,
        reading.footing_width[on],
        reading.sinkage[on],
        reading.footing_max_sinkage[on],
        reading.footing_bed_stiffness[on],
    )
    np.testing.assert_allclose(reading.footing_pressure[on], by_hand, rtol=2e-3)


@pytest.mark.parametrize("engine", ["native", "pybullet"])
@pytest.mark.parametrize("name", SOILS)
def test_pressure_of_a_compliant_belt_is_that_of_its_footing(name: str, engine: EngineName) -> None:
    soil = terrain.find_soil(name)
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane(soil=soil))
        robot = world.add_vehicle("packbot", track_model="compliant")
        world.settle(1e-5)
        track = robot.tracks["left"]
        reading, spec = track.read_grousers(), track.spec
    on_tips = (reading.grousers >= 0) & (reading.sinkage > 0.9 * reading.sinkage.max())
    assert on_tips.sum() > 20
    np.testing.assert_allclose(reading.footing_width[on_tips], spec.grousers.shape.box.length)
    np.testing.assert_allclose(reading.footing_length, spec.width)
    on_face = reading.grousers < 0
    beside = (spec.pitch - spec.grousers.shape.box.length) / 2
    np.testing.assert_allclose(reading.footing_width[on_face], beside)
    # Each face beside a grouser stands for half as much belt as the grouser.
    carried = reading.bed_stiffness * reading.footing_width * reading.footing_length
    np.testing.assert_allclose(carried[on_face], carried[on_tips][0] / 2)
    by_hand = pressure_by_hand(
        soil, reading.footing_width, reading.sinkage, reading.max_sinkage, reading.bed_stiffness
    )
    np.testing.assert_allclose(reading.pressure, by_hand, rtol=2e-3)
