"""Link chains on ground of every kind, and on one that is refused."""

from __future__ import annotations

import numpy as np
import pytest
from chain_vehicles import chain_of
from scenes import GRAVITY

import segtrack
from segtrack import terrain
from segtrack.errors import InvalidValueError
from segtrack.geometry import Box

pytestmark = pytest.mark.pybullet


@pytest.mark.parametrize("first", ["mesh", "vehicle"])
def test_an_open_mesh_under_a_chain_is_refused(first: str, tmp_path) -> None:
    file = tmp_path / "slab.obj"
    corners = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 0 -1\n"
    file.write_text(corners + "f 1 2 3\nf 1 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\n")
    mesh = terrain.Mesh(file=file)
    with segtrack.World() as world, pytest.raises(InvalidValueError) as error:
        if first == "mesh":
            world.add_terrain(mesh)
            world.add_vehicle("packbot", track_model="chain", position=(0, 0, 0.1))
        else:
            world.add_vehicle("packbot", track_model="chain", position=(0, 0, 0.1))
            world.add_terrain(mesh)
    assert str(error.value) == (
        "ground must be of analytic solids, heightfields and meshes of closed convex pieces, "
        f"got {file} whose piece 1 of 1 is not"
    )


GROUNDS = [
    terrain.Plane(),
    terrain.Step(height=0.1, distance=0.1),
    terrain.Gap(length=0.3, distance=-0.1),
    terrain.Ramp(slope=0.3, length=1.0, distance=-0.1),
    terrain.Ridge(height=0.1, length=0.8, distance=-0.4),
    terrain.Stairs(riser=0.05, tread=0.2, count=3, distance=-0.1),
    terrain.StepField(max_height=0.05, cell=0.1, rows=12, columns=12, distance=-0.6),
    terrain.TrapezoidBarrier(height=0.1, top_length=0.3, bottom_length=0.6, distance=-0.3),
    terrain.TrapezoidDitch(depth=0.2, top_length=0.3, bottom_length=0.1, distance=-0.15),
    terrain.Waves(heights=(0.02,), lengths=(0.3,), distance=-0.1),
    terrain.HalfRound(radius=0.05, distance=-0.05),
    terrain.Boxes(boxes=(terrain.GroundBox(x=0, y=0, length=0.4, width=1.0, height=0.1, yaw=0.3),)),
    terrain.Heightfield(heights=np.full((5, 5), 0.1), spacing=0.5),
    terrain.StaticBody(parts=(Box((2.0, 2.0, 0.2), (0.0, 0.0, 0.1)),)),
    terrain.Platform(length=2.0, width=2.0, distance=-1.0),
    terrain.PlatformGap(length=0.3, height=0.1, distance=-1.2),
    terrain.PatternedStepField(unit=0.02, distance=-0.6),
    terrain.Hurdle(height=0.05, distance=-0.05),
    terrain.KRails(count=1, height=0.05, distance=-0.3),
    terrain.ConfinedSpace(clearance=3.0, count=1, distance=-0.3),
    terrain.ContinuousRamps(count=2, slope=0.1, distance=-0.6),
    terrain.CrossingRamps(count=2, slope=0.1, distance=-0.6),
    terrain.Bed(length=2.0, distance=-1.0),
    terrain.Obstacles(
        obstacles=(terrain.Step(height=0.1, distance=0.1), terrain.HalfRound(radius=0.05, distance=-0.3))
    ),
]


def test_every_kind_that_has_heights_is_below() -> None:
    kinds = {
        kind
        for kind in (getattr(terrain, name) for name in terrain.__all__)
        if isinstance(kind, type) and issubclass(kind, terrain.Terrain) and kind is not terrain.Terrain
    }
    assert {type(ground) for ground in GROUNDS} == kinds - {
        terrain.Mesh,
        terrain.FlatGround,
        terrain.Obstacle,
    }


QUICK = (
    terrain.Waves,
    terrain.StepField,
    terrain.Heightfield,
    terrain.PlatformGap,
    terrain.HalfRound,
    terrain.StaticBody,
)
"""A kind of each shape that ground is made of."""


@pytest.mark.parametrize(
    "ground",
    [pytest.param(each, marks=[pytest.mark.slow] * (type(each) not in QUICK)) for each in GROUNDS],
    ids=lambda ground: type(ground).__name__,
)
def test_a_chain_stands_on_ground_of_every_kind(ground: terrain.Terrain) -> None:
    """It is carried, and no shoe is deeper in it than what its contact gives by under the whole weight.

    Of the last ground a step lifts the front, and the rear drops by some centimetres onto a half-round.
    """
    with segtrack.World("fast") as world:
        world.add_terrain(ground)
        robot = world.add_vehicle("packbot", track_model="chain")
        carried, deepest = [], robot.mass * GRAVITY / chain_of(robot).design.shoe_contact.stiffness
        deepest *= 1.1 if isinstance(ground, terrain.Obstacles) else 1.0
        for _ in range(25):
            world.step()
            readings = [track.read_chain() for track in robot.tracks.values()]
            carried.append(sum(reading.ground_force.sum() for reading in readings))
            assert max(reading.sinkage.max() for reading in readings) < deepest
        assert max(carried) > 0.3 * robot.mass * GRAVITY
