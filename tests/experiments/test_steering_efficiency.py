"""A twist that is met: yaw rates over what a vehicle gets of that of belts which never slip sideways."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import segtrack
from segtrack import terrain
from segtrack.cli.app import app
from segtrack.description import (
    SteeringByLoads,
    VehicleDescription,
    bundled_vehicles,
    find_vehicle,
    load_vehicle,
    parse_vehicle,
)
from segtrack.errors import VehicleFileError

UP = 1.0
GAUGE = 0.445
"""Of PackBot [m]."""


def yaw_rate(
    vehicle: VehicleDescription,
    flippers: dict[str, float],
    engine: str,
    track_model: str,
    linear: float,
    angular: float,
    friction: float = 1.0,
    step: float | None = None,
) -> float:
    """Mean yaw rate over 1.5 s of a twist on the flat, after 1 s [rad/s]."""
    with segtrack.World(engine=engine, time_step=step) as world:
        world.add_terrain(terrain.Plane(friction=friction))
        robot = world.add_vehicle(vehicle, track_model=track_model, flippers=flippers)
        robot.drive(linear, angular)
        world.run(1.0)
        before = robot.state.yaw
        world.run(1.5)
        return math.remainder(robot.state.yaw - before, 2 * math.pi) / 1.5


def cases() -> Iterator[Any]:
    """Bundled vehicles that turn, flippers up, flat, one pair down, and raised on one side."""
    poses = {"up": (UP,) * 4, "flat": (0.0,) * 4, "front up": (UP, UP, 0, 0), "left up": (0.8, 0, 0.8, 0)}
    for name in bundled_vehicles():
        vehicle = load_vehicle(name)
        if vehicle.track_offsets is None:
            continue
        for pose, angles in poses.items() if vehicle.flippers else [("", ())]:
            quick = (name, pose) in (("packbot", ""), ("quince", "flat"))
            flippers = dict(zip(vehicle.flippers, angles, strict=True))
            marks = () if quick else pytest.mark.slow
            yield pytest.param(vehicle, flippers, id=f"{name} {pose}", marks=marks)


@pytest.mark.parametrize(("linear", "angular"), [(0.0, 0.2), (0.1, 0.2), (0.1, -0.1), (-0.2, 0.15)])
@pytest.mark.parametrize(("vehicle", "flippers"), list(cases()))
def test_a_twist_is_met(
    vehicle: VehicleDescription, flippers: dict[str, float], linear: float, angular: float
) -> None:
    """Native, compliant belts: on the spot and on arcs, both ways, flippers wherever they are."""
    assert vehicle.steering_efficiency is None
    rate = yaw_rate(vehicle, flippers, "native", "compliant", linear, angular)
    assert rate == pytest.approx(angular, rel=0.05)


@pytest.mark.parametrize(
    ("name", "linear", "angular", "track_model", "met"),
    [
        ("packbot", 2.1, 0.2, "compliant", 0.987),
        ("quince", 0.4, 0.15, "surface", 0.970),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("packbot", 0.5, 0.2, "compliant", 0.995),
                ("packbot", 1.0, 0.2, "compliant", 0.992),
                ("packbot", 1.5, 0.2, "compliant", 0.990),
                ("packbot", 2.1, 0.2, "surface", 0.990),
                ("quince", 0.1, 0.15, "compliant", 1.004),
                ("quince", 0.2, 0.15, "compliant", 0.984),
                ("quince", 0.4, 0.15, "compliant", 0.959),
                ("bulldozer", 1.8, 0.2, "compliant", 0.989),
                ("maxxii", 0.6, 0.2, "compliant", 0.989),
                ("tapered", 0.6, 0.2, "surface", 0.972),
                ("trapezoidal", 0.9, 0.2, "compliant", 0.993),
                ("example_rover", 0.7, 0.2, "compliant", 0.990),
            ]
        ),
    ],
)
def test_a_fast_vehicle_turns_as_told_at_any_step(
    name: str, linear: float, angular: float, track_model: str, met: float
) -> None:
    """Within 5 %, and as the documents tell it at 1, 2 and 4 ms: what rounds a pulley stays on its arc."""
    vehicle = load_vehicle(name)
    flippers = dict.fromkeys(vehicle.flippers, UP)
    rates = [
        yaw_rate(vehicle, flippers, "native", track_model, linear, angular, step=step)
        for step in (1e-3, 2e-3, 4e-3)
    ]
    assert rates == pytest.approx([angular] * 3, rel=0.05)
    assert rates == pytest.approx([met * angular] * 3, rel=0.006)
    assert rates == pytest.approx([rates[0]] * 3, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("linear", "angular"), [(0.0, 0.2), (0.1, 0.2), (-0.2, 0.15)])
def test_a_twist_is_met_in_every_pose(linear: float, angular: float) -> None:
    """Quince for 8 s: within 5 %; with one pair down and the other up it rocks, and does so on average."""
    front, rear = (each.ravel() for each in np.meshgrid(np.linspace(-0.6, 0.6, 7), np.linspace(-0.6, 0.6, 7)))
    batch = segtrack.Batch("quince", len(front), terrain=terrain.Plane())
    batch.reset(flippers={n: front if n.startswith("front") else rear for n in batch.flipper_names})
    batch.drive(linear, angular)
    batch.run(1.0)
    before, turned = np.array(batch.state.yaw), 0.0
    for _ in range(80):
        batch.run(0.1)
        now = np.array(batch.state.yaw)
        turned = turned + np.remainder(now - before + math.pi, 2 * math.pi) - math.pi
        before = now
    met, rocks = turned / (8.0 * angular), front * rear < -1e-6
    assert np.abs(met[~rocks] - 1).max() < 0.05
    assert np.abs(met[rocks] - 1).max() < 0.2 and abs(met[rocks].mean() - 1) < 0.03


def test_flippers_that_move_between_two_commands_change_the_belts() -> None:
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince", track_model="compliant")
        robot.drive(0.0, 0.2)
        flat = robot.tracks["right"].command
        robot.set_flippers(**dict.fromkeys(robot.flippers, UP))
        world.run(1.5)
        robot.drive(0.0, 0.2)
        assert flat == pytest.approx(0.2 * 0.1 / SteeringByLoads(robot.description).reckon({}))
        up = SteeringByLoads(robot.description).reckon({name: f.angle for name, f in robot.flippers.items()})
        assert robot.tracks["right"].command == pytest.approx(0.2 * 0.1 / up)
        assert flat > 1.9 * robot.tracks["right"].command


def test_vehicles_of_a_batch_turn_by_their_own_flippers() -> None:
    angles = np.array([UP, 0.0, 0.3])
    batch = segtrack.Batch("quince", 3, terrain=terrain.Plane())
    batch.reset(flippers=dict.fromkeys(batch.flipper_names, angles))
    batch.drive(0.05, [0.2, -0.1, 0.0])
    commands, steering = batch.device_arrays.commands, SteeringByLoads(batch.vehicle)
    for i, (angle, asked) in enumerate(zip(angles, (0.2, -0.1, 0.0), strict=True)):
        apart = asked * 0.1 / steering.reckon(dict.fromkeys(batch.flipper_names, angle))
        assert commands[i, batch.track_names.index("right")] == pytest.approx(0.05 + apart)
        assert commands[i, batch.track_names.index("left")] == pytest.approx(0.05 - apart)


@pytest.mark.parametrize("linear", [0.0, 0.2, -0.4])
def test_segments_meet_a_twist_by_what_is_reckoned(linear: float) -> None:
    packbot = load_vehicle("packbot")
    assert yaw_rate(packbot, {}, "pybullet", "segments", linear, 0.4) == pytest.approx(0.4, rel=0.05)


def test_compliant_belts_in_pybullet_meet_a_twist() -> None:
    packbot = load_vehicle("packbot")
    assert yaw_rate(packbot, {}, "pybullet", "compliant", 0.1, 0.4) == pytest.approx(0.4, rel=0.05)


def test_a_twist_is_met_on_slippery_ground() -> None:
    packbot = load_vehicle("packbot")
    rate = yaw_rate(packbot, {}, "native", "compliant", 0.1, 0.4, friction=0.5)
    assert rate == pytest.approx(0.4, rel=0.05)


@pytest.mark.parametrize("efficiency", [1.0, 0.5])
def test_belts_differ_by_the_yaw_rate_over_the_efficiency(efficiency: float) -> None:
    vehicle = load_vehicle("packbot").model_copy(update={"steering_efficiency": efficiency})
    with segtrack.World() as world:
        robot = world.add_vehicle(vehicle)
        robot.drive(0.3, 0.4)
        left, right = (robot.tracks[side].command for side in ("left", "right"))
    assert (left + right) / 2 == pytest.approx(0.3)
    assert right - left == pytest.approx(0.4 * GAUGE / efficiency)


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


def test_validate_says_how_far_off_a_number_is(tmp_path: Path) -> None:
    content = yaml.safe_load(find_vehicle("quince").read_text(encoding="utf-8"))
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(content | {"name": "mine", "steering_efficiency": 0.5}), encoding="utf-8")
    done = CliRunner().invoke(app, ["validate", str(file)])
    assert done.exit_code == 0
    steering = SteeringByLoads(load_vehicle("quince"))
    expected = []
    for pose, angle in (("flat", 0.0), ("at 1 rad", 1.0)):
        reckoned = steering.reckon(dict.fromkeys(steering.vehicle.flippers, angle))
        expected.append(
            f"mine: steering_efficiency 0.5 is {0.5 / reckoned - 1:+.0%} off {reckoned:.3f}, "
            f"reckoned from its loads, flippers {pose}"
        )
    said = " ".join(done.stderr.split())  # Lines are as wide as the terminal.
    assert all(each in said for each in expected) and said.count("steering_efficiency") == 2
    untold = CliRunner().invoke(app, ["validate", "quince"])
    assert "steering" not in untold.stderr
