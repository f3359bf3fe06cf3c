"""`segtrack log compare`: logs replayed, and what was simulated beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.log.options import (
    Jobs,
    MappingFile,
    NumericsOption,
    SettingOption,
    TerrainOption,
    UncertainOption,
    VehicleOption,
    clock_deviations,
    replayed,
)
from segtrack.cli.options import EngineChoice, TrackModel
from segtrack.cli.output import (
    INTERRUPTED,
    JsonFlag,
    OutFolder,
    command,
    counting,
    results_folder,
    say_written,
    show,
    words,
)
from segtrack.files import write_figure, write_json

if TYPE_CHECKING:
    from segtrack.logs.compare import Comparison
    from segtrack.logs.replay import Replay


@command
def compare(
    logs: Annotated[list[Path], typer.Argument(help="The log; several are repeats of one trial.")],
    mapping: MappingFile,
    vehicle: VehicleOption = None,
    terrain: TerrainOption = None,
    setting: SettingOption = None,
    uncertain: UncertainOption = None,
    align: Annotated[
        str,
        typer.Option(help="How simulated positions are laid onto logged ones: event, start, se3 or none."),
    ] = "event",
    numerics: NumericsOption = True,
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    jobs: Jobs = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Replay a log, and say by how much the simulation errs in each phase, beside how uncertain that is."""
    from segtrack.logs.compare import (
        CompareInterrupted,
        Stated,
        check_alignment,
        load_stated,
        simulation_count,
    )
    from segtrack.logs.compare import compare as compare_replay

    check_alignment(align)
    stated = Stated() if uncertain is None else load_stated("--uncertain", uncertain)
    folder = results_folder(out, f"compare-{logs[0].stem}")
    replays = [replayed(log, mapping, vehicle, terrain, setting, engine, track_model) for log in logs]
    comparisons: list[Comparison] = []
    interrupted = False
    total = sum(simulation_count(replay, stated, numerics) for _, replay in replays)
    try:
        with counting("simulating", total) as done:
            for mapped, replay in replays:
                comparisons.append(
                    compare_replay(
                        replay,
                        stated=stated,
                        clocks=clock_deviations(mapped),
                        alignment=align,  # type: ignore[arg-type]
                        refine=numerics,
                        workers=jobs,
                        on_done=done,
                    )
                )
    except CompareInterrupted as stop:
        comparisons.append(stop.comparison)
        interrupted = True
    _tell(comparisons, [replay for _, replay in replays], folder, as_json)
    if interrupted:
        words().print("interrupted: uncertainties are of the simulations that are done", style="red")
        raise typer.Exit(INTERRUPTED)


def _tell(comparisons: Sequence[Comparison], replays: Sequence[Replay], folder: Path, as_json: bool) -> None:
    """Print tables, and write everything to a folder."""
    from segtrack.logs.compare import area_rows
    from segtrack.report.logs.compare_figure import draw_comparison
    from segtrack.report.logs.compare_table import area_table, compare_tables

    areas = area_rows(comparisons) if len(comparisons) > 1 else ()
    summary = {
        "comparisons": [comparison.summary() for comparison in comparisons],
        "repeats": [row.summary() for row in areas],
    }
    tables = [table for comparison in comparisons for table in compare_tables(comparison)]
    tables += [area_table(areas)] if areas else []
    written = [write_json(folder / "compare.json", summary)]
    for i, (comparison, replay) in enumerate(zip(comparisons, replays, strict=False)):
        number = f"-{i + 1}" if len(comparisons) > 1 else ""
        written.append(write_figure(folder / f"compare{number}.png", draw_comparison(comparison)))
        written += _motions(replay, folder, number)
    show(tables, summary, as_json)
    for comparison in comparisons:
        for run in comparison.runs.values():
            for note in run.notes:
                text = f"{comparison.name}, {run.run}: {note}"
                words().print(text, markup=False, highlight=False, soft_wrap=True)
    say_written(*written)


def _motions(replay: Replay, folder: Path, number: str) -> Iterator[Path]:
    """Write the log in the terrain's frame and its simulations as logs of the same form."""
    from segtrack.logs.reading import write_csv

    motions = {"logged": replay.logged, "commanded": replay.commanded, "measured": replay.measured}
    for name, motion in motions.items():
        if motion is not None:
            yield write_csv(motion, folder / f"{name}{number}.csv")
