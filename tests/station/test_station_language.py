"""Words of the operator's page: one table for all languages, complete, used, and shown."""

import ast
import json
import re
import time
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

import httpx  # noqa: E402
from fake_station import FakeStation  # noqa: E402
from page_layout import LAYOUT  # noqa: E402
from quick import some_of  # noqa: E402
from tables import each_row  # noqa: E402
from test_station_page import LAPTOP, STATION, TABLET, TRIAL, open_page  # noqa: E402

import segtrack  # noqa: E402
import segtrack.courses  # noqa: E402
import segtrack.station.page  # noqa: E402
from segtrack.courses import (  # noqa: E402
    CONDITION,
    SOURCES,
    Attempt,
    Cameras,
    Exercise,
    Light,
    Records,
    Result,
    ScoringSettings,
    Syllabus,
    class_html,
    class_rows,
    report_html,
    reports_html,
)
from segtrack.station import protocol  # noqa: E402
from segtrack.station.bindings import bindings  # noqa: E402
from segtrack.station.page import spoken as language_of  # noqa: E402
from segtrack.station.protocol import RunState, Setup  # noqa: E402

FAULTS = get_args(get_args(get_type_hints(Attempt)["fault"])[0])
OUTCOMES = get_args(get_type_hints(Result)["outcome"])
STATES = ("running", "paused", *OUTCOMES)
"""Words for what becomes of a trial."""
REPORTS = "class.html", "report.html", "reports.html", "report.py"
FOLDER = Path(segtrack.station.page.__file__).parent
WORDS = json.loads((FOLDER / "words.json").read_text(encoding="utf-8"))
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((FOLDER / "js").rglob("*.js")))
OF_REPORTS = [Path(segtrack.courses.__file__).parent / name for name in REPORTS]
CODE += "\n".join(path.read_text(encoding="utf-8") for path in OF_REPORTS)
LOCALES = {"en": "en-US", "de": "de-DE", "ja": "ja-JP"}


@pytest.fixture(scope="module")
def station(tmp_path_factory):
    station = FakeStation(tmp_path_factory.mktemp("station"))
    yield station
    station.close()


PACKAGE = Path(segtrack.__file__).parent
TOLD = [path for folder in ("web", "simulation") for path in (PACKAGE / "station" / folder).glob("*.py")]
TOLD.append(PACKAGE / "courses" / "trial.py")
SAYS = "NotReadyError", "require_command", "require_instructor", "_tell", "_end", "ProcessDied"
"""Calls whose arguments are sentences that the page shows."""


def _sentence(node):
    """What an expression says, with one place for each value; None if it says nothing by itself."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def sentences():
    """Sentences of the station's source, in which a result's outcome and a run's state are words."""
    found = {"cannot {}: {}", "nobody drives", "{} drives", "{}: recovered, {} completed"}
    for path in TOLD:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in SAYS:
                kind = ast.unparse(node.func) in (
                    "self._tell",
                    "self._end",
                )  # Of an event, which no page shows.
                found |= {sentence for each in node.args[kind:] if (sentence := _sentence(each)) is not None}
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("text", "self.reason"):
                found |= {sentence for sentence in [_sentence(node.value)] if sentence}
    return {sentence for sentence in found if re.search("[a-z]", sentence)} | {"{}: {}"}


def covers(english, sentence):
    """Whether a key of the table says a sentence of the source: with its places, or with words in each."""
    if "{" in english or sentence == "{}: {}":
        return re.sub(r"\{\w+\}", "{}", english) == sentence
    return re.fullmatch(".+?".join(map(re.escape, sentence.split("{}"))), english) is not None


def words_of(text):
    return set(re.findall(r"[A-Za-z]{4,}", text))


def places(text):
    return sorted(re.findall(r"\{\w+\}", text))


@each_row("english", WORDS)
def test_every_word_is_there_in_each_language_with_the_same_places(english):
    assert list(WORDS[english]) == ["de", "ja"]
    for text in WORDS[english].values():
        assert text.strip() and places(text) == places(english)


def test_every_word_of_the_table_is_used():
    of_bindings = {word for row in bindings() for word in (row.device, row.action, *row.inputs)}
    of_bindings |= set(FAULTS) | set(segtrack.load_vehicle("quince").flippers)
    states = {*get_args(RunState), *STATES}
    actions = {kind.model_fields["type"].default for kind in get_args(get_args(protocol.ClientMessage)[0])}
    of_reports = {each.text for each in SOURCES.values()} | {each.status for each in SOURCES.values()}
    of_reports |= {name.replace("_", " ") for name in SOURCES}
    of_reports |= {f"{name.replace('_', ' ')}: {{value}}" for name in conditions()}
    of_reports |= {*get_args(Cameras), *get_args(Light), *OUTCOMES}
    told = sentences()
    unused = [
        word
        for word in WORDS
        if word not in of_bindings | states | actions | of_reports
        and f'"{word}"' not in CODE
        and f"'{word}'" not in CODE
        and not any(covers(word, sentence) for sentence in told)
    ]
    assert unused == []


def test_every_sentence_of_the_station_is_in_the_table():
    said = sentences()
    assert len(said) > 60
    assert [each for each in said if not any(covers(word, each) for word in WORDS)] == []
    actions = ("start", "pause", "reset", "stop")
    assert [what for what in actions if f"{what} the run" not in WORDS] == []
    assert [state for state in (*STATES, "compiling") if state not in WORDS] == []


@pytest.mark.parametrize(
    ("sentence", "german"),
    [
        (
            "cannot pause the run: a trial is on; abandon it, or ask an instructor",
            "„Fahrt pausieren“ geht nicht: ein Versuch läuft; abbrechen, oder einen Ausbilder fragen",
        ),
        (
            "cannot take the driver's seat: Ann is next",
            "„Steuer übernehmen“ geht nicht: Ann ist an der Reihe",
        ),
        ("cannot start the run: it is compiling", "„Fahrt starten“ geht nicht: sie ist in Vorbereitung"),
        ("Ann: abandoned", "Ann: abgebrochen"),
        ("Ann: recovered, 2 completed", "Ann: wiederhergestellt, 2 geschafft"),
        ("repetition 3 not credited: touched a wall", "Wiederholung 3 zählt nicht: Wand berührt"),
        ("x.yaml:3: a mistake", "x.yaml:3: a mistake"),
        ("nothing like it", "nothing like it"),
        ("one of many", "one of many"),
        ("Front drives", "Front fährt"),
        ("3 of 10", "3 von 10"),
        ("repetition 3 completed in 12.5 s", "Wiederholung 3 geschafft in 12,5 s"),
    ],
)
def test_a_sentence_is_told_with_its_names_and_numbers(spoken, sentence, german):
    assert spoken.evaluate("(sentence) => told(sentence)", sentence) == german


@pytest.fixture(scope="module")
def spoken(running_browser, station):
    page = open_page(running_browser, station, locale=LOCALES["de"])
    page.evaluate("async () => { window.told = (await import('segtrack-station/language.js')).told; }")
    yield page
    assert not page.complaints


def test_every_word_that_the_page_asks_for_is_in_the_table():
    asked = [a or b for a, b in re.findall(r"""\bt\((?:"([^"]+)"|'([^']+)')""", CODE)]
    assert len(asked) > 100
    assert [word for word in asked if word not in WORDS] == []
    assert [row.action for row in bindings() if row.action not in WORDS] == []


SHOWN = """() => {
  const notOurs = ".q-icon, .st-title, .q-field__native";
  const texts = [];
  for (const element of document.querySelectorAll(".st-station, .st-station *")) {
    if (element.closest(notOurs)) continue;
    for (const name of ["title", "aria-label", "placeholder"]) texts.push(element.getAttribute(name) ?? "");
    for (const node of element.childNodes) if (node.nodeType === 3) texts.push(node.textContent);
  }
  return texts;
}"""
EVENT = {"clock": 1.0, "kind": "gate", "text": "1"}
REPLAY = {"name": "run-1", "time": 0.1, "duration": 0.5, "playing": False, "speed": 1}
LINK = {"delay": 0.1, "jitter": 0.0, "loss": 0.0, "rate": 100.0}
EVERYTHING = f"""(more) => {{
  const {{ status, client }} = {STATION};
  const [p1, p2] = [{{ name: "p1", role: "instructor" }}, {{ name: "p2", role: "onlooker" }}];
  const clients = [{{ id: client, ...p1 }}, {{ id: 999, ...p2 }}];
  const links = {{ [client]: more.link, 999: more.link }};
  {STATION}.connect.on.message = () => null;
  {STATION}.receive({{ ...status, clients, links, ...more.status }});
}}"""


def show_everything(page, **more):
    """Replace the station's status by one in which all panels have all that they can show."""
    status = {"trial": TRIAL | {"events": [EVENT], "over": True, "passed": True}, "replay": None} | more
    page.evaluate(EVERYTHING, {"status": status, "link": {"video": LINK, "telemetry": LINK, "command": LINK}})


@pytest.mark.parametrize("language", some_of(["de", "ja"], "ja"))
def test_no_english_word_is_left_on_the_page(browser, station, language):
    page = open_page(browser, station, locale=LOCALES[language])
    assert page.locator("html").get_attribute("lang") == language
    page.evaluate(f"{STATION}.touch = true")
    translated = set().union(*(words_of(entry[language]) for entry in WORDS.values()))
    english = set().union(*map(words_of, WORDS)) - translated
    of_the_station = page.evaluate(f"{STATION}.options.courses.map((course) => course.setting_name)")
    of_the_station += page.evaluate(
        f"[{STATION}.status.syllabus, ...{STATION}.status.exercises.map((each) => each.title)]"
    )
    shown = []
    for more in ({}, {"replay": REPLAY}):
        show_everything(page, **more)
        for tab in range(page.get_by_role("tab").count()):
            page.get_by_role("tab").nth(tab).click()
            shown += page.evaluate(SHOWN)
    assert [text for text in shown if words_of(text) & english and text not in of_the_station] == []
    assert {entry[language] for entry in WORDS.values()} & {text.strip() for text in shown}
    assert not page.complaints


CONDITIONS = {"track_model": "xx", "cameras": "real", "light": "dark", "visibility": "2.5", "exercise": "one"}
ATTEMPTS = [
    Attempt(begun=0, duration=9, fault="fell"),
    Attempt(begun=9, duration=9, void=True, wall_time=20),
    Attempt(begun=18, duration=9, wall_time=9),
]
NAMED = {"title": "Xxxx", "vehicle": "xxxx", "course": "xxxx", "setting_name": "xxxx", "setting_unit": "xx"}
RESULT = Result(
    operator="Xxxx",
    **NAMED,
    kind="obstacle",
    setting=0.2,
    distance=5.0,
    repetitions=30,
    attempts=tuple(ATTEMPTS),
    elapsed=27.0,
    outcome="passed",
    begun="2026-01-02T10:00:00+00:00",
    id="0123456789ab",
    conditions=CONDITIONS,
    late=0.1,
    delay=0.1,
    uncommanded=2.0,
    pauses=2,
    recording="xxxx.mcap",
)


@pytest.fixture(scope="module")
def class_of_two(tmp_path_factory):
    """Records with all that a report may say, and their exercises."""
    records = Records(tmp_path_factory.mktemp("records"))
    for change in (
        {},
        {"outcome": "failed"},
        {"outcome": "abandoned"},
        {"operator": "Yyyy", "conditions": {}},
    ):
        records.add(RESULT.model_copy(update=change))
    records.name_expert("Xxxx", RESULT.event)
    with (records.folder / "Xxxx.jsonl").open("a") as file:
        file.write("?\n")
    same = {"title": "Xxxx", "course": "okada-step", "vehicle": "quince", "complete": 1}
    exercises = [Exercise(name=name, **same) for name in ("one", "two", "three")]
    return records, Syllabus(title="Xxxx", exercises=exercises)


def conditions():
    """Names of what results may be compared under besides vehicle, course and setting."""
    return {*Setup.model_fields, "link", CONDITION} - {"vehicle", "course", "setting", "seed"}


def test_every_condition_of_a_result_is_in_the_table():
    assert [name for name in conditions() if f"{name.replace('_', ' ')}: {{value}}" not in WORDS] == []


def reports(class_of_two, tag):
    """All reports in a language, as text by name."""
    records, syllabus = class_of_two
    language, rows = language_of(tag), class_rows(records, syllabus)
    trial = {"operator": "Xxxx", "done": 3, "repetitions": 9, "failures": 1, "over": True, "passed": False}
    roles = enumerate(("driver", "instructor", "onlooker"))
    here = [{"name": "Xxxx", "role": role, "place": place} for place, role in roles]
    live = {"people": here, "driver": "Xxxx", "trial": trial, "report": "", "table": ""}
    nobody = {**live, "people": [], "driver": None, "trial": None}
    return {
        "report": report_html(records, "Xxxx", ScoringSettings(), "2026", language),
        "reports": reports_html([], "2026", language),
        "class": class_html(rows, syllabus, "2026", live, language),
        "class without anybody": class_html((), syllabus, "2026", nobody, language),
    }


@pytest.mark.parametrize("tag", ["de", "ja"])
def test_no_english_word_is_left_in_reports(class_of_two, tag):
    translated = set().union(*(words_of(entry[tag]) for entry in WORDS.values()))
    stays = words_of(SOURCES["allowed_failures"].text) | {"Xxxx", "Yyyy", "xxxx", "mcap"}
    for name, page in reports(class_of_two, tag).items():
        assert f'<html lang="{tag}">' in page
        shown = re.findall(
            r'>([^<]+)<|aria-label="([^"]+)"', re.sub("<style>.*?</style>|&ndash;", "", page, flags=re.S)
        )
        texts = [
            text for pair in shown for text in pair if not text.startswith("Xxxx.jsonl:4: ")
        ]  # An error.
        assert [text for text in texts if words_of(text) - translated - stays] == [], name
        assert {entry[tag] for entry in WORDS.values()} & {text.strip() for text in texts}, name


@pytest.mark.parametrize(
    ("query", "header", "tag"),
    [("", "fr, ja;q=0.8, de;q=0.4", "ja"), ("?language=de", "ja", "de"), ("?language=xx", "*", "en")],
)
def test_reports_are_in_the_language_of_the_link_or_else_the_browsers(station, query, header, tag):
    for link in ("/station/report", "/station/class"):
        answer = httpx.get(f"{station.url}{link}{query}", headers={"accept-language": header}, timeout=60.0)
        assert (answer.status_code, f'<html lang="{tag}">' in answer.text) == (200, True)


def test_reports_say_the_same_in_english_as_in_no_language(class_of_two):
    records, _ = class_of_two
    given = records, "Xxxx", ScoringSettings(), "2026"
    assert report_html(*given, language_of("en")) == report_html(*given)


def test_a_language_is_chosen_before_a_name(browser, station):
    page = browser.new_context().new_page()
    page.goto(station.url)
    page.get_by_role("button", name="Deutsch").click()
    page.get_by_text(WORDS["Who are you?"]["de"]).wait_for()
    assert page.get_by_label(WORDS["Your name"]["de"]).input_value() == ""
    page.context.close()


def test_a_language_is_chosen_and_kept(browser, station):
    page = open_page(browser, station)
    assert page.locator(".st-estop").text_content() == "E-STOP"
    page.get_by_role("button", name="Language").click()
    page.get_by_text("Deutsch").click()
    page.wait_for_function("document.querySelector('.st-estop').textContent === 'NOT-HALT'")
    page.wait_for_function("document.activeElement === document.body")
    page.reload()
    page.wait_for_function("document.querySelector('.st-estop')?.textContent === 'NOT-HALT'")
    page.get_by_role("tab", name=WORDS["People"]["de"]).click()
    page.get_by_role("link").first.wait_for()
    assert page.get_by_role("link").first.get_attribute("href") == "station/class?language=de"
    assert not page.complaints


@pytest.mark.parametrize("language", some_of(LOCALES, "de"))
@pytest.mark.parametrize("size", [LAPTOP, TABLET], ids=["laptop", "tablet"])
def test_words_of_each_language_fit(browser, station, size, language):
    page = open_page(browser, station, locale=LOCALES[language], viewport=size)
    page.evaluate(f"{STATION}.panel = true")
    show_everything(page)
    time.sleep(0.4)  # Quasar's colours take 0.3 s to change.
    for tab in range(page.get_by_role("tab").count()):
        page.get_by_role("tab").nth(tab).click()
        wrong = page.evaluate(LAYOUT)
        assert wrong == {"faint": [], "cut": [], "outside": [], "overlaps": False}, tab
