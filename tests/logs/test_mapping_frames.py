"""Frames of mapped quantities: turned sensors, the body, the world, satellites, quaternions."""

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, channel, constant, log_of, mapped, refused
from scipy.spatial.transform import Rotation

from segtrack.logs.mapping.convert import to_local_position


def test_a_turned_sensor_apart_from_the_body_gives_the_bodys_motion():
    """Of a body that turns and translates, by a sensor in another frame and a world whose y is up."""
    rng = np.random.default_rng(0)
    since = TIMES - 100
    angles = np.stack([0.5 * np.sin(since), 0.3 * np.sin(1.3 * since), 0.2 * np.cos(since)], axis=1)
    body, position = Rotation.from_euler("ZYX", angles), np.cumsum(rng.normal(0, 0.01, (COUNT, 3)), axis=0)
    rate, velocity = rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 3))
    mount, world = Rotation.from_euler("ZYX", [0.3, 0.2, 0.1]), Rotation.from_euler("x", np.pi / 2)
    place = np.array([0.1, -0.2, 0.3])
    log = log_of(
        channel("q", (world.inv() * body * mount).as_quat()[:, [3, 0, 1, 2]]),
        channel("p", world.inv().apply(position + body.apply(place))),
        channel("w", mount.inv().apply(rate)),
        channel("v", mount.inv().apply(velocity + np.cross(rate, place))),
    )
    sensors = (
        "sensors: {s: {xyz: [0.1, -0.2, 0.3], rpy: [0.1, 0.2, 0.3], world_rpy: [1.5707963267948966, 0, 0]}}"
    )
    signals = mapped(
        log,
        """
  orientation: {channels: q, order: wxyz, sensor: s}
  position: {channels: p, unit: m, sensor: s}
  angular_velocity: {channels: w, unit: rad/s, sensor: s}
  velocity: {channels: v, unit: m/s, sensor: s}""",
        sensors,
    ).motion.signals
    assert (Rotation.from_quat(signals["orientation"].values).inv() * body).magnitude() == pytest.approx(
        0, abs=1e-9
    )
    assert signals["position"].values == pytest.approx(position)
    assert signals["angular_velocity"].values == pytest.approx(rate)
    assert signals["velocity"].values == pytest.approx(velocity)


def test_angles_of_a_turned_sensor_become_the_bodys():
    log = log_of(channel("r", constant(0.1)), channel("p", constant(0.2)), channel("y", constant(0.3)))
    signals = mapped(
        log,
        """
  roll: {channel: r, unit: rad, sensor: s}
  pitch: {channel: p, unit: rad, positive: nose down, sensor: s}
  yaw: {channel: y, unit: rad, sensor: s}""",
        "sensors: {s: {rpy: [0.1, 0.2, 0.3]}}",
    ).motion.signals
    for name in ("roll", "pitch", "yaw"):
        assert signals[name].values == pytest.approx(0.0, abs=1e-12)


def test_a_velocity_in_the_world_becomes_the_bodys():
    log = log_of(
        channel("v", np.tile([0.0, 2.0, 0.0], (COUNT, 1))), channel("q", np.tile(HALF_LEFT, (COUNT, 1)))
    )
    said = "  velocity: {channels: v, unit: m/s, frame: world}\n  orientation: {channels: q}"
    assert mapped(log, said).motion.signals["velocity"].values == pytest.approx(
        np.tile([2.0, 0, 0], (COUNT, 1))
    )
    assert refused(log, "  velocity: {channels: v, unit: m/s, frame: world}") == (
        "m.yaml:3: quantities.velocity must come with orientation, as it is along the world's axes"
    )


HALF_LEFT = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]


def test_satellites_give_metres_east_north_and_up():
    """By the radii of curvature of the ellipsoid at 45 degrees of latitude (Snyder 1987, eq. 4-18 "
    "and 4-20)."""
    axis, squared = 6378137.0, 0.00669437999014
    phi = np.radians(45.0)
    across = axis / np.sqrt(1 - squared * np.sin(phi) ** 2)
    along = axis * (1 - squared) / (1 - squared * np.sin(phi) ** 2) ** 1.5
    step = 1e-5
    places = to_local_position(
        np.array([45.0, 45.0 + step, 45.0]), np.array([7.0, 7.0, 7.0 + step]), np.array([0, 0, 5.0])
    )
    north, east = np.radians(step) * along, np.radians(step) * across * np.cos(phi)
    assert places[1] == pytest.approx([0, north, 0], abs=1e-6)
    assert places[2] == pytest.approx([east, 0, 5.0], abs=1e-5)
    log = log_of(
        channel("lat", 45 + step * (TIMES - 100)),
        channel("lon", constant(7.0)),
        channel("alt", constant(3.0)),
    )
    signal = mapped(log, "  position: {latitude: lat, longitude: lon, height: alt}").motion.signals[
        "position"
    ]
    assert signal.values[-1] == pytest.approx([0, north * 9.95, 0], abs=1e-5)
    flat = mapped(log, "  position: {latitude: lat, longitude: lon}").motion.signals["position"]
    assert flat.values == pytest.approx(signal.values, abs=1e-5)


@pytest.mark.parametrize("length", [0.9949, 0.9951, 1.0049, 1.0051])
def test_quaternions_of_nearly_length_one_become_of_length_one(length):
    values = np.tile([0.0, 0.0, 0.6, 0.8], (COUNT, 1)) * length
    log = log_of(channel("q", values))
    if abs(length - 1) < 0.005:
        found = mapped(log, "  orientation: {channels: q}").motion.signals["orientation"].values
        np.testing.assert_allclose(found, np.tile([0.0, 0.0, 0.6, 0.8], (COUNT, 1)), rtol=0, atol=1e-15)
    else:
        assert "must be quaternions of length one" in refused(log, "  orientation: {channels: q}")
