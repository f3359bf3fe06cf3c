"""Command `segtrack import`: from somebody's robot to a vehicle file that drives."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.output import JsonFlag, command, path, say_written, show, words
from segtrack.errors import InvalidValueError, SegtrackError
from segtrack.files import write_figure

if TYPE_CHECKING:
    from segtrack.importing import Question


@command
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            parser=path, help="URDF, xacro, SDF or MJCF (.xml) file of the robot.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", parser=path, help="Vehicle file to write; by default NAME.yaml here.", show_default=False
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="name=value, as friction=0.7, in SI units; a name that is none lists all; may be repeated.",
            show_default=False,
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            help="name:=value of a xacro file; model:=NAME of an SDF file of several; may be repeated.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take what is proposed, without questions.")] = False,
    tracks_around_wheels: Annotated[
        bool, typer.Option("--tracks-around-wheels", help="Put belts around two wheels on a side.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make a vehicle file of a robot's URDF, xacro, SDF or MJCF file: find tracks, ask for guesses, drive it.

    It writes the vehicle file, a URDF for its body and a picture, and prints what it found, guessed and
    missed, with a trial drive: 0.5 m straight on and a turn on flat ground. It ends with exit code 2 where it
    finds no tracks.
    """
    from segtrack.description import vehicle_links
    from segtrack.importing import drive_trial, import_robot

    asks = sys.stdin.isatty() and not yes and not as_json
    imported = import_robot(
        file,
        out=out,
        arguments=_pairs("--arg", arguments or (), ":="),
        settings=_pairs("--set", settings or (), "="),
        tracks_around_wheels=tracks_around_wheels,
        ask=_ask if asks else None,
    )
    from segtrack.report import draw_vehicle, findings_table, trial_table

    vehicle = imported.description
    picture = imported.picture_file
    write_figure(picture, draw_vehicle(vehicle, vehicle_links(vehicle).mass))
    say_written(imported.vehicle_file, imported.urdf_file, picture)
    try:
        trial = drive_trial(vehicle)
    except SegtrackError:
        if not as_json:  # What was found says why it does not drive.
            show([findings_table(imported.findings, vehicle.name)], {}, as_json)
        raise
    findings = [*imported.findings, *trial.remarks()]
    tables = [findings_table(findings, vehicle.name), trial_table(trial, vehicle.name)]
    summary = {
        "vehicle_file": str(imported.vehicle_file),
        "urdf_file": str(imported.urdf_file),
        "picture": str(picture),
        "findings": [asdict(finding) for finding in findings],
        "trial": asdict(trial),
    }
    show(tables, summary, as_json)


def _pairs(option: str, given: Sequence[str], sign: str) -> dict[str, str]:
    """Values by name, of texts such as `friction=0.7`."""
    pairs = {}
    for text in given:
        name, found, value = text.partition(sign)
        if not found or not name:
            raise InvalidValueError(option, f"name{sign}value", text)
        pairs[name.strip()] = value.strip()
    return pairs


def _ask(question: Question) -> float:
    """Number that the user types, or the proposal on Enter."""
    words().print(f"{question.name} [{question.unit}]: {question.source}", markup=False, highlight=False)
    while True:
        try:
            typed = float(typer.prompt(f"  {question.name}", default=question.proposal, type=float, err=True))
        except typer.Abort:  # Ctrl-C, as in all other commands.
            raise KeyboardInterrupt from None
        if typed > 0 and math.isfinite(typed):
            return typed
        words().print("a number above 0, please", markup=False, highlight=False)
