"""Commands `segtrack log climbs`, `turns` and `fit`: trials simulated, and parameters fitted to logs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from segtrack.cli.log.options import SimulationOptions, VehicleOption, simulation_command
from segtrack.cli.output import (
    Jobs,
    JsonFlag,
    OutFolder,
    command,
    counting,
    finish,
    progress,
    results_folder,
    say_written,
    words,
)
from segtrack.errors import InvalidValueError, Phrase

EXAMPLE_CLIMBS, EXAMPLE_TURNS = "okada", "maxxii"


@simulation_command
def climbs(
    options: SimulationOptions,
    table: Annotated[
        str, typer.Argument(help="CSV or YAML file of trials, or the name of a bundled table.")
    ] = EXAMPLE_CLIMBS,
    vehicle: Annotated[
        str | None,
        typer.Option(help="Bundled vehicle or vehicle file, of trials that name none.", show_default=False),
    ] = None,
    uncertain: Annotated[
        str | None,
        typer.Option(
            help="Standard deviations over the table's, as friction=0.05,height=0.002.", show_default=False
        ),
    ] = None,
) -> None:
    """Simulate trials at steps: which end as the robot's, which are undecided, how high it climbs.

    Columns: height [m], outcome (climbed or failed); front_flippers_deg, rear_flippers_deg, speed [m/s],
    friction, vehicle and another simulation's outcome (simulation) if they are known.
    """
    from segtrack.logs.compare import (
        CLIMB_INPUTS,
        ClimbsInterrupted,
        load_climbs,
        parse_stds,
        plan_climbs,
        run_climbs,
    )
    from segtrack.report import Outcome
    from segtrack.report.logs import climbs_tables, draw_climbs

    stds = {} if uncertain is None else parse_stds("--uncertain", uncertain, CLIMB_INPUTS)
    trials = load_climbs(table)
    plan = plan_climbs(
        trials,
        vehicle,
        stds,
        engine=options.engine,  # type: ignore[arg-type]
        track_model=options.track_model,
    )
    folder = options.folder(f"climbs-{Path(table).stem}")
    try:
        with counting("climbing", plan.job_count) as done:
            result = run_climbs(plan, options.jobs, done)
    except ClimbsInterrupted as stop:
        result = stop.result
    summary = result.summary()
    files: dict[str, Any] = {"climbs.json": summary}
    if result.trials:
        files["climbs.png"] = draw_climbs(result)
    asked = len(result.table.trials)
    ended = "" if result.finished else f"interrupted: {len(result.trials)} of {asked} trials are done"
    finish(Outcome(climbs_tables(result), summary, files, interrupted=ended), folder, options.as_json)


@command
def turns(
    log: Annotated[str, typer.Argument(help="The table, or maxxii, which is bundled.")] = EXAMPLE_TURNS,
    mapping: Annotated[
        Path | None,
        typer.Option(help="Mapping file with rows: steady; the bundled table's own.", show_default=False),
    ] = None,
    vehicle: VehicleOption = None,
    track_model: Annotated[
        list[str], typer.Option(help="What drives, or uniform pressure (planar friction); may be repeated.")
    ] = ["uniform pressure", "compliant"],  # noqa: B006
    jobs: Jobs = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare a table of steady turns, a row each and no time, with the same belts simulated."""
    from segtrack.description import load_vehicle
    from segtrack.engine import resolve
    from segtrack.logs.fit import DATA, UNIFORM, compare_turns, part_count, simulate_table
    from segtrack.logs.mapping import SteadyTable, check_plausibility, map_file, refuse
    from segtrack.report import Outcome
    from segtrack.report.logs import draw_turns, turns_table

    bundled = log == EXAMPLE_TURNS and mapping is None
    if mapping is None and not bundled:
        raise InvalidValueError("--mapping", "given with a table of your own", Phrase("none"))
    table_file = DATA / "maxxii_indoor.csv" if bundled else log
    mapped = map_file(table_file, mapping or DATA / "maxxii_indoor.yaml", vehicle)
    chosen = mapped.mapping.file
    if not mapped.is_steady:
        raise InvalidValueError(f"rows of mapping {mapped.mapping.name}", "steady", chosen.rows)
    if chosen.vehicle is None:
        raise InvalidValueError("vehicle", "given by --vehicle or the mapping", Phrase("none"))
    for model in track_model:
        if model != UNIFORM:
            resolve(None, model)
    found = check_plausibility(mapped)
    refuse([found])
    description, table = load_vehicle(chosen.vehicle), SteadyTable.of(mapped.motion)
    folder = results_folder(out, f"turns-{Path(log).stem}")
    for note in (*mapped.notes, *found.notes):
        words().print(note, markup=False, highlight=False)
    with counting("turning", part_count(table) * len(track_model)) as done:
        simulated = [simulate_table(description, table, m, workers=jobs, on_part=done) for m in track_model]
        comparisons = [compare_turns(table, driven, description) for driven in simulated]
    summary = {
        "comparisons": [comparison.summary() for comparison in comparisons],
        "findings": found.record(),
    }
    files = {"turns.json": summary, "turns.png": draw_turns(comparisons)}
    finish(Outcome([turns_table(comparison) for comparison in comparisons], summary, files), folder, as_json)


Resume = Annotated[bool, typer.Option("--resume", help="Go on with the fit in the folder.")]


@command
def fit(
    file: Annotated[str, typer.Argument(help="Fit file, or the name of a bundled one: maxxii.")],
    jobs: Jobs = None,
    resume: Resume = False,
    track_model: Annotated[
        list[str] | None,
        typer.Option(
            help="Track model instead of the file's; several are compared, with their discrepancy.",
            show_default=False,
        ),
    ] = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit parameters of a vehicle to logs, and say what the logs do not determine.

    A fit file names logs with their mappings, what is compared, what is fitted, and what is held out. Ctrl-C
    keeps the best so far; --resume goes on from there to the same end.
    """
    from segtrack.experiments import Workers
    from segtrack.logs.fit import FILE as STATE
    from segtrack.logs.fit import find_fit, load_study
    from segtrack.report.logs import fit_outcome, models_outcome

    path, models = find_fit(file), list(dict.fromkeys(track_model or ()))
    studies = [load_study(path, model) for model in models] or [load_study(path)]
    for note in studies[0].notes:
        words().print(note, markup=False, highlight=False)
    folder, fits = results_folder(out, f"fit-{path.stem}"), dict[str, Any]()
    with Workers(jobs) as pool, progress("fitting", float(len(studies))) as advance:
        for k, study in enumerate(studies):
            own = folder / study.track_model if len(studies) > 1 else folder
            begun = resume and (k == 0 or (own / STATE).is_file())  # Ctrl-C may have come before a later one.
            found = study.run(pool=pool, folder=own, resume=begun, on_share=partial(_note, advance, k))
            say_written(study.write(found, own))
            fits[study.track_model] = found
            if not found.finished:
                break
    if len(studies) == 1 or not found.finished:
        finish(fit_outcome(found), own, as_json)
        return
    finish(models_outcome(fits), folder, as_json)


def _note(advance: Callable[[float], object], done: int, share: float) -> None:
    advance(done + share)
