"""One quantity, one answer: what several parts say of the same thing, against closed forms."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation, Slerp

import segtrack
from segtrack.courses import VehicleOutline, Wall, WallSensor
from segtrack.description import belt_corners, body_points, bounding_box, find_vehicle, place_tracks
from segtrack.errors import DivergedError
from segtrack.experiments.climb import _slip
from segtrack.geometry import GRAVITY, rotation_of, rpy_of, rpys_of
from segtrack.logs.fit.estimates import effective_number
from segtrack.logs.mapping import ClockFit, Estimate
from segtrack.logs.statistics import correlation_of
from segtrack.robot import Motion, Signal, attitude_of, attitudes_of, longitudinal_slip

PACKAGE = Path(segtrack.__file__).parent
ARMED = PACKAGE.parent / "demos" / "armed_packbot" / "armed_packbot.yaml"


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
    offset, skew = Estimate.normal(0.4, 0.01, quantile), Estimate.normal(0.0, 0.001, quantile)
    assert offset.std == pytest.approx(0.01)
    fit = ClockFit("a", "b", "turning", 0.0, offset, skew, 0.0, 100)
    assert fit.uncertainty.std(np.array([0.4, 10.4])) == pytest.approx([0.01, 0.01 * math.sqrt(2)])


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


MOTIONS = {
    # (60, 60, 0) m/s is 85 m/s, (80, 80, 0) is 113.
    "its body": ((60.0, 60.0, 0.0), (0.0, 0.0, 0.0), 0.0, 80.0 / 60.0),
    # Of a quince of 0.60 m from its middle to the farthest tip.
    "the rotation of its body": ((0.0, 0.0, 0.0), (70.0, -70.0, 98.0), 0.0, 1.4),
    "joint front_right": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), -140.0, 1.4),
    "the rotation of its body, with the others": ((20.0, 20.0, 0.0), (30.0, 0.0, 50.0), 40.0, 1.5),
}
"""Velocity [m/s], angular velocity [rad/s] and speed of a flipper [rad/s] that are just borne,
and the factor with which they no longer are."""


@pytest.mark.parametrize("engine", ["native", "pybullet"])
@pytest.mark.parametrize("part", MOTIONS)
def test_a_vehicle_diverges_at_the_same_speed_in_every_engine(engine: str, part: str) -> None:
    """By the lengths of its velocities in any direction, at its farthest point, together."""
    velocity, spin, rate, more = MOTIONS[part]
    for factor in (1.0, more):
        with segtrack.World(engine=engine, gravity=0.0) as world:
            robot = world.add_vehicle("quince", track_model="compliant", position=(0, 0, 50))
            linear, angular = np.multiply(factor, velocity), np.multiply(factor, spin)
            joint = list(robot.flippers).index("front_right")
            if engine == "native":
                state = robot.model.state
                state.velocity[0], state.angular_velocity[0] = linear, angular
                state.joint_speeds[0, joint] = factor * rate
            else:
                body = robot.body_id
                world.client.resetBaseVelocity(body, linear.tolist(), angular.tolist())
                number = robot.model.flippers[joint].joint
                world.client.resetJointState(body, number, 0.0, targetVelocity=factor * rate)
            if factor == 1.0:
                robot.model.check_speed() if engine == "pybullet" else world.run(world.time_step)
                continue
            with pytest.raises(DivergedError) as error:
                robot.model.check_speed() if engine == "pybullet" else world.run(world.time_step)
            assert "faster than 100 m/s, up to 1" in str(error.value)
            assert f": {part.split(',')[0]} at " in str(error.value)


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
    with segtrack.World(engine="native") as world:
        robot = world.add_vehicle(str(ARMED), track_model="compliant")
        outline = VehicleOutline(robot).look()
        low, high = robot.bounds()
    assert outline.points.max(axis=0) == pytest.approx(high[:2], abs=3e-3)
    assert outline.points.min(axis=0) == pytest.approx(low[:2], abs=3e-3)
    for off, touched in ((-0.005, True), (0.005, False)):
        wall = Wall(x=high[0] + 0.05 + off, y=0.0, yaw=0.0, length=0.1, width=1.0, bottom=0.0, top=1.0)
        assert WallSensor([wall]).touches(outline) is touched


POSES = {"up": (0.9, -1.2, 0.3, 0.0), "flat": (0.0,) * 4}


@pytest.mark.parametrize(("engine", "track_model"), [("native", "compliant"), ("pybullet", "segments")])
@pytest.mark.parametrize("name", ["quince", "m113", "triangular", "example_rover", "armed_packbot"])
def test_what_can_touch_is_the_same_in_every_engine(name: str, engine: str, track_model: str) -> None:
    """As it is placed, measured and touched: to what lies between grousers, askew, flippers anywhere."""
    vehicle = segtrack.load_vehicle(str(ARMED) if name == "armed_packbot" else name)
    rotation, position = rotation_of((0.2, -0.3, 2.0)), (3.0, -2.0, 1.0)
    for angles in POSES.values() if vehicle.flippers else [()]:
        flippers = dict(zip(vehicle.flippers, angles, strict=False))
        with segtrack.World(engine=engine) as world:
            robot = world.add_vehicle(vehicle, track_model=track_model, flippers=flippers)
            robot.reset_base_pose((0.0, 0.0, 0.0))
            np.testing.assert_allclose(robot.bounds(), bounding_box(vehicle, flippers), atol=3e-3)
            robot.reset_base_pose(position, Rotation.from_matrix(rotation).as_quat().tolist())
            low, high = robot.bounds()
            seen = VehicleOutline(robot).look()
        corners = [body_points(vehicle), *map(belt_corners, place_tracks(vehicle, flippers))]
        points = np.concatenate(corners) @ rotation.T + position
        np.testing.assert_allclose((low, high), (points.min(axis=0), points.max(axis=0)), atol=3e-3)
        np.testing.assert_allclose(seen.points.min(axis=0), low[:2], atol=3e-3)
        np.testing.assert_allclose(seen.points.max(axis=0), high[:2], atol=3e-3)
        assert (seen.z_min.min(), seen.z_max.max()) == pytest.approx((low[2], high[2]), abs=3e-3)


def test_a_box_that_is_turned_on_its_link_is_touched_at_its_corner(tmp_path: Path) -> None:
    """By 45 degrees about z: 0.2 x 0.2 m reach 0.141 m along x, and a wall askew by as much is 0.1 m away."""
    shape = '<origin xyz="0.4 0 0.3" rpy="0 0 0.785398163"/><geometry><box size="0.2 0.2 0.1"/></geometry>'
    inertia = '<mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    (tmp_path / "own.urdf").write_text(
        f'<robot name="own"><link name="base"><inertial>{inertia}</inertial>'
        f"<collision>{shape}</collision></link></robot>"
    )
    data = yaml.safe_load(find_vehicle("example_rover").read_text(encoding="utf-8"))
    data["body"] = {"urdf": str(tmp_path / "own.urdf")}
    for track in data["tracks"].values():
        track["mount"]["parent"] = "base"
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    with segtrack.World(engine="native") as world:
        robot = world.add_vehicle(str(tmp_path / "own.yaml"), track_model="compliant")
        x, y, z = robot.state.position
        outline = VehicleOutline(robot).look()
    for yaw, half in ((0.0, 0.2 / math.sqrt(2)), (math.pi / 4, 0.1)):
        for off, touched in ((-1e-3, True), (1e-3, False)):
            way = half + 0.05 + off
            wall = Wall(x=x + 0.4 + way * math.cos(yaw), y=y + way * math.sin(yaw), yaw=yaw, length=0.1,
                        width=0.02, bottom=z + 0.28, top=1.0)  # fmt: skip
            assert WallSensor([wall]).touches(outline) is touched
