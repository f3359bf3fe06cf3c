"""A fit from beginning to end: its stages in their order."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.experiments import Workers
from segtrack.logs.fit.cases import Case, MotionCase, Offsets, residuals_of, score_of
from segtrack.logs.fit.estimates import (
    PLACES,
    FitUncertainty,
    Profile,
    combinations_of,
    estimates_of,
    profile,
    uncertainty_of,
    with_sample,
    with_unit,
)
from segtrack.logs.fit.evaluate import (
    HASH,
    LOSSES,
    Evaluator,
    Loss,
    Store,
    influences_of,
    offsets_of,
    slopes_of,
)
from segtrack.logs.fit.result import Fit, FittedCase
from segtrack.logs.fit.sampling import Sample, draw_sample
from segtrack.logs.fit.search import (
    PLACES_TRIED,
    SMALLEST,
    SearchRun,
    measure_noise,
    narrowed,
    refine,
    search,
    settle_places,
)
from segtrack.logs.fit.unknowns import (
    CLOCK_OFFSET,
    Choice,
    Unknown,
    place_of,
    unknowns_of,
    with_parameters,
)
from segtrack.logs.mapping import LoadedTerrain
from segtrack.recording import PACKAGES, version_of

Array = NDArray[np.float64]
_SEARCHED, _REFINED, _SAMPLED = 0.4, 0.5, 0.75
"""Shares of a fit's work at the end of its stages, about."""
_ROUNDS = 2
"""Rounds of refinement: a profile may find a better fit than it began from."""
_NARROWED = 2
"""Times that the steps of derivatives follow the uncertainty."""
_BETTER = 1e-3
"""Relative decrease of the cost from which a fit counts as better."""


def fit(
    vehicle: VehicleDescription,
    cases: Sequence[Case],
    choices: Mapping[str, Choice],
    *,
    seed: int = 1,
    loss: Loss = "huber",
    pool: Workers | None = None,
    folder: Path | None = None,
    resume: bool = False,
    problem: Mapping[str, Any] | None = None,
    on_share: Callable[[float], object] = lambda share: None,
) -> Fit:
    """Fit parameters of a vehicle to logs.

    Args:
        vehicle: From which it begins.
        cases: Logs, of which some may be held out.
        choices: Bounds and prior of each fitted parameter, by its name.
        seed: Seed of everything random.
        loss: Loss of residuals: `huber`, or `squares`, which a few samples that are far off mislead.
        pool: Runs the simulations; this process alone if not given.
        folder: Folder of the state file; none is kept if not given.
        resume: Go on with the state file that is there.
        problem: Further properties that a resumed fit must have, JSON-serialisable.
        on_share: Called with the share that is done, from 0 to 1.

    Returns:
        Fit of the logs; on Ctrl-C the best so far, without uncertainty.

    Raises:
        UnknownNameError: No such parameter, or loss.
        InvalidValueError: No log is fitted, names are not unique, bounds are none, the vehicle lacks what is
            fitted or cannot have it at a bound, a log has one clock where its offset is fitted,
            or the state file is of another fit.
        FileAccessError: The state file cannot be used, or there is one already that is not to be resumed.
        MissingPackageError: cmaes is not installed.
        SegtrackError: A simulation cannot be: a contact is too stiff for its time step, for example.
    """
    if loss not in LOSSES:
        raise UnknownNameError("loss of a fit", loss, LOSSES)
    fitted, unknowns = _checked(vehicle, cases, choices)
    own_parts: dict[str, Any] = {"seed": seed, "loss": loss}
    whole = describe(cases, unknowns, **own_parts, vehicle=vehicle.model_dump(mode="json"), **(problem or {}))
    store = Store(folder, whole, resume)
    own = Workers(1) if pool is None else pool
    evaluator = Evaluator(vehicle, fitted, unknowns, own, store, loss)
    work = _Work(evaluator, seed, on_share)
    try:
        work.run()
    except KeyboardInterrupt:
        work.interrupted = True
    finally:
        store.close()
    return work.result(vehicle, cases)


class _Work:
    """The stages, and what they have found so far."""

    def __init__(self, evaluator: Evaluator, seed: int, on_share: Callable[[float], object]) -> None:
        self.evaluator, self.seed, self.on_share = evaluator, seed, on_share
        self.runs: tuple[SearchRun, ...] = ()
        self.interrupted = False
        self.point = evaluator.start
        self.uncertainty: FitUncertainty | None = None
        self.information: dict[str, Array] = {}
        self.profiles: list[Profile] = []
        self.sample: Sample | None = None

    def run(self) -> None:
        """Search, measure the noise, refine, sample, and look around."""
        evaluator = self.evaluator
        evaluator.rescale(evaluator.start)
        self.runs = search(evaluator, self.seed, lambda share: self.on_share(_SEARCHED * share))
        self.point = settle_places(evaluator, evaluator.best)
        evaluator.rescale(self.point)
        self.noise = measure_noise(evaluator, self.point, self.seed)
        for _ in range(_ROUNDS):
            self.point = refine(evaluator, evaluator.best, np.array(self.noise.steps))
            self._narrow()
            if self.sample is None:
                self._draw_sample()
            self.on_share(_SAMPLED)
            least = evaluator.best_cost
            self._look_around()
            if evaluator.best_cost >= (1 - _BETTER) * least:
                break

    def _narrow(self) -> None:
        """Take slopes over no more than a standard deviation, and refine with these."""
        for _ in range(_NARROWED):
            self._take_uncertainty()
            assert self.uncertainty is not None
            widths = np.maximum(self.uncertainty.std, SMALLEST)
            steps = np.minimum(self.noise.steps, widths)
            if (steps >= self.noise.steps).all():
                return
            self.noise = replace(self.noise, steps=tuple(steps.tolist()))
            self.point = refine(self.evaluator, self.evaluator.best, steps)

    def _draw_sample(self) -> None:
        """Sample around the best fit, and begin anew from the best of the points if it costs less."""
        assert self.uncertainty is not None
        uncertainty, evaluator, least = self.uncertainty, self.evaluator, self.evaluator.best_cost
        self.sample = draw_sample(
            evaluator,
            self.point,
            uncertainty.covariance,
            float(np.median(uncertainty.dilution)),
            self.seed,
            lambda share: self.on_share(_REFINED + (_SAMPLED - _REFINED) * share),
        )
        if evaluator.best_cost < least:
            self.point = refine(evaluator, evaluator.best, np.array(self.noise.steps))
            self._narrow()

    def _take_uncertainty(self) -> None:
        """Uncertainty from the residuals, and what each signal tells."""
        evaluator, steps = self.evaluator, np.array(self.noise.steps)
        raw = evaluator.raw_residuals([self.point])[0]
        sensitivities, priors = evaluator.jacobian(self.point, steps, raw=True)
        corners = list(evaluator.corners.values())
        influences, slopes = (list(map(of, raw, corners)) for of in (influences_of, slopes_of))
        self.uncertainty = uncertainty_of(influences, sensitivities, priors, slopes)
        self.information = dict(zip(evaluator.corners, self._shares(slopes, sensitivities), strict=True))

    def _look_around(self) -> None:
        """Uncertainty, and the profile of each unknown."""
        self._take_uncertainty()
        evaluator = self.evaluator
        assert self.uncertainty is not None
        self.noise = narrowed(self.noise, evaluator, self.point, self.uncertainty.covariance)
        self.profiles = []
        reported = [i for i, unknown in enumerate(evaluator.unknowns) if not unknown.is_place]
        count, done = len(PLACES) * len(reported), 0
        assert self.sample is not None

        def noted() -> None:
            nonlocal done
            done += 1
            self.on_share(_SAMPLED + (1 - _SAMPLED) * done / count)

        for i in reported:
            found = profile(self.evaluator, self.point, i, self.uncertainty, self.noise, noted)
            self.profiles.append(with_sample(found, self.sample, i, self.uncertainty))

    def _shares(self, slopes: Sequence[Array], sensitivities: Sequence[Array]) -> list[Array]:
        """Share of each log's signals (k, p) in what is known of each unknown, whatever the places are.

        A change of an unknown counts as far as no change of the places makes up for it.
        """
        assert self.uncertainty is not None
        curvature, count = self.uncertainty.curvature, len(self.point)
        places = [i for i, unknown in enumerate(self.evaluator.unknowns) if unknown.is_place]
        along = np.eye(count)
        for i in range(count):
            others = [j for j in places if j != i]
            along[others, i] = -np.linalg.solve(curvature[np.ix_(others, others)], curvature[others, i])
        whole = np.einsum("ia,ij,ja->a", along, curvature, along)
        parts = zip(slopes, sensitivities, strict=True)
        return [np.einsum("nk,nki->ki", slope, (each @ along) ** 2) / whole for slope, each in parts]

    def result(self, vehicle: VehicleDescription, cases: Sequence[Case]) -> Fit:
        """Return the fit, with all logs scored."""
        evaluator = self.evaluator
        point = evaluator.best if self.interrupted else self.point
        values = {u.name: u.value(x) for u, x in zip(evaluator.unknowns, point.tolist(), strict=True)}
        best = evaluator.vehicle_at(point)
        found = Fit(
            start=vehicle,
            vehicle=best,
            written=best,
            values=values,
            cases=_scored(cases, vehicle, best, values, seeks_places=not self.interrupted),
            seed=self.seed,
            simulations=evaluator.simulations,
            runs=self.runs,
        )
        if self.interrupted or self.uncertainty is None:
            return found
        loose, firm = combinations_of(evaluator.unknowns, self.uncertainty)
        estimates = estimates_of(
            evaluator.unknowns, point, self.uncertainty, self.profiles, loose, found.misfit
        )
        told = {e.name: e.value for e in estimates if e.unknown.log is None and e.is_written}
        ranges = zip(evaluator.unknowns, self.uncertainty.std.tolist(), strict=True)
        stds = {u.log: std * (u.high - u.low) for u, std in ranges if u.is_place}
        written = with_parameters(vehicle, told)
        return replace(
            found,
            written=written,
            cases=tuple(_as_written(case, written, stds.get(case.case.name)) for case in found.cases),
            noise=self.noise,
            estimates=estimates,
            undetermined=loose,
            determined=firm,
            uncertainty=self.uncertainty,
            information=self.information,
            corners=evaluator.corners,
            profiles=tuple(self.profiles),
        )


def _checked(
    vehicle: VehicleDescription, cases: Sequence[Case], choices: Mapping[str, Choice]
) -> tuple[list[Case], tuple[Unknown, ...]]:
    """The logs that are fitted, and the unknowns."""
    names = [case.name for case in cases]
    if len(set(names)) < len(names):
        raise InvalidValueError("names of logs", "unique", Phrase(", ".join(names)))
    fitted = [case for case in cases if not case.held_out]
    if not fitted:
        got = Phrase(", ".join(names) or "none")
        raise InvalidValueError("logs", "at least one that is not held out", got)
    if CLOCK_OFFSET in choices:
        for case in fitted:
            if not (isinstance(case, MotionCase) and case.has_two_clocks):
                what = f"clock offset of {case.name}"
                expected = "of signals that another source measured than the belts"
                raise InvalidValueError(what, expected, Phrase("one source"))
    unknowns = unknowns_of(choices, vehicle, {case.name: case.place_std for case in fitted})
    for unknown in unknowns:
        for bound in (unknown.low, unknown.high) if unknown.log is None else ():
            try:
                with_parameters(vehicle, {unknown.name: bound})
            except InvalidValueError as error:
                expected = "ones that the vehicle can have, give narrower ones"
                got = Phrase(f"{with_unit(bound, unknown.unit)}: {error}")
                raise InvalidValueError(f"bounds of {unknown.name}", expected, got) from None
    return fitted, unknowns


def _scored(
    cases: Sequence[Case],
    start: VehicleDescription,
    best: VehicleDescription,
    values: Mapping[str, float],
    seeks_places: bool,
) -> tuple[FittedCase, ...]:
    """Scores of all logs; those held out where they are likeliest, or where they were put."""
    found = []
    for case in cases:
        offsets = offsets_of(case, values)
        if seeks_places and case.held_out and case.place_std > 0:
            offsets = Offsets(place=_likely_place(case, best))
        # Where a log was is no property of the vehicle.
        before = residuals_of(case, start, Offsets(place=offsets.place))
        after = residuals_of(case, best, offsets)
        scores = score_of(case, before), score_of(case, after)
        found.append(FittedCase(case, before, after, *scores, scores[1], offsets))
    return tuple(found)


def _likely_place(case: Case, vehicle: VehicleDescription) -> float:
    """Offset of the place of a log that takes no part in the fit, where a vehicle explains it best [m]."""
    own = place_of(case.name, case.place_std)
    places = [own.value(tried) for tried in PLACES_TRIED.tolist()]

    def cost(place: float) -> float:
        residuals = residuals_of(case, vehicle, Offsets(place=place))
        return float((residuals**2).sum()) + (place / case.place_std) ** 2

    return min(places, key=cost)


def _as_written(case: FittedCase, written: VehicleDescription, place_std: float | None) -> FittedCase:
    score = score_of(case.case, residuals_of(case.case, written, case.offsets))
    return replace(case, score_written=score, place_std=place_std)


_LONGEST = 80
"""Characters of a value that is told as it is."""


def describe(cases: Sequence[Case], unknowns: Sequence[Unknown], **others: Any) -> dict[str, Any]:
    """All that a fit's simulations and stages depend on, part by part, those first that tell most."""
    return {
        "parameters": [unknown.name for unknown in unknowns],
        "logs": [case.name for case in cases],
        **{part: _short(value) for part, value in others.items()},
        **dict(_of_unknowns(unknowns)),
        **dict(_of_cases(cases)),
        **{f"version of {name}": version_of(name) for name in (*PACKAGES, "cmaes")},
    }


def _of_unknowns(unknowns: Sequence[Unknown]) -> Iterator[tuple[str, Any]]:
    for unknown in unknowns:
        yield f"start of {unknown.name}", unknown.start
        yield f"bounds of {unknown.name}", [unknown.low, unknown.high]
        yield f"prior of {unknown.name}", _short(unknown.prior)


def _of_cases(cases: Sequence[Case]) -> Iterator[tuple[str, Any]]:
    """All fields of each case: logged values, times, belts, settings, files, whether it is held out."""
    for case in cases:
        yield f"kind of {case.name}", type(case).__name__
        for key, value in _fields(case).items():
            yield f"{key} of {case.name}", _short(value)


def _short(value: Any) -> Any:
    """A value as JSON can hold it, or its hash if it is long."""
    plain = _plain(value)
    text = json.dumps(plain, sort_keys=True)
    return plain if len(text) <= _LONGEST else HASH + hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray():
            data = np.ascontiguousarray(value).tobytes()
            return [str(value.dtype), list(value.shape), hashlib.sha256(data).hexdigest()]
        case np.generic():
            return value.item()
        case Path():
            return value.as_posix()
        case BaseModel():
            return value.model_dump(mode="json")
        case LoadedTerrain():
            return [value.name, value.sha256]
        case Mapping():
            return {str(key): _plain(part) for key, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case _ if callable(value):
            return f"{value.__module__}.{value.__qualname__}"
        case _:
            return _plain(_fields(value))


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))
