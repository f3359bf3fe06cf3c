"""An own PyBullet program whose ground is read by tracks with their own contact search."""

from __future__ import annotations

import math

import numpy as np
import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import PYBULLET_INSTALLED, Picture
from segtrack.errors import MissingPyBulletError
from segtrack.rendering import Camera

if PYBULLET_INSTALLED:
    import pybullet
    import pybullet_data
    from pybullet_utils.bullet_client import BulletClient

TIME_STEP = 0.005
SECONDS = 7.5
PICTURED = 3.7
MAST = "mast"


def build_world(client: BulletClient) -> None:
    """Create a plane, boxes, a mesh and a heightfield, as any PyBullet program does."""
    client.setAdditionalSearchPath(pybullet_data.getDataPath())
    client.setGravity(0, 0, -9.81)
    client.loadURDF("plane.urdf")
    for x, height, yaw in ((0.7, 0.06, 0.2), (1.05, 0.1, -0.1)):
        box = client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.15, 0.8, height / 2])
        turn = pybullet.getQuaternionFromEuler([0, 0, yaw])
        body = client.createMultiBody(0, box, basePosition=[x, 0, height / 2], baseOrientation=turn)
        client.changeDynamics(body, -1, lateralFriction=1.0)
    ridge = [[x, y, 0.0] for x in (-0.4, 0.4) for y in (-0.8, 0.8)] + [[0.0, y, 0.12] for y in (-0.8, 0.8)]
    mesh = client.createCollisionShape(pybullet.GEOM_MESH, vertices=ridge)
    client.changeDynamics(client.createMultiBody(0, mesh, basePosition=[1.9, 0, 0]), -1, lateralFriction=1.0)
    along, across = np.meshgrid(np.arange(41), np.arange(61))
    heights = 0.03 * (1 - np.cos(2 * np.pi * along / 15) * np.cos(2 * np.pi * across / 20))
    field = client.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[0.03, 0.03, 1.0],
        heightfieldData=heights.ravel().tolist(),
        numHeightfieldRows=41,
        numHeightfieldColumns=61,
    )
    middle = (heights.min() + heights.max()) / 2
    client.changeDynamics(
        client.createMultiBody(0, field, basePosition=[3.0, 0, middle]), -1, lateralFriction=1.0
    )


def drive(track_model: str, headless: bool, picture: Picture) -> None:
    """Drive over everything; the program steps, and turns the robot's mast."""
    client = BulletClient(pybullet.DIRECT if headless else pybullet.GUI)
    build_world(client)
    segtrack.configure(client, time_step=TIME_STEP)
    robot = segtrack.attach(client, "example_rover", track_model=track_model, position=[0, 0, 0.1])
    body, mast = robot.body_id, robot.links[MAST]
    robot.drive(linear=0.5, angular=0.0)
    highest = steepest = 0.0
    for step in range(round(SECONDS / TIME_STEP)):
        angle = 2 * math.sin(step * TIME_STEP)
        client.setJointMotorControl2(body, mast, pybullet.POSITION_CONTROL, angle, maxVelocity=2, force=5)
        robot.before_step()
        client.stepSimulation()
        if picture is not None and step == round(PICTURED / TIME_STEP):
            Camera(robot, terrain.from_pybullet(client), view="oblique").save(picture)
        highest = max(highest, robot.state.position[2])
        steepest = max(steepest, abs(robot.state.pitch))
    x, _, z = robot.state.position
    turned = client.getJointState(body, mast)[0]
    print(
        f"{track_model}: at {x:.2f} m, {z:.3f} m high (up to {highest:.3f} m), "
        f"pitch up to {math.degrees(steepest):.0f} deg, mast at {turned:.2f} rad"
    )
    client.disconnect()


def main(headless: bool = False, picture: Picture = None) -> None:
    """Drive over the program's own ground with two track models."""
    if not PYBULLET_INSTALLED:
        raise MissingPyBulletError
    drive("compliant", headless, picture)
    drive("chain", headless, None)


if __name__ == "__main__":
    typer.run(command(main))
