"""Files of an SDF robot: includes are expanded, and meshes are looked for beside the file that names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from segtrack.description import XML_ERRORS, find_mesh, mesh_places, read_text
from segtrack.errors import FileAccessError, Problem, RobotFileError
from segtrack.importing.findings import Findings
from segtrack.importing.tolerant_xml import parse_xml

MERGED = "segtrack-merged"
"""Attribute of a model whose links count as its parent's: `<include merge="true">`."""
_FUEL = re.compile(r"https?://[^/]+/[^/]+/[^/]+/models/([^/]+)(?:/(?:tip|\d+))?(?:/files)?(/.*)?$")
"""Address of a model, or of a file of it, on Gazebo's server of models."""
_AXIS_OF_MODEL = (1, 5)
"""Version of SDF before which axes are in the model's frame."""
_DEEPEST = 20
"""Number of includes within each other, at most."""


def expand_includes(file: Path, root: Element, findings: Findings) -> set[str]:
    """Expand the includes of an SDF file in place, and name meshes by paths where they are found.

    Models are looked for by `model://NAME`, a path, or their address on Gazebo's server, as meshes are: from
    the file's folder upwards, then in `GZ_SIM_RESOURCE_PATH`, `SDF_PATH` and `GAZEBO_MODEL_PATH`. A model
    that is missing is left out and named.

    Args:
        file: Path of the file.
        root: Its element `sdf`, which is changed.
        findings: List to which missing models are added.

    Returns:
        Names of the models that are missing.

    Raises:
        RobotFileError: Models that include themselves.
    """
    _mark_old_axes(root)
    _rename_joints(root, findings)
    missing = set[str]()
    _name_meshes(root, file.parent)
    _expand(file, root, (file.absolute(),), findings, missing)
    return missing


def _expand(
    file: Path, element: Element, within: tuple[Path, ...], findings: Findings, missing: set[str]
) -> None:
    for i, child in enumerate(list(element)):
        if child.tag != "include":
            if child.tag in ("model", "world"):
                _expand(file, child, within, findings, missing)
            continue
        uri = (child.findtext("uri") or "").strip()
        name = (child.findtext("name") or "").strip()
        try:
            model = _included(uri, file.parent, within, findings, missing)
        except FileAccessError as error:
            name = name or uri.rstrip("/").rpartition("/")[2]
            findings.add("missing", f"model {uri or 'without <uri>'}", "left out", str(error))
            missing.add(name)
            model = Element("missing")
        if name:
            model.set("name", name)
        if child.get("merge") in ("true", "1"):
            model.set(MERGED, "true")
        for tag in ("pose", "placement_frame", "static"):
            given = child.find(tag)
            if given is not None:
                for old in model.findall(tag):
                    model.remove(old)
                model.insert(0, given)
                if tag == "placement_frame":
                    model.set(tag, (given.text or "").strip())
        model.extend(child.findall("plugin"))
        element[i] = model


def _included(
    uri: str, folder: Path, within: tuple[Path, ...], findings: Findings, missing: set[str]
) -> Element:
    """Model of an include.

    Raises:
        FileAccessError: There is no such model.
        RobotFileError: It is no SDF, or it includes itself.
    """
    name = _local(uri).rstrip("/")
    places = [find_mesh(place, folder) for place in (f"{name}/model.config", f"{name}/model.sdf", name)]
    found = next((place for place in places if name and place is not None), None)
    if found is None:
        raise FileAccessError("find", Path(uri or "."), mesh_places(f"{name}/model.config", folder))
    if found.name == "model.config":
        found = _configured(found)
    chain = (*within, found.absolute())
    if found.absolute() in within or len(chain) > _DEEPEST:
        loop = ", ".join(place.name if place.name != "model.sdf" else str(place) for place in chain)
        raise RobotFileError(within[0].name, [Problem("", f"must not include itself, got {loop}")])
    try:
        root = parse_xml(read_text(found))
    except XML_ERRORS as error:
        raise RobotFileError(found.name, [Problem("", f"must be XML, got {error}")]) from None
    models = root.findall("model")
    if root.tag != "sdf" or len(models) != 1:
        got = f"<{root.tag}> with {len(models)}"
        raise RobotFileError(found.name, [Problem("", f"must be an SDF file of one model, got {got}")])
    _mark_old_axes(root)
    _rename_joints(root, findings)
    _name_meshes(root, found.parent)
    _expand(found, root, chain, findings, missing)
    return models[0]


def _configured(config: Path) -> Path:
    """SDF file of the newest version that a model.config names."""
    try:
        files = parse_xml(read_text(config)).findall("sdf")
    except XML_ERRORS as error:
        raise RobotFileError(config.name, [Problem("", f"must be XML, got {error}")]) from None
    newest = max(files, key=lambda each: version_of(each), default=None)
    file = config.parent / ((newest.text or "").strip() if newest is not None else "model.sdf")
    if not file.is_file():
        raise FileAccessError("read", file, f"no such file, which {config} names")
    return file


def version_of(element: Element) -> tuple[int, ...]:
    """Version of an element `sdf`; 0 if it gives none."""
    return tuple(int(part) for part in re.findall(r"\d+", element.get("version", "0"))) or (0,)


def _mark_old_axes(root: Element) -> None:
    """Say of the axes of an old file that they are in the model's frame, as newer ones would."""
    if (0,) < version_of(root) < _AXIS_OF_MODEL:
        for joint in root.iter("joint"):
            for axis in [*joint.iterfind("axis"), *joint.iterfind("axis2")]:
                if axis.find("use_parent_model_frame") is None:
                    ElementTree.SubElement(axis, "use_parent_model_frame").text = "true"


def _rename_joints(root: Element, findings: Findings) -> None:
    """Rename joints with the name of a link, which old files have, as Gazebo does."""
    for model in root.iter("model"):
        links = {link.get("name") for link in model.iterfind("link")}
        for joint in model.iterfind("joint"):
            name = joint.get("name")
            if name and name in links:
                joint.set("name", f"{name}_joint")
                findings.add("remark", f"joint {name}", f"called {name}_joint", "a link has its name")


def _name_meshes(root: Element, folder: Path) -> None:
    for uri in _mesh_names(root):
        local = _local((uri.text or "").strip())
        found = find_mesh(local, folder) if local else None
        uri.text = local if found is None else str(found.absolute())


def _mesh_names(root: Element) -> Iterator[Element]:
    for mesh in root.iter("mesh"):
        yield from mesh.iterfind("uri")


def _local(uri: str) -> str:
    """Name by which a model or a mesh of Gazebo's server is looked for here."""
    found = _FUEL.match(uri)
    return f"model://{found[1]}{found[2] or ''}" if found else uri
