"""Reading a course."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from segtrack.courses.course import Course, Setting, Start, Zone
from segtrack.errors import UnknownNameError
from segtrack.terrain import Plane, StaticBody
from segtrack.terrain.floor import block


def bundled_courses() -> tuple[str, ...]:
    """Names of the courses that come with segtrack."""
    return ("okada-step",)


def load_course(name_or_path: str | Path, setting: float | None = None) -> Course:
    """Read a course."""
    if name_or_path not in bundled_courses():
        raise UnknownNameError("course", name_or_path, bundled_courses())
    raised = Setting("height", "m", (0.12, 0.16, 0.20, 0.24, 0.28), 0.24)
    if setting is not None:
        raised = replace(raised, value=setting)
    height = raised.value
    step = block(1.0, 3.5, -1.2, 1.2, height, height + 0.05)
    return Course(
        name="okada-step",
        title="Step of Okada 2020",
        description="One step up, and back.",
        kind="obstacle",
        terrains=(Plane(), StaticBody(parts=(step,), name="okada-step")),
        start=Start(0.0, 0.0, 0.0),
        gates=(
            Zone(2.5, 0.0, 0.0, 1.6, 2.4, height - 0.1, height + 1.0),
            Zone(0.0, 0.0, 0.0, 0.8, 2.4, -0.5, 1.0),
        ),
        walls=(),
        bounds=Zone(1.25, 0.0, 0.0, 4.9, 2.6),
        lowest=-0.5,
        distance=5.0,
        setting=raised,
        lane_width=2.4,
        vehicle="quince",
        time_limit=None,
        source="",
    )
