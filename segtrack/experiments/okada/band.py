"""Table IV with compliant belts, over time steps and over the stiffness of a grouser: how wide is the band?

The paper gives no stiffness. With the default one the six cases are driven at three time steps; they
are also driven over two orders of magnitude of stiffness, with damping in the default's proportion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from segtrack.description import load_vehicle
from segtrack.experiments.climb import ClimbResult, ClimbSetup, run_climb
from segtrack.experiments.okada.published import TABLE_4
from segtrack.experiments.okada.table_4 import VEHICLE, case_setup
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.variants import with_contact

TRACK_MODEL = "compliant"
TIME_STEPS = (5e-4, 1e-3, 2e-3)
"""With the default stiffness [s]."""
STIFFNESSES = {
    2.5e3: 1e-3,
    5e3: 1e-3,
    1e4: 1e-3,
    2e4: 1e-3,
    4e4: 1e-3,
    8e4: 1e-3,
    1.6e5: 5e-4,
    3.2e5: 2.5e-4,
}
"""Of a grouser [N/m], and the time step that it allows [s]."""
_DAMPING_TIME = 2.2e-3
"""Damping over stiffness [s], as with the default."""


@dataclass(frozen=True)
class BandRow:
    """The six cases with one stiffness at one time step.

    Attributes:
        stiffness: Of a grouser [N/m]; None is the default.
        time_step: [s]
        matches: How many end as the physical robot's attempts did.
        max_pitch: Largest pitch on the step of 240 mm [rad].
    """

    stiffness: float | None
    time_step: float
    matches: int
    max_pitch: float

    def record(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {
            "stiffness": self.stiffness,
            "time_step": self.time_step,
            "matches": self.matches,
            "max_pitch_deg": math.degrees(self.max_pitch),
        }


def row_count() -> int:
    """How many rows there are."""
    return len(TIME_STEPS) + len(STIFFNESSES)


def run_band(on_done: Callable[[], object] | None = None) -> tuple[BandRow, ...]:
    """Drive the six cases for each row, rows in processes of their own.

    Args:
        on_done: Called after each row.
    """
    rows: list[tuple[float | None, float]] = [(None, step) for step in TIME_STEPS]
    rows += list(STIFFNESSES.items())
    return tuple(run_parallel(_run_row, rows, on_done=on_done))


def _run_row(row: tuple[float | None, float]) -> BandRow:
    stiffness, time_step = row
    vehicle = load_vehicle(VEHICLE)
    if stiffness is not None:
        vehicle = with_contact(vehicle, stiffness, _DAMPING_TIME * stiffness)
    setups = [
        replace(case_setup(line, vehicle=vehicle, track_model=TRACK_MODEL), time_step=time_step)
        for line in TABLE_4
    ]
    climbs = [run_climb(setup) for setup in setups]
    matches = sum(climb.success == line.real for climb, line in zip(climbs, TABLE_4, strict=True))
    return BandRow(stiffness, time_step, matches, _on_the_high_step(setups, climbs).max_pitch)


def _on_the_high_step(setups: list[ClimbSetup], climbs: list[ClimbResult]) -> ClimbResult:
    """The climb of 240 mm with flippers at 45 deg."""
    return next(climb for setup, climb in zip(setups, climbs, strict=True) if setup.step == 0.24)
