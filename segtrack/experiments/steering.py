"""Steady turns: on the spot, on a slope, through arcs, and those of planar friction alone.

A scene drives with constant belt speeds until the motion is steady, then over a whole number of
grouser pitches. A slope is flat ground under gravity that leans back from the world's x axis. The loads
that are read meanwhile, pooled, are those for which `planar_friction` says how the vehicle should move.

`drive_turns` simulates many turns one by one on flat ground, and `uniform_turns` takes them from planar
friction alone. Every turn starts from the same state, so that results do not depend on who simulates which.
It is measured over `TURN_TIME`, once the faster belt has run as far as it lies on the ground.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from segtrack.description import TrackOffsets, VehicleDescription, place_tracks
from segtrack.engine import EngineName, resolve
from segtrack.errors import InvalidValueError, finite
from segtrack.experiments.contact_loads import watch
from segtrack.geometry import GRAVITY, balance_friction, uniform_tracks
from segtrack.robot import Robot, RobotState
from segtrack.terrain import Plane
from segtrack.world import World

TURNING_SPEED = 0.2
"""Speed of the belts on the spot, and of an arc's middle [m/s]."""
TURNING_SLOPE = math.radians(15.0)
"""[rad]"""
_SPIN_UP, _MEASURED = 0.6, 2.0
_PITCHES = 4
"""Smallest number of pitches that a belt travels while it is measured."""
_HARDLY = 0.02
"""Fraction of the yaw rate without slip below which ratios say nothing."""
_LEVEL = 1e-6
"""Within this height a belt's path is on the ground [m]."""
_ON_SLOPE = 10.0
"""Duration of a turn on a slope [s]."""
_HEADING = 5
"""Readings during which it keeps its heading, nearly."""
TURN_TIME = 1.0
"""Time over which a turn of `drive_turns` is measured [s]."""
_SETTLE, _SAMPLE = 0.3, 0.1
"""Time before it, besides the belts' way, and between two readings [s]."""
_POINTS = (40, 5)
"""Along and across a track under uniform pressure: yaw rates are within 0.2 % of those of many more."""


@dataclass(frozen=True)
class Rig:
    """Vehicle with its engine, track model and start.

    Attributes:
        vehicle: Description of the vehicle.
        flippers: Flipper angles by name [rad]; 0 if not given.
        track_model: Name of a track model.
        engine: native, pybullet or mujoco; by default the one that runs the track model.
        heading: Heading at the start [rad].
    """

    vehicle: VehicleDescription
    flippers: Mapping[str, float] = field(default_factory=dict)
    track_model: str = "segments"
    engine: EngineName | None = None
    heading: float = 0.0

    @property
    def sides(self) -> TrackOffsets:
        """Lateral offsets of the left and the right tracks on the body.

        Raises:
            InvalidValueError: The body lacks tracks on a side.
        """
        return self.vehicle.require_track_offsets()

    @property
    def gauge(self) -> float:
        """Distance between the middles of left and right tracks on the body [m]."""
        return self.sides.gauge

    @property
    def ground_length(self) -> float:
        """Length from the rearmost to the foremost point of the belts on flat ground [m]."""
        outlines = [
            track.frame.plane_points(track.mounted.spec.belt_path.outline())
            for track in place_tracks(self.vehicle, self.flippers)
        ]
        points = np.concatenate(outlines)
        down = points[:, 2] < points[:, 2].min() + _LEVEL
        return float(np.ptp(points[down, 0]))


@dataclass(frozen=True)
class SteadyMotion:
    """Mean motion of a vehicle over the ground.

    Attributes:
        yaw_rate: Yaw rate, to the left positive [rad/s].
        slip: Slip of the left and of the right tracks, 1 - v_ground / v_belt as published, without the
            bounds of `Track.slip` (2,) [-].
        creep: Velocity of the centre of mass down the slope [m/s]; 0 on flat ground.
    """

    yaw_rate: float
    slip: tuple[float, float]
    creep: float


@dataclass(frozen=True)
class Steered:
    """Result of a vehicle in steady steering.

    Attributes:
        belts: Speeds of the left and of the right belts (2,) [m/s].
        gauge: Distance between the tracks' middles [m].
        measured: Simulated motion.
        expected: Motion by planar friction under the simulated loads.
        real_time_factor: Simulated over elapsed time during the measurement [-].
    """

    belts: tuple[float, float]
    gauge: float
    measured: SteadyMotion
    expected: SteadyMotion
    real_time_factor: float

    @property
    def no_slip_rate(self) -> float:
        """Yaw rate for belts without slip [rad/s]."""
        return TrackOffsets.centred(self.gauge).twist(*self.belts)[1]

    @property
    def over_no_slip(self) -> float:
        """Ratio of the simulated yaw rate to the no-slip one [-]."""
        return self.measured.yaw_rate / self.no_slip_rate

    @property
    def over_expected(self) -> float | None:
        """Ratio of the simulated yaw rate to that of planar friction [-]; None if that is near 0."""
        if abs(self.expected.yaw_rate) < _HARDLY * abs(self.no_slip_rate):
            return None
        return self.measured.yaw_rate / self.expected.yaw_rate


def turn_on_the_spot(rig: Rig, speed: float = TURNING_SPEED) -> Steered:
    """Turn on flat ground with left belts at -speed and right belts at speed [m/s]."""
    return steer(rig, -speed, speed)


def turn_on_a_slope(rig: Rig, speed: float = TURNING_SPEED) -> Steered:
    """Turn on `TURNING_SLOPE`, starting nose up, with left belts at -speed and right belts at speed [m/s]."""
    return steer(rig, -speed, speed, TURNING_SLOPE)


def drive_an_arc(rig: Rig, radius: float, speed: float = TURNING_SPEED) -> Steered:
    """Drive an arc to the left on flat ground, at the belt speeds that would follow it without slip.

    Args:
        rig: Vehicle with engine and track model.
        radius: Radius of the arc, midway between the tracks [m], > 0 and not half the gauge.
        speed: Speed midway between the tracks [m/s].
    """
    if finite("radius [m]", radius) <= 0:
        raise InvalidValueError("radius [m]", "greater than 0", radius)
    bend = rig.gauge / (2 * radius)
    left, right = speed * (1 - bend), speed * (1 + bend)
    # Faces that stick, as on a wide arc, are as they were set down: all have to be set down anew.
    renewed = rig.ground_length / min(abs(left), abs(right)) if left * right else _SPIN_UP
    return steer(rig, left, right, spin_up=max(_SPIN_UP, renewed))


def steer(rig: Rig, left: float, right: float, slope: float = 0.0, spin_up: float = _SPIN_UP) -> Steered:
    """Simulate constant belt speeds, and compare with planar friction.

    Args:
        rig: Vehicle with engine and track model.
        left: Belt speed of the left side [m/s], not 0.
        right: Belt speed of the right side [m/s], different from `left` and not 0.
        slope: Slope of the ground, nose up at the start [rad].
        spin_up: Duration of driving before the measurement [s].

    Raises:
        InvalidValueError: Belt speeds that are not so, an engine that does not run the track model, a
            slope that friction cannot hold, or contacts with something else than tracks.
    """
    belts = (finite("left belt speed [m/s]", left), finite("right belt speed [m/s]", right))
    if left == right or 0.0 in belts:
        raise InvalidValueError("belt speeds [m/s]", "different and not 0", belts)
    engine, track_model = resolve(rig.engine, rig.track_model)
    downhill = np.array([-math.sin(slope), 0.0, -math.cos(slope)])
    with World(engine=engine) as world:
        world.add_terrain(Plane())
        world.set_gravity((GRAVITY * downhill).tolist())
        robot = world.add_vehicle(
            rig.vehicle, track_model=track_model, yaw=rig.heading, flippers=rig.flippers
        )
        robot.set_belt_speed(left, right)
        world.run(spin_up)
        ride = watch(world, robot, _ON_SLOPE if slope else _whole_pitches(rig, max(map(abs, belts))))
        weight, center = robot.mass * GRAVITY, _center_of_mass(robot)
    twists, axes = [], []
    for turn, loads in ride.windows(_HEADING if slope else len(ride.loads)):
        pull = weight * downhill[0] * turn[0, :2]
        motion = balance_friction(loads.planar(center[:2]), pull.tolist())
        twists.append([*motion.velocity, motion.yaw_rate])
        axes.append(turn)
    sides = np.array(rig.sides) - center[1]
    return Steered(
        belts=belts,
        gauge=rig.gauge,
        measured=_mean(ride.twists(center), ride.rotations[1:], belts, sides, slope),
        expected=_mean(np.array(twists), np.array(axes), belts, sides, slope),
        real_time_factor=ride.real_time_factor,
    )


def _center_of_mass(robot: Robot) -> NDArray[np.float64]:
    """Centre of mass of the whole robot in its body frame (3,) [m]."""
    bodies, body = robot.bodies(), robot.body_motion()
    middle = bodies.masses @ bodies.positions / bodies.masses.sum()
    return (middle - body.position) @ body.rotation


def _whole_pitches(rig: Rig, speed: float) -> float:
    """Duration of a whole number of grouser pitches at a belt speed [s]."""
    track = next(rig.vehicle.mounted_tracks()).spec
    if track.grousers is None:
        return _MEASURED
    return max(_PITCHES, round(_MEASURED * speed / track.pitch)) * track.pitch / speed


def _mean(
    twists: NDArray[np.float64],
    axes: NDArray[np.float64],
    belts: tuple[float, float],
    sides: NDArray[np.float64],
    slope: float,
) -> SteadyMotion:
    """Average motions of the centre of mass.

    Args:
        twists: Forward velocity, left velocity and yaw rate (n, 3) [m/s, m/s, rad/s].
        axes: Rotations from the body frame to the world (n, 3, 3).
        belts: Belt speeds of the left and right side [m/s].
        sides: Offsets of the sides to the left of the centre of mass (2,) [m].
        slope: Slope of the ground, which rises along the world's x [rad].
    """
    forward, _, rate = twists.mean(axis=0)
    left, right = 1 - (forward - rate * sides) / belts
    creep = -np.einsum("nj,nj->n", axes[:, 0, :2], twists[:, :2]).mean() if slope else 0.0
    return SteadyMotion(float(rate), (float(left), float(right)), float(creep))


@dataclass(frozen=True, eq=False)
class DrivenTurns:
    """Results of n turns.

    Attributes:
        yaw_rate: Yaw rate, to the left positive (n,) [rad/s].
        tracks: Ground speeds of the left and of the right track (n, 2) [m/s].
        simulated: Total simulated time [s]; 0 without a simulator.
        elapsed: Total wall time [s].
    """

    yaw_rate: NDArray[np.float64]
    tracks: NDArray[np.float64]
    simulated: float = 0.0
    elapsed: float = 0.0


def drive_turns(
    vehicle: VehicleDescription,
    belts: NDArray[np.float64],
    track_model: str,
    engine: EngineName | None = None,
) -> DrivenTurns:
    """Simulate turns one by one, each from the start.

    Args:
        vehicle: Vehicle to drive.
        belts: Speeds of the left and the right belts (n, 2) [m/s].
        track_model: Name of a track model.
        engine: native, pybullet or mujoco; by default the one that runs the track model.

    Raises:
        UnknownNameError: No such track model or engine.
        InvalidValueError: An engine that does not run the track model, or a body without tracks on a side.
        DivergedError: The simulation broke down.
    """
    name, model = resolve(engine, track_model)
    length, sides = vehicle.contact_length, np.array(vehicle.require_track_offsets())
    rates, forward, elapsed, simulated = [], [], 0.0, 0.0
    with World(engine=name) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=model)
        for left, right in belts.tolist():
            world.reset()
            robot.set_belt_speed(left, right)
            fastest = max(abs(left), abs(right))
            states = []
            pieces = [_SETTLE + (length / fastest if fastest else 0.0)]
            for piece in pieces + [_SAMPLE] * round(TURN_TIME / _SAMPLE):
                world.run(piece)
                states.append(robot.state)
                simulated += piece
                elapsed += piece / world.real_time_factor
            yaws = np.unwrap([state.yaw for state in states])
            rates.append(float(yaws[-1] - yaws[0]) / TURN_TIME)
            forward.append(_forward_speed(states))
    yaw_rate = np.array(rates)
    return DrivenTurns(yaw_rate, np.array(forward)[:, None] - yaw_rate[:, None] * sides, simulated, elapsed)


def uniform_turns(vehicle: VehicleDescription, belts: NDArray[np.float64]) -> DrivenTurns:
    """Compute turns by planar friction under uniform pressure on the tracks, without a simulator.

    Args:
        vehicle: Vehicle; its gauge, contact length, track width and friction are used.
        belts: Speeds of the left and the right belts (n, 2) [m/s].

    Raises:
        InvalidValueError: A body without tracks on a side.
    """
    length, sides = vehicle.contact_length, np.array(vehicle.require_track_offsets())
    first = next(vehicle.mounted_tracks()).spec
    friction = (first.contact.friction, first.contact.friction * first.contact.lateral_ratio)
    gauge = float(sides[0] - sides[1])
    motions = [
        balance_friction(uniform_tracks(length, first.width, gauge, friction, left, right, _POINTS))
        for left, right in belts.tolist()
    ]
    rates = np.array([motion.yaw_rate for motion in motions])
    forward = np.array([motion.velocity[0] for motion in motions])
    return DrivenTurns(rates, forward[:, None] - rates[:, None] * np.array([gauge / 2, -gauge / 2]))


def _forward_speed(states: Sequence[RobotState]) -> float:
    """Mean speed along the heading, which is taken midway between samples [m/s]."""
    yaws = np.unwrap([state.yaw for state in states])
    steps = np.diff([state.position[:2] for state in states], axis=0)
    middles = (yaws[1:] + yaws[:-1]) / 2
    return float((steps[:, 0] @ np.cos(middles) + steps[:, 1] @ np.sin(middles)) / TURN_TIME)
