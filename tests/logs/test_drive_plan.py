"""Planned drives: what they would tell is what closed forms say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import UnknownNameError
from segtrack.experiments import with_drive_lag, with_friction
from segtrack.logs.compare import DrivePlan, PlannedDrive, drive_planned, plan_drives
from segtrack.logs.mapping import parse_terrain

GRAVITY, SPEED = 9.81, 0.5
BRAKE = PlannedDrive("brake", "", parse_terrain("friction: 1.0", "level"), (SPEED, SPEED), 1.0)
TURN = PlannedDrive("turn", "", parse_terrain("friction: 1.0", "level"), (-0.2, 0.2), 5.0)


def packbot(friction: float = 0.2) -> VehicleDescription:
    return with_drive_lag(with_friction(load_vehicle("packbot"), friction), 0.0)


def test_a_brake_slides_as_far_as_friction_says() -> None:
    """Belts that stop at once leave v^2 / (2 mu g)."""
    for friction in (0.1, 0.2):
        motion = drive_planned(packbot(friction), BRAKE, packbot())
        stop = float(motion.signals["belt_speed_command.left"].times[0]) + 0.5 + BRAKE.duration
        position = motion.signals["position"]
        way = float(position.values[-1, 0] - position.at(stop)[0])
        assert way == pytest.approx(SPEED**2 / (2 * friction * GRAVITY), rel=0.05)


def test_a_brake_tells_friction_and_a_turn_the_width_and_neither_tells_the_other() -> None:
    stds = {"friction": 0.05, "track_separation": 0.01}
    plan = plan_drives(packbot(), stds, drives=(BRAKE, TURN))
    assert {name: drive.name for name in stds if (drive := plan.best(name))} == {
        "friction": "brake",
        "track_separation": "turn",
    }
    width = plan.ratio("brake", "track_separation")
    assert width is not None and width < 1e-6
    halves = [test.value for test in plan.of("turn", "friction")]
    assert halves == pytest.approx([0.1, 0.3])


def test_what_a_log_told_is_not_simulated_again_and_noise_hides_in_proportion() -> None:
    stds = {"friction": 0.05, "mass": 1.0}
    plan = plan_drives(packbot(), stds, drives=(BRAKE,), told=("mass",))
    assert {test.parameter for test in plan.tests} == {"friction"}
    noise = {name: 10 * std for name, std in plan.noise.items()}
    blunt = plan_drives(packbot(), {"friction": 0.05}, drives=(BRAKE,), noise=noise)
    assert np.isfinite(ratio_of(plan)) and ratio_of(blunt) < 0.2 * ratio_of(plan)


def ratio_of(plan: DrivePlan) -> float:
    ratio = plan.ratio("brake", "friction")
    assert ratio is not None
    return ratio


@pytest.mark.parametrize(
    ("stds", "noise", "message"),
    [
        ({"frictoin": 0.1}, None, "no parameter of packbot 'frictoin'; there are:"),
        ({"friction": 0.1}, {"slip": 0.1}, "no noise of a log 'slip'; there are:"),
    ],
)
def test_unknown_names_are_refused(
    stds: dict[str, float], noise: dict[str, float] | None, message: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        plan_drives(packbot(), stds, noise=noise, drives=(BRAKE,))
    assert str(caught.value).startswith(message)


def test_reports_on_another_vehicle_and_files_that_are_none_are_refused(tmp_path: Path) -> None:
    told = {"vehicle": "quince", "maturity": {"tested": ["friction"]}}
    for content, said in (
        (json.dumps(told), "REPORTS must be on logs of packbot, got {file}, on quince"),
        ("{}", "REPORTS must be report.json of `segtrack log report`, of this version, got {file}"),
    ):
        file = tmp_path / "report.json"
        file.write_text(content)
        done = CliRunner().invoke(app, ["log", "plan", "packbot", str(file), "--out", str(tmp_path / "o")])
        assert (done.exit_code, done.stderr) == (2, f"segtrack: {said.format(file=file)}\n")
