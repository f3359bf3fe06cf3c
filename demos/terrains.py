"""Quince drives two metres over each of the bundled terrains (a mesh is the user's own)."""

from __future__ import annotations

import math

import numpy as np
import typer
from PIL import Image

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.rendering import Camera

X, _ = np.meshgrid(np.linspace(-4, 4, 81), np.linspace(-4, 4, 81), indexing="ij")
WAVES = 0.05 * (1 - np.cos(2 * math.pi * X / 1.0))

COURSES = {
    "plane": terrain.Plane(),
    "step": terrain.Step(height=0.1, distance=0.8),
    "stairs": terrain.Stairs(riser=0.1, tread=0.3, count=3, distance=0.8),
    "ramp": terrain.Ramp(slope=math.radians(20), distance=0.8, length=1.0),
    "gap": terrain.Gap(length=0.3, distance=0.8, depth=0.5),
    "ridge": terrain.Ridge(height=0.1, length=0.4, distance=0.8),
    "half-round": terrain.HalfRound(radius=0.1, distance=0.8),
    "barrier": terrain.TrapezoidBarrier(height=0.15, top_length=0.4, bottom_length=0.9, distance=0.8),
    "ditch": terrain.TrapezoidDitch(depth=0.15, top_length=0.8, bottom_length=0.3, distance=0.8),
    "waves": terrain.Heightfield(heights=WAVES, spacing=0.1),
    "step field": terrain.StepField(max_height=0.1, cell=0.2, rows=10, columns=10, distance=0.8, seed=1),
}


COLUMNS, TILE = 4, (240, 136)
"""Tiles in a row of the picture, and the size of each [pixels]."""


def main(headless: bool = False, seconds: float = 8.0, picture: Picture = None) -> None:
    """Drive over each terrain in turn."""
    tiles = []
    for name, course in COURSES.items():
        with segtrack.World("fast", gui=not headless) as world:
            world.add_terrain(course)
            robot = world.add_vehicle("quince", flippers={"front_left": 0.6, "front_right": 0.6})
            robot.set_belt_speed(0.3, 0.3)
            world.run(0.45 * seconds, real_time=not headless)
            if picture is not None:
                camera = Camera(robot, world.terrains, view="oblique", size=TILE)
                tiles.append(camera.take(fine=True))
            world.run(0.55 * seconds, real_time=not headless)
            x, _, z = robot.state.position
            print(f"{name:12s} x {x:5.2f} m  height {z:5.2f} m  {world.real_time_factor:4.1f} x real time")
    if picture is not None:
        tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % COLUMNS)
        rows = [np.hstack(tiles[i : i + COLUMNS]) for i in range(0, len(tiles), COLUMNS)]
        sheet = Image.fromarray(np.vstack(rows)).quantize(256, dither=Image.Dither.NONE)
        sheet.save(picture, optimize=True)


if __name__ == "__main__":
    typer.run(command(main))
