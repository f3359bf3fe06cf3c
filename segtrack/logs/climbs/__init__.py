"""Tables of trials at steps, simulated: outcomes, what is undecided, and step limits."""

from segtrack.logs.climbs.confusion import Confusion, Rate
from segtrack.logs.climbs.limits import Limit, robot_limit, simulated_limit
from segtrack.logs.climbs.load import load_climbs
from segtrack.logs.climbs.result import ClimbsResult, LimitResult, TrialResult
from segtrack.logs.climbs.run import ClimbsInterrupted, Plan, plan_climbs, run_climbs
from segtrack.logs.climbs.table import CLIMB_INPUTS, ClimbTable, Trial

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
    "Trial",
    "TrialResult",
    "load_climbs",
    "plan_climbs",
    "robot_limit",
    "run_climbs",
    "simulated_limit",
]
