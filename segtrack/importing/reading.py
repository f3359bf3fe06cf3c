"""Reading of a robot's file to the tree of a URDF."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from segtrack.description import XML_ERRORS, expanded, read_text
from segtrack.errors import FileAccessError, InvalidValueError, Phrase, Problem, RobotFileError
from segtrack.importing.findings import Findings
from segtrack.importing.mjcf_reading import read_mjcf
from segtrack.importing.sdf_reading import read_sdf
from segtrack.importing.tolerant_xml import parse_xml
from segtrack.importing.xacro_file import expand_xacro

_OTHERS = (".sdf", ".mjcf")
"""Suffixes of files in which `$(` is no sign of xacro."""
_READ = {
    "robot": {"link", "joint", "material"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
}
"""Tags that are read, by the element that they stand in."""


def read_tree(
    path: str | Path, arguments: Mapping[str, str], scratch: Path, findings: Findings
) -> tuple[Path, Element]:
    """Read a robot's file to the tree of a URDF; its root element says what it is.

    Args:
        path: Path of the URDF, xacro, SDF or MJCF file.
        arguments: Arguments of a xacro file by name; `model` of an SDF file.
        scratch: Folder for meshes that stand in no file that a URDF could name.
        findings: List to which what is missing, or not read, is added.

    Returns:
        Path of the file, and its element `robot`.

    Raises:
        FileAccessError: The file is missing or cannot be read.
        RobotFileError: It is none of these, or has mistakes.
        MissingPackageError: A xacro or MJCF file, without the library that reads it.
        InvalidValueError: Arguments for a file that takes none.
    """
    file = expanded(path)
    if not os.path.isfile(file):
        raise FileAccessError("read", file, "is a folder" if os.path.isdir(file) else "no such file")
    text = read_text(file)
    is_xacro = file.suffix == ".xacro" or "<xacro:" in text
    if not is_xacro and file.suffix not in _OTHERS:
        is_xacro = "$(" in text
    if is_xacro:
        text, arguments = expand_xacro(file, arguments, findings), {}
    try:
        tree = parse_xml(text)
    except XML_ERRORS as error:
        raise RobotFileError(file.name, [Problem("", f"must be XML, got {error}")]) from None
    if tree.tag == "sdf":
        return file, read_sdf(file, tree, arguments, findings)
    if arguments:
        what = "left out of a file that is not xacro or SDF"
        raise InvalidValueError("--arg", what, Phrase(", ".join(arguments)))
    if tree.tag == "mujoco" and not is_xacro:
        return file, read_mjcf(file, scratch, findings)
    if tree.tag != "robot":
        expected = "the root element <robot>, <sdf> or <mujoco>"
        message = f"must be a URDF, xacro, SDF or MJCF file, with {expected}, got <{tree.tag}>"
        raise RobotFileError(file.name, [Problem("", message)])
    _remark_unread(tree, findings)
    return file, tree


def _remark_unread(tree: Element, findings: Findings) -> None:
    """Add a remark on each kind of tag that is not read, once, with its number."""
    for (owner, tag), count in Counter(_unread(tree)).items():
        times = "" if count == 1 else f", {count} times"
        findings.add("remark", f"<{tag}> in <{owner}>{times}", "kept, not read", "nothing of a vehicle file")


def _unread(tree: Element) -> Iterator[tuple[str, str]]:
    owners = [("robot", tree), *((tag, each) for tag in ("link", "joint") for each in tree.iterfind(tag))]
    for tag, owner in owners:
        yield from ((tag, str(child.tag)) for child in owner if child.tag not in _READ[tag])
