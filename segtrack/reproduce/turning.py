"""`segtrack reproduce turning`: yaw rates beside a closed form and beside planar friction."""

from __future__ import annotations

from typing import Annotated

import typer
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.markup import escape
from rich.table import Table

from segtrack.experiments import steering
from segtrack.report.outcome import Outcome
from segtrack.report.side_view import SEGMENT_COLOURS, new_figure
from segtrack.reproduce.options import EngineChoice, TrackModels, parse_numbers
from segtrack.reproduce.registry import Session, runnable
from segtrack.reproduce.turning_rates import TRACK_MODELS, TurningCase, case_count, run_turning

_WIDTH = 0.8
"""Width of a vehicle's marks; vehicles are one unit apart."""


def draw_turning(cases: tuple[TurningCase, ...]) -> Figure:
    """Yaw rates over those without slip, a panel for each scene; a mark for each belt speed, rising."""
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
        Line2D([], [], marker="o", linestyle="", color=SEGMENT_COLOURS[i], label=model)
        for i, model in enumerate(models)
    ]
    own = "planar friction under these loads"
    handles += [
        Line2D([], [], marker="_", markersize=14, linestyle="", color="black", label=own),
        Line2D([], [], linestyle="--", color="black", label="uniform pressure"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _draw_vehicle(axes: Axes, place: int, cases: list[TurningCase], models: list[str]) -> None:
    """One vehicle in one scene, around x = `place`."""
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
    speeds: Annotated[str, typer.Option(help="Belt speeds [m/s], with commas.")] = str(steering.SPEED),
) -> Outcome:
    """Let vehicles turn with the track models that run here."""
    models, notes = runnable({model: (engine, model) for model in track_model or TRACK_MODELS})
    chosen = (vehicle, models, scene, parse_numbers("--speeds", speeds))
    with session.counting("turning", case_count(*chosen)) as done:
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
    """Return yaw rates over those without slip, beside closed form and planar friction; slip if varied."""
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
        rates = (
            steered.over_no_slip,
            case.uniform,
            steered.expected.yaw_rate / steered.no_slip_rate,
            steered.over_expected,
        )
        values = ["" if rate is None else f"{rate:.3f}" for rate in rates]
        values.append(f"{steered.real_time_factor:.2f}")
        if varied:
            values.append(", ".join(f"{speed:.3g}" for speed in steered.belts))
            for motion in (steered.measured, steered.expected):
                values.append(", ".join(f"{slip:.3f}" for slip in motion.slip))
        model = case.rig.track_model
        table.add_row(f"  {model}" if len(scenes) == 1 else f"  {model}, {case.scene}", *values)
    return table
