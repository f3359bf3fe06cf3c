"""`segtrack log`: recordings of physical robots."""

from __future__ import annotations

import typer

from segtrack.cli.log.compare import compare, report
from segtrack.cli.log.fit import climbs, fit, turns
from segtrack.cli.log.listing import list_reports
from segtrack.cli.log.plan import plan
from segtrack.cli.log.read import inspect, map_file

log = typer.Typer(
    help="Read, map, compare and fit recordings of physical robots.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

log.command()(inspect)
log.command("map")(map_file)
log.command()(compare)
log.command()(report)
log.command("list")(list_reports)
log.command()(plan)
log.command()(climbs)
log.command()(turns)
log.command()(fit)
