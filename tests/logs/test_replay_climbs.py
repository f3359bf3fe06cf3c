"""Simulated climbs as logs in frames of their own: found, put on their step, and driven again."""

import math
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from simulated_logs import TICK, climb, differences, disguised, step

from segtrack.description import load_vehicle
from segtrack.logs import Motion, Signal
from segtrack.logs.replay import ReplaySettings, align, replay
from segtrack.logs.replay.alignment import find_onset
from segtrack.logs.replay.path import belts_of

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
SPEEDS = (0.1, 0.2, 0.4)
NOISES = [
    # Pitch [deg], position [m], rate [Hz]; None for what a log lacks.
    (0.0, 0.0, 100),
    (0.1, 1e-3, 100),
    (0.1, 1e-3, 20),
    (0.3, 3e-3, 50),
    (0.1, None, 100),
    (None, 1e-3, 50),
]


def say(text):
    """Print, for `pytest -s`."""
    sys.stdout.write(f"{text}\n")


def in_mm(apart):
    """Differences in words."""
    return f"{1e3 * apart['position']:.2f} mm, pitch {math.degrees(apart['pitch']):.3f} deg"


def belts_apart(log, run):
    """Root of the mean square by which belts of a run are not those of a log [m/s]."""
    speed = run.signals["belt_speed.left"]
    apart = speed.values - log.signals["belt_speed.left"].at(speed.times)
    return float(np.sqrt(np.mean(apart**2)))


@pytest.mark.parametrize(
    ("engine", "track_model", "height"),
    [
        ("native", "compliant", 0.12),
        ("native", "chain", 0.24),
        pytest.param("pybullet", "segments", 0.12, marks=pytest.mark.pybullet),
    ],
)
def test_a_climb_of_quince_comes_back_to_itself(height, engine, track_model):
    """Put on its step by its touch, as near as that is known; and put where it was.

    From where it was its commands bring it back, to what is lost in settling once more. Its measured belts do
    so to what is lost between samples of their speed: they start within one, by a millimetre of travel, which
    decides which grouser catches the edge: a whole pitch of grousers, and the time that it takes to come by.
    """
    terrain = step(height)
    truth = climb("quince", terrain, way=0.2, seconds=4.0, engine=engine, track_model=track_model)
    settings = ReplaySettings("quince", terrain, engine=engine, track_model=track_model)
    began = time.process_time()
    found = replay(disguised(truth), settings)
    faster = 2 * (found.log.end - found.log.begin) / (time.process_time() - began)
    placed = replay(truth, replace(settings, frame="terrain"))
    assert found.diverged == placed.diverged == {}
    moved = differences(truth, found.logged)
    say(f"\n{track_model} {height}: log {in_mm(moved)} from the truth, std {1e3 * found.log.x_std:.1f} mm")
    say(f"  two runs at {faster:.2g} times real time on one core, alignment included")
    for label, run, log in (
        ("found, commanded", found.commanded, found.logged),
        ("found, measured", found.measured, found.logged),
        ("placed, commanded", placed.commanded, truth),
        ("placed, measured", placed.measured, truth),
    ):
        say(f"  {label}: {in_mm(differences(log, run))}, belts {1e3 * belts_apart(log, run):.2f} mm/s")
    assert moved["position"] < 2 * found.log.x_std
    commanded, measured = differences(truth, placed.commanded), differences(truth, placed.measured)
    pitch = load_vehicle("quince").tracks["left"].pitch
    limit = pitch if track_model == "segments" else 0.003
    assert commanded["position"] < limit and commanded["pitch"] < math.radians(1.0)
    end = placed.commanded.signals["position"]
    assert np.linalg.norm(end.values[-1] - truth.signals["position"].at(end.times[-1:])[0]) < 0.003
    assert measured["position"] < pitch and measured["pitch"] < math.radians(12.0)
    assert belts_apart(truth, placed.measured) < 0.01


@pytest.fixture(scope="module")
def touches():
    """Logs of all vehicles at three speeds, and when a belt first has a load from the step [s]."""
    found = {}
    for vehicle, height in VEHICLES:
        for speed in SPEEDS:
            times = []

            def look(time, robot, times=times):
                contacts = robot.model.read_contacts()
                x, _, z = contacts.places.T
                loaded = (x > 0.98) & (z > 0.004) & (contacts.normal_forces > 0.01)
                if loaded.any() and not times:
                    times.append(time - TICK / 2)

            seconds = 0.3 / speed + 3.0
            log = climb(vehicle, step(height), speed=speed, way=0.3, seconds=seconds, observer=look)
            found[vehicle, speed] = log, times[0]
    return found


@pytest.mark.parametrize(("pitch", "position", "rate"), NOISES)
def test_a_touch_is_found_in_noise_within_what_it_says(pitch, position, rate, touches):
    """Against contacts of the simulation, of which the log says nothing."""
    rng, errors, ratios = np.random.default_rng(11), [], []
    for (_, speed), (log, touch) in touches.items():
        every = round(1.0 / TICK / rate)
        kept = {k: s for k, s in log.signals.items() if k.partition(".")[0] == "belt_speed"}
        if pitch is not None:
            kept["pitch"] = log.signals["pitch"]
        if position is not None:
            kept["position"] = log.signals["position"]
        noises = {"pitch": math.radians(pitch or 0.0), "position": position or 0.0}
        signals = {}
        for key, signal in kept.items():
            values = signal.values[::every]
            signals[key] = Signal(
                signal.times[::every], values + rng.normal(0.0, noises.get(key, 0.0), values.shape)
            )
        motion = Motion("noisy", signals)
        onset = find_onset(motion, belts_of(motion), *motion.span)
        if onset is not None:
            errors.append(speed * (onset.time - touch))
            ratios.append((onset.time - touch) / onset.std)
    away, within = 1e3 * np.array(errors), np.mean(np.abs(ratios) < 2.0)
    middle, low, high = np.percentile(away, [50, 10, 90])
    say(
        f"\npitch {pitch} deg, position {position} m, {rate} Hz: {len(errors)} of {len(touches)} found, "
        f"{middle:.1f} mm late ({low:.1f} to {high:.1f} for 80 %), {within:.0%} within two std"
    )
    # A way alone shows a touch that holds the vehicle up; one that hardly does is found at the next.
    assert within >= (0.8 if pitch is not None else 0.6)


@pytest.mark.parametrize(("vehicle", "height"), VEHICLES)
def test_the_touch_of_every_bundled_vehicle_puts_its_log_on_the_step(vehicle, height, touches):
    errors = []
    for speed in SPEEDS:
        truth, _ = touches[vehicle, speed]
        aligned = align(disguised(truth), ReplaySettings(vehicle, step(height)))
        apart = truth.signals["position"].values - aligned.motion.signals["position"].values
        errors.append((float(np.abs(apart[:, 0]).max()), aligned.x_std))
        assert np.abs(apart[:, 1]).max() < 0.005
    shown = ", ".join(f"{1e3 * error:.1f} mm of std {1e3 * std:.1f}" for error, std in errors)
    say(f"\n{vehicle} {height}: {shown}")
    assert all(error < 3 * std for error, std in errors)
