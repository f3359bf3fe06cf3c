"""Edges of rigid solids that enter a shoe between its markers, as a step's does.

The part of an edge that lies inside a shoe's cross-section, drawn out over its width, is pushed
out through the exposed face that is nearest to its middle. Both of its ends push like a marker,
so that a shoe which slides off a step goes over from markers to edge without a jump. If an
unexposed face is nearer, the edge came in beside the shoe, or is about to leave it for its
neighbour, and nothing happens.
"""

from __future__ import annotations

import math

from segtrack.chain.ground import Ground
from segtrack.chain.ground_laws import along_surface, slip_on_rigid, sum_of
from segtrack.chain.ground_state import EDGES, NONE, GroundLoads, GroundMotion, Nearby, slot_of
from segtrack.chain.ground_tread import SECTION_FACES, Grip, Treads
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Vector
from segtrack.chain.vectors import add, arm, compiled, cross, dot, row


@compiled
def add_edges(
    ground: Ground,
    treads: Treads,
    grip: Grip,
    frames: Frames,
    nearby: Nearby,
    motion: GroundMotion,
    loads: Loads,
    report: GroundLoads,
    step: float,
    i: int,
) -> None:
    """Add what the edges near link `i` do to it, and advance their contacts by `step` [s]."""
    kind, touched = treads.kinds[i], 0
    for near in range(nearby.edge_counts[i]):
        edge = nearby.edges[i, near]
        begin = _in_link(frames, i, (ground.edges[edge, 0], ground.edges[edge, 1], ground.edges[edge, 2]))
        end = _in_link(frames, i, (ground.edges[edge, 3], ground.edges[edge, 4], ground.edges[edge, 5]))
        for section in range(treads.section_counts[kind]):
            first, last = _clip(treads, kind, section, begin, end)
            if not first < last:
                continue
            normal, offset = _way_out(treads, kind, section, _between(begin, end, (first + last) / 2))
            if offset == math.inf:
                continue
            contact = edge * treads.sections.shape[1] + section
            slot = slot_of(motion.edges, i * EDGES, (i + 1) * EDGES, contact)
            if slot == NONE:
                continue
            if motion.edges[slot] == NONE:
                motion.edges[slot] = contact
                motion.edge_shears[slot, :, :] = 0.0
            touched |= 1 << (slot - i * EDGES)
            friction = grip.friction * ground.edge_friction[edge]
            out = arm(frames.rotations, i, normal)
            inwards = -out[0], -out[1], -out[2]
            for tip in range(2):
                place = _between(begin, end, last if tip else first)
                lever = arm(frames.rotations, i, place)
                here = sum_of(row(frames.velocities, i), cross(row(frames.spins, i), lever))
                rising = dot(here, inwards)
                depth = offset - dot(place, normal)
                push = max(0.0, grip.stiffness * depth - grip.damping * rising)
                slip = along_surface(here, rising, inwards)
                shear = row(motion.edge_shears[slot], tip)
                shear, along = slip_on_rigid(shear, inwards, slip, friction * push, grip, step)
                for k in range(3):
                    motion.edge_shears[slot, tip, k] = shear[k]
                force = along_surface(along, -push, inwards)
                add(loads.forces, i, force, 1.0)
                add(loads.torques, i, cross(lever, force), 1.0)
                add(report.shears, i, along, 1.0)
                report.normals[i] += push
                report.sinkages[i] = max(report.sinkages[i], depth)
    for slot in range(EDGES):
        if not touched & (1 << slot):
            motion.edges[i * EDGES + slot] = NONE


@compiled
def _in_link(frames: Frames, i: int, point: Vector) -> Vector:
    """A point of the world, in the frame of link i."""
    r = frames.rotations[i]
    x = point[0] - frames.positions[i, 0]
    y = point[1] - frames.positions[i, 1]
    z = point[2] - frames.positions[i, 2]
    return (
        r[0, 0] * x + r[1, 0] * y + r[2, 0] * z,
        r[0, 1] * x + r[1, 1] * y + r[2, 1] * z,
        r[0, 2] * x + r[1, 2] * y + r[2, 2] * z,
    )


@compiled
def _between(begin: Vector, end: Vector, share: float) -> Vector:
    return (
        begin[0] + share * (end[0] - begin[0]),
        begin[1] + share * (end[1] - begin[1]),
        begin[2] + share * (end[2] - begin[2]),
    )


@compiled
def _clip(treads: Treads, kind: int, section: int, begin: Vector, end: Vector) -> tuple[float, float]:
    """The shares of an edge between which it lies in a section; if it does not, the first is greater."""
    first, last = 0.0, 1.0
    for f in range(SECTION_FACES + 2):
        if f < SECTION_FACES:
            face = treads.sections[kind, section, f]
            at = face[0] * begin[0] + face[1] * begin[2] - face[2]
            to = face[0] * end[0] + face[1] * end[2] - face[2]
        else:
            sign = 1.0 if f == SECTION_FACES else -1.0
            at = sign * begin[1] - treads.half_widths[kind]
            to = sign * end[1] - treads.half_widths[kind]
        if at > 0 and to > 0:
            return 1.0, 0.0
        if at > 0:
            first = max(first, at / (at - to))
        elif to > 0:
            last = min(last, at / (at - to))
    return first, last


@compiled
def _way_out(treads: Treads, kind: int, section: int, point: Vector) -> tuple[Vector, float]:
    """Outward normal and offset of the face nearest to a point in a section; inf if it is not exposed."""
    half = treads.half_widths[kind]
    least = half - abs(point[1])
    normal, offset = (0.0, math.copysign(1.0, point[1]), 0.0), half
    for f in range(SECTION_FACES):
        face = treads.sections[kind, section, f]
        depth = face[2] - face[0] * point[0] - face[1] * point[2]
        if depth < least:
            least, normal = depth, (face[0], 0.0, face[1])
            offset = face[2] if face[3] > 0 else math.inf
    return normal, offset
