"""What there is to see, as the page takes it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from segtrack.courses import Course
from segtrack.rendering.ground import ground_mesh
from segtrack.rendering.look import OnLink, Part, VehicleLook


def course_json(course: Course) -> dict[str, Any]:
    """A course's gates, walls and words; what is infinite is null."""
    setting = course.setting
    return {
        "name": course.name,
        "title": course.title,
        "description": course.description,
        "kind": course.kind,
        "start": asdict(course.start),
        "gates": [_finite(asdict(gate)) for gate in course.gates],
        "walls": [asdict(wall) for wall in course.walls],
        "bounds": _finite(asdict(course.bounds)),
        "setting": None if setting is None else asdict(setting),
        "lane_width": course.lane_width,
    }


def ground_json(course: Course) -> dict[str, str]:
    """The course's ground, as a look's meshes are."""
    part = Part(ground_mesh(course.terrains), OnLink(0))
    ground: dict[str, str] = VehicleLook("ground", ("ground",), (), 0, (part,)).as_json()["parts"][0]["mesh"]
    return ground


def _finite(values: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
