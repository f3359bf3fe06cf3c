"""Joint least-squares fit of a source's clock, scale, bias and mounting to two views' increments.

Generalised least squares of an `Overlay`'s residuals, from which the share of each source in their noise
follows. Only a motion at both ends of the log distinguishes a skew from an offset; the increase of rates by a
clock's skew is left to the scale, which a gyroscope has of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import Phrase
from segtrack.logs.mapping.clock_fit import Estimate
from segtrack.logs.mapping.increment_noise import NoiseLikelihood, NoiseModel, whiten
from segtrack.logs.mapping.overlay import (
    FEWEST,
    TURN_UNKNOWN,
    ComparedIncrements,
    Overlay,
    ParameterLayout,
    noise_of_view,
)
from segtrack.logs.mapping.views import ClockGuess, View
from segtrack.logs.statistics import raise_variances, sandwich

Array = NDArray[np.float64]
_OUTLIER = 6.0
"""Standard deviations beyond which an increment is left out: an impact between two samples, or a jump."""
_ROUNDS, _STEPS = 8, 4
_SMOOTHED = 0.02
"""Smoothing of the source for derivatives until its noise is known [s]."""
_OVER_NOISE = 3.0
"""Information on an axis of the mounting, over that which the source's noise alone feigns, from which on it
is seen: the turning is twice the noise."""
_LITTLE, _LEAST_FREEDOM = 0.02, 3.0


@dataclass(frozen=True, eq=False)
class JointFit:
    """Result of the joint least-squares fit of clock, scale, bias and mounting.

    Attributes:
        values: Offset [s] and skew, and as `layout` has it scale, a small rotation vector [rad] and bias.
        covariance: Covariance of the values (p, p).
        freedom: Degrees of freedom of each value's variance, since noise is estimated from the log (p,).
        layout: Places of the parameters in `values`.
        turned: Sensor frame of the source in that of the reference; the rotation vector is its error, about
            the reference's axes. None if turning in space is not seen.
        noises: Standard deviations of the reference's samples and the source's.
        gain: Gain in log-likelihood over a source that does not see the motion.
        used: Number of increments that were used.
        left_out: Number of outliers among the increments.
    """

    values: Array
    covariance: Array
    freedom: Array
    layout: ParameterLayout
    turned: Rotation | None
    noises: tuple[Estimate, Estimate]
    gain: float
    used: int
    left_out: int

    def estimate(self, i: int) -> Estimate:
        """Return the i-th value with its interval, by Student's t after Satterthwaite (1946)."""
        return Estimate.normal(self.values[i], self.covariance[i, i] ** 0.5, self.quantile(i))

    def quantile(self, which: int | slice) -> float:
        """Half the length of an interval over the standard deviation, the largest of several values'."""
        return float(scipy.stats.t.ppf(0.975, np.min(self.freedom[which])))

    def mirror(self, source: float, reference: float) -> JointFit:
        """Return the fit of the other clock to this one, with source and reference exchanged.

        Args:
            source: First time of the former source, on its own clock [s].
            reference: First time of the former reference, likewise [s].
        """
        offset, skew = self.values[:2]
        slow, since = 1 + skew, (reference - source - offset) / (1 + skew)
        values = self.values.copy()
        values[:2] = source + since - reference, -skew / slow
        change = np.eye(len(values))
        change[:2, :2] = [[-1 / slow, -since / slow], [0.0, -(slow**-2)]]
        scale, turn = self.layout.scale, self.layout.turn
        values[scale] = 1 / values[scale]
        change[scale, scale] = np.diag(-(values[scale] ** 2))
        turned = self.turned
        if turned is not None:
            turned = turned.inv()
            change[turn, turn] = -turned.as_matrix()
        covariance = change @ self.covariance @ change.T
        noises = self.noises[1], self.noises[0]
        return replace(self, values=values, covariance=covariance, turned=turned, noises=noises)


def fit_jointly(reference: View, source: View, start: ClockGuess, skew_std: float) -> JointFit | Phrase:
    """Fit from an initial guess, or return the reason why it fails.

    Increments are from one of the reference's samples to the next. So the reference should be the view of an
    angle, not of its rate, and the one with fewer samples if both are alike: linear interpolation between
    samples of the source adds nothing about shorter times.

    Args:
        reference: View on the clock that is fitted to.
        source: View on the clock that is fitted.
        start: Initial guess from their correlation.
        skew_std: Standard deviation of the skew, about 0, before anything is looked at [-].
    """
    overlay = Overlay(reference, source, skew_std)
    values = overlay.initial_values(start)
    span = 2 * max(start.middle - source.times[0], source.times[-1] - start.middle)
    reach = 30.0
    try:
        while reach < span:
            rows = overlay.choose(values, start.middle, reach)
            if rows.kept.sum() >= FEWEST:
                values = _solve(overlay, values, rows, rounds=2)[0]
            reach *= 2
        rows = overlay.choose(values, start.middle, np.inf)
        if rows.kept.sum() < FEWEST:
            return Phrase(f"they have {rows.kept.sum()} samples in common, at least {FEWEST} are needed")
        return _result(overlay, values, rows)
    except np.linalg.LinAlgError:
        return Phrase("what both see says too little")


class _Weights(NamedTuple):
    """Weights of residuals: standard deviations of both sources, and the smoothed source."""

    model: NoiseModel
    stds: tuple[float, float]
    smooth: View

    @property
    def factor(self) -> Array:
        """Lower Cholesky factor of the covariance of increments, in bands."""
        return self.model.factor(self.stds)


def _solve(
    overlay: Overlay, values: Array, rows: ComparedIncrements, rounds: int = _ROUNDS
) -> tuple[Array, _Weights]:
    """Parameters and their weights, estimated in turns until neither changes.

    Derivatives of the smoothed source are the instruments (Fuller 1987): noise of the source would else
    make those by its clock too large, and steps and intervals too small.
    """
    stds, smooth = (1.0, 1.0), overlay.source.smooth(_SMOOTHED)
    for _ in range(rounds):
        model = overlay.noise_model(values, rows, stds)
        jacobian = overlay.jacobian(values, rows, smooth)
        found = NoiseLikelihood(model, overlay.residual(values, rows), jacobian).likeliest()
        settled = bool(np.allclose(found, stds, rtol=0.02))
        stds, smooth = found, overlay.smooth_source(values, rows, found[0])
        weights = _Weights(model, stds, smooth)
        for _ in range(_STEPS):
            instruments = _instruments(overlay, values, rows, weights)
            residual = whiten(weights.factor, overlay.residual(values, rows)).ravel()
            pull = instruments.T @ residual + overlay.pull_to_prior(values)
            information = instruments.T @ instruments + np.diag(overlay.prior)
            step = np.linalg.lstsq(information, pull, rcond=1e-12)[0]
            values = overlay.apply_step(values, np.asarray(step))
            if np.all(step**2 * np.diag(information) < 1e-4):
                break
        if settled:
            break
    return values, weights


def _instruments(overlay: Overlay, values: Array, rows: ComparedIncrements, weights: _Weights) -> Array:
    """Derivatives of the smoothed source, whitened (m k, p)."""
    jacobian = overlay.jacobian(values, rows, weights.smooth)
    return whiten(weights.factor, jacobian).reshape(-1, overlay.layout.total)


def _result(overlay: Overlay, values: Array, rows: ComparedIncrements) -> JointFit:
    values, weights = _solve(overlay, values, rows)
    far = np.abs(whiten(weights.factor, overlay.residual(values, rows))).max(axis=1) > _OUTLIER
    if far.any():
        kept = rows.kept.copy()
        kept[np.flatnonzero(rows.kept)[far]] = False
        rows = rows._replace(kept=kept)
        values, weights = _solve(overlay, values, rows)
    residual = overlay.residual(values, rows)
    noises = NoiseLikelihood(
        weights.model, residual, overlay.jacobian(values, rows, weights.smooth)
    ).estimates(weights.stds)
    covariance = _covariance(overlay, values, rows, weights)
    spread = np.zeros(overlay.layout.total)
    for i, noise in enumerate(noises):
        more = list(weights.stds)
        more[i] *= 1 + _LITTLE
        other = _covariance(overlay, values, rows, weights._replace(stds=(more[0], more[1])))
        spread += ((np.diag(other) / np.diag(covariance) - 1) / _LITTLE * noise.relative_std) ** 2
    white = whiten(weights.factor, residual)
    instruments = _instruments(overlay, values, rows, weights).reshape(*white.shape, -1)
    robust = sandwich(instruments, white, covariance)
    covariance = raise_variances(covariance, robust.covariance)
    if overlay.source.is_turning:
        part = overlay.layout.turn
        covariance[part, part] += _unseen_turns(overlay, values, rows, weights)
    return JointFit(
        values=values,
        covariance=covariance,
        freedom=np.maximum(np.minimum(2 / np.maximum(spread, 1e-9), robust.freedom), _LEAST_FREEDOM),
        layout=overlay.layout,
        turned=Rotation.from_rotvec(values[overlay.layout.turn]) if overlay.source.is_turning else None,
        noises=noises,
        gain=_gain(weights.factor, residual, rows),
        used=len(residual),
        left_out=int(far.sum()),
    )


def _unseen_turns(overlay: Overlay, values: Array, rows: ComparedIncrements, weights: _Weights) -> Array:
    """Prior covariance of turns about the axes that the source's noise alone shows (3, 3) [rad^2].

    An axis is seen by turning about the others, and noise about these looks alike.
    """
    noise = noise_of_view(overlay.source, weights.stds[1])
    seen, feigned = (
        _turn_information(overlay, parameters, rows, weights, view)
        for parameters, view in ((values, overlay.source), (overlay.without_bias(values), noise))
    )
    sizes, axes = np.linalg.eigh(seen)
    unseen = axes[:, sizes < _OVER_NOISE * np.sum(axes * (feigned @ axes), axis=0)]
    return TURN_UNKNOWN**2 * unseen @ unseen.T


def _turn_information(
    overlay: Overlay, values: Array, rows: ComparedIncrements, weights: _Weights, source: View
) -> Array:
    """Information that a source's turning has on its mounting (3, 3) [1/rad^2]."""
    slopes = whiten(weights.factor, overlay.jacobian(values, rows, source)).reshape(-1, overlay.layout.total)
    part = overlay.layout.turn
    return np.asarray(slopes[:, part].T @ slopes[:, part])


def _covariance(overlay: Overlay, values: Array, rows: ComparedIncrements, weights: _Weights) -> Array:
    """Covariance of the parameters (p, p) if noise is as the weights have it."""
    instruments = _instruments(overlay, values, rows, weights)
    return np.asarray(np.linalg.inv(instruments.T @ instruments + np.diag(overlay.prior)))


def _gain(factor: Array, residual: Array, rows: ComparedIncrements) -> float:
    """Half of what the fit takes off the sum of squares that a steady rate leaves."""
    spans = whiten(factor, np.diff(rows.times)[rows.kept][:, None])
    white = whiten(factor, rows.change[rows.kept])
    without = white - spans * (spans.T @ white) / np.sum(spans**2)
    return float(np.sum(without**2) - np.sum(whiten(factor, residual) ** 2)) / 2
