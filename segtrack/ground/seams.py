"""Seams of the ground: edges and faces of solids that lie inside it, and solids that are one floor.

Where two solids meet, neither the edge between them nor the faces that they turn to each other are anything
that a vehicle can touch. What is told here, once for a ground:

* the stretches of each edge that are exposed: along the others one of its two faces runs on beyond it in
  another solid, or is higher there;
* the faces that are buried: along their edges to faces that look up more, another solid lies against them. A
  point does not leave a solid by them;
* solids whose upper faces are one, of one friction and soil, and which touch: they are one surface.

A rigid edge or face is covered by rigid ground alone, since a track sinks into soil beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from segtrack.kernels import compiled, cross, dot
from segtrack.terrain import HeightGrid

_BESIDE = 1e-3
"""Distance beyond an edge at which it is seen whether a face runs on [m]."""
_LEVEL = 1e-6
"""Difference of heights that is none [m]; a bend of less than `_LEVEL` over `_BESIDE` is none, either."""
_GAP = 1e-4
"""Width of a gap between faces that is none [m]."""
_UNDER = 5e-4
"""Depth under the edge of a face at which it is seen whether another solid lies against it [m]."""


class Convex(NamedTuple):
    """Convex solids as `pack_ground` lays them out.

    Attributes:
        planes: Normals and offsets of their faces, those that look up first (S, faces, 4).
        faces: Number of each one's faces (S,).
        bounds: Least and greatest x, y, z of each (S, 6) [m].
        edges: Both ends of their edges (E, 6) [m].
        owners: Solid of each edge (E,).
        soils: Row of each one's soil, or -1 for a rigid one (S,).
        friction: Friction of each (S,) [-].
    """

    planes: NDArray[np.float64]
    faces: NDArray[np.intp]
    bounds: NDArray[np.float64]
    edges: NDArray[np.float64]
    owners: NDArray[np.intp]
    soils: NDArray[np.intp]
    friction: NDArray[np.float64]


class Seams(NamedTuple):
    """Parts of the ground that lie inside it.

    Attributes:
        edges: Both ends of the exposed stretches of edges (e, 6) [m], in the order of the solids.
        owners: Solid of each stretch (e,).
        buried: True for faces by which a point does not leave a solid (S, faces).
        floors: Number of the surface that a solid shares with others (S,), or -1.
    """

    edges: NDArray[np.float64]
    owners: NDArray[np.intp]
    buried: NDArray[np.bool_]
    floors: NDArray[np.intp]


def find_seams(convex: Convex, grids: Sequence[HeightGrid]) -> Seams:
    """Find what lies inside a ground of convex solids and rigid grids of heights."""
    ends, count = convex.edges.reshape(-1, 2, 3), len(convex.planes)
    buried = np.zeros(convex.planes.shape[:2], dtype=bool)
    if count == 0 or count + len(grids) == 1:
        return Seams(convex.edges, convex.owners, buried, np.full(count, -1, dtype=np.intp))
    faces = _faces_of_edges(convex)
    whole, parts = _covered(convex, ends, _shifts(convex, ends, faces), grids)
    _bury(buried, convex, faces, whole[2:], [parts[parts[:, 0] == 2 + side, 1:] for side in range(2)])
    edges = _exposed(convex, ends, whole[0] | whole[1], parts[parts[:, 0] < 2, 1:])
    return Seams(*edges, buried, _floors(convex))


def _faces_of_edges(convex: Convex) -> NDArray[np.intp]:
    """The two faces of its solid that meet in each edge (E, 2)."""
    found = np.zeros((len(convex.edges), 2), dtype=np.intp)
    counts = convex.faces[convex.owners]
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        planes, ends = convex.planes[convex.owners[rows], :count], convex.edges[rows].reshape(-1, 2, 3)
        away = np.abs(np.einsum("rfi,rei->rfe", planes[..., :3], ends) - planes[..., 3:]).max(axis=2)
        found[rows] = np.argsort(away, axis=1, kind="stable")[:, :2]
    return found


def _shifts(convex: Convex, ends: NDArray[np.float64], faces: NDArray[np.intp]) -> NDArray[np.float64]:
    """Ways (4, E, 3) from each edge to where it is tested [m]: beyond its two faces, and outside of them.

    Of faces a and b with the normals n_a and n_b and the directions t_a and t_b away from the edge: a runs on
    in what is at -t_a just under it, and lies against what is at t_a just outside it.
    """
    along = ends[:, 1] - ends[:, 0]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    normals = [convex.planes[convex.owners, faces[:, side], :3] for side in range(2)]
    beyond, outside = [], []
    for normal, other in (normals, normals[::-1]):
        into = np.cross(normal, along)
        into *= -np.sign(np.sum(into * other, axis=1))[:, None]
        beyond.append(-_BESIDE * into - _LEVEL * normal)
        outside.append(_UNDER * into + _GAP * normal)
    return np.array([*beyond, *outside])


def _covered(
    convex: Convex,
    ends: NDArray[np.float64],
    shifts: NDArray[np.float64],
    grids: Sequence[HeightGrid],
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Find what of each edge is in other solids where it is shifted in each way.

    Args:
        convex: The solids.
        ends: Ends of the edges (E, 2, 3) [m].
        shifts: Ways in which they are shifted (4, E, 3) [m].
        grids: Grids of heights.

    Returns:
        True for edges that are there all along (4, E), and the way, the edge and the fractions between which
        it is there for parts of others, in any order (n, 4).
    """
    widths = np.array([_LEVEL, _LEVEL, _GAP / 2, _GAP / 2])
    starts = np.searchsorted(convex.owners, np.arange(len(convex.planes) + 1))
    whole = np.zeros((len(shifts), len(ends)), dtype=bool)
    parts = np.zeros((4 * len(ends), 4))
    given = *convex[:3], convex.soils, ends, starts, shifts, widths, whole
    while (count := _cover_edges(*given, parts)) > len(parts):
        parts = np.zeros((count, 4))
    under = [
        (test, edge, *stretch)
        for grid in grids
        for edge in range(len(ends))
        for test, width in enumerate(widths.tolist())
        for stretch in _under(grid, ends[edge] + shifts[test, edge], width)
    ]
    return whole, np.concatenate([parts[:count], np.array(under).reshape(-1, 4)])


@compiled
def _cover_edges(
    planes: NDArray[np.float64],
    faces: NDArray[np.intp],
    bounds: NDArray[np.float64],
    soils: NDArray[np.intp],
    ends: NDArray[np.float64],
    starts: NDArray[np.intp],
    shifts: NDArray[np.float64],
    widths: NDArray[np.float64],
    whole: NDArray[np.bool_],
    parts: NDArray[np.float64],
) -> int:
    """Find which edges are in other solids where they are shifted to; rigid ones, in rigid ones.

    The first way has those, too, on which an edge of an earlier solid lies: two that meet have one there.

    Args:
        planes: As in `Convex`.
        faces: Likewise.
        bounds: Likewise.
        soils: Likewise.
        ends: Ends of the edges (E, 2, 3) [m].
        starts: First edge of each solid, and the number of all (S + 1,).
        shifts: Ways in which they are shifted (k, E, 3) [m].
        widths: Distance from a solid that is none, for each (k,) [m].
        whole: Set to true for edges that are in another solid all along (k, E).
        parts: Filled with the way, the edge and the fractions between which it is, for others (n, 4).

    Returns:
        Number of such parts, which may be more than there is room for.
    """
    count = 0
    for solid in range(len(faces)):
        for other in range(len(faces)):
            if other == solid or (soils[solid] < 0 and soils[other] >= 0):
                continue
            if not _is_near(bounds[solid], bounds[other, :3], bounds[other, 3:]):
                continue
            for edge in range(starts[solid], starts[solid + 1]):
                if not _is_near(bounds[other], ends[edge, 0], ends[edge, 1]):
                    continue
                length = 0.0
                for k in range(3):
                    length += (ends[edge, 1, k] - ends[edge, 0, k]) ** 2
                length = math.sqrt(length)
                if other < solid:
                    for common in range(starts[other], starts[other + 1]):
                        first, last = _part_on_line(ends[common], ends[edge], length)
                        whole[0, edge] |= first == 0.0 and last == 1.0
                        count = _add_part(parts, count, 0, edge, first, last, length)
                for test in range(len(shifts)):
                    if whole[test, edge]:
                        continue
                    shift, width = shifts[test, edge], widths[test]
                    first, last = _part_inside(planes[other], faces[other], ends[edge], shift, width)
                    if first == 0.0 and last == 1.0:
                        whole[test, edge] = True
                    else:
                        count = _add_part(parts, count, test, edge, first, last, length)
    return count


@compiled
def _add_part(
    parts: NDArray[np.float64], count: int, test: int, edge: int, first: float, last: float, length: float
) -> int:
    """Add a part of an edge to `count` ones, unless it is as short as a gap; how many there are then."""
    if (last - first) * length <= 2 * _GAP:
        return count
    if count < len(parts):
        parts[count, 0], parts[count, 1], parts[count, 2], parts[count, 3] = test, edge, first, last
    return count + 1


@compiled
def _part_on_line(
    other: NDArray[np.float64], line: NDArray[np.float64], length: float
) -> tuple[float, float]:
    """Fractions between which another line (2, 3) lies on one (2, 3) of a length [m]; 1 and 0 for none."""
    along = (line[1, 0] - line[0, 0], line[1, 1] - line[0, 1], line[1, 2] - line[0, 2])
    first, last = 1.0, 0.0
    for end in range(2):
        arm = (other[end, 0] - line[0, 0], other[end, 1] - line[0, 1], other[end, 2] - line[0, 2])
        off = cross(arm, along)
        if math.sqrt(dot(off, off)) > _LEVEL * length:
            return 1.0, 0.0
        at = min(1.0, max(0.0, dot(arm, along) / (length * length)))
        first, last = min(first, at), max(last, at)
    if first * length <= _LEVEL and (1 - last) * length <= _LEVEL:
        return 0.0, 1.0
    return first, last


@compiled
def _is_near(bounds: NDArray[np.float64], one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Return whether bounds (6,) meet the box of two corners (3,), or nearly."""
    for k in range(3):
        low, high = min(one[k], other[k]), max(one[k], other[k])
        if low > bounds[3 + k] + 2 * _BESIDE or high < bounds[k] - 2 * _BESIDE:
            return False
    return True


@compiled
def _part_inside(
    planes: NDArray[np.float64],
    faces: int,
    line: NDArray[np.float64],
    shift: NDArray[np.float64],
    width: float,
) -> tuple[float, float]:
    """Fractions between which a shifted line (2, 3) is inside planes, or outside by `width` [m] at most."""
    first, last = 0.0, 1.0
    for f in range(faces):
        at, to = -planes[f, 3] - width, -planes[f, 3] - width
        for k in range(3):
            at += planes[f, k] * (line[0, k] + shift[k])
            to += planes[f, k] * (line[1, k] + shift[k])
        if at > 0.0 and to > 0.0:
            return 1.0, 0.0
        if at > 0.0:
            first = max(first, at / (at - to))
        elif to > 0.0:
            last = min(last, at / (at - to))
    return first, last


def _under(grid: HeightGrid, line: NDArray[np.float64], width: float) -> Iterator[tuple[float, float]]:
    """Yield fractions of a line (2, 3) between which it is under a grid, or `width` [m] above it at most."""
    shape, (heights, along) = np.array(grid.heights.shape), grid.runs
    first = (line[:, :2] - grid.center_in_world) / (along, grid.spacing) + (shape - 1) / 2
    reach = width / grid.spacing
    way = first[1] - first[0]
    # Along x, along y and along a cell's diagonal, between whose lines the surface is flat.
    at, by = np.append(first[0], first[0].sum()), np.append(way, way.sum())
    begin, end = 0.0, 1.0
    for k in range(2):
        span = np.array([-reach, shape[k] - 1 + reach]) - at[k]
        if by[k] == 0.0:
            if not span[0] <= 0.0 <= span[1]:
                return
            continue
        enter, leave = np.sort(span / by[k])
        begin, end = max(begin, enter), min(end, leave)
    if not begin < end:
        return
    breaks = [np.array([begin, end])]
    for k in range(3):
        if by[k] != 0.0:
            low, high = np.sort(at[k] + by[k] * np.array([begin, end]))
            breaks.append((np.arange(np.ceil(low), np.floor(high) + 1) - at[k]) / by[k])
    fractions = np.unique(np.clip(np.concatenate(breaks), begin, end))
    places = np.clip(at[:2] + fractions[:, None] * by[:2], 0, shape - 1)
    i, j = np.minimum(places.astype(int), shape - 2).T
    u, v = places[:, 0] - i, places[:, 1] - j
    near = u + v <= 1
    corner = np.where(near, heights[i, j], heights[i + 1, j + 1])
    by_x = np.where(near, heights[i + 1, j], heights[i, j + 1]) - corner
    by_y = np.where(near, heights[i, j + 1], heights[i + 1, j]) - corner
    height = corner + np.where(near, u, 1 - u) * by_x + np.where(near, v, 1 - v) * by_y
    over = height + width - line[0, 2] - fractions * (line[1, 2] - line[0, 2])
    for a, b, one, other in zip(fractions[:-1], fractions[1:], over[:-1], over[1:], strict=True):
        if one >= 0.0 or other >= 0.0:
            turn = a + (b - a) * one / (one - other) if one != other else a
            yield (a if one >= 0.0 else turn), (b if other >= 0.0 else turn)


def _joined(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges and fractions (n, 3) between which they are covered, in order, and those that meet as one."""
    ordered = parts[np.lexsort(parts.T[::-1])]
    return ordered[: _join(ordered)]


@compiled
def _join(parts: NDArray[np.float64]) -> int:
    """Join rows (n, 3) that are in order and meet; their number, the first ones."""
    count = 0
    for i in range(len(parts)):
        edge, first, last = parts[i, 0], parts[i, 1], parts[i, 2]
        if count > 0 and parts[count - 1, 0] == edge and first <= parts[count - 1, 2] + 1e-9:
            parts[count - 1, 2] = max(parts[count - 1, 2], last)
        else:
            parts[count, 0], parts[count, 1], parts[count, 2] = edge, first, last
            count += 1
    return count


def _bury(
    buried: NDArray[np.bool_],
    convex: Convex,
    faces: NDArray[np.intp],
    whole: NDArray[np.bool_],
    parts: Sequence[NDArray[np.float64]],
) -> None:
    """Mark faces that lie against another solid all along their edges to faces that look up more.

    Where no face looks up more, all edges count; how far down the other solid reaches does not. A solid that
    would be left by no face at all keeps them all. A face that looks up is kept, whatever lies on it: what
    has got into both solids leaves both upwards, and not the lower one by its far side.
    """
    lengths = np.linalg.norm(convex.edges[:, 3:] - convex.edges[:, :3], axis=1)
    upward = convex.planes[convex.owners[:, None], faces, 2]
    # Of edges to faces that look up more, and of all edges: is there one, and one that is bare?
    met = np.zeros((2, *buried.shape), dtype=bool)
    bare = np.zeros((2, *buried.shape), dtype=bool)
    for side in range(2):
        edges, first, last = _joined(parts[side]).T
        rows, open_ = edges.astype(np.intp), ~whole[side]
        # Bare by no more than a gap at either end.
        open_[rows[np.maximum(first, 1 - last) * lengths[rows] <= _GAP]] = False
        higher = upward[:, 1 - side] > upward[:, side] + _LEVEL
        for k, counts in enumerate((higher, np.ones_like(higher))):
            met[k][convex.owners[counts], faces[counts, side]] = True
            bare[k][convex.owners[counts & open_], faces[counts & open_, side]] = True
    buried |= np.where(met[0], ~bare[0], met[1] & ~bare[1])
    buried[convex.planes[:, :, 2] > math.sqrt(0.5)] = False
    buried[buried.sum(axis=1) >= convex.faces] = False


def _exposed(
    convex: Convex, ends: NDArray[np.float64], whole: NDArray[np.bool_], parts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Find the stretches of edges that are not covered.

    Args:
        convex: The solids.
        ends: Ends of the edges (E, 2, 3) [m].
        whole: True for edges that are covered all along (E,); soil's count as bare.
        parts: Edges and fractions between which others are covered (n, 3).

    Returns:
        Ends (e, 6) of the stretches [m], in the order of the edges, and their owners (e,).
    """
    kept = ~whole | (convex.soils[convex.owners] >= 0)
    edges, first, last = _joined(parts[kept[parts[:, 0].astype(np.intp)]]).T
    rows = edges.astype(np.intp)
    # What is left before each covered stretch, and behind the last one of an edge.
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    final = np.append(begins[1:], len(rows))[: len(begins)] - 1
    before = np.append(0.0, last[:-1])[: len(last)]
    before[begins] = 0.0
    left = np.concatenate(
        [np.array([rows, before, first]), np.array([rows[final], last[final], np.ones(len(final))])], axis=1
    )
    along = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    kept[rows] = False
    bare = np.flatnonzero(kept)
    left = left[:, (left[2] - left[1]) * lengths[left[0].astype(np.intp)] > _BESIDE]
    left = np.concatenate([left, np.array([bare, np.zeros(len(bare)), np.ones(len(bare))])], axis=1)
    left = left[:, np.lexsort(left[1::-1])]
    edge, fractions = left[0].astype(np.intp), left[1:].T[..., None]
    found = ends[edge, None, 0] + fractions * along[edge, None]
    # Ends of edges that are bare all along are theirs to the bit.
    found = np.where((left[2] - left[1] == 1.0)[:, None, None], ends[edge], found)
    return found.reshape(-1, 6), convex.owners[edge]


def _floors(convex: Convex) -> NDArray[np.intp]:
    """Number of the surface that each solid shares with others (S,), or -1."""
    floors = np.full(len(convex.planes), -1, dtype=np.intp)
    keys = np.column_stack([convex.planes[:, 0] / (10 * _LEVEL), convex.soils, convex.friction])
    keys[:, :4] = np.floor(keys[:, :4] + 0.37)
    _, of_each, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    looks_up = convex.planes[:, 0, 2] > 0.0
    for level in np.flatnonzero(sizes > 1):
        solids = np.flatnonzero((of_each == level) & looks_up)
        low, high = convex.bounds[solids, :3] - _BESIDE, convex.bounds[solids, 3:] + _BESIDE
        meets = (low[:, None] <= high).all(axis=2) & (high[:, None] >= low).all(axis=2)
        labels = connected_components(meets, directed=False)[1]
        shared = np.bincount(labels)[labels] > 1
        floors[solids[shared]] = labels[shared] + floors.max() + 1
    return floors
