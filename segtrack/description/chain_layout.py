"""A track as a link chain: shoes, wheels and tread that a vehicle file asks for, or the belt suggests.

What the file leaves open is derived so that the chain stands for the same belt: as many shoes
as grousers, as heavy together as the belt, their outer faces on the belt's outer face. The
pins lie near the middle of the belt's thickness, where a whole number of teeth fits the
sprocket. The arc that turns most is the driven wheel, the one farthest from it the idler,
which slides on a tensioner; free rollers carry the straight pieces.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from segtrack.chain.design import TrackDesign
from segtrack.chain.running_gear.design import Rail, RunningGear
from segtrack.chain.running_gear.parameters import WheelContactParameters, wheel_contact_parameters
from segtrack.chain.running_gear.sprocket import Sprocket
from segtrack.chain.running_gear.wheels import Tensioner, Wheel
from segtrack.chain.shoes.model import Bushing, Chain, Shoe
from segtrack.description.chain import ChainPart, EvenRollersPart, SprocketPart
from segtrack.description.grousers import BoxShape, CylinderShape, MeshShape, TrapezoidShape
from segtrack.description.track import TrackPart
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import Arc, BeltPath, Line, Segment, normal_of
from segtrack.geometry.plate_loop import FEWEST_TEETH, PlateLoop, plate_loop
from segtrack.geometry.pulleys import Pulley, wrap_belt
from segtrack.ground.parameters import ContactParameters, contact_parameters
from segtrack.ground.tread import Grouser, Tread

SHORTEST = 1e-6
"""Sub-step of a chain that is worth waiting for [s]."""
_PITCH = 0.04
"""Of the shoes of a belt without grousers, about, and not more than half its smallest radius [m]."""
_WHEEL_SHARE = 0.05
"""Mass of a wheel that bends the chain, per mass of the belt."""
_ROLLER_SHARE = 0.02
"""The same of a roller."""
_TENSION_SHARE = 0.2
"""Tension of the chain at rest, per stall force of the drive."""
_RAILS = 0.4
"""Lateral position of a shoe's two rails, per width."""
_CLEARANCE = 0.02
"""Lateral play between rails and flanges, per width."""
_BUSHING = 0.15
"""Radius of a bushing, per pitch."""
_SPACING = 1.05
"""Of rollers, per pitch: no shoe rests on three of them."""
_FLANGE = 0.08
"""Height of a wheel's flanges, per pitch."""
_WHEEL_FRICTION = 0.3
_CONTACT_SHARE = 0.2
"""Stiffness of a shoe's contacts with wheels, per stiffness of a bushing."""
_MARKER_SHARE = 0.1
"""The same of a marker on the ground."""
_CONTACT_DAMPING = 0.15
"""Of a shoe on one contact, over critical [-]. Tuned: from 0.1 on PackBot pulls friction times weight
within 5 % at 0.1 to 0.3 m/s; with 0.05 it rocks from side to side at 51 Hz and pulls 7 % less."""
_TOOTH_FRICTION = 0.05
_TOOTH_SLIP = 1.0
"""Slip speed at which friction on teeth is fully developed [m/s]."""


def track_design(name: str, part: TrackPart) -> TrackDesign:
    """The link chain that a track's description asks for.

    Args:
        name: Of the track, for messages.
        part: With its chain filled in.

    Raises:
        InvalidValueError: It cannot be closed, or does not fit around its wheels.
    """
    assert part.chain is not None
    return _Layout(name, part, part.chain).design()


@dataclass(frozen=True)
class _Layout:
    """A track on its way to a chain; lengths [m], in the track frame."""

    name: str
    part: TrackPart
    chain: ChainPart

    def design(self) -> TrackDesign:
        loop = self._loop()
        shoe = self._shoe(loop)
        bushing = self._bushing(shoe)
        design = TrackDesign(
            name=self.name,
            chain=Chain(len(loop.headings), shoe, bushing),
            running_gear=RunningGear(
                wheels=self._wheels(loop),
                driven=0,
                rail=Rail(self._thickness - loop.depth, self._rails),
                contact=self._contact(shoe, bushing),
                sprocket=self._sprocket(loop, shoe, bushing),
            ),
            treads=self._treads(shoe),
            shoe_contact=self._shoe_contact(shoe, bushing),
            hinges=loop.hinges,
            initial_sprocket_angle=loop.sprocket_phase,
            max_contact_force=max(self.part.drive.stall_force, 2 * self._tension),
            parent_link_names=self._links,
        )
        if design.max_sub_step < SHORTEST:
            expected = f"soft and heavy enough for sub-steps of at least {SHORTEST:g} s"
            got = Phrase(f"one that needs {design.max_sub_step:.3g} s")
            raise InvalidValueError(f"chain of {self.name}", expected, got)
        return design

    @property
    def _links(self) -> tuple[str, ...]:
        """Names of the links that carry wheels besides the track's own carrier."""
        return tuple(
            dict.fromkeys(wheel.link for wheel in self.chain.road_wheels or () if wheel.link is not None)
        )

    @property
    def _tension(self) -> float:
        return self.chain.tensioner.pretension or _TENSION_SHARE * self.part.drive.stall_force

    @property
    def _thickness(self) -> float:
        return self.chain.shoes.thickness or self.part.belt.thickness

    @property
    def _rails(self) -> tuple[float, float]:
        return -_RAILS * self.part.width, _RAILS * self.part.width

    @property
    def _count(self) -> int:
        if self.chain.shoes.count is not None:
            return self.chain.shoes.count
        grousers = self.part.grousers
        if grousers is not None:
            return grousers.count
        arcs = [s.radius for s in self.part.belt_path.segments if isinstance(s, Arc)]
        return round(self.part.belt_path.perimeter / min(_PITCH, min(arcs) / 2))

    def _loop(self) -> PlateLoop:
        loop = self._laid(self._path())
        if not self._holds_pins(loop):
            best = self._fitting(self._path())
            choice = str(best.teeth) if self._holds_pins(best) else "of another chain"
            what = f"chain.sprocket.teeth of {self.name}"
            expected = (
                f"{choice}, for a pitch of {best.pitch:.4g} m on a pulley of {best.sprocket.radius:.4g} m"
            )
            raise InvalidValueError(what, expected, loop.teeth)
        return loop

    def _holds_pins(self, loop: PlateLoop) -> bool:
        """Whether the pins run within the shoes' plates, or not far outside of them, in lugs."""
        return -loop.pitch / 4 <= loop.depth <= 0.95 * self._thickness

    def _laid(self, path: BeltPath) -> PlateLoop:
        if self.chain.sprocket is not None and self.chain.sprocket.teeth is not None:
            return plate_loop(path, self._count, self.chain.sprocket.teeth)
        return self._fitting(path)

    def _fitting(self, path: BeltPath) -> PlateLoop:
        """With the number of teeth that brings the pins nearest to the middle of the shoes' thickness."""
        outer = plate_loop(path, self._count)
        loops = [plate_loop(path, self._count, outer.teeth - n) for n in (0, 1, 2)]
        return min(
            loops, key=lambda loop: (not self._holds_pins(loop), abs(loop.depth - self._thickness / 2))
        )

    def _path(self) -> BeltPath:
        """The belt's outer face, with the idler where shoes of a given pitch close around it."""
        path, count, pitch = self.part.belt_path, self._count, self.chain.shoes.pitch
        arcs = [segment for segment in path.segments if isinstance(segment, Arc)]
        if len(arcs) < 2 or any(arc.turn < 0 for arc in arcs):
            expected = "around two or more pulleys, bending outwards"
            raise InvalidValueError(f"path of {self.name}, a chain", expected, Phrase(", ".join(path.names)))
        longest = 2 * min(arc.radius for arc in arcs) * math.sin(math.pi / FEWEST_TEETH)
        reason = f"for {FEWEST_TEETH} to fit around its smallest pulley"
        if pitch is not None and pitch > longest:
            expected = f"at most {longest:.4g} m, {reason}"
            raise InvalidValueError(f"chain.shoes.pitch of {self.name}", expected, pitch)
        # Moved by half a pitch, an idler takes up to a pitch more.
        least = math.ceil((path.perimeter + (pitch or 0.0)) / longest)
        if count < least:
            raise InvalidValueError(f"chain.shoes.count of {self.name}", f"at least {least}, {reason}", count)
        inside = 0.9 * min(arc.radius for arc in arcs)
        if self._thickness > inside:
            expected = f"at most {inside:.3g} m, for a wheel to fit inside its tightest bend"
            raise InvalidValueError(f"chain.shoes.thickness of {self.name}", expected, self._thickness)
        if pitch is None:
            return path
        longer = partial(self._excess, pitch)
        if longer(-pitch / 2) * longer(pitch / 2) > 0:
            ends = [longer(slide) * count + count * pitch for slide in (-pitch / 2, pitch / 2)]
            counts = range(math.ceil(min(ends) / pitch), math.floor(max(ends) / pitch) + 1)
            choice = " or ".join(map(str, counts)) if counts else "another, with another pitch"
            expected = f"{choice}, which close around its wheels with a pitch of {pitch:.4g} m"
            raise InvalidValueError(f"chain.shoes.count of {self.name}", expected, count)
        return self._slid(brentq(longer, -pitch / 2, pitch / 2, xtol=1e-7))

    def _excess(self, pitch: float, slide: float) -> float:
        """How much longer than its pitch a shoe has to be with the idler at a slide [m]."""
        return self._laid(self._slid(slide)).pitch - pitch

    def _slid(self, slide: float) -> BeltPath:
        """The belt's outer face with the idler moved away from the driven wheel [m]."""
        pulleys = self.part.path.pulleys
        if pulleys is None:
            expected = "left out where the path is given as segments"
            raise InvalidValueError(f"chain.shoes.pitch of {self.name}", expected, self.chain.shoes.pitch)
        loop = self._laid(self.part.belt_path)
        away = loop.idler.center - loop.sprocket.center
        away *= slide / np.linalg.norm(away)
        idler = min(
            range(len(pulleys)), key=lambda i: math.dist((pulleys[i].x, pulleys[i].z), loop.idler.center)
        )
        return wrap_belt(
            [
                Pulley(p.x + (i == idler) * away[0], p.z + (i == idler) * away[1], p.radius)
                for i, p in enumerate(pulleys)
            ]
        )

    def _shoe(self, loop: PlateLoop) -> Shoe:
        """A plate, whose inertia is that of a box with the grouser's mass spread over it."""
        mass = self.chain.shoes.mass or self.part.belt.mass / self._count
        box = Shoe.of_box(mass, (loop.pitch, self.part.width, self._thickness))
        pins = self._thickness / 2 - loop.depth  # Over the plate's middle.
        return Shoe(mass, box.inertia, (-loop.pitch / 2, 0.0, pins), (loop.pitch / 2, 0.0, pins))

    def _bushing(self, shoe: Shoe) -> Bushing:
        given, width = self.chain.bushing, self.part.width
        cross = given.conical_stiffness or given.stiffness * width**2 / 12
        about = min(shoe.inertia[0], shoe.inertia[2])
        return Bushing(
            given.stiffness,
            _damping(given.damping_ratio, given.stiffness, shoe.mass / 2),
            cross,
            _damping(given.damping_ratio, cross, about / 2),
            0.0,
            given.back_bend,
            given.stiffness * self._thickness**2,
        )

    def _wheels(self, loop: PlateLoop) -> tuple[Wheel, ...]:
        """The driven wheel, the idler, what else bends the chain, and rollers."""
        sprocket, idler = loop.sprocket, loop.idler
        others = [
            s for s in loop.path.segments if isinstance(s, Arc) and s is not sprocket and s is not idler
        ]
        wheels = []
        mass = _WHEEL_SHARE * self.part.belt.mass
        for arc in (sprocket, idler, *others):
            radius = loop.apothem(arc, self._thickness)
            spin = mass * radius**2 / 2
            if arc is sprocket:
                spin += self.part.drive.reflected_mass * (arc.radius - loop.depth) ** 2
            tensioner = self._tensioner(loop, mass) if arc is idler else None
            wheels.append(self._wheel(loop, arc.center, radius, spin, tensioner))
        pulleys = len(wheels)
        for i, roller in enumerate(self._rollers(loop)):
            depths = [_overlap(roller, wheel) for wheel in wheels]
            if max(depths) < 0:
                wheels.append(roller)
            elif self.chain.road_wheels is not None:
                other = int(np.argmax(depths))
                names = ("the driven wheel", "the idler", *["a pulley"] * len(others))
                name = names[other] if other < pulleys else f"chain.road_wheels[{other - pulleys}]"
                overlap = Phrase(f"an overlap of {depths[other]:.3g} m")
                raise InvalidValueError(
                    f"chain.road_wheels[{i}] of {self.name}", f"apart from {name}", overlap
                )
        return tuple(wheels)

    def _wheel(
        self,
        loop: PlateLoop,
        center: NDArray[np.float64],
        radius: float,
        inertia: float,
        tensioner: Tensioner | None = None,
    ) -> Wheel:
        width = self.part.width
        x, z = center.tolist()
        return Wheel.flanged(
            x, z, radius, inertia, (_RAILS + _CLEARANCE) * width, _FLANGE * loop.pitch, tensioner
        )

    def _tensioner(self, loop: PlateLoop, mass: float) -> Tensioner:
        """What pushes the idler away from the driven wheel: two runs of the chain pull it back."""
        given, stall = self.chain.tensioner, self.part.drive.stall_force
        away = loop.idler.center - loop.sprocket.center
        x, z = (away / np.linalg.norm(away)).tolist()
        stiffness = given.stiffness or 4 * stall / (loop.pitch / 2)
        return Tensioner(
            (x, z), mass, 2 * self._tension, stiffness, _damping(given.damping_ratio, stiffness, mass)
        )

    def _rollers(self, loop: PlateLoop) -> Iterator[Wheel]:
        if self.chain.road_wheels is not None:
            for i, wheel in enumerate(self.chain.road_wheels):
                center = np.array([wheel.x, wheel.z])
                self._check_inside(f"chain.road_wheels[{i}] of {self.name}", center, wheel.radius)
                rolling = self._wheel(loop, center, wheel.radius, self._roller_inertia(wheel.radius))
                yield replace(rolling, parent=0 if wheel.link is None else 1 + self._links.index(wheel.link))
            return
        given = self.chain.even_rollers or EvenRollersPart()
        spacing = given.spacing or _SPACING * loop.pitch
        radius = given.radius or 0.4 * spacing
        if spacing < loop.pitch / 4:
            expected = f"at least {loop.pitch / 4:.3g} m, a quarter of the pitch"
            raise InvalidValueError(f"chain.even_rollers.spacing of {self.name}", expected, spacing)
        segments, names = loop.path.segments, loop.path.names
        for i, line in enumerate(segments):
            if not isinstance(line, Line) or names[i] in self.part.omit_segments:
                continue
            before, after = (self._room(loop, segments[j % len(segments)], radius) for j in (i - 1, i + 1))
            length = line.length - before - after
            if length < 0:
                continue
            count = math.floor(length / spacing) + 1
            for along in before + np.linspace(0, length, count):
                center = line.point_at(np.array([along]))[0] - (self._thickness + radius) * normal_of(
                    line.heading
                )
                yield self._wheel(loop, center, radius, self._roller_inertia(radius))

    def _check_inside(self, what: str, center: NDArray[np.float64], radius: float) -> None:
        """Refuse a wheel that reaches out of the belt, which bends outwards everywhere."""
        path = self.part.belt_path
        along = np.arange(0.0, path.perimeter, 1e-3)
        heights = np.sum((center - path.point(along)) * normal_of(path.heading(along)), axis=1)
        beyond = heights.max() + radius
        if beyond > 0:
            raise InvalidValueError(what, "within the belt", Phrase(f"one that reaches {beyond:.3g} m out"))

    def _room(self, loop: PlateLoop, arc: Segment, radius: float) -> float:
        """How far from a line's end a roller clears the wheel there [m]."""
        if not isinstance(arc, Arc):
            return radius
        wheel = arc.radius - loop.depth + (self.chain.bushing.radius or _BUSHING * loop.pitch)
        roller = radius + _FLANGE * loop.pitch
        height = arc.radius - self._thickness - radius
        return math.sqrt(max((wheel + roller) ** 2 - height**2, 0.0)) + 0.05 * loop.pitch

    def _roller_inertia(self, radius: float) -> float:
        return _ROLLER_SHARE * self.part.belt.mass * radius**2 / 2

    def _contact(self, shoe: Shoe, bushing: Bushing) -> WheelContactParameters:
        """A share as stiff as a bushing under the drive's stall force."""
        stall, share = self.part.drive.stall_force, _CONTACT_SHARE * bushing.stiffness
        stiffness = (share / (1.5 * stall ** (1 / 3))) ** 1.5
        friction = self.chain.drum.friction if self.chain.drum is not None else _WHEEL_FRICTION
        return wheel_contact_parameters(
            stiffness, _damping(_CONTACT_DAMPING, share, shoe.mass), friction, share
        )

    def _sprocket(self, loop: PlateLoop, shoe: Shoe, bushing: Bushing) -> Sprocket | None:
        if self.chain.drum is not None:
            return None
        given = self.chain.sprocket or SprocketPart()
        return Sprocket.for_pitch(
            shoe.pitch,
            loop.teeth,
            self.chain.bushing.radius or _BUSHING * shoe.pitch,
            _CONTACT_SHARE * bushing.stiffness,
            given.pressure_angle,
            damping=_damping(_CONTACT_DAMPING, _CONTACT_SHARE * bushing.stiffness, shoe.mass),
            friction=_TOOTH_FRICTION,
            slip_speed=_TOOTH_SLIP,
            side_clearance=_CLEARANCE * self.part.width,
            side_stiffness=_CONTACT_SHARE * bushing.stiffness,
        )

    def _treads(self, shoe: Shoe) -> tuple[Tread, ...]:
        """The shoes' outer sides: a shoe carries one grouser, of the belt's shapes in turn."""
        part = self.part
        plate = Tread(shoe.pitch, part.width, self._thickness / 2, self._thickness)
        if part.grousers is None:
            return (plate,)
        return tuple(
            replace(plate, grouser=_grouser(shape.kind, shape.kind.height)) for shape in part.grousers.shapes
        )

    def _shoe_contact(self, shoe: Shoe, bushing: Bushing) -> ContactParameters:
        given, friction = self.chain.shoe_contact, self.part.contact.friction
        stiffness = given.stiffness or _MARKER_SHARE * bushing.stiffness
        markers = max(len(tread.contact_points) for tread in self._treads(shoe))
        damping = _damping(given.damping_ratio, markers * stiffness, shoe.mass) / markers
        return contact_parameters(friction, stiffness, damping, stiffness, damping)


def _grouser(kind: BoxShape | TrapezoidShape | CylinderShape | MeshShape, height: float) -> Grouser:
    """Of any shape: a trapezoid as long as the shape at its foot, and at its tip as its kind says."""
    rear, front = kind.extent
    base = front - rear
    match kind:
        case BoxShape():
            return Grouser(height, base, base)
        case TrapezoidShape():
            return Grouser(height, base, min(kind.top, base))
        case _:
            return Grouser(height, base, base / 2, (rear + front) / 2)


def _overlap(one: Wheel, other: Wheel) -> float:
    """How far two wheels reach into each other; negative for wheels that are apart [m]."""
    return one.max_radius + other.max_radius - math.dist((one.x, one.z), (other.x, other.z))


def _damping(ratio: float, stiffness: float, mass: float) -> float:
    """Of a mass on a spring, for a share of the critical one."""
    return 2 * ratio * math.sqrt(stiffness * mass)
