"""Vehicle files of real robots beside what is published: what holds, and between what the rest lies."""

from __future__ import annotations

import math

import pytest

import segtrack
from segtrack import terrain
from segtrack.description import Frame, VehicleDescription, find_vehicle, load_vehicle
from segtrack.engine import EngineName
from segtrack.reproduce import robots
from segtrack.reproduce.robots import RAISED, STANDING

MASSES = {"absolem": 38.13, "bunker": 150.0, "jaguar": 30.0, "markhor": 26.111 + 4 * 6.9}
"""Mass by the sources [kg]."""


def with_torque(vehicle: VehicleDescription, torque: float) -> VehicleDescription:
    """A copy with another largest torque of all flippers [N m]."""
    flippers = {n: f.model_copy(update={"max_torque": torque}) for n, f in vehicle.flippers.items()}
    return vehicle.model_copy(update={"flippers": flippers})


@pytest.mark.parametrize(("name", "mass"), MASSES.items())
def test_a_robot_weighs_what_is_published(name: str, mass: float) -> None:
    assert load_vehicle(name).mass == pytest.approx(mass, abs=0.01)


def test_absolem_stands_on_flippers_that_do_not_lift_it() -> None:
    """A quarter of its weight at the tips' distance asks for 30 N m; its flippers have 20."""
    absolem = load_vehicle("absolem")
    needed = absolem.mass * 9.81 / 4 * 0.3245
    assert 20.0 < needed < 40.0
    assert abs(robots.rise_on_flippers(absolem, 0.0, STANDING)) < 1e-3
    assert abs(robots.rise_on_flippers(absolem, STANDING, STANDING)) < 1e-3
    assert robots.rise_on_flippers(with_torque(absolem, 2 * needed), 0.0, STANDING) > 0.1


def test_bunker_drives_up_36_degrees_and_no_steeper_than_friction_holds() -> None:
    assert robots.drives_up("bunker", math.radians(36.0))
    assert not robots.drives_up("bunker", math.atan(0.75) + 0.02)


@pytest.mark.slow
def test_bunker_climbs_the_published_step() -> None:
    assert robots.bunker_climbs(0.17)
    assert not robots.bunker_climbs(0.25)


@pytest.mark.slow
def test_jaguar_climbs_the_published_step() -> None:
    assert robots.jaguar_climbs(0.30)
    assert not robots.jaguar_climbs(0.40)


@pytest.mark.slow
def test_published_turns_lie_between_those_on_flat_and_on_raised_flippers() -> None:
    """The sources do not say where the flippers were."""
    raised, flat = (robots.full_turn("absolem", angle, robots.ABSOLEM_TURN) for angle in (RAISED, 0.0))
    assert raised < 12.5 < flat
    flat, raised = (robots.yaw_over_no_slip("markhor", angle) for angle in (0.0, RAISED))
    assert flat < 0.446 / (0.46 * 4.2) < raised


@pytest.mark.slow
def test_absolem_is_told_its_speed_and_has_it() -> None:
    """The real robot has 0.27 m/s for the 0.3 m/s that it is told."""
    assert robots.absolem_speed() == pytest.approx(0.3, rel=0.02)


@pytest.mark.parametrize(("highest", "found"), [(0.324, 0.32), (0.30, 0.30), (0.29, 0.0)])
def test_the_highest_step_is_the_last_before_one_that_is_not_climbed(highest: float, found: float) -> None:
    heights: list[float] = []

    def climbs(height: float) -> bool:
        heights.append(height)
        return height <= highest + 1e-9

    assert robots.highest_step(climbs, 0.30) == pytest.approx(found)
    assert len(heights) == round((found - 0.30) / 0.01) + 2 if found else heights == [0.30]


@pytest.mark.parametrize(
    "engine", ["native", pytest.param("pybullet", marks=[pytest.mark.pybullet, pytest.mark.slow])]
)
def test_absolems_differential_shares_what_one_track_climbs(engine: EngineName) -> None:
    """With a box under its left track the tracks turn by opposite angles, the body by the mean of both."""
    box = terrain.GroundBox(x=0.7, y=0.3, length=0.4, width=0.5, height=0.06)
    with segtrack.World(engine=engine, time_step=0.004) as world:
        world.add_terrain(terrain.Boxes(boxes=[box]))
        vehicle = find_vehicle("absolem").with_name("differential.yaml")
        robot = world.add_vehicle(vehicle, track_model="compliant")
        flippers = [name for name in robot.joints if name.endswith("flipper")]
        robot.set_joints(**dict.fromkeys(flippers, 1.0))
        world.run(1.5)
        assert robot.joints["left_track"].position == pytest.approx(0.0, abs=2e-3)
        robot.set_belt_speed(0.2, 0.2)
        world.run(2.5)
        noses = [_nose_up(robot.link_frame(f"{side}_track")) for side in ("left", "right")]
        assert noses[0] > 0.1 and abs(noses[1]) < 0.02
        assert robot.state.pitch == pytest.approx(sum(noses) / 2, abs=2e-3)


def _nose_up(frame: Frame) -> float:
    """Pitch of a link, nose up [rad]."""
    return math.asin(frame.rotation[2, 0])
