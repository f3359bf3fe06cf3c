"""Command `segtrack export`: files, the table of what is lost, and mistakes in one line."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest
from command_line import KNOWN, run
from jointed_vehicles import Limb, jointed

from segtrack import SegtrackError, World, export_vehicle, load_vehicle
from segtrack.exporting import FORMATS, Fate
from segtrack.terrain import Plane

_SOURCE = Path(str(load_vehicle("example_rover").body.urdf)).with_name("hull.obj")
HULL = f"own_hull_{hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:8]}.obj"
"""Copy of the example rover's mesh."""
SUFFIXES = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf"}


@pytest.mark.parametrize("name", FORMATS)
def test_it_writes_the_file_and_tells_what_is_lost_each_once(tmp_path: Path, name: str) -> None:
    result = run("export", "quince", f"--{name}", "--json", folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    file = tmp_path / told["file"]
    assert file.name == f"quince{SUFFIXES[name]}" and ElementTree.parse(file)
    subjects = Counter(remark["what"] for remark in told["remarks"])
    assert set(subjects.values()) == {1}
    assert {"grousers", "belts", "soil", "drive force", "reflected mass"} <= set(subjects)
    assert {remark["fate"] for remark in told["remarks"]} == set(get_args(Fate))


def test_it_prints_a_table(tmp_path: Path) -> None:
    result = run("export", "m113", "--sdf", folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "m113.sdf: what changes, and what is lost" in result.stdout
    for lost in ("chain", "brakes", "soil"):
        assert lost in result.stdout
    assert result.stderr == "wrote m113.sdf\n"


def test_meshes_of_the_body_lie_beside_the_file_which_loads_them(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    exported = export_vehicle("example_rover", "mjcf", out=tmp_path / "own.xml")
    assert [mesh.name for mesh in exported.meshes] == [HULL]
    assert mujoco.MjModel.from_xml_path(str(exported.file)).nmesh == 1


@pytest.mark.parametrize("flags", [(), ("--urdf", "--sdf")])
def test_one_format_is_wanted(tmp_path: Path, flags: tuple[str, ...]) -> None:
    result = run("export", "packbot", *flags, folder=tmp_path)
    got = ", ".join(flags) or "none"
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"segtrack: format must be one of --urdf, --mjcf, --sdf, got {got}\n"
    assert not list(tmp_path.iterdir())


def test_an_unknown_vehicle_and_an_unknown_format_are_named(tmp_path: Path) -> None:
    result = run("export", "packbot_", "--urdf", folder=tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"segtrack: no vehicle 'packbot_'; there are: {KNOWN}\n"
    with pytest.raises(SegtrackError) as caught:
        export_vehicle("packbot", "usd", out=tmp_path / "own.usd")  # type: ignore[arg-type]
    assert str(caught.value) == "no format 'usd'; there are: urdf, mjcf, sdf"


def test_another_suffix_and_a_folder_that_is_a_file_are_refused(tmp_path: Path) -> None:
    result = run("export", "packbot", "--mjcf", "--out", "own.mjcf", folder=tmp_path)
    assert (result.exit_code, result.stderr) == (
        2,
        "segtrack: --out must be a file of .xml, got 'own.mjcf'\n",
    )
    (tmp_path / "file").write_text("")
    result = run("export", "packbot", "--mjcf", "--out", "file/own.xml", folder=tmp_path)
    assert result.exit_code == 2
    assert result.stderr == "segtrack: cannot write to file: file is a file, not a folder\n"


@pytest.mark.parametrize("other", ["own.urdf", HULL])
def test_files_of_somebody_else_are_not_overwritten(tmp_path: Path, other: str) -> None:
    (tmp_path / other).write_text("<robot/>")
    result = run("export", "example_rover", "--urdf", "--out", "own.urdf", folder=tmp_path)
    expected = "of a file that is not there yet, or that `segtrack export` wrote"
    assert (result.exit_code, result.stderr) == (2, f"segtrack: --out must be {expected}, got '{other}'\n")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["<robot/>"]


def test_an_export_overwrites_an_export(tmp_path: Path) -> None:
    files = [
        export_vehicle(name, "urdf", out=tmp_path / "own.urdf").file for name in ("quince", "example_rover")
    ]
    assert ElementTree.parse(files[1]).getroot().get("name") == "example_rover"
    export_vehicle("example_rover", "urdf", out=tmp_path / "own.urdf")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["own.urdf", HULL]


def test_a_mesh_of_somebody_else_stays_where_an_export_is_overwritten(tmp_path: Path) -> None:
    export_vehicle("packbot", "urdf", out=tmp_path / "own.urdf")
    for name in ("own_hull.obj", HULL):
        (tmp_path / name).write_text("mine")
    result = run("export", "example_rover", "--urdf", "--out", "own.urdf", folder=tmp_path)
    assert result.exit_code == 2 and result.stderr.endswith(f"got '{HULL}'\n")
    (tmp_path / HULL).unlink()
    export_vehicle("example_rover", "urdf", out=tmp_path / "own.urdf")
    assert (tmp_path / "own_hull.obj").read_text() == "mine"


def with_two_meshes(folder: Path, size: float) -> Path:
    """Vehicle file of a body that is seen by one mesh and touches by another of the same name."""
    file = jointed(folder, [Limb("elbow")], {})
    shapes = ""
    for i, kind in enumerate(("visual", "collision")):
        mesh = folder / "meshes" / kind / "base.obj"
        mesh.parent.mkdir(parents=True, exist_ok=True)
        mesh.write_text(cube(size * (1 + i)))
        shapes += f'<{kind}><geometry><mesh filename="meshes/{kind}/base.obj"/></geometry></{kind}>'
    urdf = folder / "jointed.urdf"
    urdf.write_text(urdf.read_text().replace("</link>", f"{shapes}</link>", 1))
    return file


def cube(size: float) -> str:
    """Text of an OBJ of a cube with edges of a length [m]."""
    corners = [f"v {x} {y} {z}" for x in (0, size) for y in (0, size) for z in (0, size)]
    sides = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    return "\n".join([*corners, *(f"f {side}" for side in sides)])


def test_meshes_of_one_name_are_exported_to_all_formats_in_one_folder(tmp_path: Path) -> None:
    vehicle = load_vehicle(with_two_meshes(tmp_path, 0.1))
    names = []
    for name in FORMATS:
        exported = export_vehicle(vehicle, name, out=tmp_path / "out" / f"own{SUFFIXES[name]}")
        names.append({mesh.name for mesh in exported.meshes})
    assert len(names[0]) == 2 and names[1] == names[2] == names[0]
    robot = ElementTree.parse(tmp_path / "out" / "own.urdf").getroot()
    for kind in ("visual", "collision"):
        (mesh,) = robot.iterfind(f"link/{kind}/geometry/mesh")
        copy = tmp_path / "out" / str(mesh.get("filename"))
        assert copy.read_text() == (tmp_path / "meshes" / kind / "base.obj").read_text()


def test_an_export_overwrites_its_own_when_a_mesh_has_changed(tmp_path: Path) -> None:
    for size in (0.1, 0.2):
        vehicle = load_vehicle(with_two_meshes(tmp_path, size))
        exported = export_vehicle(vehicle, "sdf", out=tmp_path / "own.sdf")
        assert all(mesh.exists() for mesh in exported.meshes)
        assert cube(size) in [mesh.read_text() for mesh in exported.meshes]


def test_all_formats_can_lie_in_one_folder_and_share_meshes(tmp_path: Path) -> None:
    for name in FORMATS:
        export_vehicle("example_rover", name, out=tmp_path / f"own{SUFFIXES[name]}")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "own.sdf",
        "own.urdf",
        "own.xml",
        HULL,
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_a_fixed_vehicle_has_no_remarks_on_what_does_not_change(tmp_path: Path, name: str) -> None:
    """A conveyor, which has one belt and does not turn; a URDF cannot say that a body is fixed."""
    remarks = export_vehicle("conveyor", name, out=tmp_path / f"own{SUFFIXES[name]}").remarks
    told = {remark.what for remark in remarks}
    assert ("fixed body" in told) == (name == "urdf")
    assert "turning" not in told


def test_no_vehicles_file_quotes_the_number_of_another(tmp_path: Path) -> None:
    text = export_vehicle("conveyor", "mjcf", out=tmp_path / "own.xml").file.read_text().lower()
    assert "packbot" not in text and "0.41" not in text


def test_exporting_needs_neither_pybullet_nor_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pybullet", "mujoco"):
        monkeypatch.setitem(sys.modules, package, None)
    for name in FORMATS:
        assert export_vehicle("quince", name, out=tmp_path / f"own{SUFFIXES[name]}").file.exists()


def test_a_description_is_exported_as_its_file_is(tmp_path: Path) -> None:
    files = [
        export_vehicle(vehicle, "sdf", out=tmp_path / f"{i}.sdf").file
        for i, vehicle in enumerate(("quince", load_vehicle("quince")))
    ]
    assert files[0].read_text() == files[1].read_text()


@pytest.mark.slow
def test_what_an_import_makes_of_an_export_turns_as_the_vehicle_does(tmp_path: Path) -> None:
    from segtrack import import_robot

    exported = export_vehicle("packbot", "urdf", out=tmp_path / "own.urdf")
    settings = {"grouser_height": 0.008, "max_force": 300.0, "max_speed": 2.6}
    back = import_robot(exported.file, out=tmp_path / "back.yaml", settings=settings).description
    rates = []
    for vehicle in (load_vehicle("packbot"), back):
        with World(engine="native") as world:
            world.add_terrain(Plane())
            own = world.add_vehicle(vehicle, track_model="compliant")
            world.run(0.3)
            own.set_belt_speed(-0.3, 0.3)
            world.run(0.5)
            start = own.state.yaw
            world.run(0.5)
            rates.append(own.state.yaw - start)
    assert rates[1] == pytest.approx(rates[0], rel=0.03)
