"""Description of a tracked vehicle: body, tracks and flippers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from segtrack.description.base import (
    Checks,
    Name,
    Number,
    Positive,
    Spec,
    Vector,
    check,
    in_radians,
    known,
)
from segtrack.description.body import Body
from segtrack.description.calibration import Calibration
from segtrack.description.chain import ChainSpec, SuspensionSpec
from segtrack.description.frames import Frame, TrackOffsets
from segtrack.description.joints import (
    JointName,
    JointSpec,
    JointTree,
    joint_problems,
    joint_tree,
    suspension_joints,
)
from segtrack.description.track import Mount, TrackSpec, overlap
from segtrack.description.urdf_checks import Mounting, link_problems, reflected_mass_problems
from segtrack.errors import InvalidValueError, Phrase, Problem

_TURN, _FULL_TURN_DEG = 2 * math.pi, 360
"""A flipper without stops has limits of more than a turn; those that look like degrees are whole numbers."""


class FlipperSpec(Spec):
    """Arm that turns about its mount's y axis. Positive angles raise its tip."""

    mount: Mount
    tip_direction: Literal["front", "rear"] = "front"
    """Direction of its tip at angle 0. Its tracks are given as they lie at angle 0, x forward."""
    mass: Positive
    """Belts not included [kg]."""
    size: tuple[Positive, Positive, Positive]
    """Length, width, height of the box that gives the inertia [m]."""
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    """Centre of mass in the flipper frame, whose origin is the pivot [m]."""
    limits: tuple[Number, Number]
    """Smallest and largest angle [rad]."""
    max_torque: Positive
    """[N m]"""
    max_speed: Positive
    """[rad/s]"""
    tracks: Annotated[dict[Name, TrackSpec], Field(min_length=1)]

    @check
    def _tracks_on_it(self) -> Checks:
        for name, track in self.tracks.items():
            parent = known(track, "mount.parent", "body")
            if parent != "body":
                yield Problem(f"tracks.{name}.mount.parent", f"must be left out on a flipper, got {parent!r}")

    @check
    def _limits_rise(self) -> Checks:
        if self.limits[0] >= self.limits[1]:
            yield Problem("limits", f"must rise, got {list(self.limits)}")

    @check
    def _limits_in_radians(self) -> Checks:
        for i, limit in enumerate(self.limits):
            if limit % 1 == 0 and _TURN < abs(limit) <= _FULL_TURN_DEG:
                yield Problem(f"limits[{i}]", f"must be in radians, {in_radians(limit)}")

    @check
    def _outweighs_its_drives(self) -> Checks:
        reflected = {
            f"tracks.{name}": known(track, "drive.reflected_mass", 0.0) for name, track in self.tracks.items()
        }
        yield from reflected_mass_problems("the flipper", self.mass, reflected)

    @property
    def raise_axis(self) -> int:
        """Sign of the joint axis along y about which positive angles raise the tip."""
        return -1 if self.tip_direction == "front" else 1


_ACROSS = 0.7
"""Least cosine of the angle from a track's axle to the body's y axis [-]: 45 degrees."""


def _axle_problems(where: str, frame: Frame) -> Checks:
    """Yield the mistake of a track, given its frame in the body, that would not drive the body forward."""
    axle, push = frame.rotation[:, 1], frame.push
    if axle[1] >= _ACROSS:
        return
    if axle[1] <= -_ACROSS:
        effect = "the belt would drive the body backwards: turn it about z by 3.14159"
    elif abs(axle[2]) >= _ACROSS:
        effect = "the belt lies flat and drives nothing"
    else:
        way = ", ".join(f"{part:.2g}" for part in np.round(push, 6) + 0.0)
        effect = (
            f"the belt would drive the body along ({way}), and x is forward: turn the track, or all of the "
            "body so that x points where it drives"
        )
    got = ", ".join(f"{part:.2g}" for part in np.round(axle, 6) + 0.0)
    yield Problem(
        f"{where}.mount.rpy",
        f"must point the axle, the track's y axis, along the body's y, within 45 deg, got ({got}): {effect}",
    )


_MIDDLE = 1e-9
"""A track no further than this from y = 0 is in the middle: rotations leave such remainders [m]."""


@dataclass(frozen=True)
class MountedTrack:
    """Track of a vehicle, with its name and place.

    Attributes:
        name: Full name of the track.
        spec: Track of the file.
        flipper: Name of the flipper that carries it; None for a track on the body.
        y: Lateral offset of the track frame in the body frame, flippers at angle 0 [m].
    """

    name: str
    spec: TrackSpec
    flipper: str | None
    y: float

    @property
    def side(self) -> Literal["left", "center", "right"]:
        """Side whose speed command the track follows, by its y."""
        return "left" if self.y > _MIDDLE else "right" if self.y < -_MIDDLE else "center"


class VehicleDescription(Spec):
    """Tracked vehicle as its file describes it. SI units throughout."""

    name: Name
    source: str
    """Source of the numbers."""
    body: Body
    tracks: dict[Name, TrackSpec] = {}
    flippers: dict[Name, FlipperSpec] = {}
    joints: dict[JointName, JointSpec] = {}
    """Joints of the body's URDF that move, by URDF's names, with what a URDF cannot say of them. Joints
    that are not named stand at 0; those that mimic a named one move with it."""
    chain: ChainSpec = ChainSpec()
    """Settings of the track model `chain` for all tracks that give none of their own."""
    steering_efficiency: Annotated[float, Field(strict=True, gt=0, le=1, allow_inf_nan=False)] | None = None
    """Yaw rate that the vehicle gets over that of belts which never slip sideways, by which `Robot.drive`
    divides the yaw rates asked of it; reckoned from its loads and its flippers' pose where none is given."""
    driver_position: Vector | None = None
    """Driver's place in the body frame [m], at which `segtrack event` takes vertical accelerations."""
    calibration: Calibration | None = None
    """Record of the fit of its numbers, as `segtrack log fit` writes it."""

    @check
    def _has_tracks(self) -> Checks:
        if not self.tracks and not self.flippers:
            yield Problem("", "must have at least one track, on the body or on a flipper")

    @check
    def _names_differ(self) -> Checks:
        names = [*self.tracks]
        for name, flipper in self.flippers.items():
            names += [f"{name}_{own}" for own in known(flipper, "tracks", {})]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Problem("", f"has two tracks named {name} (a flipper's track is named flipper_track)")

    @check
    def _tracks_are_apart(self) -> Checks:
        for (name, one), (other, two) in combinations(known(self, "tracks", {}).items(), 2):
            if overlap(one, two):
                yield Problem(f"tracks.{other}.mount", f"must not overlap track {name}'s")

    @check
    def _links_carry(self) -> Checks:
        """Mounts on links of the body that cannot carry them, and tracks that do not drive forward."""
        mass, fixed = known(self.body, "mass", None), known(self.body, "fixed", True)
        mountings = {
            f"tracks.{name}": Mounting(
                known(track, "mount.parent", "body"), known(track, "drive.reflected_mass", 0.0)
            )
            for name, track in known(self, "tracks", {}).items()
        } | {
            f"flippers.{name}": Mounting(known(flipper, "mount.parent", "body"))
            for name, flipper in known(self, "flippers", {}).items()
        }
        problems = link_problems(self.body.urdf, mass, fixed, mountings, self._without_contact)
        yield from problems
        if not problems and not fixed:
            yield from self._axles_lie_across()

    @property
    def _without_contact(self) -> tuple[str, ...]:
        return known(self.body, "without_contact", ())

    def _axles_lie_across(self) -> Checks:
        """Yield tracks that push the vehicle, whose forward is x, sideways, backwards or not at all."""
        for name, track in known(self, "tracks", {}).items():
            yield from _axle_problems(f"tracks.{name}", self.body.mounted(track.mount))
        for name, flipper in known(self, "flippers", {}).items():
            pivot = self.body.mounted(flipper.mount)
            for own, track in flipper.tracks.items():
                yield from _axle_problems(f"flippers.{name}.tracks.{own}", pivot @ track.mount.frame)

    @check
    def _joints_move(self) -> Checks:
        """Mistakes in joints and springs that only show with the body's URDF."""
        flippers = {n: known(f, "mount.parent", "body") for n, f in known(self, "flippers", {}).items()}
        sprung = {
            f"tracks.{name}.chain.suspension.{link}": link
            for name, track in known(self, "tracks", {}).items()
            if known(track, "chain", None) is not None
            for link in known(track, "chain.suspension", {})
        } | {f"chain.suspension.{link}": link for link in known(self, "chain.suspension", {})}
        yield from joint_problems(self.body.urdf, self.joints, flippers, sprung, self._without_contact)
        yield from self._springs_differ()

    def _springs_differ(self) -> Checks:
        """Yield the springs that several chains give for one link."""
        first: dict[str, tuple[str, SuspensionSpec]] = {}
        for name, track in known(self, "tracks", {}).items():
            has_own = known(track, "chain", None) is not None
            springs = known(track if has_own else self, "chain.suspension", {})
            for link, spring in springs.items():
                where = f"{f'tracks.{name}.' if has_own else ''}chain.suspension.{link}"
                place, earlier = first.setdefault(link, (where, spring))
                if earlier != spring:
                    yield Problem(where, f"must be that of {place}: one link has one spring")

    @property
    def describes_chains(self) -> bool:
        """True if the file has settings of the track model `chain`, for a track or for the vehicle."""
        return "chain" in self.model_fields_set or any(t.spec.chain is not None for t in self._mounted())

    @property
    def has_sprung_chains(self) -> bool:
        """True if a chain has wheels on links that move."""
        tree = self.with_suspension().joint_tree
        wheels = (w for t in self.mounted_tracks() if t.spec.chain for w in t.spec.chain.road_wheels or ())
        return any(w.link in tree.links and tree.links[w.link].joint >= 0 for w in wheels if w.link)

    @property
    def joint_tree(self) -> JointTree:
        """Moving joints of the body's URDF and the links they carry, read from its file."""
        return joint_tree(self.body.urdf, self.joints)

    def with_suspension(self) -> VehicleDescription:
        """Copy of the vehicle with joints for the links that its chains have springs for."""
        joints = dict(self.joints)
        for track in self.mounted_tracks():
            assert track.spec.chain is not None
            joints |= suspension_joints(self.body.urdf, track.spec.chain.suspension)
        return self.model_copy(update={"joints": joints})

    @property
    def mass(self) -> float:
        """Mass of body, flippers and belts [kg]; a chain counts as its belt."""
        flippers = sum(flipper.mass for flipper in self.flippers.values())
        return self.body.total_mass + flippers + sum(track.spec.belt.mass for track in self._mounted())

    @property
    def gauge(self) -> float | None:
        """Distance between the planes of the body's left and right tracks [m]; None if a side is missing.

        It is twice the mean distance from y = 0 of a body's tracks that mirror each other. Flippers are not
        included, but for a vehicle whose tracks of a side are all on flippers. Tracks in the middle do not
        count, so that a vehicle with one track has no gauge.
        """
        offsets = self.track_offsets
        return None if offsets is None else offsets.gauge

    @property
    def contact_length(self) -> float:
        """Length of the first track on flat ground [m] (body tracks first); 0 if it stands on a pulley."""
        return next(self._mounted()).spec.ground_length

    def side_offset(self, side: Literal["left", "right"]) -> float | None:
        """Mean y of the body's tracks on a side, or of the flippers' without any [m]; None without both."""
        tracks = [track for track in self._mounted() if track.side == side]
        places = [track.y for track in tracks if track.flipper is None] or [track.y for track in tracks]
        return sum(places) / len(places) if places else None

    @property
    def track_offsets(self) -> TrackOffsets | None:
        """Lateral offsets of the left and right tracks [m]; None if a side is missing."""
        left, right = self.side_offset("left"), self.side_offset("right")
        return None if left is None or right is None else TrackOffsets(left, right)

    def require_track_offsets(self) -> TrackOffsets:
        """Lateral offsets of the left and right tracks [m], or an error if a side is missing.

        Raises:
            InvalidValueError: It has no tracks on a side.
        """
        offsets = self.track_offsets
        if offsets is None:
            raise InvalidValueError(f"tracks of {self.name}", "on both sides", Phrase("none on one of them"))
        return offsets

    def mounted_tracks(self) -> Iterator[MountedTrack]:
        """Tracks of the vehicle: the body's first, then the flippers' in the order of the file.

        What a track leaves to its vehicle is filled in.
        """
        for track in self._mounted():
            yield replace(track, spec=self.with_chain(track.spec))

    def _mounted(self) -> Iterator[MountedTrack]:
        """Tracks as the file gives them, in the order of `mounted_tracks`."""
        for name, track in self.tracks.items():
            yield MountedTrack(name, track, None, float(self.body.mounted(track.mount).origin[1]))
        for flipper_name, flipper in self.flippers.items():
            pivot = self.body.mounted(flipper.mount)
            for name, track in flipper.tracks.items():
                y = float((pivot @ track.mount.frame).origin[1])
                yield MountedTrack(f"{flipper_name}_{name}", track, flipper_name, y)

    def without_belts(self) -> VehicleDescription:
        """Copy of the vehicle with massless belts, for track models whose belts are bodies of their own."""

        def bare(tracks: dict[str, TrackSpec]) -> dict[str, TrackSpec]:
            belts = {name: track.belt.model_copy(update={"mass": 0.0}) for name, track in tracks.items()}
            return {name: track.model_copy(update={"belt": belts[name]}) for name, track in tracks.items()}

        flippers = {n: f.model_copy(update={"tracks": bare(f.tracks)}) for n, f in self.flippers.items()}
        return self.model_copy(update={"tracks": bare(self.tracks), "flippers": flippers})

    def with_chain(self, track: TrackSpec) -> TrackSpec:
        """Copy of a track of the vehicle, with the vehicle's chain where the track gives none."""
        return track if track.chain is not None else track.model_copy(update={"chain": self.chain})
