"""Readings of N vehicles: named arrays with a row for each vehicle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.batch.fleet import Fleet
from segtrack.batch.link_motions import LinkMotions, read_link_motions
from segtrack.compliant import REPORT, ContactReport
from segtrack.engine import ActuatorState
from segtrack.geometry import rotated, rotations_of
from segtrack.native import VehicleState
from segtrack.robot import attitudes_of, longitudinal_slip


class BatchState(NamedTuple):
    """Poses and velocities of N bodies.

    Attributes:
        position: Positions of the body frames' origins in the world (N, 3) [m].
        orientation: Rotations from the body frames to the world, quaternions (x, y, z, w) (N, 4).
        velocity: Velocities of the bodies' centres of mass in the world (N, 3) [m/s].
        angular_velocity: Angular velocities of the bodies in the world (N, 3) [rad/s].
        roll: Roll about the bodies' x axes (N,) [rad].
        pitch: Elevation of the bodies' x axes, nose up positive (N,) [rad].
        yaw: Heading about the world's z axis (N,) [rad].
        rotation: Rotations from the body frames to the world (N, 3, 3).
        center: Centres of mass of the bodies, belts at rest included, in the world (N, 3) [m].
    """

    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]
    roll: NDArray[np.float64]
    pitch: NDArray[np.float64]
    yaw: NDArray[np.float64]
    rotation: NDArray[np.float64]
    center: NDArray[np.float64]

    @classmethod
    def of(cls, state: VehicleState, centers: NDArray[np.float64], chosen: NDArray[np.intp]) -> BatchState:
        """Read poses and velocities from the state of a fleet.

        Args:
            state: State of all vehicles.
            centers: Centres of mass of all bodies, in the body frames (N, 3) [m].
            chosen: Indices of the vehicles to read (n,).
        """
        orientation = state.orientation[chosen]
        rotation = rotations_of(orientation)
        return cls(
            state.position[chosen] - rotated(rotation, centers[chosen]),
            orientation,
            state.velocity[chosen],
            state.angular_velocity[chosen],
            *attitudes_of(rotation),
            rotation,
            state.position[chosen],
        )


class BatchTracks(NamedTuple):
    """States of the T belts of N vehicles, in the order of `Batch.track_names`.

    Attributes:
        travel: Belt travel since the last reset (N, T) [m].
        speed: Belt speed, positive when it drives the vehicle forward (N, T) [m/s].
        force: Drive forces on the belts along their travel (N, T) [N].
        energy: Work of the drives on the belts since the last reset (N, T) [J].
        ground_speed: Speeds of the track frames' origins along their own x axes (N, T) [m/s].
        slip: Longitudinal slip in [-1, 1], positive driving, negative braking (N, T) [-]; see
            `segtrack.robot.track.longitudinal_slip`.
    """

    travel: NDArray[np.float64]
    speed: NDArray[np.float64]
    force: NDArray[np.float64]
    energy: NDArray[np.float64]
    ground_speed: NDArray[np.float64]
    slip: NDArray[np.float64]

    @classmethod
    def of(cls, fleet: Fleet) -> BatchTracks:
        """Read the belts of a fleet."""
        state, motions = fleet.state, read_link_motions(fleet)
        ground_speeds = _track_speeds(motions, fleet.kinds[0].arrays.tree.belt_links)
        slip = longitudinal_slip(state.speeds, ground_speeds)
        travels, speeds, forces, energies = (
            array.copy() for array in (state.travels, state.speeds, state.forces, state.energies)
        )
        return cls(travels, speeds, forces, energies, ground_speeds, slip)


def _track_speeds(motions: LinkMotions, links: NDArray[np.intp]) -> NDArray[np.float64]:
    """Speeds of the track frames' origins along their own x axes (N, T) [m/s]; `links` (T,) carry them."""
    arms = motions.belt_origins - motions.centers[:, links]
    velocities = motions.velocities[:, links] + np.cross(motions.angular_velocities[:, links], arms)
    x, y, z = np.moveaxis(velocities * motions.belt_rotations[..., 0], 2, 0)
    return np.asarray(x + y + z)


class JointStates(NamedTuple):
    """States of J flippers, or other joints, of N vehicles.

    Attributes:
        position: Angles or displacements (N, J) [rad or m]; a flipper's is positive with its tip up.
        speed: Joint speeds (N, J) [rad/s or m/s].
        force: Servo torques or forces in the last step (N, J) [N m or N]; 0 without a servo.
    """

    position: NDArray[np.float64]
    speed: NDArray[np.float64]
    force: NDArray[np.float64]

    @classmethod
    def of(cls, state: VehicleState, which: slice) -> JointStates:
        """Read the joints in the slice `which` of all vehicles."""
        read = state.joint_angles, state.joint_speeds, state.joint_torques
        return cls(*(array[:, which].copy() for array in read))


def actuators_of(state: VehicleState, flippers: int, chosen: NDArray[np.intp]) -> ActuatorState:
    """Read belts (n, T), flippers (n, F) and other joints (n, J) of the chosen vehicles."""
    belts = state.travels, state.speeds, state.forces, state.energies
    joints = state.joint_angles, state.joint_speeds, state.joint_torques
    first, others = (array[:, :flippers] for array in joints), (array[:, flippers:] for array in joints)
    return ActuatorState(*(array[chosen] for array in (*belts, *first, *others)))


class BatchContacts(NamedTuple):
    """Contacts of vehicles with their ground at one instant, a row for each of n contacts.

    Attributes:
        vehicle: Index of the vehicle (n,).
        track: Index of the track; -1 for the hull of body and links (n,).
        point: Contact point in the world (n, 3) [m].
        normal_force: Normal force (n,) [N].
        tangential_force: Friction force on the vehicle, in the world (n, 3) [N].
        slip_velocity: Velocity of the vehicle's surface relative to the ground, in the world (n, 3) [m/s].
        sinkage: Depth below the ground's surface (n,) [m]; on rigid ground it is elastic.
    """

    vehicle: NDArray[np.intp]
    track: NDArray[np.intp]
    point: NDArray[np.float64]
    normal_force: NDArray[np.float64]
    tangential_force: NDArray[np.float64]
    slip_velocity: NDArray[np.float64]
    sinkage: NDArray[np.float64]

    @classmethod
    def of(cls, fleet: Fleet, chosen: NDArray[np.intp], step: float) -> BatchContacts:
        """Find the contacts of the chosen vehicles of a fleet whose steps last `step` [s]."""
        reports = [fleet.read_contacts(i, step) for i in chosen.tolist()]
        nothing, tracks = ContactReport.of(np.zeros((0, REPORT))), fleet.state.travels.shape[1]
        all_of = ContactReport(*map(np.concatenate, zip(nothing, *reports, strict=True)))
        return cls(
            np.repeat(chosen, [len(report.groups) for report in reports]),
            np.where(all_of.groups < tracks, all_of.groups, -1),
            all_of.places,
            all_of.normal_forces,
            all_of.tangential_forces,
            all_of.velocities,
            all_of.depths,
        )
