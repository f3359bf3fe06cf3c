"""Vehicles of two oval tracks, and the experiments whose ends statics says, in any engine."""

from __future__ import annotations

import math

import numpy as np

import segtrack
from segtrack import terrain
from segtrack.description import VehicleDescription

RADIUS, HALF_BASE, GROUSER, MASS = 0.085, 0.25, 0.004, 21.0


def oval(friction=1.0, ahead=0.0, above=0.0, restitution=0.0, **drive):
    """A vehicle of two oval tracks with 60 grousers each, of 21 kg."""
    track = {
        "path": {"pulleys": [{"x": x, "z": 0.0, "radius": RADIUS} for x in (-HALF_BASE, HALF_BASE)]},
        "width": 0.08,
        "belt": {"mass": 2.0},
        "grousers": {"count": 60, "shape": {"box": {"length": 0.005, "height": GROUSER}}},
        "drive": {"max_force": 2000.0, "max_speed": 5.0, "reflected_mass": 0.5} | drive,
        "contact": {"friction": friction, "restitution": restitution},
    }
    body = MASS - 4.0
    center = [ahead * MASS / body, 0.0, above * MASS / body]
    return VehicleDescription.model_validate(
        {
            "name": "oval",
            "source": "tests",
            "body": {"mass": body, "size": [0.4, 0.3, 0.06], "center_of_mass": center},
            "tracks": {
                name: track | {"mount": {"xyz": [0.0, y, 0.0]}}
                for name, y in (("left", 0.2), ("right", -0.2))
            },
        }
    )


def largest_step(friction, ahead, above, height):
    """Largest step [m] by statics: the edge alone bears the weight as the centre of mass passes over it."""
    a, b = HALF_BASE + ahead, above
    t = np.linspace(0.0, min(math.atan(friction), 1.4), 20001)
    return float(np.max(a * np.sin(t) - b * np.sin(t) * np.tan(t) + RADIUS * (1 - 1 / np.cos(t)) + height))


def climbs(vehicle, track_model, height, speed, time_step, engine="native"):
    """Whether a vehicle gets onto a step of a height [m] with belts at a speed [m/s]."""
    with segtrack.World(engine=engine, time_step=time_step) as world:
        world.add_terrain(terrain.Step(height=height, distance=0.4))
        robot = world.add_vehicle(vehicle, track_model=track_model)
        world.settle()
        robot.set_belt_speed(speed, speed)
        for _ in range(math.ceil(3.2 / speed)):
            world.run(0.5)
            if robot.state.position[2] > height + 0.08 and abs(robot.state.pitch) < 0.1:
                return True
    return False


def tipping_angle(vehicle, track_model, time_step=0.004, engine="native"):
    """Slope at which a vehicle on it, its nose up, tips over [deg], as gravity turns by 0.5 deg a second."""
    with segtrack.World(engine=engine, time_step=time_step) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model=track_model)
        world.settle()
        angle = 20.0
        while abs(robot.state.pitch) < 0.05 and angle < 80.0:
            angle += 0.1
            slope = math.radians(angle)
            world.set_gravity((-9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope)))
            world.run(0.1)
        return angle


def fall(vehicle, time_step, engine="native"):
    """Heights of a vehicle over that at rest, every 4 ms for 1.2 s after it is let go at 0.3 m (n,) [m]."""
    with segtrack.World(engine=engine, time_step=time_step) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="compliant")
        world.settle()
        x, y, z = robot.state.position
        robot.reset_base_pose((x, y, z + 0.3))
        heights = []
        for _ in range(300):
            world.run(0.004)
            heights.append(robot.state.position[2] - z)
    return np.array(heights)
