"""The bundled M113: what it weighs, how it stands, pulls and falls."""

import math

import numpy as np
import pytest
from m113_statics import (
    ARM,
    ARM_MASS,
    GRAVITY,
    HALF,
    IDLER,
    IDLER_RADIUS,
    PITCH,
    PITCH_RADIUS,
    SHOE,
    STIFFNESS,
    WEIGHT,
    WHEEL,
    WHEEL_MASS,
    at_rest,
    span,
)
from native.chain_energy import energy, let_dampers_go
from native.conserved import momenta
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.description import find_vehicle, load_vehicle

IDLERS = (-4.02, -4.10)
TENSION = 10e3


def standing(vehicle):
    """World and robot on flat ground, settled with its drives free."""
    world = segtrack.World(engine="native", time_step=0.001)
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, track_model="chain")
    robot.set_throttle(0.0, 0.0)
    world.settle()
    world.run(0.5)
    return world, robot


def standing_of(track):
    """Hubs of its road wheels (5, 3), tensions of front, upper and rear runs, and loads under wheels (5,)."""
    chain = track.read_chain()
    pins = chain.positions - PITCH / 2 * Rotation.from_quat(chain.orientations).as_matrix()[:, :, 0]
    hubs = chain.wheels[chain.wheels[:, 2] < 0.42]
    hubs = hubs[np.argsort(-hubs[:, 0])][:5]
    x, low = pins[:, 0], pins[:, 2] < 0.35
    runs = (
        low & (x > hubs[0, 0] + 0.18) & (x < -0.12),
        ~low & (x > hubs[4, 0]) & (x < hubs[0, 0]),
        low & (x < hubs[4, 0] - 0.18) & (x > -4.05),
    )
    tensions = [chain.tension[run].mean() for run in runs]
    nearest = np.argmin(np.abs(chain.positions[:, :1] - hubs[:, 0]), axis=1)
    lying = (chain.positions[:, 2] < 0.06) * SHOE * GRAVITY
    loads = [(chain.ground_force - lying)[nearest == wheel].sum() for wheel in range(5)]
    return hubs, tensions, np.array(loads)


SLIPPERY = {"stiffness: 4.3e+4": "stiffness: 1.0e+7", "friction: 0.8": "friction: 0.001"}
SLIPPERY |= {"friction: 0.4": "friction: 0.0"}
"""Hard pads, and rails and ground without friction, which would bear part of the tension at rest."""
PIVOT = (-3.97, -0.42)
ON_ARMS = {"direction: [-1, 0]": f"pivot: [{PIVOT[0]}, {PIVOT[1]}]"}
"""Idlers on arms that stand on pivots below and before them."""


def varied(folder, changes):
    """File of an M113 of which parts are written otherwise."""
    text = find_vehicle("m113").read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "m113.urdf").write_text((find_vehicle("m113").parent / "m113.urdf").read_text())
    file = folder / "m113.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def without_friction(tmp_path_factory):
    """Robot at rest, and what `standing_of` says of its tracks."""
    _, robot = standing(varied(tmp_path_factory.mktemp("m113"), SLIPPERY))
    return robot, [standing_of(track) for track in robot.tracks.values()]


def test_it_weighs_what_its_parts_do():
    mass = 7804 + 2 * (66.21 + 38.2 + 10 + 5 * (74.10 + 29.32)) + 127 * 8.55
    with segtrack.World(engine="native") as world:
        assert world.add_vehicle("m113", track_model="chain").mass == pytest.approx(mass, rel=1e-9)


@pytest.mark.slow
def test_it_stands_as_statics_say(without_friction):
    """Height, arms and loads by a free-body diagram of body, arms and runs, given hubs and tensions."""
    robot, (left, right) = without_friction
    rest = at_rest([left[1], right[1]], IDLERS, [left[0][:, 2], right[0][:, 2]])
    arms = math.radians(30) + np.array([joint.position for joint in robot.joints.values()]).reshape(2, 5)
    assert robot.state.position[2] == pytest.approx(rest.height, abs=0.002)
    assert 2 * robot.state.orientation[1] == pytest.approx(rest.pitch, abs=math.radians(0.1))
    np.testing.assert_allclose(np.degrees(arms), np.degrees(rest.arms), atol=0.3)
    loads = np.array([left[2], right[2]])
    assert loads.sum() == pytest.approx(rest.loads.sum(), rel=0.005)
    # Shoes stand where they stand: one between two wheels may lean on either.
    np.testing.assert_allclose(loads, rest.loads, rtol=0.05)
    assert np.abs(loads / rest.loads - 1).mean() < 0.02


@pytest.mark.slow
def test_what_the_chain_exerts_on_road_wheels_turns_their_arms_against_the_torsion_bars(without_friction):
    """Moments about each arm's pivot by spring, weights and the reading of the wheel's force."""
    robot, _ = without_friction
    pitch = 2 * robot.state.orientation[1]
    springs = np.array([joint.position for joint in robot.joints.values()]).reshape(2, 5)
    for track, turned in zip(robot.tracks.values(), springs, strict=True):
        along, _, up = track.read_chain().wheel_forces[-5:].T
        below = math.radians(30) + turned - pitch
        weights = (WHEEL_MASS + ARM_MASS / 2) * GRAVITY
        moment = ARM * (np.cos(below) * (up - weights) - np.sin(below) * along)
        np.testing.assert_allclose(moment, STIFFNESS * (0.2269 - turned), rtol=0.005)


@pytest.mark.slow
def test_its_runs_have_their_tension(without_friction):
    for _, (_, upper, rear), _ in without_friction[1]:
        assert (upper + rear) / 2 == pytest.approx(TENSION, rel=0.02)


@pytest.mark.slow
def test_an_idler_on_an_arm_has_balanced_moments_about_its_pivot(tmp_path):
    """Of its spring, of two runs with half of their weight, of the shoes around it, and of its own weight."""
    _, robot = standing(varied(tmp_path, SLIPPERY | ON_ARMS))
    attitude = Rotation.from_quat(robot.state.orientation)
    for track, chain in zip(robot.tracks.values(), robot.model.chains, strict=True):
        sprocket, idler = track.read_chain().wheels[:2, [0, 2]]
        hubs, (_, upper, rear), _ = standing_of(track)
        pivot = sprocket + attitude.apply((PIVOT[0], 0.0, PIVOT[1]))[[0, 2]]
        arm, tensioner = idler - pivot, chain.design.running_gear.wheels[1].tensioner
        assert np.hypot(*arm) == pytest.approx(1 / abs(tensioner.curvature), abs=1e-4)
        moment = -arm[0] * (IDLER * GRAVITY + WEIGHT * math.pi * IDLER_RADIUS)
        for other, radius, tension, side in (
            (sprocket, PITCH_RADIUS, upper, -1.0),
            (hubs[4, [0, 2]], WHEEL + HALF, rear, 1.0),
        ):
            mirror = np.array([1.0, side])  # A run over wheels is one under them upside down.
            rise, length = span(mirror * idler, IDLER_RADIUS, mirror * other, radius)
            ahead = mirror * (math.cos(rise), math.sin(rise))
            point = arm + side * IDLER_RADIUS * np.array([ahead[1], -ahead[0]])
            pull = tension * ahead - (0.0, WEIGHT * length / 2)
            moment += point[0] * pull[1] - point[1] * pull[0]
        assert moment == pytest.approx(-tensioner.preload * np.hypot(*arm), rel=0.01)


def test_without_chains_arms_would_stand_at_thirty_degrees():
    """Loaded by the sprung mass of a tenth alone: the closed form that its springs were chosen by."""
    arm = load_vehicle("m113").joints["arm_left_3"].spring
    sprung = (7804 + 2 * (66.21 + 38.2 + 10)) / 10
    torque = sprung * GRAVITY * 0.3175 * math.cos(math.radians(30))
    assert arm.stiffness * arm.free_position == pytest.approx(torque, rel=2e-3)
    assert 0.3175 / 2 + 0.0873 + WHEEL + 2 * HALF == pytest.approx(0.611, abs=5e-4)


@pytest.mark.slow
def test_it_stands_on_its_pads_and_bears_its_weight():
    _, robot = standing("m113")
    tracks = [standing_of(track) for track in robot.tracks.values()]
    assert WHEEL + 2 * HALF - tracks[0][0][2, 2] == pytest.approx(0.0254, abs=0.001)
    ground = sum(track.read_chain().ground_force.sum() for track in robot.tracks.values())
    assert ground == pytest.approx(robot.mass * GRAVITY, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("pull, goes", [(0.70, True), (0.80, False)])
def test_it_pulls_what_its_torque_can(pull, goes):
    """76.4 kN at stall are 0.767 of its weight, and friction is 0.8 of it."""
    world, robot = standing("m113")
    robot.set_throttle(1.0, 1.0)
    x, y, z = robot.state.position
    robot.apply_force((-pull * robot.mass * GRAVITY, 0.0, 0.0), (x - 4.0, y, z - 0.1))
    world.run(2.0)
    assert (robot.state.position[0] > x + 0.1) == goes


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive", ON_ARMS])
def test_it_falls_freely(tmp_path, vehicle):
    """It tumbles; arms and idlers have come to where their springs leave them, or nearly."""
    world = segtrack.World(engine="native", time_step=0.001)
    vehicle = varied(tmp_path, vehicle) if vehicle is ON_ARMS else vehicle
    robot = world.add_vehicle(vehicle, track_model="chain", position=(0, 0, 50))
    robot.model.state.angular_velocity[0] = (0.1, -0.2, 0.15)
    robot.set_throttle(0.0, 0.0)
    world.run(0.3)
    began, (momentum, spin) = world.time, momenta(world, robot)
    world.run(0.5)
    now, spin_now = momenta(world, robot)
    weight = robot.mass * GRAVITY
    np.testing.assert_allclose(now - momentum, [0, 0, -weight * (world.time - began)], atol=1e-9 * weight)
    np.testing.assert_allclose(spin_now, spin, atol=1e-7 * np.linalg.norm(spin))


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive"])
def test_it_falls_with_the_energy_that_it_has(vehicle):
    """Tumbling, dampers and friction let go once springs have come to rest; what turns has 0.8 kJ."""
    world = segtrack.World(engine="native", time_step=0.001)
    robot = world.add_vehicle(vehicle, track_model="chain", position=(0, 0, 50))
    robot.model.state.angular_velocity[0] = (0.1, -0.2, 0.15)
    robot.set_throttle(0.0, 0.0)
    world.run(0.5)
    let_dampers_go(robot)
    _, whole = energy(world, robot)
    for _ in range(3):
        world.run(0.1)
        moving, now = energy(world, robot)
        assert abs(now - whole) < 1e-6 * moving


@pytest.mark.slow
@pytest.mark.parametrize("vehicle, taut", [("m113", 1), ("m113_rear_drive", -1)])
def test_any_wheel_drives(vehicle, taut):
    """Under a pull the upper run is taut where sprockets are ahead, and slack where they are behind."""
    world, robot = standing(vehicle)
    settled = upper_tension(robot)
    x, y, z = robot.state.position
    robot.apply_force((-0.3 * robot.mass * GRAVITY, 0.0, 0.0), (x, y, z - 0.1))
    robot.set_belt_speed(0.3, 0.3)
    world.run(1.5)
    assert robot.state.position[0] > x + 0.3
    assert taut * (upper_tension(robot) - settled) > 2e3


def upper_tension(robot):
    """Mean tension between shoes well above the ground, of both tracks [N]."""
    chains = [track.read_chain() for track in robot.tracks.values()]
    return np.mean([chain.tension[chain.positions[:, 2] > 0.68].mean() for chain in chains])
