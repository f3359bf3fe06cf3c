"""Meshes of a URDF are found by their names as ROS, Gazebo and PyBullet find them."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

import segtrack
from segtrack.description.named_files import named_files
from segtrack.errors import VehicleFileError
from segtrack.recording.setup import VehicleFiles

URDF = """<robot name="r"><link name="base_link"><inertial><mass value="20"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><mesh filename="{}"/></geometry></collision></link></robot>"""
PATHS = "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH"


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
        ("package://arm/hull.stl", "ros2/share/arm/hull.stl", "AMENT_PREFIX_PATH", "nowhere:{}/ros2"),
        ("model://arm/hull.stl", "src/arm/hull.stl", None, ""),
        ("model://arm/hull.stl", "models/arm/hull.stl", "GAZEBO_MODEL_PATH", "models"),
        ("file://{}/a b/hull.stl", "a b/hull.stl", None, ""),
        ("file://{}/a%20b/hull.stl", "a b/hull.stl", None, ""),
    ],
)
def test_a_mesh_is_found_by_its_name(tmp_path, monkeypatch, mesh, place, variable, listed):
    urdf = tmp_path / "src" / "robot" / "urdf"
    hull = tmp_path / place
    for package in (urdf.parent, tmp_path / "ros1" / "arm"):
        package.mkdir(parents=True, exist_ok=True)
        name = "own" if package == urdf.parent else "arm"
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


def test_a_recording_of_a_package_finds_its_meshes_again(tmp_path):
    hull = tmp_path / "robot" / "meshes" / "hull.stl"
    hull.parent.mkdir(parents=True)
    trimesh.creation.box((0.4, 0.2, 0.1)).export(hull)
    files = VehicleFiles.read(vehicle_file(tmp_path / "robot" / "urdf", "package://robot/meshes/hull.stl"))
    again = segtrack.load_vehicle(files.write(tmp_path / "elsewhere"))
    assert tmp_path / "elsewhere" / "robot" / "meshes" / "hull.stl" in named_files(again)
