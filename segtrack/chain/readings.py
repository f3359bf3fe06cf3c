"""Readings of a track for an engineer: loads in its chain, and contact of its shoes with the terrain."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.design import TrackDesign
from segtrack.chain.running_gear_arrays import (
    RunningGearArrays,
    RunningGearState,
    allocate_running_gear,
    slide_offset,
)
from segtrack.chain.shoe_contact import (
    ShoeContactLoads,
    TerrainContact,
    allocate_contact_arrays,
    allocate_terrain_rows,
    find_contact_candidates,
)
from segtrack.chain.shoe_dynamics import (
    Constants,
    Frames,
    Loads,
    add_bushings,
    allocate_work_arrays,
    drift,
    joint_tension,
    start_loads,
)
from segtrack.chain.shoe_state import ChainState
from segtrack.chain.sprocket_contact import add_sprocket_contacts, find_sprocket_contacts
from segtrack.chain.terrain_rows import add_terrain_contacts
from segtrack.chain.wheel_contact import add_wheel_contacts, find_wheel_candidates, find_wheel_contacts
from segtrack.ground import NONE, Footing, ParentFrames, Reaction, greatest_sinkage


class ChainPose(NamedTuple):
    """Poses of the bodies of a chain at an instant.

    Attributes:
        positions: Shoes' centres of mass in the world (n, 3) [m].
        orientations: Shoes' frames in the world, quaternions (x, y, z, w), (n, 4).
        wheels: Wheel centres in the world (W, 3) [m].
        rotation: From the track frame to the world (3, 3).
    """

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    wheels: NDArray[np.float64]
    rotation: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChainReading:
    """Loads and contacts of a chain at an instant; its arrays are read-only, a row for each of n shoes.

    Joint i is the one at shoe i's rear end, to shoe i - 1. Shoes are counted along the belt's
    travel, a shoe's x axis points there, y to the left and z outwards.

    A shoe stands on the corners of two faces, its plate's outer one and its grouser's tip. Each corner
    has a sinkage z of its own, and carries the soil's pressure p = (k_c / b + k_phi) z^n over its part of
    its face, with b the smaller side of that face. `footing` names the face of the deepest corner, and
    `sinkage`, `footing_pressure` and `footing_width` are its z, p and b: what the soil's formula gives for
    z and b is p, where the shoe rests and z is `footing_max_sinkage`. Below that soil unloads by Wong's
    repetitive loading, and a shoe that moves is damped besides. `pressure` is that of a whole shoe,
    whichever faces carry it.

    Attributes:
        positions: Shoes' centres of mass in the world (n, 3) [m].
        orientations: Shoes' frames in the world, quaternions (x, y, z, w), (n, 4).
        tension: Tension in each joint, along the mean direction of its two shoes (n,) [N].
        pin_force: Magnitude of each joint's whole force (n,) [N].
        ground_force: Sum of the normal forces on each shoe, on plate, grouser and edges (n,) [N].
        terrain_force: Force of the ground on each shoe, friction included, in the world (n, 3) [N].
        terrain_torque: Its torque about each shoe's centre of mass, in the world (n, 3) [N m].
        pressure: Nominal pressure, `ground_force` over the plate's length times width, whether plate
            or grouser carries it (n,) [Pa].
        sinkage: Depth of each shoe's deepest corner in the ground, which is the grouser tip's if there is
            one, or of an edge in the shoe; on rigid ground it is elastic (n,) [m].
        footing: Face of that corner: `grouser`, its tip; `plate`; `edge`, of the ground; or empty (n,).
        footing_width: Smaller side b of that face, 0 without one (n,) [m].
        footing_length: Its larger side (n,) [m].
        footing_pressure: Normal force on that corner over its part of the face (n,) [Pa].
        footing_bed_stiffness: Pressure over sinkage of that corner on rigid ground, which no soil's slope
            exceeds (n,) [N/m^3].
        footing_max_sinkage: Greatest sinkage of that corner in soil since it touched (n,) [m].
        slip_velocity: Velocity over the ground of the middle of each shoe's outermost face, along the
            shoe and across it; 0 where it does not touch (n, 2) [m/s]. A belt that is faster than its
            vehicle slips along its shoes' x axes.
        angular_velocities: Shoes' angular velocities in the world (n, 3) [rad/s].
        wheels: Wheel centres in the world (W, 3) [m].
        wheel_forces: Force of the chain on each wheel, by rails and teeth, in the world (W, 3) [N].
        drive_torque: Torque on the driven wheel, mean over the last step [N m].
        drive_speed: Angular velocity of the driven wheel relative to its parent link [rad/s].
        idler_slide: Slide of the wheel on a tensioner from where it is drawn, outwards positive [m].
    """

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    tension: NDArray[np.float64]
    pin_force: NDArray[np.float64]
    ground_force: NDArray[np.float64]
    terrain_force: NDArray[np.float64]
    terrain_torque: NDArray[np.float64]
    pressure: NDArray[np.float64]
    sinkage: NDArray[np.float64]
    footing: NDArray[np.str_]
    footing_width: NDArray[np.float64]
    footing_length: NDArray[np.float64]
    footing_pressure: NDArray[np.float64]
    footing_bed_stiffness: NDArray[np.float64]
    footing_max_sinkage: NDArray[np.float64]
    slip_velocity: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]
    wheels: NDArray[np.float64]
    wheel_forces: NDArray[np.float64]
    drive_torque: float
    drive_speed: float
    idler_slide: float

    def __post_init__(self) -> None:
        """Keep the arrays as they are."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


def read_pose(state: ChainState, running_gear: RunningGearArrays, parents: ParentFrames) -> ChainPose:
    """Find where shoes and wheels are, given the parent links of the wheels."""
    wheels = running_gear.wheels
    slides = running_gear.state.slide_positions
    centers = wheels.positions + slide_offset(wheels.slide_directions, wheels.slide_curvatures, slides)
    rotations, origins = parents.rotations[wheels.parents], parents.positions[wheels.parents]
    at = origins + np.einsum("wij,wj->wi", rotations[:, :, [0, 2]], centers)
    return ChainPose(state.positions.copy(), state.orientations.copy(), at, parents.rotations[0])


def read_track(
    design: TrackDesign,
    state: ChainState,
    running_gear: RunningGearArrays,
    contact: TerrainContact,
    parents: ParentFrames,
    torque: float,
) -> ChainReading:
    """Find the loads in a chain and on its shoes; nothing of what is given is changed.

    Args:
        design: Constants of the track.
        state: State of its chain.
        running_gear: Its wheels.
        contact: Its contact with the terrain.
        parents: Parent links of its wheels.
        torque: Torque of its drive, mean over the last step [N m].
    """
    chain, now, pose = design.chain, state.copy(), read_pose(state, running_gear, parents)
    frames, loads = allocate_work_arrays(chain)
    drift(now.arrays, frames, chain.constants, 0.0)
    start_loads(loads, (0.0, 0.0, 0.0))
    add_bushings(chain.joints, frames, loads, chain.constants)
    # Contacts are found and solved as in a sub-step, from a copy of their memory: one of no duration.
    shoe_loads, candidates = allocate_contact_arrays(contact.ground, contact.treads)
    found = contact._replace(
        history=contact.history.copy(),
        loads=shoe_loads,
        candidates=candidates,
        rows=allocate_terrain_rows(contact.treads),
    )
    find_contact_candidates(found, frames)
    others = loads.forces.copy(), loads.torques.copy()
    add_terrain_contacts(found, frames, loads, 0.0)
    force = shoe_loads.normal_forces
    footings = _footings(design, shoe_loads)
    plates = np.array([tread.length * tread.width for tread in design.treads])
    points = shoe_loads.deepest_points + np.arange(chain.count) * found.treads.contact_points.shape[1]
    deepest = shoe_loads.deepest_points != NONE
    wheels, slides = running_gear.wheels, running_gear.state.slide_positions
    driven = design.running_gear.driven
    parent = wheels.parents[driven]
    turning = parents.angular_velocities_world[parent] @ parents.rotations[parent, :, 1]
    return ChainReading(
        positions=pose.positions,
        orientations=pose.orientations,
        tension=joint_tension(chain, frames, loads.pin_forces),
        pin_force=np.linalg.norm(loads.pin_forces, axis=1),
        ground_force=force,
        terrain_force=(loads.forces - others[0])[: chain.count],
        terrain_torque=(loads.torques - others[1])[: chain.count],
        pressure=force / plates[design.kinds],
        sinkage=shoe_loads.sinkages,
        footing=np.array([footing.face for footing in footings]),
        footing_width=np.array([footing.width for footing in footings]),
        footing_length=np.array([footing.length for footing in footings]),
        footing_pressure=shoe_loads.pressures,
        footing_bed_stiffness=np.where(
            deepest,
            contact.parameters.stiffness / found.treads.areas[found.treads.kinds, shoe_loads.deepest_points],
            0.0,
        ),
        footing_max_sinkage=np.array(
            [greatest_sinkage(found.history, p) if on else 0.0 for p, on in zip(points, deepest, strict=True)]
        ),
        slip_velocity=_slip_velocity(design, frames, force > 0),
        angular_velocities=frames.angular_velocities_world[: chain.count].copy(),
        wheels=pose.wheels,
        wheel_forces=_wheel_forces(running_gear, parents, frames, loads, chain.constants),
        drive_torque=torque,
        drive_speed=float(running_gear.state.speeds[driven] - turning),
        idler_slide=float(slides[wheels.slide_masses > 0].sum()),
    )


def _wheel_forces(
    running_gear: RunningGearArrays, parents: ParentFrames, frames: Frames, loads: Loads, constants: Constants
) -> NDArray[np.float64]:
    """Force of the chain on each wheel in the world (W, 3) [N]; loads on shoes are added to `loads`.

    Every wheel is alone on a parent link of its own and slides on nothing, so that the whole reaction to its
    contacts is that link's. Contacts are found anew, and not sheared: a step of no duration.
    """
    wheels = running_gear.wheels
    count = len(wheels.inertias)
    apart = wheels._replace(parents=np.arange(count), slide_masses=np.zeros(count))
    gear = allocate_running_gear(apart, running_gear.teeth, running_gear.candidates.shoes.shape[1])
    gear = gear._replace(state=RunningGearState(*(array.copy() for array in running_gear.state)))
    own = ParentFrames(*(array[wheels.parents] for array in parents))
    reaction = Reaction(*np.zeros((2, count, 3)))
    find_wheel_candidates(gear, own, frames)
    find_wheel_contacts(gear, own, frames, 0.0)
    find_sprocket_contacts(gear, own, frames, constants, 0.0)
    add_wheel_contacts(gear, own, frames, loads, reaction, 0.0, 0.0)
    add_sprocket_contacts(gear, own, frames, loads, reaction, 0.0, 0.0)
    return reaction.forces


def _footings(design: TrackDesign, loads: ShoeContactLoads) -> list[Footing]:
    """The face of each shoe's deepest corner (n,)."""
    faces = [tread.footings for tread in design.treads]
    footings = []
    for kind, point, depth in zip(design.kinds, loads.deepest_points, loads.sinkages, strict=True):
        other = Footing("edge" if depth > 0 else "", 0.0, 0.0)
        footings.append(other if point == NONE else faces[kind][point])
    return footings


def _slip_velocity(design: TrackDesign, frames: Frames, touching: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Slip velocities as in `ChainReading` (n, 2) [m/s]."""
    count = design.chain.count
    faces = np.array([tread.contact_points[-4:].mean(axis=0) for tread in design.treads])[design.kinds]
    rotations = frames.rotations[:count]
    levers = np.einsum("nij,nj->ni", rotations, faces)
    velocities = frames.velocities[:count] + np.cross(frames.angular_velocities_world[:count], levers)
    return np.where(touching[:, None], np.einsum("ni,nij->nj", velocities, rotations[:, :, :2]), 0.0)
