"""A recorded drive as tables for the terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.table import Table

from segtrack.recording.setup import TICK

if TYPE_CHECKING:  # With the extra `station`.
    from segtrack.recording.recording import Recording
    from segtrack.recording.replay import CheckResult

_UNITS = {"payload": " kg", "payload_position": " m", "time_step": " s"}


def replay_tables(recording: Recording, result: CheckResult | None) -> list[Table]:
    """Table of a recorded drive: what was driven, its events, and the result of simulating it again."""
    drive = Table("drive", "", title=recording.path.name)
    for name, value in recording.setup.as_json().items():
        if value is not None:
            drive.add_row(name.replace("_", " "), f"{value}{_UNITS.get(name, '')}")
    drive.add_row("recorded", f"{datetime.fromtimestamp(recording.began):%Y-%m-%d %H:%M:%S}")
    by_clock = recording.ended - recording.began
    drive.add_row("duration", f"{recording.duration:.2f} s, {by_clock:.2f} s by the clock")
    restarts = sum(item.command is None for item in recording.inputs)
    drive.add_row("commands", f"{len(recording.inputs) - restarts}, and {restarts} restarts")
    if recording.damaged is not None:
        drive.add_row("damaged", recording.damaged)
    tables = [drive]
    if recording.events:
        events = Table("time [s]", "event", "")
        for event in recording.events:
            details = ", ".join(f"{name} {value}" for name, value in event.details.items())
            events.add_row(f"{event.tick * TICK:.2f}", event.kind, details)
        tables.append(events)
    if result is not None:
        tables.append(_check_table(result))
    return tables


def _check_table(result: CheckResult) -> Table:
    found = result.difference
    said = "all equal to the bit" if found is None else "of which the last differs"
    table = Table("simulated again", f"{result.states} states, {said}")
    if found is not None:
        table.add_row("first difference", f"{found.name} at {found.time:.2f} s")
        table.add_row("recorded", repr(found.recorded))
        table.add_row("now", repr(found.simulated))
    for name, (then, now) in result.other_versions.items():
        table.add_row(f"{name} then, now", f"{then}, {now}")
    return table
