import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from chain_vehicles import parsed
from pydantic import ValidationError
from tables import each_row

import segtrack
from segtrack.description import (
    ContactSpec,
    DriveSpec,
    Frame,
    GrouserShape,
    Mount,
    Spec,
    UnknownPartError,
    VehicleDescription,
    bundled_vehicles,
    check,
    find_vehicle,
    load_vehicle,
    parse_vehicle,
    place_tracks,
    vehicle_links,
)
from segtrack.errors import Problem, VehicleFileError

SHAPES = {
    "tapered": (4, "cylinder"),
    "triangular": (6, "trapezoid"),
    "trapezoidal": (8, "mesh"),
    "okada_example": (4, "box"),
    "lugged_wheel": (1, "box"),
    "packbot": (4, "box"),
    "quince": (4, "trapezoid"),
}


def packbot():
    """The content of a vehicle file, its tracks not sharing anything."""
    return json.loads(json.dumps(yaml.safe_load(find_vehicle("packbot").read_text())))


def with_everything():
    """A vehicle file that uses every kind of part."""
    data = packbot()
    data["body"]["center_of_mass"] = [0, 0, 0]
    track = data["tracks"]["left"]
    track["path"] = {
        "start": [0.35, -0.115],
        "segments": [{"line": {"length": 0.7}}, {"arc": {"radius": 0.115, "turn": math.pi}}] * 2,
    }
    track["grousers"] = {
        "count": 40,
        "pattern": [
            {"box": {"length": 0.02, "height": 0.02}},
            {"trapezoid": {"base": 0.02, "top": 0.01, "height": 0.02}},
            {"cylinder": {"radius": 0.01}},
            {"mesh": {"file": str(find_vehicle("trapezoidal").with_name("grouser.obj")), "scale": 0.001}},
        ],
    }
    track["drive"] = {"sprocket": {"radius": 0.1, "stall_torque": 10.0, "no_load_speed": 5.0}}
    data["flippers"] = {
        "front": {
            "mount": {"xyz": [0.3, 0, 0]},
            "mass": 10.0,
            "size": [0.3, 0.1, 0.1],
            "limits": [-1.0, 1.0],
            "max_torque": 10.0,
            "max_speed": 1.0,
            "tracks": {"belt": data["tracks"]["right"]},
        }
    }
    return json.loads(json.dumps(data))


def mappings(data, where=()):
    """Every mapping of a vehicle file whose keys are segtrack's, with its keys from the top."""
    if isinstance(data, dict):
        if where[-1:] not in [("tracks",), ("flippers",)]:
            yield where
        for key, value in data.items():
            yield from mappings(value, (*where, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from mappings(value, (*where, i))


def at(data, where):
    for key in where:
        data = data[key]
    return data


def path_of(where):
    return "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in where).lstrip(".")


@each_row("name", bundled_vehicles())
def test_bundled_vehicles_load_and_say_where_their_numbers_come_from(name):
    vehicle = load_vehicle(name)
    readme = find_vehicle(name).with_name("README.md").read_text()
    assert vehicle.name == name
    assert readme.startswith(f"# {name}\n") and "assumed" in readme
    assert segtrack.load_vehicle(find_vehicle(name)) == vehicle


@pytest.mark.parametrize("name", SHAPES)
def test_bundled_vehicles_show_every_shape_of_path_and_grouser(name):
    track = next(load_vehicle(name).mounted_tracks()).spec
    segments, kind = SHAPES[name]
    assert len(track.belt_path.segments) == segments
    assert getattr(track.grousers.shapes[0], kind) is not None


def test_numbers_of_the_papers_vehicles_are_the_papers():
    """Section IV-A, Table III, and the authors' example."""
    packbot, quince = load_vehicle("packbot"), load_vehicle("quince")
    for vehicle, name, (length, height), grouser in [
        (packbot, "left", (0.690, 0.180), 0.008),
        (quince, "left", (0.685, 0.150), 0.0),
        (quince, "front_left_belt", (0.345, 0.150), 0.0),
        (quince, "rear_right_belt", (0.345, 0.150), 0.0),
    ]:
        part = next(t.spec for t in vehicle.mounted_tracks() if t.name == name)
        outline = part.belt_path.outline(1e-4)
        np.testing.assert_allclose(np.ptp(outline, axis=0) + 2 * grouser, (length, height), atol=1e-6)
    counts = [t.spec.grousers.count for t in quince.mounted_tracks()]
    assert counts == [40, 40, 22, 22, 22, 22]
    shares = [t.spec.belt.mass for t in quince.mounted_tracks()] + [f.mass for f in quince.flippers.values()]
    assert math.isclose(quince.body.mass + sum(shares), 33.0)
    example = load_vehicle("okada_example").tracks["track"]
    assert math.isclose(example.belt_path.perimeter, 2 * 0.7 + 2 * math.pi * 0.115)
    assert example.period == 2 * example.pitch


def test_a_description_is_frozen():
    vehicle = load_vehicle("packbot")
    for part, key in [(vehicle, "name"), (vehicle.tracks["left"], "width"), (vehicle.body, "mass")]:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(part, key, getattr(part, key))


def test_every_key_has_a_description_in_the_schema():
    schema = VehicleDescription.model_json_schema()
    for name, part in {**schema["$defs"], "VehicleDescription": schema}.items():
        assert part["additionalProperties"] is False, name
        assert part["description"], name


@each_row("where", list(mappings(with_everything())))
def test_an_unknown_key_is_refused_anywhere_with_its_path(where):
    data = with_everything()
    parse_vehicle(data)
    at(data, where)["colour"] = "red"
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data, "mine.yaml")
    unknown = f"mine.yaml: {path_of((*where, 'colour'))} is not a key that segtrack knows; there are: "
    assert str(error.value).startswith(unknown)


def test_all_mistakes_of_a_file_are_reported_at_once_with_their_paths():
    data = packbot()
    del data["source"]
    data["body"].update(mass=0, size=[0.5, -0.3, math.nan])
    data["wheels"] = 4
    left, right = data["tracks"]["left"], data["tracks"]["right"]
    left["grousers"].update(count=0)
    left["drive"]["max_speed"] = "fast"
    left["path"]["pulleys"][1]["x"] = -0.2
    right["mount"]["parent"] = "chassis"
    right["grousers"]["shape"]["box"]["length"] = 0.05
    right["omit_segments"] = ["line_2", "line_7", "line_0"]
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data, "mine.yaml")
    assert str(error.value).splitlines() == [
        "mine.yaml: source is missing",
        "mine.yaml: body.mass must be greater than 0, got 0",
        "mine.yaml: body.size[1] must be greater than 0, got -0.3",
        "mine.yaml: body.size[2] must be a finite number, got nan",
        "mine.yaml: tracks.left.grousers.count must be at least 1, got 0",
        "mine.yaml: tracks.left.drive.max_speed must be a number, got 'fast'",
        "mine.yaml: wheels is not a key that segtrack knows; "
        "there are: name, source, body, tracks, flippers, joints, "
        "chain, steering_efficiency, driver_position, calibration",
        "mine.yaml: tracks.left.path.pulleys must be apart, got pulleys 0 and 1 overlapping by 0.109 m",
        "mine.yaml: tracks.right.grousers.shape must be no longer than their pitch of 0.03838 m, got 0.05 m",
        "mine.yaml: tracks.right.omit_segments[1] has no segment 'line_7'; "
        "there are: line_0, arc_1, line_2, arc_3",
        "mine.yaml: tracks.right.omit_segments[2] must not be line_0, which the drive acts on",
        "mine.yaml: tracks.right.mount.parent has no link 'chassis'; there are: body",
    ]
    assert [p.where for p in error.value.problems][:2] == ["source", "body.mass"]


def test_files_are_looked_for_beside_the_vehicle_file(tmp_path, monkeypatch):
    for file in ("trapezoidal.yaml", "grouser.obj"):
        (tmp_path / file).write_text(find_vehicle("trapezoidal").with_name(file).read_text())
    monkeypatch.chdir("/")
    shape = load_vehicle(tmp_path / "trapezoidal.yaml").tracks["left"].grousers.shape
    assert shape.mesh.file == str(tmp_path / "grouser.obj")
    np.testing.assert_allclose(np.ptp(shape.mesh.hull.vertices, axis=0), [0.014, 0.080, 0.008])
    assert shape.mesh.height == 0.008


def test_yaml_numbers_with_an_exponent_are_numbers(tmp_path):
    text = find_vehicle("packbot").read_text().replace("mass: 20.0", "mass: 2e1")
    (tmp_path / "mine.yaml").write_text(text)
    assert load_vehicle(tmp_path / "mine.yaml") == load_vehicle("packbot")


def test_merge_keys_may_repeat_what_they_replace():
    quince = load_vehicle("quince")
    assert quince.flippers["rear_right"].mount.xyz[1] == -quince.flippers["rear_left"].mount.xyz[1]
    assert quince.flippers["rear_right"].tip_direction == "rear"


def test_a_torque_speed_line_gives_stall_force_and_top_speed():
    drive = DriveSpec.model_validate(
        {"sprocket": {"radius": 0.05, "stall_torque": 8.0, "no_load_speed": 20.0}}
    )
    assert (drive.stall_force, drive.top_speed) == (160.0, 1.0)


def test_a_tracks_side_is_that_of_its_mount():
    sides = {t.name: t.side for t in load_vehicle("quince").mounted_tracks()}
    assert sides == {
        name: "left" if "left" in name else "right"
        for name in ("left", "right", *(f"{f}_belt" for f in load_vehicle("quince").flippers))
    }
    assert next(load_vehicle("conveyor").mounted_tracks()).side == "center"


def test_a_tracks_side_is_that_of_its_place_in_the_body_frame(tmp_path):
    """Bogies to the left and right, mounts with y = 0 on each; a flipper turned round."""
    inertial = (
        '<inertial><mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("base", "a", "b"))
    joints = "".join(
        f'<joint name="to_{name}" type="fixed"><parent link="base"/><child link="{name}"/>'
        f'<origin xyz="0 {y} 0" rpy="{roll} 0 0"/></joint>'
        for name, y, roll in (("a", 0.2, 0), ("b", -0.2, math.pi))
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="own">{links}{joints}</robot>')
    data = with_everything()
    data["body"] = {"urdf": "robot.urdf"}
    track = data["tracks"]["right"]
    mounts = {
        "one": {"parent": "a"},
        "two": {"parent": "b", "rpy": [math.pi, 0, 0]},
        "over": {"parent": "b", "xyz": [0, -0.5, 0], "rpy": [math.pi, 0, 0]},
        "middle": {"parent": "b", "xyz": [0, -0.2, 0], "rpy": [math.pi, 0, 0]},
    }
    data["tracks"] = {
        name: track | {"mount": mount, "drive": {"max_force": 1.0, "max_speed": 1.0}}
        for name, mount in mounts.items()
    }
    data["flippers"]["front"]["mount"] = {"parent": "a", "xyz": [0, -0.1, 0], "rpy": [0, 0, math.pi]}
    data["flippers"]["front"]["tracks"]["belt"]["mount"] = {"xyz": [0, 0.3, 0], "rpy": [0, 0, math.pi]}
    vehicle = parse_vehicle(data, folder=tmp_path)
    mounted = {t.name: t for t in vehicle.mounted_tracks()}
    np.testing.assert_allclose([t.y for t in mounted.values()], [0.2, -0.2, 0.3, 0.0, -0.2], atol=1e-12)
    assert [t.side for t in mounted.values()] == ["left", "right", "left", "center", "right"]
    placed = place_tracks(vehicle, {})
    assert [p.frame.origin[1] for p in placed] == [t.y for t in mounted.values()]
    twin = parse_vehicle(data, folder=tmp_path)
    assert len(list(twin.mounted_tracks())) == 5 and twin == vehicle


def test_the_drive_acts_on_the_ground_wherever_a_path_begins():
    """The lower line comes third; segment and smooth tracks alike have its link first."""
    data = packbot()
    data["tracks"]["left"]["path"] = {
        "start": [-0.35, 0.115],
        "heading": 0.0,
        "segments": [{"line": {"length": 0.7}}, {"arc": {"radius": 0.115, "turn": math.pi}}] * 2,
    }
    data["tracks"]["left"]["omit_segments"] = ["line_0"]
    track = parse_vehicle(data).tracks["left"]
    assert [link.name for link in track.segment_links()] == ["line_2", "arc_1", "arc_3"]
    assert math.isclose(track.segment_links()[0].z, -0.115)
    smooth = track.model_copy(update={"grousers": None, "omit_segments": ()})
    assert [link.name for link in smooth.segment_links()] == ["line_2", "line_0", "arc_1", "arc_3"]


def test_a_smooth_belt_has_no_period():
    track = load_vehicle("conveyor").tracks["belt"]
    assert track.grousers is None and track.period == 0.0 and track.footprints() == ()


@each_row("name", bundled_vehicles())
def test_a_bundled_vehicle_is_found_by_name_in_any_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_vehicle(name) == Path(bundled_vehicles()[name])


def test_every_package_is_shipped():
    tomllib = pytest.importorskip("tomllib")
    root = Path(segtrack.__file__).parents[1]
    tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    tops = {
        "segtrack",
        *tool["package-dir"].values(),
        *(path.parent.name for path in root.glob("*/__init__.py")),
    }
    folders = {path.parent.relative_to(root) for top in tops for path in (root / top).rglob("__init__.py")}
    shipped = [Path(tool["package-dir"].get(name, name.replace(".", "/"))) for name in tool["packages"]]
    assert sorted(shipped) == sorted(folders)


def test_a_parts_checks_are_its_marked_methods_in_their_order():
    """A method that is none is not called, and what lacks a value does without the check that needs it."""

    class Part(Spec):
        """Two numbers."""

        low: float
        high: float

        def unmarked(self, given):
            raise AssertionError(given)

        @check
        def _rises(self):
            if self.low > self.high:
                yield Problem("high", "must be above low")

        @check
        def _positive(self):
            if self.low < 0:
                yield Problem("low", "must be positive")

    Part(low=1, high=2)
    with pytest.raises(ValidationError, match="(?s)high must be above low.*low must be positive"):
        Part(low=-1, high=-2)
    lacking = Part.model_construct(low=-1)
    assert [problem.where for problem in lacking.own_problems()] == ["low"]
    with pytest.raises(UnknownPartError):
        assert lacking.high is None
    with pytest.raises(AttributeError):
        assert lacking.width is None


def test_what_a_file_leaves_out_has_the_values_that_its_keys_say():
    """By the README and the keys' descriptions."""
    assert parse_vehicle(packbot()).steering_efficiency is None
    assert Mount().frame.origin.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(Mount().frame.rotation, np.eye(3))
    assert GrouserShape.model_validate({"cylinder": {"radius": 0.01}}).crown == 1e-4


@pytest.mark.parametrize("angle", [2 * math.pi, -2 * math.pi, 0.0])
def test_an_angle_may_be_a_whole_turn(angle):
    assert Mount.model_validate({"rpy": [0, 0, angle]}).rpy[2] == angle
    with pytest.raises(ValidationError, match="must be in radians"):
        Mount.model_validate({"rpy": [0, 0, math.copysign(2 * math.pi + 1e-6, angle)]})


def test_shapes_repeat_from_where_their_pattern_does():
    bar, rod = {"box": {"length": 0.01, "height": 0.01}}, {"cylinder": {"radius": 0.01}}
    for pattern, kinds in [
        ([bar, bar], 1), ([bar, rod], 2), ([bar, rod] * 2, 2), ([bar, bar, rod], 3),
        ([bar, rod, rod, bar], 4),
        ([bar, rod, rod] * 2, 3),
    ]:  # fmt: skip
        vehicle = parsed("packbot", (("tracks", "left", "grousers"), {"count": 12, "pattern": pattern}))
        grousers = vehicle.tracks["left"].grousers
        assert len(grousers.shapes) == kinds and grousers.height == 0.01


@pytest.mark.parametrize(
    ("shape", "extent", "height", "origin"),
    [
        ({"box": {"length": 0.03, "height": 0.02}, "crown": 0}, (-0.015, 0.015), 0.02, 0.01),
        ({"box": {"length": 0.03, "height": 0.02}}, (-0.015, 0.015), 0.02, 0.0),
        ({"trapezoid": {"base": 0.03, "top": 0.01, "height": 0.02}}, (-0.015, 0.015), 0.02, 0.0),
        ({"cylinder": {"radius": 0.02}}, (-0.02, 0.02), 0.02, 0.0),
    ],
)
def test_a_grouser_reaches_as_far_as_its_solid(shape, extent, height, origin):
    spec = GrouserShape.model_validate(shape)
    _, above = spec.kind.solid(0.1, spec.crown)
    assert (spec.kind.extent, spec.kind.height, above) == (extent, height, origin)


def test_numbers_at_the_edge_of_what_a_key_allows():
    """A friction of 0 is one, a steering efficiency of 1 too; a stiffness and a count are not."""
    assert ContactSpec.model_validate({"friction": 0, "stiffness": 1.0, "damping": 0}).lateral_ratio == 1.0
    data = packbot()
    for value, is_allowed in [(1.0, True), (1e-3, True), (1.0001, False), (0, False)]:
        if is_allowed:
            assert parse_vehicle(data | {"steering_efficiency": value}).steering_efficiency == value
        else:
            with pytest.raises(VehicleFileError, match="steering_efficiency must be"):
                parse_vehicle(data | {"steering_efficiency": value})


def test_a_frame_seen_from_another_is_back_where_it_was_seen_from_outside():
    one, other = Frame.at((1, 2, 3), (0.1, 0.2, 0.3)), Frame.at((-1, 0.5, 2), (0.4, -0.3, 1.2))
    again = other @ one.seen_from(other)
    np.testing.assert_allclose(again.origin, one.origin)
    np.testing.assert_allclose(again.rotation, one.rotation, atol=1e-12)


def test_a_bundled_vehicle_is_the_file_that_has_its_folders_name(tmp_path, monkeypatch):
    for file in ("mine/mine.yaml", "mine/base.yaml", "mine/other.yaml", "mine/mine.txt", "own/mine.yaml"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    assert bundled_vehicles() == {"mine": tmp_path / "mine" / "mine.yaml"}


@each_row("name", bundled_vehicles())
def test_a_vehicle_has_one_mass_however_it_is_asked(name):
    """Its links', with drives' inertia moved to belts; the whole's; and what the file gives part by part."""
    vehicle = load_vehicle(name)
    links = vehicle_links(vehicle)
    parts = [flipper.mass for flipper in vehicle.flippers.values()]
    parts += [mounted.spec.belt.mass for mounted in vehicle.mounted_tracks()]
    assert links.mass == pytest.approx(vehicle.body.total_mass + sum(parts))
    assert links.whole.mass == links.mass
