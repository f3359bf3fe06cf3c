"""Numbers and poses of SDF elements; each mistake is listed with its element, and none is raised alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame
from segtrack.errors import Problem, RobotFileError
from segtrack.geometry import rotation_of, rotations_of

_NONE = 1e15
"""Size from which a limit is none: SDF writes 1e16 [-]."""


@dataclass
class SdfNumbers:
    """Reader of numbers, which collects mistakes.

    Attributes:
        file: Name of the file.
        problems: Mistakes so far.
    """

    file: str
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, message: str) -> None:
        """Add a mistake."""
        if Problem("", message) not in self.problems:
            self.problems.append(Problem("", message))

    def check(self) -> None:
        """Raise the mistakes that there are.

        Raises:
            RobotFileError: There are some.
        """
        if self.problems:
            raise RobotFileError(self.file, self.problems)

    def numbers(self, element: Element | None, default: Sequence[float], where: str) -> NDArray[np.float64]:
        """Numbers of an element's text, as many as the default has, which stands in for a missing one."""
        if element is None:
            return np.array(default, dtype=float)
        return self._numbers(element, len(default), f"{element.tag} in {where}", default)

    def number(self, owner: Element | None, tag: str, default: float, where: str) -> float:
        """Number of an element below an owner."""
        element = owner.find(tag) if owner is not None else None
        return float(self.numbers(element, (default,), where)[0])

    def bounded(self, owner: Element | None, tag: str, where: str) -> float | None:
        """Number of an element below an owner; None if it is missing, below 0 for none, infinite, or 1e16."""
        element = owner.find(tag) if owner is not None else None
        text = (element.text or "").strip().lower() if element is not None else ""
        if element is None or text.lstrip("+-") in ("inf", "infinity"):
            return None
        value = float(self.numbers(element, (0.0,), where)[0])
        return None if abs(value) >= _NONE else value

    def flag(self, owner: Element | None, tag: str) -> bool:
        """True if an element below an owner is true."""
        text = owner.findtext(tag) if owner is not None else None
        return (text or "").strip().lower() in ("true", "1")

    def frame(self, pose: Element | None, where: str) -> Frame:
        """Frame of a pose: x, y, z [m], and roll, pitch, yaw [rad, or degrees] or a quaternion."""
        if pose is None or not (pose.text or "").strip():
            return Frame(np.eye(3), np.zeros(3))
        form = pose.get("rotation_format", "euler_rpy")
        named = f"pose in {where}"
        if form == "quat_xyzw":
            values = self._numbers(pose, 7, named, (0, 0, 0, 0, 0, 0, 1))
            length = float(np.linalg.norm(values[3:]))
            if length == 0:
                self.refuse(f"must have a quaternion that is not 0 as {named}, got {pose.text!r}")
                return Frame(np.eye(3), values[:3])
            return Frame(rotations_of(values[None, 3:] / length)[0], values[:3])
        if form != "euler_rpy":
            self.refuse(f"must have rotation_format euler_rpy or quat_xyzw of {named}, got {form!r}")
        values = self._numbers(pose, 6, named, (0.0,) * 6)
        angles = np.radians(values[3:]) if pose.get("degrees") in ("true", "1") else values[3:]
        return Frame(rotation_of(angles.tolist()), values[:3])

    def _numbers(
        self, element: Element, count: int, named: str, default: Sequence[float]
    ) -> NDArray[np.float64]:
        text = (element.text or "").strip()
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.zeros(0)
        if len(values) != count or not all(map(math.isfinite, values)):
            what = "a finite number" if count == 1 else f"{count} finite numbers"
            self.refuse(f"must have {what} as {named}, got {text!r}")
            return np.array(default, dtype=float)
        return values
