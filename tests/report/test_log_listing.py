"""Lists of reports: a row for each, what it says is what the report says, and its link leads there."""

import json
import re
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.files import write_json, write_text

pytest.importorskip("jinja2", reason="of the extra logs")


def error(run, verdict, phase="whole"):
    return {"run": run, "phase": phase, "verdict": verdict}


def write_report(folder, log, level, errors):
    summary = {
        "log": log,
        "vehicle": "quince",
        "written": "2026-01-02",
        "maturity": {"level": level},
        "inputs": [{"role": "log", "name": log}, {"role": "terrain", "name": "okada-step, 0.24"}],
        "errors": errors,
    }
    write_json(folder / "report.json", summary)
    write_text(folder / "report.html", "page")


@pytest.fixture
def folder(tmp_path):
    write_report(
        tmp_path / "a & b#1",
        "<first>.csv",
        6,
        [
            *[error("measured", "within")] * 3,
            error("measured", "beyond"),
            error("measured", "beyond", "crest"),
        ],
    )
    write_report(tmp_path / "deep" / "er", "second.mcap", None, [error("commanded", "unknown")])
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["log", "list", *map(str, words)])


def test_each_report_is_a_row_with_its_verdicts(folder):
    done = run(folder, "--json")
    first, second = json.loads(done.stdout)["reports"]
    assert (first["log"], first["level"], first["terrain"]) == ("<first>.csv", 6, "okada-step, 0.24")
    assert first["agreement"] == {"measured": {"within": 3, "beyond": 1}}
    assert (second["level"], second["agreement"]) == (None, {"commanded": {"unknown": 1}})


def test_the_page_links_to_all_and_escapes_what_people_wrote(folder):
    assert run(folder).exit_code == 0
    page = (folder / "reports.html").read_text()
    links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', page)
    assert [name for _, name in links] == ["&lt;first&gt;.csv", "second.mcap"]
    for link, _ in links:
        assert "#" not in link and (folder / unquote(link)).read_text() == "page"
    assert "3 within, 1 beyond" in page


def test_files_that_are_no_reports_are_named(folder):
    write_text(folder / "other" / "report.json", "{}")
    write_text(folder / "broken" / "report.json", "{")
    done = run(folder)
    assert done.exit_code == 0
    for name in ("other", "broken"):
        assert f"{folder / name / 'report.json'} is no report of a log, and is left out" in done.stderr


def test_a_folder_without_reports_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        done = run(folder)
        assert done.exit_code == 2
        assert done.stderr == (
            f"segtrack: FOLDER must be one with reports of logs (report.json), got {folder} with none\n"
        )
    assert not (tmp_path / "reports.html").exists()
