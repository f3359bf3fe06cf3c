"""The world: determinism to the bit, snapshots, pacing, guard, memory, and somebody else's program."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pybullet
import pytest
from pybullet_utils.bullet_client import BulletClient
from scenes import on_plane

import segtrack
from segtrack import terrain
from segtrack.description import SteeringByLoads, load_vehicle
from segtrack.engine import EngineName, resolve
from segtrack.errors import (
    DisconnectedError,
    DivergedError,
    InvalidValueError,
    UnknownNameError,
)
from segtrack.robot import RobotState
from segtrack.world import stepping

SCENE = """
import segtrack
from segtrack import terrain
world = segtrack.World()
world.add_terrain(terrain.Step(height=0.12, distance=0.6))
robot = world.add_vehicle("quince", flippers={"front_left": 0.5, "front_right": 0.5})
robot.set_belt_speed(0.3, 0.28)
world.run(0.8)
print(repr(robot.state), robot.energy.hex())
"""


BUMPS = terrain.StepField(max_height=0.05, cell=0.1, rows=20, columns=20, distance=-1.0)
NOT_HELD = "^snapshot must be one that this world saved and has not removed, got "


def rolled(world: segtrack.World, robot: segtrack.Robot, seconds: float = 0.5) -> tuple[object, ...]:
    """Drive a curve and say where it ended, every bit."""
    robot.set_belt_speed(0.3, 0.2)
    world.run(seconds)
    return (robot.state, world.time, *(t.drive.snapshot() for t in robot.model.tracks))


@pytest.mark.slow
def test_two_processes_are_equal_to_the_bit() -> None:
    outputs = {
        subprocess.run([sys.executable, "-c", SCENE], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1


def test_two_worlds_in_one_process_are_equal_to_the_bit() -> None:
    (first, a), (second, b) = on_plane("quince"), on_plane("quince")
    with first, second:
        for _ in range(150):
            for world, robot in ((first, a), (second, b)):
                robot.set_belt_speed(0.3, 0.2)
                world.step()
        assert a.state == b.state


def test_reset_starts_over_to_the_bit() -> None:
    world, robot = on_plane("packbot")
    with world:
        first = rolled(world, robot)
        world.reset()
        assert world.time == 0.0
        world.run(0.3)
        assert rolled(world, robot) == first


@pytest.mark.parametrize(
    ("engine", "track_model"),
    [
        ("pybullet", "segments"),
        ("pybullet", "plates"),
        ("pybullet", "chain"),
        ("pybullet", "compliant"),
        pytest.param("native", "chain", marks=pytest.mark.slow),  # To be compiled.
        ("native", "compliant"),
    ],
)
def test_a_state_brings_back_friction_and_drive_of_its_tracks(engine: EngineName, track_model: str) -> None:
    with segtrack.World("fast", engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model=track_model)
        robot.set_belt_speed(1.0, 1.0)
        world.run(0.02)
        saved = world.save()

        def driven() -> RobotState:
            world.run(0.04)
            return robot.state

        fresh = driven()
        for change in (lambda t: t.set_friction(0.02), lambda t: t.scale_drive(1e-3)):
            world.restore(saved)
            for track in robot.tracks.values():
                change(track)
            changed = world.save()
            other = driven()
            assert other != fresh
            world.restore(saved)
            assert driven() == fresh
            world.restore(changed)
            assert driven() == other


@pytest.mark.parametrize("engine", ["pybullet", "native"])
def test_settling_between_two_drives_makes_a_new_start(engine: EngineName) -> None:
    with segtrack.World("fast", engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot")
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.4)
        robot.set_belt_speed(0.0, 0.0)
        world.settle()
        start = robot.state.position[0]
        assert start > 0.05
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.4)
        world.reset()
        assert robot.state.position[0] == start


@pytest.mark.parametrize("engine", ["pybullet", "native"])
def test_a_state_is_restored_to_the_bit_from_where_there_is_no_ground_near(engine: EngineName) -> None:
    """What was found near a vehicle high up is not what is near it where it comes back to."""
    with segtrack.World("fast", engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="compliant")
        robot.set_belt_speed(0.02, 0.01)
        world.settle()
        world.run(0.02)
        saved = world.save()
        world.run(0.02)
        first = robot.state
        robot.reset_base_pose((0.0, 0.0, 5.0), (0.0, 0.0, 0.0, 1.0))
        world.run(0.004)
        world.restore(saved)
        world.run(0.02)
        assert robot.state == first


@pytest.mark.parametrize("track_model", ["segments", "smooth", "wheels:4"])
@pytest.mark.parametrize(
    ("vehicle", "course", "preset"),
    [
        pytest.param("packbot", terrain.Plane(), "exact", marks=pytest.mark.slow),
        ("quince", terrain.Step(height=0.1, distance=0.5), "fast"),
        pytest.param("triangular", BUMPS, "exact", marks=pytest.mark.slow),
    ],
)
def test_saved_state_is_restored_to_the_bit(
    vehicle: str, course: terrain.Terrain, preset: str, track_model: str
) -> None:
    with segtrack.World(preset) as world:
        world.add_terrain(course)
        robot = world.add_vehicle(vehicle, track_model=track_model)
        robot.set_belt_speed(0.3, 0.3)
        world.run(0.6)
        saved = world.save()
        first = rolled(world, robot)
        for _ in range(2):
            world.restore(saved)
            assert rolled(world, robot) == first


@pytest.mark.parametrize("engine", ["pybullet", "native"])
def test_time_stands_still_while_vehicles_settle(engine: EngineName) -> None:
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        world.add_vehicle("packbot", track_model="compliant")
        world.run(0.05)
        assert world.settle().time > 0.0
        assert world.time == pytest.approx(0.05)
        world.run(0.05)
        assert world.time == pytest.approx(0.1)


def test_flipper_commands_are_part_of_the_state() -> None:
    world, robot = on_plane("quince")
    with world:
        robot.set_flippers(front_left=0.6)
        world.run(0.2)
        saved = world.save()
        world.run(0.2)
        angle = robot.flippers["front_left"].angle
        robot.set_flippers(front_left=0.0)
        world.run(0.2)
        world.restore(saved)
        world.run(0.2)
        assert robot.flippers["front_left"].angle == angle


def test_reset_goes_back_to_before_the_first_step_since_something_was_added() -> None:
    world, first = on_plane("packbot")
    with world:
        second = world.add_vehicle("packbot", position=(0, 2))
        start = first.state, second.state
        world.run(0.1)
        world.reset()
        assert (first.state, second.state) == start


def test_snapshots_of_other_worlds_and_times_are_refused() -> None:
    (world, robot), (other, _) = on_plane("packbot"), on_plane("packbot")
    with world, other:
        state = robot.state
        saved, foreign = world.save(), other.save()
        for snapshot in (foreign, None):
            with pytest.raises(InvalidValueError, match=NOT_HELD):
                world.restore(snapshot)  # type: ignore[arg-type]
        world.client.createMultiBody(1.0, world.client.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1))
        with pytest.raises(InvalidValueError) as caught:
            world.restore(saved)
        assert str(caught.value) == "world must be of the 2 bodies that the snapshot has, got 3"
        assert robot.state.position == pytest.approx(state.position, abs=1e-5)
        world.remove_snapshot(saved)
        with pytest.raises(InvalidValueError, match=NOT_HELD):
            world.remove_snapshot(saved)


def test_a_thousand_resets_keep_memory() -> None:
    world, robot = on_plane("packbot")
    with world:
        world.reset()
        before = psutil.Process().memory_info().rss
        for _ in range(1000):
            world.reset()
            robot.set_belt_speed(0.3, 0.3)
            world.step()
        assert psutil.Process().memory_info().rss - before < 20e6


@pytest.mark.slow
def test_building_and_closing_worlds_keeps_memory() -> None:
    def build() -> None:
        world, _ = on_plane("packbot")
        world.close()
        world.close()

    for _ in range(5):
        build()
    before = psutil.Process().memory_info().rss
    for _ in range(20):
        build()
    assert psutil.Process().memory_info().rss - before < 20e6


@pytest.mark.parametrize("velocity", [(0, 0, 2000), (-2000, 0, 10), (0, -2000, 10)])
def test_diverged_robot_stops_the_world_with_its_name(velocity: tuple[float, float, float]) -> None:
    world, robot = on_plane("packbot")
    with world:
        world.client.resetBaseVelocity(robot.model.body_id, velocity)
        with pytest.raises(
            DivergedError,
            match=r"simulation diverged: packbot at t = 0\.3\d* s: a part of it is faster",
        ):
            world.run(0.1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("component", [0, 1, 2])
def test_a_single_component_that_is_not_finite_stops_the_world(component: int, bad: float) -> None:
    velocity = [0.0, 0.0, 0.0]
    velocity[component] = bad
    with segtrack.World() as world:
        robot = world.add_vehicle("conveyor")
        robot.model.check_speed(0.0)
        world.client.resetBaseVelocity(robot.model.body_id, velocity)
        with pytest.raises(DivergedError) as error:
            robot.model.check_speed(0.0)
    start = "simulation diverged: conveyor at t = 0.0000 s: its state is not finite: its body, the body at ("
    assert str(error.value).startswith(start)


class Clock:
    """In place of the `time` module: it stands but for its sleep."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that worlds are paced by."""
    clock = Clock()
    monkeypatch.setattr(stepping, "time", clock)
    return clock


def test_paced_run_waits_for_the_clock(clock: Clock) -> None:
    with segtrack.World("fast") as world:
        world.run(0.5, real_time=True)
        assert (clock.now, world.real_time_factor) == (pytest.approx(0.5), pytest.approx(1.0))
        assert max(clock.slept) < 0.02
        assert world.overruns == 0


def test_late_steps_are_counted_and_not_caught_up(clock: Clock) -> None:
    """Each takes 50 ms too long; those after them come one time step apart."""
    with segtrack.World("fast") as world:
        lateness = iter([0.05 + world.time_step] * 3)
        world.run(10 * world.time_step, real_time=True, on_step=lambda: clock.sleep(next(lateness, 0.0)))
        assert world.overruns == 3
        assert clock.slept[-1] == pytest.approx(world.time_step)
        assert clock.now == pytest.approx(3 * (0.05 + world.time_step) + 7 * world.time_step)


def test_steps_that_are_hardly_late_are_caught_up(clock: Clock) -> None:
    with segtrack.World("fast") as world:
        lateness = iter([0.01])
        world.run(0.1, real_time=True, on_step=lambda: clock.sleep(next(lateness, 0.0)))
        assert (clock.now, world.overruns) == (pytest.approx(0.1), 0)


def test_plug_in_drives_a_vehicle_in_somebody_elses_loop() -> None:
    client = BulletClient(pybullet.DIRECT)
    client.setGravity(0, 0, -9.81)
    client.setTimeStep(0.001)
    ground = client.createMultiBody(0, client.createCollisionShape(pybullet.GEOM_PLANE))
    client.changeDynamics(ground, -1, lateralFriction=1.0)
    segtrack.configure(client)
    robots = [segtrack.attach(client, "packbot", position=(0, y, 0.0901)) for y in (-1.0, 1.0)]
    for robot, speed in zip(robots, (0.2, -0.1), strict=True):
        robot.set_belt_speed(speed, speed)
    for _ in range(2000):
        for robot in robots:
            robot.before_step()
        client.stepSimulation()
    assert [robot.state.velocity[0] for robot in robots] == pytest.approx([0.2, -0.1], rel=0.01)
    assert [robot.tracks["left"].slip for robot in robots] == pytest.approx([0.0, 0.0], abs=0.01)
    client.disconnect()
    with pytest.raises(DisconnectedError) as caught:
        robots[0].before_step()
    assert str(caught.value) == "step packbot: the physics client is disconnected"


def test_world_joins_a_client_and_leaves_it_open() -> None:
    client = BulletClient(pybullet.DIRECT)
    with segtrack.World(client=client) as world:
        world.add_terrain(terrain.Plane())
        world.add_vehicle("packbot")
        world.run(0.01)
    assert pybullet.isConnected(physicsClientId=client._client)
    client.disconnect()
    with pytest.raises(DisconnectedError) as caught:
        world.step()
    assert str(caught.value) == "step the world: the world is closed"


def test_vehicle_without_a_height_stands_on_the_terrain() -> None:
    with segtrack.World() as world:
        world.add_terrain(terrain.Step(height=0.3, distance=-2.0))
        robot = world.add_vehicle("packbot")
        high = robot.state.position[2]
        world.run(0.3)
        assert high - robot.state.position[2] == pytest.approx(0.0, abs=0.005)
        assert robot.state.position[2] == pytest.approx(0.39, abs=2e-3)


def test_pitch_is_positive_nose_up_and_left_turns_raise_yaw() -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot", position=(0, 0, 1), yaw=0.3)
        assert robot.state.yaw == pytest.approx(0.3)
        robot.reset_base_pose((0, 0, 1), pybullet.getQuaternionFromEuler([0, -0.2, 0]))
        assert robot.state.pitch == pytest.approx(0.2)


def test_drive_commands_a_twist_about_the_gauge() -> None:
    world, robot = on_plane("packbot")
    with world:
        robot.drive(linear=0.2, angular=0.4)
        half_gauge, efficiency = 0.2225, SteeringByLoads(load_vehicle("packbot")).efficiency({})
        assert efficiency == pytest.approx(0.766, abs=5e-4)  # its README's
        assert robot.tracks["left"].command == pytest.approx(0.2 - 0.4 * half_gauge / efficiency)
        assert robot.tracks["right"].command == pytest.approx(0.2 + 0.4 * half_gauge / efficiency)
        assert not math.isnan(robot.energy)


@pytest.mark.parametrize("client", [None, "x", 1.5])
def test_what_is_no_client_is_refused(client: object) -> None:
    with pytest.raises(InvalidValueError) as caught:
        segtrack.attach(client, "packbot")
    expected = "a BulletClient, a client id or the module pybullet"
    assert str(caught.value) == f"client must be {expected}, got {client!r}"
    if client is not None:
        with pytest.raises(InvalidValueError) as caught:
            segtrack.World(client=client)
        assert str(caught.value) == f"client must be a BulletClient, got {client!r}"


def test_a_vehicle_needs_a_height_where_no_ground_can_be_sampled(tmp_path: Path) -> None:
    mesh = tmp_path / "ground.obj"
    mesh.write_text("v -5 -5 0\nv 5 -5 0\nv 0 5 0\nf 1 2 3\n")
    with segtrack.World() as world:
        world.add_terrain(terrain.Mesh(file=mesh))
        bodies = world.client.getNumBodies()
        with pytest.raises(InvalidValueError) as caught:
            world.add_vehicle("packbot")
        expected = "given with a height where terrain has none to sample"
        assert str(caught.value) == f"position [m] must be {expected}, got (0.0, 0.0)"
        assert world.client.getNumBodies() == bodies
        world.add_vehicle("packbot", position=(0, 0, 0.2))
        with pytest.raises(InvalidValueError) as caught:
            world.add_terrain("step")  # type: ignore[arg-type]
        assert str(caught.value) == "terrain must be one of segtrack.terrain, got 'step'"


def test_flipper_commands_are_taken_together_or_not_at_all() -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle("quince")
        with pytest.raises(InvalidValueError):
            robot.set_flippers(front_left=0.5, front_right=math.nan)
        world.run(0.3)
        assert robot.flippers["front_left"].angle == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("engine", "track_model", "chosen"),
    [
        (None, None, ("pybullet", "segments")),
        (None, "wheels:4", ("pybullet", "wheels:4")),
        (None, "compliant", ("native", "compliant")),
        ("native", None, ("native", "compliant")),
        ("native", "surface", ("native", "surface")),
        ("pybullet", "chain", ("pybullet", "chain")),
        ("native", "chain", ("native", "chain")),
        (None, "chain", ("pybullet", "chain")),
    ],
)
def test_what_is_left_open_is_chosen(engine: EngineName, track_model: str, chosen: tuple[str, str]) -> None:
    assert resolve(engine, track_model) == chosen


@pytest.mark.parametrize(
    ("engine", "track_model", "error", "message"),
    [
        ("ode", None, UnknownNameError, "no engine 'ode'; there are: pybullet, native, mujoco"),
        (
            "native",
            "segments",
            InvalidValueError,
            "engine for track model 'segments' must be pybullet, got 'native'",
        ),
        (
            None,
            "rails",
            UnknownNameError,
            "no track model 'rails'; there are: segments, smooth, wheels:N, plates, compliant, surface, "
            "chain",
        ),
        ("native", "rails", UnknownNameError, "no track model 'rails'; there are: compliant, surface, chain"),
    ],
)
def test_what_does_not_go_together_is_refused(
    engine: EngineName, track_model: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        resolve(engine, track_model)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"engine": "ode"}, UnknownNameError, "no engine 'ode'; there are: pybullet, native, mujoco"),
        (
            {"engine": "native", "gui": True},
            InvalidValueError,
            "engine for a window must be pybullet, got 'native'",
        ),
        (
            {"engine": "native", "client": 0},
            InvalidValueError,
            "engine for a PyBullet client must be pybullet, got 'native'",
        ),
    ],
)
def test_worlds_that_no_engine_runs_are_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        segtrack.World(**given)
    assert str(caught.value) == message


def test_a_force_acts_until_it_is_set_again_and_is_part_of_the_state() -> None:
    """On PackBot above the ground: it speeds up by F t / m."""
    with segtrack.World(gravity=0.0) as world:
        robot = world.add_vehicle("packbot", position=(0, 0, 1))
        saved = world.save()
        center = robot.model.body_motion().center
        for force in ((24.0, 0.0, 0.0), (0.0, 0.0, 0.0)):
            robot.apply_force(force, center)
            pushed = world.save()
            world.run(0.01)
        drifting = robot.state.velocity
        assert drifting[0] == pytest.approx(24.0 / robot.mass * 0.01, rel=0.05)
        world.restore(pushed)
        world.run(0.01)
        assert robot.state.velocity == drifting
        world.restore(saved)
        world.run(0.01)
        assert robot.state.velocity[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("force", [(24.0, 10.0, -6.0), (0.0, 0.0, 24.0)])
@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_a_force_acts_along_the_worlds_axes_wherever_the_vehicle_looks(
    engine: EngineName, force: tuple[float, float, float]
) -> None:
    """On one that heads along y, and on one that heads back and lies on its side."""
    for orientation in ((0.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2), (math.pi / 2, 0.3, 2.5)):
        with segtrack.World(engine=engine, gravity=0.0) as world:
            robot = world.add_vehicle("packbot", position=(1.0, -2.0, 1.0))
            robot.reset_base_pose((1.0, -2.0, 1.0), pybullet.getQuaternionFromEuler(orientation))
            masses = robot.bodies().masses
            center = masses @ robot.bodies().positions / masses.sum()
            robot.apply_force(force, center.tolist())
            world.run(0.02)
            bodies = robot.bodies()
            momentum = bodies.masses @ bodies.velocities
            assert momentum == pytest.approx([0.02 * f for f in force], rel=0.03, abs=0.005)


@pytest.mark.parametrize("orientation", [(0.0, 0.0, 0.0), (math.pi / 2, 0.0, 0.0), (0.4, -0.9, 2.0)])
def test_bodies_that_spin_have_the_same_energy_in_both_engines(orientation: tuple[float, ...]) -> None:
    """T = w R I R^T w / 2 of a rigid vehicle at any attitude; its spin is given in the world."""
    spin, energies = np.array((0.3, -0.5, 0.8)), {}
    for engine in ("native", "pybullet"):
        with segtrack.World(engine=engine, gravity=0.0) as world:
            robot = world.add_vehicle("packbot", track_model="compliant", position=(0, 0, 1))
            quaternion = pybullet.getQuaternionFromEuler(orientation)
            robot.reset_base_pose((0, 0, 1), quaternion)
            if engine == "native":
                robot.model.state.angular_velocity[0], turned = spin, robot.model.body_motion().rotation
                inertia = turned @ robot.model.tree.inertias[0] @ turned.T
            else:
                world.client.resetBaseVelocity(robot.model.body_id, [0, 0, 0], spin.tolist())
            energies[engine] = robot.bodies().kinetic_energy
    assert energies["native"] == pytest.approx(spin @ inertia @ spin / 2, rel=1e-6)
    assert energies["pybullet"] == pytest.approx(energies["native"], rel=0.01)


def test_a_vehicle_in_leaning_gravity_falls_along_it() -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot", position=(0, 0, 1))
        world.set_gravity((1.0, 2.0, -3.0))
        world.run(0.1)
        assert robot.state.velocity == pytest.approx((0.1, 0.2, -0.3), rel=1e-6)
