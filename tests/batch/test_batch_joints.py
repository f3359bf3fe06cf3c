import pytest

from segtrack import Batch
from segtrack.description import load_vehicle
from segtrack.reproduce.speed import with_arm


def test_joints_beside_flippers_turn_as_fast_as_their_own_servos_can():
    with with_arm(load_vehicle("quince")) as vehicle, Batch(vehicle, 2) as batch:
        fastest = {name: flipper.max_speed for name, flipper in vehicle.flippers.items()}
        assert set(fastest.values()) == {1.0}
        batch.set_joint_speeds(yaw=[1.5, -5.0], bend=[-5.0, 0.5])
        batch.run(0.1)
        speeds = dict(zip(batch.joint_names, batch.joints.speed.T, strict=True))
    assert speeds["yaw"] == pytest.approx([1.5, -2.0])
    assert speeds["bend"] == pytest.approx([-2.0, 0.5])
