"""Import of mock robots: their tracks within 1 mm, their mass to 1e-9, and they drive."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import mock_robots as mock
import numpy as np
import pytest
import trimesh
from command_line import run

from segtrack import SegtrackError, VehicleDescription, World, import_robot
from segtrack.description import link_frames, link_masses, place_tracks, read_value, vehicle_links
from segtrack.importing import ImportedRobot, TrialDrive, drive_trial
from segtrack.terrain import Plane

WITHIN = 1e-3


def imported(text: str, folder: Path, **options: object) -> ImportedRobot:
    """Robot that is imported from the text of its URDF."""
    file = folder / "robot.urdf"
    file.write_text(text, encoding="utf-8")
    return import_robot(file, out=folder / "mine.yaml", **options)  # type: ignore[arg-type]


def hull_extent(circles: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """Support function of circles (n, 3), by its definition."""
    return (circles[:, :2] @ ways + circles[:, 2:]).max(axis=0)


def assert_track(
    vehicle: VehicleDescription, name: str, circles: object, place: tuple[float, float, float], added: float
) -> None:
    """Assert that a track's outline is that of circles at a place, with radii larger by a length [m]."""
    track = next(each for each in place_tracks(vehicle, {}) if each.mounted.name == name)
    angles = np.linspace(0, 2 * np.pi, 180)
    ways = np.stack([np.cos(angles), np.sin(angles)])
    expected = np.array(circles, dtype=float) + (place[0], place[2], added)
    path = track.mounted.spec.belt_path.outline()
    points = track.frame.plane_points(path)
    got = (points[:, [0, 2]] @ ways).max(axis=0)
    assert np.abs(got - hull_extent(expected, ways)).max() < WITHIN
    assert track.frame.origin[1] == pytest.approx(place[1], abs=WITHIN)


def drives(vehicle: VehicleDescription) -> bool:
    """Return whether a vehicle drives forward and turns to the right, as it is told."""
    with World(engine="native") as world:
        world.add_terrain(Plane())
        own = world.add_vehicle(vehicle, track_model="compliant")
        world.run(0.3)
        start = own.state
        own.set_belt_speed(0.2, 0.2)
        world.run(0.6)
        ahead = own.state.position[0] - start.position[0]
        own.set_belt_speed(0.2, -0.2)
        world.run(0.6)
        return 0.08 < ahead < 0.16 and own.state.yaw < -0.05


def tread(vehicle: VehicleDescription, name: str) -> float:
    """Grouser height of a track [m]."""
    return next(
        t.spec.grousers.height for t in vehicle.mounted_tracks() if t.name == name and t.spec.grousers
    )


def thickness(vehicle: VehicleDescription) -> float:
    """Thickness of the first track's belt [m]."""
    return next(vehicle.mounted_tracks()).spec.belt.thickness


def test_a_box_and_two_cylinders_are_a_track(tmp_path: Path) -> None:
    vehicle = imported(mock.boxed(), tmp_path).description
    for name, y in (("left", 0.25), ("right", -0.25)):
        assert_track(vehicle, name, mock.OVAL, (0, y, 0.02), -tread(vehicle, name))
    assert [track.spec.width for track in vehicle.mounted_tracks()] == pytest.approx([0.1, 0.1])
    assert vehicle.mass == pytest.approx(26.0, abs=1e-9)
    assert set(vehicle.body.without_contact) == {"pod_a", "pod_b"}
    assert drives(vehicle)


def test_shapes_of_both_tracks_may_be_on_one_link(tmp_path: Path) -> None:
    vehicle = imported(mock.in_one_link(), tmp_path).description
    for name, y in (("left", 0.25), ("right", -0.25)):
        assert_track(vehicle, name, mock.OVAL, (0, y, 0.02), -tread(vehicle, name))
    assert vehicle.mass == pytest.approx(20.0, abs=1e-9)
    assert drives(vehicle)


@pytest.mark.parametrize("axis", ["0 1 0", "0 -1 0"])
def test_a_belt_goes_around_axles_in_a_row(tmp_path: Path, axis: str) -> None:
    vehicle = imported(mock.wheeled(axis=axis), tmp_path).description
    for name, y in (("left", 0.25), ("right", -0.25)):
        assert_track(vehicle, name, mock.WHEELS, (0, y, 0), thickness(vehicle))
    assert next(vehicle.mounted_tracks()).spec.width == pytest.approx(0.08)
    assert vehicle.mass == pytest.approx(25.0, abs=1e-9)
    assert drives(vehicle)


def test_inner_wheels_are_no_pulleys(tmp_path: Path) -> None:
    vehicle = imported(mock.wheeled(), tmp_path).description
    pulleys = vehicle.tracks["left"].path.pulleys
    assert pulleys is not None
    assert len(pulleys) == 4  # The wheel in the middle of three on the ground bends no belt.


@pytest.mark.parametrize("turn", [math.pi / 2, -math.pi / 2, math.pi, 0.4])
def test_forward_is_across_the_axles_whatever_the_root_frame_is(tmp_path: Path, turn: float) -> None:
    vehicle = imported(mock.wheeled(turn=turn), tmp_path).description
    for name, y in (("left", 0.25), ("right", -0.25)):
        assert_track(vehicle, name, mock.WHEELS, (0, y, 0), thickness(vehicle))
    assert vehicle.mass == pytest.approx(25.0, abs=1e-9)
    assert drives(vehicle)


def test_axles_along_x_without_names_drive_along_y(tmp_path: Path) -> None:
    found = imported(mock.wheeled(turn=math.pi / 2, suffix="w"), tmp_path)
    forward = next(each for each in found.findings if each.what == "forward")
    assert (forward.certainty, forward.value) == ("guessed", "y")
    assert drives(found.description)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_mesh_called_track_is_one_in_metres_or_mm(tmp_path: Path, scale: float) -> None:
    found = imported(mock.meshed(tmp_path, scale), tmp_path)
    vehicle = found.description
    for name, y in (("left", 0.25), ("right", -0.25)):
        assert_track(vehicle, name, mock.OVAL, (0, y, 0.02), -tread(vehicle, name))
    assert vehicle.mass == pytest.approx(26.0, abs=1e-9)
    assert ("mm" in " ".join(each.value for each in found.findings)) == (scale == 1000.0)
    assert drives(vehicle)


def test_flippers_are_found_with_their_servos(tmp_path: Path) -> None:
    vehicle = imported(mock.flippered(), tmp_path).description
    assert set(vehicle.tracks) == {"left", "right"}
    assert set(vehicle.flippers) == {"front_left", "front_right", "rear_left", "rear_right"}
    front, rear = vehicle.flippers["front_left"], vehicle.flippers["rear_right"]
    assert (front.tip_direction, rear.tip_direction) == ("front", "rear")
    assert (front.max_torque, front.max_speed) == (40.0, 2.0)
    assert front.limits == pytest.approx((-1.5, 1.2))  # About -y a positive position raises the front tip,
    assert rear.limits == pytest.approx((-1.5, 1.2))  # and a rear one too, whose frame is turned about.
    assert_track(
        vehicle, "front_left_belt", mock.TAPERED, (0.25, 0.35, 0.02), -tread(vehicle, "front_left_belt")
    )
    mirrored = [(-x, z, r) for x, z, r in mock.TAPERED]
    assert_track(
        vehicle, "rear_right_belt", mirrored, (-0.25, -0.35, 0.02), -tread(vehicle, "rear_right_belt")
    )
    assert vehicle.mass == pytest.approx(32.0, abs=1e-9)
    assert drives(vehicle)


def test_several_boxes_between_two_cylinders_are_one_track(tmp_path: Path) -> None:
    bar = mock.shape('<box size="0.3 0.06 0.05"/>', "0.15 0 0.02") + mock.shape(
        '<box size="0.2 0.06 0.06"/>', "0.15 0 0"
    )
    text = mock.flippered().replace(
        '</collision></link><joint name="front', f'</collision>{bar}</link><joint name="front'
    )
    assert text.count(bar) == 2
    vehicle = imported(text, tmp_path).description
    assert [len(flipper.tracks) for flipper in vehicle.flippers.values()] == [1, 1, 1, 1]
    name = "front_left_belt"
    assert_track(vehicle, name, mock.TAPERED, (0.25, 0.35, 0.02), -tread(vehicle, name))


def test_one_flipper_may_have_a_belt_on_each_side(tmp_path: Path) -> None:
    pair = "".join(mock.belt_shapes(((0.0, 0.0, 0.08), (0.3, 0.0, 0.08)), 0.05, y) for y in (0.35, -0.35))
    arm = mock.link("flipper", mock.inertial(2.0), pair) + mock.joint(
        "flipper_joint", "revolute", "base_link", "flipper", "0.2 0 0.03", "0 -1 0", mock.LIMIT
    )
    vehicle = imported(mock.boxed().replace("</robot>", arm + "</robot>"), tmp_path).description
    assert set(vehicle.tracks) == {"left", "right"}
    (flipper,) = vehicle.flippers.values()
    assert set(flipper.tracks) == {"left", "right"}
    assert vehicle.mass == pytest.approx(28.0, abs=1e-9)
    assert drives(vehicle)


def test_upright_flippers_have_angle_0_where_they_lie(tmp_path: Path) -> None:
    found = imported(mock.standing_on_flippers(), tmp_path)
    vehicle = found.description
    assert not vehicle.tracks
    flipper = vehicle.flippers["front_left"]
    assert flipper.limits == pytest.approx((math.pi / 2 - 3.0, math.pi / 2 + 0.5))
    assert_track(
        vehicle, "front_left_belt", mock.TAPERED, (0.25, 0.35, 0.02), -tread(vehicle, "front_left_belt")
    )
    assert any("effort is 0" in each.source for each in found.findings)
    assert vehicle.mass == pytest.approx(26.0, abs=1e-9)
    assert drives(vehicle)


def test_rockers_that_carry_all_tracks_are_coupled(tmp_path: Path) -> None:
    found = imported(mock.rocking(), tmp_path)
    vehicle = found.description
    assert list(vehicle.joints) == ["left_rocker_joint"]
    mimic = found.urdf_file.read_text(encoding="utf-8").count(
        '<mimic joint="left_rocker_joint" multiplier="-1"'
    )
    assert mimic == 1
    assert vehicle.tracks["left"].mount.parent == "left_rocker"
    assert_track(vehicle, "left", mock.OVAL, (0, 0.3, 0.02), -tread(vehicle, "left"))
    assert vehicle.mass == pytest.approx(28.0, abs=1e-9)
    assert drives(vehicle)


def test_a_plugin_says_friction_and_speed(tmp_path: Path) -> None:
    vehicle = imported(mock.with_plugin(), tmp_path).description
    contact, drive = vehicle.tracks["left"].contact, vehicle.tracks["left"].drive
    assert (contact.friction, contact.lateral_friction, drive.max_speed) == (0.7, 0.35, 0.8)


def test_a_plugin_that_names_the_sides_turns_the_robot_about(tmp_path: Path) -> None:
    found = imported(mock.with_plugin("pod_b", "pod_a"), tmp_path)
    forward = next(each for each in found.findings if each.what == "forward")
    assert (forward.certainty, forward.value) == ("guessed", "-x")
    assert found.description.tracks["left"].mount.parent == "vehicle_root"
    assert drives(found.description)


def test_what_is_set_is_written(tmp_path: Path) -> None:
    settings = {
        "friction": "0.8",
        "max_speed": 1.5,
        "max_force": 200,
        "belt_mass": 0.7,
        "grouser_height": 0.004,
    }
    vehicle = imported(mock.boxed(), tmp_path, settings=settings).description
    track = vehicle.tracks["right"]
    assert track.grousers is not None
    got = (
        track.contact.friction,
        track.drive.max_speed,
        track.drive.max_force,
        track.belt.mass,
        track.grousers.height,
    )
    assert got == (0.8, 1.5, 200.0, 0.7, 0.004)
    assert vehicle.mass == pytest.approx(26.0, abs=1e-9)


def test_a_given_mass_is_that_of_the_vehicle(tmp_path: Path) -> None:
    vehicle = imported(mock.boxed(), tmp_path, settings={"mass": 52.0}).description
    assert vehicle.mass == pytest.approx(52.0, abs=1e-9)


def test_forward_can_be_set(tmp_path: Path) -> None:
    found = imported(mock.boxed(), tmp_path, settings={"forward": "-x"})
    assert found.description.tracks["left"].mount.parent == "vehicle_root"


def test_questions_are_asked_for_what_is_guessed_alone(tmp_path: Path) -> None:
    asked = []

    def answer(question: object) -> float:
        asked.append(question.name)  # type: ignore[attr-defined]
        return 0.005 if question.name == "grouser_height" else question.proposal  # type: ignore[attr-defined]

    vehicle = imported(mock.with_plugin(), tmp_path, ask=answer).description
    assert asked == ["grouser_height"]  # The plugin says friction and speed.
    assert tread(vehicle, "left") == 0.005


def test_belts_leave_the_mass_of_each_link_that_they_are_taken_off(tmp_path: Path) -> None:
    found = imported(mock.boxed(), tmp_path)
    masses = link_masses(ElementTree.parse(found.urdf_file).getroot())
    belt = found.description.tracks["left"].belt.mass
    assert masses["pod_a"] + belt == pytest.approx(3.0, abs=1e-12)
    assert masses["base_link"] == 20.0


def test_shapes_as_low_as_the_belts_are_left_out_of_contact(tmp_path: Path) -> None:
    low = mock.boxed().replace('<box size="0.5 0.3 0.1"/>', '<box size="0.5 0.3 0.5"/>')
    found = imported(low, tmp_path)
    assert "base_link" in found.description.body.without_contact
    assert any(each.what == "link base_link" and "lower than" in each.source for each in found.findings)


def test_the_same_file_is_written_twice(tmp_path: Path) -> None:
    texts = [imported(mock.flippered(), tmp_path).vehicle_file.read_bytes() for _ in range(2)]
    assert texts[0] == texts[1]
    assert read_value(texts[0].decode()) is not None


@pytest.mark.slow
@pytest.mark.parametrize("make", [mock.boxed, mock.wheeled, mock.flippered, mock.rocking])
def test_belts_carry_all_and_turn_as_friction_says(tmp_path: Path, make: Callable[[], str]) -> None:
    trial = drive_trial(imported(make(), tmp_path).description)
    assert trial.belt_share == pytest.approx(1.0, abs=0.005)
    assert trial.distance == pytest.approx(0.5, abs=0.05)
    assert trial.over_friction == pytest.approx(1.0, abs=0.03)
    assert trial.turned > 0


def test_wheels_become_tracks_only_if_asked(tmp_path: Path) -> None:
    pytest.importorskip("xacro")  # The file has `$(optenv ...)` left in it.
    husky = Path(pytest.importorskip("pybullet_data").getDataPath()) / "husky" / "husky.urdf"
    with pytest.raises(
        SegtrackError, match="2 and 2 wheels are on its sides: --tracks-around-wheels puts a belt"
    ):
        import_robot(husky, out=tmp_path / "husky.yaml")
    vehicle = import_robot(husky, out=tmp_path / "husky.yaml", tracks_around_wheels=True).description
    masses = link_masses(ElementTree.parse(husky).getroot())
    assert vehicle.mass == pytest.approx(sum(masses.values()), abs=1e-9)
    assert vehicle.gauge == pytest.approx(
        2 * 0.2854, abs=WITHIN
    )  # Of its joints' origins, and its wheels' meshes.
    assert drives(vehicle)


def test_the_command_prints_and_draws_what_it_found(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(mock.flippered(), encoding="utf-8")
    result = run("import", "robot.urdf", "--set", "friction=0.8", "--json", folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["trial"]["belt_share"] == pytest.approx(1.0, abs=0.01)
    assert {
        "certainty": "given",
        "what": "all tracks: friction",
        "value": "0.8",
        "source": "--set or answer",
    } in told["findings"]
    assert (tmp_path / "mock.yaml").is_file()
    assert (tmp_path / "mock.png").stat().st_size > 10_000
    assert run("validate", "mock.yaml", folder=tmp_path).exit_code == 0


def test_the_command_ends_with_exit_code_2_without_tracks(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(mock.robot(mock.HULL), encoding="utf-8")
    result = run("import", "robot.urdf", folder=tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("segtrack: robot.urdf: must have tracks")


@pytest.mark.parametrize("option, value", [("--set", "friction"), ("--arg", "a=b"), ("--set", "=1")])
def test_an_option_that_is_no_pair_is_named(tmp_path: Path, option: str, value: str) -> None:
    (tmp_path / "robot.urdf").write_text(mock.boxed(), encoding="utf-8")
    result = run("import", "robot.urdf", option, value, folder=tmp_path)
    assert result.exit_code == 2
    assert f"{option} must be name" in result.stderr


def test_a_drive_that_is_not_as_it_should_be_is_remarked() -> None:
    assert not TrialDrive(1.0, 0.5, 0.0, 1.0, 1.02).remarks()
    told = [(each.what, each.value) for each in TrialDrive(0.66, 0.1, 0.0, 0.0, None).remarks()]
    assert told == [
        ("trial drive", "66% of the weight on belts"),
        ("trial drive", "0.10 m for 0.5 m"),
        ("trial drive", "it does not turn as friction says"),
    ]


@pytest.mark.parametrize("name, plain", [("机器人", "robot"), ("4wd", "robot_4wd"), ("../evil", "evil")])
def test_a_name_that_a_vehicle_cannot_have_is_mended(tmp_path: Path, name: str, plain: str) -> None:
    assert imported(mock.boxed().replace('name="mock"', f'name="{name}"'), tmp_path).description.name == plain


@pytest.mark.parametrize("text", [mock.boxed(), mock.flippered()])
def test_belts_that_are_taken_off_leave_the_centre_of_mass(tmp_path: Path, text: str) -> None:
    """Inertials that lie aside: all together weigh, and balance, as the file says."""
    text = text.replace("<inertial>", '<inertial><origin xyz="0.03 0.01 0.02"/>')
    tree = ElementTree.fromstring(text)
    frames, masses = link_frames(tree), link_masses(tree)
    places = {name: frame.points(np.array([0.03, 0.01, 0.02])) for name, frame in frames.items()}
    whole = sum(masses[name] * places[name] for name in masses) / sum(masses.values())
    links = vehicle_links(imported(text, tmp_path).description)
    assert not any(links.parents)
    own = [np.zeros(3), *(pivot.origin for pivot in links.pivots)]  # Turned by nothing: all stand at 0.
    sums = sum(part.mass * (place + part.center) for part, place in zip(links.masses, own, strict=True))
    np.testing.assert_allclose(sums / links.mass, whole, atol=WITHIN)


def test_tracks_share_the_pull_without_those_of_flippers(tmp_path: Path) -> None:
    """Flippers that stand clear of the ground bear nothing."""
    one, other = (imported(text, tmp_path).description for text in (mock.boxed(), mock.flippered()))
    pulls = [sum(t.drive.max_force for t in v.tracks.values()) / v.mass for v in (one, other)]
    assert pulls[0] == pytest.approx(0.8 * 9.81, rel=1e-3) == pulls[1]


def test_a_number_is_asked_for_once(tmp_path: Path) -> None:
    asked = []
    imported(
        mock.flippered(), tmp_path, ask=lambda question: asked.append(question.name) or question.proposal
    )
    assert len(asked) == len(set(asked)) > 0


def test_a_flipper_without_mass_is_refused_by_its_links(tmp_path: Path) -> None:
    tree = ElementTree.fromstring(mock.flippered())
    for link in tree.iterfind("link"):
        if "flipper" in str(link.get("name")):
            link.remove(link.find("inertial"))
    with pytest.raises(SegtrackError, match=r"mass of flipper .* must be above the .* of its belt"):
        imported(ElementTree.tostring(tree, encoding="unicode"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["robot.urdf"]


def test_a_drive_is_that_of_the_belt_and_not_of_its_tips(tmp_path: Path) -> None:
    """Torque and turning of a sprocket on a link whose outline is out to the tips."""
    pod = '<link name="pod_a">'
    assert pod in mock.boxed()
    sprocket = mock.joint(
        "sprocket", "continuous", "pod_a", "wheel", "0.25 0 0", more='<limit effort="10" velocity="20"/>'
    )
    text = mock.boxed().replace("</robot>", f'<link name="wheel"/>{sprocket}</robot>')
    vehicle = imported(text, tmp_path).description
    track = vehicle.tracks["left"]
    assert track.path.pulleys is not None and track.drive is not None
    radius = track.path.pulleys[0].radius
    assert radius < 0.09  # The grousers' height is off.
    assert track.drive.max_force == pytest.approx(10.0 / radius, rel=1e-3)
    assert track.drive.max_speed == pytest.approx(20.0 * radius, rel=1e-3)


def test_a_named_track_without_a_partner_is_remarked(tmp_path: Path) -> None:
    arm = mock.link("track_arm", mock.inertial(0.5), mock.shape('<box size="0.1 0.1 0.1"/>'))
    held = mock.joint("arm", "fixed", "base_link", "track_arm", "0 0 0.4")
    named = mock.boxed().replace("pod_a", "left_track").replace("pod_b", "right_track")
    found = imported(named.replace("</robot>", f"{arm}{held}</robot>"), tmp_path)
    told = [each.what for each in found.findings if each.value == "has no partner on the other side"]
    assert told == ["track of track_arm"]


def test_a_pair_of_flippers_beside_two_tracks_is_called_flippers(tmp_path: Path) -> None:
    tree = ElementTree.fromstring(mock.flippered())
    for element in (*tree.findall("link"), *tree.findall("joint")):
        if str(element.get("name")).startswith("rear_"):
            tree.remove(element)
    vehicle = imported(ElementTree.tostring(tree, encoding="unicode"), tmp_path).description
    assert set(vehicle.tracks) == {"left", "right"}
    assert set(vehicle.flippers) == {"left_flipper", "right_flipper"}


@pytest.mark.parametrize(("limit", "what"), [("effort", "max torque"), ("velocity", "max speed")])
def test_a_flipper_that_no_motor_drives_has_a_default_and_a_remark(
    tmp_path: Path, limit: str, what: str
) -> None:
    tree = ElementTree.fromstring(mock.flippered())
    for element in tree.iter("limit"):
        element.set(limit, "1e6")
    found = imported(ElementTree.tostring(tree, encoding="unicode"), tmp_path)
    (flipper, *_) = found.description.flippers.values()
    assert (flipper.max_torque if limit == "effort" else flipper.max_speed) < 1e3
    assert any(each.value == f"{limit} 1e+06 is not believed" for each in found.findings)
    assert any(what in each.what and "1e+06" in each.source for each in found.findings)


@pytest.mark.parametrize("turn", [0.0, 1.0])
def test_a_root_beside_the_robot_is_put_amid_its_tracks(tmp_path: Path, turn: float) -> None:
    """A CAD's origin, 2 m ahead and 1 m aside: all is as with the root in the hull, but for a remark."""
    placed = mock.joint("placed", "fixed", "cad", "base_link", "2 1 0.3", rpy=f"0 0 {turn}")
    far = f'<link name="cad"/>{placed}'
    text = mock.boxed().replace('<link name="base_link"', far + '<link name="base_link"', 1)
    near, found = imported(mock.boxed(), tmp_path).description, imported(text, tmp_path)
    for name, track in found.description.tracks.items():
        x, y, z = near.tracks[name].mount.xyz
        assert track.mount.xyz == pytest.approx((x, y, z + 0.3), abs=1e-6)
        assert track.path == near.tracks[name].path
    assert found.description.mass == pytest.approx(near.mass, abs=1e-9)
    assert any("a root link amid them is put above it" in each.source for each in found.findings)
    assert drive_trial(found.description).belt_share == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("turn", "settings"), [(1.0, {}), (0.0, {"forward": "-x"})])
def test_a_root_that_is_beside_the_tracks_and_turned_gets_one_root_above_it(
    tmp_path: Path, turn: float, settings: dict[str, object]
) -> None:
    placed = mock.joint("placed", "fixed", "cad", "base_link", "2 1 0.3", rpy=f"0 0 {turn}")
    far = f'<link name="cad"/>{placed}<link name="base_link"'
    found = imported(mock.boxed().replace('<link name="base_link"', far, 1), tmp_path, settings=settings)
    links = [str(link.get("name")) for link in ElementTree.parse(found.urdf_file).getroot().iterfind("link")]
    assert [name for name in links if name.startswith("vehicle_root")] == ["vehicle_root"]
    (remark,) = (each for each in found.findings if "a root link amid them" in each.source)
    assert (remark.what, remark.value) == ("link cad", "2.24 m from the middle of its tracks")
    xs, ys = zip(*(track.mount.xyz[:2] for track in found.description.tracks.values()), strict=True)
    assert max(map(abs, xs)) < 1e-6 and sum(ys) == pytest.approx(0.0, abs=1e-6)


def test_an_outline_of_odd_shape_of_1_m_is_fitted_within_5_mm(tmp_path: Path) -> None:
    """A lens, whose support function in a direction at a is hypot(0.5 cos a, 0.06 sin a)."""
    turns = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    ring = np.stack([0.5 * np.cos(turns), 0 * turns, 0.06 * np.sin(turns)], axis=1)
    text = mock.meshed(tmp_path)
    points = np.concatenate([ring + (0, y, 0) for y in (-0.05, 0.05)])
    trimesh.PointCloud(points).convex_hull.export(tmp_path / "belt.stl")
    found = imported(text, tmp_path)
    track = found.description.tracks["left"]
    x, _, z = track.mount.xyz
    place = np.array([x, z - 0.02])  # Its link is 20 mm up.
    ways = np.stack([np.cos(turns), np.sin(turns)])
    tips = ((track.belt_path.outline() + place) @ ways).max(axis=0) + tread(found.description, "left")
    off = np.abs(tips - np.hypot(0.5 * ways[0], 0.06 * ways[1])).max()
    assert 1e-4 < off < 5e-3
    told = [float(word) for each in found.findings for word in re.findall(r"within ([\d.]+) mm", each.source)]
    assert off * 1e3 < max(told) + 0.01
