"""Mountings of gyroscopes: any rotation is found within its interval, and scales stay those of gyroscopes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from quick import some_of
from scipy.spatial.transform import Rotation
from test_clocks import orientations, pair, rates

from segtrack.errors import ClockError
from segtrack.geometry import rpy_of
from segtrack.logs import Motion, Signal
from segtrack.logs.mapping import SensorMounting, fit_clock
from segtrack.logs.mapping.overlay import mounting_of

MOUNTED = Rotation.from_euler("ZYX", [0.03, -0.025, 0.035])
"""That of the gyroscope in `pair`."""
QUARTERS = {
    f"{axis} {angle:+d}": Rotation.from_euler(axis, angle, degrees=True)
    for axis in "XYZ"
    for angle in (90, -90, 180)
}
RANDOM = {f"random {i}": turn for i, turn in enumerate(Rotation.random(4, random_state=7))}
TURNS = QUARTERS | RANDOM


def mounted(turn, scale=1.0, **given):
    """An odometry and a gyroscope of `pair` that is turned further, its rates too small by a scale."""
    odometry, imu = pair(**given)
    gyro = imu.signals["angular_velocity"]
    values = turn.inv().apply(gyro.values.copy()) / scale
    return odometry, imu.with_signals({"angular_velocity": Signal(gyro.times, values, source="imu")})


@pytest.mark.parametrize("scale", [1.0, 1.03])
@pytest.mark.parametrize("name", some_of(TURNS, "X +90", "Y -90", "Z +180", "random 1"))
def test_a_gyroscope_is_found_however_it_is_mounted(name, scale):
    """In a region and a half that holds 95 %, as fourteen and two scales are tried; so of the scale."""
    fit = fit_clock(*mounted(TURNS[name], scale))
    truth = MOUNTED * TURNS[name]
    (found,) = fit.mountings
    assert (Rotation.from_quat(found.quaternion) * truth.inv()).magnitude() < 0.006
    assert replace(found, quantile=1.5 * found.quantile).holds(truth)
    assert abs(fit.scale.value - scale) < 1.5 * fit.scale.margin
    assert fit.scale.margin < 0.02


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["yaw", "pitch", "roll"])
@pytest.mark.parametrize(
    "name",
    some_of(
        ["X +180", "Y +180", "Z +180", "X +90", "Y -90", "Z +90", "random 1"], "Y +180", "Z +90", "random 1"
    ),
)
def test_turning_about_one_axis_shows_it_and_its_sense(axis, name):
    """What turns about that axis cannot be seen, all else is; no scale is negative."""
    fit = fit_clock(*mounted(TURNS[name], only=axis, duration=15.0))
    (found,) = fit.mountings
    truth = MOUNTED * TURNS[name]
    body = np.eye(3)[2 - axis]
    nearest = found.nearest(truth)
    assert nearest.inv().apply(body) == pytest.approx(truth.inv().apply(body), abs=0.006)
    assert (nearest * truth.inv()).magnitude() < 0.01
    assert 0.9 < fit.scale.value < 1.1
    assert abs(fit.scale.value - 1.0) < 1.5 * fit.scale.margin


@pytest.mark.parametrize(
    ("unit", "factor"), [("deg", 180 / math.pi), ("rev", 1 / (2 * math.pi)), ("half", 0.5)]
)
@pytest.mark.parametrize("by", ["turning", None])
def test_a_unit_that_no_gyroscope_has_is_refused(unit, factor, by):
    """Also where no motion is named: pitch alone would be fitted with any scale."""
    with pytest.raises(ClockError) as error:
        fit_clock(*mounted(Rotation.identity(), 1 / factor), by=by)
    head, _, rest = str(error.value).partition(" would take a scale of ")
    assert head == "the clock of imu cannot be put on that of odom: by turning: the rates"
    scale, _, end = rest.partition(", ")
    assert float(scale) == pytest.approx(1 / factor, rel=0.05)
    assert end == "where a gyroscope's is 0.9 to 1.1: is a unit wrong?"


@pytest.mark.parametrize("name", TURNS)
def test_the_angles_of_a_mounting_are_its_rotation(name):
    """Also of one that is pitched by 90 deg, whose roll and yaw are not seen one by one."""
    found = SensorMounting.of("rates", TURNS[name], np.eye(3) * 1e-6)
    roll, pitch, yaw = rpy_of(found.nearest(Rotation.identity()).as_matrix())
    again = Rotation.from_euler("ZYX", (yaw, pitch, roll))
    assert (again * TURNS[name].inv()).magnitude() < 1e-6
    assert found.holds(TURNS[name])
    assert not found.holds(Rotation.from_rotvec([0.01, 0.0, 0.0]) * TURNS[name])


def test_a_rotation_of_one_axis_into_another_is_the_smallest():
    along = np.random.default_rng(0).normal(size=(50, 1))
    one, other = np.array([[1.0, 2.0, 2.0]]) / 3, np.array([[2.0, -1.0, 2.0]]) / 3
    turn = mounting_of(along * one, along * other)
    assert turn.apply(one[0]) == pytest.approx(other[0])
    assert turn.magnitude() == pytest.approx(math.acos(float(one[0] @ other[0])))
    back = mounting_of(along * one, -along * one)
    assert back.apply(one[0]) == pytest.approx(-one[0])


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", some_of(range(4), 0))
def test_noise_does_not_show_how_far_a_gyroscope_is_turned_about_the_only_axis(seed, noise):
    """A vehicle that only yaws: its gyroscope sits as mapped, and noise of roll and pitch says nothing."""
    rng = np.random.default_rng(seed)
    times, seen = np.arange(0.0, 30.0, 0.02), np.arange(1.0, 29.0, 0.01)
    turned = orientations(times, 0) * Rotation.from_rotvec(rng.normal(0, 0.002, (len(times), 3)))
    odometry = Motion("odom", {"orientation": Signal(times, turned.as_quat(), source="odom")})
    values = rates(seen, 0) + rng.normal(0, noise, (len(seen), 3))
    imu = Motion("imu", {"angular_velocity": Signal(seen - 5.0, values, source="imu")})
    (found,) = fit_clock(odometry, imu).mountings
    roll, pitch, yaw = found.rpy
    assert yaw is None and roll is not None and pitch is not None
    assert found.nearest(Rotation.identity()).magnitude() < math.radians(0.5)
