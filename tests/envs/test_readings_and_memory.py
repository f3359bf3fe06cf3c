"""Loads, slip, IMU and time in the view; memories, potentials and commands drawn anew."""

import copy
import math
import pickle

import numpy as np
import pytest
from env_actions import FORWARD, STILL, robot_of
from scenes import environment
from scipy import stats

from segtrack.description import load_vehicle, vehicle_links
from segtrack.envs import (
    EXTRA_PARTS,
    OUTCOMES,
    Environment,
    Memory,
    Term,
    VectorEnvironment,
    memory_part,
    random_commands,
)
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError

GIVEN = {"engine": "native", "time_step": 0.004}
WEIGHT = vehicle_links(load_vehicle("quince")).mass * 9.81
LIMITS = ((-0.3, 0.3), (-0.5, 1.0))


def test_an_imu_reads_gravity_at_rest_and_nothing_in_free_fall():
    with environment("Drive", parts={"imu": EXTRA_PARTS["specific_force"]}, **GIVEN) as env:
        first, _ = env.reset(seed=0)
        assert env.sensors.part(first, "imu") == pytest.approx([0.0, 0.0, 9.81], abs=1e-5)
        for _ in range(30):
            seen, *_ = env.step(STILL)
        assert env.sensors.part(seen, "imu") == pytest.approx([0.0, 0.0, 9.81], abs=0.01)
        robot_of(env).reset_base_pose((0.0, 0.0, 9.0))
        env.step(STILL)
        seen, *_ = env.step(STILL)
        assert env.sensors.part(seen, "imu") == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)


def test_an_imu_on_a_slope_leans_and_reads_what_moves_it():
    slope = 0.3
    with environment("Drive", slope=slope, winding=0.0, **GIVEN) as env:
        env.reset(seed=0)
        height = 1.4 * math.tan(slope) + 0.12 / math.cos(slope)
        robot_of(env).reset_base_pose(
            (2.4, 0.0, height), (0.0, -math.sin(slope / 2), 0.0, math.cos(slope / 2))
        )
        for _ in range(30):
            env.step(STILL)
        leaning = float(env.view.pitch[0])
        expected = [9.81 * math.sin(leaning), 0.0, 9.81 * math.cos(leaning)]
        assert leaning == pytest.approx(slope, abs=0.02)
        assert env.view.specific_force[0] == pytest.approx(expected, abs=0.02)
        before = env.view.motion.velocity[0]
        env.step(FORWARD)
        gained = (env.view.motion.velocity[0] - before) / 0.05 + [0.0, 0.0, 9.81]
        assert env.view.specific_force[0] == pytest.approx(env.view.in_body(gained[None])[0])


def test_tracks_carry_the_weight_and_the_body_does_on_its_back():
    with environment("Drive", **GIVEN) as env:
        env.reset(seed=0)
        for _ in range(30):
            env.step(STILL)
        loads = env.view.track_loads[0]
        assert loads.sum() == pytest.approx(WEIGHT, rel=1e-3)
        names = [track.name for track in load_vehicle("quince").mounted_tracks()]
        left, right = (loads[[n.endswith(side) for n in names]].sum() for side in ("left", "right"))
        assert left == pytest.approx(right, rel=1e-3)
        assert env.view.body_load[0] == 0.0
        robot_of(env).reset_base_pose((0.0, 0.0, 0.2), (1.0, 0.0, 0.0, 0.0))
        env._episode_world.world.run(2.0)
        env._episode._readings.known.clear()
        total = env.view.track_loads[0].sum() + env.view.body_load[0]
        assert total == pytest.approx(WEIGHT, rel=0.01)


def test_slips_are_those_of_tracks_and_time_that_of_control_steps():
    with environment("Drive", friction=0.02, parts={"t": EXTRA_PARTS["time"]}, **GIVEN) as env:
        env.reset(seed=0)
        for k in range(8):
            seen, *_ = env.step(FORWARD)
            assert env.sensors.part(seen, "t") == pytest.approx([0.05 * (k + 1)])
        own = [track.slip for track in robot_of(env).tracks.values()]
        assert env.view.track_slips[0].tolist() == own and max(own) > 0.005


@pytest.mark.parametrize("track_model", ["segments", "chain"])
def test_loads_are_not_told_elsewhere(track_model):
    with environment("Drive", track_model=track_model) as env:
        env.reset(seed=0)
        with pytest.raises(NotReadyError) as error:
            env.view.track_loads  # noqa: B018
    reason = "cannot read loads of tracks: they are those of belts compliant or surface in the engine native"
    assert str(error.value) == reason


def test_commands_are_drawn_from_their_limits_anew_at_random_times():
    env = VectorEnvironment(
        "Drive",
        30,
        memories=random_commands("twist", LIMITS, every=0.2),
        time_step=0.005,
        time_limit=10.0,
        parts={"command": memory_part("twist", LIMITS)},
    )
    seen, _ = env.reset(seed=0)
    met = [env.view.memory("twist")]
    np.testing.assert_array_equal(env.sensors.part(seen, "command"), met[0].astype(np.float32))
    for _ in range(60):
        env.step(np.zeros(env.action_space.shape, np.float32))
        met.append(env.view.memory("twist"))
    env.close()
    met = np.array(met)
    anew = (met[1:] != met[:-1]).all(axis=2)
    assert ((met[1:] == met[:-1]).all(axis=2) | anew).all()
    assert abs(anew.mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / anew.size)
    for k, (low, high) in enumerate(LIMITS):
        drawn = np.concatenate([met[0, :, k], met[1:, :, k][anew]])
        assert stats.kstest(drawn, stats.uniform(low, high - low).cdf).pvalue > 1e-3


def count_up(view, rngs):
    return view.memory("count") + 1


def zero(view, rngs):
    return np.zeros((len(view.yaw), 1))


def test_terms_know_what_was_before_a_step_and_parts_what_is_after_it():
    known = Term(1.0, "", lambda view: view.memory("count")[:, 0])
    given = {
        "memories": {"count": Memory(zero, count_up)},
        "terms": {"known": known},
        "parts": {"count": memory_part("count", [(0.0, 100.0)])},
    }
    with environment("StepClimb", **given, **GIVEN) as env:
        for _ in range(2):
            seen, _ = env.reset(seed=0)
            assert env.sensors.part(seen, "count").tolist() == [0.0]
            for k in range(3):
                seen, *_, info = env.step(STILL)
                assert info["reward_terms"]["known"] == k
                assert env.sensors.part(seen, "count").tolist() == [k + 1.0]


@pytest.mark.parametrize("ending", ["timeout", "off_course"])
def test_discounted_differences_of_a_potential_add_up_to_its_ends(ending):
    discount, weight = 0.9, 2.0
    near = Term(weight, "", lambda view: -(view.path_length - view.progress) + view.yaw, discount)
    turned = 0.0 if ending == "timeout" else 1.5
    given = {"terms": {"near": near}, "time_limit": 1.0, "belt_speed": 0.5, "initial_yaw": turned}
    given |= {"initial_y": 0.05} if ending == "timeout" else {"initial_y": 0.25, "time_limit": 9.0}
    with environment("StepClimb", **given, **GIVEN) as env:
        env.reset(seed=0)
        start, total, factor, ended = near.value(env.view)[0], 0.0, 1.0, False
        while not ended:
            *_, terminated, truncated, info = env.step(FORWARD)
            total += factor * info["reward_terms"]["near"]
            factor, ended = factor * discount, terminated or truncated
        assert OUTCOMES[info["outcome"]] == ending
        end = near.value(env.view)[0] if ending == "timeout" else 0.0
        assert total == pytest.approx(weight * (factor * end - start))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_remember_and_read_as_the_first_does(copied):
    parts = dict(EXTRA_PARTS) | {"command": memory_part("twist", LIMITS)}
    for make in (Environment, lambda *task, **own: VectorEnvironment(*task, 1, **own)):
        env = make(
            "StepClimb", time_step=0.004, parts=parts, memories=random_commands("twist", LIMITS, every=0.1)
        )
        env.reset(seed=0)
        other, action = copied(env), np.broadcast_to(FORWARD, env.action_space.shape)
        for _ in range(4):
            (seen, *_), (again, *_) = env.step(action), other.step(action)
            np.testing.assert_array_equal(seen, again)
        env.close(), other.close()


@pytest.mark.parametrize(
    "given, kind, message",
    [
        (
            {"memories": {"a": 1}},
            InvalidValueError,
            "memory a must be of class Memory, or None to leave it out",
        ),
        (
            {"memories": {"a": Memory(lambda view, rngs: np.zeros(1))}},
            InvalidValueError,
            "memory a must be numbers ",
        ),
        ({"memories": {"a": Memory(zero, count_up)}}, UnknownNameError, "no memory 'count'; there are: a"),
        (
            {"terms": {"near": Term(1.0, "", lambda view: view.yaw, 1.5)}},
            InvalidValueError,
            "discount of reward ",
        ),
    ],
)
def test_memories_and_potentials_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error, Environment("StepClimb", **given, **GIVEN) as env:
        env.reset(seed=0)
        env.step(STILL)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "limits, every, message",
    [
        ((), 1.0, "limits of twist must be ranges (low, high) with low <= high"),
        (((1.0, 0.0),), 1.0, "limits of twist must be ranges (low, high) with low <= high"),
        (LIMITS, 0.0, "every of twist [s] must be greater than 0, got 0.0"),
    ],
)
def test_commands_that_cannot_be_drawn_are_refused(limits, every, message):
    with pytest.raises(InvalidValueError) as error:
        random_commands("twist", limits, every)
    assert str(error.value).startswith(message)
