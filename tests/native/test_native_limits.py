"""Limits that a step decides on: dry friction of servos, steps begun again for want of room, flat shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed

import segtrack
from segtrack import terrain
from segtrack.errors import InvalidValueError
from segtrack.native.joint_arrays import FRICTION

FRICTION_TORQUE = 2.0
ARM = {"mass": 2.0, "center": (0.3, 0.0, 0.0), "inertia": (0.01, 0.02, 0.02)}


def test_dry_friction_of_servos_stays_within_its_bound(tmp_path: Path) -> None:
    """Of three joints: what their equations ask for, beyond the reported torques, is friction."""
    limbs = [
        Limb(name, kind="continuous", friction=FRICTION_TORQUE, effort=40.0, **place, **ARM)
        for name, place in (
            ("a", {"xyz": (0.0, 0.0, 0.5)}),
            ("b", {"parent": "a_link", "xyz": (0.6, 0.0, 0.0)}),
            ("c", {"parent": "b_link", "xyz": (0.6, 0.0, 0.0)}),
        )
    ]
    file = jointed(tmp_path, limbs, {name: {"servo": {}} for name in "abc"}, fixed=True)
    with segtrack.World(engine="native", time_step=0.004) as world:
        robot = world.add_vehicle(file)
        model, rng = robot.model, np.random.default_rng(1)
        settings, torques = model.tree.joints.settings, model.tree.max_torques
        strong, own, weak = np.full_like(torques, 1e9), settings[:, FRICTION].copy(), torques.copy()
        largest = 0.0
        for step in range(200):
            if step % 40 == 0:
                for joint in robot.joints.values():
                    joint.set_position(rng.uniform(-1.5, 1.5))
            before = model.state.copy()
            world.step()
            after, equations = model.state.copy(), model._work.equations
            lower = np.tril(equations.matrix[6:9, 6:9])
            asked = (lower + np.tril(lower, -1).T) @ equations.change[6:9]
            reported = model.state.joint_torques[0].copy()
            # The right side of the same step without motors and friction in it.
            for mine, values in zip(model.state, before, strict=True):
                mine[...] = values
            settings[:, FRICTION], torques[:] = 0.0, strong
            world.step()
            friction = (asked - equations.right[6:9]) / 0.004 - reported
            settings[:, FRICTION], torques[:] = own, weak
            for mine, values in zip(model.state, after, strict=True):
                mine[...] = values
            largest = max(largest, float(np.abs(friction).max()))
    assert largest == pytest.approx(FRICTION_TORQUE, rel=1e-6)


@pytest.mark.parametrize("speed", [0.5, -0.5])
def test_a_servo_overcomes_its_dry_friction_either_way(speed: float, tmp_path: Path) -> None:
    """At a constant speed it bears the weight, and what acts against the motion."""
    limb = Limb("a", axis=(0.0, -1.0, 0.0), friction=FRICTION_TORQUE, effort=40.0, **ARM)
    file = jointed(tmp_path, [limb], {"a": {"servo": {}}}, fixed=True)
    with segtrack.World(engine="native", time_step=0.001) as world:
        joint = world.add_vehicle(file).joints["a"]
        joint.set_speed(speed)
        world.run(0.5)
        level = 2.0 * 9.81 * 0.3 * np.cos(joint.position)
        assert joint.force == pytest.approx(level + np.copysign(FRICTION_TORQUE, speed), rel=1e-3)


def test_settling_is_equal_to_the_bit_where_a_step_was_begun_again_for_want_of_room() -> None:
    boxes = [
        terrain.GroundBox(x=0.005 * i - 0.5, y=0.0, length=0.003, width=1.0, height=0.01) for i in range(200)
    ]
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Boxes(boxes=tuple(boxes)))
        model = world.add_vehicle("quince", position=(0.0, 0.0, 0.3)).model
        room, saved, states = model._candidates, world.save(), []
        for _ in range(2):
            world.settle(max_time=0.3)
            states.append(model.state.copy())
            world.restore(saved)
        assert model._candidates.solids.shape > room.solids.shape
        assert model._candidates.edges.shape > room.edges.shape
    for name, one, other in zip(model.state._fields, *states, strict=True):
        if name != "slack":
            np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize("engine", ["native", "pybullet"])
@pytest.mark.parametrize("command", ["position", "speed"])
def test_a_servo_with_gains_bears_its_load_however_often_it_is_told(engine, command, tmp_path: Path) -> None:
    """It gives way by load over stiffness, and no farther."""
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    limbs = [Limb("a", xyz=(0.0, 0.0, 0.5), **ARM)]
    gains = {"servo": {"stiffness": 60.0, "damping": 5.0, "max_force": 40.0}}
    file = jointed(tmp_path, limbs, {"a": gains}, fixed=True)
    with segtrack.World(engine=engine, time_step=0.001) as world:
        joint = world.add_vehicle(file, track_model="compliant").joints["a"]
        joint.set_position(0.0)
        world.run(1.0)
        before = joint.position
        assert abs(before) == pytest.approx(2.0 * 9.81 * 0.3 / 60.0, rel=0.02)
        for _ in range(25):
            joint.set_position(0.0) if command == "position" else joint.set_speed(0.0)
            world.run(0.02)
        assert joint.position == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize("step", [0.001, 0.004])
def test_a_servo_with_gains_that_was_blocked_does_not_wind_up(step: float, tmp_path: Path) -> None:
    """Freed, it is no further than its largest force over its stiffness ahead of where it was blocked.

    Critically damped, it does not swing over that. What blocks it is gravity of 1000 m/s^2 along the arm.
    """
    stiffness, most, inertia, speed, start = 100.0, 20.0, 0.02 + 2.0 * 0.3**2, 0.3, -1.0
    limbs = [Limb("a", axis=(0.0, -1.0, 0.0), **ARM)]
    servo = {"stiffness": stiffness, "damping": 2.0 * (stiffness * inertia) ** 0.5, "max_force": most}
    file = jointed(tmp_path, limbs, {"a": {"servo": servo}}, fixed=True)
    with segtrack.World(engine="native", time_step=step, gravity=0.0) as world:
        joint = world.add_vehicle(file).joints["a"]
        joint.place(start)
        world.set_gravity((1000.0 * np.cos(start), 0.0, 1000.0 * np.sin(start)))
        joint.set_speed(speed)
        world.run(5.0)
        blocked = joint.position
        assert blocked == pytest.approx(start, abs=0.05)
        world.set_gravity((0.0, 0.0, 0.0))
        world.run(0.5)
        assert joint.position < blocked + most / stiffness + 0.5 * speed


def test_a_flat_collision_shape_is_refused() -> None:
    from segtrack.native.layout import _planes

    flat = np.array([(x, y, 0.0) for x in (0.0, 0.3) for y in (0.0, 0.2)])
    with pytest.raises(InvalidValueError) as error:
        _planes(flat)
    assert str(error.value) == "collision shape of a body [m] must be of some thickness, got 0.3 x 0.2 x 0"
