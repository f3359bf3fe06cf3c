"""Searches upwards on given trials."""

import io

import pytest
from rich.console import Console

from segtrack.errors import InvalidValueError
from segtrack.experiments import SearchTrial, UpwardSearch
from segtrack.report import draw_search, search_table


def run(search, passes, measure=lambda value: 0.0):
    trials = []
    while (value := search.next(trials)) is not None:
        trials.append(SearchTrial(value, passes(value), measure(value)))
    return trials, search.found(trials)


def test_the_largest_is_the_last_before_the_first_that_fails():
    trials, found = run(UpwardSearch(0.7, 1.0, 0.02), lambda height: height < 0.79)
    assert [trial.tried for trial in trials] == [0.7, 0.72, 0.74, 0.76, 0.78, 0.8]
    assert found == (0.78, "0.8 is not passed")


def test_the_limiting_speed_is_where_the_line_between_neighbours_crosses():
    search = UpwardSearch(1.0, 8.0, 1.0, "peak", 2.5)
    trials, found = run(search, lambda speed: True, lambda speed: speed**2 / 4)
    assert [trial.tried for trial in trials] == [1.0, 2.0, 3.0, 4.0]
    assert found.value == pytest.approx(3.0 + (2.5 - 2.25) / (4.0 - 2.25))
    assert found.reason == "crosses 2.5 between 3 and 4"


def test_a_peak_that_falls_again_does_not_count():
    """Raised upwards, the first crossing is found; a bisection of 1 to 8 m/s would have found the third."""
    peaks = {1.0: 1.0, 2.0: 3.0, 3.0: 2.0, 4.0: 2.0, 5.0: 4.0}
    trials, found = run(UpwardSearch(1.0, 8.0, 1.0, "peak", 2.5), lambda speed: True, peaks.__getitem__)
    assert len(trials) == 2 and found.value == pytest.approx(1.75)


@pytest.mark.parametrize(
    ("passes", "found"),
    [
        (lambda value: True, (0.3, "holds up to 0.3, the highest that was tried")),
        (lambda value: False, (None, "0.1, the lowest that was tried, is not passed")),
    ],
)
def test_ends_of_the_range_are_said(passes, found):
    assert run(UpwardSearch(0.1, 0.3, 0.1), passes)[1] == found


def test_a_run_that_does_not_pass_ends_a_search_of_peaks():
    _, found = run(UpwardSearch(1.0, 4.0, 1.0, "peak", 2.5), lambda speed: speed < 3.0, lambda speed: 1.0)
    assert found == (2.0, "3 is not passed")


@pytest.mark.parametrize("criterion", ["passed", "peak"])
@pytest.mark.parametrize(
    ("outcome", "reason", "said"),
    [
        ("diverged", "simulation diverged: x [/m]", "simulation diverged: x [/m]"),
        ("interrupted", "", "interrupted"),
    ],
)
def test_a_search_that_ends_in_divergence_has_no_limit(criterion, outcome, reason, said):
    """A value that held is none: what stopped the search is the simulation, not the vehicle."""
    search = UpwardSearch(0.1, 0.3, 0.1, criterion, 2.5)
    trials = [
        search.judge(0.1, 1.0, "passed", "", 1.0, None, ""),
        search.judge(0.2, 99.0, outcome, "", 1.0, None, reason),
    ]
    assert search.next(trials) is None
    found = search.found(trials)
    assert found == (None, f"0.2 is undecided: {said}")
    table = search_table(search, trials, found, "height [m]", "rover [/home]: step [m]")
    console = Console(width=200, file=io.StringIO())
    console.print(table)
    text = console.file.getvalue()
    assert "undecided" in text and said in text and "rover [/home]: step [m]" in text
    (line, *_) = draw_search(search, trials, found, "height [m]").axes[0].get_lines()
    assert line.get_xdata().tolist() == [0.1]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0.0, 1.0, 0.1), "start of a search must be above 0, got 0.0"),
        ((1.0, 2.0, 0.0), "increment of a search must be at least 0.0001, got 0.0"),
        ((1.0, 0.5, 0.1), "end of a search must be at least its start of 1, got 0.5"),
    ],
)
def test_a_range_that_is_none_is_refused(numbers, message):
    with pytest.raises(InvalidValueError) as error:
        UpwardSearch(*numbers)
    assert str(error.value) == message


def test_a_speed_with_which_a_vehicle_does_not_arrive_ends_a_search():
    search = UpwardSearch(1.0, 9.0, 1.0, criterion="peak", limit=2.5, raised="speed")
    trials = [search.judge(v, 1.0, "passed", "", v, arrived, "") for v, arrived in ((1.0, 0.95), (2.0, 1.7))]
    assert [search.holds(trial) for trial in trials] == [True, False]
    assert search.found(trials) == (1.0, "2 is not passed: it arrives at 1.7 m/s")
    assert search.next(trials) is None
    from_rest = search.judge(2.0, 1.0, "passed", "", 2.0, None, "")
    assert search.holds(from_rest)
