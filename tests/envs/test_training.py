"""Training by PPO, which needs the extra `train`: short runs."""

from __future__ import annotations

import csv
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scenes import heed_interrupts
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.envs import Environment, VectorEnvironment
from segtrack.envs.learning import TrainingResult, TrainingSettings, make_policy, resume, train
from segtrack.envs.learning.network import Network
from segtrack.envs.learning.policies import BUNDLED
from segtrack.errors import FileAccessError, NotReadyError, UnknownNameError

pytest.importorskip("stable_baselines3", reason="needs the extra train")

SHORT: dict[str, Any] = {"steps": 1280, "robots": 4, "threads": 1, "seed": 3, "hardest": 0.3}
"""Long enough for each robot to finish an episode of GapCross, which has 300 steps."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return train(TrainingSettings("GapCross", **SHORT), tmp_path_factory.mktemp("run"))


def rows_of(curve: Path) -> list[dict[str, Any]]:
    with curve.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_training_leaves_checkpoint_policy_curve_and_logs(trained: TrainingResult) -> None:
    assert trained.finished
    assert trained.steps >= 1280
    assert 0.0 <= trained.success_rate <= 1.0
    names = {path.name for path in trained.folder.iterdir()}
    written = {"settings.json", "checkpoint.zip", "policy.npz", "curve.csv", "policies", "tensorboard"}
    assert names == written | ({"policy.onnx"} if find_spec("onnx") else set())
    last = rows_of(trained.curve)[-1]
    assert int(last["steps"]) == trained.steps
    assert 0.0 < float(last["simulation"]) < float(last["minutes"]) == pytest.approx(trained.minutes, abs=0.1)
    # The mean action is tried at the end, at all levels up to the hardest.
    assert all(0.0 <= float(last[name]) <= 1.0 for name in ("success_0.2", "success_0.3"))
    assert "success_0.4" not in last
    (kept,) = (trained.folder / "policies").iterdir()
    assert kept.name == f"{trained.steps:08d}.npz"
    for one, other in zip(Network.load(kept).weights, Network.load(trained.policy).weights, strict=True):
        assert np.array_equal(one, other)


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
    others = "flipper_angle.front_left, flipper_angle.front_right, flipper_angle.rear_left"
    assert str(error.value) == (
        f"policy for quince at GapCross must be {expected}, got 83 others, with {others} and 7 more"
    )


def test_training_goes_on_where_it_stopped(trained: TrainingResult, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained.folder, folder)
    again = resume(folder, steps=trained.steps + 1280)
    assert again.finished
    assert again.steps >= trained.steps + 1280
    assert again.minutes > trained.minutes
    assert again.settings == replace(trained.settings, steps=trained.steps + 1280)
    rows = rows_of(again.curve)
    assert [int(row["steps"]) for row in rows[: len(rows_of(trained.curve))]] == [
        int(row["steps"]) for row in rows_of(trained.curve)
    ]
    assert int(rows[-1]["steps"]) == again.steps
    assert int(rows[-1]["episodes"]) > int(rows_of(trained.curve)[-1]["episodes"])


def test_what_is_finished_is_left_as_it_is(trained: TrainingResult) -> None:
    before = {path: path.read_bytes() for path in trained.folder.iterdir() if path.is_file()}
    again = resume(trained.folder)
    assert (again.steps, again.success_rate, again.finished) == (trained.steps, trained.success_rate, True)
    assert {path: path.read_bytes() for path in trained.folder.iterdir() if path.is_file()} == before


def test_a_curriculum_goes_on_at_its_level(trained: TrainingResult, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained.folder, folder)
    rows = rows_of(folder / "curve.csv")
    rows[-1]["level"] = "0.35"
    with (folder / "curve.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    again = resume(folder, steps=trained.steps + 256, threads=2)
    assert [float(row["level"]) for row in rows_of(again.curve)[len(rows) :]][0] == 0.35
    assert (again.settings.threads, trained.settings.threads) == (2, 1)


def test_each_strand_has_a_level_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up is mastered to 0.14 m, down not at all; robots of both draw up to their own level from then on."""
    settings = TrainingSettings("StairClimb", steps=256, robots=8, threads=1, hardest=0.17)
    assert settings.strands == ({"direction": "up"}, {"direction": "down"})
    assert replace(settings, robots=3).strands == ({},)
    told = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    drawn: list[dict[str, Any]] = []
    change = VectorEnvironment.set_parameters

    def noted(env: VectorEnvironment, values: dict[str, Any], robots: range) -> None:
        drawn.extend({**values, "robot": i} for i in robots)
        change(env, values, robots)

    monkeypatch.setattr("segtrack.envs.learning.ppo.LevelTrial.success", lambda *_: told)
    monkeypatch.setattr(VectorEnvironment, "set_parameters", noted)
    result = train(settings, tmp_path)
    (last,) = rows_of(result.curve)
    assert (float(last["level_up"]), float(last["level_down"])) == (0.17, 0.11)
    means = [float(last[f"success_{level:g}"]) for level in settings.levels]
    assert means == [0.5, 0.5, 0.5, 0.0]
    latest = {each["robot"]: each for each in drawn[-8:]}
    assert [latest[i]["direction"] for i in range(8)] == ["up", "up", "down", "down"] * 2
    assert [latest[i]["riser"] for i in range(4)] == [(0.08, 0.17), (0.14, 0.17), (0.08, 0.11), (0.08, 0.11)]
    again = resume(tmp_path, steps=512)
    assert [rows_of(again.curve)[-1][f"level_{way}"] for way in ("up", "down")] == ["0.17", "0.11"]


def test_a_learner_needs_a_device_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError) as error:
        TrainingSettings("GapCross", learner="gpu")
    assert str(error.value) == "no learner's device 'gpu'; there are: cpu, cuda"
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(NotReadyError) as refused:
        train(TrainingSettings("GapCross", learner="cuda", robots=4), tmp_path)
    expected = "cannot learn on cuda: PyTorch finds no GPU, or was built without CUDA"
    assert str(refused.value) == expected


def test_a_given_difficulty_has_no_levels(tmp_path: Path) -> None:
    settings = TrainingSettings("GapCross", steps=130, robots=4, threads=1, parameters={"length": (0.1, 0.3)})
    result = train(settings, tmp_path)
    assert result.finished and result.policy.is_file()
    assert result.steps == 2 * 32 * 4  # Rounded up to whole updates.
    assert settings.levels == ()


def test_all_words_of_a_parameter_are_trained_unless_one_is_given() -> None:
    assert TrainingSettings("StairClimb").conditions["direction"] == ("up", "down")
    given = TrainingSettings("StairClimb", parameters={"direction": "down"}).conditions
    assert given["direction"] == "down"
    assert given["friction"] == (0.5, 0.7)


def test_command_refuses_what_the_training_did_not_begin_with(trained: TrainingResult) -> None:
    words = ["train", "GapCross", "--resume", "--seed", "9", "--out", str(trained.folder)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert done.stderr == "segtrack: seed must be 3, with which this training began, got 9\n"
    done = CliRunner().invoke(app, ["train", "Drive", "--resume", "--out", str(trained.folder)])
    assert done.stderr == "segtrack: task must be 'GapCross', with which this training began, got 'Drive'\n"


def test_training_is_seeded(tmp_path: Path) -> None:
    short = {**SHORT, "steps": 64, "parameters": {"length": 0.2}}
    del short["hardest"]
    again = train(TrainingSettings("GapCross", **short), tmp_path / "a")
    trained = train(TrainingSettings("GapCross", **{**short, "threads": 2}), tmp_path / "b")
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
        resume(tmp_path)
    assert str(error.value) == f"cannot resume training in {tmp_path}: there is no checkpoint.zip"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("checkpoint.zip", b"PK\x03\x04 and no more", "cannot resume training from {}: it is damaged ("),
        ("settings.json", b'{"task": "Gap', "cannot read training settings {}: it is damaged"),
        ("settings.json", b'{"job": "GapCross"}', "cannot read training settings {}: it is damaged"),
        ("curve.csv", b"steps,minutes\n1,x\n", "cannot read learning curve {}: it is damaged"),
        (
            "curve.csv",
            b"steps,minutes\n1,2\n",
            "cannot read learning curve {}: it has no column 'simulation'",
        ),
    ],
)
def test_damaged_files_are_said_to_be(
    trained: TrainingResult, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained.folder, folder)
    (folder / name).write_bytes(content)
    with pytest.raises(FileAccessError) as error:
        resume(folder, steps=10_000)
    assert str(error.value).startswith(message.format(folder / name))


def test_interrupted_training_keeps_what_it_has(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole process group."""
    program = [str(Path(sys.executable).with_name("segtrack")), "train", "GapCross", "--robots", "4"]
    process = subprocess.Popen(
        [*program, "--steps", "100000", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        deadline = time.monotonic() + 240
        while not (tmp_path / "curve.csv").is_file():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.2)
        subprocess.run(["kill", "-INT", "--", f"-{process.pid}"], check=True)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in errors, errors
    assert rows_of(tmp_path / "curve.csv")
    assert Network.load(tmp_path / "policy.npz").origin.task == "GapCross"
    assert (tmp_path / "curve.png").is_file()


@pytest.mark.parametrize("where", ["step", "trial"])
def test_interrupts_anywhere_keep_what_was_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    short = TrainingSettings("GapCross", **{**SHORT, "steps": 256})
    with monkeypatch.context() as patch:
        if where == "step":
            patch.setattr("segtrack.envs.vector.VectorEnvironment.step", interrupt)
        else:
            patch.setattr("segtrack.envs.learning.ppo.LevelTrial.success", interrupt)
        result = train(short, tmp_path)
    assert not (where == "step" and result.steps)
    assert Network.load(result.policy).origin.task == "GapCross"
    again = resume(tmp_path)
    assert again.finished and again.steps >= 256


def test_the_learning_rate_of_a_last_rollout_beyond_the_steps_is_not_negative() -> None:
    from segtrack.envs.learning.ppo import _rate

    assert _rate(1.0) > _rate(0.5) > _rate(0.0) == _rate(-0.5) == 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["StepClimb", "--hardest", "9"], "hardest [m] must be from 0.02 to 0.6, got 9.0"),
        (
            ["StepClimb", "--hardest", "0.12"],
            "hardest must be above the easiest level of 0.12, got 0.12",
        ),
        (
            ["StepClimb", "--hardest", "0.3", "--set", "height=0.2"],
            "hardest must be left out where height is given, got 0.3",
        ),
        (
            ["Climb"],
            "no task 'Climb'; there are: StepClimb, StairClimb, GapCross, RoughTerrain, Drive, Traverse",
        ),
    ],
)
def test_mistakes_get_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["train", *words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert done.stderr == f"segtrack: {message}\n"
    assert not (tmp_path / "out").exists()


def test_a_training_begins_with_the_network_of_a_policy(tmp_path: Path) -> None:
    """One update later the mean action is near that of the policy, and far from that of a random one."""
    observations = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 1)).astype(np.float32)
    given: dict[str, Any] = {"steps": 8, "robots": 4, "threads": 1, "preset": "fast"}

    def actions(name: str | None) -> NDArray[np.float32]:
        result = train(TrainingSettings("GapCross", **given, start=name), tmp_path / str(name))
        network = Network.load(result.policy)
        return network(network.low + (0.5 + observations) * (network.high - network.low))

    own = Network.load(BUNDLED / "GapCross.npz")
    began = own(own.low + (0.5 + observations) * (own.high - own.low))
    assert np.abs(actions("ppo") - began).mean() < 0.05 < 0.2 < np.abs(actions(None) - began).mean()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("steered", "start must be ppo, ppo:TASK, or a file of train (.npz), got 'steered'"),
        ("narrow.npz", "start must be a network with layers of (128, 128), got layers of (16,)"),
        ("none.npz", "cannot read policy none.npz: No such file or directory"),
    ],
)
def test_networks_that_a_training_cannot_begin_with_are_refused(
    start: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Network.load(BUNDLED / "GapCross.npz")
    weights, biases = (own.weights[0][:16], own.weights[-1][:, :16]), (own.biases[0][:16], own.biases[-1])
    replace(own, weights=weights, biases=biases).save(tmp_path / "narrow.npz")
    done = CliRunner().invoke(app, ["train", "GapCross", "--start", start, "--out", "out"])
    assert (done.exit_code, done.stderr) == (2, f"segtrack: {message}\n")
    assert not (tmp_path / "out").exists()
