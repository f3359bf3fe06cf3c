"""Sprockets: the shape of their teeth and the seat of bushings in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from segtrack.chain.running_gear_arrays import Teeth
from segtrack.errors import InvalidValueError, Phrase, finite_vector
from segtrack.ground import read_number


@dataclass(frozen=True)
class Sprocket:
    """Teeth of a driven wheel, and the law of their contact with bushings.

    Attributes:
        count: Number of teeth.
        pitch_radius: Circle on which seated bushings' centres lie [m].
        profile: Corners of a gap, from the middle of one tooth's tip to the middle of the next one's,
            in seat coordinates (6, 2) [m].
        bushing_radius: Cylinder that teeth touch [m].
        stiffness: Stiffness of a bushing against a surface [N/m].
        damping: Damping of a bushing against a surface [N s/m].
        friction: Coulomb coefficient [-].
        slip_speed: Slip velocity at which friction is fully developed [m/s].
        side_clearance: Lateral play of a bushing's middle until a tooth's side holds its shoe [m].
        side_stiffness: Stiffness of a tooth's side; `damping` acts there too [N/m].
        rows: Lateral positions of rows of teeth from the wheel's middle [m].

    Raises:
        InvalidValueError: A number is out of range, or the profile does not end on the teeth's axes.
    """

    count: int
    pitch_radius: float
    profile: tuple[tuple[float, ...], ...]
    bushing_radius: float
    stiffness: float
    damping: float = 0.0
    friction: float = 0.0
    slip_speed: float = 0.1
    side_clearance: float = math.inf
    side_stiffness: float = 0.0
    rows: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        """Check the numbers and the profile's ends."""
        if not self.count >= 4:
            raise InvalidValueError("count of a sprocket's teeth", "at least 4", self.count)
        for name in ("pitch_radius", "bushing_radius", "stiffness", "slip_speed"):
            read_number(self, name, above=True)
        for name in ("damping", "friction", "side_stiffness"):
            read_number(self, name)
        if not self.side_clearance >= 0:
            raise InvalidValueError("side_clearance of a sprocket", "at least 0", self.side_clearance)
        object.__setattr__(
            self, "rows", finite_vector("rows of a sprocket", self.rows, max(1, len(self.rows)))
        )
        points = tuple(finite_vector("a point of a sprocket's profile", point, 2) for point in self.profile)
        object.__setattr__(self, "profile", points)
        if len(points) != 6:
            raise InvalidValueError("profile of a sprocket", "six points", Phrase(str(len(points))))
        half = math.pi / self.count
        for (along, out), end in ((points[0], -half), (points[-1], half)):
            angle = math.atan2(along, self.pitch_radius + out)
            if not math.isclose(angle, end, abs_tol=1e-6):
                expected = f"on a tooth's axis, at {math.degrees(end):.3f} deg"
                got = Phrase(f"{math.degrees(angle):.3f} deg")
                raise InvalidValueError("each end of a sprocket's profile", expected, got)

    @property
    def tip_radius(self) -> float:
        """Largest radius of the profile [m]."""
        return max(math.hypot(along, self.pitch_radius + out) for along, out in self.profile)

    @classmethod
    def for_pitch(
        cls,
        pitch: float,
        count: int,
        bushing_radius: float,
        stiffness: float,
        pressure_angle: float = math.radians(30),
        height: float | None = None,
        clearance: float = 0.0,
        **attributes: Any,
    ) -> Sprocket:
        """Straight teeth that fit a chain.

        A seated bushing lies on the bottom of its gap and touches both flanks, or misses each by
        the clearance. Bushings leave a seat on circles about the next one still seated, which
        flanks do not hinder if the pressure angle is at least about pi / count plus half the
        angle (height + bushing_radius) / pitch.

        Args:
            pitch: Distance between neighbouring pins of the chain [m].
            count: Number of teeth.
            bushing_radius: Cylinder that teeth touch [m].
            stiffness: Stiffness of a bushing against a surface [N/m].
            pressure_angle: Lean of the flanks from the radial direction in their gap's middle [rad].
            height: Height of the tips over the pitch circle, in seat coordinates [m]; by default the
                bushing's radius, or half the height at which the flanks of a tooth meet.
            clearance: Gap between a seated bushing and each flank [m].
            **attributes: Damping, friction, slip speed, sides and rows, as in `Sprocket`.

        Raises:
            InvalidValueError: No such tooth is possible.
        """
        if not count >= 4:
            raise InvalidValueError("count of a sprocket's teeth", "at least 4", count)
        if not 0 <= pressure_angle < math.pi / 3:
            raise InvalidValueError("pressure_angle of a sprocket", "in [0, pi / 3)", pressure_angle)
        half = math.pi / count
        radius = pitch / 2 / math.sin(half)
        room, lean = bushing_radius + clearance, math.tan(pressure_angle)
        spare = radius * math.tan(half) - room / math.cos(pressure_angle)
        if not spare > 0:
            largest = radius * math.tan(half) * math.cos(pressure_angle) - clearance
            expected = f"below {largest:.3g} m, for {count} teeth at a pitch of {pitch:.3g} m"
            raise InvalidValueError("bushing_radius of a sprocket", expected, bushing_radius)
        crossing = spare / (lean - math.tan(half)) if lean > math.tan(half) else math.inf
        if height is None:
            height = min(bushing_radius, crossing / 2)
        if not 0 < height < crossing:
            expected = f"above 0 and below {crossing:.3g} m, where a tooth's flanks meet"
            raise InvalidValueError("height of a sprocket's teeth", expected, height)

        foot = (room - bushing_radius * math.sin(pressure_angle)) / math.cos(pressure_angle)
        tip = (room + height * math.sin(pressure_angle)) / math.cos(pressure_angle)
        outer = tip * math.sin(half) + (radius + height) * math.cos(half)  # The land, on the tooth's axis.
        middle = outer * math.sin(half), outer * math.cos(half) - radius
        right = ((foot, -bushing_radius), (tip, height), middle)
        profile = (*((-along, out) for along, out in reversed(right)), *right)
        return cls(count, radius, profile, bushing_radius, stiffness, **attributes)

    def pack(self, wheel: int) -> Teeth:
        """Arrays for kernels, of a sprocket on the wheel of that index."""
        points = np.array(self.profile)
        steps = np.diff(points, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        return Teeth(
            wheel=wheel,
            angular_pitch=2 * math.pi / self.count,
            pitch_radius=self.pitch_radius,
            tip_radius=self.tip_radius,
            points=points,
            tangents=steps / lengths[:, None],
            lengths=lengths,
            rows=np.array(self.rows),
            bushing_radius=self.bushing_radius,
            stiffness=self.stiffness,
            damping=self.damping,
            friction=self.friction,
            slip_speed=self.slip_speed,
            side_clearance=self.side_clearance,
            side_stiffness=self.side_stiffness,
        )
