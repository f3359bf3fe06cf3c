"""Designs of studies: parameter values to simulate, and sensitivities of the results to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from segtrack.errors import InvalidValueError, MissingPackageError, Phrase
from segtrack.experiments.study_file import StudyFile

_LEVELS = 4
"""Levels of morris's grid."""


def planned_values(study: StudyFile) -> NDArray[np.float64] | None:
    """Parameter values of all designs (designs, parameters), in file order; None if results decide them.

    Raises:
        MissingPackageError: SALib is not installed, and asked for.
        InvalidValueError: A count that the method cannot have.
    """
    ranges, design = list(study.parameters.values()), study.design
    low, high = np.array([[each.low, each.high] for each in ranges]).T
    match design.method:
        case "grid":
            axes = [np.linspace(each.low, each.high, each.count).tolist() for each in ranges]
            return np.array(list(product(*axes)))
        case "sobol" | "halton" | "latin hypercube":
            return np.asarray(qmc.scale(_sampler(study).random(design.count), low, high))
        case "saltelli":
            if not math.log2(design.count).is_integer():
                raise InvalidValueError("design.count of saltelli", "a power of 2", design.count)
            from_salib = _salib("sample.sobol")
            return np.asarray(from_salib.sample(_problem(study), design.count, seed=design.seed))
        case "morris":
            return np.asarray(
                _salib("sample.morris").sample(
                    _problem(study), design.count, num_levels=_LEVELS, seed=design.seed
                )
            )
    return None


def _sampler(study: StudyFile) -> qmc.QMCEngine:
    kinds = {"sobol": qmc.Sobol, "halton": qmc.Halton, "latin hypercube": qmc.LatinHypercube}
    sampler: qmc.QMCEngine = kinds[study.design.method](len(study.parameters), seed=study.design.seed)
    return sampler


def _problem(study: StudyFile) -> dict[str, Any]:
    """Problem definition for SALib: the parameters' names and ranges."""
    bounds = [[each.low, each.high] for each in study.parameters.values()]
    return {"num_vars": len(bounds), "names": list(study.parameters), "bounds": bounds}


def _salib(module: str) -> Any:
    """Import a module of SALib, or raise the error that names the extra."""
    from importlib import import_module

    try:
        return import_module(f"SALib.{module}")
    except ImportError:
        raise MissingPackageError("a sensitivity analysis", "SALib", "study") from None


def sensitivities(
    study: StudyFile, values: NDArray[np.float64], results: Sequence[float | None]
) -> dict[str, dict[str, float]]:
    """Sensitivity measures of each parameter; empty for designs that give none.

    Of saltelli Sobol' indices of first order (S1) and in total (ST) with half their 95 % intervals; of morris
    the mean of the magnitudes of elementary effects (mu_star), their mean (mu) and deviation (sigma).

    Args:
        study: Study file.
        values: Parameter values of its designs (designs, parameters).
        results: Results of these designs; None for a failed one.

    Raises:
        InvalidValueError: A design has no result.
    """
    method = study.design.method
    if method not in ("saltelli", "morris"):
        return {}
    missing = sum(result is None for result in results)
    if missing:
        got = Phrase(f"{missing} of {len(results)} without one")
        raise InvalidValueError("designs of a sensitivity analysis", "all with a result", got)
    outcome = np.array(results, dtype=float)
    if method == "saltelli":
        found = _salib("analyze.sobol").analyze(_problem(study), outcome, seed=study.design.seed)
        names = ["S1", "S1_conf", "ST", "ST_conf"]
    else:
        found = _salib("analyze.morris").analyze(
            _problem(study), values, outcome, num_levels=_LEVELS, seed=study.design.seed
        )
        names = ["mu_star", "mu", "sigma"]
    return {
        parameter: {name: float(found[name][i]) for name in names}
        for i, parameter in enumerate(study.parameters)
    }


class Optimiser:
    """Optimiser (optuna) that asks for designs in batches of a size independent of the number of cores.

    A study that goes on tells it the results of its journal in the same order, so that a new sampler of the
    same seed asks for the same designs.
    """

    def __init__(self, study: StudyFile) -> None:
        """Start without results.

        Raises:
            MissingPackageError: Optuna is not installed.
        """
        try:
            import optuna
        except ImportError:
            raise MissingPackageError("optimisation", "optuna", "study") from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self._ranges = optuna, study.parameters
        self._left = study.design.count
        self._batch = study.design.batch
        self._storage = optuna.storages.InMemoryStorage()
        self.study = optuna.create_study(
            storage=self._storage,
            sampler=optuna.samplers.TPESampler(seed=study.design.seed, constant_liar=True),
            direction="maximize" if study.design.direction == "largest" else "minimize",
            study_name="segtrack",
        )
        self._asked: list[Any] = []

    def ask(self) -> NDArray[np.float64]:
        """Return parameter values of the next designs (designs, parameters); empty at the end."""
        count = min(self._batch, self._left)
        self._left -= count
        self._asked = [self.study.ask() for _ in range(count)]
        rows = [
            [trial.suggest_float(name, each.low, each.high) for name, each in self._ranges.items()]
            for trial in self._asked
        ]
        return np.array(rows).reshape(count, len(self._ranges))

    def tell(self, results: Sequence[float | None]) -> None:
        """Give the results of the last designs to optuna; None for a failed one."""
        for trial, result in zip(self._asked, results, strict=True):
            if result is None:
                self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            else:
                self.study.tell(trial, result)

    def store(self, path: Path) -> None:
        """Write all trials to a SQLite file for optuna's dashboard, replacing an older one."""
        path.unlink(missing_ok=True)
        self._optuna.copy_study(
            from_study_name="segtrack", from_storage=self._storage, to_storage=f"sqlite:///{path}"
        )
