"""Belts in the equations of whoever moves their links: the native engine, or segtrack beside PyBullet.

V are the changes, in a step h, of a link's velocity at one of its points and of its angular velocity (6,); b
is that of the speed of a belt on it. Contacts, as `active_contacts` cuts them, exert the impulses h F - A V -
a b on the link, and h P - a.V - a_b b along the belt (`contact_loads`). The belt has the mass m and, about
its axle e, the angular momentum S per speed. With the link's own mass matrix M and the force f of the drive,
whatever else acts left out,

    (M + A) V + (a + S e) b = h F               link
    (a + S e).V + (m + a_b) b = h (P + f)       belt

The host has unknowns u with V = J u, and adds J^T (M + A) J, J^T (a + S e) and h J^T F to its equations; for
J of a rigid root, `equations.add_to_root` and `equations.add_column` do. A drive holds b at what it aims at
as long as |f| is at most its limit (`change_drive_modes`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.contact_loads import VehicleLoads
from segtrack.ground.equations import (
    HELD,
    Equations,
    add_column,
    expected_change,
    held_again,
    hold,
    limited_force,
    write_contact_masses,
)
from segtrack.kernels import Vector, compiled, inlined


class BeltDrives(NamedTuple):
    """Drives of T belts, whose changes of speed stand in a row among the unknowns.

    Attributes:
        first: Unknown of the first belt.
        speeds: Speeds of the belts (T,) [m/s].
        targets: Speeds at which the drives aim (T,) [m/s].
        limits: Force limits of the drives (T,) [N].
        forces: Forces of the drives in the step, written (T,) [N].
    """

    first: int
    speeds: NDArray[np.float64]
    targets: NDArray[np.float64]
    limits: NDArray[np.float64]
    forces: NDArray[np.float64]


@compiled
def write_link_contacts(loads: VehicleLoads, link: int, matrix: NDArray[np.float64]) -> None:
    """Write what contacts add to a link's mass matrix, A of this module (6, 6)."""
    for i in range(3):
        for k in range(3):
            matrix[3 + i, 3 + k] = 0.0
    write_contact_masses(loads, link, 0.0, matrix)


@compiled
def belt_momentum(loads: VehicleLoads, t: int, axle: Vector, stored: float) -> tuple[Vector, Vector]:
    """Momentum of its link per speed of belt t [kg], and angular momentum [kg m]: a + S e of this module.

    Args:
        loads: Loads of the contacts, and what they add to the masses.
        t: Index of the belt.
        axle: Direction e of its axle, in the world.
        stored: Angular momentum S about the axle per belt speed [kg m].
    """
    a = loads.belt_masses[t]
    turn = a[3] + stored * axle[0], a[4] + stored * axle[1], a[5] + stored * axle[2]
    return (a[0], a[1], a[2]), turn


@compiled
def add_belt_to_root(
    equations: Equations,
    unknown: int,
    lever: Vector,
    momentum: tuple[Vector, Vector],
    mass: float,
    loads: VehicleLoads,
    t: int,
) -> None:
    """Add the mass of belt t, and its coupling with the root.

    Args:
        equations: Changed in place.
        unknown: Unknown of the belt.
        lever: From the root's centre to the point of the belt's link, in the world [m].
        momentum: See `belt_momentum`.
        mass: Mass m that moves with the belt [kg].
        loads: Loads of the contacts, and what they add to the masses.
        t: Index of the belt.
    """
    add_column(equations, unknown, lever, momentum[0], momentum[1])
    equations.matrix[unknown, unknown] += mass + loads.belt_masses[t, 6]


@compiled
def expect_belt_changes(
    drives: BeltDrives,
    masses: NDArray[np.float64],
    last: NDArray[np.float64],
    changes: NDArray[np.float64],
    step: float,
) -> None:
    """Write the changes of the belts' speeds that are expected before a step is solved (T,) [m/s].

    Belts whose drives were at their limits change as in the last step; others come as near to what their
    drives aim at as these can take them alone.

    Args:
        drives: Drives of the belts.
        masses: Masses that move with the belts (T,) [kg].
        last: Changes in the last step, see `equations.change_at_limit`; may be `changes` (T,) [m/s].
        changes: Written (T,) [m/s].
        step: Duration [s].
    """
    for t in range(len(masses)):
        most, aim = step * drives.limits[t] / masses[t], drives.targets[t] - drives.speeds[t]
        changes[t] = expected_change(last[t], aim, most)


@compiled
def hold_drives(equations: Equations, drives: BeltDrives, count: int) -> None:
    """Let the drives of so many belts hold them at what they aim at."""
    for t in range(count):
        hold(equations, drives.first + t, drives.targets[t] - drives.speeds[t])


@inlined
def change_drive_modes(
    equations: Equations, drives: BeltDrives, count: int, early: bool, step: float
) -> bool:
    """Let drives that would need more than their limits exert these; true if any has changed.

    Drives hold again, where their limits have taken a belt beyond its aim, in `early` passes alone.

    Args:
        equations: Equations, solved.
        drives: Drives; their forces are written.
        count: Number of belts.
        early: True in the first passes.
        step: Duration [s].
    """
    changed = False
    for t in range(count):
        i = drives.first + t
        if equations.modes[i] == HELD:
            drives.forces[t], freed = limited_force(equations, i, drives.limits[t], step)
            changed |= freed
        elif early:
            aim = drives.targets[t] - drives.speeds[t]
            changed |= held_again(equations, i, drives.forces[t], aim, step)
    return changed
