"""Friction, centre of mass and drive lag from simulated climbs of which the truth is known.

All three parameters take ten minutes for logs of each track model. CI runs the drive lag alone, from a
short log and from three long ones.
"""

from __future__ import annotations

import pytest

pytest.importorskip("cmaes", reason="of an extra")

from segtrack.experiments import Workers
from segtrack.reproduce.calibration import TRUTH, run_proof


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
