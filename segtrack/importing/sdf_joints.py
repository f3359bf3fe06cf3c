"""Joints of an SDF model: anchors and axes in the model's frame, limits, drives and mimics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from segtrack.importing.assembly import BodyJoint, JointKind
from segtrack.importing.finding import is_flipper_name
from segtrack.importing.findings import Findings
from segtrack.importing.sdf_frames import Scope, SdfFrames
from segtrack.importing.sdf_numbers import SdfNumbers

_KINDS: dict[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
_HELD = ("ball", "universal", "screw", "revolute2")
"""Types that a vehicle file cannot say: their links are held."""
_TYPES = (*_KINDS, *_HELD, "gearbox")


class SdfJoints:
    """Reader of joints."""

    def __init__(
        self, frames: SdfFrames, numbers: SdfNumbers, missing: Collection[str], findings: Findings
    ) -> None:
        """Take the frames of the model, names of models that are missing, and lists to add to."""
        self._frames, self._numbers, self._findings = frames, numbers, findings
        self._missing = missing

    def joints(self, links: Mapping[str, str], plain: Mapping[str, str]) -> tuple[BodyJoint, ...]:
        """Joints between links.

        Args:
            links: Names of links in the URDF by full names.
            plain: Names of joints in the URDF by full names.
        """
        found = []
        for scope, name, element in self._frames.elements("joint"):
            if name not in plain:
                continue
            where, kind = f"joint {name!r}", element.get("type", "none")
            if kind not in _TYPES:
                self._numbers.refuse(f"must give {where} a type of {', '.join(_TYPES)}, got {kind}")
                continue
            ends = [self._end(scope, element, tag, plain[name]) for tag in ("parent", "child")]
            if kind == "gearbox":
                what = "a gearbox couples joints by a ratio, which is not read"
                self._findings.add("remark", f"joint {plain[name]}", "left out", what)
            elif ends[0] is not None and ends[1] is not None:
                parent, child = links[ends[0]], links[ends[1]]
                found.append(self._joint(scope, name, plain, element, parent, child))
        return tuple(found)

    def _end(self, scope: Scope, joint: Element, tag: str, plain: str) -> str | None:
        """Full name of the link at an end of a joint; None if there is none."""
        said = (joint.findtext(tag) or "").strip()
        full, where = scope.full(said), f"joint {scope.full(joint.get('name', ''))!r}"
        if not said:
            self._numbers.refuse(f"must give {where} one {tag} link, got none")
        elif said == "world":
            what = "a vehicle moves freely"
            self._findings.add("remark", f"joint {plain}", "left out, which holds it to the world", what)
        elif any(full.startswith(f"{scope.prefix}{name}::") or said == name for name in self._missing):
            what = f"its {tag} {said} is in a model that is missing"
            self._findings.add("missing", f"joint {plain}", "left out", what)
        elif not self._frames.knows(full):
            self._numbers.refuse(f"has no link {said!r}, which is the {tag} of {where}")
        else:
            return self._frames.link_of(full)
        return None

    def _joint(
        self, scope: Scope, name: str, plain: Mapping[str, str], joint: Element, parent: str, child: str
    ) -> BodyJoint:
        where, said = f"joint {name!r}", joint.get("type", "")
        kind = _KINDS.get(said, "fixed")
        if said in _HELD:
            what = f"a {said} joint, which a vehicle file cannot say"
            self._findings.add("remark", f"joint {plain[name]}", "held", what)
        frame, axis = self._frames.frame(name), joint.find("axis")
        limit, dynamics = (axis.find(tag) if axis is not None else None for tag in ("limit", "dynamics"))
        limits = self._limits(limit, where, plain[name]) if kind != "fixed" and said != "continuous" else None
        if limits is not None and limits[0] == limits[1]:
            what = f"both limits are {limits[0]:g}"
            if is_flipper_name(child):
                limits, done = None, "moves without limits, as a flipper's"
            else:
                kind, done = "fixed", "held where it is at 0"
            self._findings.add("remark", f"joint {plain[name]}", done, what)
        efforts = [self._numbers.bounded(limit, tag, where) for tag in ("effort", "velocity")]
        effort, velocity = (max(value or 0.0, 0.0) for value in efforts)  # -1 is none.
        return BodyJoint(
            name=plain[name],
            kind=kind,
            parent=parent,
            child=child,
            anchor=frame.origin,
            axis=self._axis(scope, axis, frame.rotation, where) if kind != "fixed" else np.zeros(3),
            limits=limits,
            effort=effort,
            velocity=velocity,
            damping=self._numbers.number(dynamics, "damping", 0.0, where),
            friction=self._numbers.number(dynamics, "friction", 0.0, where),
            mimic=self._mimic(scope, axis, plain, where),
        )

    def _axis(
        self, scope: Scope, axis: Element | None, own: NDArray[np.float64], where: str
    ) -> NDArray[np.float64]:
        """Unit vector of an axis in the robot's frame."""
        xyz = axis.find("xyz") if axis is not None else None
        given = self._numbers.numbers(xyz, (0.0, 0.0, 1.0), where)
        length = float(np.linalg.norm(given))
        if length == 0:
            self._numbers.refuse(f"must have an axis that is not 0 in {where}, got {_text(xyz)!r}")
            return given
        said = xyz.get("expressed_in") if xyz is not None else None
        if said and not self._frames.knows(scope.full(said)):
            self._numbers.refuse(f"has no frame {said!r}, in which the axis of {where} is expressed")
        elif said:
            own = self._frames.frame(scope.full(said)).rotation
        elif self._numbers.flag(axis, "use_parent_model_frame"):
            own = self._frames.frame(scope.model).rotation
        return np.asarray(own @ given / length)

    def _limits(self, limit: Element | None, where: str, plain: str) -> tuple[float, float] | None:
        lower, upper = (self._numbers.bounded(limit, tag, where) for tag in ("lower", "upper"))
        if lower is not None and upper is not None:
            if lower > upper:
                self._numbers.refuse(
                    f"must have a lower limit not above the upper one in {where}, got {lower:g} and {upper:g}"
                )
            return lower, upper
        if lower is not None or upper is not None:
            given = f"lower {lower:g}" if lower is not None else f"upper {upper:g}"
            what = "a vehicle file has both limits or none"
            self._findings.add("remark", f"joint {plain}", f"its one limit, {given}, is left out", what)
        return None

    def _mimic(
        self, scope: Scope, axis: Element | None, plain: Mapping[str, str], where: str
    ) -> tuple[str, float, float] | None:
        """Leader, multiplier and offset of a follower, at `multiplier (leader - reference) + offset`."""
        mimic = axis.find("mimic") if axis is not None else None
        if mimic is None:
            return None
        leader = scope.full(mimic.get("joint", ""))
        if leader not in plain:
            self._numbers.refuse(f"has no joint {mimic.get('joint', '')!r}, which {where} follows")
            return None
        multiplier, offset, reference = (
            self._numbers.number(mimic, tag, default, where)
            for tag, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        return plain[leader], multiplier, offset - multiplier * reference


def _text(element: Element | None) -> str:
    return (element.text or "").strip() if element is not None else ""
