"""Events of NG-NRMM as Koerner 2024 defines them: obstacles, criteria, and what limits a vehicle at them.

Koerner 2024 is "Influence of Track-Assembly Geometry on Mobility Over Rigid Terrain", a master's thesis at
Chalmers University of Technology; numbers of sections and tables are its.

A vehicle drives at an obstacle that begins at x = 0, passes it or is stuck, and the vertical acceleration at
its driver's place is taken every step.

| module | content |
|---|---|
| `obstacles`, `roughness` | half-rounds, step, gap, trapezoid barriers and ditches, ride courses |
| `assumptions` | what the paper leaves open, and its limits |
| `driver` | whatever commands the robot: a function of robot and time |
| `run`, `event_result`, `histories` | one event, its setup and result |
| `limits` | torque, hull, friction, wheels and arms, from the state |
| `filters` | absorbed power, low pass |
| `beside` | two events at the same instant |
| `search` | largest obstacle and limiting speed, upwards |
"""

from segtrack.events.assumptions import Assumptions
from segtrack.events.beside import EventInstant, run_beside
from segtrack.events.driver import BeltSpeedDriver, Driver
from segtrack.events.event_result import DriverPlace, EventResult, EventSetup
from segtrack.events.filters import absorbed_power, low_passed
from segtrack.events.histories import LimitHistory, Ridden
from segtrack.events.limits import LIMITS
from segtrack.events.obstacles import (
    EventObstacle,
    GapObstacle,
    HalfRoundObstacle,
    RideObstacle,
    StepObstacle,
    TrapezoidObstacle,
)
from segtrack.events.roughness import RideCourse
from segtrack.events.run import EventInterrupted, EventProgress, run_event
from segtrack.events.search import Found, SearchTrial, UpwardSearch

__all__ = [
    "LIMITS",
    "Assumptions",
    "BeltSpeedDriver",
    "Driver",
    "DriverPlace",
    "EventInstant",
    "EventInterrupted",
    "EventObstacle",
    "EventProgress",
    "EventResult",
    "EventSetup",
    "Found",
    "GapObstacle",
    "HalfRoundObstacle",
    "LimitHistory",
    "RideCourse",
    "RideObstacle",
    "Ridden",
    "StepObstacle",
    "TrapezoidObstacle",
    "SearchTrial",
    "UpwardSearch",
    "absorbed_power",
    "low_passed",
    "run_beside",
    "run_event",
]
