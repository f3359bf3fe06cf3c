"""One robot as URDF, SDF and MJCF: the same tracks, mass and flippers, and it drives."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import mock_robots as mock
import numpy as np
import pytest
from command_line import run
from robot_formats import as_mjcf, as_sdf

from segtrack import SegtrackError, VehicleDescription, import_robot
from segtrack.description import place_tracks
from segtrack.importing import ImportedRobot, drive_trial

WITHIN = 1e-3
MAKERS: dict[str, Callable[[Path], str]] = {
    "boxed": lambda folder: mock.boxed(),
    "in_one_link": lambda folder: mock.in_one_link(),
    "wheeled": lambda folder: mock.wheeled(),
    "flippered": lambda folder: mock.flippered(),
    "standing_on_flippers": lambda folder: mock.standing_on_flippers(),
    "rocking": lambda folder: mock.rocking(),
    "meshed": mock.meshed,
}


def imported(text: str, folder: Path, name: str, **options: object) -> ImportedRobot:
    """Robot that is imported from the text of a file."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return import_robot(file, out=folder / f"{file.suffix[1:]}.yaml", **options)  # type: ignore[arg-type]


def outlines(vehicle: VehicleDescription) -> dict[str, np.ndarray]:
    """Support function of each track's outline (180,) and its middle plane's place, by name [m]."""
    angles = np.linspace(0, 2 * np.pi, 180)
    ways = np.stack([np.cos(angles), np.sin(angles)])
    found = {}
    for track in place_tracks(vehicle, {}):
        points = track.frame.plane_points(track.mounted.spec.belt_path.outline())
        extent = (points[:, [0, 2]] @ ways).max(axis=0)
        found[track.mounted.name] = np.append(extent, track.frame.origin[1])
    return found


def assert_same(one: VehicleDescription, other: VehicleDescription) -> None:
    """Assert that two vehicles have the same tracks, flippers, joints and mass."""
    tracks, others = outlines(one), outlines(other)
    assert set(tracks) == set(others)
    for name in tracks:
        np.testing.assert_allclose(tracks[name], others[name], atol=WITHIN)
    for mine, its in zip(one.mounted_tracks(), other.mounted_tracks(), strict=True):
        assert mine.spec.width == pytest.approx(its.spec.width, abs=WITHIN)
        assert mine.spec.drive.max_force == pytest.approx(its.spec.drive.max_force, rel=1e-3)
    assert other.mass == pytest.approx(one.mass, abs=1e-9)
    assert set(one.flippers) == set(other.flippers)
    for name, flipper in one.flippers.items():
        its = other.flippers[name]
        assert (flipper.tip_direction, flipper.max_torque, flipper.max_speed) == (
            its.tip_direction,
            pytest.approx(its.max_torque, rel=1e-3),
            its.max_speed,
        )
        assert flipper.limits == pytest.approx(its.limits, abs=1e-5)
        assert flipper.mass == pytest.approx(its.mass, abs=1e-9)
    assert list(one.joints) == list(other.joints)


@pytest.mark.parametrize("name", MAKERS)
def test_an_sdf_is_the_robot_of_its_urdf(tmp_path: Path, name: str) -> None:
    urdf = MAKERS[name](tmp_path)
    expected = imported(urdf, tmp_path, "robot.urdf").description
    assert_same(expected, imported(as_sdf(urdf), tmp_path, "robot.sdf").description)


@pytest.mark.parametrize("name", MAKERS)
def test_an_mjcf_is_the_robot_of_its_urdf(tmp_path: Path, name: str) -> None:
    pytest.importorskip("mujoco")
    urdf = MAKERS[name](tmp_path)
    expected = imported(urdf, tmp_path, "robot.urdf").description
    assert_same(expected, imported(as_mjcf(urdf), tmp_path, "robot.xml").description)


def assert_drives(text: str, folder: Path, name: str) -> None:
    """Assert that an imported robot stands on its belts, goes where it should and turns as friction says."""
    trial = drive_trial(imported(text, folder, name).description)
    assert trial.belt_share == pytest.approx(1.0, abs=0.005)
    assert trial.distance == pytest.approx(0.5, abs=0.05)
    assert trial.over_friction == pytest.approx(1.0, abs=0.03)


def test_an_sdf_drives(tmp_path: Path) -> None:
    assert_drives(as_sdf(mock.boxed()), tmp_path, "robot.sdf")


def test_an_mjcf_drives(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    assert_drives(as_mjcf(mock.boxed()), tmp_path, "robot.xml")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wheeled", "flippered", "rocking", "meshed"])
@pytest.mark.parametrize("write, file", [(as_sdf, "robot.sdf"), (as_mjcf, "robot.xml")])
def test_each_robot_drives_in_each_format(
    tmp_path: Path, name: str, write: Callable[[str], str], file: str
) -> None:
    pytest.importorskip("mujoco")
    assert_drives(write(MAKERS[name](tmp_path)), tmp_path, file)


def test_plugins_of_an_sdf_say_friction_speed_and_sides(tmp_path: Path) -> None:
    vehicle = imported(as_sdf(mock.with_plugin()), tmp_path, "robot.sdf").description
    contact, drive = vehicle.tracks["left"].contact, vehicle.tracks["left"].drive
    assert (contact.friction, contact.lateral_friction, drive.max_speed) == (0.7, 0.35, 0.8)
    turned = imported(as_sdf(mock.with_plugin("pod_b", "pod_a")), tmp_path, "turned.sdf")
    assert next(each for each in turned.findings if each.what == "forward").value == "-x"


CONTROLLERS = "".join(
    f'<plugin name="gz::sim::systems::TrackController" filename="gz-sim-track-controller-system">'
    f"<link>{link}</link><max_velocity>0.9</max_velocity></plugin>"
    for link in ("arm_a", "arm_b")
)


def test_links_of_track_controllers_are_tracks(tmp_path: Path) -> None:
    """A box alone is no track without a plugin that names it."""
    boxes = re.sub(
        r"<collision><origin[^>]*/><geometry><cylinder.*?</collision>",
        "",
        mock.boxed().replace("pod_", "arm_"),
    )
    with pytest.raises(SegtrackError, match="must have tracks"):
        imported(as_sdf(boxes), tmp_path, "plain.sdf")
    text = as_sdf(boxes).replace("</model>", f"{CONTROLLERS}</model>")
    vehicle = imported(text, tmp_path, "robot.sdf").description
    assert vehicle.tracks["left"].mount.xyz[1] == pytest.approx(0.25)
    assert vehicle.tracks["left"].drive.max_speed == 0.9


def test_wheels_that_an_ackermann_plugin_steers_are_no_track(tmp_path: Path) -> None:
    """Two wheels on a side, which a diff_drive plugin would make a track."""
    two = as_sdf(mock.wheeled(((-0.2, 0, 0.1), (0.2, 0, 0.1))))
    drives = "".join(
        f"<{side}_joint>{side}_wheel_{i}_joint</{side}_joint>" for side in ("left", "right") for i in (0, 1)
    )
    plugin = '<plugin name="p" filename="f">{}</plugin></model>'
    skid = two.replace("</model>", plugin.format(drives))
    assert set(imported(skid, tmp_path, "skid.sdf").description.tracks) == {"left", "right"}
    steers = drives + "<left_steering_joint>left_wheel_1_joint</left_steering_joint>"
    with pytest.raises(SegtrackError, match="2 and 2 wheels are on its sides"):
        imported(two.replace("</model>", plugin.format(steers)), tmp_path, "car.sdf")


@pytest.mark.parametrize("values, said", [(("0.7", "0.7"), 0.7), (("0.7", "0.9"), None)])
def test_the_friction_of_wheels_is_a_hint_if_it_is_one_number(
    tmp_path: Path, values: tuple[str, str], said: float | None
) -> None:
    text = as_sdf(mock.wheeled())
    parts = text.split('<link name="right_wheel_0"')
    surface = "<surface><friction><ode><mu>{}</mu></ode></friction></surface></collision>"
    left, right = (
        part.replace("</collision>", surface.format(mu)) for part, mu in zip(parts, values, strict=True)
    )
    found = imported('<link name="right_wheel_0"'.join([left, right]), tmp_path, "robot.sdf")
    track = next(found.description.mounted_tracks())
    told = [each.value for each in found.findings if each.what == "mu of collisions of tracks and wheels"]
    if said is None:
        assert told == ["0.7 to 0.9, left aside"]
    else:
        assert (track.spec.contact.friction, told) == (said, [])


def test_moving_surfaces_of_an_mjcf_are_tracks(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", minversion="3.11")
    boxes = re.sub(
        r"<collision><origin[^>]*/><geometry><cylinder.*?</collision>",
        "",
        mock.boxed().replace("pod_", "arm_"),
    )
    text = re.sub(
        r'(<body name="arm_.".*?<geom )', r'\1surfacevel="1 0 0" friction="0.8" ', as_mjcf(boxes), flags=re.S
    )
    vehicle = imported(text, tmp_path, "robot.xml").description
    assert vehicle.tracks["left"].mount.xyz[1] == pytest.approx(0.25)
    assert vehicle.tracks["left"].contact.friction == 0.8


def test_a_model_is_included_and_flattened(tmp_path: Path) -> None:
    """Tracks in a model of their own, beside the file; the world around has a ground."""
    tracks = tmp_path / "models" / "pods"
    tracks.mkdir(parents=True)
    (tracks / "model.config").write_text('<model><sdf version="1.9">pods.sdf</sdf></model>', encoding="utf-8")
    text = as_sdf(mock.boxed())
    hull = re.search(r'<link name="base_link">.*?</link>', text, re.S)
    joints = re.findall(r"<joint .*?</joint>", text, re.S)
    assert hull is not None and len(joints) == 2
    pods = text.replace(hull[0], "").replace(joints[0], "").replace(joints[1], "")
    (tracks / "pods.sdf").write_text(pods.replace('name="mock"', 'name="pods"'), encoding="utf-8")
    between = "".join(re.sub("<child>(.*)</child>", r"<child>mine::\1</child>", joint) for joint in joints)
    include = "<include><uri>model://pods</uri><name>mine</name></include>"
    ground = '<model name="ground"><static>true</static><link name="l"/></model>'
    whole = f'<model name="mock">{hull[0]}{include}{between}</model>'
    file = tmp_path / "models" / "robot.sdf"
    file.write_text(f'<sdf version="1.9"><world name="w">{ground}{whole}</world></sdf>', encoding="utf-8")
    found = import_robot(file, out=tmp_path / "sdf.yaml")
    expected = imported(mock.boxed(), tmp_path, "robot.urdf").description
    assert_same(expected, found.description)
    assert set(found.description.body.without_contact) == {"mine__pod_a", "mine__pod_b"}
    assert any(each.what == "models ground" for each in found.findings)


@pytest.mark.parametrize("variable", ["GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH"])
def test_a_model_is_found_by_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    store = tmp_path / "store" / "whole"
    store.mkdir(parents=True)
    (store / "model.sdf").write_text(as_sdf(mock.boxed()), encoding="utf-8")
    folder = tmp_path / "here"
    folder.mkdir()
    text = '<sdf version="1.9"><world name="w"><include><uri>model://whole</uri></include></world></sdf>'
    with pytest.raises(SegtrackError, match="(?s)got none.*missing: model model://whole: left out"):
        imported(text, folder, "robot.sdf")
    monkeypatch.setenv(variable, str(tmp_path / "store"))
    assert imported(text, folder, "robot.sdf").description.mass == pytest.approx(26.0, abs=1e-9)


def test_what_gazebo_reads_and_xml_forbids_is_read(tmp_path: Path) -> None:
    """Blanks before the declaration, dashes in comments, prefixes that nothing declares, names used twice."""
    text = "\n" + as_sdf(mock.boxed(), "1.6").replace(
        "</model>", "<!-- gz topic --once -- --><gz:policies a:b='1'><gz:x/></gz:policies></model>"
    )
    text = text.replace('name="pod_a_joint"', 'name="pod_a"')
    found = imported(text, tmp_path, "robot.sdf")
    assert_same(imported(mock.boxed(), tmp_path, "robot.urdf").description, found.description)
    assert ("joint pod_a", "called pod_a_joint") in [(each.what, each.value) for each in found.findings]


def test_one_of_several_models_is_chosen_by_its_name(tmp_path: Path) -> None:
    model = re.search("<model.*</model>", as_sdf(mock.boxed()), re.S)
    assert model is not None
    text = f'<sdf version="1.9"><world name="w">{model[0]}{model[0].replace("mock", "other")}</world></sdf>'
    found = imported(text, tmp_path, "robot.sdf", arguments={"model": "other"})
    assert found.description.name == "other"


def test_a_mesh_without_a_file_is_written_beside_the_urdf(tmp_path: Path) -> None:
    """Vertices in the MJCF itself, or a mesh that the file moves; an import that fails leaves none."""
    pytest.importorskip("mujoco")
    urdf = mock.meshed(tmp_path)
    expected = imported(urdf, tmp_path, "robot.urdf").description
    moved = as_mjcf(urdf).replace('file="belt.stl"', 'file="belt.stl" refpos="0.1 0 0"')
    moved = re.sub(r'mesh="belt" pos="0.0 ', 'mesh="belt" pos="0.1 ', moved)
    assert moved.count('mesh="belt" pos="0.1 ') == 2
    with pytest.raises(SegtrackError):
        imported(moved, tmp_path, "robot.xml", settings={"grouser_pitch": 1e-5})
    assert not list(tmp_path.glob("xml*"))
    assert_same(expected, imported(moved, tmp_path, "robot.xml").description)
    (written,) = tmp_path.glob("xml_body_*.stl")
    shutil.move(tmp_path / "xml.yaml", tmp_path / "gone.yaml")
    for name in ("xml_body.urdf", "gone.yaml"):
        (tmp_path / name).unlink()
    with pytest.raises(SegtrackError, match=f"that `segtrack import` wrote, got '.*{written.name}'"):
        imported(moved, tmp_path, "robot.xml")


def test_a_held_base_is_freed_and_another_robot_told(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    other = '<body name="ball" pos="3 0 0"><geom type="sphere" size="0.1" mass="1"/></body>'
    text = as_mjcf(mock.boxed()).replace("<freejoint/>", "").replace("</worldbody>", f"{other}</worldbody>")
    found = imported(text, tmp_path, "robot.xml")
    told = {each.what: each.value for each in found.findings}
    assert told["body base_link"] == "taken off the world"
    assert told["bodies ball"] == "left out"
    assert found.description.mass == pytest.approx(26.0, abs=1e-9)


@pytest.mark.parametrize("name, write", [("robot.sdf", as_sdf), ("robot.xml", as_mjcf)])
def test_the_command_reads_it(tmp_path: Path, name: str, write: Callable[[str], str]) -> None:
    if name.endswith(".xml"):
        pytest.importorskip("mujoco")
    (tmp_path / name).write_text(write(mock.boxed()), encoding="utf-8")
    result = run("import", name, "--json", folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["trial"]["belt_share"] == pytest.approx(1.0, abs=0.01)
    assert run("validate", "mock.yaml", folder=tmp_path).exit_code == 0
