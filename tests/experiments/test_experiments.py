"""The experiments behind the commands: outcomes, definitions, published numbers, parallel work, files."""

from __future__ import annotations

import errno
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scenes import heed_interrupts

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import FileAccessError, InvalidValueError, SegtrackError
from segtrack.experiments import ClimbSetup, run_climb, run_parallel
from segtrack.experiments.climb import _Attempt, _real_time_factors, _slip
from segtrack.files import check_writable, claimed, replacing
from segtrack.reproduce.okada_cases import TABLE_2_RATIOS, TABLE_2_REAL_TIME_FACTOR, TABLE_4, case_setup
from segtrack.reproduce.okada_map import MapPoint, critical_damping, run_map
from segtrack.reproduce.okada_table_2 import MODELS, run_table_2
from segtrack.reproduce.okada_table_4 import STIFFNESSES, TIME_STEPS, run_band
from segtrack.reproduce.speed import measure_speed, with_arm
from segtrack.robot import Motion, RobotState, Signal
from segtrack.terrain import Step


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["fast", "exact"])
def test_the_step_that_needs_grousers_is_not_climbed_without(preset: str) -> None:
    case = next(line for line in TABLE_4 if (line.front_sub_track_deg, line.step) == (45.0, 0.24))
    assert not run_climb(case_setup(case, preset=preset, track_model="smooth")).success


@pytest.mark.slow
def test_a_robot_that_falls_over_backwards_has_tipped_over() -> None:
    setup = ClimbSetup("quince", step=0.38, rear_flippers=math.radians(30), preset="fast", friction=1.5)
    result = run_climb(setup)
    assert result.outcome == "tipped over"
    assert result.max_pitch > math.pi / 2
    assert not result.success


@pytest.mark.parametrize(
    ("x", "z", "pitch_deg", "outcome"),
    [(0.16, 0.21, 19.0, "climbed"), (0.16, 0.21, -19.0, "climbed"), (0.14, 0.21, 0.0, None),
     (0.16, 0.19, 0.0, None), (0.16, 0.21, 21.0, None), (0.16, 0.21, -21.0, None)],
)  # fmt: skip
def test_a_step_is_climbed_past_its_edge_above_it_and_level(
    x: float, z: float, pitch_deg: float, outcome: str | None
) -> None:
    """A body frame's origin at (x, z) before a step of 0.2 m at x = 0; past it means by 0.15 m."""
    pitch, still = math.radians(pitch_deg), (0.0, 0.0, 0.0)
    upright = (0.0, -math.sin(pitch / 2), 0.0, math.cos(pitch / 2))
    state = RobotState((x, 0.0, z), upright, still, still, roll=0.0, pitch=pitch, yaw=0.0)
    attempt: Any = SimpleNamespace(
        step=Step(height=0.2, distance=0.0), world=SimpleNamespace(time=1.0), time_limit=2.0
    )
    assert _Attempt._outcome(attempt, state) == outcome
    attempt.world.time = 2.0
    assert _Attempt._outcome(attempt, state) == (outcome or "stuck")


def trajectory(way: float, travel: float, samples: int = 40) -> Motion:
    """A robot that stands for 0.3 s, then drives `way` along x while its belt travels `travel` [m]."""
    ramp = np.clip(np.linspace(-15, samples - 16, samples) / (samples - 16), 0, 1)
    zeros = np.zeros(samples)
    position = np.stack([ramp * way, zeros, zeros], axis=1)
    orientation = np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1))
    values = {"position": position, "orientation": orientation, "track_travel.left": ramp * travel}
    times = np.arange(samples) * 0.02
    return Motion("climb", {key: Signal(times, value) for key, value in values.items()})


@pytest.mark.parametrize(
    ("way", "travel", "slip"), [(1.0, 1.0, 0.0), (0.5, 1.0, 0.5), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)]
)
def test_slip_is_what_the_belt_travels_in_vain(way: float, travel: float, slip: float) -> None:
    assert _slip(trajectory(way, travel)) == pytest.approx(slip)


def test_real_time_factor_is_taken_over_whole_windows() -> None:
    """25 samples of 20 ms make a window; a rest that fills none does not count."""
    assert _real_time_factors([0.01] * 25 + [0.02] * 25 + [9.0]) == pytest.approx([2.0, 1.0])
    assert _real_time_factors([0.04]) == pytest.approx([0.5])


def test_published_ratios_follow_from_the_published_factors() -> None:
    """Okada et al. 2020, Table II."""
    factor = TABLE_2_REAL_TIME_FACTOR
    measured = {"segments": 2.79, "smooth": 3.96, "wheels_4": 4.86, "wheels_13": 1.79}
    assert factor == measured | {"surface": 5.93}  # Which the authors estimated.
    assert TABLE_2_RATIOS["segments_over_wheels_13"] == pytest.approx(
        factor["segments"] / factor["wheels_13"], abs=0.005
    )
    assert TABLE_2_RATIOS["segments_over_wheels_4"] == pytest.approx(
        factor["segments"] / factor["wheels_4"], abs=0.005
    )
    assert TABLE_2_RATIOS["smooth_over_wheels_4"] == pytest.approx(
        factor["smooth"] / factor["wheels_4"], abs=0.005
    )


@pytest.mark.slow
def test_compliant_belts_reproduce_table_4_over_time_steps_and_stiffness() -> None:
    """6 of 6 at every time step, with pitch within 1 deg of each other, and from 5e3 N/m on."""
    rows = run_band()
    default = [row for row in rows if row.stiffness is None]
    assert [(row.time_step, row.matches) for row in default] == [(step, 6) for step in TIME_STEPS]
    assert np.ptp([math.degrees(row.max_pitch) for row in default]) < 1.0
    band = {row.stiffness: row.matches for row in rows if row.stiffness is not None}
    assert all(band[stiffness] == 6 for stiffness in STIFFNESSES if stiffness >= 5e3)


def test_an_arm_of_six_joints_is_added_to_the_vehicle() -> None:
    """What it costs is measured by `segtrack reproduce speed`: a test of it would fail beside other work."""
    with with_arm(load_vehicle("quince")) as armed:
        assert armed.mass == pytest.approx(load_vehicle("quince").mass + 6.8)
        assert [joint.axis.tolist() for joint in armed.joint_tree.joints] == [
            [0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1],
        ]  # fmt: skip


@pytest.mark.slow
def test_speed_is_measured_in_turns_and_related_to_segments() -> None:
    table = measure_speed(1, seconds={"climb": 0.2, "turn": 0.1})
    summary = table.summary()
    for scene in ("climb", "turn"):
        models = summary["scenes"][scene]
        assert {name: row["time_step"] for name, row in models.items()} == {
            "segments as published": 0.001,
            "segments, 1 ms": 0.001,
            "segments": 0.005,
            "compliant": 0.001,
            "compliant, 4 ms": 0.004,
            "compliant with an arm": 0.001,
            "surface": 0.001,
            "compliant in PyBullet, 1 ms": 0.001,
            "compliant in PyBullet, 5 ms": 0.005,
        }
        for model in models.values():
            ratio = model["real_time_factor"] / models["segments"]["real_time_factor"]
            assert model["over_segments"] == pytest.approx(ratio)
            ratio = model["real_time_factor"] / models["segments as published"]["real_time_factor"]
            assert model["over_published_segments"] == pytest.approx(ratio)
        solutions = {name: row["solutions_per_step"] for name, row in models.items()}
        for name, number in solutions.items():
            if name in ("compliant", "compliant, 4 ms", "compliant with an arm", "surface"):
                assert 1.0 <= number <= 16.0
            else:
                assert number is None
    assert 0.0 < table.python_fraction < 1.0


def test_table_2_has_its_factors_ratios_and_overhead() -> None:
    models = {name: MODELS[name] for name in ("segments", "smooth", "wheels_4")}
    summary = run_table_2(rounds=2, models=models, seconds=0.1).summary()
    factors = summary["real_time_factor"]
    assert list(factors) == list(models)  # type: ignore[call-overload]
    ratio = factors["segments"] / factors["wheels_4"]  # type: ignore[index]
    assert summary["ratios"]["segments_over_wheels_4"] == pytest.approx(ratio)  # type: ignore[index]
    assert 0.0 < summary["overhead_fraction"] < 0.5  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_map_counts_matches_and_holds_the_chosen_point(engine: EngineName) -> None:
    assert MapPoint(5.0, -0.05, None, tuple(line.real for line in TABLE_4)).matches == 6
    assert MapPoint(5.0, -0.05, None, tuple(not line.real for line in TABLE_4)).matches == 0
    assert critical_damping(4e4) == pytest.approx(400.0)
    assert critical_damping(None) is None
    result = run_map("small", engine=engine)
    assert max(point.matches for point in result.points) == 6
    assert len(result.points) == 2


def double(value: float) -> float:
    """Twice a number; negative ones are refused."""
    if value < 0:
        raise InvalidValueError("value", "at least 0", value)
    return 2 * value


@pytest.mark.slow
def test_parallel_work_keeps_its_order_and_passes_errors_on() -> None:
    done = []
    assert run_parallel(double, [3.0, 1.0, 2.0], workers=2, on_done=lambda: done.append(1)) == [6.0, 2.0, 4.0]
    assert len(done) == 3
    with pytest.raises(SegtrackError, match=r"^value must be at least 0, got -1\.0$"):
        run_parallel(double, [1.0, -1.0], workers=2)


INTERRUPTED_START = """
import time
from segtrack.experiments import Workers
with Workers(2) as pool:
    try:
        pool.run(time.sleep, [60, 60], lambda *done: None)
    except KeyboardInterrupt:
        print("interrupted")
"""
WHILE_IMPORTING = """
import os, signal, sys


class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "segtrack":
            os.killpg(0, signal.SIGINT)


if "--multiprocessing-fork" in sys.orig_argv:
    sys.meta_path.insert(0, Interrupting())
"""
"""Ctrl-C, which a terminal sends to all processes, once the imports of a worker have come to segtrack."""


@pytest.mark.skipif(sys.platform == "win32", reason="has no process groups like these")
def test_workers_that_are_starting_end_without_a_word_at_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WHILE_IMPORTING)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    call = [sys.executable, "-c", INTERRUPTED_START]
    done = subprocess.run(
        call,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        env=environment,
        preexec_fn=heed_interrupts,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def full_disk(source: Path, target: Path) -> None:
    """Instead of `Path.replace`."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_nothing_half_written_is_left_nor_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "deep" / "file.txt"
    check_writable(target.parent)
    assert not target.parent.exists()
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert list(target.parent.iterdir()) == []
    with replacing(target) as temporary:
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full_disk)
        with pytest.raises(FileAccessError), replacing(target) as temporary:
            temporary.write_text("new")
    assert [path.read_text() for path in target.parent.iterdir()] == ["whole"]
    with pytest.raises(FileAccessError) as caught:
        check_writable(target / "below")
    assert str(caught.value) == f"cannot write to {target / 'below'}: {target} is a file, not a folder"


def test_a_folder_that_vanishes_while_it_is_claimed_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a `mkdir` whose folder another process removes at once."""
    out = tmp_path / "out"
    monkeypatch.setattr("segtrack.files.check_writable", lambda folder: None)
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)
    with pytest.raises(FileAccessError, match="No such file or directory"), claimed(out):
        pass
