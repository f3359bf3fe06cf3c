"""Reading of an MJCF robot, as MuJoCo compiles it, to the tree of a URDF."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from segtrack.errors import MissingPackageError, Problem, RobotFileError
from segtrack.importing.assembly import assemble
from segtrack.importing.findings import Findings
from segtrack.importing.hints import add_friction, add_sides
from segtrack.importing.mjcf_bodies import MjcfBodies
from segtrack.importing.mjcf_joints import MjcfJoints

_UNREAD = {
    "ntendon": "tendons",
    "nsensor": "sensors",
    "nsite": "sites",
    "ncam": "cameras",
    "nlight": "lights",
    "nflex": "flexes",
    "nskin": "skins",
    "npair": "contact pairs",
    "nexclude": "contact exclusions",
    "nkey": "keyframes",
    "nplugin": "plugins",
    "nmocap": "mocap bodies",
    "nnumeric": "custom numbers",
    "ntext": "custom texts",
    "ntuple": "custom tuples",
}
"""What a vehicle file cannot say, by MuJoCo's name of its number."""


def read_mjcf(file: Path, scratch: Path, findings: Findings) -> Element:
    """Read an MJCF file to the tree of a URDF.

    The robot is the body in the world with a free joint and the most mass, with all that it carries.

    Args:
        file: Path of the file.
        scratch: Folder for meshes without a file that a URDF could name.
        findings: List to which remarks on what is not read are added.

    Raises:
        MissingPackageError: The library `mujoco` is not installed.
        RobotFileError: MuJoCo does not compile it, or it has no body.
    """
    if find_spec("mujoco") is None:
        raise MissingPackageError("an MJCF file", "mujoco", "mujoco")
    import mujoco

    with _warnings_told(findings):
        try:
            spec = mujoco.MjSpec.from_file(str(file))
            spec.compiler.fusestatic = spec.compiler.discardvisual = False
            model = spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            message = f"must be MJCF that MuJoCo compiles, got {_line(str(error))}"
            raise RobotFileError(file.name, [Problem("", message)]) from None
    _check_numbers(file, model, spec)
    root = _root(file, model, findings)
    inside = [i for i in range(model.nbody) if model.body_rootid[i] == root]
    reader = MjcfBodies(file, scratch, model, spec, findings)
    bodies = reader.bodies(inside)
    chains, joints = MjcfJoints(model, reader, findings).joints(inside)
    names = [reader.name(i) for i in inside]
    tree = assemble(spec.modelname or file.stem, [*bodies, *chains], joints, names[0], findings)
    if moved := reader.moved_surfaces(inside):
        add_sides(tree, "surfacevel of geoms", moved, findings)
    add_friction(tree, "friction of geoms", reader.frictions(inside), findings)
    _remark_unread(model, inside, findings)
    return tree


def _line(message: str) -> str:
    """MuJoCo's message in a line."""
    return ", ".join(filter(None, (part.strip() for part in message.splitlines())))


@contextmanager
def _warnings_told(findings: Findings) -> Iterator[None]:
    """Context in which MuJoCo's warnings are remarks, and are not printed."""
    import mujoco

    before = mujoco.get_mju_user_warning()
    told = list[str]()
    mujoco.set_mju_user_warning(told.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        told += [str(each.message) for each in caught]
    finally:
        mujoco.set_mju_user_warning(before)
    for text in told:
        findings.add("remark", "MuJoCo warns", _line(text), "its compiler")


def _check_numbers(file: Path, model: Any, spec: Any) -> None:
    """Raise a mistake for each body with a number that is not finite, or a negative mass."""
    problems = [
        Problem("", f"must have a mass of at least 0 in body {body.name!r}, got {body.mass:g}")
        for body in spec.bodies
        if body.mass < 0  # Which MuJoCo makes 0.
    ]
    for i in range(model.nbody):
        first, count = model.body_geomadr[i], model.body_geomnum[i]
        joint, joints = model.body_jntadr[i], model.body_jntnum[i]
        numbers = [
            model.body_pos[i], model.body_quat[i], model.body_ipos[i], model.body_iquat[i],
            model.body_inertia[i], model.body_mass[i : i + 1],
            *(a[first : first + count].ravel() for a in (model.geom_pos, model.geom_quat, model.geom_size)),
            *(a[joint : joint + joints].ravel() for a in (model.jnt_pos, model.jnt_axis, model.jnt_range)),
        ]  # fmt: skip
        if not np.isfinite(np.concatenate(numbers)).all():
            problems.append(Problem("", f"must have finite numbers in body {_named(model, i)!r}, got NaN"))
    if problems:
        raise RobotFileError(file.name, problems)


def _named(model: Any, body: int) -> str:
    return str(model.body(body).name) or f"body_{body}"


def _root(file: Path, model: Any, findings: Findings) -> int:
    """Number of the robot's root body; what else is in the world is told."""
    import mujoco

    tops = [i for i in range(1, model.nbody) if model.body_parentid[i] == 0]
    if not tops:
        raise RobotFileError(file.name, [Problem("", "must have a body in its <worldbody>, got none")])
    kind = int(mujoco.mjtJoint.mjJNT_FREE)
    free = [i for i in tops if kind in model.jnt_type[model.jnt_bodyid == i]]
    root = max(free or tops, key=lambda i: model.body_subtreemass[i])
    if not free:
        what = "it has no free joint in the file; a vehicle moves freely"
        findings.add("remark", f"body {_named(model, root)}", "taken off the world", what)
    if others := [_named(model, i) for i in tops if i != root]:
        kilograms = float(model.body_subtreemass[root])
        what = f"the robot is {_named(model, root)}, with the most mass that is free: {kilograms:.4g} kg"
        findings.add("remark", f"bodies {', '.join(others)}", "left out", what)
    return root


def _remark_unread(model: Any, inside: list[int], findings: Findings) -> None:
    """Add a remark on each kind of thing that is not read, once, with its number."""
    own = np.isin(model.dof_bodyid, inside)
    springs = np.isin(model.jnt_bodyid, inside) & (model.jnt_stiffness != 0)
    counts = {what: getattr(model, key, 0) for key, what in _UNREAD.items()}
    counts["geoms of the world"] = int(model.body_geomnum[0])
    counts["armatures of joints"] = int(np.unique(model.dof_jntid[own & (model.dof_armature != 0)]).size)
    counts["springs of joints"] = int(springs.sum())
    counts["bodies with gravcomp"] = int((model.body_gravcomp[inside] != 0).sum())
    for what, count in counts.items():
        if count:
            findings.add("remark", f"{count} {what}", "not read", "nothing of a vehicle file")
