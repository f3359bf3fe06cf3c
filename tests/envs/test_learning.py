"""Evaluating and measuring policies: numbers against closed forms, and the commands."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.envs.learning.benchmark import benchmark, benchmark_batches
from segtrack.envs.learning.evaluation import EpisodeOutcome, EvaluationSetup, LevelResult, evaluate
from segtrack.envs.parameters import ROBOT_PARAMETERS
from segtrack.report.learning import draw_evaluation, evaluation_table


def level_of(successes: int, episodes: int) -> LevelResult:
    good, bad = EpisodeOutcome("success", 1.0, 0.0, 0.0), EpisodeOutcome("timeout", 1.0, 0.0, 0.0)
    return LevelResult("scripted", 0.24, (good,) * successes + (bad,) * (episodes - successes))


@pytest.mark.parametrize(("successes", "episodes"), [(0, 10), (7, 10), (190, 200), (200, 200)])
def test_interval_is_wilsons(successes: int, episodes: int) -> None:
    """Wilson 1927: centre and half width in closed form."""
    z, n, p = norm.ppf(0.975), episodes, successes / episodes
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = level_of(successes, episodes).interval
    assert low == pytest.approx(max(middle - half, 0.0), abs=1e-9)
    assert high == pytest.approx(min(middle + half, 1.0), abs=1e-9)


@pytest.mark.slow
def test_evaluation_is_the_same_again_and_orders_by_policy_and_level() -> None:
    policies = ("scripted", "random")
    setup = EvaluationSetup("GapCross", policies, episodes=2, levels=(0.2, 0.3), engine="native")
    first, again = evaluate(setup), evaluate(replace(setup, policies=("random",), levels=(0.3,)))
    assert first.results[-1:] == again.results
    assert [(r.policy, r.level) for r in first.results] == [
        ("scripted", 0.2),
        ("scripted", 0.3),
        ("random", 0.2),
        ("random", 0.3),
    ]
    assert [r.successes for r in first.of("scripted")] == [2, 2]
    assert [r.successes for r in first.of("random")] == [0, 0]
    assert evaluation_table(first).row_count == 2
    assert len(draw_evaluation(first).axes[0].containers) == 2


@pytest.mark.slow
def test_evaluate_command_writes_table_and_picture(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [
        "evaluate",
        "segtrack/GapCross-v0",
        "--episodes",
        "2",
        "--levels",
        "0.3",
        "--json",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(app, [*words, "--set", "friction=[0.5, 0.5]", "--set", "depth=0.4"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["conditions"]["friction"] == [0.5, 0.5]
    assert summary["conditions"]["depth"] == 0.4
    assert summary["results"][0]["rate"] == 1.0
    assert {path.name for path in out.iterdir()} == {"evaluation.csv", "evaluation.json", "evaluation.png"}


def test_speeds_fit_each_other() -> None:
    (speed,) = benchmark(("GapCross",), steps=20, rounds=1, workers=2, engine="native")
    assert speed.workers == 2
    assert speed.gain == speed.all_cores / speed.one
    assert speed.real_time_factor == pytest.approx(speed.one / 20.0)


def test_shares_of_a_batch_add_up_for_each_number_of_robots_and_threads(tmp_path: Path) -> None:
    counted: list[int] = []
    given = {"steps": 3, "rounds": 1, "time_step": 0.005}
    speeds = benchmark_batches(("GapCross",), (1, 3), (1, 2), on_done=lambda: counted.append(1), **given)
    assert [(s.num_envs, s.threads) for s in speeds] == [(1, 1), (1, 2), (3, 1), (3, 2)]
    assert len(counted) == 4
    for s in speeds:
        assert s.physics + s.observation + s.reward + s.python == pytest.approx(1.0)
        assert 0.0 < s.physics < 1.0 and s.reset > 0.0
    words = ["benchmark", "GapCross", "--num-envs", "2", "--steps", "2", "--rounds", "1", "--json"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert [row["num_envs"] for row in json.loads(done.stdout)["batches"]] == [2]
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluate", "Climb"],
            "no task 'Climb'; there are: StepClimb, StairClimb, GapCross, RoughTerrain, Drive",
        ),
        (
            ["evaluate", "StepClimb", "--levels", "high"],
            "--levels must be numbers with commas between them, got 'high'",
        ),
        (
            ["evaluate", "StepClimb", "--levels", "2"],
            "height [m] must be from 0.02 to 0.6, got 2.0",
        ),
        (
            ["evaluate", "StepClimb", "--set", "height=0.2"],
            "parameter height must be given as levels, got 0.2",
        ),
        (["evaluate", "StepClimb", "--set", "friction"], "--set must be NAME=VALUE, got 'friction'"),
        (
            ["evaluate", "StepClimb", "--set", "preset=fast"],
            "no parameter of StepClimb 'preset'; there are: " + ", ".join(("height", *ROBOT_PARAMETERS)),
        ),
        (
            ["evaluate", "StepClimb", "--levels", "0.2,0.2"],
            "levels must be some, each of them once, got (0.2, 0.2)",
        ),
        (
            ["evaluate", "StepClimb", "--policy", "script"],
            "no policy 'script'; there are: scripted, random, ppo, or a file",
        ),
        (["train", "StepClimb", "--hardest", "9"], "hardest [m] must be from 0.02 to 0.6, got 9.0"),
        (
            ["train", "StepClimb", "--hardest", "0.12"],
            "hardest must be above the easiest level of 0.12, got 0.12",
        ),
        (
            ["train", "StepClimb", "--hardest", "0.3", "--set", "height=0.2"],
            "hardest must be left out where height is given, got 0.3",
        ),
        (
            ["evaluate", "StepClimb", "--set", "friction=[1"],
            "--set friction must be a number, a word, or a range [LOW, HIGH], got '[1'",
        ),
        (
            ["evaluate", "StepClimb", "--policy", "nowhere.npz"],
            "cannot read policy nowhere.npz: No such file or directory",
        ),
        pytest.param(
            ["evaluate", "StepClimb", "--engine", "pybullet", "--preset", "best"],
            "no solver preset 'best'; there are: exact, fast, coarse",
            marks=pytest.mark.pybullet,
        ),
        (
            ["evaluate", "StepClimb", "--vehicle", "packbot"],
            "vehicle must be one with flippers for StepClimb, got packbot, which has none",
        ),
        (
            ["benchmark", "Climb"],
            "no task 'Climb'; there are: StepClimb, StairClimb, GapCross, RoughTerrain, Drive",
        ),
        (
            ["train", "Climb"],
            "no task 'Climb'; there are: StepClimb, StairClimb, GapCross, RoughTerrain, Drive",
        ),
    ],
)
def test_mistakes_get_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert done.stderr == f"segtrack: {message}\n"
    assert not (tmp_path / "out").exists()
