"""Losses of residuals: squares, or Huber's, by which what is far off counts by its size.

A few samples that the noise does not explain (a belt that slipped on a pebble, a pose that jumped) pull least
squares as far as they are off. Huber's loss (1964) is the square up to a corner, and
goes on along the tangent there:

    rho(r) = r^2                 for |r| <= c
    rho(r) = 2 c |r| - c^2       beyond

with c = 1.345 scales, at which it needs 5 % more samples than squares where all errors are normal. The scale
of a signal of a log is that of its own residuals, 1.4826 times their median size, and at least the noise that
is stated: what the model gets wrong everywhere is no outlier.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Loss = Literal["huber", "squares"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
CORNER = 1.345
"""Corner of Huber's loss, over the scale [-]."""
_NORMAL = 1.4826
"""Standard deviation of normal errors over the median of their sizes [-]."""


def corners_of(residuals: Array, there: NDArray[np.bool_], loss: Loss) -> Array:
    """Return the corner of each signal's loss (k,) [-], infinite for squares.

    Args:
        residuals: Residuals of a log, over their standard deviations (n, k) [-].
        there: True where there is one (n, k).
        loss: The loss.
    """
    if loss == "squares":
        return np.full(residuals.shape[1], np.inf)
    columns = zip(residuals.T, there.T, strict=True)
    medians = [float(np.median(abs(column[mask]))) if mask.any() else 0.0 for column, mask in columns]
    return CORNER * np.maximum(_NORMAL * np.array(medians), 1.0)


def roots_of(residuals: Array, corners: Array) -> Array:
    """Return what has the losses of residuals (n, k) as its squares, with their signs [-]."""
    sizes = abs(residuals)
    with np.errstate(invalid="ignore"):
        beyond = np.sqrt(np.maximum(2 * corners * sizes - corners**2, 0.0))
    return np.asarray(np.where(sizes <= corners, residuals, np.sign(residuals) * beyond))


def influences_of(residuals: Array, corners: Array) -> Array:
    """Return half the losses' derivatives by the residuals (n, k) [-]."""
    return np.clip(residuals, -corners, corners)


def weights_of(residuals: Array, corners: Array) -> Array:
    """Return the influences over the residuals (n, k) [-], 1 at 0."""
    beyond = abs(residuals) > corners
    return np.asarray(np.where(beyond, corners / np.where(beyond, abs(residuals), 1.0), 1.0))


def slopes_of(residuals: Array, corners: Array) -> Array:
    """Return the derivatives of the influences (n, k) [-]: 1, or 0 of what is far off."""
    return (abs(residuals) <= corners).astype(float)
