"""Vehicles that fall on heightfields and concave meshes in PyBullet, against the same on a plane."""

from __future__ import annotations

import logging
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from quick import some_of

import segtrack
from segtrack import terrain
from segtrack.geometry import Box

FLIPPERS = list(segtrack.load_vehicle("quince").flippers)
SPACING = 0.2
POINTS = 61
# Without those that cannot move, or whose belts straight segments cannot form.
DRIVEN = [
    name
    for name in segtrack.bundled_vehicles()
    if name not in ("conveyor", "lugged_wheel", "okada_example", "m113", "m113_rear_drive")
]


def flat_mesh(folder: Path) -> terrain.Mesh:
    """The level ground of the heightfield, as a mesh."""
    half = (POINTS - 1) * SPACING / 2
    corners = [(x, y) for x in (-half, half) for y in (-half, half)]
    lines = [f"v {x} {y} 0" for x, y in corners] + ["f 1 3 2", "f 2 3 4"]
    (folder / "flat.obj").write_text("\n".join(lines) + "\n")
    return terrain.Mesh(file=folder / "flat.obj")


def ground(kind: str, folder: Path) -> terrain.Terrain:
    if kind == "mesh":
        return flat_mesh(folder)
    if kind == "heightfield":
        return terrain.Heightfield(heights=np.zeros((POINTS, POINTS)), spacing=SPACING)
    return terrain.Plane()


def drop(vehicle: str, where: terrain.Terrain, height: float, time_step: float) -> tuple[float, float]:
    """Let a vehicle fall, and drive it for a second.

    Returns the distance that it drives, and the deepest of its tips [m].
    """
    with segtrack.World("fast", engine="pybullet", time_step=time_step) as world:
        world.add_terrain(where)
        start = segtrack.load_vehicle(vehicle)
        with segtrack.World(engine="native") as level:
            level.add_terrain(terrain.Plane())
            stands = level.add_vehicle(start).state.position[2]
        robot = world.add_vehicle(start, track_model="segments", position=(0.0, 0.0, stands + height))
        world.run(math.sqrt(2 * height / 9.81) + 1.0)
        speed = min(0.3, *(track.spec.drive.top_speed for track in robot.tracks.values()))
        robot.set_belt_speed(speed, speed)
        before = robot.state.position[0]
        world.run(1.0)
        contacts = world.client.getContactPoints(bodyA=robot.model.body_id)
        return robot.state.position[0] - before, min(contact[8] for contact in contacts)


@pytest.mark.parametrize("time_step", some_of([0.001, 0.002, 0.004, 0.005], 0.005))
@pytest.mark.parametrize("height", some_of([0.32, 0.34, 1.0], 0.32))
@pytest.mark.parametrize("kind", ["heightfield", "mesh"])
@pytest.mark.parametrize("vehicle", some_of(DRIVEN, "packbot"))
def test_a_vehicle_that_fell_drives_as_on_a_plane(
    vehicle: str, kind: str, height: float, time_step: float, tmp_path: Path
) -> None:
    distance, _ = drop(vehicle, ground("plane", tmp_path), height, time_step)
    found, deepest = drop(vehicle, ground(kind, tmp_path), height, time_step)
    assert found == pytest.approx(distance, rel=0.02)
    assert deepest > -3e-4


@pytest.mark.parametrize("time_step", some_of([0.001, 0.002, 0.005], 0.002))
@pytest.mark.parametrize("height", some_of([0.15, 0.32, 1.0], 0.32))
@pytest.mark.parametrize("roll", some_of([0.0, 0.3], 0.0))
@pytest.mark.parametrize("kind", some_of(["heightfield", "mesh"], "mesh"))
@pytest.mark.parametrize("vehicle", some_of(["packbot", "maxxii"], "maxxii"))
def test_a_vehicle_that_lands_askew_hangs_in_no_surface(
    vehicle: str, kind: str, roll: float, height: float, time_step: float, tmp_path: Path
) -> None:
    """Few grousers land first, and give way most: they have to stop it before they are half in."""
    with segtrack.World("fast", engine="pybullet", time_step=time_step) as world:
        world.add_terrain(ground(kind, tmp_path))
        turn = world.client.getQuaternionFromEuler((roll, 0.3, 0.0))
        robot = world.add_vehicle(vehicle, track_model="segments", position=(0.0, 0.0, 1.0))
        robot.reset_base_pose((0.0, 0.0, 1.0), turn)
        (_, _, lowest), _ = robot.model.bounds()
        robot.reset_base_pose((0.0, 0.0, 1.0 - lowest + height), turn)
        world.run(math.sqrt(2 * height / 9.81) + 1.0)
        contacts = world.client.getContactPoints(bodyA=robot.model.body_id)
        assert contacts
        assert min(contact[8] for contact in contacts) > -3e-4


def test_a_fall_in_parts_is_repeated_after_a_restore_to_the_bit(tmp_path: Path) -> None:
    with segtrack.World("fast", engine="pybullet") as world:
        world.add_terrain(ground("heightfield", tmp_path))
        robot = world.add_vehicle("packbot", track_model="segments", position=(0.0, 0.0, 0.4))
        world.run(0.25)  # The last step was taken in parts.
        snapshot = world.save()
        ends = []
        for _ in range(2):
            world.run(0.3)
            ends.append((robot.state.position, [track.energy for track in robot.tracks.values()]))
            world.restore(snapshot)
        assert ends[0] == ends[1]


@pytest.mark.parametrize("time_step", some_of([0.001, 0.002, 0.005], 0.002))
@pytest.mark.parametrize("vehicle", some_of(["packbot", "maxxii"], "maxxii"))
def test_a_vehicle_that_turns_downhill_turns_as_on_a_solid_slope(vehicle: str, time_step: float) -> None:
    """It comes down by 0.27 m/s, and does not fall: its contacts give way as they do on a box."""
    tilt, points = math.radians(20.0), 161
    across = (np.arange(points) - (points - 1) / 2) * 0.1
    field = terrain.Heightfield(heights=np.tile(-math.tan(tilt) * across[:, None], (1, points)), spacing=0.1)
    half = (0.0, math.sin(tilt / 2), 0.0, math.cos(tilt / 2))
    inwards = (-0.5 * math.sin(tilt), 0.0, -0.5 * math.cos(tilt))
    slab = terrain.StaticBody(parts=(Box((18.0, 16.0, 1.0), inwards, half),), name="slab")
    turned = []
    for ground in (slab, field):
        with segtrack.World(engine="pybullet", time_step=time_step) as world:
            world.add_terrain(ground)
            robot = world.add_vehicle(vehicle, track_model="segments")
            world.place_on_terrain(robot, -6.0, 0.0)
            world.run(1.0)
            robot.set_belt_speed(0.65, 0.95)
            world.run(0.3)
            began = robot.state.yaw
            world.run(1.5)
            turned.append(robot.state.yaw - began)
    assert turned[1] == pytest.approx(turned[0], rel=0.05)


@pytest.mark.parametrize("mine", [True, False], ids=["World", "own loop"])
@pytest.mark.parametrize("kinds", [("plane", "heightfield"), ("heightfield", "plane")], ids="-".join)
def test_other_ground_in_the_place_of_removed_ground_is_seen_as_it_is(
    kinds: tuple[str, str], mine: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """PyBullet gives ids out again; only falls on the heightfield are divided, or warned of."""
    with segtrack.World("fast", engine="pybullet") as world:
        client = world.client
        add = world.add_vehicle if mine else partial(segtrack.attach, client)
        robot = add("packbot", track_model="segments")
        for kind in kinds:
            world.add_terrain(ground(kind, tmp_path))
            robot.reset_base_pose((0.0, 0.0, 0.4))
            caplog.clear()
            most = 1
            for _ in range(70):
                if mine:
                    world.step()
                else:
                    robot.before_step()
                    client.stepSimulation()
                most = max(most, client.getPhysicsEngineParameters()["numSubSteps"])
            assert (most > 1 or bool(caplog.records)) == (kind == "heightfield")
            world.clear_terrain()


@pytest.mark.parametrize("kind", ["plane", "heightfield", "mesh"])
@pytest.mark.parametrize("mine", [True, False], ids=["World", "own loop"])
def test_a_fall_prints_nothing(
    kind: str, mine: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with segtrack.World("fast", engine="pybullet") as world:
        world.add_terrain(ground(kind, tmp_path))
        add = world.add_vehicle if mine else partial(segtrack.attach, world.client)
        robot = add("packbot", track_model="segments", position=(0.0, 0.0, 0.4))
        for _ in range(80):
            if mine:
                world.step()
            else:
                robot.before_step()
                world.client.stepSimulation()
    assert capfd.readouterr() == ("", "")


class Drop:
    """A PackBot on segments that falls on a heightfield, and what else its world has."""

    def __init__(self, world: segtrack.World) -> None:
        world.add_terrain(ground("heightfield", Path()))
        self.world = world
        self.robot = world.add_vehicle("packbot", track_model="segments", position=(0.0, 0.0, 0.4))

    def step_until_divided(self) -> int:
        """Take steps until one is divided; returns in how many parts."""
        for _ in range(100):
            self.world.step()
            parts = self.world.client.getPhysicsEngineParameters()["numSubSteps"]
            if parts > 1:
                return int(parts)
        raise AssertionError("no step was divided")


def test_forces_of_others_act_all_through_a_step_in_parts() -> None:
    with segtrack.World("fast", engine="pybullet") as world:
        drop = Drop(world)
        drop.step_until_divided()
        client = world.client
        ball = client.createMultiBody(1.0, client.createCollisionShape(client.GEOM_SPHERE, radius=0.1))
        client.resetBasePositionAndOrientation(ball, (0.0, 5.0, 5.0), (0.0, 0.0, 0.0, 1.0))
        client.changeDynamics(ball, -1, linearDamping=0.0)
        client.applyExternalForce(ball, -1, (100.0, 0.0, 0.0), (0.0, 5.0, 5.0), client.WORLD_FRAME)
        drop.step_until_divided()
        assert client.getBaseVelocity(ball)[0][0] == pytest.approx(100.0 * 0.005)


def test_after_a_step_in_parts_the_clients_own_steps_are_whole() -> None:
    with segtrack.World("fast", engine="pybullet") as world:
        drop = Drop(world)
        assert drop.step_until_divided() > 1
        client = world.client
        ball = client.createMultiBody(1.0, client.createCollisionShape(client.GEOM_SPHERE, radius=0.1))
        client.resetBasePositionAndOrientation(ball, (0.0, 5.0, 5.0), (0.0, 0.0, 0.0, 1.0))
        client.stepSimulation()
        assert client.getBaseVelocity(ball)[0][2] == pytest.approx(-9.81 * 0.005, rel=1e-3)
        assert client.getPhysicsEngineParameters()["fixedTimeStep"] == world.time_step


@pytest.mark.parametrize(
    "track_model, bound", [("compliant", 1e-3), pytest.param("chain", 0.01, marks=pytest.mark.slow)]
)
def test_a_fall_beside_it_kicks_no_other_vehicle(track_model: str, bound: float) -> None:
    """Another one, at 0.5 m/s, drives as beside one that stands."""
    speeds = {}
    for height in (0.0, 1.0):
        with segtrack.World("fast", engine="pybullet") as world:
            drop = Drop(world)
            other = world.add_vehicle("packbot", track_model=track_model, position=(0.0, 3.0))
            other.set_velocity(0.5)
            other.set_belt_speed(0.5, 0.5)
            world.run(0.6)
            drop.robot.reset_base_pose((0.0, 0.0, 0.1 + height))
            speeds[height] = []
            for _ in range(100):
                world.step()
                speeds[height].append(other.state.velocity[0])
    np.testing.assert_allclose(speeds[1.0], speeds[0.0], atol=bound)


def test_forces_are_read_as_they_act_whatever_parts_a_step_is_taken_in() -> None:
    """Loads of the ground against the weight on a slope; drives and raised flippers against whole steps."""
    found = []
    for parts in (1, 4):
        with segtrack.World("fast", engine="pybullet") as world:
            world.client.setGravity(-9.81 * math.sin(0.2), 0.0, -9.81 * math.cos(0.2))
            world.add_terrain(terrain.Plane())
            world.client.setPhysicsEngineParameter(numSubSteps=parts)
            robot = world.add_vehicle("quince", track_model="segments", flippers=dict.fromkeys(FLIPPERS, 1.0))
            world.run(1.0)
            weight = robot.mass * 9.81
            pressed = sum(contact.normal_forces.sum() for contact in robot.read_belt_contacts())
            assert pressed == pytest.approx(weight * math.cos(0.2), rel=0.01)
            pulled = sum(track.force for track in robot.tracks.values())
            found.append([pulled, *(flipper.torque for flipper in robot.flippers.values())])
    np.testing.assert_allclose(found[1], found[0], rtol=0.01, atol=0.05)


@pytest.mark.parametrize("kind", ["heightfield", "mesh"])
def test_somebody_elses_loop_is_told_the_longest_step_that_does_not_pass(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with segtrack.World("fast", engine="pybullet") as world:  # Its ground alone.
        world.add_terrain(ground(kind, tmp_path))
        client = world.client
        client.createMultiBody(baseMass=0.0)  # A body without shape is no ground.
        robot = segtrack.attach(client, "packbot", track_model="segments", position=(0.0, 0.0, 0.39))
        with caplog.at_level(logging.WARNING, logger="segtrack"):
            for _ in range(100):
                robot.before_step()
                client.stepSimulation()
        told = [record for record in caplog.records if "heightfield or concave mesh" in record.message]
        assert len(told) == 1
        longest = told[0].args[1]
        # It falls by 0.3 m; half of its grousers' 8 mm.
        assert longest == pytest.approx(0.004 / math.sqrt(2 * 9.81 * 0.3), rel=0.1)


def test_a_plane_is_not_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with segtrack.World("fast", engine="pybullet") as world:
        world.add_terrain(terrain.Plane())
        robot = segtrack.attach(world.client, "packbot", track_model="segments", position=(0.0, 0.0, 0.39))
        with caplog.at_level(logging.WARNING, logger="segtrack"):
            for _ in range(100):
                robot.before_step()
                world.client.stepSimulation()
        assert not caplog.records
