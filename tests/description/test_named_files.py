"""Hashes of vehicles follow the content of the files that they name, not the places of these."""

import shutil

import pytest

from segtrack.description import find_vehicle, load_vehicle, named_files, vehicle_hash

MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
SHAPE = '<visual><geometry><mesh filename="package://hull.obj"/></geometry></visual>'


@pytest.fixture
def folder(tmp_path):
    """Folder of the bundled M113 with a mesh on its hull."""
    folder = tmp_path / "one"
    shutil.copytree(find_vehicle("m113").parent, folder)
    text = (folder / "m113.urdf").read_text(encoding="utf-8")
    (folder / "m113.urdf").write_text(text.replace("<inertial>", SHAPE + "<inertial>", 1), encoding="utf-8")
    (folder / "hull.obj").write_text(MESH, encoding="utf-8")
    return folder


def hash_of(folder):
    return vehicle_hash(load_vehicle(folder / "m113.yaml"))


def test_the_files_of_a_vehicle_are_its_urdf_and_its_meshes(folder):
    vehicle = load_vehicle(folder / "m113.yaml")
    assert named_files(vehicle) == (folder / "m113.urdf", folder / "hull.obj")
    assert named_files(load_vehicle("packbot")) == ()


def test_a_vehicle_that_is_moved_keeps_its_hash(folder):
    before = hash_of(folder)
    assert hash_of(folder.rename(folder.with_name("two"))) == before


@pytest.mark.parametrize(
    ("file", "old", "new"), [("m113.urdf", 'mass value="', 'mass value="1'), ("hull.obj", "v 1", "v 2")]
)
def test_another_urdf_or_mesh_is_another_hash(file, old, new, folder):
    before = hash_of(folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert hash_of(folder) != before
