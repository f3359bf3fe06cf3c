"""Split times, from the events of a trial."""

from segtrack.courses import fastest, read_repetitions

EVENTS = [
    ("gate", 4.0), ("gate", 9.0), ("repetition", 9.0),
    ("gate", 12.0), ("fault", 13.0), ("restart", 13.0),
    ("gate", 16.0), ("gate", 20.0), ("repetition", 20.0),
    ("gate", 21.0), ("gate", 22.0), ("void", 22.0),
    ("pause", 23.0), ("gate", 25.5),
]  # fmt: skip


def test_splits_begin_with_their_repetition_and_the_fastest_is_credited():
    repetitions = read_repetitions(EVENTS)
    assert [each.splits for each in repetitions] == [(4, 9), (3,), (3, 7), (1, 2), (3.5,)]
    assert [each.completed for each in repetitions] == [True, False, True, False, False]
    assert fastest(repetitions) == (3, 7)
    assert fastest(read_repetitions([])) == ()


def test_a_repetition_that_begins_fastest_is_not_the_fastest():
    """2 s to the first gate and 9 to the end lose against 3 and 7."""
    later = [("gate", 22.0), ("gate", 29.0), ("repetition", 29.0)]
    assert fastest(read_repetitions([*EVENTS[:9], *later])) == (3, 7)
