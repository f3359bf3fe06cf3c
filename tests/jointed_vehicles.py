"""Vehicles whose body is a URDF with joints that move, written into a folder for a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

BASE_MASS, BASE_INERTIA = 20.0, (0.5, 0.8, 1.0)
TRACK = {
    "mount": {"parent": "base", "xyz": [0.0, 0.2, 0.0]},
    "path": {"pulleys": [{"x": -0.2, "z": 0, "radius": 0.08}, {"x": 0.2, "z": 0, "radius": 0.08}]},
    "width": 0.08,
    "belt": {"mass": 1.0},
    "grousers": {"count": 40, "shape": {"box": {"length": 0.005, "height": 0.008}}},
    "drive": {"max_force": 300.0, "max_speed": 1.0},
}


@dataclass(frozen=True)
class Limb:
    """A joint of a URDF with the link that it moves, which has the joint's name and `_link`.

    Attributes:
        name: Name of the joint.
        parent: Link that carries it.
        kind: URDF's type.
        xyz: Origin of the joint in its parent link [m].
        rpy: Orientation of the joint in its parent link [rad].
        axis: Axis in the joint's frame.
        mass: Mass of the link [kg].
        center: Its centre of mass [m].
        inertia: Its principal moments [kg m^2].
        turn: Orientation of their axes [rad].
        limits: Least and largest position.
        effort: Largest torque or force.
        velocity: Largest speed.
        damping: Damping of the joint.
        friction: Dry friction of the joint.
        mimic: Attributes of its `<mimic>`, if it has one.
        collision: Sides of a box around its centre of mass, if it has one [m].
    """

    name: str
    parent: str = "base"
    kind: str = "revolute"
    xyz: Sequence[float] = (0.0, 0.0, 0.0)
    rpy: Sequence[float] = (0.0, 0.0, 0.0)
    axis: Sequence[float] = (0.0, 1.0, 0.0)
    mass: float = 1.0
    center: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] = (0.01, 0.01, 0.01)
    turn: Sequence[float] = (0.0, 0.0, 0.0)
    limits: tuple[float, float] = (-3.0, 3.0)
    effort: float = 100.0
    velocity: float = 5.0
    damping: float = 0.0
    friction: float = 0.0
    mimic: str = ""
    collision: Sequence[float] | None = None

    @property
    def link(self) -> str:
        """Name of its link."""
        return f"{self.name}_link"

    def urdf(self) -> str:
        """Text of link and joint, a tag a line."""
        low, high = self.limits
        limit = f'lower="{low!r}" upper="{high!r}" effort="{self.effort!r}" velocity="{self.velocity!r}"'
        mimic = f"<mimic {self.mimic}/>\n" if self.mimic else ""
        return (
            link_text(self.link, self.mass, self.center, self.inertia, self.turn, self.collision)
            + f'<joint name="{self.name}" type="{self.kind}">\n<parent link="{self.parent}"/>\n'
            f'<child link="{self.link}"/>\n<origin xyz="{words(self.xyz)}" rpy="{words(self.rpy)}"/>\n'
            f'<axis xyz="{words(self.axis)}"/>\n<limit {limit}/>\n'
            f'<dynamics damping="{self.damping!r}" friction="{self.friction!r}"/>\n{mimic}</joint>\n'
        )


def words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def link_text(
    name: str,
    mass: float,
    center: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: Sequence[float] = (0.01, 0.01, 0.01),
    turn: Sequence[float] = (0.0, 0.0, 0.0),
    collision: Sequence[float] | None = None,
) -> str:
    """Text of a link, a tag a line."""
    xx, yy, zz = map(float, inertia)
    box = ""
    if collision is not None:
        box = (
            f'<collision>\n<origin xyz="{words(center)}"/>\n<geometry>\n<box size="{words(collision)}"/>\n'
            "</geometry>\n</collision>\n"
        )
    return (
        f'<link name="{name}">\n<inertial>\n<origin xyz="{words(center)}" rpy="{words(turn)}"/>\n'
        f'<mass value="{mass!r}"/>\n'
        f'<inertia ixx="{xx!r}" ixy="0" ixz="0" iyy="{yy!r}" iyz="0" izz="{zz!r}"/>\n'
        f"</inertial>\n{box}</link>\n"
    )


def urdf_text(limbs: Iterable[Limb]) -> str:
    """Text of a URDF of a base and limbs on it."""
    base = link_text("base", BASE_MASS, inertia=BASE_INERTIA)
    return f'<robot name="jointed">\n{base}{"".join(limb.urdf() for limb in limbs)}</robot>\n'


def jointed(
    folder: Path,
    limbs: Iterable[Limb],
    joints: dict[str, Any],
    *,
    fixed: bool = False,
    **changes: Any,
) -> Path:
    """Write a vehicle of two tracks with limbs on its base.

    Args:
        folder: Folder for the files.
        limbs: Joints of the URDF.
        joints: Content of `joints` in the vehicle file.
        fixed: Bolt the base to the world.
        changes: Further keys of the vehicle file.
    """
    (folder / "jointed.urdf").write_text(urdf_text(limbs))
    right = TRACK | {"mount": {"parent": "base", "xyz": [0.0, -0.2, 0.0]}}
    data = {
        "name": "jointed",
        "source": "made up",
        "body": {"urdf": "jointed.urdf", "fixed": fixed},
        "tracks": {"left": TRACK, "right": right},
        "joints": joints,
    }
    (folder / "jointed.yaml").write_text(yaml.safe_dump(data | changes))
    return folder / "jointed.yaml"


def random_limbs(seed: int, count: int) -> list[Limb]:
    """Joints of any kind in a tree of any shape, every third one fixed."""
    rng = np.random.default_rng(seed)
    limbs: list[Limb] = []
    for i in range(count):
        parents = ["base", *(limb.link for limb in limbs)]
        limbs.append(
            Limb(
                name=f"j{i}",
                parent=parents[rng.integers(len(parents))] if i % 2 else parents[-1],
                kind=("revolute", "prismatic", "continuous", "fixed")[i % 4 if i % 3 else 0],
                xyz=rng.uniform(-0.2, 0.2, 3).tolist(),
                rpy=rng.uniform(-1.5, 1.5, 3).tolist(),
                axis=rng.normal(size=3).tolist(),
                mass=float(rng.uniform(0.5, 3.0)),
                center=rng.uniform(-0.1, 0.1, 3).tolist(),
                inertia=(0.02 + rng.uniform(0, 0.01, 3)).tolist(),
                turn=rng.uniform(-1.5, 1.5, 3).tolist(),
            )
        )
    return limbs
