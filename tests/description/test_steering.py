"""Steering efficiency by loads and planar friction, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml

from segtrack.description import (
    SteeringByLoads,
    VehicleDescription,
    find_vehicle,
    load_vehicle,
    parse_vehicle,
)
from segtrack.reproduce.turning import uniform_pressure_turning_rate


def content(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(find_vehicle(name).read_text(encoding="utf-8")))


def wheels(x: float, y: float, lug: float = 0.0) -> VehicleDescription:
    """Four narrow wheels of 80 mm at (+-x, +-y), smooth or with lugs of a height [m]."""
    data = content("lugged_wheel")
    for name, track in data["tracks"].items():
        ends = (1 if "front" in name else -1, 1 if "left" in name else -1)
        track = dict(track, width=1e-3, mount={"xyz": [ends[0] * x, ends[1] * y, 0]})
        track["grousers"] = {"count": 400, "shape": {"box": {"length": 1e-4, "height": lug}}}
        if not lug:
            del track["grousers"]
        data["tracks"][name] = track
    return parse_vehicle(data)


@pytest.mark.parametrize(
    ("x", "y", "lug"),
    [
        (0.15, 0.15, 0.0),
        (0.1, 0.2, 0.0),
        (0.3, 0.15, 0.0),
        (0.1, 0.2, 0.01),
        pytest.param(0.15, 0.15, 0.01, marks=pytest.mark.slow),
        pytest.param(0.3, 0.15, 0.01, marks=pytest.mark.slow),
    ],
)
def test_four_wheels_turn_as_their_four_points_say(x: float, y: float, lug: float) -> None:
    """F_t y = F_l x, with slips u - w y and w x, gives w = u y / (x^2 + y^2); tips run faster."""
    expected = y * y / (x * x + y * y) * (1 + lug / 0.08)
    assert SteeringByLoads(wheels(x, y, lug)).reckon({}) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("gauge", [0.3, 0.445, 0.7])
def test_narrow_belts_turn_as_uniform_pressure_says(gauge: float) -> None:
    """And a little less: sunk in by 0.03 mm, a belt stands on 2 mm of its arcs, too."""
    data = content("packbot")
    for name, track in data["tracks"].items():
        mount = {"xyz": [0.0, math.copysign(gauge / 2, track["mount"]["xyz"][1]), 0.0]}
        data["tracks"][name] = {k: v for k, v in track.items() if k != "grousers"} | {
            "width": 1e-3,
            "mount": mount,
        }
    vehicle = parse_vehicle(data)
    spec = next(vehicle.mounted_tracks()).spec
    expected = uniform_pressure_turning_rate(1.0, gauge, spec.ground_length) * gauge / 2
    assert 0.99 * expected < SteeringByLoads(vehicle).reckon({}) < expected


def test_friction_across_the_tracks_counts_and_its_level_does_not() -> None:
    """Half of the friction across the tracks lets a vehicle turn more easily."""
    efficiencies = []
    for along, across in ((0.6, None), (0.2, None), (0.6, 0.3), (0.2, 0.1)):
        data = content("packbot")
        for track in data["tracks"].values():
            track["contact"] = {"friction": along} | ({} if across is None else {"lateral_friction": across})
        efficiencies.append(SteeringByLoads(parse_vehicle(data)).reckon({}))
    assert efficiencies[1] == pytest.approx(efficiencies[0], rel=1e-6)
    assert efficiencies[3] == pytest.approx(efficiencies[2], rel=1e-6)
    assert efficiencies[2] > 1.1 * efficiencies[0]


@pytest.mark.parametrize("angle", [0.3, 0.7])
@pytest.mark.parametrize("ends", [("front", "rear"), ("front",), ("rear",)])
def test_mirrored_poses_of_flippers_are_alike(ends: tuple[str, ...], angle: float) -> None:
    steering = SteeringByLoads(load_vehicle("quince"))
    left, right = (steering.reckon({f"{end}_{side}": angle for end in ends}) for side in ("left", "right"))
    assert left == pytest.approx(right, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "angle", "simulated"), [("packbot", 0.0, 0.764), ("quince", 1.0, 0.308), ("quince", 0.0, 0.155)]
)
def test_it_is_what_compliant_belts_are_simulated_to_turn_by(
    name: str, angle: float, simulated: float
) -> None:
    """By `segtrack reproduce turning --track-model compliant`."""
    vehicle = load_vehicle(name)
    reckoned = SteeringByLoads(vehicle).reckon(dict.fromkeys(vehicle.flippers, angle))
    assert reckoned == pytest.approx(simulated, rel=0.01)


def test_a_number_in_the_file_goes_before_what_is_reckoned() -> None:
    vehicle = load_vehicle("quince").model_copy(update={"steering_efficiency": 0.5})
    steering = SteeringByLoads(vehicle)
    assert steering.efficiency({}) == 0.5
    assert steering.reckon({}) == SteeringByLoads(load_vehicle("quince")).efficiency({}) != 0.5


@pytest.mark.parametrize("change", ["friction", "one side", "tips over"])
def test_what_cannot_be_reckoned_counts_as_no_slip(change: str) -> None:
    data = content("packbot")
    if change == "one side":
        data["tracks"].pop("right")
    elif change == "friction":
        for track in data["tracks"].values():
            track["contact"] = {"friction": 0}
    else:
        data["body"]["center_of_mass"] = [0.0, 5.0, 0.0]
    reckoned = SteeringByLoads(parse_vehicle(data)).reckon({})
    assert reckoned == 1.0 and math.isfinite(reckoned)
