"""Start of a replay: the vehicle at rest at the log's first pose, or rolling through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from segtrack.description import VehicleDescription
from segtrack.logs.replay.path import Place, Shift, odometry_arc
from segtrack.logs.replay.settings import ReplayScene
from segtrack.robot import Robot
from segtrack.world import World

ROLLING = 0.02
"""A log whose belts are faster than this when it begins is one that begins in motion [m/s]."""
_ACCELERATION = 1.0
"""Acceleration of belts to their first speed before a log that begins in motion [m/s^2]."""
_RUN_UP = 0.3
"""Time for which they hold it before the log begins, besides three times the lag of their drives [s]."""


class RunUp(NamedTuple):
    """Run-up of a log that begins in motion.

    Attributes:
        place: Pose at which it begins, for belts that do not slip.
        ramp: Time in which the belts get to their speeds [s].
        hold: Time for which they hold them [s].
    """

    place: Place
    ramp: float
    hold: float


def place_vehicle(
    world: World,
    scene: ReplayScene,
    vehicle: VehicleDescription,
    start: Place,
    flippers: Mapping[str, float],
) -> Robot:
    """Build a scene's terrain in an empty world, and put a vehicle just above it.

    Args:
        world: The world.
        scene: Terrain, and track model.
        vehicle: The scene's, or a variant of it.
        start: Pose of the body frame.
        flippers: Angles by name [rad].
    """
    for terrain in scene.terrain.terrains:
        world.add_terrain(terrain)
    return world.add_vehicle(
        vehicle, track_model=scene.track_model, position=start[:2], yaw=start.yaw, flippers=flippers
    )


def run_up(
    vehicle: VehicleDescription, flippers: Mapping[str, float], start: Place, speeds: Sequence[float]
) -> RunUp | None:
    """The run-up through a pose, flippers at angles [rad], belts at speeds, left and right [m/s].

    None for belts that stand.
    """
    fastest = max(map(abs, speeds))
    if fastest <= ROLLING:
        return None
    ramp = fastest / _ACCELERATION
    hold = _RUN_UP + 3 * max(track.spec.drive.lag for track in vehicle.mounted_tracks())
    behind = odometry_arc(vehicle, flippers, speeds, ramp / 2 + hold)
    return RunUp(Shift.between(behind, start).of(Place(0.0, 0.0, 0.0)), ramp, hold)


def bring_to_start(world: World, robot: Robot, start: Place, speeds: Sequence[float]) -> None:
    """Let a robot settle at a place, or roll to it, so that its belts have their speeds there [m/s]."""
    world.settle()
    flippers = {name: flipper.angle for name, flipper in robot.flippers.items()}
    rolling = run_up(robot.description, flippers, start, speeds)
    if rolling is None:
        return
    place, ramp, hold = rolling
    at_rest = world.save()
    for _ in range(2):
        world.restore(at_rest)
        world.place_on_terrain(robot, *place)
        world.settle()
        steps = round(ramp / world.time_step)
        for k in range(steps + 1):
            left, right = (speed * min((k + 1) / max(steps, 1), 1.0) for speed in speeds)
            robot.set_belt_speed(left, right)
            world.run(world.time_step if k < steps else hold)
        state = robot.state
        # The second time it begins as much farther as it fell short of its start by slip.
        reached = Place(state.position[0], state.position[1], state.yaw)
        place = Shift.between(reached, start).of(place)
    world.remove_snapshot(at_rest)
