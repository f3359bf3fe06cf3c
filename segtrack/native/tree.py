"""Arrays of a vehicle: the tree of body, flippers and belts, its state, and views of one of N."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.candidates import Candidates
from segtrack.ground.broadphase import ContactHistory
from segtrack.ground.kernels import compiled


class TreeArrays(NamedTuple):
    """L links, of which the first is the root, J = L - 1 joints of the root, and T belts.

    Attributes:
        fixed: True if the root is bolted to the world.
        masses: Masses of the links, belts at rest included (L,) [kg].
        centers: Centres of mass in the link frames (L, 3) [m].
        inertias: About the centres of mass, in the link frames (L, 3, 3) [kg m^2].
        joint_origins: Joint origins in the root's frame (J, 3) [m].
        joint_rotations: From the joints' frames to the root's (J, 3, 3).
        joint_axes: Joint axes in the joints' frames (J, 3).
        joint_limits: Least and largest angle (J, 2) [rad].
        max_torques: Largest torques of the servos (J,) [N m].
        max_speeds: Largest speeds of the servos (J,) [rad/s].
        belt_links: Link that carries each belt (T,).
        belt_origins: Belt origins of the track frames in their links' frames (T, 3) [m].
        belt_rotations: From the track frames to their links' (T, 3, 3).
        belt_masses: Belt masses that move with each belt (T,) [kg].
        spin_momenta: Angular momentum about the axle per belt speed (T,) [kg m].
    """

    fixed: bool
    masses: NDArray[np.float64]
    centers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    joint_origins: NDArray[np.float64]
    joint_rotations: NDArray[np.float64]
    joint_axes: NDArray[np.float64]
    joint_limits: NDArray[np.float64]
    max_torques: NDArray[np.float64]
    max_speeds: NDArray[np.float64]
    belt_links: NDArray[np.intp]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]
    belt_masses: NDArray[np.float64]
    spin_momenta: NDArray[np.float64]


class TreeWork(NamedTuple):
    """Room for the stages of a step of one vehicle.

    Attributes:
        rotations: From the links' frames to the world (L, 3, 3).
        centers: Centres of mass in the world (L, 3) [m].
        velocities: Velocities of the centres of mass (L, 3) [m/s].
        angular_velocities: Angular velocities of the links in the world (L, 3) [rad/s].
        axes: Axes of the joints in the world (J, 3).
        levers: From each joint to its link's centre of mass, in the world (J, 3) [m].
        forces: On the links in the world (L, 3) [N].
        torques: On the links about their centres of mass, in the world (L, 3) [N m].
        inertias: Inertias as the links' turning feels them, in the world (L, 3, 3) [kg m^2].
        spin_accelerations: Angular accelerations where no velocity changes, in the world (L, 3) [rad/s^2].
        belt_origins: Belt origins of the track frames in the world (T, 3) [m].
        belt_rotations: From the track frames to the world (T, 3, 3).
        pulls: Pull of the ground on the belts along their travel (T,) [N].
        grips: Mass that contacts of belts add for being taken implicitly (T,) [kg].
        drive_forces: Drive forces of drives at their limit (T,) [N].
        following: 1 for belts whose speed follows the target (T,).
        modes: Modes of the joints, `FREE`, `HELD` or `STOPPED` (J,).
        speed_changes: Speed changes of the joints in the step (J,) [rad/s].
        columns: Columns of the mass matrix, root by joint (J, 6).
        pivots: Pivots of the mass matrix, joint by joint (J,).
        impulses: On the joints without their servos (J,) [N m s].
        matrix: Matrix of the root (6, 6), and a copy that is factorised (2, 6, 6).
        rates: Right side, and the root's velocity changes (2, 6).
    """

    rotations: NDArray[np.float64]
    centers: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]
    axes: NDArray[np.float64]
    levers: NDArray[np.float64]
    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    inertias: NDArray[np.float64]
    spin_accelerations: NDArray[np.float64]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]
    pulls: NDArray[np.float64]
    grips: NDArray[np.float64]
    drive_forces: NDArray[np.float64]
    following: NDArray[np.float64]
    modes: NDArray[np.float64]
    speed_changes: NDArray[np.float64]
    columns: NDArray[np.float64]
    pivots: NDArray[np.float64]
    impulses: NDArray[np.float64]
    matrix: NDArray[np.float64]
    rates: NDArray[np.float64]


def allocate_tree_work(links: int, belts: int) -> TreeWork:
    """Return room for a vehicle of so many links and belts."""
    joints = links - 1
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(TreeWork._fields, (links, 3))
    shapes |= {"rotations": (links, 3, 3), "inertias": (links, 3, 3), "belt_rotations": (belts, 3, 3)}
    shapes |= {"axes": (joints, 3), "levers": (joints, 3), "belt_origins": (belts, 3)}
    shapes |= dict.fromkeys(("pulls", "grips", "drive_forces", "following"), (belts,))
    shapes |= dict.fromkeys(("modes", "speed_changes", "pivots", "impulses"), (joints,))
    shapes |= {"columns": (joints, 6), "matrix": (2, 6, 6), "rates": (2, 6)}
    return TreeWork(**{name: np.zeros(shape) for name, shape in shapes.items()})


class VehicleState(NamedTuple):
    """State of a vehicle with J joints and T belts, and what it is commanded; kernels change it in place.

    For N vehicles each array has a further first axis of length N.

    Attributes:
        position: Position of the root's centre of mass in the world (3,) [m].
        orientation: Orientation of the root's frame in the world, quaternion (x, y, z, w) (4,).
        velocity: Velocity of the root's centre of mass in the world (3,) [m/s].
        angular_velocity: Angular velocity of the root in the world (3,) [rad/s].
        joint_angles: (J,) [rad]
        joint_speeds: (J,) [rad/s]
        joint_torques: Joint torques of the servos in the last step (J,) [N m].
        joint_commands: 0 for an angle [rad] or 1 for a speed [rad/s], and its value (J, 2).
        travels: Travels of the belts since the start (T,) [m].
        speeds: Speeds of the belts (T,) [m/s].
        forces: Forces of the drives along their belts' travel in the last step (T,) [N].
        energies: Work of the drives since the start (T,) [J].
        commands: Belt speeds (T,) [m/s].
        references: Commands behind the drives' lags (T,) [m/s].
        targets: Speeds at which the drives aim (T,) [m/s].
        limits: Force limits of the drives (T,) [N].
        holding: 1 where a self-locking drive holds its belt (T,).
        frictions: Friction of the tracks (T,) [-].
        drive_factors: On what the drives can exert (T,) [-].
        push: Force on the root [N], and where it acts [m], in the world (2, 3).
        slack: Distance that any part may move before candidates are looked for again (1,) [m].
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


@compiled
def vehicle_view(states: VehicleState, i: int) -> VehicleState:
    """State of vehicle `i` of N."""
    return VehicleState(
        states.position[i],
        states.orientation[i],
        states.velocity[i],
        states.angular_velocity[i],
        states.joint_angles[i],
        states.joint_speeds[i],
        states.joint_torques[i],
        states.joint_commands[i],
        states.travels[i],
        states.speeds[i],
        states.forces[i],
        states.energies[i],
        states.commands[i],
        states.references[i],
        states.targets[i],
        states.limits[i],
        states.holding[i],
        states.frictions[i],
        states.drive_factors[i],
        states.push[i],
        states.slack[i],
    )


@compiled
def history_view(histories: ContactHistory, i: int) -> ContactHistory:
    """Memory of the contacts of vehicle `i` of N."""
    return ContactHistory(
        histories.solid_ids[i],
        histories.shear_displacements[i],
        histories.sinkages[i],
        histories.edge_ids[i],
        histories.edge_shear_displacements[i],
    )


@compiled
def candidates_view(candidates: Candidates, i: int) -> Candidates:
    """Candidates of vehicle `i` of N."""
    return Candidates(
        candidates.near[i],
        candidates.near_counts[i],
        candidates.solids[i],
        candidates.solid_counts[i],
        candidates.edges[i],
        candidates.edge_counts[i],
    )
