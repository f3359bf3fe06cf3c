"""`segtrack reproduce okada-table-4`: Quince at six steps, and over what the paper leaves open."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.report.chain_figure import draw_snapshot
from segtrack.report.outcome import Outcome
from segtrack.report.side_view import new_figure
from segtrack.reproduce.okada_cases import TABLE_4, Table4, run_table_4
from segtrack.reproduce.okada_open import map_band, map_open
from segtrack.reproduce.options import EngineChoice, Preset, TrackModel
from segtrack.reproduce.registry import Session


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
    map_size: Annotated[str, typer.Option(help="full or small.")] = "full",
    band: Annotated[
        bool, typer.Option("--band", help="Compliant belts over time steps and stiffness instead.")
    ] = False,
) -> Outcome:
    """Drive the six cases once, or over parameters that the paper does not give."""
    chosen: dict[str, Any] = {"preset": preset, "engine": engine, "track_model": track_model}
    if with_map:
        session.rename("okada-table-4-map")
    if band:
        return map_band(session)
    if with_map:
        return map_open(session, map_size, chosen)
    with session.counting("climbing", len(TABLE_4)) as done:
        result = run_table_4(**chosen, on_done=done)
    summary = result.summary()
    files = {"table_4.json": summary, "table_4.png": draw_table_4(result)}
    return Outcome(table_4(result), summary, files)


def table_4(result: Table4) -> Table:
    """Return Table IV beside the paper's."""
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


def _passed(success: bool) -> str:
    return "climbed" if success else "failed"


def draw_table_4(table: Table4) -> Figure:
    """Draw how each of the six cases ended, seen from the side."""
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
        real = "climbed" if line.real else "failed"
        setting = f"{line.front_sub_track_deg:.0f} deg, {line.step * 1000:.0f} mm"
        axes.set_title(f"{setting}: {case.climb.outcome} (robot: {real})", loc="left", fontsize=11)
    return figure
