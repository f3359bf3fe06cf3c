"""Paths of tasks: where a place lies beside them, against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from segtrack.envs import straight
from segtrack.envs.task import Path, PathPoint, Paths
from segtrack.errors import InvalidValueError


@given(start=st.floats(-3, 3), length=st.floats(0.1, 5), x=st.floats(-9, 9), y=st.floats(-2, 2))
def test_on_a_straight_path_progress_is_x_and_lateral_is_y(start, length, x, y):
    path = straight(start, start + length)
    progress, lateral, heading = path.locate(x, y)
    assert path.length == pytest.approx(length)
    assert progress == pytest.approx(min(max(x - start, 0.0), length), abs=1e-12)
    assert (lateral, heading) == (pytest.approx(y, abs=1e-12), 0.0)


BENT = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])


@given(turn=st.floats(-math.pi, math.pi), on=st.floats(0.05, 0.95), aside=st.floats(-0.3, 0.3))
@pytest.mark.parametrize("segment", [0, 1, 2])
def test_a_path_locates_what_lies_beside_it_wherever_it_leads(segment, turn, on, aside):
    """Straight aside of a point on a segment, and nearer to it than to the others."""
    start, end = BENT[segment : segment + 2]
    step = (end - start) / np.linalg.norm(end - start)
    point = start + on * (end - start) + aside * np.array([-step[1], step[0]])
    before = np.linalg.norm(np.diff(BENT[: segment + 1], axis=0), axis=1).sum()
    turning = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    progress, lateral, heading = Path(BENT @ turning).locate(*point @ turning)
    if math.dist(Path(BENT @ turning).at(progress), point @ turning) > abs(aside) - 1e-9:
        assert progress == pytest.approx(before + on * np.linalg.norm(end - start), abs=1e-9)
        assert lateral == pytest.approx(aside, abs=1e-9)
        direction = math.atan2(step[1], step[0]) + turn
        assert math.remainder(heading - direction, math.tau) == pytest.approx(0.0, abs=1e-9)


@given(x=st.floats(-1, 4), y=st.floats(-2, 3))
def test_a_path_locates_the_nearest_of_its_points(x, y):
    path = Path(BENT)
    progress, lateral, _ = path.locate(x, y)
    starts, steps = BENT[:-1], np.diff(BENT, axis=0)
    shares = np.clip((((x, y) - starts) * steps).sum(axis=1) / (steps**2).sum(axis=1), 0.0, 1.0)
    nearest = np.linalg.norm(starts + shares[:, None] * steps - (x, y), axis=1).min()
    found = math.dist((x, y), path.at(progress))
    assert found == pytest.approx(nearest, abs=1e-9)
    assert abs(lateral) <= found + 1e-9


@pytest.mark.parametrize("side", [1, -1])
@given(angle=st.floats(0.01, 3.0), offset=st.floats(-0.5, 0.5))
def test_on_an_arc_progress_is_radius_times_angle(side, angle, offset):
    """An arc of radius 1.5 m that turns left (side 1) or right; `offset` is towards its centre."""
    radius, turns = 1.5, np.linspace(0.0, 3.0 + 1e-9, 3001)
    path = Path(np.stack((radius * np.sin(turns), side * radius * (1 - np.cos(turns))), axis=1))
    x, y = (radius - offset) * math.sin(angle), side * (radius - (radius - offset) * math.cos(angle))
    progress, lateral, heading = path.locate(x, y)
    assert path.length == pytest.approx(3.0 * radius, rel=1e-6)
    assert progress == pytest.approx(radius * angle, abs=2e-3)
    assert lateral == pytest.approx(side * offset, abs=1e-5)
    assert heading == pytest.approx(side * angle, abs=1.1e-3)
    assert path.at(radius * angle) == pytest.approx(
        (radius * math.sin(angle), side * radius * (1 - math.cos(angle))), abs=1e-5
    )


def test_a_shorter_path_in_place_of_a_longer_one_is_all_there_is():
    paths, short, places = Paths([Path(BENT), Path(BENT)]), straight(0.0, 1.0), np.array([[2.0, 1.0]] * 2)
    paths.replace(0, short)
    for found, own, other in zip(
        paths.locate(places), short.locate(2, 1), Path(BENT).locate(2, 1), strict=True
    ):
        assert found.tolist() == [own, other]
    assert paths.at(np.array([9.0, 9.0])).tolist() == [[1.0, 0.0], [3.0, 1.0]]


def test_a_path_ends_at_its_ends():
    path = Path(np.array([[1.0, 1.0], [1.0, 3.0]]))
    assert path.at(-1.0) == (1.0, 1.0) and path.at(5.0) == (1.0, 3.0) and path.at(0.5) == (1.0, 1.5)
    assert path.locate(0.0, 2.5) == PathPoint(1.5, 1.0, math.pi / 2)


@each_row(
    "points, expected",
    [
        ([[1.0, 2.0], [1.0, 2.0]], "each another than the one before"),
        ([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]], "each another than the one before"),
        ([[0.0, 0.0], [math.nan, 1.0]], "finite x and y of two points or more (n, 2)"),
        ([[0.0, 0.0], [math.inf, 1.0]], "finite x and y of two points or more (n, 2)"),
        ([[0.0, 0.0]], "finite x and y of two points or more (n, 2)"),
        ([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], "finite x and y of two points or more (n, 2)"),
        ([[0.0, 0.0], [1.0]], "finite x and y of two points or more (n, 2)"),
        (None, "finite x and y of two points or more (n, 2)"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(points, expected):
    with pytest.raises(InvalidValueError) as error:
        Path(points)
    assert str(error.value) == f"points of a path [m] must be {expected}, got {points!r}"


def test_a_path_keeps_its_points():
    points = np.array([[0.0, 0.0], [1.0, 0.0]])
    path = Path(points)
    points[1, 0] = 5.0
    assert path.length == path.points[1, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        path.points[0] = 2.0
