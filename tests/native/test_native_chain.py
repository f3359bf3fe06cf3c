"""Link chains in the native engine: conservation laws, promises, and the same chains beside PyBullet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from native.conserved import half_a_step_back, momenta, slide_of
from scenes import GRAVITY, tilt

import segtrack
from segtrack import terrain
from segtrack.chain import TrackChain
from segtrack.description import VehicleDescription
from segtrack.description.chain import ChainSpec, SuspensionSpec
from segtrack.engine import EngineName
from segtrack.errors import DivergedError, InvalidValueError, NotReadyError, UnknownNameError
from segtrack.robot import Robot
from segtrack.terrain import Soil

pytestmark = pytest.mark.slow
"""Their kernels take half a minute to compile, once; `test_chain*.py` run those that they share."""
FRICTION = 0.6
SPRUNG = ChainSpec(suspension={"arm": SuspensionSpec(stiffness=1e3)})


def holding(sub_steps: int | None) -> VehicleDescription:
    """PackBot, whose contacts serve for so many sub-steps at most."""
    vehicle = segtrack.load_vehicle("packbot")
    return vehicle.model_copy(
        update={"chain": vehicle.chain.model_copy(update={"sub_steps_held": sub_steps})}
    )


def native(vehicle="packbot", ground: terrain.Terrain | None = None, **given):
    """A native world with a vehicle on chains."""
    world = segtrack.World(engine="native", time_step=given.pop("time_step", None))
    world.add_terrain(terrain.Plane() if ground is None else ground)
    return world, world.add_vehicle(vehicle, track_model="chain", **given)


@pytest.fixture(scope="module")
def settled() -> Iterator[tuple[segtrack.World, Robot, object]]:
    """A robot at rest on flat ground, and the state to go back to."""
    world, robot = native()
    world.settle()
    yield world, robot, world.save()


@pytest.fixture
def standing(settled) -> tuple[segtrack.World, Robot]:
    """The same world and robot, at rest again."""
    world, robot, snapshot = settled
    tilt(world, 0.0)
    world.restore(snapshot)
    return world, robot


def test_chains_turn_to_both_hands_as_mirror_images() -> None:
    found = []
    for hand in (1.0, -1.0):
        world, robot = native()
        with world:
            world.run(0.2)
            slow, fast = -0.2, 0.25
            robot.set_belt_speed(*((slow, fast) if hand > 0 else (fast, slow)))
            world.run(0.5)
            (x, y, z), yaw = robot.state.position, robot.state.yaw
            found.append((x, hand * y, z, hand * yaw))
    np.testing.assert_allclose(*found, atol=1e-9)


def test_a_dropped_chain_slides_under_friction_times_load() -> None:
    """Braked, by 20 mm, onto a ramp of 0.95 of the friction angle: while it bounces it is less, then 1.00."""
    world, robot = native(position=(0.0, 0.0, 0.11))
    angle = math.atan(0.95 * FRICTION)
    tilt(world, math.degrees(angle))
    world.run(1.0)
    before = robot.state.velocity[0]
    world.run(0.5)
    after = robot.state.velocity[0]
    assert before < after < -0.1  # It slides downhill, ever more slowly.
    force = GRAVITY * math.sin(angle) + (after - before) / 0.5
    assert force / (FRICTION * GRAVITY * math.cos(angle)) == pytest.approx(1.0, abs=0.01)
    world.close()


# Conservation


@pytest.mark.parametrize("gravity", [GRAVITY, 0.0])
def test_a_driven_vehicle_falls_freely_and_keeps_its_angular_momentum(gravity: float) -> None:
    """It tumbles, its belts speed up in the air, and are reversed."""
    world = segtrack.World(engine="native", gravity=gravity)
    robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 20))
    robot.model.state.angular_velocity[0] = (0.3, -0.2, 0.4)
    world.run(0.02)
    (momentum, spin), began = momenta(world, robot), world.time
    for speed in (0.5, -0.5):
        robot.set_belt_speed(speed, speed)
        world.run(0.2)
        assert robot.tracks["left"].speed == pytest.approx(speed, rel=0.01)
        now, spin_now = momenta(world, robot)
        impulse = np.array([0, 0, -robot.mass * gravity * (world.time - began)])
        np.testing.assert_allclose(now - momentum, impulse, atol=1e-13 * robot.mass * GRAVITY)
        np.testing.assert_allclose(spin_now, spin, atol=3e-6 * np.linalg.norm(spin))


def test_sliding_idlers_have_the_momentum_that_their_links_have_felt() -> None:
    """But for m |dx'|, by which the last sub-step changed what it adds to the velocity of their places.

    A slide takes its place's acceleration of the last sub-step, and what that has changed by in this one as a
    velocity, whose reaction the link feels in the next. Both momenta are read half a sub-step apart, in which
    they turn with the link, by w and its change.
    """
    step = 5e-5
    with segtrack.World(engine="native", gravity=0.0, time_step=step) as world:
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 20))
        state, chain = robot.model.state, robot.model.chains[0]
        assert chain.max_sub_step > step
        state.angular_velocity[0] = (0.3, -0.2, 0.4)
        robot.set_belt_speed(0.5, 0.5)
        world.run(0.05)
        wheels, (w,) = (
            chain.arrays.running_gear.wheels,
            np.flatnonzero(chain.wheels.slide_momenta.any(axis=1)),
        )
        apart = []
        for _ in range(200):
            changes, before = chain.wheels.place_changes[w].copy(), state.angular_velocity[0].copy()
            world.step()
            with half_a_step_back(world, robot):
                slid, along = (robot.model._work.belt_rotations[0][:, [0, 2]] @ v for v in slide_of(chain, w))
            spin, speed = state.angular_velocity[0], chain.wheels.slide_speeds[w]
            own = wheels.slide_masses[w] * (np.cross(spin, slid) + speed * along)
            late = np.linalg.norm(chain.wheels.place_changes[w] - changes)
            w_, d = np.linalg.norm(spin), np.linalg.norm(slid)
            turned = np.linalg.norm(spin - before) * d + step * w_ * (abs(speed) + w_ * d)
            error = np.linalg.norm(own - chain.wheels.slide_momenta[w]) / wheels.slide_masses[w]
            assert error < late + turned
            apart.append(error)
        assert max(apart) > 1e-6


def energy_of_wheels(chain: TrackChain) -> float:
    """Kinetic energy of wheels, and of the rotor, which turns as the driven wheel does on its link [J]."""
    wheels, speeds = chain.arrays.running_gear.wheels, chain.wheels.speeds
    on_link = chain.speed / chain.design.pitch_radius
    rotor = wheels.reflected_inertia * (on_link**2 - speeds[chain.design.running_gear.driven] ** 2)
    return float(wheels.inertias @ speeds**2 + rotor) / 2


def spun_and_braked(step: float, held: int | None) -> tuple[float, float]:
    """Work of the drives after spinning belts up, and after braking them again, in the air [J]."""
    world = segtrack.World(engine="native", gravity=0.0, time_step=step)
    robot = world.add_vehicle(holding(held), track_model="chain", position=(0, 0, 5))
    robot.set_belt_speed(0.3, 0.3)
    world.run(0.1)
    stored, spent = (
        robot.model.bodies().kinetic_energy + sum(map(energy_of_wheels, robot.model.chains)),
        robot.energy,
    )
    robot.set_belt_speed(0.0, 0.0)
    world.run(0.1)
    assert 0.7 * spent < spent - robot.energy < stored < spent
    return spent, robot.energy


def test_braking_gives_back_what_spinning_up_took_but_for_losses() -> None:
    """Work of the drives beside the energy of what moves, and the same however steps are cut."""
    works = [spun_and_braked(step, held=1) for step in (0.004, 0.001, 0.00025)]
    np.testing.assert_allclose(works, [works[0]] * 3, atol=2e-3 * works[0][0])


def test_held_contacts_cost_a_hundredth_of_the_work_at_most() -> None:
    """Steps of 0.25 ms hold contacts half as long as others."""
    works = [spun_and_braked(0.001, held=1)]
    works += [spun_and_braked(step, held=None) for step in (0.004, 0.001, 0.00025)]
    np.testing.assert_allclose(works, [works[0]] * 4, atol=1e-2 * works[0][0])


# Work on a slope


def test_work_of_the_drives_lifts_the_vehicle_up_a_slope(standing) -> None:
    """But for a few percent that bushings, wheels and teeth take."""
    world, robot = standing
    tilt(world, 15.0)
    world.run(0.5)
    robot.set_belt_speed(0.2, 0.2)
    world.run(0.5)
    start, work = robot.state.position[0], robot.energy
    world.run(1.0)
    lifted = robot.mass * GRAVITY * math.sin(math.radians(15)) * (robot.state.position[0] - start)
    assert 1.0 < (robot.energy - work) / lifted < 1.05


# Beside PyBullet


def both(what: Callable[[EngineName], np.ndarray]) -> np.ndarray:
    """Difference of what one function measures in either engine."""
    return what("native") - what("pybullet")


def test_both_engines_drive_and_turn_alike() -> None:
    """Within 1 mm and 0.1 deg on the way, and 1 % of the turning rate."""

    def ride(engine: EngineName) -> np.ndarray:
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle("packbot", track_model="chain")
            world.run(0.2)
            robot.set_belt_speed(0.3, 0.3)
            world.run(0.4)
            driven = (*robot.state.position, robot.state.pitch)
            robot.set_belt_speed(-0.3, 0.3)
            world.run(0.2)
            yaw = robot.state.yaw
            world.run(0.4)
            return np.array([*driven, (robot.state.yaw - yaw) / 0.4])

    difference = both(ride)
    assert np.abs(difference[:3]).max() < 1e-3
    assert abs(difference[3]) < math.radians(0.1)
    assert abs(difference[4]) < 0.01 * ride("native")[4]


def test_both_engines_sink_alike_into_soil() -> None:
    soil = Soil(
        sinkage_exponent=1.0,
        cohesive_modulus=0.0,
        frictional_modulus=2e6,
        cohesion=0.0,
        friction_angle=0.5,
        shear_deformation_modulus=0.01,
    )

    def stand(engine: EngineName) -> np.ndarray:
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane(soil=soil))
            robot = world.add_vehicle("packbot", track_model="chain")
            world.run(0.2)
            reading = robot.tracks["left"].read_chain()
            return np.array([reading.sinkage.max(), reading.ground_force.sum() / 1e4])

    assert np.abs(both(stand)).max() < 1e-4
    assert stand("native")[0] > 5e-3


def test_both_engines_climb_the_240_mm_step_alike() -> None:
    """Quince's pitch at each place until its body is above the edge, within 0.2 deg rms (0.07 measured).

    Up to there the climb is quasi-static: how the robot leans follows from where it stands. Then it tips over
    the edge, away from an unstable equilibrium: a start 0.01 mm off moves the pitch in one and the same
    engine by 2 deg rms, more than the engines differ (1.06), and rounding differs between CPUs. So
    what is compared ends at the edge; beyond it both have to arrive on top.
    """
    places = np.linspace(0.0, 0.6, 100)

    def climb(engine: EngineName) -> np.ndarray:
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Step(height=0.24, distance=0.6))
            angles = {"front_left": 0.785, "front_right": 0.785, "rear_left": -0.175, "rear_right": -0.175}
            robot = world.add_vehicle("quince", track_model="chain", flippers=angles)
            world.run(0.3)
            robot.set_belt_speed(0.2, 0.2)
            way = []
            for _ in range(250):
                world.run(0.02)
                way.append((robot.state.position[0], math.degrees(robot.state.pitch)))
            assert robot.state.position[2] > 0.2
            assert robot.state.position[0] > 0.75
        x, pitch = np.array(way).T
        return np.interp(places, np.maximum.accumulate(x), pitch)

    assert np.sqrt(np.mean(both(climb) ** 2)) < 0.2


@pytest.mark.parametrize("name", ["packbot", "quince", "maxxii", "example_rover", "trapezoidal"])
def test_a_vehicle_turns_climbs_askew_and_holds_on_a_slope(name: str) -> None:
    height = 0.015 if name == "trapezoidal" else 0.04  # Its body hangs down to 18 mm between its belts.
    world, robot = native(name, terrain.Step(height=height, distance=0.4), yaw=0.2)
    world.run(0.3)
    speed = min(0.2, *(track.spec.drive.top_speed for track in robot.tracks.values()))
    yaw = robot.state.yaw
    robot.set_belt_speed(-speed, speed)
    world.run(0.5)
    assert robot.state.yaw > yaw + 0.02
    robot.set_belt_speed(speed, speed)
    world.run(3.0)
    assert robot.state.position[0] > 0.2
    robot.set_belt_speed(0.0, 0.0)
    tilt(world, 15.0)
    world.run(0.5)
    held = robot.state.position
    world.run(0.5)
    np.testing.assert_allclose(robot.state.position, held, atol=1e-3)


# The world's promises


def scripted(world: segtrack.World, robot: Robot, chunk: float = 0.05) -> tuple:
    """Drive a curve; returns all that one can read afterwards."""
    robot.set_belt_speed(0.3, 0.1)
    for _ in range(round(0.1 / chunk)):
        world.run(chunk)
    reading = robot.tracks["left"].read_chain()
    return robot.state, *(track.state for track in robot.tracks.values()), reading


def assert_equal(one: tuple, other: tuple) -> None:
    """To the bit."""
    assert one[:-1] == other[:-1]
    for field, value in vars(one[-1]).items():
        np.testing.assert_array_equal(value, getattr(other[-1], field))


def test_save_act_restore_act_is_equal_to_the_bit(standing) -> None:
    world, robot = standing
    robot.set_belt_speed(-0.1, 0.2)
    world.run(0.05)
    saved = world.save()
    reading = robot.tracks["left"].read_chain()
    first = scripted(world, robot)
    world.restore(saved)
    np.testing.assert_array_equal(robot.tracks["left"].read_chain().tension, reading.tension)
    assert_equal(scripted(world, robot), first)


def test_long_and_short_calls_and_two_worlds_are_equal_to_the_bit() -> None:
    first, *others = (scripted(*native(), chunk=chunk) for chunk in (0.1, 0.1, 0.001))
    for other in others:
        assert_equal(other, first)


@pytest.mark.parametrize(("shoe", "moved"), [(4, 0.03), (3, 0.1), (20, 0.02)])
def test_an_overloaded_joint_stops_the_run_and_names_its_track(standing, shoe: int, moved: float) -> None:
    """Also where the whole vehicle has diverged by the end of the step."""
    world, robot = standing
    robot.model.chains[0].state.positions[shoe] += moved
    with pytest.raises(DivergedError) as error:
        world.step()
    assert "of left" in str(error.value)


def test_a_state_that_is_not_finite_stops_the_run(standing) -> None:
    world, robot = standing
    robot.model.state.velocity[0, 0] = math.nan
    with pytest.raises(DivergedError):
        world.step()


def test_friction_that_a_program_sets_counts(standing) -> None:
    world, robot = standing
    for track in robot.tracks.values():
        track.set_friction(0.1)
    tilt(world, 15.0)
    start = robot.state.position[0]
    world.run(0.5)
    slid = start - robot.state.position[0]
    expected = GRAVITY * (math.sin(math.radians(15)) - 0.1 * math.cos(math.radians(15))) * 0.5**2 / 2
    assert slid == pytest.approx(expected, rel=0.03)
    for track in robot.tracks.values():
        track.set_friction(FRICTION)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: native(segtrack.load_vehicle("packbot").model_copy(update={"chain": SPRUNG})),
            UnknownNameError,
            "no link that a joint moves, for chain.suspension 'arm'; there are: none",
        ),
        (
            lambda: native("lugged_wheel"),
            InvalidValueError,
            "path of front_left, a chain must be around two or more pulleys, bending outwards, got arc_0",
        ),
        (
            lambda: native()[1].tracks["left"].read_grousers(),
            NotReadyError,
            "cannot read the grousers of left: only the track model 'compliant' has readings of them",
        ),
    ],
)
def test_bad_input_gets_one_clear_error(make, error, message) -> None:
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message
