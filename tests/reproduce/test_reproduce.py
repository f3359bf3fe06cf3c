"""Registry of `segtrack reproduce`, its timing harness, and what is left out without PyBullet."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.cli.app import app
from segtrack.engine import TRACK_MODELS, describe_track_models
from segtrack.errors import FileAccessError, InvalidValueError, MissingPyBulletError
from segtrack.report import Outcome
from segtrack.reproduce import EXPERIMENTS, registry
from segtrack.reproduce.registry import Elapsed, markdown_table, runnable, stopwatch, take_turns

MANUAL = Path(__file__).parents[2] / "docs" / "topics" / "experiments.md"


def test_the_command_line_has_a_command_for_each_row() -> None:
    commands = typer.main.get_command(app).commands["reproduce"].commands  # type: ignore[attr-defined]
    assert list(commands) == [row.name for row in EXPERIMENTS]
    for row in EXPERIMENTS:
        shown = {parameter.name for parameter in commands[row.name].params}
        session, *own = inspect.signature(row.run).parameters
        assert session == "session"
        assert shown - {"help"} == {*own, "out", "as_json"}
        assert commands[row.name].help == row.summary


def test_a_module_belongs_to_one_row_and_its_docstring_names_the_command() -> None:
    modules = {inspect.getmodule(row.run) for row in EXPERIMENTS}
    assert len(modules) == len({row.name for row in EXPERIMENTS}) == len(EXPERIMENTS)
    for row in EXPERIMENTS:
        assert f"`segtrack reproduce {row.name}`" in str(inspect.getmodule(row.run).__doc__)


def test_the_manual_has_the_registrys_table() -> None:
    assert markdown_table() in MANUAL.read_text(encoding="utf-8")


def test_help_names_every_track_model_with_its_engines() -> None:
    text = describe_track_models()
    for name, entry in TRACK_MODELS.items():
        assert name in text
        assert all(engine in text for engine in entry.builders)
    assert text.count("chain") == 1


def test_contenders_take_turns() -> None:
    calls: list[str] = []
    done: list[int] = []

    def contender(name: str, sample: int) -> object:
        return lambda: (calls.append(name), sample)[1]

    samples = take_turns(
        {"a": contender("a", 1), "b": contender("b", 2)},  # type: ignore[dict-item]
        2,
        lambda: done.append(len(calls)),
        warm_up=True,
    )
    assert "".join(calls) == "abababab"[:6]
    assert samples == {"a": (1, 1), "b": (2, 2)}
    assert done == [3, 4, 5, 6]  # The warm-up does not count.


@pytest.mark.parametrize("rounds", [0, -1])
def test_no_rounds_are_refused_before_anything_runs(rounds: int) -> None:
    with pytest.raises(InvalidValueError) as caught:
        take_turns({"a": lambda: pytest.fail("was called")}, rounds, warm_up=True)
    assert str(caught.value) == f"rounds must be at least 1, got {rounds}"


def test_a_stopwatch_tells_waiting_from_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"clock": 100.0, "processor": 7.0}
    monkeypatch.setattr("time.perf_counter", lambda: now["clock"])
    monkeypatch.setattr("time.process_time", lambda: now["processor"])

    def wait_and_compute() -> None:
        now["clock"] += 0.5
        now["processor"] += 0.125

    assert stopwatch(wait_and_compute) == Elapsed(clock=0.5, processor=0.125)


def test_an_outcome_writes_each_kind_of_file(tmp_path: Path) -> None:
    files = {"a.json": {"x": 1}, "a.csv": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "a.png": Figure()}
    paths = Outcome(Table(), {}, files).write(tmp_path)
    assert [path.name for path in paths] == list(files)
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1}
    assert (tmp_path / "a.csv").read_text() == "x,y\n1,2\n3,4\n"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileAccessError):
        Outcome(Table(), {}, {"a.json": {}}).write(tmp_path / "a.csv")


@pytest.fixture
def no_pybullet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve track models as where PyBullet is not installed."""

    def resolve(engine: str | None, track_model: str) -> tuple[str, str]:
        if engine == "pybullet" or track_model in ("segments", "smooth"):
            raise MissingPyBulletError
        return "native", track_model

    monkeypatch.setattr(registry, "resolve", resolve)


@pytest.mark.usefixtures("no_pybullet")
def test_rows_that_need_pybullet_are_left_out_and_named() -> None:
    rows = {
        "a": (None, "segments"),
        "b": (None, "chain"),
        "c": ("pybullet", "compliant"),
        "d": (None, "surface"),
    }
    run, (note,) = runnable(rows)
    assert run == ("b", "d")
    assert note == f"left out: a, c: {MissingPyBulletError()}"
    assert runnable({"b": rows["b"]}) == (("b",), ())
    with pytest.raises(MissingPyBulletError):
        runnable({"a": rows["a"], "c": rows["c"]})


WITHOUT_PYBULLET = """
import sys
sys.modules["pybullet"] = sys.modules["pybullet_utils"] = None
from segtrack.cli import main
sys.argv = ["segtrack", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["turning", "--vehicle", "packbot"],
        ["maxxii", "--rows", "2"],
        ["speed", "--rounds", "1"],
        ["okada-table-2", "--rounds", "1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_pybullet_the_other_rows_run(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_PYBULLET, "reproduce", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: segments" in done.stderr
    assert "compliant" in done.stdout


@pytest.mark.slow
def test_without_pybullet_a_track_model_that_is_asked_for_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_PYBULLET, "reproduce", "turning", "--track-model", "segments"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"segtrack: {MissingPyBulletError()}\n")
