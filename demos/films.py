"""Short films for the documentation's gallery, made by one command."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import imageio_ffmpeg
import numpy as np
import typer
from numpy.typing import NDArray
from PIL import Image

import segtrack
from segtrack import terrain
from segtrack.cli import command
from segtrack.demos import PYBULLET_INSTALLED, Picture
from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import MissingPyBulletError, UnknownNameError
from segtrack.rendering import Film, View
from segtrack.robot import Robot

FRAME_RATE = 16.0
"""Frames a second of a film."""
SIZE, FINER = (640, 360), 2
"""Width and height of what is shown [pixels], and how much finer it is filmed."""
QUALITY = 50
"""Quality of WebP, 0 to 100."""
COLUMNS = 3
"""Films in a row of the picture."""
Shot = Callable[[Path], Sequence[Path]]
"""Writer of a scene into a folder: films that are shown side by side."""


def follow(
    world: segtrack.World,
    robot: Robot,
    file: Path,
    acts: Sequence[tuple[float, Callable[[], object]]],
    view: View = "oblique",
    pace: float = 1.0,
    parts: int = 1,
) -> Path:
    """Film a robot through a sequence of commands, each with a duration.

    Args:
        world: World of the robot.
        robot: Robot in the centre of the film.
        file: Path of the film.
        acts: Duration [s] and command of each act.
        view: View of the camera.
        pace: Ratio of the film's speed to simulated time [-].
        parts: Number of films shown side by side.
    """
    size = FINER * SIZE[0] // parts, FINER * SIZE[1]
    with Film(file, robot, world.terrains, view=view, frame_rate=FRAME_RATE / pace, size=size) as film:
        for seconds, tell in acts:
            tell()
            world.run(seconds, on_step=lambda: film.take(world.time))
    return file


def climb(folder: Path) -> list[Path]:
    """Quince climbs a 240 mm step, and helps itself with its flippers."""
    raised, level = math.radians(45), math.radians(5)
    pairs = [("front_left", "front_right"), ("rear_left", "rear_right")]
    start = {name: angle for names, angle in zip(pairs, (raised, level), strict=True) for name in names}
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Step(height=0.24, distance=0.75))
        robot = world.add_vehicle("quince", track_model="compliant", flippers=start)

        def turn_flippers(front: float, rear: float) -> None:
            robot.set_flippers(**dict.fromkeys(pairs[0], math.radians(front)))
            robot.set_flippers(**dict.fromkeys(pairs[1], math.radians(rear)))

        acts = [
            (2.6, lambda: robot.set_belt_speed(left=0.2, right=0.2)),
            (1.6, lambda: turn_flippers(10, -35)),
            (2.6, lambda: turn_flippers(0, 0)),
        ]
        return [follow(world, robot, folder / "climb.mp4", acts)]


def turn(folder: Path) -> list[Path]:
    """Quince turns on the spot: compliant belts in the native engine, and segments in PyBullet."""
    if not PYBULLET_INSTALLED:
        raise MissingPyBulletError
    films = []
    raised = dict.fromkeys(("front_left", "front_right", "rear_left", "rear_right"), 1.0)
    belts: list[tuple[EngineName, str]] = [("native", "compliant"), ("pybullet", "segments")]
    for engine, model in belts:
        vehicle = load_vehicle("quince").model_copy(update={"name": model})
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(vehicle, track_model=model, flippers=raised)
            acts = [(6.0, lambda robot=robot: robot.set_belt_speed(left=-0.3, right=0.3))]
            films.append(follow(world, robot, folder / f"{model}.mp4", acts, view="top", parts=2))
    return films


def chain(folder: Path) -> list[Path]:
    """PackBot drives over a half-round on link chains, each shoe a rigid body."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.HalfRound(radius=0.1, distance=0.45))
        robot = world.add_vehicle("packbot", track_model="chain")
        world.settle()
        acts = [(5.0, lambda: robot.set_belt_speed(0.25, 0.25))]
        return [follow(world, robot, folder / "chain.mp4", acts, view="side")]


def ditch(folder: Path) -> list[Path]:
    """A bulldozer with 46 shoes a side goes through a V-ditch, twice as fast as in reality."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.TrapezoidDitch(depth=0.7, top_length=6.0, bottom_length=0.0, distance=2.2))
        robot = world.add_vehicle("bulldozer", track_model="chain")
        world.settle()
        acts = [(11.0, lambda: robot.set_belt_speed(0.8, 0.8))]
        return [follow(world, robot, folder / "ditch.mp4", acts, view="oblique", pace=2.0)]


def field(folder: Path) -> list[Path]:
    """Quince drives over a field of steps."""
    steps = terrain.StepField(max_height=0.16, cell=0.2, rows=14, columns=14, distance=0.6, seed=3)
    with segtrack.World(engine="native") as world:
        world.add_terrain(steps)
        raised = dict.fromkeys(("front_left", "front_right", "rear_left", "rear_right"), 0.6)
        robot = world.add_vehicle("quince", track_model="compliant", flippers=raised)
        acts = [(6.0, lambda: robot.set_belt_speed(0.35, 0.35))]
        return [follow(world, robot, folder / "field.mp4", acts)]


def hills(folder: Path) -> list[Path]:
    """A rover from a URDF with a mesh drives over hills of sand."""
    x, y = np.meshgrid(np.linspace(-4, 6, 201), np.linspace(-3, 3, 121), indexing="ij")
    heights = 0.09 * (1 - np.cos(2 * math.pi * x / 1.6) * np.cos(2 * math.pi * y / 2.4))
    sand = terrain.Heightfield(
        heights=heights * np.clip(x - 0.3, 0, 1), spacing=0.05, soil=terrain.find_soil("LETE sand")
    )
    with segtrack.World(engine="native") as world:
        world.add_terrain(sand)
        robot = world.add_vehicle("example_rover", track_model="compliant")
        acts = [(6.0, lambda: robot.set_belt_speed(0.5, 0.5))]
        return [follow(world, robot, folder / "hills.mp4", acts, view="side")]


SHOTS: dict[str, Shot] = {
    "climb": climb,
    "turn": turn,
    "chain": chain,
    "ditch": ditch,
    "field": field,
    "hills": hills,
}


def develop(films: Sequence[Path], file: Path) -> None:
    """Put films side by side, in their display size, into a WebP."""
    readers = [imageio_ffmpeg.read_frames(str(film)) for film in films]
    sizes = [next(reader)["size"] for reader in readers]
    frames = []
    for pieces in zip(*readers, strict=True):
        images = [
            np.frombuffer(piece, np.uint8).reshape(*size[::-1], 3)
            for piece, size in zip(pieces, sizes, strict=True)
        ]
        frames.append(Image.fromarray(np.hstack(images)).reduce(FINER))
    file.parent.mkdir(parents=True, exist_ok=True)
    duration = round(1000 / FRAME_RATE)
    frames[0].save(
        file, save_all=True, append_images=frames[1:], duration=duration, loop=0, quality=QUALITY, method=4
    )


def still(file: Path) -> NDArray[np.uint8]:
    """Return the middle frame of a film, at half its size."""
    with Image.open(file) as opened:
        film: Any = opened  # Whether a picture has `n_frames` is said by some versions of Pillow alone.
        film.seek(film.n_frames // 2)
        return np.asarray(film.convert("RGB").reduce(2))


def main(
    headless: bool = False,
    only: Annotated[str | None, typer.Option(help="Name of one film.", show_default=False)] = None,
    out: Annotated[Path, typer.Option(help="Folder for the films.")] = Path("out/films"),
    picture: Picture = None,
) -> None:
    """Make the films; without --headless the system shows their folder."""
    if only is not None and only not in SHOTS:
        raise UnknownNameError("film", only, tuple(SHOTS))
    tiles = []
    for name in SHOTS if only is None else (only,):
        if name == "turn" and only is None and not PYBULLET_INSTALLED:
            print("turn: left out, it needs PyBullet")
            continue
        with TemporaryDirectory() as folder:
            develop(SHOTS[name](Path(folder)), file := out / f"{name}.webp")
        print(f"{file}: {file.stat().st_size / 1000:.0f} kB", flush=True)
        tiles.append(still(file))
    if picture is not None:
        columns = min(COLUMNS, len(tiles))
        rows = [np.hstack(tiles[i : i + columns]) for i in range(0, len(tiles) - columns + 1, columns)]
        sheet = Image.fromarray(np.vstack(rows)).quantize(256, kmeans=2, dither=Image.Dither.NONE)
        sheet.save(picture, optimize=True)
    if not headless:
        typer.launch(str(out))


if __name__ == "__main__":
    typer.run(command(main))
