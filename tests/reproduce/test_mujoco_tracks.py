"""What MuJoCo has for tracks, and segtrack's belts in it, beside planar Coulomb friction."""

import pytest

from segtrack.description import load_vehicle
from segtrack.reproduce.mujoco_tracks import (
    SUBSTITUTES,
    drive_belts,
    drive_substitute,
    expected_turning,
    substitute_xml,
)

PACKBOT = load_vehicle("packbot")


@pytest.mark.parametrize("kind", SUBSTITUTES, ids=lambda kind: kind.name)
def test_a_substitute_weighs_what_the_vehicle_weighs_and_stands_on_its_tips(kind):
    mujoco = pytest.importorskip("mujoco", "3.13", reason="needs MuJoCo and its integrator discrete")
    model = mujoco.MjModel.from_xml_string(substitute_xml(PACKBOT, kind, 0.002))
    wheels = 2 * kind.count if kind.turns else 0
    assert model.body_mass.sum() == pytest.approx(PACKBOT.mass * (1 + 1e-4 * wheels))
    assert (model.nu, model.njnt) == (wheels, 1 + wheels)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon > 0 and abs(data.contact.dist).max() < 1e-9


@pytest.mark.slow
def test_belts_turn_by_friction_and_what_mujoco_has_turns_less():
    pytest.importorskip("mujoco", "3.13", reason="needs MuJoCo and its integrator discrete")
    expected = expected_turning(PACKBOT)
    for engine in ("native", "mujoco"):
        ours = drive_belts(PACKBOT, engine, 0.004)
        assert (ours.turning, ours.straight) == (
            pytest.approx(expected, rel=2e-3),
            pytest.approx(1.0, rel=1e-3),
        )
    for kind in SUBSTITUTES:
        theirs = drive_substitute(PACKBOT, kind, 0.004)
        assert theirs.turning < 0.9 * expected and theirs.straight == pytest.approx(1.0, rel=5e-3)
