"""Walls against a vehicle's outline: a second implementation of overlap, and the engine's own points."""

import math
from dataclasses import replace

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed
from scipy.spatial import ConvexHull

from segtrack.courses import (
    PlanOutline,
    ScoringSettings,
    TrialObserver,
    VehicleOutline,
    Wall,
    WallSensor,
    load_course,
)
from segtrack.courses.observer import swept
from segtrack.geometry import Box
from segtrack.robot import Robot
from segtrack.terrain import Plane, StaticBody
from segtrack.world import World

APART = 3e-3
"""A hull runs round a pulley, grousers stand on it some 20 degrees apart [m]."""


def outline(*polygons, low=0.0, high=1.0):
    count = len(polygons)
    points = np.concatenate(polygons).astype(float)
    return PlanOutline(
        points, np.array([len(p) for p in polygons]), np.full(count, low), np.full(count, high)
    )


def rectangle(x, y, length, width, yaw=0.0):
    corners = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (length / 2, width / 2)
    cos, sin = math.cos(yaw), math.sin(yaw)
    return corners @ np.array([[cos, sin], [-sin, cos]]) + (x, y)


def overlap(one, other):
    """Whether convex polygons overlap: a corner of one in the other, or sides that cross."""

    def cross(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def sides(polygon):
        return list(zip(polygon, np.roll(polygon, -1, axis=0), strict=True))

    def inside(point, polygon):
        return all(cross(a, b, point) > 0 for a, b in sides(polygon))

    def meet(side, its):
        (a, b), (c, d) = side, its
        return cross(a, b, c) * cross(a, b, d) < 0 and cross(c, d, a) * cross(c, d, b) < 0

    return (
        any(inside(point, other) for point in one)
        or any(inside(point, one) for point in other)
        or any(meet(a, b) for a in sides(one) for b in sides(other))
    )


def test_touching_is_overlapping_of_convex_polygons():
    random = np.random.default_rng(3)
    found = []
    for _ in range(400):
        points = random.uniform(-1, 1, (random.integers(3, 9), 2))
        polygon = points[ConvexHull(points).vertices]
        x, y, yaw = random.uniform(-2, 2, 3)
        length, width = random.uniform(0.05, 2, 2)
        sensor = WallSensor([Wall(x, y, yaw, length, width, 0.0, 1.0)])
        found.append(sensor.touches(outline(polygon)))
        assert found[-1] == overlap(polygon, rectangle(x, y, length, width, yaw))
    assert 0.2 < np.mean(found) < 0.8


@pytest.mark.parametrize(("gap", "touches"), [(0.002, True), (0.004, False)])
def test_wall_within_the_distance_is_touched(gap, touches):
    part = outline(rectangle(0, 0, 1, 1))
    walls = [Wall(5.0, 0, 0, 1, 1, 0, 1), Wall(1.0 + gap, 0, math.pi, 1, 1, 0, 1)]
    assert WallSensor(walls, 0.003).touches(part) == touches
    assert not WallSensor(walls).touches(part)


def test_parts_that_just_meet_a_wall_do_not_touch_it():
    assert not WallSensor([Wall(1, 0, 0, 1, 1, 0, 1)]).touches(outline(rectangle(0, 0, 1, 1)))


@pytest.mark.parametrize(("low", "high", "touches"), [(0.6, 1, False), (0.4, 1, True), (-1, 0.1, False)])
def test_part_above_or_below_a_wall_does_not_touch_it(low, high, touches):
    sensor = WallSensor([Wall(0, 0, 0, 1, 1, 0.2, 0.5)])
    assert sensor.touches(outline(rectangle(0, 0, 1, 1), low=low, high=high)) == touches


def test_every_part_and_wall_counts():
    parts = outline(rectangle(0, 0, 1, 1), rectangle(5, 0, 1, 1), rectangle(0, 5, 1, 1))
    walls = [Wall(9, 9, 0, 1, 1, 0, 1), Wall(5.9, 0, 0.1, 1, 1, 0, 1)]
    assert WallSensor(walls).touches(parts)
    assert not WallSensor(walls[:1]).touches(parts)


def test_swept_polygon_is_the_hull_of_both_ends():
    random = np.random.default_rng(5)
    for _ in range(50):
        polygons, ways = [], random.uniform(-1, 1, (3, 2))
        for order in (1, -1, 1):
            points = random.uniform(-1, 1, (7, 2))
            polygons.append(points[ConvexHull(points).vertices][::order])
        counts = np.array([len(polygon) for polygon in polygons])
        corners, found = swept(np.concatenate(polygons), counts, ways)
        assert found.tolist() == (counts + 2).tolist()
        for polygon, way, part in zip(polygons, ways, np.split(corners, np.cumsum(found)[:-1]), strict=True):
            both = np.concatenate([polygon, polygon + way])
            hull = both[ConvexHull(both).vertices]
            first = np.argmin(np.linalg.norm(part - hull[0], axis=1))
            assert np.roll(part, -first, axis=0) == pytest.approx(hull)


@pytest.fixture(scope="module")
def quince():
    with World(engine="native") as world:
        world.add_terrain(Plane())
        yield world.add_vehicle("quince")


@pytest.mark.parametrize("tilt", [(0, 0, 0), (0.3, -0.2, 1.0), (1.6, 0, 0.5), (3.1, 0.4, -2.0), (0, 1.57, 0)])
@pytest.mark.parametrize("angle", [0.0, 1.2])
def test_outline_of_a_vehicle_is_its_box_in_the_world(quince: Robot, tilt, angle):
    """In plan and in height, out to the grousers' tips; `bounds` finds them from the engine's own points."""
    from scipy.spatial.transform import Rotation

    for flipper in quince.flippers.values():
        flipper.place(angle)
    quince.reset_base_pose((0.4, -0.3, 2.0), Rotation.from_euler("xyz", tilt).as_quat())
    seen = VehicleOutline(quince).look()
    low, high = quince.bounds()
    assert seen.points.min(axis=0) == pytest.approx(low[:2], abs=APART)
    assert seen.points.max(axis=0) == pytest.approx(high[:2], abs=APART)
    assert (seen.z_min.min(), seen.z_max.max()) == pytest.approx((low[2], high[2]), abs=APART)
    for polygon in seen.polygons:
        x, y = polygon.T
        assert x @ np.roll(y, -1) - y @ np.roll(x, -1) > 0


def test_first_part_is_the_body_s_box(quince: Robot):
    quince.reset_base_pose((0.0, 0.0, 3.0))
    seen = VehicleOutline(quince).look()
    corners = {tuple(corner) for corner in seen.polygons[0].round(9)}
    assert corners == {(x, y) for x in (-0.2675, 0.2675) for y in (-0.18, 0.18)}
    assert (seen.z_min[0], seen.z_max[0]) == pytest.approx((3 - 0.055, 3 + 0.055))


def test_outline_of_a_urdf_body_holds_its_links():
    with World(engine="native") as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle("example_rover")
        seen = VehicleOutline(robot).look()
    low, high = robot.bounds()
    assert (seen.points.min(axis=0) <= np.array(low[:2]) + 2e-3).all()
    assert (seen.points.max(axis=0) >= np.array(high[:2]) - 2e-3).all()


def test_outline_of_a_shape_that_is_turned_on_its_link_is_its_box_in_the_world(tmp_path):
    fin = Limb("fin", kind="fixed", xyz=(0.1, 0.0, 0.3), collision=(0.9, 0.2, 0.5))
    file = jointed(tmp_path, [fin], {})
    urdf, told = tmp_path / "jointed.urdf", "<collision>\n<origin "
    urdf.write_text(urdf.read_text().replace(told, f'{told}rpy="0.5 0.3 0.2" '))
    with World(engine="native") as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(file)
        seen = VehicleOutline(robot).look()
    low, high = robot.bounds()
    assert (*seen.points.min(axis=0), seen.z_min.min()) == pytest.approx(low, abs=APART)
    assert (*seen.points.max(axis=0), seen.z_max.max()) == pytest.approx(high, abs=APART)


def test_robot_that_drives_against_a_wall_touches_it():
    """With its grousers; before it is there it does not."""
    wall = Wall(1.0, 0.0, 0.0, 0.2, 2.0, 0.0, 0.5)
    box = Box((0.2, 2.0, 0.5), (1.0, 0.0, 0.25))
    with World(engine="native") as world:
        world.add_terrain(Plane())
        world.add_terrain(StaticBody(parts=(box,), name="wall"))
        robot = world.add_vehicle("quince")
        course = replace(load_course("okada-step"), walls=(wall,))
        observer = TrialObserver(robot, course, ScoringSettings())
        robot.set_belt_speed(0.4, 0.4)
        world.run(0.7)
        assert robot.bounds()[1][0] < 0.9
        assert not observer.look(world.time).touching_wall
        world.run(0.5)
        seen = observer.look(world.time)
    assert seen.touching_wall
    assert (seen.time, seen.position) == (world.time, robot.state.position)
