"""Vehicles that begin to move: momentum, energy and loads from the first step on as in steady motion."""

import math

import numpy as np
import pytest
from scenes import vary

from segtrack.chain.shoe_state import circulate, state_along
from segtrack.description import load_vehicle
from segtrack.description.chain import track_design
from segtrack.errors import InvalidValueError
from segtrack.reproduce.chain_speed import chain_vehicle
from segtrack.terrain import Plane
from segtrack.world import World

SPEED = 1.0
MODELS = [
    ("native", "surface", 1e-9),
    ("native", "compliant", 2e-3),
    ("pybullet", "compliant", 3e-3),
    ("pybullet", "segments", 1e-3),
    pytest.param("native", "chain", 0.01, marks=pytest.mark.slow),
    pytest.param("pybullet", "chain", 0.01, marks=pytest.mark.slow),
]
"""Track models, and by what they are off a constant velocity in the first 20 ms [m/s]: grousers and pins
load and unload."""


def at_rest(engine, track_model, vehicle="packbot", yaw=0.0):
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    world = World(engine=engine)
    world.add_terrain(Plane())
    robot = world.add_vehicle(vehicle, track_model=track_model, yaw=yaw)
    world.settle()
    return world, robot


@pytest.mark.parametrize(("engine", "track_model", "bound"), MODELS)
def test_a_vehicle_set_in_motion_goes_on_as_it_began(engine, track_model, bound):
    world, robot = at_rest(engine, track_model, yaw=0.7)
    robot.set_velocity(SPEED)
    bodies, ahead = robot.bodies(), robot.body_motion().rotation[:, 0]
    momentum = bodies.masses @ bodies.velocities
    np.testing.assert_allclose(momentum, robot.mass * SPEED * ahead, atol=2e-2 * robot.mass)
    circling = sum(track.spec.moving_mass for track in robot.tracks.values())
    if track_model in ("compliant", "surface") and engine == "native":
        assert bodies.kinetic_energy == pytest.approx((robot.mass + circling) * SPEED**2 / 2)
    assert [track.speed for track in robot.tracks.values()] == [SPEED] * 2
    assert [track.command for track in robot.tracks.values()] == [SPEED] * 2
    robot.set_throttle(0.0, 0.0)
    start, speeds = np.array(robot.state.position), []
    for _ in range(20):
        world.step()
        speeds.append(float(np.array(robot.state.velocity) @ ahead))
    time = 20 * world.time_step
    np.testing.assert_allclose(speeds, SPEED, atol=bound)
    assert (np.array(robot.state.position) - start) @ ahead == pytest.approx(SPEED * time, abs=bound * time)
    for track in robot.tracks.values():
        # A sprocket's teeth let its speed vary while the chain's does not.
        teeth = track.chain_design.running_gear.sprocket.count if track.has_chain else math.inf
        assert abs(track.slip) < max(0.01, 1 - math.cos(math.pi / teeth))
        assert track.travel == pytest.approx(SPEED * time, rel=0.06)


def test_a_speed_that_is_kept_takes_no_force_and_backwards_is_a_velocity_too():
    world, robot = at_rest("native", "surface")
    for speed in (0.8, -0.5):
        robot.set_velocity(speed)
        world.run(0.2)
        assert robot.state.velocity[0] == pytest.approx(speed, abs=1e-9)
        assert max(abs(track.force) for track in robot.tracks.values()) < 1e-6


def test_what_is_faster_than_its_drive_is_braked_to_its_top_speed():
    world, robot = at_rest("native", "surface", vary("packbot", drive={"max_speed": 0.6}))
    robot.set_velocity(1.0)
    assert robot.tracks["left"].command == 0.6 and robot.state.velocity[0] == pytest.approx(1.0)
    world.run(0.5)
    assert robot.state.velocity[0] == pytest.approx(0.6, abs=1e-6)


def test_a_lag_begins_at_the_speed():
    world, robot = at_rest("native", "surface", vary("packbot", drive={"lag": 0.5}))
    robot.set_velocity(1.0)
    world.run(0.2)
    assert robot.state.velocity[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("engine", "track_model"), [("native", "compliant"), ("pybullet", "segments")])
def test_a_state_in_motion_comes_back_to_the_bit(engine, track_model):
    world, robot = at_rest(engine, track_model)
    world.run(0.1)
    robot.set_velocity(0.8)
    saved = world.save()
    world.run(0.1)
    after = robot.state
    robot.set_velocity(0.1)
    world.run(0.1)
    world.restore(saved)
    world.run(0.1)
    assert robot.state == after
    world.restore(saved)
    robot.set_velocity(0.3)
    world.step()
    assert robot.tracks["left"].speed == pytest.approx(0.3, abs=0.02), "not that of the saved state"


def test_a_vehicle_bolted_to_the_world_cannot_be_set_in_motion():
    world = World(engine="native")
    robot = world.add_vehicle("conveyor")
    with pytest.raises(InvalidValueError) as error:
        robot.set_velocity(1.0)
    assert str(error.value) == "forward velocity of conveyor [m/s] must be 0, as it is fixed, got 1.0"


def test_a_chain_that_circulates_is_not_stretched_anywhere():
    """Velocities of a loop's joints, from those of its shoes: of both shoes at a joint the same."""
    mounted = next(iter(load_vehicle("packbot").mounted_tracks()))
    design = track_design(mounted.name, mounted.spec)
    chain = design.chain
    state = state_along(chain, design.hinges)
    circulate(chain, state, 2.0)
    rotations = state.rotations
    spins = np.einsum("nij,nj->ni", rotations, state.angular_velocities_body)
    arms = [rotations @ np.array(at) for at in (chain.shoe.bushing_position, chain.shoe.pin_position)]
    rear, front = (state.velocities + np.cross(spins, arm) for arm in arms)
    np.testing.assert_allclose(front, np.roll(rear, -1, axis=0), atol=1e-9)
    along = (arms[1] - arms[0]) / chain.shoe.pitch
    np.testing.assert_allclose(np.sum(rear * along, axis=1), 2.0, atol=1e-9)
    lowest = np.argmin(state.positions[:, 2])
    assert state.velocities[lowest, 0] == pytest.approx(-2.0, rel=1e-6), "backwards on the ground"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_a_heavy_chain_at_5_m_s_begins_without_a_jolt(engine):
    """Momentum is kept to 1e-3, and tensions stay within those of steady driving."""
    world, robot = at_rest(engine, "chain", chain_vehicle("m113_like"))
    track, mass = robot.tracks["left"], robot.mass

    def loads(seconds):
        speeds, tensions = [], []
        for _ in range(round(seconds / world.time_step)):
            world.step()
            bodies = robot.bodies()
            speeds.append(float(bodies.masses @ bodies.velocities[:, 0]) / mass)
            tensions.append(track.read_chain().tension)
        return np.array(speeds), np.array(tensions)

    at_rest_tension = float(np.max(track.read_chain().tension))
    robot.set_velocity(5.0)
    assert float(np.max(track.read_chain().tension)) == pytest.approx(at_rest_tension, rel=1e-2)
    speeds, tensions = loads(0.02)
    world.run(1.0)
    _, steady = loads(0.1)
    assert np.ptp([5.0, *speeds]) < 0.02 and math.isfinite(tensions.sum())
    assert tensions.max() < steady.max() and tensions.mean() < 1.05 * steady.mean()
