"""Quince turns on the spot in the native engine: yaw rate over no-slip rate, and belt slip."""

from __future__ import annotations

import math

import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.rendering import Camera

SPEED = 0.2
RAISED = 1.0


def main(headless: bool = False, picture: Picture = None) -> None:
    """Turn left with all flippers raised by 1 rad; without --headless in real time."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        flippers = dict.fromkeys(("front_left", "front_right", "rear_left", "rear_right"), RAISED)
        robot = world.add_vehicle("quince", flippers=flippers)
        _, without_slip = robot.description.require_track_offsets().twist(-SPEED, SPEED)
        robot.set_belt_speed(left=-SPEED, right=SPEED)
        world.run(1.0, real_time=not headless)
        for _ in range(5):
            before = robot.state.yaw
            world.run(1.0, real_time=not headless)
            rate = math.remainder(robot.state.yaw - before, math.tau)
            slips = "  ".join(f"{name} {robot.tracks[name].slip:5.3f}" for name in ("left", "right"))
            ratio = rate / without_slip
            print(f"{world.time:.0f} s  {rate:5.3f} rad/s, {ratio:5.3f} of no-slip;  slip ratio: {slips}")
        if picture is not None:
            Camera(robot, world.terrains, view="oblique").save(picture)


if __name__ == "__main__":
    typer.run(command(main))
