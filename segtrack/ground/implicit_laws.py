"""Laws of contact with rigid ground, linearly implicit in the velocities of a step.

A contact of stiffness k and damping c has the depth d, the normal n out of the ground and the velocity v of
the part that it acts on; v_n and v_t are its parts along n and along the surface. Its force is predicted for
the end of a step h with the velocity of its beginning, and its change with that velocity's change dv is -D dv
/ h:

    N_0 = k (d - h v_n) - c v_n            normal force
    s_0 = -k (e + h v_t) - c v_t           e: elastic shear displacement, cut where k |e| reaches mu N_now
    F = N n + q s                          N_now = max(0, k d + c min(-v_n, d / h)): the last step's force
    D = h (c + h k) (n n^T + q (1 - n n^T))

The secant q, which cuts friction where it reaches mu N at the step's end, and whether the part along n acts,
are `active_contacts`'. The secant stands along the slip, too: with the tangent, which is nothing there, steps
of 4 ms diverge. A point that has not touched yet counts from d < 0 on, with
N = (c + h k) (d / h - v_n): it is slowed down to where it just touches. The damping is at least k h, so that
what was driven in by an impact leaves no faster than d / (2 h). With a restitution a new contact has its
speed after the impact at the end of the step in which it begins, and no friction in that step.
"""

from __future__ import annotations

from segtrack.ground.contact_laws import ContactParameters, advance_shear, holding_force
from segtrack.kernels import Vector, compiled, inlined

Symmetric = tuple[float, float, float, float, float, float]
"""A symmetric matrix (3, 3): xx, yy, zz, xy, yz, zx."""

MIN_IMPACT_SPEED = 0.1
"""Least approach speed that a contact rebounds from [m/s]."""
NO_IMPACT = -1.0
"""In place of the speed at which a contact rebounds [m/s]."""
_RESOLUTION = 1e4
"""Stiffness of a contact in an impact over that without: it has its speed after it within the step [-]."""


@compiled
def sum_symmetric(a: Symmetric, b: Symmetric) -> Symmetric:
    """The matrix a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@compiled
def isotropic_and_along(isotropic: float, extra: float, n: Vector) -> Symmetric:
    """The matrix `isotropic` times the unit matrix, and `extra` times n n^T."""
    x, y, z = extra * n[0], extra * n[1], extra * n[2]
    return (
        isotropic + x * n[0],
        isotropic + y * n[1],
        isotropic + z * n[2],
        x * n[1],
        y * n[2],
        z * n[0],
    )


@compiled
def damping_of(law: ContactParameters, step: float) -> float:
    """Damping of a contact [N s/m]: the law's, and at least what its stiffness takes up in a step."""
    return max(law.damping, law.stiffness * step)


@compiled
def normal_load(
    law: ContactParameters,
    weight: float,
    depth: float,
    rising: float,
    rebound: float,
    step: float,
) -> tuple[float, float, float]:
    """Normal force of a contact in a step.

    Args:
        law: Contact parameters.
        weight: Fraction of the law's stiffness and damping that this contact has.
        depth: Depth [m]; negative before it touches.
        rising: Velocity out of the ground [m/s].
        rebound: Speed at which the contact rebounds in the step [m/s], or `NO_IMPACT`.
        step: Duration [s].

    Returns:
        Force predicted for the step's end with the velocity of now, below 0 where it would pull [N], its loss
        per velocity [N s/m], and force now [N].
    """
    stiffness, damping = weight * law.stiffness, weight * damping_of(law, step)
    resistance = damping + step * stiffness
    # An impact: N_0 = R (v_after - v_n), with R so large that the contact has v_after at the step's end.
    if rebound >= 0.0:
        resistance *= _RESOLUTION
        return resistance * (rebound - rising), resistance, 0.0
    # Before it touches N_0 = (c + h k) (d / h - v_n), afterwards N_0 = k (d - h v_n) - c v_n.
    if depth < 0.0:
        force, now = resistance * (depth / step - rising), 0.0
    else:
        force = stiffness * (depth - step * rising) - damping * rising
        # A contact that has begun within the last step was only slowed down over what it has entered.
        entering = min(-rising, depth / step) if step > 0.0 else -rising
        now = max(0.0, stiffness * depth + damping * entering)
    return force, resistance, now


@compiled
def rebound_speed(law: ContactParameters, known: bool, rising: float) -> float:
    """Speed at which a contact rebounds in a step [m/s]; `NO_IMPACT` where it does not.

    Args:
        law: Contact parameters.
        known: True if there was contact before.
        rising: Velocity out of the ground [m/s].
    """
    if known or law.restitution == 0.0 or rising > -MIN_IMPACT_SPEED:
        return NO_IMPACT
    return -law.restitution * rising


@inlined
def friction_load(
    shear: Vector,
    normal: Vector,
    lateral: Vector,
    slip: Vector,
    limit: float,
    law: ContactParameters,
    weight: float,
    step: float,
    horizon: float,
) -> tuple[Vector, Vector, float, Vector, float]:
    """Friction that would hold a contact with rigid ground; its shear displacement is advanced to now.

    Args:
        shear: Shear displacement at the step's beginning, before the last one's motion, in the world [m].
        normal: Normal of the surface, out of the ground.
        lateral: Direction across the track, in the world.
        slip: Velocity along the surface [m/s].
        limit: Greatest friction force along the track [N].
        law: Contact parameters.
        weight: Fraction of the law's stiffness and damping that this contact has.
        step: Duration [s].
        horizon: Time that the force is predicted for [s]: that of the step, or 0 for the force of now.

    Returns:
        Shear displacement now [m] and s_0 [N], in the world, the loss of that force per velocity [N s/m], the
        direction across the track along the surface, nothing where the ellipse is a circle, and 1 - r^2 [-].
    """
    k = weight * law.tangential_stiffness
    c = weight * max(law.tangential_damping, law.tangential_stiffness * step)
    (x, y, z), side, less, across = advance_shear(
        shear, normal, lateral, slip, limit, k, law.lateral_ratio, step
    )
    # s_0 = -k (e + h v_t) - c v_t, with h = 0 for the force of now.
    resistance = c + horizon * k
    holding = holding_force((x, y, z), side, less, across, slip, k, resistance)
    return (x, y, z), holding, resistance, across, less


@compiled
def contact_mass(
    resistance: float, grip: float, drag: float, normal: Vector, across: Vector, less: float
) -> Symmetric:
    """Mass that a contact adds, D = R n n^T + G (1 - n n^T - (1 - r^2) a a^T) + V (1 - n n^T) (3, 3) [kg].

    Args:
        resistance: R, along the normal n [kg].
        grip: G, along the surface and the track, of friction [kg].
        drag: V, along the surface, of a viscous force [kg].
        normal: Normal of the surface.
        across: Direction a across the track, along the surface; nothing where the ellipse is a circle.
        less: 1 - r^2 with the ratio r of friction across the track and along it [-].
    """
    added = isotropic_and_along(grip + drag, resistance - grip - drag, normal)
    return sum_symmetric(added, isotropic_and_along(0.0, -less * grip, across))
