"""Phases of a climb against a climb in closed form, and against vehicles that climb in simulation."""

from dataclasses import replace

import numpy as np
import pytest
from rod_climb import RodClimb
from scipy.spatial.transform import Rotation

from segtrack.logs import Motion, Signal
from segtrack.logs.compare import CLIMB_PHASES, find_phases

RODS = (
    RodClimb(),
    RodClimb(height=0.1),
    RodClimb(height=0.05, ahead=-0.1),
    RodClimb(speed=0.5),
    RodClimb(ahead=0.12, length=0.8),
)


def begins(motion):
    return {phase.name: phase.begin for phase in find_phases(motion).phases}


@pytest.mark.parametrize("rod", RODS)
def test_phases_begin_where_the_closed_form_says(rod):
    assert begins(rod.motion()) == pytest.approx(rod.begin_of, abs=0.05)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rod", RODS)
def test_noise_of_a_third_of_a_degree_moves_no_phase_by_more_than_a_fifth_of_a_second(rod, seed):
    assert begins(rod.motion(noise=0.006, seed=seed)) == pytest.approx(rod.begin_of, abs=0.2)


def test_the_rate_and_lost_rows_do_not_matter():
    rod = RodClimb()
    for rate in (20.0, 200.0):
        motion = rod.motion(rate=rate)
        kept = np.random.default_rng(1).random(len(motion.signals["pitch"].times)) > 0.05
        lossy = Motion("m", {k: Signal(s.times[kept], s.values[kept]) for k, s in motion.signals.items()})
        assert begins(lossy) == pytest.approx(rod.begin_of, abs=0.06)


def test_an_orientation_will_do():
    rod, motion = RodClimb(), RodClimb().motion()
    pitch = motion.signals["pitch"]
    turns = Rotation.from_euler("Y", -pitch.values[:, None]).as_quat()
    signals = {k: s for k, s in motion.signals.items() if k not in ("pitch", "yaw")}
    turned = Motion("m", signals | {"orientation": Signal(pitch.times, turns)})
    assert begins(turned) == pytest.approx(rod.begin_of, abs=0.05)


@pytest.mark.parametrize("when", [RodClimb().touch + 1.0, RodClimb().over_the_edge + 1.0])
def test_a_pause_delays_what_comes_after_it_and_nothing_else(when):
    """On the edge, or while the nose lifts: the rise bends by the way of the belts, not by time."""
    rod, pause = RodClimb(), 4.0
    motion = rod.motion()
    times = motion.signals["pitch"].times
    stretched = np.sort(np.concatenate([times, times + pause]))
    stretched = np.unique(stretched.round(6))
    driven = np.where(stretched < when, stretched, np.maximum(when, stretched - pause))
    signals = {key: Signal(stretched, signal.at(driven)) for key, signal in motion.signals.items()}
    moving = np.where((stretched >= when) & (stretched <= when + pause), 0.0, rod.speed)
    signals |= {f"belt_speed.{side}": Signal(stretched, moving) for side in ("left", "right")}
    told = Signal(stretched, np.full(len(stretched), rod.speed))  # It stands although it is told to drive on.
    signals |= {f"belt_speed_command.{side}": told for side in ("left", "right")}
    expected = {name: t if t < when else t + pause for name, t in rod.begin_of.items()}
    assert begins(Motion("m", signals)) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("rod", [RodClimb(ahead=ahead) for ahead in (-0.05, 0.0, 0.05)])
def test_peak_and_time_to_crest_are_those_of_the_closed_form(rod):
    found = find_phases(rod.motion())
    assert found.rest == pytest.approx(0.0)
    assert found.peak == pytest.approx(rod.peak, abs=0.02)
    assert found.time_to_crest == pytest.approx(rod.begin_of["crest"] - rod.begin_of["nose lift"], abs=0.02)


def missing(motion):
    return dict(find_phases(motion).missing)


def test_flat_ground_has_one_phase():
    times = np.arange(0.0, 10.0, 0.02)
    pitch = np.where(times < 1.0, 0.0, 0.02 * np.sin(times - 1.0))
    found = find_phases(Motion("m", {"pitch": Signal(times, pitch)}))
    assert [(phase.name, phase.begin, phase.end) for phase in found.phases] == [
        ("drive", 0.0, pytest.approx(9.98))
    ]
    assert found.missing == dict.fromkeys(CLIMB_PHASES, "the pitch rises by 1.1 deg, less than a climb")


def test_noise_alone_is_no_climb():
    times = np.arange(0.0, 60.0, 0.02)
    pitch = 0.05 * np.random.default_rng(0).standard_normal(len(times))
    assert find_phases(Motion("m", {"pitch": Signal(times, pitch)})).find("nose lift") is None


def test_a_motion_without_pitch_has_one_phase():
    motion = Motion("bag", {"yaw": Signal(np.array([0.0, 5.0]), np.zeros(2))})
    assert missing(motion) == dict.fromkeys(CLIMB_PHASES, "bag has no pitch")


def test_a_vehicle_that_is_stuck_has_neither_pivot_nor_crest():
    rod = RodClimb()
    part = rod.motion().between(0.0, rod.over_the_edge + 0.5)
    assert missing(part) == dict.fromkeys(CLIMB_PHASES[2:], "the pitch does not come down again")


def test_a_vehicle_that_slides_back_has_not_crested():
    rod = RodClimb()
    motion = rod.motion()
    times = motion.signals["pitch"].times
    back = np.where(times < rod.tipping, times, np.maximum(rod.tipping - 10 * (times - rod.tipping), 0.0))
    fallen = Motion("m", {key: Signal(times, signal.at(back)) for key, signal in motion.signals.items()})
    assert missing(fallen) == dict.fromkeys(CLIMB_PHASES[2:], "it slides back")


@pytest.mark.parametrize("lift", [-10.0, 0.0, 10.0])
def test_a_climb_and_a_slide_back_are_told_apart_at_any_height(lift):
    rod = RodClimb()
    motion = rod.motion()
    position = motion.signals["position"]
    lifted = motion.with_signals({"position": replace(position, values=position.values + (0.0, 0.0, lift))})
    assert begins(lifted) == begins(motion)
    times = motion.signals["pitch"].times
    back = np.where(times < rod.tipping, times, np.maximum(rod.tipping - 10 * (times - rod.tipping), 0.0))
    fallen = Motion("m", {key: Signal(times, signal.at(back)) for key, signal in lifted.signals.items()})
    assert missing(fallen) == dict.fromkeys(CLIMB_PHASES[2:], "it slides back")


def test_a_log_that_begins_while_the_nose_falls_has_one_phase():
    rod = RodClimb()
    part = rod.motion().between(rod.tipping + 0.1, rod.level + 2.0)
    assert missing(part) == dict.fromkeys(CLIMB_PHASES, "it does not begin level")


def test_a_log_that_ends_on_the_edge_has_not_settled():
    rod = RodClimb()
    part = rod.motion().between(0.0, rod.tipping + 0.6 * rod.fall)
    assert missing(part) == {"settling": "it ends before the vehicle is level again"}


def test_a_rise_that_bends_nowhere_has_no_pivot():
    times = np.arange(0.0, 10.0, 0.02)
    pitch = np.interp(times, [0.0, 2.0, 6.0, 6.5, 10.0], [0.0, 0.0, 0.4, 0.0, 0.0])
    assert missing(Motion("m", {"pitch": Signal(times, pitch)})) == {
        "pivot": "the pitch rises evenly, so pivot is not told from nose lift"
    }


def test_a_sensor_that_is_mounted_askew_finds_the_same_phases():
    motion = RodClimb().motion()
    pitch = motion.signals["pitch"]
    askew = motion.with_signals({"pitch": replace(pitch, values=pitch.values + 0.05)})
    assert begins(askew) == pytest.approx(begins(motion), abs=1e-6)
