"""Published soils against a second transcription of the table that they are from, in the units of print."""

import math

import pytest
from tables import each_row

from segtrack import terrain

WONG = {
    "dry sand": (1.1, 0.99, 1528.43, 1.04, 28.0),
    "sandy loam 15%": (0.7, 5.27, 1515.04, 1.72, 29.0),
    "sandy loam 22%": (0.2, 2.56, 43.12, 1.38, 38.0),
    "clayey soil 38%": (0.5, 13.19, 692.15, 4.14, 13.0),
    "clayey soil 55%": (0.7, 16.03, 1262.53, 2.07, 10.0),
    "heavy clay 25%": (0.13, 12.70, 1555.95, 68.95, 34.0),
    "heavy clay 40%": (0.11, 1.84, 103.27, 20.69, 6.0),
    "lean clay 22%": (0.2, 16.43, 1724.69, 68.95, 20.0),
    "lean clay 32%": (0.15, 1.52, 119.61, 13.79, 11.0),
    "LETE sand": (0.79, 102.0, 5301.0, 1.3, 31.1),
    "Upland sandy loam": (1.10, 74.6, 2080.0, 3.3, 33.7),
    "Rubicon sandy loam": (0.66, 6.9, 752.0, 3.7, 29.8),
    "North Gower clayey loam": (0.73, 41.6, 2471.0, 6.1, 26.6),
    "Grenville loam": (1.01, 0.06, 5880.0, 3.1, 29.8),
    "snow (US)": (1.6, 4.37, 196.72, 1.03, 19.7),
    "snow (Sweden)": (1.44, 10.55, 66.08, 6.0, 20.7),
}
"""n, k_c [kN/m^(n+1)], k_phi [kN/m^(n+2)], c [kPa], phi [deg] of Wong, Theory of Ground Vehicles (2008).

Read from `Soil_Params` of a public PyChrono program, which names the book; the book itself was not at hand.
Project Chrono's test_WVP_softsoil_traction.cpp has dry sand alike, and LETE sand but for n = 0.793. Neither
has numbers of unloading.
"""


def test_every_published_soil_has_a_second_transcription():
    assert set(terrain.published_soils()) == set(WONG)


@each_row("name", WONG)
def test_a_soils_numbers_are_those_of_the_second_transcription(name):
    soil = terrain.find_soil(name)
    exponent, cohesive, frictional, cohesion, angle = WONG[name]
    assert soil.sinkage_exponent == exponent
    assert soil.cohesive_modulus == pytest.approx(1000 * cohesive, rel=1e-12)
    assert soil.frictional_modulus == pytest.approx(1000 * frictional, rel=1e-12)
    assert soil.cohesion == pytest.approx(1000 * cohesion, rel=1e-12)
    assert soil.friction_angle == pytest.approx(angle * math.pi / 180, rel=1e-12)
    assert soil.constants.friction == pytest.approx(math.tan(angle * math.pi / 180), rel=1e-12)


def test_letes_shear_deformation_modulus_is_12_mm_in_both_transcriptions():
    assert terrain.find_soil("LETE sand").shear_deformation_modulus == 0.012
