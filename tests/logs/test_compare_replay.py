"""A replay compared, its uncertainty simulated: by a simulation in closed form, and by a real one."""

import json
from dataclasses import replace

import numpy as np
import pytest
from rod_climb import RodClimb

from segtrack.description import load_vehicle
from segtrack.description.chain import track_design
from segtrack.errors import (
    DivergedError,
    InvalidValueError,
    SegtrackError,
    UncertaintyFileError,
    UnknownNameError,
)
from segtrack.experiments import with_sub_steps
from segtrack.logs.compare import (
    CompareInterrupted,
    Stated,
    area_rows,
    compare,
    load_stated,
    simulation_count,
    simulations,
)
from segtrack.logs.mapping import TimeUncertainty, load_terrain, parse_terrain
from segtrack.logs.replay import AlignedLog, Replay, ReplaySettings, align, first_touch

STEP = "terrain: [{step: {height: 0.2, length: 2.0}, place: {x: 1.0}}]"


def saturating(friction):
    """A climb that friction changes up to 0.62, and no more from there on."""
    return RodClimb(height=0.2 + 0.1 * (min(friction, 0.62) - 0.6))


def rod_of(settings, log, belts, start):
    """A climb that depends on everything that is varied: friction, time step, place; commands are slower."""
    friction = settings.load().vehicle.tracks["left"].contact.friction
    return RodClimb(
        height=0.2 + 0.1 * (friction - 0.6) + 2.0 * (settings.time_step - 0.001),
        speed=0.09 if belts == "commanded" else 0.1,
        gap=0.2 - (log.start.x - start.x),
    )


@pytest.fixture
def replay(monkeypatch):
    settings = ReplaySettings(load_vehicle("quince"), parse_terrain(STEP, "step"))
    logged = RodClimb().motion(name="climb.csv")
    start = align(logged, replace(settings, event=2.0)).start

    def replay_log(log, settings, *, belts):
        return rod_of(settings, log, belts, start).motion(name=belts)

    monkeypatch.setattr(simulations, "replay_log", replay_log)
    log = AlignedLog(logged, 0.0, 10.0, start, event=2.0, x_std=0.01)
    runs = (replay_log(log, settings, belts=belts) for belts in ("commanded", "measured"))
    return Replay(settings, settings.load(), log, *runs)


def test_a_simulation_as_good_as_the_log_has_the_uncertainty_of_what_it_depends_on(replay):
    comparison = compare(replay, stated=Stated(inputs={"friction": 0.05}), workers=1)
    row = comparison.runs["measured"].find("peak pitch")
    slope = 1 / np.sqrt(0.35**2 - 0.2**2)  # Of asin(height / 0.35).
    assert row.error == pytest.approx(0.0, abs=1e-12)
    assert row.parts.inputs["friction"] == pytest.approx(0.1 * 0.05 * slope, rel=0.05)
    assert row.parts.inputs["place of the log"] == pytest.approx(0.0, abs=1e-3)
    assert row.parts.numerics.method == "GCI"
    assert row.parts.numerics.order == pytest.approx(1.0, abs=0.1)
    # The time step's error is 2 m/s x 1 ms; half a step has half of it.
    assert row.parts.numerics.value == pytest.approx(1.25 / 1.15 * 0.002 * slope, rel=0.1)


def test_where_the_log_stood_counts_by_how_late_things_come(replay):
    comparison = compare(replay, workers=1)
    found = comparison.runs["measured"].find("time to crest")
    assert found.parts.inputs["place of the log"] == pytest.approx(0.0, abs=0.01)
    pitch = comparison.runs["measured"].find("pitch RMSE")
    assert pitch.parts.inputs["place of the log"] > 0.01
    assert (
        "u_input: not given, but for the place of the log and the scale of the belts"
        in comparison.runs["measured"].notes
    )


@pytest.mark.parametrize("saturates", [False, True])
def test_a_wrong_value_is_seen_by_what_it_changes_and_not_by_what_a_little_of_it_would(
    replay, monkeypatch, saturates
):
    """Half of friction 0.6 and one and a half of it: the change is that of the climb in closed form."""

    def climb(friction):
        return saturating(friction) if saturates else RodClimb(height=0.2 + 0.1 * (friction - 0.6))

    def replay_log(log, settings, *, belts):
        return climb(settings.load().vehicle.tracks["left"].contact.friction).motion(name=belts)

    monkeypatch.setattr(simulations, "replay_log", replay_log)
    stated = Stated(inputs={"friction": 0.02}, data={"bias": {"pitch": 0.02}})
    comparison = compare(replay, stated=stated, refine=False, workers=1)
    row = comparison.runs["measured"].find("peak pitch")
    assert row.parts.inputs["friction"] == pytest.approx(0.002 / np.sqrt(0.35**2 - 0.2**2), rel=0.05)
    heights = [0.2 + 0.1 * ((min(f, 0.62) if saturates else f) - 0.6) for f in (0.3, 0.9)]
    expected = [abs(np.arcsin(h / 0.35) - np.arcsin(0.2 / 0.35)) for h in heights]
    assert [wrong.value for wrong in row.wrong_values] == pytest.approx([0.3, 0.9])
    assert [wrong.change for wrong in row.wrong_values] == pytest.approx(expected, rel=0.01)
    assert row.wrong_values[0].needed == pytest.approx(2 * row.uncertainty)
    assert row.tells == (() if saturates else ("friction",))


def test_a_wrong_value_that_breaks_the_simulation_down_or_takes_the_error_away_is_not_seen(
    replay, monkeypatch
):
    working = simulations.replay_log

    def replay_log(log, settings, *, belts):
        friction = settings.load().vehicle.tracks["left"].contact.friction
        if friction > 0.8:
            raise DivergedError("quince", 1.0, "too fast")
        motion = working(log, settings, belts=belts)
        return motion.between(0.0, 2.5) if friction < 0.4 else motion

    monkeypatch.setattr(simulations, "replay_log", replay_log)
    comparison = compare(replay, stated=Stated(inputs={"friction": 0.05}), refine=False, workers=1)
    crest = comparison.runs["measured"].find("time to crest")  # One does not come so far.
    assert [wrong.change for wrong in crest.wrong_values] == [None, None]
    pitch = comparison.runs["measured"].find("pitch RMSE")
    assert [wrong.change is None for wrong in pitch.wrong_values] == [False, True]
    assert not any(row.tells for row in comparison.runs["measured"].rows)


def test_what_a_vehicle_cannot_be_is_no_wrong_value(replay):
    """Trapezoidal's pulleys half as large again would overlap."""
    vehicle = load_vehicle("trapezoidal")
    own = replace(replay.settings, vehicle=vehicle)
    planned = simulations.plan_simulations(
        replace(replay, settings=own, scene=own.load()), Stated(inputs={"pulley_radius": 0.001}), False
    )
    radius = max(pulley.radius for pulley in vehicle.tracks["left"].path.pulleys)
    wrong = [(job.run, job.wrong) for job in planned if job.wrong is not None]
    assert wrong == [("commanded", pytest.approx(radius / 2)), ("measured", pytest.approx(radius / 2))]


def on_a_course(replay, monkeypatch, x_std, height=0.2):
    """The same on a course's step, whose height is that of the climb."""

    def replay_log(log, settings, *, belts):
        height = settings.terrain.setting
        return RodClimb(height=height, speed=0.09 if belts == "commanded" else 0.1).motion(name=belts)

    monkeypatch.setattr(simulations, "replay_log", replay_log)
    settings = replace(replay.settings, terrain=load_terrain("okada-step", height))
    log = replace(replay.log, x_std=x_std)
    runs = (replay_log(log, settings, belts=belts) for belts in ("commanded", "measured"))
    return Replay(settings, settings.load(), log, *runs)


def test_the_height_of_a_courses_step_is_an_input(replay, monkeypatch):
    stated = Stated(inputs={"setting": 0.005})
    comparison = compare(on_a_course(replay, monkeypatch, 0.0), stated=stated, workers=1, refine=False)
    row = comparison.runs["measured"].find("peak pitch")
    assert row.parts.inputs["setting"] == pytest.approx(0.005 / np.sqrt(0.35**2 - 0.2**2), rel=0.05)


def test_where_the_step_is_higher_it_is_touched_elsewhere(replay, monkeypatch):
    """Below the flippers' wheels, so that their round noses meet the edge."""
    on_course = on_a_course(replay, monkeypatch, 0.01, height=0.03)
    planned = simulations.plan_simulations(on_course, Stated(inputs={"setting": 0.01}), False)
    starts = {job.sign: job.log.start.x for job in planned if (job.name, job.run) == ("setting", "measured")}
    vehicle = on_course.scene.vehicle
    low, high = (
        first_touch(vehicle, dict.fromkeys(vehicle.flippers, 0.0), load_terrain("okada-step", h).obstacle).x
        for h in (0.02, 0.04)
    )
    assert low - high > 0.003
    assert starts[1] - starts[-1] == pytest.approx(high - low, abs=1e-9)


@pytest.mark.parametrize("before", [True, False])
def test_a_setting_is_uncertain_where_there_is_one(replay, before):
    """Told before anything is simulated to whoever asks, and to others."""
    stated = Stated(inputs={"setting": 0.005})
    with pytest.raises(InvalidValueError) as error:
        if before:
            stated.check_terrain(replay.scene.terrain)
        else:
            compare(replay, stated=stated, workers=1)
    assert str(error.value) == (
        "uncertain setting must be of a terrain that has one, got step; a course file has a `setting:`, "
        "which stands for any of its numbers"
    )


def test_a_height_that_a_step_cannot_have_is_refused_by_its_input(replay, monkeypatch):
    on_course = on_a_course(replay, monkeypatch, 0.01)
    with pytest.raises(InvalidValueError) as error:
        simulations.plan_simulations(on_course, Stated(inputs={"setting": 0.5}), False)
    assert str(error.value) == (
        "uncertain setting must be possible for terrain okada-step, got 0.2 -0.5: "
        "lanes[0].pieces[2].step.height must be greater than 0, got -0.3"
    )


def test_what_actuators_do_is_told_apart_from_what_the_ground_does(replay):
    comparison = compare(replay, workers=1, refine=False)
    found = {(row.quantity, row.phase): row for row in comparison.split}
    belts = found["belt speed left RMSE", "whole"]
    assert (belts.commanded, belts.measured) == (pytest.approx(0.01), pytest.approx(0.0))
    assert belts.actuator == pytest.approx(0.01)
    crest = found["time to crest", "whole"]
    assert crest.actuator == pytest.approx(crest.commanded - crest.measured)
    assert crest.commanded > 0.3


def test_the_simulations_are_counted_beforehand(replay):
    stated = Stated(inputs={"friction": 0.05, "com_x": 0.01})
    count = []
    compare(replay, stated=stated, workers=1, on_done=lambda: count.append(1))
    assert len(count) == simulation_count(replay, stated) == 2 * (2 + 2 + 8) + 2  # Belts of another scale.


def test_a_simulation_that_breaks_down_leaves_its_part_unknown(replay, monkeypatch):
    working = simulations.replay_log

    def replay_log(log, settings, *, belts):
        if settings.load().vehicle.tracks["left"].contact.friction > 0.6:
            raise DivergedError("quince", 1.0, "too fast")
        return working(log, settings, belts=belts)

    monkeypatch.setattr(simulations, "replay_log", replay_log)
    comparison = compare(replay, stated=Stated(inputs={"friction": 0.05}), workers=1)
    run = comparison.runs["measured"]
    assert "the simulation with friction higher failed" in run.notes
    assert run.find("peak pitch").verdict == "unknown"
    assert run.find("peak pitch").summary()["u_input"] is None


def test_what_is_simulated_is_kept_when_it_is_interrupted(replay, monkeypatch):
    working, count = simulations.replay_log, []

    def replay_log(log, settings, *, belts):
        count.append(1)
        if len(count) > 2:
            raise KeyboardInterrupt
        return working(log, settings, belts=belts)

    monkeypatch.setattr(simulations, "replay_log", replay_log)
    with pytest.raises(CompareInterrupted) as error:
        compare(replay, stated=Stated(inputs={"friction": 0.05}), workers=1)
    comparison = error.value.comparison
    assert not comparison.finished
    assert comparison.runs["commanded"].find("peak pitch").parts.numerics is not None
    assert "u_num: not tried" in comparison.runs["measured"].notes


def test_a_comparison_is_an_object_of_json(replay):
    comparison = compare(replay, stated=Stated(inputs={"friction": 0.05}), workers=1, alignment="se3")
    summary = json.loads(json.dumps(comparison.summary(), allow_nan=False))
    assert (summary["log"], summary["alignment"], summary["inputs"]) == (
        "climb.csv",
        "se3",
        {"friction": 0.05},
    )
    assert set(summary["runs"]) == {"commanded", "measured"}


def test_repeats_have_the_area_between_their_distributions(replay):
    """Three trials whose logged peaks lie 10 mm of step apart, each simulated at its nominal height."""
    repeats = []
    for height in (0.19, 0.20, 0.21):
        log = replace(replay.log, motion=RodClimb(height=height).motion(name=f"{height}"))
        repeats.append(compare(replace(replay, log=log), workers=1, refine=False))
    rows = {(row.run, row.quantity, row.phase): row for row in area_rows(repeats)}
    row = rows["measured", "peak pitch", "whole"]
    logged = [np.arcsin(height / 0.35) for height in (0.19, 0.20, 0.21)]
    assert row.logged == pytest.approx(tuple(logged), abs=0.01)
    assert row.area == pytest.approx(np.mean(np.abs(np.array(logged) - logged[1])), rel=0.1)
    assert row.interval[0] <= row.area <= row.interval[1]


def test_an_alignment_that_there_is_not_is_refused(replay):
    with pytest.raises(UnknownNameError) as error:
        compare(replay, alignment="icp")
    assert str(error.value) == "no alignment 'icp'; there are: event, start, se3, none"


def test_clocks_are_as_uncertain_as_they_were_found_or_else_as_stated(tmp_path):
    path = tmp_path / "uncertain.yaml"
    path.write_text(
        "inputs: {friction: 0.05}\ndata: {clock: 0.02, bias: {pitch: 0.01}, drift: {position: 0.001}}\n"
    )
    data = load_stated("--uncertain", str(path)).data_uncertainty(
        {"imu": TimeUncertainty(0.003), "robot": None}
    )
    assert dict(data.clocks) == {"imu": TimeUncertainty(0.003), "robot": TimeUncertainty(0.02)}
    assert (dict(data.bias), dict(data.drift)) == ({"pitch": 0.01}, {"position": 0.001})
    assert load_stated("--uncertain", "friction=0.05, mass=2").inputs == {"friction": 0.05, "mass": 2.0}


def test_all_mistakes_of_what_is_uncertain_are_told_at_once(tmp_path):
    path = tmp_path / "uncertain.yaml"
    path.write_text("inputs: {fricton: 0.05, mass: -1}\ndata: {bias: {pich: 0.01}, clok: 0.1}\n")
    with pytest.raises(UncertaintyFileError) as error:
        load_stated("--uncertain", str(path))
    assert str(error.value) == (
        "uncertain.yaml:1: inputs.fricton is no uncertain input; did you mean friction?\n"
        "uncertain.yaml:1: inputs.mass must be greater than 0, got -1\n"
        "uncertain.yaml:2: data.bias.pich is no quantity; did you mean pitch?\n"
        "uncertain.yaml:2: data.clok is not a key that segtrack knows; did you mean clock?"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("none.yaml", "cannot read none.yaml: No such file or directory"),
        ("friction=0", "--uncertain friction must be greater than 0, got 0.0"),
        ("friction=a", "--uncertain must be like friction=0.05,com_x=0.01, got 'friction=a'"),
        ("height=0.1", "no uncertain input 'height'; there are: friction, "),
    ],
)
def test_uncertain_inputs_that_are_none_are_refused(text, message):
    with pytest.raises(SegtrackError) as error:
        load_stated("--uncertain", text)
    assert str(error.value).startswith(message)


def test_the_sub_step_of_a_chain_is_divided_from_its_largest():
    vehicle = load_vehicle("bulldozer")
    track = vehicle.tracks["left"]
    largest = track_design("bulldozer", track).max_sub_step
    once = with_sub_steps(vehicle, 2)
    assert once.tracks["left"].chain.sub_step == largest / 2
    assert with_sub_steps(once, 2).tracks["left"].chain.sub_step == largest / 4
    belts = load_vehicle("maxxii")
    assert with_sub_steps(belts, 2) == belts


def test_the_scale_of_the_belts_goes_one_to_one_into_the_slip_of_a_log(replay):
    """1 - way / belt with belts 0.5 % off, and no slip: 0.005 in the log, none in the simulation."""
    comparison = compare(replay, workers=1, refine=False)
    slip = comparison.runs["measured"].find("mean slip left")
    way_over_belt = 1.0 - slip.logged
    assert slip.parts.data["scale"] == pytest.approx(0.005 * way_over_belt, rel=1e-3)
    assert comparison.data.assumes_belt_scale
    same = Stated(data={"belt_scale": 0.005})
    assert not compare(replay, stated=same, workers=1, refine=False).data.assumes_belt_scale
    known = Stated(data={"belt_scale": 0.001})
    told = compare(replay, stated=known, workers=1, refine=False).runs["measured"].find("mean slip left")
    assert told.parts.data["scale"] == pytest.approx(0.001 * way_over_belt, rel=1e-3)


def test_an_input_at_its_bound_is_uncertain_to_one_side(replay):
    """A lag of 0 can only be longer: it is tried at 0 and at two standard deviations."""
    jobs = simulations.plan_simulations(replay, Stated(inputs={"drive_lag": 0.1, "friction": 0.05}), False)
    tried = {
        job.sign: job.settings.vehicle
        for job in jobs
        if (job.name, job.run, job.wrong) == ("drive_lag", "commanded", None)
    }
    assert replay.scene.vehicle.tracks["left"].drive.lag == 0.0
    assert {sign: vehicle.tracks["left"].drive.lag for sign, vehicle in tried.items()} == {-1: 0.0, 1: 0.2}


def test_a_radius_that_is_uncertain_touches_elsewhere(replay):
    """By PackBot's pulleys: nose and first touch are farther ahead by what the radius is larger."""
    vehicle = load_vehicle("packbot")
    own = replace(replay.settings, vehicle=vehicle)
    stated = Stated(inputs={"pulley_radius": 0.004})
    planned = simulations.plan_simulations(replace(replay, settings=own, scene=own.load()), stated, False)
    starts = {
        job.sign if job.wrong is None else job.wrong: job.log.start.x
        for job in planned
        if (job.name, job.run) == ("pulley_radius", "measured")
    }
    radius = max(pulley.radius for pulley in vehicle.tracks["left"].path.pulleys)
    low, high = starts[-1] - starts[1], starts[0.5 * radius] - starts[1.5 * radius]
    assert low == pytest.approx(0.008, rel=0.3) and high == pytest.approx(radius, rel=0.3)


def test_a_wrong_value_whose_place_is_not_found_is_not_left_out_silently(replay, monkeypatch):
    """Half of the friction, and one and a half, are values that the vehicle can have."""

    def placed(motion, settings):
        if abs(settings.load().vehicle.tracks["left"].contact.friction - 0.6) > 0.2:
            raise InvalidValueError("place of the log", "found", "nowhere")
        return replay.log

    monkeypatch.setattr(simulations, "align", placed)
    with pytest.raises(InvalidValueError, match="place of the log"):
        simulations.plan_simulations(replay, Stated(inputs={"friction": 0.05}), False)
