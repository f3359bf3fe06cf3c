"""Heights that kernels sample against those of the terrain itself, for all kinds of terrain at once."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from segtrack import terrain
from segtrack.errors import InvalidValueError
from segtrack.geometry import Box, Cylinder, Hull
from segtrack.ground import pack_relief, sample_cells, sample_reliefs
from segtrack.kernels import Packed
from segtrack.terrain import HalfSpace

RNG = np.random.default_rng(5)
HEIGHTS = RNG.uniform(-0.2, 0.3, (17, 9))
SOIL = terrain.find_soil("dry sand")


def any_solids(count):
    """Solids at any pose, of which many overlap."""
    for k in range(count):
        size, center, turn = RNG.uniform(0.1, 1.0, 3), RNG.uniform(-1, 1, 3), Rotation.random(random_state=k)
        quaternion = tuple(turn.as_quat())
        yield Box(tuple(size), tuple(center), quaternion)
        yield Cylinder(size[0], size[1], tuple(center), quaternion)
        yield Hull.of(RNG.normal(size=(9, 3)) * 0.3 + center)


GROUNDS = {
    "plane": terrain.Plane(),
    "step": terrain.Step(height=0.1, distance=0.5),
    "stairs": terrain.Stairs(riser=0.1, tread=0.25, count=3, distance=-0.3, landing=0.5, down=True),
    "boxes": terrain.Boxes(
        boxes=tuple(
            terrain.GroundBox(x=x, y=y, length=a, width=b, height=c, yaw=yaw)
            for x, y, a, b, c, yaw in RNG.uniform(0.1, 1.0, (30, 6)) * (2, 1, 1, 1, 0.5, 3)
            - (1, 0.5, 0, 0, 0, 0)
        )
    ),
    "narrow box": terrain.Boxes(
        boxes=(terrain.GroundBox(x=0, y=0, length=0.3, width=2, height=0.2, yaw=1.2),)
    ),
    "hurdle": terrain.Hurdle(height=0.3, length=0.2, distance=0.1, pipe=True),
    "rails": terrain.KRails(distance=-1.0, width=1.0),
    "beams overhead": terrain.ConfinedSpace(distance=-1.0, clearance=0.4, spacing=0.3),
    "step field": terrain.StepField(max_height=0.3, cell=0.1, rows=20, columns=20, distance=-1.0, seed=3),
    "patterned": terrain.PatternedStepField(distance=-0.6, width=1.2, pattern="diagonal"),
    "ramps": terrain.ContinuousRamps(distance=-1.5, width=1.0, ridges="diagonal"),
    "pinwheel": terrain.CrossingRamps(distance=-1.5, width=1.0, raised=0.1),
    "ramp of soil": terrain.Ramp(slope=0.3, length=1.0, distance=-0.5, down=True, plateau=0.2, soil=SOIL),
    "waves": terrain.Waves(heights=(0.1, 0.2), lengths=(0.5, 0.7), distance=-0.4, width=1.0),
    "half round": terrain.HalfRound(radius=0.4, distance=-0.3, width=1.0),
    "platforms": terrain.PlatformGap(length=0.3, distance=-1.5, platform=0.5, width=1.5),
    "gap": terrain.Gap(length=0.4, distance=0.1),
    "ditch": terrain.TrapezoidDitch(depth=0.3, top_length=1.0, bottom_length=0.2, distance=-0.2),
    "heightfield": terrain.Heightfield(heights=HEIGHTS, spacing=0.15, center=(0.1, -0.3)),
    "soils": terrain.Heightfield(heights=HEIGHTS, spacing=0.1, soils=np.full(HEIGHTS.shape, SOIL)),
    "solids at any pose": terrain.StaticBody(parts=tuple(any_solids(6))),
    "slope": terrain.StaticBody(parts=(HalfSpace((0.0, 0.0, 0.1), (-0.6, 0.0, 0.8)), *any_solids(1))),
    "upright cylinder": terrain.StaticBody(
        parts=(Cylinder(0.5, 0.4, (0.1, 0.0, 0.2), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))),)
    ),
}
CELLS = RNG.uniform(-1, 1, (5, 3, 2))
PACKED = Packed.joined([Packed.of(pack_relief(ground)) for ground in GROUNDS.values()])


@pytest.mark.parametrize("name", GROUNDS)
def test_kernels_find_the_heights_of_the_terrain_to_the_last_bit(name):
    ground, index = GROUNDS[name], list(GROUNDS).index(name)
    x, y = RNG.uniform(-2, 2, (2, 3, 700))
    x[1], y[1] = x[1].round(1), y[1].round(1)  # On faces, corners and grid lines.
    x[2], y[2] = x[2] * 30, y[2] * 30
    found = sample_reliefs(PACKED, np.full(3, index), x, y)
    alone = sample_reliefs(PACKED, np.full(700, index), x[0, :, None], y[0, :, None])
    np.testing.assert_array_equal(alone[:, 0], found[0])  # Far from all others, each is near less.
    expected = ground.height_at(x, y)
    none = np.isinf(expected)
    np.testing.assert_array_equal(found[none], expected[none])
    # The roots of cylinders round otherwise.
    rounding = 1e-9 if any(isinstance(solid, Cylinder) for solid in ground.solids()) else 0.0
    np.testing.assert_allclose(found[~none], expected[~none], rtol=0, atol=rounding)


def test_each_row_of_points_is_on_its_own_ground():
    order = RNG.permutation(len(GROUNDS))
    x, y = RNG.uniform(-1, 1, (2, len(order), 2, 5))
    found = sample_reliefs(PACKED, order, x, y)
    for k, index in enumerate(order.tolist()):
        expected = list(GROUNDS.values())[index].height_at(x[k], y[k])
        np.testing.assert_allclose(found[k], expected, rtol=0, atol=1e-9)
    assert sample_reliefs(PACKED, order[:0], x[:0], y[:0]).shape == (0, 2, 5)


def test_cells_of_grids_have_the_means_of_their_points():
    """Added one after the other, so that whoever does so has the same bits."""
    order = RNG.permutation(len(GROUNDS))
    places, headings, cells = RNG.uniform(-1, 1, (len(order), 2)), RNG.uniform(-4, 4, len(order)), CELLS
    frames = np.column_stack([places, np.cos(headings), np.sin(headings)])
    means = np.full((len(order), len(cells)), np.nan)
    sample_cells(PACKED, order, frames, np.moveaxis(cells, 2, 0), means)
    cosine, sine = frames[:, 2, None, None], frames[:, 3, None, None]
    x = cosine * cells[..., 0] - sine * cells[..., 1] + places[:, 0, None, None]
    y = sine * cells[..., 0] + cosine * cells[..., 1] + places[:, 1, None, None]
    heights = sample_reliefs(PACKED, order, x, y)
    np.testing.assert_array_equal(means, (heights[..., 0] + heights[..., 1] + heights[..., 2]) / 3)
    sample_cells(PACKED, order[:0], frames[:0], np.moveaxis(cells, 2, 0), means[:0])


def test_a_mesh_has_no_heights(tmp_path):
    (tmp_path / "ground.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(InvalidValueError, match="a mesh has no height sampler"):
        pack_relief(terrain.Mesh(file=tmp_path / "ground.obj"))
