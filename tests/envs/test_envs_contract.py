"""Gymnasium's contract, which every environment keeps to, and the tables that document them."""

import os
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from env_actions import FORWARD
from gymnasium.utils.env_checker import check_env
from scenes import environment

from segtrack.envs import IDS, TASKS, Environment
from segtrack.envs.parameters import ROBOT_PARAMETERS, parameter_table
from segtrack.envs.rewards import reward_table
from segtrack.errors import SegtrackError

CHECK = """
import sys, gymnasium, segtrack.envs
from gymnasium.utils.env_checker import check_env
check_env(gymnasium.make(sys.argv[1]).unwrapped)
"""


# Gymnasium's contract.


@pytest.mark.parametrize("name, observation", [*((name, "flat") for name in IDS), (IDS[0], "dict")])
def test_gymnasiums_checker_finds_nothing(name, observation, monkeypatch):
    # The window is checked where there is a display, below.
    monkeypatch.setitem(Environment.metadata, "render_modes", ["rgb_array"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, observation=observation, render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


@contextmanager
def display():
    """A display of its own, as the environment variable names it."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24"],
        pass_fds=(write,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="there is no virtual display")
@pytest.mark.slow
@pytest.mark.parametrize("name", IDS[::9])
def test_gymnasiums_checker_finds_nothing_with_a_window(name):
    """The window is one for all tasks, and the checker loads PyBullet's a dozen times."""
    with display() as number:
        variables = {**os.environ, "DISPLAY": number}
        command = [sys.executable, "-W", "error", "-c", CHECK, name]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (done.returncode, "WARN" in done.stderr) == (0, False), done.stderr


@pytest.mark.pybullet
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems need no DISPLAY")
def test_a_window_without_a_display_is_refused(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(SegtrackError) as error:
        Environment("StepClimb", render_mode="human")
    assert str(error.value) == "a window needs a display, and the environment variable DISPLAY is not set"


@pytest.mark.parametrize(
    "given, chosen",
    [
        ({}, ("native", "compliant", "exact")),
        ({"engine": "native"}, ("native", "compliant", "exact")),
        ({"track_model": "chain"}, ("native", "chain", "exact")),
        pytest.param({"engine": "pybullet"}, ("pybullet", "segments", "coarse"), marks=pytest.mark.pybullet),
        pytest.param(
            {"track_model": "segments"}, ("pybullet", "segments", "coarse"), marks=pytest.mark.pybullet
        ),
    ],
)
def test_the_native_engine_is_the_default_and_one_of_engine_and_track_model_chooses_the_other(given, chosen):
    with environment(**given) as env:
        assert (env.engine, env.track_model, env.preset) == chosen


def test_a_list_of_pictures_holds_what_single_ones_show():
    single = gymnasium.make("segtrack/StepClimb-v0", render_mode="rgb_array")
    several = gymnasium.make("segtrack/StepClimb-v0", render_mode="rgb_array_list")
    single.reset(seed=0), several.reset(seed=0)
    pictures = [single.render()]
    for _ in range(2):
        single.step(FORWARD), several.step(FORWARD)
        pictures.append(single.render())
    listed = several.render()
    single.close(), several.close()
    assert [picture.shape for picture in listed] == [(360, 640, 3)] * 3
    assert {picture.dtype for picture in listed} == {np.dtype(np.uint8)}
    np.testing.assert_array_equal(listed, pictures)
    assert not np.array_equal(pictures[0], pictures[2])


@pytest.mark.slow
def test_a_fresh_process_makes_one_with_only_gymnasium_imported():
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('segtrack.envs:segtrack/StepClimb-v0')\n"
        "observation, _ = env.reset(seed=0)\n"
        "print(env.spec.id, observation.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "segtrack/StepClimb-v0 (83,)"


def test_there_is_an_id_for_each_task():
    assert IDS == tuple(f"segtrack/{name}-v0" for name in TASKS)
    assert set(IDS) <= set(gymnasium.registry)


# The documentation.


def test_documented_tables_are_those_of_the_code():
    text = (Path(__file__).parents[2] / "docs" / "topics" / "environments.md").read_text(encoding="utf-8")
    with environment() as env:
        assert env.sensors.table() in text
    assert parameter_table(ROBOT_PARAMETERS) in text
    for name, task in TASKS.items():
        assert f"### {name}\n" in text
        assert parameter_table(task.parameters) in text
    assert reward_table() in text
