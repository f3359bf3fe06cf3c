"""Laws that hold for any vehicle, ground and command: Hypothesis draws them, 2 s each.

The quick tests look at a few, the slow ones at 100, and with `--hypothesis-profile=thorough` at 1000.
"""

from __future__ import annotations

import copy
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
    contact_forces,
    grounds,
    scenes,
    vehicles,
)

import segtrack
from segtrack import Batch
from segtrack.description import VehicleDescription

MANY = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FEW = settings(MANY, max_examples=max(1, MANY.max_examples // 50))
RIGID = "plane", "step", "boxes", "relief"
WINDOW = 0.02
LAG = 2.0
"""See `check_laws`: 1 in a first step from rest, 1.5 where a change and the one before it add up.

Both are sizes that may be in other directions; of 100 scenes the largest had 1.16, of moments 0.52.
"""


LOST = 0.03
"""Difference of poses and velocities to which 1 nm has grown where it says no more how others grow [m, m/s].

Growth of 1 nm to that is 3e7-fold; differences of velocities level off at 0.1 to 0.2.
"""


def check_laws(scene: Scene) -> None:
    """Friction, momentum, angular momentum and energy of one scene.

    Velocities of semi-implicit steps belong to times half a step before places, and what turns with links is
    extrapolated by half of the last change. Read together, momenta that turn with their links are off by h w
    times their size: of each change of w and of this size as much in its own step, and half of it in the next
    one. Momentum and angular momentum are what forces gave since the start, but for `LAG` times that. Without
    flippers, the momentum is to rounding.
    """
    world, robot = scene.begin()
    gravity, step, masses = scene.ground.gravity, scene.step, robot.model.tree.masses
    weight = masses.sum() * G
    begin = before = account_of(robot, gravity)
    actuators = robot.read_actuators()
    given, turned, work, highest = begin.momentum, begin.angular_momentum, 0.0, begin.energy
    shaken, spun = begin.turning * begin.internal, begin.turning * begin.spins
    beyond = pulled = allowed = pressed = coefficient = 0.0
    momenta = [begin.momentum]
    with world:
        for _ in scene.run(world, robot):
            contacts, now = contact_forces(robot), account_of(robot, gravity)
            shaken += abs(now.turning * now.internal - before.turning * before.internal)
            spun += abs(now.turning * now.spins - before.turning * before.spins)

            given = given + step * (contacts.forces.sum(axis=0) + masses.sum() * gravity)
            places = before.centers[contacts.links] + contacts.levers
            moment = np.cross(places, contacts.forces).sum(axis=0)
            turned = turned + step * (moment + np.cross(masses @ before.centers, gravity))
            assert np.linalg.norm(now.momentum - given) < LAG * step * shaken + 1e-9 * weight
            assert np.linalg.norm(now.angular_momentum - turned) < LAG * step * spun + 1e-9 * weight

            after = robot.read_actuators()
            work += (after.belt_energies - actuators.belt_energies).sum()
            speeds = (actuators.flipper_speeds + after.flipper_speeds) / 2
            work += step * (after.flipper_torques * speeds).sum()
            assert now.energy - work < highest + 1e-9 * weight
            # One that leaves fast presses no more, and is still bent.
            if len(contacts.normal) == 0:
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
    It does so until it is `LOST`: two motions that have nothing more in common may differ by anything.
    """
    own, height = poses(scene)
    beside = np.abs(poses(scene, height=height, nudge=1e-9)[0] - own).max(axis=1)
    grown = np.maximum.accumulate(beside)
    known = grown < LOST
    image, _ = poses(scene.mirrored(), swapped=True, height=height)
    image[:, [1, 3, 5, 8, 10, 12]] *= -1.0
    assert (np.abs(image - own).max(axis=1) <= grown)[known].all()
    shifted, _ = poses(scene, shift=scene.ground.shift, height=height)
    assert (np.abs(shifted - own).max(axis=1) <= grown)[known].all()


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


@st.composite
def twins(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Any], int]:
    """Files of two vehicles with tracks and flippers of the same names, grounds, and a seed of commands."""
    pairs, flippers = draw(st.integers(1, 3)), draw(st.booleans())
    files = [draw(vehicles(pairs, flippers)) for _ in range(2)]
    return files, [draw(grounds(*RIGID)) for _ in range(3)], draw(st.integers(0, 10**6))


@FEW
@given(drawn=twins())
def test_a_batch_of_random_vehicles_is_as_many_worlds_to_the_bit(drawn: Any) -> None:
    """Under speeds, pedals, forces that push askew, other frictions and drives, and after a restore."""
    files, drawn_grounds, seed = drawn
    kinds = [VehicleDescription.model_validate(file) for file in files]
    terrains, variant, draw = (
        [ground.terrain(0.0) for ground in drawn_grounds],
        [0, 1, 0],
        np.random.default_rng(seed),
    )
    batch = Batch(kinds, variant=variant, terrain=terrains, time_step=0.004)
    worlds = [segtrack.World(engine="native", time_step=0.004) for _ in terrains]
    for world, ground in zip(worlds, terrains, strict=True):
        world.add_terrain(ground)
    robots = [
        world.add_vehicle(kinds[v], track_model="compliant") for world, v in zip(worlds, variant, strict=True)
    ]
    frictions, factors = draw.uniform(0.1, 1.0, (3, len(batch.track_names))), draw.uniform(0.3, 1.5, 3)
    batch.set_friction(frictions)
    batch.scale_drives(factors)
    for robot, friction, factor in zip(robots, frictions, factors, strict=True):
        for track, own in zip(robot.tracks.values(), friction, strict=True):
            track.set_friction(own)
            track.scale_drive(factor)

    def act() -> None:
        for _ in range(12):
            left, right, force, point = (
                *draw.uniform(-1.5, 1.5, (2, 3)),
                *draw.uniform(-20.0, 20.0, (2, 3, 3)),
            )
            brakes, angles = draw.uniform(0.0, 1.0, (2, 3)), draw.uniform(-1.0, 1.0, (2, 3))
            names, steps, speeds = batch.flipper_names, int(draw.integers(1, 12)), draw.random() < 0.6
            point = 0.01 * point
            if speeds:
                batch.set_belt_speed(left, right)
            else:
                batch.set_throttle(left, right, left_brake=brakes[0], right_brake=brakes[1])
            batch.apply_force(force, point)
            batch.set_flippers(**dict(zip(names, angles, strict=False)))
            batch.advance(steps)
            for i, (world, robot) in enumerate(zip(worlds, robots, strict=True)):
                if speeds:
                    robot.set_belt_speed(left[i], right[i])
                else:
                    throttles = np.clip((left[i], right[i]), -1.0, 1.0)
                    robot.set_throttle(*throttles, left_brake=brakes[0, i], right_brake=brakes[1, i])
                robot.apply_force(force[i], point[i])
                robot.set_flippers(**{name: angle[i] for name, angle in zip(names, angles, strict=False)})
                world.advance(steps)

    def assert_alike() -> None:
        """All but how far each may move before what is near is looked for anew, which depends on the room."""
        for i, robot in enumerate(robots):
            for name in set(batch.device_arrays._fields) - {"slack"}:
                of_batch = getattr(batch.device_arrays, name)
                np.testing.assert_array_equal(of_batch[i], getattr(robot.model.state, name)[0], err_msg=name)

    act()
    assert_alike()
    saved, state = (
        (batch.save(), *(world.save() for world in worlds)),
        copy.deepcopy(draw.bit_generator.state),
    )
    act()
    assert_alike()
    end = batch.state.position
    batch.restore(saved[0])
    for world, one in zip(worlds, saved[1:], strict=True):
        world.restore(one)
    draw.bit_generator.state = state
    act()
    assert_alike()
    np.testing.assert_array_equal(batch.state.position, end)
