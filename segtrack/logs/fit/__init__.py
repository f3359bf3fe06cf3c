"""Parameters of a vehicle fitted to logs, with what is known of their uncertainty.

The stages of a fit, which `fit.py` runs:

| stage | what | where |
|---|---|---|
| compare | logs as tables, simulated ones beside them | `cases` |
| simulate | all logs at points of the unknowns, kept for resuming | `evaluate` |
| search, refine | the least cost between all bounds, CMA-ES, then nearby, least squares | `search` |
| noise | how rough simulations are, and by how much to change unknowns | `search` |
| uncertainty | covariance from correlated residuals | `uncertainty` |
| profile | the cost with one unknown held | `profiles` |
| estimate | values, intervals, what is not identifiable | `estimates` |
"""

from segtrack.logs.fit.cases import Case, LogFiles, MotionCase, Rows
from segtrack.logs.fit.estimates import ParameterEstimate
from segtrack.logs.fit.fit import fit
from segtrack.logs.fit.result import Fit
from segtrack.logs.fit.unknowns import PARAMETERS, Choice, Prior, with_parameters

__all__ = [
    "PARAMETERS",
    "Case",
    "Choice",
    "ParameterEstimate",
    "Fit",
    "LogFiles",
    "MotionCase",
    "Prior",
    "Rows",
    "fit",
    "with_parameters",
]
