"""The track models that segments are compared with: smooth, wheels:N and plates."""

import math

import numpy as np
import pytest
from scenes import vary

import segtrack
from segtrack import terrain
from segtrack.bullet import track_builder
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.geometry import plate_loop

PACKBOT_MASS = 24.0  # [kg]; README.md of the vehicle
QUINCE_MASS = 33.0  # [kg]; Okada et al. 2020, Table III


def part_of(vehicle, track="left"):
    return segtrack.load_vehicle(vehicle).tracks[track]


def with_grousers(vehicle, **changes):
    """A bundled vehicle with other grouser numbers on the tracks of its body."""
    description = segtrack.load_vehicle(vehicle)
    tracks = {
        name: track.model_copy(update={"grousers": track.grousers.model_copy(update=changes)})
        for name, track in description.tracks.items()
    }
    return description.model_copy(update={"tracks": tracks})


def side_by_side(vehicle, count):
    """A bundled vehicle with so many of its left tracks, whose drives have no inertia."""
    description = vary(vehicle, drive={"reflected_mass": 0.0})
    return description.model_copy(
        update={"tracks": {f"track_{i}": description.tracks["left"] for i in range(count)}}
    )


def on_plane(vehicle, track_model, settle=0.2):
    world = segtrack.World()
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, track_model=track_model)
    world.run(settle)
    return world, robot


def drive(world, robot, speed, start, seconds):
    """Distance [m] and left belt's travel [m] over `seconds`, after `start` seconds at the same command."""
    robot.set_belt_speed(speed, speed)
    world.run(start)
    x, travel = robot.state.position[0], robot.tracks["left"].travel
    world.run(seconds)
    return robot.state.position[0] - x, robot.tracks["left"].travel - travel


def all_numbers(world, robot):
    """Everything that a robot's bodies show."""
    numbers = [robot.state, [(t.travel, t.speed, t.force, t.energy) for t in robot.tracks.values()]]
    for body in robot.model.body_ids:
        joints = range(world.client.getNumJoints(body))
        numbers.append(world.client.getBasePositionAndOrientation(body))
        numbers.append([state[:2] for state in world.client.getJointStates(body, joints)])
    return numbers


# Names


@pytest.mark.parametrize(
    "name", ["wheels:1", "wheels:0", "wheels:-3", "wheels:x", "wheels:4.0", "wheels:", "wheels"]
)
def test_fewer_than_two_wheels_are_refused(name):
    with pytest.raises(InvalidValueError) as error:
        track_builder(name)
    assert str(error.value) == f"track model wheels:N must be at least 2 wheels, got '{name}'"


def test_an_unknown_model_is_told_the_known_ones():
    with pytest.raises(UnknownNameError) as error:
        track_builder("wheel:4")
    known = "segments, smooth, wheels:N, plates, compliant, surface, chain"
    assert str(error.value) == f"no track model 'wheel:4'; there are: {known}"


@pytest.mark.parametrize(
    "vehicle, model, message",
    [
        ("lugged_wheel", "wheels:4",
         "path of a track of wheels must be a ground line between two outward arcs, got arc_0"),
        ("lugged_wheel", "plates",
         "path of a track of plates must be around two or more pulleys, bending outwards, got arc_0"),
        ("packbot", "wheels:64",
         "packbot with tracks of wheels:64 must be of at most 127 joints for PyBullet, got 128"),
        (side_by_side("packbot", 19), "segments",
         "packbot with tracks of segments must be of at most 127 joints for PyBullet, got 133"),
        (with_grousers("packbot", count=126), "plates",
         "plates of a track must be at most 125 for PyBullet, got 126"),
        (with_grousers("packbot", count=15), "plates",
         "plates of a track must be no longer than 0.0964 m, for 5 to fit around the smallest pulley, got 0.1001 m"),  # noqa: E501
    ],
)  # fmt: skip
def test_tracks_that_a_model_cannot_build_are_refused(vehicle, model, message):
    with segtrack.World() as world:
        with pytest.raises(InvalidValueError) as error:
            world.add_vehicle(vehicle, track_model=model)
        assert str(error.value) == message
        assert world.client.getNumBodies() == 0


# Mass


@pytest.mark.parametrize("model", ["segments", "smooth", "wheels:2", "wheels:13", "plates"])
@pytest.mark.parametrize(
    "vehicle, mass", [pytest.param("packbot", PACKBOT_MASS, marks=pytest.mark.slow), ("quince", QUINCE_MASS)]
)
def test_every_model_weighs_what_the_vehicle_weighs_and_has_inertias_that_a_body_can_have(
    vehicle, mass, model
):
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle, track_model=model)
        assert robot.mass == pytest.approx(mass, abs=1e-6)
        for body in range(world.client.getNumBodies()):
            for link in range(-1, world.client.getNumJoints(body)):
                # Bullet sets an inertia to zero that breaks the triangle inequality.
                moments = np.array(world.client.getDynamicsInfo(body, link)[2])
                assert moments.min() > 0
                assert 2 * moments.max() <= moments.sum() * (1 + 1e-9)


def test_plates_share_the_belts_mass():
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot", track_model="plates")
        for track in robot.model.tracks:
            (chain,) = track.belt.bodies
            masses = [
                world.client.getDynamicsInfo(chain, n)[0] for n in range(-1, world.client.getNumJoints(chain))
            ]
            assert sum(masses) == pytest.approx(track.mounted.spec.belt.mass, abs=1e-9)
            assert masses[3:] == pytest.approx([0.99 * track.mounted.spec.belt.mass / 40] * 40)


# Smooth


def test_a_smooth_belt_drives_the_commanded_distance():
    world, robot = on_plane("packbot", "smooth")
    with world:
        distance, travel = drive(world, robot, 0.3, 0.2, 1.0)
        assert distance == pytest.approx(0.3, rel=0.005)
        assert distance == pytest.approx(travel, rel=0.005)


# Wheels


@pytest.mark.parametrize("count", [2, 4, 13])
def test_wheels_stand_evenly_along_the_ground_line_and_reach_as_far_as_grousers(count):
    wheels = track_builder(f"wheels:{count}").track_links(part_of("packbot"))
    assert [w.x for w in wheels] == pytest.approx(np.linspace(0.255, -0.255, count))
    assert [w.z for w in wheels] == pytest.approx([0.0] * count)
    assert [w.shapes[0].solid.radius for w in wheels] == pytest.approx([0.082 + 0.008] * count)
    assert [w.ratio for w in wheels] == pytest.approx([1 / 0.09] * count)


def test_wheels_of_a_tapered_track_touch_one_line():
    part = part_of("tapered")
    wheels = track_builder("wheels:5").track_links(part)
    assert wheels[0].shapes[0].solid.radius != wheels[-1].shapes[0].solid.radius
    line = part.belt_path.segments[part.belt_path.ground]
    outward = np.array([math.sin(line.heading), math.cos(line.heading)])
    for wheel in wheels:
        height = outward @ (np.array([wheel.x, wheel.z]) - line.start)
        assert height + wheel.shapes[0].solid.radius == pytest.approx(part.grousers.height)


@pytest.mark.parametrize("count", [4, 13])
def test_each_wheel_rolls_two_pi_r_a_turn_at_belt_speed(count):
    world, robot = on_plane("packbot", f"wheels:{count}")
    with world:
        track = robot.tracks["left"]
        joints = robot.model.tracks[0].belt.track_joints.joints
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.2)
        ends = []
        for seconds in (1.0, 0.0):
            states = np.array([s[:2] for s in world.client.getJointStates(robot.model.body_id, joints)])
            x = robot.state.position[0]
            world.step()  # Belts are read before each step.
            ends.append((states, x, track.travel))
            world.run(seconds)
        (before, start, began), (states, end, ended) = ends
        turns = (states[:, 0] - before[:, 0]) / (2 * math.pi)
        assert (end - start) / turns == pytest.approx(2 * math.pi * 0.09, rel=0.005)
        assert states[:, 1] == pytest.approx([0.3 / 0.09] * count, rel=0.01)
        assert ended - began == pytest.approx(turns.mean() * 2 * math.pi * 0.09, abs=1e-9)


def test_wheels_share_the_drives_force_equally():
    with segtrack.World(gravity=0.0) as world:  # Nothing but inertia to work against.
        robot = world.add_vehicle(
            vary("packbot", drive={"max_force": 20.0}), track_model="wheels:4", position=(0, 0, 1)
        )
        robot.set_belt_speed(2.0, 2.0)
        world.run(0.01)
        track = robot.tracks["left"]
        joints = robot.model.tracks[0].belt.track_joints
        torques = [state[3] for state in world.client.getJointStates(joints.body, joints.joints)]
        assert torques == pytest.approx([20.0 / 4 * 0.09] * 4)
        assert track.force == pytest.approx(20.0)


# Plates


def plates_of(world, robot, index):
    """Position (3,) and x axis (3,) of each plate of a track's chain; two joints guide the first."""
    (chain,) = robot.model.tracks[index].belt.bodies
    links = range(1, world.client.getNumJoints(chain))
    states = (world.client.getLinkState(chain, link, computeForwardKinematics=1) for link in links)
    turns = ((state[4], world.client.getMatrixFromQuaternion(state[5])) for state in states)
    return [(np.array(position), np.array(turn[::3])) for position, turn in turns]


def closing_gap(world, robot):
    """Largest distance between the ends of a track's chain, which its ball joint holds together [m]."""
    gaps = []
    for index, track in enumerate(robot.tracks.values()):
        plates = plates_of(world, robot, index)
        pitch = plate_loop(track.spec.belt_path, len(plates)).pitch
        gaps.append(math.dist(plates[0][0], plates[-1][0] + pitch * plates[-1][1]))
    return max(gaps)


def test_a_belt_without_grousers_has_plates_of_about_40_mm():
    vehicle = segtrack.load_vehicle("packbot")
    bare = {name: track.model_copy(update={"grousers": None}) for name, track in vehicle.tracks.items()}
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle.model_copy(update={"tracks": bare}), track_model="plates")
        count = len(plates_of(world, robot, 0))
    assert bare["left"].belt_path.perimeter / count == pytest.approx(0.04, rel=0.05)


def test_plates_have_names_that_a_person_can_read():
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot", track_model="plates")
        (chain,) = robot.model.tracks[0].belt.bodies
        names = [
            world.client.getJointInfo(chain, n)[1].decode() for n in range(world.client.getNumJoints(chain))
        ]
        assert names == ["left_along_joint", "left_up_joint", *(f"left_plate_{n}_joint" for n in range(40))]
        assert {"left_sprocket", "left_supports"} <= set(robot.model.links)


@pytest.mark.slow
def test_plates_drive_the_commanded_distance_and_hold_together():
    world, robot = on_plane("packbot", "plates")
    with world:
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.2)
        x, travels = robot.state.position[0], {t: track.travel for t, track in robot.tracks.items()}
        (chain,) = robot.model.tracks[0].belt.bodies
        hinge = world.client.getJointState(chain, 0)[0]
        for _ in range(4):
            world.run(0.15)
            assert closing_gap(world, robot) < 1e-3
        distance = robot.state.position[0] - x
        assert distance == pytest.approx(0.3 * 0.6, rel=0.05)
        for name, track in robot.tracks.items():
            assert track.travel - travels[name] == pytest.approx(0.3 * 0.6, rel=0.01)
            assert track.speed == pytest.approx(0.3, rel=0.05)
            assert abs(track.force) < 0.3 * PACKBOT_MASS * 9.81
        # The first plate started in the middle of the ground line, 0.255 m long up to the sprocket's arc.
        assert hinge - world.client.getJointState(chain, 0)[0] == pytest.approx(0.3 * 0.6, rel=0.02)
        assert abs(robot.state.position[1]) < 1e-3
        assert robot.state.position[2] == pytest.approx(0.09, abs=1.5e-3)


@pytest.mark.slow
def test_plates_pull_a_load_with_the_force_that_they_report():
    world, robot = on_plane("packbot", "plates", settle=0.1)
    with world:
        robot.set_belt_speed(0.3, 0.3)
        forces = []
        for step in range(500):
            load = [-100.0, 0.0, 0.0]
            world.client.applyExternalForce(
                robot.model.body_id, -1, load, robot.state.position, world.client.WORLD_FRAME
            )
            world.step()
            if step >= 250:
                forces.append(sum(track.force for track in robot.tracks.values()))
        assert np.mean(forces) == pytest.approx(100.0, rel=0.15)
        assert robot.state.velocity[0] > 0.2


@pytest.mark.slow
def test_placing_a_robot_or_a_flipper_takes_the_plates_along():
    with segtrack.World(gravity=0.0) as world:
        turned = world.client.getQuaternionFromEuler([0.1, -0.2, 0.3])
        robot = world.add_vehicle("quince", track_model="plates", position=(0, 0, 1))
        robot.reset_base_pose((1.0, 2.0, 3.0), turned)
        robot.flippers["front_left"].place(0.5)
        rotation = np.array(world.client.getMatrixFromQuaternion(turned)).reshape(3, 3)
        for built in (track.belt for track in robot.model.tracks if track.mounted.flipper is None):
            guide = world.client.getBasePositionAndOrientation(built.bodies[0])[0]
            assert guide == pytest.approx(rotation @ built.spec.mount.xyz + (1, 2, 3), abs=1e-6), built.name
        low, high = robot.bounds()
        assert np.all(np.greater(low, (0.3, 1.3, 2.3))) and np.all(np.less(high, (1.7, 2.7, 3.7)))
        world.run(0.005)  # Nothing was torn out of place.
        assert np.linalg.norm(robot.state.velocity) < 0.05
        assert closing_gap(world, robot) < 1e-4


@pytest.mark.slow
def test_two_runs_of_plates_are_equal_to_the_bit():
    runs = []
    for _ in range(2):
        world, robot = on_plane("packbot", "plates", settle=0.05)
        with world:
            robot.set_belt_speed(0.3, 0.2)
            world.run(0.05)
            runs.append(all_numbers(world, robot))
    assert runs[0] == runs[1]


def test_plates_restored_without_their_old_contacts_do_the_same_again():
    world, robot = on_plane("packbot", "plates", settle=0.05)
    with world:
        robot.set_belt_speed(0.3, 0.2)
        snapshot = world.save()
        runs = []
        for _ in range(2):
            robot.model.clear_contact_cache()
            world.restore(snapshot)
            world.run(0.03)
            runs.append(all_numbers(world, robot))
        assert runs[0] == runs[1]


@pytest.mark.slow
@pytest.mark.parametrize("left, right", [(-0.3, -0.3), (-0.3, 0.3)])
def test_plates_stay_on_for_a_long_drive(left, right):
    world, robot = on_plane("packbot", "plates")
    with world:
        robot.set_belt_speed(left, right)
        world.run(3.0)
        assert closing_gap(world, robot) < 1e-3
        assert robot.state.position[2] == pytest.approx(0.09, abs=2e-3)
        assert [t.travel for t in robot.tracks.values()] == pytest.approx([3 * left, 3 * right], rel=0.02)
        if left == right:
            assert robot.state.position[0] == pytest.approx(3 * left, rel=0.05)
        else:
            assert abs(robot.state.yaw) > 0.5


def test_a_vehicle_that_shortens_the_step_changes_no_reading_of_those_before_it():
    """The step before it was taken with the longer one, by which PyBullet's impulses are divided."""
    with segtrack.World(engine="pybullet") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="segments")
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.1)
        forces = []
        for shortens in (False, True):
            snapshot = world.save()
            world.step()
            if shortens:
                world.add_vehicle("packbot", track_model="compliant", position=(0.0, 3.0))
            world.step()  # Books the step before.
            forces.append([(track.force, track.energy) for track in robot.tracks.values()])
            if not shortens:
                world.restore(snapshot)
    np.testing.assert_allclose(forces[1], forces[0], atol=1e-6)


def test_placing_a_flipper_leaves_the_forces_of_other_belts_and_placing_a_robot_none():
    """Quince's main belts hold it on a slope; a front flipper, raised, is set a little higher."""
    with segtrack.World(engine="pybullet") as world:
        world.client.setGravity(-9.81 * math.sin(0.2), 0.0, -9.81 * math.cos(0.2))
        world.add_terrain(terrain.Plane())
        flippers = dict.fromkeys(segtrack.load_vehicle("quince").flippers, 1.0)
        robot = world.add_vehicle("quince", track_model="segments", flippers=flippers)
        world.run(1.0)
        main = [name for name in robot.tracks if "front_left" not in name]
        before = [robot.tracks[name].force for name in main]
        robot.flippers["front_left"].place(1.1)
        world.step()  # Books the step before.
        np.testing.assert_allclose([robot.tracks[name].force for name in main], before, rtol=0.01, atol=0.1)
        assert max(map(abs, before)) > 20.0
        robot.reset_base_pose((0.0, 0.0, 1.0))
        world.step()  # None has led to where it was put.
        assert [track.force for track in robot.tracks.values()] == [0.0] * len(robot.tracks)
