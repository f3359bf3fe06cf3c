"""Belts of a vehicle for the track models `compliant` and `surface`: sections and contact parameters.

Where the file gives no stiffness, it follows from the vehicle's weight: on its ground lines it sinks
in by `REST_DEPTH`. All belts of a vehicle then have one stiffness a metre, so that grousers of one
pitch carry alike, wherever they are.
"""

from __future__ import annotations

import math

import numpy as np

from segtrack.compliant import BeltDesign, Section, bar_section, face_section, hull_section, rod_section
from segtrack.description.grousers import BoxShape, CylinderShape, GrouserShape, MeshShape, TrapezoidShape
from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import MountedTrack, VehicleDescription
from segtrack.geometry import GRAVITY, Arc, BeltPath
from segtrack.ground import ContactParameters, contact_parameters

REST_DEPTH = 3e-5
"""Default penetration of a vehicle on its ground lines at rest, in files without a stiffness [m]."""
DAMPING_RATIO = 2.0
"""Default damping ratio of the vehicle's bouncing on its contacts, in files without a damping [-]."""
FACE_LENGTH = 0.02
"""Largest length of the sections of a smooth belt [m]."""
_INSIDE = 0.5
"""Depth inside the belt to which an edge is still pushed out, over the tightest outward arc's radius [-]."""
_FACE_TURN = 0.2
"""Largest angle by which a section of a smooth belt bends around an arc [rad]."""


def belt_designs(vehicle: VehicleDescription, mass: float, smooth: bool) -> tuple[BeltDesign, ...]:
    """Design the belts of a vehicle, in the order of its tracks.

    Args:
        vehicle: Description of the vehicle.
        mass: Total mass [kg].
        smooth: True for `surface`: without grousers, and belts that move as a surface velocity only.
    """
    stiffness, damping = _resting(vehicle, mass)
    return tuple(_design(track, stiffness, damping, smooth) for track in vehicle.mounted_tracks())


def contact_of(vehicle: VehicleDescription, mass: float) -> tuple[float, float]:
    """Return stiffness [N/m] and damping [N s/m] of one contact point of a vehicle's first track.

    Args:
        vehicle: Description of the vehicle.
        mass: Total mass [kg].
    """
    first = next(vehicle.mounted_tracks()).spec
    if first.contact.stiffness is not None and first.contact.damping is not None:
        return first.contact.stiffness, first.contact.damping
    stiffness, damping = _resting(vehicle, mass)
    return stiffness * _spacing(first), damping * _spacing(first)


def _resting(vehicle: VehicleDescription, mass: float) -> tuple[float, float]:
    """Default stiffness [N/m^2] and damping [N s/m^2] per metre of belt, for `REST_DEPTH` at rest."""
    tracks = tuple(vehicle.mounted_tracks())
    carrying = [track for track in tracks if track.flipper is None] or tracks
    # Of each track at least one grouser's length.
    line = sum(max(track.spec.ground_length, _spacing(track.spec)) for track in carrying)
    stiffness = mass * GRAVITY / REST_DEPTH / line
    return stiffness, 2 * DAMPING_RATIO * math.sqrt(stiffness * mass / line)


def _spacing(spec: TrackSpec) -> float:
    return spec.pitch if spec.grousers is not None else FACE_LENGTH


def _design(track: MountedTrack, stiffness: float, damping: float, smooth: bool) -> BeltDesign:
    """Design of one belt; stiffness and damping per metre [N/m^2, N s/m^2] hold where the file gives none."""
    spec = track.spec
    path = spec.belt_path
    law = _law(spec, stiffness, damping)
    if smooth or spec.grousers is None:
        coordinates, reaches = _standing_faces(path, spec.omit_segments) if smooth else _riding_faces(path)
        kinds, index = np.unique(np.round(reaches, 12), axis=0, return_inverse=True)
        faces = tuple(
            face_section(rear, front, rear + front, spec.width, _inside(path))
            for rear, front in kinds.tolist()
        )
        lengths = reaches.sum(axis=1)
        return BeltDesign(
            track.name, path, coordinates, index, lengths, faces, not smooth, 0, law, *_masses(spec)
        )
    shapes, pitch = spec.grousers.shapes, spec.pitch
    sections = [_grouser(shape, spec.width) for shape in shapes]
    for shape in shapes:
        rear, front = shape.kind.extent
        exposed = max(pitch - (front - rear), 1e-3 * pitch) / 2
        sections.append(face_section(pitch / 4, pitch / 4, exposed, spec.width, _inside(path)))
    homes = np.array([footprint.coordinate for footprint in spec.footprints()])
    which = np.arange(len(homes)) % len(shapes)
    return BeltDesign(
        track.name,
        path,
        np.concatenate([homes, homes - pitch / 4, homes + pitch / 4]),
        np.concatenate([which, which + len(shapes), which + len(shapes)]),
        np.repeat([pitch, pitch / 2, pitch / 2], len(homes)),
        tuple(sections),
        True,
        len(homes),
        law,
        *_masses(spec),
    )


def _masses(spec: TrackSpec) -> tuple[float, float, float]:
    """Mass of the belt, reflected mass of its drive [kg], and the rotor's momentum per speed [kg m]."""
    return spec.belt.mass, spec.drive.reflected_mass, spec.rotor_momentum


def _law(spec: TrackSpec, stiffness: float, damping: float) -> ContactParameters:
    """Contact parameters per metre of belt."""
    contact = spec.contact
    if contact.stiffness is not None and contact.damping is not None:
        stiffness, damping = contact.stiffness / _spacing(spec), contact.damping / _spacing(spec)
    ratio, restitution = contact.lateral_ratio, contact.restitution
    return contact_parameters(contact.friction, stiffness, damping, stiffness, damping, ratio, restitution)


def _inside(path: BeltPath) -> float:
    """Depth to which contact reaches inwards of a belt's face [m]: wheels and frame fill its inside."""
    return _INSIDE * min(arc.radius for arc in path.segments if isinstance(arc, Arc) and arc.turn > 0)


def _riding_faces(path: BeltPath) -> tuple[np.ndarray, np.ndarray]:
    """Belt coordinates (n,) of sections that move with a smooth belt, and their half lengths (n, 2) [m]."""
    tightest = min(arc.radius for arc in path.segments if isinstance(arc, Arc))
    count = math.ceil(path.perimeter / min(FACE_LENGTH, _FACE_TURN * tightest))
    length = path.perimeter / count
    return length * np.arange(count), np.full((count, 2), length / 2)


def _standing_faces(path: BeltPath, omitted: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Belt coordinates (n,) of sections that stay in place (`surface`), and their half lengths (n, 2) [m].

    There is one at each end of a segment, where a vehicle that tips over stands last. A section reaches half
    way to those before it and behind it.
    """
    reaches: dict[float, list[float]] = {}
    for start, segment, name in zip(path.starts, path.segments, path.names, strict=False):
        if name in omitted:
            continue
        count = max(math.ceil(segment.length / FACE_LENGTH), math.ceil(abs(segment.turn) / _FACE_TURN))
        half = segment.length / count / 2
        for i in range(count + 1):
            at = round((start + 2 * half * i) % path.perimeter, 12)
            reach = reaches.setdefault(0.0 if at >= path.perimeter - 1e-9 else at, [0.0, 0.0])
            reach[0] = half if i > 0 else reach[0]
            reach[1] = half if i < count else reach[1]
    coordinates = sorted(reaches)
    return np.array(coordinates), np.array([reaches[at] for at in coordinates])


def _grouser(shape: GrouserShape, track_width: float) -> Section:
    """Section of a belt with one grouser, for contact."""
    width = shape.width or track_width
    match shape.kind:
        case BoxShape(length=length, height=height):
            return bar_section(length, length, height, width)
        case TrapezoidShape(base=base, top=top, height=height):
            return bar_section(base, top, height, width)
        case CylinderShape(radius=radius):
            return rod_section(radius, width)
        case MeshShape() as mesh:
            return hull_section(mesh.hull.vertices)
    raise AssertionError(shape)
