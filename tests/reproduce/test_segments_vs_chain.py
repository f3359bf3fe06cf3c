"""Segments and a link chain against the same closed forms, and what is said of them."""

from __future__ import annotations

import dataclasses
import io
import json
import math

import numpy as np
import pytest
from rich.console import Console
from scenes import GRAVITY

import segtrack
from segtrack.description.chain import track_design
from segtrack.experiments import (
    SLIDING,
    SLOPE,
    SPEED,
    Pull,
    Slide,
    SteadyDrive,
    drive_steadily,
    pull_hitch,
    slide_down,
)
from segtrack.files import to_json
from segtrack.reproduce.okada_cases import run_table_4
from segtrack.reproduce.segments_vs_chain import (
    MODELS,
    VEHICLE,
    ComparedLine,
    Scenes,
    compare,
    draw_segments_vs_chain,
    run_segments_vs_chain,
    scene_count,
    segments_vs_chain,
)

WEIGHT = 24.0 * GRAVITY
LIMIT = math.atan(0.6)

both = pytest.mark.parametrize(
    "track_model", [pytest.param(model, marks=[pytest.mark.slow] * (model == "chain")) for model in MODELS]
)
"""Chains are slow; `test_chain_engines.py` holds them to the same forms."""


@both
def test_belts_carry_the_vehicle_along_on_flat_ground(track_model: str) -> None:
    drive = drive_steadily(VEHICLE, track_model, seconds=0.5)
    assert drive.weight == pytest.approx(WEIGHT)
    assert drive.mean_speed == pytest.approx(SPEED, rel=0.01)
    assert drive.slip == pytest.approx(0.0, abs=0.005)
    assert abs(drive.mean_force) < 0.01 * WEIGHT


@both
def test_drives_carry_the_weight_up_a_slope(track_model: str) -> None:
    drive = drive_steadily(VEHICLE, track_model, slope=SLOPE, seconds=0.5)
    assert drive.mean_force == pytest.approx(WEIGHT * math.sin(SLOPE), rel=0.05)
    assert drive.slip == pytest.approx(0.0, abs=0.02)


@both
def test_braked_belts_slide_at_the_friction_angle(track_model: str) -> None:
    begin = LIMIT - math.radians(1.0)
    slide = slide_down(
        VEHICLE, track_model, begin=begin, end=begin + math.radians(3.0), rate=math.radians(2.0)
    )
    assert math.degrees(slide.angle) == pytest.approx(math.degrees(LIMIT), abs=1.0)
    assert slide.speed[-1] > SLIDING
    assert slide.crept < 5e-3


@both
def test_hitch_is_pulled_by_friction_times_weight(track_model: str) -> None:
    (pull,) = pull_hitch(VEHICLE, track_model, slips=(1.0,), seconds=0.3)
    assert pull.slip == pytest.approx(1.0, abs=0.01)
    assert pull.pull == pytest.approx(0.6 * WEIGHT, rel=0.05)
    assert pull.drive == pytest.approx(pull.pull, rel=0.02)
    assert (pull.shoes is not None) == (track_model == "chain")
    assert pull.shoes is None or pull.shoes.mean == pytest.approx(SPEED, rel=0.2)


def steady(speed: np.ndarray | None = None, *, chain: bool = False) -> SteadyDrive:
    """A drive that is made up: 1 s, 2 N, no slip."""
    time = 0.002 * np.arange(1.0, 501.0)
    track = next(segtrack.load_vehicle(VEHICLE).mounted_tracks())
    return SteadyDrive(
        time=time,
        speed=np.full(500, SPEED) if speed is None else speed,
        force=np.full(500, 2.0),
        slip=0.0,
        slope=0.0,
        weight=WEIGHT,
        real_time_factor=1.0,
        design=track_design(track.name, track.spec) if chain else None,
    )


def test_traction_is_mass_times_acceleration_and_what_holds_on_a_slope() -> None:
    drive = dataclasses.replace(steady(0.5 * steady().time), slope=SLOPE)
    expected = WEIGHT / GRAVITY * (0.5 + GRAVITY * math.sin(SLOPE))
    assert drive.traction == pytest.approx(np.full(496, expected))


@pytest.mark.parametrize(("order", "share"), [(1.0, 1.0), (2.0, 1.0), (1.5, 0.0)])
def test_ripple_of_shoes_is_what_comes_at_multiples_of_their_rate(order: float, share: float) -> None:
    still = steady(chain=True)
    rate = still.shoe_rate
    assert still.design is not None
    assert rate == pytest.approx(SPEED / still.design.chain.shoe.pitch)
    ripple = steady(SPEED + 0.01 * np.sin(2 * np.pi * order * rate * still.time), chain=True)
    assert ripple.ripple_of_shoes == pytest.approx(share, abs=0.1)
    assert steady(ripple.speed).ripple_of_shoes == 0.0


def test_slide_begins_after_the_last_time_that_it_stood() -> None:
    slope = np.arange(6.0)
    speed = SLIDING * np.array([0.0, 2.0, 0.5, 0.9, 1.1, 3.0])
    slide = Slide(slope, speed, moved=slope / 10)
    assert (slide.angle, slide.crept) == (4.0, 0.3)
    assert Slide(slope, 0 * speed, slope).angle == 5.0
    assert Slide(slope, speed + 1.0, slope).angle == 0.0


def test_values_agree_within_a_tolerance_and_words_if_they_are_equal() -> None:
    line = ComparedLine("drawbar", "pull [N]", 141.0, 133.0, 140.0, 5.0, "why")
    assert (line.difference, line.agree, line.off_reference) == (-8.0, False, ("chain",))
    words = ComparedLine("Table IV", "0 deg, 40 mm", "climbed", "climbed", "failed", None, "why")
    assert (words.difference, words.agree, words.off_reference) == (None, True, MODELS)
    assert ComparedLine("flat", "speed", 1.0, 1.5, None, 1.0, "why").off_reference == ()


def test_comparison_is_told_as_table_json_and_picture() -> None:
    slide = Slide(np.array([0.5, LIMIT]), np.array([0.0, 0.1]), np.array([0.0, 0.01]))
    scenes = {
        model: Scenes(
            flat=steady(chain=model == "chain"),
            hill=dataclasses.replace(steady(), slope=SLOPE),
            slide=slide,
            pulls=(Pull(1.0, pull, pull, None),),
            climbs=run_table_4(track_model=model, published=()),
        )
        for model, pull in zip(MODELS, (0.6 * WEIGHT, 0.5 * WEIGHT), strict=True)
    }
    result = compare(scenes)
    lines = {(line.scene, line.quantity): line for line in result.lines}
    assert lines["slope", "slide angle, braked [deg]"].reference == math.degrees(LIMIT)
    assert lines["driving up 20 deg", "mean drive force [N]"].reference == pytest.approx(
        WEIGHT * math.sin(SLOPE)
    )
    pull = lines["drawbar", "pull at 100% slip [N]"]
    assert pull.reference == pytest.approx(0.6 * WEIGHT)
    assert [line for line in result.lines if not line.agree] == [pull]
    assert json.loads(to_json(result.summary()))["agree"] == len(lines) - 1
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(*segments_vs_chain(result))
    text = console.export_text()
    assert all(line.quantity in text and line.why in text for line in result.lines)
    assert len(draw_segments_vs_chain(result).axes) == 4


def test_a_chain_alone_stands_beside_its_closed_forms() -> None:
    """As without PyBullet, which segments need."""
    slide = Slide(np.array([0.5, LIMIT]), np.array([0.0, 0.1]), np.array([0.0, 0.01]))
    scenes = Scenes(
        flat=steady(chain=True),
        hill=dataclasses.replace(steady(), slope=SLOPE),
        slide=slide,
        pulls=(Pull(1.0, 0.5 * WEIGHT, 0.5 * WEIGHT, None),),
        climbs=run_table_4(track_model="chain", published=()),
    )
    result = compare({"chain": scenes})
    assert {line.segments for line in result.lines} == {line.agree for line in result.lines} == {None}
    off = {line.quantity: line.off_reference for line in result.lines}
    assert (off["slide angle, braked [deg]"], off["pull at 100% slip [N]"]) == ((), ("chain",))
    assert (result.agreeing, result.same_outcomes, result.speed_ratio) == (0, None, None)
    to_json(result.summary())
    (table,) = segments_vs_chain(result)
    assert [column.header for column in table.columns] == ["", "quantity", "chain", "reference"]
    assert len(draw_segments_vs_chain(result).axes) == 4


@pytest.mark.slow
def test_both_models_end_alike_at_steps_and_hold_the_closed_forms() -> None:
    done = []
    result = run_segments_vs_chain(on_done=lambda: done.append(1))
    assert len(done) == scene_count()
    assert result.same_outcomes >= 5
    for line in result.lines:
        if line.scene == "slope" or line.quantity in ("pull at 100% slip [N]", "mean drive force [N]"):
            assert line.off_reference == ()
