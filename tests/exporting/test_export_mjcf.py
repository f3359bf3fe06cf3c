"""Export to MJCF: MuJoCo has the vehicle's masses and poses, carries its weight, and drives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_files import Whole, together

from segtrack import VehicleDescription, bundled_vehicles, export_vehicle, load_vehicle
from segtrack.description import vehicle_links

mujoco = pytest.importorskip("mujoco")
SPEED = 0.3
DIFFERENTIAL = str(bundled_vehicles()["absolem"].with_name("differential.yaml"))
FEW = ("packbot", "quince", "conveyor")
REST = [pytest.param(name, marks=pytest.mark.slow) for name in bundled_vehicles() if name not in FEW]


def compiled(vehicle: str | VehicleDescription, folder: Path) -> Any:
    """Model of an exported vehicle on a plane."""
    spec = mujoco.MjSpec.from_file(str(export_vehicle(vehicle, "mjcf", out=folder / "own.xml").file))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], name="ground")
    return spec.compile()


def whole_of(model: Any, data: Any) -> Whole:
    """Whole of a model's bodies, about the origin of the first one."""
    bodies = []
    for i in range(1, model.nbody):
        turn = data.ximat[i].reshape(3, 3)
        inertia = turn @ np.diag(model.body_inertia[i]) @ turn.T
        bodies.append((float(model.body_mass[i]), data.xipos[i] - data.xpos[1], inertia))
    return together(bodies)


def run(model: Any, data: Any, seconds: float) -> None:
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


def carried(model: Any, data: Any) -> float:
    """Vertical force of the plane on what stands on it [N]."""
    total, force = 0.0, np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        mujoco.mj_contactForce(model, data, i, force)
        upwards = (contact.frame.reshape(3, 3).T @ force[:3])[2]
        total += upwards if model.geom(contact.geom1).name == "ground" else -upwards
    return total


def set_belt_speeds(model: Any, left: float, right: float) -> None:
    """Set belts' speeds as the file's comment says [m/s]."""
    model.flg_surfacevel = True
    for i in range(model.ngeom):
        speed = left if "left" in model.geom(i).name else right
        model.geom_surfacevel[i] = speed * model.geom_user[i]


@pytest.mark.parametrize("name", [*FEW, DIFFERENTIAL, *REST])
def test_mujoco_has_the_vehicles_masses_and_poses(tmp_path: Path, name: str) -> None:
    vehicle = load_vehicle(name)
    model = compiled(vehicle, tmp_path)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    links = vehicle_links(vehicle)
    got, expected = whole_of(model, data), links.whole
    assert got.mass == pytest.approx(expected.mass, rel=1e-9)
    assert got.center == pytest.approx(expected.center, abs=1e-9)
    assert got.inertia == pytest.approx(expected.inertia, rel=1e-9, abs=1e-9 * expected.inertia.max())
    assert model.nbody == 1 + len(links.frames)
    names = [model.body(1).name, *vehicle.flippers, *(joint.child for joint in vehicle.joint_tree.joints)]
    for name, frame in zip(names, links.frames, strict=True):
        body = data.body(name)
        assert body.xpos - data.xpos[1] == pytest.approx(frame.origin, abs=1e-12)
        assert body.xmat.reshape(3, 3) == pytest.approx(frame.rotation, abs=1e-12)


def test_joints_of_the_body_move_in_mujoco_as_they_do_here(tmp_path: Path) -> None:
    """Rockers that a differential couples, each with two flippers of servos."""
    vehicle = load_vehicle(DIFFERENTIAL)
    model = compiled(vehicle, tmp_path)
    data = mujoco.MjData(model)
    run(model, data, 0.2)
    positions = {"left_track": 0.2, "right_track": -0.2, "front_left_flipper": 0.5}
    data.qpos[7:] = 0.0
    for name, position in positions.items():
        data.joint(name).qpos[0] = position
    mujoco.mj_forward(model, data)
    turn = data.xmat[1].reshape(3, 3)
    for name, frame in vehicle.joint_tree.frames(positions).items():
        if name in [joint.child for joint in vehicle.joint_tree.joints]:
            place = turn.T @ (data.body(name).xpos - data.xpos[1])
            assert place == pytest.approx(frame.origin, abs=1e-9)
            own = turn.T @ data.body(name).xmat.reshape(3, 3)
            assert own == pytest.approx(frame.rotation, abs=1e-9)
    (rule,) = [joint.mimicry for joint in vehicle.joint_tree.joints if joint.mimicry is not None]
    assert model.neq == 1 and model.eq_data[0][:2] == pytest.approx([rule.offset, rule.multiplier])
    assert model.nu == 4


@pytest.mark.parametrize("name", [*FEW[:-1], *REST])
def test_it_comes_to_rest_on_the_ground_which_carries_its_weight(tmp_path: Path, name: str) -> None:
    model = compiled(name, tmp_path)
    data = mujoco.MjData(model)
    start = float(data.qpos[2])
    run(model, data, 1.0)
    weight = float(model.body_subtreemass[1]) * -float(model.opt.gravity[2])
    assert np.abs(data.qvel).max() < 1e-3
    assert carried(model, data) == pytest.approx(weight, rel=0.01)
    assert data.qpos[2] == pytest.approx(start, abs=2e-3)


def test_a_fixed_vehicle_stays_where_it_is(tmp_path: Path) -> None:
    assert compiled("conveyor", tmp_path).nv == 0


@pytest.mark.parametrize("name", [*FEW[:-1], *REST])
def test_it_drives_forward_as_fast_as_its_belts(tmp_path: Path, name: str) -> None:
    model = compiled(name, tmp_path)
    data = mujoco.MjData(model)
    run(model, data, 0.3)
    set_belt_speeds(model, SPEED, SPEED)
    run(model, data, 1.0)
    start = data.qpos[:2].copy()
    run(model, data, 0.5)
    assert data.qpos[0] - start[0] == pytest.approx(0.5 * SPEED, rel=0.1)
    assert data.qpos[1] - start[1] == pytest.approx(0.0, abs=0.002)


def test_a_packbot_turns_too_slowly_as_the_documentation_says(tmp_path: Path) -> None:
    model, gauge = compiled("packbot", tmp_path), load_vehicle("packbot").gauge
    data = mujoco.MjData(model)
    run(model, data, 0.3)
    set_belt_speeds(model, -SPEED, SPEED)
    run(model, data, 1.0)
    start = float(data.time)
    yaw = 0.0
    while data.time < start + 2.0:
        mujoco.mj_step(model, data)
        yaw += float(data.qvel[5]) * model.opt.timestep
    assert gauge is not None
    assert yaw / 2.0 / (2 * SPEED / gauge) == pytest.approx(0.41, abs=0.02)


def test_a_flipper_goes_where_it_is_told_with_no_more_than_its_torque(tmp_path: Path) -> None:
    vehicle = load_vehicle("quince")
    model = compiled(vehicle, tmp_path)
    data = mujoco.MjData(model)
    flipper = vehicle.flippers["front_left"]
    most = np.tile([-flipper.max_torque, flipper.max_torque], (model.nu, 1))
    assert model.actuator_forcerange == pytest.approx(most)
    joint = model.joint("front_left_flipper_joint")
    assert joint.range == pytest.approx(flipper.limits)
    data.actuator("front_left_flipper_joint").ctrl = 1.0
    run(model, data, 1.5)
    assert data.joint("front_left_flipper_joint").qpos[0] == pytest.approx(1.0, abs=0.01)
    tip = data.geom("front_left_belt_track_3").xpos
    assert tip[2] > data.xpos[1][2] + 0.1  # Positive angles raise it.
