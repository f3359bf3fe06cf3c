"""Parameters of a vehicle fitted to logs, with what is known of their uncertainty.

The stages of a fit, in `fit.py`, each in a file of its own:

| stage | what | where |
|---|---|---|
| compare | logs as tables, simulated ones beside them | `simulated.cases` |
| simulate | all logs at points of the unknowns, kept for resuming | `simulated.evaluate`, `.store` |
| search | the least cost between all bounds, CMA-ES | `stages.search` |
| noise | how rough simulations are, and by how much to change unknowns | `stages.noise` |
| refine | the least cost nearby, least squares | `stages.search` |
| uncertainty | covariance from correlated residuals | `stages.uncertainty` |
| profile | the cost with one unknown held | `stages.profiles` |
| estimate | values, intervals, what is not identifiable | `stages.estimates` |
"""

from segtrack.logs.fit.fit import fit
from segtrack.logs.fit.parameters import PARAMETERS, with_parameters
from segtrack.logs.fit.result import Fit
from segtrack.logs.fit.simulated.cases import Case, LogFiles, MotionCase, Rows
from segtrack.logs.fit.stages.estimates import Estimate
from segtrack.logs.fit.unknowns import Choice, Prior

__all__ = [
    "PARAMETERS",
    "Case",
    "Choice",
    "Estimate",
    "Fit",
    "LogFiles",
    "MotionCase",
    "Prior",
    "Rows",
    "fit",
    "with_parameters",
]
