"""What limits a vehicle at an instant."""

import pytest

from segtrack import World, terrain
from segtrack.experiments import LIMITS
from segtrack.experiments.event_limits import LimitSensor


@pytest.mark.parametrize("speed", [0.2, -0.2])
@pytest.mark.parametrize("slipping", [("left",), ("right",), ("left", "right")])
def test_friction_limits_a_vehicle_where_all_of_its_belts_slip_whichever_way_they_run(speed, slipping):
    with World(engine="native") as world:
        ground = terrain.Plane()
        world.add_terrain(ground)
        robot = world.add_vehicle("packbot", track_model="compliant")
        for side in slipping:
            robot.tracks[side].set_friction(0.0)
            robot.tracks[side].set_speed(speed)
        world.run(0.2)
        state = LimitSensor(robot, ground, 0.0).read()
    assert state.slip == pytest.approx(1.0, abs=1e-3)
    assert state.found[LIMITS.index("friction")] == (slipping == ("left", "right"))
