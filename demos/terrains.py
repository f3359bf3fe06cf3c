"""One vehicle, every terrain: Quince drives two metres over each of the bundled ones."""

from __future__ import annotations

import math

import typer

import segtrack
from segtrack import terrain

COURSES = {
    "plane": terrain.Plane(),
    "step": terrain.Step(height=0.1, distance=0.8),
    "stairs": terrain.Stairs(riser=0.1, tread=0.3, count=3, distance=0.8),
    "ramp": terrain.Ramp(slope=math.radians(20), distance=0.8, length=1.0),
    "gap": terrain.Gap(length=0.3, distance=0.8, depth=0.5),
    "ridge": terrain.Ridge(height=0.1, length=0.4, distance=0.8),
    "half-round": terrain.HalfRound(radius=0.1, distance=0.8),
    "step field": terrain.StepField(max_height=0.1, cell=0.2, rows=10, columns=10, distance=0.8, seed=1),
}


def main(headless: bool = False, seconds: float = 8.0) -> None:
    """Drive over each terrain in turn."""
    for name, course in COURSES.items():
        with segtrack.World("fast", gui=not headless) as world:
            world.add_terrain(course)
            robot = world.add_vehicle("quince", flippers={"front_left": 0.6, "front_right": 0.6})
            robot.set_belt_speed(0.3, 0.3)
            world.run(seconds, real_time=not headless)
            x, _, z = robot.state.position
            print(f"{name:12s} x {x:5.2f} m  height {z:5.2f} m  {world.real_time_factor:4.1f} x real time")


if __name__ == "__main__":
    typer.run(main)
