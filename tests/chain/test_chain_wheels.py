import math
from dataclasses import replace

import numpy as np
import pytest
from chain_solver import gather_loads
from quick import some_of
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from tables import each_row

from segtrack.chain import (
    Bushing,
    Chain,
    Rail,
    RunningGear,
    Shoe,
    Sprocket,
    Tensioner,
    Wheel,
    slide_offset,
    wheel_contact_parameters,
)
from segtrack.chain.shoe_dynamics import allocate_work_arrays, drift, kick, start_loads
from segtrack.chain.shoe_state import ChainState, state_along
from segtrack.chain.sprocket_contact import add_sprocket_contacts, find_sprocket_contacts
from segtrack.chain.stability import Splits, contact_splits, joint_bounds, rolling_bounds
from segtrack.chain.wheel_contact import (
    add_wheel_contacts,
    find_wheel_candidates,
    find_wheel_contacts,
    keep_rail_shear,
)
from segtrack.chain.wheel_dynamics import (
    carry_slides,
    drift_wheels,
    kick_wheels,
    start_wheel_loads,
    wheel_kinematics,
)
from segtrack.errors import InvalidValueError
from segtrack.ground import ParentFrames, Reaction, drift_parents

PITCH = 0.0384
SHOE = Shoe.of_box(0.05, (PITCH, 0.075, 0.010))
RAIL = Rail(0.005, (-0.02, 0.02))
LAW = wheel_contact_parameters(1e8, 20.0, 0.3, 1e5)
ELASTIC = wheel_contact_parameters(1e8, 0.0, 0.3, 1e5)
TENSIONER = Tensioner((0.8, 0.6), 0.3, 60.0, 2e4, 50.0)
BUSHING = Bushing(1e6, 20.0, 100.0, 0.02, 0.003)


class Rig:
    """One track's wheels and chain, advanced by the stages of a sub-step; the parent link is kinematic."""

    def __init__(self, running_gear, state, closed=False, sub_step=2e-5):
        self.chain, self.state = Chain(len(state.positions), SHOE, BUSHING, closed), state
        self.running_gear = running_gear.pack(SHOE, self.chain.count)
        self.wheel_state, self.wheel_loads = self.running_gear.state, self.running_gear.loads
        self.parents = ParentFrames(np.zeros((1, 3)), np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 3)))
        self.reaction = Reaction(np.zeros((1, 3)), np.zeros((1, 3)))
        self.frames, self.loads = allocate_work_arrays(self.chain)
        self.sub_step = sub_step
        self.place()

    def place(self):
        drift(self.state.arrays, self.frames, self.chain.constants, 0.0)
        find_wheel_candidates(self.running_gear, self.parents, self.frames)

    def press(self, sub_step=0.0):
        """Add the wheels' contact forces to the loads that there are."""
        on = self.running_gear, self.parents, self.frames, self.loads, self.reaction
        start_wheel_loads(self.running_gear, self.reaction)
        find_wheel_contacts(*on[:3], 0.0)
        find_sprocket_contacts(*on[:3], self.chain.constants, 0.0)
        add_wheel_contacts(*on, 0.0, sub_step)
        add_sprocket_contacts(*on, 0.0, sub_step)
        keep_rail_shear(self.running_gear)

    def forces(self, sub_step=0.0):
        """Forces of the wheels alone on the shoes (n, 3)."""
        start_loads(self.loads, (0.0, 0.0, 0.0))
        self.press(sub_step)
        return self.loads.forces[: self.chain.count]

    def drive(self, target, limit, sub_step, velocity_decay=1.0, gravity=(0.0, 0.0, 0.0)):
        """Change the wheels' speeds; returns the drive's torque."""
        on = self.running_gear, self.parents, self.reaction
        return kick_wheels(*on, target, limit, gravity, sub_step, velocity_decay)

    def advance(self, count, target=0.0, limit=math.inf, velocity_decay=1.0, pull=None):
        """Take sub-steps; `pull` (n, 3) acts on the shoes besides [N]."""
        shoes, constants, half = self.state.arrays, self.chain.constants, self.sub_step / 2
        for step in range(count):
            if step % 50 == 0:
                self.place()
            drift(shoes, self.frames, constants, half)
            drift_wheels(self.running_gear, self.parents, half)
            gather_loads(self.chain.joints, self.frames, self.loads, constants, (0.0, 0.0, 0.0))
            if pull is not None:
                self.loads.forces[: self.chain.count] += pull
            self.press(self.sub_step)
            kick(shoes, self.frames, self.loads, constants, self.sub_step, velocity_decay)
            self.torque = self.drive(target, limit, self.sub_step, velocity_decay)
            drift(shoes, self.frames, constants, half)
            drift_wheels(self.running_gear, self.parents, half)


def link_at(x, z, y=0.0, turn=0.0):
    """One link at rest, with its rail at (x, z) of the world, turned about +y."""
    position = np.array([x, y, z]) + Rotation.from_rotvec([0, turn, 0]).apply([0, 0, 0.005])
    return ChainState(
        [position], [[0, math.sin(turn / 2), 0, math.cos(turn / 2)]], np.zeros((1, 3)), np.zeros((1, 3))
    )


def drum(law=LAW, tensioner=None, radius=0.07, inertia=1e-4):
    wheel = Wheel.flanged(0.0, 0.0, radius, inertia, 0.025, 0.005, tensioner)
    return RunningGear((wheel,), 0, RAIL, law)


def sprocket(count=12, **options):
    options = {"damping": 20.0, "friction": 0.1, "side_clearance": 0.002, "side_stiffness": 1e5} | options
    return Sprocket.for_pitch(PITCH, count, 0.004, 1e6, **options)


def driven_by(teeth, *others):
    wheel = Wheel(0.0, 0.0, ((-0.02, 0.06), (0.02, 0.06)), 1e-4)
    return RunningGear((wheel, *others), 0, RAIL, LAW, teeth)


def loop(straight):
    """Hinges around two circles of 12 pitches, `straight` pitches apart, and that distance [m]."""
    radius, apart = PITCH / 2 / math.sin(math.pi / 12), straight * PITCH
    arc = np.arange(6) * math.pi / 6
    front = np.stack([apart / 2 + radius * np.sin(arc), radius * np.cos(arc)], axis=1)
    below = np.stack([apart / 2 - np.arange(straight) * PITCH, np.full(straight, -radius)], axis=1)
    half = np.concatenate([front, below])
    return np.concatenate([half, -half, half[:1]]), apart


# What acts on what


@pytest.mark.parametrize("teeth", [None, sprocket(rows=(-0.01, 0.01))])
def test_links_wheels_and_carrier_push_and_turn_equally_and_oppositely(teeth):
    """In any position and motion, about any point, with wheels on tensioners, brakes and flanges.

    Until wheels are kicked; then the carrier feels what slides, too.
    """
    random = np.random.default_rng(3)
    hinges, apart = loop(5)
    idler = Wheel.flanged(apart / 2, 0.0, 0.07, 1e-4, 0.0201, 0.005, TENSIONER)
    wheel = Wheel(-apart / 2, 0.0, ((-0.04, 0.07), (0.04, 0.07)), 1e-4)
    state = state_along(Chain(22, SHOE, BUSHING), hinges)
    rig = Rig(RunningGear((wheel, idler), 0, RAIL, LAW, teeth), state, closed=True)
    frame = Rotation.from_rotvec([0.5, -1.2, 0.3])
    rig.parents.positions[0], rig.parents.rotations[0] = (1.0, 2.0, 3.0), frame.as_matrix()
    rig.parents.velocities[0], rig.parents.angular_velocities_world[0] = random.normal(size=(2, 3))
    state.positions[:] = frame.apply(state.positions) + rig.parents.positions[0]
    state.orientations[:] = (frame * Rotation.from_quat(state.orientations)).as_quat()
    state.positions += random.normal(scale=3e-3, size=(22, 3))
    state.velocities[:], state.angular_velocities_body[:] = random.normal(size=(2, 22, 3))
    for array in (rig.wheel_state.speeds, rig.wheel_state.slide_speeds):
        array[:] = random.normal(size=2)
    rig.wheel_state.slide_positions[1], rig.wheel_state.angles[:] = 1e-3, 0.3
    rig.place()
    forces, torques = rig.forces(1e-4), rig.loads.torques[:22]
    axle = rig.parents.rotations[0, :, 1]
    middle = rig.parents.positions[0] + frame.apply([apart / 2 + 0.8e-3, 0, 0.6e-3])
    scale = np.abs(forces).sum()
    assert (np.abs(forces).sum(axis=1) > 0).sum() > 8
    assert abs(rig.wheel_loads.torques).min() > 0
    np.testing.assert_allclose(forces.sum(axis=0) + rig.reaction.forces[0], 0, atol=1e-12 * scale)
    about = np.cross(state.positions, forces).sum(axis=0) + torques.sum(axis=0)
    about += rig.reaction.torques[0] + np.cross(rig.parents.positions[0], rig.reaction.forces[0])
    about += rig.wheel_loads.torques.sum() * axle
    np.testing.assert_allclose(about, 0, atol=1e-12 * scale * np.linalg.norm(middle))


def test_a_drive_turns_its_carrier_the_other_way():
    rig = Rig(drum(), link_at(0, 0.2))
    rig.press()
    assert rig.drive(5.0, 2.0, 1e-4) == 2.0
    assert rig.wheel_state.speeds[0] == pytest.approx(2.0 * 1e-4 / 1e-4)
    np.testing.assert_allclose(rig.reaction.torques[0], (0, -2.0, 0))
    rig.press()
    assert rig.drive(2.5, 2.0, 1e-4) == pytest.approx(1e-4 * 0.5 / 1e-4)
    assert rig.wheel_state.speeds[0] == pytest.approx(2.5)


def test_a_carrier_that_turns_a_running_wheel_feels_its_angular_momentum_turn():
    """By the difference of where the axle points a moment later; no drive, nothing touches."""
    rig, speed, turning = Rig(drum(), link_at(0, 0.2)), 40.0, np.array((0.3, -0.2, 0.5))
    rig.wheel_state.speeds[0], rig.parents.angular_velocities_world[0] = speed, turning
    rig.press()
    rig.drive(0.0, 0.0, 1e-4)
    momentum, moment = 1e-4 * speed * rig.parents.rotations[0, :, 1], 1e-6
    change = (Rotation.from_rotvec(moment * turning).apply(momentum) - momentum) / moment
    np.testing.assert_allclose(rig.reaction.torques[0], -change, atol=1e-5 * np.linalg.norm(change))


def test_a_motor_holds_a_speed_relative_to_its_carrier():
    rig = Rig(drum(), link_at(0, 0.2))
    rig.parents.angular_velocities_world[0, 1] = 3.0
    rig.advance(100, target=-3.0)
    assert rig.wheel_state.speeds[0] == pytest.approx(0, abs=1e-12)
    assert rig.wheel_state.angles[0] == pytest.approx(-3.0 * 100 * rig.sub_step)


# Rolling


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.001), (0.01, 0.001), (0.021, 0.001), (0.01, 0.01)])
def test_rails_are_met_where_they_are_nearest_to_the_axle(x, y):
    """Against 10^5 points of each rail: in the middle, beside it, at an end; one hangs beside the wheel."""
    rig = Rig(drum(ELASTIC), link_at(x, 0.0699, y, turn=-0.02))
    along = np.linspace(-PITCH / 2, PITCH / 2, 100_001)
    expected, turning = np.zeros(3), np.zeros(3)
    for station in (station for station in RAIL.stations if abs(station + y) < 0.024):
        points = np.stack([along, 0 * along + station, 0 * along - 0.005], axis=1) @ rig.frames.rotations[0].T
        levers = points[np.hypot(*(points + rig.frames.positions[0])[:, [0, 2]].T).argmin()]
        out = (levers + rig.frames.positions[0]) * (1, 0, 1)
        depth = max(0.0, 0.07 - np.linalg.norm(out))
        force = 1e8 * depth**1.5 * out / np.linalg.norm(out)
        expected, turning = expected + force, turning + np.cross(levers, force)
    np.testing.assert_allclose(rig.forces()[0], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(rig.loads.torques[0], turning, rtol=1e-3, atol=1e-5)
    assert np.linalg.norm(expected) > 10


@pytest.mark.parametrize("load", [5.0, 50.0])
def test_a_pressed_link_rests_where_k_d_to_the_1_5_is_its_load(load):
    """It settles on two rails."""
    rig = Rig(drum(), link_at(0, 0.06999), sub_step=5e-5)
    rig.advance(3000, velocity_decay=0.99, pull=(0, 0, -load))
    depth = 0.07 - (rig.state.positions[0, 2] - 0.005)
    assert 2 * 1e8 * depth**1.5 == pytest.approx(load, rel=1e-6)
    assert rig.reaction.forces[0, 2] == pytest.approx(-load, rel=1e-6)


def test_a_wheel_with_a_law_of_its_own_gives_way_by_that_law():
    """Two wheels under two links with the same load: depths as their stiffnesses to the power of -2/3."""
    soft = wheel_contact_parameters(1e7, 20.0, 0.0, 1e5)
    wheels = tuple(Wheel.flanged(x, 0.0, 0.07, 1e-4, 0.025, 0.005) for x in (0.0, 0.3))
    gear = RunningGear((wheels[0], replace(wheels[1], contact=soft)), 0, RAIL, LAW)
    assert gear.contacts == (LAW, soft)
    for x, law in ((0.0, LAW), (0.3, soft)):
        rig = Rig(gear, link_at(x, 0.0699), sub_step=5e-5)
        rig.advance(3000, velocity_decay=0.98, pull=(0, 0, -40.0))
        depth = 0.07 - (rig.state.positions[0, 2] - 0.005)
        assert depth == pytest.approx((40.0 / 2 / law.stiffness) ** (2 / 3), rel=1e-3)
    bound, _ = rolling_bounds(gear, SHOE, 40.0, Splits(1.0, 1.0, 1.0))
    stiff, _ = rolling_bounds(RunningGear(wheels, 0, RAIL, LAW), SHOE, 40.0, Splits(1.0, 1.0, 1.0))
    np.testing.assert_array_equal(bound, stiff)


def test_a_wheel_spins_up_by_torque_over_inertia():
    rig = Rig(drum(inertia=3e-3), link_at(0, 0.2))
    for _ in range(100):
        rig.press()
        assert rig.drive(1e3, 0.6, 1e-3) == 0.6
    assert rig.wheel_state.speeds[0] == pytest.approx(0.6 * 0.1 / 3e-3)


def test_a_contact_never_pulls():
    rig = Rig(drum(), link_at(0, 0.06999))
    rig.state.velocities[0, 2] = 10.0
    rig.place()
    assert (rig.forces() == 0).all()


def test_friction_sticks_below_its_cone_and_slides_beyond():
    """A link on a braked drum: K_s s or mu N; the brake bears the moment of all that acts on it."""
    load = 20.0
    rig = Rig(drum(), link_at(0, 0.06999), sub_step=5e-5)
    rig.advance(2000, velocity_decay=0.99, pull=(0, 0, -load))
    rig.advance(2000, velocity_decay=0.97, pull=(0.1 * load, 0, -load))
    x, _, z = rig.state.positions[0]
    shear = rig.wheel_state.shear_displacements[0, 0, :, 0]
    assert (0.05 * load / 2 < 1e5 * shear).all() and (1e5 * shear < 0.2 * load / 2).all()
    assert rig.torque == pytest.approx(-1e5 * shear.sum() * 0.07, rel=1e-3)
    assert rig.torque == pytest.approx(-(0.1 * load * z + load * x), rel=1e-3)
    rig.state.velocities[0, 0] = 0.5
    rig.place()
    force, normal = rig.forces(1e-3)[0], rig.frames.rotations[0, :, 2]
    pressed = force @ normal
    assert pressed > load / 2
    assert np.linalg.norm(force - pressed * normal) == pytest.approx(0.3 * pressed)
    assert force[0] < 0


def test_a_link_that_leaves_forgets_its_displacement():
    rig = Rig(drum(), link_at(0, 0.0699))
    rig.wheel_state.shear_displacements[:] = 1e-6
    rig.forces()
    np.testing.assert_allclose(rig.wheel_state.shear_displacements[..., 0], 1e-6, rtol=1e-12)
    for height in (0.0701, 0.5):
        rig.wheel_state.shear_displacements[:] = 1e-6
        rig.state.positions[0, 2] = height + 0.005
        rig.place()
        rig.forces()
        assert (rig.wheel_state.shear_displacements == 0).all()


def test_a_wheel_rolls_with_the_link_that_passes():
    rig = Rig(drum(), link_at(-0.01, 0.0699), sub_step=2e-5)
    rig.state.velocities[0, 0] = 0.7
    for _ in range(400):
        rig.state.positions[0, 2], rig.state.velocities[0] = 0.0749, (0.7, 0, 0)
        rig.state.orientations[0], rig.state.angular_velocities_body[0] = (0, 0, 0, 1), 0
        rig.advance(1, limit=0.0)
    assert rig.wheel_state.speeds[0] == pytest.approx(0.7 / 0.0699, rel=1e-2)


@pytest.mark.parametrize("side", some_of([-1, 1], -1))
def test_flanges_hold_a_link_on_the_wheel(side):
    """Pushed aside by much more than friction it stays; let go, flanges have it back on the flat."""
    rig = Rig(drum(wheel_contact_parameters(1e8, 20.0, 0.0, 1e5)), link_at(0, 0.06999), sub_step=5e-5)
    rig.advance(4000, velocity_decay=0.99, pull=(0, side * 15.0, -20.0))
    aside = side * rig.state.positions[0, 1]
    assert 0.004 < aside < 0.006
    rig.advance(3000, velocity_decay=0.99, pull=(0, 0, -20.0))
    assert side * rig.state.positions[0, 1] < aside
    assert side * rig.state.positions[0, 1] <= 0.0041


def test_the_rounded_profile_is_smooth_and_meets_the_lines():
    points = ((-0.03, 0.08), (-0.02, 0.07), (0.01, 0.07), (0.03, 0.06))
    pieces = Wheel(0, 0, points, 1e-4, rounding=2e-3).pieces()
    size = pieces[:, 1] - pieces[:, 0]
    ends = pieces[:, 2] + size * (pieces[:, 3] + size * pieces[:, 4] / 2)
    np.testing.assert_allclose(ends[:-1], pieces[1:, 2], atol=1e-15)
    np.testing.assert_allclose((pieces[:, 3] + size * pieces[:, 4])[:-1], pieces[1:, 3], atol=1e-15)
    assert ends[-1] == pytest.approx(0.06)
    np.testing.assert_allclose(pieces[::2, 4], 0)


def test_a_tensioner_rests_where_its_force_is_the_load():
    """q = (preload - load) / stiffness."""
    rig = Rig(drum(tensioner=Tensioner((0.0, 1.0), 0.3, 60.0, 2e4, 50.0)), link_at(0, 0.0702), sub_step=5e-5)
    rig.advance(8000, velocity_decay=0.98, pull=(0, 0, -40.0))
    assert rig.wheel_state.slide_positions[0] == pytest.approx((60.0 - 40.0) / 2e4, rel=1e-3)
    np.testing.assert_allclose(rig.reaction.forces[0], (0, 0, -40.0), atol=0.05)


def test_an_arm_rests_where_its_spring_bears_its_weight():
    """P - k s = m g cos(s / l) on an arm of l that was level; its wheel is on a circle about the pivot."""
    tensioner = Tensioner((0.0, 1.0), 3.0, 20.0, 200.0, 40.0, curvature=1 / 0.25)
    rig = Rig(drum(tensioner=tensioner), link_at(5.0, 0.0))
    for _ in range(4000):
        start_wheel_loads(rig.running_gear, rig.reaction)
        rig.drive(0.0, 0.0, 1e-3, gravity=(0.0, 0.0, -9.81))
        carry_slides(rig.running_gear, rig.parents)
        drift_wheels(rig.running_gear, rig.parents, 1e-3)
    slide = brentq(lambda s: 20.0 - 200.0 * s - 3.0 * 9.81 * math.cos(s / 0.25), -0.2, 0.2)
    assert rig.wheel_state.slide_positions[0] == pytest.approx(slide, abs=1e-6)
    wheel = wheel_kinematics(rig.parents, rig.running_gear.wheels, rig.wheel_state, 0)
    turn = slide / 0.25  # About a pivot at x = -0.25.
    place = (0.25 * math.cos(turn) - 0.25, 0.0, 0.25 * math.sin(turn))
    np.testing.assert_allclose(wheel.position, place, atol=1e-6)
    np.testing.assert_allclose(wheel.slide_direction, (-math.sin(turn), 0.0, math.cos(turn)), atol=1e-5)
    way = slide_offset(np.array([0.0, 1.0]), np.array(1 / 0.25), np.array(slide))
    np.testing.assert_allclose(way, (place[0], place[2]), atol=1e-12)
    # The carrier's mass contains 3 kg where they are drawn; it bears them where they are.
    np.testing.assert_allclose(rig.reaction.forces[0], 0.0, atol=1e-3)
    assert rig.reaction.torques[0, 1] == pytest.approx(3.0 * 9.81 * place[0], rel=1e-3)


# Tensioners on carriers that move


def test_a_slide_on_a_carrier_that_turns_bears_its_centrifugal_force():
    """A carrier turns about y; m rests at q (k - m w^2) = m w^2 x, and pulls with m w^2 q beyond m at x."""
    gear, spin, step = drum(tensioner=Tensioner((1.0, 0.0), 0.3, 0.0, 2e3, 40.0)), 20.0, 1e-4
    gear = replace(gear, wheels=(replace(gear.wheels[0], x=0.4),))
    rig = Rig(gear, link_at(5.0, 0.0), sub_step=step)
    rig.parents.angular_velocities_world[0, 1] = spin
    for _ in range(6000):
        start_wheel_loads(rig.running_gear, rig.reaction)
        rig.drive(0.0, 0.0, step)
        drift_parents(rig.parents, step)
        carry_slides(rig.running_gear, rig.parents)
        drift_wheels(rig.running_gear, rig.parents, step)
    outwards = 0.3 * spin**2
    slide = outwards * 0.4 / (2e3 - outwards)
    assert rig.wheel_state.slide_positions[0] == pytest.approx(slide, rel=1e-4)
    radial = rig.parents.rotations[0, :, 0]
    assert rig.reaction.forces[0] @ radial == pytest.approx(outwards * slide, rel=5e-3)


@pytest.mark.parametrize("ahead", [1.0, 0.0])
def test_what_slides_is_counted_once_where_its_carrier_is_pushed(ahead):
    """A carrier of 2 kg, 0.3 kg of it on a stiff slide, is pushed along the slide or in part across it.

    Both move as one, and bodies of 1.7 and 0.3 kg on a spring swing at sqrt(k (1 / 1.7 + 1 / 0.3)).
    """
    stiffness, step, direction = 2e3, 5e-5, (ahead, 1.0 - ahead)
    rig = Rig(
        drum(tensioner=Tensioner(direction, 0.3, 0.0, stiffness, 0.0)), link_at(5.0, 0.0), sub_step=step
    )
    slides, push = [], np.array((7.0, 0.0, 3.0))
    for _ in range(8000):
        start_wheel_loads(rig.running_gear, rig.reaction)
        rig.drive(0.0, 0.0, step)
        rig.parents.velocities[0] += step / 2.0 * (push + rig.reaction.forces[0])
        carry_slides(rig.running_gear, rig.parents)
        drift_parents(rig.parents, step)
        drift_wheels(rig.running_gear, rig.parents, step)
        slides.append(rig.wheel_state.slide_positions[0])
    along = push @ (direction[0], 0.0, direction[1])
    # From rest it swings about -m a / k, a of the whole: twice as far at most.
    middle = -0.3 * along / 2.0 / stiffness
    assert min(slides) == pytest.approx(2 * middle, rel=2e-3)
    crossings = np.flatnonzero(np.diff(np.signbit(np.array(slides) - middle)))
    period = 2 * step * (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    assert 2 * math.pi / period == pytest.approx(math.sqrt(stiffness * (1 / 1.7 + 1 / 0.3)), rel=2e-3)
    momentum = 2.0 * rig.parents.velocities[0] + rig.wheel_state.slide_momenta[0]
    np.testing.assert_allclose(momentum, push * 8000 * step, rtol=1e-9)


# Teeth


@pytest.mark.parametrize("count", [6, 9, 12, 20])
def test_bushings_seated_on_the_pitch_circle_touch_and_do_not_press(count):
    teeth = sprocket(count)
    points = np.array(teeth.profile)
    np.testing.assert_allclose(points, points[::-1] * (-1, 1), atol=1e-15)
    assert teeth.tip_radius > teeth.pitch_radius == pytest.approx(PITCH / 2 / math.sin(math.pi / count))
    steps = np.diff(points, axis=0)
    steps /= np.linalg.norm(steps, axis=1)[:, None]
    gaps = (steps[:, 0] * -points[:-1, 1] + steps[:, 1] * points[:-1, 0])[1:4]
    np.testing.assert_allclose(gaps, 0.004, atol=1e-15)
    angles = 2 * np.pi * np.arange(count + 1) / count
    ring = teeth.pitch_radius * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    rig = Rig(driven_by(teeth), state_along(Chain(count, SHOE, BUSHING), ring), closed=True)
    assert np.abs(rig.forces()).max() < 1e-6


@pytest.mark.parametrize("rows", [(0.0,), (-0.01, 0.01)])
@pytest.mark.parametrize("turn", [0.0, 1.0, -7.0])
def test_teeth_press_a_bushing_as_brute_force_says(turn, rows):
    """Its circle against the polygon's points, in and around a gap of the turned sprocket."""
    teeth = sprocket(damping=0.0, friction=0.0, rows=rows)
    points = np.array(teeth.profile)
    share = np.linspace(0, 1, 20_001)[:, None]
    sides = [a + share * (b - a) for a, b in zip(points, points[1:], strict=False)]
    lean = Rotation.from_rotvec([0, turn + 5 * 2 * np.pi / 12, 0])
    touched = 0
    for along, out in np.random.default_rng(0).uniform((-0.01, -0.0045), (0.01, 0.009), (60, 2)):
        if out < np.interp(along, *points.T) or abs(along) * 12 > math.pi * (teeth.pitch_radius + out):
            continue  # In a tooth, or in the next gap.
        force = np.zeros(2)
        distances = [np.linalg.norm(side - (along, out), axis=1) for side in sides]
        nearest = [distance.argmin() for distance in distances]
        for k, (side, distance) in enumerate(zip(sides, distances, strict=True)):
            at = nearest[k]
            # A corner counts, once, where it is the nearest point of both of its sides.
            corner = at == 0 or (at == 20_000 and (k == 4 or nearest[k + 1] > 0))
            if distance[at] < 0.004 and not corner:
                force += 1e6 * (0.004 - distance[at]) * ((along, out) - side[at]) / distance[at]
        inside = np.linalg.norm(force) > 0
        touched += inside
        centre = lean.apply([along, 0, teeth.pitch_radius + out])
        rig = Rig(driven_by(teeth), link_at(centre[0] + PITCH / 2, centre[2] - 0.005))
        rig.wheel_state.angles[0] = turn
        expected = len(rows) * lean.apply([force[0], 0, force[1]])
        np.testing.assert_allclose(rig.forces()[0], expected, atol=0.02 * max(1.0, np.linalg.norm(force)))
    assert touched > 10


def test_tooth_friction_grows_up_to_the_slip_speed_and_stays():
    """Equation 35 as it is meant: 1 - (1 - v / v_mu)^2, then 1."""
    teeth = sprocket(damping=0.0)
    rig = Rig(driven_by(teeth), link_at(PITCH / 2, teeth.pitch_radius - 0.005 - 1e-5))
    pressed = None
    for speed, share in ((0.0, 0.0), (0.05, 0.75), (0.1, 1.0), (0.5, 1.0)):
        rig.state.velocities[0, 1] = speed
        rig.place()
        force = rig.forces()[0].copy()
        pressed = force[2] if pressed is None else pressed
        # The bottom and two flanks at 30 deg, each as deep as the bushing is in its direction.
        assert force[1] == pytest.approx(-share * 0.1 * 1e6 * 1e-5 * (1 + 2 * 0.5), rel=1e-6)
    assert pressed == pytest.approx(1e6 * 1e-5 * (1 + 2 * 0.25))


@pytest.mark.parametrize("closing", [0.4, 0.1, -0.1, -0.4, -0.7])
def test_tooth_friction_is_its_coefficient_times_the_damped_normal_force(closing):
    """Of a bushing that strikes its gap's bottom and flanks at 30 deg, or leaves them, slipping sideways."""
    depth, slip, lean = 1e-5, 0.5, math.cos(math.radians(30))
    teeth = sprocket()
    rig = Rig(driven_by(teeth), link_at(PITCH / 2, teeth.pitch_radius - 0.005 - depth))
    rig.state.velocities[0] = 0.0, slip, -closing
    rig.place()
    push = max(0.0, 1e6 * depth + 20.0 * closing)
    # A flank is met by half of depth and speed; what is left of the speed slips along it.
    aside = push + 2 * push / 2 * slip / math.hypot(slip, lean * closing)
    assert rig.forces()[0, 1] == pytest.approx(-0.1 * aside, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("side", [-1, 1])
def test_the_sides_of_teeth_hold_a_link(side):
    teeth = sprocket(friction=0.0)
    deep = teeth.pitch_radius - 0.005 + 1e-4
    rig = Rig(driven_by(teeth), link_at(PITCH / 2, deep, y=side * 0.003))
    # Chamfered: whole from a bushing radius below the tips.
    share = min(1.0, (teeth.tip_radius - teeth.pitch_radius - 1e-4) / 0.004)
    np.testing.assert_allclose(rig.forces()[0], (0, -side * share * 1e5 * 0.001, 0), atol=1e-6)
    inner = Rig(driven_by(teeth), link_at(PITCH / 2, deep, y=side * 0.0019))
    assert np.abs(inner.forces()).max() < 1e-6


@pytest.mark.parametrize("direction", some_of([1, -1], -1))
def test_a_sprocket_moves_the_chain_by_a_pitch_per_tooth(direction):
    """Around an idler on a tensioner, for a turn of 0.3 s; every bushing around it stays in its gap."""
    teeth = sprocket(clearance=2e-4)
    hinges, apart = loop(6)
    rail = teeth.pitch_radius * math.cos(math.pi / 12) - 0.005
    idler = Wheel.flanged(-apart, 0, rail, 1e-4, 0.025, 0.005, Tensioner((-1.0, 0.0), 0.3, 60.0, 1e4, 100.0))
    state = state_along(Chain(24, SHOE, BUSHING), hinges - (apart / 2, 0))
    rig = Rig(driven_by(teeth, idler), state, closed=True, sub_step=5e-5)
    for step in range(72):
        rig.advance(100, target=direction * 2 * math.pi / 0.3 * min(1.0, step / 24))
        bushings = state.positions + state.rotations @ SHOE.bushing_position
        turned = (np.arctan2(bushings[:, 0], bushings[:, 2]) - rig.wheel_state.angles[0]) * 12 / (2 * math.pi)
        seated = np.flatnonzero((bushings[:, 0] > 0.02) & (bushings[:, 0] > -apart / 2))
        assert len(seated) >= 4
        astray = (turned - np.arange(24) + 6) % 12 - 6  # Hinge 0 starts in the gap 0.
        np.testing.assert_allclose(astray[seated], 0, atol=0.02)
        radii = np.hypot(bushings[seated, 0], bushings[seated, 2])
        np.testing.assert_allclose(radii, teeth.pitch_radius, atol=1e-4)
    assert direction * rig.wheel_state.angles[0] > 0.95 * 2 * math.pi


# Sub-steps


def test_bounds_are_above_what_a_link_feels():
    """By central differences of the forces of an elastic contact that sticks."""
    running_gear = drum(ELASTIC)
    rig = Rig(running_gear, link_at(0.0, 0.0699))
    force = rig.forces()[0, 2] / 2
    bound, _ = rolling_bounds(running_gear, SHOE, force, Splits(1.0, 1.0, 1.0))
    felt = np.zeros((3, 3))
    for k in range(3):
        for sign in (-1, 1):
            rig = Rig(running_gear, link_at(0.0, 0.0699))
            rig.state.positions[0, k] += sign * 1e-8
            rig.wheel_state.shear_displacements[0, 0, :, 0] = sign * 1e-8 * (k == 0)
            rig.wheel_state.shear_displacements[0, 0, :, 1] = sign * 1e-8 * (k == 1) * -1
            rig.place()
            felt[:, k] -= sign * rig.forces()[0] / 2e-8
    assert felt[2, 2] == pytest.approx(2 * 1.5 * 1e8 * math.sqrt(1e-4), rel=1e-4)
    for case in bound:
        assert np.linalg.eigvalsh(case)[-1] >= np.linalg.eigvalsh((felt + felt.T) / 2)[-1]
        assert np.linalg.eigvalsh(case)[0] > -1e-9 * np.linalg.eigvalsh(case)[-1]


def test_bounds_cover_teeth_and_every_wheel():
    teeth = sprocket()
    idler = Wheel.flanged(0.3, 0.0, 0.06, 1e-4, 0.025, 0.005, TENSIONER)
    stiffness, damping = rolling_bounds(driven_by(teeth, idler), SHOE, 100.0, Splits(1.0, 1.0, 2.0))
    assert (
        stiffness.shape == damping.shape == (3, 6, 6) == (3, *joint_bounds(Chain(3, SHOE, BUSHING))[0].shape)
    )
    drag = 2 * 0.1 * 100.0 / 0.1  # On one surface along the chain, on two across it.
    assert damping[2, 0, 0] == pytest.approx(2 * (2 * 20.0 + drag))
    assert damping[2, 1, 1] == pytest.approx(2 * (2 * drag + 20.0))


def test_a_split_leaves_wheels_what_they_bear():
    """Of a contact's energy 1 / around goes to shoes; turn and slide of the idler bear exactly the rest."""
    idler = Wheel.flanged(0.3, 0.0, 0.06, 1e-4, 0.025, 0.005, TENSIONER)
    gear, h, force = driven_by(sprocket(), idler), 3e-5, 100.0
    splits = contact_splits(gear, SHOE, force, h)
    count = 2 * (math.ceil(math.pi / (2 * math.atan(PITCH / 2 / 0.06))) + 1)
    normal, around = LAW.linearized_stiffness(force), LAW.tangential_stiffness
    square = idler.max_radius**2
    turning = h * count * square * (2 * LAW.damping + h * around) / (4 * idler.inertia)
    free = 4 * TENSIONER.mass - 2 * h * TENSIONER.damping - h**2 * TENSIONER.stiffness
    sliding = h * count * (2 * LAW.damping + h * max(normal, around)) / free
    assert 0 < sliding < sliding + turning < 1
    assert 1 / splits.normal == pytest.approx(1 - sliding)
    assert 1 / splits.around == pytest.approx(1 - sliding - turning)
    assert math.isinf(contact_splits(gear, SHOE, force, 1e-2).around)


# Bad input


def overlapping():
    first, second = (Wheel.flanged(x, 0.0, 0.05, 1e-4, 0.02, 0.005) for x in (0.0, 0.1))
    return RunningGear((first, second), 0, RAIL, LAW)


@each_row(
    "make, message",
    [
        (overlapping, "wheels 0 and 1 of a running gear must be apart, got an overlap of 0.01 m"),
        (
            lambda: RunningGear((Wheel.flanged(0, 0, 0.05, 1e-4, 0.02, 0.005),), 1, RAIL, LAW),
            "driven wheel of a running gear must be one of 0 to 0, got 1",
        ),
        (lambda: Rail(0.005, ()), "stations of a rail must be at least one, got ()"),
        (lambda: Rail(-0.1, (0.0,)), "inset of a rail must be at least 0, got -0.1"),
        (
            lambda: wheel_contact_parameters(0.0, 1, 1, 1),
            "stiffness of a wheel contact must be greater than 0, got 0.0",
        ),
        (
            lambda: wheel_contact_parameters(1.0, 1, -1, 1),
            "friction of a wheel contact must be at least 0, got -1",
        ),
        (
            lambda: Tensioner((1.0, 1.0), 1, 1, 1, 1),
            "direction of a tensioner must be of norm 1, got (1.0, 1.0)",
        ),
        (lambda: Tensioner((1.0, 0.0), 0, 1, 1, 1), "mass of a tensioner must be greater than 0, got 0.0"),
        (
            lambda: Wheel(0, 0, ((0, 0.1), (0, 0.2)), 1e-4),
            "profile of a wheel must be of rising axial offsets, got ((0.0, 0.1), (0.0, 0.2))",
        ),
        (
            lambda: Wheel(0, 0, ((0, 0.1), (1, -0.1)), 1e-4),
            "profile of a wheel must be of radii greater than 0, got ((0.0, 0.1), (1.0, -0.1))",
        ),
        (
            lambda: Wheel(0, 0, ((0, 0.1), (0.001, 0.1), (1, 0.1)), 1e-4),
            "rounding of a wheel must be at most half the shortest step of the profile, 0.0005 m, got 0.001",
        ),
        (
            lambda: Sprocket.for_pitch(PITCH, 12, 0.02, 1e6),
            "bushing_radius of a sprocket must be below 0.0172 m, for 12 teeth at a pitch of 0.0384 m, "
            "got 0.02",
        ),
        (
            lambda: Sprocket.for_pitch(PITCH, 12, 0.004, 1e6, height=0.1),
            "height of a sprocket's teeth must be above 0 and below 0.0493 m, where a tooth's flanks meet, "
            "got 0.1",
        ),
        (
            lambda: Sprocket.for_pitch(PITCH, 3, 0.004, 1e6),
            "count of a sprocket's teeth must be at least 4, got 3",
        ),
        (
            lambda: Sprocket(12, 0.07, ((0, 0),) * 5, 0.004, 1e6),
            "profile of a sprocket must be six points, got 5",
        ),
        (
            lambda: Sprocket(12, 0.07, ((0, 0),) * 6, 0.004, 1e6),
            "each end of a sprocket's profile must be on a tooth's axis, at -15.000 deg, got 0.000 deg",
        ),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message
