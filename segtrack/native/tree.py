"""Arrays of a vehicle: the tree of body, flippers and belts, its state, and views of one of N."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import BeltMemory, Candidates
from segtrack.ground import (
    ROOT,
    ContactHistory,
    Contacts,
    Equations,
    VehicleLoads,
    allocate_contacts,
    allocate_equations,
    allocate_loads,
)
from segtrack.kernels import compiled
from segtrack.native.joint_arrays import JointArrays

REVOLUTE, PRISMATIC = 0, 1
"""Kinds of joints."""


class TreeArrays(NamedTuple):
    """L links, of which the first is the root, J = L - 1 joints, and T belts; joint j carries link j + 1.

    Attributes:
        fixed: True if the root is bolted to the world.
        masses: Masses of the links, belts at rest included (L,) [kg]; for N vehicles this array and those
            that are marked have a further first axis of length N.
        centers: Centres of mass in the link frames (L, 3) [m]; marked.
        inertias: About the centres of mass, in the link frames (L, 3, 3) [kg m^2]; marked.
        joint_parents: Link from which each joint starts, before the one that it carries (J,).
        joint_kinds: `REVOLUTE` or `PRISMATIC` (J,).
        joint_origins: Joint origins in their parents' frames (J, 3) [m].
        joint_rotations: From the joints' frames to their parents' (J, 3, 3).
        joint_axes: Joint axes in the joints' frames (J, 3).
        joint_limits: Least and largest position (J, 2) [rad or m].
        max_torques: Largest torques or forces of the servos (J,) [N m or N]; marked.
        max_speeds: Largest speeds of the servos (J,) [rad/s or m/s]; marked.
        joints: Their servos, springs, dampers, friction and buffers.
        belt_links: Link that carries each belt (T,).
        belt_origins: Belt origins of the track frames in their links' frames (T, 3) [m].
        belt_rotations: From the track frames to their links' (T, 3, 3).
        belt_masses: Masses that move with each belt (T,) [kg]; none of chains, which move by themselves.
        spin_momenta: Angular momentum about the axle per belt speed (T,) [kg m]; likewise.
    """

    fixed: bool
    masses: NDArray[np.float64]
    centers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    joint_parents: NDArray[np.intp]
    joint_kinds: NDArray[np.intp]
    joint_origins: NDArray[np.float64]
    joint_rotations: NDArray[np.float64]
    joint_axes: NDArray[np.float64]
    joint_limits: NDArray[np.float64]
    max_torques: NDArray[np.float64]
    max_speeds: NDArray[np.float64]
    joints: JointArrays
    belt_links: NDArray[np.intp]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]
    belt_masses: NDArray[np.float64]
    spin_momenta: NDArray[np.float64]


OWN = ("masses", "centers", "inertias", "max_torques", "max_speeds")
"""Arrays of a tree that each of N vehicles has by itself."""


class TreeWork(NamedTuple):
    """Room for the stages of a step of one vehicle.

    Attributes:
        rotations: From the links' frames to the world (L, 3, 3).
        centers: Centres of mass in the world (L, 3) [m].
        velocities: Velocities of the centres of mass (L, 3) [m/s].
        angular_velocities: Angular velocities of the links in the world (L, 3) [rad/s].
        present_spins: Angular velocities in the middle between the steps before and after (L, 3) [rad/s].
        accelerations: Accelerations of the centres where no unknown changes (L, 3) [m/s^2].
        spin_accelerations: Angular accelerations where no unknown changes, in the world (L, 3) [rad/s^2].
        axes: Axes of the joints in the world (J, 3).
        joint_points: Points on the axes, in the world (J, 3) [m].
        paces: Speeds of the positions that servos with gains aim at (J,) [rad/s or m/s].
        pushes: Forces of servos with gains at the speeds of the step's beginning (J,) [N m or N].
        giving: Loss per change of speed (J,) [N m s/rad or N s/m]; 0 without one.
        slipping: Dry friction of joints that have slipped, in the equations (J,) [N m or N].
        touching: 1 where a joint's lower or upper buffer acts (J, 2).
        path_rates: Sums of the speeds of the joints up to each link, turning and sliding ones (L, 2).
        belt_origins: Belt origins of the track frames in the world (T, 3) [m].
        belt_rotations: From the track frames to the world (T, 3, 3).
        given: Loads that do not depend on how the step is solved: the user's push, reactions of chains.
        loads: Loads on links and belts, and what contacts add to the masses.
        section_axes: Axes of a section (3, 3).
        contacts: Contacts of the step.
        changes: Changes of the velocities of the links' centres in the step, in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the step, in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds in the step (T,) [m/s].
        equations: Equations of root, joints and belts, in this order.
        solutions: Number of times that they were solved for the contacts of a step (1,).
    """

    rotations: NDArray[np.float64]
    centers: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]
    present_spins: NDArray[np.float64]
    accelerations: NDArray[np.float64]
    spin_accelerations: NDArray[np.float64]
    axes: NDArray[np.float64]
    joint_points: NDArray[np.float64]
    paces: NDArray[np.float64]
    pushes: NDArray[np.float64]
    giving: NDArray[np.float64]
    slipping: NDArray[np.float64]
    touching: NDArray[np.float64]
    path_rates: NDArray[np.float64]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]
    given: VehicleLoads
    loads: VehicleLoads
    section_axes: NDArray[np.float64]
    contacts: Contacts
    changes: NDArray[np.float64]
    turns: NDArray[np.float64]
    belt_changes: NDArray[np.float64]
    equations: Equations
    solutions: NDArray[np.intp]


def allocate_tree_work(tree: TreeArrays, contact_lanes: int) -> TreeWork:
    """Return room for a vehicle whose contacts take so many lanes, see `allocate_contacts`."""
    links, joints, tracks = len(tree.masses), len(tree.joint_parents), len(tree.belt_links)
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(TreeWork._fields, (links, 3))
    shapes |= {"rotations": (links, 3, 3), "section_axes": (3, 3)}
    shapes |= {"axes": (joints, 3), "joint_points": (joints, 3), "touching": (joints, 2)}
    shapes |= {"belt_changes": (tracks,), "paces": (joints,), "pushes": (joints,)}
    shapes |= {"giving": (joints,), "slipping": (joints,), "path_rates": (links, 2)}
    shapes |= {"belt_origins": (tracks, 3), "belt_rotations": (tracks, 3, 3)}
    room: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()}
    room["given"], room["loads"] = allocate_loads(links, tracks), allocate_loads(links, tracks)
    room["contacts"], room["solutions"] = allocate_contacts(contact_lanes), np.zeros(1, dtype=np.intp)
    room["equations"] = allocate_equations(ROOT + joints + len(tree.belt_masses))
    return TreeWork(**room)


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
        joint_references: Positions that servos with gains aim at now (J,) [rad or m].
        last_changes: Changes of the velocities of root and joints in the last step, and of belts whose drives
            were at their limits, else infinity (6 + J + T,) [m/s, rad/s].
        joint_commands: 0 for an angle [rad] or 1 for a speed [rad/s], and its value (J, 2).
        travels: Travels of the belts since the start (T,) [m].
        speeds: Speeds of the belts (T,) [m/s].
        forces: Forces of the drives along their belts' travel in the last step (T,) [N].
        energies: Work of the drives since the start (T,) [J].
        commands: Belt speeds (T,) [m/s].
        pedals: 1 where throttle and brake rule a drive instead, throttle, and brake (T, 3) [-].
        references: Commands behind the drives' lags (T,) [m/s].
        targets: Speeds at which the drives aim (T,) [m/s].
        limits: Force limits of the drives (T,) [N].
        holding: 1 where a self-locking drive holds its belt (T,).
        frictions: Friction of the tracks (T,) [-].
        drive_factors: On what the drives can exert (T,) [-].
        push: Force on the root [N], and where it acts [m], in the world (2, 3).
        slack: Distance that belts and the root's hull, and the hull of each further link, may move before
            candidates are looked for again (L,) [m].
    """

    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]
    joint_angles: NDArray[np.float64]
    joint_speeds: NDArray[np.float64]
    joint_torques: NDArray[np.float64]
    joint_references: NDArray[np.float64]
    last_changes: NDArray[np.float64]
    joint_commands: NDArray[np.float64]
    travels: NDArray[np.float64]
    speeds: NDArray[np.float64]
    forces: NDArray[np.float64]
    energies: NDArray[np.float64]
    commands: NDArray[np.float64]
    pedals: NDArray[np.float64]
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


def changes_at_rest(joints: int, belts: int) -> NDArray[np.float64]:
    """`VehicleState.last_changes` of a vehicle that has rested: no belt's drive was at its limit."""
    return np.append(np.zeros(ROOT + joints), np.full(belts, math.inf))


def allocate_state(vehicles: int, joints: int, belts: int) -> VehicleState:
    """Return N vehicles at the origin, at rest."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(VehicleState._fields, (belts,))
    shapes |= {"position": (3,), "orientation": (4,), "velocity": (3,), "angular_velocity": (3,)}
    shapes |= {"joint_angles": (joints,), "joint_speeds": (joints,), "joint_torques": (joints,)}
    shapes |= {"joint_references": (joints,), "last_changes": (ROOT + joints + belts,)}
    shapes |= {"joint_commands": (joints, 2), "push": (2, 3), "slack": (1 + joints,)}
    shapes |= {"pedals": (belts, 3)}
    state = VehicleState(**{name: np.zeros((vehicles, *shape)) for name, shape in shapes.items()})
    state.orientation[:, 3] = 1.0
    state.last_changes[:] = changes_at_rest(joints, belts)
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
        states.joint_references[i],
        states.last_changes[i],
        states.joint_commands[i],
        states.travels[i],
        states.speeds[i],
        states.forces[i],
        states.energies[i],
        states.commands[i],
        states.pedals[i],
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
def tree_view(trees: TreeArrays, i: int) -> TreeArrays:
    """Tree of vehicle `i` of N."""
    return TreeArrays(
        trees.fixed,
        trees.masses[i],
        trees.centers[i],
        trees.inertias[i],
        trees.joint_parents,
        trees.joint_kinds,
        trees.joint_origins,
        trees.joint_rotations,
        trees.joint_axes,
        trees.joint_limits,
        trees.max_torques[i],
        trees.max_speeds[i],
        trees.joints,
        trees.belt_links,
        trees.belt_origins,
        trees.belt_rotations,
        trees.belt_masses,
        trees.spin_momenta,
    )


def tree_of_one(tree: TreeArrays) -> TreeArrays:
    """Tree of N = 1 vehicles, whose arrays share the memory of one's."""
    return tree._replace(**{name: getattr(tree, name)[None] for name in OWN})


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
def memory_view(memories: BeltMemory, i: int) -> BeltMemory:
    """Memory of the contacts of the belts of vehicle `i` of N."""
    return BeltMemory(memories.places[i], memories.sections[i], history_view(memories.contacts, i))


@compiled
def candidates_view(candidates: Candidates, i: int) -> Candidates:
    """Candidates of vehicle `i` of N."""
    return Candidates(
        candidates.near[i],
        candidates.near_starts[i],
        candidates.solids[i],
        candidates.faces[i],
        candidates.solid_counts[i],
        candidates.edges[i],
        candidates.edge_counts[i],
        candidates.near_segments[i],
        candidates.near_solids[i],
        candidates.near_edges[i],
        candidates.clear_until[i],
    )
