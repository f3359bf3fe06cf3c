"""Vehicles on link chains against closed forms and conservation laws; of segments see `test_belt_physics`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pybullet
import pytest
import yaml
from chain_solver import angular_momentum, linear_momentum
from description.test_bad_input import LEFT, changed
from scenes import GRAVITY, tilt, vary

import segtrack
from segtrack import terrain
from segtrack.bullet.frames import link_mass, link_motion
from segtrack.chain.shoe_state import kinetic_energy
from segtrack.chain.track import TrackChain
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.description.chain import ChainSpec, ShoesSpec
from segtrack.description.chain_layout import track_design
from segtrack.description.load import parse_vehicle
from segtrack.errors import DivergedError, InvalidValueError, VehicleFileError
from segtrack.robot import Robot
from segtrack.terrain import Soil
from segtrack.terrain.solids import Box

FRICTION = 0.6
TEETH, SHOES = 13, 40
"""Of PackBot."""


def chain_of(robot: Robot, name: str = "left") -> TrackChain:
    """The chain of one of a robot's tracks."""
    return robot.tracks[name].model.belt.chain


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


# CouplingImpulses of momentum with PyBullet


def whole_momenta(world: segtrack.World, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Momentum [kg m/s] of links, shoes and sliding idlers, and that about their centre [kg m^2/s].

    Wheels are part of the body's mass; they have a spin of their own.
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
        spin += frame.rotations[0, :, 1] * np.sum(wheels.inertias * chain.wheels.speeds)
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


@pytest.mark.parametrize("direction", [1, -1])
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
    chain = ChainSpec(shoes=ShoesSpec(count=SHOES))
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
    """DriveCommand a curve."""
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


# Settling


@pytest.mark.parametrize(
    ("vehicle", "track_model"), [("packbot", "chain"), ("packbot", "segments"), ("quince", "segments")]
)
def test_a_settled_vehicle_stands_still_within_the_tolerance(vehicle: str, track_model: str) -> None:
    tolerance = 1e-3
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        angles = {"front_left": 0.5, "front_right": 0.5} if vehicle == "quince" else None
        robot = world.add_vehicle(vehicle, track_model=track_model, flippers=angles)
        low, high = map(np.array, robot.bounds())
        rest = world.settle(tolerance)
        assert world.time == 0.0
        weight = robot.mass * GRAVITY
        assert rest.converged
        assert 0 < rest.time < 10
        assert rest.max_residual_force <= tolerance * weight
        assert rest.kinetic_energy <= tolerance**2 * weight * np.max(high - low)
        own = robot.mass / 2 * np.square(robot.state.velocity).sum()
        assert own <= tolerance**2 * weight * np.max(high - low)
        if track_model == "chain":
            shoes = sum(
                kinetic_energy(chain.design.chain, chain.state)
                for chain in (chain_of(robot, name) for name in robot.tracks)
            )
            assert shoes <= rest.kinetic_energy
        start = np.array(robot.state.position)
        world.run(0.2)
        assert np.linalg.norm(np.array(robot.state.position) - start) < 1e-4


def test_a_vehicle_that_has_no_time_to_settle_says_so() -> None:
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 0.3))
        rest = world.settle(max_time=0.02)
        assert not rest.converged
        assert 0.02 <= rest.time < 0.1
        assert rest.max_residual_force > 0.1 * robot.mass * GRAVITY / SHOES


@pytest.mark.parametrize(
    ("gravity", "vehicles", "given", "message"),
    [
        (GRAVITY, 0, {}, "world that settles must be one with robots, and gravity downwards, got no robot"),
        (
            0.0,
            1,
            {},
            "world that settles must be one with robots, and gravity downwards, got a gravity of 0 m/s^2",
        ),
        (GRAVITY, 1, {"tolerance": -1e-3}, "tolerance must be greater than 0, got -0.001"),
        (GRAVITY, 1, {"tolerance": math.nan}, "tolerance must be a finite number, got nan"),
        (GRAVITY, 1, {"max_time": 0.0}, "max_time [s] must be greater than 0, got 0.0"),
    ],
)
def test_what_cannot_settle_is_refused(gravity: float, vehicles: int, given: dict, message: str) -> None:
    with segtrack.World(gravity=gravity) as world:
        for _ in range(vehicles):
            world.add_vehicle("packbot", position=(0, 0, 1))
        with pytest.raises(InvalidValueError) as error:
            world.settle(**given)
        assert str(error.value) == message


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


# CompositeBody files


def parsed(vehicle: str, *changes) -> VehicleDescription:
    """A bundled vehicle's file with changes."""
    return parse_vehicle(changed(vehicle, *changes), "own.yaml")


def designs(vehicle: VehicleDescription):
    """The chains of all tracks by name."""
    return {mounted.name: track_design(mounted.name, mounted.spec) for mounted in vehicle.mounted_tracks()}


def test_a_tracks_own_chain_goes_before_its_vehicles(tmp_path) -> None:
    data = changed(
        "packbot",
        (("chain",), {"shoes": {"count": 38, "mass": 0.06}}),
        ((*LEFT, "chain"), {"shoes": {"count": 42}}),
    )
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(data))
    found = designs(load_vehicle(file))
    assert found["left"].chain.count == 42
    assert found["right"].chain.count == 38
    assert found["right"].chain.shoe.mass == 0.06
    assert found["left"].chain.shoe.mass == pytest.approx(2.0 / 42)


CHAINED = [name for name in bundled_vehicles() if name != "lugged_wheel"]


@pytest.mark.parametrize("vehicle", CHAINED)
def test_a_chain_stands_for_its_belt(vehicle: str) -> None:
    """As many shoes as grousers, as heavy together as the belt, as long as the belt at the pins' depth."""
    description = load_vehicle(vehicle)
    for mounted, design in zip(description.mounted_tracks(), designs(description).values(), strict=True):
        part, chain = mounted.spec, design.chain
        if part.grousers is not None and part.chain.shoes.count is None:
            assert chain.count == part.grousers.count
        assert chain.count * chain.shoe.mass == pytest.approx(part.belt.mass)
        depth = part.belt.thickness / 2 - chain.shoe.bushing_position[2]
        inner = part.belt_path.perimeter - 2 * math.pi * depth
        assert chain.count * chain.shoe.pitch == pytest.approx(inner, rel=0.01)


@pytest.mark.parametrize(
    "vehicle", [name for name in CHAINED if len(list(load_vehicle(name).mounted_tracks())) == 2]
)
def test_a_vehicle_is_as_heavy_with_chains_as_with_segments_and_stands_on_them(vehicle: str) -> None:
    masses = []
    for track_model in ("segments", "chain"):
        with segtrack.World() as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(vehicle, track_model=track_model)
            masses.append(robot.mass)
            height = robot.state.position[2]
            world.run(0.05)
            assert robot.state.position[2] == pytest.approx(height, abs=0.02)
    assert masses[1] == pytest.approx(masses[0], rel=1e-9)


CHAIN = ("chain",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [(CHAIN, {"colour": "red"})],
            "chain.colour is not a key that segtrack knows; there are: shoes, bushing, sprocket, drum, "
            "tensioner, even_rollers, road_wheels, suspension, shoe_contact, sub_step",
        ),
        (
            [((*LEFT, "chain"), {"shoes": {"colour": 1}})],
            "tracks.left.chain.shoes.colour is not a key that segtrack knows; there are: count, pitch, mass, "
            "thickness",
        ),
        ([(CHAIN, {"shoes": {"count": 2}})], "chain.shoes.count must be at least 3, got 2"),
        ([(CHAIN, {"shoes": {"count": 30.5}})], "chain.shoes.count must be a whole number, got 30.5"),
        ([(CHAIN, {"shoes": {"mass": -1}})], "chain.shoes.mass must be greater than 0, got -1"),
        ([(CHAIN, {"sprocket": {"teeth": 4}})], "chain.sprocket.teeth must be at least 5, got 4"),
        ([(CHAIN, {"sub_step": 0})], "chain.sub_step must be greater than 0, got 0"),
        ([(CHAIN, {"sprocket": {}, "drum": {}})], "chain.sprocket must be left out where drum is given"),
        ([(CHAIN, {"road_wheels": [], "even_rollers": {}})],
         "chain.even_rollers must be left out where road_wheels is given"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_are_refused(changes, message: str) -> None:
    with pytest.raises(VehicleFileError) as error:
        parsed("packbot", *changes)
    assert str(error.value) == f"own.yaml: {message}"


def wheel(x: float, z: float, radius: float) -> dict[str, float]:
    """A road wheel in a file."""
    return {"x": x, "z": z, "radius": radius}


@pytest.mark.parametrize(
    ("chain", "key", "complaint"),
    [
        (
            {"shoes": {"count": 10}},
            "chain.shoes.count", "at least 16, for 5 to fit around its smallest pulley, got 10",
        ),
        (
            {"shoes": {"count": 30, "pitch": 0.04}},
            "chain.shoes.count", "37, which close around its wheels with a pitch of 0.04 m, got 30",
        ),
        (
            {"shoes": {"pitch": 5.0}},
            "chain.shoes.pitch", "at most 0.0964 m, for 5 to fit around its smallest pulley, got 5.0",
        ),
        (
            {"sprocket": {"teeth": 12}},
            "chain.sprocket.teeth", "13, for a pitch of 0.03779 m on a pulley of 0.082 m, got 12",
        ),
        (
            {"road_wheels": [wheel(0, -0.05, 0.015), wheel(0.01, -0.05, 0.015)]},
            "chain.road_wheels[1]", "apart from chain.road_wheels[0], got an overlap of 0.026 m",
        ),
        (
            {"road_wheels": [wheel(-0.2, 0, 0.015)]},
            "chain.road_wheels[0]", "apart from the driven wheel, got an overlap of 0.0358 m",
        ),
        (
            {"road_wheels": [wheel(0, -0.075, 0.015)]},
            "chain.road_wheels[0]", "within the belt, got one that reaches 0.008 m out",
        ),
        (
            {"sub_step": 1e-3},
            "chain.sub_step", "above 0 and at most 7.21e-05 s, for its stiffness and damping, got 0.001",
        ),
        (
            {"shoes": {"thickness": 0.5}},
            "chain.shoes.thickness", "at most 0.0738 m, for a wheel to fit inside its tightest bend, got 0.5",
        ),
        (
            {"even_rollers": {"spacing": 1e-4}},
            "chain.even_rollers.spacing", "at least 0.00945 m, a quarter of the pitch, got 0.0001",
        ),
        (
            {"bushing": {"stiffness": 1e12}},
            "chain", "soft and heavy enough for sub-steps of at least 1e-06 s, got one that needs 7.29e-08 s",
        ),
    ],
)  # fmt: skip
def test_chains_that_cannot_be_built_are_refused(chain, key: str, complaint: str) -> None:
    vehicle = parsed("packbot", (CHAIN, chain))
    with segtrack.World() as world:
        with pytest.raises(InvalidValueError) as error:
            world.add_vehicle(vehicle, track_model="chain")
        assert str(error.value) == f"{key} of left must be {complaint}"
        assert world.client.getNumBodies() == 0


def test_a_number_of_shoes_that_is_asked_for_closes() -> None:
    """The message on a pitch of 40 mm names the only count, and that one does."""
    design = designs(parsed("packbot", (CHAIN, {"shoes": {"count": 37, "pitch": 0.04}})))["left"]
    assert design.chain.count == 37
    assert design.chain.shoe.pitch == pytest.approx(0.04, abs=1e-6)


def test_a_tensioner_that_tears_its_chain_apart_is_refused() -> None:
    vehicle = parsed("packbot", (CHAIN, {"tensioner": {"pretension": 2e4}}))
    with segtrack.World() as world, pytest.raises(InvalidValueError) as error:
        world.add_vehicle(vehicle, track_model="chain")
    message = "chain must be one that bears its tensioner, got one that breaks: simulation diverged: shoe "
    assert str(error.value).startswith(message)


def test_a_time_step_too_long_for_chains_is_refused() -> None:
    with segtrack.World(time_step=0.02) as world:
        world.add_vehicle("packbot", track_model="chain", position=(0, 0, 1))
        with pytest.raises(InvalidValueError) as error:
            world.step()
        assert str(error.value) == "time_step [s] must be at most 0.01 with link chains, got 0.02"


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


def test_what_slides_on_ice_is_not_at_rest_while_drainage_holds_it() -> None:
    """At the speed at which drainage takes what gravity gives, the slope's pull is not balanced."""
    with segtrack.World() as world:
        world.add_terrain(terrain.Ramp(slope=0.3, length=20.0, distance=-10.0, friction=0.0))
        robot = world.add_vehicle("packbot")
        rest = world.settle(max_time=2.0)
        body = world.client.getDynamicsInfo(robot.model.body_id, -1)[0]
        assert not rest.converged
        assert rest.max_residual_force == pytest.approx(body * GRAVITY * math.sin(0.3), rel=0.1)


def test_a_path_around_one_pulley_is_refused() -> None:
    with segtrack.World() as world:
        with pytest.raises(InvalidValueError) as error:
            world.add_vehicle("lugged_wheel", track_model="chain")
        assert str(error.value) == (
            "path of front_left, a chain must be around two or more pulleys, bending outwards, got arc_0"
        )


@pytest.mark.parametrize("first", ["mesh", "vehicle"])
def test_an_open_mesh_under_a_chain_is_refused(first: str, tmp_path) -> None:
    file = tmp_path / "slab.obj"
    corners = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 0 -1\n"
    file.write_text(corners + "f 1 2 3\nf 1 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\n")
    mesh = terrain.Mesh(file=file)
    with segtrack.World() as world, pytest.raises(InvalidValueError) as error:
        if first == "mesh":
            world.add_terrain(mesh)
            world.add_vehicle("packbot", track_model="chain", position=(0, 0, 0.1))
        else:
            world.add_vehicle("packbot", track_model="chain", position=(0, 0, 0.1))
            world.add_terrain(mesh)
    assert str(error.value) == (
        "ground must be of analytic solids, heightfields and meshes of closed convex pieces, "
        f"got {file} whose piece 1 of 1 is not"
    )


# Wheels on sprung arms

ARMED = """
name: armed
source: made up
body: {urdf: armed.urdf}
tracks:
  left: &track
    mount: {parent: base, xyz: [0, 0.2, 0]}
    path: {pulleys: [{x: -0.25, z: 0, radius: 0.08}, {x: 0.25, z: 0, radius: 0.08}]}
    width: 0.075
    belt: {mass: 2.0}
    grousers: {count: 40, shape: {box: {length: 0.005, height: 0.008}}}
    drive: {max_force: 300.0, max_speed: 1.0}
    chain:
      road_wheels: [{x: -0.1, z: -0.05, radius: 0.02}, {link: arm_left, x: 0, z: -0.05, radius: 0.02}]
      suspension: {arm_left: {stiffness: 40.0, damping: 0.5, free_position: REST}}
  right:
    <<: *track
    mount: {parent: base, xyz: [0, -0.2, 0]}
    chain:
      road_wheels: [{x: -0.1, z: -0.05, radius: 0.02}, {link: arm_right, x: 0, z: -0.05, radius: 0.02}]
      suspension: {arm_right: {stiffness: 40.0, damping: 0.5, free_position: REST}}
"""


def armed(folder: Path, rest: float) -> Path:
    """A vehicle file whose arms trail behind their pivots, 0.1 m from their wheels' axles."""
    mass = '<mass value="{}"/>\n<inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/>\n'
    link = '<link name="{}">\n<inertial>\n' + mass + "</inertial>\n</link>\n"
    joint = (
        '<joint name="arm_{0}_joint" type="revolute">\n<parent link="base"/>\n<child link="arm_{0}"/>\n'
        '<origin xyz="0.1 {1} -0.03"/>\n<axis xyz="0 1 0"/>\n'
        '<limit lower="-1" upper="1" effort="100" velocity="10"/>\n</joint>\n'
    )
    arms = [
        link.format(f"arm_{side}", 0.3, 0.002, 0.002, 0.002) + joint.format(side, y)
        for side, y in (("left", 0.2), ("right", -0.2))
    ]
    base = link.format("base", 20.0, 0.5, 0.5, 0.5)
    (folder / "armed.urdf").write_text(f'<robot name="armed">\n{base}{"".join(arms)}</robot>\n')
    (folder / "armed.yaml").write_text(ARMED.replace("REST", str(rest)))
    return folder / "armed.yaml"


@pytest.mark.parametrize(("rest", "touches"), [(-0.05, True), (0.3, False)])
def test_a_sprung_arm_presses_on_the_chain_or_stands_where_its_spring_rests(
    tmp_path: Path, rest: float, touches: bool
) -> None:
    """Turned by a negative angle an arm presses its wheel down; the chain on the ground pushes it back."""
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(armed(tmp_path, rest), track_model="chain")
        assert world.settle().converged
        angles = [
            world.client.getJointState(robot.model.body_id, robot.model.links[name])[0]
            for name in ("arm_left", "arm_right")
        ]
        assert angles[0] == pytest.approx(angles[1], abs=1e-5)
        if touches:
            assert rest + 0.03 < angles[0] < 0.02
        else:
            assert angles[0] == pytest.approx(rest, abs=1e-3)
        ground = sum(track.read_chain().ground_force.sum() for track in robot.tracks.values())
        assert ground == pytest.approx(robot.mass * GRAVITY, rel=0.02)


# Ground of every kind

GROUNDS = [
    terrain.Plane(),
    terrain.Step(height=0.1, distance=0.1),
    terrain.Gap(length=0.3, distance=-0.1),
    terrain.Ramp(slope=0.3, length=1.0, distance=-0.1),
    terrain.Ridge(height=0.1, length=0.8, distance=-0.4),
    terrain.Stairs(riser=0.05, tread=0.2, count=3, distance=-0.1),
    terrain.StepField(max_height=0.05, cell=0.1, rows=12, columns=12, distance=-0.6),
    terrain.TrapezoidBarrier(height=0.1, top_length=0.3, bottom_length=0.6, distance=-0.3),
    terrain.TrapezoidDitch(depth=0.2, top_length=0.3, bottom_length=0.1, distance=-0.15),
    terrain.Waves(heights=(0.02,), lengths=(0.3,), distance=-0.1),
    terrain.HalfRound(radius=0.05, distance=-0.05),
    terrain.Boxes(boxes=(terrain.GroundBox(x=0, y=0, length=0.4, width=1.0, height=0.1, yaw=0.3),)),
    terrain.Heightfield(heights=np.full((5, 5), 0.1), spacing=0.5),
    terrain.StaticBody(parts=(Box((2.0, 2.0, 0.2), (0.0, 0.0, 0.1)),)),
    terrain.Platform(length=2.0, width=2.0, distance=-1.0),
    terrain.PlatformGap(length=0.3, height=0.1, distance=-1.2),
    terrain.PatternedStepField(unit=0.02, distance=-0.6),
    terrain.Hurdle(height=0.05, distance=-0.05),
    terrain.KRails(count=1, height=0.05, distance=-0.3),
    terrain.ConfinedSpace(clearance=3.0, count=1, distance=-0.3),
    terrain.ContinuousRamps(count=2, slope=0.1, distance=-0.6),
    terrain.CrossingRamps(count=2, slope=0.1, distance=-0.6),
    terrain.Bed(length=2.0, distance=-1.0),
]


def test_every_kind_that_has_heights_is_below() -> None:
    kinds = {
        kind
        for kind in vars(terrain).values()
        if isinstance(kind, type) and issubclass(kind, terrain.Terrain) and kind is not terrain.Terrain
    }
    assert {type(ground) for ground in GROUNDS} == kinds - {
        terrain.Mesh,
        terrain.FlatGround,
        terrain.Obstacle,
    }


@pytest.mark.parametrize("ground", GROUNDS, ids=lambda ground: type(ground).__name__)
def test_a_chain_stands_on_ground_of_every_kind(ground: terrain.Terrain) -> None:
    """It is carried, and no shoe is deeper in it than what its contact gives by under the whole weight."""
    with segtrack.World("fast") as world:
        world.add_terrain(ground)
        robot = world.add_vehicle("packbot", track_model="chain")
        carried, deepest = [], robot.mass * GRAVITY / chain_of(robot).design.shoe_contact.stiffness
        for _ in range(25):
            world.step()
            readings = [track.read_chain() for track in robot.tracks.values()]
            carried.append(sum(reading.ground_force.sum() for reading in readings))
            assert max(reading.sinkage.max() for reading in readings) < deepest
        assert max(carried) > 0.3 * robot.mass * GRAVITY
