"""Simulated drives written down as logs, in frames of their own."""

import math
from collections.abc import Callable

import numpy as np

from segtrack.description import load_vehicle
from segtrack.engine import resolve
from segtrack.logs import Motion
from segtrack.logs.mapping import LoadedTerrain, parse_terrain
from segtrack.logs.replay import MotionRecorder, Shift, first_touch
from segtrack.robot import Robot
from segtrack.world import World

BEGIN = 100.0
"""Time on a log's clock at which it begins [s]."""
TICK = 0.01


def step(height: float, x: float = 1.0) -> LoadedTerrain:
    """A step of a height [m] on level ground, its face at x [m]."""
    piece = f"{{step: {{height: {height}, length: 3.0}}, place: {{x: {x}}}, width: 2.4}}"
    return parse_terrain(f"terrain: [{piece}]", "step")


LEVEL = parse_terrain("friction: 1.0", "level")


def climb(
    vehicle,
    terrain: LoadedTerrain,
    *,
    speed: float = 0.2,
    front: float = 45.0,
    rear: float = 5.0,
    way: float = 0.5,
    seconds: float = 3.0,
    wait: float = 0.3,
    track_model: str = "compliant",
    engine: str | None = "native",
    observer: Callable[[float, Robot], object] | None = None,
) -> Motion:
    """A vehicle that stands, and then drives at an obstacle, in the terrain's frame.

    Args:
        vehicle: Name or description.
        terrain: With an obstacle.
        speed: Of its belts [m/s].
        front: Angle of its front flippers [deg].
        rear: Angle of its rear flippers [deg].
        way: That it is before its first touch [m].
        seconds: How long it drives [s].
        wait: How long it stands [s].
        track_model: Of its tracks.
        engine: That runs it.
        observer: Called with the time and the robot at each sample.
    """
    description = load_vehicle(vehicle) if isinstance(vehicle, str) else vehicle
    angles = {
        name: math.radians(front if flipper.tip_direction == "front" else rear)
        for name, flipper in description.flippers.items()
    }
    start = first_touch(description, angles, terrain.obstacle).x - way
    engine, _ = resolve(engine, track_model)
    with World("exact", engine=engine, resettable=False) as world:
        for ground in terrain.terrains:
            world.add_terrain(ground)
        robot = world.add_vehicle(
            description, track_model=track_model, position=(start, 0.0), flippers=angles
        )
        world.settle()
        recorder = MotionRecorder(robot, "climb")
        ticks = round((wait + seconds) / TICK)
        for tick in range(ticks + 1):
            command = speed if tick >= round(wait / TICK) else 0.0
            robot.set_belt_speed(command, command)
            recorder.sample(BEGIN + tick * TICK, angles)
            if observer is not None:
                observer(BEGIN + tick * TICK, robot)
            if tick < ticks:
                world.run(TICK)
    return recorder.motion()


def disguised(motion: Motion, degrees: float = 30.0, x: float = 3.0, y: float = -2.0) -> Motion:
    """The same in a frame that is turned and shifted."""
    return Shift(math.radians(degrees), x, y).moved(motion)


def differences(one: Motion, other: Motion) -> dict[str, float]:
    """Largest differences at the times of the other: of position [m], and of pitch and yaw [rad]."""
    times = other.signals["position"].times
    apart = one.signals["position"].at(times) - other.signals["position"].values
    return {"position": float(np.linalg.norm(apart, axis=1).max())} | {
        name: float(np.abs(one.angle(name).at(times) - other.angle(name).values).max())
        for name in ("pitch", "yaw")
    }
