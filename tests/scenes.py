"""What several tests build: worlds, variants of vehicles, and conserved quantities."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from hypothesis import strategies as st

import segtrack
from segtrack import terrain
from segtrack.description import DriveSpec, VehicleDescription
from segtrack.engine import resolve
from segtrack.envs import Environment, Task
from segtrack.robot import Robot

GRAVITY = 9.81
boxes_anywhere = st.builds(
    terrain.GroundBox,
    x=st.floats(-1.0, 1.0),
    y=st.floats(-0.5, 0.5),
    length=st.floats(0.05, 1.0),
    width=st.floats(0.05, 1.0),
    height=st.floats(0.02, 0.5),
    yaw=st.floats(-7.0, 7.0),
)
"""Hypothesis draws them: `terrain.GroundBox`."""


@contextmanager
def environment(task: str | Task = "StepClimb", **given: Any) -> Iterator[Environment]:
    """An environment that is closed again."""
    env = Environment(task, **given)
    try:
        yield env
    finally:
        env.close()


def heed_interrupts() -> None:
    """For `Popen`: a child of tests in the background or under nohup would ignore signals as they do."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def vary(
    vehicle: str, drive: dict[str, Any] | None = None, contact: dict[str, Any] | None = None
) -> VehicleDescription:
    """A bundled vehicle with other drive or contact numbers on the tracks of its body."""
    description = segtrack.load_vehicle(vehicle)
    tracks = {
        name: track.model_copy(
            update={
                "drive": DriveSpec.model_validate(track.drive.model_dump(exclude_unset=True) | (drive or {})),
                "contact": track.contact.model_copy(update=contact or {}),
            }
        )
        for name, track in description.tracks.items()
    }
    return description.model_copy(update={"tracks": tracks})


def on_plane(
    vehicle: str | VehicleDescription = "packbot",
    *,
    track_model: str = "segments",
    preset: str = "exact",
    time_step: float | None = None,
) -> tuple[segtrack.World, Robot]:
    """A vehicle that has come to rest on flat ground of friction 1."""
    engine, _ = resolve(None, track_model)
    world = segtrack.World(preset, engine=engine, time_step=time_step)
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, track_model=track_model)
    world.run(0.3)
    return world, robot


def tilt(world: segtrack.World, slope_deg: float) -> None:
    """Turn the flat ground into a slope that rises along +x, by turning gravity."""
    angle = math.radians(slope_deg)
    world.set_gravity((-GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle)))


def tilted_world(
    vehicle: str | VehicleDescription, slope_deg: float, *, sideways: bool = False, **given: Any
) -> tuple[segtrack.World, Robot]:
    """A native vehicle at rest on a slope that rises ahead, or to its left, made by turning gravity."""
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, **given)
    world.settle()
    angle = math.radians(slope_deg)
    along, down = -GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle)
    world.set_gravity((0.0, along, down) if sideways else (along, 0.0, down))
    world.run(0.3)
    return world, robot


def momenta(world: segtrack.World, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Velocity of a robot's centre of mass (3,) [m/s] and its angular momentum about it (3,) [kg m^2/s].

    Summed over the links, from PyBullet's poses, velocities and inertias.
    """
    client, body = world.client, robot.model.body_id
    masses, points, velocities, spins = [], [], [], []
    for link in range(-1, client.getNumJoints(body)):
        mass, _, inertia, *_ = client.getDynamicsInfo(body, link)
        if link == -1:
            (point, orientation), (velocity, angular) = (
                client.getBasePositionAndOrientation(body),
                client.getBaseVelocity(body),
            )
        else:
            state = client.getLinkState(body, link, computeLinkVelocity=1, computeForwardKinematics=1)
            point, orientation, velocity, angular = state[0], state[1], state[6], state[7]
        rotation = np.array(client.getMatrixFromQuaternion(orientation)).reshape(3, 3)
        masses.append(mass)
        points.append(point)
        velocities.append(velocity)
        spins.append(rotation @ np.diag(inertia) @ rotation.T @ np.array(angular))
    m, x, v = np.array(masses), np.array(points), np.array(velocities)
    center, mean = m @ x / m.sum(), m @ v / m.sum()
    angular_momentum = np.sum(spins, axis=0) + np.sum(m[:, None] * np.cross(x - center, v - mean), axis=0)
    return mean, angular_momentum
