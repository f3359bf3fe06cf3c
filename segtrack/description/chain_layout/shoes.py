"""A chain's shoes, bushings and treads."""

from __future__ import annotations

from dataclasses import replace

from segtrack.chain.shoes.model import Bushing, Shoe
from segtrack.description.chain_layout.layout import ChainLayout, damping_of
from segtrack.description.grousers import BoxShape, CylinderShape, MeshShape, TrapezoidShape
from segtrack.geometry.plate_loop import PlateLoop
from segtrack.ground.tread import Grouser, Tread


def design_shoe(layout: ChainLayout, loop: PlateLoop) -> Shoe:
    """A plate, whose inertia is that of a box with the grouser's mass spread over it."""
    mass = layout.chain.shoes.mass or layout.spec.belt.mass / layout.count
    box = Shoe.of_box(mass, (loop.pitch, layout.spec.width, layout.thickness))
    pins = layout.thickness / 2 - loop.depth  # Over the plate's middle.
    return Shoe(
        mass=mass,
        inertia=box.inertia,
        bushing_position=(-loop.pitch / 2, 0.0, pins),
        pin_position=(loop.pitch / 2, 0.0, pins),
    )


def design_bushing(layout: ChainLayout, shoe: Shoe) -> Bushing:
    """The pin-bushing, as stiff against cones as one that is as wide as the track."""
    given, width = layout.chain.bushing, layout.spec.width
    conical_stiffness = given.conical_stiffness or given.stiffness * width**2 / 12
    inertia = min(shoe.inertia[0], shoe.inertia[2])
    stop_stiffness = given.stiffness * layout.thickness**2
    return Bushing(
        stiffness=given.stiffness,
        damping=damping_of(given.damping_ratio, given.stiffness, shoe.mass / 2),
        conical_stiffness=conical_stiffness,
        conical_damping=damping_of(given.damping_ratio, conical_stiffness, inertia / 2),
        back_bend=given.back_bend,
        stop_stiffness=stop_stiffness,
        stop_damping=damping_of(given.damping_ratio, stop_stiffness, shoe.inertia[1] / 2),
    )


def design_treads(layout: ChainLayout, shoe: Shoe) -> tuple[Tread, ...]:
    """The shoes' outer sides: a shoe carries one grouser, of the belt's shapes in turn."""
    spec = layout.spec
    plate = Tread(shoe.pitch, spec.width, layout.thickness / 2, layout.thickness)
    if spec.grousers is None:
        return (plate,)
    return tuple(replace(plate, grouser=_grouser(shape.kind)) for shape in spec.grousers.shapes)


def _grouser(shape: BoxShape | TrapezoidShape | CylinderShape | MeshShape) -> Grouser:
    """A trapezoid as long as any shape at its foot, and at its tip as its kind says."""
    rear, front = shape.extent
    base = front - rear
    match shape:
        case BoxShape():
            return Grouser(shape.height, base, base)
        case TrapezoidShape():
            return Grouser(shape.height, base, min(shape.top, base))
        case _:
            return Grouser(shape.height, base, base / 2, (rear + front) / 2)
