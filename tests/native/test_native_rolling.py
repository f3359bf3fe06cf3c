"""Vehicles that roll down a slope freely: what is lost of the work of their weight, and to what."""

import math

import numpy as np
import pytest
from quick import some_of
from test_friction_in_change import DRIVEN, STEPS, G, forces_as_solved, on_ground, rows_of_contacts

from segtrack.ground import active_contacts as contacts

SLOPE = 20.0
RIGID = some_of([n for n in DRIVEN if not n.startswith("m113") and n != "absolem"], "packbot", "trapezoidal")
"""Vehicles without a suspension, whose springs and dampers would take part, and without weak flippers."""


def velocities_of_contacts(robot):
    """Velocities of the contacts of the last step in its middle (n, 3) [m/s]."""
    model, (rows, link, belt) = robot.model, rows_of_contacts(robot)
    work = model._work
    along = np.where(belt >= 0, 1.0, 0.0)[:, None] * rows[:, contacts.ALONG_BELT :][:, :3]
    speeds = (model.state.speeds[0] - work.belt_changes / 2)[belt]
    velocities = (work.velocities - work.changes / 2)[link]
    turning = (work.angular_velocities - work.turns / 2)[link]
    return velocities + np.cross(turning, rows[:, contacts.LEVER :][:, :3]) + along * speeds[:, None]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("vehicle", RIGID)
def test_free_belts_lose_what_their_contacts_take(vehicle, step):
    """The weight's work is kinetic energy, and what forces of contacts take at the velocities of contacts."""
    world, robot = on_ground(vehicle, 0.6, step)
    with world:
        model, angle = robot.model, math.radians(SLOPE)
        down = np.array((G * math.sin(angle), 0.0, -G * math.cos(angle)))
        world.set_gravity(tuple(down.tolist()))
        robot.set_throttle(0.0, 0.0)
        world.run(0.1)
        before = model.bodies()
        begin, work, pressing, sliding = before.kinetic_energy, 0.0, 0.0, 0.0
        for _ in range(round(0.4 / step)):
            world.step()
            after = model.bodies()
            work += step * after.masses @ ((before.velocities + after.velocities) / 2) @ down
            _, friction, _, forces = forces_as_solved(robot, step)
            velocities = velocities_of_contacts(robot)
            pressing -= step * np.sum((forces - friction) * velocities)
            sliding -= step * np.sum(friction * velocities)
            before = after
    lost = work - (after.kinetic_energy - begin)
    assert lost == pytest.approx(pressing + sliding, rel=1e-5)
    assert pressing > 0.0
    assert sliding > 0.0
