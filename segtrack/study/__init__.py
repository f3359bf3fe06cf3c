"""Studies: one event for many vehicles with different numbers in their file, from one YAML file.

| module | content |
|---|---|
| `file` | the study file and its event, checked |
| `paths` | paths into a vehicle file, checked against the vehicle, and files with other numbers |
| `design` | values of the parameters: grids, quasi-random sequences, SALib's, optuna's; sensitivities |
| `runs` | one run, and its row |
| `journal` | finished runs on disk, from which a study goes on |
| `work` | rounds of runs on all cores |
| `table` | Parquet file of all runs |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
