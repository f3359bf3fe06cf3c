"""What a link chain does to soil: the work of compaction, by the sinkage of its own shoes."""

from __future__ import annotations

import numpy as np
import pytest
from chain_vehicles import parsed

import segtrack
from segtrack import terrain
from segtrack.chain import TrackChain
from segtrack.description import VehicleDescription
from segtrack.ground import MAX_SOLIDS_PER_POINT, NONE
from segtrack.terrain import Soil, find_soil

SPEED, WAY = 0.25, 0.3
ASSUMED_UNLOADING = 10.0
"""Slope of unloading over that of loading, where a soil has no numbers (docs/topics/soil.md)."""


def greatest_sinkages(chain: TrackChain) -> np.ndarray:
    """Greatest sinkage of each contact point since it touches (shoes, points) [m], nan in the air."""
    contact = chain.arrays.terrain_contact
    shape = (*contact.treads.contact_points[contact.treads.kinds].shape[:2], MAX_SOLIDS_PER_POINT)
    touching = contact.history.solid_ids.reshape(shape) != NONE
    sinkages = np.where(touching, contact.history.sinkages.reshape(shape), np.nan)
    return np.fmax.reduce(sinkages, axis=2)


def compaction(chain: TrackChain, sinkages: np.ndarray, soil: Soil) -> np.ndarray:
    """Work that pressed soil down under each contact point [J]: A k z^(n + 1) / (n + 1) (Bekker)."""
    treads, n = chain.arrays.terrain_contact.treads, soil.sinkage_exponent
    areas, sides = (of[treads.kinds] for of in (treads.areas, treads.sides))
    return areas * (soil.cohesive_modulus / sides + soil.frictional_modulus) * sinkages ** (n + 1) / (n + 1)


def driven(vehicle: VehicleDescription, soil: Soil | None) -> tuple[float, float]:
    """Work of the drives, and that of compaction under shoes that leave, over the way [N]."""
    with segtrack.World(engine="native", time_step=1e-3) as world:
        bed = terrain.solids.Box((9.0, 2.0, 1.0), (3.0, 0.0, -0.5))
        world.add_terrain(terrain.StaticBody(parts=(bed,), soil=soil))
        robot = world.add_vehicle(vehicle, track_model="chain")
        robot.set_belt_speed(SPEED, SPEED)
        world.run(0.9 / SPEED)
        energy, start, pressed = robot.energy, robot.state.position[0], 0.0
        before = [greatest_sinkages(chain) for chain in robot.model.chains]
        for _ in range(round(WAY / SPEED / 1e-3)):
            world.step()
            for t, chain in enumerate(robot.model.chains):
                after = greatest_sinkages(chain)
                left = ~np.isnan(before[t]) & np.isnan(after)
                if soil is not None:
                    pressed += compaction(chain, before[t], soil)[left].sum()
                before[t] = after
        way = robot.state.position[0] - start
        return (robot.energy - energy) / way, pressed / way


@pytest.mark.slow
@pytest.mark.parametrize("mass", [20.0, 100.0])
def test_soil_resists_a_chain_by_the_compaction_under_its_deepest_shoes(mass: float) -> None:
    """PackBot on dry sand: 2.0 of what Bekker says for a weight spread evenly over the belt's line."""
    vehicle, sand = parsed("packbot", (("body", "mass"), mass)), find_soil("dry sand")
    work, pressed = driven(vehicle, sand)
    rolling, _ = driven(vehicle, None)
    n = sand.sinkage_exponent
    kept = 1 - (n + 1) / (2 * n * ASSUMED_UNLOADING)
    assert work - rolling == pytest.approx(kept * pressed, rel=0.05)
