"""Links of an SDF model: their masses and shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal
from xml.etree.ElementTree import Element

import numpy as np

from segtrack.importing.assembly import BodyShape, RobotBody, text_of
from segtrack.importing.findings import Findings
from segtrack.importing.sdf_frames import Scope, SdfFrames
from segtrack.importing.sdf_numbers import SdfNumbers

_SIZES: dict[str, dict[str, int]] = {
    "box": {"size": 3},
    "cylinder": {"radius": 1, "length": 1},
    "sphere": {"radius": 1},
    "capsule": {"radius": 1, "length": 1},
}
"""Sizes of each shape that a URDF has, by the count of their numbers."""


class SdfBodies:
    """Reader of links."""

    def __init__(self, frames: SdfFrames, numbers: SdfNumbers, findings: Findings) -> None:
        """Take the frames of the model, and lists for mistakes and remarks."""
        self._frames, self._numbers, self._findings = frames, numbers, findings
        self._left_out = Counter[str]()
        self.frictions: dict[str, list[float]] = {}
        """Friction coefficients of collisions, by the link's full name."""

    def bodies(self, plain: Mapping[str, str]) -> tuple[RobotBody, ...]:
        """Bodies of all links.

        Args:
            plain: Names in the URDF by full names.
        """
        found = tuple(
            self._body(scope, name, plain[name], element)
            for scope, name, element in self._frames.elements("link")
            if name in plain
        )
        for what, count in self._left_out.items():
            times = "" if count == 1 else f", {count} times"
            self._findings.add("remark", f"{what}{times}", "left out", "no shape of a URDF")
        return found

    def _body(self, scope: Scope, name: str, plain: str, link: Element) -> RobotBody:
        where = f"link {name!r}"
        inertial = link.find("inertial")
        mass = self._numbers.number(inertial, "mass", 1.0, where)
        if inertial is None or inertial.find("mass") is None:
            what = "SDF's default, as the link says none"
            self._findings.add("guessed", f"mass of link {plain}", "1 kg", what)
        if inertial is not None and inertial.get("auto") in ("true", "1"):
            what = "of shapes and densities, which are not reckoned: the file's numbers count"
            self._findings.add("missing", f"inertia of link {plain}", "auto", what)
        if mass < 0:
            self._numbers.refuse(f"must have a mass of at least 0 in {where}, got {mass:g}")
        tensor = inertial.find("inertia") if inertial is not None else None
        xx, yy, zz, xy, xz, yz = (
            self._numbers.number(tensor, key, float(key[1] == key[2]), where)
            for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        )
        frame = self._frames.frame(name)
        return RobotBody(
            name=plain,
            frame=frame,
            mass=mass,
            inertial=self._numbers.frame(
                inertial.find("pose") if inertial is not None else None, f"inertial of {where}"
            ),
            tensor=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
            shapes=tuple(self._shapes(scope, name, link)),
        )

    def _shapes(self, scope: Scope, link: str, element: Element) -> Iterator[BodyShape]:
        kinds: tuple[Literal["collision", "visual"], ...] = ("collision", "visual")
        for kind in kinds:
            for shape in element.iterfind(kind):
                where = f"{kind} {shape.get('name', '')!r} of link {link!r}"
                if kind == "collision" and shape.find("surface/friction/ode/mu") is not None:
                    friction = self._numbers.number(shape.find("surface/friction/ode"), "mu", 1.0, where)
                    self.frictions.setdefault(link, []).append(friction)
                frame = self._frames.placed(scope, shape, link, where).seen_from(self._frames.frame(link))
                for tag in shape.iterfind("geometry/*"):
                    made = self._tag(tag, kind, where)
                    if made is not None:
                        yield BodyShape(kind, frame, made)

    def _tag(self, tag: Element, kind: str, where: str) -> Element | None:
        if tag.tag == "mesh":
            scale = self._numbers.numbers(tag.find("scale"), (1.0, 1.0, 1.0), where)
            if tag.find("submesh") is not None:
                what = "all of the mesh counts, not its part alone"
                self._findings.add("remark", f"<submesh> in {where}", "left aside", what)
            return Element("mesh", filename=(tag.findtext("uri") or "").strip(), scale=text_of(scale))
        if tag.tag not in _SIZES:
            if tag.tag != "empty":
                self._left_out[f"<{tag.tag}> in <{kind}>"] += 1
            return None
        made = Element(tag.tag)
        for key, count in _SIZES[tag.tag].items():
            size = tag.find(key)
            if size is None:
                self._numbers.refuse(f"must have a {key} of the {tag.tag} in {where}, got none")
            made.set(key, text_of(self._numbers.numbers(size, (1.0,) * count, where)))
        return made
