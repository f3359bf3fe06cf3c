"""Tracks for your own robot in your own PyBullet program, which gains one call a step."""

from __future__ import annotations

from functools import partial

import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import PYBULLET_INSTALLED, Picture
from segtrack.errors import MissingPyBulletError
from segtrack.rendering import Camera, free_body, mesh

if PYBULLET_INSTALLED:
    import pybullet
    from pybullet_utils.bullet_client import BulletClient


def main(headless: bool = False, picture: Picture = None) -> None:
    """Drive a rover with a mast in a curve, next to a ball that segtrack does not manage."""
    if not PYBULLET_INSTALLED:
        raise MissingPyBulletError
    client = BulletClient(pybullet.DIRECT if headless else pybullet.GUI)
    client.setGravity(0, 0, -9.81)
    ground = client.createMultiBody(0, client.createCollisionShape(pybullet.GEOM_PLANE))
    client.changeDynamics(ground, -1, lateralFriction=1.0)
    ball = client.createMultiBody(
        1.0, client.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1), -1, [0.3, 0.55, 0.5]
    )

    segtrack.configure(client)
    robot = segtrack.attach(client, "example_rover", position=[0, 0, 0.3])
    for step in range(5000):
        if step == 1000:
            robot.drive(linear=0.2, angular=0.3)
        robot.before_step()
        client.stepSimulation()
    x, y, _ = robot.state.position
    print(f"at ({x:.2f}, {y:.2f}) m, heading {robot.state.yaw:.2f} rad, tracks {', '.join(robot.tracks)}")
    if picture is not None:
        pose = partial(client.getBasePositionAndOrientation, ball)
        bodies = [free_body(mesh.ball(0.1, (200, 70, 60)), pose)]
        Camera(robot, [terrain.Plane()], view="oblique", bodies=bodies).save(picture)
    client.disconnect()


if __name__ == "__main__":
    typer.run(command(main))
