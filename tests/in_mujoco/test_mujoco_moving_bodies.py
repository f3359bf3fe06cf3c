"""Belts on bodies that move in MuJoCo; statics, momentum and the native engine say what is right."""

import math

import numpy as np
import pytest
from mujoco_models import KIND, add, attach, detach_all, mujoco, spec_with_floor, take

import segtrack
from segtrack import terrain
from segtrack.errors import InvalidValueError

GRAVITY = 9.81
PLANK = (0.15, 0.5, 0.0125)


@pytest.fixture(autouse=True)
def callback_of_nobody():
    """MuJoCo's one control callback, which no test leaves behind."""
    yield
    detach_all()
    mujoco.set_mjcb_control(None)


def add_box(spec, half, mass, position, name="box", friction=1.0, priority=0):
    """A loose box."""
    body = spec.worldbody.add_body(name=name, pos=position)
    body.add_freejoint()
    body.add_geom(
        type=KIND.mjGEOM_BOX, size=half, mass=mass, friction=[friction, 0.005, 0.0001], priority=priority
    )


def with_box(step, half, mass, position, vehicle="packbot", height=0.12, spec=None, **given):
    """A vehicle whose belts touch a loose box: model, data, robot."""
    spec = spec_with_floor(step) if spec is None else spec
    add_box(spec, half, mass, position, **given)
    add(spec, vehicle, position=(0.0, 0.0, height), touches=["box"])
    model = spec.compile()
    data = mujoco.MjData(model)
    return model, data, attach(model, data, vehicle)


def dofs_of_box(model):
    return int(model.jnt_dofadr[model.body("box").jntadr[0]])


def over_plank(step, mass):
    """PackBot over a loose plank of 25 mm: its pitches [deg], the plank's way [m], the robot's end [m]."""
    model, data, robot = with_box(step, PLANK, mass, (0.7, 0.0, PLANK[2]))
    take(model, data, 0.3)
    robot.set_belt_speed(left=0.2, right=0.2)
    pitches, ways = [], []
    for _ in range(round(7.0 / 0.02)):
        take(model, data, 0.02)
        pitches.append(math.degrees(robot.state.pitch))
        ways.append(data.body("box").xpos[0] - 0.7)
    return np.array(pitches), max(map(abs, ways)), robot.state.position[0]


@pytest.mark.parametrize(
    "step", [0.004, *(pytest.param(step, marks=pytest.mark.slow) for step in (0.002, 0.001))]
)
def test_a_light_plank_is_driven_over_and_not_pushed(step):
    pitches, way, end = over_plank(step, 3.0)
    assert pitches.min() < -3.0
    assert pitches.max() > 3.0
    assert way < 0.03
    assert 1.39 < end < 1.42


def test_a_heavy_plank_is_as_a_fixed_one_in_the_native_engine():
    """Pitch within 0.05 deg rms, at 4 ms."""
    pitches, way, end = over_plank(0.004, 1000.0)
    with segtrack.World(engine="native", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        box = segtrack.geometry.Box(tuple(2 * half for half in PLANK), (0.7, 0.0, PLANK[2]))
        world.add_terrain(terrain.StaticBody(parts=(box,), friction=1.0))
        robot = world.add_vehicle("packbot", position=(0.0, 0.0, 0.12))
        world.run(0.3)
        robot.set_belt_speed(left=0.2, right=0.2)
        native = []
        for _ in range(round(7.0 / 0.02)):
            world.run(0.02)
            native.append(math.degrees(robot.state.pitch))
        assert end == pytest.approx(robot.state.position[0], abs=2e-3)
    assert np.sqrt(np.mean((pitches - native) ** 2)) < 0.05
    assert way < 1e-3


def momentum(model, data):
    """Linear and angular momentum about the origin, of all bodies."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    mujoco.mj_subtreeVel(model, data)
    linear = data.subtree_linvel[0] * model.body_subtreemass[0]
    return linear.copy(), data.subtree_angmom[0] + np.cross(data.subtree_com[0], linear)


def test_momentum_is_kept_in_free_space():
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = 0.002, (0.0, 0.0, 0.0)
    add_box(spec, (0.3, 0.5, 0.025), 3.0, (0.1, 0.0, -0.135))
    add(spec, "packbot", touches=["box"])
    model = spec.compile()
    data = mujoco.MjData(model)
    robot = attach(model, data, "packbot")
    data.qvel[dofs_of_box(model) + 2] = 0.3
    before, turning = momentum(model, data)
    take(model, data, 1.0)
    after, turned = momentum(model, data)
    assert data.qvel[dofs_of_box(model) + 2] < 0.2  # It was met.
    assert np.abs(after - before).max() < 1e-12 * np.abs(before).max()
    assert np.abs(turned - turning).max() < 1e-4
    assert robot.state.velocity[2] > 0.01


def test_a_box_that_is_pushed_gives_way_as_friction_says():
    """At a steady speed belts' drives push with the friction of the box and what it is pressed down by."""
    model, data, robot = with_box(0.002, (0.1, 0.3, 0.1), 5.0, (0.62, 0.0, 0.1), friction=0.3, priority=1)
    take(model, data, 0.3)
    robot.set_belt_speed(left=0.3, right=0.3)
    take(model, data, 2.0)
    floors = []
    box, force = model.body("box").id, np.zeros(6)
    for _ in range(500):
        take(model, data, 0.002)
        floor = np.zeros(3)
        for c in range(data.ncon):
            bodies = model.geom_bodyid[data.contact.geom[c]]
            if set(bodies.tolist()) == {0, box}:
                mujoco.mj_contactForce(model, data, c, force)
                floor += data.contact.frame[c].reshape(3, 3).T @ force[:3] * (1 if bodies[1] == box else -1)
        floors.append(floor)
    floor = np.mean(floors, axis=0)
    assert -floor[0] == pytest.approx(0.3 * floor[2], rel=0.03)
    assert data.qvel[dofs_of_box(model)] == pytest.approx(0.3, rel=0.01)
    # The nose presses down, by belts' friction of 0.6 at most.
    assert 5 * GRAVITY < floor[2] < 5 * GRAVITY / (1 - 0.3 * 0.6)


def test_a_vehicle_that_is_bolted_down_touches_no_bodies_that_move():
    spec = spec_with_floor()
    with pytest.raises(InvalidValueError, match="touches of 'conveyor' must be empty"):
        add(spec, "conveyor", touches=["box"])


def test_a_body_that_is_welded_to_the_one_that_moves_is_refused():
    spec = spec_with_floor()
    add_box(spec, PLANK, 3.0, (0.7, 0.0, PLANK[2]))
    spec.body("box").add_body(name="label")
    add(spec, "packbot", position=(0.0, 0.0, 0.12), touches=["label"])
    model = spec.compile()
    with pytest.raises(InvalidValueError, match="body 'label' in MuJoCo must be of shapes that can be"):
        attach(model, mujoco.MjData(model), "packbot")


def test_equal_runs_and_restored_ones_are_equal_to_the_bit():
    ends = []
    for _ in range(2):
        model, data, robot = with_box(0.004, PLANK, 3.0, (0.45, 0.0, PLANK[2]))
        robot.set_belt_speed(left=0.2, right=0.25)
        take(model, data, 1.2)
        size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION)
        state = np.zeros(size)
        mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        saved = robot.save()
        take(model, data, 0.6)
        ends.append(data.qpos.copy())
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        robot.restore(saved)
        take(model, data, 0.6)
        ends.append(data.qpos.copy())
        detach_all()
    for end in ends[1:]:
        assert np.array_equal(ends[0], end)


def test_rows_without_zeros_are_those_with_zeros():
    """MuJoCo keeps its rows sparse in large models: the same motion to the solver's tolerance."""
    ends = []
    for jacobian in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE):
        spec = spec_with_floor(0.004)
        spec.option.jacobian = jacobian
        model, data, robot = with_box(0.004, PLANK, 3.0, (0.45, 0.0, PLANK[2]), spec=spec)
        robot.set_belt_speed(left=0.2, right=0.2)
        take(model, data, 1.5)
        assert abs(math.degrees(robot.state.pitch)) > 1.0
        ends.append(data.qpos.copy())
        detach_all()
    assert np.abs(ends[0] - ends[1]).max() < 1e-4


def test_islands_are_refused_beside_bodies_that_belts_touch():
    model, data, _ = with_box(0.004, PLANK, 3.0, (0.7, 0.0, PLANK[2]))
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    with pytest.raises(InvalidValueError, match="flag island of the MuJoCo model must be disabled"):
        mujoco.mj_step(model, data)


def test_a_body_that_lies_on_belts_alone_is_told_of(caplog):
    model, data, _ = with_box(0.004, (0.05, 0.4, 0.02), 2.0, (0.0, 0.0, 0.3))
    take(model, data, 1.0)
    assert data.body("box").xpos[2] > 0.15
    assert [record.getMessage()[:64] for record in caplog.records] == [
        "segtrack: belts alone bear body 'box' of the MuJoCo model, which"
    ]


def test_a_plank_on_the_floor_is_not(caplog):
    model, data, robot = with_box(0.004, PLANK, 3.0, (0.45, 0.0, PLANK[2]))
    robot.set_belt_speed(left=0.2, right=0.2)
    take(model, data, 1.5)
    assert abs(math.degrees(robot.state.pitch)) > 1.0
    assert not caplog.records
