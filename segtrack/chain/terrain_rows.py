"""Contacts of shoes' points with rigid ground as rows, whose geometry is held for some sub-steps.

What is curved or lasts for a moment only is found anew in every sub-step: soil, and edges in shoes.
"""

from __future__ import annotations

import math

from segtrack.chain.contact_rows import CLOSING_SPEED, DEPTH, PUSH, SHEAR, close_pair, press_pair, write_row
from segtrack.chain.shoe_contact import TerrainContact, add_edge_contacts, add_point_contacts
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.ground import (
    ALL_FACES,
    MAX_SOLIDS_PER_POINT,
    NONE,
    RIGID,
    Ground,
    find_slot,
    penetration_depth_grid,
    penetration_depth_solid,
    stands_for_floor,
)
from segtrack.kernels import Vector, add, arm, axis, entry, inlined, row, sum_of


@inlined
def find_terrain_contacts(contact: TerrainContact, frames: Frames, ahead: float) -> None:
    """Find the contacts of points with rigid ground, and those that may begin before the next search.

    A point that touches nothing yet has its nearest solid as a contact; one that touches something has
    what it touches, and no more, since walls between neighbouring solids are none.

    Args:
        contact: Terrain and shoes; the rows are written, and the contacts' memory is brought up to date.
        frames: Kinematics of n shoes and two anchors.
        ahead: Time for which the contacts serve, 0 for this instant alone [s].
    """
    treads, candidates, rows = contact.treads, contact.candidates, contact.rows
    pair = r = 0
    for i in range(len(treads.kinds)):
        if candidates.solid_counts[i] == 0 or _is_on_soil(contact, i):
            continue
        kind, center, lateral, first = (
            treads.kinds[i],
            row(frames.positions, i),
            axis(frames.rotations, i, 1),
            r,
        )
        for p in range(treads.contact_point_counts[kind]):
            lever = arm(frames.rotations, i, row(treads.contact_points[kind], p))
            r = _find_point_contacts(contact, i, p, lateral, lever, sum_of(center, lever), ahead, r)
        pair = close_pair(rows, pair, i, first, r)
    rows.pair_ends[0] = pair


@inlined
def add_terrain_rows(
    contact: TerrainContact, frames: Frames, loads: Loads, held: bool, sub_step: float
) -> None:
    """Add the forces of the terrain on all shoes.

    Args:
        contact: Terrain and shoes, and the contacts as they were found.
        frames: Kinematics of n shoes and two anchors.
        loads: Added to: loads on the shoes.
        held: True if they were found in an earlier sub-step.
        sub_step: [s]
    """
    _press_rows(contact, frames, loads, held, sub_step)
    _add_soil_and_edges(contact, frames, loads, sub_step)


@entry
def add_terrain_contacts(contact: TerrainContact, frames: Frames, loads: Loads, step: float) -> None:
    """Find the contacts of all shoes with the terrain, add their forces, and report them shoe by shoe.

    It is what a sub-step does whose contacts serve for that alone. With a step of zero they are found, but
    not sheared.

    Args:
        contact: Terrain and shoes; the memory of the contacts is changed, and the loads are overwritten.
        frames: Kinematics of n shoes and two anchors.
        loads: Added to: loads on the shoes.
        step: Duration of the sub-step [s].
    """
    report = contact.loads
    for i in range(len(contact.treads.kinds)):
        report.normal_forces[i], report.sinkages[i], report.pressures[i] = 0.0, 0.0, 0.0
        report.deepest_points[i] = NONE
    find_terrain_contacts(contact, frames, 0.0)
    _press_rows(contact, frames, loads, False, step)
    _report_rows(contact)
    _add_soil_and_edges(contact, frames, loads, step)
    keep_terrain_shear(contact)


@inlined
def _press_rows(contact: TerrainContact, frames: Frames, loads: Loads, held: bool, sub_step: float) -> None:
    """Add the forces of rigid ground on the shoes' points; arguments as of `add_terrain_rows`."""
    rows, law, begin = contact.rows, contact.parameters, 0
    for pair in range(rows.pair_ends[0]):
        i, end = rows.shoes[pair], rows.ends[pair]
        force, torque = press_pair(
            rows,
            begin,
            end,
            row(frames.velocities, i),
            row(frames.angular_velocities_world, i),
            law,
            False,
            held,
            sub_step,
        )
        add(loads.forces, i, force, 1.0)
        add(loads.torques, i, torque, 1.0)
        begin = end


@inlined
def _report_rows(contact: TerrainContact) -> None:
    """Report the contacts of the shoes' points with rigid ground, as they were pressed."""
    rows, treads, report, begin = contact.rows, contact.treads, contact.loads, 0
    for pair in range(rows.pair_ends[0]):
        i = rows.shoes[pair]
        for r in range(begin, rows.ends[pair]):
            p = rows.places[r] // MAX_SOLIDS_PER_POINT % treads.contact_points.shape[1]
            depth, push = rows.numbers[r, DEPTH], rows.numbers[r, PUSH]
            report.normal_forces[i] += push
            if depth > report.sinkages[i]:
                pressure = push / treads.areas[treads.kinds[i], p]
                report.sinkages[i], report.pressures[i], report.deepest_points[i] = depth, pressure, p
        begin = rows.ends[pair]


@inlined
def _add_soil_and_edges(contact: TerrainContact, frames: Frames, loads: Loads, sub_step: float) -> None:
    """Add the forces of soil, and of edges in shoes, which are found anew in every sub-step."""
    candidates = contact.candidates
    for i in range(len(contact.treads.kinds)):
        if candidates.solid_counts[i] > 0:
            if _is_on_soil(contact, i):
                add_point_contacts(contact, frames, loads, sub_step, i)
            add_edge_contacts(contact, frames, loads, sub_step, i)


@inlined
def keep_terrain_shear(contact: TerrainContact) -> None:
    """Write the shear displacements of the contacts to their memory."""
    rows, shears = contact.rows, contact.history.shear_displacements
    last = rows.ends[rows.pair_ends[0] - 1] if rows.pair_ends[0] > 0 else 0
    for r in range(last):
        for k in range(3):
            shears[rows.places[r], k] = rows.numbers[r, SHEAR + k]


@inlined
def _is_on_soil(contact: TerrainContact, i: int) -> bool:
    """Return whether something near shoe i is soil."""
    ground, candidates = contact.ground, contact.candidates
    for near in range(candidates.solid_counts[i]):
        solid = candidates.solids[i, near]
        grid = solid - len(ground.planes)
        soil = ground.solid_soils[solid] if grid < 0 else ground.point_soils[ground.grid_starts[grid]]
        if soil != RIGID:
            return True
    return False


@inlined
def _find_point_contacts(
    contact: TerrainContact,
    i: int,
    p: int,
    lateral: Vector,
    lever: Vector,
    point: Vector,
    ahead: float,
    r: int,
) -> int:
    """Write the contacts of point p of shoe i, at `lever` from its centre of mass [m], from row r on.

    Returns:
        The row behind the last one.
    """
    ground, candidates, history, rows = contact.ground, contact.candidates, contact.history, contact.rows
    slots, solid_ids, count = MAX_SOLIDS_PER_POINT, history.solid_ids, candidates.solid_counts[i]
    first = (i * contact.treads.contact_points.shape[1] + p) * slots
    touched, nearest, closest, toward = 0, -CLOSING_SPEED * ahead, NONE, (0.0, 0.0, 1.0)
    for near in range(count + 1):
        if near < count:
            solid = candidates.solids[i, near]
            surface, (depth, normal) = ground.surfaces[solid], _depth_in(ground, solid, point)
            if surface != solid and not stands_for_floor(
                ground, candidates.solids[i], count, near, point, depth
            ):
                continue
            if depth <= 0:
                if depth > nearest:
                    nearest, closest, toward = depth, solid, normal
                continue
            slot = find_slot(solid_ids, first, first + slots, surface)
            if slot == NONE:
                continue
            touched |= 1 << (slot - first)
        else:  # At last, what is near if nothing touches.
            for k in range(slots):
                if not touched & (1 << k):
                    solid_ids[first + k] = NONE
            if touched != 0 or closest == NONE:
                break
            solid, depth, normal, slot = closest, nearest, toward, first
        if solid_ids[slot] != ground.surfaces[solid]:
            solid_ids[slot], history.sinkages[slot] = ground.surfaces[solid], 0.0
            for k in range(3):
                history.shear_displacements[slot, k] = 0.0
        shear = row(history.shear_displacements, slot)
        friction = contact.parameters.friction * ground.friction[solid]
        write_row(rows, r, slot, lever, normal, lateral, depth, shear, friction)
        r += 1
    return r


@inlined
def _depth_in(ground: Ground, solid: int, point: Vector) -> tuple[float, Vector]:
    """Depth of a point in a solid or a grid [m], below zero by its gap outside, and the normal there."""
    if solid >= len(ground.planes):
        depth, normal, _ = penetration_depth_grid(ground, solid - len(ground.planes), point)
        return depth, normal
    return penetration_depth_solid(ground, solid, ALL_FACES, point, math.inf, True)
