"""`segtrack reproduce`: the paper's tables, a closed form, and two track models side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from segtrack.cli.options import EngineChoice, Preset, TrackModel
from segtrack.cli.output import (
    JsonFlag,
    OutFolder,
    command,
    counting,
    numbers,
    progress,
    results_folder,
    say_written,
    show,
    words,
)
from segtrack.experiments import segments_vs_chain, speed
from segtrack.experiments.okada import band, step_map, table_2, table_4
from segtrack.experiments.okada.published import TABLE_4
from segtrack.experiments.steady_turns import steering, turning
from segtrack.files import write_csv, write_figure, write_json

reproduce = typer.Typer(help="Reproduce published results.", no_args_is_help=True)


@reproduce.command("okada-table-2")
@command
def okada_table_2(
    rounds: Annotated[int, typer.Option(help="How often each model takes its turn.", min=1)] = table_2.ROUNDS,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Table II of Okada et al. 2020: how fast each track model is, PackBot on flat ground."""
    from segtrack.report import table_figures, tables

    folder = results_folder(out, "okada-table-2")
    with counting("driving", rounds * len(table_2.MODELS)) as done:
        result = table_2.run_table_2(rounds=rounds, on_done=done)
    written = [
        write_json(folder / "table_2.json", result.summary()),
        write_figure(folder / "table_2.png", table_figures.draw_table_2(result)),
    ]
    show(tables.table_2(result), result.summary(), as_json)
    say_written(*written)


@reproduce.command("speed")
@command
def quince_speed(
    rounds: Annotated[int, typer.Option(help="How often each model takes its turn.", min=1)] = speed.ROUNDS,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """How fast Quince is simulated on a 240 mm step and turning, compliant belts over segments."""
    from segtrack.report import table_figures, tables

    folder = results_folder(out, "speed")
    with counting("driving", rounds * len(speed.SCENES) * len(speed.RACERS)) as done:
        result = speed.measure_speed(rounds, done)
    written = [
        write_json(folder / "speed.json", result.summary()),
        write_figure(folder / "speed.png", table_figures.draw_speed(result)),
    ]
    show(tables.speed_table(result), result.summary(), as_json)
    say_written(*written)


@reproduce.command("films")
@command
def film_costs(
    rounds: Annotated[int, typer.Option(help="How often each climb takes its turn.", min=1)] = 3,
    view: Annotated[str, typer.Option(help="The films': side, top, oblique or chase.")] = "side",
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """What a film of a climb costs beside the climb, in both engines."""
    from segtrack.experiments import film_cost
    from segtrack.report import tables

    folder = results_folder(out, "films")
    with counting("climbing", rounds * len(film_cost.CLIMBS)) as done:
        costs = film_cost.measure_films(rounds, view, done)  # type: ignore[arg-type]
    summary = {"climbs": [cost.record() for cost in costs]}
    written = write_json(folder / "films.json", summary)
    show(tables.film_table(costs), summary, as_json)
    say_written(written)


@reproduce.command("okada-table-4")
@command
def okada_table_4(
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
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Table IV of Okada et al. 2020: Quince at six steps, beside the physical robot."""
    folder = results_folder(out, "okada-table-4-map" if with_map else "okada-table-4")
    chosen = {"preset": preset, "engine": engine, "track_model": track_model}
    if band:
        _band(folder, as_json)
    elif with_map:
        _map(folder, chosen, map_size, as_json)
    else:
        _six_cases(folder, chosen, as_json)


def _six_cases(folder: Path, chosen: dict[str, Any], as_json: bool) -> None:
    from segtrack.report import table_figures, tables

    with counting("climbing", len(TABLE_4)) as done:
        result = table_4.run_table_4(**chosen, on_done=done)
    written = [
        write_json(folder / "table_4.json", result.summary()),
        write_figure(folder / "table_4.png", table_figures.draw_table_4(result)),
    ]
    show(tables.table_4(result), result.summary(), as_json)
    say_written(*written)


def _band(folder: Path, as_json: bool) -> None:
    from segtrack.report import tables

    with counting("climbing", band.row_count()) as done:
        rows = band.run_band(done)
    records = [row.record() for row in rows]
    written = write_csv(folder / "band.csv", list(records[0]), (list(record.values()) for record in records))
    show(tables.band_table(rows), {"rows": records}, as_json)
    say_written(written)


def _map(folder: Path, chosen: dict[str, Any], size: str, as_json: bool) -> None:
    from segtrack.report import table_figures, tables

    with counting("climbing", step_map.climb_count(size)) as done:
        result = step_map.run_map(size, **chosen, on_done=done)
    records = [point.record() for point in result.points]
    written = [
        write_csv(folder / "map.csv", list(records[0]), (list(record.values()) for record in records)),
        write_figure(folder / "map.png", table_figures.draw_map(result)),
    ]
    show(tables.map_table(result), result.summary(), as_json)
    say_written(*written)


@reproduce.command("turning")
@command
def turning_rates(
    vehicle: Annotated[
        str | None,
        typer.Option(
            help="Bundled vehicle or vehicle file; PackBot with three gauges and Quince.", show_default=False
        ),
    ] = None,
    track_model: Annotated[
        list[str] | None,
        typer.Option(
            help="segments, smooth, wheels:N, plates, chain, compliant or surface; may be repeated.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="native or pybullet; the one that runs each track model.", show_default=False),
    ] = None,
    scene: Annotated[
        list[str], typer.Option(help="spot, slope (15 deg) or arcs (0.5, 1 and 2 m); may be repeated.")
    ] = ["spot"],  # noqa: B006
    speeds: Annotated[str, typer.Option(help="Belt speeds [m/s], with commas.")] = str(steering.SPEED),
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Turning rates against a closed form, and against planar friction under each track model's own loads.

    On the spot they are the vehicle's steering_efficiency, which vehicle files may have.
    """
    from segtrack.report import tables, turning_figure

    folder = results_folder(out, "turning")
    chosen = (vehicle, track_model or turning.TRACK_MODELS, scene, numbers("--speeds", speeds))
    with counting("turning", turning.case_count(*chosen)) as done:
        cases = turning.run_turning(*chosen, engine=engine, on_case=done)  # type: ignore[arg-type]
    summary = {"cases": [case.record() for case in cases]}
    written = [
        write_json(folder / "turning.json", summary),
        write_figure(folder / "turning.png", turning_figure.draw_turning(cases)),
    ]
    show(tables.turning_table(cases), summary, as_json)
    for case in cases if vehicle is not None else ():
        if case.steering_efficiency is not None:
            how = f"{case.vehicle}, {case.rig.track_model}, belts at {case.steered.belts[1]:g} m/s"
            words().print(f"{how}: steering_efficiency: {case.steering_efficiency}", highlight=False)
    say_written(*written)


@reproduce.command("maxxii")
@command
def recorded_turns(
    track_model: Annotated[
        list[str] | None,
        typer.Option(
            help="segments, smooth, wheels:N, plates, chain, compliant or surface; may be repeated.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            help="How many of the 270 turns; all for compliant belts, a tenth for slower track models.",
            min=1,
            show_default=False,
        ),
    ] = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Recorded steady turns of a physical tracked vehicle, driven in simulation; nothing is tuned."""
    from segtrack.logs.steady import maxxii
    from segtrack.report import maxxii_report

    folder = results_folder(out, "maxxii")
    chosen = (track_model or maxxii.TRACK_MODELS, rows)
    with counting("turning", maxxii.part_count(*chosen)) as done:
        results = maxxii.run_maxxii(*chosen, on_part=done)
    summary = {"models": [result.summary() for result in results]}
    written = [
        write_json(folder / "maxxii.json", summary),
        write_figure(folder / "maxxii.png", maxxii_report.draw_maxxii(results)),
    ]
    show(maxxii_report.maxxii_table(results), summary, as_json)
    say_written(*written)


@reproduce.command("log-round-trip")
@command
def log_round_trip(
    seeds: Annotated[int, typer.Option(help="How often the climb is spoilt and recovered.", min=1)] = 100,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """A simulated climb, spoilt as logs are and recovered: clock, mounting, bias and noise of a gyroscope."""
    from segtrack.logs.round_trip import run_round_trip
    from segtrack.report.logs.round_trip_report import draw_round_trip, round_trip_table

    folder = results_folder(out, "log-round-trip")
    with counting("recovering", seeds) as done:
        result = run_round_trip(seeds, on_done=done)
    summary = {"quantities": result.summary()}
    written = [
        write_json(folder / "round_trip.json", summary),
        write_figure(folder / "round_trip.png", draw_round_trip(result)),
    ]
    show(round_trip_table(result), summary, as_json)
    say_written(*written)


@reproduce.command("log-speed")
@command
def log_speed(
    minutes: Annotated[float, typer.Option(help="Length of the log [min].", min=0.01)] = 60.0,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """How fast a log of each kind is read, and compared: 200 Hz, 20 channels."""
    from segtrack.logs.speed import COMPARED, KINDS, measure_log_speed
    from segtrack.report.logs.speed_table import log_speed_table

    folder = results_folder(out, "log-speed")
    with counting("timing", len((*KINDS, COMPARED))) as done:
        rows = measure_log_speed(minutes, done)
    summary = {"rows": [vars(row) for row in rows]}
    written = write_json(folder / "log_speed.json", summary)
    show(log_speed_table(rows), summary, as_json)
    say_written(written)


@reproduce.command("calibration")
@command
def known_calibration(
    logged: Annotated[
        str, typer.Option(help="Track model that makes the logs: compliant, surface or chain.")
    ] = "chain",
    fitted: Annotated[
        str, typer.Option(help="Track model that is fitted: compliant, surface or chain.")
    ] = "compliant",
    seed: Annotated[int, typer.Option(help="Of the logs' noise and of the fit.", min=0)] = 1,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the fit in the folder.")] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Friction, centre of mass and drive lag fitted to simulated climbs, of which the truth is known."""
    from segtrack.cli.log.fit import tell, workers
    from segtrack.logs.fit.proof import run_proof

    folder = results_folder(out, f"calibration-{logged}-{fitted}")
    with workers(jobs, False) as pool, progress("fitting", 1.0) as advance:
        proof = run_proof(
            logged, fitted, seed=seed, pool=pool, folder=folder, resume=resume, on_share=advance
        )
    tell(proof.fit, folder, as_json, truth=proof.truth)


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
