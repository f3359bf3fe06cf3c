"""SDF and MJCF files with one fault each: an error that says what and where, or a remark."""

from __future__ import annotations

import re
from pathlib import Path

import mock_robots as mock
import pytest
from command_line import run
from robot_formats import as_mjcf, as_sdf

from segtrack import SegtrackError, import_robot

SDF = as_sdf(mock.boxed())
WHEELED = as_sdf(mock.wheeled())
MJCF = as_mjcf(mock.boxed())


def changed(pattern: str, to: str, base: str = SDF) -> str:
    """Text of a robot with its first match changed."""
    text, found = re.subn(pattern, lambda match: match.expand(to), base, count=1, flags=re.S)
    assert found, f"{pattern} is not in the robot"
    return text


def added(part: str, base: str = SDF) -> str:
    """Text of a robot with a part more in its model."""
    return base.replace("</model>", f"{part}</model>")


TYPES = "revolute, continuous, prismatic, fixed, ball, universal, screw, revolute2, gearbox"
SDF_ERRORS: dict[str, tuple[str, str]] = {
    "an empty model": (
        '<sdf version="1.9"><model name="a"/></sdf>',
        "must have links in its model, got none",
    ),
    "no model": ('<sdf version="1.9"/>', "must have a model that is not static, got none"),
    "two models": (
        '<sdf version="1.9"><world><model name="a"/><model name="b"/></world></sdf>',
        "must have one model that is not static, got a, b: --arg model:=NAME chooses one",
    ),
    "a NaN": (
        changed('<link name="pod_a"><pose>[^<]*', '<link name="pod_a"><pose>0 nan 0 0 0 0'),
        "must have 6 finite numbers as pose in link 'pod_a', got '0 nan 0 0 0 0'",
    ),
    "three numbers for six": (
        changed('<link name="pod_a"><pose>[^<]*', '<link name="pod_a"><pose>0 1 0'),
        "must have 6 finite numbers as pose in link 'pod_a', got '0 1 0'",
    ),
    "a form of rotation that is none": (
        changed('<link name="pod_a"><pose>', '<link name="pod_a"><pose rotation_format="matrix">'),
        "must have rotation_format euler_rpy or quat_xyzw of pose in link 'pod_a', got 'matrix'",
    ),
    "a mass in words": (
        changed("<mass>3.0", "<mass>heavy"),
        "must have a finite number as mass in link 'pod_a', got 'heavy'",
    ),
    "a negative mass": (
        changed("<mass>3.0", "<mass>-3"),
        "must have a mass of at least 0 in link 'pod_a', got -3",
    ),
    "a size that is missing": (
        changed("<radius>.*?</radius>", ""),
        "must have a radius of the cylinder in collision 'collision_1' of link 'pod_a', got none",
    ),
    "an unknown type": (
        changed('name="pod_a_joint" type="fixed"', 'name="pod_a_joint" type="glued"'),
        f"must give joint 'pod_a_joint' a type of {TYPES}, got glued",
    ),
    "an unknown parent": (
        changed("<parent>base_link", "<parent>bas_link"),
        "has no link 'bas_link', which is the parent of joint 'pod_a_joint'",
    ),
    "an unknown child": (
        changed("<child>pod_a", "<child>pod"),
        "has no link 'pod', which is the child of joint 'pod_a_joint'",
    ),
    "a joint without a child": (
        changed("<child>pod_a</child>", ""),
        "must give joint 'pod_a_joint' one child link, got none",
    ),
    "a frame that is not there": (
        changed('<link name="pod_a"><pose>', '<link name="pod_a"><pose relative_to="here">'),
        "has no frame 'here', which the pose of link 'pod_a' is relative to",
    ),
    "poses in a cycle": (
        added(
            '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="h"/></frame>'
            '<frame name="h"><pose relative_to="f"/></frame>'
        ).replace('<link name="pod_a"><pose>', '<link name="pod_a"><pose relative_to="f">'),
        "must not have poses relative to each other in a cycle, got f, g, h, f",
    ),
    "frames attached in a cycle": (
        added(
            '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'
            '<joint name="j" type="fixed"><parent>f</parent><child>pod_a</child></joint>'
        ),
        "must not attach frames in a cycle, got f, g, f",
    ),
    "an axis of zeros": (
        changed("<xyz>0 1 0", "<xyz>0 0 0", WHEELED),
        "must have an axis that is not 0 in joint 'left_wheel_0_joint', got '0 0 0'",
    ),
    "an axis in a frame that is not there": (
        changed("<xyz>0 1 0", '<xyz expressed_in="here">0 1 0', WHEELED),
        "has no frame 'here', in which the axis of joint 'left_wheel_0_joint' is expressed",
    ),
    "limits the wrong way round": (
        changed("<limit></limit>", "<limit><lower>1</lower><upper>-1</upper></limit>", WHEELED).replace(
            'name="left_wheel_0_joint" type="continuous"', 'name="left_wheel_0_joint" type="revolute"'
        ),
        "must have a lower limit not above the upper one in joint 'left_wheel_0_joint', got 1 and -1",
    ),
    "a leader that is not there": (
        changed("</axis>", '<mimic joint="none"/></axis>', WHEELED),
        "has no joint 'none', which joint 'left_wheel_0_joint' follows",
    ),
    "two links of one name": (
        added('<link name="pod_a"/>'),
        "must name each frame differently, got two named 'pod_a'",
    ),
    "a link without a name": (
        added("<link/>"),
        "must name each link, got one without a name in model 'mock'",
    ),
    "a link that nothing holds": (
        added('<link name="lonely"/>'),
        "must have one root link, got base_link, lonely",
    ),
    "a canonical link that is not there": (
        SDF.replace('<model name="mock">', '<model name="mock" canonical_link="core">'),
        "has no link 'core', which is the canonical link of model 'mock'",
    ),
}
"""Text of an SDF file with a fault, and the whole of what its error says after the file's name."""

MJCF_ERRORS: dict[str, tuple[str, str]] = {
    "an unknown type of a joint": (
        as_mjcf(mock.wheeled()).replace('type="hinge"', 'type="glued"', 1),
        r"must be MJCF that MuJoCo compiles, got XML Error: invalid keyword: 'glued', Element 'joint'.*",
    ),
    "a missing mesh": (
        MJCF.replace("<worldbody>", '<asset><mesh name="m" file="none.stl"/></asset><worldbody>').replace(
            "<freejoint/>", '<freejoint/><geom type="mesh" mesh="m"/>'
        ),
        r"must be MJCF that MuJoCo compiles, got Error: Error opening file '.*none\.stl'.*",
    ),
    "an actuator of no joint": (
        MJCF.replace("<actuator>", '<actuator><motor joint="none"/>'),
        r"must be MJCF that MuJoCo compiles, got Error: .*none.*",
    ),
    "an include that is missing": (
        MJCF.replace("<worldbody>", '<include file="none.xml"/><worldbody>'),
        r"must be MJCF that MuJoCo compiles, got XML Error: .*none\.xml.*",
    ),
    "a negative mass": (
        MJCF.replace('mass="3.0"', 'mass="-3.0"', 1),
        r"must have a mass of at least 0 in body 'pod_a', got -3",
    ),
    "no body": ("<mujoco/>", r"must have a body in its <worldbody>, got none"),
}
"""Text of an MJCF file with a fault, and a pattern of all that its error says after the file's name."""

REMARKS: dict[str, tuple[str, str, str, str]] = {
    "an ellipsoid and a plane": (
        "robot.sdf",
        changed(
            "</inertial>",
            '</inertial><collision name="e"><geometry><ellipsoid><radii>1 1 1</radii></ellipsoid></geometry>'
            "</collision>",
        ),
        "<ellipsoid> in <collision>",
        "left out",
    ),
    "a ball joint": (
        "robot.sdf",
        changed('name="pod_a_joint" type="fixed"', 'name="pod_a_joint" type="ball"'),
        "joint pod_a_joint",
        "held",
    ),
    "no inertial": (
        "robot.sdf",
        changed("<inertial>.*?</inertial>", "", as_sdf(mock.boxed().replace('"3.0"', '"1.0"'))),
        "mass of link base_link",
        "1 kg",
    ),
    "a missing model": (
        "robot.sdf",
        added("<include><uri>model://lidar</uri><name>top</name></include>"),
        "model model://lidar",
        "left out",
    ),
    "a joint of a missing model": (
        "robot.sdf",
        added(
            "<include><uri>model://lidar</uri><name>top</name></include><joint name='j' type='fixed'>"
            "<parent>base_link</parent><child>top::link</child></joint>"
        ),
        "joint j",
        "left out",
    ),
    "a mesh that is missing": (
        "robot.sdf",
        changed(
            "</inertial>",
            '</inertial><visual name="v"><geometry><mesh><uri>model://ours/hull.dae</uri></mesh></geometry>'
            "</visual>",
        ),
        "mesh model://ours/hull.dae",
        "left out of link base_link",
    ),
    "a sensor": (
        "robot.sdf",
        changed("</inertial>", '</inertial><sensor name="s" type="imu"/>'),
        "<sensor> in <link>",
        "not read",
    ),
    "a plugin of no use": (
        "robot.sdf",
        added('<plugin name="lights" filename="l.so"/>'),
        "plugin lights",
        "kept, not read",
    ),
    "an ellipsoid of MuJoCo": (
        "robot.xml",
        MJCF.replace("<freejoint/>", '<freejoint/><geom type="ellipsoid" size="0.1 0.1 0.2" mass="0"/>'),
        "1 geoms of type ellipsoid",
        "left out",
    ),
    "a ball joint of MuJoCo": (
        "robot.xml",
        MJCF.replace(
            "<freejoint/>",
            '<freejoint/><body name="arm" pos="0 0 0.4"><joint name="j" type="ball"/>'
            '<inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/></body>',
        ),
        "joint j",
        "held",
    ),
    "tendons": (
        "robot.xml",
        MJCF.replace("<freejoint/>", '<freejoint/><site name="p"/><site name="q" pos="1 0 0"/>').replace(
            "<actuator>",
            '<tendon><spatial><site site="p"/><site site="q"/></spatial></tendon><actuator>',
        ),
        "1 tendons",
        "not read",
    ),
}
"""Name and text of a file with a fault, and subject and value of its remark."""


@pytest.mark.parametrize("fault", SDF_ERRORS)
def test_a_fault_of_an_sdf_is_an_error_of_one_line(tmp_path: Path, fault: str) -> None:
    text, message = SDF_ERRORS[fault]
    (tmp_path / "robot.sdf").write_text(text, encoding="utf-8")
    with pytest.raises(SegtrackError) as caught:
        import_robot(tmp_path / "robot.sdf", out=tmp_path / "mine.yaml")
    assert str(caught.value) == f"robot.sdf: {message}"
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize("fault", MJCF_ERRORS)
def test_a_fault_of_an_mjcf_is_an_error_of_one_line(tmp_path: Path, fault: str) -> None:
    pytest.importorskip("mujoco")
    text, message = MJCF_ERRORS[fault]
    (tmp_path / "robot.xml").write_text(text, encoding="utf-8")
    with pytest.raises(SegtrackError) as caught:
        import_robot(tmp_path / "robot.xml", out=tmp_path / "mine.yaml")
    assert re.fullmatch(f"robot.xml: {message}", str(caught.value)), str(caught.value)
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize("fault", REMARKS)
def test_a_fault_of_a_format_is_remarked(tmp_path: Path, fault: str) -> None:
    name, text, what, value = REMARKS[fault]
    if name == "robot.xml":
        pytest.importorskip("mujoco")
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = import_robot(tmp_path / name, out=tmp_path / "mine.yaml")
    told = [(each.what, each.value) for each in found.findings]
    assert told.count((what, value)) == 1, told


@pytest.mark.parametrize("name, text", [("robot.sdf", SDF[:300]), ("robot.xml", MJCF[:300])])
def test_a_truncated_file_ends_with_exit_code_2(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = run("import", name, folder=tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"segtrack: {name}: must be XML, got ")
    assert "Traceback" not in result.stderr


def test_a_model_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "robot.sdf").write_text(SDF, encoding="utf-8")
    with pytest.raises(SegtrackError) as caught:
        import_robot(tmp_path / "robot.sdf", arguments={"model": "other"})
    assert str(caught.value) == "robot.sdf: has no model 'other'; there are: mock"
    with pytest.raises(SegtrackError) as caught:
        import_robot(tmp_path / "robot.sdf", arguments={"colour": "red"})
    assert str(caught.value) == "--arg must be model:=NAME for an SDF file, got colour"


def test_a_model_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "robot.sdf").write_text(added("<include><uri>robot.sdf</uri></include>"), encoding="utf-8")
    with pytest.raises(SegtrackError) as caught:
        import_robot(tmp_path / "robot.sdf")
    assert str(caught.value) == "robot.sdf: must not include itself, got robot.sdf, robot.sdf"


def test_an_mjcf_without_the_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segtrack.importing.mjcf_reading.find_spec", lambda name: None)
    (tmp_path / "robot.xml").write_text(MJCF, encoding="utf-8")
    with pytest.raises(SegtrackError) as caught:
        import_robot(tmp_path / "robot.xml")
    expected = 'an MJCF file needs mujoco, which is not installed: pip install "segtrack[mujoco]"'
    assert str(caught.value) == expected
