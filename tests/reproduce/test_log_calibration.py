"""Friction, centre of mass and drive lag from simulated climbs of which the truth is known.

All three parameters take ten minutes for logs of each track model. CI runs the drive lag alone, from a
short log and from three long ones.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("cmaes", reason="of an extra")

from segtrack.experiments import Workers
from segtrack.reproduce import calibration_coverage
from segtrack.reproduce.calibration import TRUTH, run_proof
from segtrack.reproduce.calibration_coverage import (
    Coverage,
    Estimated,
    FitJob,
    cases_of,
    coverage_of,
    coverage_outcome,
    fit_once,
    run_coverage,
)


def estimated(seed: int, name: str, low: float, bounded: bool = True) -> Estimated:
    return Estimated(seed, 3, name, truth=0.0, value=low + 0.5, low=low, high=low + 1.0, bounded=bounded)


def test_intervals_that_hold_are_counted_with_what_chance_makes_of_so_few() -> None:
    """Of 19 that hold the probability is above 0.025^(1/19); of one that does not, below 0.975."""
    found = [estimated(seed, "com_x", -0.05 * seed, bounded=seed > 3) for seed in range(1, 20)]
    found.append(estimated(1, "drive_lag", 0.1))
    centre, lag = coverage_of(found)
    assert centre == Coverage("com_x", 3, 19, 19, 16) and lag == Coverage("drive_lag", 3, 0, 1, 1)
    assert centre.interval == pytest.approx((0.025 ** (1 / 19), 1.0))
    assert lag.interval == pytest.approx((0.0, 0.975))
    outcome = coverage_outcome(found, interrupted=True)
    assert set(outcome.files) == {"coverage.json", "coverage.png"} and outcome.interrupted
    assert [row["held"] for row in outcome.summary["coverage"]] == [19, 0]


def test_logs_of_a_seed_are_always_the_same_and_their_place_is_not_known() -> None:
    (_, truth, (case,)), (_, same, (again,)) = cases_of(FitJob(5, 1)), cases_of(FitJob(5, 1))
    assert truth == same and (case.rows.measured == again.rows.measured).all()
    assert cases_of(FitJob(6, 1))[1] != truth
    assert 0.002 < case.place_std < 0.02


def test_ctrl_c_in_a_fit_ends_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit returns its best so far: that is no estimate, and no reason to begin the next."""
    begun = []

    def interrupted(*given: object, **named: object) -> SimpleNamespace:
        begun.append(given)
        return SimpleNamespace(finished=False, estimates=())

    monkeypatch.setattr(calibration_coverage, "fit", interrupted)
    assert run_coverage(3, jobs=1) == ([], True)
    assert len(begun) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_intervals_of_one_log_whose_place_is_not_known_hold_the_truth(seed: int) -> None:
    """Some 1,500 simulations each, 70 s of processor time."""
    for estimate in fit_once(FitJob(seed, 1)):
        assert estimate.bounded and estimate.holds, estimate


@pytest.mark.slow
def test_the_drive_lag_of_a_short_climb_is_found_by_the_model_that_made_it() -> None:
    """One log of 4 s, some 150 simulations."""
    proof = run_proof("compliant", truth={"drive_lag": TRUTH["drive_lag"]}, heights=(0.1,), duration=4.0)
    (estimate,) = proof.fit.estimates
    assert proof.fit.finished and proof.is_inside(estimate) and estimate.status == "identified"
    assert estimate.value == pytest.approx(TRUTH["drive_lag"], abs=0.006)
    assert 0.0 < estimate.std < 0.004


@pytest.mark.slow
def test_the_drive_lag_of_chains_is_found_with_compliant_belts() -> None:
    with Workers() as pool:
        proof = run_proof("chain", "compliant", truth={"drive_lag": TRUTH["drive_lag"]}, pool=pool)
    (estimate,) = proof.fit.estimates
    assert proof.fit.finished and proof.is_inside(estimate)
    assert estimate.value == pytest.approx(TRUTH["drive_lag"], abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("logged", ["compliant", "chain"])
def test_the_truth_is_within_the_interval_or_it_is_said_why_it_need_not_be(logged: str) -> None:
    """Logs of the chain miss: compliant belts are seen not to meet them, and that is what is said."""
    with Workers() as pool:
        proof = run_proof(logged, "compliant", pool=pool)
    assert proof.fit.finished
    for estimate in proof.fit.estimates:
        assert proof.is_inside(estimate) or (estimate.status != "identified" and estimate.why)
