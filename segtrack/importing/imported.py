"""Import of a robot: from its file to a vehicle file beside its URDF."""

from __future__ import annotations

import dataclasses
import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from segtrack.description import VehicleDescription, load_vehicle, low_shapes
from segtrack.errors import Problem, RobotFileError, VehicleFileError
from segtrack.files import restored_on_error, write_text
from segtrack.importing.carriers import find_carriers
from segtrack.importing.direction import forward_of, rooted
from segtrack.importing.finding import FoundTrack, count_axles, find_axle, find_tracks, is_on_both_sides
from segtrack.importing.findings import Findings, ImportFinding
from segtrack.importing.hints import read_hints
from segtrack.importing.import_files import ImportFiles
from segtrack.importing.plan import VehiclePlan
from segtrack.importing.planner import Planner
from segtrack.importing.reading import read_tree
from segtrack.importing.repairs import repair
from segtrack.importing.robot import MOVING, UrdfRobot
from segtrack.importing.settings import Ask, Settings
from segtrack.importing.vehicle_text import urdf_text, vehicle_text

_LEFT = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class ImportedRobot:
    """Robot that was imported.

    Attributes:
        description: Vehicle of the file that was written.
        vehicle_file: Path of the vehicle file.
        urdf_file: Path of the URDF of its body.
        picture_file: Path of a picture of it, which `segtrack import` draws.
        findings: Findings: sure, guessed and missing.
    """

    description: VehicleDescription
    vehicle_file: Path
    urdf_file: Path
    picture_file: Path
    findings: tuple[ImportFinding, ...]


def import_robot(
    path: str | Path,
    *,
    out: str | Path | None = None,
    arguments: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    tracks_around_wheels: bool = False,
    ask: Ask | None = None,
) -> ImportedRobot:
    """Import a robot: find its tracks, and write a vehicle file and a URDF for its body.

    Args:
        path: Path of a URDF, xacro, SDF or MJCF file; the root element says which it is.
        out: Path of the vehicle file (.yaml); by default the robot's name, in the current folder. The URDF of
            its body is written beside it, as NAME_body.urdf.
        arguments: Arguments of a xacro file by name; of an SDF file `model`, the name of one of several.
        settings: Numbers that the user sets, by name: friction, max_speed [m/s], max_force [N],
            grouser_height [m], grouser_pitch [m], belt_mass [kg], belt_thickness [m], mass [kg]; and
            forward: x, -x, y or -y.
        tracks_around_wheels: True to make tracks around two wheels on a side.
        ask: Function that answers questions; proposals are taken without one.

    Raises:
        FileAccessError: A file that is missing, or cannot be read or written; nothing is left of what was.
        RobotFileError: Mistakes in the file, no tracks in it, or no mass.
        MissingPackageError: A xacro file without the library `xacro`, an MJCF file without `mujoco`.
        UnknownNameError: A setting that there is not.
        InvalidValueError: A setting that cannot be.
    """
    findings, files = Findings(), None if out is None else ImportFiles.of(Path(out))
    if files is not None:
        files.check(Path(path))
    chosen = Settings(settings or {}, ask, findings)
    try:
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            file, tree = read_tree(path, arguments or {}, scratch, findings)
            return _imported(file, tree, scratch, files, chosen, tracks_around_wheels, findings)
    except RobotFileError as error:
        missing = [f"missing: {f.what}: {f.value} ({f.source})" for f in findings if f.certainty == "missing"]
        problems = [*error.problems, *(Problem("", each) for each in missing)]
        raise RobotFileError(error.file, problems) from None


def _imported(
    file: Path,
    tree: Element,
    scratch: Path,
    files: ImportFiles | None,
    settings: Settings,
    around_wheels: bool,
    findings: Findings,
) -> ImportedRobot:
    """Robot of a URDF tree, with meshes in a folder of its own, imported to a vehicle file."""
    repair(file, tree, findings)
    name = _plain_name(tree.get("name") or "", file.stem.partition(".")[0])
    robot = _with_mass(
        UrdfRobot(name, tree, file.parent, read_hints(tree, findings)), file, settings, findings
    )
    if files is None:
        files = ImportFiles.of(Path(f"{name}.yaml"))
        files.check(file)
    robot, tracks = _tracks_ahead(robot, file, settings, around_wheels, findings)
    plan = Planner(robot, find_carriers(robot, tracks, findings), settings, findings).plan()
    _remark_still_joints(robot, plan, findings)
    _compare_separation(robot, tracks, findings)
    with restored_on_error(files), files.with_meshes(robot.tree, scratch):
        write_text(files.urdf, urdf_text(robot, plan, files.vehicle.parent, findings))
        description = _written(robot, plan, files, file.name, findings)
    return ImportedRobot(description, *files, tuple(findings))


def _plain_name(*names: str) -> str:
    """First of the names that has letters or digits, of these alone; it begins with a letter."""
    plain = [re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") for name in names]
    found = next(filter(None, plain), "robot")
    return found if found[0].isalpha() else f"robot_{found}"


def _with_mass(robot: UrdfRobot, file: Path, settings: Settings, findings: Findings) -> UrdfRobot:
    """Robot whose links weigh as much as the user says, or as the file does."""
    given, mass = settings.given("mass"), robot.mass
    if mass <= 0:
        message = "must give its links a mass (<inertial>), got none: all simulation needs one"
        raise RobotFileError(file.name, [Problem("", message)])
    if given is not None:
        for link in robot.tree.iterfind("link"):
            for element in (*link.iterfind("inertial/mass"), *link.iterfind("inertial/inertia")):
                for key, value in element.items():
                    element.set(key, repr(float(value) * given / mass))
        findings.add("given", "mass", f"{given:.4g} kg", f"all links' times {given / mass:.4g}")
        return UrdfRobot(robot.name, robot.tree, robot.folder, robot.hints)
    findings.add(
        "sure",
        "mass",
        f"{mass:.4g} kg",
        f"{sum(robot.mass_properties(n).mass > 0 for n in robot.links)} links",
    )
    return robot


def _tracks_ahead(
    robot: UrdfRobot, file: Path, settings: Settings, around_wheels: bool, findings: Findings
) -> tuple[UrdfRobot, tuple[FoundTrack, ...]]:
    """Robot whose x is forward, and its tracks.

    Raises:
        RobotFileError: No tracks are found on both sides.
    """
    axle = find_axle(robot)
    if axle is None:
        message = (
            "must have tracks: wheels with level axles, links named track, belt, crawler or flipper, "
            "links of a box and two cylinders, or a plugin that names them; got none"
        )
        raise RobotFileError(file.name, [Problem("", message)])
    tracks = find_tracks(robot, axle, around_wheels, Findings())
    if not is_on_both_sides(tracks):
        left, right = count_axles(robot, axle)
        found = ", ".join(f"{track.source} at {track.side:.3g} m" for track in tracks) or "no track"
        message = f"must have tracks on both sides, got {found}; {left} and {right} wheels are on its sides"
        if min(left, right) >= 2 and not around_wheels:
            message += ": --tracks-around-wheels puts a belt around those of each side"
        raise RobotFileError(file.name, [Problem("", message)])
    forward = forward_of(robot, tracks, axle, settings.forward, findings)
    robot = rooted(robot, forward, lambda each: find_tracks(each, _LEFT, around_wheels, Findings()), findings)
    tracks = find_tracks(robot, _LEFT, around_wheels, findings)
    middle = _middle(tracks)
    for track in tracks:
        others = [other.side for other in tracks if other is not track]
        if not any(math.isclose(side - middle, middle - track.side, abs_tol=0.05) for side in others):
            why = f"at y = {track.side:.3g} m; call it otherwise, or take it away, if it is no track"
            findings.add(
                "remark", f"track of {', '.join(track.links)}", "has no partner on the other side", why
            )
    return robot, tracks


def _middle(tracks: tuple[FoundTrack, ...]) -> float:
    return (min(track.side for track in tracks) + max(track.side for track in tracks)) / 2


def _remark_still_joints(robot: UrdfRobot, plan: VehiclePlan, findings: Findings) -> None:
    """Add a remark on the joints that stand at 0."""
    moved = (
        {joint.joint.name for joint in plan.joints}
        | {
            str(joint.get("name"))
            for joint in robot.tree.iterfind("joint")
            if joint.find("mimic") is not None
        }
        | {joint.name for joint in plan.differential or ()}
    )
    gone = {link for flipper in plan.flippers for link in flipper.found.links} | set(plan.without_contact)
    still = [
        joint.name for link, joint in robot.joint_of.items()
        if joint.kind in MOVING and link not in gone and joint.name not in moved
    ]  # fmt: skip
    if still:
        findings.add(
            "remark", "joints that stand at 0", ", ".join(still), "name them under `joints:` to move them"
        )


def _compare_separation(robot: UrdfRobot, tracks: tuple[FoundTrack, ...], findings: Findings) -> None:
    """Add a remark if a plugin's distance between the tracks is not that of the tracks found."""
    said = robot.hints.separation
    sides = [abs(track.side - _middle(tracks)) for track in tracks]
    if said is not None and min(abs(said - 2 * side) for side in sides) > 0.05 * said:
        found = ", ".join(sorted({f"{2 * side:.3g}" for side in sides}))
        findings.add(
            "remark",
            "separation",
            f"{said:g} m in a plugin, {found} m between the tracks found",
            "the tracks' places count",
        )


def _written(
    robot: UrdfRobot, plan: VehiclePlan, files: ImportFiles, source: str, findings: Findings
) -> VehicleDescription:
    """Vehicle of the file that is written, with shapes that reach as low as the belts out of contact."""
    while True:
        remarks = [
            f"{f.certainty}: {f.what}: {f.value} ({f.source})"
            for f in findings
            if f.certainty in ("missing", "remark")
        ]
        write_text(files.vehicle, vehicle_text(robot, plan, files.urdf.name, source, remarks))
        try:
            description = load_vehicle(files.vehicle.absolute())
        except VehicleFileError as error:
            raise RobotFileError(source, error.problems) from None
        low = [shape for shape in low_shapes(description) if shape.link not in plan.without_contact]
        if not low:
            break
        for shape in low:
            findings.add(
                "remark", f"link {shape.link}", "left out of contact", f"{shape}, and would carry the robot"
            )
        names = (*plan.without_contact, *dict.fromkeys(shape.link for shape in low))
        plan = dataclasses.replace(plan, without_contact=names)
    off = description.mass - robot.mass
    assert math.isclose(off, 0.0, abs_tol=1e-9 * max(1.0, robot.mass)), off
    return description
