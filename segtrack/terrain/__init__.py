"""Terrain, described once: built for Bullet, sampled by the link chain and by height scans.

Every kind is a small frozen description in the world frame (x forward, y to
the left, z up), whose flat ground is z = 0. `distance` is the x at which an
obstacle begins; lengths run along x, widths along y.
"""

from segtrack.terrain.base import Terrain
from segtrack.terrain.boxes import Boxes, GroundBox
from segtrack.terrain.from_pybullet import from_pybullet
from segtrack.terrain.gap import Gap
from segtrack.terrain.half_round import HalfRound
from segtrack.terrain.heightfield import Heightfield
from segtrack.terrain.mesh import Mesh
from segtrack.terrain.outline import Outline, profile
from segtrack.terrain.plane import Plane
from segtrack.terrain.ramp import Ramp
from segtrack.terrain.ridge import Ridge
from segtrack.terrain.soil import Soil, find_soil, published_soils
from segtrack.terrain.stairs import Stairs
from segtrack.terrain.static_body import StaticBody
from segtrack.terrain.step import Step
from segtrack.terrain.step_field import StepField
from segtrack.terrain.trapezoid import TrapezoidBarrier, TrapezoidDitch
from segtrack.terrain.waves import Waves

__all__ = [
    "Boxes",
    "Gap",
    "GroundBox",
    "HalfRound",
    "Heightfield",
    "Mesh",
    "Outline",
    "Plane",
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
    "published_soils",
    "profile",
]
