"""Setup of an evaluation: policies, track models, conditions, levels and seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName, resolve
from segtrack.envs.learning.policies import CONSTANT, constant_name
from segtrack.envs.objects import load_options
from segtrack.envs.parameters import (
    ROBOT_PARAMETERS,
    Number,
    Parameter,
    check_values,
    refuse_functions,
    robot_parameters,
    spread,
)
from segtrack.envs.setup import make_graded_task
from segtrack.envs.task import Task
from segtrack.errors import InvalidValueError, UnknownNameError

NOMINAL = "nominal"
CONDITIONS: Mapping[str, Mapping[str, float]] = {
    NOMINAL: {},
    "friction -0.15": {"friction": -0.15},
    "friction +0.15": {"friction": 0.15},
    "mass -20 %": {"mass": -0.2},
    "mass +20 %": {"mass": 0.2},
    "one step late": {"action_delay": 1},
    "noise 0.02": {"sensor_noise": 0.02},
}
"""What each adds to parameters of the robot: to the value, or to both ends of the range."""


class EvaluationCase(NamedTuple):
    """Policy, engine, track model, condition and level of episodes.

    Attributes:
        policy: Name of the policy, as given.
        engine: Name of the engine.
        track_model: Name of the track model.
        condition: Name of the condition.
        level: Level of the task's difficulty.
    """

    policy: str
    engine: EngineName
    track_model: str
    condition: str
    level: float


@dataclass(frozen=True)
class EvaluationSetup:
    """Policies to evaluate, the task, and the number of episodes.

    Attributes:
        task: Name of a task, `course:` and a course, or `module:name` of a task of one's own.
        policies: Names as `make_policy` takes them; and `constant`, the best constant action at each level.
        episodes: Number of episodes in each case; all policies get the same seeds.
        levels: Difficulty levels in all conditions; by default the task's own under nominal
            conditions, and the first of them under others.
        seed: Seed of the first episode.
        vehicle: Bundled name, or path of a vehicle file.
        engine: Name of the engine; by default native if it runs the track model.
        track_models: Names of track models, the reference first; by default the engine's
            own.
        conditions: Names of conditions, the reference first.
        preset: Name of the engine's preset; by default the environments' own.
        options: YAML file or `module:function` with options of the environments, see `load_options`.
        parameters: Parameter values or ranges, in place of the spread ones.
        constants: Action that the policy `constant` takes at each level, see `find_constants`.
    """

    task: str
    policies: tuple[str, ...] = ("scripted",)
    episodes: int = 20
    levels: tuple[float, ...] | None = None
    seed: int = 0
    vehicle: str = "quince"
    engine: EngineName | None = None
    track_models: tuple[str, ...] = ()
    conditions: tuple[str, ...] = (NOMINAL,)
    preset: str | None = None
    options: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[float, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the setup can be evaluated."""
        task = self.graded_task
        if self.episodes < 1:
            raise InvalidValueError("episodes", "at least 1", self.episodes)
        named = {"policies": self.policies, "conditions": self.conditions, "levels": self.levels_of(NOMINAL)}
        for name, values in {**named, "track models": self.track_models or ("",)}.items():
            if not values or len(set(values)) < len(values):
                raise InvalidValueError(name, "some, each of them once", values)
        for condition in self.conditions:
            if condition not in CONDITIONS:
                raise UnknownNameError("condition", condition, CONDITIONS)
        if task.difficulty in self.parameters:
            what = f"parameter {task.difficulty}"
            raise InvalidValueError(what, "given as levels", self.parameters[task.difficulty])
        refuse_functions(check_values({**task.parameters, **ROBOT_PARAMETERS}, self.parameters, self.task))

    @property
    def models(self) -> tuple[tuple[EngineName, str], ...]:
        """Engine and track model for each of the track models."""
        return tuple(resolve(self.engine, name, "native") for name in self.track_models or (None,))

    def levels_of(self, condition: str) -> tuple[float, ...]:
        """Difficulty levels under a condition."""
        if self.levels is not None:
            return self.levels
        levels = self.graded_task.levels
        return levels if condition == NOMINAL else levels[:1]

    def cases(self, engine: EngineName, track_model: str) -> tuple[EvaluationCase, ...]:
        """Cases of one engine and track model, policy by policy."""
        return tuple(
            EvaluationCase(policy, engine, track_model, condition, level)
            for policy in self.policies
            for condition in self.conditions
            for level in self.levels_of(condition)
        )

    @cached_property
    def graded_task(self) -> Task:
        """Task of the episodes."""
        return make_graded_task(self.task)

    @property
    def environment_options(self) -> dict[str, Any]:
        """Options of the environments."""
        return {} if self.options is None else load_options(self.options)

    @cached_property
    def description(self) -> VehicleDescription:
        """Description of the vehicle."""
        return load_vehicle(self.vehicle)

    @property
    def spread(self) -> dict[str, Any]:
        """Parameter values and ranges under nominal conditions."""
        return spread(self.description, self.parameters, self.graded_task.spread)

    def values_of(self, case: EvaluationCase) -> dict[str, Any]:
        """Parameter values and ranges of a case, to be merged into `spread`."""
        known = robot_parameters(self.description)
        return {
            **changed_values(case.condition, self.spread, known),
            self.graded_task.difficulty: case.level,
        }

    def played(self, case: EvaluationCase) -> str:
        """Name of the policy that acts in a case: its own, or the constant action of its level."""
        if case.policy == CONSTANT and case.level in self.constants:
            return constant_name(self.constants[case.level])
        return case.policy

    @property
    def benchmark(self) -> str | None:
        """Name of the published benchmark that the setup is a run of; None if anything else is set."""
        if self.conditions != tuple(CONDITIONS):
            return None
        standard = benchmark_setup(self.task, self.policies, self.track_models, self.engine)
        is_standard = replace(self, constants={}) == standard
        return f"segtrack {self.task} {BENCHMARK_VERSION}" if is_standard else None

    @property
    def episode_count(self) -> int:
        """Total number of episodes."""
        return self.episodes * sum(len(self.cases(*model)) for model in self.models)


BASELINES = CONSTANT, "steered"
"""Policies that stand in every benchmark: a level that one of them passes asks for none."""
BENCHMARK_VERSION = 3
"""Raised when results of one and the same policy are no longer to be compared with earlier ones."""


def benchmark_setup(
    task: str,
    policies: tuple[str, ...],
    track_models: tuple[str, ...] = (),
    engine: EngineName | None = None,
) -> EvaluationSetup:
    """Return the setup of the published benchmark: 200 episodes a case, all conditions, and both baselines.

    Raises:
        SegtrackError: As `EvaluationSetup`.
    """
    compared = (*policies, *(name for name in BASELINES if name not in policies))
    return EvaluationSetup(
        task, compared, 200, engine=engine, track_models=track_models, conditions=tuple(CONDITIONS)
    )


def changed_values(
    condition: str, given: Mapping[str, Any], parameters: Mapping[str, Parameter]
) -> dict[str, Any]:
    """Return the parameter values or ranges that a condition changes.

    Args:
        condition: Name of the condition.
        given: Values or ranges that the user gave, in place of defaults.
        parameters: All parameters.

    Raises:
        InvalidValueError: The condition leads out of the range of a parameter. It is not cut to it: that
            would be another condition than its name says.
    """
    changed: dict[str, Any] = {}
    for name, change in CONDITIONS[condition].items():
        parameter = parameters[name]
        assert isinstance(parameter, Number)
        value = given.get(name, parameter.default)
        added = tuple(v + change for v in value) if isinstance(value, tuple) else value + change
        changed[name] = parameter.check(f"{name} under condition {condition!r}", added)
    return changed
