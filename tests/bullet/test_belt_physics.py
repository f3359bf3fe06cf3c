"""Belts in Bullet against closed forms and conservation laws (the numbers of the README's table)."""

from __future__ import annotations

import math

import numpy as np
import pybullet
import pytest
from quick import some_of
from scenes import GRAVITY, momenta, on_plane, tilt, vary

import segtrack
from segtrack import terrain
from segtrack.description import TrackSpec

SLOPE = 20.0
VEHICLES = some_of(["packbot", "quince"], "packbot")


@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("time_step", some_of([0.001, 0.002, 0.004], 0.004))
def test_distance_driven_is_belt_travel_on_flat_ground(vehicle: str, time_step: float) -> None:
    world, robot = on_plane(vehicle, time_step=time_step)
    with world:
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.5)
        start, travel = robot.state.position[0], robot.tracks["left"].travel
        world.run(1.5)
        ratio = (robot.state.position[0] - start) / (robot.tracks["left"].travel - travel)
        assert ratio == pytest.approx(1.0, abs=0.005)
        assert robot.tracks["left"].speed == pytest.approx(0.3, rel=0.005)


@pytest.mark.parametrize("preset", some_of(["exact", "fast", "coarse"], "fast"))
def test_grousers_that_turn_find_the_grounds_normal(preset: str) -> None:
    """Bullet's search for the normals of a box of 1 km, in place of a plane, is off by up to 24 deg."""
    with segtrack.World(preset) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", yaw=math.pi / 2)
        robot.set_belt_speed(0.3, 0.1)
        upwards: list[float] = []
        world.run(
            0.8,
            on_step=lambda: upwards.extend(
                contact[7][2] for contact in world.client.getContactPoints(robot.model.body_id)
            ),
        )
        assert len(upwards) > 100
        assert min(upwards) > math.cos(math.radians(0.01))


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_roll_back_on_flat_ground_gives_no_kick(vehicle: str) -> None:
    world, robot = on_plane(vehicle)
    with world:
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.5)
        states = []
        before = robot.model.tracks[0].roll_backs
        world.run(1.0, on_step=lambda: states.append(robot.state))
        assert robot.model.tracks[0].roll_backs >= before + 7
        height = np.array([s.position[2] for s in states])
        velocity = np.array([s.velocity for s in states])
        assert np.abs(velocity[:, 2]).max() < 0.002
        assert np.ptp(height) < 5e-5
        assert np.ptp(velocity[:, 0]) / velocity[:, 0].mean() < 0.01


def test_roll_back_under_load_loses_no_height() -> None:
    world, robot = on_plane(vary("packbot", contact={"friction": 0.9}))
    with world:
        tilt(world, 30.0)
        robot.set_belt_speed(0.2, 0.2)
        world.run(1.0)
        drops, count = [], robot.model.tracks[0].roll_backs
        for _ in range(1000):
            above = robot.state.position[2]
            world.step()
            if robot.model.tracks[0].roll_backs > count:
                drops.append(above - robot.state.position[2])
                count = robot.model.tracks[0].roll_backs
        assert len(drops) >= 4
        assert max(drops) < 1e-4


@pytest.mark.slow
def test_roll_back_with_the_nose_on_a_step_edge_loses_no_height() -> None:
    with segtrack.World("exact") as world:
        world.add_terrain(terrain.Step(height=0.24, distance=0.75))
        front, rear = math.radians(45), math.radians(5)
        angles = {"front_left": front, "front_right": front, "rear_left": rear, "rear_right": rear}
        robot = world.add_vehicle("quince", flippers=angles)
        robot.set_belt_speed(0.1, 0.1)
        world.run(4.0)
        assert math.degrees(robot.state.pitch) > 5, "the nose is on the edge"
        drops = []
        for _ in range(2000):
            above = robot.state.position[2]
            rolled = sum(track.roll_backs for track in robot.model.tracks)
            world.step()
            if sum(track.roll_backs for track in robot.model.tracks) > rolled:
                drops.append(above - robot.state.position[2])
        assert len(drops) >= 10
        assert max(drops) < 1e-4


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_driven_vehicle_falls_freely_and_keeps_its_angular_momentum(vehicle: str) -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle, position=(0, 0, 100))
        robot.set_belt_speed(0.5, 0.5)
        world.run(0.05)
        velocity, spin = momenta(world, robot)
        rolled = robot.model.tracks[0].roll_backs
        world.run(1.7)
        later, spin_later = momenta(world, robot)
        assert robot.model.tracks[0].roll_backs - rolled >= 20
        acceleration = (later - velocity) / 1.7
        assert acceleration == pytest.approx([0, 0, -GRAVITY], abs=1e-4 * GRAVITY)
        belts = sum(0.5 * circulation(t.spec) for t in robot.description.mounted_tracks())
        assert spin_later == pytest.approx(spin, abs=1e-3 * belts)


@pytest.mark.parametrize("spare", [-0.05, 0.05])
def test_stalled_belt_climbs_a_slope_only_with_force_to_spare(spare: float) -> None:
    """Free body: the drives must give m g sin(slope) in sum; what is missing accelerates m down the slope."""
    need = total_mass("packbot") * GRAVITY * math.sin(math.radians(SLOPE))
    limit = need * (1 + spare) / 2
    world, robot = on_plane(vary("packbot", drive={"max_force": limit}, contact={"friction": 0.9}))
    with world:
        tilt(world, SLOPE)
        robot.set_belt_speed(0.2, 0.2)
        apart, forces = [], []

        def record() -> None:
            apart.extend(np.ptp(track.belt.segment_phases) for track in robot.model.tracks)
            forces.append(sum(track.force for track in robot.tracks.values()))

        world.run(0.2)
        start, velocity = robot.state.position[0], robot.state.velocity[0]
        world.run(0.6, on_step=record)
        gained = robot.state.velocity[0] - velocity
        expected = spare * need / (total_mass("packbot") + 2 * moving_mass("packbot")) * 0.6
        assert gained == pytest.approx(expected, rel=0.15)
        assert (robot.state.position[0] > start) == (spare > 0)
        assert max(apart) < 5e-4
        assert np.mean(forces) == pytest.approx(2 * limit, rel=0.03)
        world.run(2.0, on_step=record)
        assert max(apart) < 5e-4, "one phase through stall and back-drive"
        assert (robot.state.position[0] > start) == (spare > 0)


def test_self_locking_drive_is_not_driven_back() -> None:
    need = total_mass("packbot") * GRAVITY * math.sin(math.radians(SLOPE)) / 2
    vehicle = vary(
        "packbot", drive={"max_force": 0.8 * need, "self_locking": True}, contact={"friction": 0.9}
    )
    world, robot = on_plane(vehicle)
    with world:
        tilt(world, SLOPE)
        robot.set_belt_speed(0.2, 0.2)
        world.run(0.5)
        start = robot.state.position[0]
        world.run(2.0)
        assert robot.state.position[0] == pytest.approx(start, abs=2e-3)
        assert robot.tracks["left"].force == pytest.approx(need, rel=0.05)


def test_torque_speed_line_sets_the_speed_on_a_slope() -> None:
    """Steady speed where F0 (1 - v/v0) is the slope's pull: v = v0 (1 - pull/F0)."""
    pull = total_mass("packbot") * GRAVITY * math.sin(math.radians(10)) / 2
    sprocket = {"radius": 0.08, "stall_torque": 2 * pull * 0.08, "no_load_speed": 0.4 / 0.08}
    vehicle = vary("packbot", contact={"friction": 0.9})
    drive = type(vehicle.tracks["left"].drive).model_validate({"sprocket": sprocket, "reflected_mass": 2.0})
    tracks = {n: t.model_copy(update={"drive": drive}) for n, t in vehicle.tracks.items()}
    world, robot = on_plane(vehicle.model_copy(update={"tracks": tracks}))
    with world:
        tilt(world, 10)
        robot.set_belt_speed(0.4, 0.4)
        world.run(3.0)
        assert robot.tracks["left"].speed == pytest.approx(0.2, rel=0.03)
        assert robot.tracks["left"].force == pytest.approx(pull, rel=0.03)


@pytest.mark.parametrize("self_locking", [False, True])
def test_drive_brakes_a_vehicle_downhill(self_locking: bool) -> None:
    """A torque-speed drive brakes with up to its stall force; a self-locking one with whatever it takes."""
    pull = total_mass("packbot") * GRAVITY * math.sin(math.radians(SLOPE)) / 2
    if self_locking:
        drive = {"max_force": 0.8 * pull, "max_speed": 0.4, "self_locking": True}
    else:
        drive = {"sprocket": {"radius": 0.08, "stall_torque": 1.5 * pull * 0.08, "no_load_speed": 0.4 / 0.08}}
    vehicle = vary("packbot", contact={"friction": 0.9})
    part = type(vehicle.tracks["left"].drive).model_validate({**drive, "reflected_mass": 5.0})
    tracks = {name: track.model_copy(update={"drive": part}) for name, track in vehicle.tracks.items()}
    world, robot = on_plane(vehicle.model_copy(update={"tracks": tracks}))
    with world:
        tilt(world, -SLOPE)
        robot.set_belt_speed(0.2, 0.2)
        speeds: list[float] = []
        world.run(1.5, on_step=lambda: speeds.append(robot.tracks["left"].speed))
        assert np.mean(speeds[-500:]) == pytest.approx(0.2, rel=0.05)
        assert max(speeds) < 0.25


@pytest.mark.parametrize("limit", [40.0, 300.0])
def test_drawbar_pull_is_the_lesser_of_drive_and_friction(limit: float) -> None:
    world, robot = on_plane(vary("packbot", drive={"max_force": limit}))
    with world:
        start, stiffness, damping = robot.state.position[0], 2000.0, 400.0
        robot.set_belt_speed(0.2, 0.2)
        pulls = []

        def pull_back() -> None:
            state = robot.state
            pull = stiffness * (state.position[0] - start) + damping * state.velocity[0]
            pulls.append(pull)
            world.client.applyExternalForce(
                robot.model.body_id, -1, [-pull, 0, 0], state.position, pybullet.WORLD_FRAME
            )

        world.run(2.5, on_step=pull_back)
        expected = min(2 * limit, 0.6 * total_mass("packbot") * GRAVITY)
        assert np.mean(pulls[-1000:]) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("offset_deg", "slides"), [(-1.0, False), (1.0, True)])
def test_held_belts_slide_at_the_friction_angle(offset_deg: float, slides: bool) -> None:
    world, robot = on_plane("packbot")
    with world:
        tilt(world, math.degrees(math.atan(0.6)) + offset_deg)
        world.run(0.5)
        start = robot.state.position[0]
        world.run(0.5)
        moved = start - robot.state.position[0]
        assert (moved > 0.03) == slides
        # Belts that are held creep at the solver's residual of some 3e-4 m/s.
        assert slides or moved < 5e-4


@pytest.mark.parametrize("preset", ["exact", "fast"])
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_sliders_across_the_track_stay_at_home(vehicle: str, preset: str) -> None:
    """Turning, a link is pushed across the track by friction on what it carries."""
    world, robot = on_plane(vehicle, preset=preset)
    with world:
        sliders = [j for track in robot.model.tracks for j in track.belt.track_joints.lateral_joints]
        assert len(sliders) == 2 * len(robot.tracks)
        robot.set_belt_speed(-0.3, 0.3)
        offsets: list[float] = []
        world.run(
            1.0,
            on_step=lambda: offsets.extend(
                state[0] for state in world.client.getJointStates(robot.model.body_id, sliders)
            ),
        )
        assert np.abs(offsets).max() < 1e-5


@pytest.mark.parametrize(("left", "right"), [(-0.3, 0.3), pytest.param(0.1, 0.3, marks=pytest.mark.slow)])
def test_turning_is_mirror_symmetric(left: float, right: float) -> None:
    turned = []
    for speeds in ((left, right), (right, left)):
        world, robot = on_plane("packbot")
        with world:
            robot.set_belt_speed(*speeds)
            yaws: list[float] = []
            world.run(2.0, on_step=lambda robot=robot, yaws=yaws: yaws.append(robot.state.yaw))
            x, y, _ = robot.state.position
            turned.append((float(np.unwrap(yaws)[-1]), x, y))
    (yaw, x, y), (yaw_mirrored, x_mirrored, y_mirrored) = turned
    assert abs(yaw) > 0.3
    assert yaw_mirrored == pytest.approx(-yaw, rel=0.02)
    assert x_mirrored == pytest.approx(x, abs=0.02)
    assert y_mirrored == pytest.approx(-y, abs=0.02)


@pytest.mark.slow
def test_flippers_reach_their_command_at_their_speed_and_hold() -> None:
    world, robot = on_plane("quince")
    with world:
        robot.set_flippers(front_left=0.8, front_right=0.8, rear_left=9.0)
        world.run(0.4)
        assert robot.flippers["front_left"].speed == pytest.approx(1.0, rel=0.05)
        world.run(2.0)
        assert robot.flippers["front_left"].angle == pytest.approx(0.8, abs=0.005)
        assert robot.flippers["rear_left"].angle == pytest.approx(1.6, abs=0.01), "clipped to its limit"
        robot.set_flipper_speeds(front_left=-0.5)
        world.run(0.5)
        assert robot.flippers["front_left"].speed == pytest.approx(-0.5, rel=0.05)


def total_mass(vehicle: str) -> float:
    """Total mass of a bundled vehicle of numbers [kg]."""
    description = segtrack.load_vehicle(vehicle)
    assert description.body.mass is not None
    return description.body.mass + sum(t.spec.belt.mass for t in description.mounted_tracks())


def moving_mass(vehicle: str) -> float:
    """What moves with one belt [kg]."""
    track = next(segtrack.load_vehicle(vehicle).mounted_tracks()).spec
    return track.belt.mass + track.drive.reflected_mass


def circulation(track: TrackSpec) -> float:
    """Angular momentum of a belt per speed [kg m]: mass a length times twice the area that it encloses."""
    x, z = track.belt_path.outline(1e-3).T
    area = 0.5 * abs(np.dot(x, np.roll(z, 1)) - np.dot(z, np.roll(x, 1)))
    return track.moving_mass / track.belt_path.perimeter * 2 * float(area)
