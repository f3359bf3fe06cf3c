"""A world's promises in the native engine: equal to the bit, many vehicles, every kind of terrain."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from native_vehicles import plane
from quick import some_of

import segtrack
from segtrack import terrain


def scripted(seconds=1.0, world_and_robot=None):
    world, robot = world_and_robot or plane(settled=False)
    for k in range(round(seconds / 0.1)):
        robot.set_belt_speed(0.3 * math.sin(k), 0.3 * math.cos(2 * k))
        robot.set_flippers(front_left=0.1 * k, rear_right=-0.05 * k)
        world.run(0.1)
    return robot.state


def test_two_runs_are_equal_to_the_bit():
    assert scripted() == scripted()


@pytest.mark.parametrize("name", ["quince", "maxxii", "bulldozer"])
def test_save_act_restore_act_is_equal_to_the_bit_over_thin_walls(name):
    """Edges deep between grousers count whenever candidates were listed last."""
    size = 6.0 if name == "bulldozer" else 1.0
    walls = tuple(
        terrain.GroundBox(x=size * x, y=0, length=0.02 * size, width=8 * size, height=0.03 * size)
        for x in np.arange(0.3, 1.5, 0.09)
    )
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Boxes(boxes=walls))
    robot = world.add_vehicle(name, position=(-0.2 * size, 0.0))
    robot.set_belt_speed(0.4, 0.35)
    for _ in range(20):
        world.run(0.1)
        saved = world.save()
        world.run(0.05)
        first = robot.state
        world.restore(saved)
        world.run(0.05)
        assert robot.state == first


@pytest.mark.slow
@pytest.mark.parametrize("setting", [{}, {"NUMBA_CPU_NAME": "generic"}], ids=["same", "any processor"])
def test_two_processes_are_equal_to_the_bit(setting):
    """Also with code for any processor: kernels of another machine round alike."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "sys.path.insert(0, sys.argv[2])\nfrom test_native_promises import scripted\nprint(repr(scripted()))"
    )
    folder = str(Path(__file__).parent)
    said = subprocess.run(
        [sys.executable, "-c", program, folder, str(Path(folder).parent)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, **setting},
    )
    assert said.stdout.strip() == repr(scripted())


def test_save_act_restore_act_is_equal_to_the_bit():
    world, robot = plane(settled=False)
    scripted(0.5, (world, robot))
    saved = world.save()
    first = scripted(0.5, (world, robot))
    world.restore(saved)
    assert scripted(0.5, (world, robot)) == first
    world.reset()
    assert world.time == 0.0


@pytest.mark.parametrize("put", ["fresh", "placed", "set going", "of a batch"])
def test_a_vehicle_that_was_put_somewhere_expects_nothing_of_its_last_step(put):
    """Neither of its links, nor that any drive was at its limit, which a finite change of its belt means."""
    if put == "of a batch":
        batch = segtrack.Batch("packbot", 2, terrain=terrain.Plane())
        batch.set_belt_speed(0.3, 0.3)
        batch.run(0.1)
        batch.reset()
        state, row = batch._fleet.state, 1
    else:
        world = segtrack.World(engine="native")
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="compliant")
        state, row = robot.model.state, 0
        if put != "fresh":
            robot.set_belt_speed(0.3, 0.3)
            world.run(0.1)
            robot.model.place((0.0, 0.0, 0.2), (0.0, 0.0, 0.0, 1.0))
        if put == "set going":
            world.run(0.1)
            robot.model.set_velocity(0.1)
    links = state.last_changes.shape[1] - state.speeds.shape[1]
    assert (state.last_changes[row, :links] == 0.0).all()
    assert (state.last_changes[row, links:] == np.inf).all()


def test_long_and_short_calls_are_equal_to_the_bit():
    states = []
    for chunk in (0.5, 0.001, 0.02):
        world, robot = plane(settled=False)
        robot.set_belt_speed(0.1, -0.2)
        for _ in range(round(0.5 / chunk)):
            world.run(chunk)
        states.append(robot.state)
    assert states[0] == states[1] == states[2]


def test_many_boxes_under_one_grouser_are_all_felt():
    """More of all near it than there is room for at first; the result does not depend on the room."""
    boxes = tuple(
        terrain.GroundBox(x=x, y=y, length=0.008, width=0.008, height=0.02)
        for x in np.arange(-0.3, 0.3, 0.012)
        for y in np.arange(-0.3, 0.3, 0.012)
    )
    states = []
    for room in (False, True):
        world = segtrack.World(engine="native")
        world.add_terrain(terrain.Boxes(boxes=boxes))
        robot = world.add_vehicle("packbot")
        if room:
            robot.model._outcome[0, 1:] = 0, 500, 5000, 50_000
            robot.model._make_room()
        world.run(0.05)
        states.append(robot.state)
    assert states[0] == states[1]
    assert robot.state.position[2] > 0.1


@pytest.mark.slow
def test_the_native_engine_runs_where_pybullet_cannot_be_imported():
    program = (
        "import sys; sys.modules['pybullet'] = sys.modules['pybullet_utils'] = None\n"
        "import segtrack\nfrom segtrack import terrain\n"
        "with segtrack.World(engine='native') as world:\n"
        "    world.add_terrain(terrain.Step(height=0.1, distance=1.0))\n"
        "    robot = world.add_vehicle('quince')\n    world.run(0.1)\n    print(robot.state.position[2])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.stderr, float(done.stdout)) == ("", pytest.approx(0.091, abs=0.002))


def test_several_vehicles_move_in_one_world():
    world, quince = plane(settled=False)
    packbot = world.add_vehicle("packbot", position=(0.0, 3.0))
    alone = plane("packbot", settled=False, position=(0.0, 3.0))
    for w, robot in ((world, packbot), alone):
        robot.set_belt_speed(0.2, 0.3)
        w.run(0.5)
    assert packbot.state == alone[1].state
    assert quince.state.position[0] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    "ground",
    [
        terrain.Plane(),
        terrain.Step(height=0.05, distance=0.6),
        terrain.Stairs(count=2, riser=0.05, tread=0.3, distance=0.6),
        terrain.Ramp(slope=0.3, length=1.0, distance=0.5),
        terrain.Gap(length=0.1, distance=0.6),
        terrain.Ridge(height=0.05, length=0.2, distance=0.6),
        terrain.HalfRound(radius=0.05, distance=0.6),
        terrain.Waves(heights=(0.02, 0.03), lengths=(0.5, 0.4), distance=0.5),
    ],
    ids=lambda ground: type(ground).__name__,
)
@pytest.mark.parametrize("name", some_of(["quince", "packbot"], "packbot"))
def test_vehicles_drive_over_every_kind_of_terrain(name, ground):
    world = segtrack.World(engine="native")
    world.add_terrain(ground)
    robot = world.add_vehicle(name)
    robot.set_belt_speed(0.3, 0.3)
    world.run(4.0)
    assert robot.state.position[0] > 0.7
    x, y, z = robot.state.position
    assert 0.0 < z - float(world.height(x, y)) < 0.3
