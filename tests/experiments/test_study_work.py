"""Studies with runs that are known beforehand: searches, journals, lost workers, sensitivities."""

import io
import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import nullcontext

import numpy as np
import pytest
from command_line import PROGRAM, run
from rich.console import Console
from tables import each_row

import segtrack
from segtrack.description import find_vehicle
from segtrack.errors import DivergedError, InvalidValueError, StudyFileError, WorkerLostError
from segtrack.experiments import (
    Workers,
    load_study_file,
    provenance,
    read_runs,
    run_row,
    run_study,
    write_runs,
)
from segtrack.experiments.study_runs import COLUMNS, vehicle_of
from segtrack.report import draw_study, study_tables

STUDY = """
vehicle: packbot
engine: native
track_model: compliant
event: {kind: step, height: 0.1, speed: 0.3}
search: {raised: size, first: 0.1, last: 0.4, increment: 0.1}
parameters:
  a: {paths: ["tracks.*.contact.friction"], low: 0.1, high: 0.3, count: 3}
  b: {paths: ["body.center_of_mass[0]"], low: 0.0, high: 0.1, count: 2}
"""
SINGLE = STUDY.replace("search: {raised: size, first: 0.1, last: 0.4, increment: 0.1}", "criterion: peak")
UNCOUNTED = SINGLE.replace(", count: 3", "").replace(", count: 2", "")
"""Study for designs that are no grid."""


def study_of(text, folder):
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return load_study_file(path)


class Killed(BaseException):
    """End of the process at a moment that nobody chose."""


class Formula:
    """Pool whose runs are a formula: a step is passed up to a + b, a peak is 5 a + b."""

    def __init__(self, kill_after=None, lose=0, order=lambda jobs: jobs):
        self.left, self.lose, self.order, self.count = kill_after, lose, order, 0

    def run(self, function, jobs, on_done):
        if self.lose:
            self.lose -= 1
            raise WorkerLostError
        done = []
        for i in self.order(list(range(len(jobs)))):
            if self.left is not None and self.count == self.left:
                raise Killed
            self.count += 1
            row = self.row(jobs[i])
            done.append(row)
            on_done(i, row)
        return done

    def row(self, job):
        a, b = job.values
        passed = job.tried is None or job.tried <= a + b + 1e-9
        row = dict.fromkeys(COLUMNS) | {"a": a, "b": b, "design": job.design, "trial": job.trial}
        return row | {
            "tried": job.tried,
            "passed": passed,
            "measure": 5 * a + b,
            "outcome": "passed" if passed else "stuck",
            "limited_by": "" if passed else "friction",
            "reason": "",
        }


def test_every_vehicle_is_searched_upwards(tmp_path):
    shares = []
    result = run_study(study_of(STUDY, tmp_path), tmp_path, pool=Formula(), on_share=shares.append)
    assert result.values.tolist() == [[a, b] for a in (0.1, 0.2, 0.3) for b in (0.0, 0.1)]
    assert result.results == (0.1, 0.2, 0.2, 0.3, 0.3, 0.4)
    assert result.found[0].reason == "0.2 is not passed: stuck by friction"
    assert result.found[5].reason == "holds up to 0.4, the highest that was tried"
    assert [(row["design"], row["trial"]) for row in result.rows] == sorted(
        (row["design"], row["trial"]) for row in result.rows
    )
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)


def test_a_criterion_that_none_meets_is_said_for_each_vehicle(tmp_path):
    text = STUDY.replace("first: 0.1, last", "first: 0.5, last").replace("last: 0.4", "last: 0.9")
    result = run_study(study_of(text, tmp_path), tmp_path, pool=Formula())
    assert {found for found in result.found} == {
        (None, "0.5, the lowest that was tried, is not passed: stuck by friction")
    }


@pytest.mark.parametrize("kill_after", [0, 1, 7, 12])
@pytest.mark.parametrize("order", [lambda jobs: jobs, lambda jobs: jobs[::-1]])
def test_a_study_that_is_killed_goes_on_to_the_same_rows(kill_after, order, tmp_path):
    study = study_of(STUDY, tmp_path)
    whole = run_study(study, tmp_path / "whole", pool=Formula())
    with pytest.raises(Killed):
        run_study(study, tmp_path / "killed", pool=Formula(kill_after, order=order))
    journal = tmp_path / "killed" / "runs.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"design": 5, "tri')  # What was being written.
    rest = Formula()
    result = run_study(study, tmp_path / "killed", pool=rest, resume=True)
    assert result.rows == whole.rows and result.found == whole.found
    assert rest.count == len(whole.rows) - kill_after
    written = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert sorted(written[1:], key=lambda row: (row["design"], row["trial"])) == list(whole.rows)
    nothing = Formula()
    assert run_study(study, tmp_path / "killed", pool=nothing, resume=True).rows == whole.rows
    assert nothing.count == 0


def test_a_study_that_has_begun_is_not_begun_anew(tmp_path):
    study = study_of(STUDY, tmp_path)
    run_study(study, tmp_path, pool=Formula())
    with pytest.raises(InvalidValueError, match="got one with 20 runs: --resume goes on from them"):
        run_study(study, tmp_path, pool=Formula())
    other = study_of(STUDY.replace("0.3}", "0.35}", 1), tmp_path)
    with pytest.raises(InvalidValueError, match="versions, got other study_sha256"):
        run_study(other, tmp_path, pool=Formula(), resume=True)


def test_a_study_that_was_killed_before_its_first_run_can_be_changed(tmp_path):
    """Its journal is that of the study as it is now: rows below an older head could not be gone on from."""
    with pytest.raises(Killed):
        run_study(study_of(STUDY, tmp_path), tmp_path, pool=Formula(0))
    other = study_of(STUDY.replace("0.3}", "0.35}", 1), tmp_path)
    with pytest.raises(Killed):
        run_study(other, tmp_path, pool=Formula(3))
    rest = Formula()
    result = run_study(other, tmp_path, pool=rest, resume=True)
    assert rest.count == len(result.rows) - 3


def test_the_provenance_of_a_study_has_the_urdf_wherever_it_is(tmp_path):
    folder = tmp_path / "one"
    shutil.copytree(find_vehicle("m113").parent, folder)
    text = (
        "vehicle: m113.yaml\nengine: native\ntrack_model: chain\nevent: {kind: step, height: 0.1}\n"
        "parameters:\n  a: {paths: [tracks.*.contact.friction], low: 0.1, high: 0.3}\n"
    )
    head = provenance(study_of(text, folder))
    assert list(head["named_files_sha256"]) == ["m113.urdf"]
    folder = folder.rename(tmp_path / "two")
    assert provenance(load_study_file(folder / "study.yaml")) == head
    urdf = (folder / "m113.urdf").read_text(encoding="utf-8")
    (folder / "m113.urdf").write_text(urdf.replace('mass value="', 'mass value="1'), encoding="utf-8")
    changed = provenance(load_study_file(folder / "study.yaml"))
    assert [name for name in head if changed[name] != head[name]] == ["named_files_sha256"]


def test_a_lost_worker_is_replaced_and_a_run_that_loses_it_again_and_again_is_a_row(tmp_path):
    study = study_of(STUDY, tmp_path)
    whole = run_study(study, tmp_path / "whole", pool=Formula())
    assert run_study(study, tmp_path / "once", pool=Formula(lose=1)).rows == whole.rows
    assert run_study(study, tmp_path / "thrice", pool=Formula(lose=3)).rows == whole.rows
    result = run_study(study, tmp_path / "always", pool=Formula(lose=4))
    assert result.found[0] == (None, "4 times its worker process ended without a word")
    assert result.rows[0]["outcome"] == "failed" and result.found[1:] == whole.found[1:]


def end_process(job):
    """Run that ends the process that it is in."""
    os._exit(3)


@pytest.mark.slow
def test_a_job_that_is_left_alone_is_not_run_in_this_process_where_it_ended_another():
    with Workers(2) as pool:
        for jobs in ([1, 2], [1]):
            with pytest.raises(WorkerLostError) as lost:
                pool.run(end_process, jobs)
            told = "a worker process was killed, perhaps for want of memory: fewer --jobs need less"
            assert str(lost.value) == told


def refuse(job):
    """Run that a mistake of a user's ends."""
    raise InvalidValueError("number of the job", "even", job)


@pytest.mark.slow
def test_a_worker_that_is_killed_between_rounds_is_told_and_errors_come_as_they_were_raised():
    with Workers(2) as pool:
        with pytest.raises(InvalidValueError, match="^number of the job must be even, got 1$"):
            pool.run(refuse, [1, 1])
        first, _ = pool.run(process_id, [1, 2])
        os.kill(first, signal.SIGKILL)
        time.sleep(1.0)  # The pool is told of it by a thread.
        with pytest.raises(WorkerLostError):
            pool.run(process_id, [1, 2])


def process_id(job):
    """Id of the process that runs it."""
    return os.getpid()


def test_an_error_that_nobody_foresaw_is_a_row(tmp_path, monkeypatch):
    def fail(*given, **named):
        raise ZeroDivisionError("x [/m]")

    monkeypatch.setattr("segtrack.experiments.study_runs.run_event", fail)
    result = run_study(study_of(SINGLE, tmp_path), tmp_path)
    assert {(row["outcome"], row["reason"]) for row in result.rows} == {
        ("failed", "ZeroDivisionError: x [/m]")
    }
    assert result.found[0] == (None, "ZeroDivisionError: x [/m]")


def test_a_study_without_any_run_is_an_error_that_says_why(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "study.yaml").write_text(
        STUDY.replace("low: 0.1, high: 0.3, count: 3", "low: -0.1, high: -0.05")
    )
    done = run("study", "study.yaml", "--jobs", "1", folder=tmp_path)
    assert done.exit_code == 2
    said = (
        "none of 4 runs could be simulated; the reason of 2: packbot.yaml: tracks.left.contact.friction must"
    )
    assert said in done.stderr
    assert (tmp_path / "out" / "study-study" / "runs.parquet").exists()


class Refusing(Formula):
    """Pool whose runs of the second value of `a` are refused."""

    def row(self, job):
        refused = {"outcome": "refused", "passed": False, "limited_by": "", "reason": "no such vehicle"}
        return super().row(job) | (refused if job.values[0] == 0.2 else {})


def test_a_study_that_could_not_simulate_some_of_its_vehicles_ends_well(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("segtrack.experiments.Workers", lambda *given: nullcontext(Refusing()))
    (tmp_path / "study.yaml").write_text(STUDY)
    done = run("study", "study.yaml", "--json", folder=tmp_path)
    assert done.exit_code == 0
    designs = json.loads(done.stdout)["designs"]
    assert [design["value"] is None for design in designs] == [False, False, True, True, False, False]


class Diverging(Formula):
    """Pool whose runs of the second value of `a` diverge."""

    def row(self, job):
        reason = "simulation diverged: x [/m]: NaN" if job.values[0] == 0.2 else ""
        lost = {"outcome": "diverged", "passed": False, "limited_by": "", "reason": reason, "measure": 1e9}
        return super().row(job) | (lost if reason else {})


@pytest.mark.parametrize("text", [STUDY, SINGLE, SINGLE.replace("peak", "passed")])
def test_what_diverged_is_no_number_and_its_reason_is_printed_as_it_is(text, tmp_path):
    result = run_study(study_of(text, tmp_path), tmp_path, pool=Diverging())
    assert [value is None for value in result.results] == [False, False, True, True, False, False]
    said = ("0.1 is undecided: " if text is STUDY else "") + "simulation diverged: x [/m]: NaN"
    assert result.found[2].reason == said
    console = Console(width=200, file=io.StringIO())
    for table in study_tables(result):
        console.print(table)
    assert said in console.file.getvalue()


def test_a_run_that_diverges_in_the_engine_is_a_row_with_its_reason(tmp_path, monkeypatch):
    """And the other runs are not ended by it."""
    left = iter([True])
    world_run = segtrack.World.run

    def diverge(world, *given, **named):
        if next(left, False):
            raise DivergedError("packbot", world.time, "too fast")
        world_run(world, *given, **named)

    monkeypatch.setattr(segtrack.World, "run", diverge)
    text = SINGLE.replace("low: 0.1, high: 0.3, count: 3", "low: 0.6, high: 0.8, count: 2")
    text = text[: text.index("  b:")].replace("height: 0.1", "height: 0.03")
    brief = "assumptions: {stall_time: 1.0, past: 0.2, step_rest: 0.2}\ntime_step: 0.004\n"
    result = run_study(study_of(text + brief, tmp_path), tmp_path)
    outcomes = [row["outcome"] for row in result.rows]
    assert outcomes == ["diverged", "passed"]
    said = "simulation diverged: packbot at t = 0.0000 s: too fast"
    assert result.rows[0]["reason"] == said and result.found[0] == (None, said)
    json.dumps(result.summary(), allow_nan=False)


def test_a_path_that_the_vehicle_has_not_is_one_clear_error_before_anything_runs(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "study.yaml").write_text(STUDY.replace("contact.friction", "contact.fiction"))
    done = run("study", "study.yaml", folder=tmp_path)
    assert done.exit_code == 2 and len(done.stderr.strip().splitlines()) == 1
    assert "parameters.a.paths[0] is no place of packbot.yaml" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


def test_whole_numbers_are_said_as_they_are_run(tmp_path):
    text = SINGLE.replace("body.center_of_mass[0]", "tracks.*.grousers.count")
    text = text.replace("low: 0.0, high: 0.1, count: 2", "low: 30, high: 33, count: 3")
    result = run_study(study_of(text, tmp_path), tmp_path, pool=Formula())
    assert result.values[:3, 1].tolist() == [30.0, 32.0, 33.0]  # 31.5 is rounded.
    assert [row["b"] for row in result.rows[:3]] == [30.0, 32.0, 33.0]
    vehicle = vehicle_of(result.study, tuple(result.values[1]))
    assert vehicle.tracks["left"].grousers.count == 32
    ticks = draw_study(result).axes[0].get_yticks()
    assert ticks.tolist() == [30.0, 32.0, 33.0]


def test_a_single_run_gives_its_measure(tmp_path):
    result = run_study(study_of(SINGLE, tmp_path), tmp_path, pool=Formula())
    assert result.results == pytest.approx([5 * a + b for a, b in result.values])
    assert result.summary()["result"] == "peak [g]"


def test_a_single_run_that_does_not_pass_has_no_measure(tmp_path):
    class Stuck(Formula):
        def row(self, job):
            return super().row(job) | {"passed": False, "outcome": "stuck", "limited_by": "hull"}

    result = run_study(study_of(SINGLE, tmp_path), tmp_path, pool=Stuck())
    assert set(result.found) == {(None, "stuck by hull")}


@pytest.mark.parametrize("method", ["sobol", "halton", "latin hypercube"])
def test_sequences_fill_the_ranges_and_depend_on_the_seed_alone(method, tmp_path):
    text = UNCOUNTED + f"design: {{method: {method}, count: 32, seed: 3}}\n"
    a, b = (run_study(study_of(text, tmp_path), tmp_path / str(i), pool=Formula()) for i in range(2))
    assert np.array_equal(a.values, b.values) and a.values.shape == (32, 2)
    assert (a.values >= [0.1, 0.0]).all() and (a.values <= [0.3, 0.1]).all()
    assert a.values.mean(axis=0) == pytest.approx([0.2, 0.05], rel=0.1)


def test_sensitivities_of_a_sum_are_its_shares_of_the_variance(tmp_path):
    """Of 5 a + b over ranges of 0.2 and 0.1: variances of 1 and 0.01, over 12; effects 1 and 0.1."""
    pytest.importorskip("SALib")
    text = UNCOUNTED + "design: {method: saltelli, count: 256, seed: 1}\n"
    result = run_study(study_of(text, tmp_path), tmp_path / "saltelli", pool=Formula())
    assert len(result.rows) == 256 * 6
    assert result.sensitivities["a"]["S1"] == pytest.approx(1 / 1.01, abs=0.02)
    assert result.sensitivities["b"]["ST"] == pytest.approx(0.01 / 1.01, abs=0.002)
    text = UNCOUNTED + "design: {method: morris, count: 8, seed: 1}\n"
    result = run_study(study_of(text, tmp_path), tmp_path / "morris", pool=Formula())
    assert result.sensitivities["a"]["mu_star"] == pytest.approx(1.0)
    assert result.sensitivities["b"]["mu_star"] == pytest.approx(0.1)


def test_an_optimisation_that_is_killed_goes_on_to_the_same_rows(tmp_path):
    optuna = pytest.importorskip("optuna")
    text = UNCOUNTED + "design: {method: optuna, count: 30, batch: 3, seed: 2, direction: smallest}\n"
    study = study_of(text, tmp_path)
    whole = run_study(study, tmp_path / "whole", pool=Formula())
    with pytest.raises(Killed):
        run_study(study, tmp_path / "killed", pool=Formula(17))
    result = run_study(study, tmp_path / "killed", pool=Formula(), resume=True)
    assert result.rows == whole.rows and np.array_equal(result.values, whole.values)
    assert min(result.results) < 0.6  # The least is 0.5, the mean 1.05.
    stored = optuna.load_study(study_name="segtrack", storage=f"sqlite:///{tmp_path}/killed/optuna.db")
    assert stored.best_value == min(result.results)


def test_a_vehicle_that_cannot_be_is_a_row_with_its_reason(tmp_path):
    text = STUDY.replace("low: 0.1, high: 0.3, count: 3", "low: -0.1, high: -0.05")
    result = run_study(study_of(text, tmp_path), tmp_path)
    assert len(result.rows) == 4 and {row["outcome"] for row in result.rows} == {"refused"}
    reason = "tracks.left.contact.friction must be at least 0, got -0.1"
    assert reason in result.rows[0]["reason"] and result.found[0].value is None
    json.dumps(result.summary())


@each_row(
    "old, new, message",
    [
        (
            "tracks.*.contact.friction",
            "tracks.*.contact.fiction",
            "parameters.a.paths[0] is no place of packbot",
        ),
        ("body.center_of_mass[0]", "tracks.left.contact.friction", "is a place of parameter a, too"),
        ("kind: step", "kind: gap", "event.length is missing for a gap"),
        ("speed: 0.3}", "speed: 0.3, depth: 1.0}", "event.depth is nothing of a step; it takes height"),
        (
            "low: 0.1, high: 0.3",
            "low: 0.3, high: 0.3",
            "parameters.a.high must be above the low of 0.3, got 0.3",
        ),
        ("last: 0.4", "last: 0.05", "search.last must be at least the first of 0.1, got 0.05"),
        ("engine: native", "engine: nativ", "engine must be 'pybullet', 'native' or 'mujoco', got 'nativ'"),
        ("compliant", "segments", "track model"),
        (
            "engine: native",
            "assumptions: {gap_sped: 1.0}",
            "assumptions.gap_sped is no assumption; did you mean gap_speed?",
        ),
        ("engine: native", "assumptions: {past: -1.0}", "study.yaml: past must be at least 0, got -1.0"),
        ("vehicle: packbot", "vehicle: packbot\nseed: 1", "seed is not a key that segtrack knows"),
        (
            "vehicle: packbot",
            "criterion: peak\nvehicle: packbot",
            "study.yaml:2: criterion must be left out beside a search, which has search.criterion",
        ),
        (
            "raised: size",
            "raised: speed",
            "study.yaml:5: event.speed must be left out where the search raises the speed",
        ),
        (
            "engine: native",
            "design: {method: grid, direction: smallest, count: 3}",
            "study.yaml:3: design.count must be left out: it is nothing of the method grid\n"
            "study.yaml:3: design.direction must be left out: it is nothing of the method grid",
        ),
        (
            "engine: native",
            "design: {method: sobol, batch: 3}",
            "study.yaml:3: design.batch must be left out: it is nothing of the method sobol",
        ),
        (
            "engine: native",
            "design: {method: sobol}",
            "study.yaml:8: parameters.a.count must be left out: the method sobol has design.count",
        ),
        ("vehicle: packbot", "vehicle: pakbot", "study.yaml:2: vehicle cannot be read: no vehicle 'pakbot'"),
        ("vehicle: packbot", "vehicle: a.yaml", "study.yaml:2: vehicle cannot be read: cannot read a.yaml"),
    ],
)
def test_mistakes_of_a_study_file_are_said_with_their_place(old, new, message, tmp_path):
    with pytest.raises(StudyFileError) as error:
        study_of(STUDY.replace(old, new), tmp_path)
    assert message in str(error.value) and str(error.value).startswith("study.yaml")


BRIEF = STUDY.replace("low: 0.1, high: 0.3, count: 3", "low: 0.4, high: 0.8").replace(
    "0.4, incr", "0.2, incr"
)
BRIEF += "assumptions: {stall_time: 1.0, past: 0.2, step_rest: 0.2}\n"


@pytest.mark.slow
def test_runs_of_a_study_are_equal_to_the_bit_again_on_all_cores_and_after_a_kill(tmp_path):
    """Of a process that is killed where it stands, the workers end, too, and its rows are those of others."""
    pytest.importorskip("pyarrow")
    psutil = pytest.importorskip("psutil")
    study = study_of(BRIEF, tmp_path)
    result = run_study(study, tmp_path / "one")
    whole = write_runs(tmp_path / "one.parquet", study.parameters, result.rows, result.head)
    call = [PROGRAM, "study", "study.yaml", "--out", "two", "--jobs", "2"]
    begun = subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.DEVNULL)
    journal = tmp_path / "two" / "runs.jsonl"
    while begun.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 3):
        time.sleep(0.02)
    workers = psutil.Process(begun.pid).children(recursive=True)
    begun.kill()
    assert begun.wait() != 0
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive
    subprocess.run([*call, "--resume"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "two" / "runs.parquet").read_bytes() == whole.read_bytes()
    rows = read_runs(whole, study.parameters, result.head)
    with pytest.raises(InvalidValueError, match="vehicle file, got other vehicle_sha256, columns"):
        read_runs(whole, ["a", "c"], {**result.head, "vehicle_sha256": ""})
    assert run_row(rows, study, 2, None) == rows[2]
    with pytest.raises(InvalidValueError, match="--row must be from 0 to"):
        run_row(rows, study, 99, None)
    film = ["--record", "rows.gif", "--frame-size", "96x64", "--frame-rate", "5"]
    done = run(
        "study", "study.yaml", "--out", "two", "--row", "2", "--beside", "0", *film, "--json", folder=tmp_path
    )
    assert done.exit_code == 0, done.stderr
    seen = json.loads(done.stdout)
    assert [seen["row 2"][name] for name in ("a", "b", "tried")] == [rows[2][n] for n in ("a", "b", "tried")]
    assert seen["row 2"]["outcome"] == rows[2]["outcome"] and seen["row 0"]["outcome"] == rows[0]["outcome"]
    assert seen["row 0"]["time"] <= seen["row 2"]["time"]
    assert (tmp_path / "two" / "rows-2-0.png").exists() and (tmp_path / "rows.gif").exists()
