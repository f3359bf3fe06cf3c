"""Tracks in a user's own MuJoCo program; the native engine, statics and MuJoCo itself say what is right."""

import math
from pathlib import Path

import numpy as np
import pytest
from mujoco_models import KIND, add, attach, detach, detach_all, mujoco, spec_with_floor, take, vehicle_in

import segtrack
from segtrack import terrain
from segtrack.errors import DivergedError, InvalidValueError, NotReadyError, UnknownNameError

GRAVITY = 9.81
ROOT = Path(segtrack.__file__).parent.parent


@pytest.fixture(autouse=True)
def callback_of_nobody():
    """MuJoCo's one control callback, which no test leaves behind."""
    yield
    detach_all()
    mujoco.set_mjcb_control(None)


def state_of(data):
    """Everything that MuJoCo's steps start from."""
    model, size = data.model, mujoco.mj_stateSize(data.model, mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.zeros(size)
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state


def loads_of(robot):
    return sum(track.read_grousers().load.sum() for track in robot.tracks.values())


def yaw_rate(robot, run, seconds=0.8):
    """Mean yaw rate [rad/s], samples less than half a turn apart."""
    yaws = [robot.state.yaw]
    for _ in range(round(seconds / 0.16)):
        run(0.16)
        yaws.append(robot.state.yaw)
    return (np.unwrap(yaws)[-1] - yaws[0]) / (0.16 * (len(yaws) - 1))


def turn(robot, run):
    run(0.4)
    robot.set_belt_speed(left=-0.2, right=0.2)
    run(0.8)
    return yaw_rate(robot, run)


@pytest.mark.parametrize("step", [0.001, 0.004])
@pytest.mark.parametrize("vehicle", ["packbot", "quince"])
def test_it_turns_on_the_spot_as_in_the_native_engine(vehicle, step):
    model, data = vehicle_in(spec_with_floor(step), vehicle, 0.2)
    own = turn(attach(model, data, vehicle), lambda seconds: take(model, data, seconds))
    with segtrack.World(engine="native", time_step=step) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="compliant", position=(0.0, 0.0, 0.2))
        assert own == pytest.approx(turn(robot, world.run), rel=1e-3)


@pytest.mark.parametrize("integrator", ["IMPLICIT", "IMPLICITFAST", "DISCRETE"])
def test_it_turns_alike_with_each_integrator(integrator):
    if not hasattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"):
        pytest.skip("of a newer MuJoCo")
    rates = []
    for chosen in ("EULER", integrator):
        spec = spec_with_floor()
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{chosen}")
        model, data = vehicle_in(spec)
        robot = attach(model, data, "packbot")
        rates.append(turn(robot, lambda seconds, own=(model, data): take(*own, seconds)))
        detach(robot)
    assert rates[0] == pytest.approx(rates[1], rel=1e-3)


def test_it_bears_its_weight_and_is_still():
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    take(model, data, 2.0)
    assert loads_of(robot) == pytest.approx(robot.mass * GRAVITY, rel=1e-9)
    before = np.array(robot.state.position)
    take(model, data, 2.0)
    assert np.abs(np.array(robot.state.position) - before).max() < 1e-9


def test_it_does_not_creep_down_a_slope():
    spec = spec_with_floor()
    spec.option.gravity = [-GRAVITY * math.sin(math.pi / 6), 0.0, -GRAVITY * math.cos(math.pi / 6)]
    vehicle = segtrack.load_vehicle("packbot")
    model, data = vehicle_in(spec, vehicle, 0.09)
    robot = attach(
        model, data, vehicle, terrain=terrain.Plane(friction=0.6 / vehicle.tracks["left"].contact.friction)
    )
    take(model, data, 1.0)
    before = robot.state.position[0]
    take(model, data, 6.0)
    assert abs(robot.state.position[0] - before) < 1e-6


def test_equal_programs_are_equal_to_the_bit():
    runs = []
    for _ in range(2):
        model, data = vehicle_in(spec_with_floor(), "quince", 0.2)
        robot = attach(model, data, "quince")
        robot.set_belt_speed(left=0.3, right=0.1)
        robot.set_flippers(front_left=0.5)
        take(model, data, 0.4)
        runs.append((state_of(data), robot.read_tracks()))
        detach(robot)
    assert np.array_equal(runs[0][0], runs[1][0]) and runs[0][1] == runs[1][1]


def test_the_three_ways_to_take_a_step_are_one():
    ends = []
    for way in ("mj_step", "step1 and step2", "before_step"):
        model, data = vehicle_in(spec_with_floor())
        robot = attach(model, data, "packbot", callback=way != "before_step")
        robot.set_belt_speed(left=0.3, right=0.1)
        for _ in range(100):
            if way == "mj_step":
                mujoco.mj_step(model, data)
                continue
            mujoco.mj_step1(model, data)
            if way == "before_step":
                robot.before_step()
            mujoco.mj_step2(model, data)
        ends.append(state_of(data))
        if way != "before_step":
            detach(robot)
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])


def test_mj_forward_does_not_advance_what_contacts_remember():
    """Trap 6: MuJoCo calls the callback for `mj_forward`, too."""
    ends = []
    for forwards in (0, 3):
        model, data = vehicle_in(spec_with_floor())
        robot = attach(model, data, "packbot")
        robot.set_belt_speed(left=0.3, right=0.1)
        for _ in range(100):
            for _ in range(forwards):
                mujoco.mj_forward(model, data)
            mujoco.mj_step(model, data)
        ends.append((state_of(data)[:20], robot.read_tracks()))
        detach(robot)
    assert np.allclose(ends[0][0], ends[1][0], rtol=0, atol=1e-9)
    for name, track in ends[0][1].items():
        assert track == pytest.approx(ends[1][1][name], rel=1e-6)


def test_a_command_after_mj_forward_counts_in_the_step():
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    take(model, data, 0.4)
    mujoco.mj_forward(model, data)
    robot.set_belt_speed(left=0.3, right=0.3)
    mujoco.mj_step(model, data)
    assert robot.tracks["left"].state.speed > 0.1
    assert robot.tracks["left"].state.force == robot.tracks["left"].spec.drive.stall_force


def test_state_is_that_after_the_step():
    """Trap 4: MuJoCo's `xpos` after `mj_step` are those before it."""
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    robot.set_belt_speed(left=0.5, right=0.5)
    take(model, data, 1.0)
    assert np.array_equal(robot.state.position, data.qpos[:3])
    assert not np.array_equal(data.xpos[robot.model.binding.bodies[0]], data.qpos[:3])


def test_after_a_reset_it_begins_anew():
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    ends = []
    for _ in range(2):
        robot.set_belt_speed(left=0.5, right=0.3)
        take(model, data, 1.0)
        ends.append(state_of(data))
        mujoco.mj_resetData(model, data)
        assert robot.tracks["left"].state.speed == 0.0
    assert np.array_equal(*ends)


def test_save_and_restore_beside_mujocos_state_are_equal_to_the_bit():
    model, data = vehicle_in(spec_with_floor(), "quince", 0.2)
    robot = attach(model, data, "quince")
    robot.set_belt_speed(left=0.3, right=0.1)
    take(model, data, 0.4)
    state, belts = state_of(data), robot.save()
    ends = []
    for _ in range(2):
        robot.set_flippers(rear_left=0.4)
        take(model, data, 0.4)
        ends.append(state_of(data))
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        robot.restore(belts)
    assert np.array_equal(*ends)


def test_ranges_of_flippers_are_in_the_unit_of_the_spec():
    """Trap 1: an MjSpec takes degrees unless it is told otherwise."""
    for degrees in (True, False):
        spec = spec_with_floor()
        spec.compiler.degree = degrees
        model, _ = vehicle_in(spec, "quince")
        flipper = segtrack.load_vehicle("quince").flippers["front_left"]
        assert model.joint("front_left").range == pytest.approx(flipper.limits)


def test_a_body_that_mujoco_takes_for_simple_is_refused():
    """Trap 2: of a simple body's mass matrix MuJoCo stores the diagonal alone."""
    spec = spec_with_floor()
    body = add(spec, "packbot", position=(0, 0, 0.2))
    mass = body.mass
    body.ipos, body.fullinertia, body.inertia = [0, 0, 0], [math.nan] * 6, [0.5, 1.0, 1.2]
    body.simple = True
    model = spec.compile()
    assert body.mass == mass
    with pytest.raises(InvalidValueError) as error:
        attach(model, mujoco.MjData(model), "packbot")
    assert str(error.value) == (
        "body 'body' of the MuJoCo model must be one whose whole mass matrix is stored, got a simple one: "
        "set `simple = False` on the body in its MjSpec"
    )


@pytest.mark.parametrize("islands", [True, False])
@pytest.mark.parametrize("solver", ["NEWTON", "CG"])
def test_mujoco_solves_belts_and_its_own_contacts_together(solver, islands):
    """Trap 3: M' qacc = f', a box on the deck and a loose one included, whatever solves it."""
    spec = spec_with_floor()
    spec.option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    spec.option.tolerance, spec.option.iterations = 1e-14, 1000
    if not islands:
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    for x, height in ((0.0, 0.25), (2.0, 0.1)):
        box = spec.worldbody.add_body(pos=[x, 0, height])
        box.add_freejoint()
        box.add_geom(type=KIND.mjGEOM_BOX, size=[0.05, 0.05, 0.05], mass=5)
    model, data = vehicle_in(spec)
    robot = attach(model, data, "packbot")
    robot.set_belt_speed(left=0.3, right=0.1)
    take(model, data, 1.0)
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    off = full @ data.qacc - data.qfrc_smooth - data.qfrc_constraint
    assert np.abs(off).max() < 1e-3
    assert data.ncon >= 8


def test_a_load_on_the_deck_is_borne_by_the_belts():
    spec = spec_with_floor()
    box = spec.worldbody.add_body(pos=[0.0, 0.0, 0.25])
    box.add_freejoint()
    box.add_geom(type=KIND.mjGEOM_BOX, size=[0.1, 0.1, 0.05], mass=5)
    model, data = vehicle_in(spec)
    robot = attach(model, data, "packbot")
    take(model, data, 3.0)
    assert loads_of(robot) == pytest.approx((robot.mass + 5.0) * GRAVITY, rel=1e-4)


def test_a_rope_that_pulls_is_felt_by_the_belts():
    """Weight and friction of what holds against `xfrc_applied`, by statics."""
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    take(model, data, 1.0)
    data.xfrc_applied[model.body("body").id, :3] = 60.0, 0.0, 80.0
    take(model, data, 1.0)
    readings = [track.read_grousers() for track in robot.tracks.values()]
    pulls = sum(reading.tangential_force.sum(axis=0) for reading in readings)
    assert loads_of(robot) == pytest.approx(robot.mass * GRAVITY - 80.0, rel=1e-6)
    assert pulls[0] == pytest.approx(-60.0, rel=1e-5)
    with segtrack.World(engine="native", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        own = world.add_vehicle("packbot", track_model="compliant", position=(0.0, 0.0, 0.12))
        world.run(1.0)
        own.apply_force((60.0, 0.0, 80.0), own.body_motion().center)
        world.run(1.0)
        for name, track in own.read_tracks().items():
            assert robot.tracks[name].state.force == pytest.approx(track.force, rel=1e-5)
        assert robot.state.pitch == pytest.approx(own.state.pitch, abs=1e-7)


def test_a_rope_at_a_users_arm_is_felt_by_the_belts():
    model, data = armed()
    robot = attach(model, data, "packbot")
    take(model, data, 1.0)
    data.xfrc_applied[model.body("arm").id, :3] = 0.0, 30.0, 50.0
    take(model, data, 1.0)
    readings = [track.read_grousers() for track in robot.tracks.values()]
    assert loads_of(robot) == pytest.approx((robot.mass + 0.5) * GRAVITY - 50.0, rel=1e-4)
    assert sum(each.tangential_force[:, 1].sum() for each in readings) == pytest.approx(-30.0, rel=1e-3)


def test_two_vehicles_of_a_kind_in_one_model():
    spec = spec_with_floor()
    for prefix, y in (("a_", 0.0), ("b_", 2.0)):
        add(spec, "packbot", prefix=prefix, position=(0.0, y, 0.12))
    model = spec.compile()
    data = mujoco.MjData(model)
    one, other = (attach(model, data, "packbot", prefix=prefix) for prefix in ("a_", "b_"))
    one.set_belt_speed(left=0.2, right=0.2)
    take(model, data, 2.0)
    assert one.state.position[0] == pytest.approx(0.35, abs=0.05)
    assert other.state.position == pytest.approx((0.0, 2.0, 0.09), abs=1e-4)
    with pytest.raises(InvalidValueError, match="body of the MuJoCo model must be one without belts"):
        attach(model, data, "packbot", prefix="a_")


def test_a_world_beside_an_attached_vehicle_is_its_own():
    """MuJoCo compiles nothing beside a callback of Python's, and calls it for all models."""
    model, data = vehicle_in(spec_with_floor())
    calls = []
    mujoco.set_mjcb_control(lambda _, given: calls.append(given))
    robot = attach(model, data, "packbot")
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        world.add_vehicle("packbot")
        world.run(0.1)
    assert not calls
    take(model, data, 0.4)
    assert len(calls) == 100 and all(given is data for given in calls)
    assert loads_of(robot) == pytest.approx(robot.mass * GRAVITY, rel=0.01)


def test_a_flippers_servo_stops_at_its_limit():
    """Quince pushes itself up by flippers of a torque that does not suffice, and by one that does."""
    lifted = []
    for factor in (0.2, 1.0):
        model, data = vehicle_in(spec_with_floor(), "quince", 0.2)
        robot = attach(model, data, "quince")
        robot.model.scale_flippers(factor)
        take(model, data, 0.5)
        robot.set_flippers(**dict.fromkeys(robot.flippers, -0.8))
        take(model, data, 2.0)
        most = factor * robot.description.flippers["front_left"].max_torque
        torques = [abs(flipper.state.torque) for flipper in robot.flippers.values()]
        assert max(torques) <= most * (1 + 1e-9)
        lifted.append(robot.flippers["front_left"].state.angle)
        detach(robot)
    assert lifted[1] == pytest.approx(-0.8, abs=1e-4)


def armed():
    """A model with an arm, sensors and a keyframe, and a control callback of its user."""
    spec = spec_with_floor()
    body = add(spec, "packbot", position=(0, 0, 0.12))
    link = body.add_body(name="arm", pos=[0.2, 0, 0.1])
    link.add_joint(name="shoulder", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
    link.add_geom(
        type=KIND.mjGEOM_CAPSULE, size=[0.02, 0.1, 0], pos=[0, 0, 0.12], mass=0.5, contype=0, conaffinity=0
    )
    actuator = spec.add_actuator(name="shoulder", target="shoulder", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.gainprm[0], actuator.biasprm[:3] = 50.0, [0, -50.0, -0.5]
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    spec.add_sensor(
        name="angle",
        type=mujoco.mjtSensor.mjSENS_JOINTPOS,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        objname="shoulder",
    )
    key = spec.add_key(name="home")
    key.qpos = [0, 0, 0.12, 1, 0, 0, 0, 0.7]
    model = spec.compile()
    return model, mujoco.MjData(model)


def test_a_users_arm_sensor_keyframe_and_callback_go_on():
    model, data = armed()
    calls = []

    def command(_, given):
        calls.append(given.time)
        given.ctrl[0] = 0.3

    mujoco.set_mjcb_control(command)
    robot = attach(model, data, "packbot")
    mujoco.mj_resetDataKeyframe(model, data, 0)
    robot.set_belt_speed(left=0.2, right=0.2)
    take(model, data, 2.0)
    assert len(calls) == round(2.0 / model.opt.timestep)
    assert data.sensordata[0] == pytest.approx(0.3, abs=0.05)
    assert loads_of(robot) == pytest.approx((robot.mass + 0.5) * GRAVITY, rel=1e-3)
    assert robot.state.position[0] == pytest.approx(0.4, abs=0.03)
    detach(robot)
    assert mujoco.get_mjcb_control() is command


def option(name, value):
    return lambda spec: setattr(spec.option, name, value)


REFUSED = [
    (
        option("solver", mujoco.mjtSolver.mjSOL_PGS),
        "solver of the MuJoCo model must be CG or Newton, got PGS, which has projected the constraints "
        "before",
    ),
    (
        option("integrator", mujoco.mjtIntegrator.mjINT_RK4),
        "integrator of the MuJoCo model must be Euler, implicit, implicitfast or discrete, got RK4, which "
        "takes four steps where contacts remember one",
    ),
    (
        option("noslip_iterations", 3),
        "noslip_iterations of the MuJoCo model must be 0, got 3, which would take the masses without belts",
    ),
    (
        option("enableflags", int(mujoco.mjtEnableBit.mjENBL_SLEEP)),
        "flag sleep of the MuJoCo model must be disabled, got enabled: a vehicle that sleeps would stand on "
        "nothing",
    ),
    (
        lambda spec: setattr(spec.body("body"), "mass", 30.0),
        "mass of body 'body' of the MuJoCo model [kg] must be 24, as the vehicle file has it, belts "
        "included, got 30",
    ),
    (
        lambda spec: setattr(spec.body("body"), "name", "hull"),
        "no body of the MuJoCo model 'body'; there are: world, hull",
    ),
]


@pytest.mark.parametrize(("spoil", "message"), REFUSED)
def test_what_belts_would_be_wrong_with_is_refused(spoil, message):
    """Trap 8, and a vehicle file that contradicts the model."""
    spec = spec_with_floor()
    add(spec, "packbot", position=(0, 0, 0.12))
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    spoil(spec)
    model = spec.compile()
    with pytest.raises((InvalidValueError, UnknownNameError)) as error:
        attach(model, mujoco.MjData(model), "packbot")
    assert str(error.value) == message


def test_a_body_without_a_free_joint_is_refused():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='body'><geom size='.1' mass='24'/></body></worldbody></mujoco>"
    )
    with pytest.raises(InvalidValueError) as error:
        attach(model, mujoco.MjData(model), "packbot")
    assert str(error.value) == (
        "body 'body' of the MuJoCo model must be one with a free joint, got one without a joint"
    )


def test_a_link_elsewhere_than_in_the_vehicle_file_is_refused():
    spec = spec_with_floor()
    add(spec, "quince")
    spec.body("front_left").pos[0] += 0.05
    model = spec.compile()
    with pytest.raises(InvalidValueError) as error:
        attach(model, mujoco.MjData(model), "quince")
    assert "frame of body 'front_left' of the MuJoCo model, joints at 0 must be at (" in str(error.value)


def test_numbers_that_are_not_finite_are_refused():
    model, data = vehicle_in(spec_with_floor())
    data.qpos[1] = math.nan
    with pytest.raises(InvalidValueError) as error:
        attach(model, data, "packbot")
    assert str(error.value) == "qpos[1] of the MuJoCo data must be a finite number, got nan"


def test_a_state_that_mujoco_resets_by_itself_is_an_error(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log there.
    model, data = vehicle_in(spec_with_floor())
    attach(model, data, "packbot")
    take(model, data, 0.1)
    data.qpos[1] = math.nan
    with pytest.raises(DivergedError, match="MuJoCo has found its state not finite, and reset it"):
        take(model, data, 0.1)


def test_segments_and_chains_are_refused():
    model, data = vehicle_in(spec_with_floor())
    for name in ("segments", "chain"):
        with pytest.raises(InvalidValueError, match=f"engine for track model {name!r} must be "):
            attach(model, data, "packbot", track_model=name)


def test_steps_without_the_belts_are_an_error():
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    take(model, data, 0.1)
    mujoco.set_mjcb_control(None)
    take(model, data, 0.1)
    with pytest.raises(NotReadyError, match="something else took the place of the control callback"):
        robot.set_belt_speed(left=0.1, right=0.1)


def test_a_robot_put_elsewhere_forgets_its_contacts():
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    robot.set_belt_speed(left=0.3, right=0.3)
    take(model, data, 1.0)
    robot.set_belt_speed(left=0.0, right=0.0)
    data.qpos[:3], data.qvel[:] = (5.0, 5.0, 0.1), 0.0
    take(model, data, 2.0)
    assert loads_of(robot) == pytest.approx(robot.mass * GRAVITY, rel=1e-9)
    assert robot.state.position[1] == pytest.approx(5.0, abs=1e-3)


def test_a_conveyor_does_not_stand_on_itself():
    """Trap 10: geoms of a vehicle that is bolted to the world are static."""
    spec = spec_with_floor()
    add(spec, "conveyor", position=(0, 0, 1.0))
    model = spec.compile()
    data = mujoco.MjData(model)
    robot = attach(model, data, "conveyor")
    robot.set_belt_speed(left=0.2, right=0.2)
    take(model, data, 0.5)
    assert loads_of(robot) == 0.0
    (track,) = robot.read_tracks().values()
    assert track.speed == pytest.approx(0.2)


def spoiled(spoil, vehicle="quince"):
    """The error of attaching a vehicle to a model that was changed before it was compiled."""
    spec = spec_with_floor()
    add(spec, vehicle, position=(0, 0, 0.2))
    spoil(spec)
    model = spec.compile()
    with pytest.raises(InvalidValueError) as error:
        attach(model, mujoco.MjData(model), vehicle)
    return str(error.value)


def test_an_actuator_on_a_flipper_is_refused():
    def spoil(spec):
        spec.add_actuator(name="motor", target="front_left", trntype=mujoco.mjtTrn.mjTRN_JOINT)

    assert spoiled(spoil) == (
        "joint 'front_left' of the MuJoCo model must be one that the servo of the vehicle file moves alone, "
        "got one that actuator 'motor' drives, too"
    )


def test_a_flipper_with_a_joint_too_many_is_refused():
    def spoil(spec):
        spec.body("front_left").add_joint(name="wrist", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1, 0, 0])

    assert spoiled(spoil) == (
        "body 'front_left' of the MuJoCo model must be one with a hinge or a slide, got one with others"
    )


def test_a_bolted_vehicle_whose_body_moves_is_refused():
    def spoil(spec):
        spec.body("body").add_freejoint()

    assert spoiled(spoil, "conveyor") == (
        "body 'body' of the MuJoCo model must be fixed to the world, as the vehicle file has it, got one "
        "that moves"
    )


def test_joints_that_follow_others_are_refused():
    spec = spec_with_floor()
    path = ROOT / "urdf" / "absolem" / "differential.yaml"
    add(spec, path, position=(0, 0, 0.5))
    model = spec.compile()
    with pytest.raises(InvalidValueError, match="must be one of its own, got one that follows '"):
        attach(model, mujoco.MjData(model), path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: add(3, "packbot"), "spec must be a mujoco.MjSpec, got 3"),
        (lambda: attach(3, 4, "packbot"), "model must be a compiled mujoco.MjModel, got 3"),
        (lambda: detach(3), "robot must be one that segtrack.mujoco.attach returned, got 3"),
    ],
)
def test_what_is_not_mujocos_is_refused(call, message):
    with pytest.raises(InvalidValueError) as error:
        call()
    assert str(error.value) == message


def test_a_model_without_ground_is_refused():
    model, data = vehicle_in(mujoco.MjSpec())
    with pytest.raises(InvalidValueError) as error:
        attach(model, data, "packbot")
    assert str(error.value) == (
        "terrain for track model 'compliant' must be given, or in the MuJoCo model as static geoms, got none"
    )


def test_before_step_is_for_programs_without_the_callback_and_once_a_step():
    model, data = vehicle_in(spec_with_floor())
    robot = attach(model, data, "packbot")
    with pytest.raises(NotReadyError, match="MuJoCo's control callback does; attach it with callback=False"):
        robot.before_step()
    detach(robot)
    robot = attach(model, data, "packbot", callback=False)
    mujoco.mj_step1(model, data)
    robot.before_step()
    with pytest.raises(NotReadyError, match="no step has been taken since the last one was prepared"):
        robot.before_step()


def test_options_that_change_later_are_refused():
    model, data = vehicle_in(spec_with_floor())
    attach(model, data, "packbot")
    take(model, data, 0.1)
    model.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    with pytest.raises(InvalidValueError, match="must be CG or Newton"):
        take(model, data, 0.1)


def test_data_of_nobody_are_told_once(caplog):
    model, data = vehicle_in(spec_with_floor())
    attach(model, data, "packbot")
    other = mujoco.MjData(model)
    for _ in range(3):
        mujoco.mj_step(model, other)
    assert [record.getMessage() for record in caplog.records] == [
        "segtrack: a vehicle has no belts in MjData that it was not attached to"
    ]


def test_a_body_that_belts_will_pass_through_is_told_and_one_on_the_deck_is_not(caplog):
    spec = spec_with_floor()
    for name, x, height in (("deck", 0.0, 0.25), ("ahead", 1.0, 0.05)):
        box = spec.worldbody.add_body(name=name, pos=[x, 0.0, height])
        box.add_freejoint()
        size = [0.05, 0.05 if name == "deck" else 0.5, 0.05]
        box.add_geom(type=KIND.mjGEOM_BOX, size=size, mass=1)
    model, data = vehicle_in(spec)
    robot = attach(model, data, "packbot")
    take(model, data, 0.5)
    assert not caplog.records
    robot.set_belt_speed(left=0.5, right=0.5)
    take(model, data, 1.5)
    assert [record.getMessage() for record in caplog.records] == [
        "segtrack: body 'ahead' of the MuJoCo model comes near the belts of packbot, which will pass through "
        "it: belts in MuJoCo touch static geoms, and bodies named to add(touches=...)"
    ]
