"""Deformable soil: pressure-sinkage and shear laws, and published soils.

Pressed by a plate of smaller side b down to a sinkage z, soil carries the pressure
p = (k_c / b + k_phi) z^n (Bekker). Lifted from its greatest sinkage z_u it unloads, and loads
again, along a straight line of slope k_0 + A_u z_u (Wong). Where these numbers are not known, it is taken
to be `ASSUMED_UNLOADING` times as steep as loading was there, so that nearly all of the work of
compaction is lost, as Bekker's resistance of compaction has it. Soil remembers where a track pressed it for
as long as that point of the track touches: a track behind another finds it untouched. It is sheared off at
c + p tan(phi) (Mohr-Coulomb; equation 49 of Omar 2014), of which a shear displacement j brings
up the fraction 1 - exp(-j / K) (Janosi and Hanamoto) or tanh(j / K) (equation 52 of Omar 2014).
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from segtrack.errors import InvalidValueError, finite, known_name
from segtrack.terrain.checks import Checked, Length, Limits

ShearLaw = Literal["exponential", "tanh"]

ASSUMED_UNLOADING = 10.0
"""Slope of unloading over that of loading at the greatest sinkage, where no numbers are known [-].

It is an assumption. Of the work of loading the fraction (n + 1) / (2 n 10) comes back then, about a tenth, so
that a track meets nine tenths of Bekker's resistance of compaction besides its slip. LETE sand's published
numbers say 3 at a sinkage of 5 cm and 7 at 10 cm.
"""


class SoilConstants(NamedTuple):
    """Constants of a soil in the order that kernels interpolate; units as in `Soil`.

    Attributes:
        friction: Tangent of the friction angle [-].
        unloading_ratio: Least ratio of unloading to loading slope at the greatest sinkage [-].
        tanh: 1 for the shear law "tanh", 0 for "exponential".
    """

    sinkage_exponent: float
    cohesive_modulus: float
    frictional_modulus: float
    cohesion: float
    friction: float
    shear_deformation_modulus: float
    unloading_stiffness: float
    unloading_growth: float
    unloading_ratio: float
    slip_damping: float
    slip_speed: float
    tanh: float


@dataclass(frozen=True, kw_only=True)
class Soil(Checked):
    """Deformable soil: Bekker pressure, Mohr-Coulomb shear strength, Wong unloading.

    Attributes:
        sinkage_exponent: n [-].
        cohesive_modulus: k_c [N/m^(n+1)].
        frictional_modulus: k_phi [N/m^(n+2)]; one of the two moduli is above 0.
        cohesion: c [Pa].
        friction_angle: phi [rad], below pi/2.
        shear_deformation_modulus: K, the shear displacement at which most of the shear strength acts [m].
        unloading_stiffness: k_0 [N/m^3]. Unloading is never softer than loading is: with 0, and no growth,
            the soil is elastic. None if unknown: `ASSUMED_UNLOADING` applies.
        unloading_growth: A_u [N/m^4]; 0 if k_0 is unknown.
        shear_law: Law by which shear stress grows with shear displacement.
        slip_damping: C in equation 55 of Omar 2014 [N s/m^3].
        slip_speed: mu in equation 55, the speed at which most of the damping acts [m/s].
    """

    sinkage_exponent: Annotated[float, Limits("", 0.0, inclusive=False)]
    cohesive_modulus: Annotated[float, Limits("N/m^(n+1)", 0.0)]
    frictional_modulus: Annotated[float, Limits("N/m^(n+2)", 0.0)]
    cohesion: Annotated[float, Limits("Pa", 0.0)]
    friction_angle: Annotated[float, Limits("rad", 0.0, below=math.pi / 2)]
    shear_deformation_modulus: Length
    unloading_stiffness: Annotated[float | None, Limits("N/m^3", 0.0)] = None
    unloading_growth: Annotated[float, Limits("N/m^4", 0.0)] = 0.0
    shear_law: ShearLaw = "exponential"
    slip_damping: Annotated[float, Limits("N s/m^3", 0.0)] = 0.0
    slip_speed: Annotated[float, Limits("m/s", 0.0, inclusive=False)] = 1.0

    def __post_init__(self) -> None:
        """Refuse values outside of a soil's physical range."""
        super().__post_init__()
        if self.cohesive_modulus == self.frictional_modulus == 0:
            raise InvalidValueError("Soil.frictional_modulus", "above 0 without a cohesive modulus", 0.0)
        if self.unloading_stiffness is None and self.unloading_growth != 0:
            expected = "0 without an unloading stiffness"
            raise InvalidValueError("Soil.unloading_growth", expected, self.unloading_growth)

    @classmethod
    def linear(
        cls,
        stiffness: float,
        cohesion: float,
        friction_angle: float,
        shear_rate: float,
        slip_damping: float = 0.0,
        slip_speed: float = 1.0,
    ) -> Soil:
        """Return soil with the linear law p = K_y z of equations 48-55 of Omar 2014: an elastic bed.

        Args:
            stiffness: K_y, pressure over sinkage [N/m^3].
            cohesion: K_c [Pa].
            friction_angle: phi [rad].
            shear_rate: k_T [1/m].
            slip_damping: C [N s/m^3].
            slip_speed: mu [m/s].

        Returns:
            The soil.

        Raises:
            InvalidValueError: A value is out of its range.
        """
        if finite("shear_rate of a linear soil", shear_rate) <= 0:
            raise InvalidValueError("shear_rate of a linear soil", "greater than 0 [1/m]", shear_rate)
        return cls(
            sinkage_exponent=1.0,
            cohesive_modulus=0.0,
            frictional_modulus=stiffness,
            cohesion=cohesion,
            friction_angle=friction_angle,
            shear_deformation_modulus=1 / shear_rate,
            unloading_stiffness=0.0,
            shear_law="tanh",
            slip_damping=slip_damping,
            slip_speed=slip_speed,
        )

    @property
    def constants(self) -> SoilConstants:
        """Constants of the soil for kernels."""
        return SoilConstants(
            float(self.sinkage_exponent),
            float(self.cohesive_modulus),
            float(self.frictional_modulus),
            float(self.cohesion),
            math.tan(self.friction_angle),
            float(self.shear_deformation_modulus),
            float(self.unloading_stiffness or 0.0),
            float(self.unloading_growth),
            ASSUMED_UNLOADING if self.unloading_stiffness is None else 1.0,
            float(self.slip_damping),
            float(self.slip_speed),
            float(self.shear_law == "tanh"),
        )


def find_soil(name: str) -> Soil:
    """Return a published soil by name; sources stand in `soils.csv` beside this module.

    Percentages in names are contents of moisture. A shear deformation modulus that was not
    measured is that of the soil's class: 0.01 m for firm sand, 0.025 m for loose, 0.006 m for compact
    clay, 0.025 to 0.05 m for fresh snow (Wong 2008, section 2.4).

    Raises:
        UnknownNameError: There is none of this name.
    """
    soils = published_soils()
    return soils[known_name("soil", name, soils)]


@cache
def published_soils() -> dict[str, Soil]:
    """Return all published soils by name."""
    with Path(__file__).with_name("soils.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: _soil(row) for row in csv.DictReader(file)}


def _soil(row: dict[str, str]) -> Soil:
    """Soil of one row of `soils.csv`."""
    return Soil(
        sinkage_exponent=float(row["sinkage_exponent"]),
        cohesive_modulus=float(row["cohesive_modulus"]),
        frictional_modulus=float(row["frictional_modulus"]),
        cohesion=float(row["cohesion"]),
        friction_angle=math.radians(float(row["friction_angle_deg"])),
        shear_deformation_modulus=float(row["shear_deformation_modulus"]),
        unloading_stiffness=float(row["unloading_stiffness"]) if row["unloading_stiffness"] else None,
        unloading_growth=float(row["unloading_growth"] or 0),
    )
