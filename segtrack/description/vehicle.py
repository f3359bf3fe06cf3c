"""A tracked vehicle: body, tracks and flippers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from segtrack.description.base import (
    ExistingFile,
    MistakesError,
    Name,
    Number,
    Part,
    Positive,
    Vector,
    exactly_one,
)
from segtrack.description.track import Mount, TrackPart
from segtrack.description.urdf_links import link_problems
from segtrack.errors import Problem


class Body(Part):
    """The vehicle's body: numbers, or the user's own URDF."""

    mass: Positive | None = None
    """Belts and flippers not included [kg]."""
    size: tuple[Positive, Positive, Positive] | None = None
    """Length, width, height of the box that collides and gives the inertia [m]."""
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    """In the body frame, which is the middle of the box [m]."""
    urdf: ExistingFile | None = None
    """URDF file, relative to the vehicle file; its links, joints and meshes are kept."""
    fixed: bool = False
    """Bolted to the world: a conveyor."""

    @model_validator(mode="after")
    def _numbers_or_urdf(self) -> Body:
        exactly_one(self, ("mass", "urdf"))
        if (self.mass is None) != (self.size is None):
            raise ValueError("must have size with mass and not with urdf")
        if self.urdf is not None and "center_of_mass" in self.model_fields_set:
            raise ValueError("must not have center_of_mass beside urdf")
        return self


class Flipper(Part):
    """An arm that turns about its mount's y axis. Positive angles raise its tip."""

    mount: Mount
    extends: Literal["front", "rear"] = "front"
    """Where its tip points at angle 0. Its tracks are given as they lie at angle 0, x forward."""
    mass: Positive
    """Belts not included [kg]."""
    size: tuple[Positive, Positive, Positive]
    """Length, width, height of the box that gives the inertia [m]."""
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    """In the flipper frame, whose origin is the pivot [m]."""
    limits: tuple[Number, Number]
    """Least and largest angle [rad]."""
    max_torque: Positive
    """[N m]"""
    max_speed: Positive
    """[rad/s]"""
    tracks: Annotated[dict[Name, TrackPart], Field(min_length=1)]

    @model_validator(mode="after")
    def _ordered(self) -> Flipper:
        problems = [
            Problem(
                f"tracks.{name}.mount.parent", f"must be left out on a flipper, got {track.mount.parent!r}"
            )
            for name, track in self.tracks.items()
            if track.mount.parent != "body"
        ]
        if self.limits[0] >= self.limits[1]:
            problems.append(Problem("limits", f"must rise, got {list(self.limits)}"))
        if problems:
            raise MistakesError(problems)
        return self

    @property
    def raise_axis(self) -> int:
        """Sign of the joint's axis along y: turning about it raises the tip."""
        return -1 if self.extends == "front" else 1


@dataclass(frozen=True)
class MountedTrack:
    """A track in its vehicle.

    Attributes:
        name: Full name.
        part: The track.
        flipper: The flipper that carries it, if one does.
        y: Of its mount in the frame that carries the vehicle's sides [m].
    """

    name: str
    part: TrackPart
    flipper: str | None
    y: float

    @property
    def side(self) -> Literal["left", "center", "right"]:
        """Which of a vehicle's speed commands it follows, by its y."""
        return "left" if self.y > 0 else "right" if self.y < 0 else "center"


class VehicleDescription(Part):
    """A tracked vehicle, as its file describes it. SI units throughout."""

    name: Name
    source: str
    """Where the numbers come from."""
    body: Body
    tracks: dict[Name, TrackPart] = {}
    flippers: dict[Name, Flipper] = {}

    @model_validator(mode="after")
    def _has_tracks(self) -> VehicleDescription:
        if not self.tracks and not self.flippers:
            raise ValueError("must have at least one track, on the body or on a flipper")
        names = [track.name for track in self.mounted_tracks()]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"has two tracks named {twice[0]} (a flipper's track is named flipper_track)")
        problems = link_problems(self.body.urdf, self._mounts(), self.flippers)
        if problems:
            raise MistakesError(problems)
        return self

    def _mounts(self) -> dict[str, str]:
        tracks = {f"tracks.{name}": track.mount.parent for name, track in self.tracks.items()}
        return tracks | {f"flippers.{name}": flipper.mount.parent for name, flipper in self.flippers.items()}

    def mounted_tracks(self) -> Iterator[MountedTrack]:
        """All tracks: those on the body first, then the flippers' in the order of the file."""
        for name, track in self.tracks.items():
            yield MountedTrack(name, track, None, track.mount.xyz[1])
        for flipper_name, flipper in self.flippers.items():
            for name, track in flipper.tracks.items():
                y = flipper.mount.xyz[1] + track.mount.xyz[1]
                yield MountedTrack(f"{flipper_name}_{name}", track, flipper_name, y)
