"""Open-loop search: which heights a robot can climb at all, by commands alone that see nothing.

A plan is a row of actions, each held for an equal part of the episode. Covariance matrix adaptation (Hansen
2016; package `cmaes`) improves plans from the nominal start; what a plan achieves, a policy that sees can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.codes import OUTCOMES
from segtrack.envs.task import Outcome
from segtrack.errors import MissingPackageError

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

SLOTS = 14
"""Actions of a plan."""
_SPREAD = 0.6
"""Standard deviation of the first generation's entries [-]."""
_SUCCESS = 1000.0
"""Worth of a success, above that of any return [-]."""


@dataclass(frozen=True, eq=False)
class ActionPlan:
    """Best plan of a search.

    Attributes:
        actions: Actions (SLOTS, n), in [-1, 1].
        outcome: Outcome of its episode.
        duration: Duration of the episode [s].
        repeated: True if it succeeded in the second environment, too.
        generations: Number of generations up to the one that it is of.
    """

    actions: NDArray[np.float32]
    outcome: Outcome
    duration: float
    repeated: bool
    generations: int

    @property
    def succeeds(self) -> bool:
        """True if the robot reached the goal."""
        return self.outcome == "success"


def run_plans(
    env: VectorEnvironment, plans: NDArray[np.float32]
) -> tuple[list[Outcome], NDArray[np.float64], NDArray[np.float64]]:
    """Run a plan on each robot.

    Args:
        env: Environment of as many robots, all with the same start.
        plans: Actions (num_envs, slots, n).

    Returns:
        Outcome, duration [s] and return of each robot's first episode.
    """
    count, slots, _ = plans.shape
    env.reset(seed=0)
    outcomes: list[Outcome] = ["running"] * count
    steps, totals = np.zeros(count, dtype=int), np.zeros(count)
    running = np.ones(count, np.bool_)
    most = env.max_episode_steps
    for step in range(most):
        slot = min(step * slots // most, slots - 1)
        _, rewards, terminated, truncated, info = env.step(plans[:, slot])
        totals[running] += rewards[running]
        steps[running] += 1
        for i in np.flatnonzero(running & (terminated | truncated)).tolist():
            outcomes[i], running[i] = OUTCOMES[info["outcome"][i]], False
        if not running.any():
            break
    return outcomes, steps * env.control_period, totals


def search_plan(
    env: VectorEnvironment,
    repetition: VectorEnvironment,
    generations: int,
    seed: int,
    on_generation: Callable[[], object] = lambda: None,
) -> ActionPlan:
    """Search for a plan that succeeds in both environments, and end with the generation that has one.

    Args:
        env: Environment of as many robots as a generation has plans, all with the same start, in the
            autoreset mode `NextStep`.
        repetition: Environment in which the fastest successes of each generation are repeated, as many as it
            has robots: with a finer time step, for example.
        generations: Largest number of generations.
        seed: Seed of the search.
        on_generation: Called after each generation.

    Returns:
        The fastest success that was repeated; else the fastest success, or the plan with the highest return.

    Raises:
        MissingPackageError: cmaes is not installed.
    """
    try:
        from cmaes import CMA
    except ImportError:
        raise MissingPackageError("a search for plans", "cmaes", "logs") from None
    entries = len(env.actuators.names)
    forward = np.tile(np.where(np.arange(entries) < 2, 1.0, 0.0), SLOTS)  # Belts ahead, flippers at rest.
    bounds = np.tile([-1.0, 1.0], (len(forward), 1))
    optimizer = CMA(forward, _SPREAD, bounds, seed=seed, population_size=env.num_envs)
    best, worth = ActionPlan(forward.reshape(SLOTS, entries), "running", 0.0, False, 0), -np.inf
    for generation in range(1, generations + 1):
        flat = [optimizer.ask() for _ in range(env.num_envs)]
        plans = np.array(flat, np.float32).reshape(env.num_envs, SLOTS, entries)
        outcomes, durations, totals = run_plans(env, plans)
        worths = [
            _SUCCESS - duration if outcome == "success" else total
            for outcome, duration, total in zip(outcomes, durations.tolist(), totals.tolist(), strict=True)
        ]
        optimizer.tell([(one, -own) for one, own in zip(flat, worths, strict=True)])
        order = np.argsort(worths)[::-1]
        fastest = [int(i) for i in order[: repetition.num_envs] if outcomes[i] == "success"]
        repeated = _repeated(repetition, plans, fastest)
        top = repeated[0] if repeated else int(order[0])
        if repeated or worths[top] > worth:
            found = ActionPlan(plans[top], outcomes[top], float(durations[top]), bool(repeated), generation)
            best, worth = found, worths[top]
        on_generation()
        if repeated:
            break
    return best


def _repeated(env: VectorEnvironment, plans: NDArray[np.float32], chosen: list[int]) -> list[int]:
    """Return those of the chosen plans that succeed in an environment."""
    if not chosen:
        return []
    filled = [chosen[k % len(chosen)] for k in range(env.num_envs)]  # Each robot needs a plan.
    outcomes, *_ = run_plans(env, plans[filled])
    return [i for i, outcome in zip(chosen, outcomes, strict=False) if outcome == "success"]
