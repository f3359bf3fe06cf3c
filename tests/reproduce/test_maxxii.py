"""MAXXII's recorded turns: their statistics and reading, the vehicle of the file, and a short run."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import segtrack
from segtrack.cli.app import app
from segtrack.description import place_tracks
from segtrack.errors import SegtrackError
from segtrack.experiments import with_contact_length
from segtrack.files import to_json
from segtrack.logs.mapping import SteadyTable
from segtrack.reproduce.maxxii import (
    FEW,
    LENGTHS,
    SimulatedTurns,
    chosen_rows,
    draw_maxxii,
    maxxii_table,
    part_count,
    recorded_turns,
    run_maxxii,
)
from segtrack.reproduce.turning import uniform_pressure_turning_rate

GAUGE = 0.606
"""Distance between the tracks' middles, as published [m]."""
UNIFORM = 0.7565
"""Yaw rate over that without slip of uniform pressure on 0.7 m x 0.15 m at 0.606 m."""


def tracks_of(turns: SteadyTable) -> np.ndarray:
    slips = [turns.responses[f"slip_velocity.{side}"] for side in ("left", "right")]
    return turns.belts - np.stack(slips, axis=1)


def test_recorded_turns_are_read_as_the_readme_says() -> None:
    turns = recorded_turns()
    tracks = tracks_of(turns)
    assert turns.belts.shape == tracks.shape == (270, 2)
    assert np.abs(turns.belts).max() == pytest.approx(160 / 34.45 * 0.0856)
    # The first line of the file: -10, -160, 0.037475, -0.028885.
    assert turns.belts[0] == pytest.approx([-0.024848, -0.397562], abs=1e-6)
    assert tracks[0] == pytest.approx([-0.062323, -0.368677], abs=1e-6)
    assert turns.yaw_rate(GAUGE)[0] == pytest.approx((-0.368677 + 0.062323) / GAUGE, abs=1e-5)


def test_recorded_turns_have_the_known_median_and_quartiles() -> None:
    turns = recorded_turns()
    ratio = turns.yaw_rate(GAUGE)[turns.turning] / turns.no_slip_rate(GAUGE)[turns.turning]
    assert len(ratio) == 262
    assert np.percentile(ratio, [25, 50, 75]) == pytest.approx([0.78, 0.84, 0.88], abs=0.005)


def test_with_the_other_sign_of_slip_belts_would_drive_the_vehicle_faster_than_without_slip() -> None:
    turns = recorded_turns()
    other = 2 * turns.belts - tracks_of(turns)
    rate = (other[:, 1] - other[:, 0])[turns.turning] / GAUGE
    assert np.median(rate / turns.no_slip_rate(GAUGE)[turns.turning]) == pytest.approx(1.16, abs=0.005)


def test_the_vehicle_has_the_published_mass_gauge_and_inertia() -> None:
    with segtrack.World(engine="pybullet") as world:
        robot = world.add_vehicle("maxxii")
        bodies, body = robot.model.bodies(), world.client.getDynamicsInfo(robot.model.body_id, -1)
        assert robot.mass == pytest.approx(61.05)
        assert bodies.masses @ bodies.positions[:, :2] == pytest.approx([0.0, 0.0], abs=1e-9)
        assert body[0] < 61.05
    vehicle = segtrack.load_vehicle("maxxii")
    left, right = vehicle.mounted_tracks()
    assert left.y - right.y == pytest.approx(GAUGE)
    assert vehicle.body.mass is not None and vehicle.body.size is not None
    length, width, _ = vehicle.body.size
    box = vehicle.body.mass * (length**2 + width**2) / 12
    belts = 2 * left.spec.belt.mass * (left.y**2 + left.spec.belt_path.perimeter**2 / 40)
    assert box + belts == pytest.approx(4.5, rel=0.05)


@pytest.mark.parametrize("length", LENGTHS)
def test_contact_length_is_that_of_the_ground_line(length: float) -> None:
    vehicle = with_contact_length(segtrack.load_vehicle("maxxii"), length)
    for track in place_tracks(vehicle, {}):
        path = track.mounted.spec.belt_path
        assert path.segments[path.ground].length == pytest.approx(length)
        assert track.mounted.spec.pitch == pytest.approx(0.0485, abs=5e-4)


def test_turns_are_chosen_evenly() -> None:
    assert len(chosen_rows("compliant", None)) == 270
    assert len(chosen_rows("segments", None)) == FEW
    assert chosen_rows("chain", 3).tolist() == [45, 135, 225]
    assert part_count(("compliant", "chain"), None) == 3 * 27 + 27
    assert part_count(("segments",), 2) == 2


@pytest.mark.parametrize("rows", [0, 271])
def test_more_turns_than_there_are_cannot_be_driven(rows: int) -> None:
    with pytest.raises(SegtrackError) as caught:
        run_maxxii(("compliant",), rows=rows)
    assert str(caught.value) == f"rows must be 1 to 270, got {rows}"


@pytest.mark.slow
def test_compliant_belts_drive_as_uniform_pressure_whatever_the_turn() -> None:
    """A speed that both belts have in common only carries the vehicle along."""
    results = {
        (result.model, result.length): result for result in run_maxxii(("compliant",), rows=4, workers=1)
    }
    assert [model for model, _ in results] == ["uniform pressure"] * 3 + ["compliant"] * 3
    thin = uniform_pressure_turning_rate(1.0, GAUGE, 0.7) * GAUGE / 2
    assert results["uniform pressure", 0.7].over_no_slip == pytest.approx(np.full(4, UNIFORM), abs=1e-3)
    assert thin > UNIFORM
    medians = []
    for length in LENGTHS:
        uniform, simulated = results["uniform pressure", length], results["compliant", length]
        assert simulated.over_no_slip == pytest.approx(uniform.over_no_slip, abs=0.03)
        assert simulated.measured_over_no_slip == pytest.approx(uniform.measured_over_no_slip)
        medians.append(np.median(simulated.measured_over_simulated))
        assert simulated.real_time_factor is not None
    assert medians == sorted(medians)


@pytest.mark.slow
def test_who_drives_a_turn_does_not_matter() -> None:
    """Each turn starts anew: with others before it, it ends as on its own."""
    (*_, all_three), (*_, middle) = (run_maxxii(("segments",), rows=rows, workers=1) for rows in (3, 1))
    assert all_three.rows[1] == middle.rows[0]
    assert all_three.yaw_rate[1] == middle.yaw_rate[0]


def made_up(model: str, length: float, factor: float | None) -> SimulatedTurns:
    rows = chosen_rows("compliant", 9)
    rates = 0.7 * recorded_turns().no_slip_rate(GAUGE)[rows]
    return SimulatedTurns(model, length, rows, rates, factor)


def test_turns_are_told_as_table_json_and_picture() -> None:
    results = [made_up("uniform pressure", length, None) for length in LENGTHS] + [made_up("chain", 0.7, 2.0)]
    summary = results[-1].summary()
    to_json({"models": [summary]})
    assert summary["simulated_over_no_slip"] == pytest.approx([0.7] * 3)
    assert summary["turns"] == 9
    console = Console(file=io.StringIO(), width=80)
    console.print(maxxii_table(results))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("uniform pressure", "0.6", "chain", "0.70", "2.0"):
        assert part in shown
    assert [axes.get_ylabel() for axes in draw_maxxii(results).axes] == [
        "simulated yaw rate / without slip [-]",
        "fraction of turns below [-]",
    ]


@pytest.mark.slow
def test_the_command_writes_table_and_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "maxxii", "--track-model", "compliant", "--rows", "2", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    models = json.loads(done.stdout)["models"]
    uniform, compliant = models[: len(LENGTHS)], models[len(LENGTHS) :]
    assert [result["contact_length"] for result in uniform] == list(LENGTHS)
    assert {(result["model"], result["turns"]) for result in compliant} == {("compliant", 2)}
    assert all(math.isfinite(rate) for result in compliant for rate in result["yaw_rate"])
    folder = tmp_path / "out" / "maxxii"
    assert sorted(path.name for path in folder.iterdir()) == ["maxxii.json", "maxxii.png"]
