"""Equations for the velocity changes of a rigid root, and of joints and belts that hang on it, in a step.

The first six unknowns are the changes of the root's velocity at its centre and of its angular velocity, in
the world; others follow. The matrix is symmetric, and only its lower triangle and diagonal are written. A
motor's unknown is held at what the motor aims at, as long as that takes no more than its largest force; with
that it comes no farther than there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.contact_loads import VehicleLoads
from segtrack.kernels import Vector, compiled, cross, inlined, row, sum_of

ROOT = 6
"""Unknowns of the root."""
FREE, HELD, STOPPED = 0.0, 1.0, 2.0
"""Modes of an unknown: found by solution; held at what its motor aims at; standing at a limit."""


class Equations(NamedTuple):
    """Equations of U unknowns, and room for their solution.

    Attributes:
        matrix: Mass matrix, its lower triangle (U, U) [kg, kg m, kg m^2].
        right: Impulses in the step (U,) [N s, N m s].
        modes: Modes of the unknowns, see `FREE` (U,).
        change: The unknowns (U,) [m/s, rad/s].
        factor: Factor of the part of the matrix that is solved (U, U).
        solution: Solution of that part (U,).
        order: Unknowns of that part (U,).
        link_matrix: Mass matrix of one link about its centre, velocity before angular velocity (6, 6).
        coupling: Its coupling of velocity and turning about the root's centre (3, 3).
    """

    matrix: NDArray[np.float64]
    right: NDArray[np.float64]
    modes: NDArray[np.float64]
    change: NDArray[np.float64]
    factor: NDArray[np.float64]
    solution: NDArray[np.float64]
    order: NDArray[np.intp]
    link_matrix: NDArray[np.float64]
    coupling: NDArray[np.float64]


def allocate_equations(unknowns: int) -> Equations:
    """Room for so many unknowns, those of the root among them."""
    return Equations(
        matrix=np.zeros((unknowns, unknowns)),
        right=np.zeros(unknowns),
        modes=np.zeros(unknowns),
        change=np.zeros(unknowns),
        factor=np.zeros((unknowns, unknowns)),
        solution=np.zeros(unknowns),
        order=np.zeros(unknowns, dtype=np.intp),
        link_matrix=np.zeros((6, 6)),
        coupling=np.zeros((3, 3)),
    )


@compiled
def clear_equations(equations: Equations) -> None:
    """Let nothing have a mass, and nothing act."""
    for i in range(len(equations.right)):
        equations.right[i] = 0.0
        for k in range(i + 1):
            equations.matrix[i, k] = 0.0


@compiled
def write_contact_masses(loads: VehicleLoads, link: int, mass: float, matrix: NDArray[np.float64]) -> None:
    """Write what contacts add to a link's mass matrix (6, 6), and its mass [kg].

    The turning block is added to, the others are overwritten.
    """
    added = loads.masses[link]
    for i in range(3):
        for k in range(3):
            matrix[3 + i, k] = matrix[k, 3 + i] = added[6 + 3 * i + k]
        matrix[i, i] = mass + added[i]
        matrix[3 + i, 3 + i] += added[15 + i]
    matrix[0, 1] = matrix[1, 0] = added[3]
    matrix[1, 2] = matrix[2, 1] = added[4]
    matrix[0, 2] = matrix[2, 0] = added[5]
    matrix[3, 4] += added[18]
    matrix[4, 3] += added[18]
    matrix[4, 5] += added[19]
    matrix[5, 4] += added[19]
    matrix[3, 5] += added[20]
    matrix[5, 3] += added[20]


@compiled
def times_link(a: NDArray[np.float64], velocity: Vector, spin: Vector) -> tuple[Vector, Vector]:
    """The product of a link's matrix (6, 6) with a velocity and an angular velocity."""
    x, y, z = velocity
    u, v, w = spin
    return (
        (
            a[0, 0] * x + a[0, 1] * y + a[0, 2] * z + a[0, 3] * u + a[0, 4] * v + a[0, 5] * w,
            a[1, 0] * x + a[1, 1] * y + a[1, 2] * z + a[1, 3] * u + a[1, 4] * v + a[1, 5] * w,
            a[2, 0] * x + a[2, 1] * y + a[2, 2] * z + a[2, 3] * u + a[2, 4] * v + a[2, 5] * w,
        ),
        (
            a[3, 0] * x + a[3, 1] * y + a[3, 2] * z + a[3, 3] * u + a[3, 4] * v + a[3, 5] * w,
            a[4, 0] * x + a[4, 1] * y + a[4, 2] * z + a[4, 3] * u + a[4, 4] * v + a[4, 5] * w,
            a[5, 0] * x + a[5, 1] * y + a[5, 2] * z + a[5, 3] * u + a[5, 4] * v + a[5, 5] * w,
        ),
    )


@compiled
def add_to_root(equations: Equations, lever: Vector, force: Vector, torque: Vector) -> None:
    """Add a link's matrix, and what acts on it in the step, to the root.

    The link moves with the root, u, at the lever r: V = J u. Its matrix has the blocks A, C (turning by
    velocity) and B, and the impulses f and t act on it:

        J = [ 1  -[r] ]   J^T M J = [ A          (C + [r] A)^T                   ]   J^T F = [ f         ]
            [ 0   1   ]             [ C + [r] A  B - C [r] + [r] C^T - [r] A [r] ]           [ t + r x f ]

    Args:
        equations: Equations with the link's matrix in `link_matrix`.
        lever: From the root's centre to the link's, in the world [m].
        force: Impulse on the link [N s].
        torque: Impulse about its centre [N m s].
    """
    own, coupling, matrix, right = (
        equations.link_matrix,
        equations.coupling,
        equations.matrix,
        equations.right,
    )
    moment = sum_of(torque, cross(lever, force))
    for k in range(3):
        right[k] += force[k]
        right[3 + k] += moment[k]
        for i in range(k, 3):
            matrix[i, k] += own[i, k]
        about = cross(lever, (own[0, k], own[1, k], own[2, k]))
        for i in range(3):
            coupling[i, k] = own[3 + i, k] + about[i]
            matrix[3 + i, k] += coupling[i, k]
    for i in range(3):
        shifted = cross(lever, row(coupling, i))
        for k in range(i + 1):
            crossed = cross(lever, (own[3 + k, 0], own[3 + k, 1], own[3 + k, 2]))
            matrix[3 + i, 3 + k] += own[3 + i, 3 + k] + crossed[i] + shifted[k]


@compiled
def add_column(equations: Equations, i: int, lever: Vector, change: Vector, turn: Vector) -> None:
    """Add the coupling of unknown i with the root, J^T m = (p, l + r x p), J as in `add_to_root`.

    Args:
        equations: Changed in place.
        i: Index of the unknown.
        lever: From the root's centre to the link's that the unknown moves, in the world [m].
        change: Momentum of that link per unknown.
        turn: Its angular momentum about its centre per unknown.
    """
    about = sum_of(turn, cross(lever, change))
    for k in range(3):
        equations.matrix[i, k] += change[k]
        equations.matrix[i, 3 + k] += about[k]


@compiled
def hold(equations: Equations, i: int, change: float) -> None:
    """Let a motor hold unknown i at a change."""
    equations.modes[i], equations.change[i] = HELD, change


@compiled
def needed_force(equations: Equations, i: int, step: float) -> float:
    """Force with which unknown i changes as it is to, in a step h [s]: (M_i x - r_i) / h [N or N m]."""
    total = -equations.right[i]
    for k in range(len(equations.right)):
        total += entry_of(equations.matrix, i, k) * equations.change[k]
    return total / step


@compiled
def limited_force(equations: Equations, i: int, limit: float, step: float) -> tuple[float, bool]:
    """Force of the motor that holds unknown i [N or N m], and whether that is at its limit and lets it free.

    Args:
        equations: Equations, solved with the unknown held; the motor's largest force is applied where it is
        free.
        i: Index of the unknown.
        limit: Largest force of its motor [N or N m].
        step: Duration of the step [s].
    """
    needed = needed_force(equations, i, step)
    if abs(needed) <= limit:
        return needed, False
    force = limit if needed > 0.0 else -limit
    equations.modes[i] = FREE
    equations.right[i] += step * force
    return force, True


@compiled
def held_again(equations: Equations, i: int, force: float, aim: float, step: float) -> bool:
    """Hold unknown i again at its motor's aim, if the motor's largest force has taken it beyond that.

    What another motor was held at may have asked for more than this one needs.

    Args:
        equations: Equations, solved.
        i: Index of the unknown.
        force: Force of its motor, at its limit [N or N m].
        aim: Change that the motor aims at.
        step: Duration of the step [s].
    """
    if force * (equations.change[i] - aim) <= 1e-9 * abs(force):
        return False
    equations.right[i] -= step * force
    hold(equations, i, aim)
    return True


@compiled
def expected_change(last: float, aim: float, most: float) -> float:
    """Change of an unknown that is expected before a step is solved.

    Args:
        last: Change in the last step, as `change_at_limit` has kept it.
        aim: Change that its motor aims at.
        most: Change that the motor's largest force can bring about alone.
    """
    return last if last < math.inf else min(max(aim, -most), most)


@compiled
def change_at_limit(equations: Equations, i: int) -> float:
    """Change of unknown i as solved, if its motor is at its largest force; else infinity."""
    return equations.change[i] if equations.modes[i] == FREE else math.inf


@compiled
def entry_of(matrix: NDArray[np.float64], i: int, k: int) -> float:
    """Entry of a symmetric matrix of which the lower triangle is written."""
    return matrix[i, k] if k <= i else matrix[k, i]


@inlined
def solve_free(equations: Equations) -> None:
    """Find the unknowns that are free, with the others as they are.

    Of M x = r, with f the free unknowns and h the others, by Cholesky's factor L:

        L L^T = M_ff,    L y = r_f - M_fh x_h,    L^T x_f = y
    """
    matrix, factor, change = equations.matrix, equations.factor, equations.change
    modes, order, solution = equations.modes, equations.order, equations.solution
    count, size = 0, len(equations.right)
    for i in range(size):
        if modes[i] == FREE:
            order[count] = i
            count += 1
    # Row a: L_ab = (M_ab - sum_c<b L_ac L_bc) / L_bb, L_aa^2 = M_aa - sum_b<a L_ab^2; y_a with it.
    for a in range(count):
        i = order[a]
        total, diagonal = equations.right[i], matrix[i, i]
        for k in range(size):
            if modes[k] != FREE:
                total -= entry_of(matrix, i, k) * change[k]
        for b in range(a):
            entry = matrix[i, order[b]]
            for c in range(b):
                entry -= factor[a, c] * factor[b, c]
            factor[a, b] = entry / factor[b, b]
            diagonal -= factor[a, b] * factor[a, b]
            total -= factor[a, b] * solution[b]
        factor[a, a] = math.sqrt(diagonal)
        solution[a] = total / factor[a, a]
    # Backwards: x_a = (y_a - sum_b>a L_ba x_b) / L_aa.
    for back in range(count):
        a = count - 1 - back
        total = solution[a]
        for b in range(a + 1, count):
            total -= factor[b, a] * solution[b]
        solution[a] = total / factor[a, a]
        change[order[a]] = solution[a]
