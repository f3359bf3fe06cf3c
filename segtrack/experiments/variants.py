"""Changed copies of vehicle descriptions, such as with another friction, gauge or grouser height."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import ValidationError

from segtrack.description import Body, DriveSpec, GrouserShape, PathSpec, TrackSpec, VehicleDescription
from segtrack.description.chain import track_design
from segtrack.engine import UNLIMITED_FORCE
from segtrack.errors import InvalidValueError, Phrase, finite
from segtrack.robot import Robot

_EXACT = 1e-9
"""Lengths that differ by less are the same [m]."""
_ANY_SPEED = 50.0
"""More than any belt [m/s] or flipper [rad/s] is told."""


def with_friction(vehicle: VehicleDescription, friction: float) -> VehicleDescription:
    """Copy of a vehicle with a friction coefficient on every track; bundled terrain does not change it.

    Raises:
        InvalidValueError: Negative or not finite.
    """
    if finite("friction", friction) < 0:
        raise InvalidValueError("friction", "at least 0", friction)
    return _with_part(vehicle, "contact", friction=float(friction))


def with_lateral_friction(vehicle: VehicleDescription, friction: float) -> VehicleDescription:
    """Copy of a vehicle with a friction coefficient across every track.

    Raises:
        InvalidValueError: Not positive and finite.
    """
    if finite("lateral friction", friction) <= 0:
        raise InvalidValueError("lateral friction", "above 0", friction)
    return _with_part(vehicle, "contact", lateral_friction=float(friction))


def with_contact(
    vehicle: VehicleDescription, stiffness: float | None, damping: float | None
) -> VehicleDescription:
    """Copy of a vehicle with a stiffness [N/m] and damping [N s/m] of each contact point; None is rigid."""
    return _with_part(vehicle, "contact", stiffness=stiffness, damping=damping)


def with_drive_lag(vehicle: VehicleDescription, lag: float) -> VehicleDescription:
    """Copy of a vehicle with drives that lag behind their commands by a time [s].

    Raises:
        InvalidValueError: Negative or not finite.
    """
    if finite("drive lag [s]", lag) < 0:
        raise InvalidValueError("drive lag [s]", "at least 0", lag)
    return _with_part(vehicle, "drive", lag=float(lag))


def with_center_of_mass(
    vehicle: VehicleDescription, x: float | None = None, z: float | None = None
) -> VehicleDescription:
    """Copy of a vehicle with the body's centre of mass at x and z in the body frame [m], where given.

    Raises:
        InvalidValueError: The body is given as a URDF, or a number is not finite.
    """
    body = _numbered_body(vehicle)
    old_x, y, old_z = body.center_of_mass
    new_x = old_x if x is None else finite("centre of mass x [m]", x)
    new_z = old_z if z is None else finite("centre of mass z [m]", z)
    changed = body.model_copy(update={"center_of_mass": (new_x, y, new_z)})
    return vehicle.model_copy(update={"body": changed})


def with_imposed_motion(vehicle: VehicleDescription) -> VehicleDescription:
    """Copy of a vehicle whose drives and flippers follow any command: no lag, no limits.

    Its belts do as they are told once `impose_motion` has made their drives strong: the stall force of the
    file stays, for which link chains are laid out.
    """

    def changed(track: TrackSpec) -> TrackSpec:
        own = track.drive
        drive = DriveSpec(max_force=own.stall_force, max_speed=_ANY_SPEED, reflected_mass=own.reflected_mass)
        return track.model_copy(update={"drive": drive})

    strong = _with_tracks(vehicle, changed)
    limits = {"max_torque": UNLIMITED_FORCE, "max_speed": _ANY_SPEED}
    flippers = {name: flipper.model_copy(update=limits) for name, flipper in strong.flippers.items()}
    return strong.model_copy(update={"flippers": flippers})


def impose_motion(robot: Robot) -> None:
    """Make a robot's drives so strong that its belts follow their commands against any load."""
    for track in robot.tracks.values():
        track.scale_drive(UNLIMITED_FORCE / track.spec.drive.stall_force)


def with_body(
    vehicle: VehicleDescription, mass: float = 1.0, offset: Sequence[float] = (0.0, 0.0, 0.0)
) -> VehicleDescription:
    """Copy of a vehicle with its body's mass scaled and its centre of mass moved.

    Args:
        vehicle: Vehicle with its body given by numbers.
        mass: Factor on the body's mass [-].
        offset: Offset of the centre of mass, in the body frame (3,) [m].

    Raises:
        InvalidValueError: The body is given as a URDF, or does not outweigh its drives' reflected mass.
    """
    body = _numbered_body(vehicle)
    assert body.mass is not None
    reflected = sum(track.drive.reflected_mass for track in vehicle.tracks.values())
    if body.mass * mass <= reflected:
        expected = f"above {reflected:g} kg, what its drives reflect"
        raise InvalidValueError(f"mass of the body of {vehicle.name} [kg]", expected, body.mass * mass)
    x, y, z = (old + new for old, new in zip(body.center_of_mass, offset, strict=True))
    changed = body.model_copy(update={"mass": body.mass * mass, "center_of_mass": (x, y, z)})
    return vehicle.model_copy(update={"body": changed})


def without_grousers(vehicle: VehicleDescription) -> VehicleDescription:
    """Copy of a vehicle with smooth belts."""
    return _with_tracks(vehicle, lambda track: track.model_copy(update={"grousers": None}))


def with_grousers(vehicle: VehicleDescription, height: float = 1.0, count: float = 1.0) -> VehicleDescription:
    """Copy of a vehicle with grouser height and number scaled, rounded to whole patterns.

    Raises:
        InvalidValueError: They would be longer than their pitch, or a mesh, whose height is its file's.
    """

    def changed(track: TrackSpec) -> TrackSpec:
        grousers = track.grousers
        if grousers is None:
            return track
        shapes = tuple(_of_height(vehicle.name, shape, height) for shape in grousers.shapes)
        whole = max(1, round(grousers.count * count / len(shapes))) * len(shapes)
        given = {"shape": shapes[0]} if grousers.shape is not None else {"pattern": shapes}
        other = track.model_copy(update={"grousers": grousers.model_copy(update={"count": whole, **given})})
        length = max(shape.kind.extent[1] - shape.kind.extent[0] for shape in shapes)
        if length > other.pitch:
            what = f"{whole} grousers of {length:g} m on a track of {vehicle.name}"
            raise InvalidValueError(what, "no longer than their pitch", Phrase(f"{other.pitch:.4g} m"))
        return other

    return _with_tracks(vehicle, changed)


def _of_height(vehicle: str, shape: GrouserShape, factor: float) -> GrouserShape:
    """Copy of a grouser shape with its height scaled."""
    if factor == 1.0:
        return shape
    for kind, height in (("box", "height"), ("trapezoid", "height"), ("cylinder", "radius")):
        part = getattr(shape, kind)
        if part is not None:
            other = part.model_copy(update={height: getattr(part, height) * factor})
            return shape.model_copy(update={kind: other})
    raise InvalidValueError(f"grousers of {vehicle}", "of a shape whose height is a number", Phrase("a mesh"))


def with_gauge(vehicle: VehicleDescription, gauge: float) -> VehicleDescription:
    """Copy of a vehicle with its body's left and right tracks at a gauge [m], about their middle.

    Raises:
        InvalidValueError: Not positive and finite, or tracks on flippers or on links off the body's middle,
            whose mounts do not give it.
    """
    if finite("gauge [m]", gauge) <= 0:
        raise InvalidValueError("gauge [m]", "above 0", gauge)

    def moved(track: TrackSpec) -> TrackSpec:
        x, y, z = track.mount.xyz
        mount = track.mount.model_copy(update={"xyz": (x, math.copysign(gauge / 2, y) if y else y, z)})
        return track.model_copy(update={"mount": mount})

    tracks = {name: moved(track) for name, track in vehicle.tracks.items()}
    copy = vehicle.model_copy(update={"tracks": tracks})
    if copy.gauge is not None and abs(copy.gauge - gauge) > _EXACT:
        expected = "of tracks whose mounts on the body give it"
        raise InvalidValueError(f"gauge of {vehicle.name}", expected, Phrase(f"{copy.gauge:.4g} m"))
    return copy


def with_pulleys(vehicle: VehicleDescription, radius: float = 1.0) -> VehicleDescription:
    """Copy of a vehicle with the radii of its body's pulleys scaled, with as many grousers.

    Raises:
        InvalidValueError: Not positive and finite, a path of explicit segments, or pulleys that would
            overlap.
    """
    if finite("radius of the pulleys over the vehicle's", radius) <= 0:
        raise InvalidValueError("radius of the pulleys over the vehicle's", "above 0", radius)

    def changed(name: str, track: TrackSpec) -> TrackSpec:
        pulleys = track.path.pulleys
        if pulleys is None:
            raise InvalidValueError(
                f"track {name} of {vehicle.name}", "around pulleys", Phrase("explicit segments")
            )
        scaled = tuple(p.model_copy(update={"radius": p.radius * radius}) for p in pulleys)
        try:
            path = PathSpec(pulleys=scaled)  # A copy would keep its outline.
        except ValidationError as error:
            what = f"track {name} of {vehicle.name} with pulleys {radius:.4g} times as large"
            got = Phrase(error.errors()[0]["msg"].removeprefix("Value error, "))
            raise InvalidValueError(what, "a path", got) from None
        return track.model_copy(update={"path": path})

    tracks = {name: changed(name, track) for name, track in vehicle.tracks.items()}
    return vehicle.model_copy(update={"tracks": tracks})


def with_contact_length(vehicle: VehicleDescription, length: float) -> VehicleDescription:
    """Copy of a vehicle with its body's tracks of another contact length [m], grousers at their pitch.

    Parts before the middle of a track move forward, parts behind it back, flippers' pivots included.

    Raises:
        InvalidValueError: Not positive and finite, or a track whose length pulleys do not give: its path
            is of explicit segments, or it stands on one pulley.
    """
    if finite("contact length [m]", length) <= 0:
        raise InvalidValueError("contact length [m]", "above 0", length)
    longer = 0.0
    tracks = {}
    for name, track in vehicle.tracks.items():
        longer = length - track.belt_path.segments[track.belt_path.ground].length
        tracks[name] = _lengthened(f"track {name} of {vehicle.name}", track, longer)
        path = tracks[name].belt_path
        got = path.segments[path.ground].length
        if abs(got - length) > _EXACT:
            expected = "of a length on the ground that its pulleys give"
            raise InvalidValueError(f"track {name} of {vehicle.name}", expected, Phrase(f"{got:.4g} m"))
    flippers = {}
    for name, flipper in vehicle.flippers.items():
        x, y, z = flipper.mount.xyz
        mount = flipper.mount.model_copy(update={"xyz": (x + _side(x) * longer / 2, y, z)})
        flippers[name] = flipper.model_copy(update={"mount": mount})
    return vehicle.model_copy(update={"tracks": tracks, "flippers": flippers})


def _lengthened(what: str, track: TrackSpec, longer: float) -> TrackSpec:
    """Copy of a track with its front and rear half moved apart by a length [m] in total."""
    pulleys = track.path.pulleys
    if pulleys is None:
        raise InvalidValueError(what, "around pulleys", Phrase("explicit segments"))
    middle = (max(pulley.x for pulley in pulleys) + min(pulley.x for pulley in pulleys)) / 2
    moved = tuple(
        pulley.model_copy(update={"x": pulley.x + _side(pulley.x - middle) * longer / 2})
        for pulley in pulleys
    )
    # A new path: a copy would keep the old one's outline.
    other = track.model_copy(update={"path": PathSpec(pulleys=moved)})
    if track.grousers is None:
        return other
    shapes = len(track.grousers.shapes)
    count = max(1, round(other.belt_path.perimeter / track.pitch / shapes)) * shapes
    return other.model_copy(update={"grousers": track.grousers.model_copy(update={"count": count})})


def _side(x: float) -> int:
    return (x > _EXACT) - (x < -_EXACT)


def with_sub_steps(vehicle: VehicleDescription, parts: int) -> VehicleDescription:
    """Copy of a vehicle with each sub-step of its chains divided into `parts`."""

    def divided(track: TrackSpec) -> TrackSpec:
        if track.chain is None:
            return track
        largest = track.chain.sub_step or track_design(vehicle.name, track).max_sub_step
        chain = track.chain.model_copy(update={"sub_step": largest / parts})
        return track.model_copy(update={"chain": chain})

    return _with_tracks(vehicle, divided)


def without_segment(vehicle: VehicleDescription, segment: str) -> VehicleDescription:
    """Copy of a vehicle with one segment left out of every track on its body."""
    tracks = {
        name: track.model_copy(update={"omit_segments": (segment,)}) for name, track in vehicle.tracks.items()
    }
    return vehicle.model_copy(update={"tracks": tracks})


def _numbered_body(vehicle: VehicleDescription) -> Body:
    if vehicle.body.mass is None:
        raise InvalidValueError(f"body of {vehicle.name}", "given by mass and size", Phrase("a URDF"))
    return vehicle.body


def _with_part(
    vehicle: VehicleDescription, part: Literal["contact", "drive"], **values: float | None
) -> VehicleDescription:
    """Copy of a vehicle with values in a part of every track."""

    def changed(track: TrackSpec) -> TrackSpec:
        return track.model_copy(update={part: getattr(track, part).model_copy(update=values)})

    return _with_tracks(vehicle, changed)


def _with_tracks(vehicle: VehicleDescription, change: Callable[[TrackSpec], TrackSpec]) -> VehicleDescription:
    """Copy of a vehicle with each track replaced by `change(track)`."""

    def changed(tracks: dict[str, TrackSpec]) -> dict[str, TrackSpec]:
        return {name: change(track) for name, track in tracks.items()}

    flippers = {
        name: flipper.model_copy(update={"tracks": changed(flipper.tracks)})
        for name, flipper in vehicle.flippers.items()
    }
    return vehicle.model_copy(update={"tracks": changed(vehicle.tracks), "flippers": flippers})
