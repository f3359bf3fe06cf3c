"""A track's running gear as kernels read it: wheels and teeth, their state, and the loads on them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.contact_rows import ContactRows, allocate_contact_rows
from segtrack.chain.shoes import Vector
from segtrack.errors import InvalidValueError, finite


class WheelContactParameters(NamedTuple):
    """Law of a contact between a rail and a wheel.

    Attributes:
        stiffness: Normal force over depth to the power of 1.5 [N/m^1.5].
        damping: Along the normal, and along the surface as long as friction can hold it [N s/m].
        friction: Coulomb coefficient [-].
        tangential_stiffness: Along the surface, as long as the contact sticks [N/m].
    """

    stiffness: float
    damping: float
    friction: float
    tangential_stiffness: float

    def linearized_stiffness(self, force: float) -> float:
        """Slope of the normal law under a force [N]: 1.5 K d^0.5 with d = (force / K)^(2/3) [N/m]."""
        return 1.5 * self.stiffness ** (2 / 3) * force ** (1 / 3)


def wheel_contact_parameters(
    stiffness: float, damping: float, friction: float, tangential_stiffness: float
) -> WheelContactParameters:
    """`WheelContactParameters` of numbers that make sense.

    Raises:
        InvalidValueError: One is negative, or a stiffness is zero.
    """
    given = WheelContactParameters(stiffness, damping, friction, tangential_stiffness)
    for name, value in zip(given._fields, given, strict=True):
        number = finite(f"{name} of a wheel contact", value)
        if number < 0 or (number == 0 and name.endswith("stiffness")):
            expected = "greater than 0" if name.endswith("stiffness") else "at least 0"
            raise InvalidValueError(f"{name} of a wheel contact", expected, value)
    return WheelContactParameters(*map(float, given))


class Wheels(NamedTuple):
    """Constants of a track's W wheels, and of the rails that roll on them.

    Attributes:
        parents: Index of each wheel's parent link among the track's (W,).
        positions: Wheel centres in (x, z) of the track frame, tensioners not moved (W, 2) [m].
        slide_directions: Tensioners' directions in (x, z) of the track frame, not moved (W, 2).
        slide_curvatures: Curvatures of their ways, see `running_gear.Tensioner` (W,) [1/m].
        slide_masses: Masses that slide on tensioners; 0 for wheels without one (W,) [kg].
        preloads: Tensioners' forces at the state's `slide_origins` (W,) [N].
        slide_stiffness: Tensioners' springs (W,) [N/m].
        slide_damping: Tensioners' dampers (W,) [N s/m].
        inertias: About the axles, with the drive's rotor as the driven wheel feels it (W,) [kg m^2].
        reflected_inertia: Moment of inertia of the rotor as the driven wheel feels it, J [kg m^2].
        rotor_inertia: Angular momentum of the rotor about the axle, per speed of the driven wheel on its
            link: J / n with n turns a turn of the wheel, 0 across the axle [kg m^2].
        rolls: True if rails roll on the wheel (W,).
        radii: Largest radius of each wheel (W,) [m].
        reaches: Distance from an axle beyond which no parallel shoe's centre of mass is in contact (W,) [m].
        max_lateral_offset: Largest lateral offset of what touches wheels, in the shoe frame [m]; shoes
            that are tilted against an axle reach farther by its component across the axle.
        margin: Distance by which the search for candidates reaches farther [m].
        profile_pieces: Profiles (W, P, 5): axial offsets of begin and end [m], radius [m] and slope at
            the begin, and the radius's second derivative [1/m]; empty behind a profile's last piece.
        rail_start: Rear end of a shoe's rail, in the middle between the stations, in the shoe frame (3,) [m].
        rail_span: From there to its front end (3,) [m].
        stations: Lateral positions of the rails in the shoe frame (S,) [m].
        contacts: Law of a rail on each wheel, in the columns of `WheelContactParameters` (W, 4).
    """

    parents: NDArray[np.intp]
    positions: NDArray[np.float64]
    slide_directions: NDArray[np.float64]
    slide_curvatures: NDArray[np.float64]
    slide_masses: NDArray[np.float64]
    preloads: NDArray[np.float64]
    slide_stiffness: NDArray[np.float64]
    slide_damping: NDArray[np.float64]
    inertias: NDArray[np.float64]
    reflected_inertia: float
    rotor_inertia: float
    rolls: NDArray[np.bool_]
    radii: NDArray[np.float64]
    reaches: NDArray[np.float64]
    max_lateral_offset: float
    margin: float
    profile_pieces: NDArray[np.float64]
    rail_start: Vector
    rail_span: Vector
    stations: NDArray[np.float64]
    contacts: NDArray[np.float64]


SURFACES = 5
"""Surfaces of a gap between two teeth."""


class Teeth(NamedTuple):
    """Constants of the driven wheel's teeth, in the seat coordinates of `Sprocket`.

    Attributes:
        wheel: Index of the driven wheel, with or without teeth.
        angular_pitch: Angle from a gap to the next [rad].
        pitch_radius: Circle on which seated bushings' centres lie [m].
        tip_radius: Largest radius of the teeth [m].
        points: Corners of a gap (6, 2) [m].
        tangents: Directions of its surfaces (5, 2).
        lengths: Lengths of its surfaces (5,) [m].
        rows: Lateral positions of the rows of teeth (R,) [m]; none without a sprocket.
        bushing_radius: Cylinder that teeth touch [m].
        stiffness: Stiffness of a bushing against a surface [N/m].
        damping: Along a surface's normal, and against the sides of teeth [N s/m].
        friction: Coulomb coefficient [-].
        slip_speed: Slip velocity at which friction is fully developed [m/s].
        side_clearance: Lateral play of a bushing's middle [m].
        side_stiffness: Against the sides of teeth [N/m].
    """

    wheel: int
    angular_pitch: float
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


class RunningGearState(NamedTuple):
    """State of W wheels on a chain of n shoes; kernels move it in place.

    Attributes:
        angles: Joint angles about the axles, relative to the parent links (W,) [rad].
        speeds: Angular velocities about the axles, in the world (W,) [rad/s].
        slide_positions: Along the tensioners' directions, relative to the parent links (W,) [m].
        slide_speeds: Along the tensioners' directions, relative to the parent links (W,) [m/s].
        slide_origins: Slide positions at which the tensioners exert their preloads (W,) [m].
        slide_momenta: Momenta of what slides, beyond those at its places on the parent links, of which the
            links have felt the reaction, in the world (W, 3) [kg m/s].
        place_changes: Changes of the velocities of those places in the last sub-step, in the world (W, 3)
            [m/s].
        axle_rates: Angular velocity of the driven wheel's parent link about its axle, at the last sub-step
            (1,) [rad/s].
        shear_displacements: Elastic, of a rail on a wheel, around the axle and across (W, n, S, 2) [m].
    """

    angles: NDArray[np.float64]
    speeds: NDArray[np.float64]
    slide_positions: NDArray[np.float64]
    slide_speeds: NDArray[np.float64]
    slide_origins: NDArray[np.float64]
    slide_momenta: NDArray[np.float64]
    place_changes: NDArray[np.float64]
    axle_rates: NDArray[np.float64]
    shear_displacements: NDArray[np.float64]

    @property
    def sliding(self) -> tuple[NDArray[np.float64], ...]:
        """Motion of what slides on tensioners, all zero at rest."""
        return self.slide_speeds, self.slide_momenta, self.place_changes


class WheelLoads(NamedTuple):
    """Loads on W wheels at an instant, the drive's torque not included.

    Attributes:
        torques: About the axles (W,) [N m].
        slide_forces: Along the tensioners' directions (W,) [N].
        place_velocities: Velocities of the places of what slides on its parent links before these changed
            theirs, in the world (W, 3) [m/s].
    """

    torques: NDArray[np.float64]
    slide_forces: NDArray[np.float64]
    place_velocities: NDArray[np.float64]


class WheelCandidates(NamedTuple):
    """Shoes that each of W wheels may touch before they are looked for again.

    Attributes:
        shoes: Indices of shoes, the first `counts` of each row (W, n).
        counts: Number of candidates of each wheel (W,).
    """

    shoes: NDArray[np.intp]
    counts: NDArray[np.intp]


class RunningGearArrays(NamedTuple):
    """Everything of a track's running gear that kernels read and write.

    Attributes:
        wheels: Constants of the wheels.
        teeth: Constants of the driven wheel's teeth.
        state: State of the wheels.
        loads: Work array, loads on the wheels.
        candidates: Work array, shoes near the wheels.
        rails: Work array, contacts of rails with each wheel.
        bushings: Work array, contacts of bushings with the teeth of the driven wheel, in the columns of
            `sprocket_contact`.
    """

    wheels: Wheels
    teeth: Teeth
    state: RunningGearState
    loads: WheelLoads
    candidates: WheelCandidates
    rails: ContactRows
    bushings: ContactRows


def no_teeth(wheel: int) -> Teeth:
    """`Teeth` of a driven wheel that has none."""
    return Teeth(
        wheel=wheel,
        angular_pitch=1.0,
        pitch_radius=1.0,
        tip_radius=0.0,
        points=np.zeros((6, 2)),
        tangents=np.zeros((5, 2)),
        lengths=np.zeros(5),
        rows=np.zeros(0),
        bushing_radius=1.0,
        stiffness=0.0,
        damping=0.0,
        friction=0.0,
        slip_speed=1.0,
        side_clearance=math.inf,
        side_stiffness=0.0,
    )


def slide_offset(
    directions: NDArray[np.float64], curvatures: NDArray[np.float64], slides: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Way (..., 2) of what slides on tensioners, see `running_gear.Tensioner` [m].

    Args:
        directions: Their directions in (x, z), not moved (..., 2).
        curvatures: Curvatures of their ways (...,) [1/m].
        slides: Lengths of way (...,) [m].
    """
    half = curvatures * slides / 2
    chord, across = (
        slides * np.sinc(half / np.pi),
        np.stack([-directions[..., 1], directions[..., 0]], axis=-1),
    )
    turned = np.cos(half)[..., None] * directions + np.sin(half)[..., None] * across
    return np.asarray(chord[..., None] * turned)


def allocate_running_gear(wheels: Wheels, teeth: Teeth, count: int) -> RunningGearArrays:
    """Arrays for wheels at rest on a chain of `count` shoes."""
    size = len(wheels.inertias)
    angles, speeds, slide_positions, slide_speeds, slide_origins, torques, slide_forces = np.zeros((7, size))
    slide_momenta, place_changes, place_velocities = np.zeros((3, size, 3))
    state = RunningGearState(
        angles=angles,
        speeds=speeds,
        slide_positions=slide_positions,
        slide_speeds=slide_speeds,
        slide_origins=slide_origins,
        slide_momenta=slide_momenta,
        place_changes=place_changes,
        axle_rates=np.zeros(1),
        shear_displacements=np.zeros((size, count, len(wheels.stations), 2)),
    )
    return RunningGearArrays(
        wheels,
        teeth,
        state,
        WheelLoads(torques, slide_forces, place_velocities),
        WheelCandidates(np.zeros((size, count), dtype=np.intp), np.zeros(size, dtype=np.intp)),
        allocate_contact_rows(size * count * len(wheels.stations), size * count, size),
        allocate_contact_rows(count * (SURFACES * len(teeth.rows) + 1), count, 1),
    )
