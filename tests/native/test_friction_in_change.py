"""Friction never beyond friction times load, whatever is commanded: momentum theorems in the native engine.

On flat ground the only forces along it are friction's, so that over any time dt the vehicle's momentum
changes by dP with |dP_xy| <= mu (M g dt + dP_z), for any command.
"""

import math
import random

import numpy as np
import pytest
from friction_in_change import (
    DRIVEN,
    G,
    command_at_random,
    largest_excess,
    momenta_under_commands,
    momentum_of,
    on_ground,
    rows_of_contacts,
    top_speed,
)
from quick import some_of
from scenes import vary

import segtrack
from segtrack import terrain
from segtrack.ground import active_contacts as contacts

COMPLIANT = some_of(DRIVEN, "packbot", "quince")
STEPS = some_of([0.001, 0.002, 0.004], 0.004)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("friction", [0.6, 0.1])
@pytest.mark.parametrize("vehicle", COMPLIANT)
def test_no_command_gains_more_momentum_than_friction_times_load(vehicle, friction, step):
    world, robot = on_ground(vehicle, friction, step)
    with world:
        weight = robot.model.bodies().masses.sum() * G
        momenta = momenta_under_commands(world, robot, step, 1.0, seed=1)
    assert largest_excess(momenta, step, friction, weight) < 0.02


@pytest.mark.parametrize("vehicle", ["packbot", "quince"])
@pytest.mark.parametrize(("step", "lowest"), [(0.001, -1.78), (0.004, -1.60)])
def test_alternating_belts_climb_no_slope_beyond_friction(vehicle, step, lowest):
    """Between the ground's speed and full speed each 20 ms, at 22 deg and friction 0.3 (16.7 deg)."""
    world, robot = on_ground(vehicle, 0.3, step, slope_deg=22.0)
    with world:
        top, start = top_speed(robot), robot.state.position[0]
        for k in range(100):
            sliding = min(max(robot.model.link_motion().velocity[0], -top), top)
            speed = top if k % 2 == 0 else sliding
            robot.set_belt_speed(left=speed, right=speed)
            world.run(0.02)
        assert robot.state.position[0] - start < lowest


@pytest.mark.parametrize("sideways", [False, True])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("vehicle", COMPLIANT)
@pytest.mark.parametrize("beyond", [1.02, 1.08])
def test_what_slides_is_pulled_by_the_slope_less_friction(vehicle, step, beyond, sideways):
    friction = 0.4
    angle = beyond * math.atan(friction)
    pull = pull_of_slope(vehicle, friction, step, angle, sideways)
    assert pull == pytest.approx(G * (math.sin(angle) - friction * math.cos(angle)), rel=0.005)


def pull_of_slope(vehicle, friction, step, angle, sideways):
    """Mean acceleration down a slope [rad] of a vehicle that slides, from 0.4 s on [m/s^2]."""
    world, robot = on_ground(vehicle, friction, step, slope_deg=math.degrees(angle), sideways=sideways)
    with world:
        mass, axis = robot.model.bodies().masses.sum(), 1 if sideways else 0
        world.run(0.4)
        before = momentum_of(robot)[axis]
        world.run(0.4)
        return (before - momentum_of(robot)[axis]) / (0.4 * mass)


@pytest.mark.parametrize("ratio", [0.6, 1.4])
def test_what_slides_across_is_pulled_by_the_slope_less_friction_across(ratio):
    packbot, across = segtrack.load_vehicle("packbot"), 0.4 * ratio
    lateral = ratio * packbot.tracks["left"].contact.friction
    vehicle, angle = vary("packbot", contact={"lateral_friction": lateral}), 1.05 * math.atan(across)
    pull = pull_of_slope(vehicle, 0.4, 0.004, angle, sideways=True)
    assert pull == pytest.approx(G * (math.sin(angle) - across * math.cos(angle)), rel=0.005)


def forces_as_solved(robot, step):
    """Normal forces (n,), friction (n, 3) and its limits (n,) [N] of all contacts in the last step.

    Anew from what the step's contacts hold, by the formulas at the head of `active_contacts`.
    """
    work, (rows, link, belt) = robot.model._work, rows_of_contacts(robot)
    lever, normal = rows[:, contacts.LEVER :][:, :3], rows[:, contacts.NORMAL :][:, :3]
    change = work.changes[link] + np.cross(work.turns[link], lever)
    change += (
        np.where(belt >= 0, work.belt_changes[belt], 0.0)[:, None] * rows[:, contacts.ALONG_BELT :][:, :3]
    )
    rising = np.sum(change * normal, axis=1)
    slip = change - rising[:, None] * normal
    holding = rows[:, contacts.HOLDING :][:, :3] - rows[:, contacts.GRIP, None] * slip
    normals = rows[:, contacts.ACTS] * (rows[:, contacts.FORCE] - rows[:, contacts.RESISTANCE] * rising)
    friction = rows[:, contacts.CUT, None] * holding
    forces = normals[:, None] * normal + friction
    return normals, friction, rows[:, contacts.FRICTION] * np.maximum(normals, 0.0), forces


@pytest.mark.parametrize("vehicle", ["packbot", "quince"])
def test_on_any_ground_each_contact_is_pressed_and_holds_within_friction(vehicle):
    """A field of posts, 0.5 s under commands at random; momentum is what the contacts gave it."""
    step = 0.004
    field = terrain.StepField(max_height=0.06, cell=0.1, rows=12, columns=12, distance=0.3, seed=3)
    world, robot = on_ground(vehicle, 0.6, step, ground=field)
    beyond = allowed = pulled = pressed = 0.0
    with world:
        mass, draw, top = robot.model.bodies().masses.sum(), random.Random(2), top_speed(robot)
        robot.set_belt_speed(left=top, right=top)
        world.run(0.5)
        for k in range(125):
            if k % 5 == 0:
                command_at_random(robot, draw, top)
            before = momentum_of(robot)
            world.step()
            normals, friction, limits, forces = forces_as_solved(robot, step)
            gained = momentum_of(robot) - before + (0.0, 0.0, mass * G * step)
            np.testing.assert_allclose(forces.sum(axis=0) * step, gained, atol=0.02 * mass * G * step)
            beyond += np.maximum(np.linalg.norm(friction, axis=1) - limits, 0.0).sum()
            allowed += limits.sum()
            pulled += np.maximum(-normals, 0.0).sum()
            pressed += np.maximum(normals, 0.0).sum()
    assert beyond < 0.02 * allowed
    assert pulled < 0.02 * pressed
