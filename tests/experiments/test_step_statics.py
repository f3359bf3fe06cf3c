"""Statics at a step: balance against linear programs, and a vehicle without flippers in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize_scalar

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import InvalidValueError
from segtrack.experiments import StaticsGrid, StepStatics, balanced, without_grousers

HALF, RADIUS, CENTER = 0.2675, 0.075, -0.05
"""Of Quince: half the distance of its main pulleys, their radius; the place of the body's mass [m]."""
COARSE = StaticsGrid(distance=0.03, flipper=0.54, pitch=math.radians(2.0), turn=0.25)


def bare() -> VehicleDescription:
    """Quince without flippers and grousers, whose centre of mass is on the line between its pulleys."""
    return without_grousers(load_vehicle("quince")).model_copy(update={"flippers": {}})


def ahead(vehicle: VehicleDescription) -> float:
    """Distance of the centre of mass before the rear pulley, without flippers [m]."""
    assert vehicle.body.mass is not None
    return HALF + CENTER * vehicle.body.mass / vehicle.mass


def longer(vehicle: VehicleDescription, factor: float) -> VehicleDescription:
    """Copy of a vehicle with the tip pulleys of its flippers further out."""
    flippers = {}
    for name, flipper in vehicle.flippers.items():
        ((belt, track),) = flipper.tracks.items()
        assert track.path.pulleys is not None
        pulleys = tuple(p.model_copy(update={"x": factor * p.x}) for p in track.path.pulleys)
        path = track.path.model_validate({"pulleys": [p.model_dump() for p in pulleys]})
        flippers[name] = flipper.model_copy(
            update={"tracks": {belt: track.model_copy(update={"path": path})}}
        )
    return vehicle.model_copy(update={"flippers": flippers})


def program(
    contacts: NDArray[np.float64], center: NDArray[np.float64], friction: NDArray[np.float64]
) -> bool:
    """True if a linear program finds forces in both friction cones that balance the weight."""
    columns = []
    for (x, z, nx, nz), mu in zip(contacts, friction, strict=True):
        for side in (mu, -mu):
            fx, fz = nx - side * nz, nz + side * nx
            columns.append([fx, fz, (x - center[0]) * fz - (z - center[1]) * fx])
    return bool(linprog(np.zeros(4), A_eq=np.transpose(columns), b_eq=[0, 1, 0], bounds=(0, None)).success)


def test_two_contacts_balance_where_a_linear_program_finds_forces() -> None:
    rng = np.random.default_rng(0)
    n = 300
    angle = rng.uniform(-1.8, 1.8, (n, 2))
    points = rng.uniform(-0.5, 0.5, (n, 2, 2))
    contacts = np.concatenate([points, np.stack([np.sin(angle), np.cos(angle)], axis=-1)], axis=-1)
    center, friction = rng.uniform(-0.5, 0.5, (n, 2)), rng.uniform(0.0, 2.0, (n, 2))
    expected = [program(*each) for each in zip(contacts, center, friction, strict=True)]
    assert 20 < sum(expected) < n - 20
    assert balanced(contacts, center, friction).tolist() == expected


@pytest.mark.parametrize("height", [0.1, 0.16, 0.2])
def test_poses_on_floor_and_edge_are_those_of_the_closed_form(height: float) -> None:
    """Rear pulley on the floor, the run below on the edge.

    With the edge at d along the run from the rear pulley's foot, and pitch p: the line through both pulleys'
    centres is at r + s sin(p) above the floor, s from the rear centre, and at r / cos(p) above the edge.
    """
    vehicle = bare()
    poses = StepStatics(vehicle, friction=2.0).rest_poses(height)
    on_floor = (poses.contacts[:, :, 1] < 1e-6).sum(axis=1) == 1
    lies = (np.abs(poses.contacts[:, :, :2] - (0.0, height)) < 1e-6).all(axis=2)
    run = (np.abs(poses.contacts[:, :, 3] - np.cos(poses.pitch)[:, None]) < 1e-6) & lies
    chosen = on_floor & run.any(axis=1)
    pitch, x = poses.pitch[chosen], poses.x[chosen]
    assert len(pitch) > 10
    before = ahead(vehicle) - x / np.cos(
        pitch
    )  # From the rear pulley to above the edge, along the centres' line.
    closed = RADIUS + before * np.sin(pitch) - RADIUS / np.cos(pitch)
    assert closed == pytest.approx(np.full(len(pitch), height), abs=1e-6)
    assert poses.z[chosen] == pytest.approx(RADIUS + ahead(vehicle) * np.sin(pitch), abs=1e-6)


def test_a_vehicle_without_flippers_climbs_until_its_rear_lifts_off_before_the_edge_is_reached() -> None:
    """Centre of mass above the edge, rear pulley on the floor: the greatest height over the pitch."""
    vehicle = bare()

    def lacking(pitch: float) -> float:
        return -(RADIUS + ahead(vehicle) * math.sin(pitch) - RADIUS / math.cos(pitch))

    best = minimize_scalar(lacking, bounds=(0.1, 1.4), method="bounded", options={"xatol": 1e-9})
    grid = StaticsGrid(distance=0.005, pitch=math.radians(0.25))
    limit = StepStatics(vehicle, friction=2.0, grid=grid).limit(1e-6)
    assert limit == pytest.approx(-best.fun, abs=1e-5)


def test_with_hardly_any_friction_nothing_is_climbed() -> None:
    """Edges push a vehicle without flippers back."""
    assert not StepStatics(bare(), friction=1e-3).climbs(0.02)


def test_limits_rise_with_friction_and_with_the_length_of_flippers_and_if_grousers_hold() -> None:
    by_friction = [StepStatics(bare(), friction=mu).limit(1e-3) for mu in (0.2, 0.4, 0.8, 1.6)]
    assert by_friction == sorted(by_friction) and by_friction[0] < by_friction[-1]
    quince = load_vehicle("quince")
    by_length = [
        StepStatics(longer(without_grousers(quince), each), grid=COARSE).limit(0.05)
        for each in (0.9, 1.0, 1.5)
    ]
    assert by_length[0] < by_length[1] < by_length[2]
    assert StepStatics(quince, grid=COARSE).limit(0.05) > by_length[1]


def test_poses_at_rest_do_not_depend_on_the_unit_of_mass() -> None:
    vehicle = load_vehicle("quince")
    assert vehicle.body.mass is not None

    def heavier(track: object) -> object:
        return track.model_copy(update={"belt": track.belt.model_copy(update={"mass": 4 * track.belt.mass})})  # type: ignore[attr-defined]

    flippers = {
        name: flipper.model_copy(
            update={
                "mass": 4 * flipper.mass,
                "tracks": {own: heavier(track) for own, track in flipper.tracks.items()},
            }
        )
        for name, flipper in vehicle.flippers.items()
    }
    heavy = vehicle.model_copy(
        update={
            "body": vehicle.body.model_copy(update={"mass": 4 * vehicle.body.mass}),
            "tracks": {name: heavier(track) for name, track in vehicle.tracks.items()},
            "flippers": flippers,
        }
    )
    assert heavy.mass == pytest.approx(4 * vehicle.mass)
    one, other = (StepStatics(each, grid=COARSE).rest_poses(0.3) for each in (vehicle, heavy))
    assert one.pitch == pytest.approx(other.pitch, abs=1e-7) and one.x.tolist() == other.x.tolist()


def test_a_vehicle_without_tracks_on_its_body_is_refused() -> None:
    vehicle = load_vehicle("quince").model_copy(update={"tracks": {}})
    with pytest.raises(
        InvalidValueError, match="^tracks of quince must be on its body, for statics, got none there$"
    ):
        StepStatics(vehicle)


def test_friction_must_be_positive() -> None:
    with pytest.raises(InvalidValueError, match="^friction must be above 0, got 0.0$"):
        StepStatics(load_vehicle("quince"), friction=0.0)
