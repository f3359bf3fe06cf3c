"""Joints of a URDF in users' hands, in both engines: servos, springs, dampers, friction, buffers, mimics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed
from scenes import GRAVITY

import segtrack
from segtrack.description import load_vehicle
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError
from segtrack.reproduce.speed import with_arm

ENGINES = ["native", pytest.param("pybullet", marks=pytest.mark.pybullet)]
pytestmark = pytest.mark.parametrize("engine", ENGINES)
ARM = Limb(
    "arm",
    mass=2.0,
    center=(0.3, 0, 0),
    inertia=(0.01, 0.02, 0.02),
    effort=30.0,
    velocity=2.0,
    axis=(0, -1, 0),
)
"""Arm that points forwards; it is raised by positive angles."""
WEIGHT = 2.0 * GRAVITY * 0.3
"""Torque of its weight at the joint while it is level [N m]."""
SLED = Limb("sled", kind="prismatic", mass=2.0, axis=(0, 0, 1), limits=(-1.0, 1.0))


class Scene:
    """A vehicle bolted to the world, high above any ground."""

    def __init__(
        self, engine: str, folder: Path, limbs: list[Limb], joints: dict[str, Any], **given: Any
    ) -> None:
        gravity = given.pop("gravity", GRAVITY)
        file = jointed(folder, limbs, joints, fixed=given.pop("fixed", True))
        self.world = segtrack.World(engine=engine, **given)
        self.world.set_gravity((0.0, 0.0, -gravity))
        self.robot = self.world.add_vehicle(file, position=(0, 0, 3), track_model="compliant")
        self.joint = next(iter(self.robot.joints.values()))

    def positions(self, duration: float, step: float = 0.001) -> np.ndarray:
        """Positions of the first joint after each step of a run."""
        return np.array(list(self._positions(duration, step)))

    def _positions(self, duration: float, step: float) -> Iterator[float]:
        for _ in range(round(duration / step)):
            self.world.run(step)
            yield self.joint.position


def test_a_servo_goes_where_it_is_told_at_its_speed(engine: str, tmp_path: Path) -> None:
    scene = Scene(engine, tmp_path, [ARM], {"arm": {"servo": {}}})
    scene.joint.set_position(1.0)
    path = scene.positions(1.0)
    assert np.diff(path).max() == pytest.approx(0.002, rel=1e-3)
    assert path[-1] == pytest.approx(1.0, abs=1e-4)
    assert scene.joint.force == pytest.approx(WEIGHT * math.cos(1.0), rel=1e-2)
    scene.joint.set_position(99.0)
    scene.world.run(3.0)
    assert scene.joint.position == pytest.approx(3.0, abs=1e-3)


def test_a_servo_turns_at_a_speed(engine: str, tmp_path: Path) -> None:
    scene = Scene(engine, tmp_path, [ARM], {"arm": {"servo": {}}})
    scene.joint.set_speed(-0.5)
    scene.world.run(1.0)
    assert scene.joint.state.position == pytest.approx(-0.5, abs=2e-3)
    assert scene.joint.speed == pytest.approx(-0.5, abs=1e-3)
    scene.joint.set_speed(50.0)
    scene.world.run(0.5)
    assert scene.joint.speed == pytest.approx(2.0, rel=1e-3)


def test_a_weak_servo_gives_way_with_its_largest_force(engine: str, tmp_path: Path) -> None:
    """Half of what the weight needs: it sinks to where the weight's lever is half as long."""
    settings = {"servo": {"max_force": WEIGHT / 2}, "damper": {"damping": 3.0}}
    scene = Scene(engine, tmp_path, [ARM], {"arm": settings})
    scene.world.run(4.0)
    assert scene.joint.position == pytest.approx(-math.acos(0.5), abs=5e-3)
    assert scene.joint.force == pytest.approx(WEIGHT / 2, rel=1e-3)


def test_a_servo_with_gains_sags_by_load_over_stiffness(engine: str, tmp_path: Path) -> None:
    """Where stiffness x sag = weight x cos(sag)."""
    servo = {"stiffness": 100.0, "damping": 5.0}
    scene = Scene(engine, tmp_path, [ARM], {"arm": {"servo": servo}})
    scene.joint.set_position(0.5)
    scene.world.run(3.0)
    position = scene.joint.position
    assert 100.0 * (0.5 - position) == pytest.approx(WEIGHT * math.cos(position), rel=1e-3)
    assert scene.joint.force == pytest.approx(WEIGHT * math.cos(position), rel=1e-3)


def test_a_servo_with_gains_keeps_up_with_its_pace(engine: str, tmp_path: Path) -> None:
    """Its damper brakes what differs from the pace, and not the pace."""
    scene = Scene(
        engine, tmp_path, [ARM], {"arm": {"servo": {"stiffness": 100.0, "damping": 5.0}}}, gravity=0.0
    )
    scene.joint.set_speed(0.5)
    scene.world.run(1.0)
    assert scene.joint.position == pytest.approx(0.5, abs=2e-3)


def test_a_torsion_bar_with_a_preload_sags(engine: str, tmp_path: Path) -> None:
    """Where preload - stiffness (position - free position) carries the weight."""
    spring = {"stiffness": 40.0, "free_position": 0.1, "preload": 4.0}
    scene = Scene(engine, tmp_path, [ARM], {"arm": {"spring": spring, "damper": {"damping": 4.0}}})
    scene.world.run(5.0)
    position = scene.joint.position
    assert 4.0 - 40.0 * (position - 0.1) == pytest.approx(WEIGHT * math.cos(position), rel=1e-4)
    assert scene.joint.passive_force == pytest.approx(WEIGHT * math.cos(position), rel=1e-3)
    assert scene.joint.force == 0.0


def test_a_table_carries_what_it_says(engine: str, tmp_path: Path) -> None:
    """Level at a deflection of 0.1 by 3 N; 19.62 N more need 0.1 + 16.62 / 300 m."""
    table = [[0.0, 0.0], [0.1, 3.0], [0.2, 33.0]]
    settings = {"spring": {"table": table}, "damper": {"damping": 40.0}}
    scene = Scene(engine, tmp_path, [SLED], {"sled": settings})
    scene.world.run(4.0)
    assert scene.joint.position == pytest.approx(-0.1 - (2.0 * GRAVITY - 3.0) / 300.0, rel=1e-4)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_buffer_is_compressed_by_load_over_stiffness(engine: str, side: str, tmp_path: Path) -> None:
    stop = {"position": -0.2 if side == "lower" else 0.2, "stiffness": 5000.0, "damping": 150.0}
    settings = {"damper": {"damping": 5.0}, "stops": {side: stop}}
    gravity = GRAVITY if side == "lower" else -GRAVITY
    scene = Scene(engine, tmp_path, [SLED], {"sled": settings}, gravity=gravity)
    scene.world.run(3.0)
    beyond = 2.0 * gravity / 5000.0
    assert scene.joint.position == pytest.approx(stop["position"] - beyond, abs=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_buffer_pushes_and_never_pulls(engine: str, sign: float, tmp_path: Path) -> None:
    """Let go 50 mm inside of it, a sled leaves as soon as the damper outweighs the spring.

    That is at its fastest, x0 w exp(-d acos(d) / sqrt(1 - d^2)) with a damping ratio d, and so it goes on.
    """
    rate, ratio, inside, step = 50.0, 0.5, 0.05, 0.0002
    stop = {"position": sign * 0.2, "stiffness": 2.0 * rate**2, "damping": 2 * ratio * 2.0 * rate}
    stops = {"upper" if sign > 0 else "lower": stop}
    scene = Scene(engine, tmp_path, [SLED], {"sled": {"stops": stops}}, gravity=0.0, time_step=step)
    scene.joint.place(sign * (0.2 + inside))
    scene.world.run(0.1)
    fastest = inside * rate * math.exp(-ratio * math.acos(ratio) / math.sqrt(1 - ratio**2))
    assert scene.joint.speed == pytest.approx(-sign * fastest, rel=0.01)


def test_a_mass_on_a_spring_swings_as_the_closed_form_says(engine: str, tmp_path: Path) -> None:
    """Damping ratio 0.1 at 2 Hz, without gravity; semi-implicit steps of 0.2 ms."""
    frequency = 2 * math.pi * 2.0
    stiffness, damping = 2.0 * frequency**2, 2 * 0.1 * 2.0 * frequency
    settings = {
        "spring": {"stiffness": stiffness},
        "damper": {"damping": damping},
        "initial_position": 0.1,
    }
    step = 0.0002
    scene = Scene(engine, tmp_path, [SLED], {"sled": settings}, gravity=0.0, time_step=step)
    times = step * np.arange(1, 5001)
    rate, damped = 0.1 * frequency, frequency * math.sqrt(1 - 0.01)
    wave = np.cos(damped * times) + rate / damped * np.sin(damped * times)
    expected = 0.1 * np.exp(-rate * times) * wave
    np.testing.assert_allclose(scene.positions(1.0, step), expected, atol=3e-4)


def test_a_damper_of_two_slopes_lets_a_sled_fall_as_fast_as_it_says(engine: str, tmp_path: Path) -> None:
    """Rebound and compression differ: 19.62 N at 0.981 m/s one way, at 0.327 m/s the other."""
    table = [[-2.0, -40.0], [0.0, 0.0], [1.0, 60.0]]
    for gravity, speed in ((GRAVITY, -0.981), (-GRAVITY, 0.327)):
        limb = Limb("sled", kind="prismatic", mass=2.0, axis=(0, 0, 1), limits=(-9.0, 9.0))
        scene = Scene(engine, tmp_path, [limb], {"sled": {"damper": {"table": table}}}, gravity=gravity)
        scene.world.run(2.0)
        assert scene.joint.speed == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize(("friction", "holds"), [(1.05, True), (0.95, False)])
def test_dry_friction_holds_what_is_lighter(
    engine: str, friction: float, holds: bool, tmp_path: Path
) -> None:
    """Otherwise what is left of the weight accelerates it."""
    limb = Limb("sled", kind="prismatic", mass=2.0, axis=(0, 0, 1), limits=(-9.0, 9.0))
    settings = {"friction": friction * 2.0 * GRAVITY}
    scene = Scene(engine, tmp_path, [limb], {"sled": settings})
    scene.world.run(1.0)
    if holds:
        assert abs(scene.joint.position) < 1e-6
    else:
        assert scene.joint.speed == pytest.approx(-0.05 * GRAVITY, rel=2e-3)


def test_a_joint_that_mimics_follows(engine: str, tmp_path: Path) -> None:
    """Finger = 0.1 - 0.5 arm, however it is driven."""
    finger = Limb(
        "finger", "arm_link", xyz=(0.6, 0, 0), mass=0.2, mimic='joint="arm" multiplier="-0.5" offset="0.1"'
    )
    scene = Scene(engine, tmp_path, [ARM, finger], {"arm": {"servo": {}, "initial_position": 0.2}})
    joints = scene.robot.joints
    assert joints["finger"].position == pytest.approx(0.0, abs=1e-6)
    joints["arm"].set_position(1.2)
    worst = 0.0
    for _ in range(100):
        scene.world.run(0.01)
        worst = max(worst, abs(joints["finger"].position - 0.1 + 0.5 * joints["arm"].position))
    assert joints["arm"].position == pytest.approx(1.2, abs=1e-3)
    assert worst < 2e-3
    with pytest.raises(NotReadyError) as caught:
        joints["finger"].set_position(0.0)
    assert str(caught.value) == "cannot move joint finger: it follows joint arm"


def test_links_follow_their_joints(engine: str, tmp_path: Path) -> None:
    tip = Limb("tip", "arm_link", kind="fixed", xyz=(0.5, 0, 0), mass=0.1)
    scene = Scene(engine, tmp_path, [ARM, tip], {"arm": {"servo": {}, "initial_position": 0.5}})
    frame = scene.robot.link_frame("tip_link")
    base = scene.robot.link_frame("base").origin
    reach = 0.5 * np.array([math.cos(0.5), 0.0, math.sin(0.5)])
    np.testing.assert_allclose(frame.origin - base, reach, atol=1e-6)
    poses = dict(zip(scene.robot.link_names, scene.robot.link_poses(), strict=True))
    np.testing.assert_allclose(poses["tip_link"][:3], frame.origin, atol=1e-9)


def test_links_follow_their_joints_beside_flippers(engine: str) -> None:
    """One by one, as all of them together."""
    with with_arm(load_vehicle("quince")) as vehicle, segtrack.World(engine=engine) as world:
        given = {"track_model": "compliant", "flippers": {"front_left": 0.4}}
        robot = world.add_vehicle(vehicle, position=(0, 0, 1), **given)
        robot.joints["yaw"].place(0.5)
        for name, pose in zip(robot.link_names, robot.link_poses(), strict=True):
            np.testing.assert_allclose(robot.link_frame(name).origin, pose[:3], atol=1e-9)


def test_a_saved_state_goes_on_alike(engine: str, tmp_path: Path) -> None:
    settings = {
        "arm": {"servo": {"stiffness": 80.0, "damping": 1.0}},
        "sled": {"spring": {"stiffness": 200.0}, "friction": 0.5},
    }
    scene = Scene(engine, tmp_path, [ARM, SLED], settings)
    scene.joint.set_position(0.8)
    scene.world.run(0.2)
    saved = scene.world.save()
    scene.joint.set_speed(-1.0)
    first = scene.positions(0.2)
    state = [joint.state for joint in scene.robot.joints.values()]
    scene.joint.set_position(0.1)
    scene.world.run(0.3)
    scene.world.restore(saved)
    scene.joint.set_speed(-1.0)
    assert (scene.positions(0.2) == first).all()
    assert [joint.state for joint in scene.robot.joints.values()] == state


def test_a_placed_joint_is_there_at_rest(engine: str, tmp_path: Path) -> None:
    scene = Scene(engine, tmp_path, [ARM], {"arm": {"servo": {}}})
    scene.joint.set_speed(1.0)
    scene.world.run(0.1)
    scene.joint.place(0.7)
    assert scene.joint.state[:2] == (0.7, 0.0)
    scene.world.run(0.2)
    assert scene.joint.position == pytest.approx(0.7, abs=1e-3)


def test_a_servo_with_gains_holds_a_joint_where_it_was_placed(engine: str, tmp_path: Path) -> None:
    """Its aim moves with the joint: nothing is left that pulls it back to where it was."""
    servo = {"stiffness": 100.0, "damping": 5.0}
    scene = Scene(engine, tmp_path, [ARM], {"arm": {"servo": servo}}, gravity=0.0)
    scene.joint.place(0.7)
    assert np.abs(scene.positions(0.2) - 0.7).max() < 1e-9


def test_what_a_joint_cannot_do_is_refused(engine: str, tmp_path: Path) -> None:
    scene = Scene(engine, tmp_path, [ARM, SLED], {"arm": {"servo": {}}, "sled": {}})
    with pytest.raises(UnknownNameError) as unknown:
        scene.robot.joints["elbow"]
    assert str(unknown.value) == "no moving joint of jointed 'elbow'; there are: arm, sled"
    with pytest.raises(NotReadyError) as free:
        scene.robot.joints["sled"].set_speed(0.1)
    assert str(free.value) == (
        "cannot command joint sled: it has no servo; joints.sled.servo of the vehicle file gives it one"
    )
    with pytest.raises(InvalidValueError) as value:
        scene.joint.set_position(math.nan)
    assert str(value.value) == "position of joint arm [rad] must be a finite number, got nan"
    for command in (scene.robot.set_joints, scene.robot.set_joint_speeds):  # None of two is obeyed.
        with pytest.raises(NotReadyError):
            command(arm=0.5, sled=0.1)
    scene.world.run(0.1)
    assert scene.joint.position == pytest.approx(0.0, abs=0.01)
    with pytest.raises(InvalidValueError) as speed:
        scene.robot.joints["arm"].set_speed(math.inf)
    assert str(speed.value) == "speed of joint arm [rad/s] must be a finite number, got inf"
