"""Laws of contact at a point, and their parameters: rigid ground, and soil (Omar 2014, section 5).

Both know a contact point's depth, its velocity and the shear displacement since it came to lie where
it is. Rigid ground pushes back as a damped spring and holds on by elastic bristles until Coulomb
friction is reached, so that a shoe at rest sticks without creeping.

Soil's shear stress is the strength c + p tan(phi) (equation 49) times e / K. Sheared by dj, the
vector e grows by dj - e / K |e / K|^m |dj|. Along a straight line from e = 0 that is Janosi and
Hanamoto's 1 - exp(-j / K) for m = 0 and the hyperbolic tangent of equation 52, with k_T = 1 / K,
for m = 1. As in equations 51 and 53 the stress follows the displacement's direction, not the
velocity's, and soil holds at rest; but a reversed shear unloads steeply, where a function of the
displacement alone would pull a sheared track all the way back. Shear and damping together are at most the
strength under the normal force as it acts; what equation 55 adds is beside it.

Soil is never stiffer than rigid ground: its slopes are cut off there. That matters for an exponent
below one, with which untouched soil would be infinitely stiff. Its damping is in the same
proportion to the critical one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from segtrack.errors import InvalidValueError, finite
from segtrack.kernels import Vector, compiled, dot, exponential, inlined, power, scaled, sum_of, without_share
from segtrack.terrain import SoilConstants


def check(of: object, name: str, holds: bool, expected: str) -> None:
    """Refuse a description whose attribute is not as expected.

    Raises:
        InvalidValueError: It does not hold.
    """
    if not holds:
        raise InvalidValueError(_named(of, name), expected, getattr(of, name))


def read_number(of: object, name: str, above: bool = False) -> None:
    """Make an attribute of a frozen description a finite number, at least 0 or `above` it.

    Raises:
        InvalidValueError: It is not.
    """
    value = finite(_named(of, name), getattr(of, name))
    object.__setattr__(of, name, value)
    check(of, name, value > 0 or (value == 0 and not above), "greater than 0" if above else "at least 0")


def _named(of: object, name: str) -> str:
    kind = type(of).__name__.lower()
    return f"{name} of {'an' if kind[0] in 'aeiou' else 'a'} {kind}"


class ContactParameters(NamedTuple):
    """Law of every contact point of a part on rigid ground.

    Attributes:
        friction: Coulomb coefficient of the part along its track [-]; the ground's multiplies it.
        stiffness: Along the normal [N/m].
        damping: Along the normal [N s/m].
        tangential_stiffness: Along the surface, as long as the point sticks [N/m].
        tangential_damping: Along the surface [N s/m].
        lateral_ratio: Friction across the track over friction along it [-].
        restitution: Speed after an impact over that before it, for contacts that are taken implicitly [-].
    """

    friction: float
    stiffness: float
    damping: float
    tangential_stiffness: float
    tangential_damping: float
    lateral_ratio: float = 1.0
    restitution: float = 0.0


def contact_parameters(
    friction: float,
    stiffness: float,
    damping: float,
    tangential_stiffness: float,
    tangential_damping: float = 0.0,
    lateral_ratio: float = 1.0,
    restitution: float = 0.0,
) -> ContactParameters:
    """`ContactParameters` of numbers that make sense.

    Raises:
        InvalidValueError: One is negative, or a stiffness or the lateral ratio is zero.
    """
    law = ContactParameters(
        friction, stiffness, damping, tangential_stiffness, tangential_damping, lateral_ratio, restitution
    )
    for name, value in zip(ContactParameters._fields, law, strict=True):
        number, above = finite(f"{name} of a contact", value), name.endswith(("stiffness", "ratio"))
        if number < 0 or (number == 0 and above):
            expected = "greater than 0" if above else "at least 0"
            raise InvalidValueError(f"{name} of a contact", expected, value)
    return ContactParameters(*map(float, law))


@inlined
def advance_shear(
    shear: Vector,
    normal: Vector,
    lateral: Vector,
    slip: Vector,
    limit: float,
    stiffness: float,
    ratio: float,
    step: float,
) -> tuple[Vector, float, float, Vector]:
    """Advance the elastic shear displacement of a contact with rigid ground, cut where it slides.

    The limit of friction is an ellipse with the axes `limit` along the track and `limit` times the lateral
    ratio r across it. The stiffness across is r^2 of that along, so that a sliding contact is pulled
    back by the force of largest dissipation.

    Args:
        shear: Shear displacement in the world, before the step [m].
        normal: Normal of the surface, out of the ground.
        lateral: Direction across the track, in the world.
        slip: Velocity along the surface [m/s].
        limit: Greatest friction force along the track [N].
        stiffness: Along the track [N/m].
        ratio: Friction across the track over friction along it, r [-].
        step: Duration [s].

    Returns:
        Shear displacement after the step in the world [m], its component across the track [m], 1 - r^2, and
        the direction across the track along the surface; nothing where the ellipse is a circle.
    """
    # e <- (1 - n n^T) e + h v_t: what had turned out of the surface goes.
    x, y, z = without_share(shear, dot(shear, normal), normal)
    x, y, z = x + step * slip[0], y + step * slip[1], z + step * slip[2]
    less, across = 0.0, (0.0, 0.0, 0.0)
    if ratio != 1.0:
        across = without_share(lateral, dot(lateral, normal), normal)
        size = math.sqrt(dot(across, across))
        across = (across[0] / size, across[1] / size, across[2] / size) if size > 1e-6 else (0.0, 0.0, 0.0)
        less = 1 - ratio * ratio
    side = x * across[0] + y * across[1] + z * across[2]
    # With a across the track and f = -k (e - (1 - r^2) e_a a), within the ellipse of friction:
    # f_along^2 + (f_a / r)^2 = k^2 (e^2 - (1 - r^2) e_a^2) <= limit^2.
    stretch = stiffness * stiffness * (x * x + y * y + z * z - less * side * side)
    if stretch > limit * limit:
        cut = limit / math.sqrt(stretch)
        x, y, z, side = cut * x, cut * y, cut * z, cut * side
    return (x, y, z), side, less, across


@inlined
def holding_force(
    shear: Vector, side: float, less: float, across: Vector, slip: Vector, stiffness: float, resistance: float
) -> Vector:
    """Force along a surface that would hold a contact, -(1 - less a a^T) (k e + c v_t) [N].

    Args:
        shear: Shear displacement [m], as `advance_shear` returns it.
        side: Its component across the track [m].
        less: 1 - r^2 [-].
        across: Direction across the track along the surface.
        slip: Velocity along the surface [m/s].
        stiffness: Along the track [N/m].
        resistance: Loss of force per velocity, along the track [N s/m].
    """
    x, y, z = shear
    held = less * (stiffness * side + resistance * dot(slip, across))
    return (
        held * across[0] - stiffness * x - resistance * slip[0],
        held * across[1] - stiffness * y - resistance * slip[1],
        held * across[2] - stiffness * z - resistance * slip[2],
    )


@compiled
def friction_square(force: Vector, across: Vector, less: float) -> float:
    """Square of a force along a surface, measured by the axis of friction's ellipse along the track [N^2].

    With f_a across the track, f^2 + f_a^2 (1 - r^2) / r^2 = f_along^2 + (f_a / r)^2.
    """
    side = dot(force, across)
    return dot(force, force) + side * side * less / (1 - less)


@compiled
def friction_cut(force: Vector, across: Vector, less: float, limit: float) -> float:
    """Factor that brings a force [N] within the ellipse of friction, at most 1 [-]."""
    square = friction_square(force, across, less)
    return limit / math.sqrt(square) if square > limit * limit else 1.0


@inlined
def rigid_friction(
    shear: Vector,
    normal: Vector,
    lateral: Vector,
    slip: Vector,
    limit: float,
    law: ContactParameters,
    weight: float,
    step: float,
) -> tuple[Vector, Vector]:
    """Advance a contact's shear displacement on rigid ground, and find the force along it.

    Args:
        shear: Shear in the world, before the step [m].
        normal: Normal of the surface, out of the ground.
        lateral: Direction across the track, in the world.
        slip: Velocity along the surface [m/s].
        limit: Greatest friction force along the track [N].
        law: Contact parameters.
        weight: Fraction of the law's stiffness and damping that this contact has.
        step: Duration [s].

    Returns:
        The shear displacement after the step [m] and the force on what moves [N], in the world.
    """
    k, c = weight * law.tangential_stiffness, weight * law.tangential_damping
    ratio = law.lateral_ratio
    (x, y, z), side, less, across = advance_shear(shear, normal, lateral, slip, limit, k, ratio, step)
    holding = holding_force((x, y, z), side, less, across, slip, k, c)
    return (x, y, z), scaled(holding, friction_cut(holding, across, less, limit))


@compiled
def soil_slope(soil: SoilConstants, side: float, sinkage: float, steepest: float) -> float:
    """Pressure over sinkage (p / z) of a first loading down to `sinkage` [N/m^3], at most as steep as given.

    Args:
        soil: Its constants.
        side: Smaller side b of the face that is pressed in [m].
        sinkage: Above 0 [m].
        steepest: Slope of rigid ground, that the curve's tangent is kept below [N/m^3].
    """
    modulus = soil.cohesive_modulus / side + soil.frictional_modulus
    return min(
        modulus * power(sinkage, soil.sinkage_exponent - 1), steepest / max(1.0, soil.sinkage_exponent)
    )


@compiled
def soil_pressure(
    soil: SoilConstants, side: float, sinkage: float, greatest: float, steepest: float
) -> tuple[float, float]:
    """Pressure of soil (Bekker; equation 48 of Omar 2014), and its slope over sinkage.

    Below the greatest sinkage so far it is that of Wong's repetitive loading.

    Args:
        soil: Its constants.
        side: Smaller side b of the face that is pressed in [m].
        sinkage: Now, above 0 [m].
        greatest: Since the contact began, before now [m].
        steepest: Slope of rigid ground [N/m^3].

    Returns:
        The pressure [Pa], 0 where soil that was pressed down no longer reaches up to the point,
        and a slope for the damping [N/m^3].
    """
    # First loading, p = (k_c / b + k_phi) z^n (48).
    if sinkage >= greatest:
        slope = soil_slope(soil, side, sinkage, steepest)
        return slope * sinkage, slope
    # Repetitive loading (Wong), p = p(z_max) - k_u (z_max - z), k_u = k_0 + A_u z_max.
    slope = soil_slope(soil, side, greatest, steepest)
    unloading = max(
        soil.unloading_stiffness + soil.unloading_growth * greatest,
        soil.unloading_ratio * slope * max(1.0, soil.sinkage_exponent),
    )
    unloading = min(unloading, steepest)
    return max(0.0, slope * greatest - unloading * (greatest - sinkage)), unloading


@inlined
def advance_soil_shear(
    shear: Vector,
    normal: Vector,
    slip: Vector,
    strength: float,
    soil: SoilConstants,
    stiffest: float,
    step: float,
) -> tuple[Vector, float]:
    """Advance a contact's shear displacement in soil (Omar 2014, equations 49, 52 and 53).

    Args:
        shear: The vector e of this module, in the world, before the step [m].
        normal: Normal of the surface, out of the ground.
        slip: Velocity along the surface [m/s].
        strength: Shear strength of the contact [N].
        soil: Its constants.
        stiffest: Stiffness of rigid ground, which bounds the soil's [N/m].
        step: Duration [s].

    Returns:
        The shear displacement after the step in the world [m], at which soil shears off at the most, and the
        force over it [N/m].
    """
    modulus = max(soil.shear_deformation_modulus, strength / stiffest)
    speed = math.sqrt(dot(slip, slip))
    # de = dj - e / K |e / K|^m |dj|, and |e| <= K, where the stress is the strength.
    x, y, z = without_share(shear, dot(shear, normal), normal)
    share = math.sqrt(x * x + y * y + z * z) / modulus
    kept = 1 - speed * step / modulus * (share if soil.tanh > 0 else 1.0)
    x, y, z = kept * x + step * slip[0], kept * y + step * slip[1], kept * z + step * slip[2]
    share = math.sqrt(x * x + y * y + z * z) / modulus
    if share > 1:
        x, y, z = x / share, y / share, z / share
    return (x, y, z), strength / modulus


@compiled
def soil_limit(soil: SoilConstants, area: float, push: float) -> float:
    """Shear strength of a contact under a normal force [N] (49); nothing where it does not press."""
    return soil.cohesion * area + soil.friction * push if push > 0.0 else 0.0


@inlined
def soil_holding(shear: Vector, slip: Vector, stiffness: float, damping: float, limit: float) -> Vector:
    """Force of shear and damping along the surface of soil, up to its strength [N].

    Args:
        shear: Shear displacement after the step [m].
        slip: Velocity along the surface [m/s].
        stiffness: Force over shear displacement [N/m].
        damping: Damping of the contact along the surface [N s/m].
        limit: See `soil_limit` [N].
    """
    holding = without_share(scaled(shear, -stiffness), damping, slip)
    return scaled(holding, friction_cut(holding, (0.0, 0.0, 0.0), 0.0, limit))


@inlined
def soil_drag(slip: Vector, area: float, soil: SoilConstants) -> Vector:
    """Viscous force of soil along its surface [N], beside its strength (55)."""
    speed = math.sqrt(dot(slip, slip))
    return scaled(slip, -soil.slip_damping * area * (1 - exponential(-speed / soil.slip_speed)))


@compiled
def soil_shear(
    shear: Vector,
    normal: Vector,
    slip: Vector,
    pressure: float,
    push: float,
    area: float,
    soil: SoilConstants,
    law: ContactParameters,
    weight: float,
    step: float,
) -> tuple[Vector, Vector]:
    """Advance a contact's shear displacement in soil, and find the force along it.

    Args:
        shear: The vector e of this module, in the world, before the step [m].
        normal: Normal of the surface, out of the ground.
        slip: Velocity along the surface [m/s].
        pressure: Pressure under the contact point without damping [Pa].
        push: Normal force, with damping [N].
        area: Area of the contact point [m^2].
        soil: Its constants.
        law: Contact parameters; their tangential stiffness bounds the soil's, their damping goes along.
        weight: Fraction of the law's stiffness and damping that this contact has.
        step: Duration [s].

    Returns:
        The shear displacement after the step [m] and the force on what moves [N], in the world.
    """
    stiffest = weight * law.tangential_stiffness
    strength = (soil.cohesion + pressure * soil.friction) * area
    sheared, k = advance_soil_shear(shear, normal, slip, strength, soil, stiffest, step)
    c = weight * law.tangential_damping * math.sqrt(k / stiffest)
    holding = soil_holding(sheared, slip, k, c, soil_limit(soil, area, push))
    return sheared, sum_of(holding, soil_drag(slip, area, soil))
