"""Searches of `segtrack event` that are interrupted or diverge, with runs that are known beforehand."""

import json
from dataclasses import MISSING, fields, replace

import pytest
from command_line import defaults_of, run

import segtrack.experiments
from segtrack.errors import DivergedError
from segtrack.experiments import (
    EventSetup,
    GapObstacle,
    RideCourse,
    StepObstacle,
    TrapezoidObstacle,
    run_event,
)

SEARCH = ["event", "step", "packbot", "--height", "0.02", "--engine", "native", "--raise", "0.02,0.08,0.02"]


@pytest.fixture(scope="module")
def passed():
    setup = EventSetup("packbot", StepObstacle(0.02), speed=0.4, engine="native", time_step=0.002)
    result = run_event(setup)
    assert result.passed
    return result


def search(monkeypatch, folder, *results):
    """Run a search whose runs end so; an exception is raised."""
    left = iter(results)

    def known(setup):
        result = next(left)
        if isinstance(result, BaseException):
            raise result
        return result

    monkeypatch.setattr(segtrack.experiments, "run_event", known)
    return run(*SEARCH, folder=folder)


def test_an_interrupted_search_keeps_its_trials(passed, monkeypatch, tmp_path):
    done = search(monkeypatch, tmp_path, passed, passed, KeyboardInterrupt())
    assert done.exit_code == 130
    (folder,) = (tmp_path / "out").iterdir()
    kept = json.loads((folder / "search.json").read_text())
    assert len(kept["runs"]) == 2 and (folder / "search.png").exists()
    assert kept["found"] is None and kept["reason"] == "interrupted before its end"


def test_a_search_that_is_interrupted_in_its_first_run_has_nothing_to_keep(monkeypatch, tmp_path):
    assert search(monkeypatch, tmp_path, KeyboardInterrupt()).exit_code == 130
    assert not list(tmp_path.rglob("search.json"))


def test_a_search_that_diverges_is_an_error_with_its_reason(passed, monkeypatch, tmp_path):
    reason = str(DivergedError("packbot", 1.0, "speed above 100 [m/s]"))
    done = search(monkeypatch, tmp_path, passed, replace(passed, outcome="diverged", reason=reason))
    assert done.exit_code == 2 and f"0.04 is undecided: {reason}" in done.stderr
    kept = json.loads(next(tmp_path.rglob("search.json")).read_text())
    assert kept["found"] is None and len(kept["runs"]) == 2


@pytest.mark.parametrize(
    ("command", "kind"), [("gap", GapObstacle), ("trapezoid", TrapezoidObstacle), ("ride", RideCourse)]
)
def test_options_have_the_defaults_of_the_obstacles_that_they_make(command, kind):
    """They are written twice, since obstacles take a while to import."""
    own = {each.name: each.default for each in fields(kind) if each.default is not MISSING}
    given = defaults_of("event", command)
    assert {name: given[name] for name in own} == own
