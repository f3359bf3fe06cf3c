"""Tables of steady turns: what a mapped log has of them, a row each and no time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description import TrackOffsets
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.robot import Motion

Array = NDArray[np.float64]
BELTS = ("belt_speed.left", "belt_speed.right")
COMMANDS = ("belt_speed_command.left", "belt_speed_command.right")
RESPONSES: Mapping[str, str] = MappingProxyType(
    {"slip_velocity.left": "m/s", "slip_velocity.right": "m/s", "yaw_rate": "rad/s"}
)
"""Responses of a turn at constant belt speeds, and their units."""
STRAIGHT = 1e-9
"""Belts that differ by less do not turn [m/s]."""


@dataclass(frozen=True, eq=False)
class SteadyTable:
    """n turns at constant belt speeds; arrays are read-only.

    Attributes:
        name: Name of the log.
        belts: Speeds of the left and the right belts, forward positive (n, 2) [m/s].
        responses: Responses by key, see `RESPONSES` (n,): slip velocities are belt speeds less the speeds of
            the tracks over the ground, yaw rates are to the left positive.
        std: Standard deviation of each response's noise, in its unit; None where it is not known.
    """

    name: str
    belts: Array
    responses: Mapping[str, Array]
    std: Mapping[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, motion: Motion, name: str | None = None) -> SteadyTable:
        """The table of a motion whose times are numbers of rows, as a mapping of steady rows gives it.

        Belts are those that were measured, or else those that were commanded.

        Raises:
            UnknownNameError: It has no belt speeds.
            InvalidValueError: It has no responses.
        """
        sides = next((keys for keys in (BELTS, COMMANDS) if keys[0] in motion.signals), BELTS)
        for key in sides:
            if key not in motion.signals:
                raise UnknownNameError(f"signal of {motion.name}", key, motion.signals)
        belts = np.stack([motion.signals[key].values for key in sides], axis=1)
        found = {key: motion.signals[key] for key in RESPONSES if key in motion.signals}
        return cls(
            motion.name if name is None else name,
            belts,
            {key: signal.values.copy() for key, signal in found.items()},
            {key: signal.std for key, signal in found.items()},
        )

    def __post_init__(self) -> None:
        """Make the arrays read-only.

        Raises:
            UnknownNameError: A response of no quantity.
            InvalidValueError: No rows, others of a response than of the belts, or a number that is not
                finite.
        """
        if self.belts.ndim != 2 or self.belts.shape[1] != 2 or not len(self.belts):
            got = Phrase(f"a shape of {self.belts.shape}")
            raise InvalidValueError(f"belts of {self.name}", "of left and right, a row or more", got)
        if not self.responses:
            raise InvalidValueError(f"responses of {self.name}", "one or more", Phrase("none"))
        for key, values in {"belts": self.belts, **self.responses}.items():
            if key != "belts" and key not in RESPONSES:
                raise UnknownNameError("response", key, RESPONSES)
            if len(values) != len(self.belts) or not np.isfinite(values).all():
                expected = f"{len(self.belts)} finite numbers"
                raise InvalidValueError(f"{key} of {self.name}", expected, Phrase("others"))
            values.setflags(write=False)
        object.__setattr__(self, "responses", MappingProxyType(dict(self.responses)))
        object.__setattr__(self, "std", MappingProxyType(dict(self.std)))

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.belts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the mappings as dicts: read-only mappings cannot be pickled."""
        return SteadyTable, (self.name, self.belts, dict(self.responses), dict(self.std))

    def chosen(self, rows: ArrayLike, name: str | None = None) -> SteadyTable:
        """Some of its turns.

        Args:
            rows: Their indices, or whether each is one of them.
            name: Name of the new table; this one's if not given.
        """
        index = np.asarray(rows)
        kept = {key: values[index] for key, values in self.responses.items()}
        return SteadyTable(self.name if name is None else name, self.belts[index], kept, self.std)

    def halves(self, share: float, seed: int) -> tuple[SteadyTable, SteadyTable]:
        """Divide it by chance: what is kept, and a share that is held out, in the order of the rows.

        Raises:
            InvalidValueError: A share that leaves either without a row.
        """
        count = round(share * len(self))
        if not 0 < count < len(self):
            expected = f"a share that leaves rows of {len(self)} on both sides"
            raise InvalidValueError(f"hold_out of {self.name}", expected, share)
        out = np.zeros(len(self), np.bool_)
        out[np.random.default_rng(seed).permutation(len(self))[:count]] = True
        return self.chosen(~out), self.chosen(out, f"{self.name}_held_out")

    @property
    def turning(self) -> NDArray[np.bool_]:
        """Mask of the rows in which belts differ (n,)."""
        return abs(self.belts[:, 1] - self.belts[:, 0]) > STRAIGHT

    def radius_over_gauge(self) -> Array:
        """Radius of the arc of belts that do not slip, of the middle, over the gauge (n,) [-]; 0 on the spot.

        It is infinite where the belts do not differ.
        """
        left, right = self.belts.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.turning, abs(left + right) / 2 / abs(right - left), np.inf)

    def no_slip_rate(self, gauge: float) -> Array:
        """Yaw rate of belts that do not slip, for a distance of the tracks [m] (n,) [rad/s]."""
        return TrackOffsets.centred(gauge).twist(*self.belts.T)[1]

    def yaw_rate(self, gauge: float) -> Array:
        """Yaw rates (n,) [rad/s], from the slip of both sides where there are none.

        Raises:
            UnknownNameError: There is neither.
        """
        if (given := self.responses.get("yaw_rate")) is not None:
            return given
        return rate_of(self.belts, self._slips(), gauge)

    def _slips(self) -> Array:
        missing = [key for key in list(RESPONSES)[:2] if key not in self.responses]
        if missing:
            raise UnknownNameError(f"response of {self.name}", missing[0], self.responses)
        return np.stack([self.responses[key] for key in list(RESPONSES)[:2]], axis=1)


def rate_of(belts: Array, slips: Array, gauge: float) -> Array:
    """Yaw rates of tracks at a distance [m] by their belts and slips (n, 2) [m/s]."""
    tracks = belts - slips
    return np.asarray((tracks[:, 1] - tracks[:, 0]) / gauge)
