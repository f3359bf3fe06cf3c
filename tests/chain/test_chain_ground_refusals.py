"""Values of grounds, soils and treads that cannot be, whole messages."""

import numpy as np
import pytest
from shoe_scene import LINEAR, PLATE, SAND, some_soil
from tables import each_row

from segtrack import terrain
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.ground import RIGID, Ground, Grouser, Tread, contact_parameters, pack_ground, pack_treads
from segtrack.terrain import Soil, find_soil

FLAT = np.zeros((2, 2))


@each_row(
    "make, message",
    [
        (
            lambda: some_soil(sinkage_exponent=0),
            "Soil.sinkage_exponent must be a positive finite number, got 0",
        ),
        (
            lambda: some_soil(cohesive_modulus=-1.0),
            "Soil.cohesive_modulus must be a finite number of at least 0 [N/m^(n+1)], got -1.0",
        ),
        (
            lambda: some_soil(cohesive_modulus=0, frictional_modulus=0),
            "Soil.frictional_modulus must be above 0 without a cohesive modulus, got 0.0",
        ),
        (
            lambda: some_soil(friction_angle=30.0),
            "Soil.friction_angle must be less than pi/2 [rad], got 30.0",
        ),
        (
            lambda: some_soil(shear_deformation_modulus=0.0),
            "Soil.shear_deformation_modulus must be a positive finite number [m], got 0.0",
        ),
        (
            lambda: some_soil(shear_law="linear"),
            "Soil.shear_law must be one of exponential, tanh, got 'linear'",
        ),
        (
            lambda: Soil.linear(1e6, 0, 0, 0.0),
            "shear_rate of a linear soil must be greater than 0 [1/m], got 0.0",
        ),
        (lambda: terrain.Plane(soil="sand"), "Plane.soil must be a Soil or None, got 'sand'"),
        (
            lambda: terrain.Heightfield(heights=FLAT, spacing=1.0, soils=[[SAND]]),
            "Heightfield.soils must be of the heights' shape (2, 2), got (1, 1)",
        ),
        (
            lambda: terrain.Heightfield(heights=FLAT, spacing=1.0, soils=[[SAND, SAND], [SAND, 1]]),
            "Heightfield.soils[1, 1] must be a Soil, got 1",
        ),
        (
            lambda: terrain.Heightfield(heights=FLAT, spacing=1.0, soils=[[SAND, SAND], [SAND, LINEAR]]),
            "Heightfield.soils must be of one shear law, got ['exponential', 'tanh']",
        ),
        (lambda: contact_parameters(-1, 1, 0, 1), "friction of a contact must be at least 0, got -1"),
        (
            lambda: contact_parameters(1, 1, 0, 0),
            "tangential_stiffness of a contact must be greater than 0, got 0",
        ),
        (lambda: Tread(0.04, 0, 0.005, 0.01), "width of a tread must be greater than 0, got 0.0"),
        (
            lambda: Tread(0.04, 0.1, 0.005, 0.01, Grouser(0.01, 0.05, 0.01)),
            "grouser of a tread must be within the plate's length, got "
            "Grouser(height=0.01, base=0.05, top=0.01, x=0.0)",
        ),
        (lambda: Grouser(0.01, 0.01, 0.02), "top of a grouser must be at most its base of 0.01, got 0.02"),
        (
            lambda: pack_treads([PLATE], [0, 1]),
            "kinds of treads must be one for each link, from 0 to 0, got [0, 1]",
        ),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message


def test_the_soils_that_there_are_are_listed():
    with pytest.raises(UnknownNameError) as error:
        find_soil("mud")
    assert str(error.value).startswith("no soil 'mud'; there are: dry sand, sandy loam 15%, ")


def test_an_empty_mesh_is_no_ground(tmp_path):
    file = tmp_path / "hill.stl"
    file.touch()
    with pytest.raises(InvalidValueError) as error:
        pack_ground([terrain.Mesh(file=file)])
    assert str(error.value) == f"ground must be an OBJ or STL file of solids, got '{file}'"


def test_rigid_ground_has_no_soil():
    ground = pack_ground([terrain.Plane(), terrain.Plane(soil=SAND), terrain.Plane(soil=SAND)])
    assert isinstance(ground, Ground)
    assert ground.solid_soils.tolist() == [RIGID, 0, 0]
