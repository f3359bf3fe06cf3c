"""Boxes on flat ground: the sampler against brute force, and what Bullet builds against the sampler."""

import math

import numpy as np
import pybullet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybullet_utils.bullet_client import BulletClient
from scenes import boxes_anywhere

from segtrack.bullet.terrain_builder import build_terrain
from segtrack.errors import InvalidValueError
from segtrack.terrain import Boxes, GroundBox

SOUND = {"x": 1.0, "y": 0.0, "length": 0.4, "width": 0.3, "height": 0.2}
NEAR = 0.02
"""Bullet ends rays near an edge too early [m]."""

fields = st.lists(boxes_anywhere, min_size=1, max_size=5).map(lambda some: Boxes(boxes=tuple(some)))


def corners(box):
    """A box's corners (4, 2) [m], counter-clockwise."""
    turn = complex(math.cos(box.yaw), math.sin(box.yaw))
    halves = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    points = [turn * complex(a * box.length / 2, b * box.width / 2) for a, b in halves]
    return np.array([(box.x + p.real, box.y + p.imag) for p in points])


def depth_inside(box, x, y):
    """How far a point is inside a box's outline [m], by the signed areas over its sides; < 0 outside."""
    points = corners(box)
    depths = []
    for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0), strict=True):
        depths.append(((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / math.hypot(bx - ax, by - ay))
    return min(depths)


def brute_height(boxes, x, y):
    return max((box.height for box in boxes.boxes if depth_inside(box, x, y) >= 0), default=0.0)


@given(boxes=fields, seed=st.integers(0, 9))
def test_height_is_that_of_the_highest_box_around_the_point(boxes, seed):
    points = np.random.default_rng(seed).uniform(-1.5, 1.5, (50, 2))
    sure = [p for p in points if all(abs(depth_inside(box, *p)) > 1e-9 for box in boxes.boxes)]
    expected = [brute_height(boxes, x, y) for x, y in sure]
    found = boxes.height_at(*np.transpose(sure))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)  # Rounding of a middle and a size.


def test_an_upright_face_has_the_higher_value():
    box = Boxes(boxes=(GroundBox(**SOUND),))
    assert box.height_at([0.7999, 0.8001, 1.0, 1.1999, 1.2001]).tolist() == [0.0, 0.2, 0.2, 0.2, 0.0]
    assert box.height_at(1.0, [-0.1501, -0.1499, 0.1499, 0.1501]).tolist() == [0.0, 0.2, 0.2, 0.0]


def test_a_box_turned_by_a_quarter_has_length_and_width_exchanged():
    turned = Boxes(boxes=(GroundBox(**{**SOUND, "yaw": math.pi / 2}),))
    exchanged = Boxes(boxes=(GroundBox(**{**SOUND, "length": 0.3, "width": 0.4}),))
    x, y = np.random.default_rng(0).uniform(-0.3, 0.3, (2, 500)) + [[1.0], [0.0]]
    np.testing.assert_array_equal(turned.height_at(x, y), exchanged.height_at(x, y))


@given(boxes=fields)
def test_between_two_breaks_the_line_through_the_middle_is_level(boxes):
    """A scan of y = 0 finds no change of height away from the breaks, and each box ends at two of them."""
    breaks = boxes.x_breaks()
    assert breaks == tuple(sorted(breaks))
    x = np.linspace(-2.5, 2.5, 5001)
    heights = boxes.height_at(x)
    for i in np.nonzero(np.diff(heights))[0]:
        assert any(x[i] - 1e-9 <= place <= x[i + 1] + 1e-9 for place in breaks)
    for place in breaks:
        assert min(abs(depth_inside(box, place, 0.0)) for box in boxes.boxes) < 1e-9


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, (0.8, 1.2)),
        ({"yaw": math.pi / 2}, (0.85, 1.15)),
        ({"y": 0.1}, (0.8, 1.2)),
        ({"y": 0.151}, ()),
        ({"y": 0.1, "length": 0.2, "width": 0.2, "yaw": math.pi / 4},
         (1.1 - math.sqrt(0.02), 0.9 + math.sqrt(0.02))),
        ({"length": 0.2, "width": 0.2, "yaw": math.pi / 4},
         (1.0 - math.sqrt(0.02), 1.0 + math.sqrt(0.02))),
    ],
)  # fmt: skip
def test_a_box_breaks_the_line_where_its_sides_cross_it(changes, expected):
    boxes = Boxes(boxes=(GroundBox(**{**SOUND, **changes}),))
    assert boxes.x_breaks() == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def client():
    connected = BulletClient(pybullet.DIRECT)
    yield connected
    connected.disconnect()


@settings(max_examples=25)
@given(boxes=fields)
def test_boxes_are_where_their_sampler_says(client, boxes):
    client.resetSimulation()
    bodies = build_terrain(client, boxes)
    assert len(bodies) >= 1
    x, y = np.random.default_rng(0).uniform(-1.5, 1.5, (2, 300))
    clear = [all(abs(depth_inside(box, *p)) > NEAR for box in boxes.boxes) for p in zip(x, y, strict=True)]
    starts = np.stack((x, y, np.full(len(x), 5.0)), axis=1)[clear]
    hits = client.rayTestBatch(starts.tolist(), (starts * (1, 1, -1)).tolist())
    found = [position[2] for _, _, _, position, _ in hits]
    np.testing.assert_allclose(found, boxes.height_at(x[clear], y[clear]), atol=1e-4)


NOT_FINITE = "must be a finite number"
NOT_POSITIVE = "must be a positive finite number"


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("x", math.nan, f"GroundBox.x {NOT_FINITE} [m], got nan"),
        ("y", "left", f"GroundBox.y {NOT_FINITE} [m], got 'left'"),
        ("length", 0.0, f"GroundBox.length {NOT_POSITIVE} [m], got 0.0"),
        ("width", -0.1, f"GroundBox.width {NOT_POSITIVE} [m], got -0.1"),
        ("height", math.inf, f"GroundBox.height {NOT_POSITIVE} [m], got inf"),
        ("height", True, f"GroundBox.height {NOT_POSITIVE} [m], got True"),
        ("yaw", None, f"GroundBox.yaw {NOT_FINITE} [rad], got None"),
    ],
)
def test_a_box_that_cannot_be_is_refused(field, value, message):
    with pytest.raises(InvalidValueError) as error:
        GroundBox(**{**SOUND, field: value})
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, message",
    [
        ({"boxes": ()}, "Boxes.boxes must be at least one GroundBox, got ()"),
        ({"boxes": None}, "Boxes.boxes must be at least one GroundBox, got None"),
        ({"boxes": [1, 2]}, "Boxes.boxes must be at least one GroundBox, got [1, 2]"),
        ({"boxes": (GroundBox(**SOUND),), "friction": -0.5},
         "Boxes.friction must be a finite number of at least 0, got -0.5"),
    ],
)  # fmt: skip
def test_boxes_that_cannot_be_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Boxes(**given)
    assert str(error.value) == message


def test_boxes_of_any_iterable_are_kept_as_a_tuple():
    box = GroundBox(**SOUND)
    assert Boxes(boxes=[box]) == Boxes(boxes=iter((box,))) == Boxes(boxes=(box,))
    assert Boxes(boxes=[box]).boxes == (box,)
