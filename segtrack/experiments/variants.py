"""A vehicle with something changed: descriptions are frozen, so each of these makes another one."""

from __future__ import annotations

from collections.abc import Callable

from segtrack.description import VehicleDescription
from segtrack.description.track import ContactPart, TrackPart
from segtrack.errors import InvalidValueError, finite


def with_friction(vehicle: VehicleDescription, friction: float) -> VehicleDescription:
    """The vehicle with this friction on every track; on bundled terrain it is what acts.

    Raises:
        InvalidValueError: Negative or not finite.
    """
    if finite("friction", friction) < 0:
        raise InvalidValueError("friction", "at least 0", friction)
    return _with_contact(vehicle, lambda contact: contact.model_copy(update={"friction": float(friction)}))


def with_contact(
    vehicle: VehicleDescription, stiffness: float | None, damping: float | None
) -> VehicleDescription:
    """The vehicle with this stiffness [N/m] and damping [N s/m] of each contact point; None is rigid."""
    update = {"stiffness": stiffness, "damping": damping}
    return _with_contact(vehicle, lambda contact: contact.model_copy(update=update))


def with_center_of_mass(vehicle: VehicleDescription, x: float) -> VehicleDescription:
    """The vehicle with its body's centre of mass at `x` [m]; for a body that is given as numbers."""
    _, y, z = vehicle.body.center_of_mass
    body = vehicle.body.model_copy(update={"center_of_mass": (finite("centre of mass x [m]", x), y, z)})
    return vehicle.model_copy(update={"body": body})


def without_segment(vehicle: VehicleDescription, segment: str) -> VehicleDescription:
    """The vehicle with one segment left out of every track of its body."""
    tracks = {name: track.model_copy(update={"omit": (segment,)}) for name, track in vehicle.tracks.items()}
    return vehicle.model_copy(update={"tracks": tracks})


def _with_contact(
    vehicle: VehicleDescription, change: Callable[[ContactPart], ContactPart]
) -> VehicleDescription:
    def changed(tracks: dict[str, TrackPart]) -> dict[str, TrackPart]:
        return {name: t.model_copy(update={"contact": change(t.contact)}) for name, t in tracks.items()}

    flippers = {
        name: flipper.model_copy(update={"tracks": changed(flipper.tracks)})
        for name, flipper in vehicle.flippers.items()
    }
    return vehicle.model_copy(update={"tracks": changed(vehicle.tracks), "flippers": flippers})
