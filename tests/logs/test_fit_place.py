"""Place of a log on its terrain as an unknown of a fit, against closed forms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

pytest.importorskip("cmaes", reason="of an extra")

from log_fit_doubles import TRUTH, VEHICLE, logged

from segtrack.description import VehicleDescription
from segtrack.experiments import Workers
from segtrack.logs.fit import PARAMETERS, Choice, Fit, MotionCase, fit, with_parameters
from segtrack.logs.fit.evaluate import Evaluator, Store
from segtrack.logs.fit.unknowns import unknowns_of
from segtrack.robot import Motion, Signal

STD, PLACE_STD = 0.004, 0.005
TIMES = np.arange(0.0, 5.0, 0.05) + 0.025
BY_COM, BY_PLACE = np.sin(TIMES), np.sin(TIMES) + 0.5 * np.cos(TIMES)
"""Pitch by centre of mass, and by place [rad/m]: alike for the most part."""
WEIGHT = 5.0


def linear(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A pitch that is linear in the centre of mass and in the place."""
    x = PARAMETERS["com_x"].value_of(vehicle)
    pitch = WEIGHT * (BY_COM * x + BY_PLACE * place)
    return Motion("linear", {"pitch": Signal(TIMES, pitch)})


def linear_log(name: str, seed: int, com_x: float, place: float, place_std: float) -> MotionCase:
    truth = with_parameters(VEHICLE, {"com_x": com_x})
    noise = np.random.default_rng(seed).normal(0.0, STD, len(TIMES))
    signal = linear(truth, None, place).signals["pitch"]
    motion = Motion(name, {"pitch": replace(signal, values=signal.values + noise, std=STD)})
    return MotionCase(name, motion, {"pitch": None}, linear, place_std=place_std)


def interval_of(found: Fit, name: str) -> tuple[float, float]:
    return next(e.interval for e in found.estimates if e.name == name)


def test_an_unknown_place_is_as_wide_as_the_joint_covariance_says_and_the_truth_is_within() -> None:
    """Two logs, one 1.5 standard deviations from where it was put."""
    com_x, places = -0.03, {"a": 1.5 * PLACE_STD, "b": -0.4 * PLACE_STD}
    cases = [linear_log(name, 2 + i, com_x, p, PLACE_STD) for i, (name, p) in enumerate(places.items())]
    found = fit(VEHICLE, cases, {"com_x": Choice()}, loss="squares")
    assert [estimate.name for estimate in found.estimates] == ["com_x"]
    slopes = WEIGHT / STD * np.stack([BY_COM, BY_PLACE], axis=1)
    information = np.zeros((3, 3))
    for own in (1, 2):
        at = np.ix_([0, own], [0, own])
        information[at] += slopes.T @ slopes
        information[own, own] += PLACE_STD**-2
    stds = np.sqrt(np.diag(np.linalg.inv(information)))
    # By 200 samples noise is known within 5 %; these two logs do not disagree.
    assert found.uncertainty.disagreement == 1.0
    assert found.estimates[0].std == pytest.approx(stds[0], rel=0.2)
    low, high = interval_of(found, "com_x")
    assert low < com_x < high and high - low == pytest.approx(2 * 1.96 * stds[0], rel=0.25)
    for case, std in zip(found.cases, stds[1:], strict=True):
        assert case.place_std == pytest.approx(std, rel=0.2)
        assert case.offsets.place == pytest.approx(places[case.case.name], abs=3 * std)
        assert case.score.score == pytest.approx(1.0, abs=0.15)


def test_the_interval_of_one_log_has_the_prior_of_its_place() -> None:
    """A place that is taken for known biases the centre of mass instead, by more than its interval."""
    case = linear_log("a", 3, -0.03, -PLACE_STD, PLACE_STD)
    found = fit(VEHICLE, [case], {"com_x": Choice()}, loss="squares")
    slopes = WEIGHT / STD * np.stack([BY_COM, BY_PLACE], axis=1)
    information = slopes.T @ slopes + np.diag([0.0, PLACE_STD**-2])
    assert found.estimates[0].std == pytest.approx(np.linalg.inv(information)[0, 0] ** 0.5, rel=0.2)
    low, high = interval_of(found, "com_x")
    assert low < -0.03 < high
    low, high = interval_of(fit(VEHICLE, [replace(case, place_std=0.0)], {"com_x": Choice()}), "com_x")
    assert high < -0.03
    assert found.summary()["cases"][0]["place"]["found"] == PLACE_STD


def test_the_lag_is_told_by_the_belts_where_the_place_is_not_known() -> None:
    """When a climb begins shows the lag, if it is known from where: without, the belts' own lag is left."""
    shares = {}
    for std in (0.0, 0.05):
        truth = {name: TRUTH[name] for name in ("com_x", "drive_lag")}
        case = logged("a", 0.2, 4, truth=truth, place_std=std)
        found = fit(VEHICLE, [case], {"com_x": Choice(), "drive_lag": Choice()})
        (table,) = found.information.values()
        belt = case.rows.labels.index("belt_speed.left")
        shares[std] = table[belt, [e.name for e in found.estimates].index("drive_lag")]
        low, high = interval_of(found, "drive_lag")
        assert low < TRUTH["drive_lag"] < high
    assert shares[0.05] > 0.9 > shares[0.0]


def test_a_log_that_is_held_out_is_scored_where_it_is_likely_to_be() -> None:
    cases = [
        linear_log("a", 5, -0.03, 0.0, 0.0),
        replace(linear_log("b", 6, -0.03, 2 * PLACE_STD, PLACE_STD), held_out=True),
    ]
    found = fit(VEHICLE, cases, {"com_x": Choice()})
    held = found.cases[1]
    assert held.score.score == pytest.approx(1.0, abs=0.2)
    assert held.offsets.place == pytest.approx(2 * PLACE_STD, abs=0.2 * PLACE_STD) and held.place_std is None


def going_another_way(
    vehicle: VehicleDescription, case: MotionCase, place: float, edge: float = 0.003
) -> Motion:
    """A linear pitch, and all of it something else beyond an edge, as if a grouser had caught."""
    motion = linear(vehicle, case, place)
    pitch = motion.signals["pitch"]
    return motion.with_signals({"pitch": replace(pitch, values=pitch.values + 0.3 * (place > edge))})


@pytest.mark.parametrize("edge", [0.003, 1e-5])
def test_a_slope_is_that_of_the_way_that_the_point_is_on(edge: float) -> None:
    """A central difference over 4 mm to either side would take the jump for a slope, however near it is."""
    case = linear_log("a", 7, -0.03, 0.0, PLACE_STD)
    unknowns = unknowns_of({"com_x": Choice()}, VEHICLE, {"a": PLACE_STD})
    ranges = [unknown.high - unknown.low for unknown in unknowns]
    slopes = []
    for simulate in (linear, partial(going_another_way, edge=edge)):
        own = replace(case, simulate=simulate)
        evaluator = Evaluator(VEHICLE, [own], unknowns, Workers(1), Store())
        (table,), priors = evaluator.jacobian(evaluator.start, np.array([0.01, 0.004 / ranges[1]]))
        slopes.append(table)
        assert priors[1, 1] == pytest.approx(ranges[1] / PLACE_STD) and priors[0, 0] == 0.0
    np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-6, atol=1e-8)
    first = WEIGHT * np.array([BY_COM[0], BY_PLACE[0]]) * ranges / STD
    np.testing.assert_allclose(slopes[0][0, 0], first, rtol=1e-6)


def test_places_that_lie_beyond_a_jump_are_found() -> None:
    """A log that is put on the wrong side is moved to the right one."""
    truth = with_parameters(VEHICLE, {"com_x": -0.03})
    pitch = going_another_way(truth, None, 0.006).signals["pitch"]
    noise = np.random.default_rng(8).normal(0.0, STD, len(TIMES))
    motion = Motion("a", {"pitch": replace(pitch, values=pitch.values + noise, std=STD)})
    case = MotionCase("a", motion, {"pitch": None}, going_another_way, place_std=PLACE_STD)
    found = fit(VEHICLE, [case], {"com_x": Choice()})
    low, high = interval_of(found, "com_x")
    assert low < -0.03 < high
    assert found.cases[0].offsets.place == pytest.approx(0.006, abs=0.001)


def saturating(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A pitch that the centre of mass changes up to -20 mm, and no more from there on."""
    x = min(PARAMETERS["com_x"].value_of(vehicle), -0.02)
    return Motion("saturating", {"pitch": Signal(TIMES, WEIGHT * BY_COM * x)})


def test_a_value_that_the_logs_rule_out_is_not_written_even_if_they_bound_it_to_one_side() -> None:
    """From -50 mm: all above -20 mm explain the log alike, -50 mm does not."""
    noise = np.random.default_rng(9).normal(0.0, STD, len(TIMES))
    pitch = Signal(TIMES, WEIGHT * BY_COM * -0.02 + noise, STD)
    case = MotionCase("a", Motion("a", {"pitch": pitch}), {"pitch": None}, saturating)
    found = fit(VEHICLE, [case], {"com_x": Choice()})
    (estimate,) = found.estimates
    assert PARAMETERS["com_x"].value_of(VEHICLE) == pytest.approx(-0.05)
    assert estimate.status in ("bounded below", "not identifiable")
    assert PARAMETERS["com_x"].value_of(found.written) == estimate.value > -0.022
    (remark,) = found.remarks
    low, high = estimate.interval
    assert remark.startswith(f"com_x is {estimate.value:.4g} m and not identified; ")
    assert f"{low:.4g} m to {high:.4g} m are possible, -0.05 m is not: " in remark
    assert found.cases[0].score.score == pytest.approx(1.0, abs=0.2)
