"""Starts of replays: what stands in a wall, on an obstacle, in the air or tilted is found, and not driven."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from quick import some_of
from scipy.spatial.transform import Rotation
from simulated_logs import BEGIN, LEVEL, step
from tables import each_row

from segtrack.courses import bundled_courses, load_course
from segtrack.description import bundled_vehicles, load_vehicle, vehicle_links
from segtrack.logs import Channel, Log, Motion, Signal
from segtrack.logs.mapping import load_terrain, map_log, parse_mapping, parse_terrain
from segtrack.logs.replay import ReplaySettings, StartPoseError, align, check_start, replay, replay_log
from segtrack.logs.replay.alignment import stand
from segtrack.world import World

COURSE = load_terrain("okada-step", 0.12)
"""Its lane begins 1.6 m before the step, at a wall of 0.3 m, 50 mm thick."""
SPEED = 0.2
SIDES = ("left", "right")


def log(*, way=0.0, pitch=0.0, roll=0.0, height=0.1, noise=0.0, rolls=False, flippers=None):
    """A log that stands for half a second and drives a way [m], or rolls from the beginning; 100 Hz."""
    rng, wait = np.random.default_rng(1), 0.0 if rolls else 0.5
    times = BEGIN + np.arange(0.0, 0.6 + wait + way / SPEED, 0.01)
    speed = np.where(times >= BEGIN + wait, SPEED if way or rolls else 0.0, 0.0)
    x = np.maximum(times - BEGIN - wait, 0.0) * speed
    z = height + 1e-6 * rng.normal(size=len(times))
    tilts = {
        name: Signal(times, angle + noise * rng.normal(size=len(times)))
        for name, angle in (("pitch", pitch), ("roll", roll), ("yaw", 0.0))
    }
    position = {"position": Signal(times, np.stack([x, 0 * x, z], axis=1))}
    belts = {f"belt_speed.{side}": Signal(times, speed) for side in SIDES}
    angles = {
        f"flipper_angle.{k}": Signal(times, np.full(len(times), v)) for k, v in (flippers or {}).items()
    }
    return Motion("log.csv", tilts | position | belts | angles)


def told(vehicle, terrain, way=None, **given):
    """Settings; a log that drives a way touches at the end of it."""
    event = "start" if way is None else BEGIN + 0.5 + way / SPEED
    return ReplaySettings(vehicle, terrain, event=event, **given)


def check(motion, settings):
    check_start(align(motion, settings), settings, settings.load())


def refused(motion, settings):
    with pytest.raises(StartPoseError) as error:
        check(motion, settings)
    return error.value


def test_a_tail_on_the_wall_at_a_courses_end_is_found():
    error = refused(log(way=1.05), told("packbot", COURSE, 1.05))
    assert str(error) == (
        "log.csv: the vehicle does not stand as logged where it begins on okada-step, at x = 0.21 m, "
        "y = 0.00 m, yaw = 0 deg: its pitch must be 0.0 +- 3.7 deg as logged, got -36.9 deg at rest; "
        "it stands on something 0.15 m above its ground. To mend it: lengthen the terrain by 0.14 m behind "
        "the start, as a wall ends it so far before the vehicle's rear (or leave that wall out: "
        "`walls: {start: false}`); or let the log begin elsewhere (`start` in the mapping) or correct its "
        "`event`"
    )


@pytest.mark.parametrize("way", [1.2, 3.0], ids=["on the wall", "behind the wall"])
def test_walls_are_found_that_a_vehicle_stands_on_or_behind(way):
    check(log(way=0.5), told("quince", COURSE, 0.5))
    error = refused(log(way=way), told("quince", COURSE, way))
    assert error.findings[-1] == "a wall is between it and its obstacle"
    assert (len(error.findings) == 1) == (way == 3.0)
    assert error.remedies[0].startswith("lengthen the terrain by ")


def test_a_terrain_that_is_lengthened_as_proposed_is_accepted():
    error = refused(log(way=1.2), told("quince", COURSE, 1.2))
    by = float(error.remedies[0].split()[4])
    for more, accepted in ((by + 0.01, True), (by - 0.02, False)):
        longer = COURSE.text.replace("flat: {length: 1.2}", f"flat: {{length: {1.2 + more}}}")
        settings = told("quince", parse_terrain(longer, "longer", 0.12), 1.2)
        if accepted:
            check(log(way=1.2), settings)
        else:
            refused(log(way=1.2), settings)


def test_a_lane_that_is_too_narrow_is_found_though_the_vehicle_is_level_on_its_walls():
    lane = "lanes: [{width: 0.3, walls: {height: 0.3}, place: {x: -2.0}, pieces: [{flat: {length: 4.0}}]}]"
    error = refused(log(), told("quince", parse_terrain(lane, "lane")))
    assert error.findings == ("it stands on something 0.30 m above its ground",)
    assert error.remedies[0] == (
        "widen the lane: a wall is 0.15 m beside the vehicle's middle, which takes 0.21 m"
    )


def test_a_nose_on_an_obstacle_is_found():
    error = refused(log(), told("packbot", step(0.1, 0.25)))
    assert error.findings == ("its pitch must be 0.0 +- 3.7 deg as logged, got 11.4 deg at rest",)
    assert error.remedies[0] == (
        "correct the terrain: under its front the ground is 0.10 m above that under its middle"
    )


def proposed(error):
    """The mounting that a refusal proposes."""
    (line,) = [found for text in error.remedies if (found := re.search(r"rpy: \[(.*?)\]", text))]
    return Rotation.from_euler("ZYX", [float(angle) for angle in line[1].split(", ")][::-1])


@pytest.mark.parametrize(("pitch", "roll"), [(10.0, 0.0), (-10.0, 0.0), (0.0, 6.0), (0.0, 180.0)])
def test_a_sensor_that_is_not_level_is_told_how_it_is_mounted(pitch, roll):
    """The line that is proposed turns the logged attitude into that of the level body."""
    motion = log(pitch=math.radians(pitch), roll=math.radians(roll), noise=0.002)
    error = refused(motion, told("packbot", LEVEL))
    mounted = proposed(error)
    logged = Rotation.from_euler("ZYX", [0.0, -math.radians(pitch), math.radians(roll)])
    assert (logged * mounted.inv()).magnitude() < math.radians(0.2)


@pytest.mark.parametrize("rpy", [(0.0, 0.0, 0.0), (0.3, -0.2, 2.0), (math.pi, 0.0, 0.5)])
def test_the_mounting_that_is_proposed_is_composed_with_the_mappings(rpy):
    """Mapped again with the proposed line the vehicle is level, and heads as it did."""
    truth = Rotation.from_euler("ZYX", rpy[::-1]) * Rotation.from_euler("YX", [0.15, -0.1])
    times = np.arange(0.0, 2.0, 0.01)
    sensor = (Rotation.from_euler("Z", 0.7) * truth).as_quat()
    speed = np.full(len(times), SPEED)
    columns = {"q": np.tile(sensor, (len(times), 1)), "left": speed, "right": speed}
    logged = Log(Path("log.csv"), "csv", {k: Channel(k, times, v, "", "log.csv") for k, v in columns.items()})

    def mapped(angles):
        belts = "{left: left, right: right, unit: m/s}"
        text = (
            f"sensors: {{imu: {{rpy: [{', '.join(map(str, angles))}]}}}}\nquantities:\n"
            f"  orientation: {{channels: q, sensor: imu}}\n  belt_speed: {belts}"
        )
        return map_log(logged, parse_mapping(text, "m.yaml")).motion

    found = proposed(refused(mapped(rpy), told("packbot", LEVEL)))
    motion = mapped(found.as_euler("ZYX")[::-1].tolist())
    check(motion, told("packbot", LEVEL))
    tilts = [math.degrees(motion.angle(name).values[0]) for name in ("roll", "pitch")]
    assert tilts == pytest.approx([0.0, 0.0], abs=0.1)


@pytest.mark.parametrize("left_out", ["yaw", "roll"])
def test_no_mounting_is_proposed_where_a_part_of_the_attitude_is_mapped(left_out):
    """A mapping refuses a sensor that is turned for parts of an attitude."""
    motion = log(pitch=math.radians(10.0))
    kept = {key: signal for key, signal in motion.signals.items() if key != left_out}
    error = refused(Motion("log.csv", kept), told("packbot", LEVEL))
    assert error.remedies[0] == "make the terrain slope: the ground is level"


@pytest.mark.parametrize("seed", some_of(range(12), *range(4)))
@pytest.mark.parametrize("is_known", [True, False])
def test_a_log_of_few_samples_may_be_noisy(seed, is_known):
    """At 1 Hz one sample is in the first moments; its noise is known, or that of the whole log."""
    noise, times = math.radians(2.5), BEGIN + np.arange(0.0, 15.0)
    rng = np.random.default_rng(seed)
    std = noise if is_known else None
    tilts = {name: Signal(times, noise * rng.normal(size=15), std) for name in ("pitch", "roll")}
    belts = {f"belt_speed.{side}": Signal(times, np.full(15, SPEED)) for side in SIDES}
    check(Motion("log.csv", tilts | belts), told("packbot", LEVEL))


@each_row("seed", range(4))
def test_a_height_may_be_as_noisy_as_the_mapping_says(seed):
    """A satellite's receiver at 1 Hz, good to 1 m."""
    rng, times = np.random.default_rng(seed), BEGIN + np.arange(0.0, 15.0)
    places = np.stack([SPEED * (times - BEGIN), 0 * times, 0.1 + rng.normal(size=15)], axis=1)
    position = {"position": Signal(times, places, 1.0), "yaw": Signal(times, 0 * times)}
    belts = {f"belt_speed.{side}": Signal(times, np.full(15, SPEED)) for side in SIDES}
    check(Motion("log.csv", position | belts), told("packbot", LEVEL, frame="terrain"))


def test_a_single_sample_without_noise_is_held_to_three_degrees():
    times = BEGIN + np.arange(0.0, 15.0)
    tilted = {"pitch": Signal(times, np.full(15, math.radians(4.0)))}
    belts = {f"belt_speed.{side}": Signal(times, np.full(15, SPEED)) for side in SIDES}
    refused(Motion("log.csv", tilted | belts), told("packbot", LEVEL))


@pytest.mark.parametrize(("tilt", "accepted"), [(3.0, True), (3.4, True), (4.0, False)])
def test_tilts_are_accepted_up_to_three_degrees_and_what_grousers_allow(tilt, accepted):
    """PackBot's grousers of 8 mm under one end of 0.7 m tilt it by 0.65 deg."""
    motion, settings = log(pitch=math.radians(tilt)), told("packbot", LEVEL)
    if accepted:
        check(motion, settings)
    else:
        refused(motion, settings)


@pytest.mark.parametrize(
    ("off", "finding"), [(0.1, "it hangs in the air by 0.10 m"), (-0.1, "it is inside the ground by 0.10 m")]
)
def test_a_height_that_is_logged_on_its_terrain_is_that_of_rest(off, finding):
    packbot = load_vehicle("packbot")
    settings = told(packbot, LEVEL, frame="terrain")
    check(log(height=stand(packbot, {}).height), settings)
    error = refused(log(height=stand(packbot, {}).height + off), settings)
    assert [text.split(":")[0] for text in error.findings] == [finding]


def test_flippers_that_the_log_lacks_are_named_where_the_vehicle_stands_otherwise():
    """Quince on its front flippers, which a replay takes to be level."""
    lowered = {"front_left": -0.6, "front_right": -0.6}
    pitch = stand(load_vehicle("quince"), lowered).pitch
    assert math.degrees(pitch) > 5
    check(log(pitch=pitch, flippers=lowered), told("quince", LEVEL))
    error = refused(log(pitch=pitch), told("quince", LEVEL))
    assert error.remedies[0] == (
        "give the angles of flippers of which the log has none: "
        "front_left, front_right, rear_left, rear_right"
    )


def test_the_place_of_a_run_up_is_checked_too():
    """From 0.2 m/s the run-up takes 80 mm, and what the drives lag by."""
    motion = log(way=0.85, rolls=True)
    settings = replace(told("packbot", COURSE), event=BEGIN + 0.85 / SPEED)
    rear = align(motion, settings).start.x - 0.345
    assert 0.0 < rear < 0.1
    error = refused(motion, settings)
    assert error.place.startswith("where its run-up begins on okada-step, at x = ")


def test_a_log_without_attitude_is_taken_to_stand_on_level_ground():
    motion = log(way=1.05)
    kept = {k: s for k, s in motion.signals.items() if k not in ("pitch", "roll")}
    error = refused(Motion("log.csv", kept), told("packbot", COURSE, 1.05))
    assert "as its ground is level" in error.findings[0]


def test_a_replay_is_refused_before_it_is_driven(monkeypatch):
    monkeypatch.setattr(World, "run", lambda *_, **__: pytest.fail("it is driven"))
    for drive in (replay, replay_log):
        with pytest.raises(StartPoseError):
            drive(log(way=1.05), told("packbot", COURSE, 1.05))


@each_row("name", bundled_vehicles())
def test_no_bundled_vehicle_is_refused_on_level_ground(name):
    vehicle = load_vehicle(name)
    angles = {k: 0.6 if f.tip_direction == "front" else 0.1 for k, f in vehicle.flippers.items()}
    height = stand(vehicle, angles).height
    motion = log(height=height, noise=math.radians(0.5), flippers=angles)
    check(motion, told(vehicle, LEVEL, frame="terrain"))


@each_row("name", bundled_courses())
def test_no_log_is_refused_at_the_start_of_a_bundled_course(name):
    """But for the narrow lane of 0.3 m, which names no vehicle: PackBot is too wide for it."""
    vehicle = load_course(name).vehicle
    motion, settings = log(noise=math.radians(0.5)), told(vehicle or "packbot", load_terrain(name))
    if vehicle is None:
        assert refused(motion, settings).remedies[0].startswith("widen the lane")
    else:
        check(motion, settings)


def test_a_vehicle_may_stand_on_a_slope_that_its_log_shows():
    ramp = "terrain: [{ramp: {slope_deg: 15, length: 3.0}, place: {x: -1.5}}]"
    settings = told("packbot", parse_terrain(ramp, "ramp"))
    check(log(pitch=math.radians(15.0)), settings)
    assert "as logged, got 15.0 deg" in refused(log(), settings).findings[0]


@pytest.mark.parametrize("name", ["quince", "m113"])
def test_a_vehicles_centre_of_mass_is_that_of_its_links(name):
    """Against the engine's bodies, where road wheels hang on the body of its URDF."""
    vehicle = load_vehicle(name)
    angles = dict.fromkeys(vehicle.flippers, 0.3)
    with World(engine="native", resettable=False) as world:
        robot = world.add_vehicle(vehicle, track_model="compliant", position=(0, 0, 0), flippers=angles)
        bodies = robot.bodies()
    expected = bodies.masses @ bodies.positions / bodies.masses.sum()
    center = vehicle_links(vehicle).center_of_mass(list(angles.values()))
    assert center == pytest.approx(expected, abs=1e-6)
