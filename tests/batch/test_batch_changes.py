"""Changes of a batch's vehicles besides those of their files: gravity, flippers' torques; their masses."""

import numpy as np
import pytest

from segtrack import Batch, World
from segtrack.errors import InvalidValueError


def test_each_vehicle_falls_by_its_own_gravity_and_snapshots_keep_it():
    with Batch("quince", 4, time_step=0.004) as batch:
        batch.set_gravity([1.0, 3.0, 3.0], [0, 2, 3])
        assert batch.gravity.tolist() == [1.0, 9.81, 3.0, 3.0]
        saved = batch.save()
        batch.set_gravity(0.0)
        batch.restore(saved)
        gravity = np.array([1.0, 9.81, 3.0, 3.0])
        batch.device_arrays.position[:, 2] += 5.0
        batch.device_arrays.slack[:] = 0.0
        batch.run(0.2)
        assert batch.state.velocity[:, 2] == pytest.approx(-0.2 * gravity, rel=0.02)
        for wrong in (-1.0, float("nan"), [1.0, 2.0]):
            with pytest.raises(InvalidValueError, match="gravity"):
                batch.set_gravity(wrong)
        assert batch.gravity.tolist() == gravity.tolist()


def test_masses_and_centres_are_those_of_a_robot_in_a_world():
    with Batch("quince", 2, time_step=0.004, gravity=0.0) as batch, World(engine="native") as world:
        robot = world.add_vehicle("quince", track_model="compliant")
        assert batch.mass.tolist() == [robot.mass] * 2
        assert batch.state.center[0] - batch.state.position[0] == pytest.approx(
            robot.body_motion().center - robot.body_motion().position, abs=1e-9
        )


def test_flippers_of_some_vehicles_are_made_stronger_and_none_without_strength():
    with Batch("quince", 3) as batch:
        file = batch._fleet.own.max_torques.copy()
        batch.scale_flippers([0.5, 2.0], [0, 2])
        np.testing.assert_array_equal(batch._fleet.own.max_torques, file * np.array([[0.5], [1.0], [2.0]]))
        batch.scale_flippers(np.full((3, 4), 3.0))
        np.testing.assert_array_equal(batch._fleet.own.max_torques, 3.0 * file)
        with pytest.raises(InvalidValueError, match="flipper torque factor of vehicle 0 must be"):
            batch.scale_flippers(0.0)
