"""A twist that is met: yaw rates over what a vehicle gets of that of belts which never slip sideways."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from quick import some_of
from typer.testing import CliRunner

import segtrack
from segtrack import terrain
from segtrack.cli.app import app
from segtrack.description import VehicleDescription, find_vehicle, load_vehicle
from segtrack.description.load import parse_vehicle
from segtrack.errors import VehicleFileError
from segtrack.experiments.steering import Rig, turn_on_the_spot

UP = 1.0
GAUGE = 0.445
"""Of PackBot [m]."""


def with_measured_efficiency(name: str, flippers: dict[str, float], track_model: str) -> VehicleDescription:
    vehicle = load_vehicle(name)
    measured = turn_on_the_spot(Rig(vehicle, flippers, track_model)).over_no_slip
    return vehicle.model_copy(update={"steering_efficiency": measured})


def yaw_rate(
    vehicle: VehicleDescription,
    flippers: dict[str, float],
    engine: str,
    track_model: str,
    linear: float,
    angular: float,
    friction: float = 1.0,
) -> float:
    """Mean yaw rate over 1.5 s of a twist on the flat, after 1 s [rad/s]."""
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane(friction=friction))
        robot = world.add_vehicle(vehicle, track_model=track_model, flippers=flippers)
        robot.drive(linear, angular)
        world.run(1.0)
        before = robot.state.yaw
        world.run(1.5)
        return math.remainder(robot.state.yaw - before, 2 * math.pi) / 1.5


@pytest.fixture(scope="module")
def packbot() -> VehicleDescription:
    return with_measured_efficiency("packbot", {}, "compliant")


@pytest.mark.parametrize("linear", [0.0, 0.2, -0.4])
@pytest.mark.parametrize("angular", [0.2, -0.8])
def test_a_twist_is_met_with_the_measured_efficiency(
    packbot: VehicleDescription, linear: float, angular: float
) -> None:
    assert 0.7 < packbot.steering_efficiency < 0.8
    assert yaw_rate(packbot, {}, "native", "compliant", linear, angular) == pytest.approx(angular, rel=0.05)
    untold = packbot.model_copy(update={"steering_efficiency": 1.0})
    assert abs(yaw_rate(untold, {}, "native", "compliant", linear, angular)) < 0.85 * abs(angular)


def test_efficiency_does_not_depend_on_how_slippery_the_ground_is(packbot: VehicleDescription) -> None:
    rate = yaw_rate(packbot, {}, "native", "compliant", 0.1, 0.4, friction=0.5)
    assert rate == pytest.approx(0.4, rel=0.05)


def test_efficiency_is_of_one_pose_of_the_flippers() -> None:
    """Quince's front and rear pulleys carry all, flippers up; flat, flippers make it twice as long."""
    up = dict.fromkeys(load_vehicle("quince").flippers, UP)
    quince = with_measured_efficiency("quince", up, "compliant")
    assert yaw_rate(quince, up, "native", "compliant", 0.1, 0.2) == pytest.approx(0.2, rel=0.05)
    assert yaw_rate(quince, {}, "native", "compliant", 0.1, 0.2) < 0.6 * 0.2


@pytest.mark.parametrize("linear", [0.0, 0.2, -0.4])
def test_a_twist_is_met_by_segments_with_what_was_measured_natively(
    packbot: VehicleDescription, linear: float
) -> None:
    assert yaw_rate(packbot, {}, "pybullet", "segments", linear, 0.4) == pytest.approx(0.4, rel=0.05)


def test_a_twist_is_met_in_pybullet_with_what_was_measured_natively(packbot: VehicleDescription) -> None:
    assert yaw_rate(packbot, {}, "pybullet", "compliant", 0.1, 0.4) == pytest.approx(0.4, rel=0.05)


@pytest.mark.parametrize("efficiency", [1.0, 0.5])
def test_belts_differ_by_the_yaw_rate_over_the_efficiency(efficiency: float) -> None:
    vehicle = load_vehicle("packbot").model_copy(update={"steering_efficiency": efficiency})
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle)
        robot.drive(0.3, 0.4)
        left, right = (robot.tracks[side].command for side in ("left", "right"))
    assert (left + right) / 2 == pytest.approx(0.3)
    assert right - left == pytest.approx(0.4 * GAUGE / efficiency)


STEERED = {"quince": UP} | dict.fromkeys(
    (
        "bulldozer",
        "example_rover",
        "lugged_wheel",
        "maxxii",
        "packbot",
        "tapered",
        "trapezoidal",
        "triangular",
    ),
    0.0,
)
"""Bundled vehicles that turn, and the pose of flippers for which their files' values hold [rad]."""


@pytest.mark.parametrize("name", some_of(STEERED, "quince"))
def test_bundled_vehicles_turn_as_fast_as_asked(name: str) -> None:
    vehicle = load_vehicle(name)
    flippers = dict.fromkeys(vehicle.flippers, STEERED[name])
    assert 0 < vehicle.steering_efficiency < 1
    rate = yaw_rate(vehicle, flippers, "native", "compliant", 0.1, 0.2)
    assert rate == pytest.approx(0.2, rel=0.05)


def test_files_say_which_command_measured_them() -> None:
    for name in STEERED:
        text = find_vehicle(name).read_text(encoding="utf-8")
        assert f"# segtrack reproduce turning --vehicle {name} --track-model compliant" in text


@pytest.mark.parametrize("given", [0, -0.5, 1.1, "much"])
def test_an_efficiency_that_is_no_ratio_is_refused(given: object) -> None:
    content = yaml.safe_load(find_vehicle("packbot").read_text(encoding="utf-8"))
    with pytest.raises(VehicleFileError, match="steering_efficiency must be"):
        parse_vehicle(content | {"steering_efficiency": given})


def test_reproduce_turning_prints_what_to_put_into_a_vehicle_file(tmp_path: Path) -> None:
    content = yaml.safe_load(find_vehicle("packbot").read_text(encoding="utf-8"))
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(content | {"name": "mine"}), encoding="utf-8")
    asked = ["reproduce", "turning", "--vehicle", str(file), "--track-model", "compliant"]
    done = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    (line,) = [line for line in done.stderr.splitlines() if "steering_efficiency" in line]
    how, _, value = line.partition(": ")
    assert how == "mine, compliant, belts at 0.2 m/s"
    told = yaml.safe_load(value)
    assert 0.7 < parse_vehicle(content | told).steering_efficiency < 0.8
