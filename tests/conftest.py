"""What all tests share; Hypothesis without a deadline, for slow machines, the same examples in each run.

Where PyBullet is not installed, what needs it is skipped.

`pytest --hypothesis-profile=thorough` looks further.
"""

import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings
from scenes import environment

from segtrack.envs import Environment
from segtrack.world.engines import DEFAULT_ENGINE

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")


class _MissingPyBullet:
    """Skips the test that imports PyBullet, or the module of tests that does so at its top."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name in ("pybullet", "pybullet_utils"):
            pytest.skip("needs PyBullet", allow_module_level=True)


if DEFAULT_ENGINE != "pybullet":  # As found out before this finder is asked, too.
    sys.meta_path.insert(0, _MissingPyBullet)  # type: ignore[arg-type]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Generator[None, pytest.TestReport]:
    """Skip a test that fails because a process of its own lacks PyBullet."""
    report = yield
    signs = "PyBullet is not installed", "No module named 'pybullet"
    if report.failed and DEFAULT_ENGINE != "pybullet" and any(sign in report.longreprtext for sign in signs):
        report.outcome, report.longrepr = "skipped", (__file__, 0, "Skipped: a process of it needs PyBullet")
    return report


@pytest.fixture(scope="module")
def climb() -> Iterator[Environment]:
    """A StepClimb that tests reset for themselves."""
    with environment() as env:
        yield env
