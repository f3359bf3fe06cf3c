"""Tracks that drive a vehicle forward: their axles lie across its body, whose x is forward."""

import copy
import math

import numpy as np
import pytest
import yaml
from tables import each_row

from segtrack.description import (
    Frame,
    bundled_vehicles,
    find_vehicle,
    load_vehicle,
    parse_vehicle,
    place_tracks,
)
from segtrack.errors import VehicleFileError

PI = math.pi
EXPECTED = "must point the axle, the track's y axis, along the body's y, within 45 deg, got "
BACKWARDS = "(0, -1, 0): the belt would drive the body backwards: turn it about z by 3.14159"
FLAT = "the belt lies flat and drives nothing"
SIDEWAYS = (
    "(-1, 0, 0): the belt would drive the body along (0, 1, 0), and x is forward: turn the track, or all of "
    "the body so that x points where it drives"
)


def oval(mount, **body):
    track = {
        "mount": mount,
        "path": {"pulleys": [{"x": x, "z": 0, "radius": 0.08} for x in (-0.25, 0.25)]},
        "width": 0.08,
        "belt": {"mass": 2.0},
        "drive": {"max_force": 300.0, "max_speed": 1.0},
    }
    body = {"mass": 20.0, "size": [0.5, 0.3, 0.1], **body}
    return {"name": "own", "source": "made up", "body": body, "tracks": {"left": track}}


@each_row(
    "rpy, message",
    [
        ([0, 0, PI], BACKWARDS), ([PI, 0, 0], BACKWARDS), ([PI, 1.0, 0], BACKWARDS),
        ([0, 0, PI / 2], SIDEWAYS), ([PI / 2, 0, 0], f"(0, 0, 1): {FLAT}"),
        ([-PI / 2, 0, 0.3], f"(0, 0, -1): {FLAT}"),
        ([0, 0, 0.8], SIDEWAYS.replace("-1, 0", "-0.72, 0.7").replace("(0, 1", "(0.7, 0.72")),
        ([0, 0, 0], None), ([0, PI, 0], None), ([0, 1.2, 0], None), ([PI, 0, PI], None), ([0, 0, -0.7], None),
        ([0.7, 0, 0], None),
    ],
)  # fmt: skip
def test_a_track_whose_belt_would_not_drive_forward_is_refused(rpy, message):
    """Rotations about the axle, and a half turn about x and z, leave the belt as it is."""
    data = oval({"xyz": [0, 0.22, 0], "rpy": rpy})
    assert parse_vehicle({**data, "body": {**data["body"], "fixed": True}}).body.fixed
    if message is None:
        assert parse_vehicle(data).tracks["left"].mount.rpy == tuple(rpy)
        return
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data)
    assert str(error.value) == f"vehicle: tracks.left.mount.rpy {EXPECTED}{message}"


def test_the_line_of_a_mount_and_links_turned_about_count(tmp_path):
    """The mount undoes what a link of the URDF turned about: that is how such robots are described."""
    tensor = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    (tmp_path / "own.urdf").write_text(f"""<robot name="own">
      <link name="base"><inertial><mass value="20"/>{tensor}</inertial></link>
      <link name="rear"/>
      <joint name="j" type="fixed"><parent link="base"/><child link="rear"/>
        <origin xyz="-0.3 0.2 0" rpy="0 0 {PI}"/></joint></robot>""")
    data = oval({"parent": "rear", "xyz": [0, 0, 0]})
    data["body"] = {"urdf": "own.urdf"}
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data, folder=tmp_path)
    assert str(error.value) == f"vehicle: tracks.left.mount.rpy {EXPECTED}{BACKWARDS}"
    data["tracks"]["left"]["mount"]["rpy"] = [0, 0, PI]
    (track,) = parse_vehicle(data, folder=tmp_path).mounted_tracks()
    assert track.side == "left"


def test_a_flippers_track_is_held_against_the_body():
    data = yaml.safe_load(find_vehicle("quince").read_text())
    flipper = next(iter(data["flippers"].values()))
    own = next(iter(flipper["tracks"]))
    flipper["tracks"][own] = copy.deepcopy(flipper["tracks"][own])  # Not those of other flippers.
    flipper["tracks"][own].setdefault("mount", {})["rpy"] = [0.0, 0.0, PI]
    with pytest.raises(VehicleFileError, match=r"flippers\.\w+\.tracks\.\w+\.mount\.rpy must point the axle"):
        parse_vehicle(data)


@each_row("name", bundled_vehicles())
def test_bundled_vehicles_drive_forward(name):
    for track in place_tracks(load_vehicle(name), {}):
        np.testing.assert_allclose(track.frame.push, [1, 0, 0], atol=1e-12)


def test_the_push_of_a_belt_is_what_its_lower_run_makes():
    """A belt that turns about its axle by v / r at a point r below: the ground is pushed back, so (w x r)."""
    for rpy in ((0.3, 0.2, 0.1), (0.0, PI, 0.4), (PI, 0.2, -2.0)):
        frame = Frame.at((0, 0, 0), rpy)
        np.testing.assert_allclose(frame.push, -np.cross(frame.rotation[:, 1], (0, 0, -1.0)), atol=1e-12)
