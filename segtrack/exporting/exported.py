"""Export of a vehicle: from its description to a file of another simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.exporting.formats import FIRST_LINE, FORMATS, SUFFIXES, Format
from segtrack.exporting.mesh_copies import MeshCopies
from segtrack.exporting.mjcf import mjcf_tree
from segtrack.exporting.remarks import ExportRemark, remarks_on
from segtrack.exporting.sdf import sdf_tree
from segtrack.exporting.urdf import urdf_tree
from segtrack.files import check_file, restored_on_error, write_bytes

_TREES = {"urdf": urdf_tree, "mjcf": mjcf_tree, "sdf": sdf_tree}


@dataclass(frozen=True)
class ExportedVehicle:
    """Vehicle that was exported.

    Attributes:
        file: Path of the file.
        meshes: Paths of the copies of its body's meshes, beside the file.
        remarks: Remarks on what the file says otherwise than the vehicle, or not at all.
    """

    file: Path
    meshes: tuple[Path, ...]
    remarks: tuple[ExportRemark, ...]


def export_vehicle(
    vehicle: str | Path | VehicleDescription, file_format: Format, *, out: str | Path | None = None
) -> ExportedVehicle:
    """Export a vehicle to a file of another simulator.

    Args:
        vehicle: Name of a bundled vehicle, path of a vehicle file, or description.
        file_format: `urdf`; `mjcf`, of MuJoCo; or `sdf`, of Gazebo.
        out: Path of the file (.urdf, .xml or .sdf); by default the vehicle's name, in the current folder.
            Meshes of its body are copied beside it.

    Raises:
        UnknownNameError: No such format or vehicle.
        FileAccessError: The vehicle file cannot be read, or the output not be written; nothing is left of it.
        VehicleFileError: The vehicle file has mistakes.
        InvalidValueError: The output has another suffix, or something is there that no export wrote; or a
            link that a joint moves has no mass.
    """
    if file_format not in FORMATS:
        raise UnknownNameError("format", file_format, FORMATS)
    description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
    suffix = SUFFIXES[file_format]
    file = Path(f"{description.name}{suffix}") if out is None else Path(out)
    check_file("--out", file, (suffix,))
    meshes = MeshCopies(file.stem)
    tree = _TREES[file_format](description, meshes)
    ElementTree.indent(tree)
    text = f"{FIRST_LINE}\n{ElementTree.tostring(tree, encoding='unicode')}\n"
    copies = {file.with_name(name): content for name, content in meshes.files.items()}
    _check_own(file, copies)
    with restored_on_error((file, *copies)):
        for copy, content in copies.items():
            write_bytes(copy, content)
        write_bytes(file, text.encode())
    return ExportedVehicle(file, tuple(copies), remarks_on(description, file_format, meshes))


def _check_own(file: Path, copies: Mapping[Path, bytes]) -> None:
    """Check that nothing is overwritten that no export wrote: the file by its first line.

    A copy's name says its content: one that is there already, as of another export, has that content.

    Raises:
        InvalidValueError: It is not.
    """
    own = not file.exists() or (_content(file) or b"").startswith(FIRST_LINE.encode())
    others = [] if own else [file]
    others += [copy for copy, content in copies.items() if copy.exists() and _content(copy) != content]
    if others:
        expected = "of a file that is not there yet, or that `segtrack export` wrote"
        raise InvalidValueError("--out", expected, str(others[0]))


def _content(file: Path) -> bytes | None:
    """Content of a file; None for something else."""
    return file.read_bytes() if file.is_file() else None
