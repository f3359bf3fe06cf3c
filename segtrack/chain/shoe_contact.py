"""Contact of a chain's shoes with the terrain (Omar 2014, section 5)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.contact_rows import ContactRows, allocate_contact_rows
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.ground import (
    MAX_EDGES,
    MAX_SOLIDS_PER_POINT,
    NONE,
    ContactHistory,
    ContactParameters,
    Ground,
    Treads,
    allocate_contact_history,
    box_in_world,
    edge_in_piece,
    find_edge_slot,
    forget_contacts,
    forget_edges,
    forget_lost_edges,
    list_candidates,
    point_between,
    touch_edge_end,
    touch_point,
)
from segtrack.kernels import Vector, add, arm, axis, compiled, cross, entry, row, sum_of


class ShoeContactLoads(NamedTuple):
    """Terrain contact of n shoes at the last sub-step; its forces are contained in `Loads`, too.

    Attributes:
        normal_forces: Sum of the normal forces on each shoe (n,) [N].
        sinkages: Depth of each shoe's deepest contact point, or of an edge in it (n,) [m].
        pressures: Pressure at that contact point, force over the point's area (n,) [Pa].
        deepest_points: Index of that contact point of the shoe; `NONE` for an edge, or no contact (n,).
    """

    normal_forces: NDArray[np.float64]
    sinkages: NDArray[np.float64]
    pressures: NDArray[np.float64]
    deepest_points: NDArray[np.intp]


class ContactCandidates(NamedTuple):
    """Solids and edges that each of n shoes may touch before they are looked for again.

    Attributes:
        solids: Convex solids, and behind them grids as in `Ground.bounds` (n, S + G).
        solid_counts: Number of them for each shoe (n,).
        edges: Edges of rigid solids (n, E).
        edge_counts: Number of them for each shoe (n,).
    """

    solids: NDArray[np.intp]
    solid_counts: NDArray[np.intp]
    edges: NDArray[np.intp]
    edge_counts: NDArray[np.intp]


class TerrainContact(NamedTuple):
    """Contact of a track's shoes with the terrain.

    Attributes:
        ground: Terrain in the world.
        treads: Outer sides of the shoes.
        parameters: Law of every contact point.
        history: Memory of the contacts.
        loads: Work array, loads of the terrain on shoes.
        candidates: Work array, solids and edges near the shoes.
        margin: Distance within which something is near [m].
        rows: Work array, contacts of the points with rigid ground, whose geometry is held (`terrain_rows`).
    """

    ground: Ground
    treads: Treads
    parameters: ContactParameters
    history: ContactHistory
    loads: ShoeContactLoads
    candidates: ContactCandidates
    margin: float
    rows: ContactRows


def allocate_shoe_history(treads: Treads) -> ContactHistory:
    """Memory of shoes that touch nothing yet."""
    n, k = len(treads.kinds), treads.contact_points.shape[1]
    return allocate_contact_history(n * k, n)


def allocate_contact_arrays(ground: Ground, treads: Treads) -> tuple[ShoeContactLoads, ContactCandidates]:
    """Work arrays for the loads and the candidates, with nothing near yet."""
    n = len(treads.kinds)
    return (
        ShoeContactLoads(np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, NONE, dtype=np.intp)),
        ContactCandidates(
            np.zeros((n, len(ground.bounds)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
            np.zeros((n, len(ground.edges)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
        ),
    )


def allocate_terrain_contact(
    ground: Ground, treads: Treads, parameters: ContactParameters, margin: float
) -> TerrainContact:
    """Terrain contact of shoes that touch nothing yet."""
    loads, candidates = allocate_contact_arrays(ground, treads)
    history, rows = allocate_shoe_history(treads), allocate_terrain_rows(treads)
    return TerrainContact(ground, treads, parameters, history, loads, candidates, margin, rows)


def allocate_terrain_rows(treads: Treads) -> ContactRows:
    """Room for the contacts of all shoes' points."""
    n, k = len(treads.kinds), treads.contact_points.shape[1]
    return allocate_contact_rows(n * k * MAX_SOLIDS_PER_POINT, n, 1)


@entry
def find_contact_candidates(contact: TerrainContact, frames: Frames, most: float = math.inf) -> None:
    """List the solids and edges that lie within the contact's margin, or `most` [m], of each shoe's box.

    The list serves as long as no shoe moves further than the margin. Shoes with nothing near
    forget their contacts, and those with no edge near the edges that they touched.
    """
    ground, treads, margin = contact.ground, contact.treads, min(contact.margin, most)
    candidates, history = contact.candidates, contact.history
    points = treads.contact_points.shape[1]
    for i in range(len(treads.kinds)):
        low, high = box_in_world(frames.rotations[i], treads.boxes[treads.kinds[i]])
        x, y, z = frames.positions[i, 0], frames.positions[i, 1], frames.positions[i, 2]
        low = x + low[0] - margin, y + low[1] - margin, z + low[2] - margin
        high = x + high[0] + margin, y + high[1] + margin, z + high[2] + margin
        solids, edges = list_candidates(ground, low, high, candidates.solids[i], candidates.edges[i])
        candidates.solid_counts[i], candidates.edge_counts[i] = solids, edges
        if solids == 0:
            forget_contacts(history, i * points, points)
        if edges == 0:
            forget_edges(history, i * MAX_EDGES, MAX_EDGES)


@compiled
def add_point_contacts(contact: TerrainContact, frames: Frames, loads: Loads, step: float, i: int) -> None:
    """Add the forces of the terrain on the points of shoe `i`, and advance their contacts by `step` [s]."""
    ground, treads, law, history = contact.ground, contact.treads, contact.parameters, contact.history
    candidates, report, points = contact.candidates, contact.loads, treads.contact_points
    near, kind = candidates.solid_counts[i], treads.kinds[i]
    center = row(frames.positions, i)
    velocity, spin = row(frames.velocities, i), row(frames.angular_velocities_world, i)
    lateral = axis(frames.rotations, i, 1)
    total, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for p in range(treads.contact_point_counts[kind]):
        lever = arm(frames.rotations, i, row(points[kind], p))
        force, _, push, depth, pressure = touch_point(
            ground,
            law,
            history,
            i * points.shape[1] + p,
            candidates.solids[i],
            near,
            sum_of(center, lever),
            sum_of(velocity, cross(spin, lever)),
            lateral,
            treads.areas[kind, p],
            treads.sides[kind, p],
            1.0,
            step,
        )
        total, torque = sum_of(total, force), sum_of(torque, cross(lever, force))
        report.normal_forces[i] += push
        if depth > report.sinkages[i]:
            report.sinkages[i], report.pressures[i], report.deepest_points[i] = depth, pressure, p
    add(loads.forces, i, total, 1.0)
    add(loads.torques, i, torque, 1.0)


@compiled
def add_edge_contacts(contact: TerrainContact, frames: Frames, loads: Loads, step: float, i: int) -> None:
    """Add the forces of the edges near shoe `i` on it, and advance their contacts by `step` [s]."""
    ground, treads, law, history = contact.ground, contact.treads, contact.parameters, contact.history
    candidates, report = contact.candidates, contact.loads
    if candidates.edge_counts[i] == 0:
        return
    kind, touched, lateral = treads.kinds[i], 0, axis(frames.rotations, i, 1)
    for near in range(candidates.edge_counts[i]):
        edge = candidates.edges[i, near]
        begin = _in_shoe(frames, i, (ground.edges[edge, 0], ground.edges[edge, 1], ground.edges[edge, 2]))
        end = _in_shoe(frames, i, (ground.edges[edge, 3], ground.edges[edge, 4], ground.edges[edge, 5]))
        for piece in range(treads.piece_counts[kind]):
            faces = treads.pieces[kind, piece]
            first, last, normal, offset = edge_in_piece(faces, len(faces), begin, end)
            if not first < last:
                continue
            slot = find_edge_slot(history, i * MAX_EDGES, MAX_EDGES, edge * treads.pieces.shape[1] + piece)
            if slot == NONE:
                continue
            touched |= 1 << (slot - i * MAX_EDGES)
            friction = law.friction * ground.edge_friction[edge]
            out = arm(frames.rotations, i, normal)
            shears = history.edge_shear_displacements[slot]
            for tip in range(2):
                place = point_between(begin, end, last if tip else first)
                lever = arm(frames.rotations, i, place)
                here = sum_of(
                    row(frames.velocities, i), cross(row(frames.angular_velocities_world, i), lever)
                )
                depth = offset - place[0] * normal[0] - place[1] * normal[1] - place[2] * normal[2]
                inwards = (-out[0], -out[1], -out[2])
                force, _, shear, push = touch_edge_end(
                    law, row(shears, tip), depth, here, inwards, lateral, friction, 1.0, step
                )
                shears[tip, 0], shears[tip, 1], shears[tip, 2] = shear
                add(loads.forces, i, force, 1.0)
                add(loads.torques, i, cross(lever, force), 1.0)
                report.normal_forces[i] += push
                if depth > report.sinkages[i]:
                    report.sinkages[i], report.pressures[i], report.deepest_points[i] = depth, 0.0, NONE
    forget_lost_edges(history, i * MAX_EDGES, MAX_EDGES, touched)


@compiled
def _in_shoe(frames: Frames, i: int, point: Vector) -> Vector:
    """A point of the world, in the frame of shoe i."""
    r = frames.rotations[i]
    x = point[0] - frames.positions[i, 0]
    y = point[1] - frames.positions[i, 1]
    z = point[2] - frames.positions[i, 2]
    return (
        r[0, 0] * x + r[1, 0] * y + r[2, 0] * z,
        r[0, 1] * x + r[1, 1] * y + r[2, 1] * z,
        r[0, 2] * x + r[1, 2] * y + r[2, 2] * z,
    )
