"""Belt phase: where a belt's segments stand, and when they are set back."""

from __future__ import annotations

import math


def wrap_travel(travel: float, period: float) -> float:
    """Fold belt travel into one period, centred on zero.

    A belt whose grousers repeat every `period` looks the same at `travel` and at
    `travel - period`; segment joints are therefore kept within half a period of
    home (Okada et al. 2020, section III-C, centred here so that grousers leave a
    segment's two ends equally far).

    Args:
        travel: Belt travel since the start [m], any sign.
        period: Distance after which the belt's pattern repeats [m], > 0.

    Returns:
        The equivalent travel in [-period/2, period/2) [m].
    """
    return travel - period * math.floor(travel / period + 0.5)
