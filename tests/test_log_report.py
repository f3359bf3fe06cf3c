"""Reports on logs: what they show is what was given, and levels are earned by evidence."""

import json
import math
import re
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from tables import each_row
from typer.testing import CliRunner

from segtrack import terrain
from segtrack.cli.app import app
from segtrack.description import Calibration, FittedLog, FittedParameter, load_vehicle
from segtrack.errors import MappingFileError
from segtrack.files import write_json
from segtrack.logs import Motion, Signal
from segtrack.logs.compare import (
    ErrorRow,
    Numerics,
    Phase,
    Phases,
    RunComparison,
    SampledMotion,
    Uncertainty,
    WrongValue,
)
from segtrack.logs.fit import unfitted_hash, values_of, with_parameters
from segtrack.logs.mapping import parse_mapping, parse_terrain
from segtrack.report.logs import (
    draw_side_views,
    find_reports,
    report_html,
    report_summary,
    report_tables,
)
from segtrack.report.logs.content import Input, Instant, ReportContent
from segtrack.report.logs.maturity import Evidence, SoughtValue, evidence_of, judge_maturity
from segtrack.report.logs.output import draw_errors
from segtrack.report.logs.views import draw_panels, envelope, panels_of, path_view, pose_at

TIMES = np.linspace(0.0, 10.0, 101)
PHASES = (Phase("approach", 0.0, 4.0), Phase("nose lift", 4.0, 10.0))
INSTANTS = (Instant("first touch", 4.0), Instant("end", 10.0))
GROUND = (terrain.Step(height=0.1, distance=1.0),)


def motion(name, ahead=0.0, std=None, times=TIMES):
    """0.1 m/s forward, the nose at a steady 0.05 rad/s upwards from 4 s on."""
    nothing = np.zeros_like(times)
    position = np.stack([0.1 * times + ahead, nothing, 0.1 + nothing], axis=1)
    pitch = 0.05 * np.maximum(times - 4.0, 0.0)
    belt = Signal(times, 0.1 + nothing)
    return Motion(
        name,
        {
            "position": Signal(times, position, std),
            "pitch": Signal(times, pitch, std),
            "belt_speed.left": belt,
            "belt_speed.right": belt,
            "flipper_angle.front_left": Signal(times, 0.5 + nothing),
        },
    )


LOGGED = motion("<run> & 1.csv", std=0.01)
SIMULATED = {"commanded": motion("c", 0.05), "measured": motion("m")}


def row(run="measured", phase="whole", error=0.01, u=0.02, verdict="within"):
    """Peak pitch, 0.3 rad in the log."""
    inputs = {"friction": None if u is None else 0.8 * u}
    parts = Uncertainty(Numerics(0.0, "none", None), True, inputs, {"noise": None if u is None else 0.6 * u})
    told = () if u is None else tuple(WrongValue("friction", v, "-", 2.4 * u, 1.2 * u) for v in (0.3, 0.9))
    return ErrorRow(
        run, phase, "peak pitch", "rad", 0.3, 0.3 + error, error, None, None, None, None, parts, verdict, told
    )


GROUND_FILE = "friction: 1.0"

ROWS = (
    row(),
    row("commanded", error=-0.1, verdict="beyond"),
    row("commanded", "nose lift", u=None, verdict="unknown"),
)


def sought(parameter, value, unit, change, run="measured"):
    """A wrong value that is seen from a change of 0.1 rad of peak pitch on."""
    return SoughtValue(WrongValue(parameter, value, unit, change, 0.1), "peak pitch", run)


SEEN = sought("friction", 0.3, "-", 0.2), sought("friction", 0.9, "-", 0.2)
UNSEEN = sought("com_x", 0.01, "m", 0.2), sought("com_x", 0.03, "m", 0.1)
EVIDENCE = Evidence(
    True, "", "aa", ("bb",), (), (), (), judged=3, within=3, varied=("friction",), wrong_values=SEEN
)


@pytest.fixture(scope="module")
def content():
    return ReportContent(
        vehicle=load_vehicle("packbot"),
        terrains=GROUND,
        logged=LOGGED,
        simulated=SIMULATED,
        phases=PHASES,
        instants=INSTANTS,
        rows=ROWS,
        maturity=judge_maturity(EVIDENCE),
        inputs=(Input("log", "<run> & 1.csv", "ab" * 32), Input("mapping", "map.yaml", "cd" * 32)),
        settings={"engine": "native", "seed": "17"},
        versions={"segtrack": "0.1.0", "numpy": "2.0"},
        notes=("clock of <mocap>: 0.37 s late",),
        stated=("friction 0.05", "bias of pitch 0.005"),
        estimated=("noise of orientation 0.002 rad",),
    )


@pytest.fixture(scope="module")
def page(content):
    pytest.importorskip("jinja2", reason="of the extra logs")
    return report_html(content, "2026-01-02")


def test_a_page_needs_nothing_else_and_every_tag_of_it_is_closed(page):
    marked = re.sub(r"(<script[^>]*>).*?(</script>)", r"\1\2", page, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(?!#)|https?://|url\((?!#)|@import', marked)
    body = re.sub(r"<meta[^>]*>|<!doctype html>", "", marked)
    ElementTree.fromstring(re.sub("&minus;", "-", body))


def test_a_page_shows_what_it_was_given_and_escapes_it(page):
    for said in (
        "&lt;run&gt; &amp; 1.csv",
        "Maturity level 6",
        "ab" * 32,
        ">17.2<",
        ">+0.573<",
        ">-5.73<",
        ">2.29<",
        ">unknown<",
        "clock of &lt;mocap&gt;: 0.37 s late",
        "written 2026-01-02 by segtrack 0.1.0",
        "Standard uncertainties that the user gave: friction 0.05, bias of pitch 0.005."
        " Estimated from the log: noise of orientation 0.002 rad.",
        "By measured belts agree: peak pitch.",
    ):
        assert said in page, said
    assert "<run>" not in page
    assert page.count("<svg") == 5
    assert re.search(r"<td>seed</td><td>17</td>", page)


def test_json_says_the_same_in_plain_values(content):
    summary = json.loads(json.dumps(report_summary(content, "2026-01-02"), allow_nan=False))
    assert summary["maturity"]["level"] == 6
    assert summary["stated_uncertainties"] == ["friction 0.05", "bias of pitch 0.005"]
    error = summary["errors"][1]
    assert (error["run"], error["phase"], error["quantity"], error["unit"]) == (
        "commanded",
        "whole",
        "peak pitch",
        "rad",
    )
    assert (error["logged"], error["error"], error["verdict"]) == (0.3, -0.1, "beyond")
    assert error["u_val"] == pytest.approx(0.02)
    assert summary["inputs"][1] == {"role": "mapping", "name": "map.yaml", "sha256": "cd" * 32}
    assert summary["phases"][0] == {"name": "approach", "begin": 0.0, "end": 4.0}


def test_a_list_of_reports_has_what_a_report_says(content, tmp_path):
    inputs = (*content.inputs, Input("terrain", "ground", "ef" * 32))
    write_json(
        tmp_path / "one" / "report.json", report_summary(replace(content, inputs=inputs), "2026-01-02")
    )
    ((entry,), notes) = find_reports(tmp_path)
    assert notes == []
    assert entry == (
        "one/report.html",
        "<run> & 1.csv",
        "packbot",
        "ground",
        "2026-01-02",
        6,
        {"measured": {"within": 1}, "commanded": {"beyond": 1}},
    )


def test_a_log_without_a_pose_has_no_side_views_and_its_page_is_whole(content):
    pytest.importorskip("jinja2", reason="of the extra logs")
    belts = {key: signal for key, signal in LOGGED.signals.items() if key.startswith("belt")}
    page = report_html(replace(content, logged=Motion("belts", belts), rows=()), "2026-01-02")
    assert page.count("<svg") == 2
    assert "Side by side" not in page and '<canvas id="path">' not in page


def test_series_are_those_of_the_motions_in_the_units_of_their_axes():
    figure = draw_panels(panels_of(LOGGED, SIMULATED), PHASES)
    by_label = {axes.get_ylabel(): axes for axes in figure.axes}
    assert list(by_label) == [
        "pitch, nose up [deg]",
        "x [m]",
        "y [m]",
        "z [m]",
        "belt speed, left [m/s]",
        "belt speed, right [m/s]",
    ]
    logged, commanded, measured = (
        line.get_ydata() for line in by_label["pitch, nose up [deg]"].get_lines()[:3]
    )
    assert logged[-1] == pytest.approx(np.degrees(0.3))
    assert measured == pytest.approx(logged)
    x = [line.get_ydata()[-1] for line in by_label["x [m]"].get_lines()]
    assert x == pytest.approx([1.0, 1.05, 1.0])


def test_a_band_is_two_standard_deviations_to_both_sides():
    (axes, *_) = draw_panels(panels_of(LOGGED, SIMULATED), ()).axes
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(np.degrees(0.3 + 0.02))
    assert heights.min() == pytest.approx(np.degrees(-0.02))


def test_motions_that_share_nothing_have_no_picture():
    only_roll = Motion("roll", {"roll": Signal(TIMES, TIMES)})
    assert draw_panels(panels_of(only_roll, SIMULATED), PHASES) is None


def test_a_long_line_is_thinned_to_its_extremes():
    times = np.linspace(0.0, 100.0, 100_001)
    values = np.sin(40.0 * times)
    values[54_321] = 3.0
    when, low, high = envelope(Signal(times, values))
    assert len(when) == 500
    assert (low.min(), high.max()) == (values.min(), 3.0)
    assert when[np.argmax(high)] == pytest.approx(times[54_321], abs=0.2)
    assert np.ptp(high[when > 60.0]) < 0.02


def test_one_motion_twice_is_drawn_twice_at_one_place(content):
    figure = draw_side_views(content.vehicle, GROUND, LOGGED, {"measured": motion("m")}, INSTANTS)
    for axes, instant in zip(figure.axes, INSTANTS, strict=True):
        painted = [path.vertices for c in axes.collections[:-1] for path in c.get_paths()]
        (line,) = [c for c in axes.collections if isinstance(c, PolyCollection) and c.get_zorder() == 4]
        for path in line.get_paths():
            assert any(np.array_equal(path.vertices, points) for points in painted)
        assert axes.get_title(loc="left") == f"{instant.name}, {instant.time:.2f} s"


def test_a_robot_is_drawn_where_it_was(content):
    shifted = draw_side_views(content.vehicle, GROUND, LOGGED, {"commanded": motion("c", 0.05)}, INSTANTS)
    (axes, *_) = shifted.axes
    body = axes.collections[-1].get_paths()
    corners = np.concatenate([path.vertices for path in body])
    own = draw_side_views(content.vehicle, GROUND, LOGGED, {"measured": motion("m")}, INSTANTS)
    others = np.concatenate([path.vertices for path in own.axes[0].collections[-1].get_paths()])
    assert corners - others == pytest.approx(np.tile([0.05, 0.0], (len(others), 1)))


def posed(x, pitch, flippers, vehicle):
    """A robot that stands at x [m] with pitch and flippers [rad]."""
    position = np.tile([x, 0.0, 0.3], (len(TIMES), 1))
    angles = {f"flipper_angle.{name}": flippers for name in vehicle.flippers} | {"pitch": pitch}
    signals = {key: Signal(TIMES, np.full_like(TIMES, angle)) for key, angle in angles.items()}
    return Motion("m", signals | {"position": Signal(TIMES, position)})


def corners_of(axes):
    """What is painted of the robots (n, 2), and the window."""
    robots = [c for c in axes.collections if c.get_zorder() >= 2]
    corners = np.concatenate([path.vertices for c in robots for path in c.get_paths()])
    return corners, np.array([axes.get_xlim(), axes.get_ylim()]).T


@pytest.mark.parametrize("name", ["quince", "packbot", "m113"])
@pytest.mark.parametrize(
    ("apart", "pitch", "flippers"),
    [(0.0, 0.0, 45), (0.0, 35, 90), (0.0, 70, -45), (0.6, 20, 45), (-0.8, 0.0, 45)],
)
def test_both_robots_are_whole_in_their_window(name, apart, pitch, flippers):
    vehicle = load_vehicle(name)
    logged = posed(1.0, math.radians(pitch), math.radians(flippers), vehicle)
    simulated = posed(1.0 + apart, 0.0, math.radians(flippers), vehicle)
    figure = draw_side_views(vehicle, GROUND, logged, {"measured": simulated}, INSTANTS)
    for axes in figure.axes:
        corners, (least, greatest) = corners_of(axes)
        assert (corners >= least).all() and (corners <= greatest).all()
        assert not axes.texts


def test_a_simulated_robot_that_is_far_away_leaves_the_window_to_the_logged_one():
    vehicle = load_vehicle("quince")
    logged, simulated = posed(1.0, 0.0, 0.8, vehicle), posed(9.0, 0.0, 0.8, vehicle)
    axes = draw_side_views(vehicle, GROUND, logged, {"measured": simulated}, INSTANTS).axes[0]
    corners, (least, greatest) = corners_of(axes)
    assert greatest[0] - least[0] < 2.0
    own = corners[corners[:, 0] < 5.0]
    assert (own >= least).all() and (own <= greatest).all()
    (text,) = axes.texts
    assert re.fullmatch(r"simulated: far away,\nx 9\.\d\d m, z 0\.\d\d m", text.get_text())


def test_a_pose_is_that_of_the_signals_and_takes_commanded_flippers_where_there_are_no_others():
    commanded = {"flipper_angle_command.front_right": Signal(TIMES, np.full_like(TIMES, 0.25))}
    pose = pose_at(LOGGED.with_signals(commanded), 8.0)
    assert (pose.x, pose.z, pose.pitch) == pytest.approx((0.8, 0.1, 0.2))
    assert pose.flippers == pytest.approx({"front_left": 0.5, "front_right": 0.25})
    assert pose_at(Motion("m", {"pitch": Signal(TIMES, TIMES)}), 1.0) is None


def over_time(error, u, phase="whole", quantity="pitch RMSE", verdict="within"):
    return replace(row(phase=phase, error=error, u=u, verdict=verdict), quantity=quantity, logged=None)


def test_bars_of_a_root_mean_square_end_at_zero_and_long_ones_are_cut_at_arrows():
    rows = [over_time(0.01, 0.02), over_time(0.02, 0.04, "pivot"), over_time(0.01, 3.0, "crest")]
    (axes, *_) = draw_errors(rows).axes
    bars = [collection.get_segments()[0][:, 1] for collection in axes.collections]
    reach = 3 * np.degrees(2 * 0.04)
    assert [low for low, _ in bars] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert [high for _, high in bars] == pytest.approx([*np.degrees([0.05, 0.10]), reach])
    arrows = [line for line in axes.lines if line.get_marker() in ("^", "v")]
    assert [(line.get_marker(), *line.get_ydata()) for line in arrows] == [("^", pytest.approx(reach))]
    assert axes.get_ylim()[1] < 1.2 * reach


def test_what_agrees_and_what_does_not_is_named(content):
    rows = (
        over_time(0.1, 0.02, verdict="beyond"),
        over_time(0.1, None, "crest", verdict="unknown"),
        over_time(0.01, 0.02, quantity="belt speed left RMSE"),
        row(),
        row("commanded", error=-0.1, verdict="beyond"),
    )
    said = replace(content, rows=rows)
    assert said.agreement == (
        "By measured belts agree: peak pitch; do not agree: pitch RMSE; imposed by the log, and not judged: "
        "belt speed left RMSE."
    )
    *_, table = report_tables(said)
    assert [list(column.cells) for column in table.columns] == [
        ["pitch RMSE", "belt speed left RMSE", "peak pitch"],
        ["beyond; unknown in crest", "within (imposed)", "within"],
        ["", "", "beyond"],
    ]


def test_a_robot_at_rest_is_one_point_of_its_path_whatever_its_noise():
    times = np.linspace(0.0, 20.0, 2000)
    place = np.minimum(times, 10.0)[:, None] * [0.1, 0.0, 0.0]
    place += np.random.default_rng(0).normal(0.0, 3e-4, place.shape)
    moved = Motion("m", {"position": Signal(times, place)})
    line = path_view(GROUND, moved, {}).lines["logged"]
    assert (line.times[-1], *line.points[-1]) == (times[-1], *place[-1])
    assert np.count_nonzero(line.times > 10.0) < 30 < np.count_nonzero(line.times < 10.0)
    assert abs(line.points[:, 0] - np.interp(line.times, times, place[:, 0])).max() == 0.0


def test_errors_are_filled_where_they_are_within_their_uncertainty():
    (axes, *_) = draw_errors(ROWS).axes
    marks = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert [float(mark.get_ydata()[0]) for mark in marks] == pytest.approx(
        [math.degrees(row.error) for row in ROWS]
    )
    assert [mark.get_markerfacecolor() == "none" for mark in marks] == [False, True, True]
    assert draw_errors(()) is None


@each_row(
    "changes, level, kind, reason",
    [
        ({}, 6, 6, "The log is of a physical robot, and none of those that the vehicle was fitted to."),
        (
            {"fitted_logs": None},
            6,
            6,
            "The log is of a physical robot, and the vehicle file knows of no fit to any log.",
        ),
        (
            {"fitted_logs": ("bb", "aa")},
            5,
            5,
            "The log is of a physical robot, and one of those that the vehicle was fitted to.",
        ),
        (
            {"changed": ("terrain",), "stated": ("a higher step",)},
            7,
            7,
            "Since the fit there was a change: a higher step. The files differ in: terrain.",
        ),
        (
            {"changed": ("terrain",)},
            6,
            6,
            "The files differ from those of the fit in: terrain; no change is stated.",
        ),
        (
            {"stated": ("a higher step",)},
            6,
            6,
            "A change is stated (a higher step), but the files are those of the fit.",
        ),
        (
            {"stated": ("a higher step",), "fitted_logs": None},
            6,
            6,
            "A change is stated (a higher step), but there is no fit that it could have been a change after.",
        ),
        (
            {"overwritten": ("friction 0.7, fitted 0.62",), "changed": ("terrain",), "stated": ("it",)},
            None,
            4,
            "Fitted parameters have other values in the vehicle file now (friction 0.7, fitted 0.62), of "
            "unknown origin.",
        ),
        (
            {"overwritten": ("friction 0.7, fitted 0.62",), "fitted_logs": ("aa",)},
            None,
            4,
            "The log is of a physical robot, and one of those that the vehicle was fitted to.",
        ),
        (
            {"physical": None},
            None,
            None,
            "The mapping does not say whether the log is of a physical robot (`recorded`).",
        ),
        (
            {"physical": False, "fitted_logs": ("aa",)},
            None,
            4,
            "The log was simulated, and its mapping does not say by what code.",
        ),
        (
            {"physical": False, "code": "Chrono 9", "changed": ("terrain",), "stated": ("a higher step",)},
            4,
            4,
            "The log was simulated, by Chrono 9: it tells how codes agree, not how a robot drives.",
        ),
        (
            {"physical": False, "code": "Segtrack 0.2, native"},
            None,
            4,
            "The log was simulated by segtrack itself: it is no other code that agrees.",
        ),
        ({"within": 2}, None, 6, "2 of 3 quantities of the whole drive agree within u_val."),
        (
            {"unjudged": 4},
            None,
            6,
            "3 of 3 quantities of the whole drive agree within u_val; that of 4 more is not known.",
        ),
        ({"judged": 0, "within": 0}, None, 6, "No quantity of the whole drive has a known uncertainty."),
        ({"cut": ("It broke down.",)}, None, 6, "It broke down."),
        (
            {"missing": ("time to crest (the log)",)},
            None,
            6,
            "Only one of log and simulation has: time to crest (the log).",
        ),
        (
            {"too_wide": ("peak pitch +- 0.1 rad of 0.3",)},
            None,
            6,
            "Uncertainties of inputs, clocks, bias, drift and belts' scale are too large to judge by, "
            "a tenth of a quantity is allowed: "
            "peak pitch +- 0.1 rad of 0.3.",
        ),
        (
            {"varied": (), "wrong_values": ()},
            None,
            6,
            "Nothing says what this log tests: no parameter of the vehicle is stated as uncertain.",
        ),
        (
            {"varied": ("com_x",), "wrong_values": UNSEEN},
            None,
            6,
            "Not tested by this log: com_x.",
        ),
        (
            {"varied": ("com_x",), "wrong_values": UNSEEN},
            None,
            6,
            "Tested by this log: no parameter of the vehicle.",
        ),
        (
            {"varied": ("friction", "com_x"), "wrong_values": SEEN + UNSEEN},
            6,
            6,
            "Not tested by this log: com_x.",
        ),
        (
            {"varied": ("friction", "com_x"), "wrong_values": SEEN + UNSEEN},
            6,
            6,
            "Tested by this log: friction.",
        ),
        (
            {"not_varied": ("mass", "drive_lag")},
            6,
            6,
            "Not stated as uncertain, so not tested either: mass, drive_lag.",
        ),
        (
            {
                "varied": ("com_x",),
                "wrong_values": UNSEEN,
                "elsewhere": (sought("drive_lag", 0.1, "s", 0.3, "commanded"),),
            },
            None,
            6,
            "The simulation by commanded belts, whose agreement is not judged here, would tell drive_lag.",
        ),
        (
            {"varied": ("com_x",), "wrong_values": UNSEEN},
            None,
            6,
            "Wrong values: com_x 0.01 m would be seen, in peak pitch; com_x 0.03 m would not be seen.",
        ),
        (
            {"other_model": ("engine bullet, then native",), "changed": ("terrain",), "stated": ("it",)},
            6,
            6,
            "The fit was of another model: engine bullet, then native.",
        ),
        (
            {"other_model": ("engine bullet, then native",), "fitted_logs": ("aa",)},
            None,
            4,
            "The fit was of another model: engine bullet, then native.",
        ),
    ],
)
def test_a_level_is_earned_by_evidence_and_says_why(changes, level, kind, reason):
    maturity = judge_maturity(replace(EVIDENCE, **changes))
    assert (maturity.level, maturity.kind) == (level, kind)
    assert reason in maturity.reasons


def test_no_statement_raises_a_level_alone():
    plain = judge_maturity(EVIDENCE)
    for physical in (None, False, True):
        for logs in (None, ("aa",), ("bb",)):
            evidence = replace(EVIDENCE, physical=physical, fitted_logs=logs)
            stated = replace(evidence, stated=("another payload",))
            assert judge_maturity(stated).level == judge_maturity(evidence).level
    assert plain.summary()["level"] == 6


def climbed(crest=True):
    """Phases with a time to crest, or without."""
    phases = (Phase("nose lift", 4.0, 6.0), Phase("crest", 6.0, 8.0))
    return Phases(phases if crest else phases[:1], {})


def evidence(
    recorded="physical robot",
    code=None,
    vehicle="packbot",
    text=GROUND_FILE,
    changed=(),
    run=None,
    rows=ROWS,
    simulated=LOGGED,
    diverged=None,
    crests=(True, True),
    model=("native", "compliant"),
    inputs=MappingProxyType({"friction": 0.1}),
):
    """Evidence by doubles of a mapped log, its replay and their comparison."""
    file = SimpleNamespace(recorded=recorded, code=code)
    mapped = SimpleNamespace(mapping=SimpleNamespace(file=file), log=SimpleNamespace(sha256="aa" * 32))
    description = load_vehicle(vehicle) if isinstance(vehicle, str) else vehicle
    engine, track_model = model
    terrain = parse_terrain(text, "ground")
    scene = SimpleNamespace(vehicle=description, terrain=terrain, engine=engine, track_model=track_model)
    replayed = SimpleNamespace(
        scene=scene,
        logged=LOGGED,
        commanded=simulated,
        measured=None if run == "commanded" else simulated,
        diverged=diverged or {},
    )
    sampled = SampledMotion(LOGGED, TIMES)
    logged_phases, simulated_phases = map(climbed, crests)
    runs = {
        name: RunComparison(
            name,
            sampled,
            sampled,
            logged_phases,
            simulated_phases,
            tuple(each for each in rows if each.run == name),
            {},
            (),
            (),
        )
        for name in ("commanded", "measured")
    }
    comparison = SimpleNamespace(runs=runs, inputs=inputs)
    return evidence_of(mapped, replayed, comparison, changed)


def fitted(log="bb" * 32, terrain_text=GROUND_FILE, name="packbot", **others):
    """A vehicle with a calibration that has its own values."""
    vehicle = load_vehicle(name)
    now = values_of(vehicle)
    sha256 = parse_terrain(terrain_text, "ground").sha256
    calibration = Calibration(
        date="2026-01-01",
        version="0.1.0",
        vehicle="packbot.yaml",
        vehicle_sha256="00" * 32,
        engine="native",
        track_model="compliant",
        parameters={
            "friction": FittedParameter(value=now["friction"], unit="-", std=0.01, interval=(0.0, 1.0))
        },
        others={name: value for name, value in now.items() if name != "friction"} | others,
        unfitted_sha256=unfitted_hash(vehicle, {"friction": now["friction"]}),
        logs={"one": FittedLog(file="one", sha256=log, terrain_sha256=sha256, score=1, score_before=2)},
    )
    return vehicle.model_copy(update={"calibration": calibration})


def test_evidence_is_what_the_files_say():
    assert evidence().fitted_logs is None
    assert evidence(recorded=None).physical is None
    simulated = evidence("simulation", "Chrono 9")
    assert (simulated.physical, simulated.code) == (False, "Chrono 9")
    own = evidence(vehicle=fitted("aa" * 32))
    assert (own.fitted_logs, own.changed, own.overwritten) == (("aa" * 32,), (), ())
    assert judge_maturity(own).level == 5


def test_each_wrong_value_is_told_by_the_error_that_it_changes_most_over_what_is_needed():
    """Of values that no error tells the report says so; one whose simulation failed is not seen."""
    blunt = [WrongValue("friction", 0.3, "-", 0.01, 0.04), WrongValue("friction", 0.9, "-", None, 0.04)]
    sharp = [WrongValue("friction", 0.3, "-", 0.06, 0.04), WrongValue("friction", 0.9, "-", 0.01, 0.04)]
    rows = (
        replace(row(), wrong_values=tuple(blunt)),
        replace(row(), quantity="slip", wrong_values=tuple(sharp)),
    )
    found = evidence(rows=rows)
    assert [(each.wrong.value, each.quantity, each.wrong.is_seen) for each in found.wrong_values] == [
        (0.3, "slip", True),
        (0.9, "slip", False),
    ]
    assert (found.tested, found.not_tested) == ((), ("friction",))
    other = replace(row(error=0.1, verdict="beyond"), quantity="slip", wrong_values=tuple(sharp))
    apart = evidence(rows=(replace(rows[0]), other))
    assert [(each.quantity, each.wrong.is_seen) for each in apart.wrong_values] == [
        ("peak pitch", False),
        ("peak pitch", False),
    ], "what disagrees tests nothing"
    lone = evidence(rows=(other,))
    assert (lone.wrong_values, lone.not_tested) == ((), ("friction",))
    assert "Wrong values: nothing agrees that would show any." in judge_maturity(lone).reasons
    assert "mass" in found.not_varied and "friction" not in found.not_varied
    assert evidence(rows=(replace(row(), wrong_values=(sharp[0],)),)).tested == ("friction",)


def test_another_terrain_or_mass_is_a_change_and_another_fitted_value_undoes_the_fit():
    assert evidence(vehicle=fitted(terrain_text="friction: 0.9")).changed == ("terrain ground",)
    heavier = with_parameters(fitted(), {"mass": 30.0})
    mass = values_of(load_vehicle("packbot"))["mass"]
    assert f"mass 30, then {mass:.4g}" in evidence(vehicle=heavier).changed
    slippery = with_parameters(fitted(), {"friction": 0.3})
    (said,) = evidence(vehicle=slippery).overwritten
    assert said.startswith("friction 0.3, fitted ")
    assert judge_maturity(evidence(vehicle=heavier, changed=("payload",))).level == 7
    assert judge_maturity(evidence(vehicle=slippery, changed=("payload",))).level is None


def test_a_change_that_no_parameter_names_is_one():
    vehicle = fitted(name="quince")
    assert evidence(vehicle=vehicle).changed == ()
    other = vehicle.model_copy(update={"name": "other", "source": "another text"})
    assert evidence(vehicle=other).changed == ()
    track = vehicle.tracks["left"]
    drive = track.drive.model_copy(update={"max_force": 2 * track.drive.max_force})
    tracks = vehicle.tracks | {"left": track.model_copy(update={"drive": drive})}
    said = ("the vehicle's description, in what no parameter names",)
    assert evidence(vehicle=vehicle.model_copy(update={"tracks": tracks})).changed == said
    flippers = {
        name: flipper.model_copy(update={"mass": 3 * flipper.mass})
        for name, flipper in vehicle.flippers.items()
    }
    (stiffer,) = evidence(vehicle=vehicle.model_copy(update={"flippers": flippers})).changed
    assert stiffer.startswith("contact_stiffness ")  # Which follows the weight unless it is given.


def test_another_engine_or_track_model_is_another_model():
    found = evidence(vehicle=fitted(), model=("bullet", "segmented"))
    assert found.other_model == ("engine bullet, then native", "track model segmented, then compliant")
    assert evidence(vehicle=fitted()).other_model == ()


def test_a_simulation_that_broke_down_or_ends_early_earns_no_level():
    assert evidence().cut == ()
    broken = evidence(diverged={"measured": "chassis left what is possible"})
    assert broken.cut == ("The simulation by measured belts broke down: chassis left what is possible.",)
    short = evidence(simulated=motion("s", times=TIMES[:49]))
    assert short.cut == ("The simulation by measured belts ends at 4.8 s, the log at 10 s.",)
    assert judge_maturity(broken).level is judge_maturity(short).level is None
    assert evidence(diverged={"commanded": "broke down"}).cut == ()


@pytest.mark.parametrize(
    ("crests", "missing"),
    [
        ((True, True), ()),
        ((False, False), ()),
        ((True, False), ("time to crest (the log)",)),
        ((False, True), ("time to crest (the simulation)",)),
    ],
)
def test_a_crest_that_only_one_of_log_and_simulation_reaches_is_missing(crests, missing):
    found = evidence(crests=crests)
    assert found.missing == missing
    assert judge_maturity(found).level == (None if missing else 6)


def test_an_option_cannot_make_errors_agree_by_large_uncertainties():
    assert evidence(rows=(row(u=0.03),)).too_wide == ()
    wide = evidence(rows=(row(error=0.15, u=0.1),))
    assert wide.too_wide == ("peak pitch +- 0.08 rad of 0.3",)
    assert judge_maturity(wide).level is None


def test_measured_belts_decide_where_they_were_logged():
    assert (evidence().judged, evidence().within) == (1, 1)
    assert (evidence(run="commanded").judged, evidence(run="commanded").within) == (1, 0)


def test_a_code_is_of_a_simulation():
    text = "recorded: physical robot\ncode: Chrono 9\nquantities: {pitch: {channel: p, positive: nose up}}"
    with pytest.raises(MappingFileError) as error:
        parse_mapping(text, "m.yaml")
    assert str(error.value) == "m.yaml:2: code must be left out unless recorded is simulation"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "quantities: {pitch: {channel: p_rad, positive: nose up}}",
            "vehicle must be given by --vehicle or the mapping",
        ),
        (
            "vehicle: packbot\nquantities: {pitch: {channel: p_rad, positive: nose up}}",
            "terrain must be given by --terrain or the mapping",
        ),
    ],
)
def test_what_neither_option_nor_mapping_gives_is_asked_for(tmp_path, given, message):
    pytest.importorskip("jinja2", reason="of the extra logs")
    (tmp_path / "m.yaml").write_text(given)
    (tmp_path / "log.csv").write_text("time_s,p_rad\n" + "".join(f"{i / 10},0.0\n" for i in range(9)))
    done = CliRunner().invoke(
        app, ["log", "report", str(tmp_path / "log.csv"), "--mapping", str(tmp_path / "m.yaml")]
    )
    assert done.exit_code == 2
    assert done.stderr == f"segtrack: {message}, got none\n"
