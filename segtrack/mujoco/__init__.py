"""Compliant and surface belts inside MuJoCo, which needs the extra `mujoco`.

`add` puts a vehicle into a user's MjSpec, `attach` puts tracks on the links of a compiled model, and
`World(engine="mujoco")` runs by `MujocoEngine`. A step, in order, each stage with its file:

1. MuJoCo's `mj_step1`, and the user's control callback (`callbacks`);
2. belts have what MuJoCo's last step gave them; root and joints are taken over (`host.finish`);
3. contacts of belts, equations with MuJoCo's mass matrix, belts eliminated from them (`host.prepare`);
   with bodies that move, too, whose contacts get rows of MuJoCo's solver (`touching`, `moving_bodies`);
4. MuJoCo's `mj_step2`: its own contacts, limits, actuators and bodies, with the belts in its equations.

Raises:
    MissingPackageError: MuJoCo is not installed, or too old.
"""

import lazy_loader

from segtrack.errors import MissingPackageError

_OLDEST = 3, 12
"""Before it MuJoCo copies its mass matrix for islands before a callback can change it."""

try:
    import mujoco
except ModuleNotFoundError as error:
    if error.name != "mujoco":
        raise
    raise MissingPackageError("engine mujoco", "MuJoCo", "mujoco") from None

if tuple(map(int, mujoco.__version__.split(".")[:2])) < _OLDEST:
    _needed = f"MuJoCo {'.'.join(map(str, _OLDEST))} in place of {mujoco.__version__}"
    raise MissingPackageError("engine mujoco", _needed, "mujoco")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
