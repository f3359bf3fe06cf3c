"""Masses and inertias of the links of a vehicle's URDF, with its belts on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from segtrack.description.frames import (
    Frame,
    link_frames,
    link_masses,
    read_inertial,
    read_tensor,
    weighing_links,
)
from segtrack.description.track import TrackSpec
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.links import SegmentLink
from segtrack.geometry.mass import MassProperties, uniform_belt
from segtrack.geometry.rotation import rotation_of

_NEGLIGIBLE = MassProperties.of(1e-6, (0.0, 0.0, 0.0), 1e-9 * np.eye(3))
"""Mass properties for a user's link without a mass, to which PyBullet would give 1 kg."""


@dataclass(frozen=True)
class InertialParent:
    """URDF link whose inertia carries a track: its parent, or the link that the parent is fixed to.

    Attributes:
        link: The link.
        frame: Frame of the track's parent in that of the link; None if they are the same link.
    """

    link: Element
    frame: Frame | None

    @classmethod
    def of(cls, robot: Element, parent: str) -> InertialParent:
        """Find the link whose inertia carries a track that is mounted on a link."""
        name = weighing_links(robot)[parent]
        assert name is not None, "a description's tracks are on links with a mass, or fixed to one"
        frames = link_frames(robot)
        return cls(_link(robot, name), None if name == parent else frames[parent].seen_from(frames[name]))

    def seen(self, spec: TrackSpec, properties: MassProperties) -> MassProperties:
        """The properties of a track's part, given in the track frame, in the link's frame."""
        in_parent = properties.transformed(rotation_of(spec.mount.rpy), np.asarray(spec.mount.xyz))
        return (
            in_parent if self.frame is None else in_parent.transformed(self.frame.rotation, self.frame.origin)
        )


def fill_massless_links(robot: Element) -> None:
    """Give the user's links without a mass a negligible one."""
    for name, mass in link_masses(robot).items():
        if mass == 0:
            set_inertial(_link(robot, name), _NEGLIGIBLE)


def subtract_reflected_mass(carrier: InertialParent, spec: TrackSpec) -> None:
    """Move the drive's reflected mass from what carries the track to the belt.

    The carrier keeps the shape of its inertia, and the vehicle its mass and centre of mass.
    """
    element = carrier.link
    reflected = carrier.seen(spec, uniform_belt(spec.belt_path, spec.width, spec.drive.reflected_mass))
    own = read_inertial(element)
    mass = own.mass - reflected.mass
    assert mass > 0, "a description's bodies outweigh their drives' reflected mass"
    inertia = own.inertia * mass / own.mass
    set_inertial(
        element, MassProperties.of(mass, (own.first_moment - reflected.first_moment) / mass, inertia)
    )


def balance_inertia(carrier: InertialParent, spec: TrackSpec, links: Sequence[SegmentLink]) -> None:
    """Give what carries a track what a track's links leave out of the properties of a uniform belt."""
    belt = uniform_belt(spec.belt_path, spec.width, spec.moving_mass)
    for link in links:
        belt = belt - link.properties
    set_inertial(carrier.link, read_inertial(carrier.link) + carrier.seen(spec, belt))


def refuse_bad_inertia(robot: Element) -> None:
    """Refuse what Bullet would silently replace by no inertia at all."""
    for link in robot.iterfind("link"):
        # As the file has it: what rounding adds about another point could refuse a thin plate.
        smallest, middle, largest = np.linalg.eigvalsh(read_tensor(link.find("inertial")))
        if smallest <= 0 or largest > smallest + middle:
            what = f"principal moments of inertia of link {link.get('name')} [kg m^2]"
            got = Phrase(", ".join(f"{moment:.3g}" for moment in (smallest, middle, largest)))
            raise InvalidValueError(what, "positive, and none above the sum of the other two", got)


def set_inertial(link: Element, properties: MassProperties) -> None:
    """Set a link's inertial; what it had is replaced."""
    for old in link.findall("inertial"):
        link.remove(old)
    element = Element("inertial")
    link.insert(0, element)
    SubElement(element, "origin", xyz=number_text(properties.center), rpy="0 0 0")
    SubElement(element, "mass", value=number_text([properties.mass]))
    inertia = np.where(np.abs(properties.inertia) < 1e-12, 0.0, properties.inertia)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    values = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    SubElement(element, "inertia", {key: number_text([value]) for key, value in values.items()})


def number_text(values: Iterable[float]) -> str:
    """Numbers of a URDF's attribute."""
    return " ".join(f"{value:.12g}" for value in values)


def _link(robot: Element, name: str) -> Element:
    return next(link for link in robot.iterfind("link") if link.get("name") == name)
