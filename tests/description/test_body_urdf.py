"""A body that is the user's own URDF: its numbers, its frames, its shapes and what it weighs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from tables import each_row

from segtrack.description import (
    Body,
    VehicleDescription,
    body_shapes,
    link_frames,
    vehicle_links,
    weighing_links,
)
from segtrack.description.urdf_checks import Mounting, link_problems, root_links, urdf_mistakes

NUMBERS = """
origin xyz 3, origin rpy 3, axis xyz 3, mass value 1, limit lower 1, limit upper 1, limit effort 1,
limit velocity 1, dynamics damping 1, dynamics friction 1, mimic multiplier 1, mimic offset 1,
inertia ixx 1, inertia ixy 1, inertia ixz 1,
inertia iyy 1, inertia iyz 1, inertia izz 1, box size 3, sphere radius 1, cylinder radius 1,
cylinder length 1, capsule radius 1, capsule length 1, mesh scale 3
"""
"""How many numbers each attribute has, by the specification of URDF (wiki.ros.org/urdf/XML)."""
HELD = """<robot name="own">
  <link name="foot"/><link name="base"><inertial><origin xyz="0.1 0 0.2" rpy="0 0 {quarter}"/>
    <mass value="0.5"/><inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/></inertial></link>
  <link name="arm"/>
  <link name="hand"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><origin xyz="0.1 0 0" rpy="0 0 {quarter}"/>
      <geometry><box size="0.2 0.4 0.6"/></geometry></collision>
    <visual><geometry><sphere radius="0.3"/><capsule radius="0.1" length="0.5"/></geometry></visual></link>
  <joint name="a" type="fixed"><parent link="foot"/><child link="base"/><origin xyz="0 0 0.5"/></joint>
  <joint name="b" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="1 0 0" rpy="{quarter} 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint>
  <joint name="c" type="fixed"><parent link="arm"/><child link="hand"/>
    <origin xyz="0 2 0" rpy="0 {quarter} 0"/></joint>
</robot>""".format(quarter=math.pi / 2)


def numbers() -> list[tuple[str, str, int]]:
    return [(tag, key, int(count)) for tag, key, count in (line.split() for line in NUMBERS.split(","))]


def shape(text: str, folder: Path) -> np.ndarray:
    """Corners of the one shape of a URDF in a folder."""
    file, link = folder / "own.urdf", f'<link name="base"><visual><geometry>{text}</geometry></visual></link>'
    file.write_text(f'<robot name="own">{link}</robot>')
    ((_, found),) = body_shapes(str(file), "visual")
    return found.corners()


@each_row("tag, key, count", numbers())
def test_an_attribute_has_as_many_numbers_as_urdf_says(tag: str, key: str, count: int, tmp_path) -> None:
    (tmp_path / "hull.obj").touch()
    kind = "a finite number" if count == 1 else f"{count} finite numbers"

    def mistakes(value: str) -> list[str]:
        name = 'filename="hull.obj"' if tag == "mesh" else ""
        return urdf_mistakes(
            ElementTree.fromstring(
                f'<robot><link name="base"><{tag} {name} {key}="{value}"/></link></robot>'
            ),
            tmp_path,
        )

    assert mistakes(" ".join(["0.5"] * count)) == []
    allowed = {count, 1} if key == "scale" else {count}
    for given in {0, 1, 2, 3, 4} - allowed:
        text = " ".join(["1"] * given)
        told = f"must have {kind} as {tag} {key} in link 'base', got {text!r}"
        assert mistakes(text) == [told]
    assert mistakes(" ".join(["nan"] * count)) != [] and mistakes("one") != []


def test_a_link_is_where_its_joints_put_it() -> None:
    """Half a metre up, then one forward and a quarter about x, then two along y, which points up."""
    frames = link_frames(ElementTree.fromstring(HELD))
    places = {name: frame.origin for name, frame in frames.items()}
    expected = {"foot": [0, 0, 0], "base": [0, 0, 0.5], "arm": [1, 0, 0.5], "hand": [1, 0, 2.5]}
    assert places.keys() == expected.keys()
    for name, place in expected.items():
        np.testing.assert_allclose(places[name], place, atol=1e-12)
    turned = Rotation.from_euler("x", 90, degrees=True) * Rotation.from_euler("y", 90, degrees=True)
    np.testing.assert_allclose(frames["hand"].rotation, turned.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(frames["base"].rotation, np.eye(3), atol=1e-12)


def test_a_body_weighs_what_its_links_weigh_where_they_are(tmp_path) -> None:
    """By the parallel-axis theorem."""
    (tmp_path / "own.urdf").write_text(HELD)
    body = Body.model_validate({"urdf": "own.urdf"}, context={"folder": tmp_path})
    whole = vehicle_links(VehicleDescription.model_construct(body=body, tracks={}, flippers={})).whole
    frames = link_frames(ElementTree.fromstring(HELD))
    base = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    own = np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]])
    parts = [(0.5, np.array([0.1, 0, 0.7]), base @ own @ base.T), (2.0, frames["hand"].origin, np.eye(3))]
    center = sum(mass * place for mass, place, _ in parts) / 2.5
    inertia = np.zeros((3, 3))
    for mass, place, tensor in parts:
        arm = place - center
        inertia += tensor + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    assert whole.mass == 2.5
    np.testing.assert_allclose(whole.center, center, atol=1e-12)
    np.testing.assert_allclose(whole.inertia, inertia, atol=1e-12)


def test_fixed_joints_hold_a_link_to_the_nearest_with_a_mass_however_small() -> None:
    robot = ElementTree.fromstring(HELD.replace("revolute", "fixed"))
    assert weighing_links(robot) == {"foot": "base", "base": "base", "arm": "base", "hand": "hand"}
    loose = ElementTree.fromstring(HELD.replace('type="fixed"', 'type="continuous"'))
    assert weighing_links(loose) == {"foot": None, "base": "base", "arm": None, "hand": "hand"}
    assert root_links(robot) == ["foot"]


def test_a_shape_is_in_its_links_frame_with_its_own_origin(tmp_path) -> None:
    (tmp_path / "own.urdf").write_text(HELD)
    urdf = str(tmp_path / "own.urdf")
    ((name, box),) = body_shapes(urdf, "collision")
    rotation = link_frames(ElementTree.fromstring(HELD))["hand"].rotation
    np.testing.assert_allclose(box.frame.origin, np.array([1, 0, 2.5]) + rotation @ [0.1, 0, 0], atol=1e-12)
    quarter = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    np.testing.assert_allclose(box.frame.rotation, rotation @ quarter, atol=1e-12)
    assert name == "hand" and box.folder == tmp_path
    np.testing.assert_allclose(box.box_size, [0.2, 0.4, 0.6])
    seen = list(body_shapes(urdf, "visual"))
    assert [(link, part.tag.tag) for link, part in seen] == [("hand", "sphere"), ("hand", "capsule")]
    assert seen[0][1].box_size is None


def test_a_boxs_corners_are_half_its_sides_from_its_middle(tmp_path) -> None:
    corners = shape('<box size="0.2 0.4 0.6"/>', tmp_path)
    assert len(np.unique(corners, axis=0)) == 8
    np.testing.assert_allclose(np.abs(corners), [[0.1, 0.2, 0.3]] * 8)


def test_round_shapes_have_their_corners_on_their_surface_and_nearly_their_section(tmp_path) -> None:
    """A ring of 16 has sin(2 pi / 16) / (2 pi / 16) of a circle's area; chords are 2 % inside."""
    share = math.sin(math.pi / 8) / (math.pi / 8)
    rod = shape('<cylinder radius="0.3" length="0.8"/>', tmp_path)
    np.testing.assert_allclose(np.hypot(rod[:, 0], rod[:, 1]), 0.3)
    np.testing.assert_allclose(np.abs(rod[:, 2]), 0.4)
    assert ConvexHull(rod).volume == pytest.approx(math.pi * 0.3**2 * 0.8 * share)
    ball = shape('<sphere radius="0.3"/>', tmp_path)
    np.testing.assert_allclose(np.linalg.norm(ball, axis=1), 0.3)
    long = shape('<capsule radius="0.3" length="1.0"/>', tmp_path)
    ends = long - np.sign(long[:, 2:]) * [0, 0, 0.5]
    np.testing.assert_allclose(np.linalg.norm(ends, axis=1), 0.3)
    for points, length in ((ball, 0.0), (long, 1.0)):
        # No face is deeper inside than a chord of 1 / 16 of a turn both ways.
        hull = ConvexHull(points)
        np.testing.assert_allclose(np.ptp(points, axis=0), [0.6, 0.6, 0.6 + length])
        deepest = min(-hull.equations[:, 3] - np.abs(hull.equations[:, 2]) * length / 2)
        assert deepest >= 0.3 * math.cos(math.pi / 16) ** 2 - 1e-12
    assert ConvexHull(long).volume - ConvexHull(ball).volume == pytest.approx(math.pi * 0.3**2 * share)


@pytest.mark.parametrize(("scale", "size"), [(None, (2, 4, 6)), ("0.5", (1, 2, 3)), ("1 2 0.5", (2, 8, 3))])
@pytest.mark.parametrize("name", ["hull.obj", "package://hull.obj"])
def test_a_mesh_is_scaled_along_each_axis(
    scale: str | None, size: tuple[float, ...], name: str, tmp_path
) -> None:
    corners = [(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)]
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    rows = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c} {d}" for a, b, c, d in faces]
    (tmp_path / "hull.obj").write_text("\n".join(rows))
    given = "" if scale is None else f'scale="{scale}"'
    np.testing.assert_allclose(np.ptp(shape(f'<mesh filename="{name}" {given}/>', tmp_path), axis=0), size)


def text_of(joints: str, links: tuple[str, ...] = ("a", "b", "c")) -> Any:
    return ElementTree.fromstring(
        "<robot>" + "".join(f'<link name="{n}"/>' for n in links) + joints + "</robot>"
    )


def joint(name: str, parent: str, child: str, kind: str = "fixed") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'


@pytest.mark.parametrize("kind", ["continuous", "fixed", "planar", "spherical"])
def test_a_tree_of_links_has_no_mistakes(kind: str, tmp_path) -> None:
    assert urdf_mistakes(text_of(joint("x", "c", "a", kind) + joint("y", "c", "b")), tmp_path) == []


def test_several_mistakes_of_a_urdf_are_told_together(tmp_path) -> None:
    robot = text_of(
        joint("x", "a", "b") + joint("x", "c", "b") + joint("y", "b", "gone", "hinge"), ("a", "b", "b", "")
    )
    assert urdf_mistakes(robot, tmp_path) == [
        "must name each link differently, got two named 'b'",
        "must name each link, got link 3 without a name",
        "must name each joint differently, got two named 'x'",
        "has no link 'c', which is the parent of joint 'x'",
        "must carry each link by one joint, got two for 'b'",
        "must give joint 'y' a type of revolute, continuous, prismatic, fixed, planar, spherical, got hinge",
        "has no link 'gone', which is the child of joint 'y'",
    ]


def test_drives_on_one_link_share_what_it_weighs() -> None:
    """Of 5 kg two drives take 4; a third of 1 kg would leave nothing. A flipper's is not the link's."""
    mountings = {
        "tracks.one": Mounting("body", 2.0),
        "tracks.two": Mounting("body", 2.0),
        "tracks.three": Mounting("body", 1.0),
        "flippers.arm": Mounting("body", 0.0),
    }
    (problem,) = link_problems(None, 5.0, False, mountings)
    assert str(problem) == (
        "tracks.three.drive.reflected_mass must be less than the 1 kg that are left of body, got 1"
    )
    assert link_problems(None, 5.1, False, mountings) == []
    assert link_problems(None, None, False, mountings) == []
