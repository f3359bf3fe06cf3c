"""Tables of trials, their limits and confusion, against closed forms and a simulation that is one."""

import math

import numpy as np
import pytest
from tables import each_row
from typer.testing import CliRunner

from segtrack.errors import ClimbsFileError, SegtrackError
from segtrack.logs.compare import (
    ClimbsInterrupted,
    ClimbTable,
    Confusion,
    Limit,
    Rate,
    climbs,
    load_climbs,
    plan_climbs,
    robot_limit,
    run_climbs,
    simulated_limit,
)
from segtrack.reproduce.okada_cases import TABLE_4, TABLE_4_FRICTION, TABLE_4_SPEED

CSV = """\
# Two steps, one of them twice.
height,front_flippers_deg,rear_flippers_deg,speed,friction,outcome
0.10,0,5,0.1,0.6,climbed
0.20,0,5,0.1,0.6,climbed
0.20,0,5,0.1,0.6,failed
0.30,0,5,0.1,0.6,failed
"""


def limit_of(condition, variant):
    """Of a made-up robot [m]."""
    limit = 0.22 if not condition.front_flippers_deg else 0.35
    slopes = {"friction": 0.5, "com_x": 1.0}
    return limit + slopes.get(variant.input, 0.0) * variant.by


@pytest.fixture
def made_up(monkeypatch):
    """Climbs that are decided by `limit_of`; yields those that were driven."""
    driven = []

    def outcome(condition, height, variant):
        driven.append((condition, height, variant))
        by = variant.by if variant.input == "height" else 0.0
        return "climbed" if height + by <= limit_of(condition, variant) else "stuck"

    monkeypatch.setattr(climbs, "outcome_of", outcome)
    return driven


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "trials.csv"
    path.write_text(CSV)
    return load_climbs(path)


def test_the_bundled_example_is_the_published_table():
    table = load_climbs("okada")
    assert [
        (t.front_flippers_deg, t.height, t.outcome == "climbed", t.simulation == "climbed")
        for t in table.trials
    ] == [(line.front_sub_track_deg, line.step, line.real, line.simulation) for line in TABLE_4]
    assert {(t.speed, t.friction) for t in table.trials} == {(TABLE_4_SPEED, TABLE_4_FRICTION)}


def test_a_table_says_the_same_as_csv_and_as_yaml(table, tmp_path):
    path = tmp_path / "trials.yaml"
    rows = [trial.model_dump(exclude_none=True) for trial in table.trials]
    path.write_text("trials:\n" + "".join(f"  - {row}\n".replace("'", "") for row in rows))
    assert load_climbs(path) == table
    assert [trial.outcome for trial in table.trials] == ["climbed", "climbed", "failed", "failed"]


def test_cells_may_be_empty_and_be_divided_by_semicolons(tmp_path):
    path = tmp_path / "trials.csv"
    path.write_text("height;outcome;friction\n0.1;climbed;\n")
    (trial,) = load_climbs(path).trials
    assert (trial.friction, trial.speed) == (None, 0.1)


BAD_CSV = """\
heigth,outcome,friction,colour
0.1,climbed,0.6,red
240,climbed,"0,6",red
0.2,fell,-1,red
0.2,climbed
"""


@each_row(
    "name, text, message",
    [
        (
            "t.csv",
            BAD_CSV,
            "t.csv:1: the header has a column 'heigth' that segtrack does not know; did you mean height?\n"
            "t.csv:1: the header has a column 'colour' that segtrack does not know; there are: height, "
            "front_flippers_deg, rear_flippers_deg, speed, friction, outcome, simulation, vehicle\n"
            "t.csv:3: friction must be a number, got '0,6': write the decimals after a point, 0.6\n"
            "t.csv:4: friction must be at least 0, got -1.0\n"
            "t.csv:4: outcome must be 'climbed' or 'failed', got 'fell'\n"
            "t.csv:5: the row has 2 cells where the header has 4",
        ),
        (
            "t.csv",
            "height,outcome,height\n240,climbed,1\n",
            "t.csv:1: the header has a column 'height' twice",
        ),
        (
            "t.csv",
            "height,outcome\n240,climbed\n,failed\n",
            "t.csv:2: height must be in metres, got 240, which in millimetres would be 0.24 m\n"
            "t.csv:3: height is missing",
        ),
        ("t.csv", "speed\n0.1\n", "t.csv:1: the header must have a column height\n"
         "t.csv:1: the header must have a column outcome"),
        ("t.csv", "# nothing\n", "t.csv: has no header"),
        ("t.yaml", "trials: []\n", "t.yaml:1: trials must be at least 1 long, got []"),
        ("t.csv", "height,outcome\n", "t.csv: has no trials"),
        (
            "t.yaml",
            "uncertain: {frictoin: 0.1, height: 0}\n"
            "trials:\n  - {height: 0.1, outcome: climbed, front_flippers_deg: 400}\n",
            "t.yaml:1: uncertain.frictoin is no uncertain input; did you mean friction?\n"
            "t.yaml:1: uncertain.height must be greater than 0, got 0\n"
            "t.yaml:3: trials[0].front_flippers_deg must be from -180 to 180 degrees, got 400",
        ),
    ],
)  # fmt: skip
def test_all_mistakes_of_a_table_are_told_at_once(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ClimbsFileError) as error:
        load_climbs(path)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("okda", "no table of climbs 'okda'; there are: okada"),
        ("trials.xlsx", "no kind of table '.xlsx'; there are: .yaml, .yml, .csv, .tsv"),
        ("none.csv", "cannot read none.csv: No such file or directory"),
    ],
)
def test_a_table_that_there_is_not_is_refused(name, message):
    with pytest.raises(SegtrackError) as error:
        load_climbs(name)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("trial", "vehicle", "uncertain", "message"),
    [
        ({}, None, {}, "vehicle of the trials must be given by --vehicle or the table, got none"),
        ({"front_flippers_deg": 45}, "packbot", {}, "no front flipper of 'packbot'; there are: none"),
        ({}, "packbto", {}, "no vehicle 'packbto'; there are: "),
        ({"height": 0.01}, "packbot", {"height": 0.01},
         "height [m] must be greater than 0, got -0.01 with height lower"),
        ({"friction": 0.1}, "packbot", {"friction": 0.1}, "friction must be at least 0, got -0.1"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused_before_the_work_begins(trial, vehicle, uncertain, message):
    table = ClimbTable.model_validate({"trials": [{"height": 0.1, "outcome": "climbed", **trial}]})
    with pytest.raises(SegtrackError) as error:
        plan_climbs(table, vehicle, uncertain)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("climbed", "failed", "expected"),
    [
        ([0.1, 0.2], [0.3, 0.4], Limit(0.25, 0.2, 0.3, "bracket")),
        ([0.1, 0.2], [], Limit(None, 0.2, None, "bracket")),
        ([], [0.3, 0.4], Limit(None, 0.0, 0.3, "bracket")),
    ],
)
def test_the_limit_of_a_robot_is_between_its_last_success_and_its_first_failure(climbed, failed, expected):
    outcomes = [True] * len(climbed) + [False] * len(failed)
    found = robot_limit(climbed + failed, outcomes)
    assert (found.low, found.high, found.method) == (expected.low, expected.high, expected.method)
    assert found.height == (None if expected.height is None else pytest.approx(expected.height))
    wider = robot_limit(climbed + failed, outcomes, spread=0.01)
    assert wider.high == (None if expected.high is None else pytest.approx(expected.high + 0.01))


def test_outcomes_that_overlap_have_the_limit_of_their_symmetry():
    heights = [0.16, 0.18, 0.20, 0.22, 0.24, 0.16, 0.18, 0.20, 0.22, 0.24]
    climbed = [True, True, True, False, False, True, False, False, True, False]
    found = robot_limit(3 * heights, 3 * climbed)
    assert found.method == "logistic"
    assert found.height == pytest.approx(0.20, abs=1e-4)
    assert found.high - found.height == pytest.approx(found.height - found.low, abs=1e-3)


@pytest.mark.slow
def test_the_interval_of_a_limit_holds_the_true_one_as_often_as_it_says():
    draw, heights, hits, tried = np.random.default_rng(4), np.repeat(np.linspace(0.1, 0.3, 8), 4), 0, 0
    for _ in range(60):
        climbed = draw.random(len(heights)) < 1 / (1 + np.exp((heights - 0.2) / 0.02))
        found = robot_limit(heights, climbed)
        if found.method == "logistic":
            tried += 1
            hits += found.low <= 0.2 <= (found.high or math.inf)
    assert tried > 50
    assert hits >= 0.9 * tried


@pytest.mark.parametrize("start", [0.0, 0.05, 0.21, 0.3])
@pytest.mark.parametrize("true", [0.013, 0.2, 0.37])
def test_the_limit_of_a_simulation_is_found_from_wherever_the_search_begins(true, start):
    found = simulated_limit(lambda height: height <= true, 0.4, start)
    assert found.low <= true <= found.high
    assert found.high - found.low <= 0.4 / 200


def test_a_simulation_that_climbs_everything_has_no_limit():
    assert simulated_limit(lambda height: True, 0.4) == Limit(None, pytest.approx(0.75), None, "bisection")


@pytest.mark.parametrize(("hits", "trials"), [(4, 4), (1, 3), (0, 5)])
def test_intervals_of_rates_are_wilsons(hits, trials):
    z, p = 1.959964, hits / trials
    middle = (p + z**2 / 2 / trials) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * math.sqrt(p * (1 - p) / trials + z**2 / 4 / trials**2)
    expected = max(middle - half, 0.0), min(middle + half, 1.0)
    assert Rate.of(hits, trials).interval == pytest.approx(expected, abs=1e-6)


def test_what_is_undecided_counts_neither_as_right_nor_as_wrong():
    pairs = [("climbed", "climbed")] * 3 + [("failed", "climbed"), ("failed", "undecided")]
    confusion = Confusion.of(pairs)
    assert (confusion.agreement.hits, confusion.agreement.trials, confusion.undecided) == (3, 4, 1)
    assert confusion.climbed.value == 1.0
    assert confusion.failed.value == 0.0
    assert Rate.of(0, 0).interval is None


def test_trials_that_an_input_flips_are_undecided(table, made_up):
    """The limit is 0.22 m; friction moves it by 0.5 m a unit, and 2 standard deviations are taken."""
    for friction, flips in ((0.019, ()), (0.021, ("friction lower",))):
        result = run_climbs(plan_climbs(table, "quince", {"friction": friction}), workers=1)
        assert [trial.flips for trial in result.trials] == [(), flips, flips, ()]
        assert [trial.simulated for trial in result.trials] == ["climbed", "climbed", "climbed", "failed"]
        counts = result.confusion.counts
        assert counts["failed", "climbed"] == (0 if flips else 1)
        assert result.confusion.undecided == 2 * len(flips)


def test_limits_have_what_is_uncertain_in_their_interval(table, made_up):
    plan = plan_climbs(table, "quince", {"friction": 0.02, "com_x": 0.01, "height": 0.005})
    (limit,) = run_climbs(plan, workers=1).limits
    grain = 0.3 / 200
    assert limit.nominal.height == pytest.approx(0.22, abs=grain)
    assert limit.by == {
        "half the time step": pytest.approx(0.0, abs=grain),
        "friction": pytest.approx(0.02, abs=grain),
        "com_x": pytest.approx(0.02, abs=grain),
    }
    assert limit.simulated.high == pytest.approx(0.22 + 0.02 * math.sqrt(2), abs=2 * grain)
    assert limit.robot.method == "logistic"
    assert limit.agrees


def test_an_input_whose_limit_is_open_leaves_the_interval_open(table, made_up):
    """With 2 x 0.25 m more of com_x every step is climbed; with as much less hardly one."""
    (limit,) = run_climbs(plan_climbs(table, "quince", {"com_x": 0.25, "friction": 0.02}), workers=1).limits
    assert limit.by["com_x"] is None
    assert limit.simulated.high is None
    assert limit.simulated.low == pytest.approx(0.0, abs=0.01)
    assert limit.agrees
    (limit,) = run_climbs(plan_climbs(table, "quince", {"com_x": 0.1}), workers=1).limits
    assert limit.simulated.high == pytest.approx(0.42, abs=0.005)


def test_repeats_are_simulated_once(table, made_up):
    plan = plan_climbs(table, "quince")
    run_climbs(plan, workers=1)
    assert len(plan.climbs) == 3 * 2  # Heights, and half the time step.


def test_a_step_may_be_uncertain_itself(table, made_up):
    result = run_climbs(plan_climbs(table, "quince", {"height": 0.011}), workers=1)
    assert [trial.flips for trial in result.trials] == [(), ("height higher",), ("height higher",), ()]


def test_what_is_done_is_kept_when_it_is_interrupted(table, made_up, monkeypatch):
    plan, decided = plan_climbs(table, "quince"), climbs.outcome_of

    def outcome(condition, height, variant):
        if height == 0.3 and variant.name:
            raise KeyboardInterrupt
        return decided(condition, height, variant)

    monkeypatch.setattr(climbs, "outcome_of", outcome)
    with pytest.raises(ClimbsInterrupted) as error:
        run_climbs(plan, workers=1)
    result = error.value.result
    assert [trial.trial.height for trial in result.trials] == [0.1, 0.2, 0.2]
    assert (result.limits, result.finished) == ((), False)


def invoke(*arguments):
    from segtrack.cli.app import app

    return CliRunner().invoke(app, ["log", "climbs", *map(str, arguments)])


def test_the_command_prints_one_object_and_draws_a_picture(tmp_path, made_up):
    import json

    path = tmp_path / "trials.csv"
    path.write_text(CSV)
    result = invoke(
        path,
        "--vehicle",
        "quince",
        "--jobs",
        "1",
        "--uncertain",
        "friction=0.03",
        "--out",
        tmp_path,
        "--json",
    )
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["confusion"]["undecided"] == 2
    assert summary["trials"][1]["flips"] == ["friction lower"]
    assert json.loads((tmp_path / "climbs.json").read_text()) == summary
    assert (tmp_path / "climbs.png").stat().st_size > 10_000


def test_the_command_prints_tables(tmp_path, made_up, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = invoke("--jobs", "1", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "Quince at six steps" in result.stdout
    assert "6 of 6: 61% to 100%" in result.stdout


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("friction", "segtrack: --uncertain must be like friction=0.05,com_x=0.01, got 'friction'"),
        ("friction=0", "segtrack: --uncertain friction must be greater than 0, got 0.0"),
        ("colour=1", "segtrack: no uncertain input 'colour'; there are: height, front_flippers_deg, "),
    ],
)
def test_the_command_refuses_standard_deviations_that_are_none(option, message):
    result = invoke("--uncertain", option)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)


def test_an_interrupted_command_writes_what_is_done(tmp_path, made_up, monkeypatch):
    def outcome(condition, height, variant):
        if height == 0.38:
            raise KeyboardInterrupt
        return "climbed"

    monkeypatch.setattr(climbs, "outcome_of", outcome)
    result = invoke("--jobs", "1", "--out", tmp_path)
    assert result.exit_code == 130
    assert "interrupted: 5 of 6 trials are done" in result.stderr
    assert (tmp_path / "climbs.json").exists()


@pytest.mark.slow
def test_simulated_quince_ends_as_the_robot_did_at_all_six_steps():
    result = run_climbs(plan_climbs(load_climbs("okada")))
    assert all(trial.agrees for trial in result.trials)
    assert all(limit.agrees for limit in result.limits)
