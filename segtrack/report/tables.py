"""Terminal tables of a climb, a recorded drive, bundled vehicles and bundled courses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from rich.table import Table

from segtrack.courses import Course
from segtrack.description import VehicleDescription
from segtrack.experiments import ClimbResult
from segtrack.recording import TICK


def climb_table(result: ClimbResult) -> Table:
    """Return outcome, speed and drive of a climb."""
    table = Table(
        title=f"{result.vehicle.name} at a step of {result.setup.step * 1000:.0f} mm", show_header=False
    )
    x, y, z = result.final_position
    rows = {
        "outcome": f"[bold]{result.outcome}[/bold]",
        "simulated": f"{result.duration:.2f} s",
        "real-time factor": f"{result.real_time_factor:.2f}, at least {result.real_time_factor_min:.2f}",
        "largest pitch": f"{math.degrees(result.max_pitch):.1f} deg",
        "final position": f"{x:.3f}, {y:.3f}, {z:.3f} m (step's face at x = 0)",
        "slip": f"{result.slip:.3f}",
        "energy of the drives": f"{result.energy:.1f} J",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def vehicles_table(vehicles: Mapping[str, VehicleDescription]) -> Table:
    """Return a table of the bundled vehicles, a row each."""
    table = Table("vehicle", "tracks", "flippers", "source", title="Bundled vehicles")
    for name, vehicle in vehicles.items():
        table.add_row(
            name, str(len(list(vehicle.mounted_tracks()))), str(len(vehicle.flippers)), vehicle.source
        )
    return table


def courses_table(courses: Mapping[str, Course]) -> Table:
    """Return a table of the bundled courses, a row each."""
    table = Table("course", "what", "kind", "lane [m]", "setting", "for", title="Bundled courses")
    for name, course in courses.items():
        setting = course.setting
        values = "" if setting is None else ", ".join(f"{value:g}" for value in setting.values)
        table.add_row(
            name,
            course.title,
            course.kind,
            "" if course.lane_width is None else f"{course.lane_width:g}",
            "" if setting is None else f"{setting.name}: {values} {setting.unit}",
            course.vehicle or "",
        )
    return table


if TYPE_CHECKING:  # With the extra `station`.
    from segtrack.recording import CheckResult, Recording

_UNITS = {"payload": " kg", "payload_position": " m", "time_step": " s"}


def replay_tables(recording: Recording, result: CheckResult | None) -> list[Table]:
    """Return tables of a recorded drive: setup, events, and the result of simulating it again."""
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
    """Differences between a recorded drive and its repeated simulation."""
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
