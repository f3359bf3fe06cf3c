"""The drive of one belt, without a simulator."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numba
import numpy as np
import pytest
from pydantic import ValidationError

from segtrack.description import DriveSpec
from segtrack.engine import DriveController, force_at, next_pedal_target, next_target

CONSTANT = DriveSpec(max_force=100.0, max_speed=1.0)
MOTOR = DriveSpec.model_validate({"sprocket": {"radius": 0.05, "stall_torque": 5.0, "no_load_speed": 20.0}})
WORM = DriveSpec(max_force=100.0, max_speed=1.0, self_locking=True)
WORM_MOTOR = DriveSpec.model_validate({**MOTOR.model_dump(exclude_none=True), "self_locking": True})


def law_of(drive: DriveSpec, command: float, speed: float) -> tuple[float, float, float, bool]:
    """Driving force at a speed [m/s], stall force and brake force [N], and whether it is self-locking."""
    table = [value for row in drive.forces for value in row]
    driving = force_at(table, speed if command >= 0 else -speed)
    return driving, drive.stall_force, drive.brake_force, drive.self_locking


def driving_limit(drive: DriveSpec, speed: float) -> float:
    """Force limit [N] of a drive that moves its belt at a speed [m/s]."""
    command = 2.0 * math.copysign(drive.top_speed, speed)
    return next_target(command, speed, 0.0, 0.0, False, *law_of(drive, command, speed))[1]


def test_a_line_ends_at_the_top_speed_of_its_drive() -> None:
    sprocket = {"radius": 0.05, "stall_torque": 5.0, "no_load_speed": 40.0}
    fast = DriveSpec.model_validate({"sprocket": sprocket})
    assert (fast.top_speed, fast.reflected_mass) == (pytest.approx(2.0), 0.0)
    assert driving_limit(fast, 1.5) == pytest.approx(25.0)


def test_constant_force_limit_does_not_depend_on_speed() -> None:
    assert [driving_limit(CONSTANT, v) for v in (-2.0, 0.0, 0.5, 2.0)] == [100.0] * 4


@pytest.mark.parametrize(("speed", "force"), [(0.0, 100.0), (0.5, 50.0), (0.9, 10.0), (1.0, 0.0), (1.5, 0.0)])
def test_torque_speed_line_runs_from_stall_to_no_load(speed: float, force: float) -> None:
    assert MOTOR.stall_force == pytest.approx(100.0) and MOTOR.top_speed == pytest.approx(1.0)
    assert driving_limit(MOTOR, speed) == pytest.approx(force)


def situations() -> list[tuple[float, float, float, float, bool]]:
    """Command and speed [m/s], force and limit [N], and whether a self-locking drive holds."""
    speeds, forces = (-0.6, -0.1, 0.0, 0.4, 0.6), (-140.0, -60.0, 0.0, 60.0, 140.0)
    return list(itertools.product((-0.5, 0.0, 0.5), speeds, forces, (50.0, 100.0), (False, True)))


@pytest.mark.parametrize("drive", [CONSTANT, MOTOR, WORM, WORM_MOTOR])
def test_the_law_in_reverse_is_its_mirror_image(drive: DriveSpec) -> None:
    for command, speed, force, limit, holding in situations():
        law, mirror = law_of(drive, command, speed), law_of(drive, -command, -speed)
        target, *rest = next_target(command, speed, force, limit, holding, *law)
        back, *mirrored = next_target(-command, -speed, -force, limit, holding, *mirror)
        assert (back, mirrored) == (-target, rest)


COMPILED = numba.njit(next_target), numba.njit(force_at), numba.njit(next_pedal_target)


@pytest.mark.parametrize("drive", [CONSTANT, MOTOR, WORM])
def test_the_law_compiles_to_the_same_numbers(drive: DriveSpec) -> None:
    target, at, pedal = COMPILED
    table = [value for row in drive.forces for value in row]
    for now in situations():
        law = law_of(drive, now[0], now[1])
        assert target(*now, *law) == next_target(*now, *law)
        assert at(np.array(table), now[1]) == force_at(table, now[1])
        assert pedal(*now[:4]) == next_pedal_target(*now[:4])


def test_torque_speed_line_limits_the_motor_it_is_fed_to() -> None:
    drive = DriveController(MOTOR, command=1.0)
    drive.record_step(travel=0.0, speed=0.5, force=0.0, step=0.001)
    assert drive.update_command()
    assert (drive.target, drive.limit) == (1.0, pytest.approx(50.0))
    drive.record_step(travel=0.0, speed=0.5005, force=0.0, step=0.001)
    assert not drive.update_command(), "a change of a thousandth need not be sent"
    drive.record_step(travel=0.0, speed=0.25, force=0.0, step=0.001)
    assert drive.update_command(), "more force is a change as less is"


@pytest.mark.parametrize(
    "drive", [{"max_force": 1.0}, {"max_speed": 1.0, "sprocket": MOTOR.sprocket}, {"max_speed": 1.0}, {}]
)
def test_a_top_speed_goes_with_a_constant_force_alone(drive: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DriveSpec.model_validate(drive)


def test_reverse_command_is_limited_by_reverse_speed() -> None:
    drive = DriveController(MOTOR, command=-1.0)
    drive.record_step(travel=0.0, speed=-0.25, force=0.0, step=0.001)
    drive.update_command()
    assert drive.limit == pytest.approx(75.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("command", "speed", "limit"),
    [
        (0.5, 0.5, 50.0),
        (0.2, 0.5, 100.0),
        (0.0, 0.5, 100.0),
        (-0.5, 0.5, 100.0),
        (0.5, 1.4, 100.0),
        (0.5, 0.25, 75.0),
    ],
)
def test_a_drive_brakes_with_its_stall_force_either_way(
    command: float, speed: float, limit: float, sign: float
) -> None:
    drive = DriveController(MOTOR, command=sign * command)
    drive.record_step(travel=0.0, speed=sign * speed, force=0.0, step=0.001)
    drive.update_command()
    assert drive.limit == pytest.approx(limit)


def test_self_locking_drive_is_not_pulled_ahead() -> None:
    drive = DriveController(WORM, command=0.5)
    drive.record_step(travel=0.0, speed=0.6, force=-100.0, step=0.001)
    drive.update_command()
    assert drive.limit > 1e5 and drive.target == 0.5
    drive.record_step(travel=0.0, speed=0.5, force=-140.0, step=0.001)
    drive.update_command()
    assert drive.limit > 1e5, "the load is still more than it can brake by itself"
    for force in (-100.5, -100.0):
        drive.record_step(travel=0.0, speed=0.5, force=force, step=0.001)
        drive.update_command()
        assert drive.limit > 1e5, "it brakes with no more than its stall force by itself"
    drive.record_step(travel=0.0, speed=0.5, force=-99.5, step=0.001)
    drive.update_command()
    assert drive.limit == 100.0


def test_energy_is_force_times_mean_speed() -> None:
    """At 20 N from rest to 1 m/s in 0.5 s, then at 30 N to -2 m/s in 0.2 s, whatever way that was."""
    drive = DriveController(CONSTANT)
    drive.record_step(travel=0.5, speed=1.0, force=20.0, step=0.5)
    assert drive.energy == pytest.approx(20.0 * 0.5 * 0.5)
    drive.record_step(travel=0.4, speed=-2.0, force=30.0, step=0.2)
    assert drive.energy == pytest.approx(20.0 * 0.5 * 0.5 - 30.0 * 0.5 * 0.2)
    assert drive.power == pytest.approx(-60.0)


def test_energy_of_a_drive_that_moves_a_mass_alone_is_its_kinetic_energy() -> None:
    """Steps of any length, the mass speeding up, turning back and braking."""
    drive, mass, travel, speed = DriveController(CONSTANT), 8.0, 0.0, 0.0
    for force, step in ((60.0, 0.01), (-90.0, 0.02), (-20.0, 0.005), (75.0, 0.01), (40.0, 0.05)):
        speed += force / mass * step
        travel += speed * step
        drive.record_step(travel, speed, force, step)
        assert drive.energy == pytest.approx(mass * speed**2 / 2, rel=1e-12)


def test_self_locking_drive_holds_an_overload_and_drives_again_after_it() -> None:
    drive = DriveController(WORM, command=0.5)
    drive.update_command()
    assert not drive.holding
    drive.record_step(travel=0.0, speed=-0.01, force=100.0, step=0.001)
    drive.update_command()
    assert drive.holding and drive.target == 0.0 and drive.limit > 1e5
    drive.record_step(travel=0.0, speed=0.0, force=150.0, step=0.001)
    drive.update_command()
    assert drive.holding, "the load is still more than it can move"
    drive.record_step(travel=0.0, speed=0.0, force=100.0, step=0.001)
    drive.update_command()
    assert drive.holding, "a load of just its stall force balances it"
    drive.record_step(travel=0.0, speed=0.0, force=60.0, step=0.001)
    drive.update_command()
    assert not drive.holding and (drive.target, drive.limit) == (0.5, 100.0)


@pytest.mark.parametrize("speed", [0.0, 0.01, 0.5])
def test_self_locking_drive_at_its_limit_goes_on_until_it_is_pushed_back(speed: float) -> None:
    drive = DriveController(WORM, command=0.5)
    drive.record_step(travel=0.0, speed=speed, force=100.0, step=0.001)
    drive.update_command()
    assert not drive.holding and (drive.target, drive.limit) == (0.5, 100.0)


def test_self_locking_drive_holds_when_told_to_stand() -> None:
    drive = DriveController(WORM)
    drive.update_command()
    assert drive.holding


def test_self_locking_motor_on_a_line_holds_from_its_limit_at_that_speed() -> None:
    """Driven at 0.3 of its top speed it has 70 N; what pushes it back with those is held."""
    for force, holds in ((70.0, True), (69.5, False)):
        drive = DriveController(WORM_MOTOR, command=0.5)
        drive.record_step(travel=0.0, speed=0.3, force=0.0, step=0.001)
        drive.update_command()
        assert drive.limit == pytest.approx(70.0)
        drive.record_step(travel=0.0, speed=-0.01, force=force, step=0.001)
        drive.update_command()
        assert drive.holding == holds


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_scaled_drive_is_so_many_times_as_strong_and_as_fast_as_before(factor: float) -> None:
    for spec, limit in ((CONSTANT, 100.0), (MOTOR, 50.0)):
        drive = DriveController(spec, command=1.0)
        drive.factor = factor
        drive.record_step(travel=0.0, speed=0.5, force=0.0, step=0.001)
        drive.update_command()
        assert (drive.target, drive.limit) == (1.0, pytest.approx(limit * factor))
        drive.command = 0.0
        drive.update_command()
        assert (drive.target, drive.limit) == (0.0, pytest.approx(spec.brake_force * factor))


def test_snapshot_restores_everything_that_changes() -> None:
    drive = DriveController(MOTOR, command=0.7)
    drive.record_step(travel=0.3, speed=0.4, force=50.0, step=0.001)
    drive.update_command()
    before = drive.snapshot()
    drive.command = -0.2
    drive.record_step(travel=0.9, speed=0.1, force=10.0, step=0.001)
    drive.update_command()
    drive.restore(before)
    assert drive.snapshot() == before
