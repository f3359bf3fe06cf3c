"""Loop of a link chain: the path of its pins, from the file or derived from the belt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from segtrack.chain import slide_offset
from segtrack.description.chain.spec import ChainSpec
from segtrack.description.track import TrackSpec
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.geometry import (
    MIN_TEETH,
    Arc,
    BeltPath,
    PlateLoop,
    Pulley,
    arc_around,
    plate_loop,
    tangent_of,
    wrap_around,
    wrap_hull,
)

LATERAL_CLEARANCE = 0.02
"""Lateral play between rails and flanges, and between shoes and teeth, per width."""
_PITCH = 0.04
"""Pitch of the shoes of a belt without grousers, about, and at most half its smallest radius [m]."""
_PRETENSION_RATIO = 0.2
"""Pretension per stall force of the drive."""
_MAX_STRETCH = 0.25
"""Slide of an idler by the stretch of bushings under the pretension of a drive that is strong, per pitch."""
_DRIVEN_STRETCH = 0.3
"""Stretch of half of a chain whose bushings are not given, under what drive and vehicle can do, per pitch.
The shoes of a bulldozer (5e7 N/m) and of an M113 (3.5e7 N/m, Project Chrono) have 0.28 and 0.29."""
_LEAST_STIFFNESS = 1e6
"""Of bushings that are not given [N/m]."""
RAIL_POSITION = 0.4
"""Lateral position of a shoe's two rails, per width."""
_BUSHING_RADIUS = 0.15
"""Radius of a bushing, per pitch."""


@dataclass(frozen=True)
class ChainLayout:
    """Track being designed as a chain; lengths [m], in the track frame.

    Attributes:
        name: Name of the track, for messages.
        spec: Track of the file.
        chain: Chain of the file.
        weight: Weight of the vehicle [N]; 0 if its body is fixed.
    """

    name: str
    spec: TrackSpec
    chain: ChainSpec
    weight: float = 0.0

    @property
    def count(self) -> int:
        """Number of shoes."""
        if self.chain.shoes.count is not None:
            return self.chain.shoes.count
        grousers = self.spec.grousers
        if grousers is not None:
            return grousers.count
        arcs = [s.radius for s in self.spec.belt_path.segments if isinstance(s, Arc)]
        return round(self.spec.belt_path.perimeter / min(_PITCH, min(arcs) / 2))

    def with_count(self, count: int) -> ChainLayout:
        """Copy with another number of shoes."""
        shoes = self.chain.shoes.model_copy(update={"count": count})
        return replace(self, chain=self.chain.model_copy(update={"shoes": shoes}))

    @property
    def shoe_mass(self) -> float:
        """Mass of a shoe [kg]."""
        return self.chain.shoes.mass or self.spec.belt.mass / self.count

    @property
    def thickness(self) -> float:
        """Thickness of the shoes' plates [m]."""
        return self.chain.shoes.thickness or self.spec.belt.thickness

    @property
    def rail_stations(self) -> tuple[float, float]:
        """Lateral positions of the shoes' rails [m]."""
        return -RAIL_POSITION * self.spec.width, RAIL_POSITION * self.spec.width

    def place_of(self, key: str) -> tuple[float, float] | None:
        """Centre (x, z) of the pulley named by the chain's `driven` or `tensioned` [m]; None if unnamed.

        Raises:
            UnknownNameError: There is no pulley of this name.
        """
        name = getattr(self.chain, key)
        if name is None:
            return None
        places = {pulley.name: (pulley.x, pulley.z) for pulley in self.spec.path.pulleys or ()}
        if name not in places:
            named = (known for known in places if known is not None)
            raise UnknownNameError(f"pulley of the path of {self.name} for chain.{key}", name, named)
        return places[name]

    def slide_direction(self, loop: PlateLoop) -> NDArray[np.float64]:
        """Unit direction (x, z) in which the tensioner pushes the idler."""
        given, idler = self.chain.tensioner, loop.idler
        away = idler.center - loop.sprocket.center if given.direction is None else np.array(given.direction)
        if given.pivot is not None:
            x, z = idler.center - given.pivot
            away = np.array([-z, x])
            away *= math.copysign(1.0, balancing_force(idler) @ away)
        return np.asarray(away / np.linalg.norm(away))

    def slide_curvature(self, loop: PlateLoop) -> float:
        """Curvature of the path on which the tensioner pushes the idler, see `Tensioner` [1/m].

        Raises:
            InvalidValueError: The idler is on the pivot of its arm.
        """
        pivot = self.chain.tensioner.pivot
        if pivot is None:
            return 0.0
        x, z = loop.idler.center - pivot
        length = math.hypot(x, z)
        if length < loop.pitch:
            expected = f"at least a pitch from the idler, {loop.pitch:.3g} m"
            raise InvalidValueError(f"chain.tensioner.pivot of {self.name}", expected, list(pivot))
        ahead, up = self.slide_direction(loop)
        return float(x * up - z * ahead) / length**2

    def path_around(self, pulleys: Sequence[Pulley]) -> BeltPath:
        """Outer face of the belt around pulleys, and around road wheels that stick out of the pulleys' hull.

        Middles of plates lie on such a wheel, so that hinges run as much farther out as plates are long.
        """
        given = tuple(Pulley(w.x, w.z, w.radius + self.thickness) for w in self.chain.road_wheels or ())
        hull = wrap_around(tuple(pulleys), given)
        outside = [wheel for wheel in given if arc_around(hull, wheel.center) is not None]
        pitch, depth = self.chain.shoes.pitch or hull.perimeter / self.count, self.thickness / 2
        larger = [Pulley(w.x, w.z, depth + math.hypot(w.radius - depth, pitch / 2)) for w in outside]
        return wrap_hull([*pulleys, *larger]) if larger else hull

    @property
    def pitch(self) -> float:
        """Pitch of the shoes [m]; approximate if the file does not give it."""
        return self.chain.shoes.pitch or self.spec.belt_path.perimeter / self.count

    @property
    def driving_force(self) -> float:
        """Largest chain tension from drive or brake, limited to the vehicle's weight [N]."""
        force = max(self.spec.drive.stall_force, self.spec.drive.brake_force)
        return force if self.weight == 0 else min(max(force, self.weight / 2), self.weight)

    @property
    def bushing_stiffness(self) -> float:
        """Stiffness of a bushing [N/m]."""
        return self.chain.bushing.stiffness or self.least_stiffness

    @property
    def least_stiffness(self) -> float:
        """Default stiffness of a bushing, where the file gives none [N/m]."""
        return max(_LEAST_STIFFNESS, self.stiffness_against(self.driving_force, _DRIVEN_STRETCH))

    def stiffness_against(self, tension: float, stretch: float) -> float:
        """Bushing stiffness at which half a chain stretches by `stretch` pitches under `tension` [N/m]."""
        return tension * self.count / (2 * stretch * self.pitch)

    @property
    def wanted_pretension(self) -> float:
        """Pretension from the file, or by default from the drive's stall force [N]."""
        return self.chain.tensioner.pretension or _PRETENSION_RATIO * self.spec.drive.stall_force

    @property
    def pretension(self) -> float:
        """Pretension that the bushings bear: tension beside the idler without weight and terrain [N]."""
        if self.chain.tensioner.pretension is not None:
            return self.chain.tensioner.pretension
        # Half of what all bushings give is the slide of an idler that the chain goes half around.
        return min(self.wanted_pretension, self.bushing_stiffness / self.stiffness_against(1.0, _MAX_STRETCH))

    @property
    def parent_link_names(self) -> tuple[str, ...]:
        """Names of the links besides the track's own that carry wheels of the chain."""
        links = (wheel.link for wheel in self.chain.road_wheels or ())
        return tuple(dict.fromkeys(link for link in links if link is not None))

    def bushing_radius(self, pitch: float) -> float:
        """Radius of the bushings that sprocket teeth touch [m]."""
        return self.chain.bushing.radius or _BUSHING_RADIUS * pitch


def balancing_force(arc: Arc) -> NDArray[np.float64]:
    """Force (x, z) on a wheel that balances the chain around it, per chain tension [-]."""
    return tangent_of(arc.heading) - tangent_of(arc.heading + arc.turn)


def damping_of(ratio: float, stiffness: float, mass: float) -> float:
    """Damping coefficient of a mass on a spring, given the damping ratio [N s/m]."""
    return 2 * ratio * math.sqrt(stiffness * mass)


def fit_loop(layout: ChainLayout) -> PlateLoop:
    """Fit a loop of shoes, as chords between pins, around the belt's pulleys.

    Raises:
        InvalidValueError: No such loop closes, or its pins would not run within the shoes.
    """
    path = _path(layout)
    loop = _loop_along(layout, path)
    if not _holds_pins(layout, loop):
        best = _best_loop(layout, path)
        choice = str(best.teeth) if _holds_pins(layout, best) else "of another chain"
        what = f"chain.sprocket.teeth of {layout.name}"
        expected = f"{choice}, for a pitch of {best.pitch:.4g} m on a pulley of {best.sprocket.radius:.4g} m"
        raise InvalidValueError(what, expected, loop.teeth)
    return loop


def _holds_pins(layout: ChainLayout, loop: PlateLoop) -> bool:
    """Return whether the pins run within the shoes' plates, or in lugs not far outside of them.

    A polygon of as many sides as the chain has, or more, is no part of it.
    """
    return loop.teeth < layout.count and -loop.pitch / 4 <= loop.depth <= 0.95 * layout.thickness


def _loop_along(layout: ChainLayout, path: BeltPath) -> PlateLoop:
    if layout.chain.sprocket is not None and layout.chain.sprocket.teeth is not None:
        return _lay(layout, path, layout.chain.sprocket.teeth)
    return _best_loop(layout, path)


def _lay(layout: ChainLayout, path: BeltPath, teeth: int | None = None) -> PlateLoop:
    """Loop with `teeth` on the sprocket; refused if the driven or tensioned pulley does not bend it."""
    driven, tensioned = layout.place_of("driven"), layout.place_of("tensioned")
    loop = plate_loop(path, layout.count, teeth, driven, tensioned)
    for key, place, arc in (("driven", driven, loop.sprocket), ("tensioned", tensioned, loop.idler)):
        # The one that tensions slides by half a pitch, at most.
        if place is not None and math.dist(place, arc.center) > loop.pitch:
            expected, got = "a pulley around which the chain bends", Phrase("one that it does not touch")
            raise InvalidValueError(f"chain.{key} of {layout.name}", expected, got)
    if loop.sprocket is loop.idler:
        expected, got = "a pulley besides the driven one", Phrase("the one around which the belt turns most")
        raise InvalidValueError(f"chain.tensioned of {layout.name}", expected, got)
    return loop


def _best_loop(layout: ChainLayout, path: BeltPath) -> PlateLoop:
    """Loop with the number of teeth that brings the pins nearest to the middle of the shoes' thickness."""
    outer = _lay(layout, path)
    loops = [outer, *(_lay(layout, path, outer.teeth - n) for n in (1, 2))]
    return min(
        loops, key=lambda loop: (not _holds_pins(layout, loop), abs(loop.depth - layout.thickness / 2))
    )


def _path(layout: ChainLayout) -> BeltPath:
    """Outer face of the belt, with the idler moved so that shoes of a given pitch close around it."""
    path, count, pitch = _path_with_idler_at(layout, 0.0), layout.count, layout.chain.shoes.pitch
    arcs = [segment for segment in path.segments if isinstance(segment, Arc)]
    if len(arcs) < 2 or any(arc.turn < 0 for arc in arcs):
        expected = "around two or more pulleys, bending outwards"
        raise InvalidValueError(f"path of {layout.name}, a chain", expected, Phrase(", ".join(path.names)))
    max_pitch = 2 * min(arc.radius for arc in arcs) * math.sin(math.pi / MIN_TEETH)
    reason = f"for {MIN_TEETH} to fit around its smallest pulley"
    if pitch is not None and pitch > max_pitch:
        expected = f"at most {max_pitch:.4g} m, {reason}"
        raise InvalidValueError(f"chain.shoes.pitch of {layout.name}", expected, pitch)
    # Moved by half a pitch, an idler takes up to a pitch more.
    min_count = math.ceil((path.perimeter + (pitch or 0.0)) / max_pitch)
    if count < min_count:
        expected = f"at least {min_count}, {reason}"
        raise InvalidValueError(f"chain.shoes.count of {layout.name}", expected, count)
    max_thickness = 0.9 * min(arc.radius for arc in arcs)
    if layout.thickness > max_thickness:
        expected = f"at most {max_thickness:.3g} m, for a wheel to fit inside its tightest bend"
        raise InvalidValueError(f"chain.shoes.thickness of {layout.name}", expected, layout.thickness)
    if pitch is None:
        return path
    excess = partial(_excess_pitch, layout, pitch)
    if excess(-pitch / 2) * excess(pitch / 2) > 0:
        around = round(path.perimeter / pitch)
        near = (layout.with_count(other) for other in range(max(around - 4, MIN_TEETH), around + 5))
        counts = [other.count for other in near if _closes(other, pitch)]
        choice = " or ".join(map(str, counts)) if counts else "another, with another pitch"
        expected = f"{choice}, which close around its wheels with a pitch of {pitch:.4g} m"
        raise InvalidValueError(f"chain.shoes.count of {layout.name}", expected, count)
    return _path_with_idler_at(layout, brentq(excess, -pitch / 2, pitch / 2, xtol=1e-7))


def _closes(layout: ChainLayout, pitch: float) -> bool:
    """Return whether shoes of a pitch close around wheels whose idler moves by at most half a pitch."""
    try:
        ends = [_excess_pitch(layout, pitch, slide) for slide in (-pitch / 2, pitch / 2)]
    except InvalidValueError:
        return False
    return ends[0] * ends[1] <= 0


def _excess_pitch(layout: ChainLayout, pitch: float, slide: float) -> float:
    """Return the error of the shoes' pitch when the idler is moved by `slide` along its tensioner [m]."""
    return _loop_along(layout, _path_with_idler_at(layout, slide)).pitch - pitch


def _path_with_idler_at(layout: ChainLayout, slide: float) -> BeltPath:
    """Outer face of the belt, with the idler moved by `slide` along its tensioner [m]."""
    given = layout.spec.path.pulleys
    if given is None:
        if slide == 0.0:
            return layout.spec.belt_path
        expected = "left out where the path is given as segments"
        raise InvalidValueError(f"chain.shoes.pitch of {layout.name}", expected, layout.chain.shoes.pitch)
    pulleys = [Pulley(p.x, p.z, p.radius) for p in given]
    path = layout.path_around(pulleys)
    if slide == 0.0:
        return path
    loop = _loop_along(layout, path)
    idler = min(range(len(pulleys)), key=lambda i: math.dist(pulleys[i].center, loop.idler.center))
    curvature = np.array(layout.slide_curvature(loop))
    x, z = pulleys[idler].center + slide_offset(layout.slide_direction(loop), curvature, np.array(slide))
    pulleys[idler] = Pulley(float(x), float(z), pulleys[idler].radius)
    return layout.path_around(pulleys)
