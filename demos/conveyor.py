"""A track on a fixed body as a conveyor for boxes (Okada et al. 2020, figure 8)."""

from __future__ import annotations

from functools import partial

import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.rendering import Camera, free_body, mesh

HALF = (0.06, 0.08, 0.05)
"""Half of each edge of a box [m]."""


def main(headless: bool = False, picture: Picture = None) -> None:
    """Lay three boxes on the belt and let them ride to its end."""
    with segtrack.World(engine="pybullet", gui=not headless) as world:
        world.add_terrain(terrain.Plane())
        conveyor = world.add_vehicle("conveyor", position=(0, 0, 0.6))
        top = conveyor.bounds()[1][2]
        shape = world.client.createCollisionShape(world.client.GEOM_BOX, halfExtents=HALF)
        boxes = [world.client.createMultiBody(0.5, shape, -1, [x, 0, top + 0.06]) for x in (-0.3, 0.0, 0.3)]
        conveyor.set_belt_speed(0.2, 0.2)
        for _ in range(4):
            world.run(1.0, real_time=not headless)
            places = [world.client.getBasePositionAndOrientation(box)[0] for box in boxes]
            print(f"{world.time:.0f} s  boxes at x = " + ", ".join(f"{x:6.3f}" for x, _, _ in places) + " m")
            if picture is not None and round(world.time) == 2:
                look = mesh.box(HALF, (190, 120, 80))
                poses = (partial(world.client.getBasePositionAndOrientation, box) for box in boxes)
                shown = [free_body(look, pose) for pose in poses]
                Camera(conveyor, world.terrains, view="oblique", bodies=shown).save(picture)


if __name__ == "__main__":
    typer.run(command(main))
