"""Tables of trials at steps, simulated: outcomes, what is undecided, and step limits."""

from segtrack.logs.climbs.agreement import Confusion, Limit, Rate, robot_limit, simulated_limit
from segtrack.logs.climbs.run import ClimbsInterrupted, Plan, plan_climbs, run_climbs
from segtrack.logs.climbs.simulation import ClimbsResult, LimitResult, TrialResult
from segtrack.logs.climbs.table import CLIMB_INPUTS, ClimbTable, ClimbTrial, load_climbs

__all__ = [
    "CLIMB_INPUTS",
    "ClimbTable",
    "ClimbsInterrupted",
    "ClimbsResult",
    "Confusion",
    "Limit",
    "LimitResult",
    "Plan",
    "Rate",
    "ClimbTrial",
    "TrialResult",
    "load_climbs",
    "plan_climbs",
    "robot_limit",
    "run_climbs",
    "simulated_limit",
]
