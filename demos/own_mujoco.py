"""An own MuJoCo program: PackBot carries a loose box over the program's own ground."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import typer

from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.mujoco import MujocoVehicle, add, attach
from segtrack.rendering import Camera, free_body, mesh
from segtrack.robot import Robot

TIME_STEP, SECONDS, PICTURED = 0.004, 11.0, 6.5
HALF = 0.08
"""Half the side of the box [m]."""


def build_model(mujoco: Any) -> Any:
    """Describe boxes, a log, a heightfield and a loose box, as any MuJoCo program does, and PackBot."""
    kind, spec = mujoco.mjtGeom, mujoco.MjSpec()
    spec.option.timestep = TIME_STEP
    floor = spec.worldbody
    floor.add_geom(type=kind.mjGEOM_PLANE, size=[20, 20, 0.1])
    floor.add_light(pos=[0, 0, 4])
    for x, height, yaw in ((0.8, 0.05, 0.2), (1.2, 0.08, -0.1)):
        turn = [math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)]
        floor.add_geom(type=kind.mjGEOM_BOX, size=[0.12, 0.8, height], pos=[x, 0, 0], quat=turn)
    floor.add_geom(type=kind.mjGEOM_CAPSULE, size=[0.1, 0.7, 0], pos=[2.0, 0, 0], euler=[90, 0, 10])
    along, across = np.meshgrid(np.arange(41), np.arange(61))
    waves = (1 - np.cos(2 * np.pi * along / 10) * np.cos(2 * np.pi * across / 20)) / 2
    spec.add_hfield(
        name="waves", nrow=61, ncol=41, size=[0.6, 0.9, 0.05, 0.1], userdata=waves.ravel().tolist()
    )
    floor.add_geom(type=kind.mjGEOM_HFIELD, hfieldname="waves", pos=[3.1, 0, 0])
    box = floor.add_body(name="box", pos=[0, 0, 0.3])
    box.add_freejoint()
    box.add_geom(type=kind.mjGEOM_BOX, size=[HALF] * 3, mass=2, rgba=[0.75, 0.47, 0.31, 1])
    add(spec, "packbot", position=(0.0, 0.0, 0.12))
    return spec.compile()


def take_picture(robot: Robot[MujocoVehicle], model: Any, data: Any, picture: Path) -> None:
    """Show the robot, its box and the ground."""
    box, look = data.body("box"), mesh.box((HALF,) * 3, (190, 120, 80))

    def place() -> tuple[Any, Any]:
        w, x, y, z = box.xquat
        return box.xpos, (x, y, z, w)

    ground, shown = terrain.from_mujoco(model, data), free_body(look, place)
    Camera(robot, ground, view="oblique", bodies=[shown]).save(picture)


def main(headless: bool = False, picture: Picture = None) -> None:
    """Drive over everything; the program takes MuJoCo's steps."""
    import mujoco

    model = build_model(mujoco)
    data = mujoco.MjData(model)
    robot, box = attach(model, data, "packbot"), data.body("box")
    robot.set_belt_speed(left=0.4, right=0.4)
    steepest = 0.0
    with ExitStack() as stack:
        window = None
        if not headless:
            import mujoco.viewer

            window = stack.enter_context(mujoco.viewer.launch_passive(model, data))
        for step in range(round(SECONDS / TIME_STEP)):
            mujoco.mj_step(model, data)
            steepest = max(steepest, abs(robot.state.pitch))
            if window is not None:
                window.sync()
            if picture is not None and step == round(PICTURED / TIME_STEP):
                take_picture(robot, model, data, picture)
    x, _, z = robot.state.position
    moved = np.linalg.norm(box.xpos - robot.state.position)
    print(
        f"PackBot at {x:.2f} m, {z:.3f} m high, pitch up to {math.degrees(steepest):.0f} deg; "
        f"the box {moved:.2f} m from it"
    )


if __name__ == "__main__":
    typer.run(command(main))
