"""What ground does to a marker that is in it: rigid ground, and soil (Omar 2014, section 5).

Both know a marker's depth, its velocity and the shear displacement since it came to lie where
it is. Rigid ground pushes back as a damped spring and holds on by elastic bristles until Coulomb
friction is reached, so that a shoe at rest sticks without creeping.

Soil's shear stress is the strength c + p tan(phi) (equation 49) times e / K. Sheared by dj, the
vector e grows by dj - e / K |e / K|^m |dj|. Along a straight line from e = 0 that is Janosi and
Hanamoto's 1 - exp(-j / K) for m = 0 and the hyperbolic tangent of equation 52, with k_T = 1 / K,
for m = 1. As in equations 51 and 53 the stress follows the displacement's direction, not the
velocity's, and soil holds at rest; but a reversed shear unloads steeply, where a function of the
displacement alone would pull a sheared track all the way back.

Soil is never stiffer than rigid ground: its slopes are cut off there. That matters for an exponent
below one, with which untouched soil would be infinitely stiff. Its damping is in the same
proportion to the critical one.
"""

from __future__ import annotations

import math

from segtrack.chain.ground_tread import Grip
from segtrack.chain.shoes.model import Vector
from segtrack.chain.vectors import compiled, dot
from segtrack.terrain.soil import SoilConstants


@compiled
def sum_of(a: Vector, b: Vector) -> Vector:
    """The vector a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def along_surface(a: Vector, share: float, normal: Vector) -> Vector:
    """The vector a less a share of a normal."""
    return a[0] - share * normal[0], a[1] - share * normal[1], a[2] - share * normal[2]


@compiled
def slip_on_rigid(
    shear: Vector,
    normal: Vector,
    slip: Vector,
    limit: float,
    grip: Grip,
    step: float,
) -> tuple[Vector, Vector]:
    """Advance a contact's shear displacement on rigid ground, and find the force along it.

    Args:
        shear: In the world, before the step [m].
        normal: Of the surface, out of the ground.
        slip: Velocity along the surface [m/s].
        limit: Greatest friction force [N].
        grip: The track's.
        step: Duration [s].

    Returns:
        The shear displacement after the step [m] and the force on the shoe [N], in the world.
    """
    off = shear[0] * normal[0] + shear[1] * normal[1] + shear[2] * normal[2]
    x = shear[0] - off * normal[0] + step * slip[0]
    y = shear[1] - off * normal[1] + step * slip[1]
    z = shear[2] - off * normal[2] + step * slip[2]
    k, c = grip.shear_stiffness, grip.shear_damping
    stretch = k * k * (x * x + y * y + z * z)
    if stretch > limit * limit:
        kept = limit / math.sqrt(stretch)
        x, y, z = kept * x, kept * y, kept * z
    fx, fy, fz = -k * x - c * slip[0], -k * y - c * slip[1], -k * z - c * slip[2]
    size = fx * fx + fy * fy + fz * fz
    if size > limit * limit:
        kept = limit / math.sqrt(size)
        fx, fy, fz = kept * fx, kept * fy, kept * fz
    return (x, y, z), (fx, fy, fz)


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
    return min(modulus * sinkage ** (soil.exponent - 1), steepest / max(1.0, soil.exponent))


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
        The pressure [Pa], 0 where soil that was pressed down no longer reaches up to the marker,
        and a slope for the damping [N/m^3].
    """
    if sinkage >= greatest:
        slope = soil_slope(soil, side, sinkage, steepest)
        return slope * sinkage, slope
    slope = soil_slope(soil, side, greatest, steepest)
    unloading = max(
        soil.unloading_stiffness + soil.unloading_growth * greatest, slope * max(1.0, soil.exponent)
    )
    unloading = min(unloading, steepest)
    return max(0.0, slope * greatest - unloading * (greatest - sinkage)), unloading


@compiled
def slip_in_soil(
    shear: Vector,
    normal: Vector,
    slip: Vector,
    pressure: float,
    area: float,
    soil: SoilConstants,
    grip: Grip,
    step: float,
) -> tuple[Vector, Vector]:
    """Advance a contact's shear displacement in soil, and find the force along it (49, 52, 53, 55).

    Args:
        shear: The vector e of this module, in the world, before the step [m].
        normal: Of the surface, out of the ground.
        slip: Velocity along the surface [m/s].
        pressure: Under the marker [Pa].
        area: Of the marker [m^2].
        soil: Its constants.
        grip: The track's; its shear stiffness bounds the soil's, its damping goes along.
        step: Duration [s].

    Returns:
        The shear displacement after the step [m] and the force on the shoe [N], in the world.
    """
    strength = (soil.cohesion + pressure * soil.friction) * area
    modulus = max(soil.shear_modulus, strength / grip.shear_stiffness)
    speed = math.sqrt(dot(slip, slip))
    off = shear[0] * normal[0] + shear[1] * normal[1] + shear[2] * normal[2]
    x, y, z = shear[0] - off * normal[0], shear[1] - off * normal[1], shear[2] - off * normal[2]
    share = math.sqrt(x * x + y * y + z * z) / modulus
    kept = 1 - speed * step / modulus * (share if soil.tanh > 0 else 1.0)
    x, y, z = kept * x + step * slip[0], kept * y + step * slip[1], kept * z + step * slip[2]
    share = math.sqrt(x * x + y * y + z * z) / modulus
    if share > 1:
        x, y, z = x / share, y / share, z / share
    k = strength / modulus
    c = grip.shear_damping * math.sqrt(k / grip.shear_stiffness)
    c += soil.slip_damping * area * (1 - math.exp(-speed / soil.slip_speed))
    return (x, y, z), (-k * x - c * slip[0], -k * y - c * slip[1], -k * z - c * slip[2])
