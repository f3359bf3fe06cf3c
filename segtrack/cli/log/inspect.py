"""`segtrack log inspect`: what is in a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.output import JsonFlag, OutFolder, command, results_folder, say_written, show
from segtrack.files import write_figure, write_json


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
    from segtrack.report.logs.inspect_figure import draw_log
    from segtrack.report.logs.inspect_tables import inspect_tables

    folder = results_folder(out, f"log-{file.stem}")
    inspection = inspect_log(read_log(file))
    written = [
        write_figure(folder / "inspect.png", draw_log(inspection)),
        write_json(folder / "inspect.json", inspection.summary()),
    ]
    show(inspect_tables(inspection), inspection.summary(), as_json)
    say_written(*written)
