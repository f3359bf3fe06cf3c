"""Expansion of a xacro file by the library `xacro`, without ROS."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from segtrack.description import XML_ERRORS, mesh_file
from segtrack.errors import MissingPackageError, Problem, RobotFileError
from segtrack.importing.findings import Findings

_MOST_FILES = 500
"""Number of a package's files, at most, in which macros are looked for."""
_XACRO = "{http://www.ros.org/wiki/xacro}"
_OWN_TAGS = {
    "include",
    "arg",
    "property",
    "macro",
    "if",
    "unless",
    "insert_block",
    "call",
    "element",
    "attribute",
}


def expand_xacro(file: Path, arguments: Mapping[str, str], findings: Findings) -> str:
    """Expand a xacro file to the text of a URDF.

    Packages of `$(find ...)` are looked for as meshes of `package://` are: in the file's folder and those
    above, then in `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`. What files of a missing package would add,
    sensors mostly, is left out with a remark.

    Args:
        file: Path of the xacro file.
        arguments: Values of its arguments by name.
        findings: List to which missing packages are added.

    Raises:
        MissingPackageError: The library is not installed.
        RobotFileError: The file, a file that it includes, an argument or an environment variable is missing,
            or cannot be read.
    """
    if find_spec("xacro") is None:
        raise MissingPackageError("a xacro file", "xacro", "import")
    import xacro

    with tempfile.TemporaryDirectory() as folder:
        stand_ins = Path(folder).resolve()

        def find_package(package: str) -> str:
            found = _package_folder(package, file.parent)
            if found is None:
                found = stand_ins / package
                if not found.is_dir():
                    macros = _write_stand_ins(package, file.parent, found)
                    what = f"left out, with its macros {', '.join(macros)}" if macros else "left out"
                    place = f"looked in {file.parent} and above, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH"
                    findings.add("missing", f"package {package} of $(find {package})", what, place)
            return str(found.absolute())

        try:
            with _index_of_packages(find_package), contextlib.redirect_stderr(io.StringIO()):
                document = xacro.process_file(str(file), mappings=dict(arguments))
            return str(document.toprettyxml(indent="  ")).replace(f"{stand_ins}/", "package://")
        except (
            Exception
        ) as error:  # xacro evaluates the file's own Python expressions, which fail as they like.
            raise RobotFileError(file.name, [Problem("", f"xacro: {_reason(error)}")]) from None


def _reason(error: Exception) -> str:
    """Reason of xacro's error in a line."""
    reason = " ".join(str(error).split()) or type(error).__name__
    reason = re.sub(r"<class '([A-Za-z_.]*\.)?(\w+)'>", r"\2", reason)
    if "ndefined substitution argument" in reason:
        reason += "; give it as --arg NAME:=VALUE"
    return reason


def _package_folder(package: str, folder: Path) -> Path | None:
    """Folder of a ROS package; None if it is not found."""
    manifest = mesh_file(f"package://{package}/package.xml", folder)
    if manifest.is_file():
        return manifest.parent
    above = [place / package for place in (folder, *folder.absolute().parents)]
    return next((place for place in above if place.is_dir()), None)


@contextlib.contextmanager
def _index_of_packages(find_package: Callable[[str], str]) -> Iterator[None]:
    """Context in which xacro's `$(find ...)` asks a function, and not ROS 2's index of packages."""
    index, packages = ModuleType("ament_index_python"), ModuleType("ament_index_python.packages")
    packages.get_package_share_directory = find_package  # type: ignore[attr-defined]
    modules = {module.__name__: module for module in (index, packages)}
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _write_stand_ins(package: str, folder: Path, target: Path) -> list[str]:
    """Write empty files for those included from a missing package; return the macros they stand in for.

    The first of them defines each macro that is called in the package of `folder` and defined nowhere there,
    with the parameters of its calls and without content.
    """
    top = next((place for place in (folder, *folder.parents) if (place / "package.xml").is_file()), folder)
    beside = [found.parent for found in sorted(top.parent.glob("*/package.xml"))] if top != folder else []
    kinds = ("*.xacro*", "*.urdf", "*.gazebo")
    places = dict.fromkeys([top, *beside])
    files = [file for place in places for kind in kinds for file in sorted(place.rglob(kind))][:_MOST_FILES]
    included, calls, defined = list[str](), dict[str, list[Element]](), set[str]()
    for file in files:
        try:
            elements = list(ElementTree.parse(file).iter())
        except (OSError, *XML_ERRORS):
            continue
        for element in elements:
            tag = str(element.tag)
            if tag == f"{_XACRO}include":
                _, found, path = element.get("filename", "").partition(f"$(find {package})/")
                included += [path] if found else []
            elif tag == f"{_XACRO}macro":
                defined.add(element.get("name", "").removeprefix("xacro:"))
            elif tag.startswith(_XACRO) and tag.removeprefix(_XACRO) not in _OWN_TAGS:
                calls.setdefault(tag.removeprefix(_XACRO), []).append(element)
    target.mkdir(parents=True)
    macros = [name for name in calls if name not in defined]
    for i, path in enumerate(dict.fromkeys(included)):
        robot = ElementTree.Element("robot", {"xmlns:xacro": _XACRO.strip("{}")})
        for name in macros if i == 0 else ():
            keys = dict.fromkeys(key for call in calls[name] for key in call.attrib)
            blocks = max(len(call) for call in calls[name])
            parameters = " ".join([*(f"{key}:=''" for key in keys), *(f"*block_{k}" for k in range(blocks))])
            ElementTree.SubElement(robot, "xacro:macro", name=name, params=parameters)
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(ElementTree.tostring(robot, encoding="unicode"), encoding="utf-8")
    return macros
