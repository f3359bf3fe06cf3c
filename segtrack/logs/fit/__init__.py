"""Parameters of a vehicle fitted to logs, with what is known of their uncertainty.

The stages of a fit, which `fitting.py` runs:

| stage | what | where |
|---|---|---|
| compare | logs as tables, simulated ones beside them | `cases` |
| simulate | all logs at points of the unknowns, kept for resuming | `evaluate` |
| search, refine | the least cost between all bounds, CMA-ES, then nearby, least squares | `search` |
| noise | how rough simulations are, and by how much to change unknowns | `search` |
| uncertainty | covariance from correlated residuals | `estimates` |
| profile | the cost with one unknown held | `estimates` |
| estimate | values, intervals, what is not identifiable | `estimates` |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
