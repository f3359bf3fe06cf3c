"""Joints of the links that chains have springs for."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from segtrack.description.chain import SuspensionSpec
from segtrack.description.joints.spec import DamperSpec, JointSpec, SpringSpec
from segtrack.description.joints.urdf import MOVABLE, read_joints
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError


def suspension_joints(
    urdf: str | None, track: str, suspension: Mapping[str, SuspensionSpec]
) -> dict[str, JointSpec]:
    """Return joints with the springs and dampers of a chain's `suspension`, by the joints' names.

    Args:
        urdf: URDF file of the body; None for a body without one.
        track: Name of the track, for messages.
        suspension: Springs by the link that they move.

    Raises:
        UnknownNameError: There is no such link.
        InvalidValueError: No joint moves it.
    """
    if not suspension:
        return {}
    robot = ElementTree.parse(urdf).getroot() if urdf is not None else None
    joints = read_joints(robot) if robot is not None else {}
    links = [str(link.get("name")) for link in robot.iterfind("link")] if robot is not None else ["body"]
    moving = {joint.child: joint for joint in joints.values()}
    found = {}
    for link, spec in suspension.items():
        if link not in links:
            raise UnknownNameError(f"link for the chain of {track}", link, links)
        if link not in moving or moving[link].kind not in MOVABLE:
            kind = f"one on a {moving[link].kind} joint" if link in moving else "the root"
            expected = f"a link on a joint of type {', '.join(MOVABLE)}"
            raise InvalidValueError(f"chain.suspension.{link} of {track}", expected, Phrase(kind))
        found[moving[link].name] = JointSpec(
            spring=SpringSpec(stiffness=spec.stiffness, free_position=spec.free_position),
            damper=DamperSpec(damping=spec.damping),
            friction=0.0,
        )
    return found
