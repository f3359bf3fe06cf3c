"""Study files: vehicle, event, parameters, search and design, with consistency checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from segtrack.description import (
    Angle,
    Beside,
    Checks,
    Count,
    Name,
    NonNegative,
    Number,
    Positive,
    Spec,
    UnknownPartError,
    Vector,
    check,
    check_content,
    known,
    parse_yaml,
    read_text,
)
from segtrack.engine import EngineName
from segtrack.errors import (
    FileAccessError,
    InvalidValueError,
    Problem,
    SegtrackError,
    StudyFileError,
    UnknownNameError,
    suggest,
)
from segtrack.experiments.event_obstacles import (
    GapObstacle,
    HalfRoundObstacle,
    RideCourse,
    RideObstacle,
    StepObstacle,
    TrapezoidObstacle,
)
from segtrack.experiments.event_search import Criterion, Raised, UpwardSearch, limit_of
from segtrack.experiments.event_setup import Assumptions, EventObstacle, EventSetup
from segtrack.experiments.study_paths import Steps, VehicleSource, find_places

Kind = Literal["step", "gap", "half-round", "trapezoid", "ride"]
_KINDS: Mapping[str, tuple[type, tuple[str, ...]]] = {
    "step": (StepObstacle, ("height",)),
    "gap": (GapObstacle, ("length",)),
    "half-round": (HalfRoundObstacle, ("height",)),
    "trapezoid": (TrapezoidObstacle, ("number",)),
    "ride": (RideCourse, ("rms",)),
}
"""What each kind of obstacle is made by, and what it needs."""
_SHARED = ("kind", "speed", "friction", "flippers", "rear_flippers", "driver_position")


class EventSpec(Spec):
    """Event of a study: kind of obstacle with its numbers, and driving."""

    kind: Kind
    """Kind of obstacle."""
    height: Positive | None = None
    """Height of a step, half-round or trapezoid [m]."""
    length: Positive | None = None
    """Length of a gap or a ride course [m]."""
    depth: Positive | None = None
    """Depth of a gap [m]."""
    number: Annotated[int, Field(strict=True, ge=1, le=12)] | None = None
    """Number of a trapezoid."""
    ditch: Annotated[bool, Field(strict=True)] | None = None
    """A trapezoid ditch instead of a barrier."""
    rms: Positive | None = None
    """Roughness of a ride course [m]."""
    gauge: Positive | None = None
    """Distance between the profiles of a ride course [m]."""
    seed: Annotated[int, Field(strict=True, ge=0)] | None = None
    """Seed of a ride course."""
    correlation: NonNegative | None = None
    """Correlation of the profiles of a ride course [-]."""
    longest: Positive | None = None
    """Longest wave of a ride course [m]."""
    shortest: Positive | None = None
    """Shortest wave of a ride course [m]."""
    speed: Positive | None = None
    """Belt speed [m/s]; the event's if not given."""
    friction: NonNegative | None = None
    """Friction on every track instead of the vehicle's."""
    flippers: Angle | None = None
    """Angle of the front flippers [rad]."""
    rear_flippers: Angle | None = None
    """Angle of the rear flippers [rad]."""
    driver_position: Vector | None = None
    """Driver's place in the body frame [m]; the vehicle's if not given."""

    @check
    def _fits_its_kind(self) -> Checks:
        """Keys that are missing for the obstacle's kind, or do not belong to it."""
        make, needed = _KINDS[self.kind]
        takes = [field.name for field in fields(make)]
        for name in needed:
            if known(self, name, 0.0) is None:
                yield Problem(name, f"is missing for a {self.kind}")
        for name in self.model_fields_set:
            if name not in takes and name not in _SHARED:
                yield Problem(name, f"is nothing of a {self.kind}; it takes {', '.join(takes)}")

    @check
    def _makes_an_obstacle(self) -> Checks:
        if not list(self._fits_its_kind()):
            try:
                self.obstacle  # noqa: B018
            except InvalidValueError as error:
                yield Problem("", str(error))

    @property
    def obstacle(self) -> EventObstacle:
        """Obstacle with these numbers."""
        make, _ = _KINDS[self.kind]
        names = [field.name for field in fields(make)]
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        made = make(**given)
        return RideObstacle(made) if isinstance(made, RideCourse) else made


class SearchSpec(Spec):
    """Search of a study: the quantity raised for each vehicle until the criterion fails."""

    raised: Raised
    """The obstacle's size, or the speed."""
    first: Positive
    """Value that is tried first [m] or [m/s]."""
    last: Positive
    """Value beyond which nothing is tried [m] or [m/s]."""
    increment: Positive
    """Difference between neighbouring values [m] or [m/s]."""
    criterion: Criterion = "passed"
    """Criterion that must hold."""

    @check
    def _rises(self) -> Checks:
        if self.first > self.last:
            yield Problem("last", f"must be at least the first of {self.first:g}, got {self.last:g}")


MAX_VEHICLES = 100_000
"""Most vehicles of a study, which are planned before the first is simulated."""
VehicleCount = Annotated[Count, Field(le=MAX_VEHICLES)]


class ParameterRange(Spec):
    """Parameter of a study: a number at one or more places in the vehicle file, and its range."""

    paths: Annotated[list[str], Field(min_length=1)]
    """Places in the vehicle file, which all get the value; `*` for every name or index."""
    low: Number
    """Least value."""
    high: Number
    """Largest value."""
    count: VehicleCount = 2
    """Number of values of a grid."""
    change: Literal["value", "offset", "factor"] = "value"
    """The value itself, what is added to the file's, or what multiplies it."""

    @check
    def _rises(self) -> Checks:
        if self.low >= self.high:
            yield Problem("high", f"must be above the low of {self.low:g}, got {self.high:g}")


Method = Literal["grid", "sobol", "halton", "latin hypercube", "saltelli", "morris", "optuna"]
_TAKES: Mapping[Method, tuple[str, ...]] = {
    "grid": (),
    "optuna": ("count", "seed", "direction", "batch"),
}
"""Keys of a design beside its method; the others take count and seed."""


class DesignSpec(Spec):
    """Design of a study: the parameter values to simulate."""

    method: Method = "grid"
    """A grid; a sequence of scipy.stats.qmc; SALib's samples for Sobol' indices (saltelli) or elementary
    effects (morris), which are printed; or optimisation by optuna."""
    count: VehicleCount = 16
    """Number of vehicles; of saltelli and morris the number N of their samples; not for a grid."""
    seed: Annotated[int, Field(strict=True, ge=0)] = 0
    """Seed of everything random."""
    direction: Literal["largest", "smallest"] = "largest"
    """Result that optuna looks for."""
    batch: VehicleCount = 4
    """Number of vehicles that optuna asks for at once, whatever the number of cores."""

    @check
    def _fits_its_method(self) -> Checks:
        for name in sorted(self.model_fields_set - {"method", *_TAKES.get(self.method, ("count", "seed"))}):
            yield Problem(name, f"must be left out: it is nothing of the method {self.method}")


class StudyFile(Spec):
    """Study file."""

    vehicle: Beside
    """Bundled vehicle, or vehicle file."""
    event: EventSpec
    """Event."""
    parameters: Annotated[dict[Name, ParameterRange], Field(min_length=1)]
    """Parameters by a name of your own."""
    search: SearchSpec | None = None
    """Search for each vehicle; a single run if not given."""
    criterion: Criterion = "passed"
    """Result of a single run: 1 for passed, or the criterion's number."""
    design: DesignSpec = DesignSpec()
    """Values of the parameters."""
    track_model: str | None = None
    """Name of a track model; the engine's default if not given."""
    engine: EngineName | None = None
    """native, pybullet or mujoco; one that runs the track model if not given."""
    preset: str | None = None
    """The engine's solver settings."""
    time_step: Positive | None = None
    """Instead of the preset's [s]."""
    assumptions: dict[str, Number] = {}
    """Settings of `segtrack.experiments.Assumptions` by name, where they differ."""

    @check
    def _is_planned_at_once(self) -> Checks:
        vehicles = math.prod(each.count for each in self.parameters.values())
        if self.design.method == "grid" and vehicles > MAX_VEHICLES:
            yield Problem(
                "parameters", f"must give a grid of at most {MAX_VEHICLES} vehicles, got {vehicles}"
            )

    @check
    def _known_assumptions(self) -> Checks:
        there = [field.name for field in fields(Assumptions)]
        for name in self.assumptions:
            if name not in there:
                yield Problem(f"assumptions.{name}", f"is no assumption; {suggest(name, there)}")

    @check
    def _nothing_is_ignored(self) -> Checks:
        """Keys without effect beside other keys."""
        if (search := known(self, "search", None)) is not None:
            if "criterion" in self.model_fields_set:
                yield Problem("criterion", "must be left out beside a search, which has search.criterion")
            if known(search, "raised", None) == "speed" and known(self, "event.speed", None) is not None:
                yield Problem("event.speed", "must be left out where the search raises the speed")
        if known(self, "design.method", "grid") != "grid":
            for name, parameter in known(self, "parameters", {}).items():
                if "count" in parameter.model_fields_set:
                    message = f"must be left out: the method {self.design.method} has design.count"
                    yield Problem(f"parameters.{name}.count", message)

    @check
    def _vehicle_is_there(self) -> Checks:
        try:
            VehicleSource(self.vehicle)
        except (UnknownNameError, FileAccessError) as error:
            yield Problem("vehicle", f"cannot be read: {error}")

    @property
    def _source(self) -> VehicleSource:
        """Vehicle file; its absence is `_vehicle_is_there`'s to say."""
        try:
            return VehicleSource(self.vehicle)
        except (UnknownNameError, FileAccessError):
            raise UnknownPartError("vehicle") from None

    @check
    def _paths_are_there(self) -> Checks:
        """Paths of parameters that denote no number, or one of another parameter."""
        source = self._source
        taken: dict[Steps, str] = {}
        for name, parameter in known(self, "parameters", {}).items():
            for i, path in enumerate(known(parameter, "paths", ())):
                where = f"parameters.{name}.paths[{i}]"
                try:
                    places = find_places(source.vehicle, path)
                except InvalidValueError as error:
                    yield Problem(where, f"is no place of {source.file.name}: {error}")
                    continue
                for place in places:
                    if (other := taken.setdefault(place.steps, name)) != name:
                        yield Problem(where, f"is a place of parameter {other}, too")
                    if place.value is None and known(parameter, "change", "value") != "value":
                        yield Problem(where, f"has no value in {source.file.name} to add to or multiply")

    @check
    def _can_be_simulated(self) -> Checks:
        """An event that cannot be set up with the vehicle."""
        if list(self._known_assumptions()) or list(self.event.own_problems()):
            return
        try:
            self.setup(self._source.vehicle)
        except SegtrackError as error:
            yield Problem("", str(error))

    def setup(self, vehicle: Any) -> EventSetup:
        """Return the event for a vehicle, before a search sets the raised quantity."""
        event = self.event
        return EventSetup(
            vehicle=vehicle,
            obstacle=event.obstacle,
            speed=event.speed,
            friction=event.friction,
            flippers=event.flippers,
            rear_flippers=event.rear_flippers,
            driver_position=event.driver_position,
            track_model=self.track_model,
            engine=self.engine,
            preset=self.preset,
            time_step=self.time_step,
            assumptions=Assumptions(**self.assumptions),
        )

    @property
    def judged_by(self) -> Criterion:
        """Criterion of the study's runs."""
        return self.criterion if self.search is None else self.search.criterion

    @property
    def upward_search(self) -> UpwardSearch | None:
        """Search for each vehicle; None for single runs."""
        if self.search is None:
            return None
        limit = limit_of(self.search.criterion, Assumptions(**self.assumptions))
        search = self.search
        return UpwardSearch(
            search.first, search.last, search.increment, search.criterion, limit, search.raised
        )

    @property
    def result_name(self) -> str:
        """Name and unit of each vehicle's result."""
        if self.search is None:
            return {"passed": "passed", "absorbed power": "absorbed power [W]"}.get(
                self.criterion, f"{self.criterion} [g]"
            )
        if self.search.raised == "speed":
            return "limiting speed [m/s]"
        return f"largest {self.event.obstacle.size_name} [m]"


def load_study_file(path: Path) -> StudyFile:
    """Read and check a study file, and the vehicle file that it names.

    Raises:
        FileAccessError: A file cannot be read.
        VehicleFileError: The vehicle file has mistakes.
        StudyFileError: The file has mistakes; all of them are listed, with their lines.
    """
    content = parse_yaml(read_text(path), path.name, StudyFileError)
    return check_content(StudyFile, content, path.name, path.parent, StudyFileError)
