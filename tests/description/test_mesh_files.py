"""Meshes of a URDF are found by their names as ROS, Gazebo and PyBullet find them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import trimesh

import segtrack
from segtrack.description import mesh_file, named_files
from segtrack.errors import VehicleFileError
from segtrack.recording.setup import VehicleFiles

URDF = """<robot name="r"><link name="base_link"><inertial><mass value="20"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><mesh filename="{}"/></geometry></collision></link></robot>"""
PATHS = "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH"


def vehicle_file(folder: Path, mesh: str) -> Path:
    """The bundled rover on a body with a mesh, in the folder of a URDF."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "robot.urdf").write_text(URDF.format(mesh))
    text = Path(segtrack.description.find_vehicle("example_rover")).read_text()
    body = text[text.index("body:") : text.index("tracks:")]
    file = folder / "robot.yaml"
    file.write_text(text.replace(body, "body: {urdf: robot.urdf}\n"))
    return file


@pytest.fixture(autouse=True)
def no_paths(monkeypatch):
    for name in PATHS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "mesh, place, variable, listed",
    [
        ("meshes/hull.stl", "src/robot/urdf/meshes/hull.stl", None, ""),
        ("meshes/hull.stl", "src/robot/meshes/hull.stl", None, ""),
        ("package://robot/meshes/hull.stl", "src/robot/meshes/hull.stl", None, ""),
        ("package://robot/meshes/hull.stl", "src/robot/urdf/robot/meshes/hull.stl", None, ""),
        ("package://own/meshes/hull.stl", "src/robot/meshes/hull.stl", None, ""),
        ("package://arm/hull.stl", "ros1/arm/hull.stl", "ROS_PACKAGE_PATH", "ros1"),
        ("package://arm/hull.stl", "ros1/arm/hull.stl", "ROS_PACKAGE_PATH", "ros1/arm"),
        ("package://crane/hull.stl", "ros1/crane-main/hull.stl", "ROS_PACKAGE_PATH", "ros1"),
        ("package://arm/hull.stl", "ros2/share/arm/hull.stl", "AMENT_PREFIX_PATH", "nowhere:{}/ros2"),
        ("model://arm/hull.stl", "src/arm/hull.stl", None, ""),
        ("model://arm/hull.stl", "models/arm/hull.stl", "GAZEBO_MODEL_PATH", "models"),
        ("model://arm/hull.stl", "models/arm/hull.stl", "GZ_SIM_RESOURCE_PATH", "models"),
        ("model://arm/hull.stl", "models/arm/hull.stl", "SDF_PATH", "nowhere:{}/models"),
        ("file://{}/a b/hull.stl", "a b/hull.stl", None, ""),
        ("file://{}/a%20b/hull.stl", "a b/hull.stl", None, ""),
        ("file://{}/a%2520b#[1]/hull.stl", "a%20b#[1]/hull.stl", None, ""),
        ("{}/any/hull.stl", "any/hull.stl", None, ""),
    ],
)
def test_a_mesh_is_found_by_its_name(tmp_path, monkeypatch, mesh, place, variable, listed):
    urdf = tmp_path / "src" / "robot" / "urdf"
    hull = tmp_path / place
    crane = tmp_path / "ros1" / "crane-main"
    for name, package in {"own": urdf.parent, "arm": tmp_path / "ros1" / "arm", "crane": crane}.items():
        package.mkdir(parents=True, exist_ok=True)
        (package / "package.xml").write_text(f"<package><name>{name}</name></package>")
    hull.parent.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box((0.4, 0.2, 0.1)).export(hull)
    if variable is not None:
        monkeypatch.setenv(variable, listed.format(tmp_path) if "{}" in listed else str(tmp_path / listed))
    file = vehicle_file(urdf, mesh.format(tmp_path))
    vehicle = segtrack.load_vehicle(file)
    assert hull.resolve() in [path.resolve() for path in named_files(vehicle)]
    ((_, shape),) = vehicle.body.contact_shapes()
    np.testing.assert_allclose(np.ptp(shape.corners(), axis=0), (0.4, 0.2, 0.1), rtol=1e-6)


def test_a_mesh_that_is_nowhere_is_refused_with_the_places(tmp_path):
    with pytest.raises(VehicleFileError) as error:
        segtrack.load_vehicle(vehicle_file(tmp_path / "robot" / "urdf", "package://arm/hull.stl"))
    told = str(error.value)
    for words in (
        "package://arm/hull.stl of link 'base_link'",
        "a folder arm or a package.xml of that name",
        *PATHS[:2],
    ):
        assert words in told


@pytest.mark.parametrize("mesh", ["file://[x/hull.stl", "h" * 300 + ".stl", "package://arm/hull.stl"])
def test_a_mesh_is_refused_beside_whatever_lies_above(tmp_path, mesh):
    """A name that no file can have, and a package.xml that no parser reads, are no mesh, no more."""
    (tmp_path / "package.xml").write_text('<?xml version="1.0" encoding="none"?><package/>')
    with pytest.raises(VehicleFileError, match="names a mesh that does not exist"):
        segtrack.load_vehicle(vehicle_file(tmp_path / "urdf", mesh))


def test_a_missing_mesh_would_lie_beside_the_urdf(tmp_path):
    assert mesh_file("meshes/hull.stl", tmp_path) == tmp_path / "meshes" / "hull.stl"


@pytest.mark.parametrize("name", ["hull.dae", "hull.obj", "hull.stl", "hull.glb"])
def test_a_collision_mesh_that_cannot_be_read_is_refused(tmp_path, name):
    file = vehicle_file(tmp_path, name)
    (tmp_path / name).write_text("nonsense")
    with pytest.raises(VehicleFileError, match="collision mesh of link 'base_link'.* must be an OBJ, STL or"):
        segtrack.load_vehicle(file)


@pytest.mark.parametrize(
    "mesh",
    [
        "package://robot/meshes/hull.stl",
        "package://other/hull.stl",
        "model://models/hull.stl",
        "file://{}/store/hull.stl",
        "{}/store/hull.stl",
        "meshes/hull.stl",
        "link.stl",
    ],
)
def test_a_recording_finds_its_meshes_again(tmp_path, monkeypatch, mesh):
    """On another machine: the vehicle's own folders are gone, and variables are unset."""
    here, robot = tmp_path / "here", tmp_path / "here" / "robot-main"
    for place in ("store", "robot-main/meshes", "packages/other", "gazebo/models"):
        (here / place).mkdir(parents=True)
        trimesh.creation.box((0.4, 0.2, 0.1)).export(here / place / "hull.stl")
    (robot / "package.xml").write_text("<package><name>robot</name></package>")
    file = vehicle_file(robot / "urdf", mesh.format(here))
    (robot / "urdf" / "link.stl").symlink_to(here / "store" / "hull.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(here / "packages"))
    monkeypatch.setenv("GAZEBO_MODEL_PATH", str(here / "gazebo"))
    files = VehicleFiles.read(file)
    for name in PATHS:
        monkeypatch.delenv(name, raising=False)
    shutil.rmtree(here)
    ((_, shape),) = segtrack.load_vehicle(files.write(tmp_path / "there")).body.contact_shapes()
    np.testing.assert_allclose(np.ptp(shape.corners(), axis=0), (0.4, 0.2, 0.1), rtol=1e-6)


@pytest.mark.parametrize("name", ["{}/robot/robot.urdf", "link.urdf", "../robot/link.urdf"])
def test_a_recording_finds_its_urdf_again(tmp_path, name):
    here = tmp_path / "here"
    file = vehicle_file(here / "robot", "hull.stl")
    trimesh.creation.box((0.4, 0.2, 0.1)).export(here / "robot" / "hull.stl")
    (here / "robot" / "link.urdf").symlink_to(here / "robot" / "robot.urdf")
    file.write_text(file.read_text().replace("robot.urdf", name.format(here)))
    before = segtrack.load_vehicle(file)
    files = VehicleFiles.read(file)
    shutil.rmtree(here)
    again = segtrack.load_vehicle(files.write(tmp_path / "there"))
    assert Path(again.body.urdf) == tmp_path / "there" / "robot.urdf"
    assert again.model_copy(update={"body": before.body}) == before


def test_a_copy_of_plain_names_is_equal_to_the_byte(tmp_path):
    file = vehicle_file(tmp_path, "./hull.stl")
    trimesh.creation.box((0.4, 0.2, 0.1)).export(tmp_path / "hull.stl")
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert VehicleFiles.read(file).contents == files


@pytest.mark.parametrize("encoding", ["none", "utf-32", "base64"])
def test_a_urdf_of_an_encoding_that_no_parser_reads_is_refused(tmp_path, encoding):
    file = vehicle_file(tmp_path, "hull.stl")
    urdf = file.with_name("robot.urdf")
    urdf.write_text(f'<?xml version="1.0" encoding="{encoding}"?>{urdf.read_text()}')
    with pytest.raises(VehicleFileError, match=r"body\.urdf must be XML, got robot\.urdf: "):
        segtrack.load_vehicle(file)


@pytest.mark.parametrize("name", ["u" * 300 + ".urdf", "~nobody-of-this-name/robot.urdf"])
def test_a_urdf_whose_path_no_file_can_have_is_refused(tmp_path, name):
    file = vehicle_file(tmp_path, "hull.stl")
    file.write_text(file.read_text().replace("robot.urdf", name))
    with pytest.raises(VehicleFileError, match=r"body\.urdf must be an existing file"):
        segtrack.load_vehicle(file)
