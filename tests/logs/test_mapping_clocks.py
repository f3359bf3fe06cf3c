"""Clocks of mapped logs: headers, offsets, and sources and files that are put on another's."""

import ast

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, channel, constant, log_of, mapped, refused, swaying
from scipy.spatial.transform import Rotation

from segtrack.logs.mapping import map_log, parse_mapping


def test_times_can_be_a_channels():
    log = log_of(channel("a", TIMES, "rad"), channel("ms", 1000 * TIMES), channel("row", np.arange(COUNT)))
    more = "sources: {log.csv: {time: ms, unit: ms}}"
    result = mapped(log, "  yaw: {channel: a}", more)
    assert result.begin == pytest.approx(100.0)
    assert result.origins["yaw"].clock == "ms, in ms"
    assert result.notes[:1] == ("log.csv: its times are ms, in ms",)


def test_a_headers_clock_is_put_on_that_of_receiving():
    """As a device's that counts its uptime and runs 5 % slow, with messages that come late."""
    rng = np.random.default_rng(0)
    stamps = 1551.0 + np.arange(0, 10, 0.02)
    received = np.maximum.accumulate(1.7e9 + 1.053 * (stamps - 1551) + rng.exponential(0.003, 500))
    log = log_of(channel("/imu.w", np.zeros((500, 3)), "rad/s", received, "/imu", stamps))
    result = mapped(log, "  angular_velocity: {channels: /imu.w}")
    assert np.diff(result.motion.signals["angular_velocity"].times) == pytest.approx(0.02106, abs=1e-4)
    assert result.clocks[0].skew.holds(0.053)
    by_receiving = mapped(log, "  angular_velocity: {channels: /imu.w}", "sources: {/imu: {clock: receive}}")
    assert by_receiving.clocks == ()
    assert by_receiving.origins["angular_velocity"].clock == "receive"


def test_headers_that_show_no_clock_are_not_used_unless_that_is_asked_for():
    stamps = TIMES.copy()
    stamps[30:] -= 7.0
    log = log_of(channel("/a.x", constant(0), "rad", TIMES, "/a", stamps))
    backwards = "run backwards: by 6.95 s at row 30, from 101.45 s"
    assert mapped(log, "  yaw: {channel: /a.x}").notes == (
        f"/a: times of receiving are used, since those of its headers {backwards}",
    )
    assert refused(log, "  yaw: {channel: /a.x}", "sources: {/a: {clock: header}}") == (
        f"m.yaml:1: sources./a has times that {backwards}; the clock of receiving may not; the clock starts "
        "again at row 30, as with a second drive: take drives apart with split by a channel, or as files "
        "of their own"
    )


def test_an_offset_and_a_skew_can_be_said():
    late = TIMES[0] + (TIMES - TIMES[0]) / 1.01 - 50
    log = log_of(channel("a", TIMES, "rad", late, "a"), channel("b", TIMES, "rad", TIMES, "b"))
    said = "  yaw: {channel: a}\n  roll: {channel: b}"
    signals = mapped(log, said, "sources: {a: {offset: 50, skew: 0.01}}").motion.signals
    assert signals["yaw"].at(signals["roll"].times) == pytest.approx(signals["roll"].values, abs=0.01)


@pytest.mark.parametrize(("step", "is_noted"), [(0.02, False), (0.08, True)])
def test_a_headers_clock_that_is_uneven_is_noted(step, is_noted):
    """A clock that is set in the middle is off a line by up to half of that."""
    stamps = np.arange(400) / 50
    received = stamps + np.where(stamps < 4.0, 0.0, step)
    log = log_of(channel("/a.x", np.zeros(400), "rad", received, "/a", stamps))
    result = mapped(log, "  yaw: {channel: /a.x}")
    assert any("its header's clock is not even" in note for note in result.notes) == is_noted
    assert 0.25 * step < result.clocks[0].unevenness < 0.75 * step


def two_devices(is_moving=True):
    """A pose, and a robot's belts on a clock of their own, 50 s early; the robot has a yaw, too."""
    rng = np.random.default_rng(0)
    since = np.arange(0.5, 9.5, 0.02)
    seen = since if is_moving else 0 * since
    yaw = swaying(seen).as_euler("ZYX")[:, 0]
    own = [
        channel("left", constant(0.1), "m/s"),
        channel("right", constant(0.1), "m/s"),
    ]
    return log_of(
        *own,
        channel(
            "heading", np.degrees(-swaying(TIMES - 100 if is_moving else 0 * TIMES).as_euler("ZYX")[:, 0])
        ),
        channel("mocap: q", swaying(seen).as_quat(), "-", 150 + since, "mocap"),
        channel("mocap: yaw", yaw + rng.normal(0, 1e-3, len(yaw)), "rad", 150 + since, "mocap"),
    )


SEEN = (
    "sources: {log.csv: {align: mocap, by: yaw, sees: {yaw: {channel: heading, unit: deg, positive: right}}}}"
)
BOTH = "  belt_speed: {left: left, right: right}\n  yaw: {channel: 'mocap: yaw'}"


def test_a_source_is_put_on_the_clock_of_another_by_what_it_sees_besides():
    result = mapped(two_devices(), BOTH, SEEN)
    fit = result.clocks[0]
    assert (fit.source, fit.reference, fit.by) == ("log.csv", "mocap", "yaw")
    assert fit.offset.value == pytest.approx(50.0, abs=0.02)
    assert result.motion.signals["belt_speed.left"].times[0] == pytest.approx(150.0 - result.begin, abs=0.02)
    assert result.record()["clocks"][0]["by"] == "yaw"


@pytest.mark.parametrize("is_used", [True, False], ids=["used", "for its clock alone"])
def test_a_source_follows_the_offset_of_the_one_that_it_is_aligned_to(is_used):
    """In whatever order the mapping file has them."""
    moved, yaw = "mocap: {offset: 5", "yaw: {channel: 'mocap: yaw'}"
    said = BOTH if is_used else BOTH.replace(yaw, "orientation: {channels: 'mocap: q'}")
    moved += "}" if is_used else f", sees: {{{yaw}}}}}"
    head, aligned = SEEN.removesuffix("}").split("{", 1)
    begins = []
    for order in ((aligned, moved), (moved, aligned)):
        result = mapped(two_devices(), said, f"{head}{{{', '.join(order)}}}")
        assert result.clocks[0].offset.value == pytest.approx(55.0, abs=0.02)
        begins.append(result.motion.signals["belt_speed.left"].times[0] + result.begin)
    assert begins == pytest.approx([155.0, 155.0], abs=0.02)


def test_a_clock_that_the_motion_does_not_show_is_refused_where_it_is_asked_for():
    assert refused(two_devices(is_moving=False), BOTH, SEEN) == (
        "m.yaml:1: sources.log.csv.align cannot be done: the clock of log.csv cannot be put on that "
        "of mocap: by yaw: "
        "the peak is flat: what both see varies too little, or is not the same (the best correlation "
        "is 0.00, at "
        "least 0.6 is needed)"
    )


def tumbling(times):
    """About all axes, so that rates show the whole of how a sensor sits."""
    angles = [0.4 * np.sin(0.8 * times), 0.3 * np.sin(1.3 * times), 0.3 * np.sin(1.7 * times + 1)]
    return Rotation.from_euler("ZYX", np.stack(angles, 1))


def a_turned_gyroscope_beside_a_mocap(attitude_at=swaying, noise=0.002):
    """A gyroscope that is turned by a quarter about z, with a bias and noise, and an attitude with noise."""
    rng = np.random.default_rng(0)
    turned = Rotation.from_euler("Z", np.pi / 2)
    times, seen = np.arange(0.5, 9.5, 0.02), np.arange(0.0, 10.0, 0.005)
    spins = (attitude_at(seen - 0.002).inv() * attitude_at(seen + 0.002)).as_rotvec() / 0.004
    spins = turned.inv().apply(spins) + [0.05, -0.04, 0.03] + rng.normal(0, 0.005, spins.shape)
    attitude = attitude_at(times) * Rotation.from_rotvec(rng.normal(0, noise, (len(times), 3)))
    return log_of(
        channel("q", attitude.as_quat(), "-", times, "mocap"), channel("w", spins, "rad/s", seen, "imu")
    )


GYROSCOPE = (
    "  orientation: {channels: q}\n  angular_velocity: {channels: w, sensor: gyro, bias: [0.05, 0, 0]}"
)


@pytest.mark.parametrize(("one", "other"), [("imu", "mocap"), ("mocap", "imu")])
def test_a_bias_is_noted_of_the_gyroscope_whichever_is_aligned(one, other):
    """Beyond what the mapping takes off, in the frame of the gyroscope."""
    log = a_turned_gyroscope_beside_a_mocap()
    more = f"sensors: {{gyro: {{rpy: [0, 0, 1.5707963]}}}}\nsources: {{{one}: {{align: {other}}}}}"
    result = mapped(log, GYROSCOPE, more)
    assert result.clocks[0].biased == "imu"
    (note,) = [note for note in result.notes if "bias" in note]
    name, _, numbers = note.partition(": its rates have a bias: bias: ")
    assert name == "imu"
    assert ast.literal_eval(numbers) == pytest.approx([0.05, -0.04, 0.03], abs=0.003)
    known = mapped(log, GYROSCOPE.replace("[0.05, 0, 0]", "[0.05, -0.04, 0.03]"), more)
    assert not [note for note in known.notes if "bias" in note or "turned against" in note]


def test_a_sensor_that_is_turned_otherwise_than_said_is_noted():
    more = "sensors: {gyro: {rpy: [0, 0, 1.4]}}\nsources: {imu: {align: mocap}}"
    result = mapped(a_turned_gyroscope_beside_a_mocap(tumbling), GYROSCOPE, more)
    (note,) = [note for note in result.notes if "turned against" in note]
    assert note.startswith("imu and mocap: by rates they are turned against each other by 9.")
    own, _, other = note.partition(" of imu's sensor, or rpy: ")
    numbers = ast.literal_eval(own.partition("rpy: ")[2])
    assert numbers == pytest.approx([0.0, 0.0, np.pi / 2], abs=0.01)
    turned = ast.literal_eval(other.removesuffix(" of mocap's"))
    assert turned == pytest.approx([0.0, 0.0, 1.4 - np.pi / 2], abs=0.01)


@pytest.mark.parametrize(("off", "is_noted"), [(0.4, False), (0.7, True)])
def test_a_sensor_that_is_turned_by_less_than_half_a_degree_is_not_noted(off, is_noted):
    """However sure it is: the interval is 0.1 deg."""
    yaw = np.pi / 2 + np.radians(off)
    more = f"sensors: {{gyro: {{rpy: [0, 0, {yaw}]}}}}\nsources: {{imu: {{align: mocap}}}}"
    result = mapped(a_turned_gyroscope_beside_a_mocap(tumbling), GYROSCOPE, more)
    (mounting,) = result.clocks[0].mountings
    assert np.degrees(mounting.rpy[2].margin) < 0.2
    assert any("turned against" in note for note in result.notes) == is_noted


def test_the_noise_that_a_clocks_fit_finds_is_that_of_the_signal():
    log = a_turned_gyroscope_beside_a_mocap(tumbling, noise=0.0002)
    more = "sensors: {gyro: {rpy: [0, 0, 1.5707963]}}\nsources: {imu: {align: mocap}}"
    result = mapped(log, GYROSCOPE, more)
    assert result.motion.signals["angular_velocity"].std == pytest.approx(0.005, rel=0.2)
    assert result.motion.signals["orientation"].std == pytest.approx(0.0002, rel=0.2)
    assert [note.partition(" (")[0] for note in result.notes if ": std " in note] == [
        f"{key}: std {result.motion.signals[key].std:.3g}" for key in ("orientation", "angular_velocity")
    ]
    said = GYROSCOPE.replace("sensor: gyro", "sensor: gyro, std: 0.1")
    assert mapped(log, said, more).motion.signals["angular_velocity"].std == 0.1


def test_what_a_source_sees_is_a_channel_of_its_own():
    assert refused(two_devices(), BOTH, SEEN.replace("heading", "'mocap: yaw'")).startswith(
        "m.yaml:1: sources.log.csv.sees.yaw must be of log.csv, got a channel of mocap"
    )


def test_sides_may_be_of_two_sources():
    log = log_of(
        channel("/left.rpm", constant(30), "rpm", TIMES, "/left"),
        channel("/right.rpm", constant(0.5), "turns/s", TIMES + 0.01, "/right"),
    )
    result = mapped(log, "  belt_speed: {left: /left.rpm, right: /right.rpm, radius: 0.1}")
    for side in ("left", "right"):
        assert result.motion.signals[f"belt_speed.{side}"].values == pytest.approx(0.1 * np.pi)
        assert result.motion.signals[f"belt_speed.{side}"].source == f"/{side}"
        assert result.origins[f"belt_speed.{side}"].channels == (f"/{side}.rpm",)


def test_further_files_are_read_beside_the_log(tmp_path):
    rows = "\n".join(f"{t:.2f},{0.1 * t:.4f}" for t in TIMES)
    (tmp_path / "other.csv").write_text(f"time [s],roll [rad]\n{rows}\n")
    said = "files: [other.csv]\nquantities: {yaw: {channel: a}, roll: {channel: 'other.csv: roll [rad]'}}"
    result = map_log(log_of(channel("a", TIMES, "rad")), parse_mapping(said, "m.yaml", tmp_path))
    assert result.motion.signals["roll"].values == pytest.approx(0.1 * TIMES, abs=1e-3)
    assert result.motion.signals["roll"].source == "other.csv"
