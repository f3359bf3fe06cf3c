"""Bulldozer with 46 shoes a side in a V-ditch (Omar 2014, section 7), simulated shoe by shoe."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.experiments import ChainHistory, ChainRecorder
from segtrack.files import write_figure
from segtrack.rendering import Camera
from segtrack.report import LOADS, draw_shoes, new_figure

DITCH = terrain.TrapezoidDitch(depth=0.7, top_length=6.0, bottom_length=0.0, distance=2.6)
SPEED = 0.8
SECONDS = 13.0
SAMPLE = 0.1


def main(
    headless: bool = False,
    out: Annotated[Path, typer.Option(help="Folder for the picture of the loads.")] = Path("out/bulldozer"),
    picture: Picture = None,
) -> None:
    """Drive in and out; without --headless in a window, in real time if possible."""
    with segtrack.World(time_step=0.002, gui=not headless) as world:
        world.add_terrain(DITCH)
        robot = world.add_vehicle("bulldozer", track_model="chain")
        rest = world.settle()
        print(f"at rest to {rest.max_residual_force:.0f} N of {robot.mass * 9.81:.0f} N")
        robot.set_belt_speed(SPEED, SPEED)
        recorder = ChainRecorder(robot, SAMPLE, SECONDS)
        print("  time      x  height  pitch  tension kN       pressure  slip")
        print("     s      m       m    deg  least  greatest       kPa     -")
        for sample in range(round(SECONDS / SAMPLE)):
            world.run(SAMPLE, real_time=not headless)
            recorder.sample(world.time)
            if picture is not None and sample == 60:
                Camera(robot, world.terrains, size=(960, 540)).save(picture)
            if sample % 10 == 9:
                x, _, z = robot.state.position
                reading = robot.tracks["left"].read_chain()
                low, high = reading.tension.min() / 1000, reading.tension.max() / 1000
                pressure, slip = reading.pressure.max() / 1000, robot.tracks["left"].slip
                pitch = math.degrees(robot.state.pitch)
                where = f"{world.time:6.1f} {x:6.2f} {z:7.3f} {pitch:6.1f}"
                print(f"{where} {low:6.1f} {high:9.1f} {pressure:9.0f} {slip:5.2f}")
        print(f"real-time factor of the last piece: {world.real_time_factor:.2f}")
        draw(recorder.history(), out / "v-ditch.png")


def draw(history: ChainHistory, path: Path) -> None:
    """Draw the right chain at four instants: above by tension, below by ground pressure."""
    figure = new_figure(20.0, 7.5)
    figure.suptitle(
        "bulldozer with 46 shoes a side in a V-ditch: tension, and pressure on the ground", fontsize=15
    )
    indices = [round(share * (len(history.time) - 1)) for share in (0.25, 0.42, 0.58, 0.75)]
    for row, load in enumerate(LOADS):
        for column, index in enumerate(indices):
            axes = figure.add_subplot(2, 4, 4 * row + column + 1)
            draw_shoes(axes, history, ["right"], index, load, [DITCH])
            axes.set_title(f"t = {history.time[index]:.1f} s", loc="left", fontsize=10)
    print(f"wrote {write_figure(path, figure)}")


if __name__ == "__main__":
    typer.run(command(main))
