"""The increments of two views that are laid over each other: what is left of them, and its derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.logs.clocks.increments import in_gaps, increments, noise_weights
from segtrack.logs.clocks.noise import NoiseModel
from segtrack.logs.clocks.start import Start
from segtrack.logs.clocks.views import View

FEWEST = 20
"""Increments."""
MOST = 5_000
"""Increments at most; of longer logs those pieces are used in which most happens."""
_PIECE = 50
_GAP = 8.0
"""Times the usual time between two samples of the source that are too far apart to say what was between."""
_LARGEST_SKEW = 0.3
"""That a step may lead to."""
_WIDTHS = (0.0, 0.02, 0.04, 0.08, 0.16, 0.32)
"""How long the source is smoothed, the first that is enough [s]."""
_NOISE_SHARE = 0.05
"""Of the power of derivatives, that may be noise."""
_SKEW_UNKNOWN, _TURN_UNKNOWN = 0.03, 0.3
"""What is known beforehand: standard deviations of the skew, and of each angle by which the sensor is turned
[rad]. They matter where the log says nothing of them."""
_SECOND_AXIS = 0.05
"""Turning about a second axis, over that about the first, with which a turned sensor is told from others."""


class Layout(NamedTuple):
    """Where in a vector of parameters each is."""

    scale: slice
    turn: slice
    bias: slice
    total: int


class Rows(NamedTuple):
    """Increments that are compared.

    Attributes:
        times: Of the reference's samples between which they are (n + 1,) [s].
        kept: Which of them are (n,).
        change: Of the reference (n, k).
    """

    times: NDArray[np.float64]
    kept: NDArray[np.bool_]
    change: NDArray[np.float64]


class Overlay:
    """Two views, and what parameters leave of the one's increments over the other's.

    Attributes:
        reference: On the clock that is fitted to.
        source: On the clock that is fitted.
        layout: Of the parameters: offset [s] and skew, then what there is of the others.
        prior: What is known of each beforehand: its inverse variance about 0.
    """

    def __init__(self, reference: View, source: View) -> None:
        """Take two views of one thing."""
        self.reference, self.source = reference, source
        self.origin = source.times[0]
        width = 3 if source.is_turning else 1
        has_rate = source.is_rate or reference.is_rate
        a, b, c, d = np.cumsum([2, has_rate, 3 * source.is_turning, width * has_rate]).tolist()
        self.layout = Layout(slice(a, b), slice(b, c), slice(c, d), d)
        self.gap = _GAP * float(np.median(np.diff(source.times)))
        self.own_gap = _GAP * float(np.median(np.diff(reference.times))) if reference.is_rate else np.inf
        self.prior = np.zeros(self.layout.total)
        self.prior[1] = _SKEW_UNKNOWN**-2
        self.prior[self.layout.turn] = _TURN_UNKNOWN**-2

    def first(self, start: Start) -> NDArray[np.float64]:
        """Parameters to start with."""
        values = np.zeros(self.layout.total)
        values[:2] = start.offset, start.skew
        values[self.layout.scale] = 1.0 if self.source.is_turning else start.scale
        if self.source.is_turning:
            rows = self.chosen(values, start.middle, np.inf)
            if rows.kept.sum() < FEWEST:
                return values
            seen, wanted = self.seen(values, rows, self.source), rows.change[rows.kept]
            left, sizes, right = np.linalg.svd((wanted - wanted.mean(0)).T @ (seen - seen.mean(0)))
            if sizes[1] > _SECOND_AXIS * sizes[0]:  # Wahba's problem, after Markley (1988).
                sign = np.sign(np.linalg.det(left) * np.linalg.det(right))
                turn = left @ np.diag([1.0, 1.0, sign]) @ right
                values[self.layout.turn] = Rotation.from_matrix(turn).as_rotvec()
        return values

    def moved(self, values: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
        """Parameters after a step, which turns the sensor about the axes of the reference."""
        moved = values + step
        moved[1] = np.clip(moved[1], -_LARGEST_SKEW, _LARGEST_SKEW)
        part = self.layout.turn
        if self.source.is_turning:
            turned = Rotation.from_rotvec(step[part]) * Rotation.from_rotvec(values[part])
            moved[part] = turned.as_rotvec()
        return moved

    def on_source(self, values: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Times of the reference by the source's clock."""
        return self.origin + (times - self.origin - values[0]) / (1 + values[1])

    def chosen(self, values: NDArray[np.float64], middle: float, reach: float) -> Rows:
        """The increments that both see well, within a reach [s] of a time of the source."""
        seen = self.on_source(values, self.reference.times)
        margin = 2 * float(np.median(np.diff(self.source.times))) + 0.02
        low = max(self.source.times[0] + margin, middle - reach / 2)
        high = min(self.source.times[-1] - margin, middle + reach / 2)
        times = self.reference.times[(seen > low) & (seen < high)]
        gaps = in_gaps(self.source, self.on_source(values, times), self.gap)
        kept = ~gaps & ~in_gaps(self.reference, times, self.own_gap)
        change = increments(self.reference, times)
        if kept.sum() > MOST:
            rates = np.sum(change**2, axis=1) / np.diff(times) * kept
            pieces = np.array_split(np.arange(len(rates)), len(rates) // _PIECE)
            busiest = sorted(pieces, key=lambda piece: -float(rates[piece].sum()))[: MOST // _PIECE]
            kept &= np.isin(np.arange(len(rates)), np.concatenate(busiest))
        return Rows(times, kept, change)

    def seen(self, values: NDArray[np.float64], rows: Rows, source: View) -> NDArray[np.float64]:
        """The source's increments, on the reference's clock and without their bias (m, k)."""
        if not source.is_rate:
            change = increments(source, self.on_source(values, rows.times))
            if len(bias := values[self.layout.bias]):  # The reference's.
                change = change - bias * np.diff(rows.times)[:, None]
        else:
            change = increments(source.less(values[self.layout.bias]), self.on_source(values, rows.times))
            change = change * (1 + values[1])
        return change[rows.kept]

    def predicted(self, values: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
        """The reference's increments, as those that the source sees have them (m, k)."""
        if len(scale := values[self.layout.scale]):
            seen = seen * scale
        return Rotation.from_rotvec(values[self.layout.turn]).apply(seen) if self.source.is_turning else seen

    def residual(self, values: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """The reference's increments less those predicted (m, k)."""
        return rows.change[rows.kept] - self.predicted(values, self.seen(values, rows, self.source))

    def jacobian(self, values: NDArray[np.float64], rows: Rows, source: View) -> NDArray[np.float64]:
        """Derivatives of what is predicted from a source (m, k, p)."""
        seen = self.seen(values, rows, source)
        predicted = self.predicted(values, seen)
        columns = np.zeros((*predicted.shape, self.layout.total))
        for i, by_clock in enumerate(self.clock_slopes(values, rows, source)):
            columns[:, :, i] = self.predicted(values, by_clock)
        if self.layout.scale.start < self.layout.scale.stop:
            columns[:, :, self.layout.scale.start] = predicted / values[self.layout.scale]
        if self.source.is_turning:
            columns[:, :, self.layout.turn] = np.cross(np.eye(3)[:, None], predicted).transpose(1, 2, 0)
        for i in range(self.layout.bias.start, self.layout.bias.stop):
            unit = np.eye(predicted.shape[1])[i - self.layout.bias.start]
            spans = np.diff(rows.times)[rows.kept]
            columns[:, :, i] = self.predicted(values, -np.outer(spans, unit))
        return columns

    def clock_slopes(
        self, values: NDArray[np.float64], rows: Rows, source: View
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Derivatives of a source's increments by offset and skew (m, k)."""
        if not source.is_rate:
            changes = []
            for i, step in enumerate((1e-4, 1e-5)):
                more, less = values.copy(), values.copy()
                more[i], less[i] = values[i] + step, values[i] - step
                changes.append((self.seen(more, rows, source) - self.seen(less, rows, source)) / (2 * step))
            return changes[0], changes[1]
        slow, since = 1 + values[1], rows.times - self.origin - values[0]
        at = self.on_source(values, rows.times)
        samples = source.less(values[self.layout.bias]).values.reshape(len(source.times), -1)
        rates = np.stack([np.interp(at, source.times, column) for column in samples.T], axis=1)
        passed = np.diff(rates * since[:, None], axis=0) / slow
        return -np.diff(rates, axis=0)[rows.kept], self.seen(values, rows, source) / slow - passed[rows.kept]

    def noise(self, values: NDArray[np.float64], rows: Rows) -> NoiseModel:
        """Covariance of what is left, from the noise of both."""
        ours = noise_weights(self.reference, rows.times)[rows.kept]
        theirs = noise_weights(self.source, self.on_source(values, rows.times))[rows.kept]
        factor = float(np.prod(values[self.layout.scale])) * ((1 + values[1]) if self.source.is_rate else 1.0)
        return NoiseModel.of(ours, theirs * factor)

    def quiet(self, values: NDArray[np.float64], rows: Rows, std: float) -> View:
        """The source, smoothed until derivatives by its clock are of the motion and not of its noise."""
        shape = (len(self.source.times), 3 if self.source.is_turning else 1)
        alone = self.source.alike(np.random.default_rng(0).normal(0.0, std, shape))
        without = np.concatenate([values[:2], np.zeros(self.layout.total - 2)])
        for width in _WIDTHS:
            smooth = self.source.smoothed(width)
            signal = self.clock_slopes(values, rows, smooth)[0]
            rest = self.clock_slopes(without, rows, alone.smoothed(width))[0]
            if np.sum(rest**2) < _NOISE_SHARE * np.sum(signal**2):
                break
        return smooth
