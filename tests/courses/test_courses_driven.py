"""Bundled courses driven by a script on the native engine: they can be passed as their gates say."""

import math

import numpy as np
import pytest
from quick import some_of

import segtrack
from segtrack import terrain
from segtrack.courses import bundled_courses, load_course
from segtrack.geometry import Box

STRAIGHT = [name for name in bundled_courses() if name not in ("figure-8", "parcours", "narrow-lane")]
TICK = 0.05
SPEED = 0.3
LANE = 1.5
"""Width above which a gate is wider than a lane [m]."""
MIDDLE = 0.3
"""Distance from the middle of a wide gate at which one that turns there has reached it [m]."""
AHEAD = 0.6
"""Distance [m], see `aim`."""
VIA = {"figure-8": {3: (0.0, -1.2), 4: (0.0, 0.6), 7: (0.0, -1.2)}}
"""Places on the way to some gates [m]: straight ahead is a wall, which Quince climbs, and tips over."""


def lowest(name):
    setting = load_course(name).setting
    return load_course(name, None if setting is None else setting.values[0])


def world_of(course, rear):
    """A world with the course, and its vehicle at the start, rear flippers at an angle [rad]."""
    world = segtrack.World(engine="native", time_step=0.002, resettable=False)
    for ground in course.terrains:
        world.add_terrain(ground)
    start = course.start
    robot = world.add_vehicle(course.vehicle, position=(start.x, start.y), yaw=start.yaw)
    robot.set_flippers(**{name: 0.6 if name.startswith("front") else rear for name in robot.flippers})
    world.run(0.5)
    return world, robot


def aim(gate, position):
    """The point of a gate's axis that is `AHEAD` nearer to the gate: away from the walls of its lane."""
    axis = np.array((math.cos(gate.yaw), math.sin(gate.yaw)))
    along = float(np.subtract(position[:2], (gate.x, gate.y)) @ axis)
    nearer = math.copysign(max(abs(along) - AHEAD, 0.0), along)
    return gate.x + nearer * axis[0], gate.y + nearer * axis[1]


def drive(course, turning=False):
    """Drive to each gate in turn, without turning forwards or back; how many gates were reached.

    One that turns goes to the middle of wide gates, where lanes meet, and from there along the next lane.
    """
    # Rear flippers keep a climber from tipping over, and are in the way of one that turns on the spot.
    world, robot = world_of(course, rear=0.6 if turning else 0.0)
    reached, via = 0, dict(VIA.get(course.name, {}))
    with world:
        while reached < len(course.gates) and world.time < 10 + 5 * course.distance / SPEED:
            state, gate = robot.state, course.gates[reached]
            wide = turning and gate.width > LANE
            turned = turning and reached > 0 and course.gates[reached - 1].width > LANE
            away = math.hypot(gate.x - state.position[0], gate.y - state.position[1])
            if gate.contains(*state.position) and not (wide and away > MIDDLE):
                reached += 1
                continue
            if abs(state.roll) > 1.2 or abs(state.pitch) > 1.2:
                break
            x, y = aim(gate, state.position) if turned else (gate.x, gate.y)
            if reached in via:
                x, y = via[reached]
                if math.hypot(x - state.position[0], y - state.position[1]) < MIDDLE:
                    del via[reached]
            x, y = x - state.position[0], y - state.position[1]
            bearing = math.remainder(math.atan2(y, x) - state.yaw, math.tau)
            sign = 1.0
            if not turning and abs(bearing) > math.pi / 2:
                sign, bearing = -1.0, math.remainder(bearing + math.pi, math.tau)
            ahead = SPEED * max(math.cos(bearing), 0.0) ** 2
            robot.drive(sign * ahead, float(np.clip(1.5 * bearing, -0.8, 0.8)))
            world.run(TICK)
    return reached


@pytest.mark.parametrize("name", some_of(STRAIGHT, "hurdles", "okada-step"))
def test_a_course_is_passed_there_and_back_at_its_lowest_setting(name):
    course = lowest(name)
    assert drive(course) == len(course.gates)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure-8", "parcours"])
def test_a_course_with_turns_is_passed(name):
    course = lowest(name)
    assert drive(course, turning=True) == len(course.gates)


def speeds_over(parts):
    """Mean speed, and its standard deviation [m/s], of Quince that drives over level solids at 0.2 m/s."""
    with segtrack.World(engine="native", time_step=0.002, resettable=False) as world:
        world.add_terrain(terrain.StaticBody(parts=parts))
        robot = world.add_vehicle("quince")
        robot.set_belt_speed(left=0.2, right=0.2)
        world.run(1.5)
        speeds = []
        for _ in range(200):
            world.run(0.01)
            speeds.append(robot.state.velocity[0])
    return np.mean(speeds), np.std(speeds)


def test_seams_between_level_solids_do_not_trip_a_belt():
    """As those of a step field, every 0.1 m along and across."""
    edges = np.linspace(-1.2, 1.2, 25).tolist()
    whole = speeds_over((Box((2.4, 1.2, 0.25), (0.0, 0.0, 0.075)),))
    tiles = tuple(Box((0.1, 0.1, 0.25), (x + 0.05, y + 0.05, 0.075)) for x in edges[:-1] for y in edges[6:-7])
    assert speeds_over(tiles) == pytest.approx(whole, abs=2e-4)


def test_a_vehicle_sinks_into_a_bed_of_sand_and_not_to_the_floor():
    course = load_course("sand-bed", 0.1)
    with segtrack.World(engine="native", resettable=False) as world:
        for ground in course.terrains:
            world.add_terrain(ground)
        robot = world.add_vehicle("quince", position=(3.2, 0.0))
        world.settle()
        lowest_grouser = robot.bounds()[0][2]
    assert 0.02 < lowest_grouser < 0.098
