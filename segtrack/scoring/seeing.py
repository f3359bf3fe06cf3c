"""Conditions of seeing, under which an operator drives; the simulation depends on none of them."""

from __future__ import annotations

from typing import Literal, TypeAlias

Cameras: TypeAlias = Literal["real"]
"""Cameras of an operator, where not every view is theirs: those on the vehicle, with their faults."""
Light: TypeAlias = Literal["dark"]
"""Light, where it is no daylight: the vehicle's own lamps."""
LEAST_VISIBILITY, MOST_VISIBILITY = 0.1, 1e4
"""Range of the visibility in smoke, the distance at which it leaves 5 % of the contrast [m]."""
