"""Slip of belts over the ground: Wong's two ratios in one number that is bounded and smooth at rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick import some_of

import segtrack
from segtrack import terrain
from segtrack.robot import longitudinal_slip

REST_SPEED = 0.01
"""Speed below which slip fades to 0 [m/s]."""
speeds = st.floats(-5.0, 5.0)
above_rest = st.floats(REST_SPEED, 5.0)
MODELS = [
    ("pybullet", "segments"),
    ("pybullet", "chain"),
    ("native", "compliant"),
    ("pybullet", "compliant"),
    ("native", "surface"),
]


@given(speeds, speeds)
def test_slip_is_within_one_and_reads_the_same_in_reverse(belt: float, ground: float) -> None:
    slip = longitudinal_slip(belt, ground)
    assert -1.0 <= slip <= 1.0
    assert longitudinal_slip(-belt, -ground) == slip


@given(above_rest, st.floats(0.0, 1.0), st.sampled_from([-1, 1]))
def test_slip_is_wongs_where_the_belt_is_faster_and_minus_his_skid_where_the_ground_is(
    faster: float, ratio: float, direction: int
) -> None:
    slower = ratio * faster
    assert longitudinal_slip(direction * faster, direction * slower) == pytest.approx(1 - slower / faster)
    assert longitudinal_slip(direction * slower, direction * faster) == pytest.approx(slower / faster - 1)


@given(above_rest, st.floats(0.01, 0.99))
def test_a_belt_against_its_vehicles_motion_slips_or_skids_all_it_can(faster: float, ratio: float) -> None:
    assert longitudinal_slip(faster, -ratio * faster) == 1.0
    assert longitudinal_slip(ratio * faster, -faster) == -1.0


@given(speeds, speeds)
def test_slip_fades_at_rest(belt: float, ground: float) -> None:
    assert abs(longitudinal_slip(belt, ground)) <= abs(belt - ground) / REST_SPEED
    assert longitudinal_slip(belt, belt) == 0.0


@pytest.mark.parametrize(("engine", "track_model"), MODELS)
@pytest.mark.parametrize("direction", some_of([1, -1], -1))
def test_slip_of_belts_that_spin_on_ice_of_vehicles_that_slide_and_of_both_at_rest(
    engine: str, track_model: str, direction: int
) -> None:
    """From the first step on: belts spin under a vehicle that stands; held ones are slid over."""
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model=track_model)
        for each in robot.tracks.values():
            each.set_friction(0.0)
        world.settle()
        track = robot.tracks["left"]
        assert track.slip == pytest.approx(0.0, abs=0.05)  # PyBullet creeps by up to 0.4 mm/s.
        robot.set_belt_speed(direction * 0.2, direction * 0.2)
        slips = []
        world.run(0.05, on_step=lambda: slips.append(track.slip))
        assert min(slips) > -0.05
        assert slips[-1] == pytest.approx(1.0, abs=0.05)
        robot.set_belt_speed(0.0, 0.0)
        world.set_gravity((-direction * 2.0, 0.0, -9.8))
        world.run(0.3)
        assert track.ground_speed == pytest.approx(-direction * 0.6, rel=0.05)
        assert track.slip == pytest.approx(-1.0, abs=0.01)


def test_slip_on_sand_is_none_at_rest_and_what_belt_and_vehicle_travel_when_driving() -> None:
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane(soil=terrain.find_soil("dry sand")))
        robot = world.add_vehicle("packbot")
        world.settle()
        track = robot.tracks["left"]
        assert track.slip == pytest.approx(0.0, abs=0.02)
        robot.set_belt_speed(0.2, 0.2)
        slips = []
        world.run(0.3, on_step=lambda: slips.append(track.slip))
        assert -1.0 <= min(slips) and slips[0] == pytest.approx(1.0, abs=0.02)
        assert track.slip == pytest.approx(1 - track.ground_speed / track.speed)


def test_the_ground_speed_of_a_track_on_a_link_beside_the_body_is_that_of_its_place() -> None:
    """Spinning about the vertical through the centre of mass, tracks that are 0.1985 m to its sides."""
    with segtrack.World(engine="native") as world:
        robot = world.add_vehicle("absolem", position=(0.0, 0.0, 5.0))
        robot.model.state.angular_velocity[0] = (0.0, 0.0, 1.0)
        assert robot.tracks["left"].ground_speed == pytest.approx(-0.1985, abs=1e-9)
        assert robot.tracks["right"].ground_speed == pytest.approx(0.1985, abs=1e-9)
