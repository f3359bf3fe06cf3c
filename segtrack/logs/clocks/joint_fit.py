"""Offset and skew of a source, its scale, bias and how it is turned, all at once.

Increments of the reference from each of its samples to the next are laid over those of the source at the same
times, as its clock has them:

    reference(t[j], t[j+1]) = scale * turned * (source(s[j], s[j+1]) - bias * (t[j+1] - t[j])) + noise
    t = s + offset + skew * (s - first s)

by generalised least squares: noise of neighbouring increments hangs together in a known way, since they
have samples in common, and how much of it is whose follows from the residuals (`noise`). Only what is seen at
both ends of the log distinguishes a skew from an offset; that rates are larger by a clock's skew is left
to the scale, which a gyroscope has of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.stats import t

from segtrack.errors import Phrase
from segtrack.logs.clocks.noise import NoiseLikelihood, NoiseModel, whitened
from segtrack.logs.clocks.overlay import FEWEST, Layout, Overlay, Rows
from segtrack.logs.clocks.start import Start
from segtrack.logs.clocks.uncertainty import Estimate, sandwich
from segtrack.logs.clocks.views import View

_OUTLIER = 6.0
"""Standard deviations beyond which an increment is left out: an impact between two samples, or a jump."""
_ROUNDS, _STEPS = 8, 4
_SMOOTHED = 0.02
"""How long the source is smoothed for derivatives until its noise is known [s]."""
_LITTLE, _LEAST_FREEDOM = 0.02, 3.0


@dataclass(frozen=True, eq=False)
class JointFit:
    """What came of it.

    Attributes:
        values: Offset [s] and skew, and as `layout` has it scale, a small rotation vector [rad] and bias.
        covariance: Of the values (p, p).
        freedom: Degrees of freedom of each value's variance, as noise is known from the log alone (p,).
        layout: Of the values.
        turned: Sensor frame of the source in that of the reference; the rotation vector is of its error,
            about the reference's axes. None if turning in space is not seen.
        noises: Standard deviations of the reference's samples and the source's.
        gain: By how much the logarithm of the likelihood is greater than for a source that sees nothing.
        used: Increments that were used.
        left_out: Increments that are too far off.
    """

    values: NDArray[np.float64]
    covariance: NDArray[np.float64]
    freedom: NDArray[np.float64]
    layout: Layout
    turned: Rotation | None
    noises: tuple[Estimate, Estimate]
    gain: float
    used: int
    left_out: int

    def estimate(self, i: int) -> Estimate:
        """The i-th value with its interval, by Student's t after Satterthwaite (1946)."""
        return Estimate.normal(self.values[i], self.covariance[i, i] ** 0.5, self.quantile(i))

    def quantile(self, which: int | slice) -> float:
        """Half the length of an interval over the standard deviation, the largest of several values'."""
        return float(t.ppf(0.975, np.min(self.freedom[which])))

    def mirrored(self, source: float, reference: float) -> JointFit:
        """The fit of the other clock on this one: what was the reference is the source.

        Args:
            source: First time of what was the source, on its own clock [s].
            reference: First time of what was the reference, likewise [s].
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


def fit_jointly(reference: View, source: View, start: Start) -> JointFit | Phrase:
    """Fit from a start that is near enough, or say why it cannot be.

    Increments are from one of the reference's samples to the next. So it should be the one that measures
    what changes, not its rate, and the one with fewer samples if both do: what is linear between two samples
    of the source says nothing new about shorter times.

    Args:
        reference: On the clock that is fitted to.
        source: On the clock that is fitted.
        start: From their correlation.
    """
    overlay = Overlay(reference, source)
    values = overlay.first(start)
    span = 2 * max(start.middle - source.times[0], source.times[-1] - start.middle)
    reach = 30.0
    try:
        while reach < span:
            rows = overlay.chosen(values, start.middle, reach)
            if rows.kept.sum() >= FEWEST:
                values = _solved(overlay, values, rows, rounds=2)[0]
            reach *= 2
        rows = overlay.chosen(values, start.middle, np.inf)
        if rows.kept.sum() < FEWEST:
            return Phrase(f"they have {rows.kept.sum()} samples in common, at least {FEWEST} are needed")
        return _result(overlay, values, rows)
    except np.linalg.LinAlgError:
        return Phrase("what both see says too little")


class _Weights(NamedTuple):
    """What residuals are weighed by: standard deviations of both sources, and the smoothed source."""

    model: NoiseModel
    stds: tuple[float, float]
    smooth: View

    @property
    def factor(self) -> NDArray[np.float64]:
        """Lower Cholesky factor of the covariance of increments, in bands."""
        return self.model.factor(self.stds)


def _solved(
    overlay: Overlay, values: NDArray[np.float64], rows: Rows, rounds: int = _ROUNDS
) -> tuple[NDArray[np.float64], _Weights]:
    """Parameters, and what they were weighed by, in turns until neither changes.

    Derivatives of the smoothed source are the instruments (Fuller 1987): noise of the source would else
    make those by its clock too large, and steps and intervals too small.
    """
    stds, smooth = (1.0, 1.0), overlay.source.smoothed(_SMOOTHED)
    for _ in range(rounds):
        model = overlay.noise(values, rows)
        jacobian = overlay.jacobian(values, rows, smooth)
        found = NoiseLikelihood(model, overlay.residual(values, rows), jacobian).likeliest()
        settled = bool(np.allclose(found, stds, rtol=0.02))
        stds, smooth = found, overlay.quiet(values, rows, found[1])
        weights = _Weights(model, stds, smooth)
        for _ in range(_STEPS):
            slopes, instruments = _both_slopes(overlay, values, rows, weights)
            residual = whitened(weights.factor, overlay.residual(values, rows)).ravel()
            pull = instruments.T @ residual - overlay.prior * values
            information = instruments.T @ slopes + np.diag(overlay.prior)
            step = np.linalg.lstsq(information, pull, rcond=1e-12)[0]
            values = overlay.moved(values, np.asarray(step))
            if np.all(step**2 * np.diag(instruments.T @ instruments + np.diag(overlay.prior)) < 1e-4):
                break
        if settled:
            break
    return values, weights


def _both_slopes(
    overlay: Overlay, values: NDArray[np.float64], rows: Rows, weights: _Weights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of the source and of the smoothed one, whitened (m k, p)."""
    raw, smooth = (
        whitened(weights.factor, overlay.jacobian(values, rows, view)).reshape(-1, overlay.layout.total)
        for view in (overlay.source, weights.smooth)
    )
    return raw, smooth


def _result(overlay: Overlay, values: NDArray[np.float64], rows: Rows) -> JointFit:
    values, weights = _solved(overlay, values, rows)
    far = np.abs(whitened(weights.factor, overlay.residual(values, rows))).max(axis=1) > _OUTLIER
    if far.any():
        kept = rows.kept.copy()
        kept[np.flatnonzero(rows.kept)[far]] = False
        rows = rows._replace(kept=kept)
        values, weights = _solved(overlay, values, rows)
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
    return JointFit(
        values=values,
        covariance=_larger(covariance, _robust_covariance(overlay, values, rows, weights)),
        freedom=np.maximum(2 / np.maximum(spread, 1e-9), _LEAST_FREEDOM),
        layout=overlay.layout,
        turned=Rotation.from_rotvec(values[overlay.layout.turn]) if overlay.source.is_turning else None,
        noises=noises,
        gain=_gain(weights.factor, residual, rows),
        used=len(residual),
        left_out=int(far.sum()),
    )


def _covariance(
    overlay: Overlay, values: NDArray[np.float64], rows: Rows, weights: _Weights
) -> NDArray[np.float64]:
    """Covariance of the parameters if noise is as the weights have it (p, p)."""
    slopes, instruments = _both_slopes(overlay, values, rows, weights)
    inverse = np.linalg.inv(instruments.T @ slopes + np.diag(overlay.prior))
    return inverse @ (instruments.T @ instruments + np.diag(overlay.prior)) @ inverse.T


def _robust_covariance(
    overlay: Overlay, values: NDArray[np.float64], rows: Rows, weights: _Weights
) -> NDArray[np.float64]:
    """Covariance of the parameters whatever hangs together in the residuals (p, p)."""
    slopes, instruments = _both_slopes(overlay, values, rows, weights)
    residual = whitened(weights.factor, overlay.residual(values, rows))
    inverse = np.linalg.inv(instruments.T @ slopes + np.diag(overlay.prior))
    return sandwich(instruments.reshape(*residual.shape, -1), residual, np.asarray(inverse))


def _gain(factor: NDArray[np.float64], residual: NDArray[np.float64], rows: Rows) -> float:
    """Half of what the fit takes off the sum of squares that a steady rate leaves."""
    spans = whitened(factor, np.diff(rows.times)[rows.kept][:, None])
    white = whitened(factor, rows.change[rows.kept])
    without = white - spans * (spans.T @ white) / np.sum(spans**2)
    return float(np.sum(without**2) - np.sum(whitened(factor, residual) ** 2)) / 2


def _larger(model: NDArray[np.float64], robust: NDArray[np.float64]) -> NDArray[np.float64]:
    """The model's covariance with each variance raised to the robust one's where that is larger."""
    raised = np.sqrt(np.maximum(np.diag(robust) / np.diag(model), 1.0))
    return model * np.outer(raised, raised)
