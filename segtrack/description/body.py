"""Body of a vehicle file: given by numbers, or by the user's own URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from segtrack.description.base import (
    XML_ERRORS,
    Checks,
    ExistingFile,
    Positive,
    Spec,
    Vector,
    check,
    exactly_one,
    given_one,
)
from segtrack.description.frames import Frame, LinkShape, body_shapes, link_frames, link_masses
from segtrack.description.track import Mount
from segtrack.description.urdf_checks import parent_link
from segtrack.errors import Problem


class Body(Spec):
    """Body of a vehicle: given by numbers, or by the user's own URDF."""

    mass: Positive | None = None
    """Belts and flippers not included [kg]."""
    size: tuple[Positive, Positive, Positive] | None = None
    """Length, width, height of the box that collides and gives the inertia [m]."""
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    """Centre of mass in the body frame, whose origin is the middle of the box [m]."""
    urdf: ExistingFile | None = None
    """URDF file, relative to the vehicle file; its links, joints and meshes are kept."""
    without_contact: tuple[str, ...] = ()
    """Links of the URDF whose collision shapes touch nothing, in any engine: shapes that stand for tracks,
    which belts replace. `segtrack validate` names links that would carry the vehicle beside its belts."""
    fixed: bool = False
    """Bolted to the world: a conveyor."""

    @check
    def _numbers_or_urdf(self) -> Checks:
        yield from exactly_one(self, ("mass", "urdf"))

    @check
    def _mass_with_size(self) -> Checks:
        given_one(self, ("mass", "urdf"))
        if (self.mass is None) != (self.size is None):
            yield Problem("", "must have size with mass and not with urdf")

    @check
    def _no_center_of_a_urdf(self) -> Checks:
        if self.urdf is not None and "center_of_mass" in self.model_fields_set:
            yield Problem("", "must not have center_of_mass beside urdf")

    @check
    def _links_without_contact(self) -> Checks:
        """Links of `links_without_contact` that the URDF does not have, or a list without a URDF."""
        if not self.without_contact:
            return
        if self.urdf is None:
            yield Problem("without_contact", "must be left out of a body without urdf")
            return
        try:
            names = [str(link.get("name")) for link in ElementTree.parse(self.urdf).iterfind("link")]
        except XML_ERRORS:
            return  # `link_problems` says so.
        for i, name in enumerate(self.without_contact):
            if name not in names:
                message = f"has no link {name!r}; there are: {', '.join(names)}"
                yield Problem(f"without_contact[{i}]", message)

    def contact_shapes(self) -> Iterator[tuple[str, LinkShape]]:
        """Collision shapes that can touch something, each with its link's name: the outline of the body.

        They are the collision shapes of its URDF; its box, of a link `body`, without one.
        """
        if self.urdf is not None:
            shapes = body_shapes(self.urdf, "collision")
            yield from ((link, shape) for link, shape in shapes if link not in self.without_contact)
        elif self.size is not None:
            box = ElementTree.Element("box", size=" ".join(map(repr, self.size)))
            yield "body", LinkShape(box, Frame.at((0, 0, 0), (0, 0, 0)), Path())

    @property
    def total_mass(self) -> float:
        """Mass without belts and flippers: the given number, or the sum of the URDF's links [kg]."""
        if self.urdf is not None:
            return sum(link_masses(ElementTree.parse(self.urdf).getroot()).values())
        assert self.mass is not None
        return self.mass

    def mounted(self, mount: Mount) -> Frame:
        """Frame of a mount in the body frame (the root link's), with all joints of a URDF at 0."""
        return self._parent_frames[mount.parent] @ mount.frame

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links: `body` for the body frame, and a URDF's (one of which may have that name)."""
        urdf = () if self.urdf is None else link_frames(ElementTree.parse(self.urdf).getroot())
        return ("body", *urdf)

    @cached_property
    def _parent_frames(self) -> dict[str, Frame]:
        """Frames of possible parent links of a mount, in the body frame."""
        if self.urdf is None:
            return {"body": Frame.at((0, 0, 0), (0, 0, 0))}
        robot = ElementTree.parse(self.urdf).getroot()
        frames = link_frames(robot)
        return {"body": frames[parent_link(robot, "body")]} | frames
