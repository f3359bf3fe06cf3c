"""Tables of torques and gears against tables interpolated one by one."""

import numpy as np
import pytest
from scenes import vary

from segtrack.description import DriveSpec
from segtrack.engine import force_at
from segtrack.errors import InvalidValueError
from segtrack.world import World

M113 = ((0.0, 9519.0), (0.88, 9519.0), (2.51, 7140.0), (5.01, 3570.0), (10.02, 1784.0), (20.04, 892.0))
"""Angular speed [rad/s] and torque [N m] of one sprocket: Koerner 2024, table 3.10, without a row."""
ENGINE = ((50.0, 610.0), (157.0, 603.0), (262.0, 556.0), (314.0, 515.0), (335.0, 0.0))
GEARS = (4.17, 2.34, 1.46, 1.04)
RADIUS = 0.2492


def flat(drive):
    return [value for row in drive.forces for value in row]


def test_one_gear_is_the_table_over_the_radius():
    drive = DriveSpec(max_speed=13.4, torque_table={"radius": RADIUS, "rows": M113})
    assert drive.stall_force == drive.brake_force == pytest.approx(9519.0 / RADIUS)
    for speed, torque in ((0.0, 9519.0), (2.51, 7140.0), (3.76, (7140.0 + 3570.0) / 2), (40.0, 892.0)):
        assert force_at(flat(drive), speed * RADIUS) == pytest.approx(torque / RADIUS)


def test_of_several_gears_the_strongest_is_in():
    drive = DriveSpec(max_speed=80.0, torque_table={"radius": RADIUS, "rows": ENGINE, "gears": GEARS})
    speeds = np.linspace(0.0, 90.0, 4001)
    each = [np.interp(speeds * g / RADIUS, *np.transpose(ENGINE)) * g / RADIUS for g in GEARS]
    found = [force_at(flat(drive), speed) for speed in speeds.tolist()]
    np.testing.assert_allclose(found, np.max(each, axis=0), rtol=1e-12, atol=1e-9)
    assert np.all(np.diff([speed for speed, _ in drive.forces]) > 0)


def test_a_table_read_between_its_rows_is_numpys():
    table = [0.5, 3.0, 1.0, 7.0, 4.0, 0.0, 4.0, 0.0]
    for speed in np.linspace(-1.0, 6.0, 141).tolist():
        assert force_at(table, speed) == pytest.approx(np.interp(speed, table[:-2:2], table[1:-2:2]))


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_a_step_too_long_for_a_steep_table_is_refused(engine):
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    cliff = {"radius": 0.1, "rows": ((0.0, 40.0), (1.0, 40.0), (1.1, 0.0))}
    steep = vary("packbot", drive={"max_force": None, "torque_table": cliff})
    mass = steep.tracks["left"].moving_mass
    longest = mass / (400.0 / 0.01)
    with World(engine=engine, time_step=2e-3) as world, pytest.raises(InvalidValueError) as error:
        world.add_vehicle(steep)
    expected = f"at most {longest:.3g} for drive.torque_table of left"
    assert str(error.value) == f"time_step [s] must be {expected}, got 0.002"
    with World(engine=engine, time_step=0.9 * longest) as world:
        world.add_vehicle(steep)
