"""Contact laws of a chain: of its shoes with wheels and terrain, and of its bushings with teeth."""

from __future__ import annotations

from collections.abc import Sequence

from segtrack.chain.running_gear.parameters import WheelContactParameters, wheel_contact_parameters
from segtrack.chain.running_gear.sprocket import Sprocket
from segtrack.chain.shoes.model import Bushing, Shoe
from segtrack.description.chain import SprocketSpec
from segtrack.description.chain_layout.layout import LATERAL_CLEARANCE, ChainLayout, damping_of
from segtrack.geometry.plate_loop import PlateLoop
from segtrack.ground.parameters import ContactParameters, contact_parameters
from segtrack.ground.tread import Tread

_WHEEL_FRICTION = 0.3
"""Coulomb coefficient between rails and wheels without a drum."""
_STIFFNESS_RATIO = 0.2
"""Stiffness of a shoe's contacts with wheels, per stiffness of a bushing."""
_GROUND_STIFFNESS_RATIO = 0.1
"""Stiffness of a contact point on the ground, per stiffness of a bushing."""
_DAMPING_RATIO = 0.15
"""Damping of a shoe on one contact, over critical [-]. Tuned: from 0.1 on PackBot pulls friction times weight
within 5 % at 0.1 to 0.3 m/s; with 0.05 it rocks from side to side at 51 Hz and pulls 7 % less."""
_TOOTH_FRICTION = 0.05
"""Coulomb coefficient between teeth and bushings."""
_TOOTH_SLIP_SPEED = 1.0
"""Slip velocity at which friction on teeth is fully developed [m/s]."""


def design_wheel_contact(layout: ChainLayout, shoe: Shoe, bushing: Bushing) -> WheelContactParameters:
    """Law of a rail on a wheel: as stiff as a fraction of a bushing, under the drive's stall force."""
    stall, stiffness = layout.spec.drive.stall_force, _STIFFNESS_RATIO * bushing.stiffness
    return wheel_contact_parameters(
        stiffness=(stiffness / (1.5 * stall ** (1 / 3))) ** 1.5,
        damping=damping_of(_DAMPING_RATIO, stiffness, shoe.mass),
        friction=layout.chain.drum.friction if layout.chain.drum is not None else _WHEEL_FRICTION,
        tangential_stiffness=stiffness,
    )


def design_sprocket(layout: ChainLayout, loop: PlateLoop, shoe: Shoe, bushing: Bushing) -> Sprocket | None:
    """Teeth of the driven wheel; none on a drum."""
    if layout.chain.drum is not None:
        return None
    stiffness = _STIFFNESS_RATIO * bushing.stiffness
    return Sprocket.for_pitch(
        shoe.pitch,
        loop.teeth,
        layout.bushing_radius(shoe.pitch),
        stiffness,
        (layout.chain.sprocket or SprocketSpec()).pressure_angle,
        damping=damping_of(_DAMPING_RATIO, stiffness, shoe.mass),
        friction=_TOOTH_FRICTION,
        slip_speed=_TOOTH_SLIP_SPEED,
        side_clearance=LATERAL_CLEARANCE * layout.spec.width,
        side_stiffness=stiffness,
    )


def design_shoe_contact(
    layout: ChainLayout, shoe: Shoe, bushing: Bushing, treads: Sequence[Tread]
) -> ContactParameters:
    """Law of a shoe's contact points on rigid ground; their damping together is that of the shoe."""
    given = layout.chain.shoe_contact
    stiffness = given.stiffness or _GROUND_STIFFNESS_RATIO * bushing.stiffness
    points = max(len(tread.contact_points) for tread in treads)
    damping = damping_of(given.damping_ratio, points * stiffness, shoe.mass) / points
    return contact_parameters(
        friction=layout.spec.contact.friction,
        stiffness=stiffness,
        damping=damping,
        tangential_stiffness=stiffness,
        tangential_damping=damping,
    )
