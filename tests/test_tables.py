"""Tables whose rows are tried in one case: all of them, with every failure told."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
from tables import each_row

import segtrack


def ending_of(test: Callable[..., None], **fixtures: object) -> str:
    """How a case ends, when it does not pass."""
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as caught:
        test(**fixtures)
    return f"{type(caught.value).__name__}: {caught.value}"


def test_every_row_is_tried_and_each_that_fails_is_told() -> None:
    tried = []

    @each_row("number, name", [(1, "a"), (2, "b"), (3, "c"), (4, "d")])
    def test(number: int, name: str) -> None:
        tried.append(name)
        if number == 2:
            raise segtrack.SegtrackError("no second")
        with pytest.raises(ValueError):
            float("x" if number != 3 else "0")

    told = ending_of(test)
    assert tried == list("abcd")
    assert told.startswith("Failed: 2 of 4 rows:\n(2, 'b')\nTraceback")
    assert "SegtrackError: no second\n" in told and "\n(3, 'c')\n" in told and "DID NOT RAISE" in told
    assert "'a'" not in told and "'d'" not in told


def test_rows_that_pass_are_one_case_that_passes_with_the_fixtures_of_the_test() -> None:
    @each_row("word", ["ab", "cd"])
    def test(word: str, length: int) -> None:
        assert len(word) == length

    assert list(inspect.signature(test).parameters) == ["length"]
    test(length=2)
    assert ending_of(test, length=3).startswith("Failed: 2 of 2 rows:\nab\n")


def test_each_row_has_a_folder_of_its_own(tmp_path: Path) -> None:
    @each_row("name", ["a", "b"])
    def test(name: str, tmp_path: Path) -> None:
        assert list(tmp_path.iterdir()) == []
        (tmp_path / name).touch()

    test(tmp_path=tmp_path)


def test_rows_that_are_skipped_are_counted_and_hide_no_failure() -> None:
    @each_row("number", [1, 2, 3])
    def test(number: int, wrong: int) -> None:
        if number == 1:
            pytest.skip("of an extra")
        assert number != wrong

    assert ending_of(test, wrong=0) == "Skipped: test: 1 of 3 rows: of an extra"
    assert ending_of(test, wrong=3).startswith("Failed: 1 of 3 rows:\n3\n")


def test_a_row_is_skipped_for_want_of_pybullet_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @each_row("number", [1, 2])
    def test(number: int) -> None:
        if number == 1:
            raise segtrack.errors.MissingPyBulletError

    monkeypatch.setattr("tables.DEFAULT_ENGINE", "native")
    assert ending_of(test) == "Skipped: test: 1 of 2 rows: needs PyBullet"
    monkeypatch.setattr("tables.DEFAULT_ENGINE", "pybullet")
    assert ending_of(test).startswith("Failed: 1 of 2 rows:\n1\n")


def test_a_table_without_rows_fails() -> None:
    @each_row("number", [])
    def test(number: int) -> None: ...

    with pytest.raises(AssertionError):
        test()
