"""Reading, telling and setting back a belt's joints: PyBullet's tuples become names here, once."""

from __future__ import annotations

from typing import NamedTuple

import pybullet

from segtrack.bullet.model import BuiltTrack
from segtrack.geometry.phase import wrap_travel


class BeltReading(NamedTuple):
    """A belt as its joints show it.

    Attributes:
        phase: Travel since home, within half a period unless the belt is never set back [m].
        speed: [m/s]
        force: What the motors exert along the belt's travel [N].
    """

    phase: float
    speed: float
    force: float


class MotorReader:
    """Reads all the driven joints of a vehicle in one call."""

    def __init__(self, client: int, body: int, tracks: tuple[BuiltTrack, ...]) -> None:
        """Note which joints to read."""
        self._client, self._body = client, body
        self._ratios = [[track.jointed.ratios[m] for m in track.motors] for track in tracks]
        self._joints = [track.jointed.joints[m] for track in tracks for m in track.motors]

    def read(self) -> list[BeltReading]:
        """The belts, in the order of the tracks."""
        states = iter(pybullet.getJointStates(self._body, self._joints, physicsClientId=self._client))
        belts = []
        for ratios in self._ratios:
            position, speed, _, torque = next(states)
            k = ratios[0]
            force = torque * k
            for other in ratios[1:]:
                force += next(states)[3] * other
            belts.append(BeltReading(position / k, speed / k, force))
        return belts


def tell_motors(client: int, track: BuiltTrack, speed: float, limit: float) -> None:
    """Give a belt's motors a target speed [m/s] and a force limit [N], which they share."""
    jointed = track.jointed
    ratios = [jointed.ratios[m] for m in track.motors]
    pybullet.setJointMotorControlArray(
        jointed.body,
        [jointed.joints[m] for m in track.motors],
        pybullet.VELOCITY_CONTROL,
        targetVelocities=[speed * k for k in ratios],
        forces=[limit / len(ratios) / abs(k) for k in ratios],
        physicsClientId=client,
    )


def roll_back(client: int, track: BuiltTrack, phase: float) -> float:
    """Set a belt back into its period (Okada et al. 2020, section III-C).

    All segments are seated on exactly one phase, in one call, with their velocities
    kept; what contact solving let slip between them is gone.

    Args:
        client: PyBullet's client number.
        track: The belt.
        phase: Its phase now [m].

    Returns:
        Its phase after [m].
    """
    jointed = track.jointed
    folded = wrap_travel(phase, track.period) if track.period else 0.0
    states = pybullet.getJointStates(jointed.body, jointed.joints, physicsClientId=client)
    pybullet.resetJointStatesMultiDof(
        jointed.body,
        jointed.joints,
        [[folded * k] for k in jointed.ratios],
        [[state[1]] for state in states],
        physicsClientId=client,
    )
    return folded


def segment_phases(client: int, track: BuiltTrack) -> list[float]:
    """The phase of each segment of a belt [m]; they differ by what the gears let slip."""
    jointed = track.jointed
    states = pybullet.getJointStates(jointed.body, jointed.joints, physicsClientId=client)
    return [state[0] / k for state, k in zip(states, jointed.ratios, strict=True)]
