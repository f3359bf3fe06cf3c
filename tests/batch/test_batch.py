"""Vehicles of a batch: each does to the bit what it does alone in a world, and nothing that others cause."""

import copy
import multiprocessing
import pickle
import signal
import sys

import numpy as np
import pytest
from jointed_vehicles import TRACK, Limb, jointed
from native_vehicles import ROBOTS
from scenes import vary
from tables import each_row

import segtrack
from segtrack import Batch, terrain
from segtrack.envs import EpisodeCourse
from segtrack.envs.task import Path
from segtrack.envs.view import CourseGrounds
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError
from segtrack.experiments import with_drive_lag, with_friction, with_gauge, with_grousers

STEP = 0.004
RAGGED = [[0.1], [0.1, 0.2]]
GROUNDS = (
    terrain.Step(height=0.1, distance=0.5),
    terrain.StepField(max_height=0.1, cell=0.2, rows=8, columns=8, distance=0.3, seed=3),
    terrain.Waves(heights=(0.05, 0.08), lengths=(0.5, 0.7), distance=0.4, width=3.0),
    terrain.Plane(),
)


def drive(driven, k):
    """Commands of one step of a script that all flippers and sides take part in."""
    driven.set_belt_speed(0.3 * np.sin(k), 0.3 * np.cos(2 * k))
    driven.set_flipper_speeds(**dict.fromkeys(driven.flipper_names, 0.3 * np.cos(k)))


class InWorld:
    """A robot in a native world, with a batch's names for what the script needs."""

    def __init__(self, vehicle, ground, time_step=STEP, **given):
        self.world = segtrack.World(engine="native", time_step=time_step)
        self.world.add_terrain(ground)
        self.robot = self.world.add_vehicle(vehicle, **given)
        self.flipper_names = tuple(self.robot.flippers)
        self.set_belt_speed, self.set_flipper_speeds = (
            self.robot.set_belt_speed,
            self.robot.set_flipper_speeds,
        )

    def run(self, seconds):
        self.world.run(seconds)


def scripted(driven, seconds=1.5):
    for k in range(round(seconds / 0.1)):
        drive(driven, k)
        driven.run(0.1)
    return driven


def assert_equal_to_worlds(batch, alone):
    """Each vehicle is where one is that was alone in a world."""
    state, tracks, flippers = batch.state, batch.tracks, batch.flippers
    for i, other in enumerate(alone):
        robot = other.robot
        assert tuple(state.position[i].tolist()) == pytest.approx(robot.state.position, abs=1e-15)
        assert tuple(state.orientation[i].tolist()) == robot.state.orientation
        assert tuple(state.velocity[i].tolist()) == robot.state.velocity
        assert tuple(state.angular_velocity[i].tolist()) == robot.state.angular_velocity
        attitude = robot.state.roll, robot.state.pitch, robot.state.yaw
        assert (state.roll[i], state.pitch[i], state.yaw[i]) == pytest.approx(attitude, abs=1e-12)
        for t, track in enumerate(robot.tracks.values()):
            read = tracks.travel[i, t], tracks.speed[i, t], tracks.force[i, t], tracks.energy[i, t]
            assert read == tuple(track.state)
            assert tracks.ground_speed[i, t] == pytest.approx(track.ground_speed, abs=1e-12)
            assert tracks.slip[i, t] == pytest.approx(track.slip, abs=1e-9)
        for each, own in zip(batch.read_actuators(), robot.read_actuators(), strict=True):
            np.testing.assert_array_equal(each[i], own)
        for j, flipper in enumerate(robot.flippers.values()):
            assert (flippers.position[i, j], flippers.speed[i, j], flippers.force[i, j]) == tuple(
                flipper.state
            )


def test_each_is_equal_to_the_bit_to_one_alone_in_a_world():
    batch = scripted(Batch("quince", terrain=GROUNDS, time_step=STEP))
    assert_equal_to_worlds(batch, [scripted(InWorld("quince", ground)) for ground in GROUNDS])
    assert batch.time == pytest.approx(1.5)
    assert batch.status == ["running"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ROBOTS if "m113" not in name])
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_all_bundled_vehicles_are_equal_to_the_bit_to_ones_alone(name, track_model):
    grounds = GROUNDS[:1] + GROUNDS[2:]
    batch = scripted(Batch(name, terrain=grounds, time_step=0.002, track_model=track_model))
    alone = [InWorld(name, ground, 0.002, track_model=track_model) for ground in grounds]
    assert_equal_to_worlds(batch, list(map(scripted, alone)))


def states_of(batch):
    return [*batch.state, *batch.tracks, *batch.flippers]


@pytest.fixture(scope="module")
def mixed():
    """Nine vehicles on three grounds, of other frictions, drives and bodies, driven by one thread."""
    return scripted(make_mixed(threads=1))


def make_mixed(order=None, **given):
    order = np.arange(9) if order is None else order
    index = np.arange(9) % 3
    batch = Batch("quince", terrain=GROUNDS[:3], terrain_index=index[order], time_step=STEP, **given)
    batch.set_friction((0.3 + 0.05 * np.arange(9))[order])
    batch.scale_drives((0.5 + 0.1 * np.arange(9))[order])
    body = batch.vehicle.body
    batch.set_body(
        mass=(body.mass * (1 + 0.05 * np.arange(9)))[order],
        center_of_mass=np.outer(0.01 * np.arange(9), (1.0, 0.5, 1.0))[order],
    )
    return batch


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(mixed, threads):
    with make_mixed(threads=threads) as batch:
        for one, other in zip(states_of(scripted(batch)), states_of(mixed), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("order", [[4], [8, 2, 5, 0], list(range(8, -1, -1))])
def test_number_and_order_change_nothing(mixed, order):
    batch = scripted(make_mixed(np.array(order)))
    for one, other in zip(states_of(batch), states_of(mixed), strict=True):
        np.testing.assert_array_equal(one, other[order])


def test_variants_are_equal_to_the_bit_to_ones_alone_whatever_their_order():
    quince = segtrack.load_vehicle("quince")
    kinds = quince, with_grousers(quince, 1.5, 0.5), with_drive_lag(with_friction(quince, 0.4), 0.2)
    variant = [2, 0, 1, 1, 0]
    batch = scripted(Batch(kinds, variant=variant, terrain=GROUNDS[0], time_step=STEP))
    assert_equal_to_worlds(batch, [scripted(InWorld(kinds[v], GROUNDS[0])) for v in variant])
    batch.reset([0, 3], variant=[1, 2])
    scripted(batch)
    alone = [scripted(InWorld(kinds[v], GROUNDS[0])) for v in (1, 2)]
    for i, other in zip((0, 3), alone, strict=True):
        assert tuple(batch.state.velocity[i].tolist()) == other.robot.state.velocity


def test_a_reset_leaves_others_alone_and_makes_anew(mixed):
    batch, chosen = scripted(make_mixed()), np.arange(9) % 2 == 0
    batch.reset(chosen, x=0.05, yaw=0.1, flippers={"front_left": 0.4})
    assert (batch.time[chosen] == 0).all() and batch.time[~chosen] == pytest.approx(1.5)
    for one, other in zip(states_of(batch), states_of(mixed), strict=True):
        np.testing.assert_array_equal(one[~chosen], other[~chosen])
    assert batch.flippers.position[chosen, 0] == pytest.approx(0.4)
    fresh = make_mixed()
    fresh.reset(chosen, x=0.05, yaw=0.1, flippers={"front_left": 0.4})
    for one, other in zip(states_of(scripted(batch)), states_of(scripted(fresh)), strict=True):
        np.testing.assert_array_equal(one[chosen], other[chosen])


def test_vehicles_start_just_above_their_ground():
    batch = Batch("quince", 3, terrain=GROUNDS[:2], terrain_index=[0, 1, 1])
    batch.reset(x=[0.5, 1.0, 0.7], y=[0.0, 0.1, -0.3], yaw=[0.0, 0.5, 2.0])
    for i, ground in enumerate((GROUNDS[0], GROUNDS[1], GROUNDS[1])):
        world = segtrack.World(engine="native")
        world.add_terrain(ground)
        robot = world.add_vehicle("quince")
        x, y, yaw = batch.state.position[i, 0], batch.state.position[i, 1], batch.state.yaw[i]
        world.place_on_terrain(robot, x, y, yaw)
        assert batch.state.position[i] == pytest.approx(robot.state.position, abs=1e-12)


def test_save_act_restore_act_and_copies_are_equal_to_the_bit(mixed):
    batch = scripted(make_mixed(), 0.7)
    saved, copies = batch.save(), [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    first = states_of(scripted(batch, 0.5))
    batch.reset()
    batch.set_friction(1.0)
    batch.restore(saved)
    assert batch.time == pytest.approx(0.7)
    for other in (batch, *copies):
        for one, again in zip(first, states_of(scripted(other, 0.5)), strict=True):
            np.testing.assert_array_equal(one, again)


def test_a_ground_of_its_own_is_given_at_a_reset_and_saved_with_the_batch():
    batch, ground = scripted(Batch("quince", 3, terrain=GROUNDS[3], time_step=STEP), 0.3), GROUNDS[1]
    batch.reset([2, 0], terrain=[ground, GROUNDS[0]], x=[0.0, 0.1])
    assert [batch.terrains[i] for i in batch.terrain_index] == [GROUNDS[0], GROUNDS[3], ground]
    np.testing.assert_array_equal(
        batch.height(*np.full((2, 3, 1), 0.6))[:, 0], [0.1, 0.0, ground.height_at(0.6, 0.6)]
    )
    saved = batch.save()
    scripted(batch)
    alone = scripted(InWorld("quince", ground)).robot
    assert tuple(batch.state.velocity[2].tolist()) == alone.state.velocity
    read, own = alone.tracks["left"].read_grousers(), batch.read_contacts([2])
    np.testing.assert_array_equal(own.normal_force[own.track == 0], read.normal_force)
    first = states_of(batch)
    # A ground that is equal is the same one; others take the place of what was there.
    batch.reset([0], terrain=[terrain.Step(height=0.1, distance=0.5)])
    assert batch.terrains[batch.terrain_index[0]] is GROUNDS[0]
    batch.reset(terrain=[GROUNDS[2]] * 3)
    batch.reset([1], terrain_index=0)
    assert [batch.terrains[i] for i in batch.terrain_index] == [GROUNDS[2], GROUNDS[3], GROUNDS[2]]
    batch.restore(saved)
    for one, again in zip(first, states_of(scripted(batch)), strict=True):
        np.testing.assert_array_equal(one, again)
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        other.restore(saved)
        for one, again in zip(first, states_of(scripted(other)), strict=True):
            np.testing.assert_array_equal(one, again)


def test_a_snapshot_of_another_batch_is_refused_before_anything_changes(mixed):
    quince = segtrack.load_vehicle("quince")
    others = [
        Batch("packbot", 9, time_step=STEP),
        Batch(with_grousers(quince, 1.5, 0.5), terrain=GROUNDS[:3], terrain_index=[0] * 9, time_step=STEP),
        Batch("quince", terrain=GROUNDS[:2], terrain_index=[0] * 9, time_step=STEP),
        Batch("quince", terrain=GROUNDS[:3], terrain_index=[0] * 9, time_step=0.002),
        Batch("quince", terrain=GROUNDS[:3], terrain_index=[0] * 8, time_step=STEP),
    ]
    batch = make_mixed()
    before = states_of(batch)
    for saved in (*(other.save() for other in others), None):
        with pytest.raises(InvalidValueError, match=r"snapshot must be one of a batch|must be the 9 of its"):
            batch.restore(saved)
    for one, other in zip(states_of(batch), before, strict=True):
        np.testing.assert_array_equal(one, other)
    alike = make_mixed()
    alike.restore(scripted(batch, 0.3).save())
    np.testing.assert_array_equal(alike.state.position, batch.state.position)


def test_variants_have_limits_and_gauges_of_their_own():
    """Angles are clipped to each one's limits; wide ones turn, slip and are driven as in a world."""
    quince = segtrack.load_vehicle("quince")
    narrow = {name: f.model_copy(update={"limits": (-0.2, 0.2)}) for name, f in quince.flippers.items()}
    kinds = quince, quince.model_copy(update={"flippers": narrow}), with_gauge(quince, 1.2)
    for order in ([0, 1, 2], [2, 1, 0]):
        variants = [kinds[i] for i in order]
        batch = Batch(variants, variant=[0, 1, 2], time_step=STEP)
        batch.reset(flippers={"front_left": 0.8})
        batch.set_flippers(front_right=0.7)
        batch.drive(0.0, 0.5)
        batch.run(1.5)
        for i, kind in enumerate(variants):
            world = segtrack.World(engine="native", time_step=STEP)
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(kind, flippers={"front_left": 0.8})
            robot.set_flippers(front_right=0.7)
            robot.drive(0.0, 0.5)
            world.run(1.5)
            assert batch.state.velocity[i] == pytest.approx(robot.state.velocity, abs=1e-10)
            slips = [track.slip for track in robot.tracks.values()]
            assert batch.tracks.slip[i] == pytest.approx(slips, abs=1e-9)


def test_throttles_and_brakes_are_those_of_a_world_and_last_until_a_speed_is_commanded():
    """Other ones on each side, of drives with a table of torques; then by both commands of speeds."""
    table = {"radius": 0.1, "rows": ((0.0, 10.0), (5.0, 10.0), (15.0, 4.0)), "gears": (2.0,)}
    drive = {"max_force": None, "max_speed": 0.7, "torque_table": table, "max_brake": 400.0}
    vehicle, pedals = vary("packbot", drive=drive), [(0.1, 0.3, 0.0, 0.1), (-0.2, 0.05, 0.02, 0.0)]
    ends = (lambda d: d.set_belt_speed(0.3, 0.1), lambda d: d.set_track_speeds([0.3, 0.1]))
    for end in ends:
        batch = Batch(vehicle, 2, time_step=STEP)
        left, right, left_brake, right_brake = np.transpose(pedals)
        batch.set_throttle(left, right, left_brake=left_brake, right_brake=right_brake)
        batch.run(0.4)
        driven = batch.state.velocity
        end(batch)
        batch.run(0.8)
        for i, (throttle, other, brake, other_brake) in enumerate(pedals):
            alone = InWorld(vehicle, GROUNDS[3])
            alone.robot.set_throttle(throttle, other, left_brake=brake, right_brake=other_brake)
            alone.run(0.4)
            assert tuple(driven[i].tolist()) == alone.robot.state.velocity
            alone.set_belt_speed(0.3, 0.1)
            alone.run(0.8)
            assert tuple(batch.state.velocity[i].tolist()) == alone.robot.state.velocity
        assert batch.tracks.speed == pytest.approx(np.tile((0.3, 0.1), (2, 1)), abs=0.01)


def test_what_is_beyond_limits_is_clipped_as_in_a_world():
    """To the bit, to the numbers of the file, which kernels round."""
    quince = vary("quince", drive={"max_speed": 0.3})
    flippers = {
        name: flipper.model_copy(update={"max_speed": 0.7}) for name, flipper in quince.flippers.items()
    }
    quince = quince.model_copy(update={"flippers": flippers})
    start = {"front_left": 9.0, "rear_right": -9.0}
    alone = InWorld(quince, terrain.Plane(), flippers=start).robot
    batch = Batch(quince, 1, time_step=STEP)
    batch.reset(flippers=start)
    for command, beyond in (
        ("set_belt_speed", {"left": 9.0, "right": -9.0}),
        ("set_flippers", {"front_right": 9.0, "rear_left": -9.0}),
        ("set_flipper_speeds", {"front_left": -9.0, "rear_right": 9.0}),
    ):
        for driven in (alone, batch):
            getattr(driven, command)(**beyond)
        for name in ("commands", "joint_commands", "joint_angles"):
            ours, theirs = (getattr(each, name)[0] for each in (batch.device_arrays, alone.model.state))
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{name} after {command}")


def test_joints_beside_flippers_have_their_own_limits(tmp_path):
    """An arm that goes further than its vehicle's flipper, and one that goes less far."""
    limbs = (
        Limb("arm", xyz=(0, 0, 0.3), limits=(-0.1, 2.5)),
        Limb("hand", xyz=(0, 0.1, 0.3), limits=(-2.0, 0.2)),
    )
    flipper = TRACK["path"] | {
        "pulleys": [{"x": 0, "z": 0, "radius": 0.08}, {"x": 0.2, "z": 0, "radius": 0.05}]
    }
    fin = {
        "mount": {"parent": "base", "xyz": [0.2, 0.3, 0.0]},
        "tip_direction": "front",
        "mass": 1.0,
        "size": [0.2, 0.02, 0.1],
        "limits": [-0.5, 0.7],
        "max_torque": 60.0,
        "max_speed": 2.0,
        "tracks": {"belt": {k: v for k, v in TRACK.items() if k != "mount"} | {"path": flipper}},
    }
    servos = {"arm": {"servo": {}}, "hand": {"servo": {}}}
    vehicle = segtrack.load_vehicle(jointed(tmp_path, limbs, servos, flippers={"fin": fin}))
    batch = Batch(vehicle, 2, time_step=STEP)
    batch.set_joints(arm=[9.0, -9.0], hand=[9.0, -9.0])
    batch.set_flippers(fin=[9.0, -9.0])
    batch.run(2.5)
    for i, aimed in enumerate((9.0, -9.0)):
        alone = InWorld(vehicle, GROUNDS[3])
        alone.robot.set_flippers(fin=max(min(aimed, 0.7), -0.5))
        for joint in alone.robot.joints.values():
            joint.set_position(aimed)
        alone.run(2.5)
        joints = [joint.position for joint in alone.robot.joints.values()]
        assert batch.joints.position[i].tolist() == pytest.approx(joints, abs=1e-12)
    assert batch.joints.position == pytest.approx(np.array([[2.5, 0.2], [-0.1, -2.0]]), abs=0.02)


def test_vehicles_that_differ_in_their_second_flipper_alone_are_placed_as_in_a_world():
    """Raised, lowered and level: of each the height is its own."""
    angles = [0.0, -1.2, 0.9]
    batch = Batch("quince", 3, time_step=STEP)
    batch.reset(flippers={"front_right": angles})
    heights = batch.state.position[:, 2]
    for i, angle in enumerate(angles):
        alone = InWorld("quince", GROUNDS[3], flippers={"front_right": angle})
        assert heights[i] == pytest.approx(alone.robot.state.position[2], abs=1e-12)
    assert heights[1] > heights[0] + 0.05


def test_vehicles_start_above_what_is_below_them_wherever_they_look():
    """Its front flippers up, Quince reaches over what lies 0.45 m to its left with its tail alone."""
    beside = terrain.Boxes(boxes=(terrain.GroundBox(x=0.0, y=0.6, length=2.0, width=1.0, height=0.1),))
    flippers, yaws = {"front_left": 1.5, "front_right": 1.5}, [np.pi / 2, -np.pi / 2]
    batch = Batch("quince", 2, terrain=beside, time_step=STEP)
    batch.reset(y=-0.35, yaw=yaws, flippers=flippers)
    alone, heights = InWorld("quince", beside, flippers=flippers), []
    for yaw in yaws:
        alone.world.place_on_terrain(alone.robot, 0.0, -0.35, yaw)
        heights.append(alone.robot.state.position[2])
    assert batch.state.position[:, 2] == pytest.approx(heights, abs=1e-9)
    assert heights[1] - heights[0] == pytest.approx(0.1)


def test_start_poses_and_joints_are_those_of_a_world(tmp_path):
    """Heights are sums in another order."""
    limbs = (
        Limb("arm", xyz=(0.1, 0.0, 0.2)),
        Limb(
            "finger",
            parent="arm_link",
            xyz=(0.3, 0.0, 0.0),
            mimic='joint="arm" multiplier="-0.7" offset="0.1"',
        ),
    )
    vehicle = segtrack.load_vehicle(jointed(tmp_path, limbs, {"arm": {"initial_position": 0.3, "servo": {}}}))
    places = np.random.default_rng(0).uniform((-0.2, -0.2, -3.0), (0.2, 0.2, 3.0), (12, 3))
    batch = Batch(vehicle, 12, time_step=STEP)
    batch.reset(x=places[:, 0], y=places[:, 1], yaw=places[:, 2])
    batch.set_joints(arm=0.5)
    batch.set_belt_speed(0.2, 0.1)
    batch.run(0.4)
    world = segtrack.World(engine="native", time_step=STEP)
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle)
    saved = world.save()
    for i, place in enumerate(places.tolist()):
        world.restore(saved)
        world.place_on_terrain(robot, *place)
        robot.joints["arm"].set_position(0.5)
        robot.set_belt_speed(0.2, 0.1)
        world.run(0.4)
        joints = [joint.position for joint in robot.joints.values()]
        assert batch.joints.position[i].tolist() == pytest.approx(joints, abs=1e-12)
        assert batch.state.orientation[i] == pytest.approx(robot.state.orientation, abs=1e-12)
        assert batch.state.velocity[i] == pytest.approx(robot.state.velocity, abs=1e-12)


def _run_in_fork(batch, queue):
    batch.run(0.1)
    queue.put(batch.state.position)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own():
    batch = make_mixed(threads=2)
    batch.run(0.1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_run_in_fork, args=(batch, queue), daemon=True)
    process.start()
    there = queue.get(timeout=60)
    process.join()
    batch.run(0.1)
    np.testing.assert_array_equal(there, batch.state.position)


def test_one_that_diverges_stops_and_the_others_go_on(mixed):
    batch = make_mixed()
    batch.apply_force(np.outer(np.arange(9) == 4, (0.0, 0.0, 1e9)), (0.0, 0.0, 0.0))
    scripted(batch)
    others = np.arange(9) != 4
    assert batch.status == ["diverged" if i == 4 else "running" for i in range(9)]
    assert batch.reasons[4].startswith("its body at ") and [i for i in range(9) if batch.reasons[i]] == [4]
    assert batch.running.tolist() == others.tolist()
    assert batch.time[4] < 0.01 < 1.4 < batch.time[others].min()
    for one, other in zip(states_of(batch), states_of(mixed), strict=True):
        np.testing.assert_array_equal(one[others], other[others])
    batch.apply_force((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    batch.reset([4])
    assert batch.running.all()
    scripted(batch, 0.3)
    again = make_mixed(np.array([4]))
    again.reset()
    scripted(again, 0.3)
    np.testing.assert_array_equal(batch.state.position[4], again.state.position[0])


def test_one_among_more_than_can_be_listed_is_crowded_and_the_others_go_on(mixed):
    slats = [terrain.GroundBox(x=0.5, y=0, length=0.4, width=2, height=0.01 + 1e-4 * k) for k in range(70)]
    heap, chosen = terrain.Boxes(boxes=tuple(slats)), np.array([0, 1, 2, 0])
    batch = Batch("quince", terrain=(*GROUNDS[:2], heap), terrain_index=chosen, time_step=STEP)
    batch.reset(x=[0.0, 0.0, 0.5, 0.0])
    scripted(batch)
    assert batch.status == ["running", "running", "crowded", "running"]
    alone = [scripted(InWorld("quince", ground)) for ground in GROUNDS[:2]]
    for i, other in zip((0, 1, 3), (*alone, alone[0]), strict=True):
        assert tuple(batch.state.velocity[i].tolist()) == other.robot.state.velocity


def test_many_slats_are_met_once_there_is_room():
    """More than at first are near a part: all vehicles get more room, and do what they do alone."""
    slats = [terrain.GroundBox(x=0.3, y=0, length=0.4, width=2, height=0.01 + 1e-4 * k) for k in range(30)]
    heap = terrain.Boxes(boxes=tuple(slats))
    batch = scripted(Batch("quince", terrain=[heap, GROUNDS[0]], time_step=STEP))
    assert_equal_to_worlds(batch, [scripted(InWorld("quince", ground)) for ground in (heap, GROUNDS[0])])


def test_bodies_weigh_and_balance_as_they_are_told():
    """At rest the ground carries the weight, under the centre of mass."""
    batch = Batch("packbot", 3, time_step=STEP)
    body, whole = batch.vehicle.body, segtrack.World(engine="native").add_vehicle("packbot").mass
    masses, shift = (
        body.mass * np.array([1.0, 1.4, 0.8]),
        np.array([[0, 0, 0], [0.05, 0, 0], [0.02, 0.04, 0.1]]),
    )
    batch.set_body(mass=masses, center_of_mass=body.center_of_mass + shift)
    before = batch.state.position
    batch.run(3.0)
    contacts, weights = batch.read_contacts(), (whole - body.mass + masses) * 9.81
    for i in range(3):
        own = contacts.vehicle == i
        assert contacts.normal_force[own].sum() == pytest.approx(weights[i], rel=1e-6)
        center = (
            contacts.normal_force[own] @ (contacts.point[own, :2] - batch.state.position[i, :2]) / weights[i]
        )
        moved = center * weights[i] - (masses * 9.81)[i] * (np.array(body.center_of_mass) + shift[i])[:2]
        if i == 0:
            rest = moved
        assert moved == pytest.approx(rest, abs=2e-3 * weights[i] * 0.05)
    assert before[:, 0] == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_body_that_is_balanced_otherwise_moves_on_as_before():
    batch = scripted(Batch("quince", terrain=GROUNDS[0], count=2, time_step=STEP), 0.5)
    batch.set_flippers(front_left=0.0)
    before, touching = batch.state, batch.read_contacts([1])
    arm = np.array([0.03, -0.02, 0.05])
    batch.set_body([1], mass=30.0, center_of_mass=arm)
    after, touches = batch.state, batch.read_contacts([1])
    assert len(touching.point) > 3
    np.testing.assert_allclose(touches.point, touching.point, rtol=0, atol=1e-12)
    np.testing.assert_allclose(touches.slip_velocity, touching.slip_velocity, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(after.position[0], before.position[0])
    assert after.position[1] == pytest.approx(before.position[1], abs=1e-14)
    turned = np.cross(after.angular_velocity[1], after.velocity[1] - before.velocity[1])
    assert after.angular_velocity[1] == pytest.approx(before.angular_velocity[1])
    assert after.velocity[1] @ after.angular_velocity[1] == pytest.approx(
        before.velocity[1] @ before.angular_velocity[1]
    )
    assert np.isfinite(turned).all()


def test_a_body_as_in_the_file_changes_nothing():
    batch, other = (Batch("quince", terrain=GROUNDS[0], count=1, time_step=STEP) for _ in range(2))
    batch.set_body()
    scripted(batch), scripted(other)
    np.testing.assert_allclose(batch.state.position, other.state.position, rtol=0, atol=1e-9)


def test_contacts_are_those_of_a_world():
    batch = scripted(Batch("quince", terrain=GROUNDS[:2], time_step=STEP))
    contacts = batch.read_contacts([1])
    robot = scripted(InWorld("quince", GROUNDS[1])).robot
    for t, track in enumerate(robot.tracks.values()):
        read, own = track.read_grousers(), contacts.track == t
        np.testing.assert_array_equal(contacts.normal_force[own], read.normal_force)
        np.testing.assert_array_equal(contacts.point[own], read.points)
        np.testing.assert_array_equal(contacts.tangential_force[own], read.tangential_force)
    assert (contacts.vehicle == 1).all()
    before = states_of(batch)
    batch.read_contacts()
    for one, other in zip(states_of(batch), before, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("own", [None, [GROUNDS[2]]])
def test_a_refused_reset_leaves_grounds_as_they_were(own):
    """Those of the library, and those that vehicles were given."""
    batch, twin = (Batch("quince", 2, terrain=GROUNDS[0], time_step=STEP) for _ in range(2))
    island = terrain.Heightfield(heights=np.zeros((3, 3)), spacing=0.1, center=(50.0, 0.0))
    for each in (batch, twin):
        each.reset([1], terrain=own)
    for given in ({"terrain": [island]}, {"terrain": [GROUNDS[3]], "flippers": {"nose": 0.1}}):
        with pytest.raises((InvalidValueError, UnknownNameError)):
            batch.reset([1], **given)
    for one, other in zip(states_of(scripted(batch)), states_of(scripted(twin)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_contacts_are_read_after_a_restore_to_ground_with_more_solids():
    slats = [terrain.GroundBox(x=0.3, y=0, length=0.4, width=2, height=0.01 + 1e-4 * k) for k in range(30)]
    batch = Batch("quince", 1, time_step=STEP)
    batch.reset(terrain=[terrain.Boxes(boxes=tuple(slats))])
    batch.run(0.4)
    saved, load = batch.save(), batch.read_contacts().normal_force.sum()
    batch.reset(terrain=[terrain.Plane()])
    batch.read_contacts()
    batch.restore(saved)
    assert batch.read_contacts().normal_force.sum() == load > 0


def test_heights_are_each_vehicles_own():
    batch = Batch("quince", terrain=GROUNDS, time_step=STEP)
    x = np.linspace(0.0, 1.5, 7) + np.arange(4)[:, None] * 0.01
    heights = batch.height(x, 0 * x)
    for i, ground in enumerate(GROUNDS):
        np.testing.assert_array_equal(heights[i], ground.height_at(x[i], 0 * x[i]))


def test_heights_of_cells_turn_and_move_with_each_vehicle():
    """As those of single environments, to the bit, in however many threads."""
    rng = np.random.default_rng(2)
    places, headings = rng.uniform(-1, 1, (300, 2)), rng.uniform(-4, 4, 300)
    index, cells = rng.integers(4, size=300), rng.uniform(-1, 1, (5, 8, 2))
    given = {"terrain": GROUNDS, "terrain_index": index, "time_step": STEP}
    batches = [Batch("quince", threads=threads, **given) for threads in (1, 3)]
    one, other = (batch.cell_heights(places, headings, cells) for batch in batches)
    np.testing.assert_array_equal(one, other)
    path = Path(np.array([[0.0, 0.0], [1.0, 0.0]]))
    courses = CourseGrounds([EpisodeCourse(GROUNDS[k], path) for k in index.tolist()])
    np.testing.assert_array_equal(one, courses.cell_heights(places, headings, cells, np.arange(300)))
    some = [7, 2]
    found = batches[1].cell_heights(places[some], headings[some], cells, some)
    np.testing.assert_array_equal(found, one[some])
    assert batches[1].cell_heights(places[:0], headings[:0], cells, []).shape == (0, 5)


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupts_wait_until_all_have_taken_the_same_steps(mixed, monkeypatch, threads):
    """However many come, and wherever."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # Workers of tests ignore it.
    batch = make_mixed(threads=threads)
    take, look = batch._fleet._take_steps, batch._fleet._stop_failed_vehicles

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        take(*given)
        signal.raise_signal(signal.SIGINT)

    def looked(count):
        signal.raise_signal(signal.SIGINT)
        look(count)

    monkeypatch.setattr(batch._fleet, "_take_steps", interrupted)
    monkeypatch.setattr(batch._fleet, "_stop_failed_vehicles", looked)
    for k in range(3):
        drive(batch, k)
        with pytest.raises(KeyboardInterrupt):
            batch.run(0.1)
    assert batch.time == pytest.approx(0.3)
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
    monkeypatch.undo()
    for k in range(3, 15):
        drive(batch, k)
        batch.run(0.1)
    for one, other in zip(states_of(batch), states_of(mixed), strict=True):
        np.testing.assert_array_equal(one, other)


@each_row(
    "call, message",
    [
        (
            lambda b: b.set_belt_speed([0.1, np.nan], 0.1),
            "left belt speed [m/s] of vehicle 1 must be finite",
        ),
        (lambda b: b.set_belt_speed([0.1] * 3, 0.1), "must be numbers of shape (), or (2,)"),
        (
            lambda b: b.set_belt_speed([0.1], 0.1),
            "must be numbers of shape (), or (2,) for each vehicle, got [0.1]",
        ),
        (
            lambda b: b.set_friction([0.5]),
            "friction must be numbers of shape (), or (2,) for each vehicle, got [0.5]",
        ),
        (
            lambda b: b.set_friction([[0.5], [0.5]]),
            "friction must be numbers of shape (6,), or (2, 6) for each",
        ),
        (
            lambda b: b.apply_force(5.0, (0, 0, 0)),
            "force [N] must be numbers of shape (3,), or (2, 3) for each",
        ),
        (lambda b: b.reset([0, 1], x=[0.5]), "x [m] must be numbers of shape (), or (2,) for each"),
        (lambda b: b.set_flippers(nose=0.1), "no flipper of quince 'nose'"),
        (lambda b: b.reset(terrain=GROUNDS[0]), "terrain must be 2, one for each vehicle that is reset"),
        (lambda b: b.reset([0], terrain=GROUNDS[:1], terrain_index=0), "terrain_index must be left out"),
        (lambda b: b.reset([0], terrain=["step"]), "terrain must be one of segtrack.terrain, got 'step'"),
        (lambda b: b.reset(terrain=5), "terrain must be one of segtrack.terrain, got 5"),
        (lambda b: b.set_friction(RAGGED), "friction must be numbers of shape (6,), or (2, 6)"),
        (lambda b: b.set_friction([0.5, -0.1]), "friction of vehicle 1 must be at least 0, got -0.1"),
        (lambda b: b.scale_drives(0.0), "drive force factor of vehicle 0 must be greater than 0"),
        (lambda b: b.set_body(mass=0.0), "mass of the body of vehicle 0"),
        (lambda b: b.set_body(inertia=np.diag([1.0, 1.0, 3.0])), "no principal moment above the sum"),
        (lambda b: b.reset([2]), "vehicles must be a mask (2,), or indices from 0 to 1"),
        (lambda b: b.reset([True, False, True]), "vehicles must be a mask"),
        (
            lambda b: b.reset(terrain_index=[0, 1]),
            "terrain_index of vehicle 1 must be a whole number from 0 to 0, got 1.0",
        ),
        (lambda b: b.run(-1.0), "seconds must be at least 0"),
        (lambda b: b.advance(1.5), "steps must be a whole number"),
        (lambda b: b.height(np.zeros(3), np.zeros(3)), "points [m] must be x and y of one shape (2, ...)"),
        (lambda b: b.height(RAGGED, RAGGED), "points [m] must be numbers of shape (2, ...), got ([[0.1], ["),
        (
            lambda b: b.cell_heights(np.zeros((2, 3)), np.zeros(2), np.zeros((1, 1, 2))),
            "places [m] must be numbers of shape (2, 2), got shape (2, 3)",
        ),
        (
            lambda b: b.cell_heights(np.zeros((2, 2)), np.zeros(2), [[0.1, 0.2]]),
            "cells [m] must be numbers of shape (any, any, 2), got [[0.1, 0.2]]",
        ),
        (
            lambda b: b.cell_heights(np.zeros((2, 2)), np.zeros(2), np.zeros((4, 0, 2))),
            "cells [m] must be of a point or more each, got shape (4, 0, 2)",
        ),
        (lambda b: b.set_joints(arm=0.1), "no moving joint of quince 'arm'"),
    ],
)
def test_mistakes_are_named_and_change_nothing(call, message):
    batch = Batch("quince", 2, time_step=STEP)
    before = batch.save().fleet
    with pytest.raises((InvalidValueError, UnknownNameError, NotReadyError)) as error:
        call(batch)
    assert message in str(error.value)
    for one, other in zip(_arrays(before), _arrays(batch.save().fleet), strict=True):
        np.testing.assert_array_equal(one, other)


def _arrays(saved):
    return (*saved.state, *saved.own, saved.indices)


@each_row(
    "given, message",
    [
        ({}, "number of vehicles must be given by count"),
        ({"count": 2, "terrain": GROUNDS}, "got 2 of count, 4 of terrain"),
        ({"count": 0}, "count must be a whole number from 1"),
        ({"count": 1, "track_model": "chain"}, "no track model of a batch 'chain'"),
        ({"count": 1, "terrain": [3]}, "terrain must be one of segtrack.terrain"),
        ({"count": 1, "terrain": 5}, "terrain must be one of segtrack.terrain, got 5"),
        ({"count": 2, "terrain": "flat"}, "terrain must be one of segtrack.terrain, got 'flat'"),
        ({"count": 2, "terrain": np.zeros(2)}, "terrain must be one of segtrack.terrain"),
        ({"terrain_index": RAGGED}, "terrain_index must be numbers of shape (), or (2,) for each vehicle"),
        ({"variant": RAGGED}, "variant must be numbers of shape (), or (2,) for each vehicle"),
        ({"count": [2]}, "count must be a whole number from 1, got [2]"),
        ({"count": 1, "threads": 0}, "threads must be a whole number from 1"),
        ({"count": 1, "preset": "coarse"}, "no preset of the engine native 'coarse'"),
        ({"count": 1, "time_step": 0.02}, "time_step [s] must be at most 0.01"),
    ],
)
def test_batches_that_cannot_be_are_refused(given, message):
    with pytest.raises((InvalidValueError, UnknownNameError)) as error:
        Batch("quince", **given)
    assert message in str(error.value)


def test_variants_of_other_tracks_are_refused():
    with pytest.raises(InvalidValueError, match="with the flippers, joints and tracks of quince"):
        Batch([segtrack.load_vehicle("quince"), segtrack.load_vehicle("packbot")], variant=[0, 1])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda b, of: b.set_friction([0.5, -1.0], of), "friction of vehicle 3 must be at least 0, got -1.0"),
        (
            lambda b, of: b.scale_drives([1.0, 0.0], of),
            "drive force factor of vehicle 3 must be greater than 0, got 0.0",
        ),
        (
            lambda b, of: b.set_body(vehicles=of, mass=[5.0, np.nan]),
            "mass [kg] of vehicle 3 must be finite, got nan",
        ),
        (lambda b, of: b.reset(of, x=[0.0, np.inf]), "x [m] of vehicle 3 must be finite, got inf"),
        (
            lambda b, of: b.reset(of, variant=[0, 1]),
            "variant of vehicle 3 must be a whole number from 0 to 0, got 1.0",
        ),
    ],
)
def test_a_refusal_names_the_vehicle_by_its_index_in_the_batch(call, told):
    with segtrack.Batch("packbot", 4) as batch, pytest.raises(InvalidValueError) as error:
        call(batch, np.array([1, 3]))
    assert str(error.value) == told
