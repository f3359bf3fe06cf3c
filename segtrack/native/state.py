"""Everything of a vehicle that changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class VehicleState(NamedTuple):
    """State of a vehicle with J joints and T belts, and what it is commanded; kernels change it in place.

    For N vehicles each array has a further first axis of length N.

    Attributes:
        position: Of the root's centre of mass in the world (3,) [m].
        orientation: Of the root's frame in the world, quaternion (x, y, z, w) (4,).
        velocity: Of the root's centre of mass in the world (3,) [m/s].
        angular_velocity: Of the root in the world (3,) [rad/s].
        joint_angles: (J,) [rad]
        joint_speeds: (J,) [rad/s]
        joint_torques: Of the servos in the last step (J,) [N m].
        joint_commands: 0 for an angle [rad] or 1 for a speed [rad/s], and its value (J, 2).
        travels: Of the belts since the start (T,) [m].
        speeds: Of the belts (T,) [m/s].
        forces: Of the drives along their belts' travel in the last step (T,) [N].
        energies: Work of the drives since the start (T,) [J].
        commands: Belt speeds (T,) [m/s].
        references: Commands behind the drives' lags (T,) [m/s].
        targets: Speeds at which the drives aim (T,) [m/s].
        limits: Force limits of the drives (T,) [N].
        holding: 1 where a self-locking drive holds its belt (T,).
        frictions: Of the tracks (T,) [-].
        drive_factors: On what the drives can exert (T,) [-].
        push: Force on the root [N], and where it acts [m], in the world (2, 3).
        slack: How far any part may move before candidates are looked for again (1,) [m].
    """

    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]
    joint_angles: NDArray[np.float64]
    joint_speeds: NDArray[np.float64]
    joint_torques: NDArray[np.float64]
    joint_commands: NDArray[np.float64]
    travels: NDArray[np.float64]
    speeds: NDArray[np.float64]
    forces: NDArray[np.float64]
    energies: NDArray[np.float64]
    commands: NDArray[np.float64]
    references: NDArray[np.float64]
    targets: NDArray[np.float64]
    limits: NDArray[np.float64]
    holding: NDArray[np.float64]
    frictions: NDArray[np.float64]
    drive_factors: NDArray[np.float64]
    push: NDArray[np.float64]
    slack: NDArray[np.float64]

    def copy(self) -> VehicleState:
        """Return the same state with arrays of its own."""
        return VehicleState(*(array.copy() for array in self))


def allocate_state(vehicles: int, joints: int, belts: int) -> VehicleState:
    """Return N vehicles at the origin, at rest."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(VehicleState._fields, (belts,))
    shapes |= {"position": (3,), "orientation": (4,), "velocity": (3,), "angular_velocity": (3,)}
    shapes |= {"joint_angles": (joints,), "joint_speeds": (joints,), "joint_torques": (joints,)}
    shapes |= {"joint_commands": (joints, 2), "push": (2, 3), "slack": (1,)}
    state = VehicleState(**{name: np.zeros((vehicles, *shape)) for name, shape in shapes.items()})
    state.orientation[:, 3] = 1.0
    state.drive_factors[:] = 1.0
    return state
