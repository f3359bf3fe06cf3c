"""What all tests share; Hypothesis without a deadline, for slow machines, the same examples in each run.

`pytest --hypothesis-profile=thorough` looks further.
"""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings
from scenes import environment

from segtrack.envs import Environment

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.register_profile("brief", deadline=None, derandomize=True, max_examples=10)
settings.load_profile("steady")

COMPILE = """
import importlib.util, sys, segtrack
from segtrack import terrain
for engine, track_model in (name.split() for name in sys.argv[1:]):
    if importlib.util.find_spec("pybullet") or engine != "pybullet":
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            world.add_vehicle("quince", track_model=track_model)
            world.step()
            world.settle(max_time=0.01)
"""
COMPILED = (("native compliant", "pybullet compliant"), ("pybullet chain",))
"""Engines and track models that have kernels of their own; those that share kernels one after the other."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile all kernels, side by side, before workers would each do so for themselves."""
    compilers = [subprocess.Popen([sys.executable, "-c", COMPILE, *names]) for names in COMPILED]
    assert [compiler.wait() for compiler in compilers] == [0] * len(COMPILED)


@pytest.fixture(scope="module")
def climb() -> Iterator[Environment]:
    """A StepClimb that tests reset for themselves."""
    with environment() as env:
        yield env
