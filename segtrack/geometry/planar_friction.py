"""Quasi-static Coulomb friction: motion of a vehicle over flat ground from its tracks' loads.

All vectors lie in the plane of the ground and are given in a frame that moves with the vehicle: x
forward, y to the left, origin at a reference point. The vehicle moves with the twist (v, w). A
belt's face at p, which runs backwards along its track's direction d at the speed u, slides over the ground at

    s = v + w z x p - u d.

Its friction has the components F_t along d and F_l across, within the ellipse
(F_t / mu_t)^2 + (F_l / mu_l)^2 <= N^2, and dissipates as much power as it can: it is the gradient of

    D(s) = N sqrt((mu_t s_t)^2 + (mu_l s_l)^2).

D is of the first degree, so that power equals dissipation, and forces and moments balance at the
twist that minimises sum D - F v - M w, a convex function of three unknowns. Only ratios of speeds
and of forces matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, finite, finite_vector

TOLERANCE = 1e-5
"""Largest unbalanced force, as a share of all friction."""
_BALANCED = 1e-9
"""Residual at which the search ends early."""
_SMOOTHING = np.geomspace(1.0, 1e-9, 10)
"""Speeds within which friction grows from nothing, one after the other, over the largest belt speed."""
_MOST_STEPS = 60
"""Largest number of Newton steps at each of them."""
_FAR = 1e4
"""A vehicle this many times as fast as its belts is not held by friction."""


@dataclass(frozen=True, eq=False)
class PlanarContacts:
    """Contact points of belts on flat ground, in the vehicle's frame (x forward, y left).

    Attributes:
        points: Positions (n, 2) [m].
        loads: Normal forces (n,) [N], >= 0, one of them positive.
        friction: Coefficients along and across the track (n, 2) [-], >= 0.
        directions: Unit forward direction of each point's track (n, 2).
        belt_speeds: Belt speed at each point, positive when it drives the vehicle forward (n,) [m/s].
    """

    points: NDArray[np.float64]
    loads: NDArray[np.float64]
    friction: NDArray[np.float64]
    directions: NDArray[np.float64]
    belt_speeds: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse arrays of different length, values that are not finite, and contacts without load."""
        n = len(self.loads)
        shapes = {"points": (n, 2), "loads": (n,), "friction": (n, 2), "directions": (n, 2)}
        for name, shape in {**shapes, "belt_speeds": (n,)}.items():
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != shape or not np.isfinite(value).all():
                raise InvalidValueError(f"PlanarContacts.{name}", f"finite numbers of shape {shape}", value)
            object.__setattr__(self, name, value)
        for name in ("loads", "friction"):
            if (getattr(self, name) < 0).any():
                raise InvalidValueError(
                    f"PlanarContacts.{name}", "at least 0", float(getattr(self, name).min())
                )
        if not self.grip > 0:
            raise InvalidValueError("PlanarContacts.loads", "with friction somewhere", self.grip)

    @property
    def axes(self) -> NDArray[np.float64]:
        """Unit vectors forward and left of each point's track (n, 2, 2)."""
        ahead = self.directions
        return np.stack([ahead, np.column_stack([-ahead[:, 1], ahead[:, 0]])], axis=1)

    @property
    def grip(self) -> float:
        """Largest total friction along the tracks [N]."""
        return float(self.loads @ self.friction[:, 0])


@dataclass(frozen=True, eq=False)
class PlanarMotion:
    """Motion in which friction balances the external force and moment, in the vehicle's frame.

    Attributes:
        velocity: Velocity of the reference point (2,) [m/s].
        yaw_rate: Yaw rate, to the left positive [rad/s].
        slip_velocity: Velocity of each belt face over the ground, along and across its track (n, 2) [m/s].
        forces: Forces of the ground on each point (n, 2) [N].
        residual: Unbalanced force and moment over the largest that friction can give [-].
    """

    velocity: NDArray[np.float64]
    yaw_rate: float
    slip_velocity: NDArray[np.float64]
    forces: NDArray[np.float64]
    residual: float

    def forward_speed(self, y: float) -> float:
        """Ground speed along x of a track whose middle is at a distance `y` [m] to the left [m/s]."""
        return float(self.velocity[0]) - self.yaw_rate * y

    def slip(self, y: float, belt_speed: float) -> float:
        """Longitudinal slip 1 - v_ground / v_belt of a track [-].

        Args:
            y: Distance of the track's middle to the left of the reference point [m].
            belt_speed: Speed of the belt, not 0 [m/s].
        """
        return 1.0 - self.forward_speed(y) / belt_speed


def uniform_tracks(
    length: float,
    width: float,
    gauge: float,
    friction: Sequence[float],
    left: float,
    right: float,
    count: tuple[int, int] = (100, 11),
) -> PlanarContacts:
    """Contacts of two tracks side by side under uniform pressure, about their common middle.

    Args:
        length: Length of the ground lines [m], > 0.
        width: Width of the tracks [m], >= 0.
        gauge: Distance between the tracks' middles [m].
        friction: Coefficients along and across the tracks (2,) [-].
        left: Belt speed of the left track [m/s].
        right: Belt speed of the right track [m/s].
        count: Number of points along and across a track.
    """
    rows, columns = ((np.arange(n) + 0.5) / n - 0.5 for n in count)
    x, y = (grid.ravel() for grid in np.meshgrid(rows * length, columns * width))
    n = len(x)
    return PlanarContacts(
        points=np.column_stack([np.tile(x, 2), np.concatenate([y + gauge / 2, y - gauge / 2])]),
        loads=np.full(2 * n, 0.5 / n),
        friction=np.tile(np.asarray(friction, dtype=float), (2 * n, 1)),
        directions=np.tile([1.0, 0.0], (2 * n, 1)),
        belt_speeds=np.repeat([left, right], n),
    )


def balance_friction(
    contacts: PlanarContacts, force: Sequence[float] = (0.0, 0.0), moment: float = 0.0
) -> PlanarMotion:
    """Find the motion at which friction balances a force and a moment.

    Args:
        contacts: Contact points of the belts, with loads and belt velocities.
        force: External force at the reference point, for example weight down a slope (2,) [N].
        moment: External moment about the reference point, positive to the left [N m].

    Returns:
        The motion; one of several if contacts leave a choice, as a single point does.

    Raises:
        InvalidValueError: A number that is not finite, or more than friction can hold.
    """
    outside = np.array([*finite_vector("force [N]", force, 2), finite("moment [N m]", moment)])
    scaled = _Scaled.of(contacts, outside)
    twist = np.zeros(3)
    for width in _SMOOTHING:
        twist = scaled.minimise(twist, width)
    motion = scaled.motion(contacts, twist)
    if motion.residual > TOLERANCE or np.abs(twist).max() > _FAR:
        raise InvalidValueError("force and moment", "what friction can hold", tuple(outside.tolist()))
    return motion


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Dimensionless friction problem: speeds over the fastest belt's, lengths over the contacts' extent.

    Slips are multiplied by their coefficient of friction, so that the ellipse is a circle.

    Attributes:
        rows: Slip velocity along and across the track per component of the twist (n, 2, 3).
        drives: Slip velocity along and across the track that the belts' speeds add (n, 2).
        edges: Half the sum of both squared coefficients (n,).
        loads: Loads over the total friction along the tracks (n,).
        outside: External force and moment (3,).
        speed: Unit of speed [m/s].
        length: Unit of length [m].
    """

    rows: NDArray[np.float64]
    drives: NDArray[np.float64]
    edges: NDArray[np.float64]
    loads: NDArray[np.float64]
    outside: NDArray[np.float64]
    speed: float
    length: float

    @classmethod
    def of(cls, contacts: PlanarContacts, outside: NDArray[np.float64]) -> _Scaled:
        """Scale a problem with external force and moment `outside` (3,) [N, N, N m]."""
        speed = float(np.abs(contacts.belt_speeds).max()) or 1.0
        length = float(np.abs(contacts.points).max()) or 1.0
        axes, points = contacts.axes, contacts.points / length
        turning = np.einsum("nki,ni->nk", axes, np.column_stack([-points[:, 1], points[:, 0]]))
        drives = np.column_stack([contacts.belt_speeds / speed, np.zeros(len(points))])
        return cls(
            rows=np.concatenate([axes, turning[:, :, None]], axis=2) * contacts.friction[:, :, None],
            drives=drives * contacts.friction,
            edges=(contacts.friction**2).sum(axis=1) / 2,
            loads=contacts.loads / contacts.grip,
            outside=outside / contacts.grip / (1.0, 1.0, length),
            speed=speed,
            length=length,
        )

    def pulls(
        self, twist: NDArray[np.float64], width: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Friction directions, smoothed below slip `width` (n, 2), and loads over slips (n,)."""
        slips = self.rows @ twist - self.drives
        sizes = np.sqrt((slips**2).sum(axis=1) + width**2 * self.edges)
        sizes = np.maximum(sizes, np.finfo(float).tiny)
        return slips / sizes[:, None], self.loads / sizes

    def unbalanced(self, twist: NDArray[np.float64], width: float) -> NDArray[np.float64]:
        """Friction minus the external load (3,): the derivative of the power by the twist."""
        pulls, _ = self.pulls(twist, width)
        return self._summed(pulls) - self.outside

    def minimise(self, twist: NDArray[np.float64], width: float) -> NDArray[np.float64]:
        """Minimise the power by Newton's method; a step is halved until the power falls, or hardly rises.

        Slopes decide, since the power itself is flat to rounding long before friction balances.
        """
        for _ in range(_MOST_STEPS):
            pulls, weights = self.pulls(twist, width)
            first = self._summed(pulls) - self.outside
            if np.abs(first).max() < _BALANCED or np.abs(twist).max() > _FAR:
                break
            roots = np.sqrt(weights)[:, None]
            full = (self.rows * roots[:, :, None]).reshape(-1, 3)
            along = np.einsum("nk,nki->ni", pulls, self.rows) * roots
            # Directions in which nothing changes, such as turning about a single point, get no step.
            step = -np.linalg.lstsq(full.T @ full - along.T @ along, first, rcond=1e-14)[0]
            falling, share = abs(first @ step), 1.0
            while share > 1e-12 and self.unbalanced(twist + share * step, width) @ step > falling / 4:
                share /= 2
            twist = twist + share * step
        return twist

    def motion(self, contacts: PlanarContacts, twist: NDArray[np.float64]) -> PlanarMotion:
        """Motion in SI units for a scaled twist."""
        width = float(_SMOOTHING[-1])
        pulls, _ = self.pulls(twist, width)
        forces = -contacts.loads[:, None] * contacts.friction * pulls
        velocity, yaw_rate = twist[:2] * self.speed, float(twist[2] * self.speed / self.length)
        turning = yaw_rate * np.column_stack([-contacts.points[:, 1], contacts.points[:, 0]])
        slips = np.einsum("nki,ni->nk", contacts.axes, velocity + turning)
        slips[:, 0] -= contacts.belt_speeds
        return PlanarMotion(
            velocity=velocity,
            yaw_rate=yaw_rate,
            slip_velocity=slips,
            forces=np.einsum("nki,nk->ni", contacts.axes, forces),
            residual=float(np.abs(self.unbalanced(twist, width)).max()),
        )

    def _summed(self, pulls: NDArray[np.float64]) -> NDArray[np.float64]:
        total: NDArray[np.float64] = (pulls * self.loads[:, None]).ravel() @ self.rows.reshape(-1, 3)
        return total
