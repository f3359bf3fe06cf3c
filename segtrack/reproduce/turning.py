"""`segtrack reproduce turning`: yaw rates compared with a closed form and with planar friction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.markup import escape
from rich.table import Table
from scipy.optimize import brentq

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import ABSURD_SPEED, EngineName, resolve
from segtrack.errors import InvalidValueError, UnknownNameError, finite
from segtrack.experiments import (
    TURNING_SLOPE,
    TURNING_SPEED,
    Rig,
    Steered,
    drive_an_arc,
    turn_on_a_slope,
    turn_on_the_spot,
    with_gauge,
)
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.reproduce.registry import EngineChoice, Session, TrackModels, parse_numbers, runnable

TRACK_MODELS = ("segments", "compliant", "chain")
"""Track models that are compared."""
GAUGES = (0.30, 0.445, 0.70)
"""Distances between the tracks of a PackBot, the middle one its own [m]."""
RAISED = 1.0
"""Angle of raised flippers [rad]."""
RADII = (0.5, 1.0, 2.0)
"""Radii of arcs [m]."""
SCENES = ("spot", "slope", "arcs")


@dataclass(frozen=True)
class TurningCase:
    """Result of one vehicle in one scene.

    Attributes:
        vehicle: Name of the vehicle, in words.
        scene: Manoeuvre and ground, in words.
        rig: Vehicle, engine and track model.
        steered: Measured motion, and the motion by planar friction under the measured loads.
        uniform: Ratio of yaw rate to no-slip yaw rate under uniform pressure, in closed form [-]; None
            except for turns on the spot.
    """

    vehicle: str
    scene: str
    rig: Rig
    steered: Steered
    uniform: float | None

    @property
    def steering_efficiency(self) -> float | None:
        """Steering efficiency for the vehicle file [-]; None off the spot, or without a turn."""
        efficiency = round(self.steered.over_no_slip, 3)
        return efficiency if self.uniform is not None and 0 < efficiency <= 1 else None

    def record(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        steered = self.steered
        return {
            "vehicle": self.vehicle,
            "scene": self.scene,
            "track_model": self.rig.track_model,
            "engine": resolve(self.rig.engine, self.rig.track_model)[0],
            "belt_speeds": list(steered.belts),
            "yaw_rate": steered.measured.yaw_rate,
            "over_no_slip": steered.over_no_slip,
            "steering_efficiency": self.steering_efficiency,
            "uniform_pressure_over_no_slip": self.uniform,
            "planar_friction_over_no_slip": steered.expected.yaw_rate / steered.no_slip_rate,
            "over_planar_friction": steered.over_expected,
            "slip": list(steered.measured.slip),
            "planar_friction_slip": list(steered.expected.slip),
            "creep": steered.measured.creep,
            "planar_friction_creep": steered.expected.creep,
            "real_time_factor": steered.real_time_factor,
        }


def uniform_pressure_turning_rate(speed: float, gauge: float, length: float) -> float:
    """Turning rate [rad/s] on the spot of two uniform-pressure tracks.

    Args:
        speed: Belt speed, forward on one side and backward on the other [m/s].
        gauge: Distance between the tracks' middles [m], > 0.
        length: Length of each ground line [m], > 0.

    Raises:
        InvalidValueError: A length that is not positive.
    """
    for what, value in (("gauge [m]", gauge), ("length [m]", length)):
        if finite(what, value) <= 0:
            raise InvalidValueError(what, "positive", value)
    half = length / 2

    def imbalance(a: float) -> float:
        return a * (gauge + a) * math.asinh(half / a) - half * math.hypot(a, half)

    offset = float(brentq(imbalance, 1e-9 * length, 1e3 * length))
    return finite("speed [m/s]", speed) / (offset + gauge / 2)


Vehicles = dict[str, tuple[VehicleDescription, dict[str, float]]]
"""Descriptions and the angles of their flippers [rad], by what they are in words."""


def compared_vehicles(name: str | Path | None = None) -> Vehicles:
    """Vehicle by name or file, with flippers up and flat if it has any; by default several.

    Without a name, Quince so, after PackBot with three gauges.
    """
    if name is None:
        packbot = load_vehicle("packbot")
        gauges: Vehicles = {
            f"packbot, gauge {gauge:g} m": (with_gauge(packbot, gauge), {}) for gauge in GAUGES
        }
        return gauges | compared_vehicles("quince")
    vehicle = load_vehicle(name)
    if not vehicle.flippers:
        return {vehicle.name: (vehicle, {})}
    return {
        f"{vehicle.name}, flippers {how}": (vehicle, dict.fromkeys(vehicle.flippers, angle))
        for how, angle in (("up", RAISED), ("flat", 0.0))
    }


def run_turning(
    vehicle: str | Path | None = None,
    track_models: Sequence[str] = TRACK_MODELS,
    scenes: Sequence[str] = ("spot",),
    speeds: Sequence[float] = (TURNING_SPEED,),
    engine: EngineName | None = None,
    on_case: Callable[[], object] = lambda: None,
) -> tuple[TurningCase, ...]:
    """Turn vehicles to the left with each track model.

    Args:
        vehicle: Bundled name or path of a vehicle file; `compared_vehicles` by default.
        track_models: Names of track models.
        scenes: Names of scenes: spot, slope or arcs.
        speeds: Belt speeds [m/s], > 0.
        engine: native, pybullet or mujoco; by default the one that runs each track model.
        on_case: Function called after each case.

    Raises:
        UnknownNameError: No such scene, vehicle, track model or engine.
        InvalidValueError: A speed that is not positive, an engine that does not run a track model, or a
            vehicle that cannot be steered so.
    """
    for scene in scenes:
        if scene not in SCENES:
            raise UnknownNameError("scene", scene, SCENES)
    for speed in speeds:
        if finite("belt speed [m/s]", speed) <= 0:
            raise InvalidValueError("belt speed [m/s]", "greater than 0", speed)
        if speed > ABSURD_SPEED:
            raise InvalidValueError("belt speed [m/s]", f"at most {ABSURD_SPEED:g}", speed)
    for track_model in track_models:
        resolve(engine, track_model)
    cases = []
    for name, (description, flippers) in compared_vehicles(vehicle).items():
        for track_model in track_models:
            rig = Rig(description, flippers, track_model, engine)
            for speed in speeds:
                for scene, steered, uniform in _cases(rig, scenes, speed):
                    cases.append(TurningCase(name, scene, rig, steered, uniform))
                    on_case()
    return tuple(cases)


def _cases(rig: Rig, scenes: Sequence[str], speed: float) -> Iterator[tuple[str, Steered, float | None]]:
    """Yield each scene's name, the rig's motion in it, and the closed form over no slip."""
    if "spot" in scenes:
        uniform = uniform_pressure_turning_rate(1.0, rig.gauge, rig.ground_length) * rig.gauge / 2
        yield "on the spot", turn_on_the_spot(rig, speed), uniform
    if "slope" in scenes:
        angle = f"{math.degrees(TURNING_SLOPE):.0f} deg slope"
        yield angle, turn_on_a_slope(rig, speed), None
    for radius in RADII if "arcs" in scenes else ():
        yield f"arc of {radius:g} m", drive_an_arc(rig, radius, speed), None


_WIDTH = 0.8
"""Width of a vehicle's marks; vehicles are one unit apart."""


def draw_turning(cases: tuple[TurningCase, ...]) -> Figure:
    """Plot yaw rates over no-slip ones: a panel for each scene, a mark for each belt speed, rising."""
    scenes = list(dict.fromkeys(case.scene for case in cases))
    models = list(dict.fromkeys(case.rig.track_model for case in cases))
    vehicles = list(dict.fromkeys(case.vehicle for case in cases))
    figure = new_figure(2.0 + 1.7 * len(vehicles), 0.8 + 3.2 * len(scenes))
    panels = figure.subplots(len(scenes), 1, sharex=True, squeeze=False)[:, 0]
    for axes, scene in zip(panels, scenes, strict=True):
        for place, vehicle in enumerate(vehicles):
            there = [case for case in cases if (case.scene, case.vehicle) == (scene, vehicle)]
            _draw_vehicle(axes, place, there, models)
        axes.set_title(scene, loc="left", fontsize=11)
        axes.set_ylabel("yaw rate / without slip [-]")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", alpha=0.25)
    panels[-1].set_xticks(range(len(vehicles)), [name.replace(", ", ",\n") for name in vehicles])
    handles = [
        *(Line2D([], [], marker="o", ls="", color=SEGMENT_COLOURS[i], label=m) for i, m in enumerate(models)),
        Line2D(
            [], [], marker="_", markersize=14, ls="", c="black", label="planar friction under these loads"
        ),
        Line2D([], [], linestyle="--", color="black", label="uniform pressure"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _draw_vehicle(axes: Axes, place: int, cases: list[TurningCase], models: list[str]) -> None:
    """Plot one vehicle in one scene around x = `place`."""
    step = _WIDTH / max(len(cases), 1)
    for i, case in enumerate(sorted(cases, key=lambda case: models.index(case.rig.track_model))):
        x = place - _WIDTH / 2 + (i + 0.5) * step
        colour = SEGMENT_COLOURS[models.index(case.rig.track_model)]
        expected = case.steered.expected.yaw_rate / case.steered.no_slip_rate
        axes.plot([x, x], [case.steered.over_no_slip, expected], color=colour, linewidth=1.0)
        axes.plot(x, case.steered.over_no_slip, "o", color=colour)
        axes.plot(x, expected, "_", color="black", markersize=14)
        if case.uniform is not None:
            axes.hlines(case.uniform, place - _WIDTH / 2, place + _WIDTH / 2, colors="black", linestyles="--")


def run(
    session: Session,
    vehicle: Annotated[
        str | None,
        typer.Option(
            help="Bundled vehicle or vehicle file; PackBot with three gauges and Quince.", show_default=False
        ),
    ] = None,
    track_model: TrackModels = None,
    engine: EngineChoice = None,
    scene: Annotated[
        list[str], typer.Option(help="spot, slope (15 deg) or arcs (0.5, 1 and 2 m); may be repeated.")
    ] = ["spot"],  # noqa: B006
    speeds: Annotated[str, typer.Option(help="Belt speeds [m/s], with commas.")] = str(TURNING_SPEED),
) -> Outcome:
    """Turn vehicles with the track models that are available."""
    models, notes = runnable({model: (engine, model) for model in track_model or TRACK_MODELS})
    chosen = (vehicle, models, scene, parse_numbers("--speeds", speeds))
    each = sum(len(RADII) if name == "arcs" else 1 for name in scene)
    count = len(compared_vehicles(vehicle)) * len(models) * len(chosen[-1]) * each
    with session.counting("turning", count) as done:
        cases = run_turning(*chosen, engine=engine, on_case=done)  # type: ignore[arg-type]
    summary = {"cases": [case.record() for case in cases]}
    measured = [
        f"{case.vehicle}, {case.rig.track_model}, belts at {case.steered.belts[1]:g} m/s: "
        f"steering_efficiency: {case.steering_efficiency}"
        for case in (cases if vehicle is not None else ())
        if case.steering_efficiency is not None
    ]
    files = {"turning.json": summary, "turning.png": draw_turning(cases)}
    return Outcome(turning_table(cases), summary, files, [*measured, *notes])


def turning_table(cases: tuple[TurningCase, ...]) -> Table:
    """Return yaw rates over no-slip ones, beside closed form and planar friction; slip if it varies."""
    varied = len({case.steered.belts for case in cases}) > 1
    scenes = {case.scene for case in cases}
    title = "Yaw rate over that without slip"
    table = Table(title=title if len(scenes) > 1 else f"{title}, {cases[0].scene}")
    table.add_column("", no_wrap=True)
    for header in ("simu-\nlated", "uniform\npressure", "own\nloads", "ratio", "real-time\nfactor"):
        table.add_column(header, no_wrap=True)
    for header in ("belts\n[m/s]", "slip left,\nright", "of own\nloads") if varied else ():
        table.add_column(header)
    heading = ""
    for case in cases:
        if heading != (heading := case.vehicle):
            table.add_section()
            table.add_row(escape(heading))
        steered = case.steered
        planar = steered.expected.yaw_rate / steered.no_slip_rate
        rates = steered.over_no_slip, case.uniform, planar, steered.over_expected
        values = ["" if rate is None else f"{rate:.3f}" for rate in rates]
        values.append(f"{steered.real_time_factor:.2f}")
        if varied:
            values.append(", ".join(f"{speed:.3g}" for speed in steered.belts))
            for motion in (steered.measured, steered.expected):
                values.append(", ".join(f"{slip:.3f}" for slip in motion.slip))
        model = case.rig.track_model
        table.add_row(f"  {model}" if len(scenes) == 1 else f"  {model}, {case.scene}", *values)
    return table
