"""`segtrack reproduce robots`: numbers published of real robots beside those of their vehicle files.

Absolem, Bunker, Markhor and Jaguar, natively on compliant belts. The READMEs in `urdf` say who published
which number, and why some are missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from rich.markup import escape
from rich.table import Table

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.experiments import ClimbSetup, Rig, run_climb, turn_on_the_spot
from segtrack.geometry import GRAVITY
from segtrack.report import Outcome
from segtrack.reproduce.registry import Session
from segtrack.robot import Robot
from segtrack.terrain import Plane, Step
from segtrack.world import World

RAISED = 1.0
"""Angle of flippers that touch no ground [rad]."""
ABSOLEM_COMMAND = 0.3
"""Forward speed that Absolem is told to drive at [m/s]."""
ABSOLEM_TURN = 0.6 * 0.397 / 2 / 0.5
"""Belt speed of Absolem told to turn at 0.6 rad/s, by its gauge and its driver's efficiency of 0.5 [m/s]."""
STANDING = -1.0
"""Angle of flippers on whose tips Absolem stands [rad]."""
_SPEED = 0.2
"""Belt speed of climbs and slopes [m/s]."""
_RISE = 0.01
"""Distance between heights [m] that are tried."""


@dataclass(frozen=True)
class PublishedNumber:
    """Number of a real robot beside the simulated one.

    Attributes:
        vehicle: Bundled name.
        quantity: Name of the quantity, with its unit.
        published: Number of the robot.
        simulated: Number of the vehicle file.
    """

    vehicle: str
    quantity: str
    published: float
    simulated: float


def absolem_speed() -> float:
    """Mean speed of Absolem over 2 s, told to drive at `ABSOLEM_COMMAND` [m/s]."""
    with World(engine="native") as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle("absolem", flippers=_at("absolem", RAISED))
        robot.drive(ABSOLEM_COMMAND, 0.0)
        world.run(1.0)
        start = robot.state.position[0]
        world.run(2.0)
        return (robot.state.position[0] - start) / 2.0


def full_turn(vehicle: str, angle: float, speed: float) -> float:
    """Duration of a turn by 360 deg on the spot, flippers at an angle [rad], belts at a speed [m/s] [s]."""
    rig = Rig(load_vehicle(vehicle), _at(vehicle, angle), "compliant", "native")
    return 2 * math.pi / turn_on_the_spot(rig, speed).measured.yaw_rate


def yaw_over_no_slip(vehicle: str, angle: float) -> float:
    """Yaw rate on the spot over that of belts that never slip sideways, flippers at an angle [rad] [-]."""
    rig = Rig(load_vehicle(vehicle), _at(vehicle, angle), "compliant", "native")
    steered = turn_on_the_spot(rig)
    return steered.measured.yaw_rate * steered.gauge / (steered.belts[1] - steered.belts[0])


def rise_on_flippers(vehicle: VehicleDescription, start: float, target: float) -> float:
    """Rise of a vehicle in 4 s after its flippers at `start` [rad] are told to turn to `target` [rad] [m]."""
    with World(engine="native") as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, flippers=dict.fromkeys(vehicle.flippers, start))
        world.run(0.5)
        height = robot.state.position[2]
        robot.set_flippers(**dict.fromkeys(vehicle.flippers, target))
        world.run(4.0)
        return robot.state.position[2] - height


def highest_step(climbs: Callable[[float], bool], start: float) -> float:
    """Last height from `start` on, `_RISE` apart, before one that is not climbed [m]; 0 without one."""
    count = 0
    while climbs(start + count * _RISE):
        count += 1
    return start + (count - 1) * _RISE if count else 0.0


def bunker_climbs(height: float) -> bool:
    """True if Bunker climbs a step of a height [m]."""
    return run_climb(ClimbSetup("bunker", step=height, speed=_SPEED, engine="native")).outcome == "climbed"


def jaguar_climbs(height: float) -> bool:
    """True if Jaguar climbs a step of a height [m] with its flippers moved as a driver would.

    They are raised until the nose is up by 30 deg on the wall; then the front ones reach for the edge and
    the rear ones push the rear up.
    """
    raised, reaching = (
        _at("jaguar", math.radians(45.0)),
        {"front": -math.radians(30), "rear": -math.radians(20)},
    )
    with World(engine="native") as world:
        world.add_terrain(Step(height=height, distance=0.7))
        robot = world.add_vehicle("jaguar", flippers=raised)
        robot.set_belt_speed(_SPEED, _SPEED)
        nose_up = _run_until(world, robot, lambda: robot.state.pitch > math.radians(30.0))
        robot.set_flippers(**{name: reaching[name.partition("_")[0]] for name in robot.flippers})
        return nose_up and _run_until(world, robot, lambda: _stands_on(robot, height))


def _run_until(world: World, robot: Robot, reached: Callable[[], bool]) -> bool:
    """Run until something is reached, for 15 s at most; return whether it was."""
    for _ in range(300):
        if reached():
            return True
        world.run(0.05)
    return False


def _stands_on(robot: Robot, height: float) -> bool:
    """True if a robot is level and with all of its body above a height [m]."""
    return robot.bounds()[0][2] > height - 0.02 and abs(robot.state.pitch) < math.radians(10.0)


def steepest_slope(vehicle: str, start: int) -> int:
    """Steepest slope of whole degrees from `start` on that a vehicle drives up [deg]; 0 if not the first."""
    angle = start
    while drives_up(vehicle, math.radians(angle)):
        angle += 1
    return angle - 1 if angle > start else 0


def drives_up(vehicle: str, slope: float) -> bool:
    """True if a vehicle comes up a slope [rad] by more than half of its belts' travel."""
    with World(engine="native") as world:
        world.add_terrain(Plane())
        # Gravity is turned in place of the ground.
        world.set_gravity((-GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope)))
        robot = world.add_vehicle(vehicle)
        robot.set_belt_speed(_SPEED, _SPEED)
        world.run(3.0)
        return robot.state.position[0] > 0.5 * robot.tracks["left"].travel


def _at(vehicle: str, angle: float) -> dict[str, float]:
    """All flippers of a vehicle at an angle [rad]."""
    return dict.fromkeys(load_vehicle(vehicle).flippers, angle)


ROWS: tuple[tuple[str, str, float, Callable[[], float]], ...] = (
    ("absolem", "speed at 0.3 m/s commanded [m/s]", 0.27, absolem_speed),
    (
        "absolem",
        "full turn at 0.6 rad/s commanded, flippers raised [s]",
        12.5,
        lambda: full_turn("absolem", RAISED, ABSOLEM_TURN),
    ),
    (
        "absolem",
        "the same, flippers flat [s]",
        12.5,
        lambda: full_turn("absolem", 0.0, ABSOLEM_TURN),
    ),
    (
        "absolem",
        "rise as all flippers push down [mm]",
        0.0,
        lambda: 1e3 * rise_on_flippers(load_vehicle("absolem"), 0.0, STANDING),
    ),
    (
        "absolem",
        "rise in 4 s of standing on flippers [mm]",
        0.0,
        lambda: 1e3 * rise_on_flippers(load_vehicle("absolem"), STANDING, STANDING),
    ),
    ("bunker", "highest step [mm]", 170.0, lambda: 1e3 * highest_step(bunker_climbs, 0.15)),
    ("bunker", "steepest slope [deg]", 36.0, lambda: steepest_slope("bunker", 34)),
    ("jaguar", "highest step [mm]", 300.0, lambda: 1e3 * highest_step(jaguar_climbs, 0.28)),
    (
        "markhor",
        "yaw rate over no slip, tracks flat [-]",
        0.446 / (0.46 * 4.2),
        lambda: yaw_over_no_slip("markhor", 0.0),
    ),
    (
        "markhor",
        "the same, tracks raised [-]",
        0.446 / (0.46 * 4.2),
        lambda: yaw_over_no_slip("markhor", RAISED),
    ),
)
"""Vehicle, quantity, published number, and function that simulates it."""


def robots_table(numbers: list[PublishedNumber]) -> Table:
    """Make the table of published and simulated numbers."""
    table = Table(title="Real robots and their vehicle files")
    for header in ("vehicle", "quantity", "robot", "simulated"):
        table.add_column(header)
    for row in numbers:
        table.add_row(row.vehicle, escape(row.quantity), f"{row.published:.3g}", f"{row.simulated:.3g}")
    return table


def run(session: Session) -> Outcome:
    """Simulate each published number."""
    numbers = []
    with session.counting("simulating", len(ROWS)) as done:
        for vehicle, quantity, published, simulate in ROWS:
            numbers.append(PublishedNumber(vehicle, quantity, published, float(simulate())))
            done()
    summary = {"numbers": [asdict(number) for number in numbers]}
    return Outcome(robots_table(numbers), summary, {"robots.json": summary})
