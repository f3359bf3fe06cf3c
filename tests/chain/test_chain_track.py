"""Vehicles on link chains against closed forms and conservation laws; of segments see `test_belt_physics`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pybullet
import pytest
from chain_solver import angular_momentum, linear_momentum
from chain_vehicles import CHAIN, SHOES, TEETH, chain_of, parsed
from scenes import GRAVITY, tilt, vary

import segtrack
from segtrack import terrain
from segtrack.bullet.frames import link_mass, link_motion
from segtrack.chain import TrackChain
from segtrack.description import load_vehicle
from segtrack.description.chain import ChainSpec
from segtrack.errors import DivergedError
from segtrack.robot import Robot
from segtrack.terrain import Soil

FRICTION = 0.6


@pytest.fixture(scope="module")
def settled() -> Iterator[tuple[segtrack.World, Robot, object]]:
    """A robot at rest on flat ground, and the state to go back to."""
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="chain")
        world.settle()
        yield world, robot, world.save()


@pytest.fixture
def standing(settled) -> tuple[segtrack.World, Robot]:
    """The same world and robot, at rest again."""
    world, robot, snapshot = settled
    tilt(world, 0.0)
    world.restore(snapshot)
    return world, robot


# Momentum, exchanged with PyBullet


def whole_momenta(world: segtrack.World, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Momentum [kg m/s] of links, shoes and sliding idlers, and that about their centre [kg m^2/s].

    Wheels are part of the body's mass; they have a spin of their own, and rotors none about the axle.
    """
    client = robot.model.physics_client_id
    masses, points, momenta, spin = [], [], [], np.zeros(3)
    for link in range(-1, world.client.getNumJoints(robot.model.body_id)):
        motion, own = (read(client, robot.model.body_id, link) for read in (link_motion, link_mass))
        masses.append(own.mass)
        points.append(motion.center)
        momenta.append(own.mass * motion.velocity)
        spin += motion.rotation @ own.inertia @ motion.rotation.T @ motion.angular_velocity
    for track in robot.tracks.values():
        chain = chain_of(robot, track.name)
        shoes, state, arrays = chain.design.chain, chain.state, chain.arrays
        center, mass = state.positions.mean(axis=0), shoes.count * shoes.shoe.mass
        momentum = linear_momentum(shoes, state)
        masses.append(mass)
        points.append(center)
        momenta.append(momentum)
        spin += angular_momentum(shoes, state) - np.cross(center, momentum)
        wheels, frame = arrays.running_gear.wheels, arrays.parents
        own = wheels.inertias.copy()
        own[chain.design.running_gear.driven] -= wheels.reflected_inertia  # Its rotor turns across the axle.
        spin += frame.rotations[0, :, 1] * np.sum(own * chain.wheels.speeds)
        for w in np.flatnonzero(wheels.slide_masses):
            along = frame.rotations[0][:, [0, 2]] @ wheels.slide_directions[w]
            middle = wheels.positions[w] + wheels.slide_directions[w] * chain.wheels.slide_positions[w]
            masses.append(0.0)
            points.append(frame.positions[0] + frame.rotations[0][:, [0, 2]] @ middle)
            momenta.append(wheels.slide_masses[w] * chain.wheels.slide_speeds[w] * along)
    m, x, p = np.array(masses), np.array(points), np.array(momenta)
    return p.sum(axis=0), spin + np.cross(x - m @ x / m.sum(), p).sum(axis=0)


def turnover(robot: Robot) -> float:
    """Sum of the magnitudes of the angular momenta of chains and driven wheels [kg m^2/s]."""
    total = 0.0
    for name in robot.tracks:
        chain = chain_of(robot, name)
        state, design = chain.state, chain.design
        around = angular_momentum(design.chain, state) - np.cross(
            state.positions.mean(axis=0), linear_momentum(design.chain, state)
        )
        total += np.linalg.norm(around) + abs(
            chain.arrays.running_gear.wheels.inertias[0] * chain.wheels.speeds[0]
        )
    return float(total)


@pytest.mark.parametrize("gravity", [GRAVITY, 0.0])
def test_a_driven_vehicle_falls_freely_and_keeps_its_angular_momentum(gravity: float) -> None:
    """It tumbles, its belts speed up in the air, and are reversed."""
    with segtrack.World(gravity=gravity) as world:
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 20))
        world.client.resetBaseVelocity(robot.model.body_id, [0.1, 0.05, 0.02], [0.3, -0.2, 0.4])
        world.run(0.02)
        momentum, spin = whole_momenta(world, robot)
        began, most = world.time, 0.0
        for speed in (0.5, 0.5, -0.5):
            robot.set_belt_speed(speed, speed)
            world.run(0.2)
            assert robot.tracks["left"].speed == pytest.approx(speed, rel=0.01)
            most = max(most, turnover(robot))
            now, spin_now = whole_momenta(world, robot)
            impulse = np.array([0, 0, -robot.mass * gravity * (world.time - began)])
            np.testing.assert_allclose(now - momentum, impulse, atol=1e-5 * robot.mass * GRAVITY * world.time)
            np.testing.assert_allclose(spin_now, spin, atol=5e-3 * most)
        assert most > 0.4


# Sprocket


def bolted(z: float, friction: float = FRICTION) -> tuple[segtrack.World, Robot]:
    """PackBot bolted to the world, its body at a height over flat ground [m]."""
    description = vary("packbot", contact={"friction": friction})
    body = description.body.model_copy(update={"fixed": True})
    world = segtrack.World()
    world.add_terrain(terrain.Plane())
    description = description.model_copy(update={"body": body})
    return world, world.add_vehicle(description, track_model="chain", position=(0, 0, z))


@pytest.mark.parametrize("direction", [1, pytest.param(-1, marks=pytest.mark.slow)])
def test_after_a_round_of_the_chain_the_same_shoes_are_on_the_sprocket(direction: int) -> None:
    """Shoes over teeth turns of the sprocket, of which each moves the chain by its teeth times the pitch.

    A tooth skipped would be 38 mm; a percent of the way is 15 mm. The other shoes may swing.
    """
    world, robot = bolted(0.5)
    with world:
        chain = chain_of(robot)
        steps, length = 1500, SHOES * chain.design.chain.shoe.pitch
        speed = direction * length / (steps * world.time_step)
        robot.set_belt_speed(speed, speed)
        world.run(0.3)
        seated, places, angle = gaps(chain).keys(), chain.state.positions.copy(), chain.wheels.angles[0]
        world.run(steps * world.time_step)
        turns = (chain.wheels.angles[0] - angle) / (2 * math.pi)
        assert turns == pytest.approx(direction * SHOES / TEETH, rel=1e-4)
        same = sorted(seated & gaps(chain).keys())
        assert len(same) >= 6
        assert np.abs(chain.state.positions[same] - places[same]).max() < 1e-3


def gaps(chain: TrackChain) -> dict[int, float]:
    """By shoe whose first pin is on the sprocket: in which of its gaps that is, whole when in the middle."""
    design, parents = chain.design, chain.arrays.parents
    driven = design.running_gear.driven
    wheel, sprocket = design.running_gear.wheels[driven], design.running_gear.sprocket
    assert sprocket is not None
    pins = chain.state.positions + chain.state.rotations @ np.array(design.chain.shoe.bushing_position)
    x, _, z = ((pins - parents.positions[0]) @ parents.rotations[0]).T
    x, z = x - wheel.x, z - wheel.z
    turned = (np.arctan2(x, z) - chain.wheels.angles[driven]) * sprocket.count / (2 * math.pi)
    seated = np.flatnonzero(np.hypot(x, z) < 1.02 * sprocket.pitch_radius)
    return {int(i): float(turned[i] % sprocket.count) for i in seated}


@pytest.mark.parametrize("direction", [1, -1])
def test_no_tooth_is_skipped_while_a_drive_stalls(direction: int) -> None:
    """Under the drive's whole force every pin on the sprocket stays in the gap that it lay in."""
    world, robot = bolted(0.0895, friction=5.0)
    with world:
        chain, track = chain_of(robot), robot.tracks["left"]
        before = gaps(chain)
        robot.set_belt_speed(direction, direction)
        world.run(0.5)
        after = gaps(chain)
        assert track.force == pytest.approx(direction * track.spec.drive.stall_force, rel=1e-6)
        assert abs(track.travel) < chain.design.chain.shoe.pitch / 4
        both = before.keys() & after.keys()
        assert len(both) >= 6
        moved = [(after[i] - before[i] + TEETH / 2) % TEETH - TEETH / 2 for i in both]
        np.testing.assert_allclose(moved, 0, atol=0.05)


# Rigid ground


@pytest.mark.parametrize("speed", [0.05, pytest.param(0.2, marks=pytest.mark.slow)])
def test_drawbar_pull_is_friction_times_weight(standing, speed: float) -> None:
    """On a spring, its belts slipping."""
    world, robot = standing
    start, pulls = robot.state.position[0], []
    robot.set_belt_speed(speed, speed)

    def pull_back() -> None:
        state = robot.state
        pulls.append(2000.0 * (state.position[0] - start) + 400.0 * state.velocity[0])
        world.client.applyExternalForce(
            robot.model.body_id, -1, [-pulls[-1], 0, 0], state.position, pybullet.WORLD_FRAME
        )

    world.run(2.5, on_step=pull_back)
    assert np.mean(pulls[-800:]) == pytest.approx(FRICTION * robot.mass * GRAVITY, rel=0.05)


def test_a_drum_without_teeth_drives_as_fast_as_its_belt() -> None:
    vehicle = parsed("packbot", (CHAIN, {"drum": {}}))
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain")
        robot.set_belt_speed(0.2, 0.2)
        world.run(0.5)
        start, travel = robot.state.position[0], robot.tracks["left"].travel
        world.run(1.0)
        way = robot.state.position[0] - start
        assert way == pytest.approx(robot.tracks["left"].travel - travel, rel=0.01)
        assert way == pytest.approx(0.2, rel=0.01)


# Soil


def test_a_vehicle_sinks_into_an_elastic_bed_by_weight_over_stiffness_and_area() -> None:
    """PackBot without grousers; what touches is the ground line, and little more at its ends."""
    stiffness = 1e6
    vehicle = load_vehicle("packbot")
    smooth = {name: track.model_copy(update={"grousers": None}) for name, track in vehicle.tracks.items()}
    chain = ChainSpec.model_validate({"shoes": {"count": SHOES}})
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane(soil=Soil.linear(stiffness, 1e3, 0.5, 50.0)))
        vehicle = vehicle.model_copy(update={"tracks": smooth, "chain": chain})
        robot = world.add_vehicle(vehicle, track_model="chain")
        assert world.settle().converged
        depths = -np.concatenate([chain_of(robot, name).contact_points[:, 2] for name in robot.tracks])
        design = chain_of(robot).design
        area = np.sum(depths > 0) * design.treads[0].areas[0]
        mean = depths[depths > 0].mean()
        assert mean == pytest.approx(robot.mass * GRAVITY / stiffness / area, rel=0.02)
        # Half a chord of an arc's circle, as deep as the track is, beyond each end of its ground line.
        beyond = math.sqrt(2 * 0.082 * depths.max())
        pitch, width = design.chain.shoe.pitch, 0.075
        assert 2 * width * (0.51 - pitch) < area < 2 * width * (0.51 + 2 * beyond + pitch)


# Determinism


def state_of(world: segtrack.World, robot: Robot) -> list[object]:
    """All that a chain and its vehicle are, to the bit."""
    parts: list[object] = [world.time, robot.state]
    for name, track in robot.tracks.items():
        snapshot = chain_of(robot, name).snapshot()
        parts += [track.travel, track.speed, track.force, track.energy, snapshot.torque]
        chain = snapshot.chain
        parts += [
            a.tobytes()
            for a in (chain.positions, chain.orientations, chain.velocities, chain.angular_velocities_body)
        ]
        parts += [a.tobytes() for a in (*snapshot.wheels, *snapshot.contacts)]
    return parts


def act(world: segtrack.World, robot: Robot) -> list[object]:
    """Drive a curve."""
    robot.set_belt_speed(0.8, 0.3)
    world.run(0.15)
    return state_of(world, robot)


def rough_world() -> tuple[segtrack.World, Robot]:
    """A vehicle against a low step."""
    world = segtrack.World()
    world.add_terrain(terrain.Plane())
    world.add_terrain(terrain.Step(height=0.05, distance=0.3))
    return world, world.add_vehicle("packbot", track_model="chain", position=(-0.05, 0.1), yaw=0.2)


def test_two_worlds_alike_are_equal_to_the_bit_and_so_are_restored_and_reset_ones() -> None:
    found = []
    for _ in range(2):
        world, robot = rough_world()
        with world:
            first = act(world, robot)
            snapshot = world.save()
            onward = act(world, robot)
            world.restore(snapshot)
            assert act(world, robot) == onward
            world.reset()
            again = act(world, robot)
            assert again == first
            found.append((first, onward))
    assert found[0] == found[1]


# Coming off


def test_a_chain_that_is_struck_off_its_wheels_says_where_and_when() -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 1))
        world.run(0.05)
        chain_of(robot, "right").state.velocities[30:36, 1] = 100.0
        with pytest.raises(DivergedError) as error:
            world.run(0.1)
        reason = "the chain has come off its wheels"
        assert str(error.value) == f"simulation diverged: shoe 31 of right at t = 0.0510 s: {reason}"


def test_a_chain_with_a_shoe_at_no_place_says_which() -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 1))
        world.run(0.05)
        chain_of(robot).state.velocities[7] = math.nan
        with pytest.raises(DivergedError) as error:
            world.step()
        assert error.value.body.endswith(" of left")
        assert error.value.reason == "its position is not finite"
        assert error.value.time == pytest.approx(0.051)


def test_a_vehicle_that_is_put_elsewhere_keeps_its_belts_travel(standing) -> None:
    world, robot = standing
    robot.set_belt_speed(0.2, 0.2)
    world.run(0.2)
    track = robot.tracks["left"]
    before, energy = track.travel, track.energy
    world.place_on_terrain(robot, 0.0, 0.0)
    robot.set_belt_speed(0.0, 0.0)
    world.run(0.002)
    assert track.travel == pytest.approx(before, abs=1e-3)
    assert track.energy == pytest.approx(energy, abs=0.1)


def test_slip_is_that_of_the_middle_of_a_shoes_outermost_face(standing) -> None:
    """A shoe that turns about its own y by 1 rad/s moves its grouser's tip, at z = h, along x by h."""
    _, robot = standing
    chain, spec = chain_of(robot, "left"), robot.tracks["left"].spec
    before = robot.tracks["left"].read_chain()
    chain.state.angular_velocities_body[:, 1] += 1.0
    after = robot.tracks["left"].read_chain()
    (tread,) = chain.design.treads
    touching = before.ground_force > 0
    assert touching.sum() > 5 and spec.grousers is not None
    gained = (after.slip_velocity - before.slip_velocity)[touching]
    expected = [tread.outer + spec.grousers.height, 0.0]
    np.testing.assert_allclose(gained, np.tile(expected, (len(gained), 1)), atol=1e-9)
