"""Laws that hold for any vehicle, ground and command: Hypothesis draws them, 2 s each.

The quick tests look at a few, the slow ones at 100, and with `--hypothesis-profile=thorough` at 1000.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_vehicles import (
    G,
    Scene,
    Vector,
    account_of,
    command_at_random,
    contact_forces,
    scenes,
    vehicles,
)

import segtrack
from segtrack import Batch, terrain
from segtrack.description import VehicleDescription

MANY = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FEW = settings(MANY, max_examples=max(1, MANY.max_examples // 25))
RIGID = "plane", "step", "boxes", "relief"
WINDOW = 0.02


def check_laws(scene: Scene) -> None:
    """Friction, momentum, angular momentum and energy of one scene.

    Velocities of semi-implicit steps belong to times half a step before places. Read together, momenta that
    turn with their links are off by h w times their size, and that does not add up: after any time momentum
    and angular momentum are what forces gave, up to that. Without flippers, the momentum is to rounding.
    """
    world, robot = scene.begin()
    gravity, step, masses = scene.ground.gravity, scene.step, robot.model.tree.masses
    weight = masses.sum() * G
    begin = before = account_of(robot, gravity)
    actuators = robot.read_actuators()
    given, turned, work, highest = begin.momentum, begin.angular_momentum, 0.0, begin.energy
    turning = internal = spins = beyond = pulled = allowed = pressed = coefficient = 0.0
    momenta = [begin.momentum]
    with world:
        for _ in scene.run(world, robot):
            contacts, now = contact_forces(robot), account_of(robot, gravity)
            turning, internal = max(turning, now.turning), max(internal, now.internal)
            spins = max(spins, now.spins)

            given = given + step * (contacts.forces.sum(axis=0) + masses.sum() * gravity)
            places = before.centers[contacts.links] + contacts.levers
            moment = np.cross(places, contacts.forces).sum(axis=0)
            turned = turned + step * (moment + np.cross(masses @ before.centers, gravity))
            off = 4.0 * step * turning * internal + 1e-9 * weight
            assert np.linalg.norm(now.momentum - given) < off
            off = 2.0 * step * turning * spins + 1e-9 * weight
            assert np.linalg.norm(now.angular_momentum - turned) < off

            after = robot.read_actuators()
            work += (after.belt_energies - actuators.belt_energies).sum()
            speeds = (actuators.flipper_speeds + after.flipper_speeds) / 2
            work += step * (after.flipper_torques * speeds).sum()
            assert now.energy - work < highest + 1e-9 * weight
            if contacts.normal.sum() == 0.0:  # Nothing that is elastic is bent.
                highest = now.energy - work

            beyond += np.maximum(contacts.friction - contacts.limits, 0.0).sum()
            allowed += contacts.limits.sum()
            pulled += np.maximum(-contacts.normal, 0.0).sum()
            pressed += np.maximum(contacts.normal, 0.0).sum()
            coefficient = max(coefficient, contacts.coefficients.max(initial=0.0))
            momenta.append(now.momentum)
            before, actuators = now, after
    assert beyond <= 0.02 * allowed
    assert pulled <= 0.02 * pressed
    if scene.ground.kind == "plane":
        count = round(WINDOW / step)
        gained = np.array(momenta[count:]) - momenta[:-count] - count * step * masses.sum() * gravity
        excess = np.hypot(gained[:, 0], gained[:, 1]) - coefficient * gained[:, 2]
        assert excess.max() < 0.02 * coefficient * weight * WINDOW


def poses(
    scene: Scene, swapped: bool = False, shift: float = 0.0, height: float | None = None, nudge: float = 0.0
) -> tuple[Vector, float]:
    """Poses and velocities at the ends of all steps (n, 13 and more), and the height at the start [m].

    Args:
        scene: What is run.
        swapped: Swap the commands of left and right.
        shift: Shift of it all along x [m], which is taken off again.
        height: Height at the start, if not just above the ground [m].
        nudge: Displacement along each axis at the start [m].
    """
    world, robot = scene.begin(shift, height)
    state, found = robot.model.state, []
    with world:
        begin = robot.state.position[2]
        state.position[0] += nudge
        for _ in scene.run(world, robot, swapped):
            parts = "position", "orientation", "velocity", "angular_velocity", "joint_angles", "speeds"
            found.append(np.concatenate([getattr(state, part)[0] for part in parts]))
    rows = np.array(found)
    rows[:, 0] -= shift
    return rows, begin


def check_images(scene: Scene) -> None:
    """A mirror image and a shifted one, against one that starts 1 nm beside.

    Images differ by roundings, of 1e-16 m, or 1e-14 m where they are shifted, in each step, and by what has
    become of them since. What becomes of 1 nm at the start says how differences grow: 1e5 times the rounding.
    """
    own, height = poses(scene)
    beside = np.abs(poses(scene, height=height, nudge=1e-9)[0] - own).max(axis=1)
    grown = np.maximum.accumulate(beside)
    image, _ = poses(scene.mirrored(), swapped=True, height=height)
    image[:, [1, 3, 5, 8, 10, 12]] *= -1.0
    assert (np.abs(image - own).max(axis=1) <= grown).all()
    shifted, _ = poses(scene, shift=scene.ground.shift, height=height)
    assert (np.abs(shifted - own).max(axis=1) <= grown).all()


@FEW
@given(scene=scenes(*RIGID, "soil"))
def test_friction_momentum_and_energy_of_some_vehicles(scene: Scene) -> None:
    check_laws(scene)


@pytest.mark.slow
@MANY
@given(scene=scenes(*RIGID, "soil"))
def test_friction_momentum_and_energy_of_many_vehicles(scene: Scene) -> None:
    check_laws(scene)


@FEW
@given(scene=scenes(*RIGID, "soil"))
def test_mirror_images_and_shifted_ones_of_some_vehicles(scene: Scene) -> None:
    check_images(scene)


@pytest.mark.slow
@MANY
@given(scene=scenes(*RIGID, "soil"))
def test_mirror_images_and_shifted_ones_of_many_vehicles(scene: Scene) -> None:
    check_images(scene)
