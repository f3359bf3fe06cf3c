"""Solids and outlines of a belt's links: discs, chords, plates and the grousers on them."""

import math

import numpy as np
import pytest
from drawn_belts import bean, belts, convex_pulleys, oval
from hypothesis import given
from hypothesis import strategies as st
from stances import stance_on_segments

from segtrack.geometry import (
    Arc,
    BeltPath,
    Box,
    Cylinder,
    Hull,
    Line,
    MassProperties,
    Placed,
    Pulley,
    chain_segments,
    ground_dip,
    inner_outline,
    normal_of,
    outer_outline,
    place_grousers,
    rotation_about_y,
    rotation_of,
    segment_links,
    wrap_belt,
)


@given(belts(), st.floats(-0.4, 0.4), st.floats(0.0, 0.03))
def test_links_carry_their_grousers_where_the_stance_says(belt, fraction, lift):
    path, count, shapes = belt
    travel = fraction * path.perimeter / count
    footprints = place_grousers(path, count, shapes)
    solid = Box((1e-3, 0.1, 1e-3))
    links = segment_links(path, 0.1, 0.01, 1.0, [(f, solid, lift) for f in footprints])
    found = []
    for link in links:
        slide, turn = (travel, 0.0) if link.joint == "slider" else (0.0, travel * link.ratio)
        rotation = rotation_of((0, link.heading + turn, 0))
        for placed in link.shapes:
            if placed.solid is solid:
                found.append(
                    rotation @ [placed.x, 0, placed.z]
                    + rotation_of((0, link.heading, 0))[:, 0] * slide
                    + [link.x, 0, link.z]
                )
    expected = stance_on_segments(path, footprints, travel).tips(lift)
    found, expected = np.array(found)[:, [0, 2]], np.array(expected)
    order = [np.lexsort(np.round(a, 7).T) for a in (found, expected)]
    np.testing.assert_allclose(found[order[0]], expected[order[1]], atol=1e-7)


@pytest.mark.parametrize("path", [bean(), oval()], ids=["bean", "oval"])
def test_arcs_without_room_for_a_disc_are_chords_close_to_the_belt(path):
    links = segment_links(path, 0.1, 0.01, 1.0, [])
    outline = path.outline(1e-4)
    for link in links:
        rotation = rotation_of((0, link.heading, 0))
        for placed in link.shapes:
            if isinstance(placed.solid, Box) and link.joint == "hinge":
                length, _, thickness = placed.solid.size
                spin = rotation_of((0, placed.heading, 0))
                for x in (-length / 2, 0, length / 2):
                    corner = rotation @ (spin @ [x, 0, thickness / 2] + [placed.x, 0, placed.z])
                    gap = np.linalg.norm(outline - (corner + [link.x, 0, link.z])[[0, 2]], axis=1).min()
                    assert gap < 1.6e-4
    assert any(isinstance(s.solid, Box) for s in links[2].shapes)


def area(polygon):
    """Of a polygon (n, 2), by the shoelace formula."""
    x, z = polygon.T
    return abs(np.sum(x * np.roll(z, -1) - z * np.roll(x, -1))) / 2


def test_faces_of_an_oval_are_drawn_at_their_distance_from_its_axis():
    distance, radius, thickness = 0.5, 0.08, 0.02
    path = oval(distance, radius)
    drawn = ((outer_outline(path), radius), (inner_outline(path, thickness), radius - thickness))
    for polygon, reach in (*drawn, (path.outline(), radius)):
        beside = np.clip(polygon[:, 0], -distance / 2, distance / 2)
        np.testing.assert_allclose(np.hypot(polygon[:, 0] - beside, polygon[:, 1]), reach, atol=1e-9)
        assert area(polygon) == pytest.approx(2 * distance * reach + math.pi * reach**2, rel=2e-3)
    edges = np.linalg.norm(np.diff(path.outline(0.01), axis=0), axis=1)
    assert np.sort(edges)[:-2].max() < 0.01
    assert np.sort(edges)[-2:] == pytest.approx([distance] * 2)


def test_a_round_belts_link_is_a_hoop_and_a_lines_is_a_plate():
    """Textbook inertias about their own middles: a thin hoop of some width, and a box."""
    mass, width, thickness, radius = 2.0, 0.1, 0.01, 0.3
    (hoop,) = segment_links(wrap_belt([Pulley(0.2, 0.5, radius)]), width, thickness, mass, [])
    across = mass * (radius**2 / 2 + width**2 / 12)
    assert hoop.inertia == pytest.approx((across, mass * radius**2, across))
    path = oval(0.5, 0.08)
    lines = [link for link in segment_links(path, width, thickness, mass, []) if link.joint == "slider"]
    for line in lines:
        share = mass * 0.5 / path.perimeter
        plate = MassProperties.of_box(share, (0, 0, 0), (0.5, width, thickness))
        assert line.mass == pytest.approx(share)
        np.testing.assert_allclose(line.own_properties.inertia, plate.inertia, atol=1e-12)
    for link in (hoop, *lines):
        np.testing.assert_allclose(link.own_properties.center, 0.0, atol=1e-12)
        np.testing.assert_allclose(link.properties.center, (link.x, 0.0, link.z), atol=1e-12)


@pytest.mark.parametrize(
    ("solid", "length", "height", "size"),
    [
        (Box((0.4, 9.0, 0.2)), 0.4, 0.2, 0.08),
        (Cylinder(0.1, 9.0), 0.2, 0.2, math.pi * 0.01),
        (
            Hull(tuple((x, y, z) for x in (-0.2, 0.2) for y in (-5.0, 9.0) for z in (-0.1, 0.1))),
            0.4,
            0.2,
            0.08,
        ),
    ],
    ids=["box", "cylinder", "hull"],
)
def test_solids_are_seen_along_their_axle(solid, length, height, size):
    at_home = Placed(solid).outline
    np.testing.assert_allclose(np.ptp(at_home, axis=0), (length, height), rtol=1e-3)
    assert area(at_home) == pytest.approx(size, rel=6e-3)
    moved = Placed(solid, 0.7, -0.3, 0.4).outline
    corners = np.insert(at_home, 1, 0.0, axis=1) @ rotation_about_y(0.4).T + (0.7, 0.0, -0.3)
    np.testing.assert_allclose(moved, corners[:, [0, 2]], atol=1e-12)


def lens(radius=0.05, flank=0.5, turn=0.6):
    """Two half turns, each a wide arc and a narrow one; the wide ones' discs stick out of the belt."""
    wide, narrow = (flank, turn), (radius, math.pi - turn)
    return BeltPath(chain_segments((0.3, 0.1), math.pi - turn / 2, [wide, narrow, wide, narrow]))


@given(convex_pulleys())
def test_arcs_around_pulleys_are_discs_in_their_place(pulleys):
    arcs = [link for link in segment_links(wrap_belt(pulleys), 0.1, 0.01, 1.0, []) if link.joint == "hinge"]
    for arc in arcs:
        disc = arc.shapes[0]
        assert (disc.x, disc.z) == (0.0, 0.0)
        (pulley,) = [p for p in pulleys if math.dist((arc.x, arc.z), p.center) < 1e-9]
        assert disc.solid == Cylinder(pulley.radius, 0.1)


@pytest.mark.parametrize("path", [lens(), bean()], ids=["lens", "bean"])
def test_chords_of_an_arc_are_inscribed_from_its_start_to_its_end(path):
    """As few as stay within 0.1 mm of it; their outer corners lie on it and meet."""
    links = segment_links(path, 0.1, 0.01, 1.0, [])
    chains = [
        (segment, link) for segment, link in zip(path.segments, links, strict=True)
        if isinstance(segment, Arc) and isinstance(link.shapes[0].solid, Box)
    ]  # fmt: skip
    assert len(chains) >= 1
    for arc, link in chains:
        count = len(link.shapes)
        sagittas = [arc.radius * (1 - math.cos(abs(arc.turn) / 2 / n)) for n in (count, max(count - 1, 1))]
        assert sagittas[0] <= 1e-4 * (1 + 1e-9) and (count == 1 or sagittas[1] > 1e-4)
        stations = arc.point_at(np.linspace(0, arc.length, count + 1))
        for shape, corners, ends in zip(
            link.shapes, link.outlines, zip(stations, stations[1:], strict=False), strict=True
        ):
            np.testing.assert_allclose(corners[[3, 2]], ends, atol=1e-9)
            assert np.linalg.norm(corners[0] - corners[3]) == pytest.approx(0.01)
            assert shape.solid.size[1] == 0.1


def test_only_arcs_whose_discs_stick_out_are_chords():
    """An outward arc wider than its belt is high, beside the ends that are discs."""
    kinds = [type(link.shapes[0].solid) for link in segment_links(lens(), 0.1, 0.01, 1.0, [])]
    assert kinds == [Box, Cylinder, Box, Cylinder]


def test_a_lines_plate_lies_under_its_line():
    path = oval(0.5, 0.08)
    for segment, link in zip(path.segments, segment_links(path, 0.1, 0.01, 1.0, []), strict=True):
        if isinstance(segment, Line):
            outer = segment.point_at(np.array([0.0, segment.length]))
            inner = outer - 0.01 * normal_of(segment.heading)
            np.testing.assert_allclose(link.outlines[0], [*inner, *outer[::-1]], atol=1e-12)


def test_arcs_spin_with_the_mass_of_an_omitted_line():
    """Moments of thin hoops: about their axis what moves with the belt, across it half and the width's."""
    mass, width, radius, distance = 1.7, 0.1, 0.08, 0.5
    path = oval(distance, radius)
    per_length = mass / path.perimeter
    links = segment_links(path, width, 0.01, mass, [], ["line_2"])
    spin = (mass - per_length * distance) / 2 * radius**2
    across = spin / 2 + per_length * math.pi * radius * width**2 / 12
    for link in links:
        if link.joint == "hinge":
            assert link.mass == pytest.approx(per_length * math.pi * radius)
            assert link.inertia == pytest.approx((across, spin, across))
            assert link.ratio == pytest.approx(1 / radius)


@pytest.mark.parametrize("height", [0.0, 0.01])
@pytest.mark.parametrize("period", [0.01, 0.1])
def test_lines_of_an_upright_belt_run_on_below_its_lower_arc(period, height):
    """No line of it faces down: what lies lowest is an arc, and the lines slide straight down beside it."""
    radius = 0.02
    path = wrap_belt([Pulley(0.1, 0.3, radius), Pulley(0.1, 0.8, radius)])
    found = ground_dip(path, segment_links(path, 0.1, 0.01, 1.0, []), period, height)
    assert found == pytest.approx(max(0.0, period / 2 - radius - height), abs=1e-6)


@given(st.floats(0.02, 0.1), st.floats(0.2, 1.2), st.floats(0.001, 0.2))
def test_dip_of_a_smooth_trapezoid_is_its_closed_form(radius, slope, period):
    """Its slanted lines run on by half a period from where their arcs begin, r (1 - cos) above the ground."""
    half, height = 0.4, 0.5
    corners = [(half, 0), (-half, 0)] + [
        (side * (half + height / math.tan(slope)), height) for side in (-1, 1)
    ]
    path = wrap_belt([Pulley(x, z, radius) for x, z in corners])
    dip = period / 2 * math.sin(slope) - radius * (1 - math.cos(slope))
    found = ground_dip(path, segment_links(path, 0.1, 0.005, 1.0, ()), period, 0.0)
    assert found == pytest.approx(max(dip, 0.0), abs=1e-9)
