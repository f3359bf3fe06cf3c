"""Quince raises its flippers and climbs a 240 mm step: the README's example, with a window."""

from __future__ import annotations

import math

import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.rendering import Camera


def main(headless: bool = False, picture: Picture = None) -> None:
    """Climb a step; without --headless in a window, in real time."""
    with segtrack.World(gui=not headless) as world:
        world.add_terrain(terrain.Step(height=0.24, distance=0.75))
        raised = {"front_left": math.radians(45), "front_right": math.radians(45)}
        level = {"rear_left": math.radians(5), "rear_right": math.radians(5)}
        robot = world.add_vehicle("quince", flippers=raised | level)
        robot.set_belt_speed(left=0.1, right=0.1)
        while world.time < 13.0:
            world.run(1.0, real_time=not headless)
            state = robot.state
            print(
                f"{world.time:5.1f} s  x {state.position[0]:6.3f} m  height {state.position[2]:5.3f} m"
                f"  pitch {math.degrees(state.pitch):5.1f} deg  slip {robot.tracks['left'].slip:6.3f}"
            )
            if picture is not None and round(world.time) == 8:
                Camera(robot, world.terrains, view="oblique", size=(960, 540)).save(picture)


if __name__ == "__main__":
    typer.run(command(main))
