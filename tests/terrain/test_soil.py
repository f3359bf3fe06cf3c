"""Published soils against the tables that they are from, typed off anew in the units of print."""

import math

import pytest

from segtrack import terrain

WONG = {
    "dry sand": (1.1, 0.99, 1528.43, 1.04, 28.0),
    "sandy loam 22%": (0.2, 2.56, 43.12, 1.38, 38.0),
    "clayey soil 38%": (0.5, 13.19, 692.15, 4.14, 13.0),
    "heavy clay 25%": (0.13, 12.70, 1555.95, 68.95, 34.0),
    "lean clay 32%": (0.15, 1.52, 119.61, 13.79, 11.0),
    "LETE sand": (0.79, 102.0, 5301.0, 1.3, 31.1),
    "snow (Sweden)": (1.44, 10.55, 66.08, 6.0, 20.7),
}
"""Wong 2008, table 2.3: n, k_c [kN/m^(n+1)], k_phi [kN/m^(n+2)], c [kPa], phi [deg]."""


@pytest.mark.parametrize("name", WONG)
def test_a_soils_numbers_are_those_of_the_table(name):
    soil = terrain.find_soil(name)
    exponent, cohesive, frictional, cohesion, angle = WONG[name]
    assert soil.sinkage_exponent == exponent
    assert soil.cohesive_modulus == pytest.approx(1000 * cohesive, rel=1e-12)
    assert soil.frictional_modulus == pytest.approx(1000 * frictional, rel=1e-12)
    assert soil.cohesion == pytest.approx(1000 * cohesion, rel=1e-12)
    assert soil.friction_angle == pytest.approx(angle * math.pi / 180, rel=1e-12)
    assert soil.constants.friction == pytest.approx(math.tan(angle * math.pi / 180), rel=1e-12)
