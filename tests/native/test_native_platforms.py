"""Equality to the bit on processors of one family, whatever code libraries have for each of them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import hashlib, sys
import segtrack
from segtrack import terrain

for track_model, duration in (("compliant", 1.0), ("surface", 1.0), ("chain", 0.2)):
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        world.add_terrain(terrain.Step(distance=0.5, height=0.1))
        robot = world.add_vehicle("quince", track_model=track_model, position=(0.0, 0.03), yaw=0.1)
        robot.set_flippers(**dict.fromkeys(robot.description.flippers, 0.4))
        robot.drive(0.3, 0.2)
        world.settle(max_time=0.1)
        world.advance(round(duration / world.time_step))
        state = robot.model.state
    print(track_model, hashlib.sha256(b"".join(array.tobytes() for array in state)).hexdigest())
"""


def said(**setting: str) -> str:
    """States of three drives in a process with environment variables of its own."""
    environment = {**os.environ, **setting}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.fixture(scope="module")
def here() -> str:
    """What this processor says."""
    return said()


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names processors of another family")
@pytest.mark.parametrize(
    "setting",
    [
        {"NUMBA_CPU_NAME": "generic"},
        {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"},
        {"OPENBLAS_CORETYPE": "Prescott"},
        {
            "NPY_DISABLE_CPU_FEATURES": " ".join(
                (np._core if hasattr(np, "_core") else np.core)._multiarray_umath.__cpu_dispatch__
            )
        },
    ],
    ids=["kernels", "mathematical library", "matrix products", "NumPy"],
)
def test_states_are_equal_to_the_bit_with_code_for_another_processor(
    here: str, setting: dict[str, str]
) -> None:
    assert len(here.splitlines()) == 3
    assert said(**setting) == here
