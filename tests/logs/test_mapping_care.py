"""Care that a mapping declares: rows in order, marks of none, spikes, counters that start again."""

import tracemalloc

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, channel, constant, log_of, mapped, refused
from scipy.stats import median_abs_deviation
from tables import each_row

from segtrack.errors import MappingFileError
from segtrack.logs.mapping import check_plausibility, map_file, parse_mapping, propose
from segtrack.logs.mapping.channels import find_spikes
from segtrack.logs.reading import read_log

YAW = "  yaw: {channel: a, unit: rad%s}"


def test_rows_out_of_order_are_sorted_to_the_bit():
    values = np.sin(TIMES)
    order = np.random.default_rng(3).permutation(COUNT)
    shuffled = log_of(channel("a", values[order], times=TIMES[order]))
    result = mapped(shuffled, YAW % "", "sources: {log.csv: {sort: true}}")
    whole = mapped(log_of(channel("a", values)), YAW % "")
    assert np.array_equal(result.motion["yaw"], whole.motion["yaw"])
    assert np.array_equal(result.motion.times, whole.motion.times)
    late = sum(TIMES[order[i]] < TIMES[order[:i]].max(initial=0.0) for i in range(COUNT))
    assert result.notes == (f"log.csv: {late} rows are late: put in order of time",)
    assert mapped(log_of(channel("a", values)), YAW % "", "sources: {log.csv: {sort: true}}").notes == ()


def test_messages_are_sorted_by_their_stamps():
    stamps = TIMES - 0.02
    stamps[[30, 31]] = stamps[[31, 30]]
    log = log_of(channel("a", np.sin(stamps), stamps=stamps))
    result = mapped(log, YAW % "", "sources: {log.csv: {clock: header, sort: true}}")
    assert np.array_equal(result.motion["yaw"], np.sin(np.sort(stamps)))
    assert result.notes[0] == "log.csv: 1 row is late: put in order of time"


def test_a_row_out_of_order_is_refused_with_the_key_that_sorts():
    times = TIMES.copy()
    times[[30, 31]] = times[[31, 30]]
    assert refused(log_of(channel("a", constant(1), times=times)), YAW % "") == (
        "m.yaml: sources.log.csv has times that run backwards: by 0.05 s at row 31, from 101.55 s; with "
        "sort: true its rows are put in order"
    )


@pytest.mark.parametrize("sort", ["", "sources: {log.csv: {sort: true}}"])
@pytest.mark.parametrize("back", [5.0, 7.025, 1.7e9], ids=["same times", "between", "far before"])
def test_two_drives_are_not_put_into_one_order(sort, back):
    times = np.concatenate([TIMES[:100], TIMES[100:] - back])
    message = refused(log_of(channel("a", constant(1), times=times)), YAW % "", sort)
    assert "has times that run backwards" in message and message.endswith(
        "at row 100, from 104.95 s; the clock starts again at row 100, as with a second drive: take drives "
        "apart with split by a channel, or as files of their own"
    )


@pytest.mark.parametrize(("late", "until"), [((20, 60), 90), ((0, 40), 80)])
def test_rows_that_come_late_together_are_sorted(late, until):
    rows = np.arange(COUNT)
    held = slice(*late)
    order = np.concatenate([rows[: late[0]], rows[late[1] : until], rows[held], rows[until:]])
    result = mapped(
        log_of(channel("a", np.sin(TIMES[order]), times=TIMES[order])),
        YAW % "",
        "sources: {log.csv: {sort: true}}",
    )
    assert np.array_equal(result.motion["yaw"], np.sin(TIMES))
    assert result.notes == ("log.csv: 40 rows are late: put in order of time",)


@pytest.mark.parametrize(("window", "limit", "seed"), [(3, 3.0, 0), (7, 3.0, 1), (11, 5.0, 2), (101, 4.0, 3)])
def test_spikes_are_those_of_hampels_rule(window, limit, seed):
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.normal(size=400)) + 30 * (rng.random(400) < 0.05)
    half = window // 2
    expected = []
    for i, value in enumerate(values):
        around = values[max(i - half, 0) : i + half + 1]
        expected.append(abs(value - np.median(around)) > limit * median_abs_deviation(around, scale="normal"))
    assert find_spikes(values, window, limit).tolist() == expected
    assert 5 < sum(expected) < 200
    gappy = np.insert(values, [100, 200, 200], np.nan)
    assert find_spikes(gappy, window, limit)[np.isfinite(gappy)].tolist() == expected


def test_long_channels_are_filtered_in_blocks():
    values = np.random.default_rng(0).normal(size=45_000)
    values[[0, 9_949, 9_950, 44_999]] = 1e3
    spikes = find_spikes(values, 201, 20.0)
    assert np.flatnonzero(values > 900).tolist() == np.flatnonzero(spikes & (values > 900)).tolist()
    pieces = [find_spikes(values[i - 100 : i + 8_100], 201, 2.0)[100:-100] for i in (8_000, 16_000, 24_000)]
    assert np.array_equal(find_spikes(values, 201, 2.0)[8_000:32_000], np.concatenate(pieces))


def test_spikes_are_left_out_and_counted():
    values = np.sin(TIMES)
    values[[20, 90]] += 3.0
    result = mapped(log_of(channel("a", values)), YAW % ", despike: {window: 7, limit: 6}")
    assert np.array_equal(result.motion["yaw"], np.delete(np.sin(TIMES), [20, 90]))
    assert result.notes == (
        "yaw: 2 of 200 numbers are spikes, beyond 6 deviations of 7 numbers: left out",
        "yaw: 2 of 200 rows lack a number: left out",
    )


def test_marks_of_none_are_left_out_and_counted():
    values = np.stack([np.sin(TIMES), np.cos(TIMES), 0 * TIMES], axis=1)
    values[5:8, 1], values[9] = -9999, 1e6
    log = log_of(channel("a", values))
    result = mapped(log, "  position: {channels: a, unit: m, missing: [-9999, 1000000]}")
    assert np.array_equal(result.motion["position"], np.delete(values, [5, 6, 7, 9], axis=0))
    assert result.notes == (
        "position: 6 of 600 numbers mean none (-9999, 1e+06)",
        "position: 4 of 200 rows lack a number: left out",
    )
    one = mapped(log, "  position: {channels: a, unit: m, missing: -9999}").motion
    assert len(one["position"]) == COUNT - 3


BELTS = (
    "  belt_speed: {left: a, right: b, unit: counts, counts_per_turn: 4096, radius: 0.1, reversed: [right]%s}"
)


def test_a_counter_that_starts_again_has_the_speed_of_one_that_does_not():
    travel = np.round(9e5 * np.sin(0.4 * (TIMES - 100)))
    plain = mapped(log_of(channel("a", travel), channel("b", -travel)), BELTS % "").motion
    wrapped = mapped(
        log_of(channel("a", travel % 65536), channel("b", (-travel + 32768) % 65536 - 32768)),
        BELTS % ", wrap: 65536",
    )
    for side in ("left", "right"):
        assert np.array_equal(wrapped.motion[f"belt_speed.{side}"], plain[f"belt_speed.{side}"])
    rounds = np.count_nonzero(np.diff(travel // 65536))
    share = 100 * abs(np.diff(travel)).max() / 65536
    note = f"belt_speed.left: starts again {rounds} times, at 65536; steps are at most {share:.2g} % of that"
    assert note in wrapped.notes


def test_marks_spikes_and_wraps_of_one_counter_do_not_disturb_each_other():
    travel = 9000.0 * np.arange(COUNT)
    counts = travel % 65536
    counts[[40, 41]] = -9999
    counts[77] += 2e6
    text = ", wrap: 65536, missing: -9999, despike: {window: 5, limit: 8}"
    result = mapped(log_of(channel("a", counts), channel("b", counts)), BELTS % text)
    speed = result.motion["belt_speed.left"]
    assert speed == pytest.approx(9000 / 0.05 / 4096 * 2 * np.pi * 0.1, rel=1e-9)
    assert len(speed) == COUNT - 1 - 3
    assert (
        "belt_speed.left: 1 of 200 numbers are spikes, beyond 8 deviations of 5 numbers: left out"
        in result.notes
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_wrap_that_is_smaller_than_steps_is_refused(sign):
    """A travel in metres with the wrap in another unit: all its steps, modulo the wrap, are anything."""
    travel = 0.3 * np.sin(0.7 * (TIMES - 100))
    log = log_of(channel("a", sign * travel), channel("b", constant(0)))
    expected = np.mod(np.diff(travel) / 0.001 + 0.5, 1.0) - 0.5
    beyond, moves = np.count_nonzero(abs(expected) > 0.4), np.count_nonzero(abs(expected) > 0.01)
    assert refused(log, "  belt_speed: {left: a, right: b, unit: m, wrap: 0.001}") == (
        "m.yaml:3: quantities.belt_speed.wrap must be more than twice what a counter moves from row to row, "
        f"in its unit, got 0.001: 40 % of it are exceeded by {beyond} of {moves} steps of a"
    )


def test_a_single_step_that_is_long_beside_a_wrap_is_only_noted():
    """Rows that a log lost make one step longer."""
    counts = np.delete(9000.0 * np.arange(COUNT + 2), [80, 81]) % 65536
    log = log_of(channel("a", counts), channel("b", counts))
    assert "steps are at most 41 % of that" in mapped(log, BELTS % ", wrap: 65536").notes[0]


@each_row(
    "quantity, message",
    [
        (
            "belt_speed: {left: a, right: b, unit: m/s, wrap: 9}",
            "belt_speed.wrap must be left out of speeds, got 9 beside m/s",
        ),
        (
            "belt_speed: {left: a, right: b, table: [[0, 0], [1, 1]], wrap: 9}",
            "belt_speed.wrap must be left out of speeds",
        ),
        (
            "orientation: {channels: a, despike: {window: 3, limit: 3}}",
            "orientation.despike must be left out: the parts of quaternions are not filtered alone",
        ),
        (YAW.strip() % ", despike: {window: 4, limit: 3}", "yaw.despike.window must be odd, got 4"),
        (YAW.strip() % ", despike: {window: 1, limit: 3}", "yaw.despike.window must be at least 3, got 1"),
        (
            YAW.strip() % ", despike: {window: 1003, limit: 3}",
            "yaw.despike.window must be at most 1001, got 1003",
        ),
        (YAW.strip() % ", despike: {window: 5}", "yaw.despike.limit is missing"),
        (YAW.strip() % ", missing: none", "yaw.missing must be a list, got 'none'"),
        ("roll: {value: 1, unit: deg, missing: 3}", "roll.missing must be left out beside value"),
    ],
)
def test_care_that_cannot_be_taken_is_refused(quantity, message):
    with pytest.raises(MappingFileError) as error:
        parse_mapping(f"quantities:\n  energy: {{channel: e, unit: J}}\n  {quantity}", "m.yaml")
    assert str(error.value) == f"m.yaml:3: quantities.{message}"


@pytest.mark.parametrize(
    ("despike", "message"),
    [
        ("{window: 7}", "limit is missing"),
        ("{window: 2, limit: 1}", "window must be at least 3, got 2"),
        ("{window: 3, limit: 0}", "limit must be greater than 0, got 0"),
        ("{window: 5.0, limit: 2}", "window must be a whole number, got 5.0"),
        ("{window: 4, limit: 3}", "window must be odd, got 4"),
    ],
)
def test_mistakes_of_a_filter_are_said_beside_a_log(tmp_path, despike, message):
    (tmp_path / "log.csv").write_text("time,a\n" + "".join(f"{i / 20},{i / 100}\n" for i in range(40)))
    text = f"quantities:\n  yaw: {{channel: a, unit: rad, despike: {despike}}}\n"
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(MappingFileError) as error:
        map_file(tmp_path / "log.csv", tmp_path / "m.yaml")
    assert str(error.value) == f"m.yaml:2: quantities.yaw.despike.{message}"


def test_a_filter_needs_no_more_memory_with_longer_windows():
    values = np.random.default_rng(0).normal(size=30_000)
    peaks = []
    for window in (11, 1001):
        tracemalloc.start()
        find_spikes(values, window, 3.0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * max(peaks[0], 2_000_000 * 8 * 3)


def test_a_wrap_beside_the_logs_own_unit_of_speeds_is_refused():
    log = log_of(channel("a", constant(1), "m/s"))
    assert refused(log, "  belt_speed: {left: a, right: a, wrap: 9}") == (
        "m.yaml:3: quantities.belt_speed.wrap must be left out of speeds, got 9 beside m/s"
    )


@each_row("window", [3, 5, 7, 11, 21])
@each_row("slope", [-1800.0, -300.5, 300.5, 1800.0])
def test_the_wrap_of_a_counter_is_no_spike_but_at_the_ends(window, slope):
    counts = np.floor(slope * np.arange(2000.0)) % 65536
    half = window // 2
    assert not find_spikes(counts, window, 3.0)[half : len(counts) - half].any()


def test_white_noise_loses_as_much_as_the_manual_says():
    noise = np.random.default_rng(0).normal(size=400_000)
    measured = {(w, limit): 100 * find_spikes(noise, w, limit).mean() for w in (7, 21) for limit in (3, 6, 8)}
    told = {(7, 3): 4.7, (7, 6): 0.88, (7, 8): 0.40, (21, 3): 1.4, (21, 6): 0.024, (21, 8): 0.002}
    assert measured == pytest.approx(told, rel=0.05, abs=5e-4)


def test_what_a_file_lacks_is_told_by_a_mapping_as_by_reading(tmp_path):
    rows = [f"{i / 20},0.2,0.2\n" for i in range(60)]
    rows[20] = "1.0,0.2\n"
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("t [s],left [m/s],right [m/s]\n" + "".join(rows))
    said = "files: [b.csv]\nquantities:\n  belt_speed: {left: 'left [m/s]', right: 'b.csv: right [m/s]'}\n"
    (tmp_path / "m.yaml").write_text(said)
    log = read_log(tmp_path / "a.csv")
    (told,) = log.damage
    notes = map_file(tmp_path / "a.csv", tmp_path / "m.yaml").notes
    assert notes[:2] == (f"damaged: {told}", f"damaged: b.csv: {told}")
    assert propose(log).startswith(f"# damaged: {told}\n")


@each_row("unit, scale", [("s", 1.0), ("ms", 1e3), ("d", 1 / 86400)])
def test_the_clock_of_a_table_is_its_files_or_a_column_with_its_unit(unit, scale, tmp_path):
    rows = [f"{i / 20},{scale * i / 20!r},0.2\n" for i in range(60)]
    (tmp_path / "a.csv").write_text("t [s],other,v [m/s]\n" + "".join(rows))
    said = "quantities:\n  belt_speed: {left: 'v [m/s]', right: 'v [m/s]'}\n"
    (tmp_path / "m.yaml").write_text(said)
    own = map_file(tmp_path / "a.csv", tmp_path / "m.yaml")
    (tmp_path / "m.yaml").write_text(f"sources: {{a.csv: {{time: other, unit: {unit}}}}}\n{said}")
    other = map_file(tmp_path / "a.csv", tmp_path / "m.yaml")
    clocks = [log.origins["belt_speed.left"].clock for log in (own, other)]
    assert clocks == ["file", "other" if unit == "s" else f"other, in {unit}"]
    times = [log.motion.signals["belt_speed.left"].times for log in (own, other)]
    assert times[1] == pytest.approx(times[0], abs=1e-9)


def test_days_that_are_called_seconds_are_told_with_the_line_that_mends_it(tmp_path):
    rows = [f"{45000.5 + i * 0.05 / 86400:.13f},0.2\n" for i in range(120)]
    (tmp_path / "a.csv").write_text("t [s],v [m/s]\n" + "".join(rows))
    said = "vehicle: packbot\nquantities:\n  belt_speed: {left: 'v [m/s]', right: 'v [m/s]'}\n"
    (tmp_path / "m.yaml").write_text(said)
    found = check_plausibility(map_file(tmp_path / "a.csv", tmp_path / "m.yaml"))
    told = {finding.name: str(finding) for finding in found.findings}
    assert told["sample times"].endswith(
        "0.05 s apart if they are days: sources: {a.csv: {time: ..., unit: d}}"
    )
    (tmp_path / "m.yaml").write_text(f"sources: {{a.csv: {{time: 't [s]', unit: d}}}}\n{said}")
    mended = map_file(tmp_path / "a.csv", tmp_path / "m.yaml")
    assert not check_plausibility(mended).findings
    assert mended.motion.signals["belt_speed.left"].times == pytest.approx(0.05 * np.arange(120), abs=1e-5)
