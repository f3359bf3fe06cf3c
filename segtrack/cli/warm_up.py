"""`segtrack warm-up`: compile all kernels ahead of use, for images and CI."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from segtrack.cli.output import JsonFlag, command, show


@dataclass(frozen=True)
class CompiledKernels:
    """Kernels compiled for one engine and track model.

    Attributes:
        engine: Name of the engine, or `pictures` for the rendering kernels.
        track_model: Name of the track model; empty for pictures.
        compiled: Number of kernels compiled now.
        seconds: Compilation time [s].
        folder: Cache folder of the kernels; None if they are not cached.
    """

    engine: str
    track_model: str
    compiled: int
    seconds: float
    folder: str | None


@command
def warm_up(as_json: JsonFlag = False) -> None:
    """Compile all kernels, so that later runs begin at once; a second call finds them compiled."""
    results = list(compile_kernels())
    table = Table("engine", "track model", "compiled", "time [s]")
    for one in results:
        table.add_row(one.engine, one.track_model, str(one.compiled), f"{one.seconds:.1f}")
    table.caption = (
        f"kept in {results[0].folder}" if results[0].folder else "not kept: nothing can be written"
    )
    seconds = sum(one.seconds for one in results)
    show(table, {"kernels": [asdict(one) for one in results], "seconds": seconds}, as_json)


def compile_kernels() -> Iterator[CompiledKernels]:
    """Compile the kernels of each engine and track model, and of rendering."""
    from segtrack.engine import TRACK_MODELS, installed_engines
    from segtrack.kernels import count_compiled, writable_folder

    # Of models that have a builder in common, which share kernels, the first.
    models: dict[tuple[str, str], str] = {}
    for runner in dict.fromkeys(("native", *installed_engines())):
        for name, entry in TRACK_MODELS.items():
            if entry.contacts != "links" and runner in entry.builders:
                models.setdefault((runner, entry.builders[runner]), name)
    work: list[tuple[str, str, Callable[[], None]]] = [
        (engine, model, lambda engine=engine, model=model: _simulate(engine, model))  # type: ignore[misc]
        for (engine, _), model in models.items()
    ]
    for engine, model, run in [*work, ("pictures", "", _draw)]:
        start = time.perf_counter()
        with count_compiled() as compiled:
            run()
        seconds = time.perf_counter() - start
        folder = writable_folder()
        yield CompiledKernels(engine, model, compiled(), seconds, None if folder is None else str(folder))


def _simulate(engine: Any, track_model: Any) -> None:
    """Run a short simulation that calls every kernel of an engine and track model."""
    import segtrack
    from segtrack.engine import find_track_model

    shoes = find_track_model(track_model).contacts == "shoes"
    with segtrack.World(engine=engine) as world:
        world.add_terrain(segtrack.terrain.Plane())
        world.add_terrain(segtrack.terrain.Step(height=0.1, distance=5.0))  # Solids that meet have seams.
        robot = world.add_vehicle("packbot", track_model=track_model)
        world.settle(max_time=0.01)
        for track in robot.tracks.values():
            track.read_chain() if shoes else track.read_grousers()


def _draw() -> None:
    """Take a picture without a display, to compile the rendering kernels."""
    import segtrack
    from segtrack.rendering import Camera

    with segtrack.World(engine="native") as world:
        world.add_terrain(segtrack.terrain.Plane())
        Camera(world.add_vehicle("packbot", track_model="compliant"), world.terrains).take()
