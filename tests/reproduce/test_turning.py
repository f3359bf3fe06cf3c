"""Turning: the closed form against quadrature, simulations against planar friction under their own loads."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_vehicles import SPRUNG
from numpy.typing import NDArray
from quick import some_of
from rich.console import Console
from scipy.integrate import quad

from segtrack.description import bundled_vehicles, load_vehicle
from segtrack.errors import InvalidValueError, SegtrackError
from segtrack.experiments import (
    Rig,
    Steered,
    contact_loads,
    drive_an_arc,
    steering,
    turn_on_a_slope,
    turn_on_the_spot,
)
from segtrack.experiments.contact_loads import Ride, watch
from segtrack.experiments.steering import SteadyMotion, steer
from segtrack.files import to_json
from segtrack.geometry import PlanarContacts, balance_friction
from segtrack.geometry.planar_friction import PlanarMotion
from segtrack.reproduce.turning import (
    RADII,
    TurningCase,
    compared_vehicles,
    draw_turning,
    run_turning,
    turning_table,
    uniform_pressure_turning_rate,
)
from segtrack.robot import Robot
from segtrack.terrain import Plane
from segtrack.world import World

ONE_SIDED = ("conveyor", "okada_example")


@pytest.mark.parametrize(("gauge", "length"), [(0.3, 0.51), (0.445, 0.51), (1.0, 0.2), (0.2, 2.0)])
def test_closed_form_balances_the_moments_of_friction(gauge: float, length: float) -> None:
    speed = 0.2
    rate = uniform_pressure_turning_rate(speed, gauge, length)
    slip = speed - rate * gauge / 2

    def moment(x: float) -> float:
        return (gauge / 2 * slip - rate * x * x) / math.hypot(slip, rate * x)

    assert quad(moment, -length / 2, length / 2)[0] == pytest.approx(0.0, abs=1e-8)


def test_a_point_sized_track_turns_without_slip() -> None:
    assert uniform_pressure_turning_rate(0.2, 0.4, 1e-6) == pytest.approx(0.2 / 0.2, rel=1e-3)


def test_closed_form_refuses_a_gauge_of_nothing() -> None:
    with pytest.raises(InvalidValueError) as caught:
        uniform_pressure_turning_rate(0.2, 0.0, 0.5)
    assert str(caught.value) == "gauge [m] must be positive, got 0.0"


@pytest.mark.parametrize(
    ("vehicle", "angle", "length"), [("packbot", 0.0, 0.51), ("quince", 1.0, 0.535), ("quince", 0.0, 0.925)]
)
def test_flippers_lengthen_the_ground_line_when_they_are_down(
    vehicle: str, angle: float, length: float
) -> None:
    description = load_vehicle(vehicle)
    flippers = dict.fromkeys(description.flippers, angle)
    assert Rig(description, flippers).ground_length == pytest.approx(length, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenes": ["hill"]}, "no scene 'hill'; there are: spot, slope, arcs"),
        ({"speeds": [0.2, 0.0]}, "belt speed [m/s] must be greater than 0, got 0.0"),
        (
            {"track_models": ["legs"]},
            "no track model 'legs'; there are: segments, smooth, wheels:N, plates, compliant, surface, chain",
        ),
        pytest.param(
            {"vehicle": "conveyor"},
            "tracks of conveyor must be on both sides, got none on one of them",
            marks=pytest.mark.pybullet,
        ),
    ],
)
def test_turning_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SegtrackError) as caught:
        run_turning(**arguments)
    assert str(caught.value) == message


def ratio(steered: Steered) -> float:
    assert steered.over_expected is not None
    return steered.over_expected


TURNING = [
    (name, 1.0 if name == "quince" else 0.0)
    for name in bundled_vehicles()
    if name not in (*ONE_SIDED, *SPRUNG)
]
"""Bundled vehicles that turn, with their flippers' angle [rad]."""
QUICK = [("packbot", 0.0), ("quince", 1.0)]


@pytest.mark.parametrize("heading", some_of([0, 15, 45, -160], 15))
@pytest.mark.parametrize(
    ("name", "angle"),
    [pytest.param(*case, marks=[] if case in QUICK else [pytest.mark.slow]) for case in TURNING]
    + [pytest.param("quince", 0.0, marks=pytest.mark.slow)],
)
@pytest.mark.pybullet
def test_segments_turn_as_their_loads_say_wherever_they_head(name: str, angle: float, heading: float) -> None:
    """Friction of a multibody's contact is found along the world's axes, so that the heading might matter."""
    vehicle = load_vehicle(name)
    flippers = dict.fromkeys(vehicle.flippers, angle)
    steered = turn_on_the_spot(Rig(vehicle, flippers, "segments", heading=math.radians(heading)))
    assert ratio(steered) == pytest.approx(1.0, abs=0.05)
    assert steered.measured.slip == pytest.approx(steered.expected.slip, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["exact", "fast", "coarse"])
def test_a_manoeuvre_of_segments_ends_alike_at_any_heading_and_time_step(preset: str) -> None:
    """Native compliant belts turn by -58.2 deg."""
    turned = []
    for heading in (0, 15, 30, 45, 60, 90):
        with World(preset, engine="pybullet") as world:
            world.add_terrain(Plane())
            robot = world.add_vehicle("packbot", track_model="segments", yaw=math.radians(heading))
            world.run(0.3)
            before = robot.state.yaw
            robot.set_belt_speed(0.3, 0.1)
            world.run(3.0)
            turned.append(math.degrees(math.remainder(robot.state.yaw - before, 2 * math.pi)))
    assert max(turned) - min(turned) < 0.6
    assert sum(turned) / len(turned) == pytest.approx(-58.2, abs=0.6)


@pytest.mark.slow
def test_segments_turn_alike_to_both_sides() -> None:
    rig = Rig(load_vehicle("packbot"), track_model="segments")
    left, right = steer(rig, -0.2, 0.2), steer(rig, 0.2, -0.2)
    assert left.measured.yaw_rate == pytest.approx(-right.measured.yaw_rate, rel=0.01)
    assert left.expected.yaw_rate == pytest.approx(-right.expected.yaw_rate, rel=0.01)
    for steered in (left, right):
        assert steered.no_slip_rate == pytest.approx(math.copysign(0.4 / 0.445, steered.no_slip_rate))


def test_wide_tracks_turn_as_their_loads_say() -> None:
    name, (vehicle, flippers) = list(compared_vehicles().items())[2]
    assert name == "packbot, gauge 0.7 m"
    steered = turn_on_the_spot(Rig(vehicle, flippers))
    assert steered.over_expected == pytest.approx(1.0, abs=0.01)
    assert steered.real_time_factor > 0


@pytest.mark.slow
@pytest.mark.parametrize(("vehicle", "case"), [("packbot", 0), ("quince", 0), ("quince", 1)])
def test_a_chain_turns_as_its_loads_say(vehicle: str, case: int) -> None:
    """Quince's wide tracks are braked by the turning of each shoe by itself, too."""
    description, flippers = list(compared_vehicles(vehicle).values())[case]
    steered = turn_on_the_spot(Rig(description, flippers, "chain"))
    assert ratio(steered) == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
def test_an_arc_brakes_inside_drives_outside_and_bends_less() -> None:
    steered = drive_an_arc(Rig(load_vehicle("packbot")), radius=0.5)
    assert steered.belts == pytest.approx((0.2 * (1 - 0.445), 0.2 * (1 + 0.445)))
    assert steered.no_slip_rate == pytest.approx(0.2 / 0.5)
    for motion in (steered.measured, steered.expected):
        assert motion.slip[0] < 0 < motion.slip[1]
        assert motion.creep == 0.0
    assert ratio(steered) == pytest.approx(1.0, abs=0.05)
    assert steered.expected.yaw_rate < steered.no_slip_rate


@pytest.mark.slow
def test_a_vehicle_that_turns_on_a_slope_creeps_down() -> None:
    steered = turn_on_a_slope(Rig(load_vehicle("packbot")))
    assert ratio(steered) == pytest.approx(1.0, abs=0.05)
    assert steered.measured.creep == pytest.approx(steered.expected.creep, rel=0.05)
    assert 0.04 < steered.expected.creep < 0.12


VEHICLES = compared_vehicles()


def compliant(vehicle: str) -> Rig:
    description, flippers = VEHICLES[vehicle]
    return Rig(description, flippers, "compliant")


@pytest.mark.parametrize(
    ("vehicle", "speed"),
    [
        pytest.param(vehicle, 0.2, marks=[pytest.mark.slow] * (vehicle in list(VEHICLES)[1:4]))
        for vehicle in VEHICLES
    ]
    + [(list(VEHICLES)[0], 0.5)]
    + [pytest.param(list(VEHICLES)[0], speed, marks=pytest.mark.slow) for speed in (0.02, 0.05)]
    + [
        pytest.param(vehicle, speed, marks=pytest.mark.slow)
        for vehicle in list(VEHICLES)[1:]
        for speed in (0.02, 0.05, 0.5)
    ],
)
def test_compliant_belts_turn_as_their_loads_say_at_any_speed(vehicle: str, speed: float) -> None:
    """Coulomb friction knows no speed."""
    steered = turn_on_the_spot(compliant(vehicle), speed)
    assert steered.over_expected == pytest.approx(1.0, abs=0.01)
    assert steered.over_no_slip == pytest.approx(OVER_NO_SLIP[vehicle], rel=0.02)
    assert steered.measured.slip == pytest.approx(steered.expected.slip, abs=0.02)


OVER_NO_SLIP = dict(zip(VEHICLES, (0.562, 0.764, 0.900, 0.308, 0.155), strict=True))
"""Of compliant belts at 0.2 m/s."""


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", list(VEHICLES)[:3])
def test_compliant_belts_turn_on_a_slope_as_their_loads_say(vehicle: str) -> None:
    steered = turn_on_a_slope(compliant(vehicle))
    assert steered.over_expected == pytest.approx(1.0, abs=0.02)
    assert steered.measured.creep == pytest.approx(steered.expected.creep, rel=0.02)
    assert steered.measured.slip == pytest.approx(steered.expected.slip, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", list(VEHICLES)[3:])
def test_a_long_vehicle_that_friction_does_not_turn_on_a_slope_does_not_turn(vehicle: str) -> None:
    """Quince runs backwards down the slope on its left belts, while its right ones slide."""
    steered = turn_on_a_slope(compliant(vehicle))
    assert steered.over_expected is None
    assert steered.over_no_slip == pytest.approx(steered.expected.yaw_rate / steered.no_slip_rate, abs=0.01)
    assert steered.measured.slip == pytest.approx((0.0, 2.0), abs=0.02)
    assert steered.measured.creep == pytest.approx(steered.expected.creep, rel=0.01)


def balanced_motion(ride: Ride, center: NDArray[np.float64]) -> PlanarMotion:
    """Mean motion at which friction balances in the mean, with the loads and the velocity of each instant.

    What an instant's velocity is off the mean is put into the velocities of its faces; friction is isotropic.

    Args:
        ride: A robot that drives steadily.
        center: Its centre of mass in the body frame (3,) [m].
    """
    twists, instants = ride.twists(center), []
    for loads, off in zip(ride.loads, twists - twists.mean(axis=0), strict=True):
        contacts = loads.planar(center[:2])
        x, y = contacts.points.T
        faces = contacts.belt_speeds[:, None] * contacts.directions
        faces -= np.column_stack([off[0] - off[2] * y, off[1] + off[2] * x])
        speeds = np.linalg.norm(faces, axis=1)
        instants.append((contacts.points, contacts.loads, contacts.friction, faces / speeds[:, None], speeds))
    joined = PlanarContacts(*map(np.concatenate, zip(*instants, strict=True)))
    return balance_friction(joined, [0.0, 0.0])


@pytest.mark.parametrize("vehicle", some_of(VEHICLES, next(iter(VEHICLES))))
@pytest.mark.parametrize("radius", some_of(RADII, RADII[1]))
def test_compliant_belts_follow_arcs_as_their_loads_say(
    vehicle: str, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each instant: as grousers come and go, the yaw rate of a Quince changes by up to a quarter.

    Mean loads at the mean velocity alone say up to 10 % more. The impulses by which grousers are set down act
    within a step, at the ends of the ground line, and are in no instant's loads: 0.35 % of a Quince's weight
    at 1 ms, 0.08 % at 0.25 ms.
    """
    rides: list[tuple[Ride, Robot]] = []

    def watched(world: World, robot: Robot, seconds: float) -> Ride:
        rides.append((watch(world, robot, seconds), robot))
        return rides[0][0]

    monkeypatch.setattr(contact_loads, "SAMPLE", 0.004)
    monkeypatch.setattr(steering, "watch", watched)
    monkeypatch.setattr(steering, "World", partial(World, time_step=2.5e-4))
    rig = compliant(vehicle)
    steered = drive_an_arc(rig, radius)
    (ride, robot), bodies = rides[0], rides[0][1].bodies()
    middle = bodies.masses @ bodies.positions / bodies.masses.sum()
    center = (middle - robot.body_motion().position) @ robot.body_motion().rotation
    motion = balanced_motion(ride, center)
    assert steered.measured.yaw_rate == pytest.approx(motion.yaw_rate, rel=0.003)
    slip = 1 - (motion.velocity[0] - motion.yaw_rate * (np.array(rig.sides) - center[1])) / steered.belts
    assert steered.measured.slip == pytest.approx(slip, rel=0.01)


@pytest.mark.parametrize("vehicle", some_of(VEHICLES, *list(VEHICLES)[1:3]))
@pytest.mark.parametrize("radius", some_of(RADII, RADII[1]))
def test_belts_without_grousers_follow_arcs_as_their_loads_say(vehicle: str, radius: float) -> None:
    steered = drive_an_arc(replace(compliant(vehicle), track_model="surface"), radius)
    assert steered.over_expected == pytest.approx(1.0, abs=0.006)
    assert steered.measured.slip == pytest.approx(steered.expected.slip, rel=0.01)


def test_across_the_track_less_friction_turns_faster() -> None:
    description, _ = VEHICLES["packbot, gauge 0.445 m"]
    tracks = {
        name: track.model_copy(
            update={"contact": track.contact.model_copy(update={"lateral_friction": 0.36})}
        )
        for name, track in description.tracks.items()
    }
    steered = turn_on_the_spot(Rig(description.model_copy(update={"tracks": tracks}), {}, "compliant"))
    assert steered.over_no_slip > 0.85
    assert steered.over_expected == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("belts", [(0.1, 0.1), (0.0, 0.2), (0.2, 0.0)])
def test_belts_that_give_no_turn_or_no_slip_are_refused(belts: tuple[float, float]) -> None:
    with pytest.raises(InvalidValueError) as caught:
        steer(Rig(load_vehicle("packbot")), *belts)
    assert str(caught.value) == f"belt speeds [m/s] must be different and not 0, got {belts}"


def test_an_arc_without_a_radius_is_refused() -> None:
    with pytest.raises(InvalidValueError) as caught:
        drive_an_arc(Rig(load_vehicle("packbot")), radius=-1.0)
    assert str(caught.value) == "radius [m] must be greater than 0, got -1.0"


def made_up(scene: str, uniform: float | None, left: float = -0.2) -> TurningCase:
    steered = Steered(
        belts=(left, 0.2),
        gauge=0.4,
        measured=SteadyMotion(0.6, (0.1, 0.2), 0.0),
        expected=SteadyMotion(0.8, (0.3, 0.4), 0.0),
        real_time_factor=2.0,
    )
    return TurningCase("packbot [m]", scene, Rig(load_vehicle("packbot")), steered, uniform)


def test_turning_is_told_as_table_json_and_picture() -> None:
    cases = (made_up("on the spot", 0.7), made_up("arc of 1 m", None, left=0.1))
    record = cases[0].record()
    assert record["over_no_slip"] == pytest.approx(0.6)
    assert record["planar_friction_over_no_slip"] == pytest.approx(0.8)
    assert record["over_planar_friction"] == pytest.approx(0.75)
    to_json({"cases": [case.record() for case in cases]})
    console = Console(file=io.StringIO(), width=120)
    console.print(turning_table(cases))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for part in (
        "packbot [m]",
        "arc of 1 m",
        "0.600",
        "0.700",
        "0.800",
        "0.750",
        "2.00",
        "-0.2, 0.2",
        "0.300, 0.400",
    ):
        assert part in shown
    figure = draw_turning(cases)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["on the spot", "arc of 1 m"]


@pytest.mark.slow
def test_the_command_writes_table_and_picture(tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("segtrack"))
    command = [program, "reproduce", "turning", "--vehicle", "packbot", "--track-model", "segments", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (case,) = json.loads(done.stdout)["cases"]
    assert case["belt_speeds"] == [-0.2, 0.2]
    assert case["uniform_pressure_over_no_slip"] == pytest.approx(0.781, abs=1e-3)
    folder = tmp_path / "out" / "turning"
    assert sorted(path.name for path in folder.iterdir()) == ["turning.json", "turning.png"]
