"""Bringing robots to rest by energy drainage (Omar, Static Analysis of Large-Scale Multibody Systems, 2014).

Robots move under gravity while a damping that is not physical takes their speed away, from every
link of PyBullet's and every shoe of a chain alike: swinging, rolling and sliding as a whole
included, which no joint's damping reaches. Where a robot stops does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.frames import LinkMass, link_mass, link_motion
from segtrack.robot.robot import Robot


@dataclass(frozen=True)
class Rest:
    """How robots came to rest, and how far from equilibrium they stopped.

    Attributes:
        reached: Whether everything is within the tolerance.
        time: That it took, drained [s].
        kinetic_energy: Left [J].
        drained_energy: Kinetic, and of weight, that has gone [J].
        force: The largest that is not balanced, on any link or shoe [N].
    """

    reached: bool
    time: float
    kinetic_energy: float
    drained_energy: float
    force: float


@dataclass(frozen=True)
class _Motion:
    """All bodies: masses (n,) [kg], velocities (n, 3) [m/s], kinetic energy and that of weight [J]."""

    masses: NDArray[np.float64]
    velocities: NDArray[np.float64]
    kinetic: float
    weight: float


def settle(
    robots: Sequence[Robot],
    step: Callable[[float], None],
    time_step: float,
    gravity: float,
    tolerance: float,
    longest: float,
) -> Rest:
    """Let robots come to rest, their belts held.

    Args:
        robots: At least one.
        step: Advances the simulation by a time step, given the rate at which a chain's speed decays [1/s].
        time_step: Of it [s].
        gravity: [m/s^2], > 0.
        tolerance: At rest no body has an unbalanced force above this share of its robot's weight, and
            kinetic energy is at most the share of a robot's weight lifted by this share of its length.
        longest: Time after which to give up [s].

    Returns:
        How it went.
    """
    boxes = [np.array(robot.bounds()) for robot in robots]
    length = max(float(np.max(high - low)) for low, high in boxes)
    rate = math.sqrt(4 * gravity / length)
    weight = gravity * min(robot.mass for robot in robots)
    window = max(1, math.ceil(0.1 / rate / time_step))
    kept, spent = math.exp(-rate * time_step), 0.0
    links = _links(robots)
    joints = [
        (robot.client_number, body, own) for robot in robots for body, own in robot.moving_joints.items()
    ]
    begin = before = _motion(robots, links, gravity)
    commands = [(track.drive, track.drive.command) for robot in robots for track in robot.tracks.values()]
    for drive, _ in commands:
        drive.command = 0.0
    try:
        while True:
            for _ in range(window):
                step(rate)
                for client, body, own in joints:
                    _drain(client, body, own, kept)
            spent += window * time_step
            now = _motion(robots, links, gravity)
            # What drainage takes away besides is what keeps a body from speeding up.
            gained = (now.velocities - before.velocities) / (window * time_step) + rate * now.velocities
            force = float(np.max(now.masses * np.linalg.norm(gained, axis=1)))
            drained = begin.kinetic + begin.weight - now.kinetic - now.weight
            reached = bool(force <= tolerance * weight and now.kinetic <= tolerance**2 * weight * length)
            if reached or spent >= longest:
                return Rest(reached, spent, now.kinetic, drained, force)
            before = now
    finally:
        for drive, command in commands:
            drive.command = command


def _links(robots: Sequence[Robot]) -> list[tuple[int, int, int, LinkMass]]:
    """PyBullet's numbers of client, body and link of all links, and what they weigh."""
    numbers = [(robot.client_number, *link) for robot in robots for link in robot.all_links()]
    return [(*link, link_mass(*link)) for link in numbers]


def _drain(client: int, body: int, joints: list[int], kept: float) -> None:
    """Leave a share of a body's and its joints' velocities."""
    linear, angular = pybullet.getBaseVelocity(body, physicsClientId=client)
    pybullet.resetBaseVelocity(
        body, [kept * v for v in linear], [kept * v for v in angular], physicsClientId=client
    )
    if joints:
        states = pybullet.getJointStates(body, joints, physicsClientId=client)
        pybullet.resetJointStatesMultiDof(
            body,
            joints,
            [[state[0]] for state in states],
            [[kept * state[1]] for state in states],
            physicsClientId=client,
        )


def _motion(
    robots: Sequence[Robot], links: Sequence[tuple[int, int, int, LinkMass]], gravity: float
) -> _Motion:
    masses, velocities, kinetic, weight = [], [], 0.0, 0.0
    for client, body, link, own in links:
        motion = link_motion(client, body, link)
        spin = motion.rotation.T @ motion.angular_velocity
        masses.append(np.array([own.mass]))
        velocities.append(motion.velocity[None])
        kinetic += float(own.mass * motion.velocity @ motion.velocity + spin @ own.inertia @ spin) / 2
        weight += own.mass * gravity * float(motion.center[2])
    for shoes in (track.belt.shoes for robot in robots for track in robot.tracks.values()):
        masses.append(shoes.masses)
        velocities.append(shoes.velocities)
        kinetic += shoes.kinetic_energy
        weight += gravity * float(shoes.masses @ shoes.positions[:, 2])
    return _Motion(np.concatenate(masses), np.concatenate(velocities), kinetic, weight)
