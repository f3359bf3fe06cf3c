import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

import segtrack
import segtrack.terrain as terrain
from segtrack.errors import FileAccessError, InvalidValueError
from segtrack.geometry import Box, Cylinder, Hull

ROUNDING = 1e-15
"""Of a height that follows from a solid's middle and size [m]."""
GRID = [[0.0, 0.1], [0.2, 0.7]]

lengths = st.floats(0.01, 5.0)
places = st.floats(-3.0, 3.0)


def test_all_names_resolve():
    assert all(hasattr(terrain, name) for name in terrain.__all__)


@pytest.mark.parametrize("x, expected", [(0.7499, 0.0), (0.75, 0.24), (1.75, 0.24), (1.7501, 0.0)])
def test_step_faces_take_the_higher_value(x, expected):
    step = terrain.Step(height=0.24, distance=0.75, length=1.0, width=2.0)
    assert step.height_at(x, 0.0) == expected
    assert step.height_at(x, [-1.0, 1.0]).tolist() == [expected] * 2
    assert step.height_at(x, 1.0001) == 0.0


@given(riser=lengths, tread=lengths, count=st.integers(1, 8), distance=places)
def test_stairs_rise_one_riser_a_tread(riser, tread, count, distance):
    stairs = terrain.Stairs(riser=riser, tread=tread, count=count, distance=distance)
    middles = distance + (np.arange(count) + 0.5) * tread
    middles[-1] = distance + (count - 1) * tread + stairs.landing / 2
    np.testing.assert_allclose(stairs.height_at(middles), riser * np.arange(1, count + 1))
    assert stairs.height_at(middles[-1] + stairs.landing) == 0.0


def test_stairs_down_mirror_the_stairs_up():
    stairs = terrain.Stairs(riser=0.2, tread=0.3, count=4, distance=1.0, landing=1.2, down=True)
    middle = 1.0 + 3 * 0.3 + 0.6
    x = np.linspace(-2.0, 2.0, 402)
    before, behind = stairs.height_at(middle - x), stairs.height_at(middle + x)
    np.testing.assert_allclose(behind, before, rtol=0, atol=ROUNDING)


@given(slope=st.floats(0.05, 1.4), length=lengths, distance=places)
def test_ramp_rises_by_its_tangent_to_its_plateau(slope, length, distance):
    ramp = terrain.Ramp(slope=slope, length=length, distance=distance, plateau=2.0)
    x = distance + length * np.array([-0.1, 0.25, 0.5])
    np.testing.assert_allclose(
        ramp.height_at(x), length * math.tan(slope) * np.array([0, 0.25, 0.5]), atol=1e-12
    )
    assert ramp.height_at(distance + length + 1.0) == ramp.rise == length * math.tan(slope)


@pytest.mark.parametrize(
    "obstacle",
    [
        terrain.Step(height=0.24, distance=0.75, length=1.0),
        terrain.Stairs(riser=0.2, tread=0.3, count=4, distance=-1.0, landing=1.2, down=True),
        terrain.Ramp(slope=0.3, length=1.0, distance=0.5, plateau=2.0, down=True),
        terrain.PlatformGap(length=0.4, distance=0.2, height=0.3),
    ],
    ids=lambda obstacle: type(obstacle).__name__,
)
def test_a_level_top_is_level_and_ends_where_the_ground_does(obstacle):
    start, end, height = obstacle.level_top
    inside = obstacle.distance + np.linspace(start + 1e-6, end - 1e-6, 50)
    np.testing.assert_allclose(obstacle.height_at(inside), height, atol=1e-12)
    beyond = obstacle.distance + np.array([start - 1e-3, end + 1e-3])
    assert (obstacle.height_at(beyond) < height).all()


def test_gap_leaves_its_walls_to_the_ground():
    gap = terrain.Gap(length=0.5, distance=1.0, depth=0.3)
    found = gap.height_at([1.0, 1.001, 1.499, 1.5], 20.0)
    np.testing.assert_allclose(found, [0.0, -0.3, -0.3, 0.0], rtol=0, atol=ROUNDING)


def test_ridge_is_a_triangle():
    ridge = terrain.Ridge(height=0.2, length=1.0, distance=2.0, width=1.0)
    np.testing.assert_allclose(
        ridge.height_at([1.9, 2.25, 2.5, 2.75, 3.1]), [0, 0.1, 0.2, 0.1, 0], atol=1e-12
    )
    assert ridge.height_at(2.5, 0.51) == 0.0


@given(radius=lengths, distance=places, fraction=st.floats(-1.0, 1.0))
def test_half_round_is_a_circle(radius, distance, fraction):
    half_round = terrain.HalfRound(radius=radius, distance=distance)
    height = half_round.height_at(distance + radius + fraction * radius)
    assert math.hypot(height, fraction * radius) == pytest.approx(radius, abs=1e-6)


def test_ditch_is_a_barrier_upside_down():
    sizes = {"top_length": 0.4, "bottom_length": 1.2, "distance": 0.5}
    barrier = terrain.TrapezoidBarrier(height=0.3, **sizes)
    ditch = terrain.TrapezoidDitch(depth=0.3, top_length=1.2, bottom_length=0.4, distance=0.5)
    x = np.linspace(0.0, 2.0, 101)
    np.testing.assert_allclose(barrier.height_at(x), -ditch.height_at(x), rtol=0, atol=ROUNDING)
    assert barrier.height_at([0.7, 0.9, 1.3]) == pytest.approx([0.15, 0.3, 0.3])


def test_v_ditch_has_its_deepest_point_in_the_middle():
    ditch = terrain.TrapezoidDitch(depth=0.3, top_length=1.0, bottom_length=0.0, distance=0.0)
    np.testing.assert_allclose(ditch.height_at([0.0, 0.25, 0.5, 0.75, 1.0]), [0, -0.15, -0.3, -0.15, 0])


def test_equal_seeds_make_equal_step_fields():
    sizes = {"max_height": 0.3, "cell": 0.2, "rows": 5, "columns": 4, "distance": 1.0}
    first, second = terrain.StepField(**sizes, seed=7), terrain.StepField(**sizes, seed=7)
    assert first == second
    assert first.heights.tobytes() == second.heights.tobytes()
    assert first.solids() == second.solids()
    assert not np.array_equal(first.heights, terrain.StepField(**sizes, seed=8).heights)


def test_step_field_posts_stand_in_their_cells():
    field = terrain.StepField(max_height=0.3, cell=0.2, rows=5, columns=4, distance=1.0, seed=3)
    x, y = 1.0 + 0.2 * (np.arange(5) + 0.5), 0.2 * (np.arange(4) - 1.5)
    np.testing.assert_allclose(field.height_at(x[:, None], y), field.heights, rtol=0, atol=ROUNDING)
    assert field.height_at(1.0 + 0.2, 0.1) == pytest.approx(field.heights[:2, 2].max(), rel=0, abs=ROUNDING)
    assert field.height_at([0.99, 2.01], 0.0).tolist() == [0.0, 0.0]
    assert not field.heights.flags.writeable


def test_heightfield_passes_through_its_points_and_ends_at_its_border():
    heights = np.random.default_rng(1).normal(size=(4, 3))
    field = terrain.Heightfield(heights=heights, spacing=0.5, center=[1.0, 2.0])
    x, y = 1.0 + 0.5 * (np.arange(4) - 1.5), 2.0 + 0.5 * (np.arange(3) - 1.0)
    np.testing.assert_allclose(field.height_at(x[:, None], y), heights)
    assert field.height_at([0.2, 1.0], [2.0, 2.6]).tolist() == [-np.inf] * 2
    heights[0, 0] = 99.0
    assert field.heights[0, 0] != 99.0 and not field.heights.flags.writeable


def test_height_broadcasts():
    plane = terrain.Plane()
    assert plane.height_at(np.zeros((4, 1)), np.zeros(3)).shape == (4, 3)
    assert isinstance(plane.height_at(0.0, 0.0), np.ndarray)


def test_profile_keeps_upright_faces_upright():
    stairs = terrain.Stairs(riser=0.1, tread=0.2, count=3, distance=0.5, landing=0.4)
    x, z = terrain.profile(stairs, 0.0, 3.0, samples=2)
    assert x == pytest.approx([0.0, 0.5, 0.5, 0.7, 0.7, 0.9, 0.9, 1.3, 1.3, 3.0])
    assert z == pytest.approx([0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.0, 0.0])


def test_profile_draws_a_gap_with_walls():
    x, z = terrain.profile(terrain.Gap(length=0.5, distance=1.0, depth=0.3), 0.0, 2.0, samples=3)
    assert x == pytest.approx([0.0, 1.0, 1.0, 1.0, 1.5, 1.5, 2.0])
    assert z == pytest.approx([0.0, 0.0, 0.0, -0.3, -0.3, 0.0, 0.0])


def kwargs_of(kind):
    """Sound arguments of each kind, into which a mistake is put."""
    return {
        "Step": {"height": 0.24, "distance": 0.75},
        "Stairs": {"riser": 0.2, "tread": 0.3, "count": 3, "distance": 1.0},
        "Ramp": {"slope": 0.3, "length": 1.0, "distance": 1.0},
        "Gap": {"length": 0.3, "distance": 1.0},
        "Ridge": {"height": 0.2, "length": 1.0, "distance": 1.0},
        "HalfRound": {"radius": 0.2, "distance": 1.0},
        "TrapezoidBarrier": {"height": 0.2, "top_length": 0.5, "bottom_length": 1.0, "distance": 1.0},
        "TrapezoidDitch": {"depth": 0.2, "top_length": 1.0, "bottom_length": 0.5, "distance": 1.0},
        "StepField": {"max_height": 0.2, "cell": 0.2, "rows": 2, "columns": 2, "distance": 1.0},
        "Heightfield": {"heights": GRID, "spacing": 0.1},
    }.get(kind, {})


@each_row(
    "kind, mistake, message",
    [
        ("Plane", {"friction": -0.1}, "Plane.friction must be a finite number of at least 0, got -0.1"),
        ("Plane", {"friction": None}, "Plane.friction must be a finite number of at least 0, got None"),
        ("Step", {"height": math.nan}, "Step.height must be a positive finite number [m], got nan"),
        ("Step", {"height": "0.2"}, "Step.height must be a positive finite number [m], got '0.2'"),
        ("Step", {"height": True}, "Step.height must be a positive finite number [m], got True"),
        ("Step", {"distance": math.inf}, "Step.distance must be a finite number [m], got inf"),
        ("Step", {"length": 0}, "Step.length must be a positive finite number [m], got 0"),
        ("Step", {"width": -1.0}, "Step.width must be a positive finite number [m], got -1.0"),
        ("Stairs", {"count": 0}, "Stairs.count must be a whole number of at least 1, got 0"),
        ("Stairs", {"count": 2.5}, "Stairs.count must be a whole number of at least 1, got 2.5"),
        ("Stairs", {"riser": 0.0}, "Stairs.riser must be a positive finite number [m], got 0.0"),
        ("Ramp", {"slope": 30}, "Ramp.slope must be less than pi/2 [rad], got 30"),
        ("Ramp", {"slope": 0.0}, "Ramp.slope must be a positive finite number [rad], got 0.0"),
        ("Gap", {"length": -0.3}, "Gap.length must be a positive finite number [m], got -0.3"),
        ("Gap", {"depth": math.inf}, "Gap.depth must be a positive finite number [m], got inf"),
        ("Ridge", {"height": -0.6}, "Ridge.height must be a positive finite number [m], got -0.6"),
        ("HalfRound", {"radius": math.nan}, "HalfRound.radius must be a positive finite number [m], got nan"),
        (
            "TrapezoidBarrier",
            {"bottom_length": 0.4},
            "TrapezoidBarrier.bottom_length must be longer than the top length of 0.5 [m], got 0.4",
        ),
        (
            "TrapezoidDitch",
            {"bottom_length": 1.0},
            "TrapezoidDitch.bottom_length must be shorter than the top length of 1.0 [m], got 1.0",
        ),
        ("StepField", {"rows": 0}, "StepField.rows must be a whole number of at least 1, got 0"),
        ("StepField", {"seed": None}, "StepField.seed must be a whole number of at least 0, got None"),
        (
            "Heightfield",
            {"heights": [1.0, 2.0]},
            "Heightfield.heights must be of at least 2 x 2 points, got (2,)",
        ),
        (
            "Heightfield",
            {"heights": "flat"},
            "Heightfield.heights must be an array of numbers [m], got 'flat'",
        ),
        (
            "Heightfield",
            {"heights": [[0.0, 1.0], [math.nan, 0.0]]},
            "Heightfield.heights[1, 0] must be a finite number [m], got nan",
        ),
        ("Heightfield", {"center": (0.0,)}, "Heightfield.center must be 2 finite numbers [m], got (0.0,)"),
        ("Mesh", {"file": "rubble.dae"}, "Mesh.file must be an .obj or .stl file, got 'rubble.dae'"),
    ],
)
def test_bad_values_are_refused(kind, mistake, message):
    with pytest.raises(InvalidValueError) as caught:
        getattr(terrain, kind)(**(kwargs_of(kind) | mistake))
    assert str(caught.value) == message


@pytest.mark.parametrize("file", ["nowhere/rubble.obj", "r" * 300 + ".obj"])
def test_missing_mesh_is_refused(file):
    with pytest.raises(FileAccessError) as caught:
        terrain.Mesh(file=file)
    assert str(caught.value) == f"cannot read mesh {file}: no such file"


@pytest.mark.parametrize(
    "mistake, message",
    [
        ({"scale": 0}, "Mesh.scale must be a positive finite number, got 0"),
        ({"position": (0, 0)}, "Mesh.position must be 3 finite numbers [m], got (0, 0)"),
        (
            {"orientation": (0, 0, 0, 2)},
            "Mesh.orientation must be a unit quaternion (x, y, z, w), got (0.0, 0.0, 0.0, 2.0)",
        ),
    ],
)
def test_bad_mesh_poses_are_refused(tmp_path, mistake, message):
    file = tmp_path / "rubble.obj"
    file.touch()
    with pytest.raises(InvalidValueError) as caught:
        terrain.Mesh(file=file, **mistake)
    assert str(caught.value) == message


def test_mesh_says_that_it_has_no_sampler(tmp_path):
    file = tmp_path / "rubble.obj"
    file.touch()
    message = (
        f"sampled terrain must be analytic or a heightfield (a mesh has no height sampler), got '{file}'"
    )
    for sample in (lambda mesh: mesh.height_at(0.0), lambda mesh: terrain.profile(mesh, 0.0, 1.0)):
        with pytest.raises(InvalidValueError) as caught:
            sample(terrain.Mesh(file=file))
        assert str(caught.value) == message


def test_empty_profiles_are_refused():
    for arguments, message in (
        ((1.0, 1.0), "x_max of a profile must be above x_min of 1.0 [m], got 1.0"),
        ((0.0, 1.0, 1), "samples of a profile must be a whole number from 2, got 1"),
    ):
        with pytest.raises(InvalidValueError) as caught:
            terrain.profile(terrain.Plane(), *arguments)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Box((1.0, 1.0, 0.0)), "size along z must be a positive finite number [m], got 0.0"),
        (Box((1.0, -1.0, 1.0)), "size along y must be a positive finite number [m], got -1.0"),
        (Cylinder(0.0, 1.0), "radius must be a positive finite number [m], got 0.0"),
        (Cylinder(1.0, math.nan), "length must be a positive finite number [m], got nan"),
    ],
)
def test_a_solid_without_extent_is_refused_by_name(part, message):
    with pytest.raises(InvalidValueError) as error:
        terrain.StaticBody(parts=(Box((1.0, 1.0, 1.0)), part))
    assert str(error.value) == f"StaticBody.parts[1].{message}"
    flat = Hull.of([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    with pytest.raises(
        InvalidValueError, match=r"parts\[0\].vertices must be corners that are not all in one"
    ):
        terrain.StaticBody(parts=(flat,))


@pytest.mark.parametrize(
    ("engine", "track_model"), [("native", "compliant"), ("pybullet", "segments"), ("pybullet", "compliant")]
)
def test_a_plane_has_no_end(engine, track_model):
    """A PackBot turns 300 m from the origin as it does there, on segments once it has settled.

    Grousers of segments that drop onto the ground as the belts start meet it in an order that rounding
    decides: without settling, the yaw after 0.5 s is 0.156 to 0.164 at 0, 0.11, 0.37, 1 and 300 m.
    """
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    found = []
    for x in (0.0, 300.0):
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle("packbot", track_model=track_model, position=(x, 0.7 * x))
            if track_model == "segments":
                world.settle()
            robot.set_belt_speed(0.1, 0.3)
            world.run(0.5)
            place = np.subtract(robot.state.position, (x, 0.7 * x, 0.0))
            found.append((*place, robot.state.yaw))
    np.testing.assert_allclose(found[1], found[0], atol=1e-3 if track_model == "segments" else 1e-5)


def test_robots_of_a_batch_are_on_a_plane_without_an_end():
    with segtrack.Batch("packbot", count=2) as batch:
        batch.reset(x=[0.0, 400.0], y=[0.0, -300.0])
        batch.set_belt_speed(0.1, 0.3)
        batch.run(0.5)
        assert batch.status == ["running", "running"]
        places = batch.state.position
    np.testing.assert_allclose(places[1] - (400.0, -300.0, 0.0), places[0], atol=1e-9)
