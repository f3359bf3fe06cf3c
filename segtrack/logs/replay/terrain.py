"""The ground that a log was driven on: a bundled course, a course file, or a file of ground alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from segtrack.content_hash import content_hash
from segtrack.courses import (
    Layout,
    Start,
    Wall,
    build_ground,
    bundled_courses,
    find_course,
    parse_course,
)
from segtrack.courses.file import CourseFile
from segtrack.courses.ground import lay_out
from segtrack.description.file.catalogue import find_description
from segtrack.description.file.check import check_content
from segtrack.description.file.yaml_file import parse_yaml, read_text
from segtrack.errors import CourseFileError, InvalidValueError, TerrainFileError
from segtrack.logs.replay.obstacle import Array, Obstacle, first_rise
from segtrack.terrain import Terrain

_AROUND = 0.5
"""How far before its first piece ground alone is looked at, and beyond its last one [m]."""
_RULES = frozenset(CourseFile.model_fields) - frozenset(Layout.model_fields)
"""Keys by which a file is a course."""


@dataclass(frozen=True, eq=False)
class LoadedTerrain:
    """Ground to replay a log on.

    Attributes:
        name: Of the bundled course, or of the file without its ending.
        terrains: What `World.add_terrain` takes, the floor first.
        start: Where a vehicle starts whose log has no place: a course's start; else the world's origin.
        obstacle: The first rise along +x from the start of a course, walls left out; of ground alone the
            first one there is along y = 0. None on level ground.
        setting: Value of what a course raises; None where there is nothing to raise.
        text: YAML that it was made of.
        sha256: Of what the text says of the ground, the start and the setting where there is one; comments,
            names of pieces and a course's rules are no part of it.
        setting_unit: Of the setting; empty where there is none.
    """

    name: str
    terrains: tuple[Terrain, ...]
    start: Start
    obstacle: Obstacle | None
    setting: float | None
    text: str
    sha256: str
    setting_unit: str = ""


def load_terrain(name_or_path: str | Path, setting: float | None = None) -> LoadedTerrain:
    """Read and check a terrain.

    Args:
        name_or_path: Name of a bundled course, or path of a YAML file: a course, or `friction`, `soil`,
            `lanes` and `terrain` alone, as in a course.
        setting: Value of what a course raises; its own if not given.

    Raises:
        UnknownNameError: No such bundled course.
        FileAccessError: The file cannot be read.
        TerrainFileError: The file has mistakes; all of them are listed.
        InvalidValueError: A setting for what has none, or one that is not finite.
    """
    bundled = {name: find_course(name) for name in bundled_courses()}
    path = find_description("terrain", name_or_path, bundled)
    return parse_terrain(read_text(path), path.stem, setting, path.name)


def parse_terrain(
    text: str, name: str, setting: float | None = None, file: str | None = None
) -> LoadedTerrain:
    """Read and check the text of a terrain, as `LoadedTerrain.text` holds it.

    Args:
        text: YAML.
        name: Of the terrain.
        setting: See `load_terrain`.
        file: Name of the file, for messages; the terrain's if not given.

    Raises:
        TerrainFileError: The text has mistakes; all of them are listed.
        InvalidValueError: See `load_terrain`.
    """
    file = name if file is None else file
    content = parse_yaml(text, file, TerrainFileError)
    if _is_course(content.data):
        try:
            course = parse_course(text, name, setting, file)
        except CourseFileError as error:
            raise TerrainFileError(error.file, error.problems) from None
        value, unit = (None, "") if course.setting is None else (course.setting.value, course.setting.unit)
        end = course.bounds.x + course.bounds.length / 2
        obstacle = _obstacle(course.terrains, course.walls, course.start.x, end, course.start.y)
        hashed = _hash(content.data, value)
        return LoadedTerrain(name, course.terrains, course.start, obstacle, value, text, hashed, unit)
    if setting is not None:
        raise InvalidValueError(f"setting of terrain {name}", "left out: it has none", setting)
    layout = check_content(Layout, content, file, Path("."), TerrainFileError)
    site, terrains = lay_out(layout), build_ground(layout, name)
    if problems := list(site.problems()):
        raise TerrainFileError(file, problems)
    corners = [x for piece in site.pieces for x, _ in piece.corners()]
    begin, end = min(corners, default=0.0) - _AROUND, max(corners, default=0.0) + _AROUND
    obstacle = _obstacle(terrains, site.walls, begin, end, 0.0)
    return LoadedTerrain(
        name, terrains, Start(0.0, 0.0, 0.0), obstacle, None, text, _hash(content.data, None)
    )


def _hash(data: Any, setting: float | None) -> str:
    """Of the ground that a file's data lay out, where a vehicle starts on it, and at what setting."""
    ground = {key: data.get(key, field.default) for key, field in Layout.model_fields.items()}
    return content_hash(_unnamed(ground | {"start": data.get("start"), "setting": setting}))


def _unnamed(part: Any) -> Any:
    """A part of a file's data without the names of pieces."""
    if isinstance(part, dict):
        return {key: _unnamed(value) for key, value in part.items() if key != "name"}
    return [_unnamed(inner) for inner in part] if isinstance(part, list | tuple) else part


def _is_course(data: Any) -> bool:
    return isinstance(data, dict) and not _RULES.isdisjoint(data)


def _obstacle(
    terrains: Sequence[Terrain], walls: Sequence[Wall], begin: float, end: float, y: float
) -> Obstacle | None:
    """The first rise at world y from one world x to another [m]."""
    # Walls, which stand around what is driven on, are one terrain, the last one.
    driven_on = terrains[:-1] if walls else terrains

    def height_at(x: Array) -> Array:
        return np.max([terrain.height_at(x, y) for terrain in driven_on], axis=0)

    return first_rise(height_at, begin, end)
