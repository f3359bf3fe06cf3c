"""Terrains of logs: courses or files of ground alone, and the first rise along +x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import (
    CourseFile,
    Layout,
    Start,
    Wall,
    build_ground,
    bundled_courses,
    find_course,
    lay_out,
    parse_course,
)
from segtrack.description import check_content, find_description, parse_yaml, read_text
from segtrack.errors import CourseFileError, InvalidValueError, TerrainFileError
from segtrack.files import content_hash
from segtrack.terrain import Terrain

_SPACING = 0.005
"""Distance of the places at which ground is looked for; faces between them are found by bisection [m]."""
_LEVEL = 1e-6
"""Ground that rises by less is level: rounding [m]."""
_HALVINGS = 40
"""After which a face is known to rounding."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rise:
    """The first rise of the ground along +x.

    Attributes:
        x: World x at which it begins: a step's face, a ramp's foot [m].
        height: Height of the rise: a step's, or a ramp's to its top [m].
        outline_x: World x of the ground from there on, ascending (n,) [m].
        outline_z: Height of the rise there, above the ground before it (n,) [m].
    """

    x: float
    height: float
    outline_x: Array
    outline_z: Array

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.outline_x, self.outline_z):
            array.setflags(write=False)

    def distance(self, points: Array) -> float:
        """Distance that points can go along +x until one meets the ground; negative if one is past it [m].

        Args:
            points: x in the world and height above the ground before the rise (n, 2) [m]; those on that
                ground and those above all of the rise meet nothing.

        Returns:
            Infinity if none meets it.
        """
        x, z = points[(points[:, 1] > _LEVEL) & (points[:, 1] <= self.outline_z[-1])].T
        there = np.searchsorted(self.outline_z, z)
        before = np.maximum(there - 1, 0)
        low, high = self.outline_z[before], self.outline_z[there]
        share = np.where(high > low, (z - low) / np.where(high > low, high - low, 1.0), 1.0)
        faces = self.outline_x[before] + share * (self.outline_x[there] - self.outline_x[before])
        return float(np.min(faces - x, initial=np.inf))


def first_rise(height_at: Callable[[Array], Array], begin: float, end: float) -> Rise | None:
    """Look along +x for the first rise of the ground.

    Args:
        height_at: Height of the ground at world x (n,) [m].
        begin: World x from which to look [m].
        end: World x up to which to look [m].

    Returns:
        None where the ground only falls or stays level.
    """
    even = np.linspace(begin, end, 2 + int((end - begin) / _SPACING))
    x = np.unique(np.concatenate([even, _faces(height_at, even)]))
    z = height_at(x)
    z = z - z[0]
    rising = np.flatnonzero(z > _LEVEL)
    if not len(rising):
        return None
    foot = int(rising[0]) - 1
    x[foot] = _bisect(height_at, x[foot : foot + 1], x[foot + 1 : foot + 2], height_at(x[:1]) + _LEVEL)[0][0]
    falls = np.flatnonzero(np.diff(z[foot:]) <= 0.0)
    top = foot + int(falls[falls > 0][0]) if (falls > 0).any() else len(z) - 1
    return Rise(float(x[foot]), float(z[top]), x[foot:], np.maximum.accumulate(z[foot:]))


def _faces(height_at: Callable[[Array], Array], x: Array) -> Array:
    """World x just before and just behind each face between places x (n,) [m]."""
    z = height_at(x)
    steep = np.flatnonzero(np.abs(np.diff(z)) > _SPACING / 2)
    return np.concatenate(_bisect(height_at, x[steep], x[steep + 1], (z[steep] + z[steep + 1]) / 2))


def _bisect(
    height_at: Callable[[Array], Array], low: Array, high: Array, level: Array
) -> tuple[Array, Array]:
    """World x just before and just behind where the ground passes levels (n,), between places (n,) [m]."""
    upwards = height_at(high) >= level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        behind = (height_at(middle) >= level) == upwards
        low, high = np.where(behind, low, middle), np.where(behind, middle, high)
    return low, high


_AROUND = 0.5
"""Distance before its first piece and beyond its last one in which ground alone is looked at [m]."""
_RULES = frozenset(CourseFile.model_fields) - frozenset(Layout.model_fields)
"""Keys by which a file is a course."""


@dataclass(frozen=True, eq=False)
class LoadedTerrain:
    """Ground to replay a log on.

    Attributes:
        name: Name of the bundled course, or of the file without its ending.
        terrains: Terrains for `World.add_terrain`, the floor first.
        start: Start of a vehicle whose log has no place: a course's start; else the world's origin.
        obstacle: The first rise along +x from the start of a course, walls left out; of ground alone the
            first one there is along y = 0. None on level ground.
        setting: Value of what a course raises; None where there is nothing to raise.
        text: YAML that it was made of.
        sha256: Hash of the ground, the start and the setting where there is one; comments,
            names of pieces and a course's rules are no part of it.
        setting_unit: Unit of the setting; empty where there is none.
        walls: Boxes that stand around what is driven on; they are the last one of the terrains.
    """

    name: str
    terrains: tuple[Terrain, ...]
    start: Start
    obstacle: Rise | None
    setting: float | None
    text: str
    sha256: str
    setting_unit: str = ""
    walls: tuple[Wall, ...] = ()

    @property
    def driven_on(self) -> tuple[Terrain, ...]:
        """Terrains without the walls."""
        return _without_walls(self.terrains, self.walls)


def _without_walls(terrains: Sequence[Terrain], walls: Sequence[Wall]) -> tuple[Terrain, ...]:
    """Terrains without the last one where that is the walls."""
    return tuple(terrains[:-1] if walls else terrains)


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
        name: Name of the terrain.
        setting: See `load_terrain`.
        file: Name of the file, for messages; the terrain's if not given.

    Raises:
        TerrainFileError: The text has mistakes; all of them are listed.
        InvalidValueError: See `load_terrain`.
    """
    file = name if file is None else file
    content = parse_yaml(text, file, TerrainFileError)
    if isinstance(content.data, dict) and not _RULES.isdisjoint(content.data):
        try:
            course = parse_course(text, name, setting, file)
        except CourseFileError as error:
            raise TerrainFileError(error.file, error.problems) from None
        value, unit = (None, "") if course.setting is None else (course.setting.value, course.setting.unit)
        end = course.bounds.x + course.bounds.length / 2
        obstacle = _obstacle(course.terrains, course.walls, course.start.x, end, course.start.y)
        hashed = _hash(content.data, value)
        ground, walls = course.terrains, course.walls
        return LoadedTerrain(name, ground, course.start, obstacle, value, text, hashed, unit, walls)
    if setting is not None:
        raise InvalidValueError(f"setting of terrain {name}", "left out: it has none", setting)
    layout = check_content(Layout, content, file, Path("."), TerrainFileError)
    site, terrains = lay_out(layout), build_ground(layout, name)
    if problems := list(site.problems()):
        raise TerrainFileError(file, problems)
    corners = [x for piece in site.pieces for x, _ in piece.corners()]
    begin, end = min(corners, default=0.0) - _AROUND, max(corners, default=0.0) + _AROUND
    obstacle = _obstacle(terrains, site.walls, begin, end, 0.0)
    hashed = _hash(content.data, None)
    return LoadedTerrain(
        name, terrains, Start(0.0, 0.0, 0.0), obstacle, None, text, hashed, walls=tuple(site.walls)
    )


def _hash(data: Any, setting: float | None) -> str:
    """Hash of a file's ground, of the start on it, and of the setting."""
    ground = {key: data.get(key, field.default) for key, field in Layout.model_fields.items()}
    return content_hash(_unnamed(ground | {"start": data.get("start"), "setting": setting}))


def _unnamed(part: Any) -> Any:
    """A part of a file's data without the names of pieces."""
    if isinstance(part, dict):
        return {key: _unnamed(value) for key, value in part.items() if key != "name"}
    return [_unnamed(inner) for inner in part] if isinstance(part, list | tuple) else part


def _obstacle(
    terrains: Sequence[Terrain], walls: Sequence[Wall], begin: float, end: float, y: float
) -> Rise | None:
    """The first rise at world y from one world x to another [m]."""
    driven_on = _without_walls(terrains, walls)

    def height_at(x: Array) -> Array:
        return np.max([terrain.height_at(x, y) for terrain in driven_on], axis=0)

    return first_rise(height_at, begin, end)
