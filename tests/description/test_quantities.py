"""One vehicle, one number: each user has the quantities of the description, for every bundled vehicle.

Users are asked through what they do, so that one which computes the number by itself is found by its effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tables import each_row

from segtrack.description import VehicleDescription, bundled_vehicles, contact_of, load_vehicle, vehicle_links
from segtrack.errors import InvalidValueError, MappingFileError
from segtrack.experiments import Rig, uniform_turns, with_contact_length, with_gauge
from segtrack.logs import Channel, Log, Motion, Signal
from segtrack.logs.compare import SampledMotion, compare
from segtrack.logs.compare.phases import even_times
from segtrack.logs.fit import PARAMETERS, compare_turns
from segtrack.logs.mapping import SteadyTable, map_log, parse_mapping, parse_terrain
from segtrack.logs.replay import AlignedLog, Place, Replay, ReplaySettings
from segtrack.logs.replay.path import belts_of, logged_path, odometry_arc
from segtrack.robot import Robot

VEHICLES = tuple(bundled_vehicles())
GAUGES = {
    "absolem": 0.397,
    "bulldozer": 1.88,
    "bunker": 0.58306,
    "example_rover": 0.4,
    "jaguar": 0.49,
    "lugged_wheel": 0.3,
    "m113": 2.159,
    "m113_rear_drive": 2.159,
    "markhor": 0.44606,
    "maxxii": 0.606,
    "packbot": 0.445,
    "quince": 0.2,
    "tapered": 0.28,
    "trapezoidal": 0.4,
    "triangular": 0.33,
}
"""Distance of the track planes by the mounts of each file [m]; other vehicles have no two sides."""
LEFT, RIGHT, YAW_RATE = 0.4, 0.6, 0.25
TIMES = np.arange(0.0, 20.0, 0.05)


def vehicle_of(name: str) -> VehicleDescription:
    """A vehicle that turns less easily than belts without slip say, so that who forgets that is found."""
    return load_vehicle(name).model_copy(update={"steering_efficiency": 0.7})


def robot_of(vehicle: VehicleDescription) -> tuple[Robot, list[float]]:
    """A robot without an engine, and the belt speeds that it was commanded last."""
    speeds: list[float] = []

    class Commanded(Robot):
        def set_belt_speed(self, left: float, right: float) -> None:
            speeds[:] = [left, right]

    model = SimpleNamespace(description=vehicle, joint_designs=[], joint_state=lambda _: (0.0, 0.0, 0.0))
    return Commanded(model, "compliant"), speeds


def turn(rate: float) -> Motion:
    """A drive of belts that are 0.2 m/s apart, at a yaw rate [rad/s]."""
    x, y = 0.5 / rate * np.sin(rate * TIMES), 0.5 / rate * (1 - np.cos(rate * TIMES))
    even = np.ones(len(TIMES))
    return Motion(
        "turn",
        {
            "belt_speed.left": Signal(TIMES, LEFT * even, 0.0),
            "belt_speed.right": Signal(TIMES, RIGHT * even, 0.0),
            "position": Signal(TIMES, np.stack([x, y, 0 * y], axis=1), 0.0),
            "yaw": Signal(TIMES, rate * TIMES, 0.0),
        },
    )


def by_driving(vehicle: VehicleDescription) -> float:
    robot, speeds = robot_of(vehicle)
    robot.drive(0.5, YAW_RATE)
    return (speeds[1] - speeds[0]) / YAW_RATE * vehicle.steering_efficiency


def by_steering(vehicle: VehicleDescription) -> float:
    return Rig(vehicle).gauge


def by_planar_friction(vehicle: VehicleDescription) -> float:
    turns = uniform_turns(vehicle, np.array([[LEFT, RIGHT]]))
    return float((turns.tracks[0, 1] - turns.tracks[0, 0]) / turns.yaw_rate[0])


def by_fitting(vehicle: VehicleDescription) -> float:
    return PARAMETERS["track_separation"].value_of(vehicle)


def by_steady_turns(vehicle: VehicleDescription) -> float:
    table = SteadyTable("turns", np.array([[LEFT, RIGHT]]), {"yaw_rate": np.array([YAW_RATE])})
    ratio = compare_turns(table, table, vehicle).groups[0].measured_ratio
    assert ratio is not None
    return ratio.median * (RIGHT - LEFT) / YAW_RATE


def by_mapping_a_twist(vehicle: VehicleDescription) -> float:
    columns = {name: np.full(len(TIMES), value) for name, value in (("v", 0.5), ("w", YAW_RATE))}
    log = Log(Path("a.csv"), "csv", {n: Channel(n, TIMES, c, "", "a.csv") for n, c in columns.items()})
    text = f"vehicle: {vehicle.name}\nquantities:\n  belt_speed: {{linear: v, angular: w}}"
    signals = map_log(log, parse_mapping(text, "m.yaml")).motion.signals
    left, right = (signals[f"belt_speed.{side}"].values[0] for side in ("left", "right"))
    return float(right - left) / YAW_RATE


def by_odometry(vehicle: VehicleDescription) -> float:
    motion = turn(YAW_RATE)
    belts_alone = Motion("belts", {key: s for key, s in motion.signals.items() if key.startswith("belt")})
    belts = belts_of(belts_alone)
    assert belts is not None
    yaw = logged_path(belts_alone, belts, vehicle).yaw
    rate = float(yaw.values[-1] / (yaw.times[-1] - yaw.times[0]))
    return (RIGHT - LEFT) / rate * vehicle.steering_efficiency if rate else math.inf


def by_a_run_up(vehicle: VehicleDescription) -> float:
    yaw = odometry_arc(vehicle, {}, (LEFT, RIGHT), 2.0).yaw
    return (RIGHT - LEFT) * 2.0 / yaw * vehicle.steering_efficiency if yaw else math.inf


def replay_of(vehicle: VehicleDescription) -> Replay:
    settings = ReplaySettings(vehicle, parse_terrain("terrain: []", "flat"))
    log = AlignedLog(turn(YAW_RATE), 0.0, 20.0, Place(0.0, 0.0, 0.0))
    return Replay(settings, settings.load(), log, None, turn(YAW_RATE / 2))


def by_comparing(vehicle: VehicleDescription) -> float:
    comparison = compare(replay_of(vehicle), refine=False, workers=1)
    row = comparison.runs["measured"].find("yaw rate over no-slip")
    assert row is not None and row.logged is not None
    return row.logged * (RIGHT - LEFT) / YAW_RATE


USERS = (
    by_driving,
    by_steering,
    by_planar_friction,
    by_fitting,
    by_steady_turns,
    by_mapping_a_twist,
    by_odometry,
    by_a_run_up,
    by_comparing,
)


def test_gauges_are_those_of_the_files() -> None:
    found = {name: load_vehicle(name).gauge for name in VEHICLES}
    assert {name: gauge for name, gauge in found.items() if gauge is not None} == pytest.approx(GAUGES)


@each_row("user", USERS)
@each_row("name", GAUGES)
def test_every_user_has_the_gauge_of_the_description(
    name: str, user: Callable[[VehicleDescription], float]
) -> None:
    vehicle = vehicle_of(name)
    assert user(vehicle) == pytest.approx(vehicle.gauge, rel=1e-6)


@pytest.mark.parametrize("name", sorted(set(VEHICLES) - set(GAUGES)))
def test_a_vehicle_without_two_sides_has_no_gauge_for_anybody(name: str) -> None:
    vehicle = vehicle_of(name)
    assert math.isinf(by_odometry(vehicle))
    assert math.isinf(by_a_run_up(vehicle))
    assert by_driving(vehicle) == 0.0
    assert compare(replay_of(vehicle), refine=False).runs["measured"].find("yaw rate over no-slip") is None
    for user in (by_steering, by_fitting, by_planar_friction, by_steady_turns):
        with pytest.raises(InvalidValueError, match=f"^tracks of {name} must be on both sides"):
            user(vehicle)
    with pytest.raises(MappingFileError, match="belt_speed.gauge is missing"):
        by_mapping_a_twist(vehicle)


def test_a_gauge_counts_flippers_only_where_a_side_has_nothing_else() -> None:
    quince = load_vehicle("quince")
    assert quince.gauge == pytest.approx(0.2)
    flippers = quince.model_copy(update={"tracks": {}})
    places = [track.y for track in flippers.mounted_tracks()]
    assert flippers.gauge == pytest.approx(2 * np.mean(np.abs(places)))
    one = quince.model_copy(update={"tracks": {"left": quince.tracks["left"]}, "flippers": {}})
    assert one.gauge is None
    assert one.side_offset("left") == pytest.approx(0.1)


def off_centre() -> VehicleDescription:
    """PackBot with its tracks 0.1 m further to the left."""
    packbot = vehicle_of("packbot")
    tracks = {
        name: spec.model_copy(
            update={"mount": spec.mount.model_copy(update={"xyz": np.add(spec.mount.xyz, (0, 0.1, 0))})}
        )
        for name, spec in packbot.tracks.items()
    }
    return packbot.model_copy(update={"tracks": tracks, "flippers": {}})


def test_belts_that_are_off_centre_make_the_twist_that_they_are_driven_for() -> None:
    """By odometry: half a radian along an arc of 1 m, whose chord is that of a circle."""
    vehicle = off_centre()
    robot, speeds = robot_of(vehicle)
    robot.drive(0.5, 0.25)
    assert sum(speeds) / 2 == pytest.approx(0.5 - 0.25 / 0.7 * 0.1)
    x, y, yaw = odometry_arc(vehicle, {}, speeds, 2.0)
    assert (x, y, yaw) == pytest.approx((2.0 * math.sin(0.5), 2.0 * (1 - math.cos(0.5)), 0.5))


def test_a_logged_twist_of_off_centre_belts_is_that_of_their_places() -> None:
    """A wheel's speed is that of the body there: v - w y; a turn without slip has no slip on either side."""
    vehicle = off_centre()
    offsets = vehicle.require_track_offsets()
    assert offsets == pytest.approx((0.3225, -0.1225))
    left, right = offsets.belt_speeds(0.5, 0.25)
    assert (left, right) == pytest.approx((0.5 - 0.25 * 0.3225, 0.5 + 0.25 * 0.1225))
    even = np.ones(len(TIMES))
    belts = {
        "belt_speed.left": Signal(TIMES, left * even, 0.0),
        "belt_speed.right": Signal(TIMES, right * even, 0.0),
    }
    driven = turn(0.25).with_signals(belts)
    sampled = SampledMotion(driven, even_times(0.0, 10.0), offsets)
    for side in ("left", "right"):
        slip = sampled.slip(side)
        assert slip is not None
        np.testing.assert_allclose(slip, 0.0, atol=1e-4)


def test_a_copy_with_another_gauge_has_it() -> None:
    packbot = load_vehicle("packbot")
    assert packbot.gauge == pytest.approx(0.445)
    assert with_gauge(packbot, 0.7).gauge == pytest.approx(0.7)


@pytest.mark.parametrize(("name", "gauge"), [("absolem", "0.397"), ("markhor", "0.4461")])
def test_a_gauge_that_mounts_on_the_body_do_not_give_is_refused(name: str, gauge: str) -> None:
    """Absolem's tracks are on links beside its body's middle, all of Markhor's on flippers."""
    with pytest.raises(InvalidValueError) as caught:
        with_gauge(load_vehicle(name), 0.7)
    message = f"gauge of {name} must be of tracks whose mounts on the body give it, got {gauge} m"
    assert str(caught.value) == message


@each_row("name", VEHICLES)
def test_every_user_has_the_mass_of_the_description(name: str) -> None:
    vehicle = load_vehicle(name)
    assert sum(link.mass for link in vehicle_links(vehicle).masses) == pytest.approx(vehicle.mass, rel=1e-12)


@pytest.mark.parametrize("name", ["packbot", "maxxii"])
def test_a_fitted_stiffness_begins_at_that_under_the_vehicles_mass(name: str) -> None:
    vehicle = load_vehicle(name)
    assert PARAMETERS["contact_stiffness"].value_of(vehicle) == contact_of(vehicle, vehicle.mass)[0]


@each_row("name", VEHICLES)
def test_every_user_has_the_contact_length_of_the_description(name: str) -> None:
    vehicle = load_vehicle(name)
    first = next(vehicle.mounted_tracks()).spec
    assert vehicle.contact_length == first.ground_length
    assert PARAMETERS["contact_length"].value_of(vehicle) == vehicle.contact_length
    if name == "lugged_wheel":
        assert vehicle.contact_length == 0.0  # It stands on one pulley.
        return
    longer = 1.1 * vehicle.contact_length
    if name in ("packbot", "maxxii"):
        assert with_contact_length(vehicle, longer).contact_length == pytest.approx(longer)


def test_a_body_of_a_urdf_weighs_what_its_links_weigh() -> None:
    rover = load_vehicle("example_rover")
    assert rover.body.mass is None
    belts = sum(track.spec.belt.mass for track in rover.mounted_tracks())
    flippers = sum(flipper.mass for flipper in rover.flippers.values())
    assert rover.body.total_mass == pytest.approx(rover.mass - belts - flippers)
