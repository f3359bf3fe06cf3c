"""Exercises in their order, who has passed them, and the results of a class."""

import csv
import io
import re
from pathlib import Path

import pytest
from tables import each_row
from test_records import result

import segtrack
from segtrack.courses import (
    Attempt,
    Records,
    Syllabus,
    Trial,
    class_csv,
    class_html,
    class_rows,
    load_syllabus,
)
from segtrack.errors import SyllabusFileError

ONE = {
    "name": "one",
    "title": "One",
    "course": "first-drive",
    "vehicle": "quince",
    "complete": 2,
    "failures": 1,
}
TWO = ONE | {"name": "two", "title": "Two", "rate": 3.0}
SYLLABUS = Syllabus(title="Day", exercises=(ONE, TWO))


def tried(exercise, outcome="passed", seconds=10.0, **changes):
    attempts = tuple(Attempt(begun=i * seconds, duration=seconds) for i in range(2))
    conditions = {"exercise": exercise} if exercise else {}
    changes = {"conditions": conditions, "attempts": attempts, "elapsed": 2 * seconds} | changes
    return result(outcome=outcome, **changes)


BUNDLED = [path.stem for path in (Path(segtrack.__file__).parent / "courses" / "syllabi").glob("*.yaml")]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_exercises_stand_on_courses_and_vehicles_that_there_are(name):
    syllabus = load_syllabus(name)
    assert syllabus.exercises[0].lesson
    assert [row.is_open for row in syllabus.progress([])] == [True] + [False] * (len(syllabus.exercises) - 1)


def test_an_exercise_opens_when_all_before_it_are_passed():
    none, one, both = [], [tried("one")], [tried("one"), tried("two")]
    for results, opened, passed in (
        (none, [True, False], [False, False]),
        ([tried("one", "failed"), tried(None), tried("two")], [True, False], [False, True]),
        (one, [True, True], [True, False]),
        (both, [True, True], [True, True]),
    ):
        rows = SYLLABUS.progress(results)
        assert [row.is_open for row in rows] == opened
        assert [row.passed is not None for row in rows] == passed


def test_an_exercise_with_a_rate_is_passed_by_a_fast_trial_alone():
    slow, fast = tried("two", seconds=21.0), tried("two", seconds=19.0)  # 2.86 and 3.16 a minute.
    assert [SYLLABUS.exercises[1].is_passed_by(each) for each in (slow, fast)] == [False, True]
    row = SYLLABUS.progress([slow, fast])[1]
    assert (row.tries, row.passed, row.best) == (2, fast, pytest.approx(60 / 19))
    faster = tried("two", seconds=15.0)  # It was passed before.
    row = SYLLABUS.progress([slow, fast, faster])[1]
    assert (row.tries, row.passed, row.best) == (3, fast, pytest.approx(4.0))


@pytest.mark.parametrize(
    ("faults", "state"),
    [
        ("", "running"),
        ("c", "running"),
        ("cc", "passed"),
        ("fc", "running"),
        ("fcc", "passed"),
        ("ff", "failed"),
    ],
)
def test_a_trial_of_an_exercise_ends_with_what_is_to_be_completed_or_one_failure_too_many(faults, state):
    from segtrack.courses import load_course

    exercise = SYLLABUS.exercises[0]
    trial = Trial(load_course("first-drive"), "Ada", "quince", exercise.repetitions, exercise.settings)
    for each in faults:
        trial._end_attempt(None if each == "c" else "fell")
        if trial.state == "paused":
            trial.restart()
    assert trial.state == state


@each_row(
    "text, problem",
    [
        ("title: Day\nexercises: []\n", "exercises must"),
        ("title: Day\nexercises: [{name: a b}]\n", "exercises[0].name"),
        (
            "title: D\nexercises:\n- {name: a, title: A, course: gap, vehicle: quince, complete: 1}\n",
            "no course 'gap'",
        ),
        (
            "title: D\nexercises:\n"
            "- {name: a, title: A, course: okada-step, setting: 0.3, vehicle: quince, complete: 1}\n",
            "setting must be one of [0.12, 0.16, 0.2, 0.24, 0.28], got 0.3",
        ),
        (
            "title: D\nexercises:\n"
            "- &a {name: a, title: A, course: first-drive, vehicle: quince, complete: 1}\n- *a\n",
            "exercises[1].name is given twice, got 'a'",
        ),
        ("title: D\nexercises:\n- {name: a, title: A, complete: 0}\n", "complete must be at least 1"),
        ("title: D\nexercises:\n- {name: a, title: A, light: day}\n", "light must be 'dark', got 'day'"),
        ("title: D\nexercises:\n- {name: a, title: A, visibility: 0}\n", "visibility must be at least 0.1"),
    ],
)
def test_mistakes_in_a_file_of_exercises_are_told_with_their_places(tmp_path, text, problem):
    (tmp_path / "day.yaml").write_text(text)
    with pytest.raises(SyllabusFileError) as error:
        load_syllabus(tmp_path / "day.yaml")
    assert problem in str(error.value)
    assert str(error.value).startswith("day.yaml:")


@pytest.fixture
def rows(tmp_path):
    records = Records(tmp_path)
    for operator, name in (("Ada", "one"), ("Ada", "two"), ("Åsa Łuk", "one"), ("山田", None)):
        records.add(tried(name, operator=operator))
    return class_rows(records, SYLLABUS)


def test_the_table_of_a_class_has_a_line_for_each_operator_and_exercise(rows):
    table = list(csv.DictReader(io.StringIO(class_csv(rows))))
    assert [(line["operator"], line["exercise"], line["passed"]) for line in table] == [
        ("Ada", "one", "yes"),
        ("Ada", "two", "yes"),
        ("Åsa Łuk", "one", "yes"),
        ("Åsa Łuk", "two", "no"),
        ("山田", "one", "no"),
        ("山田", "two", "no"),
    ]
    assert [line["best_rate"] for line in table][:2] == ["6.0000", "6.0000"]
    assert table[1]["least_rate"] == "3.0"


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@A1"])
def test_no_cell_of_a_table_is_a_formula(tmp_path, title):
    records = Records(tmp_path)
    records.add(tried(None))
    syllabus = Syllabus(title="Day", exercises=(ONE | {"title": title},))
    (line,) = csv.DictReader(io.StringIO(class_csv(class_rows(records, syllabus))))
    assert line["title"] == f"'{title}"


def test_the_page_of_a_class_says_who_drives_waits_and_has_passed(rows):
    pytest.importorskip("jinja2", reason="of an extra")
    people = [
        {"name": "<b>", "role": "driver", "place": None},
        {"name": "Åsa", "role": "onlooker", "place": 1},
    ]
    live = {"people": people, "driver": "<b>", "trial": None, "report": "/report", "table": "/class"}
    page = class_html(rows, SYLLABUS, "2026-01-02 10:00", live)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.split("</style>")[1]))
    assert "&lt;b&gt; drives." in text
    assert "Åsa onlooker 1" in text
    assert "Ada passed 2026-01-02, 6.00 passed 2026-01-02, 6.00 2 of 2 2" in text
    assert "山田 – closed 0 of 2 1" in text.replace("&ndash;", "–")
    assert 'href="/report/%E5%B1%B1%E7%94%B0?language=en"' in page
