"""Trials that a mapping splits a log into: windows, runs of a number, and how commands treat them."""

import json

import numpy as np
import pytest
from mapped_logs import TIMES, channel, log_of
from tables import each_row
from typer.testing import CliRunner

from segtrack.errors import InvalidValueError, MappingFileError
from segtrack.logs import Log
from segtrack.logs.mapping import map_file, map_log, map_trials, parse_mapping

YAW = "quantities: {yaw: {channel: a, unit: rad}}\n"
WINDOWS = "split: {windows: [[0, 1], [2, 3]]}\n"
LOG = log_of(channel("a", np.sin(TIMES)))


def split(text, more=""):
    return parse_mapping(f"split: {text}\n{YAW}{more}", "m.yaml")


def test_windows_are_what_start_and_end_cut():
    mapping = split("{windows: [[0, 2.5], [4, 9]]}")
    for number, piece in ((1, "start: 0\nend: 2.5\n"), (2, "start: 4\nend: 9\n")):
        trial, cut = map_log(LOG, mapping, number), map_log(LOG, parse_mapping(piece + YAW))
        assert np.array_equal(trial.motion["yaw"], cut.motion["yaw"])
        assert np.array_equal(trial.motion.times, cut.motion.times)
        assert trial.motion.name == f"log.csv, trial {number}" and trial.begin == cut.begin
    assert trial.record()["trial"] == {"number": 2, "of": "4 to 9 s"}
    assert cut.record()["trial"] is None


def test_runs_of_a_number_are_what_logs_of_their_own_would_be():
    numbers = np.repeat([np.nan, 1.0, 0.0, 2.0, 2.0, 1.0], [10, 50, 20, 30, 30, 60])
    log = log_of(channel("a", np.sin(TIMES)), channel("run", numbers))
    mapping = split("{channel: run, missing: 0}")
    trials = [("run 1", slice(10, 60)), ("run 2", slice(80, 140)), ("run 1", slice(140, 200))]
    for number, (label, rows) in enumerate(trials, start=1):
        alone = map_log(log_of(channel("a", np.sin(TIMES[rows]), times=TIMES[rows])), parse_mapping(YAW))
        mapped = map_log(log, mapping, number)
        assert mapped.record()["trial"] == {"number": number, "of": label}
        assert np.array_equal(mapped.motion["yaw"], alone.motion["yaw"])
        assert np.array_equal(mapped.motion.times, alone.motion.times)
        assert mapped.begin == alone.begin == TIMES[rows.start]
    with pytest.raises(InvalidValueError, match="1 to 3, as m.yaml splits log.csv"):
        map_log(log, mapping, 4)


def test_times_may_start_again_with_each_trial():
    times = np.tile(TIMES[:100], 2)
    log = log_of(
        channel("a", np.arange(200.0) / 1e3, times=times), channel("run", np.arange(200) // 100, times=times)
    )
    with pytest.raises(MappingFileError, match="run backwards"):
        map_log(log, parse_mapping(YAW))
    second = map_log(log, split("{channel: run}"), 2).motion
    assert np.array_equal(second["yaw"], np.arange(100, 200) / 1e3)
    assert second.times == pytest.approx(TIMES[:100] - TIMES[0])


def test_trials_are_cut_from_rows_in_order(tmp_path):
    """Rows that come late about the border of two trials make no trials of their own."""
    order = np.arange(200)
    order[[98, 99, 100, 101]] = 98, 100, 99, 101
    run, sort = np.arange(200) // 100, "sources: {log.csv: {sort: true}}\n"
    lines = [f"{TIMES[i]},{np.sin(TIMES[i])},{run[i]}\n" for i in order]
    (tmp_path / "log.csv").write_text("".join(["time,a,run\n", *lines]))
    (tmp_path / "m.yaml").write_text(f"split: {{channel: run}}\n{sort}{YAW}")
    trials = map_trials(tmp_path / "log.csv", tmp_path / "m.yaml")
    assert [each.trial.rows for each in trials] == [(0, 100), (100, 200)]
    for each in trials:
        assert np.array_equal(each.motion["yaw"], np.sin(TIMES[slice(*each.trial.rows)]))
        assert each.notes == ("log.csv: 1 row is late: put in order of time",)


def test_rows_are_sorted_trial_by_trial_where_the_clock_starts_again_with_each():
    times, run, values = np.tile(TIMES[:100], 2), np.arange(200) // 100, np.arange(200.0) / 1e3
    order = np.arange(200)
    order[[150, 151]] = 151, 150
    log = log_of(channel("a", values[order], times=times[order]), channel("run", run, times=times[order]))
    second = map_log(log, split("{channel: run}", "sources: {log.csv: {sort: true}}\n"), 2)
    assert np.array_equal(second.motion["yaw"], values[100:])
    assert second.notes == ("log.csv: 1 row is late: put in order of time",)


def test_start_and_end_count_from_a_trial_of_a_channel():
    log = log_of(channel("a", TIMES), channel("run", np.arange(200) // 100))
    motion = map_log(log, split("{channel: run}", "start: 1\nend: 3\n"), 2).motion
    assert motion["yaw"][[0, -1]] == pytest.approx([106.0, 108.0], abs=0.051)
    assert motion.times[[0, -1]] == pytest.approx([1.0, 3.0], abs=0.051)


def test_other_sources_are_cut_to_the_trial():
    log = log_of(
        channel("a", TIMES),
        channel("run", np.arange(200) // 100),
        channel("/imu.roll", TIMES[::2] + 0.01, times=TIMES[::2] + 0.01, source="/imu"),
    )
    text = "quantities: {yaw: {channel: a, unit: rad}, roll: {channel: /imu.roll, unit: rad}}"
    mapped = map_log(log, parse_mapping(f"split: {{channel: run}}\n{text}"), 2)
    roll = mapped.motion.signals["roll"]
    assert mapped.begin == TIMES[100]
    assert roll.values == pytest.approx(roll.times + mapped.begin)
    assert 0 <= roll.times[0] < 0.1 and 4.8 < roll.times[-1] <= TIMES[199] - TIMES[100]


@each_row(
    "text, message",
    [
        ("{}", "m.yaml:1: split must have exactly one of windows, channel, got none"),
        ("{windows: []}", "m.yaml:1: split.windows must be at least 1 long, got []"),
        (
            "{windows: [[0, 3], [2, 5]]}",
            "m.yaml:1: split.windows must ascend and not overlap, got [[0.0, 3.0], [2.0, 5.0]]",
        ),
        (
            "{windows: [[3, 3]]}",
            "m.yaml:1: split.windows must ascend and not overlap, got [[3.0, 3.0]]",
        ),
        (
            "{windows: [[0, 3]], missing: 0}",
            "m.yaml:1: split.missing must be left out beside windows",
        ),
        (
            "{windows: [[0, 3]]}\nevent: 2",
            "m.yaml:2: event must be first touch beside windows of split, got 2",
        ),
        ("{windows: [[0, 3]]}\nend: 2", "m.yaml:2: end must be left out beside windows of split"),
        ("{windows: [[0, 3]]}\nrows: steady", "m.yaml:1: split must be left out where rows are steady"),
    ],
)
def test_mistakes_of_a_split_are_said(text, message):
    with pytest.raises(MappingFileError) as error:
        parse_mapping(f"split: {text}\nquantities: {{yaw_rate: {{channel: a, unit: rad/s}}}}", "m.yaml")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rum", "is no channel of log.csv, got 'rum'; did you mean run?"),
        ("word", "must be a channel of numbers, word is text"),
        ("wide", "must be one number at a time, wide has 2"),
        ("none", "must have from 1 to 500 runs of one number, got 0 in 2000 rows"),
        ("drift", "must have from 1 to 500 runs of one number, got 2000 in 2000 rows"),
        ("other", "must be of a source of which a quantity is used, got one of /b"),
    ],
)
def test_channels_that_number_no_trials_are_refused(name, message):
    times = np.arange(2000) / 20
    columns = {
        "a": times,
        "run": times // 50,
        "wide": np.zeros((2000, 2)),
        "none": 0 * times + np.nan,
        "drift": times,
    }
    channels = {key: channel(key, values, times=times) for key, values in columns.items()}
    channels["other"] = channel("other", times // 50, times=times, source="/b")
    log = Log(LOG.path, "csv", channels, skipped={"word": "text"})
    with pytest.raises(MappingFileError) as error:
        map_log(log, split(f"{{channel: {name}}}"), 1)
    assert str(error.value) == f"m.yaml:1: split.channel {message}"


def test_runs_of_too_few_rows_are_no_trials():
    for rows in (1, 2, 3):
        numbers = np.repeat([1.0, 7.0, 2.0], [50, rows, 150 - rows])
        log, mapping = log_of(channel("a", TIMES), channel("run", numbers)), split("{channel: run}")
        if rows == 3:
            with pytest.raises(InvalidValueError, match="1 to 3, as m.yaml splits log.csv"):
                map_log(log, mapping, 4)
            continue
        with pytest.raises(MappingFileError) as error:
            map_log(log, mapping, 1)
        assert str(error.value) == (
            f"m.yaml:1: split.channel must have at least 3 rows a run, got {rows} of run 7 from row 50 on: "
            "see missing, and sort where rows come late"
        )


def test_what_is_wrong_of_a_trial_is_said_with_its_name(files):
    rows = "".join(f"{i / 20 + (3 if i > 90 else 0)},{i % 60 / 100},{i // 60}\n" for i in range(180))
    files[0].write_text(f"time,a,run\n{rows}")
    for number in (None, 2):
        with pytest.raises(MappingFileError) as error:
            map_trials(*files, trial=number)
        assert str(error.value) == (
            "m.yaml:2: quantities.yaw has no value for 3.05 s, from 1.5 to 4.55 s; at most 0.5 s are bridged"
            ": see start, end and max_gap (trial 2, run 1)"
        )


@pytest.mark.parametrize(
    ("mapping", "number", "message"),
    [
        (
            "split: {windows: [[0, 1], [2, 3]]}\n",
            None,
            "trial must be 1 to 2, as m.yaml splits log.csv, got none",
        ),
        ("split: {windows: [[0, 1], [2, 3]]}\n", 3, "trial must be 1 to 2, as m.yaml splits log.csv, got 3"),
        ("", 1, "trial must be left out: m.yaml does not split its log, got 1"),
    ],
)
def test_a_trial_that_is_not_there_is_refused(mapping, number, message):
    with pytest.raises(InvalidValueError) as error:
        map_log(LOG, parse_mapping(mapping + YAW, "m.yaml"), number)
    assert str(error.value) == message


@pytest.fixture
def files(tmp_path):
    rows = "".join(f"{i / 20},{i % 60 / 100},{i // 60}\n" for i in range(180))
    (tmp_path / "log.csv").write_text(f"time,a,run\n{rows}")
    (tmp_path / "m.yaml").write_text("split: {channel: run}\n" + YAW)
    return tmp_path / "log.csv", tmp_path / "m.yaml"


def test_all_trials_of_a_file_are_those_of_each_number(files):
    trials = map_trials(*files)
    assert [each.trial.label for each in trials] == ["run 0", "run 1", "run 2"]
    for each in trials:
        assert np.array_equal(each.motion["yaw"], map_file(*files, trial=each.trial.number).motion["yaw"])
    files[1].write_text(YAW)
    assert [each.trial for each in map_trials(*files)] == [None]


def test_map_lists_trials_or_shows_one(files, tmp_path):
    from segtrack.cli.app import app

    call = ["log", "map", str(files[0]), "--mapping", str(files[1]), "--out", str(tmp_path / "out")]
    listed = CliRunner().invoke(app, [*call, "--json"])
    assert listed.exit_code == 0, listed.output
    records = json.loads(listed.stdout)["trials"]
    assert [record["trial"]["of"] for record in records] == ["run 0", "run 1", "run 2"]
    assert [record["begin"] for record in records] == [0.0, 3.0, 6.0]
    told = CliRunner().invoke(app, call).output
    assert "run 2" in told and "2.95" in told
    one = CliRunner().invoke(app, [*call, "--json", "--trial", "2"])
    assert json.loads(one.stdout) == records[1]
    assert CliRunner().invoke(app, [*call, "--trial", "4"]).exit_code == 2
