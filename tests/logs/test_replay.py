"""Logs driven again: commands, imposed motion, what is written down, and simulations that break down."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.spatial.transform import Rotation
from simulated_logs import BEGIN, LEVEL, climb, differences, disguised, step

from segtrack.description import load_vehicle
from segtrack.errors import DivergedError, LogFileError
from segtrack.experiments import with_imposed_motion
from segtrack.logs import Motion, Signal, quantity_of
from segtrack.logs.replay import ReplayDivergedError, ReplaySettings, align, replay, replay_log
from segtrack.logs.replay.settings import Clock, schedule
from segtrack.world import World

SIDES = ("left", "right")


def belts(times, left, right=None, name="belt_speed"):
    right = left if right is None else right
    return {
        f"{name}.{side}": Signal(times, values) for side, values in zip(SIDES, (left, right), strict=True)
    }


@pytest.fixture(scope="module")
def truth():
    """PackBot at a step of 0.1 m, in the terrain's frame."""
    return climb("packbot", step(0.1), way=0.3, seconds=2.5)


@pytest.fixture(scope="module")
def settings():
    return ReplaySettings("packbot", step(0.1))


@pytest.fixture(scope="module")
def replayed(truth, settings):
    return replay(disguised(truth), settings)


@pytest.fixture(scope="module")
def driven():
    """Quince on level ground: belts and flippers that go up and down, and were told nothing."""
    times = BEGIN + np.linspace(0.0, 1.5, 76)
    swing = np.sin(2 * np.pi * (times - BEGIN) / 1.5)
    left, right = 0.15 * (1 - np.cos(4 * (times - BEGIN))), 0.1 * (1 - np.cos(3 * (times - BEGIN)))
    flippers = {f"flipper_angle.{name}": Signal(times, 0.6 * swing) for name in ("front_left", "front_right")}
    log = Motion("driven", belts(times, left, right) | flippers)
    return log, replay_log(log, ReplaySettings("quince", LEVEL, flippers={"rear_left": 0.4}))


def test_commands_are_held_until_the_next_one_and_belts_stand_before_the_first():
    times = np.array([10.1, 10.25, 10.4])
    motion = Motion("m", belts(times, np.array([0.1, 0.2, 0.3]), name="belt_speed_command"))
    plan = schedule(motion, "commanded", {}, Clock(begin=10.0, step=0.01, every=10, steps=60))
    assert plan.steps.tolist() == [0, 10, 20, 25, 30, 40, 50, 60]
    assert plan.belts[:, 0].tolist() == [0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3]


def test_measured_belts_travel_as_far_as_the_line_through_their_samples():
    rng, times = np.random.default_rng(4), 10.0 + np.cumsum(np.full(40, 0.05))
    speeds = rng.normal(size=40)
    motion = Motion("m", belts(times, speeds, -speeds))
    plan = schedule(motion, "measured", {}, Clock(begin=float(times[0]), step=0.001, every=10, steps=1950))
    travel = plan.belts[:, 0] @ np.diff(plan.steps) * 0.001
    assert travel == pytest.approx(trapezoid(speeds, times), abs=1e-9)
    assert np.array_equal(plan.belts[:, 1], -plan.belts[:, 0])


def test_flippers_follow_what_there_is_of_them():
    """Commands are held, angles are interpolated up to the end of each control step, others stay."""
    times = np.array([0.0, 1.0])
    told = {"flipper_angle_command.a": Signal(times, np.array([0.1, 0.5]))}
    seen = {"flipper_angle.a": Signal(times, times), "flipper_angle.b": Signal(times, 2 * times)}
    motion = Motion("m", belts(times, times, name="belt_speed_command") | belts(times, times) | told | seen)
    angles, clock = {"a": 0.0, "b": 0.0, "c": 0.7}, Clock(begin=0.0, step=0.25, every=1, steps=4)
    commanded, measured = (
        schedule(motion, source, angles, clock).flippers for source in ("commanded", "measured")
    )
    assert commanded["a"].tolist() == [0.1, 0.1, 0.1, 0.1]
    assert measured["a"].tolist() == [0.25, 0.5, 0.75, 1.0]
    assert commanded["b"].tolist() == measured["b"].tolist() == [0.5, 1.0, 1.5, 2.0]
    assert commanded["c"].tolist() == measured["c"].tolist() == [0.7] * 4


def test_imposed_belts_and_flippers_do_what_was_measured(driven):
    """Belts within half of what their speed changes by in a control step."""
    log, run = driven
    times = run.signals["position"].times
    for side in SIDES:
        apart = run.signals[f"belt_speed.{side}"].values - log.signals[f"belt_speed.{side}"].at(times)
        steepest = np.abs(np.gradient(log.signals[f"belt_speed.{side}"].values, 0.02)).max()
        assert np.abs(apart).max() < 0.6 * 0.005 * steepest
        assert np.abs(np.cumsum(apart)).max() * 0.01 < 1e-3
    for name in ("front_left", "front_right"):
        angle = log.signals[f"flipper_angle.{name}"].at(times)
        assert run.signals[f"flipper_angle.{name}"].values == pytest.approx(angle, abs=1e-6)
    assert run.signals["flipper_angle.rear_left"].values == pytest.approx(np.full(len(times), 0.4), abs=1e-3)
    assert run.signals["flipper_angle.rear_right"].values == pytest.approx(np.zeros(len(times)), abs=1e-3)


def test_what_is_imposed_takes_nothing_else_of_a_vehicle():
    quince = load_vehicle("quince")
    strong = with_imposed_motion(quince)
    before, after = ([track.spec.drive for track in v.mounted_tracks()] for v in (quince, strong))
    assert all(drive.lag == 0.0 and not drive.self_locking for drive in after)
    for name in ("reflected_mass", "stall_force"):
        assert [getattr(drive, name) for drive in before] == [getattr(drive, name) for drive in after]
    weights = [World(engine="native", resettable=False).add_vehicle(v).mass for v in (quince, strong)]
    assert weights[0] == weights[1]


def test_velocities_of_a_replay_are_those_of_its_poses(driven):
    """Turned into the world and summed up they lead where the vehicle went, and as far round."""
    _, run = driven
    signals, times = run.signals, run.signals["position"].times
    turns = Rotation.from_quat(signals["orientation"].values)
    way = cumulative_trapezoid(turns.apply(signals["velocity"].values.copy()), times, axis=0, initial=0.0)
    assert way == pytest.approx(signals["position"].values - signals["position"].values[0], abs=2e-3)
    rates = turns.apply(signals["angular_velocity"].values.copy())[:, 2]
    yaw = cumulative_trapezoid(rates, times, initial=0.0)
    assert yaw == pytest.approx(run.angle("yaw").values - run.angle("yaw").values[0], abs=0.01)


def test_slip_is_what_a_belt_moves_over_the_ground(driven):
    """A track 0.1 m to the left of the middle goes at v - 0.1 w."""
    _, run = driven
    forward, turning = run.signals["velocity"].values[:, 0], run.signals["angular_velocity"].values[:, 2]
    ground = run.signals["belt_speed.left"].values - run.signals["slip_velocity.left"].values
    assert ground == pytest.approx(forward - 0.1 * turning, abs=1e-9)


def test_energy_of_a_replay_is_force_times_belt_travel(replayed):
    run = replayed.commanded
    power = sum(run.signals[f"belt_force.{s}"].values * run.signals[f"belt_speed.{s}"].values for s in SIDES)
    work = trapezoid(power, run.signals["energy"].times)
    assert run.signals["energy"].values[0] == 0.0
    assert run.signals["energy"].values[-1] == pytest.approx(work, rel=0.05)


def test_a_replay_has_the_quantities_of_a_log(replayed):
    for run in (replayed.commanded, replayed.measured):
        assert {quantity_of(key).unit for key in run.signals} >= {"m", "m/s", "rad", "rad/s", "N", "J", "-"}
        assert set(run.signals) == set(replayed.logged.signals)
        times = run.signals["pitch"].times
        assert times == pytest.approx(BEGIN + 0.01 * np.arange(281))
        assert all(signal.source == "simulation" for signal in run.signals.values())
        bare = Motion("m", {"orientation": run.signals["orientation"]})
        for angle in ("roll", "pitch", "yaw"):
            assert run.signals[angle].values == pytest.approx(bare.angle(angle).values, abs=1e-12)


def test_a_log_in_its_terrains_frame_comes_back_to_itself(truth, settings):
    """By its commands, from the same place: to what is lost in settling twice."""
    run = replay_log(truth, replace(settings, frame="terrain"), belts="commanded")
    apart = differences(truth, run)
    assert apart["position"] < 1e-4 and apart["pitch"] < math.radians(0.1)


def test_a_replay_says_where_and_when_the_vehicle_touches(replayed, settings):
    assert replayed.event == replayed.log.event == pytest.approx(101.8, abs=0.05)
    assert replayed.obstacle.height == pytest.approx(0.1)
    assert replayed.logged is replayed.log.motion
    assert replayed.diverged == {}
    apart = differences(replayed.logged, replayed.measured)
    assert apart["position"] < 2 * replayed.log.x_std and apart["pitch"] < math.radians(3.0)


def test_a_lagging_drive_is_an_error_of_the_commanded_run_alone(truth, settings):
    """Belts that follow their command with a lag, in a vehicle file that does not know of it."""
    tracks = {
        name: track.model_copy(update={"drive": track.drive.model_copy(update={"lag": 0.3})})
        for name, track in load_vehicle("packbot").tracks.items()
    }
    lagging = load_vehicle("packbot").model_copy(update={"tracks": tracks})
    log = climb(lagging, step(0.1), way=0.3, seconds=1.0)
    found = replay(log, replace(settings, frame="terrain", event="start"))
    times = found.measured.signals["pitch"].times
    behind = {
        name: np.abs(log.signals["belt_speed.left"].at(times) - run.signals["belt_speed.left"].values).max()
        for name, run in (("commanded", found.commanded), ("measured", found.measured))
    }
    assert behind["commanded"] > 0.15 > 0.01 > behind["measured"]
    assert differences(log, found.measured)["position"] < 2e-3 < differences(log, found.commanded)["position"]


def test_a_log_that_begins_in_motion_is_met_in_motion(truth, settings):
    rolling = truth.between(BEGIN + 1.0, BEGIN + 2.0)
    run = replay_log(rolling, replace(settings, frame="terrain", event="start"))
    first = {key: signal.values[0] for key, signal in run.signals.items()}
    assert first["position"][:2] == pytest.approx(truth.signals["position"].at(BEGIN + 1.0)[:2], abs=1e-3)
    assert first["velocity"][0] == pytest.approx(truth.signals["velocity"].at(BEGIN + 1.0)[0], abs=0.01)
    assert first["belt_speed.left"] == pytest.approx(0.2, abs=1e-6)


def test_belts_that_are_seldom_measured_have_a_first_speed_between_two_samples(truth, settings):
    seldom = BEGIN + np.arange(0.75, 2.5, 0.25)
    slow = {key: Signal(seldom, truth.signals[key].at(seldom)) for key in truth.signals if "belt" in key}
    late = truth.between(BEGIN + 1.05, BEGIN + 2.0)
    kept = {key: signal for key, signal in late.signals.items() if key not in slow}
    run = replay_log(Motion("climb", kept | slow), replace(settings, frame="terrain", event="start"))
    assert run.signals["position"].times[0] == pytest.approx(BEGIN + 1.05, abs=0.02)
    assert run.signals["belt_speed.left"].values[0] == pytest.approx(0.2, abs=1e-3)
    assert run.signals["velocity"].values[0, 0] == pytest.approx(0.2, abs=0.02)


def test_a_log_that_begins_in_a_turn_is_met_in_the_turn(driven):
    log, run = driven
    late = log.with_signals({k: run.signals[k] for k in ("position", "orientation")}).between(
        BEGIN + 0.7, BEGIN + 1.4
    )
    again = replay_log(late, ReplaySettings("quince", LEVEL, frame="terrain", flippers={"rear_left": 0.4}))
    start = align(late, ReplaySettings("quince", LEVEL, frame="terrain")).start
    reached = [*again.signals["position"].values[0, :2], again.signals["yaw"].values[0]]
    assert reached == pytest.approx(start, abs=3e-3)


def test_a_log_without_commands_or_without_measurements_is_replayed_by_the_other(truth, settings):
    for name, missing in (("belt_speed_command", "commanded"), ("belt_speed", "measured")):
        kept = {k: s for k, s in truth.signals.items() if k.partition(".")[0] != name}
        short = Motion("climb", kept).between(BEGIN, BEGIN + 1.0)
        found = replay(short, replace(settings, event="start"))
        assert (found.commanded is None, found.measured is None) == (
            missing == "commanded",
            missing == "measured",
        )
        with pytest.raises(LogFileError) as error:
            replay_log(short, replace(settings, event="start"), belts=missing)
        assert str(error.value) == f"climb: has no {missing} belts: it takes {name}.left and {name}.right"


def test_what_there_is_before_a_simulation_breaks_down_is_kept(truth, settings, monkeypatch):
    run = World.run

    def break_down(world, seconds, **given):
        if world.time > 0.5:
            raise DivergedError("packbot", world.time, "its state is not finite")
        run(world, seconds, **given)

    monkeypatch.setattr(World, "run", break_down)
    found = replay(truth.between(BEGIN, BEGIN + 1.5), replace(settings, event="start"))
    assert found.commanded.span[1] == pytest.approx(BEGIN + 0.51)
    assert set(found.diverged) == {"commanded", "measured"}
    assert found.diverged["commanded"] == (
        "simulation diverged: packbot at t = 100.5100 s: its state is not finite"
    )
    with pytest.raises(ReplayDivergedError) as error:
        replay_log(truth.between(BEGIN, BEGIN + 1.5), replace(settings, event="start"))
    assert error.value.motion.span == pytest.approx((BEGIN, BEGIN + 0.5), abs=1e-6)


def test_a_simulation_is_sampled_at_its_sample_time(truth, settings):
    log = align(truth.between(BEGIN, BEGIN + 0.6), replace(settings, event="start"))
    run = replay_log(log, replace(settings, sample_time=0.1))
    assert run.signals["pitch"].times == pytest.approx(BEGIN + 0.1 * np.arange(7))
