"""Frames of SDF files: one robot with random poses, written in several ways, is one tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from robot_formats import numbers, pose

from segtrack.description import Frame, link_frames, read_inertial, read_vector
from segtrack.geometry import quaternion_of, rotation_of, rpy_of
from segtrack.importing.findings import Findings
from segtrack.importing.reading import read_tree

PARENTS = {"b": "a", "c": "b", "d": "b", "e": "d"}
KINDS = {"b": "revolute", "c": "prismatic", "d": "fixed", "e": "revolute"}
RNG = np.random.default_rng(7)


def random_frame() -> Frame:
    """Frame of a random pose."""
    return Frame.at(RNG.normal(size=3), tuple(RNG.uniform(-3, 3, 3)))


FRAMES = {"a": Frame.at((0.3, -0.2, 0.5), (0, 0, 0.7)), **{link: random_frame() for link in PARENTS}}
"""Frames of links in the model's frame."""
JOINTS = {link: random_frame() for link in PARENTS}
"""Frames of joints in the model's frame, by their child link."""
AXES = {link: (axis := RNG.normal(size=3)) / np.linalg.norm(axis) for link in PARENTS}
"""Axes in the model's frame."""
CENTRE = (0.1, 0.2, 0.3)
INERTIAL = (
    "<inertial><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy>"
    "<izz>0.25</izz></inertia></inertial>"
)
BALL = '<collision name="c">{}<geometry><sphere><radius>0.1</radius></sphere></geometry></collision>'


def link(name: str, placed: str, content: str = BALL.format("<pose>0.1 0 0 0 0 0</pose>")) -> str:
    """Link at a pose."""
    return f'<link name="{name}">{placed}{INERTIAL}{content}</link>'


def joint(child: str, placed: str, xyz: str, parent: str | None = None) -> str:
    """Joint of a child link, at a pose, with its axis."""
    kind = KINDS[child]
    axis = f"<axis>{xyz}<limit><lower>-1</lower><upper>1</upper></limit></axis>" if kind != "fixed" else ""
    ends = f"<parent>{parent or PARENTS[child]}</parent><child>{child}</child>"
    return f'<joint name="{child}_joint" type="{kind}">{placed}{ends}{axis}</joint>'


def sdf(*content: str, version: str = "1.9") -> str:
    """SDF file of a model."""
    return f'<sdf version="{version}"><model name="m">{"".join(content)}</model></sdf>'


def links_in_the_model() -> list[str]:
    """Links with poses in the model's frame."""
    return [link(name, pose(frame)) for name, frame in FRAMES.items()]


def joints_in_children(links: Mapping[str, Frame] = FRAMES) -> list[str]:
    """Joints with poses in their child's frame and axes in their own."""
    return [
        joint(
            name,
            pose(frame.seen_from(links[name])),
            f"<xyz>{numbers(frame.rotation.T @ AXES[name])}</xyz>",
        )
        for name, frame in JOINTS.items()
    ]


def in_the_model() -> str:
    """Write all in the model's frame, joints in their children's."""
    return sdf(*links_in_the_model(), *joints_in_children())


def relative_to_parents() -> str:
    """Write each link in the frame of its parent, and joints and axes in the model's."""
    links = [link("a", pose(FRAMES["a"], relative_to="__model__"))] + [
        link(name, pose(FRAMES[name].seen_from(FRAMES[parent]), relative_to=parent))
        for name, parent in PARENTS.items()
    ]
    joints = [
        joint(
            name,
            pose(frame, relative_to="__model__"),
            f'<xyz expressed_in="__model__">{numbers(AXES[name])}</xyz>',
        )
        for name, frame in JOINTS.items()
    ]
    return sdf(*joints, *links)


def by_frames() -> str:
    """Write frames attached to links, and links, joints and axes by these."""
    extra = {name: random_frame() for name in FRAMES}
    parents = {"a": "", **PARENTS}
    frames = [
        f'<frame name="f_{name}"'
        + (f' attached_to="{parents[name]}"' if parents[name] else "")
        + f">{pose(extra[name].seen_from(FRAMES[parents[name]]) if parents[name] else extra[name])}</frame>"
        for name in FRAMES
    ]
    links = [
        link(name, pose(frame.seen_from(extra[name]), relative_to=f"f_{name}"))
        for name, frame in FRAMES.items()
    ]
    ends = [f'<frame name="end_{name}" attached_to="{name}"/>' for name in FRAMES]
    joints = [
        joint(
            name,
            pose(frame.seen_from(extra["a"]), relative_to="f_a"),
            f'<xyz expressed_in="f_b">{numbers(extra["b"].rotation.T @ AXES[name])}</xyz>',
            parent=f"end_{PARENTS[name]}",
        )
        for name, frame in JOINTS.items()
    ]
    return sdf(*frames, *ends, *links, *joints)


def by_joints() -> str:
    """Write links in the frames of their joints, and these in the frames of the parents."""
    links = [link("a", pose(FRAMES["a"]))] + [
        link(name, pose(FRAMES[name].seen_from(frame), relative_to=f"{name}_joint"))
        for name, frame in JOINTS.items()
    ]
    joints = [
        joint(
            name,
            pose(frame.seen_from(FRAMES[PARENTS[name]]), relative_to=PARENTS[name]),
            f"<xyz>{numbers(frame.rotation.T @ AXES[name])}</xyz>",
        )
        for name, frame in JOINTS.items()
    ]
    return sdf(*links, *joints)


def in_degrees_and_quaternions() -> str:
    """Write links in degrees, and joints by quaternions."""
    links = [
        link(
            name,
            f'<pose degrees="true">{numbers([*frame.origin, *np.degrees(rpy_of(frame.rotation))])}</pose>',
        )
        for name, frame in FRAMES.items()
    ]
    joints = []
    for name, frame in JOINTS.items():
        own = frame.seen_from(FRAMES[name])
        words = numbers([*own.origin, *quaternion_of(own.rotation)])
        xyz = f"<xyz>{numbers(frame.rotation.T @ AXES[name])}</xyz>"
        joints.append(joint(name, f'<pose rotation_format="quat_xyzw">{words}</pose>', xyz))
    return sdf(*links, *joints)


def of_version_4() -> str:
    """Write axes in the model's frame, as files before version 1.5 have them."""
    joints = [
        joint(name, pose(frame.seen_from(FRAMES[name])), f"<xyz>{numbers(AXES[name])}</xyz>")
        for name, frame in JOINTS.items()
    ]
    return sdf(*links_in_the_model(), *joints, version="1.4")


def of_version_6() -> str:
    """Write axes in the model's frame by the flag of versions 1.5 and 1.6, and pose's old attribute."""
    links = [link("a", pose(FRAMES["a"]))] + [
        link(name, pose(FRAMES[name].seen_from(FRAMES[parent])).replace("<pose", f'<pose frame="{parent}"'))
        for name, parent in PARENTS.items()
    ]
    joints = [
        joint(
            name,
            pose(frame.seen_from(FRAMES[name])),
            f"<xyz>{numbers(AXES[name])}</xyz><use_parent_model_frame>1</use_parent_model_frame>",
        )
        for name, frame in JOINTS.items()
    ]
    return sdf(*links, *joints, version="1.6")


def in_a_nested_model(placement: bool = False) -> str:
    """Write d and e in a model of their own, which is placed by its frame, or by that of its link e."""
    inner = random_frame()
    links = [link(name, pose(FRAMES[name])) for name in "abc"]
    nested = [link(name, pose(FRAMES[name].seen_from(inner))) for name in "de"]
    own = {name: text for name, text in zip(JOINTS, joints_in_children(), strict=True)}
    between = own["d"].replace("<child>d", "<child>n::d")
    placed = FRAMES["e"].seen_from(FRAMES["c"]) if placement else inner.seen_from(FRAMES["c"])
    attribute = ' placement_frame="e"' if placement else ""
    model = f'<model name="n"{attribute}>{pose(placed, relative_to="c")}{"".join(nested)}{own["e"]}</model>'
    return sdf(*links, model, own["b"], own["c"], between)


def with_shapes_elsewhere() -> str:
    """Write shapes in frames of other links."""
    return sdf(
        *(
            link(
                name,
                pose(frame),
                BALL.format(
                    pose((frame @ Frame.at((0.1, 0, 0), (0, 0, 0))).seen_from(FRAMES["c"]), relative_to="c")
                ),
            )
            for name, frame in FRAMES.items()
        ),
        *joints_in_children(),
    )


WAYS = {
    "in the model": in_the_model(),
    "relative to parents": relative_to_parents(),
    "by frames": by_frames(),
    "by joints": by_joints(),
    "in degrees and quaternions": in_degrees_and_quaternions(),
    "of version 1.4": of_version_4(),
    "of version 1.6": of_version_6(),
    "in a nested model": in_a_nested_model(),
    "by a placement frame": in_a_nested_model(placement=True),
    "with shapes elsewhere": with_shapes_elsewhere(),
}


def tree_of(text: str, folder: Path, findings: Findings | None = None) -> Element:
    """URDF tree of the text of an SDF."""
    file = folder / "robot.sdf"
    file.write_text(text, encoding="utf-8")
    return read_tree(file, {}, folder, findings or Findings())[1]


def assert_expected(tree: Element, prefix: str = "") -> None:
    """Assert that a tree has the robot's places and axes, seen from its root link a."""
    names = {name: next(n for n in link_frames(tree) if n in (name, f"n__{name}")) for name in FRAMES}
    frames = link_frames(tree)
    root = FRAMES["a"]
    for name, link_name in names.items():
        moved = KINDS.get(name, "fixed") != "fixed"
        origin = JOINTS[name].origin if moved else FRAMES[name].origin
        expected = Frame(FRAMES[name].rotation, origin).seen_from(root)
        np.testing.assert_allclose(frames[link_name].origin, expected.origin, atol=1e-9)
        np.testing.assert_allclose(frames[link_name].rotation, expected.rotation, atol=1e-9)
        element = next(each for each in tree.iterfind("link") if each.get("name") == link_name)
        centre = frames[link_name].points(read_inertial(element).center)
        body = FRAMES[name].seen_from(root)
        np.testing.assert_allclose(centre, body.points(np.array(CENTRE)), atol=1e-9)
        tensor = body.rotation @ rotation_of((0.4, 0.5, 0.6)) @ np.diag([0.1, 0.2, 0.25])
        tensor = tensor @ (body.rotation @ rotation_of((0.4, 0.5, 0.6))).T
        own = frames[link_name].rotation @ read_inertial(element).inertia @ frames[link_name].rotation.T
        np.testing.assert_allclose(own, tensor, atol=1e-9)
        shape = element.find("collision/origin")
        ball = frames[link_name].points(np.array(read_vector(shape, "xyz")))
        np.testing.assert_allclose(ball, body.points(np.array([0.1, 0, 0])), atol=1e-9)
    for each in tree.iterfind("joint"):
        child = str(each.find("child").get("link"))  # type: ignore[union-attr]
        name = child.removeprefix("n__")
        assert each.get("type") == KINDS[name]
        if KINDS[name] != "fixed":
            axis = frames[child].rotation @ np.array(read_vector(each.find("axis"), "xyz"))
            np.testing.assert_allclose(axis, root.rotation.T @ AXES[name], atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_a_robot_is_one_tree_however_its_poses_are_written(tmp_path: Path, way: str) -> None:
    assert_expected(tree_of(WAYS[way], tmp_path))


@pytest.mark.parametrize("merge", ["false", "true"])
def test_an_included_model_is_as_one_in_the_file(tmp_path: Path, merge: str) -> None:
    """One that is merged keeps its own frame for poses, and its links have no name of a model."""
    inner = random_frame()
    own = dict(zip(JOINTS, joints_in_children(), strict=True))
    nested = [link(name, pose(FRAMES[name].seen_from(inner))) for name in "de"]
    (tmp_path / "part").mkdir()
    part = tmp_path / "part" / "model.sdf"
    part.write_text(sdf(*nested, own["e"]), encoding="utf-8")
    child = "d" if merge == "true" else "n::d"
    include = f'<include merge="{merge}"><uri>part</uri><name>n</name>{pose(inner)}</include>'
    links = [link(name, pose(FRAMES[name])) for name in "abc"]
    between = own["d"].replace("<child>d", f"<child>{child}")
    tree = tree_of(sdf(*links, include, own["b"], own["c"], between), tmp_path)
    assert_expected(tree)
    assert ("d" in link_frames(tree)) == (merge == "true")


def test_joints_from_leaves_to_the_root_are_turned_about(tmp_path: Path) -> None:
    """A root that turns by q about an axis in its wheel's frame has a wheel that turns by -q in its own."""
    wheels = ("b", "e")
    joints = [
        joint(
            name,
            pose(JOINTS[name].seen_from(FRAMES["a"])),
            f"<xyz>{numbers(JOINTS[name].rotation.T @ AXES[name])}</xyz>",
            parent=name,
        ).replace(f"<child>{name}", "<child>a")
        for name in wheels
    ]
    findings = Findings()
    text = sdf(*(link(name, pose(FRAMES[name])) for name in ("a", *wheels)), *joints)
    tree = tree_of(text, tmp_path, findings)
    assert [each.what for each in findings if each.value == "turned about"] == [
        "joint b_joint",
        "joint e_joint",
    ]
    frames, root = link_frames(tree), FRAMES["a"]
    for element, name in zip(tree.iterfind("joint"), wheels, strict=True):
        place = (JOINTS[name].origin - root.origin) @ root.rotation
        np.testing.assert_allclose(frames[name].origin, place, atol=1e-9)
        axis = frames[name].rotation @ np.array(read_vector(element.find("axis"), "xyz"))
        np.testing.assert_allclose(axis, -root.rotation.T @ AXES[name], atol=1e-9)


def test_a_loop_is_cut_at_its_second_joint(tmp_path: Path) -> None:
    again = '<joint name="again" type="fixed"><parent>c</parent><child>e</child></joint>'
    findings = Findings()
    tree = tree_of(in_the_model().replace("</model>", f"{again}</model>"), tmp_path, findings)
    assert_expected(tree)
    told = [(each.what, each.value, each.source) for each in findings]
    why = "it closes a loop: e is carried already, and a URDF is a tree"
    assert ("joint again", "left out", why) in told


def test_a_tilted_root_stands_on_an_upright_one(tmp_path: Path) -> None:
    tree = tree_of(sdf(link("a", "<pose>0 0 1 0.5 0 0</pose>")), tmp_path)
    frames = link_frames(tree)
    assert list(frames) == ["model_root", "a"]
    np.testing.assert_allclose(frames["a"].rotation, rotation_of((0.5, 0, 0)), atol=1e-12)


def test_a_follower_of_an_sdf_is_one_of_the_urdf(tmp_path: Path) -> None:
    rule = "<multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference>"
    mimic = f'<mimic joint="b_joint">{rule}</mimic>'
    joints = in_the_model().partition('name="e_joint"')
    text = joints[0] + joints[1] + joints[2].replace("</axis>", f"{mimic}</axis>", 1)
    found = tree_of(text, tmp_path).find("joint[@name='e_joint']/mimic")
    assert found is not None and found.get("joint") == "b_joint"
    assert float(found.get("multiplier", "")) == 2.0
    assert float(found.get("offset", "")) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "limit, kind",
    [
        ("<lower>-1e16</lower><upper>1e16</upper>", "continuous"),
        ("<lower>-inf</lower><upper>inf</upper>", "continuous"),
        ("", "continuous"),
        ("<lower>-1</lower><upper>2</upper>", "revolute"),
        ("<lower>0</lower><upper>0</upper>", "fixed"),
        ("<lower>0</lower>", "continuous"),
    ],
)
def test_limits_of_a_joint_are_read(tmp_path: Path, limit: str, kind: str) -> None:
    axis = f"<axis><xyz>0 1 0</xyz><limit>{limit}<effort>-1</effort><velocity>3</velocity></limit></axis>"
    one = f'<joint name="j" type="revolute"><parent>a</parent><child>b</child>{axis}</joint>'
    found = tree_of(sdf(link("a", ""), link("b", ""), one), tmp_path).find("joint")
    assert found is not None and found.get("type") == kind
    said = found.find("limit")
    if kind == "fixed":
        assert said is None
    else:
        assert said is not None
        assert (float(said.get("effort", "1")), float(said.get("velocity", "1"))) == (0.0, 3.0)


def test_a_flipper_that_its_limits_hold_stays_a_flipper(tmp_path: Path) -> None:
    axis = "<axis><xyz>0 1 0</xyz><limit><lower>0</lower><upper>0</upper></limit></axis>"
    ends = "<parent>a</parent><child>left_flipper</child>"
    one = f'<joint name="j" type="revolute">{ends}{axis}</joint>'
    findings = Findings()
    found = tree_of(sdf(link("a", ""), link("left_flipper", ""), one), tmp_path, findings).find("joint")
    assert found is not None and found.get("type") == "continuous"
    told = [(each.what, each.value, each.source) for each in findings]
    assert ("joint j", "moves without limits, as a flipper's", "both limits are 0") in told
