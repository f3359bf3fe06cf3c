"""Models of MuJoCo with a vehicle in them, as users would make them."""

import pytest

mujoco = pytest.importorskip("mujoco", reason="of the extra mujoco")

from segtrack import mujoco as tracks  # noqa: E402
from segtrack.mujoco import add, detach  # noqa: E402

KIND = mujoco.mjtGeom
_ATTACHED = []


def attach(model, data, vehicle, **given):
    """Tracks on a model, which `detach_all` takes off again."""
    _ATTACHED.append(tracks.attach(model, data, vehicle, **given))
    return _ATTACHED[-1]


def detach_all():
    """Take all tracks off: the control callback is one for the whole program."""
    while _ATTACHED:
        detach(_ATTACHED.pop())


def spec_with_floor(step=0.004):
    """An MjSpec with a plane at z = 0."""
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.worldbody.add_geom(name="floor", type=KIND.mjGEOM_PLANE, size=[50, 50, 0.1])
    return spec


def vehicle_in(spec, vehicle="packbot", height=0.12, **given):
    """A vehicle in a spec, compiled: model, data."""
    add(spec, vehicle, position=(0.0, 0.0, height), **given)
    model = spec.compile()
    return model, mujoco.MjData(model)


def take(model, data, seconds):
    """Steps of MuJoCo's own loop."""
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


__all__ = ["KIND", "add", "attach", "detach", "detach_all", "mujoco", "spec_with_floor", "take", "vehicle_in"]
