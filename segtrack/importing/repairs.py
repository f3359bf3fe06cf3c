"""Repairs of a URDF tree, each with a remark: what ROS and Gazebo pass over, and a vehicle file refuses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from segtrack.description import (
    convex_corners,
    find_mesh,
    impossible_moments,
    mesh_places,
    read_inertial,
    urdf_mistakes,
)
from segtrack.errors import InvalidValueError, Problem, RobotFileError
from segtrack.geometry import rpy_of
from segtrack.importing.findings import Findings

_GIANT = 20.0
"""Extent of a mesh without a scale beyond which its robot's meshes are taken to be in mm [m]."""
_ROUND = 0.1
"""Relative difference of two moments of inertia below which a link is taken to be round [-]."""


def repair(file: Path, tree: Element, findings: Findings) -> None:
    """Repair a URDF tree in place.

    Args:
        file: File of the tree, in whose folder meshes are looked for.
        tree: Element `robot`.
        findings: List to which remarks are added.

    Raises:
        RobotFileError: The file has mistakes that cannot be repaired; all of them are listed.
    """
    _drop_doubled(tree, findings)
    _complete_joints(tree, findings)
    _drop_nameless_meshes(tree, findings)
    missing = _drop_unreadable_meshes(file.parent, tree, findings)
    mistakes = [each for each in urdf_mistakes(tree, file.parent, {}, ()) if not _is_repaired_below(each)]
    if mistakes:
        raise RobotFileError(file.name, [Problem("", mistake) for mistake in mistakes])
    _scale_giants(file.parent, tree, findings)
    _drop_thin(tree, findings)
    for link, names in missing.items():
        _guess_shape(tree, link, names, findings)
    _mend_inertias(file.parent, tree, findings)
    _remark_copies(tree, findings)


def _is_repaired_below(mistake: str) -> bool:
    return "principal moments of inertia" in mistake or " that collides, got " in mistake


def _drop_doubled(tree: Element, findings: Findings) -> None:
    """Drop links and joints that stand there twice, word by word."""
    for tag in ("link", "joint"):
        first: dict[str, str] = {}
        for element in tree.findall(tag):
            name = str(element.get("name"))
            text = ElementTree.canonicalize(
                ElementTree.tostring(element, encoding="unicode"), strip_text=True
            )
            if first.setdefault(name, text) == text and element is not _first(tree, tag, name):
                tree.remove(element)
                findings.add("remark", f"{tag} {name}", "counted once", "it stands there twice, word by word")


def _first(tree: Element, tag: str, name: str) -> Element:
    return next(element for element in tree.iterfind(tag) if str(element.get("name")) == name)


def _complete_joints(tree: Element, findings: Findings) -> None:
    """Hold floating joints, and bound revolute joints without limits by none."""
    for joint in tree.iterfind("joint"):
        name = f"joint {joint.get('name')}"
        if joint.get("type") == "floating":
            joint.set("type", "fixed")
            findings.add("remark", name, "fixed", "a floating joint inside of a vehicle is not simulated")
        elif joint.get("type") == "revolute" and joint.find("limit") is None:
            joint.set("type", "continuous")
            findings.add("remark", name, "turns without limits", "a revolute joint without <limit>")
        axis = joint.find("axis")
        if (
            axis is not None
            and axis.get("xyz", "").split()
            and not any(map(_is_not_zero, axis.get("xyz", "").split()))
        ):
            tree_default = "1 0 0"
            axis.set("xyz", tree_default)
            findings.add("remark", name, "axis x", "an axis of 0 0 0; URDF's default is x")


def _is_not_zero(text: str) -> bool:
    try:
        return float(text) != 0.0
    except ValueError:
        return True  # `urdf_mistakes` says so.


def _shape_meshes(tree: Element) -> Iterator[tuple[Element, Element, Element]]:
    """Yield each link, shape of it and mesh of that, as a list that may be changed meanwhile."""
    yield from [
        (link, shape, mesh)
        for link in tree.iterfind("link")
        for shape in link
        if shape.tag in ("visual", "collision")
        for mesh in shape.iterfind("geometry/mesh")
    ]


def _drop_nameless_meshes(tree: Element, findings: Findings) -> None:
    for link, shape, mesh in _shape_meshes(tree):
        if not mesh.get("filename", "").strip():
            link.remove(shape)
            findings.add(
                "remark", f"link {link.get('name')}", f"{shape.tag} left out", "a mesh without a file name"
            )


def _drop_unreadable_meshes(folder: Path, tree: Element, findings: Findings) -> dict[str, list[str]]:
    """Drop meshes that are missing or hold no solid; names of those that should collide, by link."""
    missing: dict[str, list[str]] = {}
    for link, shape, mesh in _shape_meshes(tree):
        name, own = str(mesh.get("filename")).strip(), str(link.get("name"))
        found = find_mesh(name, folder)
        if found is None:
            reason = mesh_places(name, folder)
        else:
            try:
                convex_corners(str(found))
                continue
            except InvalidValueError as error:
                reason = error.complaint
        link.remove(shape)
        findings.add("missing", f"mesh {name}", f"left out of link {own}", reason)
        missing.setdefault(own, []).append(name)
    return missing


def _scale_giants(folder: Path, tree: Element, findings: Findings) -> None:
    """Scale meshes in mm to metres, where one of those without a scale is as large as no robot."""
    unscaled = [mesh for _, _, mesh in _shape_meshes(tree) if mesh.get("scale", "1 1 1").split() in _UNSCALED]
    extents = {}
    for mesh in unscaled:
        name = str(mesh.get("filename"))
        extents[name] = float(np.ptp(convex_corners(str(find_mesh(name, folder))), axis=0).max())
    if not extents or max(extents.values()) <= _GIANT:
        return
    largest = max(extents, key=lambda name: extents[name])
    for mesh in unscaled:
        mesh.set("scale", "0.001 0.001 0.001")
    findings.add(
        "guessed", "unit of meshes without a scale", "mm: scale 0.001",
        f"{largest} would be {extents[largest]:.3g} m long",
    )  # fmt: skip


_UNSCALED = [["1", "1", "1"], ["1.0", "1.0", "1.0"], ["1"], ["1.0"]]


def _drop_thin(tree: Element, findings: Findings) -> None:
    """Drop collision shapes without volume, which are placeholders."""
    for link in tree.iterfind("link"):
        for shape in link.findall("collision"):
            for tag in shape.iterfind("geometry/*"):
                keys = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",)}.get(
                    tag.tag, ()
                )
                if any(min(map(float, tag.get(key, "0").split())) <= 0 for key in keys):
                    link.remove(shape)
                    what = f"a {tag.tag} without volume"
                    findings.add("remark", f"link {link.get('name')}", "collision left out", what)
                    break


def _guess_shape(tree: Element, link: str, meshes: list[str], findings: Findings) -> None:
    """Give a link without any shape left the box, or the cylinder, that has its inertia."""
    element = _first(tree, "link", link)
    if element.find("collision") is not None or element.find("visual") is not None:
        return
    properties = read_inertial(element)
    if properties.mass <= 0 or impossible_moments(element.find("inertial")) is not None:
        findings.add(
            "missing",
            f"shape of link {link}",
            "none",
            f"mesh {meshes[0]} is missing, and an inertia to guess by",
        )
        return
    moments, axes = np.linalg.eigh(properties.inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    turning = next((j for j in tree.iterfind("joint") if _child(j) == link), None)
    is_wheel = turning is not None and turning.get("type") in ("continuous", "revolute")
    pairs = {0: (1, 2), 2: (0, 1)}
    along = min(pairs, key=lambda k: abs(moments[pairs[k][0]] - moments[pairs[k][1]]))
    across = moments[list(pairs[along])]
    collision = SubElement(element, "collision")
    if is_wheel and np.ptp(across) < _ROUND * across.mean():
        radius = math.sqrt(2 * moments[along] / properties.mass)
        length = math.sqrt(max(12 * (across.mean() / properties.mass - radius**2 / 4), 1e-6))
        frame = np.roll(axes, 2 - along, axis=1)
        tag = Element("cylinder", radius=f"{radius:.6g}", length=f"{length:.6g}")
        shape = f"cylinder of radius {radius:.4g} m, length {length:.4g} m"
    else:
        sizes = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / properties.mass, 1e-6))
        frame, tag = axes, Element("box", size=" ".join(f"{size:.6g}" for size in sizes))
        order = np.abs(axes).argmax(axis=1)
        shape = f"box of {_by(sizes[order])} m"
    SubElement(collision, "origin", xyz=_text(properties.center), rpy=_text(np.array(rpy_of(frame))))
    SubElement(collision, "geometry").append(tag)
    findings.add("guessed", f"shape of link {link}", shape, f"its inertia, as mesh {meshes[0]} is missing")


def _mend_inertias(folder: Path, tree: Element, findings: Findings) -> None:
    """Give links with an inertia that no body has that of a box around their shapes."""
    from segtrack.importing.robot import UrdfRobot

    robot = UrdfRobot("", tree, folder)
    for link, element in robot.links.items():
        inertial, mass = element.find("inertial"), robot.mass_properties(link).mass
        if inertial is None or mass <= 0 or impossible_moments(inertial) is None:
            continue
        points = robot.points(link)
        frame = robot.frames[link]
        local = (points - frame.origin) @ frame.rotation if len(points) else np.zeros((1, 3))
        size = np.maximum(np.ptp(local, axis=0), 0.02)
        squares = size**2
        for old in inertial.findall("inertia"):
            inertial.remove(old)
        ixx, iyy, izz = (mass / 12 * (squares.sum() - squares)).tolist()
        moments = {"ixx": ixx, "ixy": 0.0, "ixz": 0.0, "iyy": iyy, "iyz": 0.0, "izz": izz}
        SubElement(inertial, "inertia", {key: repr(value) for key, value in moments.items()})
        origin = inertial.find("origin")
        if origin is not None:
            origin.set("rpy", "0 0 0")
        findings.add(
            "guessed", f"inertia of link {link}", f"that of a box of {_by(size)} m",
            "its own is one that no body can have",
        )  # fmt: skip


def _remark_copies(tree: Element, findings: Findings) -> None:
    """Add a remark on links with the mass and inertia of the heaviest one, as if copied from it."""
    links = tree.findall("link")
    heaviest = max(links, key=lambda link: read_inertial(link).mass)
    own = read_inertial(heaviest)
    for link in links:
        other = read_inertial(link)
        if link is heaviest or other.mass <= 0 or not math.isclose(other.mass, own.mass, rel_tol=1e-9):
            continue
        if np.allclose(other.inertia, own.inertia, rtol=1e-3, atol=1e-12):
            what = f"it has mass and inertia of link {heaviest.get('name')}: a copy?"
            findings.add("remark", f"link {link.get('name')}", f"its {own.mass:.4g} kg count", what)


def _child(joint: Element) -> str:
    child = joint.find("child")
    return "" if child is None else str(child.get("link"))


def _by(sizes: NDArray[np.float64]) -> str:
    return " x ".join(f"{size:.3g}" for size in sizes)


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(f"{value:.9g}" for value in values)
