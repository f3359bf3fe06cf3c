"""`segtrack reproduce verdict`: which of nine vehicle files logs of a robot in MuJoCo prefer.

One file is right, eight are wrong in one number each. Logs of two steps and a slope are written with the
errors of sensors, mapped, replayed and compared as by `segtrack log report`. No turn is among them: MuJoCo's
wheels turn otherwise by how its contacts bear that slide, not by what the file says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
import yaml
from matplotlib.figure import Figure
from rich.table import Table
from scipy.spatial.transform import Rotation

from segtrack.description import load_vehicle
from segtrack.errors import SegtrackError
from segtrack.experiments import Rig, Workers, turn_on_the_spot
from segtrack.logs.compare import COVERAGE, Stated, compare
from segtrack.logs.mapping import check_plausibility, load_terrain, map_file, refuse
from segtrack.logs.replay import ReplaySettings, replay
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.report.logs import Evidence, evidence_of, judge_maturity
from segtrack.reproduce.registry import Session
from segtrack.reproduce.rover_in_mujoco import (
    BETWEEN,
    CENTER,
    FRICTION,
    GAUGE,
    LAG,
    MASS,
    NOSE_RADIUS,
    NOSE_X,
    NOSE_Z,
    RADIUS,
    SIZE,
    WIDTH,
    Array,
    RoverGround,
    Truth,
    drive,
)

SEEDS = 5
STATED: Mapping[str, float] = {
    "friction": 0.05,
    "mass": 0.3,
    "com_x": 0.005,
    "com_z": 0.005,
    "drive_lag": 0.02,
    "pulley_radius": 0.001,
    "track_separation": 0.01,
}
"""Standard deviations of what the vehicle files say."""
STEP = 0.004
"""Time step of segtrack's simulations [s]."""
SPEED, BEGIN, STOP, END = 0.2, 1.0, 9.0, 10.0
"""Belt speed of the drives [m/s], and when they begin, stop and end [s]."""
RATE = 100.0
"""Samples of all sensors a second [Hz]."""
GYRO_NOISE, GYRO_BIAS = 0.005, (0.004, -0.006, 0.003)
"""Noise and bias of the gyroscope [rad/s]."""
PLACE_NOISE, TURN_NOISE = 0.0005, 0.001
"""Noise of the motion capture: positions [m], orientations about each axis [rad]."""
OFFSET, SKEW = 2.31, 2e-5
"""Offset [s] and skew [-] of the motion capture's clock."""
COUNTS = 512 * 26
"""Counts of an encoder on a turn of the sprocket."""
SPROCKET = 0.080
"""Radius of the belt's pitch line on the sprocket [m]."""
MARKERS = (0.03, 0.0, 0.22)
"""Markers' place in the body frame [m]."""
TURN_SPEED, TURN_TIME = 0.15, 5.0
"""Belt speed [m/s] and duration [s] of a turn on the spot."""
_LEAD, _FRAME = 0.8, (math.radians(25.0), 2.0, -1.0)
"""Way to the rise [m]; yaw [rad] and place [m] of the motion capture's frame."""


class RoverDrive(NamedTuple):
    """A drive straight ahead.

    Attributes:
        name: Name of its logs.
        ground: Ground in MuJoCo.
        piece: Piece of a terrain file that is the same.
    """

    name: str
    ground: RoverGround
    piece: str


def _step(height: float) -> RoverDrive:
    piece = f"step: {{height: {height}, length: 6.0}}"
    return RoverDrive(f"step {1e3 * height:.0f} mm", RoverGround(_LEAD, height=height), piece)


def _slope(degrees: float, length: float) -> RoverDrive:
    piece = f"ramp: {{slope_deg: {degrees}, length: {length}, top_length: 4.0}}"
    ground = RoverGround(_LEAD, slope=math.radians(degrees), length=length)
    return RoverDrive(f"slope {degrees:g} deg", ground, piece)


DRIVES = _step(0.10), _step(0.14), _slope(25.0, 1.0)


class RoverFile(NamedTuple):
    """A vehicle file.

    Attributes:
        name: Its name, by what is wrong of it.
        parameter: Parameter that is wrong; empty for the right one.
        value: Its wrong value, in the parameter's unit.
    """

    name: str
    parameter: str = ""
    value: float = 0.0


GROUSER = 0.004
"""Height of the grousers of the vehicle files [m]: with them belts are as large as MuJoCo's wheels."""
RIGHT = "right"
MODELS = (
    RoverFile(RIGHT),
    RoverFile("friction x 0.45", "friction", 0.45 * FRICTION),
    RoverFile("friction x 0.67", "friction", 0.67 * FRICTION),
    RoverFile("mass +30 %", "mass", 1.3 * MASS),
    RoverFile("centre +50 mm", "com_x", CENTER[0] + 0.05),
    RoverFile("centre -50 mm", "com_x", CENTER[0] - 0.05),
    RoverFile("no lag", "drive_lag", 0.0),
    RoverFile("radius -12 %", "pulley_radius", 0.88 * (RADIUS - GROUSER)),
    RoverFile("width +37 %", "track_separation", 1.37 * GAUGE),
)
"""The right vehicle file and eight wrong ones."""


def vehicle_file(model: RoverFile) -> dict[str, Any]:
    """Content of a vehicle file: the robot in MuJoCo, but for what is wrong of it."""
    right = {"friction": FRICTION, "mass": MASS, "com_x": CENTER[0], "drive_lag": LAG}
    right |= {"pulley_radius": RADIUS - GROUSER, "track_separation": GAUGE}
    told = {name: model.value if name == model.parameter else value for name, value in right.items()}
    radii = [
        told["pulley_radius"] * size for size in (1.0, 1.0, (NOSE_RADIUS - GROUSER) / (RADIUS - GROUSER))
    ]
    places = [(-BETWEEN / 2, 0.0), (BETWEEN / 2, 0.0), (NOSE_X, NOSE_Z)]
    pulleys = [{"x": x, "z": z, "radius": radius} for (x, z), radius in zip(places, radii, strict=True)]
    track = {
        "path": {"pulleys": pulleys},
        "width": WIDTH,
        "belt": {"mass": 2.0, "thickness": 0.008},
        "grousers": {"count": 72, "shape": {"box": {"length": 0.008, "height": GROUSER}}},
        "drive": {"max_force": 500.0, "max_speed": 0.6, "reflected_mass": 2.0, "lag": told["drive_lag"]},
        "contact": {"friction": told["friction"]},
    }
    mounts = {"left": told["track_separation"] / 2, "right": -told["track_separation"] / 2}
    center = [told["com_x"], *CENTER[1:]]
    return {
        "name": "rover",
        "source": f"the robot in MuJoCo, {model.name}",
        "body": {"mass": told["mass"], "size": list(SIZE), "center_of_mass": center},
        "tracks": {side: {"mount": {"xyz": [0.0, y, 0.0]}, **track} for side, y in mounts.items()},
    }


_MAPPING = """\
terrain: terrain.yaml
recorded: physical robot
files: [mocap.csv]
sources:
  mocap.csv: {{align: drive.csv}}
  drive.csv:
    sees:
      angular_velocity: {{channels: ["gx [rad/s]", "gy [rad/s]", "gz [rad/s]"], sensor: imu}}
sensors:
  markers: {{xyz: [{markers}]}}
  imu: {{xyz: [0, 0, 0], rpy: [0, 0, 0]}}
quantities:
  belt_speed_command: {{left: "cmd_left [m/s]", right: "cmd_right [m/s]"}}
  belt_speed: {{left: enc_left, right: enc_right, unit: counts, counts_per_turn: {counts}, radius: {radius}}}
  position:
    channels: ["mocap.csv: X [mm]", "mocap.csv: Y [mm]", "mocap.csv: Z [mm]"]
    sensor: markers
    std: {place}
  orientation:
    channels: ["mocap.csv: qx", "mocap.csv: qy", "mocap.csv: qz", "mocap.csv: qw"]
    sensor: markers
"""


LOG, MAPPING = "drive.csv", "mapping.yaml"
"""Files of a log and of its mapping."""


def write_log(truth: Truth, piece: str, folder: Path, seed: int) -> None:
    """Write what sensors see of a drive, with mapping and terrain.

    Args:
        truth: Motion of the robot.
        piece: The ground, as a piece of a terrain file.
        folder: Folder of the files, which exists.
        seed: Seed of the sensors' noise.
    """
    rng = np.random.default_rng(seed)
    own = np.arange(truth.times[0], truth.times[-1], 1 / RATE)
    rates = _at(own, truth.times, truth.rates) + GYRO_BIAS + rng.normal(0.0, GYRO_NOISE, (len(own), 3))
    counts = np.floor(
        _at(own, truth.times, truth.travels) / (2 * math.pi * SPROCKET) * COUNTS + rng.random(2)
    )
    held = np.searchsorted(truth.times, own + 1e-9, side="right") - 1
    names = "time [s],cmd_left [m/s],cmd_right [m/s],enc_left,enc_right,gx [rad/s],gy [rad/s],gz [rad/s]"
    _write(folder / LOG, names, np.column_stack([own, truth.commands[held], counts, rates]))
    seen = own + rng.uniform(0.0, 1 / RATE)
    seen = seen[seen <= truth.times[-1]]
    yaw, *place = _FRAME
    turn = Rotation.from_euler("z", yaw)
    body = Rotation.from_quat(_at(seen, truth.times, truth.orientations))
    points = turn.apply(_at(seen, truth.times, truth.positions) + body.apply(MARKERS)) + [*place, 0.0]
    points += rng.normal(0.0, PLACE_NOISE, points.shape)
    turned = turn * body * Rotation.from_rotvec(rng.normal(0.0, TURN_NOISE, points.shape))
    clock = OFFSET + (1 + SKEW) * seen
    names = "Time (s),X [mm],Y [mm],Z [mm],qx,qy,qz,qw"
    _write(folder / "mocap.csv", names, np.column_stack([clock, 1e3 * points, turned.as_quat()]))
    terrain = f"friction: 1.0\nterrain:\n  - {{{piece}, place: {{x: {_LEAD}}}, width: 2.4}}\n"
    (folder / "terrain.yaml").write_text(terrain, "utf-8")
    markers = ", ".join(f"{value:g}" for value in MARKERS)
    mapping = _MAPPING.format(markers=markers, counts=COUNTS, radius=SPROCKET, place=PLACE_NOISE)
    (folder / MAPPING).write_text(mapping, "utf-8")


def _at(times: Array, known: Array, values: Array) -> Array:
    return np.stack([np.interp(times, known, column) for column in values.T], axis=1)


def _write(path: Path, names: str, rows: Array) -> None:
    np.savetxt(path, rows, delimiter=",", header=names, comments="", fmt="%.7f", encoding="utf-8")


class Beyond(NamedTuple):
    """Size of an error that is beyond its uncertainty, and its standard uncertainty."""

    error: float
    uncertainty: float


@dataclass(frozen=True)
class Verdict:
    """Conclusions of a report on a log about a vehicle file.

    Attributes:
        drive: Name of the drive.
        seed: Seed of the log's noise.
        model: Name of the vehicle file.
        parameter: Parameter that is wrong; empty for the right file.
        level: Maturity level; None if it earns none.
        within: Quantities of the whole drive, by measured belts, that agree.
        judged: Quantities of the whole drive whose uncertainty is known.
        beyond: Errors of the whole drive that are beyond their uncertainty, by `measured: peak pitch`.
        errors: All errors of the whole drive, by the same names.
        tested: Parameters that the log tests, as the report says.
        refused: Reason for which nothing was compared; empty otherwise.
    """

    drive: str
    seed: int
    model: str
    parameter: str
    level: int | None
    within: int
    judged: int
    beyond: Mapping[str, Beyond]
    errors: Mapping[str, float]
    tested: tuple[str, ...]
    refused: str = ""


class _Job(NamedTuple):
    folder: Path
    drive: str
    seed: int
    model: RoverFile


def judge(job: _Job) -> Verdict:
    """Compare a log with its simulation by a vehicle file, as `segtrack log report` does."""
    log, vehicle = job.folder / "logs" / job.drive / str(job.seed), _vehicle_path(job.folder, job.model)
    named = (job.drive, job.seed, job.model.name, job.model.parameter)
    try:
        mapped = map_file(log / LOG, log / MAPPING, str(vehicle))
        ground = load_terrain(str(log / "terrain.yaml"))
        refuse([check_plausibility(mapped, ground)])
        settings = ReplaySettings(str(vehicle), ground, time_step=STEP, sample_time=5 * STEP)
        driven = replay(mapped.motion, settings)
        stated, clocks = Stated(inputs=dict(STATED)), mapped.time_uncertainties
        compared = compare(driven, stated=stated, clocks=clocks, workers=1)
    except SegtrackError as error:
        return Verdict(*named, None, 0, 0, {}, {}, (), str(error))
    evidence = evidence_of(mapped, driven, compared, ())
    rows = [(f"{row.run}: {row.quantity}", row) for row in compared.rows if row.phase == "whole"]
    return Verdict(
        *named,
        judge_maturity(evidence).level,
        evidence.within,
        evidence.judged,
        {name: Beyond(abs(r.error), r.uncertainty or 0.0) for name, r in rows if r.verdict == "beyond"},
        {name: abs(row.error) for name, row in rows},
        _tested(evidence),
    )


def _vehicle_path(folder: Path, model: RoverFile) -> Path:
    return folder / "vehicles" / f"{''.join(c if c.isalnum() else '_' for c in model.name)}.yaml"


def _tested(evidence: Evidence) -> tuple[str, ...]:
    """Parameters that either simulation tests."""
    return tuple(dict.fromkeys([*evidence.tested, *evidence.tested_elsewhere]))


TOLD, NOT_TESTED, UNNOTICED = "told", "not tested", "unnoticed"


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on all vehicle files.

    Attributes:
        found: Verdicts on each log and file.
        turned_in_mujoco: Yaw of a turn on the spot over that without slip, of the robot in MuJoCo [-].
        turned_here: Yaw over that without slip, of the right vehicle file in segtrack's native engine [-].
    """

    found: tuple[Verdict, ...]
    turned_in_mujoco: float
    turned_here: float

    def right(self, verdict: Verdict) -> Verdict:
        """Verdict on the right vehicle file for the same log."""
        return next(
            other
            for other in self.found
            if (other.drive, other.seed, other.model) == (verdict.drive, verdict.seed, RIGHT)
        )

    def told_by(self, verdict: Verdict) -> tuple[str, ...]:
        """Quantities in which a wrong file disagrees with a log, and the right one agrees or errs less.

        Less by more than `COVERAGE` standard uncertainties.
        """
        if verdict.refused:
            return ("refused",)
        right = self.right(verdict)
        return tuple(
            name
            for name, (error, u) in verdict.beyond.items()
            if name not in right.beyond or error > right.errors[name] + COVERAGE * u
        )

    def status(self, verdict: Verdict) -> str:
        """`TOLD`, else `NOT_TESTED` if the report says so of what is wrong, else `UNNOTICED`."""
        if self.told_by(verdict):
            return TOLD
        return UNNOTICED if verdict.parameter in verdict.tested else NOT_TESTED

    def outranks(self, verdict: Verdict) -> bool:
        """True if a wrong file has a level that the right one lacks for the same log."""
        return verdict.level is not None and verdict.level != self.right(verdict).level

    def of(self, model: str, drive_name: str) -> list[Verdict]:
        """Verdicts on a file for all logs of a drive."""
        return [each for each in self.found if (each.model, each.drive) == (model, drive_name)]

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "turned_over_no_slip": {"mujoco": self.turned_in_mujoco, "segtrack": self.turned_here},
            "verdicts": [
                {
                    **asdict(each),
                    "beyond": {name: found._asdict() for name, found in each.beyond.items()},
                    "told_by": self.told_by(each),
                    "status": self.status(each) if each.parameter else "",
                    "has_a_level_that_the_right_one_lacks": self.outranks(each),
                }
                for each in self.found
            ],
        }


def _command(time: float) -> tuple[float, float]:
    speed = SPEED if BEGIN <= time < STOP else 0.0
    return speed, speed


def run_verdicts(
    folder: Path,
    seeds: int = SEEDS,
    pool: Workers | None = None,
    on_done: Callable[[], object] = lambda: None,
) -> Verdicts:
    """Simulate the robot, write its logs, and compare all vehicle files with them.

    Args:
        folder: Folder for logs and vehicle files.
        seeds: Logs of each drive, by the seeds of their noise.
        pool: Processes; this one if not given.
        on_done: Function called after each comparison.

    Raises:
        MissingPackageError: MuJoCo is not installed.
    """
    (folder / "vehicles").mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        _vehicle_path(folder, model).write_text(yaml.safe_dump(vehicle_file(model), sort_keys=False), "utf-8")
    for each in DRIVES:
        truth = drive(each.ground, _command, END)
        for seed in range(seeds):
            own = folder / "logs" / each.name / str(seed)
            own.mkdir(parents=True, exist_ok=True)
            write_log(truth, each.piece, own, seed)
    turned = drive(RoverGround(), lambda time: (-TURN_SPEED, TURN_SPEED), TURN_TIME).turned_over_no_slip
    here = turn_on_the_spot(
        Rig(load_vehicle(_vehicle_path(folder, MODELS[0])), track_model="compliant", engine="native"),
        TURN_SPEED,
    )
    jobs = [
        _Job(folder, each.name, seed, model) for seed in range(seeds) for each in DRIVES for model in MODELS
    ]
    workers = Workers(1) if pool is None else pool
    found = workers.run(judge, jobs, lambda *_: on_done())
    return Verdicts(tuple(found), turned, here.over_no_slip)


def verdict_table(result: Verdicts) -> Table:
    """Table of a row for each vehicle file and drive, over all seeds."""
    table = Table(title="Vehicle files beside logs of a robot in MuJoCo, by measured belts")
    for header in ("vehicle file", "drive", "level", "agree", "told", "not tested", "unnoticed", "told by"):
        table.add_column(header)
    for model in MODELS:
        for each in DRIVES:
            table.add_row(*_cells(result, model, each), end_section=each is DRIVES[-1])
    return table


def _cells(result: Verdicts, model: RoverFile, each: RoverDrive) -> list[str]:
    found = result.of(model.name, each.name)
    levels = Counter("none" if one.level is None else str(one.level) for one in found)
    agree = Counter("refused" if one.refused else f"{one.within} of {one.judged}" for one in found)
    cells = [model.name, each.name, _counted(levels), _counted(agree)]
    if not model.parameter:
        return [*cells, "", "", "", ""]
    status = Counter(map(result.status, found))
    by = Counter(name for one in found for name in result.told_by(one))
    told = [str(status.get(name, 0)) for name in (TOLD, NOT_TESTED, UNNOTICED)]
    return [*cells, *told, ", ".join(name for name, _ in by.most_common(_MOST_NAMED))]


_MOST_NAMED = 3


def _counted(counts: Counter[str]) -> str:
    """Each value, with how often it is there where there are several."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} ({count})" for value, count in counts.most_common())


def draw_verdicts(result: Verdicts) -> Figure:
    """Draw the share of logs in which each wrong file is told, not tested or unnoticed, for each drive."""
    figure = new_figure(12.0, 4.6)
    grid = figure.subplots(1, len(DRIVES), sharey=True)
    wrong = [model for model in MODELS if model.parameter]
    for axes, each in zip(grid, DRIVES, strict=True):
        counts = [Counter(map(result.status, result.of(model.name, each.name))) for model in wrong]
        left = np.zeros(len(wrong))
        for status, colour in zip((TOLD, NOT_TESTED, UNNOTICED), _STATUS_COLOURS, strict=True):
            shares = np.array([count[status] for count in counts], dtype=float)
            axes.barh([model.name for model in wrong], shares, left=left, color=colour, label=status)
            left += shares
        right = result.of(RIGHT, each.name)
        agree = ", ".join(sorted({f"{one.within} of {one.judged}" for one in right}))
        axes.set_title(f"{each.name}; right: {agree}", loc="left", fontsize=10)
        axes.set_xlabel("logs")
        axes.invert_yaxis()
    grid[0].invert_yaxis()
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


_STATUS_COLOURS = SEGMENT_COLOURS[0], "#c8c8c8", SEGMENT_COLOURS[1]


def run(
    session: Session,
    seeds: Annotated[
        int, typer.Option(help="Logs of each drive, by the seeds of their noise.", min=1)
    ] = SEEDS,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)
    ] = None,
) -> Outcome:
    """Simulate the robot, and compare all vehicle files with its logs."""
    from segtrack.reproduce.verdict import run_verdicts  # Workers import `judge` by this name.

    total = seeds * len(DRIVES) * len(MODELS)
    with Workers(jobs) as pool, session.counting("comparing", total) as done:
        result = run_verdicts(session.folder, seeds, pool, done)
    summary = result.summary()
    wrong = [each for each in result.found if each.parameter]
    outranked = sum(map(result.outranks, wrong))
    counts = Counter(map(result.status, wrong))
    notes = [
        f"wrong files with a level that the right one lacks: {outranked} of {len(wrong)}",
        ", ".join(f"{counts.get(name, 0)} {name}" for name in (TOLD, NOT_TESTED, UNNOTICED)),
        f"no turns: on the spot the robot turns by {result.turned_in_mujoco:.3f} of no slip, the right file "
        f"by {result.turned_here:.3f}: in MuJoCo contacts that slide bear more than those that stand",
    ]
    files = {"verdict.json": summary, "verdict.png": draw_verdicts(result)}
    return Outcome(verdict_table(result), summary, files, notes)
