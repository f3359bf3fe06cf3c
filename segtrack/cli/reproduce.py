"""`segtrack reproduce`: the paper's tables, a closed form, and two track models side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from segtrack.cli.options import EngineChoice, Preset, TrackModel
from segtrack.cli.output import JsonFlag, OutFolder, command, counting, results_folder, say_written, show
from segtrack.experiments import okada_map, okada_table_2, okada_table_4, segments_vs_chain, turning
from segtrack.experiments.published import TABLE_4
from segtrack.files import write_csv, write_figure, write_json

reproduce = typer.Typer(help="Reproduce published results.", no_args_is_help=True)


@reproduce.command("okada-table-2")
@command
def table_2(
    rounds: Annotated[
        int, typer.Option(help="How often each model takes its turn.", min=1)
    ] = okada_table_2.ROUNDS,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Table II of Okada et al. 2020: how fast each track model is, PackBot on flat ground."""
    from segtrack.report import table_figures, tables

    folder = results_folder(out, "okada-table-2")
    with counting("driving", rounds * len(okada_table_2.MODELS)) as done:
        result = okada_table_2.run_table_2(rounds=rounds, on_done=done)
    written = [
        write_json(folder / "table_2.json", result.summary()),
        write_figure(folder / "table_2.png", table_figures.draw_table_2(result)),
    ]
    show(tables.table_2(result), result.summary(), as_json)
    say_written(*written)


@reproduce.command("okada-table-4")
@command
def table_4(
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
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Table IV of Okada et al. 2020: Quince at six steps, beside the physical robot."""
    folder = results_folder(out, "okada-table-4-map" if with_map else "okada-table-4")
    chosen = {"preset": preset, "engine": engine, "track_model": track_model}
    if with_map:
        _map(folder, chosen, map_size, as_json)
    else:
        _six_cases(folder, chosen, as_json)


def _six_cases(folder: Path, chosen: dict[str, Any], as_json: bool) -> None:
    from segtrack.report import table_figures, tables

    with counting("climbing", len(TABLE_4)) as done:
        result = okada_table_4.run_table_4(**chosen, on_done=done)
    written = [
        write_json(folder / "table_4.json", result.summary()),
        write_figure(folder / "table_4.png", table_figures.draw_table_4(result)),
    ]
    show(tables.table_4(result), result.summary(), as_json)
    say_written(*written)


def _map(folder: Path, chosen: dict[str, Any], size: str, as_json: bool) -> None:
    from segtrack.report import table_figures, tables

    with counting("climbing", okada_map.climb_count(size)) as done:
        result = okada_map.run_map(size, **chosen, on_done=done)
    records = [point.record() for point in result.points]
    written = [
        write_csv(folder / "map.csv", list(records[0]), (list(record.values()) for record in records)),
        write_figure(folder / "map.png", table_figures.draw_map(result)),
    ]
    show(tables.map_table(result), result.summary(), as_json)
    say_written(*written)


@reproduce.command("turning")
@command
def turning_rates(out: OutFolder = None, as_json: JsonFlag = False) -> None:
    """Turning rates on the spot against the closed form for uniform-pressure tracks."""
    from segtrack.report import table_figures, tables

    folder = results_folder(out, "turning")
    with counting("turning", len(turning.GAUGES)) as done:
        cases = turning.measure_turning(on_case=done)
    summary = {"cases": [{**vars(case), "ratio": case.ratio} for case in cases]}
    written = [
        write_json(folder / "turning.json", summary),
        write_figure(folder / "turning.png", table_figures.draw_turning(cases)),
    ]
    show(tables.turning_table(cases), summary, as_json)
    say_written(*written)


@reproduce.command("segments-vs-chain")
@command
def both_models(out: OutFolder = None, as_json: JsonFlag = False) -> None:
    """Segments and a link chain on flat ground, slope, hitch and Table IV: where they agree, and why not."""
    from segtrack.report import segments_vs_chain_figure, tables

    folder = results_folder(out, "segments-vs-chain")
    with counting("comparing", segments_vs_chain.scene_count()) as done:
        result = segments_vs_chain.run_segments_vs_chain(on_done=done)
    picture = segments_vs_chain_figure.draw_segments_vs_chain(result)
    written = [
        write_json(folder / "segments_vs_chain.json", result.summary()),
        write_figure(folder / "segments_vs_chain.png", picture),
    ]
    show(tables.segments_vs_chain(result), result.summary(), as_json)
    say_written(*written)
