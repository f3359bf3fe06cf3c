"""Kernels: what their compiled code depends on, where it is kept, and how its making is shown."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from segtrack.kernels import (
    _TESTED,
    BarReporter,
    Kernel,
    Packed,
    compiled,
    compiling,
    entry,
    inlined,
    item,
    report_to,
)
from segtrack.kernels.compiling import content_hash
from segtrack.kernels.progress import NOTICE, LogReporter, current_reporter

pytestmark = pytest.mark.skipif(compiling.config.DISABLE_JIT, reason="nothing is compiled")
TEXT = """
from segtrack.kernels.compiling import compiled, entry
{import_line}
FACTOR = {factor}

@compiled
def inner(x):
    \"\"\"{words}\"\"\"
    return {body}

@compiled
def beside(x):
    return x

@entry
def outer(x):
    return inner(x) + 1.0
"""
PLAIN = dict(import_line="", factor=2.0, words="Words.", body="FACTOR * x")


def made_from(**changes: object) -> dict[str, Kernel]:
    """The kernels of a module with this text."""
    names: dict[str, object] = {"__name__": "made"}
    exec(TEXT.format(**{**PLAIN, **changes}), names)
    return {name: names[name] for name in ("inner", "beside", "outer")}  # type: ignore[misc]


@compiled
def twice(x: float) -> float:
    """Return 2 x."""
    return 2.0 * x


@inlined
def thrice(x: float) -> float:
    """Return 3 x."""
    return 3.0 * x


@entry
def sextuple(x: float) -> float:
    """Return 6 x."""
    return twice(thrice(x))


# What compiled code depends on


def test_a_kernel_contains_its_callees_and_itself_last():
    assert twice.callees() == [twice]
    assert sextuple.callees() == [twice, thrice, sextuple]


@pytest.mark.parametrize("change", [dict(body="FACTOR + x"), dict(factor=3.0), dict(body="x * FACTOR")])
def test_a_kernel_is_another_where_one_that_it_calls_is(change):
    """Its own module need not have changed: numba alone would not notice."""
    before, after = made_from(), made_from(**change)
    assert content_hash(before["inner"]) != content_hash(after["inner"])
    assert content_hash(before["outer"]) != content_hash(after["outer"])
    assert content_hash(before["beside"]) == content_hash(after["beside"])


def test_a_kernel_is_another_where_a_named_tuple_that_it_is_given_has_its_fields_in_another_order():
    """Also one within: which array a name stands for is not in the code."""

    def hash_of(fields: str) -> str:
        text = (
            "from __future__ import annotations\nfrom typing import NamedTuple\n"
            "from segtrack.kernels.compiling import compiled\n"
            f"class Inside(NamedTuple):\n    {fields}\n"
            "class Pair(NamedTuple):\n    inside: Inside\n    scale: float\n"
            "@compiled\ndef read(pair: Pair) -> float:\n    return pair.inside.a * pair.scale\n"
        )
        names = {"__name__": "made_tuples"}
        exec(text, names)
        sys.modules["made_tuples"] = SimpleNamespace(**names)
        try:
            return content_hash(names["read"])
        finally:
            del sys.modules["made_tuples"]

    assert hash_of("a: float; b: float") == hash_of("a: float; b: float")
    assert hash_of("a: float; b: float") != hash_of("b: float; a: float")


def test_words_and_places_change_no_kernel():
    before, after = made_from(), made_from(words="Others.", import_line="\n\nimport os\n")
    for name in before:
        assert content_hash(before[name]) == content_hash(after[name])


def test_kernels_are_the_same_in_every_process():
    program = (
        "from segtrack.kernels.compiling import content_hash; from segtrack.kernels.vectors import arm;"
        "print(content_hash(arm))"
    )
    seeds = ("1", "2")
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    ]
    assert found[0] == found[1] != ""


def test_kernels_of_any_kind_can_be_called_from_python():
    assert (twice(2.0), thrice(2.0), sextuple(2.0)) == (4.0, 6.0, 12.0)


# Where it is kept


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Three folders for kernels, the last one of them temporary."""
    found = [tmp_path / name for name in ("package", "user", "temporary")]
    monkeypatch.setattr(compiling, "cache_folders", lambda: found)
    compiling.writable_folder.cache_clear()
    yield found
    compiling.writable_folder.cache_clear()


def files(folder: Path) -> int:
    """How many files there are."""
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_kernels_are_kept_in_the_first_folder_that_can_be_written(folders, caplog):
    folders[0].touch()  # No folder, so nothing can be written in it.
    made_from()["outer"](1.0)
    assert [files(folder) for folder in folders] == [0, 4, 0]
    assert "kept" not in caplog.text


def test_a_temporary_folder_is_taken_and_named_where_no_other_can_be_written(folders, caplog):
    folders[0].touch(), folders[1].touch()
    kernel = made_from()["outer"]
    kernel(1.0), kernel(1)
    assert files(folders[2]) == 6
    assert folders[2].stat().st_mode & 0o777 == 0o700
    warning = (
        "segtrack: no lasting folder can be written, compiled kernels are kept in {}; "
        "NUMBA_CACHE_DIR may name one"
    )
    kept = [record.getMessage() for record in caplog.records if "kept" in record.getMessage()]
    assert kept == [warning.format(folders[2])]


def test_kernels_run_where_nothing_can_be_written(folders, caplog):
    for folder in folders:
        folder.touch()
    assert made_from()["outer"](1.0) == 3.0
    assert "compiled kernels are not kept" in caplog.text


def test_kernels_are_not_taken_from_a_temporary_folder_that_others_can_write_to(folders):
    folders[0].touch(), folders[1].touch()
    folders[2].mkdir()
    folders[2].chmod(0o777)
    assert not compiling.is_private(folders[2])
    assert compiling.writable_folder() is None
    folders[2].chmod(0o755)
    assert compiling.is_private(folders[2])


def test_kernels_are_read_from_folders_that_cannot_be_written(folders, monkeypatch):
    """So that a container image can bring them along for any user."""
    made_from()["outer"](1.0)
    compiling.writable_folder.cache_clear()
    monkeypatch.setattr(compiling, "is_writable", lambda folder: False)
    again = made_from()["outer"]
    assert again(1.0) == 3.0
    assert (sum(again.stats.cache_hits.values()), sum(again.stats.cache_misses.values())) == (1, 0)


@pytest.mark.parametrize(
    "gone", [None, b"csegtrack.ground.gone\nParameters\n.", b"csegtrack.kernels.compiling\nGone\n."]
)
def test_what_cannot_be_read_is_compiled_anew(folders, gone):
    """Empty files; files of a version that had a type in a module, or under a name, that is gone."""
    made_from()["outer"](1.0)
    for file in folders[0].iterdir():
        version = b"" if gone is None else pickle.dumps(numba.__version__)
        file.write_bytes(version + (gone or b""))
    again = made_from()["outer"]
    assert again(1.0) == 3.0
    assert sum(again.stats.cache_misses.values()) == 1


def test_importing_kernels_touches_no_file(tmp_path):
    program = "import segtrack.native.step, segtrack.chain.advance"
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", "vehicles"])
def test_commands_run_where_no_home_can_be_written(tmp_path, command):
    """Root can write anywhere, so the home is a file."""
    home = tmp_path / "home"
    home.touch()
    env = {**os.environ, "HOME": str(home), "NUMBA_CACHE_DIR": str(home), "XDG_CACHE_HOME": str(home)}
    program = (
        "from segtrack.kernels import compiling; from pathlib import Path;"
        f"compiling._PACKAGE = Path({str(home)!r}); from segtrack.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program, command], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


# How it is shown


class Shown:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def begin(self, total: float) -> None:
        self.told.append(("begin", total))

    def advance(self, name: str, done: float) -> None:
        self.told.append((name, done))

    def end(self) -> None:
        self.told.append("end")


def test_compilation_is_shown_kernel_by_kernel_up_to_its_whole(folders):
    shown = Shown()
    with report_to(shown):
        kernel = made_from()["outer"]
        kernel(1.0)
        kernel(1.0)
    assert shown.told == [("begin", 3.0), ("inner", 1.0), ("outer", 3.0), "end"]


def test_one_line_is_logged_for_all_kernels_of_a_process(folders, caplog):
    with report_to(LogReporter()):
        made_from()["outer"](1.0)
        made_from(factor=5.0)["outer"](1.0)
    assert [record.getMessage() for record in caplog.records] == [NOTICE]


def test_a_bar_is_a_task_of_the_one_that_is_shown(folders):
    from rich.console import Console
    from rich.progress import Progress

    with open(os.devnull, "w") as null:
        bar = Progress(console=Console(file=null))
        with bar, report_to(BarReporter(bar)):
            bar.add_task("climbing", total=1.0)
            made_from()["outer"](1.0)
            assert [task.description for task in bar.tasks] == ["climbing"]


def test_lines_are_logged_where_standard_error_is_no_terminal():
    assert isinstance(current_reporter(), LogReporter)


def test_warming_up_says_what_was_compiled_where_and_how_long_it_took(monkeypatch, capsys):
    from segtrack.cli import warm_up

    found = [
        warm_up.CompiledKernels("native", "compliant", 88, 20.04, "/kept/here"),
        warm_up.CompiledKernels("pictures", "", 0, 0.5, "/kept/here"),
    ]
    monkeypatch.setattr(warm_up, "compile_kernels", lambda: iter(found))
    warm_up.warm_up(as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["seconds"] == pytest.approx(20.54)
    assert told["kernels"][0] == {
        "engine": "native",
        "track_model": "compliant",
        "compiled": 88,
        "seconds": 20.04,
        "folder": "/kept/here",
    }
    warm_up.warm_up()
    words = capsys.readouterr().out
    assert "compliant" in words and "20.0" in words and "kept in /kept/here" in words


@pytest.mark.slow
def test_nothing_is_left_to_compile_after_warming_up(tmp_path):
    """For climbs with readings of every engine and track model that has kernels; all are compiled once."""
    program = "import sys; sys.argv = ['segtrack', *sys.argv[1:]]; from segtrack.cli import main; main()"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def segtrack_says(*words: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", program, *words], env=env, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    counts = [json.loads(segtrack_says("warm-up", "--json")[0])["kernels"] for _ in range(2)]
    assert sum(one["compiled"] for one in counts[0]) > 100
    assert sum(one["compiled"] for one in counts[1]) == 0
    climb = ("climb", "packbot", "--engine", "native", "--step", "0.01", "--speed", "0.3", "--track-model")
    for model in ("compliant", "chain"):
        assert NOTICE not in segtrack_says(*climb, model)[1]


def test_products_and_sums_round_one_after_the_other_on_any_processor():
    @entry
    def product_and_sum(a: float, b: float, c: float) -> float:
        return a * b + c

    tiny = 2.0**-27
    # (1 + e)^2 is 1 + 2e + e^2, whose last term is below rounding: a fused product would keep it.
    assert product_and_sum(1 + tiny, 1 + tiny, -(1 + 2 * tiny)) == 0.0


class Pair(NamedTuple):
    """Two arrays and a number."""

    values: NDArray[np.float64]
    counts: NDArray[np.intp]
    factor: float


@entry
def double_and_add(pairs: Packed, row: int) -> float:
    """Double the values of one of many pairs, and return the sum of everything in it."""
    pair, total = item(pairs, row), 0.0
    for i in range(len(pair.values)):
        pair.values[i] *= 2
        total += pair.values[i]
    return total + pair.counts[1, 1] + pair.factor


def test_each_of_many_packed_tuples_is_read_and_its_arrays_are_written():
    pairs = [Pair(np.arange(n, dtype=float), np.full((2, 3), n), 0.25 * n) for n in (3, 5, 2)]
    rows = Packed.joined([Packed.of(pair) for pair in pairs])
    for row, pair in enumerate(pairs):
        before = pair.values.copy()
        assert double_and_add(rows, row) == 2 * before.sum() + pair.counts[1, 1] + pair.factor
        np.testing.assert_array_equal(pair.values, 2 * before)


def test_numbers_of_numpy_are_packed_as_pythons_are():
    values, counts = np.ones(2), np.full((2, 2), 3)
    rows = Packed.of(Pair(values, counts, np.float64(0.25)))
    assert double_and_add(rows, 0) == 4.0 + 3.0 + 0.25


def test_tuples_of_several_kinds_are_not_packed_together():
    """One would be read as if it were the other."""
    whole, part = Pair(np.ones(2), np.full((2, 2), 3), 1), Pair(np.ones(2), np.full((2, 2), 3), 1.0)
    with pytest.raises(TypeError, match="of 2 kinds"):
        Packed.joined([Packed.of(whole), Packed.of(part)])


# Versions of numba, whose inner classes are used


NEWER = (
    "import importlib.metadata as metadata; known = metadata.version;"
    "metadata.version = lambda name: '0.99.1' if name == 'numba' else known(name);"
    "import segtrack.kernels; print('imported')"
)


def test_a_numba_that_was_not_run_is_refused_with_what_to_install():
    done = subprocess.run([sys.executable, "-c", NEWER], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "segtrack.errors.UntestedVersionError: numba 0.99.1 is installed; segtrack uses its inner classes "
        "and was run with >=0.62,<0.69: pip install 'numba>=0.62,<0.69', or try it all the same with "
        "SEGTRACK_ANY_NUMBA=1 in the environment"
    )


def test_a_numba_that_was_not_run_can_be_tried():
    env = {**os.environ, "SEGTRACK_ANY_NUMBA": "1"}
    done = subprocess.run([sys.executable, "-c", NEWER], capture_output=True, text=True, env=env)
    assert done.stdout == "imported\n", done.stderr


def test_the_versions_of_numba_that_were_run_are_those_of_the_package():
    requirement = next(each for each in requires("segtrack") if each.startswith("numba"))
    assert sorted(requirement.removeprefix("numba").split(";")[0].split(",")) == sorted(_TESTED.split(","))


# Settings of numba


@pytest.mark.parametrize(
    ("environment", "file", "said"),
    [
        (
            {"NUMBA_NUM_THREADS": "0"},
            "",
            "(Number of threads specified must be > 0), got NUMBA_NUM_THREADS=0",
        ),
        (
            {"NUMBA_OPT": "x"},
            "",
            "(Environment variable 'NUMBA_OPT' is defined but its associated value 'x' could not be parsed), "
            "got NUMBA_OPT=x",
        ),
        ({}, "- 1", "('list' object has no attribute 'items'), got .numba_config.yaml in this folder"),
    ],
    ids=["refused", "left out", "file"],
)
def test_settings_that_numba_does_not_take_are_named(
    environment: dict[str, str], file: str, said: str, tmp_path: Path
) -> None:
    if file:
        (tmp_path / ".numba_config.yaml").write_text(file)
    program = """
import segtrack
try:
    segtrack.World(engine="native")
except segtrack.SegtrackError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (done.stdout, done.stderr) == (f"numba's settings must be ones that it takes {said}\n", "")
