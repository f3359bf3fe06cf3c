"""Belts, links and places of a vehicle's tracks, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from segtrack.compliant import BeltDesign
from segtrack.description import (
    VehicleDescription,
    belt_designs,
    bounding_box,
    parse_vehicle,
    place_tracks,
    vehicle_links,
)
from segtrack.geometry import MassProperties

RADIUS, RUN, WIDTH, BELT_MASS = 0.1, 0.6, 0.2, 3.0
BODY, BODY_SIZE, BODY_CENTER = 20.0, (0.5, 0.3, 0.1), (0.02, 0.01, -0.03)
COUNT = 40
PERIMETER = 2 * RUN + 2 * math.pi * RADIUS
PITCH = PERIMETER / COUNT
BAR = {"trapezoid": {"base": 0.012, "top": 0.006, "height": 0.008}}
ROD = {"cylinder": {"radius": 0.005}, "width": 0.15}


def track(y: float = 0.0, shapes: tuple[dict[str, Any], ...] | None = (BAR,), **given: Any) -> dict[str, Any]:
    """A belt around two pulleys alike, about the origin of its frame."""
    content: dict[str, Any] = {
        "mount": {"xyz": [0.05, y, -0.02]},
        "path": {"pulleys": [{"x": x, "z": 0, "radius": RADIUS} for x in (-RUN / 2, RUN / 2)]},
        "width": WIDTH,
        "belt": {"mass": BELT_MASS, "thickness": 0.01},
        "drive": {"max_force": 100.0, "max_speed": 1.0},
        "contact": {"friction": 0.5},
    }
    if shapes is not None:
        one = len(shapes) == 1
        content["grousers"] = {"count": COUNT, **({"shape": shapes[0]} if one else {"pattern": shapes})}
    return content | given


def flipper(tip: str = "front", **given: Any) -> dict[str, Any]:
    """An arm with a belt whose rear pulley is about its pivot."""
    belt = track(mount={"xyz": [RUN / 2 if tip == "front" else -RUN / 2, 0.05, 0]}, **given)
    return {
        "mount": {"xyz": [0.3 if tip == "front" else -0.3, 0.25, 0.04]},
        "tip_direction": tip,
        "mass": 2.0,
        "size": [0.5, 0.05, 0.1],
        "center_of_mass": [0.2, 0, 0.01],
        "limits": [-2.0, 2.0],
        "max_torque": 10.0,
        "max_speed": 1.0,
        "tracks": {"belt": belt},
    }


def vehicle(
    tracks: dict[str, Any] | None = None, flippers: dict[str, Any] | None = None, **body: Any
) -> VehicleDescription:
    own = {"mass": BODY, "size": BODY_SIZE, "center_of_mass": BODY_CENTER, **body}
    sides = {"left": track(0.2), "right": track(-0.2)} if tracks is None else tracks
    return parse_vehicle(
        {"name": "own", "source": "test", "body": own, "tracks": sides, "flippers": flippers or {}}
    )


def belts_of(description: VehicleDescription, smooth: bool = False) -> tuple[BeltDesign, ...]:
    return belt_designs(description, vehicle_links(description).whole.mass, smooth)


# Contact


@pytest.mark.parametrize("with_flipper", [False, True])
def test_a_vehicle_sinks_in_by_0_03_mm_on_the_tracks_of_its_body_and_does_not_bounce(with_flipper) -> None:
    """Damping ratio 2."""
    description = vehicle(flippers={"arm": flipper()} if with_flipper else {})
    mass = vehicle_links(description).whole.mass
    assert mass == pytest.approx(BODY + 2 * BELT_MASS + with_flipper * (2.0 + BELT_MASS))
    for belt in belts_of(description):
        stiffness, damping = (2 * RUN * part for part in (belt.law.stiffness, belt.law.damping))
        assert stiffness * 3e-5 == pytest.approx(mass * 9.81)
        assert damping / (2 * math.sqrt(stiffness * mass)) == pytest.approx(2.0)
        assert belt.law.tangential_stiffness == belt.law.stiffness
        assert belt.law.tangential_damping == belt.law.damping
        assert (belt.law.friction, belt.law.lateral_ratio, belt.law.restitution) == (0.5, 1.0, 0.0)


def test_a_vehicle_of_flippers_alone_stands_on_them() -> None:
    description = vehicle({}, {"arm": flipper()})
    (belt,) = belts_of(description)
    assert belt.law.stiffness * RUN * 3e-5 == pytest.approx((BODY + 2 + BELT_MASS) * 9.81)


@pytest.mark.parametrize(("shapes", "spacing"), [((BAR,), PITCH), (None, 0.02)])
def test_what_a_file_gives_for_a_contact_is_that_of_a_grouser_or_20_mm(shapes, spacing: float) -> None:
    contact = {"friction": 0.5, "lateral_friction": 0.6, "stiffness": 3e4, "damping": 40.0}
    belts = belts_of(vehicle({"left": track(0.2, shapes, contact=contact), "right": track(-0.2, shapes)}))
    assert belts[0].law.stiffness * spacing == pytest.approx(3e4)
    assert belts[0].law.damping * spacing == pytest.approx(40.0)
    assert belts[0].law.lateral_ratio == pytest.approx(1.2)


@pytest.mark.parametrize(("shapes", "length"), [((BAR,), 2 * math.pi * RADIUS / COUNT), (None, 0.02)])
def test_a_wheel_stands_on_one_grouser_or_20_mm(shapes, length: float) -> None:
    path = {"pulleys": [{"x": 0, "z": 0, "radius": RADIUS}]}
    belts = belts_of(
        vehicle({side: track(y, shapes, path=path) for side, y in (("left", 0.2), ("right", -0.2))})
    )
    assert belts[0].law.stiffness * 2 * length * 3e-5 == pytest.approx((BODY + 2 * BELT_MASS) * 9.81)


# Sections


def test_grousers_stand_on_the_belt_and_between_them_its_faces() -> None:
    """A face for each half pitch, beside each grouser; of a face what the grousers leave."""
    drive = {"max_force": 100.0, "max_speed": 1.0, "reflected_mass": 0.5}
    belt = belts_of(vehicle({"left": track(0.2, (BAR, ROD), drive=drive)}))[0]
    assert (belt.name, belt.riding, belt.grouser_count) == ("left", True, COUNT)
    assert belt.moving_mass == pytest.approx(BELT_MASS + 0.5)
    homes, after, before = belt.coordinates.reshape(3, COUNT)
    np.testing.assert_allclose(np.diff(np.sort(homes)), PITCH)
    np.testing.assert_allclose(np.abs([after - homes, before - homes]), PITCH / 4)
    assert ((after - homes) * (before - homes) < 0).all()
    bar, rod, beside_bar, beside_rod = belt.sections
    assert belt.kinds.tolist() == [0, 1] * (COUNT // 2) + [2, 3] * COUNT
    np.testing.assert_allclose(belt.lengths, [PITCH] * COUNT + [PITCH / 2] * 2 * COUNT)
    for section, height, width in [(bar, 0.008, WIDTH), (rod, 0.005, 0.15)]:
        assert section.points[:, 2].max() == pytest.approx(height)
        assert np.ptp(section.points[:, 1]) == pytest.approx(width)
    for section, length, spans in [(beside_bar, 0.012, WIDTH), (beside_rod, 0.01, WIDTH)]:
        assert section.areas.sum() == pytest.approx((PITCH - length) / 2 * spans)
        np.testing.assert_allclose(section.box[3:], [PITCH / 4, WIDTH / 2, RADIUS / 4])  # Half a radius deep.


def test_grousers_that_touch_leave_next_to_nothing_of_the_belt() -> None:
    belt = belts_of(vehicle({"left": track(0.2, ({"box": {"length": PITCH, "height": 0.01}},))}))[0]
    assert belt.sections[1].areas.sum() == pytest.approx(1e-3 * PITCH * WIDTH / 2)
    assert belt.sections[0].areas.sum() == pytest.approx(PITCH * WIDTH)


@pytest.mark.parametrize(("radius", "longest"), [(RADIUS, 0.02), (0.05, 0.01)])
def test_a_smooth_belts_faces_are_20_mm_or_a_fifth_of_a_radian(radius: float, longest: float) -> None:
    """The fewest of one length that are no longer."""
    path = {"pulleys": [{"x": x, "z": 0, "radius": radius} for x in (-RUN / 2, RUN / 2)]}
    belt = belts_of(vehicle({"left": track(0.2, None, path=path)}))[0]
    count = len(belt.lengths)
    perimeter = 2 * RUN + 2 * math.pi * radius
    np.testing.assert_allclose(belt.lengths, perimeter / count)
    np.testing.assert_allclose(belt.coordinates, belt.lengths[0] * np.arange(count))
    assert perimeter / count <= longest < perimeter / (count - 1)
    assert belt.riding and belt.grouser_count == 0 and len(belt.sections) == 1
    np.testing.assert_allclose(belt.sections[0].box[3:], [belt.lengths[0] / 2, WIDTH / 2, radius / 4])
    assert belt.sections[0].areas.sum() == pytest.approx(belt.lengths[0] * WIDTH)


@pytest.mark.parametrize(("radius", "per_arc"), [(RADIUS, 16), (0.15, 24)])
def test_a_surface_has_faces_that_stand_end_to_end_on_each_segment(radius: float, per_arc: int) -> None:
    """An arc of half a turn in pieces of at most 0.2 rad and 20 mm; a segment that is omitted has none.

    Points lie between these pieces, one at each end of a segment, and reach half way to their neighbours.
    """
    path = {"pulleys": [{"x": x, "z": 0, "radius": radius} for x in (-RUN / 2, RUN / 2)]}
    content = track(0.2, path=path, omit_segments=["line_2"])
    belt = belts_of(vehicle({"left": content}), smooth=True)[0]
    assert not belt.riding and belt.grouser_count == 0
    arc = math.pi * radius
    line, bent = np.linspace(0.0, RUN, 31), np.linspace(0.0, arc, per_arc + 1)
    places = np.concatenate([line, RUN + bent[1:], 2 * RUN + arc + bent[:-1]])
    np.testing.assert_allclose(belt.coordinates, places, atol=1e-9)
    boxes = np.array([belt.sections[kind].box for kind in belt.kinds])
    rear, front = boxes[:, 3] - boxes[:, 0], boxes[:, 3] + boxes[:, 0]
    np.testing.assert_allclose(belt.lengths, rear + front)
    ends = places + front - np.roll(places - rear, -1)
    ends[-1] -= belt.path.perimeter
    omitted = 30 + per_arc
    assert ends[omitted] == pytest.approx(-RUN)
    np.testing.assert_allclose(np.delete(ends, omitted), 0, atol=1e-9)
    assert belt.lengths.sum() == pytest.approx(belt.path.perimeter - RUN)


# Links and places


def test_a_drives_inertia_is_part_of_its_carrier_and_moves_with_the_belt_in_its_speed_alone() -> None:
    """Links weigh what they do without it: a rotor that stands still moves with what carries it."""
    drive, small = ({"max_force": 1.0, "max_speed": 1.0, "reflected_mass": mass} for mass in (2.0, 0.5))
    plain = vehicle(flippers={"arm": flipper()})
    geared = vehicle(
        {"left": track(0.2, drive=drive), "right": track(-0.2, drive=drive)}, {"arm": flipper(drive=small)}
    )
    assert [belt.moving_mass for belt in belts_of(geared)] == pytest.approx(
        [BELT_MASS + 2, BELT_MASS + 2, BELT_MASS + 0.5]
    )
    links, before = vehicle_links(geared), vehicle_links(plain)
    assert [mass.mass for mass in links.masses] == pytest.approx([BODY + 2 * BELT_MASS, 2 + BELT_MASS])
    assert links.track_links == (0, 0, 1)
    for mass, same in zip(links.masses, before.masses, strict=True):
        np.testing.assert_allclose(mass.center, same.center, atol=1e-12)
        np.testing.assert_allclose(mass.inertia, same.inertia, atol=1e-12)
    # What is left when the belts are taken from the body again.
    box = MassProperties.of_box(BODY, BODY_CENTER, BODY_SIZE)
    heavy = {"mass": 2 * BELT_MASS, "thickness": 0.01}
    twice = vehicle_links(vehicle({"left": track(0.2, belt=heavy), "right": track(-0.2, belt=heavy)}))
    left = links.masses[0] - (twice.masses[0] - links.masses[0])
    assert left.mass == pytest.approx(BODY)
    np.testing.assert_allclose(left.inertia, box.inertia, atol=1e-12)


@pytest.mark.parametrize("ratio", [None, 20.0, -5.0])
@pytest.mark.parametrize("sprocket", [False, True])
def test_a_rotor_turns_as_its_gear_makes_it_turn(ratio: float | None, sprocket: bool) -> None:
    """I w with I = m (r / ratio)^2 and w = ratio v / r; the belt has 2 m area / perimeter of its own."""
    given: dict[str, Any] = {"max_force": 1.0, "max_speed": 1.0}
    if sprocket:
        given = {"sprocket": {"radius": 0.07, "stall_torque": 1.0, "no_load_speed": 10.0}}
    radius = 0.07 if sprocket else RADIUS
    (belt,) = belts_of(
        vehicle({"left": track(0.2, drive={**given, "reflected_mass": 2.0, "gear_ratio": ratio})})
    )
    area = 2 * RADIUS * RUN + math.pi * RADIUS**2
    rotor = 0.0 if ratio is None else 2.0 * (radius / ratio) ** 2 * ratio / radius
    assert belt.rotor_momentum == pytest.approx(rotor)
    assert belt.spin_momentum == pytest.approx(2 * BELT_MASS * area / PERIMETER + rotor, rel=1e-3)


@pytest.mark.parametrize(("tip", "sign"), [("front", 1), ("rear", -1)])
def test_a_flipper_raises_its_tip_by_a_positive_angle(tip: str, sign: int) -> None:
    description = vehicle(flippers={"arm": flipper(tip)})
    frame = place_tracks(description, {"arm": math.pi / 2})[2].frame
    np.testing.assert_allclose(frame.origin, [sign * 0.3, 0.3, 0.04 + RUN / 2], atol=1e-12)
    level = place_tracks(description, {})[2].frame
    np.testing.assert_allclose(level.origin, [sign * (0.3 + RUN / 2), 0.3, 0.04], atol=1e-12)
    np.testing.assert_allclose(level.rotation, np.eye(3), atol=1e-12)
    assert [p.mounted.name for p in place_tracks(description, {})] == ["left", "right", "arm_belt"]


@pytest.mark.parametrize(("shapes", "tip"), [(None, 0.0), ((BAR, ROD), 0.008)])
def test_the_box_around_a_vehicle_goes_to_its_grousers_tips(shapes, tip: float) -> None:
    low, high = bounding_box(vehicle({"left": track(0.2, shapes), "right": track(-0.3, shapes)}), {})
    along, up = RUN / 2 + RADIUS + tip, RADIUS + tip
    np.testing.assert_allclose(low, [0.05 - along, -0.3 - WIDTH / 2, -0.02 - up], atol=1e-5)
    np.testing.assert_allclose(high, [0.05 + along, 0.2 + WIDTH / 2, -0.02 + up], atol=1e-5)


def test_the_box_around_a_vehicle_holds_its_body_and_a_flipper_that_is_raised() -> None:
    large = vehicle(flippers={"arm": flipper()}, size=(3.0, 2.0, 1.0))
    np.testing.assert_allclose(bounding_box(large, {}), [[-1.5, -1, -0.5], [1.5, 1, 0.5]])
    _, high = bounding_box(vehicle(flippers={"arm": flipper()}), {"arm": math.pi / 2})
    np.testing.assert_allclose(high[2], 0.04 + RUN + RADIUS + 0.008, atol=1e-5)


def test_a_vehicle_without_belts_lacks_their_mass_alone() -> None:
    description = vehicle(flippers={"arm": flipper()})
    bare = description.without_belts()
    assert vehicle_links(bare).whole.mass == pytest.approx(BODY + 2.0)
    assert {track.name: track.spec.belt.mass for track in bare.mounted_tracks()} == dict.fromkeys(
        ("left", "right", "arm_belt"), 0.0
    )
