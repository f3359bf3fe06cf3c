"""Joints of a URDF in PyBullet: inertias that they feel, and steps that are too long for their springs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pybullet
import pytest
from jointed_vehicles import Limb, jointed, random_limbs

import segtrack
from segtrack.description import load_vehicle, vehicle_links
from segtrack.description.joints import joint_inertias
from segtrack.errors import InvalidValueError

pytestmark = pytest.mark.pybullet


@pytest.mark.parametrize("seed", range(3))
def test_an_inertia_is_that_of_pybullets_mass_matrix(seed: int, tmp_path: Path) -> None:
    """Bolted to the world; PyBullet's own matrix of all joints, those that stand still left out."""
    limbs = random_limbs(seed, 6)
    moving = [limb.name for limb in limbs if limb.kind != "fixed"]
    file = jointed(tmp_path, limbs, dict.fromkeys(moving, {}), fixed=True)
    with segtrack.World(engine="pybullet") as world:
        robot = world.add_vehicle(file, track_model="compliant")
        links = {joint.design.name: robot.links[joint.design.child] for joint in robot.model.joints}
        infos = [world.client.getJointInfo(robot.body_id, j) for j in range(len(robot.links) - 1)]
        movable = [j for j, info in enumerate(infos) if info[2] != pybullet.JOINT_FIXED]
        full = np.array(world.client.calculateMassMatrix(robot.body_id, [0.0] * len(movable)))
        expected = 1 / np.diag(np.linalg.inv(full))
        own = joint_inertias(vehicle_links(load_vehicle(file)), True)
        order = [movable.index(link) for link in links.values()]
        np.testing.assert_allclose(own, expected[order], rtol=1e-5)


def test_a_step_too_long_for_a_spring_is_refused(tmp_path: Path) -> None:
    """Half of 2 sqrt(m / k) = 2 ms for 1 kg on 1e6 N/m."""
    limb = Limb("sled", kind="prismatic", mass=1.0, axis=(0, 0, 1))
    file = jointed(tmp_path, [limb], {"sled": {"spring": {"stiffness": 1e6}}}, fixed=True)
    with segtrack.World(engine="pybullet", time_step=0.002) as world:
        world.add_vehicle(file, track_model="compliant")
        with pytest.raises(InvalidValueError) as caught:
            world.step()
    assert str(caught.value) == (
        "time_step [s] must be at most 0.001 in PyBullet for the springs and dampers of joint sled, got 0.002"
    )


@pytest.mark.parametrize("track_model", ["compliant", "segments"])
def test_a_joint_that_is_placed_leaves_belts_that_it_does_not_carry(track_model: str, tmp_path: Path) -> None:
    """They hold the vehicle on a slope while its light mast is turned a little."""
    file = jointed(tmp_path, [Limb("mast", mass=0.01)], {"mast": {"servo": {}}})
    with segtrack.World(engine="pybullet", time_step=0.002) as world:
        world.client.setGravity(-9.81 * math.sin(0.2), 0.0, -9.81 * math.cos(0.2))
        world.add_terrain(segtrack.terrain.Plane())
        robot = world.add_vehicle(file, track_model=track_model)
        world.run(1.0)
        before = [track.force for track in robot.tracks.values()]
        robot.joints["mast"].place(0.1)
        world.step()  # Books the step before.
        after = [track.force for track in robot.tracks.values()]
        np.testing.assert_allclose(after, before, rtol=0.01, atol=0.1)
        assert min(map(abs, before)) > 10.0
