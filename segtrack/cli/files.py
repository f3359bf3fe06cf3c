"""Commands on files: `segtrack vehicles`, `validate`, `schema`, `urdf`, `draw` and `courses`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import segtrack.courses as course_files
from segtrack import description
from segtrack.cli.output import JsonFlag, command, path, say_written, show, words
from segtrack.engine import track_model_names
from segtrack.errors import SegtrackError
from segtrack.files import check_file, check_writable, picture_suffixes, write_figure, write_text

PictureFile = Annotated[
    Path | None, typer.Option("--out", parser=path, help="Picture to write.", show_default=False)
]
CourseName = Annotated[str, typer.Argument(help="Name of a bundled course, or path of a course file.")]

courses = typer.Typer(help="List, check and draw courses for trials.", invoke_without_command=True)


@courses.callback()
def _list(context: typer.Context, as_json: JsonFlag = False) -> None:
    """List the bundled courses; its commands check and draw course files."""
    if context.invoked_subcommand is not None:
        return
    from segtrack.report import courses_table

    found = {name: course_files.load_course(name) for name in course_files.bundled_courses()}
    summary = {
        name: {
            "file": str(course_files.find_course(name)),
            "title": course.title,
            "description": course.description,
            "kind": course.kind,
            "lane_width": course.lane_width,
            "vehicle": course.vehicle,
            "distance": course.distance,
            "setting": None if course.setting is None else _setting(course.setting),
        }
        for name, course in found.items()
    }
    show(courses_table(found), {"courses": summary}, as_json)


def _setting(setting: course_files.Setting) -> dict[str, Any]:
    named = {"name": setting.name, "unit": setting.unit}
    return {**named, "values": list(setting.values), "start": setting.value}


@courses.command("validate")
@command
def validate_course(file: CourseName) -> None:
    """Check a course file; every mistake is listed with its line."""
    course = course_files.load_course(file)
    values = "no setting" if course.setting is None else f"{len(course.setting.values)} settings"
    pieces = f"{len(course.gates)} gates, {len(course.walls)} walls"
    words().print(f"{course.name}: valid, {values}, {pieces}", highlight=False)


@courses.command("schema")
@command
def schema_course() -> None:
    """Print the JSON Schema of course files."""
    typer.echo(json.dumps(course_files.CourseFile.model_json_schema(), indent=2))


@courses.command("draw")
@command
def draw_course(
    file: CourseName,
    setting: Annotated[
        float | None,
        typer.Option(help="Value of what can be raised; the file's own if not given.", show_default=False),
    ] = None,
    out: PictureFile = None,
) -> None:
    """Draw a course from above and along its path: heights, walls, start and gates."""
    from segtrack.report import draw_course

    course = course_files.load_course(file, setting)
    picture = out if out is not None else Path("out") / f"{course.name}.png"
    check_file("--out", picture, picture_suffixes())
    say_written(write_figure(picture, draw_course(course)))


_RAISED = 1.0
"""Angle of raised flippers for which `validate` reckons [rad]."""
_OTHER = {"left": {"right"}, "right": {"left"}}
_GIANT = 20.0
"""Reach of a vehicle over the perimeter of its longest belt beyond which a mesh is likely in mm [-]."""
VehicleFile = Annotated[str, typer.Argument(help="Name of a bundled vehicle, or path of a vehicle file.")]


@command
def vehicles(as_json: JsonFlag = False) -> None:
    """List the bundled vehicles."""
    from segtrack.report import vehicles_table

    found = {name: description.load_vehicle(path) for name, path in description.bundled_vehicles().items()}
    summary = {
        name: {
            "file": str(description.bundled_vehicles()[name]),
            "tracks": [track.name for track in vehicle.mounted_tracks()],
            "flippers": list(vehicle.flippers),
            "source": vehicle.source,
        }
        for name, vehicle in found.items()
    }
    show(vehicles_table(found), {"vehicles": summary}, as_json)


@command
def validate(file: VehicleFile) -> None:
    """Check a vehicle file; every mistake is listed, and what segments or chains cannot build or bear.

    It names shapes of the body that reach the ground beside the belts, with the share of the weight that
    belts get, and vehicles that cannot steer.

    It ends with exit code 2 where the file describes chains that cannot be built.
    """
    from segtrack.description.chain import check_chains

    vehicle = description.load_vehicle(file)
    tracks = len(list(vehicle.mounted_tracks()))
    flippers = len(vehicle.flippers)
    words().print(f"{vehicle.name}: valid, {tracks} tracks, {flippers} flippers", highlight=False)
    for remarks in (_likely_mistakes, _shapes_beside_belts, _sides, _efficiency):
        for remark in remarks(vehicle):
            words().print(f"{vehicle.name}: {remark}", highlight=False)
    for problem in description.segments_problems(vehicle):
        words().print(f"{vehicle.name}: not for track model segments: {problem}", highlight=False)
    chains = check_chains(vehicle)
    for reason in chains.problems:
        words().print(f"{vehicle.name}: not for track model chain: {reason}", highlight=False)
    for remark in chains.remarks:
        words().print(f"{vehicle.name}: {remark}", highlight=False)
    if chains.problems and vehicle.describes_chains:
        raise typer.Exit(2)


def _likely_mistakes(vehicle: description.VehicleDescription) -> Iterator[str]:
    """Yield remarks on valid values that are hardly meant."""
    for track in vehicle.mounted_tracks():
        if track.side != "center" and {"left", "right"} & set(track.name.split("_")) == _OTHER[track.side]:
            yield f"track {track.name} lies on the {track.side}, at y = {track.y:g} m: +y is the left"
    reach = description.farthest_reach(vehicle)
    belt = max(track.spec.belt_path.perimeter for track in vehicle.mounted_tracks())
    if reach > _GIANT * belt:
        yield (
            f"its body's shapes reach {reach:.3g} m from its centre of mass, its belts are at most "
            f'{belt:.3g} m around: a mesh in mm has scale="0.001 0.001 0.001"'
        )


def _efficiency(vehicle: description.VehicleDescription) -> Iterator[str]:
    """Yield remarks on a file's steering efficiency far from the computed one, flippers flat and up."""
    given = vehicle.steering_efficiency
    if given is None:
        return
    poses, steering = {"": 0.0}, description.SteeringByLoads(vehicle)
    if vehicle.flippers:
        poses = {", flippers flat": 0.0, f", flippers at {_RAISED:g} rad": _RAISED}
    for pose, angle in poses.items():
        reckoned = steering.reckon(dict.fromkeys(vehicle.flippers, angle))
        off = f"steering_efficiency {given:g} is {given / reckoned - 1:+.0%} off {reckoned:.3f}"
        yield f"{off}, reckoned from its loads{pose}"


def _shapes_beside_belts(vehicle: description.VehicleDescription) -> Iterator[str]:
    """Yield remarks on collision shapes that carry weight beside the belts."""
    low = () if vehicle.body.fixed else description.low_shapes(vehicle)
    if not low:
        return
    from segtrack.experiments import belt_share

    yield from map(str, low)
    way = "name links whose shapes stand for tracks in body.without_contact"
    try:
        share = belt_share(vehicle)
    except SegtrackError as error:
        yield f"these shapes carry it beside its belts ({way}); by how much is not known: {error}"
    else:
        yield f"belts carry {share:.0%} of the weight at rest on flat ground, these shapes the rest; {way}"


def _sides(vehicle: description.VehicleDescription) -> Iterator[str]:
    """Yield a remark on a vehicle without belts on two sides."""
    if not vehicle.body.fixed and vehicle.track_offsets is None:
        sides = ", ".join(f"{track.name} {track.side}" for track in vehicle.mounted_tracks())
        yield f"cannot steer by its belts, which are not on both sides of y = 0: {sides}"


@command
def schema() -> None:
    """Print the JSON Schema of vehicle files."""
    typer.echo(json.dumps(description.VehicleDescription.model_json_schema(), indent=2))


@command
def urdf(
    file: VehicleFile,
    track_model: Annotated[
        str, typer.Option(help=f"{', '.join(track_model_names('pybullet'))}.")
    ] = "segments",
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=path, help="Folder for URDF and meshes instead.", show_default=False),
    ] = None,
) -> None:
    """Print what PyBullet loads; with --out write it, with the meshes that it names."""
    from segtrack.bullet import vehicle_urdf

    vehicle = description.load_vehicle(file)
    model = vehicle_urdf(vehicle, track_model)
    if out is None:
        typer.echo(model.text, nl=False)
        return
    check_writable(out)
    files = {**model.meshes, f"{vehicle.name}.urdf": model.text}
    say_written(*(write_text(out / name, text) for name, text in files.items()))


@command
def draw(file: VehicleFile, out: PictureFile = None) -> None:
    """Draw a vehicle from the side and from above: segments, grousers, seams and dimensions."""
    from segtrack.report import draw_vehicle

    vehicle = description.load_vehicle(file)
    picture = out if out is not None else Path("out") / f"{vehicle.name}.png"
    check_file("--out", picture, picture_suffixes())
    say_written(write_figure(picture, draw_vehicle(vehicle, description.vehicle_links(vehicle).mass)))
