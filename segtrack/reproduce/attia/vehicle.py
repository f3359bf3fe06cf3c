"""Vehicle of Attia 2005, section 2.5: its tables, assumed dimensions that it does not give, and its rest.

The front wheels hang on double A-arms across the vehicle, the rear ones on trailing arms. The vehicle is
symmetric, nothing touches the ground but the tyres, and these act along the vertical through their wheel's
centre. A strut pushes its arm through a constant lever, so that it is K a^2 and D a^2 about the hinge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from segtrack.geometry import GRAVITY

CHASSIS = (800.0, (130.0, 250.0, 200.0))
"""Mass [kg] and principal moments of inertia [kg m^2] (table 2.1)."""
ARM = (0.5, (0.5, 0.5, 0.5))
"""The same of each A-arm."""
KNUCKLE = (5.0, (1.0, 1.0, 1.0))
"""The same of each front knuckle."""
STRUT_STIFFNESS, STRUT_DAMPING = 9.16e4, 1.44e4
"""Struts (table 2.2) [N/m], [N s/m]."""
TYRE_RADIUS, TYRE_STIFFNESS, TYRE_DAMPING = 0.35, 1.5e5, 1.3e4
"""Tyres (table 2.3) [m], [N/m], [N s/m]."""


@dataclass(frozen=True)
class Axle:
    """Suspension and wheels of one axle; dimensions are assumptions, with level arms at rest.

    Attributes:
        wheel: Mass [kg] and principal moments of inertia [kg m^2] of a wheel (table 2.1).
        strut_length: Unloaded length of a strut (table 2.2) [m].
        x: Forward position of the wheels from the chassis' centre of mass [m].
        arm: Length of the arms, whose centre of mass is in the middle [m].
        lever: Lever arm of the struts about the arms' hinges [m].
    """

    wheel: tuple[float, tuple[float, float, float]]
    strut_length: float
    x: float
    arm: float
    lever: float


FRONT = Axle((20.0, (2.0, 3.0, 2.0)), 0.345, x=1.2, arm=0.30, lever=0.12)
REAR = Axle((30.0, (2.0, 3.0, 2.0)), 0.362, x=-1.3, arm=0.40, lever=0.16)
HALF_TRACK = 0.65
"""Distance of the wheels' centres from the middle at rest [m]."""
BALL_HEIGHT = 0.12
"""Height of the upper ball joint above the front wheel's centre, and depth of the lower one below [m]."""
REST_HEIGHT = 0.60
"""Height of the chassis' centre of mass at rest [m]."""
RELEASE = 0.05
"""Height above rest from which the vehicle is let go, level, the tyres just touching the ground [m]."""
ASSUMPTIONS = {
    "wheels ahead of the chassis' centre of mass [m]": f"{FRONT.x:g} front, {REAR.x:g} rear",
    "wheels beside the middle [m]": f"{HALF_TRACK:g}",
    "arms [m]": f"{FRONT.arm:g} front, across, both equal and parallel; {REAR.arm:g} rear, trailing",
    "lever of the struts about the arms' hinges [m]": f"{FRONT.lever:g} front, {REAR.lever:g} rear, constant",
    "tyres": "push straight up through the middle of their wheel",
    "steering": "free in the particles; nothing excites it, the wheel's centre lies between its ball joints",
    "ball joints above and below the front wheel's centre [m]": f"{BALL_HEIGHT:g}",
    "height of the chassis' centre of mass at rest [m]": f"{REST_HEIGHT:g}",
    "release above rest, level, tyres unloaded [m]": f"{RELEASE:g}",
    "friction between tyres and ground [-]": "0",
    "gravity [m/s^2]": f"{GRAVITY:g}",
}
"""Declarations of what the paper leaves open, by their meaning."""


class HeaveReading(NamedTuple):
    """State of the vehicle at one time.

    Attributes:
        height: Height of the chassis' centre of mass [m].
        pitch: Pitch of the chassis, nose up positive [rad].
        front_load: Force of the ground on the left front tyre [N].
        rear_load: Force of the ground on the left rear tyre [N].
        front_strut: Force of the left front strut and its damper [N].
        rear_strut: Force of the left rear strut and its damper [N].
    """

    height: float
    pitch: float
    front_load: float
    rear_load: float
    front_strut: float
    rear_strut: float


@dataclass(frozen=True)
class WheelRest:
    """State of one corner at rest, by statics.

    Attributes:
        load: Force of the ground on the tyre [N].
        strut: Force of the strut [N].
        strut_length: Length of the strut [m].
        hub_height: Height of the wheel's centre [m].
        start_angle: Angle of the arm at release, positive with the wheel up [rad].
    """

    load: float
    strut: float
    strut_length: float
    hub_height: float
    start_angle: float


def total_mass() -> float:
    """Mass of the vehicle [kg]."""
    front = 2 * ARM[0] + KNUCKLE[0] + FRONT.wheel[0]
    return CHASSIS[0] + 2 * (front + ARM[0] + REAR.wheel[0])


def rest() -> tuple[WheelRest, WheelRest]:
    """State of a front and of a rear corner at rest, in closed form: chassis and arms are level.

    Moments of all weights about the rear axle give the front load N. Virtual work of an arm of length L then
    gives its strut's force F through the lever a: F a = (N - weight at the wheel) L - arms' weight L / 2.
    """
    unsprung = 2 * ARM[0] + KNUCKLE[0] + FRONT.wheel[0]
    base = FRONT.x - REAR.x
    moment = CHASSIS[0] * -REAR.x + 2 * unsprung * base + 2 * ARM[0] * REAR.arm / 2
    front = GRAVITY * moment / base / 2
    rear = GRAVITY * total_mass() / 2 - front
    return (
        _corner(FRONT, front, KNUCKLE[0] + FRONT.wheel[0], 2 * ARM[0]),
        _corner(REAR, rear, REAR.wheel[0], ARM[0]),
    )


def rest_reading() -> HeaveReading:
    """State of the vehicle at rest, by statics."""
    front, rear = rest()
    return HeaveReading(REST_HEIGHT, 0.0, front.load, rear.load, front.strut, rear.strut)


def _corner(axle: Axle, load: float, at_wheel: float, arms: float) -> WheelRest:
    strut = (load - GRAVITY * (at_wheel + arms / 2)) * axle.arm / axle.lever
    deflection = load / TYRE_STIFFNESS
    return WheelRest(
        load=load,
        strut=strut,
        strut_length=axle.strut_length - strut / STRUT_STIFFNESS,
        hub_height=TYRE_RADIUS - deflection,
        start_angle=math.asin((deflection - RELEASE) / axle.arm),
    )
