"""Rays from the body to the ground, against closed forms on flat ground and at a step."""

import math
import pickle

import numpy as np
import pytest
from scenes import environment

from segtrack.envs import VectorEnvironment, ray_part
from segtrack.errors import InvalidValueError

GIVEN = {"time_step": 0.004}


def test_rays_meet_flat_ground_at_their_height_over_the_sine_of_their_fall():
    elevations, lift = np.array([-1.2, -0.5, -0.2, 0.1, -0.01]), 0.3
    part = ray_part([0.0, 1.0, -2.0, 0.3, 0.0], elevations, origin=(0.1, 0.0, lift), reach=3.0)
    with environment("Drive", parts={"rays": part}, winding=0.0, **GIVEN) as env:
        seen = env.sensors.part(env.reset(seed=0)[0], "rays")
        height = env.view.motion.position[0, 2] + lift
    expected = np.minimum(height / np.maximum(np.sin(-elevations), 1e-9), 3.0)
    assert seen == pytest.approx(expected, abs=1e-5)


def test_rays_meet_the_face_of_a_step_within_their_spacing():
    angles = np.array([-0.4, 0.0, 0.5])
    part = ray_part(angles, spacing=0.01, reach=2.0)
    with environment("StepClimb", height=0.4, initial_yaw=0.2, parts={"rays": part}, **GIVEN) as env:
        seen = env.sensors.part(env.reset(seed=0)[0], "rays")
        away = -env.view.motion.position[0, 0]
    expected = away / np.cos(angles + 0.2)
    assert (np.abs(seen - expected) <= 0.0101).all()


def test_rays_turn_with_the_body_and_are_alike_in_vectors():
    part = ray_part(np.linspace(-1.5, 1.5, 7), -0.3)
    given = {"parts": {"rays": part}, "initial_pitch": (-0.3, 0.3), "initial_roll": (-0.3, 0.3), **GIVEN}
    assert pickle.loads(pickle.dumps(part)).labels == part.labels
    together = VectorEnvironment("RoughTerrain", 2, **given)
    seen = together.sensors.part(together.reset(seed=3)[0], "rays")
    with environment("RoughTerrain", **given) as env:
        for i in range(2):
            np.testing.assert_allclose(env.sensors.part(env.reset(seed=3 + i)[0], "rays"), seen[i], atol=1e-6)
    together.close()
    with environment("Drive", parts={"rays": ray_part(0.0, -0.3)}, initial_pitch=-0.2, **GIVEN) as env:
        seen = env.sensors.part(env.reset(seed=0)[0], "rays")
        assert seen[0] == pytest.approx(env.view.motion.position[0, 2] / math.sin(0.5), abs=1e-5)


@pytest.mark.parametrize(
    "given, message",
    [
        (([0.0, 1.0], [0.0, 1.0, 2.0]), "azimuths and elevations [rad] must be numbers (n,), got "),
        (("x",), "azimuths and elevations [rad] must be numbers (n,), got "),
        ((math.nan,), "azimuths and elevations [rad] must be numbers (n,), got "),
    ],
)
def test_rays_that_cannot_be_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        ray_part(*given)
    assert str(error.value).startswith(message)
    with pytest.raises(InvalidValueError) as error:
        ray_part(0.0, reach=0.0)
    assert str(error.value) == "reach of rays [m] must be greater than 0, got 0.0"
