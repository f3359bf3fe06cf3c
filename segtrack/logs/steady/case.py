"""A table of steady turns as a case of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.logs.fit.simulated.cases import LogFiles, Rows
from segtrack.logs.steady.simulate import simulate_turns
from segtrack.logs.steady.table import RESPONSES, Array, SteadyTable


@dataclass(frozen=True, eq=False)
class SteadyCase:
    """A table of steady turns, and what simulates it.

    Attributes:
        name: Of the case.
        table: As logged.
        signals: What of it is compared: standard deviation by response, None for the table's own.
        track_model: What drives it; `uniform pressure` for planar friction without a simulator.
        engine: That runs the track model; the default one if not given.
        held_out: Whether it is scored only.
        files: What it was read from.
        rows: What was measured, made of the others.
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
