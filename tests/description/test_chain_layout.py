"""The chain that a track's description asks for, against closed forms of a belt around its pulleys."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from segtrack.chain import TrackDesign, Wheel
from segtrack.description import TrackSpec
from segtrack.description.chain import track_design
from segtrack.errors import InvalidValueError, SegtrackError

REAR, FRONT, APART = 0.1, 0.08, 0.6
"""Radii and distance of the pulleys [m]: the belt turns more around the larger, which so drives it."""
LEAN = math.asin((REAR - FRONT) / APART)
RUN = math.sqrt(APART**2 - (REAR - FRONT) ** 2)
PERIMETER = 2 * RUN + REAR * (math.pi + 2 * LEAN) + FRONT * (math.pi - 2 * LEAN)
WIDTH, THICKNESS, MASS, REFLECTED, STALL, COUNT = 0.2, 0.02, 4.0, 2.0, 500.0, 42
STIFFNESS = 1e6
"""Of a bushing if none is given [N/m]."""


def track(chain: dict[str, Any] | None = None, **given: Any) -> TrackSpec:
    """A track around the two pulleys, with bars for grousers."""
    content: dict[str, Any] = {
        "path": {"pulleys": [pulley(-0.2, REAR), pulley(-0.2 + APART, FRONT)]},
        "width": WIDTH,
        "belt": {"mass": MASS, "thickness": THICKNESS},
        "grousers": {"count": COUNT, "shape": {"box": {"length": 0.01, "height": 0.008}}},
        "drive": {"max_force": STALL, "max_speed": 1.0, "reflected_mass": REFLECTED},
        "contact": {"friction": 0.7},
        "chain": chain or {},
    }
    return TrackSpec.model_validate(content | given)


def pulley(x: float, radius: float, z: float = 0.0) -> dict[str, float]:
    return {"x": x, "z": z, "radius": radius}


def design(chain: dict[str, Any] | None = None, **given: Any) -> TrackDesign:
    return track_design("belt", track(chain, **given))


def pin_radius(found: TrackDesign) -> float:
    """Of the circle on which the driven wheel's teeth, a whole number, are a pitch apart [m]."""
    assert found.running_gear.sprocket is not None
    return found.chain.shoe.pitch / (2 * math.sin(math.pi / found.running_gear.sprocket.count))


def critical(ratio: float, stiffness: float, mass: float) -> float:
    """Damping of an oscillator m x'' + c x' + k x = 0 whose roots have the damping ratio [N s/m]."""
    omega = math.sqrt(stiffness / mass)
    return 2 * ratio * mass * omega


def apart(wheel: Wheel, x: float, z: float = 0.0) -> float:
    return math.dist((wheel.x, wheel.z), (x, z))


def test_a_shoe_is_a_box_with_its_pins_on_the_pitch_circle() -> None:
    shoe = (found := design()).chain.shoe
    depth, pitch = REAR - pin_radius(found), shoe.pitch
    assert found.chain.count == COUNT and shoe.mass == pytest.approx(MASS / COUNT)
    sides = np.square([pitch, WIDTH, THICKNESS])
    np.testing.assert_allclose(shoe.inertia, shoe.mass / 12 * (sides.sum() - sides))
    np.testing.assert_allclose(shoe.pin_position, [pitch / 2, 0, THICKNESS / 2 - depth], atol=1e-9)
    np.testing.assert_allclose(shoe.bushing_position, [-pitch / 2, 0, THICKNESS / 2 - depth], atol=1e-9)
    assert COUNT * pitch == pytest.approx(PERIMETER - 2 * math.pi * depth, rel=5e-3)
    # Of all numbers of teeth it has the one that brings the pins nearest to the shoes' middle.
    teeth = found.running_gear.sprocket.count
    others = [REAR - (PERIMETER - 2 * math.pi * depth) / COUNT / (2 * math.sin(math.pi / n))
              for n in (teeth - 1, teeth + 1)]  # fmt: skip
    assert all(abs(other - THICKNESS / 2) > abs(depth - THICKNESS / 2) for other in others)
    assert design({"shoes": {"mass": 0.3}}).chain.shoe.mass == 0.3


def test_a_bushing_is_as_stiff_and_as_damped_as_one_as_wide_as_the_track() -> None:
    """A row of springs of k / w a metre turns out of its axis with k w^2 / 12."""
    chain = design({"bushing": {"damping_ratio": 0.3, "back_bend": 0.5}}).chain
    bushing, shoe = chain.bushing, chain.shoe
    places = (np.arange(1000) + 0.5) / 1000 * WIDTH - WIDTH / 2
    row = np.sum(STIFFNESS / 1000 * places**2)
    assert bushing.stiffness == STIFFNESS and bushing.back_bend == 0.5
    assert bushing.damping == pytest.approx(critical(0.3, STIFFNESS, shoe.mass / 2))
    assert bushing.conical_stiffness == pytest.approx(row, rel=1e-5)
    # About the smaller of the axes that the pin turns out of.
    assert bushing.conical_damping == pytest.approx(
        critical(0.3, bushing.conical_stiffness, min(shoe.inertia[0], shoe.inertia[2]) / 2)
    )
    assert bushing.stop_stiffness == pytest.approx(STIFFNESS * THICKNESS**2)
    assert bushing.stop_damping == pytest.approx(critical(0.3, bushing.stop_stiffness, shoe.inertia[1] / 2))
    assert design({"bushing": {"conical_stiffness": 77.0}}).chain.bushing.conical_stiffness == 77.0


@pytest.mark.parametrize("drum", [None, 0.9])
def test_a_rail_on_a_wheel_is_a_fifth_as_stiff_as_a_bushing_under_the_stall_force(drum: float | None) -> None:
    found = design({"drum": {"friction": drum}} if drum is not None else {})
    gear, law, mass = found.running_gear, found.running_gear.contact, found.chain.shoe.mass
    # Slope of F = K d^1.5 where F is the stall force, by a finite difference.
    depth = (STALL / law.stiffness) ** (2 / 3)
    slope = law.stiffness * ((depth + 1e-9) ** 1.5 - (depth - 1e-9) ** 1.5) / 2e-9
    assert slope == pytest.approx(0.2 * STIFFNESS, rel=1e-5)
    assert law.tangential_stiffness == pytest.approx(0.2 * STIFFNESS)
    assert law.damping == pytest.approx(critical(0.15, 0.2 * STIFFNESS, mass))
    assert law.friction == (0.3 if drum is None else drum)
    assert gear.driven == 0 and (gear.sprocket is None) == (drum is not None)
    np.testing.assert_allclose(gear.rail.stations, [-0.08, 0.08])
    if gear.sprocket is not None:
        assert gear.rail.inset == pytest.approx(THICKNESS - (REAR - pin_radius(found)))


def test_teeth_fit_the_pins_and_hold_them_as_stiffly_as_rails() -> None:
    found = design({"sprocket": {"pressure_angle": 0.4}})
    sprocket, pitch = found.running_gear.sprocket, found.chain.shoe.pitch
    assert sprocket is not None
    assert sprocket.pitch_radius == pytest.approx(pin_radius(found))
    assert sprocket.bushing_radius == pytest.approx(0.15 * pitch)
    assert (sprocket.friction, sprocket.slip_speed) == (0.05, 1.0)
    assert sprocket.stiffness == sprocket.side_stiffness == pytest.approx(0.2 * STIFFNESS)
    assert sprocket.damping == pytest.approx(critical(0.15, 0.2 * STIFFNESS, found.chain.shoe.mass))
    assert sprocket.side_clearance == pytest.approx(0.02 * WIDTH)
    foot, tip = np.array(sprocket.profile[3]), np.array(sprocket.profile[4])
    assert math.atan2(*(tip - foot)) == pytest.approx(0.4)
    assert design({"bushing": {"radius": 0.004}}).running_gear.sprocket.bushing_radius == 0.004


WHEEL = {"inertia": 0.3, "contact_stiffness": 4e4, "friction": 0.45}


def test_wheels_have_the_data_that_they_are_given() -> None:
    """Each kind of wheel; where nothing is given, as before."""
    road = {"x": 0.1, "z": -0.02, "radius": 0.03}
    chain = {
        "sprocket": {"inertia": 0.7, "contact_stiffness": 5e4, "friction": 0.1},
        "idler": {"inertia": 0.2, "mass": 3.0, "friction": 0.25},
        "road_wheels": [road | WHEEL, {**road, "x": 0.0}],
        "bushing": {"bending_stiffness": 12.0, "bending_damping": 0.4},
    }
    found, plain = design(chain), design({"road_wheels": [road, {**road, "x": 0.0}]})
    gear, bushing = found.running_gear, found.chain.bushing
    driven, idler, first, second = gear.wheels
    assert driven.inertia == pytest.approx(0.7 + REFLECTED * pin_radius(found) ** 2)
    assert gear.sprocket is not None and (gear.sprocket.stiffness, gear.sprocket.friction) == (5e4, 0.1)
    assert idler.inertia == 0.2 and idler.tensioner is not None and idler.tensioner.mass == 3.0
    assert idler.tensioner.damping == pytest.approx(critical(0.5, idler.tensioner.stiffness, 3.0))
    assert first.inertia == 0.3 and second == plain.running_gear.wheels[3]
    laws = gear.contacts
    assert laws[1]._replace(friction=0.3) == laws[3] == gear.contact
    assert (laws[1].friction, laws[2].friction) == (0.25, 0.45)
    assert laws[2].linearized_stiffness(STALL) == pytest.approx(4e4)
    assert laws[2].damping == pytest.approx(critical(0.15, 4e4, found.chain.shoe.mass))
    assert (bushing.pin_stiffness, bushing.pin_damping) == (12.0, 0.4)
    rollers = design({"drum": {"inertia": 0.7}, "even_rollers": WHEEL}).running_gear
    assert 0.7 < rollers.wheels[0].inertia < 0.7 + REFLECTED * REAR**2 and rollers.contacts[0].friction == 0.8
    assert {wheel.inertia for wheel in rollers.wheels[2:]} == {0.3}
    assert {law.friction for law in rollers.contacts[2:]} == {0.45}


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (
            {"tensioner": {"direction": [-1, 0]}},
            "chain.tensioner.direction of belt must be one that tightens the chain, got one that slackens it",
        ),
        (
            {"bushing": {"conical_stiffness": 300.0, "bending_stiffness": 1000.0}},
            "chain.bushing.bending_stiffness of belt must be at most its conical_stiffness, 300 N m/rad, "
            "got 1000.0",
        ),
    ],
)
def test_data_that_no_chain_has_are_refused(chain: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        design(chain)
    assert str(error.value) == message


def test_contact_points_of_a_shoe_together_damp_it_as_asked() -> None:
    """A bar stands on its plate's four corners and its tip's four."""
    for given, stiffness, ratio in [
        ({}, 0.1 * STIFFNESS, 0.1),
        ({"shoe_contact": {"stiffness": 3e4, "damping_ratio": 0.2}}, 3e4, 0.2),
    ]:
        found = design(given)
        law = found.shoe_contact
        assert law.friction == 0.7
        assert law.stiffness == law.tangential_stiffness == pytest.approx(stiffness)
        together = critical(ratio, 8 * stiffness, found.chain.shoe.mass)
        assert 8 * law.damping == 8 * law.tangential_damping == pytest.approx(together)


@pytest.mark.parametrize(("given", "largest"), [({}, STALL), ({"pretension": 400.0}, 800.0)])
def test_a_chain_expects_its_drive_or_its_tensioner(given: dict[str, float], largest: float) -> None:
    assert design({"tensioner": given}).max_contact_force == pytest.approx(largest)


def test_wheels_touch_the_shoes_inner_faces() -> None:
    """Around a wheel the shoes are a polygon, whose sides' middles are nearest to the axle."""
    found = design()
    driven, idler = found.running_gear.wheels[:2]
    pitch, pins = found.chain.shoe.pitch, pin_radius(found)
    depth = REAR - pins
    for wheel, x, pulley_radius in [(driven, -0.2, REAR), (idler, -0.2 + APART, FRONT)]:
        assert apart(wheel, x) < 1e-9
        middle = math.sqrt((pulley_radius - depth) ** 2 - (pitch / 2) ** 2)
        radius = middle - (THICKNESS - depth)
        (left, top), (inner_left, low), (inner_right, _), (right, _) = wheel.profile
        assert low == pytest.approx(radius) and top == pytest.approx(radius + 0.08 * pitch)
        assert -inner_left == inner_right == pytest.approx(0.42 * WIDTH) and right == -left > inner_right
        own = 0.05 * MASS * radius**2 / 2
        reflected = REFLECTED * pins**2 if wheel is driven else 0.0
        assert wheel.inertia == pytest.approx(own + reflected)
    assert driven.tensioner is None and idler.tensioner is not None
    spring = idler.tensioner
    np.testing.assert_allclose(spring.direction, [1, 0], atol=1e-12)
    # Two leaning runs, each under a fifth of the stall force; in half a pitch twice the stall force on each.
    assert spring.preload == pytest.approx(2 * 0.2 * STALL * math.cos(LEAN))
    assert spring.stiffness * pitch / 2 == pytest.approx(2 * 2 * STALL)
    assert spring.mass == pytest.approx(0.05 * MASS)
    assert spring.damping == pytest.approx(critical(0.5, spring.stiffness, spring.mass))
    given = design({"tensioner": {"stiffness": 4e4, "pretension": 60.0}}).running_gear.wheels[1].tensioner
    assert given is not None and given.stiffness == 4e4
    assert given.preload == pytest.approx(120.0 * math.cos(LEAN))


def test_a_strong_drives_pretension_does_not_stretch_the_chain_by_more_than_half_a_pitch() -> None:
    """Of its length: a quarter of a pitch at the idler, with all bushings in series."""
    drive = {"max_force": 5e5, "max_speed": 1.0}
    found = design({"bushing": {"stiffness": 2e6}}, drive=drive)
    tensioner = found.running_gear.wheels[1].tensioner
    assert tensioner is not None
    tension = tensioner.preload / (2 * math.cos(LEAN))
    assert COUNT * tension / 2e6 == pytest.approx(PERIMETER / COUNT / 2)


EVEN = {"pulleys": [pulley(-0.3, REAR), pulley(0.3, REAR)]}
"""Its runs are level, 0.6 m long; of two pulleys alike the one behind drives it."""


@pytest.mark.parametrize(
    "given", [{}, {"spacing": 0.06}, {"radius": 0.012}, {"spacing": 0.05, "radius": 0.01}]
)
def test_even_rollers_carry_the_runs_from_one_wheel_to_the_other(given: dict[str, float]) -> None:
    found = design({"even_rollers": given}, path=EVEN)
    pitch, teeth = found.chain.shoe.pitch, pin_radius(found) + 0.15 * found.chain.shoe.pitch
    spacing = given.get("spacing", 1.05 * pitch)
    radius = given.get("radius", 0.4 * spacing)
    rollers = found.running_gear.wheels[2:]
    for height in (-(REAR - THICKNESS - radius), REAR - THICKNESS - radius):
        run = sorted((r for r in rollers if abs(r.z - height) < 1e-9), key=lambda r: r.x)
        steps = np.diff([r.x for r in run])
        assert np.ptp(steps) < 1e-9 and steps.min() >= spacing > steps.mean() * (1 - 1 / len(run))
        for end, wheel, inwards in [(run[0], -0.3, 1), (run[-1], 0.3, -1)]:
            # A twentieth of a pitch nearer, its flange would touch the teeth.
            touching = apart(end, wheel + inwards * 0.05 * pitch)
            assert touching == pytest.approx(teeth + radius + 0.08 * pitch)
        for roller in run:
            assert roller.profile[1][1] == pytest.approx(radius)
            assert roller.inertia == pytest.approx(0.02 * MASS * radius**2 / 2)
            assert roller.parent == 0 and roller.tensioner is None
        room = run[-1].x - run[0].x
        assert len(run) == math.floor(room / spacing) + 1
    assert len(rollers) == 2 * len(run)


def test_no_roller_carries_an_omitted_run_nor_one_too_short_for_it() -> None:
    rollers = design(path=EVEN, omit_segments=("line_2",)).running_gear.wheels[2:]
    assert rollers and all(wheel.z < 0 for wheel in rollers)
    short = {"pulleys": [pulley(-0.11, REAR), pulley(0.11, REAR)]}
    grousers = {"count": 24, "shape": {"box": {"length": 0.01, "height": 0.008}}}
    thick = {"even_rollers": {"radius": 0.03}}
    assert len(design(thick, path=short, grousers=grousers).running_gear.wheels) == 2


def test_even_rollers_that_would_touch_each_other_are_left_out() -> None:
    rollers = design({"even_rollers": {"radius": 0.02}}, path=EVEN).running_gear.wheels[2:]
    assert len(rollers) > 4
    gaps = [apart(a, b.x, b.z) - a.max_radius - b.max_radius for a in rollers for b in rollers if a is not b]
    assert min(gaps) > 0


def test_rollers_stand_at_a_joint_of_two_lines_by_their_radius() -> None:
    """The ground line in two pieces: of the two rollers that would meet at their joint one is left out."""
    lines = [{"line": {"length": 0.3}}, {"line": {"length": 0.3}}]
    bend = [{"arc": {"radius": REAR, "turn": math.pi}}]
    path = {"start": [0.3, -REAR], "segments": [*lines, *bend, {"line": {"length": 0.6}}, *bend]}
    found = design({"even_rollers": {"radius": 0.012}}, path=path)
    below = [w.x for w in found.running_gear.wheels[2:] if w.z < 0]
    assert min(x for x in below if x > 0) == pytest.approx(0.012)
    np.testing.assert_allclose(sorted([*below, -0.012]), -np.sort([*below, -0.012])[::-1])


def test_a_third_pulley_bends_the_chain_and_road_wheels_hang_where_they_are_put() -> None:
    path = {"pulleys": [pulley(-0.3, REAR), pulley(0.3, REAR), pulley(0.0, 0.09, 0.2)]}
    wheel = {"radius": 0.02, "z": -0.055}
    wheels = [
        wheel | {"x": x, "link": link}
        for x, link in ((-0.1, "arm"), (0.0, None), (0.1, "bogie"), (0.15, "arm"))
    ]
    found = design({"road_wheels": wheels}, path=path)
    *bending, a, b, c, d = found.running_gear.wheels
    assert len(bending) == 3 and apart(bending[2], 0.0, 0.2) < 1e-9
    assert found.parent_link_names == ("arm", "bogie")
    assert [w.parent for w in (a, b, c, d)] == [1, 0, 2, 1]
    assert [(w.x, w.z) for w in (a, b, c, d)] == [
        (-0.1, -0.055),
        (0.0, -0.055),
        (0.1, -0.055),
        (0.15, -0.055),
    ]
    assert a.inertia == pytest.approx(0.02 * MASS * 0.02**2 / 2)
    assert bending[2].inertia == pytest.approx(0.05 * MASS * bending[2].profile[1][1] ** 2 / 2)


@pytest.mark.parametrize("longer", [-0.02, -0.002, 0.003, 0.018])
def test_an_idler_moves_along_its_tensioner_until_shoes_of_a_given_pitch_close(longer: float) -> None:
    as_drawn = design()
    pitch, teeth = as_drawn.chain.shoe.pitch * (1 + longer), as_drawn.running_gear.sprocket.count
    found = design({"shoes": {"count": COUNT, "pitch": pitch}, "sprocket": {"teeth": teeth}})
    driven, idler = found.running_gear.wheels[:2]
    assert found.chain.shoe.pitch == pytest.approx(pitch, abs=1e-6)
    assert apart(driven, -0.2) < 1e-9 and abs(idler.z) < 1e-9
    moved = idler.x - (APART - 0.2)
    assert abs(moved) <= pitch / 2 and (moved > 0) == (longer > 0)
    # What the runs gain is what the chain is longer by; the hinges run at the depth of whole teeth.
    depth = REAR - pin_radius(found)
    lean = math.asin((REAR - FRONT) / (APART + moved))
    around = (REAR - depth) * (math.pi + 2 * lean) + (FRONT - depth) * (math.pi - 2 * lean)
    way = 2 * (APART + moved) * math.cos(LEAN) + around
    assert COUNT * pitch == pytest.approx(way, rel=4e-3)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"box": {"length": 0.012, "height": 0.008}}, (0.008, 0.012, 0.012, 0)),
        ({"trapezoid": {"base": 0.014, "top": 0.006, "height": 0.01}}, (0.01, 0.014, 0.006, 0)),
        ({"cylinder": {"radius": 0.005}}, (0.005, 0.01, 0.005, 0)),
    ],
)
def test_a_shoe_has_a_grouser_of_the_belts_shape(shape: dict[str, Any], expected: tuple[float, ...]) -> None:
    found = design(grousers={"count": COUNT, "shape": shape})
    (tread,) = found.treads
    assert (tread.length, tread.thickness) == (pytest.approx(found.chain.shoe.pitch), THICKNESS)
    assert (tread.width, tread.outer) == (WIDTH, THICKNESS / 2)
    assert (tread.grouser.height, tread.grouser.base, tread.grouser.top, tread.grouser.x) == expected


def test_a_mesh_that_leans_is_a_grouser_beside_its_shoes_middle(tmp_path) -> None:
    corners = [(x, y, z) for x in (-0.004, 0.008) for y in (-0.05, 0.05) for z in (0.0, 0.01)]
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    text = "".join("v {} {} {}\n".format(*c) for c in corners) + "".join(
        "f {} {} {} {}\n".format(*f) for f in faces
    )
    (tmp_path / "lug.obj").write_text(text)
    shape = {"mesh": {"file": str(tmp_path / "lug.obj")}}
    grouser = design(grousers={"count": COUNT, "shape": shape}).treads[0].grouser
    np.testing.assert_allclose(
        [grouser.height, grouser.base, grouser.top, grouser.x], [0.01, 0.012, 0.006, 0.002]
    )


@pytest.mark.parametrize(("small", "length"), [(0.07, 0.035), (REAR, 0.04)])
def test_a_smooth_belt_has_shoes_of_40_mm_or_half_its_smallest_radius(small: float, length: float) -> None:
    spec = track(path={"pulleys": [pulley(-0.3, REAR), pulley(0.3, small)]}, grousers=None)
    found = track_design("belt", spec)
    assert found.chain.count == round(spec.belt_path.perimeter / length)
    assert found.treads[0].grouser is None
    assert design({"shoes": {"count": 37}}, grousers=None).chain.count == 37


def test_five_teeth_are_the_fewest_around_the_smallest_pulley() -> None:
    """A pitch of at most 2 r sin(pi / 5)."""
    largest = 2 * FRONT * math.sin(math.pi / 5)
    fewest = math.ceil(PERIMETER / largest)
    with pytest.raises(InvalidValueError) as error:
        design({"shoes": {"count": fewest - 1}})
    reason = "for 5 to fit around its smallest pulley"
    told = f"chain.shoes.count of belt must be at least {fewest}, {reason}, got {fewest - 1}"
    assert str(error.value) == told
    with pytest.raises(InvalidValueError, match=f"at most {largest:.4g} m, {reason}"):
        design({"shoes": {"pitch": largest * 1.001}})
    # An idler that gives way by half a pitch has room for shoes that are a pitch longer together.
    pitch = PERIMETER / fewest
    with pytest.raises(
        InvalidValueError, match=f"at least {math.ceil((PERIMETER + pitch) / largest)}, {reason}"
    ):
        design({"shoes": {"count": 5, "pitch": pitch}})


@pytest.mark.parametrize(
    ("given", "what", "complaint"),
    [
        (
            {"path": {"pulleys": [pulley(0, REAR)]}},
            "path of belt, a chain", "around two or more pulleys, bending outwards, got arc_0",
        ),
        (
            {"chain": {"shoes": {"thickness": 0.0721}}},
            "chain.shoes.thickness of belt",
            "at most 0.072 m, for a wheel to fit inside its tightest bend, got 0.0721",
        ),
        (
            {"chain": {"even_rollers": {"spacing": 0.004}}},
            "chain.even_rollers.spacing of belt",
            f"at least {design().chain.shoe.pitch / 4:.3g} m, a quarter of the pitch, got 0.004",
        ),
    ],
)  # fmt: skip
def test_what_no_chain_can_be_is_refused(given: dict[str, Any], what: str, complaint: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        design(**given)
    assert str(error.value) == f"{what} must be {complaint}"


@pytest.mark.parametrize("side", [1, -1])
def test_a_road_wheel_that_reaches_out_of_a_path_of_segments_is_refused(side: int) -> None:
    """A stadium: half circles of 0.1 m about x = 0 and 0.5 m."""
    half = {"arc": {"radius": 0.1, "turn": math.pi}}
    line = {"line": {"length": 0.5}}
    path = {"segments": [line, half, line, half], "start": [0.5, -0.1], "heading": math.pi}
    with pytest.raises(InvalidValueError) as error:
        design({"road_wheels": [{"x": 0.25, "z": 0.085 * side, "radius": 0.02}]}, path=path)
    told = "must be within the belt, got one that reaches 0.005 m out"
    assert str(error.value) == f"chain.road_wheels[0] of belt {told}"


@pytest.mark.parametrize("wheels", [[(0.05, -0.13)], [(0.0, -0.13), (0.2, -0.13)], [(0.1, 0.2)]])
def test_a_chain_is_laid_around_road_wheels_that_reach_out_of_its_pulleys(wheels) -> None:
    """None of its plates reaches into them; those that bend it bear one."""
    radius = 0.06
    given = [{"x": x, "z": z, "radius": radius} for x, z in wheels]
    found = design({"road_wheels": given, "shoes": {"count": 60}})
    assert [(w.x, w.z) for w in found.running_gear.wheels[2:]] == wheels
    inset = found.running_gear.rail.inset
    steps = np.diff(found.hinges, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    for place in wheels:
        along = np.clip(np.sum((place - found.hinges[:-1]) * steps, axis=1) / lengths**2, 0.0, 1.0)
        nearest = found.hinges[:-1] + along[:, None] * steps
        away = np.linalg.norm(nearest - place, axis=1)
        assert -2e-4 < away.min() - radius - inset < 2e-3


@pytest.mark.parametrize("named", [False, True])
def test_a_wheel_that_the_chain_passes_twice_is_one_wheel(named: bool) -> None:
    """A large wheel halfway between small ones: four tangents, half a lens on either side.

    It is a road wheel, or one of the path's pulleys. With lean phi = asin((R - r) / a), the small wheels turn
    the chain by pi - 2 phi each, and the large one by 2 phi twice. Chords of p on a circle of radius rho are
    shorter than their arcs by p^2 / (24 rho^2).
    """
    small, large, half, count = 0.08, 0.12, 0.4, 50
    ends = [pulley(-half, small) | {"name": "rear"}, pulley(half, small) | {"name": "front"}]
    chain: dict[str, Any] = {"driven": "rear", "tensioned": "front", "shoes": {"count": count}}
    if named:
        ends.append(pulley(0.0, large))
    wheel = {"x": 0.0, "z": 0.0, "radius": large - THICKNESS}
    chain["road_wheels"] = [] if named else [wheel]
    found = design(chain, path={"pulleys": ends})
    gear, pitch = found.running_gear, found.chain.shoe.pitch
    np.testing.assert_allclose([(w.x, w.z) for w in gear.wheels], [(-half, 0), (half, 0), (0, 0)], atol=1e-9)
    if not named:  # Plates, not hinges, lie on a road wheel.
        large = THICKNESS / 2 + math.hypot(large - THICKNESS / 2, found.chain.shoe.pitch / 2)
    lean = math.asin((large - small) / half)
    depth = small - pin_radius(found)
    arcs = [(math.pi - 2 * lean, small - depth)] * 2 + [(2 * lean, large - depth)] * 2
    length = 4 * math.sqrt(half**2 - (large - small) ** 2)
    length += sum(turn * radius * (1 - pitch**2 / (24 * radius**2)) for turn, radius in arcs)
    assert count * pitch == pytest.approx(length, rel=5e-4)


@pytest.mark.parametrize("pivot", [(0.35, -0.2), (0.45, 0.25)])
def test_an_idler_on_an_arm_is_pushed_across_it(pivot: tuple[float, float]) -> None:
    """Away from the driven wheel, by the force of two runs along that way; a given pitch moves it so."""
    found = design({"tensioner": {"pivot": pivot, "pretension": 40.0}})
    tensioner, idler = found.running_gear.wheels[1].tensioner, np.array([APART - 0.2, 0.0])
    assert tensioner is not None
    arm = idler - pivot
    assert arm @ tensioner.direction == pytest.approx(0.0, abs=1e-9)
    assert tensioner.direction[0] > 0
    # It pushes against cos(LEAN) of either run along x, and the chain is alike above and below.
    push = 2 * 40.0 * math.cos(LEAN) * tensioner.direction[0]
    assert tensioner.preload == pytest.approx(push, rel=1e-6)
    pitch = found.chain.shoe.pitch + 2e-4
    moved = design({"tensioner": {"pivot": pivot}, "shoes": {"pitch": pitch}}).running_gear.wheels[1]
    assert moved.x > APART - 0.2 + 2e-3
    assert math.dist((moved.x, moved.z), pivot) == pytest.approx(np.hypot(*arm), rel=1e-9)
    across = np.array([-tensioner.direction[1], tensioner.direction[0]])
    np.testing.assert_allclose(-arm, across / tensioner.curvature, atol=1e-9)


def test_an_arm_of_no_length_and_one_with_a_direction_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"chain.tensioner.pivot of belt must be at least a pitch"):
        design({"tensioner": {"pivot": [0.41, 0.0]}})
    with pytest.raises(ValueError, match="direction must be left out where pivot is given"):
        track({"tensioner": {"pivot": [0.3, 0.3], "direction": [1, 0]}})


def test_a_road_wheel_within_the_pulleys_hull_changes_nothing() -> None:
    plain = design({"even_rollers": {"spacing": 0.1, "radius": 0.01}})
    inside = design({"road_wheels": [{"x": 0.1, "z": -0.02, "radius": 0.02}]})
    np.testing.assert_array_equal(inside.hinges, plain.hinges)


def test_a_pulley_off_the_chain_neither_drives_nor_tensions() -> None:
    path = {"pulleys": [*THREE[:2], pulley(0.0, 0.03, z=0.1) | {"name": "top"}]}
    wheel = {"x": 0.0, "z": 0.3, "radius": 0.12}
    for key in ("driven", "tensioned"):
        with pytest.raises(InvalidValueError, match=f"chain.{key} of belt must be a pulley around which"):
            design({key: "top", "road_wheels": [wheel]}, path=path)


@pytest.mark.parametrize(
    ("x", "first", "other"), [(-0.1, "the driven wheel", 0.0), (0.32, "the idler", 0.0), (0.1, None, 0.13)]
)
def test_road_wheels_that_touch_are_refused(x: float, first: str | None, other: float) -> None:
    """With their flanges of 0.08 of a pitch; another road wheel is named by its key."""
    found = design()
    flange, wheels = 0.08 * found.chain.shoe.pitch, found.running_gear.wheels
    places = [{"x": place, "z": 0.0, "radius": 0.03} for place in ([x] if first else [x, other])]
    if first is None:
        overlap, key, told = 0.03 + 0.03 + 2 * flange - abs(x - other), 1, "chain.road_wheels[0]"
    else:
        wheel = wheels[0 if first == "the driven wheel" else 1]
        overlap, key, told = 0.03 + flange + wheel.max_radius - apart(wheel, x), 0, first
    with pytest.raises(InvalidValueError) as error:
        design({"road_wheels": places})
    got = f"must be apart from {told}, got an overlap of {overlap:.3g} m"
    assert str(error.value) == f"chain.road_wheels[{key}] of belt {got}"


def test_a_pitch_needs_pulleys_whose_idler_can_move() -> None:
    pieces = [{"line": {"length": 0.6}}, {"arc": {"radius": REAR, "turn": math.pi}}] * 2
    with pytest.raises(InvalidValueError) as error:
        design({"shoes": {"pitch": 0.04}}, path={"start": [0.3, -REAR], "segments": pieces})
    left_out = "left out where the path is given as segments"
    assert str(error.value) == f"chain.shoes.pitch of belt must be {left_out}, got 0.04"


def test_teeth_whose_pins_would_leave_the_shoes_are_refused_with_those_that_fit() -> None:
    """Pins run up to 0.95 of the thickness below the outer face, or a quarter of the pitch over it."""
    fitting = design().running_gear.sprocket.count
    for teeth in (*range(fitting - 3, fitting + 4), COUNT - 1, COUNT, COUNT + 1, 10 * COUNT):
        # The polygon of the pins is as long as the belt at their depth, and has the teeth's radius.
        sine = math.sin(math.pi / teeth)
        pitch = (PERIMETER - 2 * math.pi * REAR) / (COUNT - math.pi / sine)
        depth = REAR - pitch / 2 / sine
        chain = {"sprocket": {"teeth": teeth}}
        if teeth < COUNT and -pitch / 4 <= depth <= 0.95 * THICKNESS:
            assert design(chain).running_gear.sprocket.count == teeth
        else:
            with pytest.raises(InvalidValueError, match=f"chain.sprocket.teeth of belt must be {fitting}, "):
                design(chain)


def test_a_message_names_the_counts_that_close_between_the_ends_of_the_idlers_slide() -> None:
    teeth, pitch = design().running_gear.sprocket.count, 0.04
    depth = REAR - pitch / (2 * math.sin(math.pi / teeth))
    ends = []
    for moved in (-pitch / 2, pitch / 2):
        lean = math.asin((REAR - FRONT) / (APART + moved))
        around = (REAR - depth) * (math.pi + 2 * lean) + (FRONT - depth) * (math.pi - 2 * lean)
        ends.append(2 * (APART + moved) * math.cos(LEAN) + around)
    counts = range(math.ceil(ends[0] / pitch), math.floor(ends[1] / pitch) + 1)
    assert len(counts) == 2
    with pytest.raises(InvalidValueError) as error:
        design({"shoes": {"count": counts[1] + 1, "pitch": pitch}})
    close = "which close around its wheels with a pitch of 0.04 m"
    told = f"chain.shoes.count of belt must be {counts[0]} or {counts[1]}, {close}, got {counts[1] + 1}"
    assert str(error.value) == told


def test_a_chain_too_stiff_for_steps_of_a_microsecond_is_refused_and_a_softer_one_not() -> None:
    """The step falls with the root of the stiffness."""
    step = design({"bushing": {"damping_ratio": 0}}).max_sub_step
    limit = STIFFNESS * (step / 1e-6) ** 2
    for share, is_refused in ((0.5, False), (2.0, True)):
        chain = {"bushing": {"stiffness": share * limit, "damping_ratio": 0}}
        if is_refused:
            with pytest.raises(
                InvalidValueError, match="chain of belt must be soft and heavy enough for sub-st"
            ):
                design(chain)
        else:
            assert design(chain).max_sub_step > 1e-6


THREE = [
    pulley(-0.3, 0.1) | {"name": "rear"},
    pulley(0.4, 0.08) | {"name": "front"},
    pulley(0.0, 0.07, z=0.2) | {"name": "top"},
]


def wheel_places(chain: dict[str, Any]) -> list[tuple[float, float]]:
    """Centres of the driven wheel and the tensioned one."""
    found = design(chain, path={"pulleys": THREE}).running_gear
    (tensioned,) = (wheel for wheel in found.wheels if wheel.tensioner is not None)
    return [(wheel.x, wheel.z) for wheel in (found.wheels[found.driven], tensioned)]


@pytest.mark.parametrize(
    ("chain", "driven", "tensioned"),
    [
        ({}, (0.4, 0.0), (-0.3, 0.0)),
        ({"driven": "rear"}, (-0.3, 0.0), (0.4, 0.0)),
        ({"driven": "top"}, (0.0, 0.2), (0.4, 0.0)),
        ({"driven": "rear", "tensioned": "top"}, (-0.3, 0.0), (0.0, 0.2)),
        ({"tensioned": "top"}, (0.4, 0.0), (0.0, 0.2)),
    ],
)
def test_named_pulleys_drive_and_tension(chain, driven, tensioned):
    assert wheel_places(chain) == [pytest.approx(driven), pytest.approx(tensioned)]


def test_a_named_tensioner_closes_a_chain_of_a_given_pitch():
    free = design({"driven": "rear"}, path={"pulleys": THREE})
    pitch = 1.003 * free.chain.shoe.pitch
    chain = {"driven": "rear", "tensioned": "top", "shoes": {"pitch": pitch}}
    found = design(chain, path={"pulleys": THREE})
    assert found.chain.shoe.pitch == pytest.approx(pitch, rel=1e-6)
    places = [(wheel.x, wheel.z) for wheel in found.running_gear.wheels[:3]]
    assert places[0] == pytest.approx((-0.3, 0.0))
    assert places[1][1] > 0.2  # Pushed away from the driven wheel, upwards.
    assert places[2] == pytest.approx((0.4, 0.0))


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (
            {"driven": "sproket"},
            "no pulley of the path of belt for chain.driven 'sproket'; there are: rear, front, top",
        ),
        ({"tensioned": "idler"}, "for chain.tensioned 'idler'; there are: rear, front, top"),
        ({"tensioned": "front"}, "chain.tensioned of belt must be a pulley besides the driven one"),
    ],
)
def test_pulleys_that_there_are_not_are_refused(chain, message):
    with pytest.raises(SegtrackError, match=re.escape(message)):
        design(chain, path={"pulleys": THREE})


def test_inertias_of_shoes_and_road_wheels_are_as_given():
    wheel = {"x": 0.1, "z": 0.0, "radius": 0.06}
    chain = {
        "shoes": {"inertia": [0.032, 0.019, 0.05]},
        "road_wheels": [wheel, wheel | {"x": 0.25, "inertia": 3.45}],
    }
    found = design(chain)
    assert found.chain.shoe.inertia == (0.032, 0.019, 0.05)
    assert [w.inertia for w in found.running_gear.wheels[2:]] == [0.02 * MASS * 0.06**2 / 2, 3.45]
    with pytest.raises(ValueError, match="must have none above the sum of the others"):
        track({"shoes": {"inertia": [0.032, 0.019, 0.06]}})


def test_one_pulley_cannot_drive_and_tension_and_names_differ():
    with pytest.raises(ValueError, match="must be another pulley than driven"):
        track({"driven": "rear", "tensioned": "rear"})
    with pytest.raises(ValueError, match="must differ from the others"):
        track(path={"pulleys": [THREE[0], THREE[1] | {"name": "rear"}]})


def test_a_road_wheel_that_holds_all_pulleys_leaves_no_chain() -> None:
    with pytest.raises(InvalidValueError, match="a chain must be around two or more pulleys"):
        design({"road_wheels": [{"x": 0.1, "z": 0.0, "radius": 1.0}]})


def test_pulleys_that_overlap_are_told_beside_road_wheels() -> None:
    path = {"pulleys": [pulley(0.0, 0.1), pulley(0.1, 0.1)]}
    with pytest.raises(ValueError, match="overlapping by 0.1 m"):
        track({"road_wheels": [{"x": 0.1, "z": -0.3, "radius": 0.02}]}, path=path)


def test_belts_run_around_road_wheels_that_reach_out_of_their_pulleys() -> None:
    """A wheel of 60 mm, 130 mm below the axles, under a belt of 20 mm."""
    wheel = {"x": 0.1, "z": -0.13, "radius": 0.06}
    around = track({"road_wheels": [wheel]}).belt_path
    assert around.outline()[:, 1].min() == pytest.approx(-0.13 - 0.06 - THICKNESS, abs=1e-5)
    within = track({"road_wheels": [wheel | {"z": 0.0}]}).belt_path
    np.testing.assert_array_equal(within.outline(), track().belt_path.outline())


def test_torques_at_another_radius_than_the_sprockets_are_refused() -> None:
    """A tenth of it would make the drive ten times as strong."""
    chain = {"shoes": {"pitch": PERIMETER / COUNT, "count": COUNT}}
    radius = pin_radius(design(chain))
    drive: dict[str, Any] = {
        "max_speed": 1.0,
        "torque_table": {"radius": radius, "rows": [[0, 50.0], [10, 5.0]]},
    }
    assert design(chain, drive=drive).chain.shoe.pitch > 0
    drive["torque_table"] |= {"radius": 10 * radius}
    assert design(drive=drive).chain.shoe.pitch > 0  # Of teeth that the file leaves open.
    with pytest.raises(InvalidValueError, match=r"drive.torque_table.radius of belt \[m\] must be about the"):
        design(chain, drive=drive)


def test_a_wrong_number_of_shoes_is_told_all_that_close() -> None:
    """Whatever number was tried, the advice is the same, and following it closes the chain."""
    pitch, told = PERIMETER / COUNT, set()
    for count in (COUNT - 5, COUNT + 4):
        with pytest.raises(InvalidValueError) as error:
            design({"shoes": {"pitch": pitch, "count": count}})
        told.add(str(error.value).split(", which")[0])
    (advice,) = told
    counts = [int(word) for word in re.findall(r"\d+", advice.split("must be ")[1])]
    assert COUNT in counts
    for count in counts:
        assert design({"shoes": {"pitch": pitch, "count": count}}).chain.count == count
