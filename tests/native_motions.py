"""Jointed vehicles of the native engine in given motions, and their second implementation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from articulated import ArticulatedBody, Motion
from jointed_vehicles import Limb
from scipy.spatial.transform import Rotation

from segtrack.description import load_vehicle, vehicle_links
from segtrack.geometry import MassProperties


def moving_names(limbs: list[Limb]) -> list[str]:
    return [limb.name for limb in limbs if limb.kind != "fixed"]


def base_of(file: Path, limbs: list[Limb]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and central inertia of a vehicle's base, with the belts, which stand still on it."""
    description = load_vehicle(file)
    bare = description.model_copy(update={"joints": {}})
    own = vehicle_links(bare).whole
    # The URDF's limbs, at home on the base of the vehicle without joints, are taken off again.
    frames = description.joint_tree.frames({})
    for limb in limbs:
        turn = Rotation.from_euler("xyz", limb.turn).as_matrix()
        part = MassProperties.of(limb.mass, limb.center, turn @ np.diag(limb.inertia) @ turn.T)
        own = own - part.transformed(frames[limb.link].rotation, frames[limb.link].origin)
    return own.mass, own.center, own.inertia


def oracle(file: Path, limbs: list[Limb], fixed: bool, gravity: float = 9.81) -> ArticulatedBody:
    """The second implementation of a vehicle."""
    return ArticulatedBody(base_of(file, limbs), limbs, moving_names(limbs), fixed, gravity)


def random_motion(rng: np.random.Generator, count: int, fixed: bool) -> Motion:
    return Motion(
        Rotation.identity() if fixed else Rotation.random(random_state=rng),
        np.array([0.1, -0.2, 5.0]),
        np.zeros(6) if fixed else rng.normal(size=6),
        rng.uniform(-1, 1, count),
        rng.normal(size=count),
    )


def put(robot: Any, motion: Motion) -> None:
    """Give a vehicle a motion."""
    robot.reset_base_pose(motion.origin, motion.rotation.as_quat())
    state, center = robot.model.state, robot.model.tree.centers[0]
    for joint, position in zip(robot.joints.values(), motion.positions, strict=True):
        if joint.design.mimicry is None:
            joint.place(position)
    state.joint_angles[0], state.joint_speeds[0] = motion.positions, motion.speeds
    state.orientation[0] = motion.rotation.as_quat()
    state.velocity[0] = motion.rotation.apply(motion.velocity[3:] + np.cross(motion.velocity[:3], center))
    state.angular_velocity[0] = motion.rotation.apply(motion.velocity[:3])
