"""URDF and xacro files with one fault each: an error that says what and where, or a remark."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import mock_robots as mock
import pytest

from segtrack import SegtrackError, import_robot

BASE = mock.boxed()


def changed(pattern: str, to: str, base: str = BASE, count: int = 1) -> str:
    """Text of a robot with its first matches changed."""
    text, found = re.subn(pattern, to, base, count=count)
    assert found, f"{pattern} is not in the robot"
    return text


def added(part: str, base: str = BASE) -> str:
    """Text of a robot with a part more."""
    return base.replace("</robot>", part + "</robot>")


ERRORS: dict[str, tuple[str, str]] = {
    "not XML": (BASE[:300], r"must be XML, got"),
    "another format": ("<COLLADA/>", r"root element <robot>, <sdf> or <mujoco>, got <COLLADA>"),
    "no links": (mock.robot(), r"must have"),
    "no mass at all": (re.sub("<inertial>.*?</inertial>", "", BASE), r"must give its links a mass"),
    "a negative mass": (
        changed('value="3.0"', 'value="-3.0"'),
        r"mass of at least 0 in link 'pod_a', got '-3.0'",
    ),
    "a mass in words": (changed('value="3.0"', 'value="heavy"'), r"mass value in link 'pod_a', got 'heavy'"),
    "a NaN": (
        changed('xyz="0 0.25 0.02"', 'xyz="0 nan 0.02"'),
        r"origin xyz in joint 'pod_a_joint', got '0 nan 0.02'",
    ),
    "two numbers for three": (
        changed('xyz="0 0.25 0.02"', 'xyz="0 0.25"'),
        r"3 finite numbers as origin xyz",
    ),
    "an unknown parent": (
        changed('parent link="base_link"', 'parent link="bas_link"'),
        r"has no link 'bas_link'",
    ),
    "an unknown child": (
        changed('child link="pod_a"', 'child link="pod"'),
        r"has no link 'pod', which is the child",
    ),
    "two roots": (added(mock.link("lonely")), r"must have one root link, got base_link, lonely"),
    "a cycle": (
        added(
            mock.link("x")
            + mock.link("y")
            + mock.joint("xy", "fixed", "x", "y", "0 0 0")
            + mock.joint("yx", "fixed", "y", "x", "0 0 0")
        ),
        r"a cycle of joints through x, y",
    ),
    "an unknown type": (
        changed('type="fixed"', 'type="glued"'),
        r"joint 'pod_a_joint' a type of .*, got glued",
    ),
    "a link carried twice": (
        added(mock.joint("again", "fixed", "base_link", "pod_a", "0 0 0")),
        r"must carry each link by one joint, got two for 'pod_a'",
    ),
    "two links of one name": (added(mock.link("pod_a", mock.inertial(1.0))), r"pod_a"),
    "no tracks": (mock.robot(mock.HULL), r"must have tracks: .* got none"),
    "a track on one side": (
        mock.robot(
            mock.HULL,
            mock.link("left_track", mock.inertial(2.0), mock.belt_shapes(mock.OVAL, 0.1)),
            mock.joint("j", "fixed", "base_link", "left_track", "0 0.2 0"),
        ),
        r"must have tracks on both sides",
    ),
    "upright axles": (
        mock.wheeled().replace('xyz="0 1 0"', 'xyz="0 0 1"'),
        r"must have tracks: wheels with level axles",
    ),
    "a plugin's links that are none": (
        changed("pod_", "arm_", mock.with_plugin("left", "right"), 99).replace("cylinder", "sphere"),
        r"(?s)must have tracks: .*missing: plugin tracks: left_track: no link 'left'",
    ),
    "a missing mesh of a track": (
        BASE.replace("pod_a", "left_track")
        .replace("pod_b", "right_track")
        .replace('"3.0"', '"0"')
        .replace("<box", '<mesh filename="a.stl"')
        .replace("<cylinder", '<mesh filename="b.stl"'),
        r"(?s)must have tracks.*missing: mesh a.stl: left out of link left_track",
    ),
    "two axles a side": (
        mock.wheeled(((-0.2, 0, 0.1), (0.2, 0, 0.1))),
        r"2 and 2 wheels are on its sides: --tracks-around-wheels",
    ),
}
"""Text of a file with a fault, and what its error says."""

REMARKS: dict[str, tuple[str, str, str]] = {
    "an empty mesh name": (
        added(
            mock.link("arm", mock.shape('<mesh filename=""/>'))
            + mock.joint("a", "fixed", "base_link", "arm", "0 0 0")
        ),
        "link arm",
        "collision left out",
    ),
    "a missing mesh": (
        changed(
            "</inertial>",
            '</inertial><visual><geometry><mesh filename="package://ours/hull.dae"/></geometry></visual>',
        ),
        "mesh package://ours/hull.dae",
        "left out of link base_link",
    ),
    "a missing mesh of a link without another": (
        changed(r"<collision>.*?</collision>", mock.shape('<mesh filename="hull.stl"/>')),
        "shape of link base_link",
        "box of 0.3 x 0.3 x 0.3 m",
    ),
    "an inertia of no body": (
        changed('ixx="0.[0-9]*"', 'ixx="9.0"'),
        "inertia of link base_link",
        "that of a box of",
    ),
    "an inertia of 0": (
        changed('<inertia ixx="[^/]*/>', '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'),
        "inertia of link base_link",
        "that of a box of",
    ),
    "a link word by word twice": (
        added(mock.link("pod_b", mock.inertial(3.0), mock.belt_shapes(mock.OVAL, 0.1))),
        "link pod_b",
        "counted once",
    ),
    "a copied inertial": (
        added(
            mock.link("copy", mock.inertial(20.0)) + mock.joint("c", "fixed", "base_link", "copy", "0 0 0")
        ),
        "link copy",
        "its 20 kg count",
    ),
    "a floating joint": (changed('type="fixed"', 'type="floating"'), "joint pod_a_joint", "fixed"),
    "a revolute joint without limits": (
        added(
            mock.link("pan", mock.inertial(0.1))
            + mock.joint("pan_joint", "revolute", "base_link", "pan", "0 0 0.2")
        ),
        "joint pan_joint",
        "turns without limits",
    ),
    "a joint that nothing moves": (
        added(
            mock.link("pan", mock.inertial(0.1))
            + mock.joint("pan_joint", "continuous", "base_link", "pan", "0 0 0.2", "0 0 1")
        ),
        "joints that stand at 0",
        "pan_joint",
    ),
    "an axis of zeros": (
        added(
            mock.link("pan", mock.inertial(0.1))
            + mock.joint("pan_joint", "continuous", "base_link", "pan", "0 0 0.2", "0 0 0")
        ),
        "joint pan_joint",
        "axis x",
    ),
    "a flat box": (
        changed('<box size="0.5 0.3 0.1"/>', '<box size="0.5 0.3 0"/>'),
        "link base_link",
        "collision left out",
    ),
    "effort and velocity 0": (mock.standing_on_flippers(), "flipper front_left: max torque", "N m"),
    "limits beyond a turn": (
        mock.flippered().replace('lower="-1.5" upper="1.2"', 'lower="-180" upper="180"'),
        "flipper front_left_flipper: limits",
        "none",
    ),
    "a tag of no URDF": (added("<sensor/>", BASE), "<sensor> in <robot>", "kept, not read"),
    "a plugin's link that is none": (
        mock.with_plugin("pod_c"),
        "plugin tracks: left_track",
        "no link 'pod_c'",
    ),
    "a plugin's number that is none": (
        changed("<track_mu>0.7", "<track_mu>much", mock.with_plugin()),
        "plugin tracks: track_mu",
        "is left aside",
    ),
    "a friction of no rubber": (
        changed("<track_mu>0.7", "<track_mu>10", mock.with_plugin()),
        "all tracks: friction",
        "0.6",
    ),
    "another separation": (
        changed("separation>0.5<", "separation>0.9<", mock.with_plugin(), 1),
        "separation",
        "0.9 m in a plugin, 0.5 m between",
    ),
    "names against each other": (
        mock.wheeled()
        .replace("left", "LEFT")
        .replace("right", "left")
        .replace("LEFT", "right")
        .replace("_wheel_0", "_rear_wheel")
        .replace("_wheel_4", "_front_wheel"),
        "forward",
        "x by convention",
    ),
    "wheels in a row that may be no track": (mock.wheeled(), "tracks", "belts around the wheels"),
    "a mesh in mm": ("meshed", "unit of meshes without a scale", "mm: scale 0.001"),
    "a hull as low as the belts": (
        changed('<box size="0.5 0.3 0.1"/>', '<box size="0.5 0.3 0.5"/>'),
        "link base_link",
        "left out of contact",
    ),
    "a box alone for a track": (
        re.sub(
            r"<collision><origin[^>]*/><geometry><cylinder.*?</collision>",
            "",
            BASE.replace("pod_a", "left_belt").replace("pod_b", "right_belt"),
        ),
        "track left: outline",
        "4 pulleys",
    ),
}
"""Text of a file with a fault, and subject and value of its remark."""


def write(text: str, folder: Path) -> Path:
    """Write the text of a URDF."""
    file = folder / "robot.urdf"
    file.write_text(mock.meshed(folder, 1000.0) if text == "meshed" else text, encoding="utf-8")
    return file


@pytest.mark.parametrize("fault", ERRORS)
def test_a_fault_is_an_error_that_names_the_file_and_what_is_wrong(tmp_path: Path, fault: str) -> None:
    text, message = ERRORS[fault]
    with pytest.raises(SegtrackError, match=message) as caught:
        import_robot(write(text, tmp_path), out=tmp_path / "mine.yaml")
    assert str(caught.value).startswith("robot.urdf: ")
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize("fault", REMARKS)
def test_a_fault_is_remarked(tmp_path: Path, fault: str) -> None:
    text, what, value = REMARKS[fault]
    found = import_robot(write(text, tmp_path), out=tmp_path / "mine.yaml")
    told = [(each.what, each.value) for each in found.findings]
    assert any(own == what and value in said for own, said in told), told


def test_there_are_thirty_faults_and_more() -> None:
    assert len(ERRORS) + len(REMARKS) >= 45


@pytest.mark.parametrize(
    "options, message",
    [
        ({"settings": {"colour": 1}}, "no setting 'colour'; there are: belt_mass"),
        ({"settings": {"friction": "much"}}, r"setting friction \[-\] must be a number above 0, got 'much'"),
        ({"settings": {"friction": -1}}, r"setting friction \[-\] must be a number above 0, got -1"),
        (
            {"settings": {"grouser_height": 0.2}},
            r"setting grouser_height \[m\] of track left must be less than",
        ),
        (
            {"settings": {"belt_mass": 50}},
            r"setting belt_mass \[kg\] of track left must be less than the 3 kg of pod_a",
        ),
        ({"settings": {"forward": "up"}}, "--set forward must be one of x, -x, y, -y, got 'up'"),
        (
            {"settings": {"forward": "y"}},
            "--set forward must be across the axles, which lie along y, got 'y'",
        ),
        (
            {"arguments": {"tracks": "1"}},
            "--arg must be left out of a file that is not xacro or SDF, got tracks",
        ),
        ({"out": "robot.txt"}, "--out"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(SegtrackError, match=message):
        import_robot(write(BASE, tmp_path), **{"out": tmp_path / "mine.yaml", **options})  # type: ignore[arg-type]


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SegtrackError, match="cannot read .*none.urdf: no such file"):
        import_robot(tmp_path / "none.urdf")


def test_the_robots_own_file_is_not_overwritten(tmp_path: Path) -> None:
    file = write(BASE, tmp_path)
    import_robot(file, out=file.with_suffix(".yaml"))
    assert file.read_text(encoding="utf-8") == BASE
    body = file.with_name("robot_body.urdf")
    made = body.read_text(encoding="utf-8")
    with pytest.raises(SegtrackError, match="--out must be of a file that is not there yet"):
        import_robot(body, out=file.with_suffix(".yaml"))
    assert body.read_text(encoding="utf-8") == made


@pytest.mark.parametrize("name", ["mine.yaml", "mine_body.urdf", "mine.png"])
def test_files_of_somebody_else_are_not_overwritten(tmp_path: Path, name: str) -> None:
    file, own = write(BASE, tmp_path), tmp_path / name
    own.write_text("mine")
    with pytest.raises(SegtrackError, match=f"that `segtrack import` wrote, got '.*{name}'"):
        import_robot(file, out=tmp_path / "mine.yaml")
    assert own.read_text() == "mine" and len(list(tmp_path.iterdir())) == 2


def test_an_import_overwrites_an_import_and_one_that_fails_leaves_it(tmp_path: Path) -> None:
    file = write(BASE, tmp_path)
    for friction in (0.5, 0.7):
        found = import_robot(file, out=tmp_path / "mine.yaml", settings={"friction": friction})
        assert next(found.description.mounted_tracks()).spec.contact.friction == friction
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(SegtrackError):
        import_robot(file, out=tmp_path / "mine.yaml", settings={"grouser_pitch": 1e-5})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


XACRO: Callable[[str], str] = (
    '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="mock">\n'
    '<xacro:arg name="mass" default="20.0"/>{}</robot>'
).format


def test_xacro_arguments_packages_and_sensors_without_ros(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    package = tmp_path / "ours_description"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>ours_description</name></package>", encoding="utf-8")
    (package / "urdf" / "pods.xacro").write_text(
        BASE.partition(mock.HULL)[2].join(['<robot name="pods">', ""]), encoding="utf-8"
    )
    hull = mock.HULL.replace('value="20.0"', 'value="$(arg mass)"')
    main = XACRO(
        hull
        + '<xacro:include filename="$(find ours_description)/urdf/pods.xacro"/>'
        + '<xacro:include filename="$(find lidar_of_someone)/urdf/lidar.xacro"/>'
        + '<xacro:lidar name="top" parent="base_link"><origin xyz="0 0 0.3"/></xacro:lidar>'
    )
    file = package / "urdf" / "ours.urdf.xacro"
    file.write_text(main, encoding="utf-8")
    found = import_robot(file, out=tmp_path / "mine.yaml", arguments={"mass": "30.0"})
    assert found.description.mass == pytest.approx(36.0, abs=1e-9)
    missing = [each for each in found.findings if each.certainty == "missing"]
    assert [(each.what, each.value) for each in missing] == [
        ("package lidar_of_someone of $(find lidar_of_someone)", "left out, with its macros lidar")
    ]


@pytest.mark.parametrize(
    "content, message",
    [
        ("$(env ROBOT_OF_OURS)", "ROBOT_OF_OURS"),
        ("$(arg colour)", "colour; give it as --arg NAME:=VALUE"),
        ("${unknown_number}", "unknown_number"),
    ],
)
def test_a_fault_of_a_xacro_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    pytest.importorskip("xacro")
    file = tmp_path / "robot.xacro"
    file.write_text(XACRO(f'<link name="{content}"/>'), encoding="utf-8")
    with pytest.raises(SegtrackError, match=re.escape(message)) as caught:
        import_robot(file, out=tmp_path / "mine.yaml")
    assert str(caught.value).startswith("robot.xacro: xacro: ")


def test_a_xacro_file_without_the_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segtrack.importing.xacro_file.find_spec", lambda name: None)
    file = tmp_path / "robot.xacro"
    file.write_text(XACRO(""), encoding="utf-8")
    with pytest.raises(
        SegtrackError, match=r'a xacro file needs xacro, .*: pip install "segtrack\[import\]"'
    ):
        import_robot(file)
