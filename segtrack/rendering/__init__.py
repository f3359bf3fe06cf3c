"""Pictures and films of robots, drawn from their poses: one way for all engines, without a window or a GPU.

    with Film("climb.mp4", robot, world.terrains, view="side") as film:
        world.run(10.0, on_step=lambda: film.take(world.time))

`vehicle` and `ground` say what there is to see as triangles, `raster` draws them, `camera` looks at them
and `film` writes them to a file.
"""

from segtrack.rendering.camera import SIZE, Camera, View, free_body
from segtrack.rendering.film import FRAME_RATE, Film
from segtrack.rendering.vehicle import Part

__all__ = ["FRAME_RATE", "SIZE", "Camera", "Film", "Part", "View", "free_body"]
