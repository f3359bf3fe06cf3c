"""Command `segtrack export`: from a vehicle file to a file of another simulator."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.files import VehicleFile
from segtrack.cli.output import JsonFlag, command, path, say_written, show
from segtrack.errors import InvalidValueError, Phrase

if TYPE_CHECKING:
    from segtrack.exporting import Format


@command
def export_file(
    file: VehicleFile,
    urdf: Annotated[bool, typer.Option("--urdf", help="As a URDF.")] = False,
    mjcf: Annotated[bool, typer.Option("--mjcf", help="As MJCF, for MuJoCo.")] = False,
    sdf: Annotated[bool, typer.Option("--sdf", help="As SDF, for Gazebo, with plugins for tracks.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=path,
            help="File to write; by default the vehicle's name here, with .urdf, .xml or .sdf.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Export a vehicle to another simulator: body, flippers, joints and the outlines of its belts.

    It prints what the file says otherwise, and what it cannot say.
    """
    flags: dict[Format, bool] = {"urdf": urdf, "mjcf": mjcf, "sdf": sdf}
    chosen = [name for name, is_given in flags.items() if is_given]
    if len(chosen) != 1:
        got = Phrase(", ".join(f"--{name}" for name in chosen) or "none")
        raise InvalidValueError("format", "one of --urdf, --mjcf, --sdf", got)
    from segtrack.exporting import export_vehicle
    from segtrack.report import export_table

    exported = export_vehicle(file, chosen[0], out=out)
    say_written(exported.file, *exported.meshes)
    summary = {
        "file": str(exported.file),
        "meshes": [str(mesh) for mesh in exported.meshes],
        "remarks": [asdict(remark) for remark in exported.remarks],
    }
    show(
        export_table(exported.remarks, f"{exported.file.name}: what changes, and what is lost"),
        summary,
        as_json,
    )
