"""Conditions in which policies are evaluated, as named changes of environment parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segtrack.envs.parameters import Number, Parameter

NOMINAL = "nominal"
CONDITIONS: Mapping[str, Mapping[str, float]] = {
    NOMINAL: {},
    "friction -0.15": {"friction": -0.15},
    "friction +0.15": {"friction": 0.15},
    "mass -20 %": {"mass": -0.2},
    "mass +20 %": {"mass": 0.2},
    "one step late": {"action_delay": 1},
    "noise 0.02": {"sensor_noise": 0.02},
}
"""What each adds to parameters of the robot: to the value, or to both ends of the range."""


def changed_values(
    condition: str, given: Mapping[str, Any], parameters: Mapping[str, Parameter]
) -> dict[str, Any]:
    """Return the parameter values or ranges that a condition changes.

    Args:
        condition: Name of the condition.
        given: Values or ranges that the user gave, in place of defaults.
        parameters: All parameters.

    Raises:
        InvalidValueError: The condition leads out of the range of a parameter. It is not cut to it: that
            would be another condition than its name says.
    """
    changed: dict[str, Any] = {}
    for name, change in CONDITIONS[condition].items():
        parameter = parameters[name]
        assert isinstance(parameter, Number)
        value = given.get(name, parameter.default)
        added = tuple(v + change for v in value) if isinstance(value, tuple) else value + change
        changed[name] = parameter.check(f"{name} under condition {condition!r}", added)
    return changed
