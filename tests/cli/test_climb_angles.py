"""Angles of flippers, which are degrees at the command line."""

import json

import pytest
from command_line import run


@pytest.mark.slow
def test_flippers_stand_at_the_angles_that_are_given_in_degrees(tmp_path):
    given = ["--flippers", "20", "--rear-flippers", "30", "--engine", "native", "--preset", "fast"]
    drive = ["climb", "quince", "--step", "0.02", "--speed", "0.5", "--json", "--out", "out"]
    found = json.loads(run(*drive, *given, folder=tmp_path).stdout)
    ends = {"front": 20.0, "rear": 30.0}
    assert found["flippers_deg"] == {f"{end}_{side}": ends[end] for end in ends for side in ("left", "right")}
