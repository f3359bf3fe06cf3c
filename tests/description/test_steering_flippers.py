"""Steering efficiency of a vehicle whose flippers weigh something."""

import math

import numpy as np
import pytest

from segtrack.description import SteeringByLoads, VehicleDescription, load_vehicle

HEAVIER = 4.0
"""Mass that each front flipper has more [kg]."""


def with_front_flippers(vehicle: VehicleDescription, mass: float) -> VehicleDescription:
    """The vehicle, its front flippers so much heavier [kg]."""
    flippers = {
        name: flipper.model_copy(update={"mass": flipper.mass + mass * (flipper.tip_direction == "front")})
        for name, flipper in vehicle.flippers.items()
    }
    return vehicle.model_copy(update={"flippers": flippers})


@pytest.mark.parametrize("raised", np.radians([0.0, 30.0, 80.0]))
def test_flippers_weigh_on_the_belts_where_they_are(raised):
    quince = load_vehicle("quince")
    fronts = [flipper for flipper in quince.flippers.values() if flipper.tip_direction == "front"]
    at = np.mean(
        [
            np.add(
                flipper.mount.xyz,
                (
                    math.cos(raised) * flipper.center_of_mass[0],
                    0.0,
                    math.sin(raised) * flipper.center_of_mass[0],
                ),
            )
            for flipper in fronts
        ],
        axis=0,
    )
    # The same mass at the same place, on the body instead.
    more, body = HEAVIER * len(fronts), quince.body
    center = (body.mass * np.array(body.center_of_mass) + more * at) / (body.mass + more)
    on_body = quince.model_copy(
        update={
            "body": body.model_copy(
                update={"mass": body.mass + more, "center_of_mass": tuple(center.tolist())}
            )
        }
    )
    angles = {name: raised if "front" in name else 0.0 for name in quince.flippers}
    found = [
        SteeringByLoads(vehicle).reckon(angles) for vehicle in (with_front_flippers(quince, HEAVIER), on_body)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    assert found[0] != pytest.approx(SteeringByLoads(quince).reckon(angles), rel=1e-3)
