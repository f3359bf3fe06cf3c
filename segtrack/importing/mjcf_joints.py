"""Joints of a compiled MJCF model: several on one body as a chain, actuators as effort and velocity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.importing.assembly import BodyJoint, JointKind, RobotBody, plain_names
from segtrack.importing.findings import Findings
from segtrack.importing.mjcf_bodies import MjcfBodies

Array = NDArray[np.float64]


class MjcfJoints:
    """Reader of joints."""

    def __init__(self, model: Any, bodies: MjcfBodies, findings: Findings) -> None:
        """Take the compiled model, the reader of its bodies, and a list for remarks."""
        import mujoco

        self._model, self._bodies, self._findings, self._mujoco = model, bodies, findings, mujoco
        names = [
            model.joint(j).name or f"{bodies.name(int(model.jnt_bodyid[j]))}_joint" for j in range(model.njnt)
        ]
        self._names = list(plain_names(names))
        self._mimics = self._read_equalities()
        self._drives = self._read_actuators()

    def joints(self, inside: Sequence[int]) -> tuple[list[RobotBody], list[BodyJoint]]:
        """Joints between bodies, and bodies without mass between several joints of one body.

        Args:
            inside: Numbers of the bodies, the root first.
        """
        between, found = list[RobotBody](), list[BodyJoint]()
        for joint in self._of(inside[0]):
            if self._type(joint) != int(self._mujoco.mjtJoint.mjJNT_FREE):
                what = "it holds the root to the world; a vehicle moves freely"
                self._findings.add("remark", f"joint {self._names[joint]}", "left out", what)
        for body in inside[1:]:
            parent, name = self._bodies.name(int(self._model.body_parentid[body])), self._bodies.name(body)
            frame, moving = self._bodies.frame(body), [j for j in self._of(body) if self._moves(j)]
            for joint in moving[:-1]:
                carrier = RobotBody(f"{name}__{self._names[joint]}", frame)
                between.append(carrier)
                found.append(self._joint(joint, parent, carrier.name, body))
                parent = carrier.name
            if moving:
                found.append(self._joint(moving[-1], parent, name, body))
            else:
                none = np.zeros(3)
                found.append(BodyJoint(f"{name}_fixed", "fixed", parent, name, frame.origin, none))
        return between, found

    def _of(self, body: int) -> range:
        first = int(self._model.body_jntadr[body])
        return range(first, first + int(self._model.body_jntnum[body]))

    def _type(self, joint: int) -> int:
        return int(self._model.jnt_type[joint])

    def _moves(self, joint: int) -> bool:
        """True if a vehicle file can say a joint; one that it cannot is held with a remark."""
        kinds = self._mujoco.mjtJoint
        if self._type(joint) in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE)):
            return True
        kind = kinds(self._type(joint)).name.removeprefix("mjJNT_").lower()
        what = f"a {kind} joint, which a vehicle file cannot say"
        self._findings.add("remark", f"joint {self._names[joint]}", "held", what)
        return False

    def _joint(self, joint: int, parent: str, child: str, body: int) -> BodyJoint:
        model, frame = self._model, self._bodies.frame(body)
        hinge = self._type(joint) == int(self._mujoco.mjtJoint.mjJNT_HINGE)
        kind: JointKind = "revolute" if hinge else "prismatic"
        home, dof = float(model.qpos0[model.jnt_qposadr[joint]]), int(model.jnt_dofadr[joint])
        lower, upper = (float(x) - home for x in model.jnt_range[joint])
        effort, velocity = self._drives.get(joint, (0.0, 0.0))
        if model.jnt_actfrclimited[joint]:
            most = float(np.abs(model.jnt_actfrcrange[joint]).max())
            effort = min(effort, most) if effort > 0 else most
        return BodyJoint(
            name=self._names[joint],
            kind=kind,
            parent=parent,
            child=child,
            anchor=frame.points(model.jnt_pos[joint]),
            axis=frame.rotation @ model.jnt_axis[joint],
            limits=(lower, upper) if model.jnt_limited[joint] else None,
            effort=effort,
            velocity=velocity,
            damping=float(model.dof_damping[dof]),
            friction=float(model.dof_frictionloss[dof]),
            mimic=self._mimics.get(joint),
        )

    def _read_actuators(self) -> dict[int, tuple[float, float]]:
        """Effort and velocity of joints that actuators drive; 0 where they say none."""
        model, drives, unread = self._model, dict[int, tuple[float, float]](), 0
        on_joints = [
            int(kind) for kind in (self._mujoco.mjtTrn.mjTRN_JOINT, self._mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        ]
        laws = [int(kind) for kind in (self._mujoco.mjtBias.mjBIAS_NONE, self._mujoco.mjtBias.mjBIAS_AFFINE)]
        fixed = int(self._mujoco.mjtGain.mjGAIN_FIXED)
        count = len(model.actuator_trntype)
        # With a ball joint's actuator in the model, which MuJoCo 4 has, controls are more than actuators.
        first = getattr(model, "actuator_ctrladr", np.arange(count))
        for i in range(count):
            gear, control = abs(float(model.actuator_gear[i, 0])), int(first[i])
            known = model.actuator_gaintype[i] == fixed and int(model.actuator_biastype[i]) in laws
            if int(model.actuator_trntype[i]) not in on_joints or not known or gear == 0:
                unread += 1
                continue
            joint = int(model.actuator_trnid[i, 0])
            gain, bias = abs(float(model.actuator_gainprm[i, 0])), model.actuator_biasprm[i, :3]
            limited = bool(model.actuator_ctrllimited[control])
            command = float(np.abs(model.actuator_ctrlrange[control]).max()) if limited else 0.0
            effort = velocity = 0.0
            if model.actuator_forcelimited[i]:
                effort = gear * float(np.abs(model.actuator_forcerange[i]).max())
            elif not bias.any():  # A motor: force is gain times command.
                effort = gear * gain * command
            if bias[2] != 0 and bias[0] == bias[1] == 0:  # A velocity servo.
                velocity = command * gain / abs(float(bias[2])) / gear
            before = drives.get(joint, (0.0, 0.0))
            drives[joint] = (max(before[0], effort), max(before[1], velocity))
        if unread:
            what = "not on a joint, or a muscle, motor with windings or user's law"
            self._findings.add("remark", f"{unread} actuators", "not read", what)
        return drives

    def _read_equalities(self) -> dict[int, tuple[str, float, float]]:
        """Leaders, multipliers and offsets of joints that follow others by a line."""
        model, kinds = self._model, self._mujoco.mjtEq
        mimics, unread = dict[int, tuple[str, float, float]](), dict[str, int]()
        for i in range(model.neq):
            kind, (one, other) = int(model.eq_type[i]), (int(model.eq_obj1id[i]), int(model.eq_obj2id[i]))
            offset, multiplier, *rest = model.eq_data[i, :5].tolist()
            if kind == int(kinds.mjEQ_JOINT) and other >= 0 and not any(rest) and model.eq_active0[i]:
                mimics[one] = (self._names[other], multiplier, offset)
            else:
                word = kinds(kind).name.removeprefix("mjEQ_").lower()
                unread[word] = unread.get(word, 0) + 1
        for word, count in unread.items():
            what = "a vehicle file has joints that follow others by a line alone"
            self._findings.add("remark", f"{count} equalities of type {word}", "not read", what)
        return mimics
