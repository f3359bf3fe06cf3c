"""Results as tables for the terminal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from segtrack.courses import Course
from segtrack.description import VehicleDescription
from segtrack.experiments.climb import ClimbResult
from segtrack.experiments.film_cost import FilmCost
from segtrack.experiments.okada.band import BandRow
from segtrack.experiments.okada.published import TABLE_2_RATIOS, TABLE_2_REAL_TIME_FACTOR, TABLE_4
from segtrack.experiments.okada.step_map import Table4Map
from segtrack.experiments.okada.table_2 import Table2
from segtrack.experiments.okada.table_4 import Table4
from segtrack.experiments.segments_vs_chain import Line, Model, SegmentsVsChain
from segtrack.experiments.speed import SpeedTable
from segtrack.experiments.steady_turns.turning import TurningCase
from segtrack.rendering import FRAME_RATE


def climb_table(result: ClimbResult) -> Table:
    """How a climb went."""
    table = Table(
        title=f"{result.vehicle.name} at a step of {result.setup.step * 1000:.0f} mm", show_header=False
    )
    x, y, z = result.final_position
    rows = {
        "outcome": f"[bold]{result.outcome}[/bold]",
        "simulated": f"{result.duration:.2f} s",
        "real-time factor": f"{result.real_time_factor:.2f}, at least {result.real_time_factor_min:.2f}",
        "largest pitch": f"{math.degrees(result.max_pitch):.1f} deg",
        "final position": f"{x:.3f}, {y:.3f}, {z:.3f} m (step's face at x = 0)",
        "slip": f"{result.slip:.3f}",
        "energy of the drives": f"{result.energy:.1f} J",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def table_2(result: Table2) -> Table:
    """Table II beside the paper's, with ratios."""
    table = Table(
        "", "segtrack", "Okada et al. 2020", title="Table II: real-time factor, PackBot, 1 ms, 0.3 m/s"
    )
    for model, factor in result.real_time_factor.items():
        paper = TABLE_2_REAL_TIME_FACTOR.get(model)
        table.add_row(model.replace("_", " "), f"{factor:.2f}", "" if paper is None else f"{paper:.2f}")
    table.add_section()
    for name, ratio in result.ratios.items():
        paper = TABLE_2_RATIOS.get(name)
        table.add_row(name.replace("_", " "), f"{ratio:.2f}", "" if paper is None else f"{paper:.2f}")
    table.add_section()
    table.add_row("segtrack's own fraction of a step", f"{result.overhead_fraction:.1%}", "")
    return table


def band_table(rows: Sequence[BandRow]) -> Table:
    """Table IV over time steps and stiffness."""
    title = "Table IV with compliant belts: which of the six cases end as the robot's"
    table = Table("stiffness of a grouser [N/m]", "step [ms]", "match", "pitch at 240 mm [deg]", title=title)
    for row in rows:
        table.add_row(
            "default" if row.stiffness is None else f"{row.stiffness:g}",
            f"{row.time_step * 1e3:g}",
            f"{row.matches} of {len(TABLE_4)}",
            f"{math.degrees(row.max_pitch):.1f}",
        )
    return table


def speed_table(result: SpeedTable) -> Table:
    """Real-time factors of Quince on the step and turning, and their ratios over segments."""
    title = "Quince, grousers at 1 ms, one core: real-time factor"
    table = Table("scene", "track model", "median", "slowest round", "over segments", title=title)
    for scene, racers in result.factors.items():
        for racer, rounds in racers.items():
            table.add_row(
                {"climb": "onto a 240 mm step", "turn": "turning on the spot"}[scene],
                racer,
                f"{result.median(scene, racer):.2f}",
                f"{min(rounds):.2f}",
                f"{result.ratio(scene, racer):.1f}",
            )
        table.add_section()
    table.add_row("20 ms of the native engine", "compliant", f"{result.python_fraction:.1%} Python", "", "")
    return table


def film_table(costs: Sequence[FilmCost]) -> Table:
    """What films of climbs cost."""
    title = f"Climbs without and with a film of {FRAME_RATE:g} frames a second"
    table = Table("climb", "without [s]", "with [s]", "ratio", "ms a frame", title=title)
    for cost in costs:
        engine, track_model = cost.setup.resolved
        table.add_row(
            f"{cost.setup.vehicle}, {track_model}, {engine}",
            f"{statistics.median(cost.without):.2f}",
            f"{statistics.median(cost.filmed):.2f}",
            f"{cost.ratio:.2f}",
            f"{1e3 * cost.frame_time:.1f}",
        )
    return table


def table_4(result: Table4) -> Table:
    """Table IV beside the paper's."""
    columns = (
        "front sub-tracks [deg]",
        "step [mm]",
        "here",
        "pitch [deg]",
        "robot",
        "paper's simulation",
        "match",
    )
    title = f"Table IV, {result.track_model}, preset {result.preset}"
    table = Table(*columns, title=f"{title}: {result.matches} of {len(result.cases)}")
    for case in result.cases:
        line, climb = case.published, case.climb
        table.add_row(
            f"{line.front_sub_track_deg:.0f}",
            f"{line.step * 1000:.0f}",
            f"{climb.outcome}, {climb.duration:.1f} s",
            f"{math.degrees(climb.max_pitch):.1f}",
            _passed(line.real),
            _passed(line.simulation),
            "[green]yes[/green]" if case.match else "[red]no[/red]",
        )
    return table


def map_table(result: Table4Map) -> Table:
    """How many cases match at each point of the map."""
    title = f"Cases of Table IV that match, of {len(TABLE_4)}"
    table = Table("contact stiffness [N/m]", "rear [deg]", title=title)
    for x in result.grid.center_of_mass_x:
        table.add_column(f"centre of mass {x:g} m")
    width = len(result.grid.center_of_mass_x)
    for start in range(0, len(result.points), width):
        row = result.points[start : start + width]
        stiffness = "rigid" if row[0].stiffness is None else f"{row[0].stiffness:.0e}"
        table.add_row(stiffness, f"{row[0].rear_sub_track_deg:g}", *(str(point.matches) for point in row))
    return table


def turning_table(cases: tuple[TurningCase, ...]) -> Table:
    """Yaw rates over those without slip, beside closed form and planar friction; slips if belts vary."""
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


def segments_vs_chain(result: SegmentsVsChain) -> tuple[Table, Table]:
    """Both track models line by line, then why; what is off the reference is red."""
    climbs = result.scenes["chain"].climbs.cases
    agree = sum(line.agree for line in result.lines)
    title = f"Segments and link chain: {agree} of {len(result.lines)} agree, "
    title += f"{result.same_outcomes} of {len(climbs)} climbs end alike"
    numbers = Table("", "quantity", "segments", "chain", "reference", "difference", "agree", title=title)
    reasons = Table.grid(padding=(0, 1))
    scene = ""
    for i, line in enumerate(result.lines, 1):
        if scene != line.scene:
            numbers.add_section()
            numbers.add_row("", f"[bold]{line.scene}[/bold]")
        values = [_marked(line, model, value) for model, value in line.values.items()]
        known = (_number(line, line.reference), _number(line, line.difference))
        agrees = "[green]yes[/green]" if line.agree else "[red]no[/red]"
        numbers.add_row(str(i), escape(line.quantity), *values, *known, agrees)
        reasons.add_row(str(i), escape(line.why))
        scene = line.scene
    reasons.add_row("", f"The chain is simulated at {result.speed_ratio:.2f} times the segments' speed.")
    return numbers, reasons


def _marked(line: Line, model: Model, value: float | str) -> str:
    text = _number(line, value)
    return f"[red]{text}[/red]" if model in line.off_reference else text


def _number(line: Line, value: float | str | None) -> str:
    """A value to a hundredth of its tolerance."""
    if value is None or isinstance(value, str) or line.tolerance is None:
        return "" if value is None else str(value)
    digits = max(0, 2 - math.floor(math.log10(line.tolerance)))
    return f"{round(value, digits) + 0.0:.{digits}f}"  # No minus before a zero.


def vehicles_table(vehicles: Mapping[str, VehicleDescription]) -> Table:
    """The bundled vehicles."""
    table = Table("vehicle", "tracks", "flippers", "source", title="Bundled vehicles")
    for name, vehicle in vehicles.items():
        table.add_row(
            name, str(len(list(vehicle.mounted_tracks()))), str(len(vehicle.flippers)), vehicle.source
        )
    return table


def courses_table(courses: Mapping[str, Course]) -> Table:
    """The bundled courses."""
    table = Table("course", "what", "kind", "lane [m]", "setting", "for", title="Bundled courses")
    for name, course in courses.items():
        setting = course.setting
        values = "" if setting is None else ", ".join(f"{value:g}" for value in setting.values)
        table.add_row(
            name,
            course.title,
            course.kind,
            "" if course.lane_width is None else f"{course.lane_width:g}",
            "" if setting is None else f"{setting.name}: {values} {setting.unit}",
            course.vehicle or "",
        )
    return table


def _passed(success: bool) -> str:
    return "climbed" if success else "failed"
