"""Traces and paths of a report's page: numbers are those of the motions, the script does what it says."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from segtrack import terrain
from segtrack.description import load_vehicle
from segtrack.logs import Motion, Signal
from segtrack.logs.compare import Phase
from segtrack.report.logs import report_html
from segtrack.report.logs.content import ReportContent
from segtrack.report.logs.inspect import extreme_rows
from segtrack.report.logs.maturity import Evidence, judge_maturity
from segtrack.report.logs.output import thinned_note, traces_json
from segtrack.report.logs.views import draw_path, panels_of, path_view, residuals_of

LOG_TIMES, RUN_TIMES = np.linspace(0.0, 10.0, 101), np.linspace(-0.5, 8.0, 426)
STEP = terrain.Step(height=0.1, distance=1.0)
EVIDENCE = Evidence(True, "", "aa", None, (), (), (), judged=0, within=0)


def at(times, values, std=None):
    return Signal(times, np.broadcast_to(values, times.shape).copy(), std)


def motion(name, times, speed, std=None, **more):
    """A straight drive along x at a speed [m/s], the nose rising by 0.01 rad/s."""
    nothing = np.zeros_like(times)
    position = np.stack([speed * times, nothing, 0.1 + nothing], axis=1)
    signals = {"position": Signal(times, position, std), "pitch": at(times, 0.01 * times, std)}
    return Motion(name, signals | more)


LOGGED = motion("</script><b>", LOG_TIMES, 0.1, 0.01, **{"flipper_angle.front_left": at(LOG_TIMES, 0.5)})
RUN = motion(
    "run", RUN_TIMES, 0.12, **{"energy": at(RUN_TIMES, 3.0), "velocity": Signal(RUN_TIMES, np.ones((426, 3)))}
)
SIMULATED = {"measured": RUN}
PHASES = (Phase("approach", 0.0, 4.0), Phase("nose lift", 4.0, 10.0))


def page_of(logged=LOGGED, simulated=SIMULATED):
    pytest.importorskip("jinja2", reason="of the extra logs")
    content = ReportContent(
        vehicle=load_vehicle("packbot"),
        terrains=(STEP,),
        logged=logged,
        simulated=simulated,
        phases=PHASES,
        instants=(),
        rows=(),
        maturity=judge_maturity(EVIDENCE),
        inputs=(),
        settings={},
        versions={"segtrack": "0.1.0"},
        notes=(),
    )
    return report_html(content, "2026-01-02")


def numbers_of(logged=LOGGED, simulated=SIMULATED):
    panels = panels_of(logged, simulated)
    text = traces_json(panels, residuals_of(panels), PHASES, path_view((STEP,), logged, simulated))
    return json.loads(text, parse_constant=pytest.fail)


def lines_of(numbers, view="over time"):
    """Times and values of all lines by panel and by whose they are."""
    return {
        (panel["name"], line["of"]): (np.array(numbers["times"][line["times"]]), np.array(line["values"]))
        for panel in numbers["views"][view]
        for line in panel["lines"]
    }


def test_a_page_has_all_quantities_of_log_and_simulations_as_they_are():
    lines = lines_of(numbers_of())
    assert set(lines) == {
        *((name, who) for name in ("pitch, nose up", "x", "y", "z") for who in ("logged", "measured")),
        ("flipper angle, front_left", "logged"),
        ("energy", "measured"),
        *((f"velocity {axis}, body frame", "measured") for axis in "xyz"),
    }
    for (name, who), (times, values) in lines.items():
        source = LOGGED if who == "logged" else RUN
        np.testing.assert_allclose(times, LOG_TIMES if who == "logged" else RUN_TIMES, rtol=0, atol=1e-6)
        key = name.replace(", nose up", "").replace("flipper angle, ", "flipper_angle.")
        if key == "pitch" or key.startswith("flipper"):
            expected = np.degrees(source.signals[key].values)
        elif key == "energy":
            expected = source["energy"]
        else:
            quantity, _, axis = key.removesuffix(", body frame").rpartition(" ")
            expected = source[quantity or "position"][:, "xyz".index(axis)]
        np.testing.assert_allclose(values, expected, rtol=0, atol=5e-7 * max(abs(expected).max(), 1.0) * 10)


def test_margins_are_two_standard_deviations_in_the_unit_that_is_shown():
    (pitch, x, *_) = numbers_of()["views"]["over time"]
    assert (pitch["unit"], x["unit"]) == ("deg", "m")
    assert pitch["lines"][0]["margin"] == pytest.approx(np.degrees(0.02), rel=1e-2)
    assert [line["margin"] for line in x["lines"]] == [0.02, None]


def test_a_residual_is_the_simulation_less_the_log_where_both_are_known():
    lines = lines_of(numbers_of(), "simulation less log")
    assert set(lines) == {(name, "measured") for name in ("pitch, nose up", "x", "y", "z")}
    times, values = lines["x", "measured"]
    np.testing.assert_allclose(times, LOG_TIMES[LOG_TIMES <= 8.0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(values, 0.02 * times, rtol=0, atol=1e-6)


def test_times_that_lines_share_are_held_once():
    assert len(numbers_of()["times"]) == 3


def test_a_long_trace_is_thinned_to_samples_of_its_own_and_says_so():
    times = np.arange(200_000) / 100
    values = np.sin(times)
    values[123_456] = 5.0
    logged = Motion("long", {"pitch": Signal(times, values)})
    (panel,) = panels_of(logged, {})
    (line,) = numbers_of(logged, {})["views"]["over time"][0]["lines"]
    assert (line["samples"], len(line["values"])) == (200_000, 10_000)
    found = dict(zip(numbers_of(logged, {})["times"][line["times"]], line["values"], strict=True))
    assert found[1234.56] == pytest.approx(np.degrees(5.0), rel=1e-6)
    assert all(
        np.degrees(values[round(100 * time)]) == pytest.approx(value, abs=1e-3)
        for time, value in found.items()
    )
    assert thinned_note([panel]) == (
        "Traces of more than 20000 samples (the longest has 200000) are thinned: of each of 5000 stretches "
        "the page holds the least and the greatest sample, at their own times."
    )
    assert thinned_note(panels_of(LOGGED, SIMULATED)) == ""


def test_extremes_of_every_bin_are_kept():
    values = np.random.default_rng(1).normal(size=1003)
    rows = extreme_rows(values, 100)
    assert (np.diff(rows) > 0).all()
    for k in range(100):
        own = values[10 * k : 10 * k + 10]
        kept = values[rows[(rows >= 10 * k) & (rows < 10 * k + 10)]]
        assert (kept.min(), kept.max()) == (own.min(), own.max())
    assert rows[-3:].tolist() == [1000, 1001, 1002]
    assert extreme_rows(values[:400], 100).tolist() == list(range(400))


def test_numbers_that_are_not_finite_are_null():
    huge = Motion("huge", {"pitch": Signal(LOG_TIMES, np.full(101, 1e307))})
    with np.errstate(over="ignore"):
        values = numbers_of(huge, {})["views"]["over time"][0]["lines"][0]["values"]
    assert values == [None] * 101


def test_the_path_is_that_of_the_motions_and_the_ground_is_the_terrain():
    numbers = numbers_of()["path"]
    (logged, measured) = numbers["lines"]
    np.testing.assert_allclose(logged["points"], LOGGED["position"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(measured["points"], RUN["position"], rtol=0, atol=1e-4)
    x, z = np.array(numbers["x"]), np.array(numbers["z"])
    assert z.shape == (len(numbers["y"]), len(x))
    assert (z[:, x < 1.0] == 0.0).all() and (z[:, x > 1.0] == 0.1).all()
    assert z[0, x == 1.0].tolist() == [0.0, 0.1]
    assert x[0] < -0.06 - 0.3 and x[-1] > 1.0 + 0.3
    drawn = draw_path(path_view((STEP,), LOGGED, SIMULATED)).axes[0].get_lines()
    ends = {
        line.get_label(): line.get_data_3d()[0][-1] for line in drawn if not line.get_label().startswith("_")
    }
    assert ends == {"logged": pytest.approx(1.0), "simulated by measured belts": pytest.approx(0.96)}
    assert path_view((STEP,), Motion("m", {"pitch": LOGGED.signals["pitch"]}), SIMULATED) is None


def test_the_page_allows_its_own_script_alone_and_says_whose_it_is():
    page = page_of()
    (data, program) = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.DOTALL)
    assert json.loads(data) == numbers_of()
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    assert (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    )
    assert "The MIT License (MIT)\n\nCopyright (c) 2022 Leon Sorokin" in program
    assert not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\(|WebSocket|sendBeacon", program)
    assert program.isascii() or '<meta charset="utf-8">' in page


def test_pictures_stay_for_print_and_where_no_script_runs():
    page = page_of()
    still = re.findall(r'class="still">', page)
    assert len(still) == 4  # Over time, less the log (the section, too), the path.
    assert ".live { display: none; }" in page


def test_a_page_without_anything_to_look_into_has_no_script():
    page = page_of(
        Motion("belts", {"belt_speed.left": at(LOG_TIMES, 0.1)}),
        {"measured": Motion("r", {"energy": at(LOG_TIMES, 1.0)})},
    )
    assert "<script" not in page and "script-src" not in page


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(), encoding="utf-8")
    return path.as_uri()


def opened(browser, address, **options):
    """The page, what its script complained of, and what it loaded."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000}, **options)
    said, loaded = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(address)
    return page, said, loaded


def legend_of(page, plot):
    """Words and numbers of a plot's legend."""
    cells = page.locator(".uplot").nth(plot).locator(".u-series").all()
    return {cell.locator("th").inner_text(): cell.locator("td").inner_text() for cell in cells}


@pytest.mark.slow
def test_traces_are_zoomed_read_at_one_cursor_and_switched(browser, address):
    page, said, loaded = opened(browser, address)
    box = page.locator(".u-over").first.bounding_box()
    middle = box["y"] + box["height"] / 2

    def read(share, plot=1):
        page.mouse.move(box["x"] + share * box["width"], middle)
        page.wait_for_timeout(100)
        return {name: float(value) for name, value in legend_of(page, plot).items() if value}

    whole = read(0.4762)  # From -0.5 to 10 s: 4.5 s.
    assert whole["time [s]"] == pytest.approx(4.5, abs=0.05)
    assert whole["logged \u00b1 0.02"] == pytest.approx(0.1 * 4.5, abs=0.01)
    assert whole["by measured belts"] == pytest.approx(0.12 * 4.5, abs=0.01)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6666 * box["width"], middle, steps=4)
    page.mouse.up()
    page.wait_for_timeout(200)
    assert read(0.5)["time [s]"] == pytest.approx(5.5, abs=0.05)  # Of all plots, from 4.5 to 6.5 s.
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_timeout(200)
    assert read(0.75)["time [s]"] == pytest.approx(5.5 + 0.5 * np.exp(-0.4), abs=0.05)
    page.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    page.wait_for_timeout(200)
    assert read(0.999)["time [s]"] == pytest.approx(10.0, abs=0.05)
    assert "by measured belts" not in read(0.999)  # It ended at 8 s.

    page.locator("#switches label", has_text="simulated by measured belts").click()
    off = page.locator(".grid .u-series.u-off")
    assert off.count() == 4
    page.locator("#switches label", has_text="simulated by measured belts").click()
    page.locator(".u-legend").first.locator("th", has_text="logged").click()
    assert off.count() == 1
    page.locator("#switches label", has_text="simulation less log").click()
    page.wait_for_timeout(200)
    assert read(0.4762)["by measured belts \u00b1 0.02"] == pytest.approx(0.02 * 4.5, abs=0.005)
    page.locator("#switches label", has_text="simulation less log").click()
    page.locator("summary").click()
    page.locator("details .grid > div").last.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert page.locator(".uplot").count() == 9
    assert not said
    assert loaded == [address]


@pytest.mark.slow
def test_the_path_turns_and_marks_the_cursors_time(browser, address):
    page, said, _ = opened(browser, address)
    canvas = page.locator("#path")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(200)
    first = canvas.evaluate("canvas => canvas.toDataURL()")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 240, steps=4)
    page.mouse.up()
    page.wait_for_timeout(200)
    turned = canvas.evaluate("canvas => canvas.toDataURL()")
    assert turned != first
    page.locator(".u-over").first.scroll_into_view_if_needed()
    page.locator(".u-over").first.hover()
    page.wait_for_timeout(200)
    assert canvas.evaluate("canvas => canvas.toDataURL()") != turned
    assert not said


@pytest.mark.slow
def test_without_scripts_and_in_print_the_pictures_are_seen(browser, address):
    page, _, _ = opened(browser, address, java_script_enabled=False)
    assert page.locator("figure svg:visible").count() == 3
    assert page.locator(".live:visible").count() == 0
    page, said, _ = opened(browser, address, color_scheme="dark")
    assert page.locator("figure svg:visible").count() == 0
    assert page.locator(".live:visible").count() == 2
    page.emulate_media(media="print")
    assert page.locator("figure svg:visible").count() == 3
    assert page.locator(".live:visible").count() == 0
    assert not said
