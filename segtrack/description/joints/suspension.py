"""Joints that move wheels of chains on springs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from segtrack.description.chain import SuspensionSpec
from segtrack.description.joints.spec import DamperSpec, JointSpec, SpringSpec
from segtrack.description.joints.urdf import read_joints
from segtrack.errors import UnknownNameError


def suspension_joints(urdf: str | None, suspension: Mapping[str, SuspensionSpec]) -> dict[str, JointSpec]:
    """Return joints with the springs and dampers of a chain's `suspension`, by joint name.

    Args:
        urdf: URDF file of the body; None for a body without one, which has no springs.
        suspension: Springs and dampers by the name of the link that carries the wheels.

    Raises:
        UnknownNameError: A joint of the URDF moves no such link.
    """
    joints = () if urdf is None else read_joints(ElementTree.parse(urdf).getroot()).values()
    carriers = {joint.child: joint.name for joint in joints}
    for link in suspension:
        if link not in carriers:
            raise UnknownNameError("link that a joint moves, for chain.suspension", link, carriers)
    return {
        carriers[link]: JointSpec(
            spring=SpringSpec(stiffness=spec.stiffness, free_position=spec.free_position),
            damper=DamperSpec(damping=spec.damping),
            friction=0.0,
        )
        for link, spec in suspension.items()
    }
