"""Quasi-static friction of given loads: closed forms, another way to minimise, scaling, limits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from segtrack.errors import InvalidValueError
from segtrack.geometry import PlanarContacts, balance_friction, uniform_tracks
from segtrack.geometry.planar_friction import TOLERANCE
from segtrack.reproduce.turning import uniform_pressure_turning_rate

LENGTH, GAUGE, SPEED, FRICTION = 0.51, 0.445, 0.2, 0.6
FINE = (1000, 1)


def on_the_spot(length: float = LENGTH, gauge: float = GAUGE, across: float = FRICTION) -> PlanarContacts:
    return uniform_tracks(length, 0.0, gauge, (FRICTION, across), -SPEED, SPEED, FINE)


def crossed(across: float = FRICTION) -> PlanarContacts:
    """Two belts at one place that run against each other, each with half of 1 N."""
    return PlanarContacts(
        np.zeros((2, 2)),
        np.full(2, 0.5),
        np.tile([FRICTION, across], (2, 1)),
        np.tile([1.0, 0.0], (2, 1)),
        np.array([-SPEED, SPEED]),
    )


def random_contacts(seed: int) -> tuple[PlanarContacts, np.ndarray]:
    """Some points in any directions, and a force and a moment that they can hold."""
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 12)
    headings = rng.normal(0.0, 0.3, n)
    contacts = PlanarContacts(
        rng.normal(0.0, 0.4, (n, 2)),
        rng.exponential(50.0, n),
        rng.uniform(0.3, 1.0, (n, 2)),
        np.column_stack([np.cos(headings), np.sin(headings)]),
        rng.choice([-0.2, 0.0, 0.1, 0.2], n),
    )
    return contacts, 0.03 * contacts.grip * rng.normal(size=3)


def power(contacts: PlanarContacts, outside: np.ndarray, twist: np.ndarray) -> float:
    """Dissipation less the power from outside [W], point by point."""
    vx, vy, w = twist
    total = -float(outside @ twist)
    for (x, y), load, (along, across), (cos, sin), belt in zip(
        contacts.points,
        contacts.loads,
        contacts.friction,
        contacts.directions,
        contacts.belt_speeds,
        strict=True,
    ):
        slide = (vx - w * y - belt * cos, vy + w * x - belt * sin)
        forward, left = slide[0] * cos + slide[1] * sin, slide[1] * cos - slide[0] * sin
        total += load * math.hypot(along * forward, across * left)
    return total


@pytest.mark.parametrize(("length", "gauge"), [(0.51, 0.3), (0.51, 0.445), (0.2, 1.0), (2.0, 0.2)])
def test_uniform_pressure_turns_as_the_closed_form_says(length: float, gauge: float) -> None:
    motion = balance_friction(on_the_spot(length, gauge))
    assert motion.yaw_rate == pytest.approx(uniform_pressure_turning_rate(SPEED, gauge, length), rel=1e-5)
    assert motion.velocity == pytest.approx([0.0, 0.0], abs=1e-9)
    assert motion.residual < TOLERANCE


@pytest.mark.parametrize("ratio", [0.3, 0.8, 1.0])
def test_less_friction_across_is_a_shorter_track(ratio: float) -> None:
    """Lateral slip grows with distance from the middle, so that a factor on one is one on the other."""
    motion = balance_friction(on_the_spot(across=ratio * FRICTION))
    expected = uniform_pressure_turning_rate(SPEED, GAUGE, ratio * LENGTH)
    assert motion.yaw_rate == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("width", [0.05, 0.15, 0.3])
def test_wide_tracks_turn_where_the_moments_of_their_friction_balance(width: float) -> None:
    length, gauge = 0.7, 0.606
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 801) * length, gauge / 2 + np.linspace(-0.5, 0.5, 201) * width)

    def moment(rate: float) -> float:
        """Of the right track's friction about the vehicle's middle."""
        ahead, aside = SPEED - rate * y, rate * x
        return float(((ahead * y - aside * x) / np.hypot(ahead, aside)).mean())

    motion = balance_friction(uniform_tracks(length, width, gauge, (1.0, 1.0), -SPEED, SPEED))
    assert motion.yaw_rate == pytest.approx(brentq(moment, 0.01, 2 * SPEED / gauge), rel=2e-3)


def test_equal_belts_drive_straight_without_slip() -> None:
    motion = balance_friction(uniform_tracks(LENGTH, 0.1, GAUGE, (FRICTION, FRICTION), SPEED, SPEED))
    assert motion.velocity == pytest.approx([SPEED, 0.0], abs=1e-8)
    assert motion.yaw_rate == pytest.approx(0.0, abs=1e-8)
    assert motion.slip(GAUGE / 2, SPEED) == pytest.approx(0.0, abs=1e-7)


def test_point_sized_tracks_follow_their_belts_through_a_bend() -> None:
    left, right = 0.1, 0.2
    contacts = uniform_tracks(1e-7, 0.0, GAUGE, (FRICTION, FRICTION), left, right, FINE)
    motion = balance_friction(contacts)
    assert motion.yaw_rate == pytest.approx((right - left) / GAUGE, rel=1e-4)
    assert motion.slip(GAUGE / 2, left) == pytest.approx(0.0, abs=1e-4)
    assert motion.slip(-GAUGE / 2, right) == pytest.approx(0.0, abs=1e-4)


def test_a_bend_brakes_the_inner_track_and_drives_with_the_outer_one() -> None:
    contacts = uniform_tracks(LENGTH, 0.0, GAUGE, (FRICTION, FRICTION), 0.1, 0.2)
    motion = balance_friction(contacts)
    assert 0 < motion.yaw_rate < 0.1 / GAUGE
    assert motion.slip(GAUGE / 2, 0.1) < 0 < motion.slip(-GAUGE / 2, 0.2)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("across", [0.3, 0.6])
def test_belts_that_stand_hold_a_push_from_the_side_up_to_friction(share: float, across: float) -> None:
    still = dataclasses.replace(on_the_spot(across=across), belt_speeds=np.zeros(2 * FINE[0]))
    motion = balance_friction(still, (0.0, share * across))
    assert motion.velocity == pytest.approx([0.0, 0.0], abs=1e-7)
    assert motion.forces.sum(axis=0) == pytest.approx([0.0, -share * across], abs=TOLERANCE)


@pytest.mark.parametrize("share", [1.001, 2.0])
def test_a_push_beyond_friction_is_refused(share: float) -> None:
    with pytest.raises(InvalidValueError) as caught:
        balance_friction(on_the_spot(), (0.0, share * FRICTION))
    expected = "force and moment must be what friction can hold, got "
    assert str(caught.value) == f"{expected}{(0.0, share * FRICTION, 0.0)}"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("across", [0.4, 0.6])
def test_sliding_belts_creep_down_a_slope(share: float, across: float) -> None:
    """Belts that slide already yield to any force across, as far as the ellipse says."""
    motion = balance_friction(crossed(across), (0.0, share * across))
    expected = SPEED * FRICTION / across * share / math.sqrt(1 - share**2)
    assert motion.velocity == pytest.approx([0.0, expected], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("factor", [0.01, 30.0])
def test_only_ratios_of_speeds_loads_and_lengths_matter(factor: float) -> None:
    contacts, outside = random_contacts(5)
    motion = balance_friction(contacts, outside[:2], outside[2])
    faster = dataclasses.replace(contacts, belt_speeds=factor * contacts.belt_speeds)
    heavier = dataclasses.replace(contacts, loads=factor * contacts.loads)
    larger = dataclasses.replace(contacts, points=factor * contacts.points)
    of_faster = balance_friction(faster, outside[:2], outside[2])
    of_heavier = balance_friction(heavier, factor * outside[:2], factor * outside[2])
    of_larger = balance_friction(larger, outside[:2], factor * outside[2])
    assert of_faster.yaw_rate == pytest.approx(factor * motion.yaw_rate, rel=1e-4)
    assert of_faster.velocity == pytest.approx(factor * motion.velocity, rel=1e-4)
    assert of_heavier.yaw_rate == pytest.approx(motion.yaw_rate, rel=1e-4)
    assert of_larger.yaw_rate == pytest.approx(motion.yaw_rate / factor, rel=1e-4)
    assert of_larger.velocity == pytest.approx(motion.velocity, rel=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_no_other_motion_dissipates_less(seed: int) -> None:
    """Simplices from several starts look for the least power without derivatives or smoothing."""
    contacts, outside = random_contacts(seed)
    motion = balance_friction(contacts, outside[:2], outside[2])
    found = np.array([*motion.velocity, motion.yaw_rate])
    least = power(contacts, outside, found)
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000, "maxfev": 8000}
    starts = np.random.default_rng(seed).normal(0.0, 0.2, (4, 3))
    others = [
        minimize(lambda q: power(contacts, outside, q), start, method="Nelder-Mead", options=options)
        for start in starts
    ]
    best = min(others, key=lambda other: other.fun)
    assert least == pytest.approx(best.fun, rel=1e-6)
    assert found == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_forces_balance_lie_in_the_ellipse_and_oppose_slip(seed: int) -> None:
    contacts, outside = random_contacts(seed)
    motion = balance_friction(contacts, outside[:2], outside[2])
    (x, y), (fx, fy) = contacts.points.T, motion.forces.T
    total = np.array([fx.sum(), fy.sum(), (x * fy - y * fx).sum()])
    assert total == pytest.approx(-outside, abs=TOLERANCE * contacts.grip)
    (cos, sin), limits = contacts.directions.T, contacts.friction * contacts.loads[:, None]
    local = np.column_stack([fx * cos + fy * sin, fy * cos - fx * sin])
    assert (np.hypot(*(local / limits).T) <= 1 + 1e-9).all()
    assert ((local * motion.slip_velocity).sum(axis=1) <= 0).all()


BAD = {
    "shape": (
        {"points": np.zeros((2, 3))},
        f"PlanarContacts.points must be finite numbers of shape (2, 2), got {np.zeros((2, 3))!r}",
    ),
    "nan": (
        {"belt_speeds": np.array([0.1, math.nan])},
        f"PlanarContacts.belt_speeds must be finite numbers of shape (2,), got {np.array([0.1, math.nan])!r}",
    ),
    "pull": ({"loads": np.array([1.0, -2.0])}, "PlanarContacts.loads must be at least 0, got -2.0"),
    "nothing": ({"loads": np.zeros(2)}, "PlanarContacts.loads must be with friction somewhere, got 0.0"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_contacts_that_cannot_be_are_refused(mistake: str) -> None:
    change, message = BAD[mistake]
    with pytest.raises(InvalidValueError) as caught:
        dataclasses.replace(crossed(), **change)
    assert str(caught.value) == message
