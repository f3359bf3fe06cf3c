"""Contacts of the points of a belt's sections with one face of rigid ground, side by side.

The equations are those of points one by one (`implicit_contact.point_load`, `active_contacts`), in the frame
of the face: 1 along the track, 2 across it on the surface, 3 the normal out of the ground. With the place r
of a point from its link's centre, its velocity t over the link per belt speed s, and the face's offset c,

    d = c - r_3            v = v_0 + w x r + s t

and friction's ellipse is diagonal, D = diag(g, r^2 g, m) with the lateral ratio r: 29 sums stand for force,
torque and what contacts add to masses. They are turned into the world once for all contacts with a face.

A block has a lane for each point of a section, up to `LANES`, and is taken in fours. Loops over lanes have no
branches, and read their number from an array: a processor's vectors take several contacts at once. Lanes of
points that do not touch have no weight, and exert nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.broadphase import MAX_SOLIDS_PER_POINT, NONE, ContactHistory
from segtrack.ground.contact_laws import ContactParameters
from segtrack.ground.contact_loads import ALLOWED, BEYOND, LANES, PRESSED, WRONG, VehicleLoads, taken
from segtrack.ground.implicit_laws import damping_of
from segtrack.ground.pack import Ground
from segtrack.kernels import Vector, compiled, cross, dot, inlined, row, scaled, without_share

PLACE, ALONG, FORCE, HOLDING, WEIGHT, LIMIT, ACTS, CUT = 0, 3, 6, 7, 9, 10, 11, 12
"""First rows of a block: r [m]; t [-]; N_0 [N]; s_0 along and across [N]; weight [-]; limit of now [N]; 1
where the normal force acts, else 0; q [-]."""
BLOCK = 13
AXES, FRICTION, SQUARE, RESISTANCE, GRIP = 0, 9, 10, 11, 12
"""First numbers of a face: its axes in the world; mu [-]; r^2 [-]; D_n and D_t for a weight of 1 [N s/m]."""
FACE_NUMBERS = 13
LINK, BELT_INDEX, END = 0, 1, 2
"""Link of a face's contacts, their belt, and the block behind their last one."""
FACE_SUMS = 29
"""Numbers of the sums over contacts with a face, see `_add_lanes`."""
SHEAR, TOUCHES = 0, 2
"""Rows of what points remember: shear displacement along and across [m]; 1 where they touch, else 0."""
_LEAST = 1e-6
"""Length of the direction across the track along a surface, below which there is none [-]."""


class FaceContacts(NamedTuple):
    """Contacts of a step with single faces of rigid ground, in blocks of `LANES`.

    Attributes:
        blocks: Numbers of the contacts, each row of a block with a lane for each (B, `BLOCK` * `LANES`).
        lanes: Number of lanes of each block that are in use (B,).
        faces: Numbers of each face that a belt touches (B, `FACE_NUMBERS`).
        parts: Link, belt and end of the blocks of each of these faces (B, 3).
        touched: Solid and face of the last one of these (2,).
        used: Numbers of blocks and of faces (2,).
        shears: Room for what the points of a section remember (3 * `LANES`,).
        slots: Room for the slots of these points in the memory of contacts (`LANES`,).
        sums: Room for sums in lanes, empty (`FACE_SUMS` * `LANES`,).
    """

    blocks: NDArray[np.float64]
    lanes: NDArray[np.intp]
    faces: NDArray[np.float64]
    parts: NDArray[np.int32]
    touched: NDArray[np.int32]
    used: NDArray[np.int32]
    shears: NDArray[np.float64]
    slots: NDArray[np.intp]
    sums: NDArray[np.float64]


def allocate_face_contacts(blocks: int) -> FaceContacts:
    """Room for so many blocks."""
    return FaceContacts(
        np.zeros((blocks, BLOCK * LANES)),
        np.zeros(blocks, dtype=np.intp),
        np.zeros((blocks, FACE_NUMBERS)),
        np.zeros((blocks, 3), dtype=np.int32),
        np.zeros(2, dtype=np.int32),
        np.zeros(2, dtype=np.int32),
        np.zeros(3 * LANES),
        np.zeros(LANES, dtype=np.intp),
        np.zeros(FACE_SUMS * LANES),
    )


class FaceMotion(NamedTuple):
    """Section of a belt before a face, in the face's frame.

    Attributes:
        x: Its axis along the belt.
        y: Its axis across the belt.
        z: Its axis outwards.
        forward: Motion of its origin over the link, per metre of the belt [-].
        nose: Motion of its x axis [1/m].
        top: Motion of its z axis [1/m].
        velocity: Velocity of the link's centre [m/s].
        spin: Angular velocity of the link [rad/s].
        speed: Speed of the belt [m/s].
        carried: 1 if the belt carries its sections, 0 if it slides along them.
        offset: Height of the face over the link's centre, along its normal [m].
    """

    x: Vector
    y: Vector
    z: Vector
    forward: Vector
    nose: Vector
    top: Vector
    velocity: Vector
    spin: Vector
    speed: float
    carried: float
    offset: float


class FaceLaw(NamedTuple):
    """Law of contacts of weight 1 with a face in a step of `step` [s], see `implicit_laws`.

    Points move no farther than `ahead` in it [m], and have `share` of the law beside their weights [-].
    """

    stiffness: float
    damping: float
    tangential_stiffness: float
    grip: float
    friction: float
    square: float
    step: float
    ahead: float
    share: float


@compiled
def in_axes(axes: tuple[Vector, Vector, Vector], a: Vector) -> Vector:
    """A vector of the world, in a frame of these axes."""
    return dot(axes[0], a), dot(axes[1], a), dot(axes[2], a)


@compiled
def _out_of(axes: tuple[Vector, Vector, Vector], a: Vector) -> Vector:
    """A vector in a frame of these axes, in the world."""
    return (
        axes[0][0] * a[0] + axes[1][0] * a[1] + axes[2][0] * a[2],
        axes[0][1] * a[0] + axes[1][1] * a[1] + axes[2][1] * a[2],
        axes[0][2] * a[0] + axes[1][2] * a[1] + axes[2][2] * a[2],
    )


@inlined
def face_axes(contacts: FaceContacts, face: int) -> tuple[Vector, Vector, Vector]:
    """Axes of a face in the world: along the track, across it, and the normal."""
    a = contacts.faces[face]
    return (a[0], a[1], a[2]), (a[3], a[4], a[5]), (a[6], a[7], a[8])


@inlined
def open_face(
    contacts: FaceContacts,
    ground: Ground,
    solid: int,
    face: int,
    lateral: Vector,
    link: int,
    belt: int,
    law: ContactParameters,
    step: float,
) -> int:
    """Index of a face that a belt touches in a step, written unless it is the last one.

    Args:
        contacts: Contacts of the vehicle.
        ground: The ground.
        solid: Index of the solid.
        face: Index of its face.
        lateral: Direction across the track, in the world.
        link: Index of the link.
        belt: Index of the belt.
        law: Contact parameters of the belt.
        step: Duration [s].
    """
    last = contacts.used[1] - 1
    if (
        last >= 0
        and contacts.touched[0] == solid
        and contacts.touched[1] == face
        and contacts.parts[last, BELT_INDEX] == belt
    ):
        return last
    contacts.touched[0], contacts.touched[1], contacts.used[1] = solid, face, last + 2
    parts, numbers = contacts.parts[last + 1], contacts.faces[last + 1]
    parts[LINK], parts[BELT_INDEX], parts[END] = link, belt, contacts.used[0]
    normal = row(ground.planes[solid, :, :3], face)
    square, across = (
        law.lateral_ratio * law.lateral_ratio,
        without_share(lateral, dot(lateral, normal), normal),
    )
    size = math.sqrt(dot(across, across))
    if size <= _LEAST:  # Any direction does for a circle.
        square = 1.0
        other = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.5 else (0.0, 1.0, 0.0)
        across = without_share(other, dot(other, normal), normal)
        size = math.sqrt(dot(across, across))
    across = scaled(across, 1.0 / size)
    along = cross(across, normal)
    for k in range(3):
        numbers[AXES + k], numbers[AXES + 3 + k], numbers[AXES + 6 + k] = along[k], across[k], normal[k]
    numbers[FRICTION], numbers[SQUARE] = law.friction * ground.friction[solid], square
    numbers[RESISTANCE] = damping_of(law, step) + step * law.stiffness
    tangential = max(law.tangential_damping, law.tangential_stiffness * step)
    numbers[GRIP] = tangential + step * law.tangential_stiffness
    return last + 1


@inlined
def touch_face(
    contacts: FaceContacts,
    face: int,
    surface: int,
    law: ContactParameters,
    motion: FaceMotion,
    base: Vector,
    table: NDArray[np.float64],
    lanes: int,
    share: float,
    count: int,
    history: ContactHistory,
    first_point: int,
    ahead: float,
    step: float,
) -> None:
    """Write the contacts of the points of a section with a face in a step; they are advanced to now.

    The points touch nothing else.

    Args:
        contacts: Contacts of the vehicle, written behind those that are there.
        face: Index of the face, the last one there.
        surface: Number by which contacts remember its solid.
        law: Contact parameters of the section.
        motion: Section before the face.
        base: Origin of the section from the link's centre, in the face's frame [m].
        table: x, y, z [m] and weights of the section's points in lanes (4 * `LANES`,).
        lanes: Number of lanes in use.
        share: Fraction of the law that the section has, beside its points' weights [-].
        count: Number of its points.
        history: Contact memory of the vehicle.
        first_point: Index of the first point there.
        ahead: Distance that no point moves further than in the step [m].
        step: Duration [s].
    """
    axes, numbers, shears = face_axes(contacts, face), contacts.faces[face], contacts.shears
    ids, known, remembered = history.solid_ids, contacts.slots, history.shear_displacements
    for p in range(count, lanes):
        shears[p] = shears[LANES + p] = 0.0
    for p in range(count):
        first = (first_point + p) * MAX_SOLIDS_PER_POINT
        known[p], shears[p], shears[LANES + p] = NONE, 0.0, 0.0
        for slot in range(first, first + MAX_SOLIDS_PER_POINT):
            if ids[slot] == surface:
                shear = row(remembered, slot)
                known[p], shears[p], shears[LANES + p] = slot, dot(axes[0], shear), dot(axes[1], shear)
            elif ids[slot] != NONE:
                ids[slot] = NONE
    block = contacts.blocks[contacts.used[0]]
    _touch_lanes(
        block,
        table,
        shears,
        motion,
        base,
        FaceLaw(
            law.stiffness,
            damping_of(law, step),
            law.tangential_stiffness,
            numbers[GRIP],
            numbers[FRICTION],
            numbers[SQUARE],
            step,
            ahead,
            share,
        ),
        lanes,
    )
    any_touches = False
    for p in range(count):
        slot = known[p]
        if shears[TOUCHES * LANES + p] == 0.0:
            if slot != NONE:
                ids[slot] = NONE
            continue
        any_touches = True
        if slot == NONE:
            slot = (first_point + p) * MAX_SOLIDS_PER_POINT
            ids[slot], history.sinkages[slot] = surface, 0.0
        a, b = shears[p], shears[LANES + p]
        for k in range(3):
            remembered[slot, k] = a * axes[0][k] + b * axes[1][k]
    if any_touches:
        contacts.lanes[contacts.used[0]] = lanes
        contacts.used[0] += 1
        contacts.parts[face, END] = contacts.used[0]


@compiled
def _touch_lanes(
    block: NDArray[np.float64],
    table: NDArray[np.float64],
    shears: NDArray[np.float64],
    motion: FaceMotion,
    base: Vector,
    law: FaceLaw,
    lanes: int,
) -> None:
    """Write a block for the points of a section, and advance their shear displacements."""
    x, y, z = motion.x, motion.y, motion.z
    forward, nose, top, spin, speed = motion.forward, motion.nose, motion.top, motion.spin, motion.speed
    over, square, step = 1.0 / law.step, law.square, law.step
    hard = law.damping + step * law.stiffness
    for lane in range(lanes):
        a, b, c, weight = (
            table[lane],
            table[LANES + lane],
            table[2 * LANES + lane],
            law.share * table[3 * LANES + lane],
        )
        r1 = base[0] + x[0] * a + y[0] * b + z[0] * c
        r2 = base[1] + x[1] * a + y[1] * b + z[1] * c
        r3 = base[2] + x[2] * a + y[2] * b + z[2] * c
        t1 = forward[0] + nose[0] * a + top[0] * c
        t2 = forward[1] + nose[1] * a + top[1] * c
        t3 = motion.carried * (forward[2] + nose[2] * a + top[2] * c)
        v1 = motion.velocity[0] + (spin[1] * r3 - spin[2] * r2) + speed * t1
        v2 = motion.velocity[1] + (spin[2] * r1 - spin[0] * r3) + speed * t2
        v3 = motion.velocity[2] + (spin[0] * r2 - spin[1] * r1) + speed * t3
        depth = motion.offset - r3
        # It counts from where it would come to touch in the step: d > 0 or d - h v_n > 0.
        touches = weight if depth > -law.ahead and max(depth, depth - step * v3) > 0.0 else 0.0
        # N_0 = k (d - h v_n) - c v_n, before it touches (c + h k) (d / h - v_n); see `normal_load`.
        driven = law.stiffness * (depth - step * v3) - law.damping * v3
        ahead = hard * (depth * over - v3)
        now = touches * max(0.0, law.stiffness * depth + law.damping * min(-v3, depth * over))
        limit = law.friction * (now if depth >= 0.0 else 0.0)
        # e <- e + h v_t, with k |e| up to mu N_now; s_0 = -k (e + h v_t) - c v_t.
        e1, e2 = shears[lane] + step * v1, shears[LANES + lane] + step * v2
        stiff = touches * law.tangential_stiffness
        stretch = stiff * stiff * (e1 * e1 + square * (e2 * e2))
        cut = limit / math.sqrt(stretch) if stretch > limit * limit else 1.0
        e1, e2 = cut * e1, cut * e2
        held = touches * law.grip
        shears[lane], shears[LANES + lane], shears[2 * LANES + lane] = e1, e2, touches
        block[lane], block[LANES + lane], block[2 * LANES + lane] = r1, r2, r3
        block[ALONG * LANES + lane], block[(ALONG + 1) * LANES + lane], block[(ALONG + 2) * LANES + lane] = (
            t1,
            t2,
            t3,
        )
        block[FORCE * LANES + lane] = touches * (driven if depth >= 0.0 else ahead)
        block[HOLDING * LANES + lane] = -stiff * e1 - held * v1
        block[(HOLDING + 1) * LANES + lane] = square * (-stiff * e2 - held * v2)
        block[WEIGHT * LANES + lane], block[LIMIT * LANES + lane] = touches, limit
        block[ACTS * LANES + lane] = block[CUT * LANES + lane] = 0.0


@inlined
def add_face_loads(
    contacts: FaceContacts,
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
    passed: int,
    anew: float,
    loads: VehicleLoads,
    step: float,
) -> None:
    """Cut contacts with faces for the velocity changes of a step, and add them to the loads of a vehicle.

    Args:
        contacts: Contacts; q and what acts are written.
        changes: Changes of the velocities of the links' centres in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds (T,) [m/s].
        passed: Times that the step has been solved, see `active_contacts.add_contact_loads`.
        anew: 1 if a contact that has come apart may act again, else 0.
        loads: Loads of the vehicle, added to.
        step: Duration [s].
    """
    block = 0
    for face in range(contacts.used[1]):
        link, belt, end = (
            contacts.parts[face, LINK],
            contacts.parts[face, BELT_INDEX],
            contacts.parts[face, END],
        )
        axes = face_axes(contacts, face)
        change, turn = in_axes(axes, row(changes, link)), in_axes(axes, row(turns, link))
        while block < end:
            _add_lanes(
                contacts.blocks[block],
                contacts.faces[face],
                contacts.sums,
                change,
                turn,
                belt_changes[belt],
                passed,
                anew,
                step,
                contacts.lanes[block],
            )
            block += 1
        _add_face_sums(loads, link, belt, axes, contacts.faces[face, SQUARE], contacts.sums)


@compiled
def _velocity_change(
    block: NDArray[np.float64], lane: int, change: Vector, turn: Vector, belt_change: float
) -> Vector:
    """Change of the velocity of a contact's part, dv + dw x r + ds t, in the face's frame [m/s]."""
    r1, r2, r3 = block[lane], block[LANES + lane], block[2 * LANES + lane]
    return (
        change[0] + (turn[1] * r3 - turn[2] * r2) + belt_change * block[ALONG * LANES + lane],
        change[1] + (turn[2] * r1 - turn[0] * r3) + belt_change * block[(ALONG + 1) * LANES + lane],
        change[2] + (turn[0] * r2 - turn[1] * r1) + belt_change * block[(ALONG + 2) * LANES + lane],
    )


@compiled
def _add_lanes(
    block: NDArray[np.float64],
    face: NDArray[np.float64],
    sums: NDArray[np.float64],
    change: Vector,
    turn: Vector,
    belt_change: float,
    passed: int,
    anew: float,
    step: float,
    lanes: int,
) -> None:
    """Cut the contacts of a block for changes in the face's frame, and add them to its sums in lanes.

    Sums: f, r x f; g, m; g r, m r_1, m r_2; g r_1^2, g r_2^2, g r_3^2, m r_1^2, m r_2^2, m r_1 r_2,
    g r_1 r_3, g r_2 r_3; of the belt D t, r x D t, t.D t and t.f.
    """
    friction, square, resistance, grip = face[FRICTION], face[SQUARE], face[RESISTANCE], face[GRIP]
    over = 1.0 / square
    first = 1.0 if passed == 0 else 0.0
    for lane in range(lanes):
        r1, r2, r3 = block[lane], block[LANES + lane], block[2 * LANES + lane]
        t1, t2, t3 = (
            block[ALONG * LANES + lane],
            block[(ALONG + 1) * LANES + lane],
            block[(ALONG + 2) * LANES + lane],
        )
        s1, s2 = block[HOLDING * LANES + lane], block[(HOLDING + 1) * LANES + lane]
        weight, force = block[WEIGHT * LANES + lane], block[FORCE * LANES + lane]
        v1, v2, v3 = _velocity_change(block, lane, change, turn, belt_change)
        # N = N_0 - D_n dv_n; q = min(1, mu N / |s_0 - D_t dv_t|), by friction's ellipse.
        normal, held = weight * resistance, weight * grip
        push = force - normal * v3
        acts = max(anew, block[ACTS * LANES + lane]) if push > 0.0 else 0.0
        limit = block[LIMIT * LANES + lane] if first > 0.0 else acts * friction * push
        h1, h2 = s1 - held * v1, s2 - square * held * v2
        size = h1 * h1 + over * (h2 * h2)
        cut = limit / math.sqrt(size) if size > limit * limit else 1.0
        block[ACTS * LANES + lane], block[CUT * LANES + lane] = acts, cut
        f1, f2, f3 = cut * s1, cut * s2, acts * force
        m, g = step * acts * normal, step * cut * held
        g1, g2, g3 = g * r1, g * r2, g * r3
        m1, m2 = m * r1, m * r2
        p1, p2, p3 = g * t1, square * (g * t2), m * t3
        sums[lane] += f1
        sums[LANES + lane] += f2
        sums[2 * LANES + lane] += f3
        sums[3 * LANES + lane] += r2 * f3 - r3 * f2
        sums[4 * LANES + lane] += r3 * f1 - r1 * f3
        sums[5 * LANES + lane] += r1 * f2 - r2 * f1
        sums[6 * LANES + lane] += g
        sums[7 * LANES + lane] += m
        sums[8 * LANES + lane] += g1
        sums[9 * LANES + lane] += g2
        sums[10 * LANES + lane] += g3
        sums[11 * LANES + lane] += m1
        sums[12 * LANES + lane] += m2
        sums[13 * LANES + lane] += g1 * r1
        sums[14 * LANES + lane] += g2 * r2
        sums[15 * LANES + lane] += g3 * r3
        sums[16 * LANES + lane] += m1 * r1
        sums[17 * LANES + lane] += m2 * r2
        sums[18 * LANES + lane] += m1 * r2
        sums[19 * LANES + lane] += g1 * r3
        sums[20 * LANES + lane] += g2 * r3
        sums[21 * LANES + lane] += p1
        sums[22 * LANES + lane] += p2
        sums[23 * LANES + lane] += p3
        sums[24 * LANES + lane] += r2 * p3 - r3 * p2
        sums[25 * LANES + lane] += r3 * p1 - r1 * p3
        sums[26 * LANES + lane] += r1 * p2 - r2 * p1
        sums[27 * LANES + lane] += t1 * p1 + t2 * p2 + t3 * p3
        sums[28 * LANES + lane] += t1 * f1 + t2 * f2 + t3 * f3


@inlined
def compare_faces(
    contacts: FaceContacts,
    sums: NDArray[np.float64],
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
) -> None:
    """Add what contacts with faces exert, and may exert, to sums in lanes, see `active_contacts.excess_of`.

    Args:
        contacts: Contacts as they were cut for the solution.
        sums: Sums in lanes, from `BEYOND` on (n * `LANES`,).
        changes: Changes of the velocities of the links' centres in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds (T,) [m/s].
    """
    block = 0
    for face in range(contacts.used[1]):
        link, belt, end = (
            contacts.parts[face, LINK],
            contacts.parts[face, BELT_INDEX],
            contacts.parts[face, END],
        )
        axes = face_axes(contacts, face)
        change, turn = in_axes(axes, row(changes, link)), in_axes(axes, row(turns, link))
        while block < end:
            _compare_lanes(
                contacts.blocks[block],
                contacts.faces[face],
                sums,
                change,
                turn,
                belt_changes[belt],
                contacts.lanes[block],
            )
            block += 1


@compiled
def _compare_lanes(
    block: NDArray[np.float64],
    face: NDArray[np.float64],
    sums: NDArray[np.float64],
    change: Vector,
    turn: Vector,
    belt_change: float,
    lanes: int,
) -> None:
    """Add what the contacts of a block exert, and what they may, to sums in lanes."""
    friction, square, resistance, grip = face[FRICTION], face[SQUARE], face[RESISTANCE], face[GRIP]
    over = 1.0 / square
    for lane in range(lanes):
        weight = block[WEIGHT * LANES + lane]
        v1, v2, v3 = _velocity_change(block, lane, change, turn, belt_change)
        push, acts = block[FORCE * LANES + lane] - weight * resistance * v3, block[ACTS * LANES + lane]
        pressing, held = max(push, 0.0), weight * grip
        h1, h2 = (
            block[HOLDING * LANES + lane] - held * v1,
            block[(HOLDING + 1) * LANES + lane] - square * held * v2,
        )
        limit = friction * pressing
        exerted = block[CUT * LANES + lane] * math.sqrt(h1 * h1 + over * (h2 * h2))
        sums[BEYOND * LANES + lane] += max(exerted - limit, 0.0)
        sums[ALLOWED * LANES + lane] += limit
        sums[WRONG * LANES + lane] += (1.0 - acts) * pressing + acts * (pressing - push)
        sums[PRESSED * LANES + lane] += pressing


@compiled
def _turned(
    axes: tuple[Vector, Vector, Vector], one: Vector, two: Vector, three: Vector
) -> tuple[Vector, Vector, Vector]:
    """The matrix with these rows in a frame of axes, in the world: R M R^T, row by row."""
    a, b, c = _out_of(axes, one), _out_of(axes, two), _out_of(axes, three)
    return (
        _out_of(axes, (a[0], b[0], c[0])),
        _out_of(axes, (a[1], b[1], c[1])),
        _out_of(axes, (a[2], b[2], c[2])),
    )


@compiled
def _add_face_sums(
    loads: VehicleLoads,
    link: int,
    belt: int,
    axes: tuple[Vector, Vector, Vector],
    square: float,
    sums: NDArray[np.float64],
) -> None:
    """Add the sums over contacts with a face, which are emptied, to what acts on their link and belt."""
    force = _out_of(axes, (taken(sums, 0), taken(sums, 1), taken(sums, 2)))
    torque = _out_of(axes, (taken(sums, 3), taken(sums, 4), taken(sums, 5)))
    g, m = taken(sums, 6), taken(sums, 7)
    g1, g2, g3, m1, m2 = taken(sums, 8), taken(sums, 9), taken(sums, 10), taken(sums, 11), taken(sums, 12)
    g11, g22, g33 = taken(sums, 13), taken(sums, 14), taken(sums, 15)
    m11, m22, m12 = taken(sums, 16), taken(sums, 17), taken(sums, 18)
    g13, g23 = taken(sums, 19), taken(sums, 20)
    # D, [r] D and [r] D [r]^T of `contact_loads` with D = diag(g, r^2 g, m); columns come back as rows.
    d = _turned(axes, (g, 0.0, 0.0), (0.0, square * g, 0.0), (0.0, 0.0, m))
    b = _turned(axes, (0.0, g3, -g2), (-square * g3, 0.0, square * g1), (m2, -m1, 0.0))
    a = _turned(
        axes,
        (square * g33 + m22, -m12, -square * g13),
        (-m12, g33 + m11, -g23),
        (-square * g13, -g23, g22 + square * g11),
    )
    momentum = _out_of(axes, (taken(sums, 21), taken(sums, 22), taken(sums, 23)))
    moment = _out_of(axes, (taken(sums, 24), taken(sums, 25), taken(sums, 26)))
    out = loads.masses[link]
    for k in range(3):
        loads.forces[link, k] += force[k]
        loads.torques[link, k] += torque[k]
        loads.belt_masses[belt, k] += momentum[k]
        loads.belt_masses[belt, 3 + k] += moment[k]
        out[k] += d[k][k]
        out[15 + k] += a[k][k]
        for j in range(3):
            out[6 + 3 * k + j] += b[k][j]
    out[3] += d[0][1]
    out[4] += d[1][2]
    out[5] += d[2][0]
    out[18] += a[0][1]
    out[19] += a[1][2]
    out[20] += a[2][0]
    loads.belt_masses[belt, 6] += taken(sums, 27)
    loads.pulls[belt] += taken(sums, 28)
