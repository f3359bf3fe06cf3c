"""Tables of steady turns, a row each and no time, and their simulation as a case of a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description import TrackOffsets, VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.experiments import drive_turns, run_parallel, uniform_turns
from segtrack.logs.fit import LogFiles, Rows
from segtrack.robot import Motion

Array = NDArray[np.float64]
DATA = Path(str(resources.files("segtrack.logs").joinpath("data")))
"""Folder of the recorded turns that are bundled, with their mapping and fit file."""
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
        """Some of its turns, as a table.

        Args:
            rows: Indices of the turns (m,), or a mask (n,).
            name: Name of the new table; this one's if not given.
        """
        index = np.asarray(rows)
        kept = {key: values[index] for key, values in self.responses.items()}
        return SteadyTable(self.name if name is None else name, self.belts[index], kept, self.std)

    def halves(self, share: float, seed: int) -> tuple[SteadyTable, SteadyTable]:
        """Divide it by chance; rows keep their order.

        Args:
            share: Fraction of the rows that is held out [-].
            seed: Seed of the draw.

        Returns:
            What is kept, and what is held out.

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
        """Radius of the middle's arc, if belts do not slip, over the gauge (n,) [-].

        It is 0 on the spot, and infinite where the belts do not differ.
        """
        left, right = self.belts.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.turning, abs(left + right) / 2 / abs(right - left), np.inf)

    def no_slip_rate(self, gauge: float) -> Array:
        """Yaw rates of belts that do not slip, left positive (n,) [rad/s].

        Args:
            gauge: Distance between left and right tracks [m].
        """
        return TrackOffsets.centred(gauge).twist(*self.belts.T)[1]

    def yaw_rate(self, gauge: float) -> Array:
        """Yaw rates of the turns, left positive (n,) [rad/s].

        Args:
            gauge: Distance between left and right tracks [m]; used only where no yaw rates were measured, so
                that they follow from the slip of both sides.

        Raises:
            UnknownNameError: There is neither a yaw rate nor the slip of both sides.
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
    """Yaw rates by what belts and tracks do, left positive (n,) [rad/s].

    Args:
        belts: Speeds of the left and right belts (n, 2) [m/s].
        slips: Belt speeds less the tracks' speeds over the ground (n, 2) [m/s].
        gauge: Distance between left and right tracks [m].
    """
    tracks = belts - slips
    return np.asarray((tracks[:, 1] - tracks[:, 0]) / gauge)


def responses_of(belts: Array, tracks: Array, yaw_rate: Array, keys: Sequence[str]) -> Array:
    """Responses in the order of keys (n, k), of belts and tracks (n, 2) [m/s] and yaw rates (n,) [rad/s]."""
    slips = belts - tracks
    every = {"slip_velocity.left": slips[:, 0], "slip_velocity.right": slips[:, 1], "yaw_rate": yaw_rate}
    return np.stack([every[key] for key in keys], axis=1)


UNIFORM = "uniform pressure"
"""Instead of a track model: planar Coulomb friction under uniform pressure, in closed form but for a root."""
PARTS = 27
"""Into which the turns of a table are divided, for many processes and a progress bar."""


def simulate_turns(
    vehicle: VehicleDescription,
    belts: Array,
    track_model: str,
    engine: EngineName | None = None,
    keys: Sequence[str] = tuple(RESPONSES),
) -> Array:
    """Responses of turns (n, k), in the order of keys.

    Args:
        vehicle: Vehicle that drives.
        belts: Speeds of the left and the right belts (n, 2) [m/s].
        track_model: `UNIFORM`, or what builds its tracks.
        engine: Name of the engine; one that runs the track model if not given.
        keys: Responses, see `RESPONSES`.

    Raises:
        UnknownNameError: No such track model or engine.
        InvalidValueError: An engine that does not run the track model, or a body without tracks on a side.
        DivergedError: The simulation broke down.
    """
    if track_model == UNIFORM:
        turns = uniform_turns(vehicle, belts)
    else:
        turns = drive_turns(vehicle, belts, track_model, engine)
    return responses_of(belts, turns.tracks, turns.yaw_rate, keys)


def simulate_table(
    vehicle: VehicleDescription,
    table: SteadyTable,
    track_model: str,
    workers: int | None = None,
    on_part: Callable[[], object] = lambda: None,
) -> SteadyTable:
    """A table's turns as simulated: the same belts, all responses.

    Args:
        vehicle: Vehicle that drives.
        table: Whose belt speeds it gets.
        track_model: See `simulate_turns`.
        workers: Processes; as many as there are cores if not given.
        on_part: Called after each of `part_count`.
    """
    parts = np.array_split(table.belts, part_count(table))
    simulate = partial(simulate_turns, vehicle, track_model=track_model)
    found = np.concatenate(run_parallel(simulate, parts, workers=workers, on_done=on_part))
    responses = {key: found[:, i].copy() for i, key in enumerate(RESPONSES)}
    return SteadyTable(f"{table.name}, {track_model}", table.belts, responses)


def part_count(table: SteadyTable) -> int:
    """Return the number of parts of `simulate_table`."""
    return min(PARTS, len(table))


@dataclass(frozen=True, eq=False)
class SteadyCase:
    """A table of steady turns, and what simulates it.

    Attributes:
        name: Name of the case.
        table: Logged table.
        signals: Compared responses: standard deviation of each, None for the table's own.
        track_model: Name of the track model; `uniform pressure` for planar friction without a simulator.
        engine: Name of the engine; one that runs the track model if not given.
        held_out: True if it is scored only.
        files: Files that it was read from.
        rows: Measured values, made of the others.
    """

    name: str
    table: SteadyTable
    signals: Mapping[str, float | None]
    track_model: str = "compliant"
    engine: EngineName | None = None
    held_out: bool = False
    files: LogFiles | None = None
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        """Make the table of what is compared.

        Raises:
            UnknownNameError: A response that the table lacks.
            InvalidValueError: No responses, or one without a standard deviation.
        """
        if not self.signals:
            raise InvalidValueError(f"signals of {self.name}", "one or more", Phrase("none"))
        stds = []
        for key, given in self.signals.items():
            if key not in self.table.responses:
                raise UnknownNameError(f"response of {self.name}", key, self.table.responses)
            std = given if given is not None else self.table.std.get(key)
            if std is None or not std > 0:
                what = f"standard deviation of {key} of {self.name}"
                raise InvalidValueError(what, "given, above 0", Phrase("none") if std is None else std)
            stds.append(std)
        measured = np.stack([self.table.responses[key] for key in self.signals], axis=1)
        units = tuple(RESPONSES[key] for key in self.signals)
        each = np.tile(stds, (len(measured), 1))
        rows = Rows(tuple(self.signals), units, None, measured, each, np.zeros(len(stds)))
        object.__setattr__(self, "rows", rows)

    def simulated(self, vehicle: VehicleDescription, clock_offset: float) -> Array:
        """See `Case.simulated`; turns have no clock."""
        return simulate_turns(vehicle, self.table.belts, self.track_model, self.engine, tuple(self.signals))
