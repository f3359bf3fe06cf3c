import math
import struct

import numpy as np
import pybullet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pybullet_utils.bullet_client import BulletClient

import segtrack.terrain as terrain
from segtrack.bullet.terrain_builder import build_terrain
from segtrack.errors import FileAccessError
from segtrack.terrain import HalfSpace, Terrain

RAY_TOLERANCE = 1e-4  # [m]
EDGE_MARGIN = 0.03  # [m]; Bullet ends rays near an edge up to 10 mm early

lengths = st.floats(0.1, 2.0)
places = st.floats(-2.0, 2.0)


@pytest.fixture(scope="module")
def client():
    connected = BulletClient(pybullet.DIRECT)
    yield connected
    connected.disconnect()


def cast_down(client, x, y):
    """Height of what a vertical ray hits [m], -inf where it hits nothing."""
    starts = np.stack((x, y, np.full(len(x), 12.0)), axis=1)
    hits = client.rayTestBatch(starts.tolist(), (starts * (1, 1, -1)).tolist())
    return np.array([-np.inf if body < 0 else position[2] for body, _, _, position, _ in hits])


def edge_near(described, x, y):
    """Whether an edge, an upright face or the end of what is there lies near a point, shape of x and y."""
    breaks = np.array([*described.x_breaks(), np.inf])
    at_break = np.abs(x[:, None] - breaks).min(axis=1) < EDGE_MARGIN
    beside = np.array([described.height_at(x, y + dy) for dy in (-EDGE_MARGIN, 0.0, EDGE_MARGIN)])
    with np.errstate(invalid="ignore"):
        at_side = ~(np.ptp(beside, axis=0) <= EDGE_MARGIN * 4)
    return at_break | (at_side & np.isfinite(beside).any(axis=0))


def assert_rays_agree(client, described, spread=6.0, count=300, tolerance=RAY_TOLERANCE):
    client.resetSimulation()
    build_terrain(client, described)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-spread, spread, count), rng.uniform(-spread, spread, count)
    clear = ~edge_near(described, x, y)
    assert clear.sum() > 0.5 * count
    x, y = x[clear], y[clear]
    np.testing.assert_allclose(cast_down(client, x, y), described.height_at(x, y), atol=tolerance)


def assert_balls_agree(client, described, hull_extent=0.0, count=100):
    """Balls held 2 mm off the sampled surface, along its sampled normal, are 2 mm off the built one.

    Bullet's rays end too early at hulls and cylinders, its closest points are exact; but it rounds a
    hull's corners to a ten-thousandth of its extent [m].
    """
    client.resetSimulation()
    bodies = build_terrain(client, described)
    radius, clearance, far, small = 0.005, 0.002, 1.0, 1e-5
    ball = client.createMultiBody(
        baseCollisionShapeIndex=client.createCollisionShape(pybullet.GEOM_SPHERE, radius=radius)
    )
    rng = np.random.default_rng(0)
    breaks = described.x_breaks()
    x, y = rng.uniform(min(breaks) - 0.2, max(breaks) + 0.2, count), rng.uniform(-4.0, 4.0, count)
    clear = ~edge_near(described, x, y)
    x, y = x[clear], y[clear]
    z = described.height_at(x, y)
    rise = (described.height_at(x + small, y) - described.height_at(x - small, y)) / (2 * small)
    normal = np.stack((-rise, np.zeros(len(x)), np.ones(len(x))), axis=1) / np.hypot(rise, 1.0)[:, None]
    centers = np.stack((x, y, z), axis=1) + (radius + clearance) * normal
    for center in centers:
        client.resetBasePositionAndOrientation(ball, center, (0, 0, 0, 1))
        found = min(point[8] for body in bodies for point in client.getClosestPoints(body, ball, far))
        assert found == pytest.approx(clearance, abs=1e-5 + 1.1e-4 * hull_extent)


bullet = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def test_plane_is_flat(client):
    assert_rays_agree(client, terrain.Plane())


@bullet
@given(height=lengths, distance=places, length=lengths, width=lengths)
def test_step_is_where_its_sampler_says(client, **sizes):
    assert_rays_agree(client, terrain.Step(**sizes))


@bullet
@given(
    riser=st.floats(0.05, 0.4), tread=lengths, count=st.integers(1, 6), distance=places, down=st.booleans()
)
def test_stairs_are_where_their_sampler_says(client, **sizes):
    assert_rays_agree(client, terrain.Stairs(**sizes))


@bullet
@given(slope=st.floats(0.05, 1.3), length=lengths, distance=places, plateau=lengths)
def test_ramp_is_where_its_sampler_says(client, **sizes):
    ramp = terrain.Ramp(**sizes)
    root = 0.05 / math.tan(ramp.slope)
    assert_balls_agree(client, ramp, hull_extent=max(root + ramp.length + ramp.plateau, ramp.rise))


@bullet
@given(length=lengths, distance=places, depth=lengths)
def test_gap_is_where_its_sampler_says(client, **sizes):
    assert_rays_agree(client, terrain.Gap(**sizes))


@bullet
@given(length=lengths, steepness=st.floats(0.05, 2.0), distance=places)
def test_ridge_is_where_its_sampler_says(client, length, steepness, distance):
    ridge = terrain.Ridge(height=steepness * length / 2, length=length, distance=distance)
    assert_balls_agree(client, ridge, hull_extent=length + 2 * 0.05 / steepness)


@bullet
@given(height=lengths, top_length=lengths, run=st.floats(0.05, 1.0), distance=places)
def test_barrier_is_where_its_sampler_says(client, height, top_length, run, distance):
    sizes = {"top_length": top_length, "bottom_length": top_length + 2 * run}
    barrier = terrain.TrapezoidBarrier(height=height, distance=distance, **sizes)
    assert_balls_agree(client, barrier, hull_extent=max(height, top_length + 2 * run * (1 + 0.05 / height)))


@bullet
@given(depth=lengths, bottom_length=st.just(0.0) | lengths, run=st.floats(0.05, 1.0), distance=places)
def test_ditch_is_where_its_sampler_says(client, depth, bottom_length, run, distance):
    sizes = {"top_length": bottom_length + 2 * run, "bottom_length": bottom_length}
    assert_balls_agree(
        client, terrain.TrapezoidDitch(depth=depth, distance=distance, **sizes), hull_extent=16.0
    )


@bullet
@given(radius=lengths, distance=places)
def test_half_round_is_where_its_sampler_says(client, radius, distance):
    assert_balls_agree(client, terrain.HalfRound(radius=radius, distance=distance))


@bullet
@given(rows=st.integers(1, 6), columns=st.integers(1, 6), cell=st.floats(0.1, 0.8), seed=st.integers(0, 99))
def test_step_field_is_where_its_sampler_says(client, **sizes):
    assert_rays_agree(client, terrain.StepField(max_height=0.3, distance=-1.0, **sizes), spread=2.0)


@bullet
@given(
    points=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    seed=st.integers(0, 99),
    center=st.tuples(places, places),
)
def test_heightfield_is_where_its_sampler_says(client, points, seed, center):
    heights = np.random.default_rng(seed).uniform(-1.0, 3.0, points)
    assert_rays_agree(client, terrain.Heightfield(heights=heights, spacing=1.3, center=center))


CUBE_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
CUBE_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def write_obj(path):
    lines = ["v {} {} {}".format(*corner) for corner in CUBE_CORNERS]
    lines += ["f {} {} {}".format(*(corner + 1 for corner in face)) for face in CUBE_FACES]
    path.write_text("\n".join(lines) + "\n")


def write_stl(path):
    facets = [struct.pack("<12fH", 0, 0, 0, *CUBE_CORNERS[list(face)].ravel(), 0) for face in CUBE_FACES]
    path.write_bytes(bytes(80) + struct.pack("<I", len(facets)) + b"".join(facets))


@pytest.mark.parametrize("name, write", [("cube.obj", write_obj), ("cube.stl", write_stl)])
def test_mesh_stands_where_it_was_put(client, tmp_path, name, write):
    write(tmp_path / name)
    eighth_turn = (0.0, 0.0, math.sin(math.pi / 8), math.cos(math.pi / 8))
    client.resetSimulation()
    build_terrain(
        client,
        terrain.Mesh(file=tmp_path / name, scale=0.5, position=(1.0, 2.0, 0.1), orientation=eighth_turn),
    )
    x, y = np.array([1.0, 1.69, 1.0, 1.4, 1.72]), np.array([2.0, 2.0, 1.31, 2.4, 2.0])
    np.testing.assert_allclose(cast_down(client, x, y), [0.6, 0.6, 0.6, -np.inf, -np.inf], atol=RAY_TOLERANCE)


@pytest.mark.parametrize("name", ["torn.obj", "torn.stl"])
def test_unreadable_mesh_is_refused(client, tmp_path, name):
    (tmp_path / name).write_text("solid torn\nendsolid\n")
    client.resetSimulation()
    with pytest.raises(FileAccessError) as caught:
        build_terrain(client, terrain.Mesh(file=tmp_path / name))
    assert (
        str(caught.value)
        == f"cannot load mesh {tmp_path / name}: PyBullet takes OBJ files and binary STL files"
    )
    assert client.getNumBodies() == 0


def test_terrain_carries_its_own_friction(client):
    client.resetSimulation()
    bodies = build_terrain(client, terrain.Step(height=0.2, distance=1.0, friction=0.37))
    assert len(bodies) == 2
    for body in bodies:
        mass, lateral, _, _, _, restitution, rolling, spinning, *_ = client.getDynamicsInfo(body, -1)
        assert (mass, lateral, restitution, rolling, spinning) == (0.0, 0.37, 0.0, 0.0, 0.0)


def put_slider(client, half_extents, surface_point, pitch, friction):
    """Lay a 2 kg block onto a surface that rises by `pitch` [rad] along x; return its id."""
    normal = np.array([-math.sin(pitch), 0.0, math.cos(pitch)])
    slider = client.createMultiBody(
        baseMass=2.0,
        baseCollisionShapeIndex=client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half_extents),
        basePosition=np.array(surface_point) + half_extents[2] * normal,
        baseOrientation=(0.0, -math.sin(pitch / 2), 0.0, math.cos(pitch / 2)),
    )
    client.changeDynamics(slider, -1, lateralFriction=friction, linearDamping=0.0, angularDamping=0.0)
    return slider


def velocity_of(client, body):
    return np.array(client.getBaseVelocity(body)[0])


@pytest.mark.parametrize("friction", [0.0, 0.3, 0.8])
def test_block_on_a_ramp_accelerates_as_coulomb_says(client, friction):
    client.resetSimulation()
    client.setGravity(0, 0, -9.81)
    client.setTimeStep(0.001)
    slope = 0.5
    ramp = terrain.Ramp(slope=slope, length=6.0, distance=-3.0, friction=friction)
    build_terrain(client, ramp)
    block = put_slider(client, (0.1, 0.1, 0.1), (0.0, 0.0, float(ramp.height_at(0.0))), slope, friction=1.0)
    speeds = []
    for _ in range(2):
        for _ in range(200):
            client.stepSimulation()
        speeds.append(np.linalg.norm(velocity_of(client, block)))
    expected = 9.81 * max(math.sin(slope) - friction * math.cos(slope), 0.0)
    assert (speeds[1] - speeds[0]) / 0.2 == pytest.approx(expected, rel=5e-3, abs=1e-3)


RAMP = terrain.Ramp(slope=0.5, length=1.0, distance=0.0)
RIDGE = terrain.Ridge(height=0.2, length=1.0, distance=0.0)
BARRIER = terrain.TrapezoidBarrier(height=0.3, top_length=0.5, bottom_length=1.1, distance=0.0)
DITCH = terrain.TrapezoidDitch(depth=0.2, top_length=1.0, bottom_length=0.4, distance=0.0)


@pytest.mark.parametrize(
    "described, edge, heading",
    [
        (RAMP, 1.0, 1),
        (RAMP, 1.0, -1),
        (RIDGE, 0.5, 1),
        (BARRIER, 0.3, 1),
        (BARRIER, 0.8, 1),
        (DITCH, 0.0, 1),
        (DITCH, 0.0, -1),
        (DITCH, 1.0, 1),
    ],
)
def test_edges_do_not_catch_what_slides_over_them(client, described, edge, heading):
    """A grouser without friction keeps its speed until its front is well past an edge, whatever its phase."""
    before = described.height_at([edge - 0.1 * heading, edge - 1e-9 * heading])
    pitch = math.atan((before[1] - before[0]) / (0.1 * heading))
    along = heading * np.array([math.cos(pitch), 0.0, math.sin(pitch)])
    client.resetSimulation()
    client.setTimeStep(0.001)
    client.setGravity(9.81 * math.sin(pitch), 0.0, -9.81 * math.cos(pitch))  # onto the surface
    build_terrain(client, described)
    half_length = 0.01
    for speed in (0.1, 1.0):
        for phase in np.linspace(0.0, 0.001 * speed, 7):
            run_up = 0.02 * speed + phase
            start = np.array([edge, 0.0, before[1]]) - (half_length + run_up) * along
            slider = put_slider(client, (half_length, 0.05, 0.01), start, pitch, friction=0.0)
            for _ in range(30):
                client.stepSimulation()
            client.resetBaseVelocity(slider, speed * along)
            for _ in range(round((run_up + 0.004 * speed) / speed / 0.001)):
                client.stepSimulation()
            assert velocity_of(client, slider) @ along == pytest.approx(speed, rel=0.05)
            client.removeBody(slider)


def write_flat_obj(path):
    lines = [f"v {x} {y} 0" for x in range(-3, 4) for y in range(-3, 4)]
    for corner in (7 * row + column + 1 for row in range(6) for column in range(6)):
        lines += [f"f {corner} {corner + 7} {corner + 8}", f"f {corner} {corner + 8} {corner + 1}"]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", ["heightfield", "mesh"])
def test_flat_triangles_do_not_catch_what_slides_over_them(client, tmp_path, kind):
    if kind == "heightfield":
        described = terrain.Heightfield(heights=np.zeros((31, 31)), spacing=0.1)
    else:
        write_flat_obj(tmp_path / "flat.obj")
        described = terrain.Mesh(file=tmp_path / "flat.obj", scale=0.1)
    client.resetSimulation()
    client.setTimeStep(0.001)
    client.setGravity(0.0, 0.0, -9.81)
    build_terrain(client, described)
    slider = put_slider(client, (0.01, 0.05, 0.01), (-0.25, 0.03, 0.0), 0.0, friction=0.0)
    client.resetBaseVelocity(slider, (1.0, 0.0, 0.0))
    for _ in range(500):
        client.stepSimulation()
    assert velocity_of(client, slider) == pytest.approx([1.0, 0.0, 0.0], abs=0.01)


def test_floor_may_be_a_half_space(client):
    class Water(Terrain):
        def solids(self):
            return (HalfSpace((0.0, 0.0, 0.25)),)

        def x_breaks(self):
            return ()

        def _sample(self, x, y):
            return np.full(x.shape, 0.25)

    assert_rays_agree(client, Water())


def test_two_builds_are_equal_to_the_bit(client):
    heights = []
    for _ in range(2):
        client.resetSimulation()
        build_terrain(
            client, terrain.StepField(max_height=0.3, cell=0.2, rows=5, columns=5, distance=0.0, seed=4)
        )
        poses = [client.getBasePositionAndOrientation(body) for body in range(client.getNumBodies())]
        heights.append(np.array([position for position, _ in poses]).tobytes())
    assert heights[0] == heights[1]
