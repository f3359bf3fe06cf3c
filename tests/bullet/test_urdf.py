import math
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import numpy as np
import pybullet
import pytest
import yaml
from native_vehicles import SPRUNG
from pybullet_utils.bullet_client import BulletClient
from quick import some_of
from scipy.spatial.transform import Rotation
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.bullet import vehicle_urdf
from segtrack.bullet.loader import load
from segtrack.description import (
    Mount,
    VehicleDescription,
    bundled_vehicles,
    find_vehicle,
    link_masses,
    load_vehicle,
    parse_vehicle,
)
from segtrack.geometry import MassProperties, rotation_of, uniform_belt

LONGEST_LINE = 1024  # PyBullet's parser stops there.
UPRIGHT = [0, 0, 0, 1]
DRIVEN = [name for name in bundled_vehicles() if name not in ("conveyor", "lugged_wheel", *SPRUNG)]


@pytest.fixture(scope="module")
def client():
    connected = BulletClient(pybullet.DIRECT)
    yield connected
    connected.disconnect()


@cache
def urdf_of(name, model="segments"):
    return vehicle_urdf(load_vehicle(name), model)


def floats(element, key):
    return np.array([float(word) for word in element.get(key, "0 0 0").split()])


def frames(robot):
    """Rotation and origin of each link's frame in the root's, all joints at 0."""
    children = {joint.find("child").get("link"): joint for joint in robot.iterfind("joint")}

    def frame(link):
        if link not in children:
            return np.eye(3), np.zeros(3)
        joint = children[link]
        rotation, origin = frame(joint.find("parent").get("link"))
        place = joint.find("origin")
        turn = Rotation.from_euler("xyz", floats(place, "rpy")).as_matrix()
        return rotation @ turn, rotation @ floats(place, "xyz") + origin

    return {link.get("name"): frame(link.get("name")) for link in robot.iterfind("link")}


def inertial(link):
    """Mass, centre of mass and inertia tensor of a link as its URDF has it."""
    element = link.find("inertial")
    place, tensor = element.find("origin"), element.find("inertia")
    place = place if place is not None else ElementTree.Element("origin")
    xx, xy, xz, yy, yz, zz = (float(tensor.get(k)) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    turn = Rotation.from_euler("xyz", floats(place, "rpy")).as_matrix()
    matrix = turn @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ turn.T
    return float(element.find("mass").get("value")), floats(place, "xyz"), matrix


def together(parts):
    """Mass, centre and inertia of bodies given as (mass, centre, inertia about it), by Steiner's theorem."""
    mass = sum(m for m, _, _ in parts)
    center = sum(m * c for m, c, _ in parts) / mass
    inertia = np.zeros((3, 3))
    for m, c, i in parts:
        arm = c - center
        inertia += i + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, center, inertia


def total_of_urdf(text):
    robot = ElementTree.fromstring(text)
    where = frames(robot)
    parts = []
    for link in robot.iterfind("link"):
        mass, center, inertia = inertial(link)
        rotation, origin = where[link.get("name")]
        parts.append((mass, rotation @ center + origin, rotation @ inertia @ rotation.T))
    return together(parts)


def total_of_pybullet(client, body):
    parts = []
    for link in range(-1, client.getNumJoints(body)):
        info = client.getDynamicsInfo(body, link)
        if link == -1:
            center, turn = client.getBasePositionAndOrientation(body)
        else:
            center, turn = client.getLinkState(body, link, computeForwardKinematics=1)[:2]
        rotation = np.array(client.getMatrixFromQuaternion(turn)).reshape(3, 3)
        parts.append((info[0], np.array(center), rotation @ np.diag(info[2]) @ rotation.T))
    return together(parts)


def total_of_description(vehicle):
    """What the file says: body, flippers, and each belt as a uniform one, in the body frame.

    What a drive reflects runs with the belt, but weighs nothing.
    """
    where, carriers = {"body": (np.eye(3), np.zeros(3))}, {}
    if vehicle.body.urdf is None:
        body = vehicle.body
        carriers["body"] = MassProperties.of_box(body.mass, body.center_of_mass, body.size)
    else:
        robot = ElementTree.parse(vehicle.body.urdf).getroot()
        where |= frames(robot)
        for link in robot.iterfind("link[inertial]"):
            carriers[link.get("name")] = MassProperties.of(*inertial(link))
    for name, flipper in vehicle.flippers.items():
        rotation, origin = where[flipper.mount.parent]
        where[name] = rotation @ rotation_of(flipper.mount.rpy), rotation @ flipper.mount.xyz + origin
        carriers[name] = MassProperties.of_box(flipper.mass, flipper.center_of_mass, flipper.size)
    total = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    for name, own in carriers.items():
        total += own.transformed(*where[name])
        for track in vehicle.mounted_tracks():
            part = track.spec
            if (track.flipper or part.mount.parent) == name:
                mount = rotation_of(part.mount.rpy), np.array(part.mount.xyz)
                belt = uniform_belt(part.belt_path, part.width, part.belt.mass)
                total += belt.transformed(*mount).transformed(*where[name])
    return total.mass, total.center, total.inertia


def assert_same_mass(found, expected, tolerance):
    assert math.isclose(found[0], expected[0], rel_tol=tolerance)
    np.testing.assert_allclose(found[1], expected[1], atol=tolerance)
    np.testing.assert_allclose(found[2], expected[2], atol=tolerance * rounding(expected[2]))


def rounding(inertia):
    """How much coarser numbers are for a machine of tons than for a robot of kilograms [kg m^2]."""
    return max(1.0, np.trace(inertia))


@each_row("model", ["segments", "smooth"])
@each_row("name", bundled_vehicles())
def test_urdf_weighs_what_the_file_says(name, model):
    expected = total_of_description(load_vehicle(name))
    assert_same_mass(total_of_urdf(urdf_of(name, model).text), expected, 1e-9)


@each_row("name", [name for name in bundled_vehicles() if name != "conveyor"])
def test_pybullet_weighs_what_the_file_says(client, name):
    vehicle = load_vehicle(name)
    client.resetSimulation()
    built = load(client._client, vehicle, "segments", [0, 0, 0], UPRIGHT)
    assert_same_mass(total_of_pybullet(client, built.body), total_of_description(vehicle), 1e-6)


@each_row("name", bundled_vehicles())
def test_reflected_mass_adds_no_weight(name):
    vehicle = load_vehicle(name)
    mass, center, _ = total_of_urdf(urdf_of(name).text)
    parts = [vehicle.body, *vehicle.flippers.values(), *(t.spec.belt for t in vehicle.mounted_tracks())]
    if vehicle.body.urdf is None:
        assert math.isclose(mass, sum(part.mass for part in parts), rel_tol=1e-9)
    assert abs(center[1]) < (1e-3 if name in SPRUNG else 1e-9)


@each_row("name", bundled_vehicles())
def test_every_link_has_an_inertia_that_a_body_can_have(name):
    """Positive, and no principal moment above the sum of the two others."""
    robot = ElementTree.fromstring(urdf_of(name).text)
    for link in robot.iterfind("link"):
        mass, _, inertia = inertial(link)
        least, middle, largest = np.linalg.eigvalsh(inertia)
        assert mass > 0 and least > 0, link.get("name")
        assert largest <= (least + middle) * (1 + 1e-9), link.get("name")


@each_row("model", ["segments", "smooth"])
@each_row("name", bundled_vehicles())
def test_no_line_is_longer_than_pybullet_reads(name, model):
    urdf = urdf_of(name, model)
    lines = [line for text in (urdf.text, *urdf.meshes.values()) for line in text.splitlines()]
    assert max(map(len, lines)) <= LONGEST_LINE


@each_row("name", [n for n in DRIVEN if n != "okada_example"] + ["lugged_wheel"])
def test_left_and_right_mirror(name):
    """A mirrored link has its centre, its shapes and its inertia on the other side of y = 0."""
    robot = ElementTree.fromstring(urdf_of(name).text)
    where, links = frames(robot), {link.get("name"): link for link in robot.iterfind("link")}
    mirror = np.diag([1.0, -1.0, 1.0])
    pairs = [(n, n.replace("left", "right")) for n in links if "left" in n]
    assert pairs
    for left, right in pairs:
        sides = []
        for side in (left, right):
            rotation, origin = where[side]
            mass, center, inertia = inertial(links[side])
            sides.append((mass, rotation @ center + origin, rotation @ inertia @ rotation.T))
        np.testing.assert_allclose(sides[0][0], sides[1][0])
        np.testing.assert_allclose(mirror @ sides[0][1], sides[1][1], atol=1e-12)
        np.testing.assert_allclose(
            mirror @ sides[0][2] @ mirror, sides[1][2], atol=1e-12 * rounding(sides[1][2])
        )
        shapes = [ElementTree.tostring(c) for c in links[left].iterfind("collision")]
        assert shapes == [ElementTree.tostring(c) for c in links[right].iterfind("collision")]
    _, center, inertia = total_of_urdf(ElementTree.tostring(robot))
    np.testing.assert_allclose([center[1], inertia[0, 1], inertia[1, 2]], 0, atol=1e-12 * rounding(inertia))


def test_links_and_joints_have_names_that_a_person_can_read():
    robot = ElementTree.fromstring(urdf_of("quince").text)
    links = [link.get("name") for link in robot.iterfind("link")]
    assert links[:9] == [
        "body", "front_left", "front_right", "rear_left", "rear_right",
        "left_line_0_lateral", "left_line_0", "left_arc_1", "left_arc_3",
    ]  # fmt: skip
    # Two lines and two arcs a belt on two sliders, and a flywheel.
    assert len(set(links)) == len(links) == 1 + 4 + 6 * (4 + 2 + 1)
    joints = {joint.get("name"): joint.get("type") for joint in robot.iterfind("joint")}
    assert joints["left_line_0_lateral_joint"] == "prismatic"
    assert joints["left_line_0_joint"] == "prismatic" and joints["left_arc_1_joint"] == "continuous"
    assert joints["front_left_joint"] == "revolute"


def test_a_users_urdf_keeps_its_links_joints_and_meshes(client):
    own = ElementTree.parse(find_vehicle("example_rover").with_name("rover.urdf")).getroot()
    vehicle = load_vehicle("example_rover")
    robot = ElementTree.fromstring(vehicle_urdf(vehicle, "segments").text)
    mesh = str(find_vehicle("example_rover").with_name("hull.obj"))
    assert robot.get("name") == own.get("name")
    for tag in ("link", "joint"):
        kept = {element.get("name"): element for element in robot.iterfind(tag)}
        for element in own.iterfind(tag):
            found = kept[element.get("name")]
            for part in element:
                if part.tag == "inertial" and element.get("name") == "base_link":
                    continue  # It takes what the belts leave over.
                expected = ElementTree.tostring(part, encoding="unicode").replace('"hull.obj"', f'"{mesh}"')
                twins = [ElementTree.tostring(p, encoding="unicode") for p in found.iterfind(part.tag)]
                assert "".join(expected.split()) in ["".join(text.split()) for text in twins]
    client.resetSimulation()
    built = load(client._client, vehicle, "segments", [0, 0, 1.0], UPRIGHT)
    assert {"base_link", "mast", "camera", "left_line_0", "right_arc_3"} <= set(built.links)
    parent = {client.getJointInfo(built.body, j)[12].decode(): client.getJointInfo(built.body, j)[16]
              for j in range(client.getNumJoints(built.body))}  # fmt: skip
    assert parent["camera"] == built.links["mast"]
    assert parent["left_line_0"] == built.links["left_line_0_lateral"]
    assert parent["left_line_0_lateral"] == built.links["base_link"] == -1
    shapes = client.getCollisionShapeData(built.body, -1)
    assert len(shapes) == 1 and shapes[0][2] == client.GEOM_MESH


def test_tracks_are_added_to_the_link_that_they_name(client, tmp_path):
    (tmp_path / "robot.urdf").write_text(
        """<robot name="own">
  <link name="base"><inertial><mass value="5"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="bogie"><inertial><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="rocker" type="revolute"><parent link="base"/><child link="bogie"/>
    <origin xyz="0.3 0 0.1" rpy="0 0.2 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
</robot>"""
    )
    track = load_vehicle("triangular").tracks["left"].model_dump(exclude_unset=True)
    track["mount"] = {"parent": "bogie", "xyz": [0.1, 0.2, 0], "rpy": [0, 0.1, 0.3]}
    data = {"name": "own", "source": "test", "body": {"urdf": "robot.urdf"}, "tracks": {"left": track}}
    vehicle = parse_vehicle(data, folder=tmp_path)
    assert_same_mass(
        total_of_urdf(vehicle_urdf(vehicle, "segments").text), total_of_description(vehicle), 1e-9
    )
    client.resetSimulation()
    built = load(client._client, vehicle, "segments", [0, 0, 1.0], UPRIGHT)
    line = built.links["left_line_0"]
    lateral = client.getJointInfo(built.body, line)[16]
    assert lateral == built.links["left_line_0_lateral"]
    assert client.getJointInfo(built.body, lateral)[16] == built.links["bogie"]
    rotation = rotation_of((0, 0.2, 0))
    middle = rotation @ (rotation_of((0, 0.1, 0.3)) @ [-0.04, 0, -0.05] + [0.1, 0.2, 0]) + [0.3, 0, 1.1]
    np.testing.assert_allclose(client.getLinkState(built.body, line)[4], middle, atol=1e-6)


@pytest.mark.parametrize("empty", ["", "<inertial><mass value='0'/></inertial>"])
@pytest.mark.parametrize("fixed", [False, True])
def test_a_users_link_without_a_mass_weighs_nothing(client, tmp_path, capfd, empty, fixed):
    """PyBullet's own would be 1 kg and 1 kg m^2, and a warning."""
    joint = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/></joint>"""
    inertial = """<inertial><mass value="{}"/>
    <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>"""
    (tmp_path / "robot.urdf").write_text(
        f"""<robot name="own"><link name="base">{inertial.format(5)}</link>
  <link name="frame">{empty}</link>{joint.format("to_frame", "fixed", "base", "frame")}
  <link name="mast">{empty}</link>{joint.format("to_mast", "continuous", "base", "mast")}
  <link name="camera">{inertial.format(2)}</link>{joint.format("to_camera", "continuous", "mast", "camera")}
</robot>"""
    )
    track = load_vehicle("triangular").tracks["left"].model_dump(exclude_unset=True)
    body = {"urdf": "robot.urdf", "fixed": fixed}
    vehicle = parse_vehicle(
        {"name": "own", "source": "t", "body": body, "tracks": {"left": track}}, folder=tmp_path
    )
    client.resetSimulation()
    capfd.readouterr()
    built = load(client._client, vehicle, "segments", [0, 0, 1.0], UPRIGHT)
    assert "Warning" not in "".join(capfd.readouterr())
    weights = {name: client.getDynamicsInfo(built.body, link)[0] for name, link in built.links.items()}
    assert weights["frame"] == weights["mast"] == 1e-6
    if not fixed:  # PyBullet says 0 of the root of a fixed body.
        assert math.isclose(sum(weights.values()), 5 + 2 + track["belt"]["mass"], abs_tol=1e-5)


def test_a_vehicle_with_links_without_a_mass_falls_at_g(tmp_path):
    (tmp_path / "robot.urdf").write_text(
        """<robot name="own"><link name="base"><inertial><mass value="5"/>
    <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
  <link name="mast"/><joint name="pan" type="continuous"><parent link="base"/><child link="mast"/>
    <origin xyz="0.1 0 0.1"/><axis xyz="0 0 1"/></joint></robot>"""
    )
    track = load_vehicle("triangular").tracks["left"].model_dump(exclude_unset=True)
    data = {"name": "own", "source": "t", "body": {"urdf": "robot.urdf"}, "tracks": {"belt": track}}
    with segtrack.World() as world:
        robot = world.add_vehicle(parse_vehicle(data, folder=tmp_path), position=(0, 0, 5))
        began = robot.state.position[2]
        world.run(0.3)
        assert math.isclose(began - robot.state.position[2], 9.81 * 0.3**2 / 2, rel_tol=0.02)


FOOTPRINT = """<link name="base_footprint"/><link name="base_stabilized"/>
  <joint name="up" type="fixed"><parent link="base_footprint"/><child link="base_stabilized"/>
    <origin xyz="0.05 0 0.06" rpy="0 0 {yaw}"/></joint>
  <joint name="level" type="fixed"><parent link="base_stabilized"/><child link="base_link"/>
    <origin xyz="0 0.02 0.03"/></joint>
</robot>"""
"""ROS's roots without a mass, to which the body is fixed."""


def rover_with_footprint(folder, yaw=0.0, mounts=None):
    """The bundled rover below roots without a mass; its tracks' mounts instead of those on `base_link`."""
    bundled = find_vehicle("example_rover")
    text = bundled.with_name("rover.urdf").read_text().replace("</robot>", FOOTPRINT.format(yaw=yaw))
    (folder / "rover.urdf").write_text(text)
    (folder / "hull.obj").write_text(bundled.with_name("hull.obj").read_text())
    data = yaml.safe_load(bundled.read_text())
    for name, mount in (mounts or {}).items():
        data["tracks"][name] = data["tracks"][name] | {"mount": mount}
    return parse_vehicle(data, folder=folder)


def on_the_footprint(yaw):
    """The places of the rover's own mounts in the frame of the root."""
    turn = rotation_of((0.0, 0.0, yaw))
    places = {"left": (0.0, 0.22, 0.01), "right": (0.0, -0.18, 0.01)}
    return {
        name: {"xyz": (turn @ place + (0.05, 0.0, 0.06)).tolist(), "rpy": [0.0, 0.0, yaw]}
        for name, place in places.items()
    }


@pytest.mark.parametrize("mounts", [None, on_the_footprint(0.0)], ids=["on base_link", "on the root"])
@pytest.mark.parametrize("engine", ["pybullet", "native"])
def test_a_root_without_a_mass_changes_nothing(tmp_path, engine, mounts):
    """The body is where it was, and weighs what it did; the vehicle's own frame is the root's."""
    track_model = "compliant" if engine == "native" else "segments"
    poses, masses = [], []
    for vehicle in (load_vehicle("example_rover"), rover_with_footprint(tmp_path, mounts=mounts)):
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(vehicle, track_model=track_model)
            start = robot.state.position
            robot.set_belt_speed(0.3, 0.2)
            world.run(0.6)
            state = robot.state
            masses.append(robot.mass)
        body = vehicle.body.mounted(Mount(parent="base_link")).origin
        turn = Rotation.from_quat(state.orientation).as_matrix()
        poses.append(state.position + turn @ body - start - body)
    np.testing.assert_allclose(poses[1], poses[0], atol=1e-9 if engine == "native" else 1e-4)
    assert poses[0][0] > 0.1
    assert math.isclose(*masses, rel_tol=1e-6)


@pytest.mark.parametrize("reflected_mass", [0.0, 3.0])
@pytest.mark.parametrize("mounts", [None, on_the_footprint(0.7)], ids=["on base_link", "on the root"])
def test_what_is_fixed_to_a_root_without_a_mass_weighs_for_it(tmp_path, mounts, reflected_mass):
    def driven(vehicle):
        drive = vehicle.tracks["left"].drive.model_copy(update={"reflected_mass": reflected_mass})
        tracks = {n: track.model_copy(update={"drive": drive}) for n, track in vehicle.tracks.items()}
        return vehicle.model_copy(update={"tracks": tracks})

    expected = total_of_description(driven(rover_with_footprint(tmp_path, yaw=0.7)))
    text = vehicle_urdf(driven(rover_with_footprint(tmp_path, yaw=0.7, mounts=mounts)), "segments").text
    assert_same_mass(total_of_urdf(text), expected, 1e-5)
    masses = link_masses(ElementTree.fromstring(text))
    assert masses["base_footprint"] == masses["base_stabilized"] == 1e-6
    belts = sum(mass for name, mass in masses.items() if name.startswith(("left_", "right_")))
    assert math.isclose(masses["base_link"], 12.0 + 2 * 1.2 - belts, abs_tol=1e-4)


def test_grousers_that_are_alike_share_one_mesh_file():
    assert list(urdf_of("packbot").meshes) == ["grouser_0.obj"]
    assert len(urdf_of("okada_example").meshes) == 2
    assert not urdf_of("tapered").meshes


@pytest.mark.parametrize("name", some_of(DRIVEN, "quince", "triangular"))
def test_a_vehicle_at_rest_stands_on_its_grousers_tips(name):
    """Body frame at (pulley radius + grouser height) above the ground, Bullet's margin made up for."""
    vehicle = load_vehicle(name)
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle)
        world.run(0.4)
        lowest = min(
            t.spec.mount.xyz[2] + t.spec.belt_path.outline()[:, 1].min() - t.spec.grousers.height
            for t in vehicle.mounted_tracks()
        )
        assert abs(robot.state.position[2] + lowest) < 1e-4
        assert abs(robot.state.pitch) < 1e-4 and abs(robot.state.roll) < 1e-4


@pytest.mark.parametrize("name", some_of(DRIVEN, "quince", "triangular"))
def test_a_vehicle_goes_as_far_as_its_belts(name):
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(name)
        robot.set_belt_speed(0.2, 0.2)
        world.run(0.5)
        began = robot.state.position[0], [t.travel for t in robot.tracks.values()]
        world.run(0.5)
        travels = np.array([t.travel for t in robot.tracks.values()]) - began[1]
        np.testing.assert_allclose((robot.state.position[0] - began[0]) / travels, 1.0, atol=5e-3)


def test_a_lugged_wheel_rolls_on_the_tips_of_its_plates():
    """A polygon of 2 N corners, the two of each plate: a little less than the tips' circle a turn."""
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("lugged_wheel")
        robot.set_belt_speed(0.2, 0.2)
        world.run(0.5)
        began = robot.state.position[0], robot.tracks["rear_left"].travel
        world.run(1.0)
        ratio = (robot.state.position[0] - began[0]) / (robot.tracks["rear_left"].travel - began[1])
    corner, half = math.hypot(0.095, 0.0015), math.atan(0.0015 / 0.095)
    around = 24 * (0.003 + 2 * corner * math.sin(math.pi / 24 - half))
    assert math.isclose(ratio, around / (2 * math.pi * 0.08), rel_tol=0.01)


@pytest.mark.parametrize("speed", [0.3, -0.3])
def test_a_conveyor_carries_a_box_at_its_belts_speed(speed):
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("conveyor")
        top = robot.state.position[2] + 0.30 + 0.04
        shape = world.client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.05] * 3)
        box = world.client.createMultiBody(1.0, shape, basePosition=[0, 0, top + 0.0501])
        frame = robot.state.position
        robot.set_belt_speed(speed, speed)
        world.run(0.5)
        began = world.client.getBasePositionAndOrientation(box)[0][0], robot.tracks["belt"].travel
        world.run(0.5)
        (x, y, z), _ = world.client.getBasePositionAndOrientation(box)
        travel = robot.tracks["belt"].travel - began[1]
        assert math.isclose(travel, speed * 0.5, rel_tol=1e-3)
        assert math.isclose(x - began[0], travel, rel_tol=2e-3)
        assert abs(y) < 1e-3 and abs(z - top - 0.05) < 1e-3
        assert robot.state.position == frame


TETRAHEDRON = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
WEIGHT = '<inertial><mass value="20"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def text_stl() -> str:
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {:g} {:g} {:g}\n".format(*TETRAHEDRON[corner]) for corner in face)
        + "endloop\nendfacet\n"
        for face in FACES
    ]
    return f"solid own\n{''.join(facets)}endsolid own\n"


def binary_stl() -> bytes:
    facets = [np.concatenate([np.zeros(3), *TETRAHEDRON[list(f)]]).astype("<f4").tobytes() for f in FACES]
    return b"solid".ljust(80) + len(FACES).to_bytes(4, "little") + b"".join(f + b"\0\0" for f in facets)


def on_own_body(folder: Path, urdf: str, **body) -> VehicleDescription:
    """The bundled rover's tracks on a URDF of one's own."""
    (folder / "own.urdf").write_text(urdf)
    data = yaml.safe_load(find_vehicle("example_rover").read_text())
    data["body"] = {"urdf": "own.urdf", **body}
    for track in data["tracks"].values():
        track["mount"]["parent"] = "base"
    return parse_vehicle(data, folder=folder)


@pytest.mark.parametrize("stl", [text_stl().encode(), binary_stl()], ids=["text", "binary"])
def test_an_stl_is_the_same_hull_in_pybullet_whether_text_or_binary(stl, tmp_path) -> None:
    """PyBullet itself reads no STL of text, and leaves the link without a shape."""
    (tmp_path / "hull.STL").write_bytes(stl)
    shape = '<geometry><mesh filename="package://hull.STL"/></geometry>'
    link = f"{WEIGHT}<visual>{shape}</visual><collision>{shape}</collision>"
    vehicle = on_own_body(tmp_path, f'<robot name="own"><link name="base">{link}</link></robot>')
    with segtrack.World() as world:
        world.add_vehicle(vehicle, track_model="wheels:3")
        number = world.robots[0].body_id
        low, high = map(np.array, world.client.getAABB(number, -1))
        (own,) = world.client.getCollisionShapeData(number, -1)
        assert own[2] == pybullet.GEOM_MESH
        assert len(world.client.getVisualShapeData(number)) > 0
    np.testing.assert_allclose(high - low, [0.3, 0.2, 0.1], atol=0.01)


def test_names_of_links_that_tracks_would_have_had_stay_the_users(tmp_path) -> None:
    wheels = ["left_wheel_0", "left_wheel_1", "left__wheel_2", "right_line_0"]
    links = "".join(f'<link name="{name}">{WEIGHT}</link>' for name in ["base", *wheels])
    joints = "".join(
        f'<joint name="{name}_joint" type="fixed"><parent link="base"/><child link="{name}"/></joint>'
        for name in wheels
    )
    vehicle = on_own_body(tmp_path, f'<robot name="own">{links}{joints}</robot>')
    for model, of_left, of_right in (("wheels:3", "left___", "right_"), ("segments", "left_", "right__")):
        with segtrack.World() as world:
            robot = world.add_vehicle(vehicle, track_model=model, position=(0.0, 0.0, 1.0))
            assert robot.links.keys() >= {"base", *wheels}
            added = set(robot.links) - {"base", *wheels}
            assert all(name.startswith((of_left, of_right)) for name in added)
            assert set(robot.tracks) == {"left", "right"}
            robot.set_belt_speed(0.1, 0.2)
            world.run(0.2)
            speeds = [robot.tracks[name].state.speed for name in ("left", "right")]
            np.testing.assert_allclose(speeds, [0.1, 0.2], rtol=0.02)
