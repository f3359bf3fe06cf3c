"""`segtrack reproduce mujoco-tracks`: turning of what MuJoCo has for tracks, beside belts inside it.

A PackBot turns on the spot, and drives straight on: with segtrack's compliant belts in the native engine and
in MuJoCo; with geoms whose surfaces move (`surfacevel`); and with wheels. None of the last two is segtrack's:
their contacts are MuJoCo's, with the vehicle file's mass, places and friction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import typer
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.table import Table

from segtrack.description import Links, VehicleDescription, load_vehicle, vehicle_links
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, MissingPackageError
from segtrack.experiments import TURNING_SPEED, Rig, turn_on_the_spot
from segtrack.report import Outcome, label_axes, new_figure
from segtrack.reproduce.registry import Session, parse_numbers
from segtrack.terrain import Plane
from segtrack.world import World

Array = NDArray[np.float64]
VEHICLE = "packbot"
TIME_STEPS = (0.001, 0.002, 0.004)
"""Time steps [s]."""
SETTLE, SPIN_UP, MEASURED = 0.5, 2.0, 6.0
"""Durations at rest, of driving before the measurement, and of the measurement [s]."""
CALM = 'solref="0.02 3" solimp="0 0.95 0.0005 0.5 2"'
"""Contacts that let a sliding vehicle rest: overdamped, and soft within half a millimetre (tuned on this
vehicle: MuJoCo's default ones lift it off 23 times a second, and turns depend on the time step)."""


@dataclass(frozen=True)
class Substitute:
    """Substitute for a track in MuJoCo.

    Attributes:
        name: Name, in words.
        count: Number of boxes or wheels a track.
        turns: True for wheels on axles; False for boxes whose surface moves.
        calm: True for `CALM` contacts; False for MuJoCo's default ones.
    """

    name: str
    count: int
    turns: bool
    calm: bool = True


SUBSTITUTES = (
    Substitute("surface velocity, 1 box", 1, False),
    Substitute("surface velocity, 13 boxes", 13, False),
    Substitute("surface velocity, 13 boxes, default contacts", 13, False, calm=False),
    Substitute("4 wheels", 4, True),
    Substitute("13 wheels", 13, True),
)


@dataclass(frozen=True)
class TrackResult:
    """Result of one kind of track at one time step.

    Attributes:
        name: Kind of track, in words.
        time_step: Time step [s].
        turning: Yaw rate on the spot over that without slip [-].
        straight: Speed straight on over that of the belts [-].
    """

    name: str
    time_step: float
    turning: float
    straight: float


def expected_turning(vehicle: VehicleDescription) -> float:
    """Yaw rate on the spot by planar Coulomb friction under the native engine's loads, over no slip [-]."""
    steered = turn_on_the_spot(Rig(vehicle, track_model="compliant", engine="native"))
    return steered.expected.yaw_rate / steered.no_slip_rate


def drive_belts(vehicle: VehicleDescription, engine: EngineName, time_step: float) -> TrackResult:
    """Measure segtrack's compliant belts in an engine at a time step [s]."""
    no_slip = 2 * TURNING_SPEED / vehicle.require_track_offsets().gauge
    measured = []
    for left in (-TURNING_SPEED, TURNING_SPEED):
        with World(engine=engine, time_step=time_step) as world:
            world.add_terrain(Plane())
            robot = world.add_vehicle(vehicle, track_model="compliant")
            world.run(SETTLE)
            robot.set_belt_speed(left, TURNING_SPEED)
            world.run(SPIN_UP)
            states = [robot.state]
            for _ in range(round(MEASURED)):
                world.run(MEASURED / round(MEASURED))
                states.append(robot.state)
        turned = np.ptp(np.unwrap([state.yaw for state in states]))
        travelled = np.linalg.norm(np.subtract(states[-1].position, states[0].position))
        measured.append((turned / MEASURED / no_slip, travelled / MEASURED / TURNING_SPEED))
    return TrackResult(f"segtrack, {engine}", time_step, float(measured[0][0]), float(measured[1][1]))


def drive_substitute(vehicle: VehicleDescription, kind: Substitute, time_step: float) -> TrackResult:
    """Measure one of MuJoCo's own kinds of track at a time step [s].

    Raises:
        MissingPackageError: MuJoCo is not installed, or is older than its integrator `discrete` (3.13).
    """
    try:
        import mujoco
    except ImportError:
        raise MissingPackageError("MuJoCo's tracks", "mujoco", "mujoco") from None
    if not hasattr(mujoco.mjtIntegrator, "mjINT_DISCRETE"):
        needed = f"MuJoCo 3.13 in place of {mujoco.__version__}"
        raise MissingPackageError("MuJoCo's tracks", needed, "mujoco")
    model = mujoco.MjModel.from_xml_string(substitute_xml(vehicle, kind, time_step))
    no_slip = 2 * TURNING_SPEED / vehicle.require_track_offsets().gauge
    turning, _ = _drive(mujoco, model, (-TURNING_SPEED, TURNING_SPEED))
    _, straight = _drive(mujoco, model, (TURNING_SPEED, TURNING_SPEED))
    return TrackResult(kind.name, time_step, turning / no_slip, straight / TURNING_SPEED)


def _drive(mujoco: Any, model: Any, belts: Sequence[float]) -> tuple[float, float]:
    """Mean yaw rate [rad/s] and speed [m/s] of a model whose left and right belts have a speed [m/s]."""
    data = mujoco.MjData(model)
    sides = [[i for i in range(model.ngeom) if model.geom(i).name.startswith(side)] for side in _SIDES]
    step = model.opt.timestep
    model.geom_surfacevel[:] = 0.0
    for _ in range(round(SETTLE / step)):
        mujoco.mj_step(model, data)
    for side, speed, geoms in zip(_SIDES, belts, sides, strict=True):
        if model.nu:
            radius = model.geom_size[geoms[0], 0]
            data.ctrl[[i for i in range(model.nu) if model.actuator(i).name.startswith(side)]] = (
                speed / radius
            )
        else:
            # The lower run goes back; surfaces of cylinders turn about their z, which is the track's y.
            model.flg_surfacevel = True
            for i in geoms:
                if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_BOX:
                    model.geom_surfacevel[i, 0] = -speed
                else:
                    model.geom_surfacevel[i, 5] = speed / model.geom_size[i, 0]
    for _ in range(round(SPIN_UP / step)):
        mujoco.mj_step(model, data)
    yaws, start = [], data.qpos[:2].copy()
    count = round(MEASURED / step)
    for _ in range(count):
        mujoco.mj_step(model, data)
        w, x, y, z = data.qpos[3:7]
        yaws.append(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    turned = np.unwrap(yaws)
    rate = abs(turned[-1] - turned[0]) / ((count - 1) * step)
    return float(rate), float(np.linalg.norm(data.qpos[:2] - start) / (count * step))


_SIDES = "left", "right"
_THICK = 0.04
"""Thickness of boxes [m]."""
_WHEEL = 1e-4
"""Share of a wheel in the mass of the vehicle."""


def substitute_xml(vehicle: VehicleDescription, kind: Substitute, time_step: float) -> str:
    """MJCF of a vehicle without flippers on a plane, with a substitute for its tracks."""
    links: Links = vehicle_links(vehicle)
    mass, lowest = links.masses[0], math.inf
    geoms = []
    for track, frame in zip(vehicle.mounted_tracks(), links.track_frames, strict=True):
        spec, (x0, y, z0) = track.spec, frame.origin
        tip = spec.grousers.height if spec.grousers is not None else 0.0
        outline = spec.belt_path.outline()
        rear, front = _ground_ends(outline)
        radius = float(np.ptp(outline[:, 1])) / 2 + tip
        bottom = z0 + outline[:, 1].min() - tip
        lowest = min(lowest, bottom)
        side = _SIDES[0 if y > 0 else 1]
        contact = f'contype="2" friction="{spec.contact.friction} 0.005 0.0001" priority="1" '
        contact += CALM if kind.calm else ""
        cylinder = f'type="cylinder" size="{radius} {spec.width / 2}" quat="1 -1 0 0" {contact}'
        if kind.turns:
            for i, x in enumerate(np.linspace(rear, front, kind.count).tolist()):
                geoms.append(
                    f'<body pos="{x0 + x} {y} {bottom + radius}">'
                    f'<joint name="{side}{i}" type="hinge" axis="0 1 0" armature="0.002"/>'
                    f'<geom name="{side}{i}" {cylinder} mass="{_WHEEL * mass.mass}"/></body>'
                )
            continue
        edges = np.linspace(rear, front, kind.count + 1)
        for i, (start, end) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
            place = f"{x0 + (start + end) / 2} {y} {bottom + _THICK / 2}"
            size = f"{(end - start) / 2} {spec.width / 2} {_THICK / 2}"
            geoms.append(
                f'<geom name="{side}{i}" type="box" pos="{place}" size="{size}" mass="0" {contact}/>'
            )
        for i, x in enumerate((rear, front)):
            place = f"{x0 + x} {y} {bottom + radius}"
            geoms.append(f'<geom name="{side}end{i}" pos="{place}" mass="0" {cylinder}/>')
    moments = mass.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    numbers = [" ".join(f"{value:.15g}" for value in values) for values in (mass.center, moments)]
    drives = "".join(
        f'<velocity name="{side}{i}" joint="{side}{i}" kv="100"/>'
        for side in _SIDES
        for i in range(kind.count if kind.turns else 0)
    )
    return f"""<mujoco><compiler angle="radian"/>
<option timestep="{time_step}" integrator="discrete" cone="elliptic" impratio="100"/>
<worldbody><geom type="plane" size="50 50 0.1" conaffinity="2"/><body pos="0 0 {-lowest}"><freejoint/>
<inertial pos="{numbers[0]}" mass="{mass.mass}" fullinertia="{numbers[1]}"/>{"".join(geoms)}</body>
</worldbody><actuator>{drives}</actuator></mujoco>"""


def _ground_ends(outline: Array) -> tuple[float, float]:
    """Ends along x of an outline's lowest line [m].

    Args:
        outline: Points (n, 2) [m].
    """
    low = outline[outline[:, 1] < outline[:, 1].min() + 1e-6]
    return float(low[:, 0].min()), float(low[:, 0].max())


def results_table(results: Sequence[TrackResult], expected: float) -> Table:
    """Make the table of kinds of track, beside planar friction's turning rate over no slip [-]."""
    table = Table("track", "time step", "turning on the spot, over no slip", "straight on, over the belt")
    for result in results:
        table.add_row(
            result.name, f"{result.time_step * 1000:g} ms", f"{result.turning:.4f}", f"{result.straight:.4f}"
        )
    table.add_section()
    table.add_row("planar Coulomb friction", "", f"{expected:.4f}", "1")
    return table


def draw_results(results: Sequence[TrackResult], expected: float) -> Figure:
    """Draw the turning rates of all kinds of track."""
    figure = new_figure(9.0, 4.5)
    axes = figure.subplots()
    names = list(dict.fromkeys(result.name for result in results))
    steps = sorted({result.time_step for result in results})
    for k, step in enumerate(steps):
        own = [result for result in results if result.time_step == step]
        rows = [names.index(result.name) + 0.25 * (k - (len(steps) - 1) / 2) for result in own]
        axes.barh(rows, [result.turning for result in own], 0.22, label=f"{step * 1000:g} ms")
    axes.axvline(expected, color="black", linestyle="--", label="planar friction")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.1)  # With room for the legend.
    axes.legend(loc="lower right")
    label_axes(axes, "yaw rate on the spot over that without slip [-]", "", "PackBot")
    return figure


def run(
    session: Session,
    time_steps: Annotated[
        str | None, typer.Option(help="Time steps in s, with commas; 0.001 to 0.004.", show_default=False)
    ] = None,
) -> Outcome:
    """Measure each kind of track at each time step."""
    steps = TIME_STEPS if time_steps is None else parse_numbers("--time-steps", time_steps)
    if not steps or len(set(steps)) < len(steps) or not all(1e-4 <= step <= 0.02 for step in steps):
        raise InvalidValueError("--time-steps", "numbers from 0.0001 to 0.02, each of them once", time_steps)
    vehicle = load_vehicle(VEHICLE)
    engines: tuple[EngineName, ...] = ("native", "mujoco")
    results = []
    with session.counting("drives", len(steps) * (len(engines) + len(SUBSTITUTES))) as done:
        for engine in engines:
            for step in steps:
                results.append(drive_belts(vehicle, engine, step))
                done()
        for kind in SUBSTITUTES:
            for step in steps:
                results.append(drive_substitute(vehicle, kind, step))
                done()
    expected = expected_turning(vehicle)
    summary = {
        "vehicle": vehicle.name,
        "planar_friction": expected,
        "results": [asdict(result) for result in results],
    }
    files = {"mujoco-tracks.json": summary, "mujoco-tracks.png": draw_results(results, expected)}
    return Outcome([results_table(results, expected)], summary, files)
