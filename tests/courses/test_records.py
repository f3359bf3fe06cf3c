"""Records of operators: files that survive, and reports that need nothing else."""

import csv
import io
import re
import sys
import unicodedata
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from tables import each_row

from segtrack.courses import (
    Attempt,
    Records,
    Result,
    ScoringSettings,
    TrialConditions,
    check_operator,
    report_csv,
    report_html,
)
from segtrack.errors import FileAccessError, InvalidValueError, MissingPackageError, UnknownNameError
from segtrack.language import Language

SETTINGS = ScoringSettings()


def result(operator="Ada", seconds=10.0, faults=(), **changes):
    """Ten completed repetitions, and one ended by each of the faults."""
    faulty = [Attempt(begun=i * seconds, duration=seconds, fault=fault) for i, fault in enumerate(faults)]
    begun = len(faulty) * seconds
    good = [Attempt(begun=begun + i * seconds, duration=seconds) for i in range(10)]
    return Result(
        operator=operator,
        vehicle="quince",
        course="step",
        title="Step",
        kind="obstacle",
        setting=0.2,
        setting_name="height",
        setting_unit="m",
        distance=5.0,
        repetitions=30,
        attempts=(*faulty, *good),
        elapsed=(10 + len(faulty)) * seconds,
        outcome="passed",
        begun="2026-01-02T10:00:00+00:00",
        id="0123456789ab",
    ).model_copy(update=changes)


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "records")


def test_results_are_read_as_they_were_added(records):
    added = [result(), result(faults=("fell",), conditions={"delay": "200 ms"}), result(setting=None)]
    for each in added:
        records.add(each)
    records.add(result(operator="Grace O'Hara-1"))
    assert records.read("Ada") == ("Ada", tuple(added), ())
    assert records.operators() == ("Ada", "Grace O'Hara-1")
    assert len((records.folder / "Ada.jsonl").read_text().splitlines()) == 3


def test_torn_last_line_is_said_and_the_rest_is_there(records):
    records.add(result())
    records.add(result(seconds=20.0))
    path = records.folder / "Ada.jsonl"
    torn = path.read_bytes()[:-40]
    path.write_bytes(torn)
    book = records.read("Ada")
    assert book.results == (result(),)
    (problem,) = book.problems
    assert problem.startswith("Ada.jsonl:2: Invalid JSON: EOF while parsing")
    records.add(result(seconds=30.0))
    assert records.read("Ada") == ("Ada", (result(), result(seconds=30.0)), (problem,))
    assert path.read_bytes().startswith(torn)


def test_a_trial_is_recovered_once_however_often_its_file_is_found(records):
    """As after a crash between adding it and removing its file."""
    trial = result(outcome="abandoned")
    records.note_unfinished(trial)
    assert records.recover() == ((trial,), ())
    records.note_unfinished(trial)
    assert records.recover() == ((), ())
    records.note_unfinished(trial)
    other = result(operator="Eve", id="ba9876543210")
    records.note_unfinished(other)
    assert records.recover() == ((other,), ())
    assert [records.read(name).results for name in ("Ada", "Eve")] == [(trial,), (other,)]


def test_empty_lines_are_no_results(records):
    records.add(result())
    path = records.folder / "Ada.jsonl"
    path.write_bytes(b"\n" + path.read_bytes() + b"\n")
    records.add(result(seconds=20.0))
    assert records.read("Ada") == ("Ada", (result(), result(seconds=20.0)), ())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xff\xfe", "Ada.jsonl:2: Invalid JSON: expected value at line 1 column 1"),
        (b"[]", "Ada.jsonl:2: Input should be an object"),
        (b'{"operator": "Ada"}', "Ada.jsonl:2: vehicle Field required"),
    ],
)
def test_line_that_is_no_result_is_said(records, line, problem):
    records.add(result())
    path = records.folder / "Ada.jsonl"
    path.write_bytes(path.read_bytes() + line + b"\n")
    records.add(result())
    assert records.read("Ada") == ("Ada", (result(), result()), (problem,))


@pytest.mark.parametrize("name", ["Ada", "  Ada ", "Jean-Luc P.", "Zoë 2", "王芳", "O'Neill"])
def test_people_s_names_are_operators(records, name):
    records.add(result(operator=name))
    (path,) = records.folder.iterdir()
    assert path.parent == records.folder
    assert path.suffix == ".jsonl"
    assert records.operators() == (check_operator(name),)


@each_row(
    "name",
    [
        "",
        " ",
        ".",
        "..",
        "../Ada",
        "a/b",
        "a\\b",
        "C:x",
        "-rf",
        ".hidden",
        "a\nb",
        "a\0",
        "=1+1",
        "x" * 41,
        "王" * 30,
    ],
)
def test_names_that_could_be_paths_are_refused(records, name):
    expected = (
        "up to 40 letters, digits, spaces, dots, dashes and apostrophes, beginning with a letter or digit"
    )
    with pytest.raises(InvalidValueError) as error:
        records.add(result(operator=name))
    assert str(error.value) == f"operator must be {expected}, got {name!r}"
    assert not records.folder.exists()


@pytest.mark.parametrize(
    "name", ["\u0905\u092e\u093f\u0924\u093e", "\u0e19\u0e49\u0e33\u0e1d\u0e19", "Zoe\u0308"]
)
def test_letters_of_a_name_may_have_combining_marks(records, name):
    records.add(result(operator=name))
    (kept,) = records.operators()
    assert records.read(name).operator == kept == unicodedata.normalize("NFC", name)


def test_a_record_is_found_by_its_name_in_any_form_and_keeps_its_own(records):
    """A folder may hold names that nobody normalised."""
    stored, composed = "\ufa19\u7530", "\u795e\u7530"
    event = TrialConditions("step", 0.2, "quince")
    records.folder.mkdir()
    path = records.folder / f"{quote(stored)}.jsonl"
    path.write_text(result(operator=stored).model_dump_json() + "\n")
    assert stored in records and composed in records
    assert records.read(stored) == records.read(composed) == (stored, (result(operator=stored),), ())
    records.add(result(operator=composed))
    records.name_expert(composed, event)
    assert records.expert_result(event) is not None
    assert (records.operators(), len(records.read(stored).results)) == ((stored,), 2)


def test_unknown_operator_is_told_who_there_is(records):
    records.add(result())
    with pytest.raises(UnknownNameError) as error:
        records.read("Bob")
    assert str(error.value) == "no operator 'Bob'; there are: Ada"


def test_folder_that_is_a_file_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileAccessError):
        Records(tmp_path / "file").add(result())


def test_expert_is_the_one_named_at_the_fastest_passed_trial(records):
    event = TrialConditions("step", 0.2, "quince")
    for seconds in (12.0, 8.0, 9.0):
        records.add(result("Eve", seconds))
    records.add(result("Eve", 1.0, outcome="failed"))
    for setting in (0.1, 0.3):
        records.add(result("Eve", 1.0, setting=setting))
    records.add(result("Max", 5.0))
    assert records.expert_result(event) is None
    records.name_expert("Eve", event)
    assert records.expert_result(event) == result("Eve", 8.0)
    records.name_expert("Max", event)
    assert records.expert_result(event) == result("Max", 5.0)
    with pytest.raises(InvalidValueError) as error:
        records.name_expert("Eve", TrialConditions("step", 0.4, "quince"))
    assert str(error.value) == "an expert must be one who passed step at 0.4 with quince, got 'Eve'"


@pytest.fixture
def told(records):
    records.add(result("Eve", 8.0))
    records.name_expert("Eve", TrialConditions("step", 0.2, "quince"))
    records.add(result(faults=("fell", "touched a wall"), pauses=2, conditions={"delay": "<b>200</b> ms"}))
    records.add(result(seconds=9.0))
    records.add(result(setting=None, setting_name=None, setting_unit=None, kind="terrain", attempts=()))
    return records


def test_csv_has_a_line_a_trial(told):
    rows = list(csv.DictReader(io.StringIO(report_csv(told, "Ada", SETTINGS))))
    assert len(rows) == 3
    first, second, third = rows
    assert (first["completed"], first["failed"], first["rate"]) == ("10", "2", "5.0000")
    assert first["faults"] == "1: fell; 2: touched a wall"
    assert (first["pauses"], second["pauses"]) == ("2", "0")
    assert first["repetition_times_s"] == " ".join(["10.00"] * 12)
    assert (second["fraction_of_expert"], second["reliability"]) == ("0.8889", f"{0.2**0.1:.4f}")
    assert (third["setting"], third["fraction_of_expert"], third["rate_unit"]) == ("", "", "m/min")


@pytest.mark.parametrize(
    ("uncommanded", "cell", "words"), [(None, "", 0), (0.04, "0.0400", 0), (0.06, "0.0600", 1)]
)
def test_time_without_commands_is_told_where_it_is_known_and_counts(records, uncommanded, cell, words):
    pytest.importorskip("jinja2", reason="of the extra station")
    records.add(result(uncommanded=uncommanded))
    (row,) = csv.DictReader(io.StringIO(report_csv(records, "Ada", SETTINGS)))
    assert row["without_commands_s"] == cell
    assert report_html(records, "Ada", SETTINGS, "2026-01-03").count("without commands 0.1 s") == words


def test_damaged_list_of_experts_is_said(told):
    path = told.folder / "experts.json"
    path.write_text("[{")
    with pytest.raises(FileAccessError) as error:
        told.expert_result(TrialConditions("step", 0.2, "quince"))
    assert str(error.value).startswith(f"cannot read {path}: Invalid JSON: EOF while parsing")


def charts_of(records):
    """Words of Ada's charts: rates of her trials, repetitions of the latest."""
    page = report_html(records, "Ada", SETTINGS, "2026-01-03")
    charts = map(ElementTree.fromstring, re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    return [{text.text for text in chart.iter("text")} for chart in charts]


def test_charts_name_what_they_show(records):
    pytest.importorskip("jinja2", reason="of the extra station")
    records.add(result("Eve", 8.0))
    records.add(result())
    _, times = charts_of(records)
    assert {"completed", "repetition", "time [s]"} <= times and "not credited" not in times
    records.add(result(faults=("fell",), outcome="failed"))
    rates, times = charts_of(records)
    assert {"completed", "not credited"} <= times
    assert {"passed", "not passed", "trial", "rate [1/min]"} <= rates and not {"abandoned", "expert"} & rates
    records.name_expert("Eve", TrialConditions("step", 0.2, "quince"))
    assert {"expert", "80% of the expert"} <= charts_of(records)[0]


def test_html_needs_nothing_else_and_escapes_what_people_wrote(told):
    pytest.importorskip("jinja2", reason="of the extra station")
    with (told.folder / "Ada.jsonl").open("a") as file:
        file.write('{"torn')
    page = report_html(told, "Ada", SETTINGS, "2026-01-03")
    assert not re.search(r"(src|href)=\"(?!#)|https?://|url\((?!#)", page)
    assert "&lt;b&gt;200&lt;/b&gt; ms" in page
    assert "<b>" not in page
    assert "Ada.jsonl:4: Invalid JSON" in page
    assert "Expert under the same conditions: Eve, 7.50 1/min" in page
    assert "repetition 2, at 20 s: touched a wall" in page
    assert page.count("pauses: ") == 1
    assert "pauses: 2" in page
    assert "modelled on" in page
    assert "compliant" not in page
    assert page.count("<svg") == 5  # A delayed link is another condition
    body = re.sub(r"<meta[^>]*>|<!doctype html>", "", page).replace("&ndash;", "-")
    ElementTree.fromstring(re.sub(r"(<(?:img|br)[^>]*)>", r"\1/>", body))  # Every tag is closed.


@pytest.mark.parametrize(
    ("fault", "void", "said"),
    [
        ("asked for help", True, "at 6 s: asked for help, void, real-time factor 0.50"),
        (None, True, "at 6 s: void, real-time factor 0.50"),
        ("asked for help", False, "at 6 s: asked for help<"),
    ],
)
def test_a_report_says_of_a_repetition_both_its_fault_and_that_it_is_void(records, fault, void, said):
    pytest.importorskip("jinja2", reason="of the extra station")
    attempt = Attempt(begun=2.0, duration=4.0, fault=fault, void=void, wall_time=8.0)
    records.add(result(attempts=(attempt,)))
    assert said in report_html(records, "Ada", SETTINGS, "2026-01-03")


def test_missing_jinja2_is_one_clear_error(told, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError) as error:
        report_html(told, "Ada", SETTINGS, "2026-01-03")
    assert str(error.value) == (
        'an HTML report needs jinja2, which is not installed: pip install "segtrack[station]"'
    )


def test_numbers_of_a_report_are_written_as_its_language_writes_them(records):
    pytest.importorskip("jinja2", reason="of the extra station")
    records.add(result(seconds=100.25))
    for language, point in (Language("en"), "."), (Language("de"), ","), (Language("ja"), "."):
        page = report_html(records, "Ada", SETTINGS, "2026-01-03", language)
        assert f">1002{point}5<" in page
        beside_axes = re.findall(r"<text[^>]*>([^<]*\d[^<]*)</text>", page)
        assert f"0{point}2" in beside_axes  # Of the rate, 0.6 repetitions a minute.
        assert {sign for text in beside_axes for sign in text if sign in ".,"} == {point}
