"""Tables for the terminal: a climb, the bundled vehicles and the bundled courses."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.table import Table

from segtrack.courses import Course
from segtrack.description import VehicleDescription
from segtrack.experiments.climb_result import ClimbResult


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
    """Return the bundled vehicles, a row each."""
    table = Table("vehicle", "tracks", "flippers", "source", title="Bundled vehicles")
    for name, vehicle in vehicles.items():
        table.add_row(
            name, str(len(list(vehicle.mounted_tracks()))), str(len(vehicle.flippers)), vehicle.source
        )
    return table


def courses_table(courses: Mapping[str, Course]) -> Table:
    """Return the bundled courses, a row each."""
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
