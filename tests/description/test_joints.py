"""Joints of a body's URDF that move: what files may say of them, the tree that follows, every mistake."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jointed_vehicles import BASE_MASS, TRACK, Limb, jointed, random_limbs, urdf_text
from scipy.spatial.transform import Rotation
from tables import each_row

from segtrack.description import farthest_reach, link_frames, load_vehicle, vehicle_links
from segtrack.description.joints.design import ForceCurve
from segtrack.errors import VehicleFileError

HAND = [
    Limb("lift", kind="prismatic", axis=(0, 0, 1), limits=(0.0, 0.4)),
    Limb("turn", "lift_link", limits=(-1.0, 2.0), damping=0.3, friction=0.2, effort=40.0, velocity=2.0),
    Limb("thumb", "turn_link", limits=(-9.0, 9.0), mimic='joint="turn" multiplier="-2" offset="0.1"'),
    Limb("tip", "thumb_link", kind="continuous", mimic='joint="thumb" multiplier="0.5"'),
    Limb("eye", "tip_link", kind="fixed"),
    Limb("free", kind="continuous"),
]


def written(folder: Path, joints: dict[str, Any], limbs: list[Limb] | None = None, **changes: Any) -> Any:
    return load_vehicle(jointed(folder, HAND if limbs is None else limbs, joints, **changes))


def complaint(folder: Path, joints: dict[str, Any], limbs: list[Limb] | None = None, **changes: Any) -> str:
    """Text of the error, without lines of the file."""
    with pytest.raises(VehicleFileError) as caught:
        written(folder, joints, limbs, **changes)
    return "\n".join(map(str, caught.value.problems))


def test_joints_that_a_file_does_not_name_stand_at_0(tmp_path: Path) -> None:
    vehicle = written(tmp_path, {})
    assert vehicle.joint_tree.joints == ()
    assert {link.joint for link in vehicle.joint_tree.links.values()} == {-1}
    assert len(vehicle_links(vehicle).masses) == 1


def test_a_named_joint_moves_with_what_the_urdf_says_of_it(tmp_path: Path) -> None:
    vehicle = written(tmp_path, {"lift": {"initial_position": 0.1}, "turn": {"servo": {}}})
    lift, turn, thumb, tip = vehicle.joint_tree.joints
    assert (lift.kind, lift.limits, lift.servo, lift.carrier) == ("prismatic", (0.0, 0.4), None, -1)
    assert lift.initial_position == 0.1
    assert turn.servo is not None
    assert (turn.servo.max_force, turn.servo.max_speed, turn.servo.rate) == (40.0, 2.0, 100.0)
    assert turn.damper is not None and turn.damper.force(2.0) == pytest.approx(0.6)
    assert (turn.friction, turn.carrier) == (0.2, 0)
    assert thumb.carrier == 1 and tip.carrier == 2
    assert vehicle.joint_tree.links["eye_link"].joint == 3
    assert vehicle.joint_tree.links["free_link"].joint == -1


def test_a_joint_that_mimics_one_that_mimics_follows_the_first(tmp_path: Path) -> None:
    """Thumb = 0.1 - 2 turn, and tip = thumb / 2."""
    vehicle = written(tmp_path, {"turn": {"initial_position": 0.5}})
    turn, thumb, tip = vehicle.joint_tree.joints
    assert turn.mimicry is None and thumb.mimicry.leader == tip.mimicry.leader == "turn"
    assert (tip.mimicry.multiplier, tip.mimicry.offset) == (-1.0, 0.05)
    assert thumb.initial_position == pytest.approx(-0.9) and tip.initial_position == pytest.approx(-0.45)


def test_a_joint_stays_within_the_limits_of_those_that_follow_it(tmp_path: Path) -> None:
    """Thumb = 0.1 - 2 turn within [-1.9, 1.1] keeps turn within [-0.5, 1]."""
    limbs = [*HAND[:2], Limb("thumb", "turn_link", limits=(-1.9, 1.1), mimic=HAND[2].mimic)]
    vehicle = written(tmp_path, {"turn": {}}, limbs)
    np.testing.assert_allclose(vehicle.joint_tree.joints[0].limits, (-0.5, 1.0))


NO_INERTIA = (
    "body.urdf must have principal moments of inertia that are positive, and none above the sum of the other "
    "two, in link 'a_link' (jointed.urdf:9), got 0, 0, 0 kg m^2"
)


@pytest.mark.parametrize("seed", range(3))
def test_links_are_where_their_joints_put_them(seed: int, tmp_path: Path) -> None:
    """Against products of scipy's rotations along each link's path."""
    limbs, rng = random_limbs(seed, 8), np.random.default_rng(seed)
    moving = [limb.name for limb in limbs if limb.kind != "fixed" and limb.name != "j2"]
    tree = written(tmp_path, {name: {} for name in moving}, limbs).joint_tree
    positions = dict(zip(moving, rng.uniform(-2, 2, len(moving)), strict=True))
    expected = {"base": (Rotation.identity(), np.zeros(3))}
    for limb in limbs:
        turn, origin = expected[limb.parent]
        origin = origin + turn.apply(limb.xyz)
        turn = turn * Rotation.from_euler("xyz", limb.rpy)
        way = positions.get(limb.name, 0.0) * np.array(limb.axis) / np.linalg.norm(limb.axis)
        if limb.kind == "prismatic":
            origin = origin + turn.apply(way)
        else:
            turn = turn * Rotation.from_rotvec(way)
        expected[limb.link] = turn, origin
    for name, frame in tree.frames(positions).items():
        np.testing.assert_allclose(frame.rotation, expected[name][0].as_matrix(), atol=1e-12)
        np.testing.assert_allclose(frame.origin, expected[name][1], atol=1e-12)
    at_home = link_frames(ElementTree.fromstring(urdf_text(limbs)))
    for name, frame in tree.frames({}).items():
        np.testing.assert_allclose(frame.origin, at_home[name].origin, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_links_weigh_together_what_the_body_weighs(seed: int, tmp_path: Path) -> None:
    """However many of its joints move, at home."""
    limbs = random_limbs(seed, 8)
    moving = [limb.name for limb in limbs if limb.kind != "fixed"]
    still, moved = (written(tmp_path, dict.fromkeys(names, {}), limbs) for names in ((), moving))
    assert len(vehicle_links(moved).masses) == 1 + len(moving)
    one, other = vehicle_links(still).whole, vehicle_links(moved).whole
    assert one.mass == pytest.approx(other.mass, rel=1e-12)
    np.testing.assert_allclose(one.first_moment, other.first_moment, atol=1e-12)
    np.testing.assert_allclose(one.second_moment, other.second_moment, atol=1e-12)


def test_a_track_on_a_moving_link_belongs_to_it(tmp_path: Path) -> None:
    track = TRACK | {"mount": {"parent": "eye_link", "xyz": [0.1, 0.2, 0.3]}}
    vehicle = written(tmp_path, {"turn": {}}, tracks={"own": track})
    links = vehicle_links(vehicle)
    assert links.track_links == (3,) and links.parents == (0, 1, 2)
    np.testing.assert_allclose(links.track_frames[0].origin, [0.1, 0.2, 0.3], atol=1e-12)
    assert links.mass == pytest.approx(vehicle.mass, rel=1e-12)


def test_a_vehicle_reaches_as_far_as_its_joints_take_its_belts_from_its_bodys_centre(tmp_path: Path) -> None:
    """Belts on a sled that slides to one side, and a block whose weight moves the centre to the other."""
    tracks = {"own": TRACK | {"mount": {"parent": "sled_link"}}}

    def reach(low: float, high: float, *more: Limb) -> float:
        sled = Limb("sled", kind="prismatic", axis=(1, 0, 0), limits=(low, high))
        return farthest_reach(written(tmp_path, {"sled": {}}, [sled, *more], tracks=tracks))

    known = reach(-0.2, 0.2)
    assert reach(-1.0, 0.3) == pytest.approx(known + 0.8)
    assert reach(-0.3, 1.0) == pytest.approx(known + 0.8)
    block = Limb("block", kind="fixed", mass=BASE_MASS, xyz=(0.5, 0.0, 0.0))
    assert reach(-1.0, 0.3, block) == pytest.approx(known + 0.8 + 0.25)


def test_a_curve_goes_through_its_points_and_on_as_it_ends(tmp_path: Path) -> None:
    table = [[-1.0, -4.0], [0.0, -1.0], [2.0, 0.0]]
    (joint,) = written(tmp_path, {"free": {"spring": {"table": table}}}).joint_tree.joints
    forces = [joint.passive_force(x, 0.0) for x in (-2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 4.0)]
    assert forces == pytest.approx([7.0, 4.0, 2.5, 1.0, 0.5, 0.0, -1.0])
    curve = ForceCurve.through([(-1.0, 4.0), (0.0, 1.0), (2.0, 0.0)])
    assert [curve.slope(x) for x in (-3.0, -0.5, 0.5, 9.0)] == pytest.approx([-3.0, -3.0, -0.5, -0.5])


@pytest.mark.parametrize(
    ("table", "backwards"), [([[0.0, 0.0], [1.0, 5.0]], 5.0), ([[-1.0, -1.0], [0.0, 0.0], [1.0, 5.0]], 1.0)]
)
def test_a_table_from_the_origin_holds_for_both_directions(table, backwards, tmp_path: Path) -> None:
    (joint,) = written(tmp_path, {"free": {"damper": {"table": table}}}).joint_tree.joints
    forces = [joint.passive_force(0.0, v) for v in (-1.0, 0.0, 1.0)]
    assert forces == pytest.approx([backwards, 0.0, -5.0])


def test_spring_damper_and_buffers_add_up(tmp_path: Path) -> None:
    """A spring with a preload, a damper of two slopes, a buffer that pushes and does not pull."""
    settings = {
        "spring": {"stiffness": 50.0, "free_position": 0.2, "preload": 3.0},
        "damper": {"table": [[-1.0, -2.0], [0.0, 0.0], [1.0, 6.0]]},
        "stops": {"upper": {"position": 0.5, "stiffness": 1000.0, "damping": 10.0}},
    }
    (joint,) = written(tmp_path, {"free": settings}).joint_tree.joints
    assert joint.passive_force(0.2, 0.0) == pytest.approx(3.0)
    assert joint.passive_force(0.3, 0.0) == pytest.approx(-2.0)
    assert joint.passive_force(0.2, 0.5) == pytest.approx(0.0)
    assert joint.passive_force(0.2, -0.5) == pytest.approx(4.0)
    assert joint.passive_force(0.6, 0.0) == pytest.approx(3.0 - 20.0 - 100.0)
    assert joint.passive_force(0.51, -4.0) == pytest.approx(3.0 - 15.5 + 8.0)


TURN = {"turn": {"servo": {}}}


@each_row(
    "joints, told",
    [
        ({"trun": {}}, "joints.trun is no joint of the body's URDF; did you mean turn?"),
        (
            {"elbow": {}},
            "joints.elbow is no joint of the body's URDF; there are: lift, turn, free",
        ),
        (
            {"eye": {}},
            "joints.eye must be a joint of type revolute, continuous, prismatic, got fixed",
        ),
        ({"tip": {}}, "joints.tip must be left out: it mimics 'turn' and moves with it"),
        (
            {"turn": {"initial_position": 2.5}},
            "joints.turn.initial_position must be within the joint's limits [-1, 2], got 2.5",
        ),
        (
            {"turn": {"servo": {"rate": 5.0, "stiffness": 2.0}}},
            "joints.turn.servo.rate must be left out where stiffness is given",
        ),
        (
            {"turn": {"servo": {"damping": 5.0}}},
            "joints.turn.servo.damping must be left out where stiffness is not given",
        ),
        (
            {"turn": {"spring": {"free_position": 0.1}}},
            "joints.turn.spring must have exactly one of stiffness, table, got none",
        ),
        (
            {"turn": {"spring": {"stiffness": -4.0}}},
            "joints.turn.spring.stiffness must be greater than 0, got -4.0",
        ),
        (
            {"turn": {"spring": {"table": [[0.0, 0.0], [0.0, 5.0]]}}},
            "joints.turn.spring.table must have rows that rise, got 0 before 0",
        ),
        (
            {"turn": {"spring": {"table": [[0.0, 1.0], [1.0, 0.5]]}}},
            "joints.turn.spring.table must not let the resisting force fall, got 1 before 0.5",
        ),
        (
            {"turn": {"damper": {"damping": -1.0}}},
            "joints.turn.damper.damping must be at least 0, got -1.0",
        ),
        (
            {"turn": {"damper": {"damping": 1.0, "table": [[0.0, 0.0], [1.0, 1.0]]}}},
            "joints.turn.damper must have exactly one of damping, table, got damping, table",
        ),
        (
            {"turn": {"damper": {"table": [[-1.0, -1.0], [1.0, 5.0]]}}},
            "joints.turn.damper.table must have a row [0, 0], got [-1, -1], [1, 5]",
        ),
        ({"turn": {"friction": -0.5}}, "joints.turn.friction must be at least 0, got -0.5"),
        (
            {
                "turn": {
                    "stops": {
                        "lower": {"position": 0.5, "stiffness": 1.0},
                        "upper": {"position": 0.1, "stiffness": 1.0},
                    }
                }
            },
            "joints.turn.stops must have lower.position below upper.position, got 0.5 and 0.1",
        ),
        (
            {"turn": {"spring": {"stiffness": 9.0, "free_position": 13.0}}},
            "joints.turn.spring.free_position must be in radians, "
            "got 13, which in degrees would be 0.2269 rad",
        ),
        (
            {"turn": {"stops": {"upper": {"position": 50.0, "stiffness": 1.0}}}},
            "joints.turn.stops.upper.position must be short of the joint's limit of 2, got 50",
        ),
        (
            {"turn": {"stops": {"lower": {"position": 0.1, "stiffness": 1.0}}}},
            "joints.turn.stops.lower.position must leave the start at 0 free, got 0.1",
        ),
        (
            {"turn": {"spring": {"table": [[0.0, 0.0]]}}},
            "joints.turn.spring.table must be at least 2 long, got [[0.0, 0.0]]",
        ),
        (
            {"turn": {"springs": {}}},
            "joints.turn.springs is not a key that segtrack knows; did you mean spring?",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(joints: dict[str, Any], told: str, tmp_path: Path) -> None:
    assert complaint(tmp_path, joints) == told


@pytest.mark.parametrize(
    ("limb", "joints", "told"),
    [
        (
            Limb("a", effort=0.0, velocity=0.0),
            {"a": {"servo": {}}},
            "joints.a.servo.max_force is missing: the URDF gives the joint no positive effort\n"
            "joints.a.servo.max_speed is missing: the URDF gives the joint no positive velocity",
        ),
        (
            Limb("a", limits=(1.0, -1.0)),
            {"a": {}},
            "joints.a must have a lower below an upper limit in its URDF; a joint without limits is of type "
            "continuous",
        ),
        (Limb("a", axis=(0, 0, 0)), {"a": {}}, "joints.a must have an axis of some length in its URDF"),
        (
            Limb("a", damping=-2.0),
            {"a": {}},
            "joints.a must have a damping of at least 0 in its URDF, got -2",
        ),
        (
            Limb("a", mass=0.0),
            {"a": {}},
            "joints.a must move a link with a mass, got 'a_link' without mass",
        ),
        (
            Limb("a", inertia=(0, 0, 0)),
            {"a": {}},
            NO_INERTIA,
        ),
    ],
)
def test_what_the_urdf_lacks_is_told(limb: Limb, joints: dict[str, Any], told: str, tmp_path: Path) -> None:
    assert complaint(tmp_path, joints, [limb]) == told


@pytest.mark.parametrize(
    ("mimic", "told"),
    [
        ('joint="a"', "body.urdf must let joint 'a' mimic another joint, got itself through 'a'"),
        ('joint="c"', "body.urdf must let joint 'a' mimic a joint that there is, got 'c'"),
        (
            'joint="b" multiplier="0"',
            "body.urdf must let joint 'a' mimic 'b' by a multiplier other than 0, got 0",
        ),
    ],
)
def test_a_joint_that_cannot_mimic_is_told(mimic: str, told: str, tmp_path: Path) -> None:
    limbs = [Limb("a", mimic=mimic), Limb("b")]
    assert complaint(tmp_path, {"b": {}}, limbs) == told
    assert written(tmp_path, {}, limbs).joint_tree.joints == ()  # Nothing follows what stands still.


def test_joints_need_a_urdf_and_flippers_a_link_that_stands_still(tmp_path: Path) -> None:
    box = {"body": {"mass": 5.0, "size": [0.4, 0.3, 0.1]}, "tracks": {"own": TRACK | {"mount": {}}}}
    told = "joints must be left out where the body has no urdf"
    assert complaint(tmp_path, {"turn": {}}, **box) == told
    flipper = {
        "mount": {"parent": "turn_link"},
        "mass": 1.0,
        "size": [0.1, 0.1, 0.1],
        "limits": [-1.0, 1.0],
        "max_torque": 1.0,
        "max_speed": 1.0,
        "tracks": {"belt": TRACK | {"mount": {}}},
    }
    told = (
        "flippers.paw.mount.parent must be a link that stands still on the root, got 'turn_link', which "
        "'turn' moves"
    )
    assert complaint(tmp_path, TURN, flippers={"paw": flipper}) == told
    assert complaint(tmp_path, {}, flippers={"paw": flipper}, **sprung("turn_link")) == told
    assert written(tmp_path, {"free": {}}, flippers={"paw": flipper})


def test_a_link_has_one_spring(tmp_path: Path) -> None:
    track = TRACK | {"chain": {"suspension": {"turn_link": {"stiffness": 5.0}}}}
    assert complaint(tmp_path, TURN, tracks={"own": track}) == (
        "tracks.own.chain.suspension.turn_link must be left out: joints.turn moves that link"
    )


def test_chains_agree_about_the_spring_of_a_link(tmp_path: Path) -> None:
    springs = [{"chain": {"suspension": {"turn_link": {"stiffness": k}}}} for k in (5.0, 6.0)]
    other = TRACK | {"mount": {"parent": "base", "xyz": [0.0, -0.2, 0.0]}}
    first, second = TRACK | springs[0], other | springs[1]
    told = "must be that of tracks.own.chain.suspension.turn_link: one link has one spring"
    assert complaint(tmp_path, {}, tracks={"own": first, "two": second}) == (
        f"tracks.two.chain.suspension.turn_link {told}"
    )
    assert complaint(tmp_path, {}, tracks={"own": first, "two": other}, **springs[1]) == (
        f"chain.suspension.turn_link {told}"
    )
    assert written(tmp_path, {}, tracks={"own": first, "two": other | springs[0]})


ON_A_JOINT = "chain.suspension.{} must be a link on a joint of type revolute, continuous, prismatic"


def sprung(*links: str) -> dict[str, Any]:
    return {"chain": {"suspension": {link: {"stiffness": 5.0} for link in links}}}


@each_row(
    "limb, told",
    [
        (
            Limb("a", mass=0.0),
            "chain.suspension.a_link must move a link with a mass, got 'a_link' without mass",
        ),
        (
            Limb("a", inertia=(0, 0, 0)),
            NO_INERTIA,
        ),
        (
            Limb("a", limits=(0.1, 0.5)),
            "chain.suspension.a_link must move a joint that starts at 0 within its limits, got [0.1, 0.5]",
        ),
        (
            Limb("a", limits=(0.0, 0.0)),
            "chain.suspension.a_link must have a lower below an upper limit in its URDF; a joint without "
            "limits is of type continuous",
        ),
        (
            Limb("a", axis=(0, 0, 0)),
            "chain.suspension.a_link must have an axis of some length in its URDF",
        ),
        (
            Limb("a", kind="fixed"),
            f"{ON_A_JOINT.format('a_link')}, got one on a fixed joint",
        ),
        (
            Limb("a", mimic='joint="b" multiplier="2"'),
            "chain.suspension.a_link must be left out: 'a', which moves that link, mimics 'b' and moves with "
            "it",
        ),
        (Limb("c"), "chain.suspension.a_link is no link of the body's URDF; did you mean c_link?"),
    ],
)
def test_a_mistake_of_a_chains_spring_is_told_with_its_place(limb: Limb, told: str, tmp_path: Path) -> None:
    """For whichever track model: the file has it."""
    assert complaint(tmp_path, {}, [limb, Limb("b")], **sprung("a_link")) == told


def test_every_mistake_of_chains_springs_is_told_at_once(tmp_path: Path) -> None:
    limbs = [Limb("a", mass=0.0), Limb("b", limits=(-0.5, -0.1))]
    assert complaint(tmp_path, {}, limbs, **sprung("a_link", "b_link")) == (
        "chain.suspension.a_link must move a link with a mass, got 'a_link' without mass\n"
        "chain.suspension.b_link must move a joint that starts at 0 within its limits, got [-0.5, -0.1]"
    )


def test_limits_of_what_follows_a_sprung_link_count(tmp_path: Path) -> None:
    """The follower, at 0.5 - x within [0, 0.4], keeps the spring's joint within [0.1, 0.5]."""
    limbs = [Limb("a"), Limb("b", limits=(0.0, 0.4), mimic='joint="a" multiplier="-1" offset="0.5"')]
    assert complaint(tmp_path, {}, limbs, **sprung("a_link")) == (
        "chain.suspension.a_link must move a joint that starts at 0 within its limits, got [0.1, 0.5]"
    )


def test_springs_need_a_urdf_and_a_link_that_moves(tmp_path: Path) -> None:
    assert complaint(tmp_path, {}, **sprung("base")) == (f"{ON_A_JOINT.format('base')}, got the root")
    box = {"body": {"mass": 5.0, "size": [0.4, 0.3, 0.1]}, "tracks": {"own": TRACK | {"mount": {}}}}
    told = "chain.suspension.a_link must be left out where the body has no urdf"
    assert complaint(tmp_path, {}, **box, **sprung("a_link")) == told


def test_joints_in_a_circle_of_mimics_are_told(tmp_path: Path) -> None:
    limbs = [Limb(name, mimic=f'joint="{leader}"') for name, leader in ("ab", "bc", "cb")]
    assert complaint(tmp_path, {"d": {}}, [*limbs, Limb("d")]).splitlines() == [
        f"body.urdf must let joint '{name}' mimic another joint, got itself through '{leader}'"
        for name, leader in ("ab", "bc", "cb")
    ]


def test_limits_of_a_continuous_joint_are_infinite(tmp_path: Path) -> None:
    (joint,) = written(tmp_path, {"free": {}}).joint_tree.joints
    assert joint.limits == (-math.inf, math.inf)
