"""Static bodies of somebody's own PyBullet program as terrain; rays of PyBullet's say where they are."""

import math
import os
from pathlib import Path

import numpy as np
import pybullet
import pybullet_data
import pytest
from pybullet_utils.bullet_client import BulletClient

import segtrack
from segtrack import terrain
from segtrack.errors import DisconnectedError, InvalidValueError
from segtrack.geometry import Box, Cylinder, Hull
from segtrack.ground import ALL_FACES, pack_ground, penetration_depth_solid
from segtrack.terrain import HalfSpace

TURN = pybullet.getQuaternionFromEuler((0.3, -0.4, 0.7))
WEDGE = [[x, y, 0.0] for x in (-0.3, 0.3) for y in (-0.4, 0.4)] + [[0.0, -0.4, 0.2], [0.0, 0.4, 0.2]]
FIXED_URDF = """<robot name="stand">
  <link name="foot"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>{inertia}</inertial>
    <collision><origin xyz="0 0 0.5" rpy="0 0 0.4"/><geometry><box size="0.2 0.4 0.6"/></geometry></collision>
  </link>
  <link name="shelf"><inertial><mass value="1"/>{inertia}</inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.2"/></geometry></collision></link>
  <joint name="a" type="fixed"><parent link="foot"/><child link="shelf"/><origin xyz="0 1 0"/></joint>
  <link name="door"><inertial><mass value="1"/>{inertia}</inertial>
    <collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="b" type="revolute"><parent link="foot"/><child link="door"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>""".format(inertia='<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>')


@pytest.fixture
def client():
    client = BulletClient(pybullet.DIRECT)
    client.setAdditionalSearchPath(pybullet_data.getDataPath())
    client.setGravity(0, 0, -9.81)
    yield client
    client.disconnect()


def add(client, kind, position=(0.0, 0.0, 0.0), orientation=(0.0, 0.0, 0.0, 1.0), **shape):
    collision = client.createCollisionShape(kind, **shape)
    return client.createMultiBody(0, collision, basePosition=position, baseOrientation=orientation)


def field(client, points=41, cell=0.05, **where):
    along, across = np.meshgrid(np.arange(points), np.arange(points))
    heights = 0.1 * np.sin(along / 6.0) * np.cos(across / 5.0)
    return add(
        client,
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[cell, cell, 1.0],
        heightfieldData=heights.ravel().tolist(),
        numHeightfieldRows=points,
        numHeightfieldColumns=points,
        **where,
    )


def top(ground, x, y):
    """Height of convex solids at a place, by the depth of points of a vertical line."""
    best = -math.inf
    for solid in range(len(ground.planes)):
        low, high = -10.0, 10.0
        for normal, offset in zip(
            ground.planes[solid, : ground.faces[solid], :3],
            ground.planes[solid, : ground.faces[solid], 3],
            strict=True,
        ):
            across = offset - normal[0] * x - normal[1] * y
            if abs(normal[2]) < 1e-9:
                high = high if across > 0 else -math.inf
            elif normal[2] > 0:
                high = min(high, across / normal[2])
            else:
                low = max(low, across / normal[2])
        best = max(best, high if high > low else -math.inf)
    return best


@pytest.mark.parametrize(
    ("kind", "shape", "solid", "tolerance"),
    [
        (pybullet.GEOM_BOX, {"halfExtents": [0.3, 0.4, 0.2]}, Box, 1e-5),
        (pybullet.GEOM_CYLINDER, {"radius": 0.4, "height": 0.3}, Cylinder, 2e-3),
        (pybullet.GEOM_PLANE, {"planeNormal": [0.0, 0.0, 1.0]}, HalfSpace, 1e-5),
        (pybullet.GEOM_SPHERE, {"radius": 0.4}, Hull, 0.02),
        (pybullet.GEOM_CAPSULE, {"radius": 0.3, "height": 0.4}, Hull, 0.02),
        (pybullet.GEOM_MESH, {"vertices": WEDGE}, Hull, 3e-3),
    ],
)
def test_a_body_is_where_rays_meet_it(client, kind, shape, solid, tolerance):
    """A convex hull's margin of 1 mm, and the corners of what is round, are what they differ by."""
    body = add(client, kind, (0.5, -0.2, 0.3), TURN, **shape)
    client.changeDynamics(body, -1, lateralFriction=0.7)
    (found,) = terrain.from_pybullet(client)
    assert [type(part) for part in found.parts] == [solid]
    assert found.friction == pytest.approx(0.7)
    ground = pack_ground([found])
    for x, y in np.random.default_rng(1).uniform(-0.12, 0.12, (20, 2)) + (0.5, -0.2):
        hit = client.rayTest((x, y, 5.0), (x, y, -5.0))[0]
        assert top(ground, x, y) == pytest.approx(hit[3][2], abs=tolerance)


@pytest.mark.parametrize(("tilt", "thickness"), [(0.0, 0.01), (0.4, 0.01), (1.3, 0.001)])
def test_a_sheet_that_lies_is_10_mm_thick_below_its_upper_face(client, tilt, thickness):
    """An upright one stays as thin as it is."""
    turn = pybullet.getQuaternionFromEuler((tilt, 0.0, 0.3))
    add(client, pybullet.GEOM_BOX, (0.5, -0.2, 0.3), turn, halfExtents=[0.3, 0.4, 0.0005])
    (found,) = terrain.from_pybullet(client)
    upper = 0.3 + 0.0005 / math.cos(tilt)
    assert top(pack_ground([found]), 0.5, -0.2) == pytest.approx(upper, abs=1e-5)
    assert min(found.parts[0].size) == pytest.approx(thickness)


def test_points_inside_a_hull_are_inside():
    ground = pack_ground([terrain.StaticBody(parts=(Hull.of(WEDGE),))])
    assert ground.faces.tolist() == [5] and len(ground.edges) == 9
    depth, normal = penetration_depth_solid(ground, 0, ALL_FACES, (0.0, 0.0, 0.001), 0.0, False)
    assert depth == pytest.approx(0.001) and normal == pytest.approx((0.0, 0.0, -1.0))


def test_a_heightfield_is_sampled_under_what_lies_on_it(client):
    """Samples are exact; between them triangles differ by the curvature over a spacing."""
    yaw = pybullet.getQuaternionFromEuler((0.0, 0.0, 0.5))
    body = field(client, position=(3.0, 1.0, 0.4), orientation=yaw)
    add(client, pybullet.GEOM_BOX, (3.0, 1.0, 0.8), halfExtents=[0.3, 0.3, 0.1])
    (found, _) = terrain.from_pybullet(client)
    assert isinstance(found, terrain.Heightfield)
    places = np.random.default_rng(2).uniform(-0.6, 0.6, (200, 2)) + (3.0, 1.0)
    errors = []
    for x, y in places:
        hits = [client.rayTestBatch([(x, y, 5)], [(x, y, -5)], reportHitNumber=k)[0] for k in range(3)]
        height = next(hit[3][2] for hit in hits if hit[0] == body)
        errors.append(float(found.height_at(x, y)) - height)
    assert np.abs(errors).max() < 1e-3
    x_edges, y_edges = found._edges()
    on_sample = client.rayTest((x_edges[40], y_edges[68], 5), (x_edges[40], y_edges[68], -5))[0]
    assert float(found.heights[40, 68]) == pytest.approx(on_sample[3][2], abs=1e-6)


def test_a_concave_mesh_is_sampled(client):
    add(
        client,
        pybullet.GEOM_MESH,
        (1.0, 0.0, 0.2),
        fileName="cube.obj",
        meshScale=[0.4, 0.4, 0.4],
        flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH,
    )
    (found,) = terrain.from_pybullet(client, spacing=0.05)
    assert found.spacing == 0.05
    np.testing.assert_allclose(found.height_at([0.85, 1.0, 1.15], [0.0, 0.1, -0.15]), 0.4, atol=1e-6)


L_PLAN = ((0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1))


def add_prism(client, folder, plan, low, high, position=(0.0, 0.0, 0.0)):
    """A concave mesh of a star-shaped plan seen from its first corner, between two heights."""
    n = len(plan)
    lines = [f"v {x} {y} {z}" for z in (low, high) for x, y in plan]
    faces = [(0, i + 1, i) for i in range(1, n - 1)] + [(n, n + i, n + i + 1) for i in range(1, n - 1)]
    for i, j in zip(range(n), [*range(1, n), 0], strict=True):
        faces += [(i, j, n + j), (i, n + j, n + i)]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    (folder / "prism.obj").write_text("\n".join(lines) + "\n")
    file, flags = str(folder / "prism.obj"), pybullet.GEOM_FORCE_CONCAVE_TRIMESH
    return add(client, pybullet.GEOM_MESH, position, fileName=file, flags=flags)


def test_there_is_no_ground_in_the_notch_of_a_mesh(client, tmp_path):
    client.loadURDF("plane.urdf")
    add_prism(client, tmp_path, L_PLAN, 0.0, 0.3)
    _, found = terrain.from_pybullet(client)
    x, y = np.meshgrid(np.linspace(0.33, 0.99, 20), np.linspace(0.33, 0.99, 20))
    np.testing.assert_allclose(found.height_at(x, y), -0.02)
    np.testing.assert_allclose(found.height_at([0.1, 0.9, 0.1], [0.1, 0.1, 0.9]), 0.3, atol=1e-6)


def test_without_other_ground_there_is_an_abyss_beside_a_mesh(client, tmp_path):
    add_prism(client, tmp_path, L_PLAN, 2.0, 2.2)
    (found,) = terrain.from_pybullet(client)
    assert float(found.height_at(0.7, 0.7)) < -900


@pytest.mark.parametrize("plan", [L_PLAN, ((0, 0), (1, 0), (1, 1), (0, 1))])
def test_a_roof_is_named(client, tmp_path, plan):
    """Filled down to the floor it would swallow a robot, which was flung out of it."""
    client.loadURDF("plane.urdf")
    roof = add_prism(client, tmp_path, plan, 2.0, 2.2)
    with pytest.raises(InvalidValueError, match="exclude") as error:
        terrain.from_pybullet(client)
    assert str(error.value).endswith(
        "got body 1 (unnamed) link -1: a mesh with 2 m of air between it and the static body below"
    )
    assert len(terrain.from_pybullet(client, exclude=[roof])) == 1


def test_tilted_convex_meshes_do_not_overhang(client):
    """At a silhouette a ray meets top, side and bottom; rays beside the middle say how high they are."""
    shape = {"fileName": "cube.obj", "flags": pybullet.GEOM_FORCE_CONCAVE_TRIMESH, "meshScale": [0.4] * 3}
    draw = np.random.default_rng(3)
    for i in range(12):
        add(client, pybullet.GEOM_MESH, (2.0 * i, 0.0, 0.0), draw.normal(size=4).tolist(), **shape)
    found = terrain.from_pybullet(client, spacing=0.05)
    for i, mesh in enumerate(found):
        x, y = mesh._edges()
        place = x[len(x) // 2], y[len(y) // 2]
        hit = client.rayTest((*place, 5.0), (*place, -5.0))[0]
        assert hit[0] == i and float(mesh.height_at(*place)) == pytest.approx(hit[3][2], abs=1e-5)
    assert len(found) == 12


def test_bodies_whose_collisions_are_switched_off_are_no_ground(client):
    concave = {"fileName": "cube.obj", "flags": pybullet.GEOM_FORCE_CONCAVE_TRIMESH}
    bodies = [
        add(client, pybullet.GEOM_BOX, (0, 0, 1), TURN, halfExtents=[1, 1, 0.1]),
        add(client, pybullet.GEOM_CYLINDER, (0, 0, 2), TURN, radius=0.4, height=0.3),
        add(client, pybullet.GEOM_PLANE, planeNormal=[1.0, 0.0, 0.0]),
        add(client, pybullet.GEOM_MESH, (0, 0, 3), TURN, vertices=WEDGE),
        add(client, pybullet.GEOM_MESH, (2, 0, 4), **concave),
    ]
    assert len(terrain.from_pybullet(client, exclude=bodies[:4])) == 1
    assert len(terrain.from_pybullet(client, exclude=bodies[4:])) == 4
    for body in bodies:
        client.setCollisionFilterGroupMask(body, -1, 0, 0)
    assert terrain.from_pybullet(client) == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spacing": 0}, "spacing [m] must be positive, got 0"),
        ({"spacing": math.nan}, "spacing [m] must be a finite number, got nan"),
        ({"spacing": "x"}, "spacing [m] must be a finite number, got 'x'"),
        ({"exclude": 0}, "exclude must be a list of body ids, got 0"),
        ({"exclude": "a"}, "exclude must be a list of body ids, got 'a'"),
        ({"client": 0}, "client must be a BulletClient or the module pybullet, got 0"),
        ({"spacing": 2.0}, "link -1: a mesh 1 m x 1 m, smaller than the spacing 2 m"),
    ],
)
def test_wrong_arguments_are_named(client, tmp_path, arguments, message):
    add_prism(client, tmp_path, L_PLAN, 0.0, 0.2)
    with pytest.raises(InvalidValueError) as error:
        terrain.from_pybullet(**{"client": client, **arguments})
    assert str(error.value).endswith(message)


def test_a_client_that_is_closed_is_named():
    client = BulletClient(pybullet.DIRECT)
    client.disconnect()
    with pytest.raises(DisconnectedError, match="describe static bodies: the physics client is disconnect"):
        terrain.from_pybullet(client)


def test_a_heightfield_is_described_without_a_remark(client, capfd):
    field(client)
    field(client, position=(5, 0, 0))
    assert len(terrain.from_pybullet(client)) == 2
    os.write(1, b"over\n")
    assert capfd.readouterr() == ("over\n", "")


def test_a_mesh_that_overhangs_is_named(client, tmp_path):
    """Two cubes, one above the other, as one mesh."""
    cube = (Path(pybullet_data.getDataPath()) / "cube.obj").read_text()
    rows = [line.split() for line in cube.splitlines()]
    corners = [[float(value) for value in row[1:4]] for row in rows if row[:1] == ["v"]]
    faces = [[int(corner.split("/")[0]) for corner in row[1:]] for row in rows if row[:1] == ["f"]]
    lines = [f"v {x} {y} {z + lift}" for lift in (0, 2) for x, y, z in corners]
    lines += ["f " + " ".join(str(i + up) for i in face) for up in (0, len(corners)) for face in faces]
    (tmp_path / "two.obj").write_text("\n".join(lines) + "\n")
    file = str(tmp_path / "two.obj")
    add(client, pybullet.GEOM_MESH, fileName=file, flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH)
    with pytest.raises(InvalidValueError, match="link -1: a mesh that overhangs"):
        terrain.from_pybullet(client)


def test_what_is_fixed_to_a_static_base_is_static_and_what_can_move_is_not(client, tmp_path):
    (tmp_path / "stand.urdf").write_text(FIXED_URDF)
    client.setAdditionalSearchPath(pybullet_data.getDataPath())
    body = client.loadURDF(str(tmp_path / "stand.urdf"), [1, 2, 0], useFixedBase=True)
    client.createMultiBody(1.0, client.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1))
    foot, shelf = terrain.from_pybullet(client)
    assert [type(part) for part in (*foot.parts, *shelf.parts)] == [Box, Hull]
    ground = pack_ground([foot, shelf])
    for x, y in ((1.02, 2.03), (1.0, 3.0)):
        hits = [client.rayTestBatch([(x, y, 5)], [(x, y, -5)], reportHitNumber=k)[0] for k in range(4)]
        height = max(hit[3][2] for hit in hits if hit[0] == body and hit[1] < 1)
        assert top(ground, x, y) == pytest.approx(height, abs=3e-3)
    assert terrain.from_pybullet(client, exclude=(body,)) == ()


def test_what_is_fixed_to_something_that_can_move_can_move(client, tmp_path):
    """A handle moves with the door that it is fixed to, however many fixed joints lie between them."""
    parts = "".join(
        f'<link name="{name}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>'
        f'<joint name="to_{name}" type="fixed"><parent link="{parent}"/><child link="{name}"/>'
        '<origin xyz="0.4 0 0.3"/></joint>'
        for parent, name in (("door", "handle"), ("handle", "knob"), ("shelf", "cup"))
    )
    (tmp_path / "stand.urdf").write_text(FIXED_URDF.replace("</robot>", f"{parts}</robot>"))
    body = client.loadURDF(str(tmp_path / "stand.urdf"), useFixedBase=True)
    joints = [client.getJointInfo(body, joint) for joint in range(client.getNumJoints(body))]
    cup = next(info[0] for info in joints if info[12] == b"cup")
    found = terrain.from_pybullet(client)
    assert len(found) == 3  # Foot, shelf and cup.
    centers = [part.center for each in found for part in each.parts if isinstance(part, Box)]
    assert len(centers) == 2
    assert centers[1] == pytest.approx(client.getLinkState(body, cup)[0], abs=1e-6)


def test_each_link_has_its_own_friction(client, tmp_path):
    """PyBullet keeps friction by link: a slippery shelf on a rough stand stays slippery."""
    (tmp_path / "stand.urdf").write_text(FIXED_URDF)
    client.setAdditionalSearchPath(pybullet_data.getDataPath())
    body = client.loadURDF(str(tmp_path / "stand.urdf"), useFixedBase=True)
    client.changeDynamics(body, -1, lateralFriction=0.9)
    client.changeDynamics(body, 0, lateralFriction=0.2)
    foot, shelf = terrain.from_pybullet(client)
    assert (foot.friction, shelf.friction) == pytest.approx((0.9, 0.2))
    assert pack_ground([foot, shelf]).friction.tolist() == pytest.approx([0.9, 0.2])


def test_what_shows_but_does_not_collide_is_no_ground(client, tmp_path):
    client.createMultiBody(0, -1, client.createVisualShape(pybullet.GEOM_BOX, halfExtents=[1, 1, 1]))
    visual = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    (tmp_path / "seen.urdf").write_text(f'<robot name="seen"><link name="a">{visual}</link></robot>')
    client.loadURDF(str(tmp_path / "seen.urdf"), [1, 2, 0], useFixedBase=True)
    assert terrain.from_pybullet(client) == ()


def test_what_cannot_be_described_is_named(client):
    hidden = client.createMultiBody(
        0, client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[1, 1, 1]), useMaximalCoordinates=True
    )
    add(client, pybullet.GEOM_MESH, vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    with pytest.raises(InvalidValueError) as error:
        terrain.from_pybullet(client)
    assert str(error.value) == (
        "static bodies in PyBullet must be of shapes that can be described, or left out: "
        "terrain.from_pybullet(client, exclude=[...]), got body 0 (link0) link -1: "
        "PyBullet tells no shape of bodies made with useMaximalCoordinates; "
        "body 1 (unnamed) link -1: shape 0 is a flat mesh"
    )
    assert terrain.from_pybullet(client, exclude=(hidden, 1)) == ()


@pytest.mark.parametrize("track_model", ["compliant", "chain"])
def test_attach_stands_on_the_programs_own_plane(client, track_model):
    """Without a word about terrain; before, a chain sank through it onto its hull."""
    client.loadURDF("plane.urdf")
    segtrack.configure(client, time_step=0.002)
    robot = segtrack.attach(client, "packbot", track_model=track_model, position=(0, 0, 0.092))
    for _ in range(150):
        robot.before_step()
        client.stepSimulation()
    assert robot.state.position[2] == pytest.approx(0.09, abs=2e-3)
    assert not client.getContactPoints(bodyA=robot.model.body_id)


def test_attach_refuses_a_program_without_ground_for_tracks_that_need_it(client):
    with pytest.raises(InvalidValueError) as error:
        segtrack.attach(client, "packbot", track_model="compliant")
    assert str(error.value) == (
        "terrain for track model 'compliant' must be given, or in the PyBullet program as static bodies "
        "before `attach`, got none"
    )
    assert client.getNumBodies() == 0
    segtrack.attach(client, "packbot", track_model="compliant", terrain=())
    segtrack.attach(client, "packbot", position=(0, 2, 0))


def test_bodies_that_come_later_count_once_they_are_read(client):
    client.loadURDF("plane.urdf")
    segtrack.configure(client, time_step=0.005)
    robot = segtrack.attach(client, "packbot", track_model="compliant", position=(0, 0, 0.091))
    add(client, pybullet.GEOM_BOX, (0, 0, -0.05), halfExtents=[1, 1, 0.1])
    robot.reset_base_pose((0, 0, 0.141))
    robot.model.update_terrain(terrain.from_pybullet(client))
    for _ in range(100):
        robot.before_step()
        client.stepSimulation()
    assert robot.state.position[2] == pytest.approx(0.14, abs=2e-3)
