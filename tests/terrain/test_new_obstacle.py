"""A new obstacle is one class and one row: it has heights, and is in both engines and in course files."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from pydantic import create_model

from segtrack import terrain
from segtrack.courses import build_ground, course_file, pieces
from segtrack.errors import InvalidValueError, KeywordError
from segtrack.ground import pack_ground
from segtrack.terrain import Length, Limits, Prism

Rise = Annotated[float, Limits("m", 0.0)]
Slope = Annotated[float, Limits("rad", 0.0, inclusive=False, below=math.pi / 2)]


@dataclass(frozen=True, kw_only=True)
class Wedge(terrain.Obstacle):
    """Wedge that rises to a sharp edge.

    Attributes:
        height: Height of the edge [m].
        slope: Angle of the wedge [rad].
        lip: Height of the front [m].
    """

    height: Length
    slope: Slope = math.radians(30.0)
    lip: Rise = 0.0

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return (self.height - self.lip) / math.tan(self.slope)

    def shapes(self, root: float) -> Iterator[Prism]:
        """Yield the wedge."""
        start, end = self.distance, self.distance + self.extent
        yield Prism(((start, -root), (end, -root), (end, self.height), (start, self.lip)), self.width)


ROW = {"wedge": pieces.keys_of(Wedge, lip=0.05)}


@pytest.fixture
def laid(monkeypatch):
    """Terrains of a layout with a wedge beside a lane, from the YAML keys of its row."""
    monkeypatch.setitem(pieces.LOOSE_APPARATUS, "wedge", ROW["wedge"])
    fields = pieces.piece_fields(pieces.LOOSE_APPARATUS)
    kinds = create_model("Kinds", __base__=course_file.LanePiece, **fields)

    class Piece(kinds):
        kinds = tuple(pieces.LOOSE_APPARATUS)
        place: course_file.FloorPlace = course_file.FloorPlace()
        width: float = 1.2

    ground = create_model("Ground", __base__=course_file.Layout, terrain=(tuple[Piece, ...], ()))
    return lambda **keys: build_ground(
        ground.model_validate({"terrain": [{"wedge": keys, "place": {"x": 2.0, "yaw_deg": 90}}]}), "mine"
    )


X = np.linspace(0.5, 2.5, 401)


def expected(x, lip=0.0):
    inside = (x >= 1.0) & (x <= 1.0 + (0.3 - lip) / math.tan(math.radians(30)))
    return np.where(inside, lip + (x - 1.0) * math.tan(math.radians(30)), 0.0)


def test_its_heights_and_breaks_follow_from_its_solids():
    wedge = Wedge(height=0.3, distance=1.0, width=2.0)
    assert wedge.height_at(X) == pytest.approx(expected(X), abs=1e-12)
    assert wedge.height_at(1.4, [0.99, 1.01]) == pytest.approx([0.4 * math.tan(math.radians(30)), 0.0])
    assert wedge.x_breaks() == pytest.approx((1.0, 1.0 + wedge.extent)) and wedge.top == 0.3


def test_both_engines_have_it_as_high_as_its_sampler_says():
    wedge = Wedge(height=0.3, distance=1.0, width=2.0)
    ground = pack_ground([wedge])
    places = np.stack([X, 0 * X, np.maximum(expected(X), 0.0)], axis=1)
    planes = ground.planes[1]
    inside = (places @ planes[:, :3].T - planes[:, 3]).max(axis=1)  # Of the wedge: 0 on its surface.
    assert np.abs(inside[(X > 1.001) & (X < 1.51)]).max() < 1e-9
    pybullet = pytest.importorskip("pybullet")
    from pybullet_utils.bullet_client import BulletClient

    from segtrack.bullet.terrain_builder import build_terrain

    client = BulletClient(pybullet.DIRECT)
    try:
        build_terrain(client, wedge)
        x = X[(abs(X - 1.0) > 0.02) & (abs(X - 1.0 - wedge.extent) > 0.02)]
        hits = client.rayTestBatch([(v, 0.1, 2.0) for v in x], [(v, 0.1, -2.0) for v in x])
        assert [hit[3][2] for hit in hits] == pytest.approx(wedge.height_at(x), abs=2e-3)
    finally:
        client.disconnect()


def test_a_course_file_has_it_with_angles_in_degrees_and_limits_of_its_class(laid):
    floor, body = laid(height=0.3, slope_deg=45)
    assert isinstance(floor, terrain.Plane)
    y = np.array([0.01, 0.1, 0.24])  # It leads along y: the row's lip of 0.05 m, and 45 deg up.
    assert body.height_at(2.0, y) == pytest.approx(0.05 + y)
    keys = ROW["wedge"].model_json_schema()["properties"]
    assert list(keys) == ["height", "slope_deg", "lip"]
    assert (
        keys["slope_deg"]["description"] == "Angle of the wedge [deg]." and keys["slope_deg"]["default"] == 30
    )
    for mistake in ({"height": -1}, {"height": 0.3, "slope_deg": 80}, {"height": 0.3, "slope": 0.5}):
        with pytest.raises(ValueError, match=next(reversed(mistake))):
            laid(**mistake)


@pytest.mark.parametrize(
    "kind, keywords, message",
    [
        (Wedge, {"hight": 0.3, "distance": 1.0},
         "Wedge has no keyword 'hight' (did you mean height?), needs the keyword 'height'; "
         "its keywords are: friction, soil, distance, width, height, slope, lip"),
        (terrain.Step, {"height": 0.2},
         "Step needs the keyword 'distance'; "
         "its keywords are: friction, soil, distance, width, height, length"),
        (terrain.GroundBox, {"z": 1},
         "GroundBox has no keyword 'z', needs the keyword 'x', needs the keyword 'y', needs the keyword "
         "'length', needs the keyword 'width', needs the keyword 'height'; "
         "its keywords are: x, y, length, width, height, yaw"),
        (terrain.Heightfield, {"heights": [[0, 0], [0, 0]], "cell": 0.1},
         "Heightfield has no keyword 'cell', needs the keyword 'spacing'; "
         "its keywords are: friction, soil, heights, spacing, center, soils, rising"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_keyword_names_the_class_and_its_keywords(kind, keywords, message):
    with pytest.raises(KeywordError) as caught:
        kind(**keywords)
    assert str(caught.value) == message
    assert isinstance(caught.value, TypeError)


def test_values_without_keywords_are_refused():
    with pytest.raises(KeywordError) as caught:
        terrain.Plane(0.5)
    assert (
        str(caught.value)
        == "Plane takes keywords alone, got 1 value without one; its keywords are: friction, soil"
    )


def test_every_class_of_terrain_names_its_keywords():
    kinds = [getattr(terrain, name) for name in terrain.__all__]
    concrete = [
        kind
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, terrain.Terrain) and not kind.__abstractmethods__
    ]
    assert len(concrete) > 20
    for kind in concrete:
        with pytest.raises(KeywordError, match=f"^{kind.__name__} has no keyword 'colour'"):
            kind(colour="red")


@pytest.mark.parametrize(
    "name, good, bad",
    [
        ("height", 1e-9, 0.0),
        ("slope", 1e-9, 0.0),
        ("slope", math.pi / 2 - 1e-9, math.pi / 2),
        ("lip", 0.0, -1e-9),
    ],
)
def test_each_limit_holds_on_its_own_side(name, good, bad):
    Wedge(**{"height": 0.3, "distance": 0.0, name: good})
    with pytest.raises(InvalidValueError, match=f"Wedge.{name} must be"):
        Wedge(**{"height": 0.3, "distance": 0.0, name: bad})
