"""What goes wrong in somebody's own PyBullet loop: `before_step` forgotten, the simulation reset."""

import math
from contextlib import suppress

import numpy as np
import pybullet
import pybullet_data
import pytest
from pybullet_utils.bullet_client import BulletClient
from quick import some_of

import segtrack
from segtrack.errors import DivergedError, NotReadyError, RemovedError

MODELS = ["segments", *(pytest.param(model, marks=pytest.mark.slow) for model in ("plates", "chain"))]
FORGOTTEN = (
    "cannot use quince: the simulation has taken steps without robot.before_step(), "
    "which belongs before each one"
)


def on_a_plane():
    client = BulletClient(pybullet.DIRECT)
    segtrack.configure(client, "fast")
    client.setGravity(0, 0, -9.81)
    client.loadURDF(pybullet_data.getDataPath() + "/plane.urdf")
    return client


@pytest.fixture
def client():
    client = on_a_plane()
    yield client
    client.disconnect()


def attach(client, track_model="segments", z=0.1, vehicle="quince"):
    return segtrack.attach(client, vehicle, track_model=track_model, position=(0, 0, z))


def use(robot):
    """All that a loop reads and commands at each step."""
    robot.set_belt_speed(0.1, 0.1)
    return robot.state, [track.state for track in robot.tracks.values()]


@pytest.fixture(scope="module", params=MODELS)
def forgotten(request):
    """A robot whose loop has stepped it onto the ground without `before_step`."""
    client = on_a_plane()
    robot = attach(client, request.param)
    use(robot)
    for _ in range(30):
        client.stepSimulation()
    yield robot
    client.disconnect()


@pytest.mark.parametrize(
    "next_use",
    [
        lambda robot: robot.state,
        lambda robot: robot.set_belt_speed(0.1, 0.1),
        lambda robot: robot.drive(0.1, 0.0),
        lambda robot: robot.tracks["left"].speed,
        lambda robot: robot.apply_force((1.0, 0.0, 0.0)),
    ],
)
def test_a_loop_that_forgets_before_step_is_told_so(forgotten, next_use):
    with pytest.raises(NotReadyError) as error:
        next_use(forgotten)
    assert str(error.value) == FORGOTTEN


SEVERAL = (
    "segtrack: packbot is again and again as far from its last robot.before_step() as several steps take it: "
    "it belongs before each one, unless your program itself moves or slows the robot"
)


def drive_on(client, robot, pattern, seconds=0.6):
    """Drive, with `before_step` where the pattern, again and again, is True."""
    robot.set_belt_speed(0.3, 0.2)
    for step in range(round(seconds / 0.005)):
        if pattern[step % len(pattern)]:
            robot.before_step()
        client.stepSimulation()


@pytest.mark.parametrize("track_model", ["segments", "plates", "compliant", "chain"])
@pytest.mark.parametrize("pattern", [(True, False), (True, False, False), (True, True, True, False)])
def test_a_loop_that_leaves_out_steps_is_told_so_once(client, caplog, track_model, pattern):
    robot = attach(client, track_model, z=0.09, vehicle="packbot")
    with suppress(DivergedError):  # Chains come off their wheels.
        drive_on(client, robot, pattern)
    assert caplog.messages == [SEVERAL]


@pytest.mark.parametrize(
    "track_model, parts", [("segments", 1), ("segments", 4), ("compliant", 1), ("compliant", 4), ("chain", 1)]
)
def test_a_loop_that_leaves_out_none_is_not_alarmed(client, caplog, track_model, parts):
    """It falls, drives, turns, is pushed, put elsewhere and brought to other speeds; its steps change."""
    client.setPhysicsEngineParameter(numSubSteps=parts)
    robot = attach(client, track_model, z=0.12, vehicle="packbot")
    drive_on(client, robot, (True,), 0.3)
    robot.apply_force((60.0, -80.0, 40.0))
    drive_on(client, robot, (True,), 0.2)
    robot.apply_force((0.0, 0.0, 0.0))
    for k in range(30 if track_model != "chain" else 0):  # Shoes are left behind by who moves the body alone.
        client.resetBaseVelocity(robot.body_id, (0.3 / (1 + k % 4), 0.1, 0.0), (0.0, 0.0, 0.1))
        client.setTimeStep(0.005 / (1 + k % 2))
        drive_on(client, robot, (True,), 0.05)
        if k % 10 == 0:
            at = (0.1 * k, 0.0, 0.15)
            client.resetBasePositionAndOrientation(robot.body_id, at, (0, 0, 0, 1))
    robot.set_belt_speed(-0.3, 0.3)
    drive_on(client, robot, (True,), 0.2)
    assert not caplog.messages


@pytest.mark.parametrize("track_model", ["segments", "chain"])
def test_nothing_but_a_step_raises_the_alarm(client, track_model):
    """Neither a collision query, nor a pose into the ground, nor another robot's steps before it came."""
    first = attach(client, track_model, z=0.12, vehicle="packbot")
    for _ in range(20):
        first.before_step()
        client.stepSimulation()
        use(first)
    second = segtrack.attach(client, "packbot", track_model=track_model, position=(0.0, 2.0, 0.05))
    use(second)
    client.performCollisionDetection()
    use(second)
    client.resetBasePositionAndOrientation(second.model.body_id, (0, 2, 0.03), (0, 0, 0, 1))
    client.performCollisionDetection()
    use(second)
    second.reset_base_pose((0.0, 2.0, 0.12))
    second.before_step()
    first.before_step()
    client.stepSimulation()
    use(second)


def test_a_loop_that_is_right_pays_nothing_for_the_alarm(client, monkeypatch):
    robot = attach(client)
    robot.before_step()
    monkeypatch.setattr(pybullet, "getContactPoints", None)
    for _ in range(3):
        client.stepSimulation()
        use(robot)
        robot.before_step()


def test_no_world_of_its_own_is_alarmed():
    with segtrack.World("fast") as world:
        robot = world.add_vehicle("quince")
        use(robot)
        world.run(0.1)
        use(robot)
        late = world.add_vehicle("quince", position=(0.0, 2.0))
        use(late)
        world.settle(max_time=0.1)
        use(late)


@pytest.mark.parametrize("track_model", [*MODELS, "compliant"])
@pytest.mark.parametrize(
    "speed, how",
    [(200.0, "a part of it is faster than 100 m/s, up to 200 m/s"), (math.nan, "its state is not finite")],
)
def test_a_loop_whose_robot_diverges_is_stopped_with_its_name(client, track_model, speed, how):
    robot = attach(client, track_model)
    robot.before_step()
    client.stepSimulation()
    client.resetBaseVelocity(robot.model.body_id, [0, 0, speed])
    with pytest.raises(DivergedError) as error:
        robot.before_step()
    assert str(error.value).startswith(f"simulation diverged: quince: {how}: its body")
    assert "the body at (" in str(error.value)


@pytest.mark.parametrize("track_model", ["compliant", "chain"])
def test_belts_go_alike_in_steps_that_pybullet_divides(track_model):
    """A PackBot that has come to rest, and then drives; 0.4 % are what shoes sway by at its end."""
    found = []
    for parts in (1, 4):
        client = on_a_plane()
        client.setPhysicsEngineParameter(numSubSteps=parts)
        robot = attach(client, track_model, 0.0895, "packbot")
        for step in range(400):
            robot.before_step()
            client.stepSimulation()
            if step == 200:
                start = robot.state.position
                robot.set_belt_speed(0.5, 0.5)
        found.append((start[2], robot.state.position[0] - start[0]))
        client.disconnect()
    assert found[1][0] == pytest.approx(found[0][0], abs=1e-4)
    assert found[1][1] == pytest.approx(found[0][1], rel=0.004)


@pytest.mark.parametrize("parts", [1, 4])
def test_belts_hold_on_a_slope_with_its_pull_in_steps_that_pybullet_divides(client, parts):
    client.setPhysicsEngineParameter(numSubSteps=parts)
    robot = attach(client, "segments", 0.0875, "packbot")
    client.setGravity(-1.0, 0, -9.81)
    for _ in range(300):
        robot.before_step()
        client.stepSimulation()
    held = sum(track.force for track in robot.tracks.values())
    assert held == pytest.approx(robot.mass * 1.0, rel=0.02)


@pytest.fixture(scope="module", params=MODELS)
def removed(request):
    """A robot that has taken a step, and whose client has been reset."""
    client = on_a_plane()
    robot = attach(client, request.param)
    robot.before_step()
    client.stepSimulation()
    client.resetSimulation()
    yield robot
    client.disconnect()


@pytest.mark.parametrize(
    "next_use, what",
    [
        (lambda r: r.before_step(), None),
        (lambda r: r.state, "use quince"),
        (lambda r: r.mass, "weigh quince"),
        (lambda r: r.bounds(), "measure quince"),
        (lambda r: r.reset_base_pose((0, 0, 1)), "place quince"),
        (lambda r: r.apply_force((0, 0, 1)), "use quince"),
        (lambda r: r.set_flippers(front_left=0.1), "command flipper front_left"),
        (lambda r: r.set_flipper_speeds(front_left=0.1), "command flipper front_left"),
        (lambda r: r.flippers["front_left"].angle, "read flipper front_left"),
        (lambda r: r.flippers["front_left"].place(0.1), "command flipper front_left"),
        (lambda r: r.tracks["left"].ground_speed, "read the link of left"),
    ],
)
def test_a_robot_of_a_simulation_that_was_reset_says_so(removed, next_use, what):
    with pytest.raises(RemovedError) as error:
        next_use(removed)
    gone = ": its bodies are gone, by resetSimulation or removeBody; add it anew"
    assert str(error.value).endswith(gone)
    assert what is None or str(error.value) == what + gone


def test_after_a_reset_a_robot_may_be_attached_anew(removed):
    client = removed.model.physics_client_id
    robot = attach(client, "smooth")
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    for _ in range(10):
        robot.before_step()
        pybullet.stepSimulation(physicsClientId=client)
    assert robot.state.velocity[2] < 0
    pybullet.resetSimulation(physicsClientId=client)


def test_a_world_whose_client_was_reset_says_so():
    with segtrack.World("fast") as world:
        world.add_vehicle("quince")
        world.step()
        world.client.resetSimulation()
        with pytest.raises(RemovedError, match="step quince: its bodies are gone"):
            world.step()
        with pytest.raises(RemovedError, match="save quince: its bodies are gone"):
            world.save()


def packbot_on_its_belts(client, track_model):
    ground = [segtrack.terrain.Plane()]
    return segtrack.attach(
        client, "packbot", track_model=track_model, position=(0, 0, 0.0875), terrain=ground
    )


@pytest.mark.parametrize("track_model, within", [("compliant", 0.01), ("surface", 0.01), ("chain", 0.04)])
@pytest.mark.parametrize(
    "steps", some_of([(0.004, 0.001, 0.004), (0.001, 0.004, 0.001)], (0.004, 0.001, 0.004))
)
def test_a_step_that_a_program_changes_kicks_no_belt(client, track_model, within, steps):
    """PackBot keeps its 0.5 m/s; with shoes it sways by 2.5 % on polygons, whatever the step."""
    robot = packbot_on_its_belts(client, track_model)

    def go(step, duration):
        client.setTimeStep(step)
        for _ in range(round(duration / step)):
            robot.before_step()
            client.stepSimulation()
            yield robot.state.velocity[0]

    list(go(steps[0], 0.4))
    robot.set_belt_speed(0.5, 0.5)
    list(go(steps[0], 0.8))
    for step in steps:
        assert list(go(step, 0.06)) == pytest.approx([0.5] * round(0.06 / step), rel=within)


def test_a_state_is_gone_back_to_whatever_step_was_taken_since(client):
    """The work of the step before it is that of its own duration."""
    robot, energies = packbot_on_its_belts(client, "segments"), []

    def go(step, count):
        client.setTimeStep(step)
        for _ in range(count):
            robot.before_step()
            client.stepSimulation()

    robot.set_belt_speed(0.3, 0.3)
    go(0.001, 200)
    saved, own = client.saveState(), robot.save()
    for step in (0.001, 0.004):
        go(step, 1)
        client.restoreState(saved)
        robot.restore(own)
        go(0.001, 3)
        energies.append(robot.energy)
        client.restoreState(saved)
        robot.restore(own)
    assert energies[1] == pytest.approx(energies[0], rel=1e-6)


@pytest.mark.parametrize(
    ("track_model", "within"),
    [("compliant", 0.005), ("surface", 0.001), pytest.param("chain", 0.04, marks=pytest.mark.slow)],
)
def test_steps_of_two_lengths_in_turn_neither_lift_nor_drive(client, track_model, within):
    """Weight and belts act for as long as each other: height as at one length, and the speed that is told."""
    robot = packbot_on_its_belts(client, track_model)
    motions = []
    for steps, duration in (((0.004,), 0.8), ((0.0005, 0.005), 0.55)):
        robot.set_belt_speed(0.5, 0.5)
        for step in steps * round(duration / sum(steps)):
            client.setTimeStep(step)
            robot.before_step()
            client.stepSimulation()
            motions.append((robot.state.position[2], robot.state.velocity[0]))
    heights, speeds = np.array(motions[-100:]).T
    assert heights == pytest.approx(motions[199][0], abs=1e-4)
    assert speeds == pytest.approx(0.5, rel=within)
