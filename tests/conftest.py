"""What all tests share; Hypothesis without a deadline, for slow machines, the same examples in each run.

`pytest --hypothesis-profile=thorough` looks further.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings
from scenes import environment

from segtrack.envs import Environment

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")


@pytest.fixture(scope="module")
def climb() -> Iterator[Environment]:
    """A StepClimb that tests reset for themselves."""
    with environment() as env:
        yield env
