"""Simulated climbs as logs in frames of their own: found, put on their step, and driven again."""

import math
from dataclasses import replace

import numpy as np
import pytest
from simulated_logs import climb, differences, disguised, step

from segtrack.logs.replay import ReplaySettings, align, replay

pytestmark = pytest.mark.slow
VEHICLES = [
    ("quince", 0.12),
    ("packbot", 0.10),
    ("example_rover", 0.05),
    ("okada_example", 0.05),
    ("maxxii", 0.05),
    ("bulldozer", 0.20),
    ("tapered", 0.04),
    ("trapezoidal", 0.05),
    ("triangular", 0.06),
    ("lugged_wheel", 0.08),
]
"""Each with a step that it climbs or tries to [m]; `conveyor` is bolted to the world."""
MODELS = [("native", "compliant"), ("native", "chain"), ("pybullet", "segments")]


def in_mm(apart):
    """Differences in words."""
    return f"{1e3 * apart['position']:.2f} mm, pitch {math.degrees(apart['pitch']):.3f} deg"


def belts_apart(log, run):
    """Root of the mean square by which belts of a run are not those of a log [m/s]."""
    speed = run.signals["belt_speed.left"]
    apart = speed.values - log.signals["belt_speed.left"].at(speed.times)
    return float(np.sqrt(np.mean(apart**2)))


@pytest.mark.parametrize(("engine", "track_model"), MODELS)
@pytest.mark.parametrize("height", [0.12, 0.24])
def test_a_climb_of_quince_comes_back_to_itself(height, engine, track_model):
    """Put on its step by its touch, as near as that is known; and put where it was.

    From where it was its commands bring it back, to what is lost in settling once more. Its measured belts do
    so to what is lost between samples of their speed: they start within one, by a millimetre of travel, which
    moves the grousers that meet the edge.
    """
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    terrain = step(height)
    truth = climb("quince", terrain, way=0.2, seconds=4.0, engine=engine, track_model=track_model)
    settings = ReplaySettings("quince", terrain, engine=engine, track_model=track_model)
    found = replay(disguised(truth), settings)
    placed = replay(truth, replace(settings, frame="terrain"))
    assert found.diverged == placed.diverged == {}
    moved = differences(truth, found.logged)
    print(f"\n{track_model} {height}: log {in_mm(moved)} from the truth, std {1e3 * found.log.x_std:.1f} mm")
    for label, run, log in (
        ("found, commanded", found.commanded, found.logged),
        ("found, measured", found.measured, found.logged),
        ("placed, commanded", placed.commanded, truth),
        ("placed, measured", placed.measured, truth),
    ):
        print(f"  {label}: {in_mm(differences(log, run))}, belts {1e3 * belts_apart(log, run):.2f} mm/s")
    assert moved["position"] < 2 * found.log.x_std
    commanded, measured = differences(truth, placed.commanded), differences(truth, placed.measured)
    assert commanded["position"] < 0.003 and commanded["pitch"] < math.radians(1.0)
    assert measured["position"] < 0.01 and measured["pitch"] < math.radians(2.5)
    assert belts_apart(truth, placed.measured) < 0.01


@pytest.mark.parametrize(("vehicle", "height"), VEHICLES)
def test_the_touch_of_every_bundled_vehicle_puts_its_log_on_the_step(vehicle, height):
    terrain, errors = step(height), []
    for speed in (0.1, 0.2, 0.4):
        truth = climb(vehicle, terrain, speed=speed, way=0.3, seconds=0.3 / speed + 1.5)
        aligned = align(disguised(truth), ReplaySettings(vehicle, terrain))
        apart = truth.signals["position"].values - aligned.motion.signals["position"].values
        errors.append((float(np.abs(apart[:, 0]).max()), aligned.x_std))
        assert np.abs(apart[:, 1]).max() < 0.005
    shown = ", ".join(f"{1e3 * error:.1f} mm of std {1e3 * std:.1f}" for error, std in errors)
    print(f"\n{vehicle} {height}: {shown}")
    assert all(error < 3 * std for error, std in errors)
