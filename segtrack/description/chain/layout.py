"""Design of a track as a link chain: shoes, bushings and contacts that stand for the belt of the file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from segtrack.chain import (
    Bushing,
    Chain,
    Rail,
    RunningGear,
    Shoe,
    TrackChain,
    TrackDesign,
    parents_at_rest,
    tension_tracks,
)
from segtrack.description.chain.loop import ChainLayout, damping_of, fit_loop
from segtrack.description.chain.spec import WheelSpec
from segtrack.description.chain.wheels import (
    design_sprocket,
    design_wheel_contact,
    design_wheels,
    reflected_inertia,
)
from segtrack.description.compliant_layout import GRAVITY
from segtrack.description.grousers import BoxShape, CylinderShape, MeshShape, TrapezoidShape
from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.geometry import PlateLoop
from segtrack.ground import ContactParameters, Grouser, Tread, contact_parameters


def design_shoe(layout: ChainLayout, loop: PlateLoop) -> Shoe:
    """Shoe with the inertia of a uniform box; the grouser's mass is spread over it."""
    box = Shoe.of_box(layout.shoe_mass, (loop.pitch, layout.spec.width, layout.thickness))
    pins = layout.thickness / 2 - loop.depth  # Over the plate's middle.
    return Shoe(
        mass=box.mass,
        inertia=layout.chain.shoes.inertia or box.inertia,
        bushing_position=(-loop.pitch / 2, 0.0, pins),
        pin_position=(loop.pitch / 2, 0.0, pins),
    )


def design_bushing(layout: ChainLayout, shoe: Shoe) -> Bushing:
    """Bushing between shoes, by default with the conical stiffness of one as wide as the track.

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


_GROUND_STIFFNESS_RATIO = 0.1
"""Stiffness of a contact point on the ground, per stiffness of a bushing."""


def design_shoe_contact(
    layout: ChainLayout, shoe: Shoe, bushing: Bushing, treads: Sequence[Tread]
) -> ContactParameters:
    """Contact law of a shoe's points on rigid ground; their damping adds up to that of the shoe."""
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


def design_treads(layout: ChainLayout, shoe: Shoe) -> tuple[Tread, ...]:
    """Outer sides of the shoes, one per shape: each shoe carries one grouser, the belt's shapes in turn."""
    spec = layout.spec
    plate = Tread(shoe.pitch, spec.width, layout.thickness / 2, layout.thickness)
    if spec.grousers is None:
        return (plate,)
    return tuple(replace(plate, grouser=_grouser(shape.kind)) for shape in spec.grousers.shapes)


def _grouser(shape: BoxShape | TrapezoidShape | CylinderShape | MeshShape) -> Grouser:
    """Trapezoid for a grouser shape: base as long as the shape, top by its kind."""
    rear, front = shape.extent
    base = front - rear
    match shape:
        case BoxShape():
            return Grouser(shape.height, base, base)
        case TrapezoidShape():
            return Grouser(shape.height, base, min(shape.top, base))
        case _:
            return Grouser(shape.height, base, base / 2, (rear + front) / 2)


MIN_SUB_STEP = 1e-6
"""Sub-step of a chain that is worth waiting for [s]."""


def weight_on_chains(vehicle: VehicleDescription) -> float:
    """Weight of a vehicle that its chains are designed for [N]; 0 if the body is fixed."""
    return 0.0 if vehicle.body.fixed else vehicle.mass * GRAVITY


def track_design(name: str, spec: TrackSpec, weight: float = 0.0) -> TrackDesign:
    """Design the link chain for a track of a vehicle file.

    Args:
        name: Name of the track, for messages.
        spec: Track, with its `chain` filled in.
        weight: Weight of the vehicle, see `weight_on_chains` [N]. Bushings without a stiffness in the file
            are made for the drive's largest force, within half of the weight and all of it; with 0, for the
            drive's force alone.

    Raises:
        InvalidValueError: It cannot be closed, does not fit around its wheels, needs shorter sub-steps than
            `MIN_SUB_STEP`, or has a pretension or a torque table that contradicts the rest.
        UnknownNameError: The chain names a pulley that the path does not have.
    """
    assert spec.chain is not None
    layout = ChainLayout(name, spec, spec.chain, weight)
    _check_pretension(layout)
    loop = fit_loop(layout)
    _check_drive_radius(layout, loop)
    shoe = design_shoe(layout, loop)
    bushing = design_bushing(layout, shoe)
    treads = design_treads(layout, shoe)
    reflected, ratio = reflected_inertia(layout, loop), spec.drive.gear_ratio
    design = TrackDesign(
        name=name,
        chain=Chain(len(loop.headings), shoe, bushing),
        running_gear=RunningGear(
            wheels=design_wheels(layout, loop),
            driven=0,
            rail=Rail(layout.thickness - loop.depth, layout.rail_stations),
            contact=design_wheel_contact(layout, WheelSpec()),
            sprocket=design_sprocket(layout, loop),
            reflected_inertia=reflected,
            rotor_inertia=0.0 if ratio is None else reflected / ratio,
        ),
        treads=treads,
        shoe_contact=design_shoe_contact(layout, shoe, bushing, treads),
        hinges=loop.hinges,
        initial_sprocket_angle=loop.sprocket_phase,
        max_contact_force=max(spec.drive.stall_force, spec.drive.brake_force, 2 * layout.pretension),
        pretension=layout.pretension,
        remarks=tuple(_remarks(layout)),
        parent_link_names=layout.parent_link_names,
    )
    if design.max_sub_step < MIN_SUB_STEP:
        expected = f"soft and heavy enough for sub-steps of at least {MIN_SUB_STEP:g} s"
        got = Phrase(f"one that needs {design.max_sub_step:.3g} s")
        raise InvalidValueError(f"chain of {name}", expected, got)
    return design


_MAX_STRETCH = 1.0
"""Stretch of half a chain at which it lies slack behind its driven wheel and skips teeth, per pitch."""


def _check_pretension(layout: ChainLayout) -> None:
    """Refuse a pretension at which bushings stretch so far that the idler slides by a pitch.

    Raises:
        InvalidValueError: It does.
    """
    given = layout.chain.tensioner.pretension
    most = layout.bushing_stiffness / layout.stiffness_against(1.0, _MAX_STRETCH)
    if given is not None and given > most:
        expected = f"at most {most:.3g} N, which slides its idler by a pitch, with bushings of "
        expected += f"{layout.bushing_stiffness:.3g} N/m"
        raise InvalidValueError(f"chain.tensioner.pretension of {layout.name}", expected, given)


def _remarks(layout: ChainLayout) -> Iterator[str]:
    """Yield warnings of bushings that stretch too far under the drive, and of a pretension capped by them."""
    force, stiffness = layout.driving_force, layout.bushing_stiffness
    least = layout.stiffness_against(force, _MAX_STRETCH)
    if stiffness < least:
        stretch = force * layout.count / (2 * stiffness)
        yield (
            f"chain.bushing.stiffness of {layout.name}, {stiffness:.3g} N/m, lets half of the chain stretch "
            f"by {stretch:.3g} m under the {force:.4g} N of its drive, more than its pitch of "
            f"{layout.pitch:.3g} m, so that it can skip teeth; it needs {least:.3g} N/m, and has "
            f"{layout.least_stiffness:.3g} N/m if not given"
        )
    if layout.pretension < layout.wanted_pretension:
        yield (
            f"pretension of {layout.name} is {layout.pretension:.3g} N, since more would stretch its "
            f"bushings of {stiffness:.3g} N/m too far; {layout.wanted_pretension:.3g} N would suit its drive"
        )


def _check_drive_radius(layout: ChainLayout, loop: PlateLoop) -> None:
    """Refuse torques given at another radius than the pitch circle of the sprocket in the file.

    Raises:
        InvalidValueError: They differ by more than a twentieth.
    """
    chain, table = layout.chain, layout.spec.drive.torque_table
    designed = chain.shoes.pitch is None and (chain.sprocket is None or chain.sprocket.teeth is None)
    if table is None or designed or chain.drum is not None:
        return
    pitch_radius = loop.pitch / (2 * math.sin(math.pi / loop.teeth))
    if abs(table.radius / pitch_radius - 1) > 0.05:
        expected = f"about the {pitch_radius:.4g} m of its sprocket's pitch circle"
        raise InvalidValueError(f"drive.torque_table.radius of {layout.name} [m]", expected, table.radius)


def check_links(design: TrackDesign, links: Iterable[str]) -> None:
    """Refuse wheels on links that the body's URDF does not have.

    Raises:
        UnknownNameError: There is such a wheel.
    """
    known = tuple(links)
    for name in design.parent_link_names:
        if name not in known:
            raise UnknownNameError(f"link for the chain of {design.name}", name, known)


def check_sides(vehicle: VehicleDescription, designs: Iterable[TrackDesign]) -> None:
    """Refuse wheels of chains on links that lie on the other side of the vehicle.

    Raises:
        InvalidValueError: There is such a wheel.
    """
    tree, tracks = vehicle.joint_tree, {track.name: track for track in vehicle.mounted_tracks()}
    at_home = tree.frames({})
    for name, link in ((design.name, link) for design in designs for link in design.parent_link_names):
        track, place = tracks[name], tree.links[link]
        frame = at_home[tree.joints[place.joint].child] @ place.frame if place.joint >= 0 else place.frame
        y = float(frame.origin[1])
        if y * track.y < 0 and abs(y) > track.spec.width / 2:
            got = Phrase(f"{link}, which is at y = {y:.4g} m, the track at {track.y:.4g} m")
            raise InvalidValueError(f"link for the chain of {name}", "on its side of the vehicle", got)


class ChainCheck(NamedTuple):
    """Result of `check_chains`.

    Attributes:
        problems: Reasons why the track model `chain` cannot drive the vehicle: a track's design, or a
            tensioner that its chain does not bear.
        remarks: Sentences on each chain that was built, with its tension and sag at rest.
    """

    problems: list[str]
    remarks: list[str]


def check_chains(vehicle: VehicleDescription) -> ChainCheck:
    """Build and tension the chains of a vehicle; mistakes are returned, not raised."""
    problems, chains = list[str](), list[TrackChain]()
    weight = weight_on_chains(vehicle)
    for track in vehicle.mounted_tracks():
        assert track.spec.chain is not None
        try:
            design = track_design(track.name, track.spec, weight)
            check_links(design, vehicle.with_suspension().joint_tree.links)
            check_sides(vehicle.with_suspension(), [design])
            still = parents_at_rest(1 + len(design.parent_link_names))
            chains.append(TrackChain(design, still, track.spec.chain.sub_step))
        except (InvalidValueError, UnknownNameError) as error:
            problems.append(str(error))
    if problems:
        return ChainCheck(problems, [])
    try:
        remarks = tension_tracks(chains)
    except InvalidValueError as error:
        return ChainCheck([str(error)], [])
    rest = dict[str, list[str]]()
    for chain in chains:
        rest.setdefault(_rest_of(chain), []).append(chain.design.name)
    told = [f"chain of {', '.join(names)}: {sentence}" for sentence, names in rest.items()]
    return ChainCheck([], [*told, *remarks])


def _rest_of(chain: TrackChain) -> str:
    """Sentence on the tension and the sag of a chain at rest."""
    tension, shoe = chain.read_tension(), chain.design.chain.shoe
    span = chain.design.longest_upper_span
    sag = shoe.mass / shoe.pitch * GRAVITY * span**2 / (8 * tension)
    return f"{tension:.4g} N at rest, sags by {1e3 * sag:.2g} mm over {span:.3g} m"
