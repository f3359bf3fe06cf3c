"""Reading of an SDF robot to the tree of a URDF."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from segtrack.errors import InvalidValueError, Phrase, Problem, RobotFileError
from segtrack.importing.assembly import assemble, plain_names
from segtrack.importing.findings import Findings
from segtrack.importing.hints import add_friction, add_sides, names_sides, says_something
from segtrack.importing.sdf_bodies import SdfBodies
from segtrack.importing.sdf_files import expand_includes
from segtrack.importing.sdf_frames import SdfFrames
from segtrack.importing.sdf_joints import SdfJoints
from segtrack.importing.sdf_numbers import SdfNumbers

_READ = {
    "model": {"link", "joint", "frame", "model", "pose", "plugin", "static", "missing"},
    "link": {"pose", "inertial", "collision", "visual"},
    "collision": {"pose", "geometry"},
    "joint": {"pose", "parent", "child", "axis"},
    "axis": {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction"},
}
"""Tags that are read, by the element that they stand in."""
_TRUE = ("true", "1")


def read_sdf(file: Path, root: Element, arguments: Mapping[str, str], findings: Findings) -> Element:
    """Read an SDF file to the tree of a URDF.

    Nested models are flattened, with `__` for `::`. Plugins are kept in elements `gazebo`.

    Args:
        file: Path of the file.
        root: Its element `sdf`, which is changed.
        arguments: `model`: name of the model, where the file has several.
        findings: List to which missing models, and remarks on what is not read, are added.

    Raises:
        RobotFileError: Mistakes in the file or in one that it includes, or not one model that moves.
        InvalidValueError: Another argument.
    """
    if others := set(arguments) - {"model"}:
        raise InvalidValueError("--arg", "model:=NAME for an SDF file", Phrase(", ".join(sorted(others))))
    missing = expand_includes(file, root, findings)
    model = _chosen(file, root, arguments.get("model"), findings)
    numbers = SdfNumbers(file.name)
    frames = SdfFrames(model, numbers)
    links = dict(zip(frames.links, plain_names(frames.links), strict=True))
    if not links:
        numbers.refuse("must have links in its model, got none")
        numbers.check()
    named = dict.fromkeys(name for _, name, _ in frames.elements("joint") if frames.knows(name))
    joints = dict(zip(named, plain_names(list(named)), strict=True))
    reader = SdfBodies(frames, numbers, findings)
    bodies = reader.bodies(links)
    between = SdfJoints(frames, numbers, missing, findings).joints(links, joints)
    canonical = frames.link_of("")
    numbers.check()
    assert canonical is not None  # Or it would be a mistake.
    tilted = numbers.frame(model.find("pose"), "the model").rotation[2, 2] < 1 - 1e-9
    if tilted:
        what = "z of the model is up, as where it stands is of the world"
        findings.add("remark", "tilt of the model's pose", "left aside", what)
    tree = assemble(model.get("name", ""), bodies, between, links[canonical], findings)
    sides = {body.name: float(body.frame.origin[1]) for body in bodies}
    _add_plugins(tree, frames, {**joints, **links}, sides, findings)
    frictions = {links[name]: values for name, values in reader.frictions.items()}
    add_friction(tree, "mu of collisions", frictions, findings)
    _remark_unread(model, findings)
    return tree


def _chosen(file: Path, root: Element, name: str | None, findings: Findings) -> Element:
    """Model of an SDF file: the one of a name, or the one that is not static."""
    models = [each for place in (root, *root.iterfind("world")) for each in place.iterfind("model")]
    moving = [model for model in models if (model.findtext("static") or "").strip() not in _TRUE]
    wanted = moving if name is None else [model for model in models if model.get("name") == name]
    names = ", ".join(str(model.get("name")) for model in (moving if name is None else models)) or "none"
    if len(wanted) != 1:
        if name is not None:
            message = f"has no model {name!r}; there are: {names}"
        elif wanted:
            message = f"must have one model that is not static, got {names}: --arg model:=NAME chooses one"
        else:
            message = "must have a model that is not static, got none"
        raise RobotFileError(file.name, [Problem("", message)])
    if others := [str(model.get("name")) for model in models if model is not wanted[0]]:
        findings.add("remark", f"models {', '.join(others)}", "left out", "not the robot")
    return wanted[0]


def _add_plugins(
    tree: Element,
    frames: SdfFrames,
    plain: Mapping[str, str],
    sides: Mapping[str, float],
    findings: Findings,
) -> None:
    """Add plugins with names as in the tree, and the sides of tracks that a TrackController names."""
    unread, controlled = Counter[str](), dict[str, float]()
    speeds = set[str]()
    gazebo = Element("gazebo")
    for scope in frames.scopes:
        for given in scope.element.iterfind("plugin"):
            plugin = copy.deepcopy(given)
            gazebo.append(plugin)
            for element in plugin.iter():
                said = (element.text or "").strip()
                inside = said.removeprefix(f"{scope.element.get('name')}::")
                name = next((n for n in (scope.full(inside), inside, said) if n in plain), None)
                if name is not None:
                    element.text = plain[name]
            kind = plugin.get("name", "") + plugin.get("filename", "")
            link = (plugin.findtext("link") or "").strip()
            if "TrackController" in kind or "track-controller" in kind:
                if link in sides:
                    controlled[link] = sides[link]
                    speeds |= {(plugin.findtext("max_velocity") or "").strip()} - {""}
                else:
                    what = f"no link {link!r}"
                    findings.add("missing", "plugin TrackController: link", what, "left aside")
            elif not says_something(plugin):
                unread[plugin.get("name") or plugin.get("filename") or ""] += 1
    if len(gazebo):
        tree.append(gazebo)
    if controlled and not names_sides(gazebo):
        add_sides(tree, "plugin TrackController", controlled, findings)
    if len(speeds) == 1:
        hints = SubElement(tree, "hints", source="plugin TrackController")
        SubElement(hints, "max_linear_velocity").text = speeds.pop()
    for name, count in unread.items():
        times = "" if count == 1 else f", {count} times"
        findings.add("remark", f"plugin {name}{times}", "kept, not read", "nothing of a vehicle file")


def _remark_unread(model: Element, findings: Findings) -> None:
    """Add a remark on each kind of tag that is not read, once, with its number."""
    for (owner, tag), count in Counter(_unread(model)).items():
        times = "" if count == 1 else f", {count} times"
        what = "its mu alone is read" if tag == "surface" else "nothing of a vehicle file"
        findings.add("remark", f"<{tag}> in <{owner}>{times}", "not read", what)


def _unread(model: Element) -> Iterator[tuple[str, str]]:
    models = [model]
    for each in models:
        models += each.findall("model")
        parts = [*each.iterfind("link"), *each.iterfind("joint")]
        for owner in (each, *(element for part in parts for element in part.iter())):
            read = _READ.get(str(owner.tag))
            if read is not None:
                yield from ((str(owner.tag), str(child.tag)) for child in owner if child.tag not in read)
