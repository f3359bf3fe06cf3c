"""Terrain, described once: built for Bullet, packed for the native engine, sampled by height scans.

Every kind is a small frozen description in the world frame (x forward, y to
the left, z up), whose flat ground is z = 0. `distance` is the x at which an
obstacle begins; lengths run along x, widths along y.

| module | content |
|---|---|
| `base` | `Terrain`, `FlatGround`, `Obstacle`: solids, and heights that follow from them |
| `blocks`, `fields`, `slopes`, `plane` | obstacles, a class each |
| `surfaces`, `from_pybullet` | ground of your own |
| `solids`, `columns`, `heights` | solids in the world, and their heights |
| `soil`, `checks` | soils; limits of fields |
"""

from segtrack.terrain.base import FlatGround, LevelTop, Obstacle, Outline, Terrain, profile
from segtrack.terrain.blocks import Boxes, ConfinedSpace, GroundBox, Hurdle, KRails, Platform, Stairs, Step
from segtrack.terrain.fields import ContinuousRamps, CrossingRamps, PatternedStepField, StepField
from segtrack.terrain.from_pybullet import from_pybullet
from segtrack.terrain.plane import Gap, Obstacles, Plane, TrapezoidDitch
from segtrack.terrain.slopes import Bed, HalfRound, PlatformGap, Ramp, Ridge, TrapezoidBarrier, Waves
from segtrack.terrain.soil import Soil, find_soil, published_soils
from segtrack.terrain.surfaces import Heightfield, Mesh, StaticBody

__all__ = [
    "Bed",
    "Boxes",
    "ConfinedSpace",
    "ContinuousRamps",
    "CrossingRamps",
    "FlatGround",
    "Gap",
    "GroundBox",
    "HalfRound",
    "Heightfield",
    "Hurdle",
    "KRails",
    "LevelTop",
    "Mesh",
    "Obstacle",
    "Obstacles",
    "Outline",
    "PatternedStepField",
    "Plane",
    "Platform",
    "PlatformGap",
    "Ramp",
    "Ridge",
    "Soil",
    "Stairs",
    "StaticBody",
    "Step",
    "StepField",
    "Terrain",
    "TrapezoidBarrier",
    "TrapezoidDitch",
    "Waves",
    "find_soil",
    "from_pybullet",
    "profile",
    "published_soils",
]
