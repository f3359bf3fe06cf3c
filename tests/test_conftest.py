"""What the tests' own rules skip, what they leave as failures, and which examples they draw."""

import importlib
import subprocess

import pytest
from conftest import is_for_want_of_pybullet
from hypothesis import given
from hypothesis import strategies as st

from segtrack.errors import InvalidValueError, MissingPyBulletError

MESSAGE = f"segtrack: {MissingPyBulletError()}\n"


def process_error(stderr):
    return subprocess.CalledProcessError(2, "segtrack", "", stderr)


@pytest.mark.parametrize("error", [MissingPyBulletError(), process_error(f"a notice\n{MESSAGE}")])
def test_what_lacks_pybullet_is_skipped(error):
    assert is_for_want_of_pybullet(error)


@pytest.mark.parametrize(
    "error",
    [
        AssertionError(f"assert 'no vehicle' == {MESSAGE!r}"),
        ModuleNotFoundError("No module named 'pybullet_tools'", name="pybullet_tools"),
        ModuleNotFoundError("No module named 'pybullet'", name="pybullet"),
        InvalidValueError("engine", "pybullet", "native"),
        process_error(f"{MESSAGE}segtrack: another error\n"),
        process_error(f"PyBullet is not installed\n{MESSAGE}ValueError: 1\n"),
        process_error(None),
    ],
)
def test_what_only_mentions_pybullet_stays_a_failure(error):
    assert not is_for_want_of_pybullet(error)


def test_examples_are_the_same_whatever_modules_are_loaded(tmp_path, monkeypatch):
    def examples():
        drawn = []
        given(x=st.floats(0.0, 1.0))(lambda x: drawn.append(x))()
        return drawn

    before = examples()
    (tmp_path / "with_numbers.py").write_text(f"NUMBERS = {[k / 97 for k in range(97)]}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("with_numbers")
    assert examples() == before
