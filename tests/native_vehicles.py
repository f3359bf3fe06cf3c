"""Vehicles in the native engine, on flat ground."""

import segtrack
from segtrack import terrain

SPRUNG = ("m113", "m113_rear_drive")
"""Those on springs, whose energy is not their bodies' alone and which PyBullet takes in steps of 0.3 ms;
their right wheels are 0.1 m off the left ones."""
ROBOTS = sorted(name for name in segtrack.bundled_vehicles() if name != "conveyor")


def plane(vehicle="quince", *, settled=True, **given):
    """A native world with a vehicle at rest on flat ground."""
    world = segtrack.World(
        engine="native", **{k: given.pop(k) for k in ("time_step", "preset") if k in given}
    )
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, **given)
    if settled:
        world.settle()
        world.run(0.1)
    return world, robot
