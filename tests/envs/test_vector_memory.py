"""Episodes of robots in a vector environment that had other ones before."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from segtrack.envs import EpisodeCourse, Number, Task, VectorEnvironment
from segtrack.envs.task import Path
from segtrack.terrain import Plane


class Bends(Task):
    """Level ground, and a path of so many pieces to the left and to the right."""

    name = "Bends"
    parameters = {"pieces": Number(1, 1, 6, "-", "pieces of the path", whole=True)}
    difficulty, levels, corridor = "pieces", (1, 6), 5.0

    def course(self, values, reach, rng):
        count = int(values["pieces"])
        bends = [(0.3 * k, 0.2 * (-1) ** k if 0 < k < count else 0.0) for k in range(count + 1)]
        return EpisodeCourse(Plane(), Path(np.array(bends)))


def bends():
    return VectorEnvironment(
        Bends(), 2, vehicle="packbot", preset="fast", autoreset_mode="Disabled", action_delay=2, threads=1
    )


def begin(env, pieces, seeds):
    return env.reset(seed=seeds, options={"pieces": pieces, "reset_mask": np.ones(2, dtype=bool)})[0]


@pytest.mark.parametrize("before, after", [(6, 1), (1, 6)])
def test_an_episode_knows_nothing_of_the_one_before(before, after):
    used, fresh = bends(), bends()
    begin(used, before, [1, 2])
    for _ in range(12):  # More than the longest delay of an action.
        used.step(np.ones((2, 2), np.float32))
    seen = [begin(env, after, [3, 4]) for env in (used, fresh)]
    for _ in range(4):
        assert_array_equal(*seen)
        seen = [env.step(np.zeros((2, 2), np.float32))[0] for env in (used, fresh)]
    used.close()
    fresh.close()
