"""Loops of equal plates around a belt's path, against the polygons that they are."""

import math

import numpy as np
import pytest

from segtrack.errors import InvalidValueError
from segtrack.geometry import BeltPath, Pulley, chain_segments, normal_of, plate_loop, tangent_of, wrap_belt

SHAPES = {
    "oval": [Pulley(-0.255, 0.0, 0.082), Pulley(0.255, 0.0, 0.082)],
    "tapered": [Pulley(0.0, 0.0, 0.08), Pulley(0.25, 0.0, 0.05)],
    "triangular": [Pulley(-0.2, 0.0, 0.05), Pulley(0.2, 0.0, 0.05), Pulley(0.0, 0.15, 0.06)],
}
SPROCKETS = {"oval": (-0.255, 0.0), "tapered": (0.0, 0.0), "triangular": (-0.2, 0.0)}
"""Centres of the wheels around which these belts turn most, the rear one where two are alike."""


@pytest.mark.parametrize("shape, count", [("oval", 20), ("oval", 41), ("tapered", 17), ("triangular", 41)])
def test_plates_are_equal_chords_that_close_and_fit_the_sprocket(shape, count):
    path = wrap_belt(SHAPES[shape])
    loop = plate_loop(path, count)
    sides = np.linalg.norm(np.diff(loop.hinges, axis=0), axis=1)
    assert len(sides) == count
    assert sides == pytest.approx(np.full(count, sides[0]), abs=1e-12)
    assert loop.hinges[-1] == pytest.approx(loop.hinges[0], abs=1e-12)
    # The polygon around the sprocket has `teeth` sides, its corners at the hinges' depth.
    around = loop.pitch / (2 * math.sin(math.pi / loop.teeth))
    assert around == pytest.approx(loop.sprocket.radius - loop.depth, abs=1e-12)
    assert abs(loop.depth) < 0.12 * loop.pitch
    # Slack, so that no phase is too tight, but little of it.
    assert 1.00005 < loop.pitch / sides[0] < 1.0002


def test_hinges_of_an_oval_lie_at_one_depth_below_the_belt():
    loop = plate_loop(wrap_belt(SHAPES["oval"]), 40)
    x, z = loop.hinges.T
    distance = np.hypot(np.maximum(np.abs(x) - 0.255, 0.0), z)
    assert 0.082 - distance == pytest.approx(np.full(41, loop.depth), abs=1e-9)
    np.testing.assert_allclose(loop.hinges[0], (0.0, loop.depth - 0.082), atol=1e-12)
    assert loop.hinges[1, 0] < 0.0


@pytest.mark.parametrize("shape", SHAPES)
def test_the_sprocket_is_where_the_belt_turns_most_and_the_idler_farthest_from_it(shape):
    loop = plate_loop(wrap_belt(SHAPES[shape]), 40)
    centers = [pulley.center for pulley in SHAPES[shape]]
    farthest = max(centers, key=lambda center: math.dist(center, SPROCKETS[shape]))
    np.testing.assert_allclose(loop.sprocket.center, SPROCKETS[shape], atol=1e-9)
    np.testing.assert_allclose(loop.idler.center, farthest, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_plates_head_along_their_chords(shape):
    loop = plate_loop(wrap_belt(SHAPES[shape]), 40)
    sides = np.diff(loop.hinges, axis=0)
    lengths = np.linalg.norm(sides, axis=1, keepdims=True)
    np.testing.assert_allclose(tangent_of(loop.headings), sides / lengths, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_plates_on_the_sprocket_show_it_their_inner_faces_at_the_apothem(shape):
    loop, thickness = plate_loop(wrap_belt(SHAPES[shape]), 60), 0.004
    middles = (loop.hinges[1:] + loop.hinges[:-1]) / 2 + (loop.depth - thickness) * normal_of(loop.headings)
    from_center = np.linalg.norm(loop.hinges - loop.sprocket.center, axis=1)
    on_it = np.abs(from_center - (loop.sprocket.radius - loop.depth)) < 1e-9
    both = on_it[1:] & on_it[:-1]
    assert both.sum() >= 2
    found = np.linalg.norm(middles - loop.sprocket.center, axis=1)[both]
    assert found == pytest.approx(loop.apothem(loop.sprocket, thickness), abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hinge_stands_on_the_sprocket_at_its_phase_near_the_middle_of_its_arc(shape):
    loop = plate_loop(wrap_belt(SHAPES[shape]), 60)
    sprocket, phase = loop.sprocket, loop.sprocket_phase
    place = sprocket.center + (sprocket.radius - loop.depth) * normal_of(phase)
    assert np.linalg.norm(loop.hinges - place, axis=1).min() < 1e-9
    off_middle = math.remainder(phase - sprocket.heading - sprocket.turn / 2, 2 * math.pi)
    assert abs(off_middle) <= 2 * math.pi / loop.teeth


@pytest.mark.parametrize("shape", SHAPES)
def test_the_hinges_run_nearest_to_the_outer_face_but_for_a_given_number_of_teeth(shape):
    path = wrap_belt(SHAPES[shape])
    loop = plate_loop(path, 40)
    for teeth in (loop.teeth - 1, loop.teeth + 1):
        other = plate_loop(path, 40, teeth)
        assert other.teeth == teeth
        around = other.pitch / (2 * math.sin(math.pi / teeth))
        assert around == pytest.approx(other.sprocket.radius - other.depth, abs=1e-8)
        assert abs(other.depth) > abs(loop.depth)


def test_plates_too_long_for_the_smallest_pulley_are_refused():
    """Five sides of a polygon in its circle are the longest there may be."""
    path = wrap_belt(SHAPES["tapered"])
    longest = 2 * 0.05 * math.sin(math.pi / 5)
    fewest = next(count for count in range(5, 40) if refusal(path, count) is None)
    assert refusal(path, fewest - 1).startswith(
        f"plates of a track must be no longer than {longest:.4g} m, for 5 to fit around the smallest pulley"
    )
    # Chords are a little shorter than what they span.
    assert 0.93 * longest < path.perimeter / fewest < 1.05 * longest


def refusal(path, count):
    try:
        plate_loop(path, count)
    except InvalidValueError as error:
        return str(error)
    return None


def test_plates_need_two_pulleys_and_no_dent():
    expected = "path of a track of plates must be around two or more pulleys, bending outwards, got "
    assert refusal(wrap_belt([Pulley(0.0, 0.0, 0.1)]), 20) == expected + "arc_0"
    inner, end = 0.6 / (2 * math.sin(0.3)) - 0.1, (0.1, math.pi + 0.3)
    dented = BeltPath(chain_segments((0.3, -0.1), math.pi, [(0.6, None), end, (inner, -0.6), end]))
    assert refusal(dented, 40) == expected + "line_0, arc_1, arc_2, arc_3"
