"""The robot in MuJoCo does what closed forms say, and verdicts are counted as they are defined."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
import pytest

from segtrack.description import parse_vehicle
from segtrack.errors import MissingPackageError
from segtrack.logs.fit import values_of
from segtrack.reproduce.rover_in_mujoco import LAG, RADIUS, RoverGround, drive
from segtrack.reproduce.verdict import (
    DRIVES,
    MODELS,
    NOT_TESTED,
    RIGHT,
    STATED,
    TOLD,
    UNNOTICED,
    Beyond,
    Verdict,
    Verdicts,
    draw_verdicts,
    vehicle_file,
    verdict_table,
)


def test_the_robot_follows_its_commands_with_a_lag_and_without_slip_on_level_ground() -> None:
    pytest.importorskip("mujoco")
    truth = drive(RoverGround(), lambda time: (0.2, 0.2), 0.6)
    times = truth.times
    way = 0.2 * (times - LAG * (1.0 - np.exp(-times / LAG)))
    assert truth.travels == pytest.approx(np.stack([way, way], axis=1), abs=2e-3)
    assert truth.positions[:, 0] == pytest.approx(truth.travels[:, 0], abs=2e-3)
    assert truth.positions[:, 2] == pytest.approx(np.full(len(times), RADIUS), abs=1e-3)


def test_the_robot_climbs_a_slope_at_the_slopes_angle() -> None:
    """The foot is behind its nose, so that it is on the slope at the end."""
    pytest.importorskip("mujoco")
    angle = math.radians(10.0)
    truth = drive(RoverGround(0.5, slope=angle, length=2.0), lambda time: (0.6, 0.6), 3.0)
    x, y, z, w = truth.orientations[-1]
    assert -math.asin(2 * (w * y - z * x)) == pytest.approx(angle, abs=math.radians(0.5))
    steps = np.diff(truth.positions[[-40, -1]], axis=0)[0]
    assert steps[2] / steps[0] == pytest.approx(math.tan(angle), rel=0.02)


def test_each_wrong_file_differs_from_the_right_one_in_one_parameter() -> None:
    right, *wrong = (values_of(parse_vehicle(vehicle_file(model))) for model in MODELS)
    for model, values in zip(MODELS[1:], wrong, strict=True):
        assert values[model.parameter] == pytest.approx(model.value)
        differing = {name for name, value in values.items() if value != pytest.approx(right[name])}
        follow = {"friction": {"lateral_friction"}, "mass": {"contact_stiffness"}}
        follow["pulley_radius"] = {"contact_stiffness"}
        assert differing - follow.get(model.parameter, set()) == {model.parameter}
        assert model.parameter in STATED


def verdict(model: str, parameter: str, **others: Any) -> Verdict:
    told: dict[str, Any] = {
        "level": None,
        "within": 7,
        "judged": 9,
        "beyond": {},
        "errors": {},
        "tested": (),
        **others,
    }
    return Verdict(DRIVES[0].name, 0, model, parameter, **told)


SLIP, PITCH = "measured: mean slip left", "measured: peak pitch"
RIGHT_ONE = verdict(RIGHT, "", beyond={SLIP: Beyond(0.03, 0.01)}, errors={SLIP: 0.03, PITCH: 0.0})


@pytest.mark.parametrize(
    ("wrong", "status", "outranks"),
    [
        ({"beyond": {PITCH: Beyond(0.1, 0.01)}}, TOLD, False),
        ({"beyond": {SLIP: Beyond(0.049, 0.01)}}, NOT_TESTED, False),
        ({"beyond": {SLIP: Beyond(0.051, 0.01)}}, TOLD, False),
        ({"tested": ("friction",)}, UNNOTICED, False),
        ({"level": 6}, NOT_TESTED, True),
        ({"refused": "the vehicle does not stand as logged"}, TOLD, False),
    ],
)
def test_a_wrong_file_is_told_by_what_disagrees_with_it_alone(
    wrong: dict[str, Any], status: str, outranks: bool
) -> None:
    found = verdict("friction x 0.45", "friction", **wrong)
    verdicts = Verdicts((RIGHT_ONE, found), 0.4, 0.7)
    assert (verdicts.status(found), verdicts.outranks(found)) == (status, outranks)
    assert verdicts.summary()["verdicts"][1]["status"] == status
    assert verdict_table(verdicts).row_count == len(MODELS) * len(DRIVES)
    assert len(draw_verdicts(verdicts).axes) == len(DRIVES)


def test_without_mujoco_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    known = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "mujoco":
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError) as caught:
        drive(RoverGround(), lambda time: (0.0, 0.0), 0.1)
    assert str(caught.value) == (
        'the truth of this experiment needs mujoco, which is not installed: pip install "segtrack[mujoco]"'
    )
