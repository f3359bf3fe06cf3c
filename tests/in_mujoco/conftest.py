"""The control callback is MuJoCo's own, and one for all: no test leaves it behind."""

import pytest


@pytest.fixture(autouse=True)
def callback_of_nobody():
    """No control callback before and after a test."""
    mujoco = pytest.importorskip("mujoco", reason="of the extra mujoco")
    yield
    mujoco.set_mjcb_control(None)
    from segtrack.mujoco import callbacks

    callbacks.CALLBACK.clear()
