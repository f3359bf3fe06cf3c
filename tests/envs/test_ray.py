"""Environments in Ray's actors equal those in one process, batch or gymnasium's loop, and fail as clearly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

from segtrack.errors import InvalidValueError, NotReadyError, SegtrackError, UnknownNameError

ray = pytest.importorskip("ray")
psutil = pytest.importorskip("psutil")

from segtrack.envs.ray_vector import RayVectorEnv  # noqa: E402

CARTPOLE = "CartPole-v1"
GAP = "segtrack/GapCross-v0"


@pytest.fixture(scope="module", autouse=True)
def local_ray() -> Iterator[None]:
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100_000_000,
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def poles(local_ray: None) -> Iterator[RayVectorEnv]:
    """Two that do not reset themselves; each test resets them."""
    envs = RayVectorEnv(CARTPOLE, 2, workers=2, autoreset_mode=AutoresetMode.DISABLED)
    yield envs
    envs.close()


def assert_same(ours: Any, theirs: Any) -> None:
    """To the bit, types included, except how fast it was."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert sorted(ours) == sorted(theirs)
        for key in ours.keys() - {"real_time_factor"}:
            assert_same(ours[key], theirs[key])
    elif isinstance(ours, tuple) or (isinstance(ours, np.ndarray) and ours.dtype == object):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.flags.writeable == theirs.flags.writeable
        assert ours.tobytes() == theirs.tobytes()
    else:
        assert ours == theirs


def both(
    env_id: str, mode: AutoresetMode, count: int = 2, way: str | None = "sync", **parameters: Any
) -> tuple[RayVectorEnv, VectorEnv]:
    """So many environments by two workers, and in this process."""
    given = {"vectorization_mode": way, **parameters}
    ours = RayVectorEnv(env_id, count, workers=2, autoreset_mode=mode, **given)
    resets: dict[str, Any] = {"autoreset_mode": mode}
    theirs = gymnasium.make_vec(env_id, count, **({"vector_kwargs": resets} if way else resets), **given)
    for name in ("action_space", "observation_space", "single_action_space", "single_observation_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert (ours.num_envs, ours.metadata) == (theirs.num_envs, theirs.metadata)
    return ours, theirs


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_ray_equals_the_loop_in_every_autoreset_mode(mode: AutoresetMode) -> None:
    ours, theirs = both(CARTPOLE, mode, max_episode_steps=25)
    assert_same(ours.reset(seed=3, options={"low": -0.1}), theirs.reset(seed=3, options={"low": -0.1}))
    theirs.action_space.seed(5)
    ends = 0
    for _ in range(60):
        actions = theirs.action_space.sample()
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        over = result[2] | result[3]
        ends += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            # Gymnasium takes the mask out of its options.
            again = [envs.reset(seed=[7, 8], options={"reset_mask": over}) for envs in (ours, theirs)]
            assert_same(*again)
    assert ends >= 4
    assert_same(ours.reset(seed=[1, None])[0][0], theirs.reset(seed=[1, None])[0][0])
    ours.close()
    theirs.close()


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_workers_with_a_batch_each_equal_one_batch(mode: AutoresetMode) -> None:
    """Shares of three and two robots; what ends is reset alone where nothing resets itself."""
    drawn: dict[str, Any] = {"initial_y": (-0.25, 0.25), "friction": (0.4, 0.8), "sensor_noise": (0.0, 0.02)}
    given = {"time_step": 0.004, "time_limit": 0.4, "action_delay": (0, 2), **drawn}
    ours, theirs = both("segtrack/RoughTerrain-v0", mode, 5, None, **given)
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    theirs.action_space.seed(0)
    ends = 0
    for _ in range(20):
        actions = theirs.action_space.sample()
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        over = result[2] | result[3]
        ends += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            again = ({"reset_mask": over, "friction": 0.5} for _ in range(2))
            assert_same(*(envs.reset(options=next(again)) for envs in (ours, theirs)))
    assert ends >= 10
    if mode is AutoresetMode.DISABLED:  # Robots of one worker alone.
        mask = np.array([False, False, False, True, False])
        assert_same(*(envs.reset(seed=9, options={"reset_mask": mask.copy()}) for envs in (ours, theirs)))
    ours.close()
    theirs.close()


def test_ray_equals_the_loop_for_a_robot() -> None:
    """Named observations, drawn parameters, and the `info` of a finished episode."""
    settings: dict[str, Any] = {"observation": "dict", "control_frequency": 5.0, "belt_speed": 0.5}
    ranges = {"length": (0.05, 0.06), "initial_x": (0.1, 0.2), "sensor_noise": 0.5}
    ours, theirs = both(GAP, AutoresetMode.SAME_STEP, **settings, **ranges)
    assert_same(ours.reset(seed=11), theirs.reset(seed=11))
    ends = 0
    for speed in np.linspace(0.8, 1.0, 20, dtype=np.float32):
        actions = np.array([[1.0, 1.0, 0.0, 0.0], [speed, speed, 0.1, 0.1]], np.float32)
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        ends += int(result[2].sum())
    assert ends >= 2
    ours.close()
    theirs.close()


def test_what_is_handed_out_is_the_users_own(poles: RayVectorEnv) -> None:
    first, _ = poles.reset(seed=0)
    kept = first.copy()
    second = poles.step(np.array([0, 1]))[0]
    assert first.flags.writeable and second is not first
    assert np.array_equal(first, kept)


def test_options_are_left_as_they_are(poles: RayVectorEnv) -> None:
    poles.reset(seed=0)
    options = {"reset_mask": np.array([True, False])}
    poles.reset(options=options)
    assert list(options) == ["reset_mask"]


def refused(kind: type[Exception], what: Any, *args: Any, **kwargs: Any) -> str:
    """The message of exactly this class of error."""
    with pytest.raises(kind) as caught:
        what(*args, **kwargs)
    assert type(caught.value) is kind
    return str(caught.value)


def test_mistakes_in_the_constructor_are_refused() -> None:
    message = refused(InvalidValueError, RayVectorEnv, GAP, 0)
    assert message == "num_envs must be a whole number, at least 1, got 0"
    for workers in (0, 3):
        message = refused(InvalidValueError, RayVectorEnv, GAP, 2, workers=workers)
        assert message == f"workers must be a whole number from 1 to 2, got {workers}"
    message = refused(UnknownNameError, RayVectorEnv, GAP, 2, autoreset_mode="never")
    assert message == "no autoreset mode 'never'; there are: NextStep, SameStep, Disabled"


def test_errors_of_an_environment_arrive_as_they_are() -> None:
    message = refused(UnknownNameError, RayVectorEnv, GAP, 2, vehicle="qince")
    with pytest.raises(UnknownNameError) as here:
        gymnasium.make(GAP, vehicle="qince")
    assert message == str(here.value)
    envs = RayVectorEnv(GAP, 2, workers=2)
    message = refused(InvalidValueError, envs.reset, options={"length": 9.0})
    assert message == "length [m] must be from 0.05 to 1, got 9.0"
    envs.reset(seed=0)
    message = refused(InvalidValueError, envs.step, np.zeros((2, 3), np.float32))
    assert message == "actions must be of shape (1, 4): left, right, front, rear, got shape (1, 3)"
    envs.close()


def test_other_exceptions_keep_their_class() -> None:
    with pytest.raises(gymnasium.error.NameNotFound, match="Environment `Gap` doesn't exist"):
        RayVectorEnv("segtrack/Gap-v0", 1)


def test_what_cannot_be_reset_or_stepped_is_refused(poles: RayVectorEnv) -> None:
    poles.reset(seed=0)
    message = refused(InvalidValueError, poles.step, np.array([1, 0, 1]))
    assert message == "actions must be 2, one for each environment, got 3"
    message = refused(InvalidValueError, poles.reset, seed=[1, 2, 3])
    assert message == "seed must be a whole number, or a list of 2, got [1, 2, 3]"
    mask = np.array([False, False])
    message = refused(InvalidValueError, poles.reset, options={"reset_mask": mask})
    expected = "an array of 2 truth values, one of them true"
    assert message == f"options['reset_mask'] must be {expected}, got array([False, False])"
    for _ in range(100):
        _, _, terminations, truncations, _ = poles.step(np.array([1, 1]))
        if (over := terminations | truncations).any():
            break
    names = ", ".join(map(str, np.flatnonzero(over)))
    message = refused(NotReadyError, poles.step, np.array([1, 1]))
    assert message == f"cannot step CartPole-v1: the episodes of {names} are over; reset them"


def test_an_environment_is_reset_first_and_closed_last() -> None:
    envs = RayVectorEnv(CARTPOLE, 2, autoreset_mode="Disabled")
    message = refused(NotReadyError, envs.step, np.array([1, 1]))
    assert message == "cannot step CartPole-v1: it has not been reset"
    mask = np.array([True, False])
    message = refused(NotReadyError, envs.reset, options={"reset_mask": mask})
    assert message == "cannot reset some of CartPole-v1: not all have been reset before"
    envs.close()
    envs.close()
    assert refused(NotReadyError, envs.step, np.array([1, 1])) == "cannot step CartPole-v1: it is closed"
    assert refused(NotReadyError, envs.reset) == "cannot reset CartPole-v1: it is closed"


def test_a_dead_worker_is_one_clear_error() -> None:
    bystanders = workers()
    envs = RayVectorEnv(CARTPOLE, 2)
    envs.reset(seed=0)
    for process in workers() - bystanders:
        process.kill()
        process.wait(10)
    reason = "The actor died unexpectedly before finishing this task."
    message = refused(SegtrackError, envs.step, np.array([1, 1]))
    assert message == f"cannot step CartPole-v1: worker 0 died: {reason}"
    envs.close()


def workers() -> set[Any]:
    processes = psutil.Process().children(recursive=True)
    return {process for process in processes if process.name().startswith("ray::_Worker")}


def test_without_ray_a_hint_says_what_to_install() -> None:
    program = "import sys; sys.modules['ray'] = None; import segtrack.envs.ray_vector"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    hint = 'RayVectorEnv needs the extra "ray" (pip install ".[ray]")'
    reason = "import of ray halted; None in sys.modules"
    assert run.stderr.splitlines()[-1] == f"segtrack.errors.SegtrackError: {hint}: {reason}"
