"""Chains beside PyBullet at every step that is allowed: what it reads once a step does not let them ring."""

from __future__ import annotations

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.ground import ParentFrames, drift_parents, follow_frames

GRAVITY = 9.81
ALL = (
    "example_rover",
    "maxxii",
    "okada_example",
    "packbot",
    "quince",
    "tapered",
    "trapezoidal",
    "triangular",
)


def frames(position: list[float], velocity: list[float], turning: list[float]) -> ParentFrames:
    return ParentFrames(*(np.array([own]) for own in (position, np.eye(3), velocity, turning)))


def test_frames_make_up_for_a_quarter_of_what_they_are_off_within_a_step() -> None:
    """Half a step behind the engine's; position and orientation, of small angles: 1e-4 and 2e-4 rad.

    Which of two such turns comes first makes half of their product, over which a quarter is made up for.
    """
    step, spin = 1e-3, [0.1, -0.2, 0.3]
    given = frames([1.0, 2.0, 3.0], [0.5, 0.0, -0.2], spin)
    behind = frames([1.0, 2.0, 3.0], [0.5, 0.0, -0.2], spin)
    drift_parents(behind, -step / 2)
    own = frames((behind.positions[0] + [0, 0, 1e-4]).tolist(), [9.0, 9.0, 9.0], [0.0, 0.0, 0.0])
    own.rotations[0] = behind.rotations[0]
    turn = frames([0.0] * 3, [0.0] * 3, [0.0, 1.0, 0.0])
    turn.rotations[0] = own.rotations[0]
    drift_parents(turn, 1e-4)
    own.rotations[0] = turn.rotations[0]
    follow_frames(own, given, step / 2, step, 0.01)
    np.testing.assert_allclose(own.velocities[0], [0.5, 0.0, -0.2 - 0.25 * 1e-4 / step], atol=1e-9)
    np.testing.assert_allclose(own.angular_velocities_world[0], [0.1, -0.2 - 0.025, 0.3], atol=3e-6)
    far = frames([1.1, 2.0, 3.0], [0.0] * 3, [0.0] * 3)
    follow_frames(far, given, step / 2, step, 0.01)
    np.testing.assert_allclose(far.positions, behind.positions, atol=1e-12)
    np.testing.assert_array_equal(far.velocities, given.velocities)


@pytest.mark.pybullet
@pytest.mark.parametrize(
    ("vehicle", "step"),
    [
        ("okada_example", 1e-3),
        ("okada_example", 1e-2),
        *(
            pytest.param(name, step, marks=pytest.mark.slow)
            for name in ALL
            for step in (1e-3, 2e-3, 4e-3, 5e-3, 7e-3, 1e-2)
        ),
    ],
)
def test_a_vehicle_at_rest_bears_its_weight_at_every_step_and_is_quiet(vehicle: str, step: float) -> None:
    """1.4 kg bore 0.89 of it at 1 ms, its shoes at 85 mm/s; others shook, or broke, beyond 4 to 7 ms."""
    with segtrack.World(engine="pybullet", time_step=step) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain")
        world.run(0.8)
        bodies, forces, energies = robot.bodies(), [], []
        for _ in range(20):
            world.step()
            forces.append(sum(track.read_chain().ground_force.sum() for track in robot.tracks.values()))
            energies.append(robot.bodies().kinetic_energy)
    mass = bodies.masses.sum()
    assert np.mean(forces) == pytest.approx(mass * GRAVITY, rel=0.015)
    assert np.mean(energies) < 2e-5 * mass  # 6 mm/s of all there is.
