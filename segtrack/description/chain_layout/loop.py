"""The closed loop of a chain's pins: its pitch, depth and teeth, around the wheels as they are drawn."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.optimize import brentq

from segtrack.description.chain_layout.layout import ChainLayout
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import Arc, BeltPath
from segtrack.geometry.plate_loop import MIN_TEETH, PlateLoop, plate_loop
from segtrack.geometry.pulleys import Pulley, wrap_belt


def fit_loop(layout: ChainLayout) -> PlateLoop:
    """Fit a loop of pins around the belt's pulleys.

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
    """Whether the pins run within the shoes' plates, or not far outside of them, in lugs."""
    return -loop.pitch / 4 <= loop.depth <= 0.95 * layout.thickness


def _loop_along(layout: ChainLayout, path: BeltPath) -> PlateLoop:
    if layout.chain.sprocket is not None and layout.chain.sprocket.teeth is not None:
        return plate_loop(path, layout.count, layout.chain.sprocket.teeth)
    return _best_loop(layout, path)


def _best_loop(layout: ChainLayout, path: BeltPath) -> PlateLoop:
    """The loop with the teeth that bring the pins nearest to the middle of the shoes' thickness."""
    outer = plate_loop(path, layout.count)
    loops = [plate_loop(path, layout.count, outer.teeth - n) for n in (0, 1, 2)]
    return min(
        loops, key=lambda loop: (not _holds_pins(layout, loop), abs(loop.depth - layout.thickness / 2))
    )


def _path(layout: ChainLayout) -> BeltPath:
    """The belt's outer face, with the idler where shoes of a given pitch close around it."""
    path, count, pitch = layout.spec.belt_path, layout.count, layout.chain.shoes.pitch
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
        ends = [excess(slide) * count + count * pitch for slide in (-pitch / 2, pitch / 2)]
        counts = range(math.ceil(min(ends) / pitch), math.floor(max(ends) / pitch) + 1)
        choice = " or ".join(map(str, counts)) if counts else "another, with another pitch"
        expected = f"{choice}, which close around its wheels with a pitch of {pitch:.4g} m"
        raise InvalidValueError(f"chain.shoes.count of {layout.name}", expected, count)
    return _path_with_idler_at(layout, brentq(excess, -pitch / 2, pitch / 2, xtol=1e-7))


def _excess_pitch(layout: ChainLayout, pitch: float, slide: float) -> float:
    """How much longer than its pitch a shoe has to be with the idler at a slide [m]."""
    return _loop_along(layout, _path_with_idler_at(layout, slide)).pitch - pitch


def _path_with_idler_at(layout: ChainLayout, slide: float) -> BeltPath:
    """The belt's outer face with the idler moved away from the driven wheel [m]."""
    pulleys = layout.spec.path.pulleys
    if pulleys is None:
        expected = "left out where the path is given as segments"
        raise InvalidValueError(f"chain.shoes.pitch of {layout.name}", expected, layout.chain.shoes.pitch)
    loop = _loop_along(layout, layout.spec.belt_path)
    away = loop.idler.center - loop.sprocket.center
    away *= slide / np.linalg.norm(away)
    idler = min(range(len(pulleys)), key=lambda i: math.dist((pulleys[i].x, pulleys[i].z), loop.idler.center))
    return wrap_belt(
        [
            Pulley(p.x + (i == idler) * away[0], p.z + (i == idler) * away[1], p.radius)
            for i, p in enumerate(pulleys)
        ]
    )
