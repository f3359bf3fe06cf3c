"""What a user gets wrong, and the whole message that says so."""

import json
import math
import os
import pickle
import re
import sys

import pybullet
import pytest
import yaml
from pybullet_utils.bullet_client import BulletClient
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.description import bundled_vehicles, find_vehicle, load_vehicle, parse_vehicle
from segtrack.errors import (
    DisconnectedError,
    FileAccessError,
    InvalidValueError,
    SegtrackError,
    UnknownNameError,
    VehicleFileError,
)

KNOWN = ", ".join(bundled_vehicles())
NAN, INF = math.nan, math.inf
ROVER = """<robot name="own">
  <link name="base_link"><inertial><mass value="5"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="mast"/>
  <joint name="pan" type="fixed"><parent link="base_link"/><child link="mast"/></joint>
</robot>"""
JOINT = '<joint name="{}" type="fixed"><parent link="{}"/><child link="{}"/></joint>'
TURNING_JOINT = JOINT.replace("fixed", "continuous")
TURNING_MAST = ROVER.replace("fixed", "continuous")
MESH = '<visual><geometry><mesh filename="package://rover/hull.stl"/></geometry></visual>'
TENSOR = '<mass value="1"/><inertia ixx="{}" ixy="0" ixz="0" iyy="1" iyz="0" izz="{}"/>'
SOLID = '<link name="mast"><collision><geometry>{}</geometry></collision></link>'
FLAT_MAST, THIN_MAST = SOLID.format('<box size="1 1 0"/>'), SOLID.format('<cylinder length="1"/>')
LEAVE_OUT = "name that link in body.without_contact if it touches nothing"
BAD_MAST = (
    "body.urdf must have principal moments of inertia that are positive, and none above the sum of the "
    "other two, in link 'mast' (rover.urdf:4), got {} kg m^2"
)


def content(name):
    return json.loads(json.dumps(yaml.safe_load(find_vehicle(name).read_text())))


def changed(name, *changes):
    """The content of a bundled vehicle's file with changes: the keys to a place, and what to put there."""
    data = content(name)
    for keys, value in changes:
        *above, last = keys
        part = data
        for key in above:
            part = part[key]
        part[last] = value
    return data


def without_lines(error):
    return re.sub(r"(?m)^mine.yaml:\d+:", "mine.yaml:", str(error))


LEFT = ("tracks", "left")
PULLEYS = (*LEFT, "path", "pulleys")
GROUSERS = (*LEFT, "grousers")
BOX = (*GROUSERS, "shape", "box")
ROD, THICK_ROD = {"cylinder": {"radius": 0.01}}, {"cylinder": {"radius": 0.02}}


def explicit(*pieces):
    return {"segments": [{"line" if turn is None else "arc": piece} for piece, turn in pieces]}


TABLE = {"radius": 0.1, "rows": [[0, 9], [3, 5]]}
MESH_SHAPE = {"mesh": {"file": str(find_vehicle("trapezoidal").with_name("grouser.obj")), "scale": 0.001}}


def line(length):
    return {"length": length}, None


def arc(radius, turn):
    return {"radius": radius, "turn": turn}, turn


def ring(*pulleys):
    return [dict(zip(("x", "z", "radius"), pulley, strict=True)) for pulley in pulleys]


TOP_FIRST = {
    "start": [-0.35, 0.115],
    "heading": 0.0,
    **explicit(line(0.7), arc(0.115, math.pi), line(0.7), arc(0.115, math.pi)),
}


@each_row(
    "changes, message",
    [
        # Unknown and missing keys.
        ([((*LEFT, "colour"), "red")],
         "tracks.left.colour is not a key that segtrack knows; there are: mount, path, width, belt, "
         "grousers, drive, contact, chain, omit_segments"),
        ([((*BOX, "width"), 0.1)],
         "tracks.left.grousers.shape.box.width is not a key that segtrack knows; there are: length, height"),
        ([(("body",), {"size": [1, 1, 1]})], "body must have exactly one of mass, urdf, got none"),
        ([(("body",), {"mass": 20.0})], "body must have size with mass and not with urdf"),
        ([(("tracks",), {})], "must have at least one track, on the body or on a flipper"),
        # Wrong types.
        ([(("name",), 5)], "name must be text, got 5"),
        ([(("name",), "my robot")],
         "name must be a name of letters, digits and underscores that starts with a letter, got 'my robot'"),
        ([(("tracks",), [1, 2])], "tracks must be a mapping of names, got [1, 2]"),
        ([(LEFT, 3.5)], "tracks.left must be a mapping of keys, got 3.5"),
        ([((*LEFT, "width"), "wide")], "tracks.left.width must be a number, got 'wide'"),
        ([((*LEFT, "width"), True)], "tracks.left.width must be a number, got True"),
        ([((*LEFT, "mount", "xyz"), [0, 1])], "tracks.left.mount.xyz[2] is missing"),
        ([((*LEFT, "mount", "xyz"), [0, 1, 2, 3])],
         "tracks.left.mount.xyz must be at most 3 long, got [0, 1, 2, 3]"),
        ([((*LEFT, "mount", "xyz"), "here")], "tracks.left.mount.xyz must be a list, got 'here'"),
        ([(("body", "fixed"), "maybe")], "body.fixed must be true or false, got 'maybe'"),
        ([(("tracks", "right", "mount", "xyz"), [0.05, 0.2, 0.0])],
         "tracks.right.mount must not overlap track left's"),
        ([((*LEFT, "chain"), {"shoes": {"count": 40, "mass": 0.5}})],
         "tracks.left.belt.mass must be about the 20 kg of its 40 shoes, got 2"),
        # Lengths and masses.
        ([((*LEFT, "width"), 0)], "tracks.left.width must be greater than 0, got 0"),
        ([((*LEFT, "width"), -0.1)], "tracks.left.width must be greater than 0, got -0.1"),
        ([((*LEFT, "width"), NAN)], "tracks.left.width must be a finite number, got nan"),
        ([((*LEFT, "width"), INF)], "tracks.left.width must be a finite number, got inf"),
        ([((*BOX, "height"), -0.008)],
         "tracks.left.grousers.shape.box.height must be greater than 0, got -0.008"),
        ([(("body", "size"), [0.5, 0, 0.1])], "body.size[1] must be greater than 0, got 0"),
        ([(("body", "mass"), 0)], "body.mass must be greater than 0, got 0"),
        ([((*LEFT, "belt", "mass"), 0.0)], "tracks.left.belt.mass must be greater than 0, got 0.0"),
        ([((*LEFT, "contact"), {"friction": -1})],
         "tracks.left.contact.friction must be at least 0, got -1"),
        ([((*LEFT, "contact"), {"stiffness": 1e4})],
         "tracks.left.contact must have both stiffness and damping, or neither"),
        # Pulleys.
        ([(PULLEYS, [])], "tracks.left.path.pulleys must be at least 1 long, got []"),
        ([((*PULLEYS, 0, "radius"), 0)], "tracks.left.path.pulleys[0].radius must be greater than 0, got 0"),
        ([(PULLEYS, ring((0, 0, 0.1), (0.15, 0, 0.1)))],
         "tracks.left.path.pulleys must be apart, got pulleys 0 and 1 overlapping by 0.05 m"),
        ([(PULLEYS, ring((-0.3, 0, 0.1), (0.3, 0, 0.1), (0, 0.01, 0.05)))],
         "tracks.left.path.pulleys must be in convex position, each bending the belt by at least 0.001 rad, "
         "got pulley 2 bending it by 0 rad"),
        ([((*LEFT, "path", "start"), [0, 0])],
         "tracks.left.path must not have start or heading beside pulleys"),
        # Explicit segments.
        ([((*LEFT, "path"), explicit(line(0.7), arc(0.1, math.pi), line(0.6), arc(0.1, math.pi)))],
         "tracks.left.path.segments must be closed to 1e-09 m, got a gap of 0.1 m after segment 3"),
        ([((*LEFT, "path"), explicit(line(0.7), arc(0.1, math.pi), line(0.7), arc(0.1, 3.14)))],
         "tracks.left.path.segments must be closed to 1e-09 m, got a gap of 0.000159 m after segment 3"),
        ([((*LEFT, "path"), explicit(arc(0.1, -2 * math.pi)))],
         "tracks.left.path.segments must be one full turn of 2 pi about +y, got -6.28319 rad"),
        ([((*LEFT, "path"), explicit(line(0.7), arc(0.1, 0.0)))],
         "tracks.left.path.segments[1].arc.turn must not be 0, got 0.0"),
        ([((*LEFT, "path"), explicit(line(-0.7)))],
         "tracks.left.path.segments[0].line.length must be greater than 0, got -0.7"),
        ([((*LEFT, "path"), {"segments": [{}]})],
         "tracks.left.path.segments[0] must have exactly one of line, arc, got none"),
        ([((*LEFT, "path"), {})], "tracks.left.path must have exactly one of pulleys, segments, got none"),
        # Grousers.
        ([((*GROUSERS, "count"), 0)], "tracks.left.grousers.count must be at least 1, got 0"),
        ([((*GROUSERS, "count"), 40.5)], "tracks.left.grousers.count must be a whole number, got 40.5"),
        ([((*GROUSERS, "count"), "many")],
         "tracks.left.grousers.count must be a whole number, got 'many'"),
        ([((*BOX, "length"), 0.05)],
         "tracks.left.grousers.shape must be no longer than their pitch of 0.03838 m, got 0.05 m"),
        ([(GROUSERS, {"count": 41, "pattern": [ROD, {"box": {"length": 0.005, "height": 0.008}}]})],
         "tracks.left.grousers.count must be a multiple of the 2 shapes in pattern, got 41"),
        ([(GROUSERS, {"count": 40, "pattern": [ROD, THICK_ROD]})],
         "tracks.left.grousers.pattern[1] must be no longer than their pitch of 0.03838 m, got 0.04 m"),
        ([(GROUSERS, {"count": 40})],
         "tracks.left.grousers must have exactly one of shape, pattern, got none"),
        ([((*GROUSERS, "shape"), {"box": {"length": 0.01, "height": 0.01}, **ROD})],
         "tracks.left.grousers.shape must have exactly one of box, trapezoid, cylinder, mesh, "
         "got box, cylinder"),
        ([((*GROUSERS, "shape", "crown"), 0.008)],
         "tracks.left.grousers.shape.crown must be less than the grouser's height of 0.008 m, got 0.008"),
        ([((*BOX, "height"), 5e-5)],
         "tracks.left.grousers.shape.crown must be less than the grouser's height of 5e-05 m, got 0.0001"),
        ([((*GROUSERS, "shape"), {**ROD, "crown": 0.001})],
         "tracks.left.grousers.shape.crown must be left out on a cylinder, got 0.001"),
        ([((*GROUSERS, "shape"), {**MESH_SHAPE, "crown": 0.0})],
         "tracks.left.grousers.shape.crown must be left out on a mesh, got 0.0"),
        ([((*GROUSERS, "shape"), {**MESH_SHAPE, "width": 0.05})],
         "tracks.left.grousers.shape.width must be left out on a mesh, got 0.05"),
        # The belt.
        ([((*LEFT, "belt", "thickness"), 0.082)],
         "tracks.left.belt.thickness must be less than the radius of 0.082 m of its path's tightest outward "
         "arc, got 0.082 m"),
        # Drive and omitted segments.
        ([((*LEFT, "drive", "reflected_mass"), 15.0)],
         "tracks.right.drive.reflected_mass must be less than the 5 kg that are left of body, got 5"),
        ([((*LEFT, "drive", "reflected_mass"), 20.0)],
         "tracks.left.drive.reflected_mass must be less than the 20 kg that are left of body, got 20"),
        ([((*LEFT, "drive", "gear_ratio"), 0.02)],
         "tracks.left.drive.gear_ratio must be at least 1, or at most -1, got 0.02"),
        ([((*LEFT, "contact", "restitution"), 1.5)],
         "tracks.left.contact.restitution must be at most 1, got 1.5"),
        ([((*LEFT, "drive"), {})],
         "tracks.left.drive must have exactly one of max_force, sprocket, torque_table, got none"),
        ([((*LEFT, "drive"), {"max_force": 300.0})],
         "tracks.left.drive must have max_speed with max_force or torque_table, and not with sprocket"),
        ([((*LEFT, "drive"), {"torque_table": TABLE})],
         "tracks.left.drive must have max_speed with max_force or torque_table, and not with sprocket"),
        ([((*LEFT, "drive"), {"max_speed": 2.0, "torque_table": TABLE | {"rows": [[0, 9], [3, 5], [3, 1]]}})],
         "tracks.left.drive.torque_table.rows[2] must have a speed above that of the row before, 3, got 3"),
        ([((*LEFT, "drive"), {"max_speed": 2.0, "torque_table": TABLE | {"rows": [[0, 0], [3, 0]]}})],
         "tracks.left.drive.torque_table.rows must have a torque above 0"),
        ([((*LEFT, "drive"), {"max_speed": 2.0, "torque_table": TABLE | {"rows": [[0, 9], [3, -1]]}})],
         "tracks.left.drive.torque_table.rows[1][1] must be at least 0, got -1"),
        ([((*LEFT, "drive"), {"max_speed": 2.0, "torque_table": TABLE | {"rows": [[0, NAN]]}})],
         "tracks.left.drive.torque_table.rows[0][1] must be a finite number, got nan"),
        ([((*LEFT, "drive"), {"max_speed": 2.0, "torque_table": TABLE | {"gears": []}})],
         "tracks.left.drive.torque_table.gears must be at least 1 long, got []"),
        ([((*LEFT, "drive"), {"max_speed": 2.0, "torque_table": TABLE | {"gears": [3, 0]}})],
         "tracks.left.drive.torque_table.gears[1] must be greater than 0, got 0"),
        ([((*LEFT, "drive", "max_brake"), -5.0)],
         "tracks.left.drive.max_brake must be greater than 0, got -5.0"),
        ([((*LEFT, "drive", "self_locking"), True), ((*LEFT, "drive", "max_brake"), 5.0)],
         "tracks.left.drive.max_brake must be left out where the drive is self_locking and holds its belt"),
        ([((*LEFT, "omit_segments"), ["line_7"])],
         "tracks.left.omit_segments[0] has no segment 'line_7'; there are: line_0, arc_1, line_2, arc_3"),
        ([((*LEFT, "omit_segments"), ["line_0"])],
         "tracks.left.omit_segments[0] must not be line_0, which the drive acts on"),
        ([((*LEFT, "path"), TOP_FIRST), ((*LEFT, "omit_segments"), ["line_0", "line_2"])],
         "tracks.left.omit_segments[1] must not be line_2, which the drive acts on"),
        # Links.
        ([((*LEFT, "mount", "parent"), "chassis")],
         "tracks.left.mount.parent has no link 'chassis'; there are: body"),
    ],
)  # fmt: skip
def test_mistakes_in_a_vehicle_file(tmp_path, changes, message):
    data = changed("packbot", *changes)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    assert without_lines(error.value) == f"mine.yaml: {message}"


FLIPPER = ("flippers", "front_left")


@each_row(
    "changes, message",
    [
        ([((*FLIPPER, "limits"), [1.0, -1.0])],
         "flippers.front_left.limits must rise, got [1.0, -1.0]"),
        ([((*FLIPPER, "tip_direction"), "left")],
         "flippers.front_left.tip_direction must be 'front' or 'rear', got 'left'"),
        ([((*FLIPPER, "tracks"), {})], "flippers.front_left.tracks must be at least 1 long, got {}"),
        ([((*FLIPPER, "tracks", "belt", "mount"), {"parent": "rear_left"})],
         "flippers.front_left.tracks.belt.mount.parent must be left out on a flipper, got 'rear_left'"),
        ([((*FLIPPER, "mount", "parent"), "arm")],
         "flippers.front_left.mount.parent has no link 'arm'; there are: body"),
        ([(("flippers", "body"), content("quince")["flippers"]["front_left"])],
         "flippers.body must not be named like a link of the body"),
        ([(("tracks", "front_left_belt"),
           content("quince")["tracks"]["left"] | {"mount": {"xyz": [0.0, 9.0, 0.0]}})],
         "has two tracks named front_left_belt (a flipper's track is named flipper_track)"),
        ([((*FLIPPER, "tracks", "belt", "drive", "reflected_mass"), 1.3)],
         "flippers.front_left.tracks.belt.drive.reflected_mass must be less than the 1.3 kg that are left of "
         "the flipper, got 1.3"),
        ([((*FLIPPER, "max_torque"), 0)], "flippers.front_left.max_torque must be greater than 0, got 0"),
    ],
)  # fmt: skip
def test_mistakes_in_flippers(tmp_path, changes, message):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(changed("quince", *changes)))
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    assert without_lines(error.value) == f"mine.yaml: {message}"


@each_row(
    "urdf, parent, message",
    [
        (None, "base_link",
         "body.urdf must be an existing file, got 'rover.urdf' (looked for {folder}/rover.urdf)"),
        ("<robot><link", "base_link",
         "body.urdf must be XML, got rover.urdf: unclosed token: line 1, column 7"),
        ("<robot/>", "base_link", "body.urdf must have one root link, got none"),
        ("<robot><link name='a'/><link name='b'/></robot>", "a",
         "body.urdf must have one root link, got a, b"),
        (ROVER, "chassis", "tracks.left.mount.parent has no link 'chassis'; there are: base_link, mast"),
        (TURNING_MAST, "mast",
         "tracks.left.mount.parent must be a link with a mass, or fixed to one, got 'mast' without one"),
        (ROVER.replace('value="5"', 'value="0"'), "body",
         "tracks.left.mount.parent must be a link with a mass, or fixed to one, got 'base_link' without one"),
        ("<vehicle/>", "base_link", "body.urdf must have the root element <robot>, got <vehicle>"),
        (ROVER.replace('value="5"', 'value="abc"'), "base_link",
         "body.urdf must have a finite number as mass value in link 'base_link', got 'abc'"),
        (ROVER.replace('value="5"', 'value="-5"'), "base_link",
         "body.urdf must have a mass of at least 0 in link 'base_link', got '-5'"),
        (ROVER.replace('ixx="1"', 'ixx="inf"'), "base_link",
         "body.urdf must have a finite number as inertia ixx in link 'base_link', got 'inf'"),
        (ROVER.replace("</joint>", '<origin xyz="0 0"/></joint>'), "base_link",
         "body.urdf must have 3 finite numbers as origin xyz in joint 'pan', got '0 0'"),
        (ROVER.replace("</robot>", "<link/></robot>"), "base_link",
         "body.urdf must name each link, got link 2 without a name"),
        (ROVER.replace("</robot>", '<link name="mast"/></robot>'), "base_link",
         "body.urdf must name each link differently, got two named 'mast'"),
        (ROVER.replace('child link="mast"', 'child link="boom"'), "base_link",
         "body.urdf has no link 'boom', which is the child of joint 'pan'"),
        (ROVER.replace('<child link="mast"/>', ""), "base_link",
         "body.urdf must give joint 'pan' one child link, got none"),
        (ROVER.replace('type="fixed"', ""), "base_link",
         "body.urdf must give joint 'pan' a type of revolute, continuous, prismatic, fixed, planar, "
         "spherical, got none"),
        (ROVER.replace('"fixed"', '"revolute"'), "base_link",
         "body.urdf must give joint 'pan' a <limit>, got none"),
        (ROVER.replace("</robot>", JOINT.format("arm", "base_link", "mast") + "</robot>"), "base_link",
         "body.urdf must carry each link by one joint, got two for 'mast'"),
        (ROVER.replace("</robot>", '<link name="a"/><link name="b"/>' + JOINT.format("there", "a", "b")
                       + JOINT.format("back", "b", "a") + "</robot>"), "base_link",
         "body.urdf must be one tree, got a cycle of joints through a, b"),
        (ROVER.replace("</robot>", '<link name="foot"/>' + TURNING_JOINT.format("down", "foot", "base_link")
                       + "</robot>"), "base_link",
         "body.urdf must have a mass on its root link 'foot', or on a link that a fixed joint holds to it: "
         "give one an <inertial>, or set body.fixed if it is bolted to the world"),
        (ROVER.replace('value="5"', 'value="2"'), "base_link",
         "tracks.left.drive.reflected_mass must be less than the 2 kg that are left of base_link, got 2"),
        (ROVER.replace('<link name="mast"/>', f'<link name="mast">{MESH}</link>'), "base_link",
         "body.urdf names a mesh that does not exist: package://rover/hull.stl of link 'mast' (rover.urdf:4) "
         "(looked in {folder} and the folders above for a folder rover or a package.xml of that name, and in "
         "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH)"),
        (ROVER.replace('<link name="mast"/>', f'<link name="mast">{MESH}</link>'.replace(
            "package://rover/hull.stl", "")), "base_link",
         "body.urdf must name the file of each mesh, got none in a visual of link 'mast' (rover.urdf:4); "
         "remove that visual if it has no shape"),
        (ROVER.replace('<link name="mast"/>', FLAT_MAST), "base_link",
         "body.urdf must have a positive size of each box that collides, got 1 1 0 in "
         "link 'mast' (rover.urdf:4); " + LEAVE_OUT),
        (ROVER.replace('<link name="mast"/>', THIN_MAST), "base_link",
         "body.urdf must have a positive radius of each cylinder that collides, got 0 in "
         "link 'mast' (rover.urdf:4); " + LEAVE_OUT),
        (ROVER.replace('<link name="mast"/>', '<link name="mast"><inertial><mass value="1"/></inertial>'
                       "</link>"), "base_link", BAD_MAST.format("0, 0, 0")),
        (ROVER.replace('<link name="mast"/>', f'<link name="mast"><inertial>{TENSOR.format(1, 3)}'
                       "</inertial></link>"), "base_link", BAD_MAST.format("1, 1, 3")),
        (ROVER.replace('<link name="mast"/>', f'<link name="mast"><inertial>{TENSOR.format(-1, 1)}'
                       "</inertial></link>"), "base_link", BAD_MAST.format("-1, 1, 1")),
    ],
)  # fmt: skip
def test_mistakes_in_a_body_urdf(tmp_path, urdf, parent, message):
    drawn = (*LEFT, "drive", "reflected_mass")
    data = changed("example_rover", ((*LEFT, "mount", "parent"), parent), (drawn, 2.0))
    del data["tracks"]["right"]
    if urdf is not None:
        (tmp_path / "rover.urdf").write_text(urdf)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    assert without_lines(error.value) == "mine.yaml: " + message.format(folder=tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
@pytest.mark.parametrize(
    "urdf, message",
    [
        (None, "must be an existing file, got 'rover.urdf' (looked for {folder}/rover.urdf)"),
        (ROVER.replace('<link name="mast"/>', '<link name="mast"><visual><geometry><mesh filename="no.stl"/>'
                       "</geometry></visual></link>"),
         "names a mesh that does not exist: no.stl of link 'mast' (rover.urdf:4) "
         "(looked in {folder} and the folders above)"),
    ],
)  # fmt: skip
def test_a_folder_that_is_not_utf_8_is_told_with_escapes(tmp_path, urdf, message):
    folder = tmp_path / os.fsdecode(b"d\xff")
    folder.mkdir()
    if urdf is not None:
        (folder / "rover.urdf").write_text(urdf)
    data = changed("example_rover", ((*LEFT, "mount", "parent"), "base_link"))
    (folder / "mine.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(folder / "mine.yaml")
    told = message.format(folder=f"{tmp_path}/d\\xff")
    assert without_lines(error.value).partition("\n")[0] == f"mine.yaml: body.urdf {told}"


@pytest.mark.parametrize("engine", ["native", "pybullet"])
@pytest.mark.parametrize("mast", [FLAT_MAST, THIN_MAST])
def test_a_shape_without_extent_may_stand_on_a_link_without_contact(tmp_path, mast, engine):
    """URDFs have them on links that stand for sensors; the file's joints are checked all the same."""
    weighing = mast.replace("</link>", f"<inertial>{TENSOR.format(1, 1)}</inertial></link>")
    (tmp_path / "rover.urdf").write_text(TURNING_MAST.replace('<link name="mast"/>', weighing))
    data = changed("example_rover", ((*LEFT, "mount", "parent"), "base_link"))
    del data["tracks"]["right"]
    data["body"]["without_contact"] = ["mast"]
    data["joints"] = {"pan": {"friction": 1.0}}
    vehicle = parse_vehicle(data, folder=tmp_path)
    with segtrack.World(engine=engine) as world:
        world.add_vehicle(vehicle, track_model="compliant")
        world.run(0.01)
    data["joints"] = {"tilt": {"friction": 1.0}}
    with pytest.raises(VehicleFileError, match="joints.tilt"):
        parse_vehicle(data, folder=tmp_path)


UNREAD = "cannot load {file}: PyBullet refuses it, and says why on its own output"


def test_a_body_urdf_that_can_be_read_but_not_built(tmp_path):
    data = changed("example_rover")
    mast = '<link name="mast"><collision><geometry><torus/></geometry></collision></link>'
    (tmp_path / "rover.urdf").write_text(ROVER.replace('<link name="mast"/>', mast))
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(data))
    vehicle = load_vehicle(tmp_path / "mine.yaml")
    with segtrack.World() as world:
        with pytest.raises(FileAccessError) as error:
            world.add_vehicle(vehicle)
        assert str(error.value) == UNREAD.format(file=tmp_path / "rover.urdf")
        assert world.client.getNumBodies() == 0


@pytest.mark.parametrize(
    "model, message",
    [
        ("wheels:5000", "track model wheels:N must be at most 127 wheels, got 'wheels:5000'"),
        ("wheels:127",
         "packbot with tracks of wheels:127 must be of at most 127 joints for PyBullet, got 254"),
    ],
)  # fmt: skip
def test_more_joints_than_pybullet_can_have_are_refused_before_it_sees_them(monkeypatch, model, message):
    with segtrack.World() as world:
        monkeypatch.setattr(pybullet, "loadURDF", None)
        with pytest.raises(InvalidValueError) as error:
            world.add_vehicle("packbot", track_model=model)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "mesh, message",
    [
        (None, "must be an existing file, got 'grouser.obj' (looked for {folder}/grouser.obj)"),
        ("not a mesh", "must be an OBJ, STL or COLLADA file of a solid, got '{folder}/grouser.obj'"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
         "must be an OBJ, STL or COLLADA file of a solid, got '{folder}/grouser.obj'"),
        ("v 0 0 -2\nv 1 0 -2\nv 0 1 -2\nv 0 0 -1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
         "must rise above the belt at z = 0, got a highest z of -0.001 m"),
    ],
)  # fmt: skip
def test_mistakes_in_a_grousers_mesh(tmp_path, mesh, message):
    if mesh is not None:
        (tmp_path / "grouser.obj").write_text(mesh)
    (tmp_path / "mine.yaml").write_text(find_vehicle("trapezoidal").read_text())
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    where = "mine.yaml: tracks.left.grousers.shape.mesh.file "
    assert without_lines(error.value) == where + message.format(folder=tmp_path)


@each_row(
    "text, kind, message",
    [
        (b"name: [quince", VehicleFileError,
         "mine.yaml:1: is not YAML: column 14: expected ',' or ']', but got '<stream end>'"),
        (b"name: a: b", VehicleFileError,
         "mine.yaml:1: is not YAML: column 8: mapping values are not allowed here"),
        (b"name: !!python/object:os.system x", VehicleFileError,
         "mine.yaml:1: is not YAML: column 7: could not determine a constructor for the tag "
         "'tag:yaml.org,2002:python/object:os.system'"),
        (b"source: 2020-13-45", VehicleFileError, "mine.yaml: is not YAML: month must be in 1..12"),
        (b"[" * 3000, VehicleFileError, "mine.yaml: is not YAML: nested too deeply"),
        (b"", VehicleFileError, "mine.yaml: must be a mapping of keys, got None"),
        (b"quince", VehicleFileError, "mine.yaml: must be a mapping of keys, got 'quince'"),
        (b"\x89PNG\xff\xfe", FileAccessError, "cannot read {file}: not UTF-8 text"),
        (b"\x00\x01", FileAccessError, "cannot read {file}: not text: it has the character #x00"),
    ],
)  # fmt: skip
def test_files_that_are_no_yaml(tmp_path, text, kind, message):
    file = tmp_path / "mine.yaml"
    file.write_bytes(text)
    with pytest.raises(kind) as error:
        load_vehicle(file)
    assert str(error.value) == message.format(file=file)


@each_row(
    "vehicle, kind, message",
    [
        ("qince", UnknownNameError, f"no vehicle 'qince'; there are: {KNOWN}"),
        ("", UnknownNameError, f"no vehicle ''; there are: {KNOWN}"),
        ("x" * 5000, UnknownNameError, f"no vehicle '{'x' * 5000}'; there are: {KNOWN}"),
        ("no_such.yaml", FileAccessError, "cannot read no_such.yaml: no such file"),
        ("no/such/vehicle", FileAccessError, "cannot read no/such/vehicle: no such file"),
        ("~no-such/one.yaml", FileAccessError, "cannot read ~no-such/one.yaml: no such file"),
        ("{folder}/there", FileAccessError, "cannot read {folder}/there: is a folder, not a vehicle file"),
        (5, InvalidValueError, "vehicle must be a bundled name or the path of a vehicle file, got 5"),
        (None, InvalidValueError, "vehicle must be a bundled name or the path of a vehicle file, got None"),
    ],
)
def test_vehicles_that_there_are_not(tmp_path, vehicle, kind, message):
    (tmp_path / "there").mkdir()
    if isinstance(vehicle, str):
        vehicle = vehicle.format(folder=tmp_path)
    with pytest.raises(kind) as error:
        load_vehicle(vehicle)
    assert str(error.value) == message.format(folder=tmp_path)


@pytest.fixture(scope="module")
def quince():
    """A quince in a world, which no test steps."""
    with segtrack.World() as world:
        yield world.add_vehicle("quince")


@each_row(
    "command, kind, message",
    [
        (lambda r: r.set_belt_speed(NAN, 0), InvalidValueError,
         "left belt speed [m/s] must be a finite number, got nan"),
        (lambda r: r.set_belt_speed(0, INF), InvalidValueError,
         "right belt speed [m/s] must be a finite number, got inf"),
        (lambda r: r.set_belt_speed("fast", 0), InvalidValueError,
         "left belt speed [m/s] must be a finite number, got 'fast'"),
        (lambda r: r.set_belt_speed(True, 0), InvalidValueError,
         "left belt speed [m/s] must be a finite number, got True"),
        (lambda r: r.drive(linear=NAN, angular=0), InvalidValueError,
         "linear speed [m/s] must be a finite number, got nan"),
        (lambda r: r.drive(linear=0, angular=-INF), InvalidValueError,
         "angular speed [rad/s] must be a finite number, got -inf"),
        (lambda r: r.tracks["left"].set_speed(NAN), InvalidValueError,
         "belt speed of left [m/s] must be a finite number, got nan"),
        (lambda r: r.set_throttle(NAN, 0), InvalidValueError,
         "throttle of the left side must be a finite number, got nan"),
        (lambda r: r.set_throttle(0, 0, right_brake=-0.1), InvalidValueError,
         "brake of the right side must be at least 0, got -0.1"),
        (lambda r: r.tracks["left"].set_throttle(0.5, brake=INF), InvalidValueError,
         "brake of left must be a finite number, got inf"),
        (lambda r: r.set_velocity(NAN), InvalidValueError,
         "forward velocity [m/s] must be a finite number, got nan"),
        (lambda r: r.set_flippers(front_left=NAN), InvalidValueError,
         "angle of flipper front_left [rad] must be a finite number, got nan"),
        (lambda r: r.set_flipper_speeds(front_left=INF), InvalidValueError,
         "speed of flipper front_left [rad/s] must be a finite number, got inf"),
        (lambda r: r.set_flippers(nose=0.1), UnknownNameError,
         "no flipper of quince 'nose'; there are: front_left, front_right, rear_left, rear_right"),
        (lambda r: r.set_flipper_speeds(nose=0.1), UnknownNameError,
         "no flipper of quince 'nose'; there are: front_left, front_right, rear_left, rear_right"),
    ],
)  # fmt: skip
def test_commands_that_a_robot_refuses(quince, command, kind, message):
    before = quince.model.snapshot()
    with pytest.raises(kind) as error:
        command(quince)
    assert str(error.value) == message
    assert quince.model.snapshot() == before


def test_a_speed_above_the_drives_limit_is_clipped(quince):
    quince.set_belt_speed(99.0, -99.0)
    assert {t.command for t in quince.tracks.values() if t.side == "left"} == {0.5}
    assert {t.command for t in quince.tracks.values() if t.side == "right"} == {-0.5}
    quince.set_throttle(9.0, -9.0, left_brake=9.0)
    assert quince.tracks["left"].pedals == (1.0, 1.0) and quince.tracks["right"].pedals == (-1.0, 0.0)
    quince.set_flippers(front_left=99.0)
    assert quince.model.flippers[0].command == ("angle", 1.6)
    quince.set_flipper_speeds(front_left=-99.0)
    assert quince.model.flippers[0].command == ("speed", -1.0)


@each_row(
    "attempt, kind, message",
    [
        (lambda w: w.add_vehicle("qince"), UnknownNameError, f"no vehicle 'qince'; there are: {KNOWN}"),
        (lambda w: w.add_vehicle("packbot", track_model="rails"), UnknownNameError,
         "no track model 'rails'; there are: segments, smooth, wheels:N, plates, compliant, surface, chain"),
        (lambda w: w.add_vehicle("packbot", position=[0, NAN]), InvalidValueError,
         "position [m] must be 2 finite numbers, got [0, nan]"),
        (lambda w: w.add_vehicle("packbot", position=[0]), InvalidValueError,
         "position [m] must be 2 finite numbers, got [0]"),
        (lambda w: w.add_vehicle("packbot", yaw=INF), InvalidValueError,
         "yaw [rad] must be a finite number, got inf"),
        (lambda w: w.add_vehicle("quince", flippers={"nose": 0.1}), UnknownNameError,
         "no flipper of quince 'nose'; there are: front_left, front_right, rear_left, rear_right"),
        (lambda w: w.add_vehicle("quince", flippers={"front_left": NAN}), InvalidValueError,
         "angle of flipper front_left [rad] must be a finite number, got nan"),
        (lambda w: w.add_terrain(terrain.Step(height=NAN, distance=1.0)), InvalidValueError,
         "Step.height must be a positive finite number [m], got nan"),
        (lambda w: w.run(NAN), InvalidValueError, "seconds must be a finite number, got nan"),
        (lambda w: w.run(-1), InvalidValueError, "seconds must be at least 0, got -1"),
    ],
)  # fmt: skip
def test_what_a_world_refuses_leaves_nothing_in_it(attempt, kind, message):
    with segtrack.World() as world:
        with pytest.raises(kind) as error:
            attempt(world)
        assert str(error.value) == message
        assert world.client.getNumBodies() == 0
        assert (world.robots, world.terrains, world.time) == ((), (), 0.0)


@pytest.mark.parametrize(
    "settings, kind, message",
    [
        ({"preset": "quick"}, UnknownNameError, "no solver preset 'quick'; there are: exact, fast, coarse"),
        ({"time_step": 0}, InvalidValueError, "time_step [s] must be positive, got 0"),
        ({"time_step": NAN}, InvalidValueError, "time_step [s] must be a finite number, got nan"),
        ({"gravity": INF}, InvalidValueError, "gravity [m/s^2] must be a finite number, got inf"),
    ],
)
def test_worlds_that_cannot_be(settings, kind, message):
    with pytest.raises(kind) as error:
        segtrack.World(**settings)
    assert str(error.value) == message


@pytest.fixture(scope="module")
def gone():
    """A world that has run, and its robot, its client gone."""
    world = segtrack.World()
    robot = world.add_vehicle("packbot")
    world.step()
    world.client.disconnect()
    return world, robot


@pytest.mark.parametrize(
    "attempt, message",
    [
        (lambda w, _: w.step(), "step packbot: the physics client is disconnected"),
        (lambda w, _: w.run(0.01), "step packbot: the physics client is disconnected"),
        (lambda _, r: r.before_step(), "step packbot: the physics client is disconnected"),
        (lambda w, _: w.add_vehicle("packbot"), "add a vehicle: the physics client is disconnected"),
        (lambda w, _: w.add_terrain(terrain.Plane()), "add terrain: the physics client is disconnected"),
        (lambda w, _: w.save(), "save the state: the physics client is disconnected"),
        (lambda w, _: w.reset(), "restore a state: the physics client is disconnected"),
    ],
)
def test_a_disconnected_client_is_named_as_the_reason(gone, attempt, message):
    with pytest.raises(DisconnectedError) as error:
        attempt(*gone)
    assert str(error.value) == message


def test_a_vehicle_cannot_be_attached_to_a_disconnected_client():
    client = BulletClient(pybullet.DIRECT)
    client.disconnect()
    with pytest.raises(DisconnectedError) as error:
        segtrack.attach(client, "packbot")
    assert str(error.value) == "attach packbot: the physics client is disconnected"


def test_a_closed_world_may_be_closed_again(gone):
    gone[0].close()


@pytest.mark.parametrize(
    "error",
    [
        UnknownNameError("vehicle", "qince", ["packbot", "quince"]),
        InvalidValueError("width", "positive", -1.0),
        FileAccessError("read", "there", "no such file"),
        DisconnectedError("step"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_travel_between_processes(error):
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error) and isinstance(twin, SegtrackError)
    assert str(twin) == str(error) and vars(twin) == vars(error)
