"""The bundled M113 on the move: what its rolling costs, and 5 m/s over rough ground."""

import math

import numpy as np
import pytest
from m113_statics import HALF, IDLER_RADIUS, PITCH, PITCH_RADIUS, WHEEL
from scenes import GRAVITY

import segtrack
from segtrack import terrain
from segtrack.experiments import RideCourse
from segtrack.geometry import Pulley, wrap_hull

pytestmark = pytest.mark.slow
RADII = np.array([PITCH_RADIUS, IDLER_RADIUS, *5 * [WHEEL + HALF]])
"""From the axles of sprocket, idler and road wheels to the pins around them [m]."""


def rolling(vehicle, speed, driven):
    """World and robot on flat ground half a second after it had a speed, which its drives keep or not."""
    world = segtrack.World(engine="native", time_step=0.001)
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, track_model="chain")
    robot.set_throttle(0.0, 0.0)
    world.settle()
    robot.set_velocity(speed)
    if not driven:
        robot.set_throttle(0.0, 0.0)
    world.run(0.5)
    return world, robot


def bends_around(hubs):
    """Square of the rate at which all pins of a chain bend, over the square of its speed [1/m^2].

    A shoe's heading is the mean of the path's between its pins, so that at a speed v a pin at s bends
    at v (t(s + p) - 2 t(s) + t(s - p)) / p, t being the heading of the pins' path around the wheels.
    """
    path = wrap_hull([Pulley(x, z, radius) for (x, _, z), radius in zip(hubs, RADII, strict=True)])
    along = np.linspace(0.0, path.perimeter, 40_000, endpoint=False)
    headings = np.unwrap(path.heading(along))
    ahead, behind = (path.heading(along + step) for step in (PITCH, -PITCH))
    turned = np.sin((ahead - headings) / 2), np.sin((headings - behind) / 2)
    rates = (2 * np.arcsin(turned[0]) - 2 * np.arcsin(turned[1])) / PITCH
    return np.mean(rates**2) * path.perimeter / PITCH


def bending(robot):
    """Power of the pins' dampers [W]."""
    power = 0.0
    for chain in robot.model.chains:
        rotations = chain.state.rotations
        spins = np.einsum("nij,nj->ni", rotations, chain.state.angular_velocities_body)
        rates = np.sum((np.roll(spins, -1, axis=0) - spins) * rotations[:, :, 1], axis=1)
        power += chain.design.chain.bushing.pin_damping * rates @ rates
    return power


def kinetic_energy(robot):
    """That of links, shoes and wheels, with the drives' rotors [J]."""
    chains = robot.model.chains
    turning = sum(chain.arrays.running_gear.wheels.inertias @ chain.wheels.speeds**2 / 2 for chain in chains)
    return robot.bodies().kinetic_energy + turning


def with_easy_pins(vehicle):
    """The vehicle with pins that do not resist bending."""
    description, tracks = segtrack.load_vehicle(vehicle), {}
    for name, track in description.tracks.items():
        bushing = track.chain.bushing.model_copy(update={"bending_damping": 0.0})
        chain = track.chain.model_copy(update={"bushing": bushing})
        tracks[name] = track.model_copy(update={"chain": chain})
    return description.model_copy(update={"tracks": tracks})


@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive"])
def test_coasting_it_loses_what_drives_would_have_to_give(vehicle):
    """A chain moves with the hull and around it, so that it counts twice; a wheel adds J / r^2."""
    world, robot = rolling(vehicle, 5.0, driven=False)
    hubs = [track.read_chain().wheels for track in robot.tracks.values()]
    speeds, start, bent = [robot.state.velocity[0]], robot.state.position[0], 0.0
    for _ in range(500):
        world.run(0.002)
        speeds.append(robot.state.velocity[0])
        bent += 0.002 * bending(robot)
    way = robot.state.position[0] - start
    mass = robot.mass + sum(
        chain.design.chain.mass + np.sum(chain.arrays.running_gear.wheels.inertias / RADII**2)
        for chain in robot.model.chains
    )
    resistance = mass * (speeds[0] ** 2 - speeds[-1] ** 2) / 2 / way
    world, robot = rolling(vehicle, float(np.mean(speeds)), driven=True)
    start, work = robot.state.position[0], robot.energy
    world.run(1.0)
    assert (robot.energy - work) / (robot.state.position[0] - start) == pytest.approx(resistance, rel=0.05)
    # Drives tighten one run, and loosen the other. Most of it bends pins.
    damping = robot.model.chains[0].design.chain.bushing.pin_damping
    expected = damping * np.mean(np.square(speeds)) * sum(map(bends_around, hubs))
    assert bent == pytest.approx(expected, rel=0.1)
    assert 0.6 * resistance < bent / way < 0.8 * resistance


def loss_on_a_slope(vehicle):
    """Work of the weight on 20 deg that is no kinetic energy after 0.6 s, and work of the pins' dampers [J].

    And what these take at least, where pins bend by the path around the wheels alone [J].
    """
    world, robot = rolling(vehicle, 0.0, driven=False)
    hubs = [track.read_chain().wheels for track in robot.tracks.values()]
    damping = robot.model.chains[0].design.chain.bushing.pin_damping
    angle = math.radians(20.0)
    down = GRAVITY * np.array((math.sin(angle), 0.0, -math.cos(angle)))
    world.set_gravity(tuple(down.tolist()))
    world.run(0.3)
    bodies, kinetic, bent, least = robot.bodies(), kinetic_energy(robot), 0.0, 0.0
    for _ in range(600):
        world.run(0.001)
        bent += 0.001 * bending(robot)
        least += 0.001 * damping * robot.state.velocity[0] ** 2
    work = bodies.masses @ (robot.bodies().positions - bodies.positions) @ down
    return work - (kinetic_energy(robot) - kinetic), bent, least * sum(map(bends_around, hubs))


@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive"])
def test_rolling_freely_it_loses_most_to_its_pins(vehicle):
    """Two thirds of what is lost, and nearly half of it is kept without them."""
    lost, bent, least = loss_on_a_slope(vehicle)
    assert least < bent
    assert 0.55 * lost < bent < 0.75 * lost
    assert loss_on_a_slope(with_easy_pins(vehicle))[0] < 0.6 * lost


def test_it_levels_off_where_its_pins_take_what_its_engine_gives():
    """17.8 m/s are published: there its pins alone take more than its engine has at any speed."""
    world, robot = rolling("m113", 9.4, driven=True)
    robot.set_throttle(1.0, 1.0)
    world.run(1.0)
    given, kept, bent = robot.energy, kinetic_energy(robot), 0.0
    for _ in range(250):
        world.run(0.002)
        bent += 0.002 * bending(robot)
    given, kept = robot.energy - given, kinetic_energy(robot) - kept
    assert 0.55 * given < bent < 0.62 * given
    assert 0.1 * given < kept < 0.25 * given
    assert 0.15 * given < given - kept - bent < 0.3 * given  # Bushings, rails, teeth and ground.
    forces = np.array(robot.tracks["left"].spec.drive.torque_table.forces)
    speeds = np.linspace(0.0, 20.0, 2001)
    engine = 2.0 * np.max(speeds * np.interp(speeds, *forces.T))
    world, robot = rolling("m113", 17.8, driven=False)
    assert robot.state.velocity[0] < 17.8
    bent = 0.0
    for _ in range(100):
        world.run(0.002)
        bent += 0.002 * bending(robot)
    assert bent / 0.2 > 1.2 * engine


@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive"])
def test_it_turns_to_both_hands_alike_but_for_what_its_sides_differ_in(vehicle):
    """Its right wheels stand 0.1016 m behind its left ones, and one side has a shoe more."""
    yaws = []
    for hand in (1.0, -1.0):
        world, robot = rolling(vehicle, 0.0, driven=True)
        robot.set_belt_speed(-0.5 * hand, 0.5 * hand)
        world.run(0.5)
        start = robot.state.yaw
        world.run(1.0)
        yaws.append(hand * (robot.state.yaw - start))
    assert yaws[0] > 0.2
    assert yaws[0] == pytest.approx(yaws[1], rel=0.03)


def rides(vehicle, time_step):
    """Way, height and pitch every 2 ms at 5 m/s over rough ground, loads over the weight, and shoes aside."""
    world = segtrack.World(engine="native", time_step=time_step)
    world.add_terrain(RideCourse(rms=0.025, length=20.0, longest=10.0).terrain(12.0, 5.0, 2.5))
    behind = {"m113": 1.0, "m113_rear_drive": 5.0}[vehicle]
    robot = world.add_vehicle(vehicle, track_model="chain", position=(-behind, 0.0, 0.62))
    robot.set_throttle(0.0, 0.0)
    world.settle()
    robot.set_velocity(5.0)
    world.run(0.3)
    rows, before = [], upwards(robot)
    for _ in range(750):
        world.run(0.002)
        state, chains = robot.state, [track.read_chain() for track in robot.tracks.values()]
        aside = max(np.ptp([*chain.positions[:, 1], chain.wheels[0, 1]]) for chain in chains)
        load = sum(chain.ground_force.sum() for chain in chains)
        rows.append((state.position[0], state.position[2], state.pitch, state.roll, load, aside))
    gained = (upwards(robot) - before) / 1.5
    return np.array(rows).T, robot.mass * GRAVITY, gained


def upwards(robot):
    """Momentum [kg m/s]."""
    bodies = robot.model.bodies()
    return bodies.masses @ bodies.velocities[:, 2]


@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive"])
def test_over_rough_ground_it_stays_level_and_on_its_belts(vehicle):
    """The ground bears its weight and what it gains of momentum; half the step takes it the same way."""
    (x, z, pitch, roll, load, aside), weight, gained = rides(vehicle, 0.001)
    assert x[-1] - x[0] == pytest.approx(5.0 * 1.498, rel=0.02)
    assert np.ptp(z) > 0.05
    assert np.abs(pitch).max() < math.radians(5.0)
    assert np.abs(roll).max() < math.radians(0.5)
    assert aside.max() < 0.02
    assert load.mean() == pytest.approx(weight + gained, rel=0.01)
    half = rides(vehicle, 0.0005)[0]
    np.testing.assert_allclose(np.interp(x, half[0], half[1]), z, atol=0.001)
    np.testing.assert_allclose(np.interp(x, half[0], half[2]), pitch, atol=math.radians(0.05))
