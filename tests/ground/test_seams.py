"""Floors of several solids: what lies inside them carries nothing, and they are driven on like one."""

import math

import numpy as np
import pytest
from quick import some_of
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.geometry import Box
from segtrack.ground import pack_ground
from segtrack.terrain import find_soil

PITCH = 0.2
"""Distance between the middles of tiles [m]."""


def tiles(size=PITCH, offset=(0.0, 0.0), yaw=0.0, reach=5, soil=None, friction=1.0):
    """Square tiles of a size whose tops make up a floor at z = 0, shifted and turned as a whole."""
    turn = Rotation.from_euler("z", yaw)
    steps = PITCH * np.arange(-reach, reach + 1)
    centers = [turn.apply((x + offset[0], y + offset[1], -0.1)) for x in steps for y in steps]
    parts = tuple(Box((size, size, 0.2), tuple(c.tolist()), tuple(turn.as_quat())) for c in centers)
    return terrain.StaticBody(parts=parts, soil=soil, friction=friction)


def one_floor(**given):
    """One box as large as the tiles."""
    return terrain.StaticBody(parts=(Box((2.2, 2.2, 0.2), (0.0, 0.0, -0.1)),), **given)


def turned(floor, engine="native", track_model="compliant", yaw=0.0, speeds=(-0.2, 0.2), time=1.0):
    """Yaw [rad] of a PackBot whose belts run so fast for a time [s], and its place (2,) [m]."""
    with segtrack.World(engine=engine) as world:
        world.add_terrain(floor)
        robot = world.add_vehicle("packbot", track_model=track_model, yaw=yaw)
        robot.set_belt_speed(*speeds)
        world.run(time)
        return robot.state.yaw - yaw, robot.state.position[:2]


# Edges


def free_arc(solids, point, along):
    """Angle around a point of an edge that is in no solid [rad], by 1440 directions; None where it is two."""
    across = np.linalg.svd(along[None])[2][1:]
    angles = np.linspace(0, 2 * math.pi, 1440, endpoint=False)
    places = point + 5e-4 * (np.cos(angles)[:, None] * across[0] + np.sin(angles)[:, None] * across[1])
    free = np.ones(len(angles), dtype=bool)
    for solid in solids:
        free &= ~(np.abs(places - solid.center) < np.array(solid.size) / 2 + 1e-7).all(axis=1)
    arcs = (free & ~np.roll(free, 1)).sum()
    return None if arcs == 2 else free.sum() * 2 * math.pi / len(angles)


@pytest.mark.parametrize("seed", some_of(range(4), 1))
def test_edges_are_exposed_where_the_ground_beside_them_is_convex(seed):
    """Random boxes on a grid of 5 cm: where more than half around an edge is free, and there once."""
    random = np.random.default_rng(seed)
    low = 0.05 * random.integers(0, 6, (9, 3))
    boxes = [
        Box(tuple(size), tuple(start + size / 2))
        for start, size in zip(low, 0.05 * random.integers(1, 5, (9, 3)), strict=True)
    ]
    ground = pack_ground([terrain.StaticBody(parts=tuple(boxes))])
    left = [(edge[:3], edge[3:]) for edge in ground.edges]
    seen = set()
    for box in boxes:
        alone = pack_ground([terrain.StaticBody(parts=(box,))])
        for edge in alone.edges.reshape(-1, 2, 3):
            for share in (0.11, 0.31, 0.53, 0.77, 0.91):
                point, along = edge[0] + share * (edge[1] - edge[0]), edge[1] - edge[0]
                along = along / np.linalg.norm(along)
                arc = free_arc(boxes, point, along)
                if arc is None:  # Two boxes meet edge to edge, and what comes may touch either.
                    continue
                convex = arc > math.radians(181)
                lies_on = [
                    np.linalg.norm(np.cross(point - a, b - a)) < 1e-9
                    and 0 <= np.dot(point - a, b - a) <= np.dot(b - a, b - a)
                    for a, b in left
                ]
                assert sum(lies_on) == convex
                seen.add(bool(convex))
    assert seen == {True, False}


@pytest.mark.parametrize("size", [PITCH, PITCH + 5e-5, 0.25], ids=["abutting", "rounded", "overlapping"])
def test_of_tiles_only_the_rim_is_left(size):
    ground = pack_ground([tiles(size=size, offset=(0.05, 0.03), yaw=0.4, reach=2)])
    top = ground.edges[(ground.edges[:, [2, 5]] > -1e-9).all(axis=1)]
    lengths = np.linalg.norm(top[:, 3:] - top[:, :3], axis=1)
    assert lengths.sum() == pytest.approx(4 * (4 * PITCH + size), abs=1e-3)
    assert len(set(ground.surfaces)) == 1


def test_unequal_heights_keep_their_edge():
    """The upper one's; that of the lower floor lies in the corner under it."""
    low, high = Box((1.0, 1.0, 0.2), (0.0, 0.0, -0.1)), Box((1.0, 1.0, 0.3), (1.0, 0.0, -0.1))
    ground = pack_ground([terrain.StaticBody(parts=(low, high))])
    at_wall = ground.edges[(np.abs(ground.edges[:, [0, 3]] - 0.5) < 1e-9).all(axis=1)]
    heights = sorted(tuple(sorted(pair)) for pair in at_wall[:, [2, 5]].round(5).tolist())
    upper, lower, sides = (0.05, 0.05), (-0.25, -0.25), [(-0.25, -0.2), (0.0, 0.05)]
    assert heights == sorted([upper, lower, *sides, *sides])
    assert len(set(ground.surfaces)) == 2


def test_a_heightfield_beside_a_box_goes_on_where_the_box_ends():
    """Their common edge is none, and the box's face there no way out; half a centimetre lower they are."""
    box = terrain.StaticBody(parts=(Box((2.0, 2.0, 0.2), (1.0, 0.0, -0.1)),))
    for height, left in ((0.0, 0), (-0.005, 1)):
        grid = terrain.Heightfield(heights=np.full((21, 21), height), spacing=0.1, center=(3.0, 0.0))
        ground = pack_ground([box, grid])
        ends = ground.edges.reshape(-1, 2, 3)
        assert (np.abs(ends[..., [0, 2]] - (2.0, 0.0)) < 1e-6).all(axis=(1, 2)).sum() == left
        (east,) = np.flatnonzero(ground.planes[0, :, 0] == 1.0)
        assert ground.planes[0, east, 4] == 1 - left


def test_rigid_ground_keeps_its_edge_beside_soil():
    """A track sinks into what is level with it; and soil has no face towards what it lies against."""
    slab = terrain.StaticBody(parts=(Box((1.0, 1.0, 0.2), (0.0, 0.0, -0.1)),))
    bed = terrain.StaticBody(parts=(Box((1.0, 1.0, 0.2), (1.0, 0.0, -0.1)),), soil=find_soil("LETE sand"))
    ground = pack_ground([slab, bed])
    assert ground.edge_starts[1] == 12
    assert ground.planes[..., 4].sum(axis=1).tolist() == [0.0, 1.0]
    assert len(set(ground.surfaces)) == 2


# Driven on


CASES = [
    ("native", "compliant", 0.4, {"offset": (0.03, 0.07)}),
    *(
        pytest.param(engine, model, yaw, given, marks=pytest.mark.slow)
        for engine in ("native", "pybullet")
        for model in ("compliant", "surface")
        for yaw, given in (
            (0.0, {}),
            (0.4, {"offset": (0.03, 0.07)}),
            (1.1, {"offset": (0.1, 0.05), "yaw": 0.3}),
            (1.1, {"size": 0.25, "offset": (0.1, 0.05), "yaw": 0.3}),
        )
    ),
]


@pytest.mark.parametrize(("engine", "track_model", "yaw", "given"), CASES)
def test_tiles_are_turned_on_like_one_floor(engine, track_model, yaw, given):
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    expected, there = turned(one_floor(), engine, track_model, yaw, speeds=(-0.2, 0.3))
    found, place = turned(tiles(**given), engine, track_model, yaw, speeds=(-0.2, 0.3))
    assert found == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(place, there, atol=1e-5)


def test_turning_on_mirrored_tiles_is_the_mirror_image():
    left, place = turned(tiles(offset=(0.03, 0.07), yaw=0.3), yaw=0.5, speeds=(-0.2, 0.3))
    right, mirrored = turned(tiles(offset=(0.03, -0.07), yaw=-0.3), yaw=-0.5, speeds=(0.3, -0.2))
    assert right == pytest.approx(-left, rel=1e-9)
    np.testing.assert_allclose(mirrored, (place[0], -place[1]), atol=1e-9)


@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_seams_without_friction_take_no_momentum(track_model):
    """A vehicle that slides askew over tiles keeps its velocity: each contact is normal to the floor."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(tiles(size=0.22, offset=(0.03, 0.07), yaw=0.3, friction=0.0))
        robot = world.add_vehicle("packbot", track_model=track_model)
        world.run(0.3)
        robot.model.state.velocity[0] += (0.2, 0.4, 0.0)
        world.run(0.5)
        np.testing.assert_allclose(robot.state.velocity[:2], (0.2, 0.4), atol=1e-12)
        np.testing.assert_allclose(robot.state.angular_velocity, 0.0, atol=1e-12)


@pytest.mark.slow
def test_tiles_of_soil_are_turned_on_like_one_floor():
    """Soil's shear goes on across seams, too, and no point is pushed out of a tile sideways."""
    sand = find_soil("dry sand")
    expected, _ = turned(one_floor(soil=sand), yaw=0.4)
    found, _ = turned(tiles(offset=(0.03, 0.07), soil=sand), yaw=0.4)
    assert found == pytest.approx(expected, rel=2e-3)
