"""URDFs of robots of each kind that an import knows, with the tracks that they are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import trimesh

Circles = Sequence[tuple[float, float, float]]
"""Rows of x, z and radius [m]."""
LYING = f"{math.pi / 2!r} 0 0"
"""Roll, pitch and yaw that turn a cylinder's axis to y."""


def inertial(mass: float, size: float = 0.3) -> str:
    """Inertial of a cube."""
    moment = mass * size**2 / 6
    return (
        f'<inertial><mass value="{mass!r}"/>'
        f'<inertia ixx="{moment!r}" ixy="0" ixz="0" iyy="{moment!r}" iyz="0" izz="{moment!r}"/></inertial>'
    )


def shape(tag: str, xyz: str = "0 0 0", rpy: str = "0 0 0", kind: str = "collision") -> str:
    """Shape of a link."""
    return f'<{kind}><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{tag}</geometry></{kind}>'


def link(name: str, *content: str) -> str:
    """Link with its content."""
    return f'<link name="{name}">{"".join(content)}</link>'


def joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    xyz: str,
    axis: str = "0 1 0",
    more: str = "",
    rpy: str = "0 0 0",
) -> str:
    """Joint with its origin and axis."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>'
    )


def robot(*parts: str, name: str = "mock") -> str:
    """URDF of a robot."""
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n' + "\n".join(parts) + "\n</robot>\n"


HULL = link("base_link", inertial(20.0), shape('<box size="0.5 0.3 0.1"/>', "0 0 0.1"))
"""Body of most robots, well above the ground."""


def belt_shapes(circles: Circles, width: float, y: float = 0.0) -> str:
    """Box and two cylinders of equal radius that stand for a belt, at y."""
    (x, z, radius), (to, _, _) = circles
    box = f'<box size="{abs(to - x)!r} {width!r} {2 * radius!r}"/>'
    cylinder = f'<cylinder radius="{radius!r}" length="{width!r}"/>'
    return shape(box, f"{(x + to) / 2!r} {y!r} {z!r}") + "".join(
        shape(cylinder, f"{x!r} {y!r} {z!r}", LYING) for x, z, _ in circles
    )


OVAL: Circles = ((-0.25, 0.0, 0.09), (0.25, 0.0, 0.09))
TAPERED: Circles = ((0.0, 0.0, 0.09), (0.3, 0.0, 0.04))


def write_belt_mesh(file: Path, circles: Circles, width: float, scale: float = 1.0) -> None:
    """Write the mesh of the hull of circles as they are extruded along y, with arcs of 400 corners a turn."""
    turns = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    ring = np.stack([np.cos(turns), 0 * turns, np.sin(turns)], axis=1)
    points = np.concatenate(
        [np.array([x, y, z]) + r * ring for x, z, r in circles for y in (-width / 2, width / 2)]
    )
    trimesh.PointCloud(points * scale).convex_hull.export(file)


def boxed() -> str:
    """Robot whose links `pod_a` and `pod_b` are a box and two cylinders each."""
    pods = [
        link(f"pod_{end}", inertial(3.0), belt_shapes(OVAL, 0.1))
        + joint(f"pod_{end}_joint", "fixed", "base_link", f"pod_{end}", f"0 {y} 0.02")
        for end, y in (("a", 0.25), ("b", -0.25))
    ]
    return robot(HULL, *pods)


def in_one_link() -> str:
    """Robot of one link, whose shapes are a hull and a box and two cylinders for each track."""
    hull = shape('<box size="0.5 0.3 0.1"/>', "0 0 0.1")
    raised = [(x, z + 0.02, radius) for x, z, radius in OVAL]
    return robot(link("base", inertial(20.0), hull, *(belt_shapes(raised, 0.1, y) for y in (0.25, -0.25))))


WHEELS: Circles = (
    (-0.3, 0.03, 0.06),
    (-0.1, -0.01, 0.05),
    (0.0, -0.01, 0.05),
    (0.1, -0.01, 0.05),
    (0.3, 0.03, 0.06),
)


def wheeled(wheels: Circles = WHEELS, axis: str = "0 1 0", turn: float = 0.0, suffix: str = "") -> str:
    """Robot with axles in a row on each side; all of it may be turned about z within its root link [rad].

    Args:
        wheels: Wheels of a side.
        axis: Axis of the joints in the wheels' frames.
        turn: Angle by which the robot is turned about z.
        suffix: End of the names of the robot's sides.
    """
    parts = [link("root"), joint("turned", "fixed", "root", "base_link", "0 0 0", rpy=f"0 0 {turn!r}"), HULL]
    for side, y in (("left", 0.25), ("right", -0.25)):
        for i, (x, z, radius) in enumerate(wheels):
            name = f"{side if suffix == '' else suffix + side[0]}_wheel_{i}"
            cylinder = f'<cylinder radius="{radius!r}" length="0.08"/>'
            parts.append(link(name, inertial(0.5, 0.1), shape(cylinder, rpy=LYING)))
            parts.append(joint(f"{name}_joint", "continuous", "base_link", name, f"{x!r} {y!r} {z!r}", axis))
    return robot(*parts)


def meshed(folder: Path, scale: float = 1.0) -> str:
    """Robot with tracks by name whose shapes are meshes, in a folder."""
    write_belt_mesh(folder / "belt.stl", OVAL, 0.1, scale)
    mesh = shape('<mesh filename="belt.stl"/>')
    tracks = [
        link(f"{side}_track", inertial(3.0), mesh)
        + joint(f"{side}_track_joint", "fixed", "base_link", f"{side}_track", f"0 {y} 0.02")
        for side, y in (("left", 0.25), ("right", -0.25))
    ]
    return robot(HULL, *tracks)


def flippers(parent: str, height: float, limit: str, upright: bool = False) -> str:
    """Four flippers at the corners; upright ones point up at joint position 0."""
    parts = []
    for end, x in (("front", 0.25), ("rear", -0.25)):
        for side, y in (("left", 0.35), ("right", -0.35)):
            name = f"{end}_{side}_flipper"
            pitch = -math.pi / 2 if upright else 0.0
            rpy = f"0 {pitch!r} 0" if end == "front" else f"0 {pitch!r} {math.pi!r}"
            cylinders = "".join(
                shape(f'<cylinder radius="{r!r}" length="0.06"/>', f"{at!r} 0 {z!r}", LYING)
                for at, z, r in TAPERED
            )
            parts.append(link(name, inertial(1.5, 0.1), cylinders))
            parts.append(
                joint(f"{name}_joint", "revolute", parent, name, f"{x} {y} {height}", "0 -1 0", limit, rpy)
            )
    return "".join(parts)


LIMIT = '<limit lower="-1.5" upper="1.2" effort="40" velocity="2"/>'


def flippered() -> str:
    """Robot with tracks of a box and two cylinders and four flippers."""
    return boxed().replace("</robot>", flippers("base_link", 0.02, LIMIT) + "</robot>")


def standing_on_flippers() -> str:
    """Robot that stands on four flippers alone, with ROS's massless `base_footprint`, at 0 upright."""
    limit = '<limit lower="-3.0" upper="0.5" effort="0" velocity="0"/>'
    foot = link("base_footprint") + joint("foot", "fixed", "base_footprint", "base_link", "0 0 0")
    return robot(foot, HULL, flippers("base_link", 0.02, limit, upright=True))


def rocking() -> str:
    """Robot whose tracks hang on two rockers, left and right, that nothing couples."""
    parts = [HULL]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts.append(link(f"{side}_rocker", inertial(4.0)))
        limit = '<limit lower="-0.4" upper="0.4" effort="100" velocity="1"/><dynamics damping="20"/>'
        parts.append(
            joint(
                f"{side}_rocker_joint", "revolute", "base_link", f"{side}_rocker", f"0 {y} 0.05", more=limit
            )
        )
        parts.append(link(f"{side}_track", belt_shapes(OVAL, 0.1)))
        parts.append(joint(f"{side}_track_joint", "fixed", f"{side}_rocker", f"{side}_track", "0 0 -0.03"))
    return robot(*parts)


PLUGIN = """<gazebo><plugin name="tracks" filename="libSimpleTrackedVehiclePlugin.so">
  <left_track>{left}</left_track><right_track>{right}</right_track><tracks_separation>0.5</tracks_separation>
  <track_mu>0.7</track_mu><track_mu2>0.35</track_mu2><max_linear_speed>0.8</max_linear_speed>
</plugin></gazebo>"""


def with_plugin(left: str = "pod_a", right: str = "pod_b") -> str:
    """Robot of `boxed` with a plugin that names its tracks."""
    return boxed().replace("</robot>", PLUGIN.format(left=left, right=right) + "</robot>")
