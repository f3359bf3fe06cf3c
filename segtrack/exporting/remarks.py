"""Remarks on what a format keeps in another form, and what it cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from segtrack.description import TrackSpec, VehicleDescription
from segtrack.exporting.belt_shapes import belt_height
from segtrack.exporting.extensions import count_extensions, drop_extensions
from segtrack.exporting.formats import Format
from segtrack.exporting.mesh_copies import MeshCopies

_NAMED = 6
"""Most joints or files that are named one by one."""

Fate = Literal["changed", "lost"]


@dataclass(frozen=True)
class ExportRemark:
    """One thing of a vehicle that its exported file says otherwise, or not at all.

    Attributes:
        fate: `changed` if it is there in another form, `lost` if not.
        what: Part of the vehicle, e.g. `grousers`.
        value: Value of the vehicle, or what it has in words.
        instead: Form in which the file has it, or what is there in its place.
    """

    fate: Fate
    what: str
    value: str
    instead: str


def remarks_on(
    vehicle: VehicleDescription, file_format: Format, meshes: MeshCopies
) -> tuple[ExportRemark, ...]:
    """List what a format changes and loses of a vehicle, each once.

    Args:
        vehicle: Vehicle.
        file_format: Format of the file.
        meshes: Copies of its body's meshes, after they are made.
    """
    specs = tuple(track.spec for track in vehicle.mounted_tracks())
    urdf = vehicle.body.urdf
    robot = Element("robot") if urdf is None else ElementTree.parse(urdf).getroot()
    found = [
        *_shapes(specs),
        *_contacts(vehicle, file_format),
        *_drives(specs, file_format),
        *_flippers(vehicle, file_format),
        *_joints(vehicle, file_format, robot),
        *_looks(robot, meshes),
        *_extensions(vehicle, file_format, robot),
        *_rest(vehicle, file_format),
    ]
    return tuple(sorted(found, key=lambda remark: remark.fate))


def _listed(numbers: Iterator[float], unit: str) -> str:
    """Different numbers, each once, with their unit."""
    texts = dict.fromkeys(f"{number:.4g}" for number in numbers)
    return f"{', '.join(texts)} {unit}".strip()


def _named(names: Iterable[str]) -> str:
    """Names, each once; the first and their number where there are many."""
    each = list(dict.fromkeys(names))
    return ", ".join(each) if len(each) <= _NAMED else f"{len(each)}: {each[0]} ..."


def _shapes(specs: tuple[TrackSpec, ...]) -> Iterator[ExportRemark]:
    treads = [spec for spec in specs if spec.grousers is not None]
    if treads:
        counts = ", ".join(dict.fromkeys(str(spec.grousers.count) for spec in treads if spec.grousers))
        heights = _listed(map(belt_height, treads), "m")
        back = f"`segtrack import --set grouser_height={belt_height(treads[0]):g}` takes them off again"
        instead = f"an outline through their tips, smooth; {back}"
        yield ExportRemark("changed", "grousers", f"{counts} a belt, {heights} high", instead)
    if any(arc.turn < 0 for spec in specs for arc in spec.belt_path.segments):
        instead = "their convex outlines"
        yield ExportRemark("changed", "belts that bend inwards", "as their paths say", instead)
    thick = _listed((spec.belt.thickness for spec in specs), "m thick")
    masses = _listed((spec.belt.mass for spec in specs), "kg")
    running = "a body that does not run: no inertia of its travel, no angular momentum"
    yield ExportRemark("changed", "belts", f"{masses}, {thick}", running)
    if any(spec.omit_segments for spec in specs):
        yield ExportRemark("lost", "omit_segments", "parts of belts that nothing touches", "whole outlines")


def _contacts(vehicle: VehicleDescription, file_format: Format) -> Iterator[ExportRemark]:
    specs = tuple(track.spec for track in vehicle.mounted_tracks())
    friction = _listed((spec.contact.friction for spec in specs), "")
    if file_format == "urdf":
        note = "in <gazebo> alone: other programs have a friction of their own"
        yield ExportRemark("changed", "friction", friction, note)
    if file_format == "mjcf":
        yield ExportRemark("changed", "friction", friction, "that of the pair, whatever the ground's")
        across = [s.contact for s in specs if s.contact.lateral_friction is not None]
        if across:
            numbers = _listed((contact.lateral_friction or 0.0 for contact in across), "")
            yield ExportRemark("lost", "lateral friction", numbers, "that along the belt")
        if vehicle.track_offsets is not None and not vehicle.body.fixed:
            note = "0.5 to 0.7 of the yaw rate that friction gives: few points touch the ground"
            yield ExportRemark("changed", "turning", "friction under the whole belt", note)
    if any(spec.contact.stiffness is not None or spec.contact.restitution > 0 for spec in specs):
        yield ExportRemark("lost", "contact", "stiffness, damping, restitution", "the program's contacts")
    yield ExportRemark("lost", "soil", "sinkage and shear of belts on it", "rigid ground")


def _drives(specs: tuple[TrackSpec, ...], file_format: Format) -> Iterator[ExportRemark]:
    drives = [spec.drive for spec in specs]
    forces = _listed((drive.stall_force for drive in drives), "N at most")
    tables = any(drive.torque_table or drive.sprocket for drive in drives)
    forces += ", less with speed" if tables else ""
    yield ExportRemark("lost", "drive force", forces, "a belt that keeps its speed under any load")
    speeds = _listed((drive.top_speed for drive in drives), "m/s")
    if file_format == "urdf":
        yield ExportRemark("changed", "belt speed", speeds, "in <gazebo> alone")
    if file_format == "mjcf":
        yield ExportRemark("lost", "belt speed", speeds, "any speed that you set")
    for name, values, unit in (
        ("reflected mass", [drive.reflected_mass for drive in drives], "kg"),
        ("drive lag", [drive.lag for drive in drives], "s"),
    ):
        if any(values):
            instead = "at rest in its link's mass" if unit == "kg" else "no lag"
            yield ExportRemark("lost", name, _listed(iter(values), unit), instead)
    brakes = [drive.max_brake for drive in drives if drive.max_brake is not None]
    if brakes:
        yield ExportRemark("lost", "brakes", _listed(iter(brakes), "N at most"), "hold under any load")
    if any(drive.gear_ratio is not None for drive in drives):
        yield ExportRemark("lost", "gear ratio", "angular momentum of the rotor", "none")
    if any(drive.self_locking for drive in drives):
        yield ExportRemark("changed", "self-locking drive", "is not driven back", "as all are")


def _flippers(vehicle: VehicleDescription, file_format: Format) -> Iterator[ExportRemark]:
    joints = vehicle.joint_tree.joints
    servos = [joint.servo for joint in joints if joint.servo is not None]
    if not vehicle.flippers and not servos:
        return
    if file_format == "urdf":
        note = "limits of their joints alone: what holds them is up to your program"
        yield ExportRemark("lost", "servos", "hold what they are told", note)
    soft = [joint.name for joint in joints if joint.servo is not None and joint.servo.stiffness]
    if soft and file_format == "sdf":
        yield ExportRemark("lost", "gains of servos", ", ".join(soft), "as stiff as their torque allows")
    if file_format == "mjcf":
        speeds = [flipper.max_speed for flipper in vehicle.flippers.values()] + [s.max_speed for s in servos]
        instead = "position actuators of the same torque: move the command no faster"
        yield ExportRemark("lost", "servo speed", _listed(iter(speeds), "rad/s or m/s"), instead)


def _joints(vehicle: VehicleDescription, file_format: Format, robot: Element) -> Iterator[ExportRemark]:
    joints = vehicle.joint_tree.joints
    still = _still_joints(vehicle, robot)
    if still:
        yield ExportRemark("changed", "joints that stand at 0", _named(still), "fixed")
    springs = [joint.name for joint in joints if joint.spring is not None]
    if springs and file_format == "urdf":
        yield ExportRemark("lost", "springs", ", ".join(springs), "joints that move freely")
    bent = [j.name for j in joints if j.spring is not None and len(j.spring.points) > 2]
    if bent and file_format != "urdf":
        yield ExportRemark("changed", "springs with tables", ", ".join(bent), "their stiffness at 0")
    tables = [j.name for j in joints if j.damper is not None and len(j.damper.points) > 2]
    if tables:
        yield ExportRemark("changed", "dampers with tables", ", ".join(tables), "their damping at rest")
    stops = [joint.name for joint in joints if any(stop is not None for stop in joint.stops)]
    if stops:
        yield ExportRemark("lost", "buffers of joints", ", ".join(stops), "hard limits, where there are any")
    starts = [joint.name for joint in joints if joint.initial_position]
    if starts:
        yield ExportRemark("lost", "initial positions", ", ".join(starts), "joints at 0")
    mimics = [joint.name for joint in joints if joint.mimicry is not None]
    if mimics and file_format == "sdf":
        yield ExportRemark("changed", "mimic joints", ", ".join(mimics), "<mimic>: of SDF 1.11")


def _still_joints(vehicle: VehicleDescription, robot: Element) -> list[str]:
    """Names of joints of the body's URDF that could move, and that the vehicle file does not name."""
    moving = {joint.name for joint in vehicle.joint_tree.joints}
    elements = robot.iterfind("joint")
    names = [str(element.get("name")) for element in elements if element.get("type") != "fixed"]
    return [name for name in names if name not in moving]


def _looks(robot: Element, meshes: MeshCopies) -> Iterator[ExportRemark]:
    if meshes.unreadable:
        instead = "left out: they cannot be read"
        yield ExportRemark("lost", "meshes", _named(meshes.unreadable), instead)
    if meshes.too_small:
        instead = "left out: MuJoCo wants four vertices or more"
        yield ExportRemark("lost", "small meshes", ", ".join(meshes.too_small), instead)
    if meshes.coloured:
        instead = "left out: copies have shapes alone"
        yield ExportRemark("lost", "materials in mesh files", _named(meshes.coloured), instead)
    files = _named(str(texture.get("filename")) for texture in robot.iterfind(".//material/texture"))
    if files:
        yield ExportRemark("lost", "textures", files, "left out: the material's colour, or grey")


def _extensions(vehicle: VehicleDescription, file_format: Format, robot: Element) -> Iterator[ExportRemark]:
    if file_format == "urdf":
        counts = drop_extensions(robot, {joint.name for joint in vehicle.joint_tree.joints})
        instead = "left out: they would drive links and joints beside this file's own plugins"
    else:
        counts, instead = count_extensions(robot), "left out"
    if counts:
        value = ", ".join(f"{what}: {count}" for what, count in counts.items())
        yield ExportRemark("lost", "the body's own extensions", value, instead)


def _rest(vehicle: VehicleDescription, file_format: Format) -> Iterator[ExportRemark]:
    if vehicle.body.fixed and file_format == "urdf":
        instead = "a free body: fix its root where you load it"
        yield ExportRemark("changed", "fixed body", "bolted to the world", instead)
    if vehicle.describes_chains:
        yield ExportRemark("lost", "chain", "shoes, bushings, wheels, tensioner", "rigid outlines of belts")
    if vehicle.steering_efficiency is not None and file_format == "mjcf":
        yield ExportRemark("lost", "steering efficiency", f"{vehicle.steering_efficiency:g}", "none")
    if vehicle.driver_position is not None:
        yield ExportRemark("lost", "driver's place", "of `segtrack event`", "none")
    if vehicle.calibration is not None:
        yield ExportRemark("lost", "calibration", "record of the fit of its numbers", "none")
