"""Commands `segtrack log inspect` and `segtrack log map`: content of a log, and a mapping of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.output import JsonFlag, OutFolder, command, finish, results_folder, say_written, words
from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.files import check_file, to_json, write_text


@command
def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, TUM, .mat, .bag, .db3, .mcap, or folder of a ROS 2 bag.", show_default=False
        ),
    ],
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what is in a log: sources with rates, gaps and clocks, channels, and what is damaged."""
    from segtrack.logs.reading import read_log
    from segtrack.logs.reading.inspection import inspect_log
    from segtrack.report.logs.inspect import draw_log, inspect_tables
    from segtrack.report.outcome import Outcome

    folder = results_folder(out, f"log-{file.stem}")
    inspection = inspect_log(read_log(file))
    summary = inspection.summary()
    files = {"inspect.png": draw_log(inspection), "inspect.json": summary}
    finish(Outcome(inspect_tables(inspection), summary, files), folder, as_json)


LogFile = Annotated[
    Path | None, typer.Argument(help="CSV, TUM, MATLAB, ROS bag or MCAP.", show_default=False)
]


@command
def map_file(
    file: LogFile = None,
    mapping: Annotated[
        Path | None, typer.Option(help="Mapping file; without one it is proposed.", show_default=False)
    ] = None,
    mcap: Annotated[
        Path | None,
        typer.Option(
            help="MCAP file to write the mapped quantities to, in ROS 2 messages at the log's times: for "
            "PlotJuggler, Rerun or Foxglove.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of mapping files.")] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Propose a mapping file for a log, or check one: quantities, a picture, MCAP of the motion."""
    from segtrack.logs.mapping import MappingFile, map_file, propose
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
    from segtrack.report.logs.inspect import draw_motion, map_tables
    from segtrack.report.outcome import Outcome

    mapped = map_file(file, mapping)
    folder = results_folder(out, f"log-{file.stem}")
    if mcap is not None:
        if mapped.is_steady:
            raise InvalidValueError("--mcap", "given with rows that are times", Phrase("rows: steady"))
        say_written(write_bag(mapped.on_log_clock(), mcap))
    picture = draw_motion(mapped.motion, is_steady=mapped.is_steady)
    finish(Outcome(map_tables(mapped), mapped.record(), {"motion.png": picture}), folder, as_json)
