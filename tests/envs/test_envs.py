"""What every environment keeps to: gymnasium's contract, determinism, endings, memory, refusals."""

import math
import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import gymnasium
import numpy as np
import psutil
import pybullet
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from scenes import environment

from segtrack.description import bundled_vehicles
from segtrack.envs import IDS, TASKS, Environment, Scan
from segtrack.envs.episode import EpisodeWorld
from segtrack.envs.parameters import ROBOT_PARAMETERS, parameter_table
from segtrack.envs.policies import Network, NetworkOrigin, make_policy
from segtrack.envs.rewards import TERMS, reward_table
from segtrack.envs.tasks import StepClimb
from segtrack.errors import FileAccessError, InvalidValueError, NotReadyError, SegtrackError, UnknownNameError

NAN, INF = math.nan, math.inf
FORWARD = np.array([1.0, 1.0, 0.0, 0.0], np.float32)
STILL = np.zeros(4, np.float32)
VARIED = {
    "friction": (0.4, 0.8),
    "drive_force": (0.5, 1.5),
    "mass": (0.8, 1.2),
    "center_of_mass_x": (-0.05, 0.05),
    "grouser_height": (0.5, 1.0),
    "grouser_count": (0.5, 1.0),
    "initial_x": (-0.1, 0.1),
    "initial_y": (-0.1, 0.1),
    "initial_yaw": (-0.2, 0.2),
    "action_delay": (0, 3),
    "sensor_noise": (0.0, 0.05),
}
CHECK = """
import sys, gymnasium, segtrack.envs
from gymnasium.utils.env_checker import check_env
check_env(gymnasium.make(sys.argv[1]).unwrapped)
"""


def make_brief(name, length=130, **given):
    """A registered environment whose episodes end after so many steps at the latest."""
    return TimeLimit(gymnasium.make(name, **given), length)


def told(info):
    """An info without what differs from run to run."""
    return repr({key: value for key, value in info.items() if key != "real_time_factor"})


def moment(observation, info):
    return np.asarray(observation).tobytes(), told(info)


def outcome(observation, reward, terminated, truncated, info):
    return (*moment(observation, info), float(reward), bool(terminated), bool(truncated))


def actions_of(seed, count, size=4):
    """Random actions that drive forward more often than back."""
    rng = np.random.default_rng(seed)
    low = np.array([-0.4, -0.4] + [-1.0] * (size - 2))
    return rng.uniform(low, 1.0, (count, size)).astype(np.float32)


def roll(env, steps, seed):
    """All that an environment says in so many steps of random actions, reset where its episodes end."""
    record = [moment(*env.reset(seed=seed))]
    for action in actions_of(seed, steps):
        record.append(outcome(*env.step(action)))
        if record[-1][-1] or record[-1][-2]:
            record.append(moment(*env.reset()))
    return record


def roll_anew(name, given, steps, seed):
    """The same, in a new environment."""
    env = make_brief(name, **given)
    try:
        return roll(env, steps, seed)
    finally:
        env.close()


# Gymnasium's contract.


@pytest.mark.parametrize("name, observation", [*((name, "flat") for name in IDS), (IDS[0], "dict")])
def test_gymnasiums_checker_finds_nothing(name, observation, monkeypatch):
    # The window is checked where there is a display, below.
    monkeypatch.setitem(Environment.metadata, "render_modes", ["rgb_array"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, observation=observation, render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


@contextmanager
def display():
    """A display of its own, as the environment variable names it."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24"],
        pass_fds=(write,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="there is no virtual display")
@pytest.mark.slow
@pytest.mark.parametrize("name", IDS)
def test_gymnasiums_checker_finds_nothing_with_a_window(name):
    with display() as number:
        variables = {**os.environ, "DISPLAY": number}
        command = [sys.executable, "-W", "error", "-c", CHECK, name]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (done.returncode, "WARN" in done.stderr) == (0, False), done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems need no DISPLAY")
def test_a_window_without_a_display_is_refused(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(SegtrackError) as error:
        Environment("StepClimb", render_mode="human")
    assert str(error.value) == "a window needs a display, and the environment variable DISPLAY is not set"


def test_a_list_of_pictures_holds_what_single_ones_show():
    single = gymnasium.make("segtrack/StepClimb-v0", render_mode="rgb_array")
    several = gymnasium.make("segtrack/StepClimb-v0", render_mode="rgb_array_list")
    single.reset(seed=0), several.reset(seed=0)
    pictures = [single.render()]
    for _ in range(2):
        single.step(FORWARD), several.step(FORWARD)
        pictures.append(single.render())
    listed = several.render()
    single.close(), several.close()
    assert [picture.shape for picture in listed] == [(360, 640, 3)] * 3
    assert {picture.dtype for picture in listed} == {np.dtype(np.uint8)}
    np.testing.assert_array_equal(listed, pictures)
    assert not np.array_equal(pictures[0], pictures[2])


def test_a_fresh_process_makes_one_with_only_gymnasium_imported():
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('segtrack.envs:segtrack/StepClimb-v0')\n"
        "observation, _ = env.reset(seed=0)\n"
        "print(env.spec.id, observation.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "segtrack/StepClimb-v0 (83,)"


def test_there_is_an_id_for_each_task():
    assert IDS == tuple(f"segtrack/{name}-v0" for name in TASKS)
    assert set(IDS) <= set(gymnasium.registry)


# Determinism.


@pytest.fixture(scope="module")
def elsewhere():
    """Another process, which shares nothing with this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


STEPS = [(IDS[0], 100), *(pytest.param(name, 100, marks=pytest.mark.slow) for name in IDS[1:])]
LONG = [pytest.param(name, 500, marks=pytest.mark.slow) for name in IDS]


@pytest.mark.parametrize("name, steps", [*STEPS, *LONG])
def test_two_seeded_environments_are_equal_to_the_bit_in_two_processes(elsewhere, name, steps):
    other = elsewhere.submit(roll_anew, name, VARIED, steps, 11)
    assert roll_anew(name, VARIED, steps, 11) == other.result()


@pytest.mark.parametrize("name, steps", [STEPS[0], *LONG])
def test_two_seeded_environments_are_equal_to_the_bit_side_by_side(name, steps):
    one, other = make_brief(name), make_brief(name)
    try:
        # The steps alternate, so that neither has the engine to itself.
        first, second = moment(*one.reset(seed=3)), moment(*other.reset(seed=3))
        assert first == second
        for action in actions_of(3, steps):
            first, second = outcome(*one.step(action)), outcome(*other.step(action))
            assert first == second
            if first[-1] or first[-2]:
                assert moment(*one.reset()) == moment(*other.reset())
    finally:
        one.close(), other.close()


def test_another_seed_makes_another_episode():
    assert roll_anew(IDS[0], VARIED, 3, 1) != roll_anew(IDS[0], VARIED, 3, 2)


def unlike_episodes(env):
    """Episodes with parameters that others do not have, one of them upside down, one diverged."""
    env.reset(seed=1, options={"mass": 1.3, "grouser_count": 0.5})
    for action in actions_of(1, 15):
        env.step(action)
    env.reset(options={"friction": 0.1, "drive_force": 0.2, "action_delay": 4, "sensor_noise": 0.3})
    for _ in range(15):
        env.step(FORWARD)
    robot = env._episode_world.robot
    robot.reset_base_pose((0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    env.step(FORWARD)
    env.reset(options={"center_of_mass_z": 0.05, "initial_yaw": 1.0})
    model = robot.model
    pybullet.resetBaseVelocity(model.body_id, (500.0, 0.0, 0.0), physicsClientId=model.physics_client_id)
    env.step(FORWARD)


@pytest.mark.parametrize(
    "task, given, max_solids",
    [
        ("StepClimb", {}, 2000),
        ("StepClimb", VARIED, 2000),
        ("RoughTerrain", {"kind": "boxes"}, 10),
        ("RoughTerrain", {"kind": "waves"}, 2000),
    ],
    ids=["plain", "varied", "world built anew", "waves"],
)
def test_an_episode_does_not_depend_on_those_before_it(task, given, max_solids, monkeypatch):
    monkeypatch.setattr(EpisodeWorld, "MAX_SOLIDS", max_solids)
    with environment(task, **given) as fresh, environment(task, **given) as used:
        unlike_episodes(used)
        assert roll(used, 40, 5) == roll(fresh, 40, 5)


@pytest.mark.parametrize("kind", ["boxes", "step_field", "waves", "rails"])
def test_each_seed_has_rough_terrain_of_its_own(kind):
    x, y = np.meshgrid(np.linspace(0.05, 1.95, 39), np.linspace(-0.9, 0.9, 37))
    with environment("RoughTerrain", kind=kind) as env:

        def field(seed):
            env.reset(seed=seed)
            return env.task_state.course.terrain.height_at(x, y)

        first, second, again, drawn_on = field(1), field(2), field(1), field(None)
    np.testing.assert_array_equal(first, again)
    assert np.mean(first != second) > 0.1
    assert np.mean(first != drawn_on) > 0.1
    for heights in (first, second, drawn_on):
        assert 0.0 <= heights.min() and 0.02 < heights.max() <= 0.1 + 1e-12


def test_an_autoreset_goes_on_as_a_reset_without_a_seed():
    """Against single environments that are reset by hand where a vector environment does it by itself."""
    makers = [partial(make_brief, "segtrack/StepClimb-v0", 25, **VARIED, height=(0.1, 0.3))] * 2
    singles = [maker() for maker in makers]
    several = SyncVectorEnv(makers)
    observations, _ = several.reset(seed=8)
    expected = [env.reset(seed=8 + i)[0] for i, env in enumerate(singles)]
    np.testing.assert_array_equal(observations, expected)
    over = [False, False]
    for action in actions_of(0, 60):
        observations, rewards, terminated, truncated, _ = several.step(np.stack((action, action)))
        for i, env in enumerate(singles):
            if over[i]:
                observation, reward, ended = env.reset()[0], 0.0, (False, False)
            else:
                observation, reward, *ended, _ = env.step(action)
            over[i] = any(ended)
            assert observation.tobytes() == observations[i].tobytes()
            assert (reward, *ended) == (rewards[i], terminated[i], truncated[i])
    for env in (*singles, several):
        env.close()


def vector_roll(mode, autoreset):
    """What two environments in a vector say in 40 steps, with ends after 15."""
    several = gymnasium.make_vec(
        "segtrack/StepClimb-v0",
        num_envs=2,
        vectorization_mode=mode,
        vector_kwargs={"autoreset_mode": autoreset},
        wrappers=[partial(TimeLimit, max_episode_steps=15)],
        height=(0.1, 0.3),
    )
    try:
        observations, infos = several.reset(seed=2)
        record, ends = [(observations.tobytes(), infos["parameters"]["height"].tolist())], 0
        for action in actions_of(6, 40):
            observations, *rest, infos = several.step(np.stack((action, action / 2)))
            over = np.logical_or(*rest[1:])
            ends += int(over.sum())
            final = [o.tobytes() for o in infos.get("final_obs", []) if o is not None]
            record.append((observations.tobytes(), *(part.tobytes() for part in rest), final))
            if autoreset is AutoresetMode.DISABLED and over.any():
                observations, infos = several.reset(options={"reset_mask": over})
                record.append((observations.tobytes(), infos["parameters"]["height"].tolist()))
        return record, ends
    finally:
        several.close()


@pytest.mark.parametrize(
    "autoreset",
    [
        AutoresetMode.NEXT_STEP,
        *(pytest.param(AutoresetMode(mode), marks=pytest.mark.slow) for mode in ("SameStep", "Disabled")),
    ],
)
def test_workers_say_what_a_single_process_says(autoreset):
    record, ends = vector_roll("async", autoreset)
    assert ends == 4
    assert record == vector_roll("sync", autoreset)[0]
    finals = sum(len(entry[-1]) for entry in record[1:] if len(entry) == 5)
    assert finals == (4 if autoreset is AutoresetMode.SAME_STEP else 0)


# Endings, rewards, infos.

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
    assert (info["success"], info["outcome"]) == (True, "success")
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
    assert info["outcome"] == ("tip_over" if tipped else "running")
    assert info["reward_terms"]["failure"] == -TERMS["failure"].weight * tipped


def test_straight_ahead_leaves_a_winding_path():
    with environment("Drive", belt_speed=0.5) as env:
        for seed in range(4):
            env.reset(seed=seed)
            terminated = truncated = False
            while not (terminated or truncated):
                *_, terminated, truncated, info = env.step(FORWARD)
            assert (terminated, info["outcome"]) == (True, "off_course")
            assert abs(env.task_state.place.lateral) > env.task.corridor
            assert info["reward_terms"]["failure"] == -TERMS["failure"].weight


@pytest.mark.parametrize("side", [-1, 1])
def test_nobody_passes_beside_the_course(climb, side):
    climb.reset(seed=0)
    climb._episode_world.world.place_on_terrain(climb._episode_world.robot, -1.5, side * 0.49)
    assert climb.step(STILL)[-1]["outcome"] == "running"
    climb.reset(seed=0)
    climb._episode_world.world.place_on_terrain(climb._episode_world.robot, -1.5, side * 0.51)
    assert climb.step(STILL)[-1]["outcome"] == "off_course"


def test_a_robot_in_the_gap_has_fallen():
    with environment("GapCross", length=0.95, belt_speed=0.5) as env:
        env.reset(seed=0)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(FORWARD)
            over = terminated or truncated
    assert info["outcome"] in ("fallen", "tip_over")
    assert terminated


def test_a_time_limit_of_ones_own_counts():
    with environment(time_limit=0.2) as env:
        env.reset(seed=0)
        infos = [env.step(STILL)[-1] for _ in range(4)]
    assert [info["outcome"] for info in infos] == ["running"] * 3 + ["timeout"]


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


def test_a_simulation_that_diverges_ends_the_episode_and_no_more(climb):
    climb.reset(seed=3)
    before, *_ = climb.step(FORWARD)
    client = climb._episode_world.world.client
    client.resetBaseVelocity(climb._episode_world.robot.model.body_id, (500.0, 0.0, 0.0))
    after, reward, terminated, truncated, info = climb.step(FORWARD)
    assert (reward, terminated, truncated, info["outcome"]) == (0.0, False, True, "diverged")
    np.testing.assert_array_equal(after, before)
    assert set(info["reward_terms"].values()) == {0.0}
    climb.reset(seed=3)
    np.testing.assert_array_equal(climb.step(FORWARD)[0], before)


# Memory.


def growth_over_resets(task, count, **given):
    """By how much resident memory grows over resets [MB]."""
    process = psutil.Process()
    with environment(task, **given) as env:
        env.reset(seed=0)
        before = process.memory_info().rss
        for _ in range(count):
            env.reset()
        return (process.memory_info().rss - before) / 1e6


@pytest.mark.slow
def test_a_thousand_resets_take_less_than_20_mb():
    assert growth_over_resets("StepClimb", 1000, height=(0.1, 0.3), friction=(0.4, 0.8)) < 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["boxes", "step_field", "rails"])
def test_a_thousand_resets_take_less_than_20_mb_on_rough_ground(kind):
    assert growth_over_resets("RoughTerrain", 1000, kind=kind) < 20


@pytest.mark.slow
def test_loading_the_robot_anew_gives_its_memory_back():
    assert growth_over_resets("StepClimb", 200, mass=(0.8, 1.2)) < 20


@pytest.mark.slow
def test_wavy_ground_gives_its_memory_back():
    assert growth_over_resets("RoughTerrain", 200, kind="waves") < 20


# Bad input.

VEHICLES = ", ".join(bundled_vehicles())
PARAMETERS = ", ".join(("height", *ROBOT_PARAMETERS))
SHAPE = "action must be of shape (4,): left, right, front, rear, got shape"


@pytest.mark.parametrize(
    "action, message",
    [
        ([1, 1], f"{SHAPE} (2,)"),
        (0.5, f"{SHAPE} ()"),
        (np.zeros((1, 4)), f"{SHAPE} (1, 4)"),
        ([0, NAN, 0, 0], "action entry right must be a finite number, got nan"),
        ([0, 0, 0, -INF], "action entry rear must be a finite number, got -inf"),
        ("forward", "action must be 4 numbers, got 'forward'"),
        ([1, 1, None, {}], "action must be 4 numbers, got [1, 1, None, {}]"),
        ([[1, 1], [1]], "action must be 4 numbers, got [[1, 1], [1]]"),
        (["1", "1", "0", "0"], "action must be 4 numbers, got ['1', '1', '0', '0']"),
    ],
)
def test_actions_that_are_refused_leave_the_episode_as_it_was(climb, action, message):
    climb.reset(seed=0, options={"action_delay": 1})
    expected = [climb.step(FORWARD)[0].tobytes() for _ in range(2)]
    climb.reset(seed=0, options={"action_delay": 1})
    with pytest.raises(InvalidValueError) as error:
        climb.step(action)
    assert str(error.value) == message
    assert [climb.step(FORWARD)[0].tobytes() for _ in range(2)] == expected


def test_an_action_beyond_its_range_is_clipped(climb):
    climb.reset(seed=0)
    expected = climb.step(np.array([1, -1, 1, -1]))[0]
    climb.reset(seed=0)
    np.testing.assert_array_equal(climb.step(np.array([7.0, -1.5, 2, -1e30]))[0], expected)


VALUES = [
    ({"heigth": 0.2}, UnknownNameError, f"no parameter of StepClimb 'heigth'; there are: {PARAMETERS}"),
    ({"height": 0.7}, InvalidValueError, "height [m] must be from 0.02 to 0.6, got 0.7"),
    ({"height": (0.2, 0.7)}, InvalidValueError, "height [m] must be from 0.02 to 0.6, got 0.7"),
    ({"height": (0.3, 0.1)}, InvalidValueError,
     "height [m] must be a range (low, high) with low <= high, got (0.3, 0.1)"),
    ({"height": [0.1, 0.2, 0.3]}, InvalidValueError,
     "height [m] must be a number or a range (low, high), got [0.1, 0.2, 0.3]"),
    ({"height": NAN}, InvalidValueError, "height [m] must be a finite number, got nan"),
    ({"height": "low"}, InvalidValueError, "height [m] must be a finite number, got 'low'"),
    ({"height": None}, InvalidValueError, "height [m] must be a finite number, got None"),
    ({"height": True}, InvalidValueError, "height [m] must be a finite number, got True"),
    ({"friction": -0.1}, InvalidValueError, "friction must be from 0 to 2, got -0.1"),
    ({"mass": (0.5, 1)}, InvalidValueError, "mass must be from 0.7 to 1.5, got 0.5"),
    ({"action_delay": 1.5}, InvalidValueError, "action_delay must be a whole number, got 1.5"),
    ({"action_delay": 11}, InvalidValueError, "action_delay must be from 0 to 10, got 11"),
    ({"sensor_noise": -1}, InvalidValueError, "sensor_noise must be from 0 to 0.5, got -1"),
    ({"initial_yaw": 4}, InvalidValueError, "initial_yaw [rad] must be from -3.14159 to 3.14159, got 4"),
]  # fmt: skip


@pytest.mark.parametrize("given, kind, message", VALUES)
def test_options_that_are_refused_leave_the_episode_as_it_was(climb, given, kind, message):
    climb.reset(seed=0)
    drawn = climb.np_random.bit_generator.state
    with pytest.raises(kind) as error:
        climb.reset(seed=1, options=given)
    assert str(error.value) == message
    assert climb.np_random.bit_generator.state == drawn
    climb.step(FORWARD)


@pytest.mark.parametrize("given, kind, message", VALUES)
def test_parameters_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Environment("StepClimb", **given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"task": "Swim"}, UnknownNameError, f"no task 'Swim'; there are: {', '.join(TASKS)}"),
        ({"vehicle": "qince"}, UnknownNameError, f"no vehicle 'qince'; there are: {VEHICLES}"),
        ({"vehicle": "packbot"}, InvalidValueError,
         "vehicle must be one with flippers for StepClimb, got packbot, which has none"),
        ({"task": "StairClimb", "vehicle": "packbot"}, InvalidValueError,
         "vehicle must be one with flippers for StairClimb, got packbot, which has none"),
        ({"render_mode": "ansi"}, UnknownNameError,
         "no render mode 'ansi'; there are: human, rgb_array"),
        ({"preset": "quick"}, UnknownNameError,
         "no solver preset 'quick'; there are: exact, fast, coarse"),
        ({"engine": "steam"}, UnknownNameError, "no engine 'steam'; there are: pybullet, native"),
        ({"engine": "native", "track_model": "segments"}, InvalidValueError,
         "engine for track model 'segments' must be pybullet, got 'native'"),
        ({"track_model": "compliant", "render_mode": "human"}, InvalidValueError,
         "engine for render mode 'human' must be pybullet, got 'native'"),
        ({"control_frequency": 50, "preset": "fast", "belt_speed": 2}, InvalidValueError,
         "belt_speed [m/s] must be above 0 and at most 0.5, the slowest drive's, got 2"),
        ({"control_frequency": 0}, InvalidValueError,
         "control_frequency [Hz] must be greater than 0, got 0"),
        ({"control_frequency": NAN}, InvalidValueError,
         "control_frequency [Hz] must be a finite number, got nan"),
        ({"belt_speed": 0.51}, InvalidValueError,
         "belt_speed [m/s] must be above 0 and at most 0.5, the slowest drive's, got 0.51"),
        ({"belt_speed": 0}, InvalidValueError,
         "belt_speed [m/s] must be above 0 and at most 0.5, the slowest drive's, got 0"),
        ({"belt_speed": "fast"}, InvalidValueError,
         "belt_speed [m/s] must be a finite number, got 'fast'"),
        ({"flippers": "both"}, UnknownNameError,
         "no flipper grouping 'both'; there are: pairs, each"),
        ({"observation": "pixels"}, UnknownNameError,
         "no kind of observation 'pixels'; there are: flat, dict"),
        ({"reward": {"speed": 1.0}}, UnknownNameError,
         f"no reward term 'speed'; there are: {', '.join(TERMS)}"),
        ({"reward": {"time": NAN}}, InvalidValueError,
         "weight of reward term time must be a finite number, got nan"),
        ({"task": "RoughTerrain", "kind": "lava"}, InvalidValueError,
         "kind must be one or some of boxes, step_field, waves, rails, got 'lava'"),
        ({"task": "RoughTerrain", "kind": ()}, InvalidValueError,
         "kind must be one or some of boxes, step_field, waves, rails, got ()"),
        ({"task": "RoughTerrain", "kind": ("boxes", "lava")}, InvalidValueError,
         "kind must be one or some of boxes, step_field, waves, rails, got ('boxes', 'lava')"),
        ({"task": "StairClimb", "stairs": (2, 3.5)}, InvalidValueError,
         "stairs must be a whole number, got 3.5"),
    ],
)  # fmt: skip
def test_environments_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Environment(**{"task": "StepClimb", **given})
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, message",
    [
        ({"x_min": 1.0, "x_max": 1.0}, "scan.x_max [m] must be above x_min of 1, got 1.0"),
        ({"half_width": 0.0}, "scan.half_width [m] must be greater than 0, got 0.0"),
        ({"rows": 0}, "scan.rows must be a whole number of at least 1, got 0"),
        ({"columns": -1}, "scan.columns must be a whole number of at least 1, got -1"),
        ({"samples": (4, 0)}, "scan.samples[1] must be a whole number of at least 1, got 0"),
    ],
)
def test_scans_that_cannot_be_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Scan(**given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "given, message",
    [
        ({"x_max": INF}, "scan.x_max [m] must be a finite number, got inf"),
        ({"half_width": INF}, "scan.half_width [m] must be a finite number, got inf"),
        ({"rows": 2.5}, "scan.rows must be a whole number of at least 1, got 2.5"),
        ({"samples": (1.5, 2)}, "scan.samples[0] must be a whole number of at least 1, got 1.5"),
    ],
)
def test_scans_of_no_finite_or_whole_numbers_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Scan(**given)
    assert str(error.value) == message


@pytest.mark.parametrize("given, message", [
    ({"mass": 1.2}, "body of example_rover must be given by mass and size, got a URDF"),
    ({"center_of_mass_x": 0.1}, "body of example_rover must be given by mass and size, got a URDF"),
])  # fmt: skip
def test_what_a_vehicle_cannot_have_varied_is_refused_and_the_next_reset_works(given, message):
    with environment("Drive", vehicle="example_rover") as env:
        with pytest.raises(InvalidValueError) as error:
            env.reset(options=given)
        assert str(error.value) == message
        env.reset()
        with pytest.raises(InvalidValueError) as error:
            env.reset(options=given)
        assert str(error.value) == message
        with pytest.raises(NotReadyError) as error:
            env.step(np.zeros(2))
        assert str(error.value) == "cannot step Drive: it has not been reset"


def test_nothing_is_asked_of_an_environment_before_its_reset():
    with environment(render_mode="rgb_array") as env:
        for attempt, what in (
            (lambda: env.step(STILL), "step"),
            (env.render, "render"),
            (lambda: env.task_state, "look at"),
        ):
            with pytest.raises(NotReadyError) as error:
                attempt()
            assert str(error.value) == f"cannot {what} StepClimb: it has not been reset"


def test_nothing_is_asked_of_an_environment_after_its_close():
    env = Environment("StepClimb", render_mode="rgb_array")
    env.reset(seed=0)
    env.close()
    env.close()
    for attempt, what in (
        (lambda: env.step(STILL), "step"),
        (env.reset, "reset"),
        (env.render, "render"),
    ):
        with pytest.raises(NotReadyError) as error:
            attempt()
        assert str(error.value) == f"cannot {what} StepClimb: it is closed"


def test_no_step_follows_the_end_of_an_episode(climb):
    climb.reset(seed=0)
    climb._episode_world.robot.reset_base_pose((-1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    assert climb.step(STILL)[2]
    with pytest.raises(NotReadyError) as error:
        climb.step(STILL)
    assert str(error.value) == "cannot step StepClimb: its episode is over; reset it"
    climb.reset()
    climb.step(STILL)


def test_an_unknown_render_mode_is_refused_through_gymnasium_too():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium warns by itself before it asks the environment.
        with pytest.raises(UnknownNameError) as error:
            gymnasium.make("segtrack/StepClimb-v0", render_mode="ansi")
    assert str(error.value) == "no render mode 'ansi'; there are: human, rgb_array"


@pytest.mark.parametrize(
    "attempt, kind, message",
    [
        (lambda several: several.reset(options={"heigth": 0.2}), UnknownNameError,
         f"no parameter of StepClimb 'heigth'; there are: {PARAMETERS}"),
        (lambda several: several.reset(options={"height": 0.7}), InvalidValueError,
         "height [m] must be from 0.02 to 0.6, got 0.7"),
    ],
)  # fmt: skip
def test_what_a_worker_refuses_is_told_as_it_said_it(attempt, kind, message):
    several = gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=1, vectorization_mode="async")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium's log of the worker's error.
        try:
            with pytest.raises(kind) as error:
                attempt(several)
        finally:
            several.close(terminate=True)
    assert str(error.value) == message


def network(entries, actions):
    n, m = len(entries), len(actions)
    layer = (np.zeros((m, n), np.float32),), (np.zeros(m, np.float32),)
    return Network(
        NetworkOrigin("StepClimb", "quince", entries, actions, 0.3, 0.05, (-0.7, 1.1, 0.3)),
        -np.ones(n),
        np.ones(n),
        *layer,
    )


def write_nothing(path):
    path.write_bytes(b"")


def write_garbage(path):
    path.write_bytes(b"\x80\x04garbage")


def write_without_header(path):
    with path.open("wb") as file:
        np.savez(file, low=np.zeros(3), high=np.ones(3))


def write_other_format(path):
    with path.open("wb") as file:
        np.savez(file, header=np.array('{"format": "another 2"}'))


def write_no_json(path):
    with path.open("wb") as file:
        np.savez(file, header=np.array("{"))


def write_half(path):
    network(("a", "b"), ("left", "right")).save(path)
    path.write_bytes(path.read_bytes()[:300])


def write_single_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def write_torn(path):
    """A file whose first compressed block is of a kind that there is not."""
    network(("a", "b"), ("left", "right")).save(path)
    data = bytearray(path.read_bytes())
    name, extra = (int.from_bytes(data[at : at + 2], "little") for at in (26, 28))
    data[30 + name + extra] = 0xFF
    path.write_bytes(data)


def write_other_shapes(path):
    entries, actions = tuple(f"entry_{i}" for i in range(83)), ("left", "right", "front", "rear")
    right = network(entries, actions)
    replace(right, weights=(np.zeros((2, 3), np.float32),)).save(path)


def write_no_layers(path):
    replace(network(("a", "b"), ("left", "right")), weights=(), biases=()).save(path)


@pytest.mark.parametrize("write", [write_torn, write_other_shapes, write_no_layers])
def test_policy_files_that_are_damaged(tmp_path, write):
    path = tmp_path / "policy.npz"
    write(path)
    with pytest.raises(FileAccessError) as error:
        Network.load(path)
    assert str(error.value) == f"cannot read policy {path}: not a file of the format 'segtrack policy 1'"


@pytest.mark.parametrize(
    "write",
    [
        write_nothing,
        write_garbage,
        write_without_header,
        write_other_format,
        write_no_json,
        write_half,
        write_single_array,
    ],
)
def test_policy_files_that_cannot_be_read(climb, tmp_path, write):
    path = tmp_path / "policy.npz"
    write(path)
    with pytest.raises(FileAccessError) as error:
        make_policy(str(path), climb)
    assert str(error.value) == f"cannot read policy {path}: not a file of the format 'segtrack policy 1'"


@pytest.mark.parametrize(
    "name, reason", [("missing.npz", "No such file or directory"), ("", "Is a directory")]
)
def test_policy_files_that_are_not_there(climb, tmp_path, name, reason):
    path = tmp_path / name
    with pytest.raises(FileAccessError) as error:
        make_policy(str(path), climb)
    assert str(error.value) == f"cannot read policy {path}: {reason}"


def test_policies_for_other_observations_or_actions_are_refused(climb, tmp_path):
    entries, actions = climb.sensors.entries, climb.actuators.names
    cases = [
        (entries[1:], actions, "one for 83 observation entries as here, got 82 others"),
        ((*entries[1:], "else"), actions, "one for 83 observation entries as here, got 83 others"),
        (
            entries,
            actions[:2],
            "one for the actions ('left', 'right', 'front', 'rear'), got ('left', 'right')",
        ),
    ]
    for number, (seen, done, complaint) in enumerate(cases):
        path = tmp_path / f"{number}.npz"
        network(seen, done).save(path)
        with pytest.raises(InvalidValueError) as error:
            make_policy(str(path), climb)
        assert str(error.value) == f"policy for quince at StepClimb must be {complaint}"
    network(entries, actions).save(path)
    with pytest.raises(InvalidValueError) as error:
        make_policy(str(path), climb)
    expected = "one for the ranges of observations here, got others"
    assert str(error.value) == f"policy for quince at StepClimb must be {expected}"
    low, high = climb.sensors.limits
    right = replace(network(entries, actions), low=low, high=high)
    replace(right, origin=replace(right.origin, belt_speed=0.5)).save(path)
    with pytest.raises(InvalidValueError) as error:
        make_policy(str(path), climb)
    assert str(error.value) == "policy for quince at StepClimb must be one for the belt_speed 0.3, got 0.5"
    right.save(path)
    observation, _ = climb.reset(seed=0)
    assert make_policy(str(path), climb).act(observation).tolist() == [0.0] * 4


# The documentation.


def test_documented_tables_are_those_of_the_code():
    text = (Path(__file__).parents[2] / "envs" / "README.md").read_text(encoding="utf-8")
    with environment() as env:
        assert env.sensors.table() in text
    assert parameter_table(ROBOT_PARAMETERS) in text
    for name, task in TASKS.items():
        assert f"### {name}\n" in text
        assert parameter_table(task.parameters) in text
    assert reward_table() in text
