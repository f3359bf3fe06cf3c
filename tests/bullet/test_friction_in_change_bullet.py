"""Friction never beyond friction times load, whatever is commanded, of belts beside PyBullet.

The momentum theorem of `tests/native/test_friction_in_change.py`, with what else acts: its momentum is known,
or it belongs to what stands on the ground.
"""

import math

import numpy as np
import pybullet
import pytest
from friction_in_change import (
    DRIVEN,
    G,
    commanded_steps,
    largest_excess,
    momenta_under_commands,
    momentum_of,
    on_ground,
    top_speed,
)
from quick import some_of

MODELS = some_of(["compliant", "surface"], "compliant")
STEPS = some_of([0.001, 0.002, 0.004, 0.01], 0.004)
VEHICLES = [name for name in DRIVEN if not name.startswith("m113")]
"""PyBullet takes an M113's suspension with steps of 0.3 ms alone."""
SOME = some_of(VEHICLES, "packbot")


def beside(vehicle, track_model, friction, step, **where):
    return on_ground(vehicle, friction, step, engine="pybullet", track_model=track_model, **where)


@pytest.mark.parametrize("friction", [0.6, 0.1])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("track_model", MODELS)
@pytest.mark.parametrize("vehicle", some_of(VEHICLES, "packbot", "quince"))
def test_no_command_gains_more_momentum_than_friction_times_load(vehicle, track_model, step, friction):
    world, robot = beside(vehicle, track_model, friction, step)
    with world:
        momenta = momenta_under_commands(world, robot, step, 1.0, seed=1)
        assert largest_excess(momenta, step, friction, robot.mass * G) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
@pytest.mark.parametrize("vehicle", ["m113", "m113_rear_drive"])
def test_no_command_to_an_m113_gains_more_than_friction_times_load(vehicle, track_model):
    step = 0.0003
    world, robot = beside(vehicle, track_model, 0.6, step)
    with world:
        momenta = momenta_under_commands(world, robot, step, 0.3, seed=1)
        assert largest_excess(momenta, step, 0.6, robot.mass * G) < 0.02


class Company:
    """Something that acts on a robot from outside while it is driven."""

    def __init__(self, world, robot, limit):
        """Join a robot that friction holds up to a limit [N]."""
        self.client, self.body, self.force = world.client, robot.body_id, limit * np.array([0.3, -0.25, 0.1])
        self.mass, self.friction = 0.3 * robot.mass, robot.description.tracks["left"].contact.friction
        self.place, _ = self.client.getBasePositionAndOrientation(self.body)
        self.join(robot)

    def join(self, robot):
        """Begin to act."""

    def act(self):
        """What is to be done before a step."""

    def carried(self):
        """Weight [N] and momentum [kg m/s] of what stands on the ground besides."""
        return 0.0, np.zeros(3)

    def outside(self):
        """Force on all that stands on the ground in the last step [N]."""
        return np.zeros(3)


class Push(Company):
    """A user's force."""

    def join(self, robot):
        robot.apply_force(tuple(self.force))

    def outside(self):
        return self.force


class OwnLoop(Push):
    """A force of PyBullet's that segtrack is not told of."""

    def join(self, robot):
        pass

    def act(self):
        place, _ = self.client.getBasePositionAndOrientation(self.body)
        self.client.applyExternalForce(self.body, -1, self.force.tolist(), place, self.client.WORLD_FRAME)


class Parcel(Company):
    """A box of the user's that lies on the robot."""

    def join(self, robot):
        x, y, _ = robot.state.position
        self.other = self.box((x, y, self.client.getAABB(self.body)[1][2] + 0.051))

    def box(self, place):
        shape = self.client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=(0.05, 0.05, 0.05))
        body = self.client.createMultiBody(self.mass, shape, basePosition=place)
        self.client.changeDynamics(
            body, -1, lateralFriction=self.friction, linearDamping=0.0, angularDamping=0.0
        )
        return body

    def carried(self):
        return self.mass * G, self.mass * np.array(self.client.getBaseVelocity(self.other)[0])


class Sled(Parcel):
    """A box on the ground that a constraint ties to the robot."""

    def join(self, robot):
        place = np.array([self.client.getAABB(self.body)[0][0] - 0.3, self.place[1], 0.05])
        self.other, tow = self.box(place.tolist()), np.array([0.25, 0.0, 0.0])
        hook = (place + tow - self.place).tolist()
        self.client.createConstraint(
            self.body, -1, self.other, -1, pybullet.JOINT_POINT2POINT, (0, 0, 0), hook, tow.tolist()
        )


class Tether(Company):
    """A constraint to a point of the world 30 m ahead, with a largest force along each axis."""

    def join(self, robot):
        ahead = (self.place[0] + 30.0, *self.place[1:])
        self.tether = self.client.createConstraint(
            self.body, -1, -1, -1, pybullet.JOINT_POINT2POINT, (0, 0, 0), (0, 0, 0), ahead
        )
        self.client.changeConstraint(self.tether, maxForce=self.force[0])

    def outside(self):
        return -np.array(self.client.getConstraintState(self.tether))


@pytest.mark.parametrize("company", some_of([Push, OwnLoop, Parcel, Sled, Tether], Parcel, Tether))
@pytest.mark.parametrize("friction", some_of([0.6, 0.1], 0.6))
@pytest.mark.parametrize("step", some_of([0.001, 0.002, 0.005, 0.01], 0.005))
@pytest.mark.parametrize("track_model", MODELS)
@pytest.mark.parametrize("vehicle", some_of(["packbot", "quince"], "packbot"))
def test_nor_does_it_with_company(vehicle, track_model, step, friction, company):
    """What acts from outside is taken off, or belongs to what stands on the ground."""
    world, robot = beside(vehicle, track_model, friction, step)
    with world:
        other = company(world, robot, friction * robot.mass * G)
        world.run(0.1)
        momenta, forces = [momentum_of(robot) + other.carried()[1]], []
        for _ in commanded_steps(robot, step, 1.0, seed=3):
            other.act()
            world.step()
            momenta.append(momentum_of(robot) + other.carried()[1])
            forces.append(other.outside())
        weight = robot.mass * G + other.carried()[0]
        assert largest_excess(np.array(momenta), step, friction, weight, forces) < 0.02


@pytest.mark.parametrize("track_model", MODELS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("vehicle", some_of(["packbot", "quince"], "quince"))
def test_alternating_belts_climb_no_slope_beyond_friction(vehicle, step, track_model):
    """Between the ground's speed and full speed each 20 ms: no better than friction upwards all the time."""
    slope, friction, seconds = math.radians(22.0), 0.3, 2.0
    world, robot = beside(vehicle, track_model, friction, step, slope_deg=22.0)
    with world:
        top, start = top_speed(robot), robot.state.position[0]
        for k in range(round(seconds / 0.02)):
            sliding = min(max(robot.state.velocity[0], -top), top)
            speed = top if k % 2 == 0 else sliding
            robot.set_belt_speed(left=speed, right=speed)
            world.run(0.02)
        climbed = robot.state.position[0] - start
    assert climbed < -0.99 * G * (math.sin(slope) - friction * math.cos(slope)) * seconds**2 / 2


@pytest.mark.parametrize("sideways", [False, True])
@pytest.mark.parametrize("beyond", [1.02, 1.08])
@pytest.mark.parametrize("track_model", MODELS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("vehicle", SOME)
def test_what_slides_is_pulled_by_the_slope_less_friction(vehicle, step, track_model, beyond, sideways):
    friction, axis = 0.4, 1 if sideways else 0
    angle = beyond * math.atan(friction)
    world, robot = beside(
        vehicle, track_model, friction, step, slope_deg=math.degrees(angle), sideways=sideways
    )
    with world:
        world.run(0.4)
        before = momentum_of(robot)[axis]
        world.run(0.4)
        pull = (before - momentum_of(robot)[axis]) / (0.4 * robot.mass)
    assert pull == pytest.approx(G * (math.sin(angle) - friction * math.cos(angle)), rel=0.005)


def tilt(world, slope_deg):
    """Turn gravity into a slope that rises ahead."""
    angle = math.radians(slope_deg)
    world.set_gravity((-G * math.sin(angle), 0.0, -G * math.cos(angle)))


def braked(vehicle, track_model, step, engine="pybullet"):
    """A vehicle on level ground of friction 0.6, whose drives hold 0.95 of its downhill force at 28 deg."""
    world, robot = on_ground(vehicle, 0.6, step, engine=engine, track_model=track_model)
    downhill = robot.mass * G * math.sin(math.radians(28.0))
    for track in robot.tracks.values():
        track.scale_drive(0.95 * downhill / len(robot.tracks) / track.spec.drive.stall_force)
    robot.set_belt_speed(0.0, 0.0)
    return world, robot


def ways_of(*scene):
    """Ways of a braked vehicle and of its belts [m], from rest down the slope and on level ground to rest."""
    world, robot = braked(*scene)
    with world:
        start = np.array([robot.state.position[0], *(track.travel for track in robot.tracks.values())])
        for slope in (28.0, 0.0):
            tilt(world, slope)
            world.run(0.5)
        assert np.linalg.norm(robot.state.velocity) < 1e-6
        return np.array([robot.state.position[0], *(t.travel for t in robot.tracks.values())]) - start


@pytest.mark.parametrize("track_model", MODELS)
@pytest.mark.parametrize("step", STEPS)
def test_a_braked_belt_does_not_creep_against_its_ground(step, track_model):
    way, *run = ways_of("packbot", track_model, step)
    assert way < -0.015
    np.testing.assert_allclose(run, way, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
@pytest.mark.parametrize("step", [0.001, 0.004, 0.01])
@pytest.mark.parametrize("vehicle", [name for name in VEHICLES if name != "quince"])
def test_braked_belts_run_as_those_of_the_native_engine(vehicle, step, track_model):
    """Where few grousers stand on the ground, and each that leaves it lets the vehicle slip, too.

    What differs is nearer to where the native engine's ways go with shorter steps: lugged_wheel's of 1 ms is
    0.6 % away.
    """
    ways, native = ways_of(vehicle, track_model, step), ways_of(vehicle, track_model, 0.001, "native")
    apart = ~np.isclose(ways, native, rtol=2e-3, atol=1e-4)
    if apart.any():
        limit = ways_of(vehicle, track_model, 0.0001, "native")
        assert (np.abs(ways - limit) < np.abs(native - limit))[apart].all()


def test_a_braked_belt_is_saved_and_restored():
    world, robot = braked("packbot", "compliant", 0.004)
    with world:
        tilt(world, 28.0)
        world.run(0.2)
        saved, ends = world.save(), []
        for _ in range(2):
            tilt(world, 28.0)
            world.run(0.1)
            ends.append((robot.state, [track.travel for track in robot.tracks.values()]))
            tilt(world, 0.0)
            world.run(0.4)  # To rest, where drives hold their belts.
            world.restore(saved)
        assert ends[0] == ends[1]
