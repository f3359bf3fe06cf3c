"""Phases of simulated climbs, of each bundled vehicle that climbs a step, and a log compared for real."""

import math

import numpy as np
import pytest

from segtrack import terrain
from segtrack.description import bounding_box, load_vehicle
from segtrack.experiments import with_body, with_friction
from segtrack.logs import Motion, Signal
from segtrack.logs.compare import (
    CLIMB_PHASES,
    Stated,
    compare,
    find_phases,
)
from segtrack.logs.mapping import parse_terrain
from segtrack.logs.replay import ReplaySettings, replay
from segtrack.report.logs import draw_comparison
from segtrack.world import World

pytestmark = pytest.mark.slow

CLIMBS = (
    ("quince", 0.12, 0.0, 0.1, 0.4625, 0.075),
    ("quince", 0.12, 45.0, 0.1, 0.2675, 0.075),
    ("quince", 0.24, 45.0, 0.1, 0.2675, 0.075),
    ("packbot", 0.04, 0.0, 0.1, 0.255, 0.082),
    ("packbot", 0.08, 0.0, 0.1, 0.255, 0.082),
    ("maxxii", 0.08, 0.0, 0.1, 0.35, 0.0856),
    ("bulldozer", 0.3, 0.0, 0.5, 1.66, 0.38),
    ("example_rover", 0.06, 0.0, 0.1, 0.2, 0.07),
)
"""Vehicle, step [m], front flippers [deg], belts [m/s]; place and radius of the nose's pulley in the vehicle
file [m], which is the flippers' tip where these lie flat."""
STUCK = (("quince", 0.38, 45.0, 0.1), ("trapezoidal", 0.1, 0.0, 0.1), ("triangular", 0.1, 0.0, 0.1))


def climb(name, height, front_deg, speed, noise=0.0, vehicle=None):
    """A vehicle driven at a step whose face is at x = 0, as a log of what it does and is told."""
    vehicle = load_vehicle(name) if vehicle is None else vehicle
    angles = {
        key: math.radians(front_deg if flipper.tip_direction == "front" else 5.0)
        for key, flipper in vehicle.flippers.items()
    }
    low, high = bounding_box(vehicle, angles)
    rows = []
    with World(engine="native") as world:
        world.add_terrain(terrain.Step(height=height, distance=0.0))
        robot = world.add_vehicle(vehicle, track_model="compliant", position=(-5.0, 0.0), flippers=angles)
        robot.reset_base_pose((-0.2 - float(high[0]), 0.0, 0.001 - float(low[2])))
        world.settle()
        begin, length = world.time, float(high[0] - low[0])
        for i in range(round((0.5 + (0.3 + 2.0 * length + 2 * height) / speed) / 0.01)):
            told = speed if i >= 50 else 0.0
            robot.set_belt_speed(told, told)
            world.run(0.01)
            tracks = [track for track in robot.tracks.values() if track.flipper is None]
            belts = [np.mean([t.speed for t in tracks if t.side == side]) for side in ("left", "right")]
            state = robot.state
            rows.append([world.time - begin, *state.position, *state.orientation, *belts, told])
            rows[-1] += [flipper.angle for flipper in robot.flippers.values()]
    table, draw = np.array(rows), np.random.default_rng(0)
    times = table[:, 0]

    def signal(values, std):
        noisy = values + noise * std * draw.standard_normal(values.shape)
        if values.ndim == 2 and values.shape[1] == 4:
            noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
        return Signal(times, noisy, noise * std)

    signals = {"position": signal(table[:, 1:4], 0.001), "orientation": signal(table[:, 4:8], 0.002)}
    for i, side in enumerate(("left", "right")):
        signals[f"belt_speed.{side}"] = signal(table[:, 8 + i], 0.001)
        signals[f"belt_speed_command.{side}"] = Signal(times, table[:, 10], 0.0)
    for i, key in enumerate(vehicle.flippers):
        signals[f"flipper_angle.{key}"] = signal(table[:, 11 + i], 0.001)
        signals[f"flipper_angle_command.{key}"] = Signal(times, np.full(len(times), angles[key]), 0.0)
    return Motion(f"{name} at {height:g} m", signals)


@pytest.mark.parametrize(("name", "height", "front", "speed", "nose", "radius"), CLIMBS)
def test_a_simulated_climb_has_all_phases_and_pivots_as_its_nose_comes_over_the_edge(
    name, height, front, speed, nose, radius
):
    motion = climb(name, height, front, speed)
    found = find_phases(motion)
    assert [phase.name for phase in found.phases] == list(CLIMB_PHASES), found.missing
    at = found.find("pivot").begin
    x, pitch = motion.signals["position"].at(at)[0], motion.angle("pitch").at(at)
    assert abs(x + nose * math.cos(pitch)) < radius
    # The body's middle has come over the edge as its nose begins to fall.
    assert 0.0 < motion.signals["position"].at(found.find("crest").begin)[0] < nose


@pytest.mark.parametrize(("name", "height", "front", "speed"), STUCK)
def test_a_vehicle_that_is_stuck_at_its_step_only_lifts_its_nose(name, height, front, speed):
    found = find_phases(climb(name, height, front, speed))
    assert [phase.name for phase in found.phases] == ["approach", "nose lift"]


def test_a_simulated_log_of_a_vehicle_that_is_a_little_other_is_within_its_uncertainty():
    """The log is of Quince with friction 2 and a centre of mass 1 standard deviations off."""
    other = with_body(with_friction(load_vehicle("quince"), 0.5), offset=(0.01, 0.0, 0.0))
    logged = climb("quince", 0.12, 45.0, 0.1, noise=1.0, vehicle=other)
    step = "terrain: [{step: {height: 0.12, length: 4.0}, place: {x: 2.0}, width: 3.0}]"
    ground = parse_terrain(step, "step")
    stated = Stated(inputs={"friction": 0.05, "com_x": 0.01})
    comparison = compare(replay(logged, ReplaySettings("quince", ground)), stated=stated, workers=1)
    assert set(comparison.runs) == {"commanded", "measured"}
    for run in comparison.runs.values():
        for quantity in ("pitch RMSE", "position error (ATE)", "peak pitch", "time to crest"):
            row = run.find(quantity)
            assert row.verdict == "within", (run.run, quantity, row.words)
        assert run.find("pitch RMSE", "pivot").verdict == "within"
    figure = draw_comparison(comparison)
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert {"pitch RMSE [deg] +- 2 u", "position error (ATE) [mm] +- 2 u"} <= titles
    assert len(figure.axes[0].lines) >= 3


def test_belts_that_do_what_they_are_told_give_actuators_no_share():
    """Without noise: 1 mm/s of it on belts gives peak pitches 0.08 to 0.12 deg higher, as it is drawn."""
    other = with_body(with_friction(load_vehicle("quince"), 0.5), offset=(0.01, 0.0, 0.0))
    logged = climb("quince", 0.12, 45.0, 0.1, vehicle=other)
    step = "terrain: [{step: {height: 0.12, length: 4.0}, place: {x: 2.0}, width: 3.0}]"
    comparison = compare(replay(logged, ReplaySettings("quince", parse_terrain(step, "step"))), workers=1)
    shares = {(row.quantity, row.phase): row.actuator for row in comparison.split}
    assert abs(shares["peak pitch", "whole"]) < math.radians(0.01)
