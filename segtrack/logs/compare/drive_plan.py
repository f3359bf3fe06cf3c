"""Plan of drives: which of some standard ones would tell wrong values of a vehicle's parameters.

Each drive is simulated with the vehicle as it is and with wrong values of each parameter. Two simulations are
put beside each other as a log and a simulation would be; what they differ by counts if it is more than
`COVERAGE` standard uncertainties of the noise that a log is stated to have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from segtrack.description import VehicleDescription
from segtrack.errors import DivergedError, InvalidValueError, UnknownNameError
from segtrack.experiments import Workers
from segtrack.logs.compare.beside import compare_motions
from segtrack.logs.compare.comparison import ErrorRow
from segtrack.logs.compare.sensitivity import wrong_values
from segtrack.logs.compare.uncertainty import COVERAGE
from segtrack.logs.fit import PARAMETERS, values_of, with_parameters
from segtrack.logs.mapping import LoadedTerrain, parse_terrain
from segtrack.logs.replay import MotionRecorder, first_touch
from segtrack.robot import Motion
from segtrack.world import World

NOISE: Mapping[str, float] = MappingProxyType(
    {"position": 0.002, "orientation": 0.005, "belt_speed": 0.005, "flipper_angle": 0.01}
)
"""Noise of a log where none is stated [m, rad, m/s, rad]."""
STEP, SAMPLE = 0.004, 0.02
"""Time step of the simulations, and time between two samples [s]."""
SLOPE_DEG = 25.0
"""Slope of the drive up one [deg]."""
_WAIT, _WAY, _STAND, _SPEED, _BRAKE_SPEED = 0.5, 0.2, 1.5, 0.25, 1.0
"""Time before the drive [s], free way before a rise [m], time after the drive [s], belt speeds [m/s]."""
_QUANTITIES = "position", "orientation", "belt_speed", "belt_speed_command", "flipper_angle"


class PlannedDrive(NamedTuple):
    """A drive that could be logged.

    Attributes:
        name: Name of the drive.
        meaning: Description, with its numbers.
        terrain: Ground.
        speeds: Speeds of the left and the right belts while it drives [m/s].
        duration: For so long [s].
    """

    name: str
    meaning: str
    terrain: LoadedTerrain
    speeds: tuple[float, float]
    duration: float


class PlannedTest(NamedTuple):
    """Answer of a drive to a wrong value of a parameter.

    Attributes:
        drive: Name of the drive.
        parameter: Name of the parameter.
        value: Wrong value.
        unit: Unit of the value.
        quantity: Quantity that differs most, over its uncertainty; empty if nothing was simulated.
        unit_of_change: Unit of the quantity.
        change: Difference of that quantity, in its unit.
        needed: From which difference it is seen.
        failed: Reason for which nothing was simulated; empty otherwise.
    """

    drive: str
    parameter: str
    value: float
    unit: str
    quantity: str = ""
    unit_of_change: str = "-"
    change: float = 0.0
    needed: float = 0.0
    failed: str = ""

    @property
    def ratio(self) -> float:
        """Change over the least one that is seen."""
        return self.change / self.needed if self.needed > 0 else 0.0


@dataclass(frozen=True)
class DrivePlan:
    """Drives, parameters, and what each drive would say of each parameter.

    Attributes:
        vehicle: Name of the vehicle.
        drives: The drives.
        parameters: Names of the parameters that are asked for.
        noise: Noise that a log is taken to have, by quantity.
        tests: Wrong values of each parameter on each drive.
        told: Names of the parameters that logs have told already.
    """

    vehicle: str
    drives: tuple[PlannedDrive, ...]
    parameters: tuple[str, ...]
    noise: Mapping[str, float]
    tests: tuple[PlannedTest, ...]
    told: tuple[str, ...] = ()

    def of(self, drive: str, parameter: str) -> list[PlannedTest]:
        """Wrong values of a parameter on a drive."""
        return [test for test in self.tests if (test.drive, test.parameter) == (drive, parameter)]

    def ratio(self, drive: str, parameter: str) -> float | None:
        """Least change over what is seen, of the wrong values that can be simulated; None if none can."""
        return min((test.ratio for test in self.of(drive, parameter) if not test.failed), default=None)

    def best(self, parameter: str) -> PlannedDrive | None:
        """The drive that tells a parameter best; None if none does."""
        ratios = {drive.name: self.ratio(drive.name, parameter) or 0.0 for drive in self.drives}
        best = max(self.drives, key=lambda drive: ratios[drive.name])
        return best if ratios[best.name] > 1.0 else None

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        best = {name: self.best(name) for name in self.parameters}
        return {
            "vehicle": self.vehicle,
            "noise": dict(self.noise),
            "drives": [{"name": drive.name, "meaning": drive.meaning} for drive in self.drives],
            "told_already": list(self.told),
            "best": {name: None if drive is None else drive.name for name, drive in best.items()},
            "tests": [{**test._asdict(), "is_seen": test.ratio > 1.0} for test in self.tests],
        }


def standard_drives(vehicle: VehicleDescription) -> tuple[PlannedDrive, ...]:
    """A step as high as the vehicle's largest pulley's radius, a slope, a turn on the spot, and a brake.

    Raises:
        InvalidValueError: The vehicle lacks tracks on a side.
    """
    vehicle.require_track_offsets()
    height = round(values_of(vehicle).get("pulley_radius", 0.1), 2)
    top = min(track.spec.drive.top_speed for track in vehicle.mounted_tracks())
    slow, fast = min(_SPEED, top), min(_BRAKE_SPEED, top)
    reach = 3.0 * vehicle.contact_length + 2 * _WAY
    step = f"{{step: {{height: {height}, length: 6.0}}, place: {{x: 3.0}}, width: 4.0}}"
    slope = (
        f"{{ramp: {{slope_deg: {SLOPE_DEG}, length: 4.0, top_length: 4.0}}, place: {{x: 3.0}}, width: 4.0}}"
    )
    level = parse_terrain("friction: 1.0", "level ground")
    rises = [parse_terrain(f"terrain: [{piece}]", name) for name, piece in (("step", step), ("slope", slope))]
    return (
        PlannedDrive(
            "step",
            f"over a step of {1e3 * height:.0f} mm at {slow:g} m/s",
            rises[0],
            (slow, slow),
            reach / slow,
        ),
        PlannedDrive(
            "slope", f"up {SLOPE_DEG:g} deg at {slow:g} m/s, and stop", rises[1], (slow, slow), reach / slow
        ),
        PlannedDrive("turn", f"on the spot, belts at {slow:g} m/s", level, (-slow, slow), 5.0),
        PlannedDrive("brake", f"from {fast:g} m/s, on level ground", level, (fast, fast), 2.0),
    )


def drive_planned(vehicle: VehicleDescription, plan: PlannedDrive, nominal: VehicleDescription) -> Motion:
    """Simulate a drive by its commands, in the native engine.

    Args:
        vehicle: Vehicle that drives.
        plan: The drive.
        nominal: Vehicle whose first touch decides where it starts.

    Raises:
        DivergedError: The simulation broke down.
    """
    angles = dict.fromkeys(vehicle.flippers, 0.0)
    obstacle = plan.terrain.obstacle
    touch = None if obstacle is None else first_touch(nominal, angles, obstacle)
    x = 0.0 if touch is None else touch.x - _WAY
    with World(engine="native", time_step=STEP, resettable=False) as world:
        for ground in plan.terrain.terrains:
            world.add_terrain(ground)
        robot = world.add_vehicle(vehicle, position=(x, 0.0), flippers=angles)
        world.settle()
        recorder = MotionRecorder(robot, plan.name)
        for tick in range(round((_WAIT + plan.duration + _STAND) / SAMPLE) + 1):
            time = tick * SAMPLE
            drives = _WAIT <= time < _WAIT + plan.duration
            robot.set_belt_speed(*(plan.speeds if drives else (0.0, 0.0)))
            recorder.sample(time, angles)
            world.run(SAMPLE)
    return recorder.motion()


def plan_drives(
    vehicle: VehicleDescription,
    stds: Mapping[str, float] | None = None,
    *,
    noise: Mapping[str, float] | None = None,
    drives: Sequence[PlannedDrive] | None = None,
    told: Iterable[str] = (),
    pool: Workers | None = None,
    on_done: Callable[[], object] = lambda: None,
) -> DrivePlan:
    """Simulate drives with wrong values of a vehicle's parameters, and say which would tell them.

    Args:
        vehicle: The vehicle.
        stds: Standard deviations by parameter, of those that are asked for; all that are not 0 if not given.
        noise: Noise of a log by quantity, over `NOISE`.
        drives: The drives; the standard ones if not given.
        told: Parameters that logs have told already, which are not simulated.
        pool: Processes; this one if not given.
        on_done: Called after each of `plan_count`.

    Raises:
        UnknownNameError: No such quantity of a log, or parameter.
        InvalidValueError: The vehicle lacks tracks on a side.
    """
    for name in noise or {}:
        if name not in NOISE:
            raise UnknownNameError("noise of a log", name, NOISE)
    chosen = standard_drives(vehicle) if drives is None else tuple(drives)
    known, stated = tuple(told), NOISE if noise is None else {**NOISE, **noise}
    asked = _asked(vehicle, stds)
    jobs = [
        _PlanJob(drive, name, value)
        for drive in chosen
        for name, std in asked.items()
        if name not in known
        for value in wrong_values(vehicle, name, std)
    ]
    workers = Workers(1) if pool is None else pool
    nominal = workers.run(partial(_nominal, vehicle), chosen, lambda *_: on_done())
    motions = {drive.name: motion for drive, motion in zip(chosen, nominal, strict=True)}
    test = partial(_test, vehicle, stated, motions)
    tests = workers.run(test, jobs, lambda *_: on_done())
    return DrivePlan(vehicle.name, chosen, tuple(asked), stated, tuple(tests), known)


def plan_count(
    vehicle: VehicleDescription, stds: Mapping[str, float] | None = None, told: Iterable[str] = ()
) -> int:
    """Return the number of simulations that `plan_drives` runs with the standard drives."""
    known = set(told)
    values = [
        wrong_values(vehicle, name, std) for name, std in _asked(vehicle, stds).items() if name not in known
    ]
    return len(standard_drives(vehicle)) * (1 + sum(map(len, values)))


class _PlanJob(NamedTuple):
    drive: PlannedDrive
    parameter: str
    value: float


def _asked(vehicle: VehicleDescription, stds: Mapping[str, float] | None) -> dict[str, float]:
    """Parameters that are asked for, with their standard deviations; 0 where a wrong value needs none."""
    values = values_of(vehicle)
    if stds is None:
        return {name: 0.0 for name, value in values.items() if value}
    for name in stds:
        if name not in values:
            raise UnknownNameError(f"parameter of {vehicle.name}", name, values)
    return dict(stds)


def _nominal(vehicle: VehicleDescription, plan: PlannedDrive) -> Motion:
    return drive_planned(vehicle, plan, vehicle)


def _test(
    vehicle: VehicleDescription, noise: Mapping[str, float], nominal: Mapping[str, Motion], job: _PlanJob
) -> PlannedTest:
    """Simulate one wrong value, and put it beside the vehicle as it is."""
    test = PlannedTest(job.drive.name, job.parameter, job.value, PARAMETERS[job.parameter].unit)
    try:
        wrong = with_parameters(vehicle, {job.parameter: job.value})
        motion = drive_planned(wrong, job.drive, vehicle)
    except (DivergedError, InvalidValueError) as error:
        return test._replace(failed=str(error))
    compared = compare_motions(
        _logged(nominal[job.drive.name], noise),
        motion,
        run="commanded",
        sides=vehicle.track_offsets,
        alignment="start",
    )
    rows = [row for row in compared.rows if row.phase == "whole" and row.uncertainty is not None]
    if not rows:
        return test
    best = max(rows, key=_ratio)
    needed = COVERAGE * (best.uncertainty or 0.0)
    return test._replace(
        quantity=best.quantity, unit_of_change=best.unit, change=abs(best.error), needed=needed
    )


def _ratio(row: ErrorRow) -> float:
    needed = COVERAGE * (row.uncertainty or 0.0)
    return abs(row.error) / needed if needed > 0 else 0.0


def _logged(motion: Motion, noise: Mapping[str, float]) -> Motion:
    """What a log would have of a motion, with the noise that it is stated to have."""
    kept = {}
    for key, signal in motion.signals.items():
        name = key.split(".")[0]
        if name in _QUANTITIES:
            kept[key] = replace(signal, std=noise.get(name))
    return Motion(motion.name, kept)
