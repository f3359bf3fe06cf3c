"""`segtrack reproduce okada-table-4`: Quince at six steps, and over parameters left open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import typer
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.description import load_vehicle
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments import run_climb, run_parallel, with_contact
from segtrack.report import Outcome, draw_snapshot, new_figure
from segtrack.reproduce.okada_cases import TABLE_4, VEHICLE, Table4, case_setup, ending, run_table_4
from segtrack.reproduce.okada_map import Table4Map, climb_count, run_map
from segtrack.reproduce.registry import EngineChoice, Preset, Session, TrackModel

TRACK_MODEL = "compliant"
TIME_STEPS = (5e-4, 1e-3, 2e-3)
"""Time steps with the default stiffness [s]."""
STIFFNESSES = {2.5e3: 1e-3, 5e3: 1e-3, 1e4: 1e-3, 2e4: 1e-3, 4e4: 1e-3, 8e4: 1e-3, 1.6e5: 5e-4, 3.2e5: 2.5e-4}
"""Time step that each stiffness of a grouser [N/m] allows [s]."""
_DAMPING_TIME = 2.2e-3
"""Damping over stiffness [s], as with the default."""


@dataclass(frozen=True)
class BandRow:
    """Outcomes of the six cases with one stiffness and one time step.

    Attributes:
        stiffness: Stiffness of a grouser's contact [N/m]; None for the default.
        time_step: Time step [s].
        matches: Number of cases with the physical robot's outcome.
        max_pitch: Largest pitch on the step of 240 mm [rad].
    """

    stiffness: float | None
    time_step: float
    matches: int
    max_pitch: float

    def record(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "stiffness": self.stiffness,
            "time_step": self.time_step,
            "matches": self.matches,
            "max_pitch_deg": math.degrees(self.max_pitch),
        }


def run_band(on_done: Callable[[], object] | None = None) -> tuple[BandRow, ...]:
    """Simulate the six cases for each stiffness and time step, rows in parallel processes.

    Args:
        on_done: Function called after each row.
    """
    rows: list[tuple[float | None, float]] = [(None, step) for step in TIME_STEPS]
    rows += list(STIFFNESSES.items())
    return tuple(run_parallel(_run_row, rows, on_done=on_done))


def _run_row(row: tuple[float | None, float]) -> BandRow:
    """Simulate the six cases with a stiffness [N/m] and time step [s]."""
    stiffness, time_step = row
    vehicle = load_vehicle(VEHICLE)
    if stiffness is not None:
        vehicle = with_contact(vehicle, stiffness, _DAMPING_TIME * stiffness)
    setups = [
        replace(case_setup(line, vehicle=vehicle, track_model=TRACK_MODEL), time_step=time_step)
        for line in TABLE_4
    ]
    climbs = [run_climb(setup) for setup in setups]
    matches = sum(climb.success == line.real for climb, line in zip(climbs, TABLE_4, strict=True))
    high = next(climb for setup, climb in zip(setups, climbs, strict=True) if setup.step == 0.24)
    return BandRow(stiffness, time_step, matches, high.max_pitch)


def map_band(session: Session) -> Outcome:
    """Simulate the six cases with compliant belts over time steps and stiffness."""
    with session.counting("climbing", len(TIME_STEPS) + len(STIFFNESSES)) as done:
        rows = run_band(done)
    records = [row.record() for row in rows]
    return Outcome(band_table(rows), {"rows": records}, {"band.csv": records})


def map_open(session: Session, size: str, chosen: Mapping[str, Any]) -> Outcome:
    """Simulate the six cases over rear flippers, centre of mass and contact stiffness."""
    with session.counting("climbing", climb_count(size)) as done:
        result = run_map(size, **chosen, on_done=done)
    records = [point.record() for point in result.points]
    files = {"map.csv": records, "map.png": draw_map(result)}
    return Outcome(map_table(result), result.summary(), files)


def band_table(rows: Sequence[BandRow]) -> Table:
    """Return the matches of Table IV over time steps and stiffness."""
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


def map_table(result: Table4Map) -> Table:
    """Return the number of matching cases at each point of the map."""
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


def draw_map(table: Table4Map) -> Figure:
    """Draw the number of matching cases, a panel for each contact stiffness."""
    grid = table.grid
    shape = (len(grid.stiffness), len(grid.rear_sub_track_deg), len(grid.center_of_mass_x))
    matches = np.array([point.matches for point in table.points]).reshape(shape)
    figure = new_figure(4.5 * shape[0] + 1.5, 0.7 * shape[1] + 2.2)
    settings = f"{table.track_model}, preset {table.preset or 'default'}"
    figure.suptitle(f"Cases of Table IV that match, of {len(TABLE_4)} ({settings})", fontsize=13)
    panels = np.atleast_1d(figure.subplots(1, shape[0], sharey=True))
    for axes, stiffness, panel in zip(panels, grid.stiffness, matches, strict=True):
        image = axes.imshow(panel, cmap="RdYlGn", vmin=0, vmax=len(TABLE_4), origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(panel):
            axes.text(column, row, str(value), ha="center", va="center", fontweight="bold")
        axes.set_title("rigid contact" if stiffness is None else f"{stiffness:.0e} N/m a point", fontsize=11)
        axes.set_xlabel("body's centre of mass x [m]")
        axes.set_xticks(range(shape[2]), [f"{x:g}" for x in grid.center_of_mass_x])
        axes.set_yticks(range(shape[1]), [f"{angle:g}" for angle in grid.rear_sub_track_deg])
    panels[0].set_ylabel("rear sub-tracks raised by [deg]")
    figure.colorbar(image, ax=list(panels), label="matches")
    return figure


def run(
    session: Session,
    preset: Preset = None,
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    with_map: Annotated[
        bool,
        typer.Option(
            "--map", help="Map the matches over what the paper leaves open (preset fast by default)."
        ),
    ] = False,
    map_size: Annotated[str | None, typer.Option(help="full or small; full.", show_default=False)] = None,
    band: Annotated[
        bool, typer.Option("--band", help="Compliant belts over time steps and stiffness instead.")
    ] = False,
) -> Outcome:
    """Drive the six cases once, or over parameters that the paper does not give."""
    chosen: dict[str, Any] = {"preset": preset, "engine": engine, "track_model": track_model}
    if map_size is not None and not with_map:
        raise InvalidValueError("--map", "given with --map-size", Phrase("none"))
    if band:
        for name, value in {**chosen, "map": with_map or None}.items():
            if value is not None:
                raise InvalidValueError(f"--{name.replace('_', '-')}", "left out with --band", value)
        return map_band(session)
    if with_map:
        session.rename("okada-table-4-map")
        return map_open(session, map_size or "full", chosen)
    with session.counting("climbing", len(TABLE_4)) as done:
        result = run_table_4(**chosen, on_done=done)
    summary = result.summary()
    files = {"table_4.json": summary, "table_4.png": draw_table_4(result)}
    return Outcome(table_4(result), summary, files)


def table_4(result: Table4) -> Table:
    """Return the simulated Table IV beside the paper's."""
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
            ending(line.real),
            ending(line.simulation),
            "[green]yes[/green]" if case.match else "[red]no[/red]",
        )
    return table


def draw_table_4(table: Table4) -> Figure:
    """Draw the end of each of the six cases in side view."""
    figure = new_figure(14.0, 8.5)
    figure.suptitle(
        f"Table IV, {table.track_model}, preset {table.preset}: {table.matches} of {len(table.cases)} match",
        fontsize=15,
    )
    cells = figure.add_gridspec(2, 3)
    for i, case in enumerate(table.cases):
        axes = figure.add_subplot(cells[i // 3, i % 3])
        draw_snapshot(axes, case.climb, len(case.climb.trajectory.times) - 1)
        line = case.published
        title = f"{line}: {case.climb.outcome} (robot: {ending(line.real)})"
        axes.set_title(title, loc="left", fontsize=11)
    return figure
