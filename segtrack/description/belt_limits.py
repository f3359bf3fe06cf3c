"""Checks that a vehicle's belts can be modelled by segments."""

from __future__ import annotations

from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import Problem
from segtrack.geometry import ground_dip

_MAX_DIP = 1e-4
"""Largest dip below the ground that counts as none [m]: that of a grouser's crown."""


def segments_dip(track: TrackSpec) -> float:
    """Return the depth by which a track's straight segments would dip below flat ground [m], or 0."""
    if track.grousers is None:
        return 0.0
    dip = ground_dip(track.belt_path, track.segment_links(), track.period, track.grousers.height)
    return dip if dip > _MAX_DIP else 0.0


def segments_problems(vehicle: VehicleDescription) -> list[Problem]:
    """List the reasons why the track model `segments` cannot drive a vehicle's belts."""
    tracks = [(f"tracks.{name}", track) for name, track in vehicle.tracks.items()]
    for name, flipper in vehicle.flippers.items():
        tracks += [(f"flippers.{name}.tracks.{own}", track) for own, track in flipper.tracks.items()]
    problems = []
    for where, given in tracks:
        track = vehicle.with_chain(given)
        dip = segments_dip(track)
        if dip > 0:
            got = f"{dip * 1e3:.2g} mm with a belt that repeats every {track.period * 1e3:.3g} mm"
            problems.append(
                Problem(
                    f"{where}.grousers",
                    f"must not let straight segments run into the ground, got {got}: take more grousers, "
                    "fewer shapes in pattern or larger pulleys, or another track model",
                )
            )
    return problems
