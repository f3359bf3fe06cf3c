"""Lookup of a URDF's mesh files, by the rules of ROS, Gazebo and PyBullet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import url2pathname
from xml.etree import ElementTree

from segtrack.description.base import XML_ERRORS, shown

_PATHS = {
    "package": ("ROS_PACKAGE_PATH",),
    "model": ("GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH"),
}
"""Environment variables with folders of packages or models, by a name's scheme."""
_PREFIXES = "AMENT_PREFIX_PATH"
"""Environment variable with ROS 2's folders of installed packages, below `share`."""


def find_mesh(name: str, folder: Path) -> Path | None:
    """Path of a mesh file; None if it is in none of the places that `mesh_places` lists.

    Args:
        name: `file://` and a path; `package://` or `model://` and a path that begins with the name of the
            package or model; or a path.
        folder: Folder of the URDF.
    """
    # A path's own `is_file` raises on a name that is too long for the system.
    return next((file for file in _candidates(name.strip(), folder) if os.path.isfile(file)), None)


def mesh_file(name: str, folder: Path) -> Path:
    """Path of a mesh file; where it is missing, its place below the URDF's folder."""
    return find_mesh(name, folder) or folder / name.strip().rpartition("://")[2]


def mesh_places(name: str, folder: Path) -> str:
    """Places where a mesh is looked for, in words for a message."""
    scheme, _, rest = name.rpartition("://")
    if scheme == "file":
        return f"looked for {_local(name)}"
    places = f"looked in {shown(folder)} and the folders above"
    if scheme not in _PATHS:
        return places
    wanted, variables = f"a folder {rest.partition('/')[0]}", ", ".join(_PATHS[scheme])
    if scheme == "package":
        wanted, variables = f"{wanted} or a package.xml of that name", f"{variables} and {_PREFIXES}"
    return f"{places} for {wanted}, and in {variables}"


def _candidates(name: str, folder: Path) -> Iterator[Path]:
    """Possible paths of a mesh, the nearest to the URDF first."""
    scheme, _, rest = name.rpartition("://")
    if scheme == "file":
        yield _local(name)
        return
    above = [folder, *folder.absolute().parents]
    yield from (place / rest for place in above)  # As PyBullet.
    package, _, inside = rest.partition("/")
    if scheme == "package":
        yield from (place / inside for place in above if _package_of(place) == package)
    for place in (place for variable in _PATHS.get(scheme, ()) for place in _listed(variable)):
        yield place / rest
        if scheme == "package":
            # ROS crawls the folders below.
            packages = [place, *(found.parent for found in sorted(place.glob("*/package.xml")))]
            yield from (found / inside for found in packages if _package_of(found) == package)
    if scheme == "package":
        yield from (place / "share" / rest for place in _listed(_PREFIXES))


def _local(name: str) -> Path:
    """Path of a `file://` name without its host; `urlsplit` would take brackets, `?` and `#` for syntax."""
    _, _, path = name.removeprefix("file://").partition("/")
    return Path(url2pathname(f"/{path}"))


def _listed(variable: str) -> list[Path]:
    return [Path(place) for place in os.environ.get(variable, "").split(os.pathsep) if place]


def _package_of(folder: Path) -> str | None:
    """Package name in the folder's package.xml; None without a readable one."""
    try:
        return (ElementTree.parse(folder / "package.xml").findtext("name") or "").strip() or None
    except (OSError, *XML_ERRORS):
        return None
