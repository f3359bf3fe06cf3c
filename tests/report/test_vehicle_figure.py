"""A drawing shows a body that is a URDF: outlines against the shapes' own sizes."""

import math

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from segtrack.description import load_vehicle
from segtrack.report import body_outlines, draw_vehicle

TOP, SIDE = (0, 1), (0, 2)
INERTIAL = '<inertial><mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
CUBE = "".join(
    [f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    + [f"f {a} {b} {c} {d}\n" for a, b, c, d in
       [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]]
)  # fmt: skip
SHAPES = {
    "box": ('<box size="0.4 0.2 0.1"/>', (0.4, 0.2, 0.1), (0.08, 0.04)),
    "cylinder": ('<cylinder radius="0.1" length="0.3"/>', (0.2, 0.2, 0.3), (math.pi * 0.01, 0.06)),
    "sphere": ('<sphere radius="0.1"/>', (0.2, 0.2, 0.2), (math.pi * 0.01, math.pi * 0.01)),
    "capsule": ('<capsule radius="0.1" length="0.3"/>', (0.2, 0.2, 0.5),
                (math.pi * 0.01, math.pi * 0.01 + 0.06)),
    "mesh": ('<mesh filename="package://cube.obj" scale="0.2 0.1 0.05"/>', (0.4, 0.2, 0.1), (0.08, 0.04)),
}  # fmt: skip
"""A shape, its sizes along x, y and z [m], and its areas from above and from the side [m^2]."""


def rover(folder, shape, kind="collision", place="", beside=""):
    """A vehicle whose body's only link has a shape."""
    (folder / "cube.obj").write_text(CUBE)
    (folder / "own.urdf").write_text(
        f'<robot name="own"><link name="base">{INERTIAL}{beside}<{kind}>{place}'
        f"<geometry>{shape}</geometry></{kind}></link></robot>"
    )
    track = "{path: {pulleys: [{x: 0, z: 0, radius: 0.05}, {x: 0.1, z: 0, radius: 0.05}]}, width: 0.05, "
    track += "belt: {mass: 1.0}, drive: {max_force: 10, max_speed: 1}}"
    (folder / "own.yaml").write_text(
        f"name: own\nsource: test\nbody: {{urdf: own.urdf}}\ntracks: {{left: {track}}}\n"
    )
    return load_vehicle(folder / "own.yaml")


def area(outline):
    x, y = outline.T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


@pytest.mark.parametrize("kind", ["collision", "visual"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_shapes_outline_has_its_size_and_area(tmp_path, name, kind):
    shape, size, areas = SHAPES[name]
    vehicle = rover(tmp_path, shape, kind)
    for plane, expected in zip((TOP, SIDE), areas, strict=True):
        (outline,) = body_outlines(vehicle, plane)
        np.testing.assert_allclose(np.ptp(outline, axis=0), np.array(size)[list(plane)], rtol=0.02)
        assert math.isclose(area(outline), expected, rel_tol=0.04)  # Of a circle 16 corners.


def test_an_outline_is_where_its_link_is(tmp_path):
    """Turned by 90 deg about y, a box's length is its height."""
    place = f'<origin xyz="0.1 0.2 0.3" rpy="0 {math.pi / 2} 0"/>'
    vehicle = rover(tmp_path, SHAPES["box"][0], place=place)
    (outline,) = body_outlines(vehicle, SIDE)
    np.testing.assert_allclose([outline.min(axis=0), outline.max(axis=0)], [[0.05, 0.1], [0.15, 0.5]])


def test_what_collides_is_drawn_and_not_what_is_seen_of_the_same_link(tmp_path):
    seen = '<visual><geometry><mesh filename="cube.obj"/></geometry></visual>'
    (outline,) = body_outlines(rover(tmp_path, SHAPES["box"][0], beside=seen), TOP)
    assert math.isclose(area(outline), 0.08)


def test_a_mesh_that_cannot_be_read_is_left_out(tmp_path):
    (tmp_path / "look.dae").write_text("<COLLADA/>")
    vehicle = rover(tmp_path, '<mesh filename="look.dae"/>', "visual")
    assert body_outlines(vehicle, TOP) == []
    draw_vehicle(vehicle, 10.0)


def test_a_flat_shape_is_drawn_where_its_face_is_seen(tmp_path):
    vehicle = rover(tmp_path, '<box size="0.4 0.2 0"/>', "visual")
    (outline,) = body_outlines(vehicle, TOP)
    assert math.isclose(area(outline), 0.08)
    assert body_outlines(vehicle, SIDE) == []
    draw_vehicle(vehicle, 10.0)


def test_the_bundled_rover_is_drawn_with_its_hull_mast_and_camera():
    vehicle = load_vehicle("example_rover")
    assert len(body_outlines(vehicle, TOP)) == 3
    assert len(body_outlines(vehicle, SIDE)) == 3
    figure = draw_vehicle(vehicle, 15.0)
    top = figure.axes[1]
    drawn = [patch for patch in top.collections if isinstance(patch, PolyCollection)]
    bodies = [patch for patch in drawn if patch.get_zorder() == 1]
    assert [len(patch.get_paths()) for patch in bodies] == [3]
    side = figure.axes[0]
    mast = max(outline[:, 1].max() for outline in body_outlines(vehicle, SIDE))
    assert mast > 0.3 and side.get_ylim()[1] > mast


def test_an_arrow_on_each_belt_shows_forward():
    """Along the body's x, also on a rear flipper and on a track that is turned about its axle."""
    quince = load_vehicle("quince")
    left = quince.tracks["left"]
    over = left.model_copy(update={"mount": left.mount.model_copy(update={"rpy": (0.0, math.pi, 0.0)})})
    turned = quince.model_copy(update={"tracks": {**quince.tracks, "left": over}})
    for vehicle in (quince, turned):
        figure = draw_vehicle(vehicle, 1.0)
        arrows = [text for axes in figure.axes for text in axes.texts if text.get_gid() == "forward"]
        assert len(arrows) == len(list(vehicle.mounted_tracks()))
        for arrow in arrows:
            along = np.subtract(arrow.xy, arrow.xyann)
            assert along[0] > 0 and abs(along[1]) < 1e-12
