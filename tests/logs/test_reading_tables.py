"""Tables of text against Python's own csv and float, damaged ones against their beginning."""

import csv
import io
from datetime import datetime, timezone

import numpy as np
import pytest
from tables import each_row

from segtrack.errors import LogFileError
from segtrack.logs.reading import is_time, read_log

RANDOM = np.random.default_rng(3)
TABLE = np.column_stack(
    [np.arange(60) / 50, RANDOM.normal(size=(60, 3)) * 10.0 ** RANDOM.integers(-8, 8, (60, 3))]
)
NAMES = ["time [s]", "v [m/s]", "w (rad/s)", "pitch_deg"]


def text_of(table=TABLE, delimiter=",", header=NAMES, newline="\n"):
    lines = [delimiter.join(header)] if header else []
    lines += [delimiter.join(map(repr, row)) for row in table.tolist()]
    return newline.join(lines) + newline


def read(tmp_path, text, name="log.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_log(path)


def values(log):
    return np.column_stack([channel.values for channel in log.channels.values()])


@each_row("delimiter", [",", ";", "\t", " "])
@each_row("newline", ["\n", "\r\n"])
def test_a_table_has_the_numbers_that_python_reads(delimiter, newline, tmp_path):
    text = text_of(delimiter=delimiter, newline=newline)
    log = read(tmp_path, text)
    rows = list(csv.reader(io.StringIO(text_of()), quoting=csv.QUOTE_NONE))
    np.testing.assert_array_equal(values(log), np.array(rows[1:], dtype=float))
    assert list(log.channels) == NAMES
    assert [channel.unit for channel in log.channels.values()] == ["s", "m/s", "rad/s", "deg"]
    for channel in log.channels.values():
        np.testing.assert_array_equal(channel.times, TABLE[:, 0])
    assert (log.kind, log.damage, log.notes, dict(log.skipped)) == ("csv", (), (), {})


@pytest.mark.parametrize(
    "text",
    [
        "# written by a logger\n# t v\n1 2\n3 4\n",
        "\ufefft,v\n1,2\n\n# half time\n3,4\n",
        "t;v\ns;m/s\n1;2\n3;4\n",
        't,"v"\n"1","2"\n3, 4\n',
        "%t,v\n1,2\n3,4 # the end\n",
        "a logger's table\nfrom May\nt,v\n1,2\n3,4\n",
        "sep=;\nt;v\n1;2\n3;4\n",
        "t,v\n1,2 #1\n#2\n3,4\n",
        "t,v,\n1,2\n3,4\n",
    ],
)
def test_comments_quotes_units_and_titles_are_no_rows(text, tmp_path):
    log = read(tmp_path, text)
    np.testing.assert_array_equal(values(log), [[1.0, 2.0], [3.0, 4.0]])
    assert not log.damage
    np.testing.assert_array_equal(log.channels["v"].times, [1.0, 3.0])


def test_a_table_without_names_or_times_says_so(tmp_path):
    log = read(tmp_path, "5,6\n7,8\n")
    assert list(log.channels) == ["column 1", "column 2"]
    np.testing.assert_array_equal(log.channels["column 1"].times, [0.0, 1.0])
    assert log.notes == ("no column is called a time: times are the numbers of the rows, from 0",)


def test_empty_cells_and_words_for_nothing_are_no_damage(tmp_path):
    log = read(tmp_path, "t,a,b\n0,,1\n1,NA,\n,3,4\n2,nan,5\n3,6,\n")
    np.testing.assert_array_equal(
        values(log), [[0, np.nan, 1], [1, np.nan, np.nan], [2, np.nan, 5], [3, 6, np.nan]]
    )
    assert log.damage == ("1 row is left out: without a time",)


def test_columns_of_words_are_named_and_left_out(tmp_path):
    log = read(tmp_path, "t,mode,v\n0,AUTO,1\n1,MANUAL,2\n")
    assert dict(log.skipped) == {"mode": "text"}
    assert list(log.channels) == ["t", "v"]


def test_a_number_sign_within_a_cell_belongs_to_it(tmp_path):
    log = read(tmp_path, "t,Sample #,v\n1,5,1.#QNAN\n2,6,-1.#IND00\n3,7,1.5\n")
    assert list(log.channels) == ["t", "Sample #", "v"]
    np.testing.assert_array_equal(values(log), [[1, 5, np.nan], [2, 6, np.nan], [3, 7, 1.5]])
    assert not log.damage


@each_row(
    "text, names",
    [
        ("t,motor #1,motor #2\n1,2,3\n4,5,6\n", ["t", "motor #1", "motor #2"]),
        ("t,gate,a,b\n1,gate #3,2,3\n4,gate #4,5,6\n", ["t", "a", "b"]),
        ("t,a,b\n1,2,3 # wet, cold\n4,5,6 # dry, warm\n", ["t", "a", "b"]),
    ],
)
def test_what_looks_like_a_comment_is_none_where_cells_would_be_too_few(text, names, tmp_path):
    log = read(tmp_path, text)
    assert list(log.channels) == names
    np.testing.assert_array_equal(values(log), [[1, 2, 3], [4, 5, 6]])
    assert not log.damage


@each_row(
    "text, names",
    [
        ("robot run 3\n1 2\n3 4\n", ["column 1", "column 2"]),
        ("Robot, Quince, May\nt,v\n1,2\n3,4\n", ["t", "v"]),
        ("Robot, May,\nt,v\n1,2\n3,4\n", ["t", "v"]),
    ],
)
def test_a_title_may_have_one_word_more_than_there_are_columns(text, names, tmp_path):
    log = read(tmp_path, text)
    assert list(log.channels) == names
    np.testing.assert_array_equal(values(log), [[1, 2], [3, 4]])


def test_rows_that_end_in_a_delimiter_keep_the_names_before_it(tmp_path):
    log = read(tmp_path, "t,v\n1,2,\n3,4,\n")
    assert list(log.channels) == ["t", "v", "column 3"]
    np.testing.assert_array_equal(log.channels["v"].values, [2, 4])


def test_infinite_numbers_are_told_and_missing(tmp_path):
    log = read(tmp_path, "t,v\n0,inf\n,2\n1,2\n2,-1.#INF\n")
    np.testing.assert_array_equal(log.channels["v"].values, [np.nan, 2.0, np.nan])
    assert log.damage == (
        "column 'v': infinite, taken as missing, in rows 1 and 4",
        "1 row is left out: without a time",
    )


def test_truths_are_ones_and_zeros(tmp_path):
    log = read(tmp_path, "t,on,off\n0,True,FALSE\n1,False,TRUE\n")
    np.testing.assert_array_equal(values(log), [[0, 1, 0], [1, 0, 1]])


@each_row(
    "names",
    [
        "header.stamp.sec,header.stamp.nanosec",
        "secs,nsecs",
        "/odom/header/stamp/secs,/odom/header/stamp/nsecs",
    ],
)
def test_seconds_and_nanoseconds_of_a_stamp_are_one_time(names, tmp_path):
    log = read(tmp_path, f"{names},v\n5,500000000,1\n6,250000000,2\n7,,3\n")
    np.testing.assert_array_equal(log.channels["v"].times, [5.5, 6.25])
    first, second = names.split(",")
    assert log.notes == (f"times are columns {first!r} and {second!r}",)
    assert log.damage == ("1 row is left out: without a time",)


@each_row(
    "dates",
    ["31.12.2026 23:59:59.5,1.1.2027 0:00:00", "12/31/2026 11:59:59.5 PM,1/1/2027 12:00:00 AM"],
)
def test_german_and_american_dates_are_those_of_iso_8601(dates, tmp_path):
    first, second = dates.split(",")
    log = read(tmp_path, f"time,v\n{first},1\n{second},2\n")
    new_year = datetime(2027, 1, 1, tzinfo=timezone.utc).timestamp()
    np.testing.assert_array_equal(log.channels["v"].times, [new_year - 0.5, new_year])


@each_row(
    "names, rows, parts",
    [
        (
            "Datum;Uhrzeit;v",
            "29.11.2026;23:59:59.75;1|30.11.2026;0:00:00.25;2",
            "columns 'Datum' and 'Uhrzeit'",
        ),
        (
            "time,date,v",
            "11:59:59.75 PM,11/29/2026,1|12:00:00.25 AM,11/30/2026,2",
            "columns 'date' and 'time'",
        ),
        ("date,clock,v", "2026-11-29,23:59:59.75,1|2026-11-30,00:00:00.25,2", "columns 'date' and 'clock'"),
    ],
)
def test_a_date_and_a_time_of_day_in_two_columns_are_one_time(names, rows, parts, tmp_path):
    log = read(tmp_path, "\n".join([names, *rows.split("|")]) + "\n")
    midnight = datetime(2026, 11, 30, tzinfo=timezone.utc).timestamp()
    assert log.channels["v"].times.tolist() == [midnight - 0.25, midnight + 0.25]
    assert log.notes == (f"times are {parts}",) and not log.damage


def test_times_of_day_are_used_where_no_other_time_is(tmp_path):
    log = read(tmp_path, "clock,v\n14:03:05.5,1\n14:03:06.5,2\n")
    assert log.channels["v"].times.tolist() == [14 * 3600 + 3 * 60 + 5.5, 14 * 3600 + 3 * 60 + 6.5]
    log = read(tmp_path, "day,clock,t,v\n2026-11-29,14:03:05.5,0.5,1\n2026-11-29,14:03:06.5,1.5,2\n")
    assert log.channels["v"].times.tolist() == [0.5, 1.5]
    assert dict(log.skipped) == {"day": "text", "clock": "text"}


@each_row(
    "name, first, since, told",
    [
        ("Time", 45000.5, datetime(2023, 3, 15, 12), "days as Excel counts them"),
        ("Time", 738000.5, datetime(2020, 7, 28, 12), "days as MATLAB counts them"),
        ("datenum", 738000.5, datetime(2020, 7, 28, 12), "days as MATLAB counts them"),
        ("t [days]", 0.5, datetime(1970, 1, 1, 12), ""),
    ],
)
def test_days_of_spreadsheets_and_of_matlab_are_times(name, first, since, told, tmp_path):
    rows = [f"{first + i * 0.05 / 86400:.12f},1" for i in range(40)]
    log = read(tmp_path, "\n".join([f"{name},v", *rows]) + "\n")
    begin = since.replace(tzinfo=timezone.utc).timestamp()
    assert log.channels["v"].times == pytest.approx(begin + 0.05 * np.arange(40), abs=2e-5)
    assert [note.partition("taken as ")[2] for note in log.notes] == [told] * (told != "")


def test_seconds_of_half_a_day_since_the_start_are_no_days(tmp_path):
    log = read(tmp_path, "time,v\n" + "".join(f"{45000.5 + i / 200},1\n" for i in range(40)))
    assert log.channels["v"].times[0] == 45000.5


def test_dates_are_seconds_since_1970(tmp_path):
    log = read(tmp_path, "stamp,v\n2024-05-01T12:00:00.25Z,1\n2024-05-01 14:00:01+02:00,2\n")
    noon = datetime(2024, 5, 1, 12, tzinfo=timezone.utc).timestamp()
    np.testing.assert_array_equal(log.channels["v"].times, [noon + 0.25, noon + 1])


@each_row(
    "header, unit",
    [
        ("v [m/s]", "m/s"),
        ("v (m/s)", "m/s"),
        ("v(km/h)", "km/h"),
        ("v_m_s", "m/s"),
        ("pitch_deg", "deg"),
        ("motor_rpm", "rpm"),
        ("time_ms", "ms"),
        ("time_msec", "ms"),
        ("time(msec)", "ms"),
        ("Elapsed Time (ms)", "ms"),
        ("TimeUS", "us"),
        ("stamp [ns]", "ns"),
        ("torque_Nm", "N m"),
        ("x_m", ""),  # Measured?
        ("v_ms", ""),  # Metres a second, or milliseconds?
        ("speed (left)", ""),
        ("q[0]", ""),
        ("speed[left]", ""),
        ("deg", ""),
        ("x(in)", "in"),
        ("x [ft]", "ft"),
        ("v_l(ips)", "ips"),
        ("v_ips", "in/s"),
        ("v_ft_s", "ft/s"),
        ("v_mph", "mph"),
        ("left_in", ""),  # An input?
        ("wrench_ft", ""),  # Force and torque?
        ("time_in_s", ""),
        ("q_RS_w []", ""),
        ("v_RS_R_x [m s^-1]", "m s^-1"),
        ("v_mps", "m/s"),
        ("v_mm_s", "mm/s"),
        ("v_km_h", "km/h"),
        ("v_kmh", "km/h"),
        ("w_rad_s", "rad/s"),
        ("w_deg_s", "deg/s"),
        ("pitch_rad", "rad"),
        ("x_mm", "mm"),
        ("x_cm", "cm"),
        ("a_m_s2", "m/s^2"),
        ("a_mps2", "m/s^2"),
        ("left_mA", "mA"),
        ("rate_Hz", "Hz"),
        ("v_M_S", ""),  # Case counts: mA is no MA.
        ("i_A", ""),
    ],
)
def test_a_header_has_a_unit_where_nothing_else_can_be_meant(tmp_path, header, unit):
    (tmp_path / "log.csv").write_text(f"t,{header}\n0,1\n1,2\n")
    assert read_log(tmp_path / "log.csv").channels[header].unit == unit


@pytest.mark.parametrize(
    ("header", "answer"),
    [
        ("t", True),
        ("Time [ms]", True),
        ("timestamp_ns", True),
        ("%time", True),
        ("seconds", True),
        ("__time", True),
        ("Elapsed Time (ms)", True),
        ("time(msec)", True),
        ("TimeUS", True),
        ("theta", False),
        ("dt", False),
    ],
)
def test_times_are_known_by_their_names(header, answer):
    assert is_time(header) == answer


def times_in(folder, header, values):
    """Times of a table's rows [s], and the unit that they were taken for."""
    (folder / "log.csv").write_text(f"{header},v\n" + "".join(f"{value!r},0\n" for value in values.tolist()))
    found = read_log(folder / "log.csv").channels["v"].times
    ratio = round(values[-1] / found[-1])
    return found, {1: "s", 10**3: "ms", 10**6: "us", 10**9: "ns"}[ratio]


@pytest.mark.parametrize(("scale", "unit"), [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")])
def test_times_since_1970_show_their_unit(tmp_path, scale, unit):
    times = 1.7e9 + np.arange(3) / 4
    found, taken = times_in(tmp_path, "timestamp", np.rint(times * scale) if scale > 1 else times)
    assert taken == unit
    assert found == pytest.approx(times, abs=1e-6)


def test_an_uptime_in_nanoseconds_is_not_taken_for_a_time_since_1970(tmp_path):
    uptime = np.linspace(1.0e12, 3.6e12, 5)
    assert times_in(tmp_path, "time", uptime)[1] == "s"


@pytest.mark.parametrize("delimiter", [",", " "])
def test_of_a_table_that_is_cut_all_rows_are_read_that_are_left(delimiter, tmp_path):
    text = text_of(delimiter=delimiter).encode()
    for tenth in range(2, 10):
        cut = text[: len(text) * tenth // 10]
        whole = cut.count(b"\n") - 1
        log = read(tmp_path, cut)
        found = values(log)
        assert len(found) in (whole, whole + 1)
        np.testing.assert_array_equal(found[:whole], TABLE[:whole])
        if len(found) > whole:  # All cells of the last line are there, and only its last one may be cut.
            np.testing.assert_array_equal(found[whole, :-1], TABLE[whole, :-1])
            assert np.isnan(found[whole, -1])
        assert log.damage


def test_a_last_line_with_as_many_decimals_as_those_before_is_whole(tmp_path):
    log = read(tmp_path, "t,v\n0.0,1.25\n0.5,1.50\n1.0,1.75")
    np.testing.assert_array_equal(values(log)[-1], [1.0, 1.75])
    assert not log.damage


def test_of_a_table_with_bytes_overwritten_all_other_rows_are_read(tmp_path):
    text = text_of().encode()
    ends = np.array([i for i, byte in enumerate(text) if byte == ord("\n")])
    for tenth in range(10):
        for noise in (b"\0" * 30, b"\xff" * 30, b"x" * 30, RANDOM.bytes(30)):
            at = len(text) * tenth // 10
            log = read(tmp_path, text[:at] + noise + text[at + len(noise) :])
            hit = set(range(np.searchsorted(ends, at) - 1, np.searchsorted(ends, at + len(noise)) + 1))
            left = [row for row in range(len(TABLE)) if row not in hit]
            there = {float(row[0]): row for row in values(log)}
            np.testing.assert_array_equal([there[time] for time in TABLE[left, 0]], TABLE[left])
            assert log.damage or (log.notes and not tenth)


@each_row("delimiter", [",", ";", "\t"])
def test_a_long_table_has_the_numbers_of_float_and_the_lines_of_its_damage(delimiter, tmp_path):
    numbers = RANDOM.normal(size=(6000, 3)) * 10.0 ** RANDOM.integers(-8, 8, (6000, 3))
    forms = "{!r}", "{:.3f}", "+{!r}", "{:.0f}", "{:.17e}", " {!r} ", "00{:.9f}"
    cells = [
        [forms[(i + j) % len(forms)].format(abs(value)) for j, value in enumerate(row)]
        for i, row in enumerate(numbers.tolist())
    ]
    cells[4000:] = [  # As most tables are, and with cells that are empty.
        [repr(value) if (i + j) % 7 or i < 1000 else "" for j, value in enumerate(row)]
        for i, row in enumerate(numbers[4000:].tolist())
    ]
    right = np.array([[float(cell or "nan") for cell in row] for row in cells])
    lines = [delimiter.join(row) for row in ("abc", *cells)]
    log = read(tmp_path, "\n".join(lines) + "\n")
    assert np.array_equal(values(log), right, equal_nan=True) and not log.damage
    lines[3001] += f"{delimiter}1"
    lines[5001] = "1,5;2" if delimiter == ";" else delimiter.join("12")
    lines[5201] = delimiter.join("1?2")
    log = read(tmp_path, "\n".join(lines) + "\n")
    assert log.damage == (
        "2 lines are left out: not 3 cells in lines 3002 and 5002",
        "column 'b': no number, but such as '?', in line 5202",
    )
    assert len(log.channels["a"]) == 5998


def test_what_is_damaged_is_said_with_its_lines(tmp_path):
    log = read(tmp_path, "t,v,w\n0,1,2\n1,2\n2,x,4\n3,4,5\n4,y,6\n5,6,7\n6,7")
    assert log.damage == (
        "2 lines are left out: not 3 cells in lines 3 and 8",
        "column 'v': no number, but such as 'x', in lines 4 and 6",
    )
    np.testing.assert_array_equal(log.channels["t"].values, [0, 2, 3, 4, 5])
    np.testing.assert_array_equal(log.channels["v"].values, [1, np.nan, 4, np.nan, 6])


POSES = np.column_stack(
    [np.arange(20) / 10, RANDOM.normal(size=(20, 3)), np.tile([0.0, 0.6, 0.0, 0.8], (20, 1))]
)


@pytest.mark.parametrize("header", [[], ["#", "timestamp", "tx", "ty", "tz", "qx", "qy", "qz", "qw"]])
def test_a_trajectory_is_positions_and_orientations(header, tmp_path):
    log = read(tmp_path, text_of(POSES, " ", header), "poses.txt")
    assert (log.kind, log.damage) == ("tum", ())
    np.testing.assert_array_equal(log.channels["position"].values, POSES[:, 1:4])
    np.testing.assert_array_equal(log.channels["orientation"].values, POSES[:, 4:])
    np.testing.assert_array_equal(log.channels["position"].times, POSES[:, 0])
    assert log.channels["position"].unit == "m"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            "t;v\n0,5;1\n",
            "log.csv",
            "log.csv:2: numbers must have decimal points, got '0,5': export it with points, or replace all "
            "commas if they stand for nothing else",
        ),
        (
            "t;v\n0,1;0,2\n0,3;0,4\n",
            "log.csv",
            "log.csv:2: numbers must have decimal points, got '0,1': export it with points, or replace all "
            "commas if they stand for nothing else",
        ),
        ("# nothing\n\n", "log.csv", "log.csv: has no rows"),
        ("t,v\n", "log.csv", "log.csv: has no rows of numbers"),
        (
            "# of May\nt,v,w\n0,1\n1,2\n",
            "log.csv",
            "log.csv:2: must have as many names as its rows have cells, 2, got 3",
        ),
        ("name,mode\na,b\nc,d\n", "log.csv", "log.csv: has no rows of numbers"),
        (
            "t [m],v\n0,1\n",
            "log.csv",
            "log.csv: unit of the times 't [m]' must be s, ms, us, ns or d, got 'm'",
        ),
        (
            "1 2 3\n4 5 6\n",
            "log.tum",
            "log.tum: a TUM trajectory must have 8 columns (t x y z qx qy qz qw), got 3",
        ),
    ],
)
def test_a_table_that_cannot_be_read_says_why(text, name, message, tmp_path):
    with pytest.raises(LogFileError) as error:
        read(tmp_path, text, name)
    assert str(error.value) == message


@pytest.mark.parametrize(("length", "kind"), [(0.989, "csv"), (0.991, "tum"), (1.009, "tum"), (1.011, "csv")])
def test_a_trajectory_is_known_by_the_length_of_its_quaternions(length, kind, tmp_path):
    (tmp_path / "log.txt").write_text("".join(f"{t} 1 2 3 0 0 0 {length}\n" for t in range(4)))
    assert read_log(tmp_path / "log.txt").kind == kind


def test_nanoseconds_of_a_trajectory_are_seconds(tmp_path):
    rows = [f"{1700000000_000000000 + i * 100_000_000} 1 2 3 0 0 0 1" for i in range(5)]
    log = read(tmp_path, "\n".join(rows) + "\n", "poses.tum")
    assert log.channels["position"].times == pytest.approx(1.7e9 + 0.1 * np.arange(5), abs=1e-6)
    assert log.notes == ("times are column 1, taken as ns",)


@each_row(
    "rows, reason",
    [
        (
            "0 0 0 0 0 0 0 1|1 0 0 0 0 0 0 .5|2 0 0 0 0 0 0 .5",
            "columns 5 to 8 must be unit quaternions, got one of length 0.5 in row 2",
        ),
        ("0 0 0 0 0 0 0 1|1 0 0 0 0 0 0 1", ""),
        ("0 0 a 0 0 0 0 1|1 0 b 0 0 0 0 1", "column 3 must hold numbers, got text"),
    ],
)
def test_eight_columns_that_are_no_trajectory_say_why(rows, reason, tmp_path):
    log = read(tmp_path, rows.replace("|", "\n") + "\n")
    assert log.kind == ("csv" if reason else "tum")
    assert log.notes[:1] == ((f"no TUM trajectory: {reason}",) if reason else ())


@pytest.mark.parametrize(("share", "is_read"), [(0.07, True), (0.09, False)])
def test_a_text_has_few_control_characters(share, is_read, tmp_path):
    rows = "t,v\n" + "".join(f"{t},{t}\n" for t in range(400))
    count = round(share * len(rows) / (1 - share))
    (tmp_path / "log.csv").write_bytes(rows.encode() + b"\x01" * count)
    if is_read:
        assert len(read_log(tmp_path / "log.csv").channels["v"]) == 400
        return
    with pytest.raises(LogFileError, match="must be CSV, TSV, TUM"):
        read_log(tmp_path / "log.csv")


@pytest.mark.parametrize(("first", "unit"), [(0.99e9, "s"), (1.01e9, "ms"), (4.0e9, "ms"), (4.2e9, "s")])
def test_times_since_1970_are_from_2001_to_2099(tmp_path, first, unit):
    values = 1e3 * (first + np.arange(5.0))
    assert times_in(tmp_path, "t", values)[1] == unit


@pytest.mark.parametrize(("years", "unit"), [(0.8, "ms"), (1.3, "s")])
def test_times_since_1970_are_of_less_than_a_fiftieth_of_that(tmp_path, years, unit):
    values = 1e3 * (1.76e9 + np.array([0.0, years * 365.25 * 86400]))
    assert times_in(tmp_path, "t", values)[1] == unit


@pytest.mark.parametrize(("last", "rows"), [(0.9e20, 3), (1.1e20, 2)])
def test_a_number_beyond_all_times_is_none(last, rows, tmp_path):
    (tmp_path / "log.csv").write_text(f"t,v\n0,1\n1,2\n{last},3\n")
    log = read_log(tmp_path / "log.csv")
    assert len(log.channels["v"]) == rows
    assert log.damage == (() if rows == 3 else ("1 row is left out: without a time",))


@pytest.mark.parametrize(("cells", "is_number"), [("1 x 2 y", True), ("1 x z y", False)])
def test_a_column_with_numbers_in_half_of_its_cells_is_one_of_numbers(cells, is_number, tmp_path):
    rows = "".join(f"{t},{cell}\n" for t, cell in enumerate(cells.split()))
    (tmp_path / "log.csv").write_text(f"t,v\n{rows}")
    log = read_log(tmp_path / "log.csv")
    assert ("v" in log.channels, dict(log.skipped)) == (is_number, {} if is_number else {"v": "text"})
    assert bool(log.damage) == is_number
