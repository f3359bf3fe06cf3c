"""Training by PPO, which needs the extra `train`: short runs."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from segtrack.envs.environment import Environment
from segtrack.envs.network import Network
from segtrack.envs.policies import make_policy
from segtrack.envs.training import TrainingResult, TrainingSettings, train
from segtrack.errors import FileAccessError

pytest.importorskip("stable_baselines3", reason="needs the extra train")

SHORT = {"steps": 64, "workers": 2, "seed": 3}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return train(TrainingSettings("GapCross", **SHORT), tmp_path_factory.mktemp("run"))


def rows_of(curve: Path) -> list[dict[str, Any]]:
    with curve.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_training_leaves_checkpoint_policy_curve_and_logs(trained: TrainingResult) -> None:
    assert trained.finished
    assert trained.steps >= 64
    names = {path.name for path in trained.folder.iterdir()}
    assert names == {"settings.json", "checkpoint.zip", "policy.npz", "curve.csv", "tensorboard"}
    assert int(rows_of(trained.curve)[-1]["steps"]) == trained.steps


def test_stored_policy_acts_as_the_trained_one(trained: TrainingResult) -> None:
    """Against PyTorch's own forward pass."""
    from stable_baselines3 import PPO

    model = PPO.load(trained.folder / "checkpoint.zip", device="cpu")
    network = Network.load(trained.policy)
    rng = np.random.default_rng(0)
    for _ in range(20):
        scaled = rng.uniform(-1, 1, len(network.low)).astype(np.float32)
        observation = network.low + (scaled + 1) / 2 * (network.high - network.low)
        expected, _ = model.predict(scaled, deterministic=True)
        assert network(observation) == pytest.approx(expected, abs=1e-4)


def test_stored_policy_drives_its_task_and_refuses_others(trained: TrainingResult) -> None:
    env = Environment("GapCross")
    observation, _ = env.reset(seed=0)
    assert env.action_space.contains(make_policy(str(trained.policy), env).act(observation))
    env.close()
    other = Environment("GapCross", vehicle="packbot")
    with pytest.raises(ValueError) as error:
        make_policy(str(trained.policy), other)
    other.close()
    expected = "one for 73 observation entries as here"
    assert str(error.value) == f"policy for quince at GapCross must be {expected}, got 83 others"


def test_training_goes_on_where_it_stopped(trained: TrainingResult, tmp_path: Path) -> None:
    first = train(TrainingSettings("GapCross", **SHORT), tmp_path)
    again = train(TrainingSettings("GapCross", **{**SHORT, "steps": 128}), tmp_path, resume=True)
    assert again.steps >= 128 > first.steps
    assert again.minutes > first.minutes
    assert [int(row["steps"]) for row in rows_of(again.curve)] == sorted({first.steps, again.steps})


def test_training_is_seeded(trained: TrainingResult, tmp_path: Path) -> None:
    again = train(TrainingSettings("GapCross", **SHORT), tmp_path)
    one, other = Network.load(trained.policy), Network.load(again.policy)
    for a, b in zip(one.weights, other.weights, strict=True):
        assert np.array_equal(a, b)


def test_training_is_not_overwritten_and_nothing_is_not_resumed(
    trained: TrainingResult, tmp_path: Path
) -> None:
    with pytest.raises(FileAccessError) as error:
        train(TrainingSettings("GapCross", **SHORT), trained.folder)
    reason = "there is a checkpoint.zip already; resume it, or name another folder"
    assert str(error.value) == f"cannot train in {trained.folder}: {reason}"
    with pytest.raises(FileAccessError) as error:
        train(TrainingSettings("GapCross", **SHORT), tmp_path, resume=True)
    assert str(error.value) == f"cannot resume training in {tmp_path}: there is no checkpoint.zip"


def test_damaged_checkpoint_is_said_to_be(trained: TrainingResult, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes((trained.folder / "settings.json").read_bytes())
    (tmp_path / "checkpoint.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(FileAccessError) as error:
        train(TrainingSettings("GapCross", **SHORT), tmp_path, resume=True)
    path = tmp_path / "checkpoint.zip"
    assert str(error.value).startswith(f"cannot resume training from {path}: it is damaged (")


def test_interrupted_training_keeps_what_it_has(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole process group, workers included."""
    program = [str(Path(sys.executable).with_name("segtrack")), "train", "GapCross", "--workers", "2"]
    process = subprocess.Popen(
        [*program, "--steps", "100000", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 240
        while not (tmp_path / "checkpoint.zip").is_file():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.2)
        subprocess.run(["kill", "-INT", "--", f"-{process.pid}"], check=True)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in errors
    assert rows_of(tmp_path / "curve.csv")
    assert Network.load(tmp_path / "policy.npz").origin.task == "GapCross"
    assert (tmp_path / "curve.png").is_file()
