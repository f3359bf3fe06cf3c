"""Tables of steady turns: read by a mapping, simulated, compared and fitted."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tables import each_row
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.description import load_vehicle
from segtrack.errors import SegtrackError
from segtrack.experiments import drive_turns, uniform_turns
from segtrack.files import to_json
from segtrack.logs.fit import UNIFORM, Choice, SteadyCase, compare_turns, fit, simulate_table, with_parameters
from segtrack.logs.mapping import SteadyTable
from segtrack.report.logs import draw_turns, turns_table
from segtrack.reproduce.maxxii import recorded_turns
from segtrack.robot import Motion, Signal

MAXXII = load_vehicle("maxxii")
BELTS = np.array([[-0.2, 0.2], [0.1, 0.3], [0.3, -0.1], [0.2, 0.2]])
SLIPS = dict.fromkeys(("slip_velocity.left", "slip_velocity.right"), 0.01)


def table_of(vehicle=MAXXII, belts: np.ndarray = BELTS) -> SteadyTable:
    """Turns under uniform pressure."""
    return simulate_table(
        vehicle, SteadyTable("t", belts, {"yaw_rate": belts[:, 0].copy()}), UNIFORM, workers=1
    )


def test_a_table_has_its_rows_from_a_motion_over_numbers_of_rows() -> None:
    rows = np.arange(4.0)
    signals = {f"belt_speed.{side}": Signal(rows, BELTS[:, i]) for i, side in enumerate(("left", "right"))}
    signals["yaw_rate"] = Signal(rows, rows, 0.02)
    table = SteadyTable.of(Motion("log", signals))
    assert table.belts == pytest.approx(BELTS) and table.std == {"yaw_rate": 0.02}
    assert table.yaw_rate(0.5) == pytest.approx(rows)
    again = pickle.loads(pickle.dumps(table))
    assert again.responses["yaw_rate"] == pytest.approx(rows)


def test_yaw_rates_follow_from_the_slip_of_both_sides() -> None:
    table = SteadyTable("t", BELTS, {key: np.full(4, 0.02 * i) for i, key in enumerate(SLIPS)})
    assert table.yaw_rate(0.5) == pytest.approx((BELTS[:, 1] - 0.02 - BELTS[:, 0]) / 0.5)
    assert table.turning.tolist() == [True, True, True, False]
    assert table.radius_over_gauge() == pytest.approx([0.0, 1.0, 0.25, np.inf])


def test_halves_have_all_rows_once_and_are_the_same_for_a_seed() -> None:
    turns = recorded_turns()
    kept, out = turns.halves(0.5, seed=1)
    assert (len(kept), len(out)) == (135, 135)
    both = np.concatenate([kept.belts, out.belts])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, turns.belts.tolist()))
    assert (turns.halves(0.5, seed=1)[0].belts == kept.belts).all()
    assert (turns.halves(0.5, seed=2)[0].belts != kept.belts).any()


def test_isotropic_friction_turns_no_vehicle_faster_or_slower_whatever_its_size() -> None:
    """Friction has the direction of slip and no speed: it drops out of the balance of forces."""
    slippery, grippy = (with_parameters(MAXXII, {"friction": value}) for value in (0.2, 1.1))
    rates = [uniform_turns(vehicle, BELTS).yaw_rate for vehicle in (slippery, grippy)]
    assert rates[0] == pytest.approx(rates[1], rel=1e-6, abs=1e-9)
    easier = with_parameters(MAXXII, {"lateral_friction": 0.3})
    assert uniform_turns(easier, BELTS).yaw_rate[0] > 1.1 * rates[0][0]


@pytest.mark.slow
def test_nor_does_it_where_belts_are_compliant() -> None:
    vehicles = [with_parameters(MAXXII, {"friction": value}) for value in (0.2, 1.1)]
    slippery, grippy = (drive_turns(vehicle, BELTS[1:2], "compliant").yaw_rate for vehicle in vehicles)
    assert slippery == pytest.approx(grippy, rel=0.01)


def test_driven_tracks_move_as_under_uniform_pressure() -> None:
    driven, uniform = drive_turns(MAXXII, BELTS[1:2], "compliant"), uniform_turns(MAXXII, BELTS[1:2])
    assert driven.tracks == pytest.approx(uniform.tracks, abs=0.005)
    straight = drive_turns(MAXXII, BELTS[3:], "compliant")
    assert straight.tracks == pytest.approx(BELTS[3:], abs=1e-3) and abs(straight.yaw_rate[0]) < 1e-6


def test_a_known_difference_is_what_a_comparison_says() -> None:
    simulated = table_of()
    shifted = {key: values - 0.01 for key, values in simulated.responses.items() if key in SLIPS}
    found = compare_turns(SteadyTable("m", BELTS, shifted), simulated, MAXXII)
    every = found.groups[0]
    assert len(every.rows) == 4 and [len(group.rows) for group in found.groups[1:4]] == [1, 1, 1]
    assert sorted(np.concatenate([group.rows for group in found.groups[4:]]).tolist()) == [0, 1, 2, 3]
    for key in SLIPS:
        assert every.rmse[key] == pytest.approx(0.01)
        spread = every.difference[key]
        assert (spread.low, spread.median, spread.high, *spread.interval) == pytest.approx([0.01] * 5)
    assert every.ratio is not None and every.ratio.median == pytest.approx(1.0)
    assert every.measured_ratio is not None and every.measured_ratio.median == pytest.approx(0.757, abs=2e-3)
    to_json(found.summary())
    console = Console(file=io.StringIO(), width=120)
    console.print(turns_table(found))
    assert "+10.0 (10.0), +10.0 (10.0)" in console.file.getvalue()  # type: ignore[attr-defined]
    assert [axes.get_xlabel() for axes in draw_turns([found]).axes][:1] == [
        "measured slip_velocity.left [m/s]"
    ]


@pytest.mark.slow
def test_friction_is_not_identifiable_from_steady_turns_and_contact_length_is() -> None:
    pytest.importorskip("cmaes", reason="of an extra")
    noise = np.random.default_rng(1)
    made = table_of(with_parameters(MAXXII, {"contact_length": 0.6}), BELTS[:2])
    slips = {key: made.responses[key] + noise.normal(0, 1e-4, 2) for key in SLIPS}
    case = SteadyCase("t", SteadyTable("t", BELTS[:2], slips), dict.fromkeys(SLIPS, 1e-4), UNIFORM)
    (friction,) = fit(MAXXII, [case], {"friction": Choice()}).estimates
    assert friction.status == "not identifiable"
    assert friction.interval == pytest.approx((0.1, 1.5))
    (length,) = fit(MAXXII, [case], {"contact_length": Choice((0.5, 0.8))}).estimates
    assert length.status == "identified" and length.value == pytest.approx(0.6, abs=0.01)


@pytest.mark.slow
def test_length_and_both_frictions_are_determined_by_one_combination_alone() -> None:
    pytest.importorskip("cmaes", reason="of an extra")
    made = table_of(with_parameters(MAXXII, {"contact_length": 0.6}))
    case = SteadyCase("t", made, dict.fromkeys(SLIPS, 0.001), UNIFORM)
    names = ("contact_length", "friction", "lateral_friction")
    found = fit(MAXXII, [case], {name: Choice() for name in names})
    assert all(estimate.status != "identified" for estimate in found.estimates)
    assert found.undetermined and found.determined


@pytest.mark.slow
def test_the_commands_print_and_write_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["log", "turns", "--track-model", UNIFORM, "--json"])
    assert done.exit_code == 0, done.stderr
    (comparison,) = json.loads(done.stdout)["comparisons"]
    ratio = comparison["groups"][0]["measured_over_simulated"]
    assert ratio["median"] == pytest.approx(1.11, abs=0.01)
    folder = tmp_path / "out" / "turns-maxxii"
    assert sorted(path.name for path in folder.iterdir()) == ["turns.json", "turns.png"]


REFUSED = [
    (
        lambda: SteadyTable("t", BELTS[:0], {}),
        "belts of t must be of left and right, a row or more, got a shape of (0, 2)",
    ),
    (lambda: SteadyTable("t", BELTS, {}), "responses of t must be one or more, got none"),
    (
        lambda: SteadyTable("t", BELTS, {"pitch": BELTS[:, 0]}),
        "no response 'pitch'; there are: slip_velocity.left, slip_velocity.right, yaw_rate",
    ),
    (
        lambda: SteadyTable("t", BELTS, {"yaw_rate": np.zeros(3)}),
        "yaw_rate of t must be 4 finite numbers, got others",
    ),
    (
        lambda: recorded_turns().halves(0.001, 1),
        "hold_out of maxxii_indoor.csv must be a share that leaves rows of 270 on both sides, got 0.001",
    ),
    (lambda: SteadyCase("c", recorded_turns(), {}), "signals of c must be one or more, got none"),
    (
        lambda: SteadyCase("c", recorded_turns(), {"yaw_rate": 0.1}),
        "no response of c 'yaw_rate'; there are: slip_velocity.left, slip_velocity.right",
    ),
    (
        lambda: SteadyCase("c", table_of(), {"yaw_rate": None}),
        "standard deviation of yaw_rate of c must be given, above 0, got none",
    ),
    (
        lambda: SteadyTable.of(Motion("m", {"yaw_rate": Signal(np.arange(2.0), np.zeros(2))})),
        "no signal of m 'belt_speed.left'; there are: yaw_rate",
    ),
    (
        lambda: compare_turns(recorded_turns(), table_of(), MAXXII),
        "simulated turns must be those of the measured belts, got others",
    ),
]


@each_row("make, message", REFUSED)
def test_tables_that_are_none_are_refused(make, message: str) -> None:
    with pytest.raises(SegtrackError) as error:
        make()
    assert str(error.value) == message
