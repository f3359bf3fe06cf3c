"""Commands `segtrack log compare` and `report`: logs beside their simulations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segtrack.cli.log.options import (
    ConstantsOption,
    SimulationOptions,
    TrialOption,
    VehicleOption,
    log_path,
    simulation_command,
)
from segtrack.cli.output import counting, finish, path, say_written
from segtrack.errors import InvalidValueError, MissingPackageError, Phrase
from segtrack.files import check_file

if TYPE_CHECKING:
    from segtrack.logs.compare import Comparison, Stated
    from segtrack.logs.mapping import LoadedTerrain, MappedLog, Plausibility
    from segtrack.logs.replay import Replay
    from segtrack.robot import Motion

MappingFile = Annotated[
    Path, typer.Option(parser=path, help="Mapping file: which channel is which quantity.", show_default=False)
]
TerrainOption = Annotated[
    str | None, typer.Option(help="Bundled course or terrain file; the mapping's.", show_default=False)
]
SettingOption = Annotated[
    float | None,
    typer.Option(help="Value of what the course raises; the mapping's or its own.", show_default=False),
]
UncertainOption = Annotated[
    str | None,
    typer.Option(
        help="Standard deviations: friction=0.05,setting=0.002, or a YAML file of inputs and data.",
        show_default=False,
    ),
]
NumericsOption = Annotated[
    bool, typer.Option(help="Simulate half and a quarter of the time step, for u_num.")
]


def replayed(
    mapped: MappedLog, ground: LoadedTerrain | None, options: SimulationOptions
) -> tuple[MappedLog, Replay]:
    """Simulate a mapped log on a terrain; returns the log with its replay.

    Raises:
        SegtrackError: A file has mistakes, or they do not go together.
    """
    from segtrack.logs.replay import ReplaySettings, replay

    said = mapped.mapping.file
    for what, given in (("vehicle", said.vehicle), ("terrain", ground)):
        if given is None:
            raise InvalidValueError(what, f"given by --{what} or the mapping", Phrase("none"))
    assert said.vehicle is not None and ground is not None
    settings = ReplaySettings(
        said.vehicle,
        ground,
        engine=options.engine,  # type: ignore[arg-type]
        track_model=options.track_model,
        event=said.event if isinstance(said.event, float) else None,
        frame=said.frame,
    )
    return mapped, replay(mapped.motion, settings)


def terrain_of(mapped: MappedLog, terrain: str | None, setting: float | None) -> LoadedTerrain | None:
    """Terrain of a log, the mapping's and at its setting where they are not given; None where neither says.

    Raises:
        SegtrackError: It cannot be loaded.
    """
    from segtrack.logs.mapping import load_terrain

    said = mapped.mapping.file
    ground = terrain if terrain is not None else said.terrain
    raised = said.setting if setting is None and terrain is None else setting
    return None if ground is None else load_terrain(ground, raised)


def checked(logs: Sequence[MappedLog], grounds: Sequence[LoadedTerrain | None]) -> list[Plausibility]:
    """Check logs for contradictions before they are simulated on terrains.

    Raises:
        ImplausibleLogError: Some are beyond doubt.
    """
    from segtrack.logs.mapping import check_plausibility, refuse

    found = [check_plausibility(log, ground) for log, ground in zip(logs, grounds, strict=True)]
    refuse(found)
    return found


@simulation_command
def compare(
    options: SimulationOptions,
    logs: Annotated[
        list[Path],
        typer.Argument(parser=log_path, help="The log; several are repeats, as are trials of one."),
    ],
    mapping: MappingFile,
    trial: TrialOption = None,
    vehicle: VehicleOption = None,
    terrain: TerrainOption = None,
    setting: SettingOption = None,
    constants: ConstantsOption = None,
    uncertain: UncertainOption = None,
    align: Annotated[
        str,
        typer.Option(help="How simulated positions are laid onto logged ones: event, start, se3 or none."),
    ] = "event",
    numerics: NumericsOption = True,
    mcap: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            help="MCAP file to write the log and its simulations to, with topics of each: for Foxglove, "
            "PlotJuggler or Rerun.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Replay a log, and say by how much the simulation errs in each phase, beside how uncertain that is."""
    from segtrack.logs.compare import Stated, check_alignment, load_stated
    from segtrack.logs.mapping import map_trials
    from segtrack.logs.reading import write_bag

    check_alignment(align)
    if mcap is not None:
        check_file("--mcap", mcap, (".mcap",))
    stated = Stated() if uncertain is None else load_stated("--uncertain", uncertain)
    folder = options.folder(f"compare-{logs[0].stem}")
    mapped = [part for log in logs for part in map_trials(log, mapping, vehicle, constants or (), trial)]
    grounds = [terrain_of(part, terrain, setting) for part in mapped]
    for ground in grounds:
        if ground is not None:
            stated.check_terrain(ground)
    if mcap is not None and len(mapped) > 1:
        raise InvalidValueError("--mcap", "given with one log, or --trial", Phrase(f"{len(mapped)} trials"))
    findings = checked(mapped, grounds)
    replays = [replayed(part, ground, options) for part, ground in zip(mapped, grounds, strict=True)]
    comparisons, interrupted = _compare_all(replays, stated, align, numerics, options.jobs)
    _write_results(comparisons, replays, findings, folder, options.as_json, _ended(interrupted))
    if mcap is not None:
        say_written(write_bag(_motions(replays[0][1]), mcap))


def _compare_all(
    replays: Sequence[tuple[MappedLog, Replay]],
    stated: Stated,
    alignment: str,
    refine: bool,
    jobs: int | None,
) -> tuple[list[Comparison], bool]:
    """Comparisons of replays with their logs, and True if Ctrl-C ended the last one before its time."""
    from segtrack.logs.compare import CompareInterrupted, simulation_count
    from segtrack.logs.compare import compare as compare_replay

    comparisons: list[Comparison] = []
    total = sum(simulation_count(replay, stated, refine) for _, replay in replays)
    try:
        with counting("simulating", total) as done:
            for mapped, replay in replays:
                found = compare_replay(
                    replay,
                    stated=stated,
                    clocks=mapped.time_uncertainties,
                    alignment=alignment,  # type: ignore[arg-type]
                    refine=refine,
                    workers=jobs,
                    on_done=done,
                )
                comparisons.append(found)
    except CompareInterrupted as stop:
        return [*comparisons, stop.comparison], True
    return comparisons, False


def _ended(interrupted: bool) -> str:
    return "interrupted: uncertainties are of the simulations that are done" if interrupted else ""


def _write_results(
    comparisons: Sequence[Comparison],
    replays: Sequence[tuple[MappedLog, Replay]],
    findings: Sequence[Plausibility],
    folder: Path,
    as_json: bool,
    ended: str,
) -> None:
    """Print tables, and write everything to a folder."""
    from segtrack.logs.compare import area_rows
    from segtrack.logs.reading import write_csv, write_tum
    from segtrack.report import Outcome
    from segtrack.report.logs import area_table, compare_tables, draw_comparison, findings_tables

    areas = area_rows(comparisons) if len(comparisons) > 1 else ()
    summary = {
        "comparisons": [
            {**comparison.summary(), "findings": found.record()}
            for comparison, found in zip(comparisons, findings, strict=False)  # Fewer after Ctrl-C.
        ],
        "repeats": [row.summary() for row in areas],
    }
    tables = [table for found in findings if found.notes for table in findings_tables(found)[:1]]
    tables += [table for comparison in comparisons for table in compare_tables(comparison)]
    tables += [area_table(areas)] if areas else []
    files: dict[str, Any] = {"compare.json": summary}
    for i, comparison in enumerate(comparisons):
        number = f"-{i + 1}" if len(comparisons) > 1 else ""
        files[f"compare{number}.png"] = draw_comparison(comparison)
        for name, motion in _motions(replays[i][1]).items():
            say_written(write_csv(motion, folder / f"{name}{number}.csv"))
        for name, motion in _poses(comparison).items():
            say_written(write_tum(motion, folder / f"{name}{number}.tum"))
    notes = [f"{mapped.motion.name}: {note}" for mapped, _ in replays for note in mapped.notes]
    notes += [
        f"{comparison.name}, {run.run}: {note}"
        for comparison in comparisons
        for run in comparison.runs.values()
        for note in run.notes
    ]
    finish(Outcome(tables, summary, files, notes, ended), folder, as_json)


def _motions(replay: Replay) -> dict[str, Motion]:
    """The log in the terrain's frame and its simulations, by name."""
    motions = {"logged": replay.logged, "commanded": replay.commanded, "measured": replay.measured}
    return {name: motion for name, motion in motions.items() if motion is not None}


def _poses(comparison: Comparison) -> dict[str, Motion]:
    """Poses that are compared, simulated ones laid onto the log's, by name; for evo."""
    runs = comparison.runs.values()
    logged = [poses for run in runs if (poses := run.logged.poses()) is not None]
    longest = max(logged, key=lambda poses: len(poses.signals["position"].times), default=None)
    found = {"logged": longest, **{str(run.run): run.laid for run in runs}}
    return {} if longest is None else {name: poses for name, poses in found.items() if poses is not None}


@simulation_command
def report(
    options: SimulationOptions,
    log: Annotated[
        Path, typer.Argument(parser=log_path, help="CSV, TUM, MATLAB, ROS bag or MCAP.", show_default=False)
    ],
    mapping: MappingFile,
    trial: TrialOption = None,
    vehicle: VehicleOption = None,
    terrain: TerrainOption = None,
    setting: SettingOption = None,
    constants: ConstantsOption = None,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            help="What was changed on purpose since the vehicle was fitted, in words; it counts where the "
            "files differ, too. Can be given several times.",
            show_default=False,
        ),
    ] = None,
    uncertain: UncertainOption = None,
    numerics: NumericsOption = True,
) -> None:
    """Compare a log with its simulation, and write an HTML page with pictures, tables and maturity level."""
    try:
        import jinja2  # noqa: F401  Before the work begins.
    except ImportError:
        raise MissingPackageError("an HTML report", "jinja2", "logs") from None
    from segtrack.logs.compare import Stated, load_stated
    from segtrack.logs.mapping import map_file
    from segtrack.report import Outcome
    from segtrack.report.logs import gather, report_html, report_summary, report_tables

    if not all(map(str.strip, changed or ())):
        raise InvalidValueError("--changed", "what was changed, in words", "")
    stated = Stated() if uncertain is None else load_stated("--uncertain", uncertain)
    folder = options.folder(f"report-{log.stem}" + ("" if trial is None else f"-{trial}"))
    mapped = map_file(log, mapping, vehicle, constants or (), trial)
    ground = terrain_of(mapped, terrain, setting)
    if ground is not None:
        stated.check_terrain(ground)
    (found,) = checked([mapped], [ground])
    mapped, driven = replayed(mapped, ground, options)
    (comparison,), interrupted = _compare_all([(mapped, driven)], stated, "event", numerics, options.jobs)
    content = gather(mapped, driven, comparison, changed or (), found.findings)
    today = date.today().isoformat()
    summary = report_summary(content, today)
    files = {"report.html": report_html(content, today), "report.json": summary}
    outcome = Outcome(report_tables(content), summary, files, interrupted=_ended(interrupted))
    finish(outcome, folder, options.as_json)
