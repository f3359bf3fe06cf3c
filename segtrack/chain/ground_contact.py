"""Contact of shoes with ground: what acts on their markers (Omar 2014, section 5).

Every marker of a shoe is pushed out of the solid in which it is, through the nearest face, so
that a step's upright face is met as well as its top. Where solids meet, a marker touches more
than one of them, and each contact remembers its own shear.

A marker that loses touch forgets its contact, and soil there is untouched for the next one.
"""

from __future__ import annotations

import math

from segtrack.chain.ground import RIGID, Ground
from segtrack.chain.ground_edges import add_edges
from segtrack.chain.ground_laws import along_surface, slip_in_soil, slip_on_rigid, soil_pressure, sum_of
from segtrack.chain.ground_shape import depth_in_grid, depth_in_solid, soil_between, soil_row
from segtrack.chain.ground_state import NONE, SURFACES, GroundLoads, GroundMotion, Nearby, slot_of
from segtrack.chain.ground_tread import Grip, Treads
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.vectors import add, axis, compiled, cross, dot, row


@compiled
def add_ground(
    ground: Ground,
    treads: Treads,
    grip: Grip,
    frames: Frames,
    nearby: Nearby,
    motion: GroundMotion,
    loads: Loads,
    report: GroundLoads,
    step: float,
) -> None:
    """Add what the ground does to all links, and advance their contacts by `step` [s].

    With a step of zero the contacts are found, but not sheared.

    Args:
        ground: The ground.
        treads: Of the links.
        grip: Of all markers.
        frames: Where the links are.
        nearby: What is near them, see `box_ground`.
        motion: Memory of the contacts, changed in place.
        loads: To which forces and torques are added.
        report: Overwritten.
        step: Duration of the sub-step [s].
    """
    planes, faces, solid_soils, frictions = ground.planes, ground.faces, ground.solid_soils, ground.friction
    kinds, markers, areas, sides = treads.kinds, treads.markers, treads.areas, treads.sides
    marker_counts, convex, most = treads.marker_counts, len(planes), markers.shape[1]
    solids, solid_counts, edge_counts = nearby.solids, nearby.solid_counts, nearby.edge_counts
    positions, rotations, velocities, spins = (
        frames.positions,
        frames.rotations,
        frames.velocities,
        frames.spins,
    )
    owners, shears, sinkages = motion.owners, motion.shears, motion.sinkages
    forces, torques = loads.forces, loads.torques
    normals, sheared, sunk, pressures = report.normals, report.shears, report.sinkages, report.pressures
    for i in range(len(kinds)):
        normals[i], sunk[i], pressures[i] = 0.0, 0.0, 0.0
        sheared[i, 0], sheared[i, 1], sheared[i, 2] = 0.0, 0.0, 0.0
        if solid_counts[i] == 0:
            continue
        kind = kinds[i]
        center, velocity, spin = row(positions, i), row(velocities, i), row(spins, i)
        along_x, along_y, along_z = axis(rotations, i, 0), axis(rotations, i, 1), axis(rotations, i, 2)
        total, torque, drag = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for marker in range(marker_counts[kind]):
            x, y, z = markers[kind, marker, 0], markers[kind, marker, 1], markers[kind, marker, 2]
            lever = (
                along_x[0] * x + along_y[0] * y + along_z[0] * z,
                along_x[1] * x + along_y[1] * y + along_z[1] * z,
                along_x[2] * x + along_y[2] * y + along_z[2] * z,
            )
            point = sum_of(center, lever)
            area, first, touched = areas[kind, marker], (i * most + marker) * SURFACES, 0
            for near in range(solid_counts[i]):
                owner = solids[i, near]
                if owner < convex:
                    depth, normal = depth_in_solid(planes, faces[owner], owner, point)
                    soil, corners = solid_soils[owner], ((0, 0, 0), (1.0, 0.0, 0.0))
                else:
                    depth, normal, corners = depth_in_grid(ground, owner - convex, point)
                    soil = ground.point_soils[corners[0][0]]
                if depth <= 0:
                    continue
                slot = slot_of(owners, first, first + SURFACES, owner)
                if slot == NONE:
                    continue
                if owners[slot] == NONE:
                    owners[slot], sinkages[slot] = owner, 0.0
                    shears[slot, 0], shears[slot, 1], shears[slot, 2] = 0.0, 0.0, 0.0
                touched |= 1 << (slot - first)

                here = sum_of(velocity, cross(spin, lever))
                rising = dot(here, normal)
                slip = along_surface(here, rising, normal)
                shear = row(shears, slot)
                if soil == RIGID:
                    push = max(0.0, grip.stiffness * depth - grip.damping * rising)
                    limit = grip.friction * frictions[owner] * push
                    shear, along = slip_on_rigid(shear, normal, slip, limit, grip, step)
                else:
                    there = soil_row(ground.soils, soil) if owner < convex else soil_between(ground, corners)
                    steepest = grip.stiffness / area
                    pressure, slope = soil_pressure(
                        there, sides[kind, marker], depth, sinkages[slot], steepest
                    )
                    sinkages[slot] = max(depth, sinkages[slot])
                    if pressure == 0:
                        continue
                    damping = grip.damping * math.sqrt(slope / steepest)
                    push = max(0.0, pressure * area - damping * rising)
                    shear, along = slip_in_soil(shear, normal, slip, pressure, area, there, grip, step)
                shears[slot, 0], shears[slot, 1], shears[slot, 2] = shear
                force = along_surface(along, -push, normal)
                total, torque = sum_of(total, force), sum_of(torque, cross(lever, force))
                drag = sum_of(drag, along)
                normals[i] += push
                sunk[i] = max(sunk[i], depth)
                pressures[i] = max(pressures[i], push / area)
            for slot in range(SURFACES):
                if owners[first + slot] != NONE and not touched & (1 << slot):
                    owners[first + slot] = NONE
        add(forces, i, total, 1.0)
        add(torques, i, torque, 1.0)
        add(sheared, i, drag, 1.0)
        if edge_counts[i] > 0:
            add_edges(ground, treads, grip, frames, nearby, motion, loads, report, step, i)
