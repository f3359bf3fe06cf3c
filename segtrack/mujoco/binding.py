"""Places of a vehicle in a MuJoCo model, and what a model must be for belts in it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.description import Links, VehicleDescription, parent_link
from segtrack.errors import InvalidValueError, Phrase, known_name
from segtrack.ground import ROOT
from segtrack.mujoco.host import Places

_MASS = 0.01
"""Largest difference of a link's mass in model and vehicle file, over the latter [-]."""
_SOLVER, _INTEGRATOR = int(mujoco.mjtSolver.mjSOL_PGS), int(mujoco.mjtIntegrator.mjINT_RK4)
_SLEEP = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
"""Options of a model with which belts would be wrong."""
_SINGLE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


def body_names(vehicle: VehicleDescription) -> list[str]:
    """Names of a vehicle's links as bodies of a model, in the order of `description.Links`.

    That of the vehicle's body is `body`, or the root link's of its URDF.
    """
    root = "body"
    if vehicle.body.urdf is not None:
        root = parent_link(ElementTree.parse(vehicle.body.urdf).getroot(), "body")
    return [root, *vehicle.flippers, *(joint.child for joint in vehicle.joint_tree.joints)]


def joint_names(vehicle: VehicleDescription) -> list[str]:
    """Names of the joints on which these links hang, but the first."""
    return [*vehicle.flippers, *(joint.name for joint in vehicle.joint_tree.joints)]


@dataclass(frozen=True, eq=False)
class ModelBinding:
    """Bodies of a model that are a vehicle's links, and places in its arrays.

    Attributes:
        bodies: Body of each link (L,).
        places: Places of root and joints.
    """

    bodies: NDArray[np.intp]
    places: Places

    def with_carried(self, model: Any) -> set[int]:
        """Bodies of the vehicle, and all that hang on them."""
        own = set(self.bodies.tolist())
        for body in range(1, model.nbody):
            if int(model.body_parentid[body]) in own:
                own.add(body)
        return own


def check_options(options: Any) -> None:
    """Refuse options of a model (`model.opt`) with which belts would be wrong.

    Raises:
        InvalidValueError: The message says which option, and why.
    """
    if options.solver == _SOLVER:
        got = Phrase("PGS, which has projected the constraints before")
        raise InvalidValueError("solver of the MuJoCo model", "CG or Newton", got)
    if options.integrator == _INTEGRATOR:
        got = Phrase("RK4, which takes four steps where contacts remember one")
        raise InvalidValueError(
            "integrator of the MuJoCo model", "Euler, implicit, implicitfast or discrete", got
        )
    if options.noslip_iterations > 0:
        got = Phrase(f"{options.noslip_iterations}, which would take the masses without belts")
        raise InvalidValueError("noslip_iterations of the MuJoCo model", "0", got)
    if options.enableflags & _SLEEP:
        got = Phrase("enabled: a vehicle that sleeps would stand on nothing")
        raise InvalidValueError("flag sleep of the MuJoCo model", "disabled", got)


def bind(vehicle: VehicleDescription, links: Links, model: Any, prefix: str) -> ModelBinding:
    """Find a vehicle's links in a model by their names.

    Args:
        vehicle: Description of the vehicle.
        links: Its links.
        model: MuJoCo's compiled model.
        prefix: Text before the names of its bodies.

    Raises:
        UnknownNameError: There is no body of a link's name.
        InvalidValueError: A body does not move as the link of the vehicle file, or has another mass, or
            something else drives its joint; or the model has options with which belts would be wrong.
    """
    check_options(model.opt)
    known = [model.body(i).name for i in range(model.nbody)]
    names = [prefix + name for name in body_names(vehicle)]
    bodies = [known.index(known_name("body of the MuJoCo model", name, known)) for name in names]
    free = _free_place(vehicle, model, names[0], bodies[0])
    joints = [int(model.body_jntadr[body]) for body in bodies[1:]]
    for j, (joint, parent) in enumerate(zip(joints, links.parents, strict=True)):
        _check_joint(model, names[j + 1], joint, names[parent], _last_dof(model, bodies[parent]))
    for design in vehicle.joint_tree.joints:
        if design.mimicry is not None:
            got = Phrase(
                f"one that follows {design.mimicry.leader!r}, as the native engine and PyBullet have it"
            )
            raise InvalidValueError(f"joint {design.name!r} in MuJoCo", "one of its own", got)
    for name, body, link in zip(names, bodies, links.masses, strict=True):
        _check_mass(model, name, body, link.mass)
    root = int(model.body_rootid[bodies[0]])
    moved = [d for d in range(model.nv) if model.body_rootid[model.dof_bodyid[d]] == root]
    first, dofs = min(moved, default=0), [int(model.jnt_dofadr[joint]) for joint in joints]
    unknowns = np.full(len(moved), -1, dtype=np.intp)
    unknowns[: ROOT if free >= 0 else 0] = np.arange(ROOT if free >= 0 else 0)
    for j, dof in enumerate(dofs):
        unknowns[dof - first] = ROOT + j
    others = np.flatnonzero(unknowns < 0)
    unknowns[others] = ROOT + len(dofs) + len(links.track_links) + np.arange(len(others))
    tree = [(b, _last_dof(model, b)) for b in range(1, model.nbody) if model.body_rootid[b] == root]
    places = Places(
        root,
        first,
        free,
        np.array([model.jnt_qposadr[joint] for joint in joints], dtype=np.intp),
        np.array(dofs, dtype=np.intp),
        unknowns,
        np.array(tree, dtype=np.intp).reshape(-1, 2),
    )
    return ModelBinding(np.array(bodies, dtype=np.intp), places)


def _free_place(vehicle: VehicleDescription, model: Any, name: str, body: int) -> int:
    """Place in `qpos` of the free joint of the vehicle's body; -1 if that is bolted to the world."""
    what = f"body {name!r} of the MuJoCo model"
    if vehicle.body.fixed:
        if model.body_weldid[body] != 0:
            raise InvalidValueError(
                what, "fixed to the world, as the vehicle file has it", Phrase("one that moves")
            )
        return -1
    joint = int(model.body_jntadr[body])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        got = Phrase("one without a joint" if joint < 0 else "one with another joint")
        raise InvalidValueError(what, "one with a free joint", got)
    dof = int(model.jnt_dofadr[joint])
    if any(model.M_rownnz[dof + k] != k + 1 for k in range(ROOT)):
        # Of a simple body MuJoCo stores the diagonal alone: what contacts couple would be lost.
        got = Phrase("a simple one: set `simple = False` on the body in its MjSpec")
        raise InvalidValueError(what, "one whose whole mass matrix is stored", got)
    return int(model.jnt_qposadr[joint])


def _last_dof(model: Any, body: int) -> int:
    """Last degree of freedom that moves a body; -1 if none does."""
    while body > 0 and model.body_dofnum[body] == 0:
        body = int(model.body_parentid[body])
    return int(model.body_dofadr[body] + model.body_dofnum[body]) - 1 if body > 0 else -1


def _check_joint(model: Any, name: str, joint: int, parent: str, last: int) -> None:
    """Refuse a link that does not move by one joint on its parent, or whose joint the model drives."""
    what = f"body {name!r} of the MuJoCo model"
    if joint < 0 or model.body_jntnum[model.jnt_bodyid[joint]] != 1 or model.jnt_type[joint] not in _SINGLE:
        got = Phrase("one without a joint" if joint < 0 else "one with others")
        raise InvalidValueError(what, "one with a hinge or a slide", got)
    if model.dof_parentid[model.jnt_dofadr[joint]] != last:
        got = Phrase("one that is elsewhere in the tree")
        raise InvalidValueError(what, f"one that hangs on {parent!r} by its joint alone", got)
    kinds = int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    for actuator in range(model.nu):
        if model.actuator_trntype[actuator] in kinds and model.actuator_trnid[actuator, 0] == joint:
            got = Phrase(f"one that actuator {model.actuator(actuator).name!r} drives, too")
            expected = "one that the servo of the vehicle file moves alone"
            raise InvalidValueError(f"joint {model.joint(joint).name!r} of the MuJoCo model", expected, got)


def _check_mass(model: Any, name: str, body: int, mass: float) -> None:
    """Refuse a body whose mass, alone or with what is welded to it, is not that of its link [kg]."""
    own = float(model.body_mass[body])
    welded = [b for b in range(model.nbody) if model.body_weldid[b] == model.body_weldid[body]]
    whole = float(model.body_mass[welded].sum())
    if min(abs(own - mass), abs(whole - mass)) > _MASS * mass:
        expected = f"{mass:.4g}, as the vehicle file has it, belts included"
        raise InvalidValueError(
            f"mass of body {name!r} of the MuJoCo model [kg]", expected, Phrase(f"{own:.4g}")
        )
