"""Comparisons of motions whose sides differ, and of logs with gaps."""

import numpy as np
from numpy.testing import assert_allclose

from segtrack.logs import Motion, Signal
from segtrack.logs.compare import compare_motions, find_phases


def climb(left, right):
    """A climb whose nose rises fast at first, with the belts of each side at speeds (n,) [m/s]."""
    times = np.linspace(0.0, 12.0, 601)
    pitch = np.interp(times, [0, 2, 4, 8, 9, 12], np.radians([0, 0, 15, 25, 0, 0]))
    signals = {"pitch": pitch, "belt_speed.left": left(times), "belt_speed.right": right(times)}
    return Motion("climb", {key: Signal(times, values) for key, values in signals.items()})


def test_the_phases_of_a_climb_are_those_of_its_mirror_image():
    def steady(times):
        return np.full(len(times), 0.1)

    def pausing(times):
        return np.where((times > 3.0) & (times < 7.0), 0.0, 0.1)

    mirrored = find_phases(climb(steady, pausing))
    assert mirrored == find_phases(climb(pausing, steady))
    assert mirrored != find_phases(climb(steady, steady))


def test_motions_that_are_aligned_at_an_event_agree_there_after_a_gap_in_the_log():
    times, event, drift = np.arange(0.0, 10.0, 0.02), 7.0, np.array([0.01, -0.02, 0.0])
    there = (times < 1.0) | (times > 4.0)
    path = np.stack([0.2 * times, 0.1 * times, 0.0 * times], axis=1)
    off = drift * (times - event)[:, None]
    logged = Motion("log", {"position": Signal(times[there], path[there])})
    simulated = Motion("simulation", {"position": Signal(times, path + off)})
    found = compare_motions(logged, simulated, alignment="event", event=event)
    error = found.errors["position error (ATE)", "whole"].values
    known = np.isfinite(error).all(axis=1)
    assert_allclose(error[known], off[: len(error)][known], atol=1e-9)
