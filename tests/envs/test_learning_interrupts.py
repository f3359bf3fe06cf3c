"""Ctrl-C in evaluations, and folders in which a training lives."""

import json
import os

import pytest
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.envs.learning import EvaluationInterrupted, EvaluationSetup, evaluate, evaluation
from segtrack.envs.learning.results import EpisodeOutcome

WORDS = ["evaluate", "GapCross", "--track-model", "chain", "--episodes", "12", "--levels", "0.2,0.3"]


@pytest.fixture
def interrupted(monkeypatch):
    """Evaluations in this process, which Ctrl-C ends in their third row of episodes."""
    rows = []

    def run(row):
        if len(rows) == 2:
            raise KeyboardInterrupt
        rows.append(row)
        return [EpisodeOutcome("success", 1.0, 2.0, 3.0) for _ in row.seeds]

    monkeypatch.setattr(evaluation, "run_row", run)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    return rows


def test_an_interrupted_evaluation_keeps_its_episodes(interrupted):
    with pytest.raises(EvaluationInterrupted) as stopped:
        evaluate(EvaluationSetup("GapCross", episodes=12, levels=(0.2, 0.3), track_models=("chain",)))
    result = stopped.value.result
    assert (result.done, result.finished) == (10, False)
    assert [(at.case.level, len(at.episodes), at.rate) for at in result.results] == [(0.2, 10, 1.0)]
    assert [seed for row in interrupted for seed in row.seeds] == list(range(10))


def test_an_interrupted_batch_keeps_episodes_up_to_the_first_that_runs(monkeypatch):
    """Seeds that ended soon say nothing before those that take longer."""

    def together(env, setup, jobs, on_done):
        for i in (1, 0, 3):
            on_done(jobs[i], EpisodeOutcome("tip_over", 1.0, 2.0, 3.0))
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "run_together", together)
    counted = []
    with pytest.raises(EvaluationInterrupted) as stopped:
        evaluate(EvaluationSetup("GapCross", episodes=5, levels=(0.2, 0.3)), on_done=counted.append)
    (at,) = stopped.value.result.results
    assert (at.case.level, len(at.episodes), counted) == (0.2, 2, [1, 2, 3])


def test_the_command_writes_what_was_done_and_says_so(interrupted, tmp_path):
    done = CliRunner().invoke(app, [*WORDS, "--out", str(tmp_path)])
    assert done.exit_code == 130
    assert "interrupted: results are of 10 of 24 episodes" in done.stderr
    summary = json.loads((tmp_path / "evaluation.json").read_text())
    assert (summary["finished"], summary["results"][0]["episodes"]) == (False, 10)
    assert (tmp_path / "evaluation.png").is_file()
    assert len((tmp_path / "evaluation.csv").read_text().splitlines()) == 2


def test_an_evaluation_without_an_episode_writes_nothing(interrupted, tmp_path):
    interrupted.extend([None, None])
    done = CliRunner().invoke(app, [*WORDS, "--out", str(tmp_path / "out")])
    assert done.exit_code == 130
    assert not (tmp_path / "out").exists()
