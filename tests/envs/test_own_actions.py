"""Actions of a user's own: a robot with an arm, in both engines, single and in vectors."""

import copy
import pickle

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed
from scenes import environment

from segtrack.envs import OUTCOMES, ActionMapping, Actuators, Environment, VectorEnvironment
from segtrack.envs.learning import make_policy
from segtrack.envs.learning.network import NetworkOrigin
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError

LIMBS = [
    Limb("hinge", xyz=(-0.2, 0.0, 0.1), mass=0.5),  # Swings freely.
    Limb("shoulder", xyz=(0.1, 0.0, 0.15), center=(0.15, 0.0, 0.0), limits=(-1.5, 0.5), velocity=1.0),
    Limb("reach", parent="shoulder_link", kind="prismatic", axis=(1.0, 0.0, 0.0), center=(0.3, 0.0, 0.0),
         limits=(0.0, 0.2), velocity=0.4),
]  # fmt: skip


class Arm(ActionMapping):
    """Belts, a speed of the shoulder, and a position of the reach."""

    names = ("left", "right", "shoulder", "reach")

    def command(self, robots, actions):
        left, right, shoulder, reach = actions.T
        robots.set_belt_speed(0.4 * left, 0.4 * right)
        robots.set_joint_speeds(shoulder=0.5 * shoulder)
        robots.set_joints(reach=0.1 + 0.1 * reach)


@pytest.fixture(scope="module")
def armed(tmp_path_factory):
    """A vehicle of two tracks with an arm of two joints, and a hinge without a servo."""
    servos = {"hinge": {}, "shoulder": {"servo": {}}, "reach": {"servo": {}}}
    return jointed(tmp_path_factory.mktemp("armed"), LIMBS, servos)


def make(vehicle, **given):
    return Environment("Drive", vehicle=vehicle, winding=0.0, actions=Arm(), **given)


@pytest.mark.parametrize("engine", ["native", pytest.param("pybullet", marks=pytest.mark.pybullet)])
def test_an_arm_moves_as_it_is_told_and_is_observed(armed, engine):
    env = make(armed, engine=engine)
    observation, _ = env.reset(seed=0)
    assert env.action_space.shape == (4,)
    part = env.sensors.part
    np.testing.assert_allclose(part(observation, "joint_position"), 0.0, atol=1e-6)
    for _ in range(20):
        observation, *_, info = env.step(np.array([0.5, 0.5, -1.0, 0.6], np.float32))
    assert OUTCOMES[info["outcome"]] == "running"
    # 0.5 rad/s for a second, and 0.1 m + 0.06 m; the belts at 0.2 m/s.
    np.testing.assert_allclose(part(observation, "joint_position"), [-0.5, 0.16], atol=0.02)
    np.testing.assert_allclose(part(observation, "joint_speed"), [-0.5, 0.0], atol=0.05)
    np.testing.assert_allclose(part(observation, "belt_speed"), 0.2, atol=0.01)
    np.testing.assert_allclose(part(observation, "last_action"), [0.5, 0.5, -1.0, 0.6])
    joints, motion = env._episode_world.robot.joints, env.view.motion
    assert list(joints) == ["hinge", "shoulder", "reach"]
    for field, read in (("positions", "position"), ("speeds", "speed"), ("forces", "force")):
        expected = [getattr(joint, read) for joint in joints.values()]
        np.testing.assert_allclose(getattr(motion, f"joint_{field}")[0], expected, atol=1e-12)
    rows = [part for part in env.sensors.parts if part.name.startswith("joint_")]
    assert [part.labels for part in rows] == [("shoulder", "reach")] * 2
    np.testing.assert_allclose([part.low for part in rows], [[-1.6, -0.1], [-2.0, -0.8]])
    np.testing.assert_allclose([part.high for part in rows], [[0.6, 0.3], [2.0, 0.8]])
    env.close()


def test_a_vector_environment_does_with_them_what_single_ones_do(armed):
    given = {"time_step": 0.0025, "sensor_noise": 0.01, "action_delay": 1}
    alone = [make(armed, **given) for _ in range(3)]
    envs = VectorEnvironment("Drive", 3, vehicle=armed, winding=0.0, actions=Arm(), threads=1, **given)
    seen, _ = envs.reset(seed=5)
    np.testing.assert_allclose(seen, [env.reset(seed=5 + i)[0] for i, env in enumerate(alone)], atol=1e-6)
    for actions in np.random.default_rng(0).uniform(-1, 1, (10, 3, 4)).astype(np.float32):
        seen, rewards, *_ = envs.step(actions)
        said = [env.step(action) for env, action in zip(alone, actions, strict=True)]
        np.testing.assert_allclose(seen, [each[0] for each in said], rtol=0, atol=1e-6)
        np.testing.assert_allclose(rewards, [each[1] for each in said], rtol=0, atol=1e-6)
    for env in (*alone, envs):
        env.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_have_them(armed, copied):
    env, action = make(armed), np.array([0.5, 0.5, -1.0, 0.6], np.float32)
    env.reset(seed=0)
    np.testing.assert_array_equal(copied(env).step(action)[0], env.step(action)[0])
    env.close()


class More(Actuators):
    """What is built in, and an entry that nothing hears."""

    def __init__(self, vehicle):
        super().__init__(vehicle, 0.2, "pairs")
        self.names += ("spare",)


def test_those_that_are_built_in_can_be_added_to(climb):
    with environment(actions=More(climb.vehicle)) as env, environment(belt_speed=0.2) as other:
        assert env.actuators.names == ("left", "right", "front", "rear", "spare")
        for each in (env, other):
            each.reset(seed=0)
        one = env.step(np.array([1.0, 0.5, 0.5, 0.0, 1.0], np.float32))
        two = other.step(np.array([1.0, 0.5, 0.5, 0.0], np.float32))
        for name in ("velocity", "flipper_angle", "height_scan"):
            np.testing.assert_array_equal(env.sensors.part(one[0], name), other.sensors.part(two[0], name))


def test_policies_are_refused_for_actions_of_another_kind(armed, climb):
    env = make(armed)
    origin = NetworkOrigin.of(env)
    assert (origin.actions, origin.belt_speed) == (Arm.names, None)
    with pytest.raises(InvalidValueError, match="^actions for the policy scripted must be belts and"):
        make_policy("scripted", env)
    env.close()
    with environment(actions=More(climb.vehicle)) as env:
        with pytest.raises(InvalidValueError) as error:
            make_policy("ppo", env)
    assert "got 83 others, without last_action.spare" in str(error.value)


class Wrong(Arm):
    """A joint that there is not."""

    def command(self, robots, actions):
        robots.set_joints(elbow=actions.T[0])


class Free(Arm):
    """A joint without a servo."""

    def command(self, robots, actions):
        robots.set_joint_speeds(hinge=actions.T[0])


@pytest.mark.parametrize("count", [None, 2])
def test_commands_that_there_are_not_are_refused_by_name(armed, count):
    for actions, kind, message in (
        (Wrong(), UnknownNameError, "'elbow'; there are: hinge, shoulder, reach"),
        (Free(), NotReadyError, "cannot command joint hinge: it has no servo"),
    ):
        given = {"vehicle": armed, "winding": 0.0, "actions": actions}
        env = Environment("Drive", **given) if count is None else VectorEnvironment("Drive", count, **given)
        env.reset(seed=0)
        with pytest.raises(kind, match=message):
            env.step(np.zeros(env.action_space.shape, np.float32))
        with pytest.raises(InvalidValueError, match="left, right, shoulder, reach, got shape"):
            env.step(np.zeros((3, 3)))
        env.close()


@pytest.mark.parametrize(
    "names, got", [(("left", "left"), "('left', 'left')"), ((), "()"), ("left", "'left'"), ((1,), "(1,)")]
)
def test_what_is_no_mapping_of_actions_is_refused(monkeypatch, names, got):
    monkeypatch.setattr(Arm, "names", names)
    for make in (Environment, VectorEnvironment):
        with pytest.raises(InvalidValueError) as error:
            make("Drive", actions=Arm())
        assert str(error.value) == f"names of Arm must be a tuple of a word an entry, got {got}"
        with pytest.raises(InvalidValueError, match="^actions must be an ActionMapping, got <class "):
            make("Drive", actions=Arm)
