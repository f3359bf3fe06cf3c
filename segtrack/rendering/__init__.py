"""Pictures and films of robots from their poses, in any engine, without a window or a GPU.

    with Film("climb.mp4", robot, world.terrains, view="side") as film:
        world.run(10.0, on_step=lambda: film.take(world.time))

`look` has the look and the pose of a vehicle, as data; `vehicle` reads both from a robot; `mesh`
gives terrain as triangles, `raster` draws them, `shading` colours them, `camera` looks at them and `film`
writes them to a file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
