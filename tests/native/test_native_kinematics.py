"""Links and belts of a native vehicle in free flight, against the description and differences of places."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.description import REST_DEPTH, Frame, vehicle_links
from segtrack.errors import InvalidValueError
from segtrack.geometry import tangent_of
from segtrack.robot import Robot

POSITION = (1.0, -2.0, 5.0)
ANGLES = {"front_left": 0.7, "front_right": -0.4, "rear_left": 0.2, "rear_right": 1.1}


@pytest.fixture
def world() -> segtrack.World:
    """Without gravity and ground."""
    return segtrack.World(engine="native", gravity=0.0)


@pytest.fixture
def robot(world: segtrack.World) -> Robot:
    """A Quince whose centre of mass is on none of the body's axes, and whose flippers stand as they like."""
    quince = segtrack.load_vehicle("quince")
    body = quince.body.model_copy(update={"center_of_mass": (0.02, -0.03, 0.05)})
    return world.add_vehicle(quince.model_copy(update={"body": body}), flippers=ANGLES)


def turned() -> np.ndarray:
    return Rotation.from_euler("ZYX", (0.5, -0.8, 0.3)).as_quat()


def frames(robot: Robot) -> dict[str, Frame]:
    """Where description and joint angles say that the flippers and the tracks' parents are."""
    state = robot.state
    body = Frame(Rotation.from_quat(state.orientation).as_matrix(), np.array(state.position))
    placed = {"body": body}
    for name, flipper in robot.flippers.items():
        spec = flipper.spec
        turn = Rotation.from_euler("y", spec.raise_axis * flipper.angle).as_matrix()
        placed[name] = body @ spec.mount.frame @ Frame(turn, np.zeros(3))
    return placed


def test_flippers_start_where_they_are_told_without_torque(robot: Robot) -> None:
    assert {name: flipper.angle for name, flipper in robot.flippers.items()} == pytest.approx(ANGLES)
    assert [flipper.torque for flipper in robot.flippers.values()] == [0.0] * 4


def test_a_body_is_where_it_is_put(robot: Robot) -> None:
    robot.reset_base_pose(POSITION, turned())
    assert robot.state.position == pytest.approx(POSITION)
    assert robot.state.orientation == pytest.approx(turned())


def test_links_are_where_the_description_says(robot: Robot) -> None:
    robot.reset_base_pose(POSITION, turned())
    placed = frames(robot)
    for track in robot.tracks.values():
        parent, expected = track.parent_motion(), placed[track.flipper or "body"]
        np.testing.assert_allclose(parent.position, expected.origin, atol=1e-12)
        np.testing.assert_allclose(parent.rotation, expected.rotation, atol=1e-12)


def test_belts_are_where_their_mounts_are(robot: Robot) -> None:
    robot.reset_base_pose(POSITION, turned())
    robot.model.place_links()
    placed, work = frames(robot), robot.model._work
    for t, track in enumerate(robot.tracks.values()):
        belt = placed[track.flipper or "body"] @ track.spec.mount.frame
        np.testing.assert_allclose(work.belt_origins[t], belt.origin, atol=1e-12)
        np.testing.assert_allclose(work.belt_rotations[t], belt.rotation, atol=1e-12)


def test_velocities_are_those_of_the_places(world: segtrack.World, robot: Robot) -> None:
    robot.reset_base_pose(POSITION, turned())
    state, rng = robot.model.state, np.random.default_rng(0)
    state.velocity[0], state.angular_velocity[0] = rng.normal(size=(2, 3))
    robot.set_flippers(**dict.fromkeys(ANGLES, 0.0))
    world.run(0.02)
    before = {name: track.parent_motion() for name, track in robot.tracks.items()}
    world.step()
    for name, track in robot.tracks.items():
        after, step = track.parent_motion(), world.time_step
        # A semi-implicit step moves by the velocities at its end.
        np.testing.assert_allclose(
            (after.position - before[name].position) / step, after.velocity_at((0.0, 0.0, 0.0)), atol=5e-3
        )


def test_a_flipper_goes_at_its_speed_and_stands_where_it_is_sent(world: segtrack.World, robot: Robot) -> None:
    """Weightless: what servos exert moves the body, and joint angles are what they follow."""
    robot.set_flippers(front_left=0.75, front_right=-0.4, rear_left=0.2, rear_right=1.1)
    world.run(0.02)
    assert robot.flippers["front_left"].speed == pytest.approx(1.0, rel=1e-3)  # [rad/s], its fastest.
    assert robot.flippers["front_left"].angle == pytest.approx(0.72, abs=1e-3)
    world.run(0.1)
    assert {name: flipper.angle for name, flipper in robot.flippers.items()} == pytest.approx(
        ANGLES | {"front_left": 0.75}, abs=1e-3
    )


@pytest.mark.parametrize("time_step", [0.0, -0.001])
def test_a_step_that_is_not_positive_is_refused(time_step: float) -> None:
    with pytest.raises(InvalidValueError, match="time_step"):
        segtrack.World(engine="native", time_step=time_step)


def test_a_weak_drive_speeds_its_belt_up_by_force_over_mass(world: segtrack.World) -> None:
    """It gives what it has until the belt goes as told, then not at all; the body is too heavy to turn."""
    packbot = segtrack.load_vehicle("packbot")
    robot = world.add_vehicle(
        packbot.model_copy(update={"body": packbot.body.model_copy(update={"mass": 1e7})})
    )
    track, weak = robot.tracks["left"], 1e-3
    track.scale_drive(weak)
    track.set_speed(0.3)
    world.step()
    force, mass = weak * track.spec.drive.stall_force, robot.model.tree.belt_masses[0]
    assert track.force == pytest.approx(force)
    gained = force * world.time_step / mass
    assert track.speed == pytest.approx(gained, rel=1e-4)
    assert track.travel == pytest.approx(gained * world.time_step, rel=1e-4)
    track.scale_drive(1.0)
    world.run(0.01)
    assert track.speed == pytest.approx(0.3)
    assert track.force == pytest.approx(0.0, abs=1e-6)


def test_the_work_of_a_drive_is_the_energy_of_its_belt(world: segtrack.World) -> None:
    """From the first step on, at the drive's limit and after it; the body is too heavy to turn."""
    packbot = segtrack.load_vehicle("packbot")
    robot = world.add_vehicle(
        packbot.model_copy(update={"body": packbot.body.model_copy(update={"mass": 1e7})})
    )
    track, mass = robot.tracks["left"], packbot.tracks["left"].moving_mass
    track.set_speed(0.5)
    for _ in range(20):
        world.step()
        assert track.energy == pytest.approx(mass * track.speed**2 / 2, rel=1e-4)
    assert track.speed == pytest.approx(0.5)


def test_a_flipper_stops_at_its_limit(world: segtrack.World) -> None:
    quince = segtrack.load_vehicle("quince")
    short = {n: f.model_copy(update={"limits": (-0.01, 0.02)}) for n, f in quince.flippers.items()}
    robot = world.add_vehicle(quince.model_copy(update={"flippers": short}))
    robot.set_flipper_speeds(front_left=1.0, rear_right=-1.0)  # [rad/s]
    world.run(0.04)
    assert robot.flippers["front_left"].angle == pytest.approx(0.02, abs=1e-9)
    assert robot.flippers["rear_right"].angle == pytest.approx(-0.01, abs=1e-9)
    assert robot.flippers["front_left"].speed == pytest.approx(0.0, abs=1e-9)


def test_a_belly_that_lies_as_deep_as_at_rest_bears_the_weight() -> None:
    """All its points do, on a plate between the belts."""
    world = segtrack.World(engine="native")
    plate = terrain.GroundBox(x=3.0, y=-2.0, length=0.6, width=0.24, height=0.3)
    world.add_terrain(terrain.Boxes(boxes=(plate,)))
    packbot = segtrack.load_vehicle("packbot")
    body = packbot.body.model_copy(update={"size": (0.3, 0.2, 0.1), "center_of_mass": (0.05, -0.03, 0.02)})
    height = plate.height + body.size[2] / 2 - REST_DEPTH
    robot = world.add_vehicle(packbot.model_copy(update={"body": body}), position=(3.0, -2.0, height))
    contacts = robot.model.read_contacts()  # Before gravity has moved it by a third of that.
    assert contacts.normal_forces.sum() == pytest.approx(robot.mass * 9.81, rel=1e-6)
    for axis, middle in enumerate((3.0, -2.0)):
        places, half = contacts.places[:, axis] - middle, body.size[axis] / 2
        assert (places.min(), places.max()) == pytest.approx((-half, half), abs=1e-4)


@pytest.mark.parametrize("axis", range(3))
def test_a_push_along_one_axis_moves_the_vehicle(world: segtrack.World, robot: Robot, axis: int) -> None:
    force = np.eye(3)[axis] * 50.0
    center = robot.model.bodies()
    at = center.masses @ center.positions / center.masses.sum()
    robot.apply_force(tuple(force), tuple(at))
    world.run(0.01)
    after = robot.model.bodies()
    momentum = after.masses @ after.velocities
    np.testing.assert_allclose(momentum, force * 0.01, atol=1e-9)


def test_a_belt_that_runs_on_a_link_that_turns_has_the_energy_of_its_pieces(
    world: segtrack.World, robot: Robot
) -> None:
    """What two motions have together beyond each alone: mass a metre times their velocities' product."""
    track, turning, speed = robot.tracks["left"], np.array((0.3, 2.0, -0.4)), 0.7
    state, bodies = robot.model.state, robot.model.bodies
    state.speeds[0, 0] = speed
    alone = bodies().kinetic_energy
    state.angular_velocity[0], state.speeds[0, 0] = turning, 0.0
    alone += bodies().kinetic_energy
    state.speeds[0, 0] = speed
    path, frame = track.spec.belt_path, track.parent_motion().rotation @ track.spec.mount.frame.rotation
    along = path.perimeter * (np.arange(20000) + 0.5) / 20000
    places, tangents = (
        np.insert(pairs, 1, 0.0, axis=1) @ frame.T
        for pairs in (path.point(along), tangent_of(path.heading(along)))
    )
    product = np.mean(np.sum(np.cross(turning, places) * tangents, axis=1)) * speed
    assert bodies().kinetic_energy - alone == pytest.approx(track.spec.belt.mass * product, rel=1e-3)


def test_servos_carry_their_flippers_along_with_a_push(world: segtrack.World, robot: Robot) -> None:
    """Through the centre of mass it only shifts: about a pivot the torque is lever x mass x acceleration."""
    bodies, links = robot.model.bodies(), vehicle_links(robot.description)
    force = np.array((30.0, -20.0, 50.0))
    robot.apply_force(tuple(force), tuple(bodies.masses @ bodies.positions / bodies.masses.sum()))
    placed = frames(robot)
    world.step()
    for (name, flipper), mass in zip(robot.flippers.items(), links.masses[1:], strict=True):
        lever, axle = placed[name].rotation @ mass.center, placed[name].rotation[:, 1]
        torque = np.cross(lever, mass.mass * force / robot.mass) @ axle
        assert flipper.torque == pytest.approx(flipper.spec.raise_axis * torque, rel=1e-6)


@pytest.mark.parametrize("name", ["quince", "packbot"])
def test_nothing_of_a_vehicle_is_farther_than_its_reach(world: segtrack.World, name: str) -> None:
    """Nor is that much farther: a grouser counts by its height, width and length, one after the other."""
    vehicle, rng = segtrack.load_vehicle(name), np.random.default_rng(0)
    body = vehicle.body.model_copy(update={"center_of_mass": (0.1, 0.05, 0.0)})
    robot = world.add_vehicle(vehicle.model_copy(update={"body": body}))
    farthest = 0.0
    for _ in range(200):
        angles = robot.model.state.joint_angles
        angles[0] = rng.uniform(-math.pi, math.pi, angles.shape[1])
        robot.model.place_links()
        away = robot.model._outer_points() - robot.model._work.centers[0]
        farthest = max(farthest, float(np.linalg.norm(away, axis=1).max()))
    assert farthest <= robot.model.arrays.reaches[0] + 1e-9
    assert robot.model.arrays.reaches[0] < 1.1 * farthest


def test_each_track_reads_its_own_contacts() -> None:
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle("quince")
    x, y, z = robot.state.position
    robot.reset_base_pose((x, y, z - REST_DEPTH))
    world.step()
    loads = {name: track.read_grousers().load.sum() for name, track in robot.tracks.items()}
    assert min(loads.values()) >= 0.0
    assert loads["left"] == pytest.approx(loads["right"], rel=1e-3)
    assert loads["left"] > 0.0
    assert sum(loads.values()) == pytest.approx(robot.model.read_contacts().normal_forces.sum())
