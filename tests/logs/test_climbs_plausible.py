"""Tables of trials with wrong units, swapped columns, missing cells and outcomes that cannot be."""

import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from segtrack.errors import ClimbsFileError
from segtrack.logs.compare import climbs, load_climbs, plan_climbs, run_climbs
from segtrack.logs.compare.climb_table import UNITS, column_of, fitting_unit, meant_outcome

HEIGHTS = (0.04, 0.12, 0.19, 0.24, 0.38)
TRIALS = [
    {"height": h, "front_flippers_deg": 45, "speed": 0.1, "friction": 0.6, "outcome": o}
    for h, o in zip(HEIGHTS, ("climbed",) * 4 + ("failed",), strict=True)
]
"""Quince's trials, which nothing is to be said about."""


QUINCE = Path(__file__).parents[2] / "urdf" / "quince" / "quince.yaml"


def spoilt(change):
    """The trials, each with a change that depends on its index."""
    return [trial | change(i, trial) for i, trial in enumerate(TRIALS)]


def written(tmp_path, trials, names=None, kind="csv"):
    path = tmp_path / f"t.{kind}"
    keys = list(trials[0])
    if kind == "csv":
        rows = [",".join(f"{trial[key]}" for key in keys) for trial in trials]
        path.write_text("\n".join([",".join((names or {}).get(key, key) for key in keys), *rows]) + "\n")
    else:
        rows = ["{" + ", ".join(f"{key}: {trial[key]}" for key in keys) + "}" for trial in trials]
        path.write_text("trials:\n" + "".join(f"  - {row}\n" for row in rows))
    return path


def refusal(path, vehicle="quince"):
    with pytest.raises(ClimbsFileError) as error:
        plan_climbs(load_climbs(path), vehicle)
    return str(error.value)


def notes(path, vehicle="quince"):
    return plan_climbs(load_climbs(path), vehicle).notes


def times(column, factor):
    return lambda i, trial: {column: round(trial[column] * factor, 4)}


def swap(one, other):
    return lambda i, trial: {one: trial[other], other: trial[one]}


def test_nothing_is_said_about_tables_that_are_right(tmp_path):
    assert notes(written(tmp_path, TRIALS)) == ()
    assert notes("okada", None) == ()


UNIT = "`{0}` would fit, {1} (`{2} [{0}]` in the header of a CSV file)"


@pytest.mark.parametrize(
    ("column", "factor", "message"),
    [
        ("height", 100, "t.csv:1: height must be at most 5, got 4 to 38: "
         + UNIT.format("cm", "0.04 to 0.38 m", "height")),
        ("height", 1000, "t.csv:1: height must be at most 5, got 40 to 380: "
         + UNIT.format("mm", "0.04 to 0.38 m", "height")),
        ("height", 1 / 0.0254, "t.csv:1: height must be at most 5, got 1.5748 to 14.9606: "
         + UNIT.format("in", "0.04 to 0.38 m", "height")),
        ("speed", 100, "trials: speed must be at most 0.5 m/s, which the drives of quince "
         "reach, got 10: " + UNIT.format("cm/s", "0.1 m/s", "speed")),
        ("friction", 100, "t.csv:1: friction must be at most 3, got 60: "
         + UNIT.format("%", "0.6", "friction")),
        ("front_flippers_deg", math.pi / 180, "trials: front_flippers_deg must be in degrees, "
         "got at most 0.7854: `rad` would fit, 45 deg (`front_flippers [rad]` in the header of a CSV file)"),
    ],
)  # fmt: skip
def test_wrong_units_are_found_and_the_right_one_is_proposed(tmp_path, column, factor, message):
    assert refusal(written(tmp_path, spoilt(times(column, factor)))) == message


@pytest.mark.parametrize(
    ("column", "factor", "name"),
    [
        ("height", 100, "height [cm]"),
        ("height", 1000, "height [mm]"),
        ("height", 1 / 0.0254, "height [in]"),
        ("speed", 100, "speed [cm/s]"),
        ("friction", 100, "friction [%]"),
        ("front_flippers_deg", math.pi / 180, "front_flippers [rad]"),
    ],
)
def test_a_header_with_the_unit_that_is_proposed_makes_the_table_right(tmp_path, column, factor, name):
    path = written(tmp_path, spoilt(times(column, factor)), {column: name})
    assert notes(path) == ()
    found = [getattr(trial, column) for trial in load_climbs(path).trials]
    assert found == pytest.approx([trial[column] for trial in TRIALS], rel=1e-3)


def test_units_of_a_header_are_known(tmp_path):
    path = written(tmp_path, TRIALS, {"height": "height [furlong]"})
    assert refusal(path) == ("t.csv:1: the header has 'height [furlong]'; units of height are: m, cm, mm, in")


def test_heights_that_metres_would_allow_are_beyond_the_vehicle(tmp_path):
    """Inches of a low step: 0.8 to 4.7, beside a robot of 0.69 m."""
    low = spoilt(lambda i, trial: {"height": round((0.02 + 0.025 * i) / 0.0254, 2), "front_flippers_deg": ""})
    assert refusal(written(tmp_path, low), "packbot") == (
        "trials: height must be in metres and below 0.69 m, the length of packbot, got 0.79 to 4.72: "
        + UNIT.format("in", "0.0201 to 0.12 m", "height")
    )


def test_a_lost_decimal_is_found_in_its_trial(tmp_path):
    path = written(tmp_path, spoilt(lambda i, trial: {"height": 1.9} if i == 2 else {}))
    assert refusal(path) == (
        "trials: height must be in metres and below 1.1 m, the length of quince, got 1.9 in trial 3: "
        "0.19 would fit"
    )


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ("height", "front_flippers_deg", "height has 45 and front_flippers_deg has 0.04 to 0.38"),
        ("height", "outcome", "height has 'climbed', 'failed' and outcome has 0.04 to 0.38"),
        ("speed", "front_flippers_deg", "front_flippers_deg has 0.1 and speed has 45"),
    ],
)
def test_columns_that_are_swapped_are_found(tmp_path, one, other, message):
    assert refusal(written(tmp_path, spoilt(swap(one, other)))) == f"t.csv:1: {message}: are they swapped?"


@pytest.mark.parametrize("other", ["speed", "friction"])
def test_columns_that_may_be_swapped_are_remarked_on(tmp_path, other):
    path = written(tmp_path, spoilt(lambda i, trial: swap("height", other)(i, trial) | {"outcome": "failed"}))
    assert notes(path) == (
        f"height is {TRIALS[0][other]:g} m in all trials while {other} varies: are they swapped?",
    )


BAD = "outcome must be 'climbed' or 'failed'"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("climbed", "climed", "climbed", "climbed", "faild"),
            f"t.csv:3: {BAD}, got 'climed': did you mean climbed?\n"
            f"t.csv:6: {BAD}, got 'faild': did you mean failed?",
        ),
        (("yes", "yes", "yes", "yes", "no"), f"t.csv:1: {BAD}: write climbed for 'yes', failed for 'no'"),
        (("1", "1", "1", "1", "0"), f"t.csv:1: {BAD}: write climbed for '1', failed for '0'"),
        (
            ("Climbed", "Climbed", "Climbed", "Climbed", "Failed"),
            f"t.csv:1: {BAD}: write climbed for 'Climbed', failed for 'Failed'",
        ),
    ],
    ids=["letters", "words", "numbers", "capitals"],
)
def test_misspelt_outcomes_are_told_the_right_ones(tmp_path, words, message):
    assert refusal(written(tmp_path, spoilt(lambda i, trial: {"outcome": words[i]}))) == message


def test_negative_numbers_are_refused(tmp_path):
    path = written(tmp_path, spoilt(lambda i, trial: {"speed": -0.1 if i == 1 else 0.1}))
    assert refusal(path) == "t.csv:3: speed must be greater than 0, got -0.1"
    path = written(
        tmp_path, spoilt(lambda i, trial: {"height": -trial["height"] if i == 1 else trial["height"]})
    )
    assert refusal(path) == "t.csv:3: height must be greater than 0, got -0.12"


def test_outcomes_the_wrong_way_round_are_refused(tmp_path):
    turned = spoilt(lambda i, trial: {"outcome": "failed" if i < 3 else "climbed"})
    assert refusal(written(tmp_path, turned)) == (
        "trials: outcome must fall with height, got climbed from 0.24 m and failed up to 0.19 m "
        "(quince, front flippers 45 deg, 0.1 m/s, friction 0.6): are climbed and failed swapped?"
    )


def test_missing_cells_are_named_or_remarked_on(tmp_path):
    path = written(tmp_path, spoilt(lambda i, trial: {"height": ""} if i == 1 else {}))
    assert refusal(path) == "t.csv:3: height is missing"
    path = written(
        tmp_path, spoilt(lambda i, trial: {"friction": "", "front_flippers_deg": ""} if i in (1, 3) else {})
    )
    assert notes(path) == (
        "front_flippers_deg is empty in trials 2, 4, which are driven with 45",
        "friction is empty in trials 2, 4, which are driven with the vehicle file's",
    )


def test_repeats_that_contradict_each_other_are_remarked_on(tmp_path):
    path = written(tmp_path, [*TRIALS, TRIALS[3] | {"outcome": "failed"}])
    words = "quince, front flippers 45 deg, 0.1 m/s, friction 0.6"
    assert notes(path) == (
        f"a step of 0.24 m is 1 times climbed and 1 times failed ({words}): near the limit, or a mistake",
    )


def test_angles_beyond_a_vehicles_limits_and_fine_ones_are_remarked_on(tmp_path):
    path = written(tmp_path, spoilt(lambda i, trial: {"front_flippers_deg": 0.6}))
    assert notes(path) == ("front_flippers_deg is at most 0.6 deg: is it in radians?",)


def test_steps_that_are_too_low_to_be_any_are_remarked_on(tmp_path):
    assert len(notes(written(tmp_path, spoilt(times("height", 0.01))))) == 1


def test_a_table_in_yaml_is_told_the_same(tmp_path):
    path = written(tmp_path, spoilt(times("height", 100)), kind="yaml")
    unit = UNIT.format("cm", "0.04 to 0.38 m", "height")
    assert refusal(path) == f"t.yaml: height of the trials must be at most 5, got 4 to 38: {unit}"


def test_a_table_without_a_height_that_fits_proposes_none(tmp_path):
    path = written(tmp_path, [TRIALS[0] | {"height": 1.2, "outcome": o} for o in ("climbed", "failed")])
    assert refusal(path) == (
        "trials: height must be in metres and below 1.1 m, the length of quince, got 1.2 in trial 1"
    )


def test_cells_that_are_lists_are_refused(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("trials: [{height: [0.1], speed: 0.1, outcome: climbed}]\n")
    assert refusal(path) == "t.yaml:1: trials[0].height must be a number, got [0.1]"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("csv", "t.csv:4: friction must be at most 3, got 40.0"),
        ("yaml", "t.yaml:4: trials[2].friction must be at most 3, got 40"),
    ],
)
def test_each_friction_is_bounded(tmp_path, kind, message):
    trials = spoilt(lambda i, trial: {"friction": 40 if i == 2 else 3})
    assert refusal(written(tmp_path, trials, kind=kind)) == message


def test_a_speed_that_the_table_does_not_say_is_no_mistake_of_it(tmp_path):
    """The default of 0.1 m/s is beyond slow drives; `segtrack climb` drives them as fast as they go."""
    slow = tmp_path / "slow.yaml"
    slow.write_text(QUINCE.read_text().replace("max_speed: 0.5", "max_speed: 0.05"))
    trials = [{key: trial[key] for key in ("height", "outcome")} for trial in TRIALS]
    assert notes(written(tmp_path, trials), str(slow)) == ()
    told = spoilt(lambda i, trial: {"speed": 0.1})
    assert "must be at most 0.05 m/s" in refusal(written(tmp_path, told), str(slow))


def test_notes_stay_in_every_result(tmp_path, monkeypatch):
    monkeypatch.setattr(
        climbs, "outcome_of", lambda condition, height, variant: "climbed" if height < 0.3 else "stuck"
    )
    path = written(tmp_path, [*TRIALS, TRIALS[3] | {"outcome": "failed"}])
    plan = plan_climbs(load_climbs(path), "quince")
    assert run_climbs(plan, workers=1).summary()["notes"] == list(plan.notes)
    monkeypatch.setenv("COLUMNS", "200")
    from segtrack.cli.app import app

    arguments = ["log", "climbs", str(path), "--vehicle", "quince", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "Note: a step of 0.24 m is 1 times climbed and 1 times failed" in result.stdout


def test_a_table_that_cannot_be_is_refused_by_the_command_before_it_simulates(tmp_path, monkeypatch):
    monkeypatch.setattr(climbs, "outcome_of", lambda *_: pytest.fail("it is simulated"))
    from segtrack.cli.app import app

    path = written(tmp_path, spoilt(times("height", 100)))
    result = CliRunner().invoke(
        app, ["log", "climbs", str(path), "--vehicle", "quince", "--out", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "`cm` would fit, 0.04 to 0.38 m" in result.stderr


@pytest.mark.parametrize("column", UNITS)
def test_a_unit_is_found_from_whatever_a_column_is_written_in(column):
    """Typical values, written in each unit, come back by the one that fits."""
    typical, most = {"height": (0.2, 1.0), "speed": (0.2, 1.0)}.get(column, (0.6, 3.0))
    for unit, factor in list(UNITS[column].items())[1:]:
        if typical / factor > most:
            found = fitting_unit(column, [typical / factor], most, typical)
            assert found.startswith(f"`{unit}` would fit")
        head = f"{column} [{unit}]"
        assert column_of(head)[1] == factor


@pytest.mark.parametrize(("word", "meant"), [("CLIMBED", "climbed"), ("fialed", "failed"), ("red", None)])
def test_words_mean_an_outcome_by_sense_or_letters(word, meant):
    assert meant_outcome(word) == meant
