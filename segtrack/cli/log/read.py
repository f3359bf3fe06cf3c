"""Commands `segtrack log inspect` and `segtrack log map`: content of a log, and a mapping of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from segtrack.cli.log.options import ConstantsOption, TrialOption, log_path
from segtrack.cli.output import JsonFlag, OutFolder, command, finish, path, results_folder, say_written, words
from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.files import check_file, to_json, write_text


@command
def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            parser=log_path,
            help="CSV, TSV, TUM (also .gz), .mat, .bag, .db3, .mcap, or folder of a ROS 2 bag.",
            show_default=False,
        ),
    ],
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what is in a log: sources with rates, gaps and clocks, channels, and what is damaged."""
    from segtrack.logs.reading import inspect_log, read_log
    from segtrack.report import Outcome
    from segtrack.report.logs import draw_log, inspect_tables

    folder = results_folder(out, f"log-{file.stem}")
    inspection = inspect_log(read_log(file))
    summary = inspection.summary()
    files = {"inspect.png": draw_log(inspection), "inspect.json": summary}
    finish(Outcome(inspect_tables(inspection), summary, files), folder, as_json)


LogFile = Annotated[
    Path | None,
    typer.Argument(parser=log_path, help="CSV, TUM, MATLAB, ROS bag or MCAP.", show_default=False),
]


@command
def map_file(
    file: LogFile = None,
    mapping: Annotated[
        Path | None,
        typer.Option(parser=path, help="Mapping file; without one it is proposed.", show_default=False),
    ] = None,
    constants: ConstantsOption = None,
    trial: TrialOption = None,
    mcap: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            help="MCAP file to write the mapped quantities to, in ROS 2 messages at the log's times: for "
            "PlotJuggler, Rerun or Foxglove.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of mapping files.")] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Propose a mapping file for a log, or check one: quantities, findings, a picture, MCAP of the motion.

    What contradicts physics, the vehicle or the terrain is told, with mapping lines that would explain it;
    contradictions beyond doubt end with exit code 2 until the mapping accepts them with a reason.
    """
    from segtrack.logs.mapping import MappingFile, map_trials, propose
    from segtrack.logs.reading import read_log, write_bag

    if schema:
        typer.echo(json.dumps(MappingFile.model_json_schema(), indent=2))
        return
    if file is None:
        raise InvalidValueError("FILE", "a log, unless --schema is given", Phrase("none"))
    if mcap is not None:
        check_file("--mcap", mcap, (".mcap",))
        if mapping is None:
            raise InvalidValueError("--mcap", "given with --mapping", Phrase("none"))
    if mapping is None:
        for name, value in (("--set", constants), ("--trial", trial)):
            if value:
                raise InvalidValueError(name, "given beside --mapping", value)
        text = propose(read_log(file))
        path = results_folder(out, f"log-{file.stem}") / "mapping.yaml"
        if path.exists():
            raise FileAccessError("write to", path, "is there already: give it as --mapping, or choose --out")
        if as_json:
            typer.echo(to_json({"mapping": text, "todo": text.count("# TODO")}))
        else:
            words().print(text, markup=False, highlight=False, soft_wrap=True)
        say_written(write_text(path, text))
        return
    from segtrack.logs.mapping import check_plausibility, refuse
    from segtrack.report import Outcome
    from segtrack.report.logs import draw_motion, findings_tables, map_tables, split_table

    trials = map_trials(file, mapping, constants=constants or (), trial=trial)
    found = [check_plausibility(mapped) for mapped in trials]
    folder, mapped = results_folder(out, f"log-{file.stem}"), trials[0]
    records = [{**each.record(), "findings": f.record()} for each, f in zip(trials, found, strict=True)]
    several = trial is None and mapped.trial is not None
    if mcap is not None:
        if several:
            raise InvalidValueError("--mcap", "given with --trial", Phrase("none"))
        if mapped.is_steady:
            raise InvalidValueError("--mcap", "given with rows that are times", Phrase("rows: steady"))
        say_written(write_bag(mapped.on_log_clock(), mcap))
    tables = [split_table(trials)] if several else map_tables(mapped)
    tables += [table for each in found for table in findings_tables(each)]
    summary: dict[str, Any] = {"trials": records} if several else records[0]
    picture = {} if several else {"motion.png": draw_motion(mapped.motion, is_steady=mapped.is_steady)}
    finish(Outcome(tables, summary, picture), folder, as_json)
    refuse(found)
