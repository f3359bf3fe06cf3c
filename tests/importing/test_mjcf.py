"""MJCF robots with random poses: places, mass and inertia are MuJoCo's."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pytest
import trimesh
from robot_formats import numbers
from scipy.spatial.transform import Rotation

from segtrack.description import Frame, link_frames, read_inertial, read_vector
from segtrack.errors import RobotFileError
from segtrack.geometry import rpy_of
from segtrack.importing.findings import Findings
from segtrack.importing.reading import read_tree
from segtrack.importing.robot import UrdfRobot

mujoco = pytest.importorskip("mujoco")
RNG = np.random.default_rng(11)


def placed() -> str:
    """Random position and quaternion."""
    return f'pos="{numbers(RNG.normal(size=3))}" quat="{numbers(RNG.normal(size=4))}"'


def inertial() -> str:
    """Inertial at a random pose."""
    return f'<inertial {placed()} mass="{RNG.uniform(1, 3)!r}" diaginertia="0.1 0.2 0.25"/>'


def hinge(name: str, more: str = "") -> str:
    """Hinge at a random place, about a random axis."""
    place, axis = numbers(RNG.normal(size=3)), numbers(RNG.normal(size=3))
    return f'<joint name="{name}" type="hinge" pos="{place}" axis="{axis}" {more}/>'


SHAPES = (
    f'<geom name="box" type="box" size="0.1 0.2 0.3" {placed()}/>'
    f'<geom name="rod" type="cylinder" size="0.1 0.2" {placed()}/>'
    f'<geom name="pill" type="capsule" size="0.1" fromto="0 0 0 0.3 0.1 0.2"/>'
    f'<geom name="seen" type="sphere" size="0.1" contype="0" conaffinity="0"/>'
    f'<geom name="cut" type="mesh" mesh="wedge" {placed()}/>'
)
ROBOT = f"""<mujoco model="random"><compiler angle="radian"/>
<asset><mesh name="wedge" file="wedge.stl" scale="2 1 1"/></asset>
<worldbody>
  <geom type="plane" size="5 5 0.1"/>
  <body name="a" pos="0.3 -0.2 0.5" quat="0.9 0 0 0.3"><freejoint/>{inertial()}
    <body name="b" {placed()}>{hinge("b1", 'range="-1 2" ref="0.5" damping="0.7" armature="0.1"')}{inertial()}
      <body name="c" {placed()}>{hinge("c1")}{hinge("c2")}
        <joint name="c3" type="slide" axis="{numbers(RNG.normal(size=3))}" range="-0.1 0.3"/>
        {inertial()}{SHAPES}
      </body>
      <body name="d" {placed()}>{inertial()}<body {placed()}>{hinge("e1", 'frictionloss="0.2"')}{inertial()}
        <site name="s"/><camera name="k"/></body></body>
    </body>
  </body>
  <body name="other" pos="9 0 0"><freejoint/><geom type="sphere" size="0.1" mass="0.5"/></body>
</worldbody>
<equality>
  <joint joint1="c1" joint2="e1" polycoef="0.1 -2 0 0 0"/><connect body1="a" body2="c" anchor="0 0 0"/>
</equality>
<actuator>
  <motor joint="b1" gear="5" ctrlrange="-3 3"/>
  <velocity joint="c2" kv="7" gear="2" ctrlrange="-4 4" forcerange="-6 6"/>
  <general joint="e1" gaintype="user" biastype="user"/>
</actuator></mujoco>"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """File of the robot, beside its mesh."""
    points = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1], [0.3, 0, 0.1]])
    trimesh.PointCloud(points).convex_hull.export(tmp_path / "wedge.stl")
    robot = tmp_path / "robot.xml"
    robot.write_text(ROBOT, encoding="utf-8")
    return robot


def tree_of(file: Path, findings: Findings | None = None) -> Element:
    """URDF tree of an MJCF file."""
    return read_tree(file, {}, file.parent, findings or Findings())[1]


def in_mujoco(file: Path) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """MuJoCo's model of a file, and its state with all joints at 0."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_links_are_where_mujoco_puts_bodies(file: Path) -> None:
    (model, data), tree = in_mujoco(file), tree_of(file)
    frames, root = link_frames(tree), data.xmat[1].reshape(3, 3)
    for name, body in (("a", 1), ("b", 2), ("c", 3), ("d", 4), ("body_5", 5)):
        joints = [j for j in range(1, model.njnt) if model.jnt_bodyid[j] == body]
        origin = data.xanchor[joints[-1]] if joints and body != 1 else data.xpos[body]
        np.testing.assert_allclose(frames[name].origin, (origin - data.xpos[1]) @ root, atol=1e-9)
        expected = root.T @ data.xmat[body].reshape(3, 3)
        np.testing.assert_allclose(frames[name].rotation, expected, atol=1e-9)
        element = next(each for each in tree.iterfind("link") if each.get("name") == name)
        centre = frames[name].points(read_inertial(element).center)
        np.testing.assert_allclose(centre, (data.xipos[body] - data.xpos[1]) @ root, atol=1e-9)


def test_joints_turn_about_mujocos_axes(file: Path) -> None:
    (model, data), tree = in_mujoco(file), tree_of(file)
    frames, root = link_frames(tree), data.xmat[1].reshape(3, 3)
    moving = [each for each in tree.iterfind("joint") if each.get("type") != "fixed"]
    assert [each.get("name") for each in moving] == ["b1", "c1", "c2", "c3", "e1"]
    for each in moving:
        number = model.joint(each.get("name")).id
        frame = frames[str(each.find("child").get("link"))]  # type: ignore[union-attr]
        axis = frame.rotation @ np.array(read_vector(each.find("axis"), "xyz"))
        np.testing.assert_allclose(axis, root.T @ data.xaxis[number], atol=1e-9)
        anchor = (data.xanchor[number] - data.xpos[1]) @ root
        np.testing.assert_allclose(frame.origin, anchor, atol=1e-9)


def test_a_tree_moves_as_mujocos_joints_do(file: Path) -> None:
    """Each joint moved alone, c's three included: bodies go where MuJoCo's do."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    tree = tree_of(file)
    for name, by in (("b1", 0.4), ("c1", -0.7), ("c2", 1.1), ("c3", 0.2), ("e1", 2.0)):
        mujoco.mj_resetData(model, data)
        data.qpos[model.jnt_qposadr[model.joint(name).id]] += by
        mujoco.mj_kinematics(model, data)
        frames = moved_frames(tree, name, by)
        root = data.xmat[1].reshape(3, 3)
        for link, body in (("b", 2), ("c", 3), ("body_5", 5)):
            element = next(each for each in tree.iterfind("link") if each.get("name") == link)
            centre = frames[link].points(read_inertial(element).center)
            np.testing.assert_allclose(centre, (data.xipos[body] - data.xpos[1]) @ root, atol=1e-9)


def moved_frames(tree: Element, name: str, by: float) -> dict[str, Frame]:
    """Frames of links with one joint moved, by what a URDF means."""
    tree = deepcopy(tree)
    joint = next(each for each in tree.iterfind("joint") if each.get("name") == name)
    origin, axis = joint.find("origin"), np.array(read_vector(joint.find("axis"), "xyz"))
    assert origin is not None
    frame = Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))
    none = np.zeros(3)
    if joint.get("type") == "prismatic":
        frame = frame @ Frame(np.eye(3), by * axis)
    else:
        frame = frame @ Frame(Rotation.from_rotvec(by * axis).as_matrix(), none)
    origin.set("xyz", numbers(frame.origin))
    origin.set("rpy", numbers(rpy_of(frame.rotation)))
    return link_frames(tree)


def test_mass_and_inertia_are_those_of_mujocos_whole(file: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    whole = np.zeros((model.nv, model.nv))
    for row, unit in zip(whole, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    tree = tree_of(file)
    frames, mass, first, second = link_frames(tree), 0.0, np.zeros(3), np.zeros((3, 3))
    for link in tree.iterfind("link"):
        own, frame = read_inertial(link), frames[str(link.get("name"))]
        if own.mass == 0:
            continue
        centre = frame.points(own.center)
        mass, first = mass + own.mass, first + own.mass * centre
        steiner = own.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        second += frame.rotation @ own.inertia @ frame.rotation.T + steiner
    np.testing.assert_allclose(whole[0, 0], mass, rtol=1e-9)
    np.testing.assert_allclose(whole[3:6, 3:6], second, atol=1e-9 * mass)  # The free joint's own axes.
    root = data.xmat[1].reshape(3, 3)
    np.testing.assert_allclose((data.subtree_com[1] - data.xpos[1]) @ root, first / mass, atol=1e-9)


def test_shapes_have_the_hulls_of_mujocos_geoms(file: Path) -> None:
    """A mesh is that of its own file, scaled, where MuJoCo has its vertices."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tree = tree_of(file)
    link = next(each for each in tree.iterfind("link") if each.get("name") == "c")
    assert sorted(shape.tag for shape in link) == ["collision"] * 4 + ["inertial", "visual"]
    (mesh,) = link.iter("mesh")
    assert (mesh.get("filename"), mesh.get("scale")) == (str(file.parent / "wedge.stl"), "2.0 1.0 1.0")
    robot, root = UrdfRobot("r", tree, file.parent), data.xmat[1].reshape(3, 3)
    geom = model.geom("cut").id
    vertices = data.geom_xmat[geom].reshape(3, 3) @ model.mesh_vert.T.astype(float)
    expected = (vertices.T + data.geom_xpos[geom] - data.xpos[1]) @ root
    (own,) = [shape for shape in robot.shapes("c") if shape.tag.tag == "mesh"]
    corners = own.frame.points(own.corners())
    for way in np.eye(3):
        assert (corners @ way).max() == pytest.approx((expected @ way).max(), abs=1e-6)
        assert (corners @ way).min() == pytest.approx((expected @ way).min(), abs=1e-6)
    for name, tag in (("box", "box"), ("rod", "cylinder"), ("pill", "capsule")):
        (shape,) = [each for each in robot.shapes("c") if each.tag.tag == tag]
        number = model.geom(name).id
        place = (data.geom_xpos[number] - data.xpos[1]) @ root
        np.testing.assert_allclose(shape.frame.origin, place, atol=1e-9)
        axes = root.T @ data.geom_xmat[number].reshape(3, 3)
        np.testing.assert_allclose(shape.frame.rotation, axes, atol=1e-9)
    pill = next(each.tag for each in robot.shapes("c") if each.tag.tag == "capsule")
    assert float(pill.get("length", "")) == pytest.approx(np.linalg.norm([0.3, 0.1, 0.2]))


def test_limits_drives_and_followers_are_said(file: Path) -> None:
    joints = {str(each.get("name")): each for each in tree_of(file).iterfind("joint")}

    def limit(name: str, key: str) -> float:
        return float(joints[name].find("limit").get(key, "nan"))  # type: ignore[union-attr]

    assert (limit("b1", "lower"), limit("b1", "upper")) == (-1.5, 1.5)  # From where the file has it, at 0.5.
    assert (limit("c3", "lower"), limit("c3", "upper")) == (-0.1, 0.3)
    assert [joints[name].get("type") for name in ("b1", "c1", "c3")] == [
        "revolute",
        "continuous",
        "prismatic",
    ]
    assert (limit("b1", "effort"), limit("b1", "velocity")) == (15.0, 0.0)
    assert (limit("c2", "effort"), limit("c2", "velocity")) == (12.0, 2.0)
    dynamics = [joints[name].find("dynamics") for name in ("b1", "e1")]
    assert dynamics[0] is not None and float(dynamics[0].get("damping", "")) == 0.7
    assert dynamics[1] is not None and float(dynamics[1].get("friction", "")) == 0.2
    mimic = joints["c1"].find("mimic")
    assert mimic is not None
    assert dict(mimic.attrib) == {"joint": "e1", "multiplier": "-2.0", "offset": "0.1"}


def test_what_a_vehicle_cannot_say_is_told_once_with_its_number(file: Path) -> None:
    findings = Findings()
    tree_of(file, findings)
    told = {(each.what, each.value) for each in findings}
    assert told >= {
        ("1 sites", "not read"),
        ("1 cameras", "not read"),
        ("1 geoms of the world", "not read"),
        ("1 armatures of joints", "not read"),
        ("1 actuators", "not read"),
        ("1 equalities of type connect", "not read"),
        ("bodies other", "left out"),
    }


def test_a_warning_of_mujoco_is_a_remark(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    (tmp_path / "child.xml").write_text(
        '<mujoco model="child"><option timestep="0.001"/><worldbody><body name="c"><geom size="1"/></body>'
        "</worldbody></mujoco>",
        encoding="utf-8",
    )
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><compiler conflict="warning"/><asset><model name="child" file="child.xml"/></asset>'
        "<worldbody>"
        '<body name="a"><freejoint/><attach model="child" body="c" prefix="p"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    findings = Findings()
    tree_of(file, findings)
    assert any(each.what == "MuJoCo warns" and "timestep" in each.value for each in findings), list(findings)
    assert not recwarn.list


def test_a_body_that_is_no_tree_of_numbers_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><worldbody><body name="hull" pos="nan 0 0"><freejoint/><geom type="sphere" size="1"/></body>'
        "</worldbody></mujoco>",
        encoding="utf-8",
    )
    with pytest.raises(RobotFileError) as caught:
        tree_of(file)
    assert str(caught.value) == "robot.xml: must have finite numbers in body 'hull', got NaN"
    assert not (Path.cwd() / "MUJOCO_LOG.TXT").exists()
