"""Fits to logs whose simulation is a closed form: values, intervals, what is not identifiable, resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_fit_doubles import STD, TRUTH, VEHICLE, climb, logged, simulate

pytest.importorskip("cmaes", reason="of an extra")

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import (
    DivergedError,
    FileAccessError,
    InvalidValueError,
    SegtrackError,
    UnknownNameError,
)
from segtrack.experiments import Workers
from segtrack.files import to_json
from segtrack.logs.fit import (
    PARAMETERS,
    Choice,
    Fit,
    LogFiles,
    MotionCase,
    Prior,
    advice_of,
    fit,
    unfitted_hash,
    with_parameters,
)
from segtrack.logs.fit.cases import LOST, Offsets, residuals_of
from segtrack.logs.fit.evaluate import LOSSES, Loss
from segtrack.logs.fit.result import SHOWN_BY
from segtrack.logs.fit.study import calibrated, write_vehicle
from segtrack.logs.fit.unknowns import CLOCK_OFFSET
from segtrack.report.logs import fit_outcome
from segtrack.robot import Motion, Signal

PROVENANCE = {
    "date": "2026-11-22",
    "version": "0.1.0",
    "vehicle": "quince.yaml",
    "vehicle_sha256": "0" * 64,
    "engine": "native",
    "track_model": "compliant",
}


@pytest.fixture(scope="module")
def fitted() -> Fit:
    """Friction, centre of mass and lag from two logs, a third one held out."""
    cases = [logged("low", 0.1, 1), logged("high", 0.22, 2), logged("between", 0.16, 3, held_out=True)]
    return fit(VEHICLE, cases, dict.fromkeys(TRUTH, Choice()))


def test_the_truth_is_found_from_elsewhere_and_within_the_stated_intervals(fitted: Fit) -> None:
    assert fitted.start is VEHICLE
    for estimate in fitted.estimates:
        low, high = estimate.interval
        assert low < TRUTH[estimate.name] < high
        # The covariance counts the samples within the loss's corner, of which chance gives 2 % more or less.
        assert high - low == pytest.approx(2 * fitted.uncertainty.quantile * estimate.std, rel=0.05)
        assert (estimate.status, estimate.at_bound, estimate.why) == ("identified", None, "")
        assert abs(estimate.unknown.start - TRUTH[estimate.name]) > 5 * estimate.std


def test_white_noise_of_the_stated_size_is_what_is_left(fitted: Fit) -> None:
    low, high, between = fitted.cases
    for case in (low, high, between):
        assert case.score.score == pytest.approx(1.0, abs=0.1)
        assert case.score_before.score > 2
    assert between.case.held_out
    # Of white noise Huber's loss makes 0.71 / 0.82 of it, and chance in some 600 rows a tenth more or less.
    assert ((fitted.uncertainty.dilution > 0.77) & (fitted.uncertainty.dilution < 1.5)).all()
    assert fitted.uncertainty.disagreement < 1.5


def test_profiles_and_covariance_of_squares_agree() -> None:
    cases = [logged("low", 0.1, 1), logged("high", 0.22, 2)]
    found = fit(VEHICLE, cases, dict.fromkeys(TRUTH, Choice()), loss="squares")
    for estimate in found.estimates:
        low, high = estimate.interval
        assert high - low == pytest.approx(2 * found.uncertainty.quantile * estimate.std, rel=0.03)


def toppling(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A nose that comes down within 8 ms once the belts have run far enough."""
    made, x = climb(vehicle, case.settings), vehicle.body.center_of_mass[0]
    travel = np.cumsum(made["belt"]) * 0.02 * (1 - 0.1 / PARAMETERS["friction"].value_of(vehicle))
    pitch = case.settings * (1 - np.tanh((travel - 0.25 + x) / 0.001))
    belt = Signal(made["times"], made["belt"])
    return Motion("toppling", {"pitch": Signal(made["times"], pitch), "belt_speed.left": belt})


def test_what_a_sudden_event_shows_sharply_is_not_lost_in_the_costs_own_shape() -> None:
    """A few thousandths of the bounds' distance put the event elsewhere: beyond, the cost is no parabola."""
    cases = []
    for i, height in enumerate((0.1, 0.22)):
        case = replace(logged(f"log {i}", height, i), simulate=toppling)
        pitch = toppling(with_parameters(VEHICLE, TRUTH), case, 0.0).signals["pitch"]
        noisy = pitch.values + np.random.default_rng(i).normal(0, 0.003, len(pitch.times))
        signals = {**case.motion.signals, "pitch": Signal(pitch.times, noisy, 0.003, "imu")}
        cases.append(replace(case, motion=Motion(case.name, signals)))
    for estimate in fit(VEHICLE, cases, dict.fromkeys(TRUTH, Choice())).estimates:
        assert estimate.status == "identified"
        assert estimate.interval[0] < TRUTH[estimate.name] < estimate.interval[1]


def spoilt(case: MotionCase) -> MotionCase:
    """A log of which one sample of ten is far off while the nose comes down."""
    signals = dict(case.motion.signals)
    pitch = signals["pitch"]
    down = (pitch.times > 3.0) & (pitch.times < 5.5) & (np.arange(len(pitch.times)) % 10 == 0)
    signals["pitch"] = replace(pitch, values=pitch.values + 0.4 * down)
    return replace(case, motion=replace(case.motion, signals=signals))


def test_a_fit_says_which_signals_tell_of_a_parameter_and_draws_what_is_left(
    fitted: Fit, tmp_path: Path
) -> None:
    """The belt shows the drive's lag, the pitch the rest; nothing else is open."""
    names = [estimate.name for estimate in fitted.estimates]
    assert list(fitted.information) == ["low", "high"]
    shares = sum(fitted.information.values())
    np.testing.assert_allclose(
        shares.sum(axis=0), 1.0, rtol=1e-3
    )  # The rest is what no unknown is looser than.
    assert shares[1, names.index("drive_lag")] > 0.3 and shares[1, names.index("com_x")] == 0.0
    outcome = fit_outcome(fitted)
    table = outcome.tables[2]
    assert table.title == "Which signals tell of a parameter" and list(table.columns[0].cells) == names
    assert "pitch of high" in list(table.columns[1].cells)[names.index("com_x")]
    assert advice_of(fitted) == {}
    axes = outcome.files["residuals.png"].axes
    lines = axes[0].get_lines()
    np.testing.assert_array_equal(
        lines[1].get_ydata(), fitted.cases[0].after[fitted.cases[0].case.rows.there[:, 0], 0]
    )
    assert {abs(line.get_ydata()[0]) for line in lines[3:]} == {fitted.corners["low"][0]}
    assert set(SHOWN_BY) == {*PARAMETERS, CLOCK_OFFSET}


def test_a_few_samples_that_are_far_off_mislead_squares_and_not_the_default() -> None:
    cases = [spoilt(logged("low", 0.1, 1)), spoilt(logged("high", 0.22, 2))]
    choices = dict.fromkeys(("friction", "com_x"), Choice())
    truth = {"friction": TRUTH["friction"], "com_x": TRUTH["com_x"]}
    cases = [replace(case, signals={"pitch": None}) for case in cases]
    base = with_parameters(VEHICLE, {"drive_lag": TRUTH["drive_lag"]})
    robust, squares = (fit(base, cases, choices, loss=loss) for loss in LOSSES)
    for estimate, pulled in zip(robust.estimates, squares.estimates, strict=True):
        assert estimate.interval[0] < truth[estimate.name] < estimate.interval[1]
        off = [abs(each.value - truth[estimate.name]) for each in (estimate, pulled)]
        assert 3 * off[0] < off[1]
        assert estimate.std < pulled.std / 2


def test_a_loss_that_there_is_not_is_refused_and_one_is_not_resumed_with_another(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no loss of a fit 'student'; there are: huber, squares"):
        fit(VEHICLE, [one_log()], {"com_x": Choice()}, loss="student")  # type: ignore[arg-type]
    given: dict[str, Any] = {"folder": tmp_path}
    fit(VEHICLE, [one_log()], {"com_x": Choice()}, **given)
    with pytest.raises(InvalidValueError, match="loss must be huber as when the fit of"):
        fit(VEHICLE, [one_log()], {"com_x": Choice()}, **given, resume=True, loss="squares")


def test_both_runs_of_the_search_come_to_the_same_place(fitted: Fit) -> None:
    first, second = fitted.runs
    assert first.cost <= second.cost < 1.02 * first.cost


def test_a_fitted_vehicle_says_to_what_it_was_fitted(fitted: Fit, tmp_path: Path) -> None:
    vehicle = load_vehicle(write_vehicle(tmp_path / "fitted.yaml", calibrated(fitted, PROVENANCE)))
    assert vehicle == calibrated(fitted, PROVENANCE)
    calibration = vehicle.calibration
    assert list(calibration.logs) == ["low", "high"] and list(calibration.held_out) == ["between"]
    assert calibration.held_out["between"].score == fitted.cases[2].score.score
    assert calibration.parameters["friction"].value == vehicle.tracks["left"].contact.friction
    assert calibration.parameters["com_x"].unit == "m" and calibration.others["mass"] == 20.8
    assert set(calibration.others).isdisjoint(calibration.parameters)
    fitted_values = {name: parameter.value for name, parameter in calibration.parameters.items()}
    assert calibration.unfitted_sha256 == unfitted_hash(vehicle, fitted_values)
    assert vehicle.source.endswith("; friction, com_x, drive_lag fitted by segtrack log fit to low, high")


def test_a_vehicle_that_is_fitted_again_keeps_what_it_was_fitted_to_before(fitted: Fit) -> None:
    before = calibrated(fitted, PROVENANCE)
    case = logged("low", 0.13, 5)
    case = replace(case, files=LogFiles("other.csv", "1" * 64))
    again = fit(before, [case], {"drive_lag": Choice()})
    calibration = calibrated(again, PROVENANCE).calibration
    assert list(calibration.parameters) == ["friction", "com_x", "drive_lag"]
    assert calibration.parameters["friction"] == before.calibration.parameters["friction"]
    assert calibration.parameters["drive_lag"].value == again.values["drive_lag"]
    files = {name: log.file for name, log in calibration.logs.items()}
    assert files == {"low": "other.csv", "low (2)": "none", "high": "none"}
    assert calibration.logs["high"] == before.calibration.logs["high"]


def test_a_fit_of_clocks_alone_leaves_the_vehicle_as_it_was() -> None:
    found = fit(VEHICLE, [logged("a", 0.2, 1, truth={"com_x": -0.05})], {"clock_offset": Choice()})
    assert calibrated(found, PROVENANCE) == VEHICLE


def test_a_fit_is_told_as_json(fitted: Fit) -> None:
    summary = fitted.summary()
    to_json(summary)
    assert [parameter["name"] for parameter in summary["parameters"]] == list(TRUTH)
    assert summary["cases"][0]["units"] == {"pitch": "rad", "belt_speed.left": "m/s"}


def test_what_no_log_shows_is_not_identifiable_and_its_interval_is_the_bounds(tmp_path: Path) -> None:
    case = logged("a", 0.2, 1, truth={"com_x": -0.03})
    found = fit(VEHICLE, [case], {"com_x": Choice(), "com_z": Choice()})
    x, z = found.estimates
    assert x.status == "identified"
    assert z.status == "not identifiable"
    assert z.interval == pytest.approx((z.unknown.low, z.unknown.high))
    assert z.std is None and z.summary()["std"] is None
    assert found.remarks == (f"com_z was left as it was, {z.unknown.start:.4g} m: {z.why}",)
    written = calibrated(found, PROVENANCE)
    assert list(written.calibration.parameters) == ["com_x"]
    assert written.body.center_of_mass[0] == pytest.approx(-0.03, abs=0.01)
    assert (
        written.body.center_of_mass[2]
        == VEHICLE.body.center_of_mass[2]
        != found.vehicle.body.center_of_mass[2]
    )
    assert found.cases[0].score_written.score == pytest.approx(
        found.cases[0].score.score
    )  # It shows nothing of it.
    path = write_vehicle(tmp_path / "fitted.yaml", written, found.remarks)
    assert path.read_text().startswith(f"# {found.remarks[0]}\n") and load_vehicle(path) == written
    assert advice_of(found) == {"com_z": SHOWN_BY["com_z"]}
    assert "as written" in [column.header for column in fit_outcome(found).tables[1].columns]
    assert z.why == "it changes what the logs show less than noise and what the model gets wrong"
    assert [list(combination.parts) for combination in found.undetermined] == [["com_z"]]


def of_a_sum(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A pitch that depends on the height and the forward place of the centre of mass by their sum alone."""
    x, _, z = vehicle.body.center_of_mass
    times = np.arange(0.0, 5.0, 0.05)
    return Motion("sum", {"pitch": Signal(times, (x + z) * np.sin(times), 0.01)})


def test_of_two_that_do_the_same_only_the_sum_is_determined() -> None:
    noise = np.random.default_rng(1).normal(0, 0.001, 100)
    motion = of_a_sum(VEHICLE, None, 0.0)
    logged_pitch = Signal(motion.signals["pitch"].times, motion.signals["pitch"].values + noise, 0.001)
    case = MotionCase("a", Motion("a", {"pitch": logged_pitch}), {"pitch": None}, of_a_sum)
    bounds = Choice((-0.1, 0.1))
    found = fit(VEHICLE, [case], {"com_x": bounds, "com_z": bounds})
    # The best fit is anywhere along the line of equal sums, be it at an end: one is then bounded to a side.
    assert not any(estimate.is_bounded for estimate in found.estimates)
    assert found.estimates[0].why == "it can change together with com_z without the logs telling"
    (loose,), (firm,) = found.undetermined, found.determined
    assert loose.parts["com_x"] == pytest.approx(-loose.parts["com_z"], rel=1e-3)
    assert firm.parts == pytest.approx({"com_x": 0.5**0.5, "com_z": 0.5**0.5}, rel=1e-3)
    assert loose.std > 100 and firm.std < 0.01
    x, _, z = found.vehicle.body.center_of_mass
    assert x + z == pytest.approx(-0.05, abs=0.001)


def test_a_prior_decides_what_the_logs_leave_open() -> None:
    choices = {"com_x": Choice((-0.1, 0.1)), "com_z": Choice((-0.1, 0.1), Prior(0.02, 0.005))}
    motion = of_a_sum(VEHICLE, None, 0.0)
    found = fit(VEHICLE, [MotionCase("a", motion, {"pitch": None}, of_a_sum)], choices)
    x, z = found.estimates
    assert z.value == pytest.approx(0.02, abs=1e-4) and z.std == pytest.approx(0.005, rel=0.05)
    assert x.value == pytest.approx(-0.07, abs=1e-4) and x.std == pytest.approx(0.005, rel=0.05)
    assert z.status == x.status == "identified"


@pytest.mark.parametrize(("loss", "status"), [("squares", "bounded below"), ("huber", "not identifiable")])
def test_a_bound_that_leaves_the_truth_out_is_run_into_and_said(loss: Loss, status: str) -> None:
    """The climb alone tells of the centre of mass, and is what is far off: Huber's loss has little left."""
    found = fit(VEHICLE, [logged("a", 0.2, 1)], {"com_x": Choice((-0.09, -0.04))}, loss=loss)
    (estimate,) = found.estimates
    assert estimate.at_bound == "upper" and estimate.value == pytest.approx(-0.04, abs=1e-3)
    assert estimate.interval[1] == -0.04
    assert estimate.status == status
    ran = "the best fit ran into the upper bound"
    assert estimate.why == f"{ran}; 3.2 standard deviations are left over, for which it makes up too"


def of_two(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A pitch to which both places of the centre of mass add a wave, each its own."""
    x, _, z = vehicle.body.center_of_mass
    times = np.arange(0.0, 15.0, 0.05)
    return Motion("two", {"pitch": Signal(times, x * np.sin(times) + z * np.sin(2 * times + 1), 0.01)})


def test_an_unknown_at_its_bound_does_not_keep_others_from_being_identified() -> None:
    made = of_two(VEHICLE, None, 0.0).signals["pitch"]
    above = 0.005 * np.sin(2 * made.times + 1)
    pitch = made.values + above + np.random.default_rng(1).normal(0, 0.02, len(made.times))
    case = MotionCase("a", Motion("a", {"pitch": Signal(made.times, pitch, 0.02)}), {"pitch": None}, of_two)
    found = fit(VEHICLE, [case], {"com_x": Choice((-0.1, 0.1)), "com_z": Choice((-0.05, 0.0))})
    first, second = found.estimates
    assert second.at_bound == "upper"
    assert (first.status, first.why) == ("identified", "")
    assert first.interval[0] < VEHICLE.body.center_of_mass[0] < first.interval[1]
    assert first.interval[1] - first.interval[0] == pytest.approx(4 * first.std, rel=0.2)


def test_where_the_model_is_seen_to_be_wrong_no_value_counts_as_identified() -> None:
    """The log's nose rises half as much again as the model's."""
    found = fit(VEHICLE, [logged("a", 0.2, 1, gain=1.5)], {"com_x": Choice(), "drive_lag": Choice()})
    assert found.misfit > 1.5
    for estimate in found.estimates:
        assert estimate.status != "identified"
        assert estimate.why.endswith("standard deviations are left over, for which it makes up too")


def test_a_clock_offset_is_found_where_two_sources_have_two_clocks() -> None:
    cases = [logged("a", 0.2, 1, clock_offset=0.37, truth=TRUTH | {"com_x": -0.05})]
    found = fit(VEHICLE, cases, {"clock_offset": Choice(), "drive_lag": Choice(), "friction": Choice()})
    offset = found.estimates[0]
    assert offset.name == "clock_offset.a"
    assert offset.interval[0] < 0.37 < offset.interval[1] and offset.std < 0.011
    assert found.cases[0].offsets.clock == offset.value
    assert "clock_offset.a" not in calibrated(found, PROVENANCE).calibration.parameters


def test_a_fit_in_which_a_log_diverges_everywhere_says_so() -> None:
    log = logged("b", 0.1, 1)
    bad = MotionCase("b", log.motion, log.signals, always_diverging, log.settings)
    found = fit(VEHICLE, [logged("a", 0.2, 1, truth={"com_x": -0.02}), bad], {"com_x": Choice()})
    (estimate,) = found.estimates
    assert found.misfit is None and found.summary()["misfit"] is None
    assert estimate.status != "identified" and estimate.why.endswith("a simulation diverged")
    assert calibrated(found, PROVENANCE).calibration.misfit is None


def always_diverging(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A simulation that breaks down."""
    raise DivergedError("quince", 1.0, "too fast")


@pytest.mark.parametrize(("offset", "gone"), [(0.0, []), (0.3, [-1]), (-0.3, [0])])
def test_what_an_offset_puts_beyond_the_simulation_has_no_residual(offset: float, gone: list[int]) -> None:
    """The log's pitch is 1 rad off, so that each residual is about 100."""
    log = logged("a", 0.2, 1)
    pitch = log.motion.signals["pitch"]
    signals = {**log.motion.signals, "pitch": replace(pitch, values=pitch.values + 1.0)}
    case = replace(log, motion=Motion("a", signals))
    residuals = residuals_of(case, VEHICLE, Offsets(clock=offset))
    none = np.flatnonzero(residuals[:, 0] == 0)
    assert len(none) == len(gone) * 6
    assert all(residuals[i, 0] == 0 for i in gone)
    assert (residuals[:, 1] != 0).any()


class Countdown:
    """Ctrl-C in the middle of a fit: after so many simulations."""

    left = -1


def interrupted(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """The closed form, until the countdown is over."""
    Countdown.left -= 1
    if Countdown.left == 0:
        raise KeyboardInterrupt
    return simulate(vehicle, case, place)


def one_log() -> MotionCase:
    log = logged("a", 0.2, 1, truth={"com_x": -0.02})
    return MotionCase("a", log.motion, log.signals, interrupted, log.settings, log.driving)


def test_an_interrupted_fit_has_the_best_so_far_and_goes_on_to_the_same_end_to_the_bit(
    tmp_path: Path,
) -> None:
    choices = {"com_x": Choice(), "drive_lag": Choice()}
    whole = fit(VEHICLE, [one_log()], choices, folder=tmp_path / "whole")
    counts = []
    for stop in (40, 100, 60):
        Countdown.left = stop
        found = fit(VEHICLE, [one_log()], choices, folder=tmp_path / "parts", resume=bool(counts))
        counts.append(found.simulations)
        assert not found.finished and found.estimates == ()
        assert found.cases[0].score.score < found.cases[0].score_before.score
        best = load_vehicle(write_vehicle(tmp_path / "best.yaml", calibrated(found, PROVENANCE)))
        assert best.calibration.interrupted and list(best.calibration.logs) == ["a"]
        lag = best.calibration.parameters["drive_lag"]
        assert (lag.value, lag.std, lag.interval, lag.identified) == (
            found.values["drive_lag"],
            None,
            None,
            False,
        )
        assert best.source.endswith("; com_x, drive_lag of an interrupted segtrack log fit to a")
    Countdown.left = -1
    resumed = fit(VEHICLE, [one_log()], choices, folder=tmp_path / "parts", resume=True)
    assert counts == sorted(counts)
    assert resumed.summary() == whole.summary()


def moved(motion: Motion, later: float) -> Motion:
    """A motion on a clock that is ahead."""
    signals = {key: replace(signal, times=signal.times + later) for key, signal in motion.signals.items()}
    return Motion(motion.name, signals)


def test_a_fit_does_not_begin_where_there_is_one(tmp_path: Path) -> None:
    Countdown.left = 5
    fit(VEHICLE, [one_log()], {"com_x": Choice()}, folder=tmp_path)
    before = (tmp_path / "state.sqlite").read_bytes()
    with pytest.raises(FileAccessError) as error:
        fit(VEHICLE, [one_log()], {"com_x": Choice()}, folder=tmp_path)
    reason = "there is one already, in state.sqlite; go on with it by --resume, or give another --out"
    assert str(error.value) == f"cannot begin a fit in {tmp_path}: {reason}"
    assert (tmp_path / "state.sqlite").read_bytes() == before


def test_a_fit_is_resumed_for_the_same_problem_alone(tmp_path: Path) -> None:
    Countdown.left = 5
    within = Choice((-0.1, 0.05))
    fit(VEHICLE, [one_log()], {"com_x": within}, folder=tmp_path)
    state = tmp_path / "state.sqlite"
    began = f"when the fit of {state} began"
    later = replace(one_log(), motion=moved(one_log().motion, 0.01))
    changes: list[tuple[dict[str, Any], str]] = [
        ({"seed": 2}, f"seed must be 1 as {began}, got 2"),
        ({"problem": {"terrain": "x"}}, f"terrain must be what it was {began}, got something else"),
        (
            {"choices": {"com_x": within, "com_z": Choice()}},
            f"parameters must be com_x as {began}, got com_x, com_z",
        ),
        (
            {"choices": {"com_x": Choice((-0.2, 0.1))}},
            f"bounds of com_x must be -0.1, 0.05 as {began}, got -0.2, 0.1",
        ),
        ({"cases": [later]}, f"motion of a must be what it was {began}, got something else"),
        (
            {"cases": [replace(one_log(), driving=())]},
            f"driving of a must be what it was {began}, got something else",
        ),
        ({"cases": [replace(one_log(), settings=0.3)]}, f"settings of a must be 0.2 as {began}, got 0.3"),
        (
            {"cases": [replace(one_log(), files=LogFiles("b.csv", "1" * 64))]},
            f"files of a must be what it was {began}, got something else",
        ),
        (
            {"cases": [replace(one_log(), shifts={"pitch": 0.1})]},
            f"shifts of a must be what it was {began}, got something else",
        ),
    ]
    for changed, expected in changes:
        asked = {"cases": [one_log()], "choices": {"com_x": within}} | changed
        with pytest.raises(SegtrackError) as error:
            fit(VEHICLE, folder=tmp_path, resume=True, **asked)
        assert str(error.value) == expected
    with pytest.raises(FileAccessError) as missing:
        fit(VEHICLE, [one_log()], {"com_x": Choice()}, folder=tmp_path / "none", resume=True)
    assert str(missing.value) == f"cannot resume from {tmp_path / 'none' / 'state.sqlite'}: no such file"


def diverging(vehicle: VehicleDescription, case: MotionCase, place: float) -> Motion:
    """A simulation that breaks down where the centre of mass is far back."""
    if vehicle.body.center_of_mass[0] < -0.1:
        raise DivergedError("quince", 1.0, "too fast")
    return simulate(vehicle, case, place)


def test_simulations_that_diverge_are_as_bad_as_can_be_and_do_not_end_a_fit() -> None:
    log = logged("a", 0.2, 1, truth={"com_x": -0.02})
    case = MotionCase("a", log.motion, log.signals, diverging, log.settings)
    back = VEHICLE.model_copy(
        update={"body": VEHICLE.body.model_copy(update={"center_of_mass": (-0.15, 0, 0)})}
    )
    assert (residuals_of(case, back) == LOST).all()
    found = fit(back, [case], {"com_x": Choice()})
    (estimate,) = found.estimates
    summary = found.cases[0].summary()
    assert (summary["diverged_before"], summary["diverged"]) == (True, False)
    assert summary["score_before"] is None
    assert summary["rmse_before"] == {"pitch": None, "belt_speed.left": None}
    assert summary["score"] == pytest.approx(1.0, abs=0.1)
    logs = calibrated(found, PROVENANCE).calibration.logs
    assert logs["a"].score_before is None and logs["a"].score == summary["score"]
    outcome = fit_outcome(found)
    _, table, _ = outcome.tables
    assert list(table.columns[2].cells) == ["diverged"]
    axes = outcome.files["fit.png"].axes[0]
    assert [line.get_label() for line in axes.lines] == ["logged", "fitted"]
    assert estimate.interval[0] < -0.02 < estimate.interval[1]


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([], "logs must be at least one that is not held out, got none"),
        ([logged("a", 0.1, 1, held_out=True)], "logs must be at least one that is not held out, got a"),
        ([logged("a", 0.1, 1), logged("a", 0.1, 2)], "names of logs must be unique, got a, a"),
        (
            [logged("a", 0.1, 1, signals=("belt_speed.left",))],
            "clock offset of a must be of signals that another source measured than the belts, "
            "got one source",
        ),
    ],
)
def test_logs_that_cannot_be_fitted_are_refused(cases: list[MotionCase], message: str) -> None:
    with pytest.raises(SegtrackError) as error:
        fit(VEHICLE, cases, {"clock_offset": Choice()})
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("signals", "message"),
    [
        ({}, "signals of a must be one or more, got none"),
        ({"pich": None}, "no quantity 'pich'; there are: "),
        ({"yaw": None}, "no signal of log 'yaw'; there are: pitch, orientation, velocity"),
        ({"velocity": None}, "standard deviation of signal velocity of a must be given, above 0, got none"),
        ({"pitch": 0.0}, "standard deviation of signal pitch of a must be given, above 0, got 0.0"),
        ({"orientation": 0.1}, "signals of a must be roll, pitch and yaw instead, got orientation"),
    ],
)
def test_signals_that_cannot_be_compared_are_refused(signals: dict[str, float | None], message: str) -> None:
    times = np.arange(3.0)
    kept = {
        "pitch": Signal(times, times, 0.1),
        "orientation": Signal(times, np.tile([0.0, 0.0, 0.0, 1.0], (3, 1))),
        "velocity": Signal(times, np.zeros((3, 3))),
    }
    if "yaw" in signals:
        kept = {name: kept[name] for name in ("pitch", "velocity")}
        message = "no signal of log 'yaw'; there are: pitch, velocity"
    with pytest.raises(SegtrackError) as error:
        MotionCase("a", Motion("log", kept), signals, simulate)
    assert str(error.value).startswith(message)


def test_what_a_log_says_does_not_depend_on_its_rate() -> None:
    """The sum of squares is that of all samples, less what they scatter within a window."""
    made, noise = climb(VEHICLE, 0.2), np.random.default_rng(1)
    times = np.arange(0.0, 9.9, 0.001)
    pitch = np.interp(times, made["times"], made["pitch"]) + noise.normal(0, 0.01, len(times))
    motion = Motion("fast", {"pitch": Signal(times, pitch, 0.01)})
    case = MotionCase("fast", motion, {"pitch": None}, simulate, 0.2)
    residuals = residuals_of(case, VEHICLE)
    assert len(residuals) == 198
    assert residuals.std() == pytest.approx(1.0, abs=0.1)
    assert case.rows.std[0, 0] == pytest.approx(0.01 / 50**0.5)


def test_gaps_have_no_residuals() -> None:
    times = np.concatenate([np.arange(0, 2, 0.02), np.arange(8, 9.9, 0.02)])
    made = climb(VEHICLE, 0.2)
    pitch = np.interp(times, made["times"], made["pitch"]) + 0.02
    case = MotionCase(
        "gap", Motion("gap", {"pitch": Signal(times, pitch, 0.01)}), {"pitch": None}, simulate, 0.2
    )
    residuals = residuals_of(case, VEHICLE)[:, 0]
    assert (residuals[45:155] == 0).all()
    assert residuals[:35] == pytest.approx(np.full(35, -2 * 2.5**0.5), rel=0.15)


@pytest.mark.slow
def test_processes_change_nothing(fitted: Fit) -> None:
    cases = [case.case for case in fitted.cases]
    with Workers(2) as pool:
        other = fit(VEHICLE, cases, dict.fromkeys(TRUTH, Choice()), pool=pool)
    assert other.summary() == fitted.summary()


@pytest.mark.slow
def test_the_truth_is_within_the_stated_intervals_for_nearly_all_seeds() -> None:
    """At 95 %, of 300 intervals about 285; three or more standard deviations below are 271."""
    inside = 0
    for seed in range(100):
        cases = [logged(f"log {i}", height, 10 * seed + i) for i, height in enumerate((0.1, 0.16, 0.22))]
        found = fit(VEHICLE, cases, dict.fromkeys(TRUTH, Choice()), seed=seed)
        inside += sum(e.interval[0] <= TRUTH[e.name] <= e.interval[1] for e in found.estimates)
    assert 271 <= inside <= 299


@pytest.mark.slow
def test_a_model_that_is_wrong_alike_in_all_logs_has_wider_intervals_that_hold_the_truth() -> None:
    """The logs' nose rises by a fifth more than the model's: nothing that is fitted can do that."""
    inside = 0
    for seed in range(20):
        cases = [logged(f"log {i}", h, 10 * seed + i, gain=1.2) for i, h in enumerate((0.1, 0.16, 0.22))]
        found = fit(VEHICLE, cases, dict.fromkeys(TRUTH, Choice()), seed=seed)
        assert (found.uncertainty.dilution > 2).all()
        inside += sum(e.interval[0] <= TRUTH[e.name] <= e.interval[1] for e in found.estimates)
    assert inside >= 54


def test_stds_are_those_of_the_doubles() -> None:
    assert {key: logged("a", 0.1, 1).motion.signals[key].std for key in STD} == STD


def test_bounds_that_the_vehicle_cannot_have_are_refused_before_anything_is_simulated() -> None:
    """Trapezoidal's pulleys half as large again would overlap."""
    case = replace(logged("a", 0.2, 1), simulate=of_a_sum)
    with pytest.raises(InvalidValueError) as error:
        fit(load_vehicle("trapezoidal"), [case], {"pulley_radius": Choice()})
    assert str(error.value).startswith(
        "bounds of pulley_radius must be ones that the vehicle can have, give "
    )
    assert "0.09 m: track left of trapezoidal with pulleys 1.5 times as large" in str(error.value)
