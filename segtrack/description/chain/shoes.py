"""Shoes of a link chain and the bushings between them, from the file or derived from the belt."""

from __future__ import annotations

from segtrack.chain import Bushing, Shoe
from segtrack.description.chain.loop import ChainLayout, damping_of
from segtrack.errors import InvalidValueError
from segtrack.geometry import PlateLoop


def design_shoe(layout: ChainLayout, loop: PlateLoop) -> Shoe:
    """A plate, whose inertia is that of a box with the grouser's mass spread over it."""
    box = Shoe.of_box(layout.shoe_mass, (loop.pitch, layout.spec.width, layout.thickness))
    pins = layout.thickness / 2 - loop.depth  # Over the plate's middle.
    return Shoe(
        mass=box.mass,
        inertia=layout.chain.shoes.inertia or box.inertia,
        bushing_position=(-loop.pitch / 2, 0.0, pins),
        pin_position=(loop.pitch / 2, 0.0, pins),
    )


def design_bushing(layout: ChainLayout, shoe: Shoe) -> Bushing:
    """Pin-bushing whose conical stiffness is that of a bushing as wide as the track.

    Raises:
        InvalidValueError: It turns out of its axis more easily than it bends; around a wheel it would flip.
    """
    given, width, stiffness = layout.chain.bushing, layout.spec.width, layout.bushing_stiffness
    conical_stiffness = given.conical_stiffness or stiffness * width**2 / 12
    if given.bending_stiffness > conical_stiffness:
        expected = f"at most its conical_stiffness, {conical_stiffness:.4g} N m/rad"
        what = f"chain.bushing.bending_stiffness of {layout.name}"
        raise InvalidValueError(what, expected, given.bending_stiffness)
    inertia = min(shoe.inertia[0], shoe.inertia[2])
    stop_stiffness = stiffness * layout.thickness**2
    return Bushing(
        stiffness=stiffness,
        damping=damping_of(given.damping_ratio, stiffness, shoe.mass / 2),
        conical_stiffness=conical_stiffness,
        conical_damping=damping_of(given.damping_ratio, conical_stiffness, inertia / 2),
        pin_stiffness=given.bending_stiffness,
        pin_damping=given.bending_damping,
        back_bend=given.back_bend,
        stop_stiffness=stop_stiffness,
        stop_damping=damping_of(given.damping_ratio, stop_stiffness, shoe.inertia[1] / 2),
    )
