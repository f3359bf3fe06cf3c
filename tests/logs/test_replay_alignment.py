"""Logs put into a terrain's frame: closed forms, known touches of simulated climbs, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from simulated_logs import BEGIN, LEVEL, climb, differences, disguised, step
from tables import each_row

from segtrack.description import load_vehicle
from segtrack.errors import InvalidValueError, LogFileError, UnknownNameError
from segtrack.logs import Motion, Signal
from segtrack.logs.mapping import load_terrain, parse_terrain
from segtrack.logs.replay import Place, ReplaySettings, Shift, align, first_touch
from segtrack.logs.replay.alignment import find_onset, stand
from segtrack.logs.replay.path import belts_of, way_of
from segtrack.world import World

FRONT, RADIUS = 0.255, 0.082
"""Place of PackBot's front pulley, and its radius to the belt's outer face [m]."""


def smooth(vehicle="packbot"):
    """A bundled vehicle without grousers."""
    description = load_vehicle(vehicle)
    tracks = {name: track.model_copy(update={"grousers": None}) for name, track in description.tracks.items()}
    return description.model_copy(update={"tracks": tracks})


def without(motion, *names):
    """A log without some of its quantities."""
    return Motion(motion.name, {k: s for k, s in motion.signals.items() if k.partition(".")[0] not in names})


def cut(motion, first, last):
    return motion.between(BEGIN + first, BEGIN + last)


@pytest.fixture(scope="module")
def terrain():
    return step(0.1)


@pytest.fixture(scope="module")
def truth(terrain):
    """PackBot at a step, in the terrain's frame."""
    return climb("packbot", terrain)


@pytest.fixture(scope="module")
def settings(terrain):
    return ReplaySettings("packbot", terrain)


def test_a_vehicle_stands_as_it_settles_in_simulation():
    """Quince on its front flippers: lifted, nose up; a little lower, between two grousers."""
    quince, angles = load_vehicle("quince"), {"front_left": -0.5, "front_right": -0.5}
    stance = stand(quince, angles)
    with World(engine="native", resettable=False) as world:
        world.add_terrain(LEVEL.terrains[0])
        robot = world.add_vehicle(quince, flippers=angles)
        world.settle()
        assert stance.pitch == pytest.approx(robot.state.pitch, abs=math.radians(0.2))
        assert stance.height == pytest.approx(robot.state.position[2], abs=0.004)
    assert stance.pitch > math.radians(5.0)


@pytest.mark.parametrize("height", [0.03, 0.06, 0.2])
def test_a_smooth_belt_touches_a_step_with_its_front_pulley(height):
    """A circle of radius R on the ground reaches sqrt(R^2 - (R - h)^2) ahead at height h."""
    ahead = math.sqrt(RADIUS**2 - (RADIUS - min(height, RADIUS)) ** 2)
    touch = first_touch(smooth(), {}, step(height).obstacle)
    assert touch.x == pytest.approx(1.0 - FRONT - ahead, abs=4e-4)
    assert touch.std == 0.0


def test_a_smooth_belt_touches_a_ramp_at_a_tangent():
    """The centre of a circle that touches ground and slope is R tan(slope / 2) before the foot."""
    ramp = parse_terrain(
        "terrain: [{ramp: {slope_deg: 30, length: 1.0, top_length: 1.0}, place: {x: 1.0}}]", "ramp"
    )
    touch = first_touch(smooth(), {}, ramp.obstacle)
    assert touch.x == pytest.approx(1.0 - FRONT - RADIUS * math.tan(math.radians(15.0)), abs=1e-3)


def test_grousers_touch_between_tips_everywhere_and_the_bare_belt():
    """Their phase is not known: a touch has a mean and a standard deviation within what is possible."""
    obstacle, packbot = step(0.06).obstacle, load_vehicle("packbot")
    touch, bare = first_touch(packbot, {}, obstacle), first_touch(smooth(), {}, obstacle)
    tip = RADIUS + 0.008
    first = 1.0 - FRONT - math.sqrt(tip**2 - (tip - 0.06) ** 2)
    assert first < touch.x < bare.x + 0.008
    assert 0.0 < touch.std < 0.008


def test_nothing_touches_what_is_above_all_of_it():
    assert (
        first_touch(
            smooth(),
            {},
            replace(step(0.1).obstacle, height=0.0, outline_z=np.zeros(3), outline_x=np.arange(3.0)),
        )
        is None
    )


def bent(rng=None, noise=0.0, change=4.0, slope=0.2, belts=0.2):
    """A log that is held up from a time on, pitching up; noise in units of 0.1 deg and 1 mm."""
    times = np.linspace(0.0, 6.0, 601)
    since = np.maximum(times - change, 0.0)
    speeds = np.where(times > 1.0, belts, 0.0)
    way = np.concatenate([[0.0], np.cumsum(np.diff(times) * (speeds[1:] + speeds[:-1]) / 2)]) * 0.98
    way = way - 0.4 * belts * since
    add = (lambda size: rng.normal(0.0, size, len(times))) if rng is not None else (lambda size: 0.0)
    position = np.stack([way * math.cos(0.5), way * math.sin(0.5), 0.0 * way], axis=1)
    position += np.stack([np.broadcast_to(add(noise * 1e-3), times.shape) for _ in range(3)], axis=1)
    signals = {
        "pitch": Signal(times, 0.02 + slope * since + add(noise * math.radians(0.1))),
        "position": Signal(times, position),
    }
    return Motion(
        "bent", signals | {f"belt_speed.{side}": Signal(times, speeds) for side in ("left", "right")}
    )


def test_a_bend_without_noise_is_found_where_it_is():
    onset = find_onset(motion := bent(), belts_of(motion), 0.0, 6.0)
    assert onset.time == pytest.approx(4.0, abs=0.005)
    assert onset.shown_by == ("pitch", "way")


def test_a_noisy_bend_is_found_within_its_uncertainty():
    rng = np.random.default_rng(7)
    onsets = [find_onset(m := bent(rng, noise=2.0), belts_of(m), 0.0, 6.0) for _ in range(15)]
    errors = np.array([(onset.time - 4.0) / onset.std for onset in onsets])
    assert np.sum(np.abs(errors) < 2.0) >= 13
    assert all(onset.std < 0.06 for onset in onsets)


def test_a_log_that_only_falls_behind_or_only_pitches_shows_its_bend_too():
    for names, shown in (("pitch", ("way",)), ("position", ("pitch",))):
        onset = find_onset(motion := without(bent(), names), belts_of(motion), 0.0, 6.0)
        assert onset.time == pytest.approx(4.0, abs=0.03)
        assert onset.shown_by == shown


def test_a_drive_on_level_ground_shows_no_touch():
    motion = bent(np.random.default_rng(3), noise=2.0, change=10.0)
    assert find_onset(motion, belts_of(motion), 0.0, 6.0) is None


def test_the_way_is_that_along_the_heading_wherever_the_frame_looks():
    """Positions lead along 0.5 rad; the heading is in the same frame, in another, or missing."""
    motion = bent()
    for yaw in (None, 0.3):
        logged = (
            motion if yaw is None else motion.with_signals({"yaw": Signal(np.array([0.0]), np.array([yaw]))})
        )
        way = way_of(logged, belts_of(logged))
        assert way.way[300] == pytest.approx(0.98 * 0.2 * 2.0, abs=2e-3)
        assert way.drift == pytest.approx(0.5 - (yaw or 0.0), abs=1e-9)


def test_a_shift_brings_one_pose_to_another_and_leaves_height_and_pitch():
    rng = np.random.default_rng(5)
    here, there = Place(*rng.normal(size=3)), Place(*rng.normal(size=3))
    shift = Shift.between(here, there)
    assert shift.of(here) == pytest.approx(there)
    turns = Rotation.from_euler("ZYX", rng.uniform(-1, 1, (5, 3)))
    times = np.arange(5.0)
    motion = Motion(
        "m",
        {
            "position": Signal(times, rng.normal(size=(5, 3))),
            "orientation": Signal(times, turns.as_quat()),
            "pitch": Signal(times, rng.normal(size=5)),
            "yaw": Signal(times, rng.normal(size=5)),
        },
    )
    moved = shift.moved(motion)
    assert np.array_equal(moved.signals["position"].values[:, 2], motion.signals["position"].values[:, 2])
    assert moved.signals["pitch"] is motion.signals["pitch"]
    assert moved.signals["yaw"].values == pytest.approx(motion.signals["yaw"].values + there.yaw - here.yaw)
    z_before, z_after = (
        turn.as_matrix()[:, 2] for turn in (turns, Rotation.from_quat(moved.signals["orientation"].values))
    )
    assert z_after == pytest.approx(z_before), "the vertical part of each axis, by which pitch and roll are"


def test_a_log_in_a_frame_of_its_own_comes_to_where_it_was(truth, settings):
    aligned = align(disguised(truth), settings)
    apart = differences(truth, aligned.motion)
    assert apart["position"] < 2.0 * aligned.x_std < 0.02
    assert apart["pitch"] < 1e-9 and apart["yaw"] < 1e-4
    assert (aligned.begin, aligned.end) == pytest.approx((100.0, 103.3))
    # By a line through the time in which belts have not changed by 20 mm/s yet.
    assert aligned.start == pytest.approx((*aligned.motion.signals["position"].values[0, :2], 0.0), abs=5e-5)
    assert aligned.shown_by == ("pitch", "way") and aligned.notes == ()
    assert np.array_equal(
        aligned.motion.signals["position"].values[:, 2], truth.signals["position"].values[:, 2]
    )


def test_alignment_does_not_depend_on_the_frame_of_the_log(truth, settings):
    one, other = (align(disguised(truth, *frame), settings) for frame in ((30, 3, -2), (-170, -40, 9)))
    assert one.event == other.event
    assert differences(one.motion, other.motion)["position"] < 1e-9


def test_the_touch_is_found_where_the_vehicle_touches(terrain, truth, settings):
    aligned = align(disguised(truth), settings)
    touch = first_touch(load_vehicle("packbot"), {}, terrain.obstacle)
    x = float(truth.signals["position"].at(aligned.event)[0])
    assert x == pytest.approx(touch.x, abs=2.0 * math.hypot(touch.std, 0.005))
    assert aligned.event_std == pytest.approx(0.005 / 0.2, rel=0.2)


def test_a_log_in_the_terrains_frame_is_not_moved(truth, settings):
    aligned = align(truth, replace(settings, frame="terrain"))
    for key, signal in truth.signals.items():
        assert (
            np.array_equal(aligned.motion.signals[key].values, signal.values, equal_nan=False)
            or key == "orientation"
        )
    assert aligned.shown_by == ("position",) and aligned.x_std == 0.0
    found = align(disguised(truth), settings)
    assert aligned.event == pytest.approx(found.event, abs=2.0 * (aligned.event_std + found.event_std))


def test_a_time_that_is_given_is_taken(truth, settings):
    aligned = align(disguised(truth), replace(settings, event=102.5))
    assert (aligned.event, aligned.event_std, aligned.shown_by) == (102.5, 0.0, ("given",))
    touch = first_touch(load_vehicle("packbot"), {}, settings.terrain.obstacle)
    assert aligned.motion.signals["position"].at(102.5)[:2] == pytest.approx((touch.x, 0.0), abs=2e-3)
    assert aligned.x_std == pytest.approx(touch.std)


def test_on_level_ground_a_log_begins_at_the_start(truth):
    aligned = align(disguised(truth), ReplaySettings("packbot", LEVEL))
    assert aligned.start == pytest.approx((0.0, 0.0, 0.0), abs=1e-3)
    assert (aligned.event, aligned.shown_by) == (None, ())
    course = load_terrain("okada-step")
    aligned = align(disguised(truth), ReplaySettings("packbot", course, event="start"))
    assert aligned.start == pytest.approx((course.start.x, course.start.y, 0.0), abs=1e-3)


def test_without_positions_the_belts_lead_to_the_touch(truth, settings):
    """From where they began; slip, some 1 %, is not in it."""
    aligned = align(without(truth, "position", "velocity", "yaw", "orientation"), settings)
    assert aligned.start == pytest.approx((*truth.signals["position"].values[0, :2], 0.0), abs=0.015)
    assert aligned.shown_by == ("pitch",)


def test_without_a_heading_the_direction_of_travel_counts(truth, settings):
    aligned = align(without(disguised(truth), "orientation", "yaw"), settings)
    assert (
        differences(truth, Motion("m", aligned.motion.signals | {"yaw": truth.signals["yaw"]}))["position"]
        < 0.02
    )


def test_a_heading_in_another_frame_is_remarked_on(truth, settings):
    yaw = truth.signals["yaw"]
    turned = truth.with_signals({"yaw": replace(yaw, values=yaw.values - math.radians(20.0))})
    assert align(turned, settings).notes == (
        "it goes 20 deg to the left of its heading: "
        "the frames of its positions and of its heading may differ",
    )


def test_a_touch_by_the_way_alone_is_remarked_on():
    log = without(bent(), "pitch")
    assert align(log, ReplaySettings("packbot", step(0.1))).notes == (
        "the first touch is known by its way alone, which shows a touch late if it holds up little",
    )


def bad_logs():
    flipper = {"flipper_angle.front": Signal(np.array([100.0, 103.0]), np.zeros(2))}
    yield (
        "flippers",
        lambda m: m.with_signals(flipper),
        {},
        "no flipper of packbot 'front'; there are: none",
    )
    yield (
        "no belts",
        lambda m: without(m, "belt_speed", "belt_speed_command"),
        {},
        "climb: has no belts to drive by: it takes belt_speed.left and belt_speed.right, or their commands, "
        "at the same time",
    )
    yield (
        "one belt",
        lambda m: Motion("climb", {k: s for k, s in m.signals.items() if "left" not in k}),
        {},
        "climb: has no belts to drive by: it takes belt_speed.left and belt_speed.right, or their commands, "
        "at the same time",
    )
    yield (
        "short",
        lambda m: cut(m, 1.0, 1.3),
        {},
        "climb: is too short: it has 0.3 s of belts and positions, 0.5 s are needed",
    )
    yield (
        "level",
        lambda m: m,
        {"terrain": LEVEL, "event": "touch"},
        "terrain of a log that is aligned at its first touch must be one that rises, got level ground, level",
    )
    yield (
        "never",
        lambda m: cut(m, 0.0, 2.0),
        {},
        "climb: shows no first touch: its pitch does not rise and it does not fall behind its belts; "
        "give its time as the event, or start",
    )
    yield (
        "blind",
        lambda m: without(m, "position", "velocity", "pitch", "orientation"),
        {},
        "climb: shows no first touch: it has neither pitch nor position nor velocity; "
        "give its time as the event, or start",
    )
    yield (
        "outside",
        lambda m: m,
        {"event": 12.0},
        "event [s] must be within the log, from 100 to 103.3, got 12.0",
    )
    yield (
        "never in place",
        lambda m: cut(m, 0.0, 2.0),
        {"frame": "terrain"},
        "climb: never reaches step: its body gets to x = 0.493 m, and is at 0.656 m as it touches",
    )
    yield (
        "no place",
        lambda m: without(m, "position"),
        {"frame": "terrain"},
        "frame must be log where the log has no positions, got 'terrain'",
    )


@each_row("change, given, message", [case[1:] for case in bad_logs()])
def test_logs_that_do_not_fit_are_refused(change, given, message, truth, settings):
    with pytest.raises((InvalidValueError, LogFileError, UnknownNameError)) as error:
        align(change(truth), replace(settings, **given))
    assert str(error.value) == message
