"""What all tests share; Hypothesis without a deadline, for slow machines, the same examples in each run.

Where PyBullet is not installed, what needs it is skipped: what imports it, is marked `pybullet`, or ends in
`MissingPyBulletError`.

`pytest --hypothesis-profile=thorough` looks further.
"""

import contextlib
import functools
import subprocess
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from browser import chromium
from hypothesis import Phase, settings
from typer import testing
from typer.main import get_command

from segtrack.engine import DEFAULT_ENGINE
from segtrack.errors import MissingPyBulletError

if TYPE_CHECKING:
    from playwright import sync_api

    from segtrack.envs import Environment

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.register_profile(
    "brief", deadline=None, derandomize=True, max_examples=10, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("steady")
with contextlib.suppress(ImportError):  # Of an older one, which draws no such numbers.
    from hypothesis.internal.conjecture import providers

    # One draw of twenty is of numbers that stand in the modules which happen to be loaded: examples would be
    # others with other tests before them in the same process, and after any change of such a number.
    providers.is_local_module_file = lambda path: False

command_of = functools.cache(get_command)
testing._get_command = command_of  # Made anew for each call, the command takes most of its time.

COMPILE = """
import importlib.util, sys, segtrack
from segtrack import terrain
for engine, track_model in (name.split() for name in sys.argv[1:]):
    if engine == "native" or importlib.util.find_spec(engine):
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            world.add_vehicle("packbot", track_model=track_model)
            world.step()
            world.settle(max_time=0.01)
"""
COMPILED = (
    ("native compliant", "pybullet compliant", "pybullet chain"),
    ("native chain", "mujoco compliant"),
)
"""Engines and track models that have kernels of their own, for two processes that take about as long.

What both compile of chains, one of them does: by the time that the first comes to it, the second has kept it.
"""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile all kernels, side by side, before workers would each do so for themselves."""
    compilers = [subprocess.Popen([sys.executable, "-c", COMPILE, *names]) for names in COMPILED]
    assert [compiler.wait() for compiler in compilers] == [0] * len(COMPILED)


class _MissingPyBullet:
    """Finder that skips the module of tests which imports PyBullet at its top."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name in ("pybullet", "pybullet_utils"):
            pytest.skip("needs PyBullet", allow_module_level=True)


if DEFAULT_ENGINE != "pybullet":  # As found out before this finder is asked, too.
    sys.meta_path.insert(0, _MissingPyBullet)  # type: ignore[arg-type]


def is_for_want_of_pybullet(error: BaseException) -> bool:
    """Tell whether PyBullet is missing by the error that says so, raised here or at the end of a process.

    A text that only mentions PyBullet is a failure like any other.
    """
    if isinstance(error, subprocess.CalledProcessError):
        lines = str(error.stderr or "").strip().splitlines()[-1:]
        endings = ("segtrack: ", f"{MissingPyBulletError.__module__}.MissingPyBulletError: ")
        return any(line == f"{ending}{MissingPyBulletError()}" for line in lines for ending in endings)
    return type(error) is MissingPyBulletError


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that are marked to need PyBullet where it is not installed.

    Those of all bundled vehicles are slow for the M113 the other way round.
    """
    for item in items:
        if "m113_rear_drive" in item.name:
            item.add_marker(pytest.mark.slow)
    if DEFAULT_ENGINE != "pybullet":
        for item in items:
            if item.get_closest_marker("pybullet"):
                item.add_marker(pytest.mark.skip(reason="needs PyBullet"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Generator[None, pytest.TestReport]:
    """Skip a test that fails because PyBullet is not installed, and for no other reason."""
    report = yield
    if report.failed and DEFAULT_ENGINE != "pybullet" and call.excinfo is not None:
        if is_for_want_of_pybullet(call.excinfo.value):
            report.outcome, report.longrepr = "skipped", (__file__, 0, "Skipped: needs PyBullet")
    return report


@pytest.fixture(scope="module")
def climb() -> "Iterator[Environment]":
    """A StepClimb that tests reset for themselves."""
    from scenes import environment  # Not with xdist's controller, for whose seconds compilers wait.

    with environment() as env:
        yield env


@pytest.fixture(scope="module")
def climb_in_pybullet() -> "Iterator[Environment]":
    """A StepClimb in PyBullet that tests reset for themselves."""
    from scenes import environment

    with environment(engine="pybullet") as env:
        yield env


@pytest.fixture(scope="module", params=["Python", pytest.param("compiled", marks=pytest.mark.slow)])
def kernels_run_as(request: pytest.FixtureRequest) -> Iterator[None]:
    """As plain Python, which takes seconds; compiled one by one, which takes half a minute."""
    from segtrack.kernels.compiling import InnerKernel

    with pytest.MonkeyPatch.context() as patch:
        if request.param == "Python":
            patch.setattr(
                InnerKernel, "__call__", lambda kernel, *given, **named: kernel.py_func(*given, **named)
            )
        yield


@pytest.fixture(scope="module")
def running_browser() -> "Iterator[sync_api.Browser]":
    """Chromium, for the tests of a module."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running_browser: "sync_api.Browser") -> "Iterator[sync_api.Browser]":
    """The same, in which a test leaves no page: no driver of before, no picture to draw beside the next."""
    before = running_browser.contexts
    yield running_browser
    for context in running_browser.contexts:
        if context not in before:
            context.close()
