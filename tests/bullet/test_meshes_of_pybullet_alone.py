"""Meshes of a user's body: COLLADA is one like others; PyBullet alone takes triangles in one plane."""

import logging
from pathlib import Path

import numpy as np
import pytest
import yaml

import segtrack
from segtrack import terrain
from segtrack.courses import VehicleOutline
from segtrack.description import VehicleDescription, body_points, find_vehicle, parse_vehicle
from segtrack.errors import InvalidValueError

MARGIN = 4e-3
"""Bullet's boxes are larger than a mesh on each side by 1 mm of its hull and 3 mm around that [m]."""
PLACE = np.array([0.1, 0.05, 0.3])
WEIGHT = '<inertial><mass value="20"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="{}">{}</float_array>
<technique_common><accessor source="#a" count="{}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{}"><input semantic="VERTEX" source="#v" offset="0"/><p>{}</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
<instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
SOLID = (
    np.array([[0, 0, 0], [0.8, 0, 0], [0, 0.2, 0], [0, 0, 0.1]]),
    ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
)
UPRIGHT = np.array([[-0.4, 0, 0], [0.4, 0, 0], [0, 0, 0.2]]), ((0, 1, 2),)


def collada(points: np.ndarray, faces: tuple[tuple[int, ...], ...]) -> str:
    numbers = " ".join(map(str, points.ravel().tolist()))
    corners = " ".join(str(corner) for face in faces for corner in face)
    return COLLADA.format(points.size, numbers, len(points), len(faces), corners)


def obj(points: np.ndarray, faces: tuple[tuple[int, ...], ...]) -> str:
    lines = ["v {} {} {}".format(*point) for point in points.tolist()]
    return "\n".join(lines + ["f {} {} {}".format(*(corner + 1 for corner in face)) for face in faces]) + "\n"


def rover(folder: Path, shape: str) -> VehicleDescription:
    """The bundled rover's tracks on a body with one collision shape at `PLACE`."""
    collision = (
        f'<collision><origin xyz="{PLACE[0]} {PLACE[1]} {PLACE[2]}"/><geometry>{shape}</geometry></collision>'
    )
    (folder / "own.urdf").write_text(f'<robot name="r"><link name="base">{WEIGHT}{collision}</link></robot>')
    data = yaml.safe_load(find_vehicle("example_rover").read_text())
    data["body"] = {"urdf": "own.urdf"}
    for track in data["tracks"].values():
        track["mount"]["parent"] = "base"
    return parse_vehicle(data, folder=folder)


@pytest.fixture(params=[("own.obj", obj, UPRIGHT)], ids=["flat"])
def own(request, tmp_path):
    """A rover with such a mesh, and the mesh's corners in the body frame."""
    name, write, mesh = request.param
    (tmp_path / name).write_text(write(*mesh))
    return rover(tmp_path, f'<mesh filename="{name}"/>'), mesh[0] + PLACE


@pytest.mark.parametrize("model", ["wheels:3", "compliant"])
def test_a_vehicle_is_as_large_as_a_mesh_that_pybullet_alone_reads(own, model: str) -> None:
    """The mesh is its highest part; it is stood on the ground by its belts, and driven."""
    vehicle, corners = own
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model=model)
        low, high = robot.bounds()
        assert low[2] == pytest.approx(0.0, abs=1e-3)
        beyond = high[2] - robot.state.position[2] - corners[:, 2].max()
        assert -1e-6 < beyond < MARGIN + 1e-6
        robot.set_velocity(0.2)
        world.run(0.02)
        assert robot.state.position[0] == pytest.approx(0.02 * 0.2, rel=0.1)


def test_walls_do_not_feel_such_a_mesh_and_the_logger_says_so(own, caplog) -> None:
    vehicle, _ = own
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle, track_model="compliant")
        with caplog.at_level(logging.WARNING, "segtrack"):
            seen = VehicleOutline(robot).look()
    assert len(seen.counts) == len(robot.tracks)
    told = "walls do not feel a mesh of link 'base', which is flat, or not OBJ, STL or COLLADA"
    assert f"{vehicle.name}: {told}" in [record.getMessage() for record in caplog.records]


def test_walls_do_not_feel_a_plate_without_thickness(tmp_path, caplog) -> None:
    """Its corners lie on one line in plan as far as numbers tell."""
    with segtrack.World() as world:
        vehicle = rover(tmp_path, '<box size="0.4 1e-18 0.1"/>')
        robot = world.add_vehicle(vehicle, track_model="compliant")
        with caplog.at_level(logging.WARNING, "segtrack"):
            seen = VehicleOutline(robot).look()
    assert len(seen.counts) == len(robot.tracks)
    told = "walls do not feel a shape of link 'base', which has no thickness"
    assert f"{vehicle.name}: {told}" in [record.getMessage() for record in caplog.records]


def test_the_native_engine_refuses_such_a_mesh(own) -> None:
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        with pytest.raises(InvalidValueError, match="mesh must be an OBJ, STL or COLLADA file of a solid"):
            world.add_vehicle(own[0], track_model="compliant")


TURN_ABOUT_Z = "<matrix>0 -1 0 0.5 1 0 0 0 0 0 1 0 0 0 0 1</matrix>"
LIKE_BLENDER = "<translate>0.5 0 0</translate><rotate>1 0 0 0</rotate><rotate>0 0 1 90</rotate>"


@pytest.mark.parametrize(
    "unit, scale, node",
    [
        ("", 1.0, TURN_ABOUT_Z),
        ('<unit name="cm" meter="0.01"/>', 0.01, TURN_ABOUT_Z),
        ("", 1.0, LIKE_BLENDER),
    ],
)
def test_a_collada_mesh_is_in_one_place_in_every_engine(tmp_path, unit: str, scale: float, node: str) -> None:
    """In metres, its nodes' frames applied, its upward axis left."""
    text = collada(*SOLID).replace("<up_axis>Z_UP", f"{unit}<up_axis>Y_UP")
    (tmp_path / "own.dae").write_text(text.replace('<node id="n">', f'<node id="n">{node}'))
    vehicle = rover(tmp_path, '<mesh filename="own.dae"/>')
    low, high = np.array([[0.3, 0.0, 0.0], [0.5, 0.8, 0.1]]) * scale + PLACE
    points = body_points(vehicle)
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [low, high], atol=1e-7)
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle, position=(0.0, 0.0, 0.0))
        box = np.array(world.client.getAABB(robot.body_id, -1))
        np.testing.assert_allclose(box, [low, high], atol=MARGIN + 1e-6)
        native = segtrack.World(engine="native").add_vehicle(vehicle, position=(0.0, 0.0, 0.0))
        np.testing.assert_allclose(native.bounds(), robot.bounds(), atol=1e-6)
