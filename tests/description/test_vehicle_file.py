"""Every mistake of a vehicle file at once: with its line, an anchor's once, wherever the file is loaded."""

import re

import pybullet
import pytest
import yaml
from pybullet_utils.bullet_client import BulletClient
from tables import each_row
from typer.testing import CliRunner

import segtrack
from segtrack.cli.app import app
from segtrack.description import find_vehicle, load_vehicle, parse_vehicle
from segtrack.errors import VehicleFileError

QUINCE = find_vehicle("quince").read_text()
TRAPEZOID = "{trapezoid: {base: 0.018, top: 0.005, height: 0.016}}"
MISTAKES = {
    "name: quince": ("name: my quince",
     "1: name must be a name of letters, digits and underscores that starts with a letter, got 'my quince'"),
    "mass: 20.8,": ("mass: 20,8,", "3: body.mass has a decimal comma, got 20,8: write 20.8"),
    "size: [0.535, 0.36, 0.11]": ("size: [0,535, 0,36, 0,11]",
     "3: body.size must be at most 3 long, got [0, 535, 0, 36, 0, 11]: "
     "write decimals after a point, not a comma"),
    "{xyz: [0, 0.1, 0]}": ("{xyz: [0, 0.1, 0], rpy: [0, 0, 90]}",
     "6: tracks.left.mount.rpy[2] must be in radians, got 90, which in degrees would be 1.571 rad"),
    "width: 0.17": ("widht: 0.17",
     "8: tracks.left.widht is not a key that segtrack knows; did you mean width?"),
    "belt: {mass: 2.5, thickness: 0.01}": ("belt: {mass: -2.5, thickness: 0.08}",
     "9: tracks.left.belt.mass must be greater than 0, got -2.5\n"
     "9: tracks.left.belt.thickness must be less than the radius of 0.075 m of its path's tightest outward "
     "arc, got 0.08 m"),
    f"count: 40, shape: {TRAPEZOID}": (
        "count: 40, shape: {trapezoid: {base: 0.005, top: 0.018, height: 0.016}}",
     "10: tracks.left.grousers.shape.trapezoid.top must be no longer than the base of 0.005 m, got 0.018 m"),
    "{max_force: 500.0, max_speed: 0.5, reflected_mass: 5.0}": (
        "{max_force: 500.0, max_speed: 0.5, max_force: 400.0, reflected_mass: 5.0}",
     "11: tracks.left.drive.max_force is given twice, first in line 11"),
    "&contact {friction: 0.6}": ("&contact {friction: nought}",
     "12: tracks.left.contact.friction must be a number, got 'nought'"),
    "limits: [-1.6, 1.6]": ("limits: [1.5, -1.5]",
     "23: flippers.front_left.limits must rise, got [1.5, -1.5]"),
    f"count: 22, shape: {TRAPEZOID}": ("count: 22, shape: {box: {length: 0.06, height: 0.01}}",
     "31: flippers.front_left.tracks.belt.grousers.shape must be no longer than their pitch of 0.03915 m, "
     "got 0.06 m"),
    "mount: {xyz: [-0.2675, 0.1975, 0]}": ("mount: {xyz: [-0.2675, 0.1975, 0], parent: boddy}",
     "39: flippers.rear_left.mount.parent has no link 'boddy'; there are: body"),
}  # fmt: skip
"""A text of Quince's file, its only or first one: what to put there, and what it is told, by lines from 1."""


def told(error):
    return str(error.value).splitlines()


def file_with(folder, *texts):
    content = QUINCE
    for text in texts:
        assert text in content
        content = content.replace(text, MISTAKES[text][0], 1)
    file = folder / "mine.yaml"
    file.write_text(content)
    return file


def messages(*texts):
    return [f"mine.yaml:{line}" for text in texts for line in MISTAKES[text][1].splitlines()]


@each_row("text", MISTAKES)
def test_a_mistake_is_told_once_with_its_line_however_often_its_anchor_is_used(tmp_path, text):
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(file_with(tmp_path, text))
    assert told(error) == messages(text)


def test_all_mistakes_together_are_those_of_each(tmp_path):
    """Of keys and values by themselves as of keys against each other, whichever else is wrong."""
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(file_with(tmp_path, *MISTAKES))
    assert told(error) == messages(*MISTAKES)
    assert [problem.line for problem in error.value.problems][:4] == [1, 3, 3, 6]


def test_every_way_to_load_a_file_says_the_same(tmp_path):
    file = file_with(tmp_path, *MISTAKES)
    client = BulletClient(pybullet.DIRECT)
    with segtrack.World() as world, segtrack.World(engine="native") as native:
        for load in (
            segtrack.load_vehicle,
            world.add_vehicle,
            native.add_vehicle,
            lambda path: segtrack.attach(client, path),
        ):
            with pytest.raises(VehicleFileError) as error:
                load(file)
            assert told(error) == messages(*MISTAKES)
        assert (world.robots, native.robots, client.getNumBodies()) == ((), (), 0)
    said = CliRunner().invoke(app, ["validate", str(file)])
    assert said.exit_code == 2
    assert said.stderr.removeprefix("segtrack: ").splitlines() == messages(*MISTAKES)


WIDTH = "width must be greater than 0, got"


@each_row(
    "text, told",
    [
        # An anchor's own keys, and those beside it.
        ("left: &a {width: 0}\n  right: *a", [f"left.{WIDTH} 0"]),
        ("left: &a {width: 0}\n  right: {<<: *a, width: -1}", [f"left.{WIDTH} 0", f"right.{WIDTH} -1"]),
        ("left: {width: 0}\n  right: {width: 0}", [f"left.{WIDTH} 0", f"right.{WIDTH} 0"]),
        # What YAML makes of decimal commas.
        ("left: {width: -0,5}",
         ["left.width has a decimal comma, got -0,5: write -0.5", f"left.{WIDTH} -0.5"]),
        ("left: {width: 0,5e-1}", ["left.width has a decimal comma, got 0,5e-1: write 0.5e-1"]),
        ("left: {width: 1, 0}", ["left must have text for keys, got 0"]),
        ("left:\n    width: 0,5",
         ["left.width must be a number, got '0,5': write the decimals after a point, 0.5"]),
        ("left: {mount: {xyz: [0,1, 0, 0]}}",
         ["left.mount.xyz must be at most 3 long, got [0, 1, 0, 0]: "
          "write decimals after a point, not a comma"]),
        ("left: {mount: {xyz: [0, 1, 0, 0]}}", ["left.mount.xyz must be at most 3 long, got [0, 1, 0, 0]"]),
        # Names.
        ("left: {drive: {max_force: 1, max_spede: 1}}",
         ["left.drive.max_spede is not a key that segtrack knows; did you mean max_speed?"]),
        ("left: {drive: {force: 1}}",
         ["left.drive.force is not a key that segtrack knows; did you mean max_force?"]),
        ("left: {belt: {colour: red}}",
         ["left.belt.colour is not a key that segtrack knows; there are: mass, thickness"]),
        ("left:\n    width: 1\n    width: 2\n    width: 3",
         ["left.width is given twice, first in line 3", "left.width is given twice, first in line 3"]),
        ("le.ft: {width: 0}",
         ["le.ft must be a name of letters, digits and underscores that starts with a letter, got 'le.ft'",
          f"le.ft.{WIDTH} 0"]),
        ("left: &a [*a]", ["left[0] must be no part of itself, got an alias of what it is in"]),
    ],
)  # fmt: skip
def test_mistakes_in_tracks(tmp_path, text, told):
    """Beside the keys that are missing."""
    (tmp_path / "mine.yaml").write_text(f"tracks:\n  {text}\n")
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    found = [str(problem) for problem in error.value.problems if problem.message != "is missing"]
    assert [line.removeprefix("tracks.") for line in found] == told


def test_what_an_anchor_lacks_is_missing_once(tmp_path):
    (tmp_path / "mine.yaml").write_text(QUINCE.replace("    width: 0.17\n", ""))
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    assert str(error.value) == "mine.yaml:5: tracks.left.width is missing"


@pytest.mark.parametrize("limits", ["[-7, 7]", "[0, 180]", "[-360.0, 6.0]"])
def test_limits_that_look_like_degrees_are_refused(tmp_path, limits):
    (tmp_path / "mine.yaml").write_text(QUINCE.replace("[-1.6, 1.6]", limits))
    with pytest.raises(VehicleFileError, match="must be in radians"):
        load_vehicle(tmp_path / "mine.yaml")


@pytest.mark.parametrize("limits", ["[-6.28, 6.28]", "[-1000, 1000]", "[-12.566, 12.566]"])
def test_a_flipper_without_stops_may_turn_more_than_once(tmp_path, limits):
    (tmp_path / "mine.yaml").write_text(QUINCE.replace("[-1.6, 1.6]", limits))
    assert load_vehicle(tmp_path / "mine.yaml").flippers["rear_right"].limits[1] > 6


@pytest.mark.parametrize("name", ["packbot", "quince", "bulldozer", "tapered", "triangular", "maxxii"])
def test_what_is_wrong_with_a_key_hides_no_check_that_does_not_need_it(tmp_path, name):
    """A link that there is not is found in any vehicle, whatever else is unknown or missing."""
    text = find_vehicle(name).read_text().replace("width:", "widths:")
    text = text.replace("mount: {", "mount: {parent: nowhere, ")
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(tmp_path / "mine.yaml")
    assert "has no link 'nowhere'" in str(error.value)
    assert "widths is not a key that segtrack knows; did you mean width?" in str(error.value)
    assert "is missing" not in str(error.value)


def told_of(folder, text):
    """The mistakes of a file, each with its line."""
    (folder / "mine.yaml").write_text(text)
    with pytest.raises(VehicleFileError) as error:
        load_vehicle(folder / "mine.yaml")
    return [line.removeprefix("mine.yaml:") for line in told(error)]


def test_what_the_first_of_several_merged_anchors_lacks_is_missing_once(tmp_path):
    text = QUINCE.replace("    width: 0.17\n", "")
    merged = re.sub(r"<<: (\*\w+)", r"<<: [\1, {}]", text)
    assert told_of(tmp_path, merged) == ["5: tracks.left.width is missing"]


def test_a_key_that_is_a_number_has_its_own_mistakes(tmp_path):
    assert "1: tracks.1.width is given twice, first in line 1" in told_of(
        tmp_path, "tracks: {1: {width: 1, width: 2}}"
    )


def test_an_alias_is_wrong_where_its_anchor_stands(tmp_path):
    text = QUINCE.replace("xyz: [0, 0.1, 0]", "xyz: [0, &y -0.1, 0]").replace("width: 0.17", "width: *y", 1)
    assert told_of(tmp_path, text) == ["6: tracks.left.width must be greater than 0, got -0.1"]


def test_bytes_are_no_text(tmp_path):
    mesh = QUINCE.replace(TRAPEZOID, "{mesh: {file: !!binary YQ==}}", 1)
    named = QUINCE.replace("name: quince", "name: !!binary YQ==")
    assert told_of(tmp_path, named) == ["1: name must be text, got b'a'"]
    assert told_of(tmp_path, mesh) == ["10: tracks.left.grousers.shape.mesh.file must be text, got b'a'"]


def test_a_pattern_is_not_short_for_what_is_wrong_in_it(tmp_path):
    wrong, right = "{box: {length: 0, height: 0.01}}", "{box: {length: 0.01, height: 0.01}}"
    pattern = f"pattern: [{wrong}, {right}, {wrong}]"
    mistakes = told_of(tmp_path, QUINCE.replace(f"shape: {TRAPEZOID}", pattern, 1))
    length = "box.length must be greater than 0, got 0"
    assert mistakes[:2] == [f"10: tracks.left.grousers.pattern[{i}].{length}" for i in (0, 2)]
    assert not any("long," in line for line in mistakes)


def test_an_unknown_reflected_mass_takes_nothing_from_its_link():
    data = yaml.safe_load(QUINCE.replace("reflected_mass: 5.0", "reflected_mass: heavy", 1))
    data["tracks"]["right"]["drive"] = data["tracks"]["right"]["drive"] | {"reflected_mass": 20.9}
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data)
    assert [str(problem) for problem in error.value.problems] == [
        "tracks.left.drive.reflected_mass must be a number, got 'heavy'",
        "tracks.right.drive.reflected_mass must be less than the 20.8 kg that are left of body, got 20.9",
    ]


@each_row(
    "path, old, new",
    [
        (("flippers", "front_left"), "extends", "tip_direction"),
        (("tracks", "left"), "omit", "omit_segments"),
        (("chain",), "arms", "suspension"),
        (("chain",), "wheels", "road_wheels"),
        (("chain",), "rollers", "even_rollers"),
        (("chain",), "ground", "shoe_contact"),
        (("chain", "tensioner"), "tension", "pretension"),
        (("chain", "bushing"), "cross_stiffness", "conical_stiffness"),
        (("chain", "suspension", "one"), "rest", "free_position"),
    ],
)
def test_a_key_of_an_earlier_version_is_told_its_new_name(tmp_path, path, old, new):
    """Whatever its value is; a key that is nothing there keeps the hint by its spelling."""
    content = yaml.safe_load(QUINCE)
    part = content
    for key in path:
        part = part.setdefault(key, {})
    part[old] = {}
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(content, "old.yaml", tmp_path)
    assert f"old.yaml: {'.'.join(path)}.{old} is now called {new}" in told(error)
