"""Robots of `mock_robots` in other formats, written anew from their URDF."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from segtrack.description import Frame, link_frames, read_vector
from segtrack.geometry import quaternion_of, rpy_of

MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def numbers(values: object) -> str:
    """Text of numbers to the last bit."""
    return " ".join(repr(float(value)) for value in np.asarray(values, dtype=float))


def pose(frame: Frame, **attributes: str) -> str:
    """SDF's pose of a frame."""
    said = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<pose{said}>{numbers([*frame.origin, *rpy_of(frame.rotation)])}</pose>"


def origin_of(element: Element) -> Frame:
    """Frame of a URDF element's origin."""
    origin = element.find("origin")
    return Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))


def named(element: Element, tag: str) -> str:
    """Name of the link that a joint's parent or child is."""
    return str(element.find(tag).get("link"))  # type: ignore[union-attr]


def sdf_shapes(link: Element) -> str:
    """SDF's collisions and visuals of a URDF link."""
    text = ""
    for kind in ("collision", "visual"):
        for i, shape in enumerate(link.iterfind(kind)):
            (tag,) = shape.iterfind("geometry/*")
            keys = dict(tag.attrib)
            if "filename" in keys:
                keys["uri"] = keys.pop("filename")
            sizes = "".join(f"<{key}>{value}</{key}>" for key, value in keys.items())
            geometry = f"<geometry><{tag.tag}>{sizes}</{tag.tag}></geometry>"
            text += f'<{kind} name="{kind}_{i}">{pose(origin_of(shape))}{geometry}</{kind}>'
    return text


def sdf_link(link: Element, placed: str) -> str:
    """SDF's link of a URDF link, with its pose."""
    inertial, content = link.find("inertial"), "<inertial><mass>0</mass></inertial>"
    if inertial is not None:
        moments = inertial.find("inertia")
        assert moments is not None
        tensor = "".join(f"<{key}>{moments.get(key)}</{key}>" for key in MOMENTS)
        mass = inertial.find("mass").get("value")  # type: ignore[union-attr]
        content = (
            f"<inertial>{pose(origin_of(inertial))}<mass>{mass}</mass><inertia>{tensor}</inertia></inertial>"
        )
    return f'<link name="{link.get("name")}">{placed}{content}{sdf_shapes(link)}</link>'


def sdf_joint(joint: Element) -> str:
    """SDF's joint of a URDF joint, at its child."""
    text = f"<parent>{named(joint, 'parent')}</parent><child>{named(joint, 'child')}</child>"
    if joint.get("type") != "fixed":
        limit, dynamics = joint.find("limit"), joint.find("dynamics")
        keys = {} if limit is None else dict(limit.attrib)
        limits = "".join(f"<{key}>{value}</{key}>" for key, value in keys.items())
        damping = "" if dynamics is None else f"<damping>{dynamics.get('damping')}</damping>"
        xyz = joint.find("axis").get("xyz")  # type: ignore[union-attr]
        text += f"<axis><xyz>{xyz}</xyz><limit>{limits}</limit><dynamics>{damping}</dynamics></axis>"
    return f'<joint name="{joint.get("name")}" type="{joint.get("type")}">{text}</joint>'


def as_sdf(urdf: str, version: str = "1.9") -> str:
    """Text of an SDF file of a URDF's robot."""
    tree = ElementTree.fromstring(urdf)
    frames = link_frames(tree)
    links = "".join(
        sdf_link(link, pose(frames[str(link.get("name"))])) + "\n" for link in tree.iterfind("link")
    )
    joints = "".join(sdf_joint(joint) + "\n" for joint in tree.iterfind("joint"))
    plugins = "".join(ElementTree.tostring(plugin, encoding="unicode") for plugin in tree.iter("plugin"))
    return (
        f'<?xml version="1.0"?>\n<sdf version="{version}"><model name="{tree.get("name")}">\n'
        f"{links}{joints}{plugins}</model></sdf>\n"
    )


def placed_as(frame: Frame) -> str:
    """MJCF's attributes of a frame."""
    x, y, z, w = quaternion_of(frame.rotation)
    return f'pos="{numbers(frame.origin)}" quat="{numbers([w, x, y, z])}"'


def mjcf_geom(shape: Element, kind: str) -> str:
    """MJCF's geom of a URDF shape."""
    (tag,) = shape.iterfind("geometry/*")
    seen = ' contype="0" conaffinity="0"' if kind == "visual" else ""
    if tag.tag == "mesh":
        form = 'type="mesh" mesh="belt"'
    elif tag.tag == "box":
        form = f'type="box" size="{numbers([float(word) / 2 for word in tag.get("size", "").split()])}"'
    else:
        sizes = [float(tag.get("radius", "0")), float(tag.get("length", "0")) / 2]
        form = f'type="{tag.tag}" size="{numbers(sizes)}"'
    return f'<geom {form} {placed_as(origin_of(shape))} mass="0"{seen}/>'


def mjcf_body(tree: Element, name: str, joint: Element | None) -> str:
    """MJCF's body of a URDF link, with all that it carries."""
    link = next(each for each in tree.iterfind("link") if each.get("name") == name)
    content = "<freejoint/>"
    if joint is not None:
        content, limit, kind = "", joint.find("limit"), joint.get("type")
        if kind != "fixed":
            form = "slide" if kind == "prismatic" else "hinge"
            ends = (
                "" if limit is None or kind == "continuous" else f"{limit.get('lower')} {limit.get('upper')}"
            )
            limited = f' range="{ends}"' if ends else ""
            dynamics = joint.find("dynamics")
            damped = "" if dynamics is None else f' damping="{dynamics.get("damping")}"'
            xyz = joint.find("axis").get("xyz")  # type: ignore[union-attr]
            content = f'<joint name="{joint.get("name")}" type="{form}" axis="{xyz}"{limited}{damped}/>'
    inertial = link.find("inertial")
    if inertial is not None:
        moments = inertial.find("inertia")
        assert moments is not None
        tensor = " ".join(str(moments.get(key)) for key in MOMENTS)
        mass = inertial.find("mass").get("value")  # type: ignore[union-attr]
        content += f'<inertial {placed_as(origin_of(inertial))} mass="{mass}" fullinertia="{tensor}"/>'
        content = content.replace(
            f" {placed_as(origin_of(inertial))}", f' pos="{numbers(origin_of(inertial).origin)}"'
        )
    for kind in ("collision", "visual"):
        content += "".join(mjcf_geom(shape, kind) for shape in link.iterfind(kind))
    for each in tree.iterfind("joint"):
        if named(each, "parent") == name:
            content += "\n" + mjcf_body(tree, named(each, "child"), each)
    place = "" if joint is None else placed_as(origin_of(joint))
    return f'<body name="{name}" {place}>{content}</body>'


def as_mjcf(urdf: str) -> str:
    """Text of an MJCF file of a URDF's robot, whose inertials are not turned."""
    tree = ElementTree.fromstring(urdf)
    children = {named(joint, "child") for joint in tree.iterfind("joint")}
    root = next(str(link.get("name")) for link in tree.iterfind("link") if link.get("name") not in children)
    drives = ""
    for joint in tree.iterfind("joint"):
        limit = joint.find("limit")
        if limit is not None and float(limit.get("effort", "0")) > 0:
            effort, velocity = limit.get("effort"), limit.get("velocity")
            drives += (
                f'<velocity joint="{joint.get("name")}" kv="10" ctrlrange="-{velocity} {velocity}" '
                f'forcerange="-{effort} {effort}"/>'
            )
    mesh = '<asset><mesh name="belt" file="belt.stl"/></asset>' if "<mesh " in urdf else ""
    return (
        f'<mujoco model="{tree.get("name")}"><compiler angle="radian" inertiafromgeom="false"/>{mesh}'
        f"<worldbody>{mjcf_body(tree, root, None)}</worldbody><actuator>{drives}</actuator></mujoco>\n"
    )
