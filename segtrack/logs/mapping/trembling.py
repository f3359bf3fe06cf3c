"""Trembling of a gyroscope that its samples cannot resolve, since it goes on up to half of their rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from segtrack.robot import Signal

_WINDOW = 64
"""Samples of a window."""
_FEWEST = 16
"""Least number of windows, of which the quietest are taken for rest."""
_REST = 0.1
"""Fraction of the windows that are no louder than at rest."""
_LOUD = 4.0
"""Power near half the rate over that at rest from which on a window trembles."""
_LEAST_TIME = 0.1
"""Least fraction of windows that tremble: impacts are none."""
_GOES_ON = 0.25
"""Power near half the rate over that below, from which on no filter keeps from the samples what is faster."""


@dataclass(frozen=True)
class Trembling:
    """Motion between samples of a gyroscope, beyond its noise at rest, while the vehicle moves.

    Attributes:
        size: Standard deviation of what is faster than a quarter of the sampling rate, of the worst axis, in
            the rates' unit.
        at_rest: Standard deviation of this at rest, likewise.
        rate: Samples a second [Hz].
    """

    size: float
    at_rest: float
    rate: float

    def __str__(self) -> str:
        """Sentence without its subject: size, and what to do."""
        return (
            f"its rates tremble by {self.size:.2g} rad/s where it moves ({self.at_rest:.2g} at rest), up to "
            f"half of {self.rate:.3g} Hz, so that faster trembling looks like slower (aliasing): let it "
            "filter or average before it samples, or sample faster; the interval of its clock allows for it"
        )


def find_trembling(rates: Signal) -> Trembling | None:
    """Trembling of a gyroscope's samples that does not fall off towards half of their rate; None without.

    Args:
        rates: Rates (n,) or (n, k), of a vehicle that stands for a tenth of the time or more.
    """
    columns = rates.values.reshape(len(rates.times), -1)
    if len(columns) < _FEWEST * _WINDOW // 2:
        return None
    frequencies, _, powers = scipy.signal.spectrogram(columns, nperseg=_WINDOW, noverlap=_WINDOW // 2, axis=0)
    powers = np.moveaxis(powers, 1, 0)  # Of axes, frequencies and windows.
    fast, high, middle = (
        (frequencies > low) & (frequencies <= top) for low, top in ((0.25, 0.5), (0.375, 0.5), (0.25, 0.375))
    )
    near = powers[:, high].mean(axis=(0, 1))
    quiet = near <= np.quantile(near, _REST)
    loud = near > _LOUD * near[quiet].mean()
    if np.mean(loud) < _LEAST_TIME:
        return None
    rest = powers[:, :, quiet].mean(axis=2)
    more = powers[:, :, loud].mean(axis=2) - rest
    worst = int(np.argmax(more[:, fast].sum(axis=1)))
    if more[worst, high].mean() < _GOES_ON * more[worst, middle].mean():
        return None
    width = float(frequencies[1])
    size, at_rest = (
        math.sqrt(width * float(np.sum(part[worst, fast]))) for part in (np.maximum(more, 0.0), rest)
    )
    return Trembling(size, at_rest, float(1 / np.median(np.diff(rates.times))))
