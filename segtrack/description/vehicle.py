"""A tracked vehicle: body, tracks and flippers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from segtrack.description.base import (
    ExistingFile,
    MistakesError,
    Name,
    Number,
    Positive,
    Spec,
    Vector,
    exactly_one,
)
from segtrack.description.chain import ChainSpec
from segtrack.description.frames import Frame, link_frames
from segtrack.description.track import Mount, TrackSpec
from segtrack.description.urdf_links import Mounting, link_problems, parent_link, reflected_mass_problems
from segtrack.errors import Problem


class Body(Spec):
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

    def mounted(self, mount: Mount) -> Frame:
        """A mount's frame in the body frame, which is the root link's; all joints of a URDF stand at 0."""
        return self._parent_frames[mount.parent] @ mount.frame

    @cached_property
    def _parent_frames(self) -> dict[str, Frame]:
        """What a mount's parent may be, in the body frame."""
        if self.urdf is None:
            return {"body": Frame.at((0, 0, 0), (0, 0, 0))}
        robot = ElementTree.parse(self.urdf).getroot()
        frames = link_frames(robot)
        return {"body": frames[parent_link(robot, "body")]} | frames


class FlipperSpec(Spec):
    """An arm that turns about its mount's y axis. Positive angles raise its tip."""

    mount: Mount
    tip_direction: Literal["front", "rear"] = "front"
    """Where its tip points at angle 0. Its tracks are given as they lie at angle 0, x forward."""
    mass: Positive
    """Belts not included [kg]."""
    size: tuple[Positive, Positive, Positive]
    """Length, width, height of the box that gives the inertia [m]."""
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    """In the flipper frame, whose origin is the pivot [m]."""
    limits: tuple[Number, Number]
    """Smallest and largest angle [rad]."""
    max_torque: Positive
    """[N m]"""
    max_speed: Positive
    """[rad/s]"""
    tracks: Annotated[dict[Name, TrackSpec], Field(min_length=1)]

    @model_validator(mode="after")
    def _ordered(self) -> FlipperSpec:
        problems = [
            Problem(
                f"tracks.{name}.mount.parent", f"must be left out on a flipper, got {track.mount.parent!r}"
            )
            for name, track in self.tracks.items()
            if track.mount.parent != "body"
        ]
        if self.limits[0] >= self.limits[1]:
            problems.append(Problem("limits", f"must rise, got {list(self.limits)}"))
        reflected = {f"tracks.{name}": track.drive.reflected_mass for name, track in self.tracks.items()}
        problems += reflected_mass_problems("the flipper", self.mass, reflected)
        if problems:
            raise MistakesError(problems)
        return self

    @property
    def raise_axis(self) -> int:
        """Sign of the joint's axis along y: turning about it raises the tip."""
        return -1 if self.tip_direction == "front" else 1


_MIDDLE = 1e-9
"""A track no further than this from y = 0 is in the middle: rotations leave such remainders [m]."""


@dataclass(frozen=True)
class MountedTrack:
    """A track in its vehicle.

    Attributes:
        name: Full name.
        spec: The track.
        flipper: The flipper that carries it, if one does.
        y: Of the track frame's origin in the body frame, flippers at angle 0 [m].
    """

    name: str
    spec: TrackSpec
    flipper: str | None
    y: float

    @property
    def side(self) -> Literal["left", "center", "right"]:
        """Which of a vehicle's speed commands it follows, by its y."""
        return "left" if self.y > _MIDDLE else "right" if self.y < -_MIDDLE else "center"


class VehicleDescription(Spec):
    """A tracked vehicle, as its file describes it. SI units throughout."""

    name: Name
    source: str
    """Where the numbers come from."""
    body: Body
    tracks: dict[Name, TrackSpec] = {}
    flippers: dict[Name, FlipperSpec] = {}
    chain: ChainSpec = ChainSpec()
    """Of all tracks that give none of their own, for the track model `chain`."""

    @model_validator(mode="after")
    def _has_tracks(self) -> VehicleDescription:
        if not self.tracks and not self.flippers:
            raise ValueError("must have at least one track, on the body or on a flipper")
        names = [*self.tracks, *(f"{name}_{own}" for name, f in self.flippers.items() for own in f.tracks)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"has two tracks named {twice[0]} (a flipper's track is named flipper_track)")
        body = self.body
        problems = link_problems(body.urdf, body.mass, body.fixed, self._mountings())
        if problems:
            raise MistakesError(problems)
        return self

    def _mountings(self) -> dict[str, Mounting]:
        on_body = {
            f"tracks.{name}": Mounting(track.mount.parent, track.drive.reflected_mass)
            for name, track in self.tracks.items()
        }
        return on_body | {
            f"flippers.{name}": Mounting(flipper.mount.parent, tracks=tuple(flipper.tracks))
            for name, flipper in self.flippers.items()
        }

    def mounted_tracks(self) -> Iterator[MountedTrack]:
        """All tracks: those on the body first, then the flippers' in the order of the file.

        What a track leaves to its vehicle is filled in.
        """
        for name, track in self.tracks.items():
            y = float(self.body.mounted(track.mount).origin[1])
            yield MountedTrack(name, self._filled(track), None, y)
        for flipper_name, flipper in self.flippers.items():
            pivot = self.body.mounted(flipper.mount)
            for name, track in flipper.tracks.items():
                y = float((pivot @ track.mount.frame).origin[1])
                yield MountedTrack(f"{flipper_name}_{name}", self._filled(track), flipper_name, y)

    def without_belts(self) -> VehicleDescription:
        """The vehicle with belts of no mass, for track models whose belts are bodies of their own."""

        def bare(tracks: dict[str, TrackSpec]) -> dict[str, TrackSpec]:
            belts = {name: track.belt.model_copy(update={"mass": 0.0}) for name, track in tracks.items()}
            return {name: track.model_copy(update={"belt": belts[name]}) for name, track in tracks.items()}

        flippers = {n: f.model_copy(update={"tracks": bare(f.tracks)}) for n, f in self.flippers.items()}
        return self.model_copy(update={"tracks": bare(self.tracks), "flippers": flippers})

    def _filled(self, track: TrackSpec) -> TrackSpec:
        return track if track.chain is not None else track.model_copy(update={"chain": self.chain})
