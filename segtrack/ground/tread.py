"""Tread of a shoe: contact points, and convex pieces for the edges of the ground that enter.

Lengths are in the link frame (x along the belt, y along the pins, z outwards). Omar 2014 takes a
shoe for a flat plate with four contact_points in the middles of four areas; here the contact_points are the
plate's corners, so that a shoe also stands on a step with one end, and a grouser has four more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError, Phrase, finite
from segtrack.ground.contact_laws import ContactParameters, check


@dataclass(frozen=True)
class Grouser:
    """A bar across a plate's outer side; its cross-section is a trapezoid.

    Attributes:
        height: Over the plate [m].
        base: Its length along the belt at the plate [m].
        top: Length at its tip, at most that of the base [m].
        x: Its middle, from the plate's [m].

    Raises:
        InvalidValueError: A length is not positive, or it overhangs.
    """

    height: float
    base: float
    top: float
    x: float = 0.0

    def __post_init__(self) -> None:
        """Check the lengths."""
        for field in fields(self):
            value = finite(f"{field.name} of a grouser", getattr(self, field.name))
            object.__setattr__(self, field.name, value)
            check(self, field.name, field.name == "x" or value > 0, "greater than 0")
        check(self, "top", self.top <= self.base, f"at most its base of {self.base}")


@dataclass(frozen=True)
class Tread:
    """The outer side of one kind of shoe.

    Attributes:
        length: Length of the plate along the belt [m].
        width: Width of plate and grouser [m].
        outer: The plate's outer face, z [m].
        thickness: Thickness of the plate, inwards from there [m].
        grouser: Grouser on the plate; None for none.
        x: The plate's middle [m].

    Raises:
        InvalidValueError: A length is not positive, or the grouser is longer than the plate.
    """

    length: float
    width: float
    outer: float
    thickness: float
    grouser: Grouser | None = None
    x: float = 0.0

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("length", "width", "outer", "thickness", "x"):
            value = finite(f"{name} of a tread", getattr(self, name))
            object.__setattr__(self, name, value)
            check(self, name, name in ("outer", "x") or value > 0, "greater than 0")
        if self.grouser is not None:
            reach = 2 * abs(self.grouser.x) + self.grouser.base
            check(self, "grouser", reach <= self.length * (1 + 1e-9), "within the plate's length")

    @property
    def contact_points(self) -> NDArray[np.float64]:
        """The plate's four corners, then the grouser's tip's (k, 3) [m]."""
        faces = [(self.x, self.length, self.outer)]
        if self.grouser is not None:
            faces.append((self.x + self.grouser.x, self.grouser.top, self.outer + self.grouser.height))
        return np.array(
            [
                (x + along * length / 2, across * self.width / 2, z)
                for x, length, z in faces
                for along in (-1, 1)
                for across in (-1, 1)
            ]
        )

    @property
    def areas(self) -> NDArray[np.float64]:
        """Area of each contact point (k,) [m^2]: the grouser's tip, and the plate beside its base."""
        if self.grouser is None:
            return np.full(4, self.length * self.width / 4)
        beside = (self.length - self.grouser.base) * self.width / 4
        return np.repeat([beside, self.grouser.top * self.width / 4], 4)

    @property
    def footings(self) -> tuple[Footing, ...]:
        """The face to which each contact point belongs (k,)."""
        plate = Footing("plate", *sorted((self.length, self.width)))
        if self.grouser is None:
            return (plate,) * 4
        return (plate,) * 4 + (Footing("grouser", *sorted((self.grouser.top, self.width))),) * 4

    @property
    def sides(self) -> NDArray[np.float64]:
        """The smaller side of the face to which each contact point belongs (k,) [m]."""
        return np.array([footing.width for footing in self.footings])

    @property
    def pieces(self) -> NDArray[np.float64]:
        """Faces of plate and grouser (pieces, 6, 5), see `point_contact.FACE`.

        A plate's outer face, a grouser's tip and flanks and the sides of both are exposed. The
        others belong to a neighbouring shoe, to the wheels or to the plate.
        """
        inner, half = self.outer - self.thickness, self.length / 2
        sides = [(0, 1, 0, self.width / 2, 1), (0, -1, 0, self.width / 2, 1)]
        plate = [
            (0, 0, 1, self.outer, 1),
            (0, 0, -1, -inner, 0),
            (1, 0, 0, self.x + half, 0),
            (-1, 0, 0, half - self.x, 0),
            *sides,
        ]
        if self.grouser is None:
            return np.array([plate], dtype=float)
        bar, x = self.grouser, self.x + self.grouser.x
        slant = (bar.base - bar.top) / 2
        across, up = np.array([bar.height, slant]) / np.hypot(bar.height, slant)
        reach = across * bar.base / 2 + up * self.outer
        grouser = [
            (0, 0, 1, self.outer + bar.height, 1),
            (0, 0, -1, -self.outer, 0),
            (across, 0, up, reach + across * x, 1),
            (-across, 0, up, reach - across * x, 1),
            *sides,
        ]
        return np.array([plate, grouser], dtype=float)


class Footing(NamedTuple):
    """A face that presses into soil.

    Attributes:
        face: `grouser`, whose tip it is, or `plate`; in readings also `edge`, of the ground, and empty.
        width: Its smaller side, the b of Bekker's pressure-sinkage formula [m].
        length: Its larger side [m].
    """

    face: str
    width: float
    length: float


class Treads(NamedTuple):
    """The treads of a chain's n shoes, of which there are some kinds.

    Attributes:
        kinds: Kind of each link (n,).
        contact_points: Contact points of each kind (kinds, k, 3) [m].
        areas: Areas of the contact_points (kinds, k) [m^2].
        sides: Smaller side of the contact_points' faces (kinds, k) [m].
        contact_point_counts: Number of each kind's contact points, of k (kinds,).
        pieces: Pieces as in `Tread.pieces` (kinds, pieces, 6, 5).
        piece_counts: Number of each kind's pieces (kinds,).
        boxes: Centre and half extents of each kind (kinds, 6) [m].
    """

    kinds: NDArray[np.intp]
    contact_points: NDArray[np.float64]
    areas: NDArray[np.float64]
    sides: NDArray[np.float64]
    contact_point_counts: NDArray[np.intp]
    pieces: NDArray[np.float64]
    piece_counts: NDArray[np.intp]
    boxes: NDArray[np.float64]


def pack_treads(treads: Sequence[Tread], kinds: ArrayLike) -> Treads:
    """Lay out treads for kernels.

    Args:
        treads: The kinds there are.
        kinds: Index of each link's kind (n,).

    Raises:
        InvalidValueError: A link has a kind that there is not.
    """
    chosen = np.array(kinds, dtype=np.intp)
    if len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= len(treads):
        expected = f"one for each link, from 0 to {len(treads) - 1}"
        raise InvalidValueError("kinds of treads", expected, Phrase(str(chosen.tolist())))
    count = max(len(tread.contact_points) for tread in treads)
    pieces = max(len(tread.pieces) for tread in treads)
    return Treads(
        chosen,
        np.stack([_padded(tread.contact_points, count) for tread in treads]),
        np.stack([_padded(tread.areas, count) for tread in treads]),
        np.stack([_padded(tread.sides, count) for tread in treads]),
        np.array([len(tread.contact_points) for tread in treads], dtype=np.intp),
        np.stack([_padded(tread.pieces, pieces) for tread in treads]),
        np.array([len(tread.pieces) for tread in treads], dtype=np.intp),
        np.stack([_box(tread) for tread in treads]),
    )


def ground_bounds(tread: Tread, law: ContactParameters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds on the ground's effect on one link, over its displacement and rotation in its frame.

    All its contact_points touch, and besides an edge lies across its middle. Soil is never stiffer
    than rigid ground, whose sinkage and shear it shares, nor is its damping higher; the slip
    damping of equation 55 comes on top.

    Returns:
        Stiffness (6, 6) [N/m, N, N m/rad] and damping (6, 6) [N s/m, N s, N m s/rad].
    """
    reach = np.zeros((6, 6))
    contact_points = tread.contact_points
    for (x, y, z), fraction in [
        *((point, 1.0) for point in contact_points),
        *((corner, 0.5) for corner in contact_points[-4:]),
    ]:
        motion = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])
        reach += fraction * motion.T @ motion
    stiffness, damping = (
        max(law.stiffness, law.tangential_stiffness),
        max(law.damping, law.tangential_damping),
    )
    return stiffness * reach, damping * reach


def _padded(rows: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    return np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]))])


def _box(tread: Tread) -> NDArray[np.float64]:
    corners = np.concatenate([tread.contact_points, tread.contact_points[:4] - (0, 0, tread.thickness)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    return np.concatenate([(low + high) / 2, (high - low) / 2])
