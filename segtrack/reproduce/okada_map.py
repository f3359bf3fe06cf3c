"""Map of Table IV's matches over the parameters that Okada et al. 2020 do not give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from segtrack.description import load_vehicle
from segtrack.engine import EngineName, resolve
from segtrack.errors import UnknownNameError
from segtrack.experiments import (
    REAR_FLIPPERS_DEG,
    ClimbSetup,
    run_parallel,
    with_center_of_mass,
    with_contact,
)
from segtrack.reproduce.okada_cases import TABLE_4, VEHICLE, case_setup, climbs
from segtrack.world import World

CONTACT_MASS = 1.0
"""Mass that a contact point is damped critically for [kg]: 33 kg on some thirty points."""


@dataclass(frozen=True)
class MapGrid:
    """Grid of parameter values.

    Attributes:
        rear_sub_track_deg: Angles of the rear sub-tracks [deg].
        center_of_mass_x: Values of the body's centre of mass x in its frame [m].
        stiffness: Values of each contact point's stiffness [N/m]; None for rigid contact.
    """

    rear_sub_track_deg: tuple[float, ...]
    center_of_mass_x: tuple[float, ...]
    stiffness: tuple[float | None, ...]


GRIDS = {
    "full": MapGrid((0.0, 4.0, 5.0, 6.0, 8.0, 12.0), (-0.07, -0.05, -0.03, -0.01), (None, 5e4, 2e4)),
    "small": MapGrid((5.0,), (-0.05, 0.0), (None,)),
}
"""Maps by name: `full` for docs/topics/experiments.md, `small` to see that it works."""


@dataclass(frozen=True)
class MapPoint:
    """One point of the map: a configuration, with its outcomes.

    Attributes:
        rear_sub_track_deg: Angle of the rear sub-tracks [deg].
        center_of_mass_x: Body's centre of mass x in its frame [m].
        stiffness: Stiffness of each contact point [N/m]; None for rigid contact.
        successes: True for each case of Table IV that succeeded.
    """

    rear_sub_track_deg: float
    center_of_mass_x: float
    stiffness: float | None
    successes: tuple[bool, ...]

    @property
    def matches(self) -> int:
        """Number of cases with the physical robot's outcome."""
        return sum(success == line.real for success, line in zip(self.successes, TABLE_4, strict=True))

    def record(self) -> dict[str, object]:
        """Return a dict of plain values, by their names in files."""
        cases = {
            f"climbed_{line.front_sub_track_deg:g}deg_{line.step:g}m": success
            for line, success in zip(TABLE_4, self.successes, strict=True)
        }
        return {
            "rear_sub_track_deg": self.rear_sub_track_deg,
            "center_of_mass_x": self.center_of_mass_x,
            "contact_stiffness": self.stiffness,
            "matches": self.matches,
            **cases,
        }


@dataclass(frozen=True)
class Table4Map:
    """Map of Table IV's matches over a grid.

    Attributes:
        grid: Grid of the points.
        engine: Name of the engine.
        track_model: Name of the track model.
        preset: Preset of the engine; None for its default.
        points: Points, in the order of the grid: by stiffness, then angle, then centre of mass.
        chosen: Rear sub-track angle [deg] and centre of mass x [m] of the bundled vehicle.
    """

    grid: MapGrid
    engine: EngineName
    track_model: str
    preset: str | None
    points: tuple[MapPoint, ...]
    chosen: tuple[float, float]

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        matches = [point.matches for point in self.points]
        return {
            "vehicle": VEHICLE,
            "engine": self.engine,
            "track_model": self.track_model,
            "preset": self.preset,
            "points": [point.record() for point in self.points],
            "best": max(matches),
            "all_match": matches.count(len(TABLE_4)),
        }


def critical_damping(stiffness: float | None) -> float | None:
    """Critical damping of a contact point [N s/m] for its stiffness [N/m] and `CONTACT_MASS`."""
    return None if stiffness is None else 2.0 * math.sqrt(stiffness * CONTACT_MASS)


def run_map(
    size: str = "full",
    *,
    preset: str | None = None,
    engine: EngineName | None = None,
    track_model: str | None = None,
    on_done: Callable[[], object] | None = None,
) -> Table4Map:
    """Simulate all six cases at every point of a grid, in parallel.

    Args:
        size: Name of a grid in `GRIDS`.
        preset: Preset of the engine; by default PyBullet's `fast`, or another engine's own.
        engine: Name of the engine; by default one that runs the track model.
        track_model: Name of the track model; by default the engine's own.
        on_done: Function called after each climb, `climb_count(size)` times.

    Raises:
        UnknownNameError: No such grid, engine, track model or preset.
        InvalidValueError: The engine does not run the track model.
    """
    grid = map_grid(size)
    engine, track_model = resolve(engine, track_model)
    if preset is None and engine == "pybullet":
        preset = "fast"
    World(preset, engine=engine).close()  # Refuses a preset before there are processes.
    chosen: dict[str, Any] = {"preset": preset, "engine": engine, "track_model": track_model}
    setups = [setup for point in _points(grid) for setup in _setups(*point, chosen)]
    results = run_parallel(climbs, setups, on_done=on_done)
    cases = len(TABLE_4)
    points = tuple(
        MapPoint(angle, x, stiffness, tuple(results[i * cases : (i + 1) * cases]))
        for i, (stiffness, angle, x) in enumerate(_points(grid))
    )
    centre = load_vehicle(VEHICLE).body.center_of_mass[0]
    return Table4Map(grid, engine, track_model, preset, points, (REAR_FLIPPERS_DEG, centre))


def map_grid(size: str) -> MapGrid:
    """Return the grid with a name, one of `GRIDS`.

    Raises:
        UnknownNameError: No such grid.
    """
    if size not in GRIDS:
        raise UnknownNameError("map size", size, GRIDS)
    return GRIDS[size]


def climb_count(size: str) -> int:
    """Return the number of climbs of a map."""
    return len(_points(map_grid(size))) * len(TABLE_4)


def _points(grid: MapGrid) -> list[tuple[float | None, float, float]]:
    return list(itertools.product(grid.stiffness, grid.rear_sub_track_deg, grid.center_of_mass_x))


def _setups(stiffness: float | None, angle_deg: float, x: float, chosen: dict[str, Any]) -> list[ClimbSetup]:
    vehicle = with_center_of_mass(load_vehicle(VEHICLE), x)
    vehicle = with_contact(vehicle, stiffness, critical_damping(stiffness))
    rear = math.radians(angle_deg)
    return [case_setup(line, vehicle=vehicle, rear_flippers=rear, **chosen) for line in TABLE_4]
