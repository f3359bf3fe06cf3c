"""Numbers of YAML files: those of YAML 1.1 without base 60, and exponents without a sign."""

import itertools
import re
import time

import pytest
import yaml

from segtrack.description import read_value
from segtrack.errors import MappingFileError, TerrainFileError
from segtrack.logs.mapping import parse_mapping, parse_terrain

PIECES = (
    "",
    "-",
    "+",
    "0",
    "07",
    "1",
    "12",
    "_3",
    ".",
    "5",
    "e",
    "E+3",
    "e-2",
    "x1F",
    "b10",
    ".inf",
    ".nan",
    ":30",
)


def same(one, other):
    return one == other or (one != one and other != other)


def test_plain_words_are_read_as_pyyaml_does_but_for_bases_8_and_60_and_exponents():
    differing = set()
    for parts in itertools.product(PIECES, repeat=3):
        text = "".join(parts)
        try:
            theirs = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError):  # No plain word, such as a dash.
            continue
        ours = read_value(text)
        if not same(ours, theirs):
            differing.add(text)
            if ":" in text:
                assert ours == text and isinstance(theirs, int | float)
            elif re.fullmatch(r"[-+]?0[0-7_]+", text):  # Of base 8 there.
                assert ours == text and isinstance(theirs, int)
            else:  # Python's number, where PyYAML has text.
                assert theirs == text and ours == float(text.replace("_", ""))
    assert {"1:30", "-12:30", "1:30:30", "1e-2", "-.5"} <= differing


@pytest.mark.parametrize("text", ["1:30", "1:30:00", "-1:30", "1:30.5"])
def test_base_60_is_text(text):
    assert read_value(f"{{a: {text}}}") == {"a": text}
    assert read_value(f"{text}: {text}") == {text: text}


HINT = ": write one number in the key's unit, as 90 for a minute and a half in seconds"


def test_a_number_of_base_60_is_refused_as_it_stands():
    mapping = "start: 1:30\nend: -1:30.5\nquantities: {yaw: {channel: a, unit: rad, std: 1:3}}"
    with pytest.raises(MappingFileError) as error:
        parse_mapping(mapping, "m.yaml")
    assert str(error.value).splitlines() == [
        f"m.yaml:1: start must be a number, got '1:30'{HINT}",
        f"m.yaml:2: end must be a number, got '-1:30.5'{HINT}",
        f"m.yaml:3: quantities.yaw.std must be a number, got '1:3'{HINT}",
    ]


def test_a_height_of_base_60_is_refused_as_it_stands():
    with pytest.raises(TerrainFileError) as error:
        parse_terrain("terrain: [{step: {height: 0:20, length: 2.0}}]", "t.yaml")
    assert str(error.value) == f"t.yaml:1: terrain[0].step.height must be a number, got '0:20'{HINT}"


def test_a_setting_of_base_60_is_no_number():
    from segtrack.cli.learn import _read

    assert _read("1:30") == "1:30" and _read("[1, 2]") == [1, 2] and _read("1e-1") == 0.1


@pytest.mark.parametrize("text", ["1" * 64_000 + "x", "." + "1" * 64_000 + "e", "1_" * 32_000 + ".e"])
def test_a_long_scalar_is_read_in_time_that_grows_with_its_length(text):
    begun = time.process_time()
    assert read_value(text) == text
    assert time.process_time() - begun < 1.0
