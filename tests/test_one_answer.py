"""One quantity, one answer: what several parts say of the same thing, against closed forms."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation, Slerp

import segtrack
from segtrack.cli.log.compare import clock_deviations
from segtrack.courses import Wall
from segtrack.errors import DivergedError
from segtrack.experiments.climb import _slip
from segtrack.geometry.mass import GRAVITY, rotation_of, rpy_of, rpys_of
from segtrack.logs.clocks.estimates import Estimate
from segtrack.logs.compare.errors import correlation_of
from segtrack.logs.fit.uncertainty import effective_number
from segtrack.robot.motion import Motion, Signal
from segtrack.robot.state import attitude_of, attitudes_of
from segtrack.robot.track import longitudinal_slip
from segtrack.scoring.observer import VehicleOutline, WallSensor

PACKAGE = Path(segtrack.__file__).parent


@pytest.mark.parametrize(
    ("way", "belt", "slip"), [(1.25, 1.0, -0.2), (-0.2, 1.0, 1.0), (2.0, 0.1, -0.95), (0.6, 1.0, 0.4)]
)
def test_a_climb_slips_as_a_track_does(way: float, belt: float, slip: float) -> None:
    """Backwards, too: over a second after the 0.3 s in which the vehicle stands."""
    times = np.linspace(0.0, 1.3, 66)
    share = (times - 0.3).clip(0.0)
    x, zeros = np.stack([share * way, 0 * times, 0 * times], axis=1), np.zeros((66, 3))
    signals = {
        "position": Signal(times, x),
        "orientation": Signal(times, np.column_stack([zeros, np.ones(66)])),
        "track_travel.left": Signal(times, share * belt),
    }
    assert _slip(Motion("climb", signals)) == pytest.approx(slip, abs=1e-9)
    assert longitudinal_slip(belt, way) == pytest.approx(slip, abs=1e-9)


@pytest.mark.parametrize("quantile", [1.959964, 3.182446, 2.228139])
def test_a_clocks_deviation_is_that_of_its_own_distribution(quantile: float) -> None:
    """Student's for 3 and 10 degrees of freedom besides the normal one."""
    offset = Estimate.normal(0.4, 0.01, quantile)
    assert offset.std == pytest.approx(0.01)
    mapped: Any = type("Mapped", (), {"clocks": [type("Fit", (), {"source": "a", "offset": offset})]})
    assert clock_deviations(mapped) == {"a": pytest.approx(0.01)}


@pytest.mark.parametrize("n", [1000, 5000])
@pytest.mark.parametrize("again", [0.0, 0.5, 0.9, 0.98])
def test_series_have_as_many_independent_samples_as_theory_says(again: float, n: int) -> None:
    """x_i = r x_(i-1) + e_i has n (1 - r) / (1 + r), 10 at least: the mean of their inverse over 200 series.

    The inverse is the variance of a mean, and what is estimated. By both doors, one of which takes the mean
    of each series away.
    """
    rng, inverses = np.random.default_rng(7), []
    for _ in range(200):
        noise = rng.standard_normal(n)
        noise[0] /= math.sqrt(1 - again**2)
        values = lfilter([1.0], [1.0, -again], noise)
        inverses.append((1 / correlation_of(values).independent, 1 / effective_number(values[:, None])))
    means, theory = np.mean(inverses, axis=0), (1 + again) / (1 - again) / n
    errors = np.std(inverses, axis=0) / math.sqrt(len(inverses))
    late = 0.08 if n == 1000 else 0.05  # Ends of sums that come late by chance.
    assert (theory - 2 * errors < means).all() and (means < (1 + late) * theory + 2 * errors).all()


def test_alternating_samples_count_for_no_more_than_they_are() -> None:
    values = lfilter([1.0], [1.0, 0.7], np.random.default_rng(3).standard_normal(500))
    assert correlation_of(values).independent == effective_number(values[:, None]) == 500.0


@pytest.mark.parametrize("angle", [10.0, 90.0, 150.0, -150.0])
def test_orientations_between_samples_turn_evenly(angle: float) -> None:
    ends = Rotation.from_rotvec(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]))
    ends = Rotation.concatenate([ends[0], ends[0] * Rotation.from_euler("y", angle, degrees=True)])
    times = np.array([1.0, 3.0])
    signal = Signal(times, ends.as_quat() * [[1.0], [-1.0]])  # The farther of both signs.
    at = np.array([0.0, 1.0, 1.5, 2.9, 3.0, 9.0])
    between = Rotation.from_quat(signal.at(at))
    expected = Slerp(times, ends)(at.clip(1.0, 3.0))
    assert (between * expected.inv()).magnitude() == pytest.approx(0.0, abs=1e-9)
    turned = (ends[0].inv() * between[2]).magnitude()
    assert math.degrees(turned) == pytest.approx(abs(angle) / 4)


@pytest.mark.parametrize(
    "rpy", [(0.3, 0.2, -0.7), (-2.9, -1.1, 3.0), (0.0, math.pi / 2, -0.3), (0.0, -math.pi / 2, 2.0)]
)
def test_roll_pitch_and_yaw_are_the_same_by_every_door(rpy: tuple[float, float, float]) -> None:
    rotation = rotation_of(rpy)
    assert rpy_of(rotation) == pytest.approx(rpy, abs=1e-9)
    assert rpys_of(rotation[None])[0] == pytest.approx(rpy, abs=1e-9)
    roll, pitch, yaw = rpy
    assert attitude_of(rotation) == pytest.approx((roll, -pitch, yaw), abs=1e-9)
    assert [each[0] for each in attitudes_of(rotation[None])] == pytest.approx((roll, -pitch, yaw), abs=1e-9)
    quaternion = Rotation.from_matrix(rotation).as_quat()
    motion = Motion("m", {"orientation": Signal(np.zeros(1), quaternion[None])})
    for name, value in zip(("roll", "pitch", "yaw"), (roll, -pitch, yaw), strict=True):
        signal = motion.angle(name)
        # A quaternion knows a pitch near 90 deg to the root of rounding.
        assert signal is not None and signal.values[0] == pytest.approx(value, abs=1e-6)


def test_at_gimbal_lock_the_roll_is_zero_and_nothing_is_lost() -> None:
    rotation = rotation_of((0.3, math.pi / 2, 0.0))
    assert rpy_of(rotation) == pytest.approx((0.0, math.pi / 2, -0.3))
    for off in (0.0, 1e-14, 1e-10, 1e-7, 1e-5):
        turned = rotation_of((0.3, math.pi / 2 - off, 1.1))
        np.testing.assert_allclose(rotation_of(rpy_of(turned)), turned, atol=1e-9)
        np.testing.assert_allclose(rotation_of(rpys_of(turned)), turned, atol=1e-9)


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_a_vehicle_diverges_at_the_same_speed_in_every_engine(engine: str) -> None:
    """By the length of its velocity in any direction: (80, 80, 0) m/s is 113 m/s, (60, 60, 0) is 85."""
    for component, diverges in ((80.0, True), (60.0, False)):
        with segtrack.World(engine=engine) as world:
            robot = world.add_vehicle("packbot", track_model="compliant", position=(0, 0, 50))
            velocity = (component, component, 0.0)
            if engine == "native":
                robot.model.state.velocity[0] = velocity
            else:
                pybullet = pytest.importorskip("pybullet")
                body, client = robot.body_id, robot.model.physics_client_id
                pybullet.resetBaseVelocity(body, velocity, physicsClientId=client)
            if diverges:
                with pytest.raises(DivergedError, match="diverged: packbot"):
                    step_once(world, robot)
            else:
                step_once(world, robot)


def step_once(world: segtrack.World, robot: Any) -> None:
    """One step, with the check that is made before each in somebody else's loop."""
    if world.engine_name == "pybullet":
        robot.before_step()
    else:
        world.run(world.time_step)


def test_gravity_is_written_once() -> None:
    found = [
        (path.relative_to(PACKAGE).as_posix(), line.strip())
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\b9\.8(1|066)", line)
    ]
    assert found == [
        ("geometry/mass.py", "GRAVITY = 9.81"),
        ("geometry/mass.py", "STANDARD_GRAVITY = 9.80665"),
    ]
    assert GRAVITY == 9.81


def test_a_wall_is_touched_where_something_can_touch() -> None:
    """The arm of this robot is to be seen and collides with nothing: its front is that of its belts."""
    file = Path(segtrack.__file__).parent.parent / "demos" / "armed_packbot" / "armed_packbot.yaml"
    with segtrack.World(engine="native") as world:
        robot = world.add_vehicle(str(file), track_model="compliant")
        outline = VehicleOutline(robot).look()
        low, high = robot.bounds()
    assert outline.points.max(axis=0) == pytest.approx(high[:2], abs=3e-3)
    assert outline.points.min(axis=0) == pytest.approx(low[:2], abs=3e-3)
    for off, touched in ((-0.005, True), (0.005, False)):
        wall = Wall(x=high[0] + 0.05 + off, y=0.0, yaw=0.0, length=0.1, width=1.0, bottom=0.0, top=1.0)
        assert WallSensor([wall]).touches(outline) is touched
