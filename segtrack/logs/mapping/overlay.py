"""Two views of one thing, and the residuals of their increments for a clock, scale, bias and mounting.

Increments of the reference from each of its samples to the next are compared with those of the source at the
same times, as its clock has them:

    reference(t[j], t[j+1]) = scale * turned * (source(s[j], s[j+1]) - bias * (t[j+1] - t[j])) + noise
    t = s + offset + skew * (s - first s)

Noise of neighbouring increments is correlated in a known way, since they share samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.logs.mapping.increment_noise import NoiseModel
from segtrack.logs.mapping.views import ClockGuess, View, compute_increments, compute_noise_weights, find_gaps
from segtrack.logs.statistics import NORMAL_MEDIAN

Array = NDArray[np.float64]
FEWEST = 20
"""Least number of increments."""
MOST = 5_000
"""Largest number of increments; of longer logs the pieces with most motion are used."""
_PIECE = 50
_GAP = 8.0
"""Time between samples that counts as a gap, over the usual one."""
_LARGEST_SKEW = 0.3
"""Largest skew that a step may lead to."""
_WIDTHS = (0.0, 0.02, 0.04, 0.08, 0.16, 0.32)
"""Widths of smoothing of the source, of which the first sufficient one is used [s]."""
_JUMP = 4.0
"""Jump of rates, over the standard deviation of what noise does, from which on it is one."""
_NOISE_SHARE = 0.05
"""Largest fraction of the power of derivatives that may be noise."""
_KNOWN_NOISE = 0.85
"""Fraction of the power of the reference's noise that is taken off, since it is estimated."""
SKEW_UNKNOWN, TURN_UNKNOWN = 0.03, 0.3
"""Prior standard deviations of the skew, and of each angle of the mounting [rad]. They matter where the log
does not show them."""
_SCALE_UNKNOWN = 0.03
"""Prior standard deviation of the scale of a gyroscope about 1: data sheets allow 3 % at most."""
_SECOND_AXIS = 0.05
"""Turning about a second axis, over that about the first, with which a turned sensor is told from others."""
_OPPOSITE = 1e-3
"""Sum of two directions that are opposite but for noise."""
_AS_MAPPED = np.pi / 4
"""A sensor that is turned from the mapping's frame by more is mounted otherwise, and the prior is about what
fits [rad]."""


class ParameterLayout(NamedTuple):
    """Places of the parameters in their vector."""

    scale: slice
    turn: slice
    bias: slice
    total: int


class ComparedIncrements(NamedTuple):
    """Increments that are compared.

    Attributes:
        times: Times of the reference's samples between which they are (n + 1,) [s].
        kept: Mask of the increments that are used (n,).
        change: Increments of the reference (n, k).
    """

    times: Array
    kept: NDArray[np.bool_]
    change: Array


def mounting_of(seen: Array, wanted: Array) -> Rotation:
    """Rotation of a sensor's rates or turns (n, 3) into those of the reference (n, 3), means left out.

    Where both turn about more than one axis it is the solution of Wahba's problem, after Markley (1988); else
    the smallest rotation of the one axis, with its sense, into the other.
    """
    left, sizes, right = np.linalg.svd(wanted.T @ seen)
    if sizes[1] > _SECOND_AXIS * sizes[0]:
        sign = np.sign(np.linalg.det(left) * np.linalg.det(right))
        return Rotation.from_matrix(left @ np.diag([1.0, 1.0, sign]) @ right)
    there, here = left[:, 0], right[0]
    middle = here + there
    if np.linalg.norm(middle) < _OPPOSITE:  # Upside down: about an axis across, of which any will do.
        middle = np.eye(3)[np.argmin(np.abs(here))]
        middle = middle - (middle @ here) * here
    # Half a turn about what is between both.
    half = Rotation.from_rotvec(np.pi * middle / np.linalg.norm(middle))
    return half if np.linalg.norm(here + there) < _OPPOSITE else half * Rotation.from_rotvec(np.pi * here)


def noise_of_view(view: View, std: float) -> View:
    """Return noise of a standard deviation as a view would have it at rest."""
    shape = (len(view.times), 3 if view.is_turning else 1)
    return view.with_values(np.random.default_rng(0).normal(0.0, std, shape))


class Overlay:
    """Two views, and the residuals of their increments for given parameters.

    Attributes:
        reference: View on the clock that is fitted to.
        source: View on the clock that is fitted.
        layout: Places of the parameters: offset [s] and skew, then those of scale, turn and bias that apply.
        prior: Prior inverse variance of each parameter.
        mounted: Rotation about which the prior has the mounting: the mapping's, or where that is wrong the
            nearest one that fits.
    """

    def __init__(self, reference: View, source: View, skew_std: float) -> None:
        """Take two views of one thing, and the standard deviation of the skew beforehand."""
        self.reference, self.source = reference, source
        self.origin = source.times[0]
        width = 3 if source.is_turning else 1
        has_rate = source.is_rate or reference.is_rate
        a, b, c, d = np.cumsum([2, has_rate, 3 * source.is_turning, width * has_rate]).tolist()
        self.layout = ParameterLayout(slice(a, b), slice(b, c), slice(c, d), d)
        self.gap = _GAP * float(np.median(np.diff(source.times)))
        self.own_gap = _GAP * float(np.median(np.diff(reference.times))) if reference.is_rate else np.inf
        self.prior = np.zeros(self.layout.total)
        self.prior[1] = skew_std**-2
        self.prior[self.layout.turn] = TURN_UNKNOWN**-2
        if source.is_turning:
            self.prior[self.layout.scale] = _SCALE_UNKNOWN**-2
        self.mounted = Rotation.identity()

    def initial_values(self, start: ClockGuess) -> Array:
        """Return the initial parameters."""
        values = np.zeros(self.layout.total)
        values[:2] = start.offset, start.skew
        values[self.layout.scale] = 1.0 if self.source.is_turning else start.scale
        if self.source.is_turning:
            rows = self.choose(values, start.middle, np.inf)
            if rows.kept.sum() < FEWEST:
                return values
            seen, wanted = self.source_increments(values, rows, self.source), rows.change[rows.kept]
            turned = mounting_of(seen - seen.mean(0), wanted - wanted.mean(0))
            if turned.magnitude() > _AS_MAPPED:
                self.mounted = turned
            values[self.layout.turn] = turned.as_rotvec()
        return values

    def pull_to_prior(self, values: Array) -> Array:
        """Derivatives of the prior's logarithm by the parameters (p,)."""
        apart = values.copy()
        if self.source.is_turning:
            turned = Rotation.from_rotvec(values[self.layout.turn]) * self.mounted.inv()
            apart[self.layout.turn] = turned.as_rotvec()
            apart[self.layout.scale] -= 1.0
        return -self.prior * apart

    def apply_step(self, values: Array, step: Array) -> Array:
        """Return the parameters after a step, which turns the sensor about the reference's axes."""
        moved = values + step
        moved[1] = np.clip(moved[1], -_LARGEST_SKEW, _LARGEST_SKEW)
        part = self.layout.turn
        if self.source.is_turning:
            turned = Rotation.from_rotvec(step[part]) * Rotation.from_rotvec(values[part])
            moved[part] = turned.as_rotvec()
        return moved

    def to_source_clock(self, values: Array, times: Array) -> Array:
        """Convert times of the reference to the source's clock."""
        return self.origin + (times - self.origin - values[0]) / (1 + values[1])

    def choose(self, values: Array, middle: float, reach: float) -> ComparedIncrements:
        """Choose the increments that both see well, within a reach [s] of a time of the source."""
        seen = self.to_source_clock(values, self.reference.times)
        margin = 2 * float(np.median(np.diff(self.source.times))) + 0.02
        low = max(self.source.times[0] + margin, middle - reach / 2)
        high = min(self.source.times[-1] - margin, middle + reach / 2)
        times = self.reference.times[(seen > low) & (seen < high)]
        gaps = find_gaps(self.source, self.to_source_clock(values, times), self.gap)
        kept = ~gaps & ~find_gaps(self.reference, times, self.own_gap)
        change = compute_increments(self.reference, times)
        if kept.sum() > MOST:
            rates = np.sum(change**2, axis=1) / np.diff(times) * kept
            pieces = np.array_split(np.arange(len(rates)), len(rates) // _PIECE)
            busiest = sorted(pieces, key=lambda piece: -float(rates[piece].sum()))[: MOST // _PIECE]
            kept &= np.isin(np.arange(len(rates)), np.concatenate(busiest))
        return ComparedIncrements(times, kept, change)

    def source_increments(self, values: Array, rows: ComparedIncrements, source: View) -> Array:
        """Return the source's increments, on the reference's clock and without their bias (m, k)."""
        if not source.is_rate:
            change = compute_increments(source, self.to_source_clock(values, rows.times))
            if len(bias := values[self.layout.bias]):  # The reference's.
                change = change - bias * np.diff(rows.times)[:, None]
        else:
            rates = source.subtract_bias(values[self.layout.bias])
            change = compute_increments(rates, self.to_source_clock(values, rows.times)) * (1 + values[1])
        return change[rows.kept]

    def predict(self, values: Array, seen: Array) -> Array:
        """Predict the reference's increments from the source's (m, k)."""
        if len(scale := values[self.layout.scale]):
            seen = seen * scale
        return Rotation.from_rotvec(values[self.layout.turn]).apply(seen) if self.source.is_turning else seen

    def residual(self, values: Array, rows: ComparedIncrements) -> Array:
        """Return the reference's increments less the predicted ones (m, k)."""
        seen = self.source_increments(values, rows, self.source)
        return rows.change[rows.kept] - self.predict(values, seen)

    def jacobian(self, values: Array, rows: ComparedIncrements, source: View) -> Array:
        """Derivatives of the predictions from a source (m, k, p)."""
        seen = self.source_increments(values, rows, source)
        predicted = self.predict(values, seen)
        columns = np.zeros((*predicted.shape, self.layout.total))
        for i, by_clock in enumerate(self.clock_slopes(values, rows, source)):
            columns[:, :, i] = self.predict(values, by_clock)
        if self.layout.scale.start < self.layout.scale.stop:
            columns[:, :, self.layout.scale.start] = predicted / values[self.layout.scale]
        if self.source.is_turning:
            columns[:, :, self.layout.turn] = np.cross(np.eye(3)[:, None], predicted).transpose(1, 2, 0)
        for i in range(self.layout.bias.start, self.layout.bias.stop):
            unit = np.eye(predicted.shape[1])[i - self.layout.bias.start]
            spans = np.diff(rows.times)[rows.kept]
            columns[:, :, i] = self.predict(values, -np.outer(spans, unit))
        return columns

    def clock_slopes(self, values: Array, rows: ComparedIncrements, source: View) -> tuple[Array, Array]:
        """Derivatives of a source's increments by offset and skew (m, k)."""
        if not source.is_rate:
            changes = []
            for i, step in enumerate((1e-4, 1e-5)):
                more, less = values.copy(), values.copy()
                more[i], less[i] = values[i] + step, values[i] - step
                above, below = (self.source_increments(values, rows, source) for values in (more, less))
                changes.append((above - below) / (2 * step))
            return changes[0], changes[1]
        slow, since = 1 + values[1], rows.times - self.origin - values[0]
        at = self.to_source_clock(values, rows.times)
        samples = source.subtract_bias(values[self.layout.bias]).values.reshape(len(source.times), -1)
        rates = np.stack([np.interp(at, source.times, column) for column in samples.T], axis=1)
        passed = np.diff(rates * since[:, None], axis=0) / slow
        by_skew = self.source_increments(values, rows, source) / slow - passed[rows.kept]
        return -np.diff(rates, axis=0)[rows.kept], by_skew

    def noise_model(self, values: Array, rows: ComparedIncrements, stds: tuple[float, float]) -> NoiseModel:
        """Covariance of the residuals, from jumps of rates and noise of both with about these deviations."""
        ours = compute_noise_weights(self.reference, rows.times)[rows.kept]
        theirs = compute_noise_weights(self.source, self.to_source_clock(values, rows.times))[rows.kept]
        factor = float(np.prod(values[self.layout.scale])) * ((1 + values[1]) if self.source.is_rate else 1.0)
        model = NoiseModel.of(ours, theirs * factor)
        return model.with_variances(factor**2 * self._jumps(values, rows), stds)

    def _jumps(self, values: Array, rows: ComparedIncrements) -> Array:
        """Variances of increments by jumps of the source's rates, somewhere between two samples (m,).

        A jump is the part of a step that the mean of those beside it lacks, beyond what noise explains. The
        integral errs by it times a part of the time between two samples, of which any is as likely.
        """
        if not self.source.is_rate:
            return np.zeros(int(rows.kept.sum()))
        steps = np.diff(self.source.values.reshape(len(self.source.times), -1), axis=0)
        beside = np.pad(steps, ((1, 1), (0, 0)), mode="edge")
        alone = steps - (beside[:-2] + beside[2:]) / 2
        noise = np.median(abs(alone), axis=0) / NORMAL_MEDIAN
        jumps = np.where(steps * alone > 0, np.minimum(abs(alone), abs(steps)), 0.0)
        sizes = np.sum(np.maximum(jumps**2 - (_JUMP * noise) ** 2, 0.0), axis=1)
        variances = sizes * np.diff(self.source.times) ** 2 / 12
        sums = np.concatenate([[0.0], np.cumsum(variances)])
        at = self.to_source_clock(values, rows.times)
        return np.diff(np.interp(at, self.source.times, sums))[rows.kept]

    def without_bias(self, values: Array) -> Array:
        """Return the parameters with a bias of 0."""
        values = values.copy()
        values[self.layout.bias] = 0.0
        return values

    def smooth_source(self, values: Array, rows: ComparedIncrements, std: float) -> View:
        """Smooth the source until derivatives by its clock show the motion, not its noise or trembling.

        What of them is no motion the residuals show, less noise of the reference with a standard deviation:
        trembling that a gyroscope cannot resolve is in its rates, and not in what the reference sees.
        """
        spans = np.diff(rows.times)[rows.kept][:, None]
        middles = ((rows.times[1:] + rows.times[:-1]) / 2)[rows.kept]
        noise = compute_increments(noise_of_view(self.reference, std), rows.times)[rows.kept]
        ours, theirs = (
            View(self.source.what, True, middles, part / spans)
            for part in (self.residual(values, rows), noise)
        )
        for width in _WIDTHS:
            smooth = self.source.smooth(width)
            # Towards the ends there is less to smooth over.
            inside = (middles[:-1] > middles[0] + width) & (middles[1:] < middles[-1] - width)
            slopes = self.predict(values, self.clock_slopes(values, rows, smooth)[0])[1:]
            signal, apart, alone = (
                float(np.sum(part[inside] ** 2))
                for part in (slopes, *(np.diff(each.smooth(width).values, axis=0) for each in (ours, theirs)))
            )
            if apart - _KNOWN_NOISE * alone < _NOISE_SHARE * signal:
                break
        return smooth
