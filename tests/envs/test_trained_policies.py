"""Policies that come with segtrack: they fit their tasks, and do there what the documents say."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from segtrack.description import load_vehicle
from segtrack.envs import TASKS, Environment, VectorEnvironment
from segtrack.envs.learning import LearningCurve, TrainingSettings, make_policy
from segtrack.envs.learning.network import Network
from segtrack.envs.learning.policies import BUNDLED
from segtrack.envs.parameters import spread
from segtrack.errors import UnknownNameError

TRAINED = sorted(path.stem for path in BUNDLED.glob("*.npz"))


@pytest.mark.parametrize("task", TRAINED)
def test_a_policy_fits_its_task_and_has_its_curve_beside_it(task):
    env = Environment(task, engine="native", preset="fast")
    observation, _ = env.reset(seed=0)
    assert env.action_space.contains(make_policy("ppo", env).act(observation))
    env.close()
    file = BUNDLED / f"{task}.csv"
    shared = (
        ",level," in file.read_text(encoding="utf-8").partition("\n")[0]
    )  # By all words, in earlier trainings.
    strands = ({},) if shared else TrainingSettings(task).strands
    levels = (TASKS[task].curriculum or TASKS[task].levels)[:2]
    curve = LearningCurve(file, levels, strands)
    assert curve.last("steps") > 0 and 0 < curve.last("simulation") < curve.last("minutes")


def test_a_task_without_a_policy_is_told_which_have_one(tmp_path, monkeypatch):
    monkeypatch.setattr("segtrack.envs.learning.policies.BUNDLED", tmp_path)
    (tmp_path / "Drive.npz").touch()
    env = Environment("GapCross", engine="native")
    with pytest.raises(UnknownNameError) as error:
        make_policy("ppo", env)
    assert str(error.value) == "no policy of segtrack's own for 'GapCross'; there are: Drive"
    env.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "given", "least"),
    [
        ("StepClimb", {"height": 0.24}, 32),
        ("StepClimb", {"height": 0.36}, 31),
        ("StepClimb", {"height": 0.48}, 26),
        ("StepClimb", {"height": 0.56}, 29),
        ("StairClimb", {"direction": "up"}, 30),
        ("StairClimb", {"direction": "down"}, 30),
        ("GapCross", {}, 30),
        ("RoughTerrain", {}, 28),
        ("Drive", {}, 30),
        ("Traverse", {"level": (0, 4)}, 23),
    ],
)
def test_policies_succeed_at_their_tasks(task, given, least):
    """Of 32 episodes with start and friction spread."""
    spread_too = spread(load_vehicle("quince"), given)
    mode = AutoresetMode.SAME_STEP
    env = VectorEnvironment(task, 32, preset="fast", threads=1, autoreset_mode=mode, **spread_too)
    network = Network.load(BUNDLED / f"{task}.npz")
    observations, _ = env.reset(seed=1000)
    succeeded = np.full(32, np.nan)
    while np.isnan(succeeded).any():
        actions = np.array([network(each) for each in observations])
        observations, _, terminated, truncated, info = env.step(actions)
        for i in np.flatnonzero((terminated | truncated) & np.isnan(succeeded)):
            succeeded[i] = info["final_info"]["success"][i]
    env.close()
    assert succeeded.sum() >= least
