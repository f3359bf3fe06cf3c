"""Height of the ground, robots placed on it and brought to rest there by dynamic relaxation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import Bodies, Engine
from segtrack.errors import InvalidValueError, Phrase, finite
from segtrack.geometry import rotation_of
from segtrack.robot import CommandLimits, Commands, Robot
from segtrack.terrain import Terrain, points_of


@dataclass(frozen=True)
class SettleResult:
    """Result of bringing bodies to rest, and how far from equilibrium they stopped.

    Attributes:
        converged: True if forces and kinetic energy are within the tolerance.
        time: Simulated settling time [s].
        kinetic_energy: Residual [J].
        dissipated_energy: Kinetic energy and that of weight dissipated [J].
        max_residual_force: Largest unbalanced force on a body [N].
    """

    converged: bool
    time: float
    kinetic_energy: float
    dissipated_energy: float
    max_residual_force: float


def relaxation_rate(gravity: float, length: float) -> float:
    """Damping rate [1/s] that suits any motion under gravity: sqrt(4 g / length).

    The slowest motion, a chain swinging from one end, has the frequency 1.2 sqrt(g / length) and
    is then nearly critically damped. Everything faster decays at half the rate.

    Args:
        gravity: Magnitude [m/s^2], > 0.
        length: Largest extent of what moves [m], > 0.
    """
    return math.sqrt(4 * gravity / length)


def settle(
    advance: Callable[[int, float], object],
    measure: Callable[[], Bodies],
    *,
    time_step: float,
    gravity: Sequence[float],
    weight: float,
    length: float,
    tolerance: float,
    max_time: float,
) -> SettleResult:
    """Let bodies come to rest.

    Args:
        advance: Takes a number of steps, given a damping rate [1/s].
        measure: Returns the bodies after the latest step.
        time_step: Duration of a step [s].
        gravity: Gravity in the world (3,) [m/s^2], not zero.
        weight: Reference for forces [N].
        length: Largest extent of what moves [m].
        tolerance: Bound for rest, where no body has an unbalanced force above this fraction of `weight`, and
            kinetic energy is at most `weight` times `length` times the fraction squared.
        max_time: Simulated time after which to give up [s].

    Returns:
        Convergence flag, energies and residual force.
    """
    down = np.asarray(gravity, dtype=float)
    rate = relaxation_rate(float(np.linalg.norm(down)), length)
    count = max(1, math.ceil(0.1 / rate / time_step))
    window, spent = count * time_step, 0.0
    before = measure()
    begin = _energy(before, down)
    while True:
        advance(count, rate)
        spent += window
        now = measure()
        # What the damping takes away is what keeps a body from speeding up.
        gained = (now.velocities - before.velocities) / window + rate * now.velocities
        force = float(np.max(now.masses * np.linalg.norm(gained, axis=1)))
        converged = force <= tolerance * weight and now.kinetic_energy <= tolerance**2 * weight * length
        if converged or spent >= max_time:
            dissipated = begin - _energy(now, down)
            return SettleResult(bool(converged), spent, now.kinetic_energy, dissipated, force)
        before = now


def _energy(bodies: Bodies, gravity: NDArray[np.float64]) -> float:
    """Kinetic energy and that of weight [J]."""
    return bodies.kinetic_energy - float(bodies.masses @ (bodies.positions @ gravity))


_BOX_SAMPLES = 41
"""Along each side of a vehicle's box."""
_ALONG = np.arange(_BOX_SAMPLES, dtype=float)


def points_below(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """World x and y of points below upright boxes, in which the ground counts that vehicles must clear.

    Args:
        low: Smallest x and y of the boxes (..., 2) [m].
        high: Largest, likewise [m].

    Returns:
        x and y, of one shape (..., samples, samples) [m].
    """
    low, high = low[..., None], high[..., None]
    lines = low + (high - low) / (_BOX_SAMPLES - 1) * _ALONG  # As `np.linspace`.
    lines[..., -1:] = high
    x, y = np.broadcast_arrays(lines[..., 0, None, :], lines[..., 1, :, None])
    return x, y


def height_of(terrains: Sequence[Terrain], x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Height of the ground [m] at points (x, y) of any shape [m]; -inf where there is none.

    Raises:
        InvalidValueError: Not numbers of shapes that broadcast.
    """
    x, y = points_of(x, y)
    heights = np.where(np.isnan(x) | np.isnan(y), np.nan, -np.inf)
    for terrain in terrains:
        heights = np.maximum(heights, terrain.height_at(x, y))
    return heights


def check_ground(terrains: Sequence[Terrain], point: Sequence[float]) -> None:
    """Refuse to find a height where there is no ground to find.

    Args:
        terrains: All there are; none is flat ground at z = 0.
        point: Point in the world (2,) [m].

    Raises:
        InvalidValueError: No terrain there has heights to sample.
    """
    try:
        ground = not terrains or bool(np.isfinite(height_of(terrains, *point)))
    except InvalidValueError:
        ground = False
    if not ground:
        expected = "given with a height where terrain has none to sample"
        raise InvalidValueError("position [m]", expected, point)


def clearing_height(robot: Robot, terrains: Sequence[Terrain]) -> float:
    """Return the lift [m] after which a robot just clears the terrain under its bounding box."""
    low, high = map(np.array, robot.bounds())
    ground = float(np.max(height_of(terrains, *points_below(low[:2], high[:2])))) if terrains else 0.0
    return ground - float(low[2])


def surface_of(
    low: NDArray[np.float64], high: NDArray[np.float64], rotation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Points on the sides and the bottom of a turned box, in the world's axes (n, 3) [m].

    Args:
        low: Smallest corner of the box, in its frame (3,) [m].
        high: Largest corner (3,) [m].
        rotation: From the box's frame to the world (3, 3).
    """
    x, y, z = np.linspace(low, high, _BOX_SAMPLES).T
    faces = [np.meshgrid(x, y, low[2]), *(np.meshgrid(end, y, z) for end in (low[0], high[0]))]
    faces += [np.meshgrid(x, end, z) for end in (low[1], high[1])]
    points = np.concatenate([np.stack(face, axis=-1).reshape(-1, 3) for face in faces])
    return np.asarray(points @ rotation.T)


def leaning_height(
    robot: Robot, terrains: Sequence[Terrain], x: float, y: float, attitude: Attitude
) -> float:
    """Height of its frame [m] at which a robot's box, which leans with it, just clears the terrain.

    Args:
        robot: Robot, which is moved to the world's origin.
        terrains: All there are; none is flat ground at z = 0.
        x: Coordinate of its body frame [m].
        y: Coordinate of its body frame [m].
        attitude: Roll, pitch and yaw [rad].
    """
    robot.reset_base_pose((0.0, 0.0, 0.0))
    low, high = map(np.array, robot.bounds())
    points = surface_of(low, high, attitude_rotation(attitude))
    grounds = height_of(terrains, x + points[:, 0], y + points[:, 1]) if terrains else np.zeros(len(points))
    return float(np.max(grounds - points[:, 2]))


Attitude = tuple[float, float, float]
"""Roll, pitch (nose up positive) and yaw [rad]."""


def attitude_rotation(attitude: Attitude) -> NDArray[np.float64]:
    """Rotation (3, 3) from the frame of a body of an attitude to the world."""
    roll, pitch, yaw = attitude
    return rotation_of((roll, -pitch, yaw))


def check_flippers(vehicle: VehicleDescription, angles: Mapping[str, float] | None) -> dict[str, float]:
    """Angle of every flipper [rad], within its limits; 0 where none is given.

    Raises:
        UnknownNameError: There is no such flipper.
        InvalidValueError: Not angles by name, or an angle is not finite.
    """
    given = Commands(vehicle, (), CommandLimits.of(vehicle, ())).start_angles(angles)
    return dict(zip(vehicle.flippers, map(float, given), strict=True))


def heading_quaternion(yaw: float) -> tuple[float, float, float, float]:
    """Return the quaternion (x, y, z, w) of a heading about the world's z axis [rad]."""
    half = finite("yaw [rad]", yaw) / 2
    return 0.0, 0.0, math.sin(half), math.cos(half)


def settle_robots(engine: Engine, robots: Sequence[Robot], tolerance: float, max_time: float) -> SettleResult:
    """Bring all robots of an engine to rest, their belts held.

    Args:
        engine: Engine of the robots.
        robots: All there are.
        tolerance: See `World.settle`.
        max_time: Simulated time after which to give up [s].

    Raises:
        InvalidValueError: There is no robot or no gravity, or a number is not positive.
        DivergedError: A robot is no longer finite, or absurdly fast.
    """
    for name, value in (("tolerance", tolerance), ("max_time [s]", max_time)):
        if finite(name, value) <= 0:
            raise InvalidValueError(name, "greater than 0", value)
    gravity = engine.gravity
    if not robots or gravity[2] >= 0:
        got = Phrase("no robot" if not robots else f"a gravity of {-gravity[2]:g} m/s^2")
        raise InvalidValueError("world that settles", "one with robots, and gravity downwards", got)
    boxes = [np.array(robot.bounds()) for robot in robots]
    commands = [(track, track.command, track.pedals) for robot in robots for track in robot.tracks.values()]
    for track, *_ in commands:
        track.set_speed(0.0)
    try:
        return settle(
            engine.advance,
            lambda: _bodies_of(robots),
            time_step=engine.time_step,
            gravity=gravity,
            weight=math.hypot(*gravity) * min(robot.mass for robot in robots),
            length=max(float(np.max(high - low)) for low, high in boxes),
            tolerance=tolerance,
            max_time=max_time,
        )
    finally:
        for track, command, pedals in commands:
            track.set_speed(command)
            if pedals is not None:
                track.set_throttle(*pedals)


def _bodies_of(robots: Sequence[Robot]) -> Bodies:
    each = [robot.bodies() for robot in robots]
    return Bodies(
        np.concatenate([bodies.masses for bodies in each]),
        np.concatenate([bodies.positions for bodies in each]),
        np.concatenate([bodies.velocities for bodies in each]),
        sum(bodies.kinetic_energy for bodies in each),
    )
