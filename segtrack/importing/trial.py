"""Trial drive of an imported robot: weight on its belts, 0.5 m straight on, a turn, and its yaw rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.experiments import Rig, belt_share, turn_on_the_spot
from segtrack.importing.findings import ImportFinding
from segtrack.terrain import Plane
from segtrack.world import World

_DISTANCE, _SPEED = 0.5, 0.2
"""Way straight on [m], and speed of the belts [m/s]."""
_SETTLE = 0.5
_TURN = 2.0
"""Time of settling and of turning [s]."""
_OFF, _FAR_OFF = 0.03, 0.15
"""Relative deviations of weight and yaw rate, and of the way straight on, that are remarked [-]."""
_SLICES = 20
"""Number of times that the yaw is read in a turn, so that whole turns count."""
_MODEL = "compliant"


@dataclass(frozen=True)
class TrialDrive:
    """Result of a trial drive.

    Attributes:
        belt_share: Weight on belts over the weight, at rest [-].
        distance: Way driven forward where 0.5 m are asked for [m].
        drift: Way driven to the left meanwhile [m].
        turned: Angle turned to the right in 2 s [rad].
        over_friction: Yaw rate over that of planar friction under the loads of the turn [-]; None where that
            is 0.
    """

    belt_share: float
    distance: float
    drift: float
    turned: float
    over_friction: float | None

    def remarks(self) -> tuple[ImportFinding, ...]:
        """Remarks on a drive that is not as it should be."""
        found = []
        if self.belt_share < 1 - _OFF:
            why = "the rest is on other shapes: a track may be missing; look at the picture"
            found.append(
                ImportFinding("remark", "trial drive", f"{self.belt_share:.0%} of the weight on belts", why)
            )
        if abs(self.distance / _DISTANCE - 1) > _FAR_OFF:
            why = "a drive that is too weak, or grousers that are high for the pulley they stand on"
            found.append(ImportFinding("remark", "trial drive", f"{self.distance:.2f} m for 0.5 m", why))
        if self.over_friction is None or abs(self.over_friction - 1) > _OFF:
            why = "it rocks, hardly turns on this ground, or touches it with more than its belts"
            found.append(ImportFinding("remark", "trial drive", "it does not turn as friction says", why))
        return tuple(found)


def drive_trial(vehicle: VehicleDescription, engine: EngineName = "native") -> TrialDrive:
    """Drive a vehicle on flat ground: 0.5 m straight on, and a turn to the right on the spot.

    Args:
        vehicle: Vehicle to drive, flippers at 0.
        engine: Engine to drive it in.

    Raises:
        SegtrackError: The engine cannot build the vehicle, or it diverges.
    """
    slowest = min(track.spec.drive.top_speed for track in vehicle.mounted_tracks())
    speed = min(_SPEED, 0.8 * slowest)
    share = belt_share(vehicle)
    with World(engine=engine) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=_MODEL)
        world.run(_SETTLE)
        start = robot.state
        robot.set_belt_speed(speed, speed)
        world.run(_DISTANCE / speed)
        x, y = (b - a for a, b in zip(start.position[:2], robot.state.position[:2], strict=True))
        ahead = math.cos(start.yaw) * x + math.sin(start.yaw) * y
        aside = math.cos(start.yaw) * y - math.sin(start.yaw) * x
        robot.set_belt_speed(0.0, 0.0)
        world.run(_SETTLE)
        yaws = [robot.state.yaw]
        robot.set_belt_speed(speed, -speed)
        for _ in range(_SLICES):
            world.run(_TURN / _SLICES)
            yaws.append(robot.state.yaw)
        turned = float(-np.diff(np.unwrap(yaws)).sum())
    steered = turn_on_the_spot(Rig(vehicle, track_model=_MODEL, engine=engine), speed)
    return TrialDrive(share, ahead, aside, turned, steered.over_expected)
