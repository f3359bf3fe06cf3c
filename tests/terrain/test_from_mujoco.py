"""Static geoms of somebody's own MuJoCo model as terrain; rays of MuJoCo's say where they are."""

import numpy as np
import pytest

from segtrack import terrain
from segtrack.errors import InvalidValueError
from segtrack.ground import pack_ground, pack_relief, penetration_depth_grid, sample_reliefs
from segtrack.kernels import Packed

mujoco = pytest.importorskip("mujoco", reason="of the extra mujoco")
KIND = mujoco.mjtGeom
TURN = [0.9, 0.2, -0.3, 0.25]
CORNERS = [[x, y, z] for x in (-0.3, 0.3) for y in (-0.4, 0.4) for z in (0.0, 0.2)] + [[0.0, 0.0, 0.5]]


def compiled(spec):
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def heights_by_rays(model, data, x, y):
    """Where rays from above meet the geoms at places (n,) [m]; -inf where they meet none."""
    found, geom = [], np.zeros(1, dtype=np.int32)
    for place in zip(x.tolist(), y.tolist(), strict=True):
        start, down = np.array([*place, 5.0]), np.array([0.0, 0.0, -1.0])
        far = mujoco.mj_ray(model, data, start, down, None, 1, -1, geom, None)
        found.append(5.0 - far if far >= 0 else -np.inf)
    return np.array(found)


@pytest.mark.parametrize(
    ("kind", "size", "within"),
    [
        (KIND.mjGEOM_PLANE, [5, 5, 0.1], 1e-9),
        (KIND.mjGEOM_BOX, [0.3, 0.2, 0.1], 1e-9),
        (KIND.mjGEOM_MESH, [0, 0, 0], 1e-6),
        (KIND.mjGEOM_CYLINDER, [0.2, 0.3, 0], 1e-3),
        (KIND.mjGEOM_SPHERE, [0.25, 0, 0], 1e-3),
        (KIND.mjGEOM_CAPSULE, [0.15, 0.2, 0], 1e-3),
        (KIND.mjGEOM_ELLIPSOID, [0.3, 0.2, 0.1], 1e-3),
    ],
)
def test_shapes_are_where_rays_meet_them(kind, size, within):
    spec = mujoco.MjSpec()
    geom = spec.worldbody.add_geom(type=kind, size=size, pos=[0.3, -0.2, 0.4], quat=TURN)
    if kind == KIND.mjGEOM_MESH:
        spec.add_mesh(name="heap", uservert=np.ravel(CORNERS))
        geom.meshname = "heap"
    model, data = compiled(spec)
    (own,) = terrain.from_mujoco(model, data)
    x, y = np.random.default_rng(1).uniform(-0.6, 0.6, (2, 1000)) + [[0.3], [-0.2]]
    met, ours = heights_by_rays(model, data, x, y), own.height_at(x, y)
    both = np.isfinite(met) & np.isfinite(ours)
    # A silhouette of a polyhedron is inside the round one's, and near it surfaces are steep.
    ahead, aside = own.height_at(x + 1e-3, y), own.height_at(x, y + 1e-3)
    with np.errstate(invalid="ignore"):
        level = both & (np.abs(ahead - ours) < 3e-3) & (np.abs(aside - ours) < 3e-3)
    assert level.sum() > 50
    assert np.abs(met[level] - ours[level]).max() < 3 * within
    assert np.mean(np.isfinite(met) != np.isfinite(ours)) < 0.02


def test_a_heightfield_is_cut_as_mujoco_cuts_it():
    """By height, by depth of contacts and by the scan of learning: white noise, where a diagonal is seen."""
    noise = np.random.default_rng(3).random(9 * 12)
    spec = mujoco.MjSpec()
    spec.add_hfield(name="noise", nrow=9, ncol=12, size=[1.1, 0.8, 0.3, 0.1], userdata=noise)
    spec.worldbody.add_geom(type=KIND.mjGEOM_HFIELD, hfieldname="noise", pos=[0.3, -0.2, 0.1])
    model, data = compiled(spec)
    (own,) = terrain.from_mujoco(model, data)
    rng = np.random.default_rng(4)
    x, y = rng.uniform(-0.79, 1.39, 1000), rng.uniform(-0.99, 0.59, 1000)
    met = heights_by_rays(model, data, x, y)
    assert np.abs(own.height_at(x, y) - met).max() < 1e-12
    scanned = sample_reliefs(Packed.of(pack_relief(own)), np.zeros(1, dtype=np.intp), x[None], y[None])
    assert np.abs(scanned[0] - met).max() < 1e-12
    ground = pack_ground([own])
    for place in zip(x.tolist(), y.tolist(), met.tolist(), strict=True):
        depth, normal, _ = penetration_depth_grid(ground, 0, (*place[:2], 0.0))
        assert depth / normal[2] == pytest.approx(place[2], abs=1e-12)


def test_friction_and_what_moves_or_does_not_collide():
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=KIND.mjGEOM_PLANE, size=[5, 5, 0.1], friction=[0.7, 0.005, 0.0001])
    spec.worldbody.add_geom(type=KIND.mjGEOM_SPHERE, size=[0.1, 0, 0], contype=0, conaffinity=0)
    hand = spec.worldbody.add_body(name="hand", mocap=True)
    hand.add_geom(type=KIND.mjGEOM_SPHERE, size=[0.1, 0, 0])
    loose = spec.worldbody.add_body(name="loose")
    loose.add_freejoint()
    loose.add_geom(type=KIND.mjGEOM_SPHERE, size=[0.1, 0, 0])
    shelf = spec.worldbody.add_body(name="shelf", pos=[1, 0, 0])
    shelf.add_geom(name="board", type=KIND.mjGEOM_BOX, size=[0.1, 0.1, 0.1], friction=[0.3, 0.005, 0.0001])
    model, data = compiled(spec)
    floor, board = terrain.from_mujoco(model, data)
    assert (floor.friction, board.friction, board.name) == (0.7, 0.3, "board")
    (left,) = terrain.from_mujoco(model, data, exclude=[model.body("shelf").id])
    assert left.friction == 0.7


def test_what_cannot_be_described_is_named():
    spec = mujoco.MjSpec()
    spec.add_hfield(name="h", nrow=3, ncol=3, size=[1, 2, 0.3, 0.1], userdata=np.zeros(9))
    spec.worldbody.add_geom(name="long", type=KIND.mjGEOM_HFIELD, hfieldname="h")
    spec.add_hfield(name="g", nrow=3, ncol=3, size=[1, 1, 0.3, 0.1], userdata=np.zeros(9))
    spec.worldbody.add_geom(name="leaning", type=KIND.mjGEOM_HFIELD, hfieldname="g", quat=TURN)
    model, data = compiled(spec)
    with pytest.raises(InvalidValueError) as error:
        terrain.from_mujoco(model, data)
    assert str(error.value) == (
        "static geoms in MuJoCo must be of shapes that can be described, or of bodies left out: "
        "exclude=[...], got long: a heightfield with cells of 1 m x 2 m; square ones can be described; "
        "leaning: a heightfield that is turned; one along the world's axes can be described"
    )


def test_data_without_poses_are_refused():
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=KIND.mjGEOM_PLANE, size=[5, 5, 0.1])
    model = spec.compile()
    with pytest.raises(InvalidValueError) as error:
        terrain.from_mujoco(model, mujoco.MjData(model))
    assert str(error.value) == "data must be one with poses, by mj_forward or mj_kinematics, got none"
