"""Export of bodies with joints of any kind: masses and motions are the vehicle's in each format."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from exported_files import Whole, whole_of_sdf
from jointed_vehicles import Limb, jointed, random_limbs

from segtrack import SegtrackError, VehicleDescription, export_vehicle, load_vehicle
from segtrack.description import link_frames, read_inertial, vehicle_links
from segtrack.exporting import FORMATS

SEEDS = (1, 2, 3)
SUFFIXES = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf"}


def limbed(folder: Path, seed: int) -> VehicleDescription:
    """Vehicle with eight limbs at random, of which those of even numbers move if they can."""
    limbs = random_limbs(seed, 8)
    named = {limb.name: {} for limb in limbs[::2] if limb.kind != "fixed"}
    return load_vehicle(jointed(folder, limbs, named))


def assert_whole(got: Whole, vehicle: VehicleDescription) -> None:
    expected = vehicle_links(vehicle).whole
    assert got.mass == pytest.approx(expected.mass, rel=1e-9)
    assert got.center == pytest.approx(expected.center, abs=1e-9)
    assert got.inertia == pytest.approx(expected.inertia, abs=1e-9 * float(expected.inertia.max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_mujoco_moves_limbs_as_they_move_here(tmp_path: Path, seed: int) -> None:
    mujoco = pytest.importorskip("mujoco")
    vehicle = limbed(tmp_path, seed)
    model = mujoco.MjModel.from_xml_path(str(export_vehicle(vehicle, "mjcf", out=tmp_path / "own.xml").file))
    data, tree = mujoco.MjData(model), vehicle.joint_tree
    assert model.body_subtreemass[1] == pytest.approx(vehicle_links(vehicle).mass, rel=1e-9)
    rng = np.random.default_rng(seed)
    positions = {joint.name: float(rng.uniform(-0.5, 0.5)) for joint in tree.joints}
    for name, position in positions.items():
        data.joint(name).qpos[0] = position
    mujoco.mj_forward(model, data)
    frames = tree.frames(positions)
    for joint in tree.joints:
        body = data.body(joint.child)
        assert body.xpos - data.xpos[1] == pytest.approx(frames[joint.child].origin, abs=1e-9)
        assert body.xmat.reshape(3, 3) == pytest.approx(frames[joint.child].rotation, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_sdf_and_urdf_add_up_to_the_vehicle(tmp_path: Path, seed: int) -> None:
    vehicle = limbed(tmp_path, seed)
    (model,) = ElementTree.parse(export_vehicle(vehicle, "sdf", out=tmp_path / "own.sdf").file).getroot()
    assert_whole(whole_of_sdf(model), vehicle)
    robot = ElementTree.parse(export_vehicle(vehicle, "urdf", out=tmp_path / "own.urdf").file).getroot()
    frames = link_frames(robot)
    parts = [(read_inertial(link), frames[str(link.get("name"))]) for link in robot.iterfind("link")]
    moved = [own.transformed(frame.rotation, frame.origin) for own, frame in parts]
    total = sum(moved[1:], start=moved[0])
    assert_whole(Whole(total.mass, total.center, total.inertia), vehicle)
    moving = {joint.get("name") for joint in robot.iterfind("joint") if joint.get("type") != "fixed"}
    assert moving == {joint.name for joint in vehicle.joint_tree.joints}


@pytest.mark.parametrize("name", FORMATS)
def test_a_moving_link_without_mass_is_refused(tmp_path: Path, name: str) -> None:
    limbs = [Limb("elbow", mass=0.0), Limb("wrist", parent="elbow_link")]
    vehicle = load_vehicle(jointed(tmp_path, limbs, {"elbow": {}, "wrist": {}}))
    out = tmp_path / f"own{SUFFIXES[name]}"
    expected = r"^mass \[kg\] of the moving link elbow_link of jointed must be above 0, got 0.0$"
    with pytest.raises(SegtrackError, match=expected):
        export_vehicle(vehicle, name, out=out)
    assert not out.exists()


@pytest.mark.parametrize("name", FORMATS)
def test_meshes_that_cannot_be_read_are_left_out_and_told_once(tmp_path: Path, name: str) -> None:
    file = jointed(tmp_path, [Limb("elbow")], {})
    urdf = tmp_path / "jointed.urdf"
    seen = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    for mesh in ("one.dae", "two.stl"):
        (tmp_path / mesh).write_text("no mesh")
    text = urdf.read_text().replace("</link>", seen.format("one.dae") + seen.format("two.stl") + "</link>", 1)
    urdf.write_text(text)
    exported = export_vehicle(load_vehicle(file), name, out=tmp_path / f"own{SUFFIXES[name]}")
    assert exported.meshes == () and "<mesh" not in exported.file.read_text()
    told = [remark.value for remark in exported.remarks if remark.what == "meshes"]
    assert told == ["one.dae, two.stl"]
