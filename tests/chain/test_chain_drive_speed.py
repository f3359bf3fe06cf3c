"""Speed of the wheel that drives a link chain, on a body that turns."""

import pytest

from segtrack import World


def test_the_driven_wheel_turns_on_its_link_as_fast_as_the_belt_runs():
    with World(engine="native") as world:
        world.set_gravity((0.0, 0.0, 0.0))
        robot = world.add_vehicle("packbot", track_model="chain", position=(0.0, 0.0, 2.0))
        robot.set_belt_speed(0.5, 0.5)
        world.run(0.1)
        # What the chains have gained of angular momentum the body has lost.
        assert robot.body_motion().angular_velocity[1] < -0.2
        for track in robot.tracks.values():
            turned = track.read_chain().drive_speed * track.chain_design.pitch_radius
            assert turned == pytest.approx(track.speed, rel=1e-6)
