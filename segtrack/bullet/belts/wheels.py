"""Aligned wheels in place of a belt: the multiple-wheel method (Okada et al. 2020, section II-A).

The wheels stand along the ground line, from the axle of the arc at one end to that of
the arc at the other, and their rims go as far out as the grousers. Each has its own
motor and turns at belt speed / radius; they share the drive's force limit equally.
"""

from __future__ import annotations

from functools import partial

from segtrack.bullet.belts.joint_belt import MAX_JOINTS, JointBelt, JointBeltGroup
from segtrack.bullet.model import TrackBuilder, TrackJoints
from segtrack.description import TrackSpec
from segtrack.engine import wheel_count
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import Arc, Cylinder, Line, Placed, SegmentLink


def wheels_builder(name: str) -> TrackBuilder:
    """Return the builder of a track model `wheels:N`.

    Raises:
        InvalidValueError: Fewer than two wheels, more than PyBullet can have, or no number of them.
    """
    count = wheel_count(name)
    if count > MAX_JOINTS:
        raise InvalidValueError("track model wheels:N", f"at most {MAX_JOINTS} wheels", name)
    return TrackBuilder(partial(_track_links, count=count), _create_belt, JointBeltGroup)


def _track_links(spec: TrackSpec, count: int) -> tuple[SegmentLink, ...]:
    """Return the links of a track: `count` wheels, the front one first."""
    front, rear = _ends(spec)
    lift = spec.grousers.height if spec.grousers is not None else 0.0
    mass = spec.belt.mass / count
    wheels = []
    for i in range(count):
        fraction = i / (count - 1)
        x, z = (1 - fraction) * front.center + fraction * rear.center
        radius = (1 - fraction) * front.radius + fraction * rear.radius
        # The belt as a hoop, and the drive's inertia. With hoops out at the rims, or the drive's mass in
        # the wheels, the body that carries them could be left with less than no inertia.
        spin = spec.moving_mass / count * radius**2
        across = spin / 2 + mass * spec.width**2 / 12
        wheels.append(
            SegmentLink(
                name=f"wheel_{i}",
                joint="hinge",
                x=float(x),
                z=float(z),
                heading=0.0,
                ratio=1 / (radius + lift),
                mass=mass,
                inertia=(across, spin, across),
                shapes=(Placed(Cylinder(radius + lift, spec.width)),),
            )
        )
    return tuple(wheels)


def _create_belt(client: int, track: TrackJoints) -> JointBelt:
    """Drive each of a loaded track's wheels; a round wheel is never set back."""
    return JointBelt(client, track, motors=tuple(range(len(track.joints))), period=None)


def _ends(spec: TrackSpec) -> tuple[Arc, Arc]:
    """The arcs at the front and at the rear of the ground line, which a belt runs from front to rear."""
    path = spec.belt_path
    segments, i = path.segments, path.ground
    front, rear = segments[i - 1], segments[(i + 1) % len(segments)]
    if isinstance(segments[i], Line) and isinstance(front, Arc) and isinstance(rear, Arc):
        if front.turn > 0 and rear.turn > 0:
            return front, rear
    expected = "a ground line between two outward arcs"
    raise InvalidValueError("path of a track of wheels", expected, Phrase(", ".join(path.names)))
