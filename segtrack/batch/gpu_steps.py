"""GPU kernels that advance one vehicle per thread, and the views of the arrays that a thread uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from segtrack.batch.gpu_functions import gpu_function
from segtrack.compliant import BeltMemory
from segtrack.ground import NONE, ContactHistory, Contacts, Equations, FaceContacts, Ground, VehicleLoads
from segtrack.kernels import Vector
from segtrack.native import TreeWork, Vehicles, advance_vehicle

_advance_vehicle = gpu_function(advance_vehicle)


class JoinedGrounds(NamedTuple):
    """All grounds concatenated in one `Ground`, because a CUDA kernel takes a fixed number of arguments.

    Attributes:
        arrays: Arrays of the grounds, concatenated along their first axes.
        spans: First and end row of each ground in each array, in the order of `Ground`
            (n, 16, 2).
    """

    arrays: Ground
    spans: NDArray[np.intp]


def join_grounds(grounds: Sequence[Ground]) -> JoinedGrounds:
    """Concatenate grounds; one object given several times is stored once."""
    distinct = {id(ground): ground for ground in grounds}
    rows = {key: k for k, key in enumerate(distinct)}
    width = max(ground.planes.shape[1] for ground in distinct.values())
    parts = [ground._replace(planes=_widened(ground.planes, width)) for ground in distinct.values()]
    lengths = np.array([[len(array) for array in part] for part in parts], dtype=np.intp)
    ends = lengths.cumsum(axis=0)
    spans = np.stack([ends - lengths, ends], axis=2)[[rows[id(ground)] for ground in grounds]]
    return JoinedGrounds(Ground(*map(np.concatenate, zip(*parts, strict=True))), spans)


def _widened(planes: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    more = width - planes.shape[1]
    return np.pad(planes, ((0, 0), (0, more), (0, 0))) if more else planes


@cuda.jit
def take_steps(
    vehicles: Vehicles,
    kinds: NDArray[np.intp],
    kind: int,
    grounds: JoinedGrounds,
    report: NDArray[np.float64],
    gravity: Vector,
    step: float,
    count: int,
    decay: float,
) -> None:
    """Advance the vehicles of one kind until each has taken `count` steps.

    Args:
        vehicles: Arrays of N vehicles with this kind's constants; work arrays have a first axis N.
        kinds: Index of each vehicle's kind (N,).
        kind: Index of the kind to advance; threads of other vehicles return at once.
        grounds: Grounds of all vehicles.
        report: Empty contact report, see `native.step.advance`.
        gravity: Gravity in the world [m/s^2].
        step: Duration of a step [s].
        count: Number of steps.
        decay: Fraction of the velocities that is left after a step's damping; 1 without.
    """
    i: int = cuda.grid(1)  # type: ignore[call-arg]
    if i < len(kinds) and kinds[i] == kind:
        own = Vehicles(
            vehicles.arrays,
            vehicles.terrains,
            vehicles.states,
            vehicles.histories,
            vehicles.memories,
            vehicles.candidates,
            _work_view(vehicles.work, i),
            vehicles.done,
            vehicles.outcomes,
        )
        ground = _ground_view(grounds.arrays, grounds.spans[vehicles.terrains[i]])
        _advance_vehicle(own, i, ground, report, gravity, step, count, decay)


@cuda.jit
def forget_contacts(chosen: NDArray[np.intp], memory: BeltMemory, history: ContactHistory) -> None:
    """Clear the contact memory of the chosen ones (n,) of N vehicles."""
    k: int = cuda.grid(1)  # type: ignore[call-arg]
    if k < len(chosen):
        i, contacts = chosen[k], memory.contacts
        _forget(memory.places[i])
        _forget(memory.sections[i])
        _forget(contacts.solid_ids[i])
        _forget(contacts.edge_ids[i])
        _forget(history.solid_ids[i])
        _forget(history.edge_ids[i])


@cuda.jit(device=True)
def _forget(ids: NDArray[np.int32]) -> None:
    for k in range(len(ids)):
        ids[k] = NONE


@cuda.jit(device=True)
def _ground_view(joined: Ground, spans: NDArray[np.intp]) -> Ground:
    """View of one ground, from its rows in each of the concatenated arrays (16, 2)."""
    return Ground(
        joined.planes[spans[0, 0] : spans[0, 1]],
        joined.faces[spans[1, 0] : spans[1, 1]],
        joined.bounds[spans[2, 0] : spans[2, 1]],
        joined.friction[spans[3, 0] : spans[3, 1]],
        joined.solid_soils[spans[4, 0] : spans[4, 1]],
        joined.edges[spans[5, 0] : spans[5, 1]],
        joined.edge_friction[spans[6, 0] : spans[6, 1]],
        joined.edge_starts[spans[7, 0] : spans[7, 1]],
        joined.heights[spans[8, 0] : spans[8, 1]],
        joined.point_soils[spans[9, 0] : spans[9, 1]],
        joined.grid_starts[spans[10, 0] : spans[10, 1]],
        joined.grid_shapes[spans[11, 0] : spans[11, 1]],
        joined.grid_origins[spans[12, 0] : spans[12, 1]],
        joined.cells[spans[13, 0] : spans[13, 1]],
        joined.soils[spans[14, 0] : spans[14, 1]],
        joined.surfaces[spans[15, 0] : spans[15, 1]],
    )


@cuda.jit(device=True)
def _loads_view(loads: VehicleLoads, i: int) -> VehicleLoads:
    """Loads of vehicle `i` of N."""
    return VehicleLoads(
        loads.forces[i],
        loads.torques[i],
        loads.masses[i],
        loads.pulls[i],
        loads.belt_masses[i],
    )


@cuda.jit(device=True)
def _contacts_view(contacts: Contacts, i: int) -> Contacts:
    """Contacts of vehicle `i` of N."""
    faces = contacts.with_faces
    return Contacts(
        contacts.blocks[i],
        contacts.parts[i],
        contacts.used[i],
        contacts.sums[i],
        FaceContacts(
            faces.blocks[i],
            faces.lanes[i],
            faces.faces[i],
            faces.parts[i],
            faces.touched[i],
            faces.used[i],
            faces.shears[i],
            faces.slots[i],
            faces.sums[i],
        ),
    )


@cuda.jit(device=True)
def _work_view(work: TreeWork, i: int) -> TreeWork:
    """Work arrays of vehicle `i` of N."""
    equations = work.equations
    return TreeWork(
        work.rotations[i],
        work.centers[i],
        work.velocities[i],
        work.angular_velocities[i],
        work.present_spins[i],
        work.accelerations[i],
        work.spin_accelerations[i],
        work.axes[i],
        work.joint_points[i],
        work.paces[i],
        work.pushes[i],
        work.giving[i],
        work.slipping[i],
        work.touching[i],
        work.path_rates[i],
        work.belt_origins[i],
        work.belt_rotations[i],
        _loads_view(work.given, i),
        _loads_view(work.loads, i),
        work.section_axes[i],
        _contacts_view(work.contacts, i),
        work.changes[i],
        work.turns[i],
        work.belt_changes[i],
        Equations(
            equations.matrix[i],
            equations.right[i],
            equations.modes[i],
            equations.change[i],
            equations.factor[i],
            equations.solution[i],
            equations.order[i],
            equations.link_matrix[i],
            equations.coupling[i],
        ),
        work.solutions[i],
    )
