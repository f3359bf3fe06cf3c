"""Evaluating and measuring policies: numbers against closed forms, and the commands."""

from __future__ import annotations

import json
import math
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.envs import Environment
from segtrack.envs.learning import (
    Evaluation,
    EvaluationSetup,
    LevelResult,
    benchmark,
    benchmark_batches,
    benchmark_setup,
    benchmarking,
    constants,
    evaluate,
    evaluation,
    film_jobs,
    find_constants,
    make_policy,
    trials_of,
)
from segtrack.envs.learning.evaluation_setup import EvaluationCase
from segtrack.envs.learning.network import Network
from segtrack.envs.learning.policies import BUNDLED
from segtrack.envs.learning.results import EpisodeOutcome, Model
from segtrack.envs.learning.rollouts import Row, run_row
from segtrack.envs.parameters import ROBOT_PARAMETERS
from segtrack.report import draw_evaluation, evaluation_tables

CLIMB = EvaluationCase("scripted", "native", "compliant", "nominal", 0.24)


def level_of(successes: int, episodes: int, case: EvaluationCase = CLIMB) -> LevelResult:
    good, bad = EpisodeOutcome("success", 1.0, 0.0, 0.0), EpisodeOutcome("timeout", 1.0, 0.0, 0.0)
    return LevelResult(case, (good,) * successes + (bad,) * (episodes - successes))


@pytest.mark.parametrize(("successes", "episodes"), [(0, 10), (7, 10), (190, 200), (200, 200)])
def test_interval_is_wilsons(successes: int, episodes: int) -> None:
    """Wilson 1927: centre and half width in closed form."""
    z, n, p = norm.ppf(0.975), episodes, successes / episodes
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = level_of(successes, episodes).interval
    assert low == pytest.approx(max(middle - half, 0.0), abs=1e-9)
    assert high == pytest.approx(min(middle + half, 1.0), abs=1e-9)


@pytest.mark.parametrize(
    ("policies", "conditions"),
    [
        (("scripted",), ("nominal", "noise 0.02")),
        pytest.param(
            ("scripted", "random"), ("nominal", "friction -0.15", "one step late"), marks=pytest.mark.slow
        ),
    ],
)
def test_episodes_in_a_batch_are_those_of_single_environments(
    policies: tuple[str, ...], conditions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal to the bit, also where robots begin one episode after the other."""
    monkeypatch.setattr(evaluation, "_ROBOTS", 3)
    setup = EvaluationSetup("GapCross", policies, 2, (0.3,), seed=5, conditions=conditions, preset="fast")
    counted: list[int] = []
    result = evaluate(setup, on_done=counted.append)
    assert counted == list(range(1, setup.episode_count + 1))
    assert [at.case for at in result.results] == list(setup.cases("native", "compliant"))
    for at in result.results:
        assert list(at.episodes) == run_row(Row(setup, at.case, (5, 6))), at.case
    assert all(at.successes == 2 for at in result.of(policy="scripted"))


def test_a_learnt_policy_climbs_in_a_batch_as_alone() -> None:
    setup = EvaluationSetup("StepClimb", ("ppo",), 2, (0.24,), preset="fast")
    (at,) = evaluate(setup).results
    assert list(at.episodes) == run_row(Row(setup, at.case, (0, 1)))


def test_results_say_which_policies_were_trained_for_another_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "GapCross.npz"
    copied.write_bytes((BUNDLED / "GapCross.npz").read_bytes())
    words = ["evaluate", "StepClimb", "--episodes", "1", "--levels", "0.12", "--preset", "fast", "--json"]
    policies = ("ppo", "random", str(copied), "ppo:GapCross", "ppo:StepClimb")
    named = [word for policy in policies for word in ("--policy", policy)]
    # Not the episodes, but who acts in them.
    monkeypatch.setattr(
        evaluation,
        "run_together",
        lambda env, setup, jobs, on_done: [
            on_done(job, EpisodeOutcome("timeout", 1.0, 0.0, 0.0)) for job in jobs
        ],
    )
    done = CliRunner().invoke(app, [*words, *named, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    tasks = "StepClimb", None, "GapCross", "GapCross", "StepClimb"
    expected = [{"policy": name, "trained_for": task} for name, task in zip(policies, tasks, strict=True)]
    assert json.loads(done.stdout)["policies"] == expected
    assert json.loads((tmp_path / "evaluation.json").read_text())["policies"] == expected
    said = [line for line in done.stderr.splitlines() if "trained" in line]
    assert said == [
        f"policy {name} was trained for GapCross, not for StepClimb" for name in (copied, "ppo:GapCross")
    ]


def test_the_constant_action_is_that_which_succeeds_most_often_on_other_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A gap that full speed crosses, slow belts cross later, and no reversing does; with it as `constant`."""
    monkeypatch.setattr(constants, "BELTS", (-1.0, 0.8, 1.0))
    monkeypatch.setattr(constants, "FLIPPERS", (0.0,))
    monkeypatch.setattr(constants, "TRIALS", 2)
    ahead = {"initial_yaw": 0.0, "initial_flippers_front": 0.0, "initial_flippers_rear": 0.0}
    options: dict[str, Any] = {"seed": 7, "preset": "fast", "parameters": ahead}
    setup = EvaluationSetup("GapCross", ("constant", "steered"), 2, (0.2,), **options)
    trials = trials_of(setup)
    assert trials.policies == tuple(f"constant:{belts}" for belts in ("-1,-1,0,0", "0.8,0.8,0,0", "1,1,0,0"))
    assert (trials.seed, trials.episodes, trials.levels, trials.track_models) == (
        9,
        2,
        (0.2,),
        ("compliant",),
    )
    counted: list[int] = []
    found = find_constants(setup, trials, on_done=counted.append)
    assert counted == list(range(1, trials.episode_count + 1)) and trials.episode_count == 6
    assert found.constants == {0.2: (1.0, 1.0, 0.0, 0.0)}
    result = evaluate(found)
    given = evaluate(replace(setup, policies=("constant:1,1,0,0", "steered")))
    assert [at.episodes for at in result.results] == [at.episodes for at in given.results]
    assert all(at.successes == 2 for at in result.of(policy="constant"))
    alone = run_row(Row(found, result.results[0].case, (7, 8)))
    assert alone == list(result.results[0].episodes)
    assert result.summary()["constants"] == [{"level": 0.2, "action": [1.0, 1.0, 0.0, 0.0]}]


@pytest.mark.parametrize(
    ("vehicle", "count", "entries"), [("quince", 50, 4), ("packbot", 2, 2), ("absolem", 50, 4)]
)
def test_constant_actions_move_the_flippers_of_an_end_alike(vehicle: str, count: int, entries: int) -> None:
    with closing(Environment("GapCross", vehicle=vehicle)) as env:
        actions = constants.constant_actions(env)
    assert len(set(actions)) == len(actions) == count
    assert all(len(action) == entries and action[0] == action[1] for action in actions)


def test_a_benchmark_has_both_baselines() -> None:
    setup = benchmark_setup("StepClimb", ("ppo", "steered"))
    assert setup.policies == ("ppo", "steered", "constant")
    assert setup.benchmark == replace(setup, constants={0.24: (1.0, 1.0, 0.0, 0.0)}).benchmark is not None
    assert replace(setup, episodes=20).benchmark is None


def test_the_bundled_policy_of_another_task_acts_as_its_file_does() -> None:
    env = Environment("StepClimb", preset="fast")
    observation, _ = env.reset(seed=0)
    other, own = (make_policy(name, env).act(observation).tolist() for name in ("ppo:GapCross", "ppo"))
    assert other == Network.load(BUNDLED / "GapCross.npz")(observation).tolist() != own
    env.close()


def test_films_of_policies_of_other_tasks_have_names_for_files(tmp_path: Path) -> None:
    setup = EvaluationSetup("StepClimb", ("ppo", "ppo:GapCross"), levels=(0.24,))
    assert [job.path.name for job in film_jobs(setup, tmp_path)] == ["ppo-0.24.mp4", "ppo-GapCross-0.24.mp4"]


def some_evaluation() -> Evaluation:
    """Two policies, track models and conditions, with invented results."""
    setup = EvaluationSetup(
        "StepClimb",
        ("scripted", "random"),
        10,
        track_models=("compliant", "chain"),
        conditions=("nominal", "mass +20 %"),
    )
    cases = [case for model in setup.models for case in setup.cases(*model)]
    results = tuple(level_of(10 - i % 5, 10, case) for i, case in enumerate(cases))
    models = tuple(Model(engine, name, "exact", 0.001) for engine, name in setup.models)
    return Evaluation(setup, models, dict.fromkeys(setup.policies), results, 1.0)


def test_conditions_are_tried_at_the_first_level_and_nominal_ones_at_all() -> None:
    names = ("nominal", "noise 0.02")
    climb, drive = (EvaluationSetup(task, conditions=names) for task in ("StepClimb", "Drive"))
    assert climb.levels_of("noise 0.02") == (0.32,)
    assert climb.levels_of("nominal") == climb.graded_task.levels
    assert drive.levels_of("noise 0.02") == drive.levels_of("nominal")[:1]
    assert replace(climb, levels=(0.1,)).levels_of("noise 0.02") == (0.1,)


def test_a_condition_adds_to_values_and_to_both_ends_of_ranges() -> None:
    setup = EvaluationSetup("StepClimb", parameters={"mass": (0.9, 1.1), "sensor_noise": 0.01})
    assert setup.spread["friction"] == (0.5, 0.7)

    def values(condition: str) -> dict[str, object]:
        return setup.values_of(CLIMB._replace(condition=condition))

    assert values("nominal") == {"height": 0.24}
    assert values("friction -0.15")["friction"] == pytest.approx((0.35, 0.55))
    assert values("mass +20 %")["mass"] == pytest.approx((1.1, 1.3))
    assert values("one step late")["action_delay"] == 1
    assert values("noise 0.02")["sensor_noise"] == pytest.approx(0.03)


def test_differences_are_to_the_first_track_model_and_condition() -> None:
    result = some_evaluation()
    for row in result.rows():
        (first,) = result.of(
            policy=row["policy"], level=row["level"], track_model="compliant", condition="nominal"
        )
        own = (row["track_model"], row["condition"]) == ("compliant", "nominal")
        assert row["difference"] == (None if own else pytest.approx(row["rate"] - first.rate))


def test_tables_have_a_column_for_each_policy_in_each_track_model() -> None:
    result = some_evaluation()
    levels, conditions = evaluation_tables(result)
    assert [column.header for column in levels.columns] == [
        "height [m]",
        "scripted, compliant",
        "scripted, chain",
        "random, compliant",
        "random, chain",
    ]
    assert (levels.row_count, conditions.row_count) == (7, 2)
    assert next(iter(levels.columns[1].cells)) == "100.0% (72.2 to 100.0)"
    assert next(iter(levels.columns[2].cells)) == "90.0% (59.6 to 98.2), -10.0"
    above, below = draw_evaluation(result).axes
    assert (len(above.containers), len(below.containers)) == (4, 4)


def test_a_benchmark_is_known_by_its_setup() -> None:
    setup = benchmark_setup("StepClimb", ("scripted",), ("compliant", "segments"))
    assert (setup.episodes, setup.seed, setup.benchmark) == (200, 0, "segtrack StepClimb 3")
    assert replace(setup, policies=("random", "constant", "steered")).benchmark == "segtrack StepClimb 3"
    assert replace(setup, policies=("scripted",)).benchmark is None
    assert replace(setup, episodes=100).benchmark is None
    assert replace(setup, parameters={"mass": 1.1}).benchmark is None


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
    done = CliRunner().invoke(app, [*words, "--set", "friction=[0.5, 0.5]", "--set", "depth=0.4", "--film"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["parameters"]["friction"] == [0.5, 0.5]
    assert summary["parameters"]["depth"] == 0.4
    assert summary["models"] == [
        {"engine": "native", "track_model": "compliant", "preset": "exact", "time_step": 0.001}
    ]
    assert summary["benchmark"] is None and summary["versions"]["segtrack"]
    assert summary["results"][0]["rate"] == 1.0
    named = {"evaluation.csv", "evaluation.json", "evaluation.png", "scripted-0.3.mp4"}
    assert {path.name for path in out.iterdir()} == named
    _, seconds = imageio_ffmpeg.count_frames_and_secs(str(out / "scripted-0.3.mp4"))
    setup = EvaluationSetup("GapCross", parameters={"friction": (0.5, 0.5), "depth": 0.4})
    first = evaluate(replace(setup, levels=(0.3,), episodes=1))
    assert seconds == pytest.approx(first.results[0].episodes[0].duration + 0.05)


def test_speeds_fit_each_other() -> None:
    (speed,) = benchmark(("GapCross",), steps=20, rounds=1, workers=2, engine="native")
    assert speed.workers == 2
    assert speed.gain == speed.all_cores / speed.one
    assert speed.real_time_factor == pytest.approx(speed.one / 20.0)


def test_shares_of_a_batch_add_up_for_each_number_of_robots_and_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(benchmarking, "_memory_of", lambda *_: 1)
    given = {"steps": 3, "rounds": 1, "time_step": 0.005}
    (speeds,) = benchmark_batches(("GapCross",), (1, 3), (1, 2), **given)
    assert [(s.num_envs, s.threads) for s in speeds.batches] == [(1, 1), (1, 2), (3, 1), (3, 2)]
    for s in speeds.batches:
        assert s.physics + s.observation + s.reward + s.python == pytest.approx(1.0)
        assert 0.0 < s.physics < 1.0 and s.reset > 0.0
    (single,) = speeds.singles
    assert (single.engine, single.track_model, single.time_step) == ("native", "compliant", 0.005)
    assert single.rate > 0.0 and speeds.over_pybullet(1.0) is None


@pytest.mark.slow
@pytest.mark.pybullet
def test_memory_of_a_batch_is_that_of_a_process_of_its_own(tmp_path: Path) -> None:
    """Measured one after the other, more robots take more, by some 0.1 MB each."""
    words = ["benchmark", "GapCross", "--num-envs", "1,257", "--against-pybullet", "--steps", "2", "--json"]
    done = CliRunner().invoke(app, [*words, "--rounds", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (at,) = json.loads(done.stdout)["tasks"]
    few, many = (row["memory"] for row in at["batches"])
    assert 10e6 < many - few < 100e6
    native, pybullet = at["singles"]
    assert (native["engine"], pybullet["over_pybullet"]) == ("native", 1.0)
    assert native["over_pybullet"] == pytest.approx(native["rate"] / pybullet["rate"])
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluate", "Climb"],
            "no task 'Climb'; there are: StepClimb, StairClimb, GapCross, RoughTerrain, Drive, Traverse",
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
            "no policy 'script'; there are: scripted, steered, constant, constant:ACTION, random, ppo, "
            "ppo:TASK, MODULE:FUNCTION, or a file",
        ),
        (
            ["evaluate", "StepClimb", "--policy", "ppo:Climb"],
            "no policy of segtrack's own for 'Climb'; there are: Drive, GapCross, RoughTerrain, StairClimb, "
            "StepClimb, Traverse",
        ),
        (
            ["evaluate", "StepClimb", "--benchmark", "--episodes", "50", "--set", "mass=1.1"],
            "--benchmark must be given without what it decides, got episodes, parameters",
        ),
        (
            ["evaluate", "StepClimb", "--set", "friction=0.1", "--conditions"],
            "friction under condition 'friction -0.15' must be from 0 to 2, got -0.04999999999999999",
        ),
        (
            ["evaluate", "StepClimb", "--set", "mass=[1, 1.4]", "--conditions"],
            "mass under condition 'mass +20 %' must be from 0.7 to 1.5, got 1.5999999999999999",
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
            ["benchmark", "StepClimb", "--against-pybullet"],
            "--against-pybullet must be left out without --num-envs, got True",
        ),
        (
            ["benchmark", "Climb"],
            "no task 'Climb'; there are: StepClimb, StairClimb, GapCross, RoughTerrain, Drive, Traverse",
        ),
    ],
)
def test_mistakes_get_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert done.stderr == f"segtrack: {message}\n"
    assert not (tmp_path / "out").exists()
