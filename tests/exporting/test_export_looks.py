"""Export of friction, colours and meshes: each format has them, or a remark says that it has not."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from jointed_vehicles import Limb, jointed

from segtrack import SegtrackError, VehicleDescription, export_vehicle, load_vehicle
from segtrack.exporting import FORMATS, ExportedVehicle, Format

SUFFIXES = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf"}
TRIANGLE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n"
PLATE = "v 0 0 0.2\nv 0.1 0 0.2\nv 0 0.1 0.2\nv 0.1 0.1 0.2\nf 1 2 3\nf 2 4 3\n"
WEDGE = "v 0 0 0.2\nv 0.1 0 0.2\nv 0 0.1 0.2\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def exported_as(vehicle: VehicleDescription, name: Format, folder: Path) -> tuple[ExportedVehicle, Element]:
    """Vehicle exported to a format, and the root of its file."""
    exported = export_vehicle(vehicle, name, out=folder / f"own{SUFFIXES[name]}")
    return exported, ElementTree.parse(exported.file).getroot()


def told(exported: ExportedVehicle, what: str) -> list[str]:
    return [remark.value for remark in exported.remarks if remark.what == what]


def slippery() -> VehicleDescription:
    """Quince whose belts have a friction of 0.8 along and 0.3 across."""
    quince = load_vehicle("quince")
    tracks = {}
    for name, track in quince.tracks.items():
        contact = track.contact.model_copy(update={"friction": 0.8, "lateral_friction": 0.3})
        tracks[name] = track.model_copy(update={"contact": contact})
    return quince.model_copy(update={"tracks": tracks})


def test_a_urdf_has_friction_along_and_across_the_belt(tmp_path: Path) -> None:
    _, robot = exported_as(slippery(), "urdf", tmp_path)
    for side in ("left", "right"):
        (belt,) = robot.iterfind(f"gazebo[@reference='{side}_track']")
        assert [belt.findtext(key) for key in ("mu1", "mu2", "fdir1")] == ["0.8", "0.3", "1 0 0"]


def test_an_sdf_has_friction_along_and_across_the_belt(tmp_path: Path) -> None:
    _, sdf = exported_as(slippery(), "sdf", tmp_path)
    frictions = sdf.findall("model/link[@name='left_track']/collision/surface/friction/ode")
    assert {tuple(each.findtext(key) for key in ("mu", "mu2")) for each in frictions} == {("0.8", "0.3")}


def test_mjcf_has_friction_along_the_belt_and_tells_that_across_as_lost(tmp_path: Path) -> None:
    exported, mjcf = exported_as(slippery(), "mjcf", tmp_path)
    geoms = [each for each in mjcf.iter("geom") if str(each.get("name")).startswith("left_track_")]
    assert {str(each.get("friction")).split()[0] for each in geoms} == {"0.8"}
    assert told(exported, "lateral friction") == ["0.3"]


def seen_by(folder: Path, *shapes: str, materials: str = "") -> VehicleDescription:
    """Vehicle whose link `elbow_link` has shapes too, and whose URDF has materials."""
    file = jointed(folder, [Limb("elbow")], {})
    urdf = folder / "jointed.urdf"
    robot = ElementTree.fromstring(urdf.read_text())
    (link,) = (each for each in robot.iterfind("link") if each.get("name") == "elbow_link")
    link.extend(ElementTree.fromstring(f"<all>{''.join(shapes)}</all>"))
    robot.extend(ElementTree.fromstring(f"<all>{materials}</all>"))
    urdf.write_text(ElementTree.tostring(robot, encoding="unicode"))
    return load_vehicle(file)


def shape(geometry: str, kind: str = "visual", material: str = "") -> str:
    return f"<{kind}><geometry>{geometry}</geometry>{material}</{kind}>"


def test_colours_of_the_body_are_in_sdf_and_mjcf(tmp_path: Path) -> None:
    """One inline, one by the name of the robot's material, and none."""
    inline = '<material name=""><color rgba="1 0 0 1"/></material>'
    shapes = [
        shape(f'<box size="0.1 0.1 {z}"/>', material=material)
        for z, material in ((0.1, inline), (0.2, '<material name="sea"/>'), (0.3, ""))
    ]
    materials = '<material name="sea"><color rgba="0 0 1 0.5"/></material>'
    vehicle = seen_by(tmp_path, *shapes, materials=materials)
    _, sdf = exported_as(vehicle, "sdf", tmp_path)
    seen = [each for each in sdf.iter("visual") if "_track" not in str(each.get("name"))]
    colours = {each.findtext("geometry/box/size"): each.findtext("material/diffuse") for each in seen}
    assert colours == {"0.1 0.1 0.1": "1 0 0 1", "0.1 0.1 0.2": "0 0 1 0.5", "0.1 0.1 0.3": None}
    _, mjcf = exported_as(vehicle, "mjcf", tmp_path)
    geoms = {each.get("size"): each.get("rgba") for each in mjcf.iter("geom") if each.get("group") == "2"}
    assert geoms == {"0.05 0.05 0.05": "1 0 0 1", "0.05 0.05 0.1": "0 0 1 0.5", "0.05 0.05 0.15": None}


@pytest.mark.parametrize("name", FORMATS)
def test_textures_and_materials_of_mesh_files_are_left_out_and_told(tmp_path: Path, name: Format) -> None:
    (tmp_path / "wedge.obj").write_text(f"mtllib wedge.mtl\n{WEDGE}")
    texture = '<material name="rust"><texture filename="rust.png"/></material>'
    vehicle = seen_by(tmp_path, shape('<mesh filename="wedge.obj"/>', material=texture))
    exported, root = exported_as(vehicle, name, tmp_path)
    assert "rust.png" not in exported.file.read_text()
    assert told(exported, "textures") == ["rust.png"]
    assert told(exported, "materials in mesh files") == ["wedge.obj"]
    if name == "urdf":
        assert root.find(".//material[@name='rust']/color") is not None  # A material needs one of both.


@pytest.mark.parametrize("name", ["sdf", "mjcf"])
def test_a_flat_mesh_that_touches_is_refused_by_its_vehicle_link_and_file(
    tmp_path: Path, name: Format
) -> None:
    (tmp_path / "plate.obj").write_text(PLATE)
    vehicle = seen_by(tmp_path, shape('<mesh filename="plate.obj"/>', "collision"))
    with pytest.raises(SegtrackError) as caught:
        exported_as(vehicle, name, tmp_path)
    assert str(caught.value) == (
        "collision mesh of link elbow_link of jointed must be an OBJ, STL or COLLADA file of a solid "
        "(a flat one has no volume), got 'plate.obj'"
    )
    assert not (tmp_path / f"own{SUFFIXES[name]}").exists()


def test_a_mesh_too_small_for_mujoco_is_left_out_by_its_link_and_file(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    for mesh, text in (("sheet", TRIANGLE), ("plate", PLATE)):
        (tmp_path / f"{mesh}.obj").write_text(text)
    vehicle = seen_by(tmp_path, *(shape(f'<mesh filename="{mesh}.obj"/>') for mesh in ("sheet", "plate")))
    exported, _ = exported_as(vehicle, "mjcf", tmp_path)
    assert mujoco.MjModel.from_xml_path(str(exported.file)).nmesh == 1
    assert [mesh.name[:10] for mesh in exported.meshes] == ["own_plate_"]
    assert told(exported, "small meshes") == ["sheet.obj of link elbow_link"]
