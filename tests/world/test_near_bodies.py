"""Bodies between which there is no contact: said when they come near each other, and not before."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import segtrack
from segtrack import terrain


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Warnings since the last call, but those of compilation."""
    messages = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    caplog.clear()
    return [message for message in messages if "compiling" not in message]


@pytest.mark.parametrize("track_model", ["compliant", pytest.param("chain", marks=pytest.mark.slow)])
def test_native_vehicles_that_come_near_each_other_are_named_once_an_approach(
    caplog, track_model: str
) -> None:
    with segtrack.World("fast", engine="native") as world:
        world.add_terrain(terrain.Plane())
        first = world.add_vehicle("packbot", track_model=track_model)
        other = world.add_vehicle("packbot", track_model=track_model, position=(2.0, 0.0))
        world.run(0.2)
        assert said(caplog) == []
        other.reset_base_pose((0.9, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0))
        first.set_belt_speed(0.5, 0.5)
        world.run(0.9)
        (message,) = said(caplog)
        assert message.startswith(
            "segtrack: vehicle 1 (packbot) and vehicle 2 (packbot) come near each other at "
        )
        assert message.endswith("pass through each other: the native engine has no contact between vehicles")
        other.reset_base_pose((5.0, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0))
        world.run(0.1)
        other.reset_base_pose(first.state.position, (0.0, 0.0, 0.0, 1.0))
        world.run(0.1)
        assert len(said(caplog)) == 1


def parcel(client: Any, place: tuple[float, float, float], mass: float) -> int:
    """A bar of 0.1 m across the way in PyBullet."""
    shape = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.05, 1.0, 0.05])
    return int(client.createMultiBody(mass, shape, basePosition=place))


@pytest.mark.pybullet
@pytest.mark.parametrize(
    ("track_model", "mass", "warnings"),
    [("compliant", 1.0, 1), ("chain", 1.0, 1), ("compliant", 0.0, 0), ("segments", 1.0, 0)],
)
def test_a_loose_body_near_belts_that_do_not_feel_it_is_named(
    caplog, track_model: str, mass: float, warnings: int
) -> None:
    """A body that stands still may be terrain that was described, and segments collide with everything."""
    with segtrack.World("fast", engine="pybullet") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model=track_model)
        body = parcel(world.client, (5.0, 0.0, 0.05), mass)
        world.run(0.05)
        assert said(caplog) == []
        world.client.resetBasePositionAndOrientation(body, (0.5, 0.0, 0.05), (0, 0, 0, 1))
        robot.set_belt_speed(0.5, 0.5)
        world.run(0.5)
        messages = said(caplog)
        assert len(messages) == warnings
        for message in messages:
            assert message.startswith(f"segtrack: body {body}")
            assert "comes near the belts of packbot, which will pass through it" in message


@pytest.mark.pybullet
def test_a_loose_body_is_named_in_somebody_elses_loop_too(caplog) -> None:
    import pybullet
    from pybullet_utils.bullet_client import BulletClient

    client = BulletClient(pybullet.DIRECT)
    segtrack.configure(client)
    ground = client.createCollisionShape(client.GEOM_BOX, halfExtents=[5.0, 5.0, 0.5])
    client.createMultiBody(0.0, ground, basePosition=[0.0, 0.0, -0.5])
    robot = segtrack.attach(client, "packbot", track_model="compliant", position=(0.0, 0.0, 0.0901))
    parcel(client, (0.0, 0.0, 0.05), 1.0)
    for _ in range(20):
        robot.before_step()
        client.stepSimulation()
    assert len(said(caplog)) == 1
    client.disconnect()
