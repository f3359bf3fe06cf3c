"""Export to URDF: outlines and masses are the vehicle's, and an import makes the vehicle of it again."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from exported_files import Array, Whole, together

from segtrack import VehicleDescription, bundled_vehicles, export_vehicle, import_robot, load_vehicle
from segtrack.description import (
    LinkShape,
    PlacedTrack,
    TrackSpec,
    body_shapes,
    parse_vehicle,
    place_tracks,
    vehicle_links,
)
from segtrack.exporting import Format
from segtrack.geometry import normal_of

QUICK = ("absolem", "quince")
ALL = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(bundled_vehicles())
]
NOT_BACK = {
    "bunker": "its pulleys are so near each other that circles around their grousers' tips overlap",
    "conveyor": "an import wants tracks on both sides",
    "okada_example": "an import wants tracks on both sides",
}
WAYS = np.stack([np.cos(np.linspace(0, 2 * np.pi, 180)), np.sin(np.linspace(0, 2 * np.pi, 180))])


def extent_of(shape: LinkShape) -> Array:
    """Support function of a shape in the x-z plane of the body; of a cylinder about y by its definition."""
    if shape.tag.tag == "cylinder":
        assert abs(shape.frame.rotation[1, 2]) == pytest.approx(1.0)
        return np.asarray(shape.frame.origin[[0, 2]] @ WAYS + float(shape.tag.get("radius", "nan")))
    return np.asarray((shape.frame.points(shape.corners())[:, [0, 2]] @ WAYS).max(axis=0))


def tips_of(spec: TrackSpec) -> Array:
    """Points (n, 2) at the height of a belt's grousers above its path, close to each other [m]."""
    height = spec.grousers.height if spec.grousers is not None else 0.0
    points = []
    for part in spec.belt_path.segments:
        along = np.linspace(0.0, part.length, 2000)
        points.append(part.point_at(along) + height * normal_of(part.heading_at(along)))
    return np.concatenate(points)


def assert_outlines(vehicle: VehicleDescription, folder: Path, within: float) -> None:
    """Assert that shapes of each track's link have the convex outline and width of its tips."""
    file = export_vehicle(vehicle, "urdf", out=folder / "own.urdf").file
    shapes = list(body_shapes(str(file), "collision"))
    for track in place_tracks(vehicle, {}):
        name, spec = track.mounted.name, track.mounted.spec
        link_of_it = f"{name}_track_" if f"{name}_track" in vehicle.body.link_names else f"{name}_track"
        own = [shape for link, shape in shapes if link == link_of_it]
        points = track.frame.plane_points(tips_of(spec))[:, [0, 2]]
        got, expected = np.max([extent_of(shape) for shape in own], axis=0), (points @ WAYS).max(axis=0)
        assert np.abs(got - expected).max() < within, name
        sides = [shape.frame.points(shape.corners())[:, 1] for shape in own]
        y = track.frame.origin[1]
        assert np.ptp(np.concatenate(sides)) == pytest.approx(spec.width)
        assert np.concatenate(sides).mean() == pytest.approx(y)


def vehicle_of(segments: list[dict[str, object]], start: list[float], heading: float) -> VehicleDescription:
    """Vehicle with one belt along explicit segments."""
    track = {
        "path": {"start": start, "heading": heading, "segments": segments},
        "width": 0.1,
        "belt": {"mass": 1.0, "thickness": 0.01},
        "drive": {"max_force": 50.0, "max_speed": 1.0},
    }
    body = {"mass": 5.0, "size": [0.2, 0.2, 0.02]}
    return parse_vehicle({"name": "own", "source": "made up", "body": body, "tracks": {"belt": track}})


def arc(radius: float, turn: float) -> dict[str, object]:
    return {"arc": {"radius": radius, "turn": turn}}


def line(length: float) -> dict[str, object]:
    return {"line": {"length": length}}


@pytest.mark.parametrize("name", ALL)
def test_shapes_of_a_track_have_the_outline_of_its_tips(tmp_path: Path, name: str) -> None:
    assert_outlines(load_vehicle(name), tmp_path, 1e-6)


def test_a_track_that_is_turned_about_its_axle_is_turned_in_the_file(tmp_path: Path) -> None:
    packbot = load_vehicle("packbot")
    mount = packbot.tracks["left"].mount.model_copy(update={"rpy": (0.0, 0.3, 0.0)})
    turned = packbot.tracks["left"].model_copy(update={"mount": mount})
    tracks = packbot.tracks | {"left": turned}
    assert_outlines(packbot.model_copy(update={"tracks": tracks}), tmp_path, 1e-6)


def test_a_belt_of_shallow_arcs_has_its_outline_without_their_circles(tmp_path: Path) -> None:
    """A lens of two arcs of 1 m radius and two ends of 50 mm."""
    turn = 0.4
    bow, end = arc(1.0, turn), arc(0.05, math.pi - turn)
    lens = vehicle_of([bow, end, bow, end], [math.sin(turn / 2), 0.0], math.pi - turn / 2)
    assert_outlines(lens, tmp_path, 3e-4)


def test_a_belt_that_bends_inwards_has_its_convex_outline_and_a_remark(tmp_path: Path) -> None:
    """A belt with a dent in its upper side."""
    turn, radius = 0.4, 0.05
    bends = [arc(radius, sign * turn) for sign in (-1, 1, 1, -1)]
    ground = 2 * 0.15 + 4 * radius * math.sin(turn)
    parts = [line(ground), arc(radius, math.pi), line(0.15), *bends, line(0.15), arc(radius, math.pi)]
    dented = vehicle_of(parts, [ground / 2, -radius], math.pi)
    assert_outlines(dented, tmp_path, 1e-3)
    remarks = export_vehicle(dented, "urdf", out=tmp_path / "own.urdf").remarks
    assert "belts that bend inwards" in {remark.what for remark in remarks}


def bullet_whole(file: Path) -> Whole:
    """Whole of a URDF as PyBullet loads it, at the origin, by its own inertias."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        body = pybullet.loadURDF(str(file), flags=flags, physicsClientId=client)
        base, turn = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)
        bodies = []
        for link in range(-1, pybullet.getNumJoints(body, physicsClientId=client)):
            info = pybullet.getDynamicsInfo(body, link, physicsClientId=client)
            center, own = base, turn
            if link >= 0:
                center, own = pybullet.getLinkState(
                    body, link, computeForwardKinematics=True, physicsClientId=client
                )[:2]
            rotation = np.array(pybullet.getMatrixFromQuaternion(own)).reshape(3, 3)
            bodies.append((info[0], np.array(center), rotation @ np.diag(info[2]) @ rotation.T))
        root = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
        # PyBullet's base is at its centre of mass.
        back = pybullet.invertTransform(root[3], root[4])
        origin, turned = pybullet.multiplyTransforms(base, turn, *back)
        rotation = np.array(pybullet.getMatrixFromQuaternion(turned)).reshape(3, 3)
        bodies = [(m, rotation.T @ (c - origin), rotation.T @ i @ rotation) for m, c, i in bodies]
        return together(bodies)
    finally:
        pybullet.disconnect(client)


@pytest.mark.parametrize("name", ["quince", "markhor", "bunker", "example_rover"])
def test_pybullet_has_the_vehicles_mass_center_and_inertia(tmp_path: Path, name: str) -> None:
    pytest.importorskip("pybullet")
    vehicle = load_vehicle(name)
    got = bullet_whole(export_vehicle(vehicle, "urdf", out=tmp_path / "own.urdf").file)
    expected = vehicle_links(vehicle).whole
    assert got.mass == pytest.approx(expected.mass, rel=1e-9)
    assert got.center == pytest.approx(expected.center, abs=1e-9)
    assert got.inertia == pytest.approx(expected.inertia, rel=1e-8, abs=1e-8 * expected.inertia.max())


def nearest(tracks: tuple[PlacedTrack, ...], wanted: PlacedTrack) -> PlacedTrack:
    """Track whose frame and outline are the nearest."""
    return min(tracks, key=lambda track: float(np.abs(corners(track) - corners(wanted)).max()))


def corners(track: PlacedTrack) -> Array:
    """Extents of a belt's edges in the body frame, in many directions."""
    points = track.frame.plane_points(track.mounted.spec.belt_path.outline())
    side = np.full(WAYS.shape[1], track.frame.origin[1])
    return np.stack([(points[:, [0, 2]] @ WAYS).max(axis=0), side])


def pulleys(track: PlacedTrack) -> Array:
    """Pulleys of a track (x, z in the body frame, radius), rear ones first."""
    given = track.mounted.spec.path.pulleys or ()
    points = track.frame.points(np.array([[p.x, 0.0, p.z] for p in given]))
    rows = [(x, z, p.radius) for (x, _, z), p in zip(points.tolist(), given, strict=True)]
    return np.array(sorted(rows))


@pytest.mark.parametrize("name", [each for each in ALL if each.values[0] not in NOT_BACK])
def test_an_import_of_an_export_is_the_vehicle_again(tmp_path: Path, name: str) -> None:
    vehicle = load_vehicle(name)
    treads = next(vehicle.mounted_tracks()).spec.grousers
    # An import takes some grousers off, if only 0.2 mm.
    settings = {"grouser_height": treads.height if treads is not None else 2e-4, "grouser_pitch": 0.05}
    exported = export_vehicle(vehicle, "urdf", out=tmp_path / "out.urdf")
    back = import_robot(exported.file, out=tmp_path / "back.yaml", settings=settings).description
    assert vehicle_links(back).mass == pytest.approx(vehicle_links(vehicle).mass, rel=1e-9)
    assert back.gauge == pytest.approx(vehicle.gauge, abs=1e-3)
    tracks, again = place_tracks(vehicle, {}), place_tracks(back, {})
    assert len(again) == len(tracks)
    for track in tracks:
        own = nearest(again, track)
        assert np.abs(corners(own) - corners(track)).max() < 1e-3
        assert own.mounted.spec.width == pytest.approx(track.mounted.spec.width, abs=1e-3)
        if not vehicle.describes_chains or len(pulleys(own)) == len(pulleys(track)):
            assert np.abs(pulleys(own) - pulleys(track)).max() < 1e-3
    assert len(back.flippers) == len(vehicle.flippers)
    for flipper in vehicle.flippers.values():
        place = vehicle.body.mounted(flipper.mount).origin
        found = [f for f in back.flippers.values() if _is_at(back, f.mount, place)]
        assert [f.tip_direction for f in found] == [flipper.tip_direction]
        assert found[0].limits == pytest.approx(flipper.limits)
        assert found[0].max_torque == pytest.approx(flipper.max_torque)
        assert found[0].max_speed == pytest.approx(flipper.max_speed)


@pytest.mark.slow
def test_a_bunkers_path_comes_back_within_12_mm(tmp_path: Path) -> None:
    vehicle = load_vehicle("bunker")
    (height,) = {track.spec.grousers.height for track in vehicle.mounted_tracks() if track.spec.grousers}
    exported = export_vehicle(vehicle, "urdf", out=tmp_path / "out.urdf")
    settings = {"grouser_height": height, "grouser_pitch": 0.05}
    back = import_robot(exported.file, out=tmp_path / "back.yaml", settings=settings).description
    for track in place_tracks(vehicle, {}):
        off = np.abs(corners(nearest(place_tracks(back, {}), track)) - corners(track)).max()
        assert off < 12e-3


def _is_at(vehicle: VehicleDescription, mount: object, place: Array) -> bool:
    return bool(np.abs(vehicle.body.mounted(mount).origin - place).max() < 1e-3)  # type: ignore[arg-type]


def test_gazebo_keeps_the_tracks_links_which_its_plugins_name(tmp_path: Path) -> None:
    file = export_vehicle("quince", "urdf", out=tmp_path / "own.urdf").file
    robot = ElementTree.parse(file).getroot()
    links = {link.get("name") for link in robot.iterfind("link")}
    named = {element.text for element in robot.iterfind("gazebo/plugin/link")}
    kept = {g.get("reference") for g in robot.iterfind("gazebo") if g.find("preserveFixedJoint") is not None}
    assert len(named) == 6 and named <= links
    assert kept == {f"{name}_joint" for name in named}


def armed(folder: Path, extensions: str = "", joints: dict[str, object] | None = None) -> VehicleDescription:
    """Vehicle with two tracks and an arm, whose URDF has extensions too, and with joints that move."""
    (folder / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"><inertial><mass value="8"/><inertia ixx="0.1" iyy="0.1" '
        'izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        f"{extensions}</robot>",
        encoding="utf-8",
    )
    track = {
        "mount": {"xyz": [0, 0.2, 0]},
        "path": {"pulleys": [{"x": -0.2, "z": 0, "radius": 0.1}, {"x": 0.2, "z": 0, "radius": 0.1}]},
        "width": 0.1,
        "belt": {"mass": 1.0},
        "drive": {"max_force": 50.0, "max_speed": 1.0},
    }
    tracks = {"left": track, "right": track | {"mount": {"xyz": [0, -0.2, 0]}}}
    body = {"urdf": str(folder / "arm.urdf")}
    content = {"joints": joints or {}} | {
        "name": "armed",
        "source": "made up",
        "body": body,
        "tracks": tracks,
    }
    return parse_vehicle(content)


def test_joints_that_the_file_does_not_name_are_fixed_and_told(tmp_path: Path) -> None:
    exported = export_vehicle(armed(tmp_path), "urdf", out=tmp_path / "own.urdf")
    robot = ElementTree.parse(exported.file).getroot()
    assert robot.find("joint[@name='elbow']").get("type") == "fixed"  # type: ignore[union-attr]
    assert ("joints that stand at 0", "elbow") in {(r.what, r.value) for r in exported.remarks}


def plugins_of(file: Path) -> list[tuple[str | None, str | None]]:
    """Name, and link or joint, of each plugin of a URDF, sorted."""
    found = ElementTree.parse(file).getroot().iter("plugin")
    return sorted(
        (plugin.get("name"), plugin.findtext("link") or plugin.findtext("joint_name")) for plugin in found
    )


def test_an_export_of_an_import_of_an_export_has_its_plugins_once(tmp_path: Path) -> None:
    first = export_vehicle("quince", "urdf", out=tmp_path / "own.urdf")
    settings = {"grouser_height": 0.016, "grouser_pitch": 0.05}
    back = import_robot(first.file, out=tmp_path / "back.yaml", settings=settings).description
    second = export_vehicle(back, "urdf", out=tmp_path / "again.urdf")
    kinds = [[name for name, _ in plugins_of(each.file)] for each in (first, second)]
    assert kinds[1] == kinds[0] and len(kinds[0]) == 11
    robot = ElementTree.parse(second.file).getroot()
    names = {each.get("name") for tag in ("link", "joint") for each in robot.iterfind(tag)}
    assert {name for _, name in plugins_of(second.file) if name is not None} <= names
    references = [each.get("reference") for each in robot.iterfind("gazebo") if each.get("reference")]
    assert len(set(references)) == len(references) and set(references) <= names
    told = [remark.value for remark in second.remarks if remark.what == "the body's own extensions"]
    assert len(told) == 1 and told[0].startswith(
        "plugins: 11, properties of links or joints that are gone: 8"
    )


EXTENSIONS = """
<gazebo><plugin name="diff_drive" filename="drive.so"><left_joint>elbow</left_joint></plugin></gazebo>
<gazebo reference="arm"><material>Gazebo/Red</material></gazebo>
<gazebo reference="arm"><sensor name="eye"><plugin name="camera" filename="eye.so"/></sensor></gazebo>
<gazebo reference="gone"><mu1>3</mu1></gazebo>
<transmission name="drive"><joint name="elbow"/></transmission>
<ros2_control name="control" type="system"><joint name="elbow"/></ros2_control>
"""


@pytest.mark.parametrize("moves", [False, True])
def test_extensions_of_the_body_that_would_drive_it_are_left_out_and_told(
    tmp_path: Path, moves: bool
) -> None:
    vehicle = armed(tmp_path, EXTENSIONS, {"elbow": {}} if moves else {})
    exported = export_vehicle(vehicle, "urdf", out=tmp_path / "own.urdf")
    robot = ElementTree.parse(exported.file).getroot()
    names = [name for name, _ in plugins_of(exported.file)]
    assert "diff_drive" not in names and "camera" in names
    assert robot.findtext("gazebo[@reference='arm']/material") == "Gazebo/Red"
    assert robot.find("gazebo[@reference='gone']") is None
    controls = [robot.find(tag) is not None for tag in ("transmission", "ros2_control")]
    assert controls == [moves, moves]
    told = [remark.value for remark in exported.remarks if remark.what == "the body's own extensions"]
    expected = "plugins: 1, properties of links or joints that are gone: 1"
    assert told == [expected if moves else f"{expected}, transmissions: 1, ros2_control: 1"]


@pytest.mark.parametrize("name", ["sdf", "mjcf"])
def test_other_formats_tell_the_bodys_extensions_as_lost(tmp_path: Path, name: Format) -> None:
    vehicle = armed(tmp_path, EXTENSIONS, {})
    suffix = {"sdf": ".sdf", "mjcf": ".xml"}[name]
    exported = export_vehicle(vehicle, name, out=tmp_path / f"own{suffix}")
    told = [remark.value for remark in exported.remarks if remark.what == "the body's own extensions"]
    assert told == ["plugins: 1, properties in <gazebo>: 3, transmissions: 1, ros2_control: 1"]
