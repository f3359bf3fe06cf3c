"""Pictures and films of robots, drawn from their poses: one way for all engines, without a window or a GPU.

    with Film("climb.mp4", robot, world.terrains, view="side") as film:
        world.run(10.0, on_step=lambda: film.take(world.time))

`look` says what a vehicle looks like and where it is, as data; `vehicle` reads both from a robot; `mesh`
gives terrain as triangles, `raster` draws them, `shading` colours them, `camera` looks at them and `film`
writes them to a file.
"""

from segtrack.rendering.camera import SIZE, Camera, FreeBody, PosedVehicle, View, free_body
from segtrack.rendering.film import FRAME_RATE, Film, film_writer
from segtrack.rendering.look import VehicleLook, VehiclePose, VisiblePart, part_points
from segtrack.rendering.vehicle import look_of, read_pose

__all__ = [
    "FRAME_RATE",
    "SIZE",
    "Camera",
    "Film",
    "FreeBody",
    "PosedVehicle",
    "VehicleLook",
    "VehiclePose",
    "View",
    "VisiblePart",
    "film_writer",
    "free_body",
    "look_of",
    "part_points",
    "read_pose",
]
