"""A spring holds PackBot back while its belts slip: the drawbar pull is friction times weight."""

from __future__ import annotations

import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.rendering import Camera, free_body, mesh

STIFFNESS = 2000.0
DAMPING = 400.0
RED = (200, 70, 60)


def main(headless: bool = False, picture: Picture = None) -> None:
    """Pull against a spring of 2 kN/m and print pull, slip and power."""
    with segtrack.World(gui=not headless) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot")
        world.run(0.3)
        start = robot.state.position[0]
        robot.set_belt_speed(0.2, 0.2)

        def spring() -> float:
            state = robot.state
            pull = STIFFNESS * (state.position[0] - start) + DAMPING * state.velocity[0]
            robot.apply_force((-pull, 0.0, 0.0), state.position)
            return pull

        for _ in range(4):
            world.run(0.5, on_step=spring, real_time=not headless)
            power = sum(track.power for track in robot.tracks.values())
            slip = robot.tracks["left"].slip
            print(f"{world.time:.1f} s  pull {spring():6.1f} N  slip {slip:5.2f}  power {power:5.1f} W")
        print(f"friction x weight = {0.6 * robot.mass * 9.81:.1f} N")
        if picture is not None:
            x, y, z = robot.state.position
            rod = free_body(mesh.box((0.5, 0.006, 0.006), RED), lambda: ((x - 0.5, y, z), (0, 0, 0, 1)))
            Camera(robot, world.terrains, view="oblique", bodies=[rod]).save(picture)


if __name__ == "__main__":
    typer.run(command(main))
