"""Events at an instant: link chains that are kept, two events at the same time, and their pictures."""

import json

import numpy as np
import pytest
from command_line import run

import segtrack
from segtrack.experiments import Assumptions, EventSetup, StepObstacle, run_beside, run_event
from segtrack.report import draw_instants, draw_loads

BRIEF = Assumptions(step_rest=0.2, stall_time=1.0, past=0.2)


def event_setup(height, track_model="compliant", speed=0.4):
    return EventSetup(
        "packbot",
        StepObstacle(height),
        speed=speed,
        engine="native",
        track_model=track_model,
        time_step=0.004,
        assumptions=BRIEF,
    )


def test_two_events_are_seen_at_the_largest_pitch_of_the_first():
    first, second = run_beside(event_setup(0.08), event_setup(0.04))
    pitch = first.result.motion["pitch"]
    assert first.result.passed and pitch[first.sample] == first.result.max_pitch > 0.1
    assert second.time == first.time == first.result.motion.times[first.sample]
    assert second.result.motion.times[second.sample] == pytest.approx(first.time, abs=0.01)
    assert first.chains is None and second.chains is None
    again = run_event(event_setup(0.04))
    assert np.array_equal(again.ridden.acceleration, second.result.ridden.acceleration)
    figure = draw_instants([first, second], ["a", "b"], columns=2)
    assert [axes.get_title("left") for axes in figure.axes] == ["a", "b"]  # No colour bars.
    spans = [np.ptp(axes.get_xlim()) for axes in figure.axes]
    assert spans[0] == pytest.approx(spans[1])


def test_an_event_that_ended_before_is_seen_at_its_end():
    first, second = run_beside(event_setup(0.08, speed=0.2), event_setup(0.01, speed=1.0))
    assert second.result.duration < first.time
    assert second.time == second.result.motion.times[-1]


@pytest.mark.slow
def test_chains_are_kept_where_the_vehicle_pitches_is_shaken_and_ends(tmp_path):
    """They are those that an observer reads then; what they exert on wheels is drawn beside a scale."""
    seen = {}

    def watch(now):
        seen[now.world.time] = {name: track.read_chain() for name, track in now.robot.tracks.items()}

    result = run_event(event_setup(0.3, "chain"), observer=watch)
    times = {name: float(chains.time[0]) for name, chains in result.chains.items()}
    assert not result.passed and list(times) == ["largest pitch", "largest acceleration", "end"]
    assert times["largest pitch"] == result.pitched_time and times["end"] == result.duration
    assert 0.0 <= times["largest acceleration"] - result.ridden.peak_time < 0.021
    for name, chains in result.chains.items():
        for track, (reading,) in chains.readings.items():
            expected = seen[times[name]][track]
            assert np.array_equal(reading.wheel_forces, expected.wheel_forces)
            assert np.array_equal(reading.ground_force, expected.ground_force)
    figure = draw_loads(result)
    assert len(figure.axes) == len(set(times.values())) + 2
    end = result.chains["end"]
    (right,) = end.readings["right"]
    greatest = np.linalg.norm(right.wheel_forces[:, [0, 2]], axis=1).max()
    words = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert f"{greatest:.3g}" in words
    first, second = run_beside(event_setup(0.3, "chain"), event_setup(0.04, "chain"))
    assert second.chains.time[0] == pytest.approx(first.time, abs=0.01)


def test_an_event_is_filmed_as_long_as_it_drives(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    given = ["event", "step", "packbot", "--height", "0.02", "--speed", "0.6", "--engine", "native"]
    given += ["--time-step", "0.004", "--record", "film.mp4", "--frame-rate", "5", "--frame-size", "96x64"]
    done = run(*given, "--json", folder=tmp_path)
    assert done.exit_code == 0 and "wrote film.mp4" in done.stderr
    driven = json.loads(done.stdout)["duration"] - segtrack.experiments.Assumptions().step_rest
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert frames == pytest.approx(5 * driven, abs=1)
