"""Contact of the ground with a belt whose sections ride its path, or whose face slides along it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, place_on_path, pose_on_segment, section_pose
from segtrack.compliant.candidates import Candidates
from segtrack.compliant.edge_contact import (
    EdgeSlots,
    PartFrame,
    PartMotion,
    Pieces,
    ReportRows,
    add_edges,
    along_axes,
    horizon_of,
    motion_at,
    solid_of_edge,
)
from segtrack.compliant.memory import BeltMemory, remembers_contact
from segtrack.compliant.report import MAX_SINKAGE, report_contact
from segtrack.ground import (
    LANES,
    MAX_EDGES,
    NONE,
    ContactParameters,
    Contacts,
    FaceMotion,
    Ground,
    LinkMotion,
    PointShare,
    SolidsNear,
    StepTimes,
    clearance,
    face_axes,
    forget_lost_edges,
    greatest_sinkage,
    in_axes,
    meets_edge,
    open_face,
    point_load,
    touch_face,
    velocity_over_ground,
)
from segtrack.kernels import compiled, dot, inlined, row, scaled, sum_of, without_share

_ROUNDING = 1e-9
"""Clearance that may be rounding [m]."""
_NO_RUN = 1e-7
"""Way of a belt in a step below which its chords are its tangents [m]."""


@compiled
def contact_law(laws: NDArray[np.float64], belt: int, friction: float) -> ContactParameters:
    """Contact parameters of a metre of a belt, with its friction of now."""
    law = laws[belt]
    return ContactParameters(friction, law[1], law[2], law[3], law[4], law[5], law[6])


@compiled
def _first_slot(memory: BeltMemory, section: int) -> int:
    """First slot for edges of a section, or `NONE` if it has no place."""
    place = memory.places[section]
    return NONE if place == NONE else place * MAX_EDGES


@inlined
def add_belt_contacts(
    ground: Ground,
    belts: BeltArrays,
    friction: float,
    track: PartFrame,
    motion: LinkMotion,
    travel: float,
    candidates: Candidates,
    memory: BeltMemory,
    contacts: Contacts,
    report: NDArray[np.float64],
    ahead: float,
    slack: float,
    step: float,
) -> None:
    """Write the contacts of the ground with a belt in a step; they are advanced to now.

    Args:
        ground: The ground.
        belts: The vehicle's.
        friction: Coefficient of the belt along its track [-].
        track: Its track frame.
        motion: Motion of its link, and of the belt.
        travel: Travel of the belt [m].
        candidates: Candidates of the vehicle.
        memory: Contact memory of the vehicle.
        contacts: Contacts of the vehicle, written behind those that are there.
        report: Filled with contacts (rows, `REPORT`), points of all sections first, then ends of their edges;
            may have no rows.
        ahead: Distance that no point moves further than in the step [m].
        slack: Distance that any part may move before candidates are looked for again, see
            `Candidates.clear_until` [m].
        step: Duration [s].
    """
    belt, slides, center = motion.belt, motion.slides, motion.center
    ex, ey, ez = track.x, track.y, track.z
    law, times = (
        contact_law(belts.laws, belt, friction),
        StepTimes(step, horizon_of(report, step), ahead),
    )
    first, points, history = belts.section_starts[belt], belts.points.shape[1], memory.contacts
    smooth = law.restitution == 0.0 and len(report) == 0
    # What is reported acted in the step before: its chords lead here.
    run = belts.riding[belt] * motion.speed * (times.horizon if times.horizon > 0.0 else -step)
    turning, perimeter = math.sqrt(dot(motion.spin, motion.spin)), belts.perimeters[belt]
    shift = belts.riding[belt] * (travel - perimeter * math.floor(travel / perimeter))
    still = (0.0, 0.0, 0.0)
    begin, end, segment, curvature, start, out, forward = 0.0, -1.0, 0, 0.0, still, still, still
    shown, before = NONE, FaceMotion(still, still, still, still, still, still, still, still, 0.0, 0.0, 0.0)
    for near in range(candidates.near_starts[belt], candidates.near_starts[belt + 1]):
        # What cannot touch costs nothing.
        if slack - candidates.clear_until[near] > ahead:
            continue
        section = candidates.near[near]
        place = memory.places[section]
        kind, length = belts.kinds[section], belts.lengths[section]
        # The section is where the path is at its coordinate q, with x axis t, z axis o and curvature k:
        # dx/dq = t, dt/dq = -k o, do/dq = k t.
        along = belts.coordinates[section] + shift
        if not 0.0 <= along < perimeter:
            along -= perimeter * math.floor(along / perimeter)
        if not begin <= along < end:
            segment, _ = place_on_path(belts, belt, along)
            data = belts.segments[segment]
            begin, curvature, shown = data[0], data[6], NONE
            end = (
                belts.segments[segment + 1, 0] if segment + 1 < belts.segment_starts[belt + 1] else perimeter
            )
            out = along_axes(ex, ey, ez, (data[5], 0.0, data[4]))
            forward = along_axes(ex, ey, ez, (data[4], 0.0, -data[5]))
            start = along_axes(ex, ey, ez, (data[1], 0.0, data[2]))
            start = (
                start[0] + (track.origin[0] - center[0]),
                start[1] + (track.origin[1] - center[1]),
                start[2] + (track.origin[2] - center[2]),
            )
        x, z, cosine, sine, lever = 0.0, 0.0, 1.0, 0.0, start
        if curvature == 0.0:
            lever = without_share(start, begin - along, forward)
        else:
            x, z, cosine, sine, _ = pose_on_segment(belts, segment, along - begin)
            out = along_axes(ex, ey, ez, (sine, 0.0, cosine))
            forward = along_axes(ex, ey, ez, (cosine, 0.0, -sine))
            here = x - belts.segments[segment, 1], 0.0, z - belts.segments[segment, 2]
            lever = sum_of(start, along_axes(ex, ey, ez, here))
        base = sum_of(center, lever)
        straight = curvature == 0.0 and 0.0 <= along - begin + run <= belts.segments[segment, 7]
        box, reach = belts.boxes[kind], ahead + _ROUNDING
        if straight:
            # No point comes nearer to anything, in the step, than it moves: |v + w x r + s t| + |w| |x|.
            moving, about = velocity_over_ground(motion, lever, still if slides else forward), 0.0
            for k in range(3):
                about += abs(box[k]) + box[3 + k]
            reach = min(ahead, step * (math.sqrt(dot(moving, moving)) + about * turning)) + _ROUNDING
        middle = sum_of(base, along_axes(forward, ey, out, (box[0], box[1], box[2])))
        half = (box[3], box[4], box[5])
        clear, only, face = clearance(
            ground,
            candidates.solids[near],
            candidates.faces[near],
            candidates.solid_counts[near],
            middle,
            (forward, ey, out),
            half,
            reach,
        )
        if clear > reach and not remembers_contact(memory, place, points):
            candidates.clear_until[near] = slack - (clear - _ROUNDING)
            continue
        edge_count = candidates.edge_counts[near]
        if edge_count > 0 and not meets_edge(
            ground, candidates.edges[near], edge_count, middle, (forward, ey, out), half, _ROUNDING
        ):
            edge_count = 0
            forget_lost_edges(history, place * MAX_EDGES, MAX_EDGES, 0)
        frame = PartFrame(base, forward, ey, out)
        ride = PartMotion(forward, scaled(out, -curvature), scaled(forward, curvature))
        if not straight and abs(run) > _NO_RUN:
            # Around an arc the chord of the step, not its tangent, which leads run^2 / 2 r too deep.
            x, z, cosine, sine, _ = pose_on_segment(belts, segment, along - begin)
            end_x, end_z, end_cosine, end_sine, _ = section_pose(belts, belt, along + run)
            if curvature != 0.0 or end_cosine != cosine or end_sine != sine:
                ride = PartMotion(
                    along_axes(ex, ey, ez, ((end_x - x) / run, 0.0, (end_z - z) / run)),
                    along_axes(ex, ey, ez, ((end_cosine - cosine) / run, 0.0, (sine - end_sine) / run)),
                    along_axes(ex, ey, ez, ((end_sine - sine) / run, 0.0, (end_cosine - cosine) / run)),
                )
        # Points that can touch one face alone are taken side by side.
        if face != NONE and smooth and edge_count == 0:
            solid, faces = candidates.solids[near, only], contacts.with_faces
            at = open_face(faces, ground, solid, face, ey, motion.link, belt, law, step)
            axes = face_axes(faces, at)
            if at != shown or not straight:
                shown = at if straight else NONE
                before = FaceMotion(
                    x=in_axes(axes, forward),
                    y=in_axes(axes, ey),
                    z=in_axes(axes, out),
                    forward=in_axes(axes, ride.forward),
                    nose=in_axes(axes, ride.nose),
                    top=in_axes(axes, ride.top),
                    velocity=in_axes(axes, motion.velocity),
                    spin=in_axes(axes, motion.spin),
                    speed=motion.speed,
                    carried=0.0 if slides else 1.0,
                    offset=ground.planes[solid, face, 3] - dot(axes[2], center),
                )
            for chunk in range(belts.chunk_counts[kind]):
                touch_face(
                    faces,
                    at,
                    ground.surfaces[solid],
                    law,
                    before,
                    in_axes(axes, lever),
                    belts.lanes[kind, chunk],
                    belts.lane_counts[kind, chunk],
                    length,
                    min(LANES, belts.point_counts[kind] - chunk * LANES),
                    history,
                    place * points + chunk * LANES,
                    ahead,
                    step,
                )
            continue
        # A section that an edge across the track has entered lies on that, and on faces that face it.
        edged = NONE
        if edge_count > 0:
            # An edge passes from one piece of a face that stands still to the next.
            last = belts.section_starts[belt + 1] - 1
            ahead_of, behind = NONE, NONE
            if slides:
                ahead_of = _first_slot(memory, section - 1 if section > first else last)
                behind = _first_slot(memory, section + 1 if section < last else first)
            entered = add_edges(
                ground,
                law,
                belts.edge_weights[kind] * length,
                Pieces(belts.pieces[kind], belts.face_counts[kind], belts.piece_counts[kind]),
                candidates.edges[near],
                edge_count,
                EdgeSlots(place * MAX_EDGES, MAX_EDGES, ahead_of, behind),
                frame,
                motion,
                ride,
                history,
                contacts,
                ReportRows(report, len(belts.kinds) * points + 2 * MAX_EDGES * section, belt, section),
                times,
            )
            if entered != NONE:
                edged = solid_of_edge(ground, candidates.solids[near], candidates.solid_counts[near], entered)
        solids = SolidsNear(
            candidates.solids[near], candidates.faces[near], candidates.solid_counts[near], edged, out
        )
        for p in range(belts.point_counts[kind]):
            arm = along_axes(forward, ey, out, row(belts.points[kind], p))
            point = sum_of(base, arm)
            own, along_belt = sum_of(lever, arm), motion_at(ride, row(belts.points[kind], p))
            share = PointShare(belts.areas[kind, p], belts.sides[kind, p], belts.weights[kind, p] * length)
            pressing, along, push, depth, pressure = point_load(
                ground,
                law,
                history,
                place * points + p,
                solids,
                point,
                motion,
                own,
                along_belt,
                ey,
                share,
                times,
                contacts,
            )
            if len(report) > 0:
                index, size = section * points + p, math.sqrt(dot(pressing, pressing))
                if slides and size > 0.0:  # As the law has it.
                    normal = scaled(pressing, 1 / size)
                    along_belt = without_share(along_belt, dot(along_belt, normal), normal)
                here = velocity_over_ground(motion, own, along_belt)
                report_contact(
                    report, index, point, pressing, push, along, here, depth, pressure, belt, section
                )
                report[index, MAX_SINKAGE] = greatest_sinkage(history, place * points + p)
