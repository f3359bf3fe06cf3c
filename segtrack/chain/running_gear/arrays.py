"""A track's wheels and sprocket as kernels read them, their state, and what acts on them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.model import Vector


class Wheels(NamedTuple):
    """The numbers of a track's W wheels, and of the rails that roll on them, as kernels read them.

    Attributes:
        carriers: Of each wheel (W,).
        positions: Of the middles in (x, z) of the track frame, without slide (W, 2) [m].
        directions: Along which tensioners slide, in (x, z) of the track frame (W, 2).
        slide_masses: Of wheels on tensioners; 0 for others (W,) [kg].
        preloads: Of the tensioners (W,) [N].
        slide_stiffness: The same (W,) [N/m].
        slide_damping: The same (W,) [N s/m].
        inertias: About the axles (W,) [kg m^2].
        rolls: Whether rails roll on the wheel (W,).
        radii: The largest of each wheel (W,) [m].
        reaches: Distance from an axle beyond which no parallel link's centre of mass is in contact (W,) [m].
        aside: Greatest lateral offset of what touches wheels, in the link frame [m]; links that are
            tilted against an axle reach farther by its share across the axle.
        margin: By which proximity lists reach farther [m].
        pieces: Of the profiles (W, P, 5): axial offsets of begin and end [m], radius [m] and slope at
            the begin, and the radius's second derivative [1/m]; behind a profile's last they are empty.
        rail: Where a shoe's rail begins, in the middle between the stations, in the link frame (3,) [m].
        span: From there to its end (3,) [m].
        stations: Lateral positions of the rails in the link frame (S,) [m].
        stiffness: Of a contact [N/m^1.5].
        damping: The same [N s/m].
        friction: Its coefficient.
        shear_stiffness: Of a contact that sticks [N/m].
    """

    carriers: NDArray[np.intp]
    positions: NDArray[np.float64]
    directions: NDArray[np.float64]
    slide_masses: NDArray[np.float64]
    preloads: NDArray[np.float64]
    slide_stiffness: NDArray[np.float64]
    slide_damping: NDArray[np.float64]
    inertias: NDArray[np.float64]
    rolls: NDArray[np.bool_]
    radii: NDArray[np.float64]
    reaches: NDArray[np.float64]
    aside: float
    margin: float
    pieces: NDArray[np.float64]
    rail: Vector
    span: Vector
    stations: NDArray[np.float64]
    stiffness: float
    damping: float
    friction: float
    shear_stiffness: float


class WheelMotion(NamedTuple):
    """The state of W wheels on a chain of n links; kernels move it in place.

    Attributes:
        angles: About the axles, relative to the carrier (W,) [rad].
        speeds: Angular velocities about the axles, relative to the world (W,) [rad/s].
        slides: Of the wheels along their tensioners' directions (W,) [m].
        slide_speeds: The same, relative to the carrier (W,) [m/s].
        shear: Elastic displacement of a rail on a wheel, around the axle and across (W, n, S, 2) [m].
    """

    angles: NDArray[np.float64]
    speeds: NDArray[np.float64]
    slides: NDArray[np.float64]
    slide_speeds: NDArray[np.float64]
    shear: NDArray[np.float64]


class WheelLoads(NamedTuple):
    """What acts on W wheels at an instant, apart from the drive.

    Attributes:
        torques: About the axles (W,) [N m].
        slides: Along the tensioners' directions (W,) [N].
    """

    torques: NDArray[np.float64]
    slides: NDArray[np.float64]


class Teeth(NamedTuple):
    """A sprocket's numbers as its kernel reads them; see `Sprocket`. Without rows there is no sprocket."""

    wheel: int
    turn: float
    pitch_radius: float
    tip_radius: float
    points: NDArray[np.float64]
    tangents: NDArray[np.float64]
    lengths: NDArray[np.float64]
    rows: NDArray[np.float64]
    bushing_radius: float
    stiffness: float
    damping: float
    friction: float
    slip_speed: float
    side_clearance: float
    side_stiffness: float


class Undergear(NamedTuple):
    """All that a chain runs around, as kernels read it, and how it moves.

    Attributes:
        wheels: Their numbers.
        teeth: Of the driven one.
        motion: Their state.
        loads: What acts on them.
        near: Links near each wheel (W, n).
        counts: How many those are (W,).
    """

    wheels: Wheels
    teeth: Teeth
    motion: WheelMotion
    loads: WheelLoads
    near: NDArray[np.intp]
    counts: NDArray[np.intp]


def no_teeth(wheel: int) -> Teeth:
    """What kernels read where there is no sprocket."""
    empty = np.zeros((6, 2)), np.zeros((5, 2)), np.zeros(5), np.zeros(0)
    return Teeth(wheel, 1.0, 1.0, 0.0, *empty, 1.0, 0.0, 0.0, 0.0, 1.0, math.inf, 0.0)
