"""`segtrack reproduce korner`: the M113 at the paper's obstacles, in short form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from segtrack.description import load_vehicle
from segtrack.reproduce.korner import paper
from segtrack.reproduce.korner.command import draw_korner, korner_tables
from segtrack.reproduce.korner.free_body import StuckRun, draw_free_bodies, find_free_body, stuck_runs
from segtrack.reproduce.korner.plan import KornerPlan, step_series, trapezoid_series
from segtrack.reproduce.korner.result import run_plan, trend
from segtrack.reproduce.korner.series import SeriesResult, SeriesTrial
from segtrack.reproduce.korner.vehicle import (
    AS_PAPER,
    BASE,
    SIDE,
    ModelChange,
    SprocketPlace,
    evaluation_model,
    grid_places,
)


def _trial(tried: float, peak: float, passed: bool = True) -> SeriesTrial:
    return SeriesTrial(tried, passed, "passed" if passed else "stuck", peak, peak / 2, "", ((0.0, 0.0),))


def test_the_grid_has_the_papers_places() -> None:
    places = grid_places(9)
    assert len(places) == paper.PLACES
    assert SprocketPlace(0.0, 0.0) in places
    assert SprocketPlace(-0.2, 0.2) in places  # The paper's upper left corner (5.2).


def test_a_limiting_speed_is_interpolated_at_the_first_crossing() -> None:
    series = step_series("throttle", 0.8, (1.0,))
    peaks = [1.5, 3.5, 2.0, 4.0]
    result = SeriesResult(series, tuple(_trial(1.0 + i, peak) for i, peak in enumerate(peaks)))
    assert result.limiting_speed(lambda trial: trial.peak) == pytest.approx(1.5)
    assert result.limiting_speed(lambda trial: trial.filtered_peak) is None


def test_a_trend_is_the_slope_of_a_plane() -> None:
    places = [SprocketPlace(x, z) for x in (-0.1, 0.0, 0.1) for z in (-0.1, 0.1)]
    runs = tuple(
        SeriesResult(
            step_series("throttle", 0.8, (1.0,), place),
            (_trial(0.8 + 0.5 * place.z, 0.0), _trial(2.0, 0.0, passed=False)),
        )
        for place in places
    )
    assert trend(runs, 1) == pytest.approx(0.5)
    assert trend(runs, 0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_sides_are_alike_and_the_chain_closes_with_as_many_shoes_as_its_length_asks() -> None:
    """Chord by chord a sprocket 0.1 m forward takes 0.2 m more; the idler slides by half of what is left."""
    with evaluation_model(SprocketPlace(0.0, 0.0), AS_PAPER) as (vehicle, default):
        left, right = vehicle.tracks["left"], vehicle.tracks[SIDE]
        assert left.path == right.path
        assert left.mount.xyz[1] == -right.mount.xyz[1]
        assert [w.x for w in left.chain.road_wheels or ()] == [w.x for w in right.chain.road_wheels or ()]
        assert vehicle.name == BASE
    assert default.shoes == 64  # The file's own on this side.
    with evaluation_model(SprocketPlace(0.1, 0.0), AS_PAPER) as (vehicle, moved):
        pitch = vehicle.tracks[SIDE].chain.shoes.pitch
    assert pitch is not None
    assert abs(moved.slide) <= pitch / 2
    longer = 0.1 + moved.slide - default.slide
    assert (moved.shoes - default.shoes) * pitch == pytest.approx(2 * longer, abs=0.02)


@pytest.mark.slow
def test_steps_and_the_last_ditch_end_as_in_the_paper() -> None:
    """Creeping, 0.70 m is climbed and 0.90 m is not; ditch 12 holds the vehicle (4.2.2, 4.2.4)."""
    plan = KornerPlan(
        steps=(step_series("creep", paper.FRICTION, (0.7, 0.9)),),
        gaps=(),
        trapezoids=(trapezoid_series(12, ditch=True),),
        half_rounds=(),
        places=(step_series("throttle", paper.FRICTION, (0.6,), SprocketPlace(-0.2, -0.2)),),
    )
    result = run_plan(plan, workers=1)
    (step,) = result.steps
    assert step.largest == 0.7
    assert step.failed is not None
    assert step.failed.tried == 0.9
    assert result.marks("ditch") == "F"
    assert "overlap" in result.places[0].refused
    summary = result.summary()
    assert math.isclose(summary["steps"][0]["largest"], 0.7)
    assert len(korner_tables(result)) == 4
    assert len(draw_korner(result).axes) >= 4


def test_the_plain_series_of_each_kind_has_a_free_body() -> None:
    plain, other = (
        step_series("throttle", 0.8, (0.8, 0.9), change=ModelChange(hull=hull)) for hull in (True, False)
    )
    creep = step_series("creep", 0.8, (0.8,))
    results = [
        SeriesResult(plain, (_trial(0.8, 1.0), _trial(0.9, 1.0, passed=False))),
        SeriesResult(other, (_trial(0.8, 1.0, passed=False),)),
        SeriesResult(creep, (_trial(0.8, 1.0),)),
    ]
    assert stuck_runs(results) == (StuckRun(plain, 0.9),)


@pytest.mark.slow
def test_forces_on_shoes_hold_a_stuck_vehicle_whose_hull_touches_nothing() -> None:
    """Newton's second law: ground on shoes and weight are the change of momentum, so nothing is left."""
    series = step_series("throttle", paper.FRICTION, (1.6,), change=ModelChange(hull=False))
    body = find_free_body(StuckRun(series, 1.6))
    left = np.linalg.norm(body.hull) / body.weight
    assert left < 0.001
    assert body.weight == pytest.approx(9.81 * load_vehicle(BASE).mass, rel=1e-6)
    assert len(draw_free_bodies([body]).axes) == 1
