"""Endings, rewards and infos of episodes that are driven to them."""

import math

import numpy as np
import pybullet
import pytest
from env_actions import FORWARD, STILL
from scenes import environment

from segtrack.envs import OUTCOMES, TASKS, TERMS
from segtrack.envs.parameters import ROBOT_PARAMETERS
from segtrack.envs.tasks import StepClimb

KEYS = {"parameters", "outcome", "success", "progress", "slip", "energy", "reward_terms"}


@pytest.mark.parametrize(
    "task, given",
    [("GapCross", {"length": 0.1}), ("Drive", {"winding": 0.0}), ("RoughTerrain", {"roughness": 0.02})],
)
def test_who_drives_to_the_end_of_the_way_is_done(task, given):
    with environment(task, belt_speed=0.5, **given) as env:
        _, info = env.reset(seed=0)
        start, infos, rewards, terminated = info["progress"], [], [], False
        assert set(info) == KEYS and (info["success"], info["energy"]) == (False, 0.0)
        assert set(info["parameters"]) == {*TASKS[task].parameters, *ROBOT_PARAMETERS}
        tracks, worked = env._episode_world.robot.tracks.values(), 0.0
        while not terminated:
            energies = [track.energy for track in tracks]
            _, reward, terminated, truncated, info = env.step(FORWARD)
            assert not truncated
            worked += sum(max(t.energy - e, 0.0) for t, e in zip(tracks, energies, strict=True))
            assert info["energy"] == pytest.approx(sum(track.energy for track in tracks))
            rewards.append(reward), infos.append(info)
        weights = {**{name: term.weight for name, term in TERMS.items()}, **TASKS[task].weights}
        length = env.task_state.course.path.length
    assert all(set(info) == KEYS and not info["success"] for info in infos[:-1])
    assert set(info) == KEYS | {"real_time_factor"} and info["real_time_factor"] > 0
    assert (info["success"], OUTCOMES[info["outcome"]]) == (True, "success")
    assert rewards == [sum(info["reward_terms"].values()) for info in infos]
    terms = {name: sum(info["reward_terms"][name] for info in infos) for name in weights}
    assert set(infos[0]["reward_terms"]) == set(weights)
    assert info["progress"] == pytest.approx(length)
    assert terms["progress"] == pytest.approx(weights["progress"] * (info["progress"] - start))
    assert (terms["success"], terms["failure"]) == (weights["success"], 0.0)
    assert terms["time"] == pytest.approx(-weights["time"] * len(infos) / 20)
    assert terms["energy"] == pytest.approx(-weights["energy"] * worked / 1000)
    # What one belt gets back from another is not taken off again.
    assert 0 < info["energy"] <= worked


def test_belt_travel_and_way_make_the_slip(climb):
    climb.reset(seed=0)
    for _ in range(10):
        climb.step(FORWARD)
    robot = climb._episode_world.robot
    way, travel = robot.state.position[0], robot.tracks["left"].travel
    *_, info = climb.step(FORWARD)
    way, travel = robot.state.position[0] - way, robot.tracks["left"].travel - travel
    assert travel == pytest.approx(0.3 * 0.05, rel=0.02)
    assert info["slip"] == pytest.approx(1 - way / travel, abs=0.01)
    climb.reset(seed=0)
    assert climb.step(STILL)[-1]["slip"] == pytest.approx(0.0, abs=0.02)


def test_slip_of_a_turn_is_by_the_mean_of_all_belts(climb):
    """One side runs at three times the other's speed: neither of them alone gives it."""
    climb.reset(seed=0)
    robot, turning = climb._episode_world.robot, np.array([0.3, 1.0, 0.0, 0.0], np.float32)
    for _ in range(10):
        climb.step(turning)
    before, origin = [track.travel for track in robot.tracks.values()], np.array(robot.state.position)
    *_, info = climb.step(turning)
    travel = np.mean([t.travel - b for t, b in zip(robot.tracks.values(), before, strict=True)])
    yaw = robot.state.yaw
    way = (np.array(robot.state.position) - origin) @ (math.cos(yaw), math.sin(yaw), 0.0)
    sides = [robot.tracks[name].travel for name in ("left", "right")]
    assert max(sides) > 2.0 * min(sides) > 0.0
    assert info["slip"] == pytest.approx(1 - way / travel, abs=0.02)


@pytest.mark.parametrize(
    "roll_deg, pitch_deg, tipped",
    [(79, 0, False), (81, 0, True), (-81, 0, True), (180, 0, True), (0, 79, False), (0, 81, True),
     (0, -81, True), (75, 30, False), (75, 50, True)],
)  # fmt: skip
def test_a_robot_that_leans_further_than_80_degrees_has_tipped_over(climb, roll_deg, pitch_deg, tipped):
    """In the air, where nothing turns it: cos(lean) = cos(roll) cos(pitch)."""
    lean = math.acos(math.cos(math.radians(roll_deg)) * math.cos(math.radians(pitch_deg)))
    assert (lean > math.radians(80)) == tipped
    climb.reset(seed=0)
    angles = (math.radians(roll_deg), -math.radians(pitch_deg), 0.4)
    climb._episode_world.robot.reset_base_pose((-1.0, 0.0, 3.0), pybullet.getQuaternionFromEuler(angles))
    _, _, terminated, truncated, info = climb.step(STILL)
    state = climb.task_state.state
    # PyBullet turns about the body's axes in the order yaw, pitch, roll.
    assert (state.roll, state.pitch) == pytest.approx((angles[0], -angles[1]), abs=5e-3)
    assert (terminated, truncated, info["success"]) == (tipped, False, False)
    assert OUTCOMES[info["outcome"]] == ("tip_over" if tipped else "running")
    assert info["reward_terms"]["failure"] == -TERMS["failure"].weight * tipped


def test_straight_ahead_leaves_a_winding_path():
    with environment("Drive", belt_speed=0.5) as env:
        for seed in range(4):
            env.reset(seed=seed)
            terminated = truncated = False
            while not (terminated or truncated):
                *_, terminated, truncated, info = env.step(FORWARD)
            assert (terminated, OUTCOMES[info["outcome"]]) == (True, "off_course")
            assert abs(env.task_state.place.lateral) > env.task.corridor
            assert info["reward_terms"]["failure"] == -TERMS["failure"].weight


@pytest.mark.parametrize("side", [-1, 1])
def test_nobody_passes_beside_the_course(climb, side):
    climb.reset(seed=0)
    climb._episode_world.world.place_on_terrain(climb._episode_world.robot, -1.5, side * 0.49)
    assert OUTCOMES[climb.step(STILL)[-1]["outcome"]] == "running"
    climb.reset(seed=0)
    climb._episode_world.world.place_on_terrain(climb._episode_world.robot, -1.5, side * 0.51)
    assert OUTCOMES[climb.step(STILL)[-1]["outcome"]] == "off_course"


def test_a_robot_in_the_gap_has_fallen():
    with environment("GapCross", length=0.95, belt_speed=0.5) as env:
        env.reset(seed=0)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(FORWARD)
            over = terminated or truncated
    assert OUTCOMES[info["outcome"]] in ("fallen", "tip_over")
    assert terminated


def test_a_time_limit_of_ones_own_counts():
    with environment(time_limit=0.2) as env:
        env.reset(seed=0)
        infos = [env.step(STILL)[-1] for _ in range(4)]
    assert [OUTCOMES[info["outcome"]] for info in infos] == ["running"] * 3 + ["timeout"]


def test_time_truncates():
    with environment() as env:
        env.reset(seed=0)
        ends = [env.step(STILL)[2:4] for _ in range(300)]
    assert ends == [(False, False)] * 299 + [(False, True)]


@pytest.mark.parametrize("frequency, steps", [(10, 4), (20, 8), (30, 12), (50, 20), (200, 80)])
def test_time_is_counted_in_seconds_whatever_the_control_frequency(frequency, steps):
    class Brief(StepClimb):
        time_limit = 0.4

    with environment(Brief(), control_frequency=frequency) as env:
        env.reset(seed=0)
        ends = [env.step(STILL)[3] for _ in range(steps)]
        assert env._episode_world.world.time == pytest.approx(0.4)
        assert env.metadata["render_fps"] == frequency
    assert ends == [False] * (steps - 1) + [True]


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_a_simulation_that_diverges_ends_the_episode_and_no_more(engine, climb, climb_in_pybullet):
    climb = climb if engine == "native" else climb_in_pybullet
    climb.reset(seed=3)
    before, *_ = climb.step(FORWARD)
    robot = climb._episode_world.robot
    if engine == "native":
        robot.apply_force((0.0, 0.0, 1e9))
    else:
        climb._episode_world.world.client.resetBaseVelocity(robot.body_id, (500.0, 0.0, 0.0))
    after, reward, terminated, truncated, info = climb.step(FORWARD)
    assert (reward, terminated, truncated, OUTCOMES[info["outcome"]]) == (0.0, False, True, "diverged")
    np.testing.assert_array_equal(after, before)
    assert set(info["reward_terms"].values()) == {0.0}
    climb.reset(seed=3)
    np.testing.assert_array_equal(climb.step(FORWARD)[0], before)


def test_reward_weights_of_the_constructor_are_what_counts():
    nothing = dict.fromkeys(TERMS, 0.0)
    with environment(reward=nothing) as zero, environment(reward={**nothing, "time": 1.0}) as timed:
        zero.reset(seed=0), timed.reset(seed=0)
        assert zero.step(FORWARD)[1] == 0.0
        assert timed.step(FORWARD)[1] == pytest.approx(-0.05)
