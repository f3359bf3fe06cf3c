"""Advice on further logs, for the parameters that the logs of a fit leave open."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from segtrack.logs.fit.result import Fit
from segtrack.logs.fit.unknowns import CLOCK_OFFSET

SHOWN_BY: Mapping[str, str] = MappingProxyType(
    {
        "friction": "belts that slip: a slope or a pull at which they lose their grip, with belts and path",
        "lateral_friction": "turns on the spot and tight arcs, with belt speeds and yaw rate logged",
        "com_x": "a climb over an edge slow enough to see where the nose comes down, with pitch logged",
        "com_z": "a climb of a high step, or a slope near tipping, with pitch logged",
        "mass": "drive forces or motor currents on a slope: motion alone hardly depends on it",
        "contact_stiffness": "pitch or vertical acceleration after a drop from an edge",
        "grouser_height": "edges that only a grouser catches: a step climbed with the flippers up",
        "drive_lag": "steps of the command, with commanded and measured belt speeds logged",
        "track_separation": "turns on the spot and arcs, with belt speeds and yaw rate logged",
        "contact_length": "turns on the spot beside wide arcs, with belt speeds and yaw rate logged",
        CLOCK_OFFSET: "quick changes that both sources see: starts, stops and turns",
    }
)
"""Drives that show a parameter, as they continue "a log with"."""


def advice_of(found: Fit) -> Mapping[str, str]:
    """Return what a further log should have, by the parameter that the logs do not bound from both sides."""
    open_ones = [estimate.name for estimate in found.estimates if not estimate.is_bounded]
    return {name: SHOWN_BY[name.partition(".")[0]] for name in open_ones}
