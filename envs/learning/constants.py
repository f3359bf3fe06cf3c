"""Best constant actions: the baseline that tells which levels of a task need no policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product

from segtrack.envs.actuators import Actuators
from segtrack.envs.environment import Environment
from segtrack.envs.learning.evaluation import evaluate, is_batched
from segtrack.envs.learning.evaluation_setup import NOMINAL, EvaluationSetup
from segtrack.envs.learning.policies import CONSTANT, constant_name
from segtrack.envs.learning.results import LevelResult
from segtrack.envs.learning.rollouts import make_environment
from segtrack.errors import InvalidValueError, Phrase

BELTS = (0.5, 1.0)
"""Entries of both belts that are tried [-]."""
FLIPPERS = (-1.0, -0.3, 0.0, 0.3, 1.0)
"""Entries of the front flippers, and of the rear ones, that are tried [-]."""
TRIALS = 10
"""Episodes of each action at each level."""


def constant_actions(env: Environment) -> list[tuple[float, ...]]:
    """Return the constant actions that are tried: both belts alike, flippers of an end alike.

    Raises:
        InvalidValueError: The environment's actions are others than belts and flippers.
    """
    if type(env.actuators) is not Actuators:
        raise InvalidValueError(f"actions for the policy {CONSTANT}", "belts and flippers", env.actuators)
    parts, names = env.vehicle.flippers, env.actuators.names[2:]
    end_of = {name: parts[name].tip_direction if name in parts else name for name in names}
    ends = tuple(dict.fromkeys(end_of.values()))
    return [
        (belts, belts, *(dict(zip(ends, speeds, strict=True))[end_of[name]] for name in names))
        for belts, speeds in product(BELTS, product(FLIPPERS, repeat=len(ends)))
    ]


def trials_of(setup: EvaluationSetup) -> EvaluationSetup:
    """Return the trials of constant actions for a setup: on seeds after its own, under nominal conditions.

    They are of the first track model that many robots run in one batch.

    Raises:
        InvalidValueError: There is none, or the actions are others than belts and flippers.
    """
    batched = [model for model in setup.models if is_batched(setup, *model)]
    if not batched:
        expected = f"one that runs in a batch, or a policy {CONSTANT}:ACTION in place of {CONSTANT}"
        raise InvalidValueError("track models", expected, Phrase(", ".join(name for _, name in setup.models)))
    engine, track_model = batched[0]
    with closing(make_environment(setup, setup.cases(engine, track_model)[0])) as env:
        actions = constant_actions(env)
    return replace(
        setup,
        policies=tuple(map(constant_name, actions)),
        episodes=TRIALS,
        levels=setup.levels_of(NOMINAL),
        seed=setup.seed + setup.episodes,
        engine=engine,
        track_models=(track_model,),
        conditions=(NOMINAL,),
    )


def find_constants(
    setup: EvaluationSetup,
    trials: EvaluationSetup,
    *,
    on_done: Callable[[int], object] | None = None,
) -> EvaluationSetup:
    """Find the action that the policy `constant` takes at each level: that which succeeds most often.

    Of those that succeed equally often it is the one that takes least time.

    Args:
        setup: Setup of an evaluation.
        trials: Its trials, see `trials_of`.
        on_done: Function called with the number of episodes so far.

    Returns:
        The setup, with the actions.
    """
    result = evaluate(trials, on_done=on_done)
    best = {level: max(result.of(level=level), key=_worth) for level in trials.levels_of(NOMINAL)}
    return replace(setup, constants={level: _action(at.case.policy) for level, at in best.items()})


def _worth(at: LevelResult) -> tuple[int, float]:
    done: Sequence[float] = [each.duration for each in at.episodes if each.outcome == "success"]
    return at.successes, -sum(done)


def _action(name: str) -> tuple[float, ...]:
    return tuple(map(float, name.partition(":")[2].split(",")))
