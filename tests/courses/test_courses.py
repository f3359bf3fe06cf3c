"""Courses: geometry against closed forms and symmetries, rules of the bundled ones, mistakes in files."""

import json
import math
import random
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from matplotlib.patches import Polygon
from scipy.spatial.transform import Rotation
from tables import each_row
from typer.testing import CliRunner

from segtrack import terrain
from segtrack.cli.app import app
from segtrack.courses import (
    CourseFile,
    Layout,
    Setting,
    Zone,
    build_ground,
    bundled_courses,
    find_course,
    load_course,
    parse_course,
)
from segtrack.courses.course_file import Piece
from segtrack.description import bounding_box, bundled_vehicles, load_vehicle
from segtrack.errors import CourseFileError, InvalidValueError, UnknownNameError
from segtrack.geometry import Box
from segtrack.ground import pack_ground
from segtrack.report import draw_course
from segtrack.terrain import column_of

NAMES = bundled_courses()
MANUAL = Path(__file__).parents[2] / "docs" / "topics" / "courses.md"
LANE = """
title: Mine
description: One piece in a lane.
lanes:
  - width: 1.2
    walls: null
    pieces:
      - flat: {length: 1.0}
      - PIECE
      - flat: {length: 1.0}
"""


def heights(course, x, y=0.0):
    """Of all there is but walls [m]."""
    grounds = [ground for ground in course.terrains if not getattr(ground, "name", "").endswith(": walls")]
    return np.max([ground.height_at(x, y) for ground in grounds], axis=0)


def with_piece(piece):
    """A course whose piece begins at x = 1."""
    return parse_course(LANE.replace("PIECE", piece), "mine")


def settings_of(name):
    setting = load_course(name).setting
    return [None] if setting is None else [None, *setting.values]


# The bundled ones


@each_row("name", NAMES)
def test_a_bundled_course_has_one_floor_and_rules_that_fit_it(name):
    for value in settings_of(name):
        course = load_course(name, value)
        floor, *others = course.terrains
        assert isinstance(floor, terrain.Plane) and all(isinstance(o, terrain.StaticBody) for o in others)
        # Nothing but walls and soil beside the floor is level with it: flats are the floor itself.
        tops = [
            solid.center[2] + solid.size[2] / 2
            for other in others
            for solid in other.parts
            if isinstance(solid, Box)
        ]
        assert all(top > 0.001 for top in tops)
        assert course.gates and course.bounds.contains(course.start.x, course.start.y, 0.1)
        for gate in course.gates:
            middle = gate.x, gate.y, gate.z_min + 0.3
            assert gate.contains(*middle) and course.bounds.contains(*middle)
            assert heights(course, gate.x, gate.y) >= gate.z_min
        # A repetition ends where it began.
        assert course.gates[-1].contains(course.start.x, course.start.y, 0.1)
        assert course.distance > 1 and course.lowest < 0


@each_row("name", NAMES)
def test_its_vehicle_fits_on_the_floor_where_it_starts(name):
    course = load_course(name)
    if course.vehicle is None:
        assert course.lane_width == 0.3  # No bundled vehicle is so narrow.
        return
    low, high = bounding_box(load_vehicle(course.vehicle), {})
    x, y = np.meshgrid(np.linspace(low[0], high[0], 21), np.linspace(low[1], high[1], 21))
    cosine, sine = math.cos(course.start.yaw), math.sin(course.start.yaw)
    x, y = course.start.x + cosine * x - sine * y, course.start.y + sine * x + cosine * y
    assert max(ground.height_at(x, y).max() for ground in course.terrains) == 0


def test_each_lane_width_of_the_test_methods_is_in_use():
    assert {load_course(name).lane_width for name in NAMES} >= {0.3, 0.6, 1.2, 2.4}


def test_the_first_course_is_the_step_of_table_4():
    course = load_course("okada-step")
    x = np.array([1.59, 1.61, 3.59, 3.61])
    assert heights(course, x) == pytest.approx([0.0, 0.24, 0.24, 0.0])
    assert heights(load_course("okada-step", 0.3), 2.0) == pytest.approx(0.3)
    assert course.setting == Setting("height of the step", "m", (0.12, 0.16, 0.2, 0.24, 0.28), 0.24)
    assert course.setting.next_value == 0.28
    assert load_course("okada-step", 0.28).setting.next_value is None
    # The whole robot is on top before it counts, and the way is there and back.
    assert not course.gates[0].contains(1.9, 0.0, 0.35) and course.gates[0].contains(2.1, 0.0, 0.35)
    assert course.distance == pytest.approx(2 * (2.6 - 0.6))


@each_row("name", NAMES)
def test_the_source_makes_the_same_course_again(name):
    course = load_course(name)
    again = parse_course(course.source, name, course.setting and course.setting.value)
    assert (again.start, again.gates, again.walls) == (course.start, course.gates, course.walls)
    x, y = np.random.default_rng(0).uniform(-4, 8, (2, 500))
    assert (heights(again, x, y) == heights(course, x, y)).all()


# Apparatus, each with its piece from x = 1 on


def test_a_slope_rises_by_its_tangent_to_a_level_top():
    course = with_piece("ramp: {slope_deg: 15, length: 1.0, top_length: 0.5}")
    run, rise = math.cos(math.radians(15)), math.sin(math.radians(15))
    x = 1 + np.array([0.0, run / 2, run, run + 0.5, 1.5 * run + 0.5, 2 * run + 0.5])
    assert heights(course, x) == pytest.approx([0, rise / 2, rise, rise, rise / 2, 0], abs=1e-9)
    drop = with_piece("ramp: {slope_deg: 15, length: 1.0, top_length: 0.5, down: false}")
    assert heights(drop, [1 + run + 0.49, 1 + run + 0.51]) == pytest.approx([rise, 0])


@pytest.mark.parametrize("down", [False, True])
def test_stairs_rise_by_one_riser_a_tread_to_the_landing(down):
    course = with_piece(
        f"stairs: {{slope_deg: 40, rise: 0.2, count: 3, landing: 1.0, down: {str(down).lower()}}}"
    )
    tread = 0.2 / math.tan(math.radians(40))
    x = 1 + np.array([-0.01, 0.01, tread + 0.01, 2 * tread + 0.01, 2 * tread + 0.99])
    assert heights(course, x) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.6])
    behind = heights(course, 1 + 2 * tread + 1.01)
    assert behind == pytest.approx(0.4 if down else 0.0)


def test_a_gap_is_as_long_and_deep_as_its_settings_say():
    course = with_piece("gap: {length: 0.3, height: 0.2, platform: 1.0, slope_deg: 30}")
    start = 1 + 0.2 / math.tan(math.radians(30)) + 1.0
    x = start + np.array([-0.99, -0.01, 0.01, 0.29, 0.31, 1.29])
    assert heights(course, x) == pytest.approx([0.2, 0.2, 0, 0, 0.2, 0.2])


def test_a_pipe_is_round_and_stands_on_a_beam():
    course = with_piece("hurdle: {height: 0.15, length: 0.05, pipe: true}")
    along = np.linspace(0.0, 0.05, 11)
    round_top = 0.125 + np.sqrt(0.025**2 - (along - 0.025) ** 2)
    assert heights(course, 1 + along) == pytest.approx(round_top, abs=3e-3)  # Of 24 sides.
    assert heights(course, 1.025) == pytest.approx(0.15)
    assert heights(course, [0.99, 1.06]) == pytest.approx([0, 0])


@pytest.mark.parametrize("ridges", ["across", "diagonal"])
def test_continuous_ramps_have_no_step_and_one_slope(ridges):
    course = with_piece(f"continuous_ramps: {{count: 3, slope_deg: 15, ridges: {ridges}}}")
    step = 0.003
    x, y = np.meshgrid(np.arange(1.002, 4.598, step), np.arange(-0.598, 0.598, step), indexing="ij")
    z = heights(course, x, y)
    slope = math.tan(math.radians(15))
    along, across = np.diff(z, axis=0) / step, np.diff(z, axis=1) / step
    assert max(np.abs(along).max(), np.abs(across).max()) <= slope * (1 + 1e-6)
    steepness = np.hypot(along[:, :-1], across[:-1])
    assert np.median(steepness) == pytest.approx(slope)  # Crests and valleys are less.
    assert z.max() == pytest.approx(0.6 * slope, abs=2e-3) and z.min() == pytest.approx(0.0, abs=2e-3)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_diagonal_ridges_fill_the_field_into_its_corners(count):
    """Across 45 deg they follow each other by a width of the field, 1.2 m, from the corner on."""
    course = with_piece(f"continuous_ramps: {{count: {count}, slope_deg: 15, ridges: diagonal}}")
    u, y = np.random.default_rng(2).uniform((0, -0.599), (1.2 * count, 0.599), (500, 2)).T
    u, y = np.append(u, 1.2 * count - 1e-3), np.append(y, 0.599)
    way = (u + y + 0.6) * math.sqrt(0.5)  # From the corner at which the field begins.
    expected = (0.6 - np.abs(way % 1.2 - 0.6)) * math.tan(math.radians(15))
    assert heights(course, 1 + u, y) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("raised", [0.0, 0.1])
def test_a_pinwheel_is_its_own_picture_after_a_turn(raised):
    """By a quarter turn; by half a turn if two of four ramps are raised."""
    course = with_piece(f"crossing_ramps: {{count: 1, slope_deg: 15, raised: {raised}}}")
    offsets = np.random.default_rng(0).uniform(-0.599, 0.599, (2, 400))
    turn = 1j if raised == 0 else -1
    turned = turn * (offsets[0] + 1j * offsets[1])
    z = heights(course, 1.6 + offsets[0], offsets[1])
    assert heights(course, 1.6 + turned.real, turned.imag) == pytest.approx(z)
    slope = math.tan(math.radians(15))
    assert z.max() == pytest.approx(0.6 * slope + raised, abs=0.01)
    quadrant = (offsets[0] < 0) & (offsets[1] < 0)
    assert z[quadrant] == pytest.approx(raised + slope * (offsets[0][quadrant] + 0.6))


@pytest.mark.parametrize("raised", [0.0, 0.1])
def test_alternating_ramps_have_a_ridge_beside_each_valley(raised):
    """Those on the right are raised."""
    pattern = f"pattern: alternating, raised: {raised}"
    course = with_piece(f"crossing_ramps: {{count: 2, slope_deg: 15, {pattern}}}")
    crest = 0.6 * math.tan(math.radians(15))
    x = 1 + np.array([0.6, 1.2, 1.8])
    right = raised + np.array([crest, 0, crest])
    assert heights(course, x, -0.3) == pytest.approx(right, abs=1e-9)
    assert heights(course, x, 0.3) == pytest.approx([0, crest, 0], abs=1e-9)


@pytest.mark.parametrize("pattern, top", [("flat", 2), ("hill", 3), ("diagonal", 3)])
def test_a_step_field_is_symmetric_about_its_middle(pattern, top):
    course = with_piece(f"step_field: {{pattern: {pattern}, unit: 0.08, post: 0.1, rows: 12, peak: 3}}")
    middles = (np.arange(12) - 5.5) * 0.1
    x, y = np.meshgrid(1.6 + middles, middles, indexing="ij")
    z = heights(course, x, y) / 0.08
    assert z == pytest.approx(z[::-1, ::-1])
    assert z * 2 == pytest.approx(np.round(z * 2)) and z.max() == pytest.approx(top) and z.min() >= 0.5
    # A post is level up to its faces.
    assert heights(course, x + 0.049, y - 0.049) == pytest.approx(z * 0.08)


def test_k_rails_cross_the_lane_one_way_and_the_other():
    course = with_piece("k_rails: {count: 2, height: 0.075, thickness: 0.038}")
    across = np.linspace(-0.5, 0.5, 21)
    assert heights(course, 1.6 + across, across) == pytest.approx(0.075)
    assert heights(course, 2.8 + across, -across) == pytest.approx(0.075)
    aside = 0.038 / 2 * math.sqrt(2)
    assert heights(course, 1.6 + across + aside + 1e-6, across) == pytest.approx(0.0)


def test_a_confined_space_leaves_its_clearance_free():
    course = with_piece("confined_space: {clearance: 0.4, count: 2, spacing: 0.5, beam: 0.1, sill: 0.06}")
    parts = [solid for body in course.terrains[1:] for solid in body.parts]
    spans = {}
    for solid in parts:
        low, high = column_of(solid).span(np.array([solid.center[0]]), np.zeros(1))
        spans[round(solid.center[0], 6)] = (float(low[0]), float(high[0]))
    assert spans == {
        1.5: pytest.approx((0.4, 0.5)), 2.0: pytest.approx((-0.05, 0.06)), 2.5: pytest.approx((0.4, 0.5))
    }  # fmt: skip


def test_a_bed_is_of_its_soil_and_the_floor_under_it_rigid():
    floor, bed = with_piece("{bed: {length: 2.0, depth: 0.1}, soil: dry sand}").terrains
    assert floor.soil is None and bed.soil == terrain.find_soil("dry sand")
    run = 0.1 / math.tan(math.radians(15))
    assert bed.height_at(1 + np.array([run / 2, run, 1.0])) == pytest.approx([0.05, 0.1, 0.1])


def test_an_elevated_piece_stands_on_the_floor():
    course = with_piece("{step: {height: 0.1, length: 1.0}, elevation: 0.3}")
    (solid,) = course.terrains[1].parts
    low, high = column_of(solid).span(np.array([1.5]), np.zeros(1))
    assert (low[0], high[0]) == pytest.approx((-0.05, 0.4))


# Lanes, walls and gates


def test_a_lane_elsewhere_is_the_same_lane():
    text = LANE.replace("PIECE", "step_field: {pattern: diagonal, rows: 5}").replace(
        "walls: null", "walls: {}"
    )
    here = parse_course(text, "mine")
    there = parse_course(
        text.replace("width: 1.2", "width: 1.2\n    place: {x: 2, y: -3, yaw_deg: 60}"), "mine"
    )
    turn = Rotation.from_euler("z", 60, degrees=True)
    points = np.random.default_rng(0).uniform((-0.5, -1, 0), (3, 1, 0), (500, 3))
    moved = turn.apply(points) + (2, -3, 0)
    for one, other in zip(here.terrains, there.terrains, strict=True):
        assert other.height_at(*moved.T[:2]) == pytest.approx(one.height_at(*points.T[:2]), abs=1e-9)
    for one, other in ((here.start, there.start), *zip(here.gates, there.gates, strict=True)):
        assert (other.x, other.y, 0) == pytest.approx(turn.apply((one.x, one.y, 0)) + (2, -3, 0))
        assert other.yaw == pytest.approx(math.radians(60))


def test_walls_stand_beside_the_lane_as_high_above_all_of_it():
    course = parse_course(
        LANE.replace("walls: null", "walls: {height: 0.3}").replace(
            "PIECE", "step: {height: 0.2, length: 1.0}"
        ),
        "mine",
    )
    walls = course.terrains[-1]
    x = np.array([0.5, 1.5, 2.5])
    for side in (-1, 1):
        assert walls.height_at(x, side * 0.601) == pytest.approx([0.3, 0.5, 0.3])
        assert np.isneginf(walls.height_at(x, side * 0.599)).all()
    assert walls.height_at([-0.01, 3.01], 0.0) == pytest.approx([0.3, 0.3])
    # What must not be touched is what stands there.
    assert len(walls.parts) == len(course.walls)
    for wall, part in zip(course.walls, walls.parts, strict=True):
        assert (wall.x, wall.y, (wall.top + wall.bottom) / 2) == pytest.approx(part.center)
        assert (wall.length, wall.width, wall.top - wall.bottom) == pytest.approx(part.size)


def test_a_zone_is_a_turned_box():
    zone = Zone(1.0, 2.0, 0.5, 3.0, 1.0, -0.1, 0.4)
    points = np.random.default_rng(0).uniform((-1, 0, -0.5), (3, 4, 0.8), (1000, 3))
    local = Rotation.from_euler("z", -0.5).apply(points - (1.0, 2.0, 0.0))
    expected = (np.abs(local[:, 0]) <= 1.5) & (np.abs(local[:, 1]) <= 0.5)
    expected &= (local[:, 2] >= -0.1) & (local[:, 2] <= 0.4)
    assert [zone.contains(*point) for point in points] == expected.tolist() and 10 < expected.sum() < 500


def test_a_repetition_on_a_square_is_as_long_as_its_sides():
    """From its start through gates at the other corners; the way back counts."""
    corners = "".join(f"  - {{place: {{x: {x}, y: {y}}}}}\n" for x, y in ((3, 1), (3, 4), (0, 4)))
    square = f"title: Mine\ndescription: A square.\nstart: {{x: 0, y: 1}}\ngates:\n{corners}"
    assert parse_course(square, "mine").distance == pytest.approx(4 * 3.0)


def test_other_ground_is_under_all_of_a_course():
    course = load_course("sand-bed")
    slippery = course.with_ground(friction=0.3)
    assert [ground.friction for ground in slippery.terrains] == [0.3, 1.0, 0.3]  # Soil has its own law.
    soft = course.with_ground(soil="snow (US)")
    snow = terrain.find_soil("snow (US)")
    assert [ground.soil for ground in soft.terrains] == [snow, snow, None]
    assert course.with_ground().terrains == course.terrains
    with pytest.raises(UnknownNameError):
        course.with_ground(soil="porridge")


def test_a_layout_alone_is_the_ground_of_a_course():
    course = load_course("sand-bed")
    keys = ("friction", "soil", "lanes", "terrain")
    data = yaml.safe_load(course.source.replace("depth: setting", "depth: 0.05"))
    ground = build_ground(Layout.model_validate({key: data[key] for key in keys if key in data}), "sand-bed")
    x, y = np.random.default_rng(0).uniform(-1, 7, (2, 300))
    for one, other in zip(ground, course.terrains, strict=True):
        assert (one.friction, one.soil) == (other.friction, other.soil)
        assert (one.height_at(x, y) == other.height_at(x, y)).all()


# The file


def mistakes_of(text):
    with pytest.raises(CourseFileError) as caught:
        parse_course(text, "mine")
    return str(caught.value)


def test_all_mistakes_of_a_course_are_told_at_once_with_lines():
    assert mistakes_of("""
title: Mine
description: Many mistakes.
kind: race
vehicle: qince
setting: {name: height, unit: m, values: [0.2, 0.1]}
lanes:
  - width: wide
    pieces:
      - flat: {length: -1}
        name: near
      - hurdel: {height: setting}
      - hurdle: {height: 0.1}
        step: {height: 0.1, length: 1.0}
      - stairs: {slope: 40, count: 2.5}
        soil: porridge
      - flat: {length: 1.0}
        name: near
gates: [{piece: neer}, {piece: near, place: {x: 0}}]
""").splitlines() == [
        "mine:4: kind must be 'obstacle' or 'terrain', got 'race'",
        "mine:5: vehicle must be a bundled vehicle, got 'qince'; there are: " + ", ".join(bundled_vehicles()),
        "mine:6: setting.values must ascend, got [0.2, 0.1]",
        "mine:8: lanes[0].width must be a number, got 'wide'",
        "mine:10: lanes[0].pieces[0].flat.length must be greater than 0, got -1",
        "mine:12: lanes[0].pieces[1].hurdel is not a key that segtrack knows; did you mean hurdle?",
        "mine:13: lanes[0].pieces[2] must have exactly one of flat, step, ramp, stairs, gap, bed, hurdle, "
        "k_rails, confined_space, continuous_ramps, crossing_ramps, step_field, doorway, got step, hurdle",
        "mine:15: lanes[0].pieces[3].stairs.count must be a whole number, got 2.5",
        "mine:15: lanes[0].pieces[3].stairs.slope is not a key that segtrack knows; did you mean slope_deg?",
        "mine:16: lanes[0].pieces[3].soil must be a published soil, got 'porridge'; there are: "
        + ", ".join(terrain.published_soils()),
        "mine:18: lanes[0].pieces[4].name must be unique, got 'near' as lanes[0].pieces[0] has",
        "mine:19: gates[1] must have exactly one of piece, place, got piece, place",
        "mine:19: gates[0].piece is no piece's name, got 'neer'; did you mean near?",
    ]


@each_row(
    "change, message",
    [
        (("      - PIECE\n", "      - hurdle: {height: setting}\n"),
         "mine:9: lanes[0].pieces[1].hurdle.height must be a number, got 'setting'"),
        (("lanes:", "setting: {name: h, unit: m, values: [1]}\nlanes:"),
         "mine:4: setting is used nowhere: write setting in the place of a number"),
        (("lanes:", "setting: {name: h, unit: m, values: [1, 2], start: 3}\nfriction: setting\nlanes:"),
         "mine:4: setting.start must be one of values [1.0, 2.0], got 3"),
        (("lanes:", "gates: [{piece: far}]\nlanes:"),
         "mine:4: gates[0].piece is no piece's name, got 'far'; there are: none"),
        (("PIECE", "bed: {length: 0.3, depth: 0.1}"),
         "mine:9: lanes[0].pieces[1].bed.length must be at least 0.746 for its two slopes, got 0.3"),
        (("PIECE", "hurdle: {height: 0.04, length: 0.05, pipe: true}"),
         "mine:9: lanes[0].pieces[1].hurdle.height must be at least the pipe's diameter of 0.05, got 0.04"),
        (("PIECE", "confined_space: {clearance: 0.1, sill: 0.2}"),
         "mine:9: lanes[0].pieces[1].confined_space.clearance must be above the sill of 0.2, got 0.1"),
        (("PIECE", "step_field: {rows: 1000}"),
         "mine:9: lanes[0].pieces[1].step_field.rows must be at most 200, got 1000"),
        (("PIECE", "flat: {length: 49}"),
         "mine: lanes and terrain must be on the floor, which reaches 50 m from the origin, got 51 m"),
        (("width: 1.2", "width: 100"), "mine:5: lanes[0].width must be at most 50, got 100"),
        (("PIECE", "stairs: {slope_deg: 40, slope_deg: 35}"),
         "mine:9: lanes[0].pieces[1].stairs.slope_deg is given twice, first in line 9"),
    ],
)  # fmt: skip
def test_mistakes_in_a_course(change, message):
    assert mistakes_of(LANE.replace(*change).replace("PIECE", "flat: {length: 1.0}")) == message


@pytest.mark.parametrize(
    "gates, got",
    [
        ("{place: {x: 2}}", "1"),
        ("{place: {x: 2}}, {place: {x: 2}}", "2, of which it does"),
        ("{place: {x: 2}}, {place: {x: 2.9}}", "2, of which it does"),
        ("{place: {x: 2}}, {place: {x: 5}}, {place: {x: 2.9, yaw_deg: 45}}", "3, of which it does"),
        ("{piece: near}, {place: {x: 1.4}, length: 0.9}", "2, of which it does"),
    ],
)
def test_a_repetition_that_standing_still_completes_is_refused(gates, got):
    text = LANE.replace("flat: {length: 1.0}\n", "flat: {length: 1.0}\n        name: near\n", 1)
    assert mistakes_of(text.replace("PIECE", "flat: {length: 9}") + f"gates: [{gates}]") == (
        f"mine: gates must be two or more, of which the last does not overlap the first, got {got}"
    )


@pytest.mark.parametrize(
    "gates",
    [
        "{place: {x: 2}}, {place: {x: 3}}",
        "{place: {x: 2}}, {place: {x: 2.9}}, {place: {x: 3.5}}",
        "{place: {x: 2}}, {place: {x: 3.3, yaw_deg: 45}}",
        "{place: {x: 2}}, {place: {x: 2}, elevation: 1.3}",
    ],
)
def test_gates_may_touch_and_those_between_overlap(gates):
    course = parse_course(LANE.replace("PIECE", "flat: {length: 9}") + f"gates: [{gates}]", "mine")
    points = np.random.default_rng(0).uniform((1, -1, -0.5), (4, 1, 2.5), (2000, 3))
    first, *_, last = course.gates
    assert not any(first.contains(*point) and last.contains(*point) for point in points)


def test_a_course_without_lanes_says_where_it_starts_and_leads():
    assert mistakes_of(
        "title: Mine\ndescription: Nothing.\nterrain: [{wall: {length: 1.0}}]"
    ).splitlines() == [
        "mine: must have start where it has no lanes",
        "mine: must have gates where it has no lanes",
    ]
    assert mistakes_of("") == "mine: must be a mapping of keys, got None"
    assert mistakes_of("lanes: [") == (
        "mine:1: is not YAML: column 9: expected the node content, but found '<stream end>'"
    )


def test_each_value_of_a_setting_is_checked_before_one_is_chosen():
    text = LANE.replace("PIECE", "stairs: {count: setting}")
    text = text.replace("lanes:", "setting: {name: n, unit: stairs, values: [2, 2.5]}\nlanes:")
    assert mistakes_of(text) == "mine:10: lanes[0].pieces[1].stairs.count must be a whole number, got 2.5"
    with pytest.raises(InvalidValueError) as caught:
        load_course("figure-8", 1.0)
    assert str(caught.value) == "setting of course figure-8 must be left out: it has none, got 1.0"


JUNK = (
    None,
    -1,
    0,
    1e-9,
    1e9,
    math.nan,
    math.inf,
    "setting",
    "near",
    [],
    {},
    [1, 2],
    {"a": 1},
    True,
    3,
    0.05,
)


def places(data, path=()):
    """Each place in a file, as the keys and indices to it."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


@each_row("name", NAMES)
def test_whatever_stands_anywhere_it_is_a_course_or_mistakes(name):
    choose = random.Random(name)
    for _ in range(4):
        data = yaml.safe_load(find_course(name).read_text())
        *above, last = choose.choice(list(places(data)))
        part = data
        for key in above:
            part = part[key]
        part[last] = choose.choice(JUNK)
        try:
            pack_ground(parse_course(yaml.safe_dump(data), name).terrains)
        except CourseFileError as error:
            assert error.problems


def test_the_schema_has_every_key_of_the_bundled_courses():
    schema = json.loads(json.dumps(CourseFile.model_json_schema()))

    def check(part, node):
        node = node if "$ref" not in node else schema["$defs"][node["$ref"].split("/")[-1]]
        if "anyOf" in node and isinstance(part, dict | list):
            wanted = "array" if isinstance(part, list) else "object"
            inner = [schema["$defs"][n["$ref"].split("/")[-1]] if "$ref" in n else n for n in node["anyOf"]]
            node = next(n for n in inner if n.get("type") == wanted)
        if isinstance(part, dict):
            for key, value in part.items():
                check(value, node["properties"][key])
        elif isinstance(part, list):
            for value in part:
                check(value, node.get("items") or node["prefixItems"][0])
        elif part == "setting":
            assert {"const": "setting"} in node["anyOf"]

    for name in NAMES:
        check(yaml.safe_load(find_course(name).read_text()), schema)


def test_settings_ascend_in_every_bundled_course():
    for name in NAMES:
        setting = load_course(name).setting
        assert setting is None or all(low < high for low, high in pairwise(setting.values))


# Commands and pictures


def test_courses_are_listed_as_a_table_and_as_json():
    done = CliRunner().invoke(app, ["courses"], env={"COLUMNS": "200"})
    assert done.exit_code == 0 and all(name in done.stdout for name in NAMES)
    done = CliRunner().invoke(app, ["courses", "--json"])
    listed = json.loads(done.stdout)["courses"]
    assert tuple(listed) == NAMES
    assert listed["gaps"]["setting"] == {
        "name": "length of the gap", "unit": "m", "values": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], "start": 0.1
    }  # fmt: skip
    done = CliRunner().invoke(app, ["courses", "schema"])
    assert json.loads(done.stdout) == CourseFile.model_json_schema()


def test_the_manuals_course_is_valid_and_drawn_with_all_its_gates_and_walls(tmp_path):
    manual = MANUAL.read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", manual, re.DOTALL)
    file = tmp_path / "kerb.yaml"
    file.write_text(example)
    done = CliRunner().invoke(app, ["courses", "validate", str(file)])
    assert (done.exit_code, done.stderr) == (0, "kerb: valid, 3 settings, 2 gates, 8 walls\n")
    course = load_course(file, 0.15)
    top, cut, _ = draw_course(course).axes
    drawn = [patch.get_xy()[:-1] for patch in top.patches if isinstance(patch, Polygon)]
    assert len(drawn) == len(course.walls) + 2 * len(course.gates)
    for wall, corners in zip(course.walls, drawn, strict=False):
        assert corners.mean(axis=0) == pytest.approx((wall.x, wall.y))
        assert np.ptp(corners, axis=0) == pytest.approx((wall.length, wall.width))
    # The kerb is cut as high as the setting says.
    assert max(path.vertices[:, 1].max() for part in cut.collections for path in part.get_paths()) == 0.15


def test_every_apparatus_is_in_the_manuals_table():
    manual = MANUAL.read_text(encoding="utf-8")
    for kind in Piece.kinds:
        assert f"| `{kind}` |" in manual
        for key in Piece.model_fields[kind].annotation.__args__[0].model_fields:
            assert f"`{key}`" in manual, (kind, key)
