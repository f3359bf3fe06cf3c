"""What vehicles remember, and what they must not: of spins, of ground that was, of edges that they left."""

from __future__ import annotations

import numpy as np
import pytest

import segtrack
from segtrack import terrain

STEP = 0.004
NAMES = ("position", "orientation", "velocity", "angular_velocity")


def motion_of(robot):
    """Pose and velocities, every bit."""
    return [getattr(robot.model.state, name)[0].tolist() for name in NAMES]


@pytest.mark.parametrize("track_model", ["surface", "compliant"])
def test_a_vehicle_that_is_placed_after_a_pull_and_a_spin_moves_as_a_fresh_one(track_model):
    """To the bit; its belts have turned by nothing, and its contacts are not sheared as they were."""
    ends = []
    for used in (False, True):
        with segtrack.World(engine="native", time_step=STEP) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle("packbot", track_model=track_model, position=(0, 0, 2.0))
            if used:
                world.place_on_terrain(robot, 0.3, -0.2, 0.7)
                robot.apply_force((20.0, -40.0, 0.0), robot.state.position)
                world.run(0.05)
                robot.apply_force((0.0, 0.0, 0.0), robot.state.position)
                robot.reset_base_pose((0.0, 0.0, 2.0))
                world.run(0.05)
                robot.model.state.angular_velocity[0] = (3.0, -2.0, 5.0)
                world.run(0.1)
                robot.model.state.travels[:] = robot.model.state.energies[:] = 0.0
            world.place_on_terrain(robot, 0.3, -0.2, 0.7)
            moments = [motion_of(robot)]
            moments += [list(robot.model.link_motion().velocity)]
            for _ in range(25):
                world.step()
                moments.append(motion_of(robot))
        ends.append(moments)
    assert ends[0] == ends[1]


SLATS = terrain.Boxes(
    boxes=tuple(
        terrain.GroundBox(x=x, y=y, length=0.05, width=0.2, height=0.02, yaw=0.2)
        for x in np.linspace(-0.3, 0.4, 8).tolist()
        for y in (-0.25, 0.18)
    )
)


def read(robot):
    """Contacts of all its tracks."""
    reading = [track.read_grousers() for track in robot.tracks.values()]
    return [np.concatenate([getattr(r, name) for r in reading]) for name in ("normal_force", "points")]


@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_readings_after_ground_was_added_are_those_of_a_fresh_world(track_model):
    """More solids than there were as contacts were read first; its belts reach 0.2 mm into slats."""
    with segtrack.World(engine="native") as world:
        robot = world.add_vehicle("packbot", track_model=track_model, position=(0.0, 0.0, 1.0))
        place = (0.02, 0.01, 1.0 - robot.bounds()[0][2] + 0.02 - 2e-4)
    readings = []
    for reads_before in (True, False):
        with segtrack.World(engine="native", time_step=STEP) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle("packbot", track_model=track_model, position=place)
            if reads_before:
                assert read(robot)[0].sum() == 0.0  # The floor lies 19.8 mm below its tips.
            world.add_terrain(SLATS)
            readings.append(read(robot))
            world.clear_terrain()
            world.add_terrain(SLATS)
            readings.append(read(robot))
    assert min(reading[0].sum() for reading in readings) > 10.0
    for one, other in ((0, 2), (1, 3)):
        for found, fresh in zip(readings[one], readings[other], strict=True):
            np.testing.assert_array_equal(found, fresh)


def test_readings_follow_a_friction_that_is_changed():
    """A pull across that the new friction cannot bear: after a step, the forces are cut to it."""
    with segtrack.World(engine="native", time_step=STEP) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="compliant", yaw=0.6)
        world.settle()
        robot.apply_force((20.0, -40.0, 0.0), robot.state.position)
        world.run(0.2)
        for friction in (1.0, 0.1):
            for track in robot.tracks.values():
                track.set_friction(friction)
            world.run(0.02)
            readings = [track.read_grousers() for track in robot.tracks.values()]
            for reading in readings:
                held = np.linalg.norm(reading.tangential_force, axis=1)
                assert (held <= friction * reading.normal_force * (1 + 1e-6) + 1e-9).all()
            pulled = np.linalg.norm(sum(reading.tangential_force.sum(axis=0) for reading in readings))
        assert pulled == pytest.approx(0.1 * sum(r.normal_force.sum() for r in readings), rel=0.02)


def two_slats(height):
    """Slats thinner than a grouser's pitch, on a platform that goes on behind them."""
    base = terrain.GroundBox(x=-1.0, y=0.0, length=4.0, width=2.0, height=0.3)
    slats = [
        terrain.GroundBox(x=x, y=0.0, length=0.004, width=2.0, height=0.3 + height, yaw=0.02)
        for x in (-0.2, 0.17)
    ]
    return terrain.Boxes(boxes=(base, *slats))


def packbot_that_lies_on(part):
    """A PackBot; for its belly, with one that reaches lower than its belts."""
    packbot = segtrack.load_vehicle("packbot")
    if part == "belts":
        return packbot
    return packbot.model_copy(update={"body": packbot.body.model_copy(update={"size": (0.5, 0.3, 0.25)})})


@pytest.mark.parametrize(
    ("part", "track_model", "height"),
    [("belts", "compliant", 0.009), ("belts", "surface", 0.004), ("belly", "compliant", 0.004)],
)
def test_edges_that_were_left_are_met_again_as_new_ones(part, track_model, height):
    """For a step the vehicle is behind the slats, above the platform and near no edge: none is remembered."""
    with segtrack.World(engine="native", time_step=0.001) as world:
        world.add_terrain(two_slats(height))
        robot = world.add_vehicle(packbot_that_lies_on(part), track_model=track_model, position=(0.0, 0.0))
        model = robot.model
        robot.apply_force((30.0, 20.0, 0.0), robot.state.position)
        world.run(0.05)
        met = model.state.copy()

        def step_from_there(*, behind=0.0, above=0.0):
            model.state.position[0] += (-behind, 0.0, above)
            model.forget_candidates()
            world.step()
            momentum = motion_of(robot)[2:]
            for now, then in zip(model.state, met, strict=True):
                now[...] = then
            model.forget_candidates()
            return momentum

        saved = world.save()
        kept = step_from_there()
        world.restore(saved)
        step_from_there(behind=1.5, above=0.002)
        again = step_from_there()
        world.restore(saved)
        model.forget_contacts()
        assert again == step_from_there()
        assert again != kept
