"""Bushings as stiff as a vehicle needs them; what stretches too far, and teeth that are skipped, is told."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quick import some_of
from scipy.spatial.transform import Rotation
from test_chain_tension import tension_of_runs

import segtrack
from segtrack import terrain
from segtrack.chain import TrackDesign
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.description.chain import check_chains, track_design, weight_on_chains
from segtrack.errors import InvalidValueError

GRAVITY = 9.81
BULLDOZER = Path(bundled_vehicles()["bulldozer"])


def designs(vehicle: VehicleDescription) -> list[TrackDesign]:
    weight = weight_on_chains(vehicle)
    return [track_design(track.name, track.spec, weight) for track in vehicle.mounted_tracks()]


def without_bushings(name: str) -> VehicleDescription:
    """A bundled vehicle whose file says nothing of its bushings."""
    return with_bushings(name, {})


def with_bushings(name: str, bushing: dict[str, Any], **chain: Any) -> VehicleDescription:
    """A bundled vehicle with other bushings on all its tracks."""
    vehicle, tracks = load_vehicle(name), {}
    for key, track in vehicle.tracks.items():
        given = track.chain.model_dump(exclude_unset=True) | chain | {"bushing": bushing}
        own = type(track.chain).model_validate(given)
        tracks[key] = track.model_copy(update={"chain": own})
    return vehicle.model_copy(update={"tracks": tracks})


@pytest.mark.parametrize(
    ("name", "published"), [("bulldozer", 5e7), pytest.param("m113", 3.5e7, marks=pytest.mark.slow)]
)
def test_heavy_vehicles_have_bushings_as_stiff_as_published(name: str, published: float) -> None:
    """The bulldozer's file, and Project Chrono's M113 shoe."""
    for design in designs(without_bushings(name)):
        assert design.chain.bushing.stiffness == pytest.approx(published, rel=0.1)


def test_half_a_chain_stretches_by_three_tenths_of_its_pitch_under_what_its_drive_can_do() -> None:
    """A chain of n bushings in series."""
    vehicle = without_bushings("bulldozer")
    for mass in (6000.0, 14500.0, 60000.0):
        body = vehicle.body.model_copy(update={"mass": mass})
        heavier = vehicle.model_copy(update={"body": body})
        weight = (mass + 2 * 1840.0) * GRAVITY
        (design, _) = designs(heavier)
        chain = design.chain
        each = min(max(120000.0, weight / 2), weight) / chain.bushing.stiffness
        assert chain.count / 2 * each == pytest.approx(0.3 * chain.shoe.pitch, rel=0.03)


LIGHT = (
    "example_rover",
    "maxxii",
    "okada_example",
    "packbot",
    "quince",
    "tapered",
    "trapezoidal",
    "triangular",
)


@pytest.mark.parametrize("name", some_of(LIGHT, "example_rover", "tapered"))
def test_light_vehicles_have_bushings_of_1e6_as_ever(name: str) -> None:
    assert {design.chain.bushing.stiffness for design in designs(load_vehicle(name))} == {1e6}


def test_a_conveyor_has_what_its_drive_asks_for() -> None:
    """It is fixed, so that its belt bears no vehicle."""
    vehicle = load_vehicle("conveyor")
    (design,) = designs(vehicle)
    assert weight_on_chains(vehicle) == 0.0
    chain, (track,) = design.chain, vehicle.mounted_tracks()
    stretch = chain.count / 2 * track.spec.drive.stall_force / chain.bushing.stiffness
    assert stretch == pytest.approx(0.3 * chain.shoe.pitch, rel=0.02)


@pytest.mark.slow
def test_every_bundled_chain_is_without_a_remark_but_for_its_tension_and_sag() -> None:
    for name in (*LIGHT, "bulldozer", "conveyor", "m113", "m113_rear_drive"):
        check = check_chains(load_vehicle(name))
        assert not check.problems
        assert all(remark.startswith("chain of ") and " sags by " in remark for remark in check.remarks)


def test_a_heavy_vehicle_drives_as_commanded_by_the_bushings_that_follow_from_it() -> None:
    """0.20 m/s for 0.5, and a tension of 124 N, with 1e6 N/m for every vehicle."""
    vehicle = without_bushings("bulldozer")
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain")
        for track in robot.tracks.values():
            assert tension_of_runs(track) == pytest.approx(24000.0, rel=0.01)
        world.run(0.5)
        robot.set_belt_speed(0.5, 0.5)
        world.run(0.5)
        x = robot.state.position[0]
        world.run(1.0)
        assert robot.state.position[0] - x == pytest.approx(0.5, rel=0.05)
        assert all(chain.skipped_teeth == 0 for chain in robot.model.chains)


def test_bushings_too_soft_for_the_drive_are_told_with_the_least_that_would_do() -> None:
    """120 kN stretch 23 bushings of 1e6 N/m by 2.76 m; at 1.38e7 N/m they stretch by a pitch, 0.2 m."""
    check = check_chains(with_bushings("bulldozer", {"stiffness": 1e6}))
    assert not check.problems
    assert (
        "chain.bushing.stiffness of left, 1e+06 N/m, lets half of the chain stretch by 2.76 m under the "
        "1.2e+05 N of its drive, more than its pitch of 0.2 m, so that it can skip teeth; it needs 1.38e+07 "
        "N/m, and has 4.59e+07 N/m if not given"
    ) in check.remarks
    capped = "pretension of left is 2.18e+03 N, since more would stretch its bushings of 1e+06 N/m too far; "
    assert f"{capped}2.4e+04 N would suit its drive" in check.remarks


def test_a_pretension_that_bushings_do_not_bear_is_refused() -> None:
    """10 kN became 2.9 kN without a word."""
    vehicle = with_bushings("bulldozer", {"stiffness": 1e6}, tensioner={"pretension": 1e4})
    (problem, _) = check_chains(vehicle).problems
    assert problem == (
        "chain.tensioner.pretension of left must be at most 8.71e+03 N, which slides its idler by a pitch, "
        "with bushings of 1e+06 N/m, got 10000.0"
    )
    with segtrack.World(engine="native") as world, pytest.raises(InvalidValueError) as error:
        world.add_vehicle(vehicle, track_model="chain")
    assert str(error.value) == problem


@pytest.mark.parametrize("stiffness", [5e6, 2e7])
def test_a_soft_chain_gets_its_pretension_all_the_same(stiffness: float) -> None:
    """It takes longer to stretch: its slowest mode has 11 to 48 rad/s."""
    given = {"pretension": 8e3}
    with segtrack.World(engine="native", gravity=0.0) as world:
        vehicle = with_bushings("bulldozer", {"stiffness": stiffness}, tensioner=given)
        robot = world.add_vehicle(vehicle, track_model="chain", position=(0, 0, 1))
        for track in robot.tracks.values():
            assert tension_of_runs(track) == pytest.approx(8e3, rel=0.02)


@pytest.mark.slow
def test_the_sag_that_is_told_is_that_of_the_run() -> None:
    """Of shoes that hang between the bulldozer's support roller and its idler, settled on the ground.

    Free body of a shoe: its joints pull at its ends by T, its weight m g is between them, so that neighbours
    differ by m g / T in their heading, and a run of the length L sags by L^2 / 8 of that over their pitch p.
    """
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("bulldozer", track_model="chain")
        assert world.settle().converged
        track = robot.tracks["left"]
        reading, span = track.read_chain(), track.chain_design.longest_upper_span
        x, _, z = (reading.positions - np.array(robot.state.position)).T
        along = Rotation.from_quat(reading.orientations).apply((1, 0, 0))
    assert span == pytest.approx(math.dist((1.66, 0.0), (0.55, 0.235)), rel=1e-6)
    hanging = (z > 0.2) & (x > 0.7) & (x < 1.5)
    headings = np.arctan2(along[hanging, 2], along[hanging, 0])
    assert len(headings) >= 4
    turn = abs(headings[-1] - headings[0]) / (len(headings) - 1)
    (remark, *_) = check_chains(load_vehicle("bulldozer")).remarks
    told = float(remark.split("sags by ")[1].split(" mm")[0]) * 1e-3
    pitch = track.chain_design.chain.shoe.pitch
    assert turn / pitch * span**2 / 8 == pytest.approx(told, rel=0.05)


def test_skipped_teeth_are_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """As many as the driven wheel's way is ahead of the shoes'."""
    vehicle = with_bushings("bulldozer", {"stiffness": 1e6})
    with segtrack.World(engine="native") as world, caplog.at_level(logging.WARNING, "segtrack"):
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain")
        assert any("lets half of the chain stretch" in record.message for record in caplog.records)
        world.run(0.5)
        robot.set_belt_speed(0.5, 0.5)
        (chain, _), pitch = robot.model.chains, robot.model.chains[0].design.chain.shoe.pitch
        run = 0.0
        for _ in range(300):
            world.run(0.005)
            along = chain.state.rotations[:, :, 0]
            body = chain.arrays.parents.velocities[0]
            run += 0.005 * float(np.mean(np.sum((chain.state.velocities - body) * along, axis=1)))
        ahead = (chain.travel - run) / pitch
        assert abs(chain.skipped_teeth) >= 1
        assert chain.skipped_teeth == pytest.approx(ahead, abs=0.7)
    assert any("of its sprocket's teeth by" in record.message for record in caplog.records)


def test_no_tooth_is_said_to_be_skipped_where_none_is() -> None:
    """Forwards, backwards and turned about, over several rounds of the sprocket."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="chain")
        robot.set_belt_speed(2.0, -1.5)
        for _ in range(6):
            world.run(0.2)
            assert [chain.skipped_teeth for chain in robot.model.chains] == [0, 0]
        saved = world.save()
        robot.set_belt_speed(-2.0, 2.0)
        world.run(0.3)
        assert [chain.skipped_teeth for chain in robot.model.chains] == [0, 0]
        world.restore(saved)
        assert [chain.skipped_teeth for chain in robot.model.chains] == [0, 0]
