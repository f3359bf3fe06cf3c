"""Mistakes of users on the command line: one clear error for each option, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from command_line import CLIMB, KNOWN, PROGRAM
from quick import some_of
from tables import each_row
from typer.testing import CliRunner

import segtrack
from segtrack.cli.app import app
from segtrack.courses import bundled_courses
from segtrack.engine import DEFAULT_ENGINE, track_model_names
from segtrack.envs.learning.policies import NAMES
from segtrack.files import picture_suffixes

ALL_MODELS = ", ".join(track_model_names())
REPRODUCE = (
    "okada-table-2",
    "speed",
    "chain-speed",
    "okada-table-4",
    "turning",
    "maxxii",
    "segments-vs-chain",
    "films",
    "log-round-trip",
    "clocks",
    "log-speed",
    "calibration",
    "attia",
    "korner",
    "robots",
    "verdict",
    "step-limit",
    "mujoco-tracks",
)
LOG = ["log.csv", "--mapping", "log.yaml"]
REPLAYS = [["log", "compare", *LOG], ["log", "report", *LOG]]
EVENTS = [
    ["event", "step", "packbot", "--height", "0.1"],
    ["event", "gap", "packbot", "--length", "0.3"],
    ["event", "half-round", "packbot", "--height", "0.1"],
    ["event", "trapezoid", "packbot", "--number", "1"],
    ["event", "ride", "packbot", "--rms", "0.1"],
]
WRITES_A_FOLDER = [
    CLIMB,
    ["train", "StepClimb"],
    ["evaluate", "StepClimb"],
    ["benchmark", "Drive"],
    ["preview", "Drive"],
    ["urdf", "packbot"],
    *(["reproduce", name] for name in REPRODUCE),
    *REPLAYS,
    ["log", "plan", "packbot"],
    *(["log", name, "log.csv"] for name in ("inspect", "map")),
    *(["log", name] for name in ("climbs", "turns")),
    ["log", "fit", "maxxii"],
]
READS_A_VEHICLE = [
    ["climb"],
    ["validate"],
    ["urdf"],
    ["draw"],
    ["train", "StepClimb", "--vehicle"],
    ["evaluate", "StepClimb", "--vehicle"],
    ["benchmark", "Drive", "--vehicle"],
    ["preview", "Drive", "--vehicle"],
    ["reproduce", "turning", "--vehicle"],
]
CHOOSES_A_TRACK_MODEL = [
    CLIMB,
    ["evaluate", "StepClimb"],
    ["reproduce", "okada-table-4"],
    ["reproduce", "turning"],
    ["reproduce", "maxxii"],
    *REPLAYS,
    ["log", "climbs"],
    ["log", "turns"],
    ["log", "fit", "maxxii"],
]
CHOOSES_A_PRESET = [CLIMB, ["evaluate", "StepClimb"], ["reproduce", "okada-table-4"]]
CHOOSES_AN_ENGINE = [
    *CHOOSES_A_PRESET,
    ["benchmark", "Drive"],
    ["reproduce", "turning"],
    *REPLAYS,
    ["log", "climbs"],
]
FILMS = [*CLIMB, "--record", "film.gif"]
COUNTS = [
    (["train", "StepClimb"], "--steps"),
    (["train", "StepClimb"], "--robots"),
    (["train", "StepClimb"], "--threads"),
    (["evaluate", "StepClimb"], "--episodes"),
    (["benchmark", "Drive"], "--steps"),
    (["benchmark", "Drive"], "--rounds"),
    (["preview", "Drive"], "--courses"),
    (["reproduce", "okada-table-2"], "--rounds"),
    (["reproduce", "speed"], "--rounds"),
    (["reproduce", "chain-speed"], "--rounds"),
    (["reproduce", "maxxii"], "--rows"),
    (["reproduce", "films"], "--rounds"),
    (["reproduce", "log-round-trip"], "--seeds"),
    (["reproduce", "clocks"], "--logs"),
    *((call, "--jobs") for call in (*REPLAYS, ["log", "climbs"], ["log", "turns"], ["log", "fit", "maxxii"])),
    (["reproduce", "calibration"], "--jobs"),
    (["reproduce", "calibration"], "--count"),
    (["reproduce", "verdict"], "--jobs"),
    (["reproduce", "verdict"], "--seeds"),
    (["reproduce", "step-limit"], "--generations"),
    (["reproduce", "step-limit"], "--robots"),
    (["log", "plan", "packbot"], "--jobs"),
    (["study", "study.yaml"], "--jobs"),
]
SEEDS = [
    (["train", "StepClimb"], "--seed"),
    (["evaluate", "StepClimb"], "--seed"),
    (["preview", "StepClimb"], "--seed"),
    (["reproduce", "calibration"], "--seed"),
    (["reproduce", "step-limit"], "--seed"),
    (["event", "ride", "packbot", "--rms", "0.1"], "--seed"),
    (["study", "study.yaml"], "--row"),
    (["study", "study.yaml"], "--beside"),
]
TEXT_FOR_A_NUMBER = [
    (["courses", "draw", "gaps"], "--setting"),
    *((CLIMB, option) for option in ("--step", "--speed", "--friction", "--flippers", "--rear-flippers")),
    (["train", "StepClimb"], "--hardest"),
    *((call, "--setting") for call in REPLAYS),
    (["reproduce", "log-speed"], "--minutes"),
]
WITH_A_UNIT = [
    *((CLIMB, option) for option in ("--step", "--speed", "--friction", "--flippers", "--rear-flippers")),
    *((["event", "step", "packbot"], option) for option in ("--height", "--time-step", "--speed")),
    *((["event", "gap", "packbot"], option) for option in ("--length", "--depth")),
    *((["event", "half-round", "packbot"], "--height"), (["event", "trapezoid", "packbot"], "--height")),
    *((["event", "ride", "packbot"], option) for option in ("--rms", "--gauge", "--longest", "--shortest")),
    (["benchmark", "Drive", "--num-envs", "2"], "--time-step"),
    (["reproduce", "log-speed"], "--minutes"),
]
"""Options of which a number in another unit is refused, and so are numbers that are none."""
PICTURES = ", ".join(picture_suffixes())
STUDY = """
vehicle: packbot
engine: native
track_model: compliant
time_step: 0.002
event: {kind: step, height: 0.1, speed: 0.2}
criterion: passed
parameters: {friction: {paths: [tracks.*.contact.friction], low: 0.5, high: 0.8, count: 3}}
"""


def wrong_paths() -> Iterator[tuple[list[str], str]]:
    for call in WRITES_A_FOLDER:
        for path, reason in (
            ("bad.yaml", "bad.yaml is a file, not a folder"),
            ("bad.yaml/in", "bad.yaml is a file, not a folder"),
            ("/proc/here", "No such file or directory"),
            ("x" * 300, "File name too long"),
        ):
            yield [*call, "--out", path], f"cannot write to {path}: {reason}"
    for call, option, name, suffixes in (
        (["draw", "quince"], "--out", "x.png", PICTURES),
        (["courses", "draw", "gaps"], "--out", "x.png", PICTURES),
        (CLIMB, "--record", "x.gif", ".mp4, .gif"),
    ):
        yield [*call, option, "folder"], "cannot write to folder: is a folder, not a file"
        yield [*call, option, f"folder/{name}"], f"cannot write to folder/{name}: is a folder, not a file"
        for other in ("x.bmp", "x.pgf"):
            yield [*call, option, other], f"{option} must be a file of {suffixes}, got '{other}'"
        long = "x" * 300 + Path(name).suffix
        yield [*call, option, long], f"cannot write to {long}: File name too long"
        yield [*call, option, "x"], f"{option} must be a file of {suffixes}, got 'x'"
        yield (
            [*call, option, f"bad.yaml/{name}"],
            "cannot write to bad.yaml: bad.yaml is a file, not a folder",
        )
        yield [*call, option, f"/proc/here/{name}"], "cannot write to /proc/here: No such file or directory"
    for call in READS_A_VEHICLE:
        yield [*call, "no.yaml"], "cannot read no.yaml: no such file"
        yield [*call, "folder"], "cannot read folder: is a folder, not a vehicle file"
        yield [*call, "empty.yaml"], "empty.yaml: must be a mapping of keys, got None"
        yield (
            [*call, "bad.yaml"],
            "bad.yaml:1: is not YAML: column 12: expected ',' or ']', but got '<stream end>'",
        )
    for call in (["courses", "validate"], ["courses", "draw"]):
        yield [*call, "no.yaml"], "cannot read no.yaml: no such file"
        yield [*call, "folder"], "cannot read folder: is a folder, not a course file"
        yield [*call, "empty.yaml"], "empty.yaml: must be a mapping of keys, got None"
    for call in (
        *READS_A_VEHICLE,
        *(["log", name] for name in ("inspect", "map", "fit")),
        *(["log", name, "log.csv", "--mapping"] for name in ("map", "compare", "report", "turns")),
        ["study"],
        ["replay"],
        ["courses", "draw"],
        ["evaluate", "StepClimb", "--policy"],
    ):
        yield [*call, "./pipe"], "cannot read pipe: is a pipe, socket or device, not a file"
    for name in ("inspect", "map"):
        yield ["log", name, "no.csv"], "cannot read no.csv: No such file or directory"
        yield ["log", name, "folder"], "folder: is a folder without .db3 or .mcap: no ROS 2 bag"
        yield ["log", name, "empty.yaml"], "empty.yaml: is empty"
    for name in ("map", "compare", "report", "turns"):
        mapping = ["log", name, "log.csv", "--mapping"]
        yield [*mapping, "no.yaml"], "cannot read no.yaml: No such file or directory"
        yield (
            [*mapping, "bad.yaml"],
            "bad.yaml:1: is not YAML: column 12: expected ',' or ']', but got '<stream end>'",
        )
    yield ["log", "climbs", "no.csv"], "cannot read no.csv: No such file or directory"
    yield ["log", "fit", "no.yaml"], "cannot read no.yaml: no such file"
    policy = ["evaluate", "StepClimb", "--policy"]
    yield [*policy, "no.npz"], "cannot read policy no.npz: No such file or directory"
    yield [*policy, "folder/"], "cannot read policy folder: Is a directory"
    yield [*policy, "bad.yaml"], "cannot read policy bad.yaml: not a file of the format 'segtrack policy 1'"
    for call in (["train", "StepClimb", "--options"], ["evaluate", "StepClimb", "--options"]):
        yield [*call, "no.yaml"], "cannot read no.yaml: No such file or directory"
        yield [*call, "./pipe.yaml"], "cannot read pipe.yaml: No such file or directory"
        yield [*call, "empty.yaml"], "options of empty.yaml must be values by name, got None"
    for folder in ("folder", "nowhere"):
        file = f"{folder}/settings.json"
        reason = f"cannot read training settings {file}: No such file or directory"
        yield ["train", "StepClimb", "--resume", "--out", folder], reason


def wrong_names() -> Iterator[tuple[list[str], str]]:
    for call in READS_A_VEHICLE:
        for name in ("qince", ""):
            yield [*call, name], f"no vehicle {name!r}; there are: {KNOWN}"
    courses = ", ".join(bundled_courses())
    for call in (["courses", "validate"], ["courses", "draw"]):
        yield [*call, "gap"], f"no course 'gap'; there are: {courses}"
    for call in CHOOSES_A_TRACK_MODEL:
        yield [*call, "--track-model", "legs"], f"no track model 'legs'; there are: {ALL_MODELS}"
    bullet = ", ".join(track_model_names("pybullet"))
    yield ["urdf", "packbot", "--track-model", "legs"], f"no track model 'legs'; there are: {bullet}"
    for call in [*CHOOSES_A_TRACK_MODEL, ["urdf", "packbot"]]:
        for name in ("wheels", "wheels:x", "wheels:1"):
            expected = f"track model wheels:N must be at least 2 wheels, got {name!r}"
            yield [*call, "--track-model", name], expected
    for call in CHOOSES_AN_ENGINE:
        yield [*call, "--engine", "steam"], "no engine 'steam'; there are: pybullet, native, mujoco"
    for call in CHOOSES_A_PRESET:
        message = {
            "pybullet": "no solver preset 'slow'; there are: exact, fast, coarse",
            "native": "no preset of the engine native 'slow'; there are: exact, fast",
        }
        engine = "native" if call[0] == "evaluate" else DEFAULT_ENGINE
        yield [*call, "--preset", "slow"], message[engine]
    for call in (*REPLAYS, ["log", "climbs"], ["log", "turns"]):
        yield [*call, "--vehicle", "qince"], f"no vehicle 'qince'; there are: {KNOWN}"
    for call in REPLAYS:
        yield [*call, "--terrain", "gap"], f"no terrain 'gap'; there are: {courses}"
    yield [*REPLAYS[0], "--align", "up"], "no alignment 'up'; there are: event, start, se3, none"
    yield ["train", "StepClimb", "--learner", "gpu"], "no learner's device 'gpu'; there are: cpu, cuda"
    yield ["train", "StepClimb", "--start", "pro"], f"no policy 'pro'; there are: {', '.join(NAMES)}"
    for option in ("--logged", "--fitted"):
        native = ", ".join(track_model_names("native"))
        yield ["reproduce", "calibration", option, "legs"], f"no track model 'legs'; there are: {native}"
    for call in (["train"], ["evaluate"], ["benchmark"], ["preview"]):
        tasks = "StepClimb, StairClimb, GapCross, RoughTerrain, Drive, Traverse"
        yield [*call, "Swim"], f"no task 'Swim'; there are: {tasks}"
    many = ["benchmark", "Drive", "--num-envs"]
    for number in ("0", "1.5", "inf"):
        yield [*many, number], f"--num-envs must be whole numbers from 1 to 100000, got {float(number)}"
    threads = "--threads must be whole numbers from 1 to 1024, got 1025.0"
    yield [*many, "2", "--threads", "1025"], threads
    yield [*many, "100001"], "--num-envs must be whole numbers from 1 to 100000, got 100001.0"
    yield [*many, "2", "--threads", "half"], "--threads must be numbers with commas between them, got 'half'"
    yield [*many, "2", "--engine", "pybullet"], "--engine with --num-envs must be native, got 'pybullet'"
    early = "--time-step must be left out without --num-envs, got 0.002"
    yield ["benchmark", "Drive", "--time-step", "0.002"], early
    early = "--device must be left out without --num-envs, got 'cuda'"
    yield ["benchmark", "Drive", "--device", "cuda"], early
    yield [*many, "2", "--device", "tpu"], "no device of a batch 'tpu'; there are: cpu, cuda"
    for call in (FILMS, ["reproduce", "films"], ["preview", "Drive"]):
        yield [*call, "--view", "inside"], "no view 'inside'; there are: side, top, oblique, chase"
    names = "scripted, steered, constant, constant:ACTION, random, ppo, ppo:TASK, MODULE:FUNCTION, or a file"
    yield ["evaluate", "StepClimb", "--policy", "clever"], f"no policy 'clever'; there are: {names}"
    too_few = "policy must be constant: and 4 numbers from -1 to 1, of left, right, front, rear"
    yield ["evaluate", "StepClimb", "--policy", "constant:1,1"], f"{too_few}, got 'constant:1,1'"
    unbatched = (
        "track models must be one that runs in a batch, or a policy constant:ACTION in place of constant"
    )
    constant = ["evaluate", "StepClimb", "--policy", "constant"]
    yield [*constant, "--track-model", "segments"], f"{unbatched}, got segments"
    tracks = ["reproduce", "mujoco-tracks", "--time-steps"]
    yield [*tracks, "0.001,x"], "--time-steps must be numbers with commas between them, got '0.001,x'"
    bounds = "--time-steps must be numbers from 0.0001 to 0.02, each of them once, got "
    yield [*tracks, "1"], f"{bounds}'1'"
    limit = ["reproduce", "step-limit"]
    yield [*limit, "--policy", "clever"], f"no policy 'clever'; there are: {names}"
    yield [*limit, "--heights", "0.4,x"], "--heights must be numbers with commas between them, got '0.4,x'"
    yield [*limit, "--heights", "0.4,0.4"], "--heights must be some, each of them once, got '0.4,0.4'"
    yield [*limit, "--heights", "4"], "height [m] must be from 0.02 to 0.6, got 4.0"
    imported = "MODULE:NAME, which Python can import"
    for call, what in (
        (["train"], "task"),
        (["evaluate"], "task"),
        (["train", "StepClimb", "--options"], "options"),
        (["evaluate", "StepClimb", "--options"], "options"),
        (["evaluate", "StepClimb", "--policy"], "policy"),
    ):
        got = "'no_module:it' (No module named 'no_module')"
        yield [*call, "no_module:it"], f"{what} must be {imported}, got {got}"
        got = "'math:it' (module 'math' has no attribute 'it')"
        yield [*call, "math:it"], f"{what} must be {imported}, got {got}"
    for name in ("train", "evaluate"):
        yield [name, "math:pi"], "task must be a task's name, or a Task, got 3.141592653589793"
        graded = "one with a difficulty, which names a parameter, and levels of it, got none"
        yield [name, "course:figure-8"], f"task course:figure-8 must be {graded}"
    slow = "no preset of the engine native 'slow'; there are: exact, fast"
    yield ["train", "StepClimb", "--preset", "slow"], slow
    yield ["reproduce", "turning", "--scene", "moon"], "no scene 'moon'; there are: spot, slope, arcs"
    huge = ["reproduce", "okada-table-4", "--map", "--map-size", "huge"]
    yield huge, "no map size 'huge'; there are: full, small"
    yield [*huge[:2], *huge[3:]], "--map must be given with --map-size, got none"
    band = [*huge[:2], "--band"]
    yield [*band, "--preset", "fast"], "--preset must be left out with --band, got 'fast'"
    yield [*band, "--track-model", "chain"], "--track-model must be left out with --band, got 'chain'"
    yield [*band, "--map"], "--map must be left out with --band, got True"
    yield [*CLIMB, "--flippers", "30"], "no front flipper of 'packbot'; there are: none"


def wrong_pairs() -> Iterator[tuple[list[str], str]]:
    raised = ["courses", "draw", "figure-8", "--setting", "1"]
    yield raised, "setting of course figure-8 must be left out: it has none, got 1.0"
    yield ["courses", "draw", "gaps", "--setting", "nan"], "setting must be a finite number, got nan"
    native = [*CLIMB, "--engine", "native", "--track-model", "segments"]
    yield native, "engine for track model 'segments' must be pybullet, got 'native'"
    for call in (*REPLAYS, ["log", "climbs"]):
        uncertain = "--uncertain friction must be greater than 0, got -1.0"
        yield [*call, "--uncertain", "friction=-1"], uncertain
    plan = ["log", "plan", "packbot"]
    yield [*plan, "--uncertain", "friction=-1"], "--uncertain friction must be greater than 0, got -1.0"
    yield [*plan, "--noise", "position=-1"], "--noise position must be greater than 0, got -1.0"
    yield [*plan, "no.json"], "cannot read no.json: No such file or directory"
    yield ["export", "quince"], "format must be one of --urdf, --mjcf, --sdf, got none"
    mjcf = ["export", "quince", "--mjcf", "--out"]
    yield [*mjcf, "x.bmp"], "--out must be a file of .xml, got 'x.bmp'"
    yield [*mjcf, "folder"], "cannot write to folder: is a folder, not a file"
    yield [*mjcf, "bad.yaml/x.xml"], "cannot write to bad.yaml: bad.yaml is a file, not a folder"
    robot = ["import", "no.urdf"]
    yield robot, "cannot read no.urdf: no such file"
    yield [*robot, "--set", "friction"], "--set must be name=value, got 'friction'"
    yield [*robot, "--set", "friction=soft"], "setting friction [-] must be a number above 0, got 'soft'"
    yield [*robot, "--arg", "a=b"], "--arg must be name:=value, got 'a=b'"
    yield [*robot, "--out", "x.bmp"], "--out must be a file of .yaml, .yml, got 'x.bmp'"
    mapped = ["log", "map", *LOG]
    for call in (mapped, *REPLAYS):
        form = "NAME=VALUE with a unit, as flipper_angle.front_left=45deg"
        yield [*call, "--set", "flat"], f"a constant must be {form}, got 'flat'"
        unsplit = "trial must be left out: log.yaml does not split its log, got 2"
        yield [*call, "--trial", "2"], unsplit
    yield ["log", "map", "log.csv", "--trial", "2"], "--trial must be given beside --mapping, got 2"
    yield ["log", "map", "log.csv", "--mcap", "a.mcap"], "--mcap must be given with --mapping, got none"
    yield [*REPLAYS[0], "--mcap", "a.bag"], "--mcap must be a file of .mcap, got 'a.bag'"
    yield [*REPLAYS[1], "--changed", ""], "--changed must be what was changed, in words, got ''"
    own = "--mapping must be given with a table of your own, got none"
    yield ["log", "turns", "log.csv"], own
    compliant = [*CLIMB, "--track-model", "compliant"]
    size = "frame-size [pixels] must be width x height, as 640x360, got '640'"
    yield [*compliant, "--record", "film.gif", "--frame-size", "640"], size
    unfilmed = "--record must be given with --view, --frame-rate or --frame-size, got none"
    for option, value in (("--view", "top"), ("--frame-rate", "20"), ("--frame-size", "640x360")):
        yield [*CLIMB, option, value], unfilmed
    yield [*compliant, "--gui"], "engine for a window must be pybullet, got 'native'"
    table = ["reproduce", "okada-table-4", "--engine", "native", "--track-model", "plates"]
    yield table, "engine for track model 'plates' must be pybullet, got 'native'"


def wrong_numbers() -> Iterator[tuple[list[str], str]]:
    climb = ["climb", "quince"]
    for text, got in (("nan", "nan"), ("inf", "inf"), ("-1", "-1.0"), ("0", "0.0")):
        finite = f"must be a finite number, got {got}"
        is_finite = text in ("-1", "0")
        step = f"Step.height must be a positive finite number [m], got {got}"
        if text in ("-1", "0"):  # The others are outside the option's own bound.
            yield [*climb, "--step", text], step
        positive = f"must be greater than 0, got {got}"
        if is_finite:
            yield [*climb, "--speed", text], f"speed [m/s] {positive}"
        speeds = ["reproduce", "turning", "--speeds"]
        yield [*speeds, text], f"belt speed [m/s] {positive if is_finite else finite}"
        yield [*speeds, "1e308"], "belt speed [m/s] must be at most 100, got 1e+308"
        yield [*speeds, f"0.1,{text}"], f"belt speed [m/s] {positive if is_finite else finite}"
        between = f"must be from 0.02 to 0.6, got {got}"
        for call, what in (
            (["train", "StepClimb", "--hardest"], "hardest [m]"),
            (["evaluate", "StepClimb", "--levels"], "height [m]"),
        ):
            yield [*call, text], f"{what} {between if is_finite else finite}"
        frame_rate = f"must be above 0, up to 1000, got {got}" if is_finite else finite
        yield [*FILMS, "--frame-rate", text], f"frame rate [1/s] {frame_rate}"
        if text == "-1":
            yield [*climb, "--friction", text], "friction must be at least 0, got -1.0"
    for call in (["reproduce", "turning", "--speeds"], ["evaluate", "StepClimb", "--levels"]):
        for text in ("much", "", "0.1,", "0,1;0,2"):
            yield [*call, text], f"{call[-1]} must be numbers with commas between them, got {text!r}"
    for text in ("big", "64", "-1x64", "nanxnan"):
        pixels = f"frame-size [pixels] must be width x height, as 640x360, got {text!r}"
        yield [*FILMS, "--frame-size", text], pixels
    even = "size of a picture [pixels] must be two even numbers from 64 to 4096, got '0x0'"
    yield [*FILMS, "--frame-size", "0x0"], even
    yield ["reproduce", "maxxii", "--rows", "271"], "rows must be 1 to 270, got 271"
    for call in ([name, "StepClimb", "--set"] for name in ("train", "evaluate", "preview")):
        for text, expected in (
            ("friction", "--set must be NAME=VALUE, got 'friction'"),
            ("friction=[", "--set friction must be a number, a word, or a range [LOW, HIGH], got '['"),
            ("friction=nan", "friction must be a finite number, got nan"),
            ("friction=-1", "friction must be from 0 to 2, got -1.0"),
            ("friction=red", "friction must be a finite number, got 'red'"),
            ("friction=", "friction must be a finite number, got None"),
            ("friction=[1, 0]", "friction must be a range (low, high) with low <= high, got (1, 0)"),
            ("friction=[0, 1, 2]", "friction must be a number or a range (low, high), got (0, 1, 2)"),
        ):
            yield [*call, text], expected


def options_refused() -> Iterator[tuple[list[str], str]]:
    """What the command line itself refuses, by the option that it names."""
    for call, option in COUNTS:
        for text in ("-1", "0", "nan", "much", "1.5"):
            yield [*call, option, text], option
    for call, option in SEEDS:
        for text in ("-1", "nan", "much"):
            yield [*call, option, text], option
    for call, option, text in (
        *((call, "--time-step", "1e-6") for call in (*EVENTS, ["benchmark", "Drive", "--num-envs", "2"])),
        (EVENTS[4], "--shortest", "0.001"),
        (["evaluate", "StepClimb"], "--episodes", "1000001"),
        (["train", "StepClimb"], "--robots", "100001"),
        (["train", "StepClimb"], "--threads", "1025"),
    ):
        yield [*call, option, text], option
    for text in ("1e308", "1441", "inf", "nan"):
        for call, option in WITH_A_UNIT:
            yield [*call, option, text], option
    for call, option in TEXT_FOR_A_NUMBER:
        for text in ("much", "0,1", ""):
            yield [*call, option, text], option


def wrong_events() -> Iterator[tuple[list[str], str]]:
    """What is wrong with an event, and with its obstacle."""
    for call in EVENTS:
        for option, text, message in (
            ("--speed", "-1", "speed [m/s] must be greater than 0, got -1.0"),
            ("--friction", "-1", "friction must be at least 0, got -1.0"),
            ("--flippers", "30", "no front flipper of 'packbot'; there are: none"),
            ("--driver", "1,2", "--driver must be three numbers with commas between them, got '1,2'"),
            ("--driver", "0,0,nan", "driver's place [m] must be 3 finite numbers, got (0.0, 0.0, nan)"),
            ("--track-model", "legs", f"no track model 'legs'; there are: {ALL_MODELS}"),
            ("--engine", "steam", "no engine 'steam'; there are: pybullet, native, mujoco"),
            ("--raise", "0.1,1,1e-9", "increment of a search must be at least 0.0001, got 1e-09"),
            ("--raise", "1,0.5,0.1", "end of a search must be at least its start of 1, got 0.5"),
            ("--raise-speed", "0,1,0.1", "start of a search must be above 0, got 0.0"),
            ("--criterion", "fun", "no criterion 'fun'; there are: peak, filtered peak, absorbed power"),
            ("--out", "bad.yaml", "cannot write to bad.yaml: bad.yaml is a file, not a folder"),
        ):
            yield [*call, option, text], message
        for option, text, most in (
            ("--raise", "10,50,5", {"gap": "20 m", "ride": "1 m"}.get(call[1], "3 m")),
            ("--raise-speed", "1,1000,1", "100 m/s"),
            ("--driver", "0,0,90", "20 m"),
        ):
            yield [*call, option, text], f"{option} must be three numbers of at most {most}, got {text!r}"
        native = [*call, "--engine", "native", "--preset", "slow"]
        yield native, "no preset of the engine native 'slow'; there are: exact, fast"
        yield [*call[:2], "qince", *call[3:]], f"no vehicle 'qince'; there are: {KNOWN}"
        name, option, obstacle = call[1], call[3], {"ride": "ride course"}.get(call[1], call[1])
        what = f"{option[2:]} of a {obstacle} [m]" if name != "trapezoid" else "number of a trapezoid"
        expected = "above 0, got 0.0" if name != "trapezoid" else "from 1 to 12, got 0"
        yield [*call[:3], option, "0"], f"{what} must be {expected}"
    both = [*EVENTS[0], "--raise", "1,2,1", "--raise-speed", "1,2,1"]
    yield both, "--raise must be left out with --raise-speed, got '1,2,1'"
    for unused in ([*EVENTS[0], "--raise", "1,2,1"], EVENTS[0]):
        yield [*unused, "--criterion", "peak"], "--raise-speed must be given with --criterion, got none"
    twice = [*EVENTS[0], "--speed", "1", "--raise-speed", "1,2,1"]
    yield twice, "--speed must be left out with --raise-speed, got 1.0"
    yield [*EVENTS[1], "--depth", "0"], "depth of a gap [m] must be above 0, got 0.0"
    yield [*EVENTS[3], "--height", "0"], "height of a trapezoid [m] must be above 0, got 0.0"
    for option in ("length", "gauge", "longest"):
        yield [*EVENTS[4], f"--{option}", "0"], f"{option} of a ride course [m] must be above 0, got 0.0"
    correlated = "correlation of a ride course must be from 0 to 1, got 2.0"
    yield [*EVENTS[4], "--correlation", "2"], correlated
    yield ["study", "no.yaml"], "cannot read no.yaml: No such file or directory"
    yield ["study", "empty.yaml"], "empty.yaml: must be a mapping of keys, got None"
    study = ["study", "study.yaml"]
    yield [*study, "--resume"], "cannot resume from out/study-study/runs.jsonl: no such file"
    for option in ("--row", "--beside"):
        row = ["--row", "0"] if option == "--beside" else []
        yield [*study, *row, option, "1"], "cannot read out/study-study/runs.parquet: no such file"
    yield [*study, "--out", "bad.yaml"], "cannot write to bad.yaml: bad.yaml is a file, not a folder"
    yield [*study, "--record", "film.gif"], "--row must be given with --record, got none"
    yield [*study, "--beside", "1"], "--row must be given with --beside, got none"
    for call in (*EVENTS, study):
        yield [*call, "--record", "film.bmp"], "--record must be a file of .mp4, .gif, got 'film.bmp'"
        for option, text in (("--view", "top"), ("--frame-rate", "20"), ("--frame-size", "640x360")):
            filmed = "--record must be given with --view, --frame-rate or --frame-size, got none"
            yield [*call, option, text], filmed
    for option in ("--raise", "--raise-speed"):
        searched = "--record must be left out of a search, got 'film.gif'"
        yield [*EVENTS[0], option, "0.1,0.2,0.1", "--record", "film.gif"], searched


def wrong_in_extras() -> Iterator[tuple[list[str], str]]:
    """Mistakes of commands that need an extra, said once it is installed."""
    courses = f"no course 'gap'; there are: {', '.join(bundled_courses())}"
    drive, station = ["drive", "quince"], ["station", "--no-browser", "--folder", "bad.yaml/in"]
    yield [*drive, "--course", "gap"], courses
    yield [*drive, "--setting", "nan"], "setting must be a finite number, got nan"
    yield [*drive, "--engine", "ode"], "no engine 'ode'; there are: pybullet, native, mujoco"
    models = "segments, smooth, wheels:N, plates, compliant, surface, chain"
    yield [*drive, "--track-model", "rails"], f"no track model 'rails'; there are: {models}"
    for text, problem in (("nan", "a finite number, got nan"), ("0", "greater than 0, got 0.0")):
        yield [*drive, "--seconds", text], f"--seconds [s] must be {problem}"
    yield [*station, "--json"], "--measure must be given with --json, got none"
    yield [*station, "--measure", "1"], "--measure [s] must be at least 3, got 1.0"
    yield [*station, "--port", "70000"], "--port must be from 0, below 65536, got 70000"
    origin = "--origin must be like http://robots.example:8080, got 'x'"
    yield ["station", "--no-browser", "--folder", ".", "--port", "0", "--origin", "x"], origin
    unknown = "cannot listen on 256.1.1.1, port 8080: Name or service not known"
    yield [*station, "--host", "256.1.1.1"], unknown
    folder = "cannot write to /proc/here/recordings: No such file or directory"
    yield ["station", "--no-browser", "--port", "0", "--folder", "/proc/here"], folder
    known = ", ".join(segtrack.bundled_vehicles())
    beginning = ["station", "--no-browser", "--folder", ".", "--port", "0"]
    yield [*beginning, "--vehicle", "qince"], f"no vehicle 'qince'; there are: {known}"
    yield [*beginning, "--course", "gap"], courses
    yield [*beginning, "--exercises", "day"], "no syllabus 'day'; there are: first-day"
    names = "up to 40 letters, digits, spaces, dots, dashes and apostrophes, beginning with a letter or digit"
    yield [*beginning, "--keep-days", "0"], "--keep-days [d] must be greater than 0, got 0.0"
    yield [*beginning, "--instructor", "<b>"], f"--instructor must be {names}, got '<b>'"


def wrong_replays() -> Iterator[tuple[list[str], str]]:
    """What is wrong with a replay whatever is recorded."""
    for option, text, expected in (
        ("--film", "x.avi", "--film must be a file of .mp4, .gif, got 'x.avi'"),
        ("--csv", "x.bmp", "--csv must be a file of .csv, got 'x.bmp'"),
        ("--frame-size", "big", "frame-size [pixels] must be width x height, as 640x360, got 'big'"),
        *(
            (name, "25", "--film must be given with --view, --frame-rate or --frame-size, got none")
            for name in ("--view", "--frame-rate")
        ),
    ):
        yield ["replay", "x.mcap", option, text], expected


MISTAKES = [
    *wrong_paths(),
    *wrong_names(),
    *wrong_pairs(),
    *wrong_numbers(),
    *wrong_events(),
    *wrong_replays(),
]
IN_EXTRAS = list(wrong_in_extras())
OPTIONS = list(options_refused())


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with what a call must leave as it is."""
    (tmp_path / "bad.yaml").write_text("body: [1, 2")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "study.yaml").write_text(STUDY)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "log.csv").write_text("t,l,r\n0.0,0.1,0.1\n0.1,0.1,0.1\n")
    (tmp_path / "log.yaml").write_text(
        "vehicle: quince\nterrain: okada-step\nquantities: {belt_speed: {left: l, right: r, unit: m/s}}\n"
    )
    for name in ("x.png", "x.gif"):
        (tmp_path / "folder" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


EXTRAS = {
    "log report": "jinja2",
    "log fit": "cmaes",
    "reproduce calibration": "cmaes",
    "train": "stable_baselines3",
}
"""What commands need before they look at anything else."""


def refused(call: list[str]) -> str:
    """What a call that a user got wrong says; it leaves the folder as it is."""
    needed = {EXTRAS.get(" ".join(call[:2])), EXTRAS.get(call[0])}
    if call[0] == "log" and call[-1] == "folder":
        needed.add("rosbags")
    if call == ["replay", "./pipe"]:
        needed.add("mcap")
    if call[0] == "study" and {"--resume", "--row"} & {*call}:
        needed.add("pyarrow")
    for package in needed - {None}:
        pytest.importorskip(package, reason="of an extra")
    before = sorted(Path().rglob("*"))
    done = CliRunner().invoke(app, call)
    assert sorted(Path().rglob("*")) == before
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.stdout == ""
    return done.stderr


@pytest.mark.usefixtures("beside")
@each_row("call, message", MISTAKES)
def test_users_mistake_gets_one_clear_error_and_leaves_nothing(call: list[str], message: str) -> None:
    assert refused(call) == f"segtrack: {message}\n"


@pytest.mark.usefixtures("beside")
@each_row("call, message", IN_EXTRAS)
def test_users_mistake_gets_one_clear_error_with_the_extra(call: list[str], message: str) -> None:
    pytest.importorskip("pygame" if call[0] == "drive" else "nicegui", reason="of an extra")
    assert refused(call) == f"segtrack: {message}\n"


@pytest.mark.usefixtures("beside")
@each_row("call, option", OPTIONS)
def test_what_is_no_such_number_is_refused_with_its_option(call: list[str], option: str) -> None:
    said = refused(call)
    assert f"Invalid value for '{option}'" in said and "Traceback" not in said


def test_the_working_folder_is_named_in_full_where_it_is_no_bag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rosbags", reason="of an extra")
    monkeypatch.chdir(tmp_path)
    said = f"segtrack: {tmp_path.name}: is a folder without .db3 or .mcap: no ROS 2 bag\n"
    assert refused(["log", "inspect", "."]) == said


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
@pytest.mark.parametrize(
    "call", some_of([["log", "inspect"], ["log", "report", "log.csv", "--changed"]], ["log", "inspect"])
)
def test_an_argument_that_is_not_utf_8_is_refused(call: list[str], tmp_path: Path) -> None:
    """Nothing that draws or writes it could: matplotlib, JSON and HTML have no such characters."""
    done = subprocess.run([PROGRAM, *call, b"l\xffg.csv"], capture_output=True, text=True, cwd=tmp_path)
    told = r"segtrack: an argument must be text in UTF-8, got b'l\xffg.csv'"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{told}\n")


def options(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each option of each command that takes a value."""
    for name, inner in group.commands.items():
        if hasattr(inner, "commands"):
            yield from options(inner, (*path, name))
            continue
        for parameter in inner.params:
            if parameter.param_type_name == "option" and not parameter.is_flag:
                yield (*path, name), parameter.opts[0]


def test_every_option_that_takes_a_value_is_in_the_table() -> None:
    calls = [call for call, _ in [*MISTAKES, *IN_EXTRAS, *OPTIONS]]
    assert [
        (*path, option)
        for path, option in options(typer.main.get_command(app))
        if not any(tuple(call[: len(path)]) == path and option in call for call in calls)
    ] == []
