"""Fits with several track models: the interval that has their discrepancy, beside each model's own."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from log_fit_doubles import TRUTH, VEHICLE, climb, logged

pytest.importorskip("cmaes", reason="of an extra")

from segtrack.description import VehicleDescription
from segtrack.files import to_json
from segtrack.logs.fit import Choice, Fit, MotionCase, SharedEstimate, compare_models, fit
from segtrack.report.logs import models_outcome
from segtrack.robot import Motion, Signal


def early(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    return _shifted(vehicle, case, 0.012)


def late(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    return _shifted(vehicle, case, -0.008)


def _shifted(vehicle: VehicleDescription, case: MotionCase, shift: float) -> Motion:
    """A model whose nose comes down too early or too late, for which the centre of mass makes up wholly."""
    x, y, z = vehicle.body.center_of_mass
    body = vehicle.body.model_copy(update={"center_of_mass": (x + shift, y, z)})
    made = climb(vehicle.model_copy(update={"body": body}), case.settings)
    pitch, belt = (Signal(made["times"], made[name]) for name in ("pitch", "belt"))
    return Motion("simulated", {"pitch": pitch, "belt_speed.left": belt})


@pytest.fixture(scope="module")
def fits() -> dict[str, Fit]:
    cases = [logged("low", 0.1, 1), logged("high", 0.22, 2)]
    return {
        name: fit(
            VEHICLE, [replace(case, simulate=simulate) for case in cases], dict.fromkeys(TRUTH, Choice())
        )
        for name, simulate in (("early", early), ("late", late))
    }


def test_each_model_is_sure_of_another_value_and_together_they_hold_the_truth(fits: dict[str, Fit]) -> None:
    friction, x, lag = compare_models(fits)
    for estimate in x.by_model.values():
        low, high = estimate.interval
        assert estimate.status == "identified" and not low < TRUTH["com_x"] < high
    assert x.value is not None and x.discrepancy is not None and x.std is not None
    assert x.discrepancy == pytest.approx(0.02 / math.sqrt(2), rel=0.05)  # Of -0.042 and -0.022.
    assert x.interval[0] < TRUTH["com_x"] < x.interval[1]
    for each in (friction, lag):  # The models do not differ in these.
        assert each.discrepancy < 0.2 * each.std
        low, high = each.interval
        assert low < TRUTH[each.name] < high
        assert high - low > min(e.interval[1] - e.interval[0] for e in each.by_model.values())


def test_the_interval_is_that_of_the_equations(fits: dict[str, Fit]) -> None:
    (own, *_), (other, *_) = (found.estimates for found in fits.values())
    three = [
        replace(own, value=v, std=s, status="identified") for v, s in ((1.0, 0.3), (2.0, 0.4), (4.5, 0.5))
    ]
    open_one = replace(other, status="bounded below")
    shared = SharedEstimate.of(dict(zip("abcd", [*three, open_one], strict=True)))
    between = (1.5**2 + 0.5**2 + 2.0**2) / 2
    assert shared.value == pytest.approx(2.5) and shared.discrepancy == pytest.approx(math.sqrt(between))
    assert shared.std == pytest.approx(math.sqrt((0.09 + 0.16 + 0.25) / 3 + between * 4 / 3))
    low, high = own.interval
    half = math.sqrt(((high - low) / 2) ** 2 + 1.959964**2 * between * 4 / 3)
    assert shared.interval == pytest.approx((2.5 - half, 2.5 + half))
    alone = SharedEstimate.of({"a": three[0], "b": open_one})
    assert alone.value is alone.interval is alone.discrepancy is None


def test_models_are_told_side_by_side(fits: dict[str, Fit]) -> None:
    outcome = models_outcome(fits)
    to_json(outcome.summary)
    assert {"models.json", "models.png", "early/fit.json", "late/residuals.png"} <= set(outcome.files)
    table = outcome.tables[-1]
    assert [column.header for column in table.columns[:3]] == ["parameter", "early", "late"]
    labels = [text.get_text() for text in outcome.files["models.png"].axes[1].get_yticklabels()]
    assert labels == ["early", "late", "together"]
