"""Calls that cannot be meant are refused by name, through every door."""

import logging
import math
import sys
from pathlib import Path

import numpy as np
import pybullet
import pytest
from pybullet_utils.bullet_client import BulletClient

import segtrack
from segtrack import demos, terrain
from segtrack.errors import (
    DisconnectedError,
    InvalidValueError,
    NotReadyError,
    RemovedError,
    SegtrackError,
    UnknownNameError,
)

NAN = math.nan


class Doors:
    """A world of each engine with a robot, a batch, a client of somebody's own, and what has been closed."""

    def __init__(self):
        self.native, self.bullet = segtrack.World(engine="native"), segtrack.World(engine="pybullet")
        for world in (self.native, self.bullet):
            world.add_terrain(terrain.Plane())
        self.robot = self.native.add_vehicle("example_rover", track_model="compliant")
        self.other = self.bullet.add_vehicle("example_rover", track_model="segments")
        self.batch = segtrack.Batch("example_rover", 2)
        self.client = BulletClient(pybullet.DIRECT)
        self.client.createMultiBody(0, self.client.createCollisionShape(pybullet.GEOM_PLANE))
        self.attached = segtrack.attach(self.client, "example_rover", position=(0, 0, 0.3))
        self.closed_client = segtrack.World(client=BulletClient(pybullet.DIRECT))
        self.closed_client.close()
        self.closed, self.closed_batch = segtrack.World(engine="native"), segtrack.Batch("example_rover", 1)
        self.closed.close()
        self.closed_batch.close()

    def attach(self, **given):
        return segtrack.attach(self.client, "example_rover", **given)


@pytest.fixture(scope="module")
def doors():
    made = Doors()
    yield made
    made.batch.close()
    made.bullet.close()
    made.client.disconnect()


CALLS = {
    "another world's robot": (
        lambda d: d.native.place_on_terrain(d.other, 0, 0),
        InvalidValueError,
        "robot must be one that this world has added, got 'example_rover' of another one",
    ),
    "no robot": (lambda d: d.native.place_on_terrain("quince", 0, 0), InvalidValueError, "robot must be one"),
    "a link, native": (
        lambda d: d.robot.link_frame("nope"),
        UnknownNameError,
        "no link of example_rover 'nope'",
    ),
    "a link, PyBullet": (lambda d: d.other.link_frame("nope"), UnknownNameError, "no link of example_rover"),
    "a closed world steps": (
        lambda d: d.closed.step(),
        DisconnectedError,
        "the world is closed",
    ),
    "a closed world is added to": (
        lambda d: d.closed.add_vehicle("quince"),
        DisconnectedError,
        "add a vehicle",
    ),
    "a closed world is saved": (lambda d: d.closed.save(), DisconnectedError, "the world is closed"),
    "a closed world that has joined a client runs": (
        lambda d: d.closed_client.run(0.1),
        DisconnectedError,
        "the world is closed",
    ),
    "a closed batch is saved": (lambda d: d.closed_batch.save(), DisconnectedError, "save the batch"),
    "a closed batch runs": (
        lambda d: d.closed_batch.run(0.1),
        DisconnectedError,
        "advance the batch: it is clos",
    ),
    "a closed batch is reset": (lambda d: d.closed_batch.reset(), DisconnectedError, "reset the batch"),
    "gravity, native": (
        lambda d: segtrack.World(engine="native", gravity=-9.81),
        InvalidValueError,
        "gravity [m/s^2] must be at least 0, as it is counted downwards, got -9.81",
    ),
    "gravity, PyBullet": (
        lambda d: segtrack.World(engine="pybullet", gravity=-1),
        InvalidValueError,
        "downwards",
    ),
    "gravity, batch": (lambda d: segtrack.Batch("quince", 1, gravity=-1), InvalidValueError, "downwards"),
    "no step": (
        lambda d: d.native.run(0.0004),
        InvalidValueError,
        "seconds must be 0, or more than half of the time step of 0.001 s, got 0.0004",
    ),
    "no step, batch": (
        lambda d: d.batch.run(1e-9),
        InvalidValueError,
        "0, or more than half of the time step",
    ),
    "steps": (
        lambda d: d.bullet.advance(True),
        InvalidValueError,
        "steps must be a whole number from 0, got True",
    ),
    "steps, batch": (
        lambda d: d.batch.advance(np.bool_(True)),
        InvalidValueError,
        "steps must be a whole number",
    ),
    "duration": (
        lambda d: d.native.run(np.bool_(True)),
        InvalidValueError,
        "seconds must be a finite number",
    ),
    "on_step": (
        lambda d: d.native.run(0.01, on_step=5),
        InvalidValueError,
        "on_step must be a function, got 5",
    ),
    "a dict of numbers": (
        lambda d: d.native.set_gravity({0.0: 0, 1.0: 1, 2.0: 2}),
        InvalidValueError,
        "gravity [m/s^2] must be 3 finite numbers",
    ),
    "a set": (lambda d: d.native.set_gravity({0.0, 1.0, 2.0}), InvalidValueError, "must be 3 finite numbers"),
    "bytes": (
        lambda d: d.native.add_vehicle("quince", position=b"abc"),
        InvalidValueError,
        "position [m] must be 3 finite numbers, got b'abc'",
    ),
    "a dict, attach": (
        lambda d: d.attach(position={0: 0, 1: 1, 2: 2}),
        InvalidValueError,
        "position [m] must be",
    ),
    "a track": (
        lambda d: d.robot.tracks["middle"],
        UnknownNameError,
        "no track of example_rover 'middle'; there are: left, right",
    ),
    "a flipper": (lambda d: d.robot.flippers["x"], UnknownNameError, "no flipper of example_rover 'x'"),
    "a track by list": (lambda d: d.robot.tracks[["left"]], UnknownNameError, "no track of example_rover"),
    "a track model by list": (
        lambda d: d.native.add_vehicle("quince", track_model=["compliant"]),
        UnknownNameError,
        "no track model ['compliant']",
    ),
    "a preset by list": (
        lambda d: segtrack.World(["exact"], engine="native"),
        UnknownNameError,
        "no preset of",
    ),
    "a preset by list, PyBullet": (
        lambda d: segtrack.configure(d.client, ["exact"]),
        UnknownNameError,
        "no solver preset",
    ),
    "a soil by list": (lambda d: terrain.find_soil(["x"]), UnknownNameError, "no soil ['x']"),
    "points of two shapes": (
        lambda d: d.native.height(np.zeros(2), np.zeros(3)),
        InvalidValueError,
        "points [m] must be x and y as numbers of shapes that broadcast",
    ),
    "points as text": (lambda d: terrain.Plane().height_at("1"), InvalidValueError, "points [m] must be"),
    "a text, batch": (
        lambda d: d.batch.set_belt_speed("0.1", 0.1),
        InvalidValueError,
        "left belt speed [m/s]",
    ),
    "a truth, batch": (
        lambda d: d.batch.set_belt_speed(True, 0.1),
        InvalidValueError,
        "left belt speed [m/s]",
    ),
    "terrain, attach": (
        lambda d: d.attach(track_model="compliant", terrain="plane"),
        InvalidValueError,
        "terrain must be one of segtrack.terrain, got 'plane'",
    ),
    "terrain, own loop": (
        lambda d: d.attached.update_terrain([3]),
        InvalidValueError,
        "terrain must be one of",
    ),
    "a mesh by number": (
        lambda d: terrain.Mesh(file=5),
        InvalidValueError,
        "Mesh.file must be the path of a file",
    ),
    "samples": (
        lambda d: terrain.profile(terrain.Plane(), 0, 1, samples=2.5),
        InvalidValueError,
        "samples of a profile must be a whole number from 2, got 2.5",
    ),
    "belts of another robot": (
        lambda d: d.attached.restore(d.other.save()),
        InvalidValueError,
        "snapshot must be one that this robot saved",
    ),
    "resettable": (
        lambda d: segtrack.World(engine="native", resettable="no"),
        InvalidValueError,
        "resettable must be True or False, got 'no'",
    ),
    "gui": (lambda d: segtrack.World(gui=1), InvalidValueError, "gui must be True or False, got 1"),
    "real_time": (
        lambda d: d.native.run(0.01, real_time="no"),
        InvalidValueError,
        "real_time must be True or False, got 'no'",
    ),
    "complex heights": (
        lambda d: terrain.Heightfield(heights=np.full((2, 2), 1j), spacing=1.0),
        InvalidValueError,
        "Heightfield.heights must be an array of numbers [m], got array(",
    ),
    "a link's index": (
        lambda d: d.other.links["nope"],
        UnknownNameError,
        "no link of example_rover 'nope'; there are: ",
    ),
    "a step that the world takes": (
        lambda d: d.other.before_step(),
        NotReadyError,
        "cannot step example_rover: its world does, see World.step",
    ),
    "belts of a native world": (lambda d: d.robot.save(), NotReadyError, "its engine is not PyBullet"),
}


@pytest.mark.parametrize("call, error, words", CALLS.values(), ids=CALLS)
def test_what_cannot_be_meant_is_refused_by_name(doors, call, error, words):
    with pytest.raises(error) as raised:
        call(doors)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "height",
    [
        lambda d: d.native.height([NAN, 0.0], [0.0, 0.0]),
        lambda d: d.bullet.height([0.0, 0.0], [NAN, 0.0]),
        lambda d: d.batch.height([NAN, 0.0], [0.0, 0.0]),
        lambda d: d.batch.cell_heights([[NAN, 0.0], [0.0, 0.0]], [0.0, 0.0], [[[0.0, 0.0]]])[:, 0],
        lambda d: terrain.Step(height=0.1, distance=0.5).height_at([NAN, 0.0]),
    ],
)
def test_nowhere_has_no_height(doors, height):
    np.testing.assert_array_equal(height(doors), [NAN, 0.0])


@pytest.mark.parametrize("owner, name", [("robot", "tracks"), ("other", "flippers"), ("robot", "joints")])
def test_parts_of_a_robot_are_read_and_not_replaced(doors, owner, name):
    parts = getattr(getattr(doors, owner), name)
    with pytest.raises(TypeError):
        parts["left"] = None
    assert ("nope" in parts, parts.get("nope")) == (False, None)


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_frames_of_links_are_those_of_all_poses(engine):
    """Flippers, and `body` where no link of the URDF has that name."""
    with segtrack.World(engine=engine) as world:
        robot = world.add_vehicle("quince", flippers={"front_left": 0.7}, position=(1.0, 2.0, 3.0), yaw=0.4)
        origins = [robot.link_frame(name).origin for name in robot.link_names]
        np.testing.assert_allclose(origins, robot.link_poses()[:, :3], atol=1e-9)


@pytest.mark.parametrize(
    "command, what",
    [
        (lambda r, b: r.set_flippers(front_left=45), "angle of flipper front_left [rad]"),
        (lambda r, b: r.flippers["rear_left"].place(100), "angle of flipper rear_left [rad]"),
        (lambda r, b: r.set_flipper_speeds(front_left=30), "speed of flipper front_left [rad/s]"),
        (lambda r, b: r.drive(90, 0), "left belt speed [m/s]"),
        (lambda r, b: r.set_throttle(50, 0), "throttle of the left side"),
        (lambda r, b: b.set_flippers(front_left=[0.0, 45.0]), "angle of flipper front_left [rad]"),
        (lambda r, b: b.reset(flippers={"front_left": 45}), "angle of flipper front_left [rad]"),
        (lambda r, b: b.drive(90, 0), "left belt speed [m/s]"),
    ],
)
def test_degrees_are_clipped_and_told_once_a_robot_and_quantity(caplog, command, what):
    for _ in range(2):
        with segtrack.World(engine="native") as world, segtrack.Batch("quince", 2) as batch:
            robot = world.add_vehicle("quince")
            caplog.clear()
            with caplog.at_level(logging.WARNING, "segtrack"):
                for _ in range(2):
                    command(robot, batch)
        told = [record.getMessage() for record in caplog.records]
        assert (
            sum(line.startswith(f"quince: {what} is commanded far beyond its limits") for line in told) == 1
        )


def test_what_is_a_little_beyond_a_limit_is_clipped_in_silence(caplog, quinces):
    robot, batch = quinces
    with caplog.at_level(logging.WARNING, "segtrack"):
        robot.set_flippers(front_left=2.0)
        robot.set_belt_speed(0.6, -0.6)
        batch.set_flippers(front_left=2.0)
        batch.set_belt_speed(0.6, -0.6)
    assert not caplog.records


@pytest.fixture(scope="module")
def quinces():
    with segtrack.World(engine="native") as world, segtrack.Batch("quince", 2) as batch:
        yield world.add_vehicle("quince"), batch


def on_a_plane():
    client = BulletClient(pybullet.DIRECT)
    client.setGravity(0, 0, -9.81)
    client.createMultiBody(0, client.createCollisionShape(pybullet.GEOM_PLANE))
    segtrack.configure(client)
    return client


def go(client, robot, steps):
    for _ in range(steps):
        robot.before_step()
        client.stepSimulation()


@pytest.mark.parametrize("track_model", ["segments", "compliant", "chain"])
def test_before_step_twice_is_refused_and_changes_nothing(track_model):
    """To the bit, and the work of the drives, too."""
    ends = []
    for twice in (False, True):
        client = on_a_plane()
        robot = segtrack.attach(client, "example_rover", track_model=track_model, position=(0, 0, 0.1))
        go(client, robot, 50)
        robot.set_belt_speed(0.2, 0.1)
        for _ in range(50):
            robot.before_step()
            if twice:
                with pytest.raises(NotReadyError, match="no step been taken since"):
                    robot.before_step()
            client.stepSimulation()
        ends.append((robot.state, robot.read_tracks()))
        client.disconnect()
    assert ends[0] == ends[1]


def test_a_robot_that_is_set_back_before_each_step_drives_its_belts():
    """A tow rig: by segtrack's own functions each step is prepared, and PyBullet's alone are told."""
    client = on_a_plane()
    robot = segtrack.attach(client, "example_rover", track_model="compliant", position=(0, 0, 0.1))
    for _ in range(100):
        robot.reset_base_pose((0, 0, 0.1))
        robot.set_velocity(0.1)
        go(client, robot, 1)
    assert robot.tracks["left"].travel == pytest.approx(0.1 * 100 * 0.001, rel=0.02)
    pose = client.getBasePositionAndOrientation(robot.body_id)
    with pytest.raises(NotReadyError, match=r"robot\.reset_base_pose"):
        for _ in range(2):
            client.resetBasePositionAndOrientation(robot.body_id, *pose)
            client.resetBaseVelocity(robot.body_id, (0.1, 0, 0), (0, 0, 0))
            go(client, robot, 1)
    client.disconnect()


@pytest.mark.parametrize("track_model", ["segments", "compliant"])
def test_belts_go_back_with_pybullets_state(track_model):
    """PyBullet's saved state lacks the order of contacts, by which segments differ a little."""
    client = on_a_plane()
    robot = segtrack.attach(client, "example_rover", track_model=track_model, position=(0, 0, 0.1))
    robot.set_belt_speed(0.3, 0.3)
    go(client, robot, 300)
    state, belts, ends = client.saveState(), robot.save(), []
    for _ in range(2):
        go(client, robot, 100)
        ends.append([*robot.state.position, robot.tracks["left"].travel, robot.energy])
        robot.set_belt_speed(-0.3, 0.3)
        go(client, robot, 50)
        client.restoreState(state)
        robot.restore(belts)
    client.disconnect()
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-3, atol=1e-5 if track_model == "segments" else 1e-12)


USES = {
    "step": (lambda r: r.before_step(), "step example_rover"),
    "state": (lambda r: r.state, "use example_rover"),
    "bodies": (lambda r: r.bodies(), "read the bodies of example_rover"),
    "body_motion": (lambda r: r.body_motion(), "use example_rover"),
    "bounds": (lambda r: r.bounds(), "measure example_rover"),
    "mass": (lambda r: r.mass, "weigh example_rover"),
    "energy": (lambda r: r.energy, "use example_rover"),
    "link_frame": (lambda r: r.link_frame("mast"), "read link mast of example_rover"),
    "link_poses": (lambda r: r.link_poses(), "read link body of example_rover"),
    "actuators": (lambda r: r.read_actuators(), "use example_rover"),
    "contacts": (lambda r: r.read_belt_contacts(), "read the contacts of example_rover"),
    "save": (lambda r: r.save(), "save example_rover"),
    "place": (lambda r: r.reset_base_pose((0, 0, 1)), "place example_rover"),
    "velocity": (lambda r: r.set_velocity(0.1), "use example_rover"),
    "belts": (lambda r: r.set_belt_speed(0.1, 0.1), "use example_rover"),
    "pedals": (lambda r: r.set_throttle(0.1, 0.1), "use example_rover"),
    "twist": (lambda r: r.drive(0.1, 0.1), "use example_rover"),
    "force": (lambda r: r.apply_force((0, 0, 1), (0, 0, 0)), "push example_rover"),
    "terrain": (lambda r: r.update_terrain(terrain.Plane()), "put example_rover on other terrain"),
    "belt": (lambda r: r.tracks["left"].speed, "use example_rover"),
    "ground": (lambda r: r.tracks["left"].ground_speed, "read the link of left"),
    "friction": (lambda r: r.tracks["left"].set_friction(0.3), "set the friction of left"),
    "drive": (lambda r: r.tracks["left"].scale_drive(2.0), "scale the drive of left"),
    "grousers": (lambda r: r.tracks["left"].read_grousers(), "read the grousers of left"),
    "chain": (lambda r: r.tracks["left"].read_chain(), "read the chain of left"),
    "chain pose": (lambda r: r.tracks["left"].read_chain_pose(), "read the chain of left"),
}
"""Whatever is asked of a robot, and what its refusal says was attempted."""


def moving(client, body):
    """What any command would change of a body."""
    links = range(-1, client.getNumJoints(body))
    joints = [client.getJointState(body, link) for link in links[1:]]
    friction = [client.getDynamicsInfo(body, link)[1] for link in links]
    return client.getBasePositionAndOrientation(body), client.getBaseVelocity(body), joints, friction


@pytest.fixture(scope="module", params=["segments", "compliant", "plates"])
def replaced(request):
    """A robot whose simulation was reset, and another one that has its id since."""
    client = on_a_plane()
    robot = segtrack.attach(client, "example_rover", track_model=request.param, position=(0, 0, 0.1))
    go(client, robot, 2)
    belts = robot.save()
    client.resetSimulation()
    client.createMultiBody(0, client.createCollisionShape(pybullet.GEOM_PLANE))
    again = segtrack.attach(client, "example_rover", track_model=request.param, position=(0, 0, 0.1))
    assert again.body_id == robot.body_id
    yield client, robot, again, belts
    go(client, again, 2)
    client.disconnect()


@pytest.mark.parametrize(
    "use, what", [*USES.values(), (None, "restore example_rover")], ids=[*USES, "restore"]
)
def test_a_reset_is_told_though_another_body_has_the_robots_id(replaced, use, what):
    client, robot, again, belts = replaced
    before = moving(client, again.body_id)
    with pytest.raises(RemovedError) as raised:
        robot.restore(belts) if use is None else use(robot)
    gone = "its bodies are gone, by resetSimulation or removeBody; add it anew"
    assert str(raised.value) == f"{what}: {gone}"
    assert moving(client, again.body_id) == before


@pytest.mark.parametrize("use, what", USES.values(), ids=USES)
def test_a_robot_whose_client_is_gone_says_so(parted_rover, use, what):
    with pytest.raises(DisconnectedError) as raised:
        use(parted_rover)
    assert str(raised.value) == f"{what}: the physics client is disconnected"


@pytest.fixture(scope="module")
def parted_rover():
    """A robot of a world whose client somebody has disconnected."""
    client = BulletClient(pybullet.DIRECT)
    world = segtrack.World(client=client)
    robot = world.add_vehicle("example_rover", track_model="compliant", position=(0, 0, 1))
    world.run(0.01)
    client.disconnect()
    return robot


COMMANDS = {
    "belts": (lambda r: r.set_belt_speed(0.1, 0.1), "command"),
    "twist": (lambda r: r.drive(0.1, 0.1), "command"),
    "pedals": (lambda r: r.set_throttle(0.1, 0.1), "command"),
    "belt": (lambda r: r.tracks["left"].set_speed(0.1), "command"),
    "friction": (lambda r: r.tracks["left"].set_friction(0.1), "command"),
    "drive": (lambda r: r.tracks["left"].scale_drive(2.0), "command"),
    "force": (lambda r: r.apply_force((0, 0, 1)), "command"),
    "place": (lambda r: r.reset_base_pose((0, 0, 1)), "place"),
    "velocity": (lambda r: r.set_velocity(0.1), "move"),
    "flipper": (lambda r: r.set_flippers(front_left=0.1), "command"),
    "flipper speed": (lambda r: r.set_flipper_speeds(front_left=0.1), "command"),
    "flipper placed": (lambda r: r.flippers["front_left"].place(0.1), "place a joint of"),
}


READINGS = (
    lambda r: r.state,
    lambda r: r.mass,
    lambda r: r.energy,
    lambda r: r.bodies(),
    lambda r: r.body_motion(),
    lambda r: r.bounds(),
    lambda r: r.link_frame("front_left"),
    lambda r: r.link_poses(),
    lambda r: r.read_actuators(),
    lambda r: r.read_tracks(),
    lambda r: r.read_belt_contacts(),
    lambda r: [(t.command, t.pedals, t.slip, t.has_chain) for t in r.tracks.values()],
    lambda r: [(f.angle, f.speed, f.torque) for f in r.flippers.values()],
    lambda r: r.tracks["left"].chain_design,
    lambda r: r.tracks["left"].read_chain(),
    lambda r: r.tracks["right"].read_chain_pose(),
    lambda r: r.tracks["left"].read_grousers(),
)
"""Whatever can be read of a robot."""


def read_all(robot):
    """What can be read of a robot, and the errors of what cannot, as text that shows every number."""

    def shown(read):
        try:
            return repr(read(robot))
        except SegtrackError as error:
            return f"{type(error).__name__}: {error}"

    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return [shown(read) for read in READINGS]


def closed_quince(engine, track_model):
    """A robot of a closed world, and what was read of it before."""
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince", track_model=track_model, flippers={"front_left": 0.3})
        robot.set_belt_speed(0.2, 0.1)
        world.run(0.05)
        return robot, read_all(robot)


@pytest.fixture(scope="module")
def closed_quinces():
    """Robots of closed worlds, and what was read of them before, by engine and track model."""
    kinds = [(engine, model) for engine in ("native", "pybullet") for model in ("compliant", "chain")]
    return {kind: closed_quince(*kind) for kind in [*kinds, ("pybullet", "segments")]}


@pytest.mark.parametrize("command, what", COMMANDS.values(), ids=COMMANDS)
def test_a_closed_world_takes_no_command_and_is_read(closed_quinces, command, what):
    """What is read then is to the bit what was read last, whichever engine ran; so is what cannot be read."""
    for (engine, _), (robot, before) in closed_quinces.items():
        with pytest.raises(DisconnectedError) as raised:
            command(robot)
        message = str(raised.value)
        assert message.endswith(": the world is closed")
        assert engine == "pybullet" or message.startswith(f"{what} quince: ")
        assert read_all(robot) == before


def test_what_is_read_of_a_closed_world_is_the_readers_own(closed_quinces):
    for robot, before in closed_quinces.values():
        for array in (*robot.bodies()[:3], robot.link_poses(), *robot.body_motion()[2:]):
            array[:] = 7.0
        assert read_all(robot) == before


@pytest.mark.parametrize("engine", ["native", "pybullet"])
@pytest.mark.parametrize(
    "call, what",
    [
        (lambda w, s: w.__enter__(), "enter the world"),
        (lambda w, s: w.advance(0), "step the world"),
        (lambda w, s: w.run(0), "step the world"),
        (lambda w, s: w.reset(), "reset the world"),
        (lambda w, s: w.settle(), "settle the world"),
        (lambda w, s: w.remove_snapshot(s), "forget a state"),
        (lambda w, s: w.set_gravity((0, 0, 0)), "set the gravity"),
        (lambda w, s: w.clear_terrain(), "clear terrain"),
    ],
)
def test_a_closed_world_says_so(engine, call, what):
    world = segtrack.World(engine=engine)
    saved = world.save()
    world.close()
    with pytest.raises(DisconnectedError) as raised:
        call(world, saved)
    assert str(raised.value) == f"{what}: the world is closed"


@pytest.mark.parametrize(
    "call, what",
    [
        (lambda b: b.__enter__(), "enter the batch"),
        (lambda b: b.set_belt_speed(0.1, 0.1), "command the batch"),
        (lambda b: b.set_track_speeds([0.1, 0.1]), "command the batch"),
        (lambda b: b.drive(0.1, 0.1), "command the batch"),
        (lambda b: b.set_throttle(0.1, 0.1), "command the batch"),
        (lambda b: b.set_flippers(), "command the batch"),
        (lambda b: b.set_flipper_speeds(), "command the batch"),
        (lambda b: b.set_joints(), "command the batch"),
        (lambda b: b.set_joint_speeds(), "command the batch"),
        (lambda b: b.apply_force((0, 0, 1), (0, 0, 0)), "push the batch"),
        (lambda b: b.set_friction(0.1), "change the batch"),
        (lambda b: b.scale_drives(2.0), "change the batch"),
        (lambda b: b.set_body(mass=20.0), "change the batch"),
    ],
)
def test_a_closed_batch_takes_no_command_and_is_read(doors, call, what):
    batch = doors.closed_batch
    before = [array.copy() for array in batch.device_arrays]
    with pytest.raises(DisconnectedError) as raised:
        call(batch)
    assert str(raised.value) == f"{what}: it is closed"
    for array, was in zip(batch.device_arrays, before, strict=True):
        np.testing.assert_array_equal(array, was)


@pytest.mark.parametrize("name", ["robots", "terrains", "engine_name", "preset"])
def test_what_a_world_has_is_read_and_not_replaced(doors, name):
    with pytest.raises(AttributeError):
        setattr(doors.native, name, ())
    assert name in ("engine_name", "preset") or isinstance(getattr(doors.native, name), tuple)


def test_links_of_pybullet_are_read_and_not_replaced(doors):
    with pytest.raises(TypeError):
        doors.other.links["mast"] = 0


def test_terrain_is_cleared_though_another_body_has_its_id():
    client = BulletClient(pybullet.DIRECT)
    world = segtrack.World(client=client)
    world.add_terrain(terrain.Plane())
    client.resetSimulation()
    own = client.createMultiBody(1.0, client.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1))
    world.clear_terrain()
    assert (world.terrains, client.getNumBodies(), client.getBodyUniqueId(0)) == ((), 1, own)
    client.disconnect()


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_gravity_goes_back_with_the_state(engine):
    with segtrack.World(engine=engine, gravity=2.0) as world:
        robot = world.add_vehicle("example_rover", position=(0, 0, 3))
        saved = world.save()
        for go_back in (lambda: world.restore(saved), world.reset):
            world.run(0.1)
            world.set_gravity((1.0, 0.0, 0.0))
            go_back()
            world.run(0.1)
            assert robot.state.velocity == pytest.approx((0.0, 0.0, -0.2), abs=1e-6)
            go_back()


def test_a_clients_id_may_be_numpys(doors):
    assert segtrack.configure(np.int64(doors.client._client)) == 0.001


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_what_is_read_of_a_robot_is_the_readers_own(engine):
    """Masses that are overwritten are not those of the engine."""
    with segtrack.World(engine=engine) as world:
        robot = world.add_vehicle("example_rover", track_model="compliant", position=(0, 0, 3))
        kept = [array.copy() for array in robot.bodies()[:3]]
        for array in (*robot.bodies()[:3], robot.link_poses(), *robot.body_motion()[2:]):
            array[:] = 7.0
        for array, was in zip(robot.bodies(), kept, strict=False):
            np.testing.assert_array_equal(array, was)


def test_a_command_that_is_assigned_is_refused(quinces):
    """Gravity, speeds and angles are set by methods; an attribute of that name would have no effect."""
    with segtrack.World(engine="native") as world:
        robot = world.add_vehicle(Path(demos.__file__).parent / "armed_packbot" / "armed_packbot.yaml")
        quince, batch = quinces
        joint = next(iter(robot.joints.values()))
        for owner in (world, robot, robot.tracks["left"], quince.flippers["front_left"], joint, batch):
            with pytest.raises(AttributeError):
                owner.gravity = 0.0


def test_a_world_whose_client_is_gone_does_not_settle():
    client = BulletClient(pybullet.DIRECT)
    world = segtrack.World(client=client)
    world.add_vehicle("example_rover", position=(0, 0, 1))
    client.disconnect()
    with pytest.raises(DisconnectedError) as raised:
        world.settle()
    assert str(raised.value) == "read the gravity: the physics client is disconnected"
